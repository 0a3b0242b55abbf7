/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SPECIALISE_USES_H
#define VT_SPECIALISE_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/insn/insn.h"

/*
 * Finds the uses of a value.  Follows the code after the instruction that loads the value, or from
 * the entry of the procedure of which it is an argument, along all branches, as long as the value
 * is in a register.  The analysis is static: a use may happen, but need not have happened.
 */

/* Bits of vt_uses.uses. */
enum vt_use {
	VT_USE_READ = 1 << 0, /* any use */
	VT_USE_DIVISOR = 1 << 1,
	VT_USE_FACTOR = 1 << 2,	 /* of a multiplication */
	VT_USE_BRANCH = 1 << 3,	 /* compared for a conditional branch */
	VT_USE_BOUND = 1 << 4,	 /* compared with another variable for a branch backwards */
	VT_USE_ADDRESS = 1 << 5, /* in the address of a memory operand */
	VT_USE_TARGET = 1 << 6,	 /* jumped to or called */
};

struct vt_uses {
	unsigned uses;
	uint64_t where; /* vaddr of the first divisor, factor or bound (in this order), else 0 */
	struct vt_number_type type; /* of the value at that use; RAW if unknown */
};

/* Where a load's value comes from. */
enum vt_source {
	VT_SOURCE_MEMORY,
	VT_SOURCE_STACK,    /* a variable in the procedure's frame */
	VT_SOURCE_FIXED,    /* an address that the instruction itself contains */
	VT_SOURCE_RESTORED, /* saved by the procedure or its caller: pop, ret, the stack protector
			     */
	VT_SOURCE_UNKNOWN,  /* no load, or no instruction */
};

/*
 * The code of an image.  `bytes` returns the bytes at a vaddr and their number in *avail, or NULL
 * if there are none.
 */
struct vt_code {
	const uint8_t *(*bytes)(const void *arg, uint64_t vaddr, size_t *avail);
	const void *arg;
};

/* Sets *u to the uses of the value that the instruction at `vaddr` loads; returns its source. */
enum vt_source vt_uses_of_load(const struct vt_code *code, uint64_t vaddr, struct vt_uses *u);

/* Sets *from to the vaddr that a load of VT_SOURCE_FIXED reads.  Returns false for others. */
bool vt_load_vaddr(const struct vt_code *code, uint64_t vaddr, uint64_t *from);

/*
 * Sets *u to the uses of a register's value from the entry of the procedure at `vaddr` on.  At
 * direct calls, follows registers that pass arguments to the called procedure.  The code with which
 * a procedure with variable arguments saves all argument registers does not count as a use.
 */
void vt_uses_of_argument(const struct vt_code *code, uint64_t vaddr, unsigned reg,
			 struct vt_uses *u);

/* Sets *u to the uses of the value that the instruction at `vaddr` writes to a register. */
void vt_uses_of_result(const struct vt_code *code, uint64_t vaddr, unsigned reg, struct vt_uses *u);

/* Returns whether the instruction at `vaddr` is a call. */
bool vt_code_is_call(const struct vt_code *code, uint64_t vaddr);

/* Returns the vaddr that a direct call calls, or 0 if the instruction is no such call. */
uint64_t vt_code_called(const struct vt_code *code, uint64_t vaddr);

/*
 * Returns whether the instruction computes a value: it does not only copy one from a register or
 * memory, and its result is not constant (as of mov rax, 5; xor eax, eax; lea of a fixed address).
 */
bool vt_code_computes(const struct vt_code *code, uint64_t vaddr);

#endif
