/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"

static void test_fixed_width(void **state)
{
	static const uint8_t in[] = {0xf1, 0xe2, 0xd3, 0xc4, 0xb5, 0xa6, 0x97, 0x88};
	uint8_t out[8];

	(void)state;
	assert_int_equal(vt_le16(in), 0xe2f1);
	assert_int_equal(vt_be16(in), 0xf1e2);
	assert_int_equal(vt_le32(in), 0xc4d3e2f1);
	assert_int_equal(vt_be32(in), 0xf1e2d3c4);
	assert_int_equal(vt_le64(in), 0x8897a6b5c4d3e2f1);
	assert_int_equal(vt_be64(in), 0xf1e2d3c4b5a69788);
	vt_put_le16(out, 0xe2f1);
	assert_memory_equal(out, in, 2);
	vt_put_le32(out, 0xc4d3e2f1);
	assert_memory_equal(out, in, 4);
	vt_put_le64(out, 0x8897a6b5c4d3e2f1);
	assert_memory_equal(out, in, 8);
}

static void test_zigzag(void **state)
{
	static const int64_t numbers[] = {0, -1, 1, -2, 2, INT64_MAX, INT64_MIN};
	static const uint64_t codes[] = {0, 1, 2, 3, 4, UINT64_MAX - 1, UINT64_MAX};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		assert_int_equal(vt_zigzag((uint64_t)numbers[i]), codes[i]);
		assert_int_equal(vt_unzigzag(codes[i]), (uint64_t)numbers[i]);
	}
}

/* Reads within what is there succeed to the last byte; one byte more fails for good. */
static void test_cursor_bounds(void **state)
{
	static const uint8_t in[15] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	size_t size;

	(void)state;
	for (size = 0; size <= sizeof(in); size++) {
		uint8_t *exact = malloc(size ? size : 1);
		struct vt_cursor c;

		assert_non_null(exact);
		memcpy(exact, in, size);
		c = vt_cursor_make(exact, size, false);
		assert_int_equal(vt_cursor_u8(&c), size >= 1 ? 1 : 0);
		assert_int_equal(vt_cursor_u16(&c), size >= 3 ? 0x0302 : 0);
		assert_int_equal(vt_cursor_u32(&c), size >= 7 ? 0x07060504 : 0);
		assert_int_equal(vt_cursor_u64(&c), size >= 15 ? 0x0f0e0d0c0b0a0908 : 0);
		assert_int_equal(c.bad, size < 15);
		assert_int_equal(vt_cursor_left(&c), 0);
		/* Nothing at all can be taken from the end; nothing more than that. */
		assert_non_null(vt_cursor_take(&c, 0));
		assert_null(vt_cursor_take(&c, 1));
		assert_true(c.bad);
		free(exact);
	}
}

static void test_cursor_bad_sticks(void **state)
{
	static const uint8_t in[4] = {1, 2, 3, 4};
	struct vt_cursor c = vt_cursor_make(in, sizeof(in), true);

	(void)state;
	assert_int_equal(vt_cursor_u16(&c), 0x0102);
	assert_null(vt_cursor_take(&c, UINT64_MAX));
	assert_true(c.bad);
	assert_int_equal(vt_cursor_left(&c), 0);
	assert_int_equal(vt_cursor_u8(&c), 0);
	assert_int_equal(vt_cursor_varint(&c), 0);
	assert_true(c.bad);
}

static void test_cursor_big(void **state)
{
	static const uint8_t in[14] = {0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3};
	struct vt_cursor c = vt_cursor_make(in, sizeof(in), true);

	(void)state;
	assert_int_equal(vt_cursor_u16(&c), 1);
	assert_int_equal(vt_cursor_u32(&c), 2);
	assert_int_equal(vt_cursor_u64(&c), 3);
	assert_false(c.bad);
}

static uint64_t varint(const char *bytes, size_t size, bool *bad)
{
	struct vt_cursor c = vt_cursor_make(bytes, size, false);
	uint64_t v = vt_cursor_varint(&c);

	*bad = c.bad;
	return v;
}

static void test_varint_limits(void **state)
{
	bool bad;

	(void)state;
	assert_int_equal(varint("\x7f", 1, &bad), 0x7f);
	assert_false(bad);
	assert_int_equal(varint("\x80\x01", 2, &bad), 0x80);
	assert_false(bad);
	/* Longer than need be, but within ten bytes. */
	assert_int_equal(varint("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, &bad), 1);
	assert_false(bad);
	assert_int_equal(varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, &bad), UINT64_MAX);
	assert_false(bad);
	/* A bit past the 64th, an eleventh byte, an end too early. */
	assert_int_equal(varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, &bad), 0);
	assert_true(bad);
	assert_int_equal(varint("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, &bad), 0);
	assert_true(bad);
	assert_int_equal(varint("\x80\x80", 2, &bad), 0);
	assert_true(bad);
	assert_int_equal(varint("", 0, &bad), 0);
	assert_true(bad);
}

static void test_varint_round_trip(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_cursor c;
	unsigned bit;

	(void)state;
	for (bit = 0; bit < 64; bit++) {
		vt_buf_put_varint(&b, (UINT64_C(1) << bit) - 1);
		vt_buf_put_varint(&b, UINT64_C(1) << bit);
	}
	c = vt_cursor_make(b.data, b.size, false);
	for (bit = 0; bit < 64; bit++) {
		assert_int_equal(vt_cursor_varint(&c), (UINT64_C(1) << bit) - 1);
		assert_int_equal(vt_cursor_varint(&c), UINT64_C(1) << bit);
	}
	assert_int_equal(vt_cursor_left(&c), 0);
	vt_buf_free(&b);
}

static void test_buf(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	uint32_t i;

	(void)state;
	/* An empty buffer, too, has a place to point to. */
	assert_non_null(vt_buf_reserve(&b, 0));
	vt_buf_free(&b);
	assert_string_equal(vt_buf_str(&b), "");
	vt_buf_put(&b, NULL, 0);
	assert_int_equal(b.size, 0);
	vt_buf_put_u8(&b, 'x');
	vt_buf_put_le32(&b, 0x64636261);
	vt_buf_put_le64(&b, 0x6c6b6a6968676665);
	vt_buf_put_block(&b, "mno", 3);
	assert_int_equal(b.size, 17);
	assert_string_equal(vt_buf_str(&b), "xabcdefghijkl\x03mno");
	b.size = 0;
	for (i = 0; i < 20000; i++)
		vt_buf_printf(&b, "%u,", i);
	assert_false(b.failed);
	assert_int_equal(b.size, 10 * 2 + 90 * 3 + 900 * 4 + 9000 * 5 + 10000 * 6);
	assert_memory_equal(b.data + b.size - 12, "19998,19999,", 12);
	vt_buf_free(&b);
	assert_null(b.data);
}

/* Want of memory: told, sticky, and what was there stays. */
static void test_buf_failure(void **state)
{
	struct vt_buf b = VT_BUF_INIT;

	(void)state;
	vt_buf_put(&b, "kept", 4);
	assert_null(vt_buf_reserve(&b, SIZE_MAX - 2));
	assert_true(b.failed);
	vt_buf_put(&b, "lost", 4);
	assert_null(vt_buf_reserve(&b, 1));
	assert_string_equal(vt_buf_str(&b), "");
	assert_int_equal(b.size, 4);
	assert_memory_equal(b.data, "kept", 4);
	vt_buf_free(&b);
}

static void test_array_grow(void **state)
{
	uint64_t *a = NULL, *before;
	size_t cap = 0, i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_true(vt_array_grow(&a, &cap, i + 1, sizeof(*a)));
		assert_true(cap > i);
		a[i] = i;
	}
	before = a;
	i = cap;
	assert_false(vt_array_grow(&a, &cap, SIZE_MAX, sizeof(*a)));
	assert_false(vt_array_grow(&a, &cap, SIZE_MAX / 8 + 1, sizeof(*a)));
	assert_ptr_equal(a, before);
	assert_int_equal(cap, i);
	for (i = 0; i < 1000; i++)
		assert_int_equal(a[i], i);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_width),	  cmocka_unit_test(test_zigzag),
		cmocka_unit_test(test_cursor_bounds),	  cmocka_unit_test(test_cursor_bad_sticks),
		cmocka_unit_test(test_cursor_big),	  cmocka_unit_test(test_varint_limits),
		cmocka_unit_test(test_varint_round_trip), cmocka_unit_test(test_buf),
		cmocka_unit_test(test_buf_failure),	  cmocka_unit_test(test_array_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
