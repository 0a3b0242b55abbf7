/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where cycles went: sums of a few instructions, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "listing/cycles/cycles.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

/* Executions, cycles and those of the schedule, each; what it lost altogether. */
static const struct {
	double executions, cycles, issue;
	struct vt_stall stalls[3];
	unsigned nstalls;
	double all, best, fixed, execution, dynamic, error;
	bool schedule;
} rows[] = {
	/* 50 cycles lost as scheduled, 250 to the cache, 50 to nobody knows what. */
	{100,
	 5,
	 2,
	 {{.cause = VT_STALL_SLOTTING, .low = 50, .high = 50},
	  {.cause = VT_STALL_DCACHE, .low = 250, .high = 250}},
	 2,
	 500,
	 200,
	 50,
	 150,
	 250,
	 50,
	 true},
	/* What several causes share is all that the schedule does not explain, or the longest. */
	{100,
	 5,
	 2,
	 {{.cause = VT_STALL_DCACHE, .low = 0, .high = 250},
	  {.cause = VT_STALL_DTLB, .low = 20, .high = 200}},
	 2,
	 500,
	 200,
	 0,
	 200,
	 300,
	 0,
	 true},
	{100,
	 5,
	 NAN,
	 {{.cause = VT_STALL_DCACHE, .low = 0, .high = 250},
	  {.cause = VT_STALL_DTLB, .low = 20, .high = 200}},
	 2,
	 500,
	 250,
	 0,
	 250,
	 250,
	 0,
	 false},
	/* At least their lower bounds together. */
	{100,
	 5,
	 NAN,
	 {{.cause = VT_STALL_DCACHE, .low = 150, .high = 160},
	  {.cause = VT_STALL_DTLB, .low = 140, .high = 150}},
	 2,
	 500,
	 210,
	 0,
	 210,
	 290,
	 0,
	 false},
	/* No longer than the instruction. */
	{100,
	 5,
	 NAN,
	 {{.cause = VT_STALL_DCACHE, .low = 10, .high = INFINITY}},
	 1,
	 500,
	 0,
	 0,
	 0,
	 500,
	 0,
	 false},
	/* Less time than scheduled, of whatever sign. */
	{100,
	 1.5,
	 2,
	 {{.cause = VT_STALL_GAIN, .low = 40, .high = 60}},
	 1,
	 150,
	 200,
	 0,
	 200,
	 -50,
	 0,
	 true},
	{100,
	 1.5,
	 2,
	 {{.cause = VT_STALL_GAIN, .low = -40, .high = -60}},
	 1,
	 150,
	 200,
	 0,
	 200,
	 -50,
	 0,
	 true},
	/* Without a schedule, what is gained is what the best case has more. */
	{100,
	 1.5,
	 NAN,
	 {{.cause = VT_STALL_GAIN, .low = -40, .high = -60}},
	 1,
	 150,
	 200,
	 0,
	 200,
	 -50,
	 0,
	 false},
	/* A static stall in a range counts with its middle. */
	{100,
	 3,
	 2,
	 {{.cause = VT_STALL_OPERAND_A, .low = 20, .high = 40}},
	 1,
	 300,
	 200,
	 30,
	 170,
	 0,
	 100,
	 true},
	/* What makes no sense is left out. */
	{100,
	 3,
	 2,
	 {{.cause = VT_STALL_DCACHE, .low = NAN, .high = 9}},
	 1,
	 300,
	 200,
	 0,
	 200,
	 0,
	 100,
	 true},
	{100,
	 3,
	 2,
	 {{.cause = VT_NSTALLS, .low = 9, .high = 9}},
	 1,
	 300,
	 200,
	 0,
	 200,
	 0,
	 100,
	 true},
	{NAN, 3, 2, {{.low = 0}}, 0, 0, 0, 0, 0, 0, 0, true},
	{-1, 3, 2, {{.low = 0}}, 0, 0, 0, 0, 0, 0, 0, true},
	{100, NAN, 2, {{.low = 0}}, 0, 0, 200, 0, 200, 0, -200, true},
	/* 50 and 30 cycles lost as scheduled. */
	{100,
	 5,
	 2,
	 {{.cause = VT_STALL_SLOTTING, .low = 50, .high = 50},
	  {.cause = VT_STALL_OPERAND_A, .low = 30, .high = 30}},
	 2,
	 500,
	 200,
	 80,
	 120,
	 0,
	 300,
	 true},
};

static struct vt_freq freq(unsigned row)
{
	return (struct vt_freq){.samples = 10,
				.executions = rows[row].executions,
				.cycles = rows[row].cycles,
				.issue = rows[row].issue,
				.confidence = VT_CONFIDENCE_HIGH};
}

static void assert_near(double got, double want, const char *what, unsigned row)
{
	if (!(fabs(got - want) < 1e-9))
		fail_msg("row %u: %s %g, not %g", row, what, got, want);
}

static void test_instructions(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_cyclesum s = {.samples = 0};
		struct vt_freq f = freq(i);

		vt_cyclesum_insn(&s, &f, rows[i].stalls, rows[i].nstalls, true);
		assert_near(s.executions, rows[i].executions > 0 ? 100 : 0, "executions", i);
		assert_near(s.cycles, rows[i].all, "cycles", i);
		assert_near(s.best, rows[i].best, "best", i);
		assert_near(s.fixed, rows[i].fixed, "fixed", i);
		assert_near(s.execution, rows[i].execution, "execution", i);
		assert_near(s.dynamic, rows[i].dynamic, "dynamic", i);
		assert_near(s.error, rows[i].error, "error", i);
		assert_near(s.samples_at[VT_CONFIDENCE_HIGH], 10, "samples", i);
		assert_near(s.cycles_at[VT_CONFIDENCE_HIGH], rows[i].all, "cycles of high", i);
		assert_int_equal(s.schedule, rows[i].schedule);
		assert_int_equal(s.stalls, rows[i].nstalls &&
						   rows[i].stalls[0].low == rows[i].stalls[0].low &&
						   rows[i].stalls[0].cause < VT_NSTALLS);
		/* The same again is twice as much. */
		vt_cyclesum_insn(&s, &f, rows[i].stalls, rows[i].nstalls, true);
		assert_near(s.cycles, 2 * rows[i].all, "cycles", i);
		assert_near(s.best, 2 * rows[i].best, "best", i);
		assert_near(s.fixed, 2 * rows[i].fixed, "fixed", i);
		assert_near(s.execution, 2 * rows[i].execution, "execution", i);
		assert_near(s.dynamic, 2 * rows[i].dynamic, "dynamic", i);
		assert_near(s.error, 2 * rows[i].error, "error", i);
		assert_near(s.executions, rows[i].executions > 0 ? 200 : 0, "executions", i);
		assert_near(s.samples_at[VT_CONFIDENCE_HIGH], 20, "samples", i);
		assert_near(s.cycles_at[VT_CONFIDENCE_HIGH], 2 * rows[i].all, "cycles of high", i);
	}
}

/* Less than one execution, and less than a cycle. */
static void test_little(void **state)
{
	const struct vt_stall stall = {.cause = VT_STALL_DCACHE, .low = 0, .high = 0.5};
	const struct vt_freq f = {.executions = 0.5, .cycles = 1.5, .issue = NAN};
	struct vt_cyclesum s = {.samples = 0};

	(void)state;
	vt_cyclesum_insn(&s, &f, &stall, 1, true);
	assert_near(s.executions, 0.5, "executions", 0);
	assert_near(s.cycles, 0.75, "cycles", 0);
	assert_near(s.dynamic, 0.5, "dynamic", 0);
	assert_near(s.best, 0.25, "best", 0);
}

static void test_causes(void **state)
{
	struct vt_cyclesum s = {.samples = 0};
	struct vt_freq f = freq(1);

	(void)state;
	vt_cyclesum_insn(&s, &f, rows[1].stalls, 2, true);
	vt_cyclesum_insn(&s, &f, rows[1].stalls, 1, true);
	assert_near(s.low[VT_STALL_DCACHE], 0, "low", 0);
	assert_near(s.high[VT_STALL_DCACHE], 500, "high", 0);
	assert_near(s.low[VT_STALL_DTLB], 20, "low", 1);
	assert_near(s.high[VT_STALL_DTLB], 200, "high", 1);
	f = freq(5);
	vt_cyclesum_insn(&s, &f, rows[5].stalls, 1, true);
	assert_near(s.low[VT_STALL_GAIN], -40, "low", 2);
	assert_near(s.high[VT_STALL_GAIN], -60, "high", 2);
	/* No confidence that is known. */
	f.confidence = VT_NCONFIDENCES;
	vt_cyclesum_insn(&s, &f, NULL, 0, true);
	assert_near(s.samples_at[VT_CONFIDENCE_NONE], 10, "samples", 0);
}

static void test_shares(void **state)
{
	struct vt_cyclesum s = {
		.samples = 100,
		.samples_at = {[VT_CONFIDENCE_NONE] = 5,
			       [VT_CONFIDENCE_LOW] = 15,
			       [VT_CONFIDENCE_HIGH] = 40},
		.cycles = 200,
		.cycles_at = {[VT_CONFIDENCE_NONE] = 50, [VT_CONFIDENCE_LOW] = 150}};

	(void)state;
	assert_near(vt_cyclesum_all(&s), 100, "all", 0);
	assert_near(vt_cyclesum_share(&s, VT_CONFIDENCE_NONE), 45, "none", 0);
	assert_near(vt_cyclesum_share(&s, VT_CONFIDENCE_LOW), 15, "low", 0);
	assert_near(vt_cyclesum_share(&s, VT_CONFIDENCE_HIGH), 40, "high", 0);
	/* More with an estimate than there are. */
	s.samples = 30;
	assert_near(vt_cyclesum_all(&s), 60, "all", 1);
	assert_near(vt_cyclesum_share(&s, VT_CONFIDENCE_LOW), 25, "low", 1);
	/* One sample is enough. */
	memset(s.samples_at, 0, sizeof(s.samples_at));
	s.samples = s.samples_at[VT_CONFIDENCE_HIGH] = 1;
	assert_near(vt_cyclesum_share(&s, VT_CONFIDENCE_LOW), 0, "low", 4);
	/* Of cycles, or of nothing. */
	memset(s.samples_at, 0, sizeof(s.samples_at));
	s.samples = 0;
	assert_near(vt_cyclesum_share(&s, VT_CONFIDENCE_LOW), 75, "low", 2);
	s.cycles = 0;
	assert_near(vt_cyclesum_share(&s, VT_CONFIDENCE_LOW), 0, "low", 3);
}

/* ---- for people ---- */

static void check_print(const struct vt_cyclesum *s, const char *want)
{
	struct vt_output out;

	print_begin(&out);
	vt_cyclesum_print(s, &out);
	assert_string_equal(print_end(&out), want);
}

#define LINE "*** ----------------------------------------\n"

static void test_print_cycles(void **state)
{
	const struct vt_cyclesum s = {.cycles = 200, .cycles_at = {[VT_CONFIDENCE_EXACT] = 200}};
	const struct vt_cyclesum few = {.samples = 1000, .samples_at = {[VT_CONFIDENCE_EXACT] = 5}};
	const struct vt_cyclesum one = {.executions = 1, .cycles = 3, .timed = true};
	const struct vt_cyclesum little = {
		.cycles = 1, .dynamic = 0.0007, .fixed = -0.0004, .stalls = true};
	struct vt_output out;
	const char *text;

	(void)state;
	print_begin(&out);
	vt_cyclesum_print_shares(&s, &out);
	assert_string_equal(print_end(&out),
			    "*** Confidence  exact 100.0%, high 0.0%, medium 0.0%, low 0.0%, no "
			    "estimate 0.0% of the cycles\n");
	print_begin(&out);
	vt_cyclesum_print_shares(&few, &out);
	assert_string_equal(print_end(&out),
			    "*** Confidence  exact 0.5%, high 0.0%, medium 0.0%, low 0.0%, no "
			    "estimate 99.5% of 1000 samples\n");
	print_begin(&out);
	vt_cyclesum_print_cpi(&one, &out);
	assert_string_equal(print_end(&out), "*** Actual      3/1 = 3.00CPI\n");
	/* 0.07 % of a cycle, and less than nothing by so little that it is nothing. */
	print_begin(&out);
	vt_cyclesum_print(&little, &out);
	text = print_end(&out);
	assert_non_null(strstr(text, "*** Subtotal dynamic                    0.1%\n"));
	assert_non_null(strstr(text, "*** Subtotal static                     0.0%\n"));
}

static void test_print(void **state)
{
	struct vt_cyclesum s = {.samples = 20};
	struct vt_freq f = freq(0);

	(void)state;
	check_print(&s,
		    "*** Confidence  high 0.0%, medium 0.0%, low 0.0%, no estimate 100.0% of 20 "
		    "samples\n"
		    "***\n"
		    "*** No cycles have been estimated here.\n");
	vt_cyclesum_insn(&s, &f, NULL, 0, true);
	check_print(&s,
		    "*** Confidence  high 50.0%, medium 0.0%, low 0.0%, no estimate 50.0% of 20 "
		    "samples\n"
		    "*** Best-case   200/100 = 2.00CPI\n"
		    "*** Actual      500/100 = 5.00CPI\n"
		    "***\n"
		    "***   (no stalls have been explained: vculprit does that)\n" LINE
		    "*** Subtotal dynamic                   60.0%\n"
		    "***\n" LINE "*** Subtotal static                     0.0%\n" LINE
		    "*** Total stall                        60.0%\n"
		    "*** Execution and static stalls        40.0%\n"
		    "*** Net sampling error                  0.0%\n" LINE
		    "*** Total tallied                     100.0%\n"
		    "***   (500 cycles, 50.0% of all samples)\n");
	s = (struct vt_cyclesum){.samples = 0};
	f.samples = 1;
	f.confidence = VT_CONFIDENCE_EXACT;
	vt_cyclesum_insn(&s, &f, rows[0].stalls, 2, true);
	check_print(&s,
		    "*** Confidence  exact 100.0%, high 0.0%, medium 0.0%, low 0.0%, no estimate "
		    "0.0% of 1 sample\n"
		    "*** Best-case   200/100 = 2.00CPI\n"
		    "*** Actual      500/100 = 5.00CPI\n"
		    "***\n"
		    "***   I-cache miss                 0.0% to    0.0%\n"
		    "***   ITB miss                     0.0% to    0.0%\n"
		    "***   D-cache miss                50.0% to   50.0%\n"
		    "***   DTB miss                     0.0% to    0.0%\n"
		    "***   write-buffer overflow        0.0% to    0.0%\n"
		    "***   store forwarding             0.0% to    0.0%\n"
		    "***\n"
		    "***   branch mispredict            0.0% to    0.0%\n"
		    "***   synchronization              0.0% to    0.0%\n"
		    "***   multiplier busy              0.0% to    0.0%\n"
		    "***   divider busy                 0.0% to    0.0%\n"
		    "***   unit busy                    0.0% to    0.0%\n"
		    "***   operand of unknown latency   0.0% to    0.0%\n"
		    "***   queue or registers full      0.0% to    0.0%\n"
		    "***   other                        0.0% to    0.0%\n"
		    "***\n"
		    "***   unexplained stall            0.0% to    0.0%\n"
		    "***   unexplained gain             0.0% to    0.0%\n" LINE
		    "*** Subtotal dynamic                   50.0%\n"
		    "***\n"
		    "***   slotting hazard                        10.0%\n"
		    "***   Ra dependency                           0.0%\n"
		    "***   Rb dependency                           0.0%\n"
		    "***   Rc dependency                           0.0%\n"
		    "***   FU dependency                           0.0%\n" LINE
		    "*** Subtotal static                    10.0%\n" LINE
		    "*** Total stall                        60.0%\n"
		    "*** Execution                          30.0%\n"
		    "*** Net sampling error                 10.0%\n" LINE
		    "*** Total tallied                     100.0%\n"
		    "***   (500 cycles, 100.0% of all samples)\n");
}

/*
 * 500 cycles of which the schedule explains 200, twice, and 250 with a stall of 150: what is not
 * judged may have any cause that is looked for, and is a dynamic stall of some sort.
 */
static void test_not_judged(void **state)
{
	const struct vt_stall stall = {.cause = VT_STALL_DCACHE, .low = 50, .high = 900};
	const struct vt_freq f = {.executions = 100, .cycles = 5, .issue = 2};
	const struct vt_freq small = {.executions = 100, .cycles = 2.5, .issue = 1};
	struct vt_cyclesum s = {.samples = 0};
	const char *text;
	struct vt_output out;

	(void)state;
	vt_cyclesum_insn(&s, &f, NULL, 0, false);
	vt_cyclesum_insn(&s, &f, NULL, 0, true);
	assert_near(s.not_judged, 300, "not judged", 0);
	assert_near(s.error, 300, "error", 0);
	/* Nobody has looked for stalls yet. */
	assert_near(vt_cyclesum_not_judged(&s), 0, "not judged", 1);
	assert_near(vt_cyclesum_dynamic(&s), 600, "dynamic", 1);
	assert_near(vt_cyclesum_error(&s), 0, "error", 1);
	/* Its own stall is judged in any case. */
	vt_cyclesum_insn(&s, &small, &stall, 1, false);
	assert_near(vt_cyclesum_not_judged(&s), 300, "not judged", 2);
	assert_near(vt_cyclesum_dynamic(&s), 450, "dynamic", 2);
	assert_near(vt_cyclesum_error(&s), 300, "error", 2);
	assert_near(vt_cyclesum_high(&s, VT_STALL_ICACHE), 300, "icache", 2);
	assert_near(vt_cyclesum_high(&s, VT_STALL_OTHER), 300, "other", 2);
	assert_near(vt_cyclesum_high(&s, VT_STALL_DCACHE), 1200, "dcache", 2);
	assert_near(vt_cyclesum_high(&s, VT_STALL_GAIN), 0, "gain", 2);
	assert_near(vt_cyclesum_high(&s, VT_STALL_UNEXPLAINED), 0, "unexplained", 2);
	assert_near(vt_cyclesum_high(&s, VT_STALL_SLOTTING), 0, "slotting", 2);
	s.high[VT_STALL_DCACHE] = 1000;
	assert_near(vt_cyclesum_high(&s, VT_STALL_DCACHE), 1250, "no more than all", 2);
	print_begin(&out);
	vt_cyclesum_print(&s, &out);
	text = print_end(&out);
	assert_non_null(strstr(text, "***   D-cache miss                 4.0% to  100.0%\n"));
	assert_non_null(strstr(text, "***   I-cache miss                 0.0% to   24.0%\n"));
	assert_non_null(strstr(text, "***   not judged: too uncertain              24.0%\n"));
	assert_non_null(strstr(text, "*** Subtotal dynamic                   36.0%\n"));
	assert_non_null(strstr(text, "*** Net sampling error                 24.0%\n"));
	/* Fewer cycles than the schedule has are chance. */
	s.not_judged = -100;
	assert_near(vt_cyclesum_not_judged(&s), 0, "not judged", 3);
	assert_near(vt_cyclesum_dynamic(&s), 150, "dynamic", 3);
	assert_near(vt_cyclesum_error(&s), 200, "error", 3);
	assert_near(vt_cyclesum_high(&s, VT_STALL_ICACHE), 0, "icache", 3);
	print_begin(&out);
	vt_cyclesum_print(&s, &out);
	assert_null(strstr(print_end(&out), "not judged"));
}

/* ---- ranges ---- */

static void put_stall(struct vt_writer *w, uint64_t offset, double low, double high)
{
	uint64_t *row = vt_writer_row(w, VT_STALL);

	row[VT_STALL_IMAGE] = 1;
	row[VT_STALL_OFFSET] = offset;
	row[VT_STALL_CAUSE] = VT_STALL_DCACHE;
	memcpy(&row[VT_STALL_LOW], &low, sizeof(low));
	memcpy(&row[VT_STALL_HIGH], &high, sizeof(high));
}

/* Stalls count where their instruction has an estimate, between 10 and 20. */
static void test_ranges(void **state)
{
	static const uint64_t offsets[] = {0x8, 0x10, 0x14, 0x1f, 0x20};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_cyclesum sum = {0};
	struct scene s;
	unsigned i;

	(void)state;
	scene_image(w, 1, "/no/such/a");
	for (i = 0; i < 5; i++)
		if (i != 1)
			scene_freq(w, 1, offsets[i], 100, 1 << i, NAN);
	for (i = 0; i < 5; i++)
		put_stall(w, offsets[i], 10 << i, 10 << i);
	put_stall(w, 0x14, 3, 3);
	scene_read(&s, fd, w, false);
	vt_cyclesum_add(&sum, s.freqs, 1, 0x10, 0x20);
	assert_float_equal(sum.cycles, 100 * (4 + 8), 0);
	assert_float_equal(sum.low[VT_STALL_DCACHE], 40 + 3 + 80, 0);
	assert_float_equal(sum.dynamic, 40 + 3 + 80, 0);
	scene_drop(&s);
}

/* Each instruction has its own: 30 cycles, and all that the schedule does not explain. */
static void test_own_stalls(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_cyclesum sum = {0};
	struct scene s;

	(void)state;
	scene_image(w, 1, "/no/such/a");
	scene_freq(w, 1, 0x10, 100, 4, 1);
	scene_freq(w, 1, 0x14, 100, 8, 1);
	put_stall(w, 0x10, 30, 30);
	put_stall(w, 0x14, 10, 90);
	scene_read(&s, fd, w, false);
	vt_cyclesum_add(&sum, s.freqs, 1, 0, UINT64_MAX);
	assert_float_equal(sum.dynamic, 30 + 700, 0);
	assert_float_equal(sum.low[VT_STALL_DCACHE], 40, 0);
	scene_drop(&s);
}

/*
 * A region's stall is that of its instructions together: 300 cycles, which two causes share, while
 * the instructions take 100 and 500 beyond their schedule.
 */
static void test_region_stalls(void **state)
{
	static const struct vt_freq f = {.executions = 100, .cycles = 2, .issue = 1};
	struct vt_stall list[] = {
		{.cause = VT_STALL_DCACHE, .low = 10, .high = 300},
		{.cause = VT_STALL_DTLB, .low = 0, .high = 200},
	};
	struct vt_cyclesum sum = {0};
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		list[i].flags = VT_STALL_OF_REGION;
		list[i].cycles = 300;
	}
	vt_cyclesum_insn(&sum, &f, list, 2, true);
	assert_float_equal(sum.dynamic, 300, 0);
	assert_float_equal(sum.error, 100 - 300, 0);
	assert_float_equal(sum.low[VT_STALL_DCACHE], 10, 0);
	assert_float_equal(sum.high[VT_STALL_DTLB], 200, 0);
	/* A gain is taken off. */
	sum = (struct vt_cyclesum){0};
	list[0].cause = VT_STALL_GAIN;
	vt_cyclesum_insn(&sum, &f, list, 1, true);
	assert_float_equal(sum.dynamic, -300, 0);
	assert_float_equal(sum.error, 100 + 300, 0);
}

/* ---- samples ---- */

static void test_samples(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_cyclesum sum = {0};
	struct scene s;

	(void)state;
	scene_event(w, 5, "cycles", VT_POLICY_PRECISE);
	scene_event(w, 9, "misses", VT_POLICY_PRECISE);
	scene_image(w, 1, "/no/such/a");
	scene_image(w, 2, "/no/such/b");
	scene_map(w, 0x400000, 1);
	scene_map(w, 0x500000, 2);
	scene_samples(w, 9, 0x400010, 0, 1, 1);
	scene_samples(w, 9, 0x400011, 0, 1, 2);
	scene_samples(w, 9, 0x40001f, 0, 1, 4);
	scene_samples(w, 9, 0x400020, 0, 1, 8);
	scene_samples(w, 9, 0x40000f, 0, 1, 16);
	scene_samples(w, 9, 0x500010, 0, 1, 32);
	scene_samples(w, 5, 0x400010, 0, 1, 64);
	scene_read(&s, fd, w, false);
	assert_int_equal(vt_cyclesum_event(s.profile, 5), 0);
	assert_int_equal(vt_cyclesum_event(s.profile, 9), 1);
	assert_int_equal(vt_cyclesum_event(s.profile, 6), SIZE_MAX);
	/* Of the event, in the image, from 10 on and before 20. */
	vt_cyclesum_samples(&sum, s.profile, 1, 1, 0x10, 0x20);
	assert_float_equal(sum.samples, 1 + 2 + 4, 0);
	vt_cyclesum_samples(&sum, s.profile, 0, 1, 0, 0x20);
	assert_float_equal(sum.samples, 7 + 64, 0);
	scene_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_causes),
		cmocka_unit_test(test_shares),	     cmocka_unit_test(test_print),
		cmocka_unit_test(test_not_judged),   cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_samples),	     cmocka_unit_test(test_little),
		cmocka_unit_test(test_own_stalls),   cmocka_unit_test(test_region_stalls),
		cmocka_unit_test(test_print_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
