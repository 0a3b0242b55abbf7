/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stddef.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/irop_fp.h"

static uint64_t run_narrow(const uint64_t *in)
{
	const double a = vti_fp_to_double(in[0]);
	float narrowed;

	__asm__ volatile("cvtsd2ss %1, %0" : "=x"(narrowed) : "x"(a));
	return vti_fp_from_float(narrowed);
}
static const struct vti_fp_operation narrow = {run_narrow, 1, 64, 32, false};

static uint64_t run_integer_32(const uint64_t *in)
{
	const int32_t a = (int32_t)in[0];
	float x;

	__asm__ volatile("cvtsi2ssl %1, %0" : "=x"(x) : "r"(a));
	return vti_fp_from_float(x);
}
static const struct vti_fp_operation integer_32 = {run_integer_32, 1, 0, 32, false};

static uint64_t run_integer_64(const uint64_t *in)
{
	const int64_t a = (int64_t)in[0];
	double x;

	__asm__ volatile("cvtsi2sdq %1, %0" : "=x"(x) : "r"(a));
	return vti_fp_from_double(x);
}
static const struct vti_fp_operation integer_64 = {run_integer_64, 1, 0, 64, false};

VTI_OPERATOR(I32StoF64)
{
	*dst = vt_word_is_known(*args[0]) ? vt_word_of(vti_fp_from_double((int32_t)args[0]->value))
					  : vt_word_unknown(64);
}

/*
 * Only what is exact: VEX makes a float of a 64-bit integer by way of this, which rounds twice,
 * and x87 would keep all of its bits.
 */
VTI_OPERATOR(I64StoF64)
{
	const struct vt_word a = *args[1];

	*dst = vt_word_is_known(a) ? vti_fp_compute(mode, -1, &integer_64, &a.value)
				   : vt_word_unknown(64);
}

/* A NaN stays the one that it is, made quiet. */
VTI_OPERATOR(F32toF64)
{
	struct vt_word a = *args[0];

	*dst = vt_word_unknown(64);
	if (!vt_word_is_known(a) || !vti_fp_take(mode, &a.value, 32))
		return;
	if (vti_fp_is_nan(a.value, 32))
		*dst = vt_word_of((a.value >> 31) << 63 | vti_fp_infinity(64) | UINT64_C(1) << 51 |
				  (a.value & vti_fp_fraction_mask(32)) << 29);
	else
		*dst = vt_word_of(vti_fp_from_double((double)vti_fp_to_float(a.value)));
}

VTI_OPERATOR(F64toF32)
{
	const struct vt_word a = *args[1];

	*dst = vt_word_is_known(a)
		       ? vti_fp_compute(mode, vti_fp_rounding_of(*args[0]), &narrow, &a.value)
		       : vt_word_unknown(32);
}

#define INTEGERS_TO_FLOATS(op, lanes)                                                              \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		for (unsigned i = 0; i < (lanes); i++)                                             \
			vti_fp_lane(mode, vti_fp_rounding_of(*args[0]), &integer_32, dst,          \
				    args + 1, i);                                                  \
	}

INTEGERS_TO_FLOATS(I32StoF32x4, 4)
INTEGERS_TO_FLOATS(I32StoF32x8, 8)

/*
 * To an integer, as a number that has no fraction.  False where the rounding mode matters and is
 * not known.  Each step is exact, so that the mode of this program does not matter.
 */
static bool to_integral(double x, int rounding, double *result)
{
	*result = x;
	if (fabs(x) >= 0x1p52)
		return true;
	const int64_t truncated = (int64_t)x;
	const double rest = x - (double)truncated;
	int64_t n = truncated;

	if (rest != 0 && rounding < 0)
		return false;
	if (rounding == 0 && (fabs(rest) > 0.5 || (fabs(rest) == 0.5 && truncated % 2 != 0)))
		n += rest < 0 ? -1 : 1;
	else if (rounding == VTI_ROUND_DOWN && rest < 0)
		n--;
	else if (rounding == VTI_ROUND_UP && rest > 0)
		n++;
	*result = copysign((double)n, x);
	return true;
}

/* What has no room becomes the most negative number: "integer indefinite". */
static struct vt_word to_integer(const struct vti_fpmode *mode, int rounding, struct vt_word a,
				 unsigned in_bits, unsigned bits)
{
	const double limit = bits == 32 ? 0x1p31 : 0x1p63;
	const uint64_t indefinite = UINT64_C(1) << (bits - 1);
	double x;

	if (!vt_word_is_known(a) || !vti_fp_take(mode, &a.value, in_bits))
		return vt_word_unknown(bits);
	if (vti_fp_is_nan(a.value, in_bits))
		return vt_word_of(indefinite);
	if (!to_integral(in_bits == 32 ? (double)vti_fp_to_float(a.value)
				       : vti_fp_to_double(a.value),
			 rounding, &x))
		return vt_word_unknown(bits);
	if (!(x >= -limit && x < limit))
		return vt_word_of(indefinite);
	return vt_word_of((uint64_t)(int64_t)x & vt_low_bits(bits));
}

VTI_OPERATOR(F64toI32S)
{
	*dst = to_integer(mode, vti_fp_rounding_of(*args[0]), *args[1], 64, 32);
}

VTI_OPERATOR(F64toI64S)
{
	*dst = to_integer(mode, vti_fp_rounding_of(*args[0]), *args[1], 64, 64);
}

#define FLOATS_TO_INTEGERS(op, lanes)                                                              \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const int rounding = vti_fp_rounding_of(*args[0]);                                 \
                                                                                                   \
		for (unsigned i = 0; i < (lanes); i++)                                             \
			vti_fp_put_lane(dst, i, 32,                                                \
					to_integer(mode, rounding,                                 \
						   vti_fp_get_lane(args[1], i, 32), 32, 32));      \
	}

FLOATS_TO_INTEGERS(F32toI32Sx4, 4)
FLOATS_TO_INTEGERS(F32toI32Sx8, 8)

static struct vt_word round_to_integral(const struct vti_fpmode *mode, int rounding,
					struct vt_word a, unsigned bits)
{
	double x;

	if (!vt_word_is_known(a) || vti_fp_is_nan(a.value, bits) ||
	    !vti_fp_take(mode, &a.value, bits) ||
	    !to_integral(bits == 32 ? (double)vti_fp_to_float(a.value) : vti_fp_to_double(a.value),
			 rounding, &x))
		return vt_word_unknown(bits);
	return vt_word_of(bits == 32 ? vti_fp_from_float((float)x) : vti_fp_from_double(x));
}

VTI_OPERATOR(RoundF64toInt)
{
	*dst = round_to_integral(mode, vti_fp_rounding_of(*args[0]), *args[1], 64);
}

VTI_OPERATOR(RoundF32toInt)
{
	*dst = round_to_integral(mode, vti_fp_rounding_of(*args[0]), *args[1], 32);
}

/* ---- half precision: sign, 5 bits of exponent with bias 15, 10 bits of fraction ---- */

/* Denormal halves are honoured whatever MXCSR says (SDM, VCVTPH2PS). */
static struct vt_word half_to_float(struct vt_word a)
{
	const uint64_t fraction = a.value & 0x3ff;
	const unsigned exponent = a.value >> 10 & 0x1f;
	const uint64_t sign = (a.value >> 15) << 31;

	if (!vt_word_is_known(a) || (exponent == 0x1f && fraction != 0))
		return vt_word_unknown(32);
	if (exponent == 0x1f)
		return vt_word_of(sign | vti_fp_infinity(32));
	if (exponent == 0)
		return vt_word_of(sign | vti_fp_from_float((float)fraction * 0x1p-24f));
	return vt_word_of(sign | (uint64_t)(exponent - 15 + 127) << 23 | fraction << 13);
}

static struct vt_word float_to_half(const struct vti_fpmode *mode, int rounding, struct vt_word a)
{
	if (!vt_word_is_known(a) || vti_fp_is_nan(a.value, 32) || !vti_fp_take(mode, &a.value, 32))
		return vt_word_unknown(16);
	const int exponent = (int)(a.value >> 23 & 0xff) - 127;
	const bool negative = a.value >> 31;
	const uint64_t sign = negative ? 0x8000 : 0;
	const uint64_t significand =
		(a.value & vti_fp_fraction_mask(32)) | (exponent > -127 ? UINT64_C(1) << 23 : 0);
	int shift = exponent >= -14 ? 13 : -1 - exponent;

	if (vti_fp_magnitude(a.value, 32) == vti_fp_infinity(32))
		return vt_word_of(sign | 0x7c00);
	if (shift > 26)
		shift = 26;
	const uint64_t rest = significand & vt_low_bits((unsigned)shift);
	const uint64_t tie = UINT64_C(1) << (shift - 1);
	uint64_t n = significand >> shift;
	const bool odd = n % 2 != 0;
	const bool away = rounding == 0		       ? rest > tie || (rest == tie && odd)
			  : rounding == VTI_ROUND_DOWN ? negative && rest != 0
			  : rounding == VTI_ROUND_UP   ? !negative && rest != 0
						       : false;

	n += away;
	if (exponent >= -14)
		n += (uint64_t)(exponent + 14) << 10;
	if (rounding < 0 && (rest != 0 || n >= 0x7c00))
		return vt_word_unknown(16);
	/* Too great a number becomes infinite where that is the direction, else the greatest. */
	if (n >= 0x7c00)
		n = rounding == 0 || rounding == (negative ? VTI_ROUND_DOWN : VTI_ROUND_UP)
			    ? 0x7c00
			    : 0x7bff;
	return vt_word_of(sign | n);
}

static void halves_to_floats(struct vt_word *dst, const struct vt_word *a, unsigned lanes)
{
	for (unsigned i = 0; i < lanes; i++) {
		const unsigned shift = i % 4 * 16;
		const struct vt_word half =
			vti_word_make(a[i / 4].value >> shift, a[i / 4].known >> shift, 16);

		vti_fp_put_lane(dst, i, 32, half_to_float(half));
	}
}

VTI_OPERATOR(F16toF32x4)
{
	halves_to_floats(dst, args[0], 4);
}

VTI_OPERATOR(F16toF32x8)
{
	halves_to_floats(dst, args[0], 8);
}

static void floats_to_halves(const struct vti_fpmode *mode, struct vt_word *dst,
			     const struct vt_word *const *args, unsigned lanes)
{
	const int rounding = vti_fp_rounding_of(*args[0]);

	for (unsigned i = 0; i < lanes; i++) {
		const struct vt_word half =
			float_to_half(mode, rounding, vti_fp_get_lane(args[1], i, 32));
		const unsigned shift = i % 4 * 16;

		if (shift == 0)
			dst[i / 4] = (struct vt_word){0, 0};
		dst[i / 4].value |= half.value << shift;
		dst[i / 4].known |= (half.known & 0xffff) << shift;
	}
}

VTI_OPERATOR(F32toF16x4)
{
	floats_to_halves(mode, dst, args, 4);
}

VTI_OPERATOR(F32toF16x8)
{
	floats_to_halves(mode, dst, args, 8);
}

const struct vti_irop vti_irop_conversions[VTI_IROP_COUNT] = {
	VTI_IROP_SLOT(I32StoF64) = {op_I32StoF64, 1, 1},
	VTI_IROP_SLOT(I64StoF64) = {op_I64StoF64, 2, 1},
	VTI_IROP_SLOT(F32toF64) = {op_F32toF64, 1, 1},
	VTI_IROP_SLOT(F64toF32) = {op_F64toF32, 2, 1},
	VTI_IROP_SLOT(I32StoF32x4) = {op_I32StoF32x4, 2, 2},
	VTI_IROP_SLOT(I32StoF32x8) = {op_I32StoF32x8, 2, 4},
	VTI_IROP_SLOT(F64toI32S) = {op_F64toI32S, 2, 1},
	VTI_IROP_SLOT(F64toI64S) = {op_F64toI64S, 2, 1},
	VTI_IROP_SLOT(F32toI32Sx4) = {op_F32toI32Sx4, 2, 2},
	VTI_IROP_SLOT(F32toI32Sx8) = {op_F32toI32Sx8, 2, 4},
	VTI_IROP_SLOT(RoundF64toInt) = {op_RoundF64toInt, 2, 1},
	VTI_IROP_SLOT(RoundF32toInt) = {op_RoundF32toInt, 2, 1},
	VTI_IROP_SLOT(F16toF32x4) = {op_F16toF32x4, 1, 2},
	VTI_IROP_SLOT(F16toF32x8) = {op_F16toF32x8, 1, 4},
	VTI_IROP_SLOT(F32toF16x4) = {op_F32toF16x4, 2, 1},
	VTI_IROP_SLOT(F32toF16x8) = {op_F32toF16x8, 2, 2},
};

VTI_X87_OPERATOR(F32toF64)
VTI_X87_OPERATOR(F64toF32)
VTI_X87_OPERATOR(F64toI32S)
VTI_X87_OPERATOR(F64toI64S)
VTI_X87_OPERATOR(RoundF64toInt)

const struct vti_irop vti_irop_x87_conversions[VTI_IROP_COUNT] = {
	VTI_IROP_SLOT(F32toF64) = {x87_F32toF64, 1, 1},
	VTI_IROP_SLOT(F64toF32) = {x87_F64toF32, 2, 1},
	VTI_IROP_SLOT(F64toI32S) = {x87_F64toI32S, 2, 1},
	VTI_IROP_SLOT(F64toI64S) = {x87_F64toI64S, 2, 1},
	VTI_IROP_SLOT(RoundF64toInt) = {x87_RoundF64toInt, 2, 1},
};
