/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/block.h"

#include "base/bytes.h"

/*
 * Finds only lengths and transfers of control, of code that has been executed, so it does not check
 * most of what makes an encoding invalid.  As in Intel's reference decoder, everything with a place
 * in the opcode maps is an instruction; new instructions pass, too.
 * Source: Intel SDM volume 2, appendix A, opcode maps.
 */

/* The bytes after an opcode: in the low bits those of an immediate, as a number or one of IMM_*. */
enum {
	NO = 0,
	B1 = 1,
	B2 = 2,
	B3 = 3,
	IMM_Z = 4,     /* 2 or 4, by the operand size */
	IMM_V = 5,     /* 2, 4 or 8, by the operand size */
	IMM_ADDR = 6,  /* 2, 4 or 8, by the address size */
	IMM_REL = 7,   /* IMM_Z, but 4 in 64-bit code */
	IMM_FAR = 8,   /* IMM_Z and 2 more */
	IMM_TEST1 = 9, /* 1 if the register field is 0 or 1 */
	IMM_TESTZ = 10,
	IMM_MOVZ = 11,	/* IMM_Z if the register field is 0, or 7 (xbegin) */
	IMM_SSE4A = 12, /* 2 with a prefix 66 or, the last of its kind, F2 */
	IMM_MASK = 15,
	ODD = 16, /* a prefix, or an escape to another map */
	MODRM = 32,
	NOMEM = 64, /* a ModRM byte whose mod field does not matter */
	LOOK = 128, /* may be a transfer of control, or have a mark */

	MB = MODRM | B1,
	MZ = MODRM | IMM_Z,
	BR = LOOK | B1,
	JR = LOOK | IMM_REL,
	ZZ = IMM_Z,
	VV = IMM_V,
	AA = IMM_ADDR,
	MM = MODRM,
	LL = LOOK,
	OO = ODD,
	OM = ODD | MODRM,
};

static const uint8_t one_byte[256] = {
	/* clang-format off */
	MM, MM, MM, MM, B1, ZZ, NO, NO, MM, MM, MM, MM, B1, ZZ, NO, OO, /* 00 */
	MM, MM, MM, MM, B1, ZZ, NO, NO, MM, MM, MM, MM, B1, ZZ, NO, NO, /* 10 */
	MM, MM, MM, MM, B1, ZZ, OO, NO, MM, MM, MM, MM, B1, ZZ, OO, NO, /* 20 */
	MM, MM, MM, MM, B1, ZZ, OO, NO, MM, MM, MM, MM, B1, ZZ, OO, NO, /* 30 */
	OO, OO, OO, OO, OO, OO, OO, OO, OO, OO, OO, OO, OO, OO, OO, OO, /* 40 */
	NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 50 */
	NO, NO, OM, MM, OO, OO, OO, OO, ZZ, MZ, B1, MB, NO, NO, NO, NO, /* 60 */
	BR, BR, BR, BR, BR, BR, BR, BR, BR, BR, BR, BR, BR, BR, BR, BR, /* 70 */
	MB, MZ, MB, MB, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* 80 */
	NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, LOOK | IMM_FAR, NO, NO, NO, NO, NO, /* 90 */
	AA, AA, AA, AA, NO, NO, NO, NO, B1, ZZ, NO, NO, NO, NO, NO, NO, /* a0 */
	B1, B1, B1, B1, B1, B1, B1, B1, VV, VV, VV, VV, VV, VV, VV, VV, /* b0 */
	MB, MB, LOOK | B2, LL, OM, OM, MB, MODRM | IMM_MOVZ,
	B3, NO, LOOK | B2, LL, LL, BR, LL, LL, /* c0 */
	MM, MM, MM, MM, B1, B1, NO, NO, MM, MM, MM, MM, MM, MM, MM, MM, /* d0 */
	BR, BR, BR, BR, B1, B1, B1, B1, JR, JR, LOOK | IMM_FAR, BR, NO, NO, NO, NO, /* e0 */
	OO, LL, OO, OO, NO, NO, MODRM | IMM_TEST1, MODRM | IMM_TESTZ,
	NO, NO, NO, NO, NO, NO, MM, LOOK | MODRM, /* f0 */
	/* clang-format on */
};

/* After 0F; 38 and 3A lead to other maps. */
static const uint8_t two_byte[256] = {
	/* clang-format off */
	MM, LOOK | MODRM, MM, MM, NO, LL, NO, LL, NO, NO, NO, NO, NO, MM, NO, OO, /* 00 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* 10 */
	NOMEM, NOMEM, NOMEM | LOOK, NOMEM, NO, NO, NO, NO, MM, MM, MM, MM, MM, MM, MM, MM, /* 20 */
	NO, NO, NO, NO, LL, LL, NO, NO, OO, OO, OO, OO, OO, OO, OO, OO, /* 30 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* 40 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* 50 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* 60 */
	MB, MB, MB, MB, MM, MM, MM, NO, MODRM | IMM_SSE4A, MM, MM, MM, MM, MM, MM, MM, /* 70 */
	JR, JR, JR, JR, JR, JR, JR, JR, JR, JR, JR, JR, JR, JR, JR, JR, /* 80 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* 90 */
	NO, NO, NO, MM, MB, MM, NO, NO, NO, NO, NO, MM, MB, MM, LOOK | MODRM, MM, /* a0 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, NO, MB, MM, MM, MM, MM, MM, /* b0 */
	MM, MM, MB, MM, MB, MB, MB, LOOK | MODRM, NO, NO, NO, NO, NO, NO, NO, NO, /* c0 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* d0 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, /* e0 */
	MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, MM, NO, /* f0 */
	/* clang-format on */
};

#define MAX_LENGTH 15

/* The scan of an instruction's bytes. */
struct scan {
	const uint8_t *p;
	unsigned size; /* bytes available, at most MAX_LENGTH */
	unsigned mode;
	unsigned map; /* 0: one byte, 1: after 0F, 2: 0F 38, 3: 0F 3A */
	uint8_t opcode;
	uint8_t modrm;
	uint8_t last; /* of the prefixes F2 and F3; else 0 */
	bool opsize;
	bool addrsize;
	bool f3;
	bool rex_w;
	bool rex_r;
	bool vex;
};

/* Bytes of an operand of 2 or 4 bytes. */
static unsigned get_size_z(const struct scan *s)
{
	if (s->mode == 16)
		return s->opsize ? 4 : 2;
	return s->opsize && !s->rex_w ? 2 : 4;
}

static unsigned get_address_size(const struct scan *s)
{
	if (s->mode == 64)
		return s->addrsize ? 4 : 8;
	return (s->mode == 16) == s->addrsize ? 4 : 2;
}

/* Bytes of the displacement; *sib: 1 if a SIB byte, at `at`, comes before it. */
static unsigned get_displacement_size(const struct scan *s, unsigned at, unsigned *sib)
{
	static const uint8_t sizes16[] = {0, 1, 2, 0}, sizes32[] = {0, 1, 4, 0};
	const unsigned mod = s->modrm >> 6;
	unsigned base = s->modrm & 7;

	*sib = 0;
	if (mod == 3)
		return 0;
	if (get_address_size(s) == 2)
		return mod == 0 && base == 6 ? 2 : sizes16[mod];
	if (base == 4) {
		*sib = 1;
		base = at < s->size ? s->p[at] & 7 : 0;
	}
	return mod == 0 && base == 5 ? 4 : sizes32[mod];
}

static unsigned get_immediate_size(const struct scan *s, unsigned form, unsigned displacement)
{
	const unsigned reg = s->modrm >> 3 & 7;

	if ((form & IMM_MASK) <= B3)
		return form & IMM_MASK;
	switch (form & IMM_MASK) {
	case IMM_Z:
		return get_size_z(s);
	case IMM_V:
		return s->rex_w ? 8 : get_size_z(s);
	case IMM_ADDR:
		return get_address_size(s);
	case IMM_FAR:
		return get_size_z(s) + 2;
	case IMM_REL:
		return s->mode == 64 ? 4 : get_size_z(s);
	case IMM_TEST1:
		return reg < 2;
	case IMM_TESTZ:
		return reg < 2 ? get_size_z(s) : 0;
	case IMM_MOVZ:
		/* xbegin has no memory operand; for others this follows the reference. */
		return reg == 0 || (reg == 7 && !displacement) ? get_size_z(s) : 0;
	case IMM_SSE4A:
		return s->opsize || s->last == 0xf2 ? 2 : 0;
	default:
		return form & IMM_MASK;
	}
}

/* The target of a direct branch whose distance is its last `n` bytes. */
static uint64_t read_branch_target(const uint8_t *next, unsigned n, uint64_t ip)
{
	switch (n) {
	case 1:
		return ip + (uint64_t)(int8_t)next[-1];
	case 2:
		return ip + (uint64_t)(int16_t)vt_le16(next - 2);
	default:
		return ip + (uint64_t)(int32_t)vt_le32(next - 4);
	}
}

static uint8_t classify_one_byte(const struct scan *s)
{
	static const uint8_t group5[8] = {
		VT_PT_END_FALL,	    VT_PT_END_FALL,	     VT_PT_END_CALL_INDIRECT,
		VT_PT_END_FAR_CALL, VT_PT_END_JUMP_INDIRECT, VT_PT_END_FAR_JUMP,
		VT_PT_END_FALL,	    VT_PT_END_FALL,
	};

	switch (s->opcode) {
	case 0xe8:
		return VT_PT_END_CALL;
	case 0xe9:
	case 0xeb:
		return VT_PT_END_JUMP;
	case 0xc2:
	case 0xc3:
		return VT_PT_END_RET;
	case 0xff:
		return group5[s->modrm >> 3 & 7];
	case 0x9a: /* call far */
	case 0xcc: /* int3 */
	case 0xcd: /* int */
	case 0xce: /* into */
	case 0xf1: /* int1 */
		return VT_PT_END_FAR_CALL;
	case 0xca:
	case 0xcb: /* ret far */
	case 0xcf: /* iret */
		return VT_PT_END_FAR_RET;
	case 0xea:
		return VT_PT_END_FAR_JUMP;
	default: /* jcc, loop, jcxz */
		return VT_PT_END_COND;
	}
}

static uint8_t classify_two_byte(const struct scan *s, uint8_t *mark)
{
	const unsigned reg = s->modrm >> 3 & 7;

	switch (s->opcode) {
	case 0x01:
		if (s->modrm == 0xc1) /* vmcall */
			return VT_PT_END_FAR_CALL;
		/* vmlaunch, vmresume, uiret */
		return s->modrm == 0xc2 || s->modrm == 0xc3 || s->modrm == 0xec ? VT_PT_END_FAR_RET
										: VT_PT_END_FALL;
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return VT_PT_END_FAR_CALL;
	case 0x07: /* sysret */
	case 0x35: /* sysexit */
		return VT_PT_END_FAR_RET;
	case 0x22:
		if (reg == 3 && !s->rex_r)
			*mark = VT_PT_MARK_CR3;
		return VT_PT_END_FALL;
	case 0xae:
		if (reg == 4 && s->f3 && !s->opsize)
			*mark = VT_PT_MARK_PTWRITE;
		return VT_PT_END_FALL;
	case 0xc7:
		if (reg == 6 && s->modrm < 0xc0)
			*mark = VT_PT_MARK_VMPTRLD;
		return VT_PT_END_FALL;
	default:
		return VT_PT_END_COND;
	}
}

/* Skips VEX or EVEX, `n` bytes at `at`.  Returns the position of the opcode; s->size: bad. */
static unsigned skip_vector_prefix(struct scan *s, unsigned at, unsigned n)
{
	unsigned payload;

	if (at + 1 >= s->size)
		return s->size;
	payload = s->p[at + 1];
	/* Outside 64-bit code, lds, les and bound have these opcodes, too. */
	if (s->mode != 64 && payload < 0xc0)
		return at;
	if (at + n >= s->size)
		return s->size;
	s->vex = true;
	s->map = n == 2 ? 1 : n == 3 ? payload & 31 : payload & 3;
	s->rex_w = s->mode == 64 && n > 2 && s->p[at + 2] & 0x80;
	return s->map > 4 ? s->size : at + n;
}

/* Skips the prefixes.  Returns the position of the opcode, VEX or EVEX; s->size: none. */
static unsigned skip_legacy_prefixes(struct scan *s)
{
	unsigned i, rex = 0;

	for (i = 0; i < s->size; i++) {
		const uint8_t b = s->p[i];

		if (s->mode == 64 && (b & 0xf0) == 0x40) {
			rex = b;
			continue;
		}
		switch (b) {
		case 0x66:
			s->opsize = true;
			break;
		case 0x67:
			s->addrsize = true;
			break;
		case 0xf3:
			s->f3 = true;
			s->last = b;
			break;
		case 0xf2:
			s->last = b;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			break;
		default:
			s->rex_w = rex & 8;
			s->rex_r = rex & 4;
			return i;
		}
		rex = 0; /* it is valid only right before the opcode */
	}
	return i;
}

/* Returns the position of the opcode; s->size: none. */
static unsigned find_opcode(struct scan *s)
{
	unsigned at = skip_legacy_prefixes(s);

	if (at >= s->size)
		return s->size;
	switch (s->p[at]) {
	case 0x62:
		return skip_vector_prefix(s, at, 4);
	case 0xc4:
		return skip_vector_prefix(s, at, 3);
	case 0xc5:
		return skip_vector_prefix(s, at, 2);
	case 0x0f:
		if (++at >= s->size)
			return s->size;
		s->map = 1;
		if ((s->p[at] & 0xf8) == 0x38) {
			s->map = s->p[at] == 0x3a ? 3 : 2;
			at++;
		}
		return at;
	default:
		return at;
	}
}

static unsigned get_opcode_form(const struct scan *s)
{
	switch (s->map) {
	case 0:
		return one_byte[s->opcode];
	case 1:
		/* 3DNow!, whose opcode comes last. */
		if (s->opcode == 0x0f && !s->vex)
			return MODRM | B1;
		return two_byte[s->opcode];
	case 2:
		return MODRM;
	default:
		return MODRM | B1;
	}
}

/* Scans any instruction; returns the length, or 0. */
static unsigned scan_any(struct scan *s, unsigned *form, unsigned *immediate)
{
	unsigned at = find_opcode(s), displacement = 0, sib;

	if (at >= s->size)
		return 0;
	s->opcode = s->p[at++];
	*form = get_opcode_form(s);
	if (*form & (MODRM | NOMEM)) {
		if (at >= s->size)
			return 0;
		s->modrm = s->p[at++];
		if (*form & MODRM) {
			displacement = get_displacement_size(s, at, &sib);
			at += sib + displacement;
		}
	}
	*immediate = get_immediate_size(s, *form, displacement);
	at += *immediate;
	return at > s->size ? 0 : at;
}

/*
 * Scans the instructions that most 64-bit code consists of: no prefix but REX, enough bytes.  It
 * has few branches, because they would be unpredictable.  0: any other instruction.
 */
static unsigned scan_usual(struct scan *s, unsigned *form, unsigned *immediate)
{
	/* Bytes of ModRM, SIB and displacement, by mod and r/m. */
	static const uint8_t sizes[32] = {1, 1, 1, 1, 2, 5, 1, 1, 2, 2, 2, 2, 3, 2, 2, 2,
					  5, 5, 5, 5, 6, 5, 5, 5, 1, 1, 1, 1, 1, 1, 1, 1};
	static const uint8_t immediates[2][8] = {{0, 1, 2, 3, 4, 4, 8, 4},
						 {0, 1, 2, 3, 4, 8, 8, 4}};
	const uint8_t *p = s->p;
	const unsigned has_rex = (p[0] & 0xf0) == 0x40, rex = p[0] & (0U - has_rex);
	unsigned memory, at = has_rex;

	s->opcode = p[at++];
	*form = one_byte[s->opcode];
	if (s->opcode == 0x0f) {
		s->opcode = p[at++];
		s->map = 1;
		*form = two_byte[s->opcode];
	}
	if (*form & (ODD | NOMEM) || (*form & IMM_MASK) > IMM_REL) {
		s->map = 0;
		return 0;
	}
	s->rex_r = rex >> 2 & 1;
	s->modrm = p[at];
	memory = sizes[(s->modrm >> 3 & 0x18) | (s->modrm & 7)];
	/* A SIB byte without a base, computed without branches. */
	memory += ((unsigned)((s->modrm & 0xc7) == 4) & (unsigned)((p[at + 1] & 7) == 5)) * 4;
	at += memory & (0U - (*form / MODRM & 1));
	*immediate = immediates[rex >> 3 & 1][*form & IMM_MASK];
	return at + *immediate;
}

unsigned vt_pt_insn_classify(const uint8_t *bytes, size_t size, unsigned mode, uint64_t ip,
			     uint8_t *end, uint64_t *target, uint8_t *mark)
{
	struct scan s = {.p = bytes, .size = MAX_LENGTH, .mode = mode};
	unsigned n = 0, form, immediate;

	*end = VT_PT_END_FALL;
	*target = 0;
	*mark = 0;
	if (size < MAX_LENGTH)
		s.size = (unsigned)size;
	else if (mode == 64)
		n = scan_usual(&s, &form, &immediate);
	if (!n)
		n = scan_any(&s, &form, &immediate);
	if (!n || !(form & LOOK) || s.vex)
		return n;
	*end = s.map ? classify_two_byte(&s, mark) : classify_one_byte(&s);
	if (*end == VT_PT_END_JUMP || *end == VT_PT_END_CALL || *end == VT_PT_END_COND)
		*target = read_branch_target(bytes + n, immediate, ip + n);
	return n;
}
