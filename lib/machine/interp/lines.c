/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/lines.h"

#include <stdlib.h>
#include <string.h>

static int compare_lines(const void *a, const void *b)
{
	const struct vt_line *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool is_same_line(const struct vt_line *a, const struct vt_line *b)
{
	return a->read == b->read && memcmp(a->bytes, b->bytes, vt_line_size(a)) == 0;
}

/* Leaves one of each group of equal lines, and none of those that differ. */
static size_t merge_lines(struct vt_line *lines, size_t count, size_t *contradictory)
{
	size_t kept = 0, i, j;
	bool equal;

	for (i = 0; i < count; i = j) {
		equal = true;
		for (j = i + 1; j < count && lines[j].addr == lines[i].addr; j++)
			equal &= is_same_line(&lines[j], &lines[i]);
		if (equal)
			lines[kept++] = lines[i];
		else
			++*contradictory;
	}
	return kept;
}

size_t vt_lines_sort(struct vt_line *lines, const uint64_t *addr, const uint64_t *read,
		     const uint8_t *bytes, size_t size, size_t count, size_t *contradictory)
{
	bool ascending = true;
	size_t i, at = 0;

	*contradictory = 0;
	for (i = 0; i < count; i++) {
		ascending &= !i || addr[i - 1] < addr[i];
		lines[i] = (struct vt_line){addr[i], read ? read[i] : UINT64_MAX, bytes + at};
		if (addr[i] % VT_KNOWN_LINE || !lines[i].read ||
		    vt_line_size(&lines[i]) > size - at)
			return SIZE_MAX;
		at += vt_line_size(&lines[i]);
	}
	if (at != size)
		return SIZE_MAX;
	if (ascending)
		return count;
	qsort(lines, count, sizeof(*lines), compare_lines);
	return merge_lines(lines, count, contradictory);
}

size_t vt_lines_find(const struct vt_line *lines, size_t count, uint64_t addr)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines[middle].addr + (VT_KNOWN_LINE - 1) < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t vt_line_copy(const struct vt_line *l, unsigned at, uint8_t *to, size_t size)
{
	uint64_t unknown = ~(l->read >> at);
	size_t n = unknown ? (size_t)__builtin_ctzll(unknown) : VT_KNOWN_LINE;

	if (n > size)
		n = size;
	memcpy(to, l->bytes + __builtin_popcountll(l->read & ~(UINT64_MAX << at)), n);
	return n;
}

uint64_t vt_line_fill(const struct vt_line *l, uint8_t to[VT_KNOWN_LINE])
{
	const uint8_t *from = l->bytes;
	uint64_t left;

	if (l->read == UINT64_MAX)
		memcpy(to, from, VT_KNOWN_LINE);
	else
		for (left = l->read; left; left &= left - 1)
			to[__builtin_ctzll(left)] = *from++;
	return l->read;
}
