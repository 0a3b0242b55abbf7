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

/* One procedure, line by line: machine code, source, and the samples that fell on each. */
struct vt_listing;

enum vt_list_view {
	VT_LIST_MIXED,	/* assembly with source between */
	VT_LIST_SOURCE, /* source lines */
	VT_LIST_ASM,	/* assembly */
};

/* The hot lists that a listing shows below their instructions.  All borrowed, as long as the
 * listing. */
struct vt_list_values {
	const struct vt_hotprofile *lists;
	struct vt_value_style style;
	uint32_t what; /* only lists of these kinds: as in value/invariance.h */
	double cutoff; /* values, and callers, of less than so many percent are left out */
	uint64_t show; /* so many values at most */
};

struct vt_listing_options {
	enum vt_list_view view;
	enum vt_syntax syntax;
	bool partial; /* only what lies within `context` rows of samples */
	uint64_t context;
	struct vt_sources *sources;	     /* borrowed; NULL: no text */
	const struct vt_blockcode *code;     /* as it ran: of pages that were patched, and of code
						without a file; NULL: unknown */
	const struct vt_list_values *values; /* NULL: none; not in the source view */
};

/* What a row is. */
enum vt_list_kind {
	VT_ROW_INSTRUCTION, /* one instruction with its samples */
	VT_ROW_INSIDE,	    /* samples at an address that starts no instruction */
	VT_ROW_RAW,	    /* samples at an address of which no code is at hand */
	VT_ROW_LINE,	    /* a source line: between assembly, or with its samples */
	VT_ROW_PLACE,	    /* from here on: this function, inlined or not, of this file */
	VT_ROW_CUT,	    /* rows without samples that were left out */
	VT_ROW_VALUES,	    /* a hot list of the instruction above */
	VT_ROW_CALLERS,	    /* hot lists of rare callers that were left out */
	VT_NROWKINDS
};

/* Strings are borrowed from the listing; texts come from files and are untrusted. */
struct vt_list_row {
	enum vt_list_kind kind;
	enum vt_insn_type type; /* of an instruction */
	uint64_t address;	/* vaddr */
	unsigned size;		/* of an instruction, in bytes */
	unsigned line;		/* 0: unknown */
	const char *file;	/* "" if unknown */
	const char *function;	/* the innermost, perhaps inlined; "" if unknown */
	const char *caller;	/* of a PLACE of inlined code: into what; else "" */
	const char *text;	/* instruction, source line, remark */
	size_t text_size;
	const struct vt_tally *tallies; /* by event of the profile; NULL: none */

	/* Of a hot list. */
	const struct vt_hot *list;
	const struct vt_module_names *modules;
	struct vt_number_type number;
	const char *what; /* "load", "arg rdi" */
	const char
		*context; /* whence the procedure was called; "" if lists are not kept by caller */
	const char *values; /* the most frequent: "99.8% 0  0.1% 17 ..." */
};

/*
 * Lists a procedure, or what of an image lies in none.  Everything but `images` may go afterwards.
 * Samples that fall in the procedure but not on an instruction have rows of their own: the rows'
 * samples always add up to vt_listing_total().  VT_E_NOMEM.  Owned by the caller.
 */
struct vt_listing *vt_listing_new(const struct vt_profile *p, struct vt_images *images,
				  const struct vt_procedure *proc,
				  const struct vt_listing_options *opt, struct vt_error *err);
void vt_listing_free(struct vt_listing *l);

/* Rows, as vt_listing_rows() appends them; borrowed. */
size_t vt_listing_nrows(const struct vt_listing *l);
const struct vt_list_row *vt_listing_row(const struct vt_listing *l, size_t i);

struct vt_tally vt_listing_total(const struct vt_listing *l, size_t event);

/* Why there is no code, or no source, although it was asked for; NULL if there is. */
const char *vt_listing_missing(const struct vt_listing *l);

/*
 * Adds all columns to an empty table: first those of samples and percent of each event.  People do
 * not see those that are always empty in a view, nor those of events of which `l` (it may be NULL)
 * has no samples.
 */
void vt_listing_columns(struct vt_table *t, const struct vt_listing *l, enum vt_list_view view,
			const struct vt_event_choice *events);

/* Appends the listing's rows.  Percentages are shares of the procedure's samples. */
void vt_listing_rows(struct vt_table *t, const struct vt_listing *l,
		     const struct vt_event_choice *events);

/* The lines above the table: procedure, image, build-id, samples of each event. */
void vt_listing_header(const struct vt_listing *l, const struct vt_profile *p,
		       const struct vt_event_choice *events, bool color, struct vt_output *out);

/* Appends a value of a row's hot list as people read it. */
void vt_list_value_text(const struct vt_list_row *row, uint64_t value,
			const struct vt_value_style *style, struct vt_buf *out);

/* What it is a listing of; borrowed. */
const struct vt_procedure *vt_listing_procedure(const struct vt_listing *l);
const struct vt_image *vt_listing_image(const struct vt_listing *l);

#endif
