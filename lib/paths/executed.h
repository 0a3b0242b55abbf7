/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_EXECUTED_H
#define VT_PATHS_EXECUTED_H

#include <stdint.h>

#include "base/error.h"
#include "paths/places.h"
#include "profile/context.h"

/* The transfers of control in executed code: BLOCK and EXEC records. */
struct vt_pathexec;

/* Borrows the context and the places.  Owned by the caller; NULL: out of memory. */
struct vt_pathexec *vt_pathexec_new(const struct vt_context *c, struct vt_pathplaces *p);
void vt_pathexec_free(struct vt_pathexec *x);

/* A vt_consume_record_fn for EXEC and GAP records.  -VT_E_NOMEM. */
int vt_pathexec_feed(void *exec, const struct vt_record *rec, struct vt_error *err);

/* Adds what was executed to the places, after the last record.  -VT_E_NOMEM. */
int vt_pathexec_finish(struct vt_pathexec *x, struct vt_error *err);

/* The instructions executed so far, and EXEC records that contradict themselves. */
uint64_t vt_pathexec_insns(const struct vt_pathexec *x);
uint64_t vt_pathexec_bad(const struct vt_pathexec *x);

#endif
