/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>

/*
 * Threads, signals, system calls and processes.  Valgrind runs one thread at a time, from one block
 * to another, and calls back in between.
 */
struct thread {
	Int linux_tid;
	Int parent;
	Bool fresh;	/* has not run yet */
	UInt signal;	/* its handler runs next */
	Addr signal_ip; /* where it hit */
	Bool returned;	/* from a handler, so its registers are the old ones again */
	Bool resumes;	/* it has run before the window, and not yet in it */
};

static struct thread *threads; /* by Valgrind's numbers */
static ThreadId running;       /* whose blocks the ring has at its end */

Int threads_current(void)
{
	return threads && running ? threads[running].linux_tid : VG_(gettid)();
}

Int threads_id(ThreadId tid)
{
	return threads[tid].linux_tid;
}

static Addr ip_of(ThreadId tid)
{
	return VG_(get_IP)(tid);
}

/* An instruction that did not end, because of a fault: takes those of its block before it. */
static void take_partial(ThreadId tid)
{
	ThreadId was = ring_pause();
	UInt id = ring_in_progress(), insns, data;

	if (id)
		window_undo();
	if (id && block_before(id, ip_of(tid), &insns, &data) && insns != 0)
		ring_commit(data, insns, threads[tid].linux_tid);
	ring_resume(was);
}

static void tell_signal(ThreadId tid, UInt number, Addr ip, Addr handler)
{
	struct vt_ring_signal *s = ring_event(VT_RING_SIGNAL, threads[tid].linux_tid, sizeof(*s));

	if (!s)
		return;
	s->ip = ip;
	s->handler = handler;
	s->number = number;
	ring_done();
}

void threads_window(Addr ip)
{
	ThreadId i;

	for (i = 1; i < VG_N_THREADS; i++)
		threads[i].resumes = i != running;
	registers_tell(running, threads_current(), VT_STATE_WINDOW, ip);
}

/* ---- Valgrind's callbacks ---- */

static void created(ThreadId tid, ThreadId child)
{
	threads[child].parent = tid ? threads[tid].linux_tid : 0;
	threads[child].fresh = True;
	threads[child].signal = 0;
	threads[child].returned = threads[child].resumes = False;
	toggle_thread_new(child);
}

static void first_insn(ThreadId tid)
{
	threads[tid].linux_tid = VG_(gettid)();
	threads[tid].fresh = True;
}

static void exited(ThreadId tid)
{
	struct thread *t = &threads[tid];

	/* It may be a signal that ends it. */
	take_partial(tid);
	if (ring_event(VT_RING_THREAD_EXIT, t->linux_tid, 0))
		ring_done();
	if (running == tid)
		running = 0;
}

static void tell_running(ThreadId tid)
{
	struct thread *t = &threads[tid];

	if (t->fresh) {
		if (t->linux_tid == 0)
			t->linux_tid = VG_(gettid)();
		ring_number(VT_RING_THREAD, t->linux_tid, t->parent);
	}
	if (running != tid) {
		running = tid;
		if (ring_event(VT_RING_SWITCH, t->linux_tid, 0))
			ring_done();
		toggle_thread(tid);
	}
	if (t->signal)
		tell_signal(tid, t->signal, t->signal_ip, ip_of(tid));
	if (t->fresh || t->signal || t->returned || t->resumes)
		registers_tell(tid, t->linux_tid,
			       t->signal     ? VT_STATE_SIGNAL
			       : t->fresh    ? VT_STATE_START
			       : t->returned ? VT_STATE_SIGRETURN
					     : VT_STATE_WINDOW,
			       ip_of(tid));
	t->fresh = t->returned = t->resumes = False;
	t->signal = 0;
}

static void start_running(ThreadId tid, ULong blocks)
{
	(void)blocks;
	if (ring_recording)
		tell_running(tid);
	ring_resume(tid);
}

static void stop_running(ThreadId tid, ULong blocks)
{
	(void)tid;
	(void)blocks;
	ring_pause();
}

static void deliver(ThreadId tid, Int number, Bool alt_stack)
{
	struct thread *t = &threads[tid];

	(void)alt_stack;
	take_partial(tid);
	/* Several signals at once: the handler of the last one runs first. */
	if (t->signal)
		tell_signal(tid, t->signal, t->signal_ip, ip_of(tid));
	t->signal = number;
	t->signal_ip = ip_of(tid);
}

static void handled(ThreadId tid, Int number)
{
	(void)number;
	threads[tid].returned = True;
}

void threads_init(void)
{
	threads = VG_(calloc)("vtrace.threads", VG_N_THREADS + 1, sizeof(struct thread));
	VG_(track_pre_thread_ll_create)(created);
	VG_(track_pre_thread_first_insn)(first_insn);
	VG_(track_pre_thread_ll_exit)(exited);
	VG_(track_start_client_code)(start_running);
	VG_(track_stop_client_code)(stop_running);
	VG_(track_pre_deliver_signal)(deliver);
	VG_(track_post_deliver_signal)(handled);
}

void threads_forked(ThreadId tid)
{
	threads[tid].linux_tid = VG_(gettid)();
	threads[tid].parent = 0;
	threads[tid].fresh = True;
	running = 0;
}
