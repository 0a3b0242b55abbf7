/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_EVEX_EMIT_H
#define VT_MACHINE_LIFT_EVEX_EMIT_H

#include "machine/lift/build.h"

/*
 * Emits an instruction of AVX-512 (evex.h), number b->emitted.  Returns false for other
 * instructions, which stay unlifted.
 */
bool vti_lift_evex(struct vti_build *b);

/* Returns which mask registers an instruction that stays unlifted writes, bit n for k<n>. */
unsigned vti_unlifted_masks(const struct vti_build *b);

/*
 * Emits, behind an instruction with VEX's prefix, that it clears the upper halves of the zmm
 * registers that it writes.
 */
void vti_clear_high(struct vti_build *b);

#endif
