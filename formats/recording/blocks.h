/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_RECORDING_BLOCKS_H
#define FORMATS_RECORDING_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * What there is to know of each basic block to count and cut its executions: how many instructions
 * it has and how many bytes of values each of them leaves.
 */
struct rc_blocks {
	/* For each id, instructions << 32 | bytes of values, so that one addition sums up both;
	 * RC_UNKNOWN for an id that is not known. */
	uint64_t *sums;
	uint32_t *first_slot; /* of each id in `slots` */
	size_t end;	      /* one more than the largest id */
	size_t sums_cap;
	size_t first_cap;
	uint64_t known;	 /* ids so far */
	uint32_t *slots; /* instruction << 16 | bytes; each block's end with RC_NO_SLOT */
	size_t nslots;
	size_t slots_cap;
};

#define RC_NO_SLOT UINT32_MAX

/* Blocks whose sums may be added up before anybody looks. */
#define RC_BATCH 512

/*
 * More instructions than RC_BATCH blocks can have, so that one unknown block shows in a sum of
 * them, and so few that the sum of RC_BATCH unknown ones does not overflow.
 */
#define RC_UNKNOWN_INSNS (1u << 22)
#define RC_UNKNOWN	 ((uint64_t)RC_UNKNOWN_INSNS << 32)

void vti_rc_blocks_fini(struct rc_blocks *t);

/*
 * Adds a block.  `slots` are as the field of BLOCK has them, `lengths` those of its instructions.
 * -VT_E_DAMAGED: it contradicts itself, the limits of the format, or the id is taken; -VT_E_NOMEM.
 */
struct rc_block {
	uint32_t id;
	uint32_t size;
	uint32_t ninsns;
	uint32_t nslots;
	uint32_t data_size;
	const uint64_t *slots;
	const uint8_t *lengths;
};
int vti_rc_blocks_add(struct rc_blocks *t, const struct rc_block *b, struct vt_error *err);

static inline uint32_t rc_sum_insns(uint64_t sum)
{
	return (uint32_t)(sum >> 32);
}

static inline uint32_t rc_sum_data(uint64_t sum)
{
	return (uint32_t)sum;
}

/* Bytes of values that the first `insns` instructions of a known block leave. */
uint32_t vti_rc_data_before(const struct rc_blocks *t, uint32_t id, uint32_t insns);

#endif
