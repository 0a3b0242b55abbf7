/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "cmd/common/app.h"
#include "cmd/common/by.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/slice.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/where.h"
#include "cmd/programs.h"
#include "cmd/vprof/chains.h"
#include "cmd/vprof/style.h"
#include "listing/json.h"
#include "listing/profile/report.h"
#include "profile/locate.h"

struct options {
	struct app_by by;
	struct vt_proflist_options list;
	struct vt_opt_list events, before;
	struct app_form form;
	struct vprof_chains chains;
	int style; /* enum vprof_style */
	bool diff;
	double rate, check;
	bool rate_given;
	bool checks;
	struct app_slice slice;
	struct app_where where;
	const char *symfs, *before_symfs;
};

/* One input: its profile, gathered and put in order. */
struct side {
	const char *path;
	struct app_profile data;
	struct vt_groups *groups; /* NULL: none */
	struct vt_ranking *ranking;
	struct vt_event_choice events;
};

static bool read_side_profile(struct app *a, const struct options *o, const char *path,
			      const char *symfs, struct side *s)
{
	if (o->chains.children)
		return app_profile_read_chains(a, &s->data, path, symfs, NULL);
	if (o->by.nkeys) {
		s->groups = app_by_groups(&o->by);
		if (!s->groups)
			return app_no_memory(a);
	}
	return app_profile_read_groups(a, &s->data, path, symfs, s->groups);
}

/* Counts the samples in what a procedure called, too. */
static bool rank_children(struct app *a, const struct options *o, struct side *s)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_callgather_finish(s->data.chains, s->data.in.images.store, o->by.level,
				 o->list.by_period, &err) < 0)
		return app_fail(a, &err);
	if (!vprof_chains_have(&s->data, &s->events))
		return vprof_chains_lack(a, &s->data);
	return vt_callgather_rank_children(s->data.chains, s->data.profile, s->ranking, &err) ==
		       0 ||
	       app_fail(a, &err);
}

static bool read_side(struct app *a, const struct options *o, const char *path, const char *symfs,
		      struct side *s)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t first;

	if (!read_side_profile(a, o, path, symfs, s))
		return false;
	if (vt_event_choice_init(&s->events, s->data.profile, o->events.items, o->events.count,
				 &err) < 0)
		return app_fail(a, &err);
	s->ranking = vt_ranking_new(s->data.profile, s->data.in.images.store, o->by.level, &err);
	if (!s->ranking)
		return app_fail(a, &err);
	if (o->chains.children && !rank_children(a, o, s))
		return false;
	first = s->events.count ? s->events.index[0] : 0;
	return vt_ranking_sort(s->ranking, first, o->list.by_period, &err) == 0 ||
	       app_fail(a, &err);
}

/* All inputs: those of the set before, then those of the set after, or the one that is listed. */
struct sides {
	struct side *list;
	struct vt_proflist_side *parts;
	size_t before;
	size_t count;
};

static void end_sides(struct sides *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		vt_event_choice_fini(&s->list[i].events);
		vt_ranking_free(s->list[i].ranking);
		app_profile_end(&s->list[i].data);
		vt_groups_free(s->list[i].groups);
	}
	free(s->list);
	free(s->parts);
}

static bool add_side(struct app *a, const struct options *o, struct sides *s, const char *path)
{
	const char *symfs = s->count < s->before && o->before_symfs ? o->before_symfs : o->symfs;
	struct side *side = &s->list[s->count++];

	side->path = path;
	if (!read_side(a, o, path, symfs, side))
		return false;
	s->parts[s->count - 1] = (struct vt_proflist_side){
		side->data.profile, side->ranking, side->data.in.images.store, &side->events};
	/* Nothing can have grown where nothing was measured: that must not pass for a check. */
	return !o->diff || vt_profile_nplaces(side->data.profile) ||
	       app_lacks(a, path, APP_NO_SAMPLES);
}

/* The percentage of --check alone. */
#define DEFAULT_CHECK 1

/* A change that --check looks for means nothing if more than this may have moved by its name. */
#define MOST_UNKNOWN 5.0

static void tell_moved(struct app *a, const char *how, struct vt_profdiff_moved *m, double by)
{
	if (m->count > VT_PROFDIFF_NAMED)
		vt_buf_printf(&m->names, " and %" PRIu64 " more", m->count - VT_PROFDIFF_NAMED);
	if (m->count)
		app_say(a, "%s by %g%% of all before, or more: %s", how, by, vt_buf_str(&m->names));
}

static void tell_unknown(struct app *a, const struct options *o, const struct sides *s,
			 const struct vt_profdiff_result *r)
{
	const struct side *side = &s->list[r->unknown_run];
	struct vt_buf why = VT_BUF_INIT;

	/* What was just reported may be most of it. */
	if (!r->stripped.size)
		vt_locate_unknown(side->data.profile, side->data.in.images.store, r->unknown_event,
				  &why);
	app_say(a,
		"%s: %.3g%% of the samples are of unknown code%s%s: with more than %g%%, --check "
		"cannot tell%s",
		side->path, r->unknown, why.size ? "; most of it: " : "", vt_buf_str(&why),
		MOST_UNKNOWN,
		!o->symfs || !o->before_symfs
			? "; --before-symfs DIR and --symfs DIR say where the files of each are"
			: "");
	app_raise(a, APP_UNSURE);
	if (why.failed)
		app_no_memory(a);
	vt_buf_free(&why);
}

static const struct vt_profile_event *get_first_event(const struct side *s)
{
	return s->events.count ? vt_profile_event(s->data.profile, s->events.index[0]) : NULL;
}

static void put_rate(struct vt_buf *b, const struct vt_profile_event *e)
{
	if (e->freq)
		vt_buf_printf(b, "%" PRIu64 " times a second", e->freq);
	else
		vt_buf_printf(b, "every %" PRIu64 " %s", e->sampling, e->unit);
}

/*
 * Whether the first event of all runs was sampled at one rate, as far as rates are known.  If not,
 * says so: counts of samples are then no measure of a change.
 */
static bool check_rates(struct app *a, const struct sides *s)
{
	const struct vt_profile_event *first = get_first_event(&s->list[0]), *e;
	struct vt_buf rates = VT_BUF_INIT;
	bool same = true;
	size_t i;

	for (i = 1; i < s->count && same; i++) {
		e = get_first_event(&s->list[i]);
		if (!first || !e || !(first->freq || first->sampling) || !(e->freq || e->sampling))
			continue;
		same = e->freq == first->freq && e->sampling == first->sampling;
		if (same)
			continue;
		vt_buf_printf(&rates, "%s was sampled ", s->list[0].path);
		put_rate(&rates, first);
		vt_buf_printf(&rates, ", %s ", s->list[i].path);
		put_rate(&rates, e);
		app_say(a, "%s: their counts do not compare; --period weighs each sample",
			vt_buf_str(&rates));
	}
	vt_buf_free(&rates);
	return same;
}

static void tell_check(struct app *a, const struct options *o, const struct sides *s,
		       struct vt_profdiff_result *r)
{
	if (!o->list.by_period && !check_rates(a, s)) {
		if (!isnan(o->check))
			app_raise(a, APP_UNSURE);
		return;
	}
	if (r->alone.size)
		app_say(a, "only before or only after, not compared: %s", vt_buf_str(&r->alone));
	if (r->stripped.size)
		app_say(a, "stripped of symbols on one side alone, not compared: %s",
			vt_buf_str(&r->stripped));
	if (isnan(o->check))
		return;
	tell_moved(a, "grown", &r->grown, o->check);
	tell_moved(a, "shrunk", &r->shrunk, o->check);
	/* The names of code do not matter to the total. */
	if (r->unknown > MOST_UNKNOWN && !r->total_grown)
		tell_unknown(a, o, s, r);
	else if (r->grown.count)
		app_raise(a, APP_FOUND);
}

static void list_sides(struct app *a, const struct options *o, const struct sides *s)
{
	struct vt_profreport r = {.runs = s->parts,
				  .count = s->count,
				  .before = s->before,
				  .how = {o->list, o->rate, o->check, o->chains.children}};
	struct vt_error err = VT_ERROR_INIT;
	bool ok = vt_profreport_fill(&r, &err) == 0 || app_fail(a, &err);
	struct vt_output *out = ok ? app_text(a, o->form.output) : NULL;

	if (out && o->form.json)
		vt_json_write(out, vt_profreport_json(&r), true);
	else if (out)
		ok = vt_profreport_print(&r, app_table_form(&o->form), app_form_color(a, &o->form),
					 out, &err) == 0 ||
		     app_fail(a, &err);
	if (out && ok && o->diff)
		tell_check(a, o, s, &r.result);
	vt_profreport_fini(&r);
}

static bool check_usage(struct app *a, const struct options *o)
{
	bool checks = !isnan(o->check), perf = o->style == VPROF_STYLE_PERF;
	const struct app_rule rules[] = {
		{app_form_count(&o->form) > 1, "--json, --csv and --tsv exclude each other"},
		{!o->diff && (o->before.count || checks || o->before_symfs),
		 "--before, --before-symfs and --check belong to --diff"},
		{!o->diff && o->rate_given, "--false-rate belongs to --diff"},
		{checks && !(o->check > 0), "--check takes a percentage above 0"},
		{o->diff && o->before.count && !a->argc, "--diff needs a stream of after, too"},
		{o->diff && !o->before.count && a->argc != 2,
		 "--diff needs two streams, before and after; --before FILE for each of several"},
		{!o->diff && a->argc > 1, "one stream at a time; vtrace merge adds several"},
		{o->by.nkeys && vprof_chains_asked(&o->chains),
		 "reports of call chains are by procedure, image or line"},
		{o->diff && o->by.nkeys,
		 "--diff compares procedures, images, lines or instructions"},
		{perf && (o->diff || vprof_chains_asked(&o->chains)),
		 "--style perf is of samples, without --diff and call chains"},
		{perf && app_form_count(&o->form), "--style perf is a form of its own"},
		{!(o->list.min_percent >= 0 && o->list.min_percent <= 100),
		 "--min takes a percentage"},
		{!(o->rate > 0 && o->rate < 1), "--false-rate takes a number between 0 and 1"},
	};

	return APP_CHECK_RULES(a, rules) && (!perf || vprof_style_check(a, &o->by));
}

static void list_profiles(struct app *a, const struct options *o)
{
	struct sides s = {.before = o->before.count ? o->before.count : o->diff};
	size_t i, most = o->before.count + (size_t)a->argc + 1;
	bool ok;
	int arg;

	s.list = calloc(most, sizeof(*s.list));
	s.parts = calloc(most, sizeof(*s.parts));
	ok = (s.list && s.parts) || app_no_memory(a);
	for (i = 0; i < o->before.count && ok; i++)
		ok = add_side(a, o, &s, o->before.items[i]);
	for (arg = 0; (arg < a->argc || (!o->diff && arg == 0)) && ok; arg++)
		ok = add_side(a, o, &s, a->argc ? a->argv[arg] : NULL);
	if (ok)
		list_sides(a, o, &s);
	end_sides(&s);
}

static void run_vprof(struct app *a, const struct options *o)
{
	const struct vprof_chains_how how = {.path = a->argc ? a->argv[0] : NULL,
					     .symfs = o->symfs,
					     .level = o->by.level,
					     .list = &o->list,
					     .events = &o->events,
					     .form = &o->form};
	const struct vprof_style_how style = {.path = how.path,
					      .symfs = o->symfs,
					      .output = o->form.output,
					      .by = &o->by,
					      .list = &o->list,
					      .events = &o->events};

	if (!check_usage(a, o) || !vprof_chains_check(a, &o->chains, &how, o->diff))
		return;
	if (vprof_chains_asked(&o->chains) && !o->diff)
		vprof_list_chains(a, &o->chains, &how);
	else if (o->style == VPROF_STYLE_PERF)
		vprof_list_perf(a, &style);
	else
		list_profiles(a, o);
}

/* What users of perf report type. */
static const struct vt_opt_hint perf_hints[] = {
	{'s', "sort", "that is perf's; here it is --by, as in --by comm,image,procedure"},
	{'i', "input", "that is perf's; here a file is an operand: vprof FILE"},
	{'g', "call-graph", "that is perf's; here it is --callers, --callees or --tree"},
	{'F', "fields", "that is perf's; here columns are those of --by; --csv has all"},
	{0, "stdio", "that is perf's; here it is --style perf"},
	{0, "no-children", "that is perf's; here it is so without --children"},
	{0, "percent-limit", "that is perf's; here it is --min"},
	{0, "dsos", "that is perf's; here it is --image"},
	{0, "comms", "that is perf's; here it is --comm"},
	{'p', "process", "that is perf's; here it is --pid"},
	{'S', "symbols", "that is perf's; here it is --symbol"},
	{0, "symbol-filter", "that is perf's; here it is --symbol"},
	{0, "no-inline", "that is perf's; here it is so without --inline"},
	{0, NULL, NULL},
};

int cmd_prof(int argc, char **argv)
{
	struct options o = {.by = APP_BY_INIT,
			    .rate = 0.05,
			    .check = DEFAULT_CHECK,
			    .where = {.kind = VT_SAMPLE, .what = "samples"}};
	struct app app;
	const struct vt_opt opts[] = {
		APP_OPT_BY(o.by),
		APP_LIST('e', "event", o.events, "NAME",
			 "show this event only; repeat for more; the first sorts"),
		APP_U64('n', "top", o.list.top, "N", "the first N rows only"),
		APP_F64(0, "min", o.list.min_percent, "PCT",
			"only rows with at least PCT percent of the first event"),
		APP_FLAG(0, "period", o.list.by_period,
			 "weigh each sample by its period, as perf report does"),
		VPROF_OPT_STYLE(o.style),
		VPROF_OPT_CHAINS(o.chains),
		APP_FLAG(0, "diff", o.diff,
			 "compare two streams, or sets of them: before and after"),
		APP_LIST(0, "before", o.before, "FILE",
			 "a stream of the set before; repeat for more; operands are those after"),
		APP_STRING(0, "before-symfs", o.before_symfs, "DIR",
			   "look for the images of the set before below DIR"),
		{.name = "check",
		 .type = VT_OPT_F64_OR_NOT,
		 .value = &o.check,
		 .given = &o.checks,
		 .arg = "PCT",
		 .help = "exit status 5 if a significant change is a growth of the first event\n"
			 "by PCT percent of its total (default 1) or more, 6 if too much is\n"
			 "unknown to tell"},
		{.name = "false-rate",
		 .type = VT_OPT_F64,
		 .value = &o.rate,
		 .given = &o.rate_given,
		 .arg = "P",
		 .help = "so many of the significant changes may be chance (default 0.05)"},
		APP_OPT_WHERE(o.where.text),
		APP_OPT_SLICE(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vprof",
		.usage = "[options] [FILE]\n--children | --callers | --callees | --tree [options] "
			 "[FILE]\n"
			 "--diff [options] BEFORE AFTER\n"
			 "--diff --before FILE... [options] FILE...",
		.about = "Lists where the samples of a stream fell, by procedure; or whose they "
			 "are.",
		.opts = opts,
		.hints = perf_hints,
		.notes = "exit status 5: done, and what --check looks for was found\n"
			 "exit status 6: done, but too much code is unknown for --check to tell",
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv) && app_by_parse(&app, &o.by) &&
	    app_slice_start(&app, &o.slice, o.symfs)) {
		if (!o.checks)
			o.check = NAN;
		app_where_start(&app, &o.where, o.symfs);
		run_vprof(&app, &o);
	}
	app_slice_end(&o.slice);
	app_where_end(&o.where);
	vt_opt_list_fini(&o.events);
	vt_opt_list_fini(&o.before);
	return app_finish(&app);
}
