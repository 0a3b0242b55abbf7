/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Streams that are cut, changed or made to deceive: never a crash, a hang or memory without bound,
 * always a message, and what came before the damage comes through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/input.h"
#include "base/rng.h"
#include "stream/column_internal.h"
#include "stream/compress_internal.h"
#include "stream/frame_internal.h"
#include "stream/header_internal.h"
#include "tests/unit/common/streams.h"

#define FRAMES	      4
#define FRAME_RECORDS 12
#define NRECORDS      (FRAMES * FRAME_RECORDS)

/* A small stream of several frames, and where each of them begins. */
struct victim {
	struct vt_buf stream;
	size_t frame_at[FRAMES + 1]; /* the last: the END block */
};

/* Puts right the CRCs of a block whose header or payload was changed. */
static void seal(uint8_t *block)
{
	vt_put_le32(block + 8, vti_crc32(0, block + VTI_BLOCK_SIZE, vt_le32(block + 12)));
	vt_put_le32(block + 4, vti_crc32(0, block + 8, VTI_BLOCK_SIZE - 8));
}

static size_t block_size(const uint8_t *block)
{
	return VTI_BLOCK_SIZE + vt_le32(block + 12);
}

static uint8_t *make_stream(enum vt_compression how, uint64_t from, uint64_t to, size_t *size)
{
	int fd = scratch_file();
	uint8_t *data;

	write_records(fd, how, from, to);
	data = slurp(fd, size);
	close(fd);
	return data;
}

/* Our writer makes frames of thousands of records: here several streams are made one. */
static void make_victim(struct victim *v, enum vt_compression how)
{
	size_t size, end_size, at, head;
	uint8_t *whole, *end;
	uint32_t chain = 0, f;

	*v = (struct victim){.stream = VT_BUF_INIT};
	whole = make_stream(VT_COMPRESS_NONE, 0, NRECORDS, &size);
	head = VTI_PREAMBLE_SIZE + block_size(whole + VTI_PREAMBLE_SIZE);
	vt_buf_put(&v->stream, whole, head);
	for (at = head; vt_le16(whole + at + 24) != VTI_BLOCK_END;)
		at += block_size(whole + at);
	end = whole + at;
	end_size = size - at;
	for (f = 0; f < FRAMES; f++) {
		uint64_t first = (uint64_t)f * FRAME_RECORDS;
		uint8_t *part = make_stream(how, first, first + FRAME_RECORDS, &size);

		v->frame_at[f] = v->stream.size;
		at = VTI_PREAMBLE_SIZE + block_size(part + VTI_PREAMBLE_SIZE);
		for (; vt_le16(part + at + 24) != VTI_BLOCK_END; at += block_size(part + at)) {
			vt_put_le32(part + at + 28, f + 1);
			vt_put_le64(part + at + 32, first);
			seal(part + at);
			vt_buf_put(&v->stream, part + at, block_size(part + at));
		}
		free(part);
	}
	v->frame_at[FRAMES] = v->stream.size;
	for (at = VTI_PREAMBLE_SIZE; at < v->stream.size; at += block_size(v->stream.data + at))
		chain = vti_crc32(chain, v->stream.data + at + 8, 4);
	/* In END: a byte of status, a byte that is the number of records, the checksum. */
	assert_int_equal(end[VTI_BLOCK_SIZE + 1], NRECORDS);
	vt_put_le32(end + VTI_BLOCK_SIZE + 2, chain);
	vt_put_le32(end + 28, FRAMES + 1);
	seal(end);
	vt_buf_put(&v->stream, end, end_size);
	free(whole);
}

/* How many records lie in frames that end before this byte. */
static uint64_t records_before(const struct victim *v, size_t at)
{
	size_t f = 0;

	while (f < FRAMES && v->frame_at[f + 1] <= at)
		f++;
	return f * FRAME_RECORDS;
}

static const enum vt_compression forms[] = {VT_COMPRESS_NONE, VT_COMPRESS_ZLIB, VT_COMPRESS_ZSTD};

static void test_victims_are_sound(void **state)
{
	struct victim v;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct outcome o;

		make_victim(&v, forms[i]);
		o = read_all(v.stream.data, v.stream.size, NRECORDS);
		assert_int_equal(o.code, 0);
		assert_int_equal(o.records, NRECORDS);
		assert_int_equal(o.gaps + (uint64_t)o.warnings, 0);
		vt_buf_free(&v.stream);
	}
}

static void test_cut_at_every_byte(void **state)
{
	struct victim v;
	size_t i, cut;

	(void)state;
	for (i = 0; i < 3; i++) {
		make_victim(&v, forms[i]);
		for (cut = 0; cut < v.stream.size; cut++) {
			struct outcome o = read_all(v.stream.data, cut, records_before(&v, cut));

			assert_true(o.code < 0);
			assert_true(o.records <= NRECORDS);
			if (cut < v.frame_at[0])
				assert_int_equal(o.records, 0);
			else
				assert_int_equal(o.code, -VT_E_TRUNC);
		}
		vt_buf_free(&v.stream);
	}
}

/* One changed byte is never missed, and costs no more than the records of its own frame. */
static void test_every_byte_changed(void **state)
{
	struct victim v;
	size_t i, at;

	(void)state;
	for (i = 0; i < 3; i++) {
		make_victim(&v, forms[i]);
		for (at = 0; at < v.stream.size; at++) {
			struct outcome o;

			/* The minor version and what is reserved may differ. */
			if (at >= 10 && at < VTI_PREAMBLE_SIZE)
				continue;
			v.stream.data[at] ^= 0x41;
			o = read_all(v.stream.data, v.stream.size, records_before(&v, at));
			v.stream.data[at] ^= 0x41;
			assert_true(o.code < 0 || o.warnings > 0);
			if (at < v.frame_at[0])
				continue;
			assert_true(o.records >= NRECORDS - FRAME_RECORDS);
			assert_true(o.gaps > 0);
			/* The gap says how many are missing, wherever something still tells. */
			if (at < v.frame_at[FRAMES])
				assert_int_equal(o.records + o.gap_records, NRECORDS);
		}
		vt_buf_free(&v.stream);
	}
}

/* A run of one to eight bytes changed in one of several ways. Returns whether anything is new. */
static int mutate(struct vt_rng *rng, uint8_t *data, size_t from, size_t size)
{
	size_t n = 1 + vt_rng_below(rng, 8), i;
	uint64_t how = vt_rng_below(rng, 4);
	uint8_t before[8];

	if (n > size - from)
		n = size - from;
	memcpy(before, data + from, n);
	if (how == 0)
		data[from] ^= (uint8_t)(1 << vt_rng_below(rng, 8));
	for (i = 0; how > 0 && i < n; i++)
		data[from + i] = how == 1 ? 0xff : how == 2 ? 0 : (uint8_t)vt_rng_next(rng);
	return memcmp(before, data + from, n) != 0;
}

/* Puts right the CRCs of all that still looks like blocks. */
static void seal_all(uint8_t *data, size_t size)
{
	static const uint8_t mark[4] = {0xf6, 0x76, 0xd3, 0x62};
	size_t at = VTI_PREAMBLE_SIZE;

	while (size - at >= VTI_BLOCK_SIZE) {
		if (memcmp(data + at, mark, sizeof(mark)) != 0) {
			at++;
		} else if (vt_le32(data + at + 12) > size - at - VTI_BLOCK_SIZE) {
			vt_put_le32(data + at + 4, vti_crc32(0, data + at + 8, VTI_BLOCK_SIZE - 8));
			at += VTI_BLOCK_SIZE;
		} else {
			seal(data + at);
			at += block_size(data + at);
		}
	}
}

/* 20,000 mutations, half of them with CRCs that do not give them away. */
static void test_mutations(void **state)
{
	struct victim v;
	struct vt_rng rng;
	unsigned round;
	size_t i;

	(void)state;
	vt_rng_init(&rng, 1);
	for (i = 0; i < 3; i++) {
		uint8_t *copy;

		make_victim(&v, forms[i]);
		copy = malloc(v.stream.size);
		assert_non_null(copy);
		for (round = 0; round < 2500; round++) {
			size_t places = 1 + vt_rng_below(&rng, 3), lowest = v.stream.size;
			int sealed = round & 1, changed = 0;
			struct outcome o;

			memcpy(copy, v.stream.data, v.stream.size);
			while (places--) {
				/* A sealed header is mostly names: half of these spare it. */
				size_t skip =
					sealed && round & 2 ? v.frame_at[0] : VTI_PREAMBLE_SIZE;
				size_t at = skip + vt_rng_below(&rng, v.stream.size - skip);

				changed |= mutate(&rng, copy, at, v.stream.size);
				lowest = at < lowest ? at : lowest;
			}
			if (sealed)
				seal_all(copy, v.stream.size);
			o = read_all(copy, v.stream.size,
				     lowest < v.frame_at[0] ? 0 : records_before(&v, lowest));
			if (changed && !sealed)
				assert_true(o.code < 0 || o.warnings > 0);
		}
		free(copy);
		vt_buf_free(&v.stream);
	}
}

/* ---- streams made to deceive ---- */

/* A header that declares `nkinds` kinds K0, K1 … of the same fields, one of each letter. */
static void begin_stream(struct vt_buf *out, unsigned nkinds, const char *types)
{
	uint8_t preamble[VTI_PREAMBLE_SIZE];
	uint8_t head[VTI_BLOCK_SIZE] = {0};
	struct vt_buf payload = VT_BUF_INIT;
	unsigned k, f;
	char name[16];

	*out = (struct vt_buf)VT_BUF_INIT;
	vti_preamble_encode(preamble);
	vt_buf_put(out, preamble, sizeof(preamble));
	vt_buf_put_varint(&payload, 0);
	vt_buf_put_varint(&payload, nkinds);
	for (k = 0; k < nkinds; k++) {
		vt_buf_put_varint(&payload, 1024 + k);
		vt_buf_put_block(&payload, name, (size_t)snprintf(name, sizeof(name), "K%u", k));
		vt_buf_put_varint(&payload, strlen(types));
		for (f = 0; types[f]; f++) {
			vt_buf_put_block(&payload, name,
					 (size_t)snprintf(name, sizeof(name), "f%u", f));
			vt_buf_put_u8(&payload, (uint8_t)types[f]);
			vt_buf_put_varint(&payload, 0);
		}
	}
	vti_block_encode(head, &(struct vti_block_head){
				       .stored_size = (uint32_t)payload.size,
				       .raw_size = (uint32_t)payload.size,
				       .flags = VTI_LAST_OF_FRAME,
			       });
	vt_buf_put(out, head, sizeof(head));
	vt_buf_put(out, payload.data, payload.size);
	seal(out->data + VTI_PREAMBLE_SIZE);
	vt_buf_free(&payload);
}

static void add_block(struct vt_buf *out, const struct vti_block_head *h, const void *payload,
		      size_t size)
{
	struct vti_block_head sealed = *h;
	uint8_t head[VTI_BLOCK_SIZE];

	sealed.payload_crc = vti_crc32(0, payload, size);
	vti_block_encode(head, &sealed);
	vt_buf_put(out, head, sizeof(head));
	vt_buf_put(out, payload, size);
}

/* Sizes and counts as large as they can be said to be, with next to nothing behind them. */
static void test_false_claims(void **state)
{
	static const uint32_t claims[] = {1,	     65535,	65536,	    65537,     1u << 20,
					  31u << 20, 40u << 20, 0x7fffffff, 0xffffffff};
	static const uint8_t payloads[][12] = {
		{0},
		{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		{0x04, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		{0x15, 0xff, 0xff, 0xff},
		{0x21, 1, 1, 1, 1},
		{0, 0x80, 0x80, 0x80, 0x10, 0, 7},
	};
	const size_t nclaims = sizeof(claims) / sizeof(claims[0]);
	size_t c, p, z;

	(void)state;
	for (c = 0; c < nclaims * 3; c++) {
		for (p = 0; p < sizeof(payloads) / sizeof(payloads[0]); p++) {
			for (z = 0; z < 3 * 2; z++) {
				struct vti_block_head h = {
					.kind = (uint16_t)(p % 2 ? 1024 : VTI_BLOCK_ORDER),
					.stored_size = sizeof(payloads[p]),
					.raw_size = sizeof(payloads[p]),
					.nrecords = 1,
					.compression = (uint8_t)(z / 2),
					.flags = z & 1,
					.frame = 1,
				};
				struct vt_buf s;
				struct outcome o;

				if (c < nclaims)
					h.nrecords = claims[c];
				else if (c < 2 * nclaims)
					h.raw_size = claims[c - nclaims];
				else
					h.stored_size = claims[c - 2 * nclaims];
				begin_stream(&s, 2, p / 2 == 0 ? "U" : p / 2 == 1 ? "A" : "SB");
				add_block(&s, &h, payloads[p], sizeof(payloads[p]));
				o = read_all(s.data, s.size, 0);
				assert_int_equal(o.code, -VT_E_TRUNC);
				vt_buf_free(&s);
			}
		}
	}
}

/* Peak memory of this process so far, in bytes; 0 where a sanitizer makes that meaningless. */
static size_t peak(void)
{
	struct rusage ru;

#if defined(__SANITIZE_ADDRESS__)
	return 0;
#endif
	getrusage(RUSAGE_SELF, &ru);
	return (size_t)ru.ru_maxrss * 1024;
}

/* Copies a stream as a filter does. */
static void pass_through(int fd)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_ZLIB};
	struct vt_record rec = {0};
	struct vt_error err;
	struct vt_reader *r = vt_reader_open_fd(fd, "test", &err);
	const struct vt_reader *inputs[1] = {r};
	int out = scratch_file();
	struct vt_writer *w;

	assert_non_null(r);
	opt.inputs = inputs;
	opt.ninputs = 1;
	w = vt_writer_open_fd(out, "copy", &opt, &err);
	assert_non_null(w);
	while (vt_reader_next(r, &rec, &err) == 1)
		vt_writer_copy(w, &rec);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	vt_reader_close(r);
	close(out);
}

/*
 * Many kinds, each with one block that is all that a frame may hold; in the second stream they
 * share a frame, and none is good. A reader, and a filter, keep within 256 MB.
 */
static void test_large_blocks_of_many_kinds(void **state)
{
	const size_t n = (size_t)31 << 20;
	const uint16_t nkinds = 12;
	uint8_t *raw = calloc(1, n + 16);
	struct vt_buf packed = VT_BUF_INIT;
	unsigned good, type;
	uint16_t k;

	(void)state;
	assert_non_null(raw);
	/* B: the length, then bytes; A: the length, then a constant; U: 8 bytes each. */
	for (type = 0; type < 2; type++) {
		struct vt_buf column = VT_BUF_INIT;
		struct vti_compressor compressor = {0};

		vt_buf_put_u8(&column, VTI_WIDTH_CONST);
		vt_buf_put_varint(&column, type == 0 ? n : n / 8);
		if (type == 1)
			vt_buf_put(&column, "\4", 1);
		memset(raw, 0, n + 16);
		memcpy(raw, column.data, column.size);
		assert_true(vti_compress(&compressor, &packed, VT_COMPRESS_ZLIB, 1, raw,
					 n + column.size));
		vti_compressor_fini(&compressor);
		for (good = 0; good < 2; good++) {
			int fd = scratch_file();
			struct outcome o;
			struct vt_buf s;

			begin_stream(&s, nkinds, type == 0 ? "B" : "A");
			for (k = 0; k < nkinds; k++) {
				struct vti_block_head h = {
					.stored_size = (uint32_t)packed.size,
					/* One byte more than the column has. */
					.raw_size = (uint32_t)(n + column.size - !good),
					.nrecords = 1,
					.kind = (uint16_t)(1024 + k),
					.compression = VT_COMPRESS_ZLIB,
					.flags = good ? VTI_LAST_OF_FRAME : 0,
					.frame = good ? k + 1u : 1,
					.first_record = good ? k : 0,
				};
				add_block(&s, &h, packed.data, packed.size);
			}
			o = read_all(s.data, s.size, 0);
			assert_int_equal(o.code, -VT_E_TRUNC);
			assert_int_equal(o.records, good ? nkinds : 0);
			assert_int_equal(write(fd, s.data, s.size), s.size);
			lseek(fd, 0, SEEK_SET);
			pass_through(fd);
			close(fd);
			vt_buf_free(&s);
		}
		vt_buf_free(&column);
	}
	vt_buf_free(&packed);
	free(raw);
}

/* An order of nothing but empty runs would take memory without ever reaching a limit. */
static void test_endless_order(void **state)
{
	const size_t n = (size_t)30 << 20;
	uint8_t *raw = malloc(n);
	struct vt_buf packed = VT_BUF_INIT;
	struct vti_compressor compressor = {0};
	struct outcome o;
	struct vt_buf s;
	size_t i;

	(void)state;
	assert_non_null(raw);
	for (i = 0; i < n; i += 3)
		memcpy(raw + i, "\x80\x08\0", n - i < 3 ? n - i : 3);
	assert_true(vti_compress(&compressor, &packed, VT_COMPRESS_ZSTD, 1, raw, n));
	vti_compressor_fini(&compressor);
	begin_stream(&s, 1, "U");
	add_block(&s,
		  &(struct vti_block_head){
			  .stored_size = (uint32_t)packed.size,
			  .raw_size = (uint32_t)n,
			  .kind = VTI_BLOCK_ORDER,
			  .compression = VT_COMPRESS_ZSTD,
			  .frame = 1,
		  },
		  packed.data, packed.size);
	o = read_all(s.data, s.size, 0);
	assert_int_equal(o.code, -VT_E_TRUNC);
	assert_true(o.warnings > 0);
	vt_buf_free(&s);
	vt_buf_free(&packed);
	free(raw);
}

/* Blocks that are bad only behind a column's lengths, in one field after the other of many kinds.
 */
static void test_lengths_without_bytes(void **state)
{
	enum { KINDS = 30, FIELDS = 60 };
	uint8_t payload[2 * (FIELDS + 1)] = {0};
	char types[FIELDS + 1] = {0};
	struct outcome o;
	struct vt_buf s;
	unsigned i;

	(void)state;
	memset(types, 'B', FIELDS);
	begin_stream(&s, KINDS, types);
	for (i = 0; i < KINDS * FIELDS; i++) {
		unsigned field = i / KINDS;
		struct vti_block_head h = {
			.stored_size = 2 * (field + 1),
			.raw_size = 2 * (field + 1),
			.nrecords = VTI_MAX_FRAME_RECORDS,
			.kind = (uint16_t)(1024 + i % KINDS),
			.flags = VTI_LAST_OF_FRAME,
			.frame = i + 1,
		};

		/* A constant each: 0 before the field, 1 in it. */
		memset(payload, 0, sizeof(payload));
		payload[2 * field + 1] = 1;
		add_block(&s, &h, payload, h.raw_size);
	}
	o = read_all(s.data, s.size, 0);
	assert_int_equal(o.code, -VT_E_TRUNC);
	assert_int_equal(o.records, 0);
	vt_buf_free(&s);
}

/* An input that gives at most `piece` bytes at a time, as a pipe may. */
struct pieces {
	const uint8_t *data;
	size_t left;
	size_t piece;
};

static int pull_piece(struct vt_input *in, uint8_t *out, size_t room, size_t *n,
		      struct vt_error *err)
{
	struct pieces *p = in->pull_arg;

	(void)err;
	*n = p->piece < room ? p->piece : room;
	if (*n > p->left)
		*n = p->left;
	memcpy(out, p->data, *n);
	p->data += *n;
	p->left -= *n;
	return 0;
}

/* All bytes behind END are one gap, however many come at a time. */
static void test_bytes_after_end(void **state)
{
	static const size_t sizes[] = {1, 10, 1000003};
	static const size_t pieces[] = {1, 4096, SIZE_MAX};
	struct victim v;
	size_t i;

	(void)state;
	make_victim(&v, VT_COMPRESS_NONE);
	for (i = 0; i < 9; i++) {
		size_t sound = v.stream.size, extra = sizes[i / 3];
		uint8_t *data = calloc(1, sound + extra);
		struct pieces p = {data, sound + extra, pieces[i % 3]};
		struct vt_error err = VT_ERROR_INIT;
		struct vt_input in = {
			.fd = -1, .name = strdup("test"), .pull = pull_piece, .pull_arg = &p};
		struct vt_record rec;
		struct vt_reader *r;
		uint64_t bytes = 0;

		assert_non_null(data);
		memcpy(data, v.stream.data, sound);
		r = vt_reader_open_input(&in, &err);
		assert_non_null(r);
		while (vt_reader_next(r, &rec, &err) == 1) {
			if (rec.kind != VT_GAP)
				continue;
			assert_int_equal(bytes, 0);
			bytes = vt_record_u64(&rec, VT_GAP_BYTES);
			assert_int_equal(vt_record_u64(&rec, VT_GAP_OFFSET), sound);
		}
		assert_int_equal(err.code, VT_OK);
		assert_int_equal(bytes, extra);
		assert_int_equal(vt_reader_damage(r)->bytes, extra);
		assert_int_equal(vt_reader_offset(r), sound + extra);
		vt_reader_close(r);
		free(data);
	}
	vt_buf_free(&v.stream);
}

/* After all that. */
static void test_peak_memory(void **state)
{
	(void)state;
	print_message("# peak: %zu bytes\n", peak());
	assert_true(peak() <= (size_t)256 * 1000 * 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_victims_are_sound),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_every_byte_changed),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_false_claims),
		cmocka_unit_test(test_large_blocks_of_many_kinds),
		cmocka_unit_test(test_endless_order),
		cmocka_unit_test(test_lengths_without_bytes),
		cmocka_unit_test(test_bytes_after_end),
		cmocka_unit_test(test_peak_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
