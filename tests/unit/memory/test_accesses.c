/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which slots of a block make up its accesses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "memory/accesses.h"

#define S(i, w, n)                                                                                 \
	{                                                                                          \
		.insn = (i), .what = VT_WHAT_##w, .size = (n)                                      \
	}

static struct vti_block_accesses make(const struct vt_slot *slots, uint32_t n,
				      enum vt_block_end end)
{
	const struct vt_bblock b = {.ninsns = 2, .nslots = n, .slots = slots, .end = end};
	struct vti_block_accesses a;

	assert_true(vti_block_accesses_make(&a, &b));
	return a;
}

static void pairs(void **state)
{
	static const struct vt_slot slots[] = {
		S(0, LOAD_ADDRESS, 8),	S(0, LOAD, 4),	 S(0, RESULT, 8),	S(0, GUARD, 1),
		S(0, STORE_ADDRESS, 8), S(0, STORE, 16), S(1, LOAD_ADDRESS, 8), S(1, LOAD, 1),
	};
	struct vti_block_accesses a = make(slots, 8, VT_END_BRANCH);

	(void)state;
	assert_int_equal(a.count, 3);
	assert_int_equal(a.incomplete, 0);
	assert_int_equal(a.list[0].slots.address, 0);
	assert_int_equal(a.list[0].slots.value, 1);
	assert_int_equal(a.list[0].slots.size, 4);
	assert_int_equal(a.list[0].slots.guard, VT_ACCESS_NO_SLOT);
	assert_false(a.list[0].slots.store);
	assert_int_equal(a.list[1].slots.address, 4);
	assert_int_equal(a.list[1].slots.value, 5);
	assert_int_equal(a.list[1].slots.size, 16);
	assert_int_equal(a.list[1].slots.guard, 3);
	assert_true(a.list[1].slots.store);
	assert_int_equal(a.list[2].slots.insn, 1);
	/* The guard was of one access only. */
	assert_int_equal(a.list[2].slots.guard, VT_ACCESS_NO_SLOT);
	free(a.list);
}

static void incomplete(void **state)
{
	static const struct vt_slot slots[] = {
		S(0, LOAD, 4),		/* no address */
		S(0, LOAD_ADDRESS, 8),	/* no value */
		S(0, STORE_ADDRESS, 8), /* the value of another access: two more */
		S(0, LOAD, 4),
		S(0, STORE_ADDRESS, 4), /* no address of 64 bits: its value has none */
		S(0, STORE, 4),
		S(0, LOAD_ADDRESS, 8), /* the value is of the next instruction: two more */
		S(1, LOAD, 4),
	};
	struct vti_block_accesses a = make(slots, 8, VT_END_BRANCH);

	(void)state;
	assert_int_equal(a.count, 0);
	assert_int_equal(a.incomplete, 7);
	free(a.list);
	a = make(NULL, 0, VT_END_BRANCH);
	assert_int_equal(a.count, 0);
	assert_non_null(a.list);
	free(a.list);
}

static void roles(void **state)
{
	static const struct vt_slot store[] = {S(0, STORE_ADDRESS, 8), S(0, STORE, 8),
					       S(1, STORE_ADDRESS, 8), S(1, STORE, 8)};
	static const struct vt_slot load[] = {S(1, LOAD_ADDRESS, 8), S(1, LOAD, 8)};
	static const struct vt_slot narrow[] = {S(1, LOAD_ADDRESS, 8), S(1, LOAD, 4)};
	struct vti_block_accesses a = make(store, 4, VT_END_CALL);

	(void)state;
	assert_int_equal(a.list[0].role, VTI_ACCESS_DATA);
	assert_int_equal(a.list[1].role, VTI_ACCESS_CALL);
	free(a.list);
	a = make(store, 4, VT_END_CALL_INDIRECT);
	assert_int_equal(a.list[1].role, VTI_ACCESS_CALL);
	free(a.list);
	a = make(store, 4, VT_END_RETURN);
	assert_int_equal(a.list[1].role, VTI_ACCESS_DATA);
	free(a.list);
	a = make(load, 2, VT_END_RETURN);
	assert_int_equal(a.list[0].role, VTI_ACCESS_RETURN);
	free(a.list);
	a = make(load, 2, VT_END_CALL_INDIRECT);
	assert_int_equal(a.list[0].role, VTI_ACCESS_DATA);
	free(a.list);
	a = make(narrow, 2, VT_END_RETURN);
	assert_int_equal(a.list[0].role, VTI_ACCESS_DATA);
	free(a.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(incomplete),
		cmocka_unit_test(roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
