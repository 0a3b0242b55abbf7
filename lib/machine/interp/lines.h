/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_LINES_H
#define VT_MACHINE_INTERP_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/interp/known_memory.h"

/* The lines of memory that a sample of values has (`line_addr` and `lines` of SAMPLE). */

struct vt_line {
	uint64_t addr;
	uint64_t read;	      /* bit n: byte n is known */
	const uint8_t *bytes; /* the known ones, one behind the other, borrowed */
};

/*
 * Sorts `count` lines by address into `lines`, which has room for all, and returns their number.
 * Line i has the bytes of the mask read[i], or all if `read` is NULL; `bytes` has those of the
 * first line, then those of the next, `size` in all.
 *
 * A line that is there again with the same bytes is kept once.  One that is there with others is
 * left out, and counted once in *contradictory, which is set.  Returns SIZE_MAX if an address is
 * not a multiple of VT_KNOWN_LINE, a mask is empty, or `size` is not the number of all bytes.
 */
size_t vt_lines_sort(struct vt_line *lines, const uint64_t *addr, const uint64_t *read,
		     const uint8_t *bytes, size_t size, size_t count, size_t *contradictory);

/* The number of known bytes of a line. */
static inline unsigned vt_line_size(const struct vt_line *l)
{
	return (unsigned)__builtin_popcountll(l->read);
}

/*
 * Copies what is known from byte `at` of a line on without a gap, at most `size` bytes.  Returns
 * their number.
 */
size_t vt_line_copy(const struct vt_line *l, unsigned at, uint8_t *to, size_t size);

/* Puts the known bytes at their places.  Returns their mask. */
uint64_t vt_line_fill(const struct vt_line *l, uint8_t to[VT_KNOWN_LINE]);

/* Returns the index of the first of `count` sorted lines that ends behind `addr`; count: none does.
 */
size_t vt_lines_find(const struct vt_line *lines, size_t count, uint64_t addr);

#endif
