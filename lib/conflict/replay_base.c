/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "conflict/replay_internal.h"

#define MAX_PAIRS 65536 /* of registers; then they are forgotten */

/* Two registers that an address is made of: the key has no padding. */
struct pair {
	uint64_t base;
	uint64_t index;
	uint64_t scale;
	uint64_t symbol;
};

void vti_bases_init(struct vti_bases *b)
{
	memset(b, 0, sizeof(*b));
	vt_hash_init(&b->pairs, sizeof(struct pair), offsetof(struct pair, symbol));
	vti_bases_begin(b);
}

void vti_bases_fini(struct vti_bases *b)
{
	vt_hash_fini(&b->pairs);
}

static void renew_base(struct vti_bases *b, unsigned reg)
{
	b->regs[reg] = (struct vti_based){.symbol = ++b->next};
}

void vti_bases_begin(struct vti_bases *b)
{
	unsigned r;

	for (r = 0; r < VTI_BASED; r++)
		renew_base(b, r);
	vt_hash_clear(&b->pairs);
}

/* ---- where an access is ---- */

/* The only operand that is read, or written; NULL where there are several, or none. */
static const struct vt_memory *operand_of(const struct vt_facts *f, bool store)
{
	const struct vt_memory *found = NULL;
	unsigned i;

	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];

		if (!(store ? m->written : m->read))
			continue;
		if (found || m->gather)
			return NULL;
		found = m;
	}
	return found;
}

void vti_bases_operand(const struct vt_facts *f, bool store, struct vti_base_operand *o)
{
	const struct vt_memory *m = operand_of(f, store);

	*o = (struct vti_base_operand){.base = VT_REG_NONE, .index = VT_REG_NONE};
	/* A pop's store is where its operand is after it. */
	if (f->flags & VT_FACT_MASKED || (store && f->flags & VT_FACT_POP) ||
	    vt_facts_has_mnemonic(f, "leave") || vt_facts_has_mnemonic(f, "enter"))
		return;
	if (!m || m->segment != VT_REG_NONE || !vt_reg_is_general(m->base) ||
	    (m->scale && !vt_reg_is_general(m->index)))
		return;
	o->base = m->base;
	o->displacement = m->displacement;
	if (m->scale) {
		o->index = m->index;
		o->scale = m->scale;
	}
}

bool vti_bases_find(struct vti_bases *b, const struct vti_base_operand *o, struct vt_access *a)
{
	const struct vti_based *base, *index;
	struct pair key, *pair;
	bool added;

	if (o->base == VT_REG_NONE)
		return true;
	base = &b->regs[o->base];
	a->base = base->symbol;
	a->addr = base->offset + (uint64_t)o->displacement;
	if (o->index == VT_REG_NONE)
		return true;
	index = &b->regs[o->index];
	if (b->pairs.count == MAX_PAIRS)
		vt_hash_clear(&b->pairs);
	key = (struct pair){.base = base->symbol, .index = index->symbol, .scale = o->scale};
	pair = vt_hash_add(&b->pairs, &key, &added);
	if (!pair)
		return false;
	if (added)
		pair->symbol = ++b->next;
	a->base = pair->symbol;
	a->addr += index->offset * o->scale;
	return true;
}

/* ---- what an instruction does to registers ---- */

/* The 8 bytes of a general register that are all that the instruction results in. */
static bool only_result(const struct vt_facts *f, uint8_t *reg)
{
	const struct vt_operand *r = &f->results[0];

	*reg = r->reg;
	return f->nresults == 1 && r->where == VT_WHERE_REGISTER && r->size == 8 &&
	       vt_reg_is_general(r->reg);
}

static bool is_copy(const struct vt_facts *f)
{
	const struct vt_operand *s = &f->sources[0];

	return f->flags & VT_FACT_MOVE && vt_facts_has_mnemonic(f, "mov") && !f->nmemories &&
	       f->nsources == 1 && s->where == VT_WHERE_REGISTER && s->size == 8 &&
	       vt_reg_is_general(s->reg);
}

/* rsp moves by what is pushed or popped; other general registers may be written besides. */
static bool move_stack(const struct vt_facts *f, struct vti_base_code *c)
{
	bool down = f->flags & (VT_FACT_PUSH | VT_FACT_CALL);
	const struct vt_memory *m = operand_of(f, down);

	if (!(f->flags & (VT_FACT_PUSH | VT_FACT_POP | VT_FACT_CALL | VT_FACT_RETURN)) || !m ||
	    !m->implied || m->base != VT_REG_SP)
		return false;
	c->to = c->from = VT_REG_SP;
	c->step = down ? -(int64_t)m->size : m->size;
	if (f->flags & VT_FACT_RETURN && f->has_immediate)
		c->step += f->immediate;
	return true;
}

static bool move_register(const struct vt_facts *f, struct vti_base_code *c)
{
	uint8_t to;

	if (!only_result(f, &to))
		return false;
	c->to = c->from = to;
	if (is_copy(f)) {
		c->from = f->sources[0].reg;
		return true;
	}
	if (f->nmemories || !f->has_immediate || !(f->reads >> to & 1))
		return false;
	if (vt_facts_has_mnemonic(f, "add"))
		c->step = f->immediate;
	else if (vt_facts_has_mnemonic(f, "sub"))
		c->step = -f->immediate;
	else
		return false;
	return true;
}

void vti_bases_make(struct vti_base_code *c, const struct vt_facts *f)
{
	unsigned r;

	memset(c, 0, sizeof(*c));
	c->to = c->from = VT_REG_NONE;
	if (f->flags & VT_FACT_SYSCALL || !f->length) {
		c->lost = UINT32_MAX;
		return;
	}
	for (r = 0; r < VTI_BASED; r++)
		if (f->writes >> r & 1)
			c->lost |= 1u << r;
	if (!move_stack(f, c) && !move_register(f, c))
		c->to = c->from = VT_REG_NONE;
	/* pop rsp: what was there is what counts. */
	for (r = 0; r < f->nresults; r++)
		if (c->to == VT_REG_SP && c->from == VT_REG_SP && f->flags & VT_FACT_POP &&
		    f->results[r].reg == VT_REG_SP)
			c->to = c->from = VT_REG_NONE;
}

void vti_bases_step(struct vti_bases *b, const struct vti_base_code *c)
{
	struct vti_based moved = {0};
	uint32_t lost;

	if (c->to != VT_REG_NONE) {
		moved = b->regs[c->from];
		moved.offset += (uint64_t)c->step;
	}
	for (lost = c->lost & ((1u << VTI_BASED) - 1); lost; lost &= lost - 1)
		renew_base(b, (unsigned)__builtin_ctz(lost));
	if (c->to != VT_REG_NONE)
		b->regs[c->to] = moved;
}
