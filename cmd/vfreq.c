/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "calibrate/clock.h"
#include "cmd/common/app.h"
#include "cmd/common/counts.h"
#include "cmd/common/heap.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/slice.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "culprit/loads.h"
#include "freq/event.h"
#include "freq/run.h"
#include "freq/stack_flow.h"
#include "listing/cycles/estimates.h"
#include "machine/pipeline/core.h"
#include "stream/kinds.h"

static const char *const method_words[] = {"flow", "paper", "naive", NULL};
static const enum vt_method methods[] = {VT_METHOD_FLOW, VT_METHOD_PAPER, VT_METHOD_NAIVE};

struct options {
	const char *event, *cpu, *exact, *symfs, *output, *compress;
	int method;
	double clock; /* GHz */
	bool clock_given, json;
	uint64_t jobs;
	struct app_slice slice;
};

struct state {
	struct app *app;
	const struct options *o;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL: --json */
	struct app_profile in;
	struct app_counts exact;
	struct vt_flowcount_source counted; /* `exact`, as the first source */
	struct vt_hash pids;		    /* of processes that were sampled */
	struct vt_stackcount *stacks;
	struct vt_loads *loads;
	struct vt_count_source sources[2];
	struct vt_cpu cpu;
	struct vt_calibrated_clock calibrated;
	struct vt_core core;
	char *model_path; /* of a description in a file; else NULL */
	struct vt_freqrun_options how;
	struct vt_freqrun_totals totals;
};

/* ---- the input ---- */

static int take_freq_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct state *s = arg;
	int64_t pid = rec->kind == VT_SAMPLE ? vt_record_i64(rec, VT_SAMPLE_PID) : 0;
	int code = vt_cpu_feed(&s->cpu, rec, err);

	vt_calibrated_clock_feed(&s->calibrated, rec);
	if (code >= 0 && pid > 0 && s->o->exact && !vt_hash_add(&s->pids, &pid, NULL))
		return vt_error_nomem(err);

	if (s->writer && !vt_freqrun_replaces(rec))
		vt_writer_copy(s->writer, rec);
	return code < 0 || !s->writer ? code : vt_writer_error(s->writer, err);
}

static bool start_vfreq(struct state *s)
{
	vt_hash_init(&s->pids, sizeof(int64_t), sizeof(int64_t));
	if (!app_profile_open(s->app, &s->in, s->o->symfs))
		return false;
	s->stacks = vt_stackcount_new(s->in.in.context, (unsigned)s->o->jobs);
	s->loads = vt_loads_new(s->in.in.context);
	if (!s->stacks || !s->loads)
		return app_no_memory(s->app);
	vt_context_add(s->in.in.context, &(struct vt_consumer){.record = vt_stackcount_feed,
							       .arg = s->stacks,
							       .kinds = VT_STACKCOUNT_KINDS});
	vt_context_add(s->in.in.context, &(struct vt_consumer){.record = vt_loads_feed,
							       .arg = s->loads,
							       .kinds = VT_LOADS_KINDS});
	vt_context_add(s->in.in.context,
		       &(struct vt_consumer){.record = take_freq_record, .arg = s});
	return true;
}

static bool read_freq_input(struct state *s, struct vt_reader *r)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_run(s->app, r, vt_context_feed, s->in.in.context))
		return false;
	if (vt_profile_finish(s->in.profile, &err) < 0 ||
	    vt_blockcode_finish(s->in.code, &err) < 0 || vt_stackcount_finish(s->stacks, &err) < 0)
		return app_fail(s->app, &err);
	heap_give_back();
	return true;
}

/* ---- the processor ---- */

/* All models are of x86. */
static bool is_foreign(const struct vt_cpu *cpu)
{
	static const char *const x86[] = {"x86_64", "i386", "i486", "i586", "i686"};
	size_t i;

	if (!cpu->arch)
		return false;
	for (i = 0; i < sizeof(x86) / sizeof(x86[0]); i++)
		if (strcmp(cpu->arch, x86[i]) == 0)
			return false;
	return true;
}

static bool choose_freq_core(struct state *s)
{
	const struct vt_cpu *cpu = &s->cpu;
	struct vt_error err = VT_ERROR_INIT;
	const char *name = s->o->cpu;

	if (strcmp(name, "auto") == 0) {
		name = vt_core_for_cpu(cpu->model, cpu->id, cpu->description);
		if (!name && is_foreign(cpu)) {
			app_say(s->app, "%s: no processor of %s is modelled: nothing is estimated",
				vt_reader_name(s->reader), cpu->arch);
			s->how.event = SIZE_MAX;
			s->how.untimed = false;
			name = "skylake";
		} else if (!name) {
			name = "skylake";
			app_say(s->app, "%s: %s: taken for %s; --model chooses another",
				vt_reader_name(s->reader),
				cpu->description && *cpu->description
					? cpu->description
					: "a stream that does not name its processor",
				name);
		}
	}
	if (vt_core_load(&s->core, name, &err) < 0)
		return app_fail(s->app, &err);
	/* Without one, it only takes longer. */
	s->core.cache = vt_opcache_new();
	return true;
}

/* Without samples of time, stacks of an event that tells their unit still count executions. */
static bool choose_stack_event(struct state *s)
{
	const struct vt_stackcount_event *best = vt_stackcount_best(s->stacks, UINT64_MAX);
	size_t i;

	if (s->o->event || !best || !best->counted)
		return false;
	for (i = 0; i < vt_profile_nevents(s->in.profile); i++)
		if (vt_profile_event(s->in.profile, i)->kind == VT_PROFILE_EVENT &&
		    vt_profile_event(s->in.profile, i)->id == best->id) {
			s->how.event = i;
			return true;
		}
	return false;
}

/* Samples in a second of an event that counts nanoseconds. */
static double get_rate(const struct vt_profile_event *e)
{
	return e->period ? 1e9 * (double)e->samples / (double)e->period : 0;
}

static bool choose_freq_event(struct state *s)
{
	struct vt_freqrun_options *how = &s->how;
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_stackcount_event *stacks;
	const struct vt_profile_event *e;

	if (s->o->event && !app_need_samples(s->app, vt_reader_name(s->reader)))
		return false;
	how->scale = 1;
	if (vt_freqrun_event(s->in.profile, s->o->event, &how->event, &err) < 0 &&
	    !choose_stack_event(s)) {
		/* An empty profile is one, too. */
		if (s->o->event || !app_saw_no_sample(s->app))
			return app_fail_stream(s->app, s->reader, &err);
		app_say(s->app, "%s: no samples: nothing is estimated", vt_reader_name(s->reader));
		how->event = SIZE_MAX;
		return true;
	}
	e = vt_profile_event(s->in.profile, how->event);
	stacks = vt_stackcount_event(s->stacks, e->id);
	how->untimed = stacks && stacks->counted;
	how->clock = vt_freqrun_scale(e, s->o->clock,
				      vt_calibrated_clock_at(&s->calibrated, get_rate(e)),
				      s->cpu.description, &how->scale);
	how->fit_clock = how->clock && !s->o->clock_given;
	return true;
}

/*
 * The same process does not run twice.  Sums of recordings have no processes: they are of other
 * runs, too.  Without a process where counts come from, nothing tells.
 */
static bool is_other_run(const struct state *s)
{
	size_t i;

	for (i = 0; i < s->pids.count; i++)
		if (vt_flowcount_ran(s->exact.counts, *(int64_t *)vt_hash_at(&s->pids, i)))
			return false;
	return vt_flowcount_ran_any(s->exact.counts);
}

static void report_partial(struct state *s)
{
	uint64_t id;
	size_t i, n = vt_profile_nevents(s->in.profile);

	if (!vt_stackcount_partial(s->stacks, &id))
		return;
	for (i = 0; i < n && vt_profile_event(s->in.profile, i)->id != id; i++)
		continue;
	app_say(s->app,
		"the branch stacks of %s lack branches, by a filter, and count nothing: perf "
		"record -j any,u keeps all",
		i < n ? vt_profile_event(s->in.profile, i)->name : "an event");
}

static bool check_method(struct state *s)
{
	if (s->how.untimed && methods[s->o->method] != VT_METHOD_FLOW)
		return app_usage(s->app, "--method %s: needs samples of time, not of %s",
				 method_words[s->o->method],
				 vt_profile_event(s->in.profile, s->how.event)->name);
	if (s->core.order == VT_IN_ORDER || methods[s->o->method] == VT_METHOD_FLOW)
		return true;
	return app_usage(s->app, "--method %s: only for processors that issue in order, not %s",
			 method_words[s->o->method], s->core.name);
}

static void say_text(struct state *s, struct vt_buf *text)
{
	if (text->size)
		app_say(s->app, "%s", vt_buf_str(text));
	vt_buf_free(text);
}

static void report_clock(struct state *s, const struct vt_freqrun_totals *t)
{
	const char *event = vt_profile_event(s->in.profile, s->how.event)->name;

	if (strcmp(t->clock, "fitted") == 0)
		app_say(s->app,
			"%s counts nanoseconds; the effective clock is %.2f GHz, fitted to %zu "
			"loops that nothing stalls",
			event, t->scale, t->loops);
	else if (strcmp(t->clock, "calibrated") == 0)
		app_say(s->app,
			"%s counts nanoseconds; the effective clock is %.2f GHz by the "
			"recording's calibration",
			event, t->scale);
	else if (strcmp(t->clock, "assumed") == 0)
		app_say(s->app,
			"%s counts nanoseconds, and the stream does not have the processor's "
			"clock: assuming 1 GHz; set it with --clock",
			event);
}

/* What the reader of the estimates has to know. */
static void report_vfreq(struct state *s)
{
	struct vt_buf uncounted = VT_BUF_INIT, left_out = VT_BUF_INIT, other = VT_BUF_INIT;
	struct vt_buf calls = VT_BUF_INIT;
	const struct vt_freqrun_totals *t = &s->totals;
	bool estimated = t->samples > t->by_confidence[VT_CONFIDENCE_NONE] + t->unmapped +
					      t->outside + t->no_code + t->stray;

	if (estimated && t->clock)
		report_clock(s, t);
	vt_freqrun_uncounted(&s->how, t, &uncounted);
	say_text(s, &uncounted);
	vt_freqrun_left_out(&s->how, t, &left_out);
	say_text(s, &left_out);
	if (s->o->exact)
		app_counts_tell_missing(s->app, &s->exact, app_input_name(s->o->exact), &s->in,
					s->how.event);
	vt_freqrun_other_run(&s->how, t, &other);
	say_text(s, &other);
	vt_freqrun_disagreeing(t, &calls);
	say_text(s, &calls);
}

static bool estimate(struct state *s)
{
	struct vt_freqrun_options *how = &s->how;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out;

	how->profile = s->in.profile;
	how->images = s->in.in.images.store;
	how->code = s->in.code;
	how->core = &s->core;
	/* vculprit may run elsewhere. */
	if (strchr(s->o->cpu, '/'))
		s->model_path = realpath(s->o->cpu, NULL);
	how->model = s->model_path ? s->model_path : s->core.name;
	how->method = methods[s->o->method];
	how->other_run = s->o->exact && is_other_run(s);
	/* A clock that is known tells the factor of another run's counts. */
	if (how->other_run && how->clock && strcmp(how->clock, "calibrated") == 0)
		how->fit_clock = false;
	how->threads = (unsigned)s->o->jobs;
	s->counted = (struct vt_flowcount_source){s->exact.counts, s->exact.in.images.store};
	s->sources[0] = (struct vt_count_source){vt_flowcount_count, NULL, &s->counted};
	s->sources[1] = (struct vt_count_source){vt_stackflow_count, vt_stackflow_place, s->stacks};
	how->sources = s->sources;
	how->stacks = s->stacks;
	how->nsources = sizeof(s->sources) / sizeof(s->sources[0]);
	if (vt_freqrun(how, s->writer, &s->totals, &err) < 0)
		return app_fail(s->app, &err);
	if (s->writer)
		vt_loads_write(s->loads, s->writer);
	report_vfreq(s);
	report_partial(s);
	out = s->o->json ? app_text(s->app, s->o->output) : NULL;
	if (out)
		vt_freqrun_print(how, &s->totals, &s->app->losses, out);
	return out || !s->o->json;
}

static void state_fini(struct state *s)
{
	vt_cpu_fini(&s->cpu);
	app_profile_end(&s->in);
	app_counts_end(&s->exact);
	vt_stackcount_free(s->stacks);
	vt_loads_free(s->loads);
	vt_hash_fini(&s->pids);
	free(s->model_path);
}

static void run_vfreq(struct app *a, const struct options *o)
{
	struct state s = {.app = a, .o = o};
	struct vt_reader *r;

	a->threads = (unsigned)o->jobs - 1;
	if (!o->json)
		app_make_stream(a, o->output);
	if (o->clock_given && !(o->clock >= 0.001 && o->clock <= 1000)) {
		app_usage(a, "--clock: a frequency in GHz, from 0.001 to 1000");
		return;
	}
	if (o->exact)
		app_note_input(a, o->exact);
	r = s.reader = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	if (r && !o->json)
		s.writer = app_open_writer(a, o->output, o->compress, &r, 1);
	if (r && (s.writer || o->json) && start_vfreq(&s) && read_freq_input(&s, r) &&
	    choose_freq_event(&s) &&
	    (!o->exact || app_counts_read(a, &s.exact, o->exact, o->symfs)) &&
	    choose_freq_core(&s) && check_method(&s))
		estimate(&s);
	if (s.writer)
		app_close_writer(a, s.writer);
	app_close_reader(a, r);
	vt_opcache_free(s.core.cache);
	state_fini(&s);
}

int cmd_freq(int argc, char **argv)
{
	struct options o = {.cpu = "auto", .jobs = vt_ordered_processors()};
	struct app app;
	const struct vt_opt opts[] = {
		{'e', "event", VT_OPT_STRING, &o.event, .arg = "NAME",
		 .help = "the event that measures time (default: cycles, cpu-clock, …)"},
		{'m', "model", VT_OPT_STRING, &o.cpu, .arg = "NAME",
		 .help = "the processor's model, or the FILE that describes it, with a '/' in its\n"
			 "name (default: auto, by what the stream says)"},
		{0, "method", VT_OPT_CHOICE, &o.method, .arg = "HOW", .choices = method_words,
		 .help = "flow (default): the likeliest frequencies that add up; paper: clusters\n"
			 "of ratios and local propagation; naive: each instruction on its own"},
		{'x', "exact", VT_OPT_STRING, &o.exact, .arg = "FILE",
		 .help = "take counts from FILE, a recording of the same program, where it has "
			 "them"},
		{0, "clock", VT_OPT_F64, &o.clock, .given = &o.clock_given, .arg = "GHZ",
		 .help = "the processor's clock, for events that count nanoseconds"},
		{0, "json", VT_OPT_FLAG, &o.json,
		 .help = "print what came of the samples as JSON, instead of the stream"},
		APP_OPT_JOBS(o.jobs),
		APP_OPT_SLICE(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vfreq",
		.usage = "[-m NAME] [--method HOW] [options] [FILE]",
		.about =
			"Joins samples of time with counts of executions, and tells how long each\n"
			"execution took. On processors that issue in order, the executions follow\n"
			"from the samples as well.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &o.slice, o.symfs))
		run_vfreq(&app, &o);
	app_slice_end(&o.slice);
	return app_finish(&app);
}
