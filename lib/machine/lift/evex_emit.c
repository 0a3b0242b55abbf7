/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/evex_emit.h"

#include <string.h>

#include "machine/lift/evex.h"

#define WIDEST 32 /* bytes that one operation loads or stores */

#define EVEX_PREFIX  0x62
#define STATE(field) ((unsigned)offsetof(VexGuestAMD64State, guest_##field))

static const uint8_t *bytes_of(const struct vti_build *b, uint32_t insn)
{
	return b->bytes + b->insns[insn].offset;
}

static unsigned words_of(unsigned size)
{
	return (size + 7) / 8;
}

static uint16_t emit_word(struct vti_build *b, IROp op, uint16_t x, uint16_t y)
{
	return vti_emit_binary(b, op, Ity_I64, x, y);
}

/* ---- memory ---- */

static bool is_size(unsigned size)
{
	return size && size <= 64 && !(size & (size - 1));
}

static uint16_t emit_register(struct vti_build *b, unsigned reg)
{
	unsigned offset = 0;

	vti_find_register(reg, &offset);
	return vti_emit_get(b, offset, 8);
}

static uint16_t emit_address(struct vti_build *b, const struct vt_memory *m)
{
	uint64_t base = (uint64_t)m->displacement;
	uint16_t sum;

	if (m->base == VT_REG_IP)
		base += vti_address(b) + vti_at_hand(b)->length;
	sum = vti_build_u64(b, base);
	if (vt_reg_is_general(m->base))
		sum = base ? emit_word(b, Iop_Add64, emit_register(b, m->base), sum)
			   : emit_register(b, m->base);
	if (m->scale)
		sum = emit_word(b, Iop_Add64, sum,
				emit_word(b, Iop_Mul64, emit_register(b, m->index),
					  vti_build_u64(b, m->scale)));
	if (m->segment == VT_REG_FS || m->segment == VT_REG_GS)
		sum = emit_word(
			b, Iop_Add64, sum,
			vti_emit_get(b, m->segment == VT_REG_FS ? STATE(FS_CONST) : STATE(GS_CONST),
				     8));
	return sum;
}

/* Address of the second half of what is wider than one operation. */
static uint16_t second_address(struct vti_build *b, uint16_t addr)
{
	return emit_word(b, Iop_Add64, addr, vti_build_u64(b, WIDEST));
}

static void load_piece(struct vti_build *b, uint16_t dst, uint16_t addr, unsigned size)
{
	vti_build_add(
		b,
		(struct vti_op){.op = (uint16_t)vti_sized(VTI_LOAD1, size), .dst = dst, .a = addr},
		(struct vti_widths){.dst = (uint8_t)words_of(size), .a = 1});
}

static void store_piece(struct vti_build *b, uint16_t from, uint16_t addr, unsigned size)
{
	vti_build_add(
		b,
		(struct vti_op){.op = (uint16_t)vti_sized(VTI_STORE1, size), .a = addr, .b = from},
		(struct vti_widths){.a = 1, .b = (uint8_t)words_of(size)});
}

static uint16_t emit_load(struct vti_build *b, uint16_t addr, unsigned size)
{
	uint16_t dst = vti_build_temp(b, words_of(size));

	vti_build_narrow(b, dst, 8 * size);
	load_piece(b, dst, addr, size < WIDEST ? size : WIDEST);
	if (size > WIDEST)
		load_piece(b, (uint16_t)(dst + WIDEST / 8), second_address(b, addr), WIDEST);
	return dst;
}

static void emit_store(struct vti_build *b, uint16_t addr, uint16_t from, unsigned size)
{
	store_piece(b, from, addr, size < WIDEST ? size : WIDEST);
	if (size > WIDEST)
		store_piece(b, (uint16_t)(from + WIDEST / 8), second_address(b, addr), WIDEST);
}

/* ---- captures ---- */

/*
 * Whether the mask keeps all elements; VTI_NO_SLOT: always.  Where it does not, only a part of the
 * memory is accessed, and no value of the whole is captured.
 */
static uint16_t emit_whole(struct vti_build *b, const struct vti_evex *e)
{
	uint16_t all, bits;

	if (!e->mask)
		return VTI_NO_SLOT;
	all = vti_build_u64(b, vt_low_bits(e->size / e->element));
	bits = emit_word(b, Iop_And64, vti_emit_get(b, vti_mask_at(e->mask), 8), all);
	return vti_emit_binary(b, Iop_CmpEQ64, Ity_I1, bits, all);
}

/* ---- an instruction ---- */

/* Which source is in a slot: a general register or memory; NULL: none. */
static const struct vti_evex_operand *slot_source(const struct vti_evex *e)
{
	unsigned i;

	for (i = 0; i < e->nsources; i++)
		if (e->sources[i].where == VTI_EVEX_GENERAL ||
		    e->sources[i].where == VTI_EVEX_MEMORY)
			return &e->sources[i];
	return NULL;
}

static unsigned result_words(const struct vti_evex *e)
{
	switch (e->to.where) {
	case VTI_EVEX_MEMORY:
		return words_of(e->size);
	case VTI_EVEX_GENERAL:
	case VTI_EVEX_FLAGS:
		return 1;
	default:
		return 0;
	}
}

static void put_flags(struct vti_build *b, uint16_t flags)
{
	uint16_t zero = vti_build_u64(b, 0);

	vti_emit_put(b, STATE(CC_OP), 8, zero); /* the flags themselves are in DEP1 */
	vti_emit_put(b, STATE(CC_DEP1), 8, flags);
	vti_emit_put(b, STATE(CC_DEP2), 8, zero);
	vti_emit_put(b, STATE(CC_NDEP), 8, zero);
}

static void note_vector(struct vti_build *b, const struct vti_evex *e)
{
	if (e->to.where != VTI_EVEX_VECTOR || e->to.reg >= 16)
		return;
	if (e->size > WIDEST)
		b->cleared &= (uint16_t) ~(1u << e->to.reg);
	else
		b->cleared |= (uint16_t)(1u << e->to.reg);
}

static void put_result(struct vti_build *b, const struct vti_evex *e, uint16_t dst, uint16_t addr)
{
	unsigned offset = 0;
	uint16_t whole;

	switch (e->to.where) {
	case VTI_EVEX_GENERAL:
		vti_find_register(e->to.reg, &offset);
		vti_emit_put(b, offset, 8, dst);
		break;
	case VTI_EVEX_FLAGS:
		put_flags(b, dst);
		break;
	case VTI_EVEX_MEMORY:
		/* With a mask, the operation stores. */
		if (!e->mask)
			emit_store(b, addr, dst, e->size);
		whole = emit_whole(b, e);
		vti_capture_if(b, whole, VT_WHAT_STORE_ADDRESS, addr, 8);
		vti_capture_if(b, whole, VT_WHAT_STORE, dst, e->size);
		break;
	default:
		break;
	}
	note_vector(b, e);
}

static uint16_t emit_source(struct vti_build *b, const struct vti_evex *e,
			    const struct vti_evex_operand *o, uint16_t addr)
{
	uint16_t slot, whole;

	if (o->where == VTI_EVEX_GENERAL)
		return emit_register(b, o->reg);
	slot = emit_load(b, addr, o->size);
	whole = emit_whole(b, e);
	vti_capture_if(b, whole, VT_WHAT_LOAD_ADDRESS, addr, 8);
	vti_capture_if(b, whole, VT_WHAT_LOAD, slot, o->size);
	return slot;
}

static void emit_evex(struct vti_build *b, const struct vti_evex *e)
{
	const struct vti_evex_operand *o = slot_source(e);
	struct vti_op op = {.op = VTI_EVEX};
	struct vti_widths words = {0};
	uint16_t addr = 0;

	if (vti_at_hand(b)->nmemories)
		addr = emit_address(b, &vti_at_hand(b)->memories[0]);
	if (o) {
		op.a = emit_source(b, e, o, addr);
		words.a = (uint8_t)(o->where == VTI_EVEX_GENERAL ? 1 : words_of(o->size));
	}
	if (e->to.where == VTI_EVEX_MEMORY && e->mask) {
		op.b = addr;
		words.b = 1;
	}
	words.dst = (uint8_t)result_words(e);
	if (words.dst)
		op.dst = vti_build_temp(b, words.dst);
	op.aux = words.dst;
	vti_build_add_with(b, op, words, e, sizeof(*e));
	put_result(b, e, op.dst, addr);
	vti_capture_unlifted(b);
}

static bool may_be_evex(const struct vti_build *b, uint32_t insn)
{
	const struct vt_facts *f = &b->insns[insn].facts;

	return f->mnemonic[0] == 'v' || f->mnemonic[0] == 'k';
}

bool vti_lift_evex(struct vti_build *b)
{
	const struct vt_facts *f = &b->insns[b->emitted].facts;
	struct vti_evex e;

	if (!may_be_evex(b, b->emitted) || !vti_evex_decode(bytes_of(b, b->emitted), f->length, &e))
		return false;
	if (f->nmemories && (f->nmemories > 1 || f->memories[0].gather ||
			     !is_size(f->memories[0].size) || !is_size(e.size)))
		return false;
	vti_emit_begin(b);
	emit_evex(b, &e);
	return true;
}

unsigned vti_unlifted_masks(const struct vti_build *b)
{
	if (strncmp(b->insns[b->emitted].facts.mnemonic, "xrstor", 6) == 0)
		return 0xff;
	return may_be_evex(b, b->emitted)
		       ? vti_evex_masks_written(bytes_of(b, b->emitted),
						b->insns[b->emitted].facts.length)
		       : 0;
}

/* ---- what VEX's prefix clears ---- */

#define VEX_2	      0xc5
#define VEX_3	      0xc4
#define OPCODE_VZERO  0x77
#define ALL_REGISTERS 0xffff

/* Intel SDM volume 2, 2.3: prefixes of segments and of the address size may stand before it. */
static bool has_vex_prefix(const uint8_t *bytes, unsigned size)
{
	while (size && (*bytes == 0x67 || *bytes == 0x26 || *bytes == 0x2e || *bytes == 0x36 ||
			*bytes == 0x3e || *bytes == 0x64 || *bytes == 0x65)) {
		bytes++;
		size--;
	}
	return size && (*bytes == VEX_2 || *bytes == VEX_3);
}

void vti_clear_high(struct vti_build *b)
{
	const struct vt_facts *f = vti_at_hand(b);
	unsigned regs = f->writes >> VT_REG_VECTOR & ALL_REGISTERS;
	const uint8_t *bytes = bytes_of(b, b->insn);

	if (f->mnemonic[0] != 'v')
		return;
	if (strncmp(f->mnemonic, "vzero", 5) == 0)
		regs = ALL_REGISTERS;
	regs &= ~(unsigned)b->cleared;
	if (!regs || !has_vex_prefix(bytes, f->length))
		return;
	b->cleared |= (uint16_t)regs;
	vti_build_add(b, (struct vti_op){.op = VTI_CLEAR_HIGH, .imm = regs},
		      (struct vti_widths){0});
}
