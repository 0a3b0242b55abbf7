/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was before an instruction, on all ways to it: who defines its registers, what was executed
 * shortly before, and how many micro-operations are in between.
 */
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

#define REG(r) (UINT64_C(1) << (r))
#define AX     REG(VT_REG_AX)
#define BX     REG(VT_REG_BX)
#define CX     REG(VT_REG_CX)

static struct vt_error err;

/* ---- micro-operations ---- */

static void test_latency(void **state)
{
	static const uint16_t latencies[][3] = {{7, 3, 5}, {3, 7, 5}, {3, 5, 7}};
	struct vt_mop op = {.nuops = 0};
	unsigned i, k;

	(void)state;
	assert_int_equal(vti_mop_latency(&op), 0);
	for (i = 0; i < 3; i++) {
		/* What is behind the last one is not its own. */
		op = (struct vt_mop){.nuops = 3, .uops = {[3] = {.latency = 99}}};
		for (k = 0; k < 3; k++)
			op.uops[k].latency = latencies[i][k];
		assert_int_equal(vti_mop_latency(&op), 7);
	}
}

/* A load, and one that another micro-operation waits for. */
static void test_loads(void **state)
{
	const struct vt_uop load = {.op_class = VT_OP_LOAD, .operands = VT_UOP_ADDRESS},
			    other = {.op_class = VT_OP_INT, .operands = VT_UOP_READS},
			    waits = {.op_class = VT_OP_INT,
				     .operands = VT_UOP_READS | VT_UOP_PREVIOUS},
			    chained = {.op_class = VT_OP_LOAD, .operands = VT_UOP_PREVIOUS};
	const struct {
		struct vt_mop op;
		bool waits, load;
	} rows[] = {
		{{.nuops = 1, .uops = {load}}, false, true},
		{{.nuops = 1, .uops = {chained}}, false, true},
		{{.nuops = 1, .uops = {other, load}}, false, false},
		{{.nuops = 2, .uops = {load, waits}}, true, false},
		{{.nuops = 1, .uops = {load, waits}}, false, true},
		{{.nuops = 2, .uops = {waits, load}}, false, true},
		{{.nuops = 2, .uops = {load, other}}, false, true},
		{{.nuops = 3, .uops = {load, other, waits}}, true, false},
		{{.nuops = 2, .uops = {load, chained}}, true, false},
		{{.nuops = 2, .uops = {other, waits}}, false, false},
		{{.nuops = 0, .uops = {load, waits}}, false, false},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (vti_mop_waits(&rows[i].op) != rows[i].waits ||
		    vti_mop_is_load(&rows[i].op) != rows[i].load)
			fail_msg("row %u", i);
	}
}

/* ---- definitions ---- */

static void check_forgotten(const struct vti_culprit *c)
{
	uint32_t i;

	for (i = 0; i < c->cfg->nblocks; i++)
		assert_true(c->sought[i] == 0);
}

static struct vti_definers reach(struct proc *p, uint32_t insn, uint64_t regs)
{
	struct vti_stalled st = {.insn = insn};
	struct vti_definers d;
	struct vti_culprit c;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	st.c = &c;
	vti_culprit_reach(&st, regs, &d);
	check_forgotten(&c);
	vti_culprit_fini(&c);
	return d;
}

static void check_outside(double got, double want)
{
	if (isinf(want) ? !isinf(got) : got != want)
		fail_msg("%g from outside, not %g", got, want);
}

/* Nobody defines them but who comes from outside. */
static void check_none(struct proc *p, uint32_t insn, uint64_t regs, double outside)
{
	struct vti_definers d = reach(p, insn, regs);

	assert_int_equal(d.count, 0);
	check_outside(d.outside, outside);
}

static void check_one(struct proc *p, uint32_t insn, uint64_t regs, uint32_t by, uint32_t slots)
{
	struct vti_definers d = reach(p, insn, regs);

	assert_int_equal(d.count, 1);
	assert_int_equal(d.list[0].insn, by);
	assert_int_equal(d.list[0].slots, slots);
	check_outside(d.outside, 0);
}

/* By each way, with the micro-operations on it: of the head, and what is behind the definition. */
static void test_ways(void **state)
{
	struct proc *p = proc_make_ways();
	struct vti_definers d;

	(void)state;
	/* The nearest is in the block. */
	p->ops[WAYS_HEAD].writes = p->ops[WAYS_TEST].writes = AX;
	check_one(p, WAYS_SECOND, AX, WAYS_HEAD, 0);
	check_one(p, WAYS_JNE, AX, WAYS_HEAD, 7);
	/* All ways to the head, among them the loop's. */
	p->ops[WAYS_HEAD].writes = 0;
	p->ops[WAYS_SHORT].writes = p->ops[WAYS_LONG].writes = p->ops[WAYS_SECOND].writes = AX;
	d = reach(p, WAYS_SECOND, AX);
	assert_int_equal(d.count, 3);
	assert_true(d.list[0].insn == WAYS_SHORT && d.list[0].slots == 6 + 4);
	assert_true(d.list[1].insn == WAYS_LONG && d.list[1].slots == 6);
	assert_true(d.list[2].insn == WAYS_SECOND && d.list[2].slots == 6 + 8);
	check_outside(d.outside, 0);
	/* The first block is on both ways, the shorter one of which counts. */
	p->ops[WAYS_SHORT].writes = p->ops[WAYS_LONG].writes = p->ops[WAYS_SECOND].writes = 0;
	check_one(p, WAYS_SECOND, AX, WAYS_TEST, 6 + 4 + 3 + 2);
	check_one(p, WAYS_HEAD, AX, WAYS_TEST, 4 + 3 + 2);
	check_one(p, WAYS_LONG, AX, WAYS_TEST, 2);
	check_one(p, WAYS_JE, AX, WAYS_TEST, 0);
	/* What is sought in vain on the other way as well comes by that one, too. */
	p->ops[WAYS_SHORT].writes = BX;
	d = reach(p, WAYS_SECOND, AX | BX);
	assert_int_equal(d.count, 2);
	assert_true(d.list[0].insn == WAYS_SHORT && d.list[0].slots == 6 + 4);
	assert_true(d.list[1].insn == WAYS_TEST && d.list[1].slots == 6 + 4 + 3 + 2);
	check_outside(d.outside, 0);
	p->ops[WAYS_LONG].nuops = 2;
	p->ops[WAYS_TEST].writes |= CX;
	d = reach(p, WAYS_SECOND, AX | BX);
	assert_true(d.count == 2 && d.list[1].insn == WAYS_TEST && d.list[1].slots == 6 + 2 + 2);
	/* The shorter way counts when it is found last, too. */
	check_one(p, WAYS_SECOND, CX, WAYS_TEST, 6 + 2 + 2);
	proc_drop(p);
}

/* In order, who waits for a register before has it come; out of order nobody tells. */
static void test_readers(void **state)
{
	struct proc *p = proc_make_ways();
	int out_of_order, address;

	(void)state;
	p->ops[WAYS_TEST].writes = AX;
	for (address = 0; address < 2; address++) {
		*(address ? &p->ops[WAYS_HEAD].address_reads : &p->ops[WAYS_HEAD].reads) = AX;
		for (out_of_order = 0; out_of_order < 2; out_of_order++) {
			p->core.order = out_of_order ? VT_OUT_OF_ORDER : VT_IN_ORDER;
			if (out_of_order)
				check_one(p, WAYS_SECOND, AX, WAYS_TEST, 15);
			else
				check_none(p, WAYS_SECOND, AX, 0);
			/* It reads another one. */
			check_none(p, WAYS_SECOND, CX, 300);
		}
		p->ops[WAYS_HEAD].address_reads = p->ops[WAYS_HEAD].reads = 0;
	}
	proc_drop(p);
}

/* Registers that a procedure may be called with, and no others, come from outside. */
static void test_arguments(void **state)
{
	static const struct {
		unsigned reg;
		bool argument;
	} rows[] = {
		{VT_REG_AX, true},	   {VT_REG_BX, false},	      {VT_REG_CX, true},
		{VT_REG_DX, true},	   {VT_REG_SI, true},	      {VT_REG_DI, true},
		{VT_REG_BP, false},	   {VT_REG_SP, false},	      {VT_REG_FLAGS, false},
		{VT_REG_GS, false},	   {VT_REG_R8, true},	      {VT_REG_R8 + 1, true},
		{VT_REG_R8 + 2, true},	   {VT_REG_R8 + 3, true},     {VT_REG_R8 + 4, false},
		{VT_REG_R15, false},	   {VT_REG_VECTOR, true},     {VT_REG_VECTOR + 1, true},
		{VT_REG_VECTOR + 6, true}, {VT_REG_VECTOR + 7, true}, {VT_REG_VECTOR + 8, false},
	};
	struct proc *p = proc_make_ways();
	struct vt_cfg *g = p->flow.cfg;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check_none(p, WAYS_TEST, REG(rows[i].reg), rows[i].argument ? 300 : 0);
		check_none(p, WAYS_RET, REG(rows[i].reg), rows[i].argument ? 300 : 0);
	}
	/* How often is not known. */
	proc_set_entry(p, NAN);
	check_none(p, WAYS_RET, AX, INFINITY);
	proc_set_entry(p, -1);
	check_none(p, WAYS_RET, AX, INFINITY);
	proc_set_entry(p, 0);
	check_none(p, WAYS_RET, AX, 0);
	proc_set_entry(p, 0.25);
	check_none(p, WAYS_RET, AX, 0.25);
	p->in.edges = NULL;
	check_none(p, WAYS_RET, AX, INFINITY);
	check_none(p, WAYS_RET, BX, 0);
	p->in.edges = p->edges;
	/* Control may come from anywhere, with any register; unless a block defines it. */
	g->complete = false;
	check_none(p, WAYS_RET, BX, INFINITY);
	p->ops[WAYS_SECOND].writes = BX;
	check_one(p, WAYS_JNE, BX, WAYS_SECOND, 0);
	check_none(p, WAYS_TEST, BX, INFINITY);
	g->complete = true;
	check_none(p, WAYS_TEST, BX, 0);
	g->blocks[p->block[WAYS_TEST]].nin = 0;
	check_none(p, WAYS_TEST, BX, INFINITY);
	proc_drop(p);
}

/* A call gives back four registers, and all others are at hand when it has returned. */
static void test_calls(void **state)
{
	static const struct {
		unsigned reg;
		bool result;
	} rows[] = {
		{VT_REG_AX, true},	    {VT_REG_BX, false},	   {VT_REG_CX, false},
		{VT_REG_DX, true},	    {VT_REG_SI, false},	   {VT_REG_R8, false},
		{VT_REG_VECTOR - 1, false}, {VT_REG_VECTOR, true}, {VT_REG_VECTOR + 1, true},
		{VT_REG_VECTOR + 2, false}, {VT_REG_R15, false},
	};
	static const uint32_t flags[] = {VT_FACT_CALL, VT_FACT_SYSCALL};
	struct proc *p = proc_make_ways();
	unsigned i, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		p->ops[WAYS_JMP].flags = p->ops[WAYS_LONG].flags = flags[k];
		p->ops[WAYS_JNE].writes = p->ops[WAYS_TEST].writes = ~UINT64_C(0);
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct vti_definers d = reach(p, WAYS_SECOND, REG(rows[i].reg));

			assert_int_equal(d.count, rows[i].result ? 3 : 1);
			if (rows[i].result)
				assert_true(d.list[0].insn == WAYS_JMP && d.list[0].slots == 6 &&
					    d.list[1].insn == WAYS_LONG && d.list[1].slots == 6);
			assert_true(d.list[d.count - 1].insn == WAYS_JNE);
			check_outside(d.outside, 0);
		}
	}
	proc_drop(p);
}

/* 16 definers are kept; what more there are comes from anywhere. */
static void test_many_definers(void **state)
{
	uint8_t code[20];
	struct proc *p;
	struct vti_definers d;
	uint32_t i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[19] = 0xc3;
	p = proc_make_plain(code, sizeof(code));
	for (i = 0; i < 17; i++)
		p->ops[i].writes = UINT64_C(1) << (40 + i);
	d = reach(p, 17, UINT64_C(0xffff) << 41);
	assert_int_equal(d.count, 16);
	check_outside(d.outside, 0);
	for (i = 0; i < 16; i++)
		assert_true(d.list[i].insn == 16 - i && d.list[i].slots == i);
	d = reach(p, 17, UINT64_C(0x1ffff) << 40);
	assert_int_equal(d.count, 16);
	check_outside(d.outside, INFINITY);
	/* Whatever is known of another register. */
	d = reach(p, 17, UINT64_C(0x1ffff) << 40 | BX);
	check_outside(d.outside, INFINITY);
	proc_drop(p);
}

/* ---- long blocks, of which parts are skipped ---- */

enum { BLOCK = 400 };

/* 1, 2 or 3 micro-operations each. */
static struct proc *make_block(void)
{
	uint8_t code[BLOCK + 1];
	struct proc *p;
	uint32_t i;

	memset(code, 0x90, BLOCK);
	code[BLOCK] = 0xc3;
	p = proc_make_plain(code, sizeof(code));
	for (i = 0; i < BLOCK; i++)
		p->ops[i].nuops = (uint8_t)(1 + i % 3);
	proc_set_entry(p, 0);
	return p;
}

/* Of the instructions between two. */
static uint32_t sum_slots(uint32_t first, uint32_t end)
{
	uint32_t sum = 0;

	for (; first < end; first++)
		sum += 1 + first % 3;
	return sum;
}

static void test_stretches(void **state)
{
	static const uint32_t ends[] = {129, 130, 255, 256, 257, 383, 384, 385, 399};
	static const uint32_t places[] = {0, 1, 2, 126, 127, 128, 129, 254, 255, 256, 257, 300};
	struct proc *p = make_block();
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		for (k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
			if (places[k] >= ends[i])
				continue;
			p->ops[places[k]].writes = CX;
			check_one(p, ends[i], CX, places[k], sum_slots(places[k] + 1, ends[i]));
			p->ops[places[k]].writes = 0;
		}
		check_none(p, ends[i], CX, 0);
	}
	proc_drop(p);
}

/* Who reads, or calls, in the midst of a part that is skipped otherwise. */
static void test_touched_stretches(void **state)
{
	static const uint32_t places[] = {128, 130, 200, 254, 255};
	struct proc *p = make_block();
	unsigned k;

	(void)state;
	p->ops[5].writes = AX;
	for (k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
		const struct vt_mop plain = p->ops[places[k]];
		struct vt_mop *op = &p->ops[places[k]];

		op->reads = AX;
		check_none(p, 399, AX, 0);
		op->reads = 0;
		op->address_reads = AX;
		check_none(p, 399, AX, 0);
		op->address_reads = AX | BX;
		op->reads = CX;
		check_none(p, 399, AX, 0);
		p->core.order = VT_OUT_OF_ORDER;
		check_one(p, 399, AX, 5, sum_slots(6, 399));
		p->core.order = VT_IN_ORDER;
		*op = plain;
		op->flags = VT_FACT_CALL;
		check_one(p, 399, AX, places[k], sum_slots(places[k] + 1, 399));
		op->flags = VT_FACT_SYSCALL;
		check_one(p, 399, AX, places[k], sum_slots(places[k] + 1, 399));
		op->flags = VT_FACT_BRANCH;
		check_one(p, 399, AX, 5, sum_slots(6, 399));
		*op = plain;
	}
	proc_drop(p);
}

/* ---- what was executed before ---- */

struct visit {
	uint32_t insn; /* UINT32_MAX: from outside */
	uint32_t far;
	double often;
};

struct visits {
	struct visit list[128];
	unsigned n;
};

static void note(void *arg, uint32_t insn, uint32_t far, double often)
{
	struct visits *v = arg;

	assert_true(v->n < sizeof(v->list) / sizeof(v->list[0]));
	v->list[v->n++] = (struct visit){insn, far, often};
}

static void go_back(struct proc *p, uint32_t insn, uint32_t slots, struct visits *v)
{
	struct vti_stalled st = {.insn = insn};
	struct vti_culprit c;

	v->n = 0;
	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	st.c = &c;
	vti_culprit_back(&st, slots, note, v);
	check_forgotten(&c);
	vti_culprit_fini(&c);
}

#define END                                                                                        \
	{                                                                                          \
		0, UINT32_MAX, 0                                                                   \
	}

/* Those of `want` that are executed, up to END. */
static void check_back(struct proc *p, uint32_t insn, uint32_t slots, const struct visit *want)
{
	struct visits v;
	unsigned n = 0;

	go_back(p, insn, slots, &v);
	for (; want->far != UINT32_MAX; want++) {
		if (!(want->often > 0))
			continue;
		if (n >= v.n)
			fail_msg("%u, %u: %u visits", insn, slots, v.n);
		if (v.list[n].insn != want->insn || v.list[n].far != want->far ||
		    v.list[n].often != want->often)
			fail_msg("%u, %u, visit %u: %u, %u, %g", insn, slots, n, v.list[n].insn,
				 v.list[n].far, v.list[n].often);
		n++;
	}
	assert_int_equal(v.n, n);
}

/* In the order in which blocks are looked at; what is met at the last slot is too far. */
static void test_back(void **state)
{
	static const struct visit all[] = {
		{WAYS_HEAD, 0, 60},
		{WAYS_JMP, 6, 40},
		{WAYS_SHORT, 6 + 4, 30},
		{WAYS_LONG, 6, 50},
		{WAYS_JNE, 6, 80},
		{WAYS_SECOND, 14, 70},
		{WAYS_HEAD, 21, 60},
		{WAYS_JE, 13, 20},
		{WAYS_TEST, 15, 10},
		{UINT32_MAX, 16, 300},
		END,
	};
	/* How many of these are nearer. */
	static const struct {
		uint32_t slots;
		struct visit list[10];
	} nearer[] = {
		{0, {END}},
		{1, {{WAYS_HEAD, 0, 60}, END}},
		{6, {{WAYS_HEAD, 0, 60}, END}},
		{7,
		 {{WAYS_HEAD, 0, 60},
		  {WAYS_JMP, 6, 40},
		  {WAYS_LONG, 6, 50},
		  {WAYS_JNE, 6, 80},
		  END}},
		{10,
		 {{WAYS_HEAD, 0, 60},
		  {WAYS_JMP, 6, 40},
		  {WAYS_LONG, 6, 50},
		  {WAYS_JNE, 6, 80},
		  END}},
		{13,
		 {{WAYS_HEAD, 0, 60},
		  {WAYS_JMP, 6, 40},
		  {WAYS_SHORT, 10, 30},
		  {WAYS_LONG, 6, 50},
		  {WAYS_JNE, 6, 80},
		  END}},
		{14,
		 {{WAYS_HEAD, 0, 60},
		  {WAYS_JMP, 6, 40},
		  {WAYS_SHORT, 10, 30},
		  {WAYS_LONG, 6, 50},
		  {WAYS_JNE, 6, 80},
		  {WAYS_JE, 13, 20},
		  END}},
		{16,
		 {{WAYS_HEAD, 0, 60},
		  {WAYS_JMP, 6, 40},
		  {WAYS_SHORT, 10, 30},
		  {WAYS_LONG, 6, 50},
		  {WAYS_JNE, 6, 80},
		  {WAYS_SECOND, 14, 70},
		  {WAYS_JE, 13, 20},
		  {WAYS_TEST, 15, 10},
		  END}},
	};
	struct proc *p = proc_make_ways();
	unsigned i;

	(void)state;
	check_back(p, WAYS_SECOND, 100, all);
	check_back(p, WAYS_SECOND, 22, all);
	for (i = 0; i < sizeof(nearer) / sizeof(nearer[0]); i++)
		check_back(p, WAYS_SECOND, nearer[i].slots, nearer[i].list);
	proc_drop(p);
}

/* What comes from outside, in whatever block it comes, and however rarely. */
static void test_back_outside(void **state)
{
	static const struct visit calls[] = {
		{WAYS_HEAD, 0, 60},
		{WAYS_JMP, 6, 40},
		{UINT32_MAX, 10, 30},
		{WAYS_LONG, 6, 50},
		{WAYS_JNE, 6, 80},
		{WAYS_SECOND, 14, 70},
		{WAYS_HEAD, 21, 60},
		{WAYS_JE, 15, 20},
		{WAYS_TEST, 17, 10},
		{UINT32_MAX, 18, 300},
		END,
	};
	static const uint32_t flags[] = {VT_FACT_CALL, VT_FACT_SYSCALL};
	struct proc *p = proc_make_ways();
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		static const double often[] = {300, 0.25, 0};
		const struct visit first[] = {{UINT32_MAX, 0, often[i]}, END};
		const struct visit second[] = {{WAYS_TEST, 0, 10}, {UINT32_MAX, 1, often[i]}, END};
		const struct visit third[] = {
			{WAYS_JE, 0, 20}, {WAYS_TEST, 2, 10}, {UINT32_MAX, 3, often[i]}, END};

		proc_set_entry(p, often[i]);
		check_back(p, WAYS_TEST, 100, first);
		check_back(p, WAYS_JE, 100, second);
		check_back(p, WAYS_LONG, 100, third);
	}
	proc_set_entry(p, NAN);
	check_back(p, WAYS_TEST, 1, (const struct visit[]){{UINT32_MAX, 0, INFINITY}, END});
	/* Where it begins nothing is far enough. */
	check_back(p, WAYS_TEST, 0, (const struct visit[]){END});
	proc_set_entry(p, 300);
	/* Behind a call it is others' code. */
	for (i = 0; i < 2; i++) {
		p->ops[WAYS_SHORT].flags = flags[i];
		check_back(p, WAYS_SECOND, 100, calls);
		check_back(p, WAYS_JMP, 100, (const struct visit[]){{UINT32_MAX, 0, 30}, END});
	}
	proc_drop(p);
}

/* ---- many blocks ---- */

enum { JUMPS = 60 };

/* jmp to the next so many times, nop, ret. */
static struct proc *make_chain(void)
{
	uint8_t code[2 * JUMPS + 2];
	struct proc *p;
	uint32_t i;

	for (i = 0; i < 2 * JUMPS; i += 2) {
		code[i] = 0xeb;
		code[i + 1] = 0;
	}
	code[2 * JUMPS] = 0x90;
	code[2 * JUMPS + 1] = 0xc3;
	p = proc_make_plain(code, sizeof(code));
	assert_int_equal(p->flow.cfg->nblocks, VT_CFG_FIRST + JUMPS + 1);
	return p;
}

/* 48 blocks are looked at; what is before may be anything. */
static void test_many_blocks(void **state)
{
	struct proc *p = make_chain();
	struct visits v;
	uint32_t i;

	(void)state;
	proc_set_entry(p, 0);
	for (i = JUMPS - 48; i < JUMPS; i++) {
		p->ops[i].writes = AX;
		check_one(p, JUMPS, AX, i, JUMPS - 1 - i);
		p->ops[i].writes = 0;
	}
	p->ops[JUMPS - 49].writes = AX;
	check_none(p, JUMPS, AX, INFINITY);
	p->ops[JUMPS - 49].writes = 0;
	go_back(p, JUMPS, 1000, &v);
	assert_int_equal(v.n, 48 + 1);
	for (i = 0; i < 48; i++)
		assert_true(v.list[i].insn == JUMPS - 1 - i && v.list[i].far == i &&
			    v.list[i].often == 10.0 * (JUMPS - i));
	assert_true(v.list[48].insn == UINT32_MAX && v.list[48].far == 48 &&
		    isinf(v.list[48].often));
	/* All of them, and then from outside nothing. */
	go_back(p, 48, 1000, &v);
	assert_int_equal(v.n, 48);
	check_none(p, 48, AX, 0);
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_many_definers),
		cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_touched_stretches),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_back_outside),
		cmocka_unit_test(test_many_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
