/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What surrounds Intel PT in a recording: snapshots, buffers, clocks, code of processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/pt/buffers.h"
#include "formats/pt/jit.h"
#include "formats/pt/overlap.h"
#include "formats/pt/ptinfo.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_overlap_padding),
		cmocka_unit_test(test_overlap_alike),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_buffers_snapshots),
		cmocka_unit_test(test_buffers_large),
		cmocka_unit_test(test_tsc),
		cmocka_unit_test(test_jit_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
