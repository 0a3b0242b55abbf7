/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cache lines of several threads: misses of true and false sharing, and accesses that could miss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "memory/sharing.h"

#define LINE 0x1000

static void touch(struct vti_sharing *s, int64_t tid, char what, uint64_t addr, uint32_t size)
{
	const struct vti_line_access a = {.pid = 1,
					  .tid = tid,
					  .addr = addr,
					  .size = size,
					  .object = 3,
					  .offset = (int64_t)(addr - LINE),
					  .store = what == 's'};

	assert_true(vti_sharing_access(s, &a));
}

static struct vt_shared_line *line(struct vti_sharing *s)
{
	return vt_hash_at(&s->lines, 0);
}

static void check(struct vti_sharing *s, uint64_t true_misses, uint64_t false_misses)
{
	assert_int_equal(line(s)->true_misses, true_misses);
	assert_int_equal(line(s)->false_misses, false_misses);
}

static void misses(void **state)
{
	struct vti_sharing s;
	const struct vt_shared_thread *t;

	(void)state;
	vti_sharing_init(&s);
	/* The first accesses, and what is only loaded, are no misses. */
	touch(&s, 1, 'l', LINE, 8);
	touch(&s, 2, 'l', LINE, 8);
	check(&s, 0, 0);
	/* Thread 1 stores: 2 loses the line, and loads another byte of it. */
	touch(&s, 1, 's', LINE, 4);
	check(&s, 0, 0);
	touch(&s, 2, 'l', LINE + 4, 4);
	check(&s, 0, 1);
	/* It has the line now; what was stored before is no reason to miss again. */
	touch(&s, 2, 'l', LINE, 4);
	check(&s, 0, 1);
	touch(&s, 1, 's', LINE + 60, 4);
	touch(&s, 2, 'l', LINE + 56, 8);
	check(&s, 1, 1);
	/* Thread 2 stores to what 1 has: 1 misses, with true sharing of one byte. */
	touch(&s, 2, 's', LINE + 7, 1);
	check(&s, 1, 1);
	touch(&s, 1, 's', LINE, 8);
	check(&s, 2, 1);
	/* A third thread misses at first, as others have stored. */
	touch(&s, 3, 'l', LINE + 16, 8);
	check(&s, 2, 2);
	touch(&s, 4, 'l', LINE + 60, 1);
	check(&s, 3, 2);
	assert_int_equal(line(&s)->nthreads, 4);
	assert_int_equal(line(&s)->loads, 7);
	assert_int_equal(line(&s)->stores, 4);
	t = vti_sharing_next(&s, line(&s), NULL);
	assert_int_equal(t->tid, 1);
	assert_int_equal(t->true_misses, 1);
	assert_int_equal(t->stores[0], 2);
	assert_int_equal(t->stores[7], 1);
	t = vti_sharing_next(&s, line(&s), t);
	assert_int_equal(t->tid, 2);
	assert_int_equal(t->false_misses, 1);
	t = vti_sharing_next(&s, line(&s), vti_sharing_next(&s, line(&s), t));
	assert_int_equal(t->tid, 4);
	assert_null(vti_sharing_next(&s, line(&s), t));
	assert_int_equal(line(&s)->words[7].offset, 60);
	assert_int_equal(line(&s)->words[7].object, 3);
	assert_int_equal(line(&s)->words[5].object, UINT32_MAX);
	vti_sharing_fini(&s);
}

static void lines(void **state)
{
	struct vti_sharing s;

	(void)state;
	vti_sharing_init(&s);
	touch(&s, 1, 's', LINE, 8);
	touch(&s, 1, 's', LINE + 63, 1);
	assert_int_equal(s.lines.count, 1);
	touch(&s, 1, 's', LINE + 64, 1);
	assert_int_equal(s.lines.count, 2);
	assert_int_equal(line(&s)->address, LINE);
	/* Threads of one number in two processes share nothing. */
	assert_true(vti_sharing_access(
		&s, &(struct vti_line_access){.pid = 2, .tid = 1, .addr = LINE, .size = 1}));
	assert_int_equal(s.lines.count, 3);
	vti_sharing_fini(&s);
}

static void could_miss(void **state)
{
	struct vti_sharing s;
	int i;

	(void)state;
	vti_sharing_init(&s);
	/* Two counters of two threads; one is read once by the other. */
	for (i = 0; i < 10; i++) {
		touch(&s, 1, 's', LINE, 8);
		if (i < 6)
			touch(&s, 2, 's', LINE + 8, 8);
	}
	touch(&s, 2, 'l', LINE, 8);
	vti_sharing_judge(&s, line(&s));
	assert_int_equal(line(&s)->true_accesses, 1);
	assert_int_equal(line(&s)->false_accesses, 6);
	/* What is only loaded is not shared, but in a line that is stored to. */
	for (i = 0; i < 3; i++)
		touch(&s, 2, 'l', LINE + 32, 8);
	touch(&s, 1, 'l', LINE + 32, 8);
	vti_sharing_judge(&s, line(&s));
	assert_int_equal(line(&s)->true_accesses, 1);
	assert_int_equal(line(&s)->false_accesses, 9);
	vti_sharing_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misses),
		cmocka_unit_test(lines),
		cmocka_unit_test(could_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
