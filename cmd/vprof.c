/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/proflist.h"
#include "cmd/common/app.h"
#include "cmd/common/json.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"

static const char *const level_words[] = {"procedure", "image", "line", "instruction", NULL};

struct options {
	int level; /* enum vt_level */
	struct vt_proflist_options list;
	struct vt_opt_list events;
	struct app_form form;
	bool diff;
	const char *symfs;
	const char *output;
	int color;
};

/* One input: its profile, gathered and put in order. */
struct side {
	struct app_profile data;
	struct vt_ranking *ranking;
	struct vt_event_choice events;
};

static bool read_side(struct app *a, const struct options *o, const char *path, struct side *s)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t first;

	if (!app_profile_read(a, &s->data, path, o->symfs))
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

static void print_json(const struct side *sides, const struct options *o, const struct vt_table *t,
		       int64_t left_out, struct vt_output *out)
{
	json_t *doc =
		o->diff ? json_object()
			: app_json_profile(&sides[0].data, &sides[0].events, sides[0].ranking);

	if (o->diff) {
		json_object_set_new(
			doc, "before",
			app_json_profile(&sides[0].data, &sides[0].events, sides[0].ranking));
		json_object_set_new(
			doc, "after",
			app_json_profile(&sides[1].data, &sides[1].events, sides[1].ranking));
	}
	json_object_set_new(doc, "by", json_string(level_words[o->level]));
	json_object_set_new(doc, "rows", app_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	app_json_write(out, doc, true);
}

static void print_headers(const struct side *sides, const struct options *o, struct vt_output *out)
{
	static const char *const name[] = {"Before:\n", "After:\n"};
	int i;

	for (i = 0; i < (o->diff ? 2 : 1); i++) {
		if (o->diff)
			vt_output_text(out, name[i]);
		vt_proflist_header(sides[i].data.profile, sides[i].ranking, &sides[i].events, out);
	}
	vt_proflist_legend(o->list.by_period, o->diff, out);
}

static bool print(struct app *a, const struct options *o, const struct side *sides,
		  const struct vt_table *t, int64_t left_out)
{
	struct vt_output *out = app_text(a, o->output);
	struct vt_error err = VT_ERROR_INIT;

	if (!out)
		return false;
	if (o->form.json) {
		print_json(sides, o, t, left_out, out);
		return true;
	}
	if (app_form_is_text(&o->form))
		print_headers(sides, o, out);
	if (vt_table_print(t, out, app_table_form(&o->form), app_color(a, o->color), &err) < 0)
		return app_fail(a, &err);
	if (left_out && app_form_is_text(&o->form))
		vt_output_printf(out, "(%lld more rows)\n", (long long)left_out);
	return true;
}

static bool list(struct app *a, const struct options *o, const struct side *sides)
{
	struct vt_proflist_side part[2];
	struct vt_table *t = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	int64_t left_out;
	bool ok;
	int i;

	for (i = 0; i < 2; i++)
		part[i] = (struct vt_proflist_side){sides[i].data.profile, sides[i].ranking,
						    sides[i].data.images, &sides[i].events};
	if (!t)
		left_out = vt_error_set(&err, VT_E_NOMEM, "out of memory");
	else if (o->diff)
		left_out = vt_proflist_diff(t, &part[0], &part[1], &o->list, &err);
	else
		left_out = (int64_t)vt_proflist_fill(t, &part[0], &o->list);
	ok = left_out >= 0 ? print(a, o, sides, t, left_out) : app_fail(a, &err);
	vt_table_free(t);
	return ok;
}

static bool run(struct app *a, const struct options *o)
{
	struct side sides[2];
	bool ok;

	memset(sides, 0, sizeof(sides));
	if (app_form_count(&o->form) > 1)
		return app_usage(a, "--json, --csv and --tsv exclude each other");
	if (o->diff && a->argc != 2)
		return app_usage(a, "--diff needs two streams: before and after");
	if (!o->diff && a->argc > 1)
		return app_usage(a, "one stream at a time; vtrace merge adds several");
	ok = read_side(a, o, a->argc ? a->argv[0] : NULL, &sides[0]);
	if (ok && o->diff)
		ok = read_side(a, o, a->argv[1], &sides[1]);
	ok = ok && list(a, o, sides);
	end_side(&sides[0]);
	end_side(&sides[1]);
	return ok;
}

int main(int argc, char **argv)
{
	struct options o = {.level = VT_LEVEL_PROCEDURE};
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
		 .help = "compare two streams: before and after"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COLOR(o.color),
		APP_OPT_OUTPUT(o.output),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vprof",
		.usage = "[options] [FILE]\n--diff [options] BEFORE AFTER",
		.about = "Lists where the samples of a stream fell, by procedure.",
		.opts = opts,
		.max_operands = 2,
	};

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	vt_opt_list_fini(&o.events);
	return app_finish(&app);
}
