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
#include "cmd/common/truth.h"
#include "listing/json.h"
#include "listing/values/invariance.h"
#include "value/invariance.h"

struct options {
	const char *truth, *what, *symfs;
	double threshold; /* percent */
	uint64_t m, worst;
	struct app_form form;
};

struct comparison {
	struct app *app;
	const struct options *o;
	struct vt_inv_options how;
	struct app_hots first;
	struct vt_table *table;	 /* one row for each second profile */
	struct vt_table *inputs; /* the same */
	struct vt_table **worst; /* one for each second profile; or NULL */
	int64_t *left_out;
	size_t n;
};

static bool make_tables(struct comparison *r)
{
	r->n = (size_t)r->app->argc - 1;
	r->table = vt_table_new();
	r->inputs = vt_table_new();
	r->worst = calloc(r->n, sizeof(struct vt_table *));
	r->left_out = calloc(r->n, sizeof(*r->left_out));
	if (!r->table || !r->inputs || !r->worst || !r->left_out)
		return app_no_memory(r->app);
	vt_invlist_comparison(r->table);
	vt_invlist_inputs(r->inputs);
	return true;
}

static void end_comparison(struct comparison *r)
{
	size_t i;

	for (i = 0; r->worst && i < r->n; i++)
		vt_table_free(r->worst[i]);
	free(r->worst);
	free(r->left_out);
	vt_table_free(r->table);
	vt_table_free(r->inputs);
	app_hots_end(&r->first);
}

/* ---- comparing ---- */

static bool find_worst(struct comparison *r, size_t i, const struct vt_hotprofile *second,
		       const struct vt_inv_pair *pairs, size_t n, uint32_t m)
{
	struct vt_error err = VT_ERROR_INIT;

	r->worst[i] = vt_table_new();
	if (!r->worst[i])
		return app_no_memory(r->app);
	r->left_out[i] = vt_invlist_worst(r->worst[i], r->first.profile, r->first.in.images.store,
					  second, pairs, n, m, r->o->worst, &err);
	return r->left_out[i] >= 0 || app_fail(r->app, &err);
}

static bool compare_one(struct comparison *r, size_t i, const struct app_hots *second)
{
	struct vt_inv_comparison c;
	struct vt_inv_pair *pairs;
	bool ok = true;
	size_t n;

	pairs = vt_inv_match(r->first.profile, second->profile, r->how.what, &n);
	if (!pairs)
		return app_no_memory(r->app);
	vt_inv_compare(r->first.profile, second->profile, pairs, n, &r->how, &c);
	vt_invlist_compared(r->table, second->name, &c);
	vt_invlist_inputs_compared(r->inputs, second->name, &c);
	if (n == 0)
		app_say_lossy(r->app, "%s and %s have no instruction in common", r->first.name,
			      second->name);
	if (r->o->worst)
		ok = find_worst(r, i, second->profile, pairs, n, c.m);
	free(pairs);
	return ok;
}

static bool compare_all(struct comparison *r)
{
	bool ok = app_hots_read(r->app, &r->first, r->app->argv[0], r->o->symfs, r->app->seed);
	size_t i;

	for (i = 0; i < r->n && ok; i++) {
		struct app_hots second;

		ok = app_hots_read(r->app, &second, r->app->argv[i + 1], r->o->symfs,
				   r->app->seed) &&
		     compare_one(r, i, &second);
		app_hots_end(&second);
	}
	return ok;
}

/* ---- printing ---- */

static void print_json(const struct comparison *r, struct vt_output *out)
{
	json_t *doc = vt_json_doc("vcmp/1");

	vt_json_losses(doc, &r->app->losses);
	json_object_set_new(
		doc, "rows",
		vt_invlist_compared_json(r->table, r->inputs, r->worst, r->left_out, r->n));
	vt_json_write(out, doc, true);
}

static bool print_worst(struct comparison *r, struct vt_output *out)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		vt_output_text(out, "\nWhat adds most to Diff-Top:\n");
		if (!app_print_table(r->app, r->worst[i], &r->o->form, out))
			return false;
		if (r->left_out[i])
			vt_output_printf(out, "(%lld more places)\n", (long long)r->left_out[i]);
	}
	return true;
}

static bool print_comparison(struct comparison *r)
{
	struct vt_output *out = app_text(r->app, r->o->form.output);

	if (out && r->o->form.json)
		print_json(r, out);
	if (!out || r->o->form.json)
		return out;
	if (!app_form_is_text(&r->o->form))
		return app_print_table(r->app, r->o->worst ? r->worst[0] : r->table, &r->o->form,
				       out);
	vt_output_printf(out,
			 "Means over the instructions in both profiles, weighted by executions in "
			 "%s.\n"
			 "Find-Top is of instructions with an Inv-Top above %g %% there.\n\n",
			 r->first.name, r->o->threshold);
	if (!app_print_table(r->app, r->table, &r->o->form, out))
		return false;
	vt_output_text(out, "\nOver inputs:\n");
	return app_print_table(r->app, r->inputs, &r->o->form, out) &&
	       (!r->o->worst || print_worst(r, out));
}

static bool compare_with_truth(struct app *a, const struct options *o)
{
	const struct app_truth t = {
		.truth = o->truth,
		.estimate = a->argc ? a->argv[0] : NULL,
		.symfs = o->symfs,
		.form = &o->form,
	};

	if (a->argc > 1)
		return app_usage(a, "--truth: which one stream of frequencies is to be compared?");
	if (o->what || o->worst || o->m || o->form.csv || o->form.tsv)
		return app_usage(a, "--truth: --what, --worst, --values, --csv and --tsv are for "
				    "value profiles");
	return app_truth(a, &t);
}

static bool compare_profiles(struct app *a, const struct options *o)
{
	struct comparison r = {
		.app = a, .o = o, .how = {.threshold = o->threshold / 100, .m = (uint32_t)o->m}};
	const struct app_rule rules[] = {
		{a->argc < 2, "which profiles are to be compared?"},
		{app_form_count(&o->form) > 1, "--json, --csv and --tsv exclude each other"},
		{o->threshold < 0 || o->threshold > 100, "--threshold is a percentage: 0 to 100"},
		{o->worst && a->argc > 2 && (o->form.csv || o->form.tsv),
		 "--worst as one table needs one second profile"},
	};
	bool ok;

	if (!APP_CHECK_RULES(a, rules) || !app_what(a, o->what, &r.how.what))
		return false;
	ok = make_tables(&r) && compare_all(&r) && print_comparison(&r);
	end_comparison(&r);
	return ok;
}

int main(int argc, char **argv)
{
	struct options o = {.threshold = 30};
	struct app app;
	const struct vt_opt opts[] = {
		APP_STRING(0, "truth", o.truth, "FILE",
			   "compare frequencies with FILE: a recording, or a simulator's truth"),
		APP_OPT_WHAT(o.what),
		APP_F64('t', "threshold", o.threshold, "PCT",
			"least Inv-Top of instructions in Find-Top (default 30)"),
		{'m', "values", VT_OPT_U64, &o.m, .arg = "M", .min = 1, .max = UINT32_MAX,
		 .help = "values that Diff-All compares (default: the smaller steady size)"},
		APP_U64('n', "worst", o.worst, "N", "list the N places that differ most"),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_SEED(app),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vcmp",
		.usage = "[options] FIRST SECOND...\n--truth FILE [--json] [FREQUENCIES]",
		.about = "Compares value profiles with the first: how far they find the same\n"
			 "invariances and top values.  Or compares frequencies that vfreq has\n"
			 "estimated with what was counted.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv)) {
		if (o.truth)
			compare_with_truth(&app, &o);
		else
			compare_profiles(&app, &o);
	}
	return app_finish(&app);
}
