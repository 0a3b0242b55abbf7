/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How culprits compare with a simulator's stalls and with sampled misses: sums made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "culprit/cause.h"
#include "culprit/check.h"
#include "freq/region.h"
#include "tests/unit/common/procs.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

#define IMAGE  7
#define OFFSET 0x5000 /* of the procedure in its image */
#define INSNS  32
#define LISTED 64

static struct vt_error err;

/* A procedure of instructions of one byte, with stalls that are told and true ones. */
struct example {
	struct proc *proc;
	const struct vt_freq *freqs[INSNS];
	struct vt_culprit_stall told[LISTED];
	struct vt_culprits_proc p;
	int fd;
	struct vt_writer *truth;
	struct scene scene;
	struct vt_culpritcheck *check;
};

static void begin(struct example *x)
{
	uint8_t code[INSNS];

	memset(x, 0, sizeof(*x));
	memset(code, 0x90, sizeof(code));
	code[INSNS - 1] = 0xc3;
	x->proc = proc_make("alpha21164", code, sizeof(code));
	x->proc->flow.proc.image = IMAGE;
	x->proc->flow.proc.start = PROC_START;
	x->p = (struct vt_culprits_proc){
		.flow = &x->proc->flow, .offset = OFFSET, .freqs = x->freqs, .stalls = x->told};
	x->fd = scratch_file();
	x->truth = start_stream(x->fd);
}

static void tell(struct example *x, uint32_t insn, enum vt_stall_cause cause, double low,
		 double high)
{
	assert_true(x->p.nstalls < LISTED);
	x->told[x->p.nstalls++] = (struct vt_culprit_stall){
		.insn = insn,
		.cause = cause,
		.low = low,
		.high = high,
	};
}

static void put_truth(struct example *x, uint64_t image, uint64_t offset, enum vt_stall_cause cause,
		      double high)
{
	uint64_t *row = vt_writer_row(x->truth, VT_STALL);

	row[VT_STALL_IMAGE] = image;
	row[VT_STALL_OFFSET] = offset;
	row[VT_STALL_CAUSE] = cause;
	memcpy(&row[VT_STALL_HIGH], &high, sizeof(high));
}

static void is_true(struct example *x, uint32_t insn, enum vt_stall_cause cause, double high)
{
	put_truth(x, IMAGE, OFFSET + insn, cause, high);
}

static const struct vt_culpritcheck_totals *compare(struct example *x, bool with_truth)
{
	scene_read(&x->scene, x->fd, x->truth, false);
	x->check = vt_culpritcheck_new(with_truth ? x->scene.freqs : NULL);
	assert_non_null(x->check);
	assert_int_equal(vt_culpritcheck_add(x->check, &x->p, &err), 0);
	return vt_culpritcheck_totals(x->check);
}

static void end(struct example *x)
{
	vt_culpritcheck_free(x->check);
	scene_drop(&x->scene);
	proc_drop(x->proc);
}

static void check(double got, double want, const char *what, unsigned row)
{
	if (!(fabs(got - want) < 1e-9))
		fail_msg("%s %u: %g, not %g", what, row, got, want);
}

/* Causes with the same number are one to a simulator; dynamic ones are those that have none. */
static unsigned sort_of(unsigned cause)
{
	static const uint8_t sorts[VT_NSTALLS] = {
		[VT_STALL_DEPENDENCY] = 1,  [VT_STALL_OPERAND_A] = 1,  [VT_STALL_OPERAND_B] = 1,
		[VT_STALL_OPERAND_C] = 1,   [VT_STALL_UNIT] = 2,       [VT_STALL_SLOTTING] = 2,
		[VT_STALL_UNIT_STATIC] = 2, [VT_STALL_MULTIPLIER] = 2, [VT_STALL_DIVIDER] = 2,
	};

	return sorts[cause];
}

/* Each cause told where each other one is true: 5 cycles of it, at an instruction of its own. */
static void test_pairs(void **state)
{
	unsigned told, truth;

	(void)state;
	for (told = 0; told < VT_NSTALLS; told++) {
		double found = 0, dynamic = 0, dynamic_found = 0, missed = 0;
		const struct vt_culpritcheck_totals *t;
		struct example x;

		begin(&x);
		for (truth = 0; truth < VT_NSTALLS; truth++) {
			bool same = told == truth ||
				    (sort_of(told) && sort_of(told) == sort_of(truth)) ||
				    (truth == VT_STALL_SYNC && told == VT_STALL_UNIT_STATIC);
			bool is_dynamic = !sort_of(truth) && truth != VT_STALL_GAIN &&
					  truth != VT_STALL_UNEXPLAINED;

			tell(&x, truth, (enum vt_stall_cause)told, 4, 4);
			is_true(&x, truth, (enum vt_stall_cause)truth, 5);
			found += same ? 5 : 0;
			dynamic += is_dynamic ? 5 : 0;
			dynamic_found += is_dynamic && same ? 5 : 0;
		}
		t = compare(&x, true);
		check(t->stalled, VT_NSTALLS * 5.0, "stalled", told);
		check(t->found, found, "found", told);
		check(t->dynamic, dynamic, "dynamic", told);
		check(t->dynamic_found, dynamic_found, "dynamic found", told);
		for (truth = 0; truth < VT_NSTALLS; truth++) {
			check(t->truth[truth], 5, "truth", truth);
			missed += t->missed[truth];
		}
		check(missed, dynamic - dynamic_found, "missed", told);
		end(&x);
	}
}

/* The main cause is the one with most cycles, parts of the same sort together. */
static void test_main_cause(void **state)
{
	const struct vt_culpritcheck_totals *t;
	struct example x;

	(void)state;
	begin(&x);
	/* 0: the operands have 110 cycles; of what is dynamic, 100 are the cache's, told nowhere */
	is_true(&x, 0, VT_STALL_DCACHE, 100);
	is_true(&x, 0, VT_STALL_OPERAND_A, 60);
	is_true(&x, 0, VT_STALL_OPERAND_B, 50);
	tell(&x, 0, VT_STALL_OPERAND_C, 90, 90);
	/* 1: of equal ones, the first by number; */
	is_true(&x, 1, VT_STALL_ICACHE, 42);
	is_true(&x, 1, VT_STALL_WRITE_BUFFER, 42);
	tell(&x, 1, VT_STALL_ICACHE, 0, 50);
	/* 2: less than a cycle; 3: none at all; 4: told by the third of its causes */
	is_true(&x, 2, VT_STALL_WRITE_BUFFER, 0.5);
	tell(&x, 2, VT_STALL_WRITE_BUFFER, 0, 1);
	is_true(&x, 3, VT_STALL_ITLB, 0);
	tell(&x, 3, VT_STALL_ICACHE, 0, 1);
	is_true(&x, 4, VT_STALL_MISPREDICT, 9);
	is_true(&x, 4, VT_STALL_OTHER, 8);
	tell(&x, 4, VT_STALL_ICACHE, 0, 1);
	tell(&x, 4, VT_STALL_ITLB, 0, 1);
	tell(&x, 4, VT_STALL_MISPREDICT, 0, 1);
	/* 5: known to the next one only; 6: nothing is told */
	is_true(&x, 5, VT_STALL_FORWARD, 16);
	tell(&x, 6, VT_STALL_FORWARD, 0, 1);
	is_true(&x, 7, VT_STALL_OTHER, 32);
	/* Another image, and outside of the procedure. */
	put_truth(&x, IMAGE + 1, OFFSET, VT_STALL_DCACHE, 1000);
	put_truth(&x, IMAGE, OFFSET - 1, VT_STALL_DCACHE, 1000);
	put_truth(&x, IMAGE, OFFSET + INSNS, VT_STALL_DCACHE, 1000);
	t = compare(&x, true);
	check(t->stalled, 210 + 84 + 0.5 + 17 + 16 + 32, "stalled", 0);
	check(t->found, 210 + 84 + 0.5 + 17, "found", 0);
	check(t->dynamic, 100 + 84 + 0.5 + 17 + 16 + 32, "dynamic", 0);
	check(t->dynamic_found, 84 + 0.5 + 17, "dynamic found", 0);
	check(t->missed[VT_STALL_DCACHE], 100, "missed", VT_STALL_DCACHE);
	check(t->missed[VT_STALL_FORWARD], 16, "missed", VT_STALL_FORWARD);
	check(t->missed[VT_STALL_OTHER], 32, "missed", VT_STALL_OTHER);
	check(t->truth[VT_STALL_DCACHE], 100, "truth", VT_STALL_DCACHE);
	check(t->truth[VT_STALL_OPERAND_A], 60, "truth", VT_STALL_OPERAND_A);
	check(t->truth[VT_STALL_OTHER], 40, "truth", VT_STALL_OTHER);
	end(&x);
}

/* What has been told, with and without a truth: how many dynamic causes each stall has. */
static void test_counts(void **state)
{
	int with_truth;

	(void)state;
	for (with_truth = 0; with_truth < 2; with_truth++) {
		static const struct vt_freq freqs[] = {
			{.executions = 10, .cycles = 3},	   {.executions = 10, .cycles = 0},
			{.executions = 4, .cycles = 0.5},	   {.executions = 10, .cycles = -1},
			{.executions = 10, .cycles = (double)NAN},
		};
		const struct vt_culpritcheck_totals *t;
		struct example x;
		unsigned i;

		begin(&x);
		for (i = 0; i < sizeof(freqs) / sizeof(freqs[0]); i++)
			x.freqs[2 * i] = &freqs[i];
		/* One static cause; two dynamic ones with it; three, not the greatest last */
		tell(&x, 0, VT_STALL_SLOTTING, 2, 2);
		tell(&x, 1, VT_STALL_DCACHE, 1, 6);
		tell(&x, 1, VT_STALL_DTLB, 0, 7);
		tell(&x, 1, VT_STALL_OPERAND_C, 3, 3);
		tell(&x, 2, VT_STALL_ICACHE, 2, 8);
		tell(&x, 2, VT_STALL_DCACHE, 4, 9);
		tell(&x, 2, VT_STALL_OTHER, 1, 5);
		/* A gain, and what is not explained, alone and with another */
		tell(&x, 3, VT_STALL_GAIN, 11, 12);
		tell(&x, 4, VT_STALL_UNEXPLAINED, 13, 14);
		tell(&x, 5, VT_STALL_UNEXPLAINED, 15, 16);
		tell(&x, 5, VT_STALL_SYNC, 1, 3);
		is_true(&x, 5, VT_STALL_SYNC, 3);
		t = compare(&x, with_truth);
		check(t->cycles, 30 + 2, "cycles", 0);
		assert_int_equal(t->stalls, 3);
		assert_int_equal(t->listed, 2 + 3 + 1);
		check(t->weight, 7 + 9 + 3, "weight", 0);
		check(t->weighted, 2 * 7 + 3 * 9 + 3, "weighted", 0);
		check(t->unexplained, 14 + 16, "unexplained", 0);
		check(t->low[VT_STALL_DCACHE], 5, "low", VT_STALL_DCACHE);
		check(t->high[VT_STALL_DCACHE], 15, "high", VT_STALL_DCACHE);
		check(t->low[VT_STALL_GAIN], 11, "low", VT_STALL_GAIN);
		check(t->high[VT_STALL_UNEXPLAINED], 30, "high", VT_STALL_UNEXPLAINED);
		check(t->high[VT_STALL_SLOTTING], 2, "high", VT_STALL_SLOTTING);
		check(t->stalled, with_truth ? 3 : 0, "stalled", 0);
		end(&x);
	}
}

/* Pearson's coefficient in another form than the one that is used. */
static double correlate(const double (*points)[3], size_t n, double a, double b)
{
	double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		double cost = a * points[i][1] + b * points[i][2];

		x += points[i][0];
		y += cost;
		xx += points[i][0] * points[i][0];
		yy += cost * cost;
		xy += points[i][0] * cost;
	}
	return ((double)n * xy - x * y) / sqrt(((double)n * xx - x * x) * ((double)n * yy - y * y));
}

/* Misses of procedures, and the least and most cycles that the instruction cache cost them. */
static void test_correlation(void **state)
{
	static const double points[][3] = {
		{1, 2, 30}, {4, 3, 10}, {2, 8, 50}, {9, 7, 90}, {5, 1, 45},
	};
	struct vt_culpritcheck_correlation c;
	struct example x;
	size_t i;

	(void)state;
	begin(&x);
	x.check = vt_culpritcheck_new(NULL);
	assert_non_null(x.check);
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		c = vt_culpritcheck_correlate(x.check);
		assert_int_equal(c.procedures, i);
		if (i < 3) {
			assert_true(isnan(c.high) && isnan(c.low) && isnan(c.middle));
		} else {
			check(c.high, correlate(points, i, 0, 1), "high", (unsigned)i);
			check(c.low, correlate(points, i, 1, 0), "low", (unsigned)i);
			check(c.middle, correlate(points, i, 1, 1), "middle", (unsigned)i);
		}
		/* In two stalls, between others that have nothing to do with it. */
		x.p.nstalls = 0;
		x.p.events[VT_CULPRIT_IMISS] = points[i][0];
		x.p.events[VT_CULPRIT_ITBMISS] = 1000;
		tell(&x, 0, VT_STALL_ICACHE, 0.5, 1);
		tell(&x, 0, VT_STALL_ITLB, 100 + (double)i, 200);
		tell(&x, 3, VT_STALL_ICACHE, points[i][1] - 0.5, points[i][2] - 1);
		assert_int_equal(vt_culpritcheck_add(x.check, &x.p, &err), 0);
	}
	scene_read(&x.scene, x.fd, x.truth, false);
	end(&x);
}

/* Where all are the same, nothing goes with anything. */
static void test_no_correlation(void **state)
{
	struct vt_culpritcheck_correlation c;
	struct example x;
	int i;

	(void)state;
	begin(&x);
	x.check = vt_culpritcheck_new(NULL);
	assert_non_null(x.check);
	tell(&x, 0, VT_STALL_ICACHE, 1, 2);
	for (i = 0; i < 4; i++) {
		x.p.events[VT_CULPRIT_IMISS] = 3;
		x.told[0].high = 2 + i;
		assert_int_equal(vt_culpritcheck_add(x.check, &x.p, &err), 0);
	}
	c = vt_culpritcheck_correlate(x.check);
	assert_true(isnan(c.high) && isnan(c.low) && isnan(c.middle));
	x.p.events[VT_CULPRIT_IMISS] = 4;
	assert_int_equal(vt_culpritcheck_add(x.check, &x.p, &err), 0);
	c = vt_culpritcheck_correlate(x.check);
	/* The least is the same for all of them. */
	assert_true(c.high > 0 && isnan(c.low) && c.middle > 0);
	scene_read(&x.scene, x.fd, x.truth, false);
	end(&x);
	vt_culpritcheck_free(NULL);
}

/*
 * Out of order, the cause of an instruction's stall may be listed for its region, here that of all
 * but the return, or for itself; one that was ruled out is not listed.
 */
static void test_regions(void **state)
{
	struct vt_region list[2] = {{.head = VT_CFG_ENTRY}, {.head = VT_CFG_FIRST}};
	struct vt_regions regions = {.list = list, .count = 2};
	const struct vt_culpritcheck_totals *t;
	uint32_t of[VT_CFG_FIRST + 4] = {0};
	struct example x;

	(void)state;
	begin(&x);
	assert_true(x.proc->flow.cfg->nblocks <= VT_CFG_FIRST + 4);
	of[VT_CFG_FIRST] = 1;
	regions.of = of;
	x.p.regions = &regions;
	tell(&x, 0, VT_STALL_ICACHE, 5, 10);
	tell(&x, 0, VT_STALL_DCACHE, 10, 40);
	x.told[1].flags = VT_STALL_OF_REGION;
	x.told[1].region = 1;
	tell(&x, 0, VT_STALL_SYNC, 0, 0);
	x.told[2] = x.told[1];
	x.told[2].cause = VT_STALL_SYNC;
	x.told[2].low = x.told[2].high = 0;
	x.told[2].why = VT_WHY_SMALL;
	put_truth(&x, IMAGE, OFFSET, VT_STALL_ICACHE, 100);
	put_truth(&x, IMAGE, OFFSET + 1, VT_STALL_DCACHE, 20);
	put_truth(&x, IMAGE, OFFSET + 2, VT_STALL_ICACHE, 4);
	put_truth(&x, IMAGE, OFFSET + 3, VT_STALL_SYNC, 3);
	scene_read(&x.scene, x.fd, x.truth, true);
	x.check = vt_culpritcheck_new(x.scene.freqs);
	assert_int_equal(vt_culpritcheck_add(x.check, &x.p, &err), 0);
	t = vt_culpritcheck_totals(x.check);
	check(t->dynamic, 127, "dynamic", 0);
	check(t->dynamic_found, 120, "found", 0);
	check(t->missed[VT_STALL_ICACHE], 4, "icache", 0);
	check(t->missed[VT_STALL_SYNC], 3, "sync", 0);
	/* Two stalls of one cause each. */
	assert_int_equal(t->stalls, 2);
	assert_int_equal(t->listed, 2);
	check(t->high[VT_STALL_DCACHE], 40, "high", 0);
	end(&x);
}

/*
 * Instructions of a region whose time is known, or is not: of the latter, what one without a cause
 * of its own takes beyond its schedule is not judged.
 */
static void test_not_judged(void **state)
{
	static const struct vt_freq freq = {.executions = 10, .cycles = 7, .issue = 3};
	static const struct vt_freq fast = {.executions = 10, .cycles = 1, .issue = 3};
	static const struct vt_freq unknown = {.executions = 10, .cycles = 7, .issue = (double)NAN};
	struct vt_region list[2] = {{.head = VT_CFG_ENTRY, .cycles = 1, .half = 0.15},
				    {.head = VT_CFG_FIRST, .cycles = 1, .half = 0.1501}};
	struct vt_regions regions = {.list = list, .count = 2};
	const struct vt_culpritcheck_totals *t;
	uint32_t of[VT_CFG_FIRST + 4] = {0};
	struct example x;

	(void)state;
	begin(&x);
	of[VT_CFG_FIRST] = 1;
	regions.of = of;
	x.p.out_of_order = true;
	x.p.regions = &regions;
	x.freqs[0] = x.freqs[1] = x.freqs[2] = &freq;
	x.freqs[3] = &unknown;
	tell(&x, 0, VT_STALL_ICACHE, 5, 10);
	tell(&x, 1, VT_STALL_OPERAND_A, 10, 10);
	tell(&x, 2, VT_STALL_ICACHE, 0, 0);
	x.told[2].why = VT_WHY_SMALL;
	t = compare(&x, false);
	check(t->cycles, 280, "cycles", 0);
	check(t->not_judged, 40 + 40, "not judged", 0);
	check(vt_culpritcheck_high(t, VT_STALL_ICACHE), 90, "icache", 0);
	check(vt_culpritcheck_high(t, VT_STALL_OTHER), 80, "other", 0);
	check(vt_culpritcheck_high(t, VT_STALL_OPERAND_A), 10, "static", 0);
	check(vt_culpritcheck_high(t, VT_STALL_UNEXPLAINED), 0, "unexplained", 0);
	/* The same where times are known; what is faster than the schedule makes up for others. */
	list[1].half = 0.15;
	assert_int_equal(vt_culpritcheck_add(x.check, &x.p, &err), 0);
	check(t->not_judged, 80, "told", 0);
	x.freqs[1] = &fast;
	x.p.regions = NULL;
	assert_int_equal(vt_culpritcheck_add(x.check, &x.p, &err), 0);
	check(t->not_judged, 80 - 20 + 40, "no regions", 0);
	x.p.out_of_order = false;
	assert_int_equal(vt_culpritcheck_add(x.check, &x.p, &err), 0);
	check(t->not_judged, 100, "in order", 0);
	end(&x);
}

/* Stalls of 20 cycles in the procedure, and of 30 and 5 in none. */
static void test_without_estimate(void **state)
{
	const struct vt_culpritcheck_totals *t;
	struct example x;

	(void)state;
	begin(&x);
	vt_writer_row(x.truth, VT_FREQ)[VT_FREQ_IMAGE] = IMAGE;
	is_true(&x, 3, VT_STALL_DCACHE, 20);
	put_truth(&x, IMAGE, OFFSET + INSNS, VT_STALL_DCACHE, 30);
	put_truth(&x, IMAGE, 0, VT_STALL_SLOTTING, 5);
	t = compare(&x, true);
	check(t->stalled, 20, "stalled", 0);
	check(t->without, 35, "without", 0);
	end(&x);
}

/* No cause has more than all cycles, and what is below 0 is chance. */
static void test_high(void **state)
{
	struct vt_culpritcheck_totals t = {.cycles = 100, .not_judged = 70};

	(void)state;
	t.high[VT_STALL_DCACHE] = 40;
	check(vt_culpritcheck_high(&t, VT_STALL_DCACHE), 100, "dcache", 0);
	check(vt_culpritcheck_high(&t, VT_STALL_DTLB), 70, "dtlb", 0);
	t.not_judged = -10;
	check(vt_culpritcheck_high(&t, VT_STALL_DCACHE), 40, "dcache", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_main_cause),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_correlation),
		cmocka_unit_test(test_no_correlation),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_not_judged),
		cmocka_unit_test(test_high),
		cmocka_unit_test(test_without_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
