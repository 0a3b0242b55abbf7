/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that lack branches or cycles, or whose branches are not all of one kind. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/stack_count.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/freq/stacks.h"

/*
 * 32 mispredicted branches and none that was predicted are what is left of others.  One predicted
 * branch more shows that all are there, and one branch less may be chance.
 */
static void test_partial(void **state)
{
	static const struct {
		size_t mispredicted, predicted;
		bool partial;
	} cases[] = {{32, 0, true}, {31, 0, false}, {31, 1, false}, {0, 32, false}, {0, 0, false}};
	uint64_t stack[32][3], id;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = cases[i].mispredicted + cases[i].predicted;
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		n = n ? n : 32;
		for (k = 0; k < n; k++) {
			stack[k][0] = 0x20;
			stack[k][1] = 0x10;
			stack[k][2] = k < cases[i].mispredicted ? STACKS_MISPREDICTED
				      : cases[i].predicted	? STACKS_PREDICTED
								: 0;
		}
		stacks_put(w, 6, 100, (const uint64_t(*)[3])stack, n);
		c = stacks_read(w, fd);
		assert_int_equal(vt_stackcount_partial(c, &id), cases[i].partial);
		if (cases[i].partial) {
			assert_int_equal(id, 6);
			assert_null(vt_stackcount_event(c, 6));
			assert_null(vt_stackcount_best(c, 6));
		} else {
			assert_non_null(vt_stackcount_event(c, 6));
			assert_non_null(vt_stackcount_best(c, 6));
		}
		vt_stackcount_free(c);
	}
}

/* Calls only, by the event's filter; those of a chain are not told of. */
static void test_filtered(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 9}, {0x30, 0x18, 7}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	uint64_t id;

	(void)state;
	stacks_event(w, 4, 16); /* PERF_SAMPLE_BRANCH_ANY_CALL */
	stacks_put(w, 3, 100, stack, 2);
	stacks_put(w, 4, 100, stack, 2);
	c = stacks_read(w, fd);
	assert_true(vt_stackcount_partial(c, &id));
	assert_int_equal(id, 4);
	vt_stackcount_free(c);
}

/* Cycles of some of the branches, the newest of which is there twice; the next stack has more. */
static void test_few_flags(void **state)
{
	static const double weights[] = {100, 50, (100 / (0.75 * 16) + 100 / (0.75 * 128)) / 2};
	static const uint64_t from[] = {STACKS_BASE + 0x30, STACKS_BASE + 0x30, STACKS_BASE + 0x20,
					STACKS_BASE + 0x20};
	static const uint64_t to[] = {STACKS_BASE + 0x40, STACKS_BASE + 0x40, STACKS_BASE + 0x10,
				      STACKS_BASE + 0x10};
	static const uint64_t flags[] = {1 << 4, 16 << 4};
	static const uint64_t next[][3] = {{0x90, 0x80, 128}, {0x90, 0x80, 128}};
	size_t n;

	(void)state;
	/* None, those of what is left out alone, and one more. */
	for (n = 0; n < 3; n++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		uint64_t *row = vt_writer_row(w, VT_SAMPLE), event = n == 2 ? 1 : 2;
		struct vt_stackcount *c;

		row[VT_SAMPLE_PID] = 5;
		row[VT_SAMPLE_EVENT] = event;
		row[VT_SAMPLE_PERIOD] = 100;
		vt_writer_words(w, VT_SAMPLE_BR_FROM, from, 4 - (n == 0));
		vt_writer_words(w, VT_SAMPLE_BR_TO, to, 4 - (n == 0));
		vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
		stacks_put(w, 1, 100, next, 2);
		c = stacks_read(w, fd);
		assert_true(vt_stackcount_event(c, event)->timed == (n == 2));
		assert_true(stacks_near(vt_stackcount_event(c, event)->weight, weights[n]));
		vt_stackcount_free(c);
	}
}

/*
 * Stacks within one cycle, but for what was before the oldest branch, tell no time: they do not
 * count where others have cycles, whichever come first, unless as many as wait at once have been
 * counted by then.
 */
static void test_no_cycles(void **state)
{
	static const uint64_t none[][3] = {{0x20, 0x10, 0}, {0x30, 0x18, 0}, {0x40, 0x28, 7}};
	static const uint64_t some[][3] = {{0x20, 0x10, 9}, {0x30, 0x18, 7}, {0x40, 0x28, 9}};
	static const struct {
		unsigned before, after;
		bool timed;
	} rows[] = {{0, 2, true}, {2, 0, true}, {16384, 1, true}, {16385, 1, false}};
	unsigned i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		unsigned all = rows[i].before + rows[i].after + 1;
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		const struct vt_stackcount_event *e;
		struct vt_stackcount *c;

		for (k = 0; k < all; k++)
			stacks_put(w, 1, 100, k == rows[i].before ? some : none, 3);
		c = stacks_read(w, fd);
		e = vt_stackcount_event(c, 1);
		assert_true(e->timed == rows[i].timed);
		/* 16 cycles; or two runs. */
		assert_int_equal(e->stacks, e->timed ? 1 : all);
		assert_true(stacks_near(e->weight, e->timed ? 100 / (0.75 * 16) : 50));
		assert_int_equal(stacks_only(c, 1, true, 0x28)->stacks, e->stacks);
		vt_stackcount_free(c);
	}
}

/*
 * A return from the kernel, in stacks of user code only: the run before it does not end there, and
 * the one behind it is as any other.  It takes its part of the stack all the same.
 */
static void test_kernel(void **state)
{
	static const uint64_t kernel = 0xffffffff81000000 - STACKS_BASE;
	const uint64_t stack[][3] = {
		{0x20, 0x10, 0}, {kernel, 0x18, 0}, {0x50, 0x48, 0}, {0x40, 0x28, 0}};
	const uint64_t newest[][3] = {{kernel, 0x18, 0}, {0x50, 0x48, 0}, {0x40, 0x28, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	stacks_put(w, 6, 300, stack, 4);
	stacks_put(w, 6, 100, newest, 3);
	c = stacks_read(w, fd);
	assert_true(stacks_near(vt_stackcount_count(&stacks_only(c, 6, true, 0x18)->sum), 100));
	assert_true(stacks_near(vt_stackcount_count(&stacks_only(c, 6, true, 0x28)->sum), 150));
	vt_stackcount_links(c, 6, 7, 0, true, 0x48, 0x49, &n);
	assert_int_equal(n, 0);
	vt_stackcount_links(c, 6, 7, 0, false, 0, UINT64_MAX, &n);
	assert_int_equal(n, 2);
	vt_stackcount_free(c);
}

/*
 * A hundred stacks that are all taken in one phase of a loop: six runs of one arm, then two of the
 * other, of which the phase shows too few or too many.  Parts of the latter are 0, 0, 0 and 2000:
 * their variance is 4/3 of the sum of squares, 3e6, of which a hundredth is chance; the limits hold
 * half of all runs, and none.
 */
static void test_in_phase(void **state)
{
	uint64_t stack[9][3];
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	const struct vt_stackcount_link *l;
	struct vt_stackcount *c;
	double sigma;
	unsigned i;

	(void)state;
	for (i = 0; i < 9; i++) {
		stack[i][0] = i < 6 ? 0x20 : 0x40;
		/* The run to a branch begins where the older one led. */
		stack[i][1] = i >= 1 && i <= 6 ? 0x10 : 0x30;
		stack[i][2] = 0;
	}
	for (i = 0; i < 100; i++)
		stacks_put(w, 6, 80, (const uint64_t(*)[3])stack, 9);
	c = stacks_read(w, fd);
	l = stacks_only(c, 6, true, 0x30);
	stacks_assert_sum(l, 0, 0, 0, 2000);
	sigma = vt_stackcount_sigma(&l->sum);
	assert_true(fabs(sigma - sqrt((4 * 3e6 / 3 - 4e4) * 1.624 * 1.624 + 4e4 + 40 * 40)) < 1e-6);
	assert_true(2000 + 1.645 * sigma > 4000 && 2000 - 1.645 * sigma < 0);
	vt_stackcount_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partial),	  cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_few_flags), cmocka_unit_test(test_no_cycles),
		cmocka_unit_test(test_kernel),	  cmocka_unit_test(test_in_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
