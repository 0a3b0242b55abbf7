/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_BACKWARD_H
#define VT_MACHINE_INTERP_BACKWARD_H

#include "machine/interp/internal.h"

/*
 * Backward inference: from the direction of a branch on a path, computes values that registers and
 * memory must have had.  Private to lib/machine and its tests.
 */

/*
 * Infers values from the fact that an exit, operation number `op` of the block that is being run,
 * is taken or not.  Values that follow become known in the block's temporaries, in the guest state
 * that still contains them, and in memory that they were loaded from or stored to.  Returns false
 * if this contradicts known values; then only temporaries have changed.
 */
bool vti_infer_from_exit(struct vt_interp *m, struct vti_block *b, uint32_t op, bool taken);

/* Does the same from the fact that a slot has the known bits of `w` before operation number `op`.
 */
bool vti_infer_from_slot(struct vt_interp *m, struct vti_block *b, uint32_t op, uint16_t slot,
			 struct vt_word w);

#endif
