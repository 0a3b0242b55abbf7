/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/build.h"
#include "machine/lift/inverse.h"

/*
 * Nearly every branch compares two numbers, and mostly nothing follows from the way that it takes:
 * that is seen at once if the exit itself knows what it compares.
 */

/* The operation that makes a temporary; SIZE_MAX: none does. */
static size_t maker_of(const struct vti_build *b, size_t before, uint16_t slot)
{
	while (before-- > 0)
		if (b->ops[before].words.dst == 1 && b->ops[before].op.dst == slot)
			return before;
	return SIZE_MAX;
}

static enum vti_compare compare_of(const struct vti_op *op, unsigned *bits)
{
	if (op->op == VTI_MOVE1)
		return VTI_COMPARE_BIT;
	return op->op >= VTI_FAST ? vti_compare_of(op, bits) : VTI_COMPARE_OTHER;
}

static void note_exit(const struct vti_build *b, size_t exit)
{
	struct vti_build_op *e = &b->ops[exit];
	const struct vti_op *op = NULL;
	enum vti_compare how = VTI_COMPARE_BIT;
	uint16_t slot = e->op.a;
	unsigned bits = 0;
	bool inverted = false;
	size_t at = exit;

	while (how == VTI_COMPARE_BIT || how == VTI_COMPARE_NOT) {
		at = maker_of(b, at, slot);
		if (at == SIZE_MAX)
			return;
		op = &b->ops[at].op;
		how = compare_of(op, &bits);
		inverted ^= how == VTI_COMPARE_NOT;
		slot = op->a;
	}
	if (how == VTI_COMPARE_OTHER)
		return;
	inverted ^= how != VTI_COMPARE_EQUAL;
	e->op.d = how == VTI_COMPARE_ORDER ? VTI_EXIT_ORDERED
		  : inverted		   ? VTI_EXIT_DIFFERENT
					   : VTI_EXIT_EQUAL;
	e->op.dst = (uint16_t)bits;
	e->op.b = op->a;
	e->op.c = how == VTI_COMPARE_ZERO ? VTI_NO_SLOT : op->b;
	/* They keep their places up to here. */
	e->words.b = 1;
	e->words.c = how != VTI_COMPARE_ZERO;
}

void vti_build_note_exits(const struct vti_build *b)
{
	size_t i;

	for (i = 0; i < b->nops; i++)
		if (b->ops[i].op.op == VTI_EXIT)
			note_exit(b, i);
}
