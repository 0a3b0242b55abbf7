/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which events are known, and how many there may have been by the samples at and behind a place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "culprit/internal.h"
#include "tests/unit/common/procs.h"

#define EVENT VT_CULPRIT_DMISS

static struct vt_error err;

static double count_events(struct proc *p, uint32_t insn, uint32_t at, enum vt_culprit_event event,
			   bool expected)
{
	struct vti_stalled st;
	struct vti_culprit c;
	double n;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, insn, &st));
	st.expected = expected;
	n = vti_culprit_events(&st, event, at);
	vti_culprit_fini(&c);
	return n;
}

/* Samples that are seen behind an instruction, each of one event. */
static void check_seen(struct proc *p, uint32_t insn, double samples)
{
	double got = count_events(p, insn, insn, EVENT, false);

	if (fabs(got - (samples + 2 * sqrt(samples) + 4)) > 1e-9)
		fail_msg("%u: %g of %g samples", insn, got, samples);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		enum vt_culprit_event event;
	} rows[] = {
		{"imiss", VT_CULPRIT_IMISS},
		{"cpu/imiss/", VT_CULPRIT_IMISS},
		{"cpu_core/imiss/u", VT_CULPRIT_IMISS},
		{"cpu_atom/imiss/pp", VT_CULPRIT_IMISS},
		{"cpu/cpu_core/imiss/", VT_NCULPRIT_EVENTS},
		{"imiss,period=3", VT_CULPRIT_IMISS},
		{"itbmiss:u", VT_CULPRIT_ITBMISS},
		{"iTLB-misses", VT_CULPRIT_ITBMISS},
		{"dmiss", VT_CULPRIT_DMISS},
		{"LLC-load-misses", VT_CULPRIT_LLCMISS},
		{"dTLB-misses", VT_CULPRIT_DTBMISS},
		{"branches-misses", VT_CULPRIT_BRANCHMP},
		{"imis", VT_NCULPRIT_EVENTS},
		{"imisses", VT_NCULPRIT_EVENTS},
		{"xcpu/imiss/", VT_NCULPRIT_EVENTS},
		{"", VT_NCULPRIT_EVENTS},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (vt_culprit_event_of(rows[i].name) != rows[i].event)
			fail_msg("%s", rows[i].name);
}

/* The root of a square is exact. */
static void test_at_most(void **state)
{
	(void)state;
	assert_true(vti_culprit_at_most(0) == 4);
	assert_true(vti_culprit_at_most(1) == 7);
	assert_true(vti_culprit_at_most(100) == 124);
}

/*
 * From an instruction on, as far as two cycles and the skid of 3 go: the one during which these end
 * is the last, but for itself.
 */
static void test_straight(void **state)
{
	static const struct {
		double cycles[6];
		uint32_t seen; /* of 1, 2, 4 and so on */
	} rows[] = {
		{{1, 1, 1, 1, 1, 1}, 63},    {{1, 1, 1, 1, 1.5, 1}, 31},
		{{5, 1, 1, 1, 1, 1}, 3},     {{6, 0, 1, 1, 1, 1}, 3},
		{{5, 0, 0, 0.5, 1, 1}, 15},  {{0, 0, 0, 0, 0, 6}, 63},
		{{-9, 2, 3, 0, 0.1, 1}, 31}, {{(double)NAN, 2, 4, 0, 0, 0}, 7},
		{{0, 6, 0, 0, 0, 0}, 3},
	};
	uint8_t code[7];
	struct proc *p;
	unsigned i;
	uint32_t k;

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[6] = 0xc3;
	p = proc_make_plain(code, sizeof(code));
	p->core.skid = 3;
	p->in.period[EVENT] = 1;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (k = 0; k < 6; k++) {
			p->insns[k].cycles = rows[i].cycles[k];
			p->insns[k].samples[EVENT] = (float)(1U << k);
		}
		/* What is asked of has to have a time. */
		p->insns[6].cycles = 9;
		check_seen(p, 6, 0);
		assert_true(fabs(count_events(p, 6, 0, EVENT, false) -
				 (rows[i].seen + 2 * sqrt(rows[i].seen) + 4)) < 1e-9);
	}
	proc_drop(p);
}

/* On each way from the block's end, for the cycles that are left; each block once. */
static void test_ways(void **state)
{
	struct proc *p = proc_make_ways();
	uint32_t i;

	(void)state;
	p->core.skid = 0;
	p->in.period[EVENT] = 1;
	for (i = 0; i < PROC_WAYS; i++) {
		p->insns[i].cycles = 0;
		p->insns[i].samples[EVENT] = (float)(1U << i);
	}
	/* All, and the loop's first part once more is not looked at. */
	check_seen(p, WAYS_TEST, 511);
	check_seen(p, WAYS_JMP, 8 + 32 + 64 + 128 + 256);
	check_seen(p, WAYS_RET, 256);
	/* From the midst of the loop, its beginning is of the same block. */
	check_seen(p, WAYS_SECOND, 64 + 128 + 256);
	/* One way takes all the time there is; another leads there as well. */
	p->insns[WAYS_SHORT].cycles = 2;
	check_seen(p, WAYS_TEST, 511);
	p->insns[WAYS_LONG].cycles = 2.5;
	p->insns[WAYS_JMP].cycles = 0.5;
	check_seen(p, WAYS_TEST, 1 + 2 + 4 + 8 + 16);
	/* Two cycles, and half a one in the loop, during which they end. */
	p->insns[WAYS_LONG].cycles = 2;
	p->insns[WAYS_SECOND].cycles = 0.5;
	check_seen(p, WAYS_TEST, 1 + 2 + 4 + 8 + 16 + 32 + 64);
	proc_drop(p);
}

/* Of another instruction than the stalled one, what is behind both; what is to be expected is at
 * it. */
static void test_expected(void **state)
{
	uint8_t code[9];
	struct proc *p;
	uint32_t i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[8] = 0xc3;
	p = proc_make_plain(code, sizeof(code));
	p->core.skid = 0;
	for (i = 0; i < 9; i++) {
		p->insns[i].cycles = 9;
		p->insns[i].samples[EVENT] = p->insns[i].samples[VT_CULPRIT_BRANCHMP] =
			(float)(1U << i);
	}
	assert_true(isinf(count_events(p, 4, 1, EVENT, false)));
	assert_true(isinf(count_events(p, 4, 1, EVENT, true)));
	p->in.period[EVENT] = p->in.period[VT_CULPRIT_BRANCHMP] = 0.5;
	assert_true(fabs(count_events(p, 4, 4, EVENT, false) - (48 + 2 * sqrt(48) + 4) / 2) < 1e-9);
	assert_true(fabs(count_events(p, 4, 1, EVENT, false) - (54 + 2 * sqrt(54) + 4) / 2) < 1e-9);
	assert_true(fabs(count_events(p, 4, 1, EVENT, true) - (16 + 0.3) / 2) < 1e-9);
	assert_true(fabs(count_events(p, 4, 1, VT_CULPRIT_BRANCHMP, true) - (54 + 0.3) / 2) < 1e-9);
	assert_true(fabs(count_events(p, 4, 4, VT_CULPRIT_BRANCHMP, true) - (48 + 0.3) / 2) < 1e-9);
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	 cmocka_unit_test(test_at_most),
		cmocka_unit_test(test_straight), cmocka_unit_test(test_ways),
		cmocka_unit_test(test_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
