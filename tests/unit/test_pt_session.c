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
#include "formats/pt/ptinfo.h"
#include "formats/pt/session.h"
#include "stream/kinds.h"
#include "tests/unit/pttrace.h"
#include "tests/unit/streams.h"

#define PMU	 9
#define TSC_BIT	 (1U << 10)
#define MTC_BIT	 (1U << 9)
#define MTC_BITS (15U << 14)
#define EVENT	 3 /* sched:sched_switch, where there is one */

/*
 * Of two processes, each with a program at BASE; a decision tells which ran,
 * for it takes one instruction in the first (je to itself) and two in the
 * second (nop; je back).
 */
enum { ONE = 5, TWO = 6 };

static const char *const programs[] = {"\x74\xfe\xc3", "\x90\x74\xfd\xc3"};
static char files[2][32];

static int make_files(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		int fd;

		snprintf(files[i], sizeof(files[i]), "/tmp/vt-session-XXXXXX");
		fd = mkstemp(files[i]);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, programs[i], 4), 4);
		close(fd);
	}
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(files[0]);
	unlink(files[1]);
	return 0;
}

/* ---- recordings ---- */

struct recording {
	int fd;
	struct vt_writer *w;
};

enum { NO_TIMES = 1, SNAPSHOT = 2, SCHED = 4 };

static void put_info(struct recording *m, unsigned style)
{
	/* As perf numbers them. */
	const uint64_t priv[] = {PMU, 0,       1,	 0, 1, TSC_BIT, 0, 0, style & SNAPSHOT,
				 0,   MTC_BIT, MTC_BITS, 2, 1, 0,	32};
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_TYPE] = PMU;
	row[VT_EVENT_CONFIG] = TSC_BIT;
	row[VT_EVENT_SAMPLE_TYPE] = style & NO_TIMES ? 0 : 4;
	if (style & SCHED) {
		row = vt_writer_row(m->w, VT_EVENT);
		row[VT_EVENT_ID] = EVENT;
		vt_writer_text(m->w, VT_EVENT_NAME, "sched:sched_switch");
	}
	row = vt_writer_row(m->w, VT_AUXINFO);
	row[VT_AUXINFO_TYPE] = 1;
	vt_writer_words(m->w, VT_AUXINFO_PRIV, priv, sizeof(priv) / sizeof(priv[0]));
}

static void put_process(struct recording *m, unsigned number, int64_t pid, uint64_t time)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);

	row[VT_IMAGE_ID] = number;
	vt_writer_text(m->w, VT_IMAGE_PATH, files[number]);
	row = vt_writer_row(m->w, VT_MAP);
	row[VT_MAP_TIME] = time;
	row[VT_MAP_PID] = row[VT_MAP_TID] = (uint64_t)pid;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 4096;
	row[VT_MAP_IMAGE] = number;
	row[VT_MAP_PROT] = 5;
}

static void begin(struct recording *m, unsigned style)
{
	m->fd = scratch_file();
	m->w = start_stream(m->fd);
	put_info(m, style);
	put_process(m, 0, ONE, style & NO_TIMES ? 0 : 1);
	put_process(m, 1, TWO, style & NO_TIMES ? 0 : 1);
}

static void put_area(struct recording *m, uint64_t index, int64_t cpu, int64_t tid, uint64_t offset,
		     const void *bytes, size_t size)
{
	uint64_t *row = vt_writer_row(m->w, VT_AUXTRACE);

	row[VT_AUXTRACE_INDEX] = index;
	row[VT_AUXTRACE_CPU] = (uint64_t)cpu;
	row[VT_AUXTRACE_TID] = (uint64_t)tid;
	row[VT_AUXTRACE_OFFSET] = offset;
	row[VT_AUXTRACE_TOTAL] = size;
	vt_writer_bytes(m->w, VT_AUXTRACE_DATA, bytes, size);
}

/* A thread runs on a processor from a time on. */
static void put_itrace(struct recording *m, uint64_t time, uint64_t cpu, int64_t id)
{
	uint64_t *row = vt_writer_row(m->w, VT_ITRACE);

	row[VT_ITRACE_TIME] = time;
	row[VT_ITRACE_CPU] = cpu;
	row[VT_ITRACE_PID] = row[VT_ITRACE_TID] = (uint64_t)id;
}

static void put_switch(struct recording *m, uint64_t time, uint64_t cpu, int64_t id, bool out,
		       int64_t other)
{
	uint64_t *row = vt_writer_row(m->w, VT_SWITCH);

	row[VT_SWITCH_TIME] = time;
	row[VT_SWITCH_CPU] = cpu;
	row[VT_SWITCH_PID] = row[VT_SWITCH_TID] = (uint64_t)id;
	row[VT_SWITCH_OUT] = out;
	row[VT_SWITCH_OTHER_PID] = row[VT_SWITCH_OTHER_TID] = (uint64_t)other;
}

static void put_sched(struct recording *m, uint64_t time, uint64_t cpu, uint32_t next, size_t size)
{
	uint64_t *row = vt_writer_row(m->w, VT_SAMPLE);
	uint8_t raw[64] = {0};

	row[VT_SAMPLE_EVENT] = EVENT;
	row[VT_SAMPLE_TIME] = time;
	row[VT_SAMPLE_CPU] = cpu;
	raw[56] = (uint8_t)next;
	vt_writer_bytes(m->w, VT_SAMPLE_RAW, raw, size);
}

static void put_thread(struct recording *m, unsigned op, uint64_t time, int64_t pid, int64_t tid)
{
	uint64_t *row = vt_writer_row(m->w, VT_THREAD);

	row[VT_THREAD_TIME] = time;
	row[VT_THREAD_OP] = op;
	row[VT_THREAD_PID] = (uint64_t)pid;
	row[VT_THREAD_TID] = (uint64_t)tid;
}

static void put_aux(struct recording *m, uint64_t cpu, int64_t tid, uint64_t offset, uint64_t size,
		    uint64_t flags)
{
	uint64_t *row = vt_writer_row(m->w, VT_AUX);

	row[VT_AUX_TIME] = 7;
	row[VT_AUX_CPU] = cpu;
	row[VT_AUX_TID] = (uint64_t)tid;
	row[VT_AUX_OFFSET] = offset;
	row[VT_AUX_SIZE] = size;
	row[VT_AUX_FLAGS] = flags;
}

/* A slice of a processor's time: from a TSC on, so many decisions. */
static void put_slice(struct trace *t, uint64_t tsc, unsigned decisions)
{
	put_kind(t, VT_PT_PSB, 0);
	put_kind(t, VT_PT_TSC, tsc);
	put_kind(t, VT_PT_MODE_EXEC, 64);
	put_kind(t, VT_PT_PSBEND, 0);
	put_ip(t, VT_PT_TIP_PGE, BASE);
	for (; decisions; decisions--)
		put_tnt(t, "1");
	put_ip(t, VT_PT_FUP, BASE);
	put_no_ip(t, VT_PT_TIP_PGD);
}

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

static struct recording new_recording(void)
{
	struct recording m = {.fd = scratch_file()};

	m.w = start_stream(m.fd);
	return m;
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

/* ---- what is said of all of it ---- */

static struct vti_pt_info gather(struct recording *m)
{
	struct vt_reader *r = reread_stream(m->fd, m->w);
	struct vt_error err = VT_ERROR_INIT;
	struct vti_pt_info info;
	struct vt_record rec;

	vti_pt_info_init(&info);
	while (vt_reader_next(r, &rec, &err) > 0)
		vti_pt_info_feed(&info, &rec);
	vti_pt_info_done(&info);
	vt_reader_close(r);
	close(m->fd);
	return info;
}

static void put_event(struct recording *m, uint64_t type, uint64_t config, uint64_t sample_type)
{
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_TYPE] = type;
	row[VT_EVENT_CONFIG] = config;
	row[VT_EVENT_SAMPLE_TYPE] = sample_type;
}

/* As perf numbers them, but for one. */
enum {
	PRIV_PMU,
	SHIFT,
	MULT,
	ZERO,
	CAP,
	PRIV_TSC,
	PRIV_SNAPSHOT = 8,
	CTC_N = 12,
	CTC_D,
	RATIO = 15
};

static void put_auxinfo(struct recording *m, uint64_t type, unsigned changed, uint64_t value)
{
	uint64_t priv[] = {PMU, 2, 3, 4, 1, TSC_BIT, 0, 0, 0, 0, MTC_BIT, MTC_BITS, 250, 2, 0, 32};
	uint64_t *row = vt_writer_row(m->w, VT_AUXINFO);

	priv[changed] = value;
	row[VT_AUXINFO_TYPE] = type;
	vt_writer_words(m->w, VT_AUXINFO_PRIV, priv, sizeof(priv) / sizeof(priv[0]));
}

static void test_info(void **state)
{
	struct recording m = new_recording();
	struct vti_pt_info i;

	(void)state;
	put_auxinfo(&m, 1, PRIV_PMU, PMU);
	/* A second one, and one of something else, say nothing. */
	put_auxinfo(&m, 1, SHIFT, 9);
	put_event(&m, 5, TSC_BIT, 4);
	put_event(&m, PMU, TSC_BIT | MTC_BIT | 5 << 14, 4);
	i = gather(&m);
	assert_true(i.found && i.timed);
	assert_false(i.snapshot || i.has_times || i.switches);
	assert_true(i.conv.known);
	assert_int_equal(i.conv.shift, 2);
	assert_int_equal(i.conv.mult, 3);
	assert_int_equal(i.conv.zero, 4);
	assert_int_equal(i.options.clock.mtc_period, 5);
	assert_int_equal(i.options.clock.nominal_ratio, 32);
	assert_int_equal(i.options.clock.ctc_numerator, 250);
	assert_int_equal(i.options.clock.ctc_denominator, 2);
	assert_int_equal(i.sched_switch, UINT64_MAX);
	assert_int_equal(i.only_pid, -1);
	m = new_recording();
	put_auxinfo(&m, 2, PRIV_PMU, PMU);
	i = gather(&m);
	assert_false(i.found || i.timed || i.conv.known);
}

/* What a description with one other number gives. */
static struct vti_pt_info with(unsigned changed, uint64_t value)
{
	struct recording m = new_recording();

	put_auxinfo(&m, 1, changed, value);
	put_event(&m, 6, TSC_BIT, 4);
	put_event(&m, PMU, TSC_BIT, 4);
	return gather(&m);
}

static void test_numbers(void **state)
{
	(void)state;
	assert_true(with(PRIV_SNAPSHOT, 1).snapshot);
	assert_int_equal(with(RATIO, 255).options.clock.nominal_ratio, 255);
	assert_int_equal(with(RATIO, 256).options.clock.nominal_ratio, 0);
	assert_int_equal(with(CTC_N, UINT32_MAX).options.clock.ctc_numerator, UINT32_MAX);
	assert_int_equal(with(CTC_N, 1ULL << 32).options.clock.ctc_denominator, 0);
	assert_int_equal(with(CTC_D, UINT32_MAX).options.clock.ctc_denominator, UINT32_MAX);
	assert_int_equal(with(CTC_D, 1ULL << 32).options.clock.ctc_numerator, 0);
	assert_true(with(SHIFT, 63).conv.known);
	assert_false(with(SHIFT, 64).conv.known);
	assert_true(with(MULT, UINT32_MAX).conv.known);
	assert_false(with(MULT, 1ULL << 32).conv.known);
	assert_false(with(MULT, 0).conv.known);
	assert_false(with(CAP, 0).conv.known);
	assert_false(with(CAP, 0).timed);
	assert_true(with(PRIV_PMU, 6).timed);
	assert_false(with(PRIV_PMU, 7).timed);
	assert_false(with(PRIV_TSC, 1).timed);
	/* Without MTC packets there is no period. */
	assert_int_equal(with(SHIFT, 1).options.clock.mtc_period, 0);
}

static void put_timeconv(struct recording *m, uint64_t shift, uint64_t mult, uint64_t zero)
{
	uint64_t *row = vt_writer_row(m->w, VT_TIMECONV);

	row[VT_TIMECONV_SHIFT] = shift;
	row[VT_TIMECONV_MULT] = mult;
	row[VT_TIMECONV_ZERO] = zero;
}

static void put_meta(struct recording *m, const char *key, const char *value)
{
	vt_writer_row(m->w, VT_META);
	vt_writer_text(m->w, VT_META_KEY, key);
	vt_writer_text(m->w, VT_META_VALUE, value);
}

static void test_others(void **state)
{
	struct recording m = new_recording();
	struct vti_pt_info i;

	(void)state;
	/* The first conversion that is one. */
	put_timeconv(&m, 64, 1, 1);
	put_timeconv(&m, 1, 0, 1);
	put_timeconv(&m, 1, 1ULL << 32, 1);
	put_timeconv(&m, 63, UINT32_MAX, 17);
	put_timeconv(&m, 1, 1, 1);
	put_meta(&m, "cpuid", "GenuineIntel,6,142,10,99");
	put_meta(&m, "cpuip", "GenuineIntel,7,1,1");
	put_meta(&m, "cpuid", "AuthenticAMD,7,1,1");
	i = gather(&m);
	assert_true(i.conv.known);
	assert_int_equal(i.conv.shift, 63);
	assert_int_equal(i.conv.mult, UINT32_MAX);
	assert_int_equal(i.conv.zero, 17);
	assert_int_equal(i.options.family, 6);
	assert_int_equal(i.options.model, 142);
	assert_int_equal(i.options.stepping, 10);
}

static void put_map(struct recording *m, int64_t pid, uint64_t image, uint64_t at, uint64_t offset,
		    uint64_t prot)
{
	uint64_t *row = vt_writer_row(m->w, VT_MAP);

	row[VT_MAP_PID] = (uint64_t)pid;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_START] = at;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_PROT] = prot;
}

/* The only process with code, and where the kernel's code was. */
static void test_maps(void **state)
{
	struct recording m = new_recording();
	struct vti_pt_info i;
	uint64_t *row;

	(void)state;
	put_map(&m, ONE, 1, 0x1000, 0, 5);
	put_map(&m, ONE, 1, 0x2000, 0, 4);
	put_map(&m, TWO, 1, 0x1000, 0, 3);
	row = vt_writer_row(m.w, VT_IMAGE);
	row[VT_IMAGE_ID] = 8;
	row[VT_IMAGE_TYPE] = VT_IMAGE_KERNEL;
	put_map(&m, -1, 7, 0x8000, 0x70, 5);
	put_map(&m, ONE, 8, 0x8000, 0x71, 5);
	put_map(&m, -1, 8, 0x8000, 0x72, 5);
	put_map(&m, -1, 8, 0x8000, 0x73, 5);
	i = gather(&m);
	assert_int_equal(i.only_pid, ONE);
	assert_int_equal(i.kernel, 0x72);
	assert_false(i.has_times);
	m = new_recording();
	row = vt_writer_row(m.w, VT_IMAGE);
	row[VT_IMAGE_ID] = 8;
	row[VT_IMAGE_TYPE] = VT_IMAGE_KERNEL;
	put_map(&m, -1, 8, 0x8000, 0, 5);
	put_map(&m, 0, 1, 0x1000, 0, 4);
	put_map(&m, ONE, 1, 0x1000, 0, 4);
	put_map(&m, ONE, 1, 0x1000, 0, 4);
	i = gather(&m);
	assert_int_equal(i.only_pid, -1);
	assert_int_equal(i.kernel, 0x8000);
	/* What has times, and what tells who runs. */
	m = new_recording();
	put_thread(&m, VT_OP_FORK, 1, ONE, ONE);
	assert_true(gather(&m).has_times);
	m = new_recording();
	put_switch(&m, 1, 0, ONE, false, 0);
	assert_true(gather(&m).switches);
	m = new_recording();
	put_info(&m, SCHED);
	i = gather(&m);
	assert_true(i.switches);
	assert_int_equal(i.sched_switch, EVENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_itrace),	    cmocka_unit_test(test_switches),
		cmocka_unit_test(test_sched),	    cmocka_unit_test(test_processors),
		cmocka_unit_test(test_threads),	    cmocka_unit_test(test_only_one),
		cmocka_unit_test(test_aux),	    cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_snapshot),    cmocka_unit_test(test_raw),
		cmocka_unit_test(test_packets),	    cmocka_unit_test(test_stream),
		cmocka_unit_test(test_other_areas), cmocka_unit_test(test_info),
		cmocka_unit_test(test_numbers),	    cmocka_unit_test(test_others),
		cmocka_unit_test(test_maps),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
