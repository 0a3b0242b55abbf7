/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/interp_call.h"
#include "machine/interp_eval.h"

static bool divides(const struct vti_op *op)
{
	static const unsigned irops[] = {
		Iop_DivModU64to32, Iop_DivModS64to32, Iop_DivModU128to64, Iop_DivModS128to64,
		Iop_DivModU32to32, Iop_DivModS32to32, Iop_DivModU64to64,  Iop_DivModS64to64,
	};
	unsigned i;

	for (i = 0; i < sizeof(irops) / sizeof(irops[0]); i++)
		if ((const struct vti_irop *)op->data == vti_irop_find(irops[i]))
			return true;
	return false;
}

/* A whole word of the guest state. */
static bool is_word(const struct vti_op *op, unsigned opcode)
{
	return op->op == opcode && op->imm % 8 == 0;
}

/* An operator with a result of one word, of which the loop has variants. */
static bool has_variants(const struct vti_op *op)
{
	switch (op->op) {
#define FAST1(name, irop, result) case VTI_FAST_##name:
#define FAST2(name, irop, result) case VTI_FAST_##name:
#include "machine/fastop.def"
		return true;
	default:
		return false;
	}
}

/* How the loop runs the operator and then this. */
static unsigned with_next(const struct vti_op *op, const struct vti_op *next)
{
	if (!has_variants(op) || next->a != op->dst)
		return 0;
	if (is_word(next, VTI_PUT8))
		return VTI_RUN_PUT + (op->op - VTI_FAST);
	if (next->op == VTI_EXIT)
		return VTI_RUN_EXIT + (op->op - VTI_FAST);
	return 0;
}

/* Two in one go; `next` is of the same instruction. */
static unsigned of_two(const struct vti_op *op, const struct vti_op *next)
{
	if (is_word(op, VTI_GET8) && is_word(next, VTI_GET8))
		return VTI_RUN_GETS;
	if (is_word(op, VTI_PUT8) && is_word(next, VTI_PUT8))
		return VTI_RUN_PUTS;
	return with_next(op, next);
}

static unsigned of_one(const struct vti_op *op)
{
	switch (op->op) {
	case VTI_IROP:
		return divides(op) ? VTI_RUN_DIVIDE : op->op;
	case VTI_ITE:
		return op->aux == 1 ? VTI_RUN_ITE : op->op;
	case VTI_CCALL:
		return vti_call_is_condition(op) ? VTI_RUN_CONDITION : op->op;
	case VTI_CAPTURE:
		return op->c <= 8 ? VTI_RUN_CAPTURE : op->op;
	case VTI_CAPTURE_STATE:
		return op->c == 8 && op->a % 8 == 0 ? VTI_RUN_CAPTURE_STATE : op->op;
	default:
		return op->op;
	}
}

void vti_eval_prepare(struct vti_block *b)
{
	uint32_t insn, i;

	for (insn = 0; insn < b->ninsns; insn++) {
		for (i = b->first[insn]; i < b->first[insn + 1]; i++) {
			struct vti_op *op = &b->ops[i];
			unsigned two = i + 1 < b->first[insn + 1] ? of_two(op, op + 1) : 0;

			op->run = (uint16_t)(two ? two : of_one(op));
		}
	}
	for (i = b->first[b->ninsns]; i < b->nops; i++)
		b->ops[i].run = (uint16_t)of_one(&b->ops[i]);
}
