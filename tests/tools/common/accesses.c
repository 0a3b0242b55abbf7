/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tools/common/accesses.h"

#include <stdio.h>
#include <stdlib.h>

#include "machine/insn/insn.h"

uint64_t bytes_number(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;

	for (; size; size--)
		v = v << 8 | p[size - 1];
	return v;
}

size_t accesses_of(const struct vt_step *s, uint32_t slot, uint32_t end, struct access *list)
{
	bool happened = true;
	size_t n = 0, i;

	for (; slot < end; slot++) {
		const struct vt_slot *t = &s->block->slots[slot];
		const uint8_t *data = s->data + (t->offset - s->data_offset);
		bool store = t->what == VT_WHAT_STORE || t->what == VT_WHAT_STORE_ADDRESS;
		bool addr = t->what == VT_WHAT_LOAD_ADDRESS || t->what == VT_WHAT_STORE_ADDRESS;

		if (t->what == VT_WHAT_GUARD)
			happened = data[0] & 1;
		if (!store && !addr && t->what != VT_WHAT_LOAD)
			continue;
		for (i = 0; i < n; i++)
			if (list[i].store == store && !(addr ? list[i].addr : list[i].value))
				break;
		if (i == n) {
			if (n == MOST_ACCESSES) {
				fprintf(stderr, "too many accesses of one instruction\n");
				exit(1);
			}
			list[n++] = (struct access){
				.insn = t->insn, .store = store, .happened = happened};
			happened = true;
		}
		if (addr) {
			list[i].addr = data;
			list[i].addr_size = t->size;
		} else {
			list[i].value = data;
			list[i].size = t->size;
		}
	}
	return n;
}

/* bt, bts, btr, btc of registers; the copy is 288 bytes below the stack pointer. */
bool is_bit_test(const struct vt_step *s, uint32_t slot, uint64_t *addr)
{
	const struct vt_bblock *b = s->block;
	uint32_t insn = b->slots[slot].insn;
	const uint8_t *code, *end;

	if (b->slots[slot].what != VT_WHAT_RESULT || b->slots[slot].reg != VT_REG_SP || !b->code)
		return false;
	code = b->code + (vt_bblock_insn_addr(b, insn) - b->addr);
	end = code + b->lengths[insn];
	while (end - code > 3 && *code != 0x0f)
		code++;
	if (end - code != 3 || code[0] != 0x0f || (code[1] & 0xe7) != 0xa3 || code[2] < 0xc0)
		return false;
	*addr = vt_step_value(s, slot, 0) - 288;
	return true;
}
