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
 * A procedure for the analyses of cycles: its graph, its classes of equal frequency, and the costs
 * of each instruction in a machine's static schedule.
 */
struct vt_procflow {
	struct vt_procedure proc;
	struct vt_cfg *cfg;		/* its instructions have the flags of `ops`, if any */
	struct vt_classes *classes;	/* NULL for a graph alone, as the next two may be */
	struct vt_mop *ops;		/* by instruction of the graph */
	struct vt_schedule_cost *costs; /* likewise; their indices are instructions of the graph,
					   or VT_SCHEDULE_NONE */
	uint32_t *block;		/* the block of each instruction */
};

/*
 * Owned by the caller.  `code` has code that is in no file and may be NULL.  The first block of a
 * loop is scheduled in the loop's steady state, any other after its most likely predecessor.  NULL:
 * VT_E_NOTFOUND if there is no code; VT_E_NOMEM; VT_E_LIMIT.
 */
struct vt_procflow *vt_procflow_new(struct vt_images *images, const struct vt_blockcode *code,
				    const struct vt_procedure *proc, const struct vt_core *m,
				    struct vt_error *err);

/* Makes only the graph, and `block`.  Errors as above. */
struct vt_procflow *vt_procflow_graph(struct vt_images *images, const struct vt_blockcode *code,
				      const struct vt_procedure *proc, struct vt_error *err);

/* Adds ops to a graph unless it has them.  Errors as above, negative. */
int vt_procflow_decode(struct vt_procflow *f, struct vt_images *images,
		       const struct vt_blockcode *code, const struct vt_core *m,
		       struct vt_error *err);

/* Adds classes to a graph.  -VT_E_NOMEM. */
int vt_procflow_classify(struct vt_procflow *f, struct vt_error *err);

/*
 * Adds ops, if there are none, and costs to a graph; of one with ops, `images` and `code` are not
 * looked at.  `edges` may be NULL; otherwise costs are as after vt_procflow_weigh(), in less time.
 * 0, or an error as above, negative.
 */
int vt_procflow_schedule(struct vt_procflow *f, struct vt_images *images,
			 const struct vt_blockcode *code, const struct vt_core *m,
			 const double *edges, struct vt_error *err);

/*
 * Likewise of a graph with ops, and with `edges`, but out of order the costs of blocks that are not
 * `used`, by block, may be 0.  With `causes_only`, stalls are the same, but times may be those of
 * one execution instead of means, in about half the time.
 */
int vt_procflow_schedule_used(struct vt_procflow *f, const struct vt_core *m, const double *edges,
			      const bool *used, bool causes_only, struct vt_error *err);

/*
 * Schedules again with the frequency of each edge of the graph.  In order, the cost of a block
 * becomes the weighted mean over its incoming edges; out of order, the mean of its executions in
 * walks through the procedure (procedure_walk.h).  -VT_E_NOMEM.
 */
int vt_procflow_weigh(struct vt_procflow *f, const struct vt_core *m, const double *edges,
		      struct vt_error *err);
void vt_procflow_free(struct vt_procflow *f);

#endif
