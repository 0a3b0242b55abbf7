/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tests/tools/common/truth_run.h"

#define SAMPLE_STACK 8192

size_t truth_fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	struct truth *t = arg;
	uint8_t marks[1024];
	size_t n;

	if (size > sizeof(marks))
		size = sizeof(marks);
	if ((int64_t)space != t->pid)
		return 0;
	shadow_get(t->code, addr, bytes, marks, size);
	for (n = 0; n < size && marks[n]; n++)
		;
	return n;
}

/* Code that is in no file's mapping, or is other than it was. */
void truth_learn_code(struct truth *t, const struct vt_bblock *b)
{
	uint8_t bytes[VT_MAX_BLOCK_INSNS * VT_MAX_INSN], marks[sizeof(bytes)];

	if (!b->code || b->size > sizeof(bytes))
		return;
	shadow_get(t->code, b->addr, bytes, marks, b->size);
	if (!memcmp(bytes, b->code, b->size) && !memchr(marks, 0, b->size))
		return;
	shadow_put(t->code, b->addr, b->code, b->size, 1);
	truth_forget_code(t, t->pid);
	t->spoilt = true;
}

void truth_load(void *arg, uint32_t insn, struct vt_word addr, unsigned size, struct vt_word *words)
{
	struct truth *t = arg;
	size_t i;
	unsigned k;

	insn += t->step->insn;
	for (i = 0; i < t->naccesses; i++) {
		const struct access *a = &t->accesses[i];

		if (a->insn != insn || a->store || t->taken[i] || !a->happened || !a->addr ||
		    !a->value || a->size != size)
			continue;
		if (vt_word_is_known(addr) && addr.value != bytes_number(a->addr, a->addr_size))
			continue;
		t->taken[i] = true;
		for (k = 0; 8 * k < size; k++) {
			unsigned n = size - 8 * k < 8 ? size - 8 * k : 8;
			uint64_t v = bytes_number(a->value + 8 * (size_t)k, n);

			if ((words[k].value ^ v) & words[k].known)
				tally_differ(&t->tallies[WAY_FOLLOW], t->step, insn, "memory",
					     VT_NREGS, words[k].value, v & words[k].known);
			words[k] = vt_word_of(v);
		}
		return;
	}
}

void truth_state(void *arg, uint32_t insn, unsigned offset, unsigned size, struct vt_word *words)
{
	const struct truth *t = arg;
	const struct vt_step *s = t->step;
	uint32_t i;
	unsigned k;

	for (i = s->slot; i < s->slot_end; i++) {
		const struct vt_slot *slot = &s->block->slots[i];

		if (slot->insn != insn + s->insn || slot->what != VT_WHAT_STATE ||
		    slot->reg != offset || slot->size != size)
			continue;
		for (k = 0; 8 * k < size; k++)
			words[k] = vt_word_of(vt_step_value(s, i, k));
		return;
	}
}

bool truth_guard(void *arg, uint32_t insn, bool *done)
{
	struct truth *t = arg;
	const struct vt_step *s = t->step;
	uint32_t i, nth;

	insn += s->insn;
	if (t->guard_insn != insn)
		t->guards = 0;
	t->guard_insn = insn;
	nth = t->guards++;
	for (i = s->slot; i < s->slot_end; i++) {
		const struct vt_slot *slot = &s->block->slots[i];

		if (slot->insn != insn || slot->what != VT_WHAT_GUARD || nth--)
			continue;
		*done = vt_step_value(s, i, 0) & 1;
		return true;
	}
	return false;
}

/* A mask of the parts of memory that are not hidden from a run that knows only some. */
static uint64_t shown(const struct truth *t, uint64_t addr)
{
	uint64_t h = (addr + t->secret) * UINT64_C(0x9e3779b97f4a7c15), mask = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		if (h >> (8 * i) & 7)
			mask |= UINT64_C(0xff) << 8 * i;
	return mask;
}

uint64_t truth_fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	struct truth *t = ((struct runner *)arg)->truth;
	uint64_t sp = t->start.w[VT_REG_SP][0].value, mask = 0;
	uint8_t marks[VT_KNOWN_LINE];
	unsigned i;

	if (lasting)
		return 0;
	shadow_get(t->memory, addr, bytes, marks, VT_KNOWN_LINE);
	for (i = 0; i < VT_KNOWN_LINE; i++)
		if (marks[i] && (t->way != WAY_SAMPLE || addr + i - sp < SAMPLE_STACK))
			mask |= UINT64_C(1) << i;
	if (t->way == WAY_PART || t->way == WAY_PATH)
		mask &= shown(t, addr);
	return mask;
}
