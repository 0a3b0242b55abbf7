/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/profile/variance.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "listing/json.h"
#include "listing/profile/json.h"
#include "listing/profile/profile.h"
#include "profile/significance.h"

struct stat_row {
	size_t row;
	const char *image, *label;
	uint64_t sum;
	uint64_t runs; /* with samples */
	uint64_t min;
	uint64_t max;
	double mean;
	double deviation;
	double noise; /* deviation / the deviation by chance alone */
	double key;
};

static double stat_row_key(const struct stat_row *s, enum vt_stat_order order)
{
	switch (order) {
	case VT_STAT_DEVIATION:
		return s->deviation;
	case VT_STAT_NOISE:
		return s->noise;
	case VT_STAT_SUM:
		return (double)s->sum;
	default:
		return (double)(s->max - s->min) / (double)s->sum;
	}
}

static struct stat_row gather_stat_row(const struct vt_runs *r, size_t row,
				       const struct vt_statlist_options *opt)
{
	struct stat_row s = {.row = row,
			     .image = vt_runs_image(r, row),
			     .label = vt_runs_label(r, row),
			     .min = UINT64_MAX};
	struct vt_moments m = {0}, counts = {0};
	size_t i;

	for (i = 0; i < vt_runs_count(r); i++) {
		struct vt_tally t = vt_runs_tally(r, row, i, 0);
		uint64_t v = vti_weigh(t, opt->by_period);

		vt_moments_add(&m, (double)v);
		vt_moments_add(&counts, (double)t.samples);
		s.sum += v;
		s.runs += t.samples != 0;
		s.min = v < s.min ? v : s.min;
		s.max = v > s.max ? v : s.max;
	}
	s.mean = m.mean;
	s.deviation = vt_moments_deviation(&m);
	if (counts.mean > 0 && m.mean > 0)
		s.noise = s.deviation / m.mean * sqrt(counts.mean);
	if (s.sum)
		s.key = stat_row_key(&s, opt->order);
	return s;
}

static int compare_stat_rows(const void *pa, const void *pb)
{
	const struct stat_row *a = pa;
	const struct stat_row *b = pb;
	int c;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	c = strcmp(a->image, b->image);
	return c ? c : strcmp(a->label, b->label);
}

static void add_stat_columns(struct vt_table *t, enum vt_level level)
{
	vt_table_column(t, "range_percent", "range%", VT_FORMAT_PERCENT);
	vt_table_column(t, "sum", "sum", VT_FORMAT_NUMBER);
	vt_table_column(t, "sum_percent", "sum%", VT_FORMAT_PERCENT);
	vt_table_column(t, "runs", "N", VT_FORMAT_NUMBER);
	vt_table_column(t, "mean", "mean", VT_FORMAT_REAL);
	vt_table_column(t, "std_dev", "std-dev", VT_FORMAT_REAL);
	vt_table_column(t, "noise", "noise", VT_FORMAT_REAL);
	vt_table_column(t, "min", "min", VT_FORMAT_NUMBER);
	vt_table_column(t, "max", "max", VT_FORMAT_NUMBER);
	vti_name_columns(t, level);
}

static void fill_stat_row(struct vt_table *t, const struct vt_runs *runs, const struct stat_row *s,
			  enum vt_level level, uint64_t total)
{
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_percent(t, s->max - s->min, s->sum);
	vt_table_number(t, s->sum);
	vt_table_percent(t, s->sum, total);
	vt_table_number(t, s->runs);
	vt_table_real(t, s->mean);
	vt_table_real(t, s->deviation);
	vt_table_real(t, s->noise);
	vt_table_number(t, s->min);
	vt_table_number(t, s->max);
	vti_name_cells(t, level, runs, s->row);
}

int64_t vt_statlist_fill(struct vt_table *t, const struct vt_runs *runs, enum vt_level level,
			 uint64_t total, const struct vt_statlist_options *opt,
			 struct vt_error *err)
{
	size_t i, count = 0, rows = vt_runs_rows(runs);
	struct stat_row *list = calloc(rows + 1, sizeof(*list));
	int64_t left_out = 0;

	if (!list)
		return vt_error_nomem(err);
	for (i = 0; i < rows; i++) {
		list[count] = gather_stat_row(runs, i, opt);
		count += list[count].sum != 0;
	}
	qsort(list, count, sizeof(*list), compare_stat_rows);
	add_stat_columns(t, level);
	for (i = 0; i < count; i++) {
		double percent = 100.0 * (double)list[i].sum / (double)total;

		if ((opt->top && i - (size_t)left_out >= opt->top) || percent < opt->min_percent)
			left_out++;
		else
			fill_stat_row(t, runs, &list[i], level, total);
	}
	free(list);
	return left_out;
}

/* ---- the whole output ---- */

static uint64_t weigh_run(const struct vt_statreport *r, size_t run)
{
	return vti_weigh(r->runs[run].total, r->how.by_period);
}

static uint64_t sum_sets(const struct vt_statreport *r)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < r->count; i++)
		total += weigh_run(r, i);
	return total;
}

int vt_statreport_fill(struct vt_statreport *r, struct vt_error *err)
{
	r->table = vt_table_new();
	if (!r->table)
		return vt_error_nomem(err);
	r->left_out = vt_statlist_fill(r->table, r->rows, r->level, sum_sets(r), &r->how, err);
	return r->left_out < 0 ? (int)r->left_out : 0;
}

void vt_statreport_fini(struct vt_statreport *r)
{
	vt_table_free(r->table);
}

static void print_stat_header(const struct vt_statreport *r, struct vt_output *out)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	vt_escape_str(&b, r->event ? r->event : "none");
	vt_output_printf(out, "Number of samples of type %s\n", vt_buf_str(&b));
	for (i = 0; i < r->count; i++) {
		b.size = 0;
		vt_escape_str(&b, r->runs[i].path);
		vt_output_printf(out, "set %zu = %" PRIu64 "%s (%s)\n", i + 1, weigh_run(r, i),
				 r->how.by_period ? " of period" : "", vt_buf_str(&b));
		if (r->runs[i].loss.lost)
			vt_output_printf(out, "  lost while recording: %" PRIu64 " records\n",
					 r->runs[i].loss.lost);
		if (r->runs[i].loss.gaps)
			vt_output_printf(out, "  gaps in the input: %" PRIu64 "\n",
					 r->runs[i].loss.gaps);
	}
	vt_output_printf(out,
			 "TOTAL %" PRIu64 "\n\nStatistics of the %s of each %s in %zu sets\n\n",
			 sum_sets(r), r->how.by_period ? "period" : "samples",
			 vt_level_words[r->level], r->count);
	vt_buf_free(&b);
}

json_t *vt_statreport_json(const struct vt_statreport *r)
{
	json_t *sets = json_array();
	json_t *doc = vt_json_doc("vstats/1");
	size_t i;

	for (i = 0; i < r->count; i++) {
		const struct vt_statrun *run = &r->runs[i];
		json_t *set = json_object();

		json_object_set_new(set, "file", vt_json_text(run->path, strlen(run->path)));
		json_object_set_new(set, "samples", vt_json_u64(run->total.samples));
		json_object_set_new(set, "period", vt_json_u64(run->total.period));
		vt_json_losses(set, &run->loss);
		json_array_append_new(sets, set);
	}
	json_object_set_new(doc, "event",
			    r->event ? vt_json_text(r->event, strlen(r->event)) : json_null());
	json_object_set_new(doc, "by", json_string(vt_level_words[r->level]));
	json_object_set_new(doc, "sets", sets);
	json_object_set_new(doc, "rows", vt_json_table(r->table));
	json_object_set_new(doc, "rows_left_out", json_integer(r->left_out));
	return doc;
}

int vt_statreport_print(const struct vt_statreport *r, enum vt_table_form form, bool color,
			struct vt_output *out, struct vt_error *err)
{
	int code;

	if (form == VT_TABLE_TEXT)
		print_stat_header(r, out);
	code = vt_table_print(r->table, out, form, color, err);
	if (code == 0 && r->left_out && form == VT_TABLE_TEXT)
		vt_table_print_left_out(out, (uint64_t)r->left_out);
	return code;
}
