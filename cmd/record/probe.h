/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_PROBE_H
#define CMD_RECORD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "freq/event.h"

/* The recording features of this machine for this user. */
struct probe {
	bool events;		      /* perf_event_open(2) works at all */
	bool cycles;		      /* a cycle counter that can sample */
	bool precise;		      /* it can name the instruction exactly (PEBS, IBS) */
	unsigned precise_level;	      /* the highest of precise_ip that opens; 0: none */
	bool branches;		      /* it keeps a branch stack (LBR, BRBE, BRS) */
	struct vt_stack_offer stacks; /* what it samples branch stacks by, besides cycles */
	bool pt;		      /* Intel PT */
	bool kernel;		      /* this user may sample the kernel */
	int paranoid;		      /* kernel.perf_event_paranoid; -100 if it can't be read */
	uint64_t max_rate;	      /* samples a second, at most, by frequency; 0: not known */
	int why_not;		      /* errno of the attempt that `events` is from */
	int why_no_cycles;
	bool all_cpus; /* this user may sample whole processors */
};

void probe_machine(struct probe *p);

/* The cycles of a second of this processor now, where it counts them; else 10^9. */
uint64_t probe_cycles_per_second(void);

/*
 * Tries an event of a device of /sys/bus/event_source/devices, with its default configuration, on
 * this process's user code (with `kernel` in the kernel, too).  0, or an errno; ENODEV: there is no
 * such device.
 */
int probe_device(const char *name, uint64_t period, bool kernel);

/* Reads a number at the begin of a small file, as of /proc/sys; false: it cannot be read. */
bool probe_number(const char *path, long *value);

#endif
