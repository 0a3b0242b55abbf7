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

/* A load or store, or the part of it in one line, that missed the first data cache. */
struct vt_simmem_miss {
	uint64_t addr; /* of the part */
	uint32_t size; /* of the part, in bytes */
	bool store;
	bool brought; /* its line was brought in; else it was on its way, and the access waited */
	bool evicts;  /* that took the place of another line: */
	uint64_t evicted; /* the address where that begins */
	uint32_t set;	  /* of the cache */
	struct vt_simmem_access access;
};

typedef void vt_simmem_miss_fn(void *arg, const struct vt_simmem_miss *miss);

/* Owned by the caller; `m` is borrowed.  Returns NULL when memory runs out. */
struct vt_simmem *vt_simmem_new(const struct vt_core *m);
void vt_simmem_free(struct vt_simmem *s);

/* Calls `fn` for each miss of the first data cache from now on. */
void vt_simmem_watch(struct vt_simmem *s, vt_simmem_miss_fn *fn, void *arg);

/* The number of sets of a cache of this shape; 0: there is no such cache. */
uint32_t vt_simmem_sets(const struct vt_cache_shape *shape);

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
