/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <stddef.h>

#include <pub_tool_machine.h>

#include <libvex_guest_amd64.h>

/* Fields of MXCSR: all exceptions masked, and where the rounding mode is. */
#define MXCSR_MASKED 0x1f80u
#define MXCSR_ROUND  13

void registers_put(ThreadId tid, Int linux_tid, UInt reason, Addr ip)
{
	/* AX BX CX DX SI DI BP SP of asm/perf_regs.h, in Valgrind's order. */
	static const UChar order[8] = {0, 3, 1, 2, 6, 7, 5, 4};
	static VexGuestAMD64State g;
	struct vt_ring_registers *r = ring_event(VT_RING_STATE, linux_tid, sizeof(*r));
	const ULong *general = &g.guest_RAX;
	UInt i;

	if (!r)
		return;
	VG_(get_shadow_regs_area)(tid, (UChar *)&g, 0, 0, sizeof(g));
	for (i = 0; i < 8; i++)
		r->regs[i] = general[order[i]];
	r->regs[8] = ip;
	r->regs[9] = LibVEX_GuestAMD64_get_rflags(&g);
	r->regs[14] = g.guest_FS_CONST;
	r->regs[15] = g.guest_GS_CONST;
	for (i = 8; i < 16; i++)
		r->regs[8 + i] = general[i];
	VG_(memcpy)(r->vector, &g.guest_YMM0, sizeof(r->vector));
	r->mxcsr = MXCSR_MASKED | (UInt)g.guest_SSEROUND << MXCSR_ROUND;
	r->reason = reason;
	ring_done();
}
