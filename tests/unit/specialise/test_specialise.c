/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "specialise/specialise.h"

#include "specialise/entry.h"
#include "tests/unit/common/specprogram.h"

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
	assert_int_equal(p->start, CODE + offset_of("sum"));
	assert_int_equal(p->end, 0);
	assert_int_equal(p->why, VT_UNKNOWN_STRIPPED);
	/* divide reaches up to sum: nothing tells of apply. */
	assert_int_equal(vt_spec_nprocedures(f.spec), 2);
	assert_int_equal(vt_spec_procedure(f.spec, 1)->start, CODE + offset_of("divide"));
	assert_int_equal(vt_spec_procedure(f.spec, 1)->end, CODE + offset_of("sum"));
	assert_int_equal(vt_spec_procedure(f.spec, 1)->samples, 50000);
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

/* Instructions that were counted beside the event of the time stand for the work of a procedure. */
static void test_two_events(void **state)
{
	struct vt_spec_procedure p;
	struct fixture f;

	(void)state;
	begin(&f, "cycles");
	put_event(&f, 2, "instructions", VT_POLICY_EXACT);
	put_event(&f, 3, "misses", VT_POLICY_EXACT);
	put_count(&f, "divide", 100);
	put_count(&f, "at_divide_load", 50);
	put_count(&f, "sum", 250);
	put_count_of(&f, 2, "divide", 30000);
	put_count_of(&f, 2, "at_divide_load", 10000);
	put_count_of(&f, 2, "walk", 700);
	put_count_of(&f, 3, "apply", 400);
	put_list(&f, "at_divide_load", VT_WHAT_LOAD, 0, NULL, 8, 1000, 0, 0);
	finish(&f);
	/* Of apply nothing is counted that matters, of walk only instructions. */
	assert_int_equal(vt_spec_nprocedures(f.spec), 3);
	assert_int_equal(vt_spec_find(f.spec, 1, offset_of("apply")), SIZE_MAX);
	assert_int_equal(vt_spec_find(f.spec, 1, offset_of("divide")), 0);
	assert_int_equal(vt_spec_find(f.spec, 1, offset_of("sum")), 1);
	assert_int_equal(vt_spec_find(f.spec, 1, offset_of("walk")), 2);
	p = *vt_spec_procedure(f.spec, 0);
	assert_string_equal(p.name, "divide");
	assert_int_equal(p.image, 1);
	assert_int_equal(p.pid, 0);
	assert_int_equal(p.why, VT_KNOWN);
	assert_int_equal(p.start, CODE + offset_of("divide"));
	assert_int_equal(p.end, CODE + offset_of("apply"));
	assert_int_equal(p.samples, 150);
	assert_float_equal(p.time, 0.375, 1e-12);
	assert_float_equal(p.insns, 40000, 0);
	/* 20 x 1000 of 40000 instructions are half of the time. */
	assert_int_equal(vt_spec_nrows(f.spec), 1);
	assert_float_equal(vt_spec_row(f.spec, 0)->stake, 0.1875, 1e-12);
	assert_float_equal(vt_spec_row(f.spec, 0)->score, 0.1875 * vt_share_low(1, 1000), 1e-12);
	assert_float_equal(p.score, 0.1875 * vt_share_low(1, 1000), 1e-12);
	assert_int_equal(vt_spec_row(f.spec, 0)->vaddr, CODE + offset_of("at_divide_load"));
	p = *vt_spec_procedure(f.spec, 2);
	assert_int_equal(p.samples, 0);
	assert_float_equal(p.insns, 700, 0);
	assert_int_equal(vt_spec_total(f.spec), 400);
	assert_int_equal(vt_spec_samples(f.spec, 1, offset_of("at_divide_load")), 150);
	assert_int_equal(vt_spec_samples(f.spec, 1, offset_of("walk")), 0);
	assert_int_equal(vt_spec_samples(f.spec, 2, offset_of("divide")), 0);
	end(&f);
}

/* Where they were sampled, four for each load do. */
static void test_sampled_instructions(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "cycles");
	put_event(&f, 2, "instructions", VT_POLICY_INTERRUPT);
	put_count(&f, "same", 500);
	put_count(&f, "leaps", 500);
	put_count_of(&f, 2, "same", 1);
	put_list(&f, "at_same_a", VT_WHAT_LOAD, 0, NULL, 7, 1000, 0, 0);
	put_list(&f, "at_same_b", VT_WHAT_LOAD, 0, NULL, 6, 2000, 5, 1000);
	put_list(&f, "at_leaps", VT_WHAT_TARGET, 0, NULL, address_of("sum"), 1000, 0, 0);
	f.min_invariance = 0.5;
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 3);
	/* Without loads, all of it may hang on the jump. */
	assert_float_equal(vt_spec_row(f.spec, 0)->stake, 0.5, 1e-12);
	/* 4 x 3000, then 4 x 1000, of 4 x 4000; their scores decide. */
	assert_int_equal(vt_spec_row(f.spec, 1)->value.hot->values[0], 6);
	assert_float_equal(vt_spec_row(f.spec, 1)->stake, 0.375, 1e-12);
	assert_int_equal(vt_spec_row(f.spec, 2)->value.hot->values[0], 7);
	assert_float_equal(vt_spec_row(f.spec, 2)->stake, 0.125, 1e-12);
	end(&f);
}

/* Rows of one procedure by score, then cost, then place; procedures by score, then time. */
static void test_order(void **state)
{
	static const struct {
		const char *at;
		unsigned reg;
	} want[] = {{"walk", VT_REG_SI},
		    {"upto", VT_REG_DI},
		    {"upto", VT_REG_SI},
		    {"triple", VT_REG_DI}};
	static const char *const names[] = {"walk", "upto", "triple", "same", "sum", "cut"};
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "cut", 50);
	put_count(&f, "sum", 100);
	put_count(&f, "same", 250);
	put_count(&f, "triple", 100);
	put_count(&f, "upto", 200);
	put_count(&f, "walk", 300);
	put_list(&f, "upto", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 1000, 0, 0);
	put_list(&f, "upto", VT_WHAT_ARG, VT_REG_DI, NULL, 64, 1000, 0, 0);
	put_list(&f, "walk", VT_WHAT_ARG, VT_REG_SI, NULL, 5, 1000, 0, 0);
	put_list(&f, "triple", VT_WHAT_ARG, VT_REG_DI, NULL, 5, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 4);
	for (i = 0; i < 4; i++) {
		const struct vt_spec_row *r = vt_spec_row(f.spec, i);

		assert_int_equal(r->value.hot->key.offset, offset_of(want[i].at));
		assert_int_equal(r->value.hot->key.reg, want[i].reg);
		assert_int_equal(r->samples, vt_spec_procedure(f.spec, r->procedure)->samples);
		assert_float_equal(r->value.others, 1, 0);
	}
	assert_int_equal(vt_spec_nprocedures(f.spec), 6);
	for (i = 0; i < 6; i++)
		assert_string_equal(vt_spec_procedure(f.spec, i)->name, names[i]);
	/* Two arguments that all of it hangs on are not more than all of it. */
	assert_float_equal(vt_spec_procedure(f.spec, 1)->score, 0.2, 1e-12);
	assert_float_equal(vt_spec_procedure(f.spec, 0)->score, 0.3 * vt_share_low(1, 1000), 1e-12);
	end(&f);
}

/* A value of several lanes is as invariant as the least of them, of its own place and caller. */
static void test_lanes(void **state)
{
	static const struct planted lists[] = {
		{"at_same_a", VT_WHAT_LOAD, 0, 0, 4, NULL, {5}, {1000}},
		{"at_same_a", VT_WHAT_LOAD, 0, 1, 4, NULL, {5, 6}, {950, 50}},
		{"at_same_a", VT_WHAT_LOAD, 0, 2, 4, NULL, {5, 6}, {980, 20}},
		{"at_same_b", VT_WHAT_LOAD, 0, 0, 4, NULL, {7}, {1000}},
		{"at_triple", VT_WHAT_RESULT, VT_REG_AX, 0, 4, NULL, {8}, {1000}},
		{"at_triple", VT_WHAT_RESULT, VT_REG_CX, 1, 4, NULL, {8, 9}, {700, 300}},
		{"at_same_b", VT_WHAT_RESULT, VT_REG_CX, 1, 4, NULL, {8, 9}, {700, 300}},
		{"at_same_c", VT_WHAT_LOAD, 0, 1, 4, NULL, {7, 8}, {600, 400}},
		{"walk", VT_WHAT_ARG, VT_REG_SI, 0, 8, "at_apply_return", {5}, {1000}},
		{"walk", VT_WHAT_ARG, VT_REG_SI, 1, 8, "at_apply_return", {5, 6}, {960, 40}},
		{"walk", VT_WHAT_ARG, VT_REG_SI, 0, 8, "at_start_return", {5}, {1000}},
		{"walk", VT_WHAT_ARG, VT_REG_SI, 1, 8, "at_start_return", {5, 6}, {970, 30}},
		{"upto", VT_WHAT_ARG, VT_REG_SI, 0, 8, NULL, {5}, {1000}},
		{"upto", VT_WHAT_ARG, VT_REG_DI, 1, 8, NULL, {5, 6}, {940, 60}},
	};
	static const struct {
		const char *at;
		enum vt_what what;
		const char *caller;
		double others;
	} want[] = {
		{"at_same_a", VT_WHAT_LOAD, NULL, 0.95},
		{"at_same_b", VT_WHAT_LOAD, NULL, 1},
		{"at_triple", VT_WHAT_RESULT, NULL, 1},
		{"walk", VT_WHAT_ARG, "at_apply_return", 0.96},
		{"walk", VT_WHAT_ARG, "at_start_return", 0.97},
		{"upto", VT_WHAT_ARG, NULL, 1},
	};
	size_t i, j, found = 0;
	struct fixture f;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "same", 1000);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		put_hot(&f, &lists[i]);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 6);
	for (i = 0; i < 6; i++)
		for (j = 0; j < 6; j++) {
			const struct vt_spec_row *r = vt_spec_row(f.spec, i);
			uint64_t caller = want[j].caller ? offset_of(want[j].caller) : 0;

			if (r->value.hot->key.offset != offset_of(want[j].at) ||
			    r->value.hot->key.what != want[j].what ||
			    r->value.hot->key.caller != caller)
				continue;
			found++;
			assert_float_equal(r->value.others, want[j].others, 1e-12);
			assert_float_equal(r->verdict.share, want[j].others, 1e-12);
		}
	assert_int_equal(found, 6);
	end(&f);
}

/* What can be an address, by its size, what it is and how high it is. */
static void test_pointers(void **state)
{
	const uint64_t megabyte = 1 << 20;
	static const struct {
		const char *at;
		enum vt_what what;
		unsigned size;
		uint64_t value;
		bool told;
	} cases[] = {
		{"at_same_a", VT_WHAT_LOAD, 8, 0x7fff12345678, false},
		{"at_same_a", VT_WHAT_LOAD, 4, 0x12345678, true},
		{"at_same_a", VT_WHAT_LOAD, 7, 0x12345678, true},
		{"at_same_a", VT_WHAT_LOAD, 16, 0x12345678, false},
		{"at_leaps", VT_WHAT_TARGET, 8, 65535, true},
		{"at_leaps", VT_WHAT_TARGET, 8, 65536, false},
		{"at_leaps", VT_WHAT_TARGET, 4, 65536, false},
		{"sum", VT_WHAT_ARG, 4, 0x12345678, false},
	};
	const struct {
		uint64_t address, number;
		bool address_told, told;
	} near[] = {
		{0x580000, 4 * megabyte - 1, false, true},
		{0x580000, 4 * megabyte, false, false},
		{0x580000, 7 * megabyte - 1, false, false},
		{0x580000, 7 * megabyte, false, true},
		/* In the first megabyte nothing is allocated; the image's own say nothing. */
		{0x90000, megabyte, true, true},
		{BASE + 0x2000, BASE - 4, true, true},
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&f, "instructions");
		put_hot(&f, &(struct planted){cases[i].at,
					      cases[i].what,
					      cases[i].what == VT_WHAT_ARG ? VT_REG_SI : 0,
					      0,
					      cases[i].size,
					      NULL,
					      {cases[i].value},
					      {1000}});
		finish(&f);
		if (vt_spec_nrows(f.spec) != cases[i].told)
			fail_msg("case %zu", i);
		assert_int_equal(vt_spec_of_run(f.spec), !cases[i].told);
		end(&f);
	}
	for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		begin(&f, "instructions");
		put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, NULL, near[i].address, 2000, 0, 0);
		put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, near[i].number, 2000, 0, 0);
		finish(&f);
		if (vt_spec_nrows(f.spec) != (size_t)near[i].address_told + near[i].told)
			fail_msg("near %zu: %zu rows", i, vt_spec_nrows(f.spec));
		end(&f);
	}
	/* Each value of a list tells where addresses are. */
	begin(&f, "instructions");
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_DI, NULL, 0x580000, 600, 0xb80000, 400);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, 0xb00000, 2000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 0);
	assert_int_equal(vt_spec_of_run(f.spec), 1);
	end(&f);
}

/* Each sort of value, and what the code says of it. */
static void test_code(void **state)
{
	static const struct {
		struct planted list;
		bool told;
		enum vt_source source;
		unsigned uses;
	} cases[] = {
		{{"at_reads_limit", VT_WHAT_LOAD, 0, 0, 4, NULL, {7}, {1000}},
		 true,
		 VT_SOURCE_FIXED,
		 0},
		{{"at_reads_fixed", VT_WHAT_LOAD, 0, 0, 4, NULL, {9}, {1000}},
		 false,
		 VT_SOURCE_FIXED,
		 0},
		{{"at_same_b", VT_WHAT_LOAD, 0, 0, 4, NULL, {7}, {1000}},
		 true,
		 VT_SOURCE_MEMORY,
		 VT_USE_READ},
		{{"sum", VT_WHAT_ARG, VT_REG_SI, 0, 4, NULL, {7}, {1000}}, true, 0, VT_USE_READ},
		{{"upto", VT_WHAT_ARG, VT_REG_SI, 0, 8, NULL, {7}, {1000}},
		 true,
		 0,
		 VT_USE_READ | VT_USE_ADDRESS},
		{{"at_triple", VT_WHAT_RESULT, VT_REG_AX, 0, 4, NULL, {9}, {1000}},
		 true,
		 0,
		 VT_USE_READ | VT_USE_BRANCH},
		{{"at_known", VT_WHAT_RESULT, VT_REG_AX, 0, 4, NULL, {5}, {1000}}, false, 0, 0},
		{{"at_leaps", VT_WHAT_TARGET, 0, 0, 8, NULL, {5}, {1000}}, true, 0, 0},
		{{"at_deeper", VT_WHAT_TARGET, 0, 0, 8, NULL, {5}, {1000}}, true, 0, VT_USE_TARGET},
		{{"at_table", VT_WHAT_TARGET, 0, 0, 8, NULL, {5}, {1000}}, false, 0, 0},
		{{"at_linked", VT_WHAT_TARGET, 0, 0, 8, NULL, {5}, {1000}}, false, 0, 0},
		{{"at_same_a", VT_WHAT_RETURN, 0, 0, 8, NULL, {5}, {1000}}, false, 0, 0},
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct vt_spec_row *r;
		unsigned what;

		begin(&f, "instructions");
		put_hot(&f, &cases[i].list);
		finish(&f);
		for (what = 0; what <= VT_NWHATS; what++)
			assert_int_equal(vt_spec_lists(f.spec, what), what == cases[i].list.what);
		assert_int_equal(vt_spec_of_run(f.spec), 0);
		assert_int_equal(vt_spec_blind(f.spec), 0);
		if (vt_spec_nrows(f.spec) != cases[i].told)
			fail_msg("case %zu", i);
		r = vt_spec_row(f.spec, 0);
		if (cases[i].told &&
		    (r->value.source != cases[i].source || r->value.uses.uses != cases[i].uses))
			fail_msg("case %zu: source %d, uses %#x", i, r->value.source,
				 r->value.uses.uses);
		end(&f);
	}
}

/* Lists of one place that differ in the caller alone are looked at once, to the same effect. */
static void test_looked_at_once(void **state)
{
	static const char *const callers[] = {"at_apply_return", "at_start_return"};
	const struct vt_spec_row *r;
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "instructions");
	for (i = 0; i < 2; i++) {
		put_hot(&f, &(struct planted){
				    "upto", VT_WHAT_ARG, VT_REG_DI, 0, 8, callers[i], {5}, {9}});
		put_hot(&f, &(struct planted){
				    "upto", VT_WHAT_ARG, VT_REG_SI, 0, 8, callers[i], {5}, {9}});
		put_hot(&f, &(struct planted){
				    "at_reads_limit", VT_WHAT_LOAD, 0, 0, 4, callers[i], {5}, {9}});
		put_hot(&f, &(struct planted){
				    "at_reads_fixed", VT_WHAT_LOAD, 0, 0, 4, callers[i], {5}, {9}});
	}
	f.min_invariance = 0.5;
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 6);
	for (i = 0; i < 6; i++) {
		r = vt_spec_row(f.spec, i);
		if (r->value.hot->key.what == VT_WHAT_LOAD) {
			assert_int_equal(r->value.source, VT_SOURCE_FIXED);
			assert_int_equal(r->value.uses.uses, 0);
		} else if (r->value.hot->key.reg == VT_REG_SI) {
			assert_int_equal(r->value.uses.uses, VT_USE_READ | VT_USE_ADDRESS);
		} else {
			assert_int_equal(r->value.uses.uses,
					 VT_USE_READ | VT_USE_BRANCH | VT_USE_BOUND);
		}
	}
	end(&f);
}

/* A procedure with just the time that is asked for is looked at, its values are too. */
static void test_bounds(void **state)
{
	struct fixture f;

	(void)state;
	put_program(&f);
	f.min_time = 0.4;
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 2);
	assert_int_equal(vt_spec_nprocedures(f.spec), 4);
	assert_int_equal(vt_spec_cold(f.spec), 5); /* the other three are of sum */
	end(&f);
	put_program(&f);
	f.min_time = 0.41;
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 0);
	assert_int_equal(vt_spec_cold(f.spec), 8);
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_LOAD), 3);
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_TARGET), 1);
	end(&f);
	/* Without any time there are no shares of it. */
	begin(&f, "instructions");
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 1);
	assert_float_equal(vt_spec_procedure(f.spec, 0)->time, 0, 0);
	assert_float_equal(vt_spec_row(f.spec, 0)->stake, 0, 0);
	end(&f);
}

/* Of an image whose file is not there, places are what offsets say, and all values are read. */
static void test_gone(void **state)
{
	struct vt_spec_procedure p;
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "same", 100);
	f.image = 2;
	put_count(&f, "same", 200);
	put_count(&f, "divide", 50);
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, 5, 1000, 0, 0);
	put_list(&f, "same", VT_WHAT_ARG, VT_REG_DX, NULL, 5, 1000, 0, 0);
	put_list(&f, "at_same_b", VT_WHAT_LOAD, 0, NULL, 7, 1000, 0, 0);
	/* Of an image of which nothing is known nothing is told. */
	f.image = VT_UNMAPPED_IMAGE;
	put_list(&f, "sum", VT_WHAT_ARG, VT_REG_SI, NULL, 5, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_blind(f.spec), 3);
	assert_int_equal(vt_spec_lists(f.spec, VT_WHAT_ARG), 3);
	assert_int_equal(vt_spec_samples(f.spec, 1, offset_of("same")), 100);
	assert_int_equal(vt_spec_samples(f.spec, 2, offset_of("same")), 200);
	/* sum() ends where same() begins, and nothing tells of what is before. */
	assert_int_equal(vt_spec_nprocedures(f.spec), 4);
	p = *vt_spec_procedure(f.spec, vt_spec_find(f.spec, 2, offset_of("at_same_b")));
	assert_int_equal(p.image, 2);
	assert_string_equal(p.name, "");
	assert_int_equal(p.why, VT_UNKNOWN_NO_FILE);
	assert_int_equal(p.start, offset_of("same"));
	assert_int_equal(p.end, 0);
	assert_int_equal(p.samples, 200);
	p = *vt_spec_procedure(f.spec, vt_spec_find(f.spec, 2, offset_of("sum")));
	assert_int_equal(p.start, offset_of("sum"));
	assert_int_equal(p.end, offset_of("same"));
	assert_int_equal(p.samples, 0);
	p = *vt_spec_procedure(f.spec, vt_spec_find(f.spec, 2, offset_of("divide")));
	assert_int_equal(p.start, 0);
	assert_int_equal(p.end, 0);
	assert_int_equal(p.samples, 50);
	assert_int_equal(vt_spec_find(f.spec, 2, offset_of("apply")),
			 vt_spec_find(f.spec, 2, offset_of("divide")));
	assert_int_equal(vt_spec_nrows(f.spec), 3);
	for (i = 0; i < 3; i++) {
		const struct vt_spec_row *r = vt_spec_row(f.spec, i);

		assert_int_equal(r->value.uses.uses, VT_USE_READ);
		assert_int_equal(r->value.source, VT_SOURCE_MEMORY);
		assert_int_equal(r->vaddr, r->value.hot->key.offset);
		assert_int_equal(vt_spec_image(f.spec, r->value.hot->key.image), 2);
	}
	assert_int_equal(vt_spec_image(f.spec, VT_HOT_NO_IMAGE), VT_UNMAPPED_IMAGE);
	assert_int_equal(vt_spec_find(f.spec, VT_UNMAPPED_IMAGE, 0), SIZE_MAX);
	end(&f);
	vt_spec_free(NULL);
}

/* Without symbols, call frames tell where procedures begin. */
static void test_frames(void **state)
{
	static const char frames[] =
		".intel_syntax noprefix\n.globl _start\n"
		"_start: .cfi_startproc; call 1f; ret; nop; nop; .cfi_endproc\n"
		".cfi_startproc; 1: mov eax, [rdi]; ret; .cfi_endproc\n"
		".cfi_startproc; mov eax, [rdi + 8]; ret; .cfi_endproc\n";
	const struct vt_spec_procedure *p;
	struct vti_entries e = {0};
	struct fixture f;
	uint64_t *row;
	unsigned i;

	(void)state;
	toolbox_write(program.dir, "f.s", frames);
	free(toolbox_run(program.dir,
			 "gcc -nostdlib -static -no-pie -Wl,--eh-frame-hdr -o framed f.s && "
			 "mv p whole && strip -o p framed"));
	begin(&f, "instructions");
	for (i = 0; i < 13; i++) {
		row = vt_writer_row(f.w, VT_COUNT);
		row[VT_COUNT_IMAGE] = 1;
		row[VT_COUNT_OFFSET] = 0x1000 + i;
		row[VT_COUNT_EVENT] = 1;
		row[VT_COUNT_SAMPLES] = row[VT_COUNT_PERIOD] = 1;
	}
	put_list(&f, "divide", VT_WHAT_LOAD, 0, NULL, 7, 1000, 0, 0);
	finish(&f);
	/* 5 + 1 + 1 + 1, 2 + 1 and 3 + 1 bytes */
	assert_int_equal(vt_spec_nprocedures(f.spec), 3);
	p = vt_spec_procedure(f.spec, vt_spec_find(f.spec, 1, 0x1007));
	assert_int_equal(p->start, CODE + 0x1000);
	assert_int_equal(p->end, CODE + 0x1008);
	assert_int_equal(p->samples, 8);
	p = vt_spec_procedure(f.spec, vt_spec_find(f.spec, 1, 0x1008));
	assert_int_equal(p->start, CODE + 0x1008);
	assert_int_equal(p->end, CODE + 0x100b);
	assert_int_equal(p->samples, 3);
	p = vt_spec_procedure(f.spec, vt_spec_find(f.spec, 1, 0x100b));
	assert_int_equal(p->start, CODE + 0x100b);
	assert_int_equal(p->samples, 2);
	assert_int_equal(vti_entries_add_image(&e, f.images, 1, &err), 0);
	assert_int_equal(e.count, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(e.list[i].image, 1);
		assert_int_equal(e.list[i].offset, i == 0 ? 0x1000 : i == 1 ? 0x1008 : 0x100b);
	}
	/* There is no file to ask. */
	assert_int_equal(vti_entries_add_image(&e, f.images, 2, &err), 0);
	assert_int_equal(e.count, 3);
	vti_entries_fini(&e);
	assert_int_equal(e.count, 0);
	assert_null(e.list);
	end(&f);
	free(toolbox_run(program.dir, "cp framed p"));
	begin(&f, "instructions");
	finish(&f);
	/* Where there are symbols, they tell. */
	assert_int_equal(vti_entries_add_image(&e, f.images, 1, &err), 0);
	assert_int_equal(e.count, 0);
	end(&f);
	free(toolbox_run(program.dir, "mv whole p"));
}

/* What is worth the same stands in the order of the input. */
static void test_ties(void **state)
{
	static const struct {
		const char *at;
		unsigned reg;
	} want[] = {{"at_cut_a", 0}, {"at_cut_b", 0}, {"same", VT_REG_SI}, {"same", VT_REG_DI}};
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 100);
	put_count(&f, "walk", 100);
	put_count(&f, "cut", 50000);
	put_count(&f, "same", 10);
	put_list(&f, "same", VT_WHAT_ARG, VT_REG_DI, NULL, 5, 1000, 0, 0);
	put_list(&f, "same", VT_WHAT_ARG, VT_REG_SI, NULL, 5, 1000, 0, 0);
	put_list(&f, "at_cut_b", VT_WHAT_LOAD, 0, NULL, 5, 1000, 0, 0);
	put_list(&f, "at_cut_a", VT_WHAT_LOAD, 0, NULL, 5, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nprocedures(f.spec), 4);
	assert_string_equal(vt_spec_procedure(f.spec, 0)->name, "cut");
	assert_string_equal(vt_spec_procedure(f.spec, 1)->name, "same");
	assert_string_equal(vt_spec_procedure(f.spec, 2)->name, "sum");
	assert_string_equal(vt_spec_procedure(f.spec, 3)->name, "walk");
	assert_int_equal(vt_spec_nrows(f.spec), 4);
	for (i = 0; i < 4; i++) {
		const struct vt_spec_row *r = vt_spec_row(f.spec, i);

		assert_int_equal(r->value.hot->key.offset, offset_of(want[i].at));
		assert_int_equal(r->value.hot->key.reg, want[i].reg);
	}
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_two_events),
		cmocka_unit_test(test_sampled_instructions),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_looked_at_once),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_procedures),
		cmocka_unit_test(test_addresses_of_the_run),
		cmocka_unit_test(test_other_event),
		cmocka_unit_test(test_linkage),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_blind),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
