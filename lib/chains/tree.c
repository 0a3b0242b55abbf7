/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/tree.h"

#include <stdlib.h>

#include "base/buf.h"

/* A node on the way of the chain that was counted last. */
struct step {
	uint32_t key;
	uint32_t node;
};

struct vt_calltree {
	struct vt_hash nodes; /* struct vt_callnode */
	size_t max;
	struct step *way; /* from a root: chains often begin as the one before */
	size_t nway;
	size_t way_cap;
};

struct vt_calltree *vt_calltree_new(size_t max_nodes)
{
	struct vt_calltree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max_nodes;
	vt_hash_init(&t->nodes, sizeof(struct vt_callnode), offsetof(struct vt_callnode, self));
	return t;
}

void vt_calltree_free(struct vt_calltree *t)
{
	if (!t)
		return;
	vt_hash_fini(&t->nodes);
	free(t->way);
	free(t);
}

size_t vt_calltree_count(const struct vt_calltree *t)
{
	return t->nodes.count;
}

static struct vt_callnode *get_node(const struct vt_calltree *t, size_t node)
{
	return vt_hash_at(&t->nodes, node);
}

const struct vt_callnode *vt_calltree_at(const struct vt_calltree *t, size_t node)
{
	return get_node(t, node);
}

static uint32_t find_node(const struct vt_calltree *t, uint32_t parent, uint32_t key)
{
	const struct vt_callnode at = {.parent = parent, .key = key};
	const struct vt_callnode *n = vt_hash_find(&t->nodes, &at);

	return n ? (uint32_t)vt_hash_index(&t->nodes, n) : VT_CALL_NONE;
}

uint32_t vt_calltree_root(const struct vt_calltree *t, uint32_t root)
{
	return find_node(t, VT_CALL_NONE, root);
}

/* Finds or adds a node.  -VT_E_NOMEM. */
static int add_node(struct vt_calltree *t, uint32_t parent, uint32_t key, uint32_t *node,
		    struct vt_error *err)
{
	const struct vt_callnode at = {.parent = parent, .key = key};
	struct vt_callnode *n = vt_hash_add(&t->nodes, &at, NULL);

	if (!n)
		return vt_error_nomem(err);
	*node = (uint32_t)vt_hash_index(&t->nodes, n);
	return 0;
}

int vt_calltree_child(struct vt_calltree *t, uint32_t parent, uint32_t key, uint32_t *node,
		      struct vt_error *err)
{
	*node = parent;
	if (get_node(t, parent)->key == VT_CALL_CUT)
		return 0;
	*node = find_node(t, parent, key);
	if (*node != VT_CALL_NONE)
		return 0;
	if (t->nodes.count < t->max || key == VT_CALL_CUT)
		return add_node(t, parent, key, node, err);
	while (get_node(t, parent)->parent != VT_CALL_NONE)
		parent = get_node(t, parent)->parent;
	return add_node(t, parent, VT_CALL_CUT, node, err);
}

int vt_calltree_add_root(struct vt_calltree *t, uint32_t root, uint32_t *node, struct vt_error *err)
{
	return add_node(t, VT_CALL_NONE, root, node, err);
}

void vt_calltree_count_at(struct vt_calltree *t, uint32_t node, struct vt_tally tally)
{
	vt_tally_add(&get_node(t, node)->self, tally);
}

int vt_calltree_add(struct vt_calltree *t, uint32_t root, const uint32_t *keys, size_t n,
		    struct vt_tally tally, struct vt_error *err)
{
	uint32_t node = VT_CALL_NONE;
	size_t i = 0;

	if (!vt_array_grow(&t->way, &t->way_cap, n + 1, sizeof(*t->way)))
		return vt_error_nomem(err);
	if (t->nway && t->way[0].key == root) {
		while (i < n && i + 1 < t->nway && t->way[i + 1].key == keys[i])
			i++;
		node = t->way[i].node;
	} else if (vt_calltree_add_root(t, root, &node, err) < 0) {
		return -VT_E_NOMEM;
	}
	t->way[i] = (struct step){i ? keys[i - 1] : root, node};
	for (t->nway = i + 1; i < n; i++) {
		if (vt_calltree_child(t, node, keys[i], &node, err) < 0)
			return -VT_E_NOMEM;
		t->way[t->nway++] = (struct step){keys[i], node};
	}
	vt_calltree_count_at(t, node, tally);
	return 0;
}

/* ---- another tree of the same samples ---- */

/* Whether a node and its parent stand for the same call. */
static bool joins_parent(const struct vt_calltree *t, const struct vt_callnode *n,
			 const uint32_t *same)
{
	const struct vt_callnode *parent;

	if (n->parent == VT_CALL_NONE || n->key == VT_CALL_CUT || !(n->key & VT_CALL_SKID))
		return false;
	parent = get_node(t, n->parent);
	return parent->parent != VT_CALL_NONE &&
	       same[parent->key & ~VT_CALL_SKID] == same[n->key & ~VT_CALL_SKID];
}

/* Adds what a node becomes to those below `parent`; *node is the last of it. */
static int map_node(struct vt_calltree *to, const struct vt_callnode *n,
		    const struct vt_callmap *map, uint32_t parent, uint32_t *node,
		    struct vt_error *err)
{
	uint32_t key = n->key & ~VT_CALL_SKID, i;
	int code = 0;

	*node = parent;
	if (n->parent == VT_CALL_NONE)
		code = vt_calltree_add_root(to, n->key, node, err);
	else if (n->key == VT_CALL_CUT)
		code = vt_calltree_child(to, parent, VT_CALL_CUT, node, err);
	else
		for (i = map->first[key]; i < map->first[key + 1] && code == 0; i++)
			code = vt_calltree_child(to, *node, map->keys[i], node, err);
	if (code == 0)
		vt_calltree_count_at(to, *node, n->self);
	return code;
}

struct vt_calltree *vt_calltree_map(const struct vt_calltree *t, const struct vt_callmap *map,
				    const uint32_t *same, struct vt_error *err)
{
	struct vt_calltree *to = vt_calltree_new(t->max);
	/* By node: the last of what it has become, and the parent of the first. */
	uint32_t *nodes = calloc(2 * (t->nodes.count + 1), sizeof(*nodes));
	uint32_t *parents = nodes + t->nodes.count + 1;
	int code = to && nodes ? 0 : vt_error_nomem(err);
	size_t i;

	for (i = 0; i < t->nodes.count && code == 0; i++) {
		const struct vt_callnode *n = get_node(t, i);

		parents[i] = n->parent == VT_CALL_NONE	? VT_CALL_NONE
			     : joins_parent(t, n, same) ? parents[n->parent]
							: nodes[n->parent];
		code = map_node(to, n, map, parents[i], &nodes[i], err);
	}
	free(nodes);
	if (code == 0)
		return to;
	vt_calltree_free(to);
	return NULL;
}

/* ---- order ---- */

struct sorted_node {
	uint64_t weight;
	uint32_t parent;
	uint32_t order;
	uint32_t node;
};

/* Children of one parent together, in the order in which they are to be linked. */
static int compare_nodes(const void *pa, const void *pb)
{
	const struct sorted_node *a = pa, *b = pb;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Children come after their parents. */
static void sum_totals(struct vt_calltree *t)
{
	size_t i;

	for (i = 0; i < t->nodes.count; i++)
		get_node(t, i)->total = get_node(t, i)->self;
	for (i = t->nodes.count; i-- > 0;) {
		const struct vt_callnode *n = get_node(t, i);

		if (n->parent != VT_CALL_NONE)
			vt_tally_add(&get_node(t, n->parent)->total, n->total);
	}
}

static void link_children(struct vt_calltree *t, const struct sorted_node *sorted)
{
	uint32_t next = VT_CALL_NONE;
	size_t i;

	for (i = 0; i < t->nodes.count; i++)
		get_node(t, i)->child = VT_CALL_NONE;
	for (i = t->nodes.count; i-- > 0;) {
		const struct sorted_node *s = &sorted[i];

		get_node(t, s->node)->next = next;
		next = s->node;
		if (s->parent != VT_CALL_NONE)
			get_node(t, s->parent)->child = next;
		if (i && sorted[i - 1].parent != s->parent)
			next = VT_CALL_NONE;
	}
}

int vt_calltree_sort(struct vt_calltree *t, const uint32_t *order, bool by_period,
		     struct vt_error *err)
{
	struct sorted_node *sorted = calloc(t->nodes.count + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return vt_error_nomem(err);
	sum_totals(t);
	for (i = 0; i < t->nodes.count; i++) {
		const struct vt_callnode *n = get_node(t, i);
		bool plain = n->parent != VT_CALL_NONE && n->key != VT_CALL_CUT;

		sorted[i] = (struct sorted_node){by_period ? n->total.period : n->total.samples,
						 n->parent, plain ? order[n->key] : n->key,
						 (uint32_t)i};
		if (n->key == VT_CALL_CUT)
			sorted[i].weight = 0;
	}
	qsort(sorted, t->nodes.count, sizeof(*sorted), compare_nodes);
	link_children(t, sorted);
	free(sorted);
	return 0;
}

/* ---- walking ---- */

/* Leaves a node and its ancestors up to the first with a further sibling; returns that sibling. */
static uint32_t leave_nodes(const struct vt_calltree *t, const struct vt_calltree_visitor *v,
			    uint32_t root, uint32_t node, unsigned *depth)
{
	for (; node != root; node = get_node(t, node)->parent, --*depth) {
		if (v->leave)
			v->leave(v->arg, node);
		if (get_node(t, node)->next != VT_CALL_NONE)
			return get_node(t, node)->next;
	}
	return VT_CALL_NONE;
}

void vt_calltree_walk(const struct vt_calltree *t, uint32_t root,
		      const struct vt_calltree_visitor *v)
{
	uint32_t node = get_node(t, root)->child;
	unsigned depth = 0;

	while (node != VT_CALL_NONE) {
		bool down = !v->enter || v->enter(v->arg, node, depth);

		if (down && get_node(t, node)->child != VT_CALL_NONE) {
			node = get_node(t, node)->child;
			depth++;
		} else {
			node = leave_nodes(t, v, root, node, &depth);
		}
	}
}
