/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What facts allow each cause of a stall on a machine that issues out of order, and why. */
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
 * The numbers of zen4.core: a miss takes 14 + 50 + 280 cycles, thrice as long to be sure; so do a
 * load behind a store that does not hold all of it, 7 + 14 cycles, and a wrong branch, 13 + 10 + 4.
 */
#define MISS	(3 * 344.0)
#define FORWARD (3 * 21.0)
#define WRONG	(3 * 27.0)
#define ROB	320.0

static struct vti_fact ask(struct proc *p, uint64_t offset, enum vt_stall_cause cause)
{
	struct vti_fact fact = {-1, 0, VT_WHY_NONE};
	struct vti_stalled st;
	struct vti_culprit c;
	uint32_t i;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, proc_at(p, offset), &st));
	for (i = 0; i < VTI_FACTS; i++)
		if (vti_culprit_fact_cause(i) == cause)
			fact = vti_culprit_fact(&st, i);
	vti_culprit_fini(&c);
	return fact;
}

static void check(struct proc *p, uint64_t offset, enum vt_stall_cause cause, double bound,
		  enum vt_stall_why why)
{
	struct vti_fact got = ask(p, offset, cause);

	if (isinf(bound) ? !isinf(got.bound) : !(fabs(got.bound - bound) < 1e-6 * (1 + bound)))
		fail_msg("%s at %#x: %g, not %g", vt_stall_name(cause), (unsigned)offset, got.bound,
			 bound);
	if (got.why != why)
		fail_msg("%s at %#x: %s, not %s", vt_stall_name(cause), (unsigned)offset,
			 vt_why_name(got.why), vt_why_name(why));
}

static void set_entry(struct proc *p, double n)
{
	uint32_t i;

	for (i = 0; i < p->flow.cfg->nedges; i++)
		if (p->flow.cfg->edges[i].from == VT_CFG_ENTRY)
			p->edges[i] = n;
}

/* A loop from 0 to `last`, a branch of two bytes, of 1,000 rounds in 10 visits, and a return. */
static struct proc *make_loop(const uint8_t *code, size_t size, uint64_t last)
{
	struct proc *p = proc_make("zen4", code, size);

	p->in.code = code;
	p->in.code_size = size;
	proc_set_edge(p, last, 0, 990);
	proc_set_edge(p, last, last + 2, 10);
	set_entry(p, 10);
	p->insns[proc_at(p, last + 2)].executions = 10;
	return p;
}

/*
 *  0: 48 8b 3f        mov (%rdi),%rdi
 *  3: ff ce           dec %esi
 *  5: 75 f9           jne 0
 *  7: c3              ret
 */
static const uint8_t chase[] = {0x48, 0x8b, 0x3f, 0xff, 0xce, 0x75, 0xf9, 0xc3};

/*
 * The branch goes on 10 times, and may be wrong as often on the way back.  The loop is in one line,
 * which is fetched once a visit.  Code from outside is in reach of the first rounds of 4
 * micro-operations (load, decrement, fused or not, branch); it is met on two ways.
 */
static void test_chain_of_loads(void **state)
{
	struct proc *p = make_loop(chase, sizeof(chase), 5);
	double slots = p->ops[0].slots + p->ops[1].slots + p->ops[2].slots;

	(void)state;
	check(p, 0, VT_STALL_DCACHE, INFINITY, VT_WHY_ANYWHERE);
	check(p, 0, VT_STALL_DTLB, INFINITY, VT_WHY_ANYWHERE);
	check(p, 0, VT_STALL_WRITE_BUFFER, 0, VT_WHY_ABSENT);
	check(p, 0, VT_STALL_FORWARD, fmin(1000, 2 * 10 * (1 + ROB / slots)) * FORWARD,
	      VT_WHY_STORE);
	check(p, 0, VT_STALL_ICACHE, 10 * MISS, VT_WHY_DISPLACED);
	check(p, 3, VT_STALL_ICACHE, 0, VT_WHY_ABSENT);
	check(p, 0, VT_STALL_MISPREDICT, 0, VT_WHY_ABSENT);
	check(p, 5, VT_STALL_MISPREDICT, 20 * WRONG, VT_WHY_BOTH_WAYS);
	check(p, 7, VT_STALL_MISPREDICT, 10 * WRONG, VT_WHY_RETURNS);
	check(p, 0, VT_STALL_SYNC, 0, VT_WHY_ABSENT);
	check(p, 0, VT_STALL_DIVIDER, 0, VT_WHY_ABSENT);
	check(p, 0, VT_STALL_OTHER, 0, VT_WHY_ABSENT);
	check(p, 3, VT_STALL_DCACHE, 0, VT_WHY_ABSENT);
	check(p, 3, VT_STALL_FORWARD, 0, VT_WHY_ABSENT);
	/* A branch of which nobody knows where it goes may be wrong each time. */
	proc_set_edge(p, 5, 0, NAN);
	check(p, 5, VT_STALL_MISPREDICT, 1000 * WRONG, VT_WHY_BOTH_WAYS);
	proc_drop(p);
}

/*
 *  0: 48 8b 3f        mov (%rdi),%rdi
 *  3: 85 d2           test %edx,%edx
 *  5: 74 03           je a
 *  7: 48 ff c0        inc %rax
 *  a: ff ce           dec %esi
 *  c: 75 f2           jne 0
 *  e: c3              ret
 */
static const uint8_t forked[] = {0x48, 0x8b, 0x3f, 0x85, 0xd2, 0x74, 0x03, 0x48,
				 0xff, 0xc0, 0xff, 0xce, 0x75, 0xf2, 0xc3};

/*
 * The load comes again after a round of the loop, in which the increment may be left out.  Code
 * from outside is met on two ways, as above.
 */
static void test_reach_of_outside(void **state)
{
	struct proc *p = make_loop(forked, sizeof(forked), 0xc);
	double slots = 0;
	uint32_t i;

	(void)state;
	proc_set_edge(p, 5, 7, 500);
	proc_set_edge(p, 5, 0xa, 500);
	p->insns[proc_at(p, 7)].executions = 500;
	for (i = 0; i < 6; i++)
		slots += i == 3 ? 0 : p->ops[i].slots;
	p->core.rob = 10;
	check(p, 0, VT_STALL_FORWARD, 2 * 10 * (1 + 10 / slots) * FORWARD, VT_WHY_STORE);
	proc_drop(p);
}

/* Samples of misses: 3 of 10 each; no more than 3 + 2 sqrt(3) + 4 may have been there. */
static void test_sampled_misses(void **state)
{
	struct proc *p = make_loop(chase, sizeof(chase), 5);
	double most = 10 * (3 + 2 * sqrt(3) + 4);

	(void)state;
	p->in.period[VT_CULPRIT_DMISS] = p->in.period[VT_CULPRIT_DTBMISS] = 10;
	p->in.period[VT_CULPRIT_BRANCHMP] = 1;
	p->insns[0].samples[VT_CULPRIT_DMISS] = 3;
	check(p, 0, VT_STALL_DCACHE, most * MISS, VT_WHY_ANYWHERE);
	check(p, 0, VT_STALL_DTLB, 40 * MISS, VT_WHY_ANYWHERE);
	check(p, 5, VT_STALL_MISPREDICT, 4 * WRONG, VT_WHY_BOTH_WAYS);
	proc_drop(p);
}

/*
 * Stacks have 100 of the branch's 990 taken ones, 9 of which were mispredicted: 9 + 2 * 3 + 4 may
 * have been, and 9 - 2 * 3 were, a tenth more or less.  Each of the 10 ways out may have been, too.
 */
static void test_mispredicted_in_stacks(void **state)
{
	struct proc *p = make_loop(chase, sizeof(chase), 5);
	struct vt_culprit_branch *b = &p->insns[proc_at(p, 5)].branch;
	double most = (500 * 0.19 / 0.9 + 500) * WRONG;

	(void)state;
	/* Bounded by its ways as it is: 20 times. */
	*b = (struct vt_culprit_branch){100, 9, 0, INFINITY};
	check(p, 5, VT_STALL_MISPREDICT, 20 * WRONG, VT_WHY_BOTH_WAYS);
	/* Half of the time to each side, it may be wrong each time, but for what stacks show. */
	proc_set_edge(p, 5, 0, 500);
	proc_set_edge(p, 5, 7, 500);
	check(p, 5, VT_STALL_MISPREDICT, most, VT_WHY_BOTH_WAYS);
	assert_true(ask(p, 5, VT_STALL_MISPREDICT).sure == 0);
	/* What one took, within 2 deviations; it may take more later. */
	*b = (struct vt_culprit_branch){100, 9, 30, 2};
	check(p, 5, VT_STALL_MISPREDICT, most, VT_WHY_BOTH_WAYS);
	assert_true(fabs(ask(p, 5, VT_STALL_MISPREDICT).sure - 0.9 * 500 * 0.03 * 26) < 1e-6);
	/* A doubt of 1,000 executions by a tenth is one of 500 that were taken by a fifth. */
	p->insns[proc_at(p, 5)].doubt = 0.1;
	assert_true(fabs(ask(p, 5, VT_STALL_MISPREDICT).sure - 0.9 * 300 * 0.03 * 26) < 1e-6);
	p->insns[proc_at(p, 5)].doubt = 0;
	*b = (struct vt_culprit_branch){100, 9, 3, 2};
	check(p, 5, VT_STALL_MISPREDICT, most, VT_WHY_BOTH_WAYS);
	assert_true(ask(p, 5, VT_STALL_MISPREDICT).sure == 0);
	/* New code misses caches, too: no more is claimed than 3 times the model's. */
	*b = (struct vt_culprit_branch){100, 100, 500, 1};
	assert_true(fabs(ask(p, 5, VT_STALL_MISPREDICT).sure - 0.9 * 500 * 0.8 * WRONG) < 1e-6);
	/* By its ways, it was wrong 20 times at most: stacks contradict that. */
	proc_set_edge(p, 5, 0, 990);
	proc_set_edge(p, 5, 7, 10);
	assert_true(ask(p, 5, VT_STALL_MISPREDICT).sure == 0);
	/* Not a branch that any other instruction is. */
	p->insns[0].branch = *b;
	check(p, 0, VT_STALL_MISPREDICT, 0, VT_WHY_ABSENT);
	proc_drop(p);
}

/* A return that was predicted 1,000 times: 4 of 1,000 may not have been. */
static void test_predicted_return(void **state)
{
	struct proc *p = make_loop(chase, sizeof(chase), 5);

	(void)state;
	p->insns[proc_at(p, 7)].branch = (struct vt_culprit_branch){1000, 0, 0, INFINITY};
	check(p, 7, VT_STALL_MISPREDICT, 10 * 0.004 / 0.9 * WRONG, VT_WHY_RETURNS);
	proc_drop(p);
}

/*
 *  0: 8a 07           mov (%rdi),%al
 *  2: 88 44 24 f8     mov %al,-8(%rsp)
 *  6: 48 ff c7        inc %rdi
 *  9: ff ce           dec %esi
 *  b: 75 f3           jne 0
 *  d: c3              ret
 */
static const uint8_t scan[] = {0x8a, 0x07, 0x88, 0x44, 0x24, 0xf8, 0x48,
			       0xff, 0xc7, 0xff, 0xce, 0x75, 0xf3, 0xc3};

/*
 * One byte a round: 1,000 bytes are 15.625 lines, and one more a visit.  The stack's line is used
 * in each round, among two.
 */
static void test_lines_of_steps(void **state)
{
	struct proc *p = make_loop(scan, sizeof(scan), 0xb);

	(void)state;
	check(p, 0, VT_STALL_DCACHE, (10 + 1000 / 64.0) * MISS, VT_WHY_STEPS);
	check(p, 2, VT_STALL_WRITE_BUFFER, 10 * MISS, VT_WHY_STEPS);
	check(p, 2, VT_STALL_DTLB, 0, VT_WHY_STEPS);
	check(p, 2, VT_STALL_DCACHE, 0, VT_WHY_ABSENT);
	/* Not in each round, one of two accesses shares the ways with what the other brings in. */
	p->insns[1].executions = 900;
	check(p, 2, VT_STALL_WRITE_BUFFER, (10 + (10 + 1000 / 64.0) / (8 - 2)) * MISS,
	      VT_WHY_STEPS);
	proc_drop(p);
}

/*
 *  0: 48 89 07        mov %rax,(%rdi)
 *  3: 48 8b 5f 04     mov 4(%rdi),%rbx
 *  7: 48 8b 0e        mov (%rsi),%rcx
 *  a: 48 8b 04 24     mov (%rsp),%rax
 *  e: c3              ret
 */
static const uint8_t stores[] = {0x48, 0x89, 0x07, 0x48, 0x8b, 0x5f, 0x04, 0x48,
				 0x8b, 0x0e, 0x48, 0x8b, 0x04, 0x24, 0xc3};

/* The schedule knows how the first load and the store overlap; of the second nobody does. */
static void test_stores_before(void **state)
{
	struct proc *p = proc_make("zen4", stores, sizeof(stores));

	(void)state;
	p->in.code = stores;
	p->in.code_size = sizeof(stores);
	set_entry(p, 0);
	check(p, 0, VT_STALL_WRITE_BUFFER, INFINITY, VT_WHY_ANYWHERE);
	check(p, 3, VT_STALL_FORWARD, 0, VT_WHY_ABSENT);
	check(p, 7, VT_STALL_FORWARD, PROC_EACH * FORWARD, VT_WHY_STORE);
	/* What was called before may have taken the stack's line. */
	check(p, 0xa, VT_STALL_DCACHE, PROC_EACH * MISS, VT_WHY_DISPLACED);
	check(p, 7, VT_STALL_DCACHE, INFINITY, VT_WHY_ANYWHERE);
	set_entry(p, PROC_EACH);
	check(p, 3, VT_STALL_FORWARD, PROC_EACH * FORWARD, VT_WHY_STORE);
	proc_drop(p);
}

/*
 *  0: 48 f7 f1        div %rcx
 *  3: 0f ae f0        mfence
 *  6: ff d2           call *%rdx
 *  8: 0f 05           syscall
 *  a: c3              ret
 */
static const uint8_t others[] = {0x48, 0xf7, 0xf1, 0x0f, 0xae, 0xf0, 0xff, 0xd2, 0x0f, 0x05, 0xc3};

/* A division may take twice what the schedule has; fences, calls and the kernel any time. */
static void test_other_causes(void **state)
{
	struct proc *p = proc_make("zen4", others, sizeof(others));

	(void)state;
	check(p, 0, VT_STALL_DIVIDER, PROC_EACH * vti_mop_latency(&p->ops[0]), VT_WHY_OPERANDS);
	check(p, 3, VT_STALL_SYNC, INFINITY, VT_WHY_DRAINS);
	check(p, 3, VT_STALL_DIVIDER, 0, VT_WHY_ABSENT);
	check(p, 6, VT_STALL_ICACHE, INFINITY, VT_WHY_CALLED);
	check(p, 6, VT_STALL_MISPREDICT, PROC_EACH * WRONG, VT_WHY_INDIRECT);
	check(p, 8, VT_STALL_OTHER, INFINITY, VT_WHY_KERNEL);
	check(p, 0, VT_STALL_OTHER, 0, VT_WHY_ABSENT);
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_of_loads),
		cmocka_unit_test(test_sampled_misses),
		cmocka_unit_test(test_lines_of_steps),
		cmocka_unit_test(test_stores_before),
		cmocka_unit_test(test_other_causes),
		cmocka_unit_test(test_mispredicted_in_stacks),
		cmocka_unit_test(test_predicted_return),
		cmocka_unit_test(test_reach_of_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
