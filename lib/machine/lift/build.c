/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/build.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/evex.h"
#include "machine/lift/fastop.h"

/* Twice a slot's number has 16 bits. */
#define MAX_SLOTS 32000

static struct vti_build_slot *new_slots(struct vti_build *b, unsigned words, uint16_t *first)
{
	struct vti_build_slot *s;
	unsigned i;

	*first = 0;
	if (b->nslots + words > MAX_SLOTS) {
		b->full = true;
		return NULL;
	}
	if (!vt_array_grow(&b->slots, &b->slots_cap, b->nslots + words, sizeof(*b->slots))) {
		b->failed = true;
		return NULL;
	}
	*first = (uint16_t)b->nslots;
	s = &b->slots[b->nslots];
	b->nslots += words;
	memset(s, 0, words * sizeof(*s));
	for (i = 0; i < words; i++) {
		s[i].base = *first;
		s[i].words = (uint8_t)words;
	}
	return s;
}

uint16_t vti_build_temp(struct vti_build *b, unsigned words)
{
	uint16_t first;

	new_slots(b, words, &first);
	return first;
}

void vti_build_narrow(struct vti_build *b, uint16_t slot, unsigned bits)
{
	if (slot < b->nslots && b->slots[slot].words == 1 && bits < 64)
		b->slots[slot].bits = (uint8_t)bits;
}

uint16_t vti_build_const(struct vti_build *b, const struct vt_word *value, unsigned words)
{
	struct vti_build_slot *s;
	uint16_t first;
	unsigned i;
	size_t at;

	for (at = 0; at < b->nslots; at += b->slots[at].words) {
		s = &b->slots[at];
		if (!s->constant || s->words != words)
			continue;
		for (i = 0; i < words && s[i].preset.value == value[i].value &&
			    s[i].preset.known == value[i].known;
		     i++)
			;
		if (i == words)
			return (uint16_t)at;
	}
	s = new_slots(b, words, &first);
	for (i = 0; s && i < words; i++) {
		s[i].preset = value[i];
		s[i].constant = true;
	}
	return first;
}

uint16_t vti_build_u64(struct vti_build *b, uint64_t value)
{
	struct vt_word w = vt_word_of(value);

	return vti_build_const(b, &w, 1);
}

uint16_t vti_build_unknown(struct vti_build *b, unsigned size)
{
	struct vt_word w[VTI_ZMM_WORDS] = {{0, 0}};

	if (size < 8)
		w[0] = vt_word_unknown(8 * size);
	return vti_build_const(b, w, (size + 7) / 8);
}

void vti_build_add(struct vti_build *b, struct vti_op op, struct vti_widths words)
{
	if (!vt_array_grow(&b->ops, &b->ops_cap, b->nops + 1, sizeof(*b->ops))) {
		b->failed = true;
		return;
	}
	if (op.op != VTI_EXIT)
		op.insn = (uint16_t)b->insn;
	b->ops[b->nops++] = (struct vti_build_op){op, words};
}

void vti_build_add_with(struct vti_build *b, struct vti_op op, struct vti_widths words,
			const void *data, size_t size)
{
	op.imm = b->more.size;
	vt_buf_put(&b->more, data, size);
	while (!b->more.failed && b->more.size % 8)
		vt_buf_put_u8(&b->more, 0);
	vti_build_add(b, op, words);
}

void vti_build_free(struct vti_build *b)
{
	free(b->ops);
	free(b->slots);
	vt_buf_free(&b->more);
	free(b);
}

unsigned vti_type_words(IRType type)
{
	return type == Ity_I1 ? 1 : ((unsigned)sizeofIRType(type) + 7) / 8;
}

unsigned vti_sized(unsigned op, unsigned size)
{
	while (size > 1) {
		op++;
		size /= 2;
	}
	return op;
}

/* ---- operators ---- */

/*
 * Operators that take a part of their operand, or write it wider with zeros: words have zeros above
 * their width anyway.  The number of the first word of it, or -1.
 */
static int part_of(IROp op)
{
	switch (op) {
	case Iop_8Uto16:
	case Iop_8Uto32:
	case Iop_8Uto64:
	case Iop_16Uto32:
	case Iop_16Uto64:
	case Iop_32Uto64:
	case Iop_1Uto8:
	case Iop_1Uto32:
	case Iop_1Uto64:
	case Iop_ReinterpF64asI64:
	case Iop_ReinterpI64asF64:
	case Iop_ReinterpF32asI32:
	case Iop_ReinterpI32asF32:
	case Iop_ReinterpV128asI128:
	case Iop_ReinterpI128asV128:
	case Iop_128to64:
	case Iop_V128to64:
	case Iop_V256to64_0:
	case Iop_V256toV128_0:
		return 0;
	case Iop_128HIto64:
	case Iop_V128HIto64:
	case Iop_V256to64_1:
		return 1;
	case Iop_V256to64_2:
	case Iop_V256toV128_1:
		return 2;
	case Iop_V256to64_3:
		return 3;
	default:
		return -1;
	}
}

static void copy_slot(struct vti_build *b, unsigned dst, unsigned src, unsigned words)
{
	vti_build_add(b,
		      (struct vti_op){.op = words == 1 ? VTI_MOVE1 : VTI_MOVE2,
				      .dst = (uint16_t)dst,
				      .a = (uint16_t)src},
		      (struct vti_widths){.dst = (uint8_t)words, .a = (uint8_t)words});
}

/* Operators that put their result together from whole words. */
static bool is_join(IROp op)
{
	switch (op) {
	case Iop_64HLto128:
	case Iop_64HLtoV128:
	case Iop_V128HLtoV256:
	case Iop_64x4toV256:
	case Iop_64UtoV128:
	case Iop_32UtoV128:
	case Iop_ZeroHI64ofV128:
	case Iop_SetV128lo64:
		return true;
	default:
		return false;
	}
}

static uint16_t join_halves(struct vti_build *b, IROp op, IRType type, const uint16_t *args)
{
	unsigned words = vti_type_words(type), i;
	uint16_t dst = vti_build_temp(b, words);

	switch (op) {
	case Iop_64HLto128:
	case Iop_64HLtoV128:
		copy_slot(b, dst, args[1], 1);
		copy_slot(b, dst + 1u, args[0], 1);
		break;
	case Iop_V128HLtoV256:
		copy_slot(b, dst, args[1], 2);
		copy_slot(b, dst + 2u, args[0], 2);
		break;
	case Iop_64x4toV256:
		for (i = 0; i < 4; i++)
			copy_slot(b, dst + i, args[3 - i], 1);
		break;
	case Iop_SetV128lo64:
		copy_slot(b, dst, args[1], 1);
		copy_slot(b, dst + 1u, args[0] + 1u, 1);
		break;
	default:
		copy_slot(b, dst, args[0], 1);
		copy_slot(b, dst + 1u, vti_build_u64(b, 0), 1);
		break;
	}
	return dst;
}

uint16_t vti_emit_unknown(struct vti_build *b, IRType type)
{
	uint16_t dst = vti_build_temp(b, vti_type_words(type));
	unsigned size = type == Ity_I1 ? 1 : (unsigned)sizeofIRType(type);

	vti_build_add(b, (struct vti_op){.op = VTI_UNKNOWN, .dst = dst, .aux = (uint16_t)size},
		      (struct vti_widths){.dst = (uint8_t)vti_type_words(type)});
	return dst;
}

/* Operators that only keep so many of the lowest bits; else 0. */
static unsigned kept_by(IROp op)
{
	switch (op) {
	case Iop_64to1:
	case Iop_32to1:
		return 1;
	case Iop_64to8:
	case Iop_32to8:
	case Iop_16to8:
		return 8;
	case Iop_64to16:
	case Iop_32to16:
		return 16;
	case Iop_64to32:
		return 32;
	default:
		return 0;
	}
}

static bool changes_nothing(const struct vti_build *b, IROp op, uint16_t arg)
{
	unsigned bits = arg < b->nslots ? b->slots[arg].bits : 0;

	return bits && bits <= kept_by(op);
}

static unsigned type_bits(IRType type)
{
	return type == Ity_I1 ? 1 : 8 * (unsigned)sizeofIRType(type);
}

static const struct vti_irop *find_irop(const struct vti_build *b, IROp op)
{
	return (vti_at_hand(b)->flags & VT_FACT_X87) ? vti_irop_find_x87(op) : vti_irop_find(op);
}

uint16_t vti_emit_operator(struct vti_build *b, IROp op, IRType type, const uint16_t *args,
			   const uint8_t *words, unsigned nargs)
{
	const struct vti_irop *irop;
	uint16_t dst;
	unsigned fast;

	if (part_of(op) >= 0)
		return (uint16_t)(args[0] + (unsigned)part_of(op));
	if (changes_nothing(b, op, args[0]))
		return args[0];
	if (is_join(op))
		return join_halves(b, op, type, args);
	fast = vti_fast_op(op);
	irop = fast ? NULL : find_irop(b, op);
	if (!fast && (!irop || irop->nargs != nargs || irop->words != vti_type_words(type))) {
		b->nunknown++;
		return vti_emit_unknown(b, type);
	}
	dst = vti_build_temp(b, vti_type_words(type));
	vti_build_narrow(b, dst, type_bits(type));
	vti_build_add(b,
		      (struct vti_op){.op = (uint16_t)(fast ? fast : VTI_IROP),
				      .dst = dst,
				      .a = args[0],
				      .b = args[1],
				      .c = args[2],
				      .d = args[3],
				      .aux = (uint16_t)op,
				      .data = irop},
		      (struct vti_widths){(uint8_t)vti_type_words(type), words[0], words[1],
					  words[2], words[3]});
	return dst;
}

uint16_t vti_emit_binary(struct vti_build *b, IROp op, IRType type, uint16_t x, uint16_t y)
{
	static const uint8_t words[4] = {1, 1, 0, 0};
	const uint16_t args[4] = {x, y, 0, 0};

	return vti_emit_operator(b, op, type, args, words, 2);
}

/* ---- other operations ---- */

uint16_t vti_emit_choice(struct vti_build *b, unsigned words, uint16_t by, uint16_t yes,
			 uint16_t no)
{
	uint8_t n = (uint8_t)words;
	uint16_t dst = vti_build_temp(b, n);

	vti_build_add(
		b, (struct vti_op){.op = VTI_ITE, .dst = dst, .a = by, .b = yes, .c = no, .aux = n},
		(struct vti_widths){.dst = n, .a = 1, .b = n, .c = n});
	return dst;
}

uint16_t vti_emit_get(struct vti_build *b, unsigned offset, unsigned size)
{
	uint8_t words = (uint8_t)((size + 7) / 8);
	uint16_t dst = vti_build_temp(b, words);

	vti_build_narrow(b, dst, 8 * size);
	vti_build_add(b,
		      (struct vti_op){
			      .op = (uint16_t)vti_sized(VTI_GET1, size), .dst = dst, .imm = offset},
		      (struct vti_widths){.dst = words});
	return dst;
}

void vti_emit_put(struct vti_build *b, unsigned offset, unsigned size, uint16_t slot)
{
	vti_build_add(b,
		      (struct vti_op){
			      .op = (uint16_t)vti_sized(VTI_PUT1, size), .a = slot, .imm = offset},
		      (struct vti_widths){.a = (uint8_t)((size + 7) / 8)});
}

void vti_emit_end(struct vti_build *b, uint16_t to, IRJumpKind kind, bool transfer)
{
	vti_build_add(
		b, (struct vti_op){.op = VTI_END, .a = to, .aux = (uint16_t)kind, .imm = transfer},
		(struct vti_widths){.a = 1});
}

/* ---- what is captured ---- */

/*
 * What is captured is what `vtrace record` records: the same values in the same order, with the
 * same registers and sizes, so that profiles of both can be compared.
 */

#define GENERAL	     ((unsigned)offsetof(VexGuestAMD64State, guest_RAX))
#define GENERAL_SIZE 128
#define VECTOR	     ((unsigned)offsetof(VexGuestAMD64State, guest_YMM0))
#define VECTOR_SIZE  512

/* perf's numbers of VEX's general registers, which are in the order of their encoding. */
static const uint8_t perf_number[16] = {
	VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,	    VT_REG_SP,	   VT_REG_BP,
	VT_REG_SI,     VT_REG_DI,     VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
	VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15,
};

bool vti_find_register(unsigned reg, unsigned *offset)
{
	unsigned i;

	for (i = 0; i < 16 && perf_number[i] != reg; i++)
		;
	if (i < 16)
		*offset = GENERAL + 8 * i;
	else if (reg >= VT_REG_VECTOR && reg < VT_REG_VECTOR + 32)
		*offset = vti_vector_at(reg - VT_REG_VECTOR, 0);
	else
		return false;
	return true;
}

static bool is_captured(const struct vti_build *b, enum vt_what what)
{
	return b->capture >> what & 1;
}

void vti_capture(struct vti_build *b, enum vt_what what, unsigned reg, uint16_t slot, unsigned size)
{
	if (!is_captured(b, what))
		return;
	vti_build_add(b,
		      (struct vti_op){.op = VTI_CAPTURE,
				      .a = slot,
				      .b = (uint16_t)reg,
				      .c = (uint16_t)size,
				      .aux = (uint16_t)what,
				      .imm = vti_address(b)},
		      (struct vti_widths){.a = (uint8_t)((size + 7) / 8)});
}

void vti_capture_if(struct vti_build *b, uint16_t guard, enum vt_what what, uint16_t slot,
		    unsigned size)
{
	if (guard != VTI_NO_SLOT && is_captured(b, what))
		slot = vti_emit_choice(b, (size + 7) / 8, guard, slot, vti_build_unknown(b, size));
	vti_capture(b, what, 0, slot, size);
}

static void add_state_capture(struct vti_build *b, enum vt_what what, unsigned reg, unsigned size)
{
	unsigned offset;

	if (!vti_find_register(reg, &offset))
		return;
	vti_build_add(b,
		      (struct vti_op){.op = VTI_CAPTURE_STATE,
				      .a = (uint16_t)offset,
				      .b = (uint16_t)reg,
				      .c = (uint16_t)size,
				      .aux = (uint16_t)what,
				      .imm = vti_address(b)},
		      (struct vti_widths){0});
}

/* As many bytes as a vector register is said to have, up to those that VEX knows. */
static unsigned vector_size(unsigned size)
{
	return size < 4 ? 4 : size > 32 ? 32 : size;
}

static void capture_begin(struct vti_build *b)
{
	const struct vt_facts *f = vti_at_hand(b);
	unsigned i;

	b->written = b->written_vectors = 0;
	if (is_captured(b, VT_WHAT_UNKNOWN))
		vti_build_add(b, (struct vti_op){.op = VTI_CAPTURE_INSN, .imm = vti_address(b)},
			      (struct vti_widths){0});
	if (!is_captured(b, VT_WHAT_OPERAND))
		return;
	for (i = 0; i < f->nsources; i++) {
		const struct vt_operand *o = &f->sources[i];

		add_state_capture(b, VT_WHAT_OPERAND, o->reg,
				  o->reg < VT_REG_VECTOR ? 8 : vector_size(o->size));
	}
}

void vti_emit_begin(struct vti_build *b)
{
	b->insn = b->emitted++;
	b->insns[b->insn].first = (uint32_t)b->nops;
	capture_begin(b);
}

void vti_capture_put(struct vti_build *b, unsigned offset, unsigned size, bool is_const)
{
	unsigned reg, end;

	if (offset >= GENERAL && offset < GENERAL + GENERAL_SIZE) {
		b->written |= (uint16_t)(1u << (offset - GENERAL) / 8);
	} else if (offset >= VECTOR && offset < VECTOR + VECTOR_SIZE) {
		/* The upper half of the register is often only cleared. */
		if (is_const && (offset - VECTOR) % 32 >= 16)
			return;
		reg = (offset - VECTOR) / 32;
		end = (offset - VECTOR) % 32 + size;
		if (!(b->written_vectors >> reg & 1))
			b->extent[reg] = 0;
		b->written_vectors |= (uint16_t)(1u << reg);
		if (b->extent[reg] < end)
			b->extent[reg] = (uint8_t)end;
	}
}

void vti_capture_results(struct vti_build *b)
{
	const struct vt_facts *f = vti_at_hand(b);
	uint64_t results = 0;
	unsigned i, size;

	for (i = 0; i < f->nresults; i++)
		results |= f->results[i].reg < VT_NREGS ? UINT64_C(1) << f->results[i].reg : 0;
	for (i = 0; i < 16 && is_captured(b, VT_WHAT_RESULT); i++)
		if (b->written >> i & 1 && results >> perf_number[i] & 1)
			add_state_capture(b, VT_WHAT_RESULT, perf_number[i], 8);
	for (i = 0; i < 16 && is_captured(b, VT_WHAT_RESULT); i++) {
		if (!(b->written_vectors >> i & 1) || !(results >> (VT_REG_VECTOR + i) & 1))
			continue;
		for (size = 4; size < b->extent[i]; size *= 2)
			;
		add_state_capture(b, VT_WHAT_RESULT, VT_REG_VECTOR + i, size);
	}
	b->written = b->written_vectors = 0;
}

void vti_capture_args(struct vti_build *b)
{
	static const uint8_t regs[6] = {VT_REG_DI, VT_REG_SI, VT_REG_DX,
					VT_REG_CX, VT_REG_R8, VT_REG_R8 + 1};
	unsigned i;

	for (i = 0; i < 6 && is_captured(b, VT_WHAT_ARG); i++)
		add_state_capture(b, VT_WHAT_ARG, regs[i], 8);
}

void vti_capture_unlifted(struct vti_build *b)
{
	const struct vt_facts *f = vti_at_hand(b);
	unsigned i;

	for (i = 0; i < f->nresults && is_captured(b, VT_WHAT_RESULT); i++) {
		const struct vt_operand *o = &f->results[i];

		add_state_capture(b, VT_WHAT_RESULT, o->reg,
				  o->reg < VT_REG_VECTOR ? 8 : vector_size(o->size));
	}
}
