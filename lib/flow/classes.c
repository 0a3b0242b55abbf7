/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/classes.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"

#define NONE UINT32_MAX

/* Any number; a fixed one makes results reproducible. */
#define SEED 0x6379636c6573

/*
 * The undirected graph for cycle equivalence.  Each block b is split into a link from its entrance
 * (node 2 b) to its exit (2 b + 1).  Each edge of the graph is a link from an exit to an entrance,
 * and one link leads from EXIT back to ENTRY.  Links are numbered: blocks, edges, the link back.
 */
struct split_graph {
	uint32_t nnodes;
	uint32_t nlinks;
	uint32_t *from; /* nodes, by link */
	uint32_t *to;
	uint32_t *first; /* by node: its first in `links`; one more at the end */
	uint32_t *links; /* those of each node */
};

/* The label of a link; links on the same cycles have equal labels.  Zero: on no cycle. */
struct cycle_label {
	uint64_t a;
	uint64_t b;
};

static void mix_labels(struct cycle_label *l, const struct cycle_label *other)
{
	l->a ^= other->a;
	l->b ^= other->b;
}

/* ---- infinite loops ---- */

/* Tarjan, "Depth-first search and linear graph algorithms", 1972, without recursion. */
struct graph_components {
	const struct vt_cfg *g;
	uint32_t *of;	 /* by block: number of its strongly connected component, or NONE yet */
	uint32_t *order; /* by block: when it was found, from 1; 0: not yet */
	uint32_t *low;
	uint32_t *stack; /* blocks without a component yet */
	uint32_t *path;	 /* blocks being visited */
	uint32_t *next;	 /* by block: its next edge to follow */
	uint32_t nstack;
	uint32_t npath;
	uint32_t norder;
	uint32_t count;
	bool *left; /* by component: some edge leaves it */
};

static void enter_block(struct graph_components *c, uint32_t block)
{
	c->order[block] = c->low[block] = ++c->norder;
	c->stack[c->nstack++] = block;
	c->path[c->npath++] = block;
}

static void leave_block(struct graph_components *c, uint32_t block)
{
	uint32_t member;

	c->npath--;
	if (c->npath && c->low[block] < c->low[c->path[c->npath - 1]])
		c->low[c->path[c->npath - 1]] = c->low[block];
	if (c->low[block] != c->order[block])
		return;
	do {
		member = c->stack[--c->nstack];
		c->of[member] = c->count;
	} while (member != block);
	c->count++;
}

/* EXIT leads back to ENTRY. */
static void visit_component(struct graph_components *c, uint32_t root)
{
	enter_block(c, root);
	while (c->npath) {
		uint32_t block = c->path[c->npath - 1], i = c->next[block]++, to;
		uint32_t n = block == VT_CFG_EXIT ? 1 : c->g->blocks[block].nout;

		if (i >= n) {
			leave_block(c, block);
			continue;
		}
		to = block == VT_CFG_EXIT ? VT_CFG_ENTRY
					  : c->g->edges[c->g->blocks[block].out + i].to;
		if (!c->order[to])
			enter_block(c, to);
		else if (c->of[to] == NONE && c->order[to] < c->low[block])
			c->low[block] = c->order[to];
	}
}

static bool components_find(struct graph_components *c, const struct vt_cfg *g)
{
	uint32_t n = g->nblocks, i;

	c->g = g;
	c->of = malloc(n * sizeof(*c->of));
	c->order = calloc(n, sizeof(*c->order));
	c->low = calloc(n, sizeof(*c->low));
	c->stack = calloc(n, sizeof(*c->stack));
	c->path = calloc(n, sizeof(*c->path));
	c->next = calloc(n, sizeof(*c->next));
	c->left = calloc(n, sizeof(*c->left));
	if (!c->of || !c->order || !c->low || !c->stack || !c->path || !c->next || !c->left)
		return false;
	memset(c->of, 0xff, n * sizeof(*c->of));
	for (i = 0; i < n; i++)
		if (!c->order[i])
			visit_component(c, i);
	for (i = 0; i < g->nedges; i++)
		if (c->of[g->edges[i].from] != c->of[g->edges[i].to])
			c->left[c->of[g->edges[i].from]] = true;
	return true;
}

static void components_free(struct graph_components *c)
{
	free(c->of);
	free(c->order);
	free(c->low);
	free(c->stack);
	free(c->path);
	free(c->next);
	free(c->left);
}

/*
 * Returns the target of an edge, which is EXIT for edges into an infinite loop: the number of
 * entries into it is unrelated to its number of iterations.
 */
static uint32_t get_edge_target(const struct graph_components *c, const struct vt_cfg_edge *e)
{
	uint32_t into = c->of[e->to];

	if (into != c->of[e->from] && !c->left[into] && into != c->of[VT_CFG_EXIT])
		return VT_CFG_EXIT;
	return e->to;
}

/* ---- the split graph ---- */

static void split_free(struct split_graph *s)
{
	free(s->from);
	free(s->to);
	free(s->first);
	free(s->links);
}

static void put_links(struct split_graph *s, const struct vt_cfg *g,
		      const struct graph_components *c)
{
	uint32_t i;

	for (i = 0; i < g->nblocks; i++) {
		s->from[i] = 2 * i;
		s->to[i] = 2 * i + 1;
	}
	for (i = 0; i < g->nedges; i++) {
		s->from[g->nblocks + i] = 2 * g->edges[i].from + 1;
		s->to[g->nblocks + i] = 2 * get_edge_target(c, &g->edges[i]);
	}
	s->from[s->nlinks - 1] = 2 * VT_CFG_EXIT + 1;
	s->to[s->nlinks - 1] = 2 * VT_CFG_ENTRY;
}

static bool split_make(struct split_graph *s, const struct vt_cfg *g,
		       const struct graph_components *c)
{
	uint32_t i, *fill;

	s->nnodes = 2 * g->nblocks;
	s->nlinks = g->nblocks + g->nedges + 1;
	s->from = calloc(s->nlinks, sizeof(*s->from));
	s->to = calloc(s->nlinks, sizeof(*s->to));
	s->first = calloc(s->nnodes + 2, sizeof(*s->first));
	s->links = calloc(2 * (size_t)s->nlinks, sizeof(*s->links));
	if (!s->from || !s->to || !s->first || !s->links)
		return false;
	put_links(s, g, c);
	/* Counting at index + 2 and filling at index + 1 leaves each list's start at its index. */
	for (i = 0; i < s->nlinks; i++) {
		s->first[s->from[i] + 2]++;
		s->first[s->to[i] + 2]++;
	}
	for (i = 2; i < s->nnodes + 2; i++)
		s->first[i] += s->first[i - 1];
	fill = s->first + 1;
	for (i = 0; i < s->nlinks; i++) {
		s->links[fill[s->from[i]]++] = i;
		s->links[fill[s->to[i]]++] = i;
	}
	return true;
}

/* ---- labels ---- */

/* A spanning forest: nodes in breadth-first order, and the link by which each was reached. */
struct forest {
	uint32_t *order;
	uint32_t *by;
	bool *met;
};

static void grow_forest(struct forest *f, const struct split_graph *s)
{
	uint32_t root, at = 0, n = 0, k;

	for (root = 0; root < s->nnodes; root++) {
		if (f->met[root])
			continue;
		f->met[root] = true;
		f->by[root] = NONE;
		f->order[n++] = root;
		for (; at < n; at++) {
			uint32_t node = f->order[at];

			for (k = s->first[node]; k < s->first[node + 1]; k++) {
				uint32_t link = s->links[k],
					 other = s->from[link] ^ s->to[link] ^ node;

				if (f->met[other])
					continue;
				f->met[other] = true;
				f->by[other] = link;
				f->order[n++] = other;
			}
		}
	}
}

/*
 * Labels the links.  A link outside the forest closes a cycle and gets a random label.  A link of
 * the forest gets the exclusive or of the labels of the cycles that it is on.
 */
static void sum_cycles(const struct forest *f, const struct split_graph *s,
		       struct cycle_label *links, struct cycle_label *nodes)
{
	struct vt_rng rng;
	uint32_t i;

	vt_rng_init(&rng, SEED);
	for (i = 0; i < s->nnodes; i++)
		if (f->by[i] != NONE)
			links[f->by[i]].a = 1; /* of the forest */
	for (i = 0; i < s->nlinks; i++) {
		if (links[i].a) {
			links[i].a = 0;
			continue;
		}
		links[i].a = vt_rng_next(&rng);
		links[i].b = vt_rng_next(&rng);
		mix_labels(&nodes[s->from[i]], &links[i]);
		mix_labels(&nodes[s->to[i]], &links[i]);
	}
	for (i = s->nnodes; i-- > 0;) {
		uint32_t node = f->order[i], link = f->by[node];

		if (link == NONE)
			continue;
		links[link] = nodes[node];
		mix_labels(&nodes[s->from[link] ^ s->to[link] ^ node], &nodes[node]);
	}
}

static bool labels_make(const struct split_graph *s, struct cycle_label *links)
{
	struct forest f = {.order = calloc(s->nnodes, sizeof(*f.order)),
			   .by = calloc(s->nnodes, sizeof(*f.by)),
			   .met = calloc(s->nnodes, sizeof(*f.met))};
	struct cycle_label *nodes = calloc(s->nnodes, sizeof(*nodes));
	bool ok = f.order && f.by && f.met && nodes;

	if (ok) {
		grow_forest(&f, s);
		sum_cycles(&f, s, links, nodes);
	}
	free(f.order);
	free(f.by);
	free(f.met);
	free(nodes);
	return ok;
}

/* ---- classes ---- */

struct named_class {
	struct cycle_label label;
	uint64_t class;
};

static bool number_classes(struct vt_classes *c, const struct cycle_label *links, uint32_t nblocks,
			   uint32_t n)
{
	struct vt_hash seen;
	struct named_class *entry;
	uint32_t i;
	bool added, ok = true;

	vt_hash_init(&seen, sizeof(struct named_class), sizeof(struct cycle_label));
	for (i = 0; i < n && ok; i++) {
		uint32_t *out = i < nblocks ? &c->block[i] : &c->edge[i - nblocks];

		*out = c->count;
		if (!links[i].a && !links[i].b) {
			c->count++;
			continue;
		}
		entry = vt_hash_add(&seen, &links[i], &added);
		ok = entry != NULL;
		if (ok && added)
			entry->class = c->count++;
		if (ok)
			*out = (uint32_t)entry->class;
	}
	vt_hash_fini(&seen);
	assert(c->count <= n);
	return ok;
}

static bool find_classes(struct vt_classes *c, const struct vt_cfg *g)
{
	struct graph_components parts = {.g = g};
	struct split_graph s = {0};
	struct cycle_label *links = NULL;
	bool ok = components_find(&parts, g) && split_make(&s, g, &parts);

	if (ok) {
		links = calloc(s.nlinks, sizeof(*links));
		ok = links && labels_make(&s, links) &&
		     number_classes(c, links, g->nblocks, g->nblocks + g->nedges);
	}
	free(links);
	split_free(&s);
	components_free(&parts);
	return ok;
}

static void separate_all(struct vt_classes *c, const struct vt_cfg *g)
{
	uint32_t i;

	for (i = 0; i < g->nblocks; i++)
		c->block[i] = c->count++;
	for (i = 0; i < g->nedges; i++)
		c->edge[i] = c->count++;
}

struct vt_classes *vt_classes_new(const struct vt_cfg *g, struct vt_error *err)
{
	struct vt_classes *c = calloc(1, sizeof(*c));

	if (c) {
		c->block = calloc(g->nblocks + 1, sizeof(*c->block));
		c->edge = calloc(g->nedges + 1, sizeof(*c->edge));
	}
	if (c && c->block && c->edge) {
		if (!g->complete) {
			separate_all(c, g);
			return c;
		}
		if (find_classes(c, g))
			return c;
	}
	vt_classes_free(c);
	vt_error_set(err, VT_E_NOMEM, "out of memory for classes of equal frequency");
	return NULL;
}

void vt_classes_free(struct vt_classes *c)
{
	if (!c)
		return;
	free(c->block);
	free(c->edge);
	free(c);
}
