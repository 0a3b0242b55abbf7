/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/instrument.h"

#include "cmd/recorder/core.h"

/*
 * --skip: puts the registers before the first instruction of the window.  The reader finds the
 * window by counting the instructions of blocks, but too late for the registers.  So instructions
 * are also counted here, by code that is discarded when the window has begun.  With --toggle the
 * window begins with the function, see toggle.c.
 */
#define BEGUN (1ull << 62)

static ULong left = BEGUN; /* instructions before the window; from BEGUN downwards afterwards */
static Bool counting;	   /* new translations count instructions */
static Bool settled;	   /* no translations count any more */

static VG_REGPARM(1) void begin_window(Addr ip)
{
	left = BEGUN;
	counting = False;
	threads_begin_window(ip);
}

void window_instrument(struct pass *p, Addr ip, UInt ninsns)
{
	IRExpr *before, *at = pass_u64((Addr)&left);
	IRDirty *call;

	if (!counting)
		return;
	before = pass_assign(p, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
	pass_add(p, IRStmt_Store(Iend_LE, at,
				 pass_assign(p, Ity_I64,
					     IRExpr_Binop(Iop_Sub64, before, pass_u64(ninsns)))));
	call = unsafeIRDirty_0_N(1, "begin_window", (void *)begin_window,
				 mkIRExprVec_1(pass_u64(ip)));
	call->guard = pass_assign(p, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, before, pass_u64(ninsns)));
	pass_add(p, IRStmt_Dirty(call));
}

void window_undo(void)
{
	/* A window that began with this instruction begins with the next one. */
	if (left == BEGUN)
		left = 0;
	else if (left < BEGUN / 2)
		left++;
}

void window_instrument_again(struct pass *p, IRExpr *guard)
{
	IRDirty *call;

	if (!counting)
		return;
	call = unsafeIRDirty_0_N(0, "window_undo", (void *)window_undo, mkIRExprVec_0());
	call->guard = guard;
	pass_add(p, IRStmt_Dirty(call));
}

void window_end_counting(void)
{
	if (counting || settled || !recorder_options.skip || recorder_options.toggle)
		return;
	settled = True;
	VG_(discard_translations)(0, ~0ull, "vtrace");
}

void window_init(void)
{
	if (!recorder_options.skip || recorder_options.toggle)
		return;
	left = recorder_options.skip;
	counting = True;
	settled = False;
}

void window_forked(void)
{
	if (!recorder_options.skip || recorder_options.toggle)
		return;
	window_init();
	VG_(discard_translations)(0, ~0ull, "vtrace");
}
