/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_EVENT_H
#define VT_FREQ_STACK_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Which event branch stacks are best sampled by: one that tells how many executions they are.
 * Samples of time are likelier where code waits, and cycles between branches are not kept
 * everywhere.
 */

/* The events that a machine samples branch stacks by, in the user's code. */
struct vt_stack_offer {
	bool near_taken;   /* Intel's br_inst_retired.near_taken, precisely */
	bool ret_brn_tkn;  /* AMD's ex_ret_brn_tkn; the only one before Zen 4 */
	bool instructions; /* retired ones */
	bool precise;	   /* these so */
};

struct vt_stack_event {
	const char *name;
	const char *perf; /* for perf, up to its name */
	const char *modifiers;
	uint64_t period; /* about as often as once in a million cycles */
};

/* NULL: none is better than the event of time. */
const struct vt_stack_event *vt_stack_event_of(const struct vt_stack_offer *o);

#endif
