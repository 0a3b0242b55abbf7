/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "simulate/simulate.h"

#define DEFAULT_MODEL "alpha21164"

/* DCPI 4.1.1: between 60K and 64K cycles. */
#define DEFAULT_PERIOD 62000

/* As long as those of processors in 1997: 8 to 12. */
#define DEFAULT_HISTORY 12

struct options {
	const char *model;
	struct vt_opt_list samples;
	int interval;
	uint64_t stack;
	uint64_t profileme; /* 0: none */
	uint64_t pairs;
	uint64_t ways;
	int minor; /* -1: not given */
	uint64_t history;
	bool history_given;
	bool misses;
	const char *truth;
	const char *symfs;
	const char *output;
	const char *compress;
};

/* ---- the command line ---- */

static bool find_kind(struct app *a, const char *text, size_t size, enum vt_simulate_kind *kind)
{
	unsigned i;

	for (i = 0; i < VT_NSIMULATE; i++) {
		const char *name = vt_simulate_name((enum vt_simulate_kind)i);

		if (strlen(name) == size && memcmp(name, text, size) == 0) {
			*kind = (enum vt_simulate_kind)i;
			return true;
		}
	}
	return app_usage(a, "--sample: '%s': no such event: see vsim(1)", text);
}

/* "EVENT" or "EVENT:PERIOD". */
static bool parse_event(struct app *a, const char *text, int interval, struct vt_simulate_event *e)
{
	struct vt_error err = VT_ERROR_INIT;
	const char *colon = strchr(text, ':');
	uint64_t period = DEFAULT_PERIOD;

	if (!find_kind(a, text, colon ? (size_t)(colon - text) : strlen(text), &e->kind))
		return false;
	if (colon && vt_parse_u64(colon + 1, "--sample", &period, &err) < 0)
		return app_fail(a, &err);
	if (period < 1 || period > VT_INTERVAL_MAX)
		return app_usage(a, "--sample: '%s': a period of 1 to 2^48", text);
	e->interval = vt_interval_make((enum vt_interval_kind)interval, period);
	return true;
}

static bool parse_events(struct app *a, const struct options *o, struct vt_simulate_event *events,
			 size_t *count)
{
	size_t i, k;

	*count = 0;
	if (!o->samples.count && (o->profileme || o->misses))
		return true;
	if (!o->samples.count) {
		*count = 1;
		return parse_event(a, "cycles", o->interval, events);
	}
	if (o->samples.count > VT_SIMULATE_EVENTS)
		return app_usage(a, "--sample: at most %d", VT_SIMULATE_EVENTS);
	for (i = 0; i < o->samples.count; i++) {
		if (!parse_event(a, o->samples.items[i], o->interval, &events[i]))
			return false;
		for (k = 0; k < i; k++)
			if (events[k].kind == events[i].kind)
				return app_usage(a, "--sample: %s twice",
						 vt_simulate_name(events[i].kind));
	}
	*count = i;
	return true;
}

static const char *const minor_words[] = {"uniform", "weighted", NULL};

static bool check_profileme(struct app *a, const struct options *o,
			    struct vt_simulate_profileme *pm)
{
	uint64_t ways = o->ways ? o->ways : o->pairs ? 2 : 1;

	if (!o->profileme)
		return (!o->pairs && !o->ways && !o->history_given && o->minor < 0) ||
		       app_usage(a, "--pairs, --ways, --minor, --history: of --profileme");
	if (o->profileme > VT_INTERVAL_MAX)
		return app_usage(a, "--profileme: a period of 1 to 2^48");
	if (ways > VT_SIMULATE_WAYS)
		return app_usage(a, "--ways: at most %d", VT_SIMULATE_WAYS);
	if (ways > 1 && !o->pairs)
		return app_usage(a, "--ways: needs --pairs");
	if (ways > 1 && o->pairs > (o->profileme - 1) / (ways - 1))
		return app_usage(a,
				 "--pairs: groups of %" PRIu64 " within %" PRIu64
				 " are longer than the period",
				 ways, o->pairs);
	if (o->history > 64)
		return app_usage(a, "--history: at most 64");
	*pm = (struct vt_simulate_profileme){
		.interval = vt_interval_make((enum vt_interval_kind)o->interval, o->profileme),
		.ways = (uint32_t)ways,
		.window = ways > 1 ? o->pairs : 0,
		.weighted = o->minor > 0,
		.history = (uint32_t)o->history,
	};
	return true;
}

/* ---- the work ---- */

/* What the recording lacks, so that nobody takes it for the machine's doing. */
static void report_vsim(struct app *a, const struct vt_simulate_totals *t)
{
	if (t->loads && !t->addressed)
		app_say(a, "the recording has no addresses of loads and stores (vtrace record "
			   "--full --mem): all of them hit");
	else if (t->loads - t->addressed > t->loads / 10)
		app_say(a,
			"of %" PRIu64 " instructions that load or store, %" PRIu64
			" have no address: they hit",
			t->loads, t->loads - t->addressed);
	if (t->undecoded)
		app_say(a, "%" PRIu64 " executed instructions could not be decoded", t->undecoded);
}

static bool simulate(struct app *a, struct vt_reader *r, struct vt_writer *w,
		     const struct vt_simulate_options *o)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_simulate *s = vt_simulate_new(o, w, &err);
	bool ok;

	if (!s)
		return app_fail(a, &err);
	ok = app_each_run(a, r, vt_context_feed, o->context);
	ok = ok && (vt_simulate_finish(s, &err) == 0 || app_fail_stream(a, r, &err));
	if (ok)
		report_vsim(a, vt_simulate_totals(s));
	vt_simulate_free(s);
	return ok;
}

static void run_vsim_on(struct app *a, const struct options *o, struct vt_simulate_options *so)
{
	struct vt_reader *r = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	struct vt_writer *w = r ? app_open_writer(a, o->output, o->compress, &r, 1) : NULL;

	if (w && o->truth)
		so->truth = app_open_writer(a, o->truth, o->compress, &r, 1);
	if (w && (so->truth || !o->truth))
		simulate(a, r, w, so);
	if (so->truth)
		app_close_writer(a, so->truth);
	if (w)
		app_close_writer(a, w);
	app_close_reader(a, r);
}

static void run_vsim(struct app *a, const struct options *o)
{
	struct vt_simulate_event events[VT_SIMULATE_EVENTS];
	struct vt_simulate_options so = {
		.events = events, .seed = a->seed, .warn = app_bad_record, .warn_arg = a};
	struct app_images images = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core core;

	app_make_stream(a, o->output);
	if (!parse_events(a, o, events, &so.nevents) || !check_profileme(a, o, &so.profileme))
		return;
	if (o->stack > VT_SIMULATE_STACK) {
		app_usage(a, "--branches: at most %d", VT_SIMULATE_STACK);
		return;
	}
	so.stack = (uint32_t)o->stack;
	if (vt_core_load(&core, o->model ? o->model : DEFAULT_MODEL, &err) < 0) {
		app_fail(a, &err);
		return;
	}
	so.core = &core;
	so.misses = o->misses;
	if (so.misses && !core.dcache.size) {
		app_usage(a, "--misses: %s has no data cache", core.name);
		return;
	}
	/* Only such machines go wrong paths. */
	if (core.order != VT_OUT_OF_ORDER || app_images_open(a, &images, o->symfs)) {
		so.context = vt_context_new(images.store);
		if (so.context)
			run_vsim_on(a, o, &so);
		else
			app_no_memory(a);
	}
	vt_context_free(so.context);
	app_images_close(&images);
}

int cmd_sim(int argc, char **argv)
{
	struct options o = {
		.interval = VT_INTERVAL_UNIFORM, .minor = -1, .history = DEFAULT_HISTORY};
	struct app app;
	const struct vt_opt opts[] = {
		{'m', "model", VT_OPT_STRING, &o.model, .arg = "NAME",
		 .help = "the machine: alpha21164 (default), skylake ..., or a description's\n"
			 "./FILE: vt-core(5)"},
		{'S', "sample", VT_OPT_LIST, &o.samples, .arg = "EVENT[:N]",
		 .help = "a sample every N events on average (62000): cycles (default),\n"
			 "imiss, dmiss, dref, itbmiss, dtbmiss, branchmp, l2miss, wbfull, "
			 "retired,\n"
			 "taken; may be repeated"},
		{0, "interval", VT_OPT_CHOICE, &o.interval, .arg = "HOW",
		 .choices = vt_interval_words,
		 .help = "uniform (default): in a range of 1/31 of N to either side;\n"
			 "geometric: each event equally likely; fixed"},
		{0, "branches", VT_OPT_U64, &o.stack, .arg = "N",
		 .help = "give each sample a stack of the N branches taken last, up to 32"},
		{0, "profileme", VT_OPT_U64, &o.profileme, .arg = "N", .min = 1,
		 .help = "follow an instruction every N fetched ones on average: its stages,\n"
			 "misses and path; without -S, take no other samples"},
		{0, "pairs", VT_OPT_U64, &o.pairs, .arg = "W",
		 .help = "follow another one as well, 1 to W instructions later"},
		{0, "ways", VT_OPT_U64, &o.ways, .arg = "K",
		 .help = "groups of K instructions instead of pairs, up to 16"},
		{0, "minor", VT_OPT_CHOICE, &o.minor, .arg = "HOW", .choices = minor_words,
		 .help = "distances in a pair: uniform (default), or weighted: short ones more\n"
			 "often"},
		{0, "history", VT_OPT_U64, &o.history, .arg = "N", .given = &o.history_given,
		 .help = "the directions of the N branches before it, up to 64 (default 12)"},
		APP_FLAG(0, "misses", o.misses,
			 "a sample of every miss of the first data cache, and all that was "
			 "executed;\n"
			 "without -S, take no other samples"),
		{'t', "truth", VT_OPT_STRING, &o.truth, .arg = "FILE", .unrecorded = true,
		 .help = "write a second stream: exact executions, cycles and stalls"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_SEED(app),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vsim",
		.usage = "[-m NAME] [-S EVENT:N] [-t FILE] [options] [FILE]",
		.about = "Runs a recording of executed code on a modelled processor, and takes the "
			 "samples\nthat its counters would have taken.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run_vsim(&app, &o);
	vt_opt_list_fini(&o.samples);
	return app_finish(&app);
}
