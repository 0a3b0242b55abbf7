/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_FLATTEN_H
#define VT_MACHINE_LIFT_FLATTEN_H

#include "machine/lift/build.h"

/* Why flattening of a piece of VEX's code ended. */
enum vti_piece {
	VTI_PIECE_END,	    /* the block ends here */
	VTI_PIECE_ON,	    /* the next instruction follows */
	VTI_PIECE_UNLIFTED, /* an instruction follows that VEX does not support, or not correctly */
};

/* Flattens a piece of VEX's code, from instruction b->emitted on. */
enum vti_piece vti_flatten(struct vti_build *b, const IRSB *in);

#endif
