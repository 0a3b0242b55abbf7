/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include "base/rng.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"

static void round_trip(enum vt_compression how, uint64_t n)
{
	int fd = scratch_file();
	struct vt_reader *r;
	struct vt_record rec = {0};
	struct vt_error err;
	uint64_t i;

	write_stream(fd, how, n);
	lseek(fd, 0, SEEK_SET);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	for (i = 0; i < n; i++) {
		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		check_record(&rec, i);
	}
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	assert_int_equal(vt_reader_status(r), VT_STATUS_COMPLETE);
	assert_int_equal(vt_reader_damage(r)->bytes, 0);
	vt_reader_close(r);
	close(fd);
}

static void test_round_trip(void **state)
{
	static const enum vt_compression hows[] = {VT_COMPRESS_NONE, VT_COMPRESS_ZLIB,
						   VT_COMPRESS_ZSTD};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		round_trip(hows[i], 0);
		round_trip(hows[i], 1);
		round_trip(hows[i], 2);
		round_trip(hows[i], 100000);
	}
}

/* A damaged block in the middle: the others come through, and the gap says how much is missing. */
static void test_damaged_block(void **state)
{
	int fd = scratch_file();
	struct outcome o;
	uint8_t *data;
	size_t size;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, 100000);
	data = slurp(fd, &size);
	data[size / 2 + 8000] ^= 1; /* of a block of samples, not of an order */
	o = read_all(data, size, 0);
	assert_int_equal(o.code, 0);
	assert_int_equal(o.warnings, 1);
	assert_true(o.gaps >= 1);
	assert_true(o.gap_records > 0);
	assert_int_equal(o.records + o.gap_records, 100000);
	/* Wiping out a stretch that covers headers: resynchronised. */
	memset(data + size / 3, 0xf6, 200000);
	o = read_all(data, size, 0);
	assert_int_equal(o.code, 0);
	assert_int_equal(o.records + o.gap_records, 100000);
	free(data);
	close(fd);
}

/* Who failed and why comes through, as long as both may be; the records before it are all there. */
static void test_failure(void **state)
{
	struct vt_failure failure = {.program = "a program"}, longest;
	const struct vt_failure *const cases[] = {&failure, &longest};
	struct vt_record rec = {0};
	struct vt_error err;
	struct vt_reader *r;
	struct vt_writer *w;
	size_t i;

	(void)state;
	memset(&longest, 'x', sizeof(longest));
	longest.program[VT_MAX_PROGRAM] = longest.why[VT_ERROR_SIZE - 1] = '\0';
	for (i = 0; i < 2; i++) {
		int fd = scratch_file();

		w = vt_writer_open_fd(fd, "test", &(struct vt_writer_options){0}, &err);
		assert_non_null(w);
		write_record(w, 0);
		assert_int_equal(vt_writer_fail(w, cases[i], &err), 0);
		lseek(fd, 0, SEEK_SET);
		r = vt_reader_open_fd(fd, "test", &err);
		assert_non_null(r);
		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		check_record(&rec, 0);
		assert_null(vt_reader_failure(r));
		assert_int_equal(vt_reader_next(r, &rec, &err), 0);
		assert_int_equal(vt_reader_status(r), VT_STATUS_INTERRUPTED);
		assert_non_null(vt_reader_failure(r));
		assert_string_equal(vt_reader_failure(r)->program, cases[i]->program);
		assert_string_equal(vt_reader_failure(r)->why, cases[i]->why);
		assert_int_equal(vt_reader_damage(r)->bytes, 0);
		vt_reader_close(r);
		close(fd);
	}
}

/* A kind and a field that this version does not know come through a filter as they were. */
static void test_foreign_kinds_pass(void **state)
{
	int a = scratch_file(), b = scratch_file();
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vt_schema extra;
	struct vt_error err;
	struct vt_writer *w;
	struct vt_reader *r, *in;
	struct vt_record rec = {0};
	int kind, colour;

	(void)state;
	assert_int_equal(vt_schema_init(&extra, &err), 0);
	kind = vt_schema_add_kind(&extra, "FOREIGN", &err);
	vt_schema_add_field(&extra.kinds[kind], "number", VT_TYPE_I, "", &err);
	vt_schema_add_field(&extra.kinds[kind], "list", VT_TYPE_A, "", &err);
	colour = vt_schema_add_field(&extra.kinds[VT_SAMPLE], "colour", VT_TYPE_S, "", &err);
	assert_int_equal(colour, VT_SAMPLE_NFIELDS);
	opt.extra = &extra;
	w = vt_writer_open_fd(a, "test", &opt, &err);
	assert_non_null(w);
	vt_writer_row(w, (uint32_t)kind)[0] = (uint64_t)-42;
	vt_writer_words(w, 1, (uint64_t[]){1, 2, 3}, 3);
	vt_writer_row(w, VT_SAMPLE)[VT_SAMPLE_IP] = 0x1234;
	vt_writer_text(w, (unsigned)colour, "blue");
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	vt_schema_fini(&extra);

	lseek(a, 0, SEEK_SET);
	in = vt_reader_open_fd(a, "test", &err);
	opt = (struct vt_writer_options){
		.compression = VT_COMPRESS_ZLIB,
		.inputs = (const struct vt_reader *const *)&in,
		.ninputs = 1,
	};
	w = vt_writer_open_fd(b, "test", &opt, &err);
	assert_non_null(w);
	while (vt_reader_next(in, &rec, &err) == 1)
		vt_writer_copy(w, &rec);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	vt_reader_close(in);

	lseek(b, 0, SEEK_SET);
	r = vt_reader_open_fd(b, "test", &err);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_string_equal(rec.block->desc->name, "FOREIGN");
	assert_int_equal(vt_record_i64(&rec, 0), -42);
	assert_int_equal(vt_record_words(&rec, 1).data[2], 3);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(vt_record_u64(&rec, VT_SAMPLE_IP), 0x1234);
	assert_memory_equal(vt_record_bytes(&rec, (unsigned)colour).data, "blue", 4);
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	vt_reader_close(r);
	close(a);
	close(b);
}

/* One record may be large, but not without bound. */
static void test_large_records(void **state)
{
	static const size_t sizes[] = {1 << 20, 20 << 20, 33 << 20};
	uint8_t *data = calloc(1, sizes[2]);
	size_t i;

	(void)state;
	assert_non_null(data);
	for (i = 0; i < 3; i++) {
		struct vt_writer_options opt = {.compression = VT_COMPRESS_ZSTD};
		int fd = scratch_file();
		struct vt_error err;
		struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);
		struct vt_reader *r;
		struct vt_record rec = {0};
		int code;

		vt_writer_row(w, VT_AUXTRACE);
		vt_writer_bytes(w, VT_AUXTRACE_DATA, data, sizes[i]);
		vt_writer_row(w, VT_AUX);
		code = vt_writer_close(w, VT_STATUS_COMPLETE, &err);
		assert_int_equal(code, i == 2 ? -VT_E_LIMIT : 0);
		lseek(fd, 0, SEEK_SET);
		if (i < 2) {
			r = vt_reader_open_fd(fd, "test", &err);
			assert_int_equal(vt_reader_next(r, &rec, &err), 1);
			assert_int_equal(vt_record_bytes(&rec, VT_AUXTRACE_DATA).size, sizes[i]);
			assert_int_equal(vt_reader_next(r, &rec, &err), 1);
			assert_int_equal(vt_reader_next(r, &rec, &err), 0);
			vt_reader_close(r);
		}
		close(fd);
	}
	free(data);
}

/*
 * Records up to the limit come back whole, whatever else is in the frame; what is over it is an
 * error, and the stream then does not look complete.
 */
static void test_record_at_the_limit(void **state)
{
	uint8_t *data = calloc(1, 33 << 20);
	size_t size = (size_t)32 << 20;
	int code = -1;

	(void)state;
	assert_non_null(data);
	for (; code < 0; size -= 4096) {
		struct vt_writer_options opt = {.compression = VT_COMPRESS_ZLIB};
		int fd = scratch_file();
		struct vt_error err;
		struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);
		struct vt_reader *r;
		struct vt_record rec = {0};
		uint32_t kind;

		/* A few rows of all kinds wait in the frame, all of their numbers different. */
		for (kind = 0; kind < 31 * VT_NKINDS; kind++) {
			const struct vt_kind_desc *k =
				&vt_writer_schema(w)->kinds[kind % VT_NKINDS];
			uint64_t *row = vt_writer_row(w, kind % VT_NKINDS);
			uint32_t f;

			for (f = 0; f < k->nfields; f++)
				if (!strchr("SBA", (char)k->fields[f].type))
					row[f] = UINT64_MAX / (kind + f + 1);
		}
		vt_writer_row(w, VT_META);
		vt_writer_bytes(w, VT_META_DATA, data, size);
		code = vt_writer_close(w, VT_STATUS_COMPLETE, &err);
		assert_true(code == 0 || code == -VT_E_LIMIT);
		lseek(fd, 0, SEEK_SET);
		r = vt_reader_open_fd(fd, "test", &err);
		assert_non_null(r);
		for (kind = 0; code == 0 && kind < 31 * VT_NKINDS; kind++) {
			assert_int_equal(vt_reader_next(r, &rec, &err), 1);
			assert_int_equal(rec.kind, kind % VT_NKINDS);
		}
		if (code == 0) {
			assert_int_equal(vt_reader_next(r, &rec, &err), 1);
			assert_int_equal(vt_record_bytes(&rec, VT_META_DATA).size, size);
			assert_int_equal(vt_reader_next(r, &rec, &err), 0);
		} else {
			while (vt_reader_next(r, &rec, &err) == 1)
				continue;
			assert_true(vt_reader_damage(r)->truncated);
		}
		vt_reader_close(r);
		close(fd);
	}
	assert_true(size > (size_t)31 << 20);
	free(data);
}

/* Many kinds of few fields: no frame has more records than a reader takes. */
static void test_many_small_kinds(void **state)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	int fd = scratch_file();
	struct vt_schema extra;
	struct vt_error err;
	struct vt_writer *w;
	struct vt_reader *r;
	struct vt_record rec = {0};
	const uint32_t n = 150000;
	uint32_t i;

	(void)state;
	assert_int_equal(vt_schema_init(&extra, &err), 0);
	for (i = 0; i < 200; i++) {
		char name[16];
		int kind;

		snprintf(name, sizeof(name), "K%u", i);
		kind = vt_schema_add_kind(&extra, name, &err);
		assert_int_equal(kind, VT_NKINDS + i);
		vt_schema_add_field(&extra.kinds[kind], "n", VT_TYPE_U, "", &err);
	}
	opt.extra = &extra;
	w = vt_writer_open_fd(fd, "test", &opt, &err);
	for (i = 0; i < n; i++)
		vt_writer_row(w, VT_NKINDS + i % 200)[0] = i;
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	vt_schema_fini(&extra);
	lseek(fd, 0, SEEK_SET);
	r = vt_reader_open_fd(fd, "test", &err);
	for (i = 0; i < n; i++) {
		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		assert_int_equal(vt_record_u64(&rec, 0), i);
	}
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	assert_int_equal(vt_reader_damage(r)->blocks, 0);
	vt_reader_close(r);
	close(fd);
}

/* The last value that a field is set to is the one that counts. */
static void test_field_set_again(void **state)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	int fd = scratch_file();
	struct vt_error err;
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);
	struct vt_reader *r;
	struct vt_record rec = {0};

	(void)state;
	vt_writer_row(w, VT_SAMPLE);
	vt_writer_text(w, VT_SAMPLE_RAW, "first");
	vt_writer_words(w, VT_SAMPLE_READ, (uint64_t[]){1, 2, 3}, 3);
	vt_writer_row(w, VT_SAMPLE);
	vt_writer_text(w, VT_SAMPLE_RAW, "second");
	vt_writer_words(w, VT_SAMPLE_READ, (uint64_t[]){4, 5, 6}, 3);
	vt_writer_text(w, VT_SAMPLE_RAW, "3rd");
	vt_writer_words(w, VT_SAMPLE_READ, (uint64_t[]){7}, 1);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	lseek(fd, 0, SEEK_SET);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(vt_record_bytes(&rec, VT_SAMPLE_RAW).size, 5);
	assert_memory_equal(vt_record_bytes(&rec, VT_SAMPLE_RAW).data, "first", 5);
	assert_int_equal(vt_record_words(&rec, VT_SAMPLE_READ).data[2], 3);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(vt_record_bytes(&rec, VT_SAMPLE_RAW).size, 3);
	assert_memory_equal(vt_record_bytes(&rec, VT_SAMPLE_RAW).data, "3rd", 3);
	assert_int_equal(vt_record_words(&rec, VT_SAMPLE_READ).count, 1);
	assert_int_equal(vt_record_words(&rec, VT_SAMPLE_READ).data[0], 7);
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
}

static void test_runs(void **state)
{
	int fd = scratch_file();
	const struct vt_block *block;
	uint32_t first, count, i;
	struct vt_reader *r;
	struct vt_error err;
	uint64_t n = 0;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, 50000);
	lseek(fd, 0, SEEK_SET);
	r = vt_reader_open_fd(fd, "test", &err);
	while (vt_reader_next_run(r, &block, &first, &count, &err) == 1) {
		for (i = 0; i < count; i++) {
			struct vt_record rec = {block, block->kind, first + i};

			check_record(&rec, n++);
		}
	}
	assert_int_equal(n, 50000);
	vt_reader_close(r);
	close(fd);
}

static void test_same_input_same_bytes(void **state)
{
	int a = scratch_file(), b = scratch_file();
	size_t na, nb;
	uint8_t *da, *db;

	(void)state;
	write_stream(a, VT_COMPRESS_ZLIB, 20000);
	write_stream(b, VT_COMPRESS_ZLIB, 20000);
	da = slurp(a, &na);
	db = slurp(b, &nb);
	assert_int_equal(na, nb);
	assert_memory_equal(da, db, na);
	free(da);
	free(db);
	close(a);
	close(b);
}

/* Threads that compress change nothing, also where more blocks wait than there is room for. */
static void test_threads_write_the_same(void **state)
{
	static const enum vt_compression hows[] = {VT_COMPRESS_NONE, VT_COMPRESS_ZLIB,
						   VT_COMPRESS_ZSTD};
	uint8_t *data[4];
	size_t size[4], h, i;
	unsigned n;

	(void)state;
	for (h = 0; h < sizeof(hows) / sizeof(hows[0]); h++) {
		for (n = 0; n < 4; n++) {
			struct vt_writer_options opt = {.compression = hows[h], .threads = n};
			struct vt_error err = VT_ERROR_INIT;
			int fd = scratch_file();
			struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);

			assert_non_null(w);
			for (i = 0; i < 200000; i++)
				write_record(w, i);
			/* One that is abandoned has all frames that were full. */
			if (n == 3)
				vt_writer_abandon(w);
			else
				assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
			data[n] = slurp(fd, &size[n]);
			close(fd);
			assert_true(size[n] <= size[0] && size[n] > size[0] * 9 / 10);
			assert_memory_equal(data[n], data[0], size[n]);
			assert_true(n == 3 || size[n] == size[0]);
		}
		for (n = 0; n < 4; n++)
			free(data[n]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damaged_block),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_foreign_kinds_pass),
		cmocka_unit_test(test_large_records),
		cmocka_unit_test(test_record_at_the_limit),
		cmocka_unit_test(test_many_small_kinds),
		cmocka_unit_test(test_field_set_again),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_same_input_same_bytes),
		cmocka_unit_test(test_threads_write_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
