/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_VEX_H
#define VT_MACHINE_LIFT_VEX_H

#include <stdint.h>

#include <libvex_basictypes.h>

#include <libvex_ir.h>

#include "machine/lift/build.h"

/* VEX's side of lifting.  Private to lift*.c. */

/*
 * The instructions in `size` bytes, at most VTI_LIFT_BYTES, up to the first branch, as VEX has
 * them; what it makes of the end of the bytes, an instruction of no length, comes last.  Borrowed
 * until the next call; NULL when VEX gave up.
 */
IRSB *vti_vex_lift(uint64_t addr, const uint8_t *bytes, size_t size);

/* Why a piece of VEX's code was left. */
enum vti_piece {
	VTI_PIECE_END,	    /* the block ends here */
	VTI_PIECE_ON,	    /* the next instruction follows */
	VTI_PIECE_UNLIFTED, /* so does one that VEX does not know, or not as it is */
};

/* Flattens it, from instruction b->emitted on. */
enum vti_piece vti_flatten(struct vti_build *b, const IRSB *in);

/* Starts the instruction that follows; ends it. */
void vti_insn_begin(struct vti_build *b);
void vti_insn_end(struct vti_build *b);

/* ---- machine/lift/expr.c ---- */

/* The words that a value of some type takes. */
unsigned vti_type_words(IRType type);

/* One piece of VEX's code on its way: where its temporaries are. */
struct vti_flat {
	struct vti_build *b;
	const IRSB *in;
	uint16_t *temps;
	uint16_t fused; /* the last slot with a fused product and sum, or VTI_NO_SLOT */
};

/* The slot of a constant or temporary. */
uint16_t vti_atom(struct vti_flat *f, const IRExpr *e);

/* The slot that holds the value of an expression, computed by new operations if need be. */
uint16_t vti_expr(struct vti_flat *f, const IRExpr *e);

/* An operator's result of type `type`, from slots of so many words. */
uint16_t vti_operator(struct vti_build *b, IROp op, IRType type, const uint16_t *args,
		      const uint8_t *words, unsigned nargs);

/* VTI_GET8 for VTI_GET1 and 8, and so on: the operation of a family for a size of 1 to 32. */
unsigned vti_sized(unsigned op, unsigned size);

#endif
