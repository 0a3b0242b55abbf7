/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How streams are opened, passed on and ended, and blocks that a frame may have but once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/input.h"
#include "stream/compress_internal.h"
#include "stream/frame_internal.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define MOST 100 /* records; in one frame */

static struct vt_error err;

/* ---- opening ---- */

static unsigned header_compression(const uint8_t *data)
{
	struct vti_block_head h;

	assert_true(vti_block_decode(data + VTI_PREAMBLE_SIZE, &h));
	return h.compression;
}

/* A regular file is compressed, unless it is not to be; a pipe is not. */
static void test_compression(void **state)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_AUTO};
	char *dir = toolbox_dir();
	const char *path = toolbox_path(dir, "stream");
	uint8_t data[65536];
	struct vt_record rec;
	struct vt_writer *w;
	struct vt_reader *r;
	int pipes[2];
	FILE *f;

	(void)state;
	w = vt_writer_open(path, &o, &err);
	assert_non_null(w);
	write_record(w, 0);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_true(fread(data, 1, sizeof(data), f) > 100);
	fclose(f);
	assert_int_equal(header_compression(data), VT_COMPRESS_ZLIB);
	r = vt_reader_open(path, &err);
	assert_non_null(r);
	assert_string_equal(vt_reader_name(r), path);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	check_record(&rec, 0);
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	vt_reader_close(r);
	assert_null(vt_reader_open(toolbox_path(dir, "none"), &err));
	assert_null(vt_writer_open(toolbox_path(dir, "none/none"), &o, &err));
	toolbox_remove(dir);
	assert_int_equal(pipe(pipes), 0);
	w = vt_writer_open_fd(pipes[1], "test", &o, &err);
	assert_non_null(w);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	close(pipes[1]);
	assert_true(read(pipes[0], data, sizeof(data)) > 100);
	assert_int_equal(header_compression(data), VT_COMPRESS_NONE);
	close(pipes[0]);
}

/* A header that is too large: 256 stages with arguments of 5000 bytes. */
static void test_large_header(void **state)
{
	static char text[5001], name[] = "p", *args[] = {text};
	struct vt_stage stage = {name, name, 0, 1, args};
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE, .stage = &stage};
	struct vt_writer *w = NULL;
	struct vt_reader *r = NULL;
	const struct vt_reader *input;
	unsigned i;

	(void)state;
	memset(text, 'x', 5000);
	for (i = 0; i < VT_MAX_STAGES; i++) {
		int fd = scratch_file();

		o.ninputs = r != NULL;
		input = r;
		o.inputs = &input;
		w = vt_writer_open_fd(fd, "test", &o, &err);
		vt_reader_close(r);
		if (!w)
			break;
		r = reread_stream(fd, w);
		close(fd);
	}
	/* Of 1048576 bytes, the kinds have less than 20000. */
	assert_in_range(i, 1028576 / 5010, 1048576 / 5000);
	assert_string_equal(err.text, "header over 1048576 bytes");
	assert_int_equal(err.code, VT_E_LIMIT);
}

/* ---- passing on ---- */

/* A stream with one record of a kind of its own, behind other kinds. */
static struct vt_reader *foreign(const char *const *kinds, unsigned n, uint64_t value)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	int fd = scratch_file(), kind = -1;
	struct vt_schema extra;
	struct vt_writer *w;
	struct vt_reader *r;
	unsigned i;

	assert_int_equal(vt_schema_init(&extra, &err), 0);
	for (i = 0; i < n; i++) {
		kind = vt_schema_add_kind(&extra, kinds[i], &err);
		vt_schema_add_field(&extra.kinds[kind], "other", VT_TYPE_U, "", &err);
		vt_schema_add_field(&extra.kinds[kind], i ? "value" : "first", VT_TYPE_U, "", &err);
	}
	o.extra = &extra;
	w = vt_writer_open_fd(fd, "test", &o, &err);
	vt_writer_row(w, (uint32_t)kind)[1] = value;
	r = reread_stream(fd, w);
	vt_schema_fini(&extra);
	return r;
}

/* Each input's records are told by its own kinds. */
static void test_inputs(void **state)
{
	static const char *const one[] = {"A", "B"}, *const two[] = {"C", "B", "A"};
	struct vt_reader *r[] = {foreign(one, 2, 7), foreign(two, 3, 8)};
	const struct vt_reader *inputs[] = {r[0], r[1]};
	struct vt_writer_options o = {
		.compression = VT_COMPRESS_NONE, .inputs = inputs, .ninputs = 2};
	struct vt_record rec = {0};
	int fd = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &o, &err);
	struct vt_reader *out;
	unsigned i;

	(void)state;
	assert_non_null(w);
	for (i = 0; i < 2; i++) {
		assert_int_equal(vt_reader_next(r[i], &rec, &err), 1);
		vt_writer_copy(w, &rec);
		assert_int_equal(vt_reader_next(r[i], &rec, &err), 0);
	}
	out = reread_stream(fd, w);
	for (i = 0; i < 2; i++) {
		int field;

		assert_int_equal(vt_reader_next(out, &rec, &err), 1);
		assert_string_equal(rec.block->desc->name, i ? "A" : "B");
		field = vt_schema_find_field(rec.block->desc, "value");
		assert_true(field >= 0);
		assert_int_equal(vt_record_u64(&rec, (unsigned)field), 7 + i);
		field = vt_schema_find_field(rec.block->desc, "other");
		assert_int_equal(vt_record_u64(&rec, (unsigned)field), 0);
	}
	assert_int_equal(vt_reader_next(out, &rec, &err), 0);
	vt_reader_close(out);
	vt_reader_close(r[0]);
	vt_reader_close(r[1]);
	close(fd);
}

/* ---- blocks ---- */

static size_t size_of_block(const uint8_t *block)
{
	struct vti_block_head h;

	assert_true(vti_block_decode(block, &h));
	return VTI_BLOCK_SIZE + h.stored_size;
}

/* The stream with block number n there twice. */
static struct outcome read_twice(const uint8_t *data, size_t size, unsigned n)
{
	size_t at = VTI_PREAMBLE_SIZE, block;
	uint8_t *made = malloc(2 * size);
	struct outcome o;

	assert_non_null(made);
	while (n--)
		at += size_of_block(data + at);
	block = size_of_block(data + at);
	memcpy(made, data, at + block);
	memcpy(made + at + block, data + at, size - at);
	o = read_all(made, size + block, 0);
	free(made);
	return o;
}

/* Garbage between blocks is a gap of its own size; no record is lost. */
static void test_garbage(void **state)
{
	static const uint8_t garbage[] = {0, 0xf6, 'v', 0xd3, 0xf6, 0xf6, 'v', 0xd3, 'b', 7};
	static const size_t sizes[] = {1, 2, 4, sizeof(garbage)};
	size_t size, at, i;
	int fd = scratch_file();
	uint8_t *data, *made;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, MOST);
	data = slurp(fd, &size);
	made = malloc(size + sizeof(garbage));
	assert_non_null(made);
	for (at = VTI_PREAMBLE_SIZE; at < size; at += size_of_block(data + at))
		for (i = 0; i < 4 && at > VTI_PREAMBLE_SIZE; i++) {
			struct vt_record rec = {0};
			struct vt_reader *r;
			unsigned n = 0, gaps = 0;

			memcpy(made, data, at);
			memcpy(made + at, garbage, sizes[i]);
			memcpy(made + at + sizes[i], data + at, size - at);
			assert_int_equal(pwrite(fd, made, size + sizes[i], 0), size + sizes[i]);
			assert_int_equal(ftruncate(fd, (off_t)(size + sizes[i])), 0);
			lseek(fd, 0, SEEK_SET);
			r = vt_reader_open_fd(fd, "test", &err);
			while (vt_reader_next(r, &rec, &err) > 0) {
				if (rec.kind == VT_GAP) {
					assert_int_equal(vt_record_u64(&rec, VT_GAP_BYTES),
							 sizes[i]);
					assert_int_equal(vt_record_u64(&rec, VT_GAP_OFFSET), at);
					gaps++;
				} else {
					check_record(&rec, n++);
				}
			}
			assert_int_equal(n, MOST);
			assert_int_equal(gaps, 1);
			assert_int_equal(vt_reader_damage(r)->blocks, 1);
			assert_int_equal(vt_reader_damage(r)->bytes, sizes[i]);
			vt_reader_close(r);
		}
	free(made);
	free(data);
	close(fd);
}

/* A second order, or block of a kind, is damage; what is there already stays. */
static void test_twice(void **state)
{
	int fd = scratch_file();
	struct outcome o;
	uint8_t *data;
	size_t size;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, MOST);
	data = slurp(fd, &size);
	o = read_twice(data, size, 0); /* the header */
	assert_true(o.code == 0 && o.records == MOST && o.gaps == 1 && o.warnings == 1);
	o = read_twice(data, size, 1); /* the order */
	assert_true(o.code == 0 && o.records == MOST && o.gaps == 1 && o.warnings == 1);
	o = read_twice(data, size, 2); /* THREAD */
	assert_true(o.code == 0 && o.records == MOST && o.gaps == 1 && o.warnings == 1);
	o = read_twice(data, size, 3); /* SAMPLE */
	assert_true(o.code == 0 && o.records == MOST && o.gaps == 1 && o.warnings == 1);
	free(data);
	close(fd);
}

/* Blocks that do not add up to END's checksum are told, and nothing is missing. */
static void test_checksum(void **state)
{
	int fd = scratch_file();
	size_t at = VTI_PREAMBLE_SIZE, next, size;
	struct vt_input in = {.fd = -1, .eof = true};
	struct vti_block_head h;
	struct vt_record rec = {0};
	struct vt_reader *r;
	unsigned gaps = 0;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, MOST);
	in.name = strdup("test");
	in.buf = slurp(fd, &size);
	in.end = in.cap = size;
	while ((next = at + size_of_block(in.buf + at)) < size)
		at = next;
	assert_true(vti_block_decode(in.buf + at, &h));
	in.buf[at + VTI_BLOCK_SIZE + 2] ^= 1;
	h.payload_crc = vti_crc32(0, in.buf + at + VTI_BLOCK_SIZE, h.stored_size);
	vti_block_encode(in.buf + at, &h);
	r = vt_reader_open_input(&in, &err);
	assert_non_null(r);
	assert_int_equal(in.fd, -1);
	assert_null(in.buf);
	while (vt_reader_next(r, &rec, &err) > 0)
		gaps += rec.kind == VT_GAP;
	assert_int_equal(gaps, 1);
	assert_int_equal(vt_reader_damage(r)->blocks, 1);
	assert_int_equal(vt_reader_damage(r)->bytes, 0);
	vt_reader_close(r);
	close(fd);
}

/* ---- statuses ---- */

static void test_status(void **state)
{
	static const enum vt_status rows[][2] = {
		{VT_STATUS_COMPLETE, VT_STATUS_COMPLETE},
		{VT_STATUS_LOSSY, VT_STATUS_LOSSY},
		{VT_STATUS_INTERRUPTED, VT_STATUS_INTERRUPTED},
		{VT_STATUS_MISSING, VT_STATUS_LOSSY},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		struct vt_record rec;
		struct vt_reader *r;

		assert_int_equal(vt_writer_close(w, rows[i][0], &err), 0);
		lseek(fd, 0, SEEK_SET);
		r = vt_reader_open_fd(fd, "test", &err);
		assert_int_equal(vt_reader_status(r), VT_STATUS_MISSING);
		assert_int_equal(vt_reader_next(r, &rec, &err), 0);
		assert_int_equal(vt_reader_status(r), rows[i][1]);
		assert_null(vt_reader_failure(r));
		vt_reader_close(r);
		close(fd);
	}
}

/* END counts the records of each kind, of all frames. */
static void test_counts(void **state)
{
	/* 10000 records: 10 THREADs; every third of the others a COUNT, but 7, 1007 ... */
	const uint64_t want[] = {VT_STATUS_COMPLETE, 10000};
	const uint64_t kinds[] = {3, 19, 10, 20, 0, 21, 0};
	int fd = scratch_file();
	size_t at = VTI_PREAMBLE_SIZE, next, size, i;
	uint64_t counts = 0, threads = 0;
	struct vt_cursor c;
	uint8_t *data;

	(void)state;
	for (i = 0; i < 10000; i++) {
		threads += i % 1000 == 7;
		counts += i % 1000 != 7 && i % 3 == 0;
	}
	write_stream(fd, VT_COMPRESS_NONE, 10000);
	data = slurp(fd, &size);
	while ((next = at + size_of_block(data + at)) < size)
		at = next;
	c = vt_cursor_make(data + at + VTI_BLOCK_SIZE, size - at - VTI_BLOCK_SIZE, false);
	for (i = 0; i < 2; i++)
		assert_int_equal(vt_cursor_varint(&c), want[i]);
	assert_non_null(vt_cursor_take(&c, 4));
	for (i = 0; i < 7; i++) {
		uint64_t v = kinds[i] ? kinds[i] : i == 4 ? 10000 - counts - threads : counts;

		assert_int_equal(vt_cursor_varint(&c), v);
	}
	assert_int_equal(vt_cursor_left(&c), 0);
	free(data);
	close(fd);
}

/* That there is no END is told once. */
static void test_no_end(void **state)
{
	int fd = scratch_file();
	struct vt_record rec = {0};
	struct vt_reader *r;

	(void)state;
	vt_writer_abandon(start_stream(fd));
	lseek(fd, 0, SEEK_SET);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(rec.kind, VT_GAP);
	assert_int_equal(vt_reader_next(r, &rec, &err), -VT_E_TRUNC);
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	assert_int_equal(vt_reader_status(r), VT_STATUS_MISSING);
	assert_true(vt_reader_damage(r)->truncated);
	vt_reader_close(r);
	close(fd);
}

/* ---- failures ---- */

/* Whether an END record with this program and reason is one. */
static bool is_end(const uint8_t *data, size_t size, unsigned status, const char *program,
		   size_t program_size, size_t why_size, size_t kinds, size_t more)
{
	uint8_t head[VTI_BLOCK_SIZE];
	struct vt_buf b = VT_BUF_INIT, end = VT_BUF_INIT;
	size_t at = VTI_PREAMBLE_SIZE, next, i;
	struct vti_block_head h;
	struct outcome o;

	while ((next = at + size_of_block(data + at)) < size)
		at = next;
	assert_true(vti_block_decode(data + at, &h));
	vt_buf_put_varint(&end, status);
	vt_buf_put_varint(&end, MOST);
	vt_buf_put(&end, data + at + VTI_BLOCK_SIZE + 2, 4);
	vt_buf_put_varint(&end, kinds);
	for (i = 0; i < kinds; i++) {
		vt_buf_put_varint(&end, 20 + i);
		vt_buf_put_varint(&end, 300);
	}
	vt_buf_put_block(&end, program, program_size);
	vt_buf_put_varint(&end, why_size);
	for (i = 0; i < why_size && i < 2000; i++)
		vt_buf_put_u8(&end, 'w');
	end.size -= more;
	h.raw_size = h.stored_size = (uint32_t)end.size;
	h.payload_crc = vti_crc32(0, end.data, end.size);
	vti_block_encode(head, &h);
	vt_buf_put(&b, data, at);
	vt_buf_put(&b, head, sizeof(head));
	vt_buf_put(&b, end.data, end.size);
	o = read_all(b.data, b.size, MOST);
	assert_true(o.code == 0 && o.records == MOST);
	vt_buf_free(&b);
	vt_buf_free(&end);
	return o.warnings == 0;
}

static void test_failures(void **state)
{
	char program[VT_MAX_PROGRAM + 1];
	int fd = scratch_file();
	uint8_t *data;
	size_t size;

	(void)state;
	memset(program, 'p', sizeof(program));
	write_stream(fd, VT_COMPRESS_NONE, MOST);
	data = slurp(fd, &size);
#define IS_END(...) is_end(data, size, VT_STATUS_INTERRUPTED, __VA_ARGS__)
	assert_true(IS_END(program, 1, 0, 0, 0));
	assert_true(IS_END(program, VT_MAX_PROGRAM, VT_ERROR_SIZE - 1, 3, 0));
	assert_false(IS_END(program, VT_MAX_PROGRAM + 1, 1, 3, 0));
	assert_false(IS_END(program, 1, VT_ERROR_SIZE, 3, 0));
	assert_false(IS_END(program, 0, 5, 3, 0));
	assert_false(IS_END("a\0b", 3, 5, 3, 0));
	/* Cut: within the reason, before its length, and in the kinds. */
	assert_false(IS_END(program, 1, 5, 3, 1));
	assert_false(IS_END(program, 1, 0, 3, 1));
	assert_true(IS_END(program, 1, 0, 3, 3)); /* before all that */
	assert_false(IS_END(program, 1, 0, 3, 4));
	assert_true(IS_END(program, 1, 2, VT_MAX_KINDS, 0));
	/* Otherwise it is not looked at. */
	assert_true(is_end(data, size, VT_STATUS_LOSSY, program, 0, 0, 3, 1));
	assert_false(is_end(data, size, VT_STATUS_MISSING, program, 1, 0, 0, 0));
	free(data);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compression), cmocka_unit_test(test_large_header),
		cmocka_unit_test(test_inputs),	    cmocka_unit_test(test_twice),
		cmocka_unit_test(test_status),	    cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_garbage),	    cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_counts),	    cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
