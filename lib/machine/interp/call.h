/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_CALL_H
#define VT_MACHINE_INTERP_CALL_H

#include "machine/interp/internal.h"

/* The helpers that VEX's code calls. */

/* Returns the kind of a helper by its name, for op->aux of a call. */
unsigned vti_call_kind(const struct vti_call *call);

/* Returns whether the helper computes a condition from the flags. */
bool vti_call_is_condition(const struct vti_op *op);

void vti_call_pure(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);
void vti_call_dirty(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);

/* Makes everything that a helper writes unknown, because its guard or arguments are unknown. */
void vti_call_forget(struct vt_interp *m, const struct vti_call *c);

#endif
