/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_FLOW_H
#define VT_FREQ_STACK_FLOW_H

#include <stdint.h>

#include "base/error.h"
#include "freq/source.h"
#include "freq/stack_count.h"
#include "profile/procedure_flow.h"

/*
 * The counts of an event's branch stacks in a procedure: fills `measured` and `measured_edges`
 * unless there are none.  `offset` is the procedure's offset in its image, `scale` the factor from
 * counts to executions.  -VT_E_NOMEM.
 */
int vt_stackflow_measure(const struct vt_stackcount *c, uint64_t event, const struct vt_procflow *f,
			 uint64_t offset, double scale, struct vt_freq_counts *counts,
			 struct vt_error *err);

/*
 * The `count` of a struct vt_count_source whose `source` is a struct vt_stackcount, or NULL.  Uses
 * the stacks of the event of time, else those of the event with most stacks, whose counts are taken
 * to be in proportion to executions.
 */
int vt_stackflow_count(const void *source, const struct vt_count_request *r,
		       struct vt_freq_counts *c, struct vt_error *err);

/* The `place` of such a source: where runs begin. */
bool vt_stackflow_place(const void *source, uint64_t event, size_t i, struct vt_place *place);

#endif
