/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_WORD_H
#define VT_MACHINE_LIFT_WORD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A number of which each bit is known or unknown.  Bit i of `value` is valid if bit i of `known` is
 * 1; otherwise both are 0.  A number of less than 64 bits has known zeros above its width.  A
 * number of more bits has several words, lowest first.
 *
 * Known bits are always right: a computation may only set a bit of `known` if all values of the
 * unknown bits of its operands give the same result bit.
 */
struct vt_word {
	uint64_t value;
	uint64_t known;
};

/* Returns a mask of the lowest `bits` bits, 1 to 64. */
static inline uint64_t vt_low_bits(unsigned bits)
{
	return ~UINT64_C(0) >> ((64 - bits) & 63);
}

static inline struct vt_word vt_word_of(uint64_t value)
{
	return (struct vt_word){value, ~UINT64_C(0)};
}

/* Returns a number of `bits` unknown bits. */
static inline struct vt_word vt_word_unknown(unsigned bits)
{
	return (struct vt_word){0, ~vt_low_bits(bits)};
}

static inline bool vt_word_is_known(struct vt_word w)
{
	return w.known == ~UINT64_C(0);
}

#endif
