/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_BLOCK_INTERNAL_H
#define VT_STREAM_BLOCK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "stream/channel_internal.h"
#include "stream/record.h"

/* Memory of one column that is reused from block to block. */
struct vti_column_store {
	uint64_t *v;
	size_t v_cap;
	uint32_t *off;
	size_t off_cap;
	uint64_t *words;
	size_t words_cap;
	uint64_t constant;
	uint32_t const_off[2]; /* bounds of the element that all rows share */
};

/* The current decoded block of one kind. */
struct vti_block_store {
	struct vt_block block;
	struct vt_column *columns;	/* in the reader's order: known fields first */
	struct vti_column_store *store; /* in the same order */
	int16_t *to;			/* column of each field of `wire`; -1: its type differs */
	struct vti_column_store spare;	/* for fields whose type differs */
	const struct vt_kind_desc *wire;
};

/*
 * Initializes the store of a kind.  `wire` is the kind as the stream declares it, `known` has all
 * fields of the records given out; fields that the stream lacks are 0 or empty.  Both are borrowed.
 * Returns false when memory runs out.
 */
bool vti_block_store_init(struct vti_block_store *b, uint32_t kind, const struct vt_kind_desc *wire,
			  const struct vt_kind_desc *known);
void vti_block_store_fini(struct vti_block_store *b);

/* Returns how many bytes of column memory the store holds; frees them, leaving the block empty. */
size_t vti_block_store_kept(const struct vti_block_store *b);
void vti_block_store_trim(struct vti_block_store *b);

/* vti_block_store_decode() returns this pointer when memory runs out. */
extern const char vti_no_memory[];

/*
 * Decodes a payload of `nrecords` records.  Columns of text and bytes point into the payload.
 * `*budget` is the number of decoded bytes that the frame may still use.  Returns NULL, or a short
 * description of the error.
 */
const char *vti_block_store_decode(struct vti_block_store *b, struct vt_cursor *c,
				   uint32_t nrecords, size_t *budget);

/*
 * Makes the block of a kind that a channel hands over: the same records, whose columns point into
 * it.  Returns NULL, or vti_no_memory.
 */
const char *vti_block_store_borrow(struct vti_block_store *b, const struct vti_frame_kind *from);

#endif
