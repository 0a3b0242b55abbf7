/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_MINCOST_H
#define VT_FLOW_MINCOST_H

#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A circulation of minimum cost: what flows into each node flows out of it, and each arc pays for
 * how far its flow is from what was measured.
 */
struct vt_mincost;

/* Any flow. */
#define VT_MINCOST_MAX (INT64_C(1) << 48)

struct vt_mincost_arc {
	uint32_t from; /* nodes */
	uint32_t to;
	int64_t want;	 /* the flow that costs nothing; at most VT_MINCOST_MAX */
	int64_t less;	 /* the cost of each unit less than that */
	int64_t more;	 /* of each unit more */
	int64_t at_most; /* the arc takes no more than this */
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_mincost *vt_mincost_new(uint32_t nodes);
void vt_mincost_free(struct vt_mincost *f);

/*
 * Adds an arc; the same pair of nodes may have several, whose costs together can be any convex
 * function with corners.  The number of the arc, from 0; -VT_E_NOMEM.  Costs are not negative.
 */
int64_t vt_mincost_add(struct vt_mincost *f, const struct vt_mincost_arc *arc,
		       struct vt_error *err);

/* Finds the flow.  There is always one, for no flow at all is one.  -VT_E_NOMEM. */
int vt_mincost_solve(struct vt_mincost *f, struct vt_error *err);

/* The flow of an arc, once it was found. */
int64_t vt_mincost_flow(const struct vt_mincost *f, uint32_t arc);

#ifdef __cplusplus
}
#endif
#endif
