/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_SAMPLER_H
#define CMD_RECORD_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "cmd/record/probe.h"

/* Samples of one process's user code, by the event that `vtrace record` samples time by. */
struct sampler {
	int fd;
	void *ring;
	size_t size;
	uint64_t lost; /* samples that the kernel had no room for */
};

/*
 * Opens the event on a process or thread, and does not start it: a sample for each `period` ns or
 * cycles.  VT_E_SYSTEM.  End with sampler_close(), also after an error.
 */
int sampler_open(struct sampler *s, const struct probe *m, pid_t pid, uint64_t period,
		 struct vt_error *err);
void sampler_close(struct sampler *s);

bool sampler_start(struct sampler *s);
void sampler_stop(struct sampler *s);

/* Calls `fn` with the address of each sample since the last call. */
typedef void sampler_fn(void *arg, uint64_t ip);
void sampler_take(struct sampler *s, sampler_fn *fn, void *arg);

#endif
