/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_BBLOCK_INTERNAL_H
#define VT_STREAM_BBLOCK_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "stream/bblock.h"

/*
 * Two tables by block id.  Passing over blocks needs only the second, eight bytes for each block:
 * instructions in the low half, bytes of values above, a bit of its own for an id without a block.
 * VTI_BLOCK_STRIDE weights can be added up without one of the three reaching into another.  The
 * table goes VTI_BLOCK_REACH beyond the last id, so that ids of two bytes need no check.
 */
#define VTI_BLOCK_REACH	  65536
#define VTI_BLOCK_STRIDE  16
#define VTI_BLOCK_UNKNOWN (1ULL << 56)

struct vt_bblocks {
	struct vt_bblock **blocks;
	uint64_t *weights;
	size_t cap; /* of `weights`; `blocks` has VTI_BLOCK_REACH fewer */
	uint64_t end;
	uint64_t count;
};

static inline uint64_t vti_bblock_weight(const struct vt_bblock *b)
{
	return b->ninsns | (uint64_t)b->data_size << 32;
}

/* The first slot of an instruction at or behind `insn`, and where its bytes begin. */
uint32_t vti_bblock_slot(const struct vt_bblock *b, uint32_t insn, uint32_t *offset);

#endif
