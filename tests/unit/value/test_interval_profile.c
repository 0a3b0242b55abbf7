/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/streams.h"
#include "tests/unit/value/collected.h"
#include "value/intervals.h"

static struct vt_error err;

#define NEAR(x, y) assert_true(fabs((double)(x) - (y)) < 1e-6)

static void put_value(struct vt_writer *w, uint64_t ip, uint64_t value)
{
	uint64_t *row = vt_writer_row(w, VT_VALUE);

	row[VT_VALUE_PID] = PID;
	row[VT_VALUE_TID] = PID;
	row[VT_VALUE_IP] = ip;
	row[VT_VALUE_WHAT] = VT_WHAT_LOAD;
	row[VT_VALUE_SIZE] = 8;
	row[VT_VALUE_VALUE] = value;
	row[VT_VALUE_WEIGHT] = 1;
}

/* Image 3; loads at 0x10: eight 5s and then 8 values; at 0x20: always 9; at 0x30: once. */
static int write_values(void)
{
	int fd = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	uint64_t i;

	collected_image(w, 3, "/bin/program");
	collected_map(w, 3, BASE, 0x10000);
	for (i = 0; i < 16; i++) {
		put_value(w, BASE + 0x10, i < 8 ? 5 : i);
		put_value(w, BASE + 0x20, 9);
	}
	put_value(w, BASE + 0x30, 1);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	return fd;
}

static int read_pass(struct vt_intervalprofile *p, int fd)
{
	struct vt_reader *r;
	const struct vt_block *block;
	uint32_t first, count;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "stream", &err);
	assert_non_null(r);
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_intervalprofile_feed(p, block, first, count, &err), 0);
	vt_reader_close(r);
	return vt_intervalprofile_end_pass(p, &err);
}

static struct vt_intervalprofile *open_profile(struct vt_images **images, uint64_t min)
{
	const struct vt_images_options none = {.warn = NULL};
	struct vt_intervalprofile_options o = {.k = 2, .what = 1u << VT_WHAT_LOAD, .min = min};
	struct vt_intervalprofile *p;

	*images = vt_images_new(&none, &err);
	assert_non_null(*images);
	o.images = *images;
	p = vt_intervalprofile_new(&o, &err);
	assert_non_null(p);
	return p;
}

/* Half of the executions are all 5, the others are all different: 1 and 1/8. */
static void test_two_passes(void **state)
{
	int fd = write_values();
	const struct vt_interval_row *row;
	struct vt_images *images;
	struct vt_intervalprofile *p = open_profile(&images, 1);

	(void)state;
	assert_int_equal(read_pass(p, fd), 0);
	assert_int_equal(vt_intervalprofile_count(p), 0);
	assert_int_equal(read_pass(p, fd), 0);
	assert_int_equal(vt_intervalprofile_count(p), 2);
	row = vt_intervalprofile_at(p, 0);
	assert_int_equal(row->site->offset, 0x10);
	assert_int_equal(row->executions, 16);
	assert_int_equal(row->image, 3);
	assert_int_equal(row->size, 8);
	assert_string_equal(row->path, "/bin/program");
	NEAR(row->shares[0], 1);
	NEAR(row->shares[1], 0.125);
	NEAR(row->mean, 0.5625);
	NEAR(row->lowest, 0.125);
	NEAR(row->highest, 1);
	row = vt_intervalprofile_at(p, 1);
	assert_int_equal(row->site->offset, 0x20);
	NEAR(row->mean, 1);
	NEAR(row->lowest, 1);
	vt_intervalprofile_free(p);
	vt_images_free(images);
	close(fd);
}

/* "More than": 16 executions are not more than 16. */
static void test_min(void **state)
{
	int fd = write_values();
	struct vt_images *images;
	struct vt_intervalprofile *p = open_profile(&images, 16);

	(void)state;
	assert_int_equal(read_pass(p, fd), 0);
	assert_int_equal(read_pass(p, fd), 0);
	assert_int_equal(vt_intervalprofile_count(p), 0);
	vt_intervalprofile_free(p);
	vt_images_free(images);
	close(fd);
}

static void test_no_values(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = collected_begin(fd);
	struct vt_images *images;
	struct vt_intervalprofile *p = open_profile(&images, 1);

	(void)state;
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(read_pass(p, fd), -VT_E_ABSENT);
	vt_intervalprofile_free(p);
	vt_images_free(images);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_passes),
		cmocka_unit_test(test_min),
		cmocka_unit_test(test_no_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
