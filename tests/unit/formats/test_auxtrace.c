/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams of which nobody says whether there is Intel PT in them: it is decoded where it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/auxtrace.h"
#include "formats/pt/options.h"
#include "tests/unit/common/ptsession.h"

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
	struct vt_auxtrace_stream *s;
	struct vt_record rec;

	summary = (struct vt_format_summary){.records = 0};
	assert_int_equal(vt_writer_add_input(w, r, &err), 0);
	s = vt_auxtrace_stream_new(r, w, &opt, &err);
	assert_non_null(s);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_auxtrace_stream_take(s, rec.block, rec.row, 1, &err), 0);
	if (vt_auxtrace_stream_end(s, &summary, &err) < 0)
		fail_msg("%s", err.text);
	vt_auxtrace_stream_free(s);
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
	put_other_info(&m, 3);
	put_area(&m, 0, 0, -1, 0, "12345678", 8);
	put_area(&m, 0, 0, -1, 8, "1234", 4);
	expect_stream(&m, NULL,
		      "raw raw [AUX area of CoreSight ETM: not decoded, : 0+12 at 0, 0/0 on 0] ");
	assert_int_equal(summary.aux_areas, 2);
	assert_int_equal(summary.aux_bytes, 12);
	assert_int_equal(summary.aux_type, 3);
	m = new_recording();
	put_other_info(&m, 3);
	put_area(&m, 0, 0, -1, 0, "12345678", 8);
	put_gap(&m, "AUX area of CoreSight ETM: not decoded", 8);
	put_gap(&m, "something else", 4);
	put_area(&m, 0, 0, -1, 8, "1234", 4);
	expect_stream(&m, NULL,
		      "raw [AUX area of CoreSight ETM: not decoded, : 0+8 at 0, 0/0 on 0] "
		      "[something else, : 0+4 at 0, 0/0 on 0] raw "
		      "[AUX area of CoreSight ETM: not decoded, : 0+4 at 0, 0/0 on 0] ");
	assert_int_equal(summary.aux_areas, 1);
	assert_int_equal(summary.aux_bytes, 4);
	m = new_recording();
	put_other_info(&m, 3);
	put_area(&m, 0, 0, -1, 0, "12345678", 8);
	expect_stream(&m, "none", "raw ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_other_areas),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
