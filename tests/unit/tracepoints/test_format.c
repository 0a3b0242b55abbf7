/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of format files, and where they lie in a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tracepoints/container.h"
#include "tracepoints/format.h"

static struct vt_bytes bytes_of(const char *text)
{
	struct vt_bytes b = {(const uint8_t *)text, strlen(text)};

	return b;
}

static void reads_declarations(void **state)
{
	static const struct {
		const char *line, *name;
		uint32_t element;
		enum vt_field_place place;
		bool array, text, is_signed;
	} cases[] = {
		{"int pid;\toffset:8;\tsize:4;\tsigned:1;", "pid", 4, VT_FIELD_FIXED, 0, 0, 1},
		{"const char * p;\toffset:8;\tsize:8;\tsigned:0;", "p", 8, VT_FIELD_FIXED, 0, 0, 0},
		{"char comm[16];\toffset:8;\tsize:16;\tsigned:0;", "comm", 1, VT_FIELD_FIXED, 1, 1,
		 0},
		{"char comm[TASK];\toffset:8;\tsize:16;\tsigned:0;", "comm", 1, VT_FIELD_FIXED, 1,
		 1, 0},
		{"unsigned char a[6];\toffset:8;\tsize:6;\tsigned:0;", "a", 1, VT_FIELD_FIXED, 1, 0,
		 0},
		{"struct s a[3];\toffset:8;\tsize:12;\tsigned:0;", "a", 4, VT_FIELD_FIXED, 1, 0, 0},
		{"struct s a[5];\toffset:8;\tsize:12;\tsigned:0;", "a", 0, VT_FIELD_FIXED, 1, 0, 0},
		{"struct s a[0];\toffset:8;\tsize:12;\tsigned:0;", "a", 0, VT_FIELD_FIXED, 1, 0, 0},
		{"unsigned long a[N];\toffset:8;\tsize:12;", "a", 4, VT_FIELD_FIXED, 1, 0, 0},
		{"__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:1;", "s", 1, VT_FIELD_DATA_LOC,
		 1, 1, 1},
		{"__rel_loc u16[] s;\toffset:8;\tsize:4;\tsigned:0;", "s", 2, VT_FIELD_REL_LOC, 1,
		 0, 0},
		{"__data_loc cpumask_t[] s;\toffset:8;\tsize:4;", "s", 4, VT_FIELD_DATA_LOC, 1, 0,
		 0},
		{"__data_loc __u64[] s;\toffset:8;\tsize:4;", "s", 8, VT_FIELD_DATA_LOC, 1, 0, 0},
		{"__data_loc char *[] s;\toffset:8;\tsize:4;", "s", 4, VT_FIELD_DATA_LOC, 1, 0, 0},
		{"__data_loc x[] s;\toffset:8;\tsize:4;", "s", 0, VT_FIELD_DATA_LOC, 1, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_trace_format f;
		char text[200];

		snprintf(text, sizeof(text), "format:\n\tfield:%s\n", cases[i].line);
		assert_true(vt_trace_format_read(&f, bytes_of(text), 4));
		assert_int_equal(f.nfields, 1);
		assert_true(f.whole);
		assert_int_equal(f.fields[0].name.size, strlen(cases[i].name));
		assert_memory_equal(f.fields[0].name.data, cases[i].name, f.fields[0].name.size);
		assert_int_equal(f.fields[0].offset, 8);
		assert_int_equal(f.fields[0].element, cases[i].element);
		assert_int_equal(f.fields[0].place, cases[i].place);
		assert_int_equal(f.fields[0].array, cases[i].array);
		assert_int_equal(f.fields[0].text, cases[i].text);
		assert_int_equal(f.fields[0].is_signed, cases[i].is_signed);
		assert_false(f.fields[0].common);
		vt_trace_format_free(&f);
	}
}

static void leaves_out_what_is_odd(void **state)
{
	static const char text[] = "name: x\n"
				   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
				   "\tfield:int a;\toffset:-8;\tsize:4;\tsigned:1;\n"
				   "\tfield:int b;\toffset:2147483648;\tsize:4;\tsigned:1;\n"
				   "\tfield:int c;\toffset:8;\n"
				   "\tfield:];\toffset:8;\tsize:4;\tsigned:1;\n"
				   "\tfield:int[;\toffset:8;\tsize:4;\tsigned:1;\n"
				   "\tfield:int d;\toffset:2147483647;\tsize:4;\tsigned:1;\n"
				   "print fmt: \"\"\n"
				   "\tfield:int e;\toffset:8;\tsize:4;\tsigned:1;\n";
	struct vt_trace_format f;

	(void)state;
	assert_true(vt_trace_format_read(&f, bytes_of(text), 8));
	assert_int_equal(f.nfields, 2);
	assert_false(f.whole);
	assert_true(f.fields[0].common);
	assert_int_equal(f.fields[1].offset, INT32_MAX);
	vt_trace_format_free(&f);
}

static void reads_numbers(void **state)
{
	static const uint8_t b[] = {0xfe, 1, 2, 3, 4, 5, 6, 0xf7};

	(void)state;
	assert_int_equal(vt_trace_number(b, 1, false, false), 0xfe);
	assert_int_equal(vt_trace_number(b, 1, false, true), -2);
	assert_int_equal(vt_trace_number(b, 2, false, true), 0x1fe);
	assert_int_equal(vt_trace_number(b, 2, true, true), -0x1ff);
	assert_int_equal(vt_trace_number(b, 2, true, false), 0xfe01);
	assert_int_equal(vt_trace_number(b, 4, true, true), -0x1fefdfd);
	assert_int_equal(vt_trace_number(b, 4, false, true), 0x30201fe);
	assert_int_equal(vt_trace_number(b, 8, true, false), 0xfe010203040506f7);
	assert_int_equal(vt_trace_number(b, 8, false, true), (int64_t)0xf7060504030201fe);
}

static bool lies(struct vt_trace_field f, size_t size, size_t *at, size_t *length)
{
	/* At 4: the offset 6, the size 3. */
	static const uint8_t b[16] = {0, 0, 0, 0, 6, 0, 3, 0};
	struct vt_bytes raw = {b, size}, found;

	if (!vt_trace_field_bytes(&f, raw, false, &found))
		return false;
	*at = (size_t)(found.data - b);
	*length = found.size;
	return true;
}

static void finds_bytes(void **state)
{
	struct vt_trace_field f = {.offset = 8, .size = 4};
	size_t at = 0, n = 0;

	(void)state;
	assert_true(lies(f, 12, &at, &n));
	assert_int_equal(at, 8);
	assert_int_equal(n, 4);
	assert_false(lies(f, 11, &at, &n));
	f.size = 0;
	assert_true(lies(f, 8, &at, &n));
	assert_false(lies(f, 7, &at, &n));
	f = (struct vt_trace_field){.offset = 4, .size = 4, .place = VT_FIELD_DATA_LOC};
	assert_true(lies(f, 9, &at, &n));
	assert_int_equal(at, 6);
	assert_int_equal(n, 3);
	assert_false(lies(f, 8, &at, &n));
	f.place = VT_FIELD_REL_LOC;
	assert_false(lies(f, 16, &at, &n));
	f.offset = 3;
	f.place = VT_FIELD_DATA_LOC;
	assert_false(lies(f, 16, &at, &n));
	f.offset = 13;
	assert_false(lies(f, 16, &at, &n));
	f.offset = 4;
	f.size = 8;
	assert_false(lies(f, 16, &at, &n));
}

static void finds_name_and_number(void **state)
{
	struct vt_bytes name;
	uint64_t id;

	(void)state;
	assert_true(vt_format_file_ident(bytes_of("name: ab\nID: 77\nformat:\n"), &name, &id));
	assert_int_equal(id, 77);
	assert_int_equal(name.size, 2);
	assert_false(vt_format_file_ident(bytes_of("name: ab\n"), &name, &id));
	assert_false(vt_format_file_ident(bytes_of("ID: 1\n"), &name, &id));
	assert_false(vt_format_file_ident(bytes_of(""), &name, &id));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_declarations),	 cmocka_unit_test(leaves_out_what_is_odd),
		cmocka_unit_test(reads_numbers),	 cmocka_unit_test(finds_bytes),
		cmocka_unit_test(finds_name_and_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
