/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "culprit/cause.h"
#include "culprit/culprit.h"
#include "culprit/internal.h"
#include "tests/unit/common/procs.h"

static struct vt_error err;

/* Judged again, the same is appended. */
static void judge(struct proc *p)
{
	struct vt_culprit_stalls *s = &p->stalls;
	size_t i, n;

	vt_culprit_stalls_fini(s);
	assert_int_equal(vt_culprit_find(&p->in, s, &err), 0);
	n = s->count;
	for (i = 1; i < n; i++)
		assert_true(s->list[i - 1].insn < s->list[i].insn ||
			    (s->list[i - 1].insn == s->list[i].insn &&
			     s->list[i - 1].cause < s->list[i].cause));
	assert_int_equal(vt_culprit_find(&p->in, s, &err), 0);
	assert_int_equal(s->count, 2 * n);
	for (i = 0; i < n; i++) {
		assert_int_equal(s->list[n + i].insn, s->list[i].insn);
		assert_int_equal(s->list[n + i].cause, s->list[i].cause);
		assert_true(s->list[n + i].low == s->list[i].low);
	}
	s->count = n;
}

/* Lets one instruction, and no other, take so many cycles more than its schedule says. */
static void stall(struct proc *p, uint64_t offset, double cycles)
{
	uint32_t i;

	for (i = 0; i < p->flow.cfg->ninsns; i++)
		p->insns[i].cycles = (double)p->costs[i].head;
	p->insns[proc_at(p, offset)].cycles += cycles;
	judge(p);
}

static const struct vt_culprit_stall *find(const struct proc *p, uint64_t offset,
					   enum vt_stall_cause cause)
{
	uint32_t insn = proc_at(p, offset);
	size_t i;

	for (i = 0; i < p->stalls.count; i++)
		if (p->stalls.list[i].insn == insn && p->stalls.list[i].cause == cause)
			return &p->stalls.list[i];
	return NULL;
}

/* How many dynamic causes an instruction has been given. */
static unsigned suspects(const struct proc *p, uint64_t offset)
{
	uint32_t insn = proc_at(p, offset);
	unsigned n = 0;
	size_t i;

	for (i = 0; i < p->stalls.count; i++)
		n += p->stalls.list[i].insn == insn && p->stalls.list[i].cause > VT_STALL_GAIN &&
		     p->stalls.list[i].cause < VT_STALL_SLOTTING;
	return n;
}

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

static void test_load(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	const struct vt_culprit_stall *s;

	(void)state;
	/* The first that uses the value waits for the load; nothing else can be the reason. */
	stall(p, 3, 40);
	s = find(p, 3, VT_STALL_DCACHE);
	assert_non_null(s);
	assert_int_equal(s->nguilty, 1);
	assert_int_equal(s->guilty[0], proc_at(p, 0));
	assert_float_equal(s->high, 40 * PROC_EACH, 1);
	assert_non_null(find(p, 3, VT_STALL_DTLB));
	assert_null(find(p, 3, VT_STALL_ICACHE));
	assert_null(find(p, 3, VT_STALL_MISPREDICT));
	assert_null(find(p, 3, VT_STALL_WRITE_BUFFER));
	assert_null(find(p, 3, VT_STALL_UNEXPLAINED));
	/* More than a translation takes is the cache's for certain. */
	stall(p, 3, 70);
	s = find(p, 3, VT_STALL_DCACHE);
	assert_non_null(s);
	assert_true(s->low >= 15 * PROC_EACH && s->low < 70 * PROC_EACH);
	/* Who comes second finds the value there. */
	stall(p, 7, 40);
	assert_null(find(p, 7, VT_STALL_DCACHE));
	s = find(p, 7, VT_STALL_UNEXPLAINED);
	assert_non_null(s);
	assert_true(s->low >= 38 * PROC_EACH && s->low == s->high);
	proc_drop(p);
}

static void test_store(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));

	(void)state;
	stall(p, 0xb, 5);
	assert_non_null(find(p, 0xb, VT_STALL_WRITE_BUFFER));
	assert_non_null(find(p, 0xb, VT_STALL_DTLB));
	stall(p, 0xe, 15);
	assert_null(find(p, 0xe, VT_STALL_WRITE_BUFFER));
	assert_null(find(p, 0xe, VT_STALL_DTLB));
	assert_int_equal(suspects(p, 0xe), 0);
	proc_drop(p);
}

static void test_events(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	const struct vt_culprit_stall *s;

	(void)state;
	p->in.period[VT_CULPRIT_DTBMISS] = 1;
	stall(p, 3, 40);
	assert_null(find(p, 3, VT_STALL_DTLB));
	s = find(p, 3, VT_STALL_DCACHE);
	assert_non_null(s);
	assert_float_equal(s->low, s->high, PROC_EACH);
	/* Without a single miss sampled, neither can have been. */
	p->in.period[VT_CULPRIT_DMISS] = 1;
	judge(p);
	s = find(p, 3, VT_STALL_DCACHE);
	assert_true(!s || s->high < 5 * PROC_EACH);
	assert_non_null(find(p, 3, VT_STALL_UNEXPLAINED));
	p->insns[proc_at(p, 0)].samples[VT_CULPRIT_DMISS] = 2000;
	judge(p);
	assert_non_null(find(p, 3, VT_STALL_DCACHE));
	assert_null(find(p, 3, VT_STALL_UNEXPLAINED));
	proc_drop(p);
}

static void check_stall(const struct proc *p, enum vt_stall_cause cause, double low, double high)
{
	const struct vt_culprit_stall *s = find(p, 3, cause);

	assert_non_null(s);
	assert_float_equal(s->low, low, 1e-6);
	assert_float_equal(s->high, high, 1e-6);
	assert_int_equal(s->confidence, VT_CONFIDENCE_HIGH);
}

/*
 * No more than 120 pages were missed, of 50 cycles each: a tenth of a stall of 60000 is left out if
 * the cache can account for all of it, and otherwise is told.
 */
static void test_minor(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));

	(void)state;
	p->in.period[VT_CULPRIT_DTBMISS] = 10;
	p->insns[0].samples[VT_CULPRIT_DTBMISS] = 4;
	stall(p, 3, 60);
	assert_int_equal(suspects(p, 3), 1);
	check_stall(p, VT_STALL_DCACHE, 54000, 60000);
	/* 120 lines, of 432 cycles each: 2160 cycles are left, which are more than 2 % of all. */
	p->in.period[VT_CULPRIT_DMISS] = 10;
	p->insns[0].samples[VT_CULPRIT_DMISS] = 4;
	stall(p, 3, 60);
	assert_int_equal(suspects(p, 3), 2);
	check_stall(p, VT_STALL_DCACHE, 51840, 51840);
	check_stall(p, VT_STALL_DTLB, 6000, 6000);
	check_stall(p, VT_STALL_UNEXPLAINED, 2160, 2160);
	/* So are 1190 of 59030, and 1170 of 59010 are less. */
	stall(p, 3, 59.03);
	check_stall(p, VT_STALL_UNEXPLAINED, 1190, 1190);
	stall(p, 3, 59.01);
	assert_null(find(p, 3, VT_STALL_UNEXPLAINED));
	/* With 3000 between what both can do and all, each has done the rest. */
	stall(p, 3, 54.84);
	assert_int_equal(suspects(p, 3), 2);
	check_stall(p, VT_STALL_DCACHE, 48840, 51840);
	check_stall(p, VT_STALL_DTLB, 3000, 6000);
	/* Less than a third of the stall is minor, more is not: 6000 of 18100, and of 17900. */
	stall(p, 3, 18.1);
	assert_int_equal(suspects(p, 3), 1);
	check_stall(p, VT_STALL_DCACHE, 12100, 18100);
	stall(p, 3, 17.9);
	assert_int_equal(suspects(p, 3), 2);
	check_stall(p, VT_STALL_DCACHE, 11900, 17900);
	check_stall(p, VT_STALL_DTLB, 0, 6000);
	/* Less than 2 % is nothing at all. */
	p->in.period[VT_CULPRIT_DTBMISS] = 1;
	stall(p, 3, 40);
	assert_int_equal(suspects(p, 3), 1);
	check_stall(p, VT_STALL_DCACHE, 40000, 40000);
	/* Stalls, and gains, of less than 0.02 cycles are not told. */
	stall(p, 3, 0.019);
	assert_int_equal(suspects(p, 3), 0);
	stall(p, 3, 0.021);
	check_stall(p, VT_STALL_DCACHE, 0, 21);
	stall(p, 3, -0.019);
	assert_null(find(p, 3, VT_STALL_GAIN));
	stall(p, 3, -0.021);
	check_stall(p, VT_STALL_GAIN, 21, 21);
	/* Nor are those of less than a standard error: sqrt(0.8 * 2 * 1000) cycles. */
	p->insns[proc_at(p, 3)].period = 0.8;
	stall(p, 3, 0.0399);
	assert_int_equal(suspects(p, 3), 0);
	stall(p, 3, 0.0401);
	assert_int_not_equal(suspects(p, 3), 0);
	proc_drop(p);
}

/* What hardly ever happens is left out, unless nothing else can account for a stall. */
static void test_shares(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	struct vt_culprit_shares shares = {{0}};

	(void)state;
	shares.of[VT_STALL_DCACHE] = shares.of[VT_STALL_DTLB] = 0.5;
	p->in.shares = &shares;
	stall(p, 3, 20);
	assert_non_null(find(p, 3, VT_STALL_DCACHE));
	assert_non_null(find(p, 3, VT_STALL_DTLB));
	shares.of[VT_STALL_DTLB] = 0.001;
	judge(p);
	assert_non_null(find(p, 3, VT_STALL_DCACHE));
	assert_null(find(p, 3, VT_STALL_DTLB));
	/* 1 in 20 of what is to be expected is left out, unless samples of an event say how many.
	 */
	shares.of[VT_STALL_DTLB] = 0.0147;
	judge(p);
	assert_null(find(p, 3, VT_STALL_DTLB));
	p->in.period[VT_CULPRIT_IMISS] = 1;
	judge(p);
	assert_non_null(find(p, 3, VT_STALL_DTLB));
	p->in.period[VT_CULPRIT_IMISS] = 0;
	shares.of[VT_STALL_DTLB] = 0.001;
	/* That is longer than to fetch a line from a cache: it may be both. */
	stall(p, 3, 40);
	assert_non_null(find(p, 3, VT_STALL_DTLB));
	/* More than a TLB miss takes cannot be one. */
	shares.of[VT_STALL_DTLB] = 0.5;
	shares.of[VT_STALL_DCACHE] = 0.0001;
	stall(p, 3, 60);
	assert_non_null(find(p, 3, VT_STALL_DCACHE));
	proc_drop(p);
}

static void test_measured(void **state)
{
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	const struct vt_culprit_stall *s;

	(void)state;
	/* Within the samples' noise there is no stall. */
	p->insns[proc_at(p, 3)].period = 50 * 50 * PROC_EACH;
	stall(p, 3, 40);
	assert_int_equal(suspects(p, 3), 0);
	/* Less time than scheduled. */
	p->insns[proc_at(p, 3)].period = 0;
	stall(p, 3, -0.5);
	s = find(p, 3, VT_STALL_GAIN);
	assert_non_null(s);
	assert_float_equal(s->low, 0.5 * PROC_EACH, 1);
	/* What the schedule knows: the addition waits for the load's two cycles. */
	s = find(p, 3, VT_STALL_OPERAND_A);
	if (!s)
		s = find(p, 3, VT_STALL_OPERAND_B);
	assert_non_null(s);
	assert_true(s->low == s->high && s->low > 0);
	assert_int_equal(s->nguilty, 1);
	assert_int_equal(s->guilty[0], proc_at(p, 0));
	/* Nothing is known of it. */
	p->insns[proc_at(p, 3)].executions = NAN;
	stall(p, 3, 40);
	assert_int_equal(suspects(p, 3), 0);
	assert_null(find(p, 3, VT_STALL_OPERAND_A));
	proc_drop(p);
}

/*
 *  0: 85 ff           test %edi,%edi
 *  2: 74 0a           je e
 *  4: 90 x 8          nop
 *  c: eb 20           jmp 2e
 *  e: 90 x 32         nop
 * 2e: 90              nop
 * 2f: c3              ret
 */
static void test_fetch(void **state)
{
	static const uint8_t branch[] = {0x85, 0xff, 0x74, 0x0a};
	static const uint8_t jump[] = {0xeb, 0x20};
	uint8_t code[0x30];
	struct proc *p;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, branch, sizeof(branch));
	memcpy(code + 0xc, jump, sizeof(jump));
	code[0x2f] = 0xc3;
	p = proc_make("alpha21164", code, sizeof(code));
	proc_set_edge(p, 2, 4, PROC_EACH / 2);
	proc_set_edge(p, 2, 0xe, PROC_EACH / 2);
	proc_set_edge(p, 0xc, 0x2e, PROC_EACH / 2);
	proc_set_edge(p, 0x2d, 0x2e, PROC_EACH / 2);
	/* Where control comes from elsewhere, anything about it may be. */
	stall(p, 0, 3);
	assert_non_null(find(p, 0, VT_STALL_ICACHE));
	assert_non_null(find(p, 0, VT_STALL_ITLB));
	assert_non_null(find(p, 0, VT_STALL_MISPREDICT));
	/* In the line of all before it; behind a branch. */
	stall(p, 4, 3);
	assert_null(find(p, 4, VT_STALL_ICACHE));
	assert_non_null(find(p, 4, VT_STALL_MISPREDICT));
	assert_int_equal(find(p, 4, VT_STALL_MISPREDICT)->guilty[0], proc_at(p, 2));
	assert_int_equal(suspects(p, 4), 1);
	/* The first of a line, that nothing jumps to. */
	stall(p, 0x20, 3);
	assert_non_null(find(p, 0x20, VT_STALL_ICACHE));
	assert_float_equal(find(p, 0x20, VT_STALL_ICACHE)->low, 3 * PROC_EACH, PROC_EACH);
	assert_null(find(p, 0x20, VT_STALL_ITLB));
	assert_null(find(p, 0x20, VT_STALL_MISPREDICT));
	stall(p, 0x21, 3);
	assert_null(find(p, 0x21, VT_STALL_ICACHE));
	assert_non_null(find(p, 0x21, VT_STALL_UNEXPLAINED));
	/* From another line on one of two ways, by a jump that needs no prediction. */
	stall(p, 0x2e, 3);
	assert_non_null(find(p, 0x2e, VT_STALL_ICACHE));
	assert_null(find(p, 0x2e, VT_STALL_MISPREDICT));
	/* A way that is hardly ever taken does not count. */
	proc_set_edge(p, 0xc, 0x2e, PROC_EACH / 1000);
	proc_set_edge(p, 0x2d, 0x2e, PROC_EACH);
	judge(p);
	assert_null(find(p, 0x2e, VT_STALL_ICACHE));
	proc_drop(p);
}

/*
 *  0: 90 x 30         nop
 * 1e: 90 90 90 90     nop         (the loop: 1e to 27)
 * 22: ff cf           dec %edi
 * 24: 75 f8           jne 1e
 * 26: c3              ret
 */
static void test_resident(void **state)
{
	static const uint8_t end[] = {0xff, 0xcf, 0x75, 0xf8, 0xc3};
	uint8_t code[0x27];
	struct proc *p;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x22, end, sizeof(end));
	p = proc_make("alpha21164", code, sizeof(code));
	proc_set_edge(p, 0x24, 0x1e, PROC_EACH - 1);
	proc_set_edge(p, 0x1d, 0x1e, 1);
	/* The loop lies in two lines, but both stay in the cache. */
	stall(p, 0x20, 30);
	assert_null(find(p, 0x20, VT_STALL_ICACHE));
	assert_non_null(find(p, 0x20, VT_STALL_UNEXPLAINED));
	/* Entered often, it may miss as often. */
	proc_set_edge(p, 0x1d, 0x1e, PROC_EACH / 2);
	proc_set_edge(p, 0x24, 0x1e, PROC_EACH / 2);
	judge(p);
	assert_non_null(find(p, 0x20, VT_STALL_ICACHE));
	proc_drop(p);
}

/*
 *  0: f2 0f 5e c1     divsd %xmm1,%xmm0
 *  4: f2 0f 5e d3     divsd %xmm3,%xmm2
 *  8: 0f 28 e5        movaps %xmm5,%xmm4
 *  b: c3              ret
 */
static void test_units(void **state)
{
	static const uint8_t code[] = {0xf2, 0x0f, 0x5e, 0xc1, 0xf2, 0x0f,
				       0x5e, 0xd3, 0x0f, 0x28, 0xe5, 0xc3};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));
	const struct vt_culprit_stall *s;

	(void)state;
	judge(p);
	s = find(p, 4, VT_STALL_UNIT_STATIC);
	assert_non_null(s);
	assert_int_equal(s->guilty[0], proc_at(p, 0));
	/* Somebody who called it may have left the divider busy. */
	stall(p, 0, 10);
	assert_non_null(find(p, 0, VT_STALL_DIVIDER));
	stall(p, 8, 10);
	assert_null(find(p, 8, VT_STALL_MULTIPLIER));
	proc_drop(p);
}

/*
 * A load of what was just stored, all of it or, as the store was shorter, with the cache's: its
 * data is an operand, and no unit is busy.
 *
 *  0: 89 07           mov %eax,(%rdi)    (or 88 07, mov %al,(%rdi))
 *  2: 8b 07           mov (%rdi),%eax
 *  4: c3              ret
 */
static void test_stored_operands(void **state)
{
	static const uint8_t whole[] = {0x89, 0x07, 0x8b, 0x07, 0xc3};
	static const uint8_t part[] = {0x88, 0x07, 0x8b, 0x07, 0xc3};
	struct proc *p = proc_make("skylake", whole, sizeof(whole));

	(void)state;
	assert_int_equal(p->costs[1].nstalls, 1);
	assert_int_equal(p->costs[1].stalls[0].cause, VT_STALL_OPERAND_C);
	proc_drop(p);
	p = proc_make("skylake", part, sizeof(part));
	assert_int_equal(p->costs[1].nstalls, 1);
	assert_int_equal(p->costs[1].stalls[0].cause, VT_STALL_OPERAND_C);
	proc_drop(p);
}

static void test_names(void **state)
{
	unsigned cause;

	(void)state;
	assert_int_equal(vt_culprit_event_of("imiss"), VT_CULPRIT_IMISS);
	assert_int_equal(vt_culprit_event_of("branch-misses:pp"), VT_CULPRIT_BRANCHMP);
	assert_int_equal(vt_culprit_event_of("cpu/cache-misses/u"), VT_CULPRIT_LLCMISS);
	assert_int_equal(vt_culprit_event_of("dTLB-load-misses:u"), VT_CULPRIT_DTBMISS);
	assert_int_equal(vt_culprit_event_of("cycles"), VT_NCULPRIT_EVENTS);
	assert_int_equal(vt_culprit_event_of("branch-misses2"), VT_NCULPRIT_EVENTS);
	/* Causes by their names, and by letters that no two share. */
	for (cause = 0; cause < VT_NSTALLS; cause++) {
		const char letter[] = {vt_stall_letter(cause), 0};

		assert_int_equal(vt_stall_find(vt_stall_name(cause)), cause);
		assert_int_equal(vt_stall_find(letter), cause);
		assert_true(strlen(vt_stall_text(cause)) > 4);
	}
	assert_int_equal(vt_stall_letter(VT_STALL_DTLB), 'D');
	assert_string_equal(vt_stall_text(VT_STALL_DTLB), "DTB miss");
	assert_int_equal(vt_stall_find("dd"), VT_NSTALLS);
	assert_int_equal(vt_stall_find("z"), VT_NSTALLS);
	assert_int_equal(vt_stall_find(""), VT_NSTALLS);
	assert_int_equal(vt_stall_letter(VT_NSTALLS), '?');
	assert_string_equal(vt_stall_text(VT_NSTALLS), "?");
	/* Each reason has words; nothing is said where there is none. */
	for (cause = VT_WHY_NONE + 1; cause < VT_NWHYS; cause++)
		assert_true(strlen(vt_stall_why_text(VT_STALL_DCACHE, cause)) > 4);
	assert_string_equal(vt_stall_why_text(VT_STALL_DCACHE, VT_WHY_NONE), "");
	assert_string_equal(vt_stall_why_text(VT_STALL_DCACHE, VT_NWHYS), "");
	assert_string_equal(vt_stall_why_text(VT_STALL_DCACHE, VT_WHY_ABSENT), "no load");
	assert_string_equal(vt_stall_why_text(VT_STALL_SYNC, VT_WHY_ABSENT),
			    "no fence, atomic or microcode");
	assert_string_equal(vt_stall_why_text(VT_STALL_ITLB, VT_WHY_DISPLACED),
			    "other code may displace it");
	assert_string_equal(vt_stall_why_text(VT_STALL_DTLB, VT_WHY_DISPLACED),
			    "what is called may displace it");
	assert_string_equal(vt_stall_why_text(VT_STALL_WRITE_BUFFER, VT_WHY_ANYWHERE),
			    "a store goes anywhere");
}

/* What is waited for is many instructions before, none of which has anything to do with it. */
static void test_long_block(void **state)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x07};	     /* mov (%rdi),%rax */
	static const uint8_t use[] = {0x48, 0x8d, 0x58, 0x01, 0xc3}; /* lea 1(%rax),%rbx; ret */
	const size_t end = 400;
	uint8_t code[PROC_MAX];
	size_t by;

	(void)state;
	/* The load; or a pop %rax anywhere behind it. */
	for (by = 0; by < 280; by = by ? by + 1 : 110) {
		const struct vt_culprit_stall *s;
		struct proc *p;

		memset(code, 0x90, end);
		memcpy(code, load, sizeof(load));
		memcpy(code + end, use, sizeof(use));
		if (by)
			code[by] = 0x58;
		p = proc_make("alpha21164", code, end + sizeof(use));
		stall(p, end, 40);
		s = find(p, end, VT_STALL_DCACHE);
		assert_non_null(s);
		assert_int_equal(s->nguilty, 1);
		assert_int_equal(s->guilty[0], proc_at(p, by));
		proc_drop(p);
	}
}

/* Of what stalls there must be executions, and a time. */
static void test_what_stalls(void **state)
{
	static const struct {
		double executions, cycles;
		bool known;
	} rows[] = {
		{10, 3, true},	 {10, 0, true},	   {0.5, 3, true},
		{0, 3, false},	 {-1, 3, false},   {10, -1, false},
		{NAN, 3, false}, {10, NAN, false}, {INFINITY, 3, false},
	};
	struct proc *p = proc_make("alpha21164", load_use, sizeof(load_use));
	struct vti_stalled st;
	struct vti_culprit c;
	unsigned i;

	(void)state;
	p->costs[0].head = 0.5F;
	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p->insns[0].executions = rows[i].executions;
		p->insns[0].cycles = rows[i].cycles;
		assert_int_equal(vti_culprit_stalled(&c, 0, &st), rows[i].known);
		if (!rows[i].known)
			continue;
		assert_true(st.executions == rows[i].executions);
		assert_true(st.cycles == (rows[i].cycles - 0.5) * rows[i].executions);
		assert_false(st.expected);
	}
	vti_culprit_fini(&c);
	proc_drop(p);
}

/* ---- how control arrives ---- */

static struct vti_stalled arrive(struct proc *p, uint32_t insn)
{
	struct vti_stalled st;
	struct vti_culprit c;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, insn, &st));
	vti_culprit_fini(&c);
	return st;
}

static void check_arrival(const struct vti_stalled *st, uint32_t i, enum vti_arrival how,
			  uint32_t insn, double executions)
{
	assert_true(i < st->nbefore);
	assert_int_equal(st->before[i].how, how);
	assert_int_equal(st->before[i].insn, insn);
	assert_true(st->before[i].executions == executions);
}

/* From the instruction before it, or by the edges of its block. */
static void test_arrivals(void **state)
{
	struct proc *p = proc_make_ways();
	struct vti_stalled st;

	(void)state;
	p->insns[WAYS_HEAD].executions = 1000;
	proc_set_edge(p, 5, 8, 100);
	proc_set_edge(p, 7, 8, 200);
	proc_set_edge(p, 0xa, 8, 700);
	st = arrive(p, WAYS_SECOND);
	assert_int_equal(st.nbefore, 1);
	check_arrival(&st, 0, VTI_NEXT, WAYS_HEAD, 70);
	st = arrive(p, WAYS_HEAD);
	assert_int_equal(st.nbefore, 3);
	check_arrival(&st, 0, VTI_BRANCH, WAYS_JMP, 100);
	check_arrival(&st, 1, VTI_BRANCH, WAYS_LONG, 200);
	check_arrival(&st, 2, VTI_BRANCH, WAYS_JNE, 700);
	p->insns[WAYS_TEST].executions = 500;
	st = arrive(p, WAYS_TEST);
	assert_int_equal(st.nbefore, 1);
	check_arrival(&st, 0, VTI_OUTSIDE, UINT32_MAX, 300);
	/* Behind a call, in a block and at its end. */
	p->flow.cfg->insns[WAYS_HEAD].flags = p->flow.cfg->insns[WAYS_LONG].flags = VT_FACT_CALL;
	p->flow.cfg->insns[WAYS_JMP].flags |= VT_FACT_CALL;
	st = arrive(p, WAYS_SECOND);
	check_arrival(&st, 0, VTI_RETURN, WAYS_HEAD, 70);
	st = arrive(p, WAYS_HEAD);
	check_arrival(&st, 0, VTI_BRANCH, WAYS_JMP, 100);
	check_arrival(&st, 1, VTI_RETURN, WAYS_LONG, 200);
	/* Rarer ones than 1 in 100 are left out; none is more often than the instruction. */
	proc_set_edge(p, 5, 8, 10);
	proc_set_edge(p, 7, 8, 9.99);
	proc_set_edge(p, 0xa, 8, 1001);
	st = arrive(p, WAYS_HEAD);
	assert_int_equal(st.nbefore, 2);
	check_arrival(&st, 0, VTI_BRANCH, WAYS_JMP, 10);
	check_arrival(&st, 1, VTI_BRANCH, WAYS_JNE, 1000);
	/* What is not known is as often as the instruction before, if that is; less than none is 0.
	 */
	proc_set_edge(p, 5, 8, NAN);
	proc_set_edge(p, 7, 8, -5);
	proc_set_edge(p, 0xa, 8, NAN);
	p->insns[WAYS_JNE].executions = NAN;
	st = arrive(p, WAYS_HEAD);
	assert_int_equal(st.nbefore, 2);
	check_arrival(&st, 0, VTI_BRANCH, WAYS_JMP, 40);
	check_arrival(&st, 1, VTI_BRANCH, WAYS_JNE, 1000);
	p->in.edges = NULL;
	st = arrive(p, WAYS_HEAD);
	assert_int_equal(st.nbefore, 3);
	check_arrival(&st, 1, VTI_RETURN, WAYS_LONG, 50);
	st = arrive(p, WAYS_TEST);
	check_arrival(&st, 0, VTI_OUTSIDE, UINT32_MAX, 500);
	proc_drop(p);
}

/* Of a graph that is not complete, what is left of nine tenths comes from anywhere. */
static void test_unknown_arrivals(void **state)
{
	struct proc *p = proc_make_ways();
	struct vti_stalled st;

	(void)state;
	p->insns[WAYS_HEAD].executions = 1000;
	proc_set_edge(p, 5, 8, 100);
	proc_set_edge(p, 7, 8, 200);
	proc_set_edge(p, 0xa, 8, 599);
	assert_int_equal(arrive(p, WAYS_HEAD).nbefore, 3);
	p->flow.cfg->complete = false;
	st = arrive(p, WAYS_HEAD);
	assert_int_equal(st.nbefore, 4);
	check_arrival(&st, 3, VTI_OUTSIDE, UINT32_MAX, 101);
	proc_set_edge(p, 0xa, 8, 600);
	assert_int_equal(arrive(p, WAYS_HEAD).nbefore, 3);
	/* What is left out as too rare is known, too. */
	proc_set_edge(p, 0xa, 8, 591);
	proc_set_edge(p, 5, 8, 9);
	proc_set_edge(p, 7, 8, 300);
	assert_int_equal(arrive(p, WAYS_HEAD).nbefore, 2);
	proc_drop(p);
}

/* 32 ways are told apart; any more are one, of which nothing is known. */
static void test_many_arrivals(void **state)
{
	enum { WAYS = 40 };
	uint8_t code[2 * WAYS + 2];
	struct proc *p;
	struct vti_stalled st;
	uint32_t i;

	(void)state;
	for (i = 0; i < WAYS; i++) {
		code[2 * i] = 0x74;
		code[2 * i + 1] = (uint8_t)(2 * (WAYS - 1 - i));
	}
	code[2 * WAYS] = 0x90;
	code[2 * WAYS + 1] = 0xc3;
	p = proc_make_plain(code, sizeof(code));
	p->insns[WAYS].executions = 1000;
	/* The last one's two edges, and one of each other: 20, 21 and so on. */
	for (i = 0; i < p->flow.cfg->blocks[p->block[WAYS]].nin; i++)
		p->edges[p->flow.cfg->in[p->flow.cfg->blocks[p->block[WAYS]].in + i]] = 20 + i;
	st = arrive(p, WAYS);
	assert_int_equal(st.nbefore, 32);
	for (i = 0; i < 31; i++)
		check_arrival(&st, i, VTI_BRANCH, i, 20 + i);
	assert_int_equal(st.before[31].how, VTI_OUTSIDE);
	/* 51 to 60. */
	assert_true(p->flow.cfg->blocks[p->block[WAYS]].nin == 41);
	assert_true(st.before[31].executions == 10 * (51 + 60) / 2.0);
	proc_drop(p);
}

/* 8 are named, each once. */
static void test_blame(void **state)
{
	struct vti_suspect s = {.bound = 0};
	uint32_t i;

	(void)state;
	for (i = 0; i < 20; i++)
		vti_suspect_blame(&s, 100 + i / 2);
	assert_int_equal(s.nguilty, 8);
	for (i = 0; i < 8; i++)
		assert_int_equal(s.guilty[i], 100 + i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_long_block),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_measured),
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_resident),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_stored_operands),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_minor),
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_what_stalls),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_many_arrivals),
		cmocka_unit_test(test_unknown_arrivals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
