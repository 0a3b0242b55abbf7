/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How likely causes are, by what they usually account for, and how that is learnt. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "culprit/internal.h"
#include "tests/unit/common/procs.h"

static struct vt_error err;

/*
 *  0: 48 8b 07        mov (%rdi),%rax
 *  3: 48 8d 58 01     lea 1(%rax),%rbx
 *  7: 0f 05           syscall
 *  9: c3              ret
 *
 * At 3 a line comes from another cache in 28 cycles, and a translation takes 50: what is to be
 * expected at most of 1000 executions.
 */
static const uint8_t load_use[] = {0x48, 0x8b, 0x07, 0x48, 0x8d, 0x58, 0x01, 0x0f, 0x05, 0xc3};

#define LINES 28000.0
#define PAGES 50000.0

/* Nothing is known but of the load and who waits for it, who takes 2 cycles by the schedule. */
static struct proc *make(void)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	uint32_t i;

	for (i = 2; i < p->flow.cfg->ninsns; i++)
		p->insns[i].executions = NAN;
	p->insns[0].cycles = -1;
	p->costs[1].head = 2;
	return p;
}

static struct vti_stalled stalled(struct proc *p, struct vti_culprit *c, double cycles)
{
	struct vti_stalled st;

	assert_int_equal(vti_culprit_init(c, &p->in, &err), 0);
	p->insns[1].cycles = 2 + cycles / PROC_EACH;
	assert_true(vti_culprit_stalled(c, 1, &st));
	return st;
}

static void check_likely(struct proc *p, double cycles, double lines, double pages)
{
	struct vti_suspect suspects[VTI_RULES];
	double typical[VTI_RULES], likely[VTI_RULES];
	struct vti_culprit c;
	struct vti_stalled st = stalled(p, &c, cycles);
	uint32_t i;

	vti_culprit_suspects(&st, suspects);
	vti_culprit_likely(&st, suspects, typical, likely);
	for (i = 0; i < VTI_RULES; i++) {
		enum vt_stall_cause cause = vti_culprit_cause(i);

		assert_float_equal(typical[i],
				   cause == VT_STALL_DCACHE ? LINES
				   : cause == VT_STALL_DTLB ? PAGES
							    : 0,
				   1e-6);
		assert_float_equal(likely[i],
				   cause == VT_STALL_DCACHE ? lines
				   : cause == VT_STALL_DTLB ? pages
				   : lines + pages > 1.5    ? 1
							    : 0,
				   1e-9);
	}
	assert_false(st.expected);
	vti_culprit_fini(&c);
}

/* By their shares of what they can do at most, and of no more than the stall. */
static void test_likely(void **state)
{
	struct vt_culprit_shares shares = {{0}};
	struct proc *p = make();

	(void)state;
	p->in.shares = &shares;
	shares.of[VT_STALL_DCACHE] = 0.5;
	shares.of[VT_STALL_DTLB] = 0.2;
	shares.of[VT_STALL_ICACHE] = 1;
	check_likely(p, 40000, 14 / 24.0, 10 / 24.0);
	check_likely(p, 12000, 12 / 22.0, 10 / 22.0);
	check_likely(p, 5000, 0.5, 0.5);
	/* Nothing is to be expected: any of them. */
	shares.of[VT_STALL_DCACHE] = shares.of[VT_STALL_DTLB] = 0;
	check_likely(p, 40000, 1, 1);
	proc_drop(p);
}

/* Who is no suspect has nothing, and what may take any time takes 1000 cycles each time. */
static void test_no_suspects(void **state)
{
	struct vt_culprit_shares shares = {{0}};
	struct proc *p = make();
	struct vti_suspect suspects[VTI_RULES];
	double typical[VTI_RULES], likely[VTI_RULES];
	struct vti_stalled st;
	struct vti_culprit c;
	uint32_t i;

	(void)state;
	p->in.shares = &shares;
	shares.of[VT_STALL_DCACHE] = 1;
	st = stalled(p, &c, 40000);
	for (i = 0; i < VTI_RULES; i++)
		suspects[i] = (struct vti_suspect){.bound = 0};
	vti_culprit_likely(&st, suspects, typical, likely);
	for (i = 0; i < VTI_RULES; i++)
		assert_true(typical[i] == 0 && likely[i] == 1);
	vti_culprit_fini(&c);
	p->insns[2].executions = 300;
	p->insns[2].cycles = 90;
	shares.of[VT_STALL_OTHER] = 0.01;
	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, 2, &st));
	vti_culprit_suspects(&st, suspects);
	vti_culprit_likely(&st, suspects, typical, likely);
	for (i = 0; i < VTI_RULES; i++) {
		if (vti_culprit_cause(i) != VT_STALL_OTHER)
			continue;
		assert_true(isinf(suspects[i].bound) && typical[i] == 300 * 1000);
		assert_float_equal(likely[i], 1, 1e-9);
	}
	vti_culprit_fini(&c);
	proc_drop(p);
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/*
 * Stalls of 40, 100, 3 and 0 cycles each time, and one that is less than none.  Each is divided by
 * what is expected, which is made anew three times; no one has more than his bound.
 */
static void test_shares(void **state)
{
	static const double cycles[] = {40000, 100000, 3000, 0, -1000};
	struct vt_culprit_evidence *e = vt_culprit_evidence_new();
	struct vt_culprit_shares shares;
	struct proc *p = make();
	double a = 1, b = 1;
	unsigned i, round;

	(void)state;
	assert_non_null(e);
	for (i = 0; i < 5; i++) {
		p->insns[1].cycles = 2 + cycles[i] / PROC_EACH;
		assert_int_equal(vt_culprit_collect(&p->in, e, &err), 0);
	}
	vt_culprit_compute_shares(e, &shares);
	for (round = 0; round < 3; round++) {
		double x = 0, y = 0;

		for (i = 0; i < 3; i++) {
			double lines = least(cycles[i], LINES * a),
			       pages = least(cycles[i], PAGES * b);

			x += least(LINES, cycles[i] * lines / (lines + pages));
			y += least(PAGES, cycles[i] * pages / (lines + pages));
		}
		a = x / (5 * LINES);
		b = y / (5 * PAGES);
	}
	assert_float_equal(shares.of[VT_STALL_DCACHE], a, 1e-6);
	assert_float_equal(shares.of[VT_STALL_DTLB], b, 1e-6);
	/* A wrong branch costs the same each time; of others nothing was seen. */
	for (i = 0; i < VT_NSTALLS; i++)
		if (i != VT_STALL_DCACHE && i != VT_STALL_DTLB)
			assert_true(shares.of[i] == (i == VT_STALL_MISPREDICT ? 1 : 0));
	vt_culprit_evidence_free(e);
	vt_culprit_evidence_free(NULL);
	proc_drop(p);
}

/* What is sampled is known: it costs the same each time as well. */
static void test_known(void **state)
{
	static const struct {
		enum vt_culprit_event event;
		enum vt_stall_cause cause;
	} rows[] = {
		{VT_CULPRIT_ITBMISS, VT_STALL_ITLB},
		{VT_CULPRIT_DTBMISS, VT_STALL_DTLB},
		{VT_CULPRIT_DMISS, VT_NSTALLS},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_culprit_evidence *e = vt_culprit_evidence_new();
		struct vt_culprit_shares shares;
		struct proc *p = make();

		assert_non_null(e);
		p->in.period[rows[i].event] = 0.5;
		p->insns[1].cycles = 2;
		assert_int_equal(vt_culprit_collect(&p->in, e, &err), 0);
		vt_culprit_compute_shares(e, &shares);
		for (k = 0; k < VT_NSTALLS; k++)
			assert_true(shares.of[k] ==
				    (k == VT_STALL_MISPREDICT || k == rows[i].cause ? 1 : 0));
		vt_culprit_evidence_free(e);
		proc_drop(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_likely),
		cmocka_unit_test(test_no_suspects),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
