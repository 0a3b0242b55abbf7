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
	const uint8_t *bytes; /* VT_KNOWN_LINE of them, borrowed */
};

/*
 * Sorts `count` lines, of which line i has the VT_KNOWN_LINE bytes at bytes + VT_KNOWN_LINE * i, by
 * address into `lines`, which has room for all, and returns their number.  A line that is there
 * again with the same bytes is kept once.  One that is there with other bytes is left out, and
 * counted once in *contradictory, which is set.  Returns SIZE_MAX if an address is not a multiple
 * of VT_KNOWN_LINE.
 */
size_t vt_lines_sort(struct vt_line *lines, const uint64_t *addr, const uint8_t *bytes,
		     size_t count, size_t *contradictory);

/* Returns the index of the first of `count` sorted lines that ends behind `addr`; count: none does.
 */
size_t vt_lines_find(const struct vt_line *lines, size_t count, uint64_t addr);

#endif
