/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What waits for units, for operands and for order, by how far who occupies them is away. */
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

#define AX (UINT64_C(1) << VT_REG_AX)

static struct vt_error err;

static struct vti_suspect ask(struct proc *p, vti_culprit_rule *rule, uint32_t insn)
{
	struct vti_suspect s = {.bound = INFINITY};
	struct vti_stalled st;
	struct vti_culprit c;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, insn, &st));
	rule(&st, &s);
	vti_culprit_fini(&c);
	return s;
}

static void check_bound(struct proc *p, vti_culprit_rule *rule, uint32_t insn, double bound)
{
	double got = ask(p, rule, insn).bound;

	if (isinf(bound) ? !isinf(got) : !(fabs(got - bound) < 1e-6))
		fail_msg("%u: %g, not %g", insn, got, bound);
}

/* So many nops and a return; four are issued in each cycle. */
static struct proc *make_nops(size_t n)
{
	uint8_t code[64];

	assert_true(n < sizeof(code));
	memset(code, 0x90, n);
	code[n] = 0xc3;
	return proc_make_plain(code, n + 1);
}

static struct vt_uop occupy(enum vt_op_class class_, uint16_t busy, uint32_t units)
{
	return (struct vt_uop){.op_class = class_, .latency = 1, .busy = busy, .units = units};
}

/* ---- what is noted of a procedure ---- */

/* Each sort of micro-operation that occupies units once, and how many there are up to 17. */
static void test_noted(void **state)
{
	struct proc *p = make_nops(20);
	struct vti_culprit c;
	uint32_t i;

	(void)state;
	p->ops[0].uops[0] = occupy(VT_OP_FADD, 1, 1);
	p->ops[1].uops[0] = occupy(VT_OP_FADD, 2, 1);
	p->ops[2].uops[0] = occupy(VT_OP_FADD, 9, 1);
	p->ops[3].uops[0] = occupy(VT_OP_FMUL, 2, 1);
	p->ops[4].nuops = 2;
	p->ops[4].uops[1] = occupy(VT_OP_FMUL, 2, 3);
	/* Behind its last micro-operation. */
	p->ops[4].uops[2] = occupy(VT_OP_FMUL, 2, 7);
	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_int_equal(c.nlongs, 3);
	assert_true(c.longs[0].op_class == VT_OP_FADD && c.longs[0].units == 1);
	assert_true(c.longs[1].op_class == VT_OP_FMUL && c.longs[1].units == 1);
	assert_true(c.longs[2].op_class == VT_OP_FMUL && c.longs[2].units == 3);
	vti_culprit_fini(&c);
	for (i = 0; i < 20; i++) {
		p->ops[i].nuops = 1;
		p->ops[i].uops[0] = occupy(VT_OP_FADD, i < 16 ? 2 : 1, UINT32_C(1) << i);
	}
	for (i = 16; i < 19; i++) {
		assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
		assert_int_equal(c.nlongs, i < 17 ? 16 : 17);
		assert_true(c.longs[15].units == 1U << 15);
		vti_culprit_fini(&c);
		p->ops[i].uops[0].busy = 2;
	}
	proc_drop(p);
}

/* Behind what waited for two cycles, as long as all run as scheduled, within 0.02 cycles. */
static void test_undisturbed(void **state)
{
	static const float heads[] = {2, 0.5F, 2, 0.25F, 1.5F, 1.99F, 3, 0.5F, 0.5F, 2, 1};
	static const double off[] = {0.5, 0, 0, 0.019, -0.019, 0.03, 0, 0, -0.03, 0, 0};
	static const bool undisturbed[] = {false, false, false, true,  true, true,
					   false, true,	 true,	false, true};
	struct proc *p = make_nops(10);
	struct vti_culprit c;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 11; i++) {
		p->costs[i].head = heads[i];
		p->insns[i].cycles = (double)heads[i] + off[i];
	}
	for (k = 0; k < 2; k++) {
		assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
		for (i = 0; i < 11; i++)
			if (c.undisturbed[i] != (undisturbed[i] && !(k && i == 10)))
				fail_msg("%u, %u", k, i);
		vti_culprit_fini(&c);
		/* What is behind a call. */
		p->ops[9].flags = VT_FACT_CALL;
	}
	proc_drop(p);
}

/* ---- units ---- */

/* A unit of 22 cycles is taken by who came before the procedure, if results of divisions meet. */
static void test_busy_outside(void **state)
{
	static const struct {
		enum vt_op_class class_;
		vti_culprit_rule *rule;
	} rows[] = {
		{VT_OP_DIVIDE, vti_rule_divider},      {VT_OP_FDIV, vti_rule_divider},
		{VT_OP_MULTIPLY, vti_rule_multiplier}, {VT_OP_FMUL, vti_rule_multiplier},
		{VT_OP_FADD, vti_rule_unit},
	};
	static vti_culprit_rule *const rules[] = {vti_rule_divider, vti_rule_multiplier,
						  vti_rule_unit};
	unsigned i, k, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (n = 1; n < 10; n++) {
			struct proc *p = make_nops(n + 1);
			double each = 10 * (n + 1);

			for (k = 0; k < VT_NOPCLASSES; k++)
				p->core.classes[k].busy = 1;
			proc_set_entry(p, 300);
			p->core.classes[rows[i].class_].busy = 22;
			p->ops[n].uops[0] = occupy(rows[i].class_, 1, 1);
			p->costs[n].head = 2.5F;
			for (k = 0; k < 3; k++)
				check_bound(p, rules[k], n,
					    rules[k] == rows[i].rule
						    ? each * (22 - floor(n / 4.0) - 2.5)
						    : 0);
			/* Nobody came; or it is done. */
			proc_set_entry(p, 0);
			check_bound(p, rows[i].rule, n, 0);
			proc_set_entry(p, 300);
			p->core.classes[rows[i].class_].busy = 2;
			p->costs[n].head = 1.25F;
			check_bound(p, rows[i].rule, n, n < 4 ? each * 0.75 : 0);
			p->core.classes[rows[i].class_].busy = 1;
			check_bound(p, rows[i].rule, n, 0);
			proc_drop(p);
		}
	}
}

/* An issue of one each cycle, which is the least. */
static void test_width(void **state)
{
	struct proc *p = make_nops(6);
	unsigned width;

	(void)state;
	proc_set_entry(p, 300);
	p->core.classes[VT_OP_FDIV].busy = 22;
	p->ops[5].uops[0] = occupy(VT_OP_FDIV, 1, 1);
	p->costs[5].head = 2;
	for (width = 0; width < 7; width++) {
		static const double since[] = {5, 5, 2, 1, 1, 1, 0};

		p->core.issue = (uint8_t)width;
		check_bound(p, vti_rule_divider, 5, 60 * (22 - since[width] - 2));
	}
	proc_drop(p);
}

/*
 * The first occupies units 1 and 2 for 9 and 5 cycles, the second unit 4 for 30, by another class.
 */
static void test_busy_inside(void **state)
{
	static const struct {
		uint32_t units;
		double wait;
	} rows[] = {
		{1, 9 - 1}, {2, 5 - 1}, {3, 0}, {4, 0}, {0, 0}, {6, 0},
	};
	struct proc *p = make_nops(8);
	struct vti_suspect s;
	unsigned i;

	(void)state;
	proc_set_entry(p, 0);
	p->core.classes[VT_OP_FADD].busy = 9;
	p->core.classes[VT_OP_FMUL].busy = 30;
	p->ops[1].nuops = 2;
	p->ops[1].uops[0] = occupy(VT_OP_FADD, 9, 1);
	p->ops[1].uops[1] = occupy(VT_OP_FADD, 5, 2);
	p->ops[1].uops[2] = occupy(VT_OP_FADD, 8, 3);
	p->ops[2].uops[0] = occupy(VT_OP_FMUL, 30, 4);
	p->costs[7].head = 1;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p->ops[7].uops[0] = occupy(VT_OP_INT, 1, rows[i].units);
		/* Five micro-operations in between: one cycle. */
		s = ask(p, vti_rule_unit, 7);
		assert_true(fabs(s.bound - 80 * fmax(rows[i].wait - 1, 0)) < 1e-6);
		assert_int_equal(s.nguilty, rows[i].wait > 0);
		assert_true(!s.nguilty || s.guilty[0] == 1);
	}
	/* By another of its micro-operations, and the longer one of both. */
	p->ops[7].nuops = 2;
	p->ops[7].uops[0] = occupy(VT_OP_INT, 1, 2);
	p->ops[7].uops[1] = occupy(VT_OP_INT, 1, 1);
	check_bound(p, vti_rule_unit, 7, 80 * 7);
	p->ops[7].nuops = 1;
	check_bound(p, vti_rule_unit, 7, 80 * 3);
	check_bound(p, vti_rule_divider, 7, 0);
	/* Of the other class; the third in between, of which there are four. */
	p->ops[7].uops[0].units = 4;
	check_bound(p, vti_rule_multiplier, 7, 80 * (30 - 1 - 1));
	assert_int_equal(ask(p, vti_rule_multiplier, 7).guilty[0], 2);
	proc_drop(p);
}

/*
 * Who adds for 3 cycles and divides for 22, before the procedure or in it: an addition waits for
 * the one, a division for the other.
 */
static void test_busy_twice(void **state)
{
	struct proc *p = make_nops(6);
	unsigned i;

	(void)state;
	for (i = 0; i < VT_NOPCLASSES; i++)
		p->core.classes[i].busy = 1;
	p->core.classes[VT_OP_FADD].busy = 3;
	p->core.classes[VT_OP_FDIV].busy = 22;
	proc_set_entry(p, 300);
	p->ops[5].nuops = 2;
	p->ops[5].uops[0] = occupy(VT_OP_FADD, 1, 1);
	p->ops[5].uops[1] = occupy(VT_OP_FDIV, 1, 1);
	p->costs[5].head = 0.5F;
	check_bound(p, vti_rule_unit, 5, 60 * (3 - 1 - 0.5));
	check_bound(p, vti_rule_divider, 5, 60 * (22 - 1 - 0.5));
	check_bound(p, vti_rule_multiplier, 5, 0);
	proc_set_entry(p, 0);
	p->ops[2].nuops = 2;
	p->ops[2].uops[0] = occupy(VT_OP_FADD, 3, 1);
	p->ops[2].uops[1] = occupy(VT_OP_FDIV, 22, 1);
	check_bound(p, vti_rule_unit, 5, 60 * (3 - 0.5));
	check_bound(p, vti_rule_divider, 5, 60 * (22 - 0.5));
	check_bound(p, vti_rule_multiplier, 5, 0);
	/* The last of its cycles. */
	p->ops[3].nuops = 4;
	p->ops[2].uops[0].busy = 2;
	check_bound(p, vti_rule_unit, 5, 60 * (2 - 1 - 0.5));
	assert_int_equal(ask(p, vti_rule_unit, 5).guilty[0], 2);
	assert_int_equal(ask(p, vti_rule_unit, 5).nguilty, 1);
	proc_drop(p);
}

/* Who begins a cycle finds all units free; others wait for the next one. */
static void test_next_cycle(void **state)
{
	struct proc *p = make_nops(4);

	(void)state;
	proc_set_entry(p, 0);
	p->costs[2].head = 0.25F;
	check_bound(p, vti_rule_unit, 2, 30 * 0.75);
	p->costs[2].head = 1;
	check_bound(p, vti_rule_unit, 2, 0);
	p->costs[2].head = 3;
	check_bound(p, vti_rule_unit, 2, 0);
	p->costs[2].head = 0.25F;
	p->core.order = VT_OUT_OF_ORDER;
	check_bound(p, vti_rule_unit, 2, 0);
	p->core.order = VT_IN_ORDER;
	p->costs[1].head = 2;
	p->insns[1].cycles = 2;
	check_bound(p, vti_rule_unit, 2, 0);
	proc_drop(p);
}

/*
 * Three ways to an instruction of 1000 executions, from those after which nothing is issued for 12,
 * 20 and 3 cycles, of which the schedule knows 2.5.
 */
static void test_behind_fences(void **state)
{
	static const enum vt_op_class classes[] = {VT_OP_SYNC, VT_OP_SLOW, VT_OP_SYNC};
	static const uint32_t from[] = {WAYS_JMP, WAYS_LONG, WAYS_JNE};
	static const uint16_t latencies[] = {12, 20, 3};
	struct proc *p = proc_make_ways();
	struct vti_suspect s;
	unsigned i;

	(void)state;
	p->insns[WAYS_HEAD].executions = 1000;
	p->costs[WAYS_HEAD].head = 2.5F;
	proc_set_edge(p, 5, 8, 100);
	proc_set_edge(p, 7, 8, 200);
	proc_set_edge(p, 0xa, 8, 700);
	for (i = 0; i < 3; i++) {
		struct vt_mop *op = &p->ops[from[i]];

		op->uops[0] = (struct vt_uop){
			.op_class = (uint8_t)classes[i], .latency = latencies[i], .busy = 1};
	}
	s = ask(p, vti_rule_unit, WAYS_HEAD);
	assert_true(fabs(s.bound - (100 * 9.5 + 200 * 17.5 + 700 * 0.5)) < 1e-6);
	assert_int_equal(s.nguilty, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(s.guilty[i], from[i]);
	p->ops[WAYS_JNE].uops[0].latency = 2;
	s = ask(p, vti_rule_unit, WAYS_HEAD);
	assert_true(fabs(s.bound - (100 * 9.5 + 200 * 17.5)) < 1e-6 && s.nguilty == 2);
	p->ops[WAYS_LONG].uops[0].op_class = VT_OP_INT;
	check_bound(p, vti_rule_unit, WAYS_HEAD, 100 * 9.5);
	/* What returns has done its work. */
	p->ops[WAYS_LONG].uops[0].op_class = VT_OP_SLOW;
	p->flow.cfg->insns[WAYS_LONG].flags = VT_FACT_CALL;
	check_bound(p, vti_rule_unit, WAYS_HEAD, 100 * 9.5);
	proc_drop(p);
}

/* ---- operands ---- */

/*
 * Defined by latencies of 5, 8 and 6 cycles, 10, 6 and 14 micro-operations before: 2, 1 and 3
 * cycles, of which the schedule knows half a one.
 */
static void test_operands(void **state)
{
	struct proc *p = proc_make_ways();
	struct vti_suspect s;
	unsigned i;

	(void)state;
	proc_set_entry(p, 0);
	p->ops[WAYS_SHORT].writes = p->ops[WAYS_LONG].writes = p->ops[WAYS_SECOND].writes = AX;
	p->ops[WAYS_SHORT].uops[0].latency = 5;
	p->ops[WAYS_LONG].uops[0].latency = 8;
	p->ops[WAYS_SECOND].uops[0].latency = 6;
	p->costs[WAYS_SECOND].head = 0.5F;
	p->insns[WAYS_SECOND].executions = 1000;
	for (i = 0; i < 2; i++) {
		p->ops[WAYS_SECOND].reads = i ? 0 : AX;
		p->ops[WAYS_SECOND].address_reads = i ? AX : 0;
		s = ask(p, vti_rule_dependency, WAYS_SECOND);
		assert_true(fabs(s.bound - (30 * 2.5 + 50 * 6.5 + 1000 * 2.5)) < 1e-6);
		assert_true(s.nguilty == 3 && s.guilty[0] == WAYS_SHORT &&
			    s.guilty[1] == WAYS_LONG && s.guilty[2] == WAYS_SECOND);
	}
	/* No more than all of it by the longest. */
	p->insns[WAYS_LONG].executions = 5000;
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 1000 * 6.5);
	p->insns[WAYS_LONG].executions = NAN;
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 1000 * 6.5);
	p->insns[WAYS_LONG].executions = 0;
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 30 * 2.5 + 1000 * 2.5);
	/* What is there in time makes nobody wait. */
	p->ops[WAYS_SECOND].uops[0].latency = 3;
	s = ask(p, vti_rule_dependency, WAYS_SECOND);
	assert_true(fabs(s.bound - 30 * 2.5) < 1e-6 && s.nguilty == 2);
	proc_drop(p);
}

/* What comes from others takes what a load does: 4 cycles here, of which 0.5 are known. */
static void test_operands_of_others(void **state)
{
	static const uint32_t flags[] = {VT_FACT_CALL, VT_FACT_SYSCALL};
	struct proc *p = proc_make_ways();
	unsigned i;

	(void)state;
	p->core.classes[VT_OP_LOAD].latency = 4;
	p->insns[WAYS_SECOND].executions = 1000;
	p->costs[WAYS_SECOND].head = 0.5F;
	p->ops[WAYS_SECOND].reads = AX;
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 300 * 3.5);
	proc_set_entry(p, 0.25);
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 0.25 * 3.5);
	proc_set_entry(p, 2000);
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 1000 * 3.5);
	p->costs[WAYS_SECOND].head = 3.75F;
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 1000 * 0.25);
	p->costs[WAYS_SECOND].head = 4;
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 0);
	/* By the one way, and by the other from outside: 30 times 5 - 2 - 0.5 cycles more. */
	p->costs[WAYS_SECOND].head = 0.5F;
	proc_set_entry(p, 100);
	p->ops[WAYS_SHORT].writes = AX;
	p->ops[WAYS_SHORT].uops[0].latency = 5;
	check_bound(p, vti_rule_dependency, WAYS_SECOND, 30 * 2.5 + 100 * 3.5);
	p->ops[WAYS_SHORT].writes = 0;
	proc_set_entry(p, 0);
	/* Whatever takes longest in the call: its result is loaded, 6 micro-operations before. */
	p->ops[WAYS_JNE].reads = AX;
	for (i = 0; i < 2; i++) {
		p->ops[WAYS_JMP].flags = p->ops[WAYS_LONG].flags = flags[i];
		p->ops[WAYS_JMP].uops[0].latency = 99;
		check_bound(p, vti_rule_dependency, WAYS_SECOND, (40 + 50) * (4 - 1 - 0.5));
	}
	proc_drop(p);
}

/* ---- order ---- */

/*
 * Two misses of 8 + 20 + 80 cycles, 6 of a line that is written, and 22 of a division; whatever
 * else it does, too.
 */
static void test_sync(void **state)
{
	static const enum vt_op_class classes[] = {VT_OP_SYNC, VT_OP_SLOW};
	struct proc *p = make_nops(3);
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		p->ops[1].nuops = 2;
		p->ops[1].uops[1] = occupy(classes[i], 1, 0);
		check_bound(p, vti_rule_sync, 1, 20 * (2 * 108.0 + 6 + 22));
		p->ops[1].nuops = 1;
		check_bound(p, vti_rule_sync, 1, 0);
		check_bound(p, vti_rule_queue, 1, 0);
	}
	proc_drop(p);
}

/* On any of the ways to it, or itself; what was before the procedure is not looked into. */
static void test_system_calls(void **state)
{
	static const uint32_t from[] = {WAYS_JMP, WAYS_LONG, WAYS_JNE};
	struct proc *p = proc_make_ways();
	struct vti_suspect s;
	unsigned i;

	(void)state;
	check_bound(p, vti_rule_other, WAYS_HEAD, 0);
	check_bound(p, vti_rule_other, WAYS_TEST, 0);
	for (i = 0; i < 3; i++) {
		p->ops[from[i]].flags = VT_FACT_SYSCALL;
		s = ask(p, vti_rule_other, WAYS_HEAD);
		assert_true(isinf(s.bound) && s.nguilty == 1 && s.guilty[0] == from[i]);
		s = ask(p, vti_rule_other, from[i]);
		assert_true(isinf(s.bound) && s.nguilty == 0);
		check_bound(p, vti_rule_other, WAYS_SECOND, 0);
		p->ops[from[i]].flags = VT_FACT_CALL;
		check_bound(p, vti_rule_other, WAYS_HEAD, 0);
		p->ops[from[i]].flags = 0;
	}
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_noted),	      cmocka_unit_test(test_undisturbed),
		cmocka_unit_test(test_busy_outside),  cmocka_unit_test(test_width),
		cmocka_unit_test(test_busy_inside),   cmocka_unit_test(test_next_cycle),
		cmocka_unit_test(test_behind_fences), cmocka_unit_test(test_operands),
		cmocka_unit_test(test_sync),	      cmocka_unit_test(test_operands_of_others),
		cmocka_unit_test(test_system_calls),  cmocka_unit_test(test_busy_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
