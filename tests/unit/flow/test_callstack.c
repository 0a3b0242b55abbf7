/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shadow call stack: calls, returns, what unwinding and signals do to it, its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/callstack.h"

/* A block of two instructions at an address, run from `insn` to its end. */
static void run(struct vt_callstack *s, uint64_t addr, enum vt_block_end end, uint32_t insn,
		uint32_t insn_end)
{
	struct vt_bblock b = {.addr = addr, .size = 8, .ninsns = 2, .end = end};
	struct vt_step step = {.block = &b, .insn = insn, .insn_end = insn_end};

	vt_callstack_enter(s, &step);
	vt_callstack_leave(s, &step);
}

static void call(struct vt_callstack *s, uint64_t from)
{
	run(s, from, VT_END_CALL, 0, 2);
}

static void calls_and_returns(void **state)
{
	struct vt_callstack s = {0};

	(void)state;
	assert_int_equal(vt_callstack_caller(&s), 0);
	call(&s, 0x100);
	assert_int_equal(vt_callstack_caller(&s), 0x108);
	run(&s, 0x500, VT_END_CALL_INDIRECT, 0, 2);
	assert_int_equal(vt_callstack_caller(&s), 0x508);
	/* A return counts when the next block shows where to. */
	run(&s, 0x600, VT_END_RETURN, 0, 2);
	assert_int_equal(vt_callstack_caller(&s), 0x508);
	run(&s, 0x508, VT_END_BRANCH, 0, 2);
	assert_int_equal(vt_callstack_caller(&s), 0x108);
	/* The first half of a call or return is none. */
	run(&s, 0x700, VT_END_CALL, 0, 1);
	assert_int_equal(vt_callstack_caller(&s), 0x108);
	run(&s, 0x700, VT_END_CALL, 1, 2);
	assert_int_equal(vt_callstack_caller(&s), 0x708);
	vt_callstack_clear(&s);
	assert_int_equal(vt_callstack_caller(&s), 0);
	vt_callstack_fini(&s);
}

static void unwinding(void **state)
{
	struct vt_callstack s = {0};
	uint64_t i;

	(void)state;
	for (i = 1; i <= 10; i++)
		call(&s, 0x1000 * i);
	/* A return to the third frame leaves all above it. */
	run(&s, 0x20000, VT_END_RETURN, 0, 2);
	run(&s, 0x3008, VT_END_FALL, 0, 2);
	assert_int_equal(s.count, 2);
	assert_int_equal(vt_callstack_caller(&s), 0x2008);
	/* One to nowhere known leaves none. */
	run(&s, 0x20000, VT_END_RETURN, 0, 2);
	run(&s, 0x7777, VT_END_FALL, 0, 2);
	assert_int_equal(s.count, 2);
	run(&s, 0x20000, VT_END_RETURN, 0, 2);
	run(&s, 0x1008, VT_END_FALL, 0, 2);
	assert_int_equal(s.count, 0);
	vt_callstack_fini(&s);
}

/* Of a deep stack, the 256 topmost frames are looked at. */
static void far_returns(void **state)
{
	uint64_t depth, i;

	(void)state;
	for (depth = 255; depth <= 257; depth++) {
		struct vt_callstack s = {0};

		for (i = 1; i <= 300; i++)
			call(&s, 16 * i);
		run(&s, 4, VT_END_RETURN, 0, 2);
		run(&s, 16 * (301 - depth) + 8, VT_END_FALL, 0, 2);
		assert_int_equal(s.count, depth <= 256 ? 300 - depth : 300);
		vt_callstack_fini(&s);
		assert_int_equal(s.count, 0);
		assert_null(s.frames);
	}
}

/* Only the very next block shows where a return went, unless something else came between. */
static void returns_count_once(void **state)
{
	struct vt_callstack s = {0};

	(void)state;
	call(&s, 0x100);
	call(&s, 0x200);
	run(&s, 0x900, VT_END_RETURN, 0, 2);
	run(&s, 0x700, VT_END_FALL, 0, 1);
	run(&s, 0x108, VT_END_FALL, 0, 1);
	assert_int_equal(vt_callstack_caller(&s), 0x208);
	run(&s, 0x900, VT_END_RETURN, 0, 2);
	vt_callstack_signal(&s);
	run(&s, 0x500, VT_END_FALL, 0, 2);
	assert_int_equal(s.count, 3);
	assert_int_equal(vt_callstack_caller(&s), 0);
	run(&s, 0x900, VT_END_RETURN, 0, 2);
	vt_callstack_clear(&s);
	vt_callstack_set_caller(&s, 0x42);
	assert_int_equal(vt_callstack_caller(&s), 0x42);
	vt_callstack_fini(&s);
}

static void signals(void **state)
{
	struct vt_callstack s = {0};

	(void)state;
	call(&s, 0x100);
	vt_callstack_signal(&s);
	assert_int_equal(vt_callstack_caller(&s), 0);
	call(&s, 0x200);
	run(&s, 0x900, VT_END_RETURN, 0, 2);
	run(&s, 0x208, VT_END_RETURN, 0, 2);
	assert_int_equal(vt_callstack_caller(&s), 0);
	/* The handler's own return. */
	run(&s, 0xabc, VT_END_SYSCALL, 0, 2);
	assert_int_equal(vt_callstack_caller(&s), 0x108);
	vt_callstack_fini(&s);
}

static void told_by_the_producer(void **state)
{
	struct vt_callstack s = {0};

	(void)state;
	vt_callstack_set_caller(&s, 0);
	assert_int_equal(s.count, 0);
	vt_callstack_set_caller(&s, 0x42);
	assert_int_equal(vt_callstack_caller(&s), 0x42);
	call(&s, 0x100);
	vt_callstack_set_caller(&s, 0x108);
	assert_int_equal(s.count, 2);
	vt_callstack_set_caller(&s, 0x999);
	assert_int_equal(s.count, 2);
	assert_int_equal(vt_callstack_caller(&s), 0x999);
	vt_callstack_set_caller(&s, 0);
	assert_int_equal(vt_callstack_caller(&s), 0x999);
	/* Not while it is open where a return goes. */
	run(&s, 0x900, VT_END_RETURN, 0, 2);
	vt_callstack_set_caller(&s, 0x777);
	assert_int_equal(vt_callstack_caller(&s), 0x999);
	vt_callstack_fini(&s);
}

static void deep_recursion(void **state)
{
	struct vt_callstack s = {0};
	uint64_t i;

	(void)state;
	for (i = 1; i <= VT_CALLSTACK_DEPTH + 1; i++)
		call(&s, 16 * i);
	/* The older half is forgotten. */
	assert_int_equal(s.count, VT_CALLSTACK_DEPTH / 2 + 1);
	for (i = 0; i < s.count; i++)
		assert_int_equal(s.frames[i], 16 * (VT_CALLSTACK_DEPTH / 2 + 1 + i) + 8);
	for (i = VT_CALLSTACK_DEPTH + 2; i <= 3 * VT_CALLSTACK_DEPTH; i++)
		call(&s, 16 * i);
	assert_true(s.count <= VT_CALLSTACK_DEPTH);
	assert_true(s.cap <= 2 * VT_CALLSTACK_DEPTH);
	assert_int_equal(vt_callstack_caller(&s), 16 * (i - 1) + 8);
	run(&s, 4, VT_END_RETURN, 0, 2);
	run(&s, 16 * (i - 1) + 8, VT_END_FALL, 0, 2);
	assert_int_equal(vt_callstack_caller(&s), 16 * (i - 2) + 8);
	assert_false(s.failed);
	vt_callstack_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_returns), cmocka_unit_test(unwinding),
		cmocka_unit_test(far_returns),	     cmocka_unit_test(returns_count_once),
		cmocka_unit_test(signals),	     cmocka_unit_test(told_by_the_producer),
		cmocka_unit_test(deep_recursion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
