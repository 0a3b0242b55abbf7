/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/maptree.h"

#include <stdlib.h>

void vti_nodes_init(struct vti_nodes *n, size_t limit)
{
	*n = (struct vti_nodes){.limit = limit};
	vt_rng_init(&n->rng, 1);
}

void vti_nodes_fini(struct vti_nodes *n)
{
	struct vti_node *next;

	for (; n->free; n->free = next) {
		next = n->free->left;
		free(n->free);
	}
}

static struct vti_node *take(struct vti_nodes *n, int *rc)
{
	struct vti_node *node = n->free;

	if (n->count >= n->limit) {
		*rc = -VT_E_LIMIT;
		return NULL;
	}
	if (node)
		n->free = node->left;
	else
		node = malloc(sizeof(*node));
	if (!node) {
		*rc = -VT_E_NOMEM;
		return NULL;
	}
	n->count++;
	*node = (struct vti_node){.priority = vt_rng_next(&n->rng)};
	return node;
}

static void give(struct vti_nodes *n, struct vti_node *node)
{
	node->left = n->free;
	n->free = node;
	n->count--;
}

static struct vti_node *join(struct vti_node *a, struct vti_node *b)
{
	if (!a || !b)
		return a ? a : b;
	if (a->priority >= b->priority) {
		a->right = join(a->right, b);
		return a;
	}
	b->left = join(a, b->left);
	return b;
}

/* Mappings that start below `at` go to *a, the others to *b. */
static void divide(struct vti_node *t, uint64_t at, struct vti_node **a, struct vti_node **b)
{
	if (!t) {
		*a = *b = NULL;
	} else if (t->map.start < at) {
		divide(t->right, at, &t->right, b);
		*a = t;
	} else {
		divide(t->left, at, a, &t->left);
		*b = t;
	}
}

int vti_tree_put(struct vti_nodes *n, struct vti_node **root, uint64_t start, uint64_t end,
		 const struct vt_map *map)
{
	struct vti_node *before, *inside, *after, *last, *node;
	int rc = 0;

	divide(*root, start, &before, &inside);
	divide(inside, end, &inside, &after);
	/* The last mapping inside, or else the last before, may reach beyond the end. */
	for (last = inside ? inside : before; last && last->right;)
		last = last->right;
	if (last && last->map.end > end) {
		node = take(n, &rc);
		if (node) {
			node->map = last->map;
			node->map.start = end;
			after = join(node, after);
		}
	}
	for (last = before; last && last->right;)
		last = last->right;
	if (last && last->map.end > start)
		last->map.end = start;
	vti_tree_free(n, inside);
	node = map && rc == 0 ? take(n, &rc) : NULL;
	if (node)
		node->map = *map;
	*root = join(join(before, node), after);
	return rc;
}

void vti_tree_around(const struct vti_node *t, uint64_t address, const struct vt_map **below,
		     const struct vt_map **above)
{
	*below = *above = NULL;
	while (t) {
		if (address < t->map.start) {
			*above = &t->map;
			t = t->left;
		} else {
			*below = &t->map;
			t = t->right;
		}
	}
}

const struct vt_map *vti_tree_find(const struct vti_node *t, uint64_t address)
{
	while (t) {
		if (address < t->map.start)
			t = t->left;
		else if (address < t->map.end)
			return &t->map;
		else
			t = t->right;
	}
	return NULL;
}

void vti_tree_free(struct vti_nodes *n, struct vti_node *t)
{
	if (!t)
		return;
	vti_tree_free(n, t->left);
	vti_tree_free(n, t->right);
	give(n, t);
}

int vti_tree_copy(struct vti_nodes *n, const struct vti_node *t, struct vti_node **to)
{
	struct vti_node *node;
	int rc = 0;

	*to = NULL;
	if (!t)
		return 0;
	node = take(n, &rc);
	if (!node)
		return rc;
	node->map = t->map;
	node->priority = t->priority;
	rc = vti_tree_copy(n, t->left, &node->left);
	if (rc == 0)
		rc = vti_tree_copy(n, t->right, &node->right);
	if (rc < 0) {
		vti_tree_free(n, node);
		return rc;
	}
	*to = node;
	return 0;
}
