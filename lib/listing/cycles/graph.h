/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_GRAPH_H
#define VT_LISTING_CYCLES_GRAPH_H

#include "base/error.h"
#include "base/output.h"
#include "listing/cycles/calc.h"

/*
 * The flow graph of a procedure as a picture, after dcpi2ps.  Letters grow with a block's
 * executions, its shade with its cycles, and an edge's width with its executions.  A `cutoff` above
 * 0 leaves out blocks with less than that percentage of the cycles, their edges, and edges that are
 * never taken.
 */

/* Prints the graph in the DOT language, for Graphviz.  -VT_E_NOMEM. */
int vt_calc_dot(const struct vt_calc *c, double cutoff, struct vt_output *out,
		struct vt_error *err);

/* Prints a self-contained SVG document.  -VT_E_NOMEM; -VT_E_LIMIT: the graph is too large. */
int vt_calc_svg(const struct vt_calc *c, double cutoff, struct vt_output *out,
		struct vt_error *err);

/* Writes "#rrggbb", from white to red, for a share of the cycles in percent. */
void vti_graph_color(double share, char text[8]);

/* Writes a number of executions in few letters: "1234", "5.7M". */
void vti_graph_count(double v, char text[16]);

#endif
