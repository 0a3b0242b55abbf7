/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/speclist.h"

#include "tests/unit/printed.h"
#include "tests/unit/specprogram.h"

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

static void test_blocks(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "at_same_a", 1000);
	put_count(&f, "at_same_b", 1000);
	put_count(&f, "at_same_c", 500);
	put_count(&f, "at_sum_loop", 500);
	put_list(&f, "at_same_a", VT_WHAT_LOAD, 0, NULL, 4, 1000, 0, 0);
	put_list(&f, "at_same_b", VT_WHAT_LOAD, 0, NULL, 5, 990, 6, 10);
	put_list(&f, "at_same_c", VT_WHAT_LOAD, 0, NULL, 5, 300, 6, 200);
	/* at_sum_loop has a load of which nothing is known: no verdict. */
	finish(&f);
	assert_int_equal(vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 1);
	expect_cell(t, 0, "block", "same");
	assert_float_equal(real_cell(t, 0, "invariance"), 99, 0.001);
	assert_float_equal(real_cell(t, 0, "time"), 66.667, 0.001);
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(
		vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){.top = 1}, &err), 0);
	assert_int_equal(vt_table_rows(t), 1);
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

/*
 * Two blocks of `same`, and of `cut` the instruction that is whole, the best score first. Of 5000
 * samples they have 2000, 500 and 1500.
 */
static void test_order_of_blocks(void **state)
{
	static const struct {
		const char *block, *line;
		double time, share;
		uint64_t executions, insns, loads, results;
		const char *advice;
	} want[] = {
		{"same", "p.s:18", 0.4, 0.9, 800, 3, 2, 1,
		 "compute it once: each load and result hardly ever gives anything but the same"},
		{"cut", "p.s:21", 0.3, 1, 1500, 1, 1, 0,
		 "compute once what follows from it: each load always gives the same"},
		{"same+0x7", "p.s:19", 0.1, 1, 300, 1, 1, 0,
		 "compute once what follows from it: each load always gives the same"},
	};
	size_t i;
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "at_same_a", 1000);
	put_count(&f, "at_same_b", 1000);
	put_count(&f, "at_same_c", 500);
	put_count(&f, "at_cut_a", 1500);
	put_count(&f, "at_sum_loop", 1000);
	put_list(&f, "at_same_a", VT_WHAT_LOAD, 0, NULL, 4, 800, 0, 0);
	put_list(&f, "at_same_b", VT_WHAT_LOAD, 0, NULL, 5, 990, 6, 10);
	put_list(&f, "at_same_b", VT_WHAT_RESULT, VT_REG_AX, NULL, 9, 900, 10, 100);
	put_list(&f, "at_same_c", VT_WHAT_LOAD, 0, NULL, 5, 300, 0, 0);
	put_list(&f, "at_cut_a", VT_WHAT_LOAD, 0, NULL, 1, 1500, 0, 0);
	finish(&f);
	f.view.opt.min_invariance = 0.8;
	assert_int_equal(vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 3);
	for (i = 0; i < 3; i++) {
		double low = vt_share_low(want[i].share, (double)want[i].executions);

		expect_cell(t, i, "block", want[i].block);
		expect_cell(t, i, "block.line", want[i].line);
		assert_float_equal(real_cell(t, i, "time"), 100 * want[i].time, 1e-9);
		assert_float_equal(real_cell(t, i, "invariance"), 100 * want[i].share, 0.01);
		assert_float_equal(real_cell(t, i, "invariance.low"), 100 * low, 0.01);
		assert_float_equal(real_cell(t, i, "score"), 100 * want[i].time * low, 1e-9);
		assert_int_equal(cell(t, i, "executions").number, want[i].executions);
		assert_int_equal(cell(t, i, "instructions").number, want[i].insns);
		assert_int_equal(cell(t, i, "loads").number, want[i].loads);
		assert_int_equal(cell(t, i, "results").number, want[i].results);
		expect_cell(t, i, "advice", want[i].advice);
	}
	vt_table_free(t);
	t = vt_table_new();
	assert_int_equal(
		vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){.top = 1}, &err), 2);
	assert_int_equal(vt_table_rows(t), 1);
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
 * Of 100000 samples; the values of every sort. What each says of a value, from specjudge.h: a
 * number 4, a call or jump 15, a result 1; 1960 of 2000 are 98 %, from 97.28 % on.
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_sources_of_callers),
		cmocka_unit_test(test_order_of_callers),
		cmocka_unit_test(test_order_of_blocks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
