/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include "cmd/record/bpf.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "cmd/bpf/running.h"
#include "cmd/bpf/sampler.h"
#include "cmd/common/find.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/record/calibrate.h"
#include "cmd/record/child.h"
#include "cmd/record/command.h"
#include "cmd/record/data.h"
#include "cmd/record/existing.h"
#include "cmd/record/probe.h"
#include "cmd/record/sideband.h"
#include "cmd/walker/walk.h"
#include "formats/common/value_sample.h"

#define INITIAL_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO of linux/proc_ns.h */

/* How often samples are read; those that come to code that is not compiled at once. */
#define LOOK_MS 10

struct recording {
	struct app *app;
	const struct values_options *opt;
	struct probe machine;
	struct running_kernel kernel;
	struct bpf_sampler *sampler;
	struct bpf_sampler_totals totals;
	struct sideband *side;
	struct vt_hash family; /* with --pid: the process and what it has started, by pid */
	struct data data;
	struct child child;
	uint64_t period;
	uint64_t samples[2]; /* of users, of the kernel */
	uint64_t first;	     /* of them those at code that was not known yet */
	uint64_t walked;
	uint64_t told; /* lost samples that are records */
	struct progress progress;
};

/* ---- records ---- */

#define GENERAL_REGS (VT_VALUE_SAMPLE_REGS & UINT32_MAX)

/* The general registers in the order of asm/perf_regs.h, by the numbers of their encoding. */
static const uint8_t regs_order[] = {0, 3, 1, 2, 6, 7, 5, 4};

/*
 * The masks of lines.  A line may be there twice: then both have what either has read, so that
 * their reader can compare them.
 */
static void unite_masks(uint64_t *read, const struct bpf_walk_sample *s, uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		read[i] = s->line[i].read;
		for (k = 0; k < i; k++)
			if (s->line[k].addr == s->line[i].addr)
				read[i] = read[k] |= read[i];
	}
}

static void put_lines(struct vt_buf *b, const struct bpf_walk_sample *s, uint32_t n)
{
	struct vt_value_sample head = {
		.magic = VT_VALUE_SAMPLE_MAGIC,
		.walked = (uint16_t)s->walked,
		.stop = (uint16_t)s->stop,
		.fs_base = s->fs_base,
		.gs_base = s->gs_base,
	};
	uint8_t packed[BPF_WALK_LINES * VT_VALUE_SAMPLE_LINE], *end = packed;
	static const uint8_t zeros[8] = {0};
	uint64_t read[BPF_WALK_LINES];
	uint32_t i, size, pad;

	unite_masks(read, s, n);
	for (i = 0; i < n; i++) {
		head.nlines += read[i] != 0;
		end = vt_value_sample_pack(end, s->line[i].bytes, read[i]);
	}
	/* The size and the bytes together are a multiple of 8. */
	size = (uint32_t)(sizeof(head) + 16 * head.nlines + (size_t)(end - packed));
	pad = (12 - size % 8) % 8;
	vt_buf_put_le32(b, size + pad);
	vt_buf_put(b, &head, sizeof(head));
	for (i = 0; i < n; i++)
		if (read[i])
			vt_buf_put_le64(b, s->line[i].addr);
	for (i = 0; i < n; i++)
		if (read[i])
			vt_buf_put_le64(b, read[i]);
	vt_buf_put(b, packed, (size_t)(end - packed));
	vt_buf_put(b, zeros, pad);
}

static void put_registers(struct vt_buf *b, const struct bpf_walk_sample *s)
{
	size_t i;

	vt_buf_put_le64(b, DATA_REGS_64);
	for (i = 0; i < sizeof(regs_order); i++)
		vt_buf_put_le64(b, s->gpr[regs_order[i]]);
	vt_buf_put_le64(b, s->ip);
	vt_buf_put_le64(b, s->flags);
	for (i = 8; i < 16; i++)
		vt_buf_put_le64(b, s->gpr[i]);
}

static int take_sample(void *arg, const struct bpf_walk_sample *s, struct vt_error *err)
{
	struct recording *r = arg;
	const struct data_sample sample = {
		.ip = s->ip,
		.pid = s->pid,
		.tid = s->tid,
		.time = s->time,
		.cpu = s->cpu,
		.period = r->period,
	};
	struct vt_buf *b = &r->data.payload;
	bool kernel = !s->space;

	r->samples[kernel]++;
	r->first += s->missing == s->ip;
	r->walked += s->walked;
	data_begin_sample(&r->data, DATA_TIME, &sample);
	put_lines(b, s, s->nlines < BPF_WALK_LINES ? s->nlines : BPF_WALK_LINES);
	put_registers(b, s);
	return data_put_sample(&r->data, kernel ? PD_MISC_KERNEL : PD_MISC_USER, s->time, err);
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
	struct recording *r = arg;

	return is_family(r, rec) ? data_put_side(&r->data, rec, err) : 0;
}

static int put_losses(struct recording *r, struct vt_error *err)
{
	uint64_t before = r->told;

	bpf_sampler_total(r->sampler, &r->totals);
	if (r->totals.lost <= before)
		return 0;
	r->told = r->totals.lost;
	return data_put_lost(&r->data, r->told - before, err);
}

/* One round: what was written before the round at one place is not missing after it at another. */
static int read_round(struct recording *r, struct vt_error *err)
{
	int rc = bpf_sampler_read(r->sampler, take_sample, r, err);

	if (rc == 0)
		rc = sideband_read(r->side, take_side_record, r, err);
	if (rc == 0)
		rc = put_losses(r, err);
	return rc ? rc : data_put_round(&r->data, err);
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

static struct vt_perfdata_event time_event(const struct recording *r)
{
	return data_time_event(&r->machine, true, r->period, GENERAL_REGS);
}

static bool open_sampler(struct recording *r)
{
	struct vt_error err = VT_ERROR_INIT;
	struct bpf_sampler_options o;
	struct vt_perfdata_event time;

	probe_machine(&r->machine);
	r->period = r->opt->period ? r->opt->period
				   : data_choose_period(&r->machine, r->opt->frequency);
	time = time_event(r);
	o = (struct bpf_sampler_options){
		.type = (uint32_t)time.type,
		.config = time.config,
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

/* What runs already, told of at the time at which the kernel begins to tell. */
static bool put_existing(struct recording *r)
{
	struct vt_perfdata_stamp stamp = {.event = DATA_SIDE, .time = data_clock_ns()};
	struct vt_error err = VT_ERROR_INIT;
	pid_t pid = r->opt->pid ? (pid_t)r->opt->pid : -1;
	int rc = put_existing_kernel(r->data.w, &stamp, &r->kernel, &err);

	if (rc == 0 && (r->opt->pid || r->opt->all_cpus))
		rc = put_existing_processes(r->data.w, &stamp, pid, &err);
	return rc == 0 || app_fail(r->app, &err);
}

static bool start_events(struct recording *r)
{
	pid_t pid = (pid_t)r->opt->pid;
	int code;

	if (r->opt->all_cpus)
		return watch_processors(r);
	code = pid ? -each_existing_thread(pid, watch_thread, r)
		   : bpf_sampler_watch(r->sampler, r->child.pid, -1, true);
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
	if (r->app->argc &&
	    !child_start(&r->child, r->app, data_is_to_stdout(&r->data), NULL, NULL))
		return false;
	r->side = sideband_open(one ? r->child.pid : -1, &err);
	if (!r->side)
		return app_fail(r->app, &err);
	return put_existing(r) && start_events(r);
}

/* ---- the run ---- */

static int receive_samples(struct recording *r, struct vt_error *err)
{
	struct pollfd fds[] = {{.fd = r->child.signals, .events = POLLIN},
			       {.fd = bpf_sampler_fd(r->sampler), .events = POLLIN}};
	int rc = 0;

	while (rc == 0 && !r->child.ended) {
		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			return vt_error_errno(err, VT_E_SYSTEM, errno, "poll");
		child_take_signals(&r->child);
		if (!r->child.pid && r->opt->pid && kill((pid_t)r->opt->pid, 0) < 0)
			r->child.ended = true;
		rc = read_round(r, err);
		if (r->progress.active)
			progress_update(&r->progress, data_size(&r->data));
	}
	bpf_sampler_stop(r->sampler);
	return rc < 0 ? rc : read_round(r, err);
}

/* Records to the end.  False: it could not be started. */
static bool run(struct recording *r)
{
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	child_block_signals(&r->child);
	ok = start(r);
	if (!ok && r->child.pid)
		kill(r->child.pid, SIGKILL);
	child_go(&r->child);
	progress_start(&r->progress, r->app->name, "", false);
	if (ok && receive_samples(r, &err) < 0) {
		bpf_sampler_stop(r->sampler);
		app_fail(r->app, &err);
	}
	progress_end(&r->progress);
	child_wait(&r->child);
	return ok;
}

/* ---- the end ---- */

static void report(struct recording *r)
{
	const struct bpf_sampler_totals *t = &r->totals;
	uint64_t n = r->samples[0] + r->samples[1], lines = t->lines_read + t->lines_bad;
	struct app *a = r->app;

	child_report(&r->child, a);
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

static void clean_up(struct recording *r)
{
	data_end(&r->data);
	sideband_close(r->side);
	bpf_sampler_close(r->sampler);
	vt_hash_fini(&r->family);
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
	struct recording r = {.app = a, .opt = o, .child = CHILD_INIT};
	struct vt_perfdata_event time;
	bool ran = false;

	sigprocmask(SIG_SETMASK, NULL, &r.child.old_set);
	data_init(&r.data, a, o->output, o->compress, o->pack);
	if (check_target(&r) && check_output_name(a, r.data.output) && open_sampler(&r)) {
		time = time_event(&r);
		if (data_open(&r.data, &time, NULL)) {
			data_say_begin(&r.data, &r.machine, &time, o->insns);
			ran = run(&r);
		}
	}
	if (ran && a->status < APP_INPUT && data_close(&r.data)) {
		report(&r);
		data_decode(&r.data, put_facts, &r);
	}
	clean_up(&r);
	/* Until all is written, nothing ends this process. */
	restore_signals(&r.child.old_set);
	return ran ? child_exit_status(&r.child) : 0;
}
