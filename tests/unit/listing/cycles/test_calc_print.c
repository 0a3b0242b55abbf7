/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Procedures block by block, as text: every line of small ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "listing/code/source.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/listing/cycles/calcs.h"

static const char *print(const struct calc *c, struct vt_sources *sources, double cutoff,
			 bool color)
{
	struct vt_output out;

	print_begin(&out);
	vt_calc_print(&c->is, sources, cutoff, color, &out);
	return print_end(&out);
}

/* What stands below the headings. */
static void check_blocks(const struct calc *c, const char *want)
{
	const char *text = strstr(print(c, NULL, 0, false), " Culprit\n");

	assert_non_null(text);
	assert_string_equal(text + strlen(" Culprit\n"), want);
}

static void check_start(const char *text, const char *want)
{
	assert_non_null(text);
	assert_true(strlen(text) >= strlen(want));
	assert_memory_equal(text, want, strlen(want));
}

/* What a stall stands behind: as much as an address and 18 letters. */
#define PAD "                        "

/* ---- the head ---- */

/*
 * Addresses of 6 digits; instructions are 11 letters wide at least, samples 7. Of 100 samples, 60
 * and 30 have an estimate: 400 instructions took 1000 cycles.
 */
static void test_head(void **state)
{
	static const struct vt_freq few = {.samples = 7, .executions = 1, .cycles = 1};
	static const struct vt_freq many = {.samples = 123456789, .executions = 1, .cycles = 1};
	struct calc c;

	(void)state;
	calc_init(&c);
	c.is.sum = (struct vt_cyclesum){
		.samples = 100,
		.samples_at = {[VT_CONFIDENCE_HIGH] = 60, [VT_CONFIDENCE_MEDIUM] = 30},
		.executions = 400,
		.cycles = 1000,
		.timed = true,
		.best = 500,
		.schedule = true};
	assert_string_equal(
		print(&c, NULL, 0, false),
		"walk  /bin/prog\n"
		"*** Confidence  high 60.0%, medium 30.0%, low 0.0%, no estimate 10.0% of 100 "
		"samples\n"
		"*** Best-case   500/400 = 1.25CPI\n"
		"*** Actual      1000/400 = 2.50CPI\n"
		"\n  Addr  Instruction  Samples          CPI  Culprit\n");
	c.is.sum.samples_at[VT_CONFIDENCE_EXACT] = 0.5;
	assert_non_null(strstr(print(&c, NULL, 0, false), "*** Confidence  exact 0.5%, high 60"));
	/* In colour; longer ones; and a graph with holes. */
	calc_init(&c);
	c.image.path = "/bin/a\tb";
	c.cfg.complete = false;
	c.cfg.end = 0x10000000;
	calc_block(&c, 0x401000);
	calc_insn(&c, 0x401000, "nop", &few);
	calc_insn(&c, 0x401001, "leave %rax,1", &many);
	calc_insn(&c, 0x401002, "ret", &few);
	assert_string_equal(
		print(&c, NULL, 0, true),
		"\033[1mwalk  /bin/a\\tb\033[0m\n"
		"*** Confidence  high 0.0%, medium 0.0%, low 0.0%, no estimate 0.0% of the cycles\n"
		"*** The flow graph is not complete.\n"
		"\n    Addr  Instruction     Samples          CPI  Culprit\n"
		"\n*** Block 1 of 1, 0.0% of the cycles\n\n"
		"00401000  nop                   7         1.0cy\n"
		"00401001  leave %rax,1  123456789         1.0cy\n"
		"00401002  ret                   7         1.0cy\n");
	c.is.image = NULL;
	c.cfg.end = 0xfffffff;
	check_start(print(&c, NULL, 0, false), "walk\n***");
}

/* Instructions of more than 52 letters stick out; a letter that is not told in one byte is one. */
static void test_wide(void **state)
{
	static const char wide[] = "12345678901234567890123456789012345678901234567890123";
	static const struct vt_freq f = {.samples = 7, .executions = 1, .cycles = 1};
	struct calc c;

	(void)state;
	calc_init(&c);
	calc_block(&c, 0x401000);
	calc_insn(&c, 0x401000, "n\xc3\xb6p", &f);
	calc_insn(&c, 0x401001, wide + 1, &f);
	calc_insn(&c, 0x401002, wide, &f);
	check_blocks(&c, "\n*** Block 1 of 1, 0.0% of the cycles\n\n"
			 "401000  n\xc3\xb6p                                                 "
			 "        7         1.0cy\n"
			 "401001  2345678901234567890123456789012345678901234567890123"
			 "        7         1.0cy\n"
			 "401002  12345678901234567890123456789012345678901234567890123"
			 "        7         1.0cy\n");
}

/* ---- blocks ---- */

static void test_frequency(void **state)
{
	static const struct {
		double n, low, high;
		enum vt_confidence confidence;
		const char *want;
	} rows[] = {
		{100, 100, 100, VT_CONFIDENCE_HIGH, "100 times, high confidence"},
		{100, 90, 100, VT_CONFIDENCE_MEDIUM, "100 times (90 to 100), medium confidence"},
		{100, 100, 110, VT_CONFIDENCE_LOW, "100 times (100 to 110), low confidence"},
		{100, 90, INFINITY, VT_CONFIDENCE_LOW, "100 times (90 or more), low confidence"},
		{100, 100, 100, VT_CONFIDENCE_EXACT, "100 times, counted exactly"},
		{1, 1, 1, VT_CONFIDENCE_HIGH, "1 time, high confidence"},
		{0.6, 0.6, 0.6, VT_CONFIDENCE_HIGH, "1 time, high confidence"},
		{1.4, 1.4, 1.4, VT_CONFIDENCE_HIGH, "1 time, high confidence"},
		{0.5, 0.5, 0.5, VT_CONFIDENCE_HIGH, "0 times, high confidence"},
		{1.5, 1.5, 1.5, VT_CONFIDENCE_HIGH, "2 times, high confidence"},
	};
	struct calc c;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct vt_freq f = {.executions = rows[i].n,
					  .low = rows[i].low,
					  .high = rows[i].high,
					  .confidence = rows[i].confidence};
		char want[64];
		const char *text;

		calc_init(&c);
		calc_block(&c, 0x401000)->freq = &f;
		snprintf(want, sizeof(want), ": executed %s\n", rows[i].want);
		text = strstr(print(&c, NULL, 0, false), ": executed");
		check_start(text, want);
	}
}

/*
 * Three blocks: 750 of 1000 cycles and 300 executions of instructions in 100 of the block, at best
 * 450; 250 cycles; one that is not executed.
 */
static void test_block(void **state)
{
	static const struct vt_freq f = {
		.executions = 100, .low = 100, .high = 100, .confidence = VT_CONFIDENCE_HIGH};
	static const struct vt_freq never = {.confidence = VT_CONFIDENCE_EXACT};
	static const struct vt_edgefreq taken = {.executions = 59.6,
						 .confidence = VT_CONFIDENCE_LOW};
	static const struct vt_edgefreq exact = {.executions = 40,
						 .confidence = VT_CONFIDENCE_EXACT};
	struct vt_calc_block *b;
	struct calc c;

	(void)state;
	calc_init(&c);
	c.is.sum.cycles = 1000;
	b = calc_block(&c, 0x401000);
	b->freq = &f;
	b->sum = (struct vt_cyclesum){
		.executions = 300, .cycles = 750, .timed = true, .best = 450, .schedule = true};
	b = calc_block(&c, 0x401010);
	b->freq = &f;
	b->sum = (struct vt_cyclesum){.executions = 200, .cycles = 250, .timed = true};
	calc_block(&c, 0x401020)->freq = &never;
	calc_block(&c, 0x401030);
	calc_edge(&c, VT_CFG_ENTRY, 2, NULL);
	calc_edge(&c, 2, 3, &taken);
	calc_edge(&c, 2, VT_CFG_EXIT, &exact);
	calc_edge(&c, 2, 4, NULL);
	calc_edge(&c, 3, 4, NULL);
	c.cfg_blocks[3].incomplete = true;
	c.cfg_blocks[4].incomplete = true;
	check_blocks(&c, "\n*** Block 1 of 4, 75.0% of the cycles: executed 100 times, high "
			 "confidence\n"
			 "*** Best-case   4.5/3 = 1.50CPI\n"
			 "*** Actual      7.5/3 = 2.50CPI\n"
			 "*** Next        401010 60 (low), exit 40 (exact), 401020\n\n"
			 "\n*** Block 2 of 4, 25.0% of the cycles: executed 100 times, high "
			 "confidence\n"
			 "*** Actual      2.5/2 = 1.25CPI\n"
			 "*** Next        401020, and perhaps elsewhere\n\n"
			 "\n*** Block 3 of 4, 0.0% of the cycles: executed 0 times, counted "
			 "exactly\n"
			 "*** Next        and perhaps elsewhere\n\n"
			 "\n*** Block 4 of 4, 0.0% of the cycles\n\n");
}

/* Blocks below the cutoff are counted, one at it is not. */
static void test_cutoff(void **state)
{
	static const double cycles[] = {600, 300, 60, 40};
	struct calc c;
	unsigned i;

	(void)state;
	calc_init(&c);
	c.is.sum.cycles = 1000;
	for (i = 0; i < 4; i++)
		calc_block(&c, 0x401000 + i)->sum.cycles = cycles[i];
	assert_string_equal(strstr(print(&c, NULL, 30, false), "\n*** Block"),
			    "\n*** Block 1 of 4, 60.0% of the cycles\n\n"
			    "\n*** Block 2 of 4, 30.0% of the cycles\n\n"
			    "\n*** 2 blocks of less than 30%, 10.0% of the cycles together\n");
	assert_string_equal(strstr(print(&c, NULL, 5.5, false), "\n*** Block 3"),
			    "\n*** Block 3 of 4, 6.0% of the cycles\n\n"
			    "\n*** 1 block of less than 5.5%, 4.0% of the cycles together\n");
	c.is.sum.cycles = 0;
	assert_string_equal(strstr(print(&c, NULL, 0, false), "\n*** Block 4"),
			    "\n*** Block 4 of 4, 0.0% of the cycles\n\n");
}

/* ---- source ---- */

static const struct {
	const char *file;
	unsigned line;
} lines[] = {{"/no/such/x.c", 0}, {"a.c", 2}, {"a.c", 2}, {"a.c", 1}, {"b.c", 2},
	     {"a.c", 3},	  {"a.c", 2}, {"a.c", 4}, {"a.c", 5}, {"a.c", 6}};

static void put_lines(struct calc *c, unsigned n)
{
	unsigned i;

	calc_init(c);
	calc_block(c, 0x401000);
	for (i = 0; i < n; i++) {
		struct vt_calc_insn *insn = calc_insn(c, 0x401000 + i, "nop", NULL);

		insn->file = lines[i].file;
		insn->line = lines[i].line;
	}
}

static void test_source(void **state)
{
	static char file[512];
	char *dir = toolbox_dir();
	const char *dirs[] = {dir};
	struct vt_sources *sources = vt_sources_new(dirs, 1);
	const char *text;
	struct calc c;

	(void)state;
	/* The third line has 100 letters behind its blanks, the fourth 101. */
	snprintf(file, sizeof(file), " \tfirst();\nsecond\t();\n \t%0100d\n%0101d\n\t\nsix\n", 3,
		 4);
	toolbox_write(dir, "a.c", file);
	toolbox_write(dir, "b.c", "x\nof b\n");
	put_lines(&c, 9);
	text = strstr(print(&c, sources, 0, false), "*** Source");
	snprintf(file, sizeof(file),
		 "*** Source      a.c:2  second\\t();\n"
		 "***             a.c:1  first();\n"
		 "***             b.c:2  of b\n"
		 "***             a.c:3  %0100d\n"
		 "***             a.c:4  %0100d...\n"
		 "***             a.c:5\n\n"
		 "401000  nop\n",
		 3, 0);
	check_start(text, file);
	/* One more. */
	put_lines(&c, 10);
	text = strstr(print(&c, sources, 0, false), "a.c:5\n");
	check_start(text, "a.c:5\n***             ...\n\n401000");
	/* The fourth line again is none more. */
	c.insns[9].line = 3;
	text = strstr(print(&c, sources, 0, false), "a.c:5\n");
	check_start(text, "a.c:5\n\n401000");
	/* Where there is no text, the first line alone. */
	put_lines(&c, 9);
	c.insns[1].file = "/src/no\\such.c";
	text = strstr(print(&c, sources, 0, false), "*** Source");
	check_start(text, "*** Source      no\\\\such.c:2\n\n401000");
	text = strstr(print(&c, NULL, 0, false), "*** Source");
	check_start(text, "*** Source      no\\\\such.c:2\n\n401000");
	c.cfg.ninsns = c.cfg_blocks[2].ninsns = 1;
	assert_null(strstr(print(&c, sources, 0, false), "*** Source"));
	vt_sources_free(sources);
	toolbox_remove(dir);
}

/* ---- instructions ---- */

#define BLOCK "\n*** Block 1 of 1, 0.0% of the cycles\n\n"
#define NOP   "401000  nop                7"

/* One instruction of these samples, with the cycles that are shown. */
static void test_cycles(void **state)
{
	static const struct {
		struct vt_freq f;
		const char *want;
	} rows[] = {
		{{.samples = 0}, "0              "},
		{{.samples = 5}, "5             ?"},
		{{.samples = 5, .executions = 1, .cycles = NAN}, "5             ?"},
		{{.samples = 5, .executions = 1, .cycles = INFINITY}, "5             ?"},
		{{.samples = 5, .executions = 1, .cycles = 0.04, .issue = 0.04}, "5  (same cycle)"},
		{{.samples = 5, .executions = 1, .cycles = 0.04, .issue = NAN}, "5  (same cycle)"},
		{{.samples = 5, .executions = 1, .cycles = 0.04, .issue = 0.05}, "5         0.0cy"},
		{{.samples = 5, .executions = 1, .cycles = 0.05, .issue = 0.04}, "5         0.1cy"},
		{{.samples = 5, .executions = 1, .cycles = 12.25, .issue = 1}, "5        12.2cy"},
	};
	struct calc c;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char want[256];

		calc_init(&c);
		calc_block(&c, 0x401000);
		calc_insn(&c, 0x401000, "nop", &rows[i].f);
		snprintf(want, sizeof(want), "%s401000  nop                %s\n", BLOCK,
			 rows[i].want);
		check_blocks(&c, want);
	}
	/* Nothing is known of it. */
	c.insns[0].freq = NULL;
	check_blocks(&c, BLOCK "401000  nop\n");
	c.is.sum.cycles = 1;
	assert_non_null(strstr(print(&c, NULL, 0, true), "\n401000  nop\n"));
}

/* A number of culprits from 0x401008 on, 8 bytes apart; an own one each for `other`. */
static struct vt_stall blame(enum vt_stall_cause cause, double high, uint32_t n, bool other)
{
	static uint64_t culprits[] = {0x1008, 0x1010, 0x1018, 0x1020, 0x1028, 0x1030, 0x1038},
			others[] = {0x1010, 0x1010, 0x1020};

	return (struct vt_stall){.cause = cause,
				 .low = high,
				 .high = high,
				 .culprits = other ? others : culprits,
				 .nculprits = n};
}

static void test_culprits(void **state)
{
	/* So many that the stalls are too short to be seen. */
	static const struct vt_freq f = {.samples = 7, .executions = 1e6, .cycles = 1};
	const struct {
		struct vt_stall stalls[3];
		const char *want;
	} rows[] = {
		{{blame(VT_STALL_DCACHE, 1, 1, false)}, " 401008"},
		{{blame(VT_STALL_DCACHE, 1, 2, false)}, " 401008,401010"},
		{{blame(VT_STALL_DCACHE, 1, 6, false)},
		 " 401008,401010,401018,401020,401028,401030"},
		{{blame(VT_STALL_DCACHE, 1, 7, false)},
		 " 401008,401010,401018,401020,401028,401030,..."},
		{{blame(VT_STALL_DCACHE, 1, 0, false), blame(VT_STALL_DTLB, 1, 0, false)}, ""},
		{{blame(VT_STALL_DCACHE, 0, 1, false), blame(VT_STALL_DTLB, 1, 1, true),
		  blame(VT_NSTALLS, 1, 1, false)},
		 " 401010"},
		{{blame(VT_STALL_DCACHE, 1, 1, true), blame(VT_STALL_DTLB, 1, 1, true),
		  blame(VT_STALL_UNIT, 1, 0, true)},
		 " 401010"},
		{{blame(VT_STALL_DCACHE, 1, 1, false), blame(VT_STALL_DTLB, 1, 1, true)},
		 " d:401008 D:401010"},
		{{blame(VT_STALL_DCACHE, 1, 1, false), blame(VT_STALL_ICACHE, 1, 0, true),
		  blame(VT_STALL_DTLB, 1, 2, false)},
		 " d:401008 D:401008,401010"},
		{{blame(VT_STALL_DCACHE, 1, 3, true), blame(VT_STALL_DTLB, 1, 3, true)},
		 " 401010,401010,401020"},
		{{blame(VT_STALL_DCACHE, 1, 1, true), blame(VT_STALL_ICACHE, 1, 1, true),
		  blame(VT_STALL_DTLB, 1, 1, false)},
		 " d:401010 i:401010 D:401008"},
	};
	struct calc c;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_calc_insn *insn;
		char want[256];

		calc_init(&c);
		c.is.base = 0x400000;
		calc_block(&c, 0x401000);
		insn = calc_insn(&c, 0x401000, "nop", &f);
		insn->stalls = rows[i].stalls;
		insn->nstalls = 3;
		snprintf(want, sizeof(want), "%s%s         1.0cy%s\n", BLOCK, NOP, rows[i].want);
		check_blocks(&c, want);
	}
}

/* ---- stalls ---- */

/* Of 100 executions with 6 cycles each, 1 of which the schedule needs. */
static const struct vt_freq six = {.samples = 7, .executions = 100, .cycles = 6, .issue = 1};

#define SIX NOP "         6.0cy\n"

/* A line for each half cycle that an execution stalls, rounded. */
static void test_half_cycles(void **state)
{
	static const struct {
		double low, high;
		unsigned lines;
	} rows[] = {{0, 0, 0},	   {24, 24.9, 0}, {25, 25, 1},	 {0, 50, 1},
		    {74, 74.9, 1}, {75, 75, 2},	  {175, 175, 4}, {200, 249, 4}};
	struct vt_calc_insn *insn;
	struct calc c;
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct vt_stall s = {
			.cause = VT_STALL_OPERAND_A, .low = rows[i].low, .high = rows[i].high};
		char want[512] = BLOCK;

		calc_init(&c);
		calc_block(&c, 0x401000);
		insn = calc_insn(&c, 0x401000, "nop", &six);
		insn->stalls = &s;
		insn->nstalls = 1;
		for (k = 0; k < rows[i].lines; k++)
			strcat(want, k ? PAD "a\n" : PAD "a  (a = Ra dependency)\n");
		strcat(want, SIX);
		check_blocks(&c, want);
	}
}

/* A cycle of stall in half an execution is two of each. */
static void test_rare(void **state)
{
	static const struct vt_freq f = {.samples = 7, .executions = 0.5, .cycles = 6, .issue = 1};
	static const struct vt_stall s = {.cause = VT_STALL_OPERAND_A, .low = 1, .high = 1};
	struct vt_calc_insn *insn;
	struct calc c;

	(void)state;
	calc_init(&c);
	calc_block(&c, 0x401000);
	insn = calc_insn(&c, 0x401000, "nop", &f);
	insn->stalls = &s;
	insn->nstalls = 1;
	check_blocks(&c, BLOCK PAD "a  (a = Ra dependency)\n" PAD "a\n" PAD "a\n" PAD "a\n" SIX);
}

/* Longer ones: how many cycles the instruction takes, or the static stall, all in all. */
static void test_long(void **state)
{
	static const struct vt_stall fixed = {.cause = VT_STALL_OPERAND_B, .low = 225, .high = 225};
	static const struct vt_stall one = {.cause = VT_STALL_DCACHE, .low = 225, .high = 225};
	static const struct vt_stall three[] = {
		{.cause = VT_STALL_DCACHE, .low = 0, .high = 300},
		{.cause = VT_STALL_DTLB, .low = 0, .high = 400},
		{.cause = VT_STALL_FORWARD, .low = 0, .high = 350},
	};
	struct vt_calc_insn *insn;
	struct calc c;

	(void)state;
	calc_init(&c);
	calc_block(&c, 0x401000);
	insn = calc_insn(&c, 0x401000, "nop", &six);
	insn->stalls = &fixed;
	insn->nstalls = 1;
	insn = calc_insn(&c, 0x401000, "nop", &six);
	insn->stalls = &one;
	insn->nstalls = 1;
	/* What several share: all but the cycle of the schedule. */
	insn = calc_insn(&c, 0x401000, "nop", &six);
	insn->stalls = three;
	insn->nstalls = 3;
	check_blocks(&c, BLOCK PAD "b  (b = Rb dependency)\n" PAD "b ... 2.2cy\n" PAD "b\n" SIX PAD
				   "d  (d = D-cache miss)\n" PAD "d ... 6.0cy\n" PAD "d\n" SIX PAD
				   "Dfd  (D = DTB miss)\n" PAD "Dfd ... 6.0cy\n" PAD
				   "Dfd  (f = store forwarding)\n" SIX);
}

/* The letters are explained once each, one a line, those that are left on the last. */
static void test_letters(void **state)
{
	static const struct vt_freq f = {.samples = 7, .executions = 100, .cycles = 2, .issue = 1};
	static const struct vt_stall first[] = {
		{.cause = VT_STALL_ITLB, .low = 0, .high = 60},
		{.cause = VT_STALL_GAIN, .low = 10, .high = 900},
		{.cause = VT_STALL_DCACHE, .low = 0, .high = 100},
		{.cause = VT_STALL_ICACHE, .low = 0, .high = 70},
		{.cause = VT_STALL_ITLB, .low = 0, .high = 60},
		{.cause = VT_STALL_OPERAND_C, .low = 50, .high = 50},
		{.cause = VT_NSTALLS, .low = 50, .high = 500},
		{.cause = VT_STALL_DTLB, .low = 0, .high = 0},
		{.cause = VT_STALL_ICACHE, .low = 0, .high = 30},
		{.cause = VT_STALL_FORWARD, .low = 0, .high = 10},
	};
	static const struct vt_stall second[] = {
		{.cause = VT_STALL_DTLB, .low = 10, .high = 50},
		{.cause = VT_STALL_ITLB, .low = 10, .high = 100},
		{.cause = VT_STALL_SYNC, .low = 10, .high = 20},
	};
	struct vt_calc_insn *insn;
	struct calc c;

	(void)state;
	calc_init(&c);
	calc_block(&c, 0x401000);
	insn = calc_insn(&c, 0x401000, "nop", &f);
	insn->stalls = first;
	insn->nstalls = 10;
	insn = calc_insn(&c, 0x401000, "nop", &f);
	insn->stalls = second;
	insn->nstalls = 3;
	/* Equal ones in the order in which they are told: I 120, d and i 100, f 10; 1 cycle. */
	check_blocks(&c, BLOCK PAD "c  (c = Rc dependency)\n" PAD "Idif  (I = ITB miss)\n" PAD
				   "Idif  (d = D-cache miss, i = I-cache miss, f = store "
				   "forwarding)\n" NOP "         2.0cy\n" PAD
				   "IDy  (D = DTB miss)\n" PAD "IDy  (y = synchronization)\n" NOP
				   "         2.0cy\n");
	/* Nothing is known of executions, or of stalls. */
	calc_init(&c);
	calc_block(&c, 0x401000);
	insn = calc_insn(&c, 0x401000, "nop", NULL);
	insn->stalls = second;
	insn->nstalls = 3;
	check_blocks(&c, BLOCK "401000  nop\n");
	insn->freq = &(const struct vt_freq){.samples = 7, .executions = 0, .cycles = 2};
	check_blocks(&c, BLOCK NOP "             ?\n");
	insn->freq = &f;
	insn->stalls = first + 7;
	insn->nstalls = 1;
	check_blocks(&c, BLOCK NOP "         2.0cy\n");
}

/* Those that share its cycles together; what is gained is none, nor what nobody can count. */
static void test_dynamic(void **state)
{
	static const struct vt_stall gain[] = {
		{.cause = VT_STALL_GAIN, .low = 40, .high = 60},
		{.cause = VT_STALL_DCACHE, .low = 200, .high = 200},
		{.cause = VT_STALL_OPERAND_A, .low = 90, .high = 90},
	};
	static const struct vt_stall endless = {
		.cause = VT_STALL_DCACHE, .low = 1e308, .high = 1e308};
	static const struct vt_freq rare = {.executions = 1e-300, .cycles = 1};
	struct vt_calc_insn insn = {.stalls = gain, .nstalls = 3};

	(void)state;
	assert_float_equal(vt_calc_dynamic(&insn), 0, 0);
	insn.freq = &(const struct vt_freq){.executions = 0, .cycles = 6};
	assert_float_equal(vt_calc_dynamic(&insn), 0, 0);
	insn.freq = &six;
	assert_float_equal(vt_calc_dynamic(&insn), 2, 1e-9);
	insn.nstalls = 1;
	assert_float_equal(vt_calc_dynamic(&insn), 0, 1e-9);
	insn.stalls = &endless;
	insn.freq = &rare;
	assert_float_equal(vt_calc_dynamic(&insn), 0, 0);
}

/* Of 10,000 cycles, 2 and 10 percent stand out: of an instruction, and of its stall. */
static void test_colors(void **state)
{
	static const struct vt_freq f[] = {{.samples = 7, .executions = 100, .cycles = 1.99},
					   {.samples = 7, .executions = 100, .cycles = 2},
					   {.samples = 7, .executions = 100, .cycles = 9.99},
					   {.samples = 7, .executions = 100, .cycles = 10}};
	static const struct vt_stall stalls[] = {
		{.cause = VT_STALL_OPERAND_A, .low = 199, .high = 199},
		{.cause = VT_STALL_OPERAND_A, .low = 200, .high = 200},
		{.cause = VT_STALL_DCACHE, .low = 200, .high = 200},
		{.cause = VT_STALL_DCACHE, .low = 1000, .high = 1000},
	};
	struct calc c;
	unsigned i;

	(void)state;
	calc_init(&c);
	c.is.sum.cycles = 10000;
	calc_block(&c, 0x401000);
	for (i = 0; i < 4; i++) {
		struct vt_calc_insn *insn = calc_insn(&c, 0x401000, "nop", &f[i]);

		insn->stalls = &stalls[i];
		insn->nstalls = 1;
	}
	calc_insn(&c, 0x401000, "nop", NULL);
	assert_string_equal(strstr(print(&c, NULL, 0, true), "\n" PAD),
			    "\n" PAD "a  (a = Ra dependency)\n" PAD "a\n" PAD "a\n" PAD "a\n" NOP
			    "         2.0cy\n" PAD "\033[33ma\033[0m\n" PAD "\033[33ma\033[0m\n" PAD
			    "\033[33ma\033[0m\n" PAD "\033[33ma\033[0m\n"
			    "\033[33m" NOP "         2.0cy\033[0m\n" PAD
			    "\033[33md  (d = D-cache miss)\033[0m\n" PAD "\033[33md\033[0m\n" PAD
			    "\033[33md\033[0m\n" PAD "\033[33md\033[0m\n"
			    "\033[33m" NOP "        10.0cy\033[0m\n" PAD "\033[1;31md\033[0m\n" PAD
			    "\033[1;31md ... 10.0cy\033[0m\n" PAD "\033[1;31md\033[0m\n"
			    "\033[1;31m" NOP "        10.0cy\033[0m\n"
			    "401000  nop\n");
	/* Without colour, and without cycles to compare with. */
	assert_null(strchr(print(&c, NULL, 0, false), '\033'));
	c.is.sum.cycles = 0;
	check_start(strrchr(print(&c, NULL, 0, true), '\033'), "\033[0m\n*** Confidence");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),	  cmocka_unit_test(test_wide),
		cmocka_unit_test(test_frequency), cmocka_unit_test(test_block),
		cmocka_unit_test(test_cutoff),	  cmocka_unit_test(test_source),
		cmocka_unit_test(test_cycles),	  cmocka_unit_test(test_culprits),
		cmocka_unit_test(test_rare),	  cmocka_unit_test(test_half_cycles),
		cmocka_unit_test(test_long),	  cmocka_unit_test(test_letters),
		cmocka_unit_test(test_dynamic),	  cmocka_unit_test(test_colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
