/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_SIM_H
#define VT_MACHINE_PIPELINE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/inorder.h"
#include "stream/kinds.h"

/*
 * A modelled processor that executes the instructions of a recording: what goes in, and what comes
 * out.  Both kinds of machine, in order and out of order, are driven by the same calls.
 */

/*
 * Whether it was a taken branch.  One without a condition is even where it goes to the next
 * instruction, as processors count and record it.
 */
bool vt_sim_insn_taken(const struct vt_sim_insn *insn);

/* An instruction that is done.  Cycles count from the core's start. */
struct vt_sim_retired {
	uint64_t tag;
	uint64_t addr;
	uint64_t cycle; /* samples of cycles head-cycle+1 .. cycle fall on it: it was the oldest */
	uint64_t head;	/* head time in cycles */
	uint64_t used;	/* slots of it that were not lost */
	uint64_t fetch_cycle;  /* when it was fetched */
	uint64_t access_cycle; /* when its first load or store went to memory */
	uint64_t done_cycle;   /* when its result was there, a branch's direction known */
	uint32_t fetch_missed; /* VT_MISS_… of its fetch */
	uint32_t data_missed;  /* and of its loads and stores */
	bool mispredicted;
	uint32_t nstalls;
	const struct vt_inorder_stall *stalls; /* to what the other slots were lost */
};

/* The slots of a cycle: micro-operations that can be issued in it, or out of order, retired. */
static inline uint32_t vt_sim_slots(const struct vt_core *m)
{
	uint32_t n = m->order == VT_OUT_OF_ORDER ? m->retire : m->issue;

	return n ? n : 1;
}

/* Told of each instruction, in program order, perhaps some time after it was given. */
typedef void vt_sim_retire_fn(void *arg, const struct vt_sim_retired *r);

/* Reads up to `size` bytes of the program's code for wrong-path fetch; how many there are. */
typedef size_t vt_sim_code_fn(void *arg, uint64_t addr, uint8_t *code, size_t size);

struct vt_sim_hooks {
	vt_sim_retire_fn *retire;
	vt_sim_code_fn *code; /* may be NULL: what was not executed is not fetched */
	void *arg;
};

struct vt_simcore;

/*
 * `m` is borrowed, *hooks copied.  Owned by the caller.  NULL: -VT_E_NOMEM.
 */
struct vt_simcore *vt_simcore_new(const struct vt_core *m, const struct vt_sim_hooks *hooks,
				  struct vt_error *err);
void vt_simcore_free(struct vt_simcore *c);

/* Executes the next instruction.  *insn and its accesses need not stay, insn->op must. */
void vt_simcore_run(struct vt_simcore *c, const struct vt_sim_insn *insn);

/*
 * A block of instructions that is run as a whole, again and again.  The caller sets all but what is
 * said to be the core's own, which is 0 at first.
 */
struct vt_sim_block {
	struct vt_sim_insn *insns; /* owned by the caller; `next` of the last is not looked at */
	uint32_t ninsns;	   /* at least 1 */
	uint32_t runs;		   /* the core's own, as what follows */
	struct vti_simmemo *memo;
};

/*
 * Executes a block, whose last instruction goes on to `next` (0: not known).  From one time to the
 * next nothing of its instructions may change but the addresses of their accesses.  Instructions
 * that are done before cycle `due` need not be told to `retire`: their head times are returned, all
 * together.  Unless `due` is 0, what is told of others is without lost slots, and out of order
 * without the slots used.
 */
uint64_t vt_simcore_run_block(struct vt_simcore *c, struct vt_sim_block *b, uint64_t next,
			      uint64_t due);

/*
 * Such a block will be run soon: what is known of it is asked of the host's memory.  First with
 * `soon` false, then, when that has come, with true.
 */
void vt_sim_block_expect(const struct vt_sim_block *b, bool soon);

/* Frees what is the core's own. */
void vt_sim_block_fini(struct vt_sim_block *b);

/* All that is under way is done and retired: another thread's turn comes, or the end. */
void vt_simcore_drain(struct vt_simcore *c);

/* The core's clock: the cycle of the last retirement. */
uint64_t vt_simcore_cycle(const struct vt_simcore *c);

/* ---- parts, for tests ---- */

/*
 * What the instruction's n-th load or store takes at `cycle`, noted in *out.  Accesses that there
 * are no micro-operations for go with the last one.
 */
struct vt_simmem_access vti_sim_access(struct vt_simmem *mem, const struct vt_sim_insn *insn,
				       bool store, unsigned nth, uint64_t cycle,
				       struct vt_sim_retired *out);

/* log2 of the size of the lines that code is fetched by. */
unsigned vti_sim_line_shift(const struct vt_core *m);

#endif
