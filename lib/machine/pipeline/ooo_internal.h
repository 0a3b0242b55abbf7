/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_INTERNAL_H
#define VT_MACHINE_PIPELINE_OOO_INTERNAL_H

#include <stdlib.h>

#include "machine/pipeline/ooo.h"

/*
 * What the engine and its explanation of stalls share: the core's widths (lanes) and buffers
 * (places), and the state of the instruction at hand.  Inline: each instruction asks all of them.
 */

/* Something of which so many are taken in a cycle, in order. */
struct lane {
	uint64_t cycle; /* at hand */
	uint32_t used;	/* of it */
	uint32_t width;
};

/*
 * Takes `n` at `at` or later, and returns the cycle of the first: what is taken together begins
 * together, unless it is more than a cycle's.
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

/* Places that are given in order and given back in order: when each was, or will be. */
struct places {
	uint64_t *free; /* freed by whoever has the places; NULL: any number */
	uint32_t size;
	uint32_t next;
};

/* `size` 0: any number.  False when memory runs out. */
static inline bool vti_places_init(struct places *p, uint32_t size)
{
	p->size = size;
	p->free = size ? calloc(size, sizeof(*p->free)) : NULL;
	return !size || p->free;
}

/* When there are `n` places. */
static inline uint64_t vti_places_when(const struct places *p, uint32_t n)
{
	uint32_t last;

	if (!p->size || !n)
		return 0;
	last = p->next + (n < p->size ? n : p->size) - 1;
	return p->free[last < p->size ? last : last - p->size];
}

/* Takes `n` places, until `free`. */
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

/* When a value is there, and by whom. */
struct value {
	uint64_t ready;
	uint64_t by;
	bool dynamic; /* it took longer than it must */
};

/* What a micro-operation's issue waited for last. */
enum bound { BOUND_FRONT, BOUND_OPERAND, BOUND_PREVIOUS, BOUND_ORDER };

struct running {
	enum bound bound;
	unsigned reg;	      /* BOUND_OPERAND: the latest */
	struct value operand; /* likewise, or what came before in the instruction */
	uint64_t ready;	      /* all operands are there */
	uint64_t issued;
	uint64_t made; /* if nothing dynamic had happened */
	uint32_t tlb;  /* and what has */
	uint32_t cache;
	uint32_t forward;
	uint64_t done;
};

/* What the front end was emptied by lately. */
struct front {
	uint8_t cause; /* enum vt_stall_cause */
	uint64_t by;
	uint64_t until; /* those that are fetched before may feel it */
};

/* What an instruction takes up until it retires, or leaves the queue. */
struct needs {
	uint32_t slots;
	uint32_t loads;
	uint32_t stores;
	uint32_t queued;
	uint32_t ints;
	uint32_t fps;
};

/* The instruction at hand. */
struct step {
	const struct vt_ooo_insn *in;
	struct needs needs;
	uint64_t begun;	    /* its fetch */
	struct front front; /* before that */
	uint64_t translated;
	uint64_t fetched;
	uint64_t placed;
	uint8_t late; /* why it was placed later than it came: enum vt_stall_cause */
	unsigned nuops;
	struct running uops[VT_MOP_UOPS];
	uint64_t done;
};

/* Tells what the slots between two retirements were lost to; `first` is after `before`. */
void vti_ooo_explain(const struct step *x, const struct lane *before, uint64_t first,
		     struct vt_inorder_cost *cost);

#endif
