/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list_internal.h"

/*
 * The table is kept in the order of counts, so that its first `steady` entries are the steady part.
 */

/* Moves an entry up to where its count belongs; among equals, the older one stays ahead. */
static void rise(struct vt_hotlist *l, struct vti_cell *cells, uint32_t i)
{
	struct vti_cell cell = cells[i];

	for (; i > 0 && cells[i - 1].count < cell.count; i--)
		cells[i] = cells[i - 1];
	cells[i] = cell;
	vti_set_recent(l, i);
}

/* Least frequently encountered replacement, among the entries that may be cleared. */
static void insert(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_cell *cells,
		   uint64_t value, uint64_t n)
{
	uint32_t i = vti_find(l, cells, value);

	if (i < l->count) {
		cells[i].count += n;
	} else {
		if (l->count == s->capacity) {
			if (s->options.no_clear)
				return;
			i--;
		} else {
			l->count++;
		}
		cells[i] = (struct vti_cell){value, n};
	}
	rise(l, cells, i);
}

/* "The maximum of the minimum clear interval size, and twice [...] the LFU value": 3.2.1. */
static uint64_t clear_interval(const struct vt_hotlists *s, const struct vt_hotlist *l,
			       const struct vti_rest *r)
{
	uint32_t steady = s->options.steady;
	uint64_t lfu = l->count >= steady ? r->cells[steady - 1].count : 0;

	return 2 * lfu > s->options.interval ? 2 * lfu : s->options.interval;
}

void vti_tnv_add(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_rest *r, uint64_t value,
		 uint64_t n)
{
	while (n) {
		uint64_t due = clear_interval(s, l, r);
		uint64_t part = r->age + n <= due ? n : due - r->age;

		insert(s, l, r->cells, value, part);
		n -= part;
		r->age += part;
		/* The count of the LFU value has risen meanwhile, so it may be due later. */
		if (r->age < due || r->age < clear_interval(s, l, r))
			continue;
		if (l->count > s->options.steady)
			l->count = (uint16_t)s->options.steady;
		r->age = 0;
	}
}

void vti_tnv_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	vti_tnv_add(s, l, vti_rest(l), value, n);
}

uint64_t vti_back_off(struct vt_hotlist *l, struct vti_rest *r, uint64_t length, uint64_t run)
{
	uint64_t now = run < length ? run : length;

	r->left_out += length;
	l->skip = length - now;
	return run - now;
}
