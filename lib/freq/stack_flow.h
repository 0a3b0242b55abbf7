/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_FLOW_H
#define VT_FREQ_STACK_FLOW_H

#include <stdint.h>

#include "base/error.h"
#include "freq/freq.h"
#include "freq/stack_count.h"
#include "profile/procedure_flow.h"

/* The counts of branch stacks in a procedure. */
struct vt_stackflow {
	struct vt_freq_measure *insns; /* by instruction of the graph; NULL: no counts */
	struct vt_freq_measure *edges; /* by edge */
};

/*
 * `offset` is the procedure's offset in its image, `scale` the factor from counts to executions.
 * Call vt_stackflow_fini() also after an error.  -VT_E_NOMEM.
 */
int vt_stackflow_init(struct vt_stackflow *s, const struct vt_stackcount *c, uint64_t event,
		      const struct vt_procflow *f, uint64_t offset, double scale,
		      struct vt_error *err);
void vt_stackflow_fini(struct vt_stackflow *s);

#endif
