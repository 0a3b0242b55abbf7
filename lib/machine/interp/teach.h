/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_TEACH_H
#define VT_MACHINE_INTERP_TEACH_H

#include "machine/interp/internal.h"

/*
 * Backwards from what a path shows to what must have been so.  Private to lib/machine and its
 * tests.
 */

/*
 * Operation number `op` of the block, a VTI_EXIT, is being run, and is left (`taken`) or not: what
 * follows for certain is made known in the block's temporaries, in the guest state that still holds
 * them, and in memory that they were loaded from or stored to.  False: what was known says
 * otherwise; then nothing but temporaries has changed.
 */
bool vti_teach(struct vt_interp *m, struct vti_block *b, uint32_t op, bool taken);

/* The same for a slot that has the known bits of `w`, in front of operation number `op`. */
bool vti_teach_slot(struct vt_interp *m, struct vti_block *b, uint32_t op, uint16_t slot,
		    struct vt_word w);

#endif
