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
 * Static schedules: how long each instruction of a sequence is at the head of the issue queue (of
 * the reorder buffer, on machines that issue out of order) when nothing dynamic stalls it: each
 * load hits, each branch is predicted.  DCPI 6.1.3, M_i; 6.3, static stalls.
 */

/* What a static stall is made of: at most one cause of each sort matters. */
#define VT_SCHEDULE_CAUSES 3
#define VT_SCHEDULE_NONE   INT32_MIN

struct vt_schedule_stall {
	uint8_t cause;	 /* enum vt_stall_cause, from VT_STALL_SLOTTING on */
	int32_t culprit; /* index of the instruction that it waits for; VT_SCHEDULE_NONE */
	float cycles;
};

struct vt_schedule_cost {
	/*
	 * M_i, cycles; in order 0 for all but the first of those issued together.  Out of order,
	 * where those retired together do not stay so, each has its slots' part of a cycle.
	 */
	float head;
	float best;	 /* of them, what it would take if only issue width mattered */
	int32_t depends; /* index of the latest earlier instruction whose latency `head` hangs on */
	uint8_t nstalls;
	struct vt_schedule_stall stalls[VT_SCHEDULE_CAUSES]; /* the longest first */
};

/*
 * Schedules ops[0..n) one after the other on an empty machine, and tells the costs of
 * ops[warm..n) in costs[0..n-warm); indices in them count from `warm`, those of instructions before
 * it are negative: -1-k is the k-th before.  For a loop's steady state: its body twice or more, the
 * last copy reported.  A conditional branch is taken where ops[i + 1] is not the operation behind
 * it in an array.  -VT_E_NOMEM.
 */
int vt_schedule(const struct vt_core *m, const struct vt_mop *const *ops, size_t n, size_t warm,
		struct vt_schedule_cost *costs, struct vt_error *err);

/* The same on a machine that issues out of order, which is emptied before. */
void vt_schedule_on(struct vt_ooo *e, const struct vt_core *m, const struct vt_mop *const *ops,
		    size_t n, size_t warm, struct vt_schedule_cost *costs);

/*
 * The same for one instruction after those that were issued to a machine in order, whose state may
 * be copied to go on in several ways.  Tags grow along each way; in their lower 32 bits is what
 * stalls call the instruction, VT_SCHEDULE_NONE for UINT32_MAX.  `cost` may be NULL.
 */
void vt_schedule_next(struct vt_inorder *e, const struct vt_mop *op, uint64_t tag,
		      struct vt_schedule_cost *cost);

#endif
