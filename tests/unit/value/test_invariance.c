/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/common/hots.h"
#include "tests/unit/common/streams.h"
#include "value/invariance.h"

#define NEAR(x, y) assert_true(fabs((x) - (y)) < 1e-12)

/* The paper's two examples of 4.2, two made up, and one that was never profiled. */
static const struct hot_spec lists[] = {
	/* XYXY...: LVP 0, Inv-Top 50 %, Inv-2 100 %. */
	{.offset = 0x10,
	 .what = VT_WHAT_LOAD,
	 .algo = VT_ALGO_TNV,
	 .capacity = 6,
	 .steady = 3,
	 .total = 1000,
	 .nvalues = 2,
	 .values = {0xa, 0xb},
	 .counts = {500, 500}},
	/* 1000 values, each 100 times in a row: LVP 99 %, Inv-Top 0.1 %. */
	{.offset = 0x20,
	 .what = VT_WHAT_LOAD,
	 .algo = VT_ALGO_TNV,
	 .capacity = 6,
	 .steady = 3,
	 .total = 100000,
	 .same = 99000,
	 .zero = 100,
	 .nvalues = 6,
	 .values = {1, 2, 3, 4, 5, 6},
	 .counts = {100, 100, 100, 100, 100, 100}},
	{.offset = 0x30,
	 .what = VT_WHAT_STORE,
	 .algo = VT_ALGO_TNV,
	 .capacity = 6,
	 .steady = 3,
	 .total = 9000,
	 .profiled = 4500,
	 .same = 900,
	 .stride = 4500,
	 .zero = 9000,
	 .nvalues = 1,
	 .values = {0},
	 .counts = {4500}},
	{.offset = 0x40, .what = VT_WHAT_LOAD, .algo = VT_ALGO_TNV, .steady = 3},
};

static void test_metrics_of_a_list(void **state)
{
	struct vt_hotprofile *p = hot_profile(lists, 4);
	const struct vt_hot *h = vt_hotprofile_at(p, 0);

	(void)state;
	NEAR(vt_inv_value(h, VT_INV_TOP), 0.5);
	NEAR(vt_inv_value(h, VT_INV_ALL), 1);
	NEAR(vt_inv_value(h, VT_INV_LVP), 0);
	h = vt_hotprofile_at(p, 1);
	NEAR(vt_inv_value(h, VT_INV_TOP), 0.001);
	NEAR(vt_inv_value(h, VT_INV_ALL), 0.003);
	NEAR(vt_inv_m(h, 5), 0.005);
	NEAR(vt_inv_m(h, UINT32_MAX), 0.006);
	NEAR(vt_inv_value(h, VT_INV_LVP), 0.99);
	NEAR(vt_inv_value(h, VT_INV_ZERO), 0.001);
	h = vt_hotprofile_at(p, 2);
	NEAR(vt_inv_value(h, VT_INV_TOP), 1);
	NEAR(vt_inv_value(h, VT_INV_LVP), 0.1);
	NEAR(vt_inv_value(h, VT_INV_STRIDE), 0.5);
	NEAR(vt_inv_value(vt_hotprofile_at(p, 3), VT_INV_TOP), 0);
	NEAR(vt_inv_value(vt_hotprofile_at(p, 3), VT_INV_LVP), 0);
	vt_hotprofile_free(p);
}

static void test_overall(void **state)
{
	struct vt_hotprofile *p = hot_profile(lists, 4);
	struct vt_inv_overall sum;

	(void)state;
	vt_inv_sum(p, VT_INV_EVERY, &sum);
	assert_int_equal(sum.lists, 3);
	assert_int_equal(sum.executions, 110000);
	assert_int_equal(sum.profiled, 105500);
	NEAR(sum.value[VT_INV_TOP], (500 + 100 + 9000) / 110000.0);
	NEAR(sum.value[VT_INV_ALL], (1000 + 300 + 9000) / 110000.0);
	NEAR(sum.value[VT_INV_LVP], (99000 + 900) / 110000.0);
	NEAR(sum.value[VT_INV_ZERO], (100 + 9000) / 110000.0);
	NEAR(sum.value[VT_INV_STRIDE], 4500 / 110000.0);
	vt_inv_sum(p, 1u << VT_WHAT_LOAD, &sum);
	assert_int_equal(sum.lists, 2);
	NEAR(sum.value[VT_INV_TOP], 600 / 101000.0);
	vt_inv_sum(p, 1u << VT_WHAT_ARG, &sum);
	assert_int_equal(sum.lists, 0);
	NEAR(sum.value[VT_INV_TOP], 0);
	vt_hotprofile_free(p);
}

/* Estimates of a sample may add up to more than there was. */
static void test_shares_end_at_one(void **state)
{
	const struct hot_spec s = {.algo = VT_ALGO_GM,
				   .capacity = 4,
				   .factor = 2,
				   .level = 3,
				   .total = 100,
				   .nvalues = 2,
				   .values = {1, 2},
				   .counts = {13, 1}};
	struct vt_hotprofile *p = hot_profile(&s, 1);

	(void)state;
	NEAR(vt_inv_m(vt_hotprofile_at(p, 0), 1), 1);
	NEAR(vt_inv_m(vt_hotprofile_at(p, 0), 2), 1);
	vt_hotprofile_free(p);
}

/*
 * Three lists in both, one in either only, one of the first's below the threshold.  Reference: 25
 * steady, the other: 2.
 */
static const struct hot_spec first_lists[] = {
	{.offset = 1,
	 .algo = VT_ALGO_TNV,
	 .capacity = 50,
	 .steady = 25,
	 .total = 100,
	 .same = 30,
	 .zero = 10,
	 .nvalues = 4,
	 .values = {7, 8, 9, 10},
	 .counts = {50, 20, 10, 5}},
	{.offset = 2,
	 .algo = VT_ALGO_TNV,
	 .capacity = 50,
	 .steady = 25,
	 .total = 300,
	 .same = 150,
	 .nvalues = 3,
	 .values = {1, 2, 3},
	 .counts = {120, 90, 30}},
	{.offset = 3,
	 .algo = VT_ALGO_TNV,
	 .capacity = 50,
	 .steady = 25,
	 .total = 600,
	 .nvalues = 2,
	 .values = {4, 5},
	 .counts = {180, 60}},
	{.offset = 4,
	 .algo = VT_ALGO_TNV,
	 .capacity = 50,
	 .steady = 25,
	 .total = 1000,
	 .nvalues = 1,
	 .values = {4},
	 .counts = {1000}},
};

static const struct hot_spec second_lists[] = {
	{.offset = 1,
	 .algo = VT_ALGO_TNV,
	 .capacity = 4,
	 .steady = 2,
	 .total = 10,
	 .same = 4,
	 .zero = 3,
	 .nvalues = 3,
	 .values = {8, 7, 11},
	 .counts = {4, 3, 1}},
	{.offset = 2,
	 .algo = VT_ALGO_TNV,
	 .capacity = 4,
	 .steady = 2,
	 .total = 40,
	 .profiled = 20,
	 .same = 10,
	 .nvalues = 3,
	 .values = {2, 3, 1},
	 .counts = {10, 6, 4}},
	{.offset = 3,
	 .algo = VT_ALGO_TNV,
	 .capacity = 4,
	 .steady = 2,
	 .total = 60,
	 .nvalues = 2,
	 .values = {77, 78},
	 .counts = {9, 9}},
	{.offset = 5,
	 .algo = VT_ALGO_TNV,
	 .capacity = 4,
	 .steady = 2,
	 .total = 90,
	 .nvalues = 1,
	 .values = {9},
	 .counts = {90}},
};

static void compare(const struct vt_inv_options *o, struct vt_inv_comparison *r)
{
	struct vt_hotprofile *a = hot_profile(first_lists, 4);
	struct vt_hotprofile *b = hot_profile(second_lists, 4);
	struct vt_inv_pair *pairs;
	size_t n;

	pairs = vt_inv_match(a, b, o->what, &n);
	assert_non_null(pairs);
	vt_inv_compare(a, b, pairs, n, o, r);
	free(pairs);
	vt_hotprofile_free(a);
	vt_hotprofile_free(b);
}

static void test_comparison(void **state)
{
	struct vt_inv_options o = {.what = VT_INV_EVERY, .threshold = 0.3};
	struct vt_inv_comparison r;

	(void)state;
	compare(&o, &r);
	assert_int_equal(r.lists, 3);
	assert_int_equal(r.executions, 1000);
	assert_int_equal(r.of, 2000);
	assert_int_equal(r.only_first, 1);
	assert_int_equal(r.only_second, 1);
	assert_int_equal(r.m, 2);
	NEAR(r.profiled, 180 / 200.0);
	/* Inv-Top: 50 and 40 %, 40 and 50 %, 30 and 15 %. */
	NEAR(r.diff_top, (100 * 0.1 + 300 * 0.1 + 600 * 0.15) / 1000);
	NEAR(r.rms, sqrt((100 * 0.01 + 300 * 0.01 + 600 * 0.0225) / 1000));
	/* Inv-2: 70 and 70 %; 70 and 80 %; 40 and 30 %. */
	NEAR(r.diff_all, (100 * 0 + 300 * 0.1 + 600 * 0.1) / 1000 / 2);
	/* 30 and 40 %; 50 and 25 %; 0 and 0. */
	NEAR(r.diff_lvp, (100 * 0.1 + 300 * 0.25) / 1000);
	NEAR(r.diff_zero, 100 * 0.2 / 1000);
	/* 7 is steady there; 1 is not; the third has an Inv-Top of 30 %, which is not above it. */
	assert_int_equal(r.candidates, 2);
	NEAR(r.find_top, 100 / 400.0);
	assert_int_equal(r.first.lists, 4);
	NEAR(r.first.value[VT_INV_TOP], (50 + 120 + 180 + 1000) / 2000.0);
	NEAR(r.second.value[VT_INV_TOP], (4 + 20 + 9 + 90) / 200.0);

	o.m = 3;
	o.threshold = 0.29;
	compare(&o, &r);
	/* Inv-3: 80 and 80 %; 80 and 100 %; 40 and 30 %. */
	NEAR(r.diff_all, (300 * 0.2 + 600 * 0.1) / 1000 / 3);
	assert_int_equal(r.candidates, 3);
	NEAR(r.find_top, 100 / 1000.0);

	o.what = 1u << VT_WHAT_ARG;
	compare(&o, &r);
	assert_int_equal(r.lists, 0);
	NEAR(r.find_top, 1);
	NEAR(r.diff_top, 0);
}

static void test_common_m(void **state)
{
	struct hot_spec exact = {.algo = VT_ALGO_EXACT, .steady = 2, .total = 5};
	struct vt_hotprofile *a = hot_profile(first_lists, 4);
	struct vt_hotprofile *b = hot_profile(&exact, 1);

	(void)state;
	assert_true(vt_inv_common_m(a, a, VT_INV_EVERY) == 25);
	assert_true(vt_inv_common_m(a, b, VT_INV_EVERY) == 25);
	assert_true(vt_inv_common_m(b, a, VT_INV_EVERY) == 25);
	assert_true(vt_inv_common_m(b, b, VT_INV_EVERY) == UINT32_MAX);
	vt_hotprofile_free(a);
	vt_hotprofile_free(b);
}

static void test_curve(void **state)
{
	/* 1.5 % of the executions at 40 %, 0.5 % at 100 %, 98 % at 10 %. */
	const struct hot_spec s[] = {
		{.offset = 1,
		 .total = 15,
		 .nvalues = 1,
		 .algo = VT_ALGO_TNV,
		 .values = {1},
		 .counts = {6}},
		{.offset = 2,
		 .total = 5,
		 .nvalues = 1,
		 .algo = VT_ALGO_TNV,
		 .values = {1},
		 .counts = {5}},
		{.offset = 3,
		 .total = 980,
		 .nvalues = 1,
		 .algo = VT_ALGO_TNV,
		 .values = {1},
		 .counts = {98}},
	};
	struct vt_hotprofile *p = hot_profile(s, 3);
	double curve[VT_INV_BUCKETS];
	int i;

	(void)state;
	assert_true(vt_inv_curve(p, VT_INV_EVERY, VT_INV_TOP, curve));
	for (i = 0; i < 98; i++)
		assert_true(fabs(curve[i] - 0.1) < 1e-9);
	assert_true(fabs(curve[98] - 0.4) < 1e-9);
	assert_true(fabs(curve[99] - (0.4 + 1.0) / 2) < 1e-9);
	assert_false(vt_inv_curve(p, 1u << VT_WHAT_ARG, VT_INV_TOP, curve));
	vt_hotprofile_free(p);
}

/* Each execution for itself: sorted, and dealt out one by one. */
static void test_curve_by_executions(void **state)
{
	enum { LISTS = 37, ALL = 4000 };
	struct hot_spec s[LISTS];
	struct {
		double share;
		uint64_t total;
	} by[LISTS], one;
	struct vt_hotprofile *p;
	double curve[VT_INV_BUCKETS], want[VT_INV_BUCKETS] = {0};
	uint64_t left = ALL, n = 0, k;
	unsigned i, j;

	(void)state;
	memset(s, 0, sizeof(s));
	for (i = 0; i < LISTS; i++) {
		s[i].offset = 100 - i;
		s[i].algo = VT_ALGO_TNV;
		s[i].total = i < LISTS - 1 ? 3 + (i * 61) % 200 : left;
		left -= s[i].total;
		s[i].nvalues = 1;
		s[i].values[0] = 1;
		s[i].counts[0] = s[i].total * ((i * 7) % 10) / 10; /* several are the same */
		by[i].share = (double)s[i].counts[0] / (double)s[i].total;
		by[i].total = s[i].total;
	}
	for (i = 0; i < LISTS; i++)
		for (j = i + 1; j < LISTS; j++)
			if (by[j].share < by[i].share) {
				one = by[i];
				by[i] = by[j];
				by[j] = one;
			}
	for (i = 0; i < LISTS; i++)
		for (k = 0; k < by[i].total; k++)
			want[n++ * VT_INV_BUCKETS / ALL] += by[i].share * VT_INV_BUCKETS / ALL;
	p = hot_profile(s, LISTS);
	assert_true(vt_inv_curve(p, VT_INV_EVERY, VT_INV_TOP, curve));
	for (i = 0; i < VT_INV_BUCKETS; i++)
		assert_true(fabs(curve[i] - want[i]) < 1e-9);
	vt_hotprofile_free(p);
}

/* Sums end where 64 bits do. */
static void test_largest_sums(void **state)
{
	struct hot_spec s[6];
	struct vt_inv_overall sum;
	size_t n;

	(void)state;
	memset(s, 0, sizeof(s));
	for (n = 0; n < 6; n++) {
		s[n].offset = n;
		s[n].algo = VT_ALGO_TNV;
		s[n].total = n < 4 ? VT_HOT_MAX_TOTAL - (n == 3 ? 2 : 0) : n == 4 ? 1 : 9;
	}
	for (n = 4; n <= 6; n++) {
		struct vt_hotprofile *p = hot_profile(s, n);
		uint64_t want = n == 4 ? UINT64_MAX - 1 : UINT64_MAX;

		vt_inv_sum(p, VT_INV_EVERY, &sum);
		assert_int_equal(sum.lists, n);
		assert_int_equal(sum.executions, want);
		assert_int_equal(sum.profiled, want);
		vt_hotprofile_free(p);
	}
}

/* Up to where two profiles' lists are compared. */
static void test_steady_sizes(void **state)
{
	static const struct hot_spec mixed[] = {
		{.offset = 1, .what = VT_WHAT_LOAD, .algo = VT_ALGO_TNV, .steady = 2, .total = 5},
		{.offset = 2, .what = VT_WHAT_STORE, .algo = VT_ALGO_TNV, .steady = 7, .total = 5},
		{.offset = 3, .what = VT_WHAT_STORE, .algo = VT_ALGO_TNV, .steady = 4, .total = 5},
		{.offset = 4, .what = VT_WHAT_ARG, .algo = VT_ALGO_TNV, .total = 5},
		{.offset = 5, .what = VT_WHAT_RESULT, .algo = VT_ALGO_TNV, .steady = 9}};
	static const struct {
		uint32_t what, m;
	} rows[] = {{1u << VT_WHAT_LOAD, 2},
		    {1u << VT_WHAT_STORE, 7},
		    {1u << VT_WHAT_LOAD | 1u << VT_WHAT_STORE, 7},
		    {1u << VT_WHAT_LOAD | 1u << VT_WHAT_ARG, UINT32_MAX},
		    {1u << VT_WHAT_LOAD | 1u << VT_WHAT_RESULT, 2},
		    {1u << VT_WHAT_RESULT, UINT32_MAX},
		    {VT_INV_EVERY, UINT32_MAX}};
	struct vt_hotprofile *p = hot_profile(mixed, 5);
	struct vt_hot h = {.nvalues = 4};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(vt_inv_common_m(p, p, rows[i].what), rows[i].m);
	vt_hotprofile_free(p);
	for (h.steady = 0; h.steady < 7; h.steady++)
		assert_int_equal(vt_inv_steady(&h), h.steady && h.steady < 4 ? h.steady : 4);
}

/* ---- lists of two profiles ---- */

static void put_list(struct vt_writer *w, uint64_t image, uint64_t what, uint64_t caller_image,
		     uint64_t caller)
{
	const struct hot_spec s = {.image = image,
				   .offset = 0x10,
				   .what = what,
				   .caller_image = caller_image,
				   .caller = caller,
				   .algo = VT_ALGO_TNV,
				   .total = 5};

	hot_put(w, &s);
}

/* Images have other numbers in the second; one has no counterpart there. */
static struct vt_hotprofile *profile_of(bool second)
{
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t a = second ? 4 : 1, b = second ? 3 : 2;

	if (second) {
		hot_image(w, 3, "/bin/b", "");
		hot_image(w, 4, "/bin/a", "");
	} else {
		hot_image(w, 1, "/bin/a", "");
		hot_image(w, 2, "/bin/b", "");
		hot_image(w, 9, "/a/first", "");
		put_list(w, 9, VT_WHAT_LOAD, 0, 0);
		put_list(w, a, VT_WHAT_LOAD, 9, 0x44);
	}
	put_list(w, a, VT_WHAT_LOAD, 0, 0);
	put_list(w, a, VT_WHAT_LOAD, b, 0x44);
	put_list(w, b, VT_WHAT_LOAD, a, 0x44);
	put_list(w, b, VT_WHAT_STORE, 0, 0);
	if (!second)
		put_list(w, b, VT_WHAT_LOAD, b, 0x44);
	hot_read(w, fd, p);
	return p;
}

static void test_matches(void **state)
{
	struct vt_hotprofile *a = profile_of(false), *b = profile_of(true);
	struct vt_inv_pair *pairs;
	size_t n, i;

	(void)state;
	pairs = vt_inv_match(a, b, VT_INV_EVERY, &n);
	assert_int_equal(n, 4);
	for (i = 0; i < n; i++) {
		const struct vt_hot *x = vt_hotprofile_at(a, pairs[i].a);
		const struct vt_hot *y = vt_hotprofile_at(b, pairs[i].b);
		const struct vt_hot_image *images[2][2] = {{vt_hotprofile_image(a, x->key.image),
							    vt_hotprofile_image(b, y->key.image)},
							   {NULL, NULL}};

		assert_int_equal(x->key.what, y->key.what);
		assert_int_equal(x->key.caller, y->key.caller);
		assert_string_equal(images[0][0]->path, images[0][1]->path);
		if (!x->key.caller)
			continue;
		images[1][0] = vt_hotprofile_image(a, x->key.caller_image);
		images[1][1] = vt_hotprofile_image(b, y->key.caller_image);
		assert_string_equal(images[1][0]->path, images[1][1]->path);
	}
	free(pairs);
	pairs = vt_inv_match(a, b, 1u << VT_WHAT_STORE, &n);
	assert_int_equal(n, 1);
	free(pairs);
	pairs = vt_inv_match(b, a, VT_INV_EVERY, &n);
	assert_int_equal(n, 4);
	free(pairs);
	vt_hotprofile_free(a);
	vt_hotprofile_free(b);
}

/* Two lists that became one are one place. */
static void test_matches_joined(void **state)
{
	const struct hot_spec x = {.algo = VT_ALGO_EXACT,
				   .what = VT_WHAT_LOAD,
				   .offset = 8,
				   .total = 10,
				   .nvalues = 1,
				   .values = {4},
				   .counts = {10}};
	const struct hot_spec both[] = {x, x};
	struct vt_hotprofile *a = hot_profile(both, 2), *b = hot_profile(both, 1);
	struct vt_inv_pair *pairs;
	size_t n;

	(void)state;
	pairs = vt_inv_match(a, b, VT_INV_EVERY, &n);
	assert_int_equal(n, 1);
	assert_int_equal(pairs[0].a, 0);
	assert_int_equal(pairs[0].b, 0);
	free(pairs);
	vt_hotprofile_free(a);
	vt_hotprofile_free(b);
}

/* Whole lists have no size that a difference would be divided by. */
static void test_whole_lists(void **state)
{
	struct hot_spec x = {.algo = VT_ALGO_EXACT,
			     .total = 10,
			     .nvalues = 2,
			     .values = {1, 2},
			     .counts = {5, 3}},
			y = x;
	struct vt_inv_options o = {.what = VT_INV_EVERY, .threshold = 0.3};
	struct vt_inv_comparison r;
	struct vt_hotprofile *a, *b;
	struct vt_inv_pair *pairs;
	size_t n;

	(void)state;
	y.counts[0] = 4;
	y.counts[1] = 2;
	a = hot_profile(&x, 1);
	b = hot_profile(&y, 1);
	pairs = vt_inv_match(a, b, VT_INV_EVERY, &n);
	vt_inv_compare(a, b, pairs, n, &o, &r);
	assert_int_equal(r.m, UINT32_MAX);
	NEAR(r.diff_all, 0.2);
	/* The first of the other's values counts as well. */
	assert_int_equal(r.candidates, 1);
	NEAR(r.find_top, 1);
	NEAR(r.diff_top, 0.1);
	NEAR(r.profiled, 1);
	assert_int_equal(r.only_first, 0);
	/* With nothing to compare it with. */
	vt_inv_compare(a, b, pairs, 0, &o, &r);
	assert_int_equal(r.lists, 0);
	assert_int_equal(r.only_first, 1);
	NEAR(r.diff_all, 0);
	free(pairs);
	vt_hotprofile_free(a);
	vt_hotprofile_free(b);
}

static void test_names(void **state)
{
	static const char *const names[] = {"inv-top", "inv-all", "lvp", "zero", "stride"};
	unsigned m;

	(void)state;
	assert_int_equal(VT_NINVMETRICS, 5);
	for (m = 0; m < VT_NINVMETRICS; m++)
		assert_string_equal(vt_inv_metric_name(m), names[m]);
	assert_string_equal(vt_inv_metric_name(VT_NINVMETRICS), "?");
}

/* Words of --what: a name, its plurals, and names for several. */
static void test_words_for_kinds(void **state)
{
	const uint32_t addresses = 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE_ADDRESS;

	(void)state;
	assert_int_equal(vt_whats_of("load", 4, 0), 1u << VT_WHAT_LOAD);
	assert_int_equal(vt_whats_of("loads,args", 5, 0), 1u << VT_WHAT_LOAD);
	assert_int_equal(vt_whats_of("addresses", 9, 0), addresses);
	assert_int_equal(vt_whats_of("callers", 7, 0), 1u << VT_WHAT_RETURN);
	assert_int_equal(vt_whats_of("default", 7, 5), 5);
	assert_int_equal(vt_whats_of("all", 3, 0), (1u << VT_NWHATS) - 1);
	assert_int_equal(vt_whats_of("lo", 2, 0), 0);
	assert_int_equal(vt_whats_of("s", 1, 0), 0);
	assert_int_equal(vt_whats_of("", 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_for_kinds), cmocka_unit_test(test_metrics_of_a_list),
		cmocka_unit_test(test_overall),		cmocka_unit_test(test_shares_end_at_one),
		cmocka_unit_test(test_comparison),	cmocka_unit_test(test_common_m),
		cmocka_unit_test(test_curve),		cmocka_unit_test(test_curve_by_executions),
		cmocka_unit_test(test_largest_sums),	cmocka_unit_test(test_steady_sizes),
		cmocka_unit_test(test_matches),		cmocka_unit_test(test_matches_joined),
		cmocka_unit_test(test_whole_lists),	cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
