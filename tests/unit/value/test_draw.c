/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "value/draw.h"

/*
 * Statistics are of fixed seeds: a test passes or fails the same way each time.  Bounds are those
 * that a right program passes with near certainty and a wrong one does not.
 */

/* Mean and variance of many draws, and of small n the whole distribution. */
static void check_binomial(uint64_t n, double p, uint64_t seed)
{
	enum { DRAWS = 40000 };
	double mean = (double)n * p, variance = mean * (1 - p);
	double sum = 0, squares = 0, bound;
	struct vt_rng r;
	int i;

	vt_rng_init(&r, seed);
	for (i = 0; i < DRAWS; i++) {
		uint64_t k = vt_draw_binomial(&r, n, p);
		double d = (double)k - mean;

		assert_true(k <= n);
		sum += d;
		squares += d * d;
	}
	/* Four standard errors; that of the variance from the fourth moment. */
	bound = 4 * sqrt(variance / DRAWS);
	assert_true(fabs(sum / DRAWS) <= bound);
	bound = 4 * sqrt((2 * variance * variance + variance * (1 - 6 * p * (1 - p))) / DRAWS);
	assert_true(fabs(squares / DRAWS - variance) <= bound);
}

static void test_binomial_moments(void **state)
{
	static const struct {
		uint64_t n;
		double p;
	} cases[] = {{1, 0.3},	      {2, 15.0 / 16},	 {7, 0.5},
		     {20, 0.06},      {160, 1.0 / 16},	 {160, 15.0 / 16},
		     {161, 0.0625},   {25, 0.4},	 {1000, 0.5},
		     {1000, 0.011},   {100000, 0.9},	 {1000000000, 15.0 / 16},
		     {1000000, 9e-6}, {1ull << 40, 0.5}, {1ull << 45, 1e-12}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_binomial(cases[i].n, cases[i].p, i + 1);
}

/* Chi-square over all outcomes that can be expected at least ten times. */
static void check_distribution(uint64_t n, double p, uint64_t seed)
{
	enum { DRAWS = 100000 };
	double *expected = calloc(n + 1, sizeof(double));
	uint64_t *seen = calloc(n + 1, sizeof(uint64_t));
	double chi = 0, rest = DRAWS, outside = DRAWS;
	unsigned freedom = 0;
	struct vt_rng r;
	uint64_t k;

	vt_rng_init(&r, seed);
	for (k = 0; k < DRAWS; k++)
		seen[vt_draw_binomial(&r, n, p)]++;
	for (k = 0; k <= n; k++) {
		expected[k] = DRAWS * exp(lgamma((double)n + 1) - lgamma((double)k + 1) -
					  lgamma((double)(n - k) + 1) + (double)k * log(p) +
					  (double)(n - k) * log1p(-p));
		if (expected[k] < 10)
			continue;
		chi += ((double)seen[k] - expected[k]) * ((double)seen[k] - expected[k]) /
		       expected[k];
		freedom++;
		rest -= expected[k];
		outside -= (double)seen[k];
	}
	/* Wilson and Hilferty: at four standard deviations. */
	assert_true(freedom > 2);
	assert_true(cbrt(chi / freedom) <= 1 - 2.0 / (9 * freedom) + 4 * sqrt(2.0 / (9 * freedom)));
	assert_true(fabs(outside - rest) < 4 * sqrt(rest + 10));
	free(expected);
	free(seen);
}

static void test_binomial_distribution(void **state)
{
	(void)state;
	check_distribution(5, 0.5, 1);
	check_distribution(16, 1.0 / 16, 2);
	check_distribution(16, 15.0 / 16, 3);
	check_distribution(60, 0.4, 4);
	check_distribution(400, 15.0 / 16, 5);
	check_distribution(3000, 0.004, 6);
	check_distribution(3000, 0.5, 7);
}

/* ---- draw by draw ---- */

/* One of 2^53 numbers between 0 and 1, each in the middle of its part. */
static double unit(struct vt_rng *r)
{
	return ldexp((double)(vt_rng_next(r) >> 11) + 0.5, -53);
}

static double log_chance(double n, double p, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

/* The least k up to which the outcomes have the chance u. */
static uint64_t by_inversion(double u, uint64_t n, double p)
{
	double sum = 0;
	uint64_t k;

	for (k = 0; k < n; k++) {
		sum += exp(log_chance((double)n, p, (double)k));
		if (u <= sum)
			break;
	}
	return k;
}

/*
 * W. Hörmann: "The generation of binomial random variates", Journal of Statistical Computation and
 * Simulation 46 (1993), algorithm BTRS: a hat over the histogram, and a squeeze below which nothing
 * needs to be computed.
 */
static uint64_t by_rejection(struct vt_rng *r, uint64_t count, double p)
{
	double n = (double)count, spq = sqrt(n * p * (1 - p));
	double b = 1.15 + 2.53 * spq, a = -0.0873 + 0.0248 * b + 0.01 * p;
	double alpha = (2.83 + 5.1 / b) * spq, squeeze = 0.92 - 4.2 / b;
	double top = log_chance(n, p, floor((n + 1) * p));

	for (;;) {
		double u = unit(r) - 0.5, v = unit(r), us = 0.5 - fabs(u);
		double k = floor((2 * a / us + b) * u + n * p + 0.5);

		if (us >= 0.07 && v <= squeeze)
			return (uint64_t)k;
		if (k >= 0 && k <= n &&
		    v * alpha / (a / (us * us) + b) <= exp(log_chance(n, p, k) - top))
			return (uint64_t)k;
	}
}

static uint64_t draw(struct vt_rng *r, uint64_t n, double p)
{
	if (p > 0.5)
		return n - draw(r, n, 1 - p);
	return (double)n * p < 10 ? by_inversion(unit(r), n, p) : by_rejection(r, n, p);
}

/* The same numbers by chance lead to the same draws. */
static void test_draws(void **state)
{
	static const struct {
		uint64_t n;
		double p;
	} cases[] = {{2, 0.25},	    {5, 0.5},	   {7, 0.75},	   {40, 0.2},	  {40, 0.25},
		     {20, 0.5},	    {40, 0.75},	   {24, 0.5},	   {30, 0.4},	  {50, 0.3},
		     {100, 0.0625}, {200, 0.0625}, {300, 0.0625},  {400, 0.9375}, {1000, 0.011},
		     {3000, 0.5},   {3000, 0.004}, {100000, 1e-5}, {20, 0.625},	  {64, 0.25}};
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_rng mine, theirs;

		vt_rng_init(&mine, i);
		vt_rng_init(&theirs, i);
		for (k = 0; k < 6000; k++) {
			uint64_t want = draw(&mine, cases[i].n, cases[i].p);
			uint64_t is = vt_draw_binomial(&theirs, cases[i].n, cases[i].p);

			if (is != want)
				fail_msg("case %zu, draw %d: %d, not %d", i, k, (int)is, (int)want);
		}
	}
}

/* One draw of one: as often as the chance is. */
static void test_one(void **state)
{
	struct vt_rng mine, theirs;
	int k;

	(void)state;
	vt_rng_init(&mine, 5);
	vt_rng_init(&theirs, 5);
	for (k = 0; k < 1000; k++)
		assert_int_equal(vt_draw_binomial(&theirs, 1, 0.3), unit(&mine) < 0.3);
	for (k = 0; k < 1000; k++)
		assert_true(vt_draw_exponential(&theirs) == -log(unit(&mine)));
	/* What is certain needs no chance. */
	vt_draw_binomial(&theirs, 0, 0.3);
	vt_draw_binomial(&theirs, 1, 0);
	vt_draw_binomial(&theirs, 1, 1);
	assert_int_equal(vt_rng_next(&theirs), vt_rng_next(&mine));
}

/* Few of many: given the chance of none. */
static void test_few(void **state)
{
	struct vt_rng mine, theirs;
	int k;

	(void)state;
	vt_rng_init(&mine, 6);
	vt_rng_init(&theirs, 6);
	for (k = 0; k < 20000; k++)
		assert_int_equal(vt_draw_few(&theirs, 15, 0.1, pow(0.9, 15)),
				 by_inversion(unit(&mine), 15, 0.1));
}

static void test_draws_at_the_edges(void **state)
{
	struct vt_rng r;
	double sum = 0;
	int i;

	(void)state;
	vt_rng_init(&r, 1);
	assert_int_equal(vt_draw_binomial(&r, 0, 0.5), 0);
	assert_int_equal(vt_draw_binomial(&r, 1000, 0), 0);
	assert_int_equal(vt_draw_binomial(&r, 1000, 1), 1000);
	for (i = 0; i < 100000; i++) {
		double e = vt_draw_exponential(&r);

		assert_true(e > 0);
		sum += e;
	}
	assert_true(fabs(sum / 100000 - 1) < 4 / sqrt(100000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binomial_moments),
		cmocka_unit_test(test_binomial_distribution),
		cmocka_unit_test(test_draws_at_the_edges),
		cmocka_unit_test(test_draws),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
