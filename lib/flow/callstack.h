/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_CALLSTACK_H
#define VT_FLOW_CALLSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/exec.h"

/*
 * A shadow call stack: the return addresses of the procedures that a thread is in, followed from
 * its calls and returns.  A return goes to the innermost frame that is left to that address, so
 * that frames which a longjmp or an exception left behind go with it; a return to none of them
 * leaves the stack as it is.
 *
 * Zero-initialize, free with vt_callstack_fini().  At most VT_CALLSTACK_DEPTH frames are kept; of a
 * deeper recursion, the outer half is forgotten.
 */
#define VT_CALLSTACK_DEPTH 65536

struct vt_callstack {
	uint64_t *frames; /* return addresses, innermost last; 0: a signal's handler */
	size_t count;
	size_t cap;
	bool returning; /* the last step was a return: the next one says where to */
	bool failed;	/* memory ran out: frames are missing */
};

void vt_callstack_fini(struct vt_callstack *s);

/* Forgets all frames: after an execve(), a gap, the edge of a window. */
void vt_callstack_clear(struct vt_callstack *s);

/*
 * Takes the beginning and the end of a step, in this order; between the two,
 * vt_callstack_caller() is that of the step's instructions.
 */
void vt_callstack_enter(struct vt_callstack *s, const struct vt_step *step);
void vt_callstack_leave(struct vt_callstack *s, const struct vt_step *step);

/* What the producer says of where a run begins (EXEC's caller), if it does; before its first step.
 */
void vt_callstack_told(struct vt_callstack *s, uint64_t caller);

/* A signal's handler begins: it does not return to what it interrupted by a return. */
void vt_callstack_signal(struct vt_callstack *s);

/* The return address of the procedure at hand; 0 if it is not known. */
static inline uint64_t vt_callstack_caller(const struct vt_callstack *s)
{
	return s->count ? s->frames[s->count - 1] : 0;
}

#endif
