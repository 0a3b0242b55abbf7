/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of graphs made by hand: their sums, what becomes a part of what is around it, and why. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "freq/region.h"
#include "tests/unit/freq/freqgraph.h"

static struct vt_error err;

struct scene {
	struct graph g;
	struct vt_mop ops[MAX_INSNS];
	double executions[MAX_INSNS];
	double edges[MAX_EDGES];
	double doubt[MAX_INSNS];
	struct vt_regions_input in;
};

/*
 * entry -> 2 -> 3; 3 -> 3 or 4; 4 -> 2 or 5 -> exit: a loop in a loop.  Each block is one
 * instruction of one cycle and one slot.  The outer loop goes round 100 times, the inner one
 * `inner` times for each of them.
 */
static void begin_nest(struct scene *s, double inner)
{
	uint32_t i;

	memset(s, 0, sizeof(*s));
	graph_begin(&s->g);
	graph_edge(&s->g, VT_CFG_ENTRY, 2);
	graph_edge(&s->g, 2, 3);
	graph_edge(&s->g, 3, 3);
	graph_edge(&s->g, 3, 4);
	graph_edge(&s->g, 4, 2);
	graph_edge(&s->g, 4, 5);
	graph_edge(&s->g, 5, VT_CFG_EXIT);
	for (i = 2; i < 6; i++)
		graph_insn(&s->g, i, 1, 0, 0);
	graph_finish(&s->g, 6);
	s->g.core = (struct vt_core){.rob = 100, .retire = 4};
	for (i = 0; i < 4; i++)
		s->ops[i].slots = 1;
	s->g.flow.ops = s->ops;
	s->executions[0] = s->executions[2] = 100;
	s->executions[1] = 100 * inner;
	s->executions[3] = 1;
	s->edges[0] = s->edges[5] = s->edges[6] = 1;
	s->edges[1] = s->edges[3] = 100;
	s->edges[2] = 100 * (inner - 1);
	s->edges[4] = 99;
	s->in = (struct vt_regions_input){.core = &s->g.core,
					  .flow = &s->g.flow,
					  .executions = s->executions,
					  .edges = s->edges,
					  .doubt = s->doubt,
					  .samples = s->g.samples,
					  .cycles = s->g.cycles};
}

static void sample(struct scene *s, uint32_t insn, uint64_t samples, double cycles)
{
	s->g.samples[insn] = samples;
	s->g.cycles[insn] = cycles;
}

static struct vt_regions *find(struct scene *s)
{
	struct vt_regions *r = vt_regions_new(&s->in, &err);

	assert_non_null(r);
	assert_int_equal(r->count, 3);
	return r;
}

static void assert_sums(const struct vt_region *r, double rounds, double visits, double executions,
			double samples, double cycles)
{
	assert_true(nearly_equal(r->rounds, rounds));
	assert_true(nearly_equal(r->visits, visits));
	assert_true(nearly_equal(r->executions, executions));
	assert_true(nearly_equal(r->samples, samples));
	assert_true(nearly_equal(r->cycles, cycles));
}

/*
 * The inner loop: 1,000 rounds of each of 100 visits, 2,000 samples of 200,000 cycles.  Its
 * interval is 1.645 / sqrt(2000) = 3.68 % by chance, and 400 of 200,000 cycles at its borders.  The
 * outer one has 40 samples of 4,000 cycles and 200 crossings of its border, 800 cycles: too few to
 * tell.
 */
static void test_loop_in_loop(void **state)
{
	struct scene s;
	struct vt_regions *r;

	(void)state;
	begin_nest(&s, 1000);
	sample(&s, 0, 20, 2000);
	sample(&s, 1, 2000, 200000);
	sample(&s, 2, 20, 2000);
	sample(&s, 3, 1, 100);
	r = find(&s);
	assert_sums(&r->list[2], 100000, 100, 100000, 2000, 200000);
	assert_true(nearly_equal(r->list[2].best, 100000));
	assert_true(nearly_equal(r->list[2].least, 90000));
	assert_true(nearly_equal(r->list[2].half, sqrt(1.645 * 1.645 / 2000 + 0.002 * 0.002)));
	assert_false(r->list[2].merged || r->list[2].overlaps);
	assert_int_equal(r->list[2].head, 3);
	assert_int_equal(r->list[2].parent, 1);
	/* What is left of the outer one is a part of the rest. */
	assert_true(r->list[1].merged);
	assert_sums(&r->list[1], 100, 101, 200, 40, 4000);
	assert_false(r->list[0].merged);
	/* It is entered once, and 100 times from the inner loop. */
	assert_sums(&r->list[0], 1, 101, 201, 41, 4100);
	assert_int_equal(r->of[2], 0);
	assert_int_equal(r->of[3], 2);
	assert_int_equal(r->of[4], 0);
	assert_int_equal(r->of[5], 0);
	vt_regions_free(r);
}

/* Ten rounds of one slot are less than two reorder buffers of 100: the loops overlap. */
static void test_short_visits_overlap(void **state)
{
	struct scene s;
	struct vt_regions *r;

	(void)state;
	begin_nest(&s, 10);
	s.g.costs[1].head = 0.25F;
	sample(&s, 0, 4000, 400000);
	sample(&s, 1, 4000, 400000);
	sample(&s, 2, 4000, 400000);
	r = find(&s);
	assert_true(r->list[2].overlaps && r->list[2].merged);
	assert_sums(&r->list[2], 1000, 100, 1000, 4000, 400000);
	assert_false(r->list[1].merged);
	assert_sums(&r->list[1], 100, 1, 1200, 12000, 1200000);
	assert_int_equal(r->of[3], 1);
	assert_true(nearly_equal(r->list[1].best, 100 + 250 + 100));
	vt_regions_free(r);
}

/* As short, but its chain takes 200 cycles a visit at best: little of that is hidden. */
static void test_serial_loop_does_not_overlap(void **state)
{
	struct scene s;
	struct vt_regions *r;

	(void)state;
	begin_nest(&s, 10);
	sample(&s, 1, 4000, 400000);
	s.g.costs[1].head = 20;
	r = find(&s);
	assert_false(r->list[2].overlaps || r->list[2].merged);
	vt_regions_free(r);
	s.g.costs[1].head = 19.9F;
	r = find(&s);
	assert_true(r->list[2].overlaps && r->list[2].merged);
	vt_regions_free(r);
}

/* A count that is in doubt by a tenth makes the interval wider than 15 %. */
static void test_doubt_of_counts(void **state)
{
	struct scene s;
	struct vt_regions *r;

	(void)state;
	begin_nest(&s, 1000);
	sample(&s, 1, 2000, 200000);
	s.doubt[1] = 0.08;
	r = find(&s);
	assert_false(r->list[2].merged);
	vt_regions_free(r);
	s.doubt[1] = 0.1;
	r = find(&s);
	assert_true(r->list[2].merged);
	/* Of what is around it nothing was doubted: 100,000 of 100,201 executions by 0.1 are. */
	assert_true(nearly_equal(r->list[2].doubt, 0.1));
	assert_true(nearly_equal(r->list[0].doubt, 10000 / 100201.0));
	vt_regions_free(r);
	/* That of the first instruction that was executed, if it is larger. */
	s.executions[0] = 0;
	s.doubt[0] = 0.5;
	s.doubt[1] = 0;
	s.doubt[2] = 0;
	s.doubt[3] = 0.3;
	r = find(&s);
	assert_true(nearly_equal(r->list[0].doubt, 0.3 / 101));
	vt_regions_free(r);
	s.doubt[1] = 0.2;
	s.doubt[2] = INFINITY;
	r = find(&s);
	assert_true(r->list[2].merged && nearly_equal(r->list[2].doubt, 0.2));
	/* 100,000 by 0.2, 100 by all of them and 1 by 0.3; the head is the loop's then. */
	assert_true(nearly_equal(r->list[0].doubt, (20000 + 100 + 0.3) / 100101));
	vt_regions_free(r);
}

/* No samples tell nothing; what is least is the slots' where that is more. */
static void test_no_samples(void **state)
{
	struct scene s;
	struct vt_regions *r;

	(void)state;
	begin_nest(&s, 1000);
	s.ops[1].slots = 8;
	r = find(&s);
	assert_true(r->list[2].merged && r->list[1].merged);
	assert_true(isinf(r->list[0].half));
	assert_true(nearly_equal(r->list[2].least, 0.95 * 2 * 100000));
	vt_regions_free(r);
}

/* A simulator's cycles are exact: only what the counts leave in doubt is. */
static void test_exact_time(void **state)
{
	struct scene s;
	struct vt_regions *r;

	(void)state;
	begin_nest(&s, 1000);
	s.in.exact_time = true;
	s.doubt[1] = 0.04;
	sample(&s, 1, 0, 200000);
	r = find(&s);
	assert_true(nearly_equal(r->list[2].half, 1.645 * 0.04));
	assert_false(r->list[2].merged);
	vt_regions_free(r);
}

/* Nobody counted how often the procedure was entered: as often as its first block has no other. */
static void test_uncounted_entry(void **state)
{
	struct scene s;
	struct vt_regions *r;

	(void)state;
	begin_nest(&s, 1000);
	sample(&s, 1, 2000, 200000);
	s.edges[0] = NAN;
	r = find(&s);
	assert_true(nearly_equal(r->list[0].rounds, 1));
	vt_regions_free(r);
	/* Where others are more than all, never. */
	s.edges[4] = 101;
	r = find(&s);
	assert_true(nearly_equal(r->list[0].rounds, 0));
	vt_regions_free(r);
}

/* sqrt(1.645² / 400 + (4 × 10 / 800)² + (1.645 × 0.02)²), and each term alone. */
static void test_half_width(void **state)
{
	(void)state;
	assert_true(nearly_equal(vt_region_half_width(400, 10, 800, 0.02), 0.10172252700360919));
	assert_true(nearly_equal(vt_region_half_width(400, 0, 800, 0), 0.08225));
	assert_true(nearly_equal(vt_region_half_width(INFINITY, 10, 800, 0), 0.05));
	assert_true(nearly_equal(vt_region_half_width(INFINITY, 0, 800, 0.02), 0.0329));
	assert_true(isinf(vt_region_half_width(0, 10, 800, 0)));
	assert_true(isinf(vt_region_half_width(400, 10, 0, 0)));
	/* 121 samples are enough to tell, 120 are not. */
	assert_true(vt_region_half_width(121, 0, 1, 0) <= VT_REGIONS_WIDTH);
	assert_true(vt_region_half_width(120, 0, 1, 0) > VT_REGIONS_WIDTH);
}

static void test_told(void **state)
{
	struct vt_region r = {.cycles = 1, .half = 0.15};

	(void)state;
	assert_true(vt_region_is_told(&r));
	r.half = 0.1501;
	assert_false(vt_region_is_told(&r));
	r.half = 0;
	r.merged = true;
	assert_false(vt_region_is_told(&r));
	r.merged = false;
	r.cycles = 0;
	assert_false(vt_region_is_told(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_in_loop),
		cmocka_unit_test(test_short_visits_overlap),
		cmocka_unit_test(test_serial_loop_does_not_overlap),
		cmocka_unit_test(test_doubt_of_counts),
		cmocka_unit_test(test_no_samples),
		cmocka_unit_test(test_exact_time),
		cmocka_unit_test(test_uncounted_entry),
		cmocka_unit_test(test_half_width),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
