/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_H
#define VT_MACHINE_PIPELINE_OOO_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/inorder.h"
#include "machine/pipeline/memory.h"

/*
 * Issue out of order: when each instruction of a sequence is fetched, gets its place in the reorder
 * buffer, is issued, done and retired, and what made it wait.  Static schedules and the simulator
 * are made by the same engine.
 *
 * Instructions are fetched, placed and retired in order, at most `fetch` instructions, `decode` and
 * `retire` micro-operations (fused ones once) in a cycle.  One gets its place when there is room in
 * the reorder buffer, the queue, those of loads and stores, and among the registers; each of its
 * micro-operations leaves the queue when its operands are there and a unit can take it, the oldest
 * first, at most `issue` in a cycle.  Loads take what older stores will write from the store queue.
 * Stores leave it after they retire, in order, one in a cycle.  Which store a load depends on is
 * always known.  Registers are never freed early, and wrong paths take none of all this but lines
 * of the instruction cache.
 *
 * The head time of an instruction is the time from the retirement of the one before it to its own:
 * so long is it the oldest that has not been retired.  Lost time is counted in slots, of which each
 * cycle has `retire`.  It is lost to what the instruction itself waited for last in those cycles;
 * its own latency to what had kept it from being issued earlier.
 */
struct vt_ooo;

/* Where a load or store micro-operation reads or writes. */
struct vt_ooo_place {
	uint64_t addr;
	uint32_t size; /* bytes; 0: it is not known */
};

/* What the engine asks about the instruction at hand. */
struct vt_ooo_hooks {
	/* What its bytes take to fetch, at `cycle`; may be NULL: nothing. */
	struct vt_simmem_access (*fetch)(void *arg, uint64_t cycle);
	/* What its n-th load or store takes; may be NULL: all hit. */
	vt_inorder_access_fn *access;
	/* Where that is; may be NULL: nothing is forwarded. */
	struct vt_ooo_place (*place)(void *arg, bool store, unsigned nth);
	/* It was mispredicted, and until `end` other instructions are fetched; may be NULL. */
	void (*astray)(void *arg, uint64_t begin, uint64_t end);
	void *arg;
};

struct vt_ooo_insn {
	const struct vt_mop *op;
	uint64_t tag; /* what stalls of later ones call it */
	bool taken;   /* the next one is not behind it */
	bool mispredicted;
	bool brief; /* what slots are lost to is not asked: all count as used */
};

/* When it was where; cycles. */
struct vt_ooo_times {
	uint64_t fetched;
	uint64_t placed;
	uint64_t issued; /* its first micro-operation */
	uint64_t done;	 /* its last one */
	uint64_t retired;
};

/*
 * An empty machine.  `m` and `hooks` are borrowed; `hooks` may be NULL.  Owned by the caller; NULL
 * when memory runs out.
 */
struct vt_ooo *vt_ooo_new(const struct vt_core *m, const struct vt_ooo_hooks *hooks);
void vt_ooo_free(struct vt_ooo *e);

/* Makes it as it was when it was new, but that its cycles go on: in less time than to make one. */
void vt_ooo_empty(struct vt_ooo *e);

/* The next instruction; `cost` as of machines in order, but of retirement.  `times` may be NULL. */
void vt_ooo_run(struct vt_ooo *e, const struct vt_ooo_insn *insn, struct vt_inorder_cost *cost,
		struct vt_ooo_times *times);

#endif
