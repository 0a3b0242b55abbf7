/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of branch stacks, and the lengths of runs: what stacks weigh by. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "freq/stack_length.h"
#include "freq/stack_window.h"
#include "tests/unit/freq/stacks.h"

static double since_of(const struct vt_stacktimes *t, double window)
{
	struct vt_stackruns r = vt_stackwindow_runs(t);

	return vt_stackwindow_since(&r, window);
}

static void share_of(const struct vt_stacktimes *t, double window, double before,
		     double parts[VT_STACK_PARTS])
{
	struct vt_stackruns r = vt_stackwindow_runs(t);

	vt_stackwindow_share(&r, window, before, parts);
}

/* What runs of 4 and of 12 cycles that take equally long are in a window of 8. */
static void test_since(void **state)
{
	struct vt_stacktimes t = {{0}};
	double parts[VT_STACK_PARTS];

	(void)state;
	vt_stacktimes_add(&t, 4, 3);
	assert_true(stacks_near(since_of(&t, 8), 2));
	assert_true(stacks_near(since_of(&t, 2), 2 - 2 * 2 / 8.0));
	share_of(&t, 8, 0, parts);
	assert_true(stacks_near(parts[0], 0.375) && stacks_near(parts[1], 0.375) &&
		    stacks_near(parts[2], 0.25));
	share_of(&t, 8, 4, parts);
	assert_true(stacks_near(parts[0] + parts[1] + parts[2] + parts[3], 0.5));
	assert_true(stacks_near(parts[3], 2 * 0.1875));
	vt_stacktimes_add(&t, 0, 100);
	assert_true(stacks_near(vt_stacktimes_sum(&t), 12));
	assert_int_equal(vt_stacktimes_bin(7), 7);
	assert_int_equal(vt_stacktimes_bin(8), 8);
	assert_int_equal(vt_stacktimes_bin(11), 8);
	assert_int_equal(vt_stacktimes_bin(12), 9);
	assert_int_equal(vt_stacktimes_bin(UINT16_MAX), VT_STACKWINDOW_TIMES - 1);
	assert_int_equal(vt_stacktimes_bin(UINT16_MAX + 1), VT_STACKWINDOW_TIMES - 1);
	assert_int_equal(vt_stacktimes_bin(UINT64_MAX), VT_STACKWINDOW_TIMES - 1);
}

/* What a branch counts for that was so many cycles before the sample. */
static double weight_at(double cycles, double window)
{
	double part = cycles / window;

	return part <= 0.5 ? 1 : part < 1 ? 2 * (1 - part) : 0;
}

/* What runs of so many cycles say of a branch, `at` cycles before the newest, in small steps. */
static void add_steps(uint64_t cycles, double part, double at, double window,
		      double parts[VT_STACK_PARTS], double *since)
{
	enum { STEPS = 4000 };
	static const double ends[] = {0.1875, 0.375, 0.5669873};
	double run = (double)cycles;
	unsigned i, in;

	/* In the middle of half an octave. */
	if (cycles >= 8)
		run = exp2((floor(2 * log2(run)) + 0.5) / 2);
	for (i = 0; i < STEPS; i++) {
		double x = (i + 0.5) * run / STEPS;

		for (in = 0; in < 3 && at + x > window * ends[in]; in++)
			continue;
		parts[in] += part / STEPS * weight_at(at + x, window);
		*since += part / STEPS * fmin(x, window);
	}
}

/* Runs of two lengths, in windows longer and shorter than they. */
static void test_shares(void **state)
{
	static const double windows[] = {4, 11.3, 16, 90.5, 1000};
	static const uint64_t cycles[] = {1, 3, 7, 8, 13, 100, 5000};
	unsigned i, k, before;

	(void)state;
	for (i = 0; i < 5 * 7 * 7; i++) {
		struct vt_stacktimes t = {{0}};
		double window = windows[i % 5], got[VT_STACK_PARTS];
		uint64_t one = cycles[i / 5 % 7], two = cycles[i / 35];
		double all = (double)(2 * one + 3 * two);

		vt_stacktimes_add(&t, one, 2);
		vt_stacktimes_add(&t, two, 3);
		assert_true(stacks_near(vt_stacktimes_sum(&t), all));
		for (before = 0; before < 3; before++) {
			double parts[VT_STACK_PARTS] = {0}, at = window * before * 0.35, since = 0;

			add_steps(one, (double)(2 * one) / all, at, window, parts, &since);
			add_steps(two, (double)(3 * two) / all, at, window, parts, &since);
			share_of(&t, window, at, got);
			for (k = 0; k < VT_STACK_PARTS; k++)
				if (fabs(got[k] - parts[k]) > 3e-4)
					fail_msg("row %u, %u: %g, not %g", i, before, got[k],
						 parts[k]);
			assert_true(fabs(since_of(&t, window) / since - 1) < 1e-4);
		}
	}
}

static void add_reaches(struct vt_stackreach *r, double reach, unsigned n)
{
	for (; n; n--)
		vt_stackreach_add(r, reach);
}

/* The reach that more than 2 % of the stacks do not get beyond. */
static void test_reaches(void **state)
{
	static const struct {
		unsigned n[3]; /* of 16, 32 and 64 cycles */
		double want;
	} rows[] = {{{1, 1, 98}, 64},	 {{1, 2, 97}, 32},    {{2, 0, 98}, 64},	  {{3, 0, 97}, 16},
		    {{50, 0, 2440}, 16}, {{50, 0, 2450}, 64}, {{0, 51, 2440}, 32}};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_stackreach r = {{0}};

		add_reaches(&r, 16, rows[i].n[0]);
		add_reaches(&r, 32, rows[i].n[1]);
		add_reaches(&r, 64, rows[i].n[2]);
		if (!stacks_near(vt_stackreach_window(&r), rows[i].want))
			fail_msg("row %u: %g", i, vt_stackreach_window(&r));
	}
	for (i = 0; i < 2; i++) {
		struct vt_stackreach r = {{0}};

		/* The first reach behind all that are told apart, and any. */
		vt_stackreach_add(&r, i ? 1e300 : exp2(VT_STACKWINDOW_REACHES / 2.0));
		assert_int_equal(r.stacks[VT_STACKWINDOW_REACHES - 1], 1);
	}
}

/* Runs of 4 and of 10 instructions, by weight; only what is kept is remembered. */
static void test_length_means(void **state)
{
	struct vt_stacklength l = {0};

	(void)state;
	vt_stacklength_add(&l, 0, 5);
	vt_stacklength_settle(&l, true);
	assert_true(vt_stacklength_mean(&l) == 0);
	vt_stacklength_add(&l, 4, 1);
	vt_stacklength_add(&l, 10, 2);
	vt_stacklength_settle(&l, false);
	assert_true(stacks_near(vt_stacklength_mean(&l), 24 / 3.0));
	vt_stacklength_add(&l, 4, 2);
	vt_stacklength_settle(&l, true);
	assert_true(stacks_near(vt_stacklength_mean(&l), 4));
	vt_stacklength_add(&l, 10, 1);
	vt_stacklength_settle(&l, true);
	assert_true(stacks_near(vt_stacklength_mean(&l), 18 / 3.0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_since),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_length_means),
		cmocka_unit_test(test_reaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
