/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hotlist_internal.h"

/* The table is kept in the order of use, the last one first. */
void vti_lru_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	uint64_t *counts = vti_counts(s, l);
	uint32_t i = vti_find(l, value);

	if (i < l->count)
		n += counts[i];
	else if (l->count == s->capacity)
		i--;
	else
		l->count++;
	for (; i > 0; i--) {
		l->cells[i] = l->cells[i - 1];
		counts[i] = counts[i - 1];
	}
	l->cells[0] = value;
	counts[0] = n;
	l->recent = 0;
}
