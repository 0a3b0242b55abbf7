/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "interpret/path.h"
#include "machine/insn/insn.h"

/*
 * What a recording has of an instruction, as answers to the interpreter's questions.  The recorder
 * leaves out loads that nobody needs, so that the n-th that is there need not be the n-th that is
 * asked for: they are paired only where none is missing.
 */

#define NOT_PAIRED UINT8_MAX /* the number of loads is unknown */

void vti_path_free_slots(struct vti_paths *p)
{
	size_t i;

	for (i = 0; i < p->nloads; i++)
		free(p->loads[i]);
	free(p->loads);
}

/* How many loads the instruction makes. */
static uint8_t count_loads(const uint8_t *code, size_t size)
{
	struct vt_facts f;
	uint8_t n = 0;
	unsigned i;

	if (!vt_facts_decode(code, size, &f))
		return NOT_PAIRED;
	for (i = 0; i < f.nmemories; i++) {
		if (f.memories[i].gather)
			return NOT_PAIRED;
		n += f.memories[i].read;
	}
	return n;
}

/* The loads of each instruction of a block; NULL when memory ran out. */
static const uint8_t *loads_of(struct vti_paths *p, const struct vt_bblock *b)
{
	size_t had = p->nloads;
	uint32_t i, at = 0;

	if (b->id >= had) {
		if (!vt_array_grow(&p->loads, &p->nloads, b->id + 1, sizeof(*p->loads)))
			return NULL;
		memset(p->loads + had, 0, (p->nloads - had) * sizeof(*p->loads));
	}
	if (p->loads[b->id])
		return p->loads[b->id];
	p->loads[b->id] = malloc(b->ninsns);
	for (i = 0; p->loads[b->id] && i < b->ninsns; i++) {
		p->loads[b->id][i] = count_loads(b->code + at, b->lengths[i]);
		at += b->lengths[i];
	}
	return p->loads[b->id];
}

/* The slot of load number `nth` of an instruction, or UINT32_MAX. */
static uint32_t find_load(struct vti_paths *p, uint32_t insn, uint32_t nth)
{
	const struct vt_step *s = p->step;
	const uint8_t *loads;
	uint32_t i, n = 0, found = UINT32_MAX;

	for (i = s->slot; i < s->slot_end && s->block->slots[i].insn <= insn; i++) {
		const struct vt_slot *slot = &s->block->slots[i];

		if (slot->insn != insn)
			continue;
		/* One that did not happen is not asked for, or perhaps is. */
		if (slot->what == VT_WHAT_GUARD && !(vt_step_value(s, i, 0) & 1))
			return UINT32_MAX;
		if (slot->what == VT_WHAT_LOAD && n++ == nth)
			found = i;
	}
	loads = found == UINT32_MAX ? NULL : loads_of(p, s->block);
	return loads && loads[insn] == n ? found : UINT32_MAX;
}

/* What is known otherwise is known wrongly. */
static void set_recorded_word(struct vti_paths *p, struct vt_word *w, uint64_t value)
{
	if ((w->value ^ value) & w->known)
		p->in->totals.stale++;
	*w = vt_word_of(value);
}

static void answer_load(void *arg, uint32_t insn, struct vt_word addr, unsigned size,
			struct vt_word *words)
{
	struct vti_paths *p = arg;
	const struct vt_step *s = p->step;
	uint32_t slot;
	unsigned k;

	if (s->slot == s->slot_end)
		return;
	insn += s->insn;
	if (p->asked != insn)
		p->nasked = 0;
	p->asked = insn;
	slot = find_load(p, insn, p->nasked++);
	if (slot == UINT32_MAX || s->block->slots[slot].size != size)
		return;
	if (slot > s->slot && s->block->slots[slot - 1].what == VT_WHAT_LOAD_ADDRESS &&
	    s->block->slots[slot - 1].insn == insn && vt_word_is_known(addr) &&
	    addr.value != vt_step_value(s, slot - 1, 0))
		return;
	for (k = 0; 8 * k < size; k++)
		set_recorded_word(p, &words[k], vt_step_value(s, slot, k));
}

/* Returns results of cpuid and the like, which are found by their places in the guest state. */
static void answer_state(void *arg, uint32_t insn, unsigned offset, unsigned size,
			 struct vt_word *words)
{
	const struct vti_paths *p = arg;
	const struct vt_step *s = p->step;
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

struct vt_interp_hooks vti_path_hooks(struct vti_paths *p)
{
	return (struct vt_interp_hooks){
		.arg = p,
		.load = answer_load,
		.state = answer_state,
	};
}
