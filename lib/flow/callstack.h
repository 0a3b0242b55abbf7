/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_CALLSTACK_H
#define VT_FLOW_CALLSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/exec.h"

/*
 * A shadow call stack: the return addresses of a thread's active procedures, maintained from its
 * calls and returns.  A return removes the innermost frame with that return address and all frames
 * inside it, which a longjmp or an exception left behind.  A return to an unknown address changes
 * nothing.
 *
 * Initialize with zeros, free with vt_callstack_fini().  At most VT_CALLSTACK_DEPTH frames are
 * kept; at that depth, the outer half is dropped.
 */
#define VT_CALLSTACK_DEPTH 65536

struct vt_callstack {
	uint64_t *frames; /* return addresses, innermost last; 0: a signal handler */
	size_t count;
	size_t cap;
	bool returning; /* the last step was a return, whose target is the next step */
	bool failed;	/* memory ran out, so frames are missing */
};

void vt_callstack_fini(struct vt_callstack *s);

/* Removes all frames: after an execve(), at a gap or at the end of a window. */
void vt_callstack_clear(struct vt_callstack *s);

/*
 * Process the start and the end of a step, in this order.  Between the two, vt_callstack_caller()
 * returns the caller for the step's instructions.
 */
void vt_callstack_enter(struct vt_callstack *s, const struct vt_step *step);
void vt_callstack_leave(struct vt_callstack *s, const struct vt_step *step);

/* Sets the recorded caller (EXEC's field) at the start of a run, before its first step; 0: none. */
void vt_callstack_set_caller(struct vt_callstack *s, uint64_t caller);

/* Enters a signal handler, which does not return to the interrupted code by a return. */
void vt_callstack_signal(struct vt_callstack *s);

/* Returns the return address of the current procedure, 0 if unknown. */
static inline uint64_t vt_callstack_caller(const struct vt_callstack *s)
{
	return s->count ? s->frames[s->count - 1] : 0;
}

#endif
