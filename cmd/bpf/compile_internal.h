/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_BPF_COMPILE_INTERNAL_H
#define CMD_BPF_COMPILE_INTERNAL_H

#include <Zydis/Zydis.h>

#include "cmd/bpf/compile.h"
#include "cmd/walker/walk.h"

#define BPF_INSNS_MAX 512 /* of one call of bpf_compile() */

/* Temporary registers. */
enum {
	T_ADDR = BPF_WALK_TEMP,
	T_LEFT,
	T_RIGHT,
	T_RESULT,
	T_OTHER,
	T_INDEX,
};

/* Code that is still to be compiled. */
struct bpf_pending {
	uint64_t pc;
	uint32_t depth;
};

/* An operation whose `imm` is to be the operation of the code at `pc`. */
struct bpf_fixup {
	uint32_t op;
	uint64_t pc;
};

/* The instruction that is being compiled. */
struct bpf_unit {
	struct bpf_compiler *c;
	uint64_t space;
	uint64_t pc;
	uint64_t next;
	uint32_t depth;
	bool ends; /* control does not go on behind it */
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
};

/* A general register, or a part of one. */
struct bpf_place {
	unsigned reg;
	unsigned shift; /* 8 for the second byte */
	unsigned size;	/* 0: it is no general register */
};

/* A register and an offset from it. */
struct bpf_operand_address {
	unsigned reg;
	int64_t offset;
};

/* ---- emit.c: operations, and the operands of instructions ---- */

struct bpf_walk_op *bpf_emit(struct bpf_compiler *c, struct bpf_walk_op op);

#define BPF_EMIT(u, ...) bpf_emit((u)->c, (struct bpf_walk_op){__VA_ARGS__})

void bpf_emit_move(struct bpf_unit *u, unsigned dst, unsigned src, unsigned size);
void bpf_emit_constant(struct bpf_unit *u, unsigned dst, uint64_t value, unsigned size);
void bpf_emit_alu(struct bpf_unit *u, enum bpf_walk_code code, unsigned dst, unsigned a, unsigned b,
		  int64_t imm, unsigned size);
void bpf_emit_flags(struct bpf_unit *u, enum bpf_walk_code code, unsigned a, unsigned b,
		    int64_t imm, unsigned size);
void bpf_emit_end(struct bpf_unit *u, enum walk_stop why);
void bpf_emit_goto(struct bpf_unit *u, enum bpf_walk_code code, unsigned condition, uint64_t pc);
struct bpf_place bpf_place_of(ZydisRegister r);
unsigned bpf_size_of(const ZydisDecodedOperand *o);
struct bpf_operand_address bpf_address_of(struct bpf_unit *u, const ZydisDecodedOperand *o);
void bpf_emit_memory(struct bpf_unit *u, enum bpf_walk_code code, struct bpf_operand_address a,
		     unsigned reg, unsigned size);
unsigned bpf_read_operand(struct bpf_unit *u, const ZydisDecodedOperand *o, unsigned temp);
void bpf_write_operand(struct bpf_unit *u, const ZydisDecodedOperand *o, unsigned src);

#endif
