/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list_internal.h"

/* The table is kept in the order of use, the last one first. */
void vti_lru_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_cell *cells = vti_rest(l)->cells;
	uint32_t i = vti_find(l, cells, value);

	if (i < l->count)
		n += cells[i].count;
	else if (l->count == s->capacity)
		i--;
	else
		l->count++;
	for (; i > 0; i--)
		cells[i] = cells[i - 1];
	cells[0] = (struct vti_cell){value, n};
}
