/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/build.h"

#include <stdlib.h>
#include <string.h>

/* Twice a slot's number has 16 bits. */
#define MAX_SLOTS 32000

static struct vti_build_slot *new_slots(struct vti_build *b, unsigned words, uint16_t *first)
{
	struct vti_build_slot *s;
	unsigned i;

	*first = 0;
	if (b->nslots + words > MAX_SLOTS) {
		b->full = true;
		return NULL;
	}
	if (!vt_array_grow(&b->slots, &b->slots_cap, b->nslots + words, sizeof(*b->slots))) {
		b->failed = true;
		return NULL;
	}
	*first = (uint16_t)b->nslots;
	s = &b->slots[b->nslots];
	b->nslots += words;
	memset(s, 0, words * sizeof(*s));
	for (i = 0; i < words; i++) {
		s[i].base = *first;
		s[i].words = (uint8_t)words;
	}
	return s;
}

uint16_t vti_build_temp(struct vti_build *b, unsigned words)
{
	uint16_t first;

	new_slots(b, words, &first);
	return first;
}

void vti_build_narrow(struct vti_build *b, uint16_t slot, unsigned bits)
{
	if (slot < b->nslots && b->slots[slot].words == 1 && bits < 64)
		b->slots[slot].bits = (uint8_t)bits;
}

uint16_t vti_build_const(struct vti_build *b, const struct vt_word *value, unsigned words)
{
	struct vti_build_slot *s;
	uint16_t first;
	unsigned i;
	size_t at;

	for (at = 0; at < b->nslots; at += b->slots[at].words) {
		s = &b->slots[at];
		if (!s->constant || s->words != words)
			continue;
		for (i = 0; i < words && s[i].preset.value == value[i].value &&
			    s[i].preset.known == value[i].known;
		     i++)
			;
		if (i == words)
			return (uint16_t)at;
	}
	s = new_slots(b, words, &first);
	for (i = 0; s && i < words; i++) {
		s[i].preset = value[i];
		s[i].constant = true;
	}
	return first;
}

uint16_t vti_build_u64(struct vti_build *b, uint64_t value)
{
	struct vt_word w = vt_word_of(value);

	return vti_build_const(b, &w, 1);
}

uint16_t vti_build_unknown(struct vti_build *b, unsigned size)
{
	struct vt_word w[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};

	if (size < 8)
		w[0] = vt_word_unknown(8 * size);
	return vti_build_const(b, w, (size + 7) / 8);
}

void vti_build_add(struct vti_build *b, struct vti_op op, struct vti_widths words)
{
	if (!vt_array_grow(&b->ops, &b->ops_cap, b->nops + 1, sizeof(*b->ops))) {
		b->failed = true;
		return;
	}
	if (op.op != VTI_EXIT)
		op.insn = (uint16_t)b->insn;
	b->ops[b->nops++] = (struct vti_build_op){op, words};
}

uint64_t vti_build_more(struct vti_build *b, const void *data, size_t size)
{
	uint64_t at = b->more.size;

	vt_buf_put(&b->more, data, size);
	while (!b->more.failed && b->more.size % 8)
		vt_buf_put_u8(&b->more, 0);
	return at;
}

void vti_build_free(struct vti_build *b)
{
	free(b->ops);
	free(b->slots);
	vt_buf_free(&b->more);
	free(b);
}

/* ---- which slots an operation uses ---- */

static void use(struct vti_use **u, uint16_t *slot, unsigned words, bool written)
{
	if (*slot != VTI_NO_SLOT && words)
		*(*u)++ = (struct vti_use){slot, (uint8_t)words, written};
}

static void call_uses(struct vti_call *c, struct vti_use **u)
{
	unsigned i;

	for (i = 0; i < c->nargs; i++)
		use(u, &c->args[i], 1, false);
	use(u, &c->guard, 1, false);
	use(u, &c->address, 1, false);
	use(u, &c->dst, (c->result_size + 7u) / 8, true);
}

static void cas_uses(struct vti_cas *c, struct vti_use **u)
{
	unsigned i;

	use(u, &c->address, 1, false);
	for (i = 0; i < 2; i++) {
		use(u, &c->expected[i], 1, false);
		use(u, &c->data[i], 1, false);
		use(u, &c->old[i], 1, true);
	}
}

unsigned vti_op_uses(struct vti_build_op *op, uint8_t *more, struct vti_use uses[VTI_MAX_USES])
{
	struct vti_use *u = uses;
	struct vti_guarded *g;

	switch (op->op.op) {
	case VTI_CCALL:
	case VTI_DIRTY:
		call_uses((struct vti_call *)(void *)(more + op->op.imm), &u);
		break;
	case VTI_CAS:
		cas_uses((struct vti_cas *)(void *)(more + op->op.imm), &u);
		break;
	case VTI_LOADG:
	case VTI_STOREG:
		g = (struct vti_guarded *)(void *)(more + op->op.imm);
		use(&u, &g->address, 1, false);
		use(&u, &g->guard, 1, false);
		use(&u, &g->value, (g->size + 7u) / 8, false);
		if (op->op.op == VTI_LOADG)
			use(&u, &g->dst, (g->size + 7u) / 8, true);
		break;
	default:
		use(&u, &op->op.a, op->words.a, false);
		use(&u, &op->op.b, op->words.b, false);
		use(&u, &op->op.c, op->words.c, false);
		use(&u, &op->op.d, op->words.d, false);
		use(&u, &op->op.dst, op->words.dst, true);
		break;
	}
	return (unsigned)(u - uses);
}
