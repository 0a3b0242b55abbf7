/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_CORRECTIONS_H
#define VT_MACHINE_LIFT_CORRECTIONS_H

#include "machine/lift/build.h"

/*
 * Corrections of VEX's code.  Results that the manual leaves undefined (Intel SDM volume 2; "Flags
 * Affected" of each instruction) and that VEX computes differently become unknown, so that known
 * values are right for all processors.  Flags that VEX computes on demand are corrected in
 * machine/interp/flags.c.  Private to this folder.
 */

/* Returns whether VEX decodes the instruction wrongly, so that it counts as not supported. */
bool vti_is_mistaken(const struct vt_facts *f, const uint8_t *bytes);

/*
 * Returns whether VEX must not lift the next instruction together with this one, because it would
 * pass on its own result of this instruction, which is corrected here.
 */
bool vti_ends_piece(const struct vt_facts *f);

/* A piece of VEX's code that is being flattened, and the slots of its temporaries. */
struct vti_flat {
	struct vti_build *b;
	const IRSB *in;
	uint16_t *temps;
	uint16_t fused; /* the last slot with a fused product and sum, or VTI_NO_SLOT */
};

/* Return the slot to write instead of `slot` to the guest state or memory. */
uint16_t vti_correct_put(struct vti_flat *f, const IRExpr *data, unsigned offset, uint16_t slot);
uint16_t vti_correct_store(struct vti_flat *f, uint16_t slot);

/* Returns the slot to use instead of the loaded value in `slot`. */
uint16_t vti_correct_load(struct vti_flat *f, IRType type, uint16_t slot);

/* Returns the slot to use instead of the result of an operator that negates `arg`. */
uint16_t vti_correct_negation(struct vti_flat *f, IROp op, uint16_t arg, uint16_t slot);

/* Returns the slot with the rounding mode of MXCSR for a fused operator. */
uint16_t vti_correct_rounding(struct vti_flat *f, uint16_t slot);

/* Emits the condition that rcx is 0, so that a string instruction is not repeated again. */
uint16_t vti_emit_done(struct vti_build *b);
/* Emits the conjunction of `guard` and the negated condition. */
uint16_t vti_correct_again(struct vti_build *b, uint16_t guard);

/*
 * Emits bt, bts, btr or btc of a register by a register, instead of VEX's code, for instruction
 * b->emitted.  Returns false for other instructions.
 */
bool vti_lift_bit_test(struct vti_build *b);

/* Emit corrections before and after an instruction. */
void vti_correct_begin(struct vti_build *b);
void vti_correct_end(struct vti_build *b);

#endif
