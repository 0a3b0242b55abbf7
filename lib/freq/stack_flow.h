/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_FLOW_H
#define VT_FREQ_STACK_FLOW_H

#include <stdint.h>

#include "base/error.h"
#include "freq/freq.h"
#include "freq/stack_count.h"
#include "profile/procedure_flow.h"

/* What branch stacks counted of a procedure. */
struct vt_stackflow {
	struct vt_freq_measure *insns; /* by instruction of the graph; NULL: nothing */
	struct vt_freq_measure *edges; /* by edge */
};

/*
 * `offset` is the procedure's in its image, `scale` what counts are multiplied by.  To be freed in
 * either case.  -VT_E_NOMEM.
 */
int vt_stackflow_init(struct vt_stackflow *s, const struct vt_stackcount *c, uint64_t event,
		      const struct vt_procflow *f, uint64_t offset, double scale,
		      struct vt_error *err);
void vt_stackflow_fini(struct vt_stackflow *s);

#endif
