/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/advice.h"

#include "listing/values/advice_internal.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/specprogram.h"

static void test_choice(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	put_program(&f);
	finish(&f);
	assert_int_equal(vt_speclist_procedures(t, &f.view,
						&(struct vt_speclist_options){.top = 1, .each = 1},
						&err),
			 2);
	assert_int_equal(vt_table_rows(t), 1);
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(
		vt_speclist_arguments(t, &f.view, &(struct vt_speclist_options){.top = 1}, &err),
		1);
	assert_int_equal(vt_table_rows(t), 1);
	expect_cell(t, 0, "what", "arg");
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(vt_speclist_loads(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 1);
	expect_cell(t, 0, "place", "divide");
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_ARG), 4);
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_RETURN), 0);
	assert_int_equal(vt_spec_blind(f.spec), 0);
	vt_table_free(t);
	vt_spec_free(f.spec);
	f.view.opt.min_time = 0.25;
	f.spec = vt_spec_new(f.profile, f.images, f.hot, &f.view.opt, &err);
	assert_int_equal(vt_spec_nrows(f.spec), 3);
	end(&f);
}

/*
 * A value that is always the same has been seen n times: the interval of its share begins at
 * n / (n + 1.96^2), which is 0.899 for 34 and 0.901 for 35.  One of two values is not invariant.
 */
static void test_rare(void **state)
{
	struct vt_output out;
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 40000);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 34, 0, 0);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, NULL, 4, 20, 5, 20);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 0);
	assert_int_equal(vt_spec_rare(f.spec), 1);
	print_begin(&out);
	vt_speclist_header(&f.view, VT_SPECLIST_PROCEDURES, "instructions", &out);
	assert_non_null(strstr(print_end(&out), "\nNo value is known to be 90 % invariant; seen "
						"too rarely to be sure: 1 list\n\n"));
	end(&f);
	begin(&f, "instructions");
	put_count(&f, "sum", 40000);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 35, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 1);
	assert_int_equal(vt_spec_rare(f.spec), 0);
	end(&f);
}

static void test_callers(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_apply_return"), 750,
		 address_of("at_start_return"), 250);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_apply_return", 4, 750, 0, 0);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, "at_apply_return", 3, 749, 0, 1);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 5, 150, 6, 100);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "procedure", "sum");
	expect_cell(t, 0, "caller", "apply+0x2");
	expect_cell(t, 0, "arguments",
		    "argument 1 (rdi) is 3 in 99.8 %; argument 2 (rsi) is always 4");
	assert_float_equal(real_cell(t, 0, "calls.percent"), 75, 0);
	expect_cell(t, 1, "caller", "_start+0x5");
	expect_cell(t, 1, "arguments", "");
	vt_table_free(t);
	end(&f);
}

/* Callers that return addresses alone tell, or lists of arguments alone; some are of no image. */
static void test_sources_of_callers(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_start_return"), 250,
		 address_of("at_apply_return"), 750);
	put_list(&f, "same", VT_WHAT_RETURN, 0, NULL, 0x1234, 10, address_of("at_apply_return"),
		 30);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "caller", "apply+0x2");
	assert_int_equal(cell(t, 0, "calls").number, 750);
	assert_float_equal(real_cell(t, 0, "calls.percent"), 75, 0);
	expect_cell(t, 1, "caller", "_start+0x5");
	assert_int_equal(cell(t, 1, "calls").number, 250);
	assert_float_equal(real_cell(t, 1, "calls.percent"), 25, 0);
	vt_table_free(t);
	end(&f);

	t = vt_table_new();
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_apply_return", 4, 90, 5, 10);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 4, 300, 5, 0);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, "at_start_return", 4, 200, 5, 100);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "caller", "_start+0x5");
	assert_int_equal(cell(t, 0, "calls").number, 300);
	assert_float_equal(real_cell(t, 0, "calls.percent"), 75, 0);
	expect_cell(t, 1, "caller", "apply+0x2");
	assert_int_equal(cell(t, 1, "calls").number, 100);
	vt_table_free(t);
	end(&f);
}

/* Callers whose arguments hardly change come first, however few of the calls are theirs. */
static void test_order_of_callers(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_apply_return"), 750,
		 address_of("at_start_return"), 250);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_apply_return", 4, 350, 5, 400);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 5, 250, 0, 0);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "caller", "_start+0x5");
	assert_float_equal(real_cell(t, 0, "calls.percent"), 25, 0);
	expect_cell(t, 0, "arguments", "argument 2 (rsi) is always 5");
	expect_cell(t, 1, "caller", "apply+0x2");
	expect_cell(t, 1, "arguments", "");
	vt_table_free(t);
	end(&f);
}

/* What a table is, the columns' names in front, without the directory. */
static void expect_table(struct vt_table *t, const char *text)
{
	const char *from = print_table(t, VT_TABLE_TSV, false), *dir;
	char *got = calloc(1, strlen(from) + 1), *to = got;
	size_t size = strlen(program.dir) + 1;

	assert_non_null(got);
	while ((dir = strstr(from, program.dir))) {
		memcpy(to, from, (size_t)(dir - from));
		to += dir - from;
		from = dir + size;
	}
	memcpy(to, from, strlen(from));
	assert_string_equal(got, text);
	free(got);
	vt_table_free(t);
}

#define VALUES                                                                                     \
	"time\town_time\tinvariance\tinvariance.low\tstake\tscore\texecutions\tprocedure\t"        \
	"place.image\tplace.address\tplace\tplace.line\twhat\tregister\tvalue\tvalue.hex\tkind\t"  \
	"use.address\tadvice\n"
#define PLACE(key) key ".image\t" key ".address\t" key "\t" key ".line\t"

/*
 * Of 100000 samples; the values of every sort. What each says of a value, from specialise/judge.h:
 * a number 4, a call or jump 15, a result 1; 1960 of 2000 are 98 %, from 97.28 % on.
 */
static void put_values(struct fixture *f)
{
	begin(f, "instructions");
	put_count(f, "reads", 30000);
	put_count(f, "at_reads_limit", 10000);
	put_count(f, "leaps", 20000);
	put_count(f, "triple", 4000);
	put_count(f, "at_triple", 1000);
	put_count(f, "divide", 5000);
	put_list(f, "at_divide_load", VT_WHAT_LOAD, 0, NULL, 8, 100, 0, 0);
	put_count(f, "deeper", 30000);
	put_hot(f, &(struct planted){"at_reads_limit", VT_WHAT_LOAD, 0, 0, 4, NULL, {7}, {2000}});
	put_hot(f, &(struct planted){"at_reads_fixed", VT_WHAT_LOAD, 0, 0, 4, NULL, {9}, {2000}});
	put_hot(f, &(struct planted){
			   "at_reads_byte", VT_WHAT_LOAD, 0, 0, 1, NULL, {'A', 0}, {1960, 40}});
	put_hot(f, &(struct planted){
			   "at_leaps", VT_WHAT_TARGET, 0, 0, 8, NULL, {address_of("sum")}, {500}});
	put_hot(f,
		&(struct planted){"at_triple", VT_WHAT_RESULT, VT_REG_AX, 0, 4, NULL, {9}, {500}});
	put_hot(f,
		&(struct planted){"at_known", VT_WHAT_RESULT, VT_REG_AX, 0, 4, NULL, {5}, {500}});
	put_hot(f, &(struct planted){"at_deeper",
				     VT_WHAT_TARGET,
				     0,
				     0,
				     8,
				     NULL,
				     {address_of("sum"), address_of("same")},
				     {1960, 40}});
	put_hot(f, &(struct planted){"deeper",
				     VT_WHAT_ARG,
				     VT_REG_DI,
				     0,
				     8,
				     "at_start_return",
				     {address_of("sum")},
				     {300}});
	put_hot(f, &(struct planted){
			   "at_table", VT_WHAT_TARGET, 0, 0, 8, NULL, {address_of("sum")}, {500}});
	finish(f);
}

static void test_tables(void **state)
{
	const struct vt_speclist_options all = {0};
	struct vt_table *t = vt_table_new();
	struct fixture f;

	(void)state;
	put_values(&f);
	assert_int_equal(vt_speclist_procedures(t, &f.view, &all, &err), 0);
	expect_table(
		t, VALUES
		"30\t0\t98\t97.28\t30\t29.1864\t2000\tdeeper\tp\t0x40105a\t"
		"deeper+0x1\tp.s:29\ttarget\t\tsum\t0x80100d\tcall\t\tdevirtualise: 98.0 % to sum\n"
		"30\t30\t100\t98.73\t0.3\t0.296207\t300\tdeeper\tp\t"
		"0x401059\tdeeper\tp.s:29\targ\trdi\t&sum\t0x80100d\targument-pointer\t\trefer to "
		"it directly: argument 1 (rdi) is always &sum, for the caller _start+0x5\n"
		"40\t40\t100\t99.8\t8\t7.98466\t2000\treads\tp\t0x40103d\t"
		"reads\tp.s:25\tload\t\t7\t0x7\tnumber\t\tmake it a constant: the variable limit "
		"is always 7\n"
		"40\t0\t98\t97.28\t8\t7.78305\t2000\treads\tp\t0x401049\t"
		"reads+0xc\tp.s:26\tload\t\t65 ('A')\t0x41\tnumber\t\tmake it a constant: the load "
		"is 65 ('A') in 98.0 %\n"
		"20\t20\t100\t99.23\t7.5\t7.44282\t500\tleaps\tp\t0x401057\t"
		"leaps\tp.s:28\ttarget\t\tsum\t0x80100d\tjump\t\ttest for one case first: always "
		"to sum\n"
		"5\t5\t100\t96.3\t2\t1.92601\t100\tdivide\tp\t0x401000\t"
		"divide\tp.s:14\tload\t\t8\t0x8\tdivisor-power\t0x401007\tshift instead of "
		"dividing: the divisor is always 8\n"
		"5\t5\t100\t99.23\t0.5\t0.496188\t500\ttriple\tp\t0x40106d\t"
		"triple\tp.s:32\tresult\trax\t9\t0x9\tresult\t\tcompute it once: the result (eax) "
		"is always 9\n");
	t = vt_table_new();
	assert_int_equal(vt_speclist_loads(t, &f.view, &all, &err), 0);
	expect_table(t, VALUES "40\t40\t100\t99.8\t8\t7.98466\t2000\treads\tp\t0x40103d\t"
			       "reads\tp.s:25\tload\t\t7\t0x7\tnumber\t\tmake it a constant: the "
			       "variable limit is always 7\n"
			       "5\t5\t100\t96.3\t2\t1.92601\t100\tdivide\tp\t0x401000\t"
			       "divide\tp.s:14\tload\t\t8\t0x8\tdivisor-power\t0x401007\tshift "
			       "instead of dividing: the divisor is always 8\n"
			       "0\t0\t98\t97.28\t8\t7.78305\t2000\treads\tp\t0x401049\t"
			       "reads+0xc\tp.s:26\tload\t\t65 ('A')\t0x41\tnumber\t\tmake it a "
			       "constant: the load is 65 ('A') in 98.0 %\n");
	t = vt_table_new();
	assert_int_equal(vt_speclist_arguments(t, &f.view, &all, &err), 0);
	expect_table(
		t, VALUES
		"30\t30\t100\t98.73\t0.3\t0.296207\t300\tdeeper\tp\t"
		"0x401059\tdeeper\tp.s:29\targ\trdi\t&sum\t0x80100d\targument-pointer\t\trefer to "
		"it directly: argument 1 (rdi) is always &sum, for the caller _start+0x5\n");
	t = vt_table_new();
	assert_int_equal(vt_speclist_callers(t, &f.view, &all, &err), 0);
	expect_table(t,
		     "time\tcalls.percent\tcalls\tscore\t" PLACE("procedure")
			     PLACE("caller") "arguments\n"
					     "30\t100\t300\t29.6207\tp\t0x401059\tdeeper\tp.s:29\t"
					     "p\t0x40103c\t_start+0x5\tp.s:24\targument 1 (rdi) is "
					     "always &sum\n");
	t = vt_table_new();
	assert_int_equal(vt_speclist_blocks(t, &f.view, &all, &err), 0);
	expect_table(t,
		     "time\tinvariance\tinvariance."
		     "low\tscore\texecutions\tinstructions\tloads\tresults\t" PLACE(
			     "block") "advice\n"
				      "40\t98\t97.28\t38.9152\t2000\t4\t2\t0\tp\t0x40103d\t"
				      "reads\tp.s:25\tcompute once what follows from it: each load "
				      "hardly ever gives anything but the same\n"
				      "5\t100\t96.3\t4.81503\t100\t5\t1\t0\tp\t0x401000\tdivide\t"
				      "p.s:14\tcompute once what follows from it: each load always "
				      "gives the same\n");
	end(&f);
}

/* A top value as it is told: by size, type and what it is. */
static void test_values(void **state)
{
	static const struct {
		enum vt_what what;
		unsigned size;
		enum vt_number number;
		bool pointer;
		uint64_t value;
		const char *text;
	} cases[] = {
		{VT_WHAT_LOAD, 1, VT_NUMBER_RAW, false, 'A', "65 ('A')"},
		{VT_WHAT_LOAD, 1, VT_NUMBER_RAW, false, ' ', "32 (' ')"},
		{VT_WHAT_LOAD, 1, VT_NUMBER_RAW, false, 31, "31"},
		{VT_WHAT_LOAD, 1, VT_NUMBER_RAW, false, '~', "126 ('~')"},
		{VT_WHAT_LOAD, 1, VT_NUMBER_RAW, false, 127, "127"},
		{VT_WHAT_LOAD, 2, VT_NUMBER_RAW, false, 'A', "65"},
		{VT_WHAT_LOAD, 8, VT_NUMBER_RAW, false, 1000, "1000"},
		{VT_WHAT_LOAD, 8, VT_NUMBER_FLOAT, false, 0x3ff8000000000000, "1.5"},
		{VT_WHAT_LOAD, 8, VT_NUMBER_RAW, true, BASE + 0x100d, "&sum"},
		{VT_WHAT_ARG, 8, VT_NUMBER_RAW, true, BASE + 0x100d, "&sum"},
		{VT_WHAT_TARGET, 8, VT_NUMBER_RAW, true, BASE + 0x100d, "sum"},
		{VT_WHAT_TARGET, 8, VT_NUMBER_RAW, false, BASE + 0x100d, "sum"},
		{VT_WHAT_LOAD, 8, VT_NUMBER_RAW, false, BASE + 0x100d, "0x80100d"},
	};
	struct fixture f;
	size_t i;

	(void)state;
	put_values(&f);
	assert_int_equal(address_of("sum"), BASE + 0x100d);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = cases[i].value;
		const struct vt_hot hot = {.key = {.what = cases[i].what},
					   .size = cases[i].size,
					   .nvalues = 1,
					   .values = &value};
		const struct vt_spec_value v = {
			.hot = &hot,
			.uses.type = {cases[i].number, (uint8_t)cases[i].size, 1, false},
			.pointer = cases[i].pointer};
		struct vt_buf b = VT_BUF_INIT;

		vti_speclist_value(&b, &f.view, &v);
		assert_string_equal(vt_buf_str(&b), cases[i].text);
		vt_buf_free(&b);
	}
	end(&f);
}

/* Shares are rounded down, times have a colour from 2 % and from 10 % on. */
static void test_shares(void **state)
{
	static const double shares[] = {0, 0.5, 0.99999, 1, 1.01};
	static const double percents[] = {0, 50, 99.99, 100, 100};
	static const double times[] = {0.0199, 0.0201, 0.0999, 0.1001};
	struct vt_table *t = vt_table_new(), *twin = vt_table_new();
	static const enum vt_style styles[] = {VT_STYLE_PLAIN, VT_STYLE_WARM, VT_STYLE_WARM,
					       VT_STYLE_HOT};
	char *text;
	size_t i;

	(void)state;
	vt_table_column(t, "share", "share", VT_FORMAT_PERCENT);
	for (i = 0; i < 5; i++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vti_speclist_share(t, shares[i]);
		assert_float_equal(real_cell(t, i, "share"), percents[i], 1e-12);
	}
	vt_table_free(t);
	t = vt_table_new();
	vt_table_column(t, "time", "time", VT_FORMAT_PERCENT);
	vt_table_column(twin, "time", "time", VT_FORMAT_PERCENT);
	for (i = 0; i < 4; i++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vti_speclist_time(t, times[i]);
		vt_table_row(twin, VT_STYLE_PLAIN);
		vt_table_real(twin, 100 * times[i]);
		vt_table_cell_style(twin, styles[i]);
		assert_float_equal(real_cell(t, i, "time"), 100 * times[i], 1e-12);
	}
	text = strdup(print_table(t, VT_TABLE_TEXT, true));
	assert_string_equal(text, print_table(twin, VT_TABLE_TEXT, true));
	free(text);
	vt_table_free(t);
	vt_table_free(twin);
}

/* A place is told by what is known of it; the line of a return is that of the byte before. */
static void test_places(void **state)
{
	struct vt_table *t = vt_table_new();
	struct fixture f;

	(void)state;
	put_values(&f);
	vti_speclist_place_columns(t, "at", "at");
	vt_table_row(t, VT_STYLE_PLAIN);
	vti_speclist_place(t, &f.view, 1, offset_of("at_calls_return"), 0);
	vt_table_row(t, VT_STYLE_PLAIN);
	vti_speclist_place(t, &f.view, 1, offset_of("at_calls_return"), 1);
	vt_table_row(t, VT_STYLE_PLAIN);
	vti_speclist_place(t, &f.view, 9, 0x1234, 0);
	expect_cell(t, 0, "at", "calls+0x5");
	expect_cell(t, 0, "at.line", "p.s:35");
	expect_cell(t, 0, "at.image", toolbox_path(program.dir, "p"));
	assert_int_equal(cell(t, 0, "at.address").number, CODE + offset_of("at_calls_return"));
	expect_cell(t, 1, "at", "calls+0x5");
	expect_cell(t, 1, "at.line", "p.s:34");
	assert_int_equal(cell(t, 1, "at.address").number, CODE + offset_of("at_calls_return"));
	expect_cell(t, 2, "at", "0x1234");
	expect_cell(t, 2, "at.image", "");
	assert_int_equal(cell(t, 2, "at.address").number, 0x1234);
	assert_int_equal(cell(t, 2, "at.line").type, VT_CELL_EMPTY);
	vt_table_free(t);
	end(&f);
}

/* How many rows there are, and how many were left out. */
static void expect_count(const struct fixture *f,
			 int64_t (*list)(struct vt_table *t, const struct vt_spec_view *view,
					 const struct vt_speclist_options *opt,
					 struct vt_error *err),
			 uint64_t top, uint64_t each, size_t rows, int64_t left_out)
{
	struct vt_table *t = vt_table_new();

	assert_int_equal(
		list(t, &f->view, &(struct vt_speclist_options){.top = top, .each = each}, &err),
		left_out);
	assert_int_equal(vt_table_rows(t), rows);
	vt_table_free(t);
}

static void test_counts(void **state)
{
	struct fixture f;

	(void)state;
	put_values(&f);
	/* Two rows of deeper and of reads, and one of leaps, divide and triple. */
	expect_count(&f, vt_speclist_procedures, 0, 0, 7, 0);
	expect_count(&f, vt_speclist_procedures, 1, 0, 2, 4);
	expect_count(&f, vt_speclist_procedures, 2, 0, 4, 3);
	expect_count(&f, vt_speclist_procedures, 5, 0, 7, 0);
	expect_count(&f, vt_speclist_procedures, 6, 0, 7, 0);
	expect_count(&f, vt_speclist_procedures, 0, 1, 5, 0);
	expect_count(&f, vt_speclist_procedures, 0, 2, 7, 0);
	expect_count(&f, vt_speclist_procedures, 2, 1, 2, 3);
	expect_count(&f, vt_speclist_loads, 1, 0, 1, 2);
	expect_count(&f, vt_speclist_loads, 2, 0, 2, 1);
	expect_count(&f, vt_speclist_loads, 3, 0, 3, 0);
	expect_count(&f, vt_speclist_loads, 4, 0, 3, 0);
	expect_count(&f, vt_speclist_arguments, 1, 0, 1, 0);
	expect_count(&f, vt_speclist_callers, 1, 0, 1, 0);
	expect_count(&f, vt_speclist_blocks, 1, 0, 1, 1);
	expect_count(&f, vt_speclist_blocks, 2, 0, 2, 0);
	/* Bounds that are met are kept to. */
	f.view.opt.min_time = 0.05;
	expect_count(&f, vt_speclist_blocks, 0, 0, 2, 0);
	f.view.opt.min_time = 0.051;
	expect_count(&f, vt_speclist_blocks, 0, 0, 1, 0);
	f.view.opt.min_time = 0.3;
	expect_count(&f, vt_speclist_callers, 0, 0, 1, 0);
	f.view.opt.min_time = 0.31;
	expect_count(&f, vt_speclist_callers, 0, 0, 0, 0);
	f.view.opt.min_time = 0;
	f.view.opt.min_invariance = vt_share_low(1, 100);
	expect_count(&f, vt_speclist_blocks, 0, 0, 2, 0);
	f.view.opt.min_invariance = 0.97;
	expect_count(&f, vt_speclist_blocks, 0, 0, 1, 0);
	end(&f);
}

/* From one call in a hundred on; by score, then by the calls' share of the time, then as found. */
static void test_shares_of_callers(void **state)
{
	static const struct {
		const char *procedure, *caller;
		double share, score;
	} want[] = {
		{"same", "apply+0x2", 80, 0},
		{"sum", "_start+0x5", 99, 0},
		{"same", "_start+0x5", 20, 0},
		{"sum", "calls+0x5", 1, 0},
	};
	struct vt_table *t = vt_table_new();
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 400);
	put_count(&f, "same", 600);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_start_return"), 990,
		 address_of("at_calls_return"), 10);
	put_list(&f, "same", VT_WHAT_RETURN, 0, NULL, address_of("at_apply_return"), 800,
		 address_of("at_start_return"), 200);
	/* Nobody spends time in walk. */
	put_list(&f, "walk", VT_WHAT_RETURN, 0, NULL, address_of("at_start_return"), 990, 0, 0);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 4);
	for (i = 0; i < 4; i++) {
		expect_cell(t, i, "procedure", want[i].procedure);
		expect_cell(t, i, "caller", want[i].caller);
		assert_float_equal(real_cell(t, i, "calls.percent"), want[i].share, 1e-9);
		assert_float_equal(real_cell(t, i, "score"), want[i].score, 0);
	}
	vt_table_free(t);
	end(&f);
	begin(&f, "instructions");
	put_count(&f, "sum", 400);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_start_return"), 991,
		 address_of("at_calls_return"), 9);
	finish(&f);
	expect_count(&f, vt_speclist_callers, 0, 0, 1, 0);
	end(&f);
}

/* A caller is worth the share of the time that is its own, times its least changing argument. */
static void test_scores_of_callers(void **state)
{
	struct vt_table *t = vt_table_new();
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 400);
	put_count(&f, "same", 600);
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_start_return"), 600,
		 address_of("at_calls_return"), 400);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 4, 990, 5, 10);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, "at_start_return", 7, 950, 5, 50);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_calls_return", 4, 250, 0, 0);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	/* Lists of arguments say 1000 and 250, those of returns 600 and 400: the most holds. */
	assert_int_equal(cell(t, 0, "calls").number, 1000);
	assert_int_equal(cell(t, 1, "calls").number, 400);
	expect_cell(t, 0, "arguments",
		    "argument 1 (rdi) is 7 in 95.0 %; argument 2 (rsi) is 4 in 99.0 %");
	assert_float_equal(real_cell(t, 0, "score"),
			   100 * 0.4 * 1000 / 1400 * vt_share_low(0.99, 1000), 1e-9);
	assert_float_equal(real_cell(t, 1, "score"), 100 * 0.4 * 400 / 1400 * vt_share_low(1, 250),
			   1e-9);
	vt_table_free(t);
	end(&f);
}

/* The image whose file is not there has no blocks, but callers and values. */
static void test_lists_of_gone(void **state)
{
	struct vt_table *t = vt_table_new();
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	f.image = 2;
	put_count(&f, "sum", 1000);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 5, 1000, 0, 0);
	f.image = VT_UNMAPPED_IMAGE;
	put_list(&f, "sum", VT_WHAT_RETURN, 0, NULL, address_of("at_start_return"), 1000, 0, 0);
	finish(&f);
	expect_count(&f, vt_speclist_blocks, 0, 0, 0, 0);
	expect_count(&f, vt_speclist_procedures, 0, 0, 1, 0);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 1);
	assert_int_equal(cell(t, 0, "procedure.address").number, offset_of("sum"));
	assert_int_equal(cell(t, 0, "caller.address").number, offset_of("at_start_return"));
	assert_int_equal(cell(t, 0, "calls").number, 1000);
	vt_table_free(t);
	end(&f);
}

/* A variable is named only where there is one. */
static void test_variables(void **state)
{
	struct vt_table *t = vt_table_new();
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "nowhere", 1000);
	put_count(&f, "reads", 500);
	put_list(&f, "at_nowhere", VT_WHAT_LOAD, 0, NULL, 5, 1000, 0, 0);
	put_list(&f, "at_reads_limit", VT_WHAT_LOAD, 0, NULL, 5, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_speclist_loads(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "advice", "make it a constant: the load is always 5");
	expect_cell(t, 1, "advice", "make it a constant: the variable limit is always 5");
	vt_table_free(t);
	end(&f);
}

/* Arguments stand by their number, callers and values of one worth as they were found. */
static void test_ties(void **state)
{
	struct vt_table *t = vt_table_new();
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 400);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_start_return", 4, 950, 5, 50);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, "at_start_return", 7, 990, 5, 10);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, "at_calls_return", 6, 950, 5, 50);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, "at_calls_return", 8, 990, 5, 10);
	finish(&f);
	assert_int_equal(vt_speclist_callers(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 2);
	expect_cell(t, 0, "caller", "_start+0x5");
	expect_cell(t, 0, "arguments",
		    "argument 1 (rdi) is 7 in 99.0 %; argument 2 (rsi) is 4 in 95.0 %");
	expect_cell(t, 1, "caller", "calls+0x5");
	expect_cell(t, 1, "arguments",
		    "argument 1 (rdi) is 8 in 99.0 %; argument 2 (rsi) is 6 in 95.0 %");
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(vt_speclist_arguments(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	expect_cell(t, 0, "value", "7");
	expect_cell(t, 1, "value", "8");
	expect_cell(t, 2, "value", "4");
	expect_cell(t, 3, "value", "6");
	vt_table_free(t);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),

		cmocka_unit_test(test_lists_of_gone),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_shares_of_callers),
		cmocka_unit_test(test_scores_of_callers),

		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_rare),

		cmocka_unit_test(test_sources_of_callers),
		cmocka_unit_test(test_order_of_callers),

	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
