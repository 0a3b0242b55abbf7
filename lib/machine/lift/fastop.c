/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/fastop.h"

#include <libvex_basictypes.h>
#include <libvex_ir.h>

unsigned vti_fast_op(unsigned irop)
{
	switch (irop) {
#define FAST1(name, irop, result)                                                                  \
	case irop:                                                                                 \
		return VTI_FAST_##name;
#define FAST2(name, irop, result) FAST1(name, irop, result)
#define FASTN(name, irop, words, statement)                                                        \
	case irop:                                                                                 \
		return VTI_FAST_##name;
#define ALIAS(irop, opcode)                                                                        \
	case irop:                                                                                 \
		return opcode;
#include "machine/lift/fastop.def"
	default:
		return 0;
	}
}

unsigned vti_fast_words(unsigned opcode)
{
	switch (opcode) {
#define FASTN(name, irop, words, statement)                                                        \
	case VTI_FAST_##name:                                                                      \
		return words;
#include "machine/lift/fastop.def"
	default:
		return 1;
	}
}

/* How many of the lowest bits are known. */
static unsigned known_below(struct vt_word a)
{
	return vt_word_is_known(a) ? 64 : (unsigned)__builtin_ctzll(~a.known);
}

/* How many of the lowest bits are known and zero. */
static unsigned zeros_below(struct vt_word a)
{
	uint64_t ones = a.value | ~a.known;

	return ones ? (unsigned)__builtin_ctzll(ones) : 64;
}

/*
 * With a = a' + 2^m x and b = b' + 2^n y, where a' and b' are known: what x and y bring into the
 * product is a multiple of 2^m b' or of 2^n a', or of both.
 */
struct vt_word vti_fast_mul_unknown(struct vt_word a, struct vt_word b, unsigned bits)
{
	unsigned one = known_below(a) + zeros_below(b);
	unsigned two = known_below(b) + zeros_below(a);
	unsigned n = one < two ? one : two;

	if (n >= bits)
		return vt_word_of(a.value * b.value & vt_low_bits(bits));
	if (!n)
		return vt_word_unknown(bits);
	return (struct vt_word){a.value * b.value & vt_low_bits(n),
				vt_low_bits(n) | ~vt_low_bits(bits)};
}
