/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of conflicting accesses as tables: every cell of a few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "listing/values/conflicts.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define MISSING_IMAGE 7
#define STRIPPED      8
#define NOWHERE	      9 /* no such image */

static struct vt_error err;
static char *dir;
static struct scene s;

static int begin(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	dir = toolbox_dir();
	scene_program(dir, scene_walk);
	free(toolbox_run(dir, "strip -o bare prog"));
	scene_image(w, 1, toolbox_path(dir, "prog"));
	scene_image(w, MISSING_IMAGE, "/no/such/lib");
	scene_image(w, STRIPPED, toolbox_path(dir, "bare"));
	scene_read(&s, fd, w, false);
	return 0;
}

static int end(void **state)
{
	(void)state;
	scene_drop(&s);
	toolbox_remove(dir);
	return 0;
}

/* ---- pairs ---- */

struct pair {
	uint64_t image, offset, earlier_image, earlier, type, count, executions, distance, nearest,
		samples;
};

struct meta {
	const char *key, *value;
};

static struct vt_listreplay *make(const struct pair *pairs, size_t npairs, const struct meta *metas,
				  size_t nmetas)
{
	struct vt_listreplay *l = vt_listreplay_new(s.images, VT_SYNTAX_ATT);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec = {0};
	struct vt_reader *r;
	size_t i;

	assert_non_null(l);
	for (i = 0; i < npairs; i++) {
		uint64_t *row = vt_writer_row(w, VT_CONFLICT);

		row[VT_CONFLICT_IMAGE] = pairs[i].image;
		row[VT_CONFLICT_OFFSET] = pairs[i].offset;
		row[VT_CONFLICT_EARLIER_IMAGE] = pairs[i].earlier_image;
		row[VT_CONFLICT_EARLIER] = pairs[i].earlier;
		row[VT_CONFLICT_TYPE] = pairs[i].type;
		row[VT_CONFLICT_COUNT] = pairs[i].count;
		row[VT_CONFLICT_EXECUTIONS] = pairs[i].executions;
		row[VT_CONFLICT_DISTANCE] = pairs[i].distance;
		row[VT_CONFLICT_NEAREST] = pairs[i].nearest;
		row[VT_CONFLICT_SAMPLES] = pairs[i].samples;
	}
	for (i = 0; i < nmetas; i++) {
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, metas[i].key);
		vt_writer_text(w, VT_META_VALUE, metas[i].value);
	}
	vt_writer_row(w, VT_LOST)[VT_LOST_COUNT] = 1;
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) == 1)
		assert_int_equal(vt_listreplay_feed(l, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
	return l;
}

static void check(const struct pair *pairs, size_t n, uint64_t top, bool people, size_t left_out,
		  const char *want)
{
	struct vt_listreplay *l = make(pairs, n, NULL, 0);
	struct vt_table *t = vt_table_new();

	assert_non_null(t);
	assert_int_equal(vt_listreplay_fill(l, t, top, people), left_out);
	assert_string_equal(
		scene_text(print_table(t, people ? VT_TABLE_TEXT : VT_TABLE_CSV, false), dir),
		want);
	vt_table_free(t);
	vt_listreplay_free(l);
}

/* ---- for programs ---- */

#define KEYS                                                                                       \
	"samples,count,per_1000,distance,nearest,type,procedure,line,instruction,address,image,"   \
	"earlier_procedure,earlier_line,earlier_instruction,earlier_address,earlier_image,"        \
	"executions\n"

/* 30 meetings, 75 instructions apart together, in 400 executions. */
static void test_programs(void **state)
{
	static const struct pair pairs[] = {
		{1, 0x1004, 1, 0x1001, VT_CONFLICT_FORWARD, 30, 400, 75, 2, 9},
		{1, 0x101e, MISSING_IMAGE, 0x30, VT_CONFLICT_ALIAS_4K, 0, 0, 5, 1, 3},
		{STRIPPED, 0x1000, NOWHERE, 0x50, VT_CONFLICT_SYNONYM, 1, 1, 1, 1, 2},
		{1, 0x101c, 1, 0x200000, VT_NCONFLICTS, 1, 8, 1, 1, 1},
	};
	struct pair pairs_twice[2];

	(void)state;
	check(pairs, 4, 0, false, 0,
	      KEYS "9,30,75,2.5,2,forward,f,b.h:2,\"add    $0x1,%rbx\",0x401004,prog,"
		   "f,a.c:4,\"mov    (%rdi),%rbx\",0x401001,prog,400\n"
		   "3,0,,,1,alias-4k,[no symbol covers it],,nop,0x40101e,prog,"
		   "[file not found],,,0x30,lib,0\n"
		   "2,1,1000,1,1,synonym,[file is stripped of symbols],,push   %rbx,0x401000,bare,"
		   "?,,,0x50,,1\n"
		   "1,1,125,1,1,?,g,a.c:9,nop,0x40101c,prog,"
		   "[outside what the file loads],,,0x200000,prog,8\n");
	check(pairs, 4, 1, false, 3,
	      KEYS "9,30,75,2.5,2,forward,f,b.h:2,\"add    $0x1,%rbx\",0x401004,prog,"
		   "f,a.c:4,\"mov    (%rdi),%rbx\",0x401001,prog,400\n");
	check(pairs + 3, 1, 2, false, 0,
	      KEYS "1,1,125,1,1,?,g,a.c:9,nop,0x40101c,prog,"
		   "[outside what the file loads],,,0x200000,prog,8\n");
	check(NULL, 0, 0, false, 0, KEYS);
	/* The same one twice. */
	pairs_twice[0] = pairs_twice[1] = pairs[3];
	check(pairs_twice, 2, 1, false, 1,
	      KEYS "1,1,125,1,1,?,g,a.c:9,nop,0x40101c,prog,"
		   "[outside what the file loads],,,0x200000,prog,8\n");
}

/* Which of two comes first: the one with more samples and meetings, or the lower other numbers. */
static void test_order(void **state)
{
	static const struct {
		struct pair a, b;
	} rows[] = {
		{{1, 9, 1, 9, 9, 1, 0, 0, 0, 6}, {1, 1, 1, 1, 1, 9, 0, 0, 0, 5}},
		{{1, 9, 1, 9, 9, 2, 0, 0, 0, 5}, {1, 1, 1, 1, 1, 1, 0, 0, 0, 5}},
		{{1, 9, 9, 9, 9, 1, 0, 0, 0, 5}, {7, 1, 1, 1, 1, 1, 0, 0, 0, 5}},
		{{1, 8, 9, 9, 9, 1, 0, 0, 0, 5}, {1, 9, 1, 1, 1, 1, 0, 0, 0, 5}},
		{{1, 8, 9, 9, 1, 1, 0, 0, 0, 5}, {1, 8, 1, 1, 2, 1, 0, 0, 0, 5}},
		{{1, 8, 1, 9, 1, 1, 0, 0, 0, 5}, {1, 8, 7, 1, 1, 1, 0, 0, 0, 5}},
		{{1, 8, 1, 2, 1, 1, 0, 0, 0, 5}, {1, 8, 1, 9, 1, 1, 0, 0, 0, 5}},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		struct pair both[2] = {rows[i / 2].a, rows[i / 2].b};
		struct vt_listreplay *l;
		struct vt_table *t = vt_table_new();

		/* To be seen in the table again. */
		both[0].nearest = 100;
		both[1].nearest = 200;
		if (i % 2) {
			struct pair first = both[0];

			both[0] = both[1];
			both[1] = first;
		}
		l = make(both, 2, NULL, 0);
		vt_listreplay_fill(l, t, 0, false);
		for (k = 0; k < 2; k++)
			if (vt_table_cell(t, k, 4).number != 100 * (k + 1))
				fail_msg("pair %u, number %u", i / 2, k);
		vt_table_free(t);
		vt_listreplay_free(l);
	}
}

/* ---- for people ---- */

static void test_people(void **state)
{
	static const struct pair pairs[] = {
		{1, 0x1013, 1, 0x101b, VT_CONFLICT_FORWARD, 30, 400, 75, 2, 9},
		{1, 0x100c, MISSING_IMAGE, 0x30, VT_CONFLICT_ORDER, 2, 8, 20, 1, 3},
		{1, 0x101f, NOWHERE, 0x31, VT_CONFLICT_SIZE, 0, 7, 20, 1, 0},
	};

	(void)state;
	check(pairs, 3, 0, true, 0,
	      "samples   count   apart     type  address  instruction          procedure         "
	      "     line   image\n"
	      "      9      30     2.5  forward   401013  mov 0x10(%rip),%rax  f                 "
	      "     a.c:5  prog\n"
	      "         of 400  from 2    after   40101b  ret                  f                 "
	      "     a.c:6  prog\n"
	      "      3       2      10    order   40100c  je 401000            f                 "
	      "     a.c:4  prog\n"
	      "           of 8  from 1    after       30                       [file not found]  "
	      "            lib\n"
	      "      0       0     0.0     size   40101f  nop                  [no symbol covers "
	      "it]         prog\n"
	      "           of 7  from 1    after       31                       ?\n");
	/* What is the same everywhere, and what there is none of, is not shown. */
	check(pairs, 3, 1, true, 2,
	      "samples   count   apart     type  address  instruction          procedure  line\n"
	      "      9      30     2.5  forward   401013  mov 0x10(%rip),%rax  f          a.c:5\n"
	      "         of 400  from 2    after   40101b  ret                  f          a.c:6\n");
	check(pairs + 2, 1, 0, true, 0,
	      "count   apart   type  address  instruction  procedure              image\n"
	      "    0     0.0   size   40101f  nop          [no symbol covers it]  prog\n"
	      " of 7  from 1  after       31               ?\n");
}

/* Long names do not widen the table beyond a terminal. */
static void test_widths(void **state)
{
	static const unsigned max[] = {0, 0, 0, 0, 0, 32, 32, 24, 0};
	struct vt_listreplay *l = make(NULL, 0, NULL, 0);
	struct vt_table *t = vt_table_new();
	size_t i;

	(void)state;
	assert_non_null(t);
	assert_int_equal(vt_listreplay_fill(l, t, 0, true), 0);
	assert_int_equal(vt_table_columns(t), 9);
	for (i = 0; i < 9; i++)
		assert_int_equal(vt_table_column_at(t, i)->max, max[i]);
	vt_table_free(t);
	vt_listreplay_free(l);
}

/* From 10 instructions on, tenths do not matter; a line that is known of the one is enough. */
static void test_distances(void **state)
{
	static const struct pair pairs[] = {
		{1, 0x101e, 1, 0x101c, VT_CONFLICT_SIZE, 10, 7, 99, 1, 0},
		{1, 0x101f, 1, 0x101e, VT_CONFLICT_SIZE, 4, 7, 46, 1, 0},
	};

	(void)state;
	check(pairs, 2, 0, true, 0,
	      "count   apart   type  address  instruction  procedure              line\n"
	      "   10     9.9   size   40101e  nop          [no symbol covers it]\n"
	      " of 7  from 1  after   40101c  nop          g                      a.c:9\n"
	      "    4      12   size   40101f  nop          [no symbol covers it]\n"
	      " of 7  from 1  after   40101e  nop          [no symbol covers it]\n");
}

/* ---- the lines above ---- */

#define BELOW                                                                                      \
	"\n\nAbove is the later access, below the earlier one: how often they met, of how\nmany "  \
	"executions; how many instructions apart, on the mean and at least.\n\n"

static void check_header(size_t npairs, const struct meta *metas, size_t n, const char *want)
{
	static const struct pair pairs[2];
	struct vt_listreplay *l = make(pairs, npairs, metas, n);
	struct vt_output out;

	print_begin(&out);
	vt_listreplay_header(l, &out);
	assert_string_equal(print_end(&out), want);
	vt_listreplay_free(l);
}

/* What several streams tell adds up; a number of more than 23 digits is none. */
static void test_header(void **state)
{
	static const struct meta metas[] = {
		{"replay.insns", "1000"},
		{"replay.insns", "234"},
		{"replay.insnss", "5"},
		{"replay.insn", "5"},
		{"replay.known", "150"},
		{"replay.accesses", "400"},
		{"replay.relative", "50"},
		{"other.known.it", "7"},
		{"replay.known", "000000000000000000000100"},
		{"replay.known", "00000000000000000000050"},
	};

	(void)state;
	check_header(0, NULL, 0, "0 pairs of accesses that may conflict\n\n");
	check_header(1, NULL, 0, "1 pair of accesses that may conflict" BELOW);
	check_header(2, metas, 4,
		     "2 pairs of accesses that may conflict, in 1234 instructions" BELOW);
	check_header(2, metas, 6,
		     "2 pairs of accesses that may conflict, in 1234 instructions;\n"
		     "37.50% of 400 accesses had known addresses" BELOW);
	check_header(2, metas, 10,
		     "2 pairs of accesses that may conflict, in 1234 instructions;\n"
		     "50.00% of 400 accesses had known addresses, 12.50% relative to a "
		     "register" BELOW);
	check_header(2, metas + 6, 1, "2 pairs of accesses that may conflict" BELOW);
}

/* ---- whole listings ---- */

static void print(const struct pair *pairs, size_t n, const struct meta *metas, size_t nmetas,
		  const struct vt_losses *losses, enum vt_table_form form, const char *want)
{
	struct vt_listreplay *l = make(pairs, n, metas, nmetas);
	struct vt_output out;

	assert_int_equal(vt_listreplay_replayed(l), n || nmetas);
	print_begin(&out);
	assert_int_equal(vt_listreplay_print(l, 1, losses, form, false, &out, &err), 0);
	assert_non_null(strstr(print_end(&out), want));
	vt_listreplay_free(l);
}

static void test_print(void **state)
{
	static const struct pair pairs[] = {
		{1, 0x1004, 1, 0x1001, VT_CONFLICT_FORWARD, 30, 400, 75, 2, 9},
		{1, 0x1004, 1, 0x1001, VT_CONFLICT_ORDER, 3, 400, 75, 2, 9},
	};
	static const struct meta meta = {"replay.model", "alpha"};
	const struct vt_losses none = {0};

	(void)state;
	print(pairs, 2, NULL, 0, NULL, VT_TABLE_TEXT, "(1 more pairs)\n");
	print(pairs, 2, NULL, 0, NULL, VT_TABLE_TEXT, "2 pairs of accesses that may conflict\n");
	print(pairs, 2, NULL, 0, NULL, VT_TABLE_CSV, KEYS "9,30,75,2.5,2,forward,");
	print(pairs, 2, NULL, 0, &none, VT_TABLE_TEXT, "\"pairs_left_out\": 1\n}");
	print(NULL, 0, &meta, 1, &none, VT_TABLE_TEXT, "\"schema\": \"vlist-replay/1\"");
	print(NULL, 0, NULL, 0, NULL, VT_TABLE_TEXT, "0 pairs of accesses that may conflict\n");
}

/* A replay that saw nothing: a row for each type that its model knows. */
static void test_replay(void **state)
{
	const struct vt_conflict_model *m = vt_conflict_model("zen4");
	const struct vt_replay_options o = {.model = m, .images = s.images, .length = 1};
	struct vt_replay *rp = vt_replay_new(&o, &err);
	const struct vt_losses none = {0};
	struct vt_output out;

	(void)state;
	assert_non_null(rp);
	print_begin(&out);
	assert_int_equal(vt_replay_summarize(rp, m, NULL, &out, &err), 0);
	assert_string_equal(print_end(&out), "from          nothing\n"
					     "model         zen4, 320 instructions apart at most\n"
					     "instructions  0 in 0 runs\n"
					     "accesses      0\n"
					     "left out      0 repeated, wide or locked accesses\n"
					     "ruled out     0 times, as one depends on the other\n"
					     "samples       0\n\n"
					     "type     pairs  times met\n"
					     "forward      0          0\n"
					     "order        0          0\n");
	print_begin(&out);
	assert_int_equal(vt_replay_summarize(rp, m, &none, &out, &err), 0);
	assert_non_null(strstr(print_end(&out), "\"distance\": 320,"));
	vt_replay_free(rp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_order),
		cmocka_unit_test(test_people),	 cmocka_unit_test(test_distances),
		cmocka_unit_test(test_widths),	 cmocka_unit_test(test_header),
		cmocka_unit_test(test_print),	 cmocka_unit_test(test_replay),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
