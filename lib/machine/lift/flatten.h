/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_FLATTEN_H
#define VT_MACHINE_LIFT_FLATTEN_H

#include "machine/lift/build.h"

/* Why a piece of VEX's code was left. */
enum vti_piece {
	VTI_PIECE_END,	    /* the block ends here */
	VTI_PIECE_ON,	    /* the next instruction follows */
	VTI_PIECE_UNLIFTED, /* so does one that VEX does not know, or not as it is */
};

/* Flattens it, from instruction b->emitted on. */
enum vti_piece vti_flatten(struct vti_build *b, const IRSB *in);

#endif
