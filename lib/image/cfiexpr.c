/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <dwarf.h>

#include "base/bytes.h"
#include "image/cfi.h"

#define DEPTH 32 /* of the stack: linkers' and compilers' expressions need three or four */

/* Of linux's asm/perf_regs.h. */
#define REG_R8 16

struct machine {
	struct vt_cursor c;
	const struct vt_unwind_state *state;
	uint64_t pc;
	uint64_t stack[DEPTH];
	unsigned depth;
	bool bad; /* or unknown */
};

bool vti_cfi_register(uint64_t reg, uint64_t pc, const struct vt_unwind_state *s, uint64_t *value)
{
	/* DWARF's rax rdx rcx rbx rsi rdi rbp rsp (System V ABI for AMD64, figure 3.36). */
	static const uint8_t general[8] = {0, 3, 2, 1, 4, 5, 6, 7};

	if (reg == 16) {
		*value = pc;
		return true;
	}
	if (reg > 16)
		return false;
	return s->reg(s->arg, reg < 8 ? general[reg] : REG_R8 + (unsigned)reg - 8, value);
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == DEPTH)
		m->bad = true;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	assert(m->depth <= DEPTH);
	if (!m->depth) {
		m->bad = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static void push_copy(struct machine *m, unsigned from_top)
{
	if (from_top >= m->depth)
		m->bad = true;
	else
		push(m, m->stack[m->depth - 1 - from_top]);
}

static void push_register(struct machine *m, uint64_t reg)
{
	uint64_t offset = vti_cfi_signed(&m->c), value = 0;

	if (!vti_cfi_register(reg, m->pc, m->state, &value))
		m->bad = true;
	push(m, value + offset);
}

static void load(struct machine *m, unsigned size)
{
	uint64_t address = pop(m), value = 0;

	if ((size != 1 && size != 2 && size != 4 && size != 8) || m->bad ||
	    !m->state->load(m->state->arg, address, size, &value))
		m->bad = true;
	push(m, value);
}

static void rotate(struct machine *m)
{
	uint64_t top = pop(m), second = pop(m), third = pop(m);

	push(m, top);
	push(m, third);
	push(m, second);
}

static void swap(struct machine *m)
{
	uint64_t top = pop(m), second = pop(m);

	push(m, top);
	push(m, second);
}

/* Constants.  False: the operation is none. */
static bool constant(struct machine *m, uint8_t op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(m, op - DW_OP_lit0);
		return true;
	}
	switch (op) {
	case DW_OP_const1u:
		push(m, vt_cursor_u8(&m->c));
		return true;
	case DW_OP_const1s:
		push(m, (uint64_t)(int8_t)vt_cursor_u8(&m->c));
		return true;
	case DW_OP_const2u:
		push(m, vt_cursor_u16(&m->c));
		return true;
	case DW_OP_const2s:
		push(m, (uint64_t)(int16_t)vt_cursor_u16(&m->c));
		return true;
	case DW_OP_const4u:
		push(m, vt_cursor_u32(&m->c));
		return true;
	case DW_OP_const4s:
		push(m, (uint64_t)(int32_t)vt_cursor_u32(&m->c));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(m, vt_cursor_u64(&m->c));
		return true;
	case DW_OP_constu:
		push(m, vt_cursor_varint(&m->c));
		return true;
	case DW_OP_consts:
		push(m, vti_cfi_signed(&m->c));
		return true;
	default:
		return false;
	}
}

static bool on_stack(struct machine *m, uint8_t op)
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
		pop(m);
		return true;
	case DW_OP_swap:
		swap(m);
		return true;
	case DW_OP_rot:
		rotate(m);
		return true;
	case DW_OP_deref:
		load(m, 8);
		return true;
	case DW_OP_deref_size:
		load(m, vt_cursor_u8(&m->c));
		return true;
	case DW_OP_plus_uconst:
		push(m, pop(m) + vt_cursor_varint(&m->c));
		return true;
	case DW_OP_neg:
		push(m, 0 - pop(m));
		return true;
	case DW_OP_not:
		push(m, ~pop(m));
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* Comparisons are signed. */
static uint64_t compare(uint8_t op, int64_t x, int64_t y)
{
	switch (op) {
	case DW_OP_eq:
		return x == y;
	case DW_OP_ne:
		return x != y;
	case DW_OP_lt:
		return x < y;
	case DW_OP_le:
		return x <= y;
	case DW_OP_gt:
		return x > y;
	default:
		return x >= y;
	}
}

static uint64_t compute(struct machine *m, uint8_t op, uint64_t x, uint64_t y)
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
	case DW_OP_ne:
	case DW_OP_lt:
	case DW_OP_le:
	case DW_OP_gt:
	case DW_OP_ge:
		return compare(op, (int64_t)x, (int64_t)y);
	default:
		m->bad = true;
		return 0;
	}
}

static void step(struct machine *m)
{
	uint8_t op = vt_cursor_u8(&m->c);
	uint64_t x, y;

	if (constant(m, op) || on_stack(m, op))
		return;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0);
	} else if (op == DW_OP_bregx) {
		push_register(m, vt_cursor_varint(&m->c));
	} else {
		y = pop(m);
		x = pop(m);
		push(m, compute(m, op, x, y));
	}
}

bool vti_cfi_evaluate(const struct vti_cfi_rule *rule, const uint64_t *first, uint64_t pc,
		      const struct vt_unwind_state *s, uint64_t *value)
{
	struct machine m = {
		.c = vt_cursor_make(rule->expr, rule->size, false), .state = s, .pc = pc};

	if (first)
		push(&m, *first);
	while (vt_cursor_left(&m.c) && !m.bad)
		step(&m);
	*value = pop(&m);
	return !m.bad && !m.c.bad;
}
