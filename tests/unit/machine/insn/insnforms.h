/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MACHINE_INSN_INSNFORMS_H
#define TESTS_UNIT_MACHINE_INSN_INSNFORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "base/rng.h"
#include "tests/unit/machine/insn/nativerun.h"

/*
 * Instructions to be run, from the maps of opcodes: each opcode of each map with each prefix that
 * selects an operation, register and memory forms, and what a random choice makes of the rest.
 * Memory operands lie in the native data; what a user's program cannot or should not run (system
 * calls, segments, transactions) is left out.
 */

#define INSN_FORMS  (4 * 256 * 4 * 2 * 2 + 3 * 256 * 4 * 2 * 2 * 2)
#define INSN_SHAPES 8 /* of each: values of the field of ModRM that extends some opcodes */

struct insn_case {
	uint8_t code[NATIVE_CODE]; /* what sets up x87 or MMX, the instruction, what stores them */
	size_t size;
	size_t at; /* of the instruction in it */
	unsigned ninsns;
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const char *mnemonic;
	struct native_state in;
	uint8_t data[NATIVE_DATA];
	uint32_t addressing; /* bit n: general register n is a part of an address */
	bool tests_flags;    /* a setcc to memory follows */
	bool repeats;	     /* a string instruction with a prefix to repeat it */
};

/* False where there is no such instruction, or none to run. */
bool insn_case_make(const struct native *n, struct vt_rng *rng, unsigned form, unsigned shape,
		    struct insn_case *c);

#endif
