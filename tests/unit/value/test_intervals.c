/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "value/intervals.h"

static struct vt_error err;

#define NEAR(x, y) assert_true(fabs((double)(x) - (y)) < 1e-6)

static struct vt_hotlists *tables(void)
{
	const struct vt_hotlist_options o = {.algo = VT_ALGO_TNV};
	struct vt_hotlists *s = vt_hotlists_new(&o, &err);

	assert_non_null(s);
	return s;
}

/* Two lists, told in turn: what one interval had does not reach into the next. */
static void test_shares(void **state)
{
	const uint64_t totals[] = {40, 11};
	struct vt_intervals *iv = vt_intervals_new(4, totals, 2);
	struct vt_hotlists *s = tables();
	struct vt_hotlist *a, *b;
	const float *shares;
	uint64_t i;

	(void)state;
	assert_non_null(iv);
	vt_intervals_watch(iv, s);
	a = vt_hotlists_add(s);
	b = vt_hotlists_add(s);
	for (i = 0; i < 40; i++) {
		/* Tens: all the same; two values in turn; six of one and four others; as the first.
		 */
		uint64_t v = i < 10 || i >= 30 ? 7 : i < 20 ? i % 2 : i < 26 ? 7 : i;

		vt_hotlist_put(s, a, v);
		if (i < 11)
			vt_hotlist_put(s, b, i);
	}
	shares = vt_intervals_of(iv, s, a);
	NEAR(shares[0], 1);
	NEAR(shares[1], 0.5);
	NEAR(shares[2], 0.6);
	NEAR(shares[3], 1);
	/* 11 executions in four parts: 2, 3, 3, 3. */
	shares = vt_intervals_of(iv, s, b);
	NEAR(shares[0], 1 / 2.0);
	NEAR(shares[1], 1 / 3.0);
	NEAR(shares[3], 1 / 3.0);
	vt_hotlists_free(s);
	vt_intervals_free(iv);
}

/* A run over several intervals, and lists or executions that were not announced. */
static void test_runs(void **state)
{
	const uint64_t totals[] = {1000, 3};
	struct vt_intervals *iv = vt_intervals_new(10, totals, 2);
	struct vt_hotlists *s = tables();
	struct vt_hotlist *a, *b, *c;
	const float *shares;
	int i;

	(void)state;
	assert_non_null(iv);
	vt_intervals_watch(iv, s);
	a = vt_hotlists_add(s);
	b = vt_hotlists_add(s);
	c = vt_hotlists_add(s);
	vt_hotlist_put_many(s, a, 5, 950);
	for (i = 0; i < 100; i++)
		vt_hotlist_put(s, a, (uint64_t)i);
	vt_hotlist_put_many(s, b, 1, 3);
	vt_hotlist_put_many(s, c, 1, 3);
	shares = vt_intervals_of(iv, s, a);
	for (i = 0; i < 9; i++)
		NEAR(shares[i], 1);
	NEAR(shares[9], 0.51); /* 50 of the run, and the 5 among 0 to 49 */
	shares = vt_intervals_of(iv, s, b);
	for (i = 0; i < 10; i++)
		assert_true(shares[i] == 0 || shares[i] == 1);
	assert_null(vt_intervals_of(iv, s, c));
	vt_hotlists_free(s);
	vt_intervals_free(iv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
