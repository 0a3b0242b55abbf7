/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/callstack.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Number of frames searched for a return's target; unwinding leaves at most so many at once. */
#define SEARCH_DEPTH 256

void vt_callstack_fini(struct vt_callstack *s)
{
	free(s->frames);
	*s = (struct vt_callstack){.frames = NULL};
}

void vt_callstack_clear(struct vt_callstack *s)
{
	s->count = 0;
	s->returning = false;
}

static void push_return_address(struct vt_callstack *s, uint64_t address)
{
	if (s->count == VT_CALLSTACK_DEPTH) {
		s->count /= 2;
		memmove(s->frames, s->frames + s->count, s->count * sizeof(*s->frames));
	}
	if (!vt_array_grow(&s->frames, &s->cap, s->count + 1, sizeof(*s->frames))) {
		s->failed = true;
		return;
	}
	s->frames[s->count++] = address;
}

static void pop_to_return(struct vt_callstack *s, uint64_t address)
{
	size_t least = s->count > SEARCH_DEPTH ? s->count - SEARCH_DEPTH : 0;
	size_t i;

	for (i = s->count; i > least; i--) {
		if (s->frames[i - 1] == address) {
			s->count = i - 1;
			return;
		}
		/* The signal handler returns, to code that is not a caller. */
		if (!s->frames[i - 1]) {
			s->count = i - 1;
			return;
		}
	}
}

void vt_callstack_enter(struct vt_callstack *s, const struct vt_step *step)
{
	if (s->returning && step->insn == 0)
		pop_to_return(s, step->block->addr);
	s->returning = false;
}

void vt_callstack_leave(struct vt_callstack *s, const struct vt_step *step)
{
	const struct vt_bblock *b = step->block;

	if (step->insn_end != b->ninsns)
		return;
	if (b->end == VT_END_CALL || b->end == VT_END_CALL_INDIRECT)
		push_return_address(s, b->addr + b->size);
	s->returning = b->end == VT_END_RETURN;
}

void vt_callstack_set_caller(struct vt_callstack *s, uint64_t caller)
{
	if (!caller || s->returning || vt_callstack_caller(s) == caller)
		return;
	if (s->count)
		s->frames[s->count - 1] = caller;
	else
		push_return_address(s, caller);
}

void vt_callstack_signal(struct vt_callstack *s)
{
	s->returning = false;
	push_return_address(s, 0);
}
