/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/mincost.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/mincost_internal.h"

/*
 * The network simplex algorithm (Ahuja, Magnanti, Orlin, "Network Flows", 1993, chapter 11).  Each
 * arc starts with its wanted flow.  The resulting excess or deficit of each node flows over an arc
 * to an artificial root, which is so expensive that none is used in the end.  A spanning tree of
 * arcs defines node prices.  An arc with negative reduced cost enters the tree: flow moves along
 * the cycle that it closes until another arc of the cycle is at its limit and leaves the tree.
 *
 * The leaving arc is chosen so that each node can always send more flow towards the root ("strongly
 * feasible" trees, 11.6).  Thus the algorithm terminates although many steps move no flow.
 */

#define NONE UINT32_MAX

/* Limit on the sum of all wanted flows, which may gather in one node. */
#define TOTAL_MAX (INT64_C(1) << 62)

/* Room to change an arc's flow in one direction. */
struct simplex_edge {
	uint32_t from;
	uint32_t to;
	uint32_t arc; /* whose flow it changes */
	bool less;    /* whether it reduces that */
	int8_t side;  /* outside the tree: 1 if flow is 0, -1 if flow is `room` */
	int64_t room; /* maximum of `flow` */
	int64_t flow; /* the change of the arc's flow */
	int64_t cost;
};

/* A node in the tree. */
struct simplex_node {
	uint32_t parent;
	uint32_t pred; /* the edge to the parent */
	uint32_t child;
	uint32_t next; /* sibling */
	uint32_t prev;
	uint32_t depth;
};

/* The state of the algorithm, kept for solving again with other prices. */
struct simplex {
	struct simplex_edge *edges; /* up to two per arc, then one per node */
	struct simplex_node *nodes; /* including the root */
	int64_t *price;		    /* by node */
	size_t nedges;		    /* those of arcs */
	size_t scan;		    /* the edge at which the next search starts */
	uint32_t root;
	size_t narcs;		  /* which it was made of */
	struct vti_shrink shrunk; /* its nodes are those of this */
};

struct vt_mincost {
	struct vt_mincost_arc *arcs;
	size_t narcs;
	size_t cap;
	int64_t total; /* of what all arcs want */
	uint32_t nnodes;
	int64_t *flow;	  /* of each arc; NULL until solved */
	struct simplex s; /* without edges until solved */
};

struct vt_mincost *vt_mincost_new(uint32_t nodes)
{
	struct vt_mincost *f = nodes <= VT_MINCOST_NODES ? calloc(1, sizeof(*f)) : NULL;

	if (f)
		f->nnodes = nodes;
	return f;
}

static void simplex_fini(struct simplex *s)
{
	free(s->edges);
	free(s->nodes);
	free(s->price);
	vti_shrink_fini(&s->shrunk);
	memset(s, 0, sizeof(*s));
}

void vt_mincost_free(struct vt_mincost *f)
{
	if (!f)
		return;
	simplex_fini(&f->s);
	free(f->arcs);
	free(f->flow);
	free(f);
}

static int64_t clamp_flow(int64_t v, int64_t most)
{
	return v < 0 ? 0 : v < most ? v : most;
}

int64_t vt_mincost_add(struct vt_mincost *f, const struct vt_mincost_arc *arc, struct vt_error *err)
{
	struct vt_mincost_arc a = *arc;

	a.at_most = clamp_flow(a.at_most, VT_MINCOST_MAX);
	a.want = clamp_flow(a.want, a.at_most);
	a.less = clamp_flow(a.less, VT_MINCOST_COST);
	a.more = clamp_flow(a.more, VT_MINCOST_COST);
	if (a.from >= f->nnodes || a.to >= f->nnodes)
		return vt_error_set(err, VT_E_USAGE, "an arc to no node");
	if (f->narcs == VT_MINCOST_NODES || f->total > TOTAL_MAX - a.want)
		return vt_error_set(err, VT_E_LIMIT, "too much flow in one procedure");
	if (!vt_array_grow(&f->arcs, &f->cap, f->narcs + 1, sizeof(*f->arcs)))
		return vt_error_nomem(err);
	f->total += a.want;
	f->arcs[f->narcs] = a;
	return (int64_t)f->narcs++;
}

void vt_mincost_price(struct vt_mincost *f, uint32_t arc, int64_t less, int64_t more)
{
	struct vt_mincost_arc *a = &f->arcs[arc];

	less = clamp_flow(less, VT_MINCOST_COST);
	more = clamp_flow(more, VT_MINCOST_COST);
	/* The costs of other arcs include that of a removed one. */
	if (f->s.edges && arc < f->s.narcs && vti_shrink_implies(&f->s.shrunk, arc) &&
	    more != a->more)
		simplex_fini(&f->s);
	a->less = less;
	a->more = more;
}

/* ---- the tree ---- */

static void unlink_child(struct simplex *s, uint32_t node)
{
	struct simplex_node *n = &s->nodes[node];

	if (n->prev != NONE)
		s->nodes[n->prev].next = n->next;
	else
		s->nodes[n->parent].child = n->next;
	if (n->next != NONE)
		s->nodes[n->next].prev = n->prev;
}

static void link_child(struct simplex *s, uint32_t node, uint32_t parent, uint32_t pred)
{
	struct simplex_node *n = &s->nodes[node];

	n->parent = parent;
	n->pred = pred;
	n->prev = NONE;
	n->next = s->nodes[parent].child;
	if (n->next != NONE)
		s->nodes[n->next].prev = node;
	s->nodes[parent].child = node;
}

/* Returns the next node in preorder in the subtree of `top`, or NONE. */
static uint32_t next_below(const struct simplex *s, uint32_t node, uint32_t top)
{
	if (s->nodes[node].child != NONE)
		return s->nodes[node].child;
	while (node != top && s->nodes[node].next == NONE)
		node = s->nodes[node].parent;
	return node == top ? NONE : s->nodes[node].next;
}

/* Returns the price of a node from that of its parent and the edge between them. */
static int64_t price_below(const struct simplex *s, uint32_t parent, const struct simplex_edge *e,
			   uint32_t node)
{
	return e->from == node ? s->price[parent] - e->cost : s->price[parent] + e->cost;
}

/* Cuts off the subtree of `top`, makes `node` its root, and attaches it below `parent`. */
static void rehang_subtree(struct simplex *s, uint32_t node, uint32_t top, uint32_t parent,
			   uint32_t pred)
{
	const struct simplex_edge *e = &s->edges[pred];
	int64_t change = price_below(s, parent, e, node) - s->price[node];
	uint32_t at = node;
	bool last;

	do {
		uint32_t up = s->nodes[at].parent;
		uint32_t edge = s->nodes[at].pred;

		last = at == top;
		unlink_child(s, at);
		link_child(s, at, parent, pred);
		parent = at;
		pred = edge;
		at = up;
	} while (!last);
	for (at = node; at != NONE; at = next_below(s, at, node)) {
		s->price[at] += change;
		s->nodes[at].depth = s->nodes[s->nodes[at].parent].depth + 1;
	}
}

/* ---- pivoting ---- */

/* Returns how much more can flow from a node to its parent (up) or from there to it. */
static int64_t room_to_parent(const struct simplex *s, uint32_t node, bool up)
{
	const struct simplex_edge *e = &s->edges[s->nodes[node].pred];

	return up == (e->from == node) ? e->room - e->flow : e->flow;
}

static void move_to_parent(struct simplex *s, uint32_t node, int64_t amount)
{
	struct simplex_edge *e = &s->edges[s->nodes[node].pred];

	e->flow += e->from == node ? amount : -amount;
	assert(e->flow >= 0 && e->flow <= e->room);
}

static uint32_t find_meeting(const struct simplex *s, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (s->nodes[a].depth >= s->nodes[b].depth)
			a = s->nodes[a].parent;
		else
			b = s->nodes[b].parent;
	}
	return a;
}

/* Returns the edge with the most negative reduced cost in the next block of edges, or NONE. */
static uint32_t find_bargain(struct simplex *s, size_t block)
{
	uint32_t best = NONE;
	int64_t best_value = 0;
	size_t left = block, n;

	for (n = s->nedges; n; n--) {
		const struct simplex_edge *e = &s->edges[s->scan];
		int64_t value = e->side * (e->cost + s->price[e->from] - s->price[e->to]);

		if (value < best_value) {
			best_value = value;
			best = (uint32_t)s->scan;
		}
		s->scan = s->scan + 1 < s->nedges ? s->scan + 1 : 0;
		if (--left)
			continue;
		if (best != NONE)
			break;
		left = block;
	}
	return best;
}

static void pivot_edge(struct simplex *s, uint32_t entering)
{
	struct simplex_edge *e = &s->edges[entering];
	uint32_t tail = e->side > 0 ? e->from : e->to;
	uint32_t head = e->side > 0 ? e->to : e->from;
	uint32_t top = find_meeting(s, tail, head);
	int64_t amount = e->room;
	uint32_t leaving = NONE; /* the node whose edge to its parent leaves the tree */
	bool below_tail = true;
	uint32_t node;

	/* Of several limiting edges, take the last on the cycle, which starts at the top. */
	for (node = tail; node != top; node = s->nodes[node].parent)
		if (room_to_parent(s, node, false) < amount) {
			amount = room_to_parent(s, node, false);
			leaving = node;
		}
	for (node = head; node != top; node = s->nodes[node].parent)
		if (room_to_parent(s, node, true) <= amount) {
			amount = room_to_parent(s, node, true);
			leaving = node;
			below_tail = false;
		}
	assert(amount >= 0);
	for (node = tail; node != top; node = s->nodes[node].parent)
		move_to_parent(s, node, -amount);
	for (node = head; node != top; node = s->nodes[node].parent)
		move_to_parent(s, node, amount);
	e->flow += e->side * amount;
	if (leaving == NONE) {
		e->side = (int8_t)-e->side;
		return;
	}
	e = &s->edges[s->nodes[leaving].pred];
	e->side = e->flow == 0 ? 1 : -1;
	rehang_subtree(s, below_tail ? tail : head, leaving, below_tail ? head : tail, entering);
}

/* ---- setting up ---- */

/* Appends an edge, unless it cannot change or leads from a node to itself. */
static void append_simplex_edge(struct simplex *s, const struct simplex_edge *e)
{
	if (e->room == 0 || e->from == e->to)
		return;
	s->edges[s->nedges] = *e;
	s->edges[s->nedges++].side = 1;
}

/* Builds the initial tree, all nodes below the root; `excess` is inflow - outflow by node. */
static void build_tree(struct simplex *s, uint32_t before, const int64_t *excess)
{
	/* More than any path through all nodes costs, including the contracted ones. */
	int64_t dear = (VT_MINCOST_COST + before) * before;
	struct simplex_node *root = &s->nodes[s->root];
	uint32_t i;

	*root = (struct simplex_node){
		.parent = NONE, .pred = NONE, .child = NONE, .next = NONE, .prev = NONE};
	for (i = 0; i < s->root; i++) {
		size_t number = s->nedges + i;
		struct simplex_edge *e = &s->edges[number];

		s->nodes[i].child = NONE;
		s->nodes[i].depth = 1;
		*e = (struct simplex_edge){
			.from = i, .to = s->root, .room = INT64_MAX, .cost = dear};
		e->flow = excess[i];
		s->price[i] = -dear;
		if (excess[i] < 0) {
			e->from = s->root;
			e->to = i;
			e->flow = -excess[i];
			s->price[i] = dear;
		}
		link_child(s, i, s->root, (uint32_t)number);
	}
}

static void add_arc_edges(struct simplex *s, const struct vt_mincost_arc *a, uint32_t arc,
			  int64_t *excess)
{
	uint32_t from = s->shrunk.node[a->from], to = s->shrunk.node[a->to];
	int64_t carry = s->shrunk.carry[arc];
	const struct simplex_edge more = {
		.from = from,
		.to = to,
		.arc = arc,
		.room = a->at_most - a->want,
		.cost = a->more + carry,
	};
	const struct simplex_edge less = {
		.from = to,
		.to = from,
		.arc = arc,
		.less = true,
		.room = a->want,
		.cost = a->less - carry,
	};

	append_simplex_edge(s, &more);
	append_simplex_edge(s, &less);
	excess[from] -= a->want;
	excess[to] += a->want;
}

static bool build_simplex(struct simplex *s, const struct vt_mincost *f)
{
	int64_t *excess;
	uint32_t i;

	if (!vti_shrink_init(&s->shrunk, f->arcs, f->narcs, f->nnodes))
		return false;
	s->root = s->shrunk.nnodes;
	s->narcs = f->narcs;
	s->edges = calloc(2 * f->narcs + s->root + 1, sizeof(*s->edges));
	s->nodes = calloc((size_t)s->root + 1, sizeof(*s->nodes));
	s->price = calloc((size_t)s->root + 1, sizeof(*s->price));
	excess = calloc((size_t)s->root + 1, sizeof(*excess));
	if (!s->edges || !s->nodes || !s->price || !excess) {
		free(excess);
		return false;
	}
	for (i = 0; i < f->narcs; i++)
		if (!vti_shrink_implies(&s->shrunk, i))
			add_arc_edges(s, &f->arcs[i], i, excess);
	build_tree(s, f->nnodes, excess);
	free(excess);
	return true;
}

/* Updates costs and prices; flow and tree remain feasible. */
static void reprice(struct simplex *s, const struct vt_mincost *f)
{
	uint32_t node;
	size_t i;

	for (i = 0; i < s->nedges; i++) {
		struct simplex_edge *e = &s->edges[i];
		const struct vt_mincost_arc *a = &f->arcs[e->arc];
		int64_t carry = s->shrunk.carry[e->arc];

		e->cost = e->less ? a->less - carry : a->more + carry;
	}
	for (node = next_below(s, s->root, s->root); node != NONE;
	     node = next_below(s, node, s->root)) {
		const struct simplex_node *n = &s->nodes[node];

		s->price[node] = price_below(s, n->parent, &s->edges[n->pred], node);
	}
}

/* About the square root of the number of edges works well in practice. */
static size_t block_size(size_t nedges)
{
	size_t n = 16;

	while (n * n < nedges)
		n++;
	return n;
}

static void collect_arc_flows(const struct vt_mincost *f)
{
	const struct simplex *s = &f->s;
	const struct vti_shrink *k = &s->shrunk;
	size_t i;

	for (i = 0; i < f->narcs; i++) {
		const struct vt_mincost_arc *a = &f->arcs[i];

		/* An arc within a contracted node is decided by the cost of its cycle. */
		f->flow[i] =
			k->node[a->from] == k->node[a->to] && a->less < k->carry[i] ? 0 : a->want;
	}
	for (i = 0; i < s->nedges; i++)
		f->flow[s->edges[i].arc] += s->edges[i].less ? -s->edges[i].flow : s->edges[i].flow;
	vti_shrink_flow(k, f->flow);
}

int vt_mincost_solve(struct vt_mincost *f, struct vt_error *err)
{
	struct simplex *s = &f->s;
	int64_t *flow = realloc(f->flow, (f->narcs + 1) * sizeof(*flow));
	uint32_t entering;
	size_t block;

	if (!flow)
		return vt_error_nomem(err);
	f->flow = flow;
	if (s->narcs != f->narcs)
		simplex_fini(s);
	if (s->edges)
		reprice(s, f);
	else if (!build_simplex(s, f)) {
		simplex_fini(s);
		return vt_error_nomem(err);
	}
	block = block_size(s->nedges);
	while ((entering = find_bargain(s, block)) != NONE)
		pivot_edge(s, entering);
	collect_arc_flows(f);
	return 0;
}

int64_t vt_mincost_flow(const struct vt_mincost *f, uint32_t arc)
{
	return f->flow[arc];
}
