/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_ACCESSES_H
#define VT_MEMORY_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/insn/access.h"
#include "stream/bblock.h"

/* The memory accesses of a basic block whose addresses and values were recorded. */

enum vti_access_role {
	VTI_ACCESS_DATA,
	VTI_ACCESS_CALL,   /* a call stores its return address */
	VTI_ACCESS_RETURN, /* a return loads it */
};

struct vti_block_access {
	struct vt_access_slots slots; /* with an address and a value */
	uint8_t role;		      /* enum vti_access_role */
};

struct vti_block_accesses {
	struct vti_block_access *list; /* in the order of execution */
	uint32_t count;
	uint32_t incomplete; /* loads and stores without an address, or without a value */
};

/*
 * Finds the accesses of a block.  `list` is then the caller's to free().  Returns false when memory
 * runs out.
 */
bool vti_block_accesses_make(struct vti_block_accesses *a, const struct vt_bblock *b);

#endif
