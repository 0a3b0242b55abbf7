/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_INTERNAL_H
#define VT_FLOW_INTERNAL_H

#include "flow/cfg.h"

/* Where control goes after an instruction. */
enum vti_next {
	VTI_NEXT_FALL,	      /* to the next instruction */
	VTI_NEXT_CONDITIONAL, /* to the next instruction or its target */
	VTI_NEXT_JUMP,	      /* to its target */
	VTI_NEXT_INDIRECT,    /* to targets given by a register or memory */
	VTI_NEXT_LEAVE,	      /* out of the procedure */
	VTI_NEXT_BAD,	      /* it is not an instruction */
};

/* A decoded instruction. */
struct vti_node {
	uint32_t offset; /* in the procedure */
	uint32_t flags;	 /* vt_flow.flags */
	uint8_t length;
	uint8_t next;	/* enum vti_next */
	bool unknown;	/* an indirect jump: not all targets are known */
	bool leaves;	/* an indirect jump: it may leave the procedure, too */
	int64_t target; /* of a direct branch, as an offset */
};

/* A target of an indirect jump. */
struct vti_jump {
	uint32_t from; /* offsets */
	uint32_t to;
};

#define VTI_LEADER 1 /* control may arrive other than by falling through */
#define VTI_ENTRY  2 /* control may arrive from outside the procedure */

/*
 * Limits on the work for the indirect jumps of a procedure, and on their targets, which bound the
 * time for hostile code.  Targets of jumps beyond these limits are unknown.
 */
#define VTI_MAX_WORK  (UINT64_C(1) << 24)
#define VTI_MAX_JUMPS ((size_t)1 << 20)

/* The search for the instructions of a procedure. */
struct vti_walk {
	const struct vt_cfg_source *src;
	uint32_t *at;  /* by offset: number of the instruction there, from 1; 0: none yet */
	uint8_t *mark; /* by offset up to the procedure's end: VTI_LEADER … */
	struct vti_node *nodes; /* in the order of discovery */
	size_t nnodes;
	size_t nodes_cap;
	uint32_t *todo; /* offsets still to decode from */
	size_t ntodo;
	size_t todo_cap;
	struct vti_jump *jumps;
	size_t njumps;
	size_t jumps_cap;
	uint32_t searches; /* searches for targets of jumps so far */
	uint64_t work;	   /* their steps and table entries, at most VTI_MAX_WORK */
	bool bad;	   /* control reaches bytes that are not code */
};

/* Sets the error of all functions here when memory runs out.  Returns -VT_E_NOMEM. */
int vti_cfg_nomem(struct vt_error *err);

/* Finds all instructions.  Returns 0, -VT_E_NOMEM or -VT_E_LIMIT. */
int vti_walk_all(struct vti_walk *w, struct vt_error *err);
void vti_walk_free(struct vti_walk *w);

/* Queues an offset that control may reach.  Returns false when memory runs out. */
bool vti_walk_queue(struct vti_walk *w, uint32_t offset);

/*
 * Finds the targets of the indirect jumps among the nodes from number `first` on.  Adds them to
 * w->jumps, sorts that, and queues the targets.  Marks jumps whose targets are not all known.
 * Returns 0 or -VT_E_NOMEM.
 */
int vti_jumps_find(struct vti_walk *w, size_t first, struct vt_error *err);

/* Returns the index of the first of w->jumps[0..n-1] from this or a later offset. */
size_t vti_jumps_at(const struct vti_walk *w, size_t n, uint32_t offset);

#endif
