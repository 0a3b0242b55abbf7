/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_SYMBOLIC_H
#define VT_MACHINE_PIPELINE_SYMBOLIC_H

#include "machine/pipeline/core.h"

/*
 * Addresses in code whose values nobody knows: each register begins with a number of its own, and
 * sums are computed with these.  Accesses meet if the code says that they do.  Results that are no
 * sums are numbers that follow from all that an instruction reads.
 */
#define VTI_SYMBOLIC_MEMORY 256 /* a power of 2 */

struct vti_symbolic {
	uint64_t values[VT_NREGS];
	bool filled; /* memory is, with `fill` */
	uint64_t fill;
	struct {
		uint64_t addr;
		uint64_t value;
	} memory[VTI_SYMBOLIC_MEMORY]; /* what was stored, by address */
};

void vti_symbolic_init(struct vti_symbolic *s);

/* Fills the general registers and memory with a known value. */
void vti_symbolic_fill(struct vti_symbolic *s, uint64_t value);

/*
 * Runs an instruction whose next one is at `next`, 0 if that is unknown.  Sets the places of its
 * first load and store; size 0: there is none, or it is unknown.
 */
void vti_symbolic_run(struct vti_symbolic *s, const struct vt_mop *op, uint64_t next,
		      struct vt_ooo_place *load, struct vt_ooo_place *store);

#endif
