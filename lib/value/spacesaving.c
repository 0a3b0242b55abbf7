/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

/*
 * A. Metwally, D. Agrawal, A. El Abbadi: "Efficient computation of frequent and top-k elements in
 * data streams", ICDT 2005.  A new value takes the place of one with the lowest count, and that
 * count, which is by how much its own may be too high.
 */

/*
 * A count and its error share 64 bits, so that a list has as many values as other algorithms' lists
 * of its size.  The error has ten significant bits, and is rounded up: so both bounds hold.
 */
#define COUNT_BITS 48
#define MAX_COUNT  ((UINT64_C(1) << COUNT_BITS) - 1)
#define DIGITS	   10

static uint64_t pack_error(uint64_t error)
{
	uint64_t shift = 0;

	while (error >> shift >> DIGITS)
		shift++;
	error = (error + (UINT64_C(1) << shift) - 1) >> shift;
	if (error >> DIGITS) {
		error >>= 1;
		shift++;
	}
	return (shift << DIGITS | error) << COUNT_BITS;
}

uint64_t vti_spacesaving_count(struct vti_cell cell)
{
	return cell.count & MAX_COUNT;
}

uint64_t vti_spacesaving_error(struct vti_cell cell)
{
	uint64_t packed = cell.count >> COUNT_BITS;
	uint64_t error = (packed & ((1u << DIGITS) - 1)) << (packed >> DIGITS);
	uint64_t count = vti_spacesaving_count(cell);

	return error < count ? error : count;
}

static uint64_t add(uint64_t count, uint64_t n)
{
	uint64_t low = count & MAX_COUNT;

	return count - low + (n <= MAX_COUNT - low ? low + n : MAX_COUNT);
}

/*
 * An entry with the lowest count.  Counts only rise, and r->age is the lowest at some time past: as
 * long as one has it still, that is the lowest, and those before `turns` are known not to have it.
 */
static uint32_t lowest(const struct vt_hotlist *l, struct vti_rest *r)
{
	uint32_t n = l->count;
	uint32_t i;

	for (i = r->turns; i < n; i++)
		if (vti_spacesaving_count(r->cells[i]) == r->age)
			return r->turns = i;
	r->age = vti_spacesaving_count(r->cells[0]);
	for (i = 1; i < n; i++)
		if (vti_spacesaving_count(r->cells[i]) < r->age)
			r->age = vti_spacesaving_count(r->cells[i]);
	for (i = 0; vti_spacesaving_count(r->cells[i]) != r->age; i++)
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
		r->cells[i] = (struct vti_cell){value, r->age | pack_error(r->age)};
	}
	vti_set_recent(l, i);
	r->cells[i].count = add(r->cells[i].count, n);
}
