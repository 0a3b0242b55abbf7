/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LOADS records of samples of loads: which samples count, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "culprit/loads.h"
#include "stream/profileme.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

/* ---- events ---- */

static void test_events(void **state)
{
	static const struct {
		struct vt_loads_event event;
		bool sampled;
	} cases[] = {
		/* No load is faster than 3 cycles. */
		{{"mem-loads", 0x1cd, 3, 0}, true},
		{{"cpu/mem-loads,ldlat=3/P", 0x1cd, 3, 0}, true},
		{{"cpu/mem-loads/pp", 0x1cd, 1, 0}, true},
		{{"cpu_core/mem-loads,ldlat=3/", 0x1cd, 2, 0}, true},
		{{"cpu_atom/MEM-LOADS/Pu", 0x1cd, 3, 0}, true},
		{{"MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=3:precise=2", 0x1cd, 3, 0}, true},
		{{"mem_trans_retired.load_latency_gt_4", 0x1cd, 4, 0}, false},
		{{"cpu/mem-loads,ldlat=30/P", 0x1cd, 30, 0}, false},
		{{"mem-loads", 0x1cd, 4, 0}, false},
		{{"mem-loads", 0x1cd, UINT64_C(0x100000003), 0}, false},
		/* Nobody knows. */
		{{"cpu/mem-loads,ldlat=3/P", 0x1cd, 0, 0}, false},
		/* Others. */
		{{"cpu/mem-loads-aux/", 0x8203, 3, 0}, false},
		{{"mem-load", 0x1cd, 3, 0}, false},
		{{"cpu/mem-stores/P", 0x82d0, 3, 0}, false},
		{{"xmem-loads", 0x1cd, 3, 0}, false},
		{{"mem_trans_retired.load_latenc", 0x1cd, 3, 0}, false},
		{{"mem_inst_retired.all_loads:pp", 0x81d0, 0, 0}, true},
		{{"cpu/MEM_UOPS_RETIRED.ALL_LOADS,period=7/", 0x81d0, 9, 9}, true},
		{{"mem_inst_retired.all_loads_x", 0x81d0, 0, 0}, false},
		{{"mem_inst_retired.all_stores", 0x82d0, 0, 0}, false},
		{{"mem_load_retired.l1_miss:pp", 0x8d1, 3, 0}, false},
		{{"ibs_op//", 0, 0, 0}, true},
		{{"ibs_op/cnt_ctl=1/", 1 << 19, 0, 0}, true},
		{{"ibs_op/l3missonly=1/", 1 << 16, 0, 0}, false},
		{{"ibs_op/ldlat=128/", 0, 128, 0}, false},
		{{"ibs_opx//", 0, 0, 0}, false},
		{{"ibs_fetch//", 0, 0, 0}, false},
		{{"arm_spe_0//", 0, 0, 0}, true},
		{{"arm_spe/load_filter=1/", UINT64_C(1) << 33, 0, 0x1000}, true},
		{{"arm_spe_0/event_filter=2/", 0, 2, 0}, false},
		{{"arm_spe_0/min_latency=1/", 0, 0, 1}, false},
		{{"arm_spe_0/min_latency=2048/", 0, 0, 2048}, false},
		{{"cycles:P", 0x3c, 3, 0}, false},
		{{"", 0, 3, 0}, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (vt_loads_are_sampled(&cases[i].event) != cases[i].sampled)
			fail_msg("%s", cases[i].event.name);
}

/* ---- samples ---- */

/* Hits of the first cache and TLB; misses of the TLB alone, of the cache alone, of both. */
#define HITS	  0x68100142
#define TLB_MISS  0x50100142
#define L2_HIT	  0x68100442
#define BOTH_MISS 0x50100842
#define STORE	  0x68100144
#define NO_TLB	  0x5100142
#define NO_LEVEL  0x68100022
#define NOTHING	  0x5080022

#define ALL   0x800f /* ip, tid, time, addr, data_src */
#define EXACT 0x4002 /* in user mode, at the instruction itself */

static void put_event(struct vt_writer *w, uint64_t id, const char *name, uint64_t config1)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_CONFIG1] = config1;
	vt_writer_text(w, VT_EVENT_NAME, name);
}

static void put_map(struct vt_writer *w, uint64_t pid, uint64_t start, uint64_t image,
		    uint64_t offset)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
}

static uint64_t *put(struct vt_writer *w, uint64_t event, uint64_t pid, uint64_t ip,
		     uint64_t data_src)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = pid;
	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_DATA_SRC] = data_src;
	row[VT_SAMPLE_HAS] = ALL;
	row[VT_SAMPLE_MISC] = EXACT;
	return row;
}

static void put_images(struct vt_writer *w)
{
	uint64_t id;

	for (id = 7; id <= 8; id++) {
		vt_writer_row(w, VT_IMAGE)[VT_IMAGE_ID] = id;
		vt_writer_text(w, VT_IMAGE_PATH, id == 7 ? "/x" : "/y");
	}
	put_map(w, 5, 0x10000, 8, 0);
	put_map(w, 5, 0x20000, 7, 0x3000);
	put_map(w, 6, 0x30000, 7, 0x3000);
}

/* Reads the stream, and returns one of what is written of it. */
static struct vt_reader *tell(struct vt_writer *w, int fd, int out)
{
	struct vt_context *context = vt_context_new(NULL);
	struct vt_loads *l = vt_loads_new(context);
	struct vt_reader *r = reread_stream(fd, w);
	struct vt_writer *records = start_stream(out);
	const struct vt_block *block;
	uint32_t first, count;

	assert_non_null(l);
	vt_context_add(
		context,
		&(struct vt_consumer){.record = vt_loads_feed, .arg = l, .kinds = VT_LOADS_KINDS});
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_context_feed(context, block, first, count, &err), 0);
	vt_reader_close(r);
	close(fd);
	vt_loads_write(l, records);
	vt_loads_free(l);
	vt_context_free(context);
	return reread_stream(out, records);
}

struct row {
	uint64_t image, offset, event;
	uint64_t cache_known, cache_missed, tlb_known, tlb_missed;
};

/* All LOADS records are these, in this order. */
static void check(struct vt_writer *w, int fd, const struct row *rows, size_t n)
{
	int out = scratch_file();
	struct vt_reader *r = tell(w, fd, out);
	struct vt_record rec;
	size_t i = 0;

	while (vt_reader_next(r, &rec, &err) > 0) {
		const struct row got = {
			vt_record_u64(&rec, VT_LOADS_IMAGE),
			vt_record_u64(&rec, VT_LOADS_OFFSET),
			vt_record_u64(&rec, VT_LOADS_EVENT),
			vt_record_u64(&rec, VT_LOADS_CACHE_KNOWN),
			vt_record_u64(&rec, VT_LOADS_CACHE_MISSED),
			vt_record_u64(&rec, VT_LOADS_TLB_KNOWN),
			vt_record_u64(&rec, VT_LOADS_TLB_MISSED),
		};

		if (rec.kind != VT_LOADS)
			continue;
		assert_true(i < n);
		assert_memory_equal(&got, &rows[i], sizeof(got));
		i++;
	}
	assert_int_equal(i, n);
	vt_reader_close(r);
	close(out);
}

/* In order of image, offset and event; what two processes load at one place adds up. */
static void test_counts(void **state)
{
	static const struct row rows[] = {
		{7, 0x3010, 1, 6, 3, 6, 2},
		{7, 0x3010, 2, 1, 0, 1, 0},
		{7, 0x3018, 1, 1, 0, 1, 0},
		{8, 0x10, 1, 1, 1, 1, 1},
	};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_event(w, 1, "cpu/mem-loads,ldlat=3/P", 3);
	put_event(w, 2, "mem_inst_retired.all_loads:P", 0);
	put_images(w);
	put(w, 1, 5, 0x10010, BOTH_MISS);
	put(w, 2, 5, 0x20010, HITS);
	put(w, 1, 5, 0x20018, HITS);
	put(w, 1, 5, 0x20010, HITS);
	put(w, 1, 5, 0x20010, HITS);
	put(w, 1, 6, 0x30010, TLB_MISS);
	put(w, 1, 5, 0x20010, L2_HIT);
	put(w, 1, 6, 0x30010, BOTH_MISS);
	put(w, 1, 5, 0x20010, L2_HIT);
	check(w, fd, rows, sizeof(rows) / sizeof(rows[0]));
}

/* Each of both may be told without the other. */
static void test_partly_told(void **state)
{
	static const struct row rows[] = {{7, 0x3010, 1, 2, 0, 1, 0}, {7, 0x3020, 1, 0, 0, 1, 0}};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_event(w, 1, "mem-loads", 3);
	put_images(w);
	put(w, 1, 5, 0x20010, HITS);
	put(w, 1, 5, 0x20010, NO_TLB);
	put(w, 1, 5, 0x20010, NOTHING);
	put(w, 1, 5, 0x20020, NO_LEVEL);
	put(w, 1, 5, 0x20030, NOTHING);
	check(w, fd, rows, sizeof(rows) / sizeof(rows[0]));
}

/* Stores, other events, no data source, addresses that are not the load's, nothing mapped. */
static void test_left_out(void **state)
{
	static const struct row rows[] = {{7, 0x3010, 1, 1, 1, 1, 1}};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_event(w, 1, "mem-loads", 3);
	put_event(w, 2, "mem-loads", 30);
	put_event(w, 3, "mem_load_retired.l1_miss", 3);
	put_images(w);
	put(w, 1, 5, 0x20010, BOTH_MISS);
	put(w, 1, 5, 0x20010, STORE);
	put(w, 2, 5, 0x20010, HITS);
	put(w, 3, 5, 0x20010, HITS);
	put(w, 4, 5, 0x20010, HITS); /* of an event that was not declared */
	put(w, 1, 5, 0x20010, HITS)[VT_SAMPLE_HAS] = ALL & ~VT_HAS_DATA_SRC;
	put(w, 1, 5, 0x20010, HITS)[VT_SAMPLE_HAS] = ALL & ~VT_HAS_IP;
	put(w, 1, 5, 0x20010, HITS)[VT_SAMPLE_MISC] = 2;
	put(w, 1, 5, 0x20010, HITS)[VT_SAMPLE_MISC] = 0x4001; /* in the kernel */
	put(w, 1, 5, 0x40010, HITS);
	put(w, 1, 9, 0x20010, HITS);
	check(w, fd, rows, sizeof(rows) / sizeof(rows[0]));
}

static void put_followed(struct vt_writer *w, uint64_t told, uint64_t events)
{
	uint64_t *row = put(w, 1, 5, 0x20010, 0);

	row[VT_SAMPLE_HAS] = ALL & ~VT_HAS_DATA_SRC;
	row[VT_SAMPLE_EVENTS_TOLD] = told;
	row[VT_SAMPLE_EVENTS] = events;
}

/* Events of a followed instruction stand for a data source that is not there. */
static void test_followed(void **state)
{
	static const struct row rows[] = {{7, 0x3010, 1, 4, 2, 3, 1}};
	const uint64_t load = VT_PM_EVENT(LOAD), cache = VT_PM_EVENT(DCACHE_MISS);
	const uint64_t tlb = VT_PM_EVENT(DTLB_MISS);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_event(w, 1, "ibs_op//", 0);
	put_images(w);
	put_followed(w, load | cache | tlb, load | cache | tlb);
	put_followed(w, load | cache | tlb, load);
	put_followed(w, load | cache | tlb, load);
	put_followed(w, load | cache, load | cache | tlb);
	put_followed(w, load | cache | tlb, cache | tlb); /* no load */
	put_followed(w, cache | tlb, load | cache | tlb); /* or it is not told */
	put_followed(w, load, load | cache);
	put(w, 1, 5, 0x20010, NOTHING)[VT_SAMPLE_EVENTS_TOLD] = load | cache;
	check(w, fd, rows, sizeof(rows) / sizeof(rows[0]));
}

/* The later declaration of an event replaces the earlier one. */
static void test_declared_again(void **state)
{
	static const struct row rows[] = {{7, 0x3010, 1, 2, 0, 2, 0}};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_images(w);
	put_event(w, 1, "mem-loads", 30);
	put(w, 1, 5, 0x20010, BOTH_MISS);
	put_event(w, 1, "mem-loads", 3);
	put(w, 1, 5, 0x20010, HITS);
	put(w, 1, 5, 0x20010, HITS);
	put_event(w, 1, "mem-loads", 30);
	put(w, 1, 5, 0x20010, BOTH_MISS);
	check(w, fd, rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_nothing(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_event(w, 1, "mem-loads", 3);
	check(w, fd, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),	    cmocka_unit_test(test_counts),
		cmocka_unit_test(test_partly_told), cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_followed),    cmocka_unit_test(test_declared_again),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
