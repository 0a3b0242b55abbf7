/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_ACCESSES_H
#define VT_MEMORY_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/bblock.h"

/* Which slots of a basic block make up its memory accesses. */

#define VTI_NO_SLOT UINT32_MAX

enum vti_access_role {
	VTI_ACCESS_DATA,
	VTI_ACCESS_CALL,   /* a call stores its return address */
	VTI_ACCESS_RETURN, /* a return loads it */
};

struct vti_block_access {
	uint32_t address; /* slot */
	uint32_t value;	  /* slot */
	uint32_t guard;	  /* slot, or VTI_NO_SLOT: 0 there means that the access did not happen */
	uint32_t insn;
	uint16_t size; /* in bytes */
	bool store;
	uint8_t role; /* enum vti_access_role */
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
