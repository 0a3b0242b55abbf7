/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORDER_RECORDER_H
#define CMD_RECORDER_RECORDER_H

/*
 * The recorder: a Valgrind tool under which `vtrace record --full` runs the program.  It runs
 * inside Valgrind, without a C library.  Valgrind's callbacks have no user pointer, so its state is
 * in static variables; all threads of the program run under Valgrind's single lock.
 *
 * Its output goes through the ring: formats/recording/ring.h.
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
	Int values;	     /* enum recorder_values; each includes those before it */
	Bool mem;	     /* addresses too, and memory that the kernel writes */
	Bool args;	     /* argument registers at calls */
	Bool heap;	     /* calls that allocate and free memory */
	const HChar *alloc;  /* names of more such functions, or NULL */
	Bool follow;	     /* forked children are recorded */
};

extern struct recorder_options recorder_options;

/* ---- the ring: ring.c ---- */

/* True while the program is recorded; false after the reader has gone or has stopped recorders. */
extern Bool ring_recording;

/* Connects to the reader in the directory and makes a ring.  False: impossible. */
Bool ring_open(void);

/* In a forked child: makes a new ring, if `recorded`.  False: the child is not recorded. */
Bool ring_reopen(Bool recorded);

/* Reports that this process cannot be recorded. */
void ring_refused(void);

/* Gives the current buffer to the reader, and begins the next one. */
void ring_flush(void);

/* Gives the last buffer to the reader, and ends the ring. */
void ring_close(void);

/* A new block id. */
UInt ring_new_id(void);

/*
 * Begins an event with a payload of `bytes`, at most RING_MAX_EVENT, and returns the zeroed
 * payload. ring_done() ends it; no other function of the ring may be called in between.  NULL if
 * nothing is recorded.
 */
#define RING_MAX_EVENT (64u << 10)
void *ring_event(UInt type, Int tid, SizeT bytes);
void ring_done(void);

/* Puts an event with a number; a LOST event with a text. */
void ring_number(UInt type, Int tid, Long number);
void ring_lost(Int tid, ULong count, const HChar *text);

/*
 * While a thread runs, the cursors are in its shadow registers, at these offsets, where
 * instrumented code has the fastest access.  Otherwise they are in the ring.  Valgrind may also
 * call the recorder while a thread runs: then ring_pause() moves the cursors to the ring, and
 * ring_resume() back.
 */
#define RING_IDS_CURSOR	 0
#define RING_DATA_CURSOR 8
void ring_resume(ThreadId tid);
ThreadId ring_pause(void);

/* The bit of a cursor that shows that its area is full. */
#define RING_IDS_FULL  (1ul << 19)
#define RING_DATA_FULL (1ul << 16)
/* The most bytes of values of a block. */
#define RING_DATA_ROOM (12u << 10)
/*
 * Blocks that only lead forward inside their page need not check the bits: before a block that
 * does, at most a page of such code is executed.  They may have so many bytes of data for each byte
 * of code.
 */
#define RING_PAGE	 4096ul
#define RING_PAGE_FACTOR 6

/* Called by instrumented code when an area is full. */
void ring_full(void);

/* The id of the block that is being executed; 0 between blocks. */
UInt ring_in_progress(void);

/*
 * Records the first instructions of the block in progress as executed, with so many bytes of its
 * data.  The cursors must be in the ring.
 */
void ring_commit(UInt data_size, UInt insns, Int tid);

/* ---- recorded blocks: blocks.c ---- */

#define BLOCK_MAX_INSNS 1000
#define BLOCK_MAX_SLOTS 1000

/* The properties of a block that identify it. */
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

/* The id of this block.  Puts a BLOCK event if it is new. */
UInt block_id(const struct block_key *key);

/*
 * Counts the instructions of block `id` before `ip`, and the bytes of their data.  False if the
 * block is unknown or `ip` is not the start of one of its instructions.
 */
Bool block_before(UInt id, Addr ip, UInt *insns, UInt *data);

/* Forgets the blocks of this range: other code may be mapped there. */
void block_forget(Addr addr, SizeT length);

/* ---- instrumentation: instrument.c, capture.c, ends.c ---- */

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		 IRType host_word);

/* The end of a block whose last instruction is at `addr`; *target, if it is direct. */
UInt block_end(Addr addr, UInt length, Addr *target);

/* True for movs, cmps, stos, lods and scas with REP, REPE or REPNE. */
Bool is_repeated_insn(Addr addr, UInt length);

/*
 * True for bt, bts, btr and btc of a register by a register.  Valgrind executes these on a copy on
 * the program's stack; the accesses to the copy are not the program's.
 */
Bool is_only_in_valgrind(Addr addr, UInt length);

/* ---- events: maps.c, threads.c, syscalls.c, registers.c, heap.c, toggle.c, window.c ---- */

void maps_init(void);
void maps_before_syscall(UInt number, const UWord *args, UInt nargs);

void threads_init(void);
Int threads_current(void);	   /* Linux's id of the running thread */
Int threads_id(ThreadId tid);	   /* of this thread */
void threads_forked(ThreadId tid); /* the only thread of a forked child */

void syscalls_init(void);

/* Puts a STATE event at the instruction `ip`, before which Valgrind's guest state is up to date. */
void registers_put(ThreadId tid, Int linux_tid, UInt reason, Addr ip);

/*
 * Begins the window at the running thread's instruction `ip`.  Other threads put their registers
 * when they run.
 */
void threads_begin_window(Addr ip);

/* window.c */
void window_init(void);
void window_undo(void);		/* an instruction was begun but not completed */
void window_end_counting(void); /* at a system call: removes counting code if it is not needed */
void window_forked(void);	/* begins the window of a forked child */

void heap_init(void);
void heap_thread_new(ThreadId tid);
void heap_thread(ThreadId tid);
void heap_put_unreturned(void); /* says how many calls have not returned, before an exec */
void heap_forked(ThreadId tid); /* that thread alone is left, in a child */
void heap_fini(void);

void toggle_init(void);
void toggle_thread_new(ThreadId tid);
void toggle_thread(ThreadId tid);
void toggle_fini(void);

#endif
