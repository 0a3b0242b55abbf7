/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/sums.h"

struct summing {
	const struct vt_calltree *tree;
	uint32_t root;
	struct vt_callsums *sums;
	bool failed; /* memory ran out */
};

static struct vt_callsum *find_procedure(struct summing *s, const struct vt_callnode *n)
{
	const uint64_t key = n->key;

	return vt_hash_add(&s->sums->procedures, &key, NULL);
}

static struct vt_calledge *find_edge(struct summing *s, const struct vt_callnode *n)
{
	struct vt_calledge at = {.caller = VT_CALL_NONE, .callee = n->key};

	if (n->parent != s->root)
		at.caller = vt_calltree_at(s->tree, n->parent)->key;
	return vt_hash_add(&s->sums->edges, &at, NULL);
}

static bool enter_node(void *arg, uint32_t node, unsigned depth)
{
	struct summing *s = arg;
	const struct vt_callnode *n = vt_calltree_at(s->tree, node);
	struct vt_callsum *p = find_procedure(s, n);
	struct vt_calledge *e = find_edge(s, n);

	(void)depth;
	if (!p || !e) {
		s->failed = true;
		return false;
	}
	vt_tally_add(&p->self, n->self);
	if (!p->active++)
		vt_tally_add(&p->total, n->total);
	if (!e->active++)
		vt_tally_add(&e->total, n->total);
	return true;
}

/* What was entered is there. */
static void leave_node(void *arg, uint32_t node)
{
	struct summing *s = arg;
	const struct vt_callnode *n = vt_calltree_at(s->tree, node);

	if (s->failed)
		return;
	find_procedure(s, n)->active--;
	find_edge(s, n)->active--;
}

int vt_callsums_init(struct vt_callsums *sums, const struct vt_calltree *t, uint32_t root,
		     struct vt_error *err)
{
	struct summing s = {t, root, sums, false};
	const struct vt_calltree_visitor v = {enter_node, leave_node, &s};

	vt_hash_init(&sums->procedures, sizeof(struct vt_callsum), sizeof(uint64_t));
	vt_hash_init(&sums->edges, sizeof(struct vt_calledge), offsetof(struct vt_calledge, total));
	if (root != VT_CALL_NONE)
		vt_calltree_walk(t, root, &v);
	return s.failed ? vt_error_nomem(err) : 0;
}

void vt_callsums_fini(struct vt_callsums *s)
{
	vt_hash_fini(&s->procedures);
	vt_hash_fini(&s->edges);
}
