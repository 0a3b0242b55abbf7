/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "tests/unit/value/listmodels.h"
#include "tests/unit/value/lists.h"
#include "value/hot_list_internal.h"
#include "value/intervals.h"

/*
 * Statistics are of fixed seeds: a test passes or fails the same way each time.  Bounds are those
 * that a right program passes with near certainty and a wrong one does not.
 */

static struct vt_error err;

/* ---- what every list counts ---- */

static const uint64_t plain[] = {0, 0, 5, 10, 15, 20, 20, 20, 0, 7, 9, 11, 13, 13, 0};

static void check_totals(enum vt_algo algo)
{
	struct vt_hotlists *s = make_lists(algo, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		vt_hotlist_put(s, l, plain[i]);
	read_list(s, l, &f);
	assert_int_equal(f.total, 15);
	assert_int_equal(f.profiled, 15);
	assert_int_equal(f.zero, 4);
	/* 0 0, 20 20 20, 13 13. */
	assert_int_equal(f.same, 4);
	/* 5 10 (after 0 5), 15, 20, the third 20, 11, 13. */
	assert_int_equal(f.stride, 6);
	assert_int_equal(f.first, 0);
	assert_int_equal(f.last, 0);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

static void test_totals(void **state)
{
	int algo;

	(void)state;
	for (algo = 0; algo < VT_NALGOS; algo++)
		check_totals((enum vt_algo)algo);
}

/* Totals of a short sequence, counted as their definitions say. */
static void check_short(const uint64_t *v, size_t n)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_EXACT, 0, 1);
	struct vt_hotlist *one = vt_hotlists_add(s), *many = vt_hotlists_add(s);
	uint64_t zero = 0, same = 0, stride = 0;
	struct vt_hot f = {.nvalues = 0};
	size_t i, k;

	for (i = 0; i < n; i++) {
		zero += v[i] == 0;
		same += i > 0 && v[i] == v[i - 1];
		stride += i > 1 && v[i] - v[i - 1] == v[i - 1] - v[i - 2];
		vt_hotlist_put(s, one, v[i]);
	}
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && v[k] == v[i]; k++)
			;
		vt_hotlist_put_many(s, many, v[i], k - i);
	}
	for (i = 0; i < 2; i++) {
		read_list(s, i ? many : one, &f);
		assert_int_equal(f.total, n);
		assert_int_equal(f.zero, zero);
		assert_int_equal(f.same, same);
		assert_int_equal(f.stride, stride);
		assert_int_equal(f.first, v[0]);
		assert_int_equal(f.last, v[n - 1]);
	}
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/* The first values are where counting has its edges: all sequences of 0, 1, 2, 4 up to six long. */
static void test_short_sequences(void **state)
{
	static const uint64_t of[] = {0, 1, 2, 4};
	uint64_t v[6];
	unsigned n, i, code;

	(void)state;
	for (n = 1; n <= 6; n++) {
		for (code = 0; code < 1u << (2 * n); code++) {
			for (i = 0; i < n; i++)
				v[i] = of[code >> (2 * i) & 3];
			check_short(v, n);
		}
	}
}

/* ---- exact ---- */

static int compare_values(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_exact_against_sorting(void **state)
{
	enum { N = 20000 };
	struct vt_hotlists *s = make_lists(VT_ALGO_EXACT, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	static uint64_t v[N];
	size_t i, k, distinct = 0;
	struct vt_rng r;

	(void)state;
	vt_rng_init(&r, 3);
	for (i = 0; i < N; i++) {
		v[i] = vt_rng_below(&r, 1 + vt_rng_below(&r, 900));
		vt_hotlist_put(s, l, v[i]);
	}
	qsort(v, N, sizeof(v[0]), compare_values);
	read_list(s, l, &f);
	for (i = 0; i < N; i = k, distinct++) {
		for (k = i; k < N && v[k] == v[i]; k++)
			;
		assert_true(found_estimate(&f, v[i]) == (double)(k - i));
	}
	assert_int_equal(f.nvalues, distinct);
	for (i = 1; i < f.nvalues; i++)
		assert_true(f.counts[i - 1] > f.counts[i] ||
			    (f.counts[i - 1] == f.counts[i] && f.values[i - 1] < f.values[i]));
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/* ---- the others ---- */

/* Newcomers that take turns do not get into a full table, until its clear part is cleared. */
/* Found values are in the order of their counts, then of the values. */
static void test_order_found(void **state)
{
	static const uint64_t put[] = {9, 5, 7, 1, 1, 7, 3, 5, 9, 2};
	static const uint64_t want[] = {1, 5, 7, 9, 2, 3};
	struct vt_hotlists *s = make_lists(VT_ALGO_EXACT, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	size_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		vt_hotlist_put(s, l, put[i]);
	read_list(s, l, &f);
	assert_int_equal(f.nvalues, 6);
	assert_memory_equal(f.values, want, sizeof(want));
	for (i = 0; i < 6; i++)
		assert_int_equal(f.counts[i], i < 4 ? 2 : 1);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

static void test_tnv_battle(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_TNV, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	uint64_t i;

	(void)state;
	/* Six values, each more than once, fill steady and clear part. */
	for (i = 0; i < 120; i++)
		vt_hotlist_put(s, l, 1 + i % 6);
	for (i = 0; i < 1000; i++)
		vt_hotlist_put(s, l, 100 + i % 2);
	read_list(s, l, &f);
	assert_int_equal(f.capacity, 6);
	assert_int_equal(f.nvalues, 6);
	/* One place is fought for: the one that came last has it, with a count of 1. */
	assert_true(found_estimate(&f, 100) == 0);
	assert_true(found_estimate(&f, 101) == 1);
	/* After the clear interval of 2000, both get in, and rise into the steady part. */
	for (i = 0; i < 3000; i++)
		vt_hotlist_put(s, l, 100 + i % 2);
	read_list(s, l, &f);
	assert_int_equal(f.values[0], 100);
	assert_int_equal(f.values[1], 101);
	/* 120 + 1000 + 880 had gone by at the clearing. */
	assert_int_equal(f.counts[0] + f.counts[1], 2120);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/* The clear interval is twice the count of the steady part's least value, if that is more. */
static void test_tnv_interval_grows(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_TNV, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	uint64_t i;

	(void)state;
	/* Three values 3000 times each: cleared at about 6000, when each has 2000. */
	for (i = 0; i < 9000; i++)
		vt_hotlist_put(s, l, i % 3);
	/* The interval is now 6000 at least, of which about 3000 are over. */
	for (i = 0; i < 2000; i++)
		vt_hotlist_put(s, l, 50);
	read_list(s, l, &f);
	assert_true(found_estimate(&f, 50) == 2000);
	for (i = 0; i < 990; i++)
		vt_hotlist_put(s, l, 60 + i % 2);
	read_list(s, l, &f);
	assert_true(found_estimate(&f, 50) == 2000);
	for (i = 0; i < 20; i++)
		vt_hotlist_put(s, l, 70);
	read_list(s, l, &f);
	assert_true(found_estimate(&f, 50) == 0);
	assert_true(found_estimate(&f, 0) == 3000);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

static void test_lru(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_LRU, 3, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	static const uint64_t v[] = {1, 1, 1, 1, 2, 3, 2, 4, 4, 5};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		vt_hotlist_put(s, l, v[i]);
	read_list(s, l, &f);
	/* 1 was the most frequent, but not of late; then 3 gave way to 5. */
	assert_int_equal(f.nvalues, 3);
	assert_true(found_estimate(&f, 2) == 2);
	assert_true(found_estimate(&f, 4) == 2);
	assert_true(found_estimate(&f, 5) == 1);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/* 8.1: 2000 to see an increase from nothing, 2000 to see none, then 4000 * 2 * 1 are left out. */
static void test_convergent_back_off(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_CONVERGENT, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	uint64_t i;

	(void)state;
	for (i = 0; i < 12000; i++) {
		vt_hotlist_put(s, l, i & 1);
		if (i == 3999 || i == 4000 || i == 11999) {
			read_list(s, l, &f);
			assert_int_equal(f.profiled, 4000);
			assert_int_equal(f.total, i + 1);
		}
	}
	/* 2000 more, and the back-off is 6000 * 2 * 2. */
	for (i = 0; i < 2000 + 24000; i++)
		vt_hotlist_put(s, l, i & 1);
	read_list(s, l, &f);
	assert_int_equal(f.profiled, 6000);
	vt_hotlist_put(s, l, 9);
	read_list(s, l, &f);
	assert_int_equal(f.profiled, 6001);
	assert_true(found_estimate(&f, 9) == 1);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/* The share that is profiled falls with the length, and what is found stays right. */
static void test_convergent_share(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_CONVERGENT, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s), *constant = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	struct vt_rng r;
	uint64_t i;

	(void)state;
	vt_rng_init(&r, 4);
	for (i = 0; i < 1000000; i++) {
		vt_hotlist_put(s, l, vt_rng_below(&r, 10) < 6 ? 1 : vt_rng_next(&r));
		vt_hotlist_put(s, constant, 8);
	}
	read_list(s, l, &f);
	assert_true(f.profiled > 4000 && f.profiled < 25000);
	assert_int_equal(f.values[0], 1);
	assert_true(fabs((double)f.counts[0] / (double)f.profiled - 0.6) < 0.02);
	/* One run of a million is left out in the same places as single values are. */
	read_list(s, constant, &f);
	assert_true(f.profiled > 4000 && f.profiled < 25000);
	assert_int_equal(f.counts[0], f.profiled);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/* 8.2: 2000 profiled, 2000 left out, 2000 profiled, then up to twice as many each time. */
static void test_random_back_off(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_RANDOM, 0, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	uint64_t i;

	(void)state;
	for (i = 0; i < 6000; i++) {
		vt_hotlist_put(s, l, i);
		if (i == 1999 || i == 3999) {
			read_list(s, l, &f);
			assert_int_equal(f.profiled, 2000);
		}
	}
	read_list(s, l, &f);
	assert_int_equal(f.profiled, 4000);
	for (; i < 1000000; i++)
		vt_hotlist_put(s, l, i);
	read_list(s, l, &f);
	/* The bound doubles eight or nine times. */
	assert_true(f.profiled >= 16000 && f.profiled <= 26000);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/*
 * Both bounds hold, for every value; what comes more often than n/k is there, and what is not there
 * came no more often than the greatest error.
 */
static void test_space_saving_bounds(void **state)
{
	enum { M = 10, K = M - M / 2, VALUES = 60, N = 5000 };
	struct vt_hot f = {.nvalues = 0};
	uint64_t seed, i, v;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		struct vt_hotlists *s = make_lists(VT_ALGO_SPACE_SAVING, M, 1);
		struct vt_hotlist *l = vt_hotlists_add(s);
		uint64_t truth[VALUES] = {0}, most = 0;
		struct vt_rng r;

		vt_rng_init(&r, seed);
		for (i = 0; i < N; i++) {
			/* Some come early only, some late, some all the time. */
			v = vt_rng_below(&r, 1 + vt_rng_below(&r, VALUES / 2));
			if (i > N / 2 && seed % 2)
				v = VALUES - 1 - v;
			truth[v]++;
			vt_hotlist_put(s, l, v);
		}
		read_list(s, l, &f);
		assert_non_null(f.errors);
		assert_int_equal(f.nvalues, M);
		for (i = 0; i < f.nvalues; i++) {
			v = f.values[i];
			assert_true(f.counts[i] >= truth[v]);
			assert_true(f.counts[i] - f.errors[i] <= truth[v]);
			assert_true(f.counts[i] <= f.profiled);
			if (f.errors[i] > most)
				most = f.errors[i];
			truth[v] = 0;
		}
		assert_true(most <= N / K);
		for (v = 0; v < VALUES; v++)
			assert_true(truth[v] <= most);
		vt_hotlists_free(s);
	}
	vt_hot_fini(&f);
}

/* Large counts: the error is rounded, up and by no more than one part in 65536. */
static void test_space_saving_rounding(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_SPACE_SAVING, 2, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	const uint64_t many = 1000000007;

	(void)state;
	vt_hotlist_put_many(s, l, 1, 3 * many);
	vt_hotlist_put_many(s, l, 2, many);
	vt_hotlist_put_many(s, l, 3, many);
	read_list(s, l, &f);
	assert_int_equal(f.values[0], 1);
	assert_int_equal(f.counts[0], 3 * many);
	assert_int_equal(f.errors[0], 0);
	assert_int_equal(f.values[1], 3);
	assert_int_equal(f.counts[1], 2 * many);
	assert_true(f.errors[1] >= many && f.errors[1] - many <= many >> 15);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

/* An error is rounded up to 16 bits, which may take one bit more. */
static void test_space_saving_digits(void **state)
{
	static const uint64_t errors[][2] = {
		{0xffff, 0xffff},   {0x10000, 0x10000}, {0x10001, 0x10002}, {0x1fffd, 0x1fffe},
		{0x1ffff, 0x20000}, {0x20001, 0x20004}, {0x3fffd, 0x40000}, {0x40001, 0x40008}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct vt_hotlists *s = make_lists(VT_ALGO_SPACE_SAVING, 1, 1);
		struct vt_hotlist *l = vt_hotlists_add(s);
		struct vt_hot f = {.nvalues = 0};

		vt_hotlist_put_many(s, l, 1, errors[i][0]);
		vt_hotlist_put_many(s, l, 2, 100);
		read_list(s, l, &f);
		assert_int_equal(f.nvalues, 1);
		assert_int_equal(f.values[0], 2);
		assert_int_equal(f.counts[0], errors[i][0] + 100);
		assert_int_equal(f.errors[0], errors[i][1]);
		vt_hot_fini(&f);
		vt_hotlists_free(s);
	}
}

/* ---- all of them ---- */

/* Counts end at 42 bits. */
static void test_space_saving_most(void **state)
{
	const uint64_t most = (UINT64_C(1) << 42) - 1;
	struct vt_hotlists *s = make_lists(VT_ALGO_SPACE_SAVING, 2, 1);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct vt_hot f = {.nvalues = 0};
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		vt_hotlist_put_many(s, l, 7, i ? 1 : most - 1);
		read_list(s, l, &f);
		assert_int_equal(f.counts[0], i ? most : most - 1);
		assert_int_equal(f.errors[0], 0);
		assert_int_equal(f.total, most - 1 + i);
	}
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

static void test_same_seed_same_list(void **state)
{
	struct vt_hot f[2] = {{.nvalues = 0}, {.nvalues = 0}};
	int algo, i;

	(void)state;
	for (algo = 0; algo < VT_NALGOS; algo++) {
		for (i = 0; i < 2; i++) {
			struct vt_hotlists *s = make_lists((enum vt_algo)algo, 0, 12);
			struct vt_hotlist *l = vt_hotlists_add(s);

			fill_list(s, l, 0, 20000);
			read_list(s, l, &f[i]);
			vt_hotlists_free(s);
		}
		assert_int_equal(f[0].nvalues, f[1].nvalues);
		assert_int_equal(f[0].profiled, f[1].profiled);
		assert_memory_equal(f[0].values, f[1].values, f[0].nvalues * sizeof(uint64_t));
		assert_memory_equal(f[0].counts, f[1].counts, f[0].nvalues * sizeof(uint64_t));
	}
	vt_hot_fini(&f[0]);
	vt_hot_fini(&f[1]);
}

static size_t lists_memory(const struct vt_hotlists *s)
{
	return s->nchunks * (VTI_CHUNK + s->per_chunk * s->rest_size);
}

/* Space does not grow with the sequence; many lists lie in many chunks. */
static void test_memory(void **state)
{
	struct vt_hotlists *s = make_lists(VT_ALGO_GM, 0, 1);
	struct vt_hotlist *l[5000];
	size_t i, before;
	struct vt_rng r;

	(void)state;
	vt_rng_init(&r, 1);
	for (i = 0; i < 5000; i++) {
		l[i] = vt_hotlists_add(s);
		assert_non_null(l[i]);
		vt_hotlist_put(s, l[i], i);
	}
	before = lists_memory(s);
	assert_true(before >= 5000 * (VT_HOTLIST_HEAD + 256));
	assert_true(before <= 2 * 5000 * (VT_HOTLIST_HEAD + 256));
	for (i = 0; i < 100000; i++)
		vt_hotlist_put(s, l[i % 5000], vt_rng_next(&r));
	assert_int_equal(lists_memory(s), before);
	for (i = 0; i < 5000; i++)
		assert_int_equal(l[i]->total, 21);
	vt_hotlists_free(s);
	/* What keeps everything grows with what there is to keep. */
	s = make_lists(VT_ALGO_EXACT, 0, 1);
	l[0] = vt_hotlists_add(s);
	for (i = 0; i < 5000; i++)
		vt_hotlist_put(s, l[0], i);
	assert_in_range(vti_rest(l[0])->u.all->cap, 4999, 4 * 5000);
	vt_hotlists_free(s);
}

/* ---- against plain models ---- */

/* What a list has is what the model has. */
static void compare_model(struct vt_hotlists *s, struct vt_hotlist *l, const struct model *m)
{
	struct vt_hot f = {.nvalues = 0};
	uint32_t i, k;

	read_list(s, l, &f);
	assert_int_equal(f.nvalues, m->n);
	assert_int_equal(f.profiled, m->looked);
	for (i = 0; i < f.nvalues; i++) {
		k = model_find(m, f.values[i]);
		assert_true(k < m->n);
		assert_int_equal(f.counts[i], m->e[k].count);
		assert_int_equal(f.errors ? f.errors[i] : 0, m->e[k].error);
		assert_true(!i || f.counts[i - 1] > f.counts[i] ||
			    (f.counts[i - 1] == f.counts[i] && f.values[i - 1] < f.values[i]));
	}
	vt_hot_fini(&f);
}

static void check_model(const struct vt_hotlist_options *o, uint64_t seed)
{
	struct vt_hotlists *s = vt_hotlists_new(o, &err);
	struct vt_hotlist *l = vt_hotlists_add(s);
	struct model m;
	struct vt_rng r;
	unsigned i;

	model_begin(&m, o);
	vt_rng_init(&r, seed);
	for (i = 0; i < 3000; i++) {
		/* Some of few, some of many; in phases; now and then a run. */
		uint64_t value = 1000 * (i / 700) + vt_rng_below(&r, 1 + vt_rng_below(&r, 40));
		uint64_t n = vt_rng_below(&r, 6) ? 1 : 1 + vt_rng_below(&r, i % 50 ? 4 : 300), k;

		for (k = 0; k < n; k++)
			model_put(&m, value);
		if (vt_rng_below(&r, 2))
			vt_hotlist_put_many(s, l, value, n);
		else
			for (k = 0; k < n; k++)
				vt_hotlist_put(s, l, value);
		if (vt_rng_below(&r, 10) == 0)
			compare_model(s, l, &m);
	}
	compare_model(s, l, &m);
	vt_hotlists_free(s);
}

static void test_models(void **state)
{
	static const struct vt_hotlist_options options[] = {
		{.algo = VT_ALGO_LRU, .entries = 5},
		{.algo = VT_ALGO_LRU, .entries = 1},
		{.algo = VT_ALGO_TNV, .steady = 4, .clear = 5, .interval = 50},
		{.algo = VT_ALGO_TNV, .steady = 1, .clear = 2, .interval = 3},
		{.algo = VT_ALGO_TNV, .steady = 2, .no_clear = true, .interval = 20},
		{.algo = VT_ALGO_CONVERGENT, .steady = 3, .clear = 3, .interval = 40},
		{.algo = VT_ALGO_CONVERGENT, .steady = 1, .clear = 1, .interval = 7},
		{.algo = VT_ALGO_RANDOM, .steady = 3, .clear = 4, .interval = 25},
		{.algo = VT_ALGO_RANDOM, .steady = 2, .clear = 2, .interval = 3},
		{.algo = VT_ALGO_SPACE_SAVING, .entries = 9},
		{.algo = VT_ALGO_SPACE_SAVING, .entries = 16},
		{.algo = VT_ALGO_SPACE_SAVING, .entries = 1},
	};
	uint64_t seed;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		for (seed = 1; seed < 6; seed++) {
			struct vt_hotlist_options o = options[i];

			o.seed = seed;
			check_model(&o, 100 + seed);
		}
}

/* ---- options ---- */

static void test_defaults(void **state)
{
	static const struct {
		struct vt_hotlist_options o;
		uint32_t capacity, steady;
		double factor;
	} rows[] = {
		{{.algo = VT_ALGO_EXACT}, 0, 3, 0},
		{{.algo = VT_ALGO_GM}, 16, 3, 16 / 15.0},
		{{.algo = VT_ALGO_GM, .entries = 4}, 4, 3, 4 / 3.0},
		{{.algo = VT_ALGO_GM, .entries = 2}, 2, 3, 2},
		{{.algo = VT_ALGO_GM, .entries = 1}, 1, 3, 2},
		{{.algo = VT_ALGO_GM, .factor = 4}, 16, 3, 4},
		{{.algo = VT_ALGO_GM, .factor = 1.001}, 16, 3, 1.001},
		{{.algo = VT_ALGO_GM, .factor = 1024}, 16, 3, 1024},
		{{.algo = VT_ALGO_LRU}, 6, 3, 0},
		{{.algo = VT_ALGO_LRU, .entries = 9, .steady = 2}, 9, 2, 0},
		{{.algo = VT_ALGO_SPACE_SAVING}, 16, 3, 0},
		{{.algo = VT_ALGO_TNV}, 6, 3, 0},
		{{.algo = VT_ALGO_TNV, .entries = 9}, 6, 3, 0},
		{{.algo = VT_ALGO_TNV, .steady = 5}, 8, 5, 0},
		{{.algo = VT_ALGO_TNV, .clear = 5}, 8, 3, 0},
		{{.algo = VT_ALGO_TNV, .clear = 5, .no_clear = true}, 3, 3, 0},
		{{.algo = VT_ALGO_CONVERGENT, .no_clear = true}, 3, 3, 0},
		{{.algo = VT_ALGO_RANDOM, .steady = 1, .clear = 1}, 2, 1, 0},
		{{.algo = VT_ALGO_LRU, .entries = VT_HOTLIST_MAX_ENTRIES},
		 VT_HOTLIST_MAX_ENTRIES,
		 3,
		 0},
		{{.algo = VT_ALGO_LRU, .steady = VT_HOTLIST_MAX_ENTRIES},
		 6,
		 VT_HOTLIST_MAX_ENTRIES,
		 0},
		{{.algo = VT_ALGO_LRU, .clear = VT_HOTLIST_MAX_ENTRIES}, 6, 3, 0},
	};
	struct vt_hot f = {.nvalues = 0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_hotlists *s = vt_hotlists_new(&rows[i].o, &err);

		assert_non_null(s);
		read_list(s, vt_hotlists_add(s), &f);
		if (f.capacity != rows[i].capacity || f.steady != rows[i].steady ||
		    f.factor != rows[i].factor)
			fail_msg("row %zu: %u, %u, %g", i, f.capacity, f.steady, f.factor);
		assert_int_equal(f.nvalues, 0);
		assert_int_equal(f.total, 0);
		assert_int_equal(f.errors != NULL, rows[i].o.algo == VT_ALGO_SPACE_SAVING);
		assert_int_equal(s->options.interval, 2000);
		vt_hotlists_free(s);
	}
	vt_hot_fini(&f);
}

/* Lists of which intervals are told apart: each has its own totals. */
static void test_intervals(void **state)
{
	const uint64_t totals[] = {10, 20};
	struct vt_intervals *iv = vt_intervals_new(2, totals, 2);
	struct vt_hotlists *s = make_lists(VT_ALGO_TNV, 0, 1);
	struct vt_hotlist *l[2];
	unsigned i;

	(void)state;
	vt_intervals_watch(iv, s);
	l[0] = vt_hotlists_add(s);
	l[1] = vt_hotlists_add(s);
	for (i = 0; i < 20; i++)
		vt_hotlist_put(s, l[1], i < 10 ? 7 : i);
	for (i = 0; i < 10; i++)
		vt_hotlist_put(s, l[0], i < 5 ? i : 7);
	assert_true(vt_intervals_of(iv, s, l[0])[0] == 0.2F);
	assert_true(vt_intervals_of(iv, s, l[0])[1] == 1);
	assert_true(vt_intervals_of(iv, s, l[1])[0] == 1);
	assert_true(vt_intervals_of(iv, s, l[1])[1] == 0.1F);
	vt_hotlists_free(s);
	vt_intervals_free(iv);
}

static void refuse(const struct vt_hotlist_options *o)
{
	err.code = VT_OK;
	assert_null(vt_hotlists_new(o, &err));
	assert_int_equal(err.code, VT_E_USAGE);
	assert_true(err.text[0] != '\0');
}

static void test_refused_options(void **state)
{
	(void)state;
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_GM, .factor = 1});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_GM, .factor = 0.5});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_GM, .factor = NAN});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_GM, .entries = 1u << 20});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_TNV, .steady = 10000, .clear = 10000});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_GM, .factor = 1.0009});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_GM, .factor = 1024.5});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_LRU,
					    .entries = VT_HOTLIST_MAX_ENTRIES + 1});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_LRU,
					    .steady = VT_HOTLIST_MAX_ENTRIES + 1});
	refuse(&(struct vt_hotlist_options){.algo = VT_ALGO_LRU,
					    .clear = VT_HOTLIST_MAX_ENTRIES + 1});
	refuse(&(struct vt_hotlist_options){.algo = (enum vt_algo)VT_NALGOS});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_short_sequences),
		cmocka_unit_test(test_exact_against_sorting),
		cmocka_unit_test(test_order_found),
		cmocka_unit_test(test_tnv_battle),
		cmocka_unit_test(test_tnv_interval_grows),
		cmocka_unit_test(test_lru),
		cmocka_unit_test(test_convergent_back_off),
		cmocka_unit_test(test_convergent_share),
		cmocka_unit_test(test_random_back_off),
		cmocka_unit_test(test_space_saving_bounds),
		cmocka_unit_test(test_space_saving_rounding),
		cmocka_unit_test(test_space_saving_digits),
		cmocka_unit_test(test_space_saving_most),
		cmocka_unit_test(test_same_seed_same_list),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_refused_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
