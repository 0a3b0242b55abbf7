/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/common/decode.h"
#include "cmd/common/progress.h"
#include "cmd/record/command.h"
#include "cmd/record/probe.h"

const char *const perf_chain_words[] = {"dwarf", "fp", "lbr", NULL};

struct perf {
	struct app *app;
	const struct perf_options *opt;
	struct probe machine;
	struct vt_buf command;
	struct vt_buf chosen;	/* a list of what is recorded, for the message */
	uint64_t stack;		/* bytes with each sample */
	const char *call_graph; /* perf's word for how chains are found, if not from the stack */
};

/* ---- perf's command line ---- */

static void add_number(struct perf *r, const char *option, uint64_t value)
{
	add_argument(&r->command, option);
	vt_buf_printf(&r->command, "%" PRIu64, value);
	vt_buf_put_u8(&r->command, 0);
}

static void add_chosen(struct perf *r, const char *what)
{
	vt_buf_printf(&r->chosen, "%s%s", r->chosen.size ? ", " : "", what);
}

void perf_name_time_event(const struct probe *m, char name[PERF_EVENT_NAME])
{
	snprintf(name, PERF_EVENT_NAME, "%s%s%s%s", m->cycles ? "cycles" : "cpu-clock",
		 m->kernel && !m->precise ? "" : ":", m->kernel ? "" : "u", m->precise ? "P" : "");
}

/* Adds the event that samples time. */
static void add_time_event(struct perf *r)
{
	const struct probe *m = &r->machine;
	char name[PERF_EVENT_NAME];

	perf_name_time_event(m, name);
	add_argument(&r->command, "-e");
	add_argument(&r->command, name);
	vt_buf_printf(&r->chosen, "%s", name);
	if (!r->opt->frequency && !r->opt->period) {
		add_argument(&r->command, "-c");
		add_argument(&r->command, PERF_PERIOD);
		vt_buf_printf(&r->chosen, " every " PERF_PERIOD " %s", m->cycles ? "" : "ns");
	}
}

/* The event that has the stacks, while time is sampled without; NULL: others have them, or none. */
static const struct vt_stack_event *stack_event(const struct perf *r)
{
	return r->opt->branch && !r->opt->events.count ? vt_stack_event_of(&r->machine.stacks)
						       : NULL;
}

static bool has_stacks(const struct perf *r)
{
	return r->opt->branch && (r->machine.branches || stack_event(r));
}

/* perf's -j would give all events stacks. */
static void add_stack_event(struct perf *r, const struct vt_stack_event *e)
{
	add_argument(&r->command, "-e");
	vt_buf_printf(&r->command, "%s/name=%s,branch_type=any", e->perf, e->name);
	if (!r->opt->frequency)
		vt_buf_printf(&r->command, ",period=%" PRIu64, e->period);
	vt_buf_printf(&r->command, "/%s", e->modifiers);
	vt_buf_put_u8(&r->command, 0);
	vt_buf_printf(&r->chosen, ", branch stacks by %s", e->name);
	if (!r->opt->frequency)
		vt_buf_printf(&r->chosen, " every %" PRIu64, e->period);
}

static void add_events(struct perf *r)
{
	size_t i;

	for (i = 0; i < r->opt->events.count; i++) {
		add_argument(&r->command, "-e");
		add_argument(&r->command, r->opt->events.items[i]);
		add_chosen(r, r->opt->events.items[i]);
	}
	if (!r->opt->events.count)
		add_time_event(r);
	if (stack_event(r))
		add_stack_event(r, stack_event(r));
	if (r->opt->pt && r->machine.pt) {
		add_argument(&r->command, "-e");
		add_argument(&r->command, "intel_pt//u");
		add_chosen(r, "intel_pt");
	}
	if (r->opt->frequency)
		add_number(r, "-F", r->opt->frequency);
	if (r->opt->period)
		add_number(r, "-c", r->opt->period);
}

/* Without branch records, the stack shows the callers, too. */
static void choose_chains(struct perf *r)
{
	const struct perf_options *o = r->opt;

	r->stack = o->stack;
	if (!o->chains_given || o->chains == CHAINS_DWARF)
		return;
	if (o->chains == CHAINS_LBR && !r->machine.branches)
		r->stack = PERF_STACK;
	else
		r->call_graph = perf_chain_words[o->chains];
}

static void add_chains(struct perf *r)
{
	char text[64];

	if (r->stack) {
		snprintf(text, sizeof(text), "dwarf,%" PRIu64, r->stack);
		add_argument(&r->command, "--call-graph");
		add_argument(&r->command, text);
		snprintf(text, sizeof(text), "%" PRIu64 " bytes of stack", r->stack);
		add_chosen(r, text);
	} else if (r->call_graph) {
		add_argument(&r->command, "--call-graph");
		add_argument(&r->command, r->call_graph);
		snprintf(text, sizeof(text), "call chains (%s)", r->call_graph);
		add_chosen(r, text);
	}
}

static void add_state(struct perf *r)
{
	if (r->opt->regs) {
		add_argument(&r->command, "--user-regs");
		add_chosen(r, "registers");
		/* They show if the program writes to code or constants, and of which files. */
		add_argument(&r->command, "--data");
		add_argument(&r->command, "--buildid-all");
		/* This clock shows if files without a build-id have changed since.  Intel PT and
		 * precise samples need the processor's clock. */
		if (!r->machine.precise && !r->opt->pt) {
			add_argument(&r->command, "-k");
			add_argument(&r->command, "CLOCK_MONOTONIC");
		}
		/* The interrupt's registers of a precise sample are those of its instruction, the
		 * user's registers those of a later one. */
		if (r->machine.precise)
			add_argument(&r->command, "--intr-regs");
	}
	add_chains(r);
	if (has_stacks(r) && !stack_event(r)) {
		add_argument(&r->command, "-j");
		add_argument(&r->command, "any,u");
		add_chosen(r, "branch stacks");
	}
}

/* Reports requested features that this machine lacks. */
static void report_lacks(const struct perf *r)
{
	const struct probe *m = &r->machine;
	const struct app *a = r->app;

	if (m->max_rate && r->opt->frequency > m->max_rate)
		app_say(a,
			"--freq %" PRIu64 " is above the kernel's limit, %" PRIu64
			" a second (kernel.perf_event_max_sample_rate): perf will take the limit",
			r->opt->frequency, m->max_rate);
	if (!m->events)
		app_say(a,
			"this machine lets no event be opened: %s (kernel.perf_event_paranoid %d)",
			strerror(m->why_not), m->paranoid);
	else if (!m->cycles && !r->opt->events.count)
		app_say(a, "no hardware cycle counter here: sampling the CPU clock, which skids");
	if (m->events && !m->kernel)
		app_say(a, "the kernel is left out (kernel.perf_event_paranoid %d)", m->paranoid);
	if (r->opt->branch && !has_stacks(r))
		app_say(a, "no branch stack here: recording without");
	if (r->opt->chains_given && r->opt->chains == CHAINS_LBR && !m->branches)
		app_say(a, "no branch records here: recording copies of the stack instead");
	if (r->opt->pt && !m->pt)
		app_say(a, "no Intel PT here: recording samples instead");
}

/*
 * Bytes of a sample, with its header: ip, thread and time, and what was asked for besides.  The
 * sizes are those of linux/perf_event.h; a chain of frame pointers is taken to have 16 frames.
 */
static uint64_t estimate_sample_bytes(const struct perf *r)
{
	const uint64_t plain = 40, regs = 8 + 20 * 8, branches = 8 + 32 * 24, chain = 8 + 16 * 8;
	uint64_t n = plain;

	if (r->stack)
		n += regs + chain + r->stack + 16;
	else if (r->opt->regs)
		n += regs;
	if (r->opt->regs && r->machine.precise)
		n += regs;
	if (r->call_graph)
		n += chain;
	if (has_stacks(r))
		n += branches;
	return n;
}

/* Says what the recording will take, where the rate of samples is known. */
static void add_cost(struct perf *r)
{
	const struct perf_options *o = r->opt;
	size_t events = o->events.count ? o->events.count : 1;
	bool by_time = !o->events.count && !o->frequency;
	uint64_t period = o->period ? o->period : strtoull(PERF_PERIOD, NULL, 10);
	uint64_t limit = r->machine.max_rate;
	uint64_t rate = limit && o->frequency > limit ? limit : o->frequency;
	double mb, samples = rate ? (double)rate * (double)events : 1e9 / (double)period;

	/* How many branches there are hangs on the program. */
	if ((!by_time && !o->frequency) || (o->pt && r->machine.pt) || stack_event(r))
		return;
	mb = samples * (double)estimate_sample_bytes(r) / 1e6;
	vt_buf_printf(&r->chosen, ": about %.*f MB for %s",
		      mb >= 10	? 0
		      : mb >= 1 ? 1
				: 2,
		      mb,
		      by_time && r->machine.cycles ? "10^9 cycles" : "a second of processor time");
}

static void make_perf_command(struct perf *r, const char *data)
{
	int i;

	add_argument(&r->command, "perf");
	add_argument(&r->command, "record");
	add_events(r);
	add_state(r);
	if (r->opt->all_cpus)
		add_argument(&r->command, "-a");
	if (r->opt->pid)
		add_number(r, "-p", r->opt->pid);
	add_argument(&r->command, "-o");
	add_argument(&r->command, data);
	if (r->app->argc)
		add_argument(&r->command, "--");
	for (i = 0; i < r->app->argc; i++)
		add_argument(&r->command, r->app->argv[i]);
	add_cost(r);
	app_say(r->app, "recording %s", vt_buf_str(&r->chosen));
}

/* perf's arguments for execvp(); NULL: no memory. */
static char **list_command(struct perf *r)
{
	char **argv = list_arguments(&r->command);

	if (!argv)
		app_no_memory(r->app);
	return argv;
}

/* ---- running it ---- */

static void report_perf_missing(const struct app *a)
{
	app_say(a, "perf: %s%s", strerror(errno),
		errno == ENOENT ? " (on Debian: apt-get install linux-perf)" : "");
}

/* Executes perf in this process, whose exit status is then the program's. */
static void run_in_place(struct perf *r, char **argv)
{
	execvp(argv[0], argv);
	report_perf_missing(r->app);
	app_raise(r->app, APP_INPUT);
}

#define NPASSED 4
static const int forwarded[NPASSED] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
static volatile sig_atomic_t perf_pid;

/* Forwards a signal to perf, which ends the recording; the keyboard's reaches both. */
static void forward_signal(int sig, siginfo_t *info, void *context)
{
	int code = errno;

	(void)context;
	if (info->si_code <= 0 && perf_pid > 0)
		kill((pid_t)perf_pid, sig);
	errno = code;
}

#define GLANCE_NS 50000000 /* between two looks at a recording that is shown to grow */

/* Waits for perf to end; on a terminal, shows meanwhile how much there is of its file. */
static void wait_for_perf(struct perf *r, pid_t child, const char *path, int *status)
{
	const struct timespec glance = {.tv_nsec = GLANCE_NS};
	struct progress progress;
	struct stat st;
	pid_t ended;

	progress_start(&progress, r->app->name, "", !r->app->argc);
	for (;;) {
		ended = waitpid(child, status, progress.active ? WNOHANG : 0);
		if (ended == child || (ended < 0 && errno != EINTR))
			break;
		if (!progress.active)
			continue;
		nanosleep(&glance, NULL);
		progress_update(&progress, stat(path, &st) == 0 ? (uint64_t)st.st_size : 0);
		/* What perf says goes over the line, not behind it. */
		if (progress.shown)
			fputc('\r', stderr);
	}
	progress_end(&progress);
}

/* Runs perf and waits.  Returns its exit status, or 128 + the signal that ended it. */
static int run_and_wait(struct perf *r, char **argv, const char *path)
{
	struct sigaction pass = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO};
	struct sigaction old[NPASSED];
	int i, code, status = 0;
	pid_t child;

	for (i = 0; i < NPASSED; i++)
		sigaction(forwarded[i], &pass, &old[i]);
	child = fork();
	if (child == 0) {
		for (i = 0; i < NPASSED; i++)
			sigaction(forwarded[i], &old[i], NULL);
		execvp(argv[0], argv);
		report_perf_missing(r->app);
		_exit(127);
	}
	code = errno;
	perf_pid = child;
	if (child > 0)
		wait_for_perf(r, child, path, &status);
	perf_pid = 0;
	for (i = 0; i < NPASSED; i++)
		sigaction(forwarded[i], &old[i], NULL);
	if (child < 0) {
		app_say(r->app, "perf: %s", strerror(code));
		return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Runs perf, which writes `path`, and returns its exit status.  That is the program's, unless there
 * is no recording: then perf has failed, and APP_INPUT is set.
 */
static int run_perf(struct perf *r, const char *path)
{
	struct stat before, after;
	bool was, is;
	char **argv;
	int status;

	make_perf_command(r, path);
	argv = list_command(r);
	if (!argv)
		return 0;
	was = stat(path, &before) == 0;
	status = run_and_wait(r, argv, path);
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

bool perf_makes_stream(const struct perf_options *o)
{
	size_t n = o->output ? strlen(o->output) : 0;

	return n > 3 && strcmp(o->output + n - 3, ".vt") == 0;
}

static void put_calibration(const void *calibration, struct vt_writer *w)
{
	vt_calibration_write(calibration, w);
}

/*
 * Records into a file beside the output and decodes that.  perf could also write into a pipe, but
 * then it sends the program's standard output to standard error.
 */
static int record_stream(struct perf *r)
{
	struct vt_buf path = VT_BUF_INIT;
	int status, fd;

	vt_buf_printf(&path, "%s.XXXXXX", r->opt->output);
	fd = mkstemp((char *)vt_buf_str(&path));
	if (fd < 0) {
		app_say(r->app, "%s: %s", r->opt->output, strerror(errno));
		app_raise(r->app, APP_OUTPUT);
		vt_buf_free(&path);
		return 0;
	}
	close(fd);
	status = run_perf(r, vt_buf_str(&path));
	if (r->app->status < APP_INPUT)
		app_decode(
			r->app,
			&(struct app_decode){.output = r->opt->output,
					     .compress = r->opt->compress,
					     .pack = r->opt->pack,
					     .facts = r->opt->calibration ? put_calibration : NULL,
					     .facts_arg = r->opt->calibration},
			vt_buf_str(&path));
	unlink(vt_buf_str(&path));
	vt_buf_free(&path);
	return status;
}

/* Checks perf, the program, the process and the output before anything is run. */
static bool check_perf_names(struct perf *r, const char *output)
{
	struct app *a = r->app;

	errno = find_program("perf");
	if (errno) {
		report_perf_missing(a);
		app_raise(a, APP_INPUT);
		return false;
	}
	if (a->argc && !check_program_name(a, a->argv[0]))
		return false;
	if (r->opt->pid && kill((pid_t)r->opt->pid, 0) < 0 && errno == ESRCH) {
		app_say(a, "--pid %" PRIu64 ": %s", r->opt->pid, strerror(errno));
		app_raise(a, APP_INPUT);
		return false;
	}
	return check_output_name(a, output);
}

/* True if the output is a regular file, where it can be checked if perf wrote it. */
static bool is_file_name(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && (stat(path, &st) < 0 || S_ISREG(st.st_mode));
}

static int print_or_run(struct perf *r, bool dry_run)
{
	const char *output = r->opt->output ? r->opt->output : "perf.data";
	char **argv;

	if (!dry_run && !check_perf_names(r, output))
		return 0;
	probe_machine(&r->machine);
	choose_chains(r);
	report_lacks(r);
	if (!dry_run && perf_makes_stream(r->opt))
		return record_stream(r);
	if (!dry_run && is_file_name(output))
		return run_perf(r, output);
	make_perf_command(r, output);
	if (dry_run) {
		print_command(r->app, NULL, NULL, &r->command);
		return 0;
	}
	argv = list_command(r);
	if (argv)
		run_in_place(r, argv);
	free(argv);
	return 0;
}

int record_perf(struct app *a, const struct perf_options *o, bool dry_run)
{
	struct perf r = {.app = a, .opt = o};
	int status = print_or_run(&r, dry_run);

	vt_buf_free(&r.command);
	vt_buf_free(&r.chosen);
	return status;
}
