/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "specialise/specialise.h"

#include "tests/unit/common/specprogram.h"

/* Arguments at calls are those of what is called, whose time divides by the calls from each. */
static void test_at_calls(void **state)
{
	struct fixture f;
	struct vt_table *t = vt_table_new();
	const struct vt_spec_row *r;

	(void)state;
	begin(&f, "instructions");
	put_count(&f, "sum", 40000);
	put_count(&f, "passes", 60000);
	put_count(&f, "calls", 100000);
	put_list(&f, "at_passes_a", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 1500, 0, 0);
	put_list(&f, "at_passes_b", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 500, 5, 500);
	/* An indirect call: of what? */
	put_list(&f, "at_deeper", VT_WHAT_ARG, VT_REG_SI, NULL, 4, 1000, 0, 0);
	/* The entry of a procedure, though a call is there. */
	put_list(&f, "calls", VT_WHAT_ARG, VT_REG_SI, NULL, 7, 1000, 0, 0);
	finish(&f);
	assert_int_equal(vt_spec_nrows(f.spec), 2);
	r = vt_spec_row(f.spec, 0);
	assert_false(r->value.at_call);
	assert_string_equal(vt_spec_procedure(f.spec, r->procedure)->name, "calls");
	r = vt_spec_row(f.spec, 1);
	assert_true(r->value.at_call);
	assert_int_equal(r->value.hot->key.offset, offset_of("at_passes_a"));
	assert_string_equal(vt_spec_procedure(f.spec, r->procedure)->name, "sum");
	assert_float_equal(r->stake, 0.2 * 1500 / 2500, 1e-12);
	assert_true(vt_spec_is_at_call(f.spec, r->value.hot));
	assert_int_equal(vt_speclist_procedures(t, &f.view, &(struct vt_speclist_options){0}, &err),
			 0);
	expect_cell(t, 1, "procedure", "sum");
	expect_cell(t, 1, "advice",
		    "specialise the procedure: argument 2 (rsi) of this call is always 4");
	vt_table_free(t);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_at_calls)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
