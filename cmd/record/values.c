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
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/plural.h"
#include "cmd/common/find.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/record/calibrate.h"
#include "cmd/record/child.h"
#include "cmd/record/command.h"
#include "cmd/record/data.h"
#include "cmd/record/frames.h"
#include "cmd/record/probe.h"
#include "cmd/record/processes.h"
#include "cmd/record/rings.h"
#include "cmd/record/scratch.h"
#include "cmd/record/sideband.h"

#define AGENT "libvtrace-agent.so"

/* How often rings are read: a tenth of the time in which 20,000 samples a second fill one. */
#define LOOK_MS 20

struct values {
	struct app *app;
	const struct values_options *opt;
	struct probe machine;
	struct vt_buf agent; /* path */
	struct rings rings;
	char *shared;  /* path of the file, */
	int shared_fd; /* which is locked while the recorder runs; -1: none */
	struct sideband *side;
	struct frames *frames;
	struct processes processes;
	struct data data;
	struct child child;
	uint64_t period;
	uint64_t samples;   /* that were walked */
	uint64_t plain;	    /* others */
	struct loads loads; /* if they are timed */
	uint64_t losses[AGENT_NLOSSES];
	uint64_t told[AGENT_NLOSSES]; /* of them, those that are LOST records */
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

static void begin_sample(struct values *v, const struct agent_record *r, enum data_event event)
{
	const struct data_sample sample = {
		.ip = r->ip,
		.pid = r->pid,
		.tid = r->tid,
		.time = r->time,
		.cpu = r->cpu,
		.period = event == DATA_TIME ? v->period : r->step,
	};

	data_begin_sample(&v->data, event, &sample);
}

/* The size of raw bytes and these together are a multiple of 8. */
static int put_time_sample(struct values *v, const struct agent_record *r, struct vt_error *err)
{
	struct vt_buf *b = &v->data.payload;

	begin_sample(v, r, DATA_TIME);
	vt_buf_put_le32(b, 4);
	vt_buf_put_le32(b, 0);
	vt_buf_put_le64(b, DATA_REGS_NONE);
	return data_put_sample(&v->data, PD_MISC_USER, r->time, err);
}

static int put_value_sample(struct values *v, const struct agent_sample *r, enum data_event event,
			    struct vt_error *err)
{
	size_t raw = r->head.size - offsetof(struct agent_sample, values);
	struct vt_buf *b = &v->data.payload;
	size_t i;

	begin_sample(v, &r->head, event);
	vt_buf_put_le32(b, (uint32_t)raw + 4);
	vt_buf_put(b, &r->values, raw);
	vt_buf_put_le32(b, 0);
	vt_buf_put_le64(b, DATA_REGS_64);
	for (i = 0; i < AGENT_REGS; i++)
		vt_buf_put_le64(b, r->regs[i]);
	for (i = 0; i < 32; i++)
		vt_buf_put_le64(b, r->xmm[i]);
	return data_put_sample(&v->data, PD_MISC_USER, r->head.time, err);
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
		return put_value_sample(v, sample, DATA_TIME, err);
	case AGENT_STEP:
		return v->opt->steps ? put_value_sample(v, sample, DATA_OTHER, err) : 0;
	case AGENT_LOAD:
		return v->opt->latency ? loads_put(&v->loads, v->data.w,
						   (const struct agent_load *)r, DATA_OTHER, err)
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
	struct values *v = arg;

	frames_note(v->frames, r);
	if (r->type == PD_COMM && r->misc & PD_MISC_COMM_EXEC)
		processes_exec(&v->processes, r->id.pid, r->id.time);
	else if (r->type == PD_MMAP2)
		note_mapping(v, r);
	return data_put_side(&v->data, r, err);
}

/* Samples that were not taken are losses of the event at this time. */
static int put_losses(struct values *v, struct vt_error *err)
{
	static const enum agent_loss lost[] = {AGENT_LATE, AGENT_RING_FULL, AGENT_NO_RING};
	size_t i;
	int rc = 0;

	for (i = 0; i < AGENT_NLOSSES; i++)
		v->losses[i] = __atomic_load_n(&v->rings.shared->losses[i], __ATOMIC_RELAXED);
	for (i = 0; i < sizeof(lost) / sizeof(lost[0]) && rc == 0; i++) {
		uint64_t n = v->losses[lost[i]] - v->told[lost[i]];

		if (!n || v->losses[lost[i]] < v->told[lost[i]])
			continue;
		v->told[lost[i]] += n;
		rc = data_put_lost(&v->data, n, err);
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
		rc = data_put_round(&v->data, err);
	rings_free_dead(&v->rings);
	return rc;
}

static struct vt_perfdata_event time_event(const struct values *v)
{
	return data_time_event(&v->machine, false, v->period, VT_VALUE_SAMPLE_REGS);
}

static bool open_data(struct values *v)
{
	const struct vt_perfdata_event time = time_event(v), loads = loads_event();
	struct vt_perfdata_event steps = time;

	steps.name = "steps:u";
	steps.type = PD_TYPE_SOFTWARE;
	steps.config = PERF_COUNT_SW_CPU_CLOCK;
	steps.period = 1;
	return data_open(&v->data, &time, v->opt->steps ? &steps : v->opt->latency ? &loads : NULL);
}

static bool open_loads(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;

	return loads_open(&v->loads, &err) == 0 || app_fail(v->app, &err);
}

/* ---- the program ---- */

static bool share_memory(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_perfdata_event time;
	struct agent_shared *s;

	v->shared = scratch_make_file(v->app, &v->shared_fd);
	if (!v->shared)
		return false;
	if (rings_open(&v->rings, v->shared_fd, &err) < 0) {
		vt_error_prefix(&err, "%s", v->shared);
		app_say(v->app, "VTRACE_TMPDIR names another place for shared memory");
		return app_fail(v->app, &err);
	}
	if (v->rings.ring_size < RINGS_SIZE)
		app_say(v->app,
			"%s has little room: buffers of %" PRIu32 " KB instead of %u; samples may "
			"be lost (VTRACE_TMPDIR names another place)",
			v->shared, v->rings.ring_size >> 10, RINGS_SIZE >> 10);
	v->frames = frames_new(v->rings.frames, &err);
	if (!v->frames)
		return app_fail(v->app, &err);
	v->period = v->opt->period ? v->opt->period
				   : data_choose_period(&v->machine, v->opt->frequency);
	time = time_event(v);
	s = v->rings.shared;
	s->insns = (uint32_t)v->opt->insns;
	s->one_in = (uint32_t)v->opt->one_in;
	s->steps = v->opt->steps;
	s->latency = v->opt->latency;
	s->distance = (uint32_t)v->opt->distance;
	s->period = v->period;
	s->event_type = time.type;
	s->event_config = time.config;
	return true;
}

/* In the child: what loads the agent. */
static void set_variables(void *arg)
{
	struct values *v = arg;
	const char *before = getenv("LD_PRELOAD");
	struct vt_buf preload = VT_BUF_INIT;

	vt_buf_printf(&preload, "%s%s%s", vt_buf_str(&v->agent), before && *before ? ":" : "",
		      before ? before : "");
	setenv("LD_PRELOAD", vt_buf_str(&preload), 1);
	setenv(AGENT_VARIABLE, v->shared, 1);
}

static bool start_program(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!child_start(&v->child, v->app, data_is_to_stdout(&v->data), set_variables, v))
		return false;
	v->side = sideband_open(v->child.pid, &err);
	return v->side || app_fail(v->app, &err);
}

static int receive_samples(struct values *v, struct vt_error *err)
{
	struct pollfd fd = {.fd = v->child.signals, .events = POLLIN};
	int rc = 0;

	while (rc == 0 && !v->child.ended) {
		if (poll(&fd, 1, LOOK_MS) < 0 && errno != EINTR)
			return vt_error_errno(err, VT_E_SYSTEM, errno, "poll");
		child_take_signals(&v->child);
		rc = read_round(v, err);
		if (v->progress.active)
			progress_update(&v->progress, data_size(&v->data));
	}
	rings_stop(&v->rings);
	return rc < 0 ? rc : read_round(v, err);
}

/* Runs the program to its end.  False: it could not be started. */
static bool run_program(struct values *v)
{
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	child_block_signals(&v->child);
	v->start_ns = data_clock_ns();
	v->start_tick = __builtin_ia32_rdtsc();
	ok = start_program(v);
	if (!ok && v->child.pid)
		kill(v->child.pid, SIGKILL);
	child_go(&v->child);
	progress_start(&v->progress, v->app->name, "", false);
	if (ok && receive_samples(v, &err) < 0) {
		rings_stop(&v->rings);
		app_fail(v->app, &err);
	}
	progress_end(&v->progress);
	v->end_ns = data_clock_ns();
	v->end_tick = __builtin_ia32_rdtsc();
	child_wait(&v->child);
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

	child_report(&v->child, a);
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
	say_loss(v, AGENT_TRACED, "programs ran in a debugger: not sampled");
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
		"agent.not_armed", "agent.closed",    "agent.sandbox", "agent.traced"};
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

static void write_output(struct values *v)
{
	if (!data_close(&v->data))
		return;
	report_losses(v);
	report_samples(v);
	unlink(v->shared);
	data_decode(&v->data, put_facts, v);
}

static void clean_up(struct values *v)
{
	data_end(&v->data);
	if (v->shared)
		unlink(v->shared);
	if (v->shared_fd >= 0)
		close(v->shared_fd);
	sideband_close(v->side);
	frames_free(v->frames);
	loads_close(&v->loads);
	rings_close(&v->rings);
	free(v->shared);
	free(v->processes.events);
	vt_buf_free(&v->agent);
}

int record_values(struct app *a, const struct values_options *o)
{
	struct values v = {.app = a, .opt = o, .child = CHILD_INIT, .shared_fd = -1};
	struct vt_perfdata_event time;
	bool ran = false;

	sigprocmask(SIG_SETMASK, NULL, &v.child.old_set);
	data_init(&v.data, a, o->output, o->compress, o->pack);
	if (find_agent(&v) && check_program(&v) && check_output_name(a, v.data.output) &&
	    check_event(&v) && share_memory(&v) && (!o->latency || open_loads(&v)) &&
	    open_data(&v)) {
		time = time_event(&v);
		data_say_begin(&v.data, &v.machine, &time, o->insns);
		ran = run_program(&v);
		if (ran && a->status < APP_INPUT)
			write_output(&v);
	}
	clean_up(&v);
	/* Until all is written, nothing ends this process. */
	restore_signals(&v.child.old_set);
	return ran ? child_exit_status(&v.child) : 0;
}
