/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_ADVICE_H
#define VT_LISTING_VALUES_ADVICE_H

#include <stdint.h>

#include "base/error.h"
#include "base/table.h"
#include "profile/event_choice.h"
#include "specialise/specialise.h"

/* Listings of what to specialise, after DCPI's dcpivarg. */

enum vt_speclist {
	VT_SPECLIST_PROCEDURES,
	VT_SPECLIST_ARGUMENTS,
	VT_SPECLIST_CALLERS,
	VT_SPECLIST_BLOCKS,
	VT_SPECLIST_LOADS,
	VT_NSPECLISTS
};

/* What is listed; borrowed. */
struct vt_spec_view {
	const struct vt_spec *spec;
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_hotprofile *hot;
	struct vt_spec_options opt; /* those `spec` was made with */
};

struct vt_speclist_options {
	uint64_t top;  /* the most rows, or procedures if each may have several rows; 0: all */
	uint64_t each; /* the most rows of one procedure; 0: all */
};

/*
 * Each of these functions fills an empty table, best score first.  Returns how many rows (or
 * procedures) `top` left out, or -VT_E_NOMEM; lack of memory may also stick to the table.
 */

/* Procedures, with the most promising values of each. */
int64_t vt_speclist_procedures(struct vt_table *t, const struct vt_spec_view *view,
			       const struct vt_speclist_options *opt, struct vt_error *err);

/* Arguments of procedures. */
int64_t vt_speclist_arguments(struct vt_table *t, const struct vt_spec_view *view,
			      const struct vt_speclist_options *opt, struct vt_error *err);

/* Loads, by the time of the load instruction itself. */
int64_t vt_speclist_loads(struct vt_table *t, const struct vt_spec_view *view,
			  const struct vt_speclist_options *opt, struct vt_error *err);

/* Callers of procedures, with the arguments that hardly change for each caller. */
int64_t vt_speclist_callers(struct vt_table *t, const struct vt_spec_view *view,
			    const struct vt_speclist_options *opt, struct vt_error *err);

/*
 * Basic blocks in which every load nearly always gives the same value: computations that repeat as
 * a whole.  Finds the blocks in the code of the images.
 */
int64_t vt_speclist_blocks(struct vt_table *t, const struct vt_spec_view *view,
			   const struct vt_speclist_options *opt, struct vt_error *err);

/* Prints the lines above a listing.  `time` is the name of the event that measures time. */
void vt_speclist_header(const struct vt_spec_view *view, enum vt_speclist what, const char *time,
			struct vt_output *out);

/* Prints a listing as a JSON document, which includes the facts of the header. */
void vt_speclist_json(const struct vt_spec_view *view, enum vt_speclist what,
		      const struct vt_event_choice *events, const char *time,
		      const struct vt_table *t, int64_t left_out, struct vt_output *out);

#endif
