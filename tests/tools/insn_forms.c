/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: insn_forms
 *
 * Prints every form (machine/insn/form.h) of an x86-64 instruction that Zydis can encode from a
 * list of operands, with the bytes of one such instruction, as "0x48 0x01 0xf3": scripts/mktiming
 * asks for their timings.  Forms with a twin that is printed are left out.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "machine/insn/form.h"

#define MAX_OPERANDS 5

/* Operands: of each kind a different register in each place, so that none depends on itself. */
enum kind {
	R8,
	R16,
	R32,
	R64,
	MM,
	X,
	Y,
	Z,
	K,
	K0, /* no mask, where one can stand */
	ST,
	IMM,
	CL,
	AL,
	AX,
	EAX,
	RAX,
	M8,
	M16,
	M32,
	M64,
	M80,
	M128,
	M256,
	M512,
	ADDRESS,
	ADDRESS3,
	ADDRESS_IP,
	NKINDS
};

static const uint16_t bytes_of[NKINDS] = {
	[M8] = 1,    [M16] = 2,	  [M32] = 4,	 [M64] = 8,	 [M80] = 10,	   [M128] = 16,
	[M256] = 32, [M512] = 64, [ADDRESS] = 8, [ADDRESS3] = 8, [ADDRESS_IP] = 8,
};

static ZydisEncoderOperand operand(enum kind kind, unsigned place)
{
	static const ZydisRegister first[NKINDS] = {
		[MM] = ZYDIS_REGISTER_MM1,  [X] = ZYDIS_REGISTER_XMM1, [Y] = ZYDIS_REGISTER_YMM1,
		[Z] = ZYDIS_REGISTER_ZMM1,  [K] = ZYDIS_REGISTER_K1,   [CL] = ZYDIS_REGISTER_CL,
		[AL] = ZYDIS_REGISTER_AL,   [AX] = ZYDIS_REGISTER_AX,  [EAX] = ZYDIS_REGISTER_EAX,
		[RAX] = ZYDIS_REGISTER_RAX,
	};
	static const ZydisRegister general[4][4] = {
		{ZYDIS_REGISTER_BL, ZYDIS_REGISTER_DL, ZYDIS_REGISTER_R9B, ZYDIS_REGISTER_R10B},
		{ZYDIS_REGISTER_BX, ZYDIS_REGISTER_SI, ZYDIS_REGISTER_R9W, ZYDIS_REGISTER_R10W},
		{ZYDIS_REGISTER_EBX, ZYDIS_REGISTER_ESI, ZYDIS_REGISTER_R9D, ZYDIS_REGISTER_R10D},
		{ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_R9, ZYDIS_REGISTER_R10},
	};
	ZydisEncoderOperand o;

	memset(&o, 0, sizeof(o));
	o.type = ZYDIS_OPERAND_TYPE_REGISTER;
	if (kind <= R64) {
		o.reg.value = general[kind][place & 3];
	} else if (kind == ST) {
		/* One of the two is the top of the stack, and either may be. */
		o.reg.value = place ? ZYDIS_REGISTER_ST0 : ZYDIS_REGISTER_ST1;
	} else if (kind == K0) {
		o.reg.value = ZYDIS_REGISTER_K0;
	} else if (kind < IMM) {
		o.reg.value = (ZydisRegister)(first[kind] + place);
	} else if (kind == IMM) {
		o.type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
		o.imm.u = 3;
	} else if (kind < M8) {
		o.reg.value = first[kind];
	} else {
		o.type = ZYDIS_OPERAND_TYPE_MEMORY;
		o.mem.size = bytes_of[kind];
		o.mem.base = kind == ADDRESS_IP ? ZYDIS_REGISTER_RIP : ZYDIS_REGISTER_RDI;
		o.mem.displacement = kind == ADDRESS ? 0 : 64;
		if (kind == ADDRESS3) {
			o.mem.index = ZYDIS_REGISTER_R8;
			o.mem.scale = 4;
		}
	}
	return o;
}

/* The forms of one mnemonic. */
struct found {
	char form[VT_FORM_SIZE];
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	uint8_t size;
};

struct list {
	struct found *items;
	size_t count, cap;
};

static bool has(const struct list *l, const char *form)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (strcmp(l->items[i].form, form) == 0)
			return true;
	return false;
}

static struct found *append(struct list *l)
{
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 256;
		l->items = realloc(l->items, l->cap * sizeof(*l->items));
		if (!l->items)
			exit(4);
	}
	return &l->items[l->count++];
}

static void try_one(struct list *l, ZydisMnemonic mnemonic, const enum kind *kinds, unsigned n)
{
	ZydisEncoderRequest req;
	struct vt_facts facts;
	struct found f;
	ZyanUSize size = sizeof(f.code);
	unsigned i;

	memset(&req, 0, sizeof(req));
	req.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
	req.allowed_encodings = ZYDIS_ENCODABLE_ENCODING_LEGACY | ZYDIS_ENCODABLE_ENCODING_VEX |
				ZYDIS_ENCODABLE_ENCODING_EVEX;
	req.mnemonic = mnemonic;
	req.operand_count = (ZyanU8)n;
	for (i = 0; i < n; i++)
		req.operands[i] = operand(kinds[i], i);
	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&req, f.code, &size))) {
		/* A fourth register may be one that stands in the bits of an immediate number. */
		if (n != 4)
			return;
		req.operands[3].reg.is4 = true;
		size = sizeof(f.code);
		if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&req, f.code, &size)))
			return;
	}
	f.size = (uint8_t)size;
	if (vt_facts_decode_form(f.code, size, &facts, f.form) && !has(l, f.form))
		*append(l) = f;
}

static void print(const struct list *l)
{
	char twin[VT_FORM_SIZE];
	unsigned n;
	size_t i;

	for (i = 0; i < l->count; i++) {
		const struct found *f = &l->items[i];
		bool known = false;

		for (n = 0; vt_form_twin(f->form, n, twin); n++)
			known |= has(l, twin);
		if (known)
			continue;
		printf("%s\t", f->form);
		for (n = 0; n < f->size; n++)
			printf("%s0x%02x", n ? " " : "", f->code[n]);
		putchar('\n');
	}
}

/* What can stand in a place behind others, so that not all combinations need be tried. */
static bool may_stand(enum kind kind, const enum kind *kinds, unsigned place, unsigned n)
{
	const bool vector = kind >= X && kind <= K;

	if (kind == K0)
		return place == 1 && n > 2;
	if (place == 0)
		return kind != IMM || n <= 2;
	/* In wide instructions, the places in the middle hold what the first holds, or a mask. */
	if (n >= 4 && place == 1)
		return kind == kinds[0];
	if (n == 5)
		return place == 4 ? kind == IMM : vector || (place == 3 && kind >= M8);
	if (n >= 3 && place == n - 1)
		return kind != ST && kind != AL && kind < ADDRESS;
	return place < 2 || kind < ST || (kind >= M8 && kind < ADDRESS);
}

static void try_all(struct list *l, ZydisMnemonic mnemonic, enum kind *kinds, unsigned place,
		    unsigned n)
{
	unsigned kind;

	if (place == n) {
		try_one(l, mnemonic, kinds, n);
		return;
	}
	for (kind = 0; kind < NKINDS; kind++) {
		if (!may_stand((enum kind)kind, kinds, place, n))
			continue;
		kinds[place] = (enum kind)kind;
		try_all(l, mnemonic, kinds, place + 1, n);
	}
}

int main(void)
{
	enum kind kinds[MAX_OPERANDS];
	struct list l = {NULL, 0, 0};
	unsigned m, n;

	for (m = ZYDIS_MNEMONIC_INVALID + 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
		l.count = 0;
		for (n = 0; n <= MAX_OPERANDS; n++)
			try_all(&l, (ZydisMnemonic)m, kinds, 0, n);
		print(&l);
	}
	free(l.items);
	return 0;
}
