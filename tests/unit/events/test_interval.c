/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "events/bins.h"
#include "events/check.h"
#include "events/interval.h"

static void assert_near(double got, double want, double within)
{
	if (!(fabs(got - want) <= within))
		fail_msg("%.9g is not within %g of %.9g", got, within, want);
}

/* Tables of Garwood's intervals, as in Johnson, Kotz and Kemp. */
static void poisson_intervals(void **state)
{
	static const struct {
		double k, low, high;
	} known[] = {{0, 0, 3.6889},	   {1, 0.0253, 5.5716},	  {2, 0.2422, 7.2247},
		     {5, 1.6235, 11.6683}, {10, 4.7954, 18.3904}, {29, 19.4218, 41.6488}};
	double low, high;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		vt_poisson_interval(known[i].k, &low, &high);
		assert_near(low, known[i].low, 6e-5);
		assert_near(high, known[i].high, 6e-5);
	}
	assert_near(vt_incomplete_gamma(1, 1), 1 - exp(-1), 1e-14);
	assert_near(vt_incomplete_gamma(0.5, 1), erf(1), 1e-13);
	assert_near(vt_incomplete_gamma(200, 200), 0.5094034, 1e-7);
}

static void weighted_intervals(void **state)
{
	double low, high;

	(void)state;
	/* 5 samples of 1000 */
	vt_weighted_interval(5000, 5e6, 1000, 1, &low, &high);
	assert_near(low, 1623.5, 0.06);
	assert_near(high, 11668.3, 0.06);
	/* none of 2000: the upper bound is that of 0 */
	vt_weighted_interval(0, 0, 2000, 1, &low, &high);
	assert_near(low, 0, 0);
	assert_near(high, 7377.8, 0.06);
	/* 100 samples of 1000: 1.96 times the root of the sum of squares */
	vt_weighted_interval(100000, 1e8, 1000, 1, &low, &high);
	assert_near(low, 100000 - 19599.64, 0.01);
	assert_near(high, 100000 + 19599.64, 0.01);
	/* with 4 times the variance, they are worth 25 */
	vt_weighted_interval(100000, 1e8, 1000, 4, &low, &high);
	assert_near(low, 4000 * 16.1787, 1);
	assert_near(high, 4000 * 36.9049, 1);
}

static void mean_intervals(void **state)
{
	const struct vt_sampled_mean own = {.n = 9, .mean = 2, .square = 6};
	const struct vt_sampled_mean alike = {.n = 9, .mean = 2, .square = 4};
	double low, high;

	(void)state;
	assert_near(vt_student_quantile(1), 12.7062, 1e-3);
	assert_near(vt_student_quantile(9), 2.26216, 1e-4);
	assert_near(vt_student_quantile(1e6), 1.95996, 1e-4);
	/* squares 9 * (6 - 2 * 2), and 7 of one more */
	vt_mean_interval(&own, 7, &low, &high);
	assert_near(low, 2 - 2.26216 * sqrt(25) / 9, 1e-4);
	assert_near(high, 2 + 2.26216 * sqrt(25) / 9, 1e-4);
	vt_mean_interval(&alike, 16, &low, &high);
	assert_near(low, 2 - 2.26216 * 4 / 9, 1e-4);
	vt_mean_interval(&alike, 100, &low, &high);
	assert_true(low == 0);
	assert_near(high, 2 + 2.26216 * 10 / 9, 1e-4);
}

static void bins_of_numbers(void **state)
{
	struct vt_evbins b = {0};
	uint32_t i;

	(void)state;
	assert_int_equal(vt_evbins_of(31), 31);
	assert_int_equal(vt_evbins_of(32), 32);
	assert_int_equal(vt_evbins_of(33), 32);
	assert_int_equal(vt_evbins_of(63), 47);
	assert_int_equal(vt_evbins_of(64), 48);
	assert_int_equal(vt_evbins_of(UINT64_MAX), VT_EVBINS_MAX - 1);
	for (i = 0; i < VT_EVBINS_MAX; i++) {
		uint64_t low = vt_evbins_low(i), last = low + (vt_evbins_width(i) - 1);

		assert_int_equal(vt_evbins_of(low), i);
		assert_int_equal(vt_evbins_of(last), i);
		if (i + 1 < VT_EVBINS_MAX)
			assert_true(vt_evbins_low(i + 1) == last + 1);
	}
	assert_true(isnan(vt_evbins_quantile(&b, 0.5)));
	for (i = 1; i <= 20; i++)
		assert_true(vt_evbins_add(&b, vt_evbins_of(i), 1));
	assert_near(vt_evbins_quantile(&b, 0.5), 10, 0);
	assert_near(vt_evbins_quantile(&b, 0.95), 19, 0);
	assert_true(vt_evbins_add(&b, vt_evbins_of(100), 1000));
	assert_near(vt_evbins_quantile(&b, 0.5), 101.5, 0);
	assert_near(vt_evbins_total(&b), 1020, 0);
	vt_evbins_fini(&b);
}

static void random_samples(void **state)
{
	static const double even[] = {10, 10, 10, 10}, odd[] = {40, 0, 0, 0};
	static const double shares[] = {4, 1, 1, 2}, samples[] = {40, 10, 10, 20};
	struct vt_evcheck c = {0};
	int i;

	(void)state;
	vt_evcheck_add(&c, even, NULL, 4);
	vt_evcheck_add(&c, samples, shares, 4);
	assert_near(c.squares, 0, 1e-12);
	assert_near(c.freedom, 6, 0);
	assert_false(vt_evcheck_known(&c));
	/* one instruction, and no samples, tell nothing */
	vt_evcheck_add(&c, even, NULL, 1);
	vt_evcheck_add(&c, odd + 1, NULL, 3);
	assert_near(c.freedom, 6, 0);
	/* 900 / 10 + 3 * 100 / 10 */
	vt_evcheck_add(&c, odd, NULL, 4);
	assert_near(c.squares, 120, 1e-9);
	vt_evcheck_add(&c, even, NULL, 4);
	assert_true(vt_evcheck_known(&c));
	assert_true(vt_evcheck_differs(&c));
	assert_near(vt_evcheck_factor(&c), 10, 1e-9);
	/* as much as chance: no factor */
	c = (struct vt_evcheck){.squares = 110, .freedom = 100};
	assert_false(vt_evcheck_differs(&c));
	assert_near(vt_evcheck_factor(&c), 1, 0);
	/* the 99.9 % quantile of 100 degrees of freedom is 149.45 */
	for (i = 0; i < 2; i++) {
		c.squares = i ? 150 : 149;
		assert_int_equal(vt_evcheck_differs(&c), i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poisson_intervals), cmocka_unit_test(weighted_intervals),
		cmocka_unit_test(mean_intervals),    cmocka_unit_test(bins_of_numbers),
		cmocka_unit_test(random_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
