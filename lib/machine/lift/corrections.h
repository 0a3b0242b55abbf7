/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_CORRECTIONS_H
#define VT_MACHINE_LIFT_CORRECTIONS_H

#include "machine/lift/build.h"

/*
 * Corrections of VEX's code where VEX differs from a processor, or processors differ from each
 * other.  Results that the manual leaves undefined (Intel SDM volume 2, "Flags Affected" of each
 * instruction), or that VEX computes in another way, become unknown, so that known values hold on
 * all of them.  machine/interp/flags.c corrects the flags that VEX computes on demand.  Private to
 * this folder.
 */

/* Whether VEX mistakes the instruction for another: it is treated as one that VEX does not know. */
bool vti_is_mistaken(const struct vt_facts *f, const uint8_t *bytes);

/*
 * Whether the next instruction must be lifted apart from this one: VEX passes its own result on to
 * the instructions that it lifts together, and so would pass on one that is corrected here.
 */
bool vti_ends_piece(const struct vt_facts *f);

/* A piece of VEX's code while it is lifted, and where its temporaries are. */
struct vti_flat {
	struct vti_build *b;
	const IRSB *in;
	uint16_t *temps;
	uint16_t fused; /* the last slot with a fused product and sum, or VTI_NO_SLOT */
};

/* The slot to write instead of `slot`, to the guest state or to memory. */
uint16_t vti_correct_put(struct vti_flat *f, const IRExpr *data, unsigned offset, uint16_t slot);
uint16_t vti_correct_store(struct vti_flat *f, uint16_t slot);

/* The slot to use instead of what a load puts into `slot`. */
uint16_t vti_correct_load(struct vti_flat *f, IRType type, uint16_t slot);

/* The result of an operator that negates `arg`. */
uint16_t vti_correct_negation(struct vti_flat *f, IROp op, uint16_t arg, uint16_t slot);

/* The rounding mode of a fused operator, from what MXCSR says. */
uint16_t vti_correct_rounding(struct vti_flat *f, uint16_t slot);

/* A condition: rcx is 0, so that a string instruction is not repeated once more. */
uint16_t vti_emit_done(struct vti_build *b);
/* `guard`, and not that. */
uint16_t vti_correct_again(struct vti_build *b, uint16_t guard);

/*
 * bt, bts, btr or btc of a register, by a register, from instruction b->emitted on.  False: it is
 * none.
 */
bool vti_lift_bit_test(struct vti_build *b);

/* In front of an instruction, and behind it. */
void vti_correct_begin(struct vti_build *b);
void vti_correct_end(struct vti_build *b);

#endif
