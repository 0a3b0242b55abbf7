/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_WALK_H
#define CMD_AGENT_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/walker/decode.h"

/*
 * The walker: follows the next instructions of a thread on copies of its registers, to find the
 * memory that they read.  The lines that it reads (code, data, stack) are kept: they are what a
 * sample of values carries.  It writes nothing but *w, calls nothing of the C library, allocates
 * nothing, and may run in a signal handler.
 *
 * It only decides which lines are kept, and is no source of values: `vinterp` computes them later
 * from the registers and the lines.  What the walker does not know makes its results unknown; an
 * unknown branch ends the walk.
 */

#define WALK_LINE      64  /* bytes, aligned */
#define WALK_LINES_MAX 192 /* of one walk */
#define WALK_STORES    256 /* of one walk; then memory is unknown */

/* Why a walk ended; the numbers are in streams (enum vt_walk_stop). */
enum walk_stop {
	WALK_LENGTH = 1, /* all instructions were walked */
	WALK_BRANCH,	 /* the condition of a branch is unknown */
	WALK_TARGET,	 /* the target of an indirect jump, call or return is unknown */
	WALK_SYSCALL,	 /* before a system call */
	WALK_INSN, /* an instruction that cannot be passed: unknown bytes, int, hlt, far jumps */
	WALK_CODE, /* the code cannot be read */
	WALK_TRAP, /* an instruction that will trap: a division by zero, an address fault */
	WALK_FULL, /* there is no room for another line */
};

/* Copies the line at `addr`, a multiple of WALK_LINE; false: it cannot be read. */
typedef bool walk_read_fn(void *arg, uint64_t addr, uint8_t bytes[WALK_LINE]);

/* Told of a load, before its line is read. */
typedef void walk_load_fn(void *arg, uint64_t ip, uint64_t addr);

/*
 * A thread's registers as the kernel leaves them in a signal frame.  General registers have the
 * numbers of their encoding: ax, cx, dx, bx, sp, bp, si, di, r8 to r15.  Vector state is borrowed
 * until the walk ends; NULL: it is all zero, except for `xmm`, where NULL makes it unknown.
 */
struct walk_start {
	uint64_t gpr[16];
	uint64_t ip;
	uint64_t flags;
	uint64_t fs_base;
	uint64_t gs_base;
	uint32_t mxcsr;		 /* 0: unknown, and then so is what is computed with it */
	const uint8_t *xmm;	 /* 16 bytes each of xmm0 to xmm15 */
	const uint8_t *ymm_high; /* 16 bytes each: bits 128 to 255 of ymm0 to ymm15 */
	const uint8_t *zmm_high; /* 32 bytes each: bits 256 to 511 of zmm0 to zmm15 */
	const uint8_t *hi_zmm;	 /* 64 bytes each of zmm16 to zmm31 */
	const uint8_t *kmask;	 /* 8 bytes each of k0 to k7 */
};

struct walk_store {
	uint64_t addr;
	uint64_t size; /* at most 64 where it is known */
	bool known;
	uint8_t bytes[64];
};

#define WALK_BAD 8 /* lines of a walk that cannot be read and are not tried again */

/* Memory operands of an instruction that is walked. */
enum walk_address {
	WALK_ADDRESS_NONE,
	WALK_ADDRESS_KNOWN,
	WALK_ADDRESS_UNKNOWN,
};

struct walk {
	/* The result. */
	uint32_t walked; /* instructions */
	enum walk_stop stop;
	bool wide; /* the walk used more than the low 128 bits of a vector register */
	uint32_t nlines;
	uint64_t line_addr[WALK_LINES_MAX];
	uint64_t line_read[WALK_LINES_MAX]; /* bit n: byte n was read; of code all */
	uint8_t line[WALK_LINES_MAX][WALK_LINE];
	/* The state: the walker's own. */
	walk_read_fn *read;
	void *read_arg;
	walk_load_fn *load; /* or NULL */
	void *load_arg;
	bool drops_lines; /* that it has, where there is no room for another */
	const struct walk_start *start;
	uint64_t gpr[16];
	uint64_t ip; /* of the next instruction */
	uint64_t flags;
	uint64_t fs_base;
	uint64_t gs_base;
	uint64_t ea; /* of the memory operand */
	enum walk_address ea_state;
	uint32_t flags_known;  /* bits of the flags register */
	uint8_t gpr_known[16]; /* bit n: byte n */
	uint32_t
		vec_loaded; /* bit n: vec[n] and vec_known[n] are set; else they are as in *start */
	uint8_t vec_known[32]; /* bit n: 8 bytes from 8 * n on */
	uint32_t vec_cleared;  /* bit n: register n, when it is loaded, has 16 bytes alone */
	uint32_t kmask_loaded; /* bit n */
	uint32_t kmask_known;  /* bit n, where it is loaded */
	uint64_t kmask[8];
	uint32_t last_line; /* that was read */
	uint32_t nbad;
	uint64_t bad[WALK_BAD]; /* lines that cannot be read */
	uint32_t nstores;
	bool memory_unknown;  /* a store could have gone anywhere */
	uint64_t stores_from; /* all stores are from here on */
	uint64_t stores_to;   /* and before this */
	struct insn insn;
	uint8_t code[16];	/* an instruction of two lines */
	uint8_t operand[3][64]; /* vectors of the instruction: two sources, the result */
	uint8_t vec[32][64];
	struct walk_store store[WALK_STORES];
};

/*
 * Walks at most `insns` instructions from the start on.  Sets all of *w but what is behind the
 * counts. *start is borrowed until it returns.  It takes at most 512 bytes of stack, those of
 * read() not counted.
 */
void walk_run(struct walk *w, const struct walk_start *start, uint32_t insns, walk_read_fn *read,
	      void *read_arg);

/*
 * Goes on where a walk has come to, for at most `insns` more: adds to w->walked, and sets w->stop.
 * Does nothing if the walk has ended for another reason than its length.  Lines are not kept. Those
 * that are stored to are read, too, so that they come to where the processor would have them.
 *
 * With `load`, calls it for each load of the program's memory: not for one of two lines, nor of
 * what a store of more than a page wrote, nor any more when a store may have gone anywhere.
 */
void walk_go_on(struct walk *w, uint32_t insns, walk_load_fn *load, void *load_arg);

#endif
