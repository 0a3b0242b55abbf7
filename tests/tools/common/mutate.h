/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TOOLS_COMMON_MUTATE_H
#define TESTS_TOOLS_COMMON_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct mutate_input {
	const uint8_t *data;
	size_t size;
};

/*
 * Damaged variant number `n` of some of `count` inputs (at least one), without knowledge of their
 * format, into out[max].  Returns its size, at most max.  The same inputs, seed and number give the
 * same bytes on every machine.
 */
size_t mutate_inputs(const struct mutate_input *in, size_t count, uint64_t seed, uint64_t n,
		     uint8_t *out, size_t max);

#endif
