/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Print formats evaluated: names of functions, and records that are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tracepoints/printer.h"

static const char fields[] = "name: x\nID: 9\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\n"
			     "\tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\tfield:void * f;\toffset:8;\tsize:8;\tsigned:0;\n"
			     "\tfield:__rel_loc char[] s;\toffset:16;\tsize:4;\tsigned:0;\n";

/* 9, 0, 5, 0x1012, and "ab" behind the fields. */
static const uint8_t record[24] = {9, 0, 0, 0, 5, 0, 0, 0, 0x12, 0x10, 0, 0,
				   0, 0, 0, 0, 0, 0, 3, 0, 'a',	 'b',  0, 0};

static const char *name_function(void *arg, uint64_t *address)
{
	(void)arg;
	if (*address >> 12 != 1)
		return NULL;
	*address = 0x1000;
	return "function";
}

/* What is printed of the first `size` bytes by a format; "refused" if nothing is. */
static const char *print(const char *printfmt, size_t size)
{
	static const struct vt_trace_symbols symbols = {.find = name_function};
	static const struct vt_tracing machine = {.long_size = 8, .page_size = 4096};
	static char text[600], result[200];
	struct vt_buf copy = VT_BUF_INIT, out = VT_BUF_INIT;
	struct vt_bytes all, raw = {record, size};
	struct vt_trace_printer *p;
	struct vt_trace_format f;

	all.size = (size_t)snprintf(text, sizeof(text), "%s\nprint fmt: %s\n", fields, printfmt);
	all.data = (const uint8_t *)text;
	assert_true(vt_trace_format_read(&f, all, 8));
	p = vt_trace_printer_new(&f, all, &machine, &symbols);
	if (!p || !vt_trace_printer_print(p, raw, &copy, &out)) {
		assert_int_equal(out.size, 0);
		vt_buf_put(&out, "refused", 7);
	}
	snprintf(result, sizeof(result), "%s", vt_buf_str(&out));
	vt_trace_printer_free(p);
	vt_trace_format_free(&f);
	vt_buf_free(&copy);
	vt_buf_free(&out);
	return result;
}

static void prints(void **state)
{
	(void)state;
	assert_string_equal(print("\"a=%d s=%s\", REC->a, __get_rel_str(s)", 24), "a=5 s=ab");
	assert_string_equal(print("\"%pS %ps\", REC->f, (void *)REC->f", 24),
			    "function+0x12 function");
	assert_string_equal(print("\"%pS\", (void *)0x2000", 24), "0x2000");
	assert_string_equal(print("\"%d\", REC->common_type", 24), "9");
}

static void refuses_what_is_cut(void **state)
{
	(void)state;
	assert_string_equal(print("\"a=%d\", REC->a", 23), "a=5");
	assert_string_equal(print("\"a=%d\", REC->a", 22), "refused");
	assert_string_equal(print("\"a=%d\", REC->a", 0), "refused");
	assert_string_equal(print("\"%d\", __get_rel_dynamic_array_len(s)", 24), "refused");
	assert_string_equal(print("\"%s\", __print_hex(__get_rel_dynamic_array(s), REC->f)", 24),
			    "refused");
	assert_string_equal(print("\"%s\", __print_hex(__get_rel_dynamic_array(s), 2)", 24),
			    "61 62");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints),
		cmocka_unit_test(refuses_what_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
