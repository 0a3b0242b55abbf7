/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of streams: what columns are stored as, what is left of a frame, forms of the END record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "stream/compress_internal.h"
#include "stream/frame_internal.h"
#include "tests/unit/common/streams.h"

#define MOST 100 /* records */

static struct vt_error err;

/* ---- columns ---- */

/* A column whose values are all the same is stored as one, however many tiles of 32 rows it has. */
static void test_columns(void **state)
{
	static const unsigned counts[] = {1, 2, 31, 32, 33, 63, 64, 65, MOST};
	unsigned i, k, at;

	(void)state;
	/* Row `at` of the second column differs. */
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		for (at = 0; at < counts[i]; at++) {
			int fd = scratch_file();
			struct vt_writer *w = start_stream(fd);
			struct vt_record rec = {0};
			struct vt_reader *r;

			for (k = 0; k < counts[i]; k++) {
				uint64_t *row = vt_writer_row(w, VT_COUNT);

				row[VT_COUNT_IMAGE] = 7;
				row[VT_COUNT_OFFSET] = k == at ? 9 : 8;
			}
			r = reread_stream(fd, w);
			for (k = 0; k < counts[i]; k++) {
				assert_int_equal(vt_reader_next(r, &rec, &err), 1);
				assert_int_equal(vt_record_u64(&rec, VT_COUNT_IMAGE), 7);
				assert_int_equal(vt_record_u64(&rec, VT_COUNT_OFFSET),
						 k == at ? 9 : 8);
				assert_int_equal(rec.block->columns[VT_COUNT_IMAGE].mask, 0);
				assert_int_equal(rec.block->columns[VT_COUNT_OFFSET].mask == 0,
						 counts[i] == 1);
			}
			assert_int_equal(vt_reader_next(r, &rec, &err), 0);
			vt_reader_close(r);
			close(fd);
		}
}

/* ---- inputs ---- */

/* An input that is added later must have nothing that the header does not. */
static void test_late_input(void **state)
{
	unsigned foreign;

	(void)state;
	for (foreign = 0; foreign < 3; foreign++) {
		struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
		int in = scratch_file(), out = scratch_file(), code;
		struct vt_schema extra;
		struct vt_writer *w;
		struct vt_reader *r;

		assert_int_equal(vt_schema_init(&extra, &err), 0);
		if (foreign == 1)
			assert_true(vt_schema_add_kind(&extra, "FOREIGN", &err) >= 0);
		if (foreign == 2)
			assert_true(vt_schema_add_field(&extra.kinds[VT_SAMPLE], "colour",
							VT_TYPE_S, "", &err) >= 0);
		o.extra = &extra;
		w = vt_writer_open_fd(in, "test", &o, &err);
		assert_non_null(w);
		r = reread_stream(in, w);
		w = start_stream(out);
		code = vt_writer_add_input(w, r, &err);
		assert_int_equal(code, foreign ? -VT_E_FORMAT : 0);
		if (foreign)
			assert_string_equal(
				err.text, foreign == 1 ? "test: kind FOREIGN is not in the header"
						       : "test: kind SAMPLE is not in the header");
		vt_writer_abandon(w);
		vt_reader_close(r);
		vt_schema_fini(&extra);
		close(in);
		close(out);
	}
}

/* ---- frames ---- */

/* Where block number n begins, from 0, the header; n == -1: the last one. */
static size_t block_at(const uint8_t *data, size_t size, int n, struct vti_block_head *h)
{
	size_t at = VTI_PREAMBLE_SIZE;

	for (;; n--) {
		assert_true(vti_block_decode(data + at, h));
		if (n == 0 || at + VTI_BLOCK_SIZE + h->stored_size == size)
			return at;
		at += VTI_BLOCK_SIZE + h->stored_size;
	}
}

/* How many records the first block has, behind the header. */
static uint32_t first_frame(int fd, struct vt_writer *w)
{
	struct vti_block_head h;
	uint8_t *data;
	size_t size;

	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	data = slurp(fd, &size);
	block_at(data, size, 1, &h);
	/* Of one kind, it needs no order. */
	assert_int_not_equal(h.kind, VTI_BLOCK_ORDER);
	free(data);
	close(fd);
	return h.nrecords;
}

/* Writes rows of SAMPLE of which one field differs, and from row `from` on 20 more do. */
static uint32_t count_first_samples(uint32_t from)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint32_t n, f;

	for (n = 0; n < 8192; n++) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		row[VT_SAMPLE_TIME] = n;
		for (f = VT_SAMPLE_TIME + 1; f <= VT_SAMPLE_STREAM_ID && n >= from; f++)
			row[f] = n + f;
	}
	return first_frame(fd, w);
}

/*
 * A frame is full with 8192 records, or once it has more than 512 KiB, in tiles of 32 rows.  A row
 * counts as one number, those of its fields that differ, and half a number for each of the others.
 */
static void test_full_frames(void **state)
{
	static const uint8_t text[(512 << 10) + 1];
	const size_t halves = 2 + VT_SAMPLE_NFIELDS, row = (halves + 21) * sizeof(uint64_t) / 2;
	uint32_t want = 0, n;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	for (n = 0; n < 8193; n++)
		vt_writer_row(w, VT_COUNT)[VT_COUNT_OFFSET] = n;
	assert_int_equal(first_frame(fd, w), 8192);
	while (want * row <= 512 << 10)
		want += 32;
	assert_int_equal(count_first_samples(0), want);
	for (want = 0; want * (halves + 1) * sizeof(uint64_t) / 2 <= 512 << 10;)
		want += 32;
	assert_int_equal(count_first_samples(8192), want);
	/* What differs late is stored for all rows. */
	want -= 160;
	assert_int_equal(count_first_samples(want), want + 32);
	for (n = 0; n < 2; n++) {
		fd = scratch_file();
		w = start_stream(fd);
		vt_writer_row(w, VT_META);
		vt_writer_bytes(w, VT_META_VALUE, text, sizeof(text) - 1 + n);
		vt_writer_row(w, VT_META);
		vt_writer_row(w, VT_META);
		assert_int_equal(first_frame(fd, w), n ? 1 : 3);
	}
}

/* Where a stream ends within a frame, what came before that is told. */
static void test_cut_frames(void **state)
{
	/* The header; the order; 1 THREAD, 65 SAMPLE and 34 COUNT records; END */
	static const struct {
		int block;
		size_t more;
		uint64_t records;
	} rows[] = {
		{2, 0, 0},    {3, 0, 1},
		{3, 10, 1},   {3, VTI_BLOCK_SIZE, 1},
		{4, 0, 66},   {4, 10, 66},
		{4, 60, 66},  {5, 0, 100},
		{5, 10, 100}, {3, VTI_BLOCK_SIZE + 9, 1},
	};
	int fd = scratch_file();
	struct vti_block_head h;
	uint8_t *data;
	size_t size;
	unsigned i;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, MOST);
	data = slurp(fd, &size);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t at = block_at(data, size, rows[i].block, &h);
		struct outcome o = read_all(data, at + rows[i].more, 0);

		assert_int_equal(o.code, -VT_E_TRUNC);
		if (o.records != rows[i].records)
			fail_msg("row %u: %d records", i, (int)o.records);
	}
	free(data);
	close(fd);
}

/* An order that does not fit the blocks gives way to kind after kind. */
static void test_false_order(void **state)
{
	/* Two COUNT and four SAMPLE records: 1, 2, 1 and 2 of them, said to be 1, 2, 2 and 1. */
	static const uint64_t order[] = {1, 2, 4, 5, 0, 3};
	int fd = scratch_file();
	struct vt_record rec = {0};
	struct vti_block_head h;
	struct vt_reader *r;
	uint8_t *data;
	size_t size, at, i;
	uint64_t gaps = 0, n = 0;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, 6);
	data = slurp(fd, &size);
	at = block_at(data, size, 1, &h);
	assert_int_equal(h.kind, VTI_BLOCK_ORDER);
	assert_int_equal(h.raw_size, 8);
	for (i = 1; i < 8; i += 2)
		assert_int_equal(data[at + VTI_BLOCK_SIZE + i], i % 4 == 1 ? 1 : 2);
	data[at + VTI_BLOCK_SIZE + 5] = 2;
	data[at + VTI_BLOCK_SIZE + 7] = 1;
	h.payload_crc = vti_crc32(0, data + at + VTI_BLOCK_SIZE, 8);
	vti_block_encode(data + at, &h);
	assert_int_equal(pwrite(fd, data, size, 0), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while (vt_reader_next(r, &rec, &err) > 0) {
		assert_true(rec.row < rec.block->nrecords);
		if (rec.kind == VT_GAP) {
			gaps++;
			continue;
		}
		check_record(&rec, order[n]);
		n++;
	}
	assert_int_equal(n, 6);
	assert_int_equal(gaps, 1);
	assert_int_equal(vt_reader_damage(r)->blocks, 1);
	vt_reader_close(r);
	free(data);
	close(fd);
}

/* ---- the END record ---- */

/* A stream whose END record is stored so: its payload, which is compressed, and said to have
 * `raw` bytes. */
static struct outcome read_end(const uint8_t *data, size_t size, enum vt_compression how,
			       const uint8_t *payload, size_t stored, size_t raw)
{
	struct vti_block_head h;
	size_t at = block_at(data, size, -1, &h);
	uint8_t *made = malloc(at + VTI_BLOCK_SIZE + stored);
	struct outcome o;

	assert_non_null(made);
	memcpy(made, data, at);
	h.compression = (uint8_t)how;
	h.stored_size = (uint32_t)stored;
	h.raw_size = (uint32_t)raw;
	h.payload_crc = vti_crc32(0, payload, stored);
	vti_block_encode(made + at, &h);
	memcpy(made + at + VTI_BLOCK_SIZE, payload, stored);
	o = read_all(made, at + VTI_BLOCK_SIZE + stored, MOST);
	free(made);
	return o;
}

static void test_end(void **state)
{
	int fd = scratch_file();
	struct vti_block_head h;
	uint8_t packed[200], *data;
	const uint8_t *end;
	uLongf n = sizeof(packed);
	struct outcome o;
	size_t size;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, MOST);
	data = slurp(fd, &size);
	end = data + block_at(data, size, -1, &h) + VTI_BLOCK_SIZE;
	assert_int_equal(compress(packed, &n, end, h.raw_size), Z_OK);
	o = read_end(data, size, VT_COMPRESS_NONE, end, h.raw_size, h.raw_size);
	assert_true(o.code == 0 && o.records == MOST && o.warnings == 0);
	o = read_end(data, size, VT_COMPRESS_ZLIB, packed, n, h.raw_size);
	assert_true(o.code == 0 && o.records == MOST && o.warnings == 0);
	/* It has other bytes than it says, or is no such thing: that is told. */
	o = read_end(data, size, VT_COMPRESS_ZLIB, packed, n, h.raw_size + 1);
	assert_true(o.code == 0 && o.records == MOST && o.warnings == 1);
	o = read_end(data, size, VT_COMPRESS_NONE, end, h.raw_size, h.raw_size + 1);
	assert_true(o.code == 0 && o.records == MOST && o.warnings == 1);
	o = read_end(data, size, VT_COMPRESS_ZLIB, end, h.raw_size, h.raw_size);
	assert_true(o.code == 0 && o.records == MOST && o.warnings == 1);
	free(data);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),	    cmocka_unit_test(test_late_input),
		cmocka_unit_test(test_full_frames), cmocka_unit_test(test_cut_frames),
		cmocka_unit_test(test_false_order), cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
