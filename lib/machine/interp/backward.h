/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_BACKWARD_H
#define VT_MACHINE_INTERP_BACKWARD_H

#include "machine/interp/internal.h"

/*
 * Backward inference: from the way that a path took to what registers and memory must have held.
 * Private to lib/machine and its tests.
 */

/*
 * Infers from the exit that operation number `op` of the block, a VTI_EXIT being run, is taken or
 * not.  What follows for certain becomes known in the block's temporaries, in the guest state that
 * still holds them, and in memory that they were loaded from or stored to.  False: this contradicts
 * what was known; then only temporaries have changed.
 */
bool vti_infer_from_exit(struct vt_interp *m, struct vti_block *b, uint32_t op, bool taken);

/* The same for a slot that has the known bits of `w` in front of operation number `op`. */
bool vti_infer_from_slot(struct vt_interp *m, struct vti_block *b, uint32_t op, uint16_t slot,
			 struct vt_word w);

#endif
