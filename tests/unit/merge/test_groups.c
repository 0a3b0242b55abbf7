/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates that a program made of samples, by place and by groups, as of sources or addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "events/gather.h"
#include "merge/merge.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

#define PERIOD 10

/* Adds samples of an event that the machine numbers 7, at a place or of a group. */
static void count(struct vt_evstats *s, uint32_t image, uint64_t offset, int32_t pid,
		  uint64_t samples)
{
	struct vt_evkey key = {.image = image, .offset = offset, .pid = pid};
	struct vt_evcounts *c;

	assert_int_equal(vt_evstats_event(s, 7, &key.event, &err), 0);
	c = vt_evstats_add(s, &key);
	assert_non_null(c);
	c->period = PERIOD;
	c->samples += samples;
	/* All tell that they have not missed the cache, and one that it has. */
	vt_evcounts_tell(c, VT_PM_EVENT(DCACHE_MISS));
	c->ntold[0] += samples - 1;
	c->had[VT_PM_DCACHE_MISS] += 1;
}

/* A stream with an event and two images, without samples. */
static void feed_names(struct vt_merge *m)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row = vt_writer_row(w, VT_EVENT), i;
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_reader *r;

	row[VT_EVENT_ID] = 7;
	vt_writer_text(w, VT_EVENT_NAME, "ibs_op");
	for (i = 4; i <= 5; i++) {
		row = vt_writer_row(w, VT_IMAGE);
		row[VT_IMAGE_ID] = i;
		vt_writer_text(w, VT_IMAGE_PATH, i == 4 ? "/bin/b" : "/bin/a");
	}
	r = reread_stream(fd, w);
	while (vt_reader_next_run(r, &block, &first, &count, &err) == 1)
		assert_int_equal(vt_merge_feed(m, block, first, count, &err), 0);
	vt_reader_close(r);
	close(fd);
}

static int add(struct vt_merge *m, const struct vt_evstats *places, const struct vt_evstats *groups,
	       const char *model)
{
	feed_names(m);
	assert_int_equal(vt_merge_add_estimates(m, places, groups, model, &err), 0);
	return vt_merge_end_stream(m, "a stream", &err);
}

static struct vt_reader *read_sum(struct vt_merge *m, int *fd)
{
	struct vt_writer *w;

	*fd = scratch_file();
	w = start_stream(*fd);
	assert_int_equal(vt_merge_write(m, w, &err), 0);
	return reread_stream(*fd, w);
}

static void expect(struct vt_reader *r, uint64_t image, uint64_t offset, uint64_t samples,
		   uint64_t had)
{
	struct vt_record rec = next_of_kind(r, VT_EVSTAT);

	while (vt_record_u64(&rec, VT_EVSTAT_WHAT) != VT_PM_DCACHE_MISS)
		rec = next_of_kind(r, VT_EVSTAT);
	assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_IMAGE), image);
	assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_OFFSET), offset);
	assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_EVENT), 0);
	assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_SAMPLES), samples);
	assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_HAD), had);
	assert_true(vt_record_f64(&rec, VT_EVSTAT_K) == PERIOD * (double)samples);
	assert_true(vt_record_f64(&rec, VT_EVSTAT_SUM) == PERIOD * (double)had);
}

static void places_add_up_without_processes(void **state)
{
	struct vt_evstats *one = vt_evstats_new(), *two = vt_evstats_new();
	struct vt_merge *m = vt_merge_new(1);
	struct vt_record rec;
	struct vt_reader *r;
	int fd;

	(void)state;
	count(one, 4, 0x10, 100, 3);
	count(one, 4, 0x10, 101, 4);
	count(one, 5, 0x20, 0, 2);
	count(two, 4, 0x10, 7, 5);
	assert_int_equal(add(m, one, NULL, "zen3"), 0);
	assert_int_equal(add(m, two, NULL, NULL), 0);
	assert_int_equal(add(m, two, NULL, "zen4"), -VT_E_MISMATCH);
	assert_string_equal(err.text, "its estimates are of another model of micro-operations "
				      "(META vevent.model) than the estimates of a stream");
	r = read_sum(m, &fd);
	rec = next_of_kind(r, VT_META);
	while (!vt_record_is_meta(&rec, "vevent.model"))
		rec = next_of_kind(r, VT_META);
	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_META_VALUE), "zen3"));
	expect(r, 0, 0x20, 2, 1);
	expect(r, 1, 0x10, 12, 3);
	vt_reader_close(r);
	close(fd);
	vt_evstats_free(one);
	vt_evstats_free(two);
	vt_merge_free(m);
}

static uint64_t group_samples(const struct vt_evstats *s, uint32_t image, uint64_t offset)
{
	const struct vt_evkey key = {.image = image, .offset = offset};
	const struct vt_evcounts *c = vt_evstats_find(s, &key);
	struct vt_evtotal all;

	if (!c)
		return 0;
	vt_evcounts_all(c, &all);
	return (uint64_t)all.samples;
}

/* A stream has all groups but one that there may be; three more come, two of them new. */
static void groups_beyond_the_most_are_one(void **state)
{
	struct vt_evstats *places = vt_evstats_new(), *sum = vt_evstats_new();
	struct vt_evstats *one = vt_evstats_new(), *two = vt_evstats_new();
	struct vt_merge *m = vt_merge_new(1);
	int fd;
	uint64_t i;

	(void)state;
	count(places, 4, 0x10, 0, 2);
	for (i = 0; i < VT_EVGROUP_MOST - 1; i++)
		count(one, VT_EVGROUP_KNOWN, i, 0, 2);
	count(two, VT_EVGROUP_KNOWN, VT_EVGROUP_MOST, 0, 3);
	count(two, VT_EVGROUP_KNOWN, VT_EVGROUP_MOST + 1, 0, 4);
	count(two, VT_EVGROUP_KNOWN, VT_EVGROUP_MOST + 2, 0, 5);
	count(two, VT_EVGROUP_KNOWN, 1, 0, 6);
	assert_int_equal(add(m, places, one, NULL), 0);
	assert_int_equal(add(m, places, two, NULL), 0);
	vt_reader_close(read_sum(m, &fd));
	close(fd);
	assert_int_equal(vt_merge_groups(m, sum, &err), 0);
	assert_int_equal(vt_evstats_nplaces(sum), VT_EVGROUP_MOST + 1);
	assert_int_equal(group_samples(sum, VT_EVGROUP_KNOWN, 0), 2);
	assert_int_equal(group_samples(sum, VT_EVGROUP_KNOWN, 1), 8);
	assert_int_equal(group_samples(sum, VT_EVGROUP_KNOWN, VT_EVGROUP_MOST), 3);
	assert_int_equal(group_samples(sum, VT_EVGROUP_KNOWN, VT_EVGROUP_MOST + 1), 0);
	assert_int_equal(group_samples(sum, VT_EVGROUP_MORE, 0), 9);
	vt_evstats_free(places);
	vt_evstats_free(one);
	vt_evstats_free(two);
	vt_evstats_free(sum);
	vt_merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_add_up_without_processes),
		cmocka_unit_test(groups_beyond_the_most_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
