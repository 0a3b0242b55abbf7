/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/filters.h"

#include <stdlib.h>
#include <string.h>

const char *const vt_filter_hashes[VT_NHASHES] = {
	[VT_HASH_LOW] = "low",
	[VT_HASH_FOLD] = "fold",
	[VT_HASH_MIX] = "mix",
	[VT_HASH_SHIFT] = "shift",
};

int vt_filters_init(struct vt_filters *f, uint32_t table_bits, struct vt_error *err)
{
	memset(f, 0, sizeof(*f));
	f->partition_hash = VT_HASH_MIX;
	f->table_hash = VT_HASH_MIX;
	f->table_bits = table_bits;
	f->generation = 1;
	f->table = calloc(table_bits / 64, sizeof(*f->table));
	return f->table ? 0 : vt_error_nomem(err);
}

void vt_filters_fini(struct vt_filters *f)
{
	free(f->table);
	f->table = NULL;
}

uint32_t vt_filter_hash(enum vt_filter_hash h, uint64_t pc, unsigned bits)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1, v = 0;

	/* The profile in memory has no more of it (5.1.1). */
	pc = (uint32_t)pc;
	switch (h) {
	case VT_HASH_FOLD:
		for (; pc; pc >>= bits)
			v ^= pc & mask;
		return (uint32_t)v;
	case VT_HASH_MIX:
		return (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
	case VT_HASH_SHIFT:
		return (uint32_t)((pc ^ pc >> 5 ^ pc >> 11) & mask);
	default:
		return (uint32_t)(pc & mask);
	}
}

void vt_filters_partition(struct vt_filters *f, uint32_t mask, uint32_t match)
{
	f->mask = mask;
	f->match = match & mask;
	f->generation++;
}

static uint32_t table_index(const struct vt_filters *f, uint64_t pc)
{
	unsigned bits = 0;

	while (f->table_bits >> bits > 1)
		bits++;
	return vt_filter_hash(f->table_hash, pc, bits);
}

void vt_filters_exclude(struct vt_filters *f, uint64_t pc)
{
	uint32_t i = table_index(f, pc);

	f->table[i / 64] |= UINT64_C(1) << i % 64;
	f->generation++;
}

void vt_filters_include_all(struct vt_filters *f)
{
	memset(f->table, 0, f->table_bits / 8);
	f->generation++;
}

uint32_t vt_filters_excluded(const struct vt_filters *f)
{
	uint32_t n = 0, i;

	for (i = 0; i < f->table_bits; i++)
		n += f->table[i / 64] >> i % 64 & 1;
	return n;
}

bool vt_filters_pass(const struct vt_filters *f, uint64_t pc)
{
	uint32_t i;

	if ((vt_filter_hash(f->partition_hash, pc, VT_FILTER_PARTITION_BITS) & f->mask) != f->match)
		return false;
	i = table_index(f, pc);
	return !(f->table[i / 64] >> i % 64 & 1);
}
