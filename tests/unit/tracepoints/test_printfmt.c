/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which print formats are safe to evaluate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "tracepoints/printfmt.h"

static const char fields[] = "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
			     "\tfield:char c[16];\toffset:12;\tsize:16;\tsigned:0;\n"
			     "\tfield:__data_loc char[] s;\toffset:28;\tsize:4;\tsigned:0;\n";

static bool is_safe(const char *printfmt)
{
	struct vt_bytes text = {(const uint8_t *)fields, sizeof(fields) - 1};
	struct vt_bytes bytes = {(const uint8_t *)printfmt, strlen(printfmt)};
	struct vt_trace_format f;
	bool safe;

	assert_true(vt_trace_format_read(&f, text, 8));
	safe = vt_printfmt_is_safe(bytes, &f);
	vt_trace_format_free(&f);
	return safe;
}

static void accepts_the_kernels(void **state)
{
	static const char *const cases[] = {
		"\"\"",
		"\"a=%d\", REC->a",
		"\"a\" \"=%08lx %-5d %i %#x %.3s%%\\n\", REC->a, 1, 2, 3, REC->c",
		"\"%d\", REC->c[3] + (unsigned long)REC->a * -1UL",
		"\"%s\", REC->a ? \"x\" : __print_symbolic(REC->a, {0, \"HI\"}, {(1 << 3), \"B\"})",
		"\"%s\", __print_flags(REC->a & (((0x1 | 2) + 1) << 1), \"|\", {-1, ((void *)0)})",
		"\"%s\", __print_flags(REC->a, \"\", { 1, \"S\" }, { -1, 0 })",
		"\"%p\", ((struct page *)vmemmap_base) + (REC->a)",
		"\"%s %d\", __get_str(s), __get_dynamic_array_len(s) / sizeof(u64)",
		"\"%s %s\", __print_hex(REC->c, 16), __print_array(__get_dynamic_array(s), 3, 1)",
		"\"%.*s\", (int)REC->a, __get_str(s)",
		"\"%d\", !!(REC->a & 1) ? 'R' : '-'",
		"\"%d\", REC->a / 1000, REC->a",
		"\"a\n\tb\"",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!is_safe(cases[i]))
			fail_msg("refused: %s", cases[i]);
}

static void refuses_what_is_not_sure(void **state)
{
	static const char *const cases[] = {
		"",
		"a",
		"\"",
		"\"a",
		"\"a\\",
		"\"\x01\"",
		"\"a\" b",
		"\"%d\"",
		"\"%d %d\", REC->a",
		"\"%n\", REC->a",
		"\"%c\", REC->a",
		"\"%+d\", REC->a",
		"\"%ls\", REC->c",
		"\"%lc\", REC->a",
		"\"%*d\", 3, REC->a",
		"\"%*s\", 3, REC->c",
		"\"%.*d\", 3, REC->a",
		"\"%.*s\", __get_str(s)",
		"\"%9999d\", REC->a",
		"\"%.9999d\", REC->a",
		"\"%hhhd\", REC->a",
		"\"%\", REC->a",
		"\"%d\", REC->b",
		"\"%d\", REC->",
		"\"%d\", REC",
		"\"%d\", REC->a / REC->a",
		"\"%d\", REC->a / 0",
		"\"%d\", REC->a % (1 - 1)",
		"\"%d\", REC->a / 5 - 5",
		"\"%d\", REC->a / 0x",
		"\"%d\", REC->a / sizeof(x)",
		"\"%d\", REC->a / sizeof(u8) - 1",
		"\"%d\", REC->c[REC->a]",
		"\"%d\", REC->c[10000]",
		"\"%d\", REC->c[-1]",
		"\"%d\", *REC->c",
		"\"%d\", &REC->c",
		"\"%d\", --1",
		"\"%d\", REC->a ? 1",
		"\"%d\", (REC->a",
		"\"%d\", REC->a)",
		"\"%d\", 1 2",
		"\"%d\", 12x",
		"\"%d\", ,",
		"\"%d\", 'a",
		"\"%d\", '\\'",
		"\"%s\", __get_str(a)",
		"\"%s\", __get_str(x)",
		"\"%s\", __get_bitmask(c)",
		"\"%p\", __get_dynamic_array(s)",
		"\"%s\", __print_hex(3, 4)",
		"\"%s\", __print_hex(REC->c)",
		"\"%s\", __print_array(REC->c, 1)",
		"\"%s\", __print_flags(REC->a, 1, { 1, \"S\" })",
		"\"%s\", __print_symbolic(REC->a, { 1 / 0, \"S\" })",
		"\"%s\", __print_symbolic(REC->a, { 1, 5 })",
		"\"%s\", __print_symbolic(REC->a, { 1, ((int *)0) })",
		"\"%s\", system(1)",
		"\"%d\", ({ int x; })",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (is_safe(cases[i]))
			fail_msg("accepted: %s", cases[i]);
	}
}

/* "%d", and `before` n times, 1, and `after` n times. */
static bool is_safe_many(const char *before, const char *after, unsigned n)
{
	struct vt_buf b = VT_BUF_INIT;
	bool safe;
	unsigned i;

	vt_buf_printf(&b, "\"%%d\", ");
	for (i = 0; i < n; i++)
		vt_buf_printf(&b, "%s", before);
	vt_buf_put_u8(&b, '1');
	for (i = 0; i < n; i++)
		vt_buf_printf(&b, "%s", after);
	safe = is_safe(vt_buf_str(&b));
	vt_buf_free(&b);
	return safe;
}

static void bounds_what_it_nests(void **state)
{
	(void)state;
	assert_true(is_safe_many("(", ")", 99));
	assert_false(is_safe_many("(", ")", 100));
	assert_true(is_safe_many("(u64)(", ")", 66));
	assert_false(is_safe_many("(u64)(", ")", 70000));
	assert_true(is_safe_many("1 + ", "", 64));
	assert_false(is_safe_many("1 + ", "", 65));
	assert_true(is_safe_many("1 ? 2 : ", "", 199));
	assert_false(is_safe_many("1 ? 2 : ", "", 200));
	assert_false(is_safe_many("(int)", "", 201));
	assert_true(is_safe_many("", " ", 65536 - 7));
	assert_false(is_safe_many("", " ", 65536 - 6));
}

static void finds_the_print_format(void **state)
{
	static const char text[] = "name: x\nprint fmt: \"a\", 1\n\n";
	struct vt_bytes all = {(const uint8_t *)text, sizeof(text) - 1}, found;

	(void)state;
	found = vt_printfmt_of(all);
	assert_int_equal(found.size, 7);
	assert_memory_equal(found.data, " \"a\", 1", 7);
	all.size = 17;
	assert_int_equal(vt_printfmt_of(all).size, 0);
	all.size = 0;
	assert_int_equal(vt_printfmt_of(all).size, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_the_kernels),
		cmocka_unit_test(refuses_what_is_not_sure),
		cmocka_unit_test(bounds_what_it_nests),
		cmocka_unit_test(finds_the_print_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
