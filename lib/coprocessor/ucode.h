/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_UCODE_H
#define VT_COPROCESSOR_UCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The word of the profiling co-processor's microcode: 48 bits, each a simple encoding of control
 * signals, with one branch slot (Zilles and Sohi, "A Programmable Co-processor for Profiling",
 * 3.4 and table 1).  The paper gives the sizes; which bits do what is decided here and is described
 * in vt-ucode(5).
 */
#define VT_UCODE_BITS  48
#define VT_UCODE_WORDS 64 /* table 1: 64 x 48b; addresses have 6 bits */

/* The operation of the ALU on operands a and b. */
enum vt_ucode_alu {
	VT_ALU_NONE,
	VT_ALU_MOV,
	VT_ALU_NOT,
	VT_ALU_ADD, /* stops at the largest number (3.3, saturating arithmetic) */
	VT_ALU_SUB, /* stops at 0 */
	VT_ALU_AND,
	VT_ALU_OR,
	VT_ALU_XOR,
	VT_ALU_SHL1, /* "only limited shifts are available" (3.3) */
	VT_ALU_SHL2,
	VT_ALU_SHL4,
	VT_ALU_SHL8,
	VT_ALU_SHR1,
	VT_ALU_SHR2,
	VT_ALU_SHR4,
	VT_ALU_SHR8,
	VT_NALUS
};

/* Operands.  b is one of the first 16; the fields of a sample only reach a. */
enum vt_ucode_operand {
	VT_OP_V0,
	VT_OP_C0 = 4,
	VT_OP_X = 8, /* the index register of the word */
	VT_OP_D,     /* what the data array read or computed last */
	VT_OP_M,     /* the entry of the associative array that matched last */
	VT_OP_ZERO,
	VT_OP_ONE,
	VT_OP_RAND,   /* the linear feedback shift register, 3.3 */
	VT_OP_MISSED, /* a field of a sample: it brought its line into the cache */
	VT_OP_PC = 16,
	VT_OP_PC_LO, /* 32 bits discriminate well enough (5.1.1) */
	VT_OP_VALUE,
	VT_OP_VALUE_LO,
	VT_OP_ADDR,
	VT_OP_ADDR_LO,
	VT_OP_WORD, /* addr >> 3 */
	VT_OP_LINE, /* addr >> 6 */
	VT_OP_TARGET,
	VT_OP_TARGET_LO,
	VT_OP_TAKEN,
	VT_OP_SIZE,
	VT_OP_NEXT, /* the address of the instruction behind this one */
	VT_OP_TID,
	VT_OP_CODE,  /* the first 8 bytes of the instruction */
	VT_OP_CLASS, /* enum vt_ucode_class */
	VT_NOPERANDS
};

/* The operation of the incrementer on the word's index register, at the end of the cycle. */
enum vt_ucode_step {
	VT_STEP_NONE,
	VT_STEP_UP,   /* +1, stops at the largest number of the register's width */
	VT_STEP_DOWN, /* -1, stops at 0 */
	VT_STEP_NEXT, /* +1, goes round */
	VT_STEP_BACK, /* -1, goes round */
	VT_STEP_CLEAR,
	VT_STEP_SET,  /* becomes the result of the ALU */
	VT_STEP_TAKE, /* becomes m */
	VT_NSTEPS
};

/* The operation of the data array; all but read and write read, modify and write (3.3). */
enum vt_ucode_memory {
	VT_MEM_NONE,
	VT_MEM_READ,
	VT_MEM_WRITE, /* the result of the ALU */
	VT_MEM_INC,   /* stops at the largest number of the element's width */
	VT_MEM_DEC,
	VT_MEM_ADD, /* the result of the ALU, stopping likewise */
	VT_MEM_OR,
	VT_MEM_CLEAR,
	VT_MEM_SET, /* 1 */
	VT_NMEMORIES
};

/* What an element of an array is picked by. */
enum vt_ucode_index { VT_INDEX_NONE, VT_INDEX_X, VT_INDEX_M, VT_NINDEXES };

/* The operation of the associative array; its key is operand a. */
enum vt_ucode_cam {
	VT_CAM_NONE,
	VT_CAM_MATCH, /* sets m if a valid entry has the key */
	VT_CAM_ENTER, /* writes the key to an entry, which becomes valid, and sets m to it */
	VT_CAM_INVALIDATE,
	VT_NCAMS
};

/* When the branch is taken: conditions of the operations of the same word. */
enum vt_ucode_cond {
	VT_COND_NEVER,
	VT_COND_ALWAYS,
	VT_COND_EQ, /* a and b, without sign */
	VT_COND_NE,
	VT_COND_LT,
	VT_COND_GE,
	VT_COND_LE,
	VT_COND_GT,
	VT_COND_HIT, /* the associative array matched */
	VT_COND_MISS,
	VT_COND_FULL, /* what the data array computed is the bound at which it stops */
	VT_COND_NOT_FULL,
	VT_COND_OVER, /* the ALU's result was stopped */
	VT_COND_NOT_OVER,
	VT_COND_END, /* the index register came to its bound, or went round */
	VT_COND_NOT_END,
	VT_COND_ZERO, /* the ALU's result */
	VT_COND_NONZERO,
	VT_COND_ODD,
	VT_COND_EVEN,
	VT_NCONDS
};

/* Where a branch goes, 5 bits: short offsets, target registers, and two special targets (3.4). */
#define VT_TARGET_FORWARD   16 /* 0 to 15: 1 to 16 words ahead */
#define VT_TARGET_BACKWARD  10 /* 16 to 25: 1 to 10 words back */
#define VT_TARGET_BACK	    16
#define VT_TARGET_REGISTER  26 /* to 29 */
#define VT_TARGET_DONE	    30
#define VT_TARGET_INTERRUPT 31

/* The fields of a word. */
struct vt_uword {
	uint8_t alu;  /* enum vt_ucode_alu */
	uint8_t a, b; /* enum vt_ucode_operand */
	uint8_t dest; /* 0: none; 1 to 4: v0 to v3 */
	uint8_t step; /* enum vt_ucode_step */
	uint8_t x;    /* the one index register that the word reads and writes */
	uint8_t memory, base, index;
	uint8_t cam, cam_m; /* cam_m: the entry is m, else x */
	uint8_t cond, target;
};

/* Packs the fields, each of which fits its bits. */
uint64_t vt_ucode_pack(const struct vt_uword *w);

/* Unpacks a word.  Returns 0, or -VT_E_FORMAT naming a field whose number has no meaning. */
int vt_ucode_unpack(struct vt_uword *w, uint64_t bits, struct vt_error *err);

/* The classes of operations: the decoder has a start address for each (table 1: 21 x 6b). */
enum vt_ucode_class {
	VT_CLASS_LOAD,
	VT_CLASS_STORE,
	VT_CLASS_BRANCH, /* conditional */
	VT_CLASS_JUMP,
	VT_CLASS_JUMP_INDIRECT,
	VT_CLASS_CALL,
	VT_CLASS_CALL_INDIRECT,
	VT_CLASS_RETURN,
	VT_CLASS_SYSCALL,
	VT_CLASS_INTEGER,
	VT_CLASS_MULTIPLY,
	VT_CLASS_DIVIDE,
	VT_CLASS_FLOAT,
	VT_CLASS_VECTOR,
	VT_CLASS_MOVE,
	VT_CLASS_COMPARE,
	VT_CLASS_ADDRESS, /* lea */
	VT_CLASS_STRING,
	VT_CLASS_ATOMIC,
	VT_CLASS_NOP,
	VT_CLASS_OTHER,
	VT_NCLASSES
};

/* Their names in the assembly, by number. */
extern const char *const vt_ucode_alus[VT_NALUS];
extern const char *const vt_ucode_operands[VT_NOPERANDS]; /* NULL: reserved */
extern const char *const vt_ucode_steps[VT_NSTEPS];
extern const char *const vt_ucode_memories[VT_NMEMORIES];
extern const char *const vt_ucode_cams[VT_NCAMS];
extern const char *const vt_ucode_conds[VT_NCONDS];
extern const char *const vt_ucode_classes[VT_NCLASSES];

#endif
