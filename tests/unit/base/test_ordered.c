/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of several threads: each item is done once, and taken in order, with few that wait. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/ordered.h"

#define ITEMS 1000
#define MOST  100

struct item {
	unsigned number;
	unsigned done;
	uint64_t weight;
};

struct seen {
	struct item items[ITEMS];
	unsigned put;
	unsigned taken;
	uint64_t waits; /* the weight of what was put and not taken */
	uint64_t most;
	pthread_t caller;
};

static void work(void *arg, void *item)
{
	struct item *i = item;
	volatile unsigned spins = (i->number * 7919U) % 2000;

	(void)arg;
	while (spins)
		spins--;
	i->done++;
}

static void take(void *arg, void *item)
{
	struct seen *s = arg;
	const struct item *i = item;

	assert_true(pthread_equal(pthread_self(), s->caller));
	assert_int_equal(i->number, s->taken++);
	assert_int_equal(i->done, 1);
	s->waits -= i->weight;
}

/* Each tenth item has the weight `heavy`, the others 1. */
static void check(unsigned threads, uint64_t heavy, uint64_t most)
{
	struct seen *s = calloc(1, sizeof(*s));
	const struct vt_ordered_work how = {work, take, s, MOST};
	struct vt_ordered *o;
	unsigned i;

	assert_non_null(s);
	s->caller = pthread_self();
	o = vt_ordered_new(threads, &how);
	assert_non_null(o);
	for (i = 0; i < ITEMS; i++) {
		s->items[i] = (struct item){i, 0, i % 10 ? 1 : heavy};
		vt_ordered_put(o, &s->items[i], s->items[i].weight);
		s->waits += s->items[i].weight;
		s->most = s->waits > s->most ? s->waits : s->most;
		if (i == ITEMS / 2) {
			vt_ordered_finish(o);
			assert_int_equal(s->taken, i + 1);
			vt_ordered_finish(o);
		}
	}
	vt_ordered_free(o);
	assert_int_equal(s->taken, ITEMS);
	assert_int_equal(s->waits, 0);
	assert_true(s->most <= most);
	free(s);
}

static void test_order(void **state)
{
	static const unsigned threads[] = {0, 1, 2, 7, VT_ORDERED_THREADS, 100000};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		check(threads[i], 1, MOST);
		check(threads[i], MOST, MOST);
		/* Heavier than all that may wait: it waits alone. */
		check(threads[i], MOST + 50, MOST + 50);
		check(threads[i], 0, MOST);
	}
}

static void test_processors(void **state)
{
	(void)state;
	assert_in_range(vt_ordered_processors(), 1, VT_ORDERED_THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
