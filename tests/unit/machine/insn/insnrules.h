/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MACHINE_INSN_INSNRULES_H
#define TESTS_UNIT_MACHINE_INSN_INSNRULES_H

#include <stdint.h>

#include "tests/unit/machine/insn/insnforms.h"

/* The flags that the manual leaves undefined after the instruction of a case. */
uint64_t insn_undefined_flags(const struct insn_case *c);

/* What the interpreter leaves unknown even if everything in front of the instruction is known. */
enum insn_rule {
	RULE_GENERAL = 1 << 0,
	RULE_VECTOR = 1 << 1,
	RULE_MEMORY = 1 << 2,
	RULE_FLAGS = 1 << 3,
	RULE_STOPS = 1 << 4,
	RULE_ALL = 31
};

unsigned insn_may_be_unknown(const struct insn_case *c, const struct native_state *after);

/* Flags that it leaves unknown, of those that are not undefined. */
uint64_t insn_unknown_flags(const struct insn_case *c);

/* Bits of a word of a vector: not-a-numbers, of which nobody computes the payload. */
uint64_t insn_unknown_lanes(const struct insn_case *c, uint64_t after);

#endif
