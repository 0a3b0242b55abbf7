/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/where.h"
#include "cmd/programs.h"
#include "listing/pairs/rows.h"
#include "machine/pipeline/core.h"
#include "pairs/pairs.h"
#include "pairs/record.h"

static const char *const by_words[] = {"instruction", "line", "procedure", "image", NULL};
static const enum vt_level by_levels[] = {VT_LEVEL_INSTRUCTION, VT_LEVEL_LINE, VT_LEVEL_PROCEDURE,
					  VT_LEVEL_IMAGE};

static const char *const learn_words[] = {"weighted", "always", "never", NULL};
static const enum vt_learn learn_modes[] = {VT_LEARN_WEIGHTED, VT_LEARN_ALWAYS, VT_LEARN_NEVER};

struct options {
	const char *metric, *split, *model, *plot, *symfs, *compress;
	uint64_t window, top;
	bool window_given, learn_given, top_given;
	int by; /* -1: not given */
	int learn;
	struct app_form form;
	struct app_where where;
};

struct job {
	struct app *app;
	const struct options *o;
	struct vt_pairmetric metric;
	struct app_context in;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL for a listing */
	bool lists;
	struct vt_cpu cpu;
	struct vt_core core;
	bool has_core;
	struct vt_pairrows *rows; /* NULL for a stream */
	struct vt_pairs *pairs;
	struct vt_pairs_options options;
};

/* ---- reading ---- */

/* The processor's slots and units are needed before the first pair. */
static int choose_core(struct job *j, struct vt_error *err)
{
	const char *name = j->o->model;

	if (j->has_core ||
	    (j->metric.measure != VT_PAIR_WASTED && j->metric.measure != VT_PAIR_UNIT))
		return 0;
	if (!name)
		name = vt_core_for_cpu(j->cpu.model, j->cpu.id, j->cpu.description);
	if (!name)
		return vt_error_set(err, VT_E_ABSENT,
				    "no model is known for its processor: name one with --model");
	if (vt_core_load(&j->core, name, err) < 0)
		return -(int)err->code;
	j->has_core = true;
	vt_pairs_set_core(j->pairs, &j->core);
	return 0;
}

/* All but samples and executed code, and what was estimated before. */
static bool is_passed_on(uint32_t kind)
{
	return kind != VT_SAMPLE && kind != VT_PAIRSTAT && kind != VT_EXEC;
}

/* Whether it tells of sums that were made before, or a window where an option does. */
static bool is_replaced(const struct job *j, const struct vt_record *rec)
{
	return rec->kind == VT_META &&
	       (vt_record_is_meta(rec, VT_PAIRS_META_LEARN) ||
		vt_record_is_meta(rec, VT_PAIRS_META_MODEL) ||
		(j->o->window_given && vt_record_is_meta(rec, VT_PAIRS_META_WINDOW)));
}

/* What options tell of pairs; merging and listing sums need it. */
static void write_settings(const struct job *j)
{
	if (vt_pairs_totals(j->pairs)->windows)
		return;
	if (j->o->window_given)
		vt_writer_meta_u64(j->writer, VT_PAIRS_META_WINDOW, j->o->window);
	vt_writer_meta(j->writer, VT_PAIRS_META_LEARN, learn_words[j->o->learn]);
	if (j->has_core)
		vt_writer_meta(j->writer, VT_PAIRS_META_MODEL, j->core.name);
}

static int take_run(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct job *j = arg;
	int code = 0;

	for (; code == 0 && block->kind == VT_META && rec.row - first < count; rec.row++)
		code = vt_cpu_feed(&j->cpu, &rec, err);
	if (code == 0 && block->kind == VT_SAMPLE && vt_pairs_has_groups(block, first, count))
		code = choose_core(j, err);
	if (code == 0 && block->kind == VT_SAMPLE && j->o->where.text)
		vt_pairs_pick(j->pairs, app_where_truth(&j->o->where, first));
	if (code == 0)
		code = vt_pairs_feed(j->pairs, block, first, count, err);
	if (code < 0 || !j->writer || !is_passed_on(block->kind))
		return code;
	for (rec.row = first; rec.row - first < count; rec.row++)
		if (!is_replaced(j, &rec))
			vt_writer_copy(j->writer, &rec);
	return vt_writer_error(j->writer, err);
}

/* ---- what became of samples ---- */

static void tell(struct job *j, uint64_t n, const char *one, const char *many)
{
	if (n)
		app_say(j->app, "%s: %" PRIu64 " %s", vt_reader_name(j->reader), n,
			n == 1 ? one : many);
}

/* There are no pairs: what there is instead. */
static bool lacks_pairs(struct job *j)
{
	const char *name = vt_reader_name(j->reader);

	if (j->metric.measure == VT_PAIR_OPEN)
		return app_lacks(j->app, name,
				 "no samples that tell how many misses were under way: AMD's IBS "
				 "does, of loads that miss (profileme(7))");
	if (app_saw(j->app, VT_PAIRSTAT))
		return app_lacks(
			j->app, name,
			"no pairs of samples, but sums of them: vlist --pairs lists these");
	if (app_saw(j->app, VT_COUNT))
		return app_lacks(j->app, name,
				 "no pairs of samples, but counts of samples: run vpair on each "
				 "stream, then vtrace merge");
	if (vt_pairs_totals(j->pairs)->untimed)
		return app_lacks(
			j->app, name,
			"no pairs of samples, and no window of that many cycles in its executed "
			"code: it has no times in cycles (Intel PT with cyc and branch stacks "
			"with cycles have them), they are too far apart, or its runs too short");
	if (vt_pairmetric_is_timed(&j->metric) && j->o->where.text)
		return app_lacks(j->app, name,
				 "no pairs of samples among those that --where chooses; it is no "
				 "condition on executed code, which is left out");
	if (vt_pairmetric_is_timed(&j->metric))
		return app_lacks(
			j->app, name,
			"no pairs of samples (vsim --profileme N --pairs W makes them), and no "
			"executed code (vtrace decode makes it of Intel PT, and of branch stacks "
			"with --lbr)");
	return app_lacks(j->app, name,
			 "no pairs of samples (vsim --profileme N --pairs W makes them)");
}

static void tell_samples(struct job *j)
{
	const struct vt_pairs_totals *t = vt_pairs_totals(j->pairs);

	tell(j, t->alone, "sample has no second one: not used",
	     "samples have no second one: not used");
	tell(j, t->orphans, "sample has lost the one before it: not used",
	     "samples have lost the one before them: not used");
	tell(j, t->beyond, "sample is one too many of its group: not used",
	     "samples are too many of their group: not used");
	tell(j, t->foreign, "pair is of two processes, threads or events: not used",
	     "pairs are of two processes, threads or events: not used");
	tell(j, t->distance, "pair is 0 or more than the window apart: not used",
	     "pairs are 0 or more than the window apart: not used");
	tell(j, t->weight, "pair has no weight above 0: not used",
	     "pairs have no weight above 0: not used");
	tell(j, t->period, "pair has no period: not used", "pairs have no period: not used");
	tell(j, t->stopped, "half of a pair is not used, as a counter had stopped",
	     "halves of pairs are not used, as a counter had stopped");
	tell(j, t->unknown, "half of a pair is not used, as a sample does not tell enough",
	     "halves of pairs are not used, as samples do not tell enough");
	if (vt_pairs_is_cut(j->pairs, t->far, t->overlaps))
		app_say(j->app,
			"%s: %.1f%% of what overlaps is in the last tenth of the window of "
			"%" PRIu64 " instructions: what is beyond is missing",
			vt_reader_name(j->reader), 100 * t->far / t->overlaps,
			vt_pairs_window(j->pairs));
	if (t->alone + t->orphans + t->beyond + t->distance + t->weight + t->period + t->bad)
		app_raise(j->app, APP_LOSSY);
}

static void tell_executed(struct job *j)
{
	const struct vt_pairs_totals *t = vt_pairs_totals(j->pairs);

	tell(j, t->bad, "EXEC record contradicts itself: not used",
	     "EXEC records contradict themselves: not used");
	if (t->windows && (j->o->model || j->o->window_given || j->o->learn_given))
		app_say(j->app,
			"%s: --model, --window and --learn do nothing: they are of pairs, not of "
			"executed code",
			vt_reader_name(j->reader));
	if (t->windows && t->untimed)
		app_say(j->app,
			"%s: %" PRIu64 " of %" PRIu64
			" executed instructions are not used: the cycles around them are not known",
			vt_reader_name(j->reader), t->untimed, t->untimed + t->windows);
}

/* Whether there is anything to show. */
static bool has_sums(struct job *j)
{
	const struct vt_pairs_totals *t = vt_pairs_totals(j->pairs);

	if (t->windows && j->o->split)
		return app_lacks(j->app, vt_reader_name(j->reader),
				 "executed code, which --split, a condition on samples, does not "
				 "tell apart");
	return t->pairs || t->windows || lacks_pairs(j);
}

/* ---- output ---- */

static bool print_pairs(struct job *j)
{
	const struct options *o = j->o;
	const struct vt_pairrows_options how = {
		.pairs = j->pairs,
		.images = j->in.images.store,
		.metric = o->metric,
		.split = o->split,
		.core = j->has_core ? j->core.name : NULL,
		.losses = &j->app->losses,
		.top = o->top,
		.json = o->form.json,
		.form = app_table_form(&o->form),
		.color = app_form_color(j->app, &o->form),
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out = app_text(j->app, o->form.output);

	if (!out)
		return false;
	if (vt_pairrows_print(j->rows, &how, out, &err) < 0)
		return app_fail(j->app, &err);
	if (!o->plot)
		return true;
	if (!app_may_write(j->app, o->plot))
		return false;
	return vt_pairrows_draw(j->rows, &how, o->plot, &err) == 0 || app_fail(j->app, &err);
}

static bool write_pairs(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	write_settings(j);
	return vt_pairs_write(j->pairs, j->o->metric, j->o->split, j->writer, &err) == 0 ||
	       app_fail(j->app, &err);
}

/* ---- the program ---- */

static bool check_vpair_options(struct job *j)
{
	const struct options *o = j->o;
	struct vt_error err = VT_ERROR_INIT;

	if (app_form_count(&o->form) > 1)
		return app_usage(j->app, "--json, --csv and --tsv exclude each other");
	if (vt_pairmetric_parse(&j->metric, o->metric, &err) < 0)
		return err.code == VT_E_NOMEM ? app_fail(j->app, &err)
					      : app_usage(j->app, "--metric: %s", err.text);
	if (o->plot && j->metric.measure != VT_PAIR_WASTED)
		return app_usage(j->app, "--plot draws wasted slots: no other --metric");
	return true;
}

static bool start_pairs(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	j->options = (struct vt_pairs_options){.metric = &j->metric,
					       .split = j->o->split,
					       .schema = vt_reader_schema(j->reader),
					       .window = j->o->window,
					       .learn = learn_modes[j->o->learn]};
	if (j->lists) {
		j->rows = vt_pairrows_new(j->in.images.store,
					  by_levels[j->o->by < 0 ? 0 : j->o->by], &err);
		if (!j->rows)
			return app_fail(j->app, &err);
		j->options.row = vt_pairrows_find;
		j->options.arg = j->rows;
	}
	j->pairs = vt_pairs_new(j->in.context, &j->options, &err);
	if (!j->pairs)
		return err.code == VT_E_NOMEM ? app_fail(j->app, &err)
					      : app_usage(j->app, "--split: %s", err.text);
	vt_context_add(j->in.context, &(struct vt_consumer){.take = take_run, .arg = j});
	return true;
}

static bool open_vpair(struct job *j)
{
	const struct options *o = j->o;

	if (!j->lists)
		app_make_stream(j->app, o->form.output);
	if (!app_context_open(j->app, &j->in, o->symfs))
		return false;
	j->reader = app_open_reader(j->app, j->app->argc ? j->app->argv[0] : NULL);
	if (!j->reader || !start_pairs(j))
		return false;
	if (!j->lists)
		j->writer = app_open_writer(j->app, o->form.output, o->compress, &j->reader, 1);
	return j->lists || j->writer;
}

static void run_vpair(struct app *a, const struct options *o)
{
	struct job j = {
		.app = a,
		.o = o,
		.lists = o->top_given || o->by >= 0 || o->plot || app_form_count(&o->form),
	};

	if (check_vpair_options(&j) && open_vpair(&j) &&
	    app_each_run(a, j.reader, vt_context_feed, j.in.context)) {
		vt_pairs_finish(j.pairs);
		tell_samples(&j);
		tell_executed(&j);
		if (has_sums(&j))
			j.lists ? print_pairs(&j) : write_pairs(&j);
	}
	app_close_writer(a, j.writer);
	vt_pairs_free(j.pairs);
	vt_pairrows_free(j.rows);
	app_context_close(&j.in);
	app_close_reader(a, j.reader);
	vt_cpu_fini(&j.cpu);
	vt_pairmetric_fini(&j.metric);
}

int cmd_pair(int argc, char **argv)
{
	struct options o = {
		.metric = "wasted",
		.by = -1,
		.top = 20,
		.where = {.kind = VT_SAMPLE, .what = "samples", .marks = true},
	};
	struct app app;
	const struct vt_opt opts[] = {
		APP_STRING(0, "metric", o.metric, "METRIC",
			   "wasted (default), useful-concurrency, issue-while-queued,\n"
			   "retire-within:N, ipc:N, same-unit, open-misses, or an expression over\n"
			   "fields 1.NAME and 2.NAME: vt-filter(7)"),
		APP_STRING(0, "split", o.split, "EXPR",
			   "apart for instructions that meet this condition and those that do not"),
		{0, "window", VT_OPT_U64, &o.window, .arg = "W", .min = 1, .max = 1u << 20,
		 .given = &o.window_given,
		 .help = "the largest distance of pairs, where the stream does not tell it"},
		{0, "learn", VT_OPT_CHOICE, &o.learn, .arg = "WHEN", .choices = learn_words,
		 .given = &o.learn_given,
		 .help = "from earlier pairs what to expect at a distance: if distances are\n"
			 "weighted (default), always, or never"},
		APP_STRING('m', "model", o.model, "NAME",
			   "the machine, with its slots and units: a name or a file, as in\n"
			   "vsim --model; else by what the stream says of its processor"),
		{'b', "by", VT_OPT_CHOICE, &o.by, .arg = "WHAT", .choices = by_words,
		 .help = "one row for each instruction (default), line, procedure or image"},
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N", .given = &o.top_given,
		 .help = "list the N rows with the largest total, or the most pairs\n(default 20); "
			 "0: "
			 "all"},
		APP_STRING(0, "plot", o.plot, "FILE.svg",
			   "draw cycles in progress against wasted slots as well"),
		APP_OPT_WHERE(o.where.text),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vpair",
		.usage = "[options] [FILE]",
		.about = "Adds up what pairs of samples tell of instructions that are in progress "
			 "at the\nsame time: a stream, or with --top, --by, --plot or a form a "
			 "listing.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv)) {
		app_where_start(&app, &o.where, o.symfs);
		run_vpair(&app, &o);
	}
	app_where_end(&o.where);
	return app_finish(&app);
}
