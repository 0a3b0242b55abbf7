/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/values.h"
#include "cmd/programs.h"
#include "listing/profile/profile.h"
#include "listing/values/advice.h"
#include "stream/kinds.h"

/* What is listed, and what the input must hold for it. */
typedef int64_t list_fn(struct vt_table *t, const struct vt_spec_view *view,
			const struct vt_speclist_options *opt, struct vt_error *err);

static const struct {
	list_fn *list;
	enum vt_what need; /* UNKNOWN: any list will do */
	const char *missing;
} listings[VT_NSPECLISTS] = {
	[VT_SPECLIST_PROCEDURES] = {vt_speclist_procedures, VT_WHAT_UNKNOWN, "values"},
	[VT_SPECLIST_ARGUMENTS] = {vt_speclist_arguments, VT_WHAT_ARG, "arguments of calls"},
	[VT_SPECLIST_CALLERS] = {vt_speclist_callers, VT_WHAT_RETURN, "callers of procedures"},
	[VT_SPECLIST_BLOCKS] = {vt_speclist_blocks, VT_WHAT_LOAD, "values of loads"},
	[VT_SPECLIST_LOADS] = {vt_speclist_loads, VT_WHAT_LOAD, "values of loads"},
};

struct options {
	bool chosen[VT_NSPECLISTS];
	struct vt_speclist_options list;
	double min_invariance;
	double min_time;
	struct vt_opt_list events;
	struct app_form form;
	const char *symfs;
	enum vt_speclist what;
};

struct state {
	struct app_values data;
	struct vt_event_choice events;
	struct vt_spec *spec;
	struct vt_spec_view view;
};

/* ---- the input ---- */

/* Executed instructions measure time best, unless the user wants another event. */
static size_t default_event(const struct state *s)
{
	size_t i;

	for (i = 0; i < s->events.count; i++)
		if (strcmp(s->events.label[i], "instructions") == 0)
			return s->events.index[i];
	return s->events.index[0];
}

static bool choose_vspec_event(struct app *a, const struct options *o, struct state *s)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_event_choice_init(&s->events, s->data.base.profile, o->events.items, o->events.count,
				 &err) < 0)
		return app_fail(a, &err);
	if (!s->events.count)
		return app_lacks(a, s->data.name, APP_NO_SAMPLES);
	s->view.opt.event = o->events.count ? s->events.index[0] : default_event(s);
	return true;
}

static bool has_lists(const struct state *s, enum vt_what what)
{
	return what == VT_WHAT_UNKNOWN ? vt_hotprofile_count(s->data.base.lists) > 0
				       : vt_spec_lists(s->spec, what) > 0;
}

/* What is not in the input cannot be listed; that it was not recorded must not look like none. */
static bool check_lists(struct app *a, const struct options *o, const struct state *s)
{
	char text[VT_ERROR_SIZE];

	if (o->what == VT_SPECLIST_CALLERS && s->data.sampled)
		return app_lacks(
			a, s->data.name,
			"samples do not tell who calls (vtrace record --full --args does)");
	if (has_lists(s, listings[o->what].need) ||
	    (o->what == VT_SPECLIST_CALLERS && has_lists(s, VT_WHAT_ARG)))
		return true;
	snprintf(text, sizeof(text), "no %s (vtrace record --full%s%s records them%s)",
		 listings[o->what].missing,
		 o->what == VT_SPECLIST_ARGUMENTS || o->what == VT_SPECLIST_CALLERS ? " --args"
										    : "",
		 o->what == VT_SPECLIST_CALLERS ? "" : " or --sample-values",
		 s->data.collected ? ""
		 : o->what == VT_SPECLIST_CALLERS
			 ? ", vhot --context caller --what default,callers keeps them"
			 : ", vhot keeps them unless told otherwise");
	return app_lacks(a, s->data.name, text);
}

static bool read_vspec_input(struct app *a, const struct options *o, struct state *s)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_values_read(a, &s->data, a->argc ? a->argv[0] : NULL, o->symfs,
			     o->what == VT_SPECLIST_CALLERS))
		return false;
	s->view = (struct vt_spec_view){
		.profile = s->data.base.profile,
		.images = s->data.base.in.images.store,
		.hot = s->data.base.lists,
		.opt = {.min_invariance = o->min_invariance / 100, .min_time = o->min_time / 100},
	};
	if (!choose_vspec_event(a, o, s))
		return false;
	s->spec = vt_spec_new(s->data.base.profile, s->data.base.in.images.store,
			      s->data.base.lists, &s->view.opt, &err);
	s->view.spec = s->spec;
	return s->spec ? check_lists(a, o, s) : app_fail(a, &err);
}

/* ---- the output ---- */

static const char *event_label(const struct state *s)
{
	size_t i;

	for (i = 0; i + 1 < s->events.count; i++)
		if (s->events.index[i] == s->view.opt.event)
			break;
	return s->events.label[i];
}

static bool print_specialisations(struct app *a, const struct options *o, const struct state *s,
				  const struct vt_table *t, int64_t left_out)
{
	struct vt_output *out = app_text(a, o->form.output);

	if (!out)
		return false;
	if (o->form.json) {
		vt_speclist_json(&s->view, o->what, &s->events, event_label(s), t, left_out, out);
		return true;
	}
	if (app_form_is_text(&o->form))
		vt_speclist_header(&s->view, o->what, event_label(s), out);
	if (!app_print_table(a, t, &o->form, out))
		return false;
	if (left_out && app_form_is_text(&o->form))
		vt_output_printf(out, "(%" PRId64 " more %s)\n", left_out,
				 o->what == VT_SPECLIST_PROCEDURES ? "procedures" : "rows");
	return true;
}

static bool list(struct app *a, const struct options *o, const struct state *s)
{
	struct vt_table *t = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	int64_t left_out;
	bool ok;

	if (!t)
		left_out = vt_error_nomem(&err);
	else
		left_out = listings[o->what].list(t, &s->view, &o->list, &err);
	ok = left_out >= 0 ? print_specialisations(a, o, s, t, left_out) : app_fail(a, &err);
	vt_table_free(t);
	return ok;
}

static bool check_vspec_options(struct app *a, struct options *o)
{
	int i, n = 0;

	for (i = VT_SPECLIST_ARGUMENTS; i < VT_NSPECLISTS; i++) {
		if (o->chosen[i])
			o->what = (enum vt_speclist)i;
		n += o->chosen[i];
	}
	if (n > 1)
		return app_usage(a, "--args, --callers, --blocks and --loads exclude each other");
	if (app_form_count(&o->form) > 1)
		return app_usage(a, "--json, --csv and --tsv exclude each other");
	if (o->min_invariance < 100 * VT_SPEC_MIN_SHARE || o->min_invariance > 100)
		return app_usage(a, "--min-invariance is between 30 and 100 percent");
	if (o->min_time < 0 || o->min_time > 100)
		return app_usage(a, "--min-time is between 0 and 100 percent");
	return true;
}

static bool run_vspec(struct app *a, struct options *o)
{
	struct state s;
	bool ok;

	memset(&s, 0, sizeof(s));
	if (!check_vspec_options(a, o))
		return false;
	ok = read_vspec_input(a, o, &s) && list(a, o, &s);
	vt_spec_free(s.spec);
	vt_event_choice_fini(&s.events);
	app_values_end(&s.data);
	return ok;
}

int cmd_spec(int argc, char **argv)
{
	struct options o = {.list = {.top = 20, .each = 3}, .min_invariance = 90, .min_time = 0.5};
	struct app app;
	const struct vt_opt opts[] = {
		{0, "args", VT_OPT_FLAG, &o.chosen[VT_SPECLIST_ARGUMENTS],
		 .help = "list arguments of procedures"},
		{0, "callers", VT_OPT_FLAG, &o.chosen[VT_SPECLIST_CALLERS],
		 .help = "list who calls, and with which arguments that hardly change"},
		{0, "blocks", VT_OPT_FLAG, &o.chosen[VT_SPECLIST_BLOCKS],
		 .help = "list blocks all of whose loads hardly change"},
		{0, "loads", VT_OPT_FLAG, &o.chosen[VT_SPECLIST_LOADS],
		 .help = "list loads, by their own time"},
		{'n', "top", VT_OPT_U64, &o.list.top, .arg = "N",
		 .help = "the first N procedures (or rows) only; 0: all (default 20)"},
		{0, "each", VT_OPT_U64, &o.list.each, .arg = "N",
		 .help = "so many values of each procedure; 0: all (default 3)"},
		{0, "min-invariance", VT_OPT_F64, &o.min_invariance, .arg = "PCT",
		 .help = "only values that PCT percent of the executions have, for certain\n"
			 "(with 95 % confidence; default 90)"},
		{0, "min-time", VT_OPT_F64, &o.min_time, .arg = "PCT",
		 .help = "only procedures with PCT percent of the time (default 0.5)"},
		{'e', "event", VT_OPT_LIST, &o.events, .arg = "NAME",
		 .help = "what time is counted in (default: instructions)"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_SEED(app),
		APP_OPT_FORM(o.form),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vspec",
		.usage = "[options] [FILE]",
		.about = "Lists what to specialise: where time goes and a value hardly changes.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run_vspec(&app, &o);
	vt_opt_list_fini(&o.events);
	return app_finish(&app);
}
