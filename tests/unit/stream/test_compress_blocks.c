/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that threads compress: all are written, in order, and large buffers are not kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/compress_blocks_internal.h"

#define BLOCKS 1200

/* What is to be written next. */
struct sink {
	uint32_t n;
	enum vt_compression how;
	struct vti_compressor compressor;
};

/* Payload number n: longer from block to block, and every third cannot be compressed. */
static void make_payload(struct vt_buf *b, uint32_t n)
{
	uint32_t i, state = n + 1;

	b->size = 0;
	for (i = 0; i <= n; i++) {
		state = state * 1664525 + 1013904223;
		vt_buf_put_u8(b, n % 3 ? (uint8_t)n : (uint8_t)(state >> 24));
	}
}

static void take_block(void *arg, const struct vti_outgoing *b)
{
	const struct vt_buf *payload = vti_outgoing_payload(b);
	struct vt_buf want = VT_BUF_INIT, got = VT_BUF_INIT;
	struct sink *s = arg;

	make_payload(&want, s->n);
	assert_int_equal(b->head.kind, s->n % 7);
	assert_int_equal(b->head.nrecords, s->n);
	assert_int_equal(b->head.raw_size, want.size);
	assert_int_equal(b->head.stored_size, payload->size);
	assert_int_equal(b->head.payload_crc, vti_crc32(0, payload->data, payload->size));
	if (b->head.compression == VT_COMPRESS_NONE) {
		assert_int_equal(payload->size, want.size);
		assert_memory_equal(payload->data, want.data, want.size);
	} else {
		assert_int_equal(b->head.compression, s->how);
		assert_true(payload->size < want.size);
		assert_true(vti_decompress(&s->compressor, &got, s->how, payload->data,
					   payload->size, want.size));
		assert_memory_equal(got.data, want.data, want.size);
	}
	/* Long ones of one byte are worth it. */
	if (s->how == VT_COMPRESS_NONE || s->n % 3 == 0)
		assert_int_equal(b->head.compression, VT_COMPRESS_NONE);
	else if (s->n > 100)
		assert_int_equal(b->head.compression, s->how);
	s->n++;
	vt_buf_free(&want);
	vt_buf_free(&got);
}

static void written_in_order(void **state)
{
	static const struct {
		enum vt_compression how;
		unsigned threads, started;
		uint64_t size; /* blocks on their way */
	} rows[] = {
		{VT_COMPRESS_NONE, 0, 0, 1},	 {VT_COMPRESS_NONE, 3, 0, 1},
		{VT_COMPRESS_ZLIB, 0, 0, 1},	 {VT_COMPRESS_ZLIB, 1, 1, 8},
		{VT_COMPRESS_ZSTD, 3, 3, 24},	 {VT_COMPRESS_ZSTD, 63, 63, 504},
		{VT_COMPRESS_ZLIB, 65, 64, 512},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sink s = {.how = rows[i].how};
		struct vt_buf raw = VT_BUF_INIT;
		struct vti_packing p;
		uint32_t n;

		assert_true(vti_packing_init(&p, rows[i].how, 3, rows[i].threads, take_block, &s));
		assert_int_equal(p.nthreads, rows[i].started);
		assert_int_equal(p.size, rows[i].size);
		for (n = 0; n < BLOCKS; n++) {
			const struct vti_block_head head = {.kind = (uint16_t)(n % 7),
							    .nrecords = n};

			make_payload(&raw, n);
			vti_packing_put(&p, &head, &raw);
			assert_int_equal(raw.size, 0);
			/* There is room for the next. */
			assert_true(n + 1 - s.n < p.size);
		}
		vti_packing_finish(&p);
		assert_int_equal(s.n, BLOCKS);
		vti_packing_fini(&p);
		vti_compressor_fini(&s.compressor);
		vt_buf_free(&raw);
	}
}

static void write_nothing(void *arg, const struct vti_outgoing *b)
{
	(void)arg;
	assert_true(b->done);
}

/* A buffer of more than 2 MiB is given back once its block is written. */
static void large_buffers(void **state)
{
	const size_t limit = (size_t)2 << 20;
	const struct vti_block_head head = {0};
	struct vt_buf raw = VT_BUF_INIT;
	struct vti_packing p;
	size_t more;

	(void)state;
	assert_true(vti_packing_init(&p, VT_COMPRESS_NONE, 3, 0, write_nothing, NULL));
	for (more = 0; more < 2; more++) {
		raw = (struct vt_buf){.data = calloc(1, limit + more), .cap = limit + more};
		assert_non_null(raw.data);
		raw.size = 100;
		vti_packing_put(&p, &head, &raw);
		assert_int_equal(p.ring[0].raw.cap, more ? 0 : limit);
		p.ring[0].packed =
			(struct vt_buf){.data = malloc(limit + more), .cap = limit + more};
		vt_buf_free(&raw);
		vti_packing_put(&p, &head, &raw);
		assert_int_equal(p.ring[0].packed.cap, more ? 0 : limit);
		vt_buf_free(&p.ring[0].packed);
		vt_buf_free(&raw);
	}
	vti_packing_fini(&p);
}

/* What is not written when it ends never will be, nor are threads waited for in vain. */
static void ended_early(void **state)
{
	struct sink s = {.how = VT_COMPRESS_ZLIB};
	const struct vti_block_head head = {0};
	struct vt_buf raw = VT_BUF_INIT;
	struct vti_packing none = {0}, p;

	(void)state;
	vti_packing_fini(&none);
	assert_true(vti_packing_init(&p, VT_COMPRESS_ZLIB, 3, 2, take_block, &s));
	make_payload(&raw, 0);
	vti_packing_put(&p, &head, &raw);
	vti_packing_fini(&p);
	assert_true(s.n <= 1);
	vti_compressor_fini(&s.compressor);
	vt_buf_free(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_in_order),
		cmocka_unit_test(large_buffers),
		cmocka_unit_test(ended_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
