/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sums of a small stream, all of them worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "stream/writer.h"
#include "summary/summary.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

static void put_gap(struct vt_writer *w, uint64_t addr, uint64_t bytes, const char *reason)
{
	uint64_t *row = vt_writer_row(w, VT_GAP);

	row[VT_GAP_PID] = 10;
	row[VT_GAP_TID] = 10;
	row[VT_GAP_ADDR] = addr;
	row[VT_GAP_BYTES] = bytes;
	vt_writer_text(w, VT_GAP_REASON, reason);
}

static void put_fact(struct vt_writer *w, const char *key, const char *value, size_t size)
{
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, value);
	vt_writer_bytes(w, VT_META_DATA, "12345678", size);
}

static void put_packets(struct vt_writer *w, const char *name, uint64_t count, uint64_t bytes)
{
	uint64_t *row = vt_writer_row(w, VT_PACKETS);

	row[VT_PACKETS_COUNT] = count;
	row[VT_PACKETS_BYTES] = bytes;
	vt_writer_text(w, VT_PACKETS_NAME, name);
}

static void put_trace(struct vt_writer *w, uint64_t event, uint64_t tsc)
{
	uint64_t *row = vt_writer_row(w, VT_TRACE);

	row[VT_TRACE_PID] = 10;
	row[VT_TRACE_TID] = 11;
	row[VT_TRACE_EVENT] = event;
	row[VT_TRACE_TSC] = tsc;
	row[VT_TRACE_TIME] = tsc * 2;
}

static void summarise(struct vt_summary *s, int fd, struct vt_writer *w)
{
	struct vt_reader *r = reread_stream(fd, w);
	const struct vt_block *b;
	uint32_t first, count;

	assert_int_equal(vt_summary_init(s, vt_reader_schema(r), &err), 0);
	while (vt_reader_next_run(r, &b, &first, &count, &err) == 1)
		assert_int_equal(vt_summary_feed(s, b, first, count, &err), 0);
	assert_int_equal(vt_summary_finish(s, &err), 0);
	vt_reader_close(r);
	close(fd);
}

static void samples_are_summed_by_event(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_summary s;
	struct vt_event_total e;

	(void)state;
	scene_event(w, 3, "cycles", VT_POLICY_PRECISE);
	scene_samples(w, 3, 0x1000, SCENE_EXACT_IP, 100, 2);
	scene_samples(w, 3, 0x1000, 0, 100, 3);
	scene_samples(w, 9, 0x1000, 0, 7, 1);
	summarise(&s, fd, w);
	assert_int_equal(s.records, 7);
	assert_int_equal(s.kinds[VT_SAMPLE], 6);
	e = vt_summary_of_event(&s, 3);
	assert_int_equal(e.samples, 5);
	assert_int_equal(e.period, 500);
	assert_int_equal(e.exact_ip, 2);
	e = vt_summary_of_event(&s, 9);
	assert_int_equal(e.samples, 1);
	assert_int_equal(e.period, 7);
	assert_int_equal(vt_summary_of_event(&s, 4).samples, 0);
	/* Event 9 was never declared. */
	assert_int_equal(s.names.events.count, 2);
	assert_int_equal(vt_names_event(&s.names, 9)->name, 0);
	assert_string_equal(vt_intern_get(s.names.strings, vt_names_event(&s.names, 3)->name),
			    "cycles");
	assert_false(s.capped);
	vt_summary_fini(&s);
}

static void losses_and_facts_are_summed(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_loss_total sum;
	struct vt_summary s;

	(void)state;
	put_gap(w, 0, 5, "overflow");
	put_gap(w, 0, 7, "overflow");
	put_gap(w, 0, 1, "bad packet");
	put_fact(w, "file", "a", 8);
	put_fact(w, "file", "a", 3);
	put_fact(w, "arch", "x86_64", 0);
	summarise(&s, fd, w);
	assert_int_equal(s.gaps.count, 2);
	sum = vt_summary_loss_sum(&s.gaps);
	assert_int_equal(sum.places, 3);
	assert_int_equal(sum.bytes, 13);
	assert_int_equal(s.nfacts, 2);
	assert_int_equal(s.facts[0].bytes, 11);
	assert_string_equal(vt_intern_get(s.names.strings, s.names.arch), "x86_64");
	assert_int_equal(s.missing.count, 0);
	vt_summary_fini(&s);
}

static void missing_code_is_grouped(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_missing_range *list;
	struct vt_summary s;

	(void)state;
	scene_image(w, 1, "/no/such");
	scene_map(w, 0x400000, 1);
	put_gap(w, 0x400010, 1, VT_REASON_NO_CODE);
	put_gap(w, 0x400030, 2, VT_REASON_NO_CODE);
	put_gap(w, 0x400020, 4, VT_REASON_NO_CODE);
	put_gap(w, 0x7fffff, 8, VT_REASON_NO_CODE);
	put_gap(w, 0x800000, 16, VT_REASON_NO_CODE);
	put_gap(w, 0x400040, 32, "bad code");
	summarise(&s, fd, w);
	assert_int_equal(s.missing.count, 3);
	list = vt_summary_missing(&s);
	assert_non_null(list);
	assert_int_equal(list[0].image, 1);
	assert_int_equal(list[0].places, 3);
	assert_int_equal(list[0].bytes, 7);
	assert_int_equal(list[0].first, 0x10);
	assert_int_equal(list[0].last, 0x30);
	assert_int_equal(list[1].image, VT_MISSING_UNMAPPED);
	assert_int_equal(list[1].mib, 0x700000);
	assert_int_equal(list[2].mib, 0x800000);
	assert_int_equal(list[2].bytes, 16);
	free(list);
	vt_summary_fini(&s);
}

static void traces_are_summed(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_summary s;

	(void)state;
	put_trace(w, VT_TRACE_ENABLED, 70);
	put_trace(w, VT_TRACE_ENABLED, 50);
	put_trace(w, VT_NTRACES, 0);
	put_packets(w, "", 6, 60);
	put_packets(w, "TNT", 2, 3);
	put_packets(w, "", 1, 10);
	put_packets(w, "TNT", 5, 7);
	summarise(&s, fd, w);
	assert_int_equal(s.trace.events[VT_TRACE_ENABLED], 2);
	assert_int_equal(s.trace.nevents, 3);
	assert_int_equal(s.trace.bytes, 70);
	assert_int_equal(s.trace.packets.count, 2);
	assert_int_equal(((struct vt_packet_total *)vt_hash_at(&s.trace.packets, 1))->count, 7);
	assert_int_equal(((struct vt_packet_total *)vt_hash_at(&s.trace.packets, 1))->bytes, 10);
	assert_true(s.trace.span.known);
	assert_int_equal(s.trace.span.first_tsc, 50);
	assert_int_equal(s.trace.span.last_tsc, 70);
	assert_int_equal(s.first_time, 100);
	assert_int_equal(s.last_time, 140);
	assert_int_equal(s.threads.count, 1);
	assert_int_equal(s.processes.count, 1);
	vt_summary_fini(&s);
}

static void put_object(struct vt_writer *w, uint64_t type, uint64_t left_out, uint64_t accesses)
{
	uint64_t *row = vt_writer_row(w, VT_OBJECT);

	row[VT_OBJECT_TYPE] = type;
	row[VT_OBJECT_LEFT_OUT] = left_out;
	row[VT_OBJECT_LEFT_OUT_ACCESSES] = accesses;
}

static void memory_profiles_are_summed(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_summary s;
	uint64_t *row;

	(void)state;
	row = vt_writer_row(w, VT_ACCESSES);
	row[VT_ACCESSES_GRAIN] = 4;
	row[VT_ACCESSES_DEPTH] = 3;
	row[VT_ACCESSES_INSNS] = 1000;
	row[VT_ACCESSES_SAMPLES] = 7;
	row[VT_ACCESSES_LOADS] = 300;
	row[VT_ACCESSES_STORES] = 200;
	row[VT_ACCESSES_OBJECTS_LEFT_OUT] = 5;
	put_object(w, VT_OBJECT_HEAP, 2, 30);
	put_object(w, VT_OBJECT_HEAP, 0, 0);
	put_object(w, VT_OBJECT_GLOBAL, 1, 12);
	put_object(w, VT_NOBJECTTYPES, 0, 0);
	vt_writer_row(w, VT_LOCATION);
	vt_writer_row(w, VT_LOCATION);
	summarise(&s, fd, w);
	assert_true(s.memory.told);
	assert_int_equal(s.memory.grain, 4);
	assert_int_equal(s.memory.depth, 3);
	assert_int_equal(s.memory.insns, 1000);
	assert_int_equal(s.memory.samples, 7);
	assert_int_equal(s.memory.loads, 300);
	assert_int_equal(s.memory.stores, 200);
	assert_int_equal(s.memory.nobjects, 4);
	assert_int_equal(s.memory.objects[VT_OBJECT_HEAP], 2);
	assert_int_equal(s.memory.objects[VT_OBJECT_GLOBAL], 1);
	assert_int_equal(s.memory.objects[VT_OBJECT_STACK], 0);
	assert_int_equal(s.memory.locations, 2);
	assert_int_equal(s.memory.objects_left_out, 5);
	assert_int_equal(s.memory.locations_left_out, 3);
	assert_int_equal(s.memory.accesses_left_out, 42);
	vt_summary_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_summed_by_event),
		cmocka_unit_test(losses_and_facts_are_summed),
		cmocka_unit_test(missing_code_is_grouped),
		cmocka_unit_test(traces_are_summed),
		cmocka_unit_test(memory_profiles_are_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
