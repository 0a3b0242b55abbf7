/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What listings ask of a single location or object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "memory/memory.h"
#include "value/hot_record.h"

/* Zeros are counted beside the list, or are in it alone if they are parts of wider values. */
static void test_top_loads(void **state)
{
	uint64_t values[] = {7, 0, 8, 9}, counts[] = {10, 9, 8, 4}, errors[] = {0, 3, 2, 0};
	const struct vt_hot bounds = {
		.nvalues = 4, .values = values, .counts = counts, .errors = errors};
	const struct vt_hot exact = {.nvalues = 4, .values = values, .counts = counts};
	const struct vt_hot none = {.nvalues = 0};
	static const struct {
		unsigned zero, n, bounds, exact;
	} cases[] = {{0, 0, 0, 0},   {0, 1, 10, 10},  {0, 2, 16, 19},  {0, 3, 22, 27},
		     {9, 1, 10, 10}, {9, 2, 19, 19},  {9, 3, 25, 27},  {9, 4, 29, 31},
		     {9, 5, 29, 31}, {11, 1, 11, 11}, {11, 2, 21, 21}, {5, 4, 26, 31}};
	struct vt_memory_location l = {.offset = 0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		l.counts.zero = cases[i].zero;
		assert_int_equal(vt_memory_top_loads(&l, &bounds, cases[i].n), cases[i].bounds);
		assert_int_equal(vt_memory_top_loads(&l, &exact, cases[i].n), cases[i].exact);
		assert_int_equal(vt_memory_top_loads(&l, &none, cases[i].n),
				 cases[i].n ? cases[i].zero : 0);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(vt_object_type_name(VT_OBJECT_GLOBAL), "global");
	assert_string_equal(vt_object_type_name(VT_OBJECT_OTHER), "other");
	assert_string_equal(vt_object_type_name(VT_NOBJECTTYPES), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_loads),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
