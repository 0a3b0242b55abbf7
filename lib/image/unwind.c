/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/unwind.h"

#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>

#include "image/cfi.h"

#define ROW_BITS 9 /* log2 of the number of cached rows */

#define DEPTH 32 /* of the stack; expressions of linkers and compilers need three or four */

/* Of linux's asm/perf_regs.h. */
#define REG_R8 16

struct vt_unwind {
	const struct vt_elf *elf;
	struct vti_cfi *eh;
	struct vti_cfi *debug;
	struct vti_cfi_row rows[1 << ROW_BITS]; /* a cache by vaddr; unused rows are empty */
};

struct vt_unwind *vt_unwind_new(const struct vt_elf *e, struct vt_error *err)
{
	struct vt_unwind *u = calloc(1, sizeof(*u));

	if (!u) {
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", vt_elf_info(e)->path);
		return NULL;
	}
	u->elf = e;
	if (vti_cfi_open(e, ".eh_frame", &u->eh, err) == 0 &&
	    vti_cfi_open(e, ".debug_frame", &u->debug, err) == 0)
		return u;
	vt_unwind_free(u);
	return NULL;
}

void vt_unwind_free(struct vt_unwind *u)
{
	if (!u)
		return;
	vti_cfi_close(u->eh);
	vti_cfi_close(u->debug);
	free(u);
}

static const struct vti_cfi_row *find_unwind_row(struct vt_unwind *u, uint64_t vaddr)
{
	/* A multiplicative hash, by the golden ratio. */
	struct vti_cfi_row *row = &u->rows[vaddr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ROW_BITS)];

	if (vaddr >= row->start && vaddr < row->end)
		return row;
	if ((u->eh && vti_cfi_find(u->eh, vaddr, row)) ||
	    (u->debug && vti_cfi_find(u->debug, vaddr, row)))
		return row;
	*row = (struct vti_cfi_row){.start = vaddr, .end = vaddr + 1};
	return row;
}

/* ---- expressions ---- */

struct evaluation {
	struct vt_cursor c;
	const struct vt_unwind_state *state;
	uint64_t pc;
	uint64_t stack[DEPTH];
	unsigned depth;
	bool bad; /* or unknown */
};

/* Returns perf's number of a DWARF register, at most 15. */
static unsigned number_of(uint64_t reg)
{
	/* DWARF's rax rdx rcx rbx rsi rdi rbp rsp (System V ABI for AMD64, figure 3.36). */
	static const uint8_t general[8] = {0, 3, 2, 1, 4, 5, 6, 7};

	return reg < 8 ? general[reg] : REG_R8 + (unsigned)reg - 8;
}

/* Returns the value of a DWARF register; 16 is the instruction pointer, `pc`. */
static bool read_register(uint64_t reg, uint64_t pc, const struct vt_unwind_state *s,
			  uint64_t *value)
{
	if (reg == 16) {
		*value = pc;
		return true;
	}
	return reg < 16 && s->reg(s->arg, number_of(reg), value);
}

static void push_value(struct evaluation *m, uint64_t value)
{
	if (m->depth == DEPTH)
		m->bad = true;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop_value(struct evaluation *m)
{
	assert(m->depth <= DEPTH);
	if (!m->depth) {
		m->bad = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static void push_copy(struct evaluation *m, unsigned from_top)
{
	if (from_top >= m->depth)
		m->bad = true;
	else
		push_value(m, m->stack[m->depth - 1 - from_top]);
}

static void push_register(struct evaluation *m, uint64_t reg)
{
	uint64_t offset = vti_cfi_signed(&m->c), value = 0;

	if (!read_register(reg, m->pc, m->state, &value))
		m->bad = true;
	push_value(m, value + offset);
}

static void load_from_stack(struct evaluation *m, unsigned size)
{
	uint64_t address = pop_value(m), value = 0;

	if ((size != 1 && size != 2 && size != 4 && size != 8) || m->bad ||
	    !m->state->load(m->state->arg, address, size, &value))
		m->bad = true;
	push_value(m, value);
}

static void rotate_three(struct evaluation *m)
{
	uint64_t top = pop_value(m), second = pop_value(m), third = pop_value(m);

	push_value(m, top);
	push_value(m, third);
	push_value(m, second);
}

static void swap_two(struct evaluation *m)
{
	uint64_t top = pop_value(m), second = pop_value(m);

	push_value(m, top);
	push_value(m, second);
}

/* Applies an operation that pushes a constant.  Returns false for other operations. */
static bool push_constant(struct evaluation *m, uint8_t op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push_value(m, op - DW_OP_lit0);
		return true;
	}
	switch (op) {
	case DW_OP_const1u:
		push_value(m, vt_cursor_u8(&m->c));
		return true;
	case DW_OP_const1s:
		push_value(m, (uint64_t)(int8_t)vt_cursor_u8(&m->c));
		return true;
	case DW_OP_const2u:
		push_value(m, vt_cursor_u16(&m->c));
		return true;
	case DW_OP_const2s:
		push_value(m, (uint64_t)(int16_t)vt_cursor_u16(&m->c));
		return true;
	case DW_OP_const4u:
		push_value(m, vt_cursor_u32(&m->c));
		return true;
	case DW_OP_const4s:
		push_value(m, (uint64_t)(int32_t)vt_cursor_u32(&m->c));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push_value(m, vt_cursor_u64(&m->c));
		return true;
	case DW_OP_constu:
		push_value(m, vt_cursor_varint(&m->c));
		return true;
	case DW_OP_consts:
		push_value(m, vti_cfi_signed(&m->c));
		return true;
	default:
		return false;
	}
}

static bool apply_stack_op(struct evaluation *m, uint8_t op)
{
	switch (op) {
	case DW_OP_dup:
		push_copy(m, 0);
		return true;
	case DW_OP_over:
		push_copy(m, 1);
		return true;
	case DW_OP_pick:
		push_copy(m, vt_cursor_u8(&m->c));
		return true;
	case DW_OP_drop:
		pop_value(m);
		return true;
	case DW_OP_swap:
		swap_two(m);
		return true;
	case DW_OP_rot:
		rotate_three(m);
		return true;
	case DW_OP_deref:
		load_from_stack(m, 8);
		return true;
	case DW_OP_deref_size:
		load_from_stack(m, vt_cursor_u8(&m->c));
		return true;
	case DW_OP_plus_uconst:
		push_value(m, pop_value(m) + vt_cursor_varint(&m->c));
		return true;
	case DW_OP_neg:
		push_value(m, 0 - pop_value(m));
		return true;
	case DW_OP_not:
		push_value(m, ~pop_value(m));
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* Applies an operation on the two top values; `y` was on top.  Comparisons are signed. */
static uint64_t apply_binary_op(struct evaluation *m, uint8_t op, uint64_t x, uint64_t y)
{
	switch (op) {
	case DW_OP_and:
		return x & y;
	case DW_OP_or:
		return x | y;
	case DW_OP_xor:
		return x ^ y;
	case DW_OP_plus:
		return x + y;
	case DW_OP_minus:
		return x - y;
	case DW_OP_mul:
		return x * y;
	case DW_OP_shl:
		return y < 64 ? x << y : 0;
	case DW_OP_shr:
		return y < 64 ? x >> y : 0;
	case DW_OP_eq:
		return x == y;
	case DW_OP_ne:
		return x != y;
	case DW_OP_lt:
		return (int64_t)x < (int64_t)y;
	case DW_OP_le:
		return (int64_t)x <= (int64_t)y;
	case DW_OP_gt:
		return (int64_t)x > (int64_t)y;
	case DW_OP_ge:
		return (int64_t)x >= (int64_t)y;
	default:
		m->bad = true;
		return 0;
	}
}

static void evaluate_operation(struct evaluation *m)
{
	uint8_t op = vt_cursor_u8(&m->c);
	uint64_t x, y;

	if (push_constant(m, op) || apply_stack_op(m, op))
		return;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0);
	} else if (op == DW_OP_bregx) {
		push_register(m, vt_cursor_varint(&m->c));
	} else {
		y = pop_value(m);
		x = pop_value(m);
		push_value(m, apply_binary_op(m, op, x, y));
	}
}

/*
 * Evaluates an expression (DWARF 5, 2.5), whose value is on top of its stack at the end.  `first`,
 * unless NULL, is on the stack at the start.
 */
static bool evaluate_expression(const struct vti_cfi_rule *rule, const uint64_t *first, uint64_t pc,
				const struct vt_unwind_state *s, uint64_t *value)
{
	struct evaluation m = {
		.c = vt_cursor_make(rule->expr, rule->size, false), .state = s, .pc = pc};

	if (first)
		push_value(&m, *first);
	while (vt_cursor_left(&m.c) && !m.bad)
		evaluate_operation(&m);
	*value = pop_value(&m);
	return !m.bad && !m.c.bad;
}

/* ---- return addresses ---- */

static bool find_cfa(const struct vti_cfi_rule *r, uint64_t pc, const struct vt_unwind_state *s,
		     uint64_t *cfa)
{
	if (r->how == VTI_CFI_PLACE)
		return evaluate_expression(r, NULL, pc, s, cfa);
	if (r->how != VTI_CFI_OFFSET || !read_register(r->reg, pc, s, cfa))
		return false;
	*cfa += r->offset;
	return true;
}

/* The value that a rule gives, and the address at which it lies, or 0. */
static bool find_value(const struct vti_cfi_rule *r, uint64_t cfa, uint64_t pc,
		       const struct vt_unwind_state *s, uint64_t *value, uint64_t *slot)
{
	switch (r->how) {
	case VTI_CFI_REGISTER:
		return r->reg != 16 && read_register(r->reg, pc, s, value);
	case VTI_CFI_VALUE:
		*value = cfa + r->offset;
		return true;
	case VTI_CFI_EXPRESSION:
		return evaluate_expression(r, &cfa, pc, s, value);
	case VTI_CFI_OFFSET:
		*slot = cfa + r->offset;
		return s->load(s->arg, *slot, 8, value);
	case VTI_CFI_PLACE:
		return evaluate_expression(r, &cfa, pc, s, slot) &&
		       s->load(s->arg, *slot, 8, value);
	default:
		return false;
	}
}

bool vt_unwind_find(struct vt_unwind *u, uint64_t vaddr, uint64_t bias,
		    const struct vt_unwind_state *s, struct vt_return *f)
{
	const struct vti_cfi_row *row = find_unwind_row(u, vaddr);
	uint64_t cfa = 0, pc = vaddr + bias;

	*f = (struct vt_return){.entry = row->entry};
	if (row->ra.how == VTI_CFI_UNKNOWN || row->signal)
		return false;
	if (row->ra.how != VTI_CFI_REGISTER && !find_cfa(&row->cfa, pc, s, &cfa))
		return false;
	return find_value(&row->ra, cfa, pc, s, &f->ret, &f->slot);
}

bool vt_unwind_covers(struct vt_unwind *u, uint64_t vaddr)
{
	return find_unwind_row(u, vaddr)->cfa.how != VTI_CFI_UNKNOWN;
}

/* ---- frame by frame ---- */

static_assert(VT_UNWIND_PRESERVED == VTI_CFI_PRESERVED, "the same registers");

const uint8_t vt_unwind_preserved[VT_UNWIND_PRESERVED] = {1, 6, 20, 21, 22, 23};

/* Registers, and the caller's way to memory. */
struct stepping {
	const struct vt_unwind_regs *regs;
	bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value);
	void *arg;
};

static bool get_step_reg(void *arg, unsigned reg, uint64_t *value)
{
	const struct stepping *s = arg;

	*value = s->regs->value[reg];
	return s->regs->known >> reg & 1;
}

static bool load_step_memory(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	const struct stepping *s = arg;

	return s->load(s->arg, address, size, value);
}

static void set_reg(struct vt_unwind_regs *regs, unsigned reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= 1u << reg;
}

bool vt_unwind_step(struct vt_unwind *u, uint64_t vaddr, uint64_t bias, struct vt_unwind_regs *regs,
		    bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value),
		    void *arg)
{
	const struct vti_cfi_row *row = find_unwind_row(u, vaddr);
	struct stepping at = {regs, load, arg};
	const struct vt_unwind_state s = {&at, get_step_reg, load_step_memory};
	uint64_t kept[VTI_CFI_PRESERVED], ip, slot, cfa, pc = vaddr + bias;
	uint32_t known = 0;
	unsigned i;

	if (!find_cfa(&row->cfa, pc, &s, &cfa) || !find_value(&row->ra, cfa, pc, &s, &ip, &slot))
		return false;
	/* All rules are of the registers as they were. */
	for (i = 0; i < VTI_CFI_PRESERVED; i++) {
		const struct vti_cfi_rule *r = &row->preserved[i];

		if (r->how == VTI_CFI_UNKNOWN ? get_step_reg(&at, vt_unwind_preserved[i], &kept[i])
					      : find_value(r, cfa, pc, &s, &kept[i], &slot))
			known |= 1u << i;
	}
	regs->known = 0;
	regs->interrupted = row->signal;
	set_reg(regs, VT_UNWIND_IP, ip);
	set_reg(regs, VT_UNWIND_SP, cfa);
	for (i = 0; i < VTI_CFI_PRESERVED; i++)
		if (known >> i & 1)
			set_reg(regs, vt_unwind_preserved[i], kept[i]);
	return true;
}

bool vt_unwind_cfa(struct vt_unwind *u, uint64_t vaddr, unsigned *reg, int64_t *offset)
{
	const struct vti_cfi_row *row = find_unwind_row(u, vaddr);

	if (row->cfa.how != VTI_CFI_OFFSET || row->cfa.reg >= 16)
		return false;
	*reg = number_of(row->cfa.reg);
	*offset = (int64_t)row->cfa.offset;
	return true;
}

/* ---- where return addresses lie ---- */

/* The stack pointer alone is known. */
static bool get_stack_pointer(void *arg, unsigned reg, uint64_t *value)
{
	*value = *(const uint64_t *)arg;
	return reg == VT_UNWIND_SP;
}

static bool load_nothing(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	(void)arg;
	(void)address;
	(void)size;
	*value = 0;
	return false;
}

/* Linkers describe procedure linkage tables by expressions: the stack pointer + 8 or 16. */
static bool find_stack_offset(const struct vti_cfi_rule *cfa, uint64_t vaddr, uint64_t *offset)
{
	uint64_t low = 0, high = UINT64_C(1) << 32, to;
	const struct vt_unwind_state at_low = {&low, get_stack_pointer, load_nothing};
	const struct vt_unwind_state at_high = {&high, get_stack_pointer, load_nothing};

	return find_cfa(cfa, vaddr, &at_low, offset) && find_cfa(cfa, vaddr, &at_high, &to) &&
	       to - *offset == high;
}

bool vt_unwind_slot(struct vt_unwind *u, uint64_t vaddr, uint64_t *end, unsigned *reg,
		    int64_t *offset)
{
	const struct vti_cfi_row *row = find_unwind_row(u, vaddr);
	uint64_t from = row->cfa.offset;

	*end = row->end;
	if (row->ra.how != VTI_CFI_OFFSET || row->signal)
		return false;
	*reg = VT_UNWIND_SP;
	if (row->cfa.how == VTI_CFI_PLACE) {
		*end = vaddr + 1;
		if (!find_stack_offset(&row->cfa, vaddr, &from))
			return false;
	} else if (row->cfa.how == VTI_CFI_OFFSET && row->cfa.reg < 16) {
		*reg = number_of(row->cfa.reg);
	} else {
		return false;
	}
	*offset = (int64_t)(from + row->ra.offset);
	return true;
}
