/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of significance against sums, tables and draws of chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/significance.h"
#include "base/rng.h"

#define NEAR(a, b, by)                                                                             \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (by)))                                                      \
			fail_msg("%s is %.17g, not %.17g", #a, a_, b_);                            \
	} while (0)

static void test_moments(void **state)
{
	static const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct vt_moments m = {0};
	size_t i;

	(void)state;
	NEAR(vt_moments_deviation(&m), 0, 0);
	for (i = 0; i < sizeof(x) / sizeof(*x); i++)
		vt_moments_add(&m, x[i]);
	assert_int_equal(m.count, 8);
	NEAR(m.mean, 5, 1e-12);
	NEAR(m.min, 2, 0);
	NEAR(m.max, 9, 0);
	NEAR(vt_moments_deviation(&m), sqrt(32.0 / 7), 1e-12);
}

/* P(at most n of n + m), added up term by term. */
static double binomial_sum(unsigned n, unsigned m, double share)
{
	double sum = 0;
	unsigned k, all = n + m;

	for (k = 0; k <= n; k++)
		sum += exp(lgamma(all + 1.0) - lgamma(k + 1.0) - lgamma(all - k + 1.0) +
			   k * log(share) + (all - k) * log1p(-share));
	return sum;
}

static void test_counts(void **state)
{
	static const double shares[] = {0.5, 0.1, 0.73};
	unsigned n, m, s;

	(void)state;
	for (s = 0; s < 3; s++) {
		for (n = 0; n < 60; n += 1 + n / 7) {
			for (m = 0; m < 60; m += 1 + m / 5) {
				double low = binomial_sum(n, m, shares[s]);
				double high = n ? 1 - binomial_sum(n - 1, m + 1, shares[s]) : 1;
				double p = 2 * fmin(low, high);

				NEAR(vt_count_test(n, m, shares[s]), fmin(1, p), 1e-9);
			}
		}
	}
	/* For large counts it is as the normal distribution has it. */
	NEAR(vt_count_test(1000000, 1004000, 0.5), erfc(4000 / sqrt(2004000.0) / sqrt(2)), 2e-5);
	assert_true(vt_count_test(10000000, 10100000, 0.5) < 1e-100);
	NEAR(vt_count_test(0, 0, 0.5), 1, 0);
}

/* Quantiles of Student's distribution as any table has them: two-sided 5 % and 1 %. */
static void test_means(void **state)
{
	static const struct {
		double freedom, five, one;
	} table[] = {{1, 12.706205, 63.656741}, {5, 2.570582, 4.032143}, {30, 2.042272, 2.749996}};
	struct vt_moments a = {0}, b = {0};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		double v = table[i].freedom;

		NEAR(vt_incomplete_beta(v / 2, 0.5, v / (v + table[i].five * table[i].five)), 0.05,
		     1e-7);
		NEAR(vt_incomplete_beta(v / 2, 0.5, v / (v + table[i].one * table[i].one)), 0.01,
		     1e-7);
	}
	/* Equal variances and counts: 2n - 2 degrees of freedom; t = 1 / sqrt(2 * 1 / 3). */
	for (i = 0; i < 3; i++) {
		vt_moments_add(&a, (double)i);
		vt_moments_add(&b, (double)i + 1);
	}
	NEAR(vt_mean_test(&a, &b), vt_incomplete_beta(2, 0.5, 4 / (4 + 1.5)), 1e-12);
	NEAR(vt_mean_test(&a, &a), 1, 1e-12);
}

/* Of draws that differ by chance alone, as many fall below a level as it says. */
static void test_level(void **state)
{
	struct vt_rng rng;
	unsigned round, below = 0;

	(void)state;
	vt_rng_init(&rng, 7);
	for (round = 0; round < 4000; round++) {
		struct vt_moments set[2] = {{0}, {0}};
		unsigned i, k;

		for (i = 0; i < 12; i++) {
			double x = 0;

			for (k = 0; k < 12; k++)
				x += (double)vt_rng_below(&rng, 1000000) / 1e6;
			vt_moments_add(&set[i & 1], x);
		}
		below += vt_mean_test(&set[0], &set[1]) < 0.05;
	}
	/* 200 expected, 13.8 the standard deviation. */
	assert_in_range(below, 140, 260);
}

static void test_discovery(void **state)
{
	double p[] = {0.9, 0.012, 0.5, 0.001, 0.03, 0.2};
	double none[] = {0.9, 0.5};

	(void)state;
	/* 0.001 <= 0.05/6, 0.012 <= 0.1/6, 0.03 > 0.15/6. */
	NEAR(vt_discovery_threshold(p, 6, 0.05), 0.012, 0);
	NEAR(vt_discovery_threshold(none, 2, 0.05), -1, 0);
	NEAR(vt_discovery_threshold(none, 0, 0.05), -1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),	  cmocka_unit_test(test_counts),
		cmocka_unit_test(test_means),	  cmocka_unit_test(test_level),
		cmocka_unit_test(test_discovery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
