/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_MINCOST_INTERNAL_H
#define VT_FLOW_MINCOST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow/mincost.h"

/*
 * A contracted network with the same flows.  If a single arc of unlimited capacity leads to a node,
 * the arcs that leave the node imply its flow.  It is removed, its ends become one node, and its
 * cost is added to theirs.  The same applies to a single arc that leaves a node.
 */
struct vti_shrink {
	const struct vt_mincost_arc *arcs; /* borrowed */
	uint32_t nnodes;		   /* of the contracted network */
	uint32_t *node;			   /* by original node: its contracted node */
	int64_t *carry;			   /* by arc: added cost per unit of the arcs it implies */
	uint32_t *owner; /* by arc: the node whose other arcs imply it; UINT32_MAX: none */
	/* Nodes that own an arc, each before those that own an arc it implies. */
	uint32_t *order;
	uint32_t norder;
	uint32_t *arc; /* by node: the arc it owns; UINT32_MAX: none */
	/* Arcs to node n start at at[first[2n]], arcs from it at at[first[2n + 1]]. */
	uint32_t *first;
	uint32_t *at;
};

/* Returns false when memory runs out.  Call vti_shrink_fini() in either case. */
bool vti_shrink_init(struct vti_shrink *s, const struct vt_mincost_arc *arcs, size_t narcs,
		     uint32_t nnodes);
void vti_shrink_fini(struct vti_shrink *s);

/* Returns true if an arc was removed. */
static inline bool vti_shrink_implies(const struct vti_shrink *s, uint32_t arc)
{
	return s->owner[arc] != UINT32_MAX;
}

/* Computes the flows of removed arcs from those of the others. */
void vti_shrink_flow(const struct vti_shrink *s, int64_t *flow);

#endif
