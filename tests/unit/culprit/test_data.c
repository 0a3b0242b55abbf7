/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What waits for data, on small graphs whose instructions are what a test says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "culprit/internal.h"
#include "tests/unit/common/procs.h"

#define AX (UINT64_C(1) << VT_REG_AX)

/*
 * Of the Alpha: a line from memory takes 108 cycles, and four times that if 6 misses are before it,
 * of which the second cache serves 2 at once; a translation 50; 6 to drain a line.
 */
#define FILL	 28.0
#define SLOWEST	 (108.0 * 4)
#define TLB_MISS 50.0

static struct vt_error err;

static struct vti_suspect ask(struct proc *p, vti_culprit_rule *rule, uint32_t insn, bool expected)
{
	struct vti_suspect s = {.bound = INFINITY};
	struct vti_stalled st;
	struct vti_culprit c;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, insn, &st));
	st.expected = expected;
	rule(&st, &s);
	vti_culprit_fini(&c);
	return s;
}

static void check_bound(struct proc *p, vti_culprit_rule *rule, uint32_t insn, double bound)
{
	double got = ask(p, rule, insn, false).bound;

	if (!(fabs(got - bound) < 1e-6))
		fail_msg("%u: %g, not %g", insn, got, bound);
}

static void set_class(struct proc *p, uint32_t insn, enum vt_op_class class_)
{
	p->ops[insn].uops[0].op_class = (uint8_t)class_;
}

/* The load of one way and the addition of another define what is awaited, executed 1000 times. */
static struct proc *make(void)
{
	struct proc *p = proc_make_ways();

	proc_set_entry(p, 0);
	set_class(p, WAYS_SHORT, VT_OP_LOAD);
	p->ops[WAYS_SHORT].writes = p->ops[WAYS_LONG].writes = p->ops[WAYS_SECOND].writes = AX;
	p->ops[WAYS_SECOND].reads = AX;
	p->insns[WAYS_SECOND].executions = 1000;
	return p;
}

/* Loads that may be waited for, each as often as it is executed; others than loads never miss. */
static void test_awaited(void **state)
{
	struct proc *p = make();
	struct vti_suspect s;

	(void)state;
	s = ask(p, vti_rule_dcache, WAYS_SECOND, false);
	assert_true(fabs(s.bound - 30 * SLOWEST) < 1e-6);
	assert_true(s.nguilty == 1 && s.guilty[0] == WAYS_SHORT);
	check_bound(p, vti_rule_dtlb, WAYS_SECOND, 30 * TLB_MISS);
	assert_true(fabs(ask(p, vti_rule_dcache, WAYS_SECOND, true).bound - 30 * FILL) < 1e-6);
	/* By the address that it has itself as well. */
	p->ops[WAYS_SECOND].reads = 0;
	p->ops[WAYS_SECOND].address_reads = AX;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 30 * SLOWEST);
	set_class(p, WAYS_LONG, VT_OP_LOAD);
	check_bound(p, vti_rule_dcache, WAYS_SECOND, (30 + 50) * SLOWEST);
	check_bound(p, vti_rule_dtlb, WAYS_SECOND, (30 + 50) * TLB_MISS);
	/* What a call gives back may be loaded, too. */
	p->ops[WAYS_LONG].flags = VT_FACT_CALL;
	set_class(p, WAYS_LONG, VT_OP_INT);
	s = ask(p, vti_rule_dcache, WAYS_SECOND, false);
	assert_true(fabs(s.bound - (30 + 50) * SLOWEST) < 1e-6 && s.nguilty == 2);
	p->insns[WAYS_LONG].executions = NAN;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 1000 * SLOWEST);
	p->insns[WAYS_LONG].executions = 0;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 30 * SLOWEST);
	proc_drop(p);
}

/* What it loads itself, if another of its micro-operations waits for that. */
static void test_own_load(void **state)
{
	struct proc *p = make();
	struct vt_mop *op = &p->ops[WAYS_SECOND];

	(void)state;
	op->reads = 0;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 0);
	op->uops[0].op_class = VT_OP_LOAD;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 0);
	op->uops[1].operands = VT_UOP_PREVIOUS;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 1000 * SLOWEST);
	check_bound(p, vti_rule_dtlb, WAYS_SECOND, 1000 * TLB_MISS);
	assert_int_equal(ask(p, vti_rule_dcache, WAYS_SECOND, false).guilty[0], WAYS_SECOND);
	/* At the head of a reorder buffer, its own in any case, and nobody else's. */
	op->uops[1].operands = 0;
	op->reads = AX;
	p->core.order = VT_OUT_OF_ORDER;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 1000 * SLOWEST);
	op->uops[0].op_class = VT_OP_INT;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 0);
	check_bound(p, vti_rule_dtlb, WAYS_SECOND, 0);
	proc_drop(p);
}

/* A store's own translation, and room in the write buffer for a line. */
static void test_own_store(void **state)
{
	struct proc *p = make();
	struct vti_suspect s;

	(void)state;
	set_class(p, WAYS_SECOND, VT_OP_STORE);
	s = ask(p, vti_rule_dtlb, WAYS_SECOND, false);
	assert_true(fabs(s.bound - 1000 * TLB_MISS) < 1e-6);
	assert_true(s.nguilty == 2 && s.guilty[0] == WAYS_SHORT && s.guilty[1] == WAYS_SECOND);
	check_bound(p, vti_rule_write_buffer, WAYS_SECOND, 1000 * (6 + SLOWEST));
	assert_true(ask(p, vti_rule_write_buffer, WAYS_SECOND, true).bound == 1000 * 6);
	check_bound(p, vti_rule_write_buffer, WAYS_HEAD, 0);
	p->core.write_buffer = 0;
	check_bound(p, vti_rule_write_buffer, WAYS_SECOND, 0);
	p->core.order = VT_OUT_OF_ORDER;
	check_bound(p, vti_rule_write_buffer, WAYS_SECOND, 1000 * (6 + SLOWEST));
	p->core.dtlb.entries = 0;
	check_bound(p, vti_rule_dtlb, WAYS_SECOND, 0);
	proc_drop(p);
}

/* Misses of the last cache, of which there are fewer than executions; all others are in the next.
 */
static void test_last_cache(void **state)
{
	struct proc *p = make();
	double most = 2 * (9 + 6 + 4);

	(void)state;
	p->core.skid = 0;
	p->insns[WAYS_SHORT].cycles = p->insns[WAYS_SECOND].cycles = 9;
	p->insns[WAYS_JMP].cycles = p->insns[WAYS_JNE].cycles = 9;
	p->insns[WAYS_SHORT].executions = 500;
	p->in.period[VT_CULPRIT_LLCMISS] = 2;
	p->insns[WAYS_SHORT].samples[VT_CULPRIT_LLCMISS] = 9;
	p->core.l2.latency = 8;
	p->core.l3.latency = 20;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, most * SLOWEST + 1000 * 20);
	p->core.l2.latency = 20;
	p->core.l3.latency = 8;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, most * SLOWEST + 1000 * 20);
	/* Where they say more than the executions do. */
	p->insns[WAYS_SHORT].executions = 30;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 30 * SLOWEST);
	p->core.l2.misses = 0;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 30 * 108 * 2);
	p->core.l2.misses = 4;
	p->core.dcache.misses = 6;
	check_bound(p, vti_rule_dcache, WAYS_SECOND, 30 * 108 * 3);
	proc_drop(p);
}

/* A load out of order, and stores before it in as many micro-operations as are in flight. */
static void test_forwarding(void **state)
{
	struct proc *p = make();
	struct vti_suspect s;

	(void)state;
	p->core.order = VT_OUT_OF_ORDER;
	p->core.forward = 5;
	p->core.blocked = 13;
	p->core.rob = 16;
	set_class(p, WAYS_SHORT, VT_OP_INT);
	set_class(p, WAYS_SECOND, VT_OP_LOAD);
	check_bound(p, vti_rule_forward, WAYS_SECOND, 0);
	set_class(p, WAYS_SHORT, VT_OP_STORE);
	s = ask(p, vti_rule_forward, WAYS_SECOND, false);
	assert_true(s.bound == 1000 * 18 && s.nguilty == 1 && s.guilty[0] == WAYS_SHORT);
	p->core.rob = 10;
	check_bound(p, vti_rule_forward, WAYS_SECOND, 0);
	/* Anything may be stored before the procedure, which is 16 before. */
	set_class(p, WAYS_SHORT, VT_OP_INT);
	proc_set_entry(p, 7);
	p->core.rob = 16;
	check_bound(p, vti_rule_forward, WAYS_SECOND, 0);
	p->core.rob = 17;
	check_bound(p, vti_rule_forward, WAYS_SECOND, 1000 * 18);
	set_class(p, WAYS_SECOND, VT_OP_INT);
	check_bound(p, vti_rule_forward, WAYS_SECOND, 0);
	set_class(p, WAYS_SECOND, VT_OP_LOAD);
	p->core.order = VT_IN_ORDER;
	check_bound(p, vti_rule_forward, WAYS_SECOND, 0);
	/* The one before it, where no size is told. */
	p->core.order = VT_OUT_OF_ORDER;
	p->core.rob = 0;
	check_bound(p, vti_rule_forward, WAYS_SECOND, 0);
	set_class(p, WAYS_HEAD, VT_OP_STORE);
	check_bound(p, vti_rule_forward, WAYS_SECOND, 1000 * 18);
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_awaited),	   cmocka_unit_test(test_own_load),
		cmocka_unit_test(test_own_store),  cmocka_unit_test(test_last_cache),
		cmocka_unit_test(test_forwarding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
