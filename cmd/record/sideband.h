/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_SIDEBAND_H
#define CMD_RECORD_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * What the kernel tells of a program's processes: mappings, names, starts and ends, as records of
 * perf_event_open(2).  A ring for each processor.
 */

/* The ids at the end of each record; see perf_event_open(2), sample_id_all. */
struct sideband_id {
	int32_t pid;
	int32_t tid;
	uint64_t time; /* CLOCK_MONOTONIC */
	uint32_t cpu;
};

/* A record without its ids; `payload` is what follows the header, borrowed for the call. */
struct sideband_record {
	uint32_t type;
	uint16_t misc;
	struct sideband_id id;
	const uint8_t *payload;
	size_t size;
};

typedef int sideband_fn(void *arg, const struct sideband_record *rec, struct vt_error *err);

struct sideband;

/*
 * Opens the events of a process, of what it forks, and of their threads, from its next exec() on;
 * with pid -1 those of all processes, at once.  NULL with VT_E_SYSTEM or VT_E_NOMEM.
 */
struct sideband *sideband_open(pid_t pid, struct vt_error *err);
void sideband_close(struct sideband *s); /* NULL is allowed */

/* Calls `fn` with the records since the last call.  0, or what `fn` returned, if negative. */
int sideband_read(struct sideband *s, sideband_fn *fn, void *arg, struct vt_error *err);

#endif
