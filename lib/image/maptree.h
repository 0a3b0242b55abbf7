/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_MAPTREE_H
#define VT_IMAGE_MAPTREE_H

#include <stddef.h>

#include "base/error.h"
#include "image/map.h"

/*
 * The non-overlapping mappings of a process as an AVL tree with split and join operations.  Its
 * height, and thus the depth of recursion, is logarithmic for any input.
 */
struct vti_node {
	struct vt_map map;
	struct vti_node *left;
	struct vti_node *right;
	unsigned height; /* 1 for a leaf */
};

/* An allocator of nodes. */
struct vti_nodes {
	struct vti_node *free;
	size_t count; /* in use */
	size_t limit;
};

void vti_nodes_init(struct vti_nodes *n, size_t limit);
void vti_nodes_fini(struct vti_nodes *n);

/*
 * Replaces the mappings in [start, end) by `map`, or removes them if `map` is NULL.  Returns 0,
 * -VT_E_NOMEM or -VT_E_LIMIT; in case of an error, the range is removed only.
 */
int vti_tree_put(struct vti_nodes *n, struct vti_node **root, uint64_t start, uint64_t end,
		 const struct vt_map *map);

/* Returns the mapping that holds the address, or NULL. */
const struct vt_map *vti_tree_find(const struct vti_node *root, uint64_t address);

/* Finds the last mapping that starts at or below the address and the first above; NULL: none. */
void vti_tree_around(const struct vti_node *root, uint64_t address, const struct vt_map **below,
		     const struct vt_map **above);
void vti_tree_free(struct vti_nodes *n, struct vti_node *root);

/* Copies a tree to *to.  Returns 0, or -VT_E_NOMEM or -VT_E_LIMIT with *to NULL. */
int vti_tree_copy(struct vti_nodes *n, const struct vti_node *root, struct vti_node **to);

#endif
