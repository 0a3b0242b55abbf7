/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/bpf/compile_internal.h"

/* ---- operations ---- */

struct bpf_walk_op *bpf_emit(struct bpf_compiler *c, struct bpf_walk_op op)
{
	struct bpf_walk_op *o = &c->pool[c->used];

	*o = op;
	c->used++;
	return o;
}

void bpf_emit_move(struct bpf_unit *u, unsigned dst, unsigned src, unsigned size)
{
	BPF_EMIT(u, .code = BPF_WALK_MOVE, .dst = (uint8_t)dst, .b = (uint8_t)src,
		 .size = (uint8_t)size);
}

void bpf_emit_constant(struct bpf_unit *u, unsigned dst, uint64_t value, unsigned size)
{
	BPF_EMIT(u, .code = BPF_WALK_MOVE, .dst = (uint8_t)dst, .b = BPF_WALK_IMM,
		 .size = (uint8_t)size, .imm = (int64_t)value);
}

/* dst = a `code` b; for BPF_WALK_IMM, b is `imm`. */
void bpf_emit_alu(struct bpf_unit *u, enum bpf_walk_code code, unsigned dst, unsigned a, unsigned b,
		  int64_t imm, unsigned size)
{
	BPF_EMIT(u, .code = (uint8_t)code, .dst = (uint8_t)dst, .a = (uint8_t)a, .b = (uint8_t)b,
		 .size = (uint8_t)size, .imm = imm);
}

void bpf_emit_flags(struct bpf_unit *u, enum bpf_walk_code code, unsigned a, unsigned b,
		    int64_t imm, unsigned size)
{
	bpf_emit_alu(u, code, 0, a, b, imm, size);
}

void bpf_emit_end(struct bpf_unit *u, enum walk_stop why)
{
	BPF_EMIT(u, .code = BPF_WALK_END, .imm = why);
	u->ends = true;
}

/* An operation that goes to the code at `pc`, which may not be compiled yet. */
void bpf_emit_goto(struct bpf_unit *u, enum bpf_walk_code code, unsigned condition, uint64_t pc)
{
	struct bpf_compiler *c = u->c;

	c->fixups[c->nfixups++] = (struct bpf_fixup){c->used, pc};
	BPF_EMIT(u, .code = (uint8_t)code, .ext = (uint8_t)condition);
	if (u->depth && c->npending < 2 * BPF_INSNS_MAX)
		c->pending[c->npending++] = (struct bpf_pending){pc, u->depth - 1};
}

/* ---- operands ---- */

struct bpf_place bpf_place_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	struct bpf_place p = {0};

	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
		return p;
	p.reg = (unsigned)ZydisRegisterGetId(whole);
	p.size = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, r) / 8;
	p.shift = r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH ? 8 : 0;
	return p;
}

unsigned bpf_size_of(const ZydisDecodedOperand *o)
{
	return o->size / 8;
}

/* The segments whose bases are not 0. */
static unsigned base_of_segment(ZydisRegister segment)
{
	return segment == ZYDIS_REGISTER_FS   ? BPF_WALK_FS
	       : segment == ZYDIS_REGISTER_GS ? BPF_WALK_GS
					      : 0;
}

struct bpf_operand_address bpf_address_of(struct bpf_unit *u, const ZydisDecodedOperand *o)
{
	struct bpf_place base = bpf_place_of(o->mem.base), index = bpf_place_of(o->mem.index);
	unsigned segment = base_of_segment(o->mem.segment), scale;
	int64_t disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	struct bpf_operand_address a = {base.reg, disp};

	if (!base.size || index.size || segment)
		a = (struct bpf_operand_address){T_ADDR, 0};
	if (o->mem.base == ZYDIS_REGISTER_RIP)
		disp += (int64_t)u->next;
	if (!base.size && !index.size && !segment) {
		bpf_emit_constant(u, T_ADDR, (uint64_t)disp, 8);
		return a;
	}
	if (!base.size) {
		bpf_emit_constant(u, T_ADDR, (uint64_t)disp, 8);
		base.reg = T_ADDR;
		disp = 0;
	}
	if (index.size) {
		scale = o->mem.scale ? (unsigned)__builtin_ctz(o->mem.scale) : 0;
		BPF_EMIT(u, .code = BPF_WALK_LEA, .dst = T_ADDR, .a = (uint8_t)base.reg,
			 .b = (uint8_t)index.reg, .ext = (uint8_t)scale, .imm = disp);
	} else if (segment && base.reg != T_ADDR) {
		BPF_EMIT(u, .code = BPF_WALK_LEA, .dst = T_ADDR, .a = (uint8_t)base.reg,
			 .b = BPF_WALK_IMM, .imm = disp);
	}
	if (u->insn.address_width == 32)
		bpf_emit_move(u, T_ADDR, T_ADDR, 4);
	if (segment)
		bpf_emit_alu(u, BPF_WALK_ADD, T_ADDR, T_ADDR, segment, 0, 8);
	return a;
}

void bpf_emit_memory(struct bpf_unit *u, enum bpf_walk_code code, struct bpf_operand_address a,
		     unsigned reg, unsigned size)
{
	BPF_EMIT(u, .code = (uint8_t)code, .dst = (uint8_t)reg, .a = (uint8_t)a.reg,
		 .b = (uint8_t)reg, .size = (uint8_t)size, .imm = a.offset);
}

/* An operand's value, zero-extended; the register that has it, which may be `temp`. */
unsigned bpf_read_operand(struct bpf_unit *u, const ZydisDecodedOperand *o, unsigned temp)
{
	struct bpf_place p;

	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		p = bpf_place_of(o->reg.value);
		if (p.size == 8)
			return p.reg;
		if (!p.size) {
			BPF_EMIT(u, .code = BPF_WALK_FORGET, .dst = (uint8_t)temp);
			return temp;
		}
		if (p.shift)
			bpf_emit_alu(u, BPF_WALK_SHR, temp, p.reg, BPF_WALK_IMM, p.shift, 8);
		bpf_emit_move(u, temp, p.shift ? temp : p.reg, p.size);
		return temp;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		bpf_emit_memory(u, BPF_WALK_LOAD, bpf_address_of(u, o), temp, bpf_size_of(o));
		return temp;
	default:
		bpf_emit_constant(u, temp, o->imm.value.u, bpf_size_of(&u->o[0]));
		return temp;
	}
}

void bpf_write_operand(struct bpf_unit *u, const ZydisDecodedOperand *o, unsigned src)
{
	struct bpf_place p;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		bpf_emit_memory(u, BPF_WALK_STORE, bpf_address_of(u, o), src, bpf_size_of(o));
		return;
	}
	p = bpf_place_of(o->reg.value);
	if (p.size >= 4)
		bpf_emit_move(u, p.reg, src, p.size);
	else if (p.size)
		BPF_EMIT(u, .code = BPF_WALK_INSERT, .dst = (uint8_t)p.reg, .a = (uint8_t)src,
			 .size = (uint8_t)p.size, .ext = (uint8_t)p.shift);
}
