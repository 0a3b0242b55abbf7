/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list_internal.h"

/*
 * A. Metwally, D. Agrawal, A. El Abbadi: "Efficient computation of frequent and top-k elements in
 * data streams", ICDT 2005: a new value takes the place of one with the lowest count, and that
 * count, which is by how much its own may be too high.
 *
 * Here half of the entries are safe, those that were seen most often since they came: as the steady
 * part of a TNV table, they keep counts that a passing crowd would wipe out.  The crowd has the
 * other k entries.  The highest count that was ever given up is at most n/k after n values, because
 * k entries must have passed it; so values that come more often are in the list, and both bounds of
 * each count hold.
 *
 * A count and its error share 64 bits, so that a list has as many values as other algorithms' lists
 * of its size.  The error has 16 significant bits, and is rounded up.
 */
#define COUNT_BITS 42
#define MAX_COUNT  ((UINT64_C(1) << COUNT_BITS) - 1)
#define DIGITS	   16

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

/* How often the value has come, at least. */
static uint64_t seen(struct vti_cell cell)
{
	return vti_spacesaving_count(cell) - vti_spacesaving_error(cell);
}

static uint64_t add(uint64_t packed, uint64_t n)
{
	uint64_t count = packed & MAX_COUNT;

	return packed - count + (n <= MAX_COUNT - count ? count + n : MAX_COUNT);
}

/* The entry with the lowest count of those that are not safe; of several, the one seen least. */
static uint32_t lowest(const struct vt_hotlist *l, const struct vti_cell *cells, uint32_t safe)
{
	uint64_t least = vti_spacesaving_count(cells[l->count - 1u]);
	uint32_t found = l->count - 1u;
	uint32_t i;

	for (i = found; i-- > safe;) {
		uint64_t count = vti_spacesaving_count(cells[i]);

		if (count < least) {
			least = count;
			found = i;
		}
	}
	return found;
}

/* Entries are kept in the order of what was seen: the safe ones come first. */
static void rise(struct vt_hotlist *l, struct vti_cell *cells, uint32_t i)
{
	struct vti_cell cell = cells[i];
	uint64_t mine = seen(cell);

	for (; i > 0 && seen(cells[i - 1]) < mine; i--)
		cells[i] = cells[i - 1];
	cells[i] = cell;
	vti_set_recent(l, i);
}

void vti_spacesaving_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_rest *r = vti_rest(l);
	uint32_t i = vti_find(l, r->cells, value);

	if (i == l->count && l->count < s->capacity) {
		r->cells[i] = (struct vti_cell){value, 0};
		l->count++;
	} else if (i == l->count) {
		i = lowest(l, r->cells, s->capacity / 2);
		if (vti_spacesaving_count(r->cells[i]) > r->age)
			r->age = vti_spacesaving_count(r->cells[i]);
		for (; i + 1u < l->count; i++)
			r->cells[i] = r->cells[i + 1];
		r->cells[i] = (struct vti_cell){value, r->age | pack_error(r->age)};
	}
	r->cells[i].count = add(r->cells[i].count, n);
	rise(l, r->cells, i);
}
