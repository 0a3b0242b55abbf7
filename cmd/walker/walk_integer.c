/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions of one byte of opcode. */
#include "cmd/walker/walk_state.h"

static unsigned size_of(const struct insn *i)
{
	return i->op & 1 ? op_size(i) : 1;
}

/* ---- stack and control flow ---- */

void walk_push(struct walk *w, unsigned size, struct val x)
{
	struct val sp = get_gpr(w, SP, 8);

	if (!sp.known) {
		w->memory_unknown = true;
		return;
	}
	walk_store(w, sp.v - size, size, x);
	set_gpr(w, SP, 8, known(sp.v - size));
}

struct val walk_pop(struct walk *w, unsigned size)
{
	struct val sp = get_gpr(w, SP, 8), x;

	if (!sp.known)
		return unknown();
	x = walk_load(w, sp.v, size);
	set_gpr(w, SP, 8, known(sp.v + size));
	return x;
}

/* The size of a push or pop. */
static unsigned stack_size(const struct insn *i)
{
	return i->data16 && !i->w ? 2 : 8;
}

static void jump(struct walk *w, struct val target)
{
	/* With prefix 66, processors differ. */
	if (w->insn.data16 && !w->insn.w)
		end_walk(w, WALK_INSN);
	else if (!target.known)
		end_walk(w, WALK_TARGET);
	else
		w->ip = target.v;
}

static void jump_relative(struct walk *w)
{
	jump(w, known(w->ip + (uint64_t)w->insn.imm));
}

static void jump_if(struct walk *w, struct val condition)
{
	if (!condition.known)
		end_walk(w, WALK_BRANCH);
	else if (condition.v)
		jump_relative(w);
}

static void call(struct walk *w, struct val target)
{
	uint64_t back = w->ip;

	jump(w, target);
	if (!w->stop)
		walk_push(w, 8, known(back));
}

static void do_return(struct walk *w)
{
	struct val target = walk_pop(w, 8), sp = get_gpr(w, SP, 8);

	if (w->insn.op == 0xc2)
		set_gpr(w, SP, 8, (struct val){sp.v + (uint16_t)w->insn.imm, sp.known});
	jump(w, target);
}

/* loopne, loope, loop, jrcxz */
static void loop(struct walk *w)
{
	unsigned size = w->insn.addr32 ? 4 : 8;
	struct val count = get_gpr(w, CX, size), zero = get_flag(w, FLAG_Z), go;

	/* With a prefix to repeat, processors test other flags. */
	if (w->insn.rep) {
		end_walk(w, WALK_INSN);
		return;
	}
	if (w->insn.op == 0xe3) {
		jump_if(w, (struct val){count.v == 0, count.known});
		return;
	}
	count.v = (count.v - 1) & bits_of(size);
	set_gpr(w, CX, size, count);
	go = (struct val){count.v != 0, count.known};
	if (w->insn.op != 0xe2 && go.v) {
		go.known = go.known && zero.known;
		go.v = zero.v == (w->insn.op & 1);
	}
	jump_if(w, go);
}

static void enter(struct walk *w)
{
	uint64_t frame;

	if (w->insn.imm & 0x1f0000 || w->insn.data16) {
		end_walk(w, WALK_INSN);
		return;
	}
	walk_push(w, 8, get_gpr(w, BP, 8));
	frame = w->gpr[SP];
	w->gpr_known[BP] = w->gpr_known[SP];
	w->gpr[BP] = frame;
	w->gpr[SP] = frame - (uint16_t)w->insn.imm;
}

static void leave(struct walk *w)
{
	unsigned size = stack_size(&w->insn);

	w->gpr[SP] = w->gpr[BP];
	w->gpr_known[SP] = w->gpr_known[BP];
	set_gpr(w, BP, size, walk_pop(w, size));
}

/* ---- arithmetic ---- */

/* An operand with itself: the result does not depend on it. */
static bool with_itself(const struct insn *i, unsigned operation)
{
	return !i->memory && i->reg == i->rm &&
	       (operation == 3 || operation == 5 || operation == 6 || operation == 7);
}

static void alu_forms(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned operation = i->op >> 3, form = i->op & 7, size = size_of(i);
	struct val a, b, r;

	if (form >= 4) {
		r = walk_alu(w, operation, size, get_gpr(w, AX, size), known((uint64_t)i->imm));
		if (operation != ALU_CMP)
			set_gpr(w, AX, size, r);
		return;
	}
	if (with_itself(i, operation)) {
		a = b = known(0);
	} else {
		a = walk_get_rm(w, size);
		b = walk_get_reg(w, i->reg, size);
	}
	r = form < 2 ? walk_alu(w, operation, size, a, b) : walk_alu(w, operation, size, b, a);
	if (operation == ALU_CMP)
		return;
	if (form < 2)
		walk_set_rm(w, size, r);
	else
		walk_set_reg(w, i->reg, size, r);
}

static void alu_immediate(struct walk *w)
{
	unsigned size = size_of(&w->insn), operation = w->insn.modrm >> 3 & 7;
	struct val r =
		walk_alu(w, operation, size, walk_get_rm(w, size), known((uint64_t)w->insn.imm));

	if (operation != ALU_CMP)
		walk_set_rm(w, size, r);
}

static void shift_group(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned size = size_of(i);
	struct val count = i->op < 0xd0	  ? known((uint64_t)i->imm & 0xff)
			   : i->op < 0xd2 ? known(1)
					  : get_gpr(w, CX, 1);

	walk_set_rm(w, size, walk_shift(w, i->modrm >> 3 & 7, size, walk_get_rm(w, size), count));
}

static void test(struct walk *w, unsigned size, struct val a, struct val b)
{
	walk_alu(w, 4, size, a, b);
}

/* inc and dec leave the carry. */
static void count_by_one(struct walk *w, bool down, unsigned size)
{
	struct val carry = get_flag(w, FLAG_C);
	struct val r = walk_alu(w, down ? 5 : ALU_ADD, size, walk_get_rm(w, size), known(1));

	set_flags(w, FLAG_C, carry.v, carry.known);
	walk_set_rm(w, size, r);
}

static void group3(struct walk *w)
{
	unsigned size = size_of(&w->insn);
	struct val a = walk_get_rm(w, size);

	switch (w->insn.modrm >> 3 & 7) {
	case 2:
		walk_set_rm(w, size, (struct val){~a.v & bits_of(size), a.known});
		break;
	case 3:
		walk_set_rm(w, size, walk_alu(w, 5, size, known(0), a));
		break;
	case 4:
	case 5:
		walk_multiply(w, w->insn.modrm >> 3 & 1, size, a);
		break;
	case 6:
	case 7:
		walk_divide(w, w->insn.modrm >> 3 & 1, size, a);
		break;
	default:
		test(w, size, a, known((uint64_t)w->insn.imm & bits_of(size)));
		break;
	}
}

static void group5(struct walk *w)
{
	unsigned size = size_of(&w->insn), operation = w->insn.modrm >> 3 & 7;

	if (operation < 2) {
		count_by_one(w, operation, size);
	} else if (w->insn.op == 0xfe) {
		end_walk(w, WALK_INSN);
	} else if (operation == 2) {
		call(w, walk_get_rm(w, 8));
	} else if (operation == 4) {
		jump(w, walk_get_rm(w, 8));
	} else if (operation == 6) {
		size = stack_size(&w->insn);
		walk_push(w, size, walk_get_rm(w, size));
	} else {
		end_walk(w, WALK_INSN);
	}
}

/* ---- moves ---- */

static void extend_ax(struct walk *w)
{
	unsigned size = op_size(&w->insn);
	struct val a = get_gpr(w, AX, w->insn.op == 0x98 ? size / 2 : size);

	if (w->insn.op == 0x98) {
		a.v = sign_extend(a.v, size / 2) & bits_of(size);
		set_gpr(w, AX, size, a);
	} else {
		a.v = a.v >> (8 * size - 1) ? bits_of(size) : 0;
		set_gpr(w, DX, size, a);
	}
}

static void exchange(struct walk *w, unsigned size)
{
	struct val a = walk_get_rm(w, size), b = walk_get_reg(w, w->insn.reg, size);

	walk_set_rm(w, size, b);
	walk_set_reg(w, w->insn.reg, size, a);
}

static void exchange_ax(struct walk *w)
{
	unsigned size = op_size(&w->insn), n = w->insn.rm;
	struct val a = get_gpr(w, AX, size), b = get_gpr(w, n, size);

	if (n == AX) /* nop, pause */
		return;
	set_gpr(w, AX, size, b);
	set_gpr(w, n, size, a);
}

static void absolute(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned size = size_of(i);

	w->ea = (uint64_t)i->imm + (i->segment == 0x64 ? w->fs_base : i->segment ? w->gs_base : 0);
	if (i->op < 0xa2)
		set_gpr(w, AX, size, walk_load(w, w->ea, size));
	else
		walk_store(w, w->ea, size, get_gpr(w, AX, size));
}

static void pop_rm(struct walk *w)
{
	unsigned size = stack_size(&w->insn);
	struct val x;

	if (w->insn.modrm & 0x38) {
		end_walk(w, WALK_INSN);
		return;
	}
	x = walk_pop(w, size);
	if (w->insn.memory && w->insn.base == SP)
		w->ea += size;
	walk_set_rm(w, size, x);
}

static void move_sign_extended(struct walk *w)
{
	unsigned size = op_size(&w->insn), from = size == 2 ? 2 : 4;
	struct val x = walk_get_rm(w, from);

	x.v = sign_extend(x.v, from) & bits_of(size);
	walk_set_reg(w, w->insn.reg, size, x);
}

static void load_address(struct walk *w)
{
	unsigned size = op_size(&w->insn);
	uint64_t addr = w->ea;

	if (!w->insn.memory) {
		end_walk(w, WALK_INSN);
		return;
	}
	if (w->insn.segment)
		addr -= w->insn.segment == 0x64 ? w->fs_base : w->gs_base;
	walk_set_reg(w, w->insn.reg, size,
		     (struct val){addr & bits_of(size), w->ea_state == WALK_ADDRESS_KNOWN});
}

/* 88 to 8e */
static void moves(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned size = size_of(i);

	switch (i->op) {
	case 0x88:
	case 0x89:
		walk_set_rm(w, size, walk_get_reg(w, i->reg, size));
		break;
	case 0x8a:
	case 0x8b:
		walk_set_reg(w, i->reg, size, walk_get_rm(w, size));
		break;
	case 0x8c: /* from a segment register */
		walk_set_rm(w, i->memory ? 2 : op_size(i), unknown());
		break;
	case 0x8d:
		load_address(w);
		break;
	default:
		end_walk(w, WALK_INSN);
		break;
	}
}

static void move_immediate(struct walk *w)
{
	unsigned size = size_of(&w->insn);

	if (w->insn.modrm & 0x38) /* xabort, xbegin */
		end_walk(w, WALK_INSN);
	else
		walk_set_rm(w, size, known((uint64_t)w->insn.imm & bits_of(size)));
}

static void move_to_register(struct walk *w)
{
	unsigned size = w->insn.op < 0xb8 ? 1 : op_size(&w->insn);

	walk_set_reg(w, w->insn.rm, size, known((uint64_t)w->insn.imm & bits_of(size)));
}

static void translate(struct walk *w)
{
	struct val b = get_gpr(w, BX, 8), a = get_gpr(w, AX, 1);
	uint64_t addr = b.v + a.v;

	if (w->insn.addr32)
		addr = (uint32_t)addr;
	if (w->insn.segment)
		addr += w->insn.segment == 0x64 ? w->fs_base : w->gs_base;
	set_gpr(w, AX, 1, b.known && a.known ? walk_load(w, addr, 1) : unknown());
}

/* ---- flags ---- */

/* What a program can change. */
#define USER_FLAGS (FLAGS6 | FLAG_D | 0x100U | 0x4000U | 0x40000U | 0x200000U)

static void push_flags(struct walk *w)
{
	bool ok = (w->flags_known & (FLAGS6 | FLAG_D)) == (FLAGS6 | FLAG_D);

	walk_push(w, stack_size(&w->insn), (struct val){w->flags & 0xfcffff, ok});
}

static void pop_flags(struct walk *w)
{
	unsigned size = stack_size(&w->insn);
	struct val x = walk_pop(w, size);

	set_flags(w, size == 2 ? USER_FLAGS & 0xffff : USER_FLAGS, x.v, x.known);
}

static void flags_and_ah(struct walk *w)
{
	uint32_t mask = FLAGS6 & ~FLAG_O;
	bool ok = (w->flags_known & mask) == mask;

	if (w->insn.op == 0x9e) {
		set_flags(w, mask, w->gpr[AX] >> 8, w->gpr_known[AX] >> 1 & 1);
		return;
	}
	w->gpr[AX] = (w->gpr[AX] & ~UINT64_C(0xff00)) | ((w->flags & mask) | 2) << 8;
	w->gpr_known[AX] = (uint8_t)(ok ? w->gpr_known[AX] | 2 : w->gpr_known[AX] & ~2);
}

/* f5, f8, f9, fc, fd */
static void change_flag(struct walk *w)
{
	unsigned op = w->insn.op;

	if (op == 0xf5)
		set_flags(w, FLAG_C, ~w->flags, w->flags_known & FLAG_C);
	else if (op < 0xfa)
		set_flags(w, FLAG_C, op & 1, true);
	else
		set_flags(w, FLAG_D, op & 1 ? FLAG_D : 0, true);
}

/* ---- the map ---- */

static void walk_50_to_7f(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned size = stack_size(i);

	if (i->op < 0x58) {
		walk_push(w, size, get_gpr(w, i->rm, size));
	} else if (i->op < 0x60) {
		walk_set_reg(w, i->rm, size, walk_pop(w, size));
	} else if (i->op >= 0x70) {
		jump_if(w, walk_condition(w, i->op & 15));
	} else if (i->op == 0x63) {
		move_sign_extended(w);
	} else if (i->op == 0x68 || i->op == 0x6a) {
		walk_push(w, size, known((uint64_t)i->imm & bits_of(size)));
	} else if (i->op == 0x69 || i->op == 0x6b) {
		size = op_size(i);
		walk_set_reg(w, i->reg, size,
			     walk_multiply_low(w, size, walk_get_rm(w, size),
					       known((uint64_t)i->imm & bits_of(size))));
	} else {
		end_walk(w, WALK_INSN);
	}
}

static void walk_80_to_9f(struct walk *w)
{
	unsigned op = w->insn.op, size = size_of(&w->insn);

	if (op < 0x84) {
		alu_immediate(w);
	} else if (op < 0x86) {
		test(w, size, walk_get_rm(w, size), walk_get_reg(w, w->insn.reg, size));
	} else if (op < 0x88) {
		exchange(w, size);
	} else if (op < 0x8f) {
		moves(w);
	} else if (op == 0x8f) {
		pop_rm(w);
	} else if (op < 0x98) {
		exchange_ax(w);
	} else if (op < 0x9a) {
		extend_ax(w);
	} else if (op == 0x9c) {
		push_flags(w);
	} else if (op == 0x9d) {
		pop_flags(w);
	} else if (op > 0x9d) {
		flags_and_ah(w);
	} /* else fwait */
}

static void walk_a0_to_bf(struct walk *w)
{
	unsigned op = w->insn.op, size = size_of(&w->insn);

	if (op < 0xa4)
		absolute(w);
	else if (op >= 0xb0)
		move_to_register(w);
	else if (op == 0xa8 || op == 0xa9)
		test(w, size, get_gpr(w, AX, size), known((uint64_t)w->insn.imm & bits_of(size)));
	else
		walk_string(w);
}

static void walk_c0_to_df(struct walk *w)
{
	unsigned op = w->insn.op;

	if (op < 0xc2 || (op >= 0xd0 && op < 0xd4))
		shift_group(w);
	else if (op < 0xc4)
		do_return(w);
	else if (op == 0xc6 || op == 0xc7)
		move_immediate(w);
	else if (op == 0xc8)
		enter(w);
	else if (op == 0xc9)
		leave(w);
	else if (op == 0xd7)
		translate(w);
	else if (op >= 0xd8)
		walk_opaque(w);
	else
		end_walk(w, op == 0xcd && (w->insn.imm & 0xff) == 0x80 ? WALK_SYSCALL : WALK_INSN);
}

static void walk_e0_to_ff(struct walk *w)
{
	switch (w->insn.op) {
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		loop(w);
		break;
	case 0xe8:
		call(w, known(w->ip + (uint64_t)w->insn.imm));
		break;
	case 0xe9:
	case 0xeb:
		jump_relative(w);
		break;
	case 0xf5:
	case 0xf8:
	case 0xf9:
	case 0xfc:
	case 0xfd:
		change_flag(w);
		break;
	case 0xf6:
	case 0xf7:
		group3(w);
		break;
	case 0xfe:
	case 0xff:
		group5(w);
		break;
	default: /* ports, interrupts */
		end_walk(w, WALK_INSN);
		break;
	}
}

void walk_one_byte(struct walk *w)
{
	unsigned op = w->insn.op;

	if (op < 0x40)
		alu_forms(w);
	else if (op < 0x80)
		walk_50_to_7f(w);
	else if (op < 0xa0)
		walk_80_to_9f(w);
	else if (op < 0xc0)
		walk_a0_to_bf(w);
	else if (op < 0xe0)
		walk_c0_to_df(w);
	else
		walk_e0_to_ff(w);
}
