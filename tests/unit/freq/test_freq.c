/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frequencies of graphs made by hand whose truth is known: from exact time, from time with stalls,
 * with edges of which nothing but the sums tells, by each method.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "freq/freq.h"

#define PERIOD	   100.0
#define EACH	   6 /* instructions of a block, one cycle each */
#define MAX_BLOCKS 8
#define MAX_EDGES  16

static struct vt_error err;

struct graph {
	struct vt_procflow flow;
	struct vt_cfg cfg;
	struct vt_cfg_block blocks[MAX_BLOCKS];
	struct vt_cfg_edge edges[MAX_EDGES];
	uint32_t in[MAX_EDGES];
	struct vt_cfg_insn insns[MAX_BLOCKS * EACH];
	struct vt_mop ops[MAX_BLOCKS * EACH];
	struct vt_schedule_cost costs[MAX_BLOCKS * EACH];
	uint32_t block[MAX_BLOCKS * EACH];
	double truth[MAX_BLOCKS];
	double through[MAX_EDGES];
	uint64_t samples[MAX_BLOCKS * EACH];
	double cycles[MAX_BLOCKS * EACH];
};

/* Edges come in order of their first block. */
static void edge(struct graph *g, uint32_t from, uint32_t to, double through)
{
	g->through[g->cfg.nedges] = through;
	g->edges[g->cfg.nedges++] = (struct vt_cfg_edge){from, to, VT_EDGE_FALL};
	g->truth[to] += through;
}

static void link_blocks(struct graph *g, uint32_t nblocks)
{
	uint32_t b, i, n = 0;

	for (b = 0; b < nblocks; b++) {
		g->blocks[b].in = n;
		for (i = 0; i < g->cfg.nedges; i++) {
			if (g->edges[i].from == b && !g->blocks[b].nout++)
				g->blocks[b].out = i;
			if (g->edges[i].to == b)
				g->in[n++] = i;
		}
		g->blocks[b].nin = n - g->blocks[b].in;
	}
}

/* What takes one cycle each time it is executed, sampled without chance. */
static void finish(struct graph *g, uint32_t nblocks)
{
	uint32_t b, i;

	g->cfg.blocks = g->blocks;
	g->cfg.edges = g->edges;
	g->cfg.in = g->in;
	g->cfg.insns = g->insns;
	g->cfg.nblocks = nblocks;
	g->cfg.complete = true;
	link_blocks(g, nblocks);
	for (b = VT_CFG_FIRST; b < nblocks; b++) {
		g->blocks[b].insn = g->cfg.ninsns;
		g->blocks[b].ninsns = EACH;
		for (i = 0; i < EACH; i++) {
			uint32_t n = g->cfg.ninsns++;

			g->insns[n] = (struct vt_cfg_insn){.addr = 0x1000 + n, .length = 1};
			g->costs[n].head = 1;
			g->costs[n].depends = VT_SCHEDULE_NONE;
			g->block[n] = b;
			g->samples[n] = (uint64_t)(g->truth[b] / PERIOD);
			g->cycles[n] = (double)g->samples[n] * PERIOD;
		}
	}
	g->flow = (struct vt_procflow){
		.cfg = &g->cfg, .ops = g->ops, .costs = g->costs, .block = g->block};
	g->flow.classes = vt_classes_new(&g->cfg, &err);
	assert_non_null(g->flow.classes);
}

/* Makes an instruction of a block stall for so many cycles each time. */
static void stall(struct graph *g, uint32_t block, uint32_t insn, double cycles)
{
	uint32_t n = g->blocks[block].insn + insn;

	g->samples[n] = (uint64_t)(g->truth[block] * (1 + cycles) / PERIOD);
	g->cycles[n] = (double)g->samples[n] * PERIOD;
}

static struct vt_freqs *run(struct graph *g, enum vt_method method, const double *exact)
{
	const struct vt_freq_input in = {
		.flow = &g->flow,
		.samples = g->samples,
		.cycles = g->cycles,
		.exact = exact,
		.method = method,
	};
	struct vt_freqs *f = vt_freqs_new(&in, &err);

	assert_non_null(f);
	return f;
}

static void check_near(const struct graph *g, const struct vt_freqs *f, double part)
{
	uint32_t i;

	for (i = 0; i < g->cfg.ninsns; i++) {
		double truth = g->truth[g->block[i]];

		if (fabs(f->insn[i].executions - truth) > part * truth)
			fail_msg("instruction %u: %g, not %g", i, f->insn[i].executions, truth);
		assert_true(f->insn[i].low <= f->insn[i].executions);
		assert_true(f->insn[i].executions <= f->insn[i].high);
	}
	for (i = 0; i < g->cfg.nedges; i++)
		if (fabs(f->edge[i].executions - g->through[i]) > part * g->through[i] + PERIOD)
			fail_msg("edge %u: %g, not %g", i, f->edge[i].executions, g->through[i]);
}

/* entry -> 2 -> 3; 3 -> 4 or 5; both -> 6; 6 -> 3 or 7 -> exit: a loop over an if. */
static void make_loop(struct graph *g)
{
	memset(g, 0, sizeof(*g));
	g->truth[VT_CFG_ENTRY] = 20000;
	edge(g, VT_CFG_ENTRY, 2, 20000);
	edge(g, 2, 3, 20000);
	edge(g, 3, 4, 300000);
	edge(g, 3, 5, 700000);
	edge(g, 4, 6, 300000);
	edge(g, 5, 6, 700000);
	edge(g, 6, 3, 980000);
	edge(g, 6, 7, 20000);
	edge(g, 7, VT_CFG_EXIT, 20000);
	finish(g, 8);
}

/*
 * 16 samples of each instruction, of 100 cycles on the average.  Their sums deviate by 400; four
 * times that is chance, one more cycle is not.
 */
static void test_periods(void **state)
{
	static const double more[EACH] = {1600, -1600, 1601, -800, -801, 0};
	struct graph g;
	struct vt_freqs *f;
	uint32_t i;

	(void)state;
	memset(&g, 0, sizeof(g));
	edge(&g, VT_CFG_ENTRY, 2, 1600);
	edge(&g, 2, VT_CFG_EXIT, 1600);
	finish(&g, 3);
	for (i = 0; i < EACH; i++)
		g.cycles[i] += more[i];
	f = run(&g, VT_METHOD_NAIVE, NULL);
	for (i = 0; i < EACH; i++)
		assert_true(fabs(f->insn[i].executions - (i == 2 ? 3201 : 1600)) < 1e-6);
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
}

/* 16 samples of each instruction, of 100 cycles; in the whole profile a sample has `period`. */
static double executions_with_period(double period)
{
	struct graph g;
	struct vt_freq_input in;
	struct vt_freqs *f;
	double executions;

	memset(&g, 0, sizeof(g));
	edge(&g, VT_CFG_ENTRY, 2, 1600);
	edge(&g, 2, VT_CFG_EXIT, 1600);
	finish(&g, 3);
	in = (struct vt_freq_input){.flow = &g.flow,
				    .samples = g.samples,
				    .cycles = g.cycles,
				    .period = period,
				    .method = VT_METHOD_NAIVE};
	f = vt_freqs_new(&in, &err);
	assert_non_null(f);
	executions = f->insn[0].executions;
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
	return executions;
}

/* 96 samples deviate by 9.8 periods; four times that is chance. */
static void test_period_of_profile(void **state)
{
	(void)state;
	/* 960 cycles less than expected, of 4311. */
	assert_true(fabs(executions_with_period(110) - 16 * 110) < 1e-6);
	/* 9600 of 7838: the procedure ran while the period was another. */
	assert_true(fabs(executions_with_period(200) - 16 * 100) < 1e-6);
	assert_true(fabs(executions_with_period(0) - 16 * 100) < 1e-6);
}

static void test_exact_time(void **state)
{
	struct graph g;
	struct vt_freqs *f;

	(void)state;
	make_loop(&g);
	f = run(&g, VT_METHOD_FLOW, NULL);
	check_near(&g, f, 0.01);
	assert_int_equal(f->insn[0].method, VT_METHOD_FLOW);
	vt_freqs_free(f);
	f = run(&g, VT_METHOD_PAPER, NULL);
	check_near(&g, f, 0.01);
	vt_freqs_free(f);
	f = run(&g, VT_METHOD_NAIVE, NULL);
	assert_true(fabs(f->insn[0].executions - g.truth[2]) < PERIOD);
	assert_int_equal(f->edge[0].confidence, VT_CONFIDENCE_NONE);
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
}

static struct vt_freqs *run_counts_only(struct graph *g, const struct vt_freq_measure *insns,
					const struct vt_freq_measure *edges)
{
	const struct vt_freq_input in = {
		.flow = &g->flow,
		.samples = g->samples,
		.cycles = g->cycles,
		.measured = insns,
		.measured_edges = edges,
		.measure_unit = 1,
		.measure_timed = true,
		.method = VT_METHOD_FLOW,
		.entries = {.executions = -1},
		.skewed = true,
		.counts_only = true,
	};
	struct vt_freqs *f = vt_freqs_new(&in, &err);

	assert_non_null(f);
	return f;
}

/* Where nothing was counted, time tells nothing. */
static void test_no_counts(void **state)
{
	struct graph g;
	struct vt_freqs *f;
	uint32_t i;

	(void)state;
	make_loop(&g);
	g.insns[3].flags = VT_FACT_REPEATED;
	f = run_counts_only(&g, NULL, NULL);
	for (i = 0; i < g.cfg.ninsns; i++) {
		assert_int_equal(f->insn[i].confidence, VT_CONFIDENCE_NONE);
		assert_true(f->insn[i].executions == 0 && f->insn[i].low == 0);
		assert_true(isinf(f->insn[i].high));
	}
	for (i = 0; i < g.cfg.nedges; i++)
		assert_int_equal(f->edge[i].confidence, VT_CONFIDENCE_NONE);
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
}

/*
 * The block 4 and the loop's end 6 were counted: 5 has the rest, 3 as much as 6, whatever time they
 * took; how often control came to 2 and left by 7, no count tells.
 */
static void test_what_follows_from_counts(void **state)
{
	struct vt_freq_measure insns[MAX_BLOCKS * EACH], edges[MAX_EDGES];
	struct graph g;
	struct vt_freqs *f;
	uint32_t i;

	(void)state;
	make_loop(&g);
	stall(&g, 5, 5, 100);
	for (i = 0; i < MAX_BLOCKS * EACH; i++)
		insns[i] = (struct vt_freq_measure){-1, 0};
	for (i = 0; i < MAX_EDGES; i++)
		edges[i] = (struct vt_freq_measure){-1, 0};
	for (i = 0; i < EACH; i++) {
		insns[g.blocks[4].insn + i] = (struct vt_freq_measure){300000, 3000};
		insns[g.blocks[6].insn + i] = (struct vt_freq_measure){1000000, 4000};
	}
	f = run_counts_only(&g, insns, edges);
	assert_true(fabs(f->insn[g.blocks[4].insn].executions - 300000) < 3000);
	assert_true(fabs(f->insn[g.blocks[6].insn].executions - 1000000) < 4000);
	assert_true(fabs(f->insn[g.blocks[3].insn].executions - 1000000) < 5000);
	assert_true(fabs(f->insn[g.blocks[5].insn].executions - 700000) < 5000);
	assert_int_equal(f->insn[g.blocks[5].insn].confidence, VT_CONFIDENCE_HIGH);
	assert_int_equal(f->insn[g.blocks[2].insn].confidence, VT_CONFIDENCE_NONE);
	assert_int_equal(f->insn[g.blocks[7].insn].confidence, VT_CONFIDENCE_NONE);
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
}

static void test_stalls(void **state)
{
	struct graph g;
	struct vt_freqs *f;
	uint32_t i;

	(void)state;
	make_loop(&g);
	stall(&g, 3, 3, 40);
	stall(&g, 4, 0, 9);
	stall(&g, 5, 5, 100);
	f = run(&g, VT_METHOD_FLOW, NULL);
	check_near(&g, f, 0.02);
	vt_freqs_free(f);
	f = run(&g, VT_METHOD_PAPER, NULL);
	check_near(&g, f, 0.02);
	vt_freqs_free(f);
	/* A block all of whose instructions stall: only what flows through it tells. */
	for (i = 0; i < EACH; i++)
		stall(&g, 4, i, 3);
	f = run(&g, VT_METHOD_FLOW, NULL);
	check_near(&g, f, 0.05);
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
}

/* Flows add up even where estimates do not. */
static void test_sums(void **state)
{
	struct graph g;
	struct vt_freqs *f;
	double in = 0, out = 0;
	uint32_t i;

	(void)state;
	make_loop(&g);
	for (i = 0; i < g.cfg.ninsns; i++) {
		g.samples[i] = g.samples[i] * (90 + 7 * (i % 5)) / 100;
		g.cycles[i] = (double)g.samples[i] * PERIOD;
	}
	f = run(&g, VT_METHOD_FLOW, NULL);
	for (i = 0; i < g.cfg.nedges; i++) {
		in += g.edges[i].to == 6 ? f->edge[i].executions : 0;
		out += g.edges[i].from == 6 ? f->edge[i].executions : 0;
	}
	assert_true(in > 0 && fabs(in - out) < 2);
	assert_true(fabs(in - f->insn[g.blocks[6].insn].executions) < 2);
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
}

static void test_counts(void **state)
{
	struct graph g;
	struct vt_freqs *f;
	double exact[MAX_BLOCKS * EACH];
	uint32_t i;

	(void)state;
	make_loop(&g);
	for (i = 0; i < g.cfg.ninsns; i++) {
		exact[i] = g.truth[g.block[i]];
		g.samples[i] = 7 * i % 11;
		g.cycles[i] = (double)g.samples[i] * PERIOD;
	}
	f = run(&g, VT_METHOD_FLOW, exact);
	check_near(&g, f, 0);
	for (i = 0; i < g.cfg.ninsns; i++)
		assert_int_equal(f->insn[i].confidence, VT_CONFIDENCE_EXACT);
	for (i = 0; i < g.cfg.nedges; i++)
		assert_true(f->edge[i].executions == g.through[i]);
	vt_freqs_free(f);
	vt_classes_free(g.flow.classes);
}

static void test_nothing(void **state)
{
	static const enum vt_method methods[] = {VT_METHOD_FLOW, VT_METHOD_PAPER, VT_METHOD_NAIVE};
	struct graph g;
	size_t m;
	uint32_t i;

	(void)state;
	make_loop(&g);
	memset(g.samples, 0, sizeof(g.samples));
	memset(g.cycles, 0, sizeof(g.cycles));
	for (m = 0; m < 3; m++) {
		struct vt_freqs *f = run(&g, methods[m], NULL);

		for (i = 0; i < g.cfg.ninsns; i++) {
			assert_true(f->insn[i].executions == 0);
			assert_true(f->insn[i].confidence <= VT_CONFIDENCE_LOW);
		}
		vt_freqs_free(f);
	}
	vt_classes_free(g.flow.classes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_time),
		cmocka_unit_test(test_no_counts),
		cmocka_unit_test(test_what_follows_from_counts),
		cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_period_of_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
