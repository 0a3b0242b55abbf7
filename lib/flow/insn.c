/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "flow/state_internal.h"

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

static enum op find_op(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].name[0] == name[0] && strcmp(ops[i].name, name) == 0)
			return ops[i].op;
	return OP_OTHER;
}

/* The application of an instruction to a state. */
struct insn_step {
	struct vti_flowstate *s;
	const struct vt_facts *f;
	const struct vti_memory *m;
	uint64_t next; /* vaddr after it */
	uint32_t offset;
	unsigned width; /* of its operands, bits */
};

static const struct vt_memory *get_read_operand(const struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		if (f->memories[i].read && !f->memories[i].gather)
			return &f->memories[i];
	return NULL;
}

static const struct vt_memory *get_written_operand(const struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		if (f->memories[i].written)
			return &f->memories[i];
	return NULL;
}

static struct vti_value load_operand(struct insn_step *t, const struct vt_memory *a, bool is_signed)
{
	struct vti_value address = a->segment == VT_REG_NONE
					   ? vti_flowstate_address(t->s, a, t->next, t->m)
					   : vti_value_unknown(0);

	return vti_flowstate_load(t->s, &address, a->size, is_signed, t->offset, t->m);
}

static struct vti_value get_immediate(const struct insn_step *t)
{
	return vti_value_constant((uint64_t)t->f->immediate & vti_mask(t->width));
}

/* Returns the last source: the only operand of a move, the second of a sum. */
static struct vti_value get_last_source(struct insn_step *t)
{
	const struct vt_memory *a = get_read_operand(t->f);

	if (t->f->has_immediate)
		return get_immediate(t);
	if (a && !a->written)
		return load_operand(t, a, false);
	if (t->f->nsources)
		return vti_flowstate_get_operand(t->s, &t->f->sources[t->f->nsources - 1]);
	return vti_value_unknown(0);
}

static uint64_t made_name(struct insn_step *t)
{
	return VTI_NAME_MADE | t->offset;
}

static struct vti_value compute_extended(struct insn_step *t)
{
	const struct vt_memory *a = get_read_operand(t->f);
	struct vti_value v = a ? load_operand(t, a, true) : get_last_source(t);
	unsigned from = 8u * (a ? a->size : t->f->sources[0].size);

	/* The instruction set has 8, 16 and 32 bits only. */
	assert(from && from < 64);
	if (v.entry && a)
		return v;
	return vti_value_sign_extend(&v, from, t->width, made_name(t));
}

static struct vti_value negate_constant(const struct vti_value *v, unsigned width)
{
	return vti_value_constant((0 - v->lo) & vti_mask(width));
}

/* Returns the result of an instruction whose first source is its destination register. */
static struct vti_value compute_in_place(struct insn_step *t, enum op op)
{
	struct vti_value a = vti_flowstate_get_operand(t->s, &t->f->sources[0]),
			 b = get_last_source(t);
	struct vti_value r = vti_value_range(made_name(t), vti_mask(t->width));
	bool constant = !b.entry && b.lo == b.hi;

	r.computed = true;
	switch (op) {
	case OP_ADD:
		return vti_value_add(&a, &b, t->width, made_name(t));
	case OP_SUB:
		if (!constant)
			return r;
		b = negate_constant(&b, t->width);
		return vti_value_add(&a, &b, t->width, made_name(t));
	case OP_AND:
		return constant ? vti_value_and(&a, b.lo, t->width, made_name(t)) : r;
	case OP_SHL:
		return constant && b.lo < 32
			       ? vti_value_times(&a, UINT64_C(1) << b.lo, t->width, made_name(t))
			       : r;
	case OP_SHR:
		return constant ? vti_value_shift_right(&a, (unsigned)b.lo, t->width, made_name(t))
				: r;
	case OP_IMUL:
		return t->f->has_immediate && !get_read_operand(t->f) && b.lo < 4096
			       ? vti_value_times(&a, b.lo, t->width, made_name(t))
			       : r;
	case OP_XOR:
		/* glibc encrypts stored pointers like this; the result is the pointer again. */
		if (get_read_operand(t->f) && get_read_operand(t->f)->segment != VT_REG_NONE)
			r.computed = false;
		if (t->f->nsources == 2 && !t->f->has_immediate &&
		    t->f->sources[0].reg == t->f->sources[1].reg)
			return vti_value_constant(0);
		return r;
	default:
		return r;
	}
}

static struct vti_value compute_result(struct insn_step *t, enum op op)
{
	struct vti_value v = vti_value_range(made_name(t), vti_mask(t->width)), one;

	v.computed = true;
	switch (op) {
	case OP_MOV:
	case OP_MOVZX:
		return get_last_source(t);
	case OP_MOVSX:
		return compute_extended(t);
	case OP_LEA:
		one = vti_flowstate_address(t->s, &t->f->memories[0], t->next, t->m);
		return vti_value_low(&one, t->width);
	case OP_CDQE:
		one = vti_flowstate_get(t->s, VT_REG_AX, t->width);
		return vti_value_sign_extend(&one, t->width / 2, t->width, made_name(t));
	case OP_INC:
	case OP_DEC:
		if (!t->f->nsources)
			return v;
		v = vti_flowstate_get_operand(t->s, &t->f->sources[0]);
		one = vti_value_constant(op == OP_INC ? 1 : vti_mask(t->width));
		return vti_value_add(&v, &one, t->width, made_name(t));
	case OP_COUNT:
		v.hi = 63;
		return v;
	default:
		return t->f->nsources ? compute_in_place(t, op) : v;
	}
}

static void ensure_value_name(struct insn_step *t, struct vti_value *v)
{
	if (v->sym || v->entry || v->lo == v->hi)
		return;
	v->sym = vti_flowstate_rename(t->s, made_name(t));
	v->off = 0;
	v->width = 64;
	v->sext = false;
}

/* Gives a compared register a name, if it has none, so that facts can refer to it. */
static struct vti_value ensure_register_name(struct insn_step *t, const struct vt_operand *o)
{
	int i = vti_flowstate_index(o->reg);

	if (i >= 0)
		ensure_value_name(t, &t->s->regs[i]);
	return vti_flowstate_get_operand(t->s, o);
}

static void set_compare(struct insn_step *t, enum op op)
{
	struct vti_compare *c = &t->s->compare;
	const struct vt_facts *f = t->f;
	const struct vt_memory *a = get_read_operand(f);
	struct vti_value b = vti_value_constant(0);

	c->valid = false;
	t->width = 8u * (f->nsources ? f->sources[0].size : a ? a->size : 0);
	if (!t->width)
		return;
	if (op == OP_TEST) {
		/* A test of a register with itself compares it with 0. */
		if (f->nsources != 2 || f->sources[0].reg != f->sources[1].reg ||
		    f->sources[1].high)
			return;
	} else if (f->has_immediate) {
		b = get_immediate(t);
	} else if (f->nsources == 2) {
		b = vti_flowstate_get_operand(t->s, &f->sources[1]);
	} else {
		return;
	}
	if (b.entry || b.lo != b.hi || f->sources[0].high)
		return;
	c->valid = true;
	c->value = a ? load_operand(t, a, false) : ensure_register_name(t, &f->sources[0]);
	c->with = b.lo;
	c->width = (uint8_t)t->width;
}

/* Forgets memory and the registers that a procedure may change: System V ABI for AMD64, 3.2.1. */
static void apply_call(struct insn_step *t)
{
	static const uint8_t changed[] = {VT_REG_AX,	 VT_REG_CX,	VT_REG_DX,
					  VT_REG_SI,	 VT_REG_DI,	VT_REG_R8,
					  VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3};
	struct vti_value v;
	size_t i;

	vti_flowstate_forget(t->s, NULL, t->m);
	for (i = 0; i < sizeof(changed); i++) {
		v = vti_value_unknown(i ? 0
					: vti_flowstate_rename(t->s, VTI_NAME_LOAD | t->offset));
		vti_flowstate_put(t->s, changed[i], &v);
	}
	t->s->compare.valid = false;
}

/* The kernel preserves registers, except that of the result and those that the instruction changes.
 */
static void apply_syscall(struct insn_step *t)
{
	struct vti_value v = vti_value_unknown(0);

	vti_flowstate_forget(t->s, NULL, t->m);
	vti_flowstate_put(t->s, VT_REG_AX, &v);
}

static void move_stack_pointer(struct insn_step *t, uint64_t by)
{
	struct vti_value n = vti_value_constant(by), v = vti_flowstate_get(t->s, VT_REG_SP, 64);

	v = vti_value_add(&v, &n, 64, made_name(t));
	vti_flowstate_put(t->s, VT_REG_SP, &v);
}

static void apply_push(struct insn_step *t)
{
	struct vti_value v = vti_value_unknown(0), sp;

	if (t->f->nsources == 1 && !get_read_operand(t->f))
		v = vti_flowstate_get_operand(t->s, &t->f->sources[0]);
	move_stack_pointer(t, 0 - UINT64_C(8));
	sp = vti_flowstate_get(t->s, VT_REG_SP, 64);
	vti_flowstate_store(t->s, &sp, 8, &v, t->m);
}

static void apply_pop(struct insn_step *t)
{
	struct vti_value sp = vti_flowstate_get(t->s, VT_REG_SP, 64);
	struct vti_value v = vti_flowstate_load(t->s, &sp, 8, false, t->offset, t->m);

	move_stack_pointer(t, 8);
	if (t->f->nresults)
		vti_flowstate_put_operand(t->s, &t->f->results[0], &v, t->offset);
}

static void apply_leave(struct insn_step *t)
{
	struct vti_value bp = vti_flowstate_get(t->s, VT_REG_BP, 64);
	struct vti_value v;

	vti_flowstate_put(t->s, VT_REG_SP, &bp);
	v = vti_flowstate_load(t->s, &bp, 8, false, t->offset, t->m);
	move_stack_pointer(t, 8);
	vti_flowstate_put(t->s, VT_REG_BP, &v);
}

static void set_result_memory(struct insn_step *t, enum op op)
{
	const struct vt_memory *a = get_written_operand(t->f);
	struct vti_value v = vti_value_unknown(0), address;

	if (!a)
		return;
	if (a->segment != VT_REG_NONE || a->gather || (t->f->flags & VT_FACT_REPEATED)) {
		vti_flowstate_forget(t->s, NULL, t->m);
		return;
	}
	t->width = 8u * a->size;
	if (op == OP_MOV && t->width <= 64)
		v = get_last_source(t);
	address = vti_flowstate_address(t->s, a, t->next, t->m);
	vti_flowstate_store(t->s, &address, a->size, &v, t->m);
}

/* Returns the result of a conditional move: either operand. */
static struct vti_value compute_conditional_move(struct insn_step *t)
{
	struct vti_value a = vti_flowstate_get_operand(t->s, &t->f->results[0]),
			 b = get_last_source(t);

	return vti_value_join(&a, &b, made_name(t));
}

static void set_result_registers(struct insn_step *t, enum op op)
{
	const struct vt_facts *f = t->f;
	struct vti_value v;
	unsigned i;

	if (!f->nresults)
		return;
	t->width = 8u * f->results[0].size;
	if (f->nresults == 1 && t->width <= 64) {
		if (strncmp(f->mnemonic, "cmov", 4) == 0)
			v = compute_conditional_move(t);
		else
			v = compute_result(t, op);
		if (v.sym == made_name(t))
			vti_flowstate_rename(t->s, v.sym);
		vti_flowstate_put_operand(t->s, &f->results[0], &v, t->offset);
		return;
	}
	for (i = 0; i < f->nresults; i++) {
		v = vti_value_unknown(0);
		v.computed = true;
		vti_flowstate_put_operand(t->s, &f->results[i], &v, t->offset);
	}
}

/* Forgets registers that change but are not results: pointers of string instructions, cpuid's. */
static void forget_written(struct insn_step *t)
{
	struct vti_value v = vti_value_unknown(0);
	unsigned reg, i;

	v.computed = true;
	for (reg = 0; reg <= VT_REG_R15; reg++) {
		bool named = reg == VT_REG_SP || vti_flowstate_index(reg) < 0;

		for (i = 0; i < t->f->nresults && !named; i++)
			named = t->f->results[i].reg == reg;
		if (!named && (t->f->writes >> reg & 1))
			vti_flowstate_put(t->s, reg, &v);
	}
}

void vti_flowstate_step(struct vti_flowstate *s, const struct vt_facts *f, uint64_t vaddr,
			uint32_t offset, const struct vti_memory *m)
{
	struct insn_step t = {.s = s, .f = f, .m = m, .next = vaddr + f->length, .offset = offset};
	enum op op = find_op(f->mnemonic);

	if (f->flags & VT_FACT_NOP)
		return;
	if (f->flags & VT_FACT_CALL) {
		apply_call(&t);
		return;
	}
	if (f->flags & VT_FACT_SYSCALL)
		apply_syscall(&t);
	switch (op) {
	case OP_CMP:
	case OP_TEST:
		set_compare(&t, op);
		return;
	case OP_PUSH:
		apply_push(&t);
		return;
	case OP_POP:
		apply_pop(&t);
		return;
	case OP_LEAVE:
		apply_leave(&t);
		return;
	default:
		break;
	}
	if (f->writes >> VT_REG_FLAGS & 1)
		s->compare.valid = false;
	set_result_memory(&t, op);
	set_result_registers(&t, op);
	forget_written(&t);
}

struct vti_value vti_flowstate_target(struct vti_flowstate *s, const struct vt_facts *f,
				      uint64_t vaddr, uint32_t offset, const struct vti_memory *m)
{
	struct insn_step t = {.s = s, .f = f, .m = m, .next = vaddr + f->length, .offset = offset};
	const struct vt_memory *a = get_read_operand(f);

	if (a)
		return load_operand(&t, a, false);
	if (f->nsources)
		return vti_flowstate_get_operand(s, &f->sources[0]);
	return vti_value_unknown(0);
}
