/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_LOOPS_H
#define VT_FLOW_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "flow/cfg.h"

/* The loops of a control-flow graph, and how they are nested. */

#define VT_LOOP_NONE UINT32_MAX

struct vt_loop {
	uint32_t head;	 /* the block that the loop is entered at, and that closes it */
	uint32_t parent; /* the loop around it, which comes before it; VT_LOOP_NONE */
	uint32_t depth;	 /* 1: there is no loop around it */
	bool entered;	 /* control also gets into its body elsewhere than at `head` */
};

struct vt_loops {
	struct vt_loop *list; /* in the order in which control first comes to them */
	uint32_t count;
	uint32_t *of; /* by block: the innermost loop around it, or VT_LOOP_NONE */
};

/*
 * Finds the loops in nearly linear time: Paul Havlak, "Nesting of Reducible and Irreducible Loops",
 * ACM Transactions on Programming Languages and Systems 19, 1997.  Loops that share a head are one.
 * Owned by the caller; NULL: VT_E_NOMEM.
 */
struct vt_loops *vt_loops_new(const struct vt_cfg *g, struct vt_error *err);
void vt_loops_free(struct vt_loops *l);

/* Whether a block lies in a loop or in one inside of it. */
bool vt_loops_hold(const struct vt_loops *l, uint32_t loop, uint32_t block);

#endif
