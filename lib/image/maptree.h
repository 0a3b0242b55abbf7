/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_MAPTREE_H
#define VT_IMAGE_MAPTREE_H

#include <stddef.h>

#include "base/error.h"
#include "image/map.h"

/*
 * Mappings of one process, none overlapping, as an AVL tree made by splitting and linking: its
 * height is logarithmic, and so is recursion into it, whatever a file puts there.
 */
struct vti_node {
	struct vt_map map;
	struct vti_node *left;
	struct vti_node *right;
	unsigned height; /* of a leaf: 1 */
};

/* Where nodes come from. */
struct vti_nodes {
	struct vti_node *free;
	size_t count; /* in use */
	size_t limit;
};

void vti_nodes_init(struct vti_nodes *n, size_t limit);
void vti_nodes_fini(struct vti_nodes *n);

/* Puts a mapping in the place of whatever overlaps it; `map` may be NULL to cut [start, end) only.
 * Returns 0, -VT_E_NOMEM or -VT_E_LIMIT; the tree then lacks what was to be cut. */
int vti_tree_put(struct vti_nodes *n, struct vti_node **root, uint64_t start, uint64_t end,
		 const struct vt_map *map);

const struct vt_map *vti_tree_find(const struct vti_node *root, uint64_t address);

/* The last mapping that starts at or below the address, the first above it; NULL: none. */
void vti_tree_around(const struct vti_node *root, uint64_t address, const struct vt_map **below,
		     const struct vt_map **above);
void vti_tree_free(struct vti_nodes *n, struct vti_node *root);

/* A copy in *to; 0, -VT_E_NOMEM or -VT_E_LIMIT with *to NULL. */
int vti_tree_copy(struct vti_nodes *n, const struct vti_node *root, struct vti_node **to);

#endif
