/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order and columns of layers, against the same rules computed the simple way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "listing/layout_internal.h"

#define LAYERS	 6
#define WIDTH	 7
#define VERTICES (LAYERS * WIDTH)
#define SEGMENTS 100
#define GAP	 10

struct layered {
	struct vt_layout g;
	struct vti_layered l;
	struct vti_vertex vertices[VERTICES + 1];
	struct vti_segment segments[SEGMENTS];
	uint32_t up[SEGMENTS], down[SEGMENTS], layers[VERTICES], layer_first[LAYERS + 1];
};

/* Each vertex's neighbours, those of one vertex together. */
static void join(struct layered *a)
{
	uint32_t v, s, nup = 0, ndown = 0;

	for (v = 0; v <= a->l.nvertices; v++) {
		a->vertices[v].up = nup;
		a->vertices[v].down = ndown;
		for (s = 0; s < a->l.nsegments; s++) {
			if (a->segments[s].lower == v)
				a->up[nup++] = a->segments[s].upper;
			if (a->segments[s].upper == v)
				a->down[ndown++] = a->segments[s].lower;
		}
	}
}

static void make(struct layered *a, struct vt_rng *rng)
{
	uint32_t i, k, n = 0;

	memset(a, 0, sizeof(*a));
	a->l = (struct vti_layered){.g = &a->g,
				    .vertices = a->vertices,
				    .segments = a->segments,
				    .up = a->up,
				    .down = a->down,
				    .layers = a->layers,
				    .layer_first = a->layer_first};
	a->l.nlayers = 1 + (uint32_t)vt_rng_below(rng, LAYERS);
	for (i = 0; i < a->l.nlayers; i++) {
		a->layer_first[i] = n;
		for (k = 1 + (uint32_t)vt_rng_below(rng, WIDTH); k; k--, n++) {
			a->layers[n] = n;
			a->vertices[n].layer = i;
			a->vertices[n].width = (double)vt_rng_below(rng, 30);
		}
	}
	a->layer_first[i] = a->l.nvertices = n;
	a->g.gap = GAP;
	a->g.nnodes = (uint32_t)vt_rng_below(rng, n + 1);
	for (i = 0; i < SEGMENTS && a->l.nlayers > 1; i++) {
		uint32_t upper = (uint32_t)vt_rng_below(rng, a->layer_first[a->l.nlayers - 1]);
		uint32_t below = a->vertices[upper].layer + 1, first = a->layer_first[below];

		if (vt_rng_below(rng, 2))
			a->segments[a->l.nsegments++] = (struct vti_segment){
				upper, first + (uint32_t)vt_rng_below(
						       rng, a->layer_first[below + 1] - first)};
	}
	join(a);
	vti_layout_number(&a->l);
}

/* ---- order ---- */

static uint64_t crossings(const struct layered *a, const uint32_t *place)
{
	uint64_t count = 0;
	uint32_t i, k;

	for (i = 0; i < a->l.nsegments; i++)
		for (k = 0; k < a->l.nsegments; k++) {
			struct vti_segment x = a->segments[i], y = a->segments[k];

			count += a->vertices[x.upper].layer == a->vertices[y.upper].layer &&
				 place[x.upper] < place[y.upper] && place[x.lower] > place[y.lower];
		}
	return count;
}

/* The mean of the neighbours' places; of a vertex without neighbours its own. */
static double mean(const struct layered *a, const uint32_t *place, uint32_t v, bool below)
{
	double sum = 0;
	uint32_t s, n = 0;

	for (s = 0; s < a->l.nsegments; s++) {
		struct vti_segment x = a->segments[s];

		if ((below ? x.upper : x.lower) == v) {
			sum += place[below ? x.lower : x.upper];
			n++;
		}
	}
	return n ? sum / n : place[v];
}

static void order_layer(const struct layered *a, uint32_t *place, uint32_t layer, bool below)
{
	uint32_t first = a->layer_first[layer], end = a->layer_first[layer + 1], v, u;
	uint32_t to[VERTICES] = {0};

	for (v = first; v < end; v++)
		for (u = first; u < end; u++) {
			double x = mean(a, place, u, below), y = mean(a, place, v, below);

			to[v] += x < y || (x == y && place[u] < place[v]);
		}
	memcpy(place + first, to + first, (end - first) * sizeof(*to));
}

/* 24 times by the mean, down and up in turn, until nothing crosses; the best of all is taken. */
static void the_best_of_all_sweeps(void **state)
{
	static struct layered a;
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 11);
	for (round = 0; round < 400; round++) {
		uint32_t place[VERTICES], best[VERTICES], i, k;
		uint64_t fewest, count;

		make(&a, &rng);
		for (i = 0; i < a.l.nvertices; i++) {
			place[i] = i - a.layer_first[a.vertices[i].layer];
			assert_int_equal(a.vertices[i].order, place[i]);
		}
		memcpy(best, place, sizeof(best));
		fewest = crossings(&a, place);
		for (i = 0; i < 24 && fewest; i++) {
			for (k = 1; k < a.l.nlayers; k++)
				order_layer(&a, place, i % 2 ? a.l.nlayers - 1 - k : k, i % 2);
			count = crossings(&a, place);
			if (count < fewest) {
				fewest = count;
				memcpy(best, place, sizeof(best));
			}
		}
		assert_true(vti_layout_order(&a.l));
		for (i = 0; i < a.l.nvertices; i++) {
			assert_int_equal(a.vertices[i].order, best[i]);
			assert_int_equal(a.layers[a.layer_first[a.vertices[i].layer] + best[i]], i);
		}
	}
}

/* ---- columns ---- */

/* From the left to the right vertex of two neighbours. */
static double apart(const struct layered *a, uint32_t left)
{
	bool nodes = left < a->g.nnodes || left + 1 < a->g.nnodes;

	return a->vertices[left].width / 2 + a->vertices[left + 1].width / 2 +
	       (nodes ? GAP : GAP / 2.0);
}

/* A long edge's pieces pull twice as hard at nodes as edges do, and eight times among themselves.
 */
static double pull(const struct layered *a, struct vti_segment s)
{
	int nodes = (s.upper < a->g.nnodes) + (s.lower < a->g.nnodes);

	return nodes == 2 ? 1 : nodes == 1 ? 2 : 8;
}

/* Isotonic regression by its formula: the greatest of all least means of what is around. */
static void settle(const struct layered *a, double *x, uint32_t layer, bool below)
{
	uint32_t first = a->layer_first[layer], end = a->layer_first[layer + 1], v, i, k, s;
	double at[VERTICES], weight[VERTICES], offset[VERTICES];

	for (v = first; v < end; v++) {
		offset[v] = v > first ? offset[v - 1] + apart(a, v - 1) : 0;
		at[v] = weight[v] = 0;
		for (s = 0; s < a->l.nsegments; s++) {
			struct vti_segment seg = a->segments[s];

			if ((below ? seg.upper : seg.lower) != v)
				continue;
			at[v] += pull(a, seg) * x[below ? seg.lower : seg.upper];
			weight[v] += pull(a, seg);
		}
		if (weight[v] == 0) {
			weight[v] = 0.01;
			at[v] = 0.01 * x[v];
		}
	}
	for (v = first; v < end; v++) {
		double most = -INFINITY;

		for (i = first; i <= v; i++) {
			double least = INFINITY, sum = 0, all = 0;

			for (k = i; k < end; k++) {
				sum += at[k] - weight[k] * offset[k];
				all += weight[k];
				if (k >= v && sum / all < least)
					least = sum / all;
			}
			most = least > most ? least : most;
		}
		x[v] = most + offset[v];
	}
}

static void columns_are_nearest_to_wishes(void **state)
{
	static struct layered a;
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 12);
	for (round = 0; round < 400; round++) {
		double x[VERTICES] = {0};
		uint32_t i, k;

		make(&a, &rng);
		for (i = 0; i < a.l.nvertices; i++)
			x[i] = a.vertices[i].order ? x[i - 1] + apart(&a, i - 1) : 0;
		for (i = 0; i < 16; i++)
			for (k = 1; k < a.l.nlayers; k++)
				settle(&a, x, i % 2 ? a.l.nlayers - 1 - k : k, i % 2);
		assert_true(vti_layout_columns(&a.l));
		for (i = 0; i < a.l.nvertices; i++)
			assert_true(fabs(a.vertices[i].x - x[i]) < 1e-6);
	}
}

/* ---- all of it ---- */

/* The layers of a graph whose edges lead to higher numbers; false where there are too many. */
static bool take_graph(struct layered *a, const struct vt_layout *g)
{
	uint32_t i, e, k, n = g->nnodes;

	memset(a, 0, sizeof(*a));
	a->g = *g;
	a->l = (struct vti_layered){.g = &a->g,
				    .vertices = a->vertices,
				    .segments = a->segments,
				    .up = a->up,
				    .down = a->down,
				    .layers = a->layers,
				    .layer_first = a->layer_first};
	for (i = 0; i < g->nnodes; i++) {
		a->vertices[i].width = g->nodes[i].width;
		for (e = 0; e < g->nedges; e++)
			if (g->edges[e].from == i &&
			    a->vertices[g->edges[e].to].layer <= a->vertices[i].layer)
				a->vertices[g->edges[e].to].layer = a->vertices[i].layer + 1;
		if (a->vertices[i].layer >= LAYERS)
			return false;
	}
	/* A long edge has a vertex in each layer that it goes through. */
	for (e = 0; e < g->nedges; e++) {
		uint32_t last = g->edges[e].from, to = g->edges[e].to;

		while (a->vertices[last].layer + 1 < a->vertices[to].layer) {
			if (n == VERTICES)
				return false;
			a->vertices[n].layer = a->vertices[last].layer + 1;
			a->segments[a->l.nsegments++] = (struct vti_segment){last, n};
			last = n++;
		}
		a->segments[a->l.nsegments++] = (struct vti_segment){last, to};
	}
	a->l.nvertices = n;
	for (i = 0, k = 0; i < LAYERS; i++) {
		a->layer_first[i] = k;
		for (e = 0; e < n; e++)
			if (a->vertices[e].layer == i)
				a->layers[k++] = e;
		a->l.nlayers = k > a->layer_first[i] ? i + 1 : a->l.nlayers;
	}
	a->layer_first[LAYERS] = n;
	join(a);
	vti_layout_number(&a->l);
	return true;
}

static void compare_places(const struct layered *a, const struct vt_layout *g)
{
	double left = INFINITY, right = -INFINITY;
	uint32_t i, e, s = 0, n = g->nnodes;

	for (i = 0; i < a->l.nvertices; i++) {
		const struct vti_vertex *v = &a->vertices[i];

		left = fmin(left, v->x - v->width / 2);
		right = fmax(right, v->x + v->width / 2);
	}
	assert_true(fabs(g->width - (right - left)) < 1e-6);
	for (i = 0; i < g->nnodes; i++)
		assert_true(fabs(g->nodes[i].x + left - a->vertices[i].x +
				 a->vertices[i].width / 2) < 1e-6);
	/* Where edges go through layers: all but their ends, two points each. */
	for (e = 0; e < g->nedges; e++) {
		const struct vt_layout_point *p =
			g->points + g->edges[e].first + g->edges[e].npoints - 1;
		uint32_t through =
			a->vertices[g->edges[e].to].layer - a->vertices[g->edges[e].from].layer - 1;

		for (i = 0; i < through; i++) {
			double x = a->vertices[n + through - 1 - i].x - left;

			assert_true(fabs((--p)->x - x) < 1e-6);
			assert_true(fabs((--p)->x - x) < 1e-6);
		}
		n += through;
		s += through + 1;
	}
	assert_int_equal(n, a->l.nvertices);
	assert_int_equal(s, a->l.nsegments);
}

/* Order and columns are those of the layers that a graph without loops has. */
static void graphs_are_layered(void **state)
{
	enum { NODES = 12, EDGES = 18 };
	static struct layered a;
	struct vt_rng rng;
	int round, compared = 0;

	(void)state;
	vt_rng_init(&rng, 13);
	for (round = 0; round < 400; round++) {
		struct vt_layout_node nodes[NODES] = {{0}};
		struct vt_layout_edge edges[EDGES] = {{0}};
		struct vt_layout g = {.nodes = nodes, .edges = edges, .gap = GAP};
		struct vt_error err = VT_ERROR_INIT;
		uint32_t i;

		g.nnodes = 2 + (uint32_t)vt_rng_below(&rng, NODES - 1);
		g.nedges = (uint32_t)vt_rng_below(&rng, EDGES + 1);
		for (i = 0; i < g.nnodes; i++)
			nodes[i].width = (double)vt_rng_below(&rng, 30);
		for (i = 0; i < g.nedges; i++) {
			edges[i].to = 1 + (uint32_t)vt_rng_below(&rng, g.nnodes - 1);
			edges[i].from = (uint32_t)vt_rng_below(&rng, edges[i].to);
		}
		if (!take_graph(&a, &g))
			continue;
		compared++;
		assert_true(vti_layout_order(&a.l) && vti_layout_columns(&a.l));
		assert_int_equal(vt_layout_place(&g, &err), 0);
		compare_places(&a, &g);
		vt_layout_fini(&g);
	}
	assert_true(compared > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_all_sweeps),
		cmocka_unit_test(columns_are_nearest_to_wishes),
		cmocka_unit_test(graphs_are_layered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
