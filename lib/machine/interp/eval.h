/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_EVAL_H
#define VT_MACHINE_INTERP_EVAL_H

#include "machine/interp/internal.h"

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
