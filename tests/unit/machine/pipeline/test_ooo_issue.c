/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Issue out of order: when each instruction is where, in cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/machine/pipeline/ooocases.h"

/* ---- widths ---- */

static void widths_are_of_each_stage(void **state)
{
	struct vt_core core = wide();
	struct fixture f;

	(void)state;
	core.fetch = 2;
	begin(&f, core);
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "1 1 2 3 3");
	end(&f);
	core = wide();
	core.decode = 2;
	begin(&f, core);
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "0 1 2 3 3");
	end(&f);
	core = wide();
	core.issue = 1;
	begin(&f, core);
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "0 0 2 3 3");
	expect(&f, addition(0, 0), "0 0 3 4 4");
	end(&f);
	core = wide();
	core.retire = 1;
	begin(&f, core);
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "0 0 1 2 3");
	expect(&f, addition(0, 0), "0 0 1 2 4");
	end(&f);
	core = wide();
	core.front = 5;
	begin(&f, core);
	expect(&f, addition(0, 0), "0 4 5 6 6");
	end(&f);
	/* None is one. */
	core = wide();
	core.issue = 0;
	begin(&f, core);
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "0 0 2 3 3");
	end(&f);
	core = (struct vt_core){.order = VT_OUT_OF_ORDER};
	begin(&f, core);
	expect(&f, addition(0, 0), "0 0 1 2 2");
	expect(&f, addition(0, 0), "1 1 2 3 3");
	expect(&f, addition(0, 0), "2 2 3 4 4");
	end(&f);
}

static void taken_branches_end_a_group(void **state)
{
	const struct vt_mop op = addition(0, 0);
	struct fixture f;

	(void)state;
	begin(&f, wide());
	expect_insn(&f, (struct vt_ooo_insn){.op = &op, .taken = true}, "0 0 1 2 2");
	expect(&f, op, "1 1 2 3 3");
	expect(&f, op, "1 1 2 3 3");
	end(&f);
}

/* One that has several operations, or counts for several. */
static void instructions_have_operations_and_slots(void **state)
{
	struct vt_mop op = addition(0, 0);
	struct fixture f;
	unsigned i;

	(void)state;
	begin(&f, wide());
	for (i = 0; i < VT_MOP_UOPS; i++)
		op.uops[i] = uop(VT_OP_INT, i ? P : R, 2 + i, 0, 1);
	/* 1 to 3, to 6, to 10, to 15 */
	op.nuops = VT_MOP_UOPS;
	expect(&f, op, "0 0 1 15 15");
	op.nuops = VT_MOP_UOPS + 1;
	expect(&f, op, "0 0 1 15 15");
	op.nuops = 0;
	expect(&f, op, "0 0 1 1 15");
	end(&f);
	/* The first operation is not always the first to be issued. */
	begin(&f, wide());
	expect(&f, one(uop(VT_OP_INT, W, 5, 0, 1), 0, AX), "0 0 1 6 6");
	op.reads = AX;
	op.nuops = 2;
	op.uops[1] = uop(VT_OP_INT, 0, 1, 0, 1);
	expect(&f, op, "0 0 1 8 8");
	/* Nor the second. */
	op.nuops = 3;
	op.uops[1] = uop(VT_OP_INT, P, 1, 0, 1);
	op.uops[2] = uop(VT_OP_INT, 0, 1, 0, 1);
	expect(&f, op, "0 0 1 9 9");
	op.uops[2].operands = P;
	expect(&f, op, "0 0 6 10 10");
	end(&f);
	/* Three and three do not go into four; six take two cycles. */
	begin(&f, wide());
	op = addition(0, 0);
	op.slots = 3;
	expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "0 1 2 3 3");
	op.slots = 6;
	expect(&f, op, "0 3 4 5 6");
	op.slots = 0;
	expect(&f, op, "0 3 4 5 6");
	op.slots = 2;
	expect(&f, op, "1 4 5 6 7");
	end(&f);
	/* None is one. */
	begin(&f, wide());
	op.slots = 0;
	for (i = 0; i < 4; i++)
		expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "1 1 2 3 3");
	end(&f);
	/* What takes no unit is done at once, and waits for its operands. */
	begin(&f, wide());
	expect(&f, one(uop(VT_OP_INT, W, 5, 0, 1), 0, AX), "0 0 1 6 6");
	expect(&f, one(uop(VT_OP_NOP, R | W, 0, 0, 0), AX, BX), "0 0 6 6 6");
	expect(&f, addition(BX, 0), "0 0 6 7 7");
	end(&f);
}

/* ---- operands ---- */

static void operands_are_awaited(void **state)
{
	static const struct {
		unsigned operands;
		const char *want;
	} cases[] = {
		{R, "0 0 4 5 9"}, {A, "0 0 9 10 10"}, {R | A, "0 0 9 10 10"},
		{W, "0 0 1 2 9"}, {P, "0 0 1 2 9"},
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_mop op = one(uop(VT_OP_INT, cases[i].operands, 1, 0, 1), AX, 0);

		op.address_reads = BX;
		begin(&f, wide());
		expect(&f, one(uop(VT_OP_INT, W, 3, 0, 1), 0, AX), "0 0 1 4 4");
		expect(&f, one(uop(VT_OP_INT, W, 8, 0, 1), 0, BX), "0 0 1 9 9");
		expect(&f, op, cases[i].want);
		end(&f);
	}
	/* The result is there when all that write it are done. */
	begin(&f, wide());
	{
		struct vt_mop op = one(uop(VT_OP_INT, W, 7, 0, 1), 0, AX);

		op.nuops = 3;
		op.uops[1] = uop(VT_OP_INT, W, 3, 0, 1);
		op.uops[2] = uop(VT_OP_INT, 0, 20, 0, 1);
		expect(&f, op, "0 0 1 21 21");
		expect(&f, addition(AX, 0), "0 0 8 9 21");
	}
	end(&f);
}

/* ---- units ---- */

static void units_are_busy(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, wide());
	expect(&f, busy(U0, 3), "0 0 1 2 2");
	expect(&f, busy(U0, 1), "0 0 4 5 5");
	expect(&f, busy(U1, 0), "0 0 1 2 5");
	expect(&f, busy(U1, 2), "0 0 2 3 5");
	end(&f);
	/* Two cycles do not go before one that is taken. */
	begin(&f, wide());
	expect(&f, one(uop(VT_OP_INT, W, 1, 0, 1), 0, AX), "0 0 1 2 2");
	expect(&f, one(uop(VT_OP_INT, R, 1, U0, 1), AX, 0), "0 0 2 3 3");
	expect(&f, busy(U0, 2), "0 0 3 4 4");
	expect(&f, busy(U0, 1), "0 0 1 2 4");
	end(&f);
	/* Those that the machine does not have are none. */
	begin(&f, wide());
	expect(&f, busy(4, 9), "0 0 1 2 2");
	expect(&f, busy(4, 9), "0 0 1 2 2");
	end(&f);
	/* A younger one goes first if it is over when the older one begins, */
	begin(&f, wide());
	expect(&f, one(uop(VT_OP_INT, W, 4, 0, 1), 0, AX), "0 0 1 5 5");
	expect(&f, one(uop(VT_OP_INT, R, 1, U0, 1), AX, 0), "0 0 5 6 6");
	expect(&f, busy(U0, 4), "0 0 1 2 6");
	end(&f);
	/* and behind it if not. */
	begin(&f, wide());
	expect(&f, one(uop(VT_OP_INT, W, 4, 0, 1), 0, AX), "0 0 1 5 5");
	expect(&f, one(uop(VT_OP_INT, R, 1, U0, 1), AX, 0), "0 0 5 6 6");
	expect(&f, busy(U0, 5), "0 0 6 7 7");
	end(&f);
}

/* Of those that are free, that which was used least, and of those the first. */
static void work_is_shared_out(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, wide());
	expect(&f, busy(U0 | U1, 2), "0 0 1 2 2"); /* unit 0, cycles 1 and 2 */
	expect(&f, busy(U0, 1), "0 0 3 4 4");
	expect(&f, busy(U0 | U1, 1), "0 0 1 2 4"); /* unit 1 is free */
	expect(&f, busy(U0 | U1, 1), "0 0 2 3 4"); /* still */
	expect(&f, busy(U1, 1), "1 1 3 4 4");
	expect(&f, busy(U0 | U1, 1), "1 1 4 5 5"); /* three each: unit 0 */
	expect(&f, busy(U1, 1), "1 1 4 5 5");
	expect(&f, busy(U1, 1), "1 1 5 6 6");
	expect(&f, busy(U0 | U1, 1), "2 2 5 6 6"); /* unit 0 alone is free */
	expect(&f, busy(U0 | U1, 1), "2 2 6 7 7"); /* five each: unit 0 */
	expect(&f, busy(U0, 1), "2 2 7 8 8");
	expect(&f, busy(U0 | U1, 1), "2 2 6 7 8"); /* unit 1 alone */
	expect(&f, busy(U0 | U1, 1), "3 3 7 8 8"); /* likewise */
	expect(&f, busy(U0 | U1, 1), "3 3 8 9 9"); /* seven each */
	expect(&f, busy(U0, 1), "3 3 9 10 10");
	end(&f);
}

/* Three that are free: unit 0 has done two cycles, unit 1 one, unit 2 as many as are said. */
static void the_least_used_does_it(void **state)
{
	static const struct {
		unsigned done, chosen;
	} cases[] = {{0, 2}, {1, 1}, {2, 1}, {9, 1}};
	struct fixture f;
	unsigned i, unit;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_core core = wide();

		core.nunits = 3;
		begin(&f, core);
		expect(&f, one(uop(VT_OP_INT, W, 19, 0, 1), 0, AX), "0 0 1 20 20");
		expect(&f, busy(U0, 2), "0 0 1 2 20");
		expect(&f, busy(U1, 1), "0 0 1 2 20");
		expect(&f, busy(cases[i].done ? 4 : 0, cases[i].done), "0 0 1 2 20");
		expect(&f, one(uop(VT_OP_INT, R, 1, 7, 1), AX, 0), "1 1 20 21 21");
		/* The others are still free in that cycle. */
		for (unit = 0; unit < 3; unit++)
			expect(&f, one(uop(VT_OP_INT, R, 1, 1u << unit, 1), AX, 0),
			       unit == cases[i].chosen	? "1 1 21 22 22"
			       : unit > cases[i].chosen ? "1 1 20 21 22"
							: "1 1 20 21 21");
		end(&f);
	}
}

/* ---- room ---- */

static void registers_are_held_until_their_next_values_retire(void **state)
{
	static const struct {
		unsigned ints, fps;
		uint64_t writes;
		const char *third;
	} cases[] = {
		/* Two beyond the 16 that programs see: free in the cycle after the first retires */
		{18, 0, AX, "0 10 11 12 12"},
		{18, 0, XMM0, "0 0 1 2 9"},
		{18, 0, FLAGS, "0 0 1 2 9"},
		{0, 18, XMM0, "0 10 11 12 12"},
		{0, 18, AX, "0 0 1 2 9"},
		{19, 0, AX, "0 0 1 2 9"},
		{19, 0, AX | BX, "0 10 11 12 12"},
		{16, 0, AX, "0 0 1 2 9"}, /* fewer than that: so many */
		{2, 0, AX, "0 10 11 12 12"},
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_core core = wide();

		core.int_registers = cases[i].ints;
		core.fp_registers = cases[i].fps;
		begin(&f, core);
		expect(&f, one(uop(VT_OP_INT, 0, 8, 0, 1), 0, i == 6 ? AX : cases[i].writes),
		       "0 0 1 9 9");
		if (i != 6)
			expect(&f, addition(0, cases[i].writes), "0 0 1 2 9");
		else
			expect(&f, addition(0, AX), "0 0 1 2 9");
		expect(&f, addition(0, cases[i].writes), cases[i].third);
		end(&f);
	}
}

static void buffers_have_their_room(void **state)
{
	struct vt_core core = wide();
	struct fixture f;
	const struct vt_mop load = one(uop(VT_OP_LOAD, W, 8, 0, 1), 0, 0);
	const struct vt_mop store = one(uop(VT_OP_STORE, R, 8, 0, 1), 0, 0);

	(void)state;
	core.rob = 2;
	begin(&f, core);
	expect(&f, load, "0 0 1 9 9");
	expect(&f, addition(0, 0), "0 0 1 2 9");
	expect(&f, addition(0, 0), "0 10 11 12 12");
	end(&f);
	core = wide();
	core.loads = 1;
	begin(&f, core);
	expect(&f, load, "0 0 1 9 9");
	expect(&f, addition(0, 0), "0 0 1 2 9");
	expect(&f, load, "0 10 11 19 19");
	end(&f);
	/* A store is written in the cycle after it retires. */
	core = wide();
	core.stores = 1;
	begin(&f, core);
	expect(&f, store, "0 0 1 9 9");
	expect(&f, addition(0, 0), "0 0 1 2 9");
	expect(&f, store, "0 10 11 19 19");
	end(&f);
	/* Two are written one after the other. */
	core.stores = 2;
	begin(&f, core);
	expect(&f, store, "0 0 1 9 9");
	expect(&f, store, "0 0 1 9 9");
	expect(&f, store, "0 10 11 19 19");
	expect(&f, store, "0 11 12 20 20");
	end(&f);
	/* Whoever is issued leaves the queue. */
	core = wide();
	core.queue = 1;
	begin(&f, core);
	expect(&f, load, "0 0 1 9 9");
	expect(&f, one(uop(VT_OP_NOP, 0, 0, 0, 0), 0, 0), "0 0 1 1 9");
	expect(&f, addition(0, 0), "0 1 2 3 9");
	end(&f);
}

/* Between fetch and place there is room for (stages + 2) * width. */
static void fetch_stops_when_nothing_is_placed(void **state)
{
	struct vt_core core = wide();
	struct fixture f;
	unsigned i;

	(void)state;
	core.fetch = 1;
	core.rob = 1;
	begin(&f, core);
	expect(&f, one(uop(VT_OP_INT, 0, 98, 0, 1), 0, 0), "0 0 1 99 99");
	for (i = 1; i < 4; i++) {
		char want[60];

		snprintf(want, sizeof(want), "%u %u %u %u %u", i, 97 + 3 * i, 98 + 3 * i,
			 99 + 3 * i, 99 + 3 * i);
		expect(&f, addition(0, 0), want);
	}
	/* Behind it the one that is placed in cycle 100 makes room. */
	expect(&f, addition(0, 0), "100 109 110 111 111");
	end(&f);
}

/* ---- order ---- */

static void fences_wait_and_are_waited_for(void **state)
{
	struct fixture f;
	unsigned k;

	(void)state;
	for (k = 0; k < 2; k++) {
		begin(&f, wide());
		expect(&f, one(uop(VT_OP_INT, W, 9, 0, 1), 0, AX), "0 0 1 10 10");
		expect(&f, one(uop(k ? VT_OP_SYNC : VT_OP_SLOW, R, 5, 0, 1), 0, 0), "0 0 10 15 15");
		expect(&f, addition(0, 0), "0 0 15 16 16");
		end(&f);
	}
	/* Whoever comes back from the kernel is fetched anew. */
	begin(&f, wide());
	{
		struct vt_mop call = one(uop(VT_OP_SLOW, R, 5, 0, 1), 0, 0);

		call.flags = VT_FACT_SYSCALL;
		expect(&f, call, "0 0 1 6 6");
		expect(&f, addition(0, 0), "6 6 7 8 8");
		call.uops[0].op_class = VT_OP_INT;
		expect(&f, call, "6 6 7 12 12");
		expect(&f, addition(0, 0), "6 6 7 8 12");
	}
	end(&f);
}

static void mispredictions_cost_what_is_beyond_the_stages(void **state)
{
	static const unsigned penalties[] = {0, 3, 4, 10};
	const struct vt_mop op = addition(0, 0);
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct vt_core core = wide();
		char want[60];
		unsigned at;

		core.front = 3;
		core.mispredict = penalties[i];
		begin(&f, core);
		expect_insn(&f, (struct vt_ooo_insn){.op = &op, .mispredicted = true}, "0 2 3 4 4");
		at = penalties[i] > 3 ? penalties[i] + 1 : 4;
		snprintf(want, sizeof(want), "%u %u %u %u %u", at, at + 2, at + 3, at + 4, at + 4);
		expect(&f, op, want);
		expect(&f, op, want);
		end(&f);
	}
}

/* ---- beginning again ---- */

static void emptied_machines_are_as_new(void **state)
{
	struct vt_core core = wide();
	struct vt_ooo_insn last = {.mispredicted = true};
	struct vt_mop op;
	struct fixture f;
	unsigned i, k;

	(void)state;
	core.rob = 3;
	core.queue = 2;
	core.stores = 1;
	core.mispredict = 50;
	begin(&f, core);
	for (k = 0; k < 4; k++) {
		expect(&f, one(uop(VT_OP_INT, R | W, 30, U0, 20), AX, AX), "0 0 1 31 31");
		expect(&f, busy(U0 | U1, 1), "0 0 1 2 31");
		expect(&f, one(uop(VT_OP_STORE, R, 9, U1, 1), 0, 0), "0 1 2 11 31");
		f.n = 0;
		/* What is left of that: long latencies, fences, branches. */
		for (i = 0; i < 3; i++) {
			struct vt_inorder_cost cost;

			op = one(uop(k == 1   ? VT_OP_SYNC
				     : k == 2 ? VT_OP_STORE
					      : VT_OP_INT,
				     R | W, 900, U0, 300),
				 AX, AX);
			last.op = &op;
			last.mispredicted = k == 3;
			vt_ooo_run(f.e, &last, &cost, NULL);
			f.begun = cost.cycle;
		}
		vt_ooo_empty(f.e);
		{
			/* Its cycles go on; the first one tells from where. */
			struct vt_inorder_cost cost;
			struct vt_ooo_times t;

			op = addition(0, 0);
			last = (struct vt_ooo_insn){.op = &op};
			vt_ooo_run(f.e, &last, &cost, &t);
			assert_true(t.fetched > f.begun);
			assert_int_equal(t.retired - t.fetched, 2);
			assert_int_equal(cost.head, 1);
			vt_ooo_empty(f.e);
			f.begun = t.retired + 4096;
		}
	}
	end(&f);
}

/* Loads and stores are counted from 0 in each instruction, in two rows. */
static struct vt_simmem_access on_access(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	unsigned *asked = arg;

	(void)cycle;
	assert_int_equal(nth, asked[store]++);
	return (struct vt_simmem_access){.cycles = nth};
}

static void accesses_are_counted(void **state)
{
	unsigned asked[2], i;
	struct vt_ooo_hooks hooks = {.access = on_access, .arg = asked};
	const struct vt_core core = wide();
	struct vt_ooo *e = vt_ooo_new(&core, &hooks);
	struct vt_mop op = one(uop(VT_OP_LOAD, 0, 1, 0, 1), 0, 0);

	(void)state;
	assert_non_null(e);
	op.nuops = VT_MOP_UOPS;
	op.uops[1] = op.uops[3] = uop(VT_OP_STORE, 0, 1, 0, 1);
	op.uops[2] = op.uops[0];
	for (i = 0; i < 3; i++) {
		struct vt_ooo_insn in = {.op = &op, .tag = i};
		struct vt_inorder_cost cost;

		asked[0] = asked[1] = 0;
		vt_ooo_run(e, &in, &cost, NULL);
		assert_int_equal(asked[0], 2);
		assert_int_equal(asked[1], 2);
	}
	vt_ooo_free(e);
}

/* ---- what is to blame ---- */

/* Retires in `cycle`, and all slots that were lost were so to one thing. */
static void expect_loss(struct fixture *f, struct vt_ooo_insn in, uint64_t cycle,
			enum vt_stall_cause cause, uint64_t by, uint32_t slots)
{
	struct vt_inorder_cost cost;

	in.tag = ++f->n;
	vt_ooo_run(f->e, &in, &cost, NULL);
	assert_int_equal(cost.cycle, cycle);
	assert_int_equal(cost.nstalls, slots ? 1 : 0);
	if (!slots)
		return;
	assert_int_equal(cost.stalls[0].cause, cause);
	assert_int_equal(cost.stalls[0].by, by);
	assert_int_equal(cost.stalls[0].slots, slots);
}

/*
 * A mispredicted branch is to blame for what is fetched right behind it, until the window was full:
 * then there would have been nothing else to do.
 */
static void full_windows_make_up_for_branches(void **state)
{
	const struct vt_mop quick = addition(0, 0), slow = one(uop(VT_OP_INT, 0, 5, 0, 1), 0, 0);
	const struct vt_mop load = one(uop(VT_OP_LOAD, 0, 20, 0, 1), 0, 0);
	const struct vt_mop hit = one(uop(VT_OP_LOAD, 0, 1, 0, 1), 0, 0);
	struct vt_core core = wide();
	struct fixture f;

	(void)state;
	core.front = 4;
	core.loads = 1;
	begin(&f, core);
	expect_loss(&f, (struct vt_ooo_insn){.op = &quick, .mispredicted = true}, 5, 0, 0, 0);
	/* Four are fetched in cycle 5, placed in 8, issued in 9. */
	expect_loss(&f, (struct vt_ooo_insn){.op = &quick}, 10, VT_STALL_MISPREDICT, 1, 19);
	expect_loss(&f, (struct vt_ooo_insn){.op = &slow}, 14, VT_STALL_MISPREDICT, 1, 15);
	expect_loss(&f, (struct vt_ooo_insn){.op = &load}, 29, VT_STALL_MISPREDICT, 1, 59);
	/* There is room for it when the other one has retired. */
	expect_loss(&f, (struct vt_ooo_insn){.op = &hit}, 32, VT_STALL_QUEUE, 5, 11);
	expect_loss(&f, (struct vt_ooo_insn){.op = &slow}, 36, VT_STALL_SLOTTING, 6, 15);
	end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_are_of_each_stage),
		cmocka_unit_test(taken_branches_end_a_group),
		cmocka_unit_test(instructions_have_operations_and_slots),
		cmocka_unit_test(operands_are_awaited),
		cmocka_unit_test(units_are_busy),
		cmocka_unit_test(work_is_shared_out),
		cmocka_unit_test(the_least_used_does_it),
		cmocka_unit_test(registers_are_held_until_their_next_values_retire),
		cmocka_unit_test(buffers_have_their_room),
		cmocka_unit_test(fetch_stops_when_nothing_is_placed),
		cmocka_unit_test(fences_wait_and_are_waited_for),
		cmocka_unit_test(mispredictions_cost_what_is_beyond_the_stages),
		cmocka_unit_test(emptied_machines_are_as_new),
		cmocka_unit_test(accesses_are_counted),
		cmocka_unit_test(full_windows_make_up_for_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
