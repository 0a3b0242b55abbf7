/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SPECIALISE_USES_H
#define VT_SPECIALISE_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/insn/insn.h"

/*
 * What becomes of a value: the code behind the instruction that loads it, or behind the entry of
 * the procedure that is passed it, is followed along all branches as long as the value is in a
 * register.  Nothing is executed: this is what may happen, not what did.
 */

/* Bits of vt_uses.uses. */
enum vt_use {
	VT_USE_READ = 1 << 0, /* by anything at all */
	VT_USE_DIVISOR = 1 << 1,
	VT_USE_FACTOR = 1 << 2,	 /* of a multiplication */
	VT_USE_BRANCH = 1 << 3,	 /* compared, which decides a conditional branch */
	VT_USE_BOUND = 1 << 4,	 /* compared with another variable, which decides a branch back */
	VT_USE_ADDRESS = 1 << 5, /* in the address of a memory operand */
	VT_USE_TARGET = 1 << 6,	 /* jumped to or called */
};

struct vt_uses {
	unsigned uses;
	uint64_t where; /* vaddr of the first divisor, factor or bound (in this order), else 0 */
	struct vt_number_type type; /* as used there; RAW if nothing tells */
};

/* Where a load's value comes from. */
enum vt_source {
	VT_SOURCE_MEMORY,
	VT_SOURCE_STACK,    /* a variable in the procedure's frame */
	VT_SOURCE_FIXED,    /* a place whose address the instruction itself tells */
	VT_SOURCE_RESTORED, /* saved by the procedure or its caller: pop, ret, the stack protector
			     */
	VT_SOURCE_UNKNOWN,  /* no load, or no instruction */
};

/* The code of an image.  `bytes` gives what lies at a vaddr and how much, NULL where nothing does.
 */
struct vt_code {
	const uint8_t *(*bytes)(const void *arg, uint64_t vaddr, size_t *avail);
	const void *arg;
};

/* The uses of what the instruction at `vaddr` loads, and where it loads from. */
enum vt_source vt_uses_of_load(const struct vt_code *code, uint64_t vaddr, struct vt_uses *u);

/* For a load of VT_SOURCE_FIXED: the vaddr that it reads.  False for any other. */
bool vt_load_vaddr(const struct vt_code *code, uint64_t vaddr, uint64_t *from);

/*
 * The uses of a register's value from the entry of the procedure at `vaddr` on.  At calls whose
 * target the code tells, registers that pass arguments are followed there.  That a procedure with
 * variable arguments saves all registers that may pass one is no use.
 */
void vt_uses_of_argument(const struct vt_code *code, uint64_t vaddr, unsigned reg,
			 struct vt_uses *u);

/* The uses of what the instruction at `vaddr` leaves in a register. */
void vt_uses_of_result(const struct vt_code *code, uint64_t vaddr, unsigned reg, struct vt_uses *u);

/* True when the instruction at `vaddr` is a call. */
bool vt_code_is_call(const struct vt_code *code, uint64_t vaddr);

/*
 * True when the instruction makes a value: it does not only copy one from a register or memory, nor
 * does the instruction alone say what comes of it (mov rax, 5; xor eax, eax; lea of a fixed place).
 */
bool vt_code_computes(const struct vt_code *code, uint64_t vaddr);

#endif
