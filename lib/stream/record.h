/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_RECORD_H
#define VT_STREAM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stream/kinds.h"
#include "stream/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A decoded column of a block.  The number of row i is v[i & mask].  `mask` is 0 for a column whose
 * values are all equal, so such columns cost nothing to decode.  For texts, bytes and arrays,
 * off[i & mask] and off[(i & mask) + 1] are the bounds of row i in `bytes` or `words`.
 */
struct vt_column {
	const uint64_t *v;
	size_t mask;
	const uint32_t *off;
	const uint8_t *bytes;
	const uint64_t *words;
};

/* Decoded records of one kind.  Inner loops may read the columns directly. */
struct vt_block {
	uint32_t kind; /* index in the schema: enum vt_kind, or from VT_NKINDS on */
	uint32_t nrecords;
	uint32_t ncolumns;
	const struct vt_kind_desc *desc;
	const struct vt_column *columns;
};

/* A record: one row of a block. */
struct vt_record {
	const struct vt_block *block;
	uint32_t kind;
	uint32_t row;
};

struct vt_bytes {
	const uint8_t *data;
	size_t size;
};

struct vt_words {
	const uint64_t *data;
	size_t count;
};

/* Returns a field of type U, I (cast it to int64_t) or F (its bits). */
static inline uint64_t vt_record_u64(const struct vt_record *rec, unsigned field)
{
	const struct vt_column *c = &rec->block->columns[field];

	return c->v[rec->row & c->mask];
}

static inline int64_t vt_record_i64(const struct vt_record *rec, unsigned field)
{
	return (int64_t)vt_record_u64(rec, field);
}

/* Returns a field of type F. */
static inline double vt_record_f64(const struct vt_record *rec, unsigned field)
{
	uint64_t bits = vt_record_u64(rec, field);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Returns a field of type S or B.  Borrowed: valid as long as the record. */
static inline struct vt_bytes vt_record_bytes(const struct vt_record *rec, unsigned field)
{
	const struct vt_column *c = &rec->block->columns[field];
	size_t i = rec->row & c->mask;
	struct vt_bytes b = {c->bytes + c->off[i], c->off[i + 1] - c->off[i]};

	return b;
}

/* Returns true if the bytes equal a C string. */
static inline bool vt_bytes_are(struct vt_bytes b, const char *text)
{
	return b.size == strlen(text) && memcmp(b.data, text, b.size) == 0;
}

/* Returns true for a META record with this key. */
static inline bool vt_record_is_meta(const struct vt_record *rec, const char *key)
{
	return rec->kind == VT_META && vt_bytes_are(vt_record_bytes(rec, VT_META_KEY), key);
}

/* Returns a field of type A.  Borrowed: valid as long as the record. */
static inline struct vt_words vt_record_words(const struct vt_record *rec, unsigned field)
{
	const struct vt_column *c = &rec->block->columns[field];
	size_t i = rec->row & c->mask;
	struct vt_words w = {c->words + c->off[i], c->off[i + 1] - c->off[i]};

	return w;
}

#ifdef __cplusplus
}
#endif
#endif
