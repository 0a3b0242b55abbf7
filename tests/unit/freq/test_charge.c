/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which instruction the time of a sample is charged to, on graphs made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "freq/charge.h"
#include "tests/unit/freq/freqgraph.h"

static struct vt_error err;

/* entry -> 2; 2 -> 2 or 3; 3 -> exit; each of two instructions. */
static void begin_loop(struct graph *g)
{
	graph_begin(g);
	graph_edge(g, VT_CFG_ENTRY, 2);
	graph_edge(g, 2, 2);
	graph_edge(g, 2, 3);
	graph_edge(g, 3, VT_CFG_EXIT);
	graph_insn(g, 2, 1, 0, 0);
	graph_insn(g, 2, 1, 0, 0);
	graph_insn(g, 3, 1, 0, 0);
	graph_insn(g, 3, 1, 0, 0);
	graph_finish(g, 4);
}

static struct vt_freq_value times(double n)
{
	return (struct vt_freq_value){n, n, n, VT_CONFIDENCE_EXACT, VT_METHOD_COUNTED};
}

struct charge_case {
	uint64_t samples[4];
	uint64_t period[4];
	struct vt_freq_value edges[4];
};

static void charge(struct graph *g, enum vt_charge how, struct charge_case *c)
{
	struct vt_freqs freqs = {.edge = c->edges};

	assert_int_equal(vt_freq_charge(how, &g->flow, &freqs, c->samples, c->period, &err), 0);
}

static void assert_numbers(const uint64_t *list, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	assert_int_equal(list[0], a);
	assert_int_equal(list[1], b);
	assert_int_equal(list[2], c);
	assert_int_equal(list[3], d);
}

static void test_policies(void **state)
{
	(void)state;
	assert_int_equal(vt_freq_charge_of(VT_POLICY_INTERRUPT, VT_OUT_OF_ORDER),
			 VT_CHARGE_PREDECESSOR);
	assert_int_equal(vt_freq_charge_of(VT_POLICY_UNKNOWN, VT_OUT_OF_ORDER),
			 VT_CHARGE_PREDECESSOR);
	assert_int_equal(vt_freq_charge_of(VT_POLICY_PRECISE, VT_OUT_OF_ORDER), VT_CHARGE_SELF);
	assert_int_equal(vt_freq_charge_of(VT_POLICY_DISPATCH, VT_OUT_OF_ORDER), VT_CHARGE_SELF);
	assert_int_equal(vt_freq_charge_of(VT_POLICY_MODEL, VT_OUT_OF_ORDER), VT_CHARGE_SELF);
	assert_int_equal(vt_freq_charge_of(VT_POLICY_EXACT, VT_OUT_OF_ORDER), VT_CHARGE_SELF);
	assert_int_equal(vt_freq_charge_of(VT_POLICY_INTERRUPT, VT_IN_ORDER), VT_CHARGE_SELF);
	assert_int_equal(vt_freq_charge_of(VT_POLICY_UNKNOWN, VT_IN_ORDER), VT_CHARGE_SELF);
}

static void test_self_changes_nothing(void **state)
{
	struct charge_case c = {{1, 2, 3, 4}, {10, 20, 30, 40}, {times(1), times(9), times(1)}};
	struct graph g;

	(void)state;
	begin_loop(&g);
	charge(&g, VT_CHARGE_SELF, &c);
	assert_numbers(c.samples, 1, 2, 3, 4);
	assert_numbers(c.period, 10, 20, 30, 40);
}

/*
 * The loop's first instruction has 100 samples: 9 of 10 came by the back edge, from the loop's last
 * instruction, and 1 of 10 from outside, where there is nobody to charge.
 */
static void test_edges_divide_the_first(void **state)
{
	struct charge_case c = {
		{100, 7, 50, 3}, {1000, 70, 505, 30}, {times(1), times(9), times(1), times(1)}};
	struct graph g;

	(void)state;
	begin_loop(&g);
	charge(&g, VT_CHARGE_PREDECESSOR, &c);
	assert_numbers(c.samples, 10 + 7, 90 + 50, 3, 0);
	assert_numbers(c.period, 100 + 70, 900 + 505, 30, 0);
}

/* Of 3 samples in parts of a third and two thirds of 2: whole samples, and none is lost. */
static void test_no_sample_is_lost(void **state)
{
	struct charge_case c = {{2, 0, 1, 0}, {5, 0, 7, 0}, {times(2), times(4), times(6)}};
	struct graph g;

	(void)state;
	begin_loop(&g);
	charge(&g, VT_CHARGE_PREDECESSOR, &c);
	assert_numbers(c.samples, 1, 1 + 1, 0, 0);
	assert_numbers(c.period, 2, 3 + 7, 0, 0);
}

/*
 * Without executions of edges, the loop's own samples tell that control was there, and nothing that
 * it came from elsewhere.  The block behind it has nobody before it but the loop.
 */
static void test_time_stands_for_unknown_edges(void **state)
{
	struct charge_case c = {{100, 7, 50, 3}, {1000, 70, 500, 30}, {times(0)}};
	struct graph g;

	(void)state;
	begin_loop(&g);
	c.edges[0] = (struct vt_freq_value){.executions = 9}; /* of confidence none */
	charge(&g, VT_CHARGE_PREDECESSOR, &c);
	assert_numbers(c.samples, 7, 150, 3, 0);
	assert_numbers(c.period, 70, 1500, 30, 0);
}

/* 30 and 10 samples for each instruction of the two ways: 3 of 4 came by the first. */
static void test_time_divides_unknown_edges(void **state)
{
	struct vt_freq_value edges[MAX_EDGES] = {{0}};
	struct vt_freqs freqs = {.edge = edges};
	uint64_t period[] = {0, 300, 100, 800};
	struct graph g;

	(void)state;
	graph_begin_diamond(&g);
	g.samples[0] = 0;
	g.samples[1] = 30;
	g.samples[2] = 10;
	g.samples[3] = 80;
	assert_int_equal(
		vt_freq_charge(VT_CHARGE_PREDECESSOR, &g.flow, &freqs, g.samples, period, &err), 0);
	/* Those of the arms stay: no sample tells that control was before them. */
	assert_numbers(g.samples, 0, 30 + 60, 10 + 20, 0);
	assert_numbers(period, 0, 300 + 600, 100 + 200, 0);
}

static void test_repetitions_keep_theirs(void **state)
{
	struct charge_case c = {{0, 8, 6, 4}, {0, 80, 60, 40}, {times(0)}};
	struct graph g;

	(void)state;
	begin_loop(&g);
	g.insns[1].flags = VT_FACT_REPEATED;
	g.insns[2].flags = VT_FACT_REPEATED;
	charge(&g, VT_CHARGE_PREDECESSOR, &c);
	assert_numbers(c.samples, 0, 8, 6 + 4, 0);
	assert_numbers(c.period, 0, 80, 60 + 40, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_self_changes_nothing),
		cmocka_unit_test(test_edges_divide_the_first),
		cmocka_unit_test(test_no_sample_is_lost),
		cmocka_unit_test(test_time_stands_for_unknown_edges),
		cmocka_unit_test(test_time_divides_unknown_edges),
		cmocka_unit_test(test_repetitions_keep_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
