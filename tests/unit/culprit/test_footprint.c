/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "culprit/footprint.h"
#include "machine/pipeline/core.h"

/*
 * Random fetches through caches, TLBs and counters of which nothing is shared with the code under
 * test: none may miss more often than it says.
 */
#define LINES 64
#define STEPS 20000
#define LINE  32

static struct vt_error err;

/* Least recently used, the slow way: when each was used last, in a list of all. */
struct lru {
	uint32_t ways;
	uint32_t sets;
	uint64_t held[LINES]; /* by set and way; 0: nothing */
	uint64_t used[LINES];
	uint64_t clock;
};

static bool hits(struct lru *c, uint64_t number)
{
	uint64_t *held = c->held + (number % c->sets) * c->ways;
	uint64_t *used = c->used + (number % c->sets) * c->ways;
	uint32_t i, oldest = 0;

	c->clock++;
	for (i = 0; i < c->ways; i++) {
		if (held[i] == number + 1) {
			used[i] = c->clock;
			return true;
		}
		if (used[i] < used[oldest])
			oldest = i;
	}
	held[oldest] = number + 1;
	used[oldest] = c->clock;
	return false;
}

/* Mostly a few units, the others now and then. */
static uint64_t next(struct vt_rng *rng)
{
	uint64_t r = vt_rng_below(rng, 100);

	return r < 90 ? vt_rng_below(rng, 5) * 3 : vt_rng_below(rng, LINES);
}

static void run(struct vt_core *m, uint32_t unit, uint32_t sets, uint32_t ways, uint64_t seed,
		double (*bound)(const struct vt_footprint *, uint32_t, uint64_t))
{
	struct vt_footprint *f = vt_footprint_new(m);
	struct lru cache = {.ways = ways, .sets = sets};
	uint64_t misses[LINES] = {0}, all = 0, i, n, last = LINES;
	struct vt_rng rng;

	assert_non_null(f);
	vt_rng_init(&rng, seed);
	for (i = 0; i < STEPS; i++) {
		n = next(&rng);
		if (n != last)
			assert_int_equal(vt_footprint_enter(f, 7, n * unit + 3, 4, 1, 1, &err), 0);
		last = n;
		misses[n] += !hits(&cache, n);
	}
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	for (i = 0; i < LINES; i++) {
		double most = bound(f, 7, i * unit);

		if (isinf(most)) {
			assert_int_equal(misses[i], 0);
			continue;
		}
		assert_true((double)misses[i] <= most);
		all += misses[i];
	}
	assert_true(all > 0);
	vt_footprint_free(f);
}

static void test_lines(void **state)
{
	struct vt_core m = {.icache = {.size = 16 * LINE, .line = LINE, .ways = 1}};
	uint64_t seed;

	(void)state;
	for (seed = 1; seed < 20; seed++) {
		m.icache.ways = 1;
		run(&m, LINE, 16, 1, seed, vt_footprint_lines);
		m.icache.ways = 2;
		run(&m, LINE, 8, 2, seed, vt_footprint_lines);
	}
}

static void test_calls(void **state)
{
	const struct vt_core m = {.order = VT_IN_ORDER};
	struct vt_footprint *f = vt_footprint_new(&m);

	(void)state;
	assert_non_null(f);
	assert_int_equal(vt_footprint_call(f, 1, 0x1000, 7, &err), 0);
	assert_int_equal(vt_footprint_call(f, 1, 0x1000, 5, &err), 0);
	assert_int_equal(vt_footprint_call(f, 2, 0x1000, 3, &err), 0);
	assert_int_equal(vt_footprint_call(f, 0x80000002, 0x1000, 9, &err), 0);
	assert_float_equal(vt_footprint_called(f, 1, 0x1000), 12, 1e-9);
	assert_float_equal(vt_footprint_called(f, 2, 0x1000), 3, 1e-9);
	assert_float_equal(vt_footprint_called(f, 1, 0x1004), 0, 1e-9);
	vt_footprint_free(f);
}

static void test_pages(void **state)
{
	const struct vt_core m = {.itlb = {.entries = 16, .ways = 16, .page = 4096}};
	struct vt_core copy = m;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed < 20; seed++)
		run(&copy, 4096, 1, 16, seed, vt_footprint_pages);
}

/* Nothing else in its set: missed once.  Another image may lie anywhere in a page. */
static void test_alone(void **state)
{
	const struct vt_core m = {.icache = {.size = 8192, .line = LINE, .ways = 1}};
	struct vt_footprint *f = vt_footprint_new(&m);

	(void)state;
	assert_non_null(f);
	assert_int_equal(vt_footprint_enter(f, 1, 0, 4, 1000, 1000, &err), 0);
	assert_int_equal(vt_footprint_enter(f, 1, 4096, 4, 500, 500, &err), 0);
	assert_int_equal(vt_footprint_enter(f, 1, 8192 + 64, 4, 300, 300, &err), 0);
	assert_int_equal(vt_footprint_enter(f, 2, 4096 + 64, 4, 200, 200, &err), 0);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	assert_float_equal(vt_footprint_lines(f, 1, 0), 1, 1e-9);
	assert_float_equal(vt_footprint_lines(f, 1, 4100), 1, 1e-9);
	assert_float_equal(vt_footprint_lines(f, 1, 8192 + 64), 201, 1e-9);
	assert_float_equal(vt_footprint_lines(f, 2, 4096 + 64), 301, 1e-9);
	assert_true(isinf(vt_footprint_lines(f, 2, 0)));
	assert_true(isinf(vt_footprint_pages(f, 1, 0)));
	vt_footprint_free(f);
}

static void enter(struct vt_footprint *f, uint32_t image, uint64_t vaddr, uint32_t size,
		  double line, double page)
{
	assert_int_equal(vt_footprint_enter(f, image, vaddr, size, line, page, &err), 0);
}

/*
 * Two ways of 256 sets, two images, out of order: a line may meet those of its own image in its
 * set, and of the other's at its place in a page. Two for each of them, on wrong ways, and two to
 * throw a line out.
 */
static void test_exact_lines(void **state)
{
	const struct vt_core m = {.icache = {.size = 16384, .line = LINE, .ways = 2},
				  .order = VT_OUT_OF_ORDER};
	struct vt_footprint *f = vt_footprint_new(&m);

	(void)state;
	assert_non_null(f);
	enter(f, 1, 0, 4, 10, 1);
	enter(f, 1, 8192, 4, 20, 1);
	enter(f, 1, 4096 + 28, 4, 40, 1);
	enter(f, 2, 12288, 4, 80, 1);
	/* Over the end of a line; no size is one byte; what never happens is not there. */
	enter(f, 1, 94, 4, 5, 1);
	enter(f, 1, 192, 0, 5, 1);
	enter(f, 1, 223, 1, 5, 1);
	enter(f, 1, 512, 4, 0, 1);
	enter(f, 1, 287, 0, 5, 1);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	assert_float_equal(vt_footprint_lines(f, 1, 31), 1 + (20 + 80), 1e-9);
	assert_float_equal(vt_footprint_lines(f, 1, 8192), 1 + (10 + 80), 1e-9);
	assert_float_equal(vt_footprint_lines(f, 1, 4096), 1 + 80, 1e-9);
	assert_float_equal(vt_footprint_lines(f, 2, 12288), 1 + 70, 1e-9);
	assert_float_equal(vt_footprint_lines(f, 1, 64), 1, 1e-9);
	assert_float_equal(vt_footprint_lines(f, 1, 96), 1, 1e-9);
	assert_true(isinf(vt_footprint_lines(f, 1, 128)));
	assert_float_equal(vt_footprint_lines(f, 1, 192), 1, 1e-9);
	assert_true(isinf(vt_footprint_lines(f, 1, 224)));
	assert_true(isinf(vt_footprint_lines(f, 1, 512)));
	assert_float_equal(vt_footprint_lines(f, 1, 256), 1, 1e-9);
	assert_true(isinf(vt_footprint_lines(f, 1, 288)));
	assert_true(isinf(vt_footprint_pages(f, 1, 0)));
	vt_footprint_free(f);
}

/* Without a number of ways it is one; without a size, and without entries, nothing is known. */
static void test_unknown_caches(void **state)
{
	struct vt_core m = {.icache = {.size = 64, .line = LINE}, .itlb = {.page = 4096}};
	struct vt_footprint *f = vt_footprint_new(&m);

	(void)state;
	assert_non_null(f);
	enter(f, 1, 0, 4, 10, 1);
	enter(f, 1, 64, 4, 20, 1);
	enter(f, 1, 32, 4, 40, 1);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	assert_float_equal(vt_footprint_lines(f, 1, 0), 21, 1e-9);
	assert_float_equal(vt_footprint_lines(f, 1, 32), 1, 1e-9);
	assert_true(isinf(vt_footprint_pages(f, 1, 0)));
	vt_footprint_free(f);
	m.icache.size = 0;
	m.itlb.entries = 1;
	f = vt_footprint_new(&m);
	assert_non_null(f);
	enter(f, 1, 0, 4, 10, 1);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	assert_true(isinf(vt_footprint_lines(f, 1, 0)));
	assert_float_equal(vt_footprint_pages(f, 1, 0), 1, 1e-9);
	vt_footprint_free(f);
}

/*
 * Of two entries, one that is always the most used page's leaves one for all others, and so on; a
 * page that is used less often than that is missed each time at most.
 */
static void test_exact_pages(void **state)
{
	static const struct {
		uint32_t entries;
		enum vt_order order;
		double want[4];
	} rows[] = {
		/* 1 + 90/2 or 1 + 40; 1 + 140/2 or 1 + 40; 30, 10 */
		{2, VT_IN_ORDER, {41, 41, 30, 10}},
		/* 1 + 2*40; 50; 30; 10 */
		{2, VT_OUT_OF_ORDER, {81, 50, 30, 10}},
		{1, VT_IN_ORDER, {91, 50, 30, 10}},
		/* 1 + 10; of the last, 1 + 30 is more than 10 */
		{3, VT_IN_ORDER, {11, 11, 11, 10}},
		{4, VT_IN_ORDER, {1, 1, 1, 1}},
		{9, VT_IN_ORDER, {1, 1, 1, 1}},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct vt_core m = {.order = rows[i].order,
					  .itlb = {.entries = rows[i].entries, .page = 4096}};
		struct vt_footprint *f = vt_footprint_new(&m);

		assert_non_null(f);
		enter(f, 2, 8192, 4, 1, 30);
		enter(f, 1, 8190, 2, 1, 100);
		enter(f, 1, 0, 4, 1, 10);
		enter(f, 2, 0, 4, 1, 50);
		assert_int_equal(vt_footprint_finish(f, &err), 0);
		for (k = 0; k < 4; k++) {
			static const uint64_t page[4] = {4096, 0, 8192, 0};
			static const uint32_t image[4] = {1, 2, 2, 1};
			double most = vt_footprint_pages(f, image[k], page[k]);

			if (fabs(most - rows[i].want[k]) > 1e-9)
				fail_msg("row %u, page %u: %g", i, k, most);
		}
		assert_true(isinf(vt_footprint_lines(f, 1, 0)));
		vt_footprint_free(f);
	}
}

/*
 * Three entries, one for a page that is used most: the others' five uses have to throw it out of
 * three, or of the two that one of them leaves, or of the one that two leave.  Ids are of 32 bits.
 */
static void test_rare_pages(void **state)
{
	const struct vt_core m = {.order = VT_IN_ORDER, .itlb = {.entries = 3, .page = 4096}};
	struct vt_footprint *f = vt_footprint_new(&m);
	uint32_t i;

	(void)state;
	assert_non_null(f);
	enter(f, 1, 0, 4, 1, 100);
	for (i = 1; i <= 5; i++)
		enter(f, 1 + (i << 16), 0, 4, 1, 1);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	assert_float_equal(vt_footprint_pages(f, 1, 0), 1 + 5 / 3.0, 1e-9);
	for (i = 1; i <= 5; i++)
		assert_float_equal(vt_footprint_pages(f, 1 + (i << 16), 0), 1, 1e-9);
	vt_footprint_free(f);
}

/*
 * Two images in a cache of 16 sets, of which a page has 8 times as many lines; and in one of two
 * sets of lines that are longer than a page.  Ids are of 32 bits.
 */
static void test_small_cache(void **state)
{
	static const struct {
		uint32_t line, sets;
	} rows[] = {{LINE, 16}, {8192, 2}};
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const uint32_t line = rows[i].line, sets = rows[i].sets;
		const struct vt_core m = {.icache = {.size = line * sets, .line = line, .ways = 1}};
		struct vt_footprint *f = vt_footprint_new(&m);

		assert_non_null(f);
		enter(f, 1, 0, 4, 10, 1);
		enter(f, 0x10001, (uint64_t)sets * line, 4, 20, 1);
		enter(f, 0x10001, (uint64_t)(sets + 1) * line, 4, 40, 1);
		assert_int_equal(vt_footprint_finish(f, &err), 0);
		assert_float_equal(vt_footprint_lines(f, 1, 0), 1 + 20, 1e-9);
		assert_float_equal(vt_footprint_lines(f, 0x10001, (uint64_t)sets * line), 1 + 10,
				   1e-9);
		assert_float_equal(vt_footprint_lines(f, 0x10001, (uint64_t)(sets + 1) * line), 1,
				   1e-9);
		vt_footprint_free(f);
	}
}

/* As many counters as the predictor has, of a page at most; in each, three at first. */
static void test_counters(void **state)
{
	static const struct {
		uint32_t bits;
		uint64_t apart; /* two branches that share one */
	} rows[] = {{4, 16}, {11, 2048}, {12, 4096}, {20, 4096}};
	struct vt_core m = {.predictor = VT_PREDICT_BIMODAL};
	struct vt_footprint *f;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		m.predictor_bits = rows[i].bits;
		f = vt_footprint_new(&m);
		assert_non_null(f);
		assert_int_equal(vt_footprint_branch(f, 5, 100, 20, &err), 0);
		assert_int_equal(vt_footprint_branch(f, 5 + rows[i].apart, 7, 1, &err), 0);
		assert_int_equal(vt_footprint_branch(f, 5 + rows[i].apart / 2, 900, 900, &err), 0);
		assert_float_equal(vt_footprint_mispredicted(f, 5, true), 24, 1e-9);
		assert_float_equal(vt_footprint_mispredicted(f, 5 + rows[i].apart, false), 110,
				   1e-9);
		vt_footprint_free(f);
	}
	m.predictor = VT_PREDICT_GSHARE;
	f = vt_footprint_new(&m);
	assert_non_null(f);
	assert_int_equal(vt_footprint_branch(f, 5, 100, 20, &err), 0);
	assert_true(isinf(vt_footprint_mispredicted(f, 5, true)));
	vt_footprint_free(f);
}

/* Branches that share counters, each with a bias of its own. */
static void test_branches(void **state)
{
	const struct vt_core m = {.predictor = VT_PREDICT_BIMODAL, .predictor_bits = 4};
	uint64_t wrong[40][2] = {{0}}, count[40][2] = {{0}}, i, k;
	struct vt_footprint *f = vt_footprint_new(&m);
	uint8_t counter[16];
	struct vt_rng rng;

	(void)state;
	assert_non_null(f);
	assert_true(isinf(vt_footprint_mispredicted(f, 0, true)));
	memset(counter, 1, sizeof(counter));
	vt_rng_init(&rng, 5);
	for (i = 0; i < STEPS; i++) {
		uint64_t b = vt_rng_below(&rng, 40);
		bool taken = vt_rng_below(&rng, 40) < b;
		uint8_t *n = &counter[b % 16];

		count[b][taken]++;
		wrong[b][taken] += (*n >= 2) != taken;
		if (taken && *n < 3)
			++*n;
		else if (!taken && *n > 0)
			--*n;
	}
	for (i = 0; i < 40; i++)
		assert_int_equal(
			vt_footprint_branch(f, i, (double)count[i][1], (double)count[i][0], &err),
			0);
	for (i = 0; i < 40; i++)
		for (k = 0; k < 2; k++)
			assert_true((double)wrong[i][k] <= vt_footprint_mispredicted(f, i, k));
	/* One that is alone with its counter and goes one way is learnt. */
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	vt_footprint_free(f);
	f = vt_footprint_new(&m);
	assert_non_null(f);
	assert_int_equal(vt_footprint_branch(f, 3, 1000, 0, &err), 0);
	assert_float_equal(vt_footprint_mispredicted(f, 3, true), 3, 1e-9);
	vt_footprint_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	       cmocka_unit_test(test_calls),
		cmocka_unit_test(test_pages),	       cmocka_unit_test(test_alone),
		cmocka_unit_test(test_branches),       cmocka_unit_test(test_exact_lines),
		cmocka_unit_test(test_unknown_caches), cmocka_unit_test(test_exact_pages),
		cmocka_unit_test(test_counters),       cmocka_unit_test(test_rare_pages),
		cmocka_unit_test(test_small_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
