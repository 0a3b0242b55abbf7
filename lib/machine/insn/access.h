/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INSN_ACCESS_H
#define VT_MACHINE_INSN_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/bblock.h"

struct vt_facts; /* machine/insn/insn.h */

/*
 * The memory accesses of the instructions of a basic block: which slots tell of each, and which
 * accesses no slot tells of.
 *
 *	struct vt_access_cursor c = {.block = b};
 *
 *	for (insn = 0; insn < b->ninsns; insn++) {
 *		vt_access_start(&c, insn, facts);
 *		while (vt_access_next(&c, &a))
 *			...
 *	}
 */

#define VT_ACCESS_NO_SLOT UINT32_MAX

struct vt_access_slots {
	uint32_t address; /* slot with its effective address, or VT_ACCESS_NO_SLOT */
	uint32_t value;	  /* slot, or VT_ACCESS_NO_SLOT */
	uint32_t guard;	  /* slot, or VT_ACCESS_NO_SLOT; 0 there: the access did not happen */
	uint16_t insn;	  /* index in the block */
	uint16_t size;	  /* in bytes; 0: not known */
	bool store;
};

/* Where the accesses of a block are read.  Starts with its block only. */
struct vt_access_cursor {
	const struct vt_bblock *block;
	const struct vt_facts *facts;
	uint32_t insn;
	uint32_t slot;
	uint32_t memory; /* the next one of `facts`: as a load, and behind these as a store */
	bool loads;	 /* slots tell of some */
	bool stores;
};

/*
 * Goes on to instruction `insn`, which must not be before the one that the cursor is at.  `facts`
 * are the instruction's, borrowed until the next start; NULL or empty: only slots tell.
 */
void vt_access_start(struct vt_access_cursor *c, uint32_t insn, const struct vt_facts *facts);

/*
 * Finds the next access of the instruction, in the order of execution.  Of each, a guard, an
 * address of 64 bits and a value may have been recorded, in this order.  The size is the value's;
 * without, that of the instruction's first memory operand in this direction.
 *
 * If no slot tells of a load, the loads of the facts come after the slots; likewise stores.  These
 * have no slots: one access for all elements of a gather, and for all repetitions.
 *
 * Returns false if there are no more.
 */
bool vt_access_next(struct vt_access_cursor *c, struct vt_access_slots *a);

/* The bytes of the first memory operand that the instruction loads, or stores; 0: there is none. */
uint16_t vt_access_size(const struct vt_facts *f, bool store);

#endif
