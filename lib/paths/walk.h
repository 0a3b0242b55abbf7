/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_WALK_H
#define VT_PATHS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "paths/graph.h"

/*
 * Walks backwards from an instruction over all paths that agree with the directions of the branches
 * before it: ProfileMe (Dean et al., MICRO 1997), 5.3.  Paths that come to the same node with the
 * same branches and calls left are one from there on, so that the work is bounded.
 */

#define VT_PATHWALK_BRANCHES 64 /* the most that are walked over */

/* What is asked of an instruction. */
struct vt_pathask {
	uint32_t node;
	uint32_t nth; /* its number in the node */
	uint32_t branches;
	uint64_t history; /* bit 0: the last branch before it; 1: taken */
	bool paired;	  /* another instruction was fetched `distance` before it */
	uint32_t other;
	uint32_t other_nth;
	uint32_t distance; /* 1 … VT_PATHWALK_DISTANCE; else it is not used */
};

#define VT_PATHWALK_DISTANCE 65535

struct vt_pathanswer {
	bool some;	       /* there is a path */
	bool only;	       /* and no other one, for certain */
	bool open;	       /* others may come from code that is not known */
	bool capped;	       /* the work was bounded: some paths were not looked at */
	double left_out;       /* the part of the weight that these have, as estimated */
	double probability;    /* of the likeliest, among all that agree */
	const uint32_t *nodes; /* of the likeliest, newest first; valid until the next walk */
	uint32_t nnodes;
};

struct vt_pathwalk;

/* Borrows the graph.  Owned by the caller; NULL: out of memory. */
struct vt_pathwalk *vt_pathwalk_new(const struct vt_pathgraph *g);
void vt_pathwalk_free(struct vt_pathwalk *w);

/* Sets how likely each branch of code that is not known went as it did.  It is .5 before. */
void vt_pathwalk_guess(struct vt_pathwalk *w, double direction);

/*
 * Finds the paths, with `all` also those that hardly weigh, to tell whether there is a single one.
 * 0, -VT_E_NOMEM.
 */
int vt_pathwalk_find(struct vt_pathwalk *w, const struct vt_pathask *ask, bool pairs, bool all,
		     struct vt_pathanswer *a, struct vt_error *err);

/*
 * Walks likewise, and adds to `learned` of each edge the probability that control took it, times
 * `weight`: the expectation step of Baum and Welch.  Edges of calls count only where the caller was
 * not known.  0, -VT_E_NOMEM.
 */
int vt_pathwalk_learn(struct vt_pathwalk *w, struct vt_pathgraph *g, const struct vt_pathask *ask,
		      double weight, struct vt_error *err);

/*
 * How likely it is that the branches before an instruction went as they did, by all paths; 0 if
 * there is none.  0, -VT_E_NOMEM.
 */
int vt_pathwalk_weigh(struct vt_pathwalk *w, const struct vt_pathask *ask, double *probability,
		      struct vt_error *err);

/*
 * The path of the most frequent edge to each node, whatever the directions: *n nodes, newest first,
 * valid until the next walk.  False: it breaks off or goes round.
 */
bool vt_pathwalk_counts(struct vt_pathwalk *w, const struct vt_pathask *ask, const uint32_t **nodes,
			uint32_t *n);

#endif
