/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_INORDER_H
#define VT_MACHINE_PIPELINE_INORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/memory.h"
#include "stream/kinds.h"

/*
 * The model of in-order issue: computes when each instruction of a sequence is issued, and why it
 * waited.  Static schedules and the simulator both use it.
 *
 * Micro-operations are issued in their order, at most `issue` per cycle, each as soon as it has
 * been fetched, its operands are ready, and a unit is free.  The head time of an instruction is the
 * time from the issue of the last micro-operation before it to that of its own last one, in which
 * it is the oldest instruction that has not been issued.
 *
 * Lost time is counted in slots, of which each cycle has `issue`.  Slots that others used before
 * the instruction had to wait for the next cycle are its minimum time.  Each empty slot is lost to
 * one cause: in cycles before the instruction was fetched, to the fetch; in later ones, to the
 * latest operand; in later ones, to the write buffer and to units.
 */

/* A cause for which an instruction waited.  `by` is the tag of the instruction responsible. */
struct vt_inorder_stall {
	uint8_t cause; /* enum vt_stall_cause; units: MULTIPLIER, DIVIDER, UNIT or SLOTTING */
	uint32_t slots;
	uint64_t by;
};

#define VT_INORDER_STALLS 8

struct vt_inorder_cost {
	uint64_t cycle; /* of its issue */
	uint64_t head;	/* head time, cycles */
	uint64_t used;	/* slots that others used: head * issue, minus the lost ones */
	uint32_t nstalls;
	struct vt_inorder_stall stalls[VT_INORDER_STALLS]; /* further ones are added to the last */
};

/*
 * Returns what the n-th load or store micro-operation of the current instruction costs at `cycle`.
 */
typedef struct vt_simmem_access vt_inorder_access_fn(void *arg, bool store, unsigned nth,
						     uint64_t cycle);

/* Shared with the machine that issues out of order: */

/* Adds lost slots to a cost's stalls, at most UINT32_MAX; returns the number added. */
uint32_t vti_cost_add_stall(struct vt_inorder_cost *c, uint8_t cause, uint64_t by, uint64_t slots);

/* Returns the cause of waiting for register `reg`, by its position among the registers read. */
uint8_t vti_operand_cause(const struct vt_mop *op, unsigned reg);

/* Returns the cause of waiting for a unit for operations of this class (enum vt_op_class). */
uint8_t vti_unit_cause(uint8_t op_class);

/* The cycles at which a register is ready, without and with the misses of its load. */
struct vti_inorder_value {
	uint64_t made;
	uint64_t tlb; /* not less */
	uint64_t ready;
	uint64_t by;
};

struct vti_inorder_unit {
	uint64_t free; /* the first cycle in which it can begin */
	uint64_t last; /* the cycle in which it began last, and the tag of the instruction */
	uint64_t by;
	uint32_t could; /* units that could have executed it */
	uint8_t op_class;
};

struct vti_inorder_hold {
	uint64_t cycle; /* no instruction is issued before it */
	uint64_t by;
	uint8_t cause;
};

#define VT_INORDER_HOLDS 4

struct vt_inorder {
	uint32_t width;
	uint32_t known; /* existing units (bits by number) */
	uint32_t used;	/* slots of the current cycle */
	uint64_t cycle; /* the current one: that of the last issue */
	uint64_t done;	/* when the results of the last instruction are ready */
	struct vti_inorder_hold holds[VT_INORDER_HOLDS]; /* the earliest first */
	uint32_t nholds;
	uint64_t latest; /* when all issued instructions are done */
	uint64_t latest_by;
	struct vti_inorder_value values[VT_NREGS];
	struct vti_inorder_unit units[VT_CORE_UNITS];
};

/* Initializes an empty machine, in which all slots of cycle 0 are used. */
void vt_inorder_init(struct vt_inorder *e, const struct vt_core *m);

/* Waits until all issued instructions are done, as before a switch of threads. */
void vt_inorder_drain(struct vt_inorder *e);

/*
 * Delays the next instruction to `cycle`.  If it is delayed several times, `cause` accounts for the
 * time from the latest cycle of earlier calls to `cycle`.
 */
void vt_inorder_hold(struct vt_inorder *e, uint64_t cycle, enum vt_stall_cause cause, uint64_t by);

/* Returns when the operands of the instruction's first micro-operation are ready; 0: long ago. */
uint64_t vt_inorder_ready(const struct vt_inorder *e, const struct vt_mop *op);

/*
 * Issues the next instruction.  `tag` identifies it in stalls of later ones.  If `access` is NULL,
 * all accesses hit.
 */
void vt_inorder_issue(struct vt_inorder *e, const struct vt_mop *op, uint64_t tag,
		      vt_inorder_access_fn *access, void *arg, struct vt_inorder_cost *cost);

#endif
