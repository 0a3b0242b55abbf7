/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/buf.h"
#include "pairs/internal.h"

/* Two samples side by side, as a block. */
struct side_by_side {
	struct vt_column columns[VT_WHERE_PAIR_COLUMNS];
	struct vt_block block;
};

/* Fills one side with the columns of a block from a row on; texts and arrays are never read. */
static void set_side(struct side_by_side *s, unsigned side, const struct vt_block *from,
		     uint32_t first)
{
	unsigned i;

	for (i = 0; i < VT_SAMPLE_NFIELDS; i++) {
		struct vt_column *c = &s->columns[side * VT_SAMPLE_NFIELDS + i];

		*c = from->columns[i];
		if (c->v && c->mask)
			c->v += first;
	}
}

/* The same with the row that was kept. */
static void set_kept_side(struct side_by_side *s, unsigned side, const struct vti_neighbours *n)
{
	unsigned i;

	for (i = 0; i < VT_SAMPLE_NFIELDS; i++)
		s->columns[side * VT_SAMPLE_NFIELDS + i] = (struct vt_column){.v = &n->last[i]};
}

static void evaluate(struct vti_neighbours *n, struct side_by_side *s, uint32_t count,
		     uint8_t *truth)
{
	s->block = (struct vt_block){.kind = VT_SAMPLE,
				     .nrecords = count,
				     .ncolumns = VT_WHERE_PAIR_COLUMNS,
				     .columns = s->columns};
	vt_where_select(n->where, &s->block, 0, count, truth);
}

static void keep_last(struct vti_neighbours *n, const struct vt_block *block, uint32_t row)
{
	const struct vt_record rec = {block, block->kind, row};
	unsigned i;

	for (i = 0; i < VT_SAMPLE_NFIELDS; i++)
		n->last[i] = block->columns[i].v ? vt_record_u64(&rec, i) : 0;
	n->has_last = true;
}

int vti_neighbours_run(struct vti_neighbours *n, const struct vt_block *block, uint32_t first,
		       uint32_t count, struct vt_error *err)
{
	struct side_by_side s;
	unsigned k;

	for (k = 0; n->where && k < 2; k++) {
		if (!vt_array_grow(&n->truth[k], &n->cap[k], count, 1))
			return vt_error_nomem(err);
		n->truth[k][0] = VT_UNKNOWN;
		if (n->has_last) {
			set_kept_side(&s, k, n);
			set_side(&s, 1 - k, block, first);
			evaluate(n, &s, 1, n->truth[k]);
		}
		if (count < 2)
			continue;
		set_side(&s, k, block, first);
		set_side(&s, 1 - k, block, first + 1);
		evaluate(n, &s, count - 1, n->truth[k] + 1);
	}
	if (n->where && count)
		keep_last(n, block, first + count - 1);
	return 0;
}

void vti_neighbours_fini(struct vti_neighbours *n)
{
	free(n->truth[0]);
	free(n->truth[1]);
}
