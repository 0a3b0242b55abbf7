/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/slice.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/programs.h"
#include "listing/json.h"
#include "listing/profile/variance.h"
#include "profile/runs.h"

static const char *const order_words[] = {"range", "std-dev", "noise", "sum", NULL};

struct options {
	int level; /* enum vt_level */
	int order; /* enum vt_stat_order */
	struct vt_statlist_options list;
	const char *event;
	struct app_form form;
	const char *symfs;
	struct app_slice slice;
};

struct runs {
	char *event; /* the label that all are looked at by */
	struct vt_runs *rows;
	struct vt_statrun *list;
	size_t count;
};

/* The event's index in a run's profile: the one asked for, or the first run's first. */
static bool find_stats_event(struct app *a, struct runs *r, const struct options *o,
			     const struct vt_profile *p, size_t *index)
{
	const char *name = o->event ? o->event : r->event;
	struct vt_event_choice events;
	struct vt_error err = VT_ERROR_INIT;
	bool ok = true;

	if (vt_event_choice_init(&events, p, name ? &name : NULL, name ? 1 : 0, &err) < 0)
		return app_fail(a, &err);
	*index = events.count ? events.index[0] : SIZE_MAX;
	if (!r->event && events.count) {
		r->event = strdup(events.label[0]);
		ok = r->event != NULL;
	}
	vt_event_choice_fini(&events);
	return ok || app_no_memory(a);
}

static bool add_stats_run(struct app *a, struct runs *r, const struct options *o, const char *path)
{
	struct vt_statrun *run = &r->list[r->count];
	struct vt_error err = VT_ERROR_INIT;
	struct app_profile data = {0};
	struct vt_ranking *ranking = NULL;
	size_t event = SIZE_MAX;
	bool ok = app_profile_read(a, &data, path, o->symfs) &&
		  find_stats_event(a, r, o, data.profile, &event);

	if (ok) {
		ranking = vt_ranking_new(data.profile, data.in.images.store,
					 (enum vt_level)o->level, &err);
		ok = ranking && vt_runs_add(r->rows, ranking, &event, &err) == 0;
		if (!ok)
			app_fail(a, &err);
	}
	if (ok) {
		run->path = path;
		run->loss = *vt_context_losses(data.in.context);
		if (event != SIZE_MAX) {
			run->total.samples = vt_profile_event(data.profile, event)->samples;
			run->total.period = vt_profile_event(data.profile, event)->period;
		}
		r->count++;
	}
	vt_ranking_free(ranking);
	app_profile_end(&data);
	return ok;
}

static bool list_runs(struct app *a, const struct options *o, const struct runs *r)
{
	struct vt_statreport report = {.event = r->event,
				       .level = (enum vt_level)o->level,
				       .rows = r->rows,
				       .runs = r->list,
				       .count = r->count,
				       .how = o->list};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out = NULL;
	bool ok;

	report.how.order = (enum vt_stat_order)o->order;
	ok = vt_statreport_fill(&report, &err) == 0 || app_fail(a, &err);
	if (ok)
		out = app_text(a, o->form.output);
	ok = out != NULL;
	if (ok && o->form.json)
		vt_json_write(out, vt_statreport_json(&report), true);
	else if (ok)
		ok = vt_statreport_print(&report, app_table_form(&o->form),
					 app_form_color(a, &o->form), out, &err) == 0 ||
		     app_fail(a, &err);
	vt_statreport_fini(&report);
	return ok;
}

static bool run_vstats(struct app *a, const struct options *o)
{
	const struct app_rule rules[] = {
		{app_form_count(&o->form) > 1, "--json, --csv and --tsv exclude each other"},
		{!(o->list.min_percent >= 0 && o->list.min_percent <= 100),
		 "--min takes a percentage"},
		{a->argc < 2, "what varies takes two runs at least"},
	};
	struct runs r = {0};
	bool ok = true;
	int i;

	if (!APP_CHECK_RULES(a, rules))
		return false;
	r.rows = vt_runs_new(1);
	r.list = calloc((size_t)a->argc, sizeof(*r.list));
	if (!r.rows || !r.list)
		ok = app_no_memory(a);
	for (i = 0; i < a->argc && ok; i++)
		ok = add_stats_run(a, &r, o, a->argv[i]);
	ok = ok && list_runs(a, o, &r);
	vt_runs_free(r.rows);
	free(r.list);
	free(r.event);
	return ok;
}

int cmd_stats(int argc, char **argv)
{
	struct options o = {.level = VT_LEVEL_PROCEDURE};
	struct app app;
	const struct vt_opt opts[] = {
		APP_OPT_LEVEL(o.level),
		APP_STRING('e', "event", o.event, "NAME",
			   "look at this event; default: the first of the first stream"),
		APP_U64('n', "top", o.list.top, "N", "the first N rows only"),
		APP_F64(0, "min", o.list.min_percent, "PCT",
			"only rows with at least PCT percent of all samples"),
		APP_CHOICE(0, "sort", o.order, "WHAT", order_words,
			   "greatest first: range (default), std-dev, noise, sum"),
		APP_FLAG(0, "period", o.list.by_period, "weigh each sample by its period"),
		APP_OPT_SLICE(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vstats",
		.usage = "[options] FILE FILE...",
		.about = "Tells what varies between the profiles of several runs.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &o.slice, o.symfs))
		run_vstats(&app, &o);
	app_slice_end(&o.slice);
	return app_finish(&app);
}
