/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/recording/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/bblock.h"

#define MAX_INSN_LENGTH 15 /* Intel SDM volume 2, 2.3.11 */

void vti_rc_blocks_fini(struct rc_blocks *t)
{
	free(t->sums);
	free(t->first_slot);
	free(t->slots);
	*t = (struct rc_blocks){0};
}

static const char *check_code(const struct rc_block *b)
{
	uint64_t size = 0;
	uint32_t i;

	if (!b->ninsns || b->ninsns > VT_MAX_BLOCK_INSNS)
		return "number of instructions";
	for (i = 0; i < b->ninsns; i++) {
		if (!b->lengths[i] || b->lengths[i] > MAX_INSN_LENGTH)
			return "length of an instruction";
		size += b->lengths[i];
	}
	return size == b->size ? NULL : "size";
}

static uint32_t get_slot_insn(uint64_t slot)
{
	return slot & 0xffff;
}

static uint32_t get_slot_size(uint64_t slot)
{
	return slot >> 32 & 0xffff;
}

static const char *check_slots(const struct rc_block *b)
{
	uint64_t size = 0;
	uint32_t i, last = 0;

	if (b->nslots > VT_MAX_BLOCK_SLOTS)
		return "number of slots";
	for (i = 0; i < b->nslots; i++) {
		uint32_t insn = get_slot_insn(b->slots[i]);

		if (insn < last || insn >= b->ninsns || !get_slot_size(b->slots[i]) ||
		    get_slot_size(b->slots[i]) > 1024)
			return "slots";
		last = insn;
		size += get_slot_size(b->slots[i]);
	}
	return size == b->data_size && size <= VT_MAX_BLOCK_DATA ? NULL : "size of its values";
}

static bool grow_rc_blocks(struct rc_blocks *t, const struct rc_block *b)
{
	size_t end = (size_t)b->id + 1;

	if (!vt_array_grow(&t->slots, &t->slots_cap, t->nslots + b->nslots + 1, sizeof(*t->slots)))
		return false;
	if (end <= t->end)
		return true;
	if (!vt_array_grow(&t->sums, &t->sums_cap, end, sizeof(*t->sums)) ||
	    !vt_array_grow(&t->first_slot, &t->first_cap, end, sizeof(*t->first_slot)))
		return false;
	for (; t->end < end; t->end++)
		t->sums[t->end] = RC_UNKNOWN;
	return true;
}

int vti_rc_blocks_add(struct rc_blocks *t, const struct rc_block *b, struct vt_error *err)
{
	const char *why = check_code(b);
	uint32_t i;

	if (!why)
		why = check_slots(b);
	if (!why && (!b->id || b->id > t->known + VT_MAX_BLOCK_LEAP ||
		     (b->id < t->end && t->sums[b->id] != RC_UNKNOWN)))
		why = "id";
	if (!why && t->nslots >= UINT32_MAX - VT_MAX_BLOCK_SLOTS)
		why = "number of slots of all blocks";
	if (why)
		return vt_error_set(err, VT_E_DAMAGED, "a basic block with a bad %s", why);
	if (!grow_rc_blocks(t, b))
		return vt_error_nomem(err);
	t->sums[b->id] = (uint64_t)b->ninsns << 32 | b->data_size;
	t->first_slot[b->id] = (uint32_t)t->nslots;
	for (i = 0; i < b->nslots; i++)
		t->slots[t->nslots++] =
			get_slot_insn(b->slots[i]) << 16 | get_slot_size(b->slots[i]);
	t->slots[t->nslots++] = RC_NO_SLOT;
	t->known++;
	return 0;
}

uint32_t vti_rc_data_before(const struct rc_blocks *t, uint32_t id, uint32_t insns)
{
	const uint32_t *slot = t->slots + t->first_slot[id];
	uint32_t size = 0;

	for (; *slot != RC_NO_SLOT && *slot >> 16 < insns; slot++)
		size += *slot & 0xffff;
	return size;
}
