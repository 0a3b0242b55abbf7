/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list_internal.h"

/* "An inv-increase threshold of 10% and an inv-decrease threshold of 10%": 8.1. */
#define BOUND 0.1

#define MAX_BACK_OFF (UINT64_C(1) << 60)

/* The share of the values profiled so far that the steady part of the table has. */
static double invariance(const struct vt_hotlists *s, const struct vt_hotlist *l,
			 const struct vti_rest *r)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < l->count && i < s->options.steady; i++)
		sum += r->cells[i].count;
	return (double)sum / (double)r->profiled;
}

/* The fast-converging back-off: what was profiled, by twice the times that it has converged. */
static uint64_t back_off(uint64_t profiled, uint64_t turns)
{
	return profiled < MAX_BACK_OFF / (2 * turns) ? profiled * 2 * turns : MAX_BACK_OFF;
}

void vti_convergent_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	uint64_t interval = s->options.interval;
	struct vti_rest *r = vti_rest(l);

	while (n) {
		uint64_t part = n < interval - r->phase ? n : interval - r->phase;
		double now, change;

		vti_tnv_add(s, l, r, value, part);
		n -= part;
		r->phase += part;
		if (r->phase < interval)
			break;
		r->phase = 0;
		r->profiled += interval;
		now = invariance(s, l, r);
		change = now - r->u.invariance;
		r->u.invariance = now;
		if (change > BOUND || change < -BOUND)
			continue;
		r->turns++;
		n = vti_back_off(l, r, back_off(r->profiled, r->turns), n);
	}
}
