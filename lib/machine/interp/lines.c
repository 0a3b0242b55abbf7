/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/lines.h"

#include <stdlib.h>
#include <string.h>

static int compare_lines(const void *a, const void *b)
{
	const struct vt_line *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Leaves one of each group of equal lines, and none of those that differ. */
static size_t merge_lines(struct vt_line *lines, size_t count, size_t *contradictory)
{
	size_t kept = 0, i, j;
	bool equal;

	for (i = 0; i < count; i = j) {
		equal = true;
		for (j = i + 1; j < count && lines[j].addr == lines[i].addr; j++)
			equal &= memcmp(lines[j].bytes, lines[i].bytes, VT_KNOWN_LINE) == 0;
		if (equal)
			lines[kept++] = lines[i];
		else
			++*contradictory;
	}
	return kept;
}

size_t vt_lines_sort(struct vt_line *lines, const uint64_t *addr, const uint8_t *bytes,
		     size_t count, size_t *contradictory)
{
	bool ascending = true;
	size_t i;

	*contradictory = 0;
	for (i = 0; i < count; i++) {
		if (addr[i] % VT_KNOWN_LINE)
			return SIZE_MAX;
		ascending &= !i || addr[i - 1] < addr[i];
		lines[i] = (struct vt_line){addr[i], bytes + VT_KNOWN_LINE * i};
	}
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
