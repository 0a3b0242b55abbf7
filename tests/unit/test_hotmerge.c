/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "value/hotlist.h"
#include "value/hotmerge.h"
#include "value/hotrecord.h"

/*
 * A run of which two halves are profiled apart, by counting samples, and joined: over many seeds,
 * what comes out is distributed as a sample of the whole.
 */
#define RUNS	   1000
#define EXECUTIONS 3000
#define HALF	   1000 /* the first part is the shorter one, and has other values than the second */

/* Of each 10 executions 4 have the value 1; the rest are spread thinly. */
static uint64_t value_at(uint64_t i)
{
	uint64_t hash = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 33;

	if (i % 10 < 4)
		return 1;
	return i < HALF ? 100 + hash % 30 : 110 + hash % 60;
}

/* What is compared: the level, how many values there are, the estimates of a heavy and a light one.
 */
#define NMEASURES 4
#define LIGHT	  115

struct sample {
	double measure[NMEASURES][RUNS];
};

static void measure(struct sample *s, int run, const struct vt_hot *h)
{
	uint32_t i;

	assert_true(h->nvalues <= h->capacity);
	s->measure[0][run] = h->level;
	s->measure[1][run] = h->nvalues;
	for (i = 0; i < h->nvalues; i++) {
		if (h->values[i] == 1)
			s->measure[2][run] = vt_hot_estimate(h, i);
		else if (h->values[i] == LIGHT)
			s->measure[3][run] = vt_hot_estimate(h, i);
	}
}

/* A sample of executions from..to-1. */
static void keep(struct vt_hot *h, uint64_t from, uint64_t to, uint64_t seed)
{
	const struct vt_hotlist_options o = {.algo = VT_ALGO_GM, .entries = 16, .seed = seed};
	struct vt_hotlist_found found;
	struct vt_hotlists *s;
	struct vt_hotlist *l;
	struct vt_error err;

	memset(&found, 0, sizeof(found));
	memset(h, 0, sizeof(*h));
	s = vt_hotlists_new(&o, &err);
	assert_non_null(s);
	l = vt_hotlists_add(s);
	for (; from < to; from++)
		vt_hotlist_put(s, l, value_at(from));
	assert_int_equal(vt_hotlist_read(s, l, &found, &err), 0);
	assert_int_equal(vt_hot_alloc(h, found.count, false, &err), 0);
	memcpy(h->values, found.values, found.count * sizeof(*h->values));
	memcpy(h->counts, found.counts, found.count * sizeof(*h->counts));
	h->algo = VT_ALGO_GM;
	h->capacity = found.capacity;
	h->steady = found.steady;
	h->level = found.level;
	h->factor = found.factor;
	h->scale = pow(found.factor, found.level);
	h->total = found.total;
	h->profiled = found.profiled;
	h->first = found.first;
	h->last = found.last;
	h->same = found.same;
	vt_hotlist_found_fini(&found);
	vt_hotlists_free(s);
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The greatest distance of two distribution functions (Kolmogorov, Smirnov). */
static double distance(double *x, double *y)
{
	double most = 0;
	int i = 0, j = 0;

	qsort(x, RUNS, sizeof(*x), compare_numbers);
	qsort(y, RUNS, sizeof(*y), compare_numbers);
	while (i < RUNS && j < RUNS) {
		double at = x[i] < y[j] ? x[i] : y[j];

		while (i < RUNS && x[i] == at)
			i++;
		while (j < RUNS && y[j] == at)
			j++;
		most = fmax(most, fabs((double)(i - j)) / RUNS);
	}
	return most;
}

static double mean(const double *x, double *error)
{
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < RUNS; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	*error = sqrt((squares / RUNS - sum / RUNS * (sum / RUNS)) / RUNS);
	return sum / RUNS;
}

static void test_distribution(void **state)
{
	static struct sample whole, joined;
	double truth[NMEASURES] = {0}, error;
	struct vt_rng rng;
	struct vt_error err;
	int run, m;

	(void)state;
	vt_rng_init(&rng, 99);
	for (run = 0; run < RUNS; run++) {
		struct vt_hot a, b;
		uint64_t seed = (uint64_t)run * 3;

		keep(&a, 0, EXECUTIONS, seed + 1);
		measure(&whole, run, &a);
		vt_hot_fini(&a);
		keep(&a, 0, HALF, seed + 2);
		keep(&b, HALF, EXECUTIONS, seed + 3);
		assert_int_equal(vt_hot_merge(&a, &b, &rng, &err), 0);
		assert_int_equal(a.total, EXECUTIONS);
		measure(&joined, run, &a);
		vt_hot_fini(&a);
		vt_hot_fini(&b);
	}
	for (run = 0; run < EXECUTIONS; run++) {
		truth[2] += value_at((uint64_t)run) == 1;
		truth[3] += value_at((uint64_t)run) == LIGHT;
	}
	for (m = 2; m < NMEASURES; m++)
		assert_true(fabs(mean(joined.measure[m], &error) - truth[m]) <= 3 * error);
	/* One in a thousand pairs of samples of one distribution is further apart. */
	for (m = 0; m < NMEASURES; m++)
		assert_true(distance(whole.measure[m], joined.measure[m]) <=
			    1.95 * sqrt(2.0 / RUNS));
}

/* The counts that need no luck: totals, and repetitions over the seam. */
static void test_totals(void **state)
{
	struct vt_hot whole, a, b;
	struct vt_error err;
	struct vt_rng rng;

	(void)state;
	vt_rng_init(&rng, 1);
	keep(&whole, 0, EXECUTIONS, 1);
	keep(&a, 0, HALF + 1, 2);
	keep(&b, HALF + 1, EXECUTIONS, 3);
	/* Executions HALF and HALF + 1 both have the value 1. */
	assert_int_equal(a.last, 1);
	assert_int_equal(b.first, 1);
	assert_int_equal(vt_hot_merge(&a, &b, &rng, &err), 0);
	assert_int_equal(a.total, whole.total);
	assert_int_equal(a.same, whole.same);
	assert_int_equal(a.first, whole.first);
	assert_int_equal(a.last, whole.last);
	vt_hot_fini(&whole);
	vt_hot_fini(&a);
	vt_hot_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distribution),
		cmocka_unit_test(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
