/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_ADVICE_H
#define VT_LISTING_VALUES_ADVICE_H

#include <stdint.h>

#include "base/error.h"
#include "base/table.h"
#include "profile/event_choice.h"
#include "specialise/specialise.h"

/* Listings of what to specialise, as DCPI's dcpivarg made them. */

enum vt_speclist {
	VT_SPECLIST_PROCEDURES,
	VT_SPECLIST_ARGUMENTS,
	VT_SPECLIST_CALLERS,
	VT_SPECLIST_BLOCKS,
	VT_SPECLIST_LOADS,
	VT_NSPECLISTS
};

/* All borrowed. */
struct vt_spec_view {
	const struct vt_spec *spec;
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_hotprofile *hot;
	struct vt_spec_options opt; /* that `spec` was made with */
};

struct vt_speclist_options {
	uint64_t top;  /* rows, or procedures where several rows belong to one; 0: all */
	uint64_t each; /* rows of one procedure; 0: all */
};

/*
 * Each of these fills an empty table, best score first, and returns how many rows (or procedures)
 * were left out because of `top`, or -VT_E_NOMEM.  Want of memory may also stick to the table.
 */

/* Procedures, and in each the values that promise most. */
int64_t vt_speclist_procedures(struct vt_table *t, const struct vt_spec_view *view,
			       const struct vt_speclist_options *opt, struct vt_error *err);

/* Arguments of procedures. */
int64_t vt_speclist_arguments(struct vt_table *t, const struct vt_spec_view *view,
			      const struct vt_speclist_options *opt, struct vt_error *err);

/* Loads, by the time of the load itself. */
int64_t vt_speclist_loads(struct vt_table *t, const struct vt_spec_view *view,
			  const struct vt_speclist_options *opt, struct vt_error *err);

/* Who calls the procedures, and which arguments hardly change for each caller. */
int64_t vt_speclist_callers(struct vt_table *t, const struct vt_spec_view *view,
			    const struct vt_speclist_options *opt, struct vt_error *err);

/*
 * Basic blocks whose every load gives nearly always the same: whole computations that repeat.
 * Blocks are found in the code of the images.
 */
int64_t vt_speclist_blocks(struct vt_table *t, const struct vt_spec_view *view,
			   const struct vt_speclist_options *opt, struct vt_error *err);

/* Writes the lines above a listing.  `time` names the event that time is counted in. */
void vt_speclist_header(const struct vt_spec_view *view, enum vt_speclist what, const char *time,
			struct vt_output *out);

/* Writes a listing as a JSON document, with what its header says. */
void vt_speclist_json(const struct vt_spec_view *view, enum vt_speclist what,
		      const struct vt_event_choice *events, const char *time,
		      const struct vt_table *t, int64_t left_out, struct vt_output *out);

#endif
