/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of memory levels by the latencies of loads that are known to hit them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/levels.h"

#define N 10

static struct vt_level_times times[VT_LEVELS_MAX];
static struct vt_level_class classes[VT_LEVELS_MAX];
static uint32_t ticks[VT_LEVELS_MAX][N];

static void set_times(unsigned level, const uint32_t t[N])
{
	unsigned i;

	for (i = 0; i < N; i++)
		ticks[level][i] = t[i];
	times[level] = (struct vt_level_times){ticks[level], N};
}

static int clear_times(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < VT_LEVELS_MAX; i++)
		times[i].count = 0;
	return 0;
}

static void assert_class(unsigned i, uint32_t levels, uint32_t end, double right)
{
	assert_int_equal(classes[i].levels, levels);
	assert_int_equal(classes[i].end, end);
	assert_true(classes[i].right > right - 1e-9 && classes[i].right < right + 1e-9);
}

/* Ends lie in the middle of the gaps: 5 to 14, 16 to 40, 44 to 200. */
static void tells_four_levels_apart(void **state)
{
	(void)state;
	set_times(0, (uint32_t[N]){5, 4, 4, 4, 4, 4, 4, 4, 5, 4});
	set_times(1, (uint32_t[N]){14, 15, 14, 14, 16, 14, 14, 14, 14, 14});
	set_times(2, (uint32_t[N]){44, 40, 40, 41, 40, 40, 42, 40, 40, 40});
	set_times(3, (uint32_t[N]){200, 220, 900, 210, 300, 250, 200, 205, 230, 240});
	assert_int_equal(vt_levels_find(times, classes), 4);
	assert_class(0, 1, 10, 1);
	assert_class(1, 2, 28, 1);
	assert_class(2, 4, 122, 1);
	assert_class(3, 8, UINT32_MAX, 1);
	assert_ptr_equal(vt_levels_class(classes, 4, 9), &classes[0]);
	assert_ptr_equal(vt_levels_class(classes, 4, 10), &classes[1]);
	assert_ptr_equal(vt_levels_class(classes, 4, 121), &classes[2]);
	assert_ptr_equal(vt_levels_class(classes, 4, 122), &classes[3]);
	assert_ptr_equal(vt_levels_class(classes, 4, UINT32_MAX), &classes[3]);
}

/* A clock that goes in steps of 26 ticks: of ten loads, three of L1 and four of L2 are like others.
 */
static void joins_what_the_clock_does_not_part(void **state)
{
	(void)state;
	set_times(0, (uint32_t[N]){1, 1, 1, 1, 1, 1, 1, 20, 20, 20});
	set_times(1, (uint32_t[N]){1, 1, 1, 1, 20, 20, 20, 20, 20, 20});
	set_times(3, (uint32_t[N]){332, 358, 358, 358, 384, 384, 410, 436, 20, 800});
	assert_int_equal(vt_levels_find(times, classes), 2);
	assert_class(0, 1 | 2, 176, 1);
	assert_class(1, 8, UINT32_MAX, 0.9);
}

/* One of ten on one side, none on the other: 5 % are wrong; two and one: 15 %. */
static void bears_one_in_ten(void **state)
{
	(void)state;
	set_times(0, (uint32_t[N]){1, 1, 1, 1, 1, 1, 1, 1, 1, 50});
	set_times(3, (uint32_t[N]){30, 40, 40, 40, 40, 40, 40, 40, 40, 40});
	assert_int_equal(vt_levels_find(times, classes), 2);
	assert_class(0, 1, 16, 0.9);
	set_times(0, (uint32_t[N]){1, 1, 1, 1, 1, 1, 1, 1, 50, 50});
	set_times(3, (uint32_t[N]){1, 40, 40, 40, 40, 40, 40, 40, 40, 40});
	assert_int_equal(vt_levels_find(times, classes), 1);
	assert_class(0, 1 | 8, UINT32_MAX, 1);
}

/* L1 and L2 are told apart until L3, which is like L2, has joined that. */
static void looks_again_when_two_are_one(void **state)
{
	(void)state;
	set_times(0, (uint32_t[N]){10, 10, 10, 10, 10, 10, 10, 10, 10, 10});
	set_times(1, (uint32_t[N]){20, 20, 20, 20, 20, 20, 20, 20, 20, 20});
	set_times(2, (uint32_t[N]){5, 5, 5, 5, 20, 20, 20, 20, 20, 20});
	assert_int_equal(vt_levels_find(times, classes), 2);
	assert_class(0, 1, 15, 1);
	assert_class(1, 2 | 4, UINT32_MAX, 0.8);
	set_times(2, (uint32_t[N]){5, 5, 5, 5, 5, 20, 20, 20, 20, 20});
	assert_int_equal(vt_levels_find(times, classes), 1);
	assert_class(0, 1 | 2 | 4, UINT32_MAX, 1);
}

static void does_with_one_level_or_none(void **state)
{
	(void)state;
	assert_int_equal(vt_levels_find(times, classes), 0);
	set_times(3, (uint32_t[N]){3, 3, 3, 3, 3, 3, 3, 3, 3, 3});
	assert_int_equal(vt_levels_find(times, classes), 1);
	assert_class(0, 8, UINT32_MAX, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, clear_times)
	const struct CMUnitTest tests[] = {
		T(tells_four_levels_apart),
		T(joins_what_the_clock_does_not_part),
		T(bears_one_in_ten),
		T(looks_again_when_two_are_one),
		T(does_with_one_level_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
