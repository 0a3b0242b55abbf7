/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CODE_LISTING_H
#define VT_LISTING_CODE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "image/disasm.h"
#include "image/images.h"
#include "listing/code/source.h"
#include "listing/profile/profile.h"
#include "machine/insn/insn.h"
#include "profile/block_code.h"
#include "profile/locate.h"
#include "profile/profile.h"
#include "profile/value_text.h"
#include "value/hot_profile.h"
#include "value/invariance.h"

/* One procedure, line by line: machine code and source, with the samples of each line. */
struct vt_listing;

enum vt_list_view {
	VT_LIST_MIXED,	/* assembly with source lines between */
	VT_LIST_SOURCE, /* source lines */
	VT_LIST_ASM,	/* assembly */
};

/* Which hot lists to show below their instructions, and how.  Borrowed for as long as the listing
 * lives. */
struct vt_list_values {
	const struct vt_hotprofile *lists;
	struct vt_value_style style;
	uint32_t what; /* kinds of values to show: see vt_inv_is_of() */
	double cutoff; /* least percentage of a value, or of a caller, to be shown */
	uint64_t show; /* the most values to show of a list */
};

struct vt_listing_options {
	enum vt_list_view view;
	enum vt_syntax syntax;
	bool partial; /* only rows within `context` rows of samples */
	uint64_t context;
	struct vt_sources *sources;	     /* borrowed; NULL: no text */
	const struct vt_blockcode *code;     /* code as it ran, where it was patched or has no
						file; NULL: unknown */
	const struct vt_list_values *values; /* NULL: none; ignored in the source view */
};

/* Kinds of rows. */
enum vt_list_kind {
	VT_ROW_INSTRUCTION, /* one instruction with its samples */
	VT_ROW_INSIDE,	    /* samples at an address that starts no instruction */
	VT_ROW_RAW,	    /* samples at an address whose code is not available */
	VT_ROW_LINE,	    /* a source line: in assembly, or with its samples */
	VT_ROW_PLACE,	    /* names the function, perhaps inlined, and file of the rows below */
	VT_ROW_CUT,	    /* stands for rows without samples that were left out */
	VT_ROW_VALUES,	    /* a hot list of the instruction above */
	VT_ROW_CALLERS,	    /* stands for hot lists of rare callers that were left out */
	VT_NROWKINDS
};

/* Strings are borrowed from the listing.  They come from files and are untrusted. */
struct vt_list_row {
	enum vt_list_kind kind;
	enum vt_insn_type type; /* of an instruction */
	uint64_t address;	/* vaddr */
	unsigned size;		/* of an instruction, in bytes */
	unsigned line;		/* 0: unknown */
	const char *file;	/* "" if unknown */
	const char *function;	/* innermost function, perhaps inlined; "" if unknown */
	const char *caller;	/* function that a PLACE is inlined into; else "" */
	const char *text;	/* instruction, source line or remark */
	size_t text_size;
	const struct vt_tally *tallies; /* by event of the profile; NULL: none */

	/* VALUES and CALLERS only: */
	const struct vt_hot *list;
	const struct vt_plugin_names *plugins;
	struct vt_number_type number;
	const char *what;    /* "load", "arg rdi" */
	const char *context; /* name of the caller; "" if lists are not kept by caller */
	const char *values;  /* the most frequent: "99.8% 0  0.1% 17 ..." */
};

/* True if a row is an instruction or an address: rows whose samples are the procedure's. */
static inline bool vt_list_row_is_code(const struct vt_list_row *row)
{
	return row->kind == VT_ROW_INSTRUCTION || row->kind == VT_ROW_INSIDE ||
	       row->kind == VT_ROW_RAW;
}

/* True if a row shows hot lists of the instruction above it. */
static inline bool vt_list_row_is_of_list(const struct vt_list_row *row)
{
	return row->kind == VT_ROW_VALUES || row->kind == VT_ROW_CALLERS;
}

/*
 * Lists a procedure, or those places of an image that lie in no procedure.  Only `images` and the
 * hot lists must outlive the listing.  Samples in the procedure that are not on an instruction get
 * rows of their own, so that the rows' samples always add up to vt_listing_total().  NULL:
 * VT_E_NOMEM.  Owned by the caller.
 */
struct vt_listing *vt_listing_new(const struct vt_profile *p, struct vt_images *images,
				  const struct vt_procedure *proc,
				  const struct vt_listing_options *opt, struct vt_error *err);
void vt_listing_free(struct vt_listing *l);

/* The rows, in the order of vt_listing_rows().  Borrowed. */
size_t vt_listing_nrows(const struct vt_listing *l);
const struct vt_list_row *vt_listing_row(const struct vt_listing *l, size_t i);

struct vt_tally vt_listing_total(const struct vt_listing *l, size_t event);

/* Why code or source that was asked for is missing; NULL if it is not. */
const char *vt_listing_missing(const struct vt_listing *l);

/*
 * Adds all columns to an empty table, samples and percent of each event first.  Hidden from people
 * are columns that a view leaves empty, and events of which `l` has no samples; `l` may be NULL.
 */
void vt_listing_columns(struct vt_table *t, const struct vt_listing *l, enum vt_list_view view,
			const struct vt_event_choice *events);

/* Appends the rows to a table.  Percentages are shares of the procedure's samples. */
void vt_listing_rows(struct vt_table *t, const struct vt_listing *l,
		     const struct vt_event_choice *events);

/* Prints the lines above the table: procedure, image, build-id, samples of each event. */
void vt_listing_header(const struct vt_listing *l, const struct vt_profile *p,
		       const struct vt_event_choice *events, bool color, struct vt_output *out);

/* Appends a value of a row's hot list in the form for people. */
void vt_list_value_text(const struct vt_list_row *row, uint64_t value,
			const struct vt_value_style *style, struct vt_buf *out);

#endif
