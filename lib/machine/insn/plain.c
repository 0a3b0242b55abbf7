/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/insn/plain.h"

#include <stdbool.h>

#include "base/bytes.h"

/* What follows an opcode. */
enum shape {
	OTHER,	 /* not known here */
	NOTHING, /* and so on: an immediate number of a byte, of 2 or 4, of 2, 4 or 8 */
	BYTE,
	NUMBER,
	WIDE,
	MODRM, /* a register or memory, alone or with an immediate number */
	MODRM_BYTE,
	MODRM_NUMBER,
	MEMORY,	   /* memory only */
	FIRST_TWO, /* MODRM, but only the first two instructions of a group */
	SHIFT,	   /* all but the seventh */
	SHIFT_BYTE,
	TEST_BYTE, /* the first has a number, the second is none of ours */
	TEST_NUMBER,
	PUSH,	   /* the first two, and the seventh */
	MOVE_BYTE, /* the first only */
	MOVE_NUMBER,
	BITS, /* MODRM_BYTE, the last four */
};

static const uint8_t shapes[256] = {
#define ARITHMETIC(op)                                                                             \
	[(op)] = MODRM, [(op) + 1] = MODRM, [(op) + 2] = MODRM, [(op) + 3] = MODRM,                \
	[(op) + 4] = BYTE, [(op) + 5] = NUMBER
	ARITHMETIC(0x00),
	ARITHMETIC(0x08),
	ARITHMETIC(0x10),
	ARITHMETIC(0x18),
	ARITHMETIC(0x20),
	ARITHMETIC(0x28),
	ARITHMETIC(0x30),
	ARITHMETIC(0x38),
#undef ARITHMETIC
	[0x50 ... 0x5f] = NOTHING,
	[0x63] = MODRM,
	[0x68] = NUMBER,
	[0x69] = MODRM_NUMBER,
	[0x6a] = BYTE,
	[0x6b] = MODRM_BYTE,
	[0x80] = MODRM_BYTE,
	[0x81] = MODRM_NUMBER,
	[0x83] = MODRM_BYTE,
	[0x84 ... 0x8b] = MODRM,
	[0x8d] = MEMORY,
	[0x90 ... 0x99] = NOTHING,
	[0xa8] = BYTE,
	[0xa9] = NUMBER,
	[0xb0 ... 0xb7] = BYTE,
	[0xb8 ... 0xbf] = WIDE,
	[0xc0 ... 0xc1] = SHIFT_BYTE,
	[0xc6] = MOVE_BYTE,
	[0xc7] = MOVE_NUMBER,
	[0xc9] = NOTHING,
	[0xd0 ... 0xd3] = SHIFT,
	[0xf6] = TEST_BYTE,
	[0xf7] = TEST_NUMBER,
	[0xfe] = FIRST_TWO,
	[0xff] = PUSH,
};

/* The prefixes that an opcode behind 0f may have, and must have one of. */
enum { NONE = 1, P66 = 2, PF2 = 4, PF3 = 8, ANY = NONE | P66 | PF2 | PF3 };

static const struct {
	uint8_t shape;
	uint8_t prefixes;
} shapes_0f[256] = {
	[0x10 ... 0x11] = {MODRM, ANY},
	[0x1f] = {MODRM, NONE | P66},
	[0x28 ... 0x29] = {MODRM, NONE | P66},
	[0x2a] = {MODRM, PF2 | PF3},
	[0x2c ... 0x2d] = {MODRM, PF2 | PF3},
	[0x2e ... 0x2f] = {MODRM, NONE | P66},
	[0x40 ... 0x4f] = {MODRM, NONE | P66},
	[0x51] = {MODRM, ANY},
	[0x54 ... 0x57] = {MODRM, NONE | P66},
	[0x58 ... 0x5a] = {MODRM, ANY},
	[0x5c ... 0x5f] = {MODRM, ANY},
	[0x60 ... 0x6e] = {MODRM, P66},
	[0x6f] = {MODRM, P66 | PF3},
	[0x70] = {MODRM_BYTE, P66},
	[0x74 ... 0x76] = {MODRM, P66},
	[0x7e ... 0x7f] = {MODRM, P66 | PF3},
	[0x90 ... 0x9f] = {MODRM, NONE},
	[0xa3] = {MODRM, NONE | P66},
	[0xab] = {MODRM, NONE | P66},
	[0xaf] = {MODRM, NONE | P66},
	[0xb3] = {MODRM, NONE | P66},
	[0xb6 ... 0xb7] = {MODRM, NONE | P66},
	[0xba] = {BITS, NONE | P66},
	[0xbe ... 0xbf] = {MODRM, NONE | P66},
	[0xc6] = {MODRM_BYTE, NONE | P66},
	[0xc8 ... 0xcf] = {NOTHING, NONE},
	[0xd4] = {MODRM, P66},
	[0xd6] = {MODRM, P66},
	[0xdb] = {MODRM, P66},
	[0xeb] = {MODRM, P66},
	[0xef] = {MODRM, P66},
	[0xfa ... 0xfe] = {MODRM, P66},
};

struct opcode {
	uint8_t shape;
	uint8_t number; /* bytes of its NUMBER, */
	uint8_t wide;	/* and of its WIDE one */
};

/* Reads up to the opcode; returns its length. */
static size_t read_opcode(const uint8_t *bytes, size_t size, struct opcode *o)
{
	size_t at = 0;
	uint8_t prefix = NONE, rex = 0;

	if (bytes[0] == 0x66 || bytes[0] == 0xf2 || bytes[0] == 0xf3)
		prefix = bytes[at++] == 0x66 ? P66 : bytes[0] == 0xf2 ? PF2 : PF3;
	if (at < size && bytes[at] >> 4 == 4)
		rex = bytes[at++];
	o->shape = OTHER;
	o->number = prefix == P66 && !(rex & 8) ? 2 : 4;
	o->wide = rex & 8 ? 8 : o->number;
	if (at >= size)
		return at;
	if (bytes[at] != 0x0f) {
		if (prefix == NONE || prefix == P66)
			o->shape = shapes[bytes[at]];
	} else if (++at < size && shapes_0f[bytes[at]].prefixes & prefix) {
		o->shape = shapes_0f[bytes[at]].shape;
	}
	return at + 1;
}

/* The bytes of an operand's address, with its first one. */
static size_t operand_size(const uint8_t *modrm, size_t size)
{
	static const uint8_t displacement[] = {0, 1, 4, 0};
	uint8_t mod = *modrm >> 6, base = *modrm & 7;
	size_t n = 1;

	if (mod == 3)
		return n;
	if (base == 4) {
		if (size < 2)
			return size + 1;
		base = modrm[1] & 7;
		n++;
	}
	return n + (mod == 0 && base == 5 ? 4 : displacement[mod]);
}

/* Whether an operand belongs to the instructions of a shape, and the bytes behind it. */
static bool fits_shape(const struct opcode *o, uint8_t modrm, size_t *behind)
{
	unsigned nth = modrm >> 3 & 7;

	*behind = 0;
	switch (o->shape) {
	case MODRM:
		return true;
	case MODRM_BYTE:
		*behind = 1;
		return true;
	case MODRM_NUMBER:
		*behind = o->number;
		return true;
	case MEMORY:
		return modrm >> 6 != 3;
	case FIRST_TWO:
		return nth < 2;
	case SHIFT:
		return nth != 6;
	case SHIFT_BYTE:
		*behind = 1;
		return nth != 6;
	case TEST_BYTE:
		*behind = nth ? 0 : 1;
		return nth != 1;
	case TEST_NUMBER:
		*behind = nth ? 0 : o->number;
		return nth != 1;
	case PUSH:
		return nth < 2 || nth == 6;
	case MOVE_BYTE:
		*behind = 1;
		return nth == 0;
	case MOVE_NUMBER:
		*behind = o->number;
		return nth == 0;
	case BITS:
		*behind = 1;
		return nth >= 4;
	default:
		return false;
	}
}

uint8_t vti_plain_length(const uint8_t *bytes, size_t size)
{
	struct opcode o;
	size_t n, behind = 0;

	if (!size)
		return 0;
	n = read_opcode(bytes, size, &o);
	switch (o.shape) {
	case NOTHING:
		break;
	case BYTE:
		n += 1;
		break;
	case NUMBER:
		n += o.number;
		break;
	case WIDE:
		n += o.wide;
		break;
	default:
		if (n >= size || !fits_shape(&o, bytes[n], &behind))
			return 0;
		n += operand_size(bytes + n, size - n) + behind;
	}
	return n <= size ? (uint8_t)n : 0;
}

uint8_t vti_plain_branch(const uint8_t *bytes, size_t size, struct vti_plain *p)
{
	bool far = size > 1 && bytes[0] == 0x0f && bytes[1] >> 4 == 8;
	uint8_t op = size ? bytes[0] : 0, n = 5;

	*p = (struct vti_plain){VTI_PLAIN_BRANCH, 0};
	if (far)
		n = 6;
	else if (op >> 4 == 7 || op == 0xeb)
		n = 2;
	else if (op == 0xc3)
		n = 1;
	else if (op != 0xe8 && op != 0xe9)
		return 0;
	if (n > size)
		return 0;
	if (op == 0xc3)
		p->kind = VTI_PLAIN_RETURN;
	else if (op == 0xe8)
		p->kind = VTI_PLAIN_CALL;
	else if (op == 0xe9 || op == 0xeb)
		p->kind = VTI_PLAIN_JUMP;
	if (n == 2)
		p->target = 2 + (int8_t)bytes[1];
	else if (n > 2)
		p->target = n + (int64_t)(int32_t)vt_le32(bytes + n - 4);
	return n;
}
