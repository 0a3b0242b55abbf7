/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_RECORDING_RING_H
#define FORMATS_RECORDING_RING_H

/*
 * The protocol between the recorder (a Valgrind tool that runs inside each recorded process) and
 * `vtrace record` (the reader).  Both are built together, on one machine: native byte order and
 * alignment.  Nothing here needs a C library.
 *
 * The reader makes a directory with
 *   control   a fifo, which the reader keeps open for reading as long as it runs: recorders write
 *             one struct vt_ring_message at a time to it.  A recorder that finds no reader ends its
 *             recording and lets its program run on.
 *   shared    struct vt_ring_shared, mapped by all.
 * and each recorder makes and maps there
 *   ring.PID.SEQ   struct vt_ring, then the areas of its buffers at the offsets in it.  SEQ counts
 *             from 0; a process that executes another program gets the next one.
 *
 * A recorder fills the ring's buffers in turn, 0, 1, ..., nbuffers - 1, 0, ...  A full one becomes
 * VT_RING_FULL (and is announced); when the reader has read it, it makes it VT_RING_FREE and wakes
 * the futex at `state`.  A buffer has three areas:
 *   ids      a u32 for each executed block, in order.  Ids count from 1 and come from `next_id` of
 *            the shared page, so they are dense over all processes.  A forked process also uses
 *            blocks that its parent defined.
 *   data     the values of the executed blocks: of each block those of its slots, packed.
 *   events   struct vt_ring_event and its payload, 8 byte aligned, each with the numbers of bytes
 *            of ids and data before it in this buffer.  Everything else is events.
 * A block's id and its values are in the same buffer.  A block's definition comes before its first
 * use, in the same ring or, after a fork, in the ring of the parent, which the reader must read
 * first up to the FORK event.
 *
 * When a process dies without an EXIT event, its last buffer is `current` if that is not FREE or
 * FULL.  `ids_next`, `data_next` and `events` of the buffer say how much of it was valid when the
 * recorder last updated them.  It may have run on: the word after the last id is always 0, so the
 * ids up to the first 0 were begun after that, and all but the last were executed; their data
 * follow each other as always.  FULL buffers have not been read, even if their message was lost;
 * `number` orders them.
 */

#include <stdint.h>

#define VT_RING_MAGIC	 0x474e495254560001u /* "VTRING" and a version */
#define VT_RING_BUFFERS	 32		     /* at most */
#define VT_RING_REGS	 24		     /* AX to R15 of linux's asm/perf_regs.h */
#define VT_RING_VECTOR	 (16 * 32)	     /* bytes: ymm0 to ymm15 */
#define VT_RING_MAX_SIZE (256u << 20)	     /* bytes of a ring file */

struct vt_ring_shared {
	uint64_t magic;
	uint32_t next_id; /* atomic; starts at 1, set by the reader */
	uint32_t stop;	  /* 1: recorders end the recording and let their programs run on */
};

enum vt_ring_state {
	VT_RING_FREE,	 /* read, or not used yet */
	VT_RING_FILLING, /* owned by the recorder */
	VT_RING_FULL,	 /* owned by the reader */
};

struct vt_ring_buffer {
	uint32_t state;	 /* enum vt_ring_state; a futex */
	int32_t tid;	 /* the thread that ran when it was begun */
	uint64_t number; /* counts the buffers that this ring has filled, from 0 */
	uint64_t time;	 /* CLOCK_MONOTONIC when it was begun, ns */
	uint64_t ids_offset, data_offset, events_offset; /* in the file */
	uint32_t ids_size, data_size, events_size;	 /* bytes of the areas */
	uint32_t ids; /* bytes used; while FILLING see ids_next and data_next */
	uint32_t data;
	uint32_t events; /* kept up to date while FILLING */
};

struct vt_ring {
	/* The end of valid ids and data in `current`, as addresses in the recorder: file offset +
	 * `mapped`. */
	uint64_t ids_next;
	uint64_t data_next;
	uint64_t unused[6]; /* keeps the cursors in their own cache line */

	uint64_t magic;	 /* written last when a ring is made */
	uint64_t mapped; /* the ring's address in the recorder */
	uint64_t size;	 /* bytes of the file */
	int32_t pid, ppid;
	uint32_t seq;
	uint32_t nbuffers;
	uint32_t current; /* the buffer that is being filled */
	uint32_t ended;	  /* 1: the last buffer has become FULL, no other follows */
	struct vt_ring_buffer buffers[VT_RING_BUFFERS];
};

enum vt_ring_message_type {
	VT_RING_HELLO = 1, /* a ring is ready to be mapped */
	VT_RING_DATA,	   /* `buffer` is full */
	VT_RING_BYE,	   /* the last buffer was announced before; the file may be removed */
};

struct vt_ring_message {
	uint32_t type;
	int32_t pid;
	int32_t ppid;
	uint32_t seq;
	uint32_t buffer;
	uint32_t unused;
};

enum vt_ring_event_type {
	VT_RING_START = 1, /* struct vt_ring_start: first in each ring, again after a fork */
	VT_RING_BLOCK,	   /* struct vt_ring_block */
	VT_RING_MAP,	   /* struct vt_ring_map */
	VT_RING_UNMAP,	   /* struct vt_ring_map without name; only address and length are set */
	VT_RING_THREAD,	   /* struct vt_ring_number: a new thread, the event's; the creator's tid */
	VT_RING_THREAD_EXIT, /* nothing */
	VT_RING_SWITCH,	     /* nothing: the event's thread runs from here on */
	VT_RING_SIGNAL,	     /* struct vt_ring_signal */
	VT_RING_SYSCALL,     /* struct vt_ring_syscall */
	VT_RING_MEMORY,	     /* struct vt_ring_memory: the kernel wrote this */
	VT_RING_STATE,	     /* struct vt_ring_registers */
	VT_RING_PARTIAL,     /* struct vt_ring_number: of the block before it, only so many
				instructions (at least 1) were executed and have values */
	VT_RING_FORK,	     /* struct vt_ring_fork */
	VT_RING_EXEC,	     /* struct vt_ring_exec: another program begins (unless it fails) */
	VT_RING_EXIT,	     /* struct vt_ring_number: the process's exit status; the last event */
	VT_RING_TOGGLE,	     /* struct vt_ring_number: 1, the thread has entered the function of
				--toggle, before the next id; 0, it has left it; only for the
				outermost call */
	VT_RING_LOST,	     /* struct vt_ring_lost: what is left out, for the user */
	VT_RING_HEAP,	     /* struct vt_ring_heap: memory was allocated or is freed */
};

struct vt_ring_event {
	uint32_t size; /* bytes with this header, a multiple of 8 */
	uint16_t type;
	uint16_t flags; /* 0 */
	uint32_t ids;	/* bytes of ids and data before it in its buffer */
	uint32_t data;
	int32_t tid; /* the thread concerned, linux's id */
	uint32_t unused;
};

struct vt_ring_start {
	int32_t ppid;
	uint32_t forked;      /* 1: a forked child of ppid, whose mappings and blocks it has */
	uint32_t name_length; /* of the program's file; the name follows, without a zero byte */
	uint32_t unused;
};

/* Slots (u64 each, see formats/vt.md), lengths (u8 each) and code (size bytes) follow. */
struct vt_ring_block {
	uint64_t addr;
	uint64_t target; /* of a direct branch, jump or call, else 0 */
	uint32_t id;
	uint32_t size; /* bytes of code */
	uint16_t ninsns;
	uint16_t nslots;
	uint32_t data_size; /* bytes of values */
	uint32_t end;	    /* enum vt_block_end */
	uint32_t unused;
};

struct vt_ring_map {
	uint64_t addr;
	uint64_t length;
	uint64_t offset;
	uint64_t dev, ino;
	uint32_t prot;	      /* PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 */
	uint32_t name_length; /* of the file's name, which follows; 0: no file */
	uint32_t flags;	      /* MAP_SHARED 1, MAP_PRIVATE 2, 0: unknown */
	uint32_t unused;
};

struct vt_ring_signal {
	uint64_t ip;	  /* the interrupted instruction */
	uint64_t handler; /* 0: it ends the process */
	uint32_t number;
	uint32_t unused;
};

struct vt_ring_syscall {
	uint64_t args[6];
	int64_t result; /* -errno on failure */
	uint32_t number;
	uint32_t unused;
};

/* `length` bytes follow. */
struct vt_ring_memory {
	uint64_t addr;
	uint32_t length;
	uint32_t unused;
};

struct vt_ring_registers {
	uint64_t regs[VT_RING_REGS]; /* fs and gs: their bases; other selectors 0 */
	uint8_t vector[VT_RING_VECTOR];
	uint32_t mxcsr;
	uint32_t reason; /* enum vt_state_reason */
};

struct vt_ring_heap {
	uint64_t addr;	 /* what was allocated; 0: nothing */
	uint64_t size;	 /* bytes asked for */
	uint64_t old;	 /* what is freed; 0: nothing */
	uint64_t caller; /* the return address of the call */
	uint32_t op;	 /* enum vt_heap_op */
	uint32_t unused;
};

struct vt_ring_fork {
	int32_t child;
	uint32_t recorded; /* 1: it makes its own ring */
};

struct vt_ring_exec {
	uint32_t recorded;    /* 1: the new program makes its own ring */
	uint32_t name_length; /* of the program's file, which follows */
};

struct vt_ring_lost {
	uint64_t count;	      /* of the things that the text names */
	uint32_t text_length; /* the text follows, without a zero byte */
	uint32_t unused;
};

struct vt_ring_number {
	int64_t number;
};

#endif
