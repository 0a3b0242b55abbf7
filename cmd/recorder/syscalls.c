/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

#include "cmd/recorder/core.h"

/* System calls, memory that the kernel writes, and new processes. */

#define PAGE 4096ul

/* The state of the thread in a system call: Valgrind has only one such thread at a time. */
static Bool forking;
static Bool child_recorded;
static Addr child_tid; /* where the kernel writes the child's tid, only in the child */

/* The length of a string of the program, whose address may be invalid, up to `max`. */
static SizeT get_safe_length(const HChar *s, SizeT max)
{
	SizeT n;

	for (n = 0; n < max; n++) {
		if ((n == 0 || ((Addr)s + n) % PAGE == 0) &&
		    !VG_(am_is_valid_for_client)((Addr)s + n, 1, VKI_PROT_READ))
			return n;
		if (s[n] == '\0')
			return n;
	}
	return n;
}

static void put_exec_event(ThreadId tid, const HChar *name)
{
	SizeT length = get_safe_length(name, VKI_PATH_MAX);
	struct vt_ring_exec *e;

	heap_put_unreturned();
	e = ring_event(VT_RING_EXEC, threads_id(tid), sizeof(*e) + length);
	if (!e)
		return;
	e->recorded = VG_(clo_trace_children);
	e->name_length = length;
	VG_(memcpy)(e + 1, name, length);
	ring_done();
	/* If the exec succeeds, this process has no other chance to flush. */
	ring_flush();
}

/* Discards instrumented code, once, when nothing is recorded any more. */
static void uninstrument(void)
{
	static Bool done;

	if (!ring_recording && !done) {
		done = True;
		VG_(discard_translations)(0, ~0ull, "vtrace");
	}
}

static void handle_syscall_start(ThreadId tid, UInt number, UWord *args, UInt nargs)
{
	forking = False;
	window_end_counting();
	child_tid = 0;
	maps_before_syscall(number, args, nargs);
	if (number == __NR_clone && nargs >= 4 && args[0] & VKI_CLONE_CHILD_SETTID)
		child_tid = args[3];
	if (number == __NR_execve)
		put_exec_event(tid, (const HChar *)args[0]);
	else if (number == __NR_execveat)
		put_exec_event(tid, (const HChar *)args[1]);
}

static void put_fork_event(ThreadId tid, Int child)
{
	struct vt_ring_fork *f = ring_event(VT_RING_FORK, threads_id(tid), sizeof(*f));

	if (!f)
		return;
	f->child = child;
	f->recorded = child_recorded;
	ring_done();
}

/* A pipe from a child to its parent, which waits until the child has sent its HELLO message. */
static Int hello[2] = {-1, -1};

static void close_hello_end(Int end)
{
	if (hello[end] >= 0)
		VG_(close)(hello[end]);
	hello[end] = -1;
}

static void handle_syscall_end(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result)
{
	struct vt_ring_syscall *s = ring_event(VT_RING_SYSCALL, threads_id(tid), sizeof(*s));

	/* They are open if fork has failed. */
	close_hello_end(0);
	close_hello_end(1);
	if (!s) {
		uninstrument();
		return;
	}
	VG_(memcpy)(s->args, args, (nargs < 6 ? nargs : 6) * sizeof(s->args[0]));
	s->result = sr_isError(result) ? -(Long)sr_Err(result) : (Long)sr_Res(result);
	s->number = number;
	ring_done();
	if (forking && !sr_isError(result) && sr_Res(result) != 0)
		put_fork_event(tid, (Int)sr_Res(result));
	forking = False;
}

/* Flushes the parent's ring, because the child may use blocks that the parent has defined. */
static void prepare_fork(ThreadId tid)
{
	(void)tid;
	if (!recorder_options.follow || !ring_recording)
		return;
	ring_flush();
	if (VG_(pipe)(hello) != 0)
		hello[0] = hello[1] = -1;
}

/*
 * In the parent: waits until the child has begun its ring, or has died.  The child begins with the
 * parent's memory as it is now, so the parent's next events must come after that.
 */
static void handle_fork_parent(ThreadId tid)
{
	HChar c;

	(void)tid;
	forking = True;
	child_recorded = recorder_options.follow;
	close_hello_end(1);
	if (hello[0] >= 0)
		child_recorded = VG_(read)(hello[0], &c, 1) == 1;
	close_hello_end(0);
}

static void record_kernel_write(CorePart part, ThreadId tid, Addr a, SizeT size)
{
	if (part != Vg_CoreSysCall && part != Vg_CoreSignal)
		return;
	while (size > 0) {
		SizeT n = size < RING_MAX_EVENT - 64 ? size : RING_MAX_EVENT - 64;
		struct vt_ring_memory *m =
			ring_event(VT_RING_MEMORY, threads_id(tid), sizeof(*m) + n);

		if (!m)
			return;
		m->addr = a;
		m->length = n;
		VG_(memcpy)(m + 1, (const void *)a, n);
		ring_done();
		a += n;
		size -= n;
	}
}

static void handle_fork_child(ThreadId tid)
{
	Bool recorded;

	threads_forked(tid);
	heap_forked(tid);
	recorded = ring_reopen(recorder_options.follow);
	window_forked();
	/* As long as the reading end is open here, a dead parent causes no SIGPIPE. */
	if (recorded && hello[1] >= 0)
		VG_(write)(hello[1], "", 1);
	close_hello_end(0);
	close_hello_end(1);
	if (child_tid && recorder_options.mem)
		record_kernel_write(Vg_CoreSysCall, tid, child_tid, sizeof(Int));
}

void syscalls_init(void)
{
	VG_(atfork)(prepare_fork, handle_fork_parent, handle_fork_child);
	if (recorder_options.mem)
		VG_(track_post_mem_write)(record_kernel_write);
	VG_(needs_syscall_wrapper)(handle_syscall_start, handle_syscall_end);
}
