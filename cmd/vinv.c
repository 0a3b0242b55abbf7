/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/hots.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/programs.h"
#include "listing/json.h"
#include "listing/values/curves.h"
#include "listing/values/invariance.h"
#include "value/intervals.h"

static const char *const by_words[] = {"instruction", "procedure", "image", NULL};
static const char *const metric_words[] = {"inv-top", "inv-all", "lvp", "zero", "stride", NULL};

struct options {
	const char *what;
	int by; /* enum vt_invlist_by */
	uint64_t top;
	bool summary;
	int curve; /* enum vt_inv_metric, or -1 */
	const char *plot;
	uint64_t intervals;
	uint64_t min;
	bool min_given;
	struct app_form form;
	const char *symfs;
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
	bool ok = true;

	r->inputs = calloc(n, sizeof(*r->inputs));
	if (!r->inputs)
		return app_no_memory(r->app);
	for (; ok && r->ninputs < n; r->ninputs++)
		ok = app_hots_read(r->app, &r->inputs[r->ninputs],
				   r->app->argc ? r->app->argv[r->ninputs] : NULL, r->o->symfs,
				   r->app->seed);
	return ok;
}

static bool list_invariance(struct run *r)
{
	const struct options *o = r->o;
	const struct vt_invlist_options what = {
		.what = r->what, .by = (enum vt_invlist_by)o->by, .top = o->top};
	struct vt_output *out = app_text(r->app, o->form.output);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_invlist_form form;

	if (!out)
		return false;
	form = (struct vt_invlist_form){.summary = o->summary,
					.json = o->form.json,
					.table = app_table_form(&o->form),
					.color = app_form_color(r->app, &o->form),
					.losses = &r->app->losses};
	return !vt_invlist_print(r->inputs->profile, r->inputs->in.images.store, &what, &form, out,
				 &err) ||
	       app_fail(r->app, &err);
}

/* ---- curves and intervals ---- */

static bool print_rows(struct run *r, struct vt_table *t, const char *schema, const char *key,
		       json_t *value)
{
	json_t *doc = vt_json_doc(schema);

	vt_json_losses(doc, &r->app->losses);
	json_object_set_new(doc, key, value);
	return app_print_rows(r->app, t, doc, &r->o->form);
}

static bool make_curves(struct run *r, struct vt_invcurve *c, enum vt_inv_metric metric)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	for (i = 0; i < r->ninputs; i++) {
		c[i].name = r->inputs[i].name;
		if (!vt_inv_curve(r->inputs[i].profile, r->what, metric, c[i].value)) {
			vt_error_set(&err, VT_E_FORMAT, "%s: no executed values of that kind",
				     c[i].name);
			return app_fail(r->app, &err);
		}
	}
	return true;
}

static bool list_curves(struct run *r)
{
	enum vt_inv_metric metric = r->o->curve >= 0 ? (enum vt_inv_metric)r->o->curve : VT_INV_TOP;
	struct vt_invcurve *c = calloc(r->ninputs, sizeof(*c));
	struct vt_error err = VT_ERROR_INIT;
	bool ok = c || app_no_memory(r->app);

	ok = ok && make_curves(r, c, metric) &&
	     print_rows(r, vt_invcurves_table(c, r->ninputs), "vinv-curve/1", "metric",
			json_string(vt_inv_metric_name(metric)));
	if (ok && r->o->plot && app_may_write(r->app, r->o->plot) &&
	    vt_invcurves_draw(c, r->ninputs, metric, r->o->plot, &err) < 0)
		app_fail(r->app, &err);
	free(c);
	return ok;
}

static bool read_pass(struct run *r, struct vt_intervalprofile *p)
{
	const char *path = r->app->argv[0];
	struct vt_error err = VT_ERROR_INIT;
	int code;

	if (!app_read_stream(r->app, path, vt_intervalprofile_feed, p))
		return false;
	code = vt_intervalprofile_end_pass(p, &err);
	return code == 0 || (code == -VT_E_ABSENT ? app_lacks(r->app, path, APP_NO_VALUES)
						  : app_fail(r->app, &err));
}

static bool print_intervals(struct run *r, const struct vt_intervalprofile *p,
			    struct vt_images *images)
{
	uint32_t k = (uint32_t)r->o->intervals;
	struct vt_error err = VT_ERROR_INIT;

	if (!print_rows(r, vt_intervallist_table(p, images, k), "vinv-intervals/1", "intervals",
			json_integer(k)))
		return false;
	return !r->o->plot || !app_may_write(r->app, r->o->plot) ||
	       vt_intervallist_draw(p, k, r->o->plot, &err) == 0 || app_fail(r->app, &err);
}

static bool list_intervals(struct run *r)
{
	struct vt_intervalprofile_options o = {.k = (uint32_t)r->o->intervals,
					       .what = r->what,
					       .min = r->o->min_given ? r->o->min : 100,
					       .warn = app_bad_record,
					       .warn_arg = r->app};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_intervalprofile *p = NULL;
	struct app_images images = {0};
	bool ok;

	if (r->app->argc != 1 || strcmp(r->app->argv[0], "-") == 0)
		return app_usage(r->app, "--intervals reads a recording twice: it needs one file");
	o.images = app_images_open(r->app, &images, r->o->symfs);
	if (o.images && !(p = vt_intervalprofile_new(&o, &err)))
		app_fail(r->app, &err);
	ok = p && read_pass(r, p) && read_pass(r, p) && print_intervals(r, p, o.images);
	vt_intervalprofile_free(p);
	app_images_close(&images);
	return ok;
}

/* ---- the program ---- */

static bool check_vinv_options(struct app *a, const struct options *o)
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

static bool run_vinv(struct app *a, const struct options *o)
{
	struct run r = {.app = a, .o = o};
	bool ok;
	size_t i;

	if (!check_vinv_options(a, o) || !app_what(a, o->what, &r.what))
		return false;
	if (o->intervals)
		return list_intervals(&r);
	ok = read_inputs(&r) && (o->curve >= 0 || o->plot ? list_curves(&r) : list_invariance(&r));
	for (i = 0; i < r.ninputs; i++)
		app_hots_end(&r.inputs[i]);
	free(r.inputs);
	return ok;
}

int cmd_inv(int argc, char **argv)
{
	struct options o = {.curve = -1};
	struct app app;
	const struct vt_opt opts[] = {
		APP_OPT_WHAT(o.what),
		{'b', "by", VT_OPT_CHOICE, &o.by, .arg = "WHAT", .choices = by_words,
		 .help = "one row for each instruction (default), procedure or image"},
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N", .help = "the first N rows only"},
		{0, "summary", VT_OPT_FLAG, &o.summary,
		 .help = "only the means over all instructions"},
		{0, "curve", VT_OPT_CHOICE, &o.curve, .arg = "METRIC", .choices = metric_words,
		 .help = "inv-top, inv-all, lvp, zero or stride of each 1 % of the executions,\n"
			 "the lowest first, for each FILE: a table for gnuplot"},
		{0, "plot", VT_OPT_STRING, &o.plot, .arg = "FILE.svg",
		 .help = "draw the curves, or with --intervals the instructions, as well"},
		{0, "intervals", VT_OPT_U64, &o.intervals, .arg = "K", .min = 2,
		 .max = VT_MAX_INTERVALS,
		 .help = "Inv-Top of K parts of each instruction's executions; FILE is a "
			 "recording"},
		{0, "min", VT_OPT_U64, &o.min, .given = &o.min_given, .arg = "N", .max = UINT64_MAX,
		 .help = "intervals of instructions executed more than N times (default 100)"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_SEED(app),
		{0},
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
		run_vinv(&app, &o);
	return app_finish(&app);
}
