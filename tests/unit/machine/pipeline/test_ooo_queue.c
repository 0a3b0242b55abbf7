/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue of an out-of-order core against a list that is searched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/pipeline/ooo_queue.h"

#define STEPS 4000

struct list {
	uint64_t leaves[4 * STEPS];
	size_t n;
	uint32_t room;
};

static uint32_t count_held(const struct list *l, uint64_t at)
{
	uint32_t held = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		held += l->leaves[i] > at;
	return held;
}

/* The first cycle from `at` on with room for n, or with nobody there. */
static uint64_t when_room(const struct list *l, uint64_t at, uint32_t n)
{
	uint32_t held;

	while ((held = count_held(l, at)) && held + n > l->room) {
		uint64_t next = UINT64_MAX;
		size_t i;

		for (i = 0; i < l->n; i++)
			if (l->leaves[i] > at && l->leaves[i] < next)
				next = l->leaves[i];
		at = next;
	}
	return at;
}

/* Whoever left long ago need not be looked at again. */
static void forget_left(struct list *l, uint64_t at)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		if (l->leaves[i] > at)
			l->leaves[n++] = l->leaves[i];
	l->n = n;
}

/* Waits of a few cycles, about as many as are counted ahead, and many more. */
static uint64_t some_wait(struct vt_rng *rng)
{
	switch (vt_rng_below(rng, 8)) {
	case 0:
		return 500 + vt_rng_below(rng, 24);
	case 1:
		return 1 + vt_rng_below(rng, 3000);
	default:
		return 1 + vt_rng_below(rng, 12);
	}
}

static void room_is_there_when_enough_have_left(void **state)
{
	static struct list l;
	struct vt_rng rng;
	uint32_t step, n, i;

	(void)state;
	vt_rng_init(&rng, 3);
	for (l.room = 1; l.room <= 12; l.room++) {
		struct vti_oooqueue q;
		uint64_t at = 0, want;

		l.n = 0;
		assert_true(vti_oooqueue_init(&q, l.room));
		for (step = 0; step < STEPS; step++) {
			n = (uint32_t)vt_rng_below(&rng, l.room < 4 ? l.room + 1 : 5);
			want = when_room(&l, at, n);
			assert_int_equal(vti_oooqueue_when(&q, at, n), want);
			at = want;
			forget_left(&l, at);
			for (i = 0; i < n; i++) {
				uint64_t leaves = at + some_wait(&rng);

				vti_oooqueue_push(&q, leaves);
				l.leaves[l.n++] = leaves;
			}
			if (vt_rng_below(&rng, 4) == 0)
				at += some_wait(&rng);
		}
		vti_oooqueue_fini(&q);
	}
}

static void odd_cases_are_as_said(void **state)
{
	struct vti_oooqueue q;

	(void)state;
	/* No limit */
	assert_true(vti_oooqueue_init(&q, 0));
	vti_oooqueue_push(&q, 10);
	assert_int_equal(vti_oooqueue_when(&q, 3, 1000), 3);
	vti_oooqueue_leave(&q, 5);
	vti_oooqueue_fini(&q);
	/* More than there ever is room for comes when all have left. */
	assert_true(vti_oooqueue_init(&q, 2));
	vti_oooqueue_push(&q, 10);
	vti_oooqueue_push(&q, 700);
	assert_int_equal(vti_oooqueue_when(&q, 3, 1), 10);
	assert_int_equal(vti_oooqueue_when(&q, 10, 5), 700);
	assert_int_equal(vti_oooqueue_when(&q, 701, 5), 701);
	/* Who has left before it is looked at, was never there. */
	vti_oooqueue_push(&q, 701);
	assert_int_equal(q.held, 0);
	vti_oooqueue_push(&q, 702);
	assert_int_equal(q.held, 1);
	vti_oooqueue_push(&q, 5000);
	vti_oooqueue_leave(&q, 6000);
	assert_int_equal(q.held, 0);
	assert_int_equal(vti_oooqueue_when(&q, 6000, 2), 6000);
	vti_oooqueue_push(&q, 6001);
	assert_int_equal(vti_oooqueue_when(&q, 6000, 2), 6001);
	vti_oooqueue_fini(&q);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_there_when_enough_have_left),
		cmocka_unit_test(odd_cases_are_as_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
