/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_MEMORY_H
#define VT_MACHINE_PIPELINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/pipeline/core.h"

/*
 * The memory of a modelled machine: caches (set-associative, least recently used, write-allocate),
 * TLBs, the write buffer.  It tells how many cycles an access takes, not what it reads.  A cache's
 * latency counts from the start of the access, as that of `memory` does.  What comes to a line that
 * is still under way waits for the rest, and missed what the first one missed.
 */
struct vt_simmem;

/* What an access missed. */
enum {
	VT_MISS_L1 = 1,
	VT_MISS_L2 = 2,
	VT_MISS_L3 = 4,
	VT_MISS_TLB = 8,
	VT_MISS_STLB = 16,
	VT_MISS_BUFFER = 32, /* it waited for room in the write buffer */
};

struct vt_simmem_access {
	uint32_t cycles; /* beyond a hit in the first cache; all of the next three together */
	uint32_t tlb;	 /* of them for the TLB */
	uint32_t cache;	 /* for the caches */
	uint32_t buffer; /* for the write buffer */
	uint32_t missed; /* bits as above */
};

/* `m` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_simmem *vt_simmem_new(const struct vt_core *m);
void vt_simmem_free(struct vt_simmem *s);

/*
 * An access at `cycle`, which is not less than in earlier calls of the same function by more than
 * the reorder buffer allows.  An access that crosses a line (or page) takes what its slower half
 * takes.  A store's cycles are what it stalls the processor: those for the write buffer, and for
 * the TLB.
 */
struct vt_simmem_access vt_simmem_fetch(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
					uint32_t size);
struct vt_simmem_access vt_simmem_load(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
				       uint32_t size);
struct vt_simmem_access vt_simmem_store(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
					uint32_t size);

#endif
