/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals between samples: their range, their mean, and that every event is equally likely. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sample/interval.h"

static void ranges(void **state)
{
	static const struct {
		uint64_t mean, least, most;
	} want[] = {{1, 1, 1},	  {2, 1, 3},	  {31, 30, 32},
		    {32, 30, 34}, {100, 96, 104}, {63488, 61440, 65536}};
	struct vt_rng rng;
	size_t i, k;

	(void)state;
	vt_rng_init(&rng, 1);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct vt_interval v = vt_interval_make(VT_INTERVAL_UNIFORM, want[i].mean);
		uint64_t least = UINT64_MAX, most = 0;

		/* 62K is DCPI's own mean: its range must come out, 60K to 64K. */
		for (k = 0; k < 200000; k++) {
			uint64_t n = vt_interval_next(&v, &rng);

			least = n < least ? n : least;
			most = n > most ? n : most;
			assert_in_range(vt_interval_first(&v, &rng), 1, want[i].most);
		}
		assert_int_equal(least, want[i].least);
		assert_int_equal(most, want[i].most);
	}
}

static void means(void **state)
{
	enum { N = 200000 };
	struct vt_rng rng;
	int kind;

	(void)state;
	vt_rng_init(&rng, 2);
	for (kind = 0; kind < VT_NINTERVALS; kind++) {
		struct vt_interval v = vt_interval_make((enum vt_interval_kind)kind, 1000);
		double sum = 0, squares = 0, error;
		int i;

		for (i = 0; i < N; i++) {
			double x = (double)vt_interval_next(&v, &rng) - 1000;

			sum += x;
			squares += x * x;
		}
		/* Within four standard errors. */
		error = sum / N * (sum / N) * N / (squares / N + 1e-9);
		assert_true(error < 16);
		if (kind == VT_INTERVAL_GEOMETRIC)
			assert_true(squares / N > 980 * 1000 && squares / N < 1020 * 1000);
	}
	/* A mean of 1 samples everything. */
	for (kind = 0; kind < VT_NINTERVALS; kind++) {
		struct vt_interval v = vt_interval_make((enum vt_interval_kind)kind, 1);

		assert_int_equal(vt_interval_first(&v, &rng), 1);
		assert_int_equal(vt_interval_next(&v, &rng), 1);
	}
}

/* From the first event on, each is sampled with probability 1/mean: chi-square over 60 events. */
static void every_event_is_as_likely(void **state)
{
	enum { EVENTS = 60, RUNS = 60000, MEAN = 10 };
	int kind;

	(void)state;
	for (kind = 0; kind < VT_NINTERVALS; kind++) {
		struct vt_interval v = vt_interval_make((enum vt_interval_kind)kind, MEAN);
		uint32_t hits[EVENTS];
		struct vt_rng rng;
		double x = 0;
		uint64_t at;
		int i;

		memset(hits, 0, sizeof(hits));
		vt_rng_init(&rng, 3);
		for (i = 0; i < RUNS; i++)
			for (at = vt_interval_first(&v, &rng); at <= EVENTS;
			     at += vt_interval_next(&v, &rng))
				hits[at - 1]++;
		for (i = 0; i < EVENTS; i++) {
			double e = (double)RUNS / MEAN;
			double d = hits[i] - e;

			/* The variance of one event's hits is e (1 - 1/mean). */
			x += d * d / (e * (1 - 1.0 / MEAN));
			assert_true(d * d < 25 * e);
		}
		/* 0.9999 quantile of 60 degrees of freedom; correlated counts have a wider spread.
		 */
		assert_true(kind != VT_INTERVAL_GEOMETRIC || (x < 107.0 && x > 25.0));
	}
}

/*
 * Of 0, as of a state whose second word is 0, the middle of the first of 2^53 parts is taken:
 * 2^-54, of which the logarithm to the base 2/3 is 92.3.
 */
static void the_longest(void **state)
{
	struct vt_interval v = vt_interval_make(VT_INTERVAL_GEOMETRIC, 3);
	struct vt_rng rng = {{1, 0, 0, 0}};

	(void)state;
	assert_int_equal(vt_interval_next(&v, &rng), 93);
}

/* Where all are as long, each event may be the first: one number tells which. */
static void one_number_of_even_intervals(void **state)
{
	struct vt_interval v = vt_interval_make(VT_INTERVAL_FIXED, 5);
	struct vt_rng a, b;
	int i;

	(void)state;
	vt_rng_init(&a, 7);
	vt_rng_init(&b, 7);
	for (i = 0; i < 100; i++)
		assert_int_equal(vt_interval_first(&v, &a), 1 + vt_rng_below(&b, 5));
}

static void the_same_by_seed(void **state)
{
	struct vt_interval v = vt_interval_make(VT_INTERVAL_GEOMETRIC, 64000);
	struct vt_rng a, b;
	int i;

	(void)state;
	vt_rng_init(&a, 7);
	vt_rng_init(&b, 7);
	for (i = 0; i < 1000; i++)
		assert_int_equal(vt_interval_next(&v, &a), vt_interval_next(&v, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(means),
		cmocka_unit_test(every_event_is_as_likely),
		cmocka_unit_test(the_longest),
		cmocka_unit_test(one_number_of_even_intervals),
		cmocka_unit_test(the_same_by_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
