/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_WORD_H
#define VT_MACHINE_LIFT_WORD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A number of which each bit is known or not.  Bit i of `value` counts where bit i of `known` is 1;
 * where it is 0, so is the bit of `value`.  A number narrower than 64 bits has zeros above its
 * width, and they are known.  A wider one is several words, lowest first.
 *
 * What is known is true: nothing that computes with words may set a bit of `known` unless every
 * choice of the unknown bits of its operands gives the same bit.
 */
struct vt_word {
	uint64_t value;
	uint64_t known;
};

/* The lowest `bits` bits, 1 to 64. */
static inline uint64_t vt_low_bits(unsigned bits)
{
	return ~UINT64_C(0) >> ((64 - bits) & 63);
}

static inline struct vt_word vt_word_of(uint64_t value)
{
	return (struct vt_word){value, ~UINT64_C(0)};
}

/* A number of so many bits of which nothing is known. */
static inline struct vt_word vt_word_unknown(unsigned bits)
{
	return (struct vt_word){0, ~vt_low_bits(bits)};
}

static inline bool vt_word_is_known(struct vt_word w)
{
	return w.known == ~UINT64_C(0);
}

#endif
