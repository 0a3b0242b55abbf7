/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_FASTOP_H
#define VT_MACHINE_LIFT_FASTOP_H

#include "machine/lift/flat.h"
#include "machine/lift/word.h"

/*
 * The operators of fastop.def.  Private to lib/machine and its tests.  Operands are as word.h has
 * them; `bits` is a width of 1 to 64.
 */

enum vti_fast_opcode {
	VTI_FAST_FIRST = VTI_FAST - 1,
#define FAST1(name, irop, result)	    VTI_FAST_##name,
#define FAST2(name, irop, result)	    VTI_FAST_##name,
#define FASTN(name, irop, words, statement) VTI_FAST_##name,
#include "machine/lift/fastop.def"
	VTI_FAST_END
};

/*
 * Reads a word by halves, never at once: words are written so, often right before, and processors
 * wait when a read is wider than the write that it meets.
 */
static inline struct vt_word vti_word_at(const struct vt_word *w)
{
	return (struct vt_word){*(const volatile uint64_t *)&w->value,
				*(const volatile uint64_t *)&w->known};
}

static inline void vti_words_copy(struct vt_word *to, const struct vt_word *from, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		to[i] = vti_word_at(&from[i]);
}

/* The operation for an operator that the interpreter's loop does itself, or 0. */
unsigned vti_fast_op(unsigned irop);

/* How many words the result of such an operation has. */
unsigned vti_fast_words(unsigned opcode);

/* The greatest number that a may be; the least is its value. */
static inline uint64_t vti_fast_max(struct vt_word a)
{
	return a.value | ~a.known;
}

static inline struct vt_word vti_fast_and(struct vt_word a, struct vt_word b)
{
	return (struct vt_word){a.value & b.value,
				(a.known & b.known) | (a.known & ~a.value) | (b.known & ~b.value)};
}

static inline struct vt_word vti_fast_or(struct vt_word a, struct vt_word b)
{
	return (struct vt_word){a.value | b.value, (a.known & b.known) | a.value | b.value};
}

static inline struct vt_word vti_fast_xor(struct vt_word a, struct vt_word b)
{
	uint64_t known = a.known & b.known;

	return (struct vt_word){(a.value ^ b.value) & known, known};
}

static inline struct vt_word vti_fast_not(struct vt_word a, unsigned bits)
{
	return (struct vt_word){~a.value & a.known & vt_low_bits(bits), a.known};
}

/* The bits of a sum are known where those of both operands are and the carry into them is: the
 * carries of the least and of the greatest operands agree. */
static inline struct vt_word vti_fast_sum(struct vt_word a, struct vt_word b, unsigned carry,
					  unsigned bits)
{
	uint64_t amax = vti_fast_max(a), bmax = vti_fast_max(b);
	uint64_t min = a.value + b.value + carry, max = amax + bmax + carry;
	uint64_t cmin = min ^ a.value ^ b.value, cmax = max ^ amax ^ bmax;
	uint64_t known = a.known & b.known & ~(cmin ^ cmax);

	return (struct vt_word){min & known & vt_low_bits(bits), known | ~vt_low_bits(bits)};
}

static inline struct vt_word vti_fast_add(struct vt_word a, struct vt_word b, unsigned bits)
{
	if (vt_word_is_known((struct vt_word){0, a.known & b.known}))
		return vt_word_of((a.value + b.value) & vt_low_bits(bits));
	return vti_fast_sum(a, b, 0, bits);
}

static inline struct vt_word vti_fast_sub(struct vt_word a, struct vt_word b, unsigned bits)
{
	if (vt_word_is_known((struct vt_word){0, a.known & b.known}))
		return vt_word_of((a.value - b.value) & vt_low_bits(bits));
	return vti_fast_sum(a, vti_fast_not(b, bits), 1, bits);
}

/* The low bits of a product, as far as what is unknown cannot reach them. */
struct vt_word vti_fast_mul_unknown(struct vt_word a, struct vt_word b, unsigned bits);

static inline struct vt_word vti_fast_mul(struct vt_word a, struct vt_word b, unsigned bits)
{
	if (vt_word_is_known((struct vt_word){0, a.known & b.known}))
		return vt_word_of(a.value * b.value & vt_low_bits(bits));
	return vti_fast_mul_unknown(a, b, bits);
}

/* VEX leaves open what a shift by the width or more gives; here it is unknown. */
static inline bool vti_fast_shifts(struct vt_word count, unsigned bits)
{
	return vt_word_is_known(count) && count.value < bits;
}

static inline struct vt_word vti_fast_shl(struct vt_word a, struct vt_word count, unsigned bits)
{
	uint64_t low = vt_low_bits(bits);

	if (!vti_fast_shifts(count, bits))
		return vt_word_unknown(bits);
	return (struct vt_word){a.value << count.value & low, ~(~a.known << count.value) | ~low};
}

static inline struct vt_word vti_fast_shr(struct vt_word a, struct vt_word count, unsigned bits)
{
	if (!vti_fast_shifts(count, bits))
		return vt_word_unknown(bits);
	return (struct vt_word){a.value >> count.value, ~(~a.known >> count.value)};
}

/* Both masks shift alike: copies of an unknown sign are unknown, and zero in the value. */
static inline struct vt_word vti_fast_sar(struct vt_word a, struct vt_word count, unsigned bits)
{
	unsigned up = 64 - bits;
	uint64_t low = vt_low_bits(bits);

	if (!vti_fast_shifts(count, bits))
		return vt_word_unknown(bits);
	return (struct vt_word){(uint64_t)((int64_t)(a.value << up) >> up >> count.value) & low,
				(uint64_t)((int64_t)(a.known << up) >> up >> count.value) | ~low};
}

/* ---- comparisons: one bit ---- */

static inline struct vt_word vti_fast_bit(bool known, bool value)
{
	return known ? vt_word_of(value) : vt_word_unknown(1);
}

static inline struct vt_word vti_fast_invert(struct vt_word bit)
{
	return vti_fast_not(bit, 1);
}

static inline struct vt_word vti_fast_equal(struct vt_word a, struct vt_word b)
{
	uint64_t known = a.known & b.known;
	uint64_t differ = (a.value ^ b.value) & known;

	return vti_fast_bit(differ || known == ~UINT64_C(0), !differ);
}

/* Unsigned. */
static inline struct vt_word vti_fast_below(struct vt_word a, struct vt_word b)
{
	bool yes = vti_fast_max(a) < b.value;

	return vti_fast_bit(yes || a.value >= vti_fast_max(b), yes);
}

/* Signed: unsigned with the sign turned round. */
static inline struct vt_word vti_fast_less(struct vt_word a, struct vt_word b, unsigned bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);

	a.value ^= sign & a.known;
	b.value ^= sign & b.known;
	return vti_fast_below(a, b);
}

/* ---- casts ---- */

static inline struct vt_word vti_fast_cut(struct vt_word a, unsigned bits)
{
	return (struct vt_word){a.value & vt_low_bits(bits), a.known | ~vt_low_bits(bits)};
}

static inline struct vt_word vti_fast_extend(struct vt_word a, unsigned from, unsigned to)
{
	unsigned up = 64 - from;
	uint64_t low = vt_low_bits(to);

	return (struct vt_word){(uint64_t)((int64_t)(a.value << up) >> up) & low,
				(uint64_t)((int64_t)(a.known << up) >> up) | ~low};
}

static inline struct vt_word vti_fast_field(struct vt_word a, unsigned from, unsigned bits)
{
	return vti_fast_cut((struct vt_word){a.value >> from, a.known >> from}, bits);
}

static inline struct vt_word vti_fast_join(struct vt_word high, struct vt_word low, unsigned bits)
{
	return (struct vt_word){high.value << bits | low.value,
				high.known << bits | (low.known & vt_low_bits(bits))};
}

/* a, with its lowest 32 bits from b. */
static inline struct vt_word vti_fast_put_low(struct vt_word a, struct vt_word b)
{
	uint64_t low = vt_low_bits(32);

	return (struct vt_word){(a.value & ~low) | b.value, (a.known & ~low) | (b.known & low)};
}

/* What both are, where they agree: the choice by an unknown condition. */
static inline struct vt_word vti_fast_either(struct vt_word a, struct vt_word b)
{
	uint64_t known = a.known & b.known & ~(a.value ^ b.value);

	return (struct vt_word){a.value & known, known};
}

/* ---- several words ---- */

static inline void vti_fast_and_words(struct vt_word *d, const struct vt_word *a,
				      const struct vt_word *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		d[i] = vti_fast_and(a[i], b[i]);
}

static inline void vti_fast_or_words(struct vt_word *d, const struct vt_word *a,
				     const struct vt_word *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		d[i] = vti_fast_or(a[i], b[i]);
}

static inline void vti_fast_xor_words(struct vt_word *d, const struct vt_word *a,
				      const struct vt_word *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		d[i] = vti_fast_xor(a[i], b[i]);
}

static inline void vti_fast_not_words(struct vt_word *d, const struct vt_word *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		d[i] = vti_fast_not(a[i], 64);
}

#endif
