/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include <Zydis/Zydis.h>

#include "machine/insn/insn.h"
#include "machine/lift/evex.h"

/* ---- what is known, by mnemonic ---- */

struct form {
	uint16_t mnemonic;
	uint8_t family;
	uint8_t op;
	uint8_t element;
	uint8_t part;
};

#define FORM(m, family, op, element, part)                                                         \
	{                                                                                          \
		ZYDIS_MNEMONIC_##m, VTI_EVEX_##family, op, element, part                           \
	}
/* Of 1, 2, 4 and 8 bytes; of 4 and 8. */
#define FORMS_BWDQ(m, family, op)                                                                  \
	FORM(m##B, family, op, 1, 1), FORM(m##W, family, op, 2, 2), FORMS_DQ(m, family, op)
#define FORMS_DQ(m, family, op) FORM(m##D, family, op, 4, 4), FORM(m##Q, family, op, 8, 8)
#define FORMS_PS(m, family, op) FORM(m##PS, family, op, 4, 4), FORM(m##PD, family, op, 8, 8)
#define FORMS_MASKS(m, op)                                                                         \
	FORM(m##B, MASKS, op, 1, 0), FORM(m##W, MASKS, op, 2, 0), FORM(m##D, MASKS, op, 4, 0),     \
		FORM(m##Q, MASKS, op, 8, 0)

static const struct form forms[] = {
	FORM(VMOVDQU8, MOVE, 0, 1, 0),
	FORM(VMOVDQU16, MOVE, 0, 2, 0),
	FORM(VMOVDQU32, MOVE, 0, 4, 0),
	FORM(VMOVDQU64, MOVE, 0, 8, 0),
	FORM(VMOVDQA32, MOVE, 0, 4, 0),
	FORM(VMOVDQA64, MOVE, 0, 8, 0),
	FORM(VMOVUPS, MOVE, 0, 4, 0),
	FORM(VMOVUPD, MOVE, 0, 8, 0),
	FORM(VMOVAPS, MOVE, 0, 4, 0),
	FORM(VMOVAPD, MOVE, 0, 8, 0),
	FORM(VMOVNTPS, MOVE, 0, 4, 0),
	FORM(VMOVNTPD, MOVE, 0, 8, 0),
	FORM(VMOVNTDQ, MOVE, 0, 8, 0),
	FORM(VMOVNTDQA, MOVE, 0, 8, 0),
	FORM(VMOVD, MOVE, 0, 4, 4),
	FORM(VMOVQ, MOVE, 0, 8, 8),
	FORM(VMOVSS, SCALAR, 0, 4, 4),
	FORM(VMOVSD, SCALAR, 0, 8, 8),
	FORMS_DQ(VPAND, BINARY, VTI_BINARY_AND),
	FORMS_DQ(VPANDN, BINARY, VTI_BINARY_ANDN),
	FORMS_DQ(VPOR, BINARY, VTI_BINARY_OR),
	FORMS_DQ(VPXOR, BINARY, VTI_BINARY_XOR),
	FORMS_PS(VAND, BINARY, VTI_BINARY_AND),
	FORMS_PS(VANDN, BINARY, VTI_BINARY_ANDN),
	FORMS_PS(VOR, BINARY, VTI_BINARY_OR),
	FORMS_PS(VXOR, BINARY, VTI_BINARY_XOR),
	FORMS_BWDQ(VPADD, BINARY, VTI_BINARY_ADD),
	FORMS_BWDQ(VPSUB, BINARY, VTI_BINARY_SUB),
	FORM(VPMULLW, BINARY, VTI_BINARY_MUL, 2, 2),
	FORMS_DQ(VPMULL, BINARY, VTI_BINARY_MUL),
	FORMS_BWDQ(VPMINU, BINARY, VTI_BINARY_MINU),
	FORMS_BWDQ(VPMAXU, BINARY, VTI_BINARY_MAXU),
	FORMS_BWDQ(VPMINS, BINARY, VTI_BINARY_MINS),
	FORMS_BWDQ(VPMAXS, BINARY, VTI_BINARY_MAXS),
	FORM(VPADDUSB, BINARY, VTI_BINARY_ADDUS, 1, 1),
	FORM(VPADDUSW, BINARY, VTI_BINARY_ADDUS, 2, 2),
	FORM(VPSUBUSB, BINARY, VTI_BINARY_SUBUS, 1, 1),
	FORM(VPSUBUSW, BINARY, VTI_BINARY_SUBUS, 2, 2),
	FORMS_BWDQ(VPABS, UNARY, VTI_UNARY_ABS),
	FORMS_DQ(VPLZCNT, UNARY, VTI_UNARY_LEADING),
	FORMS_BWDQ(VPOPCNT, UNARY, VTI_UNARY_COUNT),
	/* op: bit 0 of unsigned numbers, bits 4 and up the predicate and 1, or 0: it is imm */
	FORMS_BWDQ(VPCMP, COMPARE, 0),
	FORM(VPCMPUB, COMPARE, 1, 1, 1),
	FORM(VPCMPUW, COMPARE, 1, 2, 2),
	FORM(VPCMPUD, COMPARE, 1, 4, 4),
	FORM(VPCMPUQ, COMPARE, 1, 8, 8),
	FORMS_BWDQ(VPCMPEQ, COMPARE, 0x10),
	FORMS_BWDQ(VPCMPGT, COMPARE, 0x70),
	FORMS_BWDQ(VPTESTM, TEST, 0),
	FORMS_BWDQ(VPTESTNM, TEST, 1),
	FORMS_DQ(VPTERNLOG, TERNARY, 0),
	FORMS_BWDQ(VPBROADCAST, BROADCAST, 0),
	FORM(VBROADCASTSS, BROADCAST, 0, 4, 4),
	FORM(VBROADCASTSD, BROADCAST, 0, 8, 8),
	FORM(VBROADCASTI32X2, BROADCAST, 0, 4, 8),
	FORM(VBROADCASTF32X2, BROADCAST, 0, 4, 8),
	FORM(VBROADCASTI32X4, BROADCAST, 0, 4, 16),
	FORM(VBROADCASTF32X4, BROADCAST, 0, 4, 16),
	FORM(VBROADCASTI64X2, BROADCAST, 0, 8, 16),
	FORM(VBROADCASTF64X2, BROADCAST, 0, 8, 16),
	FORM(VBROADCASTI32X8, BROADCAST, 0, 4, 32),
	FORM(VBROADCASTF32X8, BROADCAST, 0, 4, 32),
	FORM(VBROADCASTI64X4, BROADCAST, 0, 8, 32),
	FORM(VBROADCASTF64X4, BROADCAST, 0, 8, 32),
	FORM(VPSHUFB, SHUFFLE, 0, 1, 1),
	FORM(VPSHUFD, SHUFFLE_D, 0, 4, 4),
	FORM(VSHUFI32X4, SHUFFLE_128, 0, 4, 16),
	FORM(VSHUFF32X4, SHUFFLE_128, 0, 4, 16),
	FORM(VSHUFI64X2, SHUFFLE_128, 0, 8, 16),
	FORM(VSHUFF64X2, SHUFFLE_128, 0, 8, 16),
	FORM(VPUNPCKLBW, UNPACK, 0, 1, 1),
	FORM(VPUNPCKLWD, UNPACK, 0, 2, 2),
	FORM(VPUNPCKLDQ, UNPACK, 0, 4, 4),
	FORM(VPUNPCKLQDQ, UNPACK, 0, 8, 8),
	FORM(VPUNPCKHBW, UNPACK, 1, 1, 1),
	FORM(VPUNPCKHWD, UNPACK, 1, 2, 2),
	FORM(VPUNPCKHDQ, UNPACK, 1, 4, 4),
	FORM(VPUNPCKHQDQ, UNPACK, 1, 8, 8),
	FORMS_PS(VUNPCKL, UNPACK, 0),
	FORMS_PS(VUNPCKH, UNPACK, 1),
	FORM(VPALIGNR, ALIGN, 0, 1, 16),
	FORMS_DQ(VALIGN, ALIGN, 1),
	FORMS_BWDQ(VPERM, PERMUTE, 0),
	FORMS_PS(VPERM, PERMUTE, 0),
	FORMS_BWDQ(VPERMI2, PERMUTE_2, 0),
	FORMS_PS(VPERMI2, PERMUTE_2, 0),
	FORMS_BWDQ(VPERMT2, PERMUTE_2, 1),
	FORMS_PS(VPERMT2, PERMUTE_2, 1),
	FORM(VPSLLDQ, SHIFT_BYTES, 0, 1, 16),
	FORM(VPSRLDQ, SHIFT_BYTES, 1, 1, 16),
	FORM(VPSLLW, SHIFT, VTI_SHIFT_LEFT, 2, 2),
	FORMS_DQ(VPSLL, SHIFT, VTI_SHIFT_LEFT),
	FORM(VPSRLW, SHIFT, VTI_SHIFT_RIGHT, 2, 2),
	FORMS_DQ(VPSRL, SHIFT, VTI_SHIFT_RIGHT),
	FORM(VPSRAW, SHIFT, VTI_SHIFT_SIGNED, 2, 2),
	FORMS_DQ(VPSRA, SHIFT, VTI_SHIFT_SIGNED),
	FORMS_DQ(VPROL, SHIFT, VTI_ROTATE_LEFT),
	FORMS_DQ(VPROR, SHIFT, VTI_ROTATE_RIGHT),
	FORM(VPSLLVW, SHIFT_EACH, VTI_SHIFT_LEFT, 2, 2),
	FORMS_DQ(VPSLLV, SHIFT_EACH, VTI_SHIFT_LEFT),
	FORM(VPSRLVW, SHIFT_EACH, VTI_SHIFT_RIGHT, 2, 2),
	FORMS_DQ(VPSRLV, SHIFT_EACH, VTI_SHIFT_RIGHT),
	FORM(VPSRAVW, SHIFT_EACH, VTI_SHIFT_SIGNED, 2, 2),
	FORMS_DQ(VPSRAV, SHIFT_EACH, VTI_SHIFT_SIGNED),
	FORMS_DQ(VPROLV, SHIFT_EACH, VTI_ROTATE_LEFT),
	FORMS_DQ(VPRORV, SHIFT_EACH, VTI_ROTATE_RIGHT),
	FORMS_BWDQ(VPEXTR, EXTRACT, 0),
	FORM(VEXTRACTPS, EXTRACT, 0, 4, 4),
	FORM(VEXTRACTI32X4, EXTRACT, 0, 4, 16),
	FORM(VEXTRACTF32X4, EXTRACT, 0, 4, 16),
	FORM(VEXTRACTI64X2, EXTRACT, 0, 8, 16),
	FORM(VEXTRACTF64X2, EXTRACT, 0, 8, 16),
	FORM(VEXTRACTI32X8, EXTRACT, 0, 4, 32),
	FORM(VEXTRACTF32X8, EXTRACT, 0, 4, 32),
	FORM(VEXTRACTI64X4, EXTRACT, 0, 8, 32),
	FORM(VEXTRACTF64X4, EXTRACT, 0, 8, 32),
	FORMS_BWDQ(VPINSR, INSERT, 0),
	FORM(VINSERTI32X4, INSERT, 0, 4, 16),
	FORM(VINSERTF32X4, INSERT, 0, 4, 16),
	FORM(VINSERTI64X2, INSERT, 0, 8, 16),
	FORM(VINSERTF64X2, INSERT, 0, 8, 16),
	FORM(VINSERTI32X8, INSERT, 0, 4, 32),
	FORM(VINSERTF32X8, INSERT, 0, 4, 32),
	FORM(VINSERTI64X4, INSERT, 0, 8, 32),
	FORM(VINSERTF64X4, INSERT, 0, 8, 32),
	FORM(VPMOVZXBW, EXTEND, 0, 2, 1),
	FORM(VPMOVZXBD, EXTEND, 0, 4, 1),
	FORM(VPMOVZXBQ, EXTEND, 0, 8, 1),
	FORM(VPMOVZXWD, EXTEND, 0, 4, 2),
	FORM(VPMOVZXWQ, EXTEND, 0, 8, 2),
	FORM(VPMOVZXDQ, EXTEND, 0, 8, 4),
	FORM(VPMOVSXBW, EXTEND, 1, 2, 1),
	FORM(VPMOVSXBD, EXTEND, 1, 4, 1),
	FORM(VPMOVSXBQ, EXTEND, 1, 8, 1),
	FORM(VPMOVSXWD, EXTEND, 1, 4, 2),
	FORM(VPMOVSXWQ, EXTEND, 1, 8, 2),
	FORM(VPMOVSXDQ, EXTEND, 1, 8, 4),
	FORM(VPMOVWB, TRUNCATE, 0, 1, 2),
	FORM(VPMOVDB, TRUNCATE, 0, 1, 4),
	FORM(VPMOVQB, TRUNCATE, 0, 1, 8),
	FORM(VPMOVDW, TRUNCATE, 0, 2, 4),
	FORM(VPMOVQW, TRUNCATE, 0, 2, 8),
	FORM(VPMOVQD, TRUNCATE, 0, 4, 8),
	FORMS_BWDQ(VPBLENDM, BLEND, 0),
	FORMS_PS(VBLENDM, BLEND, 0),
	FORMS_BWDQ(VPCOMPRESS, COMPRESS, 0),
	FORMS_PS(VCOMPRESS, COMPRESS, 0),
	FORMS_BWDQ(VPEXPAND, EXPAND, 0),
	FORMS_PS(VEXPAND, EXPAND, 0),
	FORMS_BWDQ(VPMOVM2, FROM_MASK, 0),
	FORM(VPMOVB2M, TO_MASK, 0, 1, 1),
	FORM(VPMOVW2M, TO_MASK, 0, 2, 2),
	FORM(VPMOVD2M, TO_MASK, 0, 4, 4),
	FORM(VPMOVQ2M, TO_MASK, 0, 8, 8),
	FORMS_MASKS(KMOV, VTI_MASKS_MOVE),
	FORMS_MASKS(KNOT, VTI_MASKS_NOT),
	FORMS_MASKS(KAND, VTI_MASKS_AND),
	FORMS_MASKS(KANDN, VTI_MASKS_ANDN),
	FORMS_MASKS(KOR, VTI_MASKS_OR),
	FORMS_MASKS(KXOR, VTI_MASKS_XOR),
	FORMS_MASKS(KXNOR, VTI_MASKS_XNOR),
	FORMS_MASKS(KADD, VTI_MASKS_ADD),
	FORM(KUNPCKBW, MASKS, VTI_MASKS_UNPACK, 2, 0),
	FORM(KUNPCKWD, MASKS, VTI_MASKS_UNPACK, 4, 0),
	FORM(KUNPCKDQ, MASKS, VTI_MASKS_UNPACK, 8, 0),
	FORMS_MASKS(KSHIFTL, VTI_MASKS_LEFT),
	FORMS_MASKS(KSHIFTR, VTI_MASKS_RIGHT),
	FORMS_MASKS(KORTEST, VTI_MASKS_ORTEST),
	FORMS_MASKS(KTEST, VTI_MASKS_TEST),
};

static const struct form *find_form(ZydisMnemonic m)
{
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (forms[i].mnemonic == m)
			return &forms[i];
	return NULL;
}

/* ---- operands ---- */

struct decoded {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode_all(const uint8_t *bytes, size_t size, struct decoded *d)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &d->insn, d->operands));
}

static bool is_mask_register(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_K0 && reg <= ZYDIS_REGISTER_K7;
}

/* perf's number of a general register. */
static uint8_t general_number(ZydisRegister reg)
{
	static const uint8_t numbers[16] = {
		VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,
		VT_REG_SP,     VT_REG_BP,     VT_REG_SI,     VT_REG_DI,
		VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
		VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15,
	};

	return numbers[ZydisRegisterGetId(reg) & 15];
}

static bool take_operand(const ZydisDecodedOperand *o, struct vti_evex_operand *to)
{
	to->size = (uint8_t)(o->size / 8);
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		to->where = VTI_EVEX_MEMORY;
		return o->mem.type == ZYDIS_MEMOP_TYPE_MEM;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	to->reg = (uint8_t)ZydisRegisterGetId(o->reg.value);
	switch (ZydisRegisterGetClass(o->reg.value)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		to->where = VTI_EVEX_VECTOR;
		return true;
	case ZYDIS_REGCLASS_MASK:
		to->where = VTI_EVEX_MASK;
		return true;
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		to->where = VTI_EVEX_GENERAL;
		to->reg = general_number(o->reg.value);
		return true;
	default:
		return false;
	}
}

static bool take_operands(const struct decoded *d, struct vti_evex *e)
{
	unsigned i;

	for (i = 0; i < d->insn.operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &d->operands[i];

		if (o->encoding == ZYDIS_OPERAND_ENCODING_MASK)
			continue;
		if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			e->imm = (uint8_t)o->imm.value.u;
		else if (e->to.where == VTI_EVEX_NOWHERE && !take_operand(o, &e->to))
			return false;
		else if (i && (e->nsources == VTI_EVEX_SOURCES ||
			       !take_operand(o, &e->sources[e->nsources++])))
			return false;
	}
	return e->to.where != VTI_EVEX_NOWHERE;
}

static void take_mask(const struct decoded *d, struct vti_evex *e)
{
	ZydisMaskMode mode = d->insn.avx.mask.mode;

	if (is_mask_register(d->insn.avx.mask.reg))
		e->mask = (uint8_t)(d->insn.avx.mask.reg - ZYDIS_REGISTER_K0);
	e->zeroing = mode == ZYDIS_MASK_MODE_ZEROING || mode == ZYDIS_MASK_MODE_CONTROL_ZEROING;
}

/* ---- each family ---- */

/* The destination is a source, too. */
static bool add_destination(struct vti_evex *e, unsigned at)
{
	unsigned i;

	if (e->nsources == VTI_EVEX_SOURCES)
		return false;
	for (i = e->nsources++; i > at; i--)
		e->sources[i] = e->sources[i - 1];
	e->sources[at] = e->to;
	return true;
}

static void use_scalar(struct vti_evex *e)
{
	if (e->nsources == 2) {
		e->size = 16;
		return;
	}
	/* To or from memory. */
	e->family = VTI_EVEX_MOVE;
	e->size = e->element;
}

static bool use_permute_2(struct vti_evex *e)
{
	/* vpermt2: the destination is the first table, behind the indices. */
	return e->nsources == 2 && add_destination(e, e->op);
}

static bool use_shift(struct vti_evex *e)
{
	if (e->nsources == 2)
		e->family = VTI_EVEX_SHIFT_COUNT;
	return true;
}

static bool use_compress(struct vti_evex *e)
{
	/* To memory, it stores only the elements that it keeps. */
	return e->to.where == VTI_EVEX_VECTOR && add_destination(e, 1);
}

static bool use_masks(struct vti_evex *e, const struct form *f)
{
	e->size = f->element;
	if (f->op != VTI_MASKS_ORTEST && f->op != VTI_MASKS_TEST)
		return true;
	e->sources[1] = e->sources[0];
	e->sources[0] = e->to;
	e->nsources = 2;
	e->to = (struct vti_evex_operand){.where = VTI_EVEX_FLAGS};
	return true;
}

static bool use_form(const struct form *f, struct vti_evex *e)
{
	switch (f->family) {
	case VTI_EVEX_MOVE:
		if (f->part)
			e->size = f->part;
		return e->nsources == 1;
	case VTI_EVEX_SCALAR:
		use_scalar(e);
		return e->family == VTI_EVEX_MOVE || !e->mask;
	case VTI_EVEX_COMPARE:
		if (f->op >> 4)
			e->imm = (uint8_t)((f->op >> 4) - 1);
		e->imm &= 7;
		e->op = f->op & 1;
		return e->nsources == 2;
	case VTI_EVEX_TERNARY:
		return add_destination(e, 0);
	case VTI_EVEX_PERMUTE:
		if (e->nsources == 1)
			e->family = VTI_EVEX_PERMUTE_Q;
		return true;
	case VTI_EVEX_PERMUTE_2:
		return use_permute_2(e);
	case VTI_EVEX_SHIFT:
		return use_shift(e);
	case VTI_EVEX_EXTRACT:
		e->size = f->part;
		return true;
	case VTI_EVEX_TRUNCATE:
		e->size = (uint8_t)(e->sources[0].size / f->part * f->element);
		return true;
	case VTI_EVEX_COMPRESS:
		return use_compress(e);
	case VTI_EVEX_EXPAND:
		/* From memory, it loads only as many. */
		return e->sources[0].where == VTI_EVEX_VECTOR;
	case VTI_EVEX_MASKS:
		return use_masks(e, f);
	default:
		return true;
	}
}

/* VEX's prefix is for masks alone here. */
static bool is_of_avx512(const struct decoded *d)
{
	if (d->insn.address_width != 64)
		return false;
	return d->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	       (d->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
		ZydisMnemonicGetString(d->insn.mnemonic)[0] == 'k');
}

bool vti_evex_decode(const uint8_t *bytes, size_t size, struct vti_evex *e)
{
	const struct form *f;
	struct decoded d;

	memset(e, 0, sizeof(*e));
	if (!decode_all(bytes, size, &d) || !is_of_avx512(&d))
		return false;
	f = find_form(d.insn.mnemonic);
	if (!f)
		return false;
	e->family = f->family;
	e->op = f->op;
	e->element = f->element;
	e->part = f->part;
	e->size = (uint8_t)(d.insn.avx.vector_length / 8);
	e->repeats = d.insn.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID &&
		     !d.insn.avx.broadcast.is_static;
	take_mask(&d, e);
	return take_operands(&d, e) && use_form(f, e);
}

unsigned vti_evex_masks_written(const uint8_t *bytes, size_t size)
{
	struct decoded d;
	unsigned i, masks = 0;

	if (!decode_all(bytes, size, &d))
		return 0xff;
	for (i = 0; i < d.insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &d.operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && is_mask_register(o->reg.value) &&
		    (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			masks |= 1u << (o->reg.value - ZYDIS_REGISTER_K0);
	}
	/* vp2intersect writes the next one, too. */
	if (d.insn.mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTD ||
	    d.insn.mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTQ)
		masks = 0xff;
	return masks;
}
