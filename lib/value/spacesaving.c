/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

/*
 * A. Metwally, D. Agrawal, A. El Abbadi: "Efficient computation of frequent and top-k elements in
 * data streams", ICDT 2005.  A new value takes the place of one with the lowest count, and that
 * count, which is by how much its own may be too high.
 */

/*
 * An entry with the lowest count.  Counts only rise, and r->age is the lowest at some time past: as
 * long as one has it still, that is the lowest, and those before `turns` are known not to have it.
 */
static uint32_t lowest(const struct vt_hotlist *l, struct vti_rest *r)
{
	uint32_t n = l->count;
	uint32_t i;

	for (i = r->turns; i < n; i++)
		if (r->cells[i].count == r->age)
			return r->turns = i;
	r->age = r->cells[0].count;
	for (i = 1; i < n; i++)
		if (r->cells[i].count < r->age)
			r->age = r->cells[i].count;
	for (i = 0; r->cells[i].count != r->age; i++)
		;
	return r->turns = i;
}

void vti_spacesaving_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_rest *r = vti_rest(l);
	uint32_t i = vti_find(l, r->cells, value);

	if (i == l->count && l->count < s->capacity) {
		r->cells[i].value = value;
		l->count++;
	} else if (i == l->count) {
		i = lowest(l, r);
		r->cells[i].value = value;
		vti_errors(s, r)[i] = r->cells[i].count;
	}
	vti_set_recent(l, i);
	r->cells[i].count += n;
}
