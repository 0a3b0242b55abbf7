/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the intervals of shares: known values, all outcomes of small samples, draws of chance.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "profile/share.h"

#define NEAR(a, b, by)                                                                             \
	do {                                                                                       \
		double a_ = (a), b_ = (b);                                                         \
		if (!(fabs(a_ - b_) <= (by)))                                                      \
			fail_msg("%s is %.17g, not %.17g", #a, a_, b_);                            \
	} while (0)

static struct vt_share of_counts(uint64_t part, uint64_t whole)
{
	return vt_share_of((struct vt_tally){.samples = part}, (struct vt_tally){.samples = whole},
			   false);
}

/* The examples of Newcombe's table I, method 4. */
static void test_published(void **state)
{
	static const struct {
		uint64_t part, whole;
		double low, high;
	} table[] = {
		{81, 263, .2535, .3682},
		{15, 148, .0598, .1644},
		{0, 20, 0, .2005},
		{1, 29, .0018, .1963},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct vt_share s = of_counts(table[i].part, table[i].whole);

		assert_true(s.known);
		NEAR(s.low, table[i].low, 5e-5);
		NEAR(s.high, table[i].high, 5e-5);
		s = of_counts(table[i].whole - table[i].part, table[i].whole);
		NEAR(s.low, 1 - table[i].high, 5e-5);
		NEAR(s.high, 1 - table[i].low, 5e-5);
	}
}

static double binomial(unsigned n, unsigned k, double p)
{
	return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
		   (n - k) * log1p(-p));
}

/* The probability that the interval holds the true share, over all outcomes. */
static double coverage(unsigned n, double p)
{
	double sum = 0;
	unsigned k;

	for (k = 0; k <= n; k++) {
		struct vt_share s = of_counts(k, n);

		if (s.low <= p && p <= s.high)
			sum += binomial(n, k, p);
	}
	return sum;
}

static const double shares[] = {.001, .01, .12, .5, .99};

static void test_coverage(void **state)
{
	static const unsigned sizes[] = {1, 2, 5, 10, 50, 1000, 64000};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (j = 0; j < sizeof(shares) / sizeof(*shares); j++) {
			double c = coverage(sizes[i], shares[j]);

			if (c < .945)
				fail_msg("%u samples of %g: %g", sizes[i], shares[j], c);
		}
	}
	for (i = 1; i < 200; i++)
		if (coverage(50, (double)i / 200) < .94)
			fail_msg("50 samples of %g", (double)i / 200);
}

static double uniform(struct vt_rng *rng)
{
	return (double)(vt_rng_next(rng) >> 11) / 9007199254740992.0;
}

/* Weights of frequency mode: most alike, some much smaller; the part's may be smaller, too. */
static uint64_t draw_weight(struct vt_rng *rng, bool in, bool related)
{
	double u = uniform(rng);
	double w = u < .2 ? 1 + 200 * u : 1000 + 1000 * u;

	return (uint64_t)(in && related ? w / 2 + 1 : w);
}

static double covered(struct vt_rng *rng, unsigned n, double p, bool related, unsigned runs)
{
	/* The mean weight of the part and of the rest, as draw_weight() has them. */
	double mean = .2 * 21 + .8 * 1600, part = related ? mean / 2 + 1 : mean;
	double truth = p * part / (p * part + (1 - p) * mean);
	unsigned run, i, hits = 0;

	for (run = 0; run < runs; run++) {
		struct vt_tally t[2] = {{0}, {0}};
		struct vt_share s;

		for (i = 0; i < n; i++) {
			bool in = uniform(rng) < p;
			uint64_t w = draw_weight(rng, in, related);
			const struct vt_tally one = {1, w, vt_tally_squares(1, w)};

			vt_tally_add(&t[1], one);
			if (in)
				vt_tally_add(&t[0], one);
		}
		s = vt_share_of(t[0], t[1], true);
		hits += s.low <= truth && truth <= s.high;
	}
	return (double)hits / runs;
}

static void test_weighted_coverage(void **state)
{
	static const struct {
		unsigned n, runs;
	} sizes[] = {{50, 10000}, {1000, 1000}, {64000, 500}};
	struct vt_rng rng;
	size_t i, j;
	int related;

	(void)state;
	vt_rng_init(&rng, 1);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (j = 0; j < sizeof(shares) / sizeof(*shares); j++) {
			for (related = 0; related < (sizes[i].n > 1000 ? 1 : 2); related++) {
				double c = covered(&rng, sizes[i].n, shares[j], related,
						   sizes[i].runs);

				if (c < .93)
					fail_msg("%u samples of %g: %g", sizes[i].n, shares[j], c);
			}
		}
	}
}

static void test_weights(void **state)
{
	/* Two samples of weight 3, in the part, and four of 1. */
	struct vt_share s =
		vt_share_of((struct vt_tally){2, 6, 18}, (struct vt_tally){6, 10, 22}, true);

	(void)state;
	NEAR(s.part, .6, 1e-12);
	/* Variance (.4^2 * 18 + .6^2 * 4) / 10^2 = .0432; .24 / .0432 > 10^2 / 22. */
	NEAR(s.samples, 100.0 / 22, 1e-12);
	/* The part's weights alone are large: (.9^2 * 100 + .1^2 * 90) / 100^2. */
	s = vt_share_of((struct vt_tally){1, 10, 100}, (struct vt_tally){91, 100, 190}, true);
	NEAR(s.samples, .09 / .00819, 1e-12);
	/* Equal weights are as none, known or not. */
	s = vt_share_of((struct vt_tally){81, 810, 8100}, (struct vt_tally){263, 2630, 26300},
			true);
	NEAR(s.samples, 263, 1e-9);
	NEAR(s.low, .2535, 5e-5);
	s = vt_share_of((struct vt_tally){81, 810, 0}, (struct vt_tally){263, 2630, 0}, true);
	NEAR(s.samples, 263, 1e-9);
}

static void test_unknown(void **state)
{
	struct vt_profile_event e = {.kind = VT_PROFILE_EVENT, .samples = 10, .period = 10};
	const struct vt_tally part = {1, 1, 1};
	struct vt_share s;

	(void)state;
	assert_false(of_counts(0, 0).known);
	assert_false(vt_share_of(part, (struct vt_tally){1, 0, 0}, true).known);
	assert_true(vt_share_of_event(&e, part, false).known);
	e.sampling = 1; /* nothing was left out */
	assert_false(vt_share_of_event(&e, part, false).known);
	e.sampling = 0;
	e.kind = VT_PROFILE_EXECUTED;
	assert_false(vt_share_of_event(&e, part, false).known);
	/* Counts that contradict themselves, and huge ones. */
	s = of_counts(7, 3);
	NEAR(s.part, 1, 0);
	NEAR(s.high, 1, 0);
	s = of_counts(UINT64_MAX / 2, UINT64_MAX);
	NEAR(s.low, .5, 1e-9);
	s = vt_share_of((struct vt_tally){1, UINT64_MAX, INFINITY},
			(struct vt_tally){2, UINT64_MAX, INFINITY}, true);
	assert_true(s.low >= 0 && s.low <= s.part && s.part <= s.high && s.high <= 1);
}

static void test_missing(void **state)
{
	struct vt_share s = of_counts(1094, 3545);
	uint64_t more = vt_share_missing(&s, 3545, .01);

	(void)state;
	/* 1.96^2 * .3086 * .6914 / .01^2 = 8197, and 50 for the correction on each side. */
	assert_in_range(more, 8197 + 50 - 3545, 8197 + 250 - 3545);
	s.samples = (double)(3545 + more);
	s = vt_share_of((struct vt_tally){.samples = (uint64_t)(s.part * s.samples)},
			(struct vt_tally){.samples = 3545 + more}, false);
	NEAR(vt_share_half(&s), .01, 1e-5);
	s = of_counts(5000, 10000);
	NEAR(vt_share_half(&s), .00985, 1e-5);
	assert_int_equal(vt_share_missing(&s, 10000, .01), 0);
	/* None of one sample: the upper bound must come down from nearly 1. */
	s = of_counts(0, 1);
	assert_in_range(vt_share_missing(&s, 1, .01), 450, 500);
	/* Of weighted samples, more by as much as the weights cost. */
	s = vt_share_of((struct vt_tally){50, 1000, 20000 * 2},
			(struct vt_tally){100, 2000, 40000 * 2}, true);
	NEAR(s.samples, 50, 1e-9);
	more = vt_share_missing(&s, 100, .01);
	s = of_counts(25, 50);
	NEAR((double)more, 2.0 * (double)vt_share_missing(&s, 50, .01), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),	  cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_weighted_coverage), cmocka_unit_test(test_weights),
		cmocka_unit_test(test_unknown),		  cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
