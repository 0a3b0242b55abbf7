/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/spelling.h"

static void test_every_code_has_a_name(void **state)
{
	int i, j;

	(void)state;
	for (i = 0; i < VT_NERRCODES; i++) {
		assert_non_null(vt_errcode_name(i));
		assert_true(strlen(vt_errcode_name(i)) > 1);
		for (j = 0; j < i; j++)
			assert_string_not_equal(vt_errcode_name(i), vt_errcode_name(j));
	}
	assert_string_equal(vt_errcode_name(VT_NERRCODES), "unknown error");
	assert_string_equal(vt_errcode_name((enum vt_errcode) - 1), "unknown error");
}

static void test_error_set(void **state)
{
	struct vt_error err = VT_ERROR_INIT;

	(void)state;
	assert_int_equal(vt_error_set(&err, VT_E_LIMIT, "%s: %d", "file", 7), -VT_E_LIMIT);
	assert_int_equal(err.code, VT_E_LIMIT);
	assert_string_equal(err.text, "file: 7");
	assert_int_equal(vt_error_prefix(&err, "at 0x%x", 16), -VT_E_LIMIT);
	assert_string_equal(err.text, "at 0x10: file: 7");
	assert_int_equal(vt_error_errno(&err, VT_E_READ, ENOENT, "%s", "x"), -VT_E_READ);
	assert_string_equal(err.text, "x: No such file or directory");
	assert_int_equal(vt_error_errno(&err, VT_E_READ, 99999, "x"), -VT_E_READ);
	assert_true(strlen(err.text) > 3);
}

/* A text that is too long is cut, and always ended. */
static void test_error_is_cut(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	char name[2 * VT_ERROR_SIZE];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	vt_error_set(&err, VT_E_READ, "%s", name);
	assert_int_equal(strlen(err.text), VT_ERROR_SIZE - 1);
	vt_error_prefix(&err, "%s", name);
	assert_int_equal(strlen(err.text), VT_ERROR_SIZE - 1);
	vt_error_errno(&err, VT_E_READ, EIO, "%s", name);
	assert_int_equal(strlen(err.text), VT_ERROR_SIZE - 1);
	/* What still fits stays. */
	vt_error_set(&err, VT_E_READ, "cause");
	vt_error_prefix(&err, "%s", name + sizeof(name) - 1 - 300);
	assert_string_equal(err.text + 300, ": cause");
}

static void check_escape(const char *text, size_t size, const char *want)
{
	struct vt_buf out = VT_BUF_INIT;

	vt_escape(&out, text, size);
	assert_string_equal(vt_buf_str(&out), want);
	vt_buf_free(&out);
}

#define ESCAPES(text, want) check_escape(text, sizeof(text) - 1, want)

static void test_escape_ascii(void **state)
{
	(void)state;
	ESCAPES("", "");
	ESCAPES("plain text ~", "plain text ~");
	ESCAPES("a\nb\tc\\d", "a\\nb\\tc\\\\d");
	ESCAPES("\0\r\x1b[31m\x7f", "\\x00\\x0d\\x1b[31m\\x7f");
}

static void test_escape_utf8(void **state)
{
	(void)state;
	/* The first and last character of each length stay. */
	ESCAPES("\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf");
	ESCAPES("\xe0\xa0\x80\xef\xbf\xbf", "\xe0\xa0\x80\xef\xbf\xbf");
	ESCAPES("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80");
	ESCAPES("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
	/* C1 controls, of which U+009B begins a terminal's commands. */
	ESCAPES("\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");
	/* The controls of direction, and what stands on either side of each range. */
	ESCAPES("\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\xd8\\x9c\xd8\x9d");
	ESCAPES("\xd7\x9c\xe1\x80\xae", "\xd7\x9c\xe1\x80\xae");
	ESCAPES("\xe2\x80\x8d\xe2\x80\x8e", "\xe2\x80\x8d\\xe2\\x80\\x8e");
	ESCAPES("\xe2\x80\x8f\xe2\x80\x90", "\\xe2\\x80\\x8f\xe2\x80\x90");
	ESCAPES("\xe2\x80\xa9\xe2\x80\xaa", "\xe2\x80\xa9\\xe2\\x80\\xaa");
	ESCAPES("\xe2\x80\xae\xe2\x80\xaf", "\\xe2\\x80\\xae\xe2\x80\xaf");
	ESCAPES("\xe2\x81\xa5\xe2\x81\xa6", "\xe2\x81\xa5\\xe2\\x81\\xa6");
	ESCAPES("\xe2\x81\xa9\xe2\x81\xaa", "\\xe2\\x81\\xa9\xe2\x81\xaa");
	ESCAPES("\xe2\x82\xae", "\xe2\x82\xae");
	/* Overlong forms, surrogates, past U+10FFFF, bytes that never occur. */
	ESCAPES("\xc0\xaf\xc1\xbf", "\\xc0\\xaf\\xc1\\xbf");
	ESCAPES("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf");
	ESCAPES("\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf");
	ESCAPES("\xed\xa0\x80", "\\xed\\xa0\\x80");
	ESCAPES("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	ESCAPES("\xf5\xfe\xff", "\\xf5\\xfe\\xff");
	/* Cut short by the end or by another character; a continuation by itself. */
	ESCAPES("\xe2\x82", "\\xe2\\x82");
	ESCAPES("\xf0\x9f\x98", "\\xf0\\x9f\\x98");
	ESCAPES("\xc3(", "\\xc3(");
	ESCAPES("\xe2\x82\xc3\xa9", "\\xe2\\x82\xc3\xa9");
	ESCAPES("\x80z", "\\x80z");
}

/* What lies behind the text does not complete a character of it. */
static void test_escape_ends_where_told(void **state)
{
	(void)state;
	check_escape("\xe2\x82\xac", 2, "\\xe2\\x82");
	check_escape("a\xc3\xa9", 2, "a\\xc3");
	check_escape("abcdefgh\xf0\x9f\x98\x80", 11, "abcdefgh\\xf0\\x9f\\x98");
	check_escape("abc", 2, "ab");
}

/* Whatever the bytes, what comes out is one line of nothing but text. */
static void test_escape_every_pair(void **state)
{
	struct vt_buf out = VT_BUF_INIT;
	unsigned a, b;
	size_t i;

	(void)state;
	for (a = 0; a < 256; a++) {
		for (b = 0; b < 256; b++) {
			uint8_t in[2] = {(uint8_t)a, (uint8_t)b};

			out.size = 0;
			vt_escape(&out, in, 2);
			for (i = 0; i < out.size; i++) {
				assert_true(out.data[i] >= 0x20 && out.data[i] != 0x7f);
				if (out.data[i] >= 0x80)
					assert_true(out.size == 2 && a >= 0xc2 && a < 0xe0);
			}
		}
	}
	out.size = 0;
	vt_escape_str(&out, "a\tb");
	assert_string_equal(vt_buf_str(&out), "a\\tb");
	vt_buf_free(&out);
}

static void test_spelling_distance(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} cases[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ac", 1},
		{"abc", "abxc", 1},
		{"prfo", "prof", 1},
		{"ab", "ba", 1},
		{"abcd", "badc", 2},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
		{"abcdef", "uvwxyz", 6},
	};
	char long_word[66];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(vt_spelling_distance(cases[i].a, cases[i].b, 9),
				 cases[i].distance);
		assert_int_equal(vt_spelling_distance(cases[i].a, cases[i].b, 2),
				 cases[i].distance < 2 ? cases[i].distance : 2);
	}
	memset(long_word, 'x', 65);
	long_word[65] = '\0';
	assert_int_equal(vt_spelling_distance(long_word, long_word, 9), 9);
	assert_int_equal(vt_spelling_distance("x", long_word, 9), 9);
	assert_int_equal(vt_spelling_distance(long_word + 1, long_word + 1, 9), 0);
}

static void test_spelling_nearest(void **state)
{
	static const char *const words[] = {"record", "decode", "encode", "db", "prof"};
	static const struct {
		const char *typed, *best;
	} cases[] = {
		{"recrod", "record"}, {"dcode", "decode"}, {"enccode", "encode"}, {"prf", "prof"},
		{"xxcode", "decode"}, {"xxxode", NULL}, /* 3 of 6 are no slips */
		{"d", NULL},	      {"", NULL},
	};
	size_t i, k;

	(void)state;
	assert_int_equal(vt_spelling_limit(""), 1);
	assert_int_equal(vt_spelling_limit("ab"), 1);
	assert_int_equal(vt_spelling_limit("abc"), 2);
	assert_int_equal(vt_spelling_limit("abcdef"), 3);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_spelling s = vt_spelling_start(cases[i].typed);

		for (k = 0; k < sizeof(words) / sizeof(*words); k++)
			vt_spelling_try(&s, words[k]);
		if (cases[i].best)
			assert_string_equal(s.best, cases[i].best);
		else
			assert_null(s.best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_a_name),
		cmocka_unit_test(test_error_set),
		cmocka_unit_test(test_error_is_cut),
		cmocka_unit_test(test_escape_ascii),
		cmocka_unit_test(test_escape_utf8),
		cmocka_unit_test(test_escape_ends_where_told),
		cmocka_unit_test(test_escape_every_pair),
		cmocka_unit_test(test_spelling_distance),
		cmocka_unit_test(test_spelling_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
