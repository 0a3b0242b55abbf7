/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_SIM_H
#define VT_MACHINE_PIPELINE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/inorder.h"
#include "machine/pipeline/memory.h"
#include "stream/kinds.h"

/*
 * A model of a processor that executes the instructions of a recording.  Machines that issue in
 * order and out of order have the same interface.
 */

/*
 * Returns whether the instruction was a taken branch.  An unconditional branch is always taken,
 * even if its target is the next instruction, as processors count and record it.
 */
bool vt_sim_insn_taken(const struct vt_sim_insn *insn);

/* A retired instruction.  Cycles count from the core's start. */
struct vt_sim_retired {
	uint64_t tag;
	uint64_t addr;
	uint64_t cycle; /* samples of cycles head-cycle+1 .. cycle fall on it: it was the oldest */
	uint64_t head;	/* head time in cycles */
	uint64_t used;	/* slots of the head time that were not lost */
	uint64_t fetch_cycle;  /* when it was fetched */
	uint64_t access_cycle; /* when its first load or store went to memory */
	uint64_t done_cycle;   /* when its result, or a branch's direction, was known */
	uint32_t fetch_missed; /* VT_MISS_… of its fetch */
	uint32_t data_missed;  /* and of its loads and stores */
	bool mispredicted;
	uint32_t nstalls;
	const struct vt_inorder_stall *stalls; /* the causes of lost slots */
};

/* The slots of a cycle: micro-operations that can be issued in it, or out of order, retired. */
static inline uint32_t vt_sim_slots(const struct vt_core *m)
{
	uint32_t n = m->order == VT_OUT_OF_ORDER ? m->retire : m->issue;

	return n ? n : 1;
}

/*
 * The issue slots of a cycle that can be used on and on: no more than the narrowest stage lets
 * through.  ProfileMe 5.2.3's C: four on the Alpha 21264, which issues up to six.
 */
static inline uint32_t vt_sim_width(const struct vt_core *m)
{
	const uint32_t stages[] = {m->fetch, m->decode, m->issue, m->retire};
	uint32_t least = UINT32_MAX;
	size_t i;

	for (i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		if (stages[i] && stages[i] < least)
			least = stages[i];
	return least == UINT32_MAX ? 1 : least;
}

/* Called for each retired instruction, in program order, perhaps some calls after it was run. */
typedef void vt_sim_retire_fn(void *arg, const struct vt_sim_retired *r);

/* Copies up to `size` bytes of code for wrong-path fetch and returns their number. */
typedef size_t vt_sim_code_fn(void *arg, uint64_t addr, uint8_t *code, size_t size);

/*
 * An instruction that was followed from its fetch until it left the machine.  Each cycle is not
 * before the one above it.  In order, `placed` is when its bytes came, and it leaves when it is
 * done.  On a wrong path only the fetch, `placed` and the end are known.
 */
struct vt_sim_followed {
	const struct vt_sim_insn *insn; /* borrowed; NULL: it is on a wrong path */
	uint64_t addr;
	uint32_t flags; /* enum vt_fact */
	uint64_t fetched;
	uint64_t placed; /* in the reorder buffer; 0: it was aborted before */
	uint64_t ready;	 /* its operands */
	uint64_t issued;
	uint64_t done;
	uint64_t ended; /* it was retired, or aborted */
	uint32_t load;	/* cycles from issue to data of its slowest load; 0: it has none */
	uint32_t tlb;	/* of them for the TLB */
	bool forwarded; /* that load has its data from a store that has not been written */
	bool mispredicted;
	uint32_t fetch_missed; /* VT_MISS_… of its fetch, */
	uint32_t load_missed;  /* of its loads, */
	uint32_t data_missed;  /* and of its loads and stores */
	uint64_t history;      /* conditional branches fetched before: bit 0 the newest, 1 taken */
	uint32_t nhistory;     /* bits of it that are known */
};

/*
 * Called for each instruction that is followed, in the order of their fetch.  Returns which one is
 * next: 1 is the one fetched behind it, 0 none.
 */
typedef uint64_t vt_sim_follow_fn(void *arg, const struct vt_sim_followed *f);

/* A miss of the first data cache by the instruction at hand. */
struct vt_sim_miss {
	const struct vt_sim_insn *insn; /* borrowed */
	const struct vt_simmem_miss *miss;
	uint32_t load; /* cycles from the issue of its load to data; 0: it is a store */
};

typedef void vt_sim_miss_fn(void *arg, const struct vt_sim_miss *miss);

struct vt_sim_hooks {
	vt_sim_retire_fn *retire;
	vt_sim_code_fn *code; /* may be NULL: the wrong path is not fetched */
	void *arg;
	vt_sim_follow_fn *follow; /* NULL unless vt_simcore_follow() is called */
	/*
	 * Called for each miss, in program order, before the call returns that ran its
	 * instruction; NULL: misses are not told.  Instructions are then run by
	 * vt_simcore_run(), one by one.
	 */
	vt_sim_miss_fn *miss;
};

struct vt_simcore;

/* Owned by the caller; `m` is borrowed, *hooks copied.  Returns NULL with VT_E_NOMEM. */
struct vt_simcore *vt_simcore_new(const struct vt_core *m, const struct vt_sim_hooks *hooks,
				  struct vt_error *err);
void vt_simcore_free(struct vt_simcore *c);

/* Executes the next instruction.  *insn and its accesses need not stay, insn->op must. */
void vt_simcore_run(struct vt_simcore *c, const struct vt_sim_insn *insn);

/*
 * A block of instructions that is run as a whole, many times.  The caller initializes it with zeros
 * and sets insns and ninsns.
 */
struct vt_sim_block {
	struct vt_sim_insn *insns; /* owned by the caller; `next` of the last is not looked at */
	uint32_t ninsns;	   /* at least 1 */
	uint32_t runs;		   /* private to the core, as the next field */
	struct vti_simmemo *memo;
};

/*
 * Executes a block, after whose last instruction the thread continues at `next` (0: unknown).
 * Between two calls, only the addresses of the instructions' accesses may change.  `retire` need
 * not be called for instructions that are done before cycle `due`; the sum of their head times is
 * returned.  Unless `due` is 0, `retire` gets no lost slots of the others and, out of order, no
 * used slots.
 */
uint64_t vt_simcore_run_block(struct vt_simcore *c, struct vt_sim_block *b, uint64_t next,
			      uint64_t due);

/*
 * Prefetches a block's data to the host's caches, because the block will be run soon.  Call it
 * first with `soon` false, and later, when that data has arrived, with true.
 */
void vt_sim_block_expect(const struct vt_sim_block *b, bool soon);

/* Frees the private data of a block. */
void vt_sim_block_fini(struct vt_sim_block *b);

/*
 * Follows the n-th instruction that is fetched from now on.  The wrong path counts, as far as its
 * code is known.
 */
void vt_simcore_follow(struct vt_simcore *c, uint64_t n);

/*
 * Returns the number of instructions fetched on wrong paths, and in *empty the number of slots of
 * the fetch that brought none there, because the code was not known.
 */
uint64_t vt_simcore_astray(const struct vt_simcore *c, uint64_t *empty);

/* Retires all instructions in the pipeline, before a switch of threads or at the end. */
void vt_simcore_drain(struct vt_simcore *c);

/* Returns the core's clock: the cycle of the last retirement. */
uint64_t vt_simcore_cycle(const struct vt_simcore *c);

/* ---- parts, for tests ---- */

/*
 * Performs the instruction's n-th load or store at `cycle` and sets its misses in *out.  Accesses
 * without micro-operations are performed together with the last one.
 */
struct vt_simmem_access vti_sim_access(struct vt_simmem *mem, const struct vt_sim_insn *insn,
				       bool store, unsigned nth, uint64_t cycle,
				       struct vt_sim_retired *out);

/* Returns log2 of the size of the lines in which code is fetched. */
unsigned vti_sim_line_shift(const struct vt_core *m);

#endif
