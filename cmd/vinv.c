/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/hots.h"
#include "cmd/common/intervals.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/what.h"
#include "formats/svg/chart.h"
#include "listing/json.h"
#include "listing/values/invariance.h"
#include "value/invariance.h"

static const char *const by_words[] = {"instruction", "procedure", "image", NULL};
static const char *const metric_words[] = {"inv-top", "inv-all", "lvp", "zero", "stride", NULL};

/* What the paper's figures 3 to 6 are called. */
static const char *const metric_titles[VT_NINVMETRICS] = {
	[VT_INV_TOP] = "Invariance (top value)",    [VT_INV_ALL] = "Invariance (all values)",
	[VT_INV_LVP] = "Last value predictability", [VT_INV_ZERO] = "Zero values",
	[VT_INV_STRIDE] = "Stride predictability",
};

struct options {
	const char *what;
	int by;
	uint64_t top;
	bool summary;
	int curve; /* enum vt_inv_metric, or -1 */
	const char *plot;
	uint64_t intervals;
	uint64_t min;
	bool min_given;
	struct app_form form;
	const char *symfs;
	const char *output;
	int color;
};

struct run {
	struct app *app;
	const struct options *o;
	uint32_t what;
	struct app_hots *inputs;
	size_t ninputs;
};

static bool read_inputs(struct run *r)
{
	size_t n = r->app->argc ? (size_t)r->app->argc : 1;
	size_t i;

	r->inputs = calloc(n, sizeof(*r->inputs));
	if (!r->inputs)
		return app_no_memory(r->app);
	for (i = 0; i < n; i++) {
		r->ninputs++;
		if (!app_hots_read(r->app, &r->inputs[i], r->app->argc ? r->app->argv[i] : NULL,
				   r->o->symfs, r->app->seed))
			return false;
	}
	return true;
}

static bool print_table(struct run *r, const struct vt_table *t, struct vt_output *out)
{
	return app_print_table(r->app, t, &r->o->form, r->o->color, out);
}

/* ---- lists ---- */

static bool print_lists(struct run *r, const struct vt_table *overall, const struct vt_table *rows,
			int64_t left_out)
{
	struct vt_output *out = app_text(r->app, r->o->output);
	bool text = app_form_is_text(&r->o->form);

	if (!out)
		return false;
	if (r->o->form.json) {
		json_t *doc = vt_json_doc("vinv/1");

		vt_json_losses(doc, &r->app->losses);
		json_object_set_new(doc, "overall", vt_json_table(overall));
		if (!r->o->summary) {
			json_object_set_new(doc, "by", json_string(by_words[r->o->by]));
			json_object_set_new(doc, "rows", vt_json_table(rows));
			json_object_set_new(doc, "rows_left_out", json_integer(left_out));
		}
		vt_json_write(out, doc, true);
		return true;
	}
	if ((text || r->o->summary) && !print_table(r, overall, out))
		return false;
	if (r->o->summary)
		return true;
	if (text)
		vt_output_text(out, "\n");
	if (!print_table(r, rows, out))
		return false;
	if (left_out && text)
		vt_output_printf(out, "(%lld more rows)\n", (long long)left_out);
	return true;
}

static bool list(struct run *r)
{
	const struct vt_invlist_options o = {
		.what = r->what, .by = (enum vt_invlist_by)r->o->by, .top = r->o->top};
	struct vt_table *overall = vt_table_new(), *rows = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	int64_t left_out = 0;
	bool ok = overall && rows;

	if (!ok) {
		app_no_memory(r->app);
	} else {
		vt_invlist_overall(overall, r->inputs->profile, r->what);
		if (!r->o->summary)
			left_out = vt_invlist_fill(rows, r->inputs->profile, r->inputs->images, &o,
						   &err);
		ok = left_out >= 0 ? print_lists(r, overall, rows, left_out)
				   : app_fail(r->app, &err);
	}
	vt_table_free(overall);
	vt_table_free(rows);
	return ok;
}

/* ---- curves ---- */

struct curves {
	double (*value)[VT_INV_BUCKETS]; /* of each input; of 1 */
};

static bool make_curves(struct run *r, struct curves *c, enum vt_inv_metric metric)
{
	struct vt_error err;
	size_t i;

	c->value = calloc(r->ninputs, sizeof(*c->value));
	if (!c->value)
		return app_no_memory(r->app);
	for (i = 0; i < r->ninputs; i++) {
		if (!vt_inv_curve(r->inputs[i].profile, r->what, metric, c->value[i])) {
			vt_error_set(&err, VT_E_FORMAT, "%s: no executed values of that kind",
				     r->inputs[i].name);
			return app_fail(r->app, &err);
		}
	}
	return true;
}

static void fill_curves(const struct run *r, const struct curves *c, struct vt_table *t)
{
	size_t i;
	int k;

	/* The heading is a comment to gnuplot. */
	vt_table_column(t, "percent", "# percent", VT_FORMAT_NUMBER);
	for (i = 0; i < r->ninputs; i++)
		vt_table_column_of(t, "inputs", r->inputs[i].name, "value", r->inputs[i].name,
				   r->inputs[i].name, VT_FORMAT_REAL);
	for (k = 0; k < VT_INV_BUCKETS; k++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, (uint64_t)k + 1);
		for (i = 0; i < r->ninputs; i++)
			vt_table_real(t, 100 * c->value[i][k]);
	}
}

static bool print_curves(struct run *r, const struct curves *c, enum vt_inv_metric metric)
{
	struct vt_output *out = app_text(r->app, r->o->output);
	struct vt_table *t = vt_table_new();
	bool ok = out != NULL;

	if (!t || !out) {
		vt_table_free(t);
		return ok && app_no_memory(r->app);
	}
	fill_curves(r, c, t);
	if (r->o->form.json) {
		json_t *doc = vt_json_doc("vinv-curve/1");

		vt_json_losses(doc, &r->app->losses);
		json_object_set_new(doc, "metric", json_string(vt_inv_metric_name(metric)));
		json_object_set_new(doc, "rows", vt_json_table(t));
		vt_json_write(out, doc, true);
	} else {
		ok = print_table(r, t, out);
	}
	vt_table_free(t);
	return ok;
}

static bool draw(struct run *r, const struct vt_chart *chart)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output out;

	if (!app_may_write(r->app, r->o->plot))
		return false;
	if (vt_output_open(&out, r->o->plot, &err) < 0)
		return app_fail(r->app, &err);
	vt_chart_write(chart, &out);
	return vt_output_close(&out, &err) == 0 || app_fail(r->app, &err);
}

/* A bucket is level: two points for each. */
static bool draw_curves(struct run *r, const struct curves *c, enum vt_inv_metric metric)
{
	size_t n = 2 * VT_INV_BUCKETS * r->ninputs, i, k, at = 0;
	struct vt_chart_series *series = calloc(r->ninputs, sizeof(*series));
	double *points = malloc(2 * n * sizeof(*points));
	struct vt_chart chart = {.title = metric_titles[metric],
				 .x_label = "executions (percent)",
				 .y_label = "percent",
				 .x_max = 100,
				 .y_max = 100,
				 .series = series,
				 .nseries = r->ninputs};
	bool ok = series && points;

	for (i = 0; ok && i < r->ninputs; i++) {
		series[i] = (struct vt_chart_series){r->inputs[i].name, points + at,
						     points + n + at, 2 * VT_INV_BUCKETS};
		for (k = 0; k < VT_INV_BUCKETS; k++, at += 2) {
			points[at] = (double)k;
			points[at + 1] = (double)k + 1;
			points[n + at] = points[n + at + 1] = 100 * c->value[i][k];
		}
	}
	ok = ok ? draw(r, &chart) : app_no_memory(r->app);
	free(series);
	free(points);
	return ok;
}

static bool curves(struct run *r)
{
	enum vt_inv_metric metric = r->o->curve >= 0 ? (enum vt_inv_metric)r->o->curve : VT_INV_TOP;
	struct curves c = {NULL};
	bool ok = make_curves(r, &c, metric) && print_curves(r, &c, metric) &&
		  (!r->o->plot || draw_curves(r, &c, metric));

	free(c.value);
	return ok;
}

/* ---- intervals ---- */

static bool print_intervals(struct run *r, struct app_intervals *iv,
			    const struct app_intervals_options *how)
{
	struct vt_output *out = app_text(r->app, r->o->output);
	struct vt_table *t = vt_table_new();
	bool ok = out != NULL;

	if (!t || !out) {
		vt_table_free(t);
		return ok && app_no_memory(r->app);
	}
	app_intervals_fill(iv, how, t);
	if (r->o->form.json) {
		json_t *doc = vt_json_doc("vinv-intervals/1");

		vt_json_losses(doc, &r->app->losses);
		json_object_set_new(doc, "intervals", json_integer(how->k));
		json_object_set_new(doc, "rows", vt_json_table(t));
		vt_json_write(out, doc, true);
	} else {
		ok = print_table(r, t, out);
	}
	vt_table_free(t);
	return ok;
}

static bool draw_intervals(struct run *r, const struct app_intervals *iv, uint32_t k)
{
	size_t n = iv->nrows * k, i, j;
	double *points = malloc((2 * n + 1) * sizeof(*points));
	struct vt_chart_series series = {.label = ""};
	struct vt_chart chart = {.title = "Interval invariance (top value)",
				 .x_label = "instruction (by mean)",
				 .y_label = "percent",
				 .x_max = iv->nrows ? (double)iv->nrows : 1,
				 .y_max = 100,
				 .dots = true,
				 .series = &series,
				 .nseries = 1};
	bool ok;

	if (!points)
		return app_no_memory(r->app);
	series = (struct vt_chart_series){"", points, points + n, n};
	for (i = 0; i < iv->nrows; i++) {
		for (j = 0; j < k; j++) {
			points[i * k + j] = (double)i + 1;
			points[n + i * k + j] = 100 * (double)iv->rows[i].shares[j];
		}
	}
	ok = draw(r, &chart);
	free(points);
	return ok;
}

static bool intervals(struct run *r)
{
	const struct app_intervals_options how = {.k = (uint32_t)r->o->intervals,
						  .what = r->what,
						  .min = r->o->min_given ? r->o->min : 100,
						  .symfs = r->o->symfs};
	struct app_intervals iv;
	bool ok;

	if (r->app->argc != 1 || strcmp(r->app->argv[0], "-") == 0)
		return app_usage(r->app, "--intervals reads a recording twice: it needs one file");
	ok = app_intervals_read(r->app, &iv, r->app->argv[0], &how) &&
	     print_intervals(r, &iv, &how) && (!r->o->plot || draw_intervals(r, &iv, how.k));
	app_intervals_end(&iv);
	return ok;
}

/* ---- the program ---- */

static bool check_options(struct app *a, const struct options *o)
{
	if (app_form_count(&o->form) > 1)
		return app_usage(a, "--json, --csv and --tsv exclude each other");
	if (o->intervals && (o->curve >= 0 || o->summary || o->top || o->by))
		return app_usage(a, "--intervals excludes --curve, --summary, --top and --by");
	if (o->min_given && !o->intervals)
		return app_usage(a, "--min is for --intervals");
	if (a->argc > 1 && !o->plot && o->curve < 0)
		return app_usage(a, "one stream at a time; several only for --curve and --plot");
	return !o->plot || app_may_write(a, o->plot);
}

static bool run(struct app *a, const struct options *o)
{
	struct run r = {.app = a, .o = o};
	bool curve = o->curve >= 0 || o->plot;
	bool ok;
	size_t i;

	if (!check_options(a, o) || !app_what(a, o->what, &r.what))
		return false;
	if (o->intervals)
		return intervals(&r);
	ok = read_inputs(&r) && (curve ? curves(&r) : list(&r));
	for (i = 0; i < r.ninputs; i++)
		app_hots_end(&r.inputs[i]);
	free(r.inputs);
	return ok;
}

int main(int argc, char **argv)
{
	struct options o = {.curve = -1};
	struct app app;
	const struct vt_opt opts[] = {
		APP_OPT_WHAT(o.what),
		{.letter = 'b',
		 .name = "by",
		 .type = VT_OPT_CHOICE,
		 .value = &o.by,
		 .arg = "WHAT",
		 .choices = by_words,
		 .help = "one row for each instruction (default), procedure or image"},
		{.letter = 'n',
		 .name = "top",
		 .type = VT_OPT_U64,
		 .value = &o.top,
		 .arg = "N",
		 .help = "the first N rows only"},
		{.name = "summary",
		 .type = VT_OPT_FLAG,
		 .value = &o.summary,
		 .help = "only the means over all instructions"},
		{.letter = 'c',
		 .name = "curve",
		 .type = VT_OPT_CHOICE,
		 .value = &o.curve,
		 .arg = "METRIC",
		 .choices = metric_words,
		 .help = "inv-top, inv-all, lvp, zero or stride of each 1 % of the executions,\n"
			 "the lowest first, for each FILE: a table for gnuplot"},
		{.name = "plot",
		 .type = VT_OPT_STRING,
		 .value = &o.plot,
		 .arg = "FILE.svg",
		 .help = "draw the curves, or with --intervals the instructions, as well"},
		{.name = "intervals",
		 .type = VT_OPT_U64,
		 .value = &o.intervals,
		 .arg = "K",
		 .min = 2,
		 .max = VT_MAX_INTERVALS,
		 .help = "Inv-Top of K parts of each instruction's executions; FILE is a "
			 "recording"},
		{.name = "min",
		 .type = VT_OPT_U64,
		 .value = &o.min,
		 .given = &o.min_given,
		 .arg = "N",
		 .max = UINT64_MAX,
		 .help = "intervals of instructions executed more than N times (default 100)"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COLOR(o.color),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_SEED(app),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vinv",
		.usage = "[options] [FILE]\n--curve METRIC [options] [FILE]...\n"
			 "--intervals K [options] FILE",
		.about = "Tells how invariant values are, from the hot lists that vhot makes.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	return app_finish(&app);
}
