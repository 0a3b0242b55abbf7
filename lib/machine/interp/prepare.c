/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/interp/call.h"
#include "machine/interp/eval.h"

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
#include "machine/lift/fastop.def"
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

/* How many writes of words stand there. */
static unsigned puts_at(const struct vti_op *op, const struct vti_op *end)
{
	unsigned n = 0;

	while (op + n < end && n < 4 && is_word(op + n, VTI_PUT8))
		n++;
	return n;
}

/* Several in one go, up to the end of the instruction; 0: there is no way to. */
static unsigned of_several(const struct vti_op *op, const struct vti_op *end)
{
	const struct vti_op *next = op + 1;
	unsigned puts = puts_at(op, end);

	if (puts > 1)
		return puts == 4 ? VTI_RUN_PUTS4 : VTI_RUN_PUTS;
	if (next == end)
		return 0;
	if (is_word(op, VTI_GET8) && is_word(next, VTI_GET8))
		return VTI_RUN_GETS;
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
	const struct vti_op *end = b->ops + b->nops;
	struct vti_op *op;
	uint32_t insn = 0;

	for (op = b->ops; op < end; op++) {
		unsigned run;

		while (insn < b->ninsns && op >= b->ops + b->first[insn + 1])
			insn++;
		run = of_several(op, insn < b->ninsns ? b->ops + b->first[insn + 1] : end);
		op->run = (uint16_t)(run ? run : of_one(op));
		op->dst2 = (uint16_t)(2 * op->dst);
		op->a2 = (uint16_t)(2 * op->a);
		op->b2 = (uint16_t)(2 * op->b);
	}
}
