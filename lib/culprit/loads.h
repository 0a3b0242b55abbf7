/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_LOADS_H
#define VT_CULPRIT_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "stream/writer.h"

/*
 * Counts what samples tell of loads: whether the sampled one hit the first data cache, and a TLB.
 * The counts are those of all loads of an instruction only if nothing that happened to a load had
 * it sampled, and only samples with the sampled instruction's own address count.
 *
 * Memory: an entry for each such instruction and event.
 */
struct vt_loads;

/* What an EVENT record has of how its samples were chosen. */
struct vt_loads_event {
	const char *name;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
};

/*
 * Whether an event samples loads whatever happens to them: Intel's mem-loads if its configuration
 * has a threshold of latency from 1 to 3 cycles, which no load is below, and all_loads; AMD's
 * ibs_op and Arm's arm_spe without filters.
 */
bool vt_loads_are_sampled(const struct vt_loads_event *e);

/* Borrows the context.  Owned by the caller; NULL when memory runs out. */
struct vt_loads *vt_loads_new(struct vt_context *context);
void vt_loads_free(struct vt_loads *l);

/* A vt_consume_record_fn for records of VT_LOADS_KINDS.  0 or -VT_E_NOMEM. */
#define VT_LOADS_KINDS (VT_KIND(VT_EVENT) | VT_KIND(VT_SAMPLE))
int vt_loads_feed(void *loads, const struct vt_record *rec, struct vt_error *err);

/*
 * Writes a LOADS record for each place and event with samples that tell something, in order of
 * image, offset and event.  Call it after the last record.  An error of the writer stays there.
 */
void vt_loads_write(struct vt_loads *l, struct vt_writer *w);

#endif
