/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sums of pairs are worth: values, errors, intervals and confidences, by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairs/sum.h"

static void near(double got, double want)
{
	assert_true(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)));
}

static void test_values(void **state)
{
	struct vt_pairsum s = {.pairs = 400}, other = {.pairs = 1};
	struct vt_pairvalue v;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		vt_pairsum_add(&s, 3, 1);
		vt_pairsum_add(&s, 1, 1);
	}
	v = vt_pairsum_value(&s, false);
	near(v.value, 2);
	near(v.error, sqrt(200) / 200);
	near(v.high - v.value, 1.959964 * v.error);
	near(v.value - v.low, 1.959964 * v.error);
	assert_int_equal(v.confidence, VT_CONFIDENCE_HIGH);
	s.partial = true;
	assert_int_equal(vt_pairsum_value(&s, false).confidence, VT_CONFIDENCE_LOW);
	s.partial = false;
	s.pairs = 199;
	assert_int_equal(vt_pairsum_value(&s, false).confidence, VT_CONFIDENCE_MEDIUM);
	s.pairs = 29;
	assert_int_equal(vt_pairsum_value(&s, false).confidence, VT_CONFIDENCE_LOW);
	/* The squares are 1000, y is all 1: b = 400 / 200 * 180 / 200. */
	s.pairs = 180;
	v = vt_pairsum_value(&s, true);
	near(v.value, 400 - 1.8 * 200);
	near(v.error, sqrt(1000 - 2 * 1.8 * 400 + 1.8 * 1.8 * 200));
	/* One pair tells no error. */
	vt_pairsum_add(&other, 3, 1);
	v = vt_pairsum_value(&other, false);
	near(v.value, 3);
	assert_true(isinf(v.error) && isinf(v.low) && isinf(v.high));
	assert_int_equal(v.confidence, VT_CONFIDENCE_LOW);
	/* Nor do pairs that are all alike: none of the others counts, or all do. */
	for (i = 0; i < 2; i++) {
		struct vt_pairsum alike = {.pairs = 1000};
		int k;

		for (k = 0; k < 1000; k++)
			vt_pairsum_add(&alike, i * .1, .3);
		v = vt_pairsum_value(&alike, false);
		near(v.value, i / 3.0);
		assert_true(isinf(v.error) && isinf(v.low) && isinf(v.high));
		assert_int_equal(v.confidence, VT_CONFIDENCE_LOW);
		vt_pairsum_add(&alike, 1, .3);
		assert_true(isfinite(vt_pairsum_value(&alike, false).error));
	}
	vt_pairsum_join(&other, &s);
	assert_int_equal(other.pairs, 181);
	near(other.x, 403);
	near(other.x2, 1009);
	assert_int_equal(vt_pairsum_value(&(struct vt_pairsum){0}, true).confidence,
			 VT_CONFIDENCE_NONE);
	assert_false(vt_pairsum_is_valid(&s)); /* 200 groups of 180 pairs */
	s.pairs = 200;
	assert_true(vt_pairsum_is_valid(&s));
	s.x2 = 799; /* 400 squared, of 200 */
	assert_false(vt_pairsum_is_valid(&s));
	s.x2 = 1000;
	s.y2 = 199;
	assert_false(vt_pairsum_is_valid(&s));
	s.y2 = 200;
	s.xy = 448; /* squared more than 1000 * 200 */
	assert_false(vt_pairsum_is_valid(&s));
	s.xy = 447;
	assert_true(vt_pairsum_is_valid(&s));
	s.y = 0;
	assert_true(isnan(vt_pairsum_value(&s, false).value));
	s.xy = NAN;
	assert_false(vt_pairsum_is_valid(&s));
	s.xy = 0;
	s.y2 = -1;
	assert_false(vt_pairsum_is_valid(&s));
	s.y2 = INFINITY;
	assert_false(vt_pairsum_is_valid(&s));
}

/* Executed code: what is missing, and what is all alike. */
static void test_counted_sums(void **state)
{
	struct vt_pairsum s = {.pairs = 900, .counted = true};
	struct vt_pairvalue v;
	int i;

	(void)state;
	for (i = 0; i < 29; i++)
		vt_pairsum_add(&s, 3, 2);
	assert_true(isinf(vt_pairsum_value(&s, false).error));
	vt_pairsum_add(&s, 3, 2);
	v = vt_pairsum_value(&s, false);
	assert_true(v.value == 1.5 && v.error == 0 && v.low == 1.5 && v.high == 1.5);
	assert_int_equal(v.confidence, VT_CONFIDENCE_HIGH);
	s.missing = 100;
	assert_int_equal(vt_pairsum_value(&s, false).confidence, VT_CONFIDENCE_HIGH);
	s.missing = 101; /* more than a tenth of 1001 */
	assert_int_equal(vt_pairsum_value(&s, false).confidence, VT_CONFIDENCE_LOW);
	s.missing = 900;
	assert_true(vt_pairsum_value(&s, false).value == 1.5);
	s.missing = 901;
	v = vt_pairsum_value(&s, false);
	assert_true(isnan(v.value) && isnan(v.error) && isnan(v.low) && isnan(v.high));
	assert_int_equal(v.confidence, VT_CONFIDENCE_NONE);
	vt_pairsum_join(&s, &(struct vt_pairsum){.pairs = 1});
	assert_int_equal(s.missing, 901);
	assert_true(vt_pairsum_value(&s, false).value == 1.5);
	s.missing = UINT64_MAX;
	assert_false(vt_pairsum_is_valid(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_counted_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
