/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a trace: each packet of timing, by numbers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/pt/timing.h"

/* A 24 MHz crystal under a TSC of 154 times that; an MTC each 8 ticks. */
#define PERIOD UINT64_C(1232)
static const struct vt_pt_clock usual = {
	.mtc_period = 3, .nominal_ratio = 37, .ctc_numerator = 308, .ctc_denominator = 2};

static bool put(struct vt_pt_timing *t, enum vt_pt_kind kind, uint64_t payload)
{
	struct vt_pt_packet p = {.kind = (uint8_t)kind, .payload = payload};

	return vt_pt_timing_packet(t, &p);
}

static void put_tma(struct vt_pt_timing *t, uint64_t ctc, uint64_t fast)
{
	struct vt_pt_packet p = {.kind = VT_PT_TMA, .payload = ctc, .extra = fast};

	assert_false(vt_pt_timing_packet(t, &p));
}

static void only_tsc(void **state)
{
	struct vt_pt_timing t;

	(void)state;
	vt_pt_timing_init(&t, &usual);
	assert_false(put(&t, VT_PT_MTC, 7));
	assert_false(put(&t, VT_PT_TNT8, 1));
	assert_false(t.has_tsc);
	assert_true(put(&t, VT_PT_TSC, 5000));
	assert_true(t.has_tsc);
	assert_int_equal(t.tsc, 5000);
	/* Nothing ties MTCs to it. */
	assert_false(put(&t, VT_PT_MTC, 8));
	assert_true(put(&t, VT_PT_TSC, 6000));
	assert_false(put(&t, VT_PT_TSC, 4000));
	assert_int_equal(t.tsc, 6000);
	assert_int_equal(t.lost, 0);
	assert_false(t.has_cycles);
}

static void crystal(void **state)
{
	struct vt_pt_timing t;
	uint64_t edge = 1000000 - 50;
	int i;

	(void)state;
	vt_pt_timing_init(&t, &usual);
	put(&t, VT_PT_TSC, 1000000);
	put_tma(&t, 0xfff4, 50);
	assert_int_equal(t.tsc, 1000000);
	/* Four ticks on is a multiple of 8: the bits that MTC shows become 0xff. */
	assert_true(put(&t, VT_PT_MTC, 0xff));
	assert_int_equal(t.tsc, edge + 4 * 154);
	edge += 4 * 154;
	/* And they wrap around. */
	for (i = 1; i <= 600; i++) {
		assert_true(put(&t, VT_PT_MTC, (0xff + i) & 0xff));
		assert_int_equal(t.tsc, edge + (unsigned)i * PERIOD);
	}
	assert_int_equal(t.lost, 0);
	edge = t.tsc;
	/* Two are missing, across the wrap. */
	assert_true(put(&t, VT_PT_MTC, (0xff + 603) & 0xff));
	assert_int_equal(t.tsc, edge + 3 * PERIOD);
	assert_int_equal(t.lost, 2);
	/* Told twice. */
	assert_false(put(&t, VT_PT_MTC, (0xff + 603) & 0xff));
	assert_int_equal(t.lost, 2);
	/* A new TSC, and its TMA right at the tick before. */
	put(&t, VT_PT_TSC, edge + 10 * PERIOD);
	assert_false(put(&t, VT_PT_MTC, 0x12));
	put_tma(&t, 0x0ff8, 0);
	assert_true(put(&t, VT_PT_MTC, 0));
	assert_int_equal(t.tsc, edge + 11 * PERIOD);
	assert_int_equal(t.lost, 2);
	/* After TMA one is missing as well. */
	put(&t, VT_PT_TSC, edge + 20 * PERIOD);
	put_tma(&t, 0x0ff9, 154);
	assert_true(put(&t, VT_PT_MTC, 1));
	assert_int_equal(t.tsc, edge + 20 * PERIOD - 154 + 15 * 154);
	assert_int_equal(t.lost, 3);
}

/* MTC shows bits 10 to 17 of the clock, TMA 0 to 15. */
static void slow_mtc(void **state)
{
	const struct vt_pt_clock clock = {
		.mtc_period = 10, .ctc_numerator = 3, .ctc_denominator = 1};
	struct vt_pt_timing t;

	(void)state;
	vt_pt_timing_init(&t, &clock);
	put(&t, VT_PT_TSC, 1 << 20);
	put_tma(&t, 0xfc01, 0);
	/* 0x3fc01 of 18 bits: the next multiple of 1024 is 0. */
	assert_true(put(&t, VT_PT_MTC, 0));
	assert_int_equal(t.tsc, (1 << 20) + 3 * 1023);
	assert_true(put(&t, VT_PT_MTC, 0x80));
	assert_int_equal(t.tsc, (1 << 20) + 3 * 1023 + 3 * 0x20000);
	assert_int_equal(t.lost, 127);
}

/* Ratios that do not divide leave no error that grows. */
static void fractions(void **state)
{
	const struct vt_pt_clock clock = {
		.mtc_period = 0, .ctc_numerator = 7, .ctc_denominator = 3};
	struct vt_pt_timing t;
	unsigned i;

	(void)state;
	vt_pt_timing_init(&t, &clock);
	put(&t, VT_PT_TSC, 1000);
	put_tma(&t, 0, 0);
	for (i = 1; i < 10000; i++) {
		put(&t, VT_PT_MTC, i & 0xff);
		assert_int_equal(t.tsc, 1000 + i * 7 / 3);
	}
}

static void no_ratio(void **state)
{
	const struct vt_pt_clock clocks[] = {{.mtc_period = 3},
					     {.mtc_period = 3, .ctc_numerator = 5},
					     {.mtc_period = 3, .ctc_denominator = 5},
					     {16, 37, 308, 2}};
	struct vt_pt_timing t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		vt_pt_timing_init(&t, &clocks[i]);
		put(&t, VT_PT_TSC, 1000);
		put_tma(&t, 0, 0);
		assert_false(put(&t, VT_PT_MTC, 1));
		assert_int_equal(t.tsc, 1000);
		/* What a cycle takes is known from TSC packets: two ticks. */
		put(&t, VT_PT_CYC, 100);
		assert_true(put(&t, VT_PT_TSC, 1200));
		assert_true(put(&t, VT_PT_CYC, 10));
		assert_int_equal(t.tsc, 1220);
	}
}

static void cycles_by_cbr(void **state)
{
	struct vt_pt_timing t;

	(void)state;
	vt_pt_timing_init(&t, &usual);
	/* Cycles are counted even before the time is known. */
	assert_true(put(&t, VT_PT_CYC, 10));
	assert_false(put(&t, VT_PT_CYC, 0));
	assert_int_equal(t.cycles, 10);
	assert_int_equal(t.tsc, 0);
	put(&t, VT_PT_TSC, 1000000);
	/* The rate is not known yet. */
	assert_true(put(&t, VT_PT_CYC, 74));
	assert_int_equal(t.tsc, 1000000);
	put(&t, VT_PT_CBR, 74);
	/* Twice the TSC's rate: 74 cycles before, 26 now. */
	assert_true(put(&t, VT_PT_CYC, 26));
	assert_int_equal(t.tsc, 1000050);
	assert_int_equal(t.cycles, 110);
	put(&t, VT_PT_TSC, 2000000);
	put_tma(&t, 0, 0);
	assert_true(put(&t, VT_PT_CYC, 200));
	assert_int_equal(t.tsc, 2000100);
	assert_true(put(&t, VT_PT_MTC, 1));
	assert_int_equal(t.tsc, 2000000 + PERIOD);
	/* The next MTC is due: not beyond it. */
	assert_true(put(&t, VT_PT_CYC, 100000));
	assert_int_equal(t.tsc, 2000000 + 2 * PERIOD);
	assert_false(put(&t, VT_PT_MTC, 2));
	assert_int_equal(t.tsc, 2000000 + 2 * PERIOD);
	assert_int_equal(t.cycles, 100310);
}

static void cycles_by_measuring(void **state)
{
	const struct vt_pt_clock clock = {
		.mtc_period = 3, .ctc_numerator = 308, .ctc_denominator = 2};
	struct vt_pt_timing t;

	(void)state;
	/* Between TSCs: four ticks for each cycle. */
	vt_pt_timing_init(&t, &clock);
	put(&t, VT_PT_CBR, 20);
	put(&t, VT_PT_TSC, 10000);
	put(&t, VT_PT_CYC, 100);
	assert_int_equal(t.tsc, 10000);
	put(&t, VT_PT_TSC, 10400);
	put(&t, VT_PT_CYC, 10);
	assert_int_equal(t.tsc, 10440);
	/* Time in which nothing is traced has no cycles: it is no measure. */
	put(&t, VT_PT_TIP_PGD, 0);
	put(&t, VT_PT_TSC, 90000);
	put(&t, VT_PT_TIP_PGE, 0);
	put(&t, VT_PT_CYC, 10);
	assert_int_equal(t.tsc, 90040);
	put(&t, VT_PT_TSC, 90080);
	put(&t, VT_PT_CYC, 1);
	assert_int_equal(t.tsc, 90084);
	/* Nor is time in which packets were lost. */
	put(&t, VT_PT_OVF, 0);
	put(&t, VT_PT_TSC, 200000);
	put(&t, VT_PT_CYC, 10);
	assert_int_equal(t.tsc, 200040);
	/* Between MTCs: PERIOD / 616 is 2. */
	put_tma(&t, 0, 0);
	put(&t, VT_PT_MTC, 1);
	put(&t, VT_PT_CYC, 616);
	put(&t, VT_PT_MTC, 2);
	assert_int_equal(t.tsc, 200000 + 2 * PERIOD);
	put(&t, VT_PT_CYC, 100);
	assert_int_equal(t.tsc, 200000 + 2 * PERIOD + 200);
	/* The frequency changes: wait for the next measure. */
	put(&t, VT_PT_CBR, 10);
	put(&t, VT_PT_CYC, 10);
	assert_int_equal(t.tsc, 200000 + 2 * PERIOD + 200);
}

/* Whatever comes: it goes on, never over, and stays where exact packets put it. */
static void hostile(void **state)
{
	static const uint8_t kinds[] = {VT_PT_TSC, VT_PT_TMA,	  VT_PT_MTC,
					VT_PT_MTC, VT_PT_CBR,	  VT_PT_CYC,
					VT_PT_OVF, VT_PT_TIP_PGE, VT_PT_TIP_PGD};
	struct vt_pt_timing t;
	struct vt_rng rng;
	int round, i;

	(void)state;
	vt_rng_init(&rng, 5);
	for (round = 0; round < 2000; round++) {
		struct vt_pt_clock clock = {
			.mtc_period = (uint8_t)vt_rng_below(&rng, 18),
			.nominal_ratio = (uint8_t)(vt_rng_next(&rng) & 63),
			.ctc_numerator = (uint32_t)vt_rng_next(&rng) >> vt_rng_below(&rng, 32),
			.ctc_denominator = (uint32_t)vt_rng_next(&rng) >> vt_rng_below(&rng, 32)};
		uint64_t tsc = 0, cycles = 0;

		vt_pt_timing_init(&t, &clock);
		for (i = 0; i < 200; i++) {
			struct vt_pt_packet p = {.kind = kinds[vt_rng_below(&rng, sizeof(kinds))]};
			bool moved;

			p.payload = vt_rng_next(&rng) >> vt_rng_below(&rng, 64);
			p.extra = vt_rng_next(&rng) & 511;
			assert_true(vt_pt_timing_cares(p.kind));
			if (p.kind == VT_PT_TSC)
				p.payload >>= 8;
			else if (p.kind == VT_PT_TMA)
				p.payload &= 0xffff;
			else if (p.kind != VT_PT_CYC)
				p.payload &= 0xff;
			moved = vt_pt_timing_packet(&t, &p);
			assert_true(t.tsc >= tsc && t.cycles >= cycles);
			assert_true(moved || (t.tsc == tsc && t.cycles == cycles));
			if (p.kind == VT_PT_TSC)
				assert_true(t.tsc >= p.payload);
			tsc = t.tsc;
			cycles = t.cycles;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_tsc),
		cmocka_unit_test(crystal),
		cmocka_unit_test(slow_mtc),
		cmocka_unit_test(fractions),
		cmocka_unit_test(no_ratio),
		cmocka_unit_test(cycles_by_cbr),
		cmocka_unit_test(cycles_by_measuring),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
