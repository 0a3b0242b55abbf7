/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/loops.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* Blocks are known by their number in a depth-first walk; `order` has them by number. */
struct nesting {
	const struct vt_cfg *g;
	uint32_t *order;
	uint32_t *number; /* by block; NONE: control does not come to it */
	uint32_t *last;	  /* by number: that of the last block that was first reached from it */
	uint32_t *merged; /* by number: what it has become a part of; union-find */
	uint32_t *around; /* by number: the head of the loop around it, or NONE */
	bool *head;	  /* by number */
	bool *entered;
	uint32_t *body; /* of the loop at hand, by number */
	uint32_t *seen; /* by number: the last head whose body it was put into */
	uint32_t count;
};

/* The walk's stack is `merged`, and how far it is with each block `around`: both come later. */
static void walk_depth_first(struct nesting *n)
{
	uint32_t *stack = n->merged, *next = n->around, depth = 0;

	stack[depth++] = VT_CFG_ENTRY;
	n->number[VT_CFG_ENTRY] = n->count;
	n->order[n->count++] = VT_CFG_ENTRY;
	while (depth) {
		uint32_t at = stack[depth - 1], to;
		const struct vt_cfg_block *b = &n->g->blocks[at];

		if (next[at] == b->nout) {
			n->last[n->number[at]] = n->count - 1;
			depth--;
			continue;
		}
		to = n->g->edges[b->out + next[at]++].to;
		if (n->number[to] != NONE)
			continue;
		n->number[to] = n->count;
		n->order[n->count++] = to;
		stack[depth++] = to;
	}
}

static uint32_t find_merged(const struct nesting *n, uint32_t x)
{
	while (n->merged[x] != x) {
		n->merged[x] = n->merged[n->merged[x]];
		x = n->merged[x];
	}
	return x;
}

static bool is_below(const struct nesting *n, uint32_t x, uint32_t head)
{
	return x >= head && x <= n->last[head];
}

static void add_to_body(struct nesting *n, uint32_t x, uint32_t head, uint32_t *nbody)
{
	if (x == head || n->seen[x] == head)
		return;
	n->seen[x] = head;
	n->body[(*nbody)++] = x;
}

/* Calls the blocks before one into the body of a loop; for the head, only those that close it. */
static void add_before(struct nesting *n, uint32_t x, uint32_t head, uint32_t *nbody)
{
	const struct vt_cfg_block *b = &n->g->blocks[n->order[x]];
	uint32_t i;

	for (i = 0; i < b->nin; i++) {
		uint32_t from = n->number[n->g->edges[n->g->in[b->in + i]].from];

		if (from == NONE || (x != head && is_below(n, from, x)))
			continue;
		if (!is_below(n, from, head))
			n->entered[head] |= x != head;
		else
			add_to_body(n, find_merged(n, from), head, nbody);
		n->head[head] |= x == head && is_below(n, from, head);
	}
}

static void find_loop(struct nesting *n, uint32_t head)
{
	uint32_t nbody = 0, i;

	add_before(n, head, head, &nbody);
	for (i = 0; i < nbody; i++)
		add_before(n, n->body[i], head, &nbody);
	for (i = 0; i < nbody; i++) {
		n->around[n->body[i]] = head;
		n->merged[n->body[i]] = head;
	}
}

static bool nesting_init(struct nesting *n, const struct vt_cfg *g)
{
	uint32_t i;

	*n = (struct nesting){.g = g};
	n->order = calloc(g->nblocks, sizeof(*n->order));
	n->number = calloc(g->nblocks, sizeof(*n->number));
	n->last = calloc(g->nblocks, sizeof(*n->last));
	n->merged = calloc(g->nblocks, sizeof(*n->merged));
	n->around = calloc(g->nblocks, sizeof(*n->around));
	n->head = calloc(g->nblocks, sizeof(*n->head));
	n->entered = calloc(g->nblocks, sizeof(*n->entered));
	n->body = calloc(g->nblocks, sizeof(*n->body));
	n->seen = calloc(g->nblocks, sizeof(*n->seen));
	if (!n->order || !n->number || !n->last || !n->merged || !n->around || !n->head ||
	    !n->entered || !n->body || !n->seen)
		return false;
	for (i = 0; i < g->nblocks; i++)
		n->number[i] = NONE;
	walk_depth_first(n);
	for (i = 0; i < g->nblocks; i++) {
		n->merged[i] = i;
		n->around[i] = NONE;
		n->seen[i] = NONE;
	}
	return true;
}

static void nesting_fini(struct nesting *n)
{
	free(n->order);
	free(n->number);
	free(n->last);
	free(n->merged);
	free(n->around);
	free(n->head);
	free(n->entered);
	free(n->body);
	free(n->seen);
}

/* Loops get their numbers in the walk's order, so that one comes before those inside of it. */
static void number_loops(const struct nesting *n, struct vt_loops *l)
{
	uint32_t i;

	for (i = 0; i < n->g->nblocks; i++)
		l->of[i] = VT_LOOP_NONE;
	for (i = 0; i < n->count; i++) {
		uint32_t around = n->around[i];

		if (around != NONE)
			l->of[n->order[i]] = l->of[n->order[around]];
		if (!n->head[i])
			continue;
		l->list[l->count] = (struct vt_loop){
			.head = n->order[i],
			.parent = l->of[n->order[i]],
			.depth = around == NONE ? 1 : l->list[l->of[n->order[i]]].depth + 1,
			.entered = n->entered[i],
		};
		l->of[n->order[i]] = l->count++;
	}
}

struct vt_loops *vt_loops_new(const struct vt_cfg *g, struct vt_error *err)
{
	struct vt_loops *l = calloc(1, sizeof(*l));
	struct nesting n = {0};
	uint32_t i;
	bool ok = l && nesting_init(&n, g);

	if (ok) {
		for (i = n.count; i > 0; i--)
			find_loop(&n, i - 1);
		l->list = calloc((size_t)n.count + 1, sizeof(*l->list));
		l->of = calloc((size_t)g->nblocks + 1, sizeof(*l->of));
		ok = l->list && l->of;
	}
	if (ok)
		number_loops(&n, l);
	nesting_fini(&n);
	if (ok)
		return l;
	vt_loops_free(l);
	vt_error_nomem(err);
	return NULL;
}

void vt_loops_free(struct vt_loops *l)
{
	if (!l)
		return;
	free(l->list);
	free(l->of);
	free(l);
}

bool vt_loops_hold(const struct vt_loops *l, uint32_t loop, uint32_t block)
{
	uint32_t at = l->of[block];

	while (at != VT_LOOP_NONE && at > loop)
		at = l->list[at].parent;
	return at == loop;
}
