/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/machine/insn/insnrules.h"

#include <stdbool.h>
#include <string.h>

#define C 0x001
#define P 0x004
#define A 0x010
#define Z 0x040
#define S 0x080
#define O 0x800

/* ---- flags: Intel SDM volume 2, "Flags Affected" of each ---- */

static const struct {
	const char *mnemonic;
	uint16_t undefined;
} always[] = {
	{"and", A},
	{"or", A},
	{"xor", A},
	{"test", A},
	{"andn", A | P},
	{"blsi", A | P},
	{"blsr", A | P},
	{"blsmsk", A | P},
	{"bzhi", A | P},
	{"bextr", A | P | S},
	{"mul", S | Z | A | P},
	{"imul", S | Z | A | P},
	{"div", C | P | A | Z | S | O},
	{"idiv", C | P | A | Z | S | O},
	{"bsf", C | O | S | A | P},
	{"bsr", C | O | S | A | P},
	{"tzcnt", O | S | A | P},
	{"lzcnt", O | S | A | P},
	{"bt", O | S | A | P},
	{"bts", O | S | A | P},
	{"btr", O | S | A | P},
	{"btc", O | S | A | P},
};

/* The count that a shift or rotation uses: 5 bits of it, or 6. */
static unsigned count_of(const struct insn_case *c)
{
	const ZydisDecodedOperand *o = &c->operands[c->insn.operand_count_visible - 1];
	uint64_t count = c->in.gpr[1];

	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		count = o->imm.value.u;
	return (unsigned)count & (c->operands[0].size == 64 ? 63 : 31);
}

static uint64_t after_shift(const struct insn_case *c)
{
	const char *m = c->mnemonic;
	unsigned count = count_of(c), bits = c->operands[0].size;
	uint64_t more = count == 1 ? 0 : O;

	if (!count)
		return 0;
	if (strcmp(m, "rol") == 0 || strcmp(m, "ror") == 0 || strcmp(m, "rcl") == 0 ||
	    strcmp(m, "rcr") == 0)
		return more;
	if (strcmp(m, "shld") == 0 || strcmp(m, "shrd") == 0)
		return count > bits ? C | P | A | Z | S | O : A | more;
	if (strcmp(m, "sar") != 0 && count >= bits)
		more |= C;
	return A | more;
}

uint64_t insn_undefined_flags(const struct insn_case *c)
{
	size_t i;

	switch (c->insn.mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return after_shift(c);
	default:
		break;
	}
	for (i = 0; i < sizeof(always) / sizeof(*always); i++)
		if (strcmp(always[i].mnemonic, c->mnemonic) == 0)
			return always[i].undefined;
	return 0;
}

/* ---- what stays unknown ---- */

static const struct {
	const char *begins; /* the mnemonic */
	uint8_t what;
	const char *why;
} exceptions[] = {
	{"cpuid", RULE_GENERAL, "depends on the machine"},
	{"rdtsc", RULE_GENERAL, "depends on the machine"},
	{"rdrand", RULE_GENERAL | RULE_FLAGS, "depends on the machine"},
	{"rdseed", RULE_GENERAL | RULE_FLAGS, "depends on the machine"},
	{"f", RULE_MEMORY | RULE_FLAGS | RULE_GENERAL, "x87: 64 bits of 80, and its status"},
	{"stmxcsr", RULE_MEMORY, "holds exceptions"},
	{"vstmxcsr", RULE_MEMORY, "holds exceptions"},
	{"rcp", RULE_VECTOR, "an estimate, of any processor's own"},
	{"vrcp", RULE_VECTOR, "an estimate, of any processor's own"},
	{"rsqrt", RULE_VECTOR, "an estimate, of any processor's own"},
	{"vfn", RULE_VECTOR, "VEX negates what is rounded, the processor rounds what is negated"},
	{"cvtsi2s", RULE_VECTOR, "VEX rounds 64 bits twice: known if exact"},
	{"vcvtsi2s", RULE_VECTOR, "VEX rounds 64 bits twice: known if exact"},
	{"round", RULE_VECTOR, "payloads of what is not a number"},
	{"vround", RULE_VECTOR, "payloads of what is not a number"},
	{"vcvtps2ph", RULE_VECTOR | RULE_MEMORY, "payloads of what is not a number"},
	{"psllw", RULE_VECTOR | RULE_MEMORY, "VEX shifts by 16 to 31, too, where nothing is left"},
	{"vpsllw", RULE_VECTOR, "VEX shifts by 16 to 31, too, where nothing is left"},
	{"pushf", RULE_MEMORY, "VEX has not all of the flags"},
	{"vrsqrt", RULE_VECTOR, "an estimate, of any processor's own"},
};

static bool works_on_floats(const struct insn_case *c)
{
	unsigned i;

	for (i = 0; i < c->insn.operand_count; i++)
		if (c->operands[i].element_type == ZYDIS_ELEMENT_TYPE_FLOAT16 ||
		    c->operands[i].element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
		    c->operands[i].element_type == ZYDIS_ELEMENT_TYPE_FLOAT64)
			return true;
	return false;
}

static bool is_choice(const struct insn_case *c)
{
	const char *m = c->mnemonic + (c->mnemonic[0] == 'v');

	return strncmp(m, "min", 3) == 0 || strncmp(m, "max", 3) == 0;
}

unsigned insn_may_be_unknown(const struct insn_case *c, const struct native_state *after)
{
	bool scalar_fused =
		strncmp(c->mnemonic, "vfm", 3) == 0 && c->mnemonic[strlen(c->mnemonic) - 2] == 's';
	unsigned what = 0;
	size_t i;

	for (i = 0; i < sizeof(exceptions) / sizeof(*exceptions); i++)
		if (strncmp(exceptions[i].begins, c->mnemonic, strlen(exceptions[i].begins)) == 0)
			what |= exceptions[i].what;
	/* What a condition is that depends on flags that are not known. */
	if (c->tests_flags &&
	    (insn_undefined_flags(c) || insn_unknown_flags(c) || (what & RULE_FLAGS)))
		what |= RULE_MEMORY;
	/* VEX clears what is above the scalar, the processor leaves it. */
	if (scalar_fused)
		what |= RULE_VECTOR;
	/* Which denormal number min and max give back that they have taken for zero. */
	if (works_on_floats(c) && (c->in.mxcsr & 0x40) && is_choice(c))
		what |= RULE_VECTOR;
	/* Whether what a library has rounded to the smallest number would be flushed. */
	if (strncmp(c->mnemonic, "vfm", 3) == 0 && (c->in.mxcsr & 0x8000))
		what |= RULE_VECTOR;
	/* Whether a 32-bit register that keeps its value keeps its upper half, too. */
	if (strcmp(c->mnemonic, "cmpxchg") == 0 && c->operands[1].size == 32)
		what |= RULE_GENERAL;
	if ((strcmp(c->mnemonic, "rol") == 0 || strcmp(c->mnemonic, "ror") == 0) &&
	    count_of(c) % c->operands[0].size == 0)
		what |= RULE_GENERAL | RULE_MEMORY | RULE_FLAGS;
	/* Of no bits, the place of the first is undefined. */
	if ((strcmp(c->mnemonic, "bsf") == 0 || strcmp(c->mnemonic, "bsr") == 0) &&
	    (after->flags & Z))
		what |= RULE_GENERAL;
	return what;
}

uint64_t insn_unknown_flags(const struct insn_case *c)
{
	switch (c->insn.mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
		/* By how much was shifted is not seen when flags are computed. */
		return c->operands[0].size < 32 ? O | C : O;
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return O;
	case ZYDIS_MNEMONIC_BEXTR:
		return C | Z | O;
	default:
		return 0;
	}
}

uint64_t insn_unknown_lanes(const struct insn_case *c, uint64_t after)
{
	uint64_t high = UINT64_MAX << 32, unknown = 0;

	if (!works_on_floats(c))
		return 0;
	if (after << 1 > UINT64_C(0x7ff) << 53)
		return UINT64_MAX;
	if ((uint32_t)after << 1 > 0xff000000)
		unknown |= UINT32_MAX;
	if ((uint32_t)(after >> 32) << 1 > 0xff000000)
		unknown |= high;
	return unknown;
}
