/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_MINCOST_H
#define VT_FLOW_MINCOST_H

#include <stdint.h>

#include "base/error.h"

/*
 * A circulation of minimum cost: what flows into each node flows out of it, and each arc pays for
 * how far its flow is from what was measured.
 */
struct vt_mincost;

/* Any flow. */
#define VT_MINCOST_MAX (INT64_C(1) << 48)

/* The highest cost of a unit, so that sums along a path do not overflow; higher ones become this.
 */
#define VT_MINCOST_COST (INT64_C(1) << 32)

/* As many nodes, and as many arcs, at most. */
#define VT_MINCOST_NODES (UINT32_C(1) << 28)

struct vt_mincost_arc {
	uint32_t from; /* nodes */
	uint32_t to;
	int64_t want;	 /* the flow that costs nothing; at most VT_MINCOST_MAX */
	int64_t less;	 /* the cost of each unit less than that */
	int64_t more;	 /* of each unit more */
	int64_t at_most; /* the arc takes no more than this */
};

/* Owned by the caller; NULL when memory runs out or there are too many nodes. */
struct vt_mincost *vt_mincost_new(uint32_t nodes);
void vt_mincost_free(struct vt_mincost *f);

/*
 * Adds an arc; the same pair of nodes may have several, whose costs together can be any convex
 * function with corners.  The number of the arc, from 0; -VT_E_NOMEM; -VT_E_USAGE if it has no
 * such nodes; -VT_E_LIMIT if there are too many or all together want more than 2^62.  Costs are not
 * negative; what is out of range (`want` above `at_most`, too) is brought into it.
 */
int64_t vt_mincost_add(struct vt_mincost *f, const struct vt_mincost_arc *arc,
		       struct vt_error *err);

/* Changes what units less and more cost, within the same bounds. */
void vt_mincost_price(struct vt_mincost *f, uint32_t arc, int64_t less, int64_t more);

/*
 * Finds the flow.  There is always one, for no flow at all is one.  Among flows of the same cost
 * the same arcs and steps always give the same.  Prices may be changed and more arcs be added
 * after, and solved again; with other prices alone that is quick.  -VT_E_NOMEM.
 */
int vt_mincost_solve(struct vt_mincost *f, struct vt_error *err);

/* The flow of an arc, once it was found. */
int64_t vt_mincost_flow(const struct vt_mincost *f, uint32_t arc);

#endif
