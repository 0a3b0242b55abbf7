/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/irop_lanes.h"

#define INTERLEAVE(op, type, bytes, first)                                                         \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		type in[2][2][(bytes) / sizeof(type)];                                             \
		type out[2][(bytes) / sizeof(type)];                                               \
                                                                                                   \
		vti_split(args[1], bytes, in[0][0], in[1][0]);                                     \
		vti_split(args[0], bytes, in[0][1], in[1][1]);                                     \
		for (unsigned i = 0; i < (bytes) / sizeof(type); i++) {                            \
			out[0][i] = in[0][i % 2][(first) + i / 2];                                 \
			out[1][i] = in[1][i % 2][(first) + i / 2];                                 \
		}                                                                                  \
		vti_join(dst, bytes, out[0], out[1]);                                              \
	}

#define EVERY_OTHER(op, type, bytes, first)                                                        \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const unsigned half = (bytes) / sizeof(type) / 2;                                  \
		type in[2][2][(bytes) / sizeof(type)];                                             \
		type out[2][(bytes) / sizeof(type)];                                               \
                                                                                                   \
		vti_split(args[1], bytes, in[0][0], in[1][0]);                                     \
		vti_split(args[0], bytes, in[0][1], in[1][1]);                                     \
		for (unsigned i = 0; i < 2 * half; i++) {                                          \
			out[0][i] = in[0][i / half][i % half * 2 + (first)];                       \
			out[1][i] = in[1][i / half][i % half * 2 + (first)];                       \
		}                                                                                  \
		vti_join(dst, bytes, out[0], out[1]);                                              \
	}

#define NARROW(op, from, to, bytes, low, high)                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		from in[2 * (bytes) / sizeof(from)];                                               \
		from known[2 * (bytes) / sizeof(from)];                                            \
		to out[2][(bytes) / sizeof(to)];                                                   \
                                                                                                   \
		vti_split(args[1], bytes, in, known);                                              \
		vti_split(args[0], bytes, in + (bytes) / sizeof(from),                             \
			  known + (bytes) / sizeof(from));                                         \
		for (unsigned i = 0; i < (bytes) / sizeof(to); i++) {                              \
			const from x = in[i] < (low) ? (low) : in[i];                              \
			const from y = x > (high) ? (high) : x;                                    \
			const to all = known[i] == (from)-1 ? (to)-1 : 0;                          \
                                                                                                   \
			out[0][i] = (to)((to)y & all);                                             \
			out[1][i] = all;                                                           \
		}                                                                                  \
		vti_join(dst, bytes, out[0], out[1]);                                              \
	}

/* VEX leaves lanes that are told to come from outside the vector undefined. */
#define CHOOSE(op, type, bytes)                                                                    \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const unsigned lanes = (bytes) / sizeof(type);                                     \
		type in[2][(bytes) / sizeof(type)];                                                \
		type which[2][(bytes) / sizeof(type)];                                             \
                                                                                                   \
		vti_split(args[0], bytes, in[0], in[1]);                                           \
		vti_split(args[1], bytes, which[0], which[1]);                                     \
		for (unsigned i = 0; i < lanes; i++) {                                             \
			const type from = which[0][i];                                             \
			const bool known = which[1][i] == (type)-1 && from < lanes;                \
                                                                                                   \
			which[0][i] = known ? in[0][from % lanes] : 0;                             \
			which[1][i] = known ? in[1][from % lanes] : 0;                             \
		}                                                                                  \
		vti_join(dst, bytes, which[0], which[1]);                                          \
	}

/* A control byte's highest bit asks for a zero; the bits above the index are not defined. */
#define CHOOSE_OR_ZERO(op, bytes)                                                                  \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		uint8_t in[2][bytes];                                                              \
		uint8_t which[2][bytes];                                                           \
                                                                                                   \
		vti_split(args[0], bytes, in[0], in[1]);                                           \
		vti_split(args[1], bytes, which[0], which[1]);                                     \
		for (unsigned i = 0; i < (bytes); i++) {                                           \
			const uint8_t from = which[0][i];                                          \
			const bool zero = from >> 7;                                               \
			const bool known = which[1][i] == UINT8_MAX && from < (bytes);             \
                                                                                                   \
			which[0][i] = known ? in[0][from % (bytes)] : 0;                           \
			which[1][i] = known ? in[1][from % (bytes)] : zero ? UINT8_MAX : 0;        \
		}                                                                                  \
		vti_join(dst, bytes, which[0], which[1]);                                          \
	}

static inline struct vt_word low_half_of(struct vt_word all, struct vt_word low)
{
	const uint64_t high = ~vt_low_bits(32);

	return (struct vt_word){(all.value & high) | low.value,
				(all.known & high) | (low.known & ~high)};
}

#define WORDS1(op, words, ...)                                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const struct vt_word *a = args[0];                                                 \
		const struct vt_word result[words] = {__VA_ARGS__};                                \
                                                                                                   \
		memcpy(dst, result, sizeof(result));                                               \
	}
#define WORDS2(op, words, ...)                                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		const struct vt_word *a = args[0];                                                 \
		const struct vt_word *b = args[1];                                                 \
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

#include "machine/lift/irop_shuffle.def"
#undef INTERLEAVE
#undef EVERY_OTHER
#undef NARROW
#undef CHOOSE
#undef CHOOSE_OR_ZERO
#undef WORDS1
#undef WORDS2
#undef WORDS4

/* Bit 7 of each byte, each bit as known as it was. */
static void gather_signs(struct vt_word *dst, const struct vt_word *a, unsigned bytes)
{
	uint8_t in[2][16];
	uint64_t value = 0;
	uint64_t known = 0;

	vti_split(a, bytes, in[0], in[1]);
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

#define INTERLEAVE(op, type, bytes, first)     VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define EVERY_OTHER(op, type, bytes, first)    VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define NARROW(op, from, to, bytes, low, high) VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define CHOOSE(op, type, bytes)		       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define CHOOSE_OR_ZERO(op, bytes)	       VTI_IROP_SLOT(op) = {op_##op, 2, (bytes) / 8},
#define WORDS1(op, words, ...)		       VTI_IROP_SLOT(op) = {op_##op, 1, words},
#define WORDS2(op, words, ...)		       VTI_IROP_SLOT(op) = {op_##op, 2, words},
#define WORDS4(op, words, ...)		       VTI_IROP_SLOT(op) = {op_##op, 4, words},

static const struct vti_irop shuffles[VTI_IROP_COUNT] = {
#include "machine/lift/irop_shuffle.def"
	VTI_IROP_SLOT(GetMSBs8x8) = {op_GetMSBs8x8, 1, 1},
	VTI_IROP_SLOT(GetMSBs8x16) = {op_GetMSBs8x16, 1, 1},
};

const struct vti_irop *vti_irop_shuffle(unsigned irop)
{
	const unsigned slot = irop - Iop_INVALID;

	return slot < VTI_IROP_COUNT && shuffles[slot].fn != NULL ? &shuffles[slot] : NULL;
}
