/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/trees.h"

#include <stdlib.h>

#include "base/hash.h"
#include "profile/context.h"

/* Where the calls of a node lie: the key of the tree is its index.  Without padding. */
struct tree_place {
	uint64_t offset;
	uint32_t image; /* index, or VT_UNMAPPED_IMAGE */
	uint32_t skid;	/* 1: VT_CALL_SKID */
};

/* The root of an event. */
struct tree_event {
	uint64_t event; /* index */
	struct vt_callcounts counts;
};

struct vti_trees {
	struct vt_hash places; /* struct tree_place */
	struct vt_hash events; /* struct tree_event; its index is the root's key */
	struct vt_calltree *tree;
	/* Of the stream at hand. */
	struct vt_context *context;
	struct vt_callgather *gather;
	struct vt_calldamage damage;
};

struct vti_trees *vti_trees_new(void)
{
	struct vti_trees *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	vt_hash_init(&t->places, sizeof(struct tree_place), sizeof(struct tree_place));
	vt_hash_init(&t->events, sizeof(struct tree_event), offsetof(struct tree_event, counts));
	t->tree = vt_calltree_new(VT_CALLTREE_NODES);
	if (t->tree)
		return t;
	vti_trees_free(t);
	return NULL;
}

static void end_stream(struct vti_trees *t)
{
	vt_callgather_free(t->gather);
	vt_context_free(t->context);
	t->gather = NULL;
	t->context = NULL;
}

void vti_trees_free(struct vti_trees *t)
{
	if (!t)
		return;
	end_stream(t);
	vt_hash_fini(&t->places);
	vt_hash_fini(&t->events);
	vt_calltree_free(t->tree);
	free(t);
}

/* ---- the stream at hand ---- */

int vti_trees_start(struct vti_trees *t, struct vt_images *images, struct vt_error *err)
{
	end_stream(t);
	t->context = vt_context_new(images);
	t->gather = t->context ? vt_callgather_new(t->context) : NULL;
	if (!t->gather)
		return vt_error_nomem(err);
	vt_context_add(t->context, &(struct vt_consumer){.take = vt_callgather_feed,
							 .arg = t->gather,
							 .kinds = VT_CALLGATHER_KINDS});
	return 0;
}

int vti_trees_feed(struct vti_trees *t, const struct vt_block *b, uint32_t first, uint32_t count,
		   struct vt_error *err)
{
	return vt_context_feed(t->context, b, first, count, err);
}

int vti_trees_finish(struct vti_trees *t, struct vt_error *err)
{
	t->damage = *vt_callgather_damage(t->gather);
	return vt_callgather_end(t->gather, err);
}

bool vti_trees_root_at(const struct vti_trees *t, size_t i, struct vt_callroot *root)
{
	return vt_callgather_root_at(t->gather, i, root);
}

const struct vt_calldamage *vti_trees_damage(const struct vti_trees *t)
{
	return &t->damage;
}

/* ---- joining ---- */

static bool add_up(uint64_t *to, uint64_t n)
{
	*to += n;
	return *to >= n;
}

/* The event of a root, with its numbers added to those of other streams; NULL with *err. */
static struct tree_event *join_event(struct vti_trees *t, uint32_t index,
				     const struct vt_callroot *root, struct vt_error *err)
{
	const uint64_t key = index;
	struct tree_event *e = vt_hash_add(&t->events, &key, NULL);
	const struct vt_callcounts *n = &root->counts;

	if (!e) {
		vt_error_nomem(err);
		return NULL;
	}
	if (add_up(&e->counts.samples, n->samples) && add_up(&e->counts.chains, n->chains) &&
	    add_up(&e->counts.unwound, n->unwound) && add_up(&e->counts.damaged, n->damaged) &&
	    add_up(&e->counts.cut, n->cut) && add_up(&e->counts.shortened, n->shortened))
		return e;
	vt_error_set(err, VT_E_LIMIT, "the samples of a call tree are too many");
	return NULL;
}

/* Adds the root of an event; *node is VT_CALL_NONE where the merge does not have the event. */
static int join_root(struct vti_trees *t, const struct vti_tree_ids *ids,
		     const struct vt_callroot *root, uint32_t *node, struct vt_error *err)
{
	struct tree_event *e;
	uint32_t index = 0;

	*node = VT_CALL_NONE;
	if (!ids->event(ids->arg, root, &index))
		return 0;
	e = join_event(t, index, root, err);
	if (!e)
		return -(int)err->code;
	return vt_calltree_add_root(t->tree, (uint32_t)vt_hash_index(&t->events, e), node, err);
}

/* The key of a place of the stream. */
static int join_key(struct vti_trees *t, const struct vti_tree_ids *ids, uint32_t key,
		    uint32_t *joined, struct vt_error *err)
{
	const struct vt_callplace from = vt_callgather_place(t->gather, key);
	struct tree_place at = {.offset = from.offset, .skid = (key & VT_CALL_SKID) != 0};
	const struct tree_place *p;

	if (!ids->image(ids->arg, from.image, &at.image))
		return vt_error_nomem(err);
	p = vt_hash_add(&t->places, &at, NULL);
	if (!p || t->places.count >= VT_CALL_CUT)
		return vt_error_nomem(err);
	*joined = (uint32_t)vt_hash_index(&t->places, p);
	return 0;
}

/* Adds a node of the stream; nodes[i] is what node i became, VT_CALL_NONE: nothing. */
static int join_node(struct vti_trees *t, const struct vti_tree_ids *ids,
		     const struct vt_callnode *n, const uint32_t *nodes, uint32_t *node,
		     struct vt_error *err)
{
	uint32_t key = n->key;

	*node = VT_CALL_NONE;
	if (nodes[n->parent] == VT_CALL_NONE)
		return 0;
	if (key != VT_CALL_CUT && join_key(t, ids, n->key, &key, err) < 0)
		return -VT_E_NOMEM;
	if (vt_calltree_child(t->tree, nodes[n->parent], key, node, err) < 0)
		return -VT_E_NOMEM;
	vt_calltree_count_at(t->tree, *node, n->self);
	return 0;
}

static int join_nodes(struct vti_trees *t, const struct vti_tree_ids *ids, uint32_t *nodes,
		      struct vt_error *err)
{
	const struct vt_calltree *from = vt_callgather_tree(t->gather);
	struct vt_callroot root;
	size_t i;
	int code = 0;

	for (i = 0; code == 0 && vt_callgather_root_at(t->gather, i, &root); i++)
		if (root.node != VT_CALL_NONE)
			code = join_root(t, ids, &root, &nodes[root.node], err);
	/* Parents come before their children. */
	for (i = 0; code == 0 && i < vt_calltree_count(from); i++) {
		const struct vt_callnode *n = vt_calltree_at(from, i);

		if (n->parent != VT_CALL_NONE)
			code = join_node(t, ids, n, nodes, &nodes[i], err);
	}
	return code;
}

int vti_trees_join(struct vti_trees *t, const struct vti_tree_ids *ids, struct vt_error *err)
{
	size_t n = vt_calltree_count(vt_callgather_tree(t->gather));
	uint32_t *nodes = calloc(n + 1, sizeof(*nodes));
	int code = nodes ? join_nodes(t, ids, nodes, err) : vt_error_nomem(err);

	free(nodes);
	end_stream(t);
	return code;
}

/* ---- writing ---- */

struct ranked_place {
	uint64_t image; /* id */
	uint64_t offset;
	uint32_t skid;
	uint32_t key;
};

static int compare_ranked_places(const void *pa, const void *pb)
{
	const struct ranked_place *a = pa, *b = pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->skid < b->skid ? -1 : a->skid > b->skid;
}

/* order[key] of the places; owned by the caller.  NULL: no memory. */
static uint32_t *order_places(const struct vti_trees *t, const struct vti_tree_ids *ids)
{
	size_t i, n = t->places.count;
	struct ranked_place *ranked = calloc(n + 1, sizeof(*ranked));
	uint32_t *order = calloc(n + 1, sizeof(*order));

	for (i = 0; ranked && order && i < n; i++) {
		const struct tree_place *p = vt_hash_at(&t->places, i);

		ranked[i] = (struct ranked_place){ids->written_image(ids->arg, p->image), p->offset,
						  p->skid, (uint32_t)i};
	}
	if (!ranked || !order) {
		free(ranked);
		free(order);
		return NULL;
	}
	qsort(ranked, n, sizeof(*ranked), compare_ranked_places);
	for (i = 0; i < n; i++)
		order[ranked[i].key] = (uint32_t)i;
	free(ranked);
	return order;
}

struct ranked_event {
	uint32_t id;
	uint32_t index; /* in `events` */
};

static int compare_ranked_events(const void *pa, const void *pb)
{
	const struct ranked_event *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

struct writing {
	const struct vti_trees *t;
	const struct vti_tree_ids *ids;
	struct vt_writer *w;
	uint64_t last;	 /* id */
	uint64_t *nodes; /* by node: the id of its record */
	uint32_t event;	 /* id */
};

static void write_root(struct writing *x, const struct tree_event *e, uint32_t node)
{
	uint64_t *row = vt_writer_row(x->w, VT_CHAIN);

	x->nodes[node] = ++x->last;
	row[VT_CHAIN_ID] = x->last;
	row[VT_CHAIN_EVENT] = x->event;
	row[VT_CHAIN_CHAINS] = e->counts.chains;
	row[VT_CHAIN_UNWOUND] = e->counts.unwound;
	row[VT_CHAIN_DAMAGED] = e->counts.damaged;
	row[VT_CHAIN_CUT] = e->counts.cut;
	row[VT_CHAIN_SHORTENED] = e->counts.shortened;
}

/* The enter() of a struct vt_calltree_visitor. */
static bool write_node(void *arg, uint32_t node, unsigned depth)
{
	struct writing *x = arg;
	const struct vt_callnode *n = vt_calltree_at(x->t->tree, node);
	uint64_t *row = vt_writer_row(x->w, VT_CHAIN);

	(void)depth;
	x->nodes[node] = ++x->last;
	row[VT_CHAIN_ID] = x->last;
	row[VT_CHAIN_PARENT] = x->nodes[n->parent];
	row[VT_CHAIN_EVENT] = x->event;
	row[VT_CHAIN_SAMPLES] = n->self.samples;
	row[VT_CHAIN_PERIOD] = n->self.period;
	if (n->key == VT_CALL_CUT) {
		row[VT_CHAIN_FLAGS] = VT_CHAIN_FULL;
	} else {
		const struct tree_place *p = vt_hash_at(&x->t->places, n->key);

		row[VT_CHAIN_FLAGS] = p->skid ? VT_CHAIN_SKID : 0;
		row[VT_CHAIN_IMAGE] = x->ids->written_image(x->ids->arg, p->image);
		row[VT_CHAIN_OFFSET] = p->offset;
	}
	return true;
}

static void write_events(struct writing *x, struct ranked_event *ranked)
{
	const struct vt_hash *events = &x->t->events;
	const struct vt_calltree_visitor v = {.enter = write_node, .arg = x};
	size_t i;

	for (i = 0; i < events->count; i++) {
		const struct tree_event *e = vt_hash_at(events, i);

		ranked[i] = (struct ranked_event){
			x->ids->written_event(x->ids->arg, (uint32_t)e->event), (uint32_t)i};
	}
	qsort(ranked, events->count, sizeof(*ranked), compare_ranked_events);
	for (i = 0; i < events->count; i++) {
		uint32_t root = vt_calltree_root(x->t->tree, ranked[i].index);

		x->event = ranked[i].id;
		write_root(x, vt_hash_at(events, ranked[i].index), root);
		vt_calltree_walk(x->t->tree, root, &v);
	}
}

int vti_trees_write(struct vti_trees *t, const struct vti_tree_ids *ids, struct vt_writer *w,
		    struct vt_error *err)
{
	uint32_t *order = order_places(t, ids);
	struct writing x = {.t = t, .ids = ids, .w = w};
	struct ranked_event *ranked = calloc(t->events.count + 1, sizeof(*ranked));
	int code = order ? vt_calltree_sort(t->tree, order, false, err) : vt_error_nomem(err);

	x.nodes = calloc(vt_calltree_count(t->tree) + 1, sizeof(*x.nodes));
	if (code == 0 && (!x.nodes || !ranked))
		code = vt_error_nomem(err);
	if (code == 0)
		write_events(&x, ranked);
	free(x.nodes);
	free(ranked);
	free(order);
	return code;
}
