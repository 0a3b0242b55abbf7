/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What surrounds Intel PT in a recording: snapshots, buffers, clocks, code of processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/pt/block.h"
#include "formats/pt/sideband/buffers.h"
#include "formats/pt/sideband/jit.h"
#include "formats/pt/sideband/ptinfo.h"
#include "formats/pt/sideband/spaces.h"
#include "stream/kinds.h"
#include "tests/unit/common/onerecord.h"

/* A trace: a PSB with a TSC each 64 bytes, in between short TNT packets. */
static size_t make_trace(uint8_t *out, size_t stretches)
{
	size_t i, k, n = 0;

	for (i = 0; i < stretches; i++) {
		for (k = 0; k < 16; k++)
			out[n++] = k & 1 ? 0x82 : 0x02;
		out[n++] = 0x19;
		for (k = 0; k < 7; k++)
			out[n++] = (uint8_t)((i + 1) * 3 >> 8 * k);
		out[n++] = 0x02;
		out[n++] = 0x23;
		for (k = 0; k < 38; k++)
			out[n++] = 0xaa;
	}
	return n;
}

static void test_overlap(void **state)
{
	uint8_t t[64 * 20];
	size_t n = make_trace(t, 20), size;
	bool joined;

	(void)state;
	assert_int_equal(n, sizeof(t));
	/* The later snapshot begins inside the earlier one, in the middle of a stretch. */
	size = vti_pt_overlap(t, 640, t + 100, n - 100, &joined);
	assert_true(joined);
	assert_int_equal(100 + size, 640);
	/* The same bytes again: nothing is new. */
	assert_int_equal(vti_pt_overlap(t, n, t, n, &joined), n);
	assert_true(joined);
	/* Nothing in common: only what is before the first PSB goes. */
	size = vti_pt_overlap(t, 320, t + 650, n - 650, &joined);
	assert_false(joined);
	assert_int_equal(650 + size, 704);
	/* Nothing of use, or nothing at all. */
	assert_int_equal(vti_pt_overlap(t, n, t + 20, 40, &joined), 40);
	assert_false(joined);
	assert_int_equal(vti_pt_overlap(t, n, t, 0, &joined), 0);
	assert_int_equal(vti_pt_overlap(t, 0, t, n, &joined), 0);
	assert_false(joined);
}

/* The earlier snapshot is padded. */
static void test_overlap_padding(void **state)
{
	uint8_t a[640 + 6] = {0}, b[64 * 20];
	bool joined;

	(void)state;
	make_trace(a, 10);
	make_trace(b, 20);
	assert_int_equal(vti_pt_overlap(a, sizeof(a), b + 64, sizeof(b) - 64, &joined), 640 - 64);
	assert_true(joined);
}

/* Stretches alike, told apart by their times only: those that were at the end are meant. */
static void test_overlap_alike(void **state)
{
	uint8_t t[64 * 20];
	bool joined;
	size_t n = make_trace(t, 20);

	(void)state;
	t[17 + 64 * 19] = t[17 + 64 * 5];
	assert_int_equal(vti_pt_overlap(t, 64 * 8, t + 64 * 5, n - 64 * 5, &joined), 64 * 3);
	assert_true(joined);
}

static void add(struct vt_pt_buffers *b, uint32_t index, uint64_t offset, const uint8_t *bytes,
		size_t size)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_format_auxtrace x = {.index = index,
				       .cpu = (int64_t)index,
				       .tid = -1,
				       .offset = offset,
				       .total = size,
				       .bytes = bytes,
				       .size = size};

	assert_int_equal(vt_pt_buffers_piece(b, &x, &err), 0);
}

/* A piece of a record of an area. */
static void add_piece(struct vt_pt_buffers *b, uint32_t index, uint64_t offset, uint64_t position,
		      const uint8_t *bytes, size_t size, uint64_t reference)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_format_auxtrace x = {.index = index,
				       .offset = offset,
				       .position = position,
				       .reference = reference,
				       .bytes = bytes,
				       .size = size};

	assert_int_equal(vt_pt_buffers_piece(b, &x, &err), 0);
}

static void seal(struct vt_pt_buffers *b, bool snapshot)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_pt_buffers_seal(b, snapshot, &err), 0);
}

/* Of the bytes the first alone, for the rest may be from elsewhere. */
static void check_segment(const struct vt_pt_segment *s, const uint8_t *first, size_t size,
			  uint64_t missing, uint64_t reference)
{
	assert_int_equal(s->size, size);
	assert_int_equal(s->bytes[0], first[0]);
	assert_int_equal(s->missing, missing);
	assert_int_equal(s->reference, reference);
}

/* Pieces of two buffers, by turns, with a hole in one. */
static void test_buffers(void **state)
{
	struct vt_pt_buffers *b = vt_pt_buffers_new("/tmp");
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_pt_queue *q;
	uint8_t t[640];

	(void)state;
	make_trace(t, 10);
	assert_non_null(b);
	add(b, 7, 0, t, 100);
	add(b, 3, 0, t + 300, 50);
	add(b, 7, 100, t + 100, 60);
	add(b, 3, 50, t + 350, 10);
	add(b, 7, 200, t + 200, 40);
	add(b, 3, 60, t, 0);
	assert_int_equal(vt_pt_buffers_seal(b, false, &err), 0);
	assert_int_equal(vt_pt_buffers_count(b), 2);
	q = vt_pt_buffers_queue(b, 0);
	assert_int_equal(q->cpu, 7);
	assert_int_equal(q->end, 240);
	assert_int_equal(q->nsegments, 2);
	assert_int_equal(q->segments[0].size, 160);
	assert_memory_equal(q->segments[0].bytes, t, 160);
	assert_int_equal(q->segments[1].missing, 40);
	assert_int_equal(q->segments[1].size, 40);
	assert_memory_equal(q->segments[1].bytes, t + 200, 40);
	q = vt_pt_buffers_queue(b, 1);
	assert_int_equal(q->nsegments, 1);
	assert_int_equal(q->segments[0].size, 60);
	assert_memory_equal(q->segments[0].bytes, t + 300, 60);
	vt_pt_buffers_free(b);
}

/* Snapshots of a growing trace: what they have in common is there once. */
static void test_buffers_snapshots(void **state)
{
	struct vt_pt_buffers *b = vt_pt_buffers_new("/tmp");
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_pt_queue *q;
	uint8_t t[64 * 40];

	(void)state;
	make_trace(t, 40);
	add(b, 0, 0, t, 640);
	add(b, 0, 0, t + 300, 900);
	add(b, 0, 0, t + 1600, 900);
	assert_int_equal(vt_pt_buffers_seal(b, true, &err), 0);
	q = vt_pt_buffers_queue(b, 0);
	assert_int_equal(q->nsegments, 2);
	assert_int_equal(q->segments[0].size, 1200);
	assert_memory_equal(q->segments[0].bytes, t, 1200);
	assert_true(q->segments[1].apart);
	assert_memory_equal(q->segments[1].bytes, t + 1600, 900);
	vt_pt_buffers_free(b);
}

/* Records that come in pieces, of two areas by turns; what each says of its area. */
static void test_buffers_pieces(void **state)
{
	struct vt_pt_buffers *b = vt_pt_buffers_new("/tmp");
	const struct vt_pt_segment *s;
	uint8_t t[640];

	(void)state;
	make_trace(t, 10);
	add_piece(b, 7, 1000, 0, t, 100, 11);
	add_piece(b, 7, 1000, 100, t + 100, 50, 12);
	add_piece(b, 3, 500, 0, t + 300, 40, 13);
	add_piece(b, 7, 1000, 150, t + 150, 10, 14);
	/* A record that repeats the last 20 bytes of the area, and one behind a hole of one byte.
	 */
	add_piece(b, 7, 1140, 0, t + 140, 20, 15);
	add_piece(b, 7, 1161, 0, t + 161, 5, 16);
	add_piece(b, 7, 1161, 5, t + 166, 4, 17);
	/* Nothing, which has a place all the same; what is behind the end of all numbers. */
	add_piece(b, 9, 77, 0, t, 0, 18);
	add_piece(b, 3, UINT64_MAX - 3, 0, t, 4, 19);
	seal(b, false);
	assert_int_equal(vt_pt_buffers_count(b), 3);
	assert_int_equal(vt_pt_buffers_queue(b, 0)->index, 7);
	assert_int_equal(vt_pt_buffers_queue(b, 0)->end, 1170);
	assert_int_equal(vt_pt_buffers_queue(b, 0)->nsegments, 2);
	s = vt_pt_buffers_queue(b, 0)->segments;
	check_segment(&s[0], t, 160 + 20, 0, 11);
	assert_memory_equal(s[0].bytes, t, 160);
	assert_memory_equal(s[0].bytes + 160, t + 140, 20);
	check_segment(&s[1], t + 161, 9, 1, 16);
	assert_memory_equal(s[1].bytes, t + 161, 9);
	assert_false(s[0].apart || s[1].apart);
	assert_int_equal(vt_pt_buffers_queue(b, 1)->end, 540);
	s = vt_pt_buffers_queue(b, 1)->segments;
	check_segment(&s[0], t + 300, 40, 0, 13);
	assert_int_equal(vt_pt_buffers_queue(b, 2)->index, 9);
	assert_int_equal(vt_pt_buffers_queue(b, 2)->nsegments, 0);
	assert_int_equal(vt_pt_buffers_queue(b, 2)->end, 0);
	vt_pt_buffers_free(b);
	vt_pt_buffers_free(NULL);
}

/* A snapshot that came in pieces is one, whose end the next one repeats. */
static void test_snapshots_in_pieces(void **state)
{
	struct vt_pt_buffers *b = vt_pt_buffers_new("/tmp");
	const struct vt_pt_queue *q;
	uint8_t t[64 * 40];

	(void)state;
	make_trace(t, 40);
	add_piece(b, 0, 0, 0, t, 320, 1);
	add_piece(b, 0, 0, 320, t + 320, 320, 1);
	add_piece(b, 0, 9, 0, t + 128, 64 * 20 - 128, 2);
	add_piece(b, 0, 9, 0, t + 64 * 10, 64 * 15, 2);
	add_piece(b, 0, 9, 0, t + 64 * 30, 64, 3);
	seal(b, true);
	q = vt_pt_buffers_queue(b, 0);
	assert_int_equal(q->nsegments, 2);
	check_segment(&q->segments[0], t, 64 * 25, 0, 1);
	assert_memory_equal(q->segments[0].bytes, t, 64 * 25);
	assert_false(q->segments[0].apart);
	check_segment(&q->segments[1], t + 64 * 30, 64, 0, 3);
	assert_memory_equal(q->segments[1].bytes, t + 64 * 30, 64);
	assert_true(q->segments[1].apart);
	vt_pt_buffers_free(b);
}

/* What lies together as it came is not copied, but what others came between is. */
static void test_buffers_together(void **state)
{
	struct vt_pt_buffers *b = vt_pt_buffers_new("/tmp");
	const struct vt_pt_segment *s[3];
	uint8_t t[640];
	unsigned i;

	(void)state;
	make_trace(t, 10);
	add_piece(b, 7, 0, 0, t, 10, 0);
	add_piece(b, 7, 10, 0, t + 10, 10, 0);
	add_piece(b, 9, 0, 0, t + 100, 10, 0);
	add_piece(b, 3, 0, 0, t + 200, 10, 0);
	add_piece(b, 3, 10, 0, t + 210, 10, 0);
	add_piece(b, 3, 20, 0, t + 220, 10, 0);
	add_piece(b, 9, 10, 0, t + 110, 10, 0);
	seal(b, false);
	for (i = 0; i < 3; i++)
		s[i] = vt_pt_buffers_queue(b, i)->segments;
	assert_int_equal(s[0]->size, 20);
	assert_memory_equal(s[0]->bytes, t, 20);
	assert_memory_equal(s[1]->bytes, t + 100, 20);
	assert_memory_equal(s[2]->bytes, t + 200, 30);
	assert_int_equal((uintptr_t)s[2]->bytes - (uintptr_t)s[0]->bytes, 30);
	assert_int_not_equal((uintptr_t)s[1]->bytes - (uintptr_t)s[0]->bytes, 20);
	vt_pt_buffers_free(b);
}

/* What a record says, and nothing at all. */
static void test_buffers_record(void **state)
{
	const uint64_t v[FIELDS] = {
		[VT_AUXTRACE_INDEX] = 4,     [VT_AUXTRACE_CPU] = UINT64_MAX,
		[VT_AUXTRACE_TID] = 71,	     [VT_AUXTRACE_OFFSET] = 1000,
		[VT_AUXTRACE_POSITION] = 16, [VT_AUXTRACE_REFERENCE] = 99,
	};
	struct vt_pt_buffers *b = vt_pt_buffers_new("/tmp");
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_pt_queue *q;
	struct one_record r;

	(void)state;
	seal(b, true);
	assert_int_equal(vt_pt_buffers_count(b), 0);
	vt_pt_buffers_free(b);
	b = vt_pt_buffers_new("/tmp");
	assert_int_equal(
		vt_pt_buffers_add(b,
				  make_record(&r, VT_AUXTRACE, v,
					      (struct field_bytes){VT_AUXTRACE_DATA, "abc", 3},
					      (struct field_bytes){FIELDS - 1, NULL, 0}),
				  &err),
		0);
	seal(b, false);
	q = vt_pt_buffers_queue(b, 0);
	assert_int_equal(q->index, 4);
	assert_int_equal(q->cpu, -1);
	assert_int_equal(q->tid, 71);
	assert_int_equal(q->end, 1019);
	check_segment(&q->segments[0], (const uint8_t *)"abc", 3, 0, 99);
	vt_pt_buffers_free(b);
}

/* 16 MB are kept in memory; more areas than there can be are refused. */
static void test_buffers_limits(void **state)
{
	static uint8_t t[1 << 20];
	struct vt_pt_buffers *b = vt_pt_buffers_new("/none/at/all");
	struct vt_format_auxtrace p = {.bytes = t, .size = 1};
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	(void)state;
	for (i = 0; i < 16; i++)
		add(b, 0, i * sizeof(t), t, sizeof(t));
	assert_true(vt_pt_buffers_piece(b, &p, &err) < 0);
	vt_pt_buffers_free(b);
	b = vt_pt_buffers_new("/none/at/all");
	for (i = 0; i < VT_PT_MAX_QUEUES; i++)
		add(b, i, 0, t, 0);
	add(b, 5, 0, t, 1);
	p.index = VT_PT_MAX_QUEUES;
	assert_int_equal(vt_pt_buffers_piece(b, &p, &err), -VT_E_LIMIT);
	assert_int_equal(vt_pt_buffers_count(b), VT_PT_MAX_QUEUES);
	vt_pt_buffers_free(b);
}

/* Many bytes go through a file. */
static void test_buffers_large(void **state)
{
	static uint8_t t[1 << 20];
	struct vt_pt_buffers *b = vt_pt_buffers_new("/tmp");
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_pt_queue *q;
	uint64_t i;

	(void)state;
	for (i = 0; i < 24; i++) {
		memset(t, (int)i, sizeof(t));
		add(b, (uint32_t)(i & 1), (i >> 1) * sizeof(t), t, sizeof(t));
	}
	assert_int_equal(vt_pt_buffers_seal(b, false, &err), 0);
	q = vt_pt_buffers_queue(b, 1);
	assert_int_equal(q->nsegments, 1);
	assert_int_equal(q->segments[0].size, 12 * sizeof(t));
	for (i = 0; i < 12; i++) {
		memset(t, (int)(2 * i + 1), sizeof(t));
		assert_memory_equal(q->segments[0].bytes + i * sizeof(t), t, sizeof(t));
	}
	vt_pt_buffers_free(b);
}

/* From time to TSC and back; real conversions, and impossible ones. */
static void test_tsc(void **state)
{
	static const struct vt_pt_timeconv convs[] = {
		{true, 31, 581029125, 18444502336406842448U},
		{true, 31, 0x3c9b26c9, 0xfffffffd0efb8f00},
		{true, 10, 341, 0},
		{true, 0, 1, 5},
		{true, 32, 0xc0000000, 0},
		{true, 33, 0xc0000001, 7},
		{true, 40, 0xffffffff, 0},
		{true, 63, 0x80000001, 0},
	};
	size_t c;
	int i;

	(void)state;
	for (c = 0; c < sizeof(convs) / sizeof(convs[0]); c++) {
		struct vt_rng rng;

		vt_rng_init(&rng, 1);
		for (i = 0; i < 10000; i++) {
			uint64_t tsc = (vt_rng_next(&rng) >> 12) + 2,
				 time = vt_pt_time(&convs[c], tsc);
			uint64_t back = vti_pt_tsc(&convs[c], time);

			assert_true(back <= tsc && back > 0);
			assert_int_equal(vt_pt_time(&convs[c], back), time);
			assert_true(vt_pt_time(&convs[c], back - 1) != time || back == 1);
		}
	}
	assert_int_equal(vti_pt_tsc(&(struct vt_pt_timeconv){true, 63, 1, 0}, UINT64_MAX), 0);
	assert_int_equal(vti_pt_tsc(&(struct vt_pt_timeconv){false, 0, 1, 0}, 5), 0);
	assert_int_equal(vti_pt_tsc(&(struct vt_pt_timeconv){true, 0, 0, 0}, 5), 0);
	assert_int_equal(vti_pt_tsc(&(struct vt_pt_timeconv){true, 0, 1, 5}, 0), 0);
	assert_int_equal(vti_pt_tsc(&(struct vt_pt_timeconv){true, 4, 1, 0}, 1ULL << 60), 0);
	assert_int_equal(vti_pt_tsc(&(struct vt_pt_timeconv){true, 4, 1, 0}, (1ULL << 60) - 1),
			 0xfffffffffffffff0);
}

static void test_jit_names(void **state)
{
	(void)state;
	assert_true(vti_pt_jit_named("/tmp/jit-123.dump"));
	assert_true(vti_pt_jit_named("jit-1.dump"));
	assert_false(vti_pt_jit_named("/tmp/jit-.dump"));
	assert_false(vti_pt_jit_named("/tmp/jit-12.dumps"));
	assert_false(vti_pt_jit_named("/jit-12.dump/x"));
	assert_false(vti_pt_jit_named(""));
}

#define JIT_ADDR 0x1000
#define PID	 5

/* A dump of one function, a return, made at a time in ns or, with the flag, in ticks. */
static void write_dump(FILE *out, uint32_t flags, uint32_t time)
{
	const uint32_t header[10] = {0x4a695444, 1, sizeof(header), 62, 0, PID, 0, 0, flags};
	/* JIT_CODE_LOAD: its size, time, pid and tid, vma, address, bytes of code, index */
	const uint32_t load[14] = {0, 60, time, 0, PID, PID, JIT_ADDR, 0, JIT_ADDR, 0, 2, 0, 1, 0};

	assert_int_equal(fwrite(header, sizeof(header), 1, out), 1);
	assert_int_equal(fwrite(load, sizeof(load), 1, out), 1);
	assert_int_equal(fwrite("f\0\xc3\x90", 4, 1, out), 1);
}

/* The record of the columns that are given. */
static void feed(struct vt_pt_spaces *s, struct vt_pt_files *f, uint32_t kind, const uint64_t *v,
		 const char *path)
{
	const uint32_t off[2] = {0, path ? (uint32_t)strlen(path) : 0};
	struct vt_column columns[16];
	struct vt_block block = {.kind = kind, .nrecords = 1, .ncolumns = 16, .columns = columns};
	struct vt_record rec = {.block = &block, .kind = kind};
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	for (i = 0; i < 16; i++)
		columns[i] = (struct vt_column){v + i, 0, off, (const uint8_t *)path, NULL};
	if (kind == VT_IMAGE) {
		columns[VT_IMAGE_BUILDID].off = (const uint32_t[2]){0, 0};
		assert_int_equal(vt_pt_files_image(f, &rec, &err), 0);
	} else {
		assert_int_equal(vt_pt_spaces_feed(s, &rec, &err), 0);
	}
}

/* Another program of the process has other code where its predecessor had generated some. */
static void test_jit_exec(void **state)
{
	static const struct vt_find_options find = {.symfs = NULL};
	char dir[] = "/tmp/vt-sideband-XXXXXX", dump[64], other[64];
	struct vt_pt_files *files = vt_pt_files_new(&find, NULL, NULL);
	struct vt_pt_spaces *s = vt_pt_spaces_new(files, NULL, NULL, NULL, false);
	uint64_t generation;
	struct vt_pt_blocks *blocks = vt_pt_blocks_new(vt_pt_spaces_code(s, PID, &generation));
	uint32_t a, b;
	FILE *out;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(dump, sizeof(dump), "%s/jit-%d.dump", dir, PID);
	snprintf(other, sizeof(other), "%s/other", dir);
	out = fopen(dump, "wb");
	assert_non_null(out);
	write_dump(out, 0, 0);
	assert_int_equal(fclose(out), 0);
	out = fopen(other, "wb");
	assert_non_null(out);
	assert_int_equal(fwrite("\x90\x90\xc3\x90", 4, 1, out), 1);
	assert_int_equal(fclose(out), 0);
	feed(s, files, VT_IMAGE, (uint64_t[16]){[VT_IMAGE_ID] = 1}, dump);
	feed(s, files, VT_IMAGE, (uint64_t[16]){[VT_IMAGE_ID] = 2}, other);
	feed(s, files, VT_MAP,
	     (uint64_t[16]){[VT_MAP_PID] = PID,
			    [VT_MAP_START] = 0x100000,
			    [VT_MAP_LENGTH] = 4096,
			    [VT_MAP_IMAGE] = 1,
			    [VT_MAP_PROT] = 5},
	     NULL);
	vt_pt_spaces_jit_time(s, 1);
	assert_non_null(vt_pt_spaces_code(s, PID, &generation));
	assert_int_equal(vt_pt_blocks_at(blocks, JIT_ADDR, 64, &a), 0);
	assert_int_equal(vt_pt_blocks_get(blocks, a)->insns, 1);
	feed(s, files, VT_THREAD,
	     (uint64_t[16]){[VT_THREAD_PID] = PID, [VT_THREAD_OP] = VT_OP_EXEC}, "");
	feed(s, files, VT_MAP,
	     (uint64_t[16]){[VT_MAP_PID] = PID,
			    [VT_MAP_START] = JIT_ADDR,
			    [VT_MAP_LENGTH] = 4096,
			    [VT_MAP_IMAGE] = 2,
			    [VT_MAP_PROT] = 5},
	     NULL);
	assert_int_equal(vt_pt_blocks_at(blocks, JIT_ADDR, 64, &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(vt_pt_blocks_get(blocks, b)->insns, 3);
	assert_int_equal(vt_pt_block_code(blocks, vt_pt_blocks_get(blocks, a))[0], 0xc3);
	unlink(dump);
	unlink(other);
	rmdir(dir);
	vt_pt_blocks_free(blocks);
	vt_pt_spaces_free(s);
	vt_pt_files_free(files);
}

/* Whether code that a dump tells of is there at a time; two ticks are a nanosecond. */
static bool is_there_at(uint64_t now, const struct vt_pt_timeconv *conv, uint32_t flags,
			uint32_t time)
{
	static const struct vt_find_options find = {.symfs = NULL};
	char dir[] = "/tmp/vt-sideband-XXXXXX", dump[64];
	struct vt_pt_files *files = vt_pt_files_new(&find, NULL, NULL);
	struct vt_pt_spaces *s = vt_pt_spaces_new(files, NULL, NULL, conv, true);
	struct vt_pt_blocks *blocks;
	uint64_t generation;
	uint32_t block;
	bool there;
	FILE *out;

	assert_non_null(mkdtemp(dir));
	snprintf(dump, sizeof(dump), "%s/jit-%d.dump", dir, PID);
	out = fopen(dump, "wb");
	assert_non_null(out);
	write_dump(out, flags, time);
	assert_int_equal(fclose(out), 0);
	feed(s, files, VT_IMAGE, (uint64_t[16]){[VT_IMAGE_ID] = 1}, dump);
	feed(s, files, VT_MAP,
	     (uint64_t[16]){[VT_MAP_PID] = PID,
			    [VT_MAP_START] = 0x100000,
			    [VT_MAP_LENGTH] = 4096,
			    [VT_MAP_IMAGE] = 1,
			    [VT_MAP_PROT] = 5},
	     NULL);
	vt_pt_spaces_jit_time(s, now);
	blocks = vt_pt_blocks_new(vt_pt_spaces_code(s, PID, &generation));
	assert_int_equal(vt_pt_blocks_at(blocks, JIT_ADDR, 64, &block), 0);
	there = vt_pt_blocks_get(blocks, block)->insns == 1;
	unlink(dump);
	rmdir(dir);
	vt_pt_blocks_free(blocks);
	vt_pt_spaces_free(s);
	vt_pt_files_free(files);
	return there;
}

static bool is_there(const struct vt_pt_timeconv *conv, uint32_t flags, uint32_t time)
{
	return is_there_at(1000, conv, flags, time);
}

static void test_jit_ticks(void **state)
{
	const struct vt_pt_timeconv conv = {.known = true, .shift = 1, .mult = 1};

	(void)state;
	assert_true(is_there(&conv, 0, 1000));
	assert_false(is_there(&conv, 0, 1001));
	assert_true(is_there(&conv, 1, 2001));
	assert_false(is_there(&conv, 1, 2002));
	/* Other flags say nothing of the time; ticks without a conversion are there from the start.
	 */
	assert_false(is_there(&conv, 2, 1001));
	assert_true(is_there(NULL, 1, 2002));
	assert_true(is_there_at(0, NULL, 1, 2002));
	assert_false(is_there_at(0, NULL, 0, 1));
	assert_false(is_there(NULL, 0, 1001));
}

static void feed_map(struct vt_pt_spaces *s, struct vt_pt_files *f, uint64_t page, uint64_t pages,
		     uint64_t prot)
{
	feed(s, f, VT_MAP,
	     (uint64_t[16]){[VT_MAP_PID] = PID,
			    [VT_MAP_START] = 0x100000 + page * 4096,
			    [VT_MAP_LENGTH] = pages * 4096,
			    [VT_MAP_OFFSET] = page * 4096,
			    [VT_MAP_IMAGE] = 1,
			    [VT_MAP_PROT] = prot},
	     NULL);
}

/* Which of three pages have code that is known: bit i for page i. */
static unsigned known_pages(struct vt_pt_spaces *s)
{
	uint64_t generation;
	const struct vt_pt_code *code = vt_pt_spaces_code(s, PID, &generation);
	unsigned i, known = 0;
	size_t size;

	for (i = 0; i < 3; i++)
		if (vt_pt_code_at(code, 0x100000 + i * 4096, &size))
			known |= 1u << i;
	return known;
}

/* Pages that a program could write to have no code, whether its space was asked for before or not.
 */
static void test_patched_pages(void **state)
{
	static const struct vt_find_options find = {.symfs = NULL};
	char path[] = "/tmp/vt-sideband-XXXXXX", bytes[3 * 4096] = {0};
	struct vt_pt_files *files;
	struct vt_pt_spaces *s;
	unsigned asked;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	for (asked = 0; asked < 2; asked++) {
		files = vt_pt_files_new(&find, NULL, NULL);
		s = vt_pt_spaces_new(files, NULL, NULL, NULL, false);
		feed(s, files, VT_IMAGE, (uint64_t[16]){[VT_IMAGE_ID] = 1}, path);
		feed_map(s, files, 0, 3, 5);
		if (asked)
			assert_int_equal(known_pages(s), 7);
		feed_map(s, files, 1, 1, 7);
		if (asked)
			assert_int_equal(known_pages(s), 5);
		feed_map(s, files, 0, 3, 5);
		assert_int_equal(known_pages(s), 5);
		vt_pt_spaces_free(s);
		vt_pt_files_free(files);
	}
	unlink(path);
}

/* A new program has none of the mappings of the one before that nobody had asked for yet. */
static void test_exec_maps(void **state)
{
	static const struct vt_find_options find = {.symfs = NULL};
	char path[] = "/tmp/vt-sideband-XXXXXX", bytes[3 * 4096] = {0};
	struct vt_pt_files *files = vt_pt_files_new(&find, NULL, NULL);
	struct vt_pt_spaces *s = vt_pt_spaces_new(files, NULL, NULL, NULL, false);
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	feed(s, files, VT_IMAGE, (uint64_t[16]){[VT_IMAGE_ID] = 1}, path);
	/* Nobody knows the process. */
	feed(s, files, VT_THREAD,
	     (uint64_t[16]){[VT_THREAD_PID] = PID, [VT_THREAD_OP] = VT_OP_EXEC}, "");
	feed_map(s, files, 0, 1, 5);
	feed(s, files, VT_THREAD,
	     (uint64_t[16]){[VT_THREAD_PID] = PID, [VT_THREAD_OP] = VT_OP_EXEC}, "");
	feed_map(s, files, 2, 1, 5);
	assert_int_equal(known_pages(s), 4);
	feed(s, files, VT_THREAD,
	     (uint64_t[16]){[VT_THREAD_PID] = PID, [VT_THREAD_OP] = VT_OP_EXEC}, "");
	feed_map(s, files, 1, 1, 5);
	assert_int_equal(known_pages(s), 2);
	/* Another thread, or its end, changes no code. */
	feed(s, files, VT_THREAD,
	     (uint64_t[16]){[VT_THREAD_PID] = PID, [VT_THREAD_OP] = VT_OP_EXIT}, "");
	assert_int_equal(known_pages(s), 2);
	unlink(path);
	vt_pt_spaces_free(s);
	vt_pt_files_free(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_overlap_padding),
		cmocka_unit_test(test_overlap_alike),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_buffers_snapshots),
		cmocka_unit_test(test_buffers_large),
		cmocka_unit_test(test_buffers_pieces),
		cmocka_unit_test(test_snapshots_in_pieces),
		cmocka_unit_test(test_buffers_record),
		cmocka_unit_test(test_buffers_together),
		cmocka_unit_test(test_buffers_limits),
		cmocka_unit_test(test_tsc),
		cmocka_unit_test(test_jit_names),
		cmocka_unit_test(test_jit_exec),
		cmocka_unit_test(test_jit_ticks),
		cmocka_unit_test(test_patched_pages),
		cmocka_unit_test(test_exec_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
