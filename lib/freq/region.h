/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_REGION_H
#define VT_FREQ_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/pipeline/core.h"
#include "profile/procedure_flow.h"

/*
 * Regions of a procedure on a machine that issues out of order: loops, and the code outside of
 * loops.  There, the samples of an instruction tell where the machine waited, not what the
 * instruction took; what a region takes in a round is a fact, if it is large enough.
 */

#define VT_NO_REGION UINT32_MAX

struct vt_region {
	uint32_t head;	   /* block; of what is outside of loops, VT_CFG_ENTRY */
	uint32_t parent;   /* the region around it, which comes before it; VT_NO_REGION */
	double rounds;	   /* executions of the head */
	double visits;	   /* times that control comes from elsewhere into the region */
	double executions; /* of its instructions, all together */
	double unsure;	   /* of them, by their relative deviations */
	double doubt;	   /* relative deviation of executions: of its head, or of all if larger */
	double slots;	   /* micro-operations of all executions */
	double samples;
	double cycles; /* of all rounds */
	double best;   /* the same without dynamic stalls, by the static schedule: an estimate */
	double least;  /* what no execution can be faster than, to all that is known */
	double half;   /* relative half width of the 90 % interval of cycles */
	bool overlaps; /* with its neighbours: `cycles` are its time as the oldest instruction */
	bool merged;   /* it is a part of its parent, as it is too small to tell */
};

/* Whether its time is known well enough to say what of it is lost; one that is merged has none. */
#define VT_REGIONS_WIDTH 0.15
static inline bool vt_region_is_told(const struct vt_region *r)
{
	return !r->merged && r->cycles > 0 && r->half <= VT_REGIONS_WIDTH;
}

struct vt_regions {
	struct vt_region *list; /* what is outside of loops, then the loops, outer ones first */
	uint32_t count;
	uint32_t *of; /* by block: the region that it is a part of */
};

struct vt_regions_input {
	const struct vt_core *core;
	const struct vt_procflow *flow; /* with costs for these executions */
	const double *executions;	/* by instruction of the graph */
	const double *edges;		/* executions by edge */
	const double *doubt;		/* relative deviation of executions, by instruction */
	const uint64_t *samples;	/* by instruction that they are charged to */
	const double *cycles;		/* of all executions, likewise */
	bool exact_time;		/* cycles are a simulator's: no chance, no borders */
};

/*
 * Relative half width of the 90 % interval of a time in cycles of some visits, from its samples and
 * the relative deviation of its executions.  Chance, borders, where some cycles of neighbours are
 * its own, and counts are independent.  A term is left out with INFINITY samples, 0 visits, or
 * 0 doubt; INFINITY without samples or cycles.
 */
double vt_region_half_width(double samples, double visits, double cycles, double doubt);

/*
 * Finds the regions; small ones become parts of those around them until the interval of each is at
 * most VT_REGIONS_WIDTH, or nothing is left around it.  Owned by the caller; NULL: VT_E_NOMEM.
 */
struct vt_regions *vt_regions_new(const struct vt_regions_input *in, struct vt_error *err);
void vt_regions_free(struct vt_regions *r);

#endif
