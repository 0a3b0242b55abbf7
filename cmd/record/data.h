/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_DATA_H
#define CMD_RECORD_DATA_H

#include "base/buf.h"
#include "cmd/common/app.h"
#include "cmd/common/pack.h"
#include "cmd/record/probe.h"
#include "cmd/record/sideband.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/write.h"

/*
 * What `vtrace record --sample-values` writes: a temporary perf.data, with samples of time, of the
 * kernel's records of processes, and perhaps of another event; decoded to the output at the end.
 */

/* The events' numbers. */
enum data_event { DATA_TIME, DATA_SIDE, DATA_OTHER, DATA_NEVENTS };

/* perf's order of the fields: ip, tid, time, cpu, period, raw, user registers. */
#define DATA_SAMPLE_TYPE                                                                           \
	(PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD |        \
	 PD_SAMPLE_RAW | PD_SAMPLE_REGS_USER)
#define DATA_REGS_NONE 0 /* PERF_SAMPLE_REGS_ABI_NONE, _64 */
#define DATA_REGS_64   2

struct data {
	struct app *app;
	const char *output;
	const char *compress;
	bool pack;
	int fd; /* of the file, which has no name: what ends this process leaves none */
	struct vt_output out;
	struct vt_perfdata_writer *w;
	struct vt_buf payload; /* of a record */
};

/* With the output and its compression that are given, or if NULL, those that fit; borrowed. */
void data_init(struct data *d, struct app *a, const char *output, const char *compress, bool pack);
bool data_is_to_stdout(const struct data *d);

/* The event of time, by what the machine has; `flags` as struct vt_perfdata_event's. */
struct vt_perfdata_event data_time_event(const struct probe *m, bool kernel, uint64_t period,
					 uint64_t regs);

/* The period of so many samples a second, from the processor's own rate where it counts cycles. */
uint64_t data_choose_period(const struct probe *m, uint64_t rate);

/* Says what is recorded, in the event's name, and of a rate above the kernel's limit. */
void data_say_begin(const struct data *d, const struct probe *m,
		    const struct vt_perfdata_event *time, uint64_t insns);

/* Begins the file; `other` may be NULL.  False after app_fail(). */
bool data_open(struct data *d, const struct vt_perfdata_event *time,
	       const struct vt_perfdata_event *other);

/* The size so far, as the file system tells it; 0: it does not. */
uint64_t data_size(const struct data *d);

/* CLOCK_MONOTONIC, as all records have it. */
uint64_t data_clock_ns(void);

/* What each sample begins with. */
struct data_sample {
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t cpu;
	uint64_t period;
};

/* Begins d->payload, to which raw bytes and registers are then added, and writes it. */
void data_begin_sample(struct data *d, enum data_event event, const struct data_sample *s);
int data_put_sample(struct data *d, uint16_t misc, uint64_t time, struct vt_error *err);

int data_put_side(struct data *d, const struct sideband_record *rec, struct vt_error *err);

/* `count` samples of time were not taken. */
int data_put_lost(struct data *d, uint64_t count, struct vt_error *err);
int data_put_round(struct data *d, struct vt_error *err);

/*
 * Closes the file.  False after app_fail().  Then data_decode() writes the output, with what
 * `facts` tells of the recording.
 */
bool data_close(struct data *d);
void data_decode(struct data *d, app_facts_fn *facts, const void *arg);

/* Gives the file up, whatever has become of it. */
void data_end(struct data *d);

#endif
