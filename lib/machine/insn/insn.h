/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INSN_INSN_H
#define VT_MACHINE_INSN_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stream/kinds.h"

/*
 * Facts about one x86-64 instruction, from its bytes: what it does to memory and registers, and
 * what sort of number its values are.  Manual: Intel SDM volume 2, by way of Zydis.
 */

/* Registers by number, as in BLOCK's slots: linux's asm/perf_regs.h, and vector n as 32 + n. */
enum vt_reg {
	VT_REG_AX,
	VT_REG_BX,
	VT_REG_CX,
	VT_REG_DX,
	VT_REG_SI,
	VT_REG_DI,
	VT_REG_BP,
	VT_REG_SP,
	VT_REG_IP,
	VT_REG_FLAGS,
	VT_REG_CS,
	VT_REG_SS,
	VT_REG_DS,
	VT_REG_ES,
	VT_REG_FS,
	VT_REG_GS,
	VT_REG_R8, /* to R15, 23 */
	VT_REG_R15 = VT_REG_R8 + 7,
	VT_REG_MASK = 24,   /* to 31: k0 to k7, of the interpreter's state alone */
	VT_REG_VECTOR = 32, /* to 63: xmm0 and the wider registers that it is part of, … */
	VT_NREGS = 64,
	VT_REG_NONE = 255
};

/* Returns the name of a register of `size` bytes, such as "rax" or "xmm3"; "?" if there is none. */
const char *vt_reg_name(unsigned reg, unsigned size);

/* Whether a register is one of the 16 general registers. */
static inline bool vt_reg_is_general(unsigned reg)
{
	return reg <= VT_REG_SP || (reg >= VT_REG_R8 && reg <= VT_REG_R15);
}

/* What an instruction is: bits of vt_facts.flags. */
enum vt_fact {
	VT_FACT_LOAD = 1 << 0, /* reads memory, the stack included */
	VT_FACT_STORE = 1 << 1,
	VT_FACT_BRANCH = 1 << 2, /* any transfer of control but system calls and interrupts */
	VT_FACT_CONDITIONAL = 1 << 3,
	VT_FACT_JUMP = 1 << 4, /* unconditional */
	VT_FACT_CALL = 1 << 5,
	VT_FACT_RETURN = 1 << 6,
	VT_FACT_INDIRECT = 1 << 7, /* a jump or call through a register or memory */
	VT_FACT_SYSCALL = 1 << 8,  /* syscall, sysenter, int */
	VT_FACT_DIVIDE = 1 << 9,   /* of integers or floating-point numbers */
	VT_FACT_MULTIPLY = 1 << 10,
	VT_FACT_STRING = 1 << 11,   /* movs, stos, cmps, scas, lods */
	VT_FACT_REPEATED = 1 << 12, /* by a prefix: its accesses happen any number of times */
	VT_FACT_FLOAT = 1 << 13,    /* works on floating-point numbers */
	VT_FACT_VECTOR = 1 << 14,   /* works on vector registers */
	VT_FACT_X87 = 1 << 15,
	VT_FACT_ATOMIC = 1 << 16, /* locked */
	VT_FACT_PUSH = 1 << 17,
	VT_FACT_POP = 1 << 18,
	VT_FACT_MOVE = 1 << 19,	   /* copies a value, perhaps widened, and does nothing else */
	VT_FACT_COMPARE = 1 << 20, /* writes nothing but flags */
	VT_FACT_LEA = 1 << 21,
	VT_FACT_NOP = 1 << 22,	  /* and hints and prefetches */
	VT_FACT_MASKED = 1 << 23, /* a mask or condition may leave out memory accesses */
};

/* What sort of number a value is. */
enum vt_number {
	VT_NUMBER_RAW, /* unknown: 16 bytes moved by movups, an x87 state, … */
	VT_NUMBER_INT,
	VT_NUMBER_UNSIGNED, /* an integer that the instruction takes as unsigned */
	VT_NUMBER_SIGNED,
	VT_NUMBER_FLOAT,   /* IEEE 754 of `size` bytes: 2, 4, 8, or 10 for x87 */
	VT_NUMBER_ADDRESS, /* certainly an address: where a load read, where a call goes */
};

/* The elements of a value, lowest first. */
struct vt_number_type {
	enum vt_number number;
	uint8_t size;	  /* of an element in bytes */
	uint8_t elements; /* 1, or how many there are of a packed value */
	bool may_point;	  /* it is as wide as an address, and could be one */
};

/* A memory operand, explicit or implied (the stack, a string). */
struct vt_memory {
	uint16_t size; /* bytes that are accessed, of one repetition or one element of a gather */
	bool read;
	bool written;
	bool implied;	 /* not written in the assembly: push, pop, call, ret */
	bool gather;	 /* `index` is a vector: one access for each of its elements */
	uint8_t base;	 /* enum vt_reg; VT_REG_IP: relative to the next instruction */
	uint8_t index;	 /* enum vt_reg */
	uint8_t scale;	 /* 1, 2, 4, 8; 0 without an index */
	uint8_t segment; /* VT_REG_FS or VT_REG_GS, whose base counts; else VT_REG_NONE */
	int64_t displacement;
	struct vt_number_type type;
};

/* Where an operand is; in memory means in memories[0]. */
enum vt_where { VT_WHERE_NONE, VT_WHERE_REGISTER, VT_WHERE_MEMORY };

struct vt_operand {
	enum vt_where where;
	uint8_t reg;   /* enum vt_reg */
	bool high;     /* bits 8 to 15 of the register: ah, bh, ch, dh */
	uint16_t size; /* bytes */
	struct vt_number_type type;
};

#define VT_MAX_INSN	 15 /* bytes of an instruction */
#define VT_ADDRESS_SIZE	 8  /* bytes of an address */
#define VT_FACT_MEMORIES 4
#define VT_FACT_RESULTS	 4
#define VT_FACT_SOURCES	 4

struct vt_facts {
	uint8_t length;	 /* bytes */
	uint32_t flags;	 /* enum vt_fact */
	uint64_t reads;	 /* bit n: register n; those of addresses included */
	uint64_t writes; /* wholly or in part */
	bool has_target; /* a direct branch, jump or call: */
	int64_t target;	 /* from the first byte of the instruction */
	bool has_immediate;
	int64_t immediate; /* the last, sign-extended where the instruction does */
	uint8_t nmemories;
	uint8_t nresults;
	uint8_t nsources;
	/* Of lea, which accesses none, the first is the address that it computes. */
	struct vt_memory memories[VT_FACT_MEMORIES];
	/* Registers written that are no flags, nor the stack pointer of a push or pop. */
	struct vt_operand results[VT_FACT_RESULTS];
	/* Registers read, but flags, those of addresses only, and the stack pointer of a push. */
	struct vt_operand sources[VT_FACT_SOURCES];
	struct vt_operand divisor; /* of VT_FACT_DIVIDE; x87's register divisions have none */
	const char *mnemonic;	   /* Intel's, lower case; static */
};

static inline bool vt_facts_has_mnemonic(const struct vt_facts *f, const char *mnemonic)
{
	return strcmp(f->mnemonic, mnemonic) == 0;
}

/*
 * Decodes the instruction at the start of `bytes`.  Returns false, with an empty *f, if there is no
 * instruction or it is cut off.
 */
bool vt_facts_decode(const uint8_t *bytes, size_t size, struct vt_facts *f);

/* Only the effect of an instruction on control flow. */
struct vt_flow {
	uint8_t length; /* bytes */
	uint32_t flags; /* as vt_facts.flags, from VT_FACT_BRANCH to VT_FACT_SYSCALL */
	bool stops;	/* hlt, ud2, int3, sysret: nothing comes after it */
	bool has_target;
	int64_t target; /* as in vt_facts */
};

/* Decodes only this effect, in a fraction of the time of vt_facts_decode(). */
bool vt_flow_decode(const uint8_t *bytes, size_t size, struct vt_flow *f);

/*
 * Returns the type of the value `what` of this instruction, which has `size` bytes and was recorded
 * in register `reg` (if `what` has one).  `f` may be NULL or empty: then the type follows only from
 * `what` and `size`.
 */
struct vt_number_type vt_facts_type(const struct vt_facts *f, enum vt_what what, unsigned reg,
				    unsigned size);

/*
 * Returns whether the code at `bytes` is a stub of a procedure linkage table: only a jump through a
 * slot in memory, optionally with endbr64 and bnd before it.  *slot becomes the slot's distance
 * from `bytes`.
 */
bool vt_code_is_plt(const uint8_t *bytes, size_t size, int64_t *slot);

#endif
