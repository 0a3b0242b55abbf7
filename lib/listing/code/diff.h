/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CODE_DIFF_H
#define VT_LISTING_CODE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/table.h"
#include "listing/code/listing.h"
#include "profile/profile.h"

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

#endif
