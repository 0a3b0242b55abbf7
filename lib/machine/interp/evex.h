/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_EVEX_H
#define VT_MACHINE_INTERP_EVEX_H

#include "machine/interp/internal.h"

/* Runs VTI_EVEX (machine/lift/evex.h). */
void vti_run_evex(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);

/* Makes what it writes unknown. */
void vti_forget_evex(struct vt_interp *m, const struct vti_op *op);

#endif
