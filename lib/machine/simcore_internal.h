/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_SIMCORE_INTERNAL_H
#define VT_MACHINE_SIMCORE_INTERNAL_H

#include "machine/simcore.h"

/* The kinds of machine.  The functions are those of simcore.h. */
struct vti_siminorder;

struct vti_siminorder *vti_siminorder_new(const struct vt_core *m,
					  const struct vt_sim_hooks *hooks);
void vti_siminorder_free(struct vti_siminorder *s);
void vti_siminorder_run(struct vti_siminorder *s, const struct vt_sim_insn *insn);
void vti_siminorder_drain(struct vti_siminorder *s);
uint64_t vti_siminorder_cycle(const struct vti_siminorder *s);

#endif
