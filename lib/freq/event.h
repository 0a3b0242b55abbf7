/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_EVENT_H
#define VT_FREQ_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/* ---- which event measures time ---- */

/*
 * Finds the event that measures time: the one called `name`, with or without modifiers, or, if
 * `name` is NULL, the most suitable one.  -VT_E_NOTFOUND, or -VT_E_ABSENT if `name` is NULL; the
 * text lists the events with samples.
 */
int vt_freqrun_event(const struct vt_profile *p, const char *name, size_t *event,
		     struct vt_error *err);

/*
 * Sets *scale to the cycles in a unit of an event's period.  For an event that counts nanoseconds
 * this is the clock in GHz: `given` unless that is 0, else `calibrated` unless that is 0, else the
 * clock at the end of the processor's description ("... CPU @ 2.50GHz"), else 1.  Returns the
 * clock's origin: "given", "calibrated", "described" or "assumed"; NULL if the event does not count
 * nanoseconds.
 */
const char *vt_freqrun_scale(const struct vt_profile_event *e, double given, double calibrated,
			     const char *description, double *scale);

/* ---- which event branch stacks are sampled by ---- */

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
