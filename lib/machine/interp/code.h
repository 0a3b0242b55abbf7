/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_CODE_H
#define VT_MACHINE_INTERP_CODE_H

#include "machine/interp/internal.h"
#include "machine/lift/fastop.h"

/*
 * How the loop runs an operation (op->run): its opcode, or one of these special cases, which is
 * selected once.  Those for two or four operations also run the next operations of the same
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
	VTI_RUN_EXIT, /* on a comparison: one for each fast operator */
	VTI_RUN_PUT = VTI_RUN_EXIT + (VTI_FAST_END - VTI_FAST), /* one's result, likewise */
	VTI_RUN_END = VTI_RUN_PUT + (VTI_FAST_END - VTI_FAST)
};

/* Lifted code by address, in the current space, m->space. */

bool vti_code_init(struct vt_interp *m);
void vti_code_fini(struct vt_interp *m);

/* Returns the lifted block at an address, or NULL if there is none. */
struct vti_code *vti_code_near(struct vt_interp *m, uint64_t addr);

/*
 * Returns the block at an address, and lifts it if necessary; lifting may free all other blocks.
 * Returns NULL if there is no code (then err->code is VT_OK) or on an error.
 */
struct vti_code *vti_code_find(struct vt_interp *m, uint64_t addr, struct vt_error *err);

/* Does the same for a block of at most `insns` instructions, for a piece of a path. */
struct vti_code *vti_code_part(struct vt_interp *m, uint64_t addr, uint32_t insns,
			       struct vt_error *err);

#endif
