/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_IROP_FP_H
#define VT_MACHINE_LIFT_IROP_FP_H

#include <float.h>
#include <string.h>

#include "machine/lift/irop_table.h"

/* Definitions that the operators on floating-point numbers share.  Private to them. */

/* IRRoundingMode and MXCSR number the modes alike. */
#define VTI_ROUND_DOWN 1
#define VTI_ROUND_UP   2

static inline uint64_t vti_fp_fraction_mask(unsigned bits)
{
	return vt_low_bits(bits == 32 ? FLT_MANT_DIG - 1 : DBL_MANT_DIG - 1);
}

static inline uint64_t vti_fp_magnitude(uint64_t x, unsigned bits)
{
	return x & vt_low_bits(bits - 1);
}

static inline uint64_t vti_fp_infinity(unsigned bits)
{
	return vt_low_bits(bits - 1) & ~vti_fp_fraction_mask(bits);
}

static inline bool vti_fp_is_nan(uint64_t x, unsigned bits)
{
	return vti_fp_magnitude(x, bits) > vti_fp_infinity(bits);
}

static inline bool vti_fp_is_denormal(uint64_t x, unsigned bits)
{
	const uint64_t m = vti_fp_magnitude(x, bits);

	return m != 0 && m <= vti_fp_fraction_mask(bits);
}

static inline uint64_t vti_fp_from_double(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline double vti_fp_to_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline uint64_t vti_fp_from_float(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float vti_fp_to_float(uint64_t bits)
{
	const uint32_t low = (uint32_t)bits;
	float x;

	memcpy(&x, &low, sizeof(x));
	return x;
}

/*
 * Replaces a denormal operand by zero, depending on the mode.  Returns false if that is unknown.
 */
static inline bool vti_fp_take(const struct vti_fpmode *mode, uint64_t *x, unsigned bits)
{
	if (!vti_fp_is_denormal(*x, bits))
		return true;
	if (mode->zeroes > 0 && (mode->zeroes & VTI_MXCSR_DAZ))
		*x &= UINT64_C(1) << (bits - 1);
	return mode->zeroes >= 0;
}

/*
 * Defines x87_NAME, the operator on the x87: operands contain the rounding mode, and denormal
 * numbers are not replaced by zero.
 */
#define VTI_X87_OPERATOR(op)                                                                       \
	static void x87_##op(const struct vti_fpmode *mode VTI_UNUSED, struct vt_word *dst,        \
			     const struct vt_word *const *args)                                    \
	{                                                                                          \
		const struct vti_fpmode x87 = {-1, 0};                                             \
                                                                                                   \
		op_##op(&x87, dst, args);                                                          \
	}

struct vti_fp_operation {
	uint64_t (*run)(const uint64_t *in);
	unsigned count;	   /* operands */
	unsigned in_bits;  /* of each operand; 0: it is an integer */
	unsigned out_bits; /* of the result */
	bool library;	   /* not a single instruction: MXCSR's modes of zero have no effect */
};

/*
 * Computes the operation with the known bits of its operands.  `rounding` is MXCSR's rounding
 * control, or -1: unknown.
 */
struct vt_word vti_fp_compute(const struct vti_fpmode *mode, int rounding,
			      const struct vti_fp_operation *op, const uint64_t *in);

/* Does the same for lane i of vectors, with the result in lane i of dst. */
void vti_fp_lane(const struct vti_fpmode *mode, int rounding, const struct vti_fp_operation *op,
		 struct vt_word *dst, const struct vt_word *const *args, unsigned i);

static inline struct vt_word vti_fp_get_lane(const struct vt_word *w, unsigned i, unsigned bits)
{
	if (bits == 64)
		return w[i];
	return vti_word_make(w[i / 2].value >> i % 2 * 32, w[i / 2].known >> i % 2 * 32, 32);
}

static inline void vti_fp_put_lane(struct vt_word *w, unsigned i, unsigned bits, struct vt_word x)
{
	if (bits == 64) {
		w[i] = x;
		return;
	}
	const unsigned shift = i % 2 * 32;
	const uint64_t mask = vt_low_bits(32) << shift;

	w[i / 2].value = (w[i / 2].value & ~mask) | x.value << shift;
	w[i / 2].known = (w[i / 2].known & ~mask) | (x.known << shift & mask);
}

/* Returns the mode of an operand (IRRoundingMode), or -1 if it is unknown. */
static inline int vti_fp_rounding_of(struct vt_word w)
{
	return vt_word_is_known(w) && w.value <= 3 ? (int)w.value : -1;
}

#endif
