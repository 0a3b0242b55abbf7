/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "listing/json.h"
#include "listing/profile/profile.h"
#include "listing/profile/variance.h"
#include "profile/runs.h"

static const char *const level_words[] = {"procedure", "image", "line", "instruction", NULL};
static const char *const order_words[] = {"range", "std-dev", "noise", "sum", NULL};

struct options {
	int level; /* enum vt_level */
	int order; /* enum vt_stat_order */
	struct vt_statlist_options list;
	const char *event;
	struct app_form form;
	const char *symfs;
	const char *output;
	int color;
};

/* What is kept of each run. */
struct run {
	const char *path;
	struct vt_tally total;
	struct vt_profile_loss loss;
};

struct runs {
	char *event; /* the label that all are looked at by */
	struct vt_runs *rows;
	struct run *list;
	size_t count;
};

/* The event's index in a run's profile: the one asked for, or the first run's first. */
static bool find_event(struct app *a, struct runs *r, const struct options *o,
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

static bool add_run(struct app *a, struct runs *r, const struct options *o, const char *path)
{
	struct run *run = &r->list[r->count];
	struct vt_error err = VT_ERROR_INIT;
	struct app_profile data = {0};
	struct vt_ranking *ranking = NULL;
	size_t event = SIZE_MAX;
	bool ok = app_profile_read(a, &data, path, o->symfs) &&
		  find_event(a, r, o, data.profile, &event);

	if (ok) {
		ranking = vt_ranking_new(data.profile, data.images, (enum vt_level)o->level, &err);
		ok = ranking && vt_runs_add(r->rows, ranking, &event, &err) == 0;
		if (!ok)
			app_fail(a, &err);
	}
	if (ok) {
		run->path = path;
		run->loss = *vt_profile_loss(data.profile);
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

static uint64_t weigh(const struct run *run, const struct options *o)
{
	return o->list.by_period ? run->total.period : run->total.samples;
}

static uint64_t total_of(const struct runs *r, const struct options *o)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < r->count; i++)
		total += weigh(&r->list[i], o);
	return total;
}

static void print_header(const struct runs *r, const struct options *o, struct vt_output *out)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	vt_escape_str(&b, r->event ? r->event : "none");
	vt_output_printf(out, "Number of samples of type %s\n", vt_buf_str(&b));
	for (i = 0; i < r->count; i++) {
		b.size = 0;
		vt_escape_str(&b, r->list[i].path);
		vt_output_printf(out, "set %zu = %" PRIu64 "%s (%s)\n", i + 1,
				 weigh(&r->list[i], o), o->list.by_period ? " of period" : "",
				 vt_buf_str(&b));
		if (r->list[i].loss.lost)
			vt_output_printf(out, "  lost while recording: %" PRIu64 " records\n",
					 r->list[i].loss.lost);
		if (r->list[i].loss.gaps)
			vt_output_printf(out, "  gaps in the input: %" PRIu64 "\n",
					 r->list[i].loss.gaps);
	}
	vt_output_printf(out,
			 "TOTAL %" PRIu64 "\n\nStatistics of the %s of each %s in %zu sets\n\n",
			 total_of(r, o), o->list.by_period ? "period" : "samples",
			 level_words[o->level], r->count);
	vt_buf_free(&b);
}

static void print_json(const struct runs *r, const struct options *o, const struct vt_table *t,
		       int64_t left_out, struct vt_output *out)
{
	json_t *sets = json_array();
	json_t *doc = vt_json_doc("vstats/1");
	size_t i;

	for (i = 0; i < r->count; i++) {
		const struct run *run = &r->list[i];

		const struct vt_losses losses = app_profile_losses(&run->loss);
		json_t *set = json_object();

		json_object_set_new(set, "file", vt_json_text(run->path, strlen(run->path)));
		json_object_set_new(set, "samples", vt_json_u64(run->total.samples));
		json_object_set_new(set, "period", vt_json_u64(run->total.period));
		vt_json_losses(set, &losses);
		json_array_append_new(sets, set);
	}
	json_object_set_new(doc, "event",
			    r->event ? vt_json_text(r->event, strlen(r->event)) : json_null());
	json_object_set_new(doc, "by", json_string(level_words[o->level]));
	json_object_set_new(doc, "sets", sets);
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	vt_json_write(out, doc, true);
}

static bool print(struct app *a, const struct options *o, const struct runs *r,
		  const struct vt_table *t, int64_t left_out)
{
	struct vt_output *out = app_text(a, o->output);

	if (!out)
		return false;
	if (o->form.json) {
		print_json(r, o, t, left_out, out);
		return true;
	}
	if (app_form_is_text(&o->form))
		print_header(r, o, out);
	if (!app_print_table(a, t, &o->form, o->color, out))
		return false;
	if (left_out && app_form_is_text(&o->form))
		vt_output_printf(out, "(%lld more rows)\n", (long long)left_out);
	return true;
}

static bool list(struct app *a, const struct options *o, const struct runs *r)
{
	struct vt_statlist_options opt = o->list;
	struct vt_table *t = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	int64_t left_out;
	bool ok;

	opt.order = (enum vt_stat_order)o->order;
	if (t)
		left_out = vt_statlist_fill(t, r->rows, (enum vt_level)o->level, total_of(r, o),
					    &opt, &err);
	else
		left_out = vt_error_nomem(&err);
	ok = left_out >= 0 ? print(a, o, r, t, left_out) : app_fail(a, &err);
	vt_table_free(t);
	return ok;
}

static bool run(struct app *a, const struct options *o)
{
	struct runs r = {0};
	bool ok = true;
	int i;

	if (app_form_count(&o->form) > 1)
		return app_usage(a, "--json, --csv and --tsv exclude each other");
	if (!(o->list.min_percent >= 0 && o->list.min_percent <= 100))
		return app_usage(a, "--min takes a percentage");
	if (a->argc < 2)
		return app_usage(a, "what varies takes two runs at least");
	r.rows = vt_runs_new(1);
	r.list = calloc((size_t)a->argc, sizeof(*r.list));
	if (!r.rows || !r.list)
		ok = app_no_memory(a);
	for (i = 0; i < a->argc && ok; i++)
		ok = add_run(a, &r, o, a->argv[i]);
	ok = ok && list(a, o, &r);
	vt_runs_free(r.rows);
	free(r.list);
	free(r.event);
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
		 .type = VT_OPT_STRING,
		 .value = &o.event,
		 .arg = "NAME",
		 .help = "look at this event; default: the first of the first stream"},
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
		 .help = "only rows with at least PCT percent of all samples"},
		{.name = "sort",
		 .type = VT_OPT_CHOICE,
		 .value = &o.order,
		 .arg = "WHAT",
		 .choices = order_words,
		 .help = "greatest first: range (default), std-dev, noise, sum"},
		{.letter = 'p',
		 .name = "period",
		 .type = VT_OPT_FLAG,
		 .value = &o.list.by_period,
		 .help = "weigh each sample by its period"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COLOR(o.color),
		APP_OPT_OUTPUT(o.output),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vstats",
		.usage = "[options] FILE FILE...",
		.about = "Tells what varies between the profiles of several runs.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	return app_finish(&app);
}
