/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of calibrations: each sentence where it follows from the figures, and only there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "listing/cycles/calibration.h"
#include "tests/unit/common/printed.h"

static struct vt_error err;

static struct vt_calibration make_calibration(void)
{
	struct vt_calibration c = {.event = "cpu-clock",
				   .cpu = "AuthenticAMD,25,1,1",
				   .nanoseconds = 1,
				   .period = 1e6,
				   .skid = {4000, 0.0025, 0.95},
				   .clock = 3,
				   .spread = 0.005,
				   .tsc = 2.5,
				   .multiply = 3,
				   .bound = {2.25, 6, 45}};

	c.rates[0] = (struct vt_calibration_rate){1000, 1000, 20e-6, 0.02, 2.75, 0.011};
	c.lengths[1] = (struct vt_calibration_length){20, 2000, -4, 0.5};
	return c;
}

static const char *print(const struct vt_calibration *c)
{
	struct vt_output out;

	print_begin(&out);
	assert_int_equal(vt_calibration_print(c, &out, &err), 0);
	return print_end(&out);
}

static void assert_says(const struct vt_calibration *c, const char *text, bool does)
{
	const char *all = print(c);

	if ((strstr(all, text) != NULL) != does)
		fail_msg("%s '%s' in:\n%s", does ? "no" : "there is", text, all);
}

static void test_figures(void **state)
{
	const struct vt_calibration c = make_calibration();

	(void)state;
	assert_says(&c, "sampled by cpu-clock on AuthenticAMD,25,1,1\n", true);
	assert_says(&c, "  on the load             0.2 %\n", true);
	assert_says(&c, "  one instruction on     95.0 %\n", true);
	assert_says(&c, "  elsewhere               4.8 %\n", true);
	assert_says(&c, "  3.000 GHz without samples (loops differ by 0.5 %)\n", true);
	assert_says(&c, "  2.500 GHz: the time-stamp counter\n", true);
	assert_says(&c, "     1000     20.0        2.0 %          2.750      1.1 %\n", true);
	assert_says(&c, "            20     2000      -4.0  0.5        -20.0 %\n", true);
}

static void test_instructions(void **state)
{
	struct vt_calibration c = make_calibration();

	(void)state;
	assert_says(&c, "charged\n  to the one before.", true);
	assert_says(&c, "WARNING", false);
	c.skid = (struct vt_skid){4000, 0.95, 0.01};
	assert_says(&c, "An instruction that waits long has its own samples.", true);
	assert_says(&c, "one before", false);
	c.skid = (struct vt_skid){4000, 0.4, 0.5};
	assert_says(&c, "Samples tell no instruction, only regions.", true);
}

static void test_regions(void **state)
{
	struct vt_calibration c = make_calibration();

	(void)state;
	assert_says(&c,
		    "wrong by up to 2.2 cycles a visit:\n  believe regions of at least 45 cycles",
		    true);
	c.bound.least = 0;
	assert_says(&c, "No region measured is within 5 %", true);
	assert_says(&c, "wrong by up to", false);
}

static void test_clock(void **state)
{
	struct vt_calibration c = make_calibration();

	(void)state;
	assert_says(&c, "agree within 1.1 % about the clock", true);
	assert_says(&c, "a nanosecond of a program's time is 2.75 cycles of its\n  work, not 3.00",
		    true);
	c.nanoseconds = 0;
	assert_says(&c, "nanosecond", false);
	c.spread = 0.02;
	assert_says(&c, "agree within 2.0 % about the clock", true);
}

static void test_warnings(void **state)
{
	struct vt_calibration c = make_calibration();

	(void)state;
	c.rates[0].cost = 50e-6;
	assert_says(&c, "WARNING", false);
	c.rates[0].cost = 51e-6;
	assert_says(&c, "WARNING: samples at the rate of vtrace record take 5.1 % of the time",
		    true);
	c.lost = 7;
	assert_says(&c, "WARNING: the kernel lost 7 samples.", true);
}

static void test_json(void **state)
{
	struct vt_calibration c = make_calibration();
	json_t *doc = vt_calibration_json(&c), *o;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(doc, "policy")), "interrupt");
	o = json_object_get(doc, "regions");
	assert_int_equal(json_integer_value(json_object_get(o, "least")), 45);
	assert_true(json_real_value(json_object_get(o, "error")) == 2.25);
	o = json_array_get(json_object_get(doc, "lengths"), 1);
	assert_int_equal(json_integer_value(json_object_get(o, "error")), -4);
	assert_true(json_real_value(json_object_get(o, "sigma")) == 0.5);
	o = json_array_get(json_object_get(doc, "rates"), 0);
	assert_true(json_real_value(json_object_get(o, "lost")) == 0.02);
	o = json_object_get(doc, "recording");
	assert_true(json_real_value(json_object_get(o, "lost")) > 0.0199);
	json_decref(doc);
	c.bound.least = 0;
	doc = vt_calibration_json(&c);
	assert_true(json_is_null(json_object_get(json_object_get(doc, "regions"), "least")));
	json_decref(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),	 cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_regions),	 cmocka_unit_test(test_clock),
		cmocka_unit_test(test_warnings), cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
