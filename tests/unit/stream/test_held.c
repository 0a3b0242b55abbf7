/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of records, which stay when the reader has gone on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/held.h"
#include "tests/unit/common/streams.h"

#define MANY 5000

static struct vt_error err;

static void test_records(void **state)
{
	int fd = scratch_file();
	struct vt_held held = {.list = NULL};
	struct vt_reader *in;
	struct vt_record rec;
	uint64_t i;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, MANY);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	in = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(in);
	for (i = 0; vt_reader_next(in, &rec, &err) > 0; i++)
		assert_true(vt_held_add(&held, &rec));
	assert_true(i >= MANY && held.count == i);
	for (i = 0; i < MANY; i++)
		check_record(vt_held_at(&held, i), i);
	vt_held_clear(&held);
	assert_true(held.count == 0 && held.bytes == 0);
	vt_held_fini(&held);
	vt_reader_close(in);
	close(fd);
}

/* All types of fields, empty ones and long ones, and what a writer copies of them. */
static void test_copies(void **state)
{
	static const uint64_t words[] = {1, UINT64_MAX, 3};
	int fd = scratch_file(), to = scratch_file();
	struct vt_held held = {.list = NULL};
	struct vt_writer *w = start_stream(fd), *copy;
	struct vt_reader *in, *again;
	struct vt_record rec;
	uint64_t *row;
	double weight = .25;

	(void)state;
	row = vt_writer_row(w, VT_SAMPLE);
	row[VT_SAMPLE_PID] = (uint64_t)-5;
	row[VT_SAMPLE_EVICTED] = UINT64_MAX;
	vt_row_set_f64(&row[VT_SAMPLE_PAIR_WEIGHT], weight);
	vt_writer_words(w, VT_SAMPLE_CALLCHAIN, words, 3);
	vt_writer_bytes(w, VT_SAMPLE_RAW, "nine byte", 9);
	vt_writer_row(w, VT_SAMPLE)[VT_SAMPLE_PID] = 6;
	in = reread_stream(fd, w);
	rec = next_of_kind(in, VT_SAMPLE);
	assert_true(vt_held_add(&held, &rec));
	rec = next_of_kind(in, VT_SAMPLE);
	assert_true(vt_held_add(&held, &rec));
	while (vt_reader_next(in, &rec, &err) > 0)
		;
	copy = vt_writer_open_fd(
		to, "test",
		&(struct vt_writer_options){.compression = VT_COMPRESS_NONE,
					    .inputs = (const struct vt_reader *const *)&in,
					    .ninputs = 1},
		&err);
	assert_non_null(copy);
	vt_writer_copy(copy, vt_held_at(&held, 0));
	vt_writer_copy(copy, vt_held_at(&held, 1));
	again = reread_stream(to, copy);
	rec = next_of_kind(again, VT_SAMPLE);
	assert_int_equal(vt_record_i64(&rec, VT_SAMPLE_PID), -5);
	assert_true(vt_record_u64(&rec, VT_SAMPLE_EVICTED) == UINT64_MAX);
	assert_true(vt_record_f64(&rec, VT_SAMPLE_PAIR_WEIGHT) == weight);
	assert_int_equal(vt_record_words(&rec, VT_SAMPLE_CALLCHAIN).count, 3);
	assert_memory_equal(vt_record_words(&rec, VT_SAMPLE_CALLCHAIN).data, words, sizeof(words));
	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_SAMPLE_RAW), "nine byte"));
	assert_int_equal(vt_record_bytes(&rec, VT_SAMPLE_AUX).size, 0);
	rec = next_of_kind(again, VT_SAMPLE);
	assert_int_equal(vt_record_i64(&rec, VT_SAMPLE_PID), 6);
	assert_int_equal(vt_record_words(&rec, VT_SAMPLE_CALLCHAIN).count, 0);
	vt_held_fini(&held);
	vt_reader_close(again);
	vt_reader_close(in);
	close(fd);
	close(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
