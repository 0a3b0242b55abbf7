/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_GRAPH_H
#define VT_LISTING_CYCLES_GRAPH_H

#include "base/error.h"
#include "base/output.h"
#include "listing/cycles/calc.h"

/*
 * The flow graph of a procedure as a picture, after dcpi2ps: the more often a block is executed,
 * the larger its letters; the more cycles it takes, the darker it is; and the more often control
 * takes an edge, the thicker that is.  If `cutoff` is more than 0, blocks with less than so many
 * percent of the cycles, the edges there, and edges that are never taken, are left out.
 */

/* For Graphviz. */
int vt_calc_dot(const struct vt_calc *c, double cutoff, struct vt_output *out,
		struct vt_error *err);

/* As an SVG document that needs nothing else.  -VT_E_NOMEM; -VT_E_LIMIT: the graph is too large. */
int vt_calc_svg(const struct vt_calc *c, double cutoff, struct vt_output *out,
		struct vt_error *err);

/* "#rrggbb": from white to red, by a share of the cycles in percent. */
void vti_graph_color(double share, char text[8]);

/* "1234", "5.7M": a number of executions in few letters. */
void vti_graph_count(double v, char text[16]);

#endif
