/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CHART_H
#define VT_LISTING_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"

/*
 * A chart as a picture in Scalable Vector Graphics 1.1: axes with a grid, and one line or cloud of
 * dots for each series.  Both axes begin at 0.  The same chart gives the same bytes.
 */
struct vt_chart_series {
	const char *label; /* for the legend; untrusted text; "": not in it */
	const double *x;
	const double *y;
	size_t n;
};

struct vt_chart {
	const char *title;
	const char *x_label;
	const char *y_label;
	double x_max; /* > 0; what lies beyond is drawn at the edge */
	double y_max;
	bool dots; /* the series are dots, not lines */
	const struct vt_chart_series *series;
	size_t nseries;
};

/* Errors stick to `out`. */
void vt_chart_write(const struct vt_chart *c, struct vt_output *out);

#endif
