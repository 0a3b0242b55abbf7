/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_EVAL_H
#define VT_MACHINE_INTERP_EVAL_H

#include "machine/interp/internal.h"

/*
 * Runs operations from `op` of the block m->code on, up to one that the caller must handle, which
 * is returned:
 *
 * VTI_STOP; VTI_IROP, which would divide by zero; VTI_EXIT, taken or with an unknown condition;
 * VTI_END.  In a free run, continues with the next block if it is lifted, is reached
 * by a plain jump, and m->left allows for all of its instructions.
 */
struct vti_op *vti_eval(struct vt_interp *m, struct vti_op *op);

/* Returns whether a jump of this kind (IRJumpKind) is a plain one, without other effects. */
bool vti_plain_jump(unsigned kind);

/* Returns whether a jump of this kind enters the kernel. */
bool vti_system_call(unsigned kind);

#endif
