/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What branch stacks count. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/stackcount.h"
#include "stream/kinds.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/streams.h"

#define BASE	   0x10000
#define ANY	   8
#define CALL_STACK 0x800
#define LATER	   (100 / (20 / 3.0))

static struct vt_error err;

static void put_event(struct vt_writer *w, uint64_t id, uint64_t branch_type)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_BRANCH_TYPE] = branch_type;
}

static struct vt_writer *begin(int fd)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &o, &err);
	uint64_t *row;

	assert_non_null(w);
	put_event(w, 1, ANY);
	put_event(w, 2, ANY);
	put_event(w, 3, ANY | CALL_STACK);
	row = vt_writer_row(w, VT_IMAGE);
	row[VT_IMAGE_ID] = 7;
	vt_writer_text(w, VT_IMAGE_PATH, "/x");
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = 5;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 4096;
	row[VT_MAP_IMAGE] = 7;
	row[VT_MAP_PROT] = 5;
	return w;
}

/* A stack, newest branch first: {from, to, cycles}. */
static void put_stack(struct vt_writer *w, uint64_t event, uint64_t period,
		      const uint64_t (*branches)[3], size_t n)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE), from[8], to[8], flags[8];
	size_t i;

	row[VT_SAMPLE_PID] = 5;
	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_PERIOD] = period;
	for (i = 0; i < n; i++) {
		from[i] = BASE + branches[i][0];
		to[i] = BASE + branches[i][1];
		flags[i] = branches[i][2] << 4;
	}
	vt_writer_words(w, VT_SAMPLE_BR_FROM, from, n);
	vt_writer_words(w, VT_SAMPLE_BR_TO, to, n);
	vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
}

static struct vt_stackcount *read_back(struct vt_writer *w, int fd)
{
	struct vt_stackcount *c = vt_stackcount_new();
	struct vt_reader *r;
	struct vt_record rec;

	assert_non_null(c);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_stackcount_feed(c, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
	assert_int_equal(vt_stackcount_finish(c, &err), 0);
	return c;
}

static const struct vt_stackcount_link *only(const struct vt_stackcount *c, uint64_t event,
					     bool runs, uint64_t at)
{
	size_t n;
	const struct vt_stackcount_link *l =
		vt_stackcount_links(c, event, 7, 0, runs, at, at + 1, &n);

	assert_int_equal(n, 1);
	return l;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/*
 * A loop from 0x10 to 0x20, thrice in one stack of 20 cycles, once in another: as far as stacks
 * have told until then, one round takes 20 / 3 cycles.
 */
static void test_timed(void **state)
{
	static const uint64_t thrice[][3] = {
		{0x20, 0x10, 5}, {0x20, 0x10, 5}, {0x20, 0x10, 10}, {0x40, 0x10, 9}};
	static const uint64_t once[][3] = {{0x20, 0x10, 50}, {0x40, 0x10, 0}};
	int fd = scratch_file();
	struct vt_writer *w = begin(fd);
	const struct vt_stackcount_link *l;
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	put_stack(w, 1, 100, thrice, 4);
	put_stack(w, 1, 100, once, 2);
	put_stack(w, 3, 100, once, 2);
	c = read_back(w, fd);
	assert_true(vt_stackcount_event(c, 1)->timed);
	assert_int_equal(vt_stackcount_event(c, 1)->stacks, 2);
	assert_true(near(vt_stackcount_event(c, 1)->weight, (5 + LATER) / 2));
	l = only(c, 1, true, 0x10);
	assert_int_equal(l->to, 0x20);
	assert_int_equal(l->stacks, 2);
	assert_true(near(l->count, 3 * 5 + LATER));
	assert_true(near(l->variance, 15 * 15 + LATER * LATER));
	assert_true(near(only(c, 1, false, 0x20)->count, 15 + LATER));
	/* What the oldest branch came from is not known, and calls on the stack are no branches. */
	vt_stackcount_links(c, 1, 7, 0, false, 0x40, 0x41, &n);
	assert_int_equal(n, 0);
	assert_null(vt_stackcount_event(c, 3));
	assert_ptr_equal(vt_stackcount_most(c), vt_stackcount_event(c, 1));
	vt_stackcount_free(c);
}

static void test_untimed(void **state)
{
	static const uint64_t stack[][3] = {
		{0x20, 0x10, 0}, {0x30, 0x18, 0}, {0x5000, 0x28, 0}, {0x40, 0x10, 0}};
	int fd = scratch_file();
	struct vt_writer *w = begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	put_stack(w, 2, 100, stack, 4);
	c = read_back(w, fd);
	assert_false(vt_stackcount_event(c, 2)->timed);
	assert_null(vt_stackcount_event(c, 1));
	assert_true(near(only(c, 2, true, 0x18)->count, 100 / 3.0));
	assert_true(near(only(c, 2, true, 0x28)->count, 100 / 3.0));
	/* From another image, and to it. */
	vt_stackcount_links(c, 2, 7, 0, true, 0x10, 0x11, &n);
	assert_int_equal(n, 0);
	vt_stackcount_links(c, 2, 7, 0, false, 0, UINT64_MAX, &n);
	assert_int_equal(n, 2);
	vt_stackcount_free(c);
}

static void test_none(void **state)
{
	static const uint64_t backwards[][3] = {{0x10, 0x40, 1}, {0x8, 0x20, 1}};
	int fd = scratch_file();
	struct vt_writer *w = begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	put_stack(w, 1, 100, backwards, 1);
	c = read_back(w, fd);
	assert_null(vt_stackcount_most(c));
	vt_stackcount_free(c);
	/* A run cannot end before its start: a stack that contradicts itself. */
	fd = scratch_file();
	w = begin(fd);
	put_stack(w, 1, 100, backwards, 2);
	c = read_back(w, fd);
	vt_stackcount_links(c, 1, 7, 0, true, 0, UINT64_MAX, &n);
	assert_int_equal(n, 0);
	vt_stackcount_free(c);
}

/* Arrays of different lengths: a branch that leads nowhere tells nothing. */
static void test_lengths(void **state)
{
	static const uint64_t from[] = {BASE + 0x20, BASE + 0x40}, to[] = {BASE + 0x10};
	int fd = scratch_file();
	struct vt_writer *w = begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	for (n = 0; n < 2; n++) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		row[VT_SAMPLE_PID] = 5;
		row[VT_SAMPLE_EVENT] = 1;
		row[VT_SAMPLE_PERIOD] = 100;
		vt_writer_words(w, VT_SAMPLE_BR_FROM, from, 2);
		vt_writer_words(w, VT_SAMPLE_BR_TO, to, n);
	}
	c = read_back(w, fd);
	assert_null(vt_stackcount_most(c));
	vt_stackcount_free(c);
}

/* File offsets that wrap around: a procedure's end lies below its start. */
static void test_range(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 0}, {0x30, 0x18, 0}, {0x50, 0x28, 0}};
	int fd = scratch_file();
	struct vt_writer *w = begin(fd);
	struct vt_stackcount *c;
	size_t n = 1;

	(void)state;
	put_stack(w, 1, 100, stack, 3);
	c = read_back(w, fd);
	vt_stackcount_links(c, 1, 7, 0, true, UINT64_MAX - 8, 0x10, &n);
	assert_int_equal(n, 0);
	vt_stackcount_links(c, 1, 7, 0, true, 0x29, 0x10, &n);
	assert_int_equal(n, 0);
	vt_stackcount_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timed), cmocka_unit_test(test_untimed),
		cmocka_unit_test(test_none),  cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
