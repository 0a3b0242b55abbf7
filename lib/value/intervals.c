/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/intervals.h"

#include <stdlib.h>

#include "value/hot_list_internal.h"

struct vt_intervals {
	uint32_t k;
	const uint64_t *totals;
	size_t n;
	float *shares; /* k for each list */
};

struct vt_intervals *vt_intervals_new(uint32_t k, const uint64_t *totals, size_t n)
{
	struct vt_intervals *iv = calloc(1, sizeof(*iv));

	if (!iv)
		return NULL;
	*iv = (struct vt_intervals){.k = k, .totals = totals, .n = n};
	iv->shares = calloc(n + 1, k * sizeof(*iv->shares));
	if (!iv->shares) {
		free(iv);
		return NULL;
	}
	return iv;
}

void vt_intervals_free(struct vt_intervals *iv)
{
	if (!iv)
		return;
	free(iv->shares);
	free(iv);
}

/* Executions before the j-th interval. */
static uint64_t boundary(uint64_t total, uint32_t k, uint32_t j)
{
	return total / k * j + total % k * j / k;
}

static void end_interval(struct vt_intervals *iv, struct vt_hotlist *l, struct vti_rest *r)
{
	uint64_t total = iv->totals[r->profiled];
	uint64_t size = boundary(total, iv->k, r->turns + 1) - boundary(total, iv->k, r->turns);

	/* The table is in the order of counts. */
	if (l->count && size)
		iv->shares[r->profiled * iv->k + r->turns] =
			(float)((double)r->cells[0].count / (double)size);
	l->count = 0;
	r->age = 0;
	r->turns++;
}

static void take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vt_intervals *iv = s->intervals;
	struct vti_rest *r = vti_rest(l);

	while (n && r->profiled < iv->n && r->turns < iv->k) {
		uint64_t end = boundary(iv->totals[r->profiled], iv->k, r->turns + 1);
		uint64_t part = n < end - r->phase ? n : end - r->phase;

		if (part)
			vti_tnv_add(s, l, r, value, part);
		r->phase += part;
		n -= part;
		if (r->phase == end)
			end_interval(iv, l, r);
	}
}

void vt_intervals_watch(struct vt_intervals *iv, struct vt_hotlists *s)
{
	s->intervals = iv;
	s->take = take;
}

const float *vt_intervals_of(struct vt_intervals *iv, struct vt_hotlists *s, struct vt_hotlist *l)
{
	const struct vti_rest *r = vti_rest(l);

	if (l->run)
		vti_hotlist_flush(s, l);
	return r->profiled < iv->n ? iv->shares + r->profiled * iv->k : NULL;
}
