/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_PROCEDURE_FLOW_H
#define VT_PROFILE_PROCEDURE_FLOW_H

#include <stdint.h>

#include "base/error.h"
#include "flow/cfg.h"
#include "flow/classes.h"
#include "image/images.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/schedule.h"
#include "profile/block_code.h"
#include "profile/locate.h"

/*
 * A procedure as the analyses of cycles see it: its graph, the classes of equal frequency, and what
 * a machine's static schedule says of each instruction.
 */
struct vt_procflow {
	struct vt_procedure proc;
	struct vt_cfg *cfg;		/* once there are ops, with all of their flags */
	struct vt_classes *classes;	/* NULL of a graph alone, as the next two */
	struct vt_mop *ops;		/* by instruction of the graph */
	struct vt_schedule_cost *costs; /* likewise; indices in them are of the graph's
					   instructions, VT_SCHEDULE_NONE for other ones */
	uint32_t *block;		/* the block of each instruction */
};

/*
 * Owned by the caller.  `code` has what no file has, and may be NULL.  A block that begins a loop
 * is scheduled in the steady state of the loop, another after its most likely predecessor.  NULL:
 * VT_E_NOTFOUND, there is no code; VT_E_NOMEM; VT_E_LIMIT.
 */
struct vt_procflow *vt_procflow_new(struct vt_images *images, const struct vt_blockcode *code,
				    const struct vt_procedure *proc, const struct vt_core *m,
				    struct vt_error *err);

/* The graph alone, and what blocks its instructions are in. */
struct vt_procflow *vt_procflow_graph(struct vt_images *images, const struct vt_blockcode *code,
				      const struct vt_procedure *proc, struct vt_error *err);

/*
 * Adds ops and costs to a graph; classes stay NULL.  With `edges`, costs are what
 * vt_procflow_weigh() would make of them, in less time; it may be NULL.  An error as above,
 * negative.
 */
int vt_procflow_schedule(struct vt_procflow *f, struct vt_images *images,
			 const struct vt_blockcode *code, const struct vt_core *m,
			 const double *edges, struct vt_error *err);

/*
 * Schedules anew, knowing how often control comes by each edge of the graph: what a block costs is
 * the mean over the ways into it.  -VT_E_NOMEM.
 */
int vt_procflow_weigh(struct vt_procflow *f, const struct vt_core *m, const double *edges,
		      struct vt_error *err);
void vt_procflow_free(struct vt_procflow *f);

#endif
