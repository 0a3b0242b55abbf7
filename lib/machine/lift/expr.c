/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/amend.h"
#include "machine/lift/irop.h"
#include "machine/lift/vex.h"

#define RIP_AT	    ((unsigned)offsetof(VexGuestAMD64State, guest_RIP))
#define SSEROUND_AT ((unsigned)offsetof(VexGuestAMD64State, guest_SSEROUND))

unsigned vti_type_words(IRType type)
{
	return type == Ity_I1 ? 1 : ((unsigned)sizeofIRType(type) + 7) / 8;
}

unsigned vti_sized(unsigned op, unsigned size)
{
	while (size > 1) {
		op++;
		size /= 2;
	}
	return op;
}

/* ---- constants ---- */

/* A word of a vector constant, which has a bit for each byte. */
static uint64_t spread(unsigned bits)
{
	uint64_t v = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		if (bits >> i & 1)
			v |= UINT64_C(0xff) << 8 * i;
	return v;
}

/* VEX's NaN, of an x87 register that is empty: the machine's has a sign. */
static uint16_t number(struct vti_build *b, uint64_t f64)
{
	return f64 == UINT64_C(0x7ff8000000000000) ? vti_build_unknown(b, 8)
						   : vti_build_u64(b, f64);
}

static uint16_t constant(struct vti_build *b, const IRConst *c)
{
	struct vt_word w[4];
	uint64_t v = 0;
	uint32_t v32;
	unsigned i;

	switch (c->tag) {
	case Ico_U1:
		return vti_build_u64(b, c->Ico.U1 ? 1 : 0);
	case Ico_U8:
		return vti_build_u64(b, c->Ico.U8);
	case Ico_U16:
		return vti_build_u64(b, c->Ico.U16);
	case Ico_U32:
		return vti_build_u64(b, c->Ico.U32);
	case Ico_U64:
		return vti_build_u64(b, c->Ico.U64);
	case Ico_F32:
		memcpy(&v32, &c->Ico.F32, sizeof(v32));
		return vti_build_u64(b, v32);
	case Ico_F32i:
		return vti_build_u64(b, c->Ico.F32i);
	case Ico_F64:
		memcpy(&v, &c->Ico.F64, sizeof(v));
		return number(b, v);
	case Ico_F64i:
		return number(b, c->Ico.F64i);
	case Ico_U128:
	case Ico_V128:
		for (i = 0; i < 2; i++)
			w[i] = vt_word_of(spread(c->Ico.V128 >> 8 * i & 0xff));
		return vti_build_const(b, w, 2);
	case Ico_V256:
		for (i = 0; i < 4; i++)
			w[i] = vt_word_of(spread(c->Ico.V256 >> 8 * i & 0xff));
		return vti_build_const(b, w, 4);
	}
	return vti_build_unknown(b, 8);
}

uint16_t vti_atom(struct vti_flat *f, const IRExpr *e)
{
	if (e->tag == Iex_Const)
		return constant(f->b, e->Iex.Const.con);
	if (e->tag == Iex_RdTmp && e->Iex.RdTmp.tmp < (IRTemp)f->in->tyenv->types_used &&
	    f->temps[e->Iex.RdTmp.tmp] != VTI_NO_SLOT)
		return f->temps[e->Iex.RdTmp.tmp];
	/* VEX's code is flat and assigns before it reads; were it not so, this is not wrong. */
	return vti_build_unknown(f->b, 32);
}

/* ---- operators ---- */

/*
 * Operators that take a part of their operand, or write it wider with zeros: words have zeros above
 * their width anyway.  The number of the first word of it, or -1.
 */
static int part_of(IROp op)
{
	switch (op) {
	case Iop_8Uto16:
	case Iop_8Uto32:
	case Iop_8Uto64:
	case Iop_16Uto32:
	case Iop_16Uto64:
	case Iop_32Uto64:
	case Iop_1Uto8:
	case Iop_1Uto32:
	case Iop_1Uto64:
	case Iop_ReinterpF64asI64:
	case Iop_ReinterpI64asF64:
	case Iop_ReinterpF32asI32:
	case Iop_ReinterpI32asF32:
	case Iop_ReinterpV128asI128:
	case Iop_ReinterpI128asV128:
	case Iop_128to64:
	case Iop_V128to64:
	case Iop_V256to64_0:
	case Iop_V256toV128_0:
		return 0;
	case Iop_128HIto64:
	case Iop_V128HIto64:
	case Iop_V256to64_1:
		return 1;
	case Iop_V256to64_2:
	case Iop_V256toV128_1:
		return 2;
	case Iop_V256to64_3:
		return 3;
	default:
		return -1;
	}
}

static void move(struct vti_build *b, unsigned dst, unsigned src, unsigned words)
{
	vti_build_add(b,
		      (struct vti_op){.op = words == 1 ? VTI_MOVE1 : VTI_MOVE2,
				      .dst = (uint16_t)dst,
				      .a = (uint16_t)src},
		      (struct vti_widths){.dst = (uint8_t)words, .a = (uint8_t)words});
}

/* Operators that put their result together from whole words. */
static bool is_join(IROp op)
{
	switch (op) {
	case Iop_64HLto128:
	case Iop_64HLtoV128:
	case Iop_V128HLtoV256:
	case Iop_64x4toV256:
	case Iop_64UtoV128:
	case Iop_32UtoV128:
	case Iop_ZeroHI64ofV128:
	case Iop_SetV128lo64:
		return true;
	default:
		return false;
	}
}

static uint16_t join(struct vti_build *b, IROp op, IRType type, const uint16_t *args)
{
	unsigned words = vti_type_words(type), i;
	uint16_t dst = vti_build_temp(b, words);

	switch (op) {
	case Iop_64HLto128:
	case Iop_64HLtoV128:
		move(b, dst, args[1], 1);
		move(b, dst + 1u, args[0], 1);
		break;
	case Iop_V128HLtoV256:
		move(b, dst, args[1], 2);
		move(b, dst + 2u, args[0], 2);
		break;
	case Iop_64x4toV256:
		for (i = 0; i < 4; i++)
			move(b, dst + i, args[3 - i], 1);
		break;
	case Iop_SetV128lo64:
		move(b, dst, args[1], 1);
		move(b, dst + 1u, args[0] + 1u, 1);
		break;
	default:
		move(b, dst, args[0], 1);
		move(b, dst + 1u, vti_build_u64(b, 0), 1);
		break;
	}
	return dst;
}

static uint16_t unknown(struct vti_build *b, IRType type)
{
	uint16_t dst = vti_build_temp(b, vti_type_words(type));
	unsigned size = type == Ity_I1 ? 1 : (unsigned)sizeofIRType(type);

	vti_build_add(b, (struct vti_op){.op = VTI_UNKNOWN, .dst = dst, .aux = (uint16_t)size},
		      (struct vti_widths){.dst = (uint8_t)vti_type_words(type)});
	return dst;
}

/* Operators that only keep so many of the lowest bits; else 0. */
static unsigned kept_by(IROp op)
{
	switch (op) {
	case Iop_64to1:
	case Iop_32to1:
		return 1;
	case Iop_64to8:
	case Iop_32to8:
	case Iop_16to8:
		return 8;
	case Iop_64to16:
	case Iop_32to16:
		return 16;
	case Iop_64to32:
		return 32;
	default:
		return 0;
	}
}

static bool changes_nothing(const struct vti_build *b, IROp op, uint16_t arg)
{
	unsigned bits = arg < b->nslots ? b->slots[arg].bits : 0;

	return bits && bits <= kept_by(op);
}

static unsigned type_bits(IRType type)
{
	return type == Ity_I1 ? 1 : 8 * (unsigned)sizeofIRType(type);
}

static const struct vti_irop *find_irop(const struct vti_build *b, IROp op)
{
	return (b->insns[b->insn].facts.flags & VT_FACT_X87) ? vti_irop_find_x87(op)
							     : vti_irop_find(op);
}

uint16_t vti_operator(struct vti_build *b, IROp op, IRType type, const uint16_t *args,
		      const uint8_t *words, unsigned nargs)
{
	const struct vti_irop *irop;
	uint16_t dst;
	unsigned fast;

	if (part_of(op) >= 0)
		return (uint16_t)(args[0] + (unsigned)part_of(op));
	if (changes_nothing(b, op, args[0]))
		return args[0];
	if (is_join(op))
		return join(b, op, type, args);
	fast = vti_fast_op(op);
	irop = fast ? NULL : find_irop(b, op);
	if (!fast && (!irop || irop->nargs != nargs || irop->words != vti_type_words(type))) {
		b->nunknown++;
		return unknown(b, type);
	}
	dst = vti_build_temp(b, vti_type_words(type));
	vti_build_narrow(b, dst, type_bits(type));
	vti_build_add(b,
		      (struct vti_op){.op = (uint16_t)(fast ? fast : VTI_IROP),
				      .dst = dst,
				      .a = args[0],
				      .b = args[1],
				      .c = args[2],
				      .d = args[3],
				      .aux = (uint16_t)op,
				      .data = irop},
		      (struct vti_widths){(uint8_t)vti_type_words(type), words[0], words[1],
					  words[2], words[3]});
	return dst;
}

/* Arithmetic of vectors, and fused: VEX says that it rounds to nearest, whatever MXCSR says. */
static bool rounds_as_mxcsr_says(IROp op)
{
	switch (op) {
	case Iop_Add32Fx4:
	case Iop_Sub32Fx4:
	case Iop_Mul32Fx4:
	case Iop_Div32Fx4:
	case Iop_Sqrt32Fx4:
	case Iop_Add64Fx2:
	case Iop_Sub64Fx2:
	case Iop_Mul64Fx2:
	case Iop_Div64Fx2:
	case Iop_Sqrt64Fx2:
	case Iop_Add32Fx8:
	case Iop_Sub32Fx8:
	case Iop_Mul32Fx8:
	case Iop_Div32Fx8:
	case Iop_Add64Fx4:
	case Iop_Sub64Fx4:
	case Iop_Mul64Fx4:
	case Iop_Div64Fx4:
	case Iop_MAddF32:
	case Iop_MSubF32:
	case Iop_MAddF64:
	case Iop_MSubF64:
		return true;
	default:
		return false;
	}
}

static bool is_fused(IROp op)
{
	return op == Iop_MAddF32 || op == Iop_MSubF32 || op == Iop_MAddF64 || op == Iop_MSubF64;
}

static uint16_t get(struct vti_build *b, unsigned offset, unsigned size)
{
	uint8_t words = (uint8_t)((size + 7) / 8);
	uint16_t dst;

	/* The guest state's instruction pointer is not kept. */
	if (offset == RIP_AT && size == 8)
		return vti_build_u64(b, b->addr + b->insns[b->insn].offset);
	dst = vti_build_temp(b, words);
	vti_build_narrow(b, dst, 8 * size);
	vti_build_add(b,
		      (struct vti_op){
			      .op = (uint16_t)vti_sized(VTI_GET1, size), .dst = dst, .imm = offset},
		      (struct vti_widths){.dst = words});
	return dst;
}

static uint16_t operator(struct vti_flat *f, const IRExpr *e)
{
	const IRExpr *in[4] = {NULL, NULL, NULL, NULL};
	uint16_t args[4] = {0, 0, 0, 0};
	uint8_t words[4] = {0, 0, 0, 0};
	unsigned i, n = 0;
	uint16_t slot;
	IROp op;

	if (e->tag == Iex_Unop) {
		op = e->Iex.Unop.op;
		in[n++] = e->Iex.Unop.arg;
	} else if (e->tag == Iex_Binop) {
		op = e->Iex.Binop.op;
		in[n++] = e->Iex.Binop.arg1;
		in[n++] = e->Iex.Binop.arg2;
	} else if (e->tag == Iex_Triop) {
		op = e->Iex.Triop.details->op;
		in[n++] = e->Iex.Triop.details->arg1;
		in[n++] = e->Iex.Triop.details->arg2;
		in[n++] = e->Iex.Triop.details->arg3;
	} else {
		op = e->Iex.Qop.details->op;
		in[n++] = e->Iex.Qop.details->arg1;
		in[n++] = e->Iex.Qop.details->arg2;
		in[n++] = e->Iex.Qop.details->arg3;
		in[n++] = e->Iex.Qop.details->arg4;
	}
	for (i = 0; i < n; i++) {
		args[i] = vti_atom(f, in[i]);
		words[i] = (uint8_t)vti_type_words(typeOfIRExpr(f->in->tyenv, in[i]));
	}
	if (rounds_as_mxcsr_says(op) && in[0]->tag == Iex_Const)
		args[0] = get(f->b, SSEROUND_AT, 4);
	if (is_fused(op))
		args[0] = vti_amend_rounding(f, args[0]);
	slot = vti_operator(f->b, op, typeOfIRExpr(f->in->tyenv, e), args, words, n);
	if (op == Iop_NegF32 || op == Iop_NegF64)
		slot = vti_amend_negation(f, op, args[0], slot);
	if (is_fused(op))
		f->fused = slot;
	return slot;
}

/* ---- the others ---- */

static uint16_t load(struct vti_flat *f, const IRExpr *e)
{
	unsigned size = (unsigned)sizeofIRType(e->Iex.Load.ty);
	unsigned words = vti_type_words(e->Iex.Load.ty);
	uint16_t addr = vti_atom(f, e->Iex.Load.addr);
	uint16_t dst = vti_build_temp(f->b, words);

	vti_build_narrow(f->b, dst, 8 * size);
	vti_build_add(
		f->b,
		(struct vti_op){.op = (uint16_t)vti_sized(VTI_LOAD1, size), .dst = dst, .a = addr},
		(struct vti_widths){.dst = (uint8_t)words, .a = 1});
	vti_capture(f->b, VT_WHAT_LOAD_ADDRESS, 0, addr, 8);
	vti_capture(f->b, VT_WHAT_LOAD, 0, dst, size);
	return vti_amend_load(f, e->Iex.Load.ty, dst);
}

static uint16_t geti(struct vti_flat *f, const IRExpr *e)
{
	const IRRegArray *r = e->Iex.GetI.descr;
	struct vti_array array = {.base = (uint16_t)r->base,
				  .count = (uint16_t)r->nElems,
				  .size = (uint16_t)sizeofIRType(r->elemTy),
				  .bias = (int16_t)e->Iex.GetI.bias};
	uint16_t dst = vti_build_temp(f->b, vti_type_words(r->elemTy));

	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_GETI,
				      .dst = dst,
				      .a = vti_atom(f, e->Iex.GetI.ix),
				      .imm = vti_build_more(f->b, &array, sizeof(array))},
		      (struct vti_widths){.dst = (uint8_t)vti_type_words(r->elemTy), .a = 1});
	return dst;
}

static uint16_t ite(struct vti_flat *f, const IRExpr *e)
{
	uint8_t words = (uint8_t)vti_type_words(typeOfIRExpr(f->in->tyenv, e));
	uint16_t dst = vti_build_temp(f->b, words);

	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_ITE,
				      .dst = dst,
				      .a = vti_atom(f, e->Iex.ITE.cond),
				      .b = vti_atom(f, e->Iex.ITE.iftrue),
				      .c = vti_atom(f, e->Iex.ITE.iffalse),
				      .aux = words},
		      (struct vti_widths){.dst = words, .a = 1, .b = words, .c = words});
	return dst;
}

static uint16_t call(struct vti_flat *f, const IRExpr *e)
{
	const IRCallee *cee = e->Iex.CCall.cee;
	IRType type = e->Iex.CCall.retty;
	struct vti_call c;
	IRExpr **arg;

	memset(&c, 0, sizeof(c));
	c.fn = cee->addr;
	c.name = cee->name;
	c.result_size = (uint8_t)sizeofIRType(type);
	c.guard = c.address = VTI_NO_SLOT;
	for (arg = e->Iex.CCall.args; *arg; arg++) {
		if (c.nargs == VTI_CALL_ARGS || is_IRExpr_VECRET_or_GSPTR(*arg)) {
			f->b->nunknown++;
			return unknown(f->b, type);
		}
		c.args[c.nargs++] = vti_atom(f, *arg);
	}
	c.dst = vti_build_temp(f->b, vti_type_words(type));
	if (strcmp(c.name, "amd64g_calculate_condition") == 0)
		vti_build_narrow(f->b, c.dst, 1);
	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_CCALL,
				      .dst = c.dst,
				      .imm = vti_build_more(f->b, &c, sizeof(c))},
		      (struct vti_widths){0});
	return c.dst;
}

uint16_t vti_expr(struct vti_flat *f, const IRExpr *e)
{
	switch (e->tag) {
	case Iex_Const:
	case Iex_RdTmp:
		return vti_atom(f, e);
	case Iex_Get:
		return get(f->b, (unsigned)e->Iex.Get.offset,
			   (unsigned)sizeofIRType(e->Iex.Get.ty));
	case Iex_GetI:
		return geti(f, e);
	case Iex_Unop:
	case Iex_Binop:
	case Iex_Triop:
	case Iex_Qop:
		return operator(f, e);
	case Iex_Load:
		return load(f, e);
	case Iex_ITE:
		return ite(f, e);
	case Iex_CCall:
		return call(f, e);
	default:
		return unknown(f->b, typeOfIRExpr(f->in->tyenv, e));
	}
}
