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
	/* Only of wrong branches some are measured. */
	assert_true(cause == VT_STALL_MISPREDICT || got.sure == 0);
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
 * Of 100 sampled loads, 9 missed the cache: 9 + 2 * 3 + 4 may have, and a tenth more.  None of 400
 * missed the TLB: 4 may have.
 */
static void test_sampled_loads(void **state)
{
	struct proc *p = make_loop(chase, sizeof(chase), 5);
	struct vt_culprit_loads *l = &p->insns[0].loads;

	(void)state;
	*l = (struct vt_culprit_loads){100, 9, 400, 0};
	check(p, 0, VT_STALL_DCACHE, 1000 * 0.19 / 0.9 * MISS, VT_WHY_SOURCE);
	check(p, 0, VT_STALL_DTLB, 1000 * 0.01 / 0.9 * MISS, VT_WHY_SOURCE);
	/* Each fact for itself. */
	*l = (struct vt_culprit_loads){0, 0, 100, 16};
	check(p, 0, VT_STALL_DCACHE, INFINITY, VT_WHY_ANYWHERE);
	check(p, 0, VT_STALL_DTLB, 1000 * 0.28 / 0.9 * MISS, VT_WHY_SOURCE);
	/* Of 5, 4 may have missed without one that did, and of 4 all of them. */
	*l = (struct vt_culprit_loads){5, 0, 4, 0};
	check(p, 0, VT_STALL_DCACHE, 1000 * 0.8 / 0.9 * MISS, VT_WHY_SOURCE);
	check(p, 0, VT_STALL_DTLB, INFINITY, VT_WHY_ANYWHERE);
	/* The tenth more makes it all of them as well. */
	*l = (struct vt_culprit_loads){40, 16, 39, 16};
	check(p, 0, VT_STALL_DCACHE, 1000 * 0.7 / 0.9 * MISS, VT_WHY_SOURCE);
	check(p, 0, VT_STALL_DTLB, 1000 * 28 / 39.0 / 0.9 * MISS, VT_WHY_SOURCE);
	*l = (struct vt_culprit_loads){31, 16, 32, 16};
	check(p, 0, VT_STALL_DCACHE, INFINITY, VT_WHY_ANYWHERE);
	check(p, 0, VT_STALL_DTLB, 1000 * 28 / 32.0 / 0.9 * MISS, VT_WHY_SOURCE);
	/* What other facts say is less. */
	*l = (struct vt_culprit_loads){100, 9, 400, 0};
	p->in.period[VT_CULPRIT_DMISS] = 10;
	check(p, 0, VT_STALL_DCACHE, 40 * MISS, VT_WHY_ANYWHERE);
	/* What is no load has no such samples, whatever the stream says. */
	p->insns[1].loads = *l;
	check(p, 3, VT_STALL_DCACHE, 0, VT_WHY_ABSENT);
	check(p, 3, VT_STALL_DTLB, 0, VT_WHY_ABSENT);
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

/* ---- graphs whose instructions are what a test says ---- */

/*
 * Of an Alpha: 8 + 20 + 80 cycles of a miss, and 5 of a wrong branch, thrice as long to be sure;
 * and a store forwards in 5 cycles, or is waited for 13 more.
 */
#define PLAIN_MISS    (3 * 108.0)
#define PLAIN_WRONG   (3 * 5.0)
#define PLAIN_FORWARD (3 * 18.0)

/* The loop's end, executed 1000 times, of which it goes on 30 times. */
static struct proc *make_branch(void)
{
	struct proc *p = proc_make_ways();

	p->insns[WAYS_JNE].executions = 1000;
	proc_set_edge(p, 0xa, 8, 970);
	proc_set_edge(p, 0xa, 0xc, 30);
	return p;
}

static void test_sorts_of_branches(void **state)
{
	static const struct {
		uint32_t flags;
		double n;
		enum vt_stall_why why;
	} rows[] = {
		{VT_FACT_BRANCH | VT_FACT_CONDITIONAL, 60, VT_WHY_BOTH_WAYS},
		{VT_FACT_BRANCH | VT_FACT_INDIRECT, 60, VT_WHY_INDIRECT},
		{VT_FACT_BRANCH | VT_FACT_INDIRECT | VT_FACT_CALL, 1000, VT_WHY_INDIRECT},
		{VT_FACT_BRANCH | VT_FACT_CALL, 1000, VT_WHY_RETURNS},
		{VT_FACT_BRANCH | VT_FACT_RETURN, 1000, VT_WHY_RETURNS},
		{VT_FACT_BRANCH | VT_FACT_RETURN | VT_FACT_INDIRECT, 1000, VT_WHY_RETURNS},
		{VT_FACT_BRANCH | VT_FACT_JUMP, 0, VT_WHY_ABSENT},
		{VT_FACT_CALL, 0, VT_WHY_ABSENT},
		{VT_FACT_INDIRECT, 0, VT_WHY_ABSENT},
		{0, 0, VT_WHY_ABSENT},
	};
	struct proc *p = make_branch();
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p->ops[WAYS_JNE].flags = rows[i].flags;
		check(p, 0xa, VT_STALL_MISPREDICT, rows[i].n * PLAIN_WRONG, rows[i].why);
		/* Where calls lead is known but of indirect ones. */
		if (rows[i].flags & VT_FACT_CALL && rows[i].flags & VT_FACT_INDIRECT)
			check(p, 0xa, VT_STALL_ICACHE, INFINITY, VT_WHY_CALLED);
		else
			check(p, 0xa, VT_STALL_ICACHE, 0, VT_WHY_ABSENT);
	}
	proc_drop(p);
}

/* Elsewhere than on the usual way, and once more on that; if it is not known, each time. */
static void test_surprises(void **state)
{
	const uint32_t conditional = VT_FACT_BRANCH | VT_FACT_CONDITIONAL,
		       indirect = VT_FACT_BRANCH | VT_FACT_INDIRECT;
	struct proc *p = make_branch();
	struct vt_cfg_block *b = &p->flow.cfg->blocks[p->block[WAYS_JNE]];
	double each = 1000 * PLAIN_WRONG;

	(void)state;
	p->ops[WAYS_JNE].flags = conditional;
	proc_set_edge(p, 0xa, 8, 30);
	proc_set_edge(p, 0xa, 0xc, 970);
	check(p, 0xa, VT_STALL_MISPREDICT, 60 * PLAIN_WRONG, VT_WHY_BOTH_WAYS);
	proc_set_edge(p, 0xa, 8, 500);
	proc_set_edge(p, 0xa, 0xc, 501);
	check(p, 0xa, VT_STALL_MISPREDICT, each, VT_WHY_BOTH_WAYS);
	proc_set_edge(p, 0xa, 8, 499);
	check(p, 0xa, VT_STALL_MISPREDICT, 998 * PLAIN_WRONG, VT_WHY_BOTH_WAYS);
	proc_set_edge(p, 0xa, 0xc, NAN);
	check(p, 0xa, VT_STALL_MISPREDICT, each, VT_WHY_BOTH_WAYS);
	proc_set_edge(p, 0xa, 0xc, 30);
	b->incomplete = true;
	check(p, 0xa, VT_STALL_MISPREDICT, each, VT_WHY_BOTH_WAYS);
	b->incomplete = false;
	p->in.edges = NULL;
	check(p, 0xa, VT_STALL_MISPREDICT, each, VT_WHY_BOTH_WAYS);
	p->in.edges = p->edges;
	proc_set_edge(p, 0xa, 8, 0.5);
	proc_set_edge(p, 0xa, 0xc, 0.25);
	check(p, 0xa, VT_STALL_MISPREDICT, 0.5 * PLAIN_WRONG, VT_WHY_BOTH_WAYS);
	/* Of one way that is known, a branch has no other; an indirect jump may have any. */
	proc_set_edge(p, 5, 8, 40);
	p->ops[WAYS_JMP].flags = conditional;
	check(p, 5, VT_STALL_MISPREDICT, 0, VT_WHY_BOTH_WAYS);
	p->ops[WAYS_JMP].flags = indirect;
	check(p, 5, VT_STALL_MISPREDICT, 40 * PLAIN_WRONG, VT_WHY_INDIRECT);
	proc_drop(p);
}

/* Stores in the micro-operations that a reorder buffer holds: 10 and 6 before the load. */
static void test_stores_in_reach(void **state)
{
	static const struct {
		uint16_t rob;
		double often;
	} rows[] = {{0, 0}, {1, 0}, {6, 0}, {7, 50}, {10, 50}, {11, 30 + 50}, {400, 30 + 50}};
	struct proc *p = proc_make_ways();
	unsigned i;

	(void)state;
	proc_set_entry(p, 0);
	p->core.forward = 5;
	p->core.blocked = 13;
	p->ops[WAYS_SECOND].uops[0].op_class = VT_OP_LOAD;
	p->ops[WAYS_SHORT].uops[0].op_class = p->ops[WAYS_LONG].uops[0].op_class = VT_OP_STORE;
	p->insns[WAYS_SECOND].executions = 1000;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p->core.rob = rows[i].rob;
		check(p, 9, VT_STALL_FORWARD, rows[i].often * PLAIN_FORWARD,
		      rows[i].often > 0 ? VT_WHY_STORE : VT_WHY_ABSENT);
	}
	p->ops[WAYS_HEAD].uops[0].op_class = VT_OP_STORE;
	p->core.rob = 0;
	check(p, 9, VT_STALL_FORWARD, 60 * PLAIN_FORWARD, VT_WHY_STORE);
	p->insns[WAYS_HEAD].executions = 0.25;
	check(p, 9, VT_STALL_FORWARD, 0.25 * PLAIN_FORWARD, VT_WHY_STORE);
	p->insns[WAYS_HEAD].executions = 60;
	/* No more than it is executed. */
	p->insns[WAYS_SECOND].executions = 55;
	check(p, 9, VT_STALL_FORWARD, 55 * PLAIN_FORWARD, VT_WHY_STORE);
	proc_drop(p);
}

/*
 * A load in rounds of 3 slots comes 30 / 3 times more while 30 are in flight, after each time that
 * control came from elsewhere; out of loops, once for each slot of its block.  It does not wait
 * more often than there can be stores.
 */
static void test_outside_in_reach(void **state)
{
	struct proc *p = proc_make_ways();
	struct vt_mop *load = &p->ops[WAYS_LONG];

	(void)state;
	proc_set_entry(p, 2);
	p->core.forward = 5;
	p->core.blocked = 13;
	p->core.rob = 30;
	p->core.stores = 0;
	p->insns[WAYS_SECOND].executions = p->insns[WAYS_LONG].executions = 1000;
	p->ops[WAYS_SECOND].uops[0].op_class = VT_OP_LOAD;
	check(p, 9, VT_STALL_FORWARD, 2 * (1 + 10) * PLAIN_FORWARD, VT_WHY_STORE);
	p->core.stores = 4;
	check(p, 9, VT_STALL_FORWARD, 2 * 4 * PLAIN_FORWARD, VT_WHY_STORE);
	p->core.stores = 12;
	check(p, 9, VT_STALL_FORWARD, 2 * (1 + 10) * PLAIN_FORWARD, VT_WHY_STORE);
	p->core.stores = 0;
	p->ops[WAYS_SHORT].uops[0].op_class = VT_OP_STORE;
	check(p, 9, VT_STALL_FORWARD, (30 + 2 * (1 + 10)) * PLAIN_FORWARD, VT_WHY_STORE);
	load->uops[0].op_class = VT_OP_LOAD;
	check(p, 7, VT_STALL_FORWARD, 2 * (1 + 30) * PLAIN_FORWARD, VT_WHY_STORE);
	load->slots = 5;
	check(p, 7, VT_STALL_FORWARD, 2 * (1 + 6) * PLAIN_FORWARD, VT_WHY_STORE);
	load->slots = 0;
	check(p, 7, VT_STALL_FORWARD, 2 * (1 + 30) * PLAIN_FORWARD, VT_WHY_STORE);
	proc_set_entry(p, 0.25);
	check(p, 7, VT_STALL_FORWARD, 0.25 * 31 * PLAIN_FORWARD, VT_WHY_STORE);
	/* More than a round is in reach: once more, with what is in between. */
	proc_set_entry(p, 0);
	check(p, 7, VT_STALL_FORWARD, 0, VT_WHY_ABSENT);
	proc_drop(p);
}

struct piece {
	uint8_t code[16];
	uint8_t size, load;
	bool apart; /* it is known which bytes both access */
};

/* A store and a load by the same registers, and what is before, between and behind them. */
static void test_same_registers(void **state)
{
	static const struct piece pieces[] = {
		/* mov %rax,(%rdi); mov 4(%rdi),%rbx */
		{{0x48, 0x89, 0x07, 0x48, 0x8b, 0x5f, 0x04, 0xc3}, 8, 3, true},
		/* mov %rsi,%rdi before; lea 1(%rdi),%rdi before */
		{{0x48, 0x89, 0xf7, 0x48, 0x89, 0x07, 0x48, 0x8b, 0x5f, 0x04, 0xc3}, 11, 6, true},
		/* inc %rsi, and inc %rdi between */
		{{0x48, 0x89, 0x07, 0x48, 0xff, 0xc6, 0x48, 0x8b, 0x5f, 0x04, 0xc3}, 11, 6, true},
		{{0x48, 0x89, 0x07, 0x48, 0xff, 0xc7, 0x48, 0x8b, 0x5f, 0x04, 0xc3}, 11, 6, false},
		/* stos, which moves %rdi */
		{{0x48, 0xab, 0x48, 0x8b, 0x5f, 0x04, 0xc3}, 7, 2, false},
		/* mov (%rdi),%rdi: it writes its own register when it has loaded */
		{{0x48, 0x89, 0x07, 0x48, 0x8b, 0x3f, 0xc3}, 7, 3, true},
		/* mov 4(%rsi),%rbx */
		{{0x48, 0x89, 0x07, 0x48, 0x8b, 0x5e, 0x04, 0xc3}, 8, 3, false},
		/* two nops between */
		{{0x48, 0x89, 0x07, 0x90, 0x90, 0x48, 0x8b, 0x5f, 0x04, 0xc3}, 10, 5, true},
		/* jmp to the load: another block */
		{{0x48, 0x89, 0x07, 0x74, 0x00, 0x48, 0x8b, 0x5f, 0x04, 0xc3}, 10, 5, false},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct proc *p = proc_make("zen4", pieces[i].code, pieces[i].size);
		struct vti_fact fact;

		p->in.code = pieces[i].code;
		p->in.code_size = pieces[i].size;
		set_entry(p, 0);
		fact = ask(p, pieces[i].load, VT_STALL_FORWARD);
		if (fact.why != (pieces[i].apart ? VT_WHY_ABSENT : VT_WHY_STORE) ||
		    fact.bound != (pieces[i].apart ? 0 : PROC_EACH * FORWARD))
			fail_msg("piece %u: %g", i, fact.bound);
		proc_drop(p);
	}
}

/*
 *  0: 48 89 07        mov %rax,(%rdi)
 *  3: 48 8b 5f 04     mov 4(%rdi),%rbx
 *  7: ff ce           dec %esi
 *  9: 75 f5           jne 0
 *  b: c3              ret
 */
static void test_store_of_round_before(void **state)
{
	static const uint8_t code[] = {0x48, 0x89, 0x07, 0x48, 0x8b, 0x5f,
				       0x04, 0xff, 0xce, 0x75, 0xf5, 0xc3};
	struct proc *p = make_loop(code, sizeof(code), 9);

	(void)state;
	set_entry(p, 0);
	/* The store of the same round, and no other, or that of the round before as well. */
	p->core.rob = 2;
	check(p, 3, VT_STALL_FORWARD, 0, VT_WHY_ABSENT);
	p->core.rob = 320;
	check(p, 3, VT_STALL_FORWARD, PROC_EACH * FORWARD, VT_WHY_STORE);
	proc_drop(p);
}

/* As often as control comes to a page, of whatever cost a translation is. */
static void test_itlb(void **state)
{
	struct proc *p = proc_make_ways();

	(void)state;
	p->insns[WAYS_TEST].executions = 500;
	check(p, 0, VT_STALL_ITLB, 300 * PLAIN_MISS, VT_WHY_DISPLACED);
	check(p, 2, VT_STALL_ITLB, 0, VT_WHY_ABSENT);
	check(p, 0, VT_STALL_ICACHE, 300 * PLAIN_MISS, VT_WHY_DISPLACED);
	p->insns[WAYS_TEST].executions = 0.001;
	proc_set_entry(p, 0.001);
	check(p, 0, VT_STALL_ICACHE, 0.001 * PLAIN_MISS, VT_WHY_DISPLACED);
	check(p, 0, VT_STALL_ITLB, 0.001 * PLAIN_MISS, VT_WHY_DISPLACED);
	p->insns[WAYS_TEST].executions = 500;
	proc_set_entry(p, 300);
	p->core.itlb.latency = 3;
	p->core.stlb.latency = 4;
	check(p, 0, VT_STALL_ITLB, 300 * PLAIN_MISS, VT_WHY_DISPLACED);
	p->core.itlb.latency = p->core.stlb.latency = 0;
	check(p, 0, VT_STALL_ITLB, 0, VT_WHY_ABSENT);
	proc_drop(p);
}

/* Nothing else may be a division, a fence or the kernel. */
static void test_classes(void **state)
{
	static const struct {
		enum vt_op_class class_;
		enum vt_stall_cause cause;
		double bound;
		enum vt_stall_why why;
	} rows[] = {
		{VT_OP_DIVIDE, VT_STALL_DIVIDER, 70 * 17, VT_WHY_OPERANDS},
		{VT_OP_FDIV, VT_STALL_DIVIDER, 70 * 17, VT_WHY_OPERANDS},
		{VT_OP_FMUL, VT_STALL_DIVIDER, 0, VT_WHY_ABSENT},
		{VT_OP_SLOW, VT_STALL_SYNC, (double)INFINITY, VT_WHY_DRAINS},
		{VT_OP_SYNC, VT_STALL_SYNC, (double)INFINITY, VT_WHY_DRAINS},
		{VT_OP_INT, VT_STALL_SYNC, 0, VT_WHY_ABSENT},
		{VT_OP_LOAD, VT_STALL_DTLB, (double)INFINITY, VT_WHY_ANYWHERE},
		{VT_OP_STORE, VT_STALL_DTLB, (double)INFINITY, VT_WHY_ANYWHERE},
		{VT_OP_INT, VT_STALL_DTLB, 0, VT_WHY_ABSENT},
		{VT_OP_LOAD, VT_STALL_DCACHE, (double)INFINITY, VT_WHY_ANYWHERE},
		{VT_OP_STORE, VT_STALL_DCACHE, 0, VT_WHY_ABSENT},
		{VT_OP_STORE, VT_STALL_WRITE_BUFFER, (double)INFINITY, VT_WHY_ANYWHERE},
		{VT_OP_LOAD, VT_STALL_WRITE_BUFFER, 0, VT_WHY_ABSENT},
	};
	struct proc *p = proc_make_ways();
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p->ops[WAYS_SECOND].uops[1] =
			(struct vt_uop){.op_class = (uint8_t)rows[i].class_, .latency = 17};
		check(p, 9, rows[i].cause, rows[i].bound, rows[i].why);
	}
	check(p, 9, VT_STALL_OTHER, 0, VT_WHY_ABSENT);
	p->ops[WAYS_SECOND].flags = VT_FACT_SYSCALL;
	check(p, 9, VT_STALL_OTHER, INFINITY, VT_WHY_KERNEL);
	proc_drop(p);
}

/* A sample is of one of several loads, and of none of a store; one of many tells little. */
static void test_loads_of_an_instruction(void **state)
{
	struct proc *p = proc_make_ways();
	struct vt_mop *op = &p->ops[WAYS_SECOND];
	double each = 70 * 0.19 / 0.9 * PLAIN_MISS;

	(void)state;
	p->insns[WAYS_SECOND].loads = (struct vt_culprit_loads){100, 9, 100, 9};
	op->nuops = 2;
	op->uops[0].op_class = VT_OP_LOAD;
	check(p, 9, VT_STALL_DCACHE, each, VT_WHY_SOURCE);
	check(p, 9, VT_STALL_DTLB, each, VT_WHY_SOURCE);
	op->uops[1].op_class = VT_OP_LOAD;
	check(p, 9, VT_STALL_DCACHE, 2 * each, VT_WHY_SOURCE);
	check(p, 9, VT_STALL_DTLB, 2 * each, VT_WHY_SOURCE);
	op->uops[1].op_class = VT_OP_STORE;
	check(p, 9, VT_STALL_DCACHE, each, VT_WHY_SOURCE);
	check(p, 9, VT_STALL_DTLB, INFINITY, VT_WHY_ANYWHERE);
	op->uops[1].op_class = VT_OP_SLOW;
	check(p, 9, VT_STALL_DCACHE, INFINITY, VT_WHY_ANYWHERE);
	op->uops[1].op_class = VT_OP_INT;
	op->flags |= VT_FACT_REPEATED;
	check(p, 9, VT_STALL_DCACHE, INFINITY, VT_WHY_ANYWHERE);
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
		cmocka_unit_test(test_sampled_loads),
		cmocka_unit_test(test_loads_of_an_instruction),
		cmocka_unit_test(test_reach_of_outside),
		cmocka_unit_test(test_sorts_of_branches),
		cmocka_unit_test(test_surprises),
		cmocka_unit_test(test_stores_in_reach),
		cmocka_unit_test(test_outside_in_reach),
		cmocka_unit_test(test_same_registers),
		cmocka_unit_test(test_store_of_round_before),
		cmocka_unit_test(test_itlb),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
