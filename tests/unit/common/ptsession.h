/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PTSESSION_H
#define TESTS_UNIT_COMMON_PTSESSION_H

/* Recordings of Intel PT, decoded as wholes, and what comes of them as text. */

#include "base/buf.h"
#include "formats/pt/sideband/session.h"
#include "tests/unit/common/ptrecording.h"

/* Says what the packets of a trace are, too. */
static bool counts_packets;

/* Says what changes code and threads, too, and what else comes between. */
static bool says_changes;

/* Says where the clock stands at each event. */
static bool says_clock;

static inline void say_packets(struct vt_buf *to, const struct vt_record *rec)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_PACKETS_NAME);

	if (counts_packets)
		vt_buf_printf(to, "%u:%s%.*s %u in %u; ",
			      (unsigned)vt_record_u64(rec, VT_PACKETS_INDEX), name.size ? " " : "",
			      (int)name.size, (const char *)name.data,
			      (unsigned)vt_record_u64(rec, VT_PACKETS_COUNT),
			      (unsigned)vt_record_u64(rec, VT_PACKETS_BYTES));
}

static inline void say(struct vt_buf *to, const struct vt_record *rec)
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
	case VT_TRACE:
		if (says_clock)
			vt_buf_printf(to, "%u: @%u+%u; ",
				      (unsigned)vt_record_u64(rec, VT_TRACE_CPU),
				      (unsigned)vt_record_u64(rec, VT_TRACE_TSC),
				      (unsigned)vt_record_u64(rec, VT_TRACE_CYCLES));
		break;
	case VT_MAP:
	case VT_THREAD:
	case VT_TEXTPOKE:
	case VT_SAMPLE:
		if (says_changes)
			vt_buf_printf(to, "%s",
				      rec->kind == VT_MAP      ? "map "
				      : rec->kind == VT_THREAD ? "thread "
				      : rec->kind == VT_SAMPLE ? "sample "
							       : "poke ");
		break;
	default:
		break;
	}
}

static inline void run_session(struct recording *m, const struct vt_pt_session_options *opt,
			       struct vt_buf *text)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_aux_session *s = vt_pt_session_new(opt, &err);
	struct vt_reader *r = reread_stream(m->fd, m->w);
	int out = scratch_file();
	struct vt_writer *w = start_stream(out);
	struct vt_record rec;
	struct vt_format_summary sum = {0};
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
	assert_int_equal(vt_pt_session_end(s, &sum, &err), 0);
	vt_reader_close(r);
	r = reread_stream(out, w);
	while (vt_reader_next(r, &rec, &err) > 0) {
		say(text, &rec);
		gaps += rec.kind == VT_GAP;
	}
	assert_int_equal(sum.damaged, gaps);
	vt_reader_close(r);
	vt_pt_session_free(s);
	close(out);
	close(m->fd);
}

static inline void expect_with(struct recording *m, const struct vt_pt_session_options *opt,
			       const char *want)
{
	struct vt_buf text = {.data = NULL};

	run_session(m, opt, &text);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
}

static inline void expect(struct recording *m, const char *want)
{
	const struct vt_pt_session_options opt = {
		.engine = &vt_pt_fast, .jobs = 1, .tmpdir = "/tmp", .input = "dir/in.data"};

	expect_with(m, &opt, want);
}

static struct trace t;

/* Of one processor: three, two and four decisions. */
static inline void put_three_slices(struct recording *m)
{
	put_slice(start(&t), 1000, 3);
	put_slice(&t, 2000, 2);
	put_slice(&t, 3000, 4);
	put_area(m, 0, 0, -1, 0, t.bytes, size_of(&t));
}

#endif
