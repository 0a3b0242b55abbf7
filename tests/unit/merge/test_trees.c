/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Call trees of several events: their order, their flags, and what could not be unwound. */
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

/* A node below the root of an event. */
struct leaf {
	uint64_t event;
	uint64_t flags;
	uint64_t image;
	uint64_t offset;
	uint64_t samples;
};

static void put_names(struct vt_writer *w)
{
	uint64_t *row;
	uint64_t i;

	for (i = 2; i > 0; i--) {
		row = vt_writer_row(w, VT_EVENT);
		row[VT_EVENT_ID] = i;
		vt_writer_text(w, VT_EVENT_NAME, i == 1 ? "loads" : "cycles");
		row = vt_writer_row(w, VT_IMAGE);
		row[VT_IMAGE_ID] = i;
		vt_writer_text(w, VT_IMAGE_PATH, i == 1 ? "/bin/b" : "/bin/a");
	}
}

static void put_root(struct vt_writer *w, uint64_t event, uint64_t chains)
{
	uint64_t *row = vt_writer_row(w, VT_CHAIN);

	row[VT_CHAIN_ID] = event;
	row[VT_CHAIN_EVENT] = event;
	row[VT_CHAIN_CHAINS] = chains;
	row[VT_CHAIN_UNWOUND] = 4 * event;
	row[VT_CHAIN_DAMAGED] = 3 * event;
	row[VT_CHAIN_CUT] = 2 * event;
	row[VT_CHAIN_SHORTENED] = event;
}

static void put_leaf(struct vt_writer *w, uint64_t id, const struct leaf *l)
{
	uint64_t *row;

	if (!(l->flags & VT_CHAIN_FULL)) {
		row = vt_writer_row(w, VT_COUNT);
		row[VT_COUNT_IMAGE] = l->image;
		row[VT_COUNT_OFFSET] = l->offset;
		row[VT_COUNT_EVENT] = l->event;
		row[VT_COUNT_SAMPLES] = l->samples;
	}
	row = vt_writer_row(w, VT_CHAIN);
	row[VT_CHAIN_ID] = id;
	row[VT_CHAIN_PARENT] = l->event;
	row[VT_CHAIN_EVENT] = l->event;
	row[VT_CHAIN_FLAGS] = l->flags;
	row[VT_CHAIN_IMAGE] = l->image;
	row[VT_CHAIN_OFFSET] = l->offset;
	row[VT_CHAIN_SAMPLES] = l->samples;
}

static int add_leaves(struct vt_merge *m, const struct leaf *leaves, unsigned n, uint64_t chains)
{
	struct vt_images *images = vt_images_new(&(struct vt_images_options){0}, &err);
	int fd = scratch_file(), code;
	struct vt_writer *w = start_stream(fd);
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_reader *r;
	unsigned i;

	put_names(w);
	put_root(w, 1, chains);
	put_root(w, 2, chains);
	for (i = 0; i < n; i++)
		put_leaf(w, i + 3, &leaves[i]);
	r = reread_stream(fd, w);
	assert_int_equal(vt_merge_start_chains(m, images, &err), 0);
	while (vt_reader_next_run(r, &block, &first, &count, &err) == 1)
		assert_int_equal(vt_merge_feed(m, block, first, count, &err), 0);
	vt_reader_close(r);
	close(fd);
	code = vt_merge_end_stream(m, "a stream", &err);
	vt_images_free(images);
	return code;
}

/* The root of the event that is written as `event`, and is `own` in the streams. */
static void expect_root(struct vt_reader *r, uint64_t id, uint64_t event, uint64_t own,
			uint64_t streams)
{
	struct vt_record rec = next_of_kind(r, VT_CHAIN);

	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_ID), id);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_PARENT), 0);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_EVENT), event);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_CHAINS), 100 * streams);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_UNWOUND), 4 * own * streams);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_DAMAGED), 3 * own * streams);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_CUT), 2 * own * streams);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_SHORTENED), own * streams);
}

static void expect_leaf(struct vt_reader *r, uint64_t id, uint64_t parent, const struct leaf *l)
{
	struct vt_record rec = next_of_kind(r, VT_CHAIN);

	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_ID), id);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_PARENT), parent);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_EVENT), l->event);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_FLAGS), l->flags);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_IMAGE), l->image);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_OFFSET), l->offset);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_SAMPLES), l->samples);
}

static struct vt_reader *read_sum(struct vt_merge *m, int *fd)
{
	struct vt_writer *w;

	*fd = scratch_file();
	w = start_stream(*fd);
	assert_int_equal(vt_merge_write(m, w, &err), 0);
	return reread_stream(*fd, w);
}

static void nodes_of_as_many_samples_are_in_order(void **state)
{
	static const struct leaf leaves[] = {
		{1, 0, 1, 0x30, 5}, {1, VT_CHAIN_SKID, 1, 0x20, 5},
		{1, 0, 1, 0x20, 5}, {1, 0, 2, 0x40, 5},
		{2, 0, 1, 0x20, 7}, {1, 0, 2, 0x50, 6},
	};
	/* Events and images by name; then the most samples, images, offsets, and what skids last.
	 */
	static const struct leaf want[] = {
		{1, 0, 0, 0x50, 12}, {1, 0, 0, 0x40, 10},
		{1, 0, 1, 0x20, 10}, {1, VT_CHAIN_SKID, 1, 0x20, 10},
		{1, 0, 1, 0x30, 10},
	};
	struct vt_merge *m = vt_merge_new(1);
	struct vt_reader *r;
	int fd;
	uint64_t i;

	(void)state;
	assert_int_equal(add_leaves(m, leaves, 6, 100), 0);
	assert_int_equal(add_leaves(m, leaves, 6, 100), 0);
	assert_int_equal(vt_merge_chain_damage(m)->refused, 0);
	r = read_sum(m, &fd);
	expect_root(r, 1, 0, 2, 2);
	expect_leaf(r, 2, 1, &(struct leaf){0, 0, 1, 0x20, 14});
	expect_root(r, 3, 1, 1, 2);
	for (i = 0; i < 5; i++)
		expect_leaf(r, 4 + i, 3, &want[i]);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

/* Each of the numbers of a root. */
static void chains_beyond_counting_are_refused(void **state)
{
	struct vt_merge *m = vt_merge_new(1);

	(void)state;
	assert_int_equal(add_leaves(m, NULL, 0, UINT64_MAX), 0);
	assert_int_equal(add_leaves(m, NULL, 0, 0), 0);
	assert_int_equal(add_leaves(m, NULL, 0, 1), -VT_E_LIMIT);
	assert_string_equal(err.text, "the samples of a call tree are too many");
	vt_merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_of_as_many_samples_are_in_order),
		cmocka_unit_test(chains_beyond_counting_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
