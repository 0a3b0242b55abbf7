/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_EVEX_H
#define VT_MACHINE_INTERP_EVEX_H

#include "machine/interp/internal.h"

/* Runs VTI_EVEX (machine/lift/evex.h). */
void vti_run_evex(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);

/* Sets the upper halves of zmm registers, bit n for zmm<n>, to one word, over and over. */
void vti_clear_high_halves(struct vt_interp *m, unsigned regs, struct vt_word to);

/* Makes what it writes unknown. */
void vti_forget_evex(struct vt_interp *m, const struct vti_op *op);

#endif
