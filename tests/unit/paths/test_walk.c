/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "paths/paths.h"
#include "paths/walk.h"

static struct vt_error err;

#define NOBIT VT_PATHEDGE_NOBIT

/* A graph with a node for each number below n; edges are sorted by `to`. */
struct made {
	struct vt_pathgraph g;
	struct vt_pathnode nodes[16];
	struct vt_pathedge edges[32];
	struct vt_pathchoice choices[32];
};

static void make(struct made *m, size_t n, const struct vt_pathedge *edges, size_t nedges)
{
	size_t i;

	memset(m, 0, sizeof(*m));
	memcpy(m->edges, edges, nedges * sizeof(*edges));
	m->g.nodes = m->nodes;
	m->g.nnodes = n;
	m->g.edges = m->edges;
	m->g.choices = m->choices;
	m->g.nedges = nedges;
	for (i = 0; i < n; i++)
		m->nodes[i].ninsns = 4;
	for (i = nedges; i-- > 0;) {
		m->nodes[edges[i].to].first = (uint32_t)i;
		m->nodes[edges[i].to].count++;
	}
	vt_pathgraph_weigh(&m->g);
}

#define MAKE(m, n, edges) make(m, n, edges, sizeof(edges) / sizeof((edges)[0]))

static struct vt_pathanswer find(struct vt_pathwalk *w, const struct vt_pathask *ask, bool pairs)
{
	struct vt_pathanswer a;

	assert_int_equal(vt_pathwalk_find(w, ask, pairs, true, &a, &err), 0);
	return a;
}

static bool is_near(double a, double b)
{
	return a > b * (1 - 1e-6) && a < b * (1 + 1e-6);
}

static void expect_path(const struct vt_pathanswer *a, const uint32_t *nodes, uint32_t n)
{
	assert_true(a->some);
	assert_int_equal(a->nnodes, n);
	assert_memory_equal(a->nodes, nodes, n * sizeof(*nodes));
}

/*
 * Two ways round a branch: 0 branches to 1 (taken) or 2, which both go on to 3, which branches back
 * to 0 if it is taken, and else to 4.  1 is executed 3 times as often as 2.
 */
static const struct vt_pathedge diamond[] = {
	{.from = 3, .to = 0, .bit = 1, .count = 100},
	{.from = 0, .to = 1, .bit = 1, .count = 75},
	{.from = 0, .to = 2, .bit = 0, .count = 25},
	{.from = 1, .to = 3, .bit = NOBIT, .count = 75},
	{.from = 2, .to = 3, .bit = NOBIT, .count = 25},
	{.from = 3, .to = 4, .bit = 0, .count = 1},
};

static void history_chooses(void **state)
{
	static const uint32_t taken[] = {3, 1, 0}, not_taken[] = {3, 2, 0};
	struct vt_pathask ask = {.node = 3, .branches = 1, .history = 1};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 5, diamond);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	expect_path(&a, taken, 3);
	assert_true(a.only);
	assert_true(a.probability == 1);
	ask.history = 0;
	a = find(w, &ask, false);
	expect_path(&a, not_taken, 3);
	assert_true(a.only);
	vt_pathwalk_free(w);
}

static void no_path_agrees(void **state)
{
	/* Into 0, the branch of 3 was taken. */
	const struct vt_pathask ask = {.node = 0, .branches = 1, .history = 0};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 5, diamond);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	assert_false(a.some);
	assert_false(a.only);
	vt_pathwalk_free(w);
}

/* Two branches lead to 2 by the direction 1: 0 with 30 executions, 1 with 10. */
static const struct vt_pathedge merge[] = {
	{.from = 3, .to = 0, .bit = 0, .count = 30},
	{.from = 3, .to = 1, .bit = 1, .count = 10},
	{.from = 0, .to = 2, .bit = 1, .count = 30},
	{.from = 1, .to = 2, .bit = 1, .count = 10},
};

static void the_likeliest(void **state)
{
	static const uint32_t often[] = {2, 0}, seldom[] = {2, 1, 3};
	struct vt_pathask ask = {.node = 2, .branches = 1, .history = 1};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	const uint32_t *nodes;
	struct made m;
	uint32_t n;

	(void)state;
	MAKE(&m, 4, merge);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	expect_path(&a, often, 2);
	assert_false(a.only);
	assert_true(a.probability == .75);
	/* A branch more decides. */
	ask.branches = 2;
	ask.history = 3;
	a = find(w, &ask, false);
	expect_path(&a, seldom, 3);
	assert_true(a.only);
	/* Counts alone do not see that. */
	assert_true(vt_pathwalk_counts(w, &ask, &nodes, &n));
	assert_int_equal(n, 3);
	assert_int_equal(nodes[1], 0);
	vt_pathwalk_free(w);
}

static void unknown_callers(void **state)
{
	const struct vt_pathask ask = {.node = 2, .branches = 1, .history = 1};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 4, merge);
	/* As often as by the two known ways: such a path has the direction 1 in half of the cases.
	 */
	m.nodes[2].open = true;
	m.nodes[2].elsewhere = 40;
	vt_pathgraph_weigh(&m.g);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	assert_true(a.open);
	assert_true(a.probability == .375 / .75);
	vt_pathwalk_free(w);
}

/* The nodes have 4 instructions: 0 and 1 are 1 to 4 before the first of 2. */
static void pairs_choose(void **state)
{
	static const uint32_t seldom[] = {2, 1};
	struct vt_pathask ask = {.node = 2,
				 .branches = 1,
				 .history = 1,
				 .paired = true,
				 .other = 1,
				 .other_nth = 1,
				 .distance = 3};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 4, merge);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, true);
	expect_path(&a, seldom, 2);
	assert_true(a.only);
	/* Too far off for it: 2 before, and not 1. */
	ask.other_nth = 2;
	ask.distance = 1;
	assert_false(find(w, &ask, true).some);
	/* Nearer than its distance: instructions of a wrong path were in between. */
	ask.distance = 4;
	a = find(w, &ask, true);
	expect_path(&a, seldom, 2);
	/* Out of reach of both: neither is left out. */
	ask.distance = 5;
	ask.other = 3;
	a = find(w, &ask, true);
	assert_false(a.only);
	assert_true(a.probability == .75);
	vt_pathwalk_free(w);
}

/*
 * 0 and 1 call 2, which returns to behind the calls, 3 and 4: a walk from 3 comes out at 0, and one
 * from 2 at either.
 */
static const struct vt_pathedge calls[] = {
	{.from = 5, .to = 0, .bit = 1, .count = 9},
	{.from = 5, .to = 1, .bit = 1, .count = 1},
	{.from = 0, .to = 2, .bit = NOBIT, .kind = VT_PATHEDGE_CALL, .count = 9},
	{.from = 1, .to = 2, .bit = NOBIT, .kind = VT_PATHEDGE_CALL, .count = 1},
	{.from = 2, .to = 3, .site = 0, .bit = NOBIT, .kind = VT_PATHEDGE_RETURN, .count = 9},
	{.from = 2, .to = 4, .site = 1, .bit = NOBIT, .kind = VT_PATHEDGE_RETURN, .count = 1},
};

static void calls_match_returns(void **state)
{
	static const uint32_t path[] = {4, 2, 1, 5}, open[] = {2, 0, 5};
	struct vt_pathask ask = {.node = 4, .branches = 1, .history = 1};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	const uint32_t *nodes;
	struct made m;
	uint32_t n;

	(void)state;
	MAKE(&m, 6, calls);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	expect_path(&a, path, 4);
	assert_true(a.only);
	assert_true(vt_pathwalk_counts(w, &ask, &nodes, &n));
	assert_int_equal(n, 4);
	assert_int_equal(nodes[2], 1);
	ask.node = 2;
	a = find(w, &ask, false);
	expect_path(&a, open, 3);
	assert_true(a.probability == .9);
	vt_pathwalk_free(w);
}

static void stops_at_the_entry(void **state)
{
	/* 1 is entered by a call as often as by the branch of 0. */
	static const struct vt_pathedge edges[] = {
		{.from = 0, .to = 1, .bit = 1, .count = 1},
		{.from = 1, .to = 1, .bit = NOBIT, .kind = VT_PATHEDGE_STOP, .count = 1},
	};
	struct vt_pathask ask = {.node = 1, .branches = 1, .history = 0};
	static const uint32_t path[] = {1}, branch[] = {1, 0};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 2, edges);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	expect_path(&a, path, 1);
	assert_true(a.only);
	/* That a branch before the entry was taken is as likely as that it was not. */
	ask.history = 1;
	a = find(w, &ask, false);
	expect_path(&a, branch, 2);
	assert_false(a.only);
	assert_true(is_near(a.probability, 2 / 3.0));
	/* Of branches that nothing is known of, more or fewer go as they did. */
	vt_pathwalk_guess(w, .75);
	a = find(w, &ask, false);
	assert_true(is_near(a.probability, 4 / 7.0));
	vt_pathwalk_free(w);
}

/* 1 is entered by calls in half of the cases. */
static const struct vt_pathedge entered[] = {
	{.from = 0, .to = 1, .bit = 1, .count = 3},
	{.from = 0, .to = 1, .bit = 0, .count = 1},
	{.from = 1, .to = 1, .bit = NOBIT, .kind = VT_PATHEDGE_STOP, .count = 4},
	{.from = 1, .to = 2, .bit = 1, .count = 1},
};

static double weigh(struct vt_pathwalk *w, uint32_t branches, uint64_t history)
{
	const struct vt_pathask ask = {.node = 2, .branches = branches, .history = history};
	double probability;

	assert_int_equal(vt_pathwalk_weigh(w, &ask, &probability, &err), 0);
	return probability;
}

static void all_paths_weigh(void **state)
{
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 3, entered);
	w = vt_pathwalk_new(&m.g);
	vt_pathwalk_guess(w, .8);
	assert_true(is_near(weigh(w, 2, 3), .375 + .5 * .8));
	assert_true(is_near(weigh(w, 2, 1), .125 + .5 * .8));
	assert_true(weigh(w, 2, 2) == 0);
	/* Two branches before the entry are not known, and nothing leads to 0. */
	assert_true(is_near(weigh(w, 3, 3), .5 * .8 * .8));
	vt_pathwalk_free(w);
}

static void add_question(struct vt_pathsamples *s, uint32_t branches, uint64_t history,
			 uint64_t count)
{
	struct vt_pathquestion q = {.history = history, .branches = branches};

	((struct vt_pathquestion *)vt_hash_add(&s->questions, &q, NULL))->count = count;
}

static void unknown_code_is_as_predictable(void **state)
{
	struct vt_pathask asks[] = {{.node = 2, .branches = 2, .history = 3},
				    {.node = 2, .branches = 1, .history = 1},
				    {.node = 2, .branches = 2, .history = 2},
				    {.node = VT_PATHNODE_NONE, .branches = 1}};
	struct vt_pathsamples s = {.branches = 2};
	struct vt_paths p = {.samples = &s, .asks = asks};
	struct made m;
	size_t i;

	(void)state;
	MAKE(&m, 3, entered);
	vt_hash_init(&s.questions, sizeof(struct vt_pathquestion),
		     offsetof(struct vt_pathquestion, count));
	for (i = 0; i < 4; i++)
		add_question(&s, asks[i].branches, asks[i].history, i == 0 ? 2 : 1);
	p.g = &m.g;
	p.walk = vt_pathwalk_new(&m.g);
	assert_int_equal(vt_paths_guess(&p, &err), 0);
	/* Of five branches, four are told by (3/8 + 1/4)^2; the other one is certain. */
	assert_true(is_near(weigh(p.walk, 2, 3), .375 + .5 * pow(.625, 2 / 5.0)));
	vt_pathwalk_free(p.walk);
	vt_hash_fini(&s.questions);
}

/* Blocks that jump to each other for ever. */
static void loops_without_branches(void **state)
{
	static const struct vt_pathedge edges[] = {
		{.from = 1, .to = 0, .bit = NOBIT, .count = 1},
		{.from = 0, .to = 1, .bit = NOBIT, .count = 1},
		{.from = 2, .to = 1, .bit = 1, .count = 1},
	};
	static const uint32_t path[] = {0, 1, 2};
	const struct vt_pathask ask = {.node = 0, .branches = 1, .history = 1};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 3, edges);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	assert_false(a.only);
	expect_path(&a, path, 3);
	/* Once, twice, … round: 1/2, 1/4, … */
	assert_true(is_near(a.probability, .5));
	vt_pathwalk_free(w);
}

/* f: 0 branches to 3, which returns, or goes on to 1, which calls f; 2 is behind it and returns. */
static const struct vt_pathedge recursion[] = {
	{.from = 1, .to = 0, .bit = NOBIT, .kind = VT_PATHEDGE_CALL, .count = 40},
	{.from = 4, .to = 0, .bit = NOBIT, .kind = VT_PATHEDGE_CALL, .count = 10},
	{.from = 0, .to = 1, .bit = 0, .count = 40},
	{.from = 2, .to = 2, .site = 1, .bit = NOBIT, .kind = VT_PATHEDGE_RETURN, .count = 30},
	{.from = 3, .to = 2, .site = 1, .bit = NOBIT, .kind = VT_PATHEDGE_RETURN, .count = 10},
	{.from = 0, .to = 3, .bit = 1, .count = 10},
};

static void recursion_ends(void **state)
{
	static const uint32_t path[] = {2, 3, 0, 1, 0};
	const struct vt_pathask ask = {.node = 2, .branches = 2, .history = 1};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;
	int all;

	(void)state;
	MAKE(&m, 5, recursion);
	w = vt_pathwalk_new(&m.g);
	/* Any number of returns may lie before; each is in 3/4 of the cases behind another. */
	for (all = 0; all < 2; all++) {
		assert_int_equal(vt_pathwalk_find(w, &ask, false, all, &a, &err), 0);
		expect_path(&a, path, 5);
		assert_false(a.only);
		assert_true(a.capped);
		assert_true(a.left_out < (all ? 2e-3 : 4e-3));
		assert_true(a.probability > .249 && a.probability < .251);
	}
	vt_pathwalk_free(w);
}

static void unlikely_ways_are_left_out(void **state)
{
	static const uint32_t seldom[] = {2, 1, 3};
	struct vt_pathask ask = {.node = 2, .branches = 1, .history = 1};
	struct vt_pathedge edges[4];
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	memcpy(edges, merge, sizeof(edges));
	edges[2].count = 999999;
	edges[3].count = 1;
	MAKE(&m, 4, edges);
	w = vt_pathwalk_new(&m.g);
	assert_int_equal(vt_pathwalk_find(w, &ask, false, false, &a, &err), 0);
	assert_true(a.capped);
	assert_true(is_near(a.left_out, 1e-6));
	assert_true(a.probability > .9999989 && a.probability < .9999991);
	assert_false(find(w, &ask, false).capped);
	/* They are not where nothing else agrees. */
	ask.branches = 2;
	ask.history = 3;
	assert_int_equal(vt_pathwalk_find(w, &ask, false, false, &a, &err), 0);
	expect_path(&a, seldom, 3);
	assert_true(a.only);
	assert_true(a.probability == 1);
	vt_pathwalk_free(w);
}

/* 64 branches with two ways to each: 2^64 paths, whose states merge. */
static void many_paths(void **state)
{
	static const struct vt_pathedge edges[] = {
		{.from = 0, .to = 0, .bit = 1, .count = 3},
		{.from = 1, .to = 0, .bit = 1, .count = 1},
		{.from = 0, .to = 1, .bit = 1, .count = 3},
		{.from = 1, .to = 1, .bit = 1, .count = 1},
	};
	const struct vt_pathask ask = {.node = 0, .branches = 64, .history = UINT64_MAX};
	struct vt_pathanswer a;
	struct vt_pathwalk *w;
	double expected = 1;
	struct made m;
	int i;

	(void)state;
	MAKE(&m, 2, edges);
	w = vt_pathwalk_new(&m.g);
	a = find(w, &ask, false);
	assert_true(a.some);
	assert_false(a.capped);
	assert_int_equal(a.nnodes, 65);
	for (i = 0; i < 64; i++)
		expected *= .75;
	assert_true(a.probability > expected * (1 - 1e-12) &&
		    a.probability < expected * (1 + 1e-12));
	vt_pathwalk_free(w);
}

static void learns_what_histories_say(void **state)
{
	struct vt_pathask ask = {.node = 2, .branches = 2, .history = 3};
	struct vt_pathwalk *w;
	struct made m;

	(void)state;
	MAKE(&m, 4, merge);
	w = vt_pathwalk_new(&m.g);
	assert_int_equal(vt_pathwalk_learn(w, &m.g, &ask, 5, &err), 0);
	/* The only path is 3, 1, 2. */
	assert_true(m.edges[0].learned == 0);
	assert_true(m.edges[1].learned == 5);
	assert_true(m.edges[2].learned == 0);
	assert_true(m.edges[3].learned == 5);
	ask.branches = 1;
	assert_int_equal(vt_pathwalk_learn(w, &m.g, &ask, 4, &err), 0);
	assert_true(m.edges[2].learned == 3);
	assert_true(m.edges[3].learned == 6);
	vt_pathwalk_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history_chooses),
		cmocka_unit_test(no_path_agrees),
		cmocka_unit_test(the_likeliest),
		cmocka_unit_test(unknown_callers),
		cmocka_unit_test(pairs_choose),
		cmocka_unit_test(calls_match_returns),
		cmocka_unit_test(stops_at_the_entry),
		cmocka_unit_test(all_paths_weigh),
		cmocka_unit_test(unknown_code_is_as_predictable),
		cmocka_unit_test(loops_without_branches),
		cmocka_unit_test(recursion_ends),
		cmocka_unit_test(unlikely_ways_are_left_out),
		cmocka_unit_test(many_paths),
		cmocka_unit_test(learns_what_histories_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
