/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* syscall(): libc has no function for perf_event_open(2) */

#include "cmd/record/values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/plural.h"
#include "cmd/common/decode.h"
#include "cmd/common/find.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/record/calibrate.h"
#include "cmd/record/command.h"
#include "cmd/record/frames.h"
#include "cmd/record/probe.h"
#include "cmd/record/processes.h"
#include "cmd/record/rings.h"
#include "cmd/record/scratch.h"
#include "cmd/record/sideband.h"
#include "formats/perfdata/write.h"

#define DEFAULT_OUTPUT "vtrace.vt"
#define AGENT	       "libvtrace-agent.so"

/*
 * A tenth smaller than by zlib, for 50 microseconds a sample once the program has ended: memory is
 * hard to compress.
 */
#define DEFAULT_COMPRESSION "zstd:15"

/* How often rings are read: a tenth of the time in which 20,000 samples a second fill one. */
#define LOOK_MS 20

#define NSIGNALS 5
static const int watched[NSIGNALS] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};

enum values_event { EVENT_TIME, EVENT_SIDE, EVENT_EXTRA /* steps, or loads */, NEVENTS };

struct values {
	struct app *app;
	const struct values_options *opt;
	const char *output;
	const char *compress;
	struct probe machine;
	struct vt_buf agent; /* path */
	struct rings rings;
	char *shared; /* path */
	struct sideband *side;
	struct frames *frames;
	struct processes processes;
	struct vt_buf data; /* path of the perf.data */
	struct vt_output out;
	struct vt_perfdata_writer *w;
	struct vt_buf payload;
	uint64_t period;
	uint64_t samples;   /* that were walked */
	uint64_t plain;	    /* others */
	struct loads loads; /* if they are timed */
	uint64_t losses[AGENT_NLOSSES];
	uint64_t told[AGENT_NLOSSES]; /* of them, those that are LOST records */
	sigset_t old_set;
	int signals;
	int go; /* the child waits for this pipe to close */
	pid_t child;
	int status; /* from waitpid() */
	bool ended;
	bool asked; /* a signal has asked to end */
	struct progress progress;
	/* Two moments of both clocks, for the length of a tick. */
	uint64_t start_ns, start_tick, end_ns, end_tick;
};

/* ---- what this machine can do ---- */

/* Tries the agent's event on this process. */
static int try_sigtrap(const struct probe *m)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = m->cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = m->cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000,
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static bool check_event(struct values *v)
{
	int code;

	probe_machine(&v->machine);
	code = try_sigtrap(&v->machine);
	if (!code)
		return true;
	if ((code == EACCES || code == EPERM) && v->machine.paranoid > 2)
		app_say(v->app,
			"--sample-values: this kernel lets no user open events "
			"(kernel.perf_event_paranoid is %d): sysctl kernel.perf_event_paranoid=2",
			v->machine.paranoid);
	else if (code == EINVAL)
		app_say(v->app, "--sample-values: this kernel's events raise no signals: Linux "
				"5.13 or later is wanted");
	else
		app_say(v->app, "--sample-values: perf_event_open: %s", strerror(code));
	app_raise(v->app, APP_INPUT);
	return false;
}

/*
 * In LD_PRELOAD a space or a colon ends a name: then it is that of an open descriptor of this
 * process, which lives as long as the recording.
 */
static bool name_agent(struct values *v)
{
	int fd;

	if (!strpbrk(vt_buf_str(&v->agent), " :"))
		return true;
	fd = open(vt_buf_str(&v->agent), O_RDONLY | O_CLOEXEC);
	v->agent.size = 0;
	vt_buf_printf(&v->agent, "/proc/%ld/fd/%d", (long)getpid(), fd);
	return fd >= 0 && !v->agent.failed;
}

static bool find_agent(struct values *v)
{
	const char *chosen = getenv("VTRACE_LIBEXEC");

	if (chosen && *chosen)
		vt_buf_printf(&v->agent, "%s/" AGENT, chosen);
	else if (!app_beside_program("../libexec/vtrace/" AGENT, &v->agent))
		vt_buf_printf(&v->agent, AGENT);
	if (access(vt_buf_str(&v->agent), R_OK) == 0)
		return name_agent(v);
	app_say(v->app, "no agent: %s: %s", vt_buf_str(&v->agent), strerror(errno));
	app_raise(v->app, APP_INPUT);
	return false;
}

static bool check_program(struct values *v)
{
	struct app *a = v->app;
	struct vt_buf path = VT_BUF_INIT;
	enum unsampled why;

	if (!check_program_name(a, a->argv[0]))
		return false;
	why = find_program_path(a->argv[0], &path) ? look_at_program(vt_buf_str(&path))
						   : UNSAMPLED_NOT;
	vt_buf_free(&path);
	if (why == UNSAMPLED_NOT)
		return true;
	app_say(a,
		"%s is %s: no agent can be loaded into it (--bpf, as root, and --regs need none)",
		a->argv[0], unsampled_name(why));
	app_raise(a, APP_INPUT);
	return false;
}

/* ---- the perf.data ---- */

/* perf's order of the fields: ip, tid, time, cpu, period, raw, user registers. */
#define SAMPLE_TYPE                                                                                \
	(PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD |        \
	 PD_SAMPLE_RAW | PD_SAMPLE_REGS_USER)
#define SIDE_TYPE     (PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU)
#define REGS_ABI_NONE 0
#define REGS_ABI_64   2

/* What precedes the raw bytes. */
static void begin_sample(struct values *v, const struct agent_record *r, enum values_event event)
{
	struct vt_buf *b = &v->payload;

	b->size = 0;
	vt_buf_put_le64(b, event + 1);
	vt_buf_put_le64(b, r->ip);
	vt_buf_put_le32(b, r->pid);
	vt_buf_put_le32(b, r->tid);
	vt_buf_put_le64(b, r->time);
	vt_buf_put_le64(b, r->cpu);
	vt_buf_put_le64(b, event == EVENT_TIME ? v->period : r->step);
}

static int end_sample(struct values *v, const struct agent_record *r, struct vt_error *err)
{
	const struct vt_perfdata_stamp stamp = {.time = r->time};
	struct vt_buf *b = &v->payload;

	if (b->failed)
		return vt_error_nomem(err);
	return vt_perfdata_put_record(v->w, PD_SAMPLE, PD_MISC_USER, &stamp, b->data, b->size, err);
}

/* The size of raw bytes and these together are a multiple of 8. */
static int put_time_sample(struct values *v, const struct agent_record *r, struct vt_error *err)
{
	begin_sample(v, r, EVENT_TIME);
	vt_buf_put_le32(&v->payload, 4);
	vt_buf_put_le32(&v->payload, 0);
	vt_buf_put_le64(&v->payload, REGS_ABI_NONE);
	return end_sample(v, r, err);
}

static int put_value_sample(struct values *v, const struct agent_sample *r, enum values_event event,
			    struct vt_error *err)
{
	size_t raw = r->head.size - offsetof(struct agent_sample, values);
	struct vt_buf *b = &v->payload;
	size_t i;

	begin_sample(v, &r->head, event);
	vt_buf_put_le32(b, (uint32_t)raw + 4);
	vt_buf_put(b, &r->values, raw);
	vt_buf_put_le32(b, 0);
	vt_buf_put_le64(b, REGS_ABI_64);
	for (i = 0; i < AGENT_REGS; i++)
		vt_buf_put_le64(b, r->regs[i]);
	for (i = 0; i < 32; i++)
		vt_buf_put_le64(b, r->xmm[i]);
	return end_sample(v, &r->head, err);
}

static void want_frames(struct values *v, const struct agent_sample *s)
{
	int32_t pid = (int32_t)s->head.pid;

	frames_want(v->frames, pid, s->head.program, s->head.ip);
	frames_want(v->frames, pid, s->head.program, s->next[0]);
	frames_want(v->frames, pid, s->head.program, s->next[1]);
}

static int take_agent_record(void *arg, const struct agent_record *r, struct vt_error *err)
{
	const struct agent_sample *sample = (const struct agent_sample *)r;
	struct values *v = arg;

	switch (r->type) {
	case AGENT_ATTACH:
		processes_attach(&v->processes, (int32_t)r->pid, r->time);
		return 0;
	case AGENT_TIME:
		v->plain++;
		return put_time_sample(v, r, err);
	case AGENT_SAMPLE:
		v->samples++;
		want_frames(v, sample);
		return put_value_sample(v, sample, EVENT_TIME, err);
	case AGENT_STEP:
		return v->opt->steps ? put_value_sample(v, sample, EVENT_EXTRA, err) : 0;
	case AGENT_LOAD:
		return v->opt->latency ? loads_put(&v->loads, v->w, (const struct agent_load *)r,
						   EVENT_EXTRA, err)
				       : 0;
	default:
		v->rings.damaged++;
		return 0;
	}
}

/* MMAP2 as in perf_event_open(2): its name comes last, padded with zeros. */
#define MMAP2_PROT 56
#define MMAP2_NAME 64
#define CAN_EXEC   4

static void note_mapping(struct values *v, const struct sideband_record *r)
{
	if (r->size > MMAP2_NAME && !r->payload[r->size - 1] &&
	    vt_le32(r->payload + MMAP2_PROT) & CAN_EXEC)
		processes_map(&v->processes, r->id.pid, (const char *)r->payload + MMAP2_NAME);
}

static int take_side_record(void *arg, const struct sideband_record *r, struct vt_error *err)
{
	struct vt_perfdata_stamp stamp = {EVENT_SIDE, r->id.pid, r->id.tid, r->id.time, r->id.cpu};
	struct values *v = arg;

	frames_note(v->frames, r);
	if (r->type == PD_COMM && r->misc & PD_MISC_COMM_EXEC)
		processes_exec(&v->processes, r->id.pid, r->id.time);
	else if (r->type == PD_MMAP2)
		note_mapping(v, r);
	return vt_perfdata_put_record(v->w, r->type, r->misc, &stamp, r->payload, r->size, err);
}

static uint64_t read_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Samples that were not taken are losses of the event at this time. */
static int put_losses(struct values *v, struct vt_error *err)
{
	struct vt_perfdata_stamp stamp = {.event = EVENT_TIME, .pid = -1, .tid = -1};
	static const enum agent_loss lost[] = {AGENT_LATE, AGENT_RING_FULL, AGENT_NO_RING};
	uint8_t count[8];
	size_t i;
	int rc = 0;

	stamp.time = read_clock_ns();
	for (i = 0; i < AGENT_NLOSSES; i++)
		v->losses[i] = __atomic_load_n(&v->rings.shared->losses[i], __ATOMIC_RELAXED);
	for (i = 0; i < sizeof(lost) / sizeof(lost[0]) && rc == 0; i++) {
		uint64_t n = v->losses[lost[i]] - v->told[lost[i]];

		if (!n || v->losses[lost[i]] < v->told[lost[i]])
			continue;
		v->told[lost[i]] += n;
		vt_put_le64(count, n);
		rc = vt_perfdata_put_record(v->w, PD_LOST_SAMPLES, 0, &stamp, count, sizeof(count),
					    err);
	}
	return rc;
}

/* One round: what was written before the round at one place is not missing after it at another. */
static int read_round(struct values *v, struct vt_error *err)
{
	int rc = rings_read(&v->rings, take_agent_record, v, err);

	if (rc == 0)
		rc = sideband_read(v->side, take_side_record, v, err);
	/* The records have the mappings of the samples that were before them. */
	frames_fill(v->frames);
	if (rc == 0)
		rc = put_losses(v, err);
	if (rc == 0)
		rc = vt_perfdata_put_record(v->w, PD_FINISHED_ROUND, 0, NULL, NULL, 0, err);
	rings_free_dead(&v->rings);
	return rc;
}

/* Beside the output, whose file system has room for it; or where temporary files are. */
static bool make_data_file(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;
	int fd;

	if (strcmp(v->output, "-") == 0)
		vt_buf_printf(&v->data, "%s/vtrace.XXXXXX", app_tmpdir());
	else
		vt_buf_printf(&v->data, "%s.XXXXXX", v->output);
	fd = mkstemp((char *)vt_buf_str(&v->data));
	if (fd < 0) {
		vt_error_errno(&err, VT_E_WRITE, errno, "%s", vt_buf_str(&v->data));
		v->data.size = 0;
		return app_fail(v->app, &err);
	}
	close(fd);
	return vt_output_open(&v->out, vt_buf_str(&v->data), &err) == 0 || app_fail(v->app, &err);
}

static bool open_data(struct values *v)
{
	struct vt_perfdata_event events[NEVENTS] = {
		[EVENT_TIME] = {.name = v->machine.cycles ? "cycles:u" : "cpu-clock:u",
				.type = v->rings.shared->event_type,
				.config = v->rings.shared->event_config,
				.period = v->period,
				.sample_type = SAMPLE_TYPE,
				.flags = PD_ATTR_INHERIT | PD_ATTR_EXCLUDE_KERNEL,
				.regs_user = VT_VALUE_SAMPLE_REGS},
		[EVENT_SIDE] = {.name = "dummy:u",
				.type = PD_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_DUMMY,
				.sample_type = SIDE_TYPE,
				.flags = PD_ATTR_INHERIT | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_MMAP |
					 PD_ATTR_MMAP2 | PD_ATTR_COMM | PD_ATTR_TASK},
		[EVENT_EXTRA] = {.name = "steps:u",
				 .type = PD_TYPE_SOFTWARE,
				 .config = PERF_COUNT_SW_CPU_CLOCK,
				 .period = 1,
				 .sample_type = SAMPLE_TYPE,
				 .flags = PD_ATTR_INHERIT | PD_ATTR_EXCLUDE_KERNEL,
				 .regs_user = VT_VALUE_SAMPLE_REGS},
	};
	struct vt_perfdata_about about = {.arch = "x86_64"};
	struct vt_error err = VT_ERROR_INIT;

	if (v->opt->latency)
		events[EVENT_EXTRA] = loads_event();
	about.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (make_data_file(v)) {
		v->w = vt_perfdata_writer_new(
			&v->out, events, v->opt->steps || v->opt->latency ? NEVENTS : EVENT_EXTRA,
			&about, &err);
		if (!v->w)
			app_fail(v->app, &err);
	}
	return v->w != NULL;
}

static bool open_loads(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;

	return loads_open(&v->loads, &err) == 0 || app_fail(v->app, &err);
}

/* ---- the program ---- */

/* The period of so many samples a second, from the processor's own rate where it counts cycles. */
static uint64_t choose_period(const struct values *v)
{
	uint64_t rate = v->opt->frequency ? v->opt->frequency : VALUES_FREQUENCY;

	if (v->opt->period)
		return v->opt->period;
	return (v->machine.cycles ? probe_cycles_per_second() : 1000000000) / rate;
}

static bool share_memory(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;
	struct agent_shared *s;
	int fd = -1;

	v->shared = scratch_make_file(v->app, &fd);
	if (!v->shared)
		return false;
	if (rings_open(&v->rings, fd, &err) < 0) {
		vt_error_prefix(&err, "%s", v->shared);
		app_say(v->app, "VTRACE_TMPDIR names another place for shared memory");
		close(fd);
		return app_fail(v->app, &err);
	}
	close(fd);
	v->frames = frames_new(v->rings.frames, &err);
	if (!v->frames)
		return app_fail(v->app, &err);
	v->period = choose_period(v);
	s = v->rings.shared;
	s->insns = (uint32_t)v->opt->insns;
	s->one_in = (uint32_t)v->opt->one_in;
	s->steps = v->opt->steps;
	s->latency = v->opt->latency;
	s->distance = (uint32_t)v->opt->distance;
	s->period = v->period;
	s->event_type = v->machine.cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	s->event_config = v->machine.cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK;
	return true;
}

/* In the child: waits until the events are open, then becomes the program. */
static void become_program(const struct values *v, int wait)
{
	const char *before = getenv("LD_PRELOAD");
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	struct vt_buf preload = VT_BUF_INIT, agent = v->agent;
	char byte;

	while (read(wait, &byte, 1) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &by_default, NULL);
	sigprocmask(SIG_SETMASK, &v->old_set, NULL);
	vt_buf_printf(&preload, "%s%s%s", vt_buf_str(&agent), before && *before ? ":" : "",
		      before ? before : "");
	setenv("LD_PRELOAD", vt_buf_str(&preload), 1);
	setenv(AGENT_VARIABLE, v->shared, 1);
	if (strcmp(v->output, "-") == 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(v->app->argv[0], v->app->argv);
	app_say(v->app, "%s: %s", v->app->argv[0], strerror(errno));
	_exit(127);
}

static bool start_program(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;
	int wait[2];

	if (pipe(wait) < 0) {
		vt_error_errno(&err, VT_E_SYSTEM, errno, "pipe");
		return app_fail(v->app, &err);
	}
	fcntl(wait[0], F_SETFD, FD_CLOEXEC);
	fcntl(wait[1], F_SETFD, FD_CLOEXEC);
	v->child = fork();
	if (v->child == 0) {
		close(wait[1]);
		become_program(v, wait[0]);
	}
	close(wait[0]);
	v->go = wait[1];
	if (v->child < 0)
		vt_error_errno(&err, VT_E_SYSTEM, errno, "fork");
	else
		v->side = sideband_open(v->child, &err);
	return v->side || app_fail(v->app, &err);
}

static void handle_signal(struct values *v, const struct signalfd_siginfo *s)
{
	if (s->ssi_signo == SIGCHLD) {
		v->ended = v->ended || waitpid(v->child, &v->status, WNOHANG) == v->child;
		return;
	}
	v->asked = true;
	/* A signal from the keyboard reaches the program, too. */
	if (!v->ended && s->ssi_code != SI_KERNEL)
		kill(v->child, (int)s->ssi_signo);
}

static int receive_samples(struct values *v, struct vt_error *err)
{
	struct pollfd fd = {.fd = v->signals, .events = POLLIN};
	struct signalfd_siginfo s;
	struct stat st;
	int rc = 0;

	while (rc == 0 && !v->ended) {
		if (poll(&fd, 1, LOOK_MS) < 0 && errno != EINTR)
			return vt_error_errno(err, VT_E_SYSTEM, errno, "poll");
		while (read(v->signals, &s, sizeof(s)) == (ssize_t)sizeof(s))
			handle_signal(v, &s);
		rc = read_round(v, err);
		if (v->progress.active && stat(vt_buf_str(&v->data), &st) == 0)
			progress_update(&v->progress, (uint64_t)st.st_size);
	}
	rings_stop(&v->rings);
	return rc < 0 ? rc : read_round(v, err);
}

static void watch_signals(struct values *v)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < NSIGNALS; i++)
		sigaddset(&set, watched[i]);
	sigprocmask(SIG_BLOCK, &set, &v->old_set);
	v->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Runs the program to its end.  False: it could not be started. */
static bool run_program(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	watch_signals(v);
	v->start_ns = read_clock_ns();
	v->start_tick = __builtin_ia32_rdtsc();
	ok = start_program(v);
	if (!ok && v->child > 0)
		kill(v->child, SIGKILL);
	close(v->go);
	progress_start(&v->progress, v->app->name, "", false);
	if (ok && receive_samples(v, &err) < 0) {
		rings_stop(&v->rings);
		app_fail(v->app, &err);
	}
	progress_end(&v->progress);
	v->end_ns = read_clock_ns();
	v->end_tick = __builtin_ia32_rdtsc();
	while (v->child > 0 && !v->ended)
		v->ended = waitpid(v->child, &v->status, 0) == v->child || errno != EINTR;
	close(v->signals);
	return ok;
}

/* ---- the end ---- */

static void say_loss(const struct values *v, enum agent_loss why, const char *text)
{
	if (v->losses[why])
		app_say(v->app, "%" PRIu64 " %s", v->losses[why], text);
}

static void report_losses(struct values *v)
{
	struct app *a = v->app;
	int why;

	if (WIFSIGNALED(v->status))
		app_say(a, "%s: ended by signal %d (%s)", a->argv[0], WTERMSIG(v->status),
			strsignal(WTERMSIG(v->status)));
	say_loss(v, AGENT_LATE, "samples came late, with SIGTRAP blocked: left out");
	say_loss(v, AGENT_RING_FULL, "samples lost: they were not read in time");
	say_loss(v, AGENT_NO_RING,
		 "samples lost: more threads were sampled at once than there are "
		 "rings");
	say_loss(v, AGENT_FOREIGN,
		 "times the program had a handler of its own in the agent's "
		 "place: values there may be missing");
	say_loss(v, AGENT_CLOSED, "periods could not be changed: the program has closed the event");
	say_loss(
		v, AGENT_SANDBOX,
		"times a program forbade itself system calls (seccomp): not sampled from there on");
	if (v->losses[AGENT_NOT_ARMED])
		app_say(a, "%" PRIu64 " %s not sampled: perf_event_open: %s",
			v->losses[AGENT_NOT_ARMED],
			v->losses[AGENT_NOT_ARMED] == 1 ? "process is" : "processes are",
			strerror((int)v->rings.shared->not_armed));
	processes_end(&v->processes);
	for (why = 0; why < NUNSAMPLED; why++)
		if (v->processes.count[why])
			app_say(a, "%" PRIu64 " executed %s not sampled: %s",
				v->processes.count[why],
				v->processes.count[why] == 1 ? "program is" : "programs are",
				unsampled_name((enum unsampled)why));
	if (v->rings.damaged)
		app_say_lossy(a, "%" PRIu64 " %s of shared memory damaged", v->rings.damaged,
			      v->rings.damaged == 1 ? "place" : "places");
}

static double handler_us(const struct values *v, uint64_t ticks)
{
	double ns = (double)(v->end_ns - v->start_ns), all = (double)(v->end_tick - v->start_tick);

	return all > 0 ? (double)ticks * ns / all / (double)v->samples / 1e3 : 0;
}

/* A walk may end before it comes to the loads that are timed. */
static void report_loads(const struct values *v)
{
	struct vt_buf levels = VT_BUF_INIT;

	levels_name(&v->loads.levels, &levels);
	app_say(v->app, "%" PRIu64 " loads timed, behind %" PRIu64 " of the samples; in ticks: %s",
		v->loads.count, rings_far(&v->rings), vt_buf_str(&levels));
	vt_buf_free(&levels);
}

static void report_samples(const struct values *v)
{
	uint64_t ticks, insns;

	if (v->plain)
		app_say(v->app, "%" PRIu64 " samples of time alone", v->plain);
	if (!v->samples) {
		app_say(v->app,
			"no %ssample was taken: it ran for less than a period, or keeps signals "
			"from the agent",
			v->plain ? "other " : "");
		return;
	}
	rings_sum(&v->rings, &ticks, &insns);
	if (v->opt->steps)
		app_say(v->app, "%" PRIu64 " samples, and steps", v->samples);
	else
		app_say(v->app,
			"%" PRIu64 " samples of %.1f instructions; %.1f us each in the handler",
			v->samples, (double)insns / (double)v->samples, handler_us(v, ticks));
	if (v->opt->latency)
		report_loads(v);
}

static void put_load_facts(const struct values *v, struct vt_writer *w)
{
	struct vt_buf levels = VT_BUF_INIT;

	levels_name(&v->loads.levels, &levels);
	vt_writer_meta_u64(w, "agent.distance", v->opt->distance);
	vt_writer_meta_u64(w, "agent.timed", rings_far(&v->rings));
	vt_writer_meta(w, "latency.levels", vt_buf_str(&levels));
	vt_buf_free(&levels);
}

/* What a stream says of how it was recorded. */
static void put_facts(const void *arg, struct vt_writer *w)
{
	static const char *const losses[AGENT_NLOSSES] = {
		"agent.late",	   "agent.ring_full", "agent.no_ring", "agent.foreign",
		"agent.not_armed", "agent.closed",    "agent.sandbox"};
	static const char *const unsampled[NUNSAMPLED] = {
		"agent.not_sampled.static", "agent.not_sampled.setuid", "agent.not_sampled.foreign",
		"agent.not_sampled.other"};
	const struct values *v = arg;
	char cpu[VT_CALIBRATION_TEXT];
	struct vt_buf line = VT_BUF_INIT;
	size_t i;

	put_command_line(v->app, &line);
	calibration_name_cpu(cpu);
	vt_writer_meta(w, "cmdline", vt_buf_str(&line));
	vt_buf_free(&line);
	vt_writer_meta(w, "cpuid", cpu);
	vt_writer_meta(w, "recorder", "sample-values");
	vt_writer_meta_u64(w, "agent.insns", v->opt->insns);
	if (v->opt->latency)
		put_load_facts(v, w);
	for (i = 0; i < AGENT_NLOSSES; i++)
		if (v->losses[i])
			vt_writer_meta_u64(w, losses[i], v->losses[i]);
	for (i = 0; i < NUNSAMPLED; i++)
		if (v->processes.count[i])
			vt_writer_meta_u64(w, unsampled[i], v->processes.count[i]);
}

static const char *unfinished = ""; /* a path */

static void remove_unfinished(int sig)
{
	unlink(unfinished);
	raise(sig);
}

static void guard_against(int sig)
{
	struct sigaction act = {.sa_handler = remove_unfinished,
				.sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
	struct sigaction old;

	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(sig, &act, NULL);
}

/* What ends this process from now on, as a reader that closes the pipe does, leaves no file. */
static void guard_data(struct values *v)
{
	size_t i;

	unlink(v->shared);
	unfinished = vt_buf_str(&v->data);
	guard_against(SIGPIPE);
	for (i = 0; i < NSIGNALS; i++)
		if (watched[i] != SIGCHLD)
			guard_against(watched[i]);
}

static void write_output(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT, later = VT_ERROR_INIT;
	int rc = vt_perfdata_writer_close(v->w, true, &err);

	v->w = NULL;
	if (vt_output_close(&v->out, rc == 0 ? &err : &later) < 0)
		rc = -1;
	if (rc < 0) {
		app_fail(v->app, &err);
		return;
	}
	report_losses(v);
	report_samples(v);
	guard_data(v);
	app_decode(v->app,
		   &(struct app_decode){.output = v->output,
					.compress = v->compress,
					.pack = v->opt->pack,
					.facts = put_facts,
					.facts_arg = v},
		   vt_buf_str(&v->data));
	unfinished = "";
}

static void clean_up(struct values *v)
{
	vt_perfdata_writer_close(v->w, false, NULL);
	if (v->data.size)
		unlink(vt_buf_str(&v->data));
	if (v->shared)
		unlink(v->shared);
	sideband_close(v->side);
	frames_free(v->frames);
	loads_close(&v->loads);
	rings_close(&v->rings);
	free(v->shared);
	free(v->processes.events);
	vt_buf_free(&v->data);
	vt_buf_free(&v->agent);
	vt_buf_free(&v->payload);
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static bool is_file_output(const char *path)
{
	struct stat st;

	return (strcmp(path, "-") == 0 ? fstat(STDOUT_FILENO, &st) : stat(path, &st)) < 0 ||
	       S_ISREG(st.st_mode);
}

int record_values(struct app *a, const struct values_options *o)
{
	struct values v = {.app = a, .opt = o, .go = -1};
	bool ran = false;

	sigprocmask(SIG_SETMASK, NULL, &v.old_set);
	v.output = o->output ? o->output : is_pipe(STDOUT_FILENO) ? "-" : DEFAULT_OUTPUT;
	v.compress = o->compress		? o->compress
		     : is_file_output(v.output) ? DEFAULT_COMPRESSION
						: NULL;
	app_make_stream(a, v.output);
	if (find_agent(&v) && check_program(&v) && check_output_name(a, v.output) &&
	    check_event(&v) && share_memory(&v) && (!o->latency || open_loads(&v)) &&
	    open_data(&v)) {
		app_say(a,
			"recording %s every %" PRIu64 " %s, and the next %" PRIu64
			" instructions of each",
			v.machine.cycles ? "cycles:u" : "cpu-clock:u", v.period,
			v.machine.cycles ? "cycles" : "ns", o->insns);
		ran = run_program(&v);
		if (ran && a->status < APP_INPUT)
			write_output(&v);
	}
	clean_up(&v);
	/* Until all is written, nothing ends this process. */
	restore_signals(&v.old_set);
	if (!ran)
		return 0;
	return WIFEXITED(v.status) ? WEXITSTATUS(v.status) : 128 + WTERMSIG(v.status);
}
