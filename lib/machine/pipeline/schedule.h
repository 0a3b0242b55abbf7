/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_SCHEDULE_H
#define VT_MACHINE_PIPELINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/inorder.h"
#include "machine/pipeline/ooo.h"
#include "stream/kinds.h"

/*
 * Static schedules: the time that each instruction of a sequence is at the head of the issue queue
 * (of the reorder buffer, on machines that issue out of order) without dynamic stalls, that is, if
 * each load hits and each branch is predicted.  DCPI 6.1.3, M_i; 6.3, static stalls.
 */

/* The maximum number of causes of a static stall: one of each kind. */
#define VT_SCHEDULE_CAUSES 3
#define VT_SCHEDULE_NONE   INT32_MIN

struct vt_schedule_stall {
	uint8_t cause;	 /* enum vt_stall_cause, from VT_STALL_SLOTTING on */
	int32_t culprit; /* index of the instruction that it waits for; VT_SCHEDULE_NONE */
	float cycles;
};

struct vt_schedule_cost {
	/*
	 * M_i, cycles.  In order, 0 for all but the first of the instructions that are issued
	 * together.  Out of order, instructions that are retired together vary between executions,
	 * so each has the part of a cycle that its slots take.
	 */
	float head;
	float best;	 /* the part of `head` that is due to the issue width */
	int32_t depends; /* index of the latest earlier instruction whose latency affects `head` */
	uint8_t nstalls;
	struct vt_schedule_stall stalls[VT_SCHEDULE_CAUSES]; /* the longest first */
};

/*
 * Schedules ops[0..n) one after the other on an empty machine, and writes the costs of ops[warm..n)
 * to costs[0..n-warm).  Indices in the costs count from `warm`; those of instructions before it are
 * negative: -1-k is the k-th before.  For the steady state of a loop, pass its body twice or more
 * and use the costs of the last copy.  A conditional branch is taken if ops[i + 1] is not the
 * operation behind it in an array.  Returns 0 or -VT_E_NOMEM.
 */
int vt_schedule(const struct vt_core *m, const struct vt_mop *const *ops, size_t n, size_t warm,
		struct vt_schedule_cost *costs, struct vt_error *err);

/* Does the same on a machine that issues out of order, which is emptied before. */
void vt_schedule_on(struct vt_ooo *e, const struct vt_core *m, const struct vt_mop *const *ops,
		    size_t n, size_t warm, struct vt_schedule_cost *costs);

/*
 * Does the same for one instruction, after those that were issued to a machine in order.  The
 * machine's state may be copied to continue on several ways.  Tags must ascend along each way;
 * their lower 32 bits are the index of the instruction in stalls, where UINT32_MAX becomes
 * VT_SCHEDULE_NONE.  `cost` may be NULL.
 */
void vt_schedule_next(struct vt_inorder *e, const struct vt_mop *op, uint64_t tag,
		      struct vt_schedule_cost *cost);

#endif
