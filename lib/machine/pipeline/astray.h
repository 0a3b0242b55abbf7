/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_ASTRAY_H
#define VT_MACHINE_PIPELINE_ASTRAY_H

#include "machine/pipeline/sim.h"

/* Decoded code of wrong paths, of which the instructions seen last are remembered. */
struct vti_astray;

struct vti_astray_insn {
	uint64_t addr;
	uint64_t next;	/* where fetch goes on; 0: no further */
	uint32_t flags; /* enum vt_fact */
	uint8_t length; /* 0: none is remembered here */
};

/* Instructions that are remembered: a power of 2. */
#define VTI_ASTRAY 4096

/* Owned by the caller.  Returns NULL when memory runs out. */
struct vti_astray *vti_astray_new(vt_sim_code_fn *code, void *arg);
void vti_astray_free(struct vti_astray *t);

/* Returns the instruction at an address, borrowed until the next call; NULL: it is not known. */
const struct vti_astray_insn *vti_astray_find(struct vti_astray *t, uint64_t addr);

#endif
