/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_CLASSES_H
#define VT_FLOW_CLASSES_H

#include <stdint.h>

#include "base/error.h"
#include "flow/cfg.h"

/*
 * Frequency equivalence: blocks and edges that are executed the same number of times whatever way
 * control takes.  DCPI 6.1.2, and its cycle equivalence: Johnson, Pearson, Pingali, The program
 * structure tree, PLDI 1994; found by labels of 128 random bits that tell the cycles which an edge
 * lies on: Pritchard, Thurimella, Fast computation of small cuts via cycle space sampling, 2011.
 */
struct vt_classes {
	uint32_t *block; /* class of each block of the graph; ENTRY and EXIT have one, too */
	uint32_t *edge;	 /* of each edge */
	uint32_t count;	 /* of classes, numbered from 0 in the order of their first block or edge */
};

/*
 * In time linear in the graph.  A loop that nothing leaves has classes of its own, as if it had
 * always gone round; for what leads into it, it is as good as EXIT.  In a graph that is not
 * complete, each block and each edge is a class of its own.
 * NULL: VT_E_NOMEM.  Owned by the caller.
 */
struct vt_classes *vt_classes_new(const struct vt_cfg *g, struct vt_error *err);
void vt_classes_free(struct vt_classes *c);

#endif
