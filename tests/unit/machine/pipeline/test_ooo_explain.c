/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose the slots between two retirements are: lives of instructions written down cycle by cycle,
 * on a machine that retires two in a cycle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/ooo_internal.h"

#define BIT(reg) ((uint64_t)1 << (reg))
#define TAG	 40
#define OTHER	 9
#define SLOTS	 1000

/* The cycles 100 to 130, of whose first slots another one used one. */
static const struct lane before = {.cycle = 100, .used = 1, .width = 2};
#define FIRST 130

struct life {
	struct vt_mop op;
	struct vt_ooo_insn in;
	struct step x;
	struct vt_inorder_cost cost;
};

/* Fetched in 102, placed in 103, with uops of one cycle each that wait for nothing from 104 on. */
static void begin(struct life *l, unsigned nuops)
{
	unsigned i;

	memset(l, 0, sizeof(*l));
	l->in = (struct vt_ooo_insn){.op = &l->op, .tag = TAG};
	l->op.nuops = (uint8_t)nuops;
	l->x = (struct step){.in = &l->in,
			     .begun = 102,
			     .translated = 102,
			     .fetched = 102,
			     .placed = 103,
			     .late = VT_STALL_SLOTTING,
			     .nuops = nuops};
	for (i = 0; i < nuops; i++) {
		l->op.uops[i].op_class = VT_OP_INT;
		l->x.uops[i] = (struct running){.bound = BOUND_FRONT,
						.ready = 104,
						.issued = 104,
						.made = 105,
						.done = 105};
	}
	l->cost.used = SLOTS;
}

static void explain(struct life *l)
{
	uint64_t all = 0;
	unsigned i;

	vti_ooo_explain(&l->x, &before, FIRST, &l->cost);
	for (i = 0; i < l->cost.nstalls; i++)
		all += l->cost.stalls[i].slots;
	/* All slots but the one that was used are somebody's. */
	assert_int_equal(all, 2 * (FIRST - 100) - 1);
	assert_int_equal(l->cost.used, SLOTS - all);
}

static void check(const struct life *l, unsigned cause, uint64_t by, uint32_t slots)
{
	unsigned i;

	for (i = 0; i < l->cost.nstalls; i++)
		if (l->cost.stalls[i].cause == cause && l->cost.stalls[i].by == by) {
			assert_int_equal(l->cost.stalls[i].slots, slots);
			return;
		}
	assert_int_equal(slots, 0);
}

static void test_fetch(void **state)
{
	struct life l;

	(void)state;
	/* Nothing to wait for: up to 130 it is retired late for want of slots. */
	begin(&l, 1);
	explain(&l);
	check(&l, VT_STALL_SLOTTING, TAG, 59);

	/* The front end was empty up to 103: so it was fetched, placed and done late, up to 105. */
	begin(&l, 1);
	l.x.front = (struct front){VT_STALL_MISPREDICT, OTHER, 103};
	explain(&l);
	check(&l, VT_STALL_MISPREDICT, OTHER, 9);
	check(&l, VT_STALL_SLOTTING, 0, 0);
	/* It made up for that before the fetch. */
	begin(&l, 1);
	l.x.front = (struct front){VT_STALL_MISPREDICT, OTHER, 102};
	explain(&l);
	check(&l, VT_STALL_MISPREDICT, OTHER, 0);
	check(&l, VT_STALL_SLOTTING, TAG, 59);

	/* A page in 102 to 104, a line to 107, placed behind 108. */
	begin(&l, 1);
	l.x.translated = 104;
	l.x.fetched = 107;
	l.x.placed = 108;
	explain(&l);
	check(&l, VT_STALL_ITLB, TAG, 4);
	check(&l, VT_STALL_ICACHE, TAG, 6 + 4);
	/* The page alone. */
	begin(&l, 1);
	l.x.translated = l.x.fetched = 104;
	l.x.placed = 105;
	explain(&l);
	check(&l, VT_STALL_ITLB, TAG, 4 + 4);
	/* Both came, but the queue was full up to 108. */
	l.cost = (struct vt_inorder_cost){.used = SLOTS};
	l.x.late = VT_STALL_QUEUE;
	l.x.placed = 108;
	explain(&l);
	check(&l, VT_STALL_ITLB, TAG, 4);
	check(&l, VT_STALL_QUEUE, TAG, 10);
}

static void test_operands(void **state)
{
	static const struct {
		unsigned reg;
		bool dynamic;
		unsigned cause;
	} cases[] = {{3, false, VT_STALL_OPERAND_A},
		     {5, false, VT_STALL_OPERAND_B},
		     {7, false, VT_STALL_OPERAND_C},
		     {3, true, VT_STALL_DEPENDENCY},
		     {VT_NREGS, false, VT_STALL_DEPENDENCY}};
	struct life l;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* Placed behind 103; the operand came in 110, the result in 112. */
		begin(&l, 1);
		l.op.reads = BIT(3) | BIT(7);
		l.op.address_reads = BIT(5);
		l.x.uops[0] =
			(struct running){.bound = BOUND_OPERAND,
					 .reg = cases[i].reg,
					 .operand = {.by = OTHER, .dynamic = cases[i].dynamic},
					 .ready = 110,
					 .issued = 110,
					 .made = 112,
					 .done = 112};
		explain(&l);
		/* What it takes itself is put to what it had to wait for. */
		check(&l, cases[i].cause, OTHER, 12 + 4);
		check(&l, VT_STALL_SLOTTING, TAG, 59 - 16);
	}
	l.cost = (struct vt_inorder_cost){.used = SLOTS};
	l.x.uops[0].bound = BOUND_ORDER;
	explain(&l);
	check(&l, VT_STALL_SYNC, OTHER, 12 + 4);
}

static void test_units_and_memory(void **state)
{
	static const struct {
		unsigned op_class, cause;
	} cases[] = {{VT_OP_MULTIPLY, VT_STALL_MULTIPLIER},
		     {VT_OP_FMUL, VT_STALL_MULTIPLIER},
		     {VT_OP_DIVIDE, VT_STALL_DIVIDER},
		     {VT_OP_FDIV, VT_STALL_DIVIDER},
		     {VT_OP_INT, VT_STALL_UNIT},
		     {VT_OP_LOAD, VT_STALL_UNIT}};
	struct life l;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* Ready in 104, its unit is free in 106; then 2 cycles, a page, a line, a store. */
		begin(&l, 1);
		l.op.uops[0].op_class = (uint8_t)cases[i].op_class;
		l.x.uops[0] = (struct running){.ready = 104,
					       .issued = 106,
					       .made = 108,
					       .tlb = 3,
					       .cache = 4,
					       .forward = 5,
					       .done = 120};
		explain(&l);
		check(&l, cases[i].cause, TAG, 4 + 4);
		check(&l, VT_STALL_DTLB, TAG, 6);
		check(&l, VT_STALL_DCACHE, TAG, 8);
		check(&l, VT_STALL_FORWARD, TAG, 10);
		/* Two cycles, but for a slot, up to 104, and ten behind 120. */
		check(&l, VT_STALL_SLOTTING, TAG, 7 + 20);
	}
}

/* Told is the chain that ends in what was done last, from where it needs nothing before it. */
static void test_chains(void **state)
{
	struct life l;

	(void)state;
	/* The second waits for the first, which waited for an operand up to 110. */
	begin(&l, 3);
	l.x.uops[1] = (struct running){.bound = BOUND_OPERAND,
				       .reg = VT_NREGS,
				       .operand = {.by = OTHER},
				       .ready = 110,
				       .issued = 110,
				       .made = 111,
				       .done = 111};
	l.x.uops[2] = (struct running){
		.bound = BOUND_PREVIOUS, .ready = 111, .issued = 113, .made = 114, .done = 114};
	explain(&l);
	check(&l, VT_STALL_DEPENDENCY, OTHER, 12 + 2);
	check(&l, VT_STALL_UNIT, TAG, 4 + 2);
	check(&l, VT_STALL_SLOTTING, TAG, 59 - 20);

	/* It does not: only its own wait for a unit counts, from 104 to 113. */
	l.cost = (struct vt_inorder_cost){.used = SLOTS};
	l.x.uops[2].bound = BOUND_FRONT;
	explain(&l);
	check(&l, VT_STALL_DEPENDENCY, OTHER, 0);
	check(&l, VT_STALL_UNIT, TAG, 18 + 2);

	/* The one before was done later. */
	l.cost = (struct vt_inorder_cost){.used = SLOTS};
	l.x.uops[1].made = l.x.uops[1].done = 115;
	explain(&l);
	check(&l, VT_STALL_DEPENDENCY, OTHER, 12 + 10);
	check(&l, VT_STALL_UNIT, TAG, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_units_and_memory),
		cmocka_unit_test(test_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
