/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_H
#define VT_MACHINE_PIPELINE_OOO_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/inorder.h"
#include "machine/pipeline/memory.h"

/*
 * The model of out-of-order issue: computes when each instruction of a sequence is fetched, placed
 * in the reorder buffer, issued, done and retired, and why it waited.  Static schedules and the
 * simulator both use it.
 *
 * Instructions are fetched, placed and retired in order, at most `fetch` instructions, `decode` and
 * `retire` micro-operations (fused ones once) per cycle.  An instruction is placed when there is
 * room in the reorder buffer, the issue queue and the queues of loads and stores, and enough free
 * registers.  Each of its micro-operations leaves the issue queue when its operands are ready and a
 * unit is free, the oldest first, at most `issue` per cycle.  Loads get the data of older stores
 * from the store queue.  Stores leave it after they retire, in order, one per cycle.  The store
 * that a load depends on is always known.  Registers are never freed early.  Wrong paths use no
 * resources other than lines of the instruction cache.
 *
 * The head time of an instruction is the time from the retirement of the previous one to its own,
 * in which it is the oldest that has not been retired.  Lost time is counted in slots, of which
 * each cycle has `retire`.  They are lost to the last cause for which the instruction waited in
 * those cycles; its own latency is lost to the cause that prevented an earlier issue.
 */
struct vt_ooo;

/* Callbacks about the current instruction. */
struct vt_ooo_hooks {
	/* Returns the cost of its fetch at `cycle`; NULL: fetches hit. */
	struct vt_simmem_access (*fetch)(void *arg, uint64_t cycle);
	/* Returns the cost of its n-th load or store; NULL: all hit. */
	vt_inorder_access_fn *access;
	/*
	 * Returns the address of its n-th load or store; NULL: a load gets a store's data if the
	 * code shows that their addresses are equal.
	 */
	struct vt_ooo_place (*place)(void *arg, bool store, unsigned nth);
	/* Called after a misprediction: the wrong path is fetched until `end`; may be NULL. */
	void (*astray)(void *arg, uint64_t begin, uint64_t end);
	void *arg;
};

struct vt_ooo_insn {
	const struct vt_mop *op;
	uint64_t tag; /* identifies it in stalls of later ones */
	bool taken;   /* it is a taken branch */
	bool mispredicted;
	bool brief;    /* do not compute lost slots: all count as used */
	bool followed; /* compute the times of its loads */
};

/* The cycles of an instruction's stages, each not before the one above it. */
struct vt_ooo_times {
	uint64_t fetched;
	uint64_t placed;
	uint64_t ready;	 /* all operands of the micro-operation that is issued first, placed + 1
			    at least */
	uint64_t issued; /* its first micro-operation */
	uint64_t done;	 /* its last one */
	uint64_t retired;
	uint32_t slots; /* that it took, with an addition to the stack pointer before it */
	/* If it is followed, of its load that has data last: */
	uint32_t load;	/* cycles from issue to data; 0: it has no load */
	uint32_t tlb;	/* of them for the TLB */
	bool forwarded; /* the data is from a store that has not been written */
};

/*
 * Returns an empty machine, owned by the caller, or NULL when memory runs out.  `m` and `hooks` are
 * borrowed; `hooks` may be NULL.
 */
struct vt_ooo *vt_ooo_new(const struct vt_core *m, const struct vt_ooo_hooks *hooks);
void vt_ooo_free(struct vt_ooo *e);

/*
 * Machines that are not used at the moment, for vt_core.pool of one core and its copies: to make
 * one takes as long as a short schedule.  Any thread may take one.  Owned by the caller, who frees
 * it last; returns NULL when memory runs out.
 */
struct vt_ooopool *vt_ooopool_new(void);
void vt_ooopool_free(struct vt_ooopool *p);

/*
 * Likewise without hooks, but from the core's pool if there is one.  It has to be emptied before
 * use, and goes back with vt_ooo_give_back(), which frees it if there is no pool,
 * or no room in it.
 */
struct vt_ooo *vt_ooo_take(const struct vt_core *m);
void vt_ooo_give_back(const struct vt_core *m, struct vt_ooo *e);

/*
 * Says where code comes from: by default from the micro-op cache, if there is one, else from memory
 * by the decoders.  Cores whose description has no "fetch bytes" make no difference.
 */
void vt_ooo_set_uncached(struct vt_ooo *e, bool uncached);

/* Empties the machine, which is faster than vt_ooo_new().  Its cycles continue. */
void vt_ooo_empty(struct vt_ooo *e);

/* Fills the general registers and memory of an empty machine with a known value. */
void vt_ooo_fill(struct vt_ooo *e, uint64_t value);

/*
 * Runs the next instruction.  `cost` is as on in-order machines, but for the retirement instead of
 * the issue.  `times` may be NULL.
 */
void vt_ooo_run(struct vt_ooo *e, const struct vt_ooo_insn *insn, struct vt_inorder_cost *cost,
		struct vt_ooo_times *times);

#endif
