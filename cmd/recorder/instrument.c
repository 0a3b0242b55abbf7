/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/instrument.h"

#include <stddef.h>

#include <libvex_guest_amd64.h>

#define RCX_AT ((Int)offsetof(VexGuestAMD64State, guest_RCX))

void pass_add(struct pass *p, IRStmt *st)
{
	addStmtToIRSB(p->out, st);
}

IRExpr *pass_assign(struct pass *p, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(p->out->tyenv, type);

	pass_add(p, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

IRExpr *pass_u64(ULong x)
{
	return IRExpr_Const(IRConst_U64(x));
}

static IRExpr *add_cursor_offset(struct pass *p, IRExpr *e, UInt n)
{
	return n ? pass_assign(p, Ity_I64, IRExpr_Binop(Iop_Add64, e, pass_u64(n))) : e;
}

static void set_cursor(struct pass *p, Int cursor, IRExpr *e)
{
	pass_add(p, IRStmt_Put(p->shadow + cursor, e));
}

static UInt make_id(struct pass *p, UInt ninsns, UInt size, UInt nslots, UInt data_size, UInt end,
		    Addr target)
{
	struct block_key key = {.addr = p->addr,
				.code = (const UChar *)p->addr,
				.size = size,
				.ninsns = ninsns,
				.nslots = nslots,
				.data_size = data_size,
				.end = end,
				.target = target,
				.lengths = p->lengths,
				.slots = p->slots};

	return block_id(&key);
}

/*
 * Adds a check if an area is full.  It checks both areas, because blocks with and without values
 * may have been executed since the last check.
 */
static void check_areas(struct pass *p, IRExpr *data, IRExpr *ids, IRExpr *guard)
{
	IRDirty *call;
	IRExpr *full;

	data = pass_assign(p, Ity_I64, IRExpr_Binop(Iop_And64, data, pass_u64(RING_DATA_FULL)));
	ids = pass_assign(p, Ity_I64, IRExpr_Binop(Iop_And64, ids, pass_u64(RING_IDS_FULL)));
	full = pass_assign(p, Ity_I64, IRExpr_Binop(Iop_Or64, data, ids));
	if (guard)
		full = pass_assign(p, Ity_I64, IRExpr_ITE(guard, full, pass_u64(0)));
	full = pass_assign(p, Ity_I1, IRExpr_Unop(Iop_CmpNEZ64, full));
	call = unsafeIRDirty_0_N(0, "ring_full", (void *)ring_full, mkIRExprVec_0());
	call->guard = full;
	pass_add(p, IRStmt_Dirty(call));
}

static void open_block(struct pass *p, Addr addr)
{
	IRExpr *id = IRExpr_Const(IRConst_U64(0));
	IRExpr *e;

	e = pass_assign(p, Ity_I64, IRExpr_Get(p->shadow + RING_DATA_CURSOR, Ity_I64));
	p->data = e->Iex.RdTmp.tmp;
	e = pass_assign(p, Ity_I64, IRExpr_Get(p->shadow + RING_IDS_CURSOR, Ity_I64));
	p->ids = e->Iex.RdTmp.tmp;
	/* All 8 bytes: the next id has to be 0 until the next block begins. */
	pass_add(p, IRStmt_Store(Iend_LE, e, id));
	p->id = id->Iex.Const.con;
	p->open = True;
	p->addr = addr;
	p->size = p->ninsns = p->nslots = p->data_size = 0;
}

/* True if `to` is after the open block, in its page. */
static Bool is_forward(const struct pass *p, Addr to)
{
	return to > p->last && to / RING_PAGE == p->addr / RING_PAGE;
}

/* True if statement `i`, a side exit or the end, only leads forward. */
static Bool leads_forward(const struct pass *p, const IRSB *in, Int i)
{
	if (p->data_size > p->size * RING_PAGE_FACTOR)
		return False;
	if (i < in->stmts_used) {
		const IRStmt *st = in->stmts[i];

		if (st->Ist.Exit.jk != Ijk_Boring || !is_forward(p, st->Ist.Exit.dst->Ico.U64))
			return False;
		for (i++; i < in->stmts_used; i++) {
			if (in->stmts[i]->tag == Ist_IMark)
				return is_forward(p, in->stmts[i]->Ist.IMark.addr);
		}
	}
	return in->jumpkind == Ijk_Boring && in->next->tag == Iex_Const &&
	       is_forward(p, in->next->Iex.Const.con->Ico.U64);
}

static Addr get_constant_end(const IRSB *in)
{
	return in->next->tag == Iex_Const ? in->next->Iex.Const.con->Ico.U64 : 0;
}

/* True if statement `i` (a side exit, an instruction, the end) only leads to `next`. */
static Bool leads_only_to(const IRSB *in, Int i, Addr next)
{
	for (; i < in->stmts_used; i++) {
		const IRStmt *st = in->stmts[i];

		if (st->tag == Ist_IMark)
			return st->Ist.IMark.addr == next;
		if (st->tag == Ist_Exit && st->Ist.Exit.dst->Ico.U64 != next)
			return False;
	}
	return get_constant_end(in) == 0 || get_constant_end(in) == next;
}

/*
 * Ends the block before statement `i`: a side exit, the start of an instruction that does not
 * belong to it, or the end.
 */
static void close_block(struct pass *p, const IRSB *in, Int i)
{
	Bool final = i == in->stmts_used;
	Bool begins = !final && in->stmts[i]->tag == Ist_IMark;
	IRExpr *ids, *data = IRExpr_RdTmp(p->data);
	Addr target;
	UInt end;

	if (!p->open)
		return;
	p->open = False;
	capture_results(p);
	end = block_end(p->last, p->last_length, &target);
	if (final && in->jumpkind == Ijk_Call && recorder_options.args)
		capture_args(p);
	if (end == VT_END_FALL && !leads_only_to(in, i, p->addr + p->size))
		end = VT_END_OTHER;
	p->id->Ico.U64 = make_id(p, p->ninsns, p->size, p->nslots, p->data_size, end, target);
	if (p->data_size) {
		data = add_cursor_offset(p, data, p->data_size);
		set_cursor(p, RING_DATA_CURSOR, data);
	}
	ids = add_cursor_offset(p, IRExpr_RdTmp(p->ids), 4);
	set_cursor(p, RING_IDS_CURSOR, ids);
	if (begins || !leads_forward(p, in, i))
		check_areas(p, data, ids, NULL);
}

/*
 * Instruments a side exit in the middle of an instruction: of a repeated string instruction that is
 * done, or a locked one that lost a race and starts again.  If it is taken, another block has been
 * executed: up to the exit, or without the instruction that starts again.
 */
static void leave_early(struct pass *p, const IRStmt *st)
{
	Bool again = st->Ist.Exit.dst->Ico.U64 == p->last;
	UInt ninsns = again ? p->ninsns - 1 : p->ninsns;
	UInt size = again ? p->size - p->last_length : p->size;
	UInt nslots = again ? p->insn_slots : p->nslots;
	UInt data_size = again ? p->insn_data : p->data_size;
	IRExpr *guard = st->Ist.Exit.guard;
	IRExpr *ids = IRExpr_RdTmp(p->ids), *data = IRExpr_RdTmp(p->data);
	IRExpr *id, *other;

	if (ninsns == 0)
		return;
	id = pass_u64(make_id(p, ninsns, size, nslots, data_size, VT_END_FALL, 0));
	other = IRExpr_Const(p->id);
	id = pass_assign(p, Ity_I64, IRExpr_ITE(guard, id, other));
	pass_add(p, IRStmt_Store(Iend_LE, ids, id));
	if (data_size) {
		data = pass_assign(p, Ity_I64,
				   IRExpr_ITE(guard, add_cursor_offset(p, data, data_size), data));
		set_cursor(p, RING_DATA_CURSOR, data);
	}
	ids = pass_assign(p, Ity_I64, IRExpr_ITE(guard, add_cursor_offset(p, ids, 4), ids));
	set_cursor(p, RING_IDS_CURSOR, ids);
	if (again)
		window_instrument_again(p, guard);
	check_areas(p, data, ids, guard);
}

/* True if the instruction of statement `i` has statements to capture after it. */
static Bool has_more_effects(const IRSB *in, Int i)
{
	for (i++; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++) {
		if (capture_matters(in->stmts[i]))
			return True;
	}
	return False;
}

static void add_insn(struct pass *p, UInt length)
{
	p->lengths[p->ninsns++] = length;
	p->last = p->addr + p->size;
	p->last_length = length;
	p->no_memory = is_only_in_valgrind(p->last, length);
	p->repeated = is_repeated_insn(p->last, length);
	p->size += length;
	p->insn_data = p->data_size;
	p->insn_slots = p->nslots;
}

/* ---- repeated string instructions ---- */

/*
 * Adds an exit after the last repetition, as in a processor.  Valgrind would execute the
 * instruction once more to find that rcx is 0, which would be counted.
 */
static void add_repeat_exit(struct pass *p, const IRSB *in)
{
	IRExpr *left = pass_assign(p, Ity_I64, IRExpr_Get(RCX_AT, Ity_I64));
	IRExpr *done = pass_assign(p, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, left, pass_u64(0)));

	pass_add(p,
		 IRStmt_Exit(done, Ijk_Boring, IRConst_U64(p->last + p->last_length), in->offsIP));
}

/* Adds the exit of a comparing string instruction back to itself, only if rcx is not 0. */
static void add_guarded_repeat(struct pass *p, const IRStmt *st)
{
	IRExpr *left = pass_assign(p, Ity_I64, IRExpr_Get(RCX_AT, Ity_I64));
	IRExpr *more = pass_assign(p, Ity_I1, IRExpr_Binop(Iop_CmpNE64, left, pass_u64(0)));
	/* Valgrind has no machine code to choose between conditions. */
	IRExpr *again = pass_assign(p, Ity_I64, IRExpr_Unop(Iop_1Uto64, st->Ist.Exit.guard));

	more = pass_assign(p, Ity_I64, IRExpr_Unop(Iop_1Uto64, more));
	again = pass_assign(p, Ity_I64, IRExpr_Binop(Iop_And64, again, more));
	again = pass_assign(p, Ity_I1, IRExpr_Unop(Iop_CmpNEZ64, again));
	pass_add(p, IRStmt_Exit(again, st->Ist.Exit.jk, st->Ist.Exit.dst, st->Ist.Exit.offsIP));
}

static void begin_recorded_insn(struct pass *p, const IRSB *in, Int i)
{
	Addr addr = in->stmts[i]->Ist.IMark.addr;
	UInt length = in->stmts[i]->Ist.IMark.len, first;

	if (p->open)
		capture_results(p);
	if (p->open && (addr != p->addr + p->size || p->ninsns + 8 > BLOCK_MAX_INSNS ||
			p->nslots + 100 > BLOCK_MAX_SLOTS || p->data_size + 2048 > RING_DATA_ROOM ||
			length == 0))
		close_block(p, in, i);
	/* Valgrind unrolls short loops. */
	if (p->repeated && addr == p->last)
		add_repeat_exit(p, in);
	p->repeated = False;
	/* Bytes that are no instruction are never executed. */
	if (length == 0)
		return;
	if (!p->open)
		open_block(p, addr);
	VG_(memset)(p->written, 0, sizeof(p->written));
	p->loaded = False;
	/* Valgrind treats the five instructions of a client request as one. */
	first = p->ninsns;
	for (; length > 15; length -= 4)
		add_insn(p, 4);
	add_insn(p, length);
	window_instrument(p, addr, p->ninsns - first);
}

static void add_side_exit(struct pass *p, const IRSB *in, Int i)
{
	if (p->open && has_more_effects(in, i)) {
		capture_results(p);
		leave_early(p, in->stmts[i]);
	} else {
		close_block(p, in, i);
	}
	if (p->repeated && in->stmts[i]->Ist.Exit.dst->Ico.U64 == p->last)
		add_guarded_repeat(p, in->stmts[i]);
	else
		pass_add(p, in->stmts[i]);
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		 IRType host_word)
{
	static struct pass pass;
	struct pass *p = &pass;
	Int i;

	(void)extents;
	(void)host;
	(void)guest_word;
	(void)host_word;
	if (!ring_recording)
		return in;
	p->out = deepCopyIRSBExceptStmts(in);
	p->shadow = layout->total_sizeB;
	p->open = p->repeated = False;
	/* The first statements check that the code has not changed since the translation. */
	for (i = 0; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		pass_add(p, in->stmts[i]);
	toggle_instrument(p, closure->readdr);
	heap_instrument(p, closure->readdr);
	for (; i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];

		switch (st->tag) {
		case Ist_IMark:
			begin_recorded_insn(p, in, i);
			pass_add(p, st);
			break;
		case Ist_Exit:
			add_side_exit(p, in, i);
			break;
		default:
			if (p->open)
				capture_before(p, st);
			pass_add(p, st);
			if (p->open)
				capture_after(p, st);
			break;
		}
	}
	close_block(p, in, i);
	if (p->repeated && in->jumpkind == Ijk_Boring && get_constant_end(in) == p->last)
		add_repeat_exit(p, in);
	return p->out;
}
