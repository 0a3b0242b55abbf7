/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Issue out of order: how far ahead is known what is issued, what the front end holds, what memory
 * costs, and who is to blame, in cases worked by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/machine/pipeline/ooocases.h"

static struct vt_mop make_late(uint64_t reg, unsigned latency)
{
	return one(uop(VT_OP_INT, W, latency, 0, 1), 0, reg);
}

/* ---- what is known of cycles ---- */

/* Of 4096 cycles: in one that shares its place with a later one, units are taken for nothing. */
static void units_are_known_for_a_while(void **state)
{
	/* When AX comes, for which unit 0 is taken, and three others of that unit. */
	static const char *const cases[][5] = {
		{"0 0 1 4096 4096", "0 0 4096 4097 4097", "0 0 1 2 4097", "0 0 2 3 4097",
		 "1 1 3 4 4097"},
		{"0 0 1 4097 4097", "0 0 4097 4098 4098", "0 0 1 2 4098", "0 0 1 2 4098",
		 "1 1 2 3 4098"},
		{"0 0 1 4098 4098", "0 0 4098 4099 4099", "0 0 1 2 4099", "0 0 2 3 4099",
		 "1 1 2 3 4099"},
	};
	struct fixture f;
	unsigned i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		begin(&f, wide());
		expect(&f, make_late(AX, 4095 + i), cases[i][0]);
		expect(&f, one(uop(VT_OP_INT, R, 1, U0, 1), AX, 0), cases[i][1]);
		for (k = 2; k < 5; k++)
			expect(&f, busy(U0, 1), cases[i][k]);
		end(&f);
	}
}

/* A unit is busy for 2048 cycles at most, half of those that are known. */
static void units_are_busy_for_a_while(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, wide());
	expect(&f, busy(U0, 2047), "0 0 1 2 2");
	expect(&f, busy(U0, 1), "0 0 2048 2049 2049");
	end(&f);
	begin(&f, wide());
	expect(&f, busy(U0, 2048), "0 0 1 2 2");
	expect(&f, busy(U0, 1), "0 0 2049 2050 2050");
	end(&f);
	begin(&f, wide());
	expect(&f, busy(U0, 2049), "0 0 1 2 2");
	expect(&f, busy(U0, 1), "0 0 2049 2050 2050");
	end(&f);
	/* Nor is looked further ahead, where what is near would be forgotten. */
	begin(&f, wide());
	expect(&f, busy(U0, 1), "0 0 1 2 2");
	expect(&f, busy(U1, 9000), "0 0 1 2 2");
	expect(&f, busy(U0, 1), "0 0 2 3 3");
	expect(&f, busy(U1, 1), "0 0 2049 2050 2050");
	end(&f);
	/* From 1 on, unit 0's work in 2048 is in its way, that in 2049 is too far off to be seen.
	 */
	begin(&f, wide());
	expect(&f, make_late(AX, 2047), "0 0 1 2048 2048");
	expect(&f, one(uop(VT_OP_INT, R, 1, U0, 1), AX, 0), "0 0 2048 2049 2049");
	expect(&f, busy(U0, 9000), "0 0 2049 2050 2050");
	end(&f);
	begin(&f, wide());
	expect(&f, make_late(AX, 2048), "0 0 1 2049 2049");
	expect(&f, one(uop(VT_OP_INT, R, 1, U0, 1), AX, 0), "0 0 2049 2050 2050");
	expect(&f, busy(U0, 9000), "0 0 1 2 2050");
	end(&f);
	/* A long one begins where nothing is in its way: behind unit 0's work in 1500. */
	begin(&f, wide());
	expect(&f, make_late(AX, 1499), "0 0 1 1500 1500");
	expect(&f, one(uop(VT_OP_INT, R, 1, U0, 1), AX, 0), "0 0 1500 1501 1501");
	expect(&f, busy(U0, 1499), "0 0 1 2 1501");
	expect(&f, busy(U0, 2), "0 0 1501 1502 1502");
	end(&f);
}

/* ---- the front end ---- */

/* (stages + 2) * width instructions wait to be placed, or 64 where either is 64 and more. */
static void the_front_end_holds_so_many(void **state)
{
	static const struct {
		uint32_t front, fetch, waiting;
	} cases[] = {{1, 1, 3},	  {63, 1, 65},	{64, 1, 64}, {65, 1, 64}, {1, 63, 189},
		     {1, 64, 64}, {2, 100, 64}, {10, 2, 24}, {0, 1, 3},	  {0, 0, 3}};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint32_t depth = cases[i].front ? cases[i].front : 1;
		const uint32_t width = cases[i].fetch ? cases[i].fetch : 1;
		struct vt_mop slow = make_late(0, 5000), op = addition(0, 0);
		struct vt_core core = wide();
		struct vt_inorder_cost cost;
		struct vt_ooo_times t;
		struct fixture f;
		uint32_t k;

		core.front = cases[i].front;
		core.fetch = cases[i].fetch;
		core.rob = 1;
		begin(&f, core);
		vt_ooo_run(f.e, &(struct vt_ooo_insn){.op = &slow}, &cost, &t);
		assert_int_equal(t.fetched, 0);
		assert_int_equal(t.placed, depth - 1);
		/* One of them may be fetched only when the first has been placed. */
		for (k = 1; k <= cases[i].waiting; k++) {
			vt_ooo_run(f.e, &(struct vt_ooo_insn){.op = &op}, &cost, &t);
			assert_true(t.fetched <= (k / width > depth ? k / width : depth));
		}
		vt_ooo_run(f.e, &(struct vt_ooo_insn){.op = &op}, &cost, &t);
		assert_true(t.fetched > 5000);
		end(&f);
	}
}

/* All 32 units there can be. */
static void every_unit_is_known(void **state)
{
	struct vt_core core = wide();
	struct fixture f;

	(void)state;
	core.nunits = 32;
	begin(&f, core);
	expect(&f, busy(1u << 31, 3), "0 0 1 2 2");
	expect(&f, busy(1u << 31, 1), "0 0 4 5 5");
	end(&f);
	core.nunits = 31;
	begin(&f, core);
	expect(&f, busy(1u << 31, 3), "0 0 1 2 2");
	expect(&f, busy(1u << 31, 1), "0 0 1 2 2");
	expect(&f, busy(1u << 30, 3), "0 0 1 2 2");
	expect(&f, busy(1u << 30, 1), "0 0 4 5 5");
	end(&f);
}

/* ---- what is to blame ---- */

struct script {
	struct vt_simmem_access fetch, load, store;
	uint64_t astray_begin, astray_end;
};

static struct vt_simmem_access on_fetch(void *arg, uint64_t cycle)
{
	const struct script *s = arg;

	(void)cycle;
	return s->fetch;
}

static struct vt_simmem_access on_access(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	const struct script *s = arg;

	(void)nth;
	(void)cycle;
	return store ? s->store : s->load;
}

static void on_astray(void *arg, uint64_t begun, uint64_t ended)
{
	struct script *s = arg;

	s->astray_begin = begun;
	s->astray_end = ended;
}

static struct vt_ooo_hooks hooks = {.fetch = on_fetch, .access = on_access, .astray = on_astray};

static void begin_scripted(struct fixture *f, struct vt_core core, struct script *s)
{
	memset(f, 0, sizeof(*f));
	memset(s, 0, sizeof(*s));
	f->core = core;
	hooks.arg = s;
	f->e = vt_ooo_new(&f->core, &hooks);
	assert_non_null(f->e);
}

/* Retires in `cycle`, and all slots that were lost were so to one thing. */
static void expect_loss(struct fixture *f, struct vt_mop op, bool mispredicted, uint64_t cycle,
			enum vt_stall_cause cause, uint64_t by, uint32_t slots)
{
	struct vt_ooo_insn in = {.op = &op, .tag = ++f->n, .mispredicted = mispredicted};
	struct vt_inorder_cost cost;

	vt_ooo_run(f->e, &in, &cost, NULL);
	assert_int_equal(cost.cycle, cycle);
	assert_int_equal(cost.nstalls, slots ? 1 : 0);
	if (!slots)
		return;
	assert_int_equal(cost.stalls[0].cause, cause);
	assert_int_equal(cost.stalls[0].by, by);
	assert_int_equal(cost.stalls[0].slots, slots);
}

/* Four stages: for eight cycles from its resolution on, what is fetched may be late by a branch. */
static void branches_are_to_blame_for_two_passes(void **state)
{
	struct vt_core core = wide();
	struct fixture f;
	unsigned i;

	(void)state;
	core.front = 4;
	core.fetch = 1;
	begin(&f, core);
	expect_loss(&f, addition(0, 0), true, 5, 0, 0, 0);
	/* Fetched in 5, retired in 10: five cycles, one slot of which was the branch's. */
	expect_loss(&f, addition(0, 0), false, 10, VT_STALL_MISPREDICT, 1, 19);
	for (i = 6; i < 13; i++)
		expect_loss(&f, addition(0, 0), false, i + 5, VT_STALL_MISPREDICT, 1, 3);
	/* In 13, what is fetched one a cycle is so for another reason. */
	expect_loss(&f, addition(0, 0), false, 18, VT_STALL_SLOTTING, f.n + 1, 3);
	end(&f);
}

/* A line that takes 10 cycles, a page that does, and what is fetched behind them. */
static void misses_of_fetch_are_to_blame_too(void **state)
{
	struct fixture f;
	struct script s;
	unsigned page, i;

	(void)state;
	for (page = 0; page < 2; page++) {
		const enum vt_stall_cause cause = page ? VT_STALL_ITLB : VT_STALL_ICACHE;
		struct vt_core core = wide();

		core.fetch = 1;
		begin_scripted(&f, core, &s);
		/* Fetched in 0, retired in 2. */
		expect_loss(&f, addition(0, 0), false, 2, 0, 0, 0);
		/* Begun in 1, there in 11, retired in 13: one slot was used by the one before. */
		s.fetch = (struct vt_simmem_access){
			.cycles = 10, .tlb = page ? 10 : 0, .cache = page ? 0 : 10};
		expect_loss(&f, addition(0, 0), false, 13, cause, 2, 43);
		s.fetch = (struct vt_simmem_access){0};
		/* Fetched in 12, one stage: up to 13. */
		expect_loss(&f, addition(0, 0), false, 14, cause, 2, 3);
		expect_loss(&f, addition(0, 0), false, 15, VT_STALL_SLOTTING, 4, 3);
		end(&f);
	}
	/* Three stages: there in 11, and up to 17. */
	{
		struct vt_core core = wide();

		core.fetch = 1;
		core.front = 3;
		begin_scripted(&f, core, &s);
		expect_loss(&f, addition(0, 0), false, 4, 0, 0, 0);
		s.fetch = (struct vt_simmem_access){.cycles = 10, .cache = 10};
		expect_loss(&f, addition(0, 0), false, 15, VT_STALL_ICACHE, 2, 43);
		s.fetch = (struct vt_simmem_access){0};
		for (i = 12; i < 17; i++)
			expect_loss(&f, addition(0, 0), false, i + 4, VT_STALL_ICACHE, 2, 3);
		expect_loss(&f, addition(0, 0), false, 21, VT_STALL_SLOTTING, f.n + 1, 3);
		end(&f);
	}
	/* The line's first instruction takes a place of its cycle. */
	{
		struct vt_core core = wide();

		core.fetch = 2;
		begin_scripted(&f, core, &s);
		s.fetch = (struct vt_simmem_access){.cycles = 10, .cache = 10};
		expect(&f, addition(0, 0), "0 10 11 12 12");
		s.fetch = (struct vt_simmem_access){0};
		for (i = 0; i < 3; i++)
			expect(&f, addition(0, 0), i ? "11 11 12 13 13" : "10 10 11 12 12");
		end(&f);
	}
}

/* Whoever has no room waits for the queue, or for stores to be written. */
static void full_buffers_are_to_blame(void **state)
{
	const struct vt_mop store = one(uop(VT_OP_STORE, R, 8, 0, 1), 0, 0);
	const struct vt_mop load = one(uop(VT_OP_LOAD, W, 8, 0, 1), 0, 0);
	struct vt_core core = wide();
	struct fixture f;
	struct script s;

	(void)state;
	/* Retired in 9 and written in 10: then the second is placed, and retires in 19. */
	core.stores = 1;
	begin(&f, core);
	expect_loss(&f, store, false, 9, 0, 0, 0);
	expect_loss(&f, store, false, 19, VT_STALL_WRITE_BUFFER, 2, 39);
	end(&f);
	/* One that comes when the one before has been written has waited for nothing. */
	core.fetch = 1;
	begin(&f, core);
	expect_loss(&f, one(uop(VT_OP_STORE, R, 1, 0, 1), 0, 0), false, 2, 0, 0, 0);
	expect_loss(&f, addition(0, 0), false, 3, VT_STALL_SLOTTING, 2, 3);
	expect_loss(&f, addition(0, 0), false, 4, VT_STALL_SLOTTING, 3, 3);
	expect_loss(&f, one(uop(VT_OP_STORE, R, 1, 0, 1), 0, 0), false, 5, VT_STALL_SLOTTING, 4, 3);
	end(&f);
	core.fetch = 4;
	core.stores = 0;
	core.loads = 1;
	begin(&f, core);
	expect_loss(&f, load, false, 9, 0, 0, 0);
	expect_loss(&f, load, false, 19, VT_STALL_QUEUE, 2, 39);
	/* Placed with it, in 10, for 20 cycles from 11 on: of those, one slot was the load's. */
	expect_loss(&f, make_late(0, 20), false, 31, VT_STALL_SLOTTING, 3, 47);
	end(&f);
	/* A store that takes 5 cycles to be written: from 10 to 15. */
	core.loads = 0;
	core.stores = 1;
	begin_scripted(&f, core, &s);
	s.store = (struct vt_simmem_access){.cycles = 5};
	expect(&f, store, "0 0 1 9 9");
	expect(&f, store, "0 15 16 24 24");
	expect(&f, store, "0 30 31 39 39");
	end(&f);
	/* Two of one instruction, behind each other: 10 to 15, and 16 to 21. */
	{
		struct vt_mop both = store;

		core.stores = 2;
		both.nuops = 2;
		both.uops[1] = both.uops[0];
		begin_scripted(&f, core, &s);
		s.store = (struct vt_simmem_access){.cycles = 5};
		expect(&f, both, "0 0 1 9 9");
		expect(&f, store, "0 15 16 24 24");
		expect(&f, store, "0 21 22 30 30");
		end(&f);
	}
}

/* Two stores are held: while the second is written, the third has the first one's place. */
static void held_stores_are_a_ring(void **state)
{
	struct vt_mop store = one(uop(VT_OP_STORE, R, 1, 0, 1), 0, 0);
	struct vt_mop load = one(uop(VT_OP_LOAD, W, 1, 0, 1), 0, AX);
	struct vt_core core = wide();
	struct fixture f;
	struct script s;

	(void)state;
	core.stores = 2;
	core.forward = 5;
	store.store = load.load =
		(struct vt_mop_sum){0x1000, 8, VT_REG_NONE, VT_REG_NONE, 0, VT_REG_NONE};
	store.target = load.target = VT_REG_NONE;
	begin_scripted(&f, core, &s);
	s.store = (struct vt_simmem_access){.cycles = 5};
	/* Written from 3 to 8, and from 9 to 14. */
	expect(&f, store, "0 0 1 2 2");
	store.store.displacement = 0x2000;
	expect(&f, store, "0 0 1 2 2");
	store.store.displacement = 0x3000;
	expect(&f, store, "0 8 9 10 10");
	load.load.displacement = 0x2000;
	expect(&f, load, "0 8 9 14 14");
	load.load.displacement = 0x1000;
	expect(&f, load, "1 8 9 10 14");
	end(&f);
}

/* All before it is done in 10, and it in 15. */
static void fences_are_to_blame(void **state)
{
	struct fixture f;
	unsigned k;

	(void)state;
	for (k = 0; k < 2; k++) {
		begin(&f, wide());
		expect_loss(&f, addition(0, 0), false, 2, 0, 0, 0);
		expect(&f, make_late(AX, 9), "0 0 1 10 10");
		expect(&f, addition(0, 0), "0 0 1 2 10");
		/* Of cycle 10 two slots were used. */
		expect_loss(&f, one(uop(k ? VT_OP_SYNC : VT_OP_SLOW, R, 5, 0, 1), 0, 0), false, 15,
			    VT_STALL_SYNC, 2, 18);
		expect_loss(&f, addition(0, 0), false, 16, VT_STALL_SYNC, 4, 3);
		end(&f);
	}
}

/* Whoever comes back from the kernel in 6 is fetched then. */
static void system_calls_are_to_blame(void **state)
{
	struct vt_mop call = one(uop(VT_OP_SLOW, R, 5, 0, 1), 0, 0);
	struct fixture f;

	(void)state;
	call.flags = VT_FACT_SYSCALL;
	begin(&f, wide());
	expect_loss(&f, call, false, 6, 0, 0, 0);
	expect_loss(&f, addition(0, 0), false, 8, VT_STALL_OTHER, 1, 7);
	end(&f);
}

/* A result is late where what it was made of was: one that misses by 10 cycles. */
static void late_results_are_told(void **state)
{
	struct vt_mop load = one(uop(VT_OP_LOAD, W, 1, 0, 1), 0, AX);
	struct fixture f;
	struct script s;

	(void)state;
	/* Retired in 12, used in 13. */
	begin_scripted(&f, wide(), &s);
	s.load = (struct vt_simmem_access){.cycles = 10, .cache = 10};
	expect(&f, load, "0 0 1 12 12");
	expect_loss(&f, addition(AX, 0), false, 13, VT_STALL_DEPENDENCY, 1, 3);
	end(&f);
	/* It hits. */
	begin_scripted(&f, wide(), &s);
	expect(&f, load, "0 0 1 2 2");
	expect_loss(&f, addition(AX, 0), false, 3, VT_STALL_OPERAND_A, 1, 3);
	end(&f);
	/* What is computed of it, in 12. */
	load.nuops = 2;
	load.uops[0].operands = 0;
	load.uops[1] = uop(VT_OP_INT, P | W, 1, 0, 1);
	begin_scripted(&f, wide(), &s);
	s.load = (struct vt_simmem_access){.cycles = 10, .cache = 10};
	expect(&f, load, "0 0 1 13 13");
	expect_loss(&f, addition(AX, 0), false, 14, VT_STALL_DEPENDENCY, 1, 3);
	end(&f);
	/* And what is not, though it takes as long. */
	load.uops[1] = uop(VT_OP_INT, W, 20, 0, 1);
	begin_scripted(&f, wide(), &s);
	s.load = (struct vt_simmem_access){.cycles = 10, .cache = 10};
	expect(&f, load, "0 0 1 21 21");
	expect_loss(&f, addition(AX, 0), false, 22, VT_STALL_OPERAND_A, 1, 3);
	end(&f);
	/* Of two that are done in 12, the last one counts. */
	load.uops[0].operands = W;
	load.uops[1] = uop(VT_OP_INT, W, 11, 0, 1);
	begin_scripted(&f, wide(), &s);
	s.load = (struct vt_simmem_access){.cycles = 10, .cache = 10};
	expect(&f, load, "0 0 1 12 12");
	expect_loss(&f, addition(AX, 0), false, 13, VT_STALL_OPERAND_A, 1, 3);
	end(&f);
	/* Pages are parts of the cycles. */
	load.nuops = 1;
	load.uops[0].operands = W;
	begin_scripted(&f, wide(), &s);
	s.load = (struct vt_simmem_access){.cycles = 10, .tlb = 4, .cache = 6};
	expect(&f, load, "0 0 1 12 12");
	end(&f);
}

/* From the cycle behind a branch's fetch until it is known, what was predicted is fetched. */
static void wrong_paths_have_their_time(void **state)
{
	struct vt_core core = wide();
	struct fixture f;
	struct script s;
	struct vt_mop slow = make_late(0, 30);

	(void)state;
	core.front = 3;
	core.mispredict = 8;
	begin_scripted(&f, core, &s);
	/* Fetched in 0, placed in 2, issued in 3. */
	expect_loss(&f, slow, true, 33, 0, 0, 0);
	assert_int_equal(s.astray_begin, 1);
	assert_int_equal(s.astray_end, 33);
	/* Eight cycles from there to the next issue. */
	expect(&f, addition(0, 0), "38 40 41 42 42");
	end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_known_for_a_while),
		cmocka_unit_test(units_are_busy_for_a_while),
		cmocka_unit_test(the_front_end_holds_so_many),
		cmocka_unit_test(every_unit_is_known),
		cmocka_unit_test(branches_are_to_blame_for_two_passes),
		cmocka_unit_test(misses_of_fetch_are_to_blame_too),
		cmocka_unit_test(full_buffers_are_to_blame),
		cmocka_unit_test(held_stores_are_a_ring),
		cmocka_unit_test(fences_are_to_blame),
		cmocka_unit_test(system_calls_are_to_blame),
		cmocka_unit_test(late_results_are_told),
		cmocka_unit_test(wrong_paths_have_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
