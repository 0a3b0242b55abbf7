/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* mkostemp() */

#include "cmd/record/data.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cmd/common/decode.h"
#include "cmd/common/find.h"
#include "cmd/common/stream.h"
#include "cmd/record/command.h"

/*
 * A tenth smaller than by zlib, for 50 microseconds a sample once the program has ended: memory is
 * hard to compress.
 */
#define DEFAULT_COMPRESSION "zstd:15"

#define SIDE_TYPE (PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU)

/* ---- the output ---- */

void data_init(struct data *d, struct app *a, const char *output, const char *compress, bool pack)
{
	*d = (struct data){.app = a, .pack = pack, .fd = -1};
	d->output = choose_stream_output(output);
	d->compress = choose_stream_compression(d->output, compress, DEFAULT_COMPRESSION);
	app_make_stream(a, d->output);
}

bool data_is_to_stdout(const struct data *d)
{
	return strcmp(d->output, "-") == 0;
}

/* ---- events ---- */

struct vt_perfdata_event data_time_event(const struct probe *m, bool kernel, uint64_t period,
					 uint64_t regs)
{
	return (struct vt_perfdata_event){
		.name = m->cycles ? (kernel ? "cycles" : "cycles:u")
				  : (kernel ? "cpu-clock" : "cpu-clock:u"),
		.type = m->cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = m->cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.period = period,
		.sample_type = DATA_SAMPLE_TYPE,
		.flags = PD_ATTR_INHERIT | (kernel ? 0 : PD_ATTR_EXCLUDE_KERNEL),
		.regs_user = regs,
	};
}

uint64_t data_choose_period(const struct probe *m, uint64_t rate)
{
	return (m->cycles ? probe_cycles_per_second() : UINT64_C(1000000000)) / rate;
}

void data_say_begin(const struct data *d, const struct probe *m,
		    const struct vt_perfdata_event *time, uint64_t insns)
{
	uint64_t rate = data_choose_period(m, 1) / time->period;

	app_say(d->app,
		"recording %s every %" PRIu64 " %s, and the next %" PRIu64 " instructions of each",
		time->name, time->period, time->type == PERF_TYPE_HARDWARE ? "cycles" : "ns",
		insns);
	if (m->max_rate && rate > m->max_rate)
		app_say(d->app,
			"these are %" PRIu64 " samples a second: above the kernel's limit, %" PRIu64
			" (kernel.perf_event_max_sample_rate), it leaves samples out",
			rate, m->max_rate);
}

/* ---- the file ---- */

/* What messages call it. */
static const char *name_recording(const struct data *d)
{
	return data_is_to_stdout(d) ? "the recording" : d->output;
}

/* Beside the output, whose file system has room for it; or where temporary files are. */
static bool make_file(struct data *d)
{
	struct vt_buf path = VT_BUF_INIT;
	struct vt_error err = VT_ERROR_INIT;

	if (data_is_to_stdout(d))
		vt_buf_printf(&path, "%s/vtrace.XXXXXX", app_tmpdir());
	else
		vt_buf_printf(&path, "%s.XXXXXX", d->output);
	d->fd = mkostemp((char *)vt_buf_str(&path), O_CLOEXEC);
	if (d->fd < 0)
		vt_error_errno(&err, VT_E_WRITE, errno, "%s", vt_buf_str(&path));
	else
		unlink(vt_buf_str(&path));
	vt_buf_free(&path);
	return (d->fd >= 0 && vt_output_open_fd(&d->out, d->fd, name_recording(d), &err) == 0) ||
	       app_fail(d->app, &err);
}

bool data_open(struct data *d, const struct vt_perfdata_event *time,
	       const struct vt_perfdata_event *other)
{
	struct vt_perfdata_event events[DATA_NEVENTS] = {
		[DATA_TIME] = *time,
		[DATA_SIDE] = {.name = "dummy:u",
			       .type = PD_TYPE_SOFTWARE,
			       .config = PERF_COUNT_SW_DUMMY,
			       .sample_type = SIDE_TYPE,
			       .flags = PD_ATTR_INHERIT | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_MMAP |
					PD_ATTR_MMAP2 | PD_ATTR_COMM | PD_ATTR_TASK},
	};
	struct vt_perfdata_about about = {.arch = "x86_64",
					  .cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
	struct vt_error err = VT_ERROR_INIT;

	if (other)
		events[DATA_OTHER] = *other;
	if (!make_file(d))
		return false;
	d->w = vt_perfdata_writer_new(&d->out, events, other ? DATA_NEVENTS : DATA_OTHER, &about,
				      &err);
	return d->w || app_fail(d->app, &err);
}

uint64_t data_size(const struct data *d)
{
	struct stat st;

	return fstat(d->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* ---- records ---- */

uint64_t data_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void data_begin_sample(struct data *d, enum data_event event, const struct data_sample *s)
{
	struct vt_buf *b = &d->payload;

	b->size = 0;
	vt_buf_put_le64(b, event + 1);
	vt_buf_put_le64(b, s->ip);
	vt_buf_put_le32(b, s->pid);
	vt_buf_put_le32(b, s->tid);
	vt_buf_put_le64(b, s->time);
	vt_buf_put_le64(b, s->cpu);
	vt_buf_put_le64(b, s->period);
}

int data_put_sample(struct data *d, uint16_t misc, uint64_t time, struct vt_error *err)
{
	const struct vt_perfdata_stamp stamp = {.time = time};

	if (d->payload.failed)
		return vt_error_nomem(err);
	return vt_perfdata_put_record(d->w, PD_SAMPLE, misc, &stamp, d->payload.data,
				      d->payload.size, err);
}

int data_put_side(struct data *d, const struct sideband_record *rec, struct vt_error *err)
{
	const struct vt_perfdata_stamp stamp = {DATA_SIDE, rec->id.pid, rec->id.tid, rec->id.time,
						rec->id.cpu};

	return vt_perfdata_put_record(d->w, rec->type, rec->misc, &stamp, rec->payload, rec->size,
				      err);
}

int data_put_lost(struct data *d, uint64_t count, struct vt_error *err)
{
	const struct vt_perfdata_stamp stamp = {
		.event = DATA_TIME, .pid = -1, .tid = -1, .time = data_clock_ns()};
	uint8_t bytes[8];

	vt_put_le64(bytes, count);
	return vt_perfdata_put_record(d->w, PD_LOST_SAMPLES, 0, &stamp, bytes, sizeof(bytes), err);
}

int data_put_round(struct data *d, struct vt_error *err)
{
	return vt_perfdata_put_record(d->w, PD_FINISHED_ROUND, 0, NULL, NULL, 0, err);
}

/* ---- the end ---- */

bool data_close(struct data *d)
{
	struct vt_error err = VT_ERROR_INIT, later = VT_ERROR_INIT;
	int rc = vt_perfdata_writer_close(d->w, true, &err);

	d->w = NULL;
	if (vt_output_close(&d->out, rc == 0 ? &err : &later) < 0)
		rc = -1;
	return rc == 0 || app_fail(d->app, &err);
}

void data_decode(struct data *d, app_facts_fn *facts, const void *arg)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", d->fd);
	d->app->input_name = name_recording(d);
	app_decode(d->app,
		   &(struct app_decode){.output = d->output,
					.compress = d->compress,
					.pack = d->pack,
					.facts = facts,
					.facts_arg = arg},
		   path);
	d->app->input_name = NULL;
}

void data_end(struct data *d)
{
	vt_perfdata_writer_close(d->w, false, NULL);
	if (d->fd >= 0)
		close(d->fd);
	vt_buf_free(&d->payload);
}
