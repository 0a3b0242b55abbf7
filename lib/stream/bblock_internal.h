/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_BBLOCK_INTERNAL_H
#define VT_STREAM_BBLOCK_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "stream/bblock.h"

/*
 * Two tables indexed by block id.  Skipping blocks needs only `weights`, eight bytes per block: the
 * number of instructions in the low half, the bytes of values above it, and VTI_BLOCK_KNOWN; 0 for
 * an id without a block, which costs no memory until it is touched.  The sum of VTI_BLOCK_STRIDE
 * weights overflows none of the three parts. `weights` extends VTI_BLOCK_REACH entries beyond the
 * last id, so two-byte ids need no check.
 */
#define VTI_BLOCK_REACH	 65536
#define VTI_BLOCK_STRIDE 16
#define VTI_BLOCK_KNOWN	 (1ULL << 56)

struct vt_bblocks {
	struct vt_bblock **blocks;
	uint64_t *weights;
	size_t cap; /* of `weights`; `blocks` has VTI_BLOCK_REACH fewer */
	uint64_t end;
	uint64_t count;
};

static inline uint64_t vti_bblock_weight(const struct vt_bblock *b)
{
	return VTI_BLOCK_KNOWN | (uint64_t)b->data_size << 32 | b->ninsns;
}

/* Returns the first slot of instruction `insn` or a later one, and the offset of its bytes. */
uint32_t vti_bblock_slot(const struct vt_bblock *b, uint32_t insn, uint32_t *offset);

#endif
