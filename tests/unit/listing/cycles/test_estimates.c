/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How good estimates are, and what was left out, as text and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "listing/cycles/estimates.h"
#include "tests/unit/common/printed.h"

static const struct vt_losses losses;

static void check_left_out(const struct vt_freqrun_totals *t, const char *want)
{
	const struct vt_freqrun_options o = {.event = SIZE_MAX};
	struct vt_buf b = VT_BUF_INIT;

	vt_freqrun_left_out(&o, t, &b);
	assert_string_equal(vt_buf_str(&b), want);
	vt_buf_free(&b);
}

/* Less than one in a hundred is what every program has. */
static void test_left_out(void **state)
{
	struct vt_freqrun_totals t = {.samples = 1000};

	(void)state;
	check_left_out(&t, "");
	t.stray = 9;
	check_left_out(&t, "");
	t.stray = 10;
	check_left_out(&t, "10 of 1000 samples are left out: 10 at no instruction");
	t.unmapped = 3;
	t.no_code = 2;
	check_left_out(&t, "15 of 1000 samples are left out: 3 in no known memory, "
			   "2 in procedures whose code is not there, 10 at no instruction");
}

/* 200 samples, of which half and three quarters are within 5 and 10 %. */
static struct vt_freqcompare make_compared(void)
{
	struct vt_freqcompare c = {.samples = 210, .not_counted = 4, .missing = 6, .scale = 1};

	c.insns = (struct vt_freqcompare_part){200, {100, 150, 180}, 30, 20, {[3] = 50}};
	c.by_confidence[VT_CONFIDENCE_HIGH] =
		(struct vt_freqcompare_part){50, {50, 50, 50}, 1, 1, {0}};
	return c;
}

static void test_compared(void **state)
{
	struct vt_freqcompare c = make_compared();
	struct vt_output out;

	(void)state;
	print_begin(&out);
	vt_freqcompare_print(&c, NULL, &out);
	assert_string_equal(
		print_end(&out),
		"210 samples, 4 of them where nothing was counted, 6 without an estimate\n\n"
		"estimates            share    to 5%   to 10%   to 15%    error distance\n"
		"instructions        100.0%    50.0%    75.0%    90.0%    15.0%    10.0%\n"
		"  high               25.0%   100.0%   100.0%   100.0%     2.0%     2.0%\n");
	c = (struct vt_freqcompare){.samples = 1, .scale = 2.5};
	print_begin(&out);
	vt_freqcompare_print(&c, NULL, &out);
	assert_non_null(strstr(print_end(&out), "1 samples; estimates times 2.5, which fits best"));
}

static void test_compared_json(void **state)
{
	static const char *const wanted[] = {
		"\"schema\": \"vcmp-truth/1\"",
		"\"5\": 50.0",
		"\"weighted_error\": 15.0",
		"\"weighted_distance\": 10.0",
		"\"samples_not_counted\": 4",
		"\"samples_without_estimate\": 6",
		"\"share\": 25.0",
		"\"missed\": 10.0",
		"\"edge_executions\": 0.0",
		"\"edges_within_10\": 0.0",
	};
	struct vt_freqcompare c = make_compared();
	struct vt_output out;
	const char *text;
	size_t i;

	(void)state;
	c.by_confidence[VT_CONFIDENCE_LOW] =
		(struct vt_freqcompare_part){150, {50, 100, 130}, 29, 19, {0}};
	print_begin(&out);
	vt_freqcompare_print(&c, &losses, &out);
	text = print_end(&out);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strstr(text, wanted[i]))
			fail_msg("%s is not in %s", wanted[i], text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_compared),
		cmocka_unit_test(test_compared_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
