/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_DECODE_H
#define CMD_AGENT_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A decoder of machine code of 64-bit mode that needs no library, writes nothing but its result,
 * and takes little room.  It gives the fields of an instruction, and leaves to its caller what they
 * mean.  Source: Intel SDM volume 2, chapter 2 and appendix A; AMD APM volume 3 for XOP.
 */

#define INSN_MAX 15 /* bytes of an instruction */

/* Instead of a register's number in struct insn. */
#define INSN_IP	  16
#define INSN_NONE 17

enum insn_encoding {
	INSN_LEGACY,
	INSN_VEX,
	INSN_EVEX,
	INSN_XOP,
};

/* The mandatory prefix. */
enum insn_pp {
	INSN_PP_NONE,
	INSN_PP_66,
	INSN_PP_F3,
	INSN_PP_F2,
};

struct insn {
	uint8_t length;
	uint8_t encoding; /* enum insn_encoding */
	uint8_t map;	  /* 0: one byte, 1: 0F, 2: 0F 38, 3: 0F 3A; of EVEX to 6, of XOP 8 to 10 */
	uint8_t op;
	uint8_t pp;	 /* enum insn_pp; of legacy instructions F2 and F3 are above 66 */
	bool data16;	 /* prefix 66 of a legacy instruction */
	bool addr32;	 /* prefix 67 */
	bool lock;	 /* prefix F0 */
	bool rex;	 /* there is a REX prefix: numbers 4 to 7 are spl to dil */
	bool w;		 /* REX.W, VEX.W */
	uint8_t rep;	 /* 0, 0xf2 or 0xf3 */
	uint8_t segment; /* 0, 0x64 (fs) or 0x65 (gs) */
	bool has_modrm;
	bool memory; /* the r/m operand is in memory */
	uint8_t modrm;
	uint8_t reg;	/* with its extension: 0 to 31 */
	uint8_t rm;	/* with its extension, as a register */
	uint8_t vvvv;	/* VEX and EVEX */
	uint8_t vbytes; /* of a vector: 16, 32, 64 */
	uint8_t aaa;	/* EVEX: the mask register */
	bool zero;	/* EVEX: lanes that are masked out become zero */
	bool bcst;	/* EVEX.b: broadcast, rounding */
	uint8_t base;	/* of the memory operand: a number, INSN_IP, INSN_NONE */
	uint8_t index;	/* a number, 4 included if it is a vector; INSN_NONE */
	uint8_t scale;	/* a shift */
	uint8_t vindex; /* the index, if it is a vector: 0 to 31 */
	int32_t disp;	/* with the factor of EVEX applied */
	int64_t imm; /* sign-extended; an address of moffs; ENTER: its second byte in bits 16 to 23
		      */
};

/*
 * Decodes the instruction at `code`, of which `size` bytes can be read.  Returns its length; 0: it
 * is not complete in `size` bytes, where `size` is below INSN_MAX, else it is none.  -1: it is
 * none. Lengths are right for all valid instructions; some of those that are none are decoded, too.
 */
int insn_decode(struct insn *insn, const uint8_t *code, size_t size);

#endif
