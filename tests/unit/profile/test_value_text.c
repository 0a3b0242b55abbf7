/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How values are written; floats are read back by strtod(). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "profile/value_text.h"

static const struct vt_number_type t_int = {VT_NUMBER_INT, 8, 1, true};
static const struct vt_number_type t_unsigned = {VT_NUMBER_UNSIGNED, 8, 1, false};
static const struct vt_number_type t_signed = {VT_NUMBER_SIGNED, 8, 1, false};
static const struct vt_number_type t_raw = {VT_NUMBER_RAW, 8, 2, false};
static const struct vt_number_type t_address = {VT_NUMBER_ADDRESS, 8, 1, true};
static const struct vt_number_type t_double = {VT_NUMBER_FLOAT, 8, 1, false};
static const struct vt_number_type t_single = {VT_NUMBER_FLOAT, 4, 1, false};
static const struct vt_number_type t_singles = {VT_NUMBER_FLOAT, 4, 4, false};
static const struct vt_number_type t_words = {VT_NUMBER_INT, 4, 4, false};
static const struct vt_number_type t_bytes = {VT_NUMBER_INT, 1, 16, false};
static const struct vt_number_type t_extended = {VT_NUMBER_FLOAT, 10, 1, false};

static const char *text(uint64_t value, unsigned size, struct vt_number_type type,
			enum vt_value_format format)
{
	static char out[200];
	struct vt_value_style style = {.format = format};
	struct vt_buf b = VT_BUF_INIT;

	vt_value_text(&b, value, size, type, &style);
	assert_true(b.size < sizeof(out));
	memcpy(out, vt_buf_str(&b), b.size + 1);
	vt_buf_free(&b);
	return out;
}

#define EXPECT(want, value, size, type, format)                                                    \
	assert_string_equal(text((uint64_t)(value), size, type, format), want)

static void test_integers(void **state)
{
	(void)state;
	EXPECT("0", 0, 8, t_int, VT_VALUE_AUTO);
	EXPECT("999999", 999999, 8, t_int, VT_VALUE_AUTO);
	EXPECT("0xf4240", 1000000, 8, t_int, VT_VALUE_AUTO);
	EXPECT("-1", -1, 8, t_int, VT_VALUE_AUTO);
	EXPECT("-1", 0xffffffff, 4, t_int, VT_VALUE_AUTO);
	EXPECT("-65535", -65535, 8, t_int, VT_VALUE_AUTO);
	EXPECT("0xffffffffffff0000", -65536, 8, t_int, VT_VALUE_AUTO);
	EXPECT("0xffffffff", 0xffffffff, 4, t_unsigned, VT_VALUE_AUTO);
	EXPECT("-2147483648", 0x80000000, 4, t_signed, VT_VALUE_AUTO);
	EXPECT("-9223372036854775808", INT64_MIN, 8, t_signed, VT_VALUE_AUTO);
	/* Upper bytes that do not belong are not looked at. */
	EXPECT("7", 0xffffff0000000007, 4, t_int, VT_VALUE_AUTO);
	EXPECT("'a'", 'a', 1, t_int, VT_VALUE_AUTO);
	EXPECT("'~'", '~', 1, t_int, VT_VALUE_AUTO);
	EXPECT("127", 127, 1, t_int, VT_VALUE_AUTO);
	EXPECT("255", 255, 1, t_int, VT_VALUE_AUTO);
	EXPECT("-1", 255, 1, t_signed, VT_VALUE_AUTO);
	EXPECT("97", 'a', 2, t_int, VT_VALUE_AUTO);
	EXPECT("0x61", 'a', 8, t_address, VT_VALUE_AUTO);
	EXPECT("0", 0, 8, t_address, VT_VALUE_AUTO);
	EXPECT("0x61", 'a', 8, t_raw, VT_VALUE_AUTO);
	/* Sizes that are none. */
	EXPECT("5", 5, 0, t_int, VT_VALUE_AUTO);
	EXPECT("5", 5, 4000000000u, t_int, VT_VALUE_AUTO);
}

static void test_forms(void **state)
{
	(void)state;
	EXPECT("0x0", 0, 8, t_int, VT_VALUE_HEX);
	EXPECT("0xff", -1, 1, t_int, VT_VALUE_HEX);
	EXPECT("255", -1, 1, t_int, VT_VALUE_DEC);
	EXPECT("-1", -1, 2, t_int, VT_VALUE_DEC);
	EXPECT("18446744073709551615", -1, 8, t_unsigned, VT_VALUE_DEC);
	EXPECT("\"ab.d\"", 0x64006261, 4, t_int, VT_VALUE_CHAR);
	EXPECT("'.'", 0x1b, 1, t_int, VT_VALUE_CHAR);
	EXPECT("1.0", 0x3f800000, 4, t_int, VT_VALUE_FLOAT);
	EXPECT("{1.0, -2.5}", 0xc02000003f800000, 8, t_singles, VT_VALUE_FLOAT);
	EXPECT("0x1234", 0x1234, 8, t_int, VT_VALUE_SYMBOL);
	EXPECT("{1.0, -2.5}", 0xc02000003f800000, 8, t_singles, VT_VALUE_AUTO);
	EXPECT("{-1, 70000}", 0x00011170ffffffff, 8, t_words, VT_VALUE_AUTO);
	EXPECT("\"hash map\"", 0x70616d2068736168, 8, t_bytes, VT_VALUE_AUTO);
	EXPECT("0x70616d2068736100", 0x70616d2068736100, 8, t_bytes, VT_VALUE_AUTO);
	EXPECT("0x8000000000000000", 0x8000000000000000, 8, t_extended, VT_VALUE_AUTO);
}

/* Which numbers are packed, and which form is that of letters, floats or signs. */
static void test_bounds(void **state)
{
	static const struct vt_number_type halves = {VT_NUMBER_INT, 2, 4, true};
	static const struct vt_number_type raws = {VT_NUMBER_RAW, 4, 2, false};
	static const struct vt_number_type pair = {VT_NUMBER_FLOAT, 4, 2, false};
	static const struct vt_number_type sizeless = {VT_NUMBER_FLOAT, 0, 2, false};

	(void)state;
	EXPECT("' '", 0x20, 1, t_int, VT_VALUE_AUTO);
	EXPECT("31", 0x1f, 1, t_int, VT_VALUE_AUTO);
	EXPECT("\" ~..\"", 0x1f7f7e20, 4, t_int, VT_VALUE_CHAR);
	EXPECT("32", 0x20, 2, t_int, VT_VALUE_AUTO);
	EXPECT("{1, 2, 3, -4}", 0xfffc000300020001, 8, halves, VT_VALUE_AUTO);
	EXPECT("{1, 2}", 0x20001, 4, halves, VT_VALUE_AUTO);
	EXPECT("1", 1, 2, halves, VT_VALUE_AUTO);
	EXPECT("0xc02000003f800000", 0xc02000003f800000, 8, raws, VT_VALUE_AUTO);
	EXPECT("0x3f800000", 0x3f800000, 4, sizeless, VT_VALUE_AUTO);
	EXPECT("0x3f800000", 0x3f800000, 8, t_single, VT_VALUE_AUTO);
	EXPECT("{1.0, -2.5}", 0xc02000003f800000, 8, pair, VT_VALUE_AUTO);
	EXPECT("{1.0, -2.5}", 0xc02000003f800000, 8, pair, VT_VALUE_FLOAT);
	EXPECT("1.0", 0x3f800000, 4, t_singles, VT_VALUE_FLOAT);
	EXPECT("1.0", 0x3ff0000000000000, 8, t_single, VT_VALUE_FLOAT);
	EXPECT("1.0", 0x3ff0000000000000, 8, t_words, VT_VALUE_FLOAT);
	EXPECT("1.0", 0x3ff0000000000000, 8, t_double, VT_VALUE_FLOAT);
	EXPECT("0x1234", 0x1234, 2, t_int, VT_VALUE_FLOAT);
	EXPECT("-1", 0xff, 1, t_signed, VT_VALUE_DEC);
	EXPECT("-128", 0x80, 1, t_signed, VT_VALUE_DEC);
	EXPECT("127", 0x7f, 1, t_signed, VT_VALUE_DEC);
	EXPECT("-32768", 0x8000, 2, t_int, VT_VALUE_DEC);
	EXPECT("9223372036854775807", INT64_MAX, 8, t_int, VT_VALUE_DEC);
	EXPECT("0", 0, 8, t_int, VT_VALUE_SYMBOL);
}

static void test_floats(void **state)
{
	struct vt_rng rng;
	unsigned i;

	(void)state;
	EXPECT("0.1", 0x3fb999999999999a, 8, t_double, VT_VALUE_AUTO);
	EXPECT("0.0", 0, 8, t_double, VT_VALUE_AUTO);
	EXPECT("-0.0", 0x8000000000000000, 8, t_double, VT_VALUE_AUTO);
	EXPECT("inf", 0x7ff0000000000000, 8, t_double, VT_VALUE_AUTO);
	EXPECT("1e+300", 0x7e37e43c8800759c, 8, t_double, VT_VALUE_AUTO);
	EXPECT("0.1", 0x3dcccccd, 4, t_single, VT_VALUE_AUTO);
	/* A single in a register of 8 bytes. */
	EXPECT("0.1", 0x3dcccccd, 8, t_double, VT_VALUE_AUTO);
	assert_non_null(strstr(text(0x7ff8000000000000, 8, t_double, VT_VALUE_AUTO), "nan"));
	vt_rng_init(&rng, 1);
	for (i = 0; i < 20000; i++) {
		uint64_t bits = vt_rng_next(&rng) | UINT64_C(1) << 62;
		uint32_t low = (uint32_t)bits;
		double d, back;
		float f, fback;
		uint64_t wide;
		uint32_t narrow;

		memcpy(&d, &bits, sizeof(d));
		back = strtod(text(bits, 8, t_double, VT_VALUE_AUTO), NULL);
		memcpy(&wide, &back, sizeof(wide));
		assert_true(isnan(d) ? isnan(back) : wide == bits);
		memcpy(&f, &low, sizeof(f));
		fback = strtof(text(low, 4, t_single, VT_VALUE_AUTO), NULL);
		memcpy(&narrow, &fback, sizeof(narrow));
		assert_true(isnan(f) ? isnan(fback) : narrow == low);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
