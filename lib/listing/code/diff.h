/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CODE_DIFF_H
#define VT_LISTING_CODE_DIFF_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "listing/code/listing.h"
#include "profile/profile.h"
#include "stream/reader.h"

/*
 * Two listings of a procedure side by side, row by row, as dcpidiff did.  The code may differ:
 * instructions (or source lines) are aligned by their text without addresses.
 */

/* One of the two sides; borrowed. */
struct vt_listdiff_side {
	const struct vt_profile *profile;
	const struct vt_listing *listing;
};

struct vt_listdiff_result {
	uint64_t only[2];     /* rows that only one side has */
	uint64_t significant; /* rows whose first event changed by more than chance */
	bool rough;	      /* the code differs so much that only its ends were aligned */
};

/* Adds the columns to an empty table.  `events` are chosen from sides[1], the profile after. */
void vt_listdiff_columns(struct vt_table *t, const struct vt_listdiff_side sides[2],
			 const struct vt_event_choice *events, enum vt_list_view view);

/*
 * Appends the rows: those of code, or in the source view the lines with samples.  `rate` is the
 * accepted rate of false discoveries among significant changes: vt_discovery_threshold().
 * -VT_E_NOMEM.
 */
int vt_listdiff_rows(struct vt_table *t, const struct vt_listdiff_side sides[2],
		     const struct vt_event_choice *events, enum vt_list_view view, double rate,
		     struct vt_listdiff_result *result, struct vt_error *err);

/* One of two profiles whose procedures are compared; borrowed. */
struct vt_diffreport_side {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_blockcode *code; /* NULL: unknown */
	const char *name;		 /* of the stream, for messages */
};

/* The output of vlist --diff: compares procedures and prints them as one document. */
struct vt_diffreport {
	/* Set by the caller, who owns what they point to. */
	struct vt_diffreport_side side[2];	  /* before, after */
	const struct vt_event_choice *events;	  /* of after */
	const struct vt_listing_options *options; /* `code` is ignored */
	enum vt_table_form form;
	bool json;  /* instead of `form` */
	bool color; /* of text */
	struct vt_output *out;
	vt_warn_fn *warn; /* called for procedures without code or source */
	void *arg;

	/* Initially zero; freed by vt_diffreport_fini(). */
	struct vt_counterparts *counterparts; /* index of the procedures before */
	struct vt_table *table;		      /* of all procedures, in a form for programs */
	json_t *list;
	size_t count; /* of procedures compared */
};

/*
 * Compares each procedure of `after` with the one before of the same image name and symbol, and
 * prints the comparisons.  If several match, as static functions may, takes the one at the same
 * address of the same build.
 *
 * A procedure without a counterpart is an error: -VT_E_NOTFOUND or -VT_E_AMBIGUOUS.  With
 * `left_out`, it is passed the message (and `arg`) instead, and the error is -VT_E_ABSENT if none
 * is left.  Also -VT_E_NOMEM; write errors stick to `out`.
 */
int vt_diffreport_list(struct vt_diffreport *r, const struct vt_found *after, vt_warn_fn *left_out,
		       void *arg, struct vt_error *err);
void vt_diffreport_fini(struct vt_diffreport *r);

#endif
