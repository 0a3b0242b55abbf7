/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/state_internal.h"

#include <string.h>

/* The range of an unknown index; the entries of the table determine its length. */
#define ANY_INDEX UINT64_C(0xffffffff)

int vti_flowstate_index(unsigned reg)
{
	if (reg <= VT_REG_SP)
		return (int)reg;
	if (reg >= VT_REG_R8 && reg <= VT_REG_R15)
		return (int)(reg - VT_REG_R8 + 8);
	return -1;
}

void vti_flowstate_start(struct vti_flowstate *s)
{
	unsigned i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < VTI_STATE_REGS; i++)
		s->regs[i] = vti_value_unknown(VTI_NAME_START | i);
}

bool vti_flowstate_at_start(const struct vti_flowstate *s)
{
	const struct vti_value *v = &s->regs[VT_REG_SP];

	return v->sym == VTI_NAME_STACK && v->off == 0 && v->width == 64;
}

bool vti_flowstate_is_loaded(const struct vti_value *v)
{
	return !v->entry && !v->computed && !v->off && v->sym >> 60 == VTI_NAME_LOAD >> 60;
}

/* ---- results of comparisons ---- */

/* Returns true if a fact is about a value, also of another width if the narrower holds both. */
static bool is_fact_about(const struct vti_known *k, const struct vti_value *v)
{
	if (v->entry || !v->sym || k->sym != v->sym || k->off != v->off)
		return false;
	return k->width == v->width || (k->width > v->width && k->hi <= vti_mask(v->width)) ||
	       (k->width < v->width && v->hi <= vti_mask(k->width));
}

/* Narrows a value to [lo, hi]. */
static void narrow_range(struct vti_value *v, uint64_t lo, uint64_t hi)
{
	if (lo > v->hi || hi < v->lo)
		return;
	if (lo > v->lo && v->stride)
		v->lo += (lo - v->lo + v->stride - 1) / v->stride * v->stride;
	if (hi < v->hi)
		v->hi = v->stride ? hi - (hi - v->lo) % v->stride : v->hi;
	if (v->lo >= v->hi) {
		v->hi = v->lo;
		v->stride = 0;
	}
}

struct vti_value vti_flowstate_evaluate(const struct vti_flowstate *s, const struct vti_value *v)
{
	struct vti_value r = *v, plain = *v;
	unsigned i;

	if (v->sext) {
		plain.sext = false;
		plain = vti_flowstate_evaluate(s, &plain);
		return plain.hi <= vti_mask(v->width) / 2 ? plain : r;
	}
	for (i = 0; i < s->nfacts; i++)
		if (is_fact_about(&s->facts[i], v))
			narrow_range(&r, s->facts[i].lo, s->facts[i].hi);
	return r;
}

void vti_flowstate_learn(struct vti_flowstate *s, const struct vti_value *v, uint64_t lo,
			 uint64_t hi)
{
	struct vti_known k = {v->sym, v->off, v->width, lo, hi};
	unsigned i;

	if (!v->sym || v->entry || v->sext || lo > hi)
		return;
	for (i = 0; i < s->nfacts; i++)
		if (s->facts[i].sym == k.sym && s->facts[i].off == k.off &&
		    s->facts[i].width == k.width)
			break;
	if (i == VTI_STATE_FACTS) {
		/* Replace the oldest. */
		memmove(s->facts, s->facts + 1, sizeof(s->facts) - sizeof(k));
		i--;
	} else if (i == s->nfacts) {
		s->nfacts++;
	} else {
		k.lo = lo > s->facts[i].lo ? lo : s->facts[i].lo;
		k.hi = hi < s->facts[i].hi ? hi : s->facts[i].hi;
		if (k.lo > k.hi)
			return;
	}
	s->facts[i] = k;
}

enum condition {
	IF_NONE,
	IF_ABOVE,
	IF_NOT_BELOW,
	IF_BELOW,
	IF_NOT_ABOVE,
	IF_EQUAL,
	IF_NOT_EQUAL,
	IF_GREATER,
	IF_NOT_LESS,
	IF_LESS,
	IF_NOT_GREATER,
	IF_SIGN,
	IF_NO_SIGN
};

struct branch_kind {
	const char *name; /* Zydis's */
	enum condition taken;
	enum condition not_taken;
};

static const struct branch_kind branches[] = {
	{"jnbe", IF_ABOVE, IF_NOT_ABOVE},     {"jnb", IF_NOT_BELOW, IF_BELOW},
	{"jb", IF_BELOW, IF_NOT_BELOW},	      {"jbe", IF_NOT_ABOVE, IF_ABOVE},
	{"jz", IF_EQUAL, IF_NOT_EQUAL},	      {"jnz", IF_NOT_EQUAL, IF_EQUAL},
	{"jnle", IF_GREATER, IF_NOT_GREATER}, {"jnl", IF_NOT_LESS, IF_LESS},
	{"jl", IF_LESS, IF_NOT_LESS},	      {"jle", IF_NOT_GREATER, IF_GREATER},
	{"js", IF_SIGN, IF_NO_SIGN},	      {"jns", IF_NO_SIGN, IF_SIGN},
};

/* Restricts [*lo, *hi] to the numbers that satisfy a condition. */
static void restrict_range(enum condition c, uint64_t with, unsigned width, uint64_t *lo,
			   uint64_t *hi)
{
	uint64_t most = vti_mask(width) / 2; /* as signed */
	/* If one of these wraps around, the branch is never taken and gives no information. */
	uint64_t above = with + 1, below = with - 1;
	bool positive = with <= most;

	switch (c) {
	case IF_ABOVE:
		*lo = above;
		break;
	case IF_NOT_BELOW:
		*lo = with;
		break;
	case IF_BELOW:
		*hi = below;
		break;
	case IF_NOT_ABOVE:
		*hi = with;
		break;
	case IF_EQUAL:
		*lo = *hi = with;
		break;
	case IF_NOT_EQUAL:
		if (*lo == with)
			++*lo;
		else if (*hi == with)
			--*hi;
		break;
	case IF_GREATER:
	case IF_NOT_LESS:
		if (positive) {
			*lo = c == IF_GREATER ? above : with;
			*hi = most;
		}
		break;
	case IF_LESS:
	case IF_NOT_GREATER:
		if (positive && *hi <= most)
			*hi = c == IF_LESS ? below : with;
		break;
	case IF_SIGN:
		if (!with)
			*lo = most + 1;
		break;
	case IF_NO_SIGN:
		if (!with)
			*hi = most;
		break;
	default:
		break;
	}
}

static const struct branch_kind *find_branch_kind(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (strcmp(branches[i].name, name) == 0)
			return &branches[i];
	return NULL;
}

static void learn_condition(struct vti_flowstate *s, enum condition condition)
{
	const struct vti_compare *c = &s->compare;
	struct vti_value v = vti_flowstate_evaluate(s, &c->value);
	uint64_t lo = v.lo, hi = v.hi;

	restrict_range(condition, c->with, c->width, &lo, &hi);
	if (lo < v.lo)
		lo = v.lo;
	if (hi > v.hi)
		hi = v.hi;
	/* Below half of its range, a value is the same with and without sign extension. */
	if (v.sext && hi > vti_mask(v.width) / 2)
		return;
	v.sext = false;
	vti_flowstate_learn(s, &v, lo, hi);
}

void vti_flowstate_branch(struct vti_flowstate *s, const struct vt_facts *f, bool taken)
{
	const struct branch_kind *b = find_branch_kind(f->mnemonic);

	if (b && s->compare.valid && !s->compare.value.entry)
		learn_condition(s, taken ? b->taken : b->not_taken);
}

/* ---- names ---- */

uint64_t vti_flowstate_rename(struct vti_flowstate *s, uint64_t sym)
{
	unsigned i, n = 0;

	for (i = 0; i < VTI_STATE_REGS; i++)
		if (s->regs[i].sym == sym)
			s->regs[i].sym = 0;
	for (i = 0; i < s->ncells; i++)
		if (s->cells[i].sym != sym) {
			s->cells[n] = s->cells[i];
			if (s->cells[n].value.sym == sym)
				s->cells[n].value.sym = 0;
			n++;
		}
	s->ncells = (uint8_t)n;
	for (i = n = 0; i < s->nfacts; i++)
		if (s->facts[i].sym != sym)
			s->facts[n++] = s->facts[i];
	s->nfacts = (uint8_t)n;
	if (s->compare.value.sym == sym)
		s->compare.valid = false;
	return sym;
}

/* ---- registers and memory ---- */

struct vti_value vti_flowstate_get(const struct vti_flowstate *s, unsigned reg, unsigned width)
{
	int i = vti_flowstate_index(reg);
	struct vti_value v;

	if (i < 0)
		return vti_value_range(0, vti_mask(width));
	v = vti_value_low(&s->regs[i], width);
	return vti_flowstate_evaluate(s, &v);
}

struct vti_value vti_flowstate_get_operand(const struct vti_flowstate *s,
					   const struct vt_operand *o)
{
	if (o->high || o->size > 8)
		return vti_value_range(0, UINT64_MAX);
	return vti_flowstate_get(s, o->reg, 8u * o->size);
}

void vti_flowstate_put(struct vti_flowstate *s, unsigned reg, const struct vti_value *v)
{
	int i = vti_flowstate_index(reg);

	if (i >= 0)
		s->regs[i] = *v;
}

void vti_flowstate_put_operand(struct vti_flowstate *s, const struct vt_operand *o,
			       const struct vti_value *v, uint32_t offset)
{
	struct vti_value other;

	if (o->size >= 4 && o->size <= 8) {
		vti_flowstate_put(s, o->reg, v);
		return;
	}
	other = vti_value_unknown(vti_flowstate_rename(s, VTI_NAME_MADE | offset));
	other.computed = true;
	vti_flowstate_put(s, o->reg, &other);
}

struct vti_value vti_flowstate_address(struct vti_flowstate *s, const struct vt_memory *a,
				       uint64_t next, const struct vti_memory *m)
{
	struct vti_value base = vti_value_constant((uint64_t)a->displacement), index, r;
	struct vti_value reg;

	if (a->base == VT_REG_IP) {
		base.lo = base.hi = next + (uint64_t)a->displacement;
	} else if (a->base != VT_REG_NONE) {
		reg = vti_flowstate_get(s, a->base, 64);
		base = vti_value_add(&reg, &base, 64, 0);
	}
	if (a->index == VT_REG_NONE)
		return base;
	reg = vti_flowstate_get(s, a->index, 64);
	index = vti_value_times(&reg, a->scale, 64, 0);
	r = vti_value_add(&base, &index, 64, 0);
	if (r.entry || r.lo == r.hi || (r.stride && r.hi - r.lo < ANY_INDEX))
		return r;
	/* A table with an unknown index. */
	if (base.lo == base.hi && !base.entry && m->is_constant(m->arg, base.lo)) {
		r = vti_value_constant(base.lo);
		r.stride = a->scale;
		r.hi = r.lo + ANY_INDEX * a->scale;
	} else if (index.lo == index.hi && !index.entry && m->is_constant(m->arg, index.lo)) {
		r = vti_value_constant(index.lo);
		r.stride = 1;
		r.hi = r.lo + ANY_INDEX;
	}
	return r;
}

static bool is_cell_address(const struct vti_value *address)
{
	return !address->entry && !address->sext && address->width == 64 &&
	       (address->sym || address->lo == address->hi);
}

static struct vti_flowcell make_cell(const struct vti_value *address, unsigned size)
{
	bool constant = address->lo == address->hi;

	return (struct vti_flowcell){.sym = constant ? 0 : address->sym,
				     .off = constant ? address->lo : address->off,
				     .size = (uint8_t)size};
}

static const struct vti_flowcell *find_cell(const struct vti_flowstate *s,
					    const struct vti_flowcell *c)
{
	unsigned i;

	for (i = 0; i < s->ncells; i++)
		if (s->cells[i].sym == c->sym && s->cells[i].off == c->off &&
		    s->cells[i].size == c->size)
			return &s->cells[i];
	return NULL;
}

static void keep_cell(struct vti_flowstate *s, const struct vti_flowcell *c)
{
	unsigned i = s->ncells;

	if (i < VTI_STATE_CELLS) {
		s->ncells++;
	} else {
		i = s->oldest;
		s->oldest = (uint8_t)((s->oldest + 1) % VTI_STATE_CELLS);
	}
	s->cells[i] = *c;
}

/* Compilers save addresses of tables on the stack, where no other store changes them. */
static bool is_saved_table(const struct vti_flowcell *c, const struct vti_memory *m)
{
	return c->sym == VTI_NAME_STACK && c->size == 8 && !c->value.entry &&
	       c->value.lo == c->value.hi && m->is_constant(m->arg, c->value.lo);
}

void vti_flowstate_forget(struct vti_flowstate *s, const struct vti_flowcell *c,
			  const struct vti_memory *m)
{
	unsigned i, n = 0;

	for (i = 0; i < s->ncells; i++) {
		const struct vti_flowcell *o = &s->cells[i];
		bool keep = is_saved_table(o, m);

		/* Cells with the same base do not overlap if their offsets are far enough apart. */
		if (c && c->sym == o->sym)
			keep = o->off - c->off >= c->size && c->off - o->off >= o->size;
		else if (c && c->sym == VTI_NAME_STACK)
			keep = true;
		if (keep)
			s->cells[n++] = *o;
	}
	s->ncells = (uint8_t)n;
}

/* Returns true for the address of one or more constant words.  Addresses below the end of an ELF
 * header cannot have any; ranges of unknown addresses begin there. */
static bool is_table_address(const struct vti_value *address, const struct vti_memory *m)
{
	return !address->entry && address->lo >= 64 && address->hi - address->lo <= ANY_INDEX * 8 &&
	       m->is_constant(m->arg, address->lo);
}

struct vti_value vti_flowstate_load(struct vti_flowstate *s, const struct vti_value *address,
				    unsigned size, bool is_signed, uint32_t offset,
				    const struct vti_memory *m)
{
	struct vti_value v;
	struct vti_flowcell c;
	const struct vti_flowcell *found;
	uint64_t n;

	if (is_table_address(address, m) && size <= 8 && address->lo == address->hi &&
	    m->read(m->arg, address->lo, size, &n))
		return vti_value_constant(n);
	if (is_table_address(address, m) && size <= 8 && address->lo != address->hi) {
		v = *address;
		v.sym = v.off = 0;
		v.width = 64;
		v.entry = true;
		v.size = (uint8_t)size;
		v.is_signed = is_signed && size < 8;
		v.add = 0;
		if (v.stride < size)
			v.stride = size;
		return v;
	}
	if (is_cell_address(address) && size <= 8) {
		c = make_cell(address, size);
		found = find_cell(s, &c);
		if (found)
			return vti_flowstate_evaluate(s, &found->value);
	}
	v = vti_value_range(vti_flowstate_rename(s, VTI_NAME_LOAD | offset), vti_mask(8 * size));
	v.width = size < 8 ? (uint8_t)(8 * size) : 64;
	/* The address must not have the name that was just reused. */
	if (is_cell_address(address) && size <= 8 && address->sym != v.sym) {
		c = make_cell(address, size);
		c.value = v;
		keep_cell(s, &c);
	}
	return v;
}

void vti_flowstate_store(struct vti_flowstate *s, const struct vti_value *address, unsigned size,
			 const struct vti_value *v, const struct vti_memory *m)
{
	struct vti_flowcell c;

	if (!is_cell_address(address) || size > 8) {
		vti_flowstate_forget(s, NULL, m);
		return;
	}
	c = make_cell(address, size);
	vti_flowstate_forget(s, &c, m);
	c.value = vti_value_low(v, 8 * size);
	keep_cell(s, &c);
}

/* ---- joining paths ---- */

static bool differs_from(const struct vti_value *a, const struct vti_value *b)
{
	return a->sym != b->sym || a->off != b->off || a->width != b->width || a->sext != b->sext ||
	       a->entry != b->entry || a->computed != b->computed || a->lo != b->lo ||
	       a->hi != b->hi || a->stride != b->stride;
}

static bool join_value(struct vti_value *a, const struct vti_value *b, uint64_t sym, bool widen)
{
	struct vti_value r = vti_value_join(a, b, sym);

	if (!differs_from(&r, a))
		return false;
	if (widen) {
		/* If the names are equal, the name remains valid. */
		r.lo = 0;
		r.hi = UINT64_MAX;
		r.stride = 1;
		r.computed |= r.entry;
		r.entry = false;
		if (!vti_value_same(a, b)) {
			r.sym = sym;
			r.off = 0;
			r.width = 64;
			r.sext = false;
		}
		if (!differs_from(&r, a))
			return false;
	}
	*a = r;
	return true;
}

/* Keeps only words that have the same value on both paths. */
static bool join_cells(struct vti_flowstate *s, const struct vti_flowstate *o, bool widen)
{
	bool changed = false;
	unsigned i, n = 0;

	for (i = 0; i < s->ncells; i++) {
		struct vti_flowcell c = s->cells[i];
		const struct vti_flowcell *other = find_cell(o, &c);
		struct vti_value v;

		if (!other || !vti_value_same(&c.value, &other->value)) {
			changed = true;
			continue;
		}
		v = vti_flowstate_evaluate(o, &other->value);
		changed |= join_value(&c.value, &v, 0, widen);
		s->cells[n++] = c;
	}
	s->ncells = (uint8_t)n;
	s->oldest = 0;
	return changed;
}

static bool join_facts(struct vti_flowstate *s, const struct vti_flowstate *o, bool widen)
{
	bool changed = false;
	unsigned i, n = 0;

	for (i = 0; i < s->nfacts; i++) {
		struct vti_known k = s->facts[i];
		struct vti_value v = vti_value_range(k.sym, vti_mask(k.width));

		v.off = k.off;
		v.width = k.width;
		v = vti_flowstate_evaluate(o, &v);
		if (v.lo < k.lo || v.hi > k.hi) {
			changed = true;
			k.lo = v.lo < k.lo ? v.lo : k.lo;
			k.hi = v.hi > k.hi ? v.hi : k.hi;
			if (widen || (!k.lo && k.hi == vti_mask(k.width)))
				continue;
		}
		s->facts[n++] = k;
	}
	s->nfacts = (uint8_t)n;
	return changed;
}

static bool join_compare(struct vti_flowstate *s, const struct vti_flowstate *o)
{
	struct vti_compare *a = &s->compare;

	if (!a->valid)
		return false;
	a->valid = o->compare.valid && a->with == o->compare.with && a->width == o->compare.width &&
		   vti_value_same(&a->value, &o->compare.value);
	return !a->valid;
}

void vti_flowstate_settle(struct vti_flowstate *s)
{
	struct vti_flowcell *c;
	unsigned i;

	for (i = 0; i < VTI_STATE_REGS; i++)
		s->regs[i] = vti_flowstate_evaluate(s, &s->regs[i]);
	for (c = s->cells; c < s->cells + s->ncells; c++)
		c->value = vti_flowstate_evaluate(s, &c->value);
}

bool vti_flowstate_join(struct vti_flowstate *s, const struct vti_flowstate *other, uint32_t place,
			bool widen)
{
	bool changed = false;
	unsigned i;

	for (i = 0; i < VTI_STATE_REGS; i++) {
		struct vti_value b;

		/* Equal values need no join: facts about the other only narrow it. */
		if (!differs_from(&s->regs[i], &other->regs[i]) &&
		    s->regs[i].add == other->regs[i].add && s->regs[i].size == other->regs[i].size)
			continue;
		b = vti_flowstate_evaluate(other, &other->regs[i]);
		changed |= join_value(&s->regs[i], &b, VTI_NAME_JOIN | (uint64_t)place << 8 | i,
				      widen);
	}
	changed |= join_cells(s, other, widen);
	changed |= join_facts(s, other, widen);
	changed |= join_compare(s, other);
	return changed;
}
