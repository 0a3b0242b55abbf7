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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
