/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Value profiles as tables: every line and cell of small ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "listing/values/comparison.h"
#include "listing/values/invariance.h"
#include "tests/unit/common/hots.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define GENERATED 3 /* an image's id */

static struct vt_error err;
static char *dir;
static struct vt_images *images;

/* Two lists of f(), one of g(), one of a file that is not there, and one that was never profiled.
 */
static const struct hot_spec lists[] = {
	{.image = 1,
	 .offset = 0x1000,
	 .what = VT_WHAT_LOAD,
	 .algo = VT_ALGO_TNV,
	 .capacity = 6,
	 .steady = 3,
	 .total = 1000,
	 .nvalues = 2,
	 .values = {0xa, 0xb},
	 .counts = {500, 300}},
	{.image = 1,
	 .offset = 0x1004,
	 .what = VT_WHAT_LOAD,
	 .algo = VT_ALGO_TNV,
	 .capacity = 6,
	 .steady = 3,
	 .total = 3000,
	 .same = 1500,
	 .zero = 300,
	 .stride = 600,
	 .nvalues = 1,
	 .values = {7},
	 .counts = {2400}},
	{.image = 1,
	 .offset = 0x1010,
	 .what = VT_WHAT_STORE,
	 .algo = VT_ALGO_TNV,
	 .capacity = 6,
	 .steady = 3,
	 .total = 5000,
	 .profiled = 2500,
	 .same = 500},
	{.image = 2,
	 .offset = 0x20,
	 .what = VT_WHAT_LOAD,
	 .algo = VT_ALGO_TNV,
	 .capacity = 6,
	 .steady = 3,
	 .caller_image = 1,
	 .caller = 0x1234,
	 .total = 500,
	 .nvalues = 1,
	 .values = {1},
	 .counts = {500}},
	{.image = 1, .offset = 0x1008, .what = VT_WHAT_ARG, .algo = VT_ALGO_TNV, .steady = 3},
};

static struct vt_hotprofile *profile(const struct hot_spec *specs, size_t n)
{
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	size_t i;

	assert_non_null(p);
	hot_image(w, 1, toolbox_path(dir, "p"), "");
	hot_image(w, 2, "/nonexistent/q", "");
	for (i = 0; i < n; i++)
		hot_put(w, &specs[i]);
	hot_read(w, fd, p);
	return p;
}

static void check_table(struct vt_table *t, const char *want)
{
	assert_string_equal(print_table(t, VT_TABLE_CSV, false), want);
	vt_table_free(t);
}

static void check_overall(const struct vt_hotprofile *p, uint32_t what, const char *want)
{
	struct vt_table *t = vt_table_new();

	assert_non_null(t);
	vt_invlist_overall(t, p, what);
	check_table(t, want);
}

#define OVERALL "what,lists,executions,profiled,inv_top,inv_all,lvp,zero,stride\n"

static void test_overall(void **state)
{
	struct vt_hotprofile *p = profile(lists, 5);

	(void)state;
	/* Means weighted by executions: of loads, of (500 + 2400 + 500) in 4500 ... */
	check_overall(p, VT_INV_EVERY,
		      OVERALL "load,3,4500,100,75.5556,82.2222,33.3333,6.66667,13.3333\n"
			      "store,1,5000,50,0,0,10,0,0\n"
			      "all,4,9500,73.6842,35.7895,38.9474,21.0526,3.15789,6.31579\n");
	check_overall(p, 1U << VT_WHAT_STORE, OVERALL "store,1,5000,50,0,0,10,0,0\n");
	/* What has none is told of only where nothing else was asked for. */
	check_overall(p, 1U << VT_WHAT_ARG, OVERALL "arg,0,0,,0,0,0,0,0\n");
	check_overall(p, 1U << VT_WHAT_ARG | 1U << VT_WHAT_LOAD,
		      OVERALL "load,3,4500,100,75.5556,82.2222,33.3333,6.66667,13.3333\n");
	vt_hotprofile_free(p);
}

#define FIGURES "executions,share,inv_top,inv_all,lvp,zero,stride,what"

static void check_rows(const struct vt_hotprofile *p, uint32_t what, enum vt_invlist_by by,
		       uint64_t top, int64_t left, const char *want)
{
	const struct vt_invlist_options o = {.what = what, .by = by, .top = top};
	struct vt_table *t = vt_table_new();

	assert_non_null(t);
	assert_int_equal(vt_invlist_fill(t, p, images, &o, &err), left);
	check_table(t, want);
}

static void test_rows(void **state)
{
	struct vt_hotprofile *p = profile(lists, 5);

	(void)state;
	check_rows(p, VT_INV_EVERY, VT_INVLIST_INSTRUCTION, 0, 0,
		   FIGURES ",size,top,address,image,procedure,offset,reg,lane,profiled,caller,"
			   "caller_image\n"
			   "5000,52.6316,0,0,10,0,0,store,8,,0x401010,p,g,0x1010,0,0,2500,,\n"
			   "3000,31.5789,80,80,50,10,20,load,8,0x7,0x401004,p,f+4,0x1004,0,0,"
			   "3000,,\n"
			   "1000,10.5263,50,80,0,0,0,load,8,0xa,0x401000,p,f,0x1000,0,0,1000,,\n"
			   "500,5.26316,100,100,0,0,0,load,8,0x1,0x20,q,[file not found],0x20,0,0,"
			   "500,0x1234,p\n");
	check_rows(p, VT_INV_EVERY, VT_INVLIST_PROCEDURE, 0, 0,
		   FIGURES ",lists,image,procedure\n"
			   "5000,52.6316,0,0,10,0,0,store,1,p,g\n"
			   "4000,42.1053,72.5,80,37.5,7.5,15,load,2,p,f\n"
			   "500,5.26316,100,100,0,0,0,load,1,q,[file not found]\n");
	check_rows(p, VT_INV_EVERY, VT_INVLIST_IMAGE, 0, 0,
		   FIGURES ",lists,image\n"
			   "5000,52.6316,0,0,10,0,0,store,1,p\n"
			   "4000,42.1053,72.5,80,37.5,7.5,15,load,2,p\n"
			   "500,5.26316,100,100,0,0,0,load,1,q\n");
	check_rows(p, 1U << VT_WHAT_LOAD, VT_INVLIST_PROCEDURE, 1, 1,
		   FIGURES ",lists,image,procedure\n"
			   "4000,88.8889,72.5,80,37.5,7.5,15,load,2,p,f\n");
	vt_hotprofile_free(p);
}

/* Of as many executions, in the order of the lists. */
static void test_ties(void **state)
{
	struct hot_spec ties[3] = {lists[0], lists[0], lists[0]};
	struct vt_hotprofile *p;

	(void)state;
	ties[1].offset = 0x1004;
	ties[2].offset = 0x1010;
	p = profile(ties, 3);
	check_rows(p, VT_INV_EVERY, VT_INVLIST_INSTRUCTION, 0, 0,
		   FIGURES ",size,top,address,image,procedure,offset,reg,lane,profiled,caller,"
			   "caller_image\n"
			   "1000,33.3333,50,80,0,0,0,load,8,0xa,0x401000,p,f,0x1000,0,0,1000,,\n"
			   "1000,33.3333,50,80,0,0,0,load,8,0xa,0x401004,p,f+4,0x1004,0,0,1000,,\n"
			   "1000,33.3333,50,80,0,0,0,load,8,0xa,0x401010,p,g,0x1010,0,0,1000,,\n");
	vt_hotprofile_free(p);
}

/* Of a plugin's values the row tells which, that of a procedure or an image only the kind. */
static void test_plugins(void **state)
{
	static const struct hot_spec plugin = {.image = 1,
					       .offset = 0x1000,
					       .what = VT_WHAT_MODULE,
					       .reg = 9,
					       .algo = VT_ALGO_TNV,
					       .steady = 3,
					       .total = 4,
					       .nvalues = 1,
					       .values = {1},
					       .counts = {3}};
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	hot_image(w, 1, toolbox_path(dir, "p"), "");
	vt_writer_row(w, VT_MODULE)[VT_MODULE_ID] = 9;
	vt_writer_text(w, VT_MODULE_NAME, "seconds");
	vt_writer_text(w, VT_MODULE_FORMAT, "unsigned");
	hot_put(w, &plugin);
	hot_read(w, fd, p);
	check_rows(p, VT_INV_EVERY, VT_INVLIST_INSTRUCTION, 0, 0,
		   FIGURES ",size,top,address,image,procedure,offset,reg,lane,profiled,caller,"
			   "caller_image\n"
			   "4,100,75,75,0,0,0,seconds,8,0x1,0x401000,p,f,0x1000,0,0,4,,\n");
	check_rows(p, VT_INV_EVERY, VT_INVLIST_IMAGE, 0, 0,
		   FIGURES ",lists,image\n4,100,75,75,0,0,0,module,1,p\n");
	vt_hotprofile_free(p);
}

static void check_text(const struct vt_hotprofile *p, enum vt_invlist_by by, const char *want)
{
	const struct vt_invlist_options o = {.what = 1U << VT_WHAT_STORE, .by = by};
	struct vt_table *t = vt_table_new();

	assert_non_null(t);
	assert_int_equal(vt_invlist_fill(t, p, images, &o, &err), 0);
	assert_string_equal(print_table(t, VT_TABLE_TEXT, false), want);
	vt_table_free(t);
}

/* For people: headings, and no columns that are only for programs. */
static void test_text(void **state)
{
	struct vt_hotprofile *p = profile(lists, 5);

	(void)state;
	check_text(p, VT_INVLIST_INSTRUCTION,
		   "Executions        %  Inv-Top  Inv-All     LVP   Zero  Stride  Values  Size  "
		   "Top value  Address  Image  Place\n"
		   "      5000  100.00%    0.00%    0.00%  10.00%  0.00%   0.00%  store      8  "
		   "            401010  p      g\n");
	check_text(p, VT_INVLIST_PROCEDURE,
		   "Executions        %  Inv-Top  Inv-All     LVP   Zero  Stride  Values  Lists  "
		   "Image  Procedure\n"
		   "      5000  100.00%    0.00%    0.00%  10.00%  0.00%   0.00%  store       1  "
		   "p      g\n");
	check_text(p, VT_INVLIST_IMAGE,
		   "Executions        %  Inv-Top  Inv-All     LVP   Zero  Stride  Values  Lists  "
		   "Image\n"
		   "      5000  100.00%    0.00%    0.00%  10.00%  0.00%   0.00%  store       1  "
		   "p\n");
	vt_hotprofile_free(p);
}

/*
 * Generated code is that of the only process that has any: its map names it, as the compiler does.
 */
static void test_generated(void **state)
{
	struct vt_hot_place place = {.image = ""};

	(void)state;
	vt_image_place(images, GENERATED, 0x7010, &place);
	assert_string_equal(place.image, "//anon");
	assert_string_equal(place.symbol, "g");
	assert_int_equal(place.address, 0x7010);
	assert_int_equal(place.start, 0x7000);
	/* What is in no image keeps the name that it had. */
	vt_image_place(images, 99, 0x7010, &place);
	assert_string_equal(place.image, "//anon");
	assert_null(place.symbol);
	assert_int_equal(place.start, 0);
}

static void test_places(void **state)
{
	static const struct {
		struct vt_hot_place place;
		uint32_t lane;
	} rows[] = {
		{{.symbol = "f", .address = 0x10, .start = 0x10}, 0},
		{{.symbol = "f", .address = 0x2a, .start = 0x10}, 0},
		{{.symbol = "f", .address = 0x2a, .start = 0x10}, 3},
		{{.why = "no reason", .address = 0x10, .start = 0x10}, 1},
	};
	struct vt_table *t = vt_table_new();
	unsigned i;

	(void)state;
	vt_table_column(t, "place", "place", VT_FORMAT_TEXT);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_invlist_place(t, &rows[i].place, rows[i].lane);
	}
	check_table(t, "place\nf\nf+1a\nf+1a lane 3\n[no reason] lane 1\n");
}

/* ---- comparisons ---- */

static void test_comparisons(void **state)
{
	struct vt_inv_comparison c = {
		.lists = 3,
		.executions = 30,
		.of = 40,
		.only_first = 5,
		.only_second = 6,
		.profiled = 0.5,
		.m = 2,
		.diff_top = 0.125,
		.diff_all = 0.0625,
		.rms = 0.25,
		.diff_lvp = 0.03125,
		.diff_zero = 0.375,
		.candidates = 2,
		.find_top = 0.75,
		.first.value = {[VT_INV_TOP] = 0.5, [VT_INV_LVP] = 0.25, [VT_INV_ZERO] = 0.125},
		.second.value = {[VT_INV_TOP] = 1, [VT_INV_LVP] = 0.75, [VT_INV_ZERO] = 0.875},
	};
	struct vt_table *t = vt_table_new();

	(void)state;
	vt_invlist_comparison(t);
	vt_invlist_compared(t, "one", &c);
	c.candidates = 0;
	c.m = UINT32_MAX;
	vt_invlist_compared(t, "two", &c);
	check_table(t, "find_top,diff_top,diff_all,rms,instructions,covered,profiled,m,candidates,"
		       "only_first,only_second,second\n"
		       "75,12.5,6.25,25,3,75,50,2,2,5,6,one\n"
		       ",12.5,6.25,25,3,75,50,,0,5,6,two\n");
	t = vt_table_new();
	vt_invlist_inputs(t);
	vt_invlist_inputs_compared(t, "one", &c);
	check_table(t, "lvp_first,lvp_second,diff_lvp,zero_first,zero_second,diff_zero,inv_first,"
		       "inv_second,diff_inv,input\n"
		       "25,75,3.125,12.5,87.5,37.5,50,100,12.5,one\n");
}

#define WORST                                                                                      \
	"adds,executions,inv_top_first,inv_top_second,inv_m_first,inv_m_second,top_first,"         \
	"top_second,what,address,image,procedure\n"

/* Each list adds the difference of its top value's share, times its executions, of 9500. */
static void test_worst(void **state)
{
	struct hot_spec others[5];
	struct vt_hotprofile *a = profile(lists, 5), *b;
	struct vt_inv_pair *pairs;
	struct vt_table *t;
	size_t n;

	(void)state;
	memcpy(others, lists, sizeof(others));
	others[0].counts[0] = 900;
	others[0].counts[1] = 50;
	others[1].counts[0] = 1800;
	others[1].values[0] = 8;
	b = profile(others, 4);
	pairs = vt_inv_match(a, b, VT_INV_EVERY, &n);
	assert_non_null(pairs);
	t = vt_table_new();
	assert_int_equal(n, 4);
	assert_int_equal(vt_invlist_worst(t, a, images, b, pairs, n, 2, 2, &err), 2);
	check_table(t, WORST "6.31579,3000,80,60,80,60,0x7,0x8,load,0x401004,p,f+4\n"
			     "4.21053,1000,50,90,80,95,0xa,0xa,load,0x401000,p,f\n");
	/* All of four: those that do not differ come last. */
	t = vt_table_new();
	assert_int_equal(vt_invlist_worst(t, a, images, b, pairs, n, 2, 9, &err), 0);
	assert_int_equal(vt_table_rows(t), 4);
	assert_true(vt_table_cell(t, 3, 0).real == 0);
	vt_table_free(t);
	free(pairs);
	vt_hotprofile_free(a);
	vt_hotprofile_free(b);
}

static struct vt_table *one_cell(const char *key, double v)
{
	struct vt_table *t = vt_table_new();

	vt_table_column(t, "input", "input", VT_FORMAT_TEXT);
	vt_table_column(t, key, key, VT_FORMAT_REAL);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "one");
	if (v >= 0)
		vt_table_real(t, v);
	else
		vt_table_empty(t);
	return t;
}

/* Both tables' rows in one object, without the name of the input; no figure is null. */
static void test_json(void **state)
{
	struct vt_table *rows = one_cell("find_top", -1), *inputs = one_cell("diff_inv", 2);
	struct vt_table *worst[2] = {NULL, one_cell("adds", 3)};
	const int64_t left_out = 7;
	static const char *const expected[2] = {
		"[{\"find_top\":null,\"diff_inv\":2.0}]",
		"[{\"find_top\":null,\"diff_inv\":2.0,\"worst\":[{\"input\":\"one\",\"adds\":3.0}],"
		"\"worst_left_out\":7}]",
	};
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		json_t *v = vt_invlist_compared_json(rows, inputs, &worst[i], &left_out, 1);
		char *text = json_dumps(v, JSON_COMPACT | JSON_PRESERVE_ORDER);

		assert_string_equal(text, expected[i]);
		free(text);
		json_decref(v);
	}
	vt_table_free(rows);
	vt_table_free(inputs);
	vt_table_free(worst[1]);
}

/*
 * Of 9500 executions, 3000 differ by 20 % in their top value's share and 1000 by 40 %: see
 * test_worst().  The second profile added is the first itself.
 */
static void test_comparison(void **state)
{
	static const char *const parts[] = {
		"Means over the instructions in both profiles, weighted by executions in first.\n",
		"\nFind-Top is of instructions with an Inv-Top above 30 % there.\n\n",
		"\n\nOver inputs:\n",
		"\n\nWhat adds most to Diff-Top:\n",
		"  f+4\n",
		"(3 more places)\n",
	};
	struct hot_spec others[5];
	struct vt_hotprofile *a = profile(lists, 5), *b;
	const struct vt_comparelist_options o = {.first = a,
						 .images = images,
						 .name = "first",
						 .how = {.what = VT_INV_EVERY, .threshold = 0.3},
						 .worst = 1};
	struct vt_comparelist *l = vt_comparelist_new(&o);
	const struct vt_losses losses = {0};
	struct vt_invlist_form form = {.table = VT_TABLE_TEXT, .losses = &losses};
	struct vt_output out;
	const char *at;
	size_t i;

	(void)state;
	memcpy(others, lists, sizeof(others));
	others[0].counts[0] = 900;
	others[0].counts[1] = 50;
	others[1].counts[0] = 1800;
	others[1].values[0] = 8;
	b = profile(others, 4);
	assert_non_null(l);
	assert_int_equal(vt_comparelist_add(l, "second", b, &err), 4);
	assert_int_equal(vt_comparelist_add(l, "itself", a, &err), 4);
	print_begin(&out);
	assert_int_equal(vt_comparelist_print(l, &form, &out, &err), 0);
	at = print_end(&out);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		at = strstr(at, parts[i]);
		if (!at)
			fail_msg("no, or not here: %s", parts[i]);
		/* The next may begin with this one's end of line. */
		at += strlen(parts[i]) - 1;
	}
	/* Then the places of the second comparison. */
	assert_non_null(strstr(at, "What adds most to Diff-Top:\n"));
	/* Programs get the first comparison's places. */
	form.table = VT_TABLE_CSV;
	print_begin(&out);
	assert_int_equal(vt_comparelist_print(l, &form, &out, &err), 0);
	assert_string_equal(print_end(&out),
			    WORST "6.31579,3000,80,60,80,60,0x7,0x8,load,0x401004,p,f+4\n");
	form.json = true;
	print_begin(&out);
	assert_int_equal(vt_comparelist_print(l, &form, &out, &err), 0);
	at = print_end(&out);
	assert_non_null(strstr(at, "\"second\": \"itself\""));
	assert_non_null(strstr(at, "\"worst_left_out\": 3"));
	vt_comparelist_free(l);
	vt_hotprofile_free(a);
	vt_hotprofile_free(b);
}

/* Code that process 7 generates, with a map of its names. */
static void add_generated(void)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row = vt_writer_row(w, VT_IMAGE);
	struct vt_record rec;
	struct vt_reader *r;

	row[VT_IMAGE_ID] = GENERATED;
	row[VT_IMAGE_TYPE] = VT_IMAGE_ANON;
	vt_writer_text(w, VT_IMAGE_PATH, "//anon");
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = 7;
	row[VT_MAP_START] = 0x7000;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_IMAGE] = GENERATED;
	row[VT_MAP_PROT] = 7;
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_images_feed(images, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
	toolbox_write(dir, "perf-7.map", "7000 20 _Z1gi\n");
}

static int begin(void **state)
{
	struct vt_images_options o = {.warn = NULL};
	const char *path;

	(void)state;
	dir = toolbox_assemble(
		".text\n.globl _start\n_start:\n.type f,@function\nf: .fill 16,1,0x90\n"
		".size f,.-f\n.type g,@function\ng: ret\n.size g,.-g\n");
	o.perf_map_dir = dir;
	images = vt_images_new(&o, &err);
	add_generated();
	path = toolbox_path(dir, "p");
	if (vt_images_add(images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0)
		return -1;
	path = "/nonexistent/q";
	return vt_images_add(images, 2, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err);
}

static int end(void **state)
{
	(void)state;
	vt_images_free(images);
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overall),	    cmocka_unit_test(test_rows),
		cmocka_unit_test(test_ties),	    cmocka_unit_test(test_places),
		cmocka_unit_test(test_comparisons), cmocka_unit_test(test_worst),
		cmocka_unit_test(test_comparison),  cmocka_unit_test(test_plugins),
		cmocka_unit_test(test_text),	    cmocka_unit_test(test_generated),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
