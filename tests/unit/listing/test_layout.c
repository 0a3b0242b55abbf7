/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layered pictures of graphs: nothing overlaps, edges arrive, trees do not cross, size is bounded.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "listing/layout.h"

#define NEAR 1e-6

struct graph {
	struct vt_layout l;
	struct vt_layout_node nodes[400];
	struct vt_layout_edge edges[1000];
};

static void place(struct graph *g)
{
	struct vt_error err = VT_ERROR_INIT;

	g->l.nodes = g->nodes;
	g->l.edges = g->edges;
	g->l.gap = 10;
	assert_int_equal(vt_layout_place(&g->l, &err), 0);
}

static void size_nodes(struct graph *g, uint32_t n, struct vt_rng *rng)
{
	uint32_t i;

	memset(g, 0, sizeof(*g));
	g->l.nnodes = n;
	for (i = 0; i < n; i++) {
		g->nodes[i].width = 10 + (double)vt_rng_below(rng, 90);
		g->nodes[i].height = 5 + (double)vt_rng_below(rng, 60);
	}
}

static void add_edge(struct graph *g, uint32_t from, uint32_t to)
{
	g->edges[g->l.nedges++] = (struct vt_layout_edge){.from = from, .to = to};
}

static void assert_apart(const struct vt_layout *l)
{
	uint32_t i, k;

	for (i = 0; i < l->nnodes; i++) {
		const struct vt_layout_node *a = &l->nodes[i];

		assert_true(a->x >= -NEAR && a->x + a->width <= l->width + NEAR);
		assert_true(a->y >= -NEAR && a->y + a->height <= l->height + NEAR);
		for (k = 0; k < i; k++) {
			const struct vt_layout_node *b = &l->nodes[k];

			assert_true(
				a->x + a->width <= b->x + NEAR || b->x + b->width <= a->x + NEAR ||
				a->y + a->height <= b->y + NEAR || b->y + b->height <= a->y + NEAR);
		}
	}
}

/* On the upper or lower side of a node. */
static bool touches(const struct vt_layout_node *n, struct vt_layout_point p)
{
	return p.x >= n->x - NEAR && p.x <= n->x + n->width + NEAR &&
	       (fabs(p.y - n->y) < NEAR || fabs(p.y - n->y - n->height) < NEAR);
}

static void assert_routed(const struct vt_layout *l)
{
	uint32_t e;
	size_t i;

	for (e = 0; e < l->nedges; e++) {
		const struct vt_layout_edge *edge = &l->edges[e];
		const struct vt_layout_point *p = l->points + edge->first;
		bool down;

		assert_true(edge->npoints >= 2 && edge->npoints % 2 == 0);
		assert_true(edge->first + edge->npoints <= l->npoints);
		if (edge->from == edge->to)
			continue;
		assert_true(touches(&l->nodes[edge->from], p[0]));
		assert_true(touches(&l->nodes[edge->to], p[edge->npoints - 1]));
		down = p[edge->npoints - 1].y > p[0].y;
		for (i = 1; i < edge->npoints; i++)
			assert_true(down ? p[i].y >= p[i - 1].y - NEAR
					 : p[i].y <= p[i - 1].y + NEAR);
		for (i = 2; i < edge->npoints; i += 2)
			assert_true(fabs(p[i].x - p[i - 1].x) < NEAR);
	}
}

static void random_graphs(void **state)
{
	static struct graph g;
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 1);
	for (round = 0; round < 300; round++) {
		uint32_t n = 1 + (uint32_t)vt_rng_below(&rng, 40);
		uint32_t m = (uint32_t)vt_rng_below(&rng, 2 * n), i;

		size_nodes(&g, n, &rng);
		for (i = 0; i < m; i++)
			add_edge(&g, (uint32_t)vt_rng_below(&rng, n),
				 (uint32_t)vt_rng_below(&rng, n));
		place(&g);
		assert_apart(&g.l);
		assert_routed(&g.l);
		vt_layout_fini(&g.l);
	}
}

/* An edge's points: down past taller neighbours, straight through the layers between, and in. */
static void assert_points(const struct vt_layout *l, const struct vt_layout_edge *e,
			  const double *tops, const double *bottoms, uint32_t from, uint32_t to)
{
	const struct vt_layout_point *p = l->points + e->first;
	double bottom = l->nodes[e->from].y + l->nodes[e->from].height;
	size_t n = 0;

	assert_true(fabs(p[n++].y - bottom) < NEAR);
	if (bottom < bottoms[from] - NEAR) {
		assert_true(fabs(p[n++].y - bottoms[from]) < NEAR);
		assert_true(fabs(p[n++].y - bottoms[from]) < NEAR);
		assert_true(p[0].x == p[1].x && p[1].x == p[2].x);
	}
	while (++from < to) {
		assert_true(fabs(p[n++].y - tops[from]) < NEAR);
		assert_true(fabs(p[n++].y - bottoms[from]) < NEAR);
	}
	assert_true(fabs(p[n++].y - tops[to]) < NEAR);
	assert_int_equal(n, e->npoints);
}

/* Without loops, nodes are in layers by the longest way there, and every edge leads down. */
static void assert_layered(const struct vt_layout *l)
{
	double tops[30], bottoms[30] = {0}, left = INFINITY, right = 0;
	uint32_t layer[30] = {0}, i, e, k;

	/* Edges lead from lower numbers to higher ones. */
	for (i = 0; i < l->nnodes; i++)
		for (e = 0; e < l->nedges; e++)
			if (l->edges[e].from == i && layer[l->edges[e].to] < layer[i] + 1)
				layer[l->edges[e].to] = layer[i] + 1;
	for (k = 0; k < 30; k++) {
		tops[k] = k ? bottoms[k - 1] + 10 : 0;
		bottoms[k] = tops[k];
		for (i = 0; i < l->nnodes; i++)
			if (layer[i] == k && tops[k] + l->nodes[i].height > bottoms[k])
				bottoms[k] = tops[k] + l->nodes[i].height;
	}
	for (i = k = 0; i < l->nnodes; i++) {
		assert_true(fabs(l->nodes[i].y - tops[layer[i]]) < NEAR);
		k = layer[i] > k ? layer[i] : k;
	}
	assert_true(fabs(l->height - bottoms[k]) < NEAR);
	for (e = 0; e < l->nedges; e++)
		assert_points(l, &l->edges[e], tops, bottoms, layer[l->edges[e].from],
			      layer[l->edges[e].to]);
	/* The outermost are nodes, or points of edges. */
	for (i = 0; i < l->nnodes; i++) {
		left = fmin(left, l->nodes[i].x);
		right = fmax(right, l->nodes[i].x + l->nodes[i].width);
	}
	for (i = 0; i < l->npoints; i++) {
		left = fmin(left, l->points[i].x);
		right = fmax(right, l->points[i].x);
	}
	assert_true(fabs(left) < NEAR && fabs(right - l->width) < NEAR);
}

static void no_loops(void **state)
{
	static struct graph g;
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 2);
	for (round = 0; round < 100; round++) {
		uint32_t i;

		size_nodes(&g, 30, &rng);
		for (i = 0; i < 50; i++) {
			uint32_t to = 1 + (uint32_t)vt_rng_below(&rng, 29);

			add_edge(&g, (uint32_t)vt_rng_below(&rng, to), to);
		}
		place(&g);
		assert_layered(&g.l);
		vt_layout_fini(&g.l);
	}
}

/* Whether two straight lines between the same two layers cross. */
static bool cross(const struct vt_layout *l, const struct vt_layout_edge *a,
		  const struct vt_layout_edge *b)
{
	const struct vt_layout_node *n = l->nodes;
	double from = n[a->from].x + n[a->from].width / 2 - n[b->from].x - n[b->from].width / 2;
	double to = n[a->to].x + n[a->to].width / 2 - n[b->to].x - n[b->to].width / 2;

	return fabs(n[a->from].y - n[b->from].y) < NEAR && from * to < -NEAR;
}

/* Trees can be drawn without crossings, and parents above the middle of their children. */
static void trees(void **state)
{
	static struct graph g;
	struct vt_rng rng;
	int round, clean = 0;

	(void)state;
	vt_rng_init(&rng, 3);
	for (round = 0; round < 100; round++) {
		uint32_t i, k, crossed = 0;

		size_nodes(&g, 25, &rng);
		for (i = 1; i < 25; i++)
			add_edge(&g, (i - 1) / (2 + (uint32_t)round % 3), i);
		place(&g);
		for (i = 0; i < g.l.nedges; i++)
			for (k = 0; k < i; k++)
				crossed += cross(&g.l, &g.edges[i], &g.edges[k]);
		clean += !crossed;
		assert_apart(&g.l);
		vt_layout_fini(&g.l);
	}
	assert_int_equal(clean, 100);
}

/* K2,2 laid out the wrong way round is turned: of two layers joined in opposite order, none cross.
 */
static void untangled(void **state)
{
	static struct graph g;
	struct vt_rng rng;
	uint32_t i, k, crossed = 0;

	(void)state;
	vt_rng_init(&rng, 4);
	size_nodes(&g, 21, &rng);
	for (i = 1; i <= 10; i++) {
		add_edge(&g, 0, i);
		add_edge(&g, i, 21 - i);
	}
	place(&g);
	for (i = 0; i < g.l.nedges; i++)
		for (k = 0; k < i; k++)
			crossed += cross(&g.l, &g.edges[i], &g.edges[k]);
	assert_int_equal(crossed, 0);
	vt_layout_fini(&g.l);
}

static void a_chain_is_straight(void **state)
{
	static struct graph g;
	struct vt_rng rng;
	uint32_t i;

	(void)state;
	vt_rng_init(&rng, 5);
	size_nodes(&g, 50, &rng);
	for (i = 1; i < 50; i++)
		add_edge(&g, i - 1, i);
	place(&g);
	for (i = 1; i < 50; i++)
		assert_true(fabs(g.nodes[i].x + g.nodes[i].width / 2 - g.nodes[0].x -
				 g.nodes[0].width / 2) < NEAR);
	vt_layout_fini(&g.l);
}

/* The x of an edge's end number k of n at a node: spread over four fifths of its side. */
static double port(const struct vt_layout_node *n, unsigned k, unsigned of)
{
	return n->x + n->width / 2 + n->width * 0.8 * ((k + 1.0) / (of + 1.0) - 0.5);
}

/* Two nodes above, three below, all joined: edges leave and arrive in the order of where they go.
 */
static void ports_are_in_order(void **state)
{
	static struct graph g;
	struct vt_rng rng;
	uint32_t e, i;

	(void)state;
	vt_rng_init(&rng, 6);
	size_nodes(&g, 5, &rng);
	/* Those to the right first. */
	for (i = 6; i-- > 0;)
		add_edge(&g, i % 2, 2 + i / 2);
	place(&g);
	for (e = 0; e < 6; e++) {
		const struct vt_layout_node *from = &g.nodes[g.edges[e].from];
		const struct vt_layout_node *to = &g.nodes[g.edges[e].to];
		const struct vt_layout_point *p = g.l.points + g.edges[e].first;
		unsigned left_of_to = 0, left_of_from = 0;

		for (i = 0; i < 5; i++) {
			const struct vt_layout_node *n = &g.nodes[i];

			left_of_from += i < 2 && n->x < from->x;
			left_of_to += i >= 2 && n->x < to->x;
		}
		assert_true(fabs(p[0].x - port(from, left_of_to, 3)) < NEAR);
		assert_true(fabs(p[0].y - from->y - from->height) < NEAR);
		assert_true(fabs(p[g.edges[e].npoints - 1].x - port(to, left_of_from, 2)) < NEAR);
		assert_true(fabs(p[g.edges[e].npoints - 1].y - to->y) < NEAR);
	}
	vt_layout_fini(&g.l);
}

/* Two nodes of different heights and one below: every coordinate. */
static void exact_places(void **state)
{
	static struct graph g;
	const struct vt_layout_point *p;

	(void)state;
	memset(&g, 0, sizeof(g));
	g.l.nnodes = 3;
	g.nodes[0] = (struct vt_layout_node){.width = 20, .height = 8};
	g.nodes[1] = (struct vt_layout_node){.width = 40, .height = 6};
	g.nodes[2] = (struct vt_layout_node){.width = 10, .height = 4};
	add_edge(&g, 0, 1);
	add_edge(&g, 1, 2);
	add_edge(&g, 2, 2);
	add_edge(&g, 2, 0);
	place(&g);
	/* A chain, its middle at 20; the last edge goes back up past the second, to its right or
	 * left.
	 */
	assert_true(g.nodes[0].y == 0 && g.nodes[1].y == 18 && g.nodes[2].y == 34);
	assert_true(g.l.height == 38);
	p = g.l.points + g.edges[2].first;
	assert_int_equal(g.edges[2].npoints, 2);
	assert_true(fabs(p[0].x - g.nodes[2].x - 10) < NEAR && fabs(p[1].x - p[0].x) < NEAR);
	assert_true(fabs(p[0].y - 37) < NEAR && fabs(p[1].y - 35) < NEAR);
	/* Down from node 0 and up into node 0, past the layer of node 1. */
	p = g.l.points + g.edges[3].first;
	assert_int_equal(g.edges[3].npoints, 4);
	assert_true(fabs(p[0].y - 34) < NEAR && fabs(p[1].y - 24) < NEAR);
	assert_true(fabs(p[2].y - 18) < NEAR && fabs(p[3].y - 8) < NEAR);
	assert_true(fabs(p[1].x - p[2].x) < NEAR);
	assert_true(p[1].x <= g.nodes[1].x + NEAR || p[1].x >= g.nodes[1].x + 40 - NEAR);
	vt_layout_fini(&g.l);
}

/* Edges between the same two nodes leave and arrive in their order, a single one in the middle. */
static void parallel_edges(void **state)
{
	static struct graph g;
	unsigned n, k;

	(void)state;
	for (n = 1; n <= 3; n++) {
		memset(&g, 0, sizeof(g));
		g.l.nnodes = 2;
		g.nodes[0] = (struct vt_layout_node){.width = 20, .height = 8};
		g.nodes[1] = (struct vt_layout_node){.width = 40, .height = 6};
		for (k = 0; k < n; k++)
			add_edge(&g, 0, 1);
		place(&g);
		for (k = 0; k < n; k++) {
			const struct vt_layout_point *p = g.l.points + g.edges[k].first;

			assert_true(fabs(p[0].x - port(&g.nodes[0], k, n)) < NEAR);
			assert_true(fabs(p[1].x - port(&g.nodes[1], k, n)) < NEAR);
		}
		vt_layout_fini(&g.l);
	}
}

/* Of a loop, the edge is turned round that closes it, going along a node's first edge first. */
static void loops_are_cut(void **state)
{
	static struct graph g;
	uint32_t first;

	(void)state;
	for (first = 1; first <= 2; first++) {
		memset(&g, 0, sizeof(g));
		g.l.nnodes = 3;
		add_edge(&g, 0, first);
		add_edge(&g, 0, 3 - first);
		add_edge(&g, 1, 2);
		add_edge(&g, 2, 1);
		place(&g);
		assert_true(g.nodes[first].y == 10 && g.nodes[3 - first].y == 20);
		vt_layout_fini(&g.l);
	}
}

/* Less than a unit is enough for a node, and between them. */
static void tiny_nodes(void **state)
{
	static struct graph g;
	struct vt_error err = VT_ERROR_INIT;

	(void)state;
	memset(&g, 0, sizeof(g));
	g.l = (struct vt_layout){.nodes = g.nodes, .edges = g.edges, .nnodes = 2, .gap = 0.25};
	g.nodes[0] = g.nodes[1] = (struct vt_layout_node){.width = 0.5, .height = 0.125};
	add_edge(&g, 0, 1);
	assert_int_equal(vt_layout_place(&g.l, &err), 0);
	assert_true(g.nodes[1].y == 0.375 && g.l.height == 0.5 && g.l.width == 0.5);
	vt_layout_fini(&g.l);
	g.l.nnodes = 1;
	g.l.nedges = 0;
	assert_int_equal(vt_layout_place(&g.l, &err), 0);
	assert_true(g.l.height == 0.125 && g.l.width == 0.5);
	vt_layout_fini(&g.l);
}

/* What was there before is none of it, and of what could not be placed there are no points. */
static void nothing_is_left(void **state)
{
	static struct graph g;

	(void)state;
	memset(&g, 0, sizeof(g));
	g.l.nnodes = 2;
	g.nodes[0] = g.nodes[1] = (struct vt_layout_node){.width = 20, .height = 8};
	g.nodes[2] = (struct vt_layout_node){.x = -77, .y = -78};
	add_edge(&g, 0, 1);
	g.l.npoints = 9;
	g.l.width = g.l.height = 1e9;
	place(&g);
	assert_int_equal(g.l.npoints, 2);
	assert_int_equal(g.edges[0].first, 0);
	assert_true(g.l.width == 20 && g.l.height == 26);
	assert_true(g.nodes[2].x == -77 && g.nodes[2].y == -78);
	vt_layout_fini(&g.l);
	assert_null(g.l.points);
	assert_int_equal(g.l.npoints, 0);
}

static void too_large(void **state)
{
	enum { N = 3000 };
	struct vt_layout_node *nodes = calloc(N, sizeof(*nodes));
	struct vt_layout_edge *edges = calloc(2 * N, sizeof(*edges));
	struct vt_layout l = {.nodes = nodes, .nnodes = N, .edges = edges};
	struct vt_error err = VT_ERROR_INIT;
	uint32_t i;

	(void)state;
	for (i = 1; i < N; i++) {
		edges[l.nedges++] = (struct vt_layout_edge){.from = i - 1, .to = i};
		edges[l.nedges++] = (struct vt_layout_edge){.from = 0, .to = i};
	}
	l.points = (struct vt_layout_point *)nodes;
	l.npoints = 7;
	l.width = 8;
	assert_int_equal(vt_layout_place(&l, &err), -VT_E_LIMIT);
	assert_null(l.points);
	assert_true(l.npoints == 0 && l.width == 0 && l.height == 0);
	vt_layout_fini(&l);
	free(nodes);
	free(edges);
}

/* Of edges that go through all layers, as many as fit, then one more; the same of nodes. */
static void as_large_as_may_be(void **state)
{
	enum { LAYERS = 2001, MOST = 400000 };
	struct vt_layout_node *nodes = calloc(LAYERS + 2198, sizeof(*nodes));
	struct vt_layout_edge *edges = calloc(LAYERS + 201, sizeof(*edges));
	struct vt_layout l = {.nodes = nodes, .nnodes = LAYERS, .edges = edges};
	struct vt_error err = VT_ERROR_INIT;
	uint32_t i;

	(void)state;
	for (i = 1; i < LAYERS; i++)
		edges[l.nedges++] = (struct vt_layout_edge){.from = i - 1, .to = i};
	/* Pieces of edges: 2000 and 199 times 2000. */
	for (i = 0; i < 200; i++)
		edges[l.nedges++] = (struct vt_layout_edge){.from = 0, .to = LAYERS - 1};
	assert_int_equal(vt_layout_place(&l, &err), -VT_E_LIMIT);
	vt_layout_fini(&l);
	l.nedges--;
	assert_int_equal(vt_layout_place(&l, &err), 0);
	vt_layout_fini(&l);
	/* Nodes and what goes through layers: 2001, 2197 and 198 times 1999. */
	l.nedges--;
	l.nnodes = LAYERS + 2198;
	assert_int_equal(vt_layout_place(&l, &err), -VT_E_LIMIT);
	vt_layout_fini(&l);
	l.nnodes--;
	/* An edge from a node to itself has no pieces. */
	edges[l.nedges++] = (struct vt_layout_edge){.from = 1, .to = 1};
	assert_int_equal(l.nnodes + 198 * (LAYERS - 2), MOST);
	assert_int_equal(vt_layout_place(&l, &err), 0);
	vt_layout_fini(&l);
	free(nodes);
	free(edges);
}

static void nothing(void **state)
{
	static struct graph g;

	(void)state;
	place(&g);
	assert_true(g.l.width == 0 && g.l.height == 0);
	vt_layout_fini(&g.l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(no_loops),
		cmocka_unit_test(trees),
		cmocka_unit_test(untangled),
		cmocka_unit_test(a_chain_is_straight),
		cmocka_unit_test(ports_are_in_order),
		cmocka_unit_test(exact_places),
		cmocka_unit_test(parallel_edges),
		cmocka_unit_test(loops_are_cut),
		cmocka_unit_test(tiny_nodes),
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(too_large),
		cmocka_unit_test(as_large_as_may_be),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
