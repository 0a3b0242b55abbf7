/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a procedure's listing says of its regions, as text: every line of small ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/common/printed.h"
#include "tests/unit/listing/cycles/calcs.h"

static const char *print(const struct calc *c)
{
	struct vt_output out;

	print_begin(&out);
	vt_calc_print(&c->is, NULL, 0, false, &out);
	return print_end(&out);
}

/* What a stall stands behind: as much as an address and 18 letters. */
#define PAD "                        "

static uint64_t in_loop[] = {0x4, 0xc}, around[] = {0, 0x4, 0xc, 0x10}, load[] = {0x4};

static const struct vt_regionfreq regions[] = {
	{.offset = 0,
	 .rounds = 2,
	 .insns = 2,
	 .cycles = 10,
	 .high = (double)INFINITY,
	 .best = 1,
	 .least = 0.9,
	 .flags = VT_REGION_OVERLAPS | VT_REGION_IS_WIDE | VT_REGION_CALLS_UNKNOWN,
	 .ranges = around,
	 .nranges = 4},
	{.offset = 0x4,
	 .samples = 50,
	 .visits = 2,
	 .rounds = 100,
	 .insns = 2,
	 .cycles = 50,
	 .low = 48,
	 .high = 52,
	 .best = 5,
	 .least = 4.5,
	 .with_calls = 70,
	 .with_calls_low = 69,
	 .with_calls_high = 71,
	 .flags = VT_REGION_IS_LOOP | VT_REGION_CALLS,
	 .ranges = in_loop,
	 .nranges = 2},
};

static const struct vt_stall region_stalls[] = {
	{.offset = 0x4,
	 .cause = VT_STALL_DCACHE,
	 .high = 3000,
	 .cycles = 4000,
	 .bound = 3000,
	 .why = VT_WHY_STEPS},
	{.offset = 0x4,
	 .cause = VT_STALL_DTLB,
	 .low = 1000,
	 .high = 4200,
	 .cycles = 4000,
	 .bound = (double)INFINITY,
	 .why = VT_WHY_ANYWHERE,
	 .culprits = load,
	 .nculprits = 1},
	/* Of code outside of loops that begins at the loop: there is none here. */
	{.offset = 0x4,
	 .cause = VT_STALL_DCACHE,
	 .high = 100,
	 .cycles = 100,
	 .flags = VT_STALL_OF_REGION},
	{.offset = 0x4,
	 .cause = VT_STALL_UNEXPLAINED,
	 .low = 150,
	 .high = 150,
	 .cycles = 500,
	 .why = VT_WHY_NOBODY,
	 .flags = VT_STALL_SCOPE},
};

static const struct vt_stall acquittals[] = {
	{.offset = 0x4, .cause = VT_STALL_SYNC, .why = VT_WHY_ABSENT},
	{.offset = 0x4, .cause = VT_STALL_MISPREDICT, .why = VT_WHY_SMALL, .flags = VT_STALL_SCOPE},
};

/* What makes a time uncertain most: 1,000 cycles in 10 rounds, with an interval to each side. */
static void test_uncertain_regions(void **state)
{
	static const struct {
		uint64_t samples;
		double visits;
		double half;
		const char *text;
	} rows[] = {
		{100, 10, 0.2, "\n*** Too few samples for claims about it\n"},
		{0, 10, (double)INFINITY, "\n*** Too few samples for claims about it\n"},
		/* 4 cycles of 1,000 at each of 50 borders. */
		{1000, 50, 0.21, "\n*** Too short visits for claims about it\n"},
		{1000, 10, 0.21, "\n*** Too uncertain counts for claims about it\n"},
		{1000000, 1, (double)INFINITY, "\n*** Too uncertain counts for claims about it\n"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_regionfreq r = regions[1];
		struct calc c;

		calc_init(&c);
		r.rounds = 10;
		r.cycles = 100;
		r.visits = rows[i].visits;
		r.samples = rows[i].samples;
		r.high = 100 * (1 + rows[i].half);
		r.flags |= VT_REGION_IS_WIDE;
		c.is.regions = &r;
		c.is.nregions = 1;
		assert_non_null(strstr(print(&c), rows[i].text));
	}
}

/*
 * A loop of 100 rounds in 2 visits, whose load stalls for 40 cycles each time, and what is around
 * it, of which too little is known.  The region is listed first, the causes by what facts allow;
 * instructions then have shares of its samples, the one that stalls itself has cycles.
 */
static void test_regions(void **state)
{
	static const struct vt_freq f = {.executions = 100,
					 .low = 100,
					 .high = 100,
					 .cycles = 44,
					 .samples = 40,
					 .confidence = VT_CONFIDENCE_EXACT};
	static const struct vt_freq g = {.executions = 100, .cycles = 6, .samples = 10};
	struct vt_calc_insn *first;
	struct calc c;

	(void)state;
	calc_init(&c);
	c.is.base = 0x401000;
	c.is.sum.cycles = 10000;
	c.is.regions = regions;
	c.is.nregions = 2;
	c.is.stalls = region_stalls;
	c.is.nstalls = 4;
	c.is.acquittals = acquittals;
	c.is.nacquittals = 2;
	calc_block(&c, 0x401004)->freq = &f;
	first = calc_insn(&c, 0x401004, "mov", &f);
	first->region = &regions[1];
	first->stalls = region_stalls;
	first->nstalls = 2;
	calc_insn(&c, 0x401008, "jne", &g)->region = &regions[1];
	assert_string_equal(
		strstr(print(&c), "\n*** Code"),
		"\n*** Code with loops too uncertain alone, from 401000, 0.2% of the cycles: "
		"executed 2 times, "
		"2.0 instructions each\n"
		"*** Best-case   1.0 cycles, at least 0.9\n"
		"*** Actual      10.0 cycles (0.0 or more), 5.00CPI\n"
		"*** With calls  not known\n"
		"*** Overlaps with what is executed before and after it: its cycles are those\n"
		"***             in which it was the oldest; without it, others may take them\n"
		"*** Too few samples for claims about it\n"
		"\n*** Loop at 401004, 50.0% of the cycles: 100 rounds in 2 visits, "
		"2.0 instructions each\n"
		"*** Best-case   5.0 cycles, at least 4.5\n"
		"*** Actual      50.0 cycles (48.0 to 52.0), 25.00CPI\n"
		"*** With calls  70.0 cycles (69.0 to 71.0)\n"
		"*** Stalls      40.0 cycles at 401004\n"
		"***   D DTB miss                      10.0 to    42.0  an access goes anywhere: "
		"401004\n"
		"***   d D-cache miss                   0.0 to    30.0  an access steps on to new "
		"lines or pages\n"
		"***   ruled out: synchronization (no fence, atomic or microcode)\n"
		"*** Stalls      5.0 cycles\n"
		"***   u unexplained stall              1.5 to     1.5  all causes are ruled out: "
		"model or clock may be wrong\n"
		"***   ruled out: branch mispredict (too rare)\n"
		"\n  Addr  Instruction  Samples     of region Culprit\n"
		"\n*** Block 1 of 1, 0.0% of the cycles: executed 100 times, counted "
		"exactly\n\n" PAD "Dd  (D = DTB miss)\n" PAD "Dd ... 44.0cy\n" PAD
		"Dd  (d = D-cache miss)\n"
		"401004  mov               40        44.0cy 401004\n"
		"401008  jne               10         20.0%\n");
}

/* Of two instructions, both executed each time, or one of them again: that is a loop. */
static void test_code(void **state)
{
	struct vt_regionfreq r = regions[0];
	static const struct vt_freq f = {.executions = 2, .cycles = 5};
	struct calc c;

	(void)state;
	calc_init(&c);
	c.is.regions = &r;
	c.is.nregions = 1;
	calc_block(&c, 0x401000)->freq = &f;
	calc_insn(&c, 0x401000, "mov", &f)->region = &r;
	calc_insn(&c, 0x401002, "ret", &f)->region = &r;
	assert_non_null(strstr(print(&c), "\n*** Code outside of loops, from "));
	r.insns = 2.5;
	assert_non_null(strstr(print(&c), "\n*** Code with loops too uncertain alone, from "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_uncertain_regions),
		cmocka_unit_test(test_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
