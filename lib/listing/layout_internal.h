/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_LAYOUT_INTERNAL_H
#define VT_LISTING_LAYOUT_INTERNAL_H

#include <stdbool.h>

#include "listing/layout.h"

/* The steps of vt_layout_place(), which its unit test runs one by one. */

/* A node, or a place where a long edge goes through a layer. */
struct vti_vertex {
	double x; /* of its middle */
	double width;
	uint32_t layer;
	uint32_t order; /* in its layer, from the left */
	uint32_t up;	/* its first in vti_layered.up; ends where the next one's begin */
	uint32_t down;
};

/* A piece of an edge from a layer to the next. */
struct vti_segment {
	uint32_t upper; /* vertices */
	uint32_t lower;
};

struct vti_layered {
	struct vt_layout *g;
	bool *reversed;		     /* by edge: control goes up */
	uint32_t *edge_first;	     /* by edge: its first segment; they follow each other */
	struct vti_vertex *vertices; /* the nodes first; one more, for the ends of up and down */
	uint32_t nvertices;
	struct vti_segment *segments;
	uint32_t nsegments;
	uint32_t *up;	       /* vertices above that vertices are joined to */
	uint32_t *down;	       /* and below */
	uint32_t *layers;      /* vertices by layer and order */
	uint32_t *layer_first; /* by layer, and one more */
	uint32_t nlayers;
};

/* Numbers the vertices of each layer as they stand in `layers`. */
void vti_layout_number(struct vti_layered *l);

/* Orders the vertices within layers for few crossings.  False when memory runs out. */
bool vti_layout_order(struct vti_layered *l);

/* Chooses x for all vertices.  False likewise. */
bool vti_layout_columns(struct vti_layered *l);

#endif
