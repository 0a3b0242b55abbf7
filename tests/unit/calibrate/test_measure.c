/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What samples and times of loops tell, of numbers whose results are arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/measure.h"

static void assert_near(double found, double wanted)
{
	if (!(fabs(found - wanted) <= 1e-9 * (1 + fabs(wanted))))
		fail_msg("%.12g, not %.12g", found, wanted);
}

static void test_median(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {8, 1, 4, 2};

	(void)state;
	assert_near(vt_median(odd, 3), 2);
	assert_near(vt_median(even, 4), 3);
	assert_near(vt_median(odd, 1), 1);
	assert_near(vt_median(odd, 0), 0);
}

static enum vt_policy policy_of(uint64_t own, uint64_t next, uint64_t other)
{
	const uint64_t samples[] = {own, next, other};
	struct vt_skid s = vt_skid_find(samples, 3, 0);

	return vt_skid_policy(&s);
}

static void test_skid(void **state)
{
	const uint64_t samples[] = {150, 20, 10, 20};
	struct vt_skid s = vt_skid_find(samples, 4, 1);

	(void)state;
	assert_near(s.samples, 200);
	assert_near(s.own, 0.1);
	assert_near(s.next, 0.05);
	/* Behind the last instruction comes the first. */
	s = vt_skid_find(samples, 4, 3);
	assert_near(s.next, 0.75);
	assert_int_equal(policy_of(80, 10, 10), VT_POLICY_PRECISE);
	assert_int_equal(policy_of(79, 11, 10), VT_POLICY_UNKNOWN);
	assert_int_equal(policy_of(10, 80, 10), VT_POLICY_INTERRUPT);
	assert_int_equal(policy_of(10, 79, 11), VT_POLICY_UNKNOWN);
	/* Too few. */
	assert_int_equal(policy_of(0, 99, 0), VT_POLICY_UNKNOWN);
	assert_int_equal(policy_of(0, 100, 0), VT_POLICY_INTERRUPT);
	assert_int_equal(policy_of(0, 0, 0), VT_POLICY_UNKNOWN);
}

static void test_charge(void **state)
{
	uint64_t samples[] = {7, 1, 2}, one[] = {5};

	(void)state;
	vt_skid_charge(VT_POLICY_PRECISE, samples, 3);
	assert_int_equal(samples[0], 7);
	vt_skid_charge(VT_POLICY_UNKNOWN, samples, 3);
	assert_int_equal(samples[0], 7);
	vt_skid_charge(VT_POLICY_INTERRUPT, samples, 3);
	assert_int_equal(samples[0], 1);
	assert_int_equal(samples[1], 2);
	assert_int_equal(samples[2], 7);
	vt_skid_charge(VT_POLICY_INTERRUPT, one, 1);
	assert_int_equal(one[0], 5);
	vt_skid_charge(VT_POLICY_INTERRUPT, one, 0);
}

static void test_clocks(void **state)
{
	/* 3 and 3.2 GHz bare; of the sampled time, 3000 of 12000 us are lost. */
	const struct vt_timed_loop loops[] = {
		{.cycles = 12e6, .bare_ns = 4e6, .sampled_ns = 5e6, .samples = 5},
		{.cycles = 16e6, .bare_ns = 5e6, .sampled_ns = 7e6, .samples = 7},
	};
	struct vt_timed_loop none = {.cycles = 12e6, .bare_ns = 4e6};
	struct vt_spread s = vt_clock_bare(loops, 2);
	struct vt_interrupts i = vt_interrupts_find(loops, 2);

	(void)state;
	assert_near(s.mean, 3.1);
	assert_near(s.width, 0.2 / 3.1);
	assert_near(i.rate, 1000);
	assert_near(i.cost, 3e-3 / 12);
	assert_near(i.lost, 0.25);
	/* 12 million units in 12 million ns: 12/5 and 16/7 cycles in each. */
	s = vt_clock_effective(loops, 2, 1e6);
	assert_near(s.mean, (2.4 + 16 / 7.) / 2);
	assert_near(s.width, (2.4 - 16 / 7.) / s.mean);
	/* Of an event that counts cycles, four in a ns. */
	s = vt_clock_effective(loops, 2, 4e6);
	assert_near(s.mean, (2.4 + 16 / 7.) / 8);
	assert_near(vt_clock_effective(&none, 1, 1e6).mean, 0);
	assert_near(vt_interrupts_find(&none, 1).cost, 0);
}

static void test_regions(void **state)
{
	const struct vt_serial r = {.count = 3, .cycles = {6, 6, 12}, .samples = {200, 300, 100}};
	const struct vt_serial none = {.count = 3, .cycles = {6, 6, 12}};
	struct vt_serial_errors e = vt_serial_compare(&r);

	(void)state;
	/* Of 24 cycles, 8, 12 and 4. */
	assert_int_equal(e.count, 3);
	assert_near(e.cycles, 8);
	assert_near(e.samples, 600);
	assert_near(e.error[0], 2);
	assert_near(e.error[1], 6);
	assert_near(e.error[2], -8);
	assert_near(e.sigma[0], 24 * sqrt(0.25 * 0.75 / 600));
	assert_near(e.sigma[2], 24 * sqrt(0.5 * 0.5 / 600));
	assert_int_equal(vt_serial_worst(&e), 2);
	assert_int_equal(vt_serial_compare(&none).count, 0);
}

/* Two regions with opposite errors. */
static struct vt_serial_errors two_regions(double cycles, double error, double sigma)
{
	return (struct vt_serial_errors){.count = 2,
					 .cycles = cycles,
					 .samples = 1000,
					 .error = {error, -error},
					 .sigma = {sigma, sigma}};
}

static void test_bound(void **state)
{
	struct vt_serial_errors e[] = {two_regions(6, 2, 1), two_regions(48, 2, 1),
				       two_regions(96, 2, 1)};
	const double unsure = 1.96 / sqrt(3);
	struct vt_serial_bound b = {0};

	(void)state;
	assert_true(vt_serial_bound(e, 3, &b));
	assert_near(b.error, 2 + unsure);
	assert_near(b.from, 6);
	assert_near(b.least, 63); /* of 62.6 */
	/* Where the error would be small is longer than all that was measured. */
	e[2].cycles = 62;
	assert_false(vt_serial_bound(e, 3, &b));
	e[2].cycles = 63;
	assert_true(vt_serial_bound(e, 3, &b));
	/* Too few lengths. */
	assert_false(vt_serial_bound(e, 2, &b));
	assert_false(vt_serial_bound(e, 0, &b));
	/* No samples of one. */
	e[1].count = 0;
	assert_false(vt_serial_bound(e, 3, &b));
}

/* What skids by more than a short region's length shows less of it there. */
static void test_bound_of_long_skid(void **state)
{
	struct vt_serial_errors e[] = {two_regions(6, 1, 0.1), two_regions(24, 20, 0.4),
				       two_regions(96, 30, 1), two_regions(384, 30, 1),
				       two_regions(1536, 30, 1)};
	struct vt_serial_bound b;

	(void)state;
	assert_true(vt_serial_bound(e, 5, &b));
	assert_near(b.from, 96);
	assert_near(b.error, 30 + 1.96 / sqrt(3));
	assert_near(b.least, 623); /* of 622.6 */
	/* Errors that grow with the length are of no region's ends. */
	e[4].error[0] = 60;
	assert_false(vt_serial_bound(e, 5, &b));
}

/* A region is believed for what its error is, but no shorter than those that showed it. */
static void test_bound_by_length(void **state)
{
	struct vt_serial_errors e[] = {two_regions(6, 9, 0.1), two_regions(100, 0, 0.1),
				       two_regions(200, 0, 0.1), two_regions(400, 0, 0.1)};
	struct vt_serial_bound b;

	(void)state;
	assert_true(vt_serial_bound(e, 4, &b));
	assert_near(b.error, 0.196 / sqrt(3));
	assert_near(b.from, 100);
	assert_near(b.least, 100);
	/* The region that is wrong most. */
	e[1].error[1] = e[2].error[1] = e[3].error[1] = -6;
	assert_true(vt_serial_bound(e, 4, &b));
	assert_near(b.error, 6 + 0.196 / sqrt(3));
	assert_near(b.least, 123); /* of 122.3 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_skid),
		cmocka_unit_test(test_charge),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_bound_of_long_skid),
		cmocka_unit_test(test_bound_by_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
