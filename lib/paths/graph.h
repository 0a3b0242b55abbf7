/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_GRAPH_H
#define VT_PATHS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "image/images.h"
#include "paths/places.h"
#include "profile/block_code.h"

/*
 * The graph of a program, to be walked backwards: the control-flow graphs of its procedures, with
 * edges between them.  A node is a basic block, or the part of one up to a call or behind one.
 */

enum vt_pathedge_kind {
	VT_PATHEDGE_PLAIN,  /* a branch, a jump, or falling through */
	VT_PATHEDGE_CALL,   /* from a call to the procedure */
	VT_PATHEDGE_RETURN, /* from a return to what is behind the call in node `site` */
	VT_PATHEDGE_STOP,   /* what comes before is another procedure, which is not looked at */
};

#define VT_PATHEDGE_NOBIT 2 /* vt_pathedge.bit: it does not end in a conditional branch */

struct vt_pathedge {
	uint32_t from; /* nodes; of VT_PATHEDGE_STOP `from` is `to` */
	uint32_t to;
	uint32_t site;	/* of VT_PATHEDGE_RETURN: the node that ends in the call; else 0 */
	uint8_t bit;	/* the direction of the branch at the end of `from`: 1 taken */
	uint8_t kind;	/* enum vt_pathedge_kind */
	double count;	/* how often control takes it, or an estimate in any unit */
	double part;	/* count, as a fraction of that of all edges to `to` */
	double learned; /* of vt_pathlearn() */
};

/* An edge as the walk meets it, with all that it reads of it and of the node that it comes from. */
struct vt_pathchoice {
	double part;   /* of the edge */
	float rest[2]; /* of this and the later ones, of those that agree with either direction */
	uint32_t edge; /* in vt_pathgraph.edges */
	uint32_t from;
	uint32_t site;
	uint32_t ninsns; /* of `from` */
	uint32_t first;	 /* likewise */
	uint8_t bit;
	uint8_t kind;
};

struct vt_pathnode {
	/* What the walk reads comes first. */
	uint32_t first;	 /* its first edge in vt_pathgraph.edges */
	uint32_t count;	 /* of edges to it */
	uint32_t others; /* of them, those that are no calls */
	uint32_t ninsns; /* at least 1 */
	double calls;	 /* `part` of all edges of calls to it */
	double unknown;	 /* of open ones: the share of control that comes from elsewhere */
	bool open;	 /* control may also come from where no edge does */
	bool leaves;	 /* it goes on to where no edge does */
	bool repeats;	 /* an instruction of it is repeated */
	bool incomplete; /* it ends in an indirect jump whose targets are not all known */
	bool entry;	 /* the procedure's first, or reached from code that is not known */
	uint32_t flags;	 /* of its last instruction: enum vt_fact */
	uint64_t start;	 /* vaddrs */
	uint64_t end;
	uint64_t target;  /* of the direct branch, jump or call at its end; 0: none */
	uint32_t proc;	  /* in vt_pathgraph.procs */
	uint32_t insn;	  /* its first in the procedure's graph */
	uint32_t site;	  /* the node before it, which ends in a call; VT_PATHNODE_NONE */
	double elsewhere; /* `unknown`, as a count */
	double learned;	  /* likewise, of vt_paths_learn() */
};

struct vt_pathproc;

struct vt_pathgraph {
	struct vt_images *images; /* borrowed, as `code` */
	const struct vt_blockcode *code;
	const struct vt_pathplaces *places;
	struct vt_hash index; /* of procedures by image, pid and vaddr */
	struct vt_pathproc *procs;
	size_t nprocs;
	size_t procs_cap;
	struct vt_pathnode *nodes;
	size_t nnodes;
	size_t nodes_cap;
	struct vt_pathedge *edges; /* sorted by `to` */
	size_t nedges;
	/* In the order of nodes: edges that are no calls, and those that are, the likeliest first
	 */
	struct vt_pathchoice *choices;
	uint64_t left_out; /* procedures beyond VT_PATHGRAPH_NODES */
	uint64_t no_code;  /* procedures whose code is not there */
	bool across;
};

/* The most nodes of a graph. */
#define VT_PATHGRAPH_NODES (UINT32_C(1) << 23)
#define VT_PATHNODE_NONE   UINT32_MAX

struct vt_pathgraph_options {
	struct vt_images *images;	    /* borrowed */
	const struct vt_blockcode *code;    /* borrowed; may be NULL */
	const struct vt_pathplaces *places; /* borrowed: the procedures wanted, and transfers */
	bool across;			    /* over calls and returns, and into other procedures */
	/*
	 * The transfers are all that the program did: an edge that none of them takes is left out,
	 * and nothing is unknown.  Else they only add edges, and their counts say nothing.
	 */
	bool counted;
};

/*
 * Makes the graph of the procedures that have places, and across procedures of all that these call
 * or jump to.  Owned by the caller.  NULL: VT_E_NOMEM.
 */
struct vt_pathgraph *vt_pathgraph_new(const struct vt_pathgraph_options *o, struct vt_error *err);
void vt_pathgraph_free(struct vt_pathgraph *g);

/* The node that a place is in, and the instruction's number in it; VT_PATHNODE_NONE: none. */
uint32_t vt_pathgraph_find(const struct vt_pathgraph *g, uint32_t place, uint32_t *nth);

/* The vaddr of the n-th instruction of a node. */
uint64_t vt_pathgraph_insn(const struct vt_pathgraph *g, uint32_t node, uint32_t nth);

/* The image of a node, and the offset of its first instruction in it. */
void vt_pathgraph_place(const struct vt_pathgraph *g, uint32_t node, uint32_t *image,
			uint64_t *offset);

static inline struct vt_pathchoice vt_pathchoice_make(const struct vt_pathgraph *g, uint32_t edge)
{
	const struct vt_pathedge *e = &g->edges[edge];

	return (struct vt_pathchoice){.part = e->part,
				      .edge = edge,
				      .from = e->from,
				      .site = e->site,
				      .ninsns = g->nodes[e->from].ninsns,
				      .first = g->nodes[e->from].first,
				      .bit = e->bit,
				      .kind = e->kind};
}

/* Sets `part` of all edges from their counts, and all that depends on it. */
void vt_pathgraph_weigh(struct vt_pathgraph *g);

#endif
