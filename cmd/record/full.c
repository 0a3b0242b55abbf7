/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/full.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/common/find.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/record/command.h"
#include "cmd/record/scratch.h"
#include "formats/recording/recording.h"

/* A recording is large, and the program waits for it: zlib would be too slow. */
#define DEFAULT_COMPRESSION "zstd:fast"

/* How often forked processes are checked after the first has ended. */
#define LOOK_MS 50

struct full {
	struct app *app;
	const struct full_options *opt;
	const char *output;
	bool created; /* the output is a new file */
	bool to_pipe;
	bool failed;	  /* the output could not be written, which was reported */
	bool ended;	  /* the program has ended */
	bool asked;	  /* a signal has asked to end */
	bool interrupted; /* the program was ended by that */
	pid_t child;
	int status; /* from waitpid() */
	int signals;
	struct vt_writer *w;
	struct vt_recording *recording;
	struct progress progress;
	struct app_warnings warnings;
	char *dir;
};

/* ---- the output ---- */

static void put_recording_facts(struct full *f)
{
	struct vt_buf line = VT_BUF_INIT;

	put_command_line(f->app, &line);
	vt_writer_meta(f->w, "arch", "x86_64");
	vt_writer_meta(f->w, "cmdline", vt_buf_str(&line));
	vt_writer_meta(f->w, "recorder", "valgrind");
	vt_buf_free(&line);
}

static bool open_stream(struct full *f, const char *output, const char *compress)
{
	f->output = choose_stream_output(output);
	f->to_pipe = strcmp(f->output, "-") == 0;
	compress = choose_stream_compression(f->output, compress, DEFAULT_COMPRESSION);
	f->created = !f->to_pipe && compress != NULL;
	f->w = app_open_writer(f->app, f->output, compress, NULL, 0);
	if (!f->w)
		return false;
	put_recording_facts(f);
	return true;
}

/* ---- the recording ---- */

static bool open_recording(struct full *f)
{
	struct vt_recording_options opt = {
		.skip = f->opt->skip,
		.count = f->opt->count,
		.toggle = f->opt->toggle != NULL,
		.follow = f->opt->follow,
		.warn = app_warn,
		.warn_arg = &f->warnings,
	};
	struct vt_error err = VT_ERROR_INIT;

	f->recording = vt_recording_open(f->dir, f->w, &opt, &err);
	return f->recording || app_fail(f->app, &err);
}

/* ---- while the program runs ---- */

/* True if a process exists and is not a zombie. */
static bool is_alive(pid_t pid)
{
	char path[64], text[512], *p;
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return kill(pid, 0) == 0 || errno == EPERM;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name before it may contain anything */
	return p && p[1] && p[2] != 'Z' && p[2] != 'X';
}

/* Finds processes that have died without ending their rings. */
static int find_dead(struct full *f, struct vt_error *err)
{
	int32_t pid;
	size_t i = 0;
	int rc = 0;

	while (rc == 0 && (pid = vt_recording_running(f->recording, i)) != 0) {
		if ((f->ended && pid == f->child) || !is_alive(pid)) {
			rc = vt_recording_read(f->recording, err);
			rc = rc < 0 ? rc : vt_recording_dead(f->recording, pid, err);
		} else {
			i++;
		}
	}
	return rc;
}

static void handle_signal(struct full *f, const struct signalfd_siginfo *s)
{
	if (s->ssi_signo == SIGCHLD) {
		f->ended = f->ended || waitpid(f->child, &f->status, WNOHANG) == f->child;
		return;
	}
	f->asked = true;
	/* A signal from the keyboard reaches the program, too. */
	if (!f->ended && s->ssi_code != SI_KERNEL)
		kill(f->child, (int)s->ssi_signo);
}

static void read_signals(struct full *f)
{
	struct signalfd_siginfo s;

	while (read(f->signals, &s, sizeof(s)) == (ssize_t)sizeof(s))
		handle_signal(f, &s);
}

static void check_output(struct full *f)
{
	struct vt_error err = VT_ERROR_INIT;

	if (f->failed || vt_writer_error(f->w, &err) == 0)
		return;
	f->failed = true;
	vt_recording_stop(f->recording);
	if (f->to_pipe && is_pipe(STDOUT_FILENO)) {
		app_raise(f->app, APP_OUTPUT);
		return;
	}
	app_fail(f->app, &err);
	if (!f->ended)
		app_say(f->app, "the program runs on, but is not recorded any more");
}

/* 0: a pipe. */
static uint64_t count_output_bytes(const struct full *f)
{
	struct stat st;

	return !f->to_pipe && stat(f->output, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void show_progress(struct full *f)
{
	if (!f->progress.active)
		return;
	f->progress.insns = vt_recording_summary(f->recording)->insns;
	progress_update(&f->progress, count_output_bytes(f));
}

/* Reads the recording until the program and all processes recorded with it have ended. */
static int receive_recording(struct full *f, struct vt_error *err)
{
	struct pollfd fds[] = {
		{.fd = vt_recording_fd(f->recording), .events = POLLIN},
		{.fd = f->signals, .events = POLLIN},
	};
	int rc = 0;

	while (rc >= 0 && !(f->ended && vt_recording_running(f->recording, 0) == 0)) {
		if (poll(fds, 2, f->ended ? LOOK_MS : -1) < 0 && errno != EINTR)
			return vt_error_errno(err, VT_E_SYSTEM, errno, "poll");
		read_signals(f);
		rc = vt_recording_read(f->recording, err);
		show_progress(f);
		if (rc >= 0 && f->ended)
			rc = find_dead(f, err);
		check_output(f);
		if (f->ended && f->asked && vt_recording_running(f->recording, 0))
			break;
	}
	/* A program that ignores the signal was not interrupted. */
	f->interrupted = f->asked && (WIFSIGNALED(f->status) || WEXITSTATUS(f->status) > 128 ||
				      vt_recording_running(f->recording, 0));
	return rc;
}

/* Runs the program under Valgrind; false: Valgrind could not be run. */
static bool run_recorder(struct full *f)
{
	struct vt_error err = VT_ERROR_INIT;
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	sigset_t set, old_set;
	bool ok;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, &old_set);
	/* SIGPIPE must not end this process before its directory is removed. */
	sigaction(SIGPIPE, &ignore, &old);
	f->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	f->child = valgrind_start(f->app, f->opt, f->dir, f->to_pipe, &old_set);
	ok = f->signals >= 0 && f->child > 0;
	progress_start(&f->progress, f->app->name, "", false);
	if (ok && receive_recording(f, &err) < 0) {
		/* The program runs on unrecorded. */
		vt_recording_stop(f->recording);
		app_fail(f->app, &err);
	}
	progress_end(&f->progress);
	while (f->child > 0 && !f->ended)
		f->ended = waitpid(f->child, &f->status, 0) == f->child || errno != EINTR;
	close(f->signals);
	sigaction(SIGPIPE, &old, NULL);
	sigprocmask(SIG_SETMASK, &old_set, NULL);
	return ok;
}

/* ---- the end ---- */

static void say_count(const struct app *a, uint64_t n, const char *one, const char *many)
{
	if (n)
		app_say(a, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

/* Reports what is missing in the recording. */
static void report_losses(struct full *f)
{
	const struct vt_recording_summary *s = vt_recording_summary(f->recording);
	struct app *a = f->app;

	app_warnings_end(&f->warnings);
	if (WIFSIGNALED(f->status))
		app_say(a, "%s: ended by signal %d (%s)", a->argv[0], WTERMSIG(f->status),
			strsignal(WTERMSIG(f->status)));
	if (f->opt->follow)
		say_count(a, s->unfollowed, "process or program could not be recorded",
			  "processes or programs could not be recorded");
	else
		say_count(a, s->unfollowed, "process or program is not recorded (--follow does)",
			  "processes or programs are not recorded (--follow does)");
	say_count(a, s->cut, "process was killed: recorded up to there",
		  "processes were killed: recorded up to there");
	say_count(a, s->gaps, "damaged place in the recording", "damaged places in the recording");
	if (f->interrupted)
		app_say(a, "interrupted: recorded up to there");
	if (f->opt->skip && !s->insns && !s->left_out)
		app_say(a,
			"nothing is recorded: it ended within the %" PRIu64
			" instructions of --skip",
			f->opt->skip);
	if (!s->insns)
		app_raise(a, APP_LOSSY);
}

static void close_stream(struct full *f)
{
	const struct vt_recording_summary *s = vt_recording_summary(f->recording);
	struct vt_error err = VT_ERROR_INIT;
	enum vt_status status = VT_STATUS_COMPLETE;

	if (s->cut || f->interrupted)
		status = VT_STATUS_INTERRUPTED;
	else if (s->gaps || (f->opt->follow && s->unfollowed))
		status = VT_STATUS_LOSSY;
	if (status != VT_STATUS_COMPLETE)
		app_raise(f->app, APP_LOSSY);
	if (f->failed)
		vt_writer_abandon(f->w);
	else if (f->app->status > APP_LOSSY)
		app_close_writer(f->app, f->w);
	else if (vt_writer_close(f->w, status, &err) < 0)
		app_fail(f->app, &err);
	f->w = NULL;
}

/* What the recording has become; of one that goes down a pipe, the reader says it. */
static void report_size(const struct full *f)
{
	uint64_t insns = vt_recording_summary(f->recording)->insns;

	if (insns && !f->to_pipe && f->app->status <= APP_LOSSY)
		app_say(f->app, "%s: %" PRIu64 " instructions, %.1f MB", f->output, insns,
			(double)count_output_bytes(f) / 1e6);
}

/* Reports that nothing was recorded: Valgrind, or the program, could not be run. */
static void report_nothing(struct full *f)
{
	struct vt_error err = VT_ERROR_INIT;

	vt_error_set(&err, VT_E_SYSTEM, "nothing was recorded");
	app_fail(f->app, &err);
	app_close_writer(f->app, f->w);
	f->w = NULL;
	if (f->created)
		unlink(f->output);
}

static void finish_recording(struct full *f, bool ran)
{
	if (ran && vt_recording_summary(f->recording)->processes) {
		report_losses(f);
		close_stream(f);
		report_size(f);
	} else {
		report_nothing(f);
	}
}

int record_full(struct app *a, const struct full_options *o, const char *output,
		const char *compress)
{
	struct full f = {.app = a, .opt = o, .signals = -1, .warnings = {a, "things left out", 0}};
	bool ran = false;

	app_make_stream(a, choose_stream_output(output));
	if (!valgrind_check(a) || !check_program_name(a, a->argv[0]) ||
	    !check_output_name(a, choose_stream_output(output)))
		return 0;
	if (open_stream(&f, output, compress) && (f.dir = scratch_make_directory(a)) &&
	    open_recording(&f)) {
		/* Measured on loops, gzip and python3; see vtrace-record(1). */
		if (!f.to_pipe)
			app_say(a, "recording all that it executes: at a third to a tenth of its "
				   "speed");
		ran = run_recorder(&f);
		finish_recording(&f, ran);
	}
	app_close_writer(a, f.w);
	vt_recording_close(f.recording);
	if (f.dir)
		rmdir(f.dir);
	free(f.dir);
	/* Like any program whose reader has closed the pipe. */
	if (f.failed && f.to_pipe && is_pipe(STDOUT_FILENO))
		raise(SIGPIPE);
	if (!ran)
		return 0;
	return WIFEXITED(f.status) ? WEXITSTATUS(f.status) : 128 + WTERMSIG(f.status);
}
