/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_MINCOST_H
#define VT_FLOW_MINCOST_H

#include <stdint.h>

#include "base/error.h"

/*
 * Minimum-cost circulations: at each node, inflow equals outflow, and each arc costs the distance
 * of its flow from a wanted, measured flow.
 */
struct vt_mincost;

/* The maximum flow of an arc. */
#define VT_MINCOST_MAX (INT64_C(1) << 48)

/* The maximum cost of a unit, so that sums along a path do not overflow; higher ones become this.
 */
#define VT_MINCOST_COST (INT64_C(1) << 32)

/* The maximum number of nodes, and of arcs. */
#define VT_MINCOST_NODES (UINT32_C(1) << 28)

struct vt_mincost_arc {
	uint32_t from; /* nodes */
	uint32_t to;
	int64_t want;	 /* the flow that costs nothing */
	int64_t less;	 /* cost of each unit below `want` */
	int64_t more;	 /* cost of each unit above `want` */
	int64_t at_most; /* the arc's capacity */
};

/* Owned by the caller.  NULL when memory runs out, or for too many nodes. */
struct vt_mincost *vt_mincost_new(uint32_t nodes);
void vt_mincost_free(struct vt_mincost *f);

/*
 * Adds an arc.  Several arcs between two nodes form any convex piecewise linear cost function.
 * Returns the number of the arc, counted from 0; -VT_E_NOMEM; -VT_E_USAGE if a node does not exist;
 * or -VT_E_LIMIT for too many arcs, or if all together want more than 2^62.  Negative costs, costs
 * above VT_MINCOST_COST, and flows above their limits (`want` above `at_most`, too) are clamped.
 */
int64_t vt_mincost_add(struct vt_mincost *f, const struct vt_mincost_arc *arc,
		       struct vt_error *err);

/* Changes the costs of an arc, with the same limits. */
void vt_mincost_price(struct vt_mincost *f, uint32_t arc, int64_t less, int64_t more);

/*
 * Computes the flow.  A solution always exists, because zero flow is feasible.  Among solutions of
 * equal cost, the result is deterministic for the same sequence of calls.  Afterwards, prices may
 * be changed and arcs added, and the function called again; with changed prices only, it is fast.
 * Returns 0 or -VT_E_NOMEM.
 */
int vt_mincost_solve(struct vt_mincost *f, struct vt_error *err);

/* Returns the flow of an arc, after vt_mincost_solve(). */
int64_t vt_mincost_flow(const struct vt_mincost *f, uint32_t arc);

#endif
