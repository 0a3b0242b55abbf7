/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_PATHS_H
#define VT_PATHS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "paths/graph.h"
#include "paths/samples.h"
#include "paths/walk.h"
#include "stream/kinds.h"
#include "stream/writer.h"

/* The paths that samples tell of, by one method; and what each method knows of true paths. */

/* The key of META that tells whether paths go across calls: "yes" or "no". */
#define VT_PATHS_META_ACROSS "vpath.across-calls"

/* Likewise, over how many conditional branches they go at most: a decimal number. */
#define VT_PATHS_META_BRANCHES "vpath.branches"

/* The ways to find a path that are scored: enum vt_path_method, and the likeliest with pairs. */
enum vt_pathway {
	VT_PATHWAY_COUNTS,
	VT_PATHWAY_HISTORY,
	VT_PATHWAY_HISTORY_PAIRS,
	VT_PATHWAY_LIKELY,
	VT_PATHWAY_LIKELY_PAIRS,
	VT_NPATHWAYS
};

/* "counts", "history", …: static. */
const char *vt_pathway_name(enum vt_pathway way);

/* A path: the key begins it. */
struct vt_path {
	uint64_t event;
	uint32_t place;	 /* of the instruction that it leads to */
	uint32_t nodes;	 /* in vt_paths.lists: uint32_t nodes of the graph, the oldest first */
	uint32_t method; /* enum vt_path_method */
	uint32_t branches;
	uint64_t found;	    /* samples of which it is the path, */
	double samples;	    /* each by its probability */
	double executions;  /* likewise; 0: not known */
	double probability; /* mean of theirs; 0: not known */
};

/* What became of the samples. */
struct vt_paths_totals {
	uint64_t samples;  /* with a history or a stack */
	uint64_t outside;  /* their instruction is in no procedure with code */
	uint64_t found;	   /* a path */
	uint64_t several;  /* more than one, by the methods that want one */
	uint64_t none;	   /* no path agrees */
	uint64_t ended;	   /* the path of a stack ends where no code shows how control came */
	uint64_t given_up; /* the work was bounded before one was found */
	uint64_t open;	   /* others may come from code that is not known */
	uint64_t capped;   /* the work was bounded */
	double left_out;   /* samples, by the weight of the paths not looked at */
};

#define VT_PATHS_BINS 10

struct vt_pathscore {
	uint64_t samples; /* with a true path of all branches that were asked for */
	uint64_t untrue;  /* their stack cannot be followed in the graph */
	uint64_t cut;	  /* their stack is too short */
	uint64_t brief;	  /* their history is */
	uint64_t outside;
	struct {
		uint64_t right;
		uint64_t only;	 /* one path is left */
		uint64_t wrong;	 /* and it is not the true one */
		uint64_t capped; /* the work was bounded */
	} ways[VT_NPATHWAYS];
	/* Of the likeliest with pairs, by its probability: 0 to .1, .1 to .2 … */
	struct {
		uint64_t samples;
		uint64_t right;
		double sum;	     /* of probabilities */
	} bins[VT_PATHS_BINS], near; /* near: .85 to .95 */
};

struct vt_paths {
	struct vt_pathgraph *g; /* borrowed, as `samples` */
	const struct vt_pathsamples *samples;
	struct vt_pathask *asks; /* by question; a node of VT_PATHNODE_NONE: outside */
	struct vt_pathwalk *walk;
	struct vt_intern *lists;
	struct vt_hash list; /* struct vt_path */
	struct vt_paths_totals totals;
};

/* Zeroed *p becomes usable; -VT_E_NOMEM.  End with vt_paths_fini() in either case. */
int vt_paths_init(struct vt_paths *p, struct vt_pathgraph *g, const struct vt_pathsamples *s,
		  struct vt_error *err);
void vt_paths_fini(struct vt_paths *p);

/*
 * Estimates the counts of edges from the samples: from how many there are in each node, and then
 * from what the branches before them say: one round of Baum and Welch.  -VT_E_NOMEM.
 */
int vt_paths_learn(struct vt_paths *p, struct vt_error *err);

/*
 * Estimates from the samples how likely a branch of code that is not known goes as it did, once the
 * counts of edges are there.  -VT_E_NOMEM.
 */
int vt_paths_guess(struct vt_paths *p, struct vt_error *err);

/* Finds the path of each question.  -VT_E_NOMEM. */
int vt_paths_find(struct vt_paths *p, enum vt_pathway way, struct vt_error *err);

/*
 * Scores all ways on the samples, which have stacks for that, on paths over `branches` conditional
 * branches, no more than the samples were taken with.  -VT_E_NOMEM.
 */
int vt_paths_score(struct vt_paths *p, uint32_t branches, struct vt_pathscore *score,
		   struct vt_error *err);

/*
 * The true path to an instruction by the stack of branches taken last: *n nodes, the newest first;
 * `nodes` has room for VT_PATHS_NODES.  The path goes back over `branches` conditional branches, or
 * as far as the stack.  Returns the branches that it has, or -1 if the graph has no such path, and
 * nodes are those up to there; *whole tells if it goes as far as it should.
 */
#define VT_PATHS_NODES 65536
int vt_paths_true(const struct vt_pathgraph *g, const struct vt_pathask *ask, const uint32_t *stack,
		  size_t nstack, uint32_t *nodes, uint32_t *n, bool *whole);

/* The paths by executions, the most first: indices in p->list; the caller frees them.  NULL: out of
 * memory. */
uint32_t *vt_paths_rank(const struct vt_paths *p);

/* Whether the numbers of a PATH record can be: a sum of many such stays finite. */
bool vt_path_is_sound(const struct vt_record *rec);

/* Writes PATH records, in the order of vt_paths_rank().  -VT_E_NOMEM. */
int vt_paths_write(const struct vt_paths *p, struct vt_writer *w, struct vt_error *err);

#endif
