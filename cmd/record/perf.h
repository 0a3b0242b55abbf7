/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_PERF_H
#define CMD_RECORD_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "calibrate/calibration.h"
#include "cmd/common/app.h"

/*
 * The default period, in cycles or in ns of the CPU clock.  A prime, so that it is not synchronous
 * with a loop of the program.
 */
#define PERF_PERIOD "1000003"

/* Bytes of stack with each sample: perf's own default. */
#define PERF_STACK 8192

/* How call chains are found. */
enum perf_chains { CHAINS_DWARF, CHAINS_FP, CHAINS_LBR };
extern const char *const perf_chain_words[];

/* Options of `vtrace record` with perf. */
struct perf_options {
	bool regs;
	bool branch;
	bool pt;
	bool all_cpus;
	bool stack_given;
	bool chains_given;
	int chains; /* enum perf_chains */
	uint64_t stack;
	struct vt_opt_list events;
	uint64_t frequency; /* 0: not given */
	uint64_t period;
	uint64_t pid;
	const char *output; /* NULL: perf.data */
	const char *compress;
	bool pack;
	const struct vt_calibration *calibration; /* kept in a stream; or NULL */
};

/* The event that samples time: cycles, as precise as possible, or else the CPU clock. */
#define PERF_EVENT_NAME 32
struct probe; /* cmd/record/probe.h */
void perf_name_time_event(const struct probe *m, char name[PERF_EVENT_NAME]);

/* True if the recording is decoded to a stream: the output's name ends in .vt. */
bool perf_makes_stream(const struct perf_options *o);

/*
 * Runs perf on the operands, or prints its command line.  Returns the exit status of the program,
 * or 128 + the signal that ended it; errors of the recording are in the app's status.
 */
int record_perf(struct app *a, const struct perf_options *o, bool dry_run);

#endif
