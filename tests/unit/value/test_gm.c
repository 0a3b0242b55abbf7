/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/value/lists.h"
#include "value/draw.h"
#include "value/hot_list.h"
#include "value/hot_record.h"

/*
 * Statistics are of fixed seeds: a test passes or fails the same way each time.  Bounds are those
 * that a right program passes with near certainty and a wrong one does not.
 */

static struct vt_error err;

/* C[v]/p is unbiased: over many seeds, the mean is within three standard errors of the truth. */
static void test_gm_is_unbiased(void **state)
{
	enum { SEEDS = 1000, LENGTH = 3000, VALUES = 42 };
	double truth[VALUES] = {0}, sum[VALUES] = {0}, squares[VALUES] = {0};
	struct vt_hot f = {.nvalues = 0};
	double once = 0, once_truth = 0, once_squares = 0;
	uint64_t seed, i, v;
	struct vt_rng r;

	(void)state;
	vt_rng_init(&r, 77);
	for (i = 0; i < LENGTH; i++) {
		v = skewed_value(&r, i);
		if (v < VALUES)
			truth[v]++;
		else
			once_truth++;
	}
	for (seed = 0; seed < SEEDS; seed++) {
		struct vt_hotlists *s = make_lists(VT_ALGO_GM, 0, seed);
		struct vt_hotlist *l = vt_hotlists_add(s);
		double all = 0;

		fill_list(s, l, 0, LENGTH);
		read_list(s, l, &f);
		assert_true(f.nvalues <= 16);
		assert_int_equal(f.total, LENGTH);
		assert_int_equal(f.profiled, LENGTH);
		assert_true(f.level > 0);
		for (v = 1; v < VALUES; v++) {
			double e = found_estimate(&f, v);

			sum[v] += e;
			squares[v] += e * e;
		}
		for (i = 0; i < f.nvalues; i++)
			if (f.values[i] >= VALUES)
				all += found_estimate(&f, f.values[i]);
		once += all;
		once_squares += all * all;
		vt_hotlists_free(s);
	}
	for (v = 1; v < VALUES; v++) {
		double mean = sum[v] / SEEDS;
		double error = sqrt((squares[v] / SEEDS - mean * mean) / SEEDS);

		assert_true(truth[v] > 0);
		assert_true(fabs(mean - truth[v]) <= 3 * error);
	}
	once /= SEEDS;
	assert_true(fabs(once - once_truth) <=
		    3 * sqrt((once_squares / SEEDS - once * once) / SEEDS));
	vt_hot_fini(&f);
}

/* Never more than N values, after each single value, for several N and f. */
static void test_gm_never_has_more_than_n(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 16};
	static const double factors[] = {0, 1.01, 2, 100};
	struct vt_hot f = {.nvalues = 0};
	size_t i, k;
	uint64_t n;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (k = 0; k < sizeof(factors) / sizeof(factors[0]); k++) {
			const struct vt_hotlist_options o = {
				.entries = sizes[i], .factor = factors[k], .algo = VT_ALGO_GM};
			struct vt_hotlists *s = vt_hotlists_new(&o, &err);
			struct vt_hotlist *l = vt_hotlists_add(s);

			for (n = 0; n < 400; n++) {
				vt_hotlist_put(s, l, n % 7 ? n : 3);
				read_list(s, l, &f);
				assert_true(f.nvalues <= sizes[i]);
			}
			vt_hotlists_free(s);
		}
	}
	vt_hot_fini(&f);
}

/* With no more than N values there is nothing to estimate. */
static void test_gm_is_exact_for_few_values(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_GM, 16, 5);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	uint64_t i;

	(void)state;
	for (i = 0; i < 16000; i++)
		vt_hotlist_put(s, l, i * i % 16 + 16 * (i % 4));
	read_list(s, l, &f);
	assert_int_equal(f.level, 0);
	for (i = 0; i < f.nvalues; i++)
		assert_int_equal(f.counts[i] % 1000, 0);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Two samples of a distribution that is the same, or not: the greatest distance of their curves. */
static double kolmogorov(double *a, double *b, size_t n)
{
	double most = 0;
	size_t i = 0, k = 0;

	qsort(a, n, sizeof(*a), compare_numbers);
	qsort(b, n, sizeof(*b), compare_numbers);
	while (i < n && k < n) {
		double at = a[i] < b[k] ? a[i] : b[k];

		while (i < n && a[i] <= at)
			i++;
		while (k < n && b[k] <= at)
			k++;
		if (fabs((double)i - (double)k) > most)
			most = fabs((double)i - (double)k);
	}
	return most / (double)n;
}

enum { JOINS = 1500, JOIN_LENGTH = 1200, JOIN_AT = 400 };

struct outcomes {
	double level[JOINS];
	double heavy[JOINS];
	double light[JOINS];
	double count[JOINS];
};

static void note(struct outcomes *o, size_t i, const struct vt_hot *h)
{
	uint32_t k;

	o->level[i] = h->level;
	o->count[i] = h->nvalues;
	for (k = 0; k < h->nvalues; k++) {
		if (h->values[k] == 1)
			o->heavy[i] = vt_hot_estimate(h, k);
		else if (h->values[k] == 5)
			o->light[i] = vt_hot_estimate(h, k);
	}
}

/* A list of the whole against the joined lists of two parts: levels, estimates, lengths. */
static void test_gm_merge_has_the_distribution_of_the_whole(void **state)
{
	struct outcomes *whole = calloc(1, sizeof(*whole)), *joined = calloc(1, sizeof(*joined));
	/* That of two equal distributions is greater once in 10,000 times. */
	const double bound = 2.2 * sqrt(2.0 / JOINS);
	struct vt_hot f = {.nvalues = 0};
	struct vt_rng r;
	uint64_t i;

	(void)state;
	vt_rng_init(&r, 9);
	for (i = 0; i < JOINS; i++) {
		struct vt_hotlists *s = make_lists(VT_ALGO_GM, 8, i);
		struct vt_hotlist *all = vt_hotlists_add(s);
		struct vt_hotlist *first = vt_hotlists_add(s), *second = vt_hotlists_add(s);
		struct vt_hot a = {.nvalues = 0}, b = {.nvalues = 0};

		fill_list(s, all, 0, JOIN_LENGTH);
		fill_list(s, first, 0, JOIN_AT);
		fill_list(s, second, JOIN_AT, JOIN_LENGTH);
		read_list(s, all, &a);
		note(whole, i, &a);
		read_list(s, first, &a);
		read_list(s, second, &b);
		assert_int_equal(vt_hot_merge(&a, &b, &r, &err), 0);
		assert_true(a.nvalues <= 8);
		assert_int_equal(a.total, JOIN_LENGTH);
		note(joined, i, &a);
		vt_hot_fini(&a);
		vt_hot_fini(&b);
		vt_hotlists_free(s);
	}
	assert_true(kolmogorov(whole->level, joined->level, JOINS) <= bound);
	assert_true(kolmogorov(whole->heavy, joined->heavy, JOINS) <= bound);
	assert_true(kolmogorov(whole->light, joined->light, JOINS) <= bound);
	assert_true(kolmogorov(whole->count, joined->count, JOINS) <= bound);
	vt_hot_fini(&f);
	free(whole);
	free(joined);
}

/* The order of values does not matter to the distribution, and many in a row are many. */
static void test_gm_order_does_not_matter(void **state)
{
	enum { N = 1500 };
	static double a[N], b[N];
	const double bound = 2.2 * sqrt(2.0 / N);
	struct vt_hot f = {.nvalues = 0};
	uint64_t i, k;

	(void)state;
	for (i = 0; i < N; i++) {
		struct vt_hotlists *s = make_lists(VT_ALGO_GM, 6, i);
		struct vt_hotlist *mixed = vt_hotlists_add(s), *runs = vt_hotlists_add(s);

		for (k = 0; k < 600; k++)
			vt_hotlist_put(s, mixed, k * 7 % 20);
		for (k = 0; k < 20; k++)
			vt_hotlist_put_many(s, runs, 19 - k, 30);
		read_list(s, mixed, &f);
		a[i] = found_estimate(&f, 3);
		read_list(s, runs, &f);
		b[i] = found_estimate(&f, 3);
		vt_hotlists_free(s);
	}
	assert_true(kolmogorov(a, b, N) <= bound);
	vt_hot_fini(&f);
}

/* ---- draw by draw ---- */

/*
 * P. B. Gibbons, Y. Matias: "New sampling-based summary statistics for improving approximate query
 * answers" (SIGMOD 1998), counting samples, step by step, with the draws that a list makes.
 */
struct plain_list {
	struct vt_rng rng;
	double factor;
	uint32_t room, n, level;
	uint64_t values[16], counts[16];
	uint64_t skip;	    /* occurrences to come that are not kept */
	uint64_t last, run; /* of which so many wait to be counted */
	uint64_t total, repeated;
};

static double plain_chance(const struct plain_list *p)
{
	return exp(p->level * -log(p->factor));
}

static void plain_skip(struct plain_list *p)
{
	p->skip = (uint64_t)(vt_draw_exponential(&p->rng) * (-1 / log1p(-plain_chance(p))));
}

static uint64_t plain_thin(struct plain_list *p, uint64_t count)
{
	double keep = 1 / p->factor;

	if (count < 64 && keep >= 0.9)
		return count -
		       vt_draw_few(&p->rng, count, 1 - keep, exp((double)count * -log(p->factor)));
	return vt_draw_binomial(&p->rng, count, keep);
}

/* Thins until there is room for one that comes n times; how many of those are left. */
static uint64_t plain_make_room(struct plain_list *p, uint64_t n)
{
	uint32_t i, kept = p->n;

	while (kept == p->n && n) {
		p->level++;
		for (i = kept = 0; i < p->n; i++) {
			p->counts[i] = plain_thin(p, p->counts[i]);
			kept += p->counts[i] > 0;
		}
		n = plain_thin(p, n);
	}
	for (i = kept = 0; i < p->n; i++) {
		p->values[kept] = p->values[i];
		p->counts[kept] = p->counts[i];
		kept += p->counts[i] > 0;
	}
	p->n = kept;
	plain_skip(p);
	return n;
}

static void plain_count(struct plain_list *p, uint64_t value, uint64_t n)
{
	uint32_t i;

	for (i = 0; i < p->n && p->values[i] != value; i++)
		;
	if (i == p->n && p->n == p->room)
		n = plain_make_room(p, n);
	if (i >= p->n) {
		if (!n)
			return;
		i = p->n++;
		p->values[i] = value;
		p->counts[i] = n;
		return;
	}
	p->counts[i] += n;
	/* The order decides who is thinned first: one place forward, past a lower count. */
	if (i && p->counts[i] > p->counts[i - 1]) {
		uint64_t count = p->counts[i];

		p->values[i] = p->values[i - 1];
		p->counts[i] = p->counts[i - 1];
		p->values[i - 1] = value;
		p->counts[i - 1] = count;
	}
}

static void plain_flush(struct plain_list *p)
{
	uint64_t n = p->run;

	p->run = 0;
	if (n)
		plain_count(p, p->last, n);
}

static void plain_put(struct plain_list *p, uint64_t value)
{
	p->repeated = p->total++ && value == p->last ? p->repeated + 1 : 0;
	if (value != p->last)
		plain_flush(p);
	p->last = value;
	if (p->skip) {
		p->skip--;
		return;
	}
	p->run++;
	if (p->level)
		plain_skip(p);
}

/* From the third on all are taken at once. */
static void plain_put_many(struct plain_list *p, uint64_t value, uint64_t n)
{
	for (; n && (p->last != value || !p->repeated); n--)
		plain_put(p, value);
	if (!n)
		return;
	plain_flush(p);
	if (p->skip >= n) {
		p->skip -= n;
		return;
	}
	if (p->level) {
		n = 1 + vt_draw_binomial(&p->rng, n - p->skip - 1, plain_chance(p));
		plain_skip(p);
	}
	plain_count(p, value, n);
}

/* Values of which some come often, some 60 to 70 times, and some once; now and then in a row. */
static void check_draws(uint32_t room, double factor, uint64_t seed)
{
	const struct vt_hotlist_options o = {
		.entries = room, .factor = factor, .algo = VT_ALGO_GM, .seed = seed};
	struct plain_list p = {.room = room, .factor = factor};
	struct vt_hotlists *s = vt_hotlists_new(&o, &err);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	struct vt_rng r;
	uint32_t i, k;

	vt_rng_init(&p.rng, seed);
	vt_rng_init(&r, seed + 1);
	for (i = 0; i < 2000; i++) {
		uint64_t value = 1 + vt_rng_below(&r, 1 + vt_rng_below(&r, 24));
		uint64_t n = vt_rng_below(&r, 8) ? 1 : vt_rng_below(&r, 70);

		if (n == 1) {
			plain_put(&p, value);
			vt_hotlist_put(s, l, value);
		} else {
			plain_put_many(&p, value, n);
			vt_hotlist_put_many(s, l, value, n);
		}
	}
	plain_flush(&p);
	read_list(s, l, &f);
	assert_int_equal(f.level, p.level);
	assert_int_equal(f.nvalues, p.n);
	for (i = 0; i < p.n; i++) {
		for (k = 0; k < f.nvalues && f.values[k] != p.values[i]; k++)
			;
		assert_true(k < f.nvalues);
		assert_int_equal(f.counts[k], p.counts[i]);
	}
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

static void test_gm_draws(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 0; seed < 30; seed++) {
		check_draws(16, 16.0 / 15, seed);
		check_draws(16, 1 / 0.9, seed);
		check_draws(7, 7.0 / 6, seed);
		check_draws(1, 2, seed);
		check_draws(16, 1.01, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gm_is_unbiased),
		cmocka_unit_test(test_gm_never_has_more_than_n),
		cmocka_unit_test(test_gm_is_exact_for_few_values),
		cmocka_unit_test(test_gm_merge_has_the_distribution_of_the_whole),
		cmocka_unit_test(test_gm_order_does_not_matter),
		cmocka_unit_test(test_gm_draws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
