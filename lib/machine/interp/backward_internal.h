/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_BACKWARD_INTERNAL_H
#define VT_MACHINE_INTERP_BACKWARD_INTERNAL_H

#include "machine/lift/inverse.h"

/* Shared by backward.c, which walks a block, and backward_ops.c, which inverts one operation. */

#define VTI_MAX_INFERENCES 32	/* words inferred in one walk; more are dropped */
#define VTI_BACKWARD_SLOTS 4096 /* slots of a block with this number or above are ignored */

/* The inferred value of a slot, in the range of operations where it contains the same temporary. */
struct vti_inference {
	uint16_t slot;
	bool open;     /* the walk has not reached its definition */
	uint32_t from; /* the operation that defines it, once not open */
	uint32_t to;   /* the next one that writes the slot, or the exit */
	struct vt_word word;
};

/*
 * A walk backwards from an exit.  Temporaries share slots: if a later operation writes a slot, the
 * slot's value at the exit is not that of earlier operations.
 */
struct vti_backward {
	struct vti_block *block;
	uint32_t exit;
	uint32_t at; /* the current operation */
	struct vti_inference inferences[VTI_MAX_INFERENCES];
	unsigned ninferences;
	unsigned nopen;
	bool wrong;				   /* contradicts known values */
	struct vt_word result[4];		   /* of the current operation */
	uint64_t written[VTI_BACKWARD_SLOTS / 64]; /* bit per slot: written after `at` */
};

/* Returns the known bits of a slot before the current operation.  VTI_NO_SLOT is the number 0. */
struct vt_word vti_backward_word(const struct vti_backward *bw, unsigned slot);

/* Adds the bits `known` of `value` to the known bits of a slot. */
void vti_refine_slot(struct vti_backward *bw, unsigned slot, uint64_t value, uint64_t known);

/* Refines the operands of the current operation, an operator or a helper's call, by its result. */
void vti_infer_operands(struct vti_backward *bw, const struct vti_op *op);
void vti_infer_condition_operands(struct vti_backward *bw, const struct vti_call *call);

#endif
