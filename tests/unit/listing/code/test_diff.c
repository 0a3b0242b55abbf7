/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two listings side by side: every cell of small ones, and which rows are taken to be the same. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "listing/code/diff.h"
#include "listing/code/internal.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

#define MAX_ROWS   8
#define MAX_EVENTS 4

static struct vt_error err;

/* ---- sides, told row by row ---- */

struct row {
	const char *text;
	enum vt_insn_type type;
	uint64_t samples[MAX_EVENTS];
	enum vt_list_kind kind;
	bool bare; /* it has no samples of any event */
};

struct side {
	struct scene s;
	struct vt_listing l;
	struct vt_list_row rows[MAX_ROWS];
	struct vt_tally tallies[MAX_ROWS][MAX_EVENTS];
};

/* Instructions stand at `address` and every 16 bytes behind it, lines at 1 and so on. */
static void set_rows(struct side *e, uint64_t address, const struct row *rows, size_t n)
{
	size_t i, k;

	assert_true(n <= MAX_ROWS);
	e->l.rows = e->rows;
	e->l.nrows = n;
	for (i = 0; i < n; i++) {
		for (k = 0; k < MAX_EVENTS; k++)
			e->tallies[i][k].samples = rows[i].samples[k];
		e->rows[i] = (struct vt_list_row){.kind = rows[i].kind,
						  .type = rows[i].type,
						  .address = address + 16 * i,
						  .line = (unsigned)i + 1,
						  .text = rows[i].text,
						  .text_size = strlen(rows[i].text),
						  .tallies = rows[i].bare ? NULL : e->tallies[i]};
	}
}

struct event {
	const char *name;
	enum vt_policy policy;
};

/* A profile that has these events, and with `estimates` what FREQ records are counted as. */
static void set_events(struct side *e, const struct event *names, size_t n, bool estimates)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	size_t i;

	for (i = 0; i < n; i++)
		scene_event(w, i + 1, names[i].name, names[i].policy);
	scene_image(w, 1, "/no/such/a");
	if (estimates)
		scene_freq(w, 1, 0x10, 100, 2, 1);
	scene_read(&e->s, fd, w, estimates);
}

/* Compares the two in the events of the second that have these indices. */
static const char *compare(struct side e[2], const size_t *index, size_t n, enum vt_list_view view,
			   enum vt_table_form form, bool color, struct vt_listdiff_result *result)
{
	const struct vt_listdiff_side sides[2] = {{e[0].s.profile, &e[0].l},
						  {e[1].s.profile, &e[1].l}};
	struct vt_table *t = vt_table_new();
	struct vt_event_choice events;
	size_t chosen[MAX_EVENTS], i;
	char *label[MAX_EVENTS];
	const char *text;

	assert_non_null(t);
	for (i = 0; i < n; i++) {
		chosen[i] = index[i];
		label[i] = (char *)vt_profile_event(e[1].s.profile, index[i])->name;
	}
	events = (struct vt_event_choice){chosen, label, n};
	vt_listdiff_columns(t, sides, &events, view);
	assert_int_equal(vt_listdiff_rows(t, sides, &events, view, 0.05, result, &err), 0);
	text = print_table(t, form, color);
	vt_table_free(t);
	return text;
}

static void drop(struct side e[2])
{
	scene_drop(&e[0].s);
	scene_drop(&e[1].s);
}

static const struct event cycles[] = {{"cycles", VT_POLICY_INTERRUPT}};
static const size_t first[] = {0};

/* ---- the table ---- */

static const struct row before[] = {
	{"push %rbx", 0, {10}, VT_ROW_INSTRUCTION, false},
	{"a remark", 0, {9}, VT_ROW_PLACE, false},
	{"old", 0, {2}, VT_ROW_INSIDE, false},
	{"mov 0x10(%rip),%rax", 0, {0}, VT_ROW_INSTRUCTION, true},
	{"gone", 0, {8}, VT_ROW_RAW, false},
	{"ret", 0, {5}, VT_ROW_INSTRUCTION, false},
};
static const struct row after[] = {
	{"push %rbx", 0, {10}, VT_ROW_INSTRUCTION, false},
	{"nop", 0, {3}, VT_ROW_INSTRUCTION, false},
	{"mov 0x20(%rip),%rax", 0, {8}, VT_ROW_INSTRUCTION, false},
	{"ret", 0, {5}, VT_ROW_INSTRUCTION, false},
	{"int3", 0, {0}, VT_ROW_INSTRUCTION, true},
};

/*
 * The chance of 8 to 0 is 2 in 2^8, of 3 to 0 2 in 2^3, of 2 to 0 2 in 2^2. Two of the seven at 2
 * in 2^8 are as 5 percent of false discoveries allow: 2 / 7 * 0.05 is more.
 */
static void test_table(void **state)
{
	struct vt_listdiff_result r;
	struct side e[2];

	(void)state;
	set_events(&e[0], cycles, 1, false);
	set_events(&e[1], cycles, 1, false);
	set_rows(&e[0], 0x1000, before, 6);
	set_rows(&e[1], 0x2000, after, 5);
	assert_string_equal(
		compare(e, first, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r),
		"cycles.before,cycles.after,cycles.delta,cycles.p,cycles.significant,only,"
		"address.before,address.after,code\n"
		"10,10,0,1,0,,0x1000,0x2000,push %rbx\n"
		"2,0,-2,0.5,0,<,0x1020,,old\n"
		"0,3,3,0.25,0,>,,0x2010,nop\n"
		"0,8,8,0.0078125,1,,0x1030,0x2020,\"mov 0x20(%rip),%rax\"\n"
		"8,0,-8,0.0078125,1,<,0x1040,,gone\n"
		"5,5,0,1,0,,0x1050,0x2030,ret\n"
		"0,0,0,1,0,>,,0x2040,int3\n");
	assert_int_equal(r.only[0], 2);
	assert_int_equal(r.only[1], 2);
	assert_int_equal(r.significant, 2);
	assert_false(r.rough);
	assert_string_equal(compare(e, first, 1, VT_LIST_MIXED, VT_TABLE_TEXT, false, &r),
			    "before  after  cycles        before  after  instruction\n"
			    "    10     10       0          1000   2000  push %rbx\n"
			    "     2      0      -2     <    1020         old\n"
			    "     0      3      +3     >           2010  nop\n"
			    "     0      8      +8  *       1030   2020  mov 0x20(%rip),%rax\n"
			    "     8      0      -8  *  <    1040         gone\n"
			    "     5      5       0          1050   2030  ret\n"
			    "     0      0       0     >           2040  int3\n");
	/* One more row, and the chance is too much for a discovery. */
	e[0].tallies[4][0].samples = 0;
	compare(e, first, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r);
	assert_int_equal(r.significant, 0);
	drop(e);
}

/* More is hot, less is shown as source is; what is no discovery, and no samples, are faint. */
static void test_colors(void **state)
{
	static const char *const want[] = {
		"    10     10       \033[2m0\033[0m          1000   2000  push %rbx\n",
		"     \033[2m0\033[0m      8      \033[1;31m+8\033[0m  *       1030   2020  mov ",
		"     8      \033[2m0\033[0m      \033[36m-8\033[0m  *  <    1040         gone\n"};
	struct vt_listdiff_result r;
	struct side e[2];
	const char *text;
	unsigned i;

	(void)state;
	set_events(&e[0], cycles, 1, false);
	set_events(&e[1], cycles, 1, false);
	set_rows(&e[0], 0x1000, before, 6);
	set_rows(&e[1], 0x2000, after, 5);
	text = compare(e, first, 1, VT_LIST_ASM, VT_TABLE_TEXT, true, &r);
	for (i = 0; i < 3; i++)
		assert_non_null(strstr(text, want[i]));
	drop(e);
}

/* Lines with samples, by their text. */
static void test_lines(void **state)
{
	static const struct row old[] = {{"int a;", 0, {4}, VT_ROW_LINE, false},
					 {"int b;", 0, {0}, VT_ROW_LINE, true},
					 {"nop", 0, {9}, VT_ROW_INSTRUCTION, false}};
	static const struct row new[] = {{"x", 0, {9}, VT_ROW_PLACE, false},
					 {"int b;", 0, {3}, VT_ROW_LINE, false},
					 {"int a;", 0, {4}, VT_ROW_LINE, false}};
	struct vt_listdiff_result r;
	struct side e[2];

	(void)state;
	set_events(&e[0], cycles, 1, false);
	set_events(&e[1], cycles, 1, false);
	set_rows(&e[0], 0x1000, old, 3);
	set_rows(&e[1], 0x2000, new, 3);
	assert_string_equal(
		compare(e, first, 1, VT_LIST_SOURCE, VT_TABLE_CSV, false, &r),
		"cycles.before,cycles.after,cycles.delta,cycles.p,cycles.significant,only,"
		"line.before,line.after,code\n"
		"0,3,3,0.25,0,>,,2,int b;\n"
		"4,4,0,1,0,,1,3,int a;\n");
	assert_string_equal(compare(e, first, 1, VT_LIST_SOURCE, VT_TABLE_TEXT, false, &r),
			    "before  after  cycles        before  after  source\n"
			    "     0      3      +3     >              2  int b;\n"
			    "     4      4       0             1      3  int a;\n");
	drop(e);
}

/* ---- events ---- */

/* Of the same name and policy; else of the name but for modifiers, and the same policy. */
static void test_events(void **state)
{
	static const struct event old[] = {{"cycles", VT_POLICY_PRECISE},
					   {"cycles:u", VT_POLICY_INTERRUPT},
					   {"cycles", VT_POLICY_INTERRUPT},
					   {"misses:k", VT_POLICY_INTERRUPT}};
	static const struct event new[] = {{"cycles", VT_POLICY_INTERRUPT},
					   {"misses", VT_POLICY_INTERRUPT},
					   {"misses", VT_POLICY_PRECISE},
					   {"cycles:k", VT_POLICY_INTERRUPT}};
	static const size_t chosen[] = {3, 1, 2, 0};
	static const struct row one[] = {{"nop", 0, {1, 2, 4, 5}, VT_ROW_INSTRUCTION, false}};
	static const struct row other[] = {{"nop", 0, {1, 2, 4, 5}, VT_ROW_INSTRUCTION, false}};
	struct vt_listdiff_result r;
	struct side e[2];
	const char *text;

	(void)state;
	set_events(&e[0], old, 4, false);
	set_events(&e[1], new, 4, false);
	set_rows(&e[0], 0x1000, one, 1);
	set_rows(&e[1], 0x2000, other, 1);
	text = strchr(compare(e, chosen, 4, VT_LIST_ASM, VT_TABLE_CSV, false, &r), '\n') + 1;
	/* The chance of 2 to 5 is 58 in 128, of 5 to 2 as much; of 4 to 0 2 in 16. */
	assert_string_equal(text, "2,5,3,0.453125,0,5,2,-3,0.453125,0,0,4,4,0.125,0,4,1,-3,0.375,0,"
				  ",0x1000,0x2000,nop\n");
	drop(e);
}

/* The first event's discoveries are counted; each has its own threshold. */
static void test_significant(void **state)
{
	static const struct event two[] = {{"a", VT_POLICY_INTERRUPT}, {"b", VT_POLICY_INTERRUPT}};
	static const size_t chosen[] = {0, 1};
	static const struct row none[] = {{"x", 0, {0, 0}, VT_ROW_INSTRUCTION, false},
					  {"y", 0, {0, 0}, VT_ROW_INSTRUCTION, false}};
	static const struct row some[] = {{"x", 0, {7, 9}, VT_ROW_INSTRUCTION, false},
					  {"y", 0, {6, 9}, VT_ROW_INSTRUCTION, false}};
	struct vt_listdiff_result r;
	struct side e[2];
	const char *text;

	(void)state;
	set_events(&e[0], two, 2, false);
	set_events(&e[1], two, 2, false);
	set_rows(&e[0], 0x1000, none, 2);
	set_rows(&e[1], 0x2000, some, 2);
	text = strchr(compare(e, chosen, 2, VT_LIST_ASM, VT_TABLE_CSV, false, &r), '\n') + 1;
	assert_string_equal(text, "0,7,7,0.015625,1,0,9,9,0.00390625,1,,0x1000,0x2000,x\n"
				  "0,6,6,0.03125,1,0,9,9,0.00390625,1,,0x1010,0x2010,y\n");
	assert_int_equal(r.significant, 2);
	drop(e);
}

/* Nobody can tell how likely a change of an estimate is; cycles for each execution of both. */
static void test_estimates(void **state)
{
	static const struct row old[] = {{"nop", 0, {3, 100, 250}, VT_ROW_INSTRUCTION, false},
					 {"ret", 0, {3, 0, 7}, VT_ROW_INSTRUCTION, false},
					 {"cli", 0, {0}, VT_ROW_INSTRUCTION, true}};
	static const struct row new[] = {{"nop", 0, {100, 125, 0}, VT_ROW_INSTRUCTION, false},
					 {"ret", 0, {8, 4, 0}, VT_ROW_INSTRUCTION, false}};
	struct vt_listdiff_result r;
	struct side e[2];
	size_t index[1];

	(void)state;
	set_events(&e[0], cycles, 1, true);
	set_events(&e[1], NULL, 0, true);
	set_rows(&e[0], 0x1000, old, 3);
	set_rows(&e[1], 0x2000, new, 2);
	assert_int_equal(vt_profile_estimate_event(e[0].s.profile, VT_ESTIMATE_EXECUTIONS), 1);
	assert_int_equal(vt_profile_estimate_event(e[0].s.profile, VT_ESTIMATE_CYCLES), 2);
	assert_int_equal(vt_profile_estimate_event(e[1].s.profile, VT_ESTIMATE_EXECUTIONS), 0);
	assert_int_equal(vt_profile_estimate_event(e[1].s.profile, VT_ESTIMATE_CYCLES), 1);
	index[0] = 0;
	assert_string_equal(
		strchr(compare(e, index, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r), '\n') + 1,
		"100,100,0,,0,2.5,1.25,,0x1000,0x2000,nop\n"
		"0,8,8,,0,,0.5,,0x1010,0x2010,ret\n"
		"0,0,0,,0,,,<,0x1020,,cli\n");
	assert_int_equal(r.significant, 0);
	assert_non_null(strstr(compare(e, index, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r),
			       ".significant,cpi.before,cpi.after,only,"));
	assert_non_null(strstr(compare(e, index, 1, VT_LIST_ASM, VT_TABLE_TEXT, false, &r),
			       "  cpi before  after  "));
	/* Where one of them has none, there are no such columns. */
	scene_drop(&e[0].s);
	set_events(&e[0], cycles, 1, false);
	assert_null(strstr(compare(e, index, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r), "cpi"));
	drop(e);
	set_events(&e[0], cycles, 1, true);
	set_events(&e[1], cycles, 1, false);
	assert_null(strstr(compare(e, index, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r), "cpi"));
	drop(e);
}

/* ---- which rows are the same ---- */

static void test_keys(void **state)
{
	static const struct {
		const char *text[2];
		enum vt_insn_type type;
		bool same;
	} rows[] = {
		/* Distances to data. */
		{{"mov 0x10(%rip),%rax", "mov 0xabcdef0(%rip),%rax"}, VT_INSN_OTHER, true},
		{{"mov 0x10(%rip),%rax", "mov 0x10(%rip),%rbx"}, VT_INSN_OTHER, false},
		{{"mov 0x10(%rdi),%rax", "mov 0x20(%rdi),%rax"}, VT_INSN_OTHER, false},
		{{"mov $0x10,%rax", "mov $0x20,%rax"}, VT_INSN_OTHER, false},
		{{"mov 0x10,%rax", "mov 0x20,%rax"}, VT_INSN_OTHER, false},
		{{"mov -0x10(%rip),%rax", "mov 0x10(%rip),%rax"}, VT_INSN_OTHER, false},
		{{"x 0y1(%rip)", "x 0y2(%rip)"}, VT_INSN_OTHER, false},
		{{"x 1x1(%rip)", "x 1x2(%rip)"}, VT_INSN_OTHER, false},
		{{"x 0x1(%rip)", "x 0x2(%rip)"}, VT_INSN_OTHER, true},
		{{"x 0x1(%rip", "x 0x2(%rip"}, VT_INSN_OTHER, false},
		{{"x 0x1g(%rip)", "x 0x2g(%rip)"}, VT_INSN_OTHER, false},
		{{"x 0x", "x 0"}, VT_INSN_OTHER, false},
		{{"x 0x1", "x 0x2"}, VT_INSN_OTHER, false},
		/* What is said of them. */
		{{"lea 0x1(%rip),%rax # 402000", "lea 0x2(%rip),%rax # 402010 <x>"},
		 VT_INSN_OTHER,
		 true},
		{{"lea 0x1(%rip),%rax # 402000", "lea 0x2(%rip),%rbx # 402000"},
		 VT_INSN_OTHER,
		 false},
		{{"nop#1", "nop"}, VT_INSN_OTHER, true},
		/* Where jumps go; what is called. */
		{{"jmp 401000 <f+0x10>", "jmp 402000 <g>"}, VT_INSN_BRANCH, true},
		{{"je 401000 <f+0x10>", "je 402000"}, VT_INSN_CONDITIONAL, true},
		{{"je 401000 <f>", "jne 401000 <f>"}, VT_INSN_CONDITIONAL, false},
		{{"jmp 401000 <f>", "jmp 402000 <f>"}, VT_INSN_OTHER, false},
		{{"call 401000 <f>", "call 402000 <f+0x10>"}, VT_INSN_CALL, true},
		{{"call 401000 <f>", "call 401000 <g>"}, VT_INSN_CALL, false},
		{{"call 401000 <f>", "call 401000 <ff>"}, VT_INSN_CALL, false},
		{{"call 401000 <f>", "call 401000"}, VT_INSN_CALL, false},
		{{"call *%rax", "call *%rbx"}, VT_INSN_CALL, true},
		{{"call 401000 <f", "call 402000 <f>"}, VT_INSN_CALL, true},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_listdiff_result r;
		struct side e[2];

		for (k = 0; k < 2; k++) {
			const struct row one = {
				rows[i].text[k], rows[i].type, {0}, VT_ROW_INSTRUCTION, false};

			set_events(&e[k], cycles, 1, false);
			set_rows(&e[k], 0x1000, &one, 1);
		}
		compare(e, first, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r);
		if (r.only[0] != !rows[i].same || r.only[1] != !rows[i].same)
			fail_msg("%s and %s", rows[i].text[0], rows[i].text[1]);
		drop(e);
	}
}

#define MANY 1100

/* Where there are too many differences, the beginnings and the ends are compared. */
static void test_rough(void **state)
{
	static struct vt_list_row rows[2][MANY];
	static char texts[2][MANY][16];
	struct vt_listdiff_result r;
	struct side e[2];
	unsigned i, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		set_events(&e[k], cycles, 1, false);
		set_rows(&e[k], 0x1000, NULL, 0);
		for (i = 0; i < MANY; i++) {
			snprintf(texts[k][i], sizeof(texts[k][i]), "%u %u",
				 i == 0 || i == MANY / 2 || i == MANY - 1 ? 0 : k + 1, i);
			rows[k][i] = (struct vt_list_row){.kind = VT_ROW_RAW,
							  .text = texts[k][i],
							  .text_size = strlen(texts[k][i])};
		}
		e[k].l.rows = rows[k];
		e[k].l.nrows = MANY;
	}
	compare(e, first, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r);
	assert_true(r.rough);
	assert_int_equal(r.only[0], MANY - 2);
	assert_int_equal(r.only[1], MANY - 2);
	e[0].l.nrows = e[1].l.nrows = MANY / 2 + 1;
	compare(e, first, 1, VT_LIST_ASM, VT_TABLE_CSV, false, &r);
	assert_false(r.rough);
	assert_int_equal(r.only[0], MANY / 2 - 1);
	drop(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	    cmocka_unit_test(test_colors),
		cmocka_unit_test(test_lines),	    cmocka_unit_test(test_events),
		cmocka_unit_test(test_significant), cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_keys),	    cmocka_unit_test(test_rough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
