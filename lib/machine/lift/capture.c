/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/build.h"

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

/* Where a register is in the guest state. */
static bool find_register(unsigned reg, unsigned *offset)
{
	unsigned i;

	for (i = 0; i < 16 && perf_number[i] != reg; i++)
		;
	if (i < 16)
		*offset = GENERAL + 8 * i;
	else if (reg >= VT_REG_VECTOR && reg < VT_REG_VECTOR + 16)
		*offset = VECTOR + 32 * (reg - VT_REG_VECTOR);
	else
		return false;
	return true;
}

bool vti_wants(const struct vti_build *b, enum vt_what what)
{
	return b->capture >> what & 1;
}

/* Of the instruction at hand. */
static uint64_t address(const struct vti_build *b)
{
	return b->addr + b->insns[b->insn].offset;
}

void vti_capture(struct vti_build *b, enum vt_what what, unsigned reg, uint16_t slot, unsigned size)
{
	if (!vti_wants(b, what))
		return;
	vti_build_add(b,
		      (struct vti_op){.op = VTI_CAPTURE,
				      .a = slot,
				      .b = (uint16_t)reg,
				      .c = (uint16_t)size,
				      .aux = (uint16_t)what,
				      .imm = address(b)},
		      (struct vti_widths){.a = (uint8_t)((size + 7) / 8)});
}

void vti_capture_if(struct vti_build *b, uint16_t guard, enum vt_what what, uint16_t slot,
		    unsigned size)
{
	uint8_t words = (uint8_t)((size + 7) / 8);
	uint16_t chosen;

	if (!vti_wants(b, what))
		return;
	if (guard != VTI_NO_SLOT) {
		chosen = vti_build_temp(b, words);
		vti_build_add(b,
			      (struct vti_op){.op = VTI_ITE,
					      .dst = chosen,
					      .a = guard,
					      .b = slot,
					      .c = vti_build_unknown(b, size),
					      .aux = words},
			      (struct vti_widths){.dst = words, .a = 1, .b = words, .c = words});
		slot = chosen;
	}
	vti_capture(b, what, 0, slot, size);
}

static void capture_state(struct vti_build *b, enum vt_what what, unsigned reg, unsigned size)
{
	unsigned offset;

	if (!find_register(reg, &offset))
		return;
	vti_build_add(b,
		      (struct vti_op){.op = VTI_CAPTURE_STATE,
				      .a = (uint16_t)offset,
				      .b = (uint16_t)reg,
				      .c = (uint16_t)size,
				      .aux = (uint16_t)what,
				      .imm = address(b)},
		      (struct vti_widths){0});
}

/* As many bytes as a vector register is said to have, up to those that VEX knows. */
static unsigned vector_size(unsigned size)
{
	return size < 4 ? 4 : size > 32 ? 32 : size;
}

void vti_capture_begin(struct vti_build *b)
{
	const struct vt_facts *f = &b->insns[b->insn].facts;
	unsigned i;

	b->written = b->written_vectors = 0;
	if (vti_wants(b, VT_WHAT_UNKNOWN))
		vti_build_add(b, (struct vti_op){.op = VTI_CAPTURE_INSN, .imm = address(b)},
			      (struct vti_widths){0});
	if (!vti_wants(b, VT_WHAT_OPERAND))
		return;
	for (i = 0; i < f->nsources; i++) {
		const struct vt_operand *o = &f->sources[i];

		capture_state(b, VT_WHAT_OPERAND, o->reg,
			      o->reg < VT_REG_VECTOR ? 8 : vector_size(o->size));
	}
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
	const struct vt_facts *f = &b->insns[b->insn].facts;
	uint64_t results = 0;
	unsigned i, size;

	for (i = 0; i < f->nresults; i++)
		results |= f->results[i].reg < VT_NREGS ? UINT64_C(1) << f->results[i].reg : 0;
	for (i = 0; i < 16 && vti_wants(b, VT_WHAT_RESULT); i++)
		if (b->written >> i & 1 && results >> perf_number[i] & 1)
			capture_state(b, VT_WHAT_RESULT, perf_number[i], 8);
	for (i = 0; i < 16 && vti_wants(b, VT_WHAT_RESULT); i++) {
		if (!(b->written_vectors >> i & 1) || !(results >> (VT_REG_VECTOR + i) & 1))
			continue;
		for (size = 4; size < b->extent[i]; size *= 2)
			;
		capture_state(b, VT_WHAT_RESULT, VT_REG_VECTOR + i, size);
	}
	b->written = b->written_vectors = 0;
}

void vti_capture_args(struct vti_build *b)
{
	static const uint8_t regs[6] = {VT_REG_DI, VT_REG_SI, VT_REG_DX,
					VT_REG_CX, VT_REG_R8, VT_REG_R8 + 1};
	unsigned i;

	for (i = 0; i < 6 && vti_wants(b, VT_WHAT_ARG); i++)
		capture_state(b, VT_WHAT_ARG, regs[i], 8);
}

void vti_capture_unlifted(struct vti_build *b)
{
	const struct vt_facts *f = &b->insns[b->insn].facts;
	unsigned i;

	for (i = 0; i < f->nresults && vti_wants(b, VT_WHAT_RESULT); i++) {
		const struct vt_operand *o = &f->results[i];

		capture_state(b, VT_WHAT_RESULT, o->reg,
			      o->reg < VT_REG_VECTOR ? 8 : vector_size(o->size));
	}
}
