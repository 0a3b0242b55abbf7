/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOTLIST_INTERNAL_H
#define VT_VALUE_HOTLIST_INTERNAL_H

#include "value/hotlist.h"

/* What follows in each file of an algorithm: its occurrences in a row, vt_hotlist_take_fn. */
vt_hotlist_take_fn vti_gm_take, vti_tnv_take, vti_lru_take, vti_convergent_take, vti_random_take,
	vti_spacesaving_take, vti_exact_take;

static inline uint64_t *vti_counts(const struct vt_hotlists *s, struct vt_hotlist *l)
{
	return l->cells + s->capacity;
}

static inline uint64_t *vti_errors(const struct vt_hotlists *s, struct vt_hotlist *l)
{
	return l->cells + 2 * (size_t)s->capacity;
}

/* The index of a value in the table, or l->count. */
static inline uint32_t vti_find(struct vt_hotlist *l, uint64_t value)
{
	uint32_t n = l->count;
	uint32_t i;

	if (l->recent < n && l->cells[l->recent] == value)
		return l->recent;
	/* Four at a time without a branch: which of them it is cannot be foreseen. */
	for (i = 0; i + 4 <= n; i += 4) {
		const uint64_t *c = l->cells + i;
		unsigned hit = (unsigned)(c[0] == value) | (unsigned)(c[1] == value) << 1 |
			       (unsigned)(c[2] == value) << 2 | (unsigned)(c[3] == value) << 3;

		if (hit)
			return l->recent = i + (hit >> 1) - (hit >> 3);
	}
	for (; i < n; i++)
		if (l->cells[i] == value)
			return l->recent = i;
	return n;
}

/* ---- what algorithms share ---- */

/* A TNV table takes n occurrences in a row: tnv.c. */
void vti_tnv_add(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n);

/* Turns profiling off for so many values; those of the run at hand come first: tnv.c. */
uint64_t vti_back_off(struct vt_hotlist *l, uint64_t length, uint64_t run);

/* gm.c: draws how many values are rejected before the next one that is kept. */
void vti_gm_skip(struct vt_hotlists *s, struct vt_hotlist *l);

/* gm.c: how many of n values in a row are kept; the skip goes on behind them. */
uint64_t vti_gm_accept(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t n);

/* exact.c */
void vti_exact_free(struct vt_hotlist *l);
size_t vti_exact_count(const struct vt_hotlist *l);
void vti_exact_get(const struct vt_hotlist *l, size_t i, uint64_t *value, uint64_t *count);

#endif
