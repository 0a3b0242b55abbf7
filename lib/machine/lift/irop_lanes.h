/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_IROP_LANES_H
#define VT_MACHINE_LIFT_IROP_LANES_H

#include <string.h>

#include "machine/lift/irop.h"

/* What the files that implement operators share.  Private to them. */

/* Each of these knows the operators of one file; NULL: not one of them. */
const struct vti_irop *vti_irop_scalar(unsigned irop);
const struct vti_irop *vti_irop_vector(unsigned irop);
const struct vti_irop *vti_irop_shuffle(unsigned irop);
const struct vti_irop *vti_irop_float(unsigned irop);
const struct vti_irop *vti_irop_convert(unsigned irop);
/* Those for which MXCSR makes a difference, for the x87. */
const struct vti_irop *vti_irop_float_x87(unsigned irop);
const struct vti_irop *vti_irop_convert_x87(unsigned irop);

/* Tables are indexed by the number of the operator, counted from VEX's first. */
#define VTI_IROP_SLOT(op) [Iop_##op - Iop_INVALID]
#define VTI_IROP_COUNT	  (Iop_LAST - Iop_INVALID)

#define VTI_IROP_WORDS_MAX 4
#define VTI_IROP_BYTES_MAX 32

#define VTI_UNUSED __attribute__((unused))

/* The beginning of the operator's function, which is op_NAME. */
#define VTI_OPERATOR(op)                                                                           \
	static void op_##op(const struct vti_fpmode *mode VTI_UNUSED, struct vt_word *dst,         \
			    const struct vt_word *const *args)

/* A number of so many bits of which these are known. */
static inline struct vt_word vti_word_make(uint64_t value, uint64_t known, unsigned bits)
{
	const uint64_t mask = vt_low_bits(bits);

	return (struct vt_word){value & known & mask, known | ~mask};
}

static inline uint64_t vti_sign_extend(uint64_t value, unsigned bits)
{
	return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static inline struct vt_word vti_and(struct vt_word a, struct vt_word b)
{
	return (struct vt_word){a.value & b.value,
				(a.known & b.known) | (a.known & ~a.value) | (b.known & ~b.value)};
}

static inline struct vt_word vti_or(struct vt_word a, struct vt_word b)
{
	return (struct vt_word){a.value | b.value, (a.known & b.known) | a.value | b.value};
}

static inline struct vt_word vti_xor(struct vt_word a, struct vt_word b)
{
	const uint64_t known = a.known & b.known;

	return (struct vt_word){(a.value ^ b.value) & known, known};
}

/* The values and what is known of them, as the machine has them in memory. */
static inline void vti_split(const struct vt_word *w, unsigned bytes, void *value, void *known)
{
	for (unsigned i = 0; i < bytes / 8; i++) {
		memcpy((char *)value + 8 * i, &w[i].value, 8);
		memcpy((char *)known + 8 * i, &w[i].known, 8);
	}
}

static inline void vti_join(struct vt_word *w, unsigned bytes, const void *value, const void *known)
{
	for (unsigned i = 0; i < bytes / 8; i++) {
		memcpy(&w[i].value, (const char *)value + 8 * i, 8);
		memcpy(&w[i].known, (const char *)known + 8 * i, 8);
	}
}

#endif
