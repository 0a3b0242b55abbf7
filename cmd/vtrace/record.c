/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/app.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "cmd/record/bpf.h"
#include "cmd/record/calibrate.h"
#include "cmd/record/command.h"
#include "cmd/record/full.h"
#include "cmd/record/perf.h"
#include "cmd/record/values.h"
#include "stream/header.h"

/* What a sample's size field holds. */
#define MAX_STACK 65528

struct record {
	struct app *app;
	struct perf_options perf;
	struct full_options full;
	struct values_options values;
	bool dry_run;
	bool calibrate;
	bool json;
	const char *calibration; /* a file */
};

/* The first option given that is for perf, or NULL. */
static const char *is_perf_record_option_given(const struct record *r)
{
	return r->perf.regs	      ? "--regs"
	       : r->perf.chains_given ? "--call-graph"
	       : r->perf.stack_given  ? "--stack"
	       : r->perf.branch	      ? "--branch"
	       : r->perf.pt	      ? "--pt"
	       : r->perf.events.count ? "--event"
	       : r->perf.frequency    ? "--freq"
	       : r->perf.period	      ? "--period"
	       : r->perf.all_cpus     ? "--all-cpus"
	       : r->perf.pid	      ? "--pid"
	       : r->perf.pack	      ? "--pack"
	       : r->calibration	      ? "--calibration"
				      : NULL;
}

/* Whether what is asked for is about this machine, and runs no program. */
static bool is_calibrating(const struct record *r)
{
	return r->calibrate ||
	       (r->calibration && !r->app->argc && !r->perf.pid && !r->perf.all_cpus);
}

static bool check_calibrate(struct record *r)
{
	const char *calibration = r->calibration, *other;

	if (!r->calibrate)
		r->calibration = NULL;
	other = is_perf_record_option_given(r);
	r->calibration = calibration;
	if (!other)
		other = r->full.full ? "--full" : full_option_given(&r->full);
	if (!other)
		other = r->dry_run ? "--dry-run" : NULL;
	if (!other && !r->calibrate)
		other = r->perf.output ? "--output" : r->perf.compress ? "--compress" : NULL;
	if (other)
		return app_usage(r->app, "%s: not with %s", other,
				 r->calibrate ? "--calibrate" : "--calibration alone");
	if (r->app->argc)
		return app_usage(r->app, "--calibrate: runs no program but its own");
	if (r->perf.output && strcmp(r->perf.output, "-") == 0)
		return app_usage(r->app, "--output: standard output has the text");
	return true;
}

/* What must not be found out only when the program has ended. */
static bool check_values_limits(struct record *r)
{
	const char *output = r->perf.output;

	if (r->perf.frequency > VALUES_RATE_MAX)
		return app_usage(r->app, "--freq: at most %d with --sample-values",
				 VALUES_RATE_MAX);
	if (r->perf.period && r->perf.period < VALUES_PERIOD_MIN)
		return app_usage(r->app, "--period: at least %d with --sample-values",
				 VALUES_PERIOD_MIN);
	if (r->app->argc > VT_MAX_ARGS - VALUES_OWN_ARGS)
		return app_usage(r->app, "more than %d arguments", VT_MAX_ARGS - VALUES_OWN_ARGS);
	if (output && !*output)
		return app_usage(r->app, "--output: a name is wanted");
	if (output && strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
		return app_usage(r->app, "standard output is a terminal");
	return true;
}

/* The options of perf that it understands, too. */
static bool check_values(struct record *r)
{
	struct perf_options others = r->perf;
	struct record rest = {.perf = others, .calibration = r->calibration};
	const char *other;

	rest.perf.frequency = rest.perf.period = 0;
	rest.perf.pack = false;
	rest.perf.all_cpus = false;
	rest.perf.pid = 0;
	other = is_perf_record_option_given(&rest);
	if (!other)
		other = r->full.full ? "--full" : full_option_given(&r->full);
	if (!other)
		other = r->dry_run ? "--dry-run" : NULL;
	if (!other && !r->values.bpf && (r->perf.all_cpus || r->perf.pid))
		return app_usage(r->app, "%s: with --sample-values it needs --bpf",
				 r->perf.pid ? "--pid" : "--all-cpus");
	if (other)
		return app_usage(r->app, "%s: not with --sample-values", other);
	if (r->perf.frequency && r->perf.period)
		return app_usage(r->app, "--freq and --period exclude each other");
	if (r->values.bpf && (r->values.steps || r->values.fraction || r->values.latency))
		return app_usage(r->app, "%s: not with --bpf",
				 r->values.steps      ? "--steps"
				 : r->values.fraction ? "--frequency"
						      : "--latency");
	if (r->values.steps && r->values.latency)
		return app_usage(r->app, "--latency: not with --steps");
	if (r->values.distance_given && !r->values.latency)
		return app_usage(r->app, "--distance: goes with --latency");
	if (r->perf.all_cpus && r->perf.pid)
		return app_usage(r->app, "--all-cpus and --pid exclude each other: the whole "
					 "machine, or one process");
	if (!r->app->argc && !r->perf.all_cpus && !r->perf.pid)
		return app_usage(r->app, "which program?");
	if (!check_values_limits(r))
		return false;
	if (!app_parse_fraction(r->app, "--frequency", r->values.fraction, &r->values.one_in))
		return false;
	if (!r->values.insns_given)
		r->values.insns = VALUES_INSNS;
	if (!r->values.distance_given)
		r->values.distance = LOADS_DISTANCE;
	r->values.all_cpus = r->perf.all_cpus;
	r->values.pid = r->perf.pid;
	r->values.frequency = r->perf.frequency ? r->perf.frequency : VALUES_FREQUENCY;
	r->values.period = r->perf.period;
	r->values.pack = r->perf.pack;
	r->values.output = r->perf.output;
	r->values.compress = r->perf.compress;
	return true;
}

static bool check_full(struct record *r)
{
	const char *other = is_perf_record_option_given(r);

	if (other)
		return app_usage(r->app, "%s: not with --full", other);
	if (r->full.blocks && r->full.values_given)
		return app_usage(r->app, "--blocks and --values exclude each other");
	if (r->full.alloc && !full_alloc_valid(r->full.alloc))
		return app_usage(r->app,
				 "--alloc: %s: up to 32 of NAME, NAME/N or NAME/-N, N from 1 to 3",
				 r->full.alloc);
	if (!r->app->argc)
		return app_usage(r->app, "which program?");
	return true;
}

/* perf takes -g and, after a blank, --call-graph HOW: here HOW would be the program. */
static bool check_detached_word(struct app *a)
{
	size_t i, n;

	for (i = 0; a->argc && perf_chain_words[i]; i++) {
		n = strlen(perf_chain_words[i]);
		if (strncmp(a->argv[0], perf_chain_words[i], n) == 0 &&
		    (!a->argv[0][n] || a->argv[0][n] == ',') && find_program(a->argv[0]))
			return app_usage(a, "there is no program %s: is it --call-graph=%s?",
					 a->argv[0], perf_chain_words[i]);
	}
	return true;
}

/* An option of --sample-values, or NULL. */
static const char *value_option_given(const struct values_options *o)
{
	return o->steps		   ? "--steps"
	       : o->bpf		   ? "--bpf"
	       : o->fraction	   ? "--frequency"
	       : o->latency	   ? "--latency"
	       : o->distance_given ? "--distance"
	       : o->insns_given	   ? "--insns"
				   : NULL;
}

static bool check_record_options(struct record *r)
{
	const char *other = full_option_given(&r->full);

	if (is_calibrating(r))
		return check_calibrate(r);
	if (r->json)
		return app_usage(r->app, "--json: goes with --calibrate");
	if (r->values.on)
		return check_values(r);
	if (value_option_given(&r->values))
		return app_usage(r->app, "%s: goes with --sample-values",
				 value_option_given(&r->values));
	if (r->full.full)
		return check_full(r);
	if (other)
		return app_usage(r->app, "%s: goes with --full", other);
	if (r->perf.frequency && r->perf.period)
		return app_usage(r->app, "--freq and --period exclude each other");
	if (r->perf.all_cpus && r->perf.pid)
		return app_usage(r->app, "--all-cpus and --pid exclude each other: the whole "
					 "machine, or one process");
	if (r->perf.chains_given && !check_detached_word(r->app))
		return false;
	if (!r->app->argc && !r->perf.pid && !r->perf.all_cpus)
		return app_usage(r->app, "which program? or --pid, or --all-cpus");
	if (r->perf.stack % 8)
		return app_usage(r->app, "--stack: %" PRIu64 " is no multiple of 8", r->perf.stack);
	if (r->perf.compress && !perf_makes_stream(&r->perf))
		return app_usage(r->app, "--compress: goes with an output named *.vt");
	if (r->perf.pack && !perf_makes_stream(&r->perf))
		return app_usage(r->app, "--pack: goes with an output named *.vt");
	if (r->calibration && !perf_makes_stream(&r->perf))
		return app_usage(r->app, "--calibration: goes with an output named *.vt");
	if (r->calibration && r->perf.events.count)
		return app_usage(r->app, "--calibration: is of time, not of --event");
	if (r->perf.output && strcmp(r->perf.output, "-") == 0 && isatty(STDOUT_FILENO))
		return app_usage(r->app, "standard output is a terminal");
	if (r->perf.chains_given && r->perf.chains == CHAINS_DWARF && r->perf.stack_given &&
	    !r->perf.stack)
		return app_usage(r->app, "--call-graph=dwarf needs a stack");
	if (r->perf.chains_given && r->perf.chains != CHAINS_DWARF &&
	    (r->perf.stack || (r->perf.regs && !r->perf.stack_given)))
		return app_usage(r->app,
				 "--call-graph=%s: not with copies of the stack (--stack 0)",
				 perf_chain_words[r->perf.chains]);
	if (!r->perf.stack_given &&
	    (r->perf.regs || (r->perf.chains_given && r->perf.chains == CHAINS_DWARF)))
		r->perf.stack = PERF_STACK;
	return true;
}

static void calibrate(struct record *r)
{
	struct vt_calibration c;

	if (r->calibrate)
		record_calibrate(r->app, r->json, r->perf.output, r->perf.compress);
	else if (calibration_load(r->app, r->calibration, &c))
		calibration_show(r->app, &c, r->json);
}

static int record_calibrated(struct record *r)
{
	struct vt_calibration c;

	if (!calibration_load_ours(r->app, r->calibration, &c))
		return 0;
	r->perf.calibration = &c;
	return record_perf(r->app, &r->perf, r->dry_run);
}

static int record(struct record *r)
{
	if (is_calibrating(r)) {
		calibrate(r);
		return 0;
	}
	if (r->values.on)
		return r->values.bpf ? record_bpf(r->app, &r->values)
				     : record_values(r->app, &r->values);
	if (r->full.full && r->dry_run) {
		valgrind_print(r->app, &r->full);
		return 0;
	}
	if (r->full.full)
		return record_full(r->app, &r->full, r->perf.output, r->perf.compress);
	return r->calibration ? record_calibrated(r) : record_perf(r->app, &r->perf, r->dry_run);
}

static const char usage[] =
	"[options] [--] PROGRAM [ARGUMENT]...\n[options] -p PID | -a\n"
	"--sample-values [options] [--] PROGRAM [ARGUMENT]...\n"
	"--sample-values --bpf [options] [-p PID | -a] [[--] PROGRAM [ARGUMENT]...]\n"
	"--full [options] [--] PROGRAM [ARGUMENT]...\n--calibrate [--json] [-o FILE]\n"
	"--calibration FILE [--json]";

static const char notes[] =
	"The exit status is that of the program, except that 3 also means that perf or\n"
	"valgrind could not be run.";

int cmd_record(int argc, char **argv)
{
	struct app app;
	struct record r = {.app = &app, .full = {.values = FULL_LOADS}};
	const struct vt_opt opts[] = {
		{'r', "regs", VT_OPT_FLAG, &r.perf.regs,
		 .help = "registers and stack with each sample"},
		{'g', "call-graph", VT_OPT_CHOICE_OR_NOT, &r.perf.chains, .arg = "HOW",
		 .choices = perf_chain_words, .given = &r.perf.chains_given,
		 .other_choice = "bytes of stack: --stack BYTES",
		 .help = "the callers of each sample: dwarf (default), from a copy of the\n"
			 "stack; fp, from frame pointers; lbr, from branch records"},
		{0, "stack", VT_OPT_U64, &r.perf.stack, .arg = "BYTES", .max = MAX_STACK,
		 .given = &r.perf.stack_given,
		 .help = "bytes of stack (with -g and --regs 8192; 0: none)"},
		{'b', "branch", VT_OPT_FLAG, &r.perf.branch,
		 .help = "branch stacks, where there are any: besides time, of taken branches or\n"
			 "instructions"},
		{0, "pt", VT_OPT_FLAG, &r.perf.pt, .help = "an Intel PT trace, where there is one"},
		{'e', "event", VT_OPT_LIST, &r.perf.events, .arg = "EVENT",
		 .help = "sample this perf event, not time; may be repeated"},
		{'F', "freq", VT_OPT_U64, &r.perf.frequency, .arg = "HZ", .min = 1,
		 .help = "samples in a second, by a period that varies"},
		{'c', "period", VT_OPT_U64, &r.perf.period, .arg = "N", .min = 1,
		 .help = "one sample for N events (" PERF_PERIOD "; --sample-values: by -F 1000)"},
		{'a', "all-cpus", VT_OPT_FLAG, &r.perf.all_cpus, .help = "the whole machine"},
		{'p', "pid", VT_OPT_U64, &r.perf.pid, .arg = "PID", .min = 1, .max = INT_MAX,
		 .help = "a process that runs already"},
		{0, "dry-run", VT_OPT_FLAG, &r.dry_run,
		 .help = "only print the command line of perf or valgrind"},
		{'o', "output", VT_OPT_STRING, &r.perf.output, .arg = "FILE", .unrecorded = true,
		 .help = "not perf.data, or vtrace.vt; a stream if its name ends in .vt"},
		APP_OPT_COMPRESS(r.perf.compress),
		{0, "pack", VT_OPT_FLAG, &r.perf.pack,
		 .help = "add names, lines and code to the stream: vtrace pack"},
		{0, "calibrate", VT_OPT_FLAG, &r.calibrate,
		 .help = "no program: say what samples on this machine can be believed for"},
		{0, "json", VT_OPT_FLAG, &r.json, .help = "that, as one JSON object"},
		{0, "calibration", VT_OPT_STRING, &r.calibration, .arg = "FILE",
		 .help = "keep what it wrote to FILE in the stream; alone, print it"},
		VALUES_OPTIONS(r.values),
		{0, "full", VT_OPT_FLAG, &r.full.full,
		 .help = "record all that is executed, under valgrind; with it:"},
		{0, "values", VT_OPT_CHOICE, &r.full.values, .arg = "WHICH",
		 .choices = full_value_words, .given = &r.full.values_given,
		 .help = "none, loads (default), stores (too), all (results, too)"},
		{0, "blocks", VT_OPT_FLAG, &r.full.blocks, .help = "as --values none"},
		{0, "mem", VT_OPT_FLAG, &r.full.mem, .help = "addresses, and the kernel's writes"},
		{0, "args", VT_OPT_FLAG, &r.full.args,
		 .help = "registers that pass arguments, at calls"},
		{0, "heap", VT_OPT_FLAG, &r.full.heap, .help = "calls that allocate or free"},
		{0, "alloc", VT_OPT_STRING, &r.full.alloc, .arg = "NAME[/N],...",
		 .help = "of these functions, too; the size is argument N, or -N is freed"},
		{0, "follow", VT_OPT_FLAG, &r.full.follow,
		 .help = "processes that it forks, and programs run by exec"},
		{0, "skip", VT_OPT_U64, &r.full.skip, .arg = "N", .given = &r.full.skip_given,
		 .help = "leave out the first N instructions"},
		{0, "count", VT_OPT_U64, &r.full.count, .arg = "N", .min = 1,
		 .help = "then record N instructions"},
		{0, "toggle", VT_OPT_STRING, &r.full.toggle, .arg = "FUNCTION",
		 .help = "only from its entry to its return"},
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vtrace record",
		.usage = usage,
		.about = "Runs a program and records it: samples of it with perf, as the analyses\n"
			 "want them, or with --full all that it executes.",
		.opts = opts,
		.notes = notes,
		.stop_at_operand = true,
		.max_operands = UINT_MAX,
	};
	int child = 0, status;

	if (app_start(&app, &page, argc, argv) && check_record_options(&r))
		child = record(&r);
	vt_opt_list_fini(&r.perf.events);
	status = app_finish(&app);
	return status > APP_LOSSY || !child ? status : child;
}
