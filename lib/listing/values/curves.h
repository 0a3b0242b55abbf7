/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_CURVES_H
#define VT_LISTING_VALUES_CURVES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/table.h"
#include "image/images.h"
#include "value/intervals.h"
#include "value/invariance.h"

/*
 * The distribution of invariance, as tables that gnuplot reads and as SVG pictures: over the
 * executions (Calder et al., "Value Profiling and Optimization", figures 3 to 6), and over the
 * intervals of each instruction's executions (figure 17).
 *
 * Tables are owned by the caller; NULL when memory runs out.  Pictures are written to the file
 * `path`: 0, errors of vt_output_open() and vt_output_close(), or -VT_E_NOMEM.
 */

struct vt_invcurve {
	const char *name;	      /* of the input */
	double value[VT_INV_BUCKETS]; /* from vt_inv_curve() */
};

/* Curves of n inputs: a row for each percent of the executions, a column for each input. */
struct vt_table *vt_invcurves_table(const struct vt_invcurve *c, size_t n);
int vt_invcurves_draw(const struct vt_invcurve *c, size_t n, enum vt_inv_metric metric,
		      const char *path, struct vt_error *err);

/* A row for each instruction, a column for each of its k intervals. */
struct vt_table *vt_intervallist_table(const struct vt_intervalprofile *p, struct vt_images *images,
				       uint32_t k);
int vt_intervallist_draw(const struct vt_intervalprofile *p, uint32_t k, const char *path,
			 struct vt_error *err);

#endif
