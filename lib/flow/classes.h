/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_CLASSES_H
#define VT_FLOW_CLASSES_H

#include <stdint.h>

#include "base/error.h"
#include "flow/cfg.h"

/*
 * Frequency equivalence classes: blocks and edges that are executed equally often on all paths.
 * DCPI 6.1.2, by cycle equivalence (Johnson, Pearson, Pingali, "The program structure tree", PLDI
 * 1994).  Edges are compared by labels of 128 random bits for the cycles that they are on
 * (Pritchard, Thurimella, "Fast computation of small cuts via cycle space sampling", 2011).
 */
struct vt_classes {
	uint32_t *block; /* class of each block of the graph, including ENTRY and EXIT */
	uint32_t *edge;	 /* class of each edge */
	uint32_t count;	 /* of classes, numbered in the order of their first block or edge */
};

/*
 * Computes the classes in time linear in the graph.  An infinite loop has its own classes, as if it
 * had always run; edges into it count as edges to EXIT.  In an incomplete graph, each block and
 * each edge is its own class.  Owned by the caller.  NULL: VT_E_NOMEM.
 */
struct vt_classes *vt_classes_new(const struct vt_cfg *g, struct vt_error *err);
void vt_classes_free(struct vt_classes *c);

#endif
