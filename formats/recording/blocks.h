/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_RECORDING_BLOCKS_H
#define FORMATS_RECORDING_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The properties of basic blocks that are needed to count and cut executions: the number of
 * instructions, and the bytes of values of each of them.
 */
struct rc_blocks {
	/* Of each id: instructions << 32 | bytes of values, so that one addition sums up both;
	 * RC_UNKNOWN for an unknown id. */
	uint64_t *sums;
	uint32_t *first_slot; /* of each id: its first one in `slots` */
	size_t end;	      /* one more than the largest id */
	size_t sums_cap;
	size_t first_cap;
	uint64_t known;	 /* ids so far */
	uint32_t *slots; /* instruction << 16 | bytes; those of a block end with RC_NO_SLOT */
	size_t nslots;
	size_t slots_cap;
};

#define RC_NO_SLOT UINT32_MAX

/* The most blocks whose sums may be added up without a check. */
#define RC_BATCH 512

/*
 * More instructions than RC_BATCH blocks can have, so that a sum with an unknown block can be
 * recognised; and so few that the sum of RC_BATCH unknown blocks does not overflow.
 */
#define RC_UNKNOWN_INSNS (1u << 22)
#define RC_UNKNOWN	 ((uint64_t)RC_UNKNOWN_INSNS << 32)

void vti_rc_blocks_fini(struct rc_blocks *t);

/*
 * Adds a block.  `slots` are those of a BLOCK record, `lengths` those of its instructions.
 * -VT_E_DAMAGED: it is contradictory or beyond the limits of the format, or the id is in use;
 * -VT_E_NOMEM.
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

/* The bytes of values of the first `insns` instructions of a known block. */
uint32_t vti_rc_data_before(const struct rc_blocks *t, uint32_t id, uint32_t insns);

#endif
