/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "sample/sampler.h"

#define DEFAULT_MEAN 64000 /* instructions: value sampling 2.1 */
#define DEFAULT_TURN 2000  /* executions: value profiling 8.2 */

static const char *const unit_words[] = {"insns",  "loads",  "stores", "branches",
					 "blocks", "cycles", NULL};

struct options {
	uint64_t mean;
	uint64_t burst;
	int unit; /* enum vt_sampler_unit */
	int interval;
	const char *fraction;
	bool mean_given;
	bool burst_given;
	bool unit_given;
	bool interval_given;
	bool per_instruction;
	bool context;
	bool keep;
	const char *output;
	const char *compress;
};

static bool make_options(struct app *a, const struct options *o, struct vt_sampler_options *s)
{
	uint64_t mean = o->mean_given ? o->mean : DEFAULT_MEAN;

	if (o->per_instruction && (o->unit_given || o->interval_given))
		return app_usage(a, "--per-instruction counts the executions of each instruction: "
				    "--event and --interval do not go with it");
	if (o->per_instruction && o->burst_given && !o->burst)
		return app_usage(a, "--per-instruction: bursts of 0 profile nothing");
	*s = (struct vt_sampler_options){
		.unit = (enum vt_sampler_unit)o->unit,
		.interval = vt_interval_make((enum vt_interval_kind)o->interval, mean),
		.burst = o->burst_given ? o->burst : 1,
		.seed = a->seed,
		.per_instruction = o->per_instruction,
		.backoff = o->mean_given ? o->mean : DEFAULT_TURN,
		.follow = o->context,
		.keep = o->keep,
		.warn = app_bad_record,
		.warn_arg = a,
	};
	if (o->per_instruction && !o->burst_given)
		s->burst = DEFAULT_TURN;
	return app_parse_fraction(a, "--fraction", o->fraction, &s->fraction);
}

static bool sample(struct app *a, struct vt_reader *r, struct vt_writer *w,
		   struct vt_sampler_options *o)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_sampler *s;
	bool ok;

	o->context = vt_context_new(NULL);
	s = o->context ? vt_sampler_new(o, w, &err) : NULL;
	ok = s ? app_each_run(a, r, vt_context_feed, o->context) : app_no_memory(a);
	ok = ok && (vt_sampler_finish(s, &err) == 0 || app_fail_stream(a, r, &err));
	vt_sampler_free(s);
	vt_context_free(o->context);
	return ok;
}

static void run_vsample(struct app *a, const struct options *o)
{
	struct vt_sampler_options so;
	struct vt_reader *r;
	struct vt_writer *w;

	app_make_stream(a, o->output);
	if (!make_options(a, o, &so))
		return;
	r = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	w = r ? app_open_writer(a, o->output, o->compress, &r, 1) : NULL;
	if (w) {
		sample(a, r, w, &so);
		app_close_writer(a, w);
	}
	app_close_reader(a, r);
}

int cmd_sample(int argc, char **argv)
{
	struct options o = {.unit = VT_SAMPLER_INSNS};
	struct app app;
	const struct vt_opt opts[] = {
		{'n', "every", VT_OPT_U64, &o.mean, .arg = "N", .min = 1, .max = VT_INTERVAL_MAX,
		 .given = &o.mean_given,
		 .help = "a sample every N events on average (default 64000)"},
		{'e', "event", VT_OPT_CHOICE, &o.unit, .arg = "WHAT", .choices = unit_words,
		 .given = &o.unit_given,
		 .help = "count insns (default), loads, stores, branches, blocks, or cycles"},
		{0, "interval", VT_OPT_CHOICE, &o.interval, .arg = "HOW",
		 .choices = vt_interval_words, .given = &o.interval_given,
		 .help = "uniform (default): in a range of 1/31 of N to either side;\n"
			 "geometric: each event equally likely; fixed"},
		{0, "burst", VT_OPT_U64, &o.burst, .arg = "K", .max = VT_SAMPLER_MAX_BURST,
		 .given = &o.burst_given,
		 .help = "interpret K instructions from each sampled one on (default 1)"},
		{'f', "fraction", VT_OPT_STRING, &o.fraction, .arg = "1/K",
		 .help = "interpret one in K samples, chosen at random"},
		{0, "per-instruction", VT_OPT_FLAG, &o.per_instruction,
		 .help = "instead profile each instruction for K of its executions (2000),\n"
			 "leave it alone for N (2000) or a random number up to a bound\n"
			 "that doubles, and so on"},
		{0, "context", VT_OPT_FLAG, &o.context,
		 .help = "follow calls, to know the caller of what is interpreted"},
		{0, "keep", VT_OPT_FLAG, &o.keep,
		 .help = "keep the records that only re-execution needs"},
		APP_OPT_SEED(app),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vsample",
		.usage = "[-n N] [-e WHAT] [-b K] [-f 1/K] [options] [FILE]",
		.about = "Takes samples from a stream of executed code, each with the values of a "
			 "few\ninstructions, as a processor's counter and an interpreter would.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run_vsample(&app, &o);
	return app_finish(&app);
}
