/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/corrections.h"
#include "machine/lift/evex_emit.h"
#include "machine/lift/flatten.h"

#define RIP_AT	    ((unsigned)offsetof(VexGuestAMD64State, guest_RIP))
#define SSEROUND_AT ((unsigned)offsetof(VexGuestAMD64State, guest_SSEROUND))

/* ---- constants ---- */

/* A word of a vector constant, which has a bit for each byte. */
static uint64_t spread_v_bits(unsigned bits)
{
	uint64_t v = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		if (bits >> i & 1)
			v |= UINT64_C(0xff) << 8 * i;
	return v;
}

/* VEX's NaN, of an x87 register that is empty: the machine's has a sign. */
static uint16_t build_f64(struct vti_build *b, uint64_t f64)
{
	return f64 == UINT64_C(0x7ff8000000000000) ? vti_build_unknown(b, 8)
						   : vti_build_u64(b, f64);
}

static uint16_t flatten_constant(struct vti_build *b, const IRConst *c)
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
		return build_f64(b, v);
	case Ico_F64i:
		return build_f64(b, c->Ico.F64i);
	case Ico_U128:
	case Ico_V128:
		for (i = 0; i < 2; i++)
			w[i] = vt_word_of(spread_v_bits(c->Ico.V128 >> 8 * i & 0xff));
		return vti_build_const(b, w, 2);
	case Ico_V256:
		for (i = 0; i < 4; i++)
			w[i] = vt_word_of(spread_v_bits(c->Ico.V256 >> 8 * i & 0xff));
		return vti_build_const(b, w, 4);
	}
	return vti_build_unknown(b, 8);
}

static uint16_t flatten_atom(struct vti_flat *f, const IRExpr *e)
{
	if (e->tag == Iex_Const)
		return flatten_constant(f->b, e->Iex.Const.con);
	if (e->tag == Iex_RdTmp && e->Iex.RdTmp.tmp < (IRTemp)f->in->tyenv->types_used &&
	    f->temps[e->Iex.RdTmp.tmp] != VTI_NO_SLOT)
		return f->temps[e->Iex.RdTmp.tmp];
	/* VEX's code is flat and assigns before it reads; were it not so, this is not wrong. */
	return vti_build_unknown(f->b, 32);
}

/* ---- expressions ---- */

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

static uint16_t flatten_get(struct vti_build *b, unsigned offset, unsigned size)
{
	/* The guest state's instruction pointer is not kept. */
	if (offset == RIP_AT && size == 8)
		return vti_build_u64(b, vti_address(b));
	return vti_emit_get(b, offset, size);
}

static uint16_t flatten_operator(struct vti_flat *f, const IRExpr *e)
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
		args[i] = flatten_atom(f, in[i]);
		words[i] = (uint8_t)vti_type_words(typeOfIRExpr(f->in->tyenv, in[i]));
	}
	if (rounds_as_mxcsr_says(op) && in[0]->tag == Iex_Const)
		args[0] = flatten_get(f->b, SSEROUND_AT, 4);
	if (is_fused(op))
		args[0] = vti_correct_rounding(f, args[0]);
	slot = vti_emit_operator(f->b, op, typeOfIRExpr(f->in->tyenv, e), args, words, n);
	if (op == Iop_NegF32 || op == Iop_NegF64)
		slot = vti_correct_negation(f, op, args[0], slot);
	if (is_fused(op))
		f->fused = slot;
	return slot;
}

/* ---- the others ---- */

static uint16_t flatten_load(struct vti_flat *f, const IRExpr *e)
{
	unsigned size = (unsigned)sizeofIRType(e->Iex.Load.ty);
	unsigned words = vti_type_words(e->Iex.Load.ty);
	uint16_t addr = flatten_atom(f, e->Iex.Load.addr);
	uint16_t dst = vti_build_temp(f->b, words);

	vti_build_narrow(f->b, dst, 8 * size);
	vti_build_add(
		f->b,
		(struct vti_op){.op = (uint16_t)vti_sized(VTI_LOAD1, size), .dst = dst, .a = addr},
		(struct vti_widths){.dst = (uint8_t)words, .a = 1});
	vti_capture(f->b, VT_WHAT_LOAD_ADDRESS, 0, addr, 8);
	vti_capture(f->b, VT_WHAT_LOAD, 0, dst, size);
	return vti_correct_load(f, e->Iex.Load.ty, dst);
}

static uint16_t flatten_geti(struct vti_flat *f, const IRExpr *e)
{
	const IRRegArray *r = e->Iex.GetI.descr;
	struct vti_array array = {.base = (uint16_t)r->base,
				  .count = (uint16_t)r->nElems,
				  .size = (uint16_t)sizeofIRType(r->elemTy),
				  .bias = (int16_t)e->Iex.GetI.bias};
	uint16_t dst = vti_build_temp(f->b, vti_type_words(r->elemTy));

	vti_build_add_with(
		f->b,
		(struct vti_op){.op = VTI_GETI, .dst = dst, .a = flatten_atom(f, e->Iex.GetI.ix)},
		(struct vti_widths){.dst = (uint8_t)vti_type_words(r->elemTy), .a = 1}, &array,
		sizeof(array));
	return dst;
}

static uint16_t flatten_ite(struct vti_flat *f, const IRExpr *e)
{
	return vti_emit_choice(f->b, vti_type_words(typeOfIRExpr(f->in->tyenv, e)),
			       flatten_atom(f, e->Iex.ITE.cond), flatten_atom(f, e->Iex.ITE.iftrue),
			       flatten_atom(f, e->Iex.ITE.iffalse));
}

static uint16_t flatten_ccall(struct vti_flat *f, const IRExpr *e)
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
			return vti_emit_unknown(f->b, type);
		}
		c.args[c.nargs++] = flatten_atom(f, *arg);
	}
	c.dst = vti_build_temp(f->b, vti_type_words(type));
	if (strcmp(c.name, "amd64g_calculate_condition") == 0)
		vti_build_narrow(f->b, c.dst, 1);
	vti_build_add_with(f->b, (struct vti_op){.op = VTI_CCALL, .dst = c.dst},
			   (struct vti_widths){0}, &c, sizeof(c));
	return c.dst;
}

static uint16_t flatten_expression(struct vti_flat *f, const IRExpr *e)
{
	switch (e->tag) {
	case Iex_Const:
	case Iex_RdTmp:
		return flatten_atom(f, e);
	case Iex_Get:
		return flatten_get(f->b, (unsigned)e->Iex.Get.offset,
				   (unsigned)sizeofIRType(e->Iex.Get.ty));
	case Iex_GetI:
		return flatten_geti(f, e);
	case Iex_Unop:
	case Iex_Binop:
	case Iex_Triop:
	case Iex_Qop:
		return flatten_operator(f, e);
	case Iex_Load:
		return flatten_load(f, e);
	case Iex_ITE:
		return flatten_ite(f, e);
	case Iex_CCall:
		return flatten_ccall(f, e);
	default:
		return vti_emit_unknown(f->b, typeOfIRExpr(f->in->tyenv, e));
	}
}

/* ---- statements ---- */

static void flatten_put(struct vti_flat *f, const IRStmt *st)
{
	const IRExpr *data = st->Ist.Put.data;
	unsigned size = (unsigned)sizeofIRType(typeOfIRExpr(f->in->tyenv, data));
	unsigned offset = (unsigned)st->Ist.Put.offset;

	if (offset == RIP_AT)
		return;
	vti_emit_put(f->b, offset, size, vti_correct_put(f, data, offset, flatten_atom(f, data)));
	vti_capture_put(f->b, offset, size, data->tag == Iex_Const);
}

static void flatten_puti(struct vti_flat *f, const IRPutI *p)
{
	struct vti_array array = {.base = (uint16_t)p->descr->base,
				  .count = (uint16_t)p->descr->nElems,
				  .size = (uint16_t)sizeofIRType(p->descr->elemTy),
				  .bias = (int16_t)p->bias};

	vti_build_add_with(
		f->b,
		(struct vti_op){
			.op = VTI_PUTI, .a = flatten_atom(f, p->ix), .b = flatten_atom(f, p->data)},
		(struct vti_widths){.a = 1, .b = (uint8_t)vti_type_words(p->descr->elemTy)}, &array,
		sizeof(array));
}

static void flatten_store(struct vti_flat *f, const IRExpr *to, const IRExpr *data)
{
	unsigned size = (unsigned)sizeofIRType(typeOfIRExpr(f->in->tyenv, data));
	uint16_t addr = flatten_atom(f, to), value = vti_correct_store(f, flatten_atom(f, data));

	vti_build_add(
		f->b,
		(struct vti_op){.op = (uint16_t)vti_sized(VTI_STORE1, size), .a = addr, .b = value},
		(struct vti_widths){.a = 1, .b = (uint8_t)((size + 7) / 8)});
	vti_capture(f->b, VT_WHAT_STORE_ADDRESS, 0, addr, 8);
	vti_capture(f->b, VT_WHAT_STORE, 0, value, size);
}

static void flatten_storeg(struct vti_flat *f, const IRStoreG *s)
{
	struct vti_guarded g;

	memset(&g, 0, sizeof(g));
	g.address = flatten_atom(f, s->addr);
	g.guard = flatten_atom(f, s->guard);
	g.value = flatten_atom(f, s->data);
	g.dst = VTI_NO_SLOT;
	g.size = (uint8_t)sizeofIRType(typeOfIRExpr(f->in->tyenv, s->data));
	vti_build_add_with(f->b, (struct vti_op){.op = VTI_STOREG}, (struct vti_widths){0}, &g,
			   sizeof(g));
	vti_capture_if(f->b, g.guard, VT_WHAT_STORE_ADDRESS, g.address, 8);
	vti_capture_if(f->b, g.guard, VT_WHAT_STORE, g.value, g.size);
}

static unsigned loadg_size(IRLoadGOp op, bool *widened)
{
	*widened = true;
	switch (op) {
	case ILGop_16Uto32:
	case ILGop_16Sto32:
		return 2;
	case ILGop_8Uto32:
	case ILGop_8Sto32:
		return 1;
	default:
		*widened = false;
		return op == ILGop_IdentV128 ? 16 : op == ILGop_Ident64 ? 8 : 4;
	}
}

static void flatten_loadg(struct vti_flat *f, const IRLoadG *l)
{
	struct vti_guarded g;
	bool widened;

	memset(&g, 0, sizeof(g));
	g.address = flatten_atom(f, l->addr);
	g.guard = flatten_atom(f, l->guard);
	g.value = flatten_atom(f, l->alt);
	g.size = (uint8_t)loadg_size(l->cvt, &widened);
	g.conversion = (uint16_t)l->cvt;
	g.dst = vti_build_temp(f->b, vti_type_words(typeOfIRTemp(f->in->tyenv, l->dst)));
	f->temps[l->dst] = g.dst;
	vti_build_add_with(f->b, (struct vti_op){.op = VTI_LOADG}, (struct vti_widths){0}, &g,
			   sizeof(g));
	vti_capture_if(f->b, g.guard, VT_WHAT_LOAD_ADDRESS, g.address, 8);
	if (!widened)
		vti_capture_if(f->b, g.guard, VT_WHAT_LOAD, g.dst, g.size);
}

/* ---- compare and swap ---- */

/*
 * VEX makes a locked read-modify-write of a load, a compare-and-swap, and a jump back to the start
 * should another thread have been faster.  The machine does not lose: it is a load and a store.
 */
static bool retries_when_lost(const struct vti_flat *f, int at)
{
	for (at++; at < f->in->stmts_used && f->in->stmts[at]->tag != Ist_IMark; at++) {
		const IRStmt *st = f->in->stmts[at];

		if (st->tag == Ist_Exit && st->Ist.Exit.jk == Ijk_Boring &&
		    st->Ist.Exit.dst->Ico.U64 == vti_address(f->b))
			return true;
	}
	return false;
}

static uint16_t both_halves(struct vti_build *b, const uint16_t half[2], unsigned size)
{
	if (size == 4)
		return vti_emit_binary(b, Iop_32HLto64, Ity_I64, half[1], half[0]);
	return vti_emit_binary(b, Iop_64HLtoV128, Ity_V128, half[1], half[0]);
}

static uint16_t emit_word_equal(struct vti_build *b, uint16_t x, uint16_t y)
{
	/* Words have zeros above their width. */
	return vti_emit_binary(b, Iop_CmpEQ64, Ity_I1, x, y);
}

static void capture_cas_access(struct vti_build *b, const struct vti_cas *c)
{
	bool two = c->old[1] != VTI_NO_SLOT;
	unsigned size = two ? 2u * c->size : c->size;
	uint16_t old = c->old[0], data = c->data[0], done;

	if (!(b->capture & (1u << VT_WHAT_LOAD | 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE |
			    1u << VT_WHAT_STORE_ADDRESS)))
		return;
	done = emit_word_equal(b, c->old[0], c->expected[0]);
	if (two) {
		done = vti_emit_binary(b, Iop_And64, Ity_I64, done,
				       emit_word_equal(b, c->old[1], c->expected[1]));
		old = both_halves(b, c->old, c->size);
		data = both_halves(b, c->data, c->size);
	}
	vti_capture(b, VT_WHAT_LOAD_ADDRESS, 0, c->address, 8);
	vti_capture(b, VT_WHAT_LOAD, 0, old, size);
	vti_capture_if(b, done, VT_WHAT_STORE_ADDRESS, c->address, 8);
	vti_capture_if(b, done, VT_WHAT_STORE, data, size);
}

static void flatten_cas(struct vti_flat *f, int at)
{
	const IRCAS *in = f->in->stmts[at]->Ist.CAS.details;
	bool two = in->oldHi != IRTemp_INVALID;
	struct vti_cas c;

	if (!two && retries_when_lost(f, at)) {
		f->temps[in->oldLo] = flatten_atom(f, in->expdLo);
		flatten_store(f, in->addr, in->dataLo);
		return;
	}
	memset(&c, 0, sizeof(c));
	c.address = flatten_atom(f, in->addr);
	c.size = (uint8_t)sizeofIRType(typeOfIRTemp(f->in->tyenv, in->oldLo));
	c.expected[0] = flatten_atom(f, in->expdLo);
	c.data[0] = flatten_atom(f, in->dataLo);
	c.old[0] = f->temps[in->oldLo] = vti_build_temp(f->b, 1);
	c.expected[1] = two ? flatten_atom(f, in->expdHi) : VTI_NO_SLOT;
	c.data[1] = two ? flatten_atom(f, in->dataHi) : VTI_NO_SLOT;
	c.old[1] = two ? vti_build_temp(f->b, 1) : VTI_NO_SLOT;
	if (two)
		f->temps[in->oldHi] = c.old[1];
	vti_build_add_with(f->b, (struct vti_op){.op = VTI_CAS}, (struct vti_widths){0}, &c,
			   sizeof(c));
	capture_cas_access(f->b, &c);
}

/* ---- helpers ---- */

static unsigned get_effect_bits(IREffect fx)
{
	return fx == Ifx_Read ? 1 : fx == Ifx_Write ? 2 : fx == Ifx_Modify ? 3 : 0;
}

/* False: it does not fit. */
static bool take_dirty_state(struct vti_call *c, const IRDirty *d)
{
	int i, k;

	for (i = 0; i < d->nFxState; i++) {
		for (k = 0; k <= d->fxState[i].nRepeats; k++) {
			if (c->nstate == VTI_CALL_STATE)
				return false;
			c->state[c->nstate].offset =
				(uint16_t)(d->fxState[i].offset + k * d->fxState[i].repeatLen);
			c->state[c->nstate].size = d->fxState[i].size;
			c->state[c->nstate++].effect = (uint8_t)get_effect_bits(d->fxState[i].fx);
		}
	}
	return true;
}

static bool take_args(struct vti_flat *f, struct vti_call *c, const IRDirty *d)
{
	IRExpr **arg;

	for (arg = d->args; *arg; arg++) {
		if ((*arg)->tag == Iex_GSPTR && arg == d->args) {
			c->passes_state = true;
			continue;
		}
		if (c->nargs == VTI_CALL_ARGS || is_IRExpr_VECRET_or_GSPTR(*arg))
			return false;
		c->args[c->nargs++] = flatten_atom(f, *arg);
	}
	return true;
}

/* False: it is a call that cannot be written down. */
static bool flatten_dirty(struct vti_flat *f, const IRDirty *d)
{
	bool always = d->guard->tag == Iex_Const && d->guard->Iex.Const.con->Ico.U1;
	struct vti_call c;

	memset(&c, 0, sizeof(c));
	c.fn = d->cee->addr;
	c.name = d->cee->name;
	c.guard = always ? VTI_NO_SLOT : flatten_atom(f, d->guard);
	c.memory = (uint8_t)get_effect_bits(d->mFx);
	c.address = c.memory ? flatten_atom(f, d->mAddr) : VTI_NO_SLOT;
	c.size = c.memory ? (uint16_t)d->mSize : 0;
	c.dst = VTI_NO_SLOT;
	if (!take_dirty_state(&c, d) || !take_args(f, &c, d))
		return false;
	if (d->tmp != IRTemp_INVALID) {
		IRType type = typeOfIRTemp(f->in->tyenv, d->tmp);

		c.result_size = (uint8_t)sizeofIRType(type);
		c.dst = f->temps[d->tmp] = vti_build_temp(f->b, vti_type_words(type));
	}
	if (c.memory & 1)
		vti_capture_if(f->b, c.guard, VT_WHAT_LOAD_ADDRESS, c.address, 8);
	vti_build_add_with(f->b, (struct vti_op){.op = VTI_DIRTY}, (struct vti_widths){0}, &c,
			   sizeof(c));
	if (c.memory & 2)
		vti_capture_if(f->b, c.guard, VT_WHAT_STORE_ADDRESS, c.address, 8);
	return true;
}

/* ---- exits and ends ---- */

static void insn_end(struct vti_build *b)
{
	vti_correct_end(b);
	vti_clear_high(b);
	vti_capture_results(b);
}

static bool is_fault(IRJumpKind jk)
{
	return jk >= Ijk_SigILL && jk <= Ijk_SigFPE_IntOvf;
}

static void emit_exit(struct vti_build *b, uint16_t guard, uint32_t insn, IRJumpKind kind,
		      uint64_t to)
{
	vti_build_add(b,
		      (struct vti_op){.op = VTI_EXIT,
				      .a = guard,
				      .insn = (uint16_t)insn,
				      .aux = (uint16_t)kind,
				      .imm = to},
		      (struct vti_widths){.a = 1});
}

static void flatten_exit(struct vti_flat *f, const IRStmt *st)
{
	struct vti_build *b = f->b;
	uint64_t to = st->Ist.Exit.dst->Ico.U64;
	IRJumpKind jk = st->Ist.Exit.jk;
	bool fault = is_fault(jk);
	uint16_t guard;

	/* Warnings are about what Valgrind cannot do; the next instruction follows anyway. */
	if (jk == Ijk_EmWarn && to == vti_address(b) + vti_at_hand(b)->length)
		return;
	if (jk == Ijk_Boring && to == vti_address(b) && (vti_at_hand(b)->flags & VT_FACT_ATOMIC))
		return;
	if (!fault)
		vti_capture_results(b);
	guard = flatten_atom(f, st->Ist.Exit.guard);
	if (to == vti_address(b) && (vti_at_hand(b)->flags & VT_FACT_REPEATED))
		guard = vti_correct_again(b, guard);
	emit_exit(b, guard, fault ? b->insn : b->insn + 1, jk, to);
}

/*
 * A processor leaves a repeated string instruction behind its last repetition; VEX comes back to it
 * to see that there is no more to do, which would count as one more.
 */
static void exit_when_done(struct vti_flat *f)
{
	const struct vt_facts *facts = vti_at_hand(f->b);

	if (!(facts->flags & VT_FACT_REPEATED) || f->in->jumpkind != Ijk_Boring ||
	    f->in->next->tag != Iex_Const ||
	    f->in->next->Iex.Const.con->Ico.U64 != vti_address(f->b))
		return;
	emit_exit(f->b, vti_emit_done(f->b), f->b->insn + 1, Ijk_Boring,
		  vti_address(f->b) + facts->length);
}

static bool is_computed_transfer(const struct vti_flat *f)
{
	return f->in->jumpkind == Ijk_Call || f->in->jumpkind == Ijk_Ret ||
	       f->in->next->tag != Iex_Const;
}

static void flatten_end(struct vti_flat *f)
{
	struct vti_build *b = f->b;
	uint16_t to = flatten_atom(f, f->in->next);
	uint32_t flags = vti_at_hand(b)->flags;

	insn_end(b);
	exit_when_done(f);
	if (f->in->jumpkind == Ijk_Call)
		vti_capture_args(b);
	if ((flags & VT_FACT_INDIRECT) && (flags & (VT_FACT_CALL | VT_FACT_JUMP)))
		vti_capture(b, VT_WHAT_TARGET, 0, to, 8);
	vti_emit_end(b, to, f->in->jumpkind, is_computed_transfer(f));
}

/* ---- a piece ---- */

/* False where VEX's view of the next instruction is not to be had or not to be used. */
static bool begin_flat_insn(struct vti_build *b, const IRStmt *mark)
{
	const struct vti_build_insn *n = &b->insns[b->emitted];

	b->request = mark->Ist.IMark.len > VT_MAX_INSN;
	if (mark->Ist.IMark.addr != b->addr + n->offset || mark->Ist.IMark.len != n->facts.length ||
	    vti_is_mistaken(&n->facts, b->bytes + n->offset))
		return false;
	vti_emit_begin(b);
	vti_correct_begin(b);
	return true;
}

/* False: it cannot be written down. */
static bool flatten_statement(struct vti_flat *f, int at)
{
	const IRStmt *st = f->in->stmts[at];

	switch (st->tag) {
	case Ist_NoOp:
	case Ist_AbiHint:
	case Ist_MBE:
		return true;
	case Ist_Put:
		flatten_put(f, st);
		return true;
	case Ist_PutI:
		flatten_puti(f, st->Ist.PutI.details);
		return true;
	case Ist_WrTmp:
		f->temps[st->Ist.WrTmp.tmp] = flatten_expression(f, st->Ist.WrTmp.data);
		return true;
	case Ist_Store:
		flatten_store(f, st->Ist.Store.addr, st->Ist.Store.data);
		return true;
	case Ist_StoreG:
		flatten_storeg(f, st->Ist.StoreG.details);
		return true;
	case Ist_LoadG:
		flatten_loadg(f, st->Ist.LoadG.details);
		return true;
	case Ist_CAS:
		flatten_cas(f, at);
		return true;
	case Ist_Dirty:
		return flatten_dirty(f, st->Ist.Dirty.details);
	case Ist_Exit:
		flatten_exit(f, st);
		return true;
	default:
		return false;
	}
}

/* Takes back the instruction at hand. */
static enum vti_piece drop_insn(struct vti_build *b)
{
	b->nops = b->insns[b->insn].first;
	b->emitted = b->insn;
	return VTI_PIECE_UNLIFTED;
}

static enum vti_piece flatten_piece(struct vti_flat *f)
{
	struct vti_build *b = f->b;
	bool begun = false;
	int i;

	for (i = 0; i < f->in->stmts_used; i++) {
		const IRStmt *st = f->in->stmts[i];

		if (st->tag == Ist_IMark) {
			if (begun)
				insn_end(b);
			if (b->emitted == b->limit)
				return VTI_PIECE_ON;
			if (!begin_flat_insn(b, st))
				return VTI_PIECE_UNLIFTED;
			begun = true;
		} else if (begun && !flatten_statement(f, i)) {
			return drop_insn(b);
		}
	}
	if (!begun || f->in->jumpkind == Ijk_NoDecode)
		return begun ? drop_insn(b) : VTI_PIECE_UNLIFTED;
	if (f->in->jumpkind == Ijk_Boring && f->in->next->tag == Iex_Const &&
	    f->in->next->Iex.Const.con->Ico.U64 == vti_address(b) + vti_at_hand(b)->length) {
		insn_end(b);
		return VTI_PIECE_ON;
	}
	flatten_end(f);
	return VTI_PIECE_END;
}

enum vti_piece vti_flatten(struct vti_build *b, const IRSB *in)
{
	size_t n = (size_t)in->tyenv->types_used;
	struct vti_flat f = {.b = b, .in = in, .fused = VTI_NO_SLOT};
	enum vti_piece what;

	f.temps = malloc((n + 1) * sizeof(*f.temps));
	if (!f.temps) {
		b->failed = true;
		return VTI_PIECE_END;
	}
	memset(f.temps, 0xff, (n + 1) * sizeof(*f.temps));
	what = flatten_piece(&f);
	free(f.temps);
	return what;
}
