/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that are added up: what is written of them, when, and what is passed on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/collector.h"
#include "profile/profile.h"
#include "tests/unit/common/streams.h"

#define PID    5
#define USER   2
#define KERNEL 1
#define IP     1
#define PERIOD 0x100
#define MOST   16

static struct vt_error err;

struct count {
	uint64_t image;
	uint64_t offset;
	uint64_t event;
	uint64_t samples;
	uint64_t period;
};

struct collected {
	struct vt_collector_counts counts;
	struct vt_sampletable_counts tables;
	struct count list[MOST];
	unsigned n;
	unsigned maps; /* that were passed on before the first of them */
	unsigned others;
};

typedef void put_fn(struct vt_writer *w);

static void put_event(struct vt_writer *w, uint64_t id, uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_PERIOD] = period;
}

static void put_map(struct vt_writer *w, uint64_t image, uint64_t start, uint64_t offset)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = image;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
}

static void put_sample(struct vt_writer *w, uint64_t event, uint64_t ip, uint64_t period,
		       uint64_t cpu)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_PID] = PID;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_CPU] = cpu;
	row[VT_SAMPLE_PERIOD] = period;
	row[VT_SAMPLE_MISC] = USER | 0x4000;
	row[VT_SAMPLE_HAS] = IP | (period ? PERIOD : 0);
}

static void put_thread(struct vt_writer *w, uint64_t op)
{
	uint64_t *row = vt_writer_row(w, VT_THREAD);

	row[VT_THREAD_PID] = row[VT_THREAD_TID] = PID;
	row[VT_THREAD_OP] = op;
}

/* In a mode, with or without an address. */
static void put_mode(struct vt_writer *w, uint64_t misc, uint64_t has, uint64_t ip)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_EVENT] = 3;
	row[VT_SAMPLE_PID] = PID;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_PERIOD] = 2;
	row[VT_SAMPLE_MISC] = misc;
	row[VT_SAMPLE_HAS] = has;
}

static void put_process(struct vt_writer *w, int64_t pid, uint64_t ip)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_EVENT] = 4;
	row[VT_SAMPLE_PID] = (uint64_t)pid;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_MISC] = USER;
	row[VT_SAMPLE_HAS] = IP;
}

/* With tables of so many entries in one bucket, and a buffer of so many. */
static void collect(put_fn *put, uint32_t ways, size_t overflow, struct collected *c)
{
	const struct vt_sampletable_shape shape = {.buckets = 1, .ways = ways};
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE, .ninputs = 1};
	int in_fd = scratch_file(), out_fd = scratch_file();
	struct vt_writer *w = start_stream(in_fd);
	const struct vt_reader *input;
	struct vt_collector *collector;
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_record rec;
	struct vt_reader *r;

	put(w);
	input = r = reread_stream(in_fd, w);
	o.inputs = &input;
	w = vt_writer_open_fd(out_fd, "test", &o, &err);
	collector = vt_collector_new(&shape, overflow, w);
	assert_non_null(collector);
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_collector_feed(collector, block, first, count, &err), 0);
	assert_int_equal(vt_collector_finish(collector, &err), 0);
	memset(c, 0, sizeof(*c));
	c->counts = *vt_collector_counts(collector);
	c->tables = vt_collector_table_counts(collector);
	vt_collector_free(collector);
	vt_reader_close(r);
	close(in_fd);
	r = reread_stream(out_fd, w);
	while (vt_reader_next(r, &rec, &err) > 0) {
		assert_true(c->n < MOST);
		if (rec.kind == VT_COUNT)
			c->list[c->n++] = (struct count){vt_record_u64(&rec, VT_COUNT_IMAGE),
							 vt_record_u64(&rec, VT_COUNT_OFFSET),
							 vt_record_u64(&rec, VT_COUNT_EVENT),
							 vt_record_u64(&rec, VT_COUNT_SAMPLES),
							 vt_record_u64(&rec, VT_COUNT_PERIOD)};
		else if (rec.kind == VT_MAP)
			c->maps += !c->n;
		else
			c->others++;
	}
	vt_reader_close(r);
	close(out_fd);
}

static void assert_counts(const struct collected *c, const struct count *want, unsigned n)
{
	unsigned i;

	assert_int_equal(c->n, n);
	for (i = 0; i < n; i++)
		if (memcmp(&c->list[i], &want[i], sizeof(want[i])) != 0)
			fail_msg("count %u: image %llu, offset %#llx, event %llu, %llu of %llu", i,
				 (unsigned long long)c->list[i].image,
				 (unsigned long long)c->list[i].offset,
				 (unsigned long long)c->list[i].event,
				 (unsigned long long)c->list[i].samples,
				 (unsigned long long)c->list[i].period);
	assert_int_equal(c->counts.written, n);
}

/* ---- what is written ---- */

static void put_some(struct vt_writer *w)
{
	put_event(w, 3, 100);
	put_event(w, 4, 0);
	put_map(w, 1, 0x1000, 0x400);
	put_sample(w, 4, 0x1020, 0, 0);
	put_sample(w, 3, 0x1020, 0, 0);
	put_sample(w, 3, 0x1010, 7, 0);
	put_sample(w, 3, 0x1010, 8, 0);
	put_sample(w, 3, 0x1010, 0, 0);
	put_sample(w, 3, 0x9000, 1, 0);
	vt_writer_row(w, VT_SIGNAL);
}

/* By process, mode, address and event; periods that are not told are those that were asked for. */
static void test_written(void **state)
{
	const struct count want[] = {
		{1, 0x410, 3, 3, 115},
		{1, 0x420, 3, 1, 100},
		{1, 0x420, 4, 1, 1},
		{VT_UNMAPPED_IMAGE, vt_unmapped_cause(0x9000, USER, IP), 3, 1, 1},
	};
	static struct collected c;

	(void)state;
	collect(put_some, 8, 8, &c);
	assert_counts(&c, want, 4);
	assert_int_equal(c.counts.samples, 6);
	assert_int_equal(c.counts.buffers, 0);
	assert_int_equal(c.counts.emptied, 0);
	assert_int_equal(c.tables.samples, 6);
	assert_int_equal(c.tables.misses, 4);
	assert_int_equal(c.tables.evictions, 0);
	assert_int_equal(c.maps, 1);
	assert_int_equal(c.others, 4); /* two events, an image, a signal */
}

static void put_modes(struct vt_writer *w)
{
	put_event(w, 3, 100);
	put_mode(w, USER, IP | PERIOD, 0x9000);
	put_process(w, 4, 0x9000);
	put_process(w, 6, 0x8000);
	put_mode(w, USER, PERIOD, 0);
	put_mode(w, KERNEL, IP | PERIOD, 0x9000);
	put_mode(w, USER, IP | PERIOD, 0x9000);
	put_mode(w, USER, IP | PERIOD, 0x9000);
	put_mode(w, 0, IP | PERIOD, 0x9000);
}

/* By process; of what lies nowhere, in which mode it was, and whether it has an address at all. */
static void test_modes(void **state)
{
	const struct count want[] = {
		{VT_UNMAPPED_IMAGE, VT_UNMAPPED_USER, 4, 1, 1},
		{VT_UNMAPPED_IMAGE, VT_UNMAPPED_NO_IP, 3, 1, 2},
		{VT_UNMAPPED_IMAGE, VT_UNMAPPED_MODE, 3, 1, 2},
		{VT_UNMAPPED_IMAGE, VT_UNMAPPED_KERNEL, 3, 1, 2},
		{VT_UNMAPPED_IMAGE, VT_UNMAPPED_USER, 3, 3, 6},
		{VT_UNMAPPED_IMAGE, VT_UNMAPPED_USER, 4, 1, 1},
	};
	static struct collected c;

	(void)state;
	collect(put_modes, 8, 8, &c);
	assert_counts(&c, want, 6);
}

/* Of two processes, modes, addresses and events, in no order; each has a period of its own. */
static void put_mixed(struct vt_writer *w)
{
	unsigned i, k;

	put_event(w, 3, 1);
	put_event(w, 4, 1);
	for (i = 0; i < 16; i++) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		k = i * 7 % 16;
		row[VT_SAMPLE_PID] = PID + k / 8;
		row[VT_SAMPLE_MISC] = k / 4 % 2 ? USER : KERNEL;
		row[VT_SAMPLE_IP] = k / 2 % 2 ? 0x9000 : 0x8000;
		row[VT_SAMPLE_EVENT] = 3 + k % 2;
		row[VT_SAMPLE_PERIOD] = 1 + k;
		row[VT_SAMPLE_HAS] = IP | PERIOD;
	}
}

static void test_order(void **state)
{
	struct count want[16];
	static struct collected c;
	unsigned k;

	(void)state;
	for (k = 0; k < 16; k++)
		want[k] = (struct count){VT_UNMAPPED_IMAGE,
					 k / 4 % 2 ? VT_UNMAPPED_USER : VT_UNMAPPED_KERNEL,
					 3 + k % 2, 1, 1 + k};
	collect(put_mixed, 16, 32, &c);
	assert_counts(&c, want, 16);
}

static void put_zero_period(struct vt_writer *w, uint64_t ip, uint64_t has)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_EVENT] = 3;
	row[VT_SAMPLE_PID] = PID;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_MISC] = USER;
	row[VT_SAMPLE_HAS] = has;
}

/* A sample may have a period of 0; and others say something else. */
static void put_zero(struct vt_writer *w)
{
	put_event(w, 3, 100);
	put_sample(w, 3, 0x8000, 0, 0);
	put_mode(w, USER, IP | PERIOD, 0x9000);
	put_zero_period(w, 0x9100, IP | PERIOD);
	put_zero_period(w, 0x9200, ~(uint64_t)PERIOD);
}

static void test_zero(void **state)
{
	const struct count want[] = {{VT_UNMAPPED_IMAGE, VT_UNMAPPED_USER, 3, 1, 100},
				     {VT_UNMAPPED_IMAGE, VT_UNMAPPED_USER, 3, 1, 2},
				     {VT_UNMAPPED_IMAGE, VT_UNMAPPED_USER, 3, 1, 0},
				     {VT_UNMAPPED_IMAGE, VT_UNMAPPED_USER, 3, 1, 100}};
	static struct collected c;

	(void)state;
	collect(put_zero, 8, 8, &c);
	assert_counts(&c, want, 4);
}

/* Without anywhere to write to, there are numbers still. */
static void test_dry(void **state)
{
	const struct vt_sampletable_shape shape = {.buckets = 1, .ways = 8};
	struct vt_collector *collector = vt_collector_new(&shape, 8, NULL);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;

	(void)state;
	put_some(w);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_collector_feed(collector, rec.block, rec.row, 1, &err), 0);
	assert_int_equal(vt_collector_finish(collector, &err), 0);
	assert_int_equal(vt_collector_counts(collector)->samples, 6);
	assert_int_equal(vt_collector_counts(collector)->written, 4);
	vt_collector_free(collector);
	vt_reader_close(r);
	close(fd);
}

/* What a table has no room for goes to the buffer, where equal entries are added up. */
static void put_turns(struct vt_writer *w)
{
	unsigned i;

	put_event(w, 3, 1);
	put_map(w, 1, 0x1000, 0x400);
	for (i = 0; i < 7; i++)
		put_sample(w, 3, i % 2 ? 0x1020 : 0x1010, 1, 0);
}

static void test_buffers(void **state)
{
	/* Four entries at a time: two of each; the last ones at the end. */
	const struct count want[] = {
		{1, 0x410, 3, 2, 2}, {1, 0x420, 3, 2, 2}, {1, 0x410, 3, 2, 2}, {1, 0x420, 3, 1, 1}};
	static struct collected c;

	(void)state;
	collect(put_turns, 1, 4, &c);
	assert_counts(&c, want, 4);
	assert_int_equal(c.counts.buffers, 1);
	assert_int_equal(c.tables.misses, 7);
	assert_int_equal(c.tables.evictions, 6);
}

/* Two processors' tables, each with room for one. */
static void put_pairs(struct vt_writer *w)
{
	unsigned i;

	put_event(w, 3, 1);
	put_map(w, 1, 0x1000, 0x400);
	for (i = 0; i < 8; i++)
		put_sample(w, 3, i % 4 < 2 ? 0x1010 : 0x1020, 1, i % 2);
}

static void test_tables(void **state)
{
	const struct count want[] = {{1, 0x410, 3, 4, 4}, {1, 0x420, 3, 4, 4}};
	static struct collected c;

	(void)state;
	collect(put_pairs, 1, 32, &c);
	assert_counts(&c, want, 2);
	assert_int_equal(c.tables.samples, 8);
	assert_int_equal(c.tables.misses, 8);
	assert_int_equal(c.tables.evictions, 6);
	assert_int_equal(c.tables.compared, 6);
}

/* ---- when ---- */

/* What was written once is not written again with what comes later. */
static void put_again(struct vt_writer *w)
{
	put_event(w, 3, 1);
	put_map(w, 1, 0x1000, 0x400);
	put_sample(w, 3, 0x1010, 1, 0);
	put_sample(w, 3, 0x1020, 1, 0);
	put_map(w, 2, 0x1000, 0);
	put_sample(w, 3, 0x1020, 1, 0);
}

static void test_again(void **state)
{
	const struct count want[] = {{1, 0x410, 3, 1, 1}, {1, 0x420, 3, 1, 1}, {2, 0x20, 3, 1, 1}};
	static struct collected c;

	(void)state;
	collect(put_again, 8, 8, &c);
	assert_counts(&c, want, 3);
}

static void put_changes(struct vt_writer *w)
{
	put_event(w, 3, 1);
	put_map(w, 1, 0x1000, 0x400);
	put_thread(w, VT_OP_EXIT); /* nothing to write yet */
	put_sample(w, 3, 0x1010, 1, 0);
	put_thread(w, VT_OP_COMM);
	put_sample(w, 3, 0x1010, 1, 0);
	put_map(w, 2, 0x1000, 0);
	put_sample(w, 3, 0x1010, 1, 0);
	put_thread(w, VT_OP_EXEC);
	put_map(w, 1, 0x1000, 0);
	put_sample(w, 3, 0x1010, 1, 0);
}

/* Each sample is of what was mapped at its time. */
static void test_changes(void **state)
{
	const struct count want[] = {{1, 0x410, 3, 2, 2}, {2, 0x10, 3, 1, 1}, {1, 0x10, 3, 1, 1}};
	static struct collected c;

	(void)state;
	collect(put_changes, 8, 8, &c);
	assert_counts(&c, want, 3);
	assert_int_equal(c.counts.emptied, 2);
}

static void put_processors(struct vt_writer *w)
{
	static const uint64_t cpus[] = {
		0, 1, 0, VT_COLLECTOR_CPUS - 1, VT_COLLECTOR_CPUS, VT_COLLECTOR_CPUS + 5};
	unsigned i;

	put_event(w, 3, 1);
	put_map(w, 1, 0x1000, 0x400);
	for (i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++)
		put_sample(w, 3, 0x1010, 1, cpus[i]);
}

/* Processors have tables of their own, of which there are so many; the others share one. */
static void test_processors(void **state)
{
	const struct count want[] = {{1, 0x410, 3, 6, 6}};
	static struct collected c;

	(void)state;
	collect(put_processors, 8, 8, &c);
	assert_counts(&c, want, 1);
	assert_int_equal(c.tables.samples, 6);
	assert_int_equal(c.tables.misses, 4);
	assert_int_equal(c.tables.compared, 2);
}

/* DCPI's own example: with 9.5 % of misses a sample costs 430, or 654 and the daemon's 245 / .095.
 */
static void test_cost(void **state)
{
	struct vt_sampletable_counts n = {.samples = 1000, .misses = 95};

	(void)state;
	assert_float_equal(vt_collector_cost(&n), 430 * 0.905 + 654 * 0.095 + 245, 1e-6);
	n.misses = 0;
	assert_float_equal(vt_collector_cost(&n), 430, 1e-6);
	n.misses = 1000;
	assert_float_equal(vt_collector_cost(&n), 654 + 245 / 0.095, 1e-6);
	n.samples = 0;
	assert_float_equal(vt_collector_cost(&n), 0, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written), cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_processors),
		cmocka_unit_test(test_cost),	cmocka_unit_test(test_modes),
		cmocka_unit_test(test_dry),	cmocka_unit_test(test_order),
		cmocka_unit_test(test_zero),	cmocka_unit_test(test_tables),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
