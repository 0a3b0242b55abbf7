/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/value/lists.h"
#include "value/hot_list.h"

/*
 * Hot lists against models of their algorithms that take one value at a time and search the whole
 * table: written from the papers, and for speed's sake not at all.
 */

#define MOST   12
#define RUNS   400
#define LENGTH 600

struct entry {
	uint64_t value, count, error;
};

struct model {
	struct entry entry[MOST];
	unsigned n, capacity, steady;
	uint64_t age, interval; /* tnv */
	uint64_t given_up;	/* space-saving: the highest count that was */
};

static unsigned find(const struct model *m, uint64_t value)
{
	unsigned i;

	for (i = 0; i < m->n && m->entry[i].value != value; i++)
		;
	return i;
}

static void put_in_front(struct model *m, unsigned from, unsigned to)
{
	struct entry e = m->entry[from];

	for (; from > to; from--)
		m->entry[from] = m->entry[from - 1];
	m->entry[to] = e;
}

static uint64_t seen(const struct entry *e)
{
	return e->count - e->error;
}

/* Up to where it has its order; among equals the older one stays ahead. */
static void rise(struct model *m, unsigned i)
{
	unsigned to = i;

	while (to > 0 && seen(&m->entry[to - 1]) < seen(&m->entry[i]))
		to--;
	put_in_front(m, i, to);
}

/* Value profiling 3.2.1: the clear part goes every max(interval, 2 x the LFU value) values. */
static void tnv(struct model *m, uint64_t value)
{
	unsigned i = find(m, value);
	uint64_t lfu, due;

	if (i < m->n) {
		m->entry[i].count++;
	} else {
		if (m->n == m->capacity)
			i = m->n - 1;
		else
			m->n++;
		m->entry[i] = (struct entry){value, 1, 0};
	}
	rise(m, i);
	lfu = m->n >= m->steady ? m->entry[m->steady - 1].count : 0;
	due = 2 * lfu > m->interval ? 2 * lfu : m->interval;
	if (++m->age < due)
		return;
	if (m->n > m->steady)
		m->n = m->steady;
	m->age = 0;
}

static void lru(struct model *m, uint64_t value)
{
	unsigned i = find(m, value);

	if (i < m->n) {
		m->entry[i].count++;
	} else {
		if (m->n == m->capacity)
			i = m->n - 1;
		else
			m->n++;
		m->entry[i] = (struct entry){value, 1, 0};
	}
	put_in_front(m, i, 0);
}

/* Half of the entries are safe; of the others that with the lowest count goes, the last of such. */
static void space_saving(struct model *m, uint64_t value)
{
	unsigned i = find(m, value), k;

	if (i < m->n) {
		m->entry[i].count++;
	} else if (m->n < m->capacity) {
		m->entry[m->n++] = (struct entry){value, 1, 0};
	} else {
		for (i = k = m->n - 1; k-- > m->capacity / 2;)
			if (m->entry[k].count < m->entry[i].count)
				i = k;
		if (m->entry[i].count > m->given_up)
			m->given_up = m->entry[i].count;
		for (; i + 1 < m->n; i++)
			m->entry[i] = m->entry[i + 1];
		m->entry[i] = (struct entry){value, m->given_up + 1, m->given_up};
	}
	rise(m, i);
}

static int by_count(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void compare(struct model *m, const struct vt_hot *f)
{
	uint64_t count;
	unsigned i, k;

	assert_int_equal(f->nvalues, m->n);
	qsort(m->entry, m->n, sizeof(m->entry[0]), by_count);
	for (i = 0; i < m->n; i++) {
		for (k = 0; k < m->n && f->values[k] != m->entry[i].value; k++)
			;
		assert_true(k < m->n);
		count = f->counts[k];
		assert_int_equal(count, m->entry[i].count);
		assert_int_equal(f->errors ? f->errors[k] : 0, m->entry[i].error);
		assert_true(k == 0 || f->counts[k - 1] >= count);
	}
}

typedef void take_fn(struct model *m, uint64_t value);

/* A few values often, in runs; others seldom; now and then a crowd that comes but once. */
static uint64_t draw(struct vt_rng *r, uint64_t last, unsigned i)
{
	switch (vt_rng_below(r, 8)) {
	case 0:
		return 1000 + i;
	case 1:
	case 2:
		return last;
	case 3:
		return vt_rng_below(r, 20);
	default:
		return vt_rng_below(r, 1 + i / 80);
	}
}

static void run(enum vt_algo algo, take_fn *take, uint64_t seed)
{
	struct vt_hotlist_options o = {.algo = algo, .seed = seed};
	struct vt_hot f = {.nvalues = 0};
	struct model m = {.n = 0};
	struct vt_hotlists *s;
	struct vt_hotlist *l;
	struct vt_error err;
	struct vt_rng r;
	uint64_t last = 0;
	unsigned i, read;

	vt_rng_init(&r, seed);
	m.steady = o.steady = 1 + (uint32_t)vt_rng_below(&r, 5);
	o.clear = 1 + (uint32_t)vt_rng_below(&r, 5);
	m.interval = o.interval = 1 + vt_rng_below(&r, 60);
	o.entries = 2 + (uint32_t)vt_rng_below(&r, MOST - 2);
	m.capacity = algo == VT_ALGO_TNV ? o.steady + o.clear : o.entries;
	s = vt_hotlists_new(&o, &err);
	assert_non_null(s);
	l = vt_hotlists_add(s);
	assert_non_null(l);
	read = (unsigned)vt_rng_below(&r, LENGTH);
	for (i = 0; i < LENGTH; i++) {
		last = draw(&r, last, i);
		vt_hotlist_put(s, l, last);
		take(&m, last);
		/* Reading a list in between changes nothing. */
		if (i == read)
			read_list(s, l, &f);
	}
	read_list(s, l, &f);
	assert_int_equal(f.capacity, m.capacity);
	assert_int_equal(f.total, LENGTH);
	compare(&m, &f);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

static void run_all(enum vt_algo algo, take_fn *take)
{
	uint64_t seed;

	for (seed = 1; seed <= RUNS; seed++)
		run(algo, take, seed);
}

static void test_tnv(void **state)
{
	(void)state;
	run_all(VT_ALGO_TNV, tnv);
}

static void test_lru(void **state)
{
	(void)state;
	run_all(VT_ALGO_LRU, lru);
}

static void test_space_saving(void **state)
{
	(void)state;
	run_all(VT_ALGO_SPACE_SAVING, space_saving);
}

/*
 * The clear interval is twice the count of the steady part's least value: with one steady value, 60
 * times in a row, the first clearing is due after 120 values, not after 60.
 */
static void test_interval_is_twice(void **state)
{
	struct vt_hotlist_options o = {
		.algo = VT_ALGO_TNV, .steady = 1, .clear = 1, .interval = 10};
	struct vt_hot f = {.nvalues = 0};
	struct vt_error err;
	struct vt_hotlists *s = vt_hotlists_new(&o, &err);
	struct vt_hotlist *l = vt_hotlists_add(s);
	unsigned i;

	(void)state;
	vt_hotlist_put_many(s, l, 7, 60);
	/* Another one takes the place of the one that may be cleared, up to number 119. */
	vt_hotlist_put_many(s, l, 8, 59);
	read_list(s, l, &f);
	assert_int_equal(f.nvalues, 2);
	assert_int_equal(f.counts[1], 59);
	vt_hotlist_put(s, l, 8);
	read_list(s, l, &f);
	assert_int_equal(f.nvalues, 1);
	assert_int_equal(f.values[0], 7);
	/* And once more, 120 later. */
	for (i = 0; i < 119; i++)
		vt_hotlist_put(s, l, 9 + i);
	read_list(s, l, &f);
	assert_int_equal(f.nvalues, 2);
	vt_hotlist_put(s, l, 6);
	read_list(s, l, &f);
	assert_int_equal(f.nvalues, 1);
	vt_hot_fini(&f);
	vt_hotlists_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tnv),
		cmocka_unit_test(test_lru),
		cmocka_unit_test(test_space_saving),
		cmocka_unit_test(test_interval_is_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
