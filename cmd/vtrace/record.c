/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/common/app.h"
#include "cmd/common/stream.h"
#include "cmd/vtrace/decode.h"
#include "cmd/vtrace/probe.h"
#include "cmd/vtrace/record_full.h"
#include "cmd/vtrace/runnable.h"
#include "cmd/vtrace/subcommands.h"

/*
 * The period when none is asked for, in cycles or in ns of the CPU clock.  A prime, so that it does
 * not stay in step with a loop of the program.
 */
#define DEFAULT_PERIOD "1000003"

/* Bytes of stack with --regs: perf's own default; its limit is what a sample's size field holds. */
#define DEFAULT_STACK 8192
#define MAX_STACK     65528

struct record {
	struct app *app;
	struct full_options full;
	bool regs;
	bool branch;
	bool pt;
	bool all_cpus;
	bool dry_run;
	bool stack_given;
	uint64_t stack;
	struct vt_opt_list events;
	uint64_t frequency; /* 0: not given */
	uint64_t period;
	uint64_t pid;
	const char *output;
	const char *compress;
	struct probe machine;
	struct vt_buf strings; /* what perf's arguments were made of, each zero-terminated */
	struct vt_buf chosen;  /* for the message that says what is recorded */
};

/* ---- what to ask of perf ---- */

static void add(struct record *r, const char *arg)
{
	vt_buf_put(&r->strings, arg, strlen(arg) + 1);
}

static void add_number(struct record *r, const char *option, uint64_t value)
{
	add(r, option);
	vt_buf_printf(&r->strings, "%" PRIu64, value);
	vt_buf_put_u8(&r->strings, 0);
}

static void choose(struct record *r, const char *what)
{
	vt_buf_printf(&r->chosen, "%s%s", r->chosen.size ? ", " : "", what);
}

/* The event that samples time: cycles, as precisely as the machine can, or else the CPU clock. */
static void add_time_event(struct record *r)
{
	const struct probe *m = &r->machine;
	const char *event = m->cycles ? "cycles" : "cpu-clock";
	char name[32];

	snprintf(name, sizeof(name), "%s%s%s%s", event, m->kernel && !m->precise ? "" : ":",
		 m->kernel ? "" : "u", m->precise ? "P" : "");
	add(r, "-e");
	add(r, name);
	vt_buf_printf(&r->chosen, "%s", name);
	if (!r->frequency && !r->period) {
		add(r, "-c");
		add(r, DEFAULT_PERIOD);
		vt_buf_printf(&r->chosen, " every " DEFAULT_PERIOD " %s", m->cycles ? "" : "ns");
	}
}

static void add_events(struct record *r)
{
	size_t i;

	for (i = 0; i < r->events.count; i++) {
		add(r, "-e");
		add(r, r->events.items[i]);
		choose(r, r->events.items[i]);
	}
	if (!r->events.count)
		add_time_event(r);
	if (r->pt && r->machine.pt) {
		add(r, "-e");
		add(r, "intel_pt//u");
		choose(r, "intel_pt");
	}
	if (r->frequency)
		add_number(r, "-F", r->frequency);
	if (r->period)
		add_number(r, "-c", r->period);
}

static void add_state(struct record *r)
{
	char text[64];

	if (r->regs) {
		add(r, "--user-regs");
		choose(r, "registers");
		/* Whether the program writes to code or constants, and which files they are of. */
		add(r, "--data");
		add(r, "--buildid-all");
		/* Times of day show that files without a build-id have not changed since.  Packets
		 * of a processor's trace and its own records have the processor's clock. */
		if (!r->machine.precise && !r->pt) {
			add(r, "-k");
			add(r, "CLOCK_MONOTONIC");
		}
		/* Those of a precise sample belong to its own instruction, the others to a later
		 * one. */
		if (r->machine.precise)
			add(r, "--intr-regs");
	}
	if (r->stack) {
		snprintf(text, sizeof(text), "dwarf,%" PRIu64, r->stack);
		add(r, "--call-graph");
		add(r, text);
		snprintf(text, sizeof(text), "%" PRIu64 " bytes of stack", r->stack);
		choose(r, text);
	}
	if (r->branch && r->machine.branches) {
		add(r, "-j");
		add(r, "any,u");
		choose(r, "branch stacks");
	}
}

/* Says what was asked for and is not there. */
static void tell_lacks(const struct record *r)
{
	const struct probe *m = &r->machine;
	const struct app *a = r->app;

	if (!m->events)
		app_say(a,
			"this machine lets no event be opened: %s (kernel.perf_event_paranoid %d)",
			strerror(m->why_not), m->paranoid);
	else if (!m->cycles && !r->events.count)
		app_say(a, "no hardware cycle counter here: sampling the CPU clock, which skids");
	if (m->events && !m->kernel)
		app_say(a, "the kernel is left out (kernel.perf_event_paranoid %d)", m->paranoid);
	if (r->branch && !m->branches)
		app_say(a, "no branch stack here: recording without");
	if (r->pt && !m->pt)
		app_say(a, "no Intel PT here: recording samples instead");
}

static void make_command(struct record *r, const char *data)
{
	int i;

	add(r, "perf");
	add(r, "record");
	add_events(r);
	add_state(r);
	if (r->all_cpus)
		add(r, "-a");
	if (r->pid)
		add_number(r, "-p", r->pid);
	add(r, "-o");
	add(r, data);
	if (r->app->argc)
		add(r, "--");
	for (i = 0; i < r->app->argc; i++)
		add(r, r->app->argv[i]);
	app_say(r->app, "recording %s", vt_buf_str(&r->chosen));
}

/* perf's arguments as execvp() wants them; NULL when memory ran out. */
static char **list_command(struct record *r)
{
	char **argv = list_arguments(&r->strings);

	if (!argv) {
		app_say(r->app, "out of memory");
		app_raise(r->app, APP_INPUT);
	}
	return argv;
}

/* ---- printing it ---- */

static void print_command(struct record *r, char **argv)
{
	struct vt_output *out = app_text(r->app, NULL);
	size_t i;

	if (!out)
		return;
	for (i = 0; argv[i]; i++) {
		vt_output_text(out, i ? " " : "");
		quote_argument(out, argv[i]);
	}
	vt_output_text(out, "\n");
}

/* ---- running it ---- */

static void perf_missing(const struct app *a)
{
	app_say(a, "perf: %s%s", strerror(errno),
		errno == ENOENT ? " (on Debian: apt-get install linux-perf)" : "");
}

/* Becomes perf, whose exit status is then the program's. */
static void run_in_place(struct record *r, char **argv)
{
	execvp(argv[0], argv);
	perf_missing(r->app);
	app_raise(r->app, APP_INPUT);
}

#define NPASSED 4
static const int passed_on[NPASSED] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
static volatile sig_atomic_t perf_pid;

/* What was sent to us is meant for perf, which ends the recording; the keyboard reaches both. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	int code = errno;

	(void)context;
	if (info->si_code <= 0 && perf_pid > 0)
		kill((pid_t)perf_pid, sig);
	errno = code;
}

/* Runs perf and waits; its exit status, or 128 + the signal that ended it, as a shell has it. */
static int run_and_wait(struct record *r, char **argv)
{
	struct sigaction pass = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
	struct sigaction old[NPASSED];
	int i, code, status = 0;
	pid_t child;

	for (i = 0; i < NPASSED; i++)
		sigaction(passed_on[i], &pass, &old[i]);
	child = fork();
	if (child == 0) {
		for (i = 0; i < NPASSED; i++)
			sigaction(passed_on[i], &old[i], NULL);
		execvp(argv[0], argv);
		perf_missing(r->app);
		_exit(127);
	}
	code = errno;
	perf_pid = child;
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	perf_pid = 0;
	for (i = 0; i < NPASSED; i++)
		sigaction(passed_on[i], &old[i], NULL);
	if (child < 0) {
		app_say(r->app, "perf: %s", strerror(code));
		return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Runs perf, which is to write `path`; its exit status.  That is the program's, unless there is no
 * recording: then it is perf that failed, and APP_INPUT is set.
 */
static int run_perf(struct record *r, const char *path)
{
	struct stat before, after;
	bool was, is;
	char **argv;
	int status;

	make_command(r, path);
	argv = list_command(r);
	if (!argv)
		return 0;
	was = stat(path, &before) == 0;
	status = run_and_wait(r, argv);
	free(argv);
	is = stat(path, &after) == 0 && after.st_size > 0;
	if (is && was && before.st_ino == after.st_ino && before.st_size == after.st_size &&
	    before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
	    before.st_mtim.tv_nsec == after.st_mtim.tv_nsec)
		is = false;
	if (!is) {
		app_say(r->app, "perf recorded nothing; its exit status was %d", status);
		app_raise(r->app, APP_INPUT);
	}
	return status;
}

static bool wants_stream(const char *output)
{
	size_t n = output ? strlen(output) : 0;

	return n > 3 && strcmp(output + n - 3, ".vt") == 0;
}

/*
 * Records into a file beside the output and decodes that.  perf could also write into a pipe, but
 * then it sends the program's standard output to standard error.
 */
static int record_stream(struct record *r)
{
	struct vt_buf path = VT_BUF_INIT;
	int status, fd;

	vt_buf_printf(&path, "%s.XXXXXX", r->output);
	fd = mkstemp((char *)vt_buf_str(&path));
	if (fd < 0) {
		app_say(r->app, "%s: %s", r->output, strerror(errno));
		app_raise(r->app, APP_OUTPUT);
		vt_buf_free(&path);
		return 0;
	}
	close(fd);
	status = run_perf(r, vt_buf_str(&path));
	if (r->app->status < APP_INPUT)
		decode_file(r->app, vt_buf_str(&path), r->output, r->compress, NULL);
	unlink(vt_buf_str(&path));
	vt_buf_free(&path);
	return status;
}

/* perf and its wishes are known before anything is run, so that what is missing is said once. */
static bool check_names(struct record *r, const char *output)
{
	struct app *a = r->app;

	errno = find_program("perf");
	if (errno) {
		perf_missing(a);
		app_raise(a, APP_INPUT);
		return false;
	}
	if (a->argc && !check_program_name(a, a->argv[0]))
		return false;
	if (r->pid && kill((pid_t)r->pid, 0) < 0 && errno == ESRCH) {
		app_say(a, "--pid %" PRIu64 ": %s", r->pid, strerror(errno));
		app_raise(a, APP_INPUT);
		return false;
	}
	return check_output_name(a, output);
}

/* Whether what perf writes under this name stays there, so that one can see if it did. */
static bool is_file_name(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && (stat(path, &st) < 0 || S_ISREG(st.st_mode));
}

static int record(struct record *r)
{
	const char *output = r->output ? r->output : "perf.data";
	char **argv;

	if (r->full.full && r->dry_run) {
		valgrind_print(r->app, &r->full);
		return 0;
	}
	if (r->full.full)
		return record_full(r->app, &r->full, r->output, r->compress);
	if (!r->dry_run && !check_names(r, output))
		return 0;
	probe_machine(&r->machine);
	tell_lacks(r);
	if (!r->dry_run && wants_stream(r->output))
		return record_stream(r);
	if (!r->dry_run && is_file_name(output))
		return run_perf(r, output);
	make_command(r, output);
	argv = list_command(r);
	if (argv && r->dry_run) {
		print_command(r, argv);
	} else if (argv) {
		run_in_place(r, argv);
	}
	free(argv);
	return 0;
}

/* The first option given that is for perf, or NULL. */
static const char *perf_option_given(const struct record *r)
{
	return r->regs		 ? "--regs"
	       : r->stack_given	 ? "--stack"
	       : r->branch	 ? "--branch"
	       : r->pt		 ? "--pt"
	       : r->events.count ? "--event"
	       : r->frequency	 ? "--freq"
	       : r->period	 ? "--period"
	       : r->all_cpus	 ? "--all-cpus"
	       : r->pid		 ? "--pid"
				 : NULL;
}

static bool check_full(struct record *r)
{
	const char *other = perf_option_given(r);

	if (other)
		return app_usage(r->app, "%s: not with --full", other);
	if (r->full.blocks && r->full.values_given)
		return app_usage(r->app, "--blocks and --values exclude each other");
	if (!r->app->argc)
		return app_usage(r->app, "which program?");
	return true;
}

static bool check(struct record *r)
{
	const char *other = full_option_given(&r->full);

	if (r->full.full)
		return check_full(r);
	if (other)
		return app_usage(r->app, "%s: goes with --full", other);
	if (r->frequency && r->period)
		return app_usage(r->app, "--freq and --period exclude each other");
	if (!r->app->argc && !r->pid && !r->all_cpus)
		return app_usage(r->app, "which program? or --pid, or --all-cpus");
	if (r->stack % 8)
		return app_usage(r->app, "--stack: %" PRIu64 " is no multiple of 8", r->stack);
	if (r->compress && !wants_stream(r->output))
		return app_usage(r->app, "--compress: goes with an output named *.vt");
	if (r->compress && !app_check_compression(r->app, r->compress))
		return false;
	if (r->output && strcmp(r->output, "-") == 0 && isatty(STDOUT_FILENO))
		return app_usage(r->app, "standard output is a terminal");
	if (r->regs && !r->stack_given)
		r->stack = DEFAULT_STACK;
	return true;
}

int cmd_record(int argc, char **argv)
{
	struct app app;
	struct record r = {.app = &app, .full = {.values = FULL_LOADS}};
	const struct vt_opt opts[] = {
		{'r', "regs", VT_OPT_FLAG, &r.regs, .help = "registers and stack with each sample"},
		{0, "stack", VT_OPT_U64, &r.stack, .arg = "BYTES", .max = MAX_STACK,
		 .given = &r.stack_given, .help = "bytes of stack (with --regs 8192; 0: none)"},
		{'b', "branch", VT_OPT_FLAG, &r.branch,
		 .help = "branch stacks, where there are any"},
		{0, "pt", VT_OPT_FLAG, &r.pt, .help = "an Intel PT trace, where there is one"},
		{'e', "event", VT_OPT_LIST, &r.events, .arg = "EVENT",
		 .help = "sample this perf event, not time; may be repeated"},
		{'F', "freq", VT_OPT_U64, &r.frequency, .arg = "HZ", .min = 1,
		 .help = "samples in a second, by a period that varies"},
		{'c', "period", VT_OPT_U64, &r.period, .arg = "N", .min = 1,
		 .help = "one sample for N events (default " DEFAULT_PERIOD ")"},
		{'a', "all-cpus", VT_OPT_FLAG, &r.all_cpus, .help = "the whole machine"},
		{'p', "pid", VT_OPT_U64, &r.pid, .arg = "PID", .min = 1, .max = INT_MAX,
		 .help = "a process that runs already"},
		{'n', "dry-run", VT_OPT_FLAG, &r.dry_run,
		 .help = "only print the command line of perf or valgrind"},
		{'o', "output", VT_OPT_STRING, &r.output, .arg = "FILE", .unrecorded = true,
		 .help = "write FILE, not perf.data; a stream if its name ends in .vt"},
		APP_OPT_COMPRESS(r.compress),
		{0, "full", VT_OPT_FLAG, &r.full.full,
		 .help = "record all that is executed, under valgrind; with it:"},
		{0, "values", VT_OPT_CHOICE, &r.full.values, .arg = "WHICH",
		 .choices = full_value_words, .given = &r.full.values_given,
		 .help = "none, loads (default), stores (too), all (results, too)"},
		{0, "blocks", VT_OPT_FLAG, &r.full.blocks, .help = "as --values none"},
		{0, "mem", VT_OPT_FLAG, &r.full.mem,
		 .help = "addresses, and what the kernel writes"},
		{0, "args", VT_OPT_FLAG, &r.full.args,
		 .help = "registers that pass arguments, at calls"},
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
		.usage = "[options] [--] PROGRAM [ARGUMENT]...\n[options] -p PID | -a\n"
			 "--full [options] [--] PROGRAM [ARGUMENT]...",
		.about = "Runs a program and records it: samples of it with perf, as the analyses\n"
			 "want them, or with --full all that it executes.",
		.opts = opts,
		.notes = "The exit status is that of the program, except that 3 also means that "
			 "perf or\n"
			 "valgrind could not be run.",
		.stop_at_operand = true,
		.max_operands = UINT_MAX,
	};
	int child = 0, status;

	if (app_start(&app, &page, argc, argv) && check(&r))
		child = record(&r);
	vt_opt_list_fini(&r.events);
	vt_buf_free(&r.strings);
	vt_buf_free(&r.chosen);
	status = app_finish(&app);
	return status > APP_LOSSY || !child ? status : child;
}
