/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_IROP_H
#define VT_MACHINE_IROP_H

#include "machine/word.h"

#ifdef __cplusplus
extern "C" {
#endif

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
	/* Denormal numbers are surely neither flushed to nor taken as zero. */
	bool denormals;
};

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

#ifdef __cplusplus
}
#endif
#endif
