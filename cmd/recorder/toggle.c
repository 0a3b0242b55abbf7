/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/instrument.h"

#include <stddef.h>

#include <pub_tool_debuginfo.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>

#include <libvex_guest_amd64.h>

/*
 * --toggle: marks where a thread enters a function, and where it leaves the outermost call of it.
 * The thread has left it when its stack pointer is above the return address, for any reason: a
 * return, an exception, longjmp.  Every block checks that.
 */
#define OUTSIDE ~0ul

/* A stack pointer that is further above belongs to another stack: of a signal or a coroutine. */
#define FRAMES (64ul << 20)

static Addr *limits; /* by thread; OUTSIDE: the function is not running */
static Addr limit;   /* that of the running thread */
static ThreadId running;
static Bool entered;

static VG_REGPARM(2) void enter_function(Addr sp, Addr ip)
{
	if (limit != OUTSIDE)
		return;
	limit = sp;
	entered = True;
	ring_number(VT_RING_TOGGLE, threads_current(), 1);
	registers_put(running, threads_current(), VT_STATE_WINDOW, ip);
}

static VG_REGPARM(1) void leave_function(Addr sp)
{
	if (sp - limit > FRAMES)
		return;
	limit = OUTSIDE;
	ring_number(VT_RING_TOGGLE, threads_current(), 0);
}

void toggle_instrument(struct pass *p, Addr start)
{
	const HChar *name;
	IRExpr *sp, *above;
	IRDirty *call;

	if (!recorder_options.toggle)
		return;
	sp = pass_assign(p, Ity_I64, IRExpr_Get(offsetof(VexGuestAMD64State, guest_RSP), Ity_I64));
	above = pass_assign(p, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, pass_u64((Addr)&limit)));
	above = pass_assign(p, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, above, sp));
	call = unsafeIRDirty_0_N(1, "leave_function", (void *)leave_function, mkIRExprVec_1(sp));
	call->guard = above;
	pass_add(p, IRStmt_Dirty(call));
	if (VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), start, &name) &&
	    VG_(strcmp)(name, recorder_options.toggle) == 0) {
		call = unsafeIRDirty_0_N(2, "enter_function", (void *)enter_function,
					 mkIRExprVec_2(sp, pass_u64(start)));
		pass_add(p, IRStmt_Dirty(call));
	}
}

void toggle_thread(ThreadId tid)
{
	if (!limits)
		return;
	if (running)
		limits[running] = limit;
	running = tid;
	limit = limits[tid];
}

void toggle_thread_new(ThreadId tid)
{
	if (limits)
		limits[tid] = OUTSIDE;
	if (running == tid)
		running = 0;
}

void toggle_init(void)
{
	UInt i;

	if (!recorder_options.toggle)
		return;
	limits = VG_(malloc)("vtrace.toggle", (VG_N_THREADS + 1) * sizeof(Addr));
	for (i = 0; i <= VG_N_THREADS; i++)
		limits[i] = OUTSIDE;
	limit = OUTSIDE;
}

void toggle_fini(void)
{
	if (recorder_options.toggle && !entered)
		ring_lost(threads_current(), 0, "the function of --toggle was not entered");
}
