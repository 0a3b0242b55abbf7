/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_INTERNAL_H
#define VT_PATHS_INTERNAL_H

#include "flow/cfg.h"
#include "paths/graph.h"
#include "profile/locate.h"

struct vt_pathproc {
	struct vt_procedure proc;
	struct vt_cfg *cfg; /* NULL: without code */
	uint32_t *node;	    /* by instruction of the graph: the node that it is in */
	uint32_t first;	    /* its nodes are first … first+count-1, by address */
	uint32_t count;
	uint32_t mark; /* of edges.c */
};

/* The node that begins at a vaddr of a procedure, or VT_PATHNODE_NONE. */
uint32_t vti_pathproc_node(const struct vt_pathgraph *g, uint32_t proc, uint64_t vaddr);

/* The same, among the procedures of the graph. */
uint32_t vti_pathgraph_begins(const struct vt_pathgraph *g, uint32_t image, int32_t pid,
			      uint64_t vaddr);

/* The node that ends at a vaddr, where the next procedure begins. */
uint32_t vti_pathgraph_ends(const struct vt_pathgraph *g, uint32_t image, int32_t pid,
			    uint64_t vaddr);

/* Makes g->edges once all nodes are there.  0, -VT_E_NOMEM. */
int vti_pathedges_make(struct vt_pathgraph *g, const struct vt_pathgraph_options *o,
		       struct vt_error *err);

#endif
