/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/cfgstate.h"

#include <string.h>

/* Sorts of names, above any offset in a procedure. */
#define NAME_START (UINT64_C(1) << 60) /* what a register had at the start, by number */
#define NAME_MADE  (UINT64_C(2) << 60) /* an instruction's result, by offset */
#define NAME_LOAD  (UINT64_C(3) << 60) /* what it loaded */
#define NAME_JOIN  (UINT64_C(4) << 60) /* what is in a place where ways meet */

#define NAME_STACK (NAME_START | VT_REG_SP)

/* An index of which nothing is known: the table's own entries tell how long it is. */
#define ANY_INDEX UINT64_C(0xffffffff)

static int index_of(unsigned reg)
{
	if (reg <= VT_REG_SP)
		return (int)reg;
	if (reg >= VT_REG_R8 && reg <= VT_REG_R15)
		return (int)(reg - VT_REG_R8 + 8);
	return -1;
}

void vti_state_start(struct vti_state *s)
{
	unsigned i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < VTI_STATE_REGS; i++)
		s->regs[i] = vti_value_unknown(NAME_START | i);
}

bool vti_state_at_start(const struct vti_state *s)
{
	const struct vti_value *v = &s->regs[VT_REG_SP];

	return v->sym == NAME_STACK && v->off == 0 && v->width == 64;
}

bool vti_state_is_loaded(const struct vti_value *v)
{
	return !v->entry && !v->computed && !v->off && v->sym >> 60 == NAME_LOAD >> 60;
}

bool vti_state_switched(const struct vti_state *s)
{
	const struct vti_value *v = &s->regs[VT_REG_SP];

	return !v->entry && !v->computed && !v->off && v->sym && v->sym != NAME_STACK &&
	       v->sym >> 60 != NAME_JOIN >> 60;
}

/* ---- what comparisons told ---- */

/* Of another width, too, as long as neither has more bits than the narrower. */
static bool is_about(const struct vti_known *k, const struct vti_value *v)
{
	if (v->entry || !v->sym || k->sym != v->sym || k->off != v->off)
		return false;
	return k->width == v->width || (k->width > v->width && k->hi <= vti_mask(v->width)) ||
	       (k->width < v->width && v->hi <= vti_mask(k->width));
}

/* Cuts a range down. */
static void limit(struct vti_value *v, uint64_t lo, uint64_t hi)
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

static struct vti_value evaluate(const struct vti_state *s, const struct vti_value *v)
{
	struct vti_value r = *v, plain = *v;
	unsigned i;

	if (v->sext) {
		plain.sext = false;
		plain.lo = 0;
		plain.hi = vti_mask(v->width);
		plain.stride = 1;
		plain = evaluate(s, &plain);
		return plain.hi <= vti_mask(v->width) / 2 ? plain : r;
	}
	for (i = 0; i < s->nfacts; i++)
		if (is_about(&s->facts[i], v))
			limit(&r, s->facts[i].lo, s->facts[i].hi);
	return r;
}

static void learn(struct vti_state *s, const struct vti_value *v, uint64_t lo, uint64_t hi)
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
		/* The oldest goes. */
		memmove(s->facts, s->facts + 1, (VTI_STATE_FACTS - 1) * sizeof(k));
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

/* A name is given anew: whatever still has the old value of that name has none any more. */
static uint64_t rename_all(struct vti_state *s, uint64_t sym)
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

static struct vti_value get(const struct vti_state *s, unsigned reg, unsigned width)
{
	int i = index_of(reg);
	struct vti_value v;

	if (i < 0)
		return vti_value_range(0, vti_mask(width));
	v = vti_value_low(&s->regs[i], width);
	return evaluate(s, &v);
}

static struct vti_value get_operand(const struct vti_state *s, const struct vt_operand *o)
{
	if (o->high || o->size > 8)
		return vti_value_range(0, UINT64_MAX);
	return get(s, o->reg, 8u * o->size);
}

static void put(struct vti_state *s, unsigned reg, const struct vti_value *v)
{
	int i = index_of(reg);

	if (i >= 0)
		s->regs[i] = *v;
}

/* What an instruction writes; to a part of a register, it changes all of it. */
static void put_operand(struct vti_state *s, const struct vt_operand *o, const struct vti_value *v,
			uint32_t offset)
{
	struct vti_value other;

	if (o->size >= 4 && o->size <= 8) {
		put(s, o->reg, v);
		return;
	}
	other = vti_value_unknown(rename_all(s, NAME_MADE | offset));
	other.computed = true;
	put(s, o->reg, &other);
}

/* The address of a memory operand. */
static struct vti_value address_of(struct vti_state *s, const struct vt_memory *a, uint64_t next,
				   const struct vti_memory *m)
{
	struct vti_value base = vti_value_constant((uint64_t)a->displacement), index, r;
	struct vti_value reg;

	if (a->base == VT_REG_IP) {
		base.lo = base.hi = next + (uint64_t)a->displacement;
	} else if (a->base != VT_REG_NONE) {
		reg = get(s, a->base, 64);
		base = vti_value_add(&reg, &base, 64, 0);
	}
	if (a->index == VT_REG_NONE)
		return base;
	reg = get(s, a->index, 64);
	index = vti_value_times(&reg, a->scale, 64, 0);
	r = vti_value_add(&base, &index, 64, 0);
	if (r.entry || (r.stride && r.hi - r.lo < ANY_INDEX))
		return r;
	/* A table and an index of which nothing is known. */
	if (base.lo == base.hi && !base.entry && m->is_constant(m->arg, base.lo)) {
		r = vti_value_range(0, 0);
		r.lo = base.lo;
		r.stride = a->scale;
		r.hi = r.lo + ANY_INDEX * a->scale;
	} else if (index.lo == index.hi && !index.entry && m->is_constant(m->arg, index.lo)) {
		r = vti_value_range(0, 0);
		r.lo = index.lo;
		r.stride = 1;
		r.hi = r.lo + ANY_INDEX;
	}
	return r;
}

static bool is_cell(const struct vti_value *address)
{
	return !address->entry && !address->sext && address->width == 64 &&
	       (address->sym || address->lo == address->hi);
}

static struct vti_cell cell_at(const struct vti_value *address, unsigned size)
{
	bool constant = address->lo == address->hi;

	return (struct vti_cell){.sym = constant ? 0 : address->sym,
				 .off = constant ? address->lo : address->off,
				 .size = (uint8_t)size};
}

static const struct vti_cell *same_cell(const struct vti_state *s, const struct vti_cell *c)
{
	unsigned i;

	for (i = 0; i < s->ncells; i++)
		if (s->cells[i].sym == c->sym && s->cells[i].off == c->off &&
		    s->cells[i].size == c->size)
			return &s->cells[i];
	return NULL;
}

static void keep_cell(struct vti_state *s, const struct vti_cell *c)
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

/* Compilers keep the address of a table on the stack, which nothing else changes. */
static bool is_saved_table(const struct vti_cell *c, const struct vti_memory *m)
{
	return c->sym == NAME_STACK && c->size == 8 && !c->value.entry &&
	       c->value.lo == c->value.hi && m->is_constant(m->arg, c->value.lo);
}

/* Memory changes that is not at `c`, or anywhere (NULL). */
static void forget_cells(struct vti_state *s, const struct vti_cell *c, const struct vti_memory *m)
{
	unsigned i, n = 0;

	for (i = 0; i < s->ncells; i++) {
		const struct vti_cell *o = &s->cells[i];
		bool keep = is_saved_table(o, m);

		/* On the stack, a place is known by its distance. */
		if (c && c->sym == o->sym)
			keep = o->off - c->off >= c->size && c->off - o->off >= o->size;
		else if (c && c->sym == NAME_STACK)
			keep = true;
		if (keep)
			s->cells[n++] = *o;
	}
	s->ncells = (uint8_t)n;
}

/* One word, or several of which the first is known, that stay as they are.  Nothing is in what
 * comes before a file's header ends; that is where addresses begin of which nothing is known. */
static bool is_table(const struct vti_value *address, const struct vti_memory *m)
{
	return !address->entry && address->lo >= 64 && address->hi - address->lo <= ANY_INDEX * 8 &&
	       m->is_constant(m->arg, address->lo);
}

static struct vti_value load(struct vti_state *s, const struct vti_value *address, unsigned size,
			     bool is_signed, uint32_t offset, const struct vti_memory *m)
{
	struct vti_value v;
	struct vti_cell c;
	const struct vti_cell *found;
	uint64_t n;

	if (is_table(address, m) && size <= 8 && address->lo == address->hi &&
	    m->read(m->arg, address->lo, size, &n))
		return vti_value_constant(n);
	if (is_table(address, m) && size <= 8 && address->lo != address->hi) {
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
	if (is_cell(address) && size <= 8) {
		c = cell_at(address, size);
		found = same_cell(s, &c);
		if (found)
			return evaluate(s, &found->value);
	}
	v = vti_value_range(rename_all(s, NAME_LOAD | offset),
			    size < 8 ? vti_mask(8 * size) : UINT64_MAX);
	v.width = size < 8 ? (uint8_t)(8 * size) : 64;
	/* The address may have had the name. */
	if (is_cell(address) && size <= 8 && address->sym != v.sym) {
		c = cell_at(address, size);
		c.value = v;
		keep_cell(s, &c);
	}
	return v;
}

static void store(struct vti_state *s, const struct vti_value *address, unsigned size,
		  const struct vti_value *v, const struct vti_memory *m)
{
	struct vti_cell c;

	if (!is_cell(address) || size > 8) {
		forget_cells(s, NULL, m);
		return;
	}
	c = cell_at(address, size);
	forget_cells(s, &c, m);
	c.value = vti_value_low(v, 8 * size);
	keep_cell(s, &c);
}

/* ---- instructions ---- */

enum op {
	OP_OTHER,
	OP_MOV,
	OP_MOVZX,
	OP_MOVSX,
	OP_LEA,
	OP_ADD,
	OP_SUB,
	OP_AND,
	OP_SHL,
	OP_SHR,
	OP_IMUL,
	OP_XOR,
	OP_INC,
	OP_DEC,
	OP_PUSH,
	OP_POP,
	OP_LEAVE,
	OP_CDQE,
	OP_CMP,
	OP_TEST,
	OP_COUNT,
};

static const struct {
	const char *name;
	enum op op;
} ops[] = {
	{"mov", OP_MOV},      {"lea", OP_LEA},	   {"cmp", OP_CMP},	 {"test", OP_TEST},
	{"add", OP_ADD},      {"sub", OP_SUB},	   {"and", OP_AND},	 {"xor", OP_XOR},
	{"push", OP_PUSH},    {"pop", OP_POP},	   {"movzx", OP_MOVZX},	 {"movsx", OP_MOVSX},
	{"movsxd", OP_MOVSX}, {"shl", OP_SHL},	   {"shr", OP_SHR},	 {"imul", OP_IMUL},
	{"inc", OP_INC},      {"dec", OP_DEC},	   {"leave", OP_LEAVE},	 {"cdqe", OP_CDQE},
	{"bsf", OP_COUNT},    {"tzcnt", OP_COUNT}, {"popcnt", OP_COUNT}, {"bsr", OP_COUNT},
	{"lzcnt", OP_COUNT},
};

static enum op op_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].name[0] == name[0] && strcmp(ops[i].name, name) == 0)
			return ops[i].op;
	return OP_OTHER;
}

/* An instruction at work. */
struct step {
	struct vti_state *s;
	const struct vt_facts *f;
	const struct vti_memory *m;
	uint64_t next; /* vaddr behind it */
	uint32_t offset;
	unsigned width; /* of what it works on */
};

static const struct vt_memory *read_memory(const struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		if (f->memories[i].read && !f->memories[i].gather)
			return &f->memories[i];
	return NULL;
}

static const struct vt_memory *written_memory(const struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		if (f->memories[i].written)
			return &f->memories[i];
	return NULL;
}

static struct vti_value load_operand(struct step *t, const struct vt_memory *a, bool is_signed)
{
	struct vti_value address;

	if (a->segment != VT_REG_NONE)
		address = vti_value_unknown(0);
	else
		address = address_of(t->s, a, t->next, t->m);
	return load(t->s, &address, a->size, is_signed, t->offset, t->m);
}

static struct vti_value immediate(const struct step *t)
{
	return vti_value_constant((uint64_t)t->f->immediate & vti_mask(t->width));
}

/* What an instruction reads last: the one operand of a move, the second of a sum. */
static struct vti_value last_source(struct step *t)
{
	const struct vt_memory *a = read_memory(t->f);

	if (t->f->has_immediate)
		return immediate(t);
	if (a && !a->written)
		return load_operand(t, a, false);
	if (t->f->nsources)
		return get_operand(t->s, &t->f->sources[t->f->nsources - 1]);
	return vti_value_unknown(0);
}

static uint64_t made(struct step *t)
{
	return NAME_MADE | t->offset;
}

static struct vti_value extended(struct step *t)
{
	const struct vt_memory *a = read_memory(t->f);
	struct vti_value v;
	unsigned from;

	if (a) {
		v = load_operand(t, a, true);
		from = 8u * a->size;
	} else {
		v = last_source(t);
		from = t->f->nsources ? 8u * t->f->sources[0].size : 0;
	}
	if (!from || from >= 64)
		return v;
	if (v.entry && a)
		return v;
	return vti_value_sign_extend(&v, from, t->width, made(t));
}

static struct vti_value minus(const struct vti_value *v, unsigned width)
{
	return vti_value_constant((0 - v->lo) & vti_mask(width));
}

/* The result of an instruction that works on the register that it writes. */
static struct vti_value worked(struct step *t, enum op op)
{
	struct vti_value a = get_operand(t->s, &t->f->sources[0]), b = last_source(t);
	struct vti_value r = vti_value_range(made(t), vti_mask(t->width));
	bool constant = !b.entry && b.lo == b.hi;

	r.computed = true;
	switch (op) {
	case OP_ADD:
		return vti_value_add(&a, &b, t->width, made(t));
	case OP_SUB:
		if (!constant)
			return r;
		b = minus(&b, t->width);
		return vti_value_add(&a, &b, t->width, made(t));
	case OP_AND:
		return constant ? vti_value_and(&a, b.lo, t->width, made(t)) : r;
	case OP_SHL:
		return constant && b.lo < 32
			       ? vti_value_times(&a, UINT64_C(1) << b.lo, t->width, made(t))
			       : r;
	case OP_SHR:
		return constant ? vti_value_shift_right(&a, (unsigned)b.lo, t->width, made(t)) : r;
	case OP_IMUL:
		return t->f->has_immediate && !read_memory(t->f) && b.lo < 4096
			       ? vti_value_times(&a, b.lo, t->width, made(t))
			       : r;
	case OP_XOR:
		/* The C library's pointers are stored so, and are pointers again afterwards. */
		if (read_memory(t->f) && read_memory(t->f)->segment != VT_REG_NONE)
			r.computed = false;
		if (t->f->nsources == 2 && !t->f->has_immediate &&
		    t->f->sources[0].reg == t->f->sources[1].reg)
			return vti_value_constant(0);
		return r;
	default:
		return r;
	}
}

static struct vti_value result(struct step *t, enum op op)
{
	struct vti_value v = vti_value_range(made(t), vti_mask(t->width)), one;

	v.computed = true;
	switch (op) {
	case OP_MOV:
	case OP_MOVZX:
		return last_source(t);
	case OP_MOVSX:
		return extended(t);
	case OP_LEA:
		one = address_of(t->s, &t->f->memories[0], t->next, t->m);
		return vti_value_low(&one, t->width);
	case OP_CDQE:
		one = get(t->s, VT_REG_AX, t->width / 2);
		return vti_value_sign_extend(&one, t->width / 2, t->width, made(t));
	case OP_INC:
	case OP_DEC:
		if (!t->f->nsources)
			return v;
		v = get_operand(t->s, &t->f->sources[0]);
		one = vti_value_constant(op == OP_INC ? 1 : vti_mask(t->width));
		return vti_value_add(&v, &one, t->width, made(t));
	case OP_COUNT:
		v.hi = 63;
		return v;
	default:
		return t->f->nsources ? worked(t, op) : v;
	}
}

/* What is compared gets a name, if it has none, for what follows to know it by. */
static struct vti_value name_register(struct step *t, const struct vt_operand *o)
{
	int i = index_of(o->reg);
	struct vti_value *v = &t->s->regs[i < 0 ? 0 : i];

	if (i >= 0 && !v->sym && !v->entry && v->lo != v->hi) {
		v->sym = rename_all(t->s, made(t));
		v->off = 0;
		v->width = 64;
		v->sext = false;
	}
	return get_operand(t->s, o);
}

static void set_compare(struct step *t, enum op op)
{
	struct vti_compare *c = &t->s->compare;
	const struct vt_facts *f = t->f;
	const struct vt_memory *a = read_memory(f);
	struct vti_value b;

	c->valid = false;
	t->width = f->nsources ? 8u * f->sources[0].size : a ? 8u * a->size : 0;
	if (!t->width || t->width > 64)
		return;
	if (op == OP_TEST) {
		if (f->nsources != 2 || f->has_immediate ||
		    f->sources[0].reg != f->sources[1].reg || f->sources[0].high)
			return;
		b = vti_value_constant(0);
		c->value = get_operand(t->s, &f->sources[0]);
	} else if (f->has_immediate) {
		b = immediate(t);
		c->value = a ? load_operand(t, a, false) : get_operand(t->s, &f->sources[0]);
	} else if (f->nsources == 2 && !a) {
		b = get_operand(t->s, &f->sources[1]);
		c->value = get_operand(t->s, &f->sources[0]);
	} else {
		return;
	}
	c->valid = b.lo == b.hi && !b.entry && !(f->nsources && f->sources[0].high);
	if (c->valid && !c->value.sym && f->nsources && !a)
		c->value = name_register(t, &f->sources[0]);
	c->with = b.lo;
	c->width = (uint8_t)t->width;
}

/* Registers that a procedure may change: System V ABI for AMD64, 3.2.1. */
static void call(struct step *t)
{
	static const uint8_t changed[] = {VT_REG_AX,	 VT_REG_CX,	VT_REG_DX,
					  VT_REG_SI,	 VT_REG_DI,	VT_REG_R8,
					  VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3};
	struct vti_value v;
	size_t i;

	forget_cells(t->s, NULL, t->m);
	for (i = 0; i < sizeof(changed); i++) {
		v = vti_value_unknown(i ? 0 : rename_all(t->s, NAME_LOAD | t->offset));
		put(t->s, changed[i], &v);
	}
	t->s->compare.valid = false;
}

static void move_stack(struct step *t, uint64_t by)
{
	struct vti_value n = vti_value_constant(by), v = get(t->s, VT_REG_SP, 64);

	v = vti_value_add(&v, &n, 64, made(t));
	put(t->s, VT_REG_SP, &v);
}

static void push(struct step *t)
{
	struct vti_value v = vti_value_unknown(0), sp;

	if (t->f->nsources == 1 && !read_memory(t->f))
		v = get_operand(t->s, &t->f->sources[0]);
	move_stack(t, 0 - UINT64_C(8));
	sp = get(t->s, VT_REG_SP, 64);
	store(t->s, &sp, 8, &v, t->m);
}

static void pop(struct step *t)
{
	struct vti_value sp = get(t->s, VT_REG_SP, 64);
	struct vti_value v = load(t->s, &sp, 8, false, t->offset, t->m);

	move_stack(t, 8);
	if (t->f->nresults)
		put_operand(t->s, &t->f->results[0], &v, t->offset);
}

static void leave(struct step *t)
{
	struct vti_value bp = get(t->s, VT_REG_BP, 64);
	struct vti_value v;

	put(t->s, VT_REG_SP, &bp);
	v = load(t->s, &bp, 8, false, t->offset, t->m);
	move_stack(t, 8);
	put(t->s, VT_REG_BP, &v);
}

static void write_memory(struct step *t, enum op op)
{
	const struct vt_memory *a = written_memory(t->f);
	struct vti_value v = vti_value_unknown(0), address;

	if (!a)
		return;
	if (a->segment != VT_REG_NONE || a->gather || (t->f->flags & VT_FACT_REPEATED)) {
		forget_cells(t->s, NULL, t->m);
		return;
	}
	t->width = 8u * a->size;
	if (op == OP_MOV && t->width <= 64)
		v = last_source(t);
	address = address_of(t->s, a, t->next, t->m);
	store(t->s, &address, a->size, &v, t->m);
}

/* Either operand, by a condition. */
static struct vti_value moved_if(struct step *t)
{
	struct vti_value a = get_operand(t->s, &t->f->results[0]), b = last_source(t);

	return vti_value_join(&a, &b, made(t));
}

static void write_registers(struct step *t, enum op op)
{
	const struct vt_facts *f = t->f;
	struct vti_value v;
	unsigned i;

	if (!f->nresults)
		return;
	t->width = 8u * f->results[0].size;
	if (f->nresults == 1 && t->width && t->width <= 64 && !f->results[0].high) {
		if (strncmp(f->mnemonic, "cmov", 4) == 0)
			v = moved_if(t);
		else
			v = result(t, op);
		if (v.sym == made(t))
			rename_all(t->s, v.sym);
		put_operand(t->s, &f->results[0], &v, t->offset);
		return;
	}
	for (i = 0; i < f->nresults; i++) {
		v = vti_value_unknown(0);
		v.computed = true;
		put_operand(t->s, &f->results[i], &v, t->offset);
	}
}

/* Registers that change without being results: the pointers of string instructions, cpuid's. */
static void forget_written(struct step *t)
{
	struct vti_value v = vti_value_unknown(0);
	unsigned reg, i;

	v.computed = true;
	for (reg = 0; reg <= VT_REG_R15; reg++) {
		bool named = reg == VT_REG_SP || index_of(reg) < 0;

		for (i = 0; i < t->f->nresults && !named; i++)
			named = t->f->results[i].reg == reg;
		if (!named && (t->f->writes >> reg & 1))
			put(t->s, reg, &v);
	}
}

void vti_state_step(struct vti_state *s, const struct vt_facts *f, uint64_t vaddr, uint32_t offset,
		    const struct vti_memory *m)
{
	struct step t = {s, f, m, vaddr + f->length, offset, 0};
	enum op op = op_of(f->mnemonic);

	if (f->flags & VT_FACT_NOP)
		return;
	if (f->flags & VT_FACT_CALL) {
		call(&t);
		return;
	}
	switch (op) {
	case OP_CMP:
	case OP_TEST:
		set_compare(&t, op);
		return;
	case OP_PUSH:
		push(&t);
		return;
	case OP_POP:
		pop(&t);
		return;
	case OP_LEAVE:
		leave(&t);
		return;
	default:
		break;
	}
	if (f->writes >> VT_REG_FLAGS & 1)
		s->compare.valid = false;
	write_memory(&t, op);
	write_registers(&t, op);
	forget_written(&t);
}

struct vti_value vti_state_target(struct vti_state *s, const struct vt_facts *f, uint64_t vaddr,
				  uint32_t offset, const struct vti_memory *m)
{
	struct step t = {s, f, m, vaddr + f->length, offset, 64};
	const struct vt_memory *a = read_memory(f);

	if (a)
		return load_operand(&t, a, false);
	if (f->nsources)
		return get_operand(s, &f->sources[0]);
	return vti_value_unknown(0);
}

/* ---- conditional branches ---- */

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

static const struct {
	const char *name; /* Zydis's */
	enum condition taken;
	enum condition not_taken;
} branches[] = {
	{"jnbe", IF_ABOVE, IF_NOT_ABOVE},     {"jnb", IF_NOT_BELOW, IF_BELOW},
	{"jb", IF_BELOW, IF_NOT_BELOW},	      {"jbe", IF_NOT_ABOVE, IF_ABOVE},
	{"jz", IF_EQUAL, IF_NOT_EQUAL},	      {"jnz", IF_NOT_EQUAL, IF_EQUAL},
	{"jnle", IF_GREATER, IF_NOT_GREATER}, {"jnl", IF_NOT_LESS, IF_LESS},
	{"jl", IF_LESS, IF_NOT_LESS},	      {"jle", IF_NOT_GREATER, IF_GREATER},
	{"js", IF_SIGN, IF_NO_SIGN},	      {"jns", IF_NO_SIGN, IF_SIGN},
};

/* The range of what satisfies a condition, given that it is in [*lo, *hi]. */
static void satisfy(enum condition c, uint64_t with, unsigned width, uint64_t *lo, uint64_t *hi)
{
	uint64_t most = vti_mask(width) / 2; /* as signed */
	uint64_t above = with < vti_mask(width) ? with + 1 : with, below = with ? with - 1 : 0;
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
		if (*lo == with && *lo < *hi)
			++*lo;
		else if (*hi == with && *lo < *hi)
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

void vti_state_branch(struct vti_state *s, const struct vt_facts *f, bool taken)
{
	const struct vti_compare *c = &s->compare;
	struct vti_value v = c->value;
	uint64_t lo, hi;
	size_t i;

	if (!c->valid || v.entry)
		return;
	for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (strcmp(branches[i].name, f->mnemonic) == 0)
			break;
	if (i == sizeof(branches) / sizeof(branches[0]))
		return;
	v = evaluate(s, &v);
	lo = v.lo;
	hi = v.hi;
	satisfy(taken ? branches[i].taken : branches[i].not_taken, c->with, c->width, &lo, &hi);
	if (lo < v.lo)
		lo = v.lo;
	if (hi > v.hi)
		hi = v.hi;
	/* Below half its range, it is the same with and without sign. */
	if (v.sext && hi > vti_mask(v.width) / 2)
		return;
	v.sext = false;
	learn(s, &v, lo, hi);
}

/* ---- where ways meet ---- */

static bool differs(const struct vti_value *a, const struct vti_value *b)
{
	return a->sym != b->sym || a->off != b->off || a->width != b->width || a->sext != b->sext ||
	       a->entry != b->entry || a->computed != b->computed || a->lo != b->lo ||
	       a->hi != b->hi || a->stride != b->stride;
}

static bool join_value(struct vti_value *a, const struct vti_value *b, uint64_t sym, bool widen)
{
	struct vti_value r = vti_value_join(a, b, sym);

	if (!differs(&r, a))
		return false;
	if (widen) {
		/* A name that it keeps is worth as much as before. */
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
		if (!differs(&r, a))
			return false;
	}
	*a = r;
	return true;
}

/* Only words that have the same value on both ways stay known. */
static bool join_cells(struct vti_state *s, const struct vti_state *o, bool widen)
{
	bool changed = false;
	unsigned i, n = 0;

	for (i = 0; i < s->ncells; i++) {
		struct vti_cell c = s->cells[i];
		const struct vti_cell *other = same_cell(o, &c);
		struct vti_value v;

		if (!other || !vti_value_same(&c.value, &other->value)) {
			changed = true;
			continue;
		}
		v = evaluate(o, &other->value);
		changed |= join_value(&c.value, &v, 0, widen);
		s->cells[n++] = c;
	}
	s->ncells = (uint8_t)n;
	s->oldest = 0;
	return changed;
}

static bool join_facts(struct vti_state *s, const struct vti_state *o, bool widen)
{
	bool changed = false;
	unsigned i, n = 0;

	for (i = 0; i < s->nfacts; i++) {
		struct vti_known k = s->facts[i];
		struct vti_value v = vti_value_range(k.sym, vti_mask(k.width));

		v.off = k.off;
		v.width = k.width;
		v = evaluate(o, &v);
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

static bool join_compare(struct vti_state *s, const struct vti_state *o)
{
	struct vti_compare *a = &s->compare;

	if (!a->valid)
		return false;
	a->valid = o->compare.valid && a->with == o->compare.with && a->width == o->compare.width &&
		   vti_value_same(&a->value, &o->compare.value);
	return !a->valid;
}

void vti_state_settle(struct vti_state *s)
{
	unsigned i;

	for (i = 0; i < VTI_STATE_REGS; i++)
		s->regs[i] = evaluate(s, &s->regs[i]);
	for (i = 0; i < s->ncells; i++)
		s->cells[i].value = evaluate(s, &s->cells[i].value);
}

bool vti_state_join(struct vti_state *s, const struct vti_state *other, uint32_t place, bool widen)
{
	bool changed = false;
	unsigned i;

	for (i = 0; i < VTI_STATE_REGS; i++) {
		struct vti_value b;

		/* What comparisons told of the other only makes it less. */
		if (!differs(&s->regs[i], &other->regs[i]) &&
		    s->regs[i].add == other->regs[i].add && s->regs[i].size == other->regs[i].size)
			continue;
		b = evaluate(other, &other->regs[i]);
		changed |= join_value(&s->regs[i], &b, NAME_JOIN | (uint64_t)place << 8 | i, widen);
	}
	changed |= join_cells(s, other, widen);
	changed |= join_facts(s, other, widen);
	changed |= join_compare(s, other);
	return changed;
}
