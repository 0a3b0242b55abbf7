/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FUZZ_NUMBER_H
#define TESTS_FUZZ_NUMBER_H

#include "base/bytes.h"

/*
 * The next number of an input: a byte says how many more bytes it has (0 to 8, the most significant
 * one first); beyond that it is that byte less 9.
 */
static inline uint64_t fuzz_number(struct vt_cursor *c)
{
	uint8_t size = vt_cursor_u8(c);
	uint64_t v = 0;

	if (size > 8)
		return size - 9u;
	for (; size; size--)
		v = v << 8 | vt_cursor_u8(c);
	return v;
}

#endif
