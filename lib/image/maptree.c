/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/maptree.h"

#include <assert.h>
#include <stdlib.h>

void vti_nodes_init(struct vti_nodes *n, size_t limit)
{
	*n = (struct vti_nodes){.limit = limit};
}

void vti_nodes_fini(struct vti_nodes *n)
{
	struct vti_node *next;

	for (; n->free; n->free = next) {
		next = n->free->left;
		free(n->free);
	}
}

static struct vti_node *alloc_node(struct vti_nodes *n, int *rc)
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
	*node = (struct vti_node){.height = 1};
	return node;
}

static void free_node(struct vti_nodes *n, struct vti_node *node)
{
	assert(n->count > 0);
	node->left = n->free;
	n->free = node;
	n->count--;
}

/* ---- balance ---- */

static unsigned height(const struct vti_node *t)
{
	return t ? t->height : 0;
}

static struct vti_node *attach_subtrees(struct vti_node *t, struct vti_node *left,
					struct vti_node *right)
{
	t->left = left;
	t->right = right;
	t->height = 1 + (height(left) > height(right) ? height(left) : height(right));
	return t;
}

static struct vti_node *turn_left(struct vti_node *t)
{
	struct vti_node *up = t->right;

	return attach_subtrees(up, attach_subtrees(t, t->left, up->left), up->right);
}

static struct vti_node *turn_right(struct vti_node *t)
{
	struct vti_node *up = t->left;

	return attach_subtrees(up, up->left, attach_subtrees(t, up->right, t->right));
}

/* Balances a node whose subtrees are balanced and differ in height by at most two. */
static struct vti_node *balance_node(struct vti_node *t)
{
	struct vti_node *l = t->left, *r = t->right;

	assert(height(l) <= height(r) + 2 && height(r) <= height(l) + 2);
	if (height(r) > height(l) + 1) {
		if (height(r->left) > height(r->right))
			t->right = turn_right(r);
		return turn_left(t);
	}
	if (height(l) > height(r) + 1) {
		if (height(l->right) > height(l->left))
			t->left = turn_left(l);
		return turn_right(t);
	}
	return t;
}

/* Links two trees of any height and a node between them into one tree. */
static struct vti_node *link_trees(struct vti_node *a, struct vti_node *node, struct vti_node *b)
{
	if (height(a) > height(b) + 1)
		return balance_node(attach_subtrees(a, a->left, link_trees(a->right, node, b)));
	if (height(b) > height(a) + 1)
		return balance_node(attach_subtrees(b, link_trees(a, node, b->left), b->right));
	return attach_subtrees(node, a, b);
}

/* Detaches the last node of a non-empty tree.  Returns the rest. */
static struct vti_node *detach_last(struct vti_node *t, struct vti_node **last)
{
	if (t->right)
		return link_trees(t->left, t, detach_last(t->right, last));
	*last = t;
	return t->left;
}

static struct vti_node *join_trees(struct vti_node *a, struct vti_node *b)
{
	struct vti_node *last;

	if (!a || !b)
		return a ? a : b;
	a = detach_last(a, &last);
	return link_trees(a, last, b);
}

/* Splits a tree: mappings that start below `at` go to *a, the others to *b. */
static void split_tree(struct vti_node *t, uint64_t at, struct vti_node **a, struct vti_node **b)
{
	struct vti_node *part;

	if (!t) {
		*a = *b = NULL;
	} else if (t->map.start < at) {
		split_tree(t->right, at, &part, b);
		*a = link_trees(t->left, t, part);
	} else {
		split_tree(t->left, at, a, &part);
		*b = link_trees(part, t, t->right);
	}
}

/* ---- the tree ---- */

int vti_tree_put(struct vti_nodes *n, struct vti_node **root, uint64_t start, uint64_t end,
		 const struct vt_map *map)
{
	struct vti_node *before, *inside, *after, *last, *node;
	int rc = 0;

	assert(start < end && (!map || (map->start == start && map->end == end)));
	split_tree(*root, start, &before, &inside);
	split_tree(inside, end, &inside, &after);
	/* The last mapping inside, or else the last before, may extend beyond the end. */
	for (last = inside ? inside : before; last && last->right;)
		last = last->right;
	if (last && last->map.end > end) {
		node = alloc_node(n, &rc);
		if (node) {
			node->map = last->map;
			node->map.start = end;
			after = join_trees(node, after);
		}
	}
	for (last = before; last && last->right;)
		last = last->right;
	if (last && last->map.end > start)
		last->map.end = start;
	vti_tree_free(n, inside);
	node = map && rc == 0 ? alloc_node(n, &rc) : NULL;
	if (node)
		node->map = *map;
	*root = join_trees(join_trees(before, node), after);
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
	free_node(n, t);
}

int vti_tree_copy(struct vti_nodes *n, const struct vti_node *t, struct vti_node **to)
{
	struct vti_node *node;
	int rc = 0;

	*to = NULL;
	if (!t)
		return 0;
	node = alloc_node(n, &rc);
	if (!node)
		return rc;
	node->map = t->map;
	node->height = t->height;
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
