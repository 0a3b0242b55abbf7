/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps that frequencies are found in, on small graphs, by numbers worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/freq/freqgraph.h"

static struct vt_error err;

/* ---- classes ---- */

static void test_sum(void **state)
{
	struct graph g;
	struct vti_estimate e;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_edge(&g, VT_CFG_ENTRY, 3);
	graph_edge(&g, 2, 3);
	graph_insn(&g, 2, 1, 0, 0);
	graph_insn(&g, 3, 1, 4, 400);
	graph_insn(&g, 3, 0, 1, 100);
	graph_insn(&g, 3, 2, 4, 400);
	graph_insn(&g, 3, 7, 5, 5000);
	g.insns[4].flags = VT_FACT_REPEATED;
	graph_finish(&g, 4);
	/* 900 cycles of 9 samples in three cycles each time; repetitions are another's. */
	e = vti_freq_sum(&g.w, 3);
	assert_true(e.known && nearly_equal(e.f, 300) && nearly_equal(e.sigma, 100) &&
		    nearly_equal(e.points, 2));
	/* Without samples, one more would be a period. */
	e = vti_freq_sum(&g.w, 2);
	assert_true(e.known && nearly_equal(e.f, 0) && nearly_equal(e.sigma, 100));
	/* Half of mispredicts by frequency: of 40 that come, of 30 of 100 the other way was taken.
	 */
	g.in.skewed = true;
	g.core.mispredict = 20;
	g.edge_estimates[1].f = 10;
	g.edge_estimates[2].f = 30;
	g.left[2] = 100;
	e = vti_freq_sum(&g.w, 3);
	assert_true(nearly_equal(e.f, 900 / (3 + 0.5 * 20 * 30 * 0.7 / 40)));
	assert_true(nearly_equal(e.sigma, e.f / 3));
	/* Nothing takes time at best: nothing is known. */
	g.costs[0].head = 0;
	e = vti_freq_sum(&g.w, 2);
	assert_true(!e.known && isinf(e.sigma));
}

static struct vti_freq_point point(double samples, double cycles, double best)
{
	return (struct vti_freq_point){.samples = samples, .cycles = cycles, .best = best};
}

static void test_cluster(void **state)
{
	struct vti_freq_point all[] = {point(4, 302, 2), point(2, 100, 1), point(3, 1600, 4),
				       point(5, 220, 2), point(6, 140, 1)};
	struct vti_freq_point few[] = {point(1, 10, 1), point(4, 100, 1), point(4, 100, 1),
				       point(4, 100, 1), point(4, 100, 1)};
	struct vti_freq_point edge_of[] = {point(2, 100, 1), point(2, 300, 2)};
	struct vti_freq_point slow[] = {point(2, 10, 1), point(2, 20010, 1)};
	struct vti_freq_point apart[] = {point(1, 10, 1), point(1, 1e2, 1), point(1, 1e3, 1),
					 point(1, 1e4, 1), point(1, 1e5, 1)};
	double mean = 350 / 3.0, spread;
	struct vti_estimate e;

	(void)state;
	/* Ratios of 100, 110 and 140; 151 is more than 1.5 times the least. */
	e = vti_freq_cluster(all, 5);
	spread = sqrt((pow(mean - 100, 2) + pow(mean - 110, 2) + pow(mean - 140, 2)) / 3) / mean;
	assert_true(e.known && nearly_equal(e.f, mean) && nearly_equal(e.points, 3) &&
		    nearly_equal(e.spread, spread));
	assert_true(nearly_equal(e.sigma, mean * sqrt(1 / 13.0 + spread * spread / 3)));
	/* One in five is too few, one in four is not. */
	assert_true(nearly_equal(vti_freq_cluster(few, 5).f, 100));
	assert_true(nearly_equal(vti_freq_cluster(few, 4).f, 10));
	assert_false(vti_freq_cluster(apart, 5).known);
	/* 1.5 times is near enough. */
	assert_true(nearly_equal(vti_freq_cluster(edge_of, 2).f, 125));
	/* No stall of more than 2000 cycles. */
	assert_true(nearly_equal(vti_freq_cluster(slow, 2).f, 10));
	slow[1].cycles = 20011;
	assert_true(nearly_equal(vti_freq_cluster(slow, 2).f, 20011));
	slow[0] = point(2, 40, 4);
	slow[1] = point(2, 20040, 4);
	assert_true(nearly_equal(vti_freq_cluster(slow, 2).f, 10));
	slow[1].cycles = 20041;
	assert_true(nearly_equal(vti_freq_cluster(slow, 2).f, 20041 / 4.0));
	assert_false(vti_freq_cluster(slow, 0).known);
}

/* ---- likelihood ---- */

/* The likeliest frequency of some points. */
static struct vti_estimate mode_of(const struct vti_freq_point *points, size_t n)
{
	struct vti_freq_point *copy = calloc(n, sizeof(*copy));
	struct vti_freq_seen *seen;
	struct vti_estimate e;

	assert_non_null(copy);
	memcpy(copy, points, n * sizeof(*copy));
	seen = vti_freq_see(copy, n);
	assert_non_null(seen);
	e = vti_freq_mode(seen);
	vti_freq_unsee(seen);
	return e;
}

/* At its own frequency, a point is as likely as its normal, and its tails at their starts. */
static void test_likely(void **state)
{
	struct vti_freq_point p = point(25, 2500, 5);
	double sigma = sqrt(1 / 25.0 + 0.015 * 0.015), normal, all, part;
	struct vti_estimate e;

	(void)state;
	p.prior = 0.7;
	p.shift = 0.5;
	normal = 0.97 * 0.7 / (sigma * sqrt(2 * 3.14159265358979323846));
	all = normal + 0.97 * 0.3 * 0.5 + 0.03 * 0.5;
	part = normal / all;
	e = mode_of(&p, 1);
	assert_true(e.known && nearly_equal(e.f, 500) && nearly_equal(e.points, part) &&
		    nearly_equal(e.spread, 0));
	assert_true(nearly_equal(e.sigma, 500 * sqrt(1 / (25 * part) + 0.015 * 0.015)));
	/* However rarely that is. */
	p.cycles = 0.25;
	e = mode_of(&p, 1);
	assert_true(e.known && nearly_equal(e.f, 0.05) && nearly_equal(e.points, part));
	/* Without samples it says nothing. */
	p.samples = 0;
	assert_false(mode_of(&p, 1).known);
}

/* Of three that agree and one that stalls, the frequency is theirs. */
static void test_likely_stall(void **state)
{
	struct vti_freq_point p[] = {point(100, 10000, 1), point(100, 10000, 1),
				     point(100, 10000, 1), point(900, 90000, 1)};
	struct vti_estimate e;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		p[i].prior = 0.7;
		p[i].shift = 0.5;
	}
	e = mode_of(p, 4);
	assert_true(fabs(e.f - 10000) < 1e-6 * 10000);
	assert_true(e.points > 2.5 && e.points < 3);
	/* Of three that agree, and one that has waited before. */
	p[3] = point(100, 10, 1);
	p[3].prior = 0.7;
	p[3].shift = 0.5;
	e = mode_of(p, 4);
	assert_true(fabs(e.f - 10000) < 1e-6 * 10000 && e.points > 2.5 && e.points < 3);
	/* A point's extra samples that are the next one's. */
	p[3] = point(200, 20000, 1);
	p[3].prior = 0.7;
	p[3].shift = 0.5;
	p[3].extra_samples = 100;
	p[3].extra_cycles = 10000;
	e = mode_of(p, 4);
	assert_true(fabs(e.f - 10000) < 1e-6 * 10000 && e.points > 3 && e.points < 4);
}

/*
 * Two points without stalls, and two that wait for five cycles more each time: all tell of 10000
 * executions.  The latter count for as much as the variance of their samples is of the whole one,
 * which the error of the five cycles adds to.
 */
static void test_likely_miss(void **state)
{
	struct vti_freq_point p[] = {point(100, 10000, 1), point(100, 10000, 1),
				     point(600, 60000, 1), point(600, 60000, 1)};
	const double root = sqrt(2 * 3.14159265358979323846), error = 0.7 / 6;
	double clean, missed, narrow = hypot(1 / sqrt(600), 0.015), wide = hypot(narrow, error);
	struct vti_estimate e;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		p[i].prior = 0.5;
		p[i].shift = 1;
		p[i].miss = 5;
	}
	clean = 0.97 * 0.5 / (hypot(0.1, 0.015) * root);
	clean /= clean + 0.97 * 0.5 * 0.8 * 0.5 + 0.03 * 0.5;
	missed = 0.97 * 0.5 * 0.2 / (wide * root);
	missed /= missed + 0.97 * 0.5 * 0.8 / 6;
	missed *= narrow * narrow / (wide * wide);
	e = mode_of(p, 4);
	assert_true(nearly_equal(e.f, 10000) && nearly_equal(e.points, 2 * clean));
	assert_true(nearly_equal(e.sigma, 10000 * sqrt(1 / (200 * clean + 1200 * missed) +
						       0.015 * 0.015 / (2 * clean))));
}

static void test_likely_class(void **state)
{
	struct graph g;
	double sigma = sqrt(1 / 4.0 + 0.015 * 0.015), normal, all;

	(void)state;
	graph_begin_diamond(&g);
	g.in.method = VT_METHOD_FLOW;
	g.w.seen = calloc(MAX_BLOCKS + MAX_EDGES, sizeof(struct vti_freq_seen *));
	assert_non_null(g.w.seen);
	assert_int_equal(vti_freq_likely(&g.w, &err), 0);
	assert_true(nearly_equal(g.class_estimates[3].f, 400));
	/* The first of a block stalls more often than not. */
	normal = 0.97 * 0.4 / (sigma * sqrt(2 * 3.14159265358979323846));
	all = normal + 0.97 * 0.6 * 0.5 + 0.03 * 0.5;
	assert_true(nearly_equal(vti_freq_unlikely(&g.w, 3, 400), -log(all)));
	assert_true(vti_freq_unlikely(&g.w, 3, 100) > vti_freq_unlikely(&g.w, 3, 400));
	assert_true(isnan(vti_freq_unlikely(&g.w, 3, 0)));
	g.class_estimates[3].counted = true;
	assert_true(isnan(vti_freq_unlikely(&g.w, 3, 400)));
	vti_freq_forget(&g.w);
}

/* Two that nearly agree: their deviation is that of their logarithms, half of 2 %. */
static void test_likely_spread(void **state)
{
	struct vti_freq_point p[] = {point(400, 40000, 4), point(408, 40800, 4)};
	struct vti_estimate e;

	(void)state;
	p[0].prior = p[1].prior = 0.7;
	p[0].shift = p[1].shift = 1;
	e = mode_of(p, 2);
	assert_true(fabs(e.f - 10100) < 5 && fabs(e.spread - log(1.02) / 2) < 2e-4);
	/* Half of the second one's samples are another's. */
	p[1] = point(816, 81600, 4);
	p[1].extra_samples = 408;
	p[1].extra_cycles = 40800;
	p[1].prior = 0.7;
	e = mode_of(p, 2);
	assert_true(fabs(e.f - 10100) < 5 && fabs(e.spread - log(1.02) / 2) < 2e-4);
}

/* ---- stretches ---- */

static void test_stretches(void **state)
{
	struct vti_freq_point *p = NULL;
	struct graph g;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_insn(&g, 2, 1, 10, 1000); /* a stretch: the next one has few of its samples */
	graph_insn(&g, 2, 0, 1, 100);
	graph_insn(&g, 2, 1, 20, 2000); /* one with too many on what should have none: it goes on */
	graph_insn(&g, 2, 0, 9, 900);
	graph_insn(&g, 2, 2, 10, 1000);
	graph_insn(&g, 2, 1, 30, 3000); /* waits for a load, but not from before a stretch */
	graph_insn(&g, 2, 1, 1, 100);	/* too few: joins the one before */
	g.insns[4].flags = VT_FACT_LOAD;
	g.costs[5].depends = 4;
	graph_finish(&g, 3);
	assert_int_equal(vti_freq_stretches(&g.w, 2, &p, &err), 3);
	assert_true(nearly_equal(p[0].samples, 11) && nearly_equal(p[0].cycles, 1100) &&
		    nearly_equal(p[0].best, 1));
	assert_true(nearly_equal(p[0].extra_samples, 1) && nearly_equal(p[0].extra_cycles, 100));
	assert_true(nearly_equal(p[0].prior, 0.4) && nearly_equal(p[0].shift, 0.5));
	assert_true(nearly_equal(p[1].samples, 39) && nearly_equal(p[1].best, 3) &&
		    nearly_equal(p[1].prior, 0.7));
	assert_true(nearly_equal(p[1].extra_samples, 9) && nearly_equal(p[1].extra_cycles, 900));
	assert_true(nearly_equal(p[2].samples, 31) && nearly_equal(p[2].cycles, 3100) &&
		    nearly_equal(p[2].best, 2));
	assert_true(nearly_equal(p[2].prior, 0.5));
	free(p);
	/* What waits for the first one takes back all between. */
	g.costs[5].depends = 0;
	assert_int_equal(vti_freq_stretches(&g.w, 2, &p, &err), 2);
	assert_true(nearly_equal(p[0].samples, 11) && nearly_equal(p[1].samples, 70) &&
		    nearly_equal(p[1].best, 5));
	free(p);
	/* A block that begins with what should have no samples: those are hardly shifted ones. */
	g.costs[0].head = 0.4F;
	assert_int_equal(vti_freq_stretches(&g.w, 2, &p, &err), 2);
	assert_true(nearly_equal(p[0].shift, 0.05));
	free(p);
}

static void test_stretches_join(void **state)
{
	struct vti_freq_point *p = NULL;
	struct graph g;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_insn(&g, 2, 1, 40, 4000);
	graph_insn(&g, 2, 0.25F, 6,
		   600); /* three quarters of it are extra: 4.5 of 46, less than 12 % */
	graph_insn(&g, 2, 1, 30, 3000);
	graph_insn(&g, 2, 0, 2, 200);
	graph_insn(&g, 2, 1, 0, 0); /* too few: extra ones are joined, too */
	graph_insn(&g, 2, 0, 1, 100);
	graph_finish(&g, 3);
	assert_int_equal(vti_freq_stretches(&g.w, 2, &p, &err), 2);
	assert_true(nearly_equal(p[0].samples, 46) && nearly_equal(p[0].best, 1.25));
	assert_true(nearly_equal(p[0].extra_samples, 4.5) && nearly_equal(p[0].extra_cycles, 450));
	assert_true(nearly_equal(p[1].samples, 33) && nearly_equal(p[1].cycles, 3300) &&
		    nearly_equal(p[1].best, 2));
	assert_true(nearly_equal(p[1].extra_samples, 3) && nearly_equal(p[1].extra_cycles, 300));
	free(p);
	/* Repetitions are no part of any; 13 % are too many. */
	g.insns[3].flags = VT_FACT_REPEATED;
	g.samples[1] = 9;
	assert_int_equal(vti_freq_stretches(&g.w, 2, &p, &err), 1);
	assert_true(nearly_equal(p[0].samples, 40 + 9 + 30 + 1));
	free(p);
}

/* Two samples on what should have none are no more than chance; one more is. */
static void test_stretches_chance(void **state)
{
	uint64_t extra;

	(void)state;
	for (extra = 2; extra < 4; extra++) {
		struct vti_freq_point *p = NULL;
		struct graph g;

		graph_begin(&g);
		graph_edge(&g, VT_CFG_ENTRY, 2);
		graph_insn(&g, 2, 1, 10, 1000);
		graph_insn(&g, 2, 0, extra, 100 * (double)extra);
		graph_insn(&g, 2, 1, 10, 1000);
		graph_finish(&g, 3);
		assert_int_equal(vti_freq_stretches(&g.w, 2, &p, &err), extra == 2 ? 2 : 1);
		free(p);
	}
}

/* A miss of the first cache costs the latency of the second one but three cycles. */
static void test_stretches_miss(void **state)
{
	static const struct {
		uint32_t latency;
		double miss;
	} known[] = {{0, 0}, {2, 0}, {3, 0}, {8, 5}};
	struct graph g;
	size_t i;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_insn(&g, 2, 1, 10, 1000);
	graph_finish(&g, 3);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct vti_freq_point *p = NULL;

		g.core.l2.latency = known[i].latency;
		assert_int_equal(vti_freq_stretches(&g.w, 2, &p, &err), 1);
		assert_true(nearly_equal(p[0].miss, known[i].miss));
		free(p);
	}
}

/* ---- doubt and trust ---- */

static void test_doubt(void **state)
{
	struct vti_estimate e = {.known = true, .f = 100, .sigma = 3, .points = 4};
	struct graph g;

	(void)state;
	graph_begin(&g);
	assert_true(nearly_equal(vti_freq_doubt(&g.w, &e), sqrt(9 + 8.75 * 8.75)));
	g.in.skewed = true;
	assert_true(nearly_equal(vti_freq_doubt(&g.w, &e), sqrt(9 + 35 * 35)));
	e.counted = true;
	assert_true(nearly_equal(vti_freq_doubt(&g.w, &e), sqrt(9 + 8.75 * 8.75)));
	e.points = 0;
	assert_true(nearly_equal(vti_freq_doubt(&g.w, &e), sqrt(9 + 70 * 70)));
	e.known = false;
	assert_true(isinf(vti_freq_doubt(&g.w, &e)));
	e = (struct vti_estimate){.known = true, .sigma = INFINITY};
	assert_true(isinf(vti_freq_doubt(&g.w, &e)));
}

/* An estimate that its own points make so uncertain, and nothing else. */
static struct vti_estimate certain(double f, double sigma)
{
	return (struct vti_estimate){.known = true, .f = f, .sigma = sigma, .points = 1e9};
}

static void test_trust(void **state)
{
	struct graph g;
	uint32_t i;

	(void)state;
	graph_begin_diamond(&g);
	for (i = 0; i < g.classes.count; i++)
		g.class_estimates[i] = certain(100, 1000);
	g.class_estimates[g.edge_class[1]].sigma = 3;
	g.class_estimates[g.edge_class[2]].sigma = 4;
	g.class_estimates[5].sigma = 12;
	for (i = 0; i < 6; i++)
		g.block_estimates[i].f = g.edge_estimates[i].f = 100;
	/* What is another flow than its estimate by 4 is so much less certain. */
	g.edge_estimates[1].f = 100 - 4;
	g.class_estimates[g.edge_class[3]].counted = g.class_estimates[5].counted = true;
	g.w.unit_doubt = 0.2;
	vti_freq_trust(&g.w);
	assert_true(nearly_equal(g.edge_estimates[1].sigma, 5));
	/* A block as its two ways out; each way's block as it; the last one's other way as well. */
	assert_true(nearly_equal(g.block_estimates[2].sigma, hypot(5, 4)));
	assert_true(nearly_equal(g.block_estimates[3].sigma, 5) &&
		    nearly_equal(g.block_estimates[4].sigma, 4));
	assert_true(nearly_equal(g.edge_estimates[4].sigma, 4));
	assert_true(nearly_equal(g.edge_estimates[5].sigma, hypot(5, 4)));
	/* All counts may be off together, whatever they add up to. */
	assert_true(nearly_equal(g.block_estimates[5].sigma, hypot(hypot(5, 4), 0.2 * 100)));
	assert_true(nearly_equal(g.edge_estimates[3].sigma, hypot(5, 0.2 * 100)));
}

/* What is known at one end reaches the other, a step each time. */
static void test_trust_chain(void **state)
{
	struct graph g;
	uint32_t i;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_edge(&g, 2, 3);
	graph_edge(&g, 3, 4);
	graph_edge(&g, 4, VT_CFG_EXIT);
	for (i = 2; i < 5; i++)
		graph_insn(&g, i, 1, 1, 100);
	graph_finish(&g, 5);
	for (i = 0; i < g.classes.count; i++)
		g.class_estimates[i] = certain(100, 1000);
	g.class_estimates[4].sigma = 2;
	for (i = 0; i < 5; i++)
		g.block_estimates[i].f = g.edge_estimates[i].f = 100;
	vti_freq_trust(&g.w);
	for (i = 2; i < 5; i++)
		assert_true(nearly_equal(g.block_estimates[i].sigma, 2));
	for (i = 0; i < 4; i++)
		assert_true(nearly_equal(g.edge_estimates[i].sigma, 2));
}

static void test_trust_incomplete(void **state)
{
	struct graph g;
	uint32_t i;

	(void)state;
	graph_begin_diamond(&g);
	g.cfg.complete = false;
	g.blocks[2].incomplete = true;
	for (i = 0; i < g.classes.count; i++)
		g.class_estimates[i] = certain(100, 1000);
	for (i = 0; i < 6; i++)
		g.block_estimates[i].f = g.edge_estimates[i].f = 100;
	g.class_estimates[g.edge_class[1]].sigma = 3;
	g.class_estimates[g.edge_class[2]].sigma = 4;
	g.class_estimates[g.edge_class[3]].sigma = 6;
	vti_freq_trust(&g.w);
	/* What comes in may come from elsewhere, and what goes out of 2; not what goes out of 3. */
	assert_true(nearly_equal(g.block_estimates[2].sigma, 1000));
	assert_true(nearly_equal(g.block_estimates[3].sigma, 6));
	assert_true(nearly_equal(g.block_estimates[5].sigma, 1000));
}

/* ---- sums ---- */

static void test_propagate(void **state)
{
	struct graph g;

	(void)state;
	graph_begin_diamond(&g);
	g.class_estimates[2] = certain(100, 3);
	g.class_estimates[3] = certain(40, 4);
	assert_int_equal(vti_freq_propagate(&g.w, &err), 0);
	assert_true(nearly_equal(g.edge_estimates[0].f, 100) &&
		    nearly_equal(g.edge_estimates[0].sigma, 3));
	assert_true(nearly_equal(g.edge_estimates[1].f, 40) &&
		    nearly_equal(g.edge_estimates[1].sigma, 4));
	assert_true(nearly_equal(g.edge_estimates[2].f, 60) &&
		    nearly_equal(g.edge_estimates[2].sigma, 5));
	assert_true(nearly_equal(g.block_estimates[4].f, 60) &&
		    nearly_equal(g.block_estimates[4].sigma, 5));
	assert_true(nearly_equal(g.block_estimates[5].f, 100));
	assert_true(nearly_equal(g.block_estimates[5].sigma, sqrt(16 + 25)));
	assert_true(nearly_equal(g.edge_estimates[5].f, 100));
	/* More on one way than there is in all: nothing on the other. */
	graph_begin_diamond(&g);
	g.class_estimates[2] = certain(100, 3);
	g.class_estimates[3] = certain(140, 4);
	assert_int_equal(vti_freq_propagate(&g.w, &err), 0);
	assert_true(nearly_equal(g.edge_estimates[2].f, 0) &&
		    nearly_equal(g.edge_estimates[2].sigma, 5));
	/* Nothing leaves what is never executed, however many ways there are. */
	graph_begin_diamond(&g);
	g.class_estimates[2] = certain(0, 7);
	assert_int_equal(vti_freq_propagate(&g.w, &err), 0);
	assert_true(g.edge_estimates[1].known && nearly_equal(g.edge_estimates[1].f, 0));
	assert_true(nearly_equal(g.edge_estimates[1].sigma, 7));
	assert_true(g.block_estimates[4].known && nearly_equal(g.block_estimates[4].f, 0));
	/* Of two that are not known nothing follows, nor of what may lead elsewhere. */
	graph_begin_diamond(&g);
	g.class_estimates[2] = certain(100, 3);
	assert_int_equal(vti_freq_propagate(&g.w, &err), 0);
	assert_false(g.edge_estimates[1].known || g.edge_estimates[2].known);
	graph_begin_diamond(&g);
	g.blocks[2].incomplete = true;
	g.cfg.complete = false;
	g.class_estimates[2] = certain(100, 3);
	g.class_estimates[3] = certain(40, 4);
	assert_int_equal(vti_freq_propagate(&g.w, &err), 0);
	assert_false(g.edge_estimates[2].known || g.edge_estimates[1].known);
	assert_true(g.edge_estimates[3].known && nearly_equal(g.edge_estimates[3].f, 40));
}

/*
 * 2 is in front of 3, but taken for a class of its own: 102 is where the next unit would cost the
 * one of them as much as the other.  Of 130 +- 10, the first 10 down cost 0.5 by 10 each, the next
 * 1.5 by 10, the next 20 3 by 10; of 100 +- 2, the first 2 up 0.5 by 2, the next 2 1.5 by 2.
 * 30 = 10 + 10 + 2 + 8.
 */
static void test_solve(void **state)
{
	struct graph g;
	uint32_t i;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_edge(&g, 2, 3);
	graph_edge(&g, 3, VT_CFG_EXIT);
	graph_insn(&g, 2, 1, 1, 100);
	graph_insn(&g, 3, 1, 1, 130);
	graph_finish(&g, 4);
	for (i = 0; i < g.classes.count; i++)
		g.class_estimates[i].sigma = INFINITY;
	g.class_estimates[2] = (struct vti_estimate){
		.known = true, .f = 100, .sigma = 2, .points = 20, .counted = true};
	g.class_estimates[3] = (struct vti_estimate){
		.known = true, .f = 130, .sigma = 10, .points = 20, .counted = true};
	assert_int_equal(vti_freq_solve(&g.w, &err), 0);
	for (i = 0; i < 3; i++)
		assert_true(fabs(g.edge_estimates[i].f - 102) < 1e-3);
	assert_true(fabs(g.block_estimates[2].f - 102) < 1e-3);
	/* The other way round: 100 = 104 - 4, and 100 + 10 + 10 + 6. */
	g.class_estimates[2].f = 130;
	g.class_estimates[3].f = 100;
	assert_int_equal(vti_freq_solve(&g.w, &err), 0);
	assert_true(fabs(g.block_estimates[3].f - 128) < 1e-3);
}

/*
 * 2 in front of 3 again, which are far from each other: one of both is wrong altogether, and costs
 * no more than its points.  2 has 20 of 100 executions, 4 each if it has waited: 80 by 100 for each
 * of the first 100 more.  3 has 1000, 2.5 for each point that stalls: by 750, down to a fourth.
 *
 * Then the cost grows with each halving, by half of the points: from 125 to 62.5 they cost 0.24 an
 * execution if they are 30, and 0.272 if they are 34, more than 0.5 by 2 for the first deviation of
 * 2; and 0.8 if they are 100, more than 1.5 by 2 for the second one.
 */
static void test_solve_far(void **state)
{
	static const struct {
		double points;
		double f;
	} rows[] = {{1, 100}, {30, 100}, {34, 102}, {100, 104}, {400, 1000}};
	size_t k;
	uint32_t i;

	(void)state;
	for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct graph g;

		graph_begin(&g);
		graph_edge(&g, VT_CFG_ENTRY, 2);
		graph_edge(&g, 2, 3);
		graph_edge(&g, 3, VT_CFG_EXIT);
		graph_insn(&g, 2, 1, 1, 100);
		graph_insn(&g, 3, 1, 1, 1000);
		graph_finish(&g, 4);
		for (i = 0; i < g.classes.count; i++)
			g.class_estimates[i].sigma = INFINITY;
		g.class_estimates[2] = (struct vti_estimate){
			.known = true, .f = 100, .sigma = 2, .points = 20, .counted = true};
		g.class_estimates[3] = (struct vti_estimate){.known = true,
							     .f = 1000,
							     .sigma = 1,
							     .points = rows[k].points,
							     .counted = true};
		assert_int_equal(vti_freq_solve(&g.w, &err), 0);
		if (fabs(g.block_estimates[3].f - rows[k].f) > 1e-2)
			fail_msg("%g points: %g", rows[k].points, g.block_estimates[3].f);
	}
}

/*
 * 2 jumps to an unknown place, and nothing is known to lead to 3.  To come there unseen costs 1 by
 * 100 for each execution, to be below 50 +- 2 costs 0.5 by 2, and below 50 +- 100 0.5 by 100.
 */
static void test_solve_hidden(void **state)
{
	struct graph g;
	uint32_t i;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_edge(&g, 3, VT_CFG_EXIT);
	graph_insn(&g, 2, 1, 1, 100);
	graph_insn(&g, 3, 1, 1, 50);
	graph_finish(&g, 4);
	g.cfg.complete = false;
	g.blocks[2].incomplete = true;
	for (i = 0; i < g.classes.count; i++)
		g.class_estimates[i].sigma = INFINITY;
	g.class_estimates[2] = (struct vti_estimate){
		.known = true, .f = 100, .sigma = 2, .points = 20, .counted = true};
	g.class_estimates[3] = (struct vti_estimate){
		.known = true, .f = 50, .sigma = 2, .points = 20, .counted = true};
	assert_int_equal(vti_freq_solve(&g.w, &err), 0);
	assert_true(fabs(g.block_estimates[2].f - 100) < 1e-3);
	assert_true(fabs(g.edge_estimates[0].f - 100) < 1e-3);
	assert_true(fabs(g.block_estimates[3].f - 50) < 1e-3);
	assert_true(fabs(g.edge_estimates[1].f - 50) < 1e-3);
	g.class_estimates[3].sigma = 100;
	assert_int_equal(vti_freq_solve(&g.w, &err), 0);
	assert_true(fabs(g.block_estimates[3].f) < 1e-3);
	assert_true(fabs(g.block_estimates[2].f - 100) < 1e-3);
}

/*
 * The paper's points: 2 waits for 0, of which what stalls between is a part.  So ratios are 100,
 * and 600 by 2, not 100, 500 and 100, of which the cluster would have two.
 */
static void test_paper(void **state)
{
	struct graph g;

	(void)state;
	graph_begin(&g);
	graph_edge(&g, VT_CFG_ENTRY, 2);
	graph_insn(&g, 2, 1, 100, 100);
	graph_insn(&g, 2, 0, 500, 500);
	graph_insn(&g, 2, 1, 100, 100);
	graph_finish(&g, 3);
	g.costs[2].depends = 0;
	assert_int_equal(vti_freq_paper(&g.w, &err), 0);
	assert_true(nearly_equal(g.class_estimates[2].f, 100) &&
		    nearly_equal(g.class_estimates[2].points, 1));
	g.costs[2].depends = 1;
	assert_int_equal(vti_freq_paper(&g.w, &err), 0);
	assert_true(nearly_equal(g.class_estimates[2].f, 100) &&
		    nearly_equal(g.class_estimates[2].points, 2));
	/* Less than ten samples for each point: their sum. */
	g.samples[1] = 0;
	g.samples[0] = g.samples[2] = 9;
	assert_int_equal(vti_freq_paper(&g.w, &err), 0);
	assert_true(nearly_equal(g.class_estimates[2].f, 350));
	/* Or where they are skewed. */
	g.samples[1] = 500;
	g.in.core = NULL;
	g.in.skewed = true;
	assert_int_equal(vti_freq_paper(&g.w, &err), 0);
	assert_true(nearly_equal(g.class_estimates[2].f, 350));
}

/* ---- branch stacks ---- */

static void test_stacks(void **state)
{
	struct vt_freq_measure insns[] = {{1000, 30}, {400, 40}, {0, 0}, {1000, 10}};
	struct vt_freq_measure edges[] = {{-1, 0}, {500, 50}, {-1, 0}, {-1, 0}, {-1, 0}, {-1, 0}};
	struct graph g;
	uint32_t i;

	(void)state;
	graph_begin_diamond(&g);
	for (i = 0; i < g.classes.count; i++)
		g.class_estimates[i].sigma = INFINITY;
	g.edge_class[1] = 3; /* 2 -> 3 is executed as often as 3 */
	g.in.measured = insns;
	g.in.measured_edges = edges;
	g.in.measure_unit = 5;
	g.in.measure_timed = true;
	g.in.skewed = true;
	g.class_estimates[2] = certain(9, 1);
	assert_int_equal(vti_freq_stacks(&g.w, &err), 0);
	/* However certain time seems. */
	assert_true(g.class_estimates[2].counted && nearly_equal(g.class_estimates[2].f, 1000));
	assert_true(nearly_equal(g.class_estimates[2].sigma, sqrt(900 + 2 * 25)));
	assert_true(nearly_equal(g.class_estimates[2].points, 20));
	/* Counts of the same are no more certain than one. */
	assert_true(nearly_equal(g.class_estimates[3].f, 450));
	assert_true(nearly_equal(g.class_estimates[3].sigma, sqrt((1600 + 2500) / 2.0 + 50)));
	assert_true(g.class_estimates[4].known && nearly_equal(g.class_estimates[4].f, 0));
	assert_true(nearly_equal(g.class_estimates[4].sigma, sqrt(50)));
	assert_false(g.class_estimates[g.edge_class[2]].known);
	assert_true(nearly_equal(g.w.unit_doubt, 0));
	/* In order, the more certain of both: as a part of the larger, a count has 1 in 57 more. */
	g.in.skewed = false;
	g.class_estimates[2] = certain(1000, 34);
	g.class_estimates[3] = certain(100, 40);
	g.class_estimates[5] = certain(1000, 22);
	insns[3].sigma = 0;
	assert_int_equal(vti_freq_stacks(&g.w, &err), 0);
	assert_false(g.class_estimates[2].counted || g.class_estimates[3].counted);
	assert_true(g.class_estimates[5].counted);
	/* What repeats has no count. */
	g.insns[3].flags = VT_FACT_REPEATED;
	g.class_estimates[5] = certain(1000, 900);
	assert_int_equal(vti_freq_stacks(&g.w, &err), 0);
	assert_false(g.class_estimates[5].counted);
}

/*
 * Without times, a unit is the median of time by count: 2, 3 and 6, of as many samples each,
 * however many executions these are.
 */
static void test_unit(void **state)
{
	static const double scales[] = {1, 0.001};
	double squares = pow(log(2 / 3.0), 2) + pow(log(2), 2);
	size_t k;
	uint32_t i;

	(void)state;
	for (k = 0; k < 2; k++) {
		double x = scales[k];
		struct vt_freq_measure insns[] = {{100 * x, 0}, {100 * x, 0}, {100 * x, 0}, {0, 0}};
		struct vt_freq_measure edges[6];
		struct graph g;

		graph_begin_diamond(&g);
		for (i = 0; i < 6; i++)
			edges[i] = (struct vt_freq_measure){-1, 0};
		for (i = 0; i < g.classes.count; i++)
			g.class_estimates[i].sigma = INFINITY;
		g.in.measured = insns;
		g.in.measured_edges = edges;
		g.in.measure_unit = x;
		g.in.skewed = true;
		g.class_estimates[2] = certain(200 * x, 100 * x); /* 4 samples each */
		g.class_estimates[3] = certain(300 * x, 150 * x);
		g.class_estimates[4] = certain(600 * x, 300 * x);
		assert_int_equal(vti_freq_stacks(&g.w, &err), 0);
		for (i = 2; i < 5; i++)
			assert_true(nearly_equal(g.class_estimates[i].f, 300 * x));
		assert_true(nearly_equal(g.w.unit_doubt, hypot(0.7, sqrt(4 * squares / 12))));
		assert_true(nearly_equal(g.class_estimates[5].sigma, 3 * sqrt(2) * x));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretches_join),
		cmocka_unit_test(test_trust_chain),
		cmocka_unit_test(test_likely_spread),
		cmocka_unit_test(test_paper),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_cluster),
		cmocka_unit_test(test_likely),
		cmocka_unit_test(test_likely_stall),
		cmocka_unit_test(test_likely_class),
		cmocka_unit_test(test_likely_miss),
		cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_stretches_miss),
		cmocka_unit_test(test_stretches_chance),
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_trust_incomplete),
		cmocka_unit_test(test_propagate),
		cmocka_unit_test(test_solve),
		cmocka_unit_test(test_solve_far),
		cmocka_unit_test(test_solve_hidden),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
