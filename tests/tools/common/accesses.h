/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOOLS_ACCESSES_H
#define TOOLS_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/exec.h"

/* The memory accesses of a recorded instruction, from its slots. */

#define MOST_ACCESSES 64 /* of one instruction */

struct access {
	const uint8_t *addr, *value; /* in the record; NULL: not recorded */
	uint32_t insn;		     /* index in the block */
	uint16_t addr_size, size;
	bool store;
	bool happened; /* not ruled out by a guard */
};

/*
 * The accesses of the instruction whose slots are `slot` to `end` - 1, in their order.  Addresses
 * and values are paired in the order of each.  Returns how many; ends the program when there are
 * more than MOST_ACCESSES.
 */
size_t accesses_of(const struct vt_step *s, uint32_t slot, uint32_t end, struct access *list);

/* A number of at most 8 bytes. */
uint64_t bytes_number(const uint8_t *p, unsigned size);

/*
 * Valgrind does a bit test of a register by a register to a copy of it in memory, 8 bytes at *addr,
 * and that is not recorded; but there are programs that read such memory later, of variables that
 * they never set.  False when this slot says of no such thing.
 */
bool is_bit_test(const struct vt_step *s, uint32_t slot, uint64_t *addr);

#endif
