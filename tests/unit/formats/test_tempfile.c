/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that are put aside in a temporary file come back whole, in order, as often as wanted. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/common/tempfile.h"
#include "tests/unit/common/streams.h"

#define RECORDS 20

static struct vt_error err;

static void put_aside(struct vt_spool *s)
{
	uint64_t i;

	memset(&err, 0, sizeof(err));
	assert_int_equal(vt_spool_open(s, "/tmp", NULL, &err), 0);
	assert_true(s->fd >= 0);
	assert_non_null(s->w);
	assert_null(s->r);
	for (i = 0; i < RECORDS; i++)
		write_record(s->w, i);
}

/* Reads from the start, up to but not with record `n`. */
static void reread(struct vt_spool *s, uint64_t n)
{
	struct vt_record rec;
	uint64_t i;

	assert_int_equal(vt_spool_rewind(s, &err), 0);
	assert_null(s->w);
	assert_non_null(s->r);
	for (i = 0; i < n; i++) {
		assert_int_equal(vt_reader_next(s->r, &rec, &err), 1);
		check_record(&rec, i);
	}
}

/* Its descriptor is closed with it. */
static void check_close(struct vt_spool *s)
{
	const int fd = s->fd;

	vt_spool_close(s);
	assert_int_equal(s->fd, -1);
	assert_null(s->w);
	assert_null(s->r);
	assert_null(s->dir);
	if (fd >= 0)
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	vt_spool_close(s);
}

static void test_rewind(void **state)
{
	struct vt_spool s;
	struct vt_record rec;

	(void)state;
	put_aside(&s);
	reread(&s, 3);
	reread(&s, RECORDS);
	assert_int_equal(vt_reader_next(s.r, &rec, &err), 0);
	assert_int_equal(vt_reader_status(s.r), VT_STATUS_COMPLETE);
	reread(&s, RECORDS);
	check_close(&s);
	put_aside(&s);
	check_close(&s);
}

/* What is copied has the stages of where it comes from. */
static void test_input(void **state)
{
	int fd = scratch_file();
	struct vt_reader *in = reread_stream(fd, start_stream(fd));
	struct vt_spool s;

	(void)state;
	assert_int_equal(vt_spool_open(&s, "/tmp", in, &err), 0);
	reread(&s, 0);
	assert_int_equal(vt_reader_header(s.r)->nstages, 1);
	assert_string_equal(vt_reader_header(s.r)->stages[0].program, "test");
	check_close(&s);
	assert_int_equal(vt_spool_open(&s, "/tmp", NULL, &err), 0);
	reread(&s, 0);
	assert_int_equal(vt_reader_header(s.r)->nstages, 0);
	check_close(&s);
	vt_reader_close(in);
	close(fd);
}

static void test_failures(void **state)
{
	struct vt_spool s;
	int full;

	(void)state;
	memset(&err, 0, sizeof(err));
	assert_int_equal(vt_spool_open(&s, "/no/such/directory", NULL, &err), -VT_E_WRITE);
	assert_int_equal(s.fd, -VT_E_WRITE);
	check_close(&s);
	/* No room is left. */
	put_aside(&s);
	full = open("/dev/full", O_WRONLY);
	assert_true(full >= 0);
	assert_int_equal(dup2(full, s.fd), s.fd);
	close(full);
	assert_int_equal(vt_spool_rewind(&s, &err), -VT_E_WRITE);
	assert_null(s.r);
	check_close(&s);
	/* The file is gone. */
	put_aside(&s);
	reread(&s, 1);
	close(s.fd);
	s.fd = -1;
	assert_int_equal(vt_spool_rewind(&s, &err), -VT_E_READ);
	assert_non_null(strstr(err.text, "/tmp: temporary file"));
	assert_null(s.r);
	check_close(&s);
	/* It is another one, and no stream. */
	put_aside(&s);
	reread(&s, 1);
	assert_int_equal(ftruncate(s.fd, 10), 0);
	assert_true(vt_spool_rewind(&s, &err) < 0);
	assert_null(s.r);
	check_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rewind),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
