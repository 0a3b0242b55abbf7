/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/irop_lanes.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

/* The numbers between which the operand lies, whatever its unknown bits are. */
static inline uint64_t lowest(struct vt_word w)
{
	return w.value;
}

static inline uint64_t highest(struct vt_word w)
{
	return w.value | ~w.known;
}

/*
 * The carry into a bit grows with the operands, so it is known where the smallest operands and the
 * largest ones have the same.
 */
static inline struct vt_word add_carry(struct vt_word a, struct vt_word b, unsigned carry,
				       unsigned bits)
{
	const uint64_t least = lowest(a) + lowest(b) + carry;
	const uint64_t most = highest(a) + highest(b) + carry;
	const uint64_t carries_least = least ^ lowest(a) ^ lowest(b);
	const uint64_t carries_most = most ^ highest(a) ^ highest(b);

	return vti_word_make(least, a.known & b.known & ~(carries_least ^ carries_most), bits);
}

static inline struct vt_word add(struct vt_word a, struct vt_word b, unsigned bits)
{
	return add_carry(a, b, 0, bits);
}

static inline struct vt_word subtract(struct vt_word a, struct vt_word b, unsigned bits)
{
	return add_carry(a, (struct vt_word){~b.value & b.known, b.known}, 1, bits);
}

/* How many of the lowest bits are known, and are known to be 0. */
static inline unsigned low_known(struct vt_word w)
{
	return vt_word_is_known(w) ? 64 : (unsigned)__builtin_ctzll(~w.known);
}

static inline unsigned low_zeros(struct vt_word w)
{
	const uint64_t perhaps = highest(w);

	return perhaps == 0 ? 64 : (unsigned)__builtin_ctzll(perhaps);
}

/* a = 2^p a', b = 2^q b': the low bits of a'b' depend on as many low bits of a' and b'. */
static inline struct vt_word multiply(struct vt_word a, struct vt_word b, unsigned bits)
{
	if (vt_word_is_known(a) && vt_word_is_known(b))
		return vti_word_make(a.value * b.value, ~UINT64_C(0), bits);
	const unsigned p = low_zeros(a);
	const unsigned q = low_zeros(b);
	const unsigned odd_a = low_known(a) - p;
	const unsigned odd_b = low_known(b) - q;
	const unsigned sure = p + q + (odd_a < odd_b ? odd_a : odd_b);

	if (sure == 0)
		return vt_word_unknown(bits);
	return vti_word_make(a.value * b.value, vt_low_bits(sure > 64 ? 64 : sure), bits);
}

/* VEX leaves shifts by the width and more undefined. */
static inline struct vt_word shift_left(struct vt_word a, struct vt_word b, unsigned bits)
{
	if (highest(a) == 0)
		return vt_word_of(0);
	if (!vt_word_is_known(b)) {
		const unsigned zeros = low_zeros(a);

		return zeros == 0 ? vt_word_unknown(bits)
				  : vti_word_make(0, vt_low_bits(zeros), bits);
	}
	if (b.value >= bits)
		return vt_word_unknown(bits);
	return vti_word_make(a.value << b.value, ~(~a.known << b.value), bits);
}

static inline struct vt_word shift_right(struct vt_word a, struct vt_word b, unsigned bits)
{
	const uint64_t perhaps = highest(a);

	if (perhaps == 0)
		return vt_word_of(0);
	if (!vt_word_is_known(b)) {
		const unsigned zeros = (unsigned)__builtin_clzll(perhaps);

		return vti_word_make(0, ~vt_low_bits(64 - zeros), bits);
	}
	if (b.value >= bits)
		return vt_word_unknown(bits);
	return vti_word_make(a.value >> b.value, ~(~a.known >> b.value), bits);
}

static inline struct vt_word extend(struct vt_word a, unsigned from, unsigned to)
{
	return vti_word_make(vti_sign_extend(a.value, from), vti_sign_extend(a.known, from), to);
}

static inline struct vt_word shift_signed(struct vt_word a, struct vt_word b, unsigned bits)
{
	if (highest(a) == 0)
		return vt_word_of(0);
	if (!vt_word_is_known(b) || b.value >= bits)
		return vt_word_unknown(bits);
	const struct vt_word wide = extend(a, bits, 64);

	return vti_word_make((uint64_t)((int64_t)wide.value >> b.value),
			     (uint64_t)((int64_t)wide.known >> b.value), bits);
}

static inline struct vt_word one_bit(bool value, bool known)
{
	return (struct vt_word){value && known, known ? ~UINT64_C(0) : ~UINT64_C(1)};
}

static inline struct vt_word differ(struct vt_word a, struct vt_word b)
{
	const uint64_t both = a.known & b.known;
	const bool unequal = ((a.value ^ b.value) & both) != 0;

	return one_bit(unequal, unequal || both == ~UINT64_C(0));
}

static inline struct vt_word equal(struct vt_word a, struct vt_word b)
{
	const struct vt_word unequal = differ(a, b);

	return vti_word_make(~unequal.value, unequal.known, 1);
}

static inline struct vt_word less(struct vt_word a, struct vt_word b, bool or_equal)
{
	if (or_equal) {
		const bool surely = highest(a) <= lowest(b);

		return one_bit(surely, surely || lowest(a) > highest(b));
	}
	const bool surely = highest(a) < lowest(b);

	return one_bit(surely, surely || lowest(a) >= highest(b));
}

/* Signed numbers in the order of unsigned ones. */
static inline struct vt_word sign_to_order(struct vt_word a, unsigned bits)
{
	const uint64_t sign = UINT64_C(1) << (bits - 1);

	return (struct vt_word){(a.value ^ sign) & a.known, a.known};
}

static inline struct vt_word leading_zeros(struct vt_word a, unsigned bits, bool natural)
{
	const uint64_t perhaps = highest(a);

	if (perhaps == 0)
		return natural ? vt_word_of(bits) : vt_word_unknown(bits);
	const int zeros = __builtin_clzll(perhaps);

	if (a.value == 0 || zeros != __builtin_clzll(a.value))
		return vt_word_unknown(bits);
	return vt_word_of((unsigned)zeros - (64 - bits));
}

static inline struct vt_word trailing_zeros(struct vt_word a, unsigned bits, bool natural)
{
	const uint64_t perhaps = highest(a);

	if (perhaps == 0)
		return natural ? vt_word_of(bits) : vt_word_unknown(bits);
	const int zeros = __builtin_ctzll(perhaps);

	if (a.value == 0 || zeros != __builtin_ctzll(a.value))
		return vt_word_unknown(bits);
	return vt_word_of((unsigned)zeros);
}

static inline struct vt_word count_ones(struct vt_word a, unsigned bits)
{
	if (!vt_word_is_known(a))
		return vt_word_unknown(bits);
	return vt_word_of((unsigned)__builtin_popcountll(a.value));
}

static inline struct vt_word piece(struct vt_word a, unsigned from, unsigned bits)
{
	return vti_word_make(a.value >> from, a.known >> from, bits);
}

static inline struct vt_word pair(struct vt_word high, struct vt_word low, unsigned bits)
{
	return vti_word_make(high.value << bits | low.value,
			     high.known << bits | (low.known & vt_low_bits(bits)), 2 * bits);
}

static inline struct vt_word reverse_bytes(struct vt_word a, unsigned bits)
{
	return vti_word_make(__builtin_bswap64(a.value) >> (64 - bits),
			     __builtin_bswap64(a.known) >> (64 - bits), bits);
}

/* Quotient low, remainder high; where the machine traps, the result does not matter. */
static inline struct vt_word divide_unsigned(struct vt_word a, struct vt_word b)
{
	if (!vt_word_is_known(a) || !vt_word_is_known(b) || b.value == 0 ||
	    a.value / b.value > UINT32_MAX)
		return vt_word_unknown(64);
	return vt_word_of(a.value % b.value << 32 | a.value / b.value);
}

static inline struct vt_word divide_signed(struct vt_word a, struct vt_word b)
{
	const int64_t dividend = (int64_t)a.value;
	const int64_t divisor = (int32_t)b.value;

	if (!vt_word_is_known(a) || !vt_word_is_known(b) || divisor == 0 ||
	    (dividend == INT64_MIN && divisor == -1))
		return vt_word_unknown(64);
	const int64_t quotient = dividend / divisor;

	if (quotient != (int32_t)quotient)
		return vt_word_unknown(64);
	return vt_word_of((uint64_t)(dividend % divisor) << 32 | (uint32_t)quotient);
}

#define UNARY(op, result)                                                                          \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const struct vt_word a = *args[0];                                                 \
                                                                                                   \
		*dst = (result);                                                                   \
	}
#define BINARY(op, result)                                                                         \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const struct vt_word a = *args[0];                                                 \
		const struct vt_word b = *args[1];                                                 \
                                                                                                   \
		*dst = (result);                                                                   \
	}
#include "machine/lift/irop_scalar.def"
#undef UNARY
#undef BINARY

/* ---- 128 bits ---- */

static inline void put_wide(struct vt_word *dst, u128 value)
{
	dst[0] = vt_word_of((uint64_t)value);
	dst[1] = vt_word_of((uint64_t)(value >> 64));
}

static void multiply_wide(struct vt_word *dst, struct vt_word a, struct vt_word b, bool is_signed)
{
	dst[0] = multiply(a, b, 64);
	dst[1] = vt_word_unknown(64);
	if (highest(a) == 0 || highest(b) == 0)
		dst[1] = vt_word_of(0);
	else if (vt_word_is_known(a) && vt_word_is_known(b))
		put_wide(dst, is_signed ? (u128)((s128)(int64_t)a.value * (int64_t)b.value)
					: (u128)a.value * b.value);
}

VTI_OPERATOR(MullU64)
{
	multiply_wide(dst, *args[0], *args[1], false);
}

VTI_OPERATOR(MullS64)
{
	multiply_wide(dst, *args[0], *args[1], true);
}

static bool fits_64(s128 value)
{
	return value == (s128)(int64_t)value;
}

static void divide_wide(struct vt_word *dst, const struct vt_word *a, struct vt_word b,
			bool is_signed)
{
	const u128 dividend = (u128)a[1].value << 64 | a[0].value;
	const s128 divisor = (s128)(int64_t)b.value;
	u128 quotient;
	u128 rest;

	dst[0] = vt_word_unknown(64);
	dst[1] = vt_word_unknown(64);
	if (!vt_word_is_known(a[0]) || !vt_word_is_known(a[1]) || !vt_word_is_known(b) ||
	    b.value == 0)
		return;
	if (is_signed) {
		/* The most negative number by -1 is the one quotient that has no room. */
		if (divisor == -1 && dividend == (u128)1 << 127)
			return;
		quotient = (u128)((s128)dividend / divisor);
		rest = (u128)((s128)dividend % divisor);
		if (!fits_64((s128)quotient))
			return;
	} else {
		if (a[1].value >= b.value)
			return;
		quotient = dividend / b.value;
		rest = dividend % b.value;
	}
	dst[0] = vt_word_of((uint64_t)quotient);
	dst[1] = vt_word_of((uint64_t)rest);
}

VTI_OPERATOR(DivModU128to64)
{
	divide_wide(dst, args[0], *args[1], false);
}

VTI_OPERATOR(DivModS128to64)
{
	divide_wide(dst, args[0], *args[1], true);
}

VTI_OPERATOR(DivModU64to64)
{
	const struct vt_word wide[2] = {*args[0], vt_word_of(0)};

	divide_wide(dst, wide, *args[1], false);
}

VTI_OPERATOR(DivModS64to64)
{
	const struct vt_word a = *args[0];
	const uint64_t sign = a.value >> 63 ? ~UINT64_C(0) : 0;
	const struct vt_word wide[2] = {a, {sign, vt_word_is_known(a) ? ~UINT64_C(0) : 0}};

	divide_wide(dst, wide, *args[1], true);
}

#define UNARY(op, result)  VTI_IROP_SLOT(op) = {op_##op, 1, 1},
#define BINARY(op, result) VTI_IROP_SLOT(op) = {op_##op, 2, 1},

static const struct vti_irop scalars[VTI_IROP_COUNT] = {
#include "machine/lift/irop_scalar.def"
	VTI_IROP_SLOT(MullU64) = {op_MullU64, 2, 2},
	VTI_IROP_SLOT(MullS64) = {op_MullS64, 2, 2},
	VTI_IROP_SLOT(DivModU128to64) = {op_DivModU128to64, 2, 2},
	VTI_IROP_SLOT(DivModS128to64) = {op_DivModS128to64, 2, 2},
	VTI_IROP_SLOT(DivModU64to64) = {op_DivModU64to64, 2, 2},
	VTI_IROP_SLOT(DivModS64to64) = {op_DivModS64to64, 2, 2},
};

const struct vti_irop *vti_irop_scalar(unsigned irop)
{
	const unsigned slot = irop - Iop_INVALID;

	return slot < VTI_IROP_COUNT && scalars[slot].fn != NULL ? &scalars[slot] : NULL;
}
