/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/irop_lanes.h"

/*
 * The loops over lanes have no branches, so that compilers make vector code of them: a lane's
 * result is computed always, and cleared where it is not known.
 */

static inline int clamp(int x, int low, int high)
{
	const int above = x < low ? low : x;

	return above > high ? high : above;
}

#define BINARY(op, type, bytes, result)                                                            \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		type a[(bytes) / sizeof(type)];                                                    \
		type b[(bytes) / sizeof(type)];                                                    \
		type known_a[(bytes) / sizeof(type)];                                              \
		type known_b[(bytes) / sizeof(type)];                                              \
                                                                                                   \
		vti_split(args[0], bytes, a, known_a);                                             \
		vti_split(args[1], bytes, b, known_b);                                             \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			const type x = a[i];                                                       \
			const type y = b[i];                                                       \
			const bool known = (type)(known_a[i] & known_b[i]) == (type)-1;            \
                                                                                                   \
			known_a[i] = known ? (type)-1 : 0;                                         \
			a[i] = (type)((type)(result)&known_a[i]);                                  \
		}                                                                                  \
		vti_join(dst, bytes, a, known_a);                                                  \
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
		vti_split(args[0], bytes, a, known_a);                                             \
		vti_split(args[1], bytes, b, known_b);                                             \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			const type both = known_a[i] & known_b[i];                                 \
			const type differ = (a[i] ^ b[i]) & both;                                  \
			const type same = differ == 0 ? (type)-1 : 0;                              \
			const type all = both == (type)-1 ? (type)-1 : 0;                          \
                                                                                                   \
			a[i] = same & all;                                                         \
			known_a[i] = (type)~same | all;                                            \
		}                                                                                  \
		vti_join(dst, bytes, a, known_a);                                                  \
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
		vti_split(args[0], bytes, a, known_a);                                             \
		vti_split(args[1], bytes, b, known_b);                                             \
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
		vti_join(dst, bytes, a, known_a);                                                  \
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
		vti_split(args[0], bytes, a, known);                                               \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			a[i] = (type)(a[i] shift n);                                               \
			known[i] = (type) ~((type)~known[i] shift n);                              \
		}                                                                                  \
		vti_join(dst, bytes, a, known);                                                    \
	}

#define BITWISE(op, words, function)                                                               \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		for (unsigned i = 0; i < (words); i++)                                             \
			dst[i] = function(args[0][i], args[1][i]);                                 \
	}

#include "machine/lift/irop_vector.def"
#undef BINARY
#undef EQUAL
#undef GREATER
#undef SHIFT
#undef BITWISE

VTI_OPERATOR(NotV128)
{
	for (unsigned i = 0; i < 2; i++)
		dst[i] = vti_word_make(~args[0][i].value, args[0][i].known, 64);
}

VTI_OPERATOR(NotV256)
{
	for (unsigned i = 0; i < 4; i++)
		dst[i] = vti_word_make(~args[0][i].value, args[0][i].known, 64);
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

	vti_split(args[0], 16, a, known_a);
	vti_split(args[1], 16, b, known_b);
	for (unsigned i = 0; i < 8; i++) {
		const int both = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
		const bool known = (known_a[i] & known_b[i]) == UINT16_MAX;

		known_a[i] = known ? UINT16_MAX : 0;
		sum[i] = (int16_t)(known ? clamp(both, INT16_MIN, INT16_MAX) : 0);
	}
	vti_join(dst, 16, sum, known_a);
}

#define BINARY(op, type, bytes, result) VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define EQUAL(op, type, bytes)		VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define GREATER(op, type, utype, bytes) VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define SHIFT(op, type, bytes, shift)	VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define BITWISE(op, words, function)	VTI_IROP_SLOT(op) = {op_##op, 2, words},

static const struct vti_irop vectors[VTI_IROP_COUNT] = {
#include "machine/lift/irop_vector.def"
	VTI_IROP_SLOT(NotV128) = {op_NotV128, 1, 2},
	VTI_IROP_SLOT(NotV256) = {op_NotV256, 1, 4},
	VTI_IROP_SLOT(PwExtUSMulQAdd8x16) = {op_PwExtUSMulQAdd8x16, 2, 2},
};

const struct vti_irop *vti_irop_vector(unsigned irop)
{
	const unsigned slot = irop - Iop_INVALID;

	return slot < VTI_IROP_COUNT && vectors[slot].fn != NULL ? &vectors[slot] : NULL;
}
