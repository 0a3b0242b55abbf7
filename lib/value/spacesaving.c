/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

/*
 * A. Metwally, D. Agrawal, A. El Abbadi: "Efficient computation of frequent and top-k elements in
 * data streams", ICDT 2005.  A new value takes the place of one with the lowest count, and that
 * count, which is by how much its own may be too high.
 */

/*
 * An entry with the lowest count.  Counts only rise, and l->age is the lowest at some time past: as
 * long as one has it still, that is the lowest, and those before `turns` are known not to have it.
 */
static uint32_t lowest(struct vt_hotlists *s, struct vt_hotlist *l)
{
	const uint64_t *counts = vti_counts(s, l);
	uint32_t n = l->count;
	uint32_t i;

	for (i = l->turns; i < n; i++)
		if (counts[i] == l->age)
			return l->turns = i;
	l->age = counts[0];
	for (i = 1; i < n; i++)
		if (counts[i] < l->age)
			l->age = counts[i];
	for (i = 0; counts[i] != l->age; i++)
		;
	return l->turns = i;
}

void vti_spacesaving_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	uint64_t *counts = vti_counts(s, l);
	uint32_t i = vti_find(l, value);

	if (i == l->count && l->count < s->capacity) {
		l->cells[i] = value;
		l->count++;
	} else if (i == l->count) {
		i = lowest(s, l);
		l->cells[i] = value;
		vti_errors(s, l)[i] = counts[i];
	}
	l->recent = i;
	counts[i] += n;
}
