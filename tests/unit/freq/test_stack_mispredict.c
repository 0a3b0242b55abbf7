/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MISPREDICT records of branch stacks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/profile.h"
#include "freq/stack_count.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/freq/stacks.h"

static struct vt_error err;

/*
 * `times` stacks in which a branch at 0x20 led to `to`, 10 cycles and `more` before the next one,
 * at `next`.  `newer` are behind that, 3 if the branch is the first that counts.
 */
static void put_stacks(struct vt_writer *w, unsigned times, uint64_t to, uint64_t prediction,
		       uint64_t more, uint64_t next, size_t newer)
{
	const uint64_t stack[][3] = {{0x48, 0x40, 2},
				     {0x48, 0x40, 2},
				     {0x48, 0x40, 2},
				     {next, 0x40, 10 + more},
				     {0x20, to, 200 | prediction},
				     {0x50, 0x18, 9}};

	while (times--)
		stacks_put(w, 1, 100, stack + 3 - newer, 3 + newer);
}

static void put_branches(struct vt_writer *w, unsigned times, uint64_t to, uint64_t prediction,
			 uint64_t more)
{
	put_stacks(w, times, to, prediction, more, 0x30, 3);
}

/* What is told of the stacks, as it is read. */
static struct vt_freqprofile *tell(struct vt_writer *stacks, int fd)
{
	struct vt_stackcount *c = stacks_read(stacks, fd);
	struct vt_freqprofile *p = vt_freqprofile_new();
	int out = scratch_file();
	struct vt_writer *w = start_stream(out);
	struct vt_record rec;
	struct vt_reader *r;

	assert_non_null(p);
	vt_stackcount_write_mispredicts(c, 1, w);
	r = reread_stream(out, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_freqprofile_feed(p, rec.block, rec.row, 1, &err), 0);
	vt_reader_close(r);
	close(out);
	vt_freqprofile_finish(p);
	vt_stackcount_free(c);
	return p;
}

static const struct vt_mispredict *only(const struct vt_freqprofile *p)
{
	size_t n;
	const struct vt_mispredict *m = vt_freqprofile_mispredicts(p, 7, 0, UINT64_MAX, &n);

	assert_int_equal(n, 1);
	assert_true(m->image == 7 && m->offset == 0x20 && m->event == 1);
	return m;
}

/*
 * To 0x10: 16 mispredicted, half of them 28 cycles before the next one and half 32, and 20
 * predicted by 10: 20 cycles more, whose variance is that of a mean of 16, 4 / 15.  To 0x14: 32 and
 * 16, 15 and 10 cycles; others are before another branch, behind other code.  What is to 0x1c is
 * too rarely predicted to be compared.  Of all 98, 16 took 20 cycles and 32 took 5.
 */
static void test_cost(void **state)
{
	const struct vt_mispredict *m;
	struct vt_freqprofile *p;
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);

	(void)state;
	put_branches(w, 8, 0x10, STACKS_MISPREDICTED, 18);
	put_branches(w, 8, 0x10, STACKS_MISPREDICTED, 22);
	put_branches(w, 20, 0x10, STACKS_PREDICTED, 0);
	put_branches(w, 3, 0x10, 0, 50);
	put_branches(w, 32, 0x14, STACKS_MISPREDICTED, 5);
	put_branches(w, 16, 0x14, STACKS_PREDICTED, 0);
	put_stacks(w, 10, 0x14, STACKS_MISPREDICTED, 77, 0x34, 3);
	put_branches(w, 40, 0x1c, STACKS_MISPREDICTED, 99);
	put_branches(w, 15, 0x1c, STACKS_PREDICTED, 0);
	p = tell(w, fd);
	m = only(p);
	assert_int_equal(m->branches, 36 + 58 + 55);
	assert_int_equal(m->mispredicted, 16 + 42 + 40);
	assert_true(stacks_near(m->cost, (16 * 20 + 32 * 5) / 98.0));
	assert_true(stacks_near(m->deviation, 16 * sqrt(4 / 15.0) / 98));
	vt_freqprofile_free(p);
}

/* Fifteen do not tell a cost; a branch that is always predicted has none. */
static void test_few(void **state)
{
	const struct vt_mispredict *m;
	struct vt_freqprofile *p;
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);

	(void)state;
	put_branches(w, 15, 0x10, STACKS_MISPREDICTED, 20);
	put_branches(w, 100, 0x10, STACKS_PREDICTED, 0);
	p = tell(w, fd);
	m = only(p);
	assert_true(m->branches == 115 && m->mispredicted == 15);
	assert_true(m->cost == 0 && isinf(m->deviation));
	vt_freqprofile_free(p);
}

/* Of the newest four, samples choose those that took long. */
static void test_newest(void **state)
{
	const struct vt_mispredict *m;
	struct vt_freqprofile *p;
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		put_stacks(w, 5, 0x10, STACKS_PREDICTED, 20, 0x30, i);
	put_branches(w, 200, 0x10, STACKS_MISPREDICTED, 20);
	p = tell(w, fd);
	m = only(p);
	assert_true(m->branches == 200 && m->mispredicted == 200);
	vt_freqprofile_free(p);
}

/* Processors that do not tell how they predicted are not taken to have been right. */
static void test_silent(void **state)
{
	struct vt_freqprofile *p;
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	size_t n;

	(void)state;
	put_branches(w, 50, 0x10, 0, 0);
	p = tell(w, fd);
	assert_null(vt_freqprofile_mispredicts(p, 7, 0, UINT64_MAX, &n));
	vt_freqprofile_free(p);
}

/* Branches count the same, however they were predicted. */
static void test_counts(void **state)
{
	static const uint64_t predictions[] = {0, STACKS_PREDICTED, STACKS_MISPREDICTED};
	struct vt_stackcount_sum sums[3];
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct vt_stackcount_link *l;
		struct vt_stackcount *c;
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		size_t n;

		put_branches(w, 20, 0x10, predictions[i], 5);
		c = stacks_read(w, fd);
		assert_int_equal(vt_stackcount_event(c, 1)->stacks, 20);
		assert_ptr_equal(vt_stackcount_best(c, 1), vt_stackcount_event(c, 1));
		l = stacks_only(c, 1, false, 0x20);
		assert_ptr_equal(vt_stackcount_links(c, 1, 7, 0, false, 0x20, 0x21, &n), l);
		assert_true(n == 1 && l->to == 0x10 && l->stacks == 20);
		sums[i] = l->sum;
		assert_true(vt_stackcount_count(&sums[i]) > 0);
		stacks_assert_sum(l, sums[0].parts[0], sums[0].parts[1], sums[0].parts[2],
				  sums[0].parts[3]);
		assert_true(
			stacks_near(vt_stackcount_sigma(&sums[i]), vt_stackcount_sigma(&sums[0])));
		vt_stackcount_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost),   cmocka_unit_test(test_few),
		cmocka_unit_test(test_newest), cmocka_unit_test(test_silent),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
