/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bounds that each rule of culprits leaves of its cause, and what is learnt from them. */
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

static struct vt_error err;

/*
 *  0: 48 8b 07        mov (%rdi),%rax
 *  3: 48 8d 58 01     lea 1(%rax),%rbx
 *  7: 48 8d 48 02     lea 2(%rax),%rcx
 *  b: 48 89 06        mov %rax,(%rsi)
 *  e: 90              nop
 *  f: 90              nop
 * 10: c3              ret
 */
static const uint8_t load_use[] = {0x48, 0x8b, 0x07, 0x48, 0x8d, 0x58, 0x01, 0x48, 0x8d,
				   0x48, 0x02, 0x48, 0x89, 0x06, 0x90, 0x90, 0xc3};

/*
 * The Alpha's numbers: a line from memory takes 8 + 20 + 80 cycles, one from a cache 8 + 20; a load
 * that finds all 6 misses before it taken, of which the second cache serves 2 at a time, three
 * times as long again; a translation 50; a wrong branch 5.
 */
#define MISS	 108.0
#define FILL	 28.0
#define SLOWEST	 (MISS * 4)
#define TLB_MISS 50.0
#define WRONG	 5.0

static struct vti_suspect ask(struct proc *p, vti_culprit_rule *rule, uint64_t offset,
			      bool expected)
{
	struct vti_suspect s = {.bound = INFINITY};
	struct vti_stalled st;
	struct vti_culprit c;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, proc_at(p, offset), &st));
	st.expected = expected;
	rule(&st, &s);
	vti_culprit_fini(&c);
	return s;
}

static void check_bound(struct proc *p, vti_culprit_rule *rule, uint64_t offset, bool expected,
			double bound)
{
	double got = ask(p, rule, offset, expected).bound;

	if (isinf(bound) ? !isinf(got) : !(fabs(got - bound) < 1e-6))
		fail_msg("at %#x: %g, not %g", (unsigned)offset, got, bound);
}

/* Of all the ways into the procedure. */
static void set_entry(struct proc *p, double n)
{
	uint32_t i;

	for (i = 0; i < p->flow.cfg->nedges; i++)
		if (p->flow.cfg->edges[i].from == VT_CFG_ENTRY)
			p->edges[i] = n;
}

static void test_bounds_of_loads(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	struct vt_culprit_insn *load = &p->insns[0];

	(void)state;
	check_bound(p, vti_rule_dcache, 3, false, PROC_EACH * SLOWEST);
	check_bound(p, vti_rule_dcache, 3, true, PROC_EACH * FILL);
	check_bound(p, vti_rule_dcache, 7, false, 0);
	check_bound(p, vti_rule_dtlb, 3, false, PROC_EACH * TLB_MISS);
	check_bound(p, vti_rule_dtlb, 7, false, 0);
	/* The address may have been loaded by the caller, whoever came from it. */
	check_bound(p, vti_rule_dcache, 0, false, PROC_EACH * SLOWEST);
	set_entry(p, 10);
	check_bound(p, vti_rule_dcache, 0, false, 10 * SLOWEST);
	check_bound(p, vti_rule_dtlb, 0, false, 10 * TLB_MISS);
	/* No more than the load was executed. */
	load->executions = 200;
	check_bound(p, vti_rule_dcache, 3, false,
		    fmin(200 * SLOWEST, 200 * SLOWEST + PROC_EACH * 20));
	load->executions = PROC_EACH;
	/* 4 samples may have been 4 + 2 * 2 + 4, each of 10 misses. */
	p->in.period[VT_CULPRIT_DMISS] = 10;
	load->samples[VT_CULPRIT_DMISS] = 4;
	check_bound(p, vti_rule_dcache, 3, false, 120 * SLOWEST);
	p->in.period[VT_CULPRIT_DMISS] = 0;
	/* So many go to memory; all others to the third cache. */
	p->in.period[VT_CULPRIT_LLCMISS] = 10;
	load->samples[VT_CULPRIT_LLCMISS] = 4;
	check_bound(p, vti_rule_dcache, 3, false, 120 * SLOWEST + PROC_EACH * 20);
	p->in.period[VT_CULPRIT_DTBMISS] = 10;
	load->samples[VT_CULPRIT_DTBMISS] = 9;
	check_bound(p, vti_rule_dtlb, 3, false, 190 * TLB_MISS);
	/* The store's own translation; as is to be expected, 4 samples and 0.3 of one. Its address
	 * came from the caller 10 times. */
	p->insns[proc_at(p, 0xb)].samples[VT_CULPRIT_DTBMISS] = 4;
	check_bound(p, vti_rule_dtlb, 0xb, false, 130 * TLB_MISS);
	check_bound(p, vti_rule_dtlb, 0xb, true, 53 * TLB_MISS);
	p->core.dcache.size = 0;
	p->core.dtlb.entries = 0;
	check_bound(p, vti_rule_dcache, 3, false, 0);
	check_bound(p, vti_rule_dtlb, 3, false, 0);
	proc_drop(p);
}

static void test_bounds_of_stores(void **state)
{
	/* 0: mov %rax,(%rsi); 3, 7: lea 1(%rax),%rbx; b: mov (%rdi),%rax; e: mfence; 11: nop; ret
	 */
	static const uint8_t code[] = {0x48, 0x89, 0x06, 0x48, 0x8d, 0x58, 0x01, 0x48, 0x8d, 0x58,
				       0x01, 0x48, 0x8b, 0x07, 0x0f, 0xae, 0xf0, 0x90, 0xc3};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));
	struct vti_suspect s;

	(void)state;
	check_bound(p, vti_rule_write_buffer, 0, false, PROC_EACH * (6 + SLOWEST));
	check_bound(p, vti_rule_write_buffer, 0, true, PROC_EACH * 6);
	check_bound(p, vti_rule_write_buffer, 0xb, false, 0);
	p->core.write_buffer = 0;
	check_bound(p, vti_rule_write_buffer, 0, false, 0);
	/* A fence waits for two misses, a line to be written and a division. */
	check_bound(p, vti_rule_sync, 0xe, false, PROC_EACH * (2 * MISS + 6 + 22));
	check_bound(p, vti_rule_sync, 0x11, false, 0);
	/* Behind it, 12 cycles, less those that the schedule knows. */
	p->costs[proc_at(p, 0x11)].head = 2.5F;
	check_bound(p, vti_rule_unit, 0x11, false, PROC_EACH * 9.5);
	assert_int_equal(ask(p, vti_rule_unit, 0x11, false).guilty[0], proc_at(p, 0xe));
	check_bound(p, vti_rule_queue, 0x11, false, 0);
	check_bound(p, vti_rule_other, 0x11, false, 0);
	/* In order, stores are not looked into; else as far as the reorder buffer reaches. */
	p->core.forward = 5;
	p->core.blocked = 13;
	check_bound(p, vti_rule_forward, 0xb, false, 0);
	p->core.order = VT_OUT_OF_ORDER;
	p->core.rob = 2;
	check_bound(p, vti_rule_forward, 0xb, false, 0);
	p->core.rob = 3;
	s = ask(p, vti_rule_forward, 0xb, false);
	assert_true(s.bound == PROC_EACH * 18 && s.nguilty == 1 && s.guilty[0] == proc_at(p, 0));
	check_bound(p, vti_rule_forward, 7, false, 0);
	/* Of what comes from somebody else, anything may be stored. */
	p->core.rob = 5;
	check_bound(p, vti_rule_forward, 0xb, false, PROC_EACH * 18);
	/* At the head of a reorder buffer it waits for its own load only. */
	check_bound(p, vti_rule_dcache, 0xb, false, PROC_EACH * SLOWEST);
	check_bound(p, vti_rule_dcache, 0xe, false, 0);
	check_bound(p, vti_rule_write_buffer, 0, false, PROC_EACH * (6 + SLOWEST));
	proc_drop(p);
}

static void test_bounds_of_operands(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));

	(void)state;
	/* A load takes 2 cycles, of which the schedule knows half a one. */
	p->costs[proc_at(p, 3)].head = p->costs[0].head = 0.5F;
	check_bound(p, vti_rule_dependency, 3, false, PROC_EACH * 1.5);
	assert_int_equal(ask(p, vti_rule_dependency, 3, false).guilty[0], 0);
	p->insns[0].executions = 200;
	check_bound(p, vti_rule_dependency, 3, false, 200 * 1.5);
	p->insns[0].executions = NAN;
	check_bound(p, vti_rule_dependency, 3, false, PROC_EACH * 1.5);
	p->insns[0].executions = PROC_EACH;
	p->costs[proc_at(p, 3)].head = 2;
	check_bound(p, vti_rule_dependency, 3, false, 0);
	/* What comes from a caller takes what a load does. */
	check_bound(p, vti_rule_dependency, 0, false, PROC_EACH * 1.5);
	set_entry(p, 300);
	check_bound(p, vti_rule_dependency, 0, false, 300 * 1.5);
	/* What begins a cycle in the schedule finds all units free; others wait for the next one.
	 */
	p->costs[0].head = 0.25F;
	check_bound(p, vti_rule_unit, 0, false, PROC_EACH * 0.75);
	p->costs[0].head = 1.5F;
	check_bound(p, vti_rule_unit, 0, false, 0);
	/* So does what is behind an instruction that waited for two cycles, as it is scheduled. */
	p->costs[proc_at(p, 3)].head = 2;
	p->costs[proc_at(p, 7)].head = 0.25F;
	p->insns[proc_at(p, 3)].cycles = 2;
	check_bound(p, vti_rule_unit, 7, false, 0);
	p->insns[proc_at(p, 3)].cycles = 2.1;
	check_bound(p, vti_rule_unit, 7, false, PROC_EACH * 0.75);
	proc_drop(p);
}

/* lea 1(%rax),%rbx so many times between two divisions, or two multiplications. */
static struct proc *make_busy(const uint8_t *first, size_t size, const uint8_t *last, unsigned n)
{
	static const uint8_t between[] = {0x48, 0x8d, 0x58, 0x01};
	uint8_t code[64];
	size_t at = size;

	memcpy(code, first, size);
	for (; n; n--, at += sizeof(between))
		memcpy(code + at, between, sizeof(between));
	memcpy(code + at, last, size);
	code[at + size] = 0xc3;
	return proc_make("alpha21164", code, at + size + 1);
}

static void test_bounds_of_units(void **state)
{
	static const uint8_t divide[] = {0xf2, 0x0f, 0x5e, 0xc1}; /* divsd %xmm1,%xmm0 */
	static const uint8_t another[] = {0xf2, 0x0f, 0x5e, 0xd3};
	static const uint8_t times[] = {0x48, 0x0f, 0xaf, 0xc1}; /* imul %rcx,%rax */
	static const uint8_t further[] = {0x48, 0x0f, 0xaf, 0xda};
	unsigned n;

	(void)state;
	/* The divider is busy for 22 cycles, the multiplier for 4; four are issued in each. */
	for (n = 0; n < 9; n++) {
		struct proc *p = make_busy(divide, 4, another, n);
		uint64_t last = 4 * n + 4;
		unsigned since = n / 4;

		p->costs[proc_at(p, last)].head = 3;
		check_bound(p, vti_rule_divider, last, false, PROC_EACH * (22.0 - since - 3));
		check_bound(p, vti_rule_multiplier, last, false, 0);
		assert_int_equal(ask(p, vti_rule_divider, last, false).guilty[0], 0);
		proc_drop(p);
		p = make_busy(times, 4, further, n);
		p->costs[proc_at(p, last)].head = 0.5F;
		check_bound(p, vti_rule_multiplier, last, false, PROC_EACH * (4.0 - since - 0.5));
		check_bound(p, vti_rule_divider, last, false, 0);
		proc_drop(p);
	}
}

/*
 *  0: 85 ff           test %edi,%edi
 *  2: 74 07           je b
 *  4: 90              nop
 *  5: e8 f6 0f 00 00  call (elsewhere)
 *  a: 90              nop
 *  b: 90              nop
 *  c: 0f 05           syscall
 *  e: 90              nop
 *  f: 90 x 15         nop
 * 1e: 48 8d 58 01     lea 1(%rax),%rbx
 * 22: c3              ret
 */
static struct proc *make_branch(void)
{
	static const uint8_t start[] = {0x85, 0xff, 0x74, 0x07, 0x90, 0xe8, 0xf6,
					0x0f, 0x00, 0x00, 0x90, 0x90, 0x0f, 0x05};
	static const uint8_t end[] = {0x48, 0x8d, 0x58, 0x01, 0xc3};
	uint8_t code[0x23];

	memset(code, 0x90, sizeof(code));
	memcpy(code, start, sizeof(start));
	memcpy(code + 0x1e, end, sizeof(end));
	return proc_make("alpha21164", code, sizeof(code));
}

static void test_bounds_of_branches(void **state)
{
	struct proc *p = make_branch();

	(void)state;
	proc_set_edge(p, 2, 4, 900);
	proc_set_edge(p, 2, 0xb, 100);
	p->insns[proc_at(p, 4)].executions = 900;
	/* Each time on the rarer way, and once more on the other one; at random, half of them. */
	check_bound(p, vti_rule_mispredict, 4, false, 200 * WRONG);
	check_bound(p, vti_rule_mispredict, 4, true, 100 * WRONG);
	assert_int_equal(ask(p, vti_rule_mispredict, 4, false).guilty[0], proc_at(p, 2));
	/* A sample may have been 7, each of 10 wrong branches; 1.3 are to be expected. */
	p->in.period[VT_CULPRIT_BRANCHMP] = 10;
	p->insns[proc_at(p, 2)].samples[VT_CULPRIT_BRANCHMP] = 1;
	check_bound(p, vti_rule_mispredict, 4, false, 70 * WRONG);
	check_bound(p, vti_rule_mispredict, 4, true, 13 * WRONG);
	p->in.period[VT_CULPRIT_BRANCHMP] = 0;
	p->core.predictor = VT_PREDICT_NONE;
	check_bound(p, vti_rule_mispredict, 4, false, 900 * WRONG);
	/* Out of order, what was fetched has to come down the front end, and be loaded. */
	p->core.order = VT_OUT_OF_ORDER;
	check_bound(p, vti_rule_mispredict, 4, false, 900 * (WRONG + 4 + 2));
	p->core.order = VT_IN_ORDER;
	/* The caller's call, unless that is known; a return; and nothing else. */
	check_bound(p, vti_rule_mispredict, 0, false, PROC_EACH * WRONG);
	check_bound(p, vti_rule_mispredict, 0, true, PROC_EACH * WRONG);
	p->core.btb = 64;
	check_bound(p, vti_rule_mispredict, 0, true, PROC_EACH * WRONG / 2);
	check_bound(p, vti_rule_mispredict, 0xa, false, PROC_EACH * WRONG);
	check_bound(p, vti_rule_mispredict, 0xa, true, PROC_EACH * WRONG * 0.02);
	check_bound(p, vti_rule_mispredict, 0xf, false, 0);
	/* What a system call does may take any time. */
	check_bound(p, vti_rule_other, 0xc, false, INFINITY);
	check_bound(p, vti_rule_other, 0xe, false, INFINITY);
	check_bound(p, vti_rule_other, 0xf, false, 0);
	assert_int_equal(ask(p, vti_rule_other, 0xe, false).guilty[0], proc_at(p, 0xc));
	proc_drop(p);
}

/* A table of counters, and calls by name, of which all code tells. */
static void test_known_branches(void **state)
{
	struct proc *p = make_branch();
	struct vt_footprint *f = vt_footprint_new(&p->core);

	(void)state;
	assert_non_null(f);
	proc_set_edge(p, 2, 4, 900);
	proc_set_edge(p, 2, 0xb, 100);
	p->insns[proc_at(p, 4)].executions = 900;
	p->insns[proc_at(p, 0xb)].executions = 990;
	assert_int_equal(vt_footprint_branch(f, PROC_START + 2, 80, 910, &err), 0);
	assert_int_equal(vt_footprint_call(f, 0, PROC_START, 400, &err), 0);
	assert_int_equal(vt_footprint_call(f, 0, PROC_START + 1, 50, &err), 0);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	p->in.footprint = f;
	/* Those that were taken make the counter wrong for those that were not, and thrice at
	 * first. */
	check_bound(p, vti_rule_mispredict, 4, false, (80 + 3) * WRONG);
	check_bound(p, vti_rule_mispredict, 4, true, (80 + 3) * WRONG / 2);
	check_bound(p, vti_rule_mispredict, 0xb, false, 100 * WRONG);
	check_bound(p, vti_rule_mispredict, 0, false, 600 * WRONG);
	set_entry(p, 350);
	p->insns[0].executions = 350;
	check_bound(p, vti_rule_mispredict, 0, false, 0);
	p->in.footprint = NULL;
	check_bound(p, vti_rule_mispredict, 0, false, 350 * WRONG);
	/* What is not known of the other way may be anything. */
	proc_set_edge(p, 2, 0xb, NAN);
	check_bound(p, vti_rule_mispredict, 4, false, 900 * WRONG);
	p->in.edges = NULL;
	check_bound(p, vti_rule_mispredict, 4, false, 900 * WRONG);
	p->insns[proc_at(p, 2)].executions = 300;
	check_bound(p, vti_rule_mispredict, 4, false, 300 * WRONG);
	vt_footprint_free(f);
	proc_drop(p);
}

/* More sorts of what occupies units than are noted apart: each may keep one from its own. */
static void test_many_units(void **state)
{
	uint32_t i, n;

	(void)state;
	for (n = 1; n < 20; n++) {
		uint8_t code[24];
		struct proc *p;

		memset(code, 0x90, sizeof(code));
		code[23] = 0xc3;
		p = proc_make("alpha21164", code, sizeof(code));
		p->core.classes[VT_OP_FADD].busy = 50;
		for (i = 0; i <= n; i++) {
			p->costs[i].head = 1;
			p->ops[i].nuops = 1;
			p->ops[i].uops[0] = (struct vt_uop){
				.op_class = VT_OP_FADD, .latency = 1, .busy = 50, .units = 1U << i};
		}
		p->ops[n].uops[0] = (struct vt_uop){
			.op_class = VT_OP_INT, .latency = 1, .busy = 1, .units = 1U << (n - 1)};
		check_bound(p, vti_rule_unit, n, false, PROC_EACH * 49);
		assert_int_equal(ask(p, vti_rule_unit, n, false).guilty[0], n - 1);
		/* Where it has a choice, or nobody uses its unit, it does not wait. */
		p->ops[n].uops[0].units = 1U << (n - 1) | 1U << 30;
		check_bound(p, vti_rule_unit, n, false, 0);
		proc_drop(p);
	}
}

/* The divider's 22 cycles, as far back as that many groups of four. */
static void test_far_division(void **state)
{
	static const uint8_t divide[] = {0xf2, 0x0f, 0x5e, 0xc1};
	unsigned n;

	(void)state;
	for (n = 76; n < 92; n++) {
		uint8_t code[128];
		struct proc *p;

		memset(code, 0x90, sizeof(code));
		memcpy(code, divide, sizeof(divide));
		memcpy(code + 4 + n, divide, sizeof(divide));
		code[8 + n] = 0xc3;
		p = proc_make("alpha21164", code, 9 + n);
		p->costs[proc_at(p, 4 + n)].head = 0;
		check_bound(p, vti_rule_divider, 4 + n, false,
			    n < 88 ? PROC_EACH * (22.0 - floor(n / 4.0)) : 0);
		proc_drop(p);
	}
}

static void test_bounds_of_fetches(void **state)
{
	struct proc *p = make_branch();

	(void)state;
	/* The first of the procedure, from anywhere; what is behind it, in its line, not. */
	check_bound(p, vti_rule_icache, 0, false, PROC_EACH * MISS);
	check_bound(p, vti_rule_icache, 0, true, PROC_EACH * FILL);
	check_bound(p, vti_rule_itlb, 0, false, PROC_EACH * 50);
	check_bound(p, vti_rule_icache, 2, false, 0);
	check_bound(p, vti_rule_itlb, 2, false, 0);
	/* After a call it may have gone. */
	check_bound(p, vti_rule_icache, 0xa, false, PROC_EACH * MISS);
	/* Half of it in the line that the one before it is in: one new line; entered, two. */
	check_bound(p, vti_rule_icache, 0x1e, false, PROC_EACH * MISS);
	check_bound(p, vti_rule_icache, 0x22, false, 0);
	p->in.period[VT_CULPRIT_IMISS] = 10;
	p->insns[0].samples[VT_CULPRIT_IMISS] = 4;
	check_bound(p, vti_rule_icache, 0, false, 120 * MISS);
	p->in.period[VT_CULPRIT_ITBMISS] = 10;
	p->insns[0].samples[VT_CULPRIT_ITBMISS] = 4;
	check_bound(p, vti_rule_itlb, 0, false, 120 * 50);
	p->core.icache.size = 0;
	p->core.itlb.entries = 0;
	check_bound(p, vti_rule_icache, 0, false, 0);
	check_bound(p, vti_rule_itlb, 0, false, 0);
	proc_drop(p);
}

/* Two thirds of the way there is a system call, or on the other third. */
static void test_other_way(void **state)
{
	/* 0: test %edi,%edi; 2: je 6; 4: syscall; 6: nop; 7: ret, and with the call on the way
	 * taken */
	static const uint8_t fallen[] = {0x85, 0xff, 0x74, 0x02, 0x0f, 0x05, 0x90, 0xc3};
	/* 0: test; 2: je 6; 4: jmp 9; 6: nop; 7: syscall; 9: nop; a: ret */
	static const uint8_t taken[] = {0x85, 0xff, 0x74, 0x02, 0xeb, 0x03,
					0x90, 0x0f, 0x05, 0x90, 0xc3};
	struct proc *p = proc_make("alpha21164", fallen, sizeof(fallen));

	(void)state;
	check_bound(p, vti_rule_other, 6, false, INFINITY);
	proc_drop(p);
	p = proc_make("alpha21164", taken, sizeof(taken));
	check_bound(p, vti_rule_other, 9, false, INFINITY);
	check_bound(p, vti_rule_other, 6, false, 0);
	proc_drop(p);
}

/* Samples more than the skid of 6 cycles and 2 behind the load are of something else. */
static void test_samples_behind(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	uint32_t i;

	(void)state;
	for (i = 0; i < p->flow.cfg->ninsns; i++)
		p->insns[i].cycles = 3;
	p->in.period[VT_CULPRIT_DMISS] = 10;
	/* 12 cycles behind the load, 9 behind who waits. */
	p->insns[proc_at(p, 0xe)].samples[VT_CULPRIT_DMISS] = 100;
	check_bound(p, vti_rule_dcache, 3, false, 40 * SLOWEST);
	p->insns[proc_at(p, 7)].samples[VT_CULPRIT_DMISS] = 2;
	/* Two behind the load, and two behind who waits. */
	check_bound(p, vti_rule_dcache, 3, false, 120 * SLOWEST);
	proc_drop(p);
}

/* A division 139 micro-operations before is done; they are skipped 128 at a time. */
static void test_far_operand(void **state)
{
	static const uint8_t divide[] = {0xf2, 0x0f, 0x5e, 0xc1}; /* divsd %xmm1,%xmm0 */
	static const uint8_t use[] = {0x0f, 0x28, 0xc8, 0xc3};	  /* movaps %xmm0,%xmm1; ret */
	uint8_t code[300];
	struct proc *p;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 120, divide, sizeof(divide));
	memcpy(code + 263, use, sizeof(use));
	p = proc_make("alpha21164", code, 267);
	p->costs[proc_at(p, 263)].head = 0;
	check_bound(p, vti_rule_dependency, 263, false, 0);
	proc_drop(p);
	/* 80 before: 20 cycles of its 22. */
	memset(code, 0x90, sizeof(code));
	memcpy(code + 120, divide, sizeof(divide));
	memcpy(code + 204, use, sizeof(use));
	p = proc_make("alpha21164", code, 208);
	p->costs[proc_at(p, 204)].head = 0;
	check_bound(p, vti_rule_dependency, 204, false, PROC_EACH * 2);
	proc_drop(p);
}

/* What is behind a call may be what was called: rax, rdx, xmm0 and xmm1, and nothing else. */
static void test_results(void **state)
{
	static const struct {
		uint8_t code[4];
		uint8_t size;
		bool result;
	} uses[] = {
		{{0x48, 0x8d, 0x58, 0x01}, 4, true},  /* lea 1(%rax),%rbx */
		{{0x48, 0x8d, 0x5a, 0x01}, 4, true},  /* lea 1(%rdx),%rbx */
		{{0x48, 0x8d, 0x59, 0x01}, 4, false}, /* lea 1(%rcx),%rbx */
		{{0x48, 0x8d, 0x5e, 0x01}, 4, false}, /* lea 1(%rsi),%rbx */
		{{0x0f, 0x28, 0xe0}, 3, true},	      /* movaps %xmm0,%xmm4 */
		{{0x0f, 0x28, 0xe1}, 3, true},	      {{0x0f, 0x28, 0xe2}, 3, false},
	};
	unsigned i, n;

	(void)state;
	for (i = 0; i < sizeof(uses) / sizeof(uses[0]) * 2; i++) {
		static const uint8_t calls[2][5] = {{0xe8, 0, 0x10, 0, 0},
						    {0x90, 0x90, 0x90, 0x0f, 5}};
		const uint8_t size = uses[i / 2].size;
		const double often = uses[i / 2].result ? 300 : 0;

		for (n = 0; n < 9; n++) {
			struct vti_suspect s;
			uint8_t code[24];
			uint64_t at = 5 + n;
			struct proc *p;

			memset(code, 0x90, sizeof(code));
			memcpy(code, calls[i % 2], 5);
			memcpy(code + at, uses[i / 2].code, size);
			code[at + size] = 0xc3;
			p = proc_make("alpha21164", code, at + size + 1U);
			p->costs[proc_at(p, at)].head = 0.5F;
			p->insns[proc_at(p, at) - n - 1].executions = 300;
			check_bound(p, vti_rule_dcache, at, false, often * SLOWEST);
			check_bound(p, vti_rule_dtlb, at, false, often * TLB_MISS);
			s = ask(p, vti_rule_dcache, at, false);
			assert_int_equal(s.nguilty, often > 0);
			assert_true(!s.nguilty || s.guilty[0] == proc_at(p, at) - n - 1);
			/* What a load takes, of which four are issued in each cycle. */
			check_bound(p, vti_rule_dependency, at, false,
				    often * fmax(0, 1.5 - floor(n / 4.0)));
			proc_drop(p);
		}
	}
}

/* What is expected of others' loads is what was sampled at the instruction that waits. */
static void test_expected_results(void **state)
{
	/* 0: call 1005; 5: lea 1(%rax),%rbx; 9: ret */
	static const uint8_t code[] = {0xe8, 0, 0x10, 0, 0, 0x48, 0x8d, 0x58, 0x01, 0xc3};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));
	struct vt_culprit_insn *at = &p->insns[1];

	(void)state;
	check_bound(p, vti_rule_dcache, 5, true, PROC_EACH * FILL);
	p->in.period[VT_CULPRIT_LLCMISS] = 10;
	at->samples[VT_CULPRIT_LLCMISS] = 4;
	check_bound(p, vti_rule_dcache, 5, true, 43 * FILL + PROC_EACH * 20);
	p->in.period[VT_CULPRIT_DMISS] = 10;
	at->samples[VT_CULPRIT_DMISS] = 5;
	check_bound(p, vti_rule_dcache, 5, true, 53 * FILL);
	p->in.period[VT_CULPRIT_DTBMISS] = 10;
	at->samples[VT_CULPRIT_DTBMISS] = 6;
	check_bound(p, vti_rule_dtlb, 5, true, 63 * TLB_MISS);
	check_bound(p, vti_rule_dtlb, 5, false, PROC_EACH * TLB_MISS);
	proc_drop(p);
}

/*
 *  0: 85 ff           test %edi,%edi
 *  2: f2 0f 5e c1     divsd %xmm1,%xmm0
 *  6: 74 ..           je (long way)
 *  8: 90 x n, 0f 28 cd movaps %xmm5,%xmm1, eb .. jmp (end)
 *     90 x m, eb 00   jmp (next); (next): 90
 *     f2 0f 58 c8     addsd %xmm0,%xmm1 (end); c3 ret
 *
 * The division comes by both ways, and by the other one with what was sought in vain on the first.
 */
static void test_two_ways_to_operand(void **state)
{
	static const uint8_t start[] = {0x85, 0xff, 0xf2, 0x0f, 0x5e, 0xc1, 0x74};
	static const uint8_t set[] = {0x0f, 0x28, 0xcd, 0xeb},
			     end[] = {0xf2, 0x0f, 0x58, 0xc8, 0xc3};
	uint8_t n, m;

	(void)state;
	for (n = 0; n < 24; n += 4) {
		for (m = 0; m < 24; m += 4) {
			uint8_t code[96], *to = code + sizeof(start);
			/* Behind the division: je; the nops, movaps and jmp, or the others, jmp,
			 * nop. */
			unsigned far = 1 + (n < m ? n : m) + 2;
			struct proc *p;
			uint64_t last;

			memset(code, 0x90, sizeof(code));
			memcpy(code, start, sizeof(start));
			*to++ = (uint8_t)(n + 5);
			to += n;
			memcpy(to, set, sizeof(set));
			to += sizeof(set);
			*to++ = (uint8_t)(m + 3);
			to += m;
			*to++ = 0xeb;
			*to++ = 0;
			to++;
			last = (uint64_t)(to - code);
			memcpy(to, end, sizeof(end));
			p = proc_make("alpha21164", code, last + sizeof(end));
			p->costs[proc_at(p, last)].head = 0;
			check_bound(p, vti_rule_dependency, last, false,
				    PROC_EACH * (22.0 - floor(far / 4.0)));
			proc_drop(p);
		}
	}
}

/* nop; 1: nop, what is in the middle; dec %edi; jne 1: in the cache once entered, unless it calls.
 */
static void test_loops(void **state)
{
	static const uint8_t end[] = {0xff, 0xcf, 0x75, 0xd8, 0xc3};
	static const uint8_t call[] = {0xe8, 0xf6, 0x0f, 0x00, 0x00};
	uint8_t code[0x2d];
	struct proc *p;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		memset(code, 0x90, sizeof(code));
		memcpy(code + 0x28, end, sizeof(end));
		if (i)
			memcpy(code + 0x10, call, sizeof(call));
		p = proc_make("alpha21164", code, sizeof(code));
		set_entry(p, 7);
		proc_set_edge(p, 0, 4, 7);
		proc_set_edge(p, 0x2a, 4, PROC_EACH);
		check_bound(p, vti_rule_icache, 0x20, false, (i ? PROC_EACH : 7) * MISS);
		/* Of a cache that cannot hold both of its lines, either may be missed each time. */
		p->core.icache.size = 32;
		check_bound(p, vti_rule_icache, 0x20, false, PROC_EACH * MISS);
		proc_drop(p);
	}
}

/* ---- what is learnt ---- */

/*
 * A stall of 40000 that may be the cache's 432000 or the TLB's 50000, each of which has no other:
 * expected are 28 and 50 cycles for each of 1000, of which the stall is shared out three times.
 */
static void test_learning(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	struct vt_culprit_evidence *e = vt_culprit_evidence_new();
	double cache = 28000, tlb = 50000, each = 40000, a = 1, b = 1;
	struct vt_culprit_shares shares;
	uint32_t i;
	int round;

	(void)state;
	assert_non_null(e);
	for (i = 0; i < p->flow.cfg->ninsns; i++)
		if (i != proc_at(p, 3))
			p->insns[i].executions = NAN;
	p->insns[0].executions = PROC_EACH;
	p->insns[0].cycles = -1; /* nothing is known of its time */
	p->costs[proc_at(p, 3)].head = 2;
	p->insns[proc_at(p, 3)].cycles = 42;
	assert_int_equal(vt_culprit_collect(&p->in, e, &err), 0);
	vt_culprit_compute_shares(e, &shares);
	for (round = 0; round < 3; round++) {
		double x = fmin(each, cache * a), y = fmin(each, tlb * b);

		a = fmin(cache, each * x / (x + y)) / cache;
		b = fmin(tlb, each * y / (x + y)) / tlb;
	}
	assert_float_equal(shares.of[VT_STALL_DCACHE], a, 1e-6);
	assert_float_equal(shares.of[VT_STALL_DTLB], b, 1e-6);
	assert_float_equal(shares.of[VT_STALL_MISPREDICT], 1, 1e-6);
	assert_float_equal(shares.of[VT_STALL_WRITE_BUFFER], 0, 1e-6);
	vt_culprit_evidence_free(e);
	proc_drop(p);
}

/* Fetches are the only suspect: 7 cycles of the 28 that a line takes from a cache, each time. */
static void test_learning_one(void **state)
{
	static const uint8_t code[] = {0x90, 0xc3};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));
	struct vt_culprit_evidence *e = vt_culprit_evidence_new();
	struct vt_culprit_shares shares;

	(void)state;
	assert_non_null(e);
	p->core.itlb.entries = 0;
	p->core.dtlb.entries = 0;
	p->core.mispredict = 0;
	p->insns[1].executions = NAN;
	p->costs[0].head = 2;
	p->insns[0].cycles = 9;
	assert_int_equal(vt_culprit_collect(&p->in, e, &err), 0);
	vt_culprit_compute_shares(e, &shares);
	assert_float_equal(shares.of[VT_STALL_ICACHE], 0.25, 1e-9);
	assert_float_equal(shares.of[VT_STALL_ITLB], 0, 1e-9);
	assert_float_equal(shares.of[VT_STALL_DTLB], 0, 1e-9);
	/* A stall of less than a cycle counts; one that is none says that nothing happened. */
	p->insns[0].executions = 0.01;
	p->insns[0].cycles = 30;
	assert_int_equal(vt_culprit_collect(&p->in, e, &err), 0);
	vt_culprit_compute_shares(e, &shares);
	assert_float_equal(shares.of[VT_STALL_ICACHE], 7000.28 / 28000.28, 1e-7);
	p->insns[0].executions = 1000;
	p->insns[0].cycles = 1;
	assert_int_equal(vt_culprit_collect(&p->in, e, &err), 0);
	vt_culprit_compute_shares(e, &shares);
	assert_float_equal(shares.of[VT_STALL_ICACHE], 7000.28 / 56000.28, 1e-7);
	/* What is sampled is as much as is expected, whatever it costs. */
	p->in.period[VT_CULPRIT_ITBMISS] = p->in.period[VT_CULPRIT_DTBMISS] = 1;
	assert_int_equal(vt_culprit_collect(&p->in, e, &err), 0);
	vt_culprit_compute_shares(e, &shares);
	assert_float_equal(shares.of[VT_STALL_ITLB], 1, 1e-9);
	assert_float_equal(shares.of[VT_STALL_DTLB], 1, 1e-9);
	vt_culprit_evidence_free(e);
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds_of_loads),
		cmocka_unit_test(test_bounds_of_stores),
		cmocka_unit_test(test_bounds_of_operands),
		cmocka_unit_test(test_bounds_of_units),
		cmocka_unit_test(test_bounds_of_branches),
		cmocka_unit_test(test_bounds_of_fetches),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_other_way),
		cmocka_unit_test(test_samples_behind),
		cmocka_unit_test(test_far_operand),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_learning_one),
		cmocka_unit_test(test_expected_results),
		cmocka_unit_test(test_two_ways_to_operand),
		cmocka_unit_test(test_known_branches),
		cmocka_unit_test(test_many_units),
		cmocka_unit_test(test_far_division),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
