/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_BPF_PROGRAM_H
#define CMD_BPF_PROGRAM_H

#include <linux/types.h>

/*
 * What `vtrace record --sample-values --bpf` and its program in the kernel share: the walk's
 * operations, and the samples.  Both are built together.
 *
 * The recorder compiles code to operations, and the program runs them on a sample's registers to
 * find the memory that the next instructions read.  The operations of one instruction follow one
 * another.  They decide only which lines are recorded, and are no source of values.
 */

/* Registers: the general ones have the numbers of their encoding. */
enum bpf_walk_reg {
	BPF_WALK_SP = 4,
	BPF_WALK_FS = 16, /* bases */
	BPF_WALK_GS,
	BPF_WALK_TEMP, /* of one instruction; up to the last */
	BPF_WALK_REGS = 32,
	BPF_WALK_IMM = 255, /* as `b`: `imm` is the operand */
};

enum bpf_walk_code {
	BPF_WALK_END = 1, /* before this instruction; imm: why (enum walk_stop of walk.h) */
	BPF_WALK_INSN,	  /* begins the instruction at imm, of `size` bytes */
	BPF_WALK_GOTO,	  /* to operation imm */
	BPF_WALK_GOTO_IF, /* to operation imm, if condition `ext` holds */
	BPF_WALK_FIND,	  /* to the operations of the code at b */
	BPF_WALK_LEA,	  /* dst = a + (b << ext) + imm; b = BPF_WALK_IMM: a + imm */
	BPF_WALK_MOVE,	  /* dst = b */
	BPF_WALK_ADD,	  /* dst = a + b, of `size` bytes, zero-extended; so are these: */
	BPF_WALK_SUB,
	BPF_WALK_AND,
	BPF_WALK_OR,
	BPF_WALK_XOR,
	BPF_WALK_SHL,
	BPF_WALK_SHR,
	BPF_WALK_SAR,
	BPF_WALK_MUL,
	BPF_WALK_SIGN,	  /* dst = a's low `size` bytes, sign-extended */
	BPF_WALK_INSERT,  /* a's low `size` bytes become dst's, from bit ext on */
	BPF_WALK_LOAD,	  /* dst = `size` bytes at a + imm, zero-extended */
	BPF_WALK_STORE,	  /* `size` bytes of b to a + imm */
	BPF_WALK_TOUCH,	  /* `size` bytes at a + imm are read, for a register not known here */
	BPF_WALK_SPOIL,	  /* `size` bytes at a + imm become unknown */
	BPF_WALK_COMPARE, /* flags of a - b, of `size` bytes */
	BPF_WALK_SUM,	  /* flags of a + b */
	BPF_WALK_NO_BITS, /* the flags `imm` are unknown: bits of the flags register */
	BPF_WALK_NO_FLAGS,
	BPF_WALK_SET,	 /* dst = condition ext */
	BPF_WALK_SELECT, /* dst = b if condition ext holds */
	BPF_WALK_FORGET, /* dst is unknown */
};

struct bpf_walk_op {
	__u8 code;
	__u8 dst;
	__u8 a;
	__u8 b;
	__u8 size;
	__u8 ext;
	__u16 pad;
	__s64 imm;
};

/* ---- maps ---- */

#define BPF_WALK_POOL  (1u << 20) /* operations; a power of two */
#define BPF_WALK_CODES (1u << 18) /* instructions */

/* Where operations begin: a key of the map of code. */
struct bpf_walk_at {
	__u64 space; /* 0: the kernel; else of a process: see bpf_walk_space() */
	__u64 pc;
};

/* ---- samples ---- */

#define BPF_WALK_LINE  64
#define BPF_WALK_LINES 128 /* of a sample; a power of two */

struct bpf_walk_line {
	__u64 addr;
	__u64 read; /* bit n: byte n was read; 0: only stored to */
	__u8 bytes[BPF_WALK_LINE];
};

struct bpf_walk_sample {
	__u64 time; /* CLOCK_MONOTONIC */
	__u64 space;
	__u64 missing; /* the address of code that has no operations; 0: none */
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 nlines;
	__u32 walked; /* instructions */
	__u32 stop;
	__u32 unreadable; /* lines that could not be read */
	__u32 pad;
	__u64 fs_base;
	__u64 gs_base;
	__u64 gpr[16];
	__u64 ip;
	__u64 flags;
	__u64 cs;
	__u64 ss;
	struct bpf_walk_line line[BPF_WALK_LINES];
};

/* What the recorder and the program share besides the maps. */
struct bpf_walk_shared {
	__u64 lost;	   /* samples for which the ring had no room */
	__u64 ticks;	   /* ns in the program */
	__u64 lines_read;  /* and copied */
	__u64 lines_bad;   /* that could not be read */
	__u64 foreign;	   /* samples of code of 32 bits, which are left out */
	__u64 cpu_offsets; /* the address of the kernel's __per_cpu_offset; 0: not known */
	__u64 limit;	   /* instructions of a walk */
	struct bpf_walk_op pool[BPF_WALK_POOL];
};

/* The argument of the program that reads a line of the kernel's code. */
struct bpf_walk_text {
	__u64 addr;
	__u64 read; /* 0: it could not be read */
	__u8 bytes[BPF_WALK_LINE];
};

#endif
