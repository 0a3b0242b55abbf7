/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/amend.h"
#include "machine/lift/vex.h"

#define RIP_AT ((int)offsetof(VexGuestAMD64State, guest_RIP))

static uint64_t insn_addr(const struct vti_build *b)
{
	return b->addr + b->insns[b->insn].offset;
}

void vti_insn_begin(struct vti_build *b)
{
	b->insn = b->emitted++;
	b->insns[b->insn].first = (uint32_t)b->nops;
	vti_capture_begin(b);
}

void vti_insn_end(struct vti_build *b)
{
	vti_amend_end(b);
	vti_capture_results(b);
}

/* ---- statements ---- */

static void put(struct vti_flat *f, const IRStmt *st)
{
	const IRExpr *data = st->Ist.Put.data;
	unsigned size = (unsigned)sizeofIRType(typeOfIRExpr(f->in->tyenv, data));
	uint16_t slot;

	if (st->Ist.Put.offset == RIP_AT)
		return;
	slot = vti_amend_put(f, data, (unsigned)st->Ist.Put.offset, vti_atom(f, data));
	vti_build_add(f->b,
		      (struct vti_op){.op = (uint16_t)vti_sized(VTI_PUT1, size),
				      .a = slot,
				      .imm = (uint64_t)st->Ist.Put.offset},
		      (struct vti_widths){.a = (uint8_t)((size + 7) / 8)});
	vti_capture_put(f->b, (unsigned)st->Ist.Put.offset, size, data->tag == Iex_Const);
}

static void puti(struct vti_flat *f, const IRPutI *p)
{
	struct vti_array array = {.base = (uint16_t)p->descr->base,
				  .count = (uint16_t)p->descr->nElems,
				  .size = (uint16_t)sizeofIRType(p->descr->elemTy),
				  .bias = (int16_t)p->bias};

	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_PUTI,
				      .a = vti_atom(f, p->ix),
				      .b = vti_atom(f, p->data),
				      .imm = vti_build_more(f->b, &array, sizeof(array))},
		      (struct vti_widths){.a = 1, .b = (uint8_t)vti_type_words(p->descr->elemTy)});
}

static void store(struct vti_flat *f, const IRExpr *to, const IRExpr *data)
{
	unsigned size = (unsigned)sizeofIRType(typeOfIRExpr(f->in->tyenv, data));
	uint16_t addr = vti_atom(f, to), value = vti_amend_store(f, vti_atom(f, data));

	vti_build_add(
		f->b,
		(struct vti_op){.op = (uint16_t)vti_sized(VTI_STORE1, size), .a = addr, .b = value},
		(struct vti_widths){.a = 1, .b = (uint8_t)((size + 7) / 8)});
	vti_capture(f->b, VT_WHAT_STORE_ADDRESS, 0, addr, 8);
	vti_capture(f->b, VT_WHAT_STORE, 0, value, size);
}

static void storeg(struct vti_flat *f, const IRStoreG *s)
{
	struct vti_guarded g;

	memset(&g, 0, sizeof(g));
	g.address = vti_atom(f, s->addr);
	g.guard = vti_atom(f, s->guard);
	g.value = vti_atom(f, s->data);
	g.dst = VTI_NO_SLOT;
	g.size = (uint8_t)sizeofIRType(typeOfIRExpr(f->in->tyenv, s->data));
	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_STOREG, .imm = vti_build_more(f->b, &g, sizeof(g))},
		      (struct vti_widths){0});
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

static void loadg(struct vti_flat *f, const IRLoadG *l)
{
	struct vti_guarded g;
	bool widened;

	memset(&g, 0, sizeof(g));
	g.address = vti_atom(f, l->addr);
	g.guard = vti_atom(f, l->guard);
	g.value = vti_atom(f, l->alt);
	g.size = (uint8_t)loadg_size(l->cvt, &widened);
	g.conversion = (uint16_t)l->cvt;
	g.dst = vti_build_temp(f->b, vti_type_words(typeOfIRTemp(f->in->tyenv, l->dst)));
	f->temps[l->dst] = g.dst;
	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_LOADG, .imm = vti_build_more(f->b, &g, sizeof(g))},
		      (struct vti_widths){0});
	vti_capture_if(f->b, g.guard, VT_WHAT_LOAD_ADDRESS, g.address, 8);
	if (!widened)
		vti_capture_if(f->b, g.guard, VT_WHAT_LOAD, g.dst, g.size);
}

/* ---- compare and swap ---- */

/*
 * VEX makes a locked read-modify-write of a load, a compare-and-swap, and a jump back to the start
 * should another thread have been faster.  The machine does not lose: it is a load and a store.
 */
static bool tries_again(const struct vti_flat *f, int at)
{
	for (at++; at < f->in->stmts_used && f->in->stmts[at]->tag != Ist_IMark; at++) {
		const IRStmt *st = f->in->stmts[at];

		if (st->tag == Ist_Exit && st->Ist.Exit.jk == Ijk_Boring &&
		    st->Ist.Exit.dst->Ico.U64 == insn_addr(f->b))
			return true;
	}
	return false;
}

static uint16_t both_halves(struct vti_build *b, uint16_t low, uint16_t high, unsigned size)
{
	static const uint8_t words[4] = {1, 1, 0, 0};
	const uint16_t args[4] = {high, low, 0, 0};

	if (size == 4)
		return vti_operator(b, Iop_32HLto64, Ity_I64, args, words, 2);
	return vti_operator(b, Iop_64HLtoV128, Ity_V128, args, words, 2);
}

static uint16_t equal(struct vti_build *b, uint16_t x, uint16_t y)
{
	static const uint8_t words[4] = {1, 1, 0, 0};
	const uint16_t args[4] = {x, y, 0, 0};

	/* Words have zeros above their width. */
	return vti_operator(b, Iop_CmpEQ64, Ity_I1, args, words, 2);
}

static uint16_t and (struct vti_build * b, uint16_t x, uint16_t y)
{
	static const uint8_t words[4] = {1, 1, 0, 0};
	const uint16_t args[4] = {x, y, 0, 0};

	return vti_operator(b, Iop_And64, Ity_I64, args, words, 2);
}

static void capture_cas(struct vti_build *b, const struct vti_cas *c)
{
	bool two = c->old[1] != VTI_NO_SLOT;
	unsigned size = two ? 2u * c->size : c->size;
	uint16_t old = c->old[0], data = c->data[0], done;

	if (!(b->capture & (1u << VT_WHAT_LOAD | 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE |
			    1u << VT_WHAT_STORE_ADDRESS)))
		return;
	done = equal(b, c->old[0], c->expected[0]);
	if (two) {
		done = and(b, done, equal(b, c->old[1], c->expected[1]));
		old = both_halves(b, c->old[0], c->old[1], c->size);
		data = both_halves(b, c->data[0], c->data[1], c->size);
	}
	vti_capture(b, VT_WHAT_LOAD_ADDRESS, 0, c->address, 8);
	vti_capture(b, VT_WHAT_LOAD, 0, old, size);
	vti_capture_if(b, done, VT_WHAT_STORE_ADDRESS, c->address, 8);
	vti_capture_if(b, done, VT_WHAT_STORE, data, size);
}

static void cas(struct vti_flat *f, int at)
{
	const IRCAS *in = f->in->stmts[at]->Ist.CAS.details;
	bool two = in->oldHi != IRTemp_INVALID;
	struct vti_cas c;

	if (!two && tries_again(f, at)) {
		f->temps[in->oldLo] = vti_atom(f, in->expdLo);
		store(f, in->addr, in->dataLo);
		return;
	}
	memset(&c, 0, sizeof(c));
	c.address = vti_atom(f, in->addr);
	c.size = (uint8_t)sizeofIRType(typeOfIRTemp(f->in->tyenv, in->oldLo));
	c.expected[0] = vti_atom(f, in->expdLo);
	c.data[0] = vti_atom(f, in->dataLo);
	c.old[0] = f->temps[in->oldLo] = vti_build_temp(f->b, 1);
	c.expected[1] = two ? vti_atom(f, in->expdHi) : VTI_NO_SLOT;
	c.data[1] = two ? vti_atom(f, in->dataHi) : VTI_NO_SLOT;
	c.old[1] = two ? vti_build_temp(f->b, 1) : VTI_NO_SLOT;
	if (two)
		f->temps[in->oldHi] = c.old[1];
	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_CAS, .imm = vti_build_more(f->b, &c, sizeof(c))},
		      (struct vti_widths){0});
	capture_cas(f->b, &c);
}

/* ---- helpers ---- */

static unsigned effect(IREffect fx)
{
	return fx == Ifx_Read ? 1 : fx == Ifx_Write ? 2 : fx == Ifx_Modify ? 3 : 0;
}

/* False: it does not fit. */
static bool take_state(struct vti_call *c, const IRDirty *d)
{
	int i, k;

	for (i = 0; i < d->nFxState; i++) {
		for (k = 0; k <= d->fxState[i].nRepeats; k++) {
			if (c->nstate == VTI_CALL_STATE)
				return false;
			c->state[c->nstate].offset =
				(uint16_t)(d->fxState[i].offset + k * d->fxState[i].repeatLen);
			c->state[c->nstate].size = d->fxState[i].size;
			c->state[c->nstate++].effect = (uint8_t)effect(d->fxState[i].fx);
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
		c->args[c->nargs++] = vti_atom(f, *arg);
	}
	return true;
}

/* False: it is a call that cannot be written down. */
static bool dirty(struct vti_flat *f, const IRDirty *d)
{
	bool always = d->guard->tag == Iex_Const && d->guard->Iex.Const.con->Ico.U1;
	struct vti_call c;

	memset(&c, 0, sizeof(c));
	c.fn = d->cee->addr;
	c.name = d->cee->name;
	c.guard = always ? VTI_NO_SLOT : vti_atom(f, d->guard);
	c.memory = (uint8_t)effect(d->mFx);
	c.address = c.memory ? vti_atom(f, d->mAddr) : VTI_NO_SLOT;
	c.size = c.memory ? (uint16_t)d->mSize : 0;
	c.dst = VTI_NO_SLOT;
	if (!take_state(&c, d) || !take_args(f, &c, d))
		return false;
	if (d->tmp != IRTemp_INVALID) {
		IRType type = typeOfIRTemp(f->in->tyenv, d->tmp);

		c.result_size = (uint8_t)sizeofIRType(type);
		c.dst = f->temps[d->tmp] = vti_build_temp(f->b, vti_type_words(type));
	}
	if (c.memory & 1)
		vti_capture_if(f->b, c.guard, VT_WHAT_LOAD_ADDRESS, c.address, 8);
	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_DIRTY, .imm = vti_build_more(f->b, &c, sizeof(c))},
		      (struct vti_widths){0});
	if (c.memory & 2)
		vti_capture_if(f->b, c.guard, VT_WHAT_STORE_ADDRESS, c.address, 8);
	return true;
}

/* ---- exits and ends ---- */

static bool is_fault(IRJumpKind jk)
{
	return jk >= Ijk_SigILL && jk <= Ijk_SigFPE_IntOvf;
}

static void leave(struct vti_flat *f, const IRStmt *st)
{
	struct vti_build *b = f->b;
	uint64_t to = st->Ist.Exit.dst->Ico.U64;
	IRJumpKind jk = st->Ist.Exit.jk;
	bool fault = is_fault(jk);
	uint16_t guard;

	/* Warnings are about what Valgrind cannot do; the next instruction follows anyway. */
	if (jk == Ijk_EmWarn && to == insn_addr(b) + b->insns[b->insn].facts.length)
		return;
	if (jk == Ijk_Boring && to == insn_addr(b) &&
	    (b->insns[b->insn].facts.flags & VT_FACT_ATOMIC))
		return;
	if (!fault)
		vti_capture_results(b);
	guard = vti_atom(f, st->Ist.Exit.guard);
	if (to == insn_addr(b) && (b->insns[b->insn].facts.flags & VT_FACT_REPEATED))
		guard = vti_amend_again(b, guard);
	vti_build_add(b,
		      (struct vti_op){.op = VTI_EXIT,
				      .a = guard,
				      .insn = (uint16_t)(fault ? b->insn : b->insn + 1),
				      .aux = (uint16_t)jk,
				      .imm = to},
		      (struct vti_widths){.a = 1});
}

/*
 * A processor leaves a repeated string instruction behind its last repetition; VEX comes back to it
 * to see that there is no more to do, which would count as one more.
 */
static void leave_when_done(struct vti_flat *f)
{
	const struct vti_build_insn *insn = &f->b->insns[f->b->insn];

	if (!(insn->facts.flags & VT_FACT_REPEATED) || f->in->jumpkind != Ijk_Boring ||
	    f->in->next->tag != Iex_Const || f->in->next->Iex.Const.con->Ico.U64 != insn_addr(f->b))
		return;
	vti_build_add(f->b,
		      (struct vti_op){.op = VTI_EXIT,
				      .a = vti_emit_done(f->b),
				      .insn = (uint16_t)(f->b->insn + 1),
				      .aux = (uint16_t)Ijk_Boring,
				      .imm = insn_addr(f->b) + insn->facts.length},
		      (struct vti_widths){.a = 1});
}

static bool is_turn(const struct vti_flat *f)
{
	return f->in->jumpkind == Ijk_Call || f->in->jumpkind == Ijk_Ret ||
	       f->in->next->tag != Iex_Const;
}

static void end(struct vti_flat *f)
{
	struct vti_build *b = f->b;
	uint16_t to = vti_atom(f, f->in->next);
	uint32_t flags = b->insns[b->insn].facts.flags;

	vti_insn_end(b);
	leave_when_done(f);
	if (f->in->jumpkind == Ijk_Call)
		vti_capture_args(b);
	if ((flags & VT_FACT_INDIRECT) && (flags & (VT_FACT_CALL | VT_FACT_JUMP)))
		vti_capture(b, VT_WHAT_TARGET, 0, to, 8);
	vti_build_add(b,
		      (struct vti_op){.op = VTI_END,
				      .a = to,
				      .aux = (uint16_t)f->in->jumpkind,
				      .imm = is_turn(f)},
		      (struct vti_widths){.a = 1});
}

/* ---- a piece ---- */

/* False where VEX's view of the next instruction is not to be had or not to be used. */
static bool begin(struct vti_build *b, const IRStmt *mark)
{
	const struct vti_build_insn *n = &b->insns[b->emitted];

	b->request = mark->Ist.IMark.len > VT_MAX_INSN;
	if (mark->Ist.IMark.addr != b->addr + n->offset || mark->Ist.IMark.len != n->facts.length ||
	    vti_is_mistaken(&n->facts, b->bytes + n->offset))
		return false;
	vti_insn_begin(b);
	vti_amend_begin(b);
	return true;
}

/* False: it cannot be written down. */
static bool statement(struct vti_flat *f, int at)
{
	const IRStmt *st = f->in->stmts[at];

	switch (st->tag) {
	case Ist_NoOp:
	case Ist_AbiHint:
	case Ist_MBE:
		return true;
	case Ist_Put:
		put(f, st);
		return true;
	case Ist_PutI:
		puti(f, st->Ist.PutI.details);
		return true;
	case Ist_WrTmp:
		f->temps[st->Ist.WrTmp.tmp] = vti_expr(f, st->Ist.WrTmp.data);
		return true;
	case Ist_Store:
		store(f, st->Ist.Store.addr, st->Ist.Store.data);
		return true;
	case Ist_StoreG:
		storeg(f, st->Ist.StoreG.details);
		return true;
	case Ist_LoadG:
		loadg(f, st->Ist.LoadG.details);
		return true;
	case Ist_CAS:
		cas(f, at);
		return true;
	case Ist_Dirty:
		return dirty(f, st->Ist.Dirty.details);
	case Ist_Exit:
		leave(f, st);
		return true;
	default:
		return false;
	}
}

/* Takes back the instruction at hand. */
static enum vti_piece give_up(struct vti_build *b)
{
	b->nops = b->insns[b->insn].first;
	b->emitted = b->insn;
	return VTI_PIECE_UNLIFTED;
}

static enum vti_piece run(struct vti_flat *f)
{
	struct vti_build *b = f->b;
	bool begun = false;
	int i;

	for (i = 0; i < f->in->stmts_used; i++) {
		const IRStmt *st = f->in->stmts[i];

		if (st->tag == Ist_IMark) {
			if (begun)
				vti_insn_end(b);
			if (b->emitted == b->limit)
				return VTI_PIECE_ON;
			if (!begin(b, st))
				return VTI_PIECE_UNLIFTED;
			begun = true;
		} else if (begun && !statement(f, i)) {
			return give_up(b);
		}
	}
	if (!begun || f->in->jumpkind == Ijk_NoDecode)
		return begun ? give_up(b) : VTI_PIECE_UNLIFTED;
	if (f->in->jumpkind == Ijk_Boring && f->in->next->tag == Iex_Const &&
	    f->in->next->Iex.Const.con->Ico.U64 == insn_addr(b) + b->insns[b->insn].facts.length) {
		vti_insn_end(b);
		return VTI_PIECE_ON;
	}
	end(f);
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
	what = run(&f);
	free(f.temps);
	return what;
}
