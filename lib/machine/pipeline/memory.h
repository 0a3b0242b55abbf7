/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_MEMORY_H
#define VT_MACHINE_PIPELINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/pipeline/core.h"

/*
 * The memory of a modelled machine: caches (set-associative, least recently used, write-allocate),
 * TLBs, and the write buffer.  It computes the cycles of accesses, but has no data.  The latencies
 * of caches and of `memory` count from the start of the access.  An access to a line that is still
 * being loaded waits for the rest of that time and has the misses of the access that loads it.
 */
struct vt_simmem;

/* The misses of an access. */
enum {
	VT_MISS_L1 = 1,
	VT_MISS_L2 = 2,
	VT_MISS_L3 = 4,
	VT_MISS_TLB = 8,
	VT_MISS_STLB = 16,
	VT_MISS_BUFFER = 32, /* it waited for room in the write buffer */
};

struct vt_simmem_access {
	uint32_t cycles; /* more than for a hit in the first cache: the sum of the next three */
	uint32_t tlb;	 /* of them for the TLB */
	uint32_t cache;	 /* for the caches */
	uint32_t buffer; /* for the write buffer */
	uint32_t missed; /* bits as above */
};

/* Owned by the caller; `m` is borrowed.  Returns NULL when memory runs out. */
struct vt_simmem *vt_simmem_new(const struct vt_core *m);
void vt_simmem_free(struct vt_simmem *s);

/*
 * Make an access at `cycle`, which must not be less than in earlier calls of the same function by
 * more than the reorder buffer allows.  An access that crosses a line (or page) takes the time of
 * its slower half.  A store's cycles are those for which it stalls the processor: for the write
 * buffer and the TLB.
 */
struct vt_simmem_access vt_simmem_fetch(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
					uint32_t size);
struct vt_simmem_access vt_simmem_load(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
				       uint32_t size);
struct vt_simmem_access vt_simmem_store(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
					uint32_t size);

#endif
