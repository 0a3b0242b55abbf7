/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORDER_RECORDER_H
#define CMD_RECORDER_RECORDER_H

/*
 * The recorder: a Valgrind tool that `vtrace record --full` runs the program under.  It runs inside
 * Valgrind, without a C library.  Valgrind calls it back without any pointer of ours, so what it
 * knows is in variables of its files; all threads of the program run under Valgrind's one lock.
 *
 * What it tells goes through the ring: formats/recording/ring.h.
 */

#include <pub_tool_basics.h>

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_tooliface.h>

#include "formats/recording/ring.h"
#include "stream/kinds.h"

/* ---- options: main.c ---- */

enum recorder_values { VALUES_NONE, VALUES_LOADS, VALUES_STORES, VALUES_ALL };

struct recorder_options {
	const HChar *dir;    /* the reader's directory */
	const HChar *toggle; /* name of a function, or NULL */
	ULong skip;	     /* instructions before the window */
	Int values;	     /* enum recorder_values; each has what those before it have */
	Bool mem;	     /* addresses too, and what the kernel writes */
	Bool args;	     /* argument registers at calls */
	Bool follow;	     /* forked children are recorded */
};

extern struct recorder_options recorder_options;

/* ---- the ring: ring.c ---- */

/* True while something is recorded; false after the reader has gone or has had enough. */
extern Bool ring_recording;

/* Connects with the reader in the directory and makes a ring; false when that is impossible. */
Bool ring_open(void);

/* In a forked child: a ring of its own, or none.  False: there is none. */
Bool ring_reopen(Bool recorded);

/* Says that this process cannot be recorded. */
void ring_refused(void);

/* Hands over what there is; the ring goes on with the next buffer. */
void ring_flush(void);

/* Hands over what there is and says goodbye. */
void ring_close(void);

/* A number for a new block. */
UInt ring_new_id(void);

/*
 * Room for an event with `bytes` of content, which is returned, zeroed.  It counts when ring_done()
 * is called, before anything else of the ring is.  `bytes` may be at most RING_MAX_EVENT.  NULL
 * when nothing is recorded.
 */
#define RING_MAX_EVENT (64u << 10)
void *ring_event(UInt type, Int tid, SizeT bytes);
void ring_done(void);

/* An event that is just one number; one with a text. */
void ring_number(UInt type, Int tid, Long number);
void ring_lost(Int tid, ULong count, const HChar *text);

/*
 * While a thread runs, the cursors are in its shadow registers, where instrumented code gets at
 * them quickest: there, at these offsets.  In between they are in the ring.  Valgrind also calls us
 * while a thread runs: a function that is about the cursors pauses, and resumes what it paused.
 */
#define RING_IDS_CURSOR	 0
#define RING_DATA_CURSOR 8
void ring_resume(ThreadId tid);
ThreadId ring_pause(void);

/* Bits of a cursor that say that its area is full. */
#define RING_IDS_FULL  (1ul << 19)
#define RING_DATA_FULL (1ul << 16)
/* So many bytes of values may a block have. */
#define RING_DATA_ROOM (12u << 10)
/*
 * Blocks that only lead forward, and not out of their page, need not look at the bits: on the way
 * to a block that does there are at most a page's bytes of them.  They may have this much data for
 * each byte of their code.
 */
#define RING_PAGE	 4096ul
#define RING_PAGE_FACTOR 6

/* Called by instrumented code when an area is full. */
void ring_full(void);

/* The block that is being executed: its id, 0 between blocks. */
UInt ring_in_progress(void);

/*
 * Takes the first instructions of the block in progress as executed, with this much of its data.
 * The cursors are in the ring.
 */
void ring_commit(UInt data_size, UInt insns, Int tid);

/* ---- blocks that have been told: blocks.c ---- */

#define BLOCK_MAX_INSNS 1000
#define BLOCK_MAX_SLOTS 1000

/* A block about to be told.  An instruction's values start at its slots' offset. */
struct block_key {
	Addr addr;
	const UChar *code; /* `size` bytes */
	UInt size;
	UInt ninsns;
	UInt nslots;
	UInt data_size;
	UInt end; /* enum vt_block_end */
	Addr target;
	const UChar *lengths;
	const ULong *slots;
};

/* The id of this block; tells the reader about it when it is new. */
UInt block_id(const struct block_key *key);

/*
 * How many instructions of block `id` lie before `ip`, and how many bytes of data they have; false
 * when the block is not known or `ip` is not the start of one of its instructions.
 */
Bool block_before(UInt id, Addr ip, UInt *insns, UInt *data);

/* Forgets the blocks of this range: other code, of another file, may come there. */
void block_forget(Addr addr, SizeT length);

/* ---- instrumentation: instrument.c, capture.c, ends.c ---- */

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		 IRType host_word);

/* What ends a block whose last instruction is these bytes at `addr`; `target` when it is direct. */
UInt block_end(Addr addr, UInt length, Addr *target);

/* True for movs, cmps, stos, lods and scas behind REP, REPE or REPNE. */
Bool repeats(Addr addr, UInt length);

/*
 * True for bt, bts, btr and btc of a register by a register, which Valgrind does to a copy on the
 * program's stack: the accesses to that are not the program's.
 */
Bool only_in_valgrind(Addr addr, UInt length);

/* ---- events: maps.c, threads.c, syscalls.c, registers.c, toggle.c, window.c ---- */

void maps_init(void);
void maps_before_syscall(UInt number, const UWord *args, UInt nargs);

void threads_init(void);
Int threads_current(void);	   /* linux's id of the running thread */
Int threads_id(ThreadId tid);	   /* of this one */
void threads_forked(ThreadId tid); /* the only one that a forked child has */

void syscalls_init(void);

/* At the instruction `ip`, in front of which the program's registers are where Valgrind keeps them.
 */
void registers_tell(ThreadId tid, Int linux_tid, UInt reason, Addr ip);

/* The window begins at the running thread's instruction `ip`; the others tell when they run. */
void threads_window(Addr ip);

/* window.c: an instruction that was begun did not end; a system call is made; a forked child,
 * in which a window of its own is to begin. */
void window_init(void);
void window_undo(void);
void window_settle(void);
void window_forked(void);

void toggle_init(void);
void toggle_thread_new(ThreadId tid);
void toggle_thread(ThreadId tid);
void toggle_fini(void);

#endif
