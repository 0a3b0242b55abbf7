/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOT_LIST_INTERNAL_H
#define VT_VALUE_HOT_LIST_INTERNAL_H

#include "value/hot_list.h"

/* A value of a list, and how often it was counted. */
struct vti_cell {
	uint64_t value;
	uint64_t count;
};

/* The rest of a list. */
struct vti_rest {
	uint64_t first;
	uint64_t
		left_out; /* convergent and random: values in back-offs, the one at hand included */
	uint64_t age;	/* tnv: values since the clear part was cleared; space-saving: highest that
			   was given up */
	uint64_t phase; /* convergent, random: values in the interval at hand; intervals: so far */
	uint64_t profiled; /* convergent: values in the intervals that are over; intervals: which
			      list */
	union {
		double scale;	     /* gm: -1/log(1-p) */
		double invariance;   /* convergent: at the end of the interval before */
		uint64_t bound;	     /* random: of the next back-off */
		struct vt_hash *all; /* exact */
	} u;
	uint32_t level; /* gm: how often it was thinned */
	uint32_t turns; /* convergent: how often it has converged; space-saving: where to look;
			 * intervals: those that are over */
	bool begun;	/* `first` is set, and `same` and `stride` are right */
	struct vti_cell cells[];
};

/* Lists lie in chunks of this size and alignment; the place of the first is taken by this. */
#define VTI_CHUNK ((size_t)1 << 16)

struct vti_chunk {
	uint8_t *rests; /* of its lists, in their order */
	size_t rest_size;
};

static inline struct vti_rest *vti_rest(struct vt_hotlist *l)
{
	size_t at = (size_t)((uintptr_t)l & (VTI_CHUNK - 1));
	const struct vti_chunk *chunk = (const void *)((const uint8_t *)l - at);

	return (void *)(chunk->rests + (at / sizeof(*l) - 1) * chunk->rest_size);
}

/* What follows in each file of an algorithm: its occurrences in a row, vt_hotlist_take_fn. */
vt_hotlist_take_fn vti_gm_take, vti_tnv_take, vti_lru_take, vti_convergent_take, vti_random_take,
	vti_spacesaving_take, vti_exact_take;

/* The index of a value in the table, or l->count. */
static inline uint32_t vti_find(const struct vt_hotlist *l, const struct vti_cell *cells,
				uint64_t value)
{
	uint32_t n = l->count;
	uint32_t i;

	if (l->recent < n && cells[l->recent].value == value)
		return l->recent;
	/* Four at a time without a branch: which of them it is cannot be foreseen. */
	for (i = 0; i + 4 <= n; i += 4) {
		const struct vti_cell *c = cells + i;
		unsigned hit =
			(unsigned)(c[0].value == value) | (unsigned)(c[1].value == value) << 1 |
			(unsigned)(c[2].value == value) << 2 | (unsigned)(c[3].value == value) << 3;

		if (hit)
			return i + (hit >> 1) - (hit >> 3);
	}
	for (; i < n; i++)
		if (cells[i].value == value)
			return i;
	return n;
}

/* Which entry is likely to come again. */
static inline void vti_set_recent(struct vt_hotlist *l, uint32_t i)
{
	l->recent = i & 0x7fff;
}

/* ---- what algorithms share ---- */

/* A TNV table takes n occurrences in a row: tnv.c. */
void vti_tnv_add(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_rest *r, uint64_t value,
		 uint64_t n);

/* Turns profiling off for so many values; those of the run at hand come first: tnv.c. */
uint64_t vti_back_off(struct vt_hotlist *l, struct vti_rest *r, uint64_t length, uint64_t run);

/* intervals.c: the list that was added last gets its place. */
void vti_intervals_added(struct vt_hotlists *s, struct vt_hotlist *l);

/* gm.c: draws how many values are rejected before the next one that is kept. */
void vti_gm_skip(struct vt_hotlists *s, struct vt_hotlist *l, const struct vti_rest *r);

/* gm.c: how many of n values in a row are kept; the skip goes on behind them. */
uint64_t vti_gm_accept(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t n);

/* value/space_saving.c: what the two halves of a cell's count say. */
uint64_t vti_spacesaving_count(struct vti_cell cell);
uint64_t vti_spacesaving_error(struct vti_cell cell);

/* exact.c */
void vti_exact_free(struct vti_rest *r);
size_t vti_exact_count(const struct vti_rest *r);
struct vti_cell vti_exact_get(const struct vti_rest *r, size_t i);

#endif
