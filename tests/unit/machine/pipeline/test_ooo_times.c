/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Issue out of order: when operands are ready, and how long loads take, in cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/machine/pipeline/ooocases.h"

#define LATENCY 5 /* of loads */
#define FORWARD 4

static struct vt_ooo_times run(struct fixture *f, const struct vt_mop *op)
{
	struct vt_ooo_insn in = {.op = op, .tag = ++f->n, .followed = true};
	struct vt_inorder_cost cost;
	struct vt_ooo_times t;

	vt_ooo_run(f->e, &in, &cost, &t);
	return t;
}

static void expect_ready(struct fixture *f, const struct vt_mop *op, uint64_t ready,
			 uint64_t issued)
{
	struct vt_ooo_times t = run(f, op);

	assert_int_equal(t.placed, 0);
	assert_int_equal(t.ready, ready);
	assert_int_equal(t.issued, issued);
	assert_int_equal(t.load, 0);
	assert_int_equal(t.tlb, 0);
	assert_false(t.forwarded);
}

static void operands_are_ready_before_units_are(void **state)
{
	struct vt_mop late = one(uop(VT_OP_INT, W, 10, 0, 1), 0, AX), add = addition(AX, BX);
	struct vt_mop three = busy(U0, 3), one_cycle = busy(U0, 1);
	struct fixture f;

	(void)state;
	begin(&f, wide());
	expect_ready(&f, &late, 1, 1);
	expect_ready(&f, &add, 11, 11);
	end(&f);
	begin(&f, wide());
	expect_ready(&f, &three, 1, 1);
	expect_ready(&f, &one_cycle, 1, 4);
	end(&f);
}

/* The operands are those of the micro-operation that is issued first. */
static void the_first_one_counts(void **state)
{
	struct vt_mop late = one(uop(VT_OP_INT, W, 10, 0, 1), 0, AX);
	struct vt_mop both = {.nuops = 2,
			      .slots = 1,
			      .reads = AX,
			      .uops = {uop(VT_OP_INT, R, 1, 0, 1), uop(VT_OP_INT, 0, 1, 0, 1)}};
	struct vt_mop none = {.slots = 1};
	struct fixture f;

	(void)state;
	begin(&f, wide());
	expect_ready(&f, &late, 1, 1);
	expect_ready(&f, &both, 1, 1);
	both.uops[1].operands = P;
	expect_ready(&f, &both, 11, 11);
	expect_ready(&f, &none, 1, 1);
	end(&f);
}

static void loads_have_data_when_they_are_done(void **state)
{
	struct vt_mop late = one(uop(VT_OP_INT, W, 10, 0, 1), 0, AX);
	struct vt_mop add = {
		.nuops = 2,
		.slots = 1,
		.reads = AX,
		.uops = {uop(VT_OP_LOAD, A, LATENCY, 0, 1), uop(VT_OP_INT, P | R, 1, 0, 1)}};
	struct vt_ooo_times t;
	struct fixture f;

	(void)state;
	begin(&f, wide());
	run(&f, &late);
	t = run(&f, &add);
	assert_int_equal(t.ready, 1);
	assert_int_equal(t.issued, 1);
	assert_int_equal(t.done, 12);
	assert_int_equal(t.load, LATENCY);
	assert_false(t.forwarded);
	end(&f);
}

/* Of two loads, the second takes 30 cycles more, 20 of them for the TLB. */
static struct vt_simmem_access access_memory(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	struct vt_simmem_access a = {.cycles = 30, .tlb = 20};

	(void)arg;
	(void)store;
	(void)cycle;
	return nth ? a : (struct vt_simmem_access){0};
}

static void the_slower_load_counts(void **state)
{
	struct vt_ooo_hooks hooks = {.access = access_memory};
	struct vt_mop two = {
		.nuops = 2,
		.slots = 1,
		.uops = {uop(VT_OP_LOAD, A, LATENCY, 0, 1), uop(VT_OP_LOAD, A, LATENCY, 0, 1)}};
	struct vt_ooo_times t;
	struct fixture f;

	(void)state;
	begin(&f, wide());
	vt_ooo_free(f.e);
	f.e = vt_ooo_new(&f.core, &hooks);
	assert_non_null(f.e);
	t = run(&f, &two);
	assert_int_equal(t.load, LATENCY + 30);
	assert_int_equal(t.tlb, 20);
	end(&f);
}

static struct vt_mop_sum at_1000(void)
{
	return (struct vt_mop_sum){0x1000, 8, VT_REG_NONE, VT_REG_NONE, 0, VT_REG_NONE};
}

/* A load is issued as soon as its address is known, though the store's data comes in cycle 12. */
static void data_of_stores_is_no_operand(void **state)
{
	struct vt_mop late = one(uop(VT_OP_INT, W, 10, 0, 1), 0, AX);
	struct vt_mop store = one(uop(VT_OP_STORE, R, 1, 0, 1), AX, 0);
	struct vt_mop load = one(uop(VT_OP_LOAD, A | W, LATENCY, 0, 1), 0, BX);
	struct vt_core core = wide();
	struct vt_ooo_times t;
	struct fixture f;

	(void)state;
	core.stores = 4;
	core.forward = FORWARD;
	late.target = store.target = load.target = VT_REG_NONE;
	store.store = load.load = at_1000();
	begin(&f, core);
	run(&f, &late);
	t = run(&f, &store);
	assert_int_equal(t.ready, 11);
	assert_int_equal(t.done, 12);
	t = run(&f, &load);
	assert_int_equal(t.ready, 1);
	assert_int_equal(t.issued, 1);
	assert_int_equal(t.done, 12 + FORWARD);
	assert_int_equal(t.load, 11 + FORWARD);
	assert_true(t.forwarded);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_are_ready_before_units_are),
		cmocka_unit_test(the_first_one_counts),
		cmocka_unit_test(loads_have_data_when_they_are_done),
		cmocka_unit_test(the_slower_load_counts),
		cmocka_unit_test(data_of_stores_is_no_operand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
