/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_PERF_H
#define CMD_RECORD_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"

/*
 * The period when none is asked for, in cycles or in ns of the CPU clock.  A prime, so that it does
 * not stay in step with a loop of the program.
 */
#define PERF_PERIOD "1000003"

/* What `vtrace record` asks of perf. */
struct perf_options {
	bool regs;
	bool branch;
	bool pt;
	bool all_cpus;
	bool stack_given;
	uint64_t stack;
	struct vt_opt_list events;
	uint64_t frequency; /* 0: not given */
	uint64_t period;
	uint64_t pid;
	const char *output; /* NULL: perf.data */
	const char *compress;
};

/* Whether what perf records is to be decoded: the output's name ends in .vt. */
bool perf_makes_stream(const struct perf_options *o);

/*
 * Runs perf on the operands, or prints its command line.  Returns the exit status of the program,
 * 128 + the signal that ended it; what went wrong with the recording is in the app's status.
 */
int record_perf(struct app *a, const struct perf_options *o, bool dry_run);

#endif
