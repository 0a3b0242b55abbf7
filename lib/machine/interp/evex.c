/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/evex.h"

#include <string.h>

#include "machine/interp/memory.h"
#include "machine/lift/evex.h"
#include "machine/lift/fastop.h"

#define WIDEST 32 /* bytes of one access to memory */

static struct vt_word *state_word(struct vt_interp *m, unsigned offset)
{
	return &m->state[offset / 8];
}

static void get_vector(struct vt_interp *m, unsigned reg, struct vt_word *words)
{
	vti_words_copy(words, state_word(m, vti_vector_at(reg, 0)), 4);
	vti_words_copy(words + 4, state_word(m, vti_vector_at(reg, 4)), 4);
}

static void put_vector(struct vt_interp *m, unsigned reg, const struct vt_word *words)
{
	vti_words_copy(state_word(m, vti_vector_at(reg, 0)), words, 4);
	vti_words_copy(state_word(m, vti_vector_at(reg, 4)), words + 4, 4);
}

void vti_clear_high_halves(struct vt_interp *m, unsigned regs, struct vt_word to)
{
	unsigned word;

	m->wide = true;
	for (; regs; regs &= regs - 1)
		for (word = 4; word < VTI_ZMM_WORDS; word++)
			*state_word(m, vti_vector_at((unsigned)__builtin_ctz(regs), word)) = to;
}

/* One element of memory, for all. */
static void repeat_element(struct vt_word *words, unsigned size)
{
	unsigned i;

	if (size == 2)
		words[0] = vti_fast_join(words[0], words[0], 16);
	if (size <= 4)
		words[0] = vti_fast_join(words[0], words[0], 32);
	for (i = 1; i < VTI_ZMM_WORDS; i++)
		words[i] = words[0];
}

static void get_source(struct vt_interp *m, const struct vti_evex *e,
		       const struct vti_evex_operand *o, const struct vt_word *slot,
		       struct vt_word *words)
{
	unsigned i;

	for (i = 0; i < VTI_ZMM_WORDS; i++)
		words[i] = vt_word_of(0);
	switch (o->where) {
	case VTI_EVEX_VECTOR:
		get_vector(m, o->reg, words);
		break;
	case VTI_EVEX_MASK:
		words[0] = *state_word(m, vti_mask_at(o->reg));
		break;
	case VTI_EVEX_GENERAL:
		words[0] = *slot;
		break;
	case VTI_EVEX_MEMORY:
		vti_words_copy(words, slot, (o->size + 7u) / 8);
		if (e->repeats)
			repeat_element(words, o->size);
		break;
	default:
		break;
	}
}

/* Families that look at the mask themselves. */
static bool merges(const struct vti_evex *e)
{
	return e->mask && e->to.where == VTI_EVEX_VECTOR && e->family != VTI_EVEX_BLEND &&
	       e->family != VTI_EVEX_COMPRESS;
}

/* What the mask leaves out, memory keeps. */
static void store_masked(struct vt_interp *m, const struct vti_evex *e, struct vt_word addr,
			 struct vt_word mask, struct vt_word *words)
{
	uint64_t perhaps = vti_fast_max(mask) & vt_low_bits(e->size / e->element);
	struct vt_word old[VTI_ZMM_WORDS];
	unsigned at, n;

	if (!perhaps)
		return;
	if (!vt_word_is_known(addr)) {
		vt_known_memory_forget(m->mem);
		return;
	}
	for (at = 0; at < e->size; at += n) {
		n = e->size - at < WIDEST ? e->size - at : WIDEST;
		vt_known_memory_load(m->mem, addr.value + at, n, old + at / 8);
	}
	vti_evex_merge(e, mask, old, words);
	for (at = 0; at < e->size; at += n) {
		n = e->size - at < WIDEST ? e->size - at : WIDEST;
		vt_known_memory_store(m->mem, addr.value + at, n, words + at / 8);
	}
}

static void put_result(struct vt_interp *m, const struct vti_op *op, struct vt_word mask,
		       struct vt_word *out, struct vt_word *slots)
{
	const struct vti_evex *e = op->data;

	switch (e->to.where) {
	case VTI_EVEX_VECTOR:
		put_vector(m, e->to.reg, out);
		break;
	case VTI_EVEX_MASK:
		*state_word(m, vti_mask_at(e->to.reg)) = out[0];
		break;
	case VTI_EVEX_MEMORY:
		if (e->mask)
			store_masked(m, e, slots[op->b], mask, out);
		vti_words_copy(&slots[op->dst], out, op->aux);
		break;
	default:
		slots[op->dst] = out[0];
		break;
	}
}

void vti_run_evex(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_evex *e = op->data;
	struct vt_word in[VTI_EVEX_SOURCES][VTI_ZMM_WORDS];
	struct vt_word out[VTI_ZMM_WORDS], old[VTI_ZMM_WORDS];
	struct vt_word mask = vt_word_of(UINT64_MAX);
	unsigned i;

	m->wide = true;
	if (e->mask)
		mask = *state_word(m, vti_mask_at(e->mask));
	for (i = 0; i < e->nsources; i++)
		get_source(m, e, &e->sources[i], &slots[op->a], in[i]);
	vti_evex_compute(e, in, mask, out);
	if (merges(e)) {
		get_vector(m, e->to.reg, old);
		vti_evex_merge(e, mask, old, out);
	}
	put_result(m, op, mask, out, slots);
}

void vti_forget_evex(struct vt_interp *m, const struct vti_op *op)
{
	static const struct vt_word nothing[VTI_ZMM_WORDS];
	const struct vti_evex *e = op->data;

	if (e->to.where == VTI_EVEX_VECTOR)
		put_vector(m, e->to.reg, nothing);
	else if (e->to.where == VTI_EVEX_MASK)
		*state_word(m, vti_mask_at(e->to.reg)) = nothing[0];
	else if (e->to.where == VTI_EVEX_MEMORY && e->mask)
		vt_known_memory_forget(m->mem);
}
