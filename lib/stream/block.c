/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/block_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "stream/column_internal.h"

const char vti_no_memory[] = "out of memory";

static const char bad_column[] = "bad column";
static const char over_budget[] = "frame over its size limit";

/* A column that is 0 or empty in every row. */
static void make_empty(struct vt_column *c, struct vti_column_store *s)
{
	static const uint64_t nothing[1] = {0};

	s->constant = 0;
	s->const_off[0] = s->const_off[1] = 0;
	*c = (struct vt_column){
		.v = &s->constant,
		.mask = 0,
		.off = s->const_off,
		.bytes = (const uint8_t *)nothing,
		.words = nothing,
	};
}

bool vti_block_store_init(struct vti_block_store *b, uint32_t kind, const struct vt_kind_desc *wire,
			  const struct vt_kind_desc *known)
{
	uint32_t i;

	*b = (struct vti_block_store){.wire = wire};
	b->columns = calloc(known->nfields + 1, sizeof(*b->columns));
	b->store = calloc(known->nfields + 1, sizeof(*b->store));
	b->to = calloc(wire->nfields + 1, sizeof(*b->to));
	if (!b->columns || !b->store || !b->to) {
		vti_block_store_fini(b);
		return false;
	}
	for (i = 0; i < wire->nfields; i++) {
		int at = vt_schema_find_field(known, wire->fields[i].name);

		if (at >= 0 && known->fields[at].type != wire->fields[i].type)
			at = -1;
		assert(at < (int)known->nfields);
		b->to[i] = (int16_t)at;
	}
	for (i = 0; i < known->nfields; i++)
		make_empty(&b->columns[i], &b->store[i]);
	b->block = (struct vt_block){
		.kind = kind,
		.ncolumns = known->nfields,
		.desc = known,
		.columns = b->columns,
	};
	return true;
}

static void column_store_fini(struct vti_column_store *s)
{
	free(s->v);
	free(s->off);
	free(s->words);
	*s = (struct vti_column_store){0};
}

void vti_block_store_fini(struct vti_block_store *b)
{
	uint32_t i;

	for (i = 0; b->store && i < b->block.ncolumns; i++)
		column_store_fini(&b->store[i]);
	column_store_fini(&b->spare);
	free(b->columns);
	free(b->store);
	free(b->to);
	*b = (struct vti_block_store){0};
}

static size_t column_store_kept(const struct vti_column_store *s)
{
	return s->v_cap * sizeof(*s->v) + s->off_cap * sizeof(*s->off) +
	       s->words_cap * sizeof(*s->words);
}

size_t vti_block_store_kept(const struct vti_block_store *b)
{
	size_t sum = column_store_kept(&b->spare);
	uint32_t i;

	for (i = 0; i < b->block.ncolumns; i++)
		sum += column_store_kept(&b->store[i]);
	return sum;
}

void vti_block_store_trim(struct vti_block_store *b)
{
	uint32_t i;

	for (i = 0; i < b->block.ncolumns; i++) {
		column_store_fini(&b->store[i]);
		make_empty(&b->columns[i], &b->store[i]);
	}
	column_store_fini(&b->spare);
	b->block.nrecords = 0;
}

static bool spend_budget(size_t *budget, size_t n, size_t each)
{
	if (n > *budget / each)
		return false;
	*budget -= n * each;
	return true;
}

static const char *decode_numbers(struct vti_column_store *s, struct vt_column *col,
				  struct vt_cursor *c, size_t n, size_t *budget)
{
	int r = vti_column_probe(c, &s->constant);

	if (r < 0)
		return bad_column;
	col->v = &s->constant;
	col->mask = 0;
	if (r > 0)
		return NULL;
	if (!spend_budget(budget, n, sizeof(*s->v)))
		return over_budget;
	/* Each value takes at least one byte, so a false count allocates nothing. */
	if (n > vt_cursor_left(c))
		return bad_column;
	if (!vt_array_grow(&s->v, &s->v_cap, n ? n : 1, sizeof(*s->v)))
		return vti_no_memory;
	if (vti_column_decode(c, s->v, n) < 0)
		return bad_column;
	col->v = s->v;
	col->mask = SIZE_MAX;
	return NULL;
}

/* Turns the decoded lengths into offsets; *total is their sum. */
static const char *decode_offsets(struct vti_column_store *s, struct vt_column *col, size_t n,
				  size_t limit, size_t *total)
{
	size_t sum = 0;
	size_t i;

	if (col->mask == 0 && (s->constant == 0 || n == 1)) {
		if (s->constant > limit)
			return over_budget;
		s->const_off[0] = 0;
		s->const_off[1] = (uint32_t)s->constant;
		col->off = s->const_off;
		*total = s->constant;
		return NULL;
	}
	if (!vt_array_grow(&s->off, &s->off_cap, n + 1, sizeof(*s->off)))
		return vti_no_memory;
	for (i = 0; i < n; i++) {
		uint64_t len = col->v[i & col->mask];

		if (len > limit - sum)
			return over_budget;
		s->off[i] = (uint32_t)sum;
		sum += len;
	}
	assert(sum <= limit && sum <= UINT32_MAX);
	s->off[n] = (uint32_t)sum;
	col->off = s->off;
	/* From here on, the mask is that of the offsets. */
	col->mask = SIZE_MAX;
	col->v = &s->constant;
	*total = sum;
	return NULL;
}

static const char *decode_words(struct vti_column_store *s, struct vt_column *col,
				struct vt_cursor *c, size_t total, size_t *budget)
{
	uint64_t constant = 0;
	size_t i;
	int r = vti_column_probe(c, &constant);

	if (r < 0 || (r == 0 && total > vt_cursor_left(c)))
		return bad_column;
	if (!spend_budget(budget, total, sizeof(*s->words)))
		return over_budget;
	if (!vt_array_grow(&s->words, &s->words_cap, total + 1, sizeof(*s->words)))
		return vti_no_memory;
	for (i = 0; r > 0 && i < total; i++)
		s->words[i] = constant;
	if (r == 0 && vti_column_decode(c, s->words, total) < 0)
		return bad_column;
	col->words = s->words;
	return NULL;
}

static const char *decode_column(struct vti_column_store *s, struct vt_column *col,
				 enum vt_type type, struct vt_cursor *c, size_t n, size_t *budget)
{
	const char *why = decode_numbers(s, col, c, n, budget);
	size_t total = 0;

	if (why || (type != VT_TYPE_S && type != VT_TYPE_B && type != VT_TYPE_A))
		return why;
	why = decode_offsets(s, col, n, *budget, &total);
	if (why)
		return why;
	if (type == VT_TYPE_A)
		return decode_words(s, col, c, total, budget);
	col->bytes = vt_cursor_take(c, total);
	return col->bytes && spend_budget(budget, total, 1) ? NULL : bad_column;
}

const char *vti_block_store_decode(struct vti_block_store *b, struct vt_cursor *c,
				   uint32_t nrecords, size_t *budget)
{
	struct vt_column unused;
	uint32_t i;

	b->block.nrecords = nrecords;
	for (i = 0; i < b->wire->nfields; i++) {
		int at = b->to[i];
		const char *why = decode_column(at < 0 ? &b->spare : &b->store[at],
						at < 0 ? &unused : &b->columns[at],
						b->wire->fields[i].type, c, nrecords, budget);

		if (why)
			return why;
	}
	return vt_cursor_left(c) ? "bytes after the last column" : NULL;
}

/* Points a column at the one it is handed over as. */
static const char *borrow_column(struct vti_column_store *s, struct vt_column *col,
				 const struct vti_frame_column *from, enum vt_type type, size_t n)
{
	static const uint64_t nothing[1] = {0};
	const void *var = from->var.data ? from->var.data : (const void *)nothing;
	const char *why;
	size_t total;

	s->constant = from->constant;
	col->v = from->varies ? from->v : &s->constant;
	col->mask = from->varies ? SIZE_MAX : 0;
	if (type != VT_TYPE_S && type != VT_TYPE_B && type != VT_TYPE_A)
		return NULL;
	why = decode_offsets(s, col, n, from->var.size, &total);
	assert(why == NULL || why == vti_no_memory);
	col->bytes = var;
	/* A vt_buf's memory comes from malloc(), so it is aligned for any type. */
	col->words = var;
	return why;
}

const char *vti_block_store_borrow(struct vti_block_store *b, const struct vti_frame_kind *from)
{
	const char *why = NULL;
	uint32_t i;

	assert(from->ncolumns == b->wire->nfields);
	b->block.nrecords = (uint32_t)from->nrows;
	for (i = 0; i < from->ncolumns && !why; i++) {
		/* One library has declared both. */
		assert(b->to[i] >= 0);
		why = borrow_column(&b->store[b->to[i]], &b->columns[b->to[i]], &from->columns[i],
				    b->wire->fields[i].type, from->nrows);
	}
	return why;
}
