/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/recorder.h"

#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>

/*
 * Threads and signals.  Valgrind runs one thread at a time, and calls back between blocks.
 */
struct thread {
	Int linux_tid;
	Int parent;
	Bool fresh;	/* has not run yet */
	UInt signal;	/* the signal whose handler runs next; 0: none */
	Addr signal_ip; /* the interrupted instruction */
	Bool returned;	/* from a handler: its registers are the old ones again */
	Bool resumes;	/* it has run before the window, but not yet in it */
};

static struct thread *threads; /* by Valgrind's numbers */
static ThreadId running;       /* the thread of the last blocks in the ring */

Int threads_current(void)
{
	return threads && running ? threads[running].linux_tid : VG_(gettid)();
}

Int threads_id(ThreadId tid)
{
	return threads[tid].linux_tid;
}

static Addr get_thread_ip(ThreadId tid)
{
	return VG_(get_IP)(tid);
}

/* Records the instructions of the current block before one that a fault has interrupted. */
static void take_partial(ThreadId tid)
{
	ThreadId was = ring_pause();
	UInt id = ring_in_progress(), insns, data;

	if (id)
		window_undo();
	if (id && block_before(id, get_thread_ip(tid), &insns, &data) && insns != 0)
		ring_commit(data, insns, threads[tid].linux_tid);
	ring_resume(was);
}

static void put_signal_event(ThreadId tid, UInt number, Addr ip, Addr handler)
{
	struct vt_ring_signal *s = ring_event(VT_RING_SIGNAL, threads[tid].linux_tid, sizeof(*s));

	if (!s)
		return;
	s->ip = ip;
	s->handler = handler;
	s->number = number;
	ring_done();
}

void threads_begin_window(Addr ip)
{
	ThreadId i;

	for (i = 1; i < VG_N_THREADS; i++)
		threads[i].resumes = i != running;
	registers_put(running, threads_current(), VT_STATE_WINDOW, ip);
}

/* ---- Valgrind's callbacks ---- */

static void handle_thread_create(ThreadId tid, ThreadId child)
{
	threads[child].parent = tid ? threads[tid].linux_tid : 0;
	threads[child].fresh = True;
	threads[child].signal = 0;
	threads[child].returned = threads[child].resumes = False;
	toggle_thread_new(child);
	heap_thread_new(child);
}

static void handle_first_insn(ThreadId tid)
{
	threads[tid].linux_tid = VG_(gettid)();
	threads[tid].fresh = True;
}

static void handle_thread_exit(ThreadId tid)
{
	struct thread *t = &threads[tid];

	/* A signal may have ended it. */
	take_partial(tid);
	if (ring_event(VT_RING_THREAD_EXIT, t->linux_tid, 0))
		ring_done();
	if (running == tid)
		running = 0;
}

static void put_running_thread(ThreadId tid)
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
		heap_thread(tid);
	}
	if (t->signal)
		put_signal_event(tid, t->signal, t->signal_ip, get_thread_ip(tid));
	if (t->fresh || t->signal || t->returned || t->resumes)
		registers_put(tid, t->linux_tid,
			      t->signal	    ? VT_STATE_SIGNAL
			      : t->fresh    ? VT_STATE_START
			      : t->returned ? VT_STATE_SIGRETURN
					    : VT_STATE_WINDOW,
			      get_thread_ip(tid));
	t->fresh = t->returned = t->resumes = False;
	t->signal = 0;
}

static void start_running(ThreadId tid, ULong blocks)
{
	(void)blocks;
	if (ring_recording)
		put_running_thread(tid);
	ring_resume(tid);
}

static void stop_running(ThreadId tid, ULong blocks)
{
	(void)tid;
	(void)blocks;
	ring_pause();
}

static void handle_signal_delivery(ThreadId tid, Int number, Bool alt_stack)
{
	struct thread *t = &threads[tid];

	(void)alt_stack;
	take_partial(tid);
	/* If there are several signals, the handler of the last one runs first. */
	if (t->signal)
		put_signal_event(tid, t->signal, t->signal_ip, get_thread_ip(tid));
	t->signal = number;
	t->signal_ip = get_thread_ip(tid);
}

static void handle_signal_return(ThreadId tid, Int number)
{
	(void)number;
	threads[tid].returned = True;
}

void threads_init(void)
{
	threads = VG_(calloc)("vtrace.threads", VG_N_THREADS + 1, sizeof(struct thread));
	VG_(track_pre_thread_ll_create)(handle_thread_create);
	VG_(track_pre_thread_first_insn)(handle_first_insn);
	VG_(track_pre_thread_ll_exit)(handle_thread_exit);
	VG_(track_start_client_code)(start_running);
	VG_(track_stop_client_code)(stop_running);
	VG_(track_pre_deliver_signal)(handle_signal_delivery);
	VG_(track_post_deliver_signal)(handle_signal_return);
}

void threads_forked(ThreadId tid)
{
	threads[tid].linux_tid = VG_(gettid)();
	threads[tid].parent = 0;
	threads[tid].fresh = True;
	running = 0;
}
