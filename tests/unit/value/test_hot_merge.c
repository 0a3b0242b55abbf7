/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "value/hot_list.h"
#include "value/hot_record.h"

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
	struct vt_hotlists *s;
	struct vt_hotlist *l;
	struct vt_error err;

	memset(h, 0, sizeof(*h));
	s = vt_hotlists_new(&o, &err);
	assert_non_null(s);
	l = vt_hotlists_add(s);
	for (; from < to; from++)
		vt_hotlist_put(s, l, value_at(from));
	assert_int_equal(vt_hotlist_read(s, l, h, &err), 0);
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

/* ---- sums of lists that are no samples ---- */

#define MOST_VALUES 8

struct plain_entry {
	uint64_t value, count, error;
};

struct plain_sum {
	struct plain_entry e[2 * MOST_VALUES];
	uint32_t n;
};

/* A list of up to `room` of the values 0 to 9. */
static void make_list(struct vt_hot *h, struct vt_rng *rng, enum vt_algo algo, uint32_t room)
{
	uint64_t value;
	struct vt_error err;

	memset(h, 0, sizeof(*h));
	assert_int_equal(vt_hot_alloc(h, MOST_VALUES, algo == VT_ALGO_SPACE_SAVING, &err), 0);
	h->algo = algo;
	h->capacity = room;
	h->nvalues = 0;
	for (value = 0; value < 10 && h->nvalues < (room ? room : MOST_VALUES); value++) {
		if (vt_rng_below(rng, 3) == 0)
			continue;
		h->values[h->nvalues] = value;
		h->counts[h->nvalues] = 1 + vt_rng_below(rng, 6);
		if (h->errors)
			h->errors[h->nvalues] = vt_rng_below(rng, h->counts[h->nvalues] + 1);
		h->total += h->counts[h->nvalues++];
	}
	assert_int_equal(vt_hot_sort(h, &err), 0);
	/* The sums of these are all that is asked of them. */
	h->total += vt_rng_below(rng, 2);
	h->profiled = vt_rng_below(rng, 10);
	h->zero = vt_rng_below(rng, 10);
	h->stride = vt_rng_below(rng, 10);
	h->same = h->total ? vt_rng_below(rng, h->total) : 0;
	h->first = vt_rng_below(rng, 3);
	h->last = vt_rng_below(rng, 3);
	h->size = 1u << vt_rng_below(rng, 3);
	h->steady = (uint32_t)vt_rng_below(rng, 4);
}

/* What a value had in a list; `most` if it is not there. */
static struct plain_entry part_of(const struct vt_hot *h, uint64_t value, uint64_t most)
{
	uint32_t i;

	for (i = 0; i < h->nvalues; i++)
		if (h->values[i] == value)
			return (struct plain_entry){value, h->counts[i],
						    h->errors ? h->errors[i] : 0};
	return (struct plain_entry){UINT64_MAX, most, most};
}

static uint64_t most_given_up(const struct vt_hot *h)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < h->nvalues && h->errors; i++)
		most = h->errors[i] < most ? most : h->errors[i];
	return most;
}

static int compare_plain(const void *a, const void *b)
{
	const struct plain_entry *x = a, *y = b;
	uint64_t p = x->count - x->error, q = y->count - y->error;

	if (p != q)
		return p < q ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value;
}

/*
 * All values with the sums of their counts and errors; of a full list, those of the lowest
 * estimates go.  What any of these may have had is then the least that the greatest error is.
 */
static void add_plain(struct plain_sum *o, const struct vt_hot *a, const struct vt_hot *b)
{
	uint64_t in_a = most_given_up(a), in_b = most_given_up(b), bound = in_a + in_b, value;
	uint32_t i, greatest = 0;

	o->n = 0;
	for (value = 0; value < 10; value++) {
		struct plain_entry x = part_of(a, value, in_a), y = part_of(b, value, in_b);

		if (x.value == value || y.value == value)
			o->e[o->n++] =
				(struct plain_entry){value, x.count + y.count, x.error + y.error};
	}
	qsort(o->e, o->n, sizeof(o->e[0]), compare_plain);
	for (; a->capacity && o->n > a->capacity; o->n--)
		bound = o->e[o->n - 1].count > bound ? o->e[o->n - 1].count : bound;
	for (i = 0; i < o->n; i++)
		greatest = o->e[i].error >= o->e[greatest].error ? i : greatest;
	if (a->errors && o->n && o->e[greatest].error < bound) {
		o->e[greatest].count += bound - o->e[greatest].error;
		o->e[greatest].error = bound;
	}
}

static void check_sum(const struct vt_hot *is, const struct plain_sum *o)
{
	uint32_t i, k;

	assert_int_equal(is->nvalues, o->n);
	for (i = 0; i < o->n; i++) {
		for (k = 0; k < o->n && is->values[k] != o->e[i].value; k++)
			;
		assert_true(k < o->n);
		assert_int_equal(is->counts[k], o->e[i].count);
		if (is->errors)
			assert_int_equal(is->errors[k], o->e[i].error);
	}
}

static void check_merge(struct vt_rng *rng, enum vt_algo algo, uint32_t room)
{
	struct vt_hot a, b, was;
	struct plain_sum o;
	struct vt_error err;
	uint64_t same;

	make_list(&a, rng, algo, room);
	make_list(&b, rng, algo, room);
	add_plain(&o, &a, &b);
	was = a;
	same = a.same + b.same;
	if (a.total && b.total && a.last == b.first && same < a.total + b.total)
		same++;
	assert_int_equal(vt_hot_merge(&a, &b, rng, &err), 0);
	check_sum(&a, &o);
	assert_int_equal(a.errors != NULL, algo == VT_ALGO_SPACE_SAVING);
	assert_int_equal(a.total, was.total + b.total);
	assert_int_equal(a.profiled, was.profiled + b.profiled);
	assert_int_equal(a.zero, was.zero + b.zero);
	assert_int_equal(a.stride, was.stride + b.stride);
	assert_int_equal(a.same, same);
	assert_int_equal(a.first, was.total ? was.first : b.first);
	assert_int_equal(a.last, b.total ? b.last : was.last);
	assert_int_equal(a.size, was.size > b.size ? was.size : b.size);
	/* 0 is all of them. */
	assert_int_equal(a.steady, !was.steady ? 0 : was.steady > b.steady ? was.steady : b.steady);
	vt_hot_fini(&a);
	vt_hot_fini(&b);
}

static void test_sums(void **state)
{
	struct vt_rng rng;
	int i;

	(void)state;
	vt_rng_init(&rng, 12);
	for (i = 0; i < 2000; i++) {
		check_merge(&rng, VT_ALGO_SPACE_SAVING, 1 + (uint32_t)i % MOST_VALUES);
		check_merge(&rng, VT_ALGO_TNV, 1 + (uint32_t)i % MOST_VALUES);
		check_merge(&rng, VT_ALGO_EXACT, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distribution),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
