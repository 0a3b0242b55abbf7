/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_PROBE_H
#define CMD_RECORD_PROBE_H

#include <stdbool.h>

/* The recording features of this machine for this user. */
struct probe {
	bool events;   /* perf_event_open(2) works at all */
	bool cycles;   /* a cycle counter that can sample */
	bool precise;  /* it can name the instruction exactly (PEBS, IBS) */
	bool branches; /* it keeps a branch stack (LBR, BRBE, BRS) */
	bool pt;       /* Intel PT */
	bool kernel;   /* this user may sample the kernel */
	int paranoid;  /* kernel.perf_event_paranoid; -100 if it can't be read */
	int why_not;   /* errno of the attempt that `events` is from */
};

void probe_machine(struct probe *p);

#endif
