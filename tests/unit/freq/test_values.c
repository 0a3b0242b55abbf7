/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of frequencies in the end, on small graphs, by numbers worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/freq/freqgraph.h"

static struct vt_error err;

/* ---- values ---- */

static struct vt_freqs *values_of(struct graph *g, enum vt_method method)
{
	struct vt_freqs *f;

	g->in.method = method;
	g->in.core = NULL;
	f = vt_freqs_new(&g->in, &err);
	assert_non_null(f);
	return f;
}

static void test_naive(void **state)
{
	struct vt_freqs *f;
	struct graph g;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_insn(&g, 2, 1, 16, 1600);
	graph_insn(&g, 2, 2, 4, 400);
	graph_insn(&g, 2, 0, 1, 100);
	graph_insn(&g, 2, 1, 0, 0);
	graph_finish(&g, 3);
	f = values_of(&g, VT_METHOD_NAIVE);
	assert_true(nearly_equal(f->insn[0].executions, 1600));
	assert_true(nearly_equal(f->insn[0].low, 800) && nearly_equal(f->insn[0].high, 2400));
	assert_true(nearly_equal(f->insn[1].executions, 200));
	assert_true(nearly_equal(f->insn[1].low, 0) && nearly_equal(f->insn[1].high, 400));
	/* A quarter of a cycle at least; without samples, a period may have been missed. */
	assert_true(nearly_equal(f->insn[2].executions, 400) &&
		    nearly_equal(f->insn[2].high, 1200));
	assert_true(nearly_equal(f->insn[3].executions, 0) && nearly_equal(f->insn[3].high, 200));
	assert_int_equal(f->insn[0].confidence, VT_CONFIDENCE_LOW);
	vt_freqs_free(f);
}

/* Points that agree, of so many samples that only their number counts: 35 % by it. */
static void test_confidence(void **state)
{
	static const struct {
		uint32_t points;
		enum vt_confidence confidence;
	} cases[] = {{6, VT_CONFIDENCE_HIGH},
		     {5, VT_CONFIDENCE_MEDIUM},
		     {3, VT_CONFIDENCE_MEDIUM},
		     {2, VT_CONFIDENCE_LOW}};
	size_t i;
	uint32_t k;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct graph g;
		struct vt_freqs *f;
		double sigma = 1e8 * hypot(1 / sqrt(1e8 * cases[i].points), 0.35 / cases[i].points);

		graph_begin(&g);
		graph_edge(&g, VT_CFG_ENTRY, 2);
		for (k = 0; k < cases[i].points; k++)
			graph_insn(&g, 2, 1, 100000000, 1e8);
		graph_edge(&g, 2, VT_CFG_EXIT);
		graph_finish(&g, 3);
		f = values_of(&g, VT_METHOD_PAPER);
		assert_int_equal(f->insn[0].confidence, cases[i].confidence);
		assert_int_equal(f->insn[0].method, VT_METHOD_PAPER);
		assert_true(nearly_equal(f->insn[0].executions, 1e8));
		assert_true(nearly_equal(f->insn[0].low, 1e8 - 2 * sigma));
		assert_true(nearly_equal(f->insn[0].high, 1e8 + 2 * sigma));
		vt_freqs_free(f);
	}
}

/* Counts of stacks are what comes out, for edges, too, and are called so. */
static void test_counted(void **state)
{
	struct vt_freq_measure insns[] = {{1000, 20}, {400, 20}, {600, 20}, {1000, 20}};
	struct vt_freq_measure edges[] = {{-1, 0},   {400, 20}, {600, 20},
					  {400, 20}, {600, 20}, {-1, 0}};
	static const double expected[] = {1000, 400, 600, 1000};
	struct vt_freqs *f;
	struct graph g;
	uint32_t i;

	(void)state;
	graph_begin_diamond(&g);
	g.in.measured = insns;
	g.in.measured_edges = edges;
	g.in.measure_unit = 1;
	g.in.measure_timed = true;
	g.in.skewed = true;
	f = values_of(&g, VT_METHOD_FLOW);
	for (i = 0; i < 4; i++) {
		assert_true(fabs(f->insn[i].executions - expected[i]) < 0.1);
		assert_int_equal(f->insn[i].method, VT_METHOD_BRANCHES);
	}
	assert_true(fabs(f->edge[1].executions - 400) < 0.1);
	assert_int_equal(f->edge[1].method, VT_METHOD_BRANCHES);
	assert_int_equal(f->insn[0].confidence, VT_CONFIDENCE_HIGH);
	vt_freqs_free(f);
}

/* What callers say is believed for the entry's class, unless it would take more time than there is.
 */
static void test_callers(void **state)
{
	struct vt_freqs *f;
	struct graph g;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		graph_begin(&g);
		graph_edge(&g, VT_CFG_ENTRY, 2);
		graph_edge(&g, 2, VT_CFG_EXIT);
		graph_insn(&g, 2, 1, 9, 900);
		graph_finish(&g, 3);
		/* One class, as it is. */
		memset(g.block_class, 0, sizeof(g.block_class));
		memset(g.edge_class, 0, sizeof(g.edge_class));
		g.classes.count = 1;
		g.in.entries = (struct vt_freq_measure){i ? 1251 : 600, 30};
		f = values_of(&g, VT_METHOD_FLOW);
		assert_true(fabs(f->insn[0].executions - (i ? 900 : 600)) < 0.01);
		if (!i)
			assert_true(fabs(f->insn[0].high - 600 - 2 * hypot(30, 600 * 0.35 / 4)) <
				    0.1);
		vt_freqs_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_naive),
		cmocka_unit_test(test_confidence),
		cmocka_unit_test(test_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
