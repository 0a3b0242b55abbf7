/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stream/column_internal.h"

#define MAX_VALUES 1000

/*
 * The format page's coding, done the plain way for a predictor and a width that the test picks.
 * Returns false where they cannot code these values.
 */
static bool code_column(struct vt_buf *out, const uint64_t *v, size_t n, unsigned predictor,
			unsigned width)
{
	uint64_t rest[MAX_VALUES];
	uint8_t tags[MAX_VALUES / 4 + 1] = {0};
	size_t m, i, b;

	if (n < predictor)
		return false;
	m = n - predictor;
	for (i = predictor; i < n; i++) {
		uint64_t d = v[i];

		if (predictor >= 1)
			d -= v[i - 1];
		if (predictor == 2)
			d -= v[i - 1] - v[i - 2];
		rest[i - predictor] = predictor ? (d << 1) ^ (0 - (d >> 63)) : d;
	}
	out->size = 0;
	vt_buf_put_u8(out, (uint8_t)(predictor << 4 | width));
	if (predictor >= 1)
		vt_buf_put_varint(out, v[0]);
	if (predictor == 2) {
		uint64_t d = v[1] - v[0];

		vt_buf_put_varint(out, (d << 1) ^ (0 - (d >> 63)));
	}
	for (i = 0; i < m; i++) {
		unsigned tag = rest[i] >> 32 ? 3 : rest[i] >> 16 ? 2 : rest[i] >> 8 ? 1 : 0;

		tags[i / 4] |= (uint8_t)(tag << i % 4 * 2);
	}
	if (width == VTI_WIDTH_MIXED)
		vt_buf_put(out, tags, (m + 3) / 4);
	for (i = 0; i < m; i++) {
		unsigned tag = tags[i / 4] >> i % 4 * 2 & 3;

		if (width != VTI_WIDTH_MIXED && tag > width - 1)
			return false;
		for (b = 0; b < (size_t)1 << (width == VTI_WIDTH_MIXED ? tag : width - 1); b++)
			vt_buf_put_u8(out, (uint8_t)(rest[i] >> 8 * b));
	}
	return true;
}

/* Decodes `size` bytes, exactly so many allocated; -1, or how many bytes the column took. */
static long decode(const uint8_t *coded, size_t size, uint64_t *v, size_t n)
{
	uint8_t *exact = malloc(size ? size : 1);
	uint64_t constant = 0;
	struct vt_cursor c;
	long taken = -1;
	size_t i;
	int r;

	assert_non_null(exact);
	if (size)
		memcpy(exact, coded, size);
	c = vt_cursor_make(exact, size, false);
	r = vti_column_probe(&c, &constant);
	for (i = 0; r == 1 && i < n; i++)
		v[i] = constant;
	if (r == 0)
		r = vti_column_decode(&c, v, n) == 0 ? 1 : -1;
	if (r == 1)
		taken = (long)(size - vt_cursor_left(&c));
	free(exact);
	return taken;
}

/* The whole column comes back, whatever follows it; cut at any byte it is refused. */
static void check_decode(const struct vt_buf *coded, const uint64_t *v, size_t n, bool cuts)
{
	uint64_t back[MAX_VALUES];
	uint8_t *longer = malloc(coded->size + 9);
	size_t cut;

	assert_non_null(longer);
	memset(longer, 0xff, coded->size + 9);
	memcpy(longer, coded->data, coded->size);
	assert_int_equal(decode(coded->data, coded->size, back, n), coded->size);
	assert_memory_equal(back, v, n * sizeof(*v));
	memset(back, 0, n * sizeof(*v));
	assert_int_equal(decode(longer, coded->size + 9, back, n), coded->size);
	assert_memory_equal(back, v, n * sizeof(*v));
	for (cut = 0; cuts && cut < coded->size; cut++)
		assert_int_equal(decode(coded->data, cut, back, n), -1);
	free(longer);
}

/* Ours is right and no longer than any other; any other is read as well. */
static void check_column(const uint64_t *v, size_t n)
{
	struct vt_buf ours = VT_BUF_INIT, other = VT_BUF_INIT;
	unsigned p, width;

	vti_column_encode(&ours, v, n);
	assert_false(ours.failed);
	check_decode(&ours, v, n, n <= 40);
	for (p = 0; n && p < VTI_NPREDICTORS; p++) {
		for (width = VTI_WIDTH_1; width < VTI_NWIDTHS; width++) {
			if (!code_column(&other, v, n, p, width))
				continue;
			/* Start values of up to 10 bytes are not weighed. */
			assert_true(ours.size <= other.size + 20);
			check_decode(&other, v, n, n <= 40);
		}
	}
	vt_buf_free(&ours);
	vt_buf_free(&other);
}

static const uint64_t extremes[] = {
	0,
	1,
	0x7f,
	0x80,
	0xff,
	0x100,
	0xffff,
	0x10000,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	UINT64_C(1) << 32,
	~0u,
	INT64_MAX,
	UINT64_MAX,
	UINT64_MAX - 1,
	UINT64_C(1) << 63,
	UINT64_MAX / 3,
};

#define NEXTREMES (sizeof(extremes) / sizeof(extremes[0]))

static void test_extremes(void **state)
{
	uint64_t v[3] = {0};
	size_t a, b, c;

	(void)state;
	check_column(v, 0);
	for (a = 0; a < NEXTREMES; a++) {
		v[0] = extremes[a];
		check_column(v, 1);
		for (b = 0; b < NEXTREMES; b++) {
			v[1] = extremes[b];
			check_column(v, 2);
			for (c = 0; c < NEXTREMES; c++) {
				v[2] = extremes[c];
				check_column(v, 3);
			}
		}
	}
}

/* Columns of each shape and of lengths around the tag bytes' four. */
static void test_random(void **state)
{
	static const size_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 40, MAX_VALUES};
	uint64_t v[MAX_VALUES];
	struct vt_rng rng;
	unsigned shape, l, bits;
	size_t i;

	(void)state;
	vt_rng_init(&rng, 11);
	for (shape = 0; shape < 4; shape++) {
		for (bits = 1; bits <= 64; bits += bits < 60 ? 7 : 1) {
			for (l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
				for (i = 0; i < lengths[l]; i++) {
					uint64_t x = vt_rng_next(&rng) >> (64 - bits);

					if (vt_rng_below(&rng, 20) == 0)
						x = extremes[vt_rng_below(&rng, NEXTREMES)];
					v[i] = shape == 0 || i == 0 ? x
					       : shape == 1	    ? v[i - 1] + x
					       : shape == 2	    ? v[i - 1] - x
					       : i == 1		    ? x
								    : 2 * v[i - 1] - v[i - 2] + x;
				}
				check_column(v, lengths[l]);
			}
		}
	}
}

/* The predictors do what they are for. */
static void test_sizes(void **state)
{
	uint64_t v[MAX_VALUES];
	struct vt_buf out = VT_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < MAX_VALUES; i++)
		v[i] = UINT64_MAX;
	vti_column_encode(&out, v, MAX_VALUES);
	assert_int_equal(out.size, 11);
	for (i = 0; i < MAX_VALUES; i++)
		v[i] = 0x7f0000000000 + i * 4096;
	out.size = 0;
	vti_column_encode(&out, v, MAX_VALUES);
	assert_true(out.size < MAX_VALUES + 20);
	for (i = 0; i < MAX_VALUES; i++)
		v[i] = i % 10 ? i % 7 : UINT64_MAX / (i + 1);
	out.size = 0;
	vti_column_encode(&out, v, MAX_VALUES);
	assert_true(out.size < MAX_VALUES * 2);
	vt_buf_free(&out);
}

static void test_refused(void **state)
{
	uint64_t v[4] = {0};
	unsigned code;

	(void)state;
	/* Unknown predictors and widths, a predictor for a constant; also with plenty behind. */
	for (code = 0; code < 256; code++) {
		uint8_t coded[64] = {(uint8_t)code};
		bool good = code == 0 || (code >> 4 < 3 && (code & 15) >= 1 && (code & 15) <= 5);

		assert_int_equal(decode(coded, sizeof(coded), v, 4) > 0, good);
	}
	/* A predictor that starts from more values than there are. */
	assert_int_equal(decode((const uint8_t *)"\x21\0\0\0\0", 5, v, 1), -1);
	assert_int_equal(decode((const uint8_t *)"\x11\0\0\0\0", 5, v, 0), -1);
	/* A constant, and a start value, that are no varints. */
	assert_int_equal(
		decode((const uint8_t *)"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, v, 4),
		-1);
	assert_int_equal(
		decode((const uint8_t *)"\x11\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\0\0\0", 14, v,
		       4),
		-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
