/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Issue out of order: banks of the cache, pointers, data of stores, the stack pointer and code from
 * memory, in cases worked by hand.  Nothing tells addresses: they follow from the code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/machine/pipeline/ooocases.h"

#define NONE VT_REG_NONE
#define SP   BIT(VT_REG_SP)
#define CX   BIT(VT_REG_CX)

#define LATENCY 5 /* of loads */

static struct vt_mop_sum at_address(int32_t addr, unsigned size)
{
	return (struct vt_mop_sum){addr, (uint16_t)size, NONE, NONE, 0, NONE};
}

/* A load of 8 bytes at an address that the code says. */
static struct vt_mop load_at(int32_t addr, uint32_t units)
{
	struct vt_mop op = one(uop(VT_OP_LOAD, A | W, LATENCY, units, 1), 0, AX);

	op.load = at_address(addr, 8);
	op.result = VT_RESULT_LOAD;
	op.target = VT_REG_AX;
	return op;
}

/* A store of 8 bytes, of a register or (0) of nothing that is waited for. */
static struct vt_mop store_at(int32_t addr, uint64_t reads)
{
	struct vt_mop op = one(uop(VT_OP_STORE, R, 1, 0, 1), reads, 0);

	op.store = at_address(addr, 8);
	op.target = NONE;
	return op;
}

/* Makes a register so many cycles after it is issued. */
static struct vt_mop make_late(uint64_t reg, unsigned latency)
{
	struct vt_mop op = one(uop(VT_OP_INT, W, latency, 0, 1), 0, reg);

	op.target = NONE;
	return op;
}

static struct vt_core loading(void)
{
	struct vt_core core = wide();

	core.classes[VT_OP_LOAD].latency = LATENCY;
	return core;
}

/* ---- banks ---- */

/* Blocks of 64 bytes have banks of 4: those of one number conflict, but not within a block. */
static void loads_of_one_bank_conflict(void **state)
{
	static const struct {
		uint32_t banks;
		int32_t first, second;
		bool conflict;
	} cases[] = {
		{0, 0x1000, 0x1040, false},  {64, 0x1000, 0x1040, true},
		{64, 0x1000, 0x1043, true},  {64, 0x1000, 0x1044, false},
		{64, 0x1000, 0x103c, false}, {64, 0x1000, 0x1002, false},
		{64, 0x1000, 0x1000, false}, {64, 0x1000, 0x2000, true},
		{64, 0x103c, 0x107c, true},  {64, 0x1020, 0x1060, true},
		{64, 0x1000, 0x1060, false}, {32, 0x1000, 0x1020, true},
		{32, 0x1000, 0x1010, false}, {64, 0x1000, 0, false},
		{64, 0, 0x1000, false},
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_core core = loading();

		core.banks = cases[i].banks;
		begin(&f, core);
		expect(&f, load_at(cases[i].first, U0 | U1), "0 0 1 6 6");
		/* In vain in cycle 1. */
		expect(&f, load_at(cases[i].second, U0 | U1),
		       cases[i].conflict ? "0 0 2 7 7" : "0 0 1 6 6");
		end(&f);
	}
}

static void loads_in_vain_take_what_they_would(void **state)
{
	struct vt_core core = loading();
	struct fixture f;

	(void)state;
	core.banks = 64;
	core.nunits = 3;
	/* Unit 0 in cycle 1, in vain; then again, as none of them was of use so far. */
	begin(&f, core);
	expect(&f, load_at(0x1000, 4), "0 0 1 6 6");
	expect(&f, load_at(0x1040, U0 | U1), "0 0 2 7 7");
	expect(&f, busy(U1, 1), "0 0 1 2 7");
	expect(&f, busy(U0, 1), "0 0 3 4 7");
	end(&f);
	/* What the first took remains taken. */
	begin(&f, core);
	expect(&f, load_at(0x1000, 4), "0 0 1 6 6");
	expect(&f, load_at(0x1040, U0 | U1), "0 0 2 7 7");
	expect(&f, busy(4, 1), "0 0 2 3 7");
	end(&f);
	/* What is computed of a load is none itself. */
	{
		struct vt_mop op = load_at(0x1000, 4), other = load_at(0x1040, U1);

		op.nuops = 2;
		op.uops[1] = uop(VT_OP_INT, P, 1, U0, 1);
		other.address_reads = BX;
		begin(&f, core);
		expect(&f, make_late(BX, 5), "0 0 1 6 6");
		expect(&f, op, "0 0 1 7 7");
		expect(&f, other, "0 0 6 11 11");
		end(&f);
	}
	/* And a place among those that are issued in a cycle. */
	core.issue = 2;
	begin(&f, core);
	expect(&f, load_at(0x1000, 4), "0 0 1 6 6");
	expect(&f, load_at(0x1040, U0 | U1), "0 0 2 7 7");
	expect(&f, addition(0, 0), "0 0 2 3 7");
	expect(&f, addition(0, 0), "0 0 3 4 7");
	end(&f);
	/* The latest load of the cycle counts; others do not matter. */
	core.issue = 4;
	begin(&f, core);
	expect(&f, load_at(0x1000, 4), "0 0 1 6 6");
	expect(&f, addition(0, 0), "0 0 1 2 6");
	expect(&f, load_at(0x1004, U0), "0 0 1 6 6");
	expect(&f, load_at(0x1044, U1), "0 0 2 7 7");
	end(&f);
	begin(&f, core);
	expect(&f, load_at(0x1000, 4), "0 0 1 6 6");
	expect(&f, addition(0, 0), "0 0 1 2 6");
	expect(&f, load_at(0x1040, U0), "0 0 2 7 7");
	end(&f);
}

/* ---- pointers ---- */

/* A load by AX, which a load of 8 bytes made: in 6, with LATENCY 5 and 4 as a pointer. */
static void pointers_are_followed_sooner(void **state)
{
	static const struct {
		struct vt_mop_sum sum;
		uint16_t latency;
		const char *want;
	} cases[] = {
		{{0, 8, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 10 10"},
		{{2047, 8, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 10 10"},
		{{2048, 8, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 11 11"},
		{{-1, 8, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 11 11"},
		{{0, 1, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 10 10"},
		{{0, 16, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 11 11"},
		{{0, 9, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 11 11"},
		{{0, 0, VT_REG_AX, NONE, 0, NONE}, LATENCY, "0 0 6 11 11"},
		{{0, 8, VT_REG_AX, VT_REG_BX, 1, NONE}, LATENCY, "0 0 6 11 11"},
		{{0, 8, VT_REG_AX, NONE, 0, VT_REG_FS}, LATENCY, "0 0 6 11 11"},
		{{0, 8, VT_REG_CX, NONE, 0, NONE}, LATENCY, "0 0 6 11 11"},
		/* A load that its row says to take longer. */
		{{0, 8, VT_REG_AX, NONE, 0, NONE}, 7, "0 0 6 13 13"},
	};
	struct vt_core core = loading();
	struct vt_mop op;
	struct fixture f;
	size_t i;

	(void)state;
	core.pointer = 4;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&f, core);
		expect(&f, load_at(0x1000, 0), "0 0 1 6 6");
		op = one(uop(VT_OP_LOAD, A | W, cases[i].latency, 0, 1), 0, BX);
		op.address_reads = AX;
		op.load = cases[i].sum;
		expect(&f, op, cases[i].want);
		end(&f);
	}
	/* Machines that make no difference. */
	core.pointer = 0;
	begin(&f, core);
	expect(&f, load_at(0x1000, 0), "0 0 1 6 6");
	op.load = cases[0].sum;
	op.uops[0].latency = LATENCY;
	expect(&f, op, "0 0 6 11 11");
	end(&f);
	/* What is no load has no pointer to follow. */
	core.pointer = 4;
	begin(&f, core);
	expect(&f, load_at(0x1000, 0), "0 0 1 6 6");
	op.uops[0] = uop(VT_OP_INT, A | W, LATENCY, 0, 1);
	expect(&f, op, "0 0 6 11 11");
	end(&f);
}

/* What stands between a load and the one that follows the pointer, and when that is done. */
static void only_loads_and_copies_make_pointers(void **state)
{
	const struct vt_mop_sum by_bx = {0, 8, VT_REG_BX, NONE, 0, NONE};
	const struct vt_mop_sum copied = {0, 8, VT_REG_AX, NONE, 0, NONE};
	struct vt_core core = loading();
	struct vt_mop follow = one(uop(VT_OP_LOAD, A | W, LATENCY, 0, 1), 0, CX);
	struct fixture f;
	unsigned k;

	(void)state;
	core.pointer = 4;
	follow.address_reads = BX;
	follow.load = by_bx;
	for (k = 0; k < 7; k++) {
		/* "mov %rax,%rbx", by renaming: BX is there in 6, as AX. */
		struct vt_mop copy = one(uop(VT_OP_NOP, R | W, 0, 0, 0), AX, BX);
		struct vt_mop first = load_at(0x1000, 0);

		copy.result = VT_RESULT_SUM;
		copy.target = VT_REG_BX;
		copy.sum = copied;
		switch (k) {
		case 1: /* by a unit that takes no time */
			copy.uops[0] = uop(VT_OP_INT, R | W, 0, 0, 1);
			break;
		case 2: /* of 4 bytes */
			copy.sum.size = 4;
			break;
		case 3: /* a number */
			copy.sum.base = NONE;
			break;
		case 4: /* something else */
			copy.result = VT_RESULT_OTHER;
			break;
		case 5: /* two operations */
			copy.nuops = 2;
			copy.uops[1] = copy.uops[0];
			break;
		case 6: /* 4 bytes were loaded */
			first.load.size = 4;
			break;
		default:
			break;
		}
		begin(&f, core);
		expect(&f, first, "0 0 1 6 6");
		expect(&f, copy, "0 0 6 6 6");
		expect(&f, follow, k ? "0 0 6 11 11" : "0 0 6 10 10");
		end(&f);
	}
}

/* ---- stores ---- */

/* Forwarding takes 5 cycles, and 11 where the store does not hold all. */
static struct vt_core forwarding(uint32_t stores)
{
	struct vt_core core = loading();

	core.stores = stores;
	core.forward = 5;
	core.blocked = 11;
	return core;
}

static void the_youngest_store_has_the_data(void **state)
{
	struct fixture f;

	(void)state;
	/* Both are of the same bytes: one's data comes in 9, the other's is there. */
	begin(&f, forwarding(4));
	expect(&f, make_late(BX, 8), "0 0 1 9 9");
	expect(&f, store_at(0x1000, BX), "0 0 9 10 10");
	expect(&f, store_at(0x1000, 0), "0 0 1 2 10");
	expect(&f, load_at(0x1000, 0), "0 0 1 7 10");
	/* Of others it is the older one; four have retired in 10. */
	expect(&f, store_at(0x1008, 0), "1 1 2 3 10");
	expect(&f, load_at(0x1008, 0), "1 1 2 8 11");
	end(&f);
	begin(&f, forwarding(4));
	expect(&f, make_late(BX, 8), "0 0 1 9 9");
	expect(&f, store_at(0x1000, BX), "0 0 9 10 10");
	expect(&f, store_at(0x1008, 0), "0 0 1 2 10");
	expect(&f, load_at(0x1000, 0), "0 0 1 15 15");
	end(&f);
	/* A ring of two: the third takes the place of the first. */
	begin(&f, forwarding(2));
	expect(&f, store_at(0x1000, 0), "0 0 1 2 2");
	expect(&f, store_at(0x2000, 0), "0 0 1 2 2");
	/* Written in 3 and 4: then there is room. */
	expect(&f, store_at(0x3000, 0), "0 3 4 5 5");
	expect(&f, load_at(0x2000, 0), "0 3 4 9 9");
	expect(&f, load_at(0x3000, 0), "1 3 4 10 10");
	end(&f);
}

/* 0x1000 to 0x1007 are stored: which loads take that, and which wait until it is written. */
static void stores_hold_bytes(void **state)
{
	static const struct {
		int32_t addr;
		unsigned size;
		const char *want;
	} cases[] = {
		/* The data is there in 2, and the store is written in 11, behind what is slow. */
		{0x1000, 8, "0 0 1 7 10"},
		{0x1000, 1, "0 0 1 7 10"},
		{0x1007, 1, "0 0 1 7 10"},
		{0x1004, 4, "0 0 1 7 10"},
		/* 11, and 6 cycles more. */
		{0x1000, 9, "0 0 1 17 17"},
		{0xfff, 2, "0 0 1 17 17"},
		{0xfff, 16, "0 0 1 17 17"},
		{0x1007, 2, "0 0 1 17 17"},
		/* Others. */
		{0x1008, 8, "0 0 1 6 10"},
		{0xff8, 8, "0 0 1 6 10"},
		{0x1000, 0, "0 0 1 6 10"},
	};
	struct vt_core core = forwarding(4);
	struct fixture f;
	struct vt_mop load;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		load = load_at(cases[i].addr, 0);
		load.load.size = (uint16_t)cases[i].size;
		begin(&f, core);
		expect(&f, make_late(0, 9), "0 0 1 10 10");
		expect(&f, store_at(0x1000, 0), "0 0 1 2 10");
		expect(&f, load, cases[i].want);
		end(&f);
	}
	/* Where that is not longer, it is as long. */
	load = load_at(0x1007, 0);
	for (core.blocked = 4; core.blocked <= 6; core.blocked++) {
		begin(&f, core);
		expect(&f, make_late(0, 9), "0 0 1 10 10");
		expect(&f, store_at(0x1000, 0), "0 0 1 2 10");
		expect(&f, load, core.blocked == 6 ? "0 0 1 12 12" : "0 0 1 11 11");
		end(&f);
	}
	/* A store that is written before its data could come from it. */
	core.blocked = 11;
	begin(&f, core);
	expect(&f, store_at(0x1000, 0), "0 0 1 2 2");
	expect(&f, load, "0 0 1 13 13");
	end(&f);
}

/* A store that is written in 3: a load that begins before, and one that begins then. */
static void written_stores_are_in_the_cache(void **state)
{
	struct fixture f;
	unsigned latency;

	(void)state;
	for (latency = 1; latency <= 3; latency++) {
		struct vt_mop load = load_at(0x1000, 0);

		load.address_reads = BX;
		begin(&f, forwarding(4));
		expect(&f, store_at(0x1000, 0), "0 0 1 2 2");
		expect(&f, make_late(BX, latency),
		       latency == 1   ? "0 0 1 2 2"
		       : latency == 2 ? "0 0 1 3 3"
				      : "0 0 1 4 4");
		expect(&f, load,
		       latency == 1   ? "0 0 2 7 7"
		       : latency == 2 ? "0 0 3 8 8"
				      : "0 0 4 9 9");
		end(&f);
	}
	/* Its forwarding takes longer than the cache, too, if the machine says so. */
	for (latency = 1; latency <= 2; latency++) {
		struct vt_core core = forwarding(4);
		struct vt_mop load = load_at(0x1000, 0);

		core.forward = 9;
		load.address_reads = BX;
		begin(&f, core);
		expect(&f, store_at(0x1000, 0), "0 0 1 2 2");
		expect(&f, make_late(BX, latency), latency == 1 ? "0 0 1 2 2" : "0 0 1 3 3");
		expect(&f, load, latency == 1 ? "0 0 2 11 11" : "0 0 3 8 8");
		end(&f);
	}
}

/* Two of one line are written in a cycle, which leaves the store queue for others. */
static void stores_of_a_line_are_written_at_once(void **state)
{
	static const struct {
		int32_t second;
		uint32_t written;
		const char *want; /* of a fourth store, in a queue of two */
	} cases[] = {
		{0x103f, 2, "0 3 4 5 5"},
		{0x1040, 2, "0 4 5 6 6"},
		{0x103f, 1, "0 4 5 6 6"},
	};
	struct vt_core core = forwarding(2);
	struct vt_mop unknown = store_at(0x1000, 0);
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		core.written = cases[i].written;
		begin(&f, core);
		expect(&f, store_at(0x1000, 0), "0 0 1 2 2");
		expect(&f, store_at(cases[i].second, 0), "0 0 1 2 2");
		expect(&f, store_at(0x2000, 0), "0 3 4 5 5");
		expect(&f, store_at(0x2040, 0), cases[i].want);
		end(&f);
	}
	core.written = 2;
	/* Where both are to is not known. */
	unknown.store.size = 0;
	begin(&f, core);
	expect(&f, unknown, "0 0 1 2 2");
	expect(&f, unknown, "0 0 1 2 2");
	expect(&f, store_at(0x2000, 0), "0 3 4 5 5");
	expect(&f, store_at(0x2040, 0), "0 4 5 6 6");
	end(&f);
	/* The second retires in 3, in which the first is written: its own turn is in 4. */
	begin(&f, core);
	expect(&f, store_at(0x1000, 0), "0 0 1 2 2");
	expect(&f, make_late(0, 2), "0 0 1 3 3");
	expect(&f, store_at(0x1000, 0), "0 0 1 2 3");
	expect(&f, store_at(0x2000, 0), "0 3 4 5 5");
	expect(&f, store_at(0x2040, 0), "1 4 5 6 6");
	end(&f);
}

/* Renaming hands a value from a store to a load that begins where it does, if it can see that. */
static void renaming_forwards_what_is_loaded_at_once(void **state)
{
	static const struct {
		int32_t addr;
		uint16_t size;
		uint8_t index;
		uint8_t target;
		const char *want;
	} cases[] = {
		/* In 2, where the data is there; forwarded by the queue in 7. */
		{0x1000, 8, NONE, VT_REG_AX, "0 0 1 2 10"},
		{0x1000, 4, NONE, VT_REG_AX, "0 0 1 2 10"},
		{0x1004, 4, NONE, VT_REG_AX, "0 0 1 7 10"},
		{0x1000, 8, VT_REG_CX, VT_REG_AX, "0 0 1 7 10"},
		{0x1000, 8, NONE, NONE, "0 0 1 7 10"},
		/* More than was stored: 11, and 6 cycles more. */
		{0x1000, 9, NONE, VT_REG_AX, "0 0 1 17 17"},
	};
	struct vt_core core = forwarding(4);
	struct vt_mop store = store_at(0x1000, 0), load;
	struct fixture f;
	size_t i;

	(void)state;
	core.eliminates = VT_ELIMINATE_LOAD;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		load = load_at(cases[i].addr, 0);
		load.load.size = cases[i].size;
		load.load.index = cases[i].index;
		load.target = cases[i].target;
		begin(&f, core);
		expect(&f, make_late(0, 9), "0 0 1 10 10");
		expect(&f, store, "0 0 1 2 10");
		expect(&f, load, cases[i].want);
		end(&f);
	}
	/* An operation in memory, without a register and with one. */
	load = load_at(0x1000, 0);
	load.target = NONE;
	load.store = load.load;
	begin(&f, core);
	expect(&f, store, "0 0 1 2 2");
	expect(&f, load, "0 0 1 2 2");
	end(&f);
	load.reads = BX;
	begin(&f, core);
	expect(&f, store, "0 0 1 2 2");
	expect(&f, load, "0 0 1 7 7");
	end(&f);
	store.store.index = VT_REG_CX;
	begin(&f, core);
	expect(&f, store, "0 0 1 2 2");
	expect(&f, load_at(0x1000, 0), "0 0 1 7 7");
	end(&f);
	core.eliminates = (uint8_t)~VT_ELIMINATE_LOAD;
	begin(&f, core);
	expect(&f, store_at(0x1000, 0), "0 0 1 2 2");
	expect(&f, load_at(0x1000, 0), "0 0 1 7 7");
	end(&f);
}

/* Filled registers are equal, so that accesses by two of them meet. */
static void filled_registers_are_equal(void **state)
{
	struct vt_mop store = store_at(0, 0), load = load_at(0, 0);
	struct vt_core core = forwarding(4);
	struct fixture f;

	(void)state;
	core.forward = 9;
	store.store.base = VT_REG_BX;
	load.load.base = VT_REG_CX;
	begin(&f, core);
	expect(&f, store, "0 0 1 2 2");
	expect(&f, load, "0 0 1 6 6");
	end(&f);
	begin(&f, core);
	vt_ooo_fill(f.e, 0x7000);
	expect(&f, store, "0 0 1 2 2");
	expect(&f, load, "0 0 1 11 11");
	end(&f);
	/* And no longer in a new machine, */
	begin(&f, core);
	expect(&f, store, "0 0 1 2 2");
	expect(&f, load, "0 0 1 6 6");
	end(&f);
	/* or when it is empty again. */
	begin(&f, core);
	vt_ooo_fill(f.e, 0x7000);
	vt_ooo_empty(f.e);
	f.begun = 4096;
	expect(&f, store, "0 0 1 2 2");
	expect(&f, load, "0 0 1 6 6");
	end(&f);
}

/* ---- the stack pointer ---- */

static struct vt_mop push(void)
{
	struct vt_mop op = one(uop(VT_OP_STORE, A, 1, 0, 1), 0, 0);

	op.address_reads = SP;
	op.moves = -8;
	op.target = NONE;
	return op;
}

/* Runs it, and expects how many slots it took as well. */
static void expect_slots(struct fixture *f, struct vt_mop op, uint64_t issued, uint64_t done,
			 unsigned slots)
{
	struct vt_ooo_insn in = {.op = &op, .tag = ++f->n};
	struct vt_inorder_cost cost;
	struct vt_ooo_times t;

	vt_ooo_run(f->e, &in, &cost, &t);
	assert_int_equal(t.issued, issued);
	assert_int_equal(t.done, done);
	assert_int_equal(t.slots, slots);
}

/* Who uses it behind pushes waits for their addition: 2 cycles on unit 0. */
static void moved_stack_pointers_are_added_up(void **state)
{
	struct vt_core core = wide();
	struct vt_mop by_address = one(uop(VT_OP_LOAD, A | W, 1, 0, 1), 0, AX);
	struct vt_mop push_sp = push();
	struct fixture f;

	(void)state;
	core.units[0].classes = 1 << VT_OP_INT;
	core.stack_sync = 2;
	by_address.address_reads = SP;
	push_sp.reads = SP;
	push_sp.uops[0].operands = R | A;
	begin(&f, core);
	expect_slots(&f, addition(SP, 0), 1, 2, 1);
	expect_slots(&f, push(), 1, 2, 1);
	expect_slots(&f, push(), 1, 2, 1);
	/* The fifth slot: placed in cycle 1, added in 2 and 3. */
	expect_slots(&f, addition(SP, 0), 4, 5, 2);
	expect_slots(&f, addition(SP, 0), 4, 5, 1);
	end(&f);
	/* By an address. */
	begin(&f, core);
	expect_slots(&f, push(), 1, 2, 1);
	expect_slots(&f, by_address, 3, 4, 2);
	expect_slots(&f, by_address, 3, 4, 1);
	end(&f);
	/* Who only writes it needs nothing of what was. */
	begin(&f, core);
	expect_slots(&f, push(), 1, 2, 1);
	expect_slots(&f, addition(0, SP), 1, 2, 1);
	expect_slots(&f, addition(SP, 0), 2, 3, 1);
	end(&f);
	/* A push that stores it, too. */
	begin(&f, core);
	expect_slots(&f, push_sp, 1, 2, 1);
	expect_slots(&f, push_sp, 3, 4, 2);
	/* Another addition, to what comes in 3. */
	expect_slots(&f, addition(SP, 0), 5, 6, 2);
	end(&f);
	/* Others do not matter. */
	begin(&f, core);
	expect_slots(&f, push(), 1, 2, 1);
	expect_slots(&f, addition(AX, BX), 1, 2, 1);
	expect_slots(&f, addition(SP, 0), 3, 4, 2);
	end(&f);
	/* It comes late itself: in 9, and is added to in 9 and 10. */
	begin(&f, core);
	expect_slots(&f, make_late(SP, 8), 1, 9, 1);
	expect_slots(&f, push(), 9, 10, 1);
	expect_slots(&f, addition(SP, 0), 11, 12, 2);
	end(&f);
	/* Unit 0 has other work up to cycle 5. */
	begin(&f, core);
	expect_slots(&f, busy(U0, 5), 1, 2, 1);
	expect_slots(&f, push(), 1, 2, 1);
	expect_slots(&f, addition(SP, 0), 8, 9, 2);
	end(&f);
	/* Or unit 1 does it. */
	core.units[0].classes = 1 << VT_OP_LOAD;
	core.units[1].classes = 1 << VT_OP_INT | 1 << VT_OP_LOAD;
	begin(&f, core);
	expect_slots(&f, busy(U1, 5), 1, 2, 1);
	expect_slots(&f, push(), 1, 2, 1);
	expect_slots(&f, addition(SP, 0), 8, 9, 2);
	end(&f);
	/* Machines that move it with each push. */
	core.stack_sync = 0;
	begin(&f, core);
	expect_slots(&f, push(), 1, 2, 1);
	expect_slots(&f, addition(SP, 0), 1, 2, 1);
	end(&f);
	/* Emptied, it was not moved. */
	core.stack_sync = 2;
	begin(&f, core);
	expect_slots(&f, push(), 1, 2, 1);
	vt_ooo_empty(f.e);
	expect_slots(&f, addition(SP, 0), 4100, 4101, 1);
	end(&f);
}

/* ---- operands that are needed late ---- */

/* AX comes in 9; it is needed so many cycles behind the issue. */
static void late_operands_are_awaited_later(void **state)
{
	static const struct {
		uint16_t lateness;
		uint64_t late;
		const char *want;
	} cases[] = {
		{3, AX, "0 0 6 7 9"},	{0, AX, "0 0 9 10 10"},	   {7, AX, "0 0 2 3 9"},
		{8, AX, "0 0 1 2 9"},	{9, AX, "0 0 1 2 9"},	   {50, AX, "0 0 1 2 9"},
		{3, BX, "0 0 9 10 10"}, {3, AX | BX, "0 0 6 7 9"},
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_mop op = addition(AX, 0);

		op.late = cases[i].late;
		op.lateness = cases[i].lateness;
		begin(&f, wide());
		expect(&f, make_late(AX, 8), "0 0 1 9 9");
		expect(&f, op, cases[i].want);
		end(&f);
	}
}

/* ---- code from memory ---- */

/* 16 bytes a cycle: two instructions of 8, where a fetch takes four of any length. */
static void uncached_code_is_decoded(void **state)
{
	struct vt_core core = wide();
	struct vt_mop op = addition(0, 0);
	struct fixture f;

	(void)state;
	op.length = 8;
	core.fetch_bytes = 16;
	begin(&f, core);
	vt_ooo_set_uncached(f.e, true);
	vt_ooo_empty(f.e);
	f.begun = 4096;
	expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "1 1 2 3 3");
	expect(&f, op, "1 1 2 3 3");
	expect(&f, op, "2 2 3 4 4");
	/* From the micro-op cache again. */
	vt_ooo_set_uncached(f.e, false);
	vt_ooo_empty(f.e);
	f.begun = 4100 + 4096;
	expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "0 0 1 2 2");
	end(&f);
	/* Cores that say nothing of it. */
	core.fetch_bytes = 0;
	begin(&f, core);
	vt_ooo_set_uncached(f.e, true);
	expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "0 0 1 2 2");
	expect(&f, op, "0 0 1 2 2");
	end(&f);
}

/* Only such code has places, counted from its first byte, that addresses can be relative to. */
static void uncached_code_knows_where_it_is(void **state)
{
	struct vt_core core = forwarding(4);
	struct vt_mop store = store_at(0x100, 0), load = load_at(0x108, 0);
	struct fixture f;
	unsigned uncached;

	(void)state;
	core.fetch_bytes = 16;
	core.forward = 9;
	store.length = load.length = 8;
	store.store.base = VT_REG_IP;
	for (uncached = 0; uncached < 2; uncached++) {
		begin(&f, core);
		vt_ooo_set_uncached(f.e, uncached);
		vt_ooo_empty(f.e);
		f.begun = 4096;
		expect(&f, store, "0 0 1 2 2");
		expect(&f, load, uncached ? "0 0 1 11 11" : "0 0 1 6 6");
		end(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_of_one_bank_conflict),
		cmocka_unit_test(loads_in_vain_take_what_they_would),
		cmocka_unit_test(pointers_are_followed_sooner),
		cmocka_unit_test(only_loads_and_copies_make_pointers),
		cmocka_unit_test(the_youngest_store_has_the_data),
		cmocka_unit_test(stores_hold_bytes),
		cmocka_unit_test(written_stores_are_in_the_cache),
		cmocka_unit_test(renaming_forwards_what_is_loaded_at_once),
		cmocka_unit_test(stores_of_a_line_are_written_at_once),
		cmocka_unit_test(filled_registers_are_equal),
		cmocka_unit_test(moved_stack_pointers_are_added_up),
		cmocka_unit_test(late_operands_are_awaited_later),
		cmocka_unit_test(uncached_code_is_decoded),
		cmocka_unit_test(uncached_code_knows_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
