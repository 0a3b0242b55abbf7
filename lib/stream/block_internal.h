/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_BLOCK_INTERNAL_H
#define VT_STREAM_BLOCK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "stream/record.h"

/* The memory that the decoded blocks of one kind use again and again. */
struct vti_column_store {
	uint64_t *v;
	size_t v_cap;
	uint32_t *off;
	size_t off_cap;
	uint64_t *words;
	size_t words_cap;
	uint64_t constant;
	uint32_t const_off[2]; /* bounds of the element that all rows of a column share */
};

struct vti_block_store {
	struct vt_block block;
	struct vt_column *columns;	/* in the reader's order: known fields first */
	struct vti_column_store *store; /* in the same order */
	int16_t *to;			/* field of the wire -> column; -1: its type clashes */
	struct vti_column_store spare;	/* for fields that clash */
	const struct vt_kind_desc *wire;
};

/*
 * Prepares the store of a kind: `wire` as the stream declares it, `known` with all the fields that
 * a record is to have, those that the stream lacks being 0 or empty.  Returns false for want of
 * memory.
 */
bool vti_block_store_init(struct vti_block_store *b, uint32_t kind, const struct vt_kind_desc *wire,
			  const struct vt_kind_desc *known);
void vti_block_store_fini(struct vti_block_store *b);

/* How many bytes of decoded columns it keeps, and giving them back; the block is empty then. */
size_t vti_block_store_kept(const struct vti_block_store *b);
void vti_block_store_trim(struct vti_block_store *b);

/* What vti_block_store_decode() returns, this very pointer, when memory runs out. */
extern const char vti_no_memory[];

/*
 * Decodes a payload of `nrecords` records; columns of text and bytes point into it.  `*budget` is
 * how many decoded bytes the frame may still take.  Returns NULL, or what is wrong in a few words.
 */
const char *vti_block_store_decode(struct vti_block_store *b, struct vt_cursor *c,
				   uint32_t nrecords, size_t *budget);

#endif
