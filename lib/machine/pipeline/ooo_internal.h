/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_INTERNAL_H
#define VT_MACHINE_PIPELINE_OOO_INTERNAL_H

#include <stdlib.h>

#include "machine/pipeline/ooo.h"

/*
 * Definitions that the engine and its explanation of stalls share: the core's widths (lanes) and
 * buffers (places), and the state of the current instruction.  Functions are inline, because each
 * instruction calls all of them.
 */

/* The core is the same one, at another place. */
void vti_ooo_change_core(struct vt_ooo *e, const struct vt_core *m);

/* A stage of limited width: at most `width` per cycle, in order. */
struct lane {
	uint64_t cycle; /* the current one */
	uint32_t used;	/* part of the width that is used in it */
	uint32_t width;
};

/*
 * Takes `n` at cycle `at` or later, and returns the cycle of the first.  All are taken in one
 * cycle, unless they are more than the width.
 */
static inline uint64_t vti_lane_take(struct lane *l, uint64_t at, uint32_t n)
{
	uint64_t first;

	if (at > l->cycle) {
		l->cycle = at;
		l->used = 0;
	}
	if (l->used && n > l->width - l->used) {
		l->cycle++;
		l->used = 0;
	}
	first = l->cycle;
	while (n > l->width) {
		l->cycle++;
		n -= l->width;
	}
	l->used += n;
	return first;
}

/* Places of a buffer, which are allocated and freed in order; the cycles at which they are freed.
 */
struct places {
	uint64_t *free; /* by place; NULL: the number of places is not limited */
	uint32_t size;
	uint32_t next;
};

/* For `size` 0 the number is not limited.  Returns false when memory runs out. */
static inline bool vti_places_init(struct places *p, uint32_t size)
{
	p->size = size;
	p->free = size ? calloc(size, sizeof(*p->free)) : NULL;
	return !size || p->free;
}

/* Returns the cycle at which `n` places are free. */
static inline uint64_t vti_places_when(const struct places *p, uint32_t n)
{
	uint32_t last;

	if (!p->size || !n)
		return 0;
	last = p->next + (n < p->size ? n : p->size) - 1;
	return p->free[last < p->size ? last : last - p->size];
}

/* Allocates `n` places until cycle `free`. */
static inline void vti_places_take(struct places *p, uint32_t n, uint64_t free)
{
	if (!p->size)
		return;
	for (; n; n--) {
		p->free[p->next] = free;
		if (++p->next == p->size)
			p->next = 0;
	}
}

/* The cycle at which a value is ready, and the tag of the instruction that computes it. */
struct value {
	uint64_t ready;
	uint64_t by;
	bool dynamic; /* it took longer than its latency */
	bool pointer; /* of 8 bytes, which nothing but a load computed */
};

/* The last cause for which a micro-operation's issue waited. */
enum bound { BOUND_FRONT, BOUND_OPERAND, BOUND_PREVIOUS, BOUND_ORDER };

struct running {
	enum bound bound;
	unsigned reg;	      /* BOUND_OPERAND: the latest */
	struct value operand; /* its value, or that of the previous micro-operation */
	uint64_t ready;	      /* all operands are ready, and the data of a store that it loads */
	uint64_t addressed;   /* of a load from such a store: all operands are ready */
	uint64_t issued;
	uint64_t made; /* the end without dynamic delays */
	uint32_t tlb;  /* dynamic delays */
	uint32_t cache;
	uint32_t forward;
	uint64_t done;
};

/* The last cause for which the front end was emptied. */
struct front {
	uint8_t cause; /* enum vt_stall_cause */
	uint64_t by;
	uint64_t until; /* instructions that are fetched before may be delayed by it */
};

/* Resources that an instruction allocates until it retires or leaves the queue. */
struct needs {
	uint32_t slots;
	uint32_t loads;
	uint32_t stores;
	uint32_t queued;
	uint32_t ints;
	uint32_t fps;
};

/* The current instruction. */
struct step {
	const struct vt_ooo_insn *in;
	struct needs needs;
	uint64_t begun;	    /* its fetch */
	struct front front; /* the last cause before its fetch */
	uint64_t translated;
	uint64_t fetched;
	uint64_t placed;
	uint8_t late; /* why it was placed late: enum vt_stall_cause */
	bool syncs_stack;
	unsigned nuops;
	uint32_t forwarded; /* bit n: uops[n] is a load that has its data from a store */
	struct running uops[VT_MOP_UOPS];
	uint64_t done;
};

/* Sets the causes of the lost slots between two retirements; `first` is after `before`. */
void vti_ooo_explain(const struct step *x, const struct lane *before, uint64_t first,
		     struct vt_inorder_cost *cost);

/*
 * Corrects when operands are ready if the micro-operation that is issued first has its data from a
 * store, and sets the times of the load that has its data last.
 */
void vti_ooo_time_loads(const struct step *x, struct vt_ooo_times *times);

#endif
