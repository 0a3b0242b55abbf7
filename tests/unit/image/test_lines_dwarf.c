/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Debug information written entry by entry in assembly code; among it what no compiler writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/lines.h"
#include "tests/unit/common/toolbox.h"

#define TEXT 0x401000

/* Abbreviations: name, tag, whether there are children, attributes and their forms. */
#define ABBREVIATION(number, tag, children, attributes)                                            \
	"	.uleb128 " #number ", " #tag "\n	.byte " #children "\n"                     \
	"	.uleb128 " attributes "0, 0\n"
#define NAME	 "0x03, 0x08, "
#define LINKAGE	 "0x6e, 0x08, "
#define MIPS	 "0x2007, 0x08, "
#define COMP_DIR "0x1b, 0x08, "
#define LINES	 "0x10, 0x17, "
#define RANGE	 "0x11, 0x01, 0x12, 0x06, "
#define ORIGIN	 "0x31, 0x13, "
#define CALL	 "0x58, 0x0b, 0x59, 0x0f, "
#define DECLARED "0x3a, 0x0b, 0x3b, 0x05, "
#define SIBLING	 "0x01, 0x13, "

static const char abbreviations[] =
	/* clang-format off */
	"	.section .debug_abbrev, \"\", @progbits\n"
	ABBREVIATION(1, 0x11, 1, COMP_DIR LINES RANGE) /* unit */
	ABBREVIATION(2, 0x2e, 1, NAME DECLARED RANGE) /* procedure */
	ABBREVIATION(3, 0x2e, 0, RANGE) /* nameless procedure */
	ABBREVIATION(4, 0x1d, 1, ORIGIN RANGE CALL) /* inlined procedure */
	ABBREVIATION(5, 0x1d, 1, ORIGIN RANGE)
	ABBREVIATION(6, 0x2e, 0, NAME LINKAGE) /* abstract procedures */
	ABBREVIATION(7, 0x2e, 0, MIPS NAME)
	ABBREVIATION(8, 0x2e, 0, NAME)
	ABBREVIATION(9, 0x2e, 0, "")
	ABBREVIATION(10, 0x0b, 1, "") /* block */
	ABBREVIATION(11, 0x0b, 1, SIBLING)
	ABBREVIATION(12, 0x39, 1, "") /* namespace */
	ABBREVIATION(13, 0x1e, 1, "") /* module */
	ABBREVIATION(14, 0x13, 1, "") /* struct */
	ABBREVIATION(15, 0x02, 1, "") /* class */
	ABBREVIATION(16, 0x17, 1, "") /* union */
	ABBREVIATION(17, 0x04, 1, "") /* enumeration */
	ABBREVIATION(18, 0x1d, 1, SIBLING ORIGIN RANGE)
	ABBREVIATION(19, 0x2e, 1, SIBLING NAME DECLARED RANGE)
	"	.byte 0\n"
	"	.section .debug_info, \"\", @progbits\n";
/* clang-format on */

/* Macros of the assembler; numbers are offsets from the text's beginning. */
static const char macros[] =
	"	.altmacro\n"
	"	.macro unit type, from, to\n"
	"	local begin\n"
	"	.long end\\from - begin\n"
	"begin:	.short 5\n	.byte \\type, 8\n	.long .debug_abbrev\n"
	"	.if \\type == 4\n	.quad 77\n	.endif\n"
	"	.set unit, begin - 4\n"
	"	.uleb128 1\n	.asciz \"/src\"\n	.long .debug_line\n"
	"	range \\from, \\to\n	.endm\n"
	"	.macro range from, to\n	.quad " /* absolute */
	"0x401000 + \\from\n	.long \\to - \\from\n	.endm\n"
	"	.macro end_unit from\n	.byte 0\nend\\from:\n	.endm\n"
	"	.macro procedure name, line, from, to\n"
	"	.uleb128 2\n	.asciz \"\\name\"\n	.byte 1\n	.short \\line\n"
	"	range \\from, \\to\n	.endm\n"
	"	.macro nameless from, to\n	.uleb128 3\n	range \\from, \\to\n	.endm\n"
	"	.macro inlined what, from, to, file, line\n"
	"	.uleb128 4\n	.long \\what - unit\n	range \\from, \\to\n"
	"	.byte \\file\n	.uleb128 \\line\n	.endm\n"
	"	.macro ends count=1\n	.fill \\count, 1, 0\n	.endm\n";

/* A byte of each offset, and its lines. */
static const char text[] = "	.text\n	.globl _start\n_start:\n"
			   "	.macro nops count\n	.rept \\count\n	nop\n	.endr\n	.endm\n"
			   "	.file 0 \"rel\" \"././a.c\"\n"
			   "	.file 1 \"/abs\" \"b.c\"\n"
			   "	.file 2 \".x\" \"c.c\"\n"
			   "	.file 3 \"x\" \"d.c\"\n"
			   "	.loc 0 10 3\n	nops 4\n"
			   "	.loc 1 11 0 is_stmt 0\n	nops 4\n"
			   "	.loc 1 12 7 discriminator 5\n	nops 4\n"
			   "	.loc 0 15 1\n	nops 4\n"
			   "	.loc 2 13 1\n	nops 4\n"
			   "	.loc 3 14 1\n	nops 4\n"
			   "	.loc 0 70000 300 is_stmt 1\n	nops 0xfe8\n";

static const char units[] =
	"	unit 1, 0, 0x100\n"
	"origin1:	.uleb128 6\n	.asciz \"a\"\n	.asciz \"_Za\"\n"
	"origin2:	.uleb128 7\n	.asciz \"_Zb\"\n	.asciz \"b\"\n"
	"origin3:	.uleb128 8\n	.asciz \"c\"\n"
	"origin4:	.uleb128 9\n"
	"	procedure f, 77, 0, 0x40\n"
	"	inlined origin1, 0x04, 0x20, 1, 21\n"
	"	.uleb128 10\n"
	"	inlined origin2, 0x08, 0x10, 0, 22\n"
	"	.uleb128 5\n	.long origin3 - unit\n	range 0x0a, 0x0c\n"
	"	ends 4\n"
	"	inlined origin4, 0x20, 0x30, 4, 0x100000000\n	ends\n"
	"	inlined origin3, 0x30, 0x38, 3, 0xffffffff\n	ends\n"
	"	inlined origin3, 0x3c, 0x3c, 1, 1\n	ends\n"
	"	inlined origin3, 0x3d, 0x3c, 1, 1\n	ends\n"
	"	ends\n"
	"	nameless 0x40, 0x50\n"
	/* Procedures in others: those of namespaces and modules are found at once. */
	"	.uleb128 12\n	procedure g, 0, 0x50, 0x60\n	ends\n"
	"	.uleb128 13\n	procedure h, 65535, 0x60, 0x70\n	ends\n	ends 2\n"
	"	procedure k, 1, 0x70, 0x74\n	.uleb128 10\n"
	"	.uleb128 14\n	procedure m, 2, 0x80, 0x84\n	ends 2\n"
	"	.uleb128 15\n	procedure n, 3, 0x84, 0x88\n	ends 2\n"
	"	.uleb128 16\n	procedure o, 4, 0x88, 0x8c\n	ends 2\n"
	"	.uleb128 17\n	procedure p, 5, 0x8c, 0x90\n	ends 2\n"
	"	ends 2\n"
	/* Of those that begin at one place, the innermost. */
	"	procedure little, 6, 0x90, 0xa0\n	ends\n"
	"	procedure big, 7, 0x90, 0xc0\n	ends\n"
	"	procedure little2, 8, 0xc0, 0xd0\n	ends\n"
	"	procedure big2, 9, 0xbf, 0xe0\n	ends\n"
	"	procedure one, 10, 0xe0, 0xf0\n	ends\n"
	"	procedure two, 11, 0xe0, 0xf0\n	ends\n"
	"	end_unit 0\n"
	/* Of the 64 that begin before a place, the first still counts. */
	"	unit 1, 0x100, 0x200\n	procedure wide, 12, 0x100, 0x1c0\n	ends\n"
	"	.set at, 0x101\n	.rept 63\n	nameless at, at + 1\n"
	"	.set at, at + 1\n	.endr\n	end_unit 0x100\n"
	"	unit 1, 0x200, 0x300\n	procedure wide, 13, 0x200, 0x2c0\n	ends\n"
	"	.set at, 0x201\n	.rept 64\n	nameless at, at + 1\n"
	"	.set at, at + 1\n	.endr\n	end_unit 0x200\n"
	/* A call in 200 blocks counts, in 201 not. */
	"	unit 1, 0x300, 0x400\n"
	"origin5:	.uleb128 8\n	.asciz \"deep\"\n"
	"	procedure d200, 14, 0x300, 0x310\n	.fill 200, 1, 10\n"
	"	inlined origin5, 0x304, 0x308, 1, 31\n	ends 202\n"
	"	procedure d201, 15, 0x310, 0x320\n	.fill 201, 1, 10\n"
	"	inlined origin5, 0x314, 0x318, 1, 31\n	ends 203\n"
	/* 70 calls of one instruction, one in the other. */
	"	procedure nest, 16, 0x320, 0x330\n	.set at, 100\n	.rept 70\n"
	"	inlined origin5, 0x324, 0x328, 1, at\n	.set at, at + 1\n	.endr\n"
	"	ends 71\n"
	"	end_unit 0x300\n"
	/* Partial units have no code of their own; skeletons, whose rest is in other files, do. */
	"	unit 3, 0x400, 0x410\n	procedure partial, 17, 0x400, 0x410\n	ends\n"
	"	end_unit 0x400\n"
	"	unit 4, 0x410, 0x420\n	procedure skeleton, 18, 0x410, 0x420\n	ends\n"
	"	end_unit 0x410\n"
	/* Blocks whose siblings are their own children: 2^40 ways through them. */
	"	unit 1, 0x420, 0x500\n"
	"origin6:	.uleb128 8\n	.asciz \"again\"\n"
	"	.uleb128 19\n	.long next - unit\n	.asciz \"twice\"\n	.byte 1\n"
	"	.short 19\n	range 0x420, 0x430\n"
	"	.rept 40\n	.uleb128 11\n	.long . + 4 - unit\n	.endr\n	ends 41\n"
	/* One that is its own sibling. */
	"next:	procedure same, 20, 0x430, 0x440\n"
	"self:	.uleb128 18\n	.long self - unit, origin6 - unit\n	range 0x434, 0x438\n"
	"	ends 2\n"
	"	end_unit 0x420\n"
	/* Behind the last line. */
	"	unit 1, 0x1000, 0x1010\n	procedure lineless, 21, 0x1000, 0x1010\n	"
	"ends\n"
	"	end_unit 0x1000\n"
	/* An index that says more than the units do. */
	"	.section .debug_aranges, \"\", @progbits\n"
	"	.long 44\n	.short 2\n	.long 0\n	.byte 8, 0, 0, 0, 0, 0\n"
	"	.quad 0x401500, 0x10, 0, 0\n";

static struct vt_elf *elf;
static struct vt_lines *lines;
static char *dir;

static int setup(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	char all[sizeof(abbreviations) + sizeof(macros) + sizeof(text) + sizeof(units)];

	(void)state;
	snprintf(all, sizeof(all), "%s%s%s%s", text, macros, abbreviations, units);
	dir = toolbox_assemble(all);
	elf = vt_elf_open(toolbox_path(dir, "p"), &err);
	assert_non_null(elf);
	lines = vt_lines_new(elf, &err);
	assert_non_null(lines);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vt_lines_free(lines);
	vt_elf_close(elf);
	toolbox_remove(dir);
	return 0;
}

static void test_lines(void **state)
{
	static const struct {
		unsigned first, end;
		struct vt_line line;
	} rows[] = {
		{0x0, 0x4, {"/src/a.c", 10, 3, 0, true}},
		{0x4, 0x8, {"/abs/b.c", 11, 0, 0, false}},
		{0x8, 0xc, {"/abs/b.c", 12, 7, 5, false}},
		{0xc, 0x10, {"/src/a.c", 15, 1, 0, false}},
		{0x10, 0x14, {"/src/.x/c.c", 13, 1, 0, false}},
		{0x14, 0x18, {"/src/x/d.c", 14, 1, 0, false}},
		{0x18, 0x100, {"/src/a.c", 70000, 300, 0, true}},
	};
	struct vt_line line;
	size_t i;
	unsigned at;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (at = rows[i].first; at < rows[i].end; at++) {
			assert_true(vt_lines_at(lines, TEXT + at, &line));
			assert_string_equal(line.file, rows[i].line.file);
			assert_int_equal(line.line, rows[i].line.line);
			assert_int_equal(line.column, rows[i].line.column);
			assert_int_equal(line.discriminator, rows[i].line.discriminator);
			assert_int_equal(line.is_stmt, rows[i].line.is_stmt);
		}
	assert_false(vt_lines_at(lines, TEXT - 1, &line));
	assert_true(vt_lines_at(lines, TEXT + 0x3ff, &line));
	assert_false(vt_lines_at(lines, TEXT + 0x400, &line));
	assert_true(vt_lines_at(lines, TEXT + 0x410, &line));
	assert_true(vt_lines_at(lines, TEXT + 0x4ff, &line));
	assert_true(vt_lines_at(lines, TEXT + 0x50f, &line));
	assert_false(vt_lines_at(lines, TEXT + 0x510, &line));
}

static void test_functions(void **state)
{
	static const struct {
		unsigned at;
		const char *name; /* NULL: none */
		const char *file;
		unsigned line;
	} rows[] = {
		{0x0, "f", "/abs/b.c", 77},
		{0x3f, "f", "/abs/b.c", 77},
		{0x40, "", "", 0},
		{0x4f, "", "", 0},
		{0x50, "g", "/abs/b.c", 0},
		{0x60, "h", "/abs/b.c", 65535},
		{0x6f, "h", "/abs/b.c", 65535},
		{0x73, "k", "/abs/b.c", 1},
		{0x74, NULL, NULL, 0},
		{0x80, "m", "/abs/b.c", 2},
		{0x87, "n", "/abs/b.c", 3},
		{0x88, "o", "/abs/b.c", 4},
		{0x8c, NULL, NULL, 0},
		{0x90, "little", "/abs/b.c", 6},
		{0x9f, "little", "/abs/b.c", 6},
		{0xa0, "big", "/abs/b.c", 7},
		{0xbe, "big", "/abs/b.c", 7},
		{0xbf, "big2", "/abs/b.c", 9},
		{0xcf, "little2", "/abs/b.c", 8},
		{0xd0, "big2", "/abs/b.c", 9},
		{0xe0, "two", "/abs/b.c", 11},
		{0xf0, NULL, NULL, 0},
		{0x100, "wide", "/abs/b.c", 12},
		{0x101, "", "", 0},
		{0x13f, "", "", 0},
		{0x140, "wide", "/abs/b.c", 12},
		{0x1bf, "wide", "/abs/b.c", 12},
		{0x1c0, NULL, NULL, 0},
		{0x200, "wide", "/abs/b.c", 13},
		{0x240, "", "", 0},
		{0x241, NULL, NULL, 0},
		{0x400, NULL, NULL, 0},
		{0x410, "skeleton", "/abs/b.c", 18},
		{0x500, NULL, NULL, 0},
	};
	struct vt_frame f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (vt_lines_function(lines, TEXT + rows[i].at, &f) != !!rows[i].name)
			fail_msg("0x%x", rows[i].at);
		if (!rows[i].name)
			continue;
		assert_string_equal(f.function, rows[i].name);
		assert_string_equal(f.file, rows[i].file);
		assert_int_equal(f.line, rows[i].line);
		assert_false(f.inlined);
	}
}

static void check_frames(unsigned at, const struct vt_frame *want, size_t n)
{
	struct vt_frame frames[VT_MAX_INLINE + 1];
	size_t i, most;

	for (most = 0; most <= n + 1; most++) {
		memset(frames, 0, sizeof(frames));
		assert_int_equal(vt_lines_frames(lines, TEXT + at, frames, most),
				 most < n ? most : n);
		for (i = 0; i < n && i < most; i++) {
			assert_string_equal(frames[i].function, want[i].function);
			assert_string_equal(frames[i].file, want[i].file);
			assert_int_equal(frames[i].line, want[i].line);
			assert_int_equal(frames[i].inlined, i + 1 < n);
		}
		assert_null(frames[i].function);
	}
}

static void test_frames(void **state)
{
	static const struct {
		unsigned at, count;
		struct vt_frame frames[4];
	} rows[] = {
		{0x3, 1, {{"f", "/src/a.c", 10, false}}},
		{0x4, 2, {{"_Za", "/abs/b.c", 11, true}, {"f", "/abs/b.c", 21, false}}},
		{0x7, 2, {{"_Za", "/abs/b.c", 11, true}, {"f", "/abs/b.c", 21, false}}},
		{0x8,
		 3,
		 {{"_Zb", "/abs/b.c", 12, true},
		  {"_Za", "/src/a.c", 22, true},
		  {"f", "/abs/b.c", 21, false}}},
		{0xa,
		 4,
		 {{"c", "/abs/b.c", 12, true},
		  {"_Zb", "", 0, true},
		  {"_Za", "/src/a.c", 22, true},
		  {"f", "/abs/b.c", 21, false}}},
		{0xf,
		 3,
		 {{"_Zb", "/src/a.c", 15, true},
		  {"_Za", "/src/a.c", 22, true},
		  {"f", "/abs/b.c", 21, false}}},
		{0x1f, 2, {{"_Za", "/src/a.c", 70000, true}, {"f", "/abs/b.c", 21, false}}},
		/* No name; a file that is not there, a line that does not fit. */
		{0x20, 2, {{"", "/src/a.c", 70000, true}, {"f", "", 0, false}}},
		{0x37, 2, {{"c", "/src/a.c", 70000, true}, {"f", "/src/x/d.c", 0xffffffff, false}}},
		{0x38, 1, {{"f", "/src/a.c", 70000, false}}},
		{0x3c, 1, {{"f", "/src/a.c", 70000, false}}},
		{0x40, 1, {{"", "/src/a.c", 70000, false}}},
		{0x74, 0, {{NULL, NULL, 0, false}}},
		{0x1000, 1, {{"lineless", "", 0, false}}},
		{0x304, 2, {{"deep", "/src/a.c", 70000, true}, {"d200", "/abs/b.c", 31, false}}},
		{0x314, 1, {{"d201", "/src/a.c", 70000, false}}},
		{0x424, 1, {{"twice", "/src/a.c", 70000, false}}},
		{0x434, 2, {{"again", "/src/a.c", 70000, true}, {"same", "", 0, false}}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_frames(rows[i].at, rows[i].frames, rows[i].count);
	/* And back, from a procedure to the one that was asked for before. */
	check_frames(rows[4].at, rows[4].frames, rows[4].count);
}

/* Of 70 calls, the innermost 63 count. */
static void test_many_frames(void **state)
{
	struct vt_frame frames[VT_MAX_INLINE + 1];
	size_t i;

	(void)state;
	assert_int_equal(vt_lines_frames(lines, TEXT + 0x324, frames, VT_MAX_INLINE + 1),
			 VT_MAX_INLINE);
	for (i = 1; i + 1 < VT_MAX_INLINE; i++) {
		assert_string_equal(frames[i].function, "deep");
		assert_int_equal(frames[i].line, 170 - i);
	}
	assert_string_equal(frames[i].function, "nest");
	assert_int_equal(frames[i].line, 170 - i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_many_frames),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
