/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs/internal.h"

#include <stdlib.h>
#include <string.h>

/* Before the first pair, as if so many had been met in each range: at the rates of all, or at 0. */
#define OWN_PRIOR 4
#define ALL_PRIOR 1

void vti_expect_set_window(struct vti_expect *e, uint64_t window)
{
	uint64_t begin = 0;
	unsigned i;

	for (i = 0; i < VTI_RANGES; i++) {
		uint64_t square = (i + 1) * (i + 1), all = VTI_RANGES * VTI_RANGES;

		e->ends[i] = window / all * square + window % all * square / all;
		e->share[i] = (float)((double)(e->ends[i] - begin) / (double)window);
		begin = e->ends[i];
	}
}

static unsigned find_range(const struct vti_expect *e, uint64_t distance)
{
	unsigned i, range = 0;

	for (i = 0; i < VTI_RANGES - 1; i++)
		range += e->ends[i] < distance;
	return range;
}

/* The class of a number of cycles: each spans half an octave. */
static unsigned class_of(uint64_t cycles)
{
	uint64_t n = cycles + 1;
	unsigned log = 63 - (unsigned)__builtin_clzll(n);
	unsigned class = 2 * log + (log && (n >> (log - 1) & 1));

	return class < VTI_CLASSES ? class : VTI_CLASSES - 1;
}

bool vti_expect_pair(struct vti_expect *e, uint32_t row, bool ahead, bool retired, uint64_t cycles,
		     uint64_t distance, struct vti_expected *x)
{
	size_t had = e->cap;
	struct vti_rates *own, *all;
	float rates[VTI_RANGES];
	unsigned i;

	if (!vt_array_grow(&e->rows, &e->cap, (size_t)row + 1, sizeof(*e->rows)))
		return false;
	memset(e->rows + had, 0, (e->cap - had) * sizeof(*e->rows));
	own = &e->rows[row].side[ahead];
	all = &e->all[ahead][retired][class_of(cycles)];
	*x = (struct vti_expected){
		.row = row, .ahead = ahead, .range = (uint8_t)find_range(e, distance), .all = all};
	for (i = 0; i < VTI_RANGES; i++) {
		float rate = all->met[i] / (all->pairs[i] + ALL_PRIOR);

		rates[i] = (own->met[i] + OWN_PRIOR * rate) / (own->pairs[i] + OWN_PRIOR);
		x->mean += e->share[i] * rates[i];
	}
	x->rate = rates[x->range];
	return true;
}

/* Older pairs count for less, and numbers stay exact. */
#define MANY_PAIRS 65536

static void add_rate(struct vti_rates *r, unsigned range, bool met)
{
	if (r->pairs[range] >= MANY_PAIRS) {
		r->pairs[range] /= 2;
		r->met[range] /= 2;
	}
	r->pairs[range]++;
	r->met[range] += met;
}

void vti_expect_learn(struct vti_expect *e, const struct vti_expected *x)
{
	add_rate(&e->rows[x->row].side[x->ahead], x->range, x->met);
	add_rate(x->all, x->range, x->met);
}

void vti_expect_fini(struct vti_expect *e)
{
	free(e->rows);
}
