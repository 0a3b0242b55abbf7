/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_CODE_H
#define VT_MACHINE_INTERP_CODE_H

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

/* Lifted code, by space and address.  The space is the one at hand, m->space. */

bool vti_code_init(struct vt_interp *m);
void vti_code_fini(struct vt_interp *m);

/* The block at an address, if there is one already. */
struct vti_code *vti_code_near(struct vt_interp *m, uint64_t addr);

/*
 * The same, lifted if need be: then any block that was there before may be gone.  NULL: there is no
 * code (err->code is VT_OK), or an error.
 */
struct vti_code *vti_code_find(struct vt_interp *m, uint64_t addr, struct vt_error *err);

/* The same of at most `insns` instructions: its end is right for a piece of a path. */
struct vti_code *vti_code_part(struct vt_interp *m, uint64_t addr, uint32_t insns,
			       struct vt_error *err);

#endif
