/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hot lists below the instructions of a listing: every line and cell of a few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "listing/code/listing.h"
#include "tests/unit/common/hots.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "value/invariance.h"

#define MISSING_IMAGE 7
#define NOWHERE	      0xffffffffu
#define MODULE	      9 /* its id */

static struct vt_error err;
static char *dir;

static int begin(void **state)
{
	(void)state;
	dir = toolbox_dir();
	scene_program(dir, scene_walk);
	return 0;
}

static int end(void **state)
{
	(void)state;
	toolbox_remove(dir);
	return 0;
}

static const struct vt_procedure f = {
	.image = 1, .start = 0x401000, .end = 0x40101c, .symbol = "f", .name = "f"};

struct shown {
	struct scene s;
	struct vt_event_choice events;
	struct vt_list_values values;
	struct vt_listing *l;
};

static void name_plugin(struct vt_writer *w, const char *format)
{
	uint64_t *row = vt_writer_row(w, VT_MODULE);

	row[VT_MODULE_ID] = MODULE;
	vt_writer_text(w, VT_MODULE_NAME, "my\tmod");
	vt_writer_text(w, VT_MODULE_FORMAT, format);
	row = vt_writer_row(w, VT_LABEL);
	row[VT_LABEL_MODULE] = MODULE;
	row[VT_LABEL_VALUE] = 1;
	vt_writer_text(w, VT_LABEL_TEXT, "one\n");
}

/* The lists are of prog unless they tell otherwise; one sample each at 0x401000 and 0x401004. */
static void show(struct shown *h, const struct vt_procedure *proc, struct vt_listing_options *opt,
		 const struct hot_spec *specs, size_t n, const char *format)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	size_t i;

	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_image(w, 1, toolbox_path(dir, "prog"));
	scene_image(w, MISSING_IMAGE, "/no/such/lib");
	scene_map(w, 0x400000, 1);
	scene_map(w, 0x700000, MISSING_IMAGE);
	scene_samples(w, 1, 0x401000, 0, 1, 1);
	scene_samples(w, 1, 0x401004, 0, 1, 1);
	name_plugin(w, format);
	for (i = 0; i < n; i++) {
		struct hot_spec one = specs[i];

		one.image = one.image ? one.image : 1;
		hot_put(w, &one);
	}
	scene_read(&h->s, fd, w, false);
	assert_int_equal(vt_event_choice_init(&h->events, h->s.profile, NULL, 0, &err), 0);
	h->values.lists = h->s.lists;
	h->values.style.profile = h->s.profile;
	h->values.style.images = h->s.images;
	opt->values = &h->values;
	h->l = vt_listing_new(h->s.profile, h->s.images, proc, opt, &err);
	assert_non_null(h->l);
}

static void drop(struct shown *h)
{
	vt_listing_free(h->l);
	vt_event_choice_fini(&h->events);
	scene_drop(&h->s);
}

static const char *table(const struct shown *h, enum vt_table_form form, bool color)
{
	struct vt_table *t = vt_table_new();
	const char *text;

	assert_non_null(t);
	vt_listing_columns(t, h->l, VT_LIST_ASM, &h->events);
	vt_listing_rows(t, h->l, &h->events);
	text = print_table(t, form, color);
	vt_table_free(t);
	return scene_text(text, dir);
}

/* The lists' texts of f, one a line. */
static void check_texts(struct shown *h, const struct hot_spec *specs, size_t n, const char *want)
{
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	char text[8192] = "";
	size_t i, at = 0;

	show(h, &f, &opt, specs, n, "unsigned");
	for (i = 0; i < vt_listing_nrows(h->l); i++) {
		const struct vt_list_row *row = vt_listing_row(h->l, i);

		if (row->kind == VT_ROW_VALUES || row->kind == VT_ROW_CALLERS) {
			assert_int_equal(row->text_size, strlen(row->text));
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\n", row->text);
			assert_true(at < sizeof(text));
		}
	}
	drop(h);
	assert_string_equal(text, want);
}

#define EVERY                                                                                      \
	(struct shown)                                                                             \
	{                                                                                          \
		.values = {.what = VT_INV_EVERY, .show = 9 }                                       \
	}

/* ---- the whole listing ---- */

/* Of the load, 90 percent 0; of the sum, 3 of 40 only, as the list is thinned to a fourth. */
static const struct hot_spec two[] = {
	{.offset = 0x1001,
	 .what = VT_WHAT_LOAD,
	 .total = 1000,
	 .zero = 900,
	 .same = 850,
	 .stride = 3,
	 .nvalues = 3,
	 .values = {0, 5, 300000},
	 .counts = {900, 60, 30}},
	{.offset = 0x1004,
	 .what = VT_WHAT_RESULT,
	 .reg = VT_REG_BX,
	 .caller_image = 1,
	 .caller = 0x1013,
	 .algo = VT_ALGO_GM,
	 .capacity = 2,
	 .level = 2,
	 .factor = 2,
	 .total = 400,
	 .profiled = 160,
	 .nvalues = 1,
	 .values = {17},
	 .counts = {3}},
};

static void test_listing(void **state)
{
	struct vt_listing_options opt = {.view = VT_LIST_ASM, .partial = true};
	struct shown h = EVERY;
	struct vt_output out;

	(void)state;
	show(&h, &f, &opt, two, 2, "signed");
	assert_string_equal(table(&h, VT_TABLE_TEXT, false),
			    "     %  address  code  what  executions  per  distinct  values\n"
			    "50.00%   401000  push   %rbx\n"
			    "         401001  mov    (%rdi),%rbx\n"
			    "                       load        1000    1         3  90.0% 0  6.0% "
			    "5  3.0% 300000  ...\n"
			    "50.00%   401004  add    $0x1,%rbx\n"
			    "                       rbx          400  4.0         1    ~8% 17  ... "
			    " from f+0x13\n"
			    "                 ... 6 instructions without samples\n");
	assert_string_equal(
		table(&h, VT_TABLE_CSV, false),
		"cycles,cycles.percent,address,shown_line,code,kind,file,line,function,inlined_"
		"into,"
		"procedure,image,of,what,register,module,lane,size,caller,total,per,distinct,"
		"profiled,"
		"zero,same,stride,values\n"
		"1,50,0x401000,,push   %rbx,instruction,/src/a.c,3,f,,f,D/prog,,,,,,,,,,,,,,,\n"
		",,0x401001,,\"mov    (%rdi),%rbx\",instruction,/src/a.c,4,f,,f,D/prog,"
		",,,,,,,,,,,,,,\n"
		",,,,      load        1000    1         3  90.0% 0  6.0% 5  3.0% 300000  "
		"...,values,,,,,f,"
		"D/prog,0x401001,load,,,0,8,,1000,1,3,1000,900,850,3,"
		"90.0% 0  6.0% 5  3.0% 300000  ...\n"
		"1,50,0x401004,,\"add    $0x1,%rbx\",instruction,/src/b.h,2,h,,f,D/prog,"
		",,,,,,,,,,,,,,\n"
		",,,,      rbx          400  4.0         1    ~8% 17  ...  from "
		"f+0x13,values,,,,,f,D/prog,"
		"0x401004,result,rbx,,0,8,f+0x13,400,4,1,160,0,0,0,~8% 17  ...\n"
		",,,,... 6 instructions without samples,cut,,,,,f,D/prog,,,,,,,,,,,,,,,\n");
	print_begin(&out);
	vt_listing_header(h.l, h.s.profile, &h.events, false, &out);
	assert_string_equal(scene_text(print_end(&out), dir),
			    "f in D/prog, no build-id recorded\n"
			    "cycles: 2 samples, 100.00% of all 2\n"
			    "values: 2 hot lists (several algorithms): one of 'per' executions "
			    "enters the list, which has 'distinct' values\n\n");
	drop(&h);
	/* One list; none; and the view of source lines has none at all. */
	show(&h, &f, &opt, two + 1, 1, "signed");
	print_begin(&out);
	vt_listing_header(h.l, h.s.profile, &h.events, false, &out);
	assert_non_null(strstr(print_end(&out), "\nvalues: 1 hot list (gm): one of 'per'"));
	drop(&h);
	show(&h, &f, &opt, NULL, 0, "signed");
	print_begin(&out);
	vt_listing_header(h.l, h.s.profile, &h.events, false, &out);
	assert_non_null(strstr(print_end(&out), "\nvalues: no hot lists\n\n"));
	assert_string_equal(table(&h, VT_TABLE_TEXT, false),
			    "     %  address  code\n"
			    "50.00%   401000  push   %rbx\n"
			    "                 ... 1 instruction without samples\n"
			    "50.00%   401004  add    $0x1,%rbx\n"
			    "                 ... 6 instructions without samples\n");
	drop(&h);
	opt.view = VT_LIST_SOURCE;
	show(&h, &f, &opt, two, 2, "signed");
	print_begin(&out);
	vt_listing_header(h.l, h.s.profile, &h.events, false, &out);
	assert_null(strstr(print_end(&out), "values"));
	drop(&h);
}

/* Lists of one algorithm are said to be so. */
static void test_algorithms(void **state)
{
	const struct hot_spec same[] = {
		{.offset = 0x1001, .total = 1, .algo = VT_ALGO_TNV, .capacity = 4, .factor = 2},
		{.offset = 0x1004, .total = 1, .algo = VT_ALGO_TNV, .capacity = 4, .factor = 2},
		{.offset = 0x1008, .total = 1, .algo = VT_ALGO_GM, .capacity = 4, .factor = 2}};
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	struct vt_output out;
	unsigned n;

	(void)state;
	for (n = 2; n <= 3; n++) {
		struct shown h = EVERY;

		show(&h, &f, &opt, same, n, "signed");
		print_begin(&out);
		vt_listing_header(h.l, h.s.profile, &h.events, false, &out);
		assert_non_null(strstr(print_end(&out),
				       n == 2 ? "2 hot lists (tnv): " : "3 hot lists (several "));
		drop(&h);
	}
}

/* Nearly always one value: bold; less than a tenth, or a guess: faint. */
static void test_styles(void **state)
{
	static const struct {
		uint64_t count, level;
		const char *start;
	} rows[] = {{900, 0, "\033[1m"}, {899, 0, ""}, {100, 0, ""},
		    {99, 0, "\033[2m"},	 {10, 4, ""},  {9, 4, "\033[2m"}};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct hot_spec one = {.offset = 0x1001,
					     .what = VT_WHAT_LOAD,
					     .algo = VT_ALGO_GM,
					     .capacity = 9,
					     .level = rows[i].level,
					     .factor = 2,
					     .total = 1000,
					     .nvalues = 1,
					     .values = {1},
					     .counts = {rows[i].count}};
		struct vt_listing_options opt = {.view = VT_LIST_ASM};
		struct shown h = EVERY;
		char want[64];

		snprintf(want, sizeof(want), "  %s      load  ", rows[i].start);
		show(&h, &f, &opt, &one, 1, "signed");
		assert_non_null(strstr(table(&h, VT_TABLE_TEXT, true), want));
		drop(&h);
	}
}

/* A list without values is faint; of two events, the percentages have the events' names. */
static void test_empty(void **state)
{
	const struct hot_spec none = {.offset = 0x1001, .what = VT_WHAT_LOAD, .total = 7};
	struct vt_listing_options opt = {.view = VT_LIST_ASM, .partial = true, .context = 0};
	struct shown h = EVERY;
	size_t index[2] = {0, 0};
	char *label[2] = {"here", "there"};

	(void)state;
	show(&h, &f, &opt, &none, 1, "signed");
	assert_non_null(strstr(table(&h, VT_TABLE_TEXT, true),
			       "\033[2m      load           7    1         0    ...\033[0m\n"));
	vt_event_choice_fini(&h.events);
	h.events = (struct vt_event_choice){index, label, 2};
	assert_non_null(strstr(table(&h, VT_TABLE_TEXT, false), "  here   there  address  code"));
	h.events = (struct vt_event_choice){NULL, NULL, 0};
	drop(&h);
}

/* ---- shares ---- */

/* The first in five columns, nothing rounded to 100; of a thinned list, few counts are a guess. */
static void test_shares(void **state)
{
	static const struct {
		uint64_t total, profiled, level, counts[2], errors[2], nerrors;
		const char *want;
	} rows[] = {
		{50, 0, 0, {50}, {0}, 0, " 100% 1"},
		{100000, 0, 0, {99950}, {0}, 0, "99.9% 1"},
		{100000, 0, 0, {99890}, {0}, 0, "99.9% 1  ..."},
		{100000, 0, 0, {99899, 1}, {0}, 0, "99.9% 1  0.0% 2"},
		{1000, 0, 0, {42, 7}, {0}, 0, " 4.2% 1  0.7% 2  ..."},
		{1000, 500, 0, {100, 50}, {0}, 0, "20.0% 1  10.0% 2  ..."},
		{1000, 0, 2, {10, 9}, {0}, 0, " 4.0% 1  ~4% 2  ..."},
		{1000, 0, 2, {9, 8}, {0}, 0, "  ~4% 1  ~3% 2  ..."},
		{1000, 0, 0, {9, 8}, {0}, 0, " 0.9% 1  0.8% 2  ..."},
		{1000, 0, 0, {500, 400}, {100, 100}, 2, "40.0% 1  30.0% 2  ..."},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct hot_spec one = {.offset = 0x1001,
				       .what = VT_WHAT_LOAD,
				       .algo = VT_ALGO_EXACT,
				       .level = rows[i].level,
				       .factor = 2,
				       .total = rows[i].total,
				       .profiled = rows[i].profiled,
				       .nvalues = 1 + (rows[i].counts[1] > 0),
				       .nerrors = rows[i].nerrors,
				       .values = {1, 2}};
		struct shown h = EVERY;
		char want[128];

		one.algo = one.nerrors ? VT_ALGO_SPACE_SAVING : one.level ? VT_ALGO_GM : one.algo;
		one.capacity = one.algo == VT_ALGO_EXACT ? 0 : 5;
		memcpy(one.counts, rows[i].counts, sizeof(rows[i].counts));
		memcpy(one.errors, rows[i].errors, sizeof(rows[i].errors));
		snprintf(want, sizeof(want), "      load  %10d  %3s         %d  %s\n",
			 (int)one.total, one.level ? "4.0" : "1", (int)one.nvalues, rows[i].want);
		check_texts(&h, &one, 1, want);
	}
}

/* So many values at most, those with so large a share; what is left out is hinted at. */
static void test_cutoff(void **state)
{
	const struct hot_spec one = {.offset = 0x1001,
				     .what = VT_WHAT_LOAD,
				     .total = 1000,
				     .nvalues = 4,
				     .values = {1, 2, 3, 4},
				     .counts = {700, 200, 90, 10}};
	struct shown h = {.values = {.what = VT_INV_EVERY, .show = 4}};

	(void)state;
	check_texts(&h, &one, 1,
		    "      load        1000    1         4  70.0% 1  20.0% 2  9.0% 3  1.0% 4\n");
	h.values.cutoff = 9;
	check_texts(&h, &one, 1,
		    "      load        1000    1         4  70.0% 1  20.0% 2  9.0% 3  ...\n");
	h.values.cutoff = 9.1;
	check_texts(&h, &one, 1, "      load        1000    1         4  70.0% 1  20.0% 2  ...\n");
	h.values.show = 1;
	check_texts(&h, &one, 1, "      load        1000    1         4  70.0% 1  ...\n");
	h.values.show = 0;
	check_texts(&h, &one, 1, "      load        1000    1         4    ...\n");
}

/* One in 1 is a whole number, and so is one in 1000 or more. */
static void test_columns(void **state)
{
	const struct hot_spec product = {.offset = 0x1008,
					 .what = VT_WHAT_RESULT,
					 .reg = VT_REG_BX,
					 .total = 1,
					 .nvalues = 1,
					 .values = {(uint64_t)-100000},
					 .counts = {1}};
	const struct hot_spec lists[] = {
		{.offset = 0x1001, .what = VT_WHAT_LOAD, .total = 12345678},
		{.offset = 0x1004,
		 .what = VT_WHAT_OPERAND,
		 .reg = VT_REG_BX,
		 .algo = VT_ALGO_GM,
		 .capacity = 3,
		 .level = 1,
		 .factor = 999.5,
		 .total = 7},
		{.offset = 0x1008,
		 .what = VT_WHAT_RESULT,
		 .algo = VT_ALGO_GM,
		 .capacity = 3,
		 .level = 1,
		 .factor = 1000,
		 .total = 7},
	};
	struct shown h = EVERY;

	(void)state;
	check_texts(&h, lists, 3,
		    "      load           12345678      1         0    ...\n"
		    "      operand rbx           7  999.5         0    ...\n"
		    "      rax                   7   1000         0    ...\n");
	check_texts(&h, lists + 2, 1, "      rax            7  1000         0    ...\n");
	/* A product is signed: so its instruction says. */
	check_texts(&h, &product, 1, "      rbx            1    1         1   100% -100000\n");
}

/* ---- what a list is of ---- */

#define OF(w, r, n)                                                                                \
	{                                                                                          \
		.offset = 0x1001, .what = VT_WHAT_##w, .reg = (r), .total = 100, .nvalues = 1,     \
		.values = {(n)}, .counts = {                                                       \
			100                                                                        \
		}                                                                                  \
	}

/* Arguments in the order of the ABI, where the procedure was called from, the rest in order. */
static void test_order(void **state)
{
	static const struct hot_spec lists[] = {
		OF(MODULE, MODULE, 1),
		OF(RESULT, VT_REG_SI, 2),
		OF(RESULT, VT_REG_AX, 3),
		OF(STORE_ADDRESS, 0, 0x401001),
		OF(LOAD_ADDRESS, 0, 0x401000),
		OF(STORE, 0, 5),
		OF(LOAD, 0, 6),
		OF(OPERAND, VT_REG_DI, 7),
		OF(LATENCY, 0, 8),
		OF(RETURN, 0, 0x401013),
		OF(ARG, VT_REG_VECTOR, 9),
		OF(ARG, VT_REG_AX, 10),
		OF(ARG, VT_REG_R8 + 1, 11),
		OF(ARG, VT_REG_R8, 12),
		OF(ARG, VT_REG_CX, 13),
		OF(ARG, VT_REG_DX, 14),
		OF(ARG, VT_REG_SI, 15),
		OF(ARG, VT_REG_DI, 16),
	};
	struct shown h = EVERY;

	(void)state;
	check_texts(&h, lists, sizeof(lists) / sizeof(*lists),
		    "      arg rdi             100    1         1   100% 16\n"
		    "      arg rsi             100    1         1   100% 15\n"
		    "      arg rdx             100    1         1   100% 14\n"
		    "      arg rcx             100    1         1   100% 13\n"
		    "      arg r8              100    1         1   100% 12\n"
		    "      arg r9              100    1         1   100% 11\n"
		    "      arg rax             100    1         1   100% 10\n"
		    "      arg xmm0            100    1         1   100% 1.3e-44\n"
		    "      caller              100    1         1   100% f+0x13\n"
		    "      load                100    1         1   100% 6\n"
		    "      store               100    1         1   100% 5\n"
		    "      load at             100    1         1   100% f\n"
		    "      store at            100    1         1   100% f+0x1\n"
		    "      rax                 100    1         1   100% 3\n"
		    "      rsi                 100    1         1   100% 2\n"
		    "      operand rdi         100    1         1   100% 7\n"
		    "      latency             100    1         1   100% 8\n"
		    "      my\\tmod             100    1         1   100% one\\n\n");
	/* Only some kinds. */
	h.values.what = 1u << VT_WHAT_STORE | 1u << VT_WHAT_RETURN;
	check_texts(&h, lists, sizeof(lists) / sizeof(*lists),
		    "      caller         100    1         1   100% f+0x13\n"
		    "      store          100    1         1   100% 5\n");
	h.values.what = VT_INV_EVERY;
	h.values.style.format = VT_VALUE_HEX;
	check_texts(&h, lists, 1, "      my\\tmod         100    1         1   100% 0x1\n");
}

static struct hot_spec lane_of(uint64_t what, uint64_t reg, uint64_t size, uint64_t lane,
			       uint64_t value)
{
	return (struct hot_spec){.offset = 0x1001,
				 .what = what,
				 .reg = reg,
				 .size = size,
				 .lane = lane,
				 .total = 1,
				 .nvalues = 1,
				 .values = {value},
				 .counts = {1}};
}

/* Of wide values, each 8 bytes have a list, the last ones fewer; registers have their own names. */
static void test_lanes(void **state)
{
	const struct hot_spec lists[] = {
		lane_of(VT_WHAT_STORE, 0, 12, 0, UINT64_MAX),
		lane_of(VT_WHAT_STORE, 0, 12, 1, UINT64_MAX),
		lane_of(VT_WHAT_STORE, 0, 16, 2, UINT64_MAX),
		lane_of(VT_WHAT_LOAD, 0, 9, 0, UINT64_MAX),
		lane_of(VT_WHAT_LOAD, 0, 15, 1, UINT64_MAX),
		lane_of(VT_WHAT_RESULT, VT_REG_BX, 4, 0, UINT64_MAX),
		lane_of(VT_WHAT_RESULT, VT_REG_VECTOR + 2, 32, 1, 7),
	};
	struct shown h = {
		.values = {.what = VT_INV_EVERY, .show = 9, .style = {.format = VT_VALUE_HEX}}};

	(void)state;
	check_texts(&h, lists, 7,
		    "      load.0            1    1         1   100% 0xffffffffffffffff\n"
		    "      load.1            1    1         1   100% 0xffffffffffffff\n"
		    "      store.0           1    1         1   100% 0xffffffffffffffff\n"
		    "      store.1           1    1         1   100% 0xffffffff\n"
		    "      store.2           1    1         1   100% 0xffffffffffffffff\n"
		    "      ebx               1    1         1   100% 0xffffffff\n"
		    "      ymm2.1            1    1         1   100% 0x7\n");
}

/* A plugin's values are what its format says they are. */
static void test_plugins(void **state)
{
	static const struct {
		const char *format;
		uint64_t value;
		const char *want;
	} rows[] = {{"unsigned", UINT64_MAX, "0xffffffffffffffff"},
		    {"unsigned", 17, "17"},
		    {"signed", UINT64_MAX, "-1"},
		    {"float", UINT64_MAX, "-nan"},
		    {"address", 17, "0x11"},
		    {"hex", 17, "0x11"}};
	const struct hot_spec place = OF(MODULE, MODULE, 0x401013);
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	const struct vt_list_row *row;
	struct vt_buf b = VT_BUF_INIT;
	struct hot_spec second = OF(MODULE, MODULE, 0x3ff0000000000000); /* 8 bytes, and 0 more */
	struct shown h = EVERY;
	unsigned i;

	(void)state;
	second.lane = 1;
	show(&h, &f, &opt, &second, 1, "float");
	assert_string_equal(vt_listing_row(h.l, 2)->values, " 100% 1.0");
	drop(&h);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct hot_spec one = OF(MODULE, MODULE, rows[i].value);
		char want[64];

		show(&h, &f, &opt, &one, 1, rows[i].format);
		snprintf(want, sizeof(want), " 100%% %s", rows[i].want);
		assert_string_equal(vt_listing_row(h.l, 2)->values, want);
		drop(&h);
	}
	show(&h, &f, &opt, &place, 1, "address");
	row = vt_listing_row(h.l, 2);
	assert_string_equal(row->values, " 100% f+0x13");
	vt_list_value_text(row, 1, &h.values.style, &b);
	assert_string_equal(vt_buf_str(&b), "one\\n");
	b.size = 0;
	vt_list_value_text(row, 0x401000, &h.values.style, &b);
	assert_string_equal(vt_buf_str(&b), "f");
	assert_non_null(strstr(table(&h, VT_TABLE_CSV, false),
			       ",D/prog,0x401001,module,,my\\tmod,0,8,,100,1,1,100,0,0,0,"
			       "100% f+0x13\n"));
	vt_buf_free(&b);
	drop(&h);
	show(&h, &f, &opt, &place, 1, "unsigned");
	assert_string_equal(vt_listing_row(h.l, 2)->values, " 100% 0x401013");
	drop(&h);
}

/* For programs, the registers of what has one. */
static void test_registers(void **state)
{
	const struct hot_spec lists[] = {OF(LOAD, VT_REG_SI, 1), OF(ARG, VT_REG_SI, 1),
					 OF(OPERAND, VT_REG_DX, 1)};
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	struct shown h = EVERY;
	const char *text;

	(void)state;
	show(&h, &f, &opt, lists, 3, "hex");
	text = table(&h, VT_TABLE_CSV, false);
	assert_non_null(strstr(text, ",0x401001,load,,,0,8,"));
	assert_non_null(strstr(text, ",0x401001,arg,rsi,,0,8,"));
	assert_non_null(strstr(text, ",0x401001,operand,rdx,,0,8,"));
	drop(&h);
}

/* ---- callers ---- */

#define FROM(from, at, n)                                                                          \
	{                                                                                          \
		.offset = 0x1004, .what = VT_WHAT_LOAD, .caller_image = (from), .caller = (at),    \
		.total = (n), .nvalues = 1, .values = {(n)}, .counts = {                           \
			(n)                                                                        \
		}                                                                                  \
	}

/* Those of one kind, the busiest first; callers of less than the cutoff are counted. */
static void test_callers(void **state)
{
	static const struct hot_spec lists[] = {
		FROM(1, 0x1013, 60),	 FROM(1, 0x101d, 600), FROM(MISSING_IMAGE, 0x30, 300),
		FROM(NOWHERE, 0x77, 40), OF(STORE, 0, 1),
	};
	static const struct hot_spec equal[] = {FROM(1, 0x1013, 50), FROM(NOWHERE, 0x77, 50),
						FROM(1, 0x101d, 50), FROM(MISSING_IMAGE, 0x30, 50)};
	struct shown h = EVERY;

	(void)state;
	check_texts(&h, lists, 5,
		    "      store         100    1         1   100% 1\n"
		    "      load          600    1         1   100% 600  from g+0x1\n"
		    "      load          300    1         1   100% 300  from lib+0x30\n"
		    "      load           60    1         1   100% 60  from f+0x13\n"
		    "      load           40    1         1   100% 40  from 0x77\n");
	h.values.cutoff = 6;
	check_texts(&h, lists, 4,
		    "      load         600    1         1   100% 600  from g+0x1\n"
		    "      load         300    1         1   100% 300  from lib+0x30\n"
		    "      load          60    1         1   100% 60  from f+0x13\n"
		    "      ... 1 more caller, 4.0% of the executions\n");
	h.values.cutoff = 6.1;
	check_texts(&h, lists, 4,
		    "      load         600    1         1   100% 600  from g+0x1\n"
		    "      load         300    1         1   100% 300  from lib+0x30\n"
		    "      ... 2 more callers, 10.0% of the executions\n");
	/* A single one is never rare. */
	h.values.cutoff = 100;
	check_texts(&h, lists, 1, "      load          60    1         1   100% 60  from f+0x13\n");
	h.values.cutoff = 101;
	check_texts(&h, lists, 1, "      load          60    1         1    ...  from f+0x13\n");
	/* Equal ones by image, then by where they call; those that lie in none come last. */
	h.values.cutoff = 0;
	check_texts(&h, equal, 4,
		    "      load          50    1         1   100% 50  from lib+0x30\n"
		    "      load          50    1         1   100% 50  from f+0x13\n"
		    "      load          50    1         1   100% 50  from g+0x1\n"
		    "      load          50    1         1   100% 50  from 0x77\n");
}

/* For people, the rare ones are faint; for programs, they say of what instruction they are. */
static void test_rare(void **state)
{
	static const struct hot_spec lists[] = {FROM(1, 0x1013, 97), FROM(1, 0x101d, 3)};
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	struct shown h = EVERY;

	(void)state;
	h.values.cutoff = 50;
	show(&h, &f, &opt, lists, 2, "hex");
	assert_non_null(
		strstr(table(&h, VT_TABLE_TEXT, true),
		       "  \033[2m      ... 1 more caller, 3.0% of the executions\033[0m\n"));
	assert_non_null(strstr(table(&h, VT_TABLE_CSV, false),
			       ",callers,,,,,f,D/prog,0x401004,,,,,,,,,,,,,,"
			       "\"... 1 more caller, 3.0% of the executions\"\n"));
	drop(&h);
}

/* ---- where lists are ---- */

/* Lists without samples have rows of their instructions; those of other procedures have none. */
static void test_places(void **state)
{
	static const struct hot_spec lists[] = {
		{.offset = 0x0fff, .total = 1},
		{.offset = 0x1000, .total = 2},
		{.offset = 0x101b, .total = 3},
		{.offset = 0x101c, .total = 4},
		{.offset = 0x101e, .total = 5},
		{.image = MISSING_IMAGE, .offset = 9, .total = 6},
		{.image = NOWHERE, .offset = 0x999, .total = 7},
		{.image = NOWHERE, .offset = UINT64_MAX, .total = 8},
	};
	static const struct vt_procedure g = {
		.image = 1, .start = 0x40101c, .end = 0x40101e, .symbol = "g", .name = "g"};
	static const struct vt_procedure rest = {
		.image = 1, .name = "", .why = VT_UNKNOWN_NO_SYMBOL};
	static const struct vt_procedure missing = {
		.image = MISSING_IMAGE, .name = "", .why = VT_UNKNOWN_NO_FILE};
	static const struct vt_procedure nowhere = {
		.image = VT_UNMAPPED_IMAGE, .name = "", .why = VT_UNKNOWN_NO_MAP};
	static const struct vt_procedure unknown = {
		.image = 99, .name = "", .why = VT_UNKNOWN_NO_IMAGE};
	static const struct {
		const struct vt_procedure *proc;
		const char *want;
	} rows[] = {
		{&unknown, "address  code\n"},
		{&g, "address  code  what     executions  per  distinct  values\n"
		     " 40101c  nop\n"
		     "               unknown           4    1         0    ...\n"
		     " 40101d  ret\n"},
		{&missing, "address  code  what     executions  per  distinct  values\n"
			   "      9  [file not found]\n"
			   "               unknown           6    1         0    ...\n"},
		{&nowhere, "         address  code  what     executions  per  distinct  values\n"
			   "             999  [nothing known to be mapped there]\n"
			   "                        unknown           7    1         0    ...\n"
			   "ffffffffffffffff  [nothing known to be mapped there]\n"
			   "                        unknown           8    1         0    ...\n"},
		{&rest, "address  code  what     executions  per  distinct  values\n"
			"    fff  [no symbol covers it]\n"
			"               unknown           1    1         0    ...\n"
			" 40101e  nop\n"
			"               unknown           5    1         0    ...\n"},
	};
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct shown h = EVERY;

		show(&h, rows[i].proc, &opt, lists, 8, "hex");
		assert_string_equal(table(&h, VT_TABLE_TEXT, false), rows[i].want);
		drop(&h);
	}
	{
		struct shown h = EVERY;

		show(&h, &f, &opt, lists, 8, "hex");
		assert_int_equal(vt_listing_nrows(h.l), 9 + 2);
		assert_int_equal(vt_listing_row(h.l, 1)->list->total, 2);
		assert_int_equal(vt_listing_row(h.l, 10)->list->total, 3);
		drop(&h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing),	  cmocka_unit_test(test_algorithms),
		cmocka_unit_test(test_styles),	  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_shares),	  cmocka_unit_test(test_cutoff),
		cmocka_unit_test(test_columns),	  cmocka_unit_test(test_order),
		cmocka_unit_test(test_lanes),	  cmocka_unit_test(test_plugins),
		cmocka_unit_test(test_registers), cmocka_unit_test(test_callers),
		cmocka_unit_test(test_rare),	  cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
