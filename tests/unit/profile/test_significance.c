/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of significance against sums, tables and draws of chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "profile/significance.h"

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
	/* One value has no deviation; below 0, the first is neither 0 at least nor at most. */
	m = (struct vt_moments){0};
	vt_moments_add(&m, -3);
	NEAR(vt_moments_deviation(&m), 0, 0);
	vt_moments_add(&m, -1);
	NEAR(vt_moments_deviation(&m), sqrt(2), 1e-12);
	NEAR(m.mean, -2, 0);
	NEAR(m.min, -3, 0);
	NEAR(m.max, -1, 0);
}

/*
 * Where the function has a closed form: x^a where b is 1, 1 - (1 - x)^b where a is, and the law of
 * arcsines.  Small values are as exact as great ones, and ends are not far.
 */
static void test_beta(void **state)
{
	static const double x[] = {1e-15, 1e-9, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 1e-9, 1 - 1e-15};
	static const double shapes[] = {0.5, 1, 1.5, 2, 7, 50, 1e4, 1e7};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(x) / sizeof(*x); i++) {
		double arc = x[i] > 0.5 ? 1 - asin(sqrt(1 - x[i])) / asin(1)
					: asin(sqrt(x[i])) / asin(1);

		NEAR(vt_incomplete_beta(0.5, 0.5, x[i]), arc, 1e-12 * arc);
		for (k = 0; k < sizeof(shapes) / sizeof(*shapes); k++) {
			double s = shapes[k], low = pow(x[i], s), high = -expm1(s * log1p(-x[i]));

			NEAR(vt_incomplete_beta(s, 1, x[i]), low, 1e-7 * low);
			NEAR(vt_incomplete_beta(1, s, x[i]), high, 1e-7 * high);
		}
	}
	NEAR(vt_incomplete_beta(2, 3, 0), 0, 0);
	NEAR(vt_incomplete_beta(2, 3, 1), 1, 0);
	NEAR(vt_incomplete_beta(2, 3, -1), 0, 0);
	NEAR(vt_incomplete_beta(2, 3, 1.5), 1, 0);
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

static struct vt_moments moments_of(const double *x, size_t n)
{
	struct vt_moments m = {0};
	size_t i;

	for (i = 0; i < n; i++)
		vt_moments_add(&m, x[i]);
	return m;
}

/*
 * Sets of other sizes and variances: the means 3 and 4; the variances 2.5 and 8, by the counts 0.5
 * and 4; so t^2 = 1 / 4.5, with 4.5^2 / (0.5^2 / 4 + 4^2 / 1) degrees of freedom.
 */
static void test_unequal(void **state)
{
	static const double five[] = {1, 2, 3, 4, 5}, two[] = {2, 6}, same[] = {4, 4};
	struct vt_moments a = moments_of(five, 5), b = moments_of(two, 2);
	struct vt_moments one = moments_of(two, 1), still = moments_of(same, 2);
	const double freedom = 20.25 / 16.0625;
	double want = vt_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + 1 / 4.5));

	(void)state;
	NEAR(vt_mean_test(&a, &b), want, 1e-12);
	NEAR(vt_mean_test(&b, &a), want, 1e-12);
	/* Of one run nobody knows the variance. */
	NEAR(vt_mean_test(&one, &a), 1, 0);
	NEAR(vt_mean_test(&a, &one), 1, 0);
	/* Without any variance, all that differs does so for certain. */
	NEAR(vt_mean_test(&still, &still), 1, 0);
	one = still;
	one.mean = 5;
	NEAR(vt_mean_test(&still, &one), 0, 0);
	/* Of one set alone: t^2 = 1 / 0.5, 4 degrees of freedom. */
	NEAR(vt_mean_test(&a, &still), vt_incomplete_beta(2, 0.5, 4 / (4 + 2.0)), 1e-12);
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
	double none[] = {0.9, 0.5}, at[] = {0.05};

	(void)state;
	/* 0.001 <= 0.05/6, 0.012 <= 0.1/6, 0.03 > 0.15/6. */
	NEAR(vt_discovery_threshold(p, 6, 0.05), 0.012, 0);
	NEAR(vt_discovery_threshold(none, 2, 0.05), -1, 0);
	NEAR(vt_discovery_threshold(none, 0, 0.05), -1, 0);
	NEAR(vt_discovery_threshold(at, 1, 0.05), 0.05, 0);
}

/* ---- shares of sets of runs ---- */

static struct vt_share_set share_set(const uint64_t *counts, const uint64_t *totals, size_t n)
{
	struct vt_share_set s = {{0}, 0, 0};
	size_t i;

	for (i = 0; i < n; i++) {
		vt_moments_add(&s.shares, (double)counts[i] / (double)totals[i]);
		s.count += counts[i];
		s.total += totals[i];
	}
	return s;
}

static void test_shares(void **state)
{
	static const uint64_t zeros[3] = {0, 0, 0}, ones[3] = {1, 1, 1};
	static const uint64_t all[3] = {1000, 1000, 1000}, twice[3] = {2000, 2000, 2000};
	static const uint64_t low[3] = {100, 110, 120}, high[3] = {200, 220, 240};
	static const uint64_t apart[3] = {150, 160, 170};
	struct vt_share_set a = share_set(zeros, all, 3), b = share_set(ones, all, 3);

	(void)state;
	/* No variance among runs: three coins that all fall on one side, or on the other. */
	NEAR(vt_share_test(&a, &b), 0.25, 1e-12);
	/* Twice as long a run, with the same shares, is no change. */
	a = share_set(low, all, 3);
	b = share_set(high, twice, 3);
	NEAR(vt_share_test(&a, &b), 1, 1e-9);
	/* Means .11 and .16, variances 1e-4: t^2 = .0025 / (2e-4 / 3) = 37.5, 4 degrees of freedom.
	 */
	b = share_set(apart, all, 3);
	NEAR(vt_share_test(&a, &b), vt_incomplete_beta(2, 0.5, 4 / (4 + 37.5)), 1e-12);
	/* What the counts alone would say is much less. */
	assert_true(vt_count_test(330, 480, 0.5) < 1e-6);
	b.total = 0;
	assert_true(isnan(vt_share_test(&a, &b)));
	assert_true(isnan(vt_share_test(&b, &a)));
}

static double normal(struct vt_rng *rng)
{
	double x = -6;
	unsigned k;

	for (k = 0; k < 12; k++)
		x += (double)vt_rng_below(rng, 1u << 30) / (1u << 30);
	return x;
}

static uint64_t poisson(struct vt_rng *rng, double mean)
{
	double product = 1, floor_at = exp(-mean);
	uint64_t n = 0;

	if (mean > 40)
		return (uint64_t)fmax(0, mean + sqrt(mean) * normal(rng) + 0.5);
	while ((product *= (double)(vt_rng_below(rng, 1u << 30) + 1) / ((1u << 30) + 1.0)) >
	       floor_at)
		n++;
	return n;
}

#define ROWS	  12
#define MOST_RUNS 10

/*
 * Runs of a program: one procedure has 10 % of the time, the others ever less, the last a sample in
 * some runs.  Runs differ by 3 % in length, procedures by half a percent beyond what samples do.
 */
static void simulate(struct vt_rng *rng, size_t runs, double slower,
		     uint64_t counts[ROWS][2 * MOST_RUNS], uint64_t *totals)
{
	size_t run, row;

	for (run = 0; run < 2 * runs; run++) {
		double length = 150000 * exp(0.03 * normal(rng)), weight = 0.42;

		totals[run] = 0;
		for (row = 0; row < ROWS; row++) {
			double share = row ? (weight *= row < 8 ? 0.68 : 0.25) : 0.1;

			share *= row == 0 && run >= runs ? slower : 1;
			counts[row][run] = poisson(rng, length * share * exp(0.005 * normal(rng)));
			totals[run] += counts[row][run];
		}
	}
}

/* Which rows change significantly when all are looked at: bit 0 is that of the slower one. */
static uint32_t find_changes(struct vt_rng *rng, size_t runs, double slower)
{
	uint64_t counts[ROWS][2 * MOST_RUNS], totals[2 * MOST_RUNS];
	double p[ROWS], sorted[ROWS], threshold;
	uint32_t found = 0;
	size_t row;

	simulate(rng, runs, slower, counts, totals);
	for (row = 0; row < ROWS; row++) {
		struct vt_share_set a = share_set(counts[row], totals, runs);
		struct vt_share_set b = share_set(counts[row] + runs, totals + runs, runs);

		p[row] = sorted[row] = vt_share_test(&a, &b);
	}
	threshold = vt_discovery_threshold(sorted, ROWS, 0.05);
	for (row = 0; row < ROWS; row++)
		found |= (uint32_t)(p[row] <= threshold) << row;
	return found;
}

/*
 * A/A: of 1000 comparisons of a program with itself, so many have a star anywhere; at most 5 %
 * should.  And of 1000 with the procedure 5 % slower, so many have that one's.
 */
static void test_family(void **state)
{
	static const struct {
		size_t runs;
		unsigned least;
	} cases[] = {{3, 350}, {5, 900}, {10, 1000}};
	struct vt_rng rng;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		unsigned round, starred = 0, found = 0;

		vt_rng_init(&rng, 100 + i);
		for (round = 0; round < 1000; round++) {
			starred += find_changes(&rng, cases[i].runs, 1) != 0;
			found += find_changes(&rng, cases[i].runs, 1.05) & 1;
		}
		print_message("# %zu runs a side: A/A %.1f %%, a 5 %% slow-down of 10 %% of the "
			      "time found in %.1f %%\n",
			      cases[i].runs, starred / 10.0, found / 10.0);
		assert_in_range(starred, 0, 50);
		assert_in_range(found, cases[i].least, 1000);
	}
}

/* The totals of runs that differ by so much of their length (a standard deviation). */
static struct vt_moments draw_totals(struct vt_rng *rng, size_t runs, double length, double vary)
{
	struct vt_moments m = {0};
	size_t run;

	for (run = 0; run < runs; run++)
		vt_moments_add(&m, (double)poisson(rng, length * (1 + vary * normal(rng))));
	return m;
}

/* In how many of 1000 comparisons the total of the runs after has grown significantly. */
static unsigned count_grown(struct vt_rng *rng, size_t runs, double slower, double vary)
{
	unsigned round, grown = 0;

	for (round = 0; round < 1000; round++) {
		struct vt_moments a = draw_totals(rng, runs, 10000, 0.03);
		struct vt_moments b = draw_totals(rng, runs, 10000 * slower, vary);
		double n = (double)runs;
		double by_count = vt_count_test((uint64_t)(a.mean * n + 0.5),
						(uint64_t)(b.mean * n + 0.5), 0.5);

		grown += b.mean > a.mean && fmax(vt_mean_test(&a, &b), by_count) <= 0.05;
	}
	return grown;
}

/*
 * The total's own test at 5 %: a program that did not change has grown in 2.5 % of comparisons at
 * most (the other half shrank), also if one side varies more; 25 expected, and 5 the standard
 * deviation.  What it finds: runs vary by 3 %, and one by a hundredth in samples.
 */
static void test_total(void **state)
{
	static const struct {
		size_t runs;
		double slower, vary;
		unsigned least, most;
	} cases[] = {
		{3, 1, 0.03, 0, 40},	   {5, 1, 0.03, 0, 40},		{10, 1, 0.03, 0, 40},
		{3, 1, 0.15, 0, 40},	   {3, 1.05, 0.03, 200, 500},	{3, 1.1, 0.03, 550, 800},
		{5, 1.05, 0.03, 500, 800}, {10, 1.05, 0.03, 880, 1000}, {3, 2.5, 0.15, 800, 1000},
	};
	struct vt_rng rng;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned grown;

		vt_rng_init(&rng, 200 + i);
		grown = count_grown(&rng, cases[i].runs, cases[i].slower, cases[i].vary);
		print_message("# %zu runs a side, the total %g times as long, varying by %g: "
			      "grown in %.1f %%\n",
			      cases[i].runs, cases[i].slower, cases[i].vary, grown / 10.0);
		assert_in_range(grown, cases[i].least, cases[i].most);
	}
}

/* Variances 1 and 1, of three each: 4 degrees of freedom, where t is 2.776 at 5 %. */
static void test_least(void **state)
{
	static const double x[] = {1, 2, 3}, y[] = {11, 12, 13}, still[] = {4, 4};
	struct vt_moments a = moments_of(x, 3), b = moments_of(y, 3);
	struct vt_moments one = moments_of(x, 1), same = moments_of(still, 2);

	(void)state;
	NEAR(vt_mean_least(&a, &b, 0.05), 2.7764451052 * sqrt(2.0 / 3), 1e-9);
	NEAR(vt_mean_least(&a, &b, 0.01), 4.6040948713 * sqrt(2.0 / 3), 1e-9);
	/* One degree of freedom, and a level at which t is 636619: it is far from where we begin.
	 */
	a = moments_of(x, 2);
	NEAR(vt_mean_least(&a, &same, 1e-6), 636619.7723672 * 0.5, 1);
	NEAR(vt_mean_least(&same, &same, 0.05), 0, 0);
	assert_true(isnan(vt_mean_least(&one, &b, 0.05)));
	assert_true(isnan(vt_mean_least(&b, &one, 0.05)));
	assert_true(isnan(vt_mean_least(&b, &b, 0)));
	assert_true(isnan(vt_mean_least(&b, &b, 1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_total),	  cmocka_unit_test(test_least),
		cmocka_unit_test(test_moments),	  cmocka_unit_test(test_counts),
		cmocka_unit_test(test_means),	  cmocka_unit_test(test_level),
		cmocka_unit_test(test_discovery), cmocka_unit_test(test_shares),
		cmocka_unit_test(test_family),	  cmocka_unit_test(test_beta),
		cmocka_unit_test(test_unequal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
