/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_STALL_RANKING_H
#define VT_LISTING_CYCLES_STALL_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "base/table.h"
#include "listing/cycles/calc.h"

/* The procedures of images by what one cause of stalls costs them: dcpiwhatcg -stall. */
struct vt_cyclerank;

/* Owned by the caller; NULL when memory runs out. */
struct vt_cyclerank *vt_cyclerank_new(const struct vt_calc_source *src);
void vt_cyclerank_free(struct vt_cyclerank *r);

/* Adds an image's procedures; false when memory runs out. */
bool vt_cyclerank_add(struct vt_cyclerank *r, uint32_t image);

struct vt_cyclerank_options {
	unsigned cause;
	double cutoff; /* percent of all cycles: procedures that lose less to the cause are left out
			*/
	uint64_t top;  /* so many at most; 0: all */
};

/*
 * Adds columns and rows to an empty table, those with most cycles lost first, in the middle of
 * their range; procedures that lose none are left out.  False when memory runs out.
 */
bool vt_cyclerank_fill(struct vt_cyclerank *r, const struct vt_cyclerank_options *o,
		       struct vt_table *t);

/* The lines above the table; `all` is of all that the procedures are of. */
void vt_cyclerank_header(const struct vt_cyclerank_options *o, const struct vt_cyclesum *all,
			 struct vt_output *out);

#endif
