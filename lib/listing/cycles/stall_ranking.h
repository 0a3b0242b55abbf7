/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_STALL_RANKING_H
#define VT_LISTING_CYCLES_STALL_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "base/table.h"
#include "listing/cycles/calc.h"

/* Procedures by the cycles that one cause of stalls costs them, after dcpiwhatcg -stall. */
struct vt_cyclerank;

/* Owned by the caller; NULL when memory runs out. */
struct vt_cyclerank *vt_cyclerank_new(const struct vt_calc_source *src);
void vt_cyclerank_free(struct vt_cyclerank *r);

/* Adds the procedures of an image; false when memory runs out. */
bool vt_cyclerank_add(struct vt_cyclerank *r, uint32_t image);

struct vt_cyclerank_options {
	unsigned cause;
	double cutoff; /* least loss of a procedure, in percent of all cycles */
	uint64_t top;  /* the most procedures; 0: all */
};

/*
 * Adds columns and rows to an empty table, the greatest loss first; a loss is the middle of its
 * range.  Leaves out procedures without a loss.  False when memory runs out.
 */
bool vt_cyclerank_fill(struct vt_cyclerank *r, const struct vt_cyclerank_options *o,
		       struct vt_table *t);

/* Prints the lines above the table; `all` is the sum over the images. */
void vt_cyclerank_header(const struct vt_cyclerank_options *o, const struct vt_cyclesum *all,
			 struct vt_output *out);

#endif
