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

/* A block that no stack has: it was not executed, unless it was sampled. */
static void test_missed(void **state)
{
	struct vt_freq_measure insns[] = {{1000, 20}, {0, 5}, {1000, 20}, {1000, 20}};
	struct vt_freq_measure edges[] = {{-1, 0}, {0, 5}, {1000, 20}, {0, 5}, {1000, 20}, {-1, 0}};
	uint64_t samples;

	(void)state;
	for (samples = 0; samples < 2; samples++) {
		struct vt_freqs *f;
		struct graph g;

		graph_begin_diamond(&g);
		g.in.measured = insns;
		g.in.measured_edges = edges;
		g.in.measure_unit = 1;
		g.in.measure_timed = true;
		g.in.skewed = g.in.counts_only = true;
		g.samples[1] = samples;
		f = values_of(&g, VT_METHOD_FLOW);
		assert_true(fabs(f->insn[0].executions - 1000) < 0.1);
		assert_true(f->insn[1].executions == 0);
		assert_int_equal(f->insn[1].confidence,
				 samples ? VT_CONFIDENCE_NONE : VT_CONFIDENCE_LOW);
		assert_int_equal(isinf(f->insn[1].high), samples > 0);
		assert_true(fabs(f->insn[2].executions - 1000) < 0.1);
		vt_freqs_free(f);
	}
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

/*
 * Counts that share a doubt: 6 % of it leave high confidence, 15 % medium; what never ran is
 * certain of nothing, and of ratios no number is.
 */
static void test_doubted_counts(void **state)
{
	static const struct {
		double doubt;
		enum vt_confidence confidence;
	} rows[] = {
		{0, VT_CONFIDENCE_EXACT},     {0.03, VT_CONFIDENCE_HIGH},
		{0.06, VT_CONFIDENCE_HIGH},   {0.0601, VT_CONFIDENCE_MEDIUM},
		{0.15, VT_CONFIDENCE_MEDIUM}, {0.1501, VT_CONFIDENCE_LOW},
		{0.75, VT_CONFIDENCE_LOW},    {(double)INFINITY, VT_CONFIDENCE_LOW},
	};
	const double insns[] = {1000, 0.5, 0, 1000};
	const double edges[] = {-1, 400, 0.5, -1, -1, -1};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double doubt = rows[i].doubt;
		struct vt_freqs *f;
		struct graph g;
		uint32_t k;

		graph_begin_diamond(&g);
		g.in.exact = insns;
		g.in.exact_edges = edges;
		g.in.exact_doubt = doubt;
		f = values_of(&g, VT_METHOD_FLOW);
		for (k = 0; k < 6; k++) {
			const struct vt_freq_value *v = k < 4 ? &f->insn[k] : &f->edge[k - 3];
			double n = k < 4 ? insns[k] : edges[k - 3];

			assert_true(v->executions == n);
			assert_int_equal(v->method, VT_METHOD_COUNTED);
			assert_int_equal(v->confidence, n > 0 || doubt == 0 ? rows[i].confidence
									    : VT_CONFIDENCE_LOW);
			if (isinf(doubt)) {
				assert_true(v->low == 0 && isinf(v->high));
				continue;
			}
			assert_true(nearly_equal(v->low, fmax(n * (1 - 2 * doubt), 0)));
			assert_true(nearly_equal(v->high, n * (1 + 2 * doubt)));
		}
		vt_freqs_free(f);
	}
}

/* What has to be known for estimates of time, and of counts alone. */
static void test_needs(void **state)
{
	static const double exact[1];
	static const struct vt_freq_measure measured[1];
	const struct {
		struct vt_freq_input in;
		bool classes, schedule;
	} rows[] = {
		{{.counts_only = false}, true, true},
		{{.counts_only = true}, false, false},
		{{.counts_only = true, .exact = exact}, true, false},
		{{.counts_only = true, .measured = measured}, true, true},
		{{.counts_only = true, .measured = measured, .measure_timed = true}, true, false},
		{{.counts_only = true, .measure_timed = true}, false, false},
		{{.counts_only = true, .entries = {.executions = 0.5}}, true, false},
		{{.counts_only = true, .entries = {.executions = -1}}, false, false},
		{{.counts_only = false, .measured = measured, .measure_timed = true}, true, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(vt_freqs_need_classes(&rows[i].in), rows[i].classes);
		assert_int_equal(vt_freqs_need_schedule(&rows[i].in), rows[i].schedule);
	}
}

/*
 * Two instructions of 1200 cycles, and a period that was not seen: up to a quarter more calls are
 * believed.  They are off by 1 % at least, and count as four points.
 */
static void test_calls(void **state)
{
	static const struct {
		double calls, sigma;
		bool counts_only;
		double executions, deviation;
	} rows[] = {
		{1620, 0, false, 1620, 16.2}, {1620, 30, false, 1620, 30}, {1630, 30, false, 0, 0},
		{0.5, 0, true, 0.5, 0.005},   {600, 30, true, 600, 30},	   {600, 2, true, 600, 6},
		{-1, 0, false, 0, 0},	      {0, 0, false, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double n = rows[i].executions, sigma = hypot(rows[i].deviation, n * 0.35 / 4);
		struct vt_freqs *f;
		struct graph g;

		graph_begin(&g);
		graph_edge(&g, VT_CFG_ENTRY, 2);
		graph_edge(&g, 2, VT_CFG_EXIT);
		graph_insn(&g, 2, 1, 6, 600);
		graph_insn(&g, 2, 1, 6, 600);
		graph_finish(&g, 3);
		memset(g.block_class, 0, sizeof(g.block_class));
		memset(g.edge_class, 0, sizeof(g.edge_class));
		g.classes.count = 1;
		g.in.counts_only = g.in.skewed = rows[i].counts_only;
		g.in.entries = (struct vt_freq_measure){rows[i].calls, rows[i].sigma};
		f = values_of(&g, VT_METHOD_FLOW);
		/* Otherwise it is what time tells. */
		if (!(n > 0))
			n = 600;
		assert_true(fabs(f->insn[1].executions - n) < 1e-3);
		if (rows[i].executions > 0)
			assert_true(fabs(f->insn[1].high - n - 2 * sigma) < 1e-3);
		assert_int_equal(f->insn[1].method,
				 rows[i].counts_only ? VT_METHOD_BRANCHES : VT_METHOD_FLOW);
		vt_freqs_free(f);
	}
}

/* What repeats is estimated alone, where time tells anything. */
static void test_repeated(void **state)
{
	unsigned counts_only;

	(void)state;
	for (counts_only = 0; counts_only < 2; counts_only++) {
		struct vt_freqs *f;
		struct graph g;

		graph_begin(&g);
		graph_edge(&g, VT_CFG_ENTRY, 2);
		graph_edge(&g, 2, VT_CFG_EXIT);
		graph_insn(&g, 2, 1, 100, 10000);
		graph_insn(&g, 2, 2, 400, 40000);
		g.insns[1].flags = VT_FACT_REPEATED;
		graph_finish(&g, 3);
		memset(g.block_class, 0, sizeof(g.block_class));
		memset(g.edge_class, 0, sizeof(g.edge_class));
		g.classes.count = 1;
		g.in.counts_only = counts_only;
		g.in.entries = (struct vt_freq_measure){7000, 70};
		f = values_of(&g, VT_METHOD_FLOW);
		assert_true(fabs(f->insn[0].executions - 7000) < 1e-2);
		assert_int_equal(f->insn[1].method, VT_METHOD_FLOW);
		if (counts_only) {
			assert_int_equal(f->insn[1].confidence, VT_CONFIDENCE_NONE);
			assert_true(f->insn[1].executions == 0 && isinf(f->insn[1].high));
		} else {
			/* 40000 cycles of 2 each, by 400 samples and one point. */
			assert_true(nearly_equal(f->insn[1].executions, 20000));
			assert_true(nearly_equal(f->insn[1].high,
						 20000 * (1 + 2 * hypot(1 / 20.0, 0.35))));
		}
		vt_freqs_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),	 cmocka_unit_test(test_missed),
		cmocka_unit_test(test_naive),	 cmocka_unit_test(test_confidence),
		cmocka_unit_test(test_callers),	 cmocka_unit_test(test_doubted_counts),
		cmocka_unit_test(test_needs),	 cmocka_unit_test(test_calls),
		cmocka_unit_test(test_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
