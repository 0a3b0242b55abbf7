/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_TREE_H
#define VT_CHAINS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "profile/ranking.h"

/*
 * A call tree.  Each node stands for a chain of keys from a root, and counts the samples that were
 * taken at its end.  What a key is, the caller decides: the index of a place or of a procedure.
 *
 * Memory: at most the given number of nodes.  When there are no more, samples of new chains are
 * counted at a child of the root with the key VT_CALL_CUT, so that totals stay true.
 */
struct vt_calltree;

#define VT_CALLTREE_NODES 2097152

#define VT_CALL_NONE UINT32_MAX	      /* no node; the parent of a root */
#define VT_CALL_CUT  (UINT32_MAX - 1) /* the key of samples without a node of their own */

/*
 * A flag of keys in vt_calltree_add(): vt_calltree_map() puts such a node in its parent's place if
 * both stand for the same call.  Other keys are below it.
 */
#define VT_CALL_SKID UINT32_C(0x80000000)

/* `parent` and `key` are the key of the hash table. */
struct vt_callnode {
	uint32_t parent; /* index of a node, less than the node's own; or VT_CALL_NONE */
	uint32_t key;
	struct vt_tally self;
	struct vt_tally total; /* with all below; set by vt_calltree_sort(), like the links */
	uint32_t child;	       /* the first child; VT_CALL_NONE: none */
	uint32_t next;	       /* the next child of the same parent */
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_calltree *vt_calltree_new(size_t max_nodes);
void vt_calltree_free(struct vt_calltree *t);

/*
 * Counts samples with a chain below the root of key `root`: `keys` has n keys, the outermost first.
 * -VT_E_NOMEM.
 */
int vt_calltree_add(struct vt_calltree *t, uint32_t root, const uint32_t *keys, size_t n,
		    struct vt_tally tally, struct vt_error *err);

/*
 * Finds or adds the child of a node, with the key VT_CALL_CUT where there are no more nodes; the
 * child of such a node is the node itself.  -VT_E_NOMEM.
 */
int vt_calltree_child(struct vt_calltree *t, uint32_t parent, uint32_t key, uint32_t *node,
		      struct vt_error *err);

/* Finds or adds a root.  -VT_E_NOMEM. */
int vt_calltree_add_root(struct vt_calltree *t, uint32_t root, uint32_t *node,
			 struct vt_error *err);

/* Counts samples at a node. */
void vt_calltree_count_at(struct vt_calltree *t, uint32_t node, struct vt_tally tally);

/* What a key k becomes: keys[first[k]] to keys[first[k + 1] - 1], at least one, outermost first. */
struct vt_callmap {
	const uint32_t *first;
	const uint32_t *keys;
};

/*
 * Returns a tree with keys replaced, except in roots and VT_CALL_CUT, and nodes joined that get
 * equal chains.  A node with VT_CALL_SKID stands for the same call as its parent if same[k] is
 * equal for both.  If it gets more nodes than its maximum, it is as with vt_calltree_add().  NULL:
 * VT_E_NOMEM.
 */
struct vt_calltree *vt_calltree_map(const struct vt_calltree *t, const struct vt_callmap *map,
				    const uint32_t *same, struct vt_error *err);

/*
 * Computes totals, and links the children of each node: those with the most samples (or the
 * greatest period) first, equal ones in the order of order[key], VT_CALL_CUT last.  -VT_E_NOMEM.
 */
int vt_calltree_sort(struct vt_calltree *t, const uint32_t *order, bool by_period,
		     struct vt_error *err);

size_t vt_calltree_count(const struct vt_calltree *t);

/* Borrowed until the next change. */
const struct vt_callnode *vt_calltree_at(const struct vt_calltree *t, size_t node);

/* The index of the root of a key, or VT_CALL_NONE. */
uint32_t vt_calltree_root(const struct vt_calltree *t, uint32_t root);

/* What vt_calltree_walk() calls; either may be NULL. */
struct vt_calltree_visitor {
	/* Before a node's children.  A root's children have depth 0.  False: leave them out. */
	bool (*enter)(void *arg, uint32_t node, unsigned depth);
	/* After its children, also if they were left out. */
	void (*leave)(void *arg, uint32_t node);
	void *arg;
};

/* Visits the nodes below a root, in order; the tree is sorted. */
void vt_calltree_walk(const struct vt_calltree *t, uint32_t root,
		      const struct vt_calltree_visitor *v);

#endif
