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

/* ---- the order of what is written ---- */

/* A path of one event over the blocks at these offsets of image `image`. */
static void put_plain(struct vt_writer *w, uint64_t event, uint64_t method, uint64_t image,
		      const uint64_t *offsets, size_t n, double executions, double probability)
{
	const uint64_t images[] = {image, image, image};
	uint64_t *row = vt_writer_row(w, VT_PATH);

	row[VT_PATH_EVENT] = event;
	row[VT_PATH_IMAGE] = image;
	row[VT_PATH_OFFSET] = 0x90;
	row[VT_PATH_METHOD] = method;
	row[VT_PATH_BRANCHES] = 1;
	vt_row_set_f64(&row[VT_PATH_SAMPLES], 1);
	vt_row_set_f64(&row[VT_PATH_EXECUTIONS], executions);
	vt_row_set_f64(&row[VT_PATH_PROBABILITY], probability);
	vt_writer_words(w, VT_PATH_IMAGES, images, n);
	vt_writer_words(w, VT_PATH_OFFSETS, offsets, n);
}

static void check_plain(struct vt_reader *r, uint64_t method, uint64_t image, size_t blocks,
			uint64_t last, double executions)
{
	struct vt_record rec = next_of_kind(r, VT_PATH);
	struct vt_words offsets = vt_record_words(&rec, VT_PATH_OFFSETS);

	assert_int_equal(vt_record_u64(&rec, VT_PATH_METHOD), method);
	assert_int_equal(vt_record_u64(&rec, VT_PATH_IMAGE), image);
	assert_int_equal(offsets.count, blocks);
	assert_int_equal(offsets.data[blocks - 1], last);
	assert_true(vt_record_f64(&rec, VT_PATH_EXECUTIONS) == executions);
}

static void paths_are_in_order(void **state)
{
	const uint64_t blocks[] = {0x10, 0x20, 0x30}, others[] = {0x10, 0x28, 0x30};
	struct vt_merge *m = vt_merge_new(1);
	struct vt_record rec;
	struct vt_reader *r;
	struct vt_writer *w;
	int fd;

	(void)state;
	fd = scratch_file();
	w = start_stream(fd);
	put_names(w, 7, 4);
	put_plain(w, 7, 1, 4, blocks, 2, 50, 1);
	put_plain(w, 7, 1, 4, others, 2, 50, 1);
	put_plain(w, 7, 1, 5, blocks, 1, 50, 1);
	put_plain(w, 7, 1, 4, blocks, 3, 50, 1);
	put_plain(w, 7, 2, 4, blocks, 1, 50, 1);
	put_plain(w, 7, 1, 4, blocks, 1, 50, 1);
	put_plain(w, 7, 2, 5, blocks, 1, 60, 1);
	put_plain(w, 7, 1, 5, others, 3, 40, 0);
	add(m, w, fd);
	r = read_sum(m, &fd);
	/* The most executed first; then by method, image, blocks, and the shorter first. */
	check_plain(r, 2, 1, 1, 0x10, 60);
	check_plain(r, 1, 0, 1, 0x10, 50);
	check_plain(r, 1, 0, 2, 0x20, 50);
	check_plain(r, 1, 0, 3, 0x30, 50);
	check_plain(r, 1, 0, 2, 0x28, 50);
	check_plain(r, 1, 1, 1, 0x10, 50);
	check_plain(r, 2, 0, 1, 0x10, 50);
	/* One whose probability is not known. */
	rec = next_of_kind(r, VT_PATH);
	assert_true(vt_record_f64(&rec, VT_PATH_EXECUTIONS) == 40);
	assert_true(vt_record_f64(&rec, VT_PATH_SAMPLES) == 1);
	assert_true(vt_record_f64(&rec, VT_PATH_PROBABILITY) == 0);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

/* Counts the records that are left out, each of which is named by its kind. */
static void expect_reason(void *arg, const char *text)
{
	static const char *const kinds[] = {"PATH",   "PATH",	"PAIRSTAT",
					    "EVSTAT", "OBJECT", "ACCESSES"};
	size_t *n = arg;

	assert_true(*n < sizeof(kinds) / sizeof(kinds[0]));
	assert_non_null(strstr(text, kinds[(*n)++]));
}

static void what_cannot_be_is_counted(void **state)
{
	const uint64_t blocks[] = {0x10};
	struct vt_merge *m = vt_merge_new(1);
	size_t said = 0;
	struct vt_writer *w;
	uint64_t *row;
	int fd;

	(void)state;
	fd = scratch_file();
	w = start_stream(fd);
	put_names(w, 7, 4);
	put_plain(w, 7, 1, 4, blocks, 1, -1, 1);
	put_plain(w, 7, 1, 4, blocks, 1, -2, 1);
	put_pairs(w, 7, 5, "a", 3);
	row = vt_writer_row(w, VT_PAIRSTAT);
	vt_row_set_f64(&row[VT_PAIRSTAT_X2], -1);
	row = vt_writer_row(w, VT_EVSTAT);
	row[VT_EVSTAT_EVENT] = 7;
	row[VT_EVSTAT_METHOD] = VT_METHOD_FOLLOWED;
	vt_row_set_f64(&row[VT_EVSTAT_K], -1);
	/* What a simulator knows is not looked at. */
	row = vt_writer_row(w, VT_EVSTAT);
	row[VT_EVSTAT_METHOD] = VT_METHOD_MODEL;
	vt_row_set_f64(&row[VT_EVSTAT_K], -1);
	/* An object without its image, and locations of 3 bytes. */
	vt_writer_row(w, VT_OBJECT)[VT_OBJECT_ID] = 1;
	vt_writer_row(w, VT_ACCESSES)[VT_ACCESSES_GRAIN] = 3;
	vt_merge_warn(m, expect_reason, &said);
	add(m, w, fd);
	assert_int_equal(vt_merge_bad(m), 6);
	assert_int_equal(said, 6);
	assert_false(vt_merge_raised(m));
	vt_merge_free(m);
}

/* A sum of pairs, by all that tells two apart. */
struct one_sum {
	uint64_t image;
	uint64_t offset;
	uint64_t event;
	const char *metric;
	const char *split;
	uint64_t method;
};

static void sums_of_pairs_are_in_order(void **state)
{
	/* As they are written: each differs from the next in one field at least, the first first.
	 */
	static const struct one_sum sums[] = {
		{0, 0x40, 0, "ipc:30", "", 1},	{0, 0x50, 0, "ipc:30", "a", 2},
		{0, 0x50, 0, "ipc:30", "a", 7}, {0, 0x50, 0, "ipc:30", "b", 1},
		{0, 0x50, 0, "wasted", "", 1},	{0, 0x50, 1, "ipc:30", "", 1},
		{0, 0x60, 0, "ipc:30", "", 1},	{1, 0x10, 0, "ipc:30", "", 1},
		{1, 0x70, 0, "ipc:30", "", 1},
	};
	const unsigned n = sizeof(sums) / sizeof(sums[0]);
	unsigned step;

	(void)state;
	/* Whatever order they come in: steps have no divisor in common with 9. */
	for (step = 1; step < n; step *= 2) {
		struct vt_merge *m = vt_merge_new(1);
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		struct vt_reader *r;
		unsigned i;
		uint64_t *row;

		put_names(w, 7, 4);
		row = vt_writer_row(w, VT_EVENT);
		row[VT_EVENT_ID] = 8;
		vt_writer_text(w, VT_EVENT_NAME, "profiles");
		for (i = 0; i < n; i++) {
			const struct one_sum *s = &sums[n - 1 - i * step % n];

			row = vt_writer_row(w, VT_PAIRSTAT);
			row[VT_PAIRSTAT_EVENT] = 7 + s->event;
			row[VT_PAIRSTAT_IMAGE] = 4 + s->image;
			row[VT_PAIRSTAT_OFFSET] = s->offset;
			row[VT_PAIRSTAT_METHOD] = s->method;
			row[VT_PAIRSTAT_PAIRS] = 5;
			vt_writer_text(w, VT_PAIRSTAT_METRIC, s->metric);
			vt_writer_text(w, VT_PAIRSTAT_SPLIT, s->split);
		}
		add(m, w, fd);
		r = read_sum(m, &fd);
		for (i = 0; i < n; i++) {
			struct vt_record rec = next_of_kind(r, VT_PAIRSTAT);

			assert_int_equal(vt_record_u64(&rec, VT_PAIRSTAT_IMAGE), sums[i].image);
			assert_int_equal(vt_record_u64(&rec, VT_PAIRSTAT_OFFSET), sums[i].offset);
			assert_int_equal(vt_record_u64(&rec, VT_PAIRSTAT_EVENT), sums[i].event);
			assert_int_equal(vt_record_u64(&rec, VT_PAIRSTAT_METHOD), sums[i].method);
			assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_PAIRSTAT_METRIC),
						 sums[i].metric));
			assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_PAIRSTAT_SPLIT),
						 sums[i].split));
		}
		vt_reader_close(r);
		close(fd);
		vt_merge_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_add_up),
		cmocka_unit_test(pairs_add_up),
		cmocka_unit_test(paths_are_in_order),
		cmocka_unit_test(what_cannot_be_is_counted),
		cmocka_unit_test(sums_of_pairs_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
