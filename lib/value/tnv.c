/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

/*
 * The table is kept in the order of counts, so that its first `steady` entries are the steady part.
 */

/* Moves an entry up to where its count belongs; among equals, the older one stays ahead. */
static void rise(struct vt_hotlists *s, struct vt_hotlist *l, uint32_t i)
{
	uint64_t *counts = vti_counts(s, l);
	uint64_t value = l->cells[i];
	uint64_t count = counts[i];

	for (; i > 0 && counts[i - 1] < count; i--) {
		l->cells[i] = l->cells[i - 1];
		counts[i] = counts[i - 1];
	}
	l->cells[i] = value;
	counts[i] = count;
	l->recent = i;
}

/* Least frequently encountered replacement, among the entries that may be cleared. */
static void insert(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	uint64_t *counts = vti_counts(s, l);
	uint32_t i = vti_find(l, value);

	if (i < l->count) {
		counts[i] += n;
	} else {
		if (l->count == s->capacity) {
			if (s->options.no_clear)
				return;
			i--;
		} else {
			l->count++;
		}
		l->cells[i] = value;
		counts[i] = n;
	}
	rise(s, l, i);
}

/* "The maximum of the minimum clear interval size, and twice [...] the LFU value": 3.2.1. */
static uint64_t clear_interval(struct vt_hotlists *s, struct vt_hotlist *l)
{
	uint32_t steady = s->options.steady;
	uint64_t lfu = l->count >= steady ? vti_counts(s, l)[steady - 1] : 0;

	return 2 * lfu > s->options.interval ? 2 * lfu : s->options.interval;
}

void vti_tnv_add(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	while (n) {
		uint64_t due = clear_interval(s, l);
		uint64_t part = l->age + n <= due ? n : due - l->age;

		insert(s, l, value, part);
		n -= part;
		l->age += part;
		/* The count of the LFU value has risen meanwhile, so it may be due later. */
		if (l->age < due || l->age < clear_interval(s, l))
			continue;
		if (l->count > s->options.steady)
			l->count = s->options.steady;
		l->age = 0;
	}
}

void vti_tnv_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	vti_tnv_add(s, l, value, n);
}

uint64_t vti_back_off(struct vt_hotlist *l, uint64_t length, uint64_t run)
{
	uint64_t now = run < length ? run : length;

	l->left_out += length;
	l->skip = length - now;
	return run - now;
}
