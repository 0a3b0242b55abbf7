/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>

#include "cmd/common/app.h"
#include "cmd/common/hots.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/truth.h"
#include "cmd/programs.h"
#include "listing/values/comparison.h"

struct options {
	const char *truth, *what, *symfs;
	double threshold; /* percent */
	uint64_t m, worst;
	struct app_form form;
};

static bool print_comparison(struct app *a, const struct options *o, const struct vt_comparelist *l)
{
	struct vt_output *out = app_text(a, o->form.output);
	/* The output decides whether there is colour. */
	const struct vt_invlist_form form = {.json = o->form.json,
					     .table = app_table_form(&o->form),
					     .color = app_form_color(a, &o->form),
					     .losses = &a->losses};
	struct vt_error err = VT_ERROR_INIT;

	return out && (vt_comparelist_print(l, &form, out, &err) == 0 || app_fail(a, &err));
}

static bool compare_next(struct app *a, const struct options *o, const char *first,
			 struct vt_comparelist *l, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct app_hots second;
	int64_t common = 0;
	bool ok = app_hots_read(a, &second, path, o->symfs, a->seed);

	if (ok)
		common = vt_comparelist_add(l, second.name, second.profile, &err);
	if (common < 0)
		ok = app_fail(a, &err);
	else if (ok && common == 0)
		app_say_lossy(a, "%s and %s have no instruction in common", first, second.name);
	app_hots_end(&second);
	return ok;
}

static bool compare_second_with_truth(struct app *a, const struct options *o)
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

static bool check_comparison(struct app *a, const struct options *o)
{
	const struct app_rule rules[] = {
		{a->argc < 2, "which profiles are to be compared?"},
		{app_form_count(&o->form) > 1, "--json, --csv and --tsv exclude each other"},
		{o->threshold < 0 || o->threshold > 100, "--threshold is a percentage: 0 to 100"},
		{o->worst && a->argc > 2 && (o->form.csv || o->form.tsv),
		 "--worst as one table needs one second profile"},
	};

	return APP_CHECK_RULES(a, rules);
}

static bool compare_profiles(struct app *a, const struct options *o)
{
	struct vt_comparelist_options lo = {
		.how = {.threshold = o->threshold / 100, .m = (uint32_t)o->m}, .worst = o->worst};
	struct vt_comparelist *l = NULL;
	struct app_hots first;
	bool ok;
	int i;

	if (!check_comparison(a, o) || !app_what(a, o->what, &lo.how.what))
		return false;
	ok = app_hots_read(a, &first, a->argv[0], o->symfs, a->seed);
	if (ok) {
		lo.first = first.profile;
		lo.images = first.in.images.store;
		lo.name = first.name;
		l = vt_comparelist_new(&lo);
		ok = l || app_no_memory(a);
	}
	for (i = 1; i < a->argc && ok; i++)
		ok = compare_next(a, o, first.name, l, a->argv[i]);
	ok = ok && print_comparison(a, o, l);
	vt_comparelist_free(l);
	app_hots_end(&first);
	return ok;
}

int cmd_cmp(int argc, char **argv)
{
	struct options o = {.threshold = 30};
	struct app app;
	const struct vt_opt opts[] = {
		APP_STRING(0, "truth", o.truth, "FILE",
			   "compare frequencies with FILE: a recording, or a simulator's truth"),
		APP_OPT_WHAT(o.what),
		APP_F64('t', "threshold", o.threshold, "PCT",
			"least Inv-Top of instructions in Find-Top (default 30)"),
		{0, "values", VT_OPT_U64, &o.m, .arg = "M", .min = 1, .max = UINT32_MAX,
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
			compare_second_with_truth(&app, &o);
		else
			compare_profiles(&app, &o);
	}
	return app_finish(&app);
}
