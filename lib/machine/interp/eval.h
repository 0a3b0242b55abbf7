/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_EVAL_H
#define VT_MACHINE_INTERP_EVAL_H

#include "machine/interp/internal.h"
#include "machine/lift/fastop.h"

/*
 * How the loop runs an operation (op->run): as its opcode says, or in a way of its own, which is
 * chosen once.  Those of two or four run the next operations, too, which are of the same
 * instruction.
 */
enum vti_run {
	VTI_RUN_DIVIDE = VTI_FAST_END, /* VTI_IROP; a divisor of zero ends the run */
	VTI_RUN_ITE,		       /* of one word */
	VTI_RUN_CONDITION,	       /* VTI_CCALL */
	VTI_RUN_GETS,		       /* two of VTI_GET8 */
	VTI_RUN_PUTS,		       /* two of VTI_PUT8 */
	VTI_RUN_PUTS4,		       /* four: the flags, most often */
	VTI_RUN_CAPTURE,	       /* one word */
	VTI_RUN_CAPTURE_STATE,
	VTI_RUN_EXIT, /* on a comparison: so many as there are fast operators */
	VTI_RUN_PUT = VTI_RUN_EXIT + (VTI_FAST_END - VTI_FAST), /* one's result, likewise */
	VTI_RUN_END = VTI_RUN_PUT + (VTI_FAST_END - VTI_FAST)
};

/* Settles how each operation of a new block is run. */
void vti_eval_prepare(struct vti_block *b);

/*
 * Runs operations from `op` of the block m->code on, up to one that the caller has to look at,
 * which is returned:
 *
 * VTI_STOP; VTI_IROP, which would divide by zero; VTI_EXIT, taken or with an unknown condition;
 * VTI_END.  In a free run it goes on by itself from block to block as long as they are at hand, are
 * reached by a plain jump, and m->left allows for the whole of the next one.
 */
struct vti_op *vti_eval(struct vt_interp *m, struct vti_op *op);

/* A jump of this kind (IRJumpKind) is one like any other. */
bool vti_plain_jump(unsigned kind);

/* One of this kind enters the kernel. */
bool vti_system_call(unsigned kind);

#endif
