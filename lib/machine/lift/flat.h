/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_FLAT_H
#define VT_MACHINE_LIFT_FLAT_H

#include <stddef.h>
#include <stdint.h>

#include "machine/lift/irop.h"
#include "machine/lift/word.h"

/*
 * Flat code, which the interpreter runs: VEX's intermediate code without expression trees, as a
 * sequence of small operations.  Private to lib/machine.
 *
 * Each block has its own array of slots: constants, which do not change, and temporaries, with one
 * word for each 8 bytes.  Operations refer to slots by index.
 */

#define VTI_LIFT_INSNS 50 /* in one block, at most */
#define VTI_LIFT_BYTES (VTI_LIFT_INSNS * 15)

/* For each size n in bytes of 1, 2, 4, 8, 16, 32: NAME##n. */
#define VTI_SIZES(NAME) NAME##1, NAME##2, NAME##4, NAME##8, NAME##16, NAME##32

enum vti_opcode {
	VTI_STOP, /* the run ends before instruction number `insn` */
	/*
	 * a: the next address; aux: IRJumpKind; imm: 1 for a call, a return, or a jump to a
	 * computed address
	 */
	VTI_END,
	/*
	 * exit to imm if a; aux: IRJumpKind; insn: number of instructions run then; d: enum
	 * vti_exit_condition of the lowest dst bits of b and c (VTI_NO_SLOT: 0)
	 */
	VTI_EXIT,
	VTI_SIZES(VTI_GET),   /* dst = guest state at imm */
	VTI_SIZES(VTI_PUT),   /* guest state at imm = a */
	VTI_SIZES(VTI_LOAD),  /* dst = memory at a */
	VTI_SIZES(VTI_STORE), /* memory at a = b */
	VTI_MOVE1,	      /* dst = a, of so many words */
	VTI_MOVE2,
	VTI_MOVE4,
	VTI_ITE,     /* dst = a ? b : c, of aux words */
	VTI_GETI,    /* dst = element a of imm, a struct vti_array */
	VTI_PUTI,    /* element a of imm = b */
	VTI_IROP,    /* dst = imm, a struct vti_irop, of a, b, c, d; aux: IROp */
	VTI_UNKNOWN, /* dst, of aux bytes, is unknown */
	VTI_CCALL,   /* imm: struct vti_call */
	VTI_DIRTY,   /* imm: struct vti_call */
	VTI_CAS,     /* imm: struct vti_cas */
	VTI_LOADG,   /* imm: struct vti_guarded */
	VTI_STOREG,
	VTI_UNLIFTED, /* imm: struct vti_unlifted */
	/*
	 * imm: struct vti_evex.  a: its source in memory or a general register; b: address of a
	 * masked store; dst: its result of aux words, if that is in no vector or mask register
	 */
	VTI_EVEX,
	VTI_CLEAR_HIGH,	   /* bit n of imm: the upper half of zmm<n> becomes 0 */
	VTI_CAPTURE,	   /* a: value; aux: enum vt_what; b: register; c: bytes; imm: address */
	VTI_CAPTURE_STATE, /* the same of guest state at a */
	VTI_CAPTURE_INSN,
	VTI_FAST, /* from here on: operators that are operations (fastop.h); aux: IROp */
};

/* The condition of an exit: the exit is taken if two numbers are … */
enum vti_exit_condition {
	VTI_EXIT_OTHER,
	VTI_EXIT_EQUAL,
	VTI_EXIT_DIFFERENT,
	VTI_EXIT_ORDERED, /* one is less than (or equal to) the other, signed or not */
};

struct vti_op {
	uint16_t op; /* enum vti_opcode */
	uint16_t dst;
	uint16_t a;
	uint16_t b;
	uint16_t c;
	uint16_t d;
	uint16_t insn; /* number of its instruction in the block */
	uint16_t aux;
	union {
		uint64_t imm;
		const void *data; /* if imm is a struct */
	};
	uint16_t run; /* opcode, or enum vti_run (machine/interp/code.h), for the interpreter's loop
		       */
	/* Twice dst, a and b: processors multiply by 8, not by the 16 of a slot. */
	uint16_t dst2;
	uint16_t a2;
	uint16_t b2;
};

/* A part of the guest state that is addressed as a ring: x87's registers and their tags. */
struct vti_array {
	uint16_t base;
	uint16_t count;
	uint16_t size; /* bytes of an element */
	int16_t bias;
};

#define VTI_CALL_ARGS  8
#define VTI_CALL_STATE 32
#define VTI_NO_SLOT    UINT16_MAX

/* A call of one of VEX's helpers. */
struct vti_call {
	void *fn;
	const char *name;
	uint8_t nargs;
	uint8_t result_size; /* bytes; 0: none */
	bool passes_state;   /* its first argument is the guest state, those in args[] follow */
	uint16_t args[VTI_CALL_ARGS];
	uint16_t dst;
	uint16_t guard;	  /* VTI_NO_SLOT: always */
	uint8_t memory;	  /* bit 0 reads it, bit 1 writes it */
	uint16_t address; /* slot */
	uint16_t size;	  /* bytes of memory */
	uint8_t nstate;	  /* parts of the guest state that it reads (effect bit 0) or writes (bit 1)
			   */
	struct {
		uint16_t offset;
		uint16_t size;
		uint8_t effect;
	} state[VTI_CALL_STATE];
};

struct vti_cas {
	uint16_t address;
	uint16_t expected[2]; /* low, high: VTI_NO_SLOT for a single one */
	uint16_t data[2];
	uint16_t old[2];
	uint8_t size; /* bytes of each half */
};

/* A load (widened by `conversion`) or store that is executed if the guard is 1. */
struct vti_guarded {
	uint16_t address;
	uint16_t guard;
	uint16_t value; /* stored, or the result of a load that is not executed */
	uint16_t dst;
	uint8_t size;	     /* bytes in memory */
	uint16_t conversion; /* IRLoadGOp */
};

/* An instruction that VEX does not support: what it writes, from its facts (insn.h). */
struct vti_unlifted {
	uint64_t writes; /* bit n: register n */
	bool writes_memory;
	bool writes_flags;
	bool writes_fp; /* perhaps the state of x87, MXCSR */
};

struct vti_block {
	uint64_t space;
	uint64_t addr;
	uint32_t ninsns;
	uint32_t nops;
	uint32_t nslots;
	uint32_t nconstants; /* of the slots; they are the first */
	uint32_t nunlifted;  /* instructions that VEX does not support */
	uint32_t nunknown;   /* operators whose results are always unknown */
	struct vti_op *ops;  /* the last is VTI_END or VTI_STOP */
	struct vt_word *slots;
	uint32_t *first;  /* of each instruction, its first operation; one more: nops */
	uint32_t *offset; /* of each instruction, its distance from addr; one more: the end */
	bool bad;	  /* ends at bytes that are no instruction */
	bool no_code;	  /* ends at the end of the available code */
	size_t memory;	  /* bytes of the block */
	void *arena;	  /* the memory of all arrays */
};

#endif
