/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arithmetic of floating-point numbers, by the instructions themselves: what a walk runs in has the
 * default MXCSR, and so must the program.
 */
#include "cmd/walker/walk_vec.h"

/* All exceptions masked, to the nearest, denormal numbers as they are; flags do not count. */
#define MXCSR_DEFAULT 0x1f80u
#define MXCSR_FLAGS   0x3fu

#define OP_SQRT	   0x51
#define OP_ADD	   0x58
#define OP_MUL	   0x59
#define OP_CONVERT 0x5a
#define OP_SUB	   0x5c
#define OP_MIN	   0x5d
#define OP_DIV	   0x5e
#define OP_MAX	   0x5f
#define OP_COMPARE 0xc2

/* a = a operation b, of the numbers in the low bits. */
#define BINARY(insn, type)                                                                         \
	do {                                                                                       \
		type x, y;                                                                         \
		__builtin_memcpy(&x, &a, sizeof(x));                                               \
		__builtin_memcpy(&y, &b, sizeof(y));                                               \
		__asm__(insn " %1, %0" : "+x"(x) : "x"(y));                                        \
		a = 0;                                                                             \
		__builtin_memcpy(&a, &x, sizeof(x));                                               \
	} while (0)

#define EITHER(name)                                                                               \
	do {                                                                                       \
		if (size == 8)                                                                     \
			BINARY(name "sd", double);                                                 \
		else                                                                               \
			BINARY(name "ss", float);                                                  \
	} while (0)

static uint64_t compute(unsigned op, unsigned size, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_SQRT:
		EITHER("sqrt");
		break;
	case OP_ADD:
		EITHER("add");
		break;
	case OP_MUL:
		EITHER("mul");
		break;
	case OP_SUB:
		EITHER("sub");
		break;
	case OP_MIN:
		EITHER("min");
		break;
	case OP_DIV:
		EITHER("div");
		break;
	default:
		EITHER("max");
		break;
	}
	return a;
}

static uint64_t convert(unsigned size, uint64_t b)
{
	float narrow = 0;
	double wide = 0;
	uint64_t r = 0;

	if (size == 8) {
		__builtin_memcpy(&wide, &b, sizeof(wide));
		__asm__("cvtsd2ss %1, %0" : "+x"(narrow) : "x"(wide));
		__builtin_memcpy(&r, &narrow, sizeof(narrow));
	} else {
		__builtin_memcpy(&narrow, &b, sizeof(narrow));
		__asm__("cvtss2sd %1, %0" : "+x"(wide) : "x"(narrow));
		__builtin_memcpy(&r, &wide, sizeof(wide));
	}
	return r;
}

/* The first eight predicates of cmpss and its like. */
static uint64_t compare(unsigned predicate, unsigned size, uint64_t a, uint64_t b)
{
	double x, y;
	float f;
	bool r;

	if (size == 4) {
		__builtin_memcpy(&f, &a, sizeof(f));
		x = (double)f;
		__builtin_memcpy(&f, &b, sizeof(f));
		y = (double)f;
	} else {
		__builtin_memcpy(&x, &a, sizeof(x));
		__builtin_memcpy(&y, &b, sizeof(y));
	}
	switch (predicate & 3) {
	case 0:
		r = x == y;
		break;
	case 1:
		r = x < y;
		break;
	case 2:
		r = x <= y;
		break;
	default:
		r = __builtin_isunordered(x, y);
		break;
	}
	return r == (predicate < 4) ? bits_of(size) : 0;
}

static uint64_t result_of_elements(const struct insn *i, unsigned size, uint64_t a, uint64_t b)
{
	if (i->op == OP_COMPARE)
		return compare((unsigned)i->imm & 7, size, a, b);
	return compute(i->op, size, a, b);
}

static void each_element(struct walk *w, unsigned size)
{
	unsigned bytes = w->insn.vbytes, at;
	struct vec a =
		w->insn.op == OP_SQRT ? walk_vec(w, w->insn.reg, 0) : walk_vec_first(w, bytes);
	struct vec b = walk_vec_rm(w, bytes, size);
	uint8_t known = w->insn.op == OP_SQRT ? b.known : a.known & b.known;

	for (at = 0; at < bytes; at += size) {
		uint64_t r = result_of_elements(&w->insn, size, bits_of_element(a.bytes + at, size),
						bits_of_element(b.bytes + at, size));

		__builtin_memcpy(w->operand[2] + at, &r, size);
	}
	walk_vec_set(w, w->insn.reg, bytes, known);
}

/* The low element; what is above it, up to 16 bytes, is the first source's. */
static void low_element(struct walk *w, unsigned size)
{
	const struct insn *i = &w->insn;
	struct vec a = walk_vec_first(w, 16), b = walk_vec_rm(w, size, 0);
	unsigned to = i->op == OP_CONVERT ? 12 - size : size;
	bool uses_first = i->op != OP_CONVERT && i->op != OP_SQRT;
	bool known = b.known & 1 && (a.known & 1 || (to == 8 && !uses_first));
	uint64_t x = bits_of_element(a.bytes, size), y = bits_of_element(b.bytes, size);
	uint64_t r = i->op == OP_CONVERT ? convert(size, y) : result_of_elements(i, size, x, y);

	__builtin_memcpy(w->operand[2], a.bytes, 16);
	__builtin_memcpy(w->operand[2], &r, to);
	walk_vec_set(w, i->reg, 16, (uint8_t)((a.known & 2) | known));
}

static bool is_arithmetic(const struct insn *i)
{
	switch (i->op) {
	case OP_SQRT:
	case OP_ADD:
	case OP_MUL:
	case OP_SUB:
	case OP_MIN:
	case OP_DIV:
	case OP_MAX:
		return true;
	case OP_CONVERT:
		return i->pp >= INSN_PP_F3;
	case OP_COMPARE:
		return i->encoding != INSN_EVEX && (uint64_t)i->imm < 8;
	default:
		return false;
	}
}

bool walk_vec_float(struct walk *w)
{
	const struct insn *i = &w->insn;

	if (i->map != 1 || !is_arithmetic(i) || (w->start->mxcsr & ~MXCSR_FLAGS) != MXCSR_DEFAULT)
		return false;
	/* Masks are left out, and rounding that EVEX gives to registers. */
	if (i->encoding == INSN_EVEX && (i->aaa || (i->bcst && !i->memory)))
		return false;
	if (i->pp >= INSN_PP_F3)
		low_element(w, i->pp == INSN_PP_F2 ? 8 : 4);
	else
		each_element(w, i->pp ? 8 : 4);
	return true;
}
