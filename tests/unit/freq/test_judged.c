/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of which code REGION records tell a time that is known well enough for claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/profile.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

struct row {
	uint32_t image;
	enum vt_region_flags flags;
	uint64_t ranges[4];
	size_t words;
};

static struct vt_freqprofile *read_rows(const struct row *rows, size_t n)
{
	struct vt_freqprofile *p = vt_freqprofile_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;
	size_t i;

	assert_non_null(p);
	for (i = 0; i < n; i++) {
		uint64_t *row = vt_writer_row(w, VT_REGION);

		row[VT_REGION_IMAGE] = rows[i].image;
		row[VT_REGION_OFFSET] = rows[i].ranges[0];
		row[VT_REGION_FLAGS] = rows[i].flags;
		vt_writer_words(w, VT_REGION_RANGES, rows[i].ranges, rows[i].words);
	}
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_freqprofile_feed(p, rec.block, rec.row, 1, &err), 0);
	vt_reader_close(r);
	close(fd);
	vt_freqprofile_finish(p);
	return p;
}

/* Of processes that ran the same code, the time of one is enough. */
static void test_ranges(void **state)
{
	static const struct row rows[] = {
		{2, VT_REGION_IS_LOOP, {0x40, 0x48, 0x50, 0x52}, 4},
		{1, VT_REGION_IS_WIDE, {0x30, 0x31}, 2},
		{1, VT_REGION_OVERLAPS, {0x18, 0x2f}, 2},
		{1, VT_REGION_IS_WIDE | VT_REGION_IS_LOOP, {0x10, 0x18}, 2},
		{1, 0, {0x14, 0x16}, 2},
		{1, 0, {0x10, 0x20}, 2},
	};
	struct vt_freqprofile *p = read_rows(rows, sizeof(rows) / sizeof(rows[0]));
	uint64_t i;

	(void)state;
	for (i = 0; i < 0x60; i++) {
		assert_int_equal(vt_freqprofile_is_judged(p, 1, i), i >= 0x10 && i < 0x2f);
		assert_int_equal(vt_freqprofile_is_judged(p, 2, i),
				 (i >= 0x40 && i < 0x48) || (i >= 0x50 && i < 0x52));
		assert_false(vt_freqprofile_is_judged(p, 0, i));
		assert_false(vt_freqprofile_is_judged(p, 3, i));
	}
	vt_freqprofile_free(p);
}

static void test_none(void **state)
{
	static const struct row wide = {1, VT_REGION_IS_WIDE, {0x30, 0x31}, 2};
	struct vt_freqprofile *p = read_rows(&wide, 1);

	(void)state;
	assert_false(vt_freqprofile_is_judged(p, 1, 0x30));
	vt_freqprofile_free(p);
	/* Of a machine in order, each instruction is. */
	p = read_rows(NULL, 0);
	assert_true(vt_freqprofile_is_judged(p, 1, 0x30));
	vt_freqprofile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
