/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_FILTERS_H
#define VT_COPROCESSOR_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The three filters of the main processor's decoder (3.2, figure 3): by class of operation; by a
 * hash of the pc, whose bits under a mask must match; and by a table of bits, indexed by another
 * hash of the pc, in which a 1 excludes the instruction.  "Multiple hash functions are provided to
 * reduce conflict problems"; the paper does not say which: these are ours.
 */
enum vt_filter_hash {
	VT_HASH_LOW,   /* the pc's low bits */
	VT_HASH_FOLD,  /* all of its bits, folded by exclusive or */
	VT_HASH_MIX,   /* multiplied by 2^64 / golden ratio, the highest bits */
	VT_HASH_SHIFT, /* the pc with itself, shifted by 5 and by 11 */
	VT_NHASHES
};

extern const char *const vt_filter_hashes[VT_NHASHES];

#define VT_FILTER_PARTITION_BITS 16   /* of the first filter's hash */
#define VT_FILTER_TABLE_BITS	 4096 /* table 1: 4 Kb */

struct vt_filters {
	uint32_t classes; /* a bit 1 << enum vt_ucode_class for each that passes */
	enum vt_filter_hash partition_hash, table_hash;
	uint32_t mask, match;
	uint64_t *table;
	uint32_t table_bits; /* a power of two, at least 64 */
	uint64_t generation; /* another number after each change: from 1 on */
};

/* Returns 0 or -VT_E_NOMEM. */
int vt_filters_init(struct vt_filters *f, uint32_t table_bits, struct vt_error *err);
void vt_filters_fini(struct vt_filters *f);

/* `bits` bits, 1 to 32, of a hash of the low 32 bits of a pc. */
uint32_t vt_filter_hash(enum vt_filter_hash h, uint64_t pc, unsigned bits);

/* The first filter: the program is divided into 2^n regions, n the ones in `mask`. */
void vt_filters_partition(struct vt_filters *f, uint32_t mask, uint32_t match);

/* The second: excludes an instruction, and includes all again. */
void vt_filters_exclude(struct vt_filters *f, uint64_t pc);
void vt_filters_include_all(struct vt_filters *f);

/* How many bits of the table are 1. */
uint32_t vt_filters_excluded(const struct vt_filters *f);

/* Whether both filters by pc let it pass. */
bool vt_filters_pass(const struct vt_filters *f, uint64_t pc);

#endif
