/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that lack branches, which a filter has kept out, or the cycles of some. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_few_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
