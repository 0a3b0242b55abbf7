/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths and sums of pairs of two streams, which number their images and events differently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "merge/merge.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

static void put_names(struct vt_writer *w, uint64_t event, uint64_t image)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);
	unsigned i;

	row[VT_EVENT_ID] = event;
	vt_writer_text(w, VT_EVENT_NAME, "profileme");
	for (i = 0; i < 2; i++) {
		row = vt_writer_row(w, VT_IMAGE);
		row[VT_IMAGE_ID] = image + i;
		vt_writer_text(w, VT_IMAGE_PATH, i ? "/bin/b" : "/bin/a");
	}
}

/* A path over three blocks, the last but one in another image. */
static void put_path(struct vt_writer *w, uint64_t event, uint64_t image, uint64_t last,
		     double samples, double probability)
{
	const uint64_t images[] = {image, image + 1, image}, offsets[] = {0x10, 0x20, last};
	uint64_t *row = vt_writer_row(w, VT_PATH);

	row[VT_PATH_EVENT] = event;
	row[VT_PATH_IMAGE] = image;
	row[VT_PATH_OFFSET] = last + 4;
	row[VT_PATH_METHOD] = VT_PATH_LIKELY;
	row[VT_PATH_BRANCHES] = 2;
	vt_row_set_f64(&row[VT_PATH_SAMPLES], samples);
	vt_row_set_f64(&row[VT_PATH_EXECUTIONS], 100 * samples);
	vt_row_set_f64(&row[VT_PATH_PROBABILITY], probability);
	vt_writer_words(w, VT_PATH_IMAGES, images, 3);
	vt_writer_words(w, VT_PATH_OFFSETS, offsets, 3);
}

static void put_pairs(struct vt_writer *w, uint64_t event, uint64_t image, const char *split,
		      uint64_t pairs)
{
	uint64_t *row = vt_writer_row(w, VT_PAIRSTAT);

	row[VT_PAIRSTAT_EVENT] = event;
	row[VT_PAIRSTAT_IMAGE] = image;
	row[VT_PAIRSTAT_OFFSET] = 0x30;
	row[VT_PAIRSTAT_PAIRS] = pairs;
	vt_row_set_f64(&row[VT_PAIRSTAT_X], 3 * (double)pairs);
	vt_row_set_f64(&row[VT_PAIRSTAT_X2], 9 * (double)pairs);
	vt_row_set_f64(&row[VT_PAIRSTAT_Y], 5 * (double)pairs);
	vt_row_set_f64(&row[VT_PAIRSTAT_Y2], 25 * (double)pairs);
	vt_row_set_f64(&row[VT_PAIRSTAT_XY], 15 * (double)pairs);
	vt_writer_text(w, VT_PAIRSTAT_METRIC, "ipc:30");
	vt_writer_text(w, VT_PAIRSTAT_SPLIT, split);
}

static void add(struct vt_merge *m, struct vt_writer *w, int fd)
{
	struct vt_reader *r = reread_stream(fd, w);
	const struct vt_block *block;
	uint32_t first, count;

	while (vt_reader_next_run(r, &block, &first, &count, &err) == 1)
		assert_int_equal(vt_merge_feed(m, block, first, count, &err), 0);
	vt_reader_close(r);
	close(fd);
	assert_int_equal(vt_merge_end_stream(m, "a stream", &err), 0);
}

static struct vt_reader *read_sum(struct vt_merge *m, int *fd)
{
	struct vt_writer *w;

	*fd = scratch_file();
	w = start_stream(*fd);
	assert_int_equal(vt_merge_write(m, w, &err), 0);
	assert_int_equal(vt_merge_bad(m), 0);
	return reread_stream(*fd, w);
}

static void check_path(struct vt_reader *r, uint64_t last, double samples, double probability)
{
	struct vt_record rec = next_of_kind(r, VT_PATH);
	struct vt_words images = vt_record_words(&rec, VT_PATH_IMAGES);
	struct vt_words offsets = vt_record_words(&rec, VT_PATH_OFFSETS);

	assert_int_equal(vt_record_u64(&rec, VT_PATH_EVENT), 0);
	assert_int_equal(vt_record_u64(&rec, VT_PATH_IMAGE), 0);
	assert_int_equal(vt_record_u64(&rec, VT_PATH_OFFSET), last + 4);
	assert_int_equal(vt_record_u64(&rec, VT_PATH_METHOD), VT_PATH_LIKELY);
	assert_int_equal(vt_record_u64(&rec, VT_PATH_BRANCHES), 2);
	assert_true(vt_record_f64(&rec, VT_PATH_SAMPLES) == samples);
	assert_true(vt_record_f64(&rec, VT_PATH_EXECUTIONS) == 100 * samples);
	assert_true(vt_record_f64(&rec, VT_PATH_PROBABILITY) == probability);
	assert_int_equal(images.count, 3);
	assert_int_equal(images.data[0], 0);
	assert_int_equal(images.data[1], 1);
	assert_int_equal(images.data[2], 0);
	assert_int_equal(offsets.data[0], 0x10);
	assert_int_equal(offsets.data[1], 0x20);
	assert_int_equal(offsets.data[2], last);
}

static void paths_add_up(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	struct vt_reader *r;
	struct vt_writer *w;
	int fd;

	(void)state;
	fd = scratch_file();
	w = start_stream(fd);
	put_names(w, 7, 4);
	put_path(w, 7, 4, 0x50, 1, .5);
	put_path(w, 7, 4, 0x60, 8, 1);
	add(m, w, fd);
	fd = scratch_file();
	w = start_stream(fd);
	put_names(w, 3, 9);
	put_path(w, 3, 9, 0x50, 6, 1);
	add(m, w, fd);
	r = read_sum(m, &fd);
	/* The most executed first; 7 of the 8 samples that were found there. */
	check_path(r, 0x60, 8, 1);
	check_path(r, 0x50, 7, 7. / 8);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

static void check_pairs(struct vt_reader *r, const char *split, uint64_t pairs)
{
	struct vt_record rec = next_of_kind(r, VT_PAIRSTAT);
	const double n = (double)pairs;

	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_PAIRSTAT_SPLIT), split));
	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_PAIRSTAT_METRIC), "ipc:30"));
	assert_int_equal(vt_record_u64(&rec, VT_PAIRSTAT_PAIRS), pairs);
	/* The only image that is written. */
	assert_int_equal(vt_record_u64(&rec, VT_PAIRSTAT_IMAGE), 0);
	assert_int_equal(vt_record_u64(&rec, VT_PAIRSTAT_OFFSET), 0x30);
	assert_true(vt_record_f64(&rec, VT_PAIRSTAT_X) == 3 * n);
	assert_true(vt_record_f64(&rec, VT_PAIRSTAT_X2) == 9 * n);
	assert_true(vt_record_f64(&rec, VT_PAIRSTAT_Y) == 5 * n);
	assert_true(vt_record_f64(&rec, VT_PAIRSTAT_Y2) == 25 * n);
	assert_true(vt_record_f64(&rec, VT_PAIRSTAT_XY) == 15 * n);
}

static void pairs_add_up(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	struct vt_reader *r;
	struct vt_writer *w;
	int fd;

	(void)state;
	fd = scratch_file();
	w = start_stream(fd);
	put_names(w, 7, 4);
	put_pairs(w, 7, 5, "b", 2);
	put_pairs(w, 7, 5, "a", 10);
	add(m, w, fd);
	fd = scratch_file();
	w = start_stream(fd);
	put_names(w, 3, 9);
	put_pairs(w, 3, 10, "b", 3);
	add(m, w, fd);
	r = read_sum(m, &fd);
	check_pairs(r, "a", 10);
	check_pairs(r, "b", 5);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_add_up),
		cmocka_unit_test(pairs_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
