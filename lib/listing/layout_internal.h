/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_LAYOUT_INTERNAL_H
#define VT_LISTING_LAYOUT_INTERNAL_H

#include <stdbool.h>

#include "listing/layout.h"

/* The steps of vt_layout_place(), for its unit test. */

/* A node, or the point where a long edge passes through a layer. */
struct vti_vertex {
	double x; /* of its middle */
	double width;
	uint32_t layer;
	uint32_t order; /* in its layer, from the left */
	uint32_t up;	/* first index in vti_layered.up; ends at the next vertex's */
	uint32_t down;
};

/* The part of an edge between two neighbouring layers. */
struct vti_segment {
	uint32_t upper; /* vertices */
	uint32_t lower;
};

struct vti_layered {
	struct vt_layout *g;
	bool *reversed;		     /* by edge: it leads upwards */
	uint32_t *edge_first;	     /* by edge: its first segment; its others follow */
	struct vti_vertex *vertices; /* nodes first; one more for the ends of up and down */
	uint32_t nvertices;
	struct vti_segment *segments;
	uint32_t nsegments;
	uint32_t *up;	       /* the upper neighbours of each vertex, */
	uint32_t *down;	       /* and the lower ones */
	uint32_t *layers;      /* vertices by layer and order */
	uint32_t *layer_first; /* by layer, and one more */
	uint32_t nlayers;
};

/* Sets `order` of each vertex from its position in `layers`. */
void vti_layout_number(struct vti_layered *l);

/* Sorts the vertices of each layer for few crossings.  False when memory runs out. */
bool vti_layout_order(struct vti_layered *l);

/* Sets x of all vertices.  False when memory runs out. */
bool vti_layout_columns(struct vti_layered *l);

#endif
