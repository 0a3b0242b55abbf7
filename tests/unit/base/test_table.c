/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/name.h"
#include "base/table.h"
#include "base/width.h"
#include "tests/unit/common/printed.h"

static struct vt_table *sample_table(void)
{
	struct vt_table *t = vt_table_new();

	assert_non_null(t);
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "share", "%", VT_FORMAT_PERCENT);
	vt_table_column(t, "name", "procedure", VT_FORMAT_TEXT);
	vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
	vt_table_row(t, VT_STYLE_HOT);
	vt_table_number(t, 2064143);
	vt_table_percent(t, 1, 3);
	vt_table_str(t, "main");
	vt_table_str(t, "prog");
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 7);
	vt_table_percent(t, 1, 0);
	vt_table_str(t, "evil\033[2J\n");
	vt_table_str(t, "a,\"b\"");
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 0);
	return t;
}

static void aligns_for_people(void **state)
{
	struct vt_table *t = sample_table();

	(void)state;
	assert_string_equal(print_table(t, VT_TABLE_TEXT, false),
			    "samples       %  procedure      image\n"
			    "2064143  33.33%  main           prog\n"
			    "      7          evil\\x1b[2J\\n  a,\"b\"\n"
			    "      0\n");
	vt_table_free(t);
}

static void separates_for_programs(void **state)
{
	struct vt_table *t = sample_table();

	(void)state;
	assert_string_equal(print_table(t, VT_TABLE_CSV, true),
			    "samples,share,name,image\n"
			    "2064143,33.3333,main,prog\n"
			    "7,,evil\\x1b[2J\\n,\"a,\"\"b\"\"\"\n"
			    "0,,,\n");
	assert_string_equal(print_table(t, VT_TABLE_TSV, true), "samples\tshare\tname\timage\n"
								"2064143\t33.3333\tmain\tprog\n"
								"7\t\tevil\\x1b[2J\\n\ta,\"b\"\n"
								"0\t\t\t\n");
	vt_table_free(t);
}

/* What is not finite is left out, and what no integer holds keeps its digits. */
static void leaves_out_what_is_not_finite(void **state)
{
	static const double values[] = {2.5, -2.5, 1e19, INFINITY, NAN};
	struct vt_table *t = vt_table_new();
	size_t i;

	(void)state;
	assert_non_null(t);
	vt_table_column(t, "finite", "finite", VT_FORMAT_REAL);
	vt_table_column(t, "whole", "whole", VT_FORMAT_REAL);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_finite(t, values[i]);
		vt_table_whole(t, values[i]);
	}
	assert_string_equal(print_table(t, VT_TABLE_CSV, false),
			    "finite,whole\n2.5,3\n-2.5,-3\n1e+19,1e+19\n,\n,\n");
	vt_table_free(t);
}

/* Colour adds escape sequences and nothing else, and only around cells that have text. */
static void colours_cells(void **state)
{
	struct vt_table *t = vt_table_new();

	(void)state;
	vt_table_column(t, "n", "n", VT_FORMAT_NUMBER);
	vt_table_column(t, "text", "text", VT_FORMAT_TEXT);
	vt_table_row(t, VT_STYLE_HOT);
	vt_table_number(t, 1);
	vt_table_str(t, "x");
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_empty(t);
	vt_table_str(t, "y");
	vt_table_cell_style(t, VT_STYLE_SOURCE);
	assert_string_equal(print_table(t, VT_TABLE_TEXT, true),
			    "\033[1mn\033[0m  \033[1mtext\033[0m\n"
			    "\033[1;31m1\033[0m  \033[1;31mx\033[0m\n"
			    "   \033[36my\033[0m\n");
	vt_table_free(t);
}

static void formats_numbers(void **state)
{
	struct vt_table *t = vt_table_new();

	(void)state;
	vt_table_column(t, "a", "address", VT_FORMAT_HEX);
	vt_table_column(t, "d", "delta", VT_FORMAT_SIGNED);
	vt_table_column(t, "p", "points", VT_FORMAT_POINTS);
	vt_table_column(t, "r", "real", VT_FORMAT_REAL);
	vt_table_column(t, "n", "number", VT_FORMAT_NUMBER);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 0xfffffffffffffff0u);
	vt_table_signed(t, 12);
	vt_table_real(t, -1.256);
	vt_table_real(t, 0.5);
	vt_table_number(t, UINT64_MAX);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 1);
	vt_table_signed(t, INT64_MIN);
	vt_table_real(t, 3);
	assert_string_equal(
		print_table(t, VT_TABLE_TEXT, false),
		"         address                 delta  points  real                number\n"
		"fffffffffffffff0                   +12  -1.26%  0.50  18446744073709551615\n"
		"               1  -9223372036854775808  +3.00%\n");
	assert_string_equal(print_table(t, VT_TABLE_CSV, false),
			    "a,d,p,r,n\n"
			    "0xfffffffffffffff0,12,-1.256,0.5,18446744073709551615\n"
			    "0x1,-9223372036854775808,3,,\n");
	vt_table_free(t);
}

/* One very long name sticks out; the other rows stay narrow. */
static void long_cells_stick_out(void **state)
{
	struct vt_table *t = vt_table_new();

	(void)state;
	vt_table_column_max(t, "name", "name", VT_FORMAT_TEXT, 6);
	vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "abcdefghij");
	vt_table_str(t, "x");
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "abc");
	vt_table_str(t, "x");
	assert_string_equal(print_table(t, VT_TABLE_TEXT, false), "name    image\n"
								  "abcdefghij  x\n"
								  "abc     x\n");
	vt_table_free(t);
}

/* Prints to a terminal of some columns, or to none for 0. */
static const char *print_fitting(const struct vt_table *t, unsigned columns, bool full_names)
{
	struct vt_output out;
	struct vt_error err = VT_ERROR_INIT;

	print_begin(&out);
	out.columns = columns;
	out.full_names = full_names;
	assert_int_equal(vt_table_print(t, &out, VT_TABLE_TEXT, false, &err), 0);
	return print_end(&out);
}

#define IMAGE_PATH "/usr/lib/libabcdef.so"

/* Names lose their template arguments, and their middle where the row is too wide. */
static void fits_names(void **state)
{
	struct vt_table *t = vt_table_new();

	(void)state;
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column_max(t, "procedure", "procedure", VT_FORMAT_NAME, 10);
	vt_table_column(t, "image", "image", VT_FORMAT_PATH);
	vt_table_column(t, "text", "text", VT_FORMAT_TEXT);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 12);
	vt_table_str(t, "std::sort<int*, char>");
	vt_table_str(t, IMAGE_PATH);
	vt_table_str(t, "a<b>");
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 3);
	vt_table_str(t, "name::that_is_rather_long\n");
	vt_table_str(t, "x<y>");
	vt_table_str(t, "c");
	assert_string_equal(print_fitting(t, 0, false),
			    "samples  procedure   image                  text\n"
			    "     12  std::sort<" VT_ELLIPSIS ">  /usr/lib/libabcdef.so  a<b>\n"
			    "      3  name::that_is_rather_long\\n  x<y>                   c\n");
	assert_string_equal(print_fitting(t, 0, true),
			    "samples  procedure   image                  text\n"
			    "     12  std::sort<int*, char>  /usr/lib/libabcdef.so  a<b>\n"
			    "      3  name::that_is_rather_long\\n  x<y>                   c\n");
	/* Rows of 65 columns fit. */
	assert_string_equal(print_fitting(t, 65, false),
			    "samples  procedure                    image                  text\n"
			    "     12  std::sort<" VT_ELLIPSIS
			    ">                 /usr/lib/libabcdef.so  a<b>\n"
			    "      3  name::that_is_rather_long\\n  x<y>                   c\n");
	/* The widest gives way first, then both, but not all. */
	assert_string_equal(
		print_fitting(t, 60, false),
		"samples  procedure               image                  text\n"
		"     12  std::sort<" VT_ELLIPSIS ">            /usr/lib/libabcdef.so  a<b>\n"
		"      3  name::that_" VT_ELLIPSIS "her_long\\n  x<y>                   c\n");
	assert_string_equal(print_fitting(t, 56, false),
			    "samples  procedure             image                text\n"
			    "     12  std::sort<" VT_ELLIPSIS ">          /usr/lib/" VT_ELLIPSIS
			    "abcdef.so  a<b>\n"
			    "      3  name::that" VT_ELLIPSIS
			    "er_long\\n  x<y>                 c\n");
	assert_string_equal(print_fitting(t, 20, false),
			    "samples  procedure     image         text\n"
			    "     12  std::sort<" VT_ELLIPSIS ">  /usr/l" VT_ELLIPSIS
			    "ef.so  a<b>\n"
			    "      3  name::" VT_ELLIPSIS "ong\\n  x<y>          c\n");
	/* Whoever wants full names gets them. */
	assert_string_equal(print_fitting(t, 20, true),
			    "samples  procedure   image                  text\n"
			    "     12  std::sort<int*, char>  /usr/lib/libabcdef.so  a<b>\n"
			    "      3  name::that_is_rather_long\\n  x<y>                   c\n");
	vt_table_free(t);
}

/* Spare columns go by their ranks, the last of a rank first, before a name has less than 20
 * columns. */
static void leaves_out_spare_columns(void **state)
{
	struct vt_table *t = vt_table_new();

	(void)state;
	vt_table_column(t, "n", "n", VT_FORMAT_NUMBER);
	vt_table_column(t, "aa", "aa", VT_FORMAT_NUMBER);
	vt_table_column_spare(t, 1);
	vt_table_column(t, "bb", "bb", VT_FORMAT_NUMBER);
	vt_table_column_spare(t, 2);
	vt_table_column(t, "cc", "cc", VT_FORMAT_NUMBER);
	vt_table_column_spare(t, 2);
	vt_table_column(t, "name", "name", VT_FORMAT_NAME);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 1);
	vt_table_number(t, 2);
	vt_table_number(t, 3);
	vt_table_number(t, 4);
	vt_table_str(t, "abcdefghijklmnopqrstuvwxyz");
	/* 3 + 3 * 4 + 26 columns; 35 with a name of 20. */
	assert_string_equal(print_fitting(t, 41, false),
			    "n  aa  bb  cc  name\n1   2   3   4  abcdefghijklmnopqrstuvwxyz\n");
	assert_string_equal(print_fitting(t, 35, false),
			    "n  aa  bb  cc  name\n1   2   3   4  abcdefghij" VT_ELLIPSIS
			    "rstuvwxyz\n");
	assert_string_equal(print_fitting(t, 34, false),
			    "n  aa  bb  name\n1   2   3  abcdefghijk" VT_ELLIPSIS
			    "pqrstuvwxyz\n(no room for cc)\n");
	assert_string_equal(print_fitting(t, 30, false),
			    "n  aa  name\n1   2  abcdefghijk" VT_ELLIPSIS
			    "pqrstuvwxyz\n(no room for cc, bb)\n");
	assert_string_equal(print_fitting(t, 10, false),
			    "n  name\n1  abcdef" VT_ELLIPSIS "vwxyz\n(no room for cc, bb, aa)\n");
	/* What is no terminal has room, and so have full names. */
	assert_string_equal(print_fitting(t, 0, false),
			    "n  aa  bb  cc  name\n1   2   3   4  abcdefghijklmnopqrstuvwxyz\n");
	assert_string_equal(print_fitting(t, 10, true),
			    "n  aa  bb  cc  name\n1   2   3   4  abcdefghijklmnopqrstuvwxyz\n");
	assert_string_equal(print_table(t, VT_TABLE_CSV, false),
			    "n,aa,bb,cc,name\n1,2,3,4,abcdefghijklmnopqrstuvwxyz\n");
	vt_table_free(t);
}

/* A cell of another column may hold names from some byte on. */
static void shortens_names_in_text(void **state)
{
	struct vt_table *t = vt_table_new();
	size_t from;

	(void)state;
	vt_table_column(t, "code", "code", VT_FORMAT_TEXT);
	for (from = 0; from < 3; from++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, "a<b> <c<d>+1>");
		if (from)
			vt_table_cell_names(t, from == 1 ? 4 : 0);
	}
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "a<b>");
	vt_table_cell_names(t, 4);
	assert_string_equal(print_table(t, VT_TABLE_TEXT, false),
			    "code\n"
			    "a<b> <c<d>+1>\n"
			    "a<b> <c<" VT_ELLIPSIS ">+1>\n"
			    "a<" VT_ELLIPSIS "> <c<" VT_ELLIPSIS ">+1>\n"
			    "a<b>\n");
	assert_string_equal(print_table(t, VT_TABLE_TSV, false),
			    "code\na<b> <c<d>+1>\na<b> <c<d>+1>\na<b> <c<d>+1>\na<b>\n");
	assert_string_equal(print_fitting(t, 0, true),
			    "code\na<b> <c<d>+1>\na<b> <c<d>+1>\na<b> <c<d>+1>\na<b>\n");
	vt_table_free(t);
}

/* Columns without a heading are for programs; keys and headings may come from a trace. */
static void hides_columns_from_people(void **state)
{
	struct vt_table *t = vt_table_new();
	char key[] = "a,b\n";

	(void)state;
	vt_table_column(t, key, key, VT_FORMAT_NUMBER);
	vt_table_column(t, "raw", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "name", "name", VT_FORMAT_TEXT);
	key[0] = '\0';
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, 1);
	vt_table_str(t, "_Zx");
	vt_table_str(t, "x");
	assert_string_equal(print_table(t, VT_TABLE_TEXT, false), "a,b\\n  name\n"
								  "    1  x\n");
	assert_string_equal(print_table(t, VT_TABLE_CSV, false), "\"a,b\\n\",raw,name\n"
								 "1,_Zx,x\n");
	assert_string_equal(print_table(t, VT_TABLE_TSV, false), "a,b\\n\traw\tname\n"
								 "1\t_Zx\tx\n");
	vt_table_free(t);
}

static void knows_widths(void **state)
{
	(void)state;
	assert_int_equal(vt_text_width("abc", 3), 3);
	assert_int_equal(vt_text_width("\xc3\xa9", 2), 1);
	assert_int_equal(vt_text_width("e\xcc\x81", 3), 1);
	assert_int_equal(vt_text_width("\xe6\xbc\xa2\xe5\xad\x97", 6), 4);
	assert_int_equal(vt_text_width("\xf0\x9f\x98\x80", 4), 2);
	assert_int_equal(vt_text_width("\xe6", 1), 1);
}

static size_t width_of(uint32_t c)
{
	char text[4];
	size_t n = 0;

	if (c >= 0x10000)
		text[n++] = (char)(0xf0 | c >> 18);
	if (c >= 0x10000)
		text[n++] = (char)(0x80 | (c >> 12 & 0x3f));
	else if (c >= 0x800)
		text[n++] = (char)(0xe0 | c >> 12);
	text[n] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
	text[n + 1] = (char)(0x80 | (c & 0x3f));
	return vt_text_width(text, n + 2);
}

/* The first and last character of each run of blocks, by their names in Unicode's Blocks.txt. */
static void knows_edges_of_blocks(void **state)
{
	static const struct {
		uint32_t first, last;
		size_t width, before, after;
	} runs[] = {
		{0x0300, 0x036f, 0, 1, 1},   /* combining diacritical marks */
		{0x1100, 0x115f, 2, 1, 1},   /* leading consonants of hangul jamo */
		{0x1ab0, 0x1aff, 0, 1, 1},   /* combining marks extended */
		{0x1dc0, 0x1dff, 0, 1, 1},   /* combining marks supplement */
		{0x200b, 0x200f, 0, 1, 1},   /* zero-width space to right-to-left mark */
		{0x20d0, 0x20ff, 0, 1, 1},   /* combining marks for symbols */
		{0x2e80, 0xa4cf, 2, 1, 1},   /* CJK radicals to Yi radicals */
		{0xac00, 0xd7a3, 2, 1, 1},   /* hangul syllables */
		{0xf900, 0xfaff, 2, 1, 1},   /* CJK compatibility ideographs */
		{0xfe00, 0xfe0f, 0, 1, 1},   /* variation selectors */
		{0xfe20, 0xfe2f, 0, 1, 2},   /* combining half marks */
		{0xfe30, 0xfe6f, 2, 0, 1},   /* CJK compatibility and small forms */
		{0xff00, 0xff60, 2, 1, 1},   /* fullwidth forms */
		{0xffe0, 0xffe6, 2, 1, 1},   /* fullwidth signs */
		{0x1f300, 0x1faff, 2, 1, 1}, /* pictographs */
		{0x20000, 0x3fffd, 2, 1, 1}, /* supplementary ideographs */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		assert_int_equal(width_of(runs[i].first - 1), runs[i].before);
		assert_int_equal(width_of(runs[i].first), runs[i].width);
		assert_int_equal(width_of((runs[i].first + runs[i].last) / 2), runs[i].width);
		assert_int_equal(width_of(runs[i].last), runs[i].width);
		assert_int_equal(width_of(runs[i].last + 1), runs[i].after);
	}
	assert_int_equal(vt_text_width("\xdf\xbf", 2), 1);
	assert_int_equal(vt_text_width("\xcc\x80z", 3), 1);
}

static void gives_cells(void **state)
{
	struct vt_table *t = sample_table();
	struct vt_cell c = vt_table_cell(t, 1, 2);

	(void)state;
	assert_int_equal(vt_table_rows(t), 3);
	assert_int_equal(vt_table_columns(t), 4);
	assert_string_equal(vt_table_column_at(t, 2)->key, "name");
	assert_int_equal(c.type, VT_CELL_TEXT);
	assert_int_equal(c.size, 9);
	assert_memory_equal(c.text, "evil\033[2J\n", 9);
	assert_int_equal(vt_table_cell(t, 0, 0).number, 2064143);
	assert_int_equal(vt_table_cell(t, 2, 3).type, VT_CELL_EMPTY);
	vt_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligns_for_people),
		cmocka_unit_test(separates_for_programs),
		cmocka_unit_test(leaves_out_what_is_not_finite),
		cmocka_unit_test(colours_cells),
		cmocka_unit_test(formats_numbers),
		cmocka_unit_test(long_cells_stick_out),
		cmocka_unit_test(fits_names),
		cmocka_unit_test(leaves_out_spare_columns),
		cmocka_unit_test(shortens_names_in_text),
		cmocka_unit_test(knows_widths),
		cmocka_unit_test(knows_edges_of_blocks),
		cmocka_unit_test(gives_cells),
		cmocka_unit_test(hides_columns_from_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
