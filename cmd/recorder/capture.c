/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/instrument.h"

#include <stddef.h>

#include <libvex_guest_amd64.h>

/* The register of slots whose state a helper returned, not in Valgrind's guest state. */
#define RETURNED 0xffff

/* perf's numbers of Valgrind's general registers, which are in the order of their encoding. */
static const UChar perf_number[16] = {0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23};
#define PERF_VECTOR 32

#define GENERAL	     ((Int)offsetof(VexGuestAMD64State, guest_RAX))
#define GENERAL_SIZE 128
#define VECTOR	     ((Int)offsetof(VexGuestAMD64State, guest_YMM0))
#define VECTOR_SIZE  512

static void add_value_slot(struct pass *p, UInt what, UInt reg, UInt size)
{
	p->slots[p->nslots++] =
		(p->ninsns - 1) | (ULong)what << 16 | (ULong)size << 32 | (ULong)reg << 48;
}

/* Stores a value at the end of the block's data. */
static void store_value(struct pass *p, IRExpr *value)
{
	IRExpr *at = IRExpr_RdTmp(p->data);
	IRType type = typeOfIRExpr(p->out->tyenv, value);

	if (type == Ity_I1) {
		value = pass_assign(p, Ity_I8, IRExpr_Unop(Iop_1Uto8, value));
		type = Ity_I8;
	}
	if (p->data_size)
		at = pass_assign(
			p, Ity_I64,
			IRExpr_Binop(Iop_Add64, at, IRExpr_Const(IRConst_U64(p->data_size))));
	pass_add(p, IRStmt_Store(Iend_LE, at, value));
	p->data_size += sizeofIRType(type);
}

static void put_slot(struct pass *p, UInt what, UInt reg, IRExpr *value)
{
	IRType type = typeOfIRExpr(p->out->tyenv, value);

	add_value_slot(p, what, reg, type == Ity_I1 ? 1 : sizeofIRType(type));
	store_value(p, value);
}

static void put_address_slot(struct pass *p, UInt what, IRExpr *addr)
{
	if (recorder_options.mem)
		put_slot(p, what, 0, addr);
}

static void put_guard(struct pass *p, IRExpr *guard)
{
	if (guard->tag != Iex_Const)
		put_slot(p, VT_WHAT_GUARD, 0, guard);
}

/* The largest piece in which to read memory or guest state, of which `left` bytes remain. */
static IRType choose_piece_type(UInt left)
{
	return left >= 8 ? Ity_I64 : left >= 4 ? Ity_I32 : left >= 2 ? Ity_I16 : Ity_I8;
}

static IRExpr *read_guarded(struct pass *p, IRType type, IRExpr *addr, IRExpr *guard)
{
	IRType wide = type == Ity_I64 ? Ity_I64 : Ity_I32;
	IRTemp t = newIRTemp(p->out->tyenv, wide);
	IRExpr *alt = type == Ity_I64 ? pass_u64(0) : IRExpr_Const(IRConst_U32(0));
	IRLoadGOp op = type == Ity_I64	 ? ILGop_Ident64
		       : type == Ity_I32 ? ILGop_Ident32
		       : type == Ity_I16 ? ILGop_16Uto32
					 : ILGop_8Uto32;

	pass_add(p, IRStmt_LoadG(Iend_LE, op, t, addr, alt, guard));
	if (type == Ity_I16)
		return pass_assign(p, type, IRExpr_Unop(Iop_32to16, IRExpr_RdTmp(t)));
	if (type == Ity_I8)
		return pass_assign(p, type, IRExpr_Unop(Iop_32to8, IRExpr_RdTmp(t)));
	return IRExpr_RdTmp(t);
}

static void put_memory(struct pass *p, UInt what, IRExpr *addr, UInt size, IRExpr *guard)
{
	UInt done, n;

	add_value_slot(p, what, 0, size);
	for (done = 0; done < size; done += n) {
		IRType type = choose_piece_type(size - done);
		IRExpr *at = pass_assign(p, Ity_I64, IRExpr_Binop(Iop_Add64, addr, pass_u64(done)));

		n = sizeofIRType(type);
		if (guard->tag == Iex_Const)
			store_value(p, pass_assign(p, type, IRExpr_Load(Iend_LE, type, at)));
		else
			store_value(p, read_guarded(p, type, at, guard));
	}
}

static void put_state(struct pass *p, UInt what, UInt reg, Int offset, UInt size)
{
	UInt done, n;

	add_value_slot(p, what, reg, size);
	for (done = 0; done < size; done += n) {
		IRType type = choose_piece_type(size - done);

		n = sizeofIRType(type);
		store_value(p, pass_assign(p, type, IRExpr_Get(offset + (Int)done, type)));
	}
}

/* ---- statements ---- */

static void capture_load(struct pass *p, const IRStmt *st)
{
	const IRExpr *e = st->Ist.WrTmp.data;

	if (e->tag != Iex_Load || p->no_memory || recorder_options.values < VALUES_LOADS)
		return;
	put_address_slot(p, VT_WHAT_LOAD_ADDRESS, e->Iex.Load.addr);
	put_slot(p, VT_WHAT_LOAD, 0, IRExpr_RdTmp(st->Ist.WrTmp.tmp));
	p->loaded = True;
}

/* The value that was loaded, before it was widened to the type of its destination. */
static IRExpr *narrow_loaded(struct pass *p, const IRLoadG *lg)
{
	IRExpr *e = IRExpr_RdTmp(lg->dst);

	switch (lg->cvt) {
	case ILGop_16Uto32:
	case ILGop_16Sto32:
		return pass_assign(p, Ity_I16, IRExpr_Unop(Iop_32to16, e));
	case ILGop_8Uto32:
	case ILGop_8Sto32:
		return pass_assign(p, Ity_I8, IRExpr_Unop(Iop_32to8, e));
	default:
		return e;
	}
}

static void capture_loadg(struct pass *p, const IRLoadG *lg)
{
	if (recorder_options.values < VALUES_LOADS)
		return;
	put_guard(p, lg->guard);
	put_address_slot(p, VT_WHAT_LOAD_ADDRESS, lg->addr);
	put_slot(p, VT_WHAT_LOAD, 0, narrow_loaded(p, lg));
}

static void capture_store(struct pass *p, IRExpr *addr, IRExpr *data, IRExpr *guard)
{
	if (p->no_memory || recorder_options.values < VALUES_STORES)
		return;
	if (guard)
		put_guard(p, guard);
	put_address_slot(p, VT_WHAT_STORE_ADDRESS, addr);
	put_slot(p, VT_WHAT_STORE, 0, data);
}

static IROp get_compare_op(IRType type)
{
	return type == Ity_I8	 ? Iop_CmpEQ8
	       : type == Ity_I16 ? Iop_CmpEQ16
	       : type == Ity_I32 ? Iop_CmpEQ32
				 : Iop_CmpEQ64;
}

/* If the instruction has loaded the old value before, that is not captured again. */
static void capture_compare_and_swap(struct pass *p, const IRCAS *cas)
{
	Bool two = cas->oldHi != IRTemp_INVALID;
	IRExpr *lo = IRExpr_RdTmp(cas->oldLo), *equal;
	IRType type = typeOfIRTemp(p->out->tyenv, cas->oldLo);

	if (recorder_options.values >= VALUES_LOADS && !p->loaded) {
		put_address_slot(p, VT_WHAT_LOAD_ADDRESS, cas->addr);
		add_value_slot(p, VT_WHAT_LOAD, 0, (two ? 2 : 1) * sizeofIRType(type));
		store_value(p, lo);
		if (two)
			store_value(p, IRExpr_RdTmp(cas->oldHi));
	}
	if (recorder_options.values < VALUES_STORES)
		return;
	equal = pass_assign(p, Ity_I1, IRExpr_Binop(get_compare_op(type), lo, cas->expdLo));
	if (two) {
		IRExpr *hi = pass_assign(
			p, Ity_I1,
			IRExpr_Binop(get_compare_op(type), IRExpr_RdTmp(cas->oldHi), cas->expdHi));

		/* Valgrind has no machine code to choose between conditions. */
		equal = pass_assign(p, Ity_I64, IRExpr_Unop(Iop_1Uto64, equal));
		hi = pass_assign(p, Ity_I64, IRExpr_Unop(Iop_1Uto64, hi));
		equal = pass_assign(p, Ity_I64, IRExpr_Binop(Iop_And64, equal, hi));
		equal = pass_assign(p, Ity_I1, IRExpr_Unop(Iop_CmpNEZ64, equal));
	}
	put_guard(p, equal);
	put_address_slot(p, VT_WHAT_STORE_ADDRESS, cas->addr);
	add_value_slot(p, VT_WHAT_STORE, 0, (two ? 2 : 1) * sizeofIRType(type));
	store_value(p, cas->dataLo);
	if (two)
		store_value(p, cas->dataHi);
}

static void capture_helper_read(struct pass *p, const IRDirty *d)
{
	if (recorder_options.values < VALUES_LOADS || (d->mFx != Ifx_Read && d->mFx != Ifx_Modify))
		return;
	put_guard(p, d->guard);
	put_address_slot(p, VT_WHAT_LOAD_ADDRESS, d->mAddr);
	put_memory(p, VT_WHAT_LOAD, d->mAddr, d->mSize, d->guard);
}

static void capture_helper_effects(struct pass *p, const IRDirty *d)
{
	Int i, k;

	if (recorder_options.values >= VALUES_STORES &&
	    (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)) {
		put_guard(p, d->guard);
		put_address_slot(p, VT_WHAT_STORE_ADDRESS, d->mAddr);
		put_memory(p, VT_WHAT_STORE, d->mAddr, d->mSize, d->guard);
	}
	if (d->tmp != IRTemp_INVALID)
		put_slot(p, VT_WHAT_STATE, RETURNED, IRExpr_RdTmp(d->tmp));
	for (i = 0; i < d->nFxState; i++) {
		if (d->fxState[i].fx == Ifx_Read)
			continue;
		for (k = 0; k <= d->fxState[i].nRepeats; k++) {
			Int offset = d->fxState[i].offset + k * d->fxState[i].repeatLen;

			put_state(p, VT_WHAT_STATE, offset, offset, d->fxState[i].size);
		}
	}
}

static void mark_register(struct pass *p, const IRStmt *st)
{
	Int offset = st->Ist.Put.offset;
	UInt size = sizeofIRType(typeOfIRExpr(p->out->tyenv, st->Ist.Put.data)), reg, end;
	const IRExpr *data = st->Ist.Put.data;

	if (offset >= GENERAL && offset < GENERAL + GENERAL_SIZE) {
		p->written[0] |= 1u << ((offset - GENERAL) / 8);
	} else if (offset >= VECTOR && offset < VECTOR + VECTOR_SIZE) {
		/* The upper half of the register is often only cleared. */
		if (data->tag == Iex_Const && (offset - VECTOR) % 32 >= 16)
			return;
		reg = (offset - VECTOR) / 32;
		end = (offset - VECTOR) % 32 + size;
		if (!(p->written[1] & 1u << reg))
			p->extent[reg] = 0;
		p->written[1] |= 1u << reg;
		if (p->extent[reg] < end)
			p->extent[reg] = end;
	}
}

/* ---- called by instrument.c ---- */

void capture_before(struct pass *p, const IRStmt *st)
{
	if (st->tag == Ist_Dirty)
		capture_helper_read(p, st->Ist.Dirty.details);
}

void capture_after(struct pass *p, const IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp:
		capture_load(p, st);
		break;
	case Ist_LoadG:
		capture_loadg(p, st->Ist.LoadG.details);
		break;
	case Ist_Store:
		capture_store(p, st->Ist.Store.addr, st->Ist.Store.data, NULL);
		break;
	case Ist_StoreG:
		capture_store(p, st->Ist.StoreG.details->addr, st->Ist.StoreG.details->data,
			      st->Ist.StoreG.details->guard);
		break;
	case Ist_CAS:
		capture_compare_and_swap(p, st->Ist.CAS.details);
		break;
	case Ist_Dirty:
		capture_helper_effects(p, st->Ist.Dirty.details);
		break;
	case Ist_Put:
		if (recorder_options.values == VALUES_ALL)
			mark_register(p, st);
		break;
	default:
		break;
	}
}

void capture_results(struct pass *p)
{
	UInt reg, size;

	for (reg = 0; reg < 16; reg++) {
		if (p->written[0] & 1u << reg)
			put_state(p, VT_WHAT_RESULT, perf_number[reg], GENERAL + 8 * (Int)reg, 8);
	}
	for (reg = 0; reg < 16; reg++) {
		if (!(p->written[1] & 1u << reg))
			continue;
		size = 4;
		while (size < p->extent[reg])
			size *= 2;
		put_state(p, VT_WHAT_RESULT, PERF_VECTOR + reg, VECTOR + 32 * (Int)reg, size);
	}
	p->written[0] = p->written[1] = 0;
}

void capture_args(struct pass *p)
{
	static const UChar regs[6] = {7, 6, 2, 1, 8, 9};
	UInt i;

	for (i = 0; i < 6; i++)
		put_state(p, VT_WHAT_ARG, perf_number[regs[i]], GENERAL + 8 * regs[i], 8);
}

Bool capture_matters(const IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp:
		return st->Ist.WrTmp.data->tag == Iex_Load;
	case Ist_LoadG:
	case Ist_Store:
	case Ist_StoreG:
	case Ist_CAS:
	case Ist_LLSC:
	case Ist_Dirty:
		return True;
	case Ist_Put:
		return recorder_options.values == VALUES_ALL &&
		       ((st->Ist.Put.offset >= GENERAL &&
			 st->Ist.Put.offset < GENERAL + GENERAL_SIZE) ||
			(st->Ist.Put.offset >= VECTOR &&
			 st->Ist.Put.offset < VECTOR + VECTOR_SIZE));
	default:
		return False;
	}
}
