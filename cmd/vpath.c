/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/common/symfs.h"
#include "cmd/common/tables.h"
#include "cmd/programs.h"
#include "listing/paths/paths.h"
#include "listing/paths/score.h"
#include "paths/executed.h"
#include "paths/paths.h"
#include "paths/trail.h"
#include "sample/interval.h"

#define DEFAULT_BRANCHES 8

static const char *const method_words[] = {"counts", "history", "history+pairs", "likely", NULL};

struct options {
	uint64_t branches, top, every;
	bool every_given;
	int method; /* of method_words */
	bool top_given, method_given, across, truth;
	const char *counts, *plot, *symfs, *compress;
	struct app_form form;
};

struct job {
	struct app *app;
	const struct options *o;
	struct app_context in;
	struct vt_blockcode *code;
	struct vt_pathplaces places;
	struct vt_pathsamples samples, executed; /* those of executed code are made here */
	struct vt_pathtrail *trail;		 /* NULL: none are */
	struct vt_pathsamples *used;
	struct vt_pathgraph *graph;
	struct vt_paths paths;
	struct vt_reader *reader;
	struct vt_writer *writer;  /* NULL for a listing */
	struct vt_listpaths *list; /* NULL for a stream, and scores */
	bool lists;
};

/* ---- reading ---- */

/* All but samples, and what tells of paths that another stage found. */
static bool is_passed_on(const struct vt_record *rec)
{
	return rec->kind != VT_SAMPLE && rec->kind != VT_PATH &&
	       !vt_record_is_meta(rec, VT_PATHS_META_ACROSS) &&
	       !vt_record_is_meta(rec, VT_PATHS_META_BRANCHES);
}

static int take_path_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct job *j = arg;
	int code = vt_pathsamples_feed(&j->samples, rec, err);

	if (code == 0 && j->list && rec->kind == VT_EVENT)
		code = vt_listpaths_feed(j->list, rec, err);
	if (code == 0 && j->writer && is_passed_on(rec))
		vt_writer_copy(j->writer, rec);
	return code < 0 || !j->writer ? code : vt_writer_error(j->writer, err);
}

/* What the program executed, by another stream. */
struct counted {
	struct app_context in;
	struct vt_pathplaces places;
	struct vt_pathexec *exec;
};

/* Warns of samples in images of which nothing was executed, as of another run's. */
static bool check_counts(struct job *j, const struct counted *c)
{
	const char *name = app_input_name(j->o->counts);
	uint64_t elsewhere;

	if (!vt_pathsamples_elsewhere(j->used, j->in.images.store, &c->places, c->in.images.store,
				      &elsewhere))
		return app_no_memory(j->app);
	if (elsewhere && elsewhere >= j->used->samples - j->used->untold - j->used->aborted)
		return app_lacks(j->app, name,
				 "not of the run of the samples: nothing was "
				 "executed in their images");
	if (elsewhere)
		app_say_lossy(j->app,
			      "%s: of %" PRIu64 " samples, %" PRIu64
			      " are in images of which %s executed nothing",
			      vt_reader_name(j->reader), j->used->samples, elsewhere, name);
	return true;
}

static void tell_bad(struct job *j, const char *name, uint64_t bad)
{
	if (bad)
		app_say_lossy(j->app, "%s: %" PRIu64 " EXEC records contradict themselves", name,
			      bad);
}

static bool read_counts_into(struct job *j, struct counted *c)
{
	struct vt_error err = VT_ERROR_INIT;

	c->in.images.quiet = true;
	if (!app_context_open(j->app, &c->in, j->o->symfs))
		return false;
	c->exec = vt_pathexec_new(c->in.context, &c->places);
	if (!c->exec)
		return app_no_memory(j->app);
	vt_context_add(c->in.context,
		       &(struct vt_consumer){.record = vt_pathexec_feed,
					     .arg = c->exec,
					     .kinds = VT_KIND(VT_EXEC) | VT_KIND(VT_GAP)});
	if (!app_read_stream(j->app, j->o->counts, vt_context_feed, c->in.context))
		return false;
	if (!vt_pathexec_insns(c->exec))
		return app_lacks(j->app, app_input_name(j->o->counts), APP_NO_CODE);
	tell_bad(j, app_input_name(j->o->counts), vt_pathexec_bad(c->exec));
	if (vt_pathexec_finish(c->exec, &err) < 0)
		return app_fail(j->app, &err);
	if (!check_counts(j, c))
		return false;
	return vt_pathplaces_join(&j->places, j->in.images.store, &c->places, c->in.images.store) ||
	       app_no_memory(j->app);
}

static bool read_counts(struct job *j)
{
	struct counted c = {.exec = NULL};
	bool ok;

	if (!j->o->counts)
		return true;
	vt_pathplaces_init(&c.places);
	ok = read_counts_into(j, &c);
	vt_pathexec_free(c.exec);
	vt_pathplaces_fini(&c.places);
	app_context_close(&c.in);
	return ok;
}

/* Executed code is used where no samples tell of paths. */
static bool choose_samples(struct job *j)
{
	const struct vt_pathsamples *s = &j->samples;
	const char *name = vt_reader_name(j->reader);
	bool told = s->questions.count || s->samples != s->untold;

	j->used = &j->samples;
	if (told && j->o->every_given)
		app_say(j->app, "%s: --every does nothing: its samples tell of paths", name);
	if (told)
		return true;
	if (!j->trail)
		return app_lacks(j->app, name,
				 "no samples with a history of branches (vsim --profileme "
				 "--history)");
	if (vt_pathtrail_insns(j->trail) && vt_context_is_sampled(j->in.context))
		return app_lacks(j->app, name, VT_IS_SAMPLED);
	j->used = &j->executed;
	if (j->o->counts)
		app_say(j->app, "%s: --counts does nothing: executed code has the paths itself",
			name);
	if (vt_pathtrail_insns(j->trail) && !j->executed.questions.count)
		return app_lacks(j->app, name,
				 "no instruction with a branch before it is among those taken of "
				 "its executed code (--every)");
	if (!j->executed.questions.count)
		return app_lacks(j->app, name,
				 "no samples with a history of branches (vsim --profileme "
				 "--history) or a branch stack (perf record -b), and no executed "
				 "code");
	tell_bad(j, name, vt_pathtrail_bad(j->trail));
	return true;
}

/* Paths are scored over so many branches as some history has. */
static bool check_histories(struct job *j)
{
	uint32_t longest = vt_pathsamples_longest(j->used);
	char what[128];

	if (longest >= j->o->branches)
		return true;
	snprintf(what, sizeof(what),
		 "no history of %" PRIu64 " branches (-n): the longest is of %" PRIu32,
		 j->o->branches, longest);
	return app_lacks(j->app, vt_reader_name(j->reader), what);
}

static bool check_samples(struct job *j)
{
	const struct vt_pathsamples *s;
	const char *name = vt_reader_name(j->reader);

	if (!choose_samples(j) || (j->o->truth && !check_histories(j)))
		return false;
	s = j->used;
	if (s->dropped)
		app_say_lossy(j->app, "%s: %" PRIu64 " samples left out: too many differ", name,
			      s->dropped);
	return true;
}

/* The samples of the stream, and those that are made of executed code. */
static bool start_samples(struct job *j)
{
	const struct options *o = j->o;
	struct vt_error err = VT_ERROR_INIT;
	enum vt_pathstacks use = o->truth	   ? VT_PATHSTACKS_TRUE
				 : o->method_given ? VT_PATHSTACKS_UNUSED
						   : VT_PATHSTACKS_USED;

	if (vt_pathsamples_init(&j->samples, j->in.context, &j->places, (uint32_t)o->branches, use,
				&err) < 0 ||
	    vt_pathsamples_init(&j->executed, j->in.context, &j->places, (uint32_t)o->branches, use,
				&err) < 0)
		return app_fail(j->app, &err);
	if (use != VT_PATHSTACKS_USED)
		return true;
	j->trail = vt_pathtrail_new(j->in.context, &j->executed, o->every);
	if (!j->trail)
		return app_no_memory(j->app);
	vt_context_add(j->in.context,
		       &(struct vt_consumer){.record = vt_pathtrail_feed,
					     .arg = j->trail,
					     .kinds = VT_KIND(VT_EXEC) | VT_KIND(VT_GAP)});
	return true;
}

static bool start_vpath(struct job *j)
{
	const struct options *o = j->o;

	vt_pathplaces_init(&j->places);
	if (!j->lists)
		app_make_stream(j->app, o->form.output);
	if (!app_context_open(j->app, &j->in, o->symfs))
		return false;
	j->code = vt_blockcode_new(j->in.context);
	if (j->lists && !o->truth)
		j->list = vt_listpaths_new(j->in.images.store, "vpath/1");
	if (!j->code || (j->lists && !o->truth && !j->list))
		return app_no_memory(j->app);
	if (!start_samples(j))
		return false;
	vt_context_add(j->in.context, &(struct vt_consumer){.take = vt_blockcode_feed,
							    .arg = j->code,
							    .kinds = VT_KIND(VT_BLOCK)});
	vt_context_add(j->in.context, &(struct vt_consumer){.record = take_path_record, .arg = j});
	if (o->counts)
		app_note_input(j->app, o->counts);
	j->reader = app_open_reader(j->app, j->app->argc ? j->app->argv[0] : NULL);
	if (j->reader && !j->lists)
		j->writer = app_open_writer(j->app, o->form.output, o->compress, &j->reader, 1);
	return j->reader && (j->writer || j->lists);
}

/* ---- finding paths ---- */

static bool make_paths(struct job *j)
{
	const struct vt_pathgraph_options go = {.images = j->in.images.store,
						.code = j->code,
						.places = &j->places,
						.across = j->o->across,
						.counted = j->o->counts != NULL};
	struct vt_error err = VT_ERROR_INIT;

	if (vt_blockcode_finish(j->code, &err) < 0)
		return app_fail(j->app, &err);
	j->graph = vt_pathgraph_new(&go, &err);
	if (!j->graph || vt_paths_init(&j->paths, j->graph, j->used, &err) < 0)
		return app_fail(j->app, &err);
	if (j->graph->left_out)
		app_say_lossy(j->app, "%s: %" PRIu64 " procedures left out: there are too many",
			      vt_reader_name(j->reader), j->graph->left_out);
	if (!j->o->counts && vt_paths_learn(&j->paths, &err) < 0)
		return app_fail(j->app, &err);
	return vt_paths_guess(&j->paths, &err) == 0 || app_fail(j->app, &err);
}

static void tell_totals(const struct job *j)
{
	const struct vt_paths_totals *t = &j->paths.totals;
	const struct vt_pathsamples *s = j->used;
	const bool executed = s == &j->executed;
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{s->aborted, "are of wrong paths"},
		{s->untold, executed ? "have no branch before them" : "have no history"},
		{s->unmapped + t->outside, "are in no procedure with code"},
		{t->none, "have no path that agrees with their history"},
		{t->ended, "have paths that end where no code shows how control came there"},
		{t->several, "have several"},
		{t->given_up, "have none among those that were looked at"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].n)
			app_say(j->app, "%s: of %" PRIu64 " %s, %" PRIu64 " %s",
				vt_reader_name(j->reader), s->samples,
				executed ? "instructions" : "samples", rows[i].n, rows[i].what);
	if (t->capped)
		app_say(j->app,
			"%s: of %" PRIu64 " samples, %" PRIu64 " have so many that not all were "
			"looked at; those left out weigh %.2g %%",
			vt_reader_name(j->reader), s->samples, t->capped,
			100 * t->left_out / (double)t->capped);
}

static bool list_paths(struct job *j)
{
	struct vt_listpaths *list = j->list;
	const struct app_form *form = &j->o->form;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out = NULL;
	int code = vt_listpaths_take(list, &j->paths, &err);

	if (code == 0)
		out = app_text(j->app, form->output);
	if (out)
		code = vt_listpaths_print(list, j->o->top, form->json ? &j->app->losses : NULL,
					  app_table_form(form), app_form_color(j->app, form), out,
					  &err);
	return code == 0 || app_fail(j->app, &err);
}

/* What kind of paths there are. */
static void write_settings(const struct job *j)
{
	char branches[24];

	snprintf(branches, sizeof(branches), "%" PRIu64, j->o->branches);
	vt_writer_meta(j->writer, VT_PATHS_META_ACROSS, j->o->across ? "yes" : "no");
	vt_writer_meta(j->writer, VT_PATHS_META_BRANCHES, branches);
}

static bool find_paths(struct job *j)
{
	static const enum vt_pathway ways[] = {VT_PATHWAY_COUNTS, VT_PATHWAY_HISTORY,
					       VT_PATHWAY_HISTORY_PAIRS, VT_PATHWAY_LIKELY_PAIRS};
	struct vt_error err = VT_ERROR_INIT;

	if (vt_paths_find(&j->paths, ways[j->o->method], &err) < 0)
		return app_fail(j->app, &err);
	tell_totals(j);
	if (!j->writer)
		return list_paths(j);
	if (j->used == &j->executed)
		vt_pathtrail_write_event(j->trail, j->writer);
	write_settings(j);
	return vt_paths_write(&j->paths, j->writer, &err) == 0 || app_fail(j->app, &err);
}

/* Draws the scores, and prints them. */
static bool show_scores(struct job *j, const struct vt_pathscores *s)
{
	const struct options *o = j->o;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out;

	if (o->plot && vt_pathscores_draw(s, o->plot, &err) < 0)
		return app_fail(j->app, &err);
	out = app_text(j->app, o->form.output);
	return out &&
	       (vt_pathscores_print(s, o->form.json ? &j->app->losses : NULL, out, &err) == 0 ||
		app_fail(j->app, &err));
}

/* Without any score there is nothing to show: the most frequent reason is said. */
static bool check_score(struct job *j, const struct vt_pathscore *s)
{
	const struct {
		uint64_t n;
		const char *what;
	} why[] = {
		{s->cut, "no branch stacks as long as the paths asked for (vsim --branches, -n)"},
		{s->untrue, "no branch stacks that the code agrees with"},
		{s->brief, "no samples in code whose history is as long as the paths asked for"},
		{s->outside, "no samples in procedures with code"},
	};
	size_t i, most = 0;

	if (s->samples)
		return true;
	for (i = 1; i < sizeof(why) / sizeof(why[0]); i++)
		most = why[i].n > why[most].n ? i : most;
	return app_lacks(j->app, vt_reader_name(j->reader), why[most].what);
}

static bool score_paths(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;
	uint32_t last = (uint32_t)j->o->branches, first = j->o->plot ? 1 : last, i;
	struct vt_pathscore *list = calloc(last - first + 1, sizeof(*list));
	const struct vt_pathscores s = {list, first, last - first + 1, j->o->across, j->used};
	bool ok = list || app_no_memory(j->app);

	for (i = first; ok && i <= last; i++)
		ok = vt_paths_score(&j->paths, i, &list[i - first], &err) == 0 ||
		     app_fail(j->app, &err);
	ok = ok && check_score(j, &list[last - first]) && show_scores(j, &s);
	free(list);
	return ok;
}

static void stop(struct job *j)
{
	app_close_writer(j->app, j->writer);
	vt_listpaths_free(j->list);
	vt_paths_fini(&j->paths);
	vt_pathgraph_free(j->graph);
	vt_pathtrail_free(j->trail);
	vt_pathsamples_fini(&j->executed);
	vt_pathsamples_fini(&j->samples);
	vt_pathplaces_fini(&j->places);
	vt_blockcode_free(j->code);
	app_close_reader(j->app, j->reader);
	app_context_close(&j->in);
}

static void run_vpath(struct app *a, const struct options *o)
{
	struct job j = {
		.app = a, .o = o, .lists = o->truth || o->top_given || app_form_count(&o->form)};

	if (app_form_count(&o->form) > 1)
		app_usage(a, "--json, --csv and --tsv exclude each other");
	else if (o->truth && (o->form.csv || o->form.tsv || o->top_given || o->method_given))
		app_usage(a, "--truth goes with neither --top, --method, --csv nor --tsv");
	else if (o->plot && !o->truth)
		app_usage(a, "--plot goes with --truth");
	else if ((!o->plot || app_may_write(a, o->plot)) && start_vpath(&j) &&
		 app_each_run(a, j.reader, vt_context_feed, j.in.context) && check_samples(&j) &&
		 read_counts(&j) && make_paths(&j))
		o->truth ? score_paths(&j) : find_paths(&j);
	stop(&j);
}

int cmd_path(int argc, char **argv)
{
	struct options o = {.branches = DEFAULT_BRANCHES, .method = 3, .top = 20, .every = 1000};
	struct app app;
	const struct vt_opt opts[] = {
		{'n', "branches", VT_OPT_U64, &o.branches, .arg = "N", .min = 1,
		 .max = VT_PATHWALK_BRANCHES,
		 .help = "conditional branches of a path, up to 64 (default 8)"},
		APP_FLAG(0, "across-calls", o.across,
			 "follow calls and returns; else a path ends at them"),
		{0, "every", VT_OPT_U64, &o.every, .arg = "N", .min = 1, .max = VT_INTERVAL_MAX,
		 .given = &o.every_given,
		 .help = "of executed code, take every N-th instruction on average (default\n"
			 "1000), where no samples tell of paths"},
		{0, "method", VT_OPT_CHOICE, &o.method, .arg = "METHOD", .choices = method_words,
		 .given = &o.method_given,
		 .help = "likely (default), history+pairs, history or counts; branch stacks are\n"
			 "not used"},
		{0, "top", VT_OPT_U64, &o.top, .arg = "N", .given = &o.top_given,
		 .help = "list the N paths executed most; 0: all"},
		APP_STRING(0, "counts", o.counts, "FILE",
			   "take how often edges are executed from FILE, a recording of the run"),
		APP_FLAG(0, "truth", o.truth,
			 "score all methods by the branch stacks of the samples"),
		APP_STRING(0, "plot", o.plot, "FILE.svg",
			   "with --truth: draw the scores for 1 to N branches as well"),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vpath",
		.usage = "[options] [FILE]",
		.about = "Finds the paths that led to samples: PATH records.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run_vpath(&app, &o);
	return app_finish(&app);
}
