/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_MINCOST_INTERNAL_H
#define VT_FLOW_MINCOST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow/mincost.h"

/*
 * A network with fewer nodes, whose flows are those of the first.  Where a single arc leads to a
 * node, and it takes any flow, the arcs that leave the node say what it carries: it need not be in
 * the network, its ends are one node, and what it costs is added to what they cost.  So it is with
 * a single arc that leaves a node.
 */
struct vti_shrink {
	const struct vt_mincost_arc *arcs; /* borrowed */
	uint32_t nnodes;		   /* that are left */
	uint32_t *node;			   /* by node there was: the one it is in */
	int64_t *carry;			   /* by arc: what a unit costs on those that it implies */
	uint32_t *owner; /* by arc: the node whose other arcs imply it; UINT32_MAX: it stays */
	/* Nodes that own an arc, each before those that own an arc it implies. */
	uint32_t *order;
	uint32_t norder;
	uint32_t *arc; /* by node: the one it owns; UINT32_MAX: none */
	/* Arcs by node: those to it are at[first[2n]..), those from it at[first[2n + 1]..). */
	uint32_t *first;
	uint32_t *at;
};

/* False: no memory; vti_shrink_fini() in either case. */
bool vti_shrink_init(struct vti_shrink *s, const struct vt_mincost_arc *arcs, size_t narcs,
		     uint32_t nnodes);
void vti_shrink_fini(struct vti_shrink *s);

/* Whether an arc is not in the network. */
static inline bool vti_shrink_implies(const struct vti_shrink *s, uint32_t arc)
{
	return s->owner[arc] != UINT32_MAX;
}

/* Fills in the flows of arcs that are not in the network, from the others'. */
void vti_shrink_flow(const struct vti_shrink *s, int64_t *flow);

#endif
