/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_INORDER_H
#define VT_MACHINE_PIPELINE_INORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/memory.h"
#include "stream/kinds.h"

/*
 * Issue in order: when each instruction of a sequence is issued, and what made it wait.  Static
 * schedules and the simulator are made by the same engine.
 *
 * Micro-operations are issued in their order, at most `issue` in a cycle, each as soon as it has
 * been fetched, its operands are there, and a unit can take it.  The head time of an instruction
 * is the time from the issue of the last micro-operation before it to that of its own last one:
 * so long is it the oldest that has not been issued.
 *
 * Lost time is counted in slots, of which each cycle has `issue`.  Slots that were used before an
 * instruction had to wait for the next cycle are what it takes at best; those that stayed empty are
 * lost to one cause each: cycles in which it had not been fetched to that; later ones to operands,
 * the latest of them; later ones to the write buffer, and to units.
 */

/* What an instruction waited for.  `by` is the tag of the instruction that is guilty. */
struct vt_inorder_stall {
	uint8_t cause; /* enum vt_stall_cause; units: MULTIPLIER, DIVIDER, UNIT or SLOTTING */
	uint32_t slots;
	uint64_t by;
};

#define VT_INORDER_STALLS 8

struct vt_inorder_cost {
	uint64_t cycle; /* of its issue */
	uint64_t head;	/* head time, cycles */
	uint64_t used;	/* slots of it that others used: head * issue, but those lost */
	uint32_t nstalls;
	struct vt_inorder_stall
		stalls[VT_INORDER_STALLS]; /* more than that are added to the last */
};

/*
 * What memory does at `cycle` to the n-th load or store micro-operation of the instruction at hand.
 */
typedef struct vt_simmem_access vt_inorder_access_fn(void *arg, bool store, unsigned nth,
						     uint64_t cycle);

/* Shared with the machine that issues out of order: */

/* Adds lost slots to a cost's stalls, at most UINT32_MAX; returns how many. */
uint32_t vti_cost_add_stall(struct vt_inorder_cost *c, uint8_t cause, uint64_t by, uint64_t slots);

/* The cause that names register `reg` by its place among all that the instruction reads. */
uint8_t vti_operand_cause(const struct vt_mop *op, unsigned reg);

/* The cause of waiting for a unit that does operations of this class (enum vt_op_class). */
uint8_t vti_unit_cause(uint8_t op_class);

/* When a register is there: that its maker is done, and that its load's misses are. */
struct vti_inorder_value {
	uint64_t made;
	uint64_t tlb; /* not less */
	uint64_t ready;
	uint64_t by;
};

struct vti_inorder_unit {
	uint64_t free; /* the first cycle in which it can begin */
	uint64_t last; /* the cycle in which it began last, and with what */
	uint64_t by;
	uint32_t could; /* units that could have done it */
	uint8_t op_class;
};

struct vti_inorder_hold {
	uint64_t cycle; /* nothing more is issued before it */
	uint64_t by;
	uint8_t cause;
};

#define VT_INORDER_HOLDS 4

struct vt_inorder {
	const struct vt_core *core; /* borrowed */
	uint32_t width;
	uint32_t known; /* units that there are */
	uint32_t used;	/* slots of the cycle at hand */
	uint64_t cycle; /* at hand: that of the last issue */
	uint64_t done;	/* when the results of the last instruction are there */
	struct vti_inorder_hold holds[VT_INORDER_HOLDS]; /* the earliest first */
	uint32_t nholds;
	uint64_t latest; /* when all that has been issued is done */
	uint64_t latest_by;
	struct vti_inorder_value values[VT_NREGS];
	struct vti_inorder_unit units[VT_CORE_UNITS];
};

/* An empty machine, all of whose slots of cycle 0 are gone. */
void vt_inorder_init(struct vt_inorder *e, const struct vt_core *m);

/* All that is under way is done: what happens when another thread's turn comes. */
void vt_inorder_drain(struct vt_inorder *e);

/*
 * The next instruction is not issued before `cycle`.  It is for this reason that it waits from the
 * latest cycle that was given before.
 */
void vt_inorder_hold(struct vt_inorder *e, uint64_t cycle, enum vt_stall_cause cause, uint64_t by);

/*
 * Issues the next instruction.  `tag` is what stalls of later ones call it.  `access` may be NULL:
 * all hits.
 */
void vt_inorder_issue(struct vt_inorder *e, const struct vt_mop *op, uint64_t tag,
		      vt_inorder_access_fn *access, void *arg, struct vt_inorder_cost *cost);

#endif
