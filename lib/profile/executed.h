/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_EXECUTED_H
#define VT_PROFILE_EXECUTED_H

#include "image/addrspace.h"
#include "profile/profile.h"

/* The executed code of a profile: how often each instruction ran, and where it lies. */
struct vti_profcode;

/* Owned by the caller; NULL when memory runs out. */
struct vti_profcode *vti_profcode_new(void);
void vti_profcode_free(struct vti_profcode *c);

/*
 * Takes a BLOCK or EXEC record; code is looked for among what is mapped when its block is told.
 * -VT_E_FORMAT: it contradicts itself; -VT_E_NOMEM.
 */
int vti_profcode_take(struct vti_profcode *c, const struct vt_record *rec,
		      struct vt_addrspace *space, struct vt_error *err);

/* Instructions executed. */
uint64_t vti_profcode_insns(const struct vti_profcode *c);

/*
 * Calls `fn` with each instruction of each block that was executed: its place (of which event and
 * counts are 0) and how often.  What `fn` returns, if it is not 0.
 */
typedef int vti_profcode_fn(void *arg, const struct vt_place *place, uint64_t count,
			    struct vt_error *err);
int vti_profcode_each(struct vti_profcode *c, struct vt_addrspace *space, vti_profcode_fn *fn,
		      void *arg, struct vt_error *err);

#endif
