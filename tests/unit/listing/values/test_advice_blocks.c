/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/advice.h"

#include "tests/unit/common/specprogram.h"

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

/* Blocks end at system calls and where jumps go; what only looks like a load is none. */
static void test_ends_of_blocks(void **state)
{
	static const struct {
		const char *block;
		uint64_t executions, insns;
	} want[] = {{"kernel+0x4", 100, 2},
		    {"kernel", 200, 2},
		    {"sum+0x2", 400, 3},
		    {"padded", 300, 4}};
	struct vt_table *t = vt_table_new();
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "at_kernel_a", 300);
	put_count(&f, "at_kernel_b", 400);
	put_count(&f, "at_sum_loop", 200);
	put_count(&f, "padded", 100);
	put_list(&f, "at_kernel_a", VT_WHAT_LOAD, 0, NULL, 5, 200, 0, 0);
	put_list(&f, "at_kernel_b", VT_WHAT_LOAD, 0, NULL, 5, 100, 0, 0);
	put_list(&f, "at_sum_loop", VT_WHAT_LOAD, 0, NULL, 5, 400, 0, 0);
	put_list(&f, "at_padded_load", VT_WHAT_LOAD, 0, NULL, 5, 300, 0, 0);
	/* No load and no result: of a block these say nothing. */
	put_list(&f, "padded", VT_WHAT_ARG, VT_REG_DI, NULL, 5, 50, 6, 50);
	finish(&f);
	assert_int_equal(vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	assert_int_equal(vt_table_rows(t), 4);
	for (i = 0; i < 4; i++) {
		expect_cell(t, i, "block", want[i].block);
		assert_int_equal(cell(t, i, "executions").number, want[i].executions);
		assert_int_equal(cell(t, i, "instructions").number, want[i].insns);
		assert_int_equal(cell(t, i, "loads").number, 1);
		assert_int_equal(cell(t, i, "results").number, 0);
		assert_float_equal(real_cell(t, i, "invariance"), 100, 0);
	}
	vt_table_free(t);
	end(&f);
}

/* Lanes are no loads of their own, but the least of them counts; blocks of one score as found. */
static void test_lanes_of_blocks(void **state)
{
	static const struct planted lists[] = {
		{"at_same_a", VT_WHAT_LOAD, 0, 0, 4, NULL, {5}, {1000}},
		{"at_same_a", VT_WHAT_LOAD, 0, 1, 4, NULL, {5, 6}, {990, 10}},
		{"at_same_b", VT_WHAT_LOAD, 0, 0, 4, NULL, {5}, {900}},
		{"at_same_b", VT_WHAT_RESULT, VT_REG_AX, 0, 4, NULL, {5}, {1000}},
		{"at_same_b", VT_WHAT_RESULT, VT_REG_AX, 1, 4, NULL, {5, 6}, {980, 20}},
		{"at_same_c", VT_WHAT_LOAD, 0, 0, 4, NULL, {5}, {900}},
		{"at_kernel_a", VT_WHAT_LOAD, 0, 0, 4, NULL, {5}, {500}},
		{"at_kernel_b", VT_WHAT_LOAD, 0, 0, 4, NULL, {5}, {500}},
	};
	struct vt_table *t = vt_table_new();
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "at_same_a", 1000);
	put_count(&f, "at_kernel_b", 100);
	put_count(&f, "at_kernel_a", 100);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		put_hot(&f, &lists[i]);
	finish(&f);
	assert_int_equal(vt_speclist_blocks(t, &f.view, &(struct vt_speclist_options){0}, &err), 0);
	/* Of at_same_c there are loads, but no time. */
	assert_int_equal(vt_table_rows(t), 3);
	expect_cell(t, 0, "block", "same");
	assert_int_equal(cell(t, 0, "loads").number, 2);
	assert_int_equal(cell(t, 0, "results").number, 1);
	assert_int_equal(cell(t, 0, "executions").number, 900);
	assert_float_equal(real_cell(t, 0, "invariance"), 98, 1e-9);
	expect_cell(t, 1, "block", "kernel");
	expect_cell(t, 2, "block", "kernel+0x4");
	vt_table_free(t);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_order_of_blocks),
		cmocka_unit_test(test_ends_of_blocks),
		cmocka_unit_test(test_lanes_of_blocks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
