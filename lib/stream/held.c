/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/held.h"

#include <stdlib.h>

#include "base/buf.h"

/* A record that is a block of its own.  Behind the columns is what they point to. */
struct vt_held_record {
	struct vt_record record;
	struct vt_block block;
	struct vt_column columns[];
};

/* What a column of a record takes: two bounds and the elements, or a number. */
static size_t column_size(const struct vt_record *rec, unsigned field)
{
	switch (rec->block->desc->fields[field].type) {
	case VT_TYPE_A:
		return sizeof(uint64_t) * (1 + vt_record_words(rec, field).count);
	case VT_TYPE_S:
	case VT_TYPE_B:
		return sizeof(uint64_t) * (1 + (vt_record_bytes(rec, field).size + 7) / 8);
	default:
		return sizeof(uint64_t);
	}
}

/* Copies a column to `at`, which has 8 bytes for the bounds or the number, then the elements. */
static void copy_column(struct vt_column *to, const struct vt_record *rec, unsigned field,
			uint64_t *at)
{
	uint32_t bounds[2] = {0, 0};

	switch (rec->block->desc->fields[field].type) {
	case VT_TYPE_A: {
		struct vt_words w = vt_record_words(rec, field);

		bounds[1] = (uint32_t)w.count;
		if (w.count)
			memcpy(at + 1, w.data, w.count * sizeof(*at));
		to->words = at + 1;
		break;
	}
	case VT_TYPE_S:
	case VT_TYPE_B: {
		struct vt_bytes b = vt_record_bytes(rec, field);

		bounds[1] = (uint32_t)b.size;
		if (b.size)
			memcpy(at + 1, b.data, b.size);
		to->bytes = (const uint8_t *)(at + 1);
		break;
	}
	default:
		*at = vt_record_u64(rec, field);
		to->v = at;
		return;
	}
	memcpy(at, bounds, sizeof(bounds));
	to->off = (const uint32_t *)at;
}

bool vt_held_add(struct vt_held *h, const struct vt_record *rec)
{
	uint32_t n = rec->block->desc->nfields, i;
	size_t size = sizeof(struct vt_held_record) + n * sizeof(struct vt_column);
	struct vt_held_record *r;
	uint64_t *at;

	if (!vt_array_grow(&h->list, &h->cap, h->count + 1, sizeof(struct vt_held_record *)))
		return false;
	for (i = 0; i < n; i++)
		size += column_size(rec, i);
	r = calloc(1, size);
	if (!r)
		return false;
	at = (uint64_t *)(void *)(r->columns + n);
	for (i = 0; i < n; i++) {
		copy_column(&r->columns[i], rec, i, at);
		at += column_size(rec, i) / sizeof(*at);
	}
	r->block = (struct vt_block){.kind = rec->kind,
				     .nrecords = 1,
				     .ncolumns = n,
				     .desc = rec->block->desc,
				     .columns = r->columns};
	r->record = (struct vt_record){.block = &r->block, .kind = rec->kind};
	h->list[h->count++] = r;
	h->bytes += size;
	return true;
}

const struct vt_record *vt_held_at(const struct vt_held *h, size_t i)
{
	return &h->list[i]->record;
}

void vt_held_clear(struct vt_held *h)
{
	while (h->count)
		free(h->list[--h->count]);
	h->bytes = 0;
}

void vt_held_fini(struct vt_held *h)
{
	vt_held_clear(h);
	free(h->list);
	*h = (struct vt_held){.list = NULL};
}
