/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of Intel PT as wholes: who ran what, and what is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/pt/decode.h"
#include "formats/pt/session.h"
#include "tests/unit/ptrecording.h"

/* ---- what comes of them ---- */

static bool counts_packets;

static void say_packets(struct vt_buf *to, const struct vt_record *rec)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_PACKETS_NAME);

	if (counts_packets)
		vt_buf_printf(to, "%u:%s%.*s %u in %u; ",
			      (unsigned)vt_record_u64(rec, VT_PACKETS_INDEX), name.size ? " " : "",
			      (int)name.size, (const char *)name.data,
			      (unsigned)vt_record_u64(rec, VT_PACKETS_COUNT),
			      (unsigned)vt_record_u64(rec, VT_PACKETS_BYTES));
}

static void say(struct vt_buf *to, const struct vt_record *rec)
{
	struct vt_bytes reason, input;

	switch (rec->kind) {
	case VT_EXEC:
		vt_buf_printf(to, "%d/%d: %u at %u; ", (int)vt_record_i64(rec, VT_EXEC_PID),
			      (int)vt_record_i64(rec, VT_EXEC_TID),
			      (unsigned)vt_record_u64(rec, VT_EXEC_INSNS),
			      (unsigned)vt_record_u64(rec, VT_EXEC_TIME));
		break;
	case VT_GAP:
		reason = vt_record_bytes(rec, VT_GAP_REASON);
		input = vt_record_bytes(rec, VT_GAP_INPUT);
		vt_buf_printf(to, "[%.*s, %.*s: %u+%u at %u, %d/%d on %u] ", (int)reason.size,
			      (const char *)reason.data, (int)input.size, (const char *)input.data,
			      (unsigned)vt_record_u64(rec, VT_GAP_OFFSET),
			      (unsigned)vt_record_u64(rec, VT_GAP_BYTES),
			      (unsigned)vt_record_u64(rec, VT_GAP_TIME),
			      (int)vt_record_i64(rec, VT_GAP_PID),
			      (int)vt_record_i64(rec, VT_GAP_TID),
			      (unsigned)vt_record_u64(rec, VT_GAP_CPU));
		break;
	case VT_SWITCH:
	case VT_ITRACE:
		vt_buf_printf(to, "| ");
		break;
	case VT_PACKETS:
		say_packets(to, rec);
		break;
	case VT_AUXTRACE:
		vt_buf_printf(to, "raw ");
		break;
	default:
		break;
	}
}

static void run_session(struct recording *m, const struct vt_pt_session_options *opt,
			struct vt_buf *text)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_session *s = vt_pt_session_new(opt, &err);
	struct vt_reader *r = reread_stream(m->fd, m->w);
	int out = scratch_file();
	struct vt_writer *w = start_stream(out);
	struct vt_record rec;
	uint64_t gaps = 0;

	assert_non_null(s);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_pt_session_scan(s, &rec, &err), 0);
	vt_reader_close(r);
	assert_int_equal(lseek(m->fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(m->fd, "in", &err);
	assert_non_null(r);
	assert_int_equal(vt_writer_add_input(w, r, &err), 0);
	assert_int_equal(vt_pt_session_begin(s, w, &err), 0);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_pt_session_record(s, &rec, &err), 0);
	assert_int_equal(vt_pt_session_end(s, &err), 0);
	vt_reader_close(r);
	r = reread_stream(out, w);
	while (vt_reader_next(r, &rec, &err) > 0) {
		say(text, &rec);
		gaps += rec.kind == VT_GAP;
	}
	assert_int_equal(vt_pt_session_totals(s)->gaps, gaps);
	vt_reader_close(r);
	vt_pt_session_free(s);
	close(out);
	close(m->fd);
}

static void expect_with(struct recording *m, const struct vt_pt_session_options *opt,
			const char *want)
{
	struct vt_buf text = {.data = NULL};

	run_session(m, opt, &text);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
}

static void expect(struct recording *m, const char *want)
{
	const struct vt_pt_session_options opt = {
		.engine = &vt_pt_fast, .jobs = 1, .tmpdir = "/tmp", .input = "dir/in.data"};

	expect_with(m, &opt, want);
}

static struct trace t;

/* ---- who ran ---- */

static void put_three_slices(struct recording *m)
{
	put_slice(start(&t), 1000, 3);
	put_slice(&t, 2000, 2);
	put_slice(&t, 3000, 4);
	put_area(m, 0, 0, -1, 0, t.bytes, size_of(&t));
}

static void test_itrace(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 1500, 0, TWO);
	/* Of another processor. */
	put_itrace(&m, 1600, 1, ONE);
	put_itrace(&m, 2500, 0, ONE);
	expect(&m, "| 5/5: 3 at 1000; | | 6/6: 4 at 2000; | 5/5: 4 at 3000; ");
}

static void test_switches(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_switch(&m, 500, 0, ONE, false, 0);
	/* Out to the other one, and in again. */
	put_switch(&m, 1500, 0, ONE, true, TWO);
	put_switch(&m, 2500, 0, ONE, false, TWO);
	expect(&m, "| 5/5: 3 at 1000; | 6/6: 4 at 2000; | 5/5: 4 at 3000; ");
}

/* A sample of sched:sched_switch names the next thread, whose process others
 * must have named. */
static void test_sched(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, SCHED);
	put_three_slices(&m);
	put_sched(&m, 500, 0, ONE, 60);
	put_sched(&m, 1500, 0, TWO, 60);
	/* Too short for one. */
	put_sched(&m, 2500, 0, ONE, 59);
	expect(&m, "5/5: 3 at 1000; 6/6: 4 at 2000; 6/6: 8 at 3000; ");
}

/* Two processors at once: each has its own. */
static void test_processors(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_slice(start(&t), 1200, 5);
	put_slice(&t, 2200, 6);
	put_area(&m, 1, 1, -1, 0, t.bytes, size_of(&t));
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 600, 1, TWO);
	put_itrace(&m, 1700, 1, ONE);
	expect(&m, "| | 5/5: 3 at 1000; 6/6: 10 at 1200; | 5/5: 2 at 2000; 5/5: 4 at 3000; "
		   "5/5: 6 at 2200; ");
}

/* Traces of threads without times: they are decoded when the thread ends, or at
 * the end. */
static void test_threads(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, NO_TIMES);
	put_slice(start(&t), 1000, 3);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	put_slice(start(&t), 1000, 5);
	put_area(&m, 1, -1, TWO, 0, t.bytes, size_of(&t));
	put_itrace(&m, 0, 0, ONE);
	put_thread(&m, VT_OP_EXIT, 0, TWO, TWO);
	put_itrace(&m, 0, 0, ONE);
	expect(&m, "| 6/6: 10 at 1000; | 5/5: 3 at 1000; ");
}

/* With nothing to tell who runs it is the only process that there is. */
static void test_only_one(void **state)
{
	struct recording m = {.fd = scratch_file()};

	(void)state;
	m.w = start_stream(m.fd);
	put_info(&m, 0);
	put_process(&m, 0, ONE, 1);
	put_three_slices(&m);
	expect(&m, "5/5: 3 at 1000; 5/5: 2 at 2000; 5/5: 4 at 3000; ");
	/* Of two it is neither. */
	begin(&m, 0);
	put_three_slices(&m);
	expect(&m, "[no code, in.data, CPU 0: 35+11 at 1000, -1/-1 on 0] "
		   "[no code, in.data, CPU 0: 81+10 at 2000, -1/-1 on 0] "
		   "[no code, in.data, CPU 0: 126+12 at 3000, -1/-1 on 0] ");
}

/* ---- what is missing ---- */

static void test_aux(void **state)
{
	struct recording m;
	size_t size;

	(void)state;
	begin(&m, 0);
	put_slice(start(&t), 1000, 3);
	size = size_of(&t);
	put_area(&m, 0, 2, -1, 0, t.bytes, size);
	put_itrace(&m, 500, 2, ONE);
	put_aux(&m, 2, -1, 0, size, 0);
	put_aux(&m, 2, -1, 8, 8, 1);
	put_aux(&m, 2, -1, 8, 8, 4);
	put_aux(&m, 2, -1, 8, 8, 2);
	/* Beyond the end: a part, all; and of a processor that has no trace. */
	put_aux(&m, 2, -1, 10, size, 0);
	put_aux(&m, 2, -1, size, 5, 0);
	put_aux(&m, 2, -1, UINT64_MAX, 2, 0);
	put_aux(&m, 2, -1, size + 9, 0, 0);
	put_aux(&m, 1, -1, 10, size, 1);
	expect(&m, "| [AUX area full: the trace was cut, in.data, CPU 2: 16+0 at 7, 5/5 on 2] "
		   "[AUX data have holes, in.data, CPU 2: 8+0 at 7, 5/5 on 2] "
		   "[AUX record points outside of the trace, in.data, CPU 2: 10+10 at 7, 5/5 on 2] "
		   "[AUX record points outside of the trace, in.data, CPU 2: 46+5 at 7, 5/5 on 2] "
		   "[AUX record points outside of the trace, in.data, CPU 2: 4294967295+2 at 7, "
		   "5/5 on 2] "
		   "5/5: 3 at 1000; ");
}

static void test_pieces(void **state)
{
	struct recording m;
	size_t size;

	(void)state;
	begin(&m, 0);
	put_slice(start(&t), 1000, 3);
	size = size_of(&t);
	put_area(&m, 0, 0, -1, 0, t.bytes, size);
	put_slice(start(&t), 2000, 2);
	put_area(&m, 0, 0, -1, size + 100, t.bytes, size_of(&t));
	put_itrace(&m, 500, 0, ONE);
	expect(&m, "| 5/5: 3 at 1000; [bytes of the trace are missing, in.data, CPU 0: 0+100 at "
		   "1000, 5/5 on 0] "
		   "5/5: 2 at 2000; ");
}

static void test_snapshot(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, SNAPSHOT);
	start(&t);
	put_tnt(&t, "1");
	put_tnt(&t, "1");
	put_slice(&t, 1000, 3);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	put_slice(start(&t), 5000, 2);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	expect(&m, "[overwritten before the snapshot, in.data, thread 5: 0+2 at 0, -1/5 on 0] "
		   "5/5: 3 at 1000; "
		   "[overwritten before the snapshot, in.data, thread 5: 0+0 at 1000, 5/5 on 0] "
		   "5/5: 2 at 5000; ");
}

/* Without an engine the areas are passed on as they are. */
static void test_raw(void **state)
{
	const struct vt_pt_session_options opt = {.tmpdir = "/tmp"};
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	expect_with(&m, &opt, "raw | ");
}

/* The packets of each area are counted, or only their bytes. */
static void test_packets(void **state)
{
	struct vt_pt_session_options opt = {.engine = &vt_pt_libipt, .jobs = 1, .tmpdir = "/tmp"};
	struct recording m;

	(void)state;
	for (;; opt.packets = true) {
		begin(&m, 0);
		put_slice(start(&t), 1000, 3);
		put_area(&m, 4, -1, ONE, 0, t.bytes, size_of(&t));
		put_area(&m, 4, -1, ONE, 1000, t.bytes, size_of(&t));
		counts_packets = true;
		if (opt.packets)
			break;
		expect_with(&m, &opt,
			    "4: 0 in 92; 5/5: 3 at 1000; "
			    "[bytes of the trace are missing, , thread 5: 0+954 at 1000, 5/5 on 0] "
			    "5/5: 3 at 1000; ");
	}
	expect_with(&m, &opt,
		    "4: 20 in 92; 4: PSB 2 in 32; 4: PSBEND 2 in 4; 4: TNT-8 6 in 6; "
		    "4: TIP.PGE 2 in 14; 4: TIP.PGD 2 in 2; 4: FUP 2 in 14; 4: MODE.Exec 2 in 4; "
		    "4: TSC 2 in 16; 5/5: 3 at 1000; "
		    "[bytes of the trace are missing, , thread 5: 0+954 at 1000, 5/5 on 0] "
		    "5/5: 3 at 1000; ");
	counts_packets = false;
}

/* ---- streams of which nobody says whether there is Intel PT in them ---- */

static struct vt_format_summary summary;

/* Copies a stream, record by record, and decodes what there is. */
static void expect_stream(struct recording *m, const char *engine, const char *want)
{
	const struct vt_pt_decode_options pt = {.jobs = 1, .engine = engine};
	const struct vt_format_options opt = {.pt = &pt};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = reread_stream(m->fd, m->w);
	struct vt_buf text = {.data = NULL};
	int out = scratch_file();
	struct vt_writer *w = start_stream(out);
	struct vt_pt_stream *s;
	struct vt_record rec;

	summary = (struct vt_format_summary){.records = 0};
	assert_int_equal(vt_writer_add_input(w, r, &err), 0);
	s = vt_pt_stream_new(r, w, &opt, &err);
	assert_non_null(s);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_pt_stream_run(s, rec.block, rec.row, 1, &err), 0);
	if (vt_pt_stream_end(s, &summary, &err) < 0)
		fail_msg("%s", err.text);
	vt_pt_stream_free(s);
	vt_reader_close(r);
	r = reread_stream(out, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		say(&text, &rec);
	vt_reader_close(r);
	close(out);
	close(m->fd);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
}

static void test_stream(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 1500, 0, TWO);
	expect_stream(&m, NULL, "| 5/5: 3 at 1000; | 6/6: 4 at 2000; 6/6: 8 at 3000; ");
	assert_true(summary.traced);
	assert_int_equal(summary.insns, 15);
	assert_int_equal(summary.damaged, 0);
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	expect_stream(&m, "none", "raw | ");
	assert_false(summary.traced);
	assert_int_equal(summary.aux_areas, 0);
	/* Samples, and no trace: passed on. */
	m = new_recording();
	put_itrace(&m, 1, 0, ONE);
	put_sched(&m, 500, 0, ONE, 60);
	put_itrace(&m, 1, 0, ONE);
	expect_stream(&m, NULL, "| | ");
	assert_false(summary.traced);
	/* Nothing that would tell. */
	m = new_recording();
	put_itrace(&m, 1, 0, ONE);
	expect_stream(&m, NULL, "| ");
}

/* What comes behind the description of the recording shows that there is none. */
static void test_late(void **state)
{
	static const uint32_t late[] = {VT_SAMPLE, VT_EXEC,  VT_AUXTRACE, VT_HOT,
					VT_COUNT,  VT_VALUE, VT_STATE,	  VT_PACKETS};
	static const uint32_t early[] = {VT_MAP, VT_THREAD, VT_EVENT, VT_META};
	struct recording m;
	char want[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
		m = new_recording();
		vt_writer_row(m.w, late[i]);
		put_info(&m, 0);
		put_process(&m, 0, ONE, 1);
		put_three_slices(&m);
		snprintf(want, sizeof(want),
			 "%sraw [AUX area of Intel PT: not decoded, : 0+138 at 0, 0/0 on 0] ",
			 late[i] == VT_AUXTRACE ? "raw "
			 : late[i] == VT_EXEC	? "0/0: 0 at 0; "
						: "");
		expect_stream(&m, NULL, want);
		assert_false(summary.traced);
	}
	for (i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		m = new_recording();
		vt_writer_row(m.w, early[i]);
		put_info(&m, 0);
		put_process(&m, 0, ONE, 1);
		put_three_slices(&m);
		expect_stream(&m, NULL, "5/5: 3 at 1000; 5/5: 2 at 2000; 5/5: 4 at 3000; ");
		assert_true(summary.traced);
	}
}

static void put_other_info(struct recording *m, uint64_t type)
{
	uint64_t *row = vt_writer_row(m->w, VT_AUXINFO);

	row[VT_AUXINFO_TYPE] = type;
}

static void put_gap(struct recording *m, const char *reason, uint64_t bytes)
{
	uint64_t *row = vt_writer_row(m->w, VT_GAP);

	row[VT_GAP_BYTES] = bytes;
	vt_writer_text(m->w, VT_GAP_REASON, reason);
}

/* Areas that nothing decodes are told of, but for those that the stream's own gaps tell of. */
static void test_other_areas(void **state)
{
	struct recording m = new_recording();

	(void)state;
	put_other_info(&m, 4);
	put_area(&m, 0, 0, -1, 0, "12345678", 8);
	put_area(&m, 0, 0, -1, 8, "1234", 4);
	expect_stream(&m, NULL,
		      "raw raw [AUX area of Arm SPE: not decoded, : 0+12 at 0, 0/0 on 0] ");
	assert_int_equal(summary.aux_areas, 2);
	assert_int_equal(summary.aux_bytes, 12);
	assert_int_equal(summary.aux_type, 4);
	m = new_recording();
	put_other_info(&m, 4);
	put_area(&m, 0, 0, -1, 0, "12345678", 8);
	put_gap(&m, "AUX area of Arm SPE: not decoded", 8);
	put_gap(&m, "something else", 4);
	put_area(&m, 0, 0, -1, 8, "1234", 4);
	expect_stream(&m, NULL,
		      "raw [AUX area of Arm SPE: not decoded, : 0+8 at 0, 0/0 on 0] "
		      "[something else, : 0+4 at 0, 0/0 on 0] raw "
		      "[AUX area of Arm SPE: not decoded, : 0+4 at 0, 0/0 on 0] ");
	assert_int_equal(summary.aux_areas, 1);
	assert_int_equal(summary.aux_bytes, 4);
	m = new_recording();
	put_other_info(&m, 4);
	put_area(&m, 0, 0, -1, 0, "12345678", 8);
	expect_stream(&m, "none", "raw ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_itrace),	 cmocka_unit_test(test_switches),
		cmocka_unit_test(test_sched),	 cmocka_unit_test(test_processors),
		cmocka_unit_test(test_threads),	 cmocka_unit_test(test_only_one),
		cmocka_unit_test(test_aux),	 cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_snapshot), cmocka_unit_test(test_raw),
		cmocka_unit_test(test_packets),	 cmocka_unit_test(test_stream),
		cmocka_unit_test(test_late),	 cmocka_unit_test(test_other_areas),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
