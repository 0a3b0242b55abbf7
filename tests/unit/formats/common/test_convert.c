/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An input that a thread converts: what its reader gets, and how its errors reach the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/common/convert.h"
#include "tests/unit/common/streams.h"

/* More than a pipe holds. */
#define RECORDS 200000

static struct vt_error err;
static const struct vt_format_options plain;

/* An input of one byte, the name of what its decoder does. */
static void open_input(struct vt_input *in, char what)
{
	int fd = scratch_file();

	assert_int_equal(write(fd, &what, 1), 1);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(vt_input_open_fd(in, fd, "made", &err), 0);
}

/* 'f' fails before the first record, 'm' in the middle; 'd' finds damage; 't' asks for tmpdir. */
static int decode(struct vt_input *in, struct vt_writer *w, const struct vt_format_options *opt,
		  struct vt_format_summary *sum, struct vt_error *e)
{
	const uint8_t *what;
	size_t have, i;

	if (vt_input_fill(in, 1, &have, e) < 0 || have != 1)
		return -VT_E_READ;
	what = vt_input_data(in);
	if (*what == 'f')
		return vt_error_set(e, VT_E_FORMAT, "%s: no such thing", in->name);
	if (*what == 't')
		vt_writer_meta(w, "tmpdir", opt->tmpdir);
	for (i = 0; i < RECORDS; i++) {
		if (*what == 'm' && i == RECORDS / 2)
			return vt_error_set(e, VT_E_DAMAGED, "%s: it ends here", in->name);
		vt_writer_row(w, VT_SAMPLE)[VT_SAMPLE_IP] = i;
	}
	sum->damaged = *what == 'd';
	return 0;
}

static void test_whole(void **state)
{
	static const struct {
		char what;
		enum vt_status status;
	} rows[] = {{'w', VT_STATUS_COMPLETE}, {'d', VT_STATUS_LOSSY}};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct vt_conversion c;
		struct vt_record rec;
		struct vt_reader *r;
		struct vt_input in;
		uint64_t n = 0;

		open_input(&in, rows[i].what);
		r = vt_conversion_start(&c, &in, decode, &plain, NULL, &err);
		assert_non_null(r);
		assert_string_equal(vt_reader_name(r), "made");
		while (vt_reader_next(r, &rec, &err) > 0 && rec.kind == VT_SAMPLE)
			assert_int_equal(vt_record_u64(&rec, VT_SAMPLE_IP), n++);
		assert_int_equal(n, RECORDS);
		assert_int_equal(vt_reader_status(r), rows[i].status);
		vt_reader_close(r);
		vt_conversion_end(&c);
		assert_int_equal(c.err.code, 0);
		vt_conversion_end(&c);
		vt_input_close(&in);
	}
}

static void test_tmpdir(void **state)
{
	struct vt_conversion c;
	struct vt_record rec;
	struct vt_reader *r;
	struct vt_input in;

	(void)state;
	open_input(&in, 't');
	r = vt_conversion_start(&c, &in, decode, &(struct vt_format_options){.tmpdir = "/where"},
				NULL, &err);
	assert_non_null(r);
	do {
		rec = next_of_kind(r, VT_META);
	} while (!vt_bytes_are(vt_record_bytes(&rec, VT_META_KEY), "tmpdir"));
	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_META_VALUE), "/where"));
	/* The reader leaves most of it: the decoder must not wait for ever, nor get a signal. */
	vt_reader_close(r);
	vt_conversion_end(&c);
	assert_int_equal(c.err.code, 0);
	vt_input_close(&in);
}

/* The reader sees a stream that is cut off; the decoder's error says why. */
static void test_fails(void **state)
{
	static const struct {
		char what;
		enum vt_errcode code;
		const char *text;
		uint64_t records; /* read, at the most */
	} rows[] = {{'f', VT_E_FORMAT, "made: no such thing", 0},
		    {'m', VT_E_DAMAGED, "made: it ends here", RECORDS / 2}};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct vt_conversion c;
		struct vt_record rec;
		struct vt_reader *r;
		struct vt_input in;
		uint64_t n = 0;

		open_input(&in, rows[i].what);
		r = vt_conversion_start(&c, &in, decode, &plain, NULL, &err);
		assert_non_null(r);
		while (vt_reader_next(r, &rec, &err) > 0)
			n += rec.kind == VT_SAMPLE;
		assert_true(n <= rows[i].records);
		assert_true(vt_reader_damage(r)->truncated);
		vt_reader_close(r);
		vt_conversion_end(&c);
		assert_int_equal(c.err.code, rows[i].code);
		assert_string_equal(c.err.text, rows[i].text);
		vt_input_close(&in);
	}
}

static void test_never_started(void **state)
{
	struct vt_conversion c = {.channel = NULL};

	(void)state;
	vt_conversion_end(&c);
	assert_int_equal(c.err.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_tmpdir),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_never_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
