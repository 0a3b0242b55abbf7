/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/specialise.h"

#include "analysis/specentry_internal.h"
#include "tests/unit/specprogram.h"

static void test_procedures(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	(void)state;
	put_program(&f);
	finish(&f);
	assert_int_equal(vt_speclist_procedures(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), 4);
	/* 40 % x 1: all of the procedure hangs on its argument. */
	expect_cell(t, 0, "procedure", "sum");
	expect_cell(t, 0, "kind", "argument");
	expect_cell(t, 0, "register", "rsi");
	expect_cell(t, 0, "advice", "specialise the procedure: argument 2 (rsi) is always 4");
	expect_cell(t, 1, "kind", "argument-pointer");
	expect_cell(t, 1, "advice", "refer to it directly: argument 1 (rdi) is always &sum");
	/* 20 divisions' worth for each of 1000 executions are all of divide's 20 %. */
	expect_cell(t, 2, "procedure", "divide");
	expect_cell(t, 2, "advice", "shift instead of dividing: the divisor is always 8");
	assert_float_equal(real_cell(t, 2, "stake"), 20, 0.01);
	expect_cell(t, 3, "procedure", "apply");
	expect_cell(t, 3, "place", "apply");
	expect_cell(t, 3, "advice", "devirtualise: 99.8 % to sum");
	assert_float_equal(real_cell(t, 3, "stake"), 15, 0.01);
	assert_float_equal(real_cell(t, 3, "invariance"), 99.8, 0.001);
	vt_table_free(t);
	end(&f);
}

/*
 * sum()'s argument rdi is an address, in the second megabyte, on the heap as it were; rsi is a
 * number or an address by its size, and by whether that is near.
 */
static void check_value(const char *procedure, const char *at, enum vt_what what, unsigned reg,
			uint64_t value, bool told)
{
	struct fixture f;

	begin(&f, "instructions");
	put_count(&f, procedure, 40000);
	put_list(&f, at, what, reg, NULL, value, 2000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), told);
	assert_int_equal(vt_spec_of_run(f.spec), !told);
	end(&f);
}

static void check_number(uint64_t value, bool told)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();

	begin(&f, "instructions");
	put_count(&f, "sum", 40000);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, NULL, 0x180000, 2000, 0, 0);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, value, 2000, 0, 0);
	finish(&f);
	assert_int_equal(vt_speclist_procedures(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	assert_int_equal(vt_table_rows(t), told);
	if (told)
		expect_cell(t, 0, "register", "rsi");
	assert_int_equal(vt_spec_of_run(f.spec), told ? 1 : 2);
	vt_table_free(t);
	end(&f);
}

static void test_addresses_of_the_run(void **state)
{
	const uint64_t megabyte = 1 << 20;

	(void)state;
	check_number(4, true);
	check_number(megabyte - 1, true);
	check_number(megabyte, false);
	check_number(2 * megabyte, false);
	check_number(3 * megabyte - 4, false);
	check_number(3 * megabyte, true);
	check_number(16 * megabyte - 4, true);
	check_number(16 * megabyte, false);
	check_number(0x4e54114, false);
	check_number(0x7ffe12345678, false);
	check_number(UINT64_C(1) << 47, true);
	check_number(UINT64_MAX, true);
	/* Of the image: the same in each run. */
	check_number(address_of("same"), true);
	/* What divides is a number of any size, what is loaded from or walked up to none. */
	check_value("divide", "at_divide_load", VT_WHAT_LOAD, 0, 16 * megabyte, true);
	check_value("walk", "walk", VT_WHAT_ARG, VT_REG_SI, 3 * megabyte, false);
	check_value("walk", "walk", VT_WHAT_ARG, VT_REG_DI, 3 * megabyte, false);
	check_value("sum", "sum", VT_WHAT_ARG, VT_REG_SI, 3 * megabyte, true);
}

/* Where instructions were not counted, loads stand for them. */
static void test_other_event(void **state)
{
	const struct vt_spec_row *r;
	struct fixture f;

	(void)state;
	begin(&f, "cycles");
	put_count(&f, "divide", 100);
	put_list(&f, "at_divide_load", VT_WHAT_LOAD, 0, NULL, 10, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 1);
	r = vt_spec_row(f.spec, 0);
	assert_int_equal(r->verdict.kind, VT_SPEC_DIVISOR);
	assert_int_equal(r->samples, 100);
	/* 15 for each of a load's four instructions: all of it. */
	assert_float_equal(r->stake, 1, 1e-9);
	end(&f);
}

/* Where a loader put the target, the program has no say. */
static void test_linkage(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "stub", 1000);
	put_list(&f, "at_stub", VT_WHAT_TARGET, 0, NULL, address_of("sum"), 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_TARGET), 1);
	assert_int_equal(vt_spec_nrows(f.spec), 0);
	end(&f);
}

/* Each time that it happened, and once for each. */
static void test_counted(void **state)
{
	struct vt_profile_event e = {.samples = 7, .period = 7};

	(void)state;
	e.policy = VT_POLICY_EXACT;
	assert_true(vt_spec_is_counted(&e));
	e.period = 14;
	assert_false(vt_spec_is_counted(&e));
	e.policy = VT_POLICY_INTERRUPT;
	assert_false(vt_spec_is_counted(&e));
	e.period = 7;
	assert_false(vt_spec_is_counted(&e));
}

/* Procedures of images without symbols: each ends where the next one of its image begins. */
static void test_entries(void **state)
{
	struct vti_entries e = {0};
	const struct vti_entry *at;
	uint64_t end, i;

	(void)state;
	assert_int_equal(vti_entries_add(&e, 4, 0x30, &err), 0);
	assert_int_equal(vti_entries_add(&e, 2, 0x20, &err), 0);
	assert_int_equal(vti_entries_add(&e, 2, 0x10, &err), 0);
	vti_entries_sort(&e);
	for (i = 0; i < 0x40; i++) {
		at = vti_entries_before(&e, 2, i, &end);
		assert_int_equal(at ? at->offset : 0, i < 0x10 ? 0 : i < 0x20 ? 0x10 : 0x20);
		assert_int_equal(end, i < 0x10 ? 0x10 : i < 0x20 ? 0x20 : 0);
		at = vti_entries_before(&e, 4, i, &end);
		assert_int_equal(at ? at->offset : 0, i < 0x30 ? 0 : 0x30);
		assert_int_equal(end, i < 0x30 ? 0x30 : 0);
		assert_null(vti_entries_before(&e, 1, i, &end));
		assert_int_equal(end, 0);
		assert_null(vti_entries_before(&e, 3, i, &end));
		assert_int_equal(end, 0);
		assert_null(vti_entries_before(&e, 5, i, &end));
		assert_int_equal(end, 0);
	}
	vti_entries_fini(&e);
}

/* Without symbols, procedures begin where calls went. */
static void test_stripped(void **state)
{
	const struct vt_spec_procedure *p;
	struct fixture f;

	(void)state;
	free(toolbox_run(program.dir, "cp p whole && strip p"));
	put_program(&f);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 4);
	p = vt_spec_procedure(f.spec, vt_spec_row(f.spec, 0)->procedure);
	assert_string_equal(p->name, "");
	/* sum is the last one called, so same's time is counted as its own. */
	assert_float_equal(p->time, 0.5, 1e-9);
	assert_int_equal(vt_spec_find(f.spec, 1, offset_of("same")),
			 vt_spec_row(f.spec, 0)->procedure);
	end(&f);
	free(toolbox_run(program.dir, "mv whole p"));
}

/* Without the file, what is done with values is not known. */
static void test_blind(void **state)
{
	struct fixture f;

	(void)state;
	put_program(&f);
	free(toolbox_run(program.dir, "mv p whole"));
	finish(&f);
	assert_int_equal(vt_spec_blind(f.spec), 8);
	end(&f);
	free(toolbox_run(program.dir, "mv whole p"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_procedures),  cmocka_unit_test(test_addresses_of_the_run),
		cmocka_unit_test(test_other_event), cmocka_unit_test(test_linkage),
		cmocka_unit_test(test_counted),	    cmocka_unit_test(test_entries),
		cmocka_unit_test(test_stripped),    cmocka_unit_test(test_blind),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
