/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_IROP_H
#define VT_MACHINE_LIFT_IROP_H

#include "machine/lift/word.h"

/*
 * VEX's operators (IROp of libvex_ir.h) on numbers of which not every bit may be known.  Private to
 * lib/machine and its tests.
 */

/* The modes of floating-point operators. */
struct vti_fpmode {
	/*
	 * MXCSR's rounding control (0 nearest, 1 down, 2 up, 3 to zero) for operators without an
	 * operand for it, or -1: unknown.  Then only exact results are known.
	 */
	int rounding;
	/*
	 * The bits of MXCSR by which denormal operands are replaced by zero (VTI_MXCSR_DAZ) and
	 * denormal results are flushed to it (VTI_MXCSR_FTZ), or -1: unknown.
	 */
	int zeroes;
};

/* Intel SDM volume 1, 10.2.3. */
#define VTI_MXCSR_DAZ 0x40
#define VTI_MXCSR_FTZ 0x8000

/* Operands and result are one word for each 8 bytes; `dst` is none of the operands. */
typedef void vti_irop_fn(const struct vti_fpmode *mode, struct vt_word *dst,
			 const struct vt_word *const *args);

struct vti_irop {
	vti_irop_fn *fn;
	uint8_t nargs; /* 1 to 4 */
	uint8_t words; /* of the result */
};

/* Returns the operator with VEX's number, or NULL if its results are always unknown. */
const struct vti_irop *vti_irop_find(unsigned irop);

/* Does the same for instructions of the x87, on which MXCSR has no effect. */
const struct vti_irop *vti_irop_find_x87(unsigned irop);

#endif
