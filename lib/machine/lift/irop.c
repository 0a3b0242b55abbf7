/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/irop.h"

#include <stddef.h>
#include <string.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/fastop.h"
#include "machine/lift/irop_table.h"

/*
 * The operators on integers and on vectors of them that the interpreter's loop does not compute
 * itself (fastop.def has those), and the search for an operator.
 */

typedef unsigned __int128 u128;
typedef __int128 s128;

/* ---- single integers ---- */

static inline struct vt_word leading_zeros(struct vt_word a, unsigned bits, bool natural)
{
	const uint64_t perhaps = vti_fast_max(a);

	if (perhaps == 0)
		return natural ? vt_word_of(bits) : vt_word_unknown(bits);
	const int zeros = __builtin_clzll(perhaps);

	if (a.value == 0 || zeros != __builtin_clzll(a.value))
		return vt_word_unknown(bits);
	return vt_word_of((unsigned)zeros - (64 - bits));
}

static inline struct vt_word trailing_zeros(struct vt_word a, unsigned bits, bool natural)
{
	const uint64_t perhaps = vti_fast_max(a);

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

/* ---- lanes ---- */

/*
 * The loops over lanes have no branches, so that compilers make vector code of them: a lane's
 * result is computed always, and cleared where it is not known.
 */

/* Copies words to arrays of lanes, values and known bits, as the machine has them in memory. */
static inline void split_lanes(const struct vt_word *w, unsigned bytes, void *value, void *known)
{
	for (unsigned i = 0; i < bytes / 8; i++) {
		memcpy((char *)value + 8 * i, &w[i].value, 8);
		memcpy((char *)known + 8 * i, &w[i].known, 8);
	}
}

static inline void join_lanes(struct vt_word *w, unsigned bytes, const void *value,
			      const void *known)
{
	for (unsigned i = 0; i < bytes / 8; i++) {
		memcpy(&w[i].value, (const char *)value + 8 * i, 8);
		memcpy(&w[i].known, (const char *)known + 8 * i, 8);
	}
}

static inline int clamp_int(int x, int low, int high)
{
	const int above = x < low ? low : x;

	return above > high ? high : above;
}

#define LANES(op, type, bytes, result)                                                             \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		type a[(bytes) / sizeof(type)];                                                    \
		type b[(bytes) / sizeof(type)];                                                    \
		type known_a[(bytes) / sizeof(type)];                                              \
		type known_b[(bytes) / sizeof(type)];                                              \
                                                                                                   \
		split_lanes(args[0], bytes, a, known_a);                                           \
		split_lanes(args[1], bytes, b, known_b);                                           \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			const type x = a[i];                                                       \
			const type y = b[i];                                                       \
			const bool known = (type)(known_a[i] & known_b[i]) == (type)-1;            \
                                                                                                   \
			known_a[i] = known ? (type)-1 : 0;                                         \
			a[i] = (type)((type)(result)&known_a[i]);                                  \
		}                                                                                  \
		join_lanes(dst, bytes, a, known_a);                                                \
	}

/* A known bit that differs decides. */
#define EQUAL(op, type, bytes)                                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		type a[(bytes) / sizeof(type)];                                                    \
		type b[(bytes) / sizeof(type)];                                                    \
		type known_a[(bytes) / sizeof(type)];                                              \
		type known_b[(bytes) / sizeof(type)];                                              \
                                                                                                   \
		split_lanes(args[0], bytes, a, known_a);                                           \
		split_lanes(args[1], bytes, b, known_b);                                           \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			const type both = known_a[i] & known_b[i];                                 \
			const type differ = (a[i] ^ b[i]) & both;                                  \
			const type same = differ == 0 ? (type)-1 : 0;                              \
			const type all = both == (type)-1 ? (type)-1 : 0;                          \
                                                                                                   \
			a[i] = same & all;                                                         \
			known_a[i] = (type)~same | all;                                            \
		}                                                                                  \
		join_lanes(dst, bytes, a, known_a);                                                \
	}

/*
 * Known where the smallest numbers that the operands may be and the largest ones compare alike: an
 * unknown sign is set in the smallest one, and clear in the largest.
 */
#define GREATER(op, type, utype, bytes)                                                            \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const utype sign = (utype)((utype)1 << (8 * sizeof(type) - 1));                    \
		utype a[(bytes) / sizeof(type)];                                                   \
		utype b[(bytes) / sizeof(type)];                                                   \
		utype known_a[(bytes) / sizeof(type)];                                             \
		utype known_b[(bytes) / sizeof(type)];                                             \
                                                                                                   \
		split_lanes(args[0], bytes, a, known_a);                                           \
		split_lanes(args[1], bytes, b, known_b);                                           \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			const type least_a = (type)(a[i] | ((utype)~known_a[i] & sign));           \
			const type most_a = (type)(a[i] | ((utype)~known_a[i] & (utype)~sign));    \
			const type least_b = (type)(b[i] | ((utype)~known_b[i] & sign));           \
			const type most_b = (type)(b[i] | ((utype)~known_b[i] & (utype)~sign));    \
			const utype surely = least_a > most_b ? (utype)-1 : 0;                     \
			const utype perhaps = most_a > least_b ? (utype)-1 : 0;                    \
                                                                                                   \
			a[i] = surely;                                                             \
			known_a[i] = surely | (utype)~perhaps;                                     \
		}                                                                                  \
		join_lanes(dst, bytes, a, known_a);                                                \
	}

static void all_unknown(struct vt_word *dst, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		dst[i] = vt_word_unknown(64);
}

/* VEX leaves shifts by the width of a lane and more undefined. */
static inline bool amount_is_good(struct vt_word n, size_t lane)
{
	return vt_word_is_known(n) && n.value < 8 * lane;
}

/* What comes in from the right is a known 0, from the left as known as the sign is, or a known 0.
 */
#define SHIFT(op, type, bytes, shift)                                                              \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		type a[(bytes) / sizeof(type)];                                                    \
		type known[(bytes) / sizeof(type)];                                                \
		const unsigned n = (unsigned)args[1]->value;                                       \
                                                                                                   \
		if (!amount_is_good(*args[1], sizeof(type))) {                                     \
			all_unknown(dst, (bytes) / 8);                                             \
			return;                                                                    \
		}                                                                                  \
		split_lanes(args[0], bytes, a, known);                                             \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			a[i] = (type)(a[i] shift n);                                               \
			known[i] = (type) ~((type)~known[i] shift n);                              \
		}                                                                                  \
		join_lanes(dst, bytes, a, known);                                                  \
	}

/* ---- lanes and words that move ---- */

#define INTERLEAVE(op, type, bytes, first)                                                         \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		type in[2][2][(bytes) / sizeof(type)];                                             \
		type out[2][(bytes) / sizeof(type)];                                               \
                                                                                                   \
		split_lanes(args[1], bytes, in[0][0], in[1][0]);                                   \
		split_lanes(args[0], bytes, in[0][1], in[1][1]);                                   \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			out[0][i] = in[0][i % 2][(first) + i / 2];                                 \
			out[1][i] = in[1][i % 2][(first) + i / 2];                                 \
		}                                                                                  \
		join_lanes(dst, bytes, out[0], out[1]);                                            \
	}

#define EVERY_OTHER(op, type, bytes, first)                                                        \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const unsigned half = (bytes) / sizeof(type) / 2;                                  \
		type in[2][2][(bytes) / sizeof(type)];                                             \
		type out[2][(bytes) / sizeof(type)];                                               \
                                                                                                   \
		split_lanes(args[1], bytes, in[0][0], in[1][0]);                                   \
		split_lanes(args[0], bytes, in[0][1], in[1][1]);                                   \
		for (unsigned i = 0; i < 2 * half; i++) {                                          \
			out[0][i] = in[0][i / half][i % half * 2 + (first)];                       \
			out[1][i] = in[1][i / half][i % half * 2 + (first)];                       \
		}                                                                                  \
		join_lanes(dst, bytes, out[0], out[1]);                                            \
	}

#define NARROW(op, from, to, bytes, low, high)                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		from in[2 * (bytes) / sizeof(from)];                                               \
		from known[2 * (bytes) / sizeof(from)];                                            \
		to out[2][(bytes) / sizeof(to)];                                                   \
                                                                                                   \
		split_lanes(args[1], bytes, in, known);                                            \
		split_lanes(args[0], bytes, in + (bytes) / sizeof(from),                           \
			    known + (bytes) / sizeof(from));                                       \
		for (unsigned i = 0; i < (bytes) / sizeof(to); i++) {                              \
			const from x = in[i] < (low) ? (low) : in[i];                              \
			const from y = x > (high) ? (high) : x;                                    \
			const to all = known[i] == (from)-1 ? (to)-1 : 0;                          \
                                                                                                   \
			out[0][i] = (to)((to)y & all);                                             \
			out[1][i] = all;                                                           \
		}                                                                                  \
		join_lanes(dst, bytes, out[0], out[1]);                                            \
	}

/* VEX leaves lanes that are told to come from outside the vector undefined. */
#define CHOOSE(op, type, bytes)                                                                    \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const unsigned lanes = (bytes) / sizeof(type);                                     \
		type in[2][(bytes) / sizeof(type)];                                                \
		type which[2][(bytes) / sizeof(type)];                                             \
                                                                                                   \
		split_lanes(args[0], bytes, in[0], in[1]);                                         \
		split_lanes(args[1], bytes, which[0], which[1]);                                   \
		for (unsigned i = 0; i < lanes; i++) {                                             \
			const type from = which[0][i];                                             \
			const bool known = which[1][i] == (type)-1 && from < lanes;                \
                                                                                                   \
			which[0][i] = known ? in[0][from % lanes] : 0;                             \
			which[1][i] = known ? in[1][from % lanes] : 0;                             \
		}                                                                                  \
		join_lanes(dst, bytes, which[0], which[1]);                                        \
	}

/* A control byte's highest bit asks for a zero; the bits above the index are not defined. */
#define CHOOSE_OR_ZERO(op, bytes)                                                                  \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		uint8_t in[2][bytes];                                                              \
		uint8_t which[2][bytes];                                                           \
                                                                                                   \
		split_lanes(args[0], bytes, in[0], in[1]);                                         \
		split_lanes(args[1], bytes, which[0], which[1]);                                   \
		for (unsigned i = 0; i < (bytes); i++) {                                           \
			const uint8_t from = which[0][i];                                          \
			const bool zero = from >> 7;                                               \
			const bool known = which[1][i] == UINT8_MAX && from < (bytes);             \
                                                                                                   \
			which[0][i] = known ? in[0][from % (bytes)] : 0;                           \
			which[1][i] = known ? in[1][from % (bytes)] : zero ? UINT8_MAX : 0;        \
		}                                                                                  \
		join_lanes(dst, bytes, which[0], which[1]);                                        \
	}

#define WORDS1(op, words, ...)                                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const struct vt_word *a = args[0];                                                 \
		const struct vt_word result[words] = {__VA_ARGS__};                                \
                                                                                                   \
		memcpy(dst, result, sizeof(result));                                               \
	}
#define WORDS4(op, words, ...)                                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const struct vt_word *a = args[0];                                                 \
		const struct vt_word *b = args[1];                                                 \
		const struct vt_word *c = args[2];                                                 \
		const struct vt_word *d = args[3];                                                 \
		const struct vt_word result[words] = {__VA_ARGS__};                                \
                                                                                                   \
		memcpy(dst, result, sizeof(result));                                               \
	}

#include "machine/lift/irop.def"
#undef UNARY
#undef BINARY
#undef LANES
#undef EQUAL
#undef GREATER
#undef SHIFT
#undef INTERLEAVE
#undef EVERY_OTHER
#undef NARROW
#undef CHOOSE
#undef CHOOSE_OR_ZERO
#undef WORDS1
#undef WORDS4

/* ---- with functions of their own ---- */

static inline void put_u128(struct vt_word *dst, u128 value)
{
	dst[0] = vt_word_of((uint64_t)value);
	dst[1] = vt_word_of((uint64_t)(value >> 64));
}

static void multiply_wide(struct vt_word *dst, struct vt_word a, struct vt_word b, bool is_signed)
{
	dst[0] = vti_fast_mul(a, b, 64);
	dst[1] = vt_word_unknown(64);
	if (vti_fast_max(a) == 0 || vti_fast_max(b) == 0)
		dst[1] = vt_word_of(0);
	else if (vt_word_is_known(a) && vt_word_is_known(b))
		put_u128(dst, is_signed ? (u128)((s128)(int64_t)a.value * (int64_t)b.value)
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

/* pmaddubsw: sums of two products of an unsigned byte of the first and a signed one of the other.
 */
VTI_OPERATOR(PwExtUSMulQAdd8x16)
{
	uint8_t a[16];
	int8_t b[16];
	uint16_t known_a[8];
	uint16_t known_b[8];
	int16_t sum[8];

	split_lanes(args[0], 16, a, known_a);
	split_lanes(args[1], 16, b, known_b);
	for (unsigned i = 0; i < 8; i++) {
		const int both = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
		const bool known = (known_a[i] & known_b[i]) == UINT16_MAX;

		known_a[i] = known ? UINT16_MAX : 0;
		sum[i] = (int16_t)(known ? clamp_int(both, INT16_MIN, INT16_MAX) : 0);
	}
	join_lanes(dst, 16, sum, known_a);
}

/* Bit 7 of each byte, each bit as known as it was. */
static void gather_signs(struct vt_word *dst, const struct vt_word *a, unsigned bytes)
{
	uint8_t in[2][16];
	uint64_t value = 0;
	uint64_t known = 0;

	split_lanes(a, bytes, in[0], in[1]);
	for (unsigned i = 0; i < bytes; i++) {
		value |= (uint64_t)(in[0][i] >> 7) << i;
		known |= (uint64_t)(in[1][i] >> 7) << i;
	}
	*dst = vti_word_make(value, known, bytes);
}

VTI_OPERATOR(GetMSBs8x8)
{
	gather_signs(dst, args[0], 8);
}

VTI_OPERATOR(GetMSBs8x16)
{
	gather_signs(dst, args[0], 16);
}

#define UNARY(op, result)		       VTI_IROP_SLOT(op) = {op_##op, 1, 1},
#define BINARY(op, result)		       VTI_IROP_SLOT(op) = {op_##op, 2, 1},
#define LANES(op, type, bytes, result)	       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define EQUAL(op, type, bytes)		       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define GREATER(op, type, utype, bytes)	       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define SHIFT(op, type, bytes, shift)	       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define INTERLEAVE(op, type, bytes, first)     VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define EVERY_OTHER(op, type, bytes, first)    VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define NARROW(op, from, to, bytes, low, high) VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define CHOOSE(op, type, bytes)		       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define CHOOSE_OR_ZERO(op, bytes)	       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define WORDS1(op, words, ...)		       VTI_IROP_SLOT(op) = {op_##op, 1, words},
#define WORDS4(op, words, ...)		       VTI_IROP_SLOT(op) = {op_##op, 4, words},

static const struct vti_irop integers[VTI_IROP_COUNT] = {
#include "machine/lift/irop.def"
	VTI_IROP_SLOT(MullU64) = {op_MullU64, 2, 2},
	VTI_IROP_SLOT(MullS64) = {op_MullS64, 2, 2},
	VTI_IROP_SLOT(DivModU128to64) = {op_DivModU128to64, 2, 2},
	VTI_IROP_SLOT(DivModS128to64) = {op_DivModS128to64, 2, 2},
	VTI_IROP_SLOT(DivModU64to64) = {op_DivModU64to64, 2, 2},
	VTI_IROP_SLOT(DivModS64to64) = {op_DivModS64to64, 2, 2},
	VTI_IROP_SLOT(PwExtUSMulQAdd8x16) = {op_PwExtUSMulQAdd8x16, 2, 2},
	VTI_IROP_SLOT(GetMSBs8x8) = {op_GetMSBs8x8, 1, 1},
	VTI_IROP_SLOT(GetMSBs8x16) = {op_GetMSBs8x16, 1, 1},
};

/* ---- the search ---- */

static const struct vti_irop *entry_of(const struct vti_irop *table, unsigned irop)
{
	const unsigned slot = irop - Iop_INVALID;

	return slot < VTI_IROP_COUNT && table[slot].fn != NULL ? &table[slot] : NULL;
}

const struct vti_irop *vti_irop_find(unsigned irop)
{
	const struct vti_irop *op = entry_of(integers, irop);

	if (op == NULL)
		op = entry_of(vti_irop_floats, irop);
	if (op == NULL)
		op = entry_of(vti_irop_conversions, irop);
	return op;
}

const struct vti_irop *vti_irop_find_x87(unsigned irop)
{
	const struct vti_irop *op = entry_of(vti_irop_x87_conversions, irop);

	if (irop == Iop_CmpF64)
		op = &vti_irop_x87_compare;
	return op == NULL ? vti_irop_find(irop) : op;
}
