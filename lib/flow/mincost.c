/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/mincost.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/*
 * Every arc starts with the flow that it wants, which leaves nodes with more or less than they can
 * pass on; from each that has too much, the cheapest path to one that has too little takes it away,
 * until none is left: successive shortest paths (Ahuja, Magnanti, Orlin, "Network Flows",
 * 1993, 9.7), with node potentials so that no cost is negative, which Dijkstra's algorithm needs.
 * The search ends at the first node that lacks something, so that it mostly sees a small
 * neighbourhood.
 */

#define NONE UINT32_MAX

/* All wants together: what can gather in one node. */
#define TOTAL_MAX (INT64_C(1) << 62)

/* Room to change an arc's flow in one direction; the opposite direction is edge `e ^ 1`. */
struct edge {
	uint32_t to;
	int64_t room;
	int64_t cost;
};

/* A node's part in the search. */
struct node {
	int64_t excess;
	int64_t potential;
	int64_t distance;
	uint32_t via;  /* the edge by which the search came */
	uint32_t heap; /* position in the heap, if open */
	enum {
		UNSEEN,
		OPEN,
		DONE,
	} state;
};

struct vt_mincost {
	struct vt_mincost_arc *arcs;
	size_t narcs;
	size_t cap;
	int64_t total; /* of what all arcs want */
	uint32_t nnodes;
	struct node *nodes;
	int64_t *flow; /* of each arc; NULL until solved */

	/* while solving: */
	struct edge *edges; /* four for each arc */
	uint32_t *first;    /* node's first in `adjacent`, and behind the last one's end */
	uint32_t *adjacent; /* edges, by the node that they leave */
	uint32_t *heap;	    /* open nodes */
	uint32_t *touched;  /* nodes that the search has seen */
	uint32_t nheap;
	uint32_t ntouched;
};

struct vt_mincost *vt_mincost_new(uint32_t nodes)
{
	struct vt_mincost *f = nodes <= VT_MINCOST_NODES ? calloc(1, sizeof(*f)) : NULL;

	if (!f)
		return NULL;
	f->nnodes = nodes;
	f->nodes = calloc((size_t)nodes + 1, sizeof(*f->nodes));
	if (!f->nodes) {
		vt_mincost_free(f);
		return NULL;
	}
	return f;
}

static void free_search(struct vt_mincost *f)
{
	free(f->edges);
	free(f->first);
	free(f->adjacent);
	free(f->heap);
	free(f->touched);
	f->edges = NULL;
	f->first = f->adjacent = f->heap = f->touched = NULL;
}

void vt_mincost_free(struct vt_mincost *f)
{
	if (!f)
		return;
	free_search(f);
	free(f->arcs);
	free(f->nodes);
	free(f->flow);
	free(f);
}

static int64_t between(int64_t v, int64_t most)
{
	return v < 0 ? 0 : v < most ? v : most;
}

int64_t vt_mincost_add(struct vt_mincost *f, const struct vt_mincost_arc *arc, struct vt_error *err)
{
	struct vt_mincost_arc a = *arc;

	a.at_most = between(a.at_most, VT_MINCOST_MAX);
	a.want = between(a.want, a.at_most);
	a.less = between(a.less, VT_MINCOST_COST);
	a.more = between(a.more, VT_MINCOST_COST);
	if (a.from >= f->nnodes || a.to >= f->nnodes)
		return vt_error_set(err, VT_E_USAGE, "an arc to no node");
	if (f->narcs == VT_MINCOST_NODES || f->total > TOTAL_MAX - a.want)
		return vt_error_set(err, VT_E_LIMIT, "too much flow in one procedure");
	if (!vt_array_grow(&f->arcs, &f->cap, f->narcs + 1, sizeof(*f->arcs)))
		return vt_error_set(err, VT_E_NOMEM, "out of memory");
	f->total += a.want;
	f->arcs[f->narcs] = a;
	return (int64_t)f->narcs++;
}

/* ---- the heap of open nodes, the nearest first ---- */

static void heap_put(struct vt_mincost *f, uint32_t at, uint32_t node)
{
	f->heap[at] = node;
	f->nodes[node].heap = at;
}

static void heap_up(struct vt_mincost *f, uint32_t node)
{
	int64_t distance = f->nodes[node].distance;
	uint32_t at = f->nodes[node].heap;

	while (at > 0 && distance < f->nodes[f->heap[(at - 1) / 2]].distance) {
		heap_put(f, at, f->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_put(f, at, node);
}

static uint32_t heap_pop(struct vt_mincost *f)
{
	uint32_t nearest = f->heap[0];
	uint32_t last = f->heap[--f->nheap];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= f->nheap)
			break;
		if (child + 1 < f->nheap &&
		    f->nodes[f->heap[child + 1]].distance < f->nodes[f->heap[child]].distance)
			child++;
		if (f->nodes[last].distance <= f->nodes[f->heap[child]].distance)
			break;
		heap_put(f, at, f->heap[child]);
		at = child;
	}
	if (f->nheap)
		heap_put(f, at, last);
	return nearest;
}

/* ---- the search ---- */

static void reach(struct vt_mincost *f, uint32_t node, int64_t distance, uint32_t via)
{
	struct node *n = &f->nodes[node];

	if (n->state == UNSEEN) {
		n->state = OPEN;
		n->heap = f->nheap++;
		f->touched[f->ntouched++] = node;
	} else if (n->state == DONE || distance >= n->distance) {
		return;
	}
	n->distance = distance;
	n->via = via;
	heap_up(f, node);
}

static void look_around(struct vt_mincost *f, uint32_t node)
{
	const struct node *n = &f->nodes[node];
	uint32_t i;

	for (i = f->first[node]; i < f->first[node + 1]; i++) {
		const struct edge *e = &f->edges[f->adjacent[i]];

		if (e->room > 0)
			reach(f, e->to,
			      n->distance + e->cost + n->potential - f->nodes[e->to].potential,
			      f->adjacent[i]);
	}
}

/*
 * The nearest node that lacks something; distances become part of the potentials.  There is one in
 * reach: the flow that is left in the arcs can be undone back to where it came from.
 */
static uint32_t nearest_lack(struct vt_mincost *f, uint32_t source)
{
	uint32_t found = NONE;
	uint32_t i;

	f->nheap = f->ntouched = 0;
	reach(f, source, 0, NONE);
	while (f->nheap && found == NONE) {
		uint32_t node = heap_pop(f);

		f->nodes[node].state = DONE;
		if (f->nodes[node].excess < 0)
			found = node;
		else
			look_around(f, node);
	}
	for (i = 0; i < f->ntouched; i++) {
		struct node *n = &f->nodes[f->touched[i]];

		if (n->state == DONE && found != NONE)
			n->potential += n->distance - f->nodes[found].distance;
		n->state = UNSEEN;
	}
	return found;
}

static void send(struct vt_mincost *f, uint32_t source, uint32_t sink)
{
	int64_t amount = f->nodes[source].excess;
	uint32_t node;

	if (amount > -f->nodes[sink].excess)
		amount = -f->nodes[sink].excess;
	for (node = sink; node != source; node = f->edges[f->nodes[node].via ^ 1].to)
		if (amount > f->edges[f->nodes[node].via].room)
			amount = f->edges[f->nodes[node].via].room;
	for (node = sink; node != source; node = f->edges[f->nodes[node].via ^ 1].to) {
		f->edges[f->nodes[node].via].room -= amount;
		f->edges[f->nodes[node].via ^ 1].room += amount;
	}
	f->nodes[source].excess -= amount;
	f->nodes[sink].excess += amount;
}

/* ---- setting up ---- */

/* Edges e and e + 1: from `from` to `to`, and undoing that. */
static void set_edges(struct vt_mincost *f, size_t e, uint32_t from, uint32_t to, int64_t room,
		      int64_t cost)
{
	f->edges[e] = (struct edge){.to = to, .room = room, .cost = cost};
	f->edges[e + 1] = (struct edge){.to = from, .cost = -cost};
}

static void index_edges(struct vt_mincost *f, size_t nedges)
{
	uint32_t node;
	size_t e;

	for (e = 0; e < nedges; e++)
		f->first[f->edges[e ^ 1].to + 1]++;
	for (node = 0; node < f->nnodes; node++)
		f->first[node + 1] += f->first[node];
	/* Backwards, so that each node's edges come in their order. */
	for (e = nedges; e-- > 0;)
		f->adjacent[--f->first[f->edges[e ^ 1].to + 1]] = (uint32_t)e;
	/* first[n + 1] now says where node n starts. */
	memmove(f->first, f->first + 1, (size_t)f->nnodes * sizeof(*f->first));
	f->first[f->nnodes] = (uint32_t)nedges;
}

static bool prepare(struct vt_mincost *f)
{
	size_t nedges = 4 * f->narcs;
	size_t i;

	f->edges = calloc(nedges + 1, sizeof(*f->edges));
	f->adjacent = calloc(nedges + 1, sizeof(*f->adjacent));
	f->first = calloc((size_t)f->nnodes + 1, sizeof(*f->first));
	f->heap = calloc((size_t)f->nnodes + 1, sizeof(*f->heap));
	f->touched = calloc((size_t)f->nnodes + 1, sizeof(*f->touched));
	if (!f->edges || !f->adjacent || !f->first || !f->heap || !f->touched)
		return false;
	memset(f->nodes, 0, f->nnodes * sizeof(*f->nodes));
	for (i = 0; i < f->narcs; i++) {
		const struct vt_mincost_arc *a = &f->arcs[i];
		/* The flow of an arc from a node to itself matters to nobody. */
		bool fixed = a->from == a->to;

		set_edges(f, 4 * i, a->from, a->to, fixed ? 0 : a->at_most - a->want, a->more);
		set_edges(f, 4 * i + 2, a->to, a->from, fixed ? 0 : a->want, a->less);
		f->nodes[a->from].excess -= a->want;
		f->nodes[a->to].excess += a->want;
	}
	index_edges(f, nedges);
	return true;
}

int vt_mincost_solve(struct vt_mincost *f, struct vt_error *err)
{
	int64_t *flow = calloc(f->narcs + 1, sizeof(*flow));
	uint32_t node;
	size_t i;

	if (!flow || !prepare(f)) {
		free(flow);
		free_search(f);
		return vt_error_set(err, VT_E_NOMEM, "out of memory");
	}
	for (node = 0; node < f->nnodes; node++)
		while (f->nodes[node].excess > 0)
			send(f, node, nearest_lack(f, node));
	for (i = 0; i < f->narcs; i++)
		flow[i] = f->arcs[i].want + f->edges[4 * i + 1].room - f->edges[4 * i + 3].room;
	free_search(f);
	free(f->flow);
	f->flow = flow;
	return 0;
}

int64_t vt_mincost_flow(const struct vt_mincost *f, uint32_t arc)
{
	return f->flow[arc];
}
