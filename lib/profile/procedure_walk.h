/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_PROCEDURE_WALK_H
#define VT_PROFILE_PROCEDURE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "flow/cfg.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/schedule.h"

/*
 * Behind a call, the end of the called procedure is issued: its return, and some other
 * instructions.  Returns stand for all of them.
 */
#define VT_CALL_RETURNS 3

/* The code of a procedure; all of it is borrowed. */
struct vt_walked_code {
	const struct vt_cfg *cfg;
	const struct vt_mop *ops;	/* by instruction of the graph */
	const uint32_t *block;		/* likewise: its block */
	struct vt_schedule_cost *costs; /* likewise: the result; indices are of the graph */
	bool once; /* costs may be those of the first execution, which has the causes */
};

/*
 * Schedules a procedure on a machine that issues out of order as it was executed: iterations of a
 * loop overlap, so that a block scheduled alone tells little.  Walks through each loop, and through
 * the code outside of loops, for many iterations; each edge is as likely as `edges` has executions
 * of it.  An inner loop is left at once where one of the edges out of it leads.  The cost of an
 * instruction becomes the mean of its executions once the walk has filled the machine.
 *
 * Sets walked[b] of the blocks whose instructions got costs.  The walks are the same for the same
 * executions.  0 or -VT_E_NOMEM.
 */
int vt_procedure_walk(const struct vt_walked_code *code, const struct vt_core *m,
		      const double *edges, bool *walked, struct vt_error *err);

#endif
