/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_LAYOUT_H
#define VT_FLOW_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Where the nodes and edges of a directed graph go in a picture: in layers from above to below, so
 * that most edges lead downwards, with few crossings and straight lines.  Sugiyama, Tagawa, Toda:
 * Methods for visual understanding of hierarchical system structures, 1981.
 */

struct vt_layout_node {
	double width; /* to be told */
	double height;
	double x; /* of the upper left corner */
	double y;
};

/*
 * The points of an edge are in the direction of control.  From the first to the second it curves
 * through the gap between two layers, from the second to the third it goes straight through a
 * layer, and so on: it ends with a curve.  An edge from a node to itself has two points, both on
 * the node's right side.
 */
struct vt_layout_edge {
	uint32_t from; /* to be told: nodes */
	uint32_t to;
	size_t first; /* in vt_layout.points */
	size_t npoints;
};

struct vt_layout_point {
	double x;
	double y;
};

struct vt_layout {
	struct vt_layout_node *nodes; /* to be told; the caller's */
	uint32_t nnodes;
	struct vt_layout_edge *edges; /* likewise */
	uint32_t nedges;
	double gap;			/* to be told: between layers, and neighbours, at least */
	struct vt_layout_point *points; /* freed by vt_layout_fini() */
	size_t npoints;
	double width; /* of the whole, whose upper left corner is at 0, 0 */
	double height;
};

/*
 * Fills in the rest; node 0 is where control enters, and tends to be on top.  -VT_E_NOMEM;
 * -VT_E_LIMIT: a graph of so many long edges that nobody could read it.
 */
int vt_layout_place(struct vt_layout *g, struct vt_error *err);
void vt_layout_fini(struct vt_layout *g);

#endif
