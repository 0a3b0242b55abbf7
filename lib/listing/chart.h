/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CHART_H
#define VT_LISTING_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"

/*
 * Charts in Scalable Vector Graphics 1.1: axes with a grid, and a line or a set of dots for each
 * series, or bars.  Both axes begin at 0.  Equal charts give equal bytes.
 */
struct vt_chart_series {
	const char *label; /* in the legend; untrusted text; "": none */
	const double *x;
	const double *y;
	size_t n;
};

struct vt_chart {
	const char *title;
	const char *x_label;
	const char *y_label;
	double x_max; /* > 0; points beyond are drawn at the edge */
	double y_max;
	bool dots; /* the series are dots, not lines */
	/*
	 * Not NULL: for each of these names, untrusted, a bar of all series, of which the first is
	 * at the bottom.  Each series has as many `y`; `x` and `x_max` have no meaning.
	 */
	const char *const *bars;
	size_t nbars;
	const struct vt_chart_series *series;
	size_t nseries;
};

/* Errors stick to `out`. */
void vt_chart_write(const struct vt_chart *c, struct vt_output *out);

#endif
