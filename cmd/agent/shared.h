/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_SHARED_H
#define CMD_AGENT_SHARED_H

#include <stdint.h>

#include "formats/common/value_sample.h"

/*
 * The memory that the agent in each recorded process shares with `vtrace record --sample-values`:
 * one file, made by the recorder, that all processes map.  Both are built together: native byte
 * order.  The recorder trusts nothing in it, since a recorded program could write to it.
 *
 *	struct agent_shared     page 0
 *	struct agent_ring       one page each, nrings of them
 *	the rings' data         ring_size bytes each
 *	struct agent_frames     AGENT_BLOCKS of them
 *
 * A ring belongs to whoever has set `owner`, for the time of one sample.  A thread takes that of
 *its processor, or the next free one: so there are as many rings as processors need, however many
 * threads and processes there are, and what a process that is killed has written stays.
 */

#define AGENT_MAGIC    0x3147415456u
#define AGENT_PAGE     4096
#define AGENT_RINGS    256	      /* at most */
#define AGENT_VARIABLE "VTRACE_AGENT" /* names the file */

/* Why samples, or processes, are missing. */
enum agent_loss {
	AGENT_LATE,	 /* the signal was blocked: the registers are of a later moment */
	AGENT_RING_FULL, /* the recorder did not read in time */
	AGENT_NO_RING,	 /* all rings were taken */
	AGENT_FOREIGN,	 /* the program has replaced the handler by a direct system call */
	AGENT_NOT_ARMED, /* a process could not open its event */
	AGENT_CLOSED,	 /* a process has lost its event's file descriptor */
	AGENT_SANDBOX,	 /* a process has forbidden itself system calls */
	AGENT_TRACED,	 /* a process has a debugger, which would get its signals */
	AGENT_NLOSSES
};

struct agent_shared {
	uint64_t magic;
	uint32_t nrings;
	uint32_t ring_size;  /* a power of two */
	uint32_t insns;	     /* to walk from a sample on */
	uint32_t one_in;     /* so many samples is walked, chosen at random; at least 1 */
	uint32_t steps;	     /* 1: step through them, too (enum agent_type) */
	uint32_t event_type; /* of perf_event_attr */
	uint32_t not_armed;  /* the last errno of AGENT_NOT_ARMED */
	uint32_t stop;	     /* 1: no more samples */
	uint64_t event_config;
	uint64_t period; /* the mean */
	uint64_t losses[AGENT_NLOSSES];
	uint32_t filters;  /* of system calls: 1 more than the first program has */
	uint32_t latency;  /* 1: loads are timed */
	uint32_t distance; /* instructions from a walk's end to where they are, at least */
	uint32_t tracer;   /* the first program's: 1 more than its process, or than 0 */
};

struct agent_ring {
	uint32_t owner; /* 0: free; else the process that writes to it */
	uint32_t pad;
	uint64_t head;	   /* bytes written since the start: the writer's */
	uint64_t ticks;	   /* of the time-stamp counter, in handlers that wrote samples */
	uint64_t insns;	   /* that they walked */
	uint64_t far;	   /* samples whose walk came to where loads are timed */
	uint8_t apart[24]; /* the other side's cache line */
	uint64_t tail;	   /* bytes read: the recorder's */
};

enum agent_type {
	AGENT_PAD = 1, /* the rest of the ring, which was too small for a record */
	AGENT_ATTACH,  /* a process has opened its event */
	AGENT_TIME,    /* a sample of time alone */
	AGENT_SAMPLE,  /* this and the next are struct agent_sample */
	AGENT_STEP,    /* a sample of one instruction, one of those after an AGENT_SAMPLE */
	AGENT_LOAD,    /* struct agent_load */
};

/*
 * Where return addresses lie in a block of code, as the call frame information tells: the recorder
 * writes it when there was a sample in the block, the handler takes it for the next one.  The key
 * is of the program and the block's address: processes that fork() has made share what was learnt.
 *
 * A row is 0, the end, or the block's byte from which on it holds, AGENT_ROW, and a register with a
 * distance: see agent_row_make().  A false row costs a line in a sample, nothing else.
 */
#define AGENT_CODE    128 /* bytes of a block */
#define AGENT_ROWS    14
#define AGENT_BLOCKS  32768 /* a power of two */
#define AGENT_ROW     128
#define AGENT_ROW_FAR (4 << 20)

struct agent_frames {
	uint64_t key; /* 0: none, or it is being written */
	uint32_t row[AGENT_ROWS];
};

/* Registers by the numbers of their encoding: no other ones have rows. */
#define AGENT_ROW_NONE 0 /* nothing is known from here on */
#define AGENT_ROW_SP   4
#define AGENT_ROW_BP   5

/* Distances are multiples of 8, and less than AGENT_ROW_FAR. */
static inline uint32_t agent_row_make(uint32_t start, uint32_t reg, int32_t offset)
{
	return start | AGENT_ROW | reg << 8 | ((uint32_t)offset / 8 & 0xfffff) << 12;
}

static inline uint32_t agent_row_start(uint32_t row)
{
	return row % AGENT_ROW;
}

static inline uint32_t agent_row_reg(uint32_t row)
{
	return row >> 8 & 15;
}

static inline int32_t agent_row_offset(uint32_t row)
{
	return ((int32_t)row >> 12) * 8;
}

/* Of the block of an instruction; never 0.  The multipliers are those of SplitMix64. */
static inline uint64_t agent_block_key(uint32_t program, uint64_t ip)
{
	uint64_t x = ip / AGENT_CODE ^ (uint64_t)program << 32;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x | 1;
}

/* A block is at this place in the table, or at the next. */
static inline uint32_t agent_block_place(uint64_t key)
{
	return key >> 40 & (AGENT_BLOCKS - 2);
}

#define AGENT_REGS 18 /* ax to flags and r8 to r15 of asm/perf_regs.h */

/* A record; its size is a multiple of 8. */
struct agent_record {
	uint32_t size; /* with all that follows */
	uint32_t type;
	uint64_t time; /* CLOCK_MONOTONIC */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t program; /* a number of the program that the process executes */
	uint64_t ip;
	uint64_t step; /* of AGENT_STEP: how many instructions it is behind its sample, from 1 */
};

/* The bytes of struct vt_value_sample are its end. */
struct agent_sample {
	struct agent_record head;
	uint64_t regs[AGENT_REGS];
	uint64_t xmm[32];
	uint64_t next[2]; /* code that may be sampled next: where the walk ended, its caller */
	struct vt_value_sample values;
};

/* A load that was timed: `head.ip` is that of its instruction. */
struct agent_load {
	struct agent_record head;
	uint64_t addr;
	uint64_t ticks; /* of the time-stamp counter */
};

#endif
