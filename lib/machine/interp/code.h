/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_CODE_H
#define VT_MACHINE_INTERP_CODE_H

#include "machine/interp/internal.h"

/* Lifted code, by space and address.  The space is the one at hand, m->space. */

bool vti_code_init(struct vt_interp *m);
void vti_code_fini(struct vt_interp *m);

/* The block at an address, if there is one already. */
struct vti_code *vti_code_near(struct vt_interp *m, uint64_t addr);

/*
 * The same, lifted if need be: then any block that was there before may be gone.  NULL: there is no
 * code (err->code is VT_OK), or an error.
 */
struct vti_code *vti_code_find(struct vt_interp *m, uint64_t addr, struct vt_error *err);

/* The same of at most `insns` instructions: its end is right for a piece of a path. */
struct vti_code *vti_code_part(struct vt_interp *m, uint64_t addr, uint32_t insns,
			       struct vt_error *err);

#endif
