/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_AMEND_H
#define VT_MACHINE_LIFT_AMEND_H

#include "machine/lift/build.h"

/*
 * Where VEX and a processor differ, and where two processors may: what the manual leaves undefined
 * (Intel SDM volume 2; "Flags Affected" of each instruction) and what VEX computes in another way
 * is unknown, so that what is known holds for all of them.  Flags that VEX computes only when they
 * are asked for are machine/interp/flags.c's business.  Private to this folder.
 */

/* VEX takes the instruction for what it is not: it is as if it did not know it. */
bool vti_is_mistaken(const struct vt_facts *f, const uint8_t *bytes);

/*
 * What the next instruction does with this one's results must not be known when this one is lifted:
 * VEX, which hands on what it takes for the result, would not see that it is amended.
 */
bool vti_ends_piece(const struct vt_facts *f);

/* One piece of VEX's code on its way: where its temporaries are. */
struct vti_flat {
	struct vti_build *b;
	const IRSB *in;
	uint16_t *temps;
	uint16_t fused; /* the last slot with a fused product and sum, or VTI_NO_SLOT */
};

/* What is written instead of `slot` to `size` bytes of the guest state or memory. */
uint16_t vti_amend_put(struct vti_flat *f, const IRExpr *data, unsigned offset, uint16_t slot);
uint16_t vti_amend_store(struct vti_flat *f, uint16_t slot);

/* What is loaded from memory. */
uint16_t vti_amend_load(struct vti_flat *f, IRType type, uint16_t slot);

/* The result of an operator that negates `arg`. */
uint16_t vti_amend_negation(struct vti_flat *f, IROp op, uint16_t arg, uint16_t slot);

/* The rounding mode of a fused operator, from what MXCSR says. */
uint16_t vti_amend_rounding(struct vti_flat *f, uint16_t slot);

/* A condition: rcx is 0, so that a string instruction is not repeated once more. */
uint16_t vti_emit_done(struct vti_build *b);
/* `guard`, and not that. */
uint16_t vti_amend_again(struct vti_build *b, uint16_t guard);

/*
 * bt, bts, btr or btc of a register, by a register, from instruction b->emitted on.  False: it is
 * none.
 */
bool vti_lift_bit_test(struct vti_build *b);

/* In front of an instruction, and behind it. */
void vti_amend_begin(struct vti_build *b);
void vti_amend_end(struct vti_build *b);

#endif
