/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/programs.h"
#include "culprit/check.h"
#include "culprit/culprits.h"
#include "listing/cycles/top_stalls.h"
#include "stream/meta.h"

struct options {
	uint64_t top;
	bool top_given;
	const char *truth, *cpu, *symfs, *compress;
	struct app_form form;
	uint64_t jobs;
};

struct job {
	struct app *app;
	const struct options *o;
	struct app_profile in;
	struct vt_freqprofile *truth; /* NULL: not asked for */
	struct vt_culprittop *list;
	struct vt_culpritcheck *check;
	struct vt_cpu cpu;
	struct vt_core core;
	struct vt_culprits_totals totals;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL for a listing */
	bool lists;
	uint64_t event; /* that the frequencies rest on */
	/* That the simulator ran, by the input and by the truth; 0: not told. */
	double simulated, true_run;
};

/* The cycles of a run: hardly another program, input or model has as many. */
#define SIMULATED "vsim.cycles"

static int take_culprit_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct job *j = arg;
	int code = vt_cpu_feed(&j->cpu, rec, err);

	if (rec->kind == VT_FREQ)
		j->event = vt_record_u64(rec, VT_FREQ_EVENT);
	vt_meta_f64(rec, SIMULATED, &j->simulated);
	/* Causes that another stage found are replaced. */
	if (code == 0 && j->writer && rec->kind != VT_STALL)
		vt_writer_copy(j->writer, rec);
	return code < 0 || !j->writer ? code : vt_writer_error(j->writer, err);
}

static int take_truth(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct job *j = arg;

	for (; rec.row - first < count; rec.row++)
		vt_meta_f64(&rec, SIMULATED, &j->true_run);
	return vt_freqprofile_feed(j->truth, block, first, count, err);
}

/* The stalls that vculprit writes are estimates. */
static bool is_true(const struct vt_freqprofile *p)
{
	const struct vt_hash *images = vt_freqprofile_images(p);
	size_t n = 0;
	const struct vt_freq_at *f =
		images->count ? vt_freqprofile_freqs(p, *(uint32_t *)vt_hash_at(images, 0), 0,
						     UINT64_MAX, &n)
			      : NULL;

	return n && f->freq->method == VT_METHOD_MODEL;
}

static bool read_truth(struct job *j)
{
	const char *path = j->o->truth;

	if (!path)
		return true;
	j->truth = vt_freqprofile_new();
	if (!j->truth)
		return app_no_memory(j->app);
	if (!app_read_stream(j->app, path, take_truth, j))
		return false;
	if (!app_saw(j->app, VT_STALL))
		return app_lacks(j->app, app_input_name(path),
				 "no stalls (vsim --truth knows them)");
	vt_freqprofile_finish(j->truth);
	return is_true(j->truth) ||
	       app_lacks(j->app, app_input_name(path),
			 "its stalls are estimates, and no truth (vsim --truth knows that)");
}

static bool check_truth(struct job *j)
{
	if (!(j->simulated > 0 && j->true_run > 0) || j->simulated == j->true_run)
		return true;
	app_say(j->app, "%s: the truth of another run than %s: of %.0f cycles, not %.0f",
		app_input_name(j->o->truth), vt_reader_name(j->reader), j->true_run, j->simulated);
	app_raise(j->app, APP_INPUT);
	return false;
}

static bool finish_reading(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!check_truth(j))
		return false;
	vt_freqprofile_finish(j->in.freqs);
	if (vt_profile_finish(j->in.profile, &err) < 0 || vt_blockcode_finish(j->in.code, &err) < 0)
		return app_fail(j->app, &err);
	if (!j->in.freq_images->count && !j->in.estimated)
		return app_lacks(j->app, vt_reader_name(j->reader), APP_NO_FREQS);
	if (!j->in.freq_images->count)
		app_say(j->app, "%s: %s", vt_reader_name(j->reader), APP_NO_ESTIMATES);
	app_profile_tell_doubts(j->app, &j->in, vt_reader_name(j->reader));
	return true;
}

/* What vfreq charged to whom depends on the order in which the machine issues. */
static bool check_order(struct job *j)
{
	struct vt_error ignored = VT_ERROR_INIT;
	struct vt_core estimated;

	if (!j->cpu.chosen || vt_core_load(&estimated, j->cpu.chosen, &ignored) < 0 ||
	    estimated.order == j->core.order)
		return true;
	app_say(j->app,
		"%s: its frequencies are of %s, which issues %s order, as %s does not: run vfreq "
		"with the same --model",
		vt_reader_name(j->reader), estimated.name,
		estimated.order == VT_IN_ORDER ? "in" : "out of", j->core.name);
	app_raise(j->app, APP_INPUT);
	return false;
}

static bool choose_culprit_core(struct job *j)
{
	const char *name = j->o->cpu;
	struct vt_error err = VT_ERROR_INIT;

	if (strcmp(name, "auto") == 0)
		name = j->cpu.chosen ? j->cpu.chosen
				     : vt_core_for_cpu(j->cpu.model, j->cpu.id, j->cpu.description);
	if (!name && j->in.freq_images->count) {
		app_say(j->app, "%s: no model is known for its processor: name one with --model",
			vt_reader_name(j->reader));
		app_raise(j->app, APP_INPUT);
		return false;
	}
	if (vt_core_load(&j->core, name ? name : vt_core_name(0), &err) < 0)
		return app_fail(j->app, &err);
	/* Without one, it only takes longer. */
	j->core.cache = vt_opcache_new();
	return check_order(j);
}

/* Takes a procedure's stalls for the listing. */
static int list_stalls(void *arg, const struct vt_culprits_proc *p, struct vt_error *err)
{
	struct job *j = arg;
	int code = vt_culpritcheck_add(j->check, p, err);

	return code < 0 ? code : vt_culprittop_add(j->list, p, err);
}

static bool find_culprits(struct job *j)
{
	const struct vt_culprits_source src = {
		.core = &j->core,
		.freq = j->in.freqs,
		.profile = j->in.profile,
		.images = j->in.in.images.store,
		.code = j->in.code,
		.ids = j->in.freq_images->count ? vt_hash_at(j->in.freq_images, 0) : NULL,
		.nids = j->in.freq_images->count,
		.event = j->event,
		.threads = (unsigned)j->o->jobs,
	};
	const struct vt_culprits_totals *t = &j->totals;
	const char *name = vt_reader_name(j->reader);
	struct vt_error err = VT_ERROR_INIT;
	int code = j->writer ? vt_culprits_write(&src, j->writer, &j->totals, &err)
			     : vt_culprits_run(&src, list_stalls, j, &j->totals, &err);

	if (code < 0)
		return app_fail(j->app, &err);
	if (t->without_code)
		app_say(j->app, "%s: the code of %" PRIu64 " procedure%s is not there", name,
			t->without_code, t->without_code == 1 ? "" : "s");
	if (t->samples + t->unknown && !(t->cycles > 0))
		app_say(j->app, "%s: no %s", name,
			t->executions > 0
				? "cycles are known, and so no stalls: nothing measures time"
				: "executions are known, and so no stalls: see what vfreq says of "
				  "how to count them");
	if (t->outside)
		app_say(j->app,
			"%s: %" PRIu64 " of %" PRIu64
			" places with frequencies are in no procedure",
			name, t->outside, t->places);
	return true;
}

static void print_stalls(struct job *j)
{
	const struct options *o = j->o;
	struct vt_output *out = app_text(j->app, o->form.output);
	const struct vt_culprittop_options how = {
		.totals = &j->totals,
		.check = j->check,
		.images = j->in.in.images.store,
		.core = j->core.name,
		.losses = &j->app->losses,
		.top = o->top,
		.truth = o->truth != NULL,
		.summary = o->truth && !o->top_given,
		.json = o->form.json,
		.form = app_table_form(&o->form),
		.color = app_form_color(j->app, &o->form),
	};
	struct vt_error err = VT_ERROR_INIT;

	if (out && vt_culprittop_print(j->list, &how, out, &err) < 0)
		app_fail(j->app, &err);
}

static bool start_vculprit(struct job *j)
{
	if (!j->lists)
		app_make_stream(j->app, j->o->form.output);
	if (!app_profile_open_freqs(j->app, &j->in, j->o->symfs) || !read_truth(j))
		return false;
	j->list = vt_culprittop_new();
	j->check = vt_culpritcheck_new(j->truth);
	if (!j->list || !j->check)
		return app_no_memory(j->app);
	vt_context_add(j->in.in.context,
		       &(struct vt_consumer){.record = take_culprit_record, .arg = j});
	j->reader = app_open_reader(j->app, j->app->argc ? j->app->argv[0] : NULL);
	if (j->reader && !j->lists)
		j->writer =
			app_open_writer(j->app, j->o->form.output, j->o->compress, &j->reader, 1);
	return j->reader && (j->writer || j->lists);
}

static void stop(struct job *j)
{
	app_close_writer(j->app, j->writer);
	vt_culprittop_free(j->list);
	vt_culpritcheck_free(j->check);
	vt_freqprofile_free(j->truth);
	app_profile_end(&j->in);
	app_close_reader(j->app, j->reader);
	vt_cpu_fini(&j->cpu);
	vt_opcache_free(j->core.cache);
}

static void run_vculprit(struct app *a, const struct options *o)
{
	struct job j = {
		.app = a, .o = o, .lists = o->top_given || o->truth || app_form_count(&o->form)};

	a->threads = (unsigned)o->jobs - 1;
	if (app_form_count(&o->form) > 1)
		app_usage(a, "--json, --csv and --tsv exclude each other");
	else if (start_vculprit(&j) &&
		 app_each_run(a, j.reader, vt_context_feed, j.in.in.context) &&
		 finish_reading(&j) && choose_culprit_core(&j) && find_culprits(&j) && !j.writer)
		print_stalls(&j);
	stop(&j);
}

int cmd_culprit(int argc, char **argv)
{
	struct options o = {.top = 20, .cpu = "auto", .jobs = vt_ordered_processors()};
	struct app app;
	const struct vt_opt opts[] = {
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N", .given = &o.top_given,
		 .help = "list the N instructions that cost most stall cycles; 0: all"},
		APP_STRING('m', "model", o.cpu, "NAME",
			   "the machine: a name or a file, as in vsim --model; auto (default):\n"
			   "vfreq's, or by what the stream says of its processor"),
		APP_STRING(0, "truth", o.truth, "FILE",
			   "compare with the true causes that vsim --truth wrote"),
		APP_OPT_JOBS(o.jobs),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vculprit",
		.usage = "[options] [FILE]",
		.about = "Finds why instructions stall: adds to a stream with frequencies, for "
			 "each stall, all\ncauses that cannot be ruled out.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run_vculprit(&app, &o);
	return app_finish(&app);
}
