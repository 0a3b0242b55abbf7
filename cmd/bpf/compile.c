/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/bpf/compile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/bpf/compile_internal.h"

#define OPS_OF_ONE 32 /* more than any instruction needs */
#define ROOM	   (BPF_INSNS_MAX * OPS_OF_ONE + 2 * BPF_INSNS_MAX)

/* ---- any other instruction: its results are unknown ---- */

#define STATUS                                                                                     \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |               \
	 ZYDIS_CPUFLAG_OF)

static void compile_other(struct bpf_unit *u)
{
	const ZydisAccessedFlags *f = u->insn.cpu_flags;
	struct bpf_operand_address a;
	struct bpf_place p;
	uint8_t i;

	for (i = 0; i < u->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &u->o[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    !o->size)
			continue;
		a = bpf_address_of(u, o);
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			bpf_emit_memory(u, BPF_WALK_TOUCH, a, 0,
					bpf_size_of(o) > 64 ? 64 : bpf_size_of(o));
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			bpf_emit_memory(u, BPF_WALK_SPOIL, a, 0,
					bpf_size_of(o) > 64 ? 64 : bpf_size_of(o));
	}
	for (i = 0; i < u->insn.operand_count; i++) {
		if (u->o[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(u->o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		p = bpf_place_of(u->o[i].reg.value);
		if (p.size)
			BPF_EMIT(u, .code = BPF_WALK_FORGET, .dst = (uint8_t)p.reg);
	}
	if (f && (f->modified | f->set_0 | f->set_1 | f->undefined) & STATUS)
		BPF_EMIT(u, .code = BPF_WALK_NO_FLAGS);
}

/* ---- instructions ---- */

static bool is_general(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	       (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->size <= 64) ||
	       (o->type == ZYDIS_OPERAND_TYPE_REGISTER && bpf_place_of(o->reg.value).size);
}

static unsigned condition_of(const struct bpf_unit *u)
{
	return u->insn.opcode & 15;
}

/* Instructions of two operands whose result is their flags' too. */
static void compile_alu(struct bpf_unit *u, enum bpf_walk_code code, bool keep)
{
	unsigned size = bpf_size_of(&u->o[0]), x, y;
	bool same = u->o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    u->o[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    u->o[0].reg.value == u->o[1].reg.value;

	if (same && (code == BPF_WALK_XOR || (code == BPF_WALK_SUB && keep))) {
		bpf_emit_constant(u, T_RESULT, 0, 8);
		bpf_emit_flags(u, BPF_WALK_COMPARE, T_RESULT, BPF_WALK_IMM, 0, size);
		bpf_write_operand(u, &u->o[0], T_RESULT);
		return;
	}
	x = bpf_read_operand(u, &u->o[0], T_LEFT);
	y = bpf_read_operand(u, &u->o[1], T_RIGHT);
	if (code == BPF_WALK_ADD || code == BPF_WALK_SUB)
		bpf_emit_flags(u, code == BPF_WALK_ADD ? BPF_WALK_SUM : BPF_WALK_COMPARE, x, y, 0,
			       size);
	if (keep || code == BPF_WALK_AND)
		bpf_emit_alu(u, code, T_RESULT, x, y, 0, size);
	if (code != BPF_WALK_ADD && code != BPF_WALK_SUB)
		bpf_emit_flags(u, BPF_WALK_COMPARE, T_RESULT, BPF_WALK_IMM, 0, size);
	if (keep)
		bpf_write_operand(u, &u->o[0], T_RESULT);
}

/* inc, dec, neg and not. */
static void compile_unary(struct bpf_unit *u)
{
	unsigned size = bpf_size_of(&u->o[0]), x = bpf_read_operand(u, &u->o[0], T_LEFT);

	switch (u->insn.mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		bpf_emit_flags(u, BPF_WALK_SUM, x, BPF_WALK_IMM, 1, size);
		BPF_EMIT(u, .code = BPF_WALK_NO_BITS, .imm = ZYDIS_CPUFLAG_CF);
		bpf_emit_alu(u, BPF_WALK_ADD, T_RESULT, x, BPF_WALK_IMM, 1, size);
		break;
	case ZYDIS_MNEMONIC_DEC:
		bpf_emit_flags(u, BPF_WALK_COMPARE, x, BPF_WALK_IMM, 1, size);
		BPF_EMIT(u, .code = BPF_WALK_NO_BITS, .imm = ZYDIS_CPUFLAG_CF);
		bpf_emit_alu(u, BPF_WALK_SUB, T_RESULT, x, BPF_WALK_IMM, 1, size);
		break;
	case ZYDIS_MNEMONIC_NEG:
		bpf_emit_constant(u, T_OTHER, 0, 8);
		bpf_emit_flags(u, BPF_WALK_COMPARE, T_OTHER, x, 0, size);
		bpf_emit_alu(u, BPF_WALK_SUB, T_RESULT, T_OTHER, x, 0, size);
		break;
	default:
		bpf_emit_alu(u, BPF_WALK_XOR, T_RESULT, x, BPF_WALK_IMM, -1, size);
		break;
	}
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

/* A count of 0, which a register may have, leaves the flags as they are. */
static void compile_shift(struct bpf_unit *u, enum bpf_walk_code code)
{
	unsigned size = bpf_size_of(&u->o[0]), x = bpf_read_operand(u, &u->o[0], T_LEFT), y;

	y = bpf_read_operand(u, &u->o[1], T_RIGHT);
	bpf_emit_alu(u, code, T_RESULT, x, y, 0, size);
	if (u->o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		bpf_emit_flags(u, BPF_WALK_COMPARE, T_RESULT, BPF_WALK_IMM, 0, size);
		BPF_EMIT(u, .code = BPF_WALK_NO_BITS, .imm = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_OF);
	} else {
		BPF_EMIT(u, .code = BPF_WALK_NO_FLAGS);
	}
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

/* imul with two or three operands; its flags say whether the product is cut. */
static void compile_product(struct bpf_unit *u)
{
	unsigned three = u->insn.operand_count_visible == 3, x, y;

	x = bpf_read_operand(u, &u->o[three], T_LEFT);
	y = bpf_read_operand(u, &u->o[1 + three], T_RIGHT);
	bpf_emit_alu(u, BPF_WALK_MUL, T_RESULT, x, y, 0, bpf_size_of(&u->o[0]));
	BPF_EMIT(u, .code = BPF_WALK_NO_FLAGS);
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

static void compile_extension(struct bpf_unit *u)
{
	unsigned x = bpf_read_operand(u, &u->o[1], T_LEFT);

	BPF_EMIT(u, .code = BPF_WALK_SIGN, .dst = T_RESULT, .a = (uint8_t)x,
		 .size = (uint8_t)bpf_size_of(&u->o[1]));
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

/* cdqe and its like: half of the accumulator is extended. */
static void compile_accumulator(struct bpf_unit *u, unsigned size)
{
	struct bpf_walk_op sign = {.code = BPF_WALK_SIGN, .dst = T_RESULT, .size = (uint8_t)size};

	bpf_emit(u->c, sign);
	if (size == 1)
		BPF_EMIT(u, .code = BPF_WALK_INSERT, .a = T_RESULT, .size = 2);
	else
		bpf_emit_move(u, 0, T_RESULT, size * 2);
}

/* cdq and cqo: the data register gets the accumulator's sign. */
static void compile_sign(struct bpf_unit *u, unsigned size)
{
	bpf_emit_alu(u, BPF_WALK_SAR, T_RESULT, 0, BPF_WALK_IMM, (int64_t)size * 8 - 1, size);
	bpf_emit_move(u, 2, T_RESULT, size);
}

static void compile_lea(struct bpf_unit *u)
{
	struct bpf_operand_address a = bpf_address_of(u, &u->o[1]);

	BPF_EMIT(u, .code = BPF_WALK_LEA, .dst = T_RESULT, .a = (uint8_t)a.reg, .b = BPF_WALK_IMM,
		 .imm = a.offset);
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

static void push_register(struct bpf_unit *u, unsigned reg, unsigned size)
{
	bpf_emit_alu(u, BPF_WALK_SUB, BPF_WALK_SP, BPF_WALK_SP, BPF_WALK_IMM, size, 8);
	bpf_emit_memory(u, BPF_WALK_STORE, (struct bpf_operand_address){BPF_WALK_SP, 0}, reg, size);
}

static void pop_register(struct bpf_unit *u, unsigned reg, unsigned size)
{
	bpf_emit_memory(u, BPF_WALK_LOAD, (struct bpf_operand_address){BPF_WALK_SP, 0}, reg, size);
	bpf_emit_alu(u, BPF_WALK_ADD, BPF_WALK_SP, BPF_WALK_SP, BPF_WALK_IMM, size, 8);
}

/* A constant is sign-extended to the width of the stack. */
static void compile_push(struct bpf_unit *u)
{
	unsigned size = u->insn.operand_width / 8, x;

	if (u->o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		bpf_emit_constant(u, T_LEFT, (uint64_t)u->o[0].imm.value.s, 8);
		x = T_LEFT;
	} else {
		x = bpf_read_operand(u, &u->o[0], T_LEFT);
	}
	if (x == BPF_WALK_SP) {
		bpf_emit_move(u, T_LEFT, x, 8);
		x = T_LEFT;
	}
	push_register(u, x, size);
}

static void compile_pop(struct bpf_unit *u)
{
	pop_register(u, T_RESULT, u->insn.operand_width / 8);
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

static void compile_leave(struct bpf_unit *u)
{
	bpf_emit_move(u, BPF_WALK_SP, 5, 8);
	pop_register(u, 5, 8);
}

/* The second operand's old value goes to the first one, and the first one's to the second. */
static void compile_exchange(struct bpf_unit *u)
{
	unsigned size = bpf_size_of(&u->o[0]), x, y;

	bpf_emit_move(u, T_LEFT, bpf_read_operand(u, &u->o[0], T_LEFT), 8);
	bpf_emit_move(u, T_RIGHT, bpf_read_operand(u, &u->o[1], T_RIGHT), 8);
	x = T_LEFT;
	y = T_RIGHT;
	if (u->insn.mnemonic == ZYDIS_MNEMONIC_XADD) {
		bpf_emit_flags(u, BPF_WALK_SUM, x, y, 0, size);
		bpf_emit_alu(u, BPF_WALK_ADD, T_RESULT, x, y, 0, size);
		y = T_RESULT;
	}
	bpf_write_operand(u, &u->o[1], x);
	bpf_write_operand(u, &u->o[0], y);
}

#define EQUAL	  4
#define NOT_EQUAL 5

static void compile_compare_exchange(struct bpf_unit *u)
{
	unsigned size = bpf_size_of(&u->o[0]), x, y;

	/* What is left of the rest of a register depends on the processor. */
	if (u->o[0].type != ZYDIS_OPERAND_TYPE_MEMORY) {
		compile_other(u);
		return;
	}
	bpf_emit_move(u, T_LEFT, bpf_read_operand(u, &u->o[0], T_LEFT), 8);
	bpf_emit_move(u, T_OTHER, 0, size);
	y = bpf_read_operand(u, &u->o[1], T_RIGHT);
	x = T_LEFT;
	bpf_emit_flags(u, BPF_WALK_COMPARE, T_OTHER, x, 0, size);
	bpf_emit_move(u, T_RESULT, x, 8);
	BPF_EMIT(u, .code = BPF_WALK_SELECT, .dst = T_RESULT, .b = (uint8_t)y, .ext = EQUAL);
	bpf_write_operand(u, &u->o[0], T_RESULT);
	if (size >= 4) {
		BPF_EMIT(u, .code = BPF_WALK_SELECT, .b = (uint8_t)x, .ext = NOT_EQUAL);
		return;
	}
	BPF_EMIT(u, .code = BPF_WALK_SELECT, .dst = T_OTHER, .b = (uint8_t)x, .ext = NOT_EQUAL);
	BPF_EMIT(u, .code = BPF_WALK_INSERT, .a = T_OTHER, .size = (uint8_t)size);
}

/* A move of 32 bits clears the upper half even if its condition does not hold. */
static void compile_conditional_move(struct bpf_unit *u)
{
	unsigned x = bpf_read_operand(u, &u->o[1], T_LEFT), y;

	y = bpf_read_operand(u, &u->o[0], T_RIGHT);
	bpf_emit_move(u, T_RESULT, y, 8);
	BPF_EMIT(u, .code = BPF_WALK_SELECT, .dst = T_RESULT, .b = (uint8_t)x,
		 .ext = (uint8_t)condition_of(u));
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

static void compile_set(struct bpf_unit *u)
{
	BPF_EMIT(u, .code = BPF_WALK_SET, .dst = T_RESULT, .ext = (uint8_t)condition_of(u));
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

/* adc and sbb. */
static void compile_carry(struct bpf_unit *u, enum bpf_walk_code code)
{
	unsigned size = bpf_size_of(&u->o[0]), x, y;

	BPF_EMIT(u, .code = BPF_WALK_SET, .dst = T_OTHER, .ext = 2);
	x = bpf_read_operand(u, &u->o[0], T_LEFT);
	y = bpf_read_operand(u, &u->o[1], T_RIGHT);
	bpf_emit_alu(u, code, T_RESULT, x, y, 0, size);
	bpf_emit_alu(u, code, T_RESULT, T_RESULT, T_OTHER, 0, size);
	BPF_EMIT(u, .code = BPF_WALK_NO_FLAGS);
	bpf_write_operand(u, &u->o[0], T_RESULT);
}

/* ---- control ---- */

static void compile_target(struct bpf_unit *u)
{
	unsigned reg;

	if (u->o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		bpf_emit_goto(u, BPF_WALK_GOTO, 0, u->next + (uint64_t)u->o[0].imm.value.s);
	} else {
		reg = u->insn.meta.category == ZYDIS_CATEGORY_CALL
			      ? T_RESULT
			      : bpf_read_operand(u, &u->o[0], T_RESULT);
		BPF_EMIT(u, .code = BPF_WALK_FIND, .b = (uint8_t)reg);
	}
	u->ends = true;
}

static void compile_call(struct bpf_unit *u)
{
	struct bpf_compiler *c = u->c;

	if (u->o[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		bpf_emit_move(u, T_RESULT, bpf_read_operand(u, &u->o[0], T_RESULT), 8);
	bpf_emit_constant(u, T_OTHER, u->next, 8);
	push_register(u, T_OTHER, 8);
	compile_target(u);
	if (u->depth > 2 && c->npending < 2 * BPF_INSNS_MAX)
		c->pending[c->npending++] = (struct bpf_pending){u->next, u->depth - 2};
}

static void compile_return(struct bpf_unit *u)
{
	pop_register(u, T_RESULT, 8);
	if (u->insn.operand_count_visible)
		bpf_emit_alu(u, BPF_WALK_ADD, BPF_WALK_SP, BPF_WALK_SP, BPF_WALK_IMM,
			     u->o[0].imm.value.s, 8);
	BPF_EMIT(u, .code = BPF_WALK_FIND, .b = T_RESULT);
	u->ends = true;
}

static void compile_branch(struct bpf_unit *u)
{
	if (u->insn.mnemonic == ZYDIS_MNEMONIC_JCXZ || u->insn.mnemonic == ZYDIS_MNEMONIC_JECXZ ||
	    u->insn.mnemonic == ZYDIS_MNEMONIC_JRCXZ || u->insn.mnemonic == ZYDIS_MNEMONIC_LOOP ||
	    u->insn.mnemonic == ZYDIS_MNEMONIC_LOOPE || u->insn.mnemonic == ZYDIS_MNEMONIC_LOOPNE ||
	    u->insn.mnemonic == ZYDIS_MNEMONIC_XBEGIN)
		bpf_emit_end(u, WALK_BRANCH);
	else
		bpf_emit_goto(u, BPF_WALK_GOTO_IF, condition_of(u),
			      u->next + (uint64_t)u->o[0].imm.value.s);
}

static bool is_repeated(const struct bpf_unit *u)
{
	return u->insn.attributes &
	       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* Instructions that no walk passes, and those whose operands are not general. */
static bool compile_special(struct bpf_unit *u)
{
	switch (u->insn.meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
		bpf_emit_end(u, WALK_SYSCALL);
		return true;
	case ZYDIS_CATEGORY_INTERRUPT:
		bpf_emit_end(u, WALK_INSN);
		return true;
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	case ZYDIS_CATEGORY_COND_BR:
		compile_branch(u);
		return true;
	default:
		break;
	}
	switch (u->insn.mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_SWAPGS:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		bpf_emit_end(u, WALK_INSN);
		return true;
	default:
		break;
	}
	if (is_repeated(u) || u->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		bpf_emit_end(u, WALK_INSN);
		return true;
	}
	return false;
}

static bool compile_conditional(struct bpf_unit *u)
{
	switch (u->insn.meta.category) {
	case ZYDIS_CATEGORY_CMOV:
		compile_conditional_move(u);
		return true;
	case ZYDIS_CATEGORY_SETCC:
		compile_set(u);
		return true;
	default:
		return false;
	}
}

static void compile_general(struct bpf_unit *u)
{
	switch (u->insn.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
		bpf_write_operand(u, &u->o[0], bpf_read_operand(u, &u->o[1], T_LEFT));
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		compile_extension(u);
		break;
	case ZYDIS_MNEMONIC_ADD:
		compile_alu(u, BPF_WALK_ADD, true);
		break;
	case ZYDIS_MNEMONIC_SUB:
		compile_alu(u, BPF_WALK_SUB, true);
		break;
	case ZYDIS_MNEMONIC_CMP:
		compile_alu(u, BPF_WALK_SUB, false);
		break;
	case ZYDIS_MNEMONIC_AND:
		compile_alu(u, BPF_WALK_AND, true);
		break;
	case ZYDIS_MNEMONIC_TEST:
		compile_alu(u, BPF_WALK_AND, false);
		break;
	case ZYDIS_MNEMONIC_OR:
		compile_alu(u, BPF_WALK_OR, true);
		break;
	case ZYDIS_MNEMONIC_XOR:
		compile_alu(u, BPF_WALK_XOR, true);
		break;
	case ZYDIS_MNEMONIC_ADC:
		compile_carry(u, BPF_WALK_ADD);
		break;
	case ZYDIS_MNEMONIC_SBB:
		compile_carry(u, BPF_WALK_SUB);
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
		compile_unary(u);
		break;
	case ZYDIS_MNEMONIC_SHL:
		compile_shift(u, BPF_WALK_SHL);
		break;
	case ZYDIS_MNEMONIC_SHR:
		compile_shift(u, BPF_WALK_SHR);
		break;
	case ZYDIS_MNEMONIC_SAR:
		compile_shift(u, BPF_WALK_SAR);
		break;
	case ZYDIS_MNEMONIC_PUSH:
		compile_push(u);
		break;
	case ZYDIS_MNEMONIC_POP:
		compile_pop(u);
		break;
	case ZYDIS_MNEMONIC_XCHG:
	case ZYDIS_MNEMONIC_XADD:
		compile_exchange(u);
		break;
	case ZYDIS_MNEMONIC_CMPXCHG:
		compile_compare_exchange(u);
		break;
	case ZYDIS_MNEMONIC_CALL:
		compile_call(u);
		break;
	case ZYDIS_MNEMONIC_JMP:
		compile_target(u);
		break;
	default:
		if (!compile_conditional(u))
			compile_other(u);
		break;
	}
}

/* Instructions without visible operands, or with ones of their own kind. */
static bool compile_fixed(struct bpf_unit *u)
{
	switch (u->insn.mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		compile_lea(u);
		return true;
	case ZYDIS_MNEMONIC_LEAVE:
		compile_leave(u);
		return true;
	case ZYDIS_MNEMONIC_RET:
		compile_return(u);
		return true;
	case ZYDIS_MNEMONIC_CBW:
		compile_accumulator(u, 1);
		return true;
	case ZYDIS_MNEMONIC_CWDE:
		compile_accumulator(u, 2);
		return true;
	case ZYDIS_MNEMONIC_CDQE:
		compile_accumulator(u, 4);
		return true;
	case ZYDIS_MNEMONIC_CDQ:
		compile_sign(u, 4);
		return true;
	case ZYDIS_MNEMONIC_CQO:
		compile_sign(u, 8);
		return true;
	case ZYDIS_MNEMONIC_IMUL:
		if (u->insn.operand_count_visible == 1)
			return false;
		compile_product(u);
		return true;
	default:
		return false;
	}
}

static void compile_insn(struct bpf_unit *u)
{
	uint8_t i, n = u->insn.operand_count_visible;
	bool general = n > 0;

	BPF_EMIT(u, .code = BPF_WALK_INSN, .size = u->insn.length, .imm = (int64_t)u->pc);
	for (i = 0; i < n; i++)
		general = general && is_general(&u->o[i]);
	if (compile_special(u) || compile_fixed(u))
		return;
	if (general)
		compile_general(u);
	else
		compile_other(u);
}

/* ---- code ---- */

static bool decode_at(struct bpf_compiler *c, struct bpf_unit *u)
{
	uint8_t bytes[BPF_CODE_MAX];
	size_t n = c->fetch(c->fetch_arg, u->space, u->pc, bytes);
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!n || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, n, &u->insn, u->o)))
		return false;
	u->next = u->pc + u->insn.length;
	return true;
}

/* One call has compiled as much as it may. */
static bool is_enough(const struct bpf_compiler *c, uint32_t begin)
{
	return c->nfixups + 2 > 2 * BPF_INSNS_MAX || c->codes.count - begin >= BPF_INSNS_MAX;
}

/* Compiles straight on from a place to where control ends or comes to code that is compiled. */
static int compile_run(struct bpf_compiler *c, uint64_t space, struct bpf_pending from,
		       uint32_t begin, struct vt_error *err)
{
	struct bpf_unit u = {.c = c, .space = space, .pc = from.pc, .depth = from.depth};
	struct bpf_code_entry *e;
	struct bpf_walk_at at = {space, 0};
	bool first = true, added;

	for (; !u.ends; u.pc = u.next, first = false) {
		at.pc = u.pc;
		e = vt_hash_find(&c->codes, &at);
		if (e || !u.depth || is_enough(c, begin) || !decode_at(c, &u))
			break;
		e = vt_hash_add(&c->codes, &at, &added);
		if (!e)
			return vt_error_nomem(err);
		e->op = c->used;
		u.depth--;
		compile_insn(&u);
	}
	if (u.ends && u.depth && c->npending < 2 * BPF_INSNS_MAX)
		c->pending[c->npending++] = (struct bpf_pending){u.pc, u.depth - 1};
	if (u.ends || first)
		return 0;
	c->fixups[c->nfixups++] = (struct bpf_fixup){c->used, u.pc};
	BPF_EMIT(&u, .code = BPF_WALK_GOTO);
	return 0;
}

/* What is not compiled is looked up when it is come to. */
static void fix_targets(struct bpf_compiler *c, uint64_t space)
{
	struct bpf_walk_at at = {space, 0};
	const struct bpf_code_entry *e;
	size_t i;

	for (i = 0; i < c->nfixups; i++) {
		struct bpf_walk_op *o = &c->pool[c->fixups[i].op];

		at.pc = c->fixups[i].pc;
		e = vt_hash_find(&c->codes, &at);
		if (e) {
			o->imm = e->op;
		} else if (o->code == BPF_WALK_GOTO) {
			*o = (struct bpf_walk_op){
				.code = BPF_WALK_FIND, .b = BPF_WALK_IMM, .imm = (int64_t)at.pc};
		} else {
			o->imm = c->used;
			bpf_emit(c, (struct bpf_walk_op){.code = BPF_WALK_FIND,
							 .b = BPF_WALK_IMM,
							 .imm = (int64_t)at.pc});
		}
	}
}

bool bpf_compiler_is_full(const struct bpf_compiler *c)
{
	return c->used + ROOM > BPF_WALK_POOL || c->codes.count + BPF_INSNS_MAX > BPF_WALK_CODES;
}

void bpf_compiler_clear(struct bpf_compiler *c)
{
	vt_hash_clear(&c->codes);
	c->used = 0;
}

int bpf_compile(struct bpf_compiler *c, uint64_t space, uint64_t pc, uint32_t depth,
		struct vt_error *err)
{
	uint32_t begin = (uint32_t)c->codes.count;
	size_t next;
	int rc = 0;

	assert(!bpf_compiler_is_full(c));
	c->nfixups = 0;
	c->pending[0] = (struct bpf_pending){pc, depth};
	c->npending = 1;
	for (next = 0; next < c->npending && rc == 0; next++)
		rc = compile_run(c, space, c->pending[next], begin, err);
	fix_targets(c, space);
	return rc;
}

int bpf_compiler_init(struct bpf_compiler *c, struct bpf_walk_op *pool, bpf_fetch_fn *fetch,
		      void *fetch_arg, struct vt_error *err)
{
	memset(c, 0, sizeof(*c));
	c->pool = pool;
	c->fetch = fetch;
	c->fetch_arg = fetch_arg;
	vt_hash_init(&c->codes, sizeof(struct bpf_code_entry), sizeof(struct bpf_walk_at));
	c->pending = malloc(2 * BPF_INSNS_MAX * sizeof(*c->pending));
	c->fixups = malloc(2 * BPF_INSNS_MAX * sizeof(*c->fixups));
	if (c->pending && c->fixups)
		return 0;
	bpf_compiler_fini(c);
	return vt_error_nomem(err);
}

void bpf_compiler_fini(struct bpf_compiler *c)
{
	free(c->pending);
	free(c->fixups);
	c->pending = NULL;
	c->fixups = NULL;
	vt_hash_fini(&c->codes);
}
