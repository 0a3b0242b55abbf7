/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/walker/decode.h"

/* What follows an opcode: a ModRM byte, and an immediate of a kind. */
#define M	    0x80 /* ModRM */
#define B	    1	 /* 1 byte */
#define W	    2	 /* 2 bytes */
#define Z	    3	 /* 2 or 4 bytes, by the operand's size */
#define D	    4	 /* 4 bytes */
#define V	    5	 /* 2, 4 or 8 bytes, by the operand's size */
#define O	    6	 /* an address */
#define WB	    7	 /* 3 bytes */
#define G	    8	 /* of a group whose first two members alone have an immediate: 1 byte */
#define GZ	    9	 /* likewise: 2 or 4 bytes */
#define X	    10	 /* no instruction */
#define CUT	    11	 /* not complete */
#define MB	    (M | B)
#define MZ	    (M | Z)
#define MG	    (M | G)
#define KIND(entry) ((entry)&0x7f)

/* Prefixes and escapes have no entries of their own: they are taken in front of the tables. */
static const uint8_t one_byte[256] = {
	M,  M,	M, M,  B, Z, X,	 X,	 M,  M,	 M, M,	B, Z, X, X, /* 00 */
	M,  M,	M, M,  B, Z, X,	 X,	 M,  M,	 M, M,	B, Z, X, X, /* 10 */
	M,  M,	M, M,  B, Z, X,	 X,	 M,  M,	 M, M,	B, Z, X, X, /* 20 */
	M,  M,	M, M,  B, Z, X,	 X,	 M,  M,	 M, M,	B, Z, X, X, /* 30 */
	X,  X,	X, X,  X, X, X,	 X,	 X,  X,	 X, X,	X, X, X, X, /* 40 */
	0,  0,	0, 0,  0, 0, 0,	 0,	 0,  0,	 0, 0,	0, 0, 0, 0, /* 50 */
	X,  X,	X, M,  X, X, X,	 X,	 Z,  MZ, B, MB, 0, 0, 0, 0, /* 60 */
	B,  B,	B, B,  B, B, B,	 B,	 B,  B,	 B, B,	B, B, B, B, /* 70 */
	MB, MZ, X, MB, M, M, M,	 M,	 M,  M,	 M, M,	M, M, M, M, /* 80 */
	0,  0,	0, 0,  0, 0, 0,	 0,	 0,  0,	 X, 0,	0, 0, 0, 0, /* 90 */
	O,  O,	O, O,  0, 0, 0,	 0,	 B,  Z,	 0, 0,	0, 0, 0, 0, /* a0 */
	B,  B,	B, B,  B, B, B,	 B,	 V,  V,	 V, V,	V, V, V, V, /* b0 */
	MB, MB, W, 0,  X, X, MB, MZ,	 WB, 0,	 W, 0,	0, B, X, 0, /* c0 */
	M,  M,	M, M,  X, X, X,	 0,	 M,  M,	 M, M,	M, M, M, M, /* d0 */
	B,  B,	B, B,  B, B, B,	 B,	 D,  D,	 X, B,	0, 0, 0, 0, /* e0 */
	X,  0,	X, X,  0, 0, MG, M | GZ, 0,  0,	 0, 0,	0, 0, M, M, /* f0 */
};

static const uint8_t two_byte[256] = {
	M,  M,	M,  M,	X,  0,	0,  0, 0, 0, X,	 0, X,	M, 0, MB, /* 00 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* 10 */
	M,  M,	M,  M,	X,  X,	X,  X, M, M, M,	 M, M,	M, M, M,  /* 20 */
	0,  0,	0,  0,	0,  0,	X,  0, X, X, X,	 X, X,	X, X, X,  /* 30 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* 40 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* 50 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* 60 */
	MB, MB, MB, MB, M,  M,	M,  0, M, M, M,	 M, M,	M, M, M,  /* 70 */
	D,  D,	D,  D,	D,  D,	D,  D, D, D, D,	 D, D,	D, D, D,  /* 80 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* 90 */
	0,  0,	0,  M,	MB, M,	M,  M, 0, 0, 0,	 M, MB, M, M, M,  /* a0 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, MB, M, M,	M, M, M,  /* b0 */
	M,  M,	MB, M,	MB, MB, MB, M, 0, 0, 0,	 0, 0,	0, 0, 0,  /* c0 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* d0 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* e0 */
	M,  M,	M,  M,	M,  M,	M,  M, M, M, M,	 M, M,	M, M, M,  /* f0 */
};

/* The bytes that are left. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

static bool left(const struct cursor *c, int n)
{
	return c->end - c->at >= n;
}

static int64_t get(struct cursor *c, int n)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < n; i++)
		v |= (uint64_t)c->at[i] << 8 * i;
	c->at += n;
	return (int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);
}

/* ---- the factor of an EVEX displacement of 1 byte ---- */

/* The bytes of a lane of an instruction of one lane: of floating point by the prefix or W. */
static unsigned lane_of(const struct insn *i)
{
	return i->w ? 8 : 4;
}

static unsigned half(const struct insn *i, unsigned shift)
{
	return i->vbytes >> shift;
}

static unsigned factor_map1(const struct insn *i)
{
	bool scalar = i->pp >= INSN_PP_F3;
	unsigned single = i->pp == INSN_PP_F2 ? 8 : 4;

	switch (i->op) {
	case 0x10:
	case 0x11:
	case 0x51:
	case 0x58:
	case 0x59:
	case 0x5c:
	case 0x5d:
	case 0x5e:
	case 0x5f:
	case 0xc2:
		return scalar ? single : 0;
	case 0x5a:
		return scalar ? single : i->pp == INSN_PP_NONE && !i->bcst ? half(i, 1) : 0;
	case 0x12:
		return i->pp == INSN_PP_F3 || (i->pp == INSN_PP_F2 && i->vbytes > 16) ? 0 : 8;
	case 0x16:
		return i->pp == INSN_PP_F3 ? 0 : 8;
	case 0x13:
	case 0x17:
	case 0xd6:
		return 8;
	case 0x2a:
	case 0x6e:
		return lane_of(i);
	case 0x2c:
	case 0x2d:
		return single;
	case 0x2e:
	case 0x2f:
		return i->pp == INSN_PP_66 ? 8 : 4;
	case 0x7e:
		return i->pp == INSN_PP_F3 ? 8 : lane_of(i);
	case 0xc4:
		return 2;
	case 0xd1:
	case 0xd2:
	case 0xd3:
	case 0xe1:
	case 0xe2:
	case 0xf1:
	case 0xf2:
	case 0xf3:
		return 16;
	case 0xe6:
		return i->pp == INSN_PP_F3 && !i->w && !i->bcst ? half(i, 1) : 0;
	case 0x78:
	case 0x79:
		if (scalar)
			return single;
		return i->pp == INSN_PP_66 && !i->w && !i->bcst ? half(i, 1) : 0;
	case 0x7a:
		return (i->pp == INSN_PP_66 || i->pp == INSN_PP_F3) && !i->w && !i->bcst
			       ? half(i, 1)
			       : 0;
	case 0x7b:
		if (scalar)
			return lane_of(i);
		return i->pp == INSN_PP_66 && !i->w && !i->bcst ? half(i, 1) : 0;
	default:
		return 0;
	}
}

/* The parts of a vector that conversions of integers read or write: 10 to 15, 20 to 25, 30 to 35.
 */
static unsigned part_of(const struct insn *i)
{
	static const uint8_t shifts[6] = {1, 2, 3, 1, 2, 1};

	return half(i, shifts[i->op & 15]);
}

static unsigned factor_map2(const struct insn *i)
{
	unsigned op = i->op, column = op & 15;

	if (op >= 0x10 && op <= 0x35 && column < 6 &&
	    (i->pp == INSN_PP_F3 || (i->pp == INSN_PP_66 && op >= 0x20)))
		return part_of(i);
	if (op >= 0x96 && op <= 0xbf) {
		if (i->pp == INSN_PP_F2) /* four single floats: v4fmaddps and its like */
			return 16;
		/* Scatters, and arithmetic of one lane. */
		return (op >= 0xa0 && op < 0xa4) || (column >= 9 && column & 1) ? lane_of(i) : 0;
	}
	switch (op) {
	case 0x13:
		return i->pp == INSN_PP_66 ? half(i, 1) : 0;
	case 0x18:
	case 0x58:
		return 4;
	case 0x19:
	case 0x59:
		return 8;
	case 0x1a:
	case 0x5a:
		return 16;
	case 0x1b:
	case 0x5b:
		return 32;
	case 0x2d:
	case 0x43:
	case 0x4d:
	case 0x4f:
	case 0x88:
	case 0x89:
	case 0x8a:
	case 0x8b:
	case 0x90:
	case 0x91:
	case 0x92:
	case 0x93:
	case 0xc6:
	case 0xc7:
	case 0xcb:
	case 0xcd:
		return lane_of(i);
	case 0x52:
	case 0x53:
		return i->pp == INSN_PP_F2 ? 16 : 0;
	case 0x62:
	case 0x63:
		return i->w ? 2 : 1;
	case 0x78:
		return 1;
	case 0x79:
		return 2;
	default:
		return 0;
	}
}

static unsigned factor_map3(const struct insn *i)
{
	switch (i->op) {
	case 0x0a: /* of half floats where there is no prefix */
		return i->pp == INSN_PP_NONE ? 2 : 4;
	case 0x0b:
	case 0x16:
	case 0x22:
	case 0x51:
	case 0x55:
		return lane_of(i);
	case 0x27:
	case 0x57:
	case 0x67:
		return i->pp == INSN_PP_NONE ? 2 : lane_of(i);
	case 0x14:
	case 0x20:
		return 1;
	case 0x15:
		return 2;
	case 0x17:
	case 0x21:
		return 4;
	case 0x18:
	case 0x19:
	case 0x38:
	case 0x39:
		return 16;
	case 0x1a:
	case 0x1b:
	case 0x3a:
	case 0x3b:
		return 32;
	case 0x1d:
		return half(i, 1);
	case 0xc2:
		return i->pp == INSN_PP_F3 ? 2 : 0;
	default:
		return 0;
	}
}

/* Half floats: conversions read or write parts, F3 and F2 have one lane. */
static unsigned factor_map5(const struct insn *i)
{
	bool scalar = i->pp >= INSN_PP_F3;

	switch (i->op) {
	case 0x1d:
		return i->pp == INSN_PP_NONE ? 4 : 0;
	case 0x2a:
	case 0x7b:
		return scalar ? lane_of(i) : i->bcst ? 0 : half(i, 2);
	case 0x5a:
		if (scalar)
			return i->pp == INSN_PP_F2 ? 8 : 2;
		return i->pp == INSN_PP_NONE && !i->bcst ? half(i, 2) : 0;
	case 0x5b:
		return i->pp != INSN_PP_NONE && !i->bcst ? half(i, 1) : 0;
	case 0x6e:
	case 0x7e:
	case 0x2e:
	case 0x2f:
		return 2;
	case 0x78:
	case 0x79:
		if (scalar)
			return 2;
		return i->bcst ? 0 : half(i, i->pp == INSN_PP_66 ? 2 : 1);
	case 0x7a:
		return i->pp == INSN_PP_66 && !i->bcst ? half(i, 2) : 0;
	case 0x7d:
		return 0;
	default:
		return scalar ? 2 : 0;
	}
}

static unsigned factor_map6(const struct insn *i)
{
	switch (i->op) {
	case 0x13:
		if (i->pp == INSN_PP_NONE)
			return 2;
		return i->bcst ? 0 : half(i, 1);
	case 0x2d:
	case 0x43:
	case 0x4d:
	case 0x4f:
		return 2;
	case 0x57:
	case 0xd7:
		return 4;
	default:
		return i->op >= 0x99 && i->op < 0xc0 && (i->op & 15) >= 9 && i->op & 1 ? 2 : 0;
	}
}

/* What is broadcast: half floats, unless they are converted from something else. */
static unsigned broadcast_of(const struct insn *i)
{
	bool half_floats = i->map >= 5 || (i->map == 3 && i->pp == INSN_PP_NONE);

	if (i->map == 5 && i->op == 0x1d)
		return 4;
	if (i->map == 6 && (i->op & 0x7f) == 0x56) /* complex numbers */
		return 4;
	if (i->map == 5 &&
	    ((i->op == 0x5b && i->pp == INSN_PP_NONE) || (i->op == 0x5a && i->pp == INSN_PP_66) ||
	     (i->op == 0x7a && i->pp == INSN_PP_F2)))
		return lane_of(i);
	return half_floats ? 2 : lane_of(i);
}

static unsigned disp8_factor(const struct insn *i)
{
	unsigned n = 0;

	switch (i->map) {
	case 1:
		n = factor_map1(i);
		break;
	case 2:
		n = factor_map2(i);
		break;
	case 3:
		n = factor_map3(i);
		break;
	case 5:
		n = factor_map5(i);
		break;
	case 6:
		n = factor_map6(i);
		break;
	default:
		break;
	}
	if (n)
		return n;
	return i->bcst ? broadcast_of(i) : i->vbytes;
}

/* ---- ModRM ---- */

/* `x` and `b` are the extensions of index and base, 0 or 8. */
static bool decode_memory(struct insn *i, struct cursor *c, unsigned x, unsigned b)
{
	unsigned mod = i->modrm >> 6, rm = i->modrm & 7, sib;

	i->base = (uint8_t)(rm | b);
	i->index = INSN_NONE;
	if (rm == 4) {
		if (!left(c, 1))
			return false;
		sib = *c->at++;
		i->scale = (uint8_t)(sib >> 6);
		i->index = (uint8_t)((sib >> 3 & 7) | x);
		i->vindex = (uint8_t)(i->vindex | i->index);
		if (i->index == 4)
			i->index = INSN_NONE;
		rm = sib & 7;
		i->base = (uint8_t)(rm | b);
		if (rm == 5 && mod == 0) {
			i->base = INSN_NONE;
			mod = 2;
		}
	} else if (rm == 5 && mod == 0) {
		i->base = INSN_IP;
		mod = 2;
	}
	if (mod == 1) {
		if (!left(c, 1))
			return false;
		i->disp = (int32_t)get(c, 1);
		if (i->encoding == INSN_EVEX)
			i->disp *= (int32_t)disp8_factor(i);
	} else if (mod == 2) {
		if (!left(c, 4))
			return false;
		i->disp = (int32_t)get(c, 4);
	}
	return true;
}

/* `ext` has the bits of REX: 4 R, 2 X, 1 B. */
static bool decode_modrm(struct insn *i, struct cursor *c, unsigned ext)
{
	bool no_memory = i->encoding == INSN_LEGACY && i->map == 1 && (i->op & 0xfc) == 0x20;

	if (!left(c, 1))
		return false;
	i->modrm = *c->at++;
	i->has_modrm = true;
	i->reg = (uint8_t)(i->reg | (i->modrm >> 3 & 7) | (ext & 4) << 1);
	if (i->modrm >= 0xc0 || no_memory) {
		i->rm = (uint8_t)((i->modrm & 7) | (ext & 1) << 3);
		if (i->encoding == INSN_EVEX)
			i->rm = (uint8_t)(i->rm | (ext & 2) << 3);
		return true;
	}
	i->memory = true;
	return decode_memory(i, c, (ext & 2) << 2, (ext & 1) << 3);
}

/* ---- immediates ---- */

static int size_of_immediate(const struct insn *i, unsigned kind)
{
	int z = i->data16 && !i->w ? 2 : 4;

	switch (kind) {
	case B:
		return 1;
	case W:
		return 2;
	case Z:
		return z;
	case D:
		return 4;
	case V:
		return i->w ? 8 : z;
	case O:
		return i->addr32 ? 4 : 8;
	case WB:
		return 3;
	case G:
		return (i->modrm & 0x30) == 0;
	case GZ:
		return (i->modrm & 0x30) == 0 ? z : 0;
	default:
		return 0;
	}
}

static bool decode_immediate(struct insn *i, struct cursor *c, unsigned kind)
{
	int n = size_of_immediate(i, kind);

	if (n == 0)
		return true;
	if (!left(c, n))
		return false;
	i->imm = get(c, n);
	if (kind == O && n == 4)
		i->imm = (uint32_t)i->imm;
	return true;
}

/* ---- VEX, EVEX, XOP ---- */

/* The entry of an opcode behind a prefix of vectors. */
static unsigned vector_entry(const struct insn *i)
{
	if (i->encoding == INSN_XOP)
		return i->map == 8 ? MB : i->map == 10 ? M | D : M;
	if (i->map == 1)
		return i->op == 0x77 && i->encoding == INSN_VEX ? 0 : (two_byte[i->op] & MB) | M;
	return i->map == 3 ? MB : M;
}

/* The third byte of VEX and XOP, the only one of the short VEX. */
static void vex_last(struct insn *i, unsigned byte)
{
	i->vvvv = (uint8_t)(~byte >> 3 & 15);
	i->vbytes = byte & 4 ? 32 : 16;
	i->pp = byte & 3;
}

static unsigned decode_vex(struct insn *i, struct cursor *c, unsigned first)
{
	unsigned ext;

	i->encoding = first == 0x8f ? INSN_XOP : INSN_VEX;
	ext = ~(unsigned)c->at[0] >> 5 & 7;
	if (first == 0xc5) {
		i->map = 1;
		vex_last(i, c->at[0]);
		c->at++;
		return ext & 4;
	}
	i->map = c->at[0] & 31;
	i->w = c->at[1] >> 7;
	vex_last(i, c->at[1]);
	c->at += 2;
	return ext;
}

static unsigned decode_evex(struct insn *i, struct cursor *c)
{
	unsigned p0 = c->at[0], p1 = c->at[1], p2 = c->at[2];

	i->encoding = INSN_EVEX;
	i->map = p0 & 7;
	i->w = p1 >> 7;
	i->pp = p1 & 3;
	i->vvvv = (uint8_t)((~p1 >> 3 & 15) | (~p2 << 1 & 16));
	i->vindex = (uint8_t)(~p2 << 1 & 16);
	i->reg = (uint8_t)(~p0 & 16);
	/* Where there is no length 3, it is rounding, or ignored. */
	i->vbytes = (uint8_t)((p2 >> 5 & 3) == 3 ? 64 : 16 << (p2 >> 5 & 3));
	i->zero = p2 >> 7;
	i->bcst = p2 >> 4 & 1;
	i->aaa = p2 & 7;
	c->at += 3;
	return ~p0 >> 5 & 7;
}

/* The rest of an instruction from its entry on. */
static int decode_rest(struct insn *i, struct cursor *c, unsigned entry, unsigned ext)
{
	if (KIND(entry) == X)
		return -1;
	if (entry & M && !decode_modrm(i, c, ext))
		return 0;
	return decode_immediate(i, c, KIND(entry)) ? 1 : 0;
}

static int decode_vector(struct insn *i, struct cursor *c, unsigned first)
{
	int bytes = first == 0xc5 ? 1 : first == 0x62 ? 3 : 2;
	unsigned ext;

	if (!left(c, bytes + 1))
		return 0;
	ext = first == 0x62 ? decode_evex(i, c) : decode_vex(i, c, first);
	i->op = *c->at++;
	if (i->encoding == INSN_VEX && (i->map == 0 || i->map > 3))
		return -1;
	if (i->encoding == INSN_EVEX && (i->map == 0 || i->map == 4 || i->map == 7))
		return -1;
	return decode_rest(i, c, vector_entry(i), ext);
}

/* ---- legacy ---- */

/* Takes prefixes; false: nothing is left.  *rex is the last byte, if it is REX, else 0. */
static bool decode_prefixes(struct insn *i, struct cursor *c, unsigned *rex)
{
	*rex = 0;
	for (;; c->at++) {
		unsigned b;

		if (!left(c, 1))
			return false;
		b = *c->at;
		if ((b & 0xf0) == 0x40) {
			*rex = b;
			continue;
		}
		if (b == 0x66)
			i->data16 = true;
		else if (b == 0x67)
			i->addr32 = true;
		else if (b == 0xf2 || b == 0xf3)
			i->rep = (uint8_t)b;
		else if (b == 0xf0)
			i->lock = true;
		else if (b == 0x64 || b == 0x65)
			i->segment = (uint8_t)b;
		else if ((b & 0xe7) != 0x26) /* es, cs, ss, ds: without effect */
			return true;
		*rex = 0;
	}
}

/* Takes the opcode and returns its entry. */
static unsigned decode_opcode(struct insn *i, struct cursor *c)
{
	i->op = *c->at++;
	if (i->op != 0x0f)
		return one_byte[i->op];
	if (!left(c, 1))
		return CUT;
	i->map = 1;
	i->op = *c->at++;
	if (i->op == 0x38 || i->op == 0x3a) {
		i->map = i->op == 0x38 ? 2 : 3;
		if (!left(c, 1))
			return CUT;
		i->op = *c->at++;
		return i->map == 2 ? M : MB;
	}
	/* AMD's extrq and insertq have two bytes behind ModRM. */
	if (i->op == 0x78 && (i->rep == 0xf2 || i->data16))
		return M | W;
	return two_byte[i->op];
}

static bool is_vector_prefix(const struct cursor *c, unsigned byte)
{
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return true;
	return byte == 0x8f && left(c, 2) && (c->at[1] & 31) >= 8;
}

static int decode_one(struct insn *i, struct cursor *c)
{
	unsigned rex, entry, first;

	if (!decode_prefixes(i, c, &rex))
		return 0;
	first = *c->at;
	if (first == 0x8f && !left(c, 2))
		return 0;
	if (is_vector_prefix(c, first)) {
		c->at++;
		return rex || i->data16 || i->rep || i->lock ? -1 : decode_vector(i, c, first);
	}
	i->rex = rex != 0;
	i->w = rex >> 3 & 1;
	i->vbytes = 16;
	i->pp = i->rep == 0xf3 ? INSN_PP_F3 : i->rep == 0xf2 ? INSN_PP_F2 : i->data16;
	entry = decode_opcode(i, c);
	if (entry == CUT)
		return 0;
	/* An opcode's own register takes B. */
	i->rm = (uint8_t)((i->op & 7) | (rex & 1) << 3);
	return decode_rest(i, c, entry, rex & 7);
}

int insn_decode(struct insn *insn, const uint8_t *code, size_t size)
{
	struct cursor c = {code, code + (size < INSN_MAX ? size : INSN_MAX)};
	int got;

	*insn = (struct insn){.base = INSN_NONE, .index = INSN_NONE};
	got = decode_one(insn, &c);
	if (got <= 0)
		return got;
	/* Where EVEX rounds, its length is that of a whole register. */
	if (insn->encoding == INSN_EVEX && !insn->memory && insn->bcst)
		insn->vbytes = 64;
	insn->length = (uint8_t)(c.at - code);
	return insn->length;
}
