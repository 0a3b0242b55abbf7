/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_IROP_TABLE_H
#define VT_MACHINE_LIFT_IROP_TABLE_H

#include "machine/lift/irop.h"

/* The tables of operators, and what the files that define them share.  Private to those files. */

/* Tables are indexed by the operator's number, counted from VEX's first.  An unused row is zero. */
#define VTI_IROP_SLOT(op) [Iop_##op - Iop_INVALID]
#define VTI_IROP_COUNT	  (Iop_LAST - Iop_INVALID)

extern const struct vti_irop vti_irop_floats[];
extern const struct vti_irop vti_irop_conversions[];
/* The operators on which MXCSR has an effect, for the x87, on which it has none. */
extern const struct vti_irop vti_irop_x87_conversions[];
extern const struct vti_irop vti_irop_x87_compare; /* Iop_CmpF64 */

#define VTI_UNUSED __attribute__((unused))

/* The head of an operator's function, op_NAME. */
#define VTI_OPERATOR(op)                                                                           \
	static void op_##op(const struct vti_fpmode *mode VTI_UNUSED, struct vt_word *dst,         \
			    const struct vt_word *const *args)

/* A number of `bits` bits, of which those set in `known` are known. */
static inline struct vt_word vti_word_make(uint64_t value, uint64_t known, unsigned bits)
{
	const uint64_t mask = vt_low_bits(bits);

	return (struct vt_word){value & known & mask, known | ~mask};
}

#endif
