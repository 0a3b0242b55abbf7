/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Issue in order: cases worked by hand, slot by slot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/inorder.h"

#define R	 VT_UOP_READS
#define A	 VT_UOP_ADDRESS
#define P	 VT_UOP_PREVIOUS
#define W	 VT_UOP_WRITES
#define U0	 1u
#define U1	 2u
#define U2	 4u
#define BIT(reg) (UINT64_C(1) << (reg))
#define AX	 BIT(VT_REG_AX)
#define BX	 BIT(VT_REG_BX)
#define CX	 BIT(VT_REG_CX)
#define DX	 BIT(VT_REG_DX)

static const char *const causes[VT_NSTALLS] = {
	[VT_STALL_SLOTTING] = "slotting",
	[VT_STALL_OPERAND_A] = "a",
	[VT_STALL_OPERAND_B] = "b",
	[VT_STALL_OPERAND_C] = "c",
	[VT_STALL_DTLB] = "dtlb",
	[VT_STALL_DCACHE] = "dcache",
	[VT_STALL_WRITE_BUFFER] = "buffer",
	[VT_STALL_MULTIPLIER] = "multiplier",
	[VT_STALL_DIVIDER] = "divider",
	[VT_STALL_UNIT] = "unit",
	[VT_STALL_SYNC] = "sync",
	[VT_STALL_ICACHE] = "icache",
	[VT_STALL_MISPREDICT] = "mispredict",
};

/* What memory answers, and what it was asked last. */
struct memory {
	struct vt_simmem_access answer;
	bool store;
	unsigned nth, asked;
	uint64_t cycle;
};

struct fixture {
	struct vt_core core;
	struct vt_inorder e;
	struct memory memory;
	bool has_memory;
	uint64_t tag; /* of the next instruction */
};

static struct vt_simmem_access on_access(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	struct memory *m = arg;

	m->store = store;
	m->nth = nth;
	m->cycle = cycle;
	m->asked++;
	return m->answer;
}

static void begin(struct fixture *f, uint32_t width)
{
	memset(f, 0, sizeof(*f));
	f->core.issue = width;
	f->core.nunits = 3;
	vt_inorder_init(&f->e, &f->core);
	f->tag = 1;
}

static struct vt_uop uop(enum vt_op_class c, unsigned operands, unsigned latency, uint32_t units,
			 unsigned busy)
{
	return (struct vt_uop){(uint8_t)c, (uint8_t)operands, (uint16_t)latency, (uint16_t)busy,
			       units};
}

static struct vt_mop one(struct vt_uop u, uint64_t reads, uint64_t writes)
{
	return (struct vt_mop){
		.nuops = 1, .slots = 1, .reads = reads, .writes = writes, .uops = {u}};
}

/* An addition, of one cycle, for which there are units enough. */
static struct vt_mop addition(uint64_t reads, uint64_t writes)
{
	return one(uop(VT_OP_INT, R | W, 1, 0, 1), reads, writes);
}

/* Issues it; "cycle head used", and what slots were lost to: cause, slots, tag. */
static void expect(struct fixture *f, struct vt_mop op, const char *want)
{
	struct vt_inorder_cost c;
	char text[300];
	size_t n;
	unsigned i;

	vt_inorder_issue(&f->e, &op, f->tag, f->has_memory ? on_access : NULL, &f->memory, &c);
	n = (size_t)snprintf(text, sizeof(text), "%ju %ju %ju", (uintmax_t)c.cycle,
			     (uintmax_t)c.head, (uintmax_t)c.used);
	for (i = 0; i < c.nstalls; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %s %u %ju",
				      causes[c.stalls[i].cause] ? causes[c.stalls[i].cause] : "?",
				      c.stalls[i].slots, (uintmax_t)c.stalls[i].by);
	if (strcmp(text, want) != 0)
		fail_msg("instruction %ju: \"%s\", not \"%s\"", (uintmax_t)f->tag, text, want);
	f->tag++;
}

static void cycles_have_their_width(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	/* All of cycle 0 is gone. */
	expect(&f, addition(0, AX), "1 1 2");
	expect(&f, addition(0, BX), "1 0 0");
	expect(&f, addition(0, CX), "2 1 2");
	assert_int_equal(f.e.done, 3);
	begin(&f, 0);
	expect(&f, addition(0, AX), "1 1 1");
	expect(&f, addition(0, AX), "2 1 1");
}

/* Of two slots of cycle 1, the maker has one; its value is there in cycle 4. */
static void operands_are_awaited(void **state)
{
	static const struct {
		uint64_t reads, address;
		uint64_t made;
		const char *want;
	} cases[] = {
		{AX, 0, AX, "4 3 1, a 5 1"},
		{AX | CX, 0, AX, "4 3 1, a 5 1"},
		{AX | CX, 0, CX, "4 3 1, b 5 1"},
		{AX | BX | CX, 0, CX, "4 3 1, c 5 1"},
		{AX | BX | CX | DX, 0, DX, "4 3 1, c 5 1"},
		{CX, AX, CX, "4 3 1, b 5 1"},
		{CX, AX, AX, "4 3 1, a 5 1"},
		{AX, 0, BX, "1 0 0"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;
		struct vt_mop op = one(uop(VT_OP_INT, R | A | W, 1, 0, 1), cases[i].reads, DX);

		op.address_reads = cases[i].address;
		begin(&f, 2);
		expect(&f, one(uop(VT_OP_INT, W, 3, 0, 1), 0, cases[i].made), "1 1 2");
		expect(&f, op, cases[i].want);
		/* What is not asked for is not awaited. */
		begin(&f, 2);
		op.uops[0].operands = W;
		expect(&f, one(uop(VT_OP_INT, W, 3, 0, 1), 0, cases[i].made), "1 1 2");
		expect(&f, op, "1 0 0");
		/* Nor is what does not write. */
		begin(&f, 2);
		op.uops[0].operands = R | A | W;
		expect(&f, one(uop(VT_OP_INT, R, 3, 0, 1), 0, cases[i].made), "1 1 2");
		expect(&f, op, "1 0 0");
	}
}

/* The latest one counts, and of two at a time the first. */
static void the_latest_operand_counts(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 4);
	expect(&f, one(uop(VT_OP_INT, W, 5, 0, 1), 0, AX), "1 1 4");
	expect(&f, one(uop(VT_OP_INT, W, 7, 0, 1), 0, BX), "1 0 0");
	expect(&f, one(uop(VT_OP_INT, W, 7, 0, 1), 0, CX), "1 0 0");
	expect(&f, addition(AX | BX | CX, DX), "8 7 3, b 25 2");
	expect(&f, addition(AX | BX | CX, DX), "8 0 0");
}

/* A load of 3 cycles, whose address takes 5 more to translate, and the line 15. */
static void misses_are_waited_for(void **state)
{
	struct fixture f;
	struct vt_mop load = one(uop(VT_OP_LOAD, A | W, 3, 0, 1), 0, AX), two = load;

	(void)state;
	begin(&f, 2);
	f.has_memory = true;
	f.memory.answer = (struct vt_simmem_access){.cycles = 20, .tlb = 5};
	expect(&f, load, "1 1 2");
	assert_false(f.memory.store);
	assert_int_equal(f.memory.nth, 0);
	assert_int_equal(f.memory.cycle, 1);
	assert_int_equal(f.e.done, 24);
	expect(&f, addition(AX, AX), "24 23 1, a 5 1, dtlb 10 1, dcache 30 1");
	/* An operation behind its own load, in the same instruction. */
	begin(&f, 2);
	f.has_memory = true;
	f.memory.answer = (struct vt_simmem_access){.cycles = 20, .tlb = 5};
	load.uops[1] = uop(VT_OP_INT, R | P | W, 1, 0, 1);
	load.nuops = 2;
	load.uops[0].operands = A;
	expect(&f, load, "24 24 3, c 5 1, dtlb 10 1, dcache 30 1");
	assert_int_equal(f.e.done, 25);
	/* Without memory, all hit; loads are counted from 0 in each instruction. */
	begin(&f, 2);
	expect(&f, load, "4 4 3, c 5 1");
	begin(&f, 2);
	f.has_memory = true;
	two.uops[1] = two.uops[0];
	two.nuops = 2;
	expect(&f, two, "1 1 2");
	assert_int_equal(f.memory.nth, 1);
	expect(&f, two, "2 1 2");
	assert_int_equal(f.memory.nth, 1);
	assert_int_equal(f.memory.asked, 4);
}

static void stores_wait_themselves(void **state)
{
	static const struct {
		struct vt_simmem_access answer;
		const char *want;
	} cases[] = {
		{{0, 0, 0, 0, 0}, "1 1 2"},
		{{4, 4, 0, 0, 0}, "5 5 2, dtlb 8 1"},
		{{10, 4, 6, 0, 0}, "11 11 2, dtlb 8 1, dcache 12 1"},
		{{10, 4, 0, 6, 0}, "11 11 2, dtlb 8 1, buffer 12 1"},
		{{6, 0, 0, 6, 0}, "7 7 2, buffer 12 1"},
	};
	struct fixture f;
	struct vt_mop store = one(uop(VT_OP_STORE, A | R, 1, 0, 1), 0, 0), two = store;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&f, 2);
		f.has_memory = true;
		f.memory.answer = cases[i].answer;
		expect(&f, store, cases[i].want);
		assert_true(f.memory.store);
		assert_int_equal(f.memory.cycle, 1);
	}
	begin(&f, 2);
	expect(&f, store, "1 1 2");
	f.has_memory = true;
	two.uops[1] = two.uops[0];
	two.nuops = 2;
	expect(&f, two, "2 1 2");
	assert_int_equal(f.memory.nth, 1);
	expect(&f, store, "2 0 0");
	assert_int_equal(f.memory.nth, 0);
}

/* ---- units ---- */

static void busy_units_are_waited_for(void **state)
{
	static const struct {
		enum vt_op_class op_class;
		unsigned busy;
		const char *want;
	} cases[] = {
		{VT_OP_INT, 1, "2 1 1, slotting 1 1"},
		{VT_OP_INT, 0, "2 1 1, slotting 1 1"},
		{VT_OP_INT, 4, "5 4 1, unit 7 1"},
		{VT_OP_MULTIPLY, 4, "5 4 1, multiplier 7 1"},
		{VT_OP_FMUL, 2, "3 2 1, multiplier 3 1"},
		{VT_OP_DIVIDE, 4, "5 4 1, divider 7 1"},
		{VT_OP_FDIV, 4, "5 4 1, divider 7 1"},
		{VT_OP_FADD, 4, "5 4 1, unit 7 1"},
		{VT_OP_DIVIDE, 1, "2 1 1, slotting 1 1"},
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_mop op = one(uop(cases[i].op_class, R | W, 1, U1, cases[i].busy), 0, 0);

		begin(&f, 2);
		expect(&f, op, "1 1 2");
		expect(&f, op, cases[i].want);
	}
	/* In the cycle after it began, a unit of two cycles is busy, too: no matter of slots. */
	begin(&f, 1);
	expect(&f, one(uop(VT_OP_INT, W, 1, U0, 3), 0, 0), "1 1 1");
	expect(&f, addition(0, 0), "2 1 1");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0, 1), 0, 0), "4 2 1, unit 1 1");
	/* Those that the machine does not have are none. */
	begin(&f, 2);
	expect(&f, one(uop(VT_OP_INT, W, 1, 8, 9), 0, 0), "1 1 2");
	expect(&f, one(uop(VT_OP_INT, W, 1, 8, 9), 0, 0), "1 0 0");
}

static void any_of_several_units_will_do(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 4);
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U2, 9), 0, 0), "1 1 4");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U2, 5), 0, 0), "1 0 0");
	/* The second one is free first. */
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U2, 1), 0, 0), "6 5 2, unit 18 2");
	begin(&f, 4);
	expect(&f, one(uop(VT_OP_INT, W, 1, U1 | U2, 5), 0, 0), "1 1 4");
	expect(&f, one(uop(VT_OP_INT, W, 1, U1 | U2, 5), 0, 0), "1 0 0");
	expect(&f, one(uop(VT_OP_INT, W, 1, U1 | U2, 1), 0, 0), "6 5 2, unit 18 1");
}

/* What is slotted together changes places, as far as it has begun in this cycle. */
static void units_are_freed_for_others(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 4);
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U1, 3), 0, 0), "1 1 4");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0, 1), 0, 0), "1 0 0");
	/* The first one is in unit 1 now, for three cycles. */
	expect(&f, one(uop(VT_OP_INT, W, 1, U1, 1), 0, 0), "4 3 2, unit 10 1");
	/* By way of a third. */
	begin(&f, 4);
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U1, 1), 0, 0), "1 1 4");
	expect(&f, one(uop(VT_OP_INT, W, 1, U1 | U2, 1), 0, 0), "1 0 0");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0, 1), 0, 0), "1 0 0");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U1 | U2, 1), 0, 0), "2 1 3, slotting 1 3");
	begin(&f, 4);
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U1, 1), 0, 0), "1 1 4");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U1 | U2, 1), 0, 0), "1 0 0");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U1, 1), 0, 0), "1 0 0");
	/* What began in an earlier cycle stays. */
	begin(&f, 1);
	expect(&f, one(uop(VT_OP_INT, W, 1, U0 | U1, 4), 0, 0), "1 1 1");
	expect(&f, one(uop(VT_OP_INT, W, 1, U0, 1), 0, 0), "5 4 1, unit 3 1");
}

/* ---- order ---- */

static void fences_wait_and_are_waited_for(void **state)
{
	struct fixture f;
	const struct vt_mop fence = one(uop(VT_OP_SYNC, R | W, 5, 0, 1), 0, 0);

	(void)state;
	begin(&f, 2);
	expect(&f, one(uop(VT_OP_INT, W, 10, 0, 1), 0, AX), "1 1 2");
	expect(&f, one(uop(VT_OP_INT, W, 9, 0, 1), 0, BX), "1 0 0");
	/* Cycles 2 to 10 are lost but for two slots of the first. */
	expect(&f, fence, "11 10 2, sync 18 1");
	expect(&f, addition(0, 0), "16 5 1, unit 9 3");
	/* Of two that are done in 11, the first. */
	begin(&f, 2);
	expect(&f, one(uop(VT_OP_INT, W, 10, 0, 1), 0, AX), "1 1 2");
	expect(&f, one(uop(VT_OP_INT, W, 10, 0, 1), 0, BX), "1 0 0");
	expect(&f, fence, "11 10 2, sync 18 1");
	begin(&f, 2);
	expect(&f, one(uop(VT_OP_SLOW, R | W, 4, 0, 1), 0, 0), "1 1 2");
	expect(&f, addition(0, 0), "5 4 1, unit 7 1");
	expect(&f, addition(0, 0), "5 0 0");
}

static void holds_stop_what_comes_next(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	expect(&f, addition(0, AX), "1 1 2");
	vt_inorder_hold(&f.e, 1, VT_STALL_ICACHE, 50); /* not later than now */
	assert_int_equal(f.e.nholds, 0);
	vt_inorder_hold(&f.e, 3, VT_STALL_ICACHE, 51);
	vt_inorder_hold(&f.e, 3, VT_STALL_MISPREDICT, 52); /* nor than that */
	vt_inorder_hold(&f.e, 2, VT_STALL_MISPREDICT, 53);
	assert_int_equal(f.e.nholds, 1);
	vt_inorder_hold(&f.e, 7, VT_STALL_MISPREDICT, 54);
	expect(&f, addition(0, AX), "7 6 1, icache 3 51, mispredict 8 54");
	assert_int_equal(f.e.nholds, 0);
	/* Of more than there is room for, the last is replaced. */
	vt_inorder_hold(&f.e, 8, VT_STALL_ICACHE, 1);
	vt_inorder_hold(&f.e, 9, VT_STALL_ICACHE, 2);
	vt_inorder_hold(&f.e, 10, VT_STALL_ICACHE, 3);
	vt_inorder_hold(&f.e, 11, VT_STALL_ICACHE, 4);
	vt_inorder_hold(&f.e, 12, VT_STALL_ICACHE, 5);
	expect(&f, addition(0, AX), "12 5 1, icache 1 1, icache 2 2, icache 2 3, icache 4 5");
}

static void draining_forgets_what_is_under_way(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	expect(&f, one(uop(VT_OP_INT, W, 100, U0, 100), 0, AX), "1 1 2");
	vt_inorder_hold(&f.e, 50, VT_STALL_ICACHE, 1);
	vt_inorder_drain(&f.e);
	expect(&f, one(uop(VT_OP_SYNC, R | W, 1, U0, 1), AX, 0), "1 0 0");
}

/* ---- shapes ---- */

static void instructions_have_up_to_four_operations(void **state)
{
	struct fixture f;
	struct vt_mop op = one(uop(VT_OP_INT, 0, 1, 0, 1), 0, 0);
	unsigned i;

	(void)state;
	begin(&f, 1);
	op.nuops = 0;
	expect(&f, op, "1 1 1");
	assert_int_equal(f.e.done, 2);
	for (i = 1; i < VT_MOP_UOPS; i++)
		op.uops[i] = op.uops[0];
	op.nuops = VT_MOP_UOPS;
	expect(&f, op, "5 4 4");
	op.nuops = VT_MOP_UOPS + 1;
	expect(&f, op, "9 4 4");
	/* Waits of one cause by one instruction are added up. */
	begin(&f, 2);
	op.nuops = 3;
	for (i = 0; i < 3; i++)
		op.uops[i] = uop(VT_OP_INT, P, 3, 0, 1);
	expect(&f, op, "7 7 4, c 10 1");
}

static void stalls_beyond_the_last_are_added_to_it(void **state)
{
	struct fixture f;
	struct vt_mop op = one(uop(VT_OP_INT, R, 1, 0, 1), 0, 0);
	unsigned i;

	(void)state;
	begin(&f, 1);
	/* Values by 1 to 9, in ever later cycles, of which each operation awaits one. */
	for (i = 0; i < 4; i++)
		expect(&f, one(uop(VT_OP_INT, W, 40 + 10 * i, U0, 1), 0, BIT(i)),
		       i == 0	? "1 1 1"
		       : i == 1 ? "2 1 1"
		       : i == 2 ? "3 1 1"
				: "4 1 1");
	vt_inorder_hold(&f.e, 6, VT_STALL_ICACHE, 91);
	vt_inorder_hold(&f.e, 7, VT_STALL_ICACHE, 92);
	vt_inorder_hold(&f.e, 8, VT_STALL_ICACHE, 93);
	vt_inorder_hold(&f.e, 9, VT_STALL_ICACHE, 94);
	f.has_memory = true;
	f.memory.answer = (struct vt_simmem_access){.cycles = 7, .tlb = 3};
	op.nuops = 4;
	op.reads = AX;
	for (i = 0; i < 4; i++)
		op.uops[i] = uop(VT_OP_STORE, R, 1, 0, 1);
	/*
	 * Cycle 9, behind four holds; 41 by the operand; then each store takes 3 and 4, and all but
	 * the first wait for the next cycle, of which nothing is lost.
	 */
	expect(&f, op,
	       "72 68 4, icache 1 91, icache 1 92, icache 1 93, icache 1 94, a 32 1, dtlb 12 5, "
	       "dcache 16 5");
	begin(&f, 1);
	expect(&f, addition(0, 0), "1 1 1");
	vt_inorder_hold(&f.e, 3, VT_STALL_ICACHE, 91);
	vt_inorder_hold(&f.e, 4, VT_STALL_ICACHE, 92);
	vt_inorder_hold(&f.e, 5, VT_STALL_ICACHE, 93);
	vt_inorder_hold(&f.e, 6, VT_STALL_ICACHE, 94);
	op.nuops = 4;
	op.uops[0] = uop(VT_OP_DIVIDE, P, 20, U0, 11);
	op.uops[1] = uop(VT_OP_FDIV, 0, 20, U0, 12);
	op.uops[2] = uop(VT_OP_SYNC, 0, 9, U1, 13);
	op.uops[3] = uop(VT_OP_MULTIPLY, P, 9, U1, 14);
	/* 6; 17, behind the unit; 37 to be in order; 46 by a hold, a value and a unit in one. */
	expect(&f, op,
	       "50 49 4, icache 1 91, icache 1 92, icache 1 93, icache 1 94, divider 10 2, "
	       "sync 19 2, unit 12 2");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_have_their_width),
		cmocka_unit_test(operands_are_awaited),
		cmocka_unit_test(the_latest_operand_counts),
		cmocka_unit_test(misses_are_waited_for),
		cmocka_unit_test(stores_wait_themselves),
		cmocka_unit_test(busy_units_are_waited_for),
		cmocka_unit_test(any_of_several_units_will_do),
		cmocka_unit_test(units_are_freed_for_others),
		cmocka_unit_test(fences_wait_and_are_waited_for),
		cmocka_unit_test(holds_stop_what_comes_next),
		cmocka_unit_test(draining_forgets_what_is_under_way),
		cmocka_unit_test(instructions_have_up_to_four_operations),
		cmocka_unit_test(stalls_beyond_the_last_are_added_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
