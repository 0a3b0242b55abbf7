/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_TRAIL_H
#define VT_PATHS_TRAIL_H

#include <stdint.h>

#include "base/error.h"
#include "paths/samples.h"
#include "profile/context.h"
#include "stream/writer.h"

/*
 * Samples of executed code, BLOCK and EXEC records, with the branches that each thread took last:
 * as exact as branch stacks.
 */
struct vt_pathtrail;

/*
 * Takes every `every`-th instruction of a thread on average; each sample stands for so many.
 * Borrows both.  Owned by the caller; NULL: out of memory.
 */
struct vt_pathtrail *vt_pathtrail_new(const struct vt_context *c, struct vt_pathsamples *s,
				      uint64_t every);
void vt_pathtrail_free(struct vt_pathtrail *t);

/* The event of these samples: no record of the input declares it. */
#define VT_PATHTRAIL_EVENT	0x76700001u
#define VT_PATHTRAIL_EVENT_NAME "instructions"

/* Writes the EVENT record of VT_PATHTRAIL_EVENT. */
void vt_pathtrail_write_event(const struct vt_pathtrail *t, struct vt_writer *w);

/* A vt_consume_record_fn for EXEC and GAP records.  -VT_E_NOMEM. */
int vt_pathtrail_feed(void *trail, const struct vt_record *rec, struct vt_error *err);

/* The instructions executed so far, and EXEC records that contradict themselves. */
uint64_t vt_pathtrail_insns(const struct vt_pathtrail *t);
uint64_t vt_pathtrail_bad(const struct vt_pathtrail *t);

#endif
