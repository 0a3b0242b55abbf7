/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_GRAPH_INTERNAL_H
#define VT_LISTING_CYCLES_GRAPH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "listing/cycles/graph.h"

#define VTI_GRAPH_NONE UINT32_MAX

/* One line of a block's text. */
struct vti_graph_line {
	size_t start; /* in vti_graph_node.text */
	size_t size;
	double share; /* percent of the procedure's cycles that this line has by itself */
};

struct vti_graph_node {
	uint32_t block;
	struct vt_buf text; /* lines, escaped as for a terminal, without ends */
	struct vti_graph_line *lines;
	size_t nlines;
	size_t lines_cap;
	double share;	  /* percent of the procedure's cycles */
	double frequency; /* 0 to 1: how often it is executed, on a logarithmic scale */
};

struct vti_graph_edge {
	uint32_t from; /* nodes */
	uint32_t to;
	double executions; /* below 0: nobody knows */
	double frequency;  /* likewise from 0 to 1 */
	bool sure;	   /* its confidence is more than low */
};

struct vti_graph {
	const struct vt_calc *calc;
	struct vti_graph_node *nodes;
	uint32_t nnodes;
	struct vti_graph_edge *edges;
	uint32_t nedges;
	struct vt_buf title; /* escaped */
};

/* What a picture shows.  False when memory runs out; vti_graph_fini() in either case. */
bool vti_graph_init(struct vti_graph *g, const struct vt_calc *c, double cutoff);
void vti_graph_fini(struct vti_graph *g);

/* "#rrggbb": from white to red, by a share of the cycles in percent. */
void vti_graph_color(double share, char text[8]);

/* "1234", "5.7M": a number of executions in few letters. */
void vti_graph_number(double v, char text[16]);

#endif
