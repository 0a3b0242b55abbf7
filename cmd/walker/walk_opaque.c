/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that are passed without being executed: the lines that they read are kept, and what
 * they write becomes unknown.
 */
#include "cmd/walker/walk_vec.h"

static void forget_vector(struct walk *w, unsigned n, unsigned bytes)
{
	walk_vec(w, n, 0);
	w->vec_known[n & 31] = (uint8_t)(w->vec_known[n & 31] & ~lanes_of(bytes));
}

static void read_memory(struct walk *w, uint64_t size)
{
	if (w->ea_state == WALK_ADDRESS_KNOWN)
		walk_touch(w, w->ea, size, 3);
}

/* ---- x87 ---- */

/* Bytes of the memory operands of d8 to df by ModRM's field; negative: they are written. */
static const int16_t x87_size[8][8] = {
	{4, 4, 4, 4, 4, 4, 4, 4}, {4, 0, -4, -4, 28, 2, -28, -2},
	{4, 4, 4, 4, 4, 4, 4, 4}, {4, -4, -4, -4, 0, 10, 0, -10},
	{8, 8, 8, 8, 8, 8, 8, 8}, {8, -8, -8, -8, 108, 0, -108, -2},
	{2, 2, 2, 2, 2, 2, 2, 2}, {2, -2, -2, -2, 10, 8, -10, -8},
};

static void x87(struct walk *w)
{
	int size = x87_size[w->insn.op & 7][w->insn.modrm >> 3 & 7];
	unsigned form = w->insn.modrm >> 3;

	if (w->insn.memory) {
		if (size < 0)
			walk_spoil_memory(w, (uint64_t)-size);
		else
			read_memory(w, (uint64_t)size);
		return;
	}
	if ((w->insn.op == 0xdb || w->insn.op == 0xdf) && (form == 0x1d || form == 0x1e))
		set_flags(w, FLAGS6, 0, false); /* fcomi, fucomi */
	else if (w->insn.op == 0xdf && w->insn.modrm == 0xe0)
		set_gpr(w, AX, 2, unknown()); /* fnstsw */
}

/* ---- vectors ---- */

enum result {
	TO_REG,	    /* the vector register of ModRM's reg field */
	TO_RM,	    /* the r/m operand, a vector register or memory */
	TO_GENERAL, /* the general register of the reg field */
	TO_GENERAL_RM,
	TO_MASK,
	TO_FLAGS,
	TO_MMX,	   /* which is not followed */
	TO_INDEX,  /* rcx and flags */
	TO_XMM0,   /* and flags */
	TO_GATHER, /* the register, and the mask */
	TO_SCATTER,
	TO_RDI,
	TO_NOTHING,
};

static enum result result_map1(const struct insn *i)
{
	bool evex = i->encoding == INSN_EVEX;

	switch (i->op) {
	case 0x13:
	case 0x17:
	case 0x11:
	case 0x29:
	case 0x2b:
		return TO_RM;
	case 0x2c:
	case 0x2d:
		return i->pp >= INSN_PP_F3 ? TO_GENERAL : TO_MMX;
	case 0x2e:
	case 0x2f:
		return TO_FLAGS;
	case 0x50:
	case 0xc5:
	case 0xd7:
		return TO_GENERAL;
	case 0x77:
		return TO_NOTHING;
	case 0x7e:
		return i->pp == INSN_PP_NONE ? TO_GENERAL_RM : TO_REG;
	case 0x7f:
	case 0xe7:
		return TO_RM;
	case 0x78:
	case 0x79:
		return evex && i->pp >= INSN_PP_F3 ? TO_GENERAL : TO_REG;
	case 0xc2:
		return evex ? TO_MASK : TO_REG;
	case 0xf7:
		return TO_RDI;
	default:
		return TO_REG;
	}
}

static enum result result_map2(const struct insn *i)
{
	unsigned op = i->op;

	if (i->encoding == INSN_EVEX && i->pp == INSN_PP_F3 && op >= 0x10 && op < 0x36 &&
	    (op & 15) < 6)
		return TO_RM;
	switch (op) {
	case 0x0e:
	case 0x0f:
		return i->encoding == INSN_VEX ? TO_FLAGS : TO_REG;
	case 0x17:
		return TO_FLAGS;
	case 0x2e:
	case 0x2f:
	case 0x8e:
		return i->encoding == INSN_VEX ? TO_RM : TO_REG;
	case 0x29:
	case 0x39:
		return i->encoding == INSN_EVEX && i->pp == INSN_PP_F3 ? TO_MASK : TO_REG;
	case 0x63:
	case 0x8a:
	case 0x8b:
		return TO_RM;
	case 0x68:
		return TO_MASK;
	case 0x90:
	case 0x91:
	case 0x92:
	case 0x93:
		return TO_GATHER;
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa3:
	case 0xc6:
	case 0xc7:
		return TO_SCATTER;
	default:
		return TO_REG;
	}
}

static enum result result_map3(const struct insn *i)
{
	switch (i->op) {
	case 0x14:
	case 0x15:
	case 0x16:
	case 0x17:
		return TO_GENERAL_RM;
	case 0x19:
	case 0x1b:
	case 0x1d:
	case 0x39:
	case 0x3b:
		return TO_RM;
	case 0x60:
	case 0x62:
		return TO_XMM0;
	case 0x61:
	case 0x63:
		return TO_INDEX;
	case 0x66:
	case 0x67:
	case 0xc2:
		return i->encoding == INSN_EVEX ? TO_MASK : TO_REG;
	default:
		return TO_REG;
	}
}

/* Without a prefix these write MMX registers. */
static bool to_mmx(const struct insn *i)
{
	if (i->encoding != INSN_LEGACY)
		return false;
	if (i->map == 1 && i->op == 0xd6)
		return i->pp == INSN_PP_F2;
	if (i->pp != INSN_PP_NONE)
		return false;
	if (i->map == 1)
		return i->op == 0x0f || (i->op >= 0x60 && i->op < 0x77) || i->op == 0xc4 ||
		       (i->op >= 0xd0 && i->op != 0xd7 && i->op != 0xe7 && i->op != 0xf7);
	return i->map == 2 ? i->op < 0x20 : i->map == 3 && i->op == 0x0f;
}

static enum result result_of(const struct insn *i)
{
	if (to_mmx(i))
		return TO_MMX;
	if (i->map == 1)
		return result_map1(i);
	if (i->map == 2)
		return result_map2(i);
	return i->map == 3 ? result_map3(i) : TO_REG;
}

/* Bytes of a memory operand, or more. */
static unsigned memory_size(const struct insn *i)
{
	if (i->encoding == INSN_LEGACY && i->pp == INSN_PP_NONE && to_mmx(i))
		return 8;
	if (i->bcst)
		return i->w ? 8 : 4;
	if (i->map != 1)
		return i->vbytes;
	if (i->op == 0x2a && i->pp >= INSN_PP_F3)
		return i->w ? 8 : 4;
	if (i->op == 0x2e || i->op == 0x2f)
		return i->pp ? 8 : 4;
	if (i->pp >= INSN_PP_F3 && i->op != 0xe6 && i->op != 0x70)
		return i->pp == INSN_PP_F2 ? 8 : 4;
	return i->vbytes;
}

/* Of one lane: the rest of the register is a source's. */
static bool is_scalar(const struct insn *i)
{
	return i->map == 1 && i->encoding == INSN_LEGACY && i->pp >= INSN_PP_F3 &&
	       (i->op == 0x2a || (i->op >= 0x51 && i->op < 0x60 && i->op != 0x5b) || i->op == 0xc2);
}

static void gather(struct walk *w)
{
	forget_vector(w, w->insn.reg, 64);
	if (w->insn.encoding == INSN_EVEX)
		walk_set_mask(w, w->insn.aaa, unknown());
	else
		forget_vector(w, w->insn.vvvv, 64);
}

static void write_result(struct walk *w, enum result to)
{
	const struct insn *i = &w->insn;

	switch (to) {
	case TO_REG:
		forget_vector(w, i->reg, is_scalar(i) ? 8 : i->encoding == INSN_LEGACY ? 16 : 64);
		if (i->map == 1 && (i->op == 0x78 || i->op == 0x79) && !i->memory)
			forget_vector(w, i->rm, 16); /* extrq */
		break;
	case TO_RM:
		if (i->memory)
			walk_spoil_memory(w, i->vbytes);
		else
			forget_vector(w, i->rm, 64);
		break;
	case TO_GENERAL:
		set_gpr(w, i->reg & 15, 8, unknown());
		break;
	case TO_GENERAL_RM:
		if (i->memory)
			walk_spoil_memory(w, 8);
		else
			set_gpr(w, i->rm & 15, 8, unknown());
		break;
	case TO_MASK:
		walk_set_mask(w, i->reg, unknown());
		if (i->map == 2 && i->op == 0x68)
			walk_set_mask(w, i->reg ^ 1, unknown());
		break;
	case TO_INDEX:
		set_gpr(w, CX, 8, unknown());
		set_flags(w, FLAGS6, 0, false);
		break;
	case TO_XMM0:
		forget_vector(w, 0, 64);
		set_flags(w, FLAGS6, 0, false);
		break;
	case TO_FLAGS:
		set_flags(w, FLAGS6, 0, false);
		break;
	case TO_GATHER:
		gather(w);
		break;
	case TO_SCATTER:
		w->memory_unknown = true;
		walk_set_mask(w, i->aaa, unknown());
		break;
	case TO_RDI:
		if (w->gpr_known[DI] == 0xff && !i->segment)
			walk_write_bytes(w, w->gpr[DI], 16, NULL);
		else
			w->memory_unknown = true;
		break;
	case TO_MMX:
	case TO_NOTHING:
		break;
	}
}

/* Tiles, whose configuration is not followed, and keys that are locked. */
static bool cannot_pass(const struct insn *i)
{
	if (i->encoding == INSN_XOP)
		return true;
	if (i->encoding == INSN_VEX && i->map == 2)
		return i->op == 0x49 || i->op == 0x4b || i->op == 0x5c || i->op == 0x5e ||
		       i->op >= 0xe0;
	return i->encoding == INSN_LEGACY && i->map == 2 &&
	       ((i->op >= 0x80 && i->op < 0x90) || (i->op >= 0xd8 && i->pp == INSN_PP_F3));
}

void walk_opaque(struct walk *w)
{
	const struct insn *i = &w->insn;
	enum result to;

	if (i->map == 0) {
		x87(w);
		return;
	}
	if (i->map == 1 && i->op == 0xae) { /* vldmxcsr, vstmxcsr */
		if (i->modrm >> 3 & 1)
			walk_spoil_memory(w, 4);
		else
			read_memory(w, 4);
		return;
	}
	if (cannot_pass(i)) {
		end_walk(w, WALK_INSN);
		return;
	}
	to = result_of(i);
	if (i->memory && to != TO_RM && to != TO_GENERAL_RM && to != TO_GATHER && to != TO_SCATTER)
		read_memory(w, memory_size(i));
	write_result(w, to);
}
