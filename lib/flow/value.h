/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_VALUE_H
#define VT_FLOW_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * An abstract value of a register or memory word, for finding the targets of indirect jumps: a
 * range of numbers, or an entry of a table plus a constant.
 *
 * Two values with the same name (`sym`, not 0), `off` and width are equal, so the result of a
 * comparison of one applies to the other.
 */
struct vti_value {
	uint64_t sym;	 /* name of its origin; 0: unknown, or a constant */
	uint64_t off;	 /* added since */
	uint8_t width;	 /* 8, 16, 32, 64: low bits of the sum, zero-extended */
	bool sext;	 /* sign-extended instead */
	bool entry;	 /* an entry of a table whose address is lo … hi */
	bool computed;	 /* computed from other values, so not a pointer from memory */
	uint8_t size;	 /* of the entry, bytes */
	bool is_signed;	 /* the entry is sign-extended */
	uint64_t add;	 /* added to the entry */
	uint64_t lo, hi; /* unsigned, both included */
	uint64_t stride; /* lo, lo + stride, … hi; 0: constant */
};

/* Returns a number whose `width` low bits are set. */
uint64_t vti_mask(unsigned width);

struct vti_value vti_value_constant(uint64_t n);
struct vti_value vti_value_unknown(uint64_t sym);
struct vti_value vti_value_range(uint64_t sym, uint64_t hi);

/* Returns true if both are the same number, whatever it is. */
bool vti_value_same(const struct vti_value *a, const struct vti_value *b);

/* Returns the low `width` bits, zero-extended. */
struct vti_value vti_value_low(const struct vti_value *v, unsigned width);

/* Arithmetic.  The result is named `sym` unless it has a better name. */
struct vti_value vti_value_add(const struct vti_value *a, const struct vti_value *b, unsigned width,
			       uint64_t sym);
struct vti_value vti_value_times(const struct vti_value *v, uint64_t factor, unsigned width,
				 uint64_t sym);
struct vti_value vti_value_and(const struct vti_value *v, uint64_t with, unsigned width,
			       uint64_t sym);
struct vti_value vti_value_shift_right(const struct vti_value *v, unsigned by, unsigned width,
				       uint64_t sym);
struct vti_value vti_value_sign_extend(const struct vti_value *v, unsigned from, unsigned width,
				       uint64_t sym);

/* Returns a value that includes both, named `sym` if they differ. */
struct vti_value vti_value_join(const struct vti_value *a, const struct vti_value *b, uint64_t sym);

#endif
