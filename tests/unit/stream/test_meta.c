/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of META records. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stream/kinds.h"
#include "stream/meta.h"
#include "tests/unit/common/streams.h"

static const struct {
	const char *text;
	size_t size; /* 0: of all of it */
	double want;
} rows[] = {
	{"2.5", 0, 2.5},
	{"-1e-3", 0, -1e-3},
	{"2.5 GHz", 0, (double)NAN},
	{"", 0, (double)NAN},
	{"nan", 0, (double)NAN},
	{"2\0005", 3, (double)NAN},
	/* 63 characters are read, 64 are not. */
	{"1.00000000000000000000000000000000000000000000000000000000000000", 63, 1},
	{"1.00000000000000000000000000000000000000000000000000000000000000", 0, (double)NAN},
};

static void test_numbers(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_reader *r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t size = rows[i].size ? rows[i].size : strlen(rows[i].text);

		vt_writer_row(w, VT_META);
		vt_writer_bytes(w, VT_META_KEY, "key", 3);
		vt_writer_bytes(w, VT_META_VALUE, rows[i].text, size);
	}
	r = reread_stream(fd, w);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_record rec = next_of_kind(r, VT_META);
		double v = 7;

		assert_false(vt_meta_f64(&rec, "keys", &v));
		assert_true(v == 7);
		assert_true(vt_meta_f64(&rec, "key", &v));
		if (isnan(rows[i].want) ? !isnan(v) : v != rows[i].want)
			fail_msg("%s: %g", rows[i].text, v);
	}
	vt_reader_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
