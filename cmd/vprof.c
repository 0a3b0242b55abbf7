/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/escape.h"
#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "listing/json.h"
#include "listing/profile/profile.h"

static const char *const level_words[] = {"procedure", "image", "line", "instruction", NULL};

struct options {
	int level; /* enum vt_level */
	struct vt_proflist_options list;
	struct vt_opt_list events;
	struct app_form form;
	bool diff;
	struct vt_opt_list before;
	double rate;
	double check;
	const char *symfs;
	const char *before_symfs;
	const char *output;
	int color;
};

/* One input: its profile, gathered and put in order. */
struct side {
	const char *path;
	struct app_profile data;
	struct vt_ranking *ranking;
	struct vt_event_choice events;
};

static bool read_side(struct app *a, const struct options *o, const char *path, const char *symfs,
		      struct side *s)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t first;

	if (!app_profile_read(a, &s->data, path, symfs))
		return false;
	if (vt_event_choice_init(&s->events, s->data.profile, o->events.items, o->events.count,
				 &err) < 0)
		return app_fail(a, &err);
	s->ranking = vt_ranking_new(s->data.profile, s->data.images, (enum vt_level)o->level, &err);
	first = s->events.count ? s->events.index[0] : 0;
	if (!s->ranking || vt_ranking_sort(s->ranking, first, o->list.by_period, &err) < 0)
		return app_fail(a, &err);
	return true;
}

static void end_side(struct side *s)
{
	vt_event_choice_fini(&s->events);
	vt_ranking_free(s->ranking);
	app_profile_end(&s->data);
}

/* All inputs: those of the set before, then those of the set after, or the one that is listed. */
struct sides {
	struct side *list;
	struct vt_proflist_side *parts;
	size_t before;
	size_t count;
};

static bool make_room(struct app *a, struct sides *s, size_t count)
{
	s->list = calloc(count, sizeof(*s->list));
	s->parts = calloc(count, sizeof(*s->parts));
	if (s->list && s->parts)
		return true;
	return app_no_memory(a);
}

static void end_sides(struct sides *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		end_side(&s->list[i]);
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
	s->parts[s->count - 1] = (struct vt_proflist_side){side->data.profile, side->ranking,
							   side->data.images, &side->events};
	/* Nothing can have grown where nothing was measured: that must not pass for a check. */
	return !o->diff || vt_profile_nplaces(side->data.profile) ||
	       app_lacks(a, path, APP_NO_SAMPLES);
}

/* ---- output ---- */

/* What there is above a table of differences, for a program: an object for each run. */
static json_t *json_set(const struct sides *s, size_t first, size_t end)
{
	json_t *runs = json_array();
	size_t i;

	for (i = first; i < end; i++) {
		json_t *run = json_object();

		app_json_profile(run, &s->list[i].data, &s->list[i].events, s->list[i].ranking);
		json_array_append_new(runs, run);
	}
	return runs;
}

static void print_json(const struct sides *s, const struct options *o, const struct vt_table *t,
		       const struct vt_profdiff_result *result, struct vt_output *out)
{
	json_t *doc = vt_json_doc(o->diff ? "vprof-diff/1" : "vprof/1");

	if (!o->diff) {
		app_json_profile(doc, &s->list[0].data, &s->list[0].events, s->list[0].ranking);
	} else {
		json_object_set_new(doc, "before", json_set(s, 0, s->before));
		json_object_set_new(doc, "after", json_set(s, s->before, s->count));
		json_object_set_new(doc, "significant",
				    json_integer((json_int_t)result->significant));
		if (!isnan(o->check))
			json_object_set_new(doc, "grown", vt_json_u64(result->grown.count));
	}
	json_object_set_new(doc, "by", json_string(level_words[o->level]));
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer((json_int_t)result->left_out));
	vt_json_write(out, doc, true);
}

static void print_headers(const struct sides *s, const struct options *o, struct vt_output *out)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (o->diff)
			vt_output_text(out, i < s->before ? "Before:\n" : "After:\n");
		vt_proflist_header(s->parts[i].profile, s->parts[i].ranking, s->parts[i].events,
				   out);
	}
	vt_proflist_legend(o->list.by_period, o->diff, out);
}

static void print_footers(const struct sides *s, const struct options *o,
			  const struct vt_profdiff_result *result, struct vt_output *out)
{
	struct vt_buf name = VT_BUF_INIT;

	if (result->left_out)
		vt_output_printf(out, "(%" PRIu64 " more rows)\n", result->left_out);
	if (!o->diff || !s->list[0].events.count)
		return;
	vt_escape_str(&name, s->list[0].events.label[0]);
	vt_output_printf(out, "%" PRIu64 " changes of %s are significant (*)\n",
			 result->significant, vt_buf_str(&name));
	vt_buf_free(&name);
}

static bool print(struct app *a, const struct options *o, const struct sides *s,
		  const struct vt_table *t, const struct vt_profdiff_result *result)
{
	struct vt_output *out = app_text(a, o->output);

	if (!out)
		return false;
	if (o->form.json) {
		print_json(s, o, t, result, out);
		return true;
	}
	if (app_form_is_text(&o->form))
		print_headers(s, o, out);
	if (!app_print_table(a, t, &o->form, o->color, out))
		return false;
	if (app_form_is_text(&o->form))
		print_footers(s, o, result, out);
	return true;
}

/* A change that --check looks for means nothing if more than this may have moved by its name. */
#define MOST_UNKNOWN 5.0

static void tell_moved(struct app *a, const char *how, struct vt_profdiff_moved *m, double by)
{
	if (m->count > VT_PROFDIFF_NAMED)
		vt_buf_printf(&m->names, " and %" PRIu64 " more", m->count - VT_PROFDIFF_NAMED);
	if (m->count)
		app_say(a, "%s by %g%% of all before, or more: %s", how, by, vt_buf_str(&m->names));
}

static bool tell_unknown(struct app *a, const struct options *o, const struct sides *s,
			 const struct vt_profdiff_result *r)
{
	const struct side *side = &s->list[r->unknown_run];
	struct vt_buf why = VT_BUF_INIT;
	bool ok;

	/* What was just told may be most of it. */
	if (!r->stripped.size)
		app_unknown_image(&side->data, r->unknown_event, &why);
	app_say(a,
		"%s: %.3g%% of the samples are of unknown code%s%s: with more than %g%%, --check "
		"cannot tell%s",
		side->path, r->unknown, why.size ? "; most of it: " : "", vt_buf_str(&why),
		MOST_UNKNOWN,
		!o->symfs || !o->before_symfs
			? "; --before-symfs DIR and --symfs DIR say where the files of each are"
			: "");
	app_raise(a, APP_UNSURE);
	ok = !why.failed || app_no_memory(a);
	vt_buf_free(&why);
	return ok;
}

static bool tell_check(struct app *a, const struct options *o, const struct sides *s,
		       struct vt_profdiff_result *r)
{
	if (r->alone.size)
		app_say(a, "only before or only after, not compared: %s", vt_buf_str(&r->alone));
	if (r->stripped.size)
		app_say(a, "stripped of symbols on one side alone, not compared: %s",
			vt_buf_str(&r->stripped));
	if (isnan(o->check))
		return true;
	tell_moved(a, "grown", &r->grown, o->check);
	tell_moved(a, "shrunk", &r->shrunk, o->check);
	if (r->unknown > MOST_UNKNOWN)
		return tell_unknown(a, o, s, r);
	if (r->grown.count)
		app_raise(a, APP_FOUND);
	return true;
}

static bool list(struct app *a, const struct options *o, const struct sides *s)
{
	const struct vt_profdiff_set sets[2] = {{s->parts, s->before},
						{s->parts + s->before, s->count - s->before}};
	const struct vt_profdiff_options opt = {o->list, o->rate, o->check};
	struct vt_profdiff_result result = {.left_out = 0};
	struct vt_table *t = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	bool ok = t != NULL;

	if (!t)
		vt_error_nomem(&err);
	else if (o->diff)
		ok = vt_proflist_diff(t, sets, &opt, &result, &err) == 0;
	else
		result.left_out = vt_proflist_fill(t, &s->parts[0], &o->list);
	ok = ok ? print(a, o, s, t, &result) : app_fail(a, &err);
	vt_table_free(t);
	if (ok && o->diff)
		ok = tell_check(a, o, s, &result);
	vt_profdiff_result_fini(&result);
	return ok;
}

static bool check_usage(struct app *a, const struct options *o)
{
	if (app_form_count(&o->form) > 1)
		return app_usage(a, "--json, --csv and --tsv exclude each other");
	if (!o->diff && (o->before.count || !isnan(o->check) || o->before_symfs))
		return app_usage(a, "--before, --before-symfs and --check belong to --diff");
	if (!isnan(o->check) && !(o->check > 0))
		return app_usage(a, "--check takes a percentage above 0");
	if (o->diff && o->before.count && !a->argc)
		return app_usage(a, "--diff needs a stream of after, too");
	if (o->diff && !o->before.count && a->argc != 2)
		return app_usage(a, "--diff needs two streams, before and after; --before FILE "
				    "for each of several");
	if (!o->diff && a->argc > 1)
		return app_usage(a, "one stream at a time; vtrace merge adds several");
	if (!(o->list.min_percent >= 0 && o->list.min_percent <= 100))
		return app_usage(a, "--min takes a percentage");
	if (!(o->rate > 0 && o->rate < 1))
		return app_usage(a, "--false-rate takes a number between 0 and 1");
	return true;
}

static bool run(struct app *a, const struct options *o)
{
	struct sides s = {.before = o->before.count ? o->before.count : o->diff};
	bool ok = check_usage(a, o) && make_room(a, &s, o->before.count + (size_t)a->argc + 1);
	size_t i;
	int arg;

	for (i = 0; i < o->before.count && ok; i++)
		ok = add_side(a, o, &s, o->before.items[i]);
	for (arg = 0; (arg < a->argc || (!o->diff && arg == 0)) && ok; arg++)
		ok = add_side(a, o, &s, a->argc ? a->argv[arg] : NULL);
	ok = ok && list(a, o, &s);
	end_sides(&s);
	return ok;
}

static void free_options(struct options *o)
{
	vt_opt_list_fini(&o->events);
	vt_opt_list_fini(&o->before);
}

int main(int argc, char **argv)
{
	struct options o = {.level = VT_LEVEL_PROCEDURE, .rate = 0.05, .check = NAN};
	struct app app;
	const struct vt_opt opts[] = {
		{.letter = 'b',
		 .name = "by",
		 .type = VT_OPT_CHOICE,
		 .value = &o.level,
		 .arg = "WHAT",
		 .choices = level_words,
		 .help = "one row for each procedure (default), image, line or instruction"},
		{.letter = 'e',
		 .name = "event",
		 .type = VT_OPT_LIST,
		 .value = &o.events,
		 .arg = "NAME",
		 .help = "show this event only; repeat for more; the first sorts"},
		{.letter = 'n',
		 .name = "top",
		 .type = VT_OPT_U64,
		 .value = &o.list.top,
		 .arg = "N",
		 .help = "the first N rows only"},
		{.name = "min",
		 .type = VT_OPT_F64,
		 .value = &o.list.min_percent,
		 .arg = "PCT",
		 .help = "only rows with at least PCT percent of the first event"},
		{.letter = 'p',
		 .name = "period",
		 .type = VT_OPT_FLAG,
		 .value = &o.list.by_period,
		 .help = "weigh each sample by its period, as perf report does"},
		{.name = "diff",
		 .type = VT_OPT_FLAG,
		 .value = &o.diff,
		 .help = "compare two streams, or sets of them: before and after"},
		{.name = "before",
		 .type = VT_OPT_LIST,
		 .value = &o.before,
		 .arg = "FILE",
		 .help = "a stream of the set before; repeat for more; operands are those after"},
		{.name = "before-symfs",
		 .type = VT_OPT_STRING,
		 .value = &o.before_symfs,
		 .arg = "DIR",
		 .help = "look for the images of the set before below DIR"},
		{.name = "check",
		 .type = VT_OPT_F64,
		 .value = &o.check,
		 .arg = "PCT",
		 .help = "exit status 5 if a significant change is a growth of the first event\n"
			 "by PCT percent of its total or more, 6 if too much is unknown to tell"},
		{.name = "false-rate",
		 .type = VT_OPT_F64,
		 .value = &o.rate,
		 .arg = "P",
		 .help = "so many of the significant changes may be chance (default 0.05)"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COLOR(o.color),
		APP_OPT_OUTPUT(o.output),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vprof",
		.usage = "[options] [FILE]\n--diff [options] BEFORE AFTER\n"
			 "--diff --before FILE... [options] FILE...",
		.about = "Lists where the samples of a stream fell, by procedure.",
		.opts = opts,
		.notes = "exit status 5: done, and what --check looks for was found\n"
			 "exit status 6: done, but too much code is unknown for --check to tell",
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	free_options(&o);
	return app_finish(&app);
}
