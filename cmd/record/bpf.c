/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include "cmd/record/bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "cmd/bpf/running.h"
#include "cmd/bpf/sampler.h"
#include "cmd/common/decode.h"
#include "cmd/common/find.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/record/calibrate.h"
#include "cmd/record/command.h"
#include "cmd/record/existing.h"
#include "cmd/record/probe.h"
#include "cmd/record/sideband.h"
#include "cmd/walker/walk.h"
#include "formats/common/value_sample.h"
#include "formats/perfdata/write.h"

#define DEFAULT_OUTPUT "vtrace.vt"

#define INITIAL_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO of linux/proc_ns.h */

/* How often samples are read; those that come to code that is not compiled at once. */
#define LOOK_MS 10

#define NSIGNALS 5
static const int watched[NSIGNALS] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};

enum bpf_event { EVENT_TIME, EVENT_SIDE, NEVENTS };

struct recording {
	struct app *app;
	const struct values_options *opt;
	const char *output;
	struct probe machine;
	struct running_kernel kernel;
	struct bpf_sampler *sampler;
	struct bpf_sampler_totals totals;
	struct sideband *side;
	struct vt_hash family; /* with --pid: the process and what it has started, by pid */
	struct vt_buf data;    /* path of the perf.data */
	struct vt_output out;
	struct vt_perfdata_writer *w;
	struct vt_buf payload;
	uint64_t period;
	uint64_t samples[2]; /* of users, of the kernel */
	uint64_t first;	     /* of them those at code that was not known yet */
	uint64_t walked;
	uint64_t told; /* lost samples that are records */
	sigset_t old_set;
	int signals;
	int go; /* the child waits for this pipe to close */
	pid_t child;
	int status; /* from waitpid() */
	bool ended;
	struct progress progress;
};

/* ---- records ---- */

/* perf's order of the fields: ip, tid, time, cpu, period, raw, user registers. */
#define SAMPLE_TYPE                                                                                \
	(PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD |        \
	 PD_SAMPLE_RAW | PD_SAMPLE_REGS_USER)
#define SIDE_TYPE    (PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU)
#define REGS_ABI_64  2
#define GENERAL_REGS (VT_VALUE_SAMPLE_REGS & UINT32_MAX)

/* The general registers in the order of asm/perf_regs.h, by the numbers of their encoding. */
static const uint8_t regs_order[] = {0, 3, 1, 2, 6, 7, 5, 4};

static void put_lines(struct vt_buf *b, const struct bpf_walk_sample *s, uint32_t n)
{
	struct vt_value_sample head = {
		.magic = VT_VALUE_SAMPLE_MAGIC,
		.walked = (uint16_t)s->walked,
		.stop = (uint16_t)s->stop,
		.fs_base = s->fs_base,
		.gs_base = s->gs_base,
	};
	uint32_t i;

	for (i = 0; i < n; i++)
		head.nlines += s->line[i].read != 0;
	/* The size and the bytes together are a multiple of 8. */
	vt_buf_put_le32(b, (uint32_t)sizeof(head) + head.nlines * (8 + VT_VALUE_SAMPLE_LINE) + 4);
	vt_buf_put(b, &head, sizeof(head));
	for (i = 0; i < n; i++)
		if (s->line[i].read)
			vt_buf_put_le64(b, s->line[i].addr);
	for (i = 0; i < n; i++)
		if (s->line[i].read)
			vt_buf_put(b, s->line[i].bytes, VT_VALUE_SAMPLE_LINE);
	vt_buf_put_le32(b, 0);
}

static void put_registers(struct vt_buf *b, const struct bpf_walk_sample *s)
{
	size_t i;

	vt_buf_put_le64(b, REGS_ABI_64);
	for (i = 0; i < sizeof(regs_order); i++)
		vt_buf_put_le64(b, s->gpr[regs_order[i]]);
	vt_buf_put_le64(b, s->ip);
	vt_buf_put_le64(b, s->flags);
	for (i = 8; i < 16; i++)
		vt_buf_put_le64(b, s->gpr[i]);
}

static int take_sample(void *arg, const struct bpf_walk_sample *s, struct vt_error *err)
{
	struct vt_perfdata_stamp stamp = {.event = EVENT_TIME, .time = s->time};
	struct recording *r = arg;
	struct vt_buf *b = &r->payload;
	bool kernel = !s->space;

	r->samples[kernel]++;
	r->first += s->missing == s->ip;
	r->walked += s->walked;
	b->size = 0;
	vt_buf_put_le64(b, EVENT_TIME + 1);
	vt_buf_put_le64(b, s->ip);
	vt_buf_put_le32(b, s->pid);
	vt_buf_put_le32(b, s->tid);
	vt_buf_put_le64(b, s->time);
	vt_buf_put_le64(b, s->cpu);
	vt_buf_put_le64(b, r->period);
	put_lines(b, s, s->nlines < BPF_WALK_LINES ? s->nlines : BPF_WALK_LINES);
	put_registers(b, s);
	if (b->failed)
		return vt_error_nomem(err);
	return vt_perfdata_put_record(r->w, PD_SAMPLE, kernel ? PD_MISC_KERNEL : PD_MISC_USER,
				      &stamp, b->data, b->size, err);
}

/* Whether a record is of what is recorded.  With --pid the kernel tells of all processes. */
static bool is_family(struct recording *r, const struct sideband_record *rec)
{
	uint32_t pid = (uint32_t)rec->id.pid, parent;

	if (!r->opt->pid)
		return true;
	/* FORK begins with the pids of child and parent. */
	if (rec->type == PD_FORK && rec->size >= 8) {
		pid = vt_le32(rec->payload);
		parent = vt_le32(rec->payload + 4);
		if (vt_hash_find(&r->family, &parent))
			vt_hash_add(&r->family, &pid, NULL);
	}
	return vt_hash_find(&r->family, &pid);
}

static int take_side_record(void *arg, const struct sideband_record *rec, struct vt_error *err)
{
	struct vt_perfdata_stamp stamp = {EVENT_SIDE, rec->id.pid, rec->id.tid, rec->id.time,
					  rec->id.cpu};
	struct recording *r = arg;

	if (!is_family(r, rec))
		return 0;
	return vt_perfdata_put_record(r->w, rec->type, rec->misc, &stamp, rec->payload, rec->size,
				      err);
}

static uint64_t read_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int put_losses(struct recording *r, struct vt_error *err)
{
	struct vt_perfdata_stamp stamp = {.event = EVENT_TIME, .pid = -1, .tid = -1};
	uint8_t count[8];

	bpf_sampler_total(r->sampler, &r->totals);
	if (r->totals.lost <= r->told)
		return 0;
	stamp.time = read_clock_ns();
	vt_put_le64(count, r->totals.lost - r->told);
	r->told = r->totals.lost;
	return vt_perfdata_put_record(r->w, PD_LOST_SAMPLES, 0, &stamp, count, sizeof(count), err);
}

/* One round: what was written before the round at one place is not missing after it at another. */
static int read_round(struct recording *r, struct vt_error *err)
{
	int rc = bpf_sampler_read(r->sampler, take_sample, r, err);

	if (rc == 0)
		rc = sideband_read(r->side, take_side_record, r, err);
	if (rc == 0)
		rc = put_losses(r, err);
	return rc ? rc : vt_perfdata_put_record(r->w, PD_FINISHED_ROUND, 0, NULL, NULL, 0, err);
}

/* ---- the perf.data ---- */

/* Beside the output, whose file system has room for it; or where temporary files are. */
static bool make_data_file(struct recording *r)
{
	struct vt_error err = VT_ERROR_INIT;
	int fd;

	if (strcmp(r->output, "-") == 0)
		vt_buf_printf(&r->data, "%s/vtrace.XXXXXX", app_tmpdir());
	else
		vt_buf_printf(&r->data, "%s.XXXXXX", r->output);
	fd = mkstemp((char *)vt_buf_str(&r->data));
	if (fd < 0) {
		vt_error_errno(&err, VT_E_WRITE, errno, "%s", vt_buf_str(&r->data));
		r->data.size = 0;
		return app_fail(r->app, &err);
	}
	close(fd);
	return vt_output_open(&r->out, vt_buf_str(&r->data), &err) == 0 || app_fail(r->app, &err);
}

static uint32_t event_type(const struct recording *r)
{
	return r->machine.cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
}

static uint64_t event_config(const struct recording *r)
{
	return r->machine.cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK;
}

static bool open_data(struct recording *r)
{
	const struct vt_perfdata_event events[NEVENTS] = {
		[EVENT_TIME] = {.name = r->machine.cycles ? "cycles" : "cpu-clock",
				.type = event_type(r),
				.config = event_config(r),
				.period = r->period,
				.sample_type = SAMPLE_TYPE,
				.flags = PD_ATTR_INHERIT,
				.regs_user = GENERAL_REGS},
		[EVENT_SIDE] = {.name = "dummy:u",
				.type = PD_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_DUMMY,
				.sample_type = SIDE_TYPE,
				.flags = PD_ATTR_INHERIT | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_MMAP |
					 PD_ATTR_MMAP2 | PD_ATTR_COMM | PD_ATTR_TASK},
	};
	struct vt_perfdata_about about = {.arch = "x86_64"};
	struct vt_error err = VT_ERROR_INIT;

	about.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (make_data_file(r)) {
		r->w = vt_perfdata_writer_new(&r->out, events, NEVENTS, &about, &err);
		if (!r->w)
			app_fail(r->app, &err);
	}
	return r->w != NULL;
}

/* ---- what is recorded ---- */

static bool read_kernel_line(void *arg, uint64_t addr, uint8_t bytes[64])
{
	struct recording *r = arg;

	return bpf_sampler_read_kernel(r->sampler, addr, bytes);
}

static bool refuse(struct recording *r, const struct vt_error *err, int code)
{
	if (code == EPERM || code == EACCES)
		app_say(r->app, "--bpf: %s: it takes root, or CAP_BPF and CAP_PERFMON", err->text);
	else if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		app_say(r->app, "--bpf: this kernel does not describe its types "
				"(/sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF)");
	else
		app_say(r->app, "--bpf: %s (Linux 5.17 or later is wanted)", err->text);
	app_raise(r->app, APP_INPUT);
	return false;
}

/* The period of so many samples a second, from the processor's own rate where it counts cycles. */
static uint64_t choose_period(const struct recording *r)
{
	uint64_t rate = r->opt->frequency ? r->opt->frequency : VALUES_FREQUENCY;

	if (r->opt->period)
		return r->opt->period;
	return (r->machine.cycles ? probe_cycles_per_second() : 1000000000) / rate;
}

static bool open_sampler(struct recording *r)
{
	struct vt_error err = VT_ERROR_INIT;
	struct bpf_sampler_options o;

	probe_machine(&r->machine);
	r->period = choose_period(r);
	o = (struct bpf_sampler_options){
		.type = event_type(r),
		.config = event_config(r),
		.period = r->period,
		.insns = (uint32_t)r->opt->insns,
	};
	errno = 0;
	r->sampler = bpf_sampler_open(&o, &err);
	if (!r->sampler)
		return refuse(r, &err, errno);
	if (running_kernel_look(&r->kernel, &err) < 0)
		return app_fail(r->app, &err);
	if (running_kernel_find_offsets(&r->kernel, read_kernel_line, r))
		bpf_sampler_set_offsets(r->sampler, r->kernel.cpu_offsets);
	else
		app_say(r->app, "the kernel's own data of a processor is not found: what it reads "
				"there is not recorded");
	return true;
}

static bool watch_failed(struct recording *r, int code)
{
	app_say(r->app, "--bpf: perf_event_open: %s", strerror(code));
	app_raise(r->app, APP_INPUT);
	return false;
}

static int watch_thread(void *arg, pid_t tid)
{
	struct recording *r = arg;
	int code = bpf_sampler_watch(r->sampler, tid, -1, false);

	return code == ESRCH ? 0 : -code;
}

static bool watch_processors(struct recording *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), cpu;
	int code;

	for (cpu = 0; cpu < cpus; cpu++) {
		code = bpf_sampler_watch(r->sampler, -1, (int)cpu, false);
		if (code && code != ENODEV) /* not online */
			return watch_failed(r, code);
	}
	return true;
}

/* In the child: waits until the events are open, then becomes the program. */
static void become_program(const struct recording *r, int wait)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	char byte;

	while (read(wait, &byte, 1) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &by_default, NULL);
	sigprocmask(SIG_SETMASK, &r->old_set, NULL);
	if (strcmp(r->output, "-") == 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(r->app->argv[0], r->app->argv);
	app_say(r->app, "%s: %s", r->app->argv[0], strerror(errno));
	_exit(127);
}

static bool start_child(struct recording *r)
{
	struct vt_error err = VT_ERROR_INIT;
	int wait[2];

	if (!r->app->argc)
		return true;
	if (pipe2(wait, O_CLOEXEC) < 0) {
		vt_error_errno(&err, VT_E_SYSTEM, errno, "pipe");
		return app_fail(r->app, &err);
	}
	r->child = fork();
	if (r->child == 0) {
		close(wait[1]);
		become_program(r, wait[0]);
	}
	close(wait[0]);
	r->go = wait[1];
	if (r->child > 0)
		return true;
	vt_error_errno(&err, VT_E_SYSTEM, errno, "fork");
	return app_fail(r->app, &err);
}

/* What runs already, told of at the time at which the kernel begins to tell. */
static bool put_existing(struct recording *r)
{
	struct vt_perfdata_stamp stamp = {.event = EVENT_SIDE, .time = read_clock_ns()};
	struct vt_error err = VT_ERROR_INIT;
	pid_t pid = r->opt->pid ? (pid_t)r->opt->pid : -1;
	int rc = put_existing_kernel(r->w, &stamp, &r->kernel, &err);

	if (rc == 0 && (r->opt->pid || r->opt->all_cpus))
		rc = put_existing_processes(r->w, &stamp, pid, &err);
	return rc == 0 || app_fail(r->app, &err);
}

static bool start_events(struct recording *r)
{
	pid_t pid = (pid_t)r->opt->pid;
	int code;

	if (r->opt->all_cpus)
		return watch_processors(r);
	code = pid ? -each_existing_thread(pid, watch_thread, r)
		   : bpf_sampler_watch(r->sampler, r->child, -1, true);
	return !code || watch_failed(r, code);
}

static bool start(struct recording *r)
{
	bool one = !r->opt->all_cpus && !r->opt->pid;
	struct vt_error err = VT_ERROR_INIT;
	uint32_t pid = (uint32_t)r->opt->pid;

	vt_hash_init(&r->family, sizeof(uint32_t), sizeof(uint32_t));
	if (pid && !vt_hash_add(&r->family, &pid, NULL)) {
		vt_error_nomem(&err);
		return app_fail(r->app, &err);
	}
	if (!start_child(r))
		return false;
	r->side = sideband_open(one ? r->child : -1, &err);
	if (!r->side)
		return app_fail(r->app, &err);
	return put_existing(r) && start_events(r);
}

/* ---- the run ---- */

static void handle_signal(struct recording *r, const struct signalfd_siginfo *s)
{
	if (s->ssi_signo == SIGCHLD) {
		r->ended = r->ended || waitpid(r->child, &r->status, WNOHANG) == r->child;
		return;
	}
	if (!r->child)
		r->ended = true;
	/* A signal from the keyboard reaches the program, too. */
	else if (!r->ended && s->ssi_code != SI_KERNEL)
		kill(r->child, (int)s->ssi_signo);
}

static int receive_samples(struct recording *r, struct vt_error *err)
{
	struct pollfd fds[] = {{.fd = r->signals, .events = POLLIN},
			       {.fd = bpf_sampler_fd(r->sampler), .events = POLLIN}};
	struct signalfd_siginfo s;
	struct stat st;
	int rc = 0;

	while (rc == 0 && !r->ended) {
		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			return vt_error_errno(err, VT_E_SYSTEM, errno, "poll");
		while (read(r->signals, &s, sizeof(s)) == (ssize_t)sizeof(s))
			handle_signal(r, &s);
		if (!r->child && r->opt->pid && kill((pid_t)r->opt->pid, 0) < 0)
			r->ended = true;
		rc = read_round(r, err);
		if (r->progress.active && stat(vt_buf_str(&r->data), &st) == 0)
			progress_update(&r->progress, (uint64_t)st.st_size);
	}
	bpf_sampler_stop(r->sampler);
	return rc < 0 ? rc : read_round(r, err);
}

static void watch_signals(struct recording *r)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < NSIGNALS; i++)
		sigaddset(&set, watched[i]);
	sigprocmask(SIG_BLOCK, &set, &r->old_set);
	r->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Records to the end.  False: it could not be started. */
static bool run(struct recording *r)
{
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	watch_signals(r);
	ok = start(r);
	if (!ok && r->child > 0)
		kill(r->child, SIGKILL);
	if (r->go >= 0)
		close(r->go);
	progress_start(&r->progress, r->app->name, "", false);
	if (ok && receive_samples(r, &err) < 0) {
		bpf_sampler_stop(r->sampler);
		app_fail(r->app, &err);
	}
	progress_end(&r->progress);
	while (r->child > 0 && !(WIFEXITED(r->status) || WIFSIGNALED(r->status)) && !r->ended)
		r->ended = waitpid(r->child, &r->status, 0) == r->child || errno != EINTR;
	close(r->signals);
	return ok;
}

/* ---- the end ---- */

static void report(struct recording *r)
{
	const struct bpf_sampler_totals *t = &r->totals;
	uint64_t n = r->samples[0] + r->samples[1], lines = t->lines_read + t->lines_bad;
	struct app *a = r->app;

	if (r->child > 0 && WIFSIGNALED(r->status))
		app_say(a, "%s: ended by signal %d (%s)", a->argv[0], WTERMSIG(r->status),
			strsignal(WTERMSIG(r->status)));
	if (t->lost)
		app_say(a, "%" PRIu64 " samples lost: they were not read in time", t->lost);
	if (t->foreign)
		app_say(a, "%" PRIu64 " samples of code of 32 bits: left out", t->foreign);
	if (t->forgotten)
		app_say(a,
			"all code was compiled anew %" PRIu64 " times: there is more of it than "
			"is kept",
			t->forgotten);
	if (!n) {
		app_say(a, "no sample was taken");
		return;
	}
	app_say(a,
		"%" PRIu64 " samples of %.1f instructions, %" PRIu64 " of them in the kernel; "
		"%" PRIu64 " came to code for the first time; %.1f us each in its program",
		n, (double)r->walked / (double)n, r->samples[1], r->first,
		(double)t->ns / (double)n / 1e3);
	if (t->lines_bad)
		app_say(a, "%" PRIu64 " of %" PRIu64 " lines (%.2f %%) could not be read",
			t->lines_bad, lines, 100 * (double)t->lines_bad / (double)lines);
}

/* What a stream says of how it was recorded. */
static void put_facts(const void *arg, struct vt_writer *w)
{
	struct vt_buf line = VT_BUF_INIT;
	const struct recording *r = arg;
	char cpu[VT_CALIBRATION_TEXT];

	calibration_name_cpu(cpu);
	vt_writer_meta(w, "cpuid", cpu);
	put_command_line(r->app, &line);
	if (r->app->argc)
		vt_writer_meta(w, "cmdline", vt_buf_str(&line));
	vt_buf_free(&line);
	vt_writer_meta(w, "recorder", "sample-values-bpf");
	vt_writer_meta_u64(w, "agent.insns", r->opt->insns);
	vt_writer_meta_u64(w, "agent.first", r->first);
	vt_writer_meta_u64(w, "agent.unreadable", r->totals.lines_bad);
	if (r->totals.foreign)
		vt_writer_meta_u64(w, "agent.foreign_code", r->totals.foreign);
	if (r->totals.lost)
		vt_writer_meta_u64(w, "agent.ring_full", r->totals.lost);
}

static void write_output(struct recording *r)
{
	struct vt_error err = VT_ERROR_INIT;
	int rc = vt_perfdata_writer_close(r->w, true, &err);

	r->w = NULL;
	if (vt_output_close(&r->out, rc == 0 ? &err : NULL) < 0)
		rc = -1;
	if (rc < 0) {
		app_fail(r->app, &err);
		return;
	}
	report(r);
	app_decode(r->app,
		   &(struct app_decode){.output = r->output,
					.compress = r->opt->compress,
					.pack = r->opt->pack,
					.facts = put_facts,
					.facts_arg = r},
		   vt_buf_str(&r->data));
}

static void clean_up(struct recording *r)
{
	vt_perfdata_writer_close(r->w, false, NULL);
	if (r->data.size)
		unlink(vt_buf_str(&r->data));
	sideband_close(r->side);
	bpf_sampler_close(r->sampler);
	vt_hash_fini(&r->family);
	vt_buf_free(&r->data);
	vt_buf_free(&r->payload);
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* The program in the kernel sees the numbers that processes have outside of any namespace. */
static bool sees_real_pids(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == INITIAL_PID_NAMESPACE;
}

static bool check_target(struct recording *r)
{
	pid_t pid = (pid_t)r->opt->pid;

	if (!sees_real_pids()) {
		app_say(r->app, "--bpf: not in a container with process numbers of its own");
		app_raise(r->app, APP_INPUT);
		return false;
	}
	if (r->app->argc)
		return check_program_name(r->app, r->app->argv[0]);
	if (!pid || kill(pid, 0) == 0)
		return true;
	app_say(r->app, "process %d: %s", (int)pid, strerror(errno));
	app_raise(r->app, APP_INPUT);
	return false;
}

int record_bpf(struct app *a, const struct values_options *o)
{
	struct recording r = {.app = a, .opt = o, .go = -1};
	bool ran = false;

	sigprocmask(SIG_SETMASK, NULL, &r.old_set);
	r.output = o->output ? o->output : is_pipe(STDOUT_FILENO) ? "-" : DEFAULT_OUTPUT;
	app_make_stream(a, r.output);
	if (check_target(&r) && check_output_name(a, r.output) && open_sampler(&r) &&
	    open_data(&r)) {
		app_say(a,
			"recording %s every %" PRIu64 " %s, and the next %" PRIu64
			" instructions of each",
			r.machine.cycles ? "cycles" : "cpu-clock", r.period,
			r.machine.cycles ? "cycles" : "ns", o->insns);
		ran = run(&r);
		if (ran && a->status < APP_INPUT)
			write_output(&r);
	}
	clean_up(&r);
	/* Until all is written, nothing ends this process. */
	restore_signals(&r.old_set);
	if (!ran || !r.child)
		return 0;
	return WIFEXITED(r.status) ? WEXITSTATUS(r.status) : 128 + WTERMSIG(r.status);
}
