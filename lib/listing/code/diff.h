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
 * Two listings of a procedure side by side, row by row: dcpidiff.  The code need not be the same:
 * instructions (or source lines) are aligned by what they say, but for addresses.
 */

/* One of the two; all borrowed. */
struct vt_listdiff_side {
	const struct vt_profile *profile;
	const struct vt_listing *listing;
};

struct vt_listdiff_result {
	uint64_t only[2];     /* rows that only the one has, and only the other */
	uint64_t significant; /* rows whose first event changed by more than chance */
	bool rough;	      /* the code differs in so much that only its ends were aligned */
};

/*
 * Adds the columns to an empty table, for the events chosen of sides[1], those after.
 */
void vt_listdiff_columns(struct vt_table *t, const struct vt_listdiff_side sides[2],
			 const struct vt_event_choice *events, enum vt_list_view view);

/*
 * Appends the rows: those of the listings with code, or in the view of source lines those with
 * samples.  `rate` is that of false discoveries among what is called significant.  -VT_E_NOMEM.
 */
int vt_listdiff_rows(struct vt_table *t, const struct vt_listdiff_side sides[2],
		     const struct vt_event_choice *events, enum vt_list_view view, double rate,
		     struct vt_listdiff_result *result, struct vt_error *err);

/* One of two profiles whose procedures are compared; all borrowed. */
struct vt_diffreport_side {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_blockcode *code; /* NULL: unknown */
	const char *name;		 /* of the stream, for errors */
};

/* The output of vlist --diff: procedures before, beside what they are after, as one document. */
struct vt_diffreport {
	/* Set by the caller, who owns all of it. */
	struct vt_diffreport_side side[2];	  /* before, after */
	const struct vt_event_choice *events;	  /* of after */
	const struct vt_listing_options *options; /* but for `code` */
	enum vt_table_form form;
	bool json;  /* instead of `form` */
	bool color; /* of text */
	struct vt_output *out;
	vt_warn_fn *warn; /* told of procedures without code or source */
	void *arg;

	/* Zero at first; vt_diffreport_fini() frees them. */
	struct vt_counterparts *counterparts;
	struct vt_table *table;
	json_t *list;
	size_t count; /* of procedures compared */
};

/*
 * Compares each procedure of after with the one before that has the same image name and symbol; of
 * several, as static functions may be, with the one at the same address of the same build; and
 * prints them.  Where there is no such procedure, -VT_E_NOTFOUND or -VT_E_AMBIGUOUS; but if
 * `left_out` is not NULL, it is told so (with `arg`), and only none left is an error: -VT_E_ABSENT.
 * -VT_E_NOMEM; errors of writing stick to `out`.
 */
int vt_diffreport_list(struct vt_diffreport *r, const struct vt_found *after, vt_warn_fn *left_out,
		       void *arg, struct vt_error *err);
void vt_diffreport_fini(struct vt_diffreport *r);

#endif
