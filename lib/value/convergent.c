/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

/* "An inv-increase threshold of 10% and an inv-decrease threshold of 10%": 8.1. */
#define BOUND 0.1

#define MAX_BACK_OFF (UINT64_C(1) << 60)

/* The share of the values profiled so far that the steady part of the table has. */
static double invariance(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t profiled)
{
	const uint64_t *counts = vti_counts(s, l);
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < l->count && i < s->options.steady; i++)
		sum += counts[i];
	return (double)sum / (double)profiled;
}

/* The fast-converging back-off: what was profiled, by twice the times that it has converged. */
static uint64_t back_off(uint64_t profiled, uint64_t turns)
{
	return profiled < MAX_BACK_OFF / (2 * turns) ? profiled * 2 * turns : MAX_BACK_OFF;
}

void vti_convergent_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	uint64_t interval = s->options.interval;

	while (n) {
		uint64_t part = n < interval - l->phase ? n : interval - l->phase;
		uint64_t profiled;
		double now, change;

		vti_tnv_add(s, l, value, part);
		n -= part;
		l->phase += part;
		if (l->phase < interval)
			break;
		l->phase = 0;
		l->profiled += interval;
		profiled = l->profiled;
		now = invariance(s, l, profiled);
		change = now - l->u.invariance;
		l->u.invariance = now;
		if (change > BOUND || change < -BOUND)
			continue;
		l->turns++;
		n = vti_back_off(l, back_off(profiled, l->turns), n);
	}
}
