/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_INTERNAL_H
#define VT_FLOW_INTERNAL_H

#include "flow/cfg.h"

/* How control leaves an instruction. */
enum vti_next {
	VTI_NEXT_FALL,	      /* to what follows only */
	VTI_NEXT_CONDITIONAL, /* to what follows, or its target */
	VTI_NEXT_JUMP,	      /* to its target only */
	VTI_NEXT_INDIRECT,    /* a jump to wherever a register or memory says */
	VTI_NEXT_LEAVE,	      /* out of the procedure only */
	VTI_NEXT_BAD,	      /* it is none */
};

/* An instruction on the way to a graph. */
struct vti_node {
	uint32_t offset; /* in the procedure */
	uint32_t flags;	 /* as vt_flow.flags */
	uint8_t length;
	uint8_t next;	/* enum vti_next */
	bool unknown;	/* not all its targets are known */
	bool leaves;	/* an indirect jump may go out of the procedure, too */
	int64_t target; /* of a direct branch, from the procedure's first byte */
};

/* One target of an indirect jump. */
struct vti_jump {
	uint32_t from; /* offsets */
	uint32_t to;
};

#define VTI_LEADER 1 /* control may arrive there from elsewhere than from above */
#define VTI_ENTRY  2 /* from outside, too */

/*
 * What is done about the indirect jumps of a procedure, and how many targets they have, at the very
 * most: code that was made for it could want any number of both.  Jumps of which so much is not
 * enough have targets that are not known.
 */
#define VTI_MAX_WORK  (UINT64_C(1) << 24)
#define VTI_MAX_JUMPS ((size_t)1 << 20)

/* A procedure whose instructions are being found. */
struct vti_walk {
	const struct vt_cfg_source *src;
	uint32_t *at;  /* by offset: number of the instruction there, from 1; 0: none yet */
	uint8_t *mark; /* by offset, one more than there are bytes: VTI_LEADER … */
	struct vti_node *nodes; /* in the order in which they were found */
	size_t nnodes;
	size_t nodes_cap;
	uint32_t *todo; /* offsets to walk from */
	size_t ntodo;
	size_t todo_cap;
	struct vti_jump *jumps;
	size_t njumps;
	size_t jumps_cap;
	uint32_t searches; /* for targets of jumps, so far */
	uint64_t work;	   /* steps of these, and entries of tables: at most VTI_MAX_WORK */
	bool bad;	   /* control reaches what is no code */
};

/* Finds all instructions.  -VT_E_NOMEM, -VT_E_LIMIT. */
int vti_walk_all(struct vti_walk *w, struct vt_error *err);
void vti_walk_free(struct vti_walk *w);

/* Control may go to this offset, where walking is to go on.  False: no memory. */
bool vti_walk_queue(struct vti_walk *w, uint32_t offset);

/*
 * Finds the targets of the indirect jumps among the nodes from number `first` on, adds them to
 * w->jumps, which are then sorted, and queues them; jumps whose targets are not all known are
 * marked so.  -VT_E_NOMEM.
 */
int vti_jumps_find(struct vti_walk *w, size_t first, struct vt_error *err);

/* The first of the first `n` jumps from this offset or a later one. */
size_t vti_jumps_at(const struct vti_walk *w, size_t n, uint32_t offset);

/* Whether the procedure at `target`, a vaddr, never returns. */
bool vti_call_ends(const struct vt_cfg_source *src, uint64_t target);

/*
 * Calls `fn` for each place of the procedure that another procedure of the image jumps to.  False
 * when `fn` did.
 */
bool vti_calls_into(const struct vt_cfg_source *src, bool (*fn)(void *arg, uint64_t vaddr),
		    void *arg);

#endif
