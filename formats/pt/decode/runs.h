/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_RUNS_H
#define FORMATS_PT_DECODE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pt/block.h"

/*
 * The cache of runs.  A run is what is executed from an address on under a few given decisions.  It
 * depends on the code alone, so the cache can be emptied at any time and any run made again.  Its
 * memory is bounded by the number of blocks.
 *
 * A run has two parts.  The head takes the decisions, and ends after the last.  The tail is the
 * straight code from there to the next branch that needs an address: it is executed if a TIP comes
 * next.  Where a branch that needs a decision comes first, there is no tail.
 *
 * A run to the end of tracing has only a tail: the code that is executed before a TIP.PGD.
 */

/* The most decisions that a run takes. */
#define VTI_PT_RUN_BITS 6

/* In the place of decisions, for runs to the end of tracing: at a known address, or not. */
#define VTI_PT_RUN_TO_ADDRESS 0
#define VTI_PT_RUN_TO_NOWHERE 0x80

/* The most blocks of a run, both parts together. */
#define VTI_PT_RUN_BLOCKS 120

/* Blocks after the end of the output that may be overwritten. */
#define VTI_PT_RUN_SLACK 32

/* The most return addresses that a part pushes. */
#define VTI_PT_RUN_PUSHES 16

enum vti_pt_run_flag {
	VTI_PT_RUN_STOP = 1, /* not usable: code that is missing, special, endless … */
	VTI_PT_RUN_TAIL = 2, /* it has a tail */
	VTI_PT_RUN_RETURN =
		4, /* its last decision is a return to an address pushed before the run */
	VTI_PT_RUN_PUSHES_HEAD = 8,  /* the head changes the return stack by itself */
	VTI_PT_RUN_PUSHES_TAIL = 16, /* the tail does */
};

/* Two of them fill a cache line. */
struct vti_pt_run {
	uint64_t ip;   /* key: where it begins */
	uint64_t next; /* the address after the head; not with VTI_PT_RUN_RETURN;
			  of a run to the end of tracing: its address */
	uint32_t key;  /* vti_pt_run_key(); 0: an empty place */
	uint32_t pool; /* where the rest is, struct vti_pt_run_rest */
	uint16_t insns;
	uint16_t tail_insns;
	uint8_t blocks; /* of the head */
	uint8_t tail;	/* blocks of the tail */
	uint8_t bits;	/* decisions that the head takes */
	uint8_t flags;	/* enum vti_pt_run_flag */
};

/* In the pool; the blocks of both parts follow, then the return addresses that both push. */
struct vti_pt_run_rest {
	uint8_t first; /* blocks up to the first decision */
	uint8_t depth; /* the most addresses of the head that are on the return stack at once */
	uint8_t pushes;
	uint8_t tail_pushes;
};

struct vti_pt_runs {
	struct vti_pt_run *table; /* pairs: 2 << bits of them */
	unsigned shift;		  /* 64 - bits */
	uint32_t used;
	uint32_t displaced; /* runs that gave their place to others since the table has grown */
	uint32_t *pool;
	uint32_t pool_used;
	uint32_t pool_size;

	/* The blocks that follow each block, as indexes; or VT_PT_NO_ID. */
	struct vti_pt_link {
		uint32_t next;
		uint32_t target;
	} * links;
	uint32_t nlinks;
};

/* NULL: no memory. */
struct vti_pt_runs *vti_pt_runs_new(void);
void vti_pt_runs_free(struct vti_pt_runs *r);

/* Empties the cache: blocks have new indexes. */
void vti_pt_runs_forget(struct vti_pt_runs *r);

/*
 * Makes the run from an address that takes the decisions, or the first of them, and adds it to the
 * cache.  `bits` has a 1 above the oldest decision.  Other pointers into the cache become invalid.
 * NULL: no memory.
 */
const struct vti_pt_run *vti_pt_runs_make(struct vti_pt_runs *r, struct vt_pt_blocks *blocks,
					  uint64_t ip, unsigned mode, uint32_t bits);

/* The same for a run to the end of tracing: `bits` as above, `to` the address if known. */
const struct vti_pt_run *vti_pt_runs_make_end(struct vti_pt_runs *r, struct vt_pt_blocks *blocks,
					      uint64_t ip, unsigned mode, uint32_t bits,
					      uint64_t to);

static inline uint32_t vti_pt_run_key(unsigned mode, uint32_t bits)
{
	return (uint32_t)mode << 8 | bits;
}

static inline struct vti_pt_run *vti_pt_runs_pair(const struct vti_pt_runs *r, uint64_t ip,
						  uint32_t key)
{
	uint64_t h = ip * UINT64_C(0x9e3779b97f4a7c15) + key * UINT64_C(0xd6e8feb86659fd93);

	return &r->table[h >> r->shift << 1];
}

/* The run, if it is there; else NULL. */
static inline const struct vti_pt_run *vti_pt_runs_find(const struct vti_pt_runs *r, uint64_t ip,
							uint32_t key)
{
	const struct vti_pt_run *e = vti_pt_runs_pair(r, ip, key);

	if (e->ip == ip && e->key == key)
		return e;
	e++;
	return e->ip == ip && e->key == key ? e : NULL;
}

static inline const struct vti_pt_run_rest *vti_pt_run_rest(const struct vti_pt_runs *r,
							    const struct vti_pt_run *e)
{
	return (const struct vti_pt_run_rest *)&r->pool[e->pool];
}

#endif
