/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_PREDECESSORS_H
#define VT_FLOW_PREDECESSORS_H

#include <stdint.h>

#include "base/error.h"
#include "flow/cfg.h"

/*
 * Finds by the shape of a graph the edge by which control most likely comes to each block: one that
 * closes a loop, else one that falls through, else any.  By block; 0, an edge of the entry: no
 * block comes before.  Owned by the caller, who frees it; NULL: VT_E_NOMEM.
 */
uint32_t *vt_predecessors_new(const struct vt_cfg *g, struct vt_error *err);

#endif
