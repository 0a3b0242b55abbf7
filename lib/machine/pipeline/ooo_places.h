/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_PLACES_H
#define VT_MACHINE_PIPELINE_OOO_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * What an out-of-order core has so many of: so much width in each cycle (lanes), and so many
 * entries of each buffer (places).  Inline, for each instruction asks all of them.  Private to
 * lib/machine.
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

#endif
