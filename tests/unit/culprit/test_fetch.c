/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often lines and pages of code are fetched, and branches mispredicted, by the ways to it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "culprit/internal.h"
#include "tests/unit/common/procs.h"

/* Of the Alpha: a line from memory, one from the next caches, a translation, a wrong branch. */
#define MISS	 108.0
#define FILL	 28.0
#define TLB_MISS 50.0
#define WRONG	 5.0

static struct vt_error err;

struct asked {
	struct vti_culprit c;
	struct vti_stalled st;
};

static void begin(struct asked *a, struct proc *p, uint32_t insn, bool expected)
{
	assert_int_equal(vti_culprit_init(&a->c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&a->c, insn, &a->st));
	a->st.expected = expected;
}

static struct vti_suspect ask(struct proc *p, vti_culprit_rule *rule, uint32_t insn, bool expected)
{
	struct vti_suspect s = {.bound = INFINITY};
	struct asked a;

	begin(&a, p, insn, expected);
	rule(&a.st, &s);
	vti_culprit_fini(&a.c);
	return s;
}

static void check_bound(struct proc *p, vti_culprit_rule *rule, uint32_t insn, double bound)
{
	double got = ask(p, rule, insn, false).bound;

	if (isinf(bound) ? !isinf(got) : !(fabs(got - bound) < 1e-6))
		fail_msg("%u: %g, not %g", insn, got, bound);
}

/* ---- costs ---- */

static void test_costs(void **state)
{
	struct vt_core m = {.memory = 80, .mispredict = 13, .front = 10};
	const struct vt_tlb_shape tlb = {.latency = 7};
	const struct vti_culprit c = {.core = &m};
	struct vti_stalled st = {.c = &c};

	(void)state;
	m.l2.latency = 8;
	m.l3.latency = 20;
	m.stlb.latency = 30;
	m.classes[VT_OP_LOAD].latency = 4;
	assert_true(vti_culprit_miss(&m) == 8 + 20 + 80);
	assert_true(vti_culprit_fill(&st) == 8 + 20 + 80);
	st.expected = true;
	assert_true(vti_culprit_fill(&st) == 8 + 20);
	assert_true(vti_culprit_tlb(&m, &tlb) == 7 + 30);
	/* The front end is filled again only behind what waits for results. */
	m.order = VT_IN_ORDER;
	assert_true(vti_culprit_mispredict(&m) == 13);
	m.order = VT_OUT_OF_ORDER;
	assert_true(vti_culprit_mispredict(&m) == 13 + 10 + 4);
}

/* ---- lines ---- */

static double count_entered(struct proc *p, uint32_t insn, uint32_t size)
{
	struct asked a;
	double n;

	begin(&a, p, insn, false);
	n = vti_culprit_entered(&a.st, size);
	vti_culprit_fini(&a.c);
	return n;
}

/*
 * Among nops of a byte, one of so many bytes, behind one of so many: it is entered from another
 * line if it begins or ends in one that the instruction before it does not reach.
 */
static void test_lines(void **state)
{
	static const struct {
		uint8_t at, length; /* of the instruction */
		uint8_t before;	    /* length of the one before it */
		double here;	    /* new lines of 32 bytes */
		double fetched;
	} rows[] = {
		{0x1e, 1, 1, 0, 0},  {0x1e, 2, 1, 0, 0}, {0x1e, 3, 1, 1, 1}, {0x1f, 1, 1, 0, 0},
		{0x1f, 2, 1, 1, 1},  {0x20, 1, 1, 1, 1}, {0x20, 1, 2, 0, 0}, {0x20, 15, 1, 1, 1},
		{0x21, 1, 1, 0, 0},  {0x3f, 2, 1, 1, 1}, {0x1f, 0, 1, 0, 0}, {0x20, 0, 1, 1, 1},
		{0x1f, 15, 2, 1, 1},
	};
	uint8_t code[0x50];
	unsigned i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[sizeof(code) - 1] = 0xc3;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc *p = proc_make_plain(code, sizeof(code));
		struct vt_cfg_insn *insns = p->flow.cfg->insns;
		uint32_t at = rows[i].at;

		insns[at].length = rows[i].length;
		insns[at - 1].length = rows[i].before;
		p->insns[at].executions = 1000;
		if (count_entered(p, at, 32) != rows[i].here * 1000)
			fail_msg("row %u: %g", i, count_entered(p, at, 32));
		check_bound(p, vti_rule_icache, at, rows[i].fetched * 1000 * MISS);
		p->core.itlb.page = 32;
		check_bound(p, vti_rule_itlb, at, rows[i].here * 1000 * TLB_MISS);
		assert_true(count_entered(p, at, 0) == 0);
		p->core.icache.size = 0;
		check_bound(p, vti_rule_icache, at, 0);
		p->core.itlb.entries = 0;
		check_bound(p, vti_rule_itlb, at, 0);
		proc_drop(p);
	}
}

/* One that knows of a line entered so often, and of others in its place. */
static void enter(struct vt_footprint *f, uint64_t offset, double often, double others)
{
	assert_int_equal(vt_footprint_enter(f, 0, PROC_START + offset, 1, often, often, &err), 0);
	/* 8 KB further: the same sets. */
	assert_int_equal(
		vt_footprint_enter(f, 0, PROC_START + 0x2000 + offset, 1, others, others, &err), 0);
}

/*
 * A line is missed once and as often as others come into its place: of three lines 31, 21 and 11
 * times.  An instruction misses the one that it begins in, and the one that it ends in.
 */
static void test_displaced(void **state)
{
	static const struct {
		uint8_t at, length;
		double misses;
	} rows[] = {
		{0x00, 1, 31},	    {0x20, 1, 21},	{0x20, 32, 21},
		{0x40, 1, 11},	    {0x1f, 2, 31 + 21}, {0x1f, 33, 31 + 21},
		{0x3f, 2, 21 + 11}, {0x3e, 3, 21 + 11}, {0x1e, 2, 0},
	};
	uint8_t code[0x60];
	unsigned i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[sizeof(code) - 1] = 0xc3;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc *p = proc_make_plain(code, sizeof(code));
		struct vt_footprint *f = vt_footprint_new(&p->core);

		assert_non_null(f);
		enter(f, 0, 40, 30);
		enter(f, 0x20, 50, 20);
		enter(f, 0x40, 60, 10);
		assert_int_equal(vt_footprint_finish(f, &err), 0);
		p->in.footprint = f;
		proc_set_entry(p, 1000);
		p->insns[rows[i].at].executions = 1000;
		p->flow.cfg->insns[rows[i].at].length = rows[i].length;
		check_bound(p, vti_rule_icache, rows[i].at, rows[i].misses * MISS);
		vt_footprint_free(f);
		proc_drop(p);
	}
}

/* By each way from another line, each times the lines that are new by it. */
static void test_ways_to_lines(void **state)
{
	struct proc *p = proc_make_ways();
	struct vt_cfg_insn *insns = p->flow.cfg->insns;

	(void)state;
	p->insns[WAYS_HEAD].executions = 1000;
	proc_set_edge(p, 5, 8, 100);
	proc_set_edge(p, 7, 8, 200);
	proc_set_edge(p, 0xa, 8, 700);
	/* Lines of 8 bytes: 401008 begins one, and the loop's end is in it. */
	p->core.icache.line = 8;
	p->core.icache.size = 8 * 8;
	p->core.icache.ways = 1;
	assert_true(count_entered(p, WAYS_HEAD, 8) == 300);
	/* Of 8 bytes from 401007 on it is in two, and each way comes from one of them. */
	insns[WAYS_HEAD].addr = 0x401007;
	insns[WAYS_HEAD].length = 8;
	assert_true(count_entered(p, WAYS_HEAD, 8) == 1000);
	insns[WAYS_JNE].addr = 0x401012;
	assert_true(count_entered(p, WAYS_HEAD, 8) == 1000);
	/* The loop's end is in neither; but its lines stay in the cache once it is entered. */
	check_bound(p, vti_rule_icache, WAYS_HEAD, 2 * 300 * MISS);
	/* Who is called may take them: each is fetched anew, and behind a call both are. */
	p->ops[WAYS_SECOND].flags = insns[WAYS_SECOND].flags = VT_FACT_CALL;
	check_bound(p, vti_rule_icache, WAYS_HEAD, (100 + 200 + 2 * 700) * MISS);
	insns[WAYS_LONG].flags = VT_FACT_CALL;
	check_bound(p, vti_rule_icache, WAYS_HEAD, (100 + 2 * 200 + 2 * 700) * MISS);
	proc_drop(p);
}

/* ---- branches ---- */

/* 1000 executions, of which 100 come by the first way, 200 by the second, and 700 by the loop's. */
static struct proc *make_branches(void)
{
	struct proc *p = proc_make_ways();

	p->insns[WAYS_HEAD].executions = 1000;
	proc_set_edge(p, 5, 8, 100);
	proc_set_edge(p, 7, 8, 200);
	proc_set_edge(p, 0xa, 8, 700);
	proc_set_edge(p, 0xa, 0xc, 30);
	return p;
}

static void check_wrong(struct proc *p, uint32_t insn, double surely, double likely)
{
	double got = ask(p, vti_rule_mispredict, insn, false).bound;

	if (fabs(got - surely * WRONG) > 1e-6)
		fail_msg("%u: %g, not %g", insn, got / WRONG, surely);
	got = ask(p, vti_rule_mispredict, insn, true).bound;
	if (fabs(got - likely * WRONG) > 1e-6)
		fail_msg("expected at %u: %g, not %g", insn, got / WRONG, likely);
}

/*
 * A conditional branch is wrong twice for each time that it goes on; an indirect one each time, or
 * half of them where targets are remembered; a return from too deep, 2 in 100; others never are.
 */
static void test_branches(void **state)
{
	struct proc *p = make_branches();
	struct vti_suspect s;

	(void)state;
	check_wrong(p, WAYS_HEAD, 0, 0);
	assert_int_equal(ask(p, vti_rule_mispredict, WAYS_HEAD, false).nguilty, 0);
	p->ops[WAYS_JNE].flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	check_wrong(p, WAYS_HEAD, 2 * 30, 30);
	s = ask(p, vti_rule_mispredict, WAYS_HEAD, false);
	assert_true(s.nguilty == 1 && s.guilty[0] == WAYS_JNE);
	p->core.btb = 0;
	p->ops[WAYS_JMP].flags = VT_FACT_BRANCH | VT_FACT_INDIRECT;
	check_wrong(p, WAYS_HEAD, 100 + 2 * 30, 100 + 30);
	p->core.btb = 64;
	check_wrong(p, WAYS_HEAD, 100 + 2 * 30, 50 + 30);
	s = ask(p, vti_rule_mispredict, WAYS_HEAD, false);
	assert_true(s.nguilty == 2 && s.guilty[0] == WAYS_JMP && s.guilty[1] == WAYS_JNE);
	/* The return of a call, which nobody here is guilty of. */
	p->flow.cfg->insns[WAYS_LONG].flags = VT_FACT_CALL;
	check_wrong(p, WAYS_HEAD, 100 + 200 + 2 * 30, 50 + 4 + 30);
	assert_int_equal(ask(p, vti_rule_mispredict, WAYS_HEAD, false).nguilty, 2);
	/* The other way was taken 700 times, which is more than half of 30. */
	p->ops[WAYS_JNE].flags = 0;
	check_wrong(p, WAYS_RET, 0, 0);
	p->ops[WAYS_JNE].flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	p->insns[WAYS_RET].executions = 30;
	check_wrong(p, WAYS_RET, 30, 15);
	/* Nothing is within a block. */
	check_wrong(p, WAYS_SECOND, 0, 0);
	proc_drop(p);
}

/* Whoever comes from outside may have been called, by an address that is known or not. */
static void test_calls(void **state)
{
	struct proc *p = make_branches();
	struct vt_footprint *f = vt_footprint_new(&p->core);

	(void)state;
	assert_non_null(f);
	p->core.btb = 0;
	p->insns[WAYS_TEST].executions = 300;
	check_wrong(p, WAYS_TEST, 300, 300);
	p->core.btb = 64;
	check_wrong(p, WAYS_TEST, 300, 150);
	assert_int_equal(vt_footprint_call(f, 0, PROC_START, 120, &err), 0);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	p->in.footprint = f;
	check_wrong(p, WAYS_TEST, 180, 90);
	/* Other 700 come from nobody knows where; those by name are counted off once. */
	p->insns[WAYS_TEST].executions = 1000;
	p->flow.cfg->complete = false;
	check_wrong(p, WAYS_TEST, 180 + 700, 90 + 350);
	proc_set_entry(p, 100);
	check_wrong(p, WAYS_TEST, 900 - 20, 440);
	p->flow.cfg->complete = true;
	proc_set_entry(p, 120.5);
	check_wrong(p, WAYS_TEST, 0.5, 0.25);
	p->flow.proc.image = 1;
	check_wrong(p, WAYS_TEST, 120.5, 60.25);
	vt_footprint_free(f);
	proc_drop(p);
}

/* Samples of wrong branches are of the branch; of a return or a call, of what comes behind. */
static void test_sampled_branches(void **state)
{
	struct proc *p = make_branches();

	(void)state;
	p->core.btb = 0;
	p->core.skid = 0;
	p->in.period[VT_CULPRIT_BRANCHMP] = 2;
	p->ops[WAYS_JMP].flags = VT_FACT_BRANCH | VT_FACT_INDIRECT;
	p->insns[WAYS_JMP].cycles = p->insns[WAYS_HEAD].cycles = 9;
	/* None was seen: there may have been 4 of 2 each, and 0.3 are expected. */
	check_wrong(p, WAYS_HEAD, 8, 0.6);
	/* 9 at the branch: 9 + 6 + 4. */
	p->insns[WAYS_JMP].samples[VT_CULPRIT_BRANCHMP] = 9;
	check_wrong(p, WAYS_HEAD, 2 * 19, 2 * 9.3);
	p->in.period[VT_CULPRIT_BRANCHMP] = 10;
	check_wrong(p, WAYS_HEAD, 100, 93);
	p->insns[WAYS_TEST].executions = 300;
	p->insns[WAYS_TEST].cycles = p->insns[WAYS_JE].cycles = 9;
	check_wrong(p, WAYS_TEST, 40, 3);
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_displaced),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_ways_to_lines),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_sampled_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
