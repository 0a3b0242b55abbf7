/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flows of minimum cost: against all flows of small graphs, and by their residual cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "flow/mincost_internal.h"

#define MAX_ARCS 8

static int64_t cost_of(const struct vt_mincost_arc *a, int64_t flow)
{
	return flow < a->want ? (a->want - flow) * a->less : (flow - a->want) * a->more;
}

static struct vt_mincost *build(uint32_t nodes, const struct vt_mincost_arc *arcs, size_t n)
{
	struct vt_mincost *f = vt_mincost_new(nodes);
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	assert_non_null(f);
	for (i = 0; i < n; i++)
		assert_int_equal(vt_mincost_add(f, &arcs[i], &err), i);
	return f;
}

/* Fails unless the flow is within bounds and as much flows into each node as out of it; its cost.
 */
static int64_t check_flow(const struct vt_mincost *f, uint32_t nodes,
			  const struct vt_mincost_arc *arcs, size_t n)
{
	int64_t *sum = calloc(nodes, sizeof(*sum));
	int64_t cost = 0;
	size_t i;

	assert_non_null(sum);
	for (i = 0; i < n; i++) {
		int64_t flow = vt_mincost_flow(f, (uint32_t)i);

		assert_in_range(flow, 0, arcs[i].at_most);
		sum[arcs[i].from] -= flow;
		sum[arcs[i].to] += flow;
		cost += cost_of(&arcs[i], flow);
	}
	for (i = 0; i < nodes; i++)
		assert_int_equal(sum[i], 0);
	free(sum);
	return cost;
}

/* The least cost of all flows of a small graph. */
static int64_t brute_force(uint32_t nodes, const struct vt_mincost_arc *arcs, size_t n,
			   int64_t *sums)
{
	int64_t best = INT64_MAX;
	int64_t flow;
	uint32_t i;

	if (n == 0) {
		for (i = 0; i < nodes; i++)
			if (sums[i])
				return INT64_MAX;
		return 0;
	}
	for (flow = 0; flow <= arcs[n - 1].at_most; flow++) {
		int64_t rest;

		sums[arcs[n - 1].from] -= flow;
		sums[arcs[n - 1].to] += flow;
		rest = brute_force(nodes, arcs, n - 1, sums);
		if (rest != INT64_MAX && rest + cost_of(&arcs[n - 1], flow) < best)
			best = rest + cost_of(&arcs[n - 1], flow);
		sums[arcs[n - 1].from] += flow;
		sums[arcs[n - 1].to] -= flow;
	}
	return best;
}

static void every_flow_of_small_graphs(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 1);
	for (round = 0; round < 2000; round++) {
		uint32_t nodes = 1 + (uint32_t)vt_rng_below(&rng, 5);
		size_t n = vt_rng_below(&rng, MAX_ARCS);
		struct vt_mincost_arc arcs[MAX_ARCS];
		int64_t sums[5] = {0};
		struct vt_mincost *f;
		size_t i;

		for (i = 0; i < n; i++) {
			arcs[i].from = (uint32_t)vt_rng_below(&rng, nodes);
			arcs[i].to = (uint32_t)vt_rng_below(&rng, nodes);
			arcs[i].at_most = (int64_t)vt_rng_below(&rng, 4);
			arcs[i].want = (int64_t)vt_rng_below(&rng, (uint64_t)arcs[i].at_most + 1);
			arcs[i].less = (int64_t)vt_rng_below(&rng, 5);
			arcs[i].more = (int64_t)vt_rng_below(&rng, 5);
		}
		f = build(nodes, arcs, n);
		assert_int_equal(vt_mincost_solve(f, &err), 0);
		assert_int_equal(check_flow(f, nodes, arcs, n), brute_force(nodes, arcs, n, sums));
		vt_mincost_free(f);
	}
}

/* Something like a procedure: blocks fall through, branch forwards and back, and return; of ten
 * arcs, `free_arcs` take any flow. */
static struct vt_mincost_arc *procedure(uint32_t nodes, unsigned free_arcs, size_t *n,
					uint64_t seed)
{
	struct vt_mincost_arc *arcs = calloc((size_t)nodes * 3, sizeof(*arcs));
	struct vt_rng rng;
	size_t i;
	uint32_t b;

	assert_non_null(arcs);
	vt_rng_init(&rng, seed);
	*n = 0;
	for (b = 0; b < nodes; b++) {
		uint32_t reach = vt_rng_below(&rng, 10) ? 8 : nodes;

		arcs[*n].from = b;
		arcs[(*n)++].to = (b + 1) % nodes;
		arcs[*n].from = b;
		arcs[(*n)++].to = (b + nodes - (uint32_t)vt_rng_below(&rng, reach)) % nodes;
		if (vt_rng_below(&rng, 4))
			continue;
		arcs[*n].from = b;
		arcs[(*n)++].to = (uint32_t)vt_rng_below(&rng, nodes);
	}
	for (i = 0; i < *n; i++) {
		arcs[i].at_most = vt_rng_below(&rng, 20) ? VT_MINCOST_MAX : 100000;
		arcs[i].want = (int64_t)vt_rng_below(&rng, 100000);
		arcs[i].less = (int64_t)(vt_rng_below(&rng, 3) ? vt_rng_below(&rng, 1000) : 0);
		arcs[i].more = (int64_t)(vt_rng_below(&rng, 3) ? vt_rng_below(&rng, 1000) : 0);
		/* Most of a graph's edges take any flow, and next to no cost. */
		if (vt_rng_below(&rng, 10) < free_arcs)
			arcs[i] = (struct vt_mincost_arc){.from = arcs[i].from,
							  .to = arcs[i].to,
							  .at_most = VT_MINCOST_MAX,
							  .more = 1};
	}
	return arcs;
}

/* Shortens the way to an arc's end; true if it did. */
static bool relax(int64_t *distance, uint32_t from, uint32_t to, int64_t cost)
{
	if (distance[from] + cost >= distance[to])
		return false;
	distance[to] = distance[from] + cost;
	return true;
}

/* A flow is the cheapest when no cycle of changes makes it cheaper (Bellman, Ford). */
static bool can_be_cheaper(const struct vt_mincost *f, uint32_t nodes,
			   const struct vt_mincost_arc *arcs, size_t n)
{
	int64_t *distance = calloc(nodes, sizeof(*distance));
	bool changed = true;
	uint32_t round;
	size_t i;

	assert_non_null(distance);
	for (round = 0; changed && round <= nodes; round++) {
		changed = false;
		for (i = 0; i < n; i++) {
			const struct vt_mincost_arc *a = &arcs[i];
			int64_t flow = vt_mincost_flow(f, (uint32_t)i);

			if (flow < a->at_most)
				changed |= relax(distance, a->from, a->to,
						 flow < a->want ? -a->less : a->more);
			if (flow > 0)
				changed |= relax(distance, a->to, a->from,
						 flow > a->want ? -a->more : a->less);
		}
	}
	free(distance);
	return changed;
}

static void check_cheapest(struct vt_mincost *f, uint32_t nodes, const struct vt_mincost_arc *arcs,
			   size_t n)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_mincost_solve(f, &err), 0);
	check_flow(f, nodes, arcs, n);
	assert_false(can_be_cheaper(f, nodes, arcs, n));
}

static void change_price(struct vt_mincost *f, struct vt_mincost_arc *arcs, uint32_t arc,
			 int64_t less, int64_t more)
{
	vt_mincost_price(f, arc, less, more);
	arcs[arc].less = less;
	arcs[arc].more = more;
}

/* Solved, solved again with other prices for what costs something, then for all. */
static void check_procedure(uint32_t nodes, unsigned free_arcs, uint64_t seed)
{
	size_t n;
	struct vt_mincost_arc *arcs = procedure(nodes, free_arcs, &n, seed);
	struct vt_mincost *f = build(nodes, arcs, n);
	struct vt_rng rng;
	uint32_t i;

	vt_rng_init(&rng, seed);
	check_cheapest(f, nodes, arcs, n);
	for (i = 0; i < n; i++)
		if (arcs[i].want && vt_rng_below(&rng, 2))
			change_price(f, arcs, i, (int64_t)vt_rng_below(&rng, 1000),
				     (int64_t)vt_rng_below(&rng, 1000));
	check_cheapest(f, nodes, arcs, n);
	for (i = 0; i < n; i++)
		change_price(f, arcs, i, arcs[i].more, arcs[i].less);
	check_cheapest(f, nodes, arcs, n);
	vt_mincost_free(f);
	free(arcs);
}

static void procedures_cannot_be_cheaper(void **state)
{
	uint32_t sizes[] = {2, 10, 50, 200, 1000, 2000};
	unsigned free_arcs;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (free_arcs = 0; free_arcs < 10; free_arcs += 3)
			check_procedure(sizes[i], free_arcs, 7 + i);
	for (i = 0; i < 200; i++)
		check_procedure(2 + (uint32_t)i / 10, 5, 100 + i);
}

/* A thousand nodes take a few milliseconds; the limit leaves room for sanitizers and load. */
static void large_procedures_are_quick(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t n;
	struct vt_mincost_arc *arcs = procedure(1000, 0, &n, 99);
	struct vt_mincost *f = build(1000, arcs, n);
	clock_t start = clock();

	(void)state;
	assert_int_equal(vt_mincost_solve(f, &err), 0);
	assert_true(clock() - start < 4 * CLOCKS_PER_SEC);
	vt_mincost_free(f);
	free(arcs);
}

/* Two parallel arcs make a convex cost with two corners. */
static void parallel_arcs_share(void **state)
{
	struct vt_mincost_arc arcs[] = {
		{.from = 0, .to = 1, .want = 10, .less = 100, .more = 100, .at_most = 1000},
		{.from = 1, .to = 0, .want = 0, .more = 1, .at_most = 4},
		{.from = 1, .to = 0, .want = 0, .more = 50, .at_most = 3},
		{.from = 1, .to = 0, .want = 0, .more = 200, .at_most = 1000},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mincost *f = build(2, arcs, 4);

	(void)state;
	assert_int_equal(vt_mincost_solve(f, &err), 0);
	assert_int_equal(vt_mincost_flow(f, 0), 7);
	assert_int_equal(vt_mincost_flow(f, 1), 4);
	assert_int_equal(vt_mincost_flow(f, 2), 3);
	assert_int_equal(vt_mincost_flow(f, 3), 0);
	vt_mincost_free(f);
}

static void arcs_may_be_added_to_a_flow(void **state)
{
	struct vt_mincost_arc out = {.to = 1, .want = 10, .less = 9, .more = 9, .at_most = 99};
	struct vt_mincost_arc back = {.from = 1, .want = 4, .less = 1, .more = 1, .at_most = 99};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mincost *f = build(2, &out, 1);

	(void)state;
	assert_int_equal(vt_mincost_solve(f, &err), 0);
	assert_int_equal(vt_mincost_flow(f, 0), 0);
	assert_int_equal(vt_mincost_add(f, &back, &err), 1);
	assert_int_equal(vt_mincost_solve(f, &err), 0);
	assert_int_equal(vt_mincost_flow(f, 0), 10);
	assert_int_equal(vt_mincost_flow(f, 1), 10);
	vt_mincost_free(f);
}

static void what_is_out_of_range(void **state)
{
	struct vt_mincost_arc arc = {.from = 2, .at_most = 1};
	struct vt_mincost_arc huge = {
		.to = 1, .want = INT64_MAX, .less = INT64_MAX, .more = -3, .at_most = INT64_MAX};
	struct vt_mincost_arc back = {.from = 1, .want = -5, .more = 1, .at_most = INT64_MAX};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mincost *f = build(2, NULL, 0);
	int64_t got = 0;
	int i;

	(void)state;
	assert_int_equal(vt_mincost_add(f, &arc, &err), -VT_E_USAGE);
	arc = (struct vt_mincost_arc){.to = 2, .at_most = 1};
	assert_int_equal(vt_mincost_add(f, &arc, &err), -VT_E_USAGE);
	assert_int_equal(vt_mincost_add(f, &huge, &err), 0);
	assert_int_equal(vt_mincost_add(f, &back, &err), 1);
	assert_int_equal(vt_mincost_solve(f, &err), 0);
	assert_int_equal(vt_mincost_flow(f, 0), VT_MINCOST_MAX);
	assert_int_equal(vt_mincost_flow(f, 1), VT_MINCOST_MAX);
	for (i = 0; i < 20000 && got >= 0; i++)
		got = vt_mincost_add(f, &huge, &err);
	assert_int_equal(got, -VT_E_LIMIT);
	/* 2^14 wants of 2^48 are 2^62: one was there before, and the last one was refused. */
	assert_int_equal(i, 1 << 14);
	back.want = 1;
	assert_int_equal(vt_mincost_add(f, &back, &err), -VT_E_LIMIT);
	back.want = 0;
	assert_int_equal(vt_mincost_add(f, &back, &err), i + 1);
	assert_int_equal(vt_mincost_solve(f, &err), 0);
	vt_mincost_free(f);
	assert_null(vt_mincost_new(VT_MINCOST_NODES + 1));
	vt_mincost_free(NULL);
	f = vt_mincost_new(VT_MINCOST_NODES);
	assert_non_null(f);
	vt_mincost_free(f);
}

/* Higher costs are the highest, lower ones none: as they are added, and as prices are changed. */
static void costs_are_limited(void **state)
{
	enum { FEW = 10, MANY = 99 };
	const int64_t high = VT_MINCOST_COST, higher = 5 * VT_MINCOST_COST;
	struct vt_mincost_arc arcs[] = {
		{.from = 0, .to = 1, .want = FEW, .less = high, .more = high, .at_most = MANY},
		{.from = 1, .to = 2, .want = FEW, .less = high, .more = high, .at_most = MANY},
		{.from = 2, .to = 0, .more = higher, .at_most = MANY},
	};
	struct vt_mincost_arc back[] = {
		{.from = 0, .to = 1, .want = FEW, .less = higher, .at_most = MANY},
		{.from = 1, .to = 2, .more = high, .at_most = MANY},
		{.from = 2, .to = 0, .more = high, .at_most = MANY},
	};
	struct vt_mincost_arc below[] = {
		{.from = 0, .to = 1, .want = FEW, .less = 2, .at_most = MANY},
		{.from = 1, .to = 0, .less = 7, .more = -9, .at_most = MANY},
		{.from = 1, .to = 0, .want = -3, .less = 7, .more = 1, .at_most = MANY},
		{.from = 1, .to = 1, .want = 7, .less = 7, .at_most = -1},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mincost *f;
	int priced;

	(void)state;
	for (priced = 0; priced < 2; priced++) {
		/* One that is too dear is as dear as each of two others. */
		arcs[2].more = priced ? 0 : higher;
		f = build(3, arcs, 3);
		if (priced)
			vt_mincost_price(f, 2, 0, higher);
		assert_int_equal(vt_mincost_solve(f, &err), 0);
		assert_int_equal(vt_mincost_flow(f, 0), FEW);
		assert_int_equal(vt_mincost_flow(f, 2), FEW);
		vt_mincost_free(f);
		back[0].less = priced ? 0 : higher;
		f = build(3, back, 3);
		if (priced)
			vt_mincost_price(f, 0, higher, 0);
		assert_int_equal(vt_mincost_solve(f, &err), 0);
		assert_int_equal(vt_mincost_flow(f, 0), 0);
		vt_mincost_free(f);
		/* What would pay for itself costs nothing. */
		below[1].more = priced ? 3 : -9;
		f = build(2, below, 4);
		if (priced)
			vt_mincost_price(f, 1, 7, -9);
		assert_int_equal(vt_mincost_solve(f, &err), 0);
		assert_int_equal(vt_mincost_flow(f, 0), FEW);
		assert_int_equal(vt_mincost_flow(f, 1), FEW);
		assert_int_equal(vt_mincost_flow(f, 2), 0);
		assert_int_equal(vt_mincost_flow(f, 3), 0);
		vt_mincost_free(f);
	}
}

/* What costs as much either way stays as it was measured. */
static void a_tie_changes_nothing(void **state)
{
	struct vt_mincost_arc arcs[] = {
		{.from = 0, .to = 1, .more = 1, .at_most = VT_MINCOST_MAX},
		{.from = 1, .to = 0, .want = 5, .less = 1, .more = 9, .at_most = 99},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mincost *f;
	int64_t less;

	(void)state;
	for (less = 0; less < 3; less++) {
		arcs[1].less = less;
		f = build(2, arcs, 2);
		assert_int_equal(vt_mincost_solve(f, &err), 0);
		assert_int_equal(vt_mincost_flow(f, 0), less ? 5 : 0);
		assert_int_equal(vt_mincost_flow(f, 1), less ? 5 : 0);
		vt_mincost_free(f);
	}
}

/* With other prices, a flow that still costs the least stays as it is. */
static void the_cheapest_flow_stays(void **state)
{
	struct vt_mincost_arc arcs[] = {
		{.from = 0, .to = 1, .want = 10, .less = 50, .more = 50, .at_most = 99},
		{.from = 1, .to = 0, .more = 3, .at_most = 99},
		{.from = 1, .to = 0, .more = 2, .at_most = 99},
		{.from = 1, .to = 0, .more = 3, .at_most = 99},
	};
	struct vt_error err = VT_ERROR_INIT;
	uint32_t cheap, i;

	(void)state;
	for (cheap = 1; cheap < 4; cheap++) {
		struct vt_mincost *f;

		for (i = 1; i < 4; i++)
			arcs[i].more = i == cheap ? 2 : 3;
		f = build(2, arcs, 4);
		assert_int_equal(vt_mincost_solve(f, &err), 0);
		for (i = 1; i < 4; i++)
			vt_mincost_price(f, i, 0, 2);
		assert_int_equal(vt_mincost_solve(f, &err), 0);
		for (i = 1; i < 4; i++)
			assert_int_equal(vt_mincost_flow(f, i), i == cheap ? 10 : 0);
		vt_mincost_free(f);
	}
}

/* A way back at the highest cost all along is taken, however dear: nothing else leads back. */
static void the_dearest_way_back(void **state)
{
	enum { NODES = 9 };
	struct vt_mincost_arc arcs[NODES - 1];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mincost *f;
	uint32_t i;

	(void)state;
	for (i = 0; i < NODES - 1; i++)
		arcs[i] = (struct vt_mincost_arc){.from = i,
						  .to = i + 1,
						  .want = 7,
						  .less = VT_MINCOST_COST,
						  .more = VT_MINCOST_COST,
						  .at_most = 99};
	f = build(NODES, arcs, NODES - 1);
	assert_int_equal(vt_mincost_solve(f, &err), 0);
	for (i = 0; i < NODES - 1; i++)
		assert_int_equal(vt_mincost_flow(f, i), 0);
	vt_mincost_free(f);
}

#define FREE .at_most = VT_MINCOST_MAX, .more = 1

/* A chain of arcs that take any flow: what closes it says what each of them carries. */
static void chains_are_one_node(void **state)
{
	static const struct vt_mincost_arc chains[][5] = {
		{{4, 3, FREE},
		 {3, 2, FREE},
		 {2, 1, FREE},
		 {1, 0, FREE},
		 {0, 4, .want = 10, .less = 5, .more = 7, .at_most = 99}},
		{{0, 1, FREE},
		 {1, 2, FREE},
		 {2, 3, FREE},
		 {3, 4, FREE},
		 {4, 0, .want = 10, .less = 5, .more = 7, .at_most = 99}},
		{{2, 4, FREE},
		 {4, 0, FREE},
		 {0, 3, FREE},
		 {3, 1, FREE},
		 {1, 2, .want = 10, .less = 5, .more = 7, .at_most = 99}},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		int64_t flow[5] = {1, 2, 3, 4, 9};
		struct vti_shrink s;

		assert_true(vti_shrink_init(&s, chains[i], 5, 5));
		assert_int_equal(s.nnodes, 1);
		for (k = 0; k < 5; k++) {
			assert_int_equal(s.node[k], 0);
			assert_int_equal(vti_shrink_implies(&s, (uint32_t)k), k < 4);
		}
		/* All of them cost 1. */
		assert_int_equal(s.carry[4], 4);
		assert_int_equal(s.norder, 4);
		vti_shrink_flow(&s, flow);
		for (k = 0; k < 5; k++)
			assert_int_equal(flow[k], 9);
		vti_shrink_fini(&s);
	}
}

/* Arcs into one node, and one out of it: it carries the sum, and each costs what it does, too. */
static void sums_are_implied(void **state)
{
	static const struct vt_mincost_arc arcs[] = {
		{0, 2, .want = 3, .more = 5, .at_most = 10},
		{1, 2, .want = 4, .more = 6, .at_most = 10},
		{2, 3, FREE},
		{3, 0, .want = 1, .at_most = 10},
		{3, 1, .want = 1, .at_most = 10},
	};
	int64_t flow[5] = {3, 4, 0, 3, 4};
	struct vti_shrink s;

	(void)state;
	assert_true(vti_shrink_init(&s, arcs, 5, 4));
	assert_int_equal(s.nnodes, 3);
	assert_int_equal(s.node[2], s.node[3]);
	assert_int_not_equal(s.node[0], s.node[1]);
	assert_int_not_equal(s.node[0], s.node[2]);
	assert_int_not_equal(s.node[1], s.node[2]);
	assert_true(vti_shrink_implies(&s, 2));
	assert_int_equal(s.norder, 1);
	assert_int_equal(s.order[0], 2);
	assert_int_equal(s.carry[0], 1);
	assert_int_equal(s.carry[1], 1);
	assert_int_equal(s.carry[3], 0);
	vti_shrink_flow(&s, flow);
	assert_int_equal(flow[2], 7);
	vti_shrink_fini(&s);
}

/* What is no arc that takes any flow at next to no cost, or not the only one, stays. */
static void others_stay(void **state)
{
	static const struct vt_mincost_arc arcs[][2] = {
		{{0, 1, .want = 1, FREE}, {1, 0, .want = 1, .at_most = 9}},
		{{0, 1, .at_most = VT_MINCOST_MAX - 1, .more = 1}, {1, 0, .want = 1, .at_most = 9}},
		{{0, 1, .at_most = VT_MINCOST_MAX, .more = 2}, {1, 0, .want = 1, .at_most = 9}},
		{{0, 0, FREE}, {1, 1, FREE}},
	};
	static const struct vt_mincost_arc twice[] = {
		{0, 1, FREE}, {0, 1, FREE}, {1, 0, FREE}, {1, 0, FREE}};
	struct vti_shrink s;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_true(vti_shrink_init(&s, arcs[i], 2, 2));
		assert_int_equal(s.nnodes, 2);
		assert_int_equal(s.norder, 0);
		assert_int_equal(s.node[0], 0);
		assert_int_equal(s.node[1], 1);
		vti_shrink_fini(&s);
	}
	assert_true(vti_shrink_init(&s, twice, 4, 2));
	assert_int_equal(s.nnodes, 2);
	vti_shrink_fini(&s);
}

/* A single arc to a node, though it is not the only one from its other end; and the reverse. */
static void either_end_will_do(void **state)
{
	static const struct vt_mincost_arc into[] = {
		{1, 0, FREE},
		{1, 2, .want = 1, .at_most = 9},
		{0, 1, .want = 1, .at_most = 9},
		{0, 2, .want = 1, .at_most = 9},
		{2, 1, .want = 1, .at_most = 9},
	};
	static const struct vt_mincost_arc out[] = {
		{2, 0, FREE},
		{1, 0, .want = 1, .at_most = 9},
		{0, 1, .want = 1, .at_most = 9},
		{1, 2, .want = 1, .at_most = 9},
		{0, 2, .want = 1, .at_most = 9},
	};
	struct vti_shrink s;

	(void)state;
	assert_true(vti_shrink_init(&s, into, 5, 3));
	assert_int_equal(s.nnodes, 2);
	assert_int_equal(s.node[0], s.node[1]);
	assert_true(vti_shrink_implies(&s, 0));
	assert_int_equal(s.owner[0], 0);
	vti_shrink_fini(&s);
	assert_true(vti_shrink_init(&s, out, 5, 3));
	assert_int_equal(s.nnodes, 2);
	assert_int_equal(s.node[0], s.node[2]);
	assert_true(vti_shrink_implies(&s, 0));
	assert_int_equal(s.owner[0], 2);
	vti_shrink_fini(&s);
}

/* Nodes that are one with others are numbered as these are, after what came before. */
static void nodes_are_numbered(void **state)
{
	static const struct vt_mincost_arc arcs[] = {
		{2, 1, FREE},
		{3, 2, FREE},
		{1, 3, .want = 1, .at_most = 9},
		{0, 0, .want = 1, .at_most = 9},
	};
	struct vti_shrink s;
	uint32_t i;

	(void)state;
	assert_true(vti_shrink_init(&s, arcs, 4, 4));
	assert_int_equal(s.nnodes, 2);
	for (i = 0; i < 4; i++)
		assert_int_equal(s.node[i], i > 0);
	vti_shrink_fini(&s);
	assert_true(vti_shrink_init(&s, NULL, 0, 0));
	assert_int_equal(s.nnodes, 0);
	vti_shrink_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_flow_of_small_graphs),
		cmocka_unit_test(procedures_cannot_be_cheaper),
		cmocka_unit_test(large_procedures_are_quick),
		cmocka_unit_test(parallel_arcs_share),
		cmocka_unit_test(arcs_may_be_added_to_a_flow),
		cmocka_unit_test(what_is_out_of_range),
		cmocka_unit_test(costs_are_limited),
		cmocka_unit_test(a_tie_changes_nothing),
		cmocka_unit_test(the_cheapest_flow_stays),
		cmocka_unit_test(the_dearest_way_back),
		cmocka_unit_test(chains_are_one_node),
		cmocka_unit_test(sums_are_implied),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(either_end_will_do),
		cmocka_unit_test(nodes_are_numbered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
