/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/runs.h"

#define BASE 0x1000

/* A loop with a call in it: je +2; call f; jne loop; ret; f: ret; jmp . */
static const uint8_t bytes[] = {
	0x74, 0x05,		      /* 1000: je 1007 */
	0xe8, 0x03, 0x00, 0x00, 0x00, /* 1002: call 100a */
	0x75, 0xf7,		      /* 1007: jne 1000 */
	0xc3,			      /* 1009: ret */
	0xc3,			      /* 100a: ret */
	0xeb, 0xfe,		      /* 100b: jmp 100b */
};

struct fixture {
	struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;
	struct vti_pt_runs *runs;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct vt_pt_section s = {.start = BASE, .size = sizeof(bytes), .bytes = bytes};
	struct vt_error err;

	f.code = vt_pt_code_new();
	assert_non_null(f.code);
	assert_int_equal(vt_pt_code_add(f.code, &s, &err), 0);
	f.blocks = vt_pt_blocks_new(f.code);
	f.runs = vti_pt_runs_new();
	assert_non_null(f.blocks);
	assert_non_null(f.runs);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	vti_pt_runs_free(f->runs);
	vt_pt_blocks_free(f->blocks);
	vt_pt_code_free(f->code);
	return 0;
}

static const struct vti_pt_a_run *make(struct fixture *f, uint64_t ip, uint32_t bits)
{
	const struct vti_pt_a_run *e = vti_pt_runs_make(f->runs, f->blocks, ip, 64, bits);

	assert_non_null(e);
	assert_ptr_equal(vti_pt_runs_find(f->runs, ip, vti_pt_run_key(64, bits)), e);
	return e;
}

/* Taken, taken: around the loop; then whatever comes begins at its top. */
static void test_decisions(void **state)
{
	const struct vti_pt_a_run *e = make(*state, BASE, 7);

	assert_int_equal(e->bits, 2);
	assert_int_equal(e->blocks, 2);
	assert_int_equal(e->insns, 2);
	assert_int_equal(e->next, BASE);
	assert_int_equal(e->flags & (VTI_PT_RUN_STOP | VTI_PT_RUN_RETURN), 0);
}

/* Not taken, the call's return compressed, not taken: the last return is not the run's own. */
static void test_call(void **state)
{
	struct fixture *f = *state;
	const struct vti_pt_a_run *e = make(f, BASE, 10);

	assert_int_equal(e->bits, 3);
	assert_int_equal(e->blocks, 4);
	assert_int_equal(e->next, BASE + 9);
	assert_true(e->flags & VTI_PT_RUN_PUSHES_HEAD);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->depth, 1);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->pushes, 0);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->first, 1);
	/* A TIP may come there: an uncompressed return. */
	assert_true(e->flags & VTI_PT_RUN_TAIL);
	assert_int_equal(e->tail, 1);
	e = make(f, BASE + 9, 3);
	assert_true(e->flags & VTI_PT_RUN_RETURN);
	assert_int_equal(e->bits, 1);
}

/* What cannot be: a return whose decision says no, a loop without end, no code. */
static void test_stop(void **state)
{
	struct fixture *f = *state;

	assert_true(make(f, BASE + 9, 2)->flags & VTI_PT_RUN_STOP);
	assert_true(make(f, BASE + 11, 2)->flags & VTI_PT_RUN_STOP);
	assert_true(make(f, 0x9000, 3)->flags & VTI_PT_RUN_STOP);
	assert_false(make(f, BASE + 11, 1)->flags & VTI_PT_RUN_TAIL);
}

/* What comes before a decision that cannot be is not of the run: a call pushes nothing. */
static void test_undone(void **state)
{
	struct fixture *f = *state;
	const struct vti_pt_a_run *e = make(f, BASE, 4);

	assert_int_equal(e->bits, 1);
	assert_int_equal(e->blocks, 1);
	assert_int_equal(e->insns, 1);
	assert_false(e->flags & VTI_PT_RUN_PUSHES_HEAD);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->pushes, 0);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->depth, 0);
}

/* Tracing ends at the procedure that is called, or before the first decision. */
static void test_end(void **state)
{
	struct fixture *f = *state;
	const struct vti_pt_a_run *e = vti_pt_runs_make_end(f->runs, f->blocks, BASE + 2, 64,
							    VTI_PT_RUN_TO_ADDRESS, BASE + 10);

	assert_true(e->flags & VTI_PT_RUN_TAIL);
	assert_int_equal(e->tail, 1);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->tail_pushes, 1);
	e = vti_pt_runs_make_end(f->runs, f->blocks, BASE + 2, 64, VTI_PT_RUN_TO_NOWHERE, 0);
	assert_int_equal(e->tail, 2);
}

/* Many runs: found as long as nothing displaces them, and memory stays bounded by the code. */
static void test_bounded(void **state)
{
	struct fixture *f = *state;
	uint32_t bits;
	unsigned i;

	for (i = 0; i < 40000; i++)
		for (bits = 2; bits < 4; bits++)
			make(f, 0x100000 + i, bits);
	assert_true(f->runs->shift >= 64 - 19);
	assert_true(f->runs->pool_size <= (UINT32_C(2) << (64 - f->runs->shift)) * 16);
	vti_pt_runs_forget(f->runs);
	assert_null(vti_pt_runs_find(f->runs, 0x100000, vti_pt_run_key(64, 2)));
}

/* A larger table has all the runs that the smaller one had, and the one that there was no room for.
 */
static void test_grown(void **state)
{
	struct fixture *f = *state;
	unsigned shift = f->runs->shift, n, i, found = 0;
	uint64_t used = 0;

	for (n = 0; f->runs->shift == shift; n++) {
		assert_true(n < 40000);
		used = f->runs->used;
		make(f, 0x100000 + n, 2);
	}
	assert_int_equal(f->runs->shift, shift - 2);
	for (i = 0; i < n; i++)
		found += vti_pt_runs_find(f->runs, 0x100000 + i, vti_pt_run_key(64, 2)) != NULL;
	assert_int_equal(found, used + 1);
	assert_int_equal(f->runs->used, used + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_decisions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_grown, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
