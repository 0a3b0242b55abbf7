/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_LAYOUT_H
#define VT_LISTING_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Places the nodes and edges of a directed graph in a picture: nodes in layers, so that most edges
 * lead downwards, with few crossings and straight edges.  Sugiyama, Tagawa, Toda: Methods for
 * visual understanding of hierarchical system structures, 1981.
 *
 * Graphviz's dot draws pictures of the same quality, but took 0.5 to 2.3 s and 2.5 to 36 s,
 * depending on its options, for two procedures of some 1,200 edges, which vlist lists and draws in
 * 0.05 and 0.07 s.  Its library also depends on pango, cairo, gd and X11.
 */

struct vt_layout_node {
	double width; /* set by the caller */
	double height;
	double x; /* upper left corner, set by vt_layout_place() */
	double y;
};

/*
 * The points of an edge are in its direction.  Between the first and second point it curves through
 * the gap between two layers, between the second and third it passes straight through a layer, and
 * so on; the last section is a curve.  An edge from a node to itself has two points on the node's
 * right side.
 */
struct vt_layout_edge {
	uint32_t from; /* nodes: set by the caller */
	uint32_t to;
	size_t first; /* in vt_layout.points */
	size_t npoints;
};

struct vt_layout_point {
	double x;
	double y;
};

struct vt_layout {
	struct vt_layout_node *nodes; /* set and owned by the caller, as the next four */
	uint32_t nnodes;
	struct vt_layout_edge *edges;
	uint32_t nedges;
	double gap;			/* least distance of layers, and of neighbours in a layer */
	struct vt_layout_point *points; /* freed by vt_layout_fini() */
	size_t npoints;
	double width; /* of the picture, whose upper left corner is at 0, 0 */
	double height;
};

/*
 * Computes the places.  Node 0 is the entry and tends to be on top.  -VT_E_NOMEM; -VT_E_LIMIT: the
 * graph has so many long edges that nobody could read it.
 */
int vt_layout_place(struct vt_layout *g, struct vt_error *err);
void vt_layout_fini(struct vt_layout *g);

#endif
