/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_IROP_H
#define VT_MACHINE_LIFT_IROP_H

#include "machine/lift/word.h"

/*
 * VEX's operators (IROp of libvex_ir.h) on numbers of which not every bit may be known.  Private to
 * lib/machine and its tests.
 */

/* What floating-point operators depend on beside their operands. */
struct vti_fpmode {
	/*
	 * MXCSR's rounding control (0 nearest, 1 down, 2 up, 3 to zero) for operators that have no
	 * operand that says it, or -1: not known.  A result then is known where it is exact.
	 */
	int rounding;
	/*
	 * The bits of MXCSR that say whether denormal numbers are taken as zero (VTI_MXCSR_DAZ) or
	 * flushed to it (VTI_MXCSR_FTZ), or -1: not known.  0 honours them.
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

/* The operator with the number that VEX gives it; NULL: its results are unknown. */
const struct vti_irop *vti_irop_find(unsigned irop);

/* The same for an instruction of the x87, which MXCSR has no say in. */
const struct vti_irop *vti_irop_find_x87(unsigned irop);

#endif
