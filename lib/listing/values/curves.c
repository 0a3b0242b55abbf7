/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/curves.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "listing/chart.h"
#include "listing/values/invariance.h"
#include "stream/kinds.h"

static int write_chart(const struct vt_chart *chart, const char *path, struct vt_error *err)
{
	struct vt_output out;

	if (vt_output_open(&out, path, err) < 0)
		return -(int)err->code;
	vt_chart_write(chart, &out);
	return vt_output_close(&out, err);
}

/* ---- over the executions ---- */

/* The titles of the paper's figures 3 to 6. */
static const char *const metric_titles[VT_NINVMETRICS] = {
	[VT_INV_TOP] = "Invariance (top value)",    [VT_INV_ALL] = "Invariance (all values)",
	[VT_INV_LVP] = "Last value predictability", [VT_INV_ZERO] = "Zero values",
	[VT_INV_STRIDE] = "Stride predictability",
};

struct vt_table *vt_invcurves_table(const struct vt_invcurve *c, size_t n)
{
	struct vt_table *t = vt_table_new();
	size_t i;
	int k;

	if (!t)
		return NULL;
	/* The heading is a comment to gnuplot. */
	vt_table_column(t, "percent", "# percent", VT_FORMAT_NUMBER);
	for (i = 0; i < n; i++)
		vt_table_column_of(t, "inputs", c[i].name, "value", c[i].name, c[i].name,
				   VT_FORMAT_REAL);
	for (k = 0; k < VT_INV_BUCKETS; k++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, (uint64_t)k + 1);
		for (i = 0; i < n; i++)
			vt_table_real(t, 100 * c[i].value[k]);
	}
	return t;
}

/* A bucket is level: two points for each. */
static void fill_series(struct vt_chart_series *s, const struct vt_invcurve *c, double *x,
			double *y)
{
	size_t k;

	*s = (struct vt_chart_series){c->name, x, y, 2 * VT_INV_BUCKETS};
	for (k = 0; k < VT_INV_BUCKETS; k++) {
		*x++ = (double)k;
		*x++ = (double)k + 1;
		*y++ = 100 * c->value[k];
		*y++ = 100 * c->value[k];
	}
}

int vt_invcurves_draw(const struct vt_invcurve *c, size_t n, enum vt_inv_metric metric,
		      const char *path, struct vt_error *err)
{
	struct vt_chart_series *series = calloc(n, sizeof(*series));
	double(*points)[2][2 * VT_INV_BUCKETS] = calloc(n, sizeof(*points));
	const struct vt_chart chart = {.title = metric_titles[metric],
				       .x_label = "executions (percent)",
				       .y_label = "percent",
				       .x_max = 100,
				       .y_max = 100,
				       .series = series,
				       .nseries = n};
	bool ok = series && points;
	size_t i;
	int code;

	for (i = 0; ok && i < n; i++)
		fill_series(&series[i], &c[i], points[i][0], points[i][1]);
	code = ok ? write_chart(&chart, path, err) : vt_error_nomem(err);
	free(series);
	free(points);
	return code;
}

/* ---- over intervals ---- */

static void add_interval_columns(struct vt_table *t, uint32_t k)
{
	char key[24];
	uint32_t i;

	vt_table_column(t, "number", "# number", VT_FORMAT_NUMBER);
	vt_table_column(t, "executions", "Executions", VT_FORMAT_NUMBER);
	vt_table_column(t, "mean", "Mean", VT_FORMAT_REAL);
	vt_table_column(t, "lowest", "Lowest", VT_FORMAT_REAL);
	vt_table_column(t, "highest", "Highest", VT_FORMAT_REAL);
	for (i = 0; i < k; i++) {
		snprintf(key, sizeof(key), "%" PRIu32, i + 1);
		vt_table_column_of(t, "intervals", key, "percent", key, key, VT_FORMAT_REAL);
	}
	vt_table_column(t, "what", "Values", VT_FORMAT_TEXT);
	vt_table_column(t, "size", "Size", VT_FORMAT_NUMBER);
	vt_table_column(t, "address", "Address", VT_FORMAT_HEX);
	vt_table_column_max(t, "image", "Image", VT_FORMAT_PATH, 30);
	vt_table_column(t, "procedure", "Place", VT_FORMAT_NAME);
}

static void fill_interval_row(struct vt_table *t, const struct vt_interval_row *row,
			      struct vt_images *images, uint32_t k)
{
	struct vt_hot_place place = {.image = row->path,
				     .address = row->site->offset,
				     .why = vt_unknown_text(VT_UNKNOWN_NO_MAP)};
	uint32_t i;

	if (row->image != VT_SITES_NO_IMAGE)
		vt_image_place(images, row->image, row->site->offset, &place);
	vt_table_number(t, row->executions);
	vt_table_real(t, 100 * row->mean);
	vt_table_real(t, 100 * row->lowest);
	vt_table_real(t, 100 * row->highest);
	for (i = 0; i < k; i++)
		vt_table_real(t, 100 * (double)row->shares[i]);
	vt_table_str(t, vt_what_name(row->site->what));
	vt_table_number(t, row->size);
	vt_table_number(t, place.address);
	vt_table_str(t, place.image);
	vt_invlist_place(t, &place, row->site->lane);
}

struct vt_table *vt_intervallist_table(const struct vt_intervalprofile *p, struct vt_images *images,
				       uint32_t k)
{
	struct vt_table *t = vt_table_new();
	size_t i;

	if (!t)
		return NULL;
	add_interval_columns(t, k);
	for (i = 0; i < vt_intervalprofile_count(p); i++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, i + 1);
		fill_interval_row(t, vt_intervalprofile_at(p, i), images, k);
	}
	return t;
}

int vt_intervallist_draw(const struct vt_intervalprofile *p, uint32_t k, const char *path,
			 struct vt_error *err)
{
	size_t nrows = vt_intervalprofile_count(p), n = nrows * k, i, j;
	double *x = calloc(2 * n + 1, sizeof(*x));
	struct vt_chart_series series = {.label = ""};
	const struct vt_chart chart = {.title = "Interval invariance (top value)",
				       .x_label = "instruction (by mean)",
				       .y_label = "percent",
				       .x_max = nrows ? (double)nrows : 1,
				       .y_max = 100,
				       .dots = true,
				       .series = &series,
				       .nseries = 1};
	int code;

	if (!x)
		return vt_error_nomem(err);
	series = (struct vt_chart_series){"", x, x + n, n};
	for (i = 0; i < nrows; i++) {
		const float *shares = vt_intervalprofile_at(p, i)->shares;

		for (j = 0; j < k; j++) {
			x[i * k + j] = (double)i + 1;
			x[n + i * k + j] = 100 * (double)shares[j];
		}
	}
	code = write_chart(&chart, path, err);
	free(x);
	return code;
}
