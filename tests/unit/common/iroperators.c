/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/iroperators.h"

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/lift/word.h"

#define OPS4(name, how)                                                                            \
	{Iop_##name##8, 8, 8, 8, how}, {Iop_##name##16, 16, 16, 16, how},                          \
		{Iop_##name##32, 32, 32, 32, how},                                                 \
	{                                                                                          \
		Iop_##name##64, 64, 64, 64, how                                                    \
	}
#define COMPARES(name, how)                                                                        \
	{Iop_##name##8, 8, 8, 1, how}, {Iop_##name##16, 16, 16, 1, how},                           \
		{Iop_##name##32, 32, 32, 1, how},                                                  \
	{                                                                                          \
		Iop_##name##64, 64, 64, 1, how                                                     \
	}
#define SHIFTS(name, how)                                                                          \
	{Iop_##name##8, 8, 8, 8, how}, {Iop_##name##16, 16, 8, 16, how},                           \
		{Iop_##name##32, 32, 8, 32, how},                                                  \
	{                                                                                          \
		Iop_##name##64, 64, 8, 64, how                                                     \
	}
#define CONVERT(op, from, to, how)                                                                 \
	{                                                                                          \
		Iop_##op, from, 0, to, how                                                         \
	}

const struct operator iroperators[IROPERATORS] = {
	OPS4(Add, '+'),
	OPS4(Sub, '-'),
	OPS4(And, '&'),
	OPS4(Or, '|'),
	OPS4(Xor, '^'),
	OPS4(Mul, '*'),
	SHIFTS(Shl, 'l'),
	SHIFTS(Shr, 'r'),
	SHIFTS(Sar, 'a'),
	COMPARES(CmpEQ, '='),
	COMPARES(CmpEQ, '='),
	COMPARES(CmpNE, '!'),
	COMPARES(CasCmpEQ, '='),
	COMPARES(CasCmpNE, '!'),
	COMPARES(ExpCmpNE, '!'),
	{Iop_CmpLT32S, 32, 32, 1, '<'},
	{Iop_CmpLT64S, 64, 64, 1, '<'},
	{Iop_CmpLE32S, 32, 32, 1, '{'},
	{Iop_CmpLE64S, 64, 64, 1, '{'},
	{Iop_CmpLT32U, 32, 32, 1, 'u'},
	{Iop_CmpLT64U, 64, 64, 1, 'u'},
	{Iop_CmpLE32U, 32, 32, 1, 'U'},
	{Iop_CmpLE64U, 64, 64, 1, 'U'},
	{Iop_And1, 1, 1, 1, '&'},
	{Iop_Or1, 1, 1, 1, '|'},
	{Iop_8HLto16, 8, 8, 16, 'j'},
	{Iop_16HLto32, 16, 16, 32, 'j'},
	{Iop_32HLto64, 32, 32, 64, 'j'},
	CONVERT(CmpNEZ8, 8, 1, 'z'),
	CONVERT(CmpNEZ16, 16, 1, 'z'),
	CONVERT(CmpNEZ32, 32, 1, 'z'),
	CONVERT(CmpNEZ64, 64, 1, 'z'),
	CONVERT(Not1, 1, 1, '~'),
	CONVERT(Not8, 8, 8, '~'),
	CONVERT(Not16, 16, 16, '~'),
	CONVERT(Not32, 32, 32, '~'),
	CONVERT(Not64, 64, 64, '~'),
	CONVERT(1Uto8, 1, 8, 'c'),
	CONVERT(1Uto32, 1, 32, 'c'),
	CONVERT(1Uto64, 1, 64, 'c'),
	CONVERT(1Sto8, 1, 8, 's'),
	CONVERT(1Sto16, 1, 16, 's'),
	CONVERT(1Sto32, 1, 32, 's'),
	CONVERT(1Sto64, 1, 64, 's'),
	CONVERT(8Uto16, 8, 16, 'c'),
	CONVERT(8Uto32, 8, 32, 'c'),
	CONVERT(8Uto64, 8, 64, 'c'),
	CONVERT(16Uto32, 16, 32, 'c'),
	CONVERT(16Uto64, 16, 64, 'c'),
	CONVERT(32Uto64, 32, 64, 'c'),
	CONVERT(8Sto16, 8, 16, 's'),
	CONVERT(8Sto32, 8, 32, 's'),
	CONVERT(8Sto64, 8, 64, 's'),
	CONVERT(16Sto32, 16, 32, 's'),
	CONVERT(16Sto64, 16, 64, 's'),
	CONVERT(32Sto64, 32, 64, 's'),
	CONVERT(32to1, 32, 1, 'c'),
	CONVERT(64to1, 64, 1, 'c'),
	CONVERT(16to8, 16, 8, 'c'),
	CONVERT(32to8, 32, 8, 'c'),
	CONVERT(64to8, 64, 8, 'c'),
	CONVERT(32to16, 32, 16, 'c'),
	CONVERT(64to16, 64, 16, 'c'),
	CONVERT(64to32, 64, 32, 'c'),
	CONVERT(16HIto8, 16, 8, 'h'),
	CONVERT(32HIto16, 32, 16, 'h'),
	CONVERT(64HIto32, 64, 32, 'h'),
};

int64_t iroperator_signed(uint64_t v, unsigned bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

uint64_t iroperator_compute(const struct operator* o, uint64_t a, uint64_t b)
{
	uint64_t r;

	switch (o->how) {
	case '+':
		r = a + b;
		break;
	case '-':
		r = a - b;
		break;
	case '&':
		r = a & b;
		break;
	case '|':
		r = a | b;
		break;
	case '^':
		r = a ^ b;
		break;
	case '*':
		r = a * b;
		break;
	case '~':
		r = ~a;
		break;
	case 'l':
		r = a << b;
		break;
	case 'r':
		r = a >> b;
		break;
	case 'a':
		r = (uint64_t)(iroperator_signed(a, o->a) >> b);
		break;
	case '=':
		r = a == b;
		break;
	case '!':
		r = a != b;
		break;
	case '<':
		r = iroperator_signed(a, o->a) < iroperator_signed(b, o->b);
		break;
	case '{':
		r = iroperator_signed(a, o->a) <= iroperator_signed(b, o->b);
		break;
	case 'u':
		r = a < b;
		break;
	case 'U':
		r = a <= b;
		break;
	case 'j':
		r = a << o->a | b;
		break;
	case 'z':
		r = a != 0;
		break;
	case 's':
		r = (uint64_t)iroperator_signed(a, o->a);
		break;
	case 'h':
		r = a >> o->to;
		break;
	default:
		r = a;
		break;
	}
	return r & vt_low_bits(o->to);
}
