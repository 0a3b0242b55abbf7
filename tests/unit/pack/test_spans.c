/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges that are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pack/internal.h"

static void joined_where_they_are_near(void **state)
{
	struct vti_spans s = {.count = 0};

	(void)state;
	assert_true(vti_spans_add(&s, 30, 40));
	assert_true(vti_spans_add(&s, 10, 20));
	assert_true(vti_spans_add(&s, 12, 15)); /* inside */
	assert_true(vti_spans_add(&s, 24, 26)); /* 4 after one, 4 before another */
	assert_true(vti_spans_add(&s, 50, 50)); /* empty */
	assert_true(vti_spans_add(&s, 45, 46)); /* 5 after */
	vti_spans_join(&s, 4);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.v[0].first, 10);
	assert_int_equal(s.v[0].end, 40);
	assert_int_equal(s.v[1].first, 45);
	assert_int_equal(s.v[1].end, 46);
	assert_false(vti_spans_hold(&s, 9));
	assert_true(vti_spans_hold(&s, 10));
	assert_true(vti_spans_hold(&s, 39));
	assert_false(vti_spans_hold(&s, 40));
	assert_false(vti_spans_hold(&s, 46));
	free(s.v);
}

static void of_none(void **state)
{
	struct vti_spans s = {.count = 0};

	(void)state;
	vti_spans_join(&s, 4);
	assert_int_equal(s.count, 0);
	assert_false(vti_spans_hold(&s, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_where_they_are_near),
		cmocka_unit_test(of_none),
	};

	return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
