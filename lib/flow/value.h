/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_VALUE_H
#define VT_FLOW_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What is known of a register's or a word's value, for finding the targets of indirect jumps: a
 * range of numbers; or an entry of a table, plus a number.
 *
 * Two values with the same name (`sym`, not 0), distance and width are equal: so what a comparison
 * tells of one holds for the other.
 */
struct vti_value {
	uint64_t sym;	 /* where it came from; 0: unknown, or a constant */
	uint64_t off;	 /* what was added since */
	uint8_t width;	 /* 8, 16, 32, 64: of the sum, so many low bits, zero-extended */
	bool sext;	 /* sign-extended instead */
	bool entry;	 /* an entry of a table, whose address lo … hi tell */
	bool computed;	 /* from other values: no pointer as it was in memory */
	uint8_t size;	 /* of the entry: bytes */
	bool is_signed;	 /* the entry is sign-extended */
	uint64_t add;	 /* to the entry */
	uint64_t lo, hi; /* unsigned, both included */
	uint64_t stride; /* lo, lo + stride, … hi; 0: constant */
};

/* So many bits. */
uint64_t vti_mask(unsigned width);

struct vti_value vti_value_constant(uint64_t n);
struct vti_value vti_value_unknown(uint64_t sym);
struct vti_value vti_value_range(uint64_t sym, uint64_t hi);
bool vti_value_is_constant(const struct vti_value *v, uint64_t n);

/* The same number whatever it is. */
bool vti_value_same(const struct vti_value *a, const struct vti_value *b);

/* The low `width` bits, zero-extended. */
struct vti_value vti_value_low(const struct vti_value *v, unsigned width);

/* Sums, products with a constant and the like are called `sym` where they have no better name. */
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

/* What may be either. */
struct vti_value vti_value_join(const struct vti_value *a, const struct vti_value *b, uint64_t sym);

#endif
