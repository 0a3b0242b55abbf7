/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Issue in order: small kernels whose schedules were worked out by hand, and random ones against a
 * second implementation, which goes from cycle to cycle and tries every assignment of units.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/pipeline/inorder.h"
#include "machine/pipeline/schedule.h"

/* Units of the machine of these tests, after the 21164: E0, E1, FA. */
enum { E0 = 1, E1 = 2, FA = 4 };

#define BIT(reg) ((uint64_t)1 << (reg))

static void make_core(struct vt_core *m, uint32_t issue)
{
	memset(m, 0, sizeof(*m));
	m->order = VT_IN_ORDER;
	m->issue = issue;
	m->nunits = 3;
}

static struct vt_mop simple(enum vt_op_class op_class, uint32_t units, uint16_t latency,
			    uint64_t reads, uint64_t writes)
{
	struct vt_mop op = {.length = 3, .nuops = 1, .slots = 1, .reads = reads, .writes = writes};

	op.uops[0] = (struct vt_uop){
		.op_class = (uint8_t)op_class,
		.operands = VT_UOP_READS | VT_UOP_WRITES,
		.latency = latency,
		.busy = 1,
		.units = units,
	};
	return op;
}

static struct vt_mop add(unsigned from, unsigned to)
{
	return simple(VT_OP_INT, E0 | E1, 1, BIT(from) | BIT(to), BIT(to));
}

static struct vt_mop load(unsigned base, unsigned to)
{
	struct vt_mop op = simple(VT_OP_LOAD, E0 | E1, 2, 0, BIT(to));

	op.address_reads = BIT(base);
	op.uops[0].operands = VT_UOP_ADDRESS | VT_UOP_WRITES;
	return op;
}

static struct vt_mop store(unsigned base, unsigned from)
{
	struct vt_mop op = simple(VT_OP_STORE, E0, 1, BIT(from), 0);

	op.address_reads = BIT(base);
	op.uops[0].operands = VT_UOP_ADDRESS | VT_UOP_READS;
	return op;
}

static struct vt_mop branch(unsigned reg)
{
	return simple(VT_OP_BRANCH, E1, 1, BIT(reg), 0);
}

static void schedule(const struct vt_core *m, const struct vt_mop *ops, size_t n, size_t copies,
		     struct vt_schedule_cost *costs)
{
	const struct vt_mop *list[64];
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	assert_true(n * copies <= 64);
	for (i = 0; i < n * copies; i++)
		list[i] = &ops[i % n];
	assert_int_equal(vt_schedule(m, list, n * copies, n * (copies - 1), costs, &err), 0);
}

static void assert_cost(const struct vt_schedule_cost *c, double head, double best, int depends)
{
	assert_true(c->head == (float)head);
	assert_true(c->best == (float)best);
	assert_int_equal(c->depends, depends);
}

static void assert_stall(const struct vt_schedule_cost *c, unsigned i, enum vt_stall_cause cause,
			 int culprit, double cycles)
{
	assert_true(i < c->nstalls);
	assert_int_equal(c->stalls[i].cause, cause);
	assert_int_equal(c->stalls[i].culprit, culprit);
	assert_true(c->stalls[i].cycles == (float)cycles);
}

/* Two a cycle, nothing else in the way. */
static void pairs(void **state)
{
	struct vt_schedule_cost costs[4];
	struct vt_mop ops[4] = {add(0, 1), add(0, 2), add(0, 3), add(0, 4)};
	struct vt_core m;
	int i;

	(void)state;
	make_core(&m, 2);
	schedule(&m, ops, 4, 1, costs);
	for (i = 0; i < 4; i++) {
		assert_cost(&costs[i], i % 2 ? 0 : 1, i % 2 ? 0 : 1, VT_SCHEDULE_NONE);
		assert_int_equal(costs[i].nstalls, 0);
	}
}

/* Each add needs the one before: a slot of each cycle is lost. */
static void chain(void **state)
{
	struct vt_schedule_cost costs[3];
	struct vt_mop ops[3] = {add(1, 1), add(1, 1), add(1, 1)};
	struct vt_core m;

	(void)state;
	make_core(&m, 2);
	schedule(&m, ops, 3, 1, costs);
	assert_cost(&costs[0], 1, 1, VT_SCHEDULE_NONE);
	assert_cost(&costs[1], 1, 0.5, 0);
	assert_stall(&costs[1], 0, VT_STALL_OPERAND_A, 0, 0.5);
	assert_cost(&costs[2], 1, 0.5, 1);

	/* Around a loop the first waits for the last of the round before. */
	schedule(&m, ops, 3, 2, costs);
	assert_cost(&costs[0], 1, 0.5, -1);
	assert_stall(&costs[0], 0, VT_STALL_OPERAND_A, -1, 0.5);
}

/*
 * The copy loop of DCPI's figure 2, its loads hitting: at best 8 cycles for 13 instructions, as the
 * paper says, with the same pairs and the same slotting hazard.
 */
static void copy_loop(void **state)
{
	struct vt_mop ops[13] = {
		load(1, 4),  add(0, 0),	  load(1, 5), load(1, 6),  load(1, 7),
		add(1, 1),   store(2, 4), add(0, 8),  store(2, 5), store(2, 6),
		store(2, 7), add(2, 2),	  branch(8),
	};
	static const double heads[13] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1};
	struct vt_schedule_cost costs[13];
	struct vt_core m;
	double sum = 0;
	int i;

	(void)state;
	make_core(&m, 2);
	schedule(&m, ops, 13, 1, costs);
	for (i = 0; i < 13; i++) {
		sum += costs[i].head;
		assert_true(costs[i].head == (float)heads[i]);
	}
	assert_true(sum == 8);
	assert_stall(&costs[9], 0, VT_STALL_SLOTTING, 8, 0.5);
	assert_int_equal(costs[9].depends, VT_SCHEDULE_NONE);
}

/* A divider that is not pipelined, and a load whose result is needed at once. */
static void latencies(void **state)
{
	struct vt_mop ops[5] = {simple(VT_OP_DIVIDE, FA, 10, BIT(1), BIT(2)),
				simple(VT_OP_DIVIDE, FA, 10, BIT(1), BIT(3)), load(1, 4), add(4, 5),
				add(3, 6)};
	struct vt_schedule_cost costs[5];
	struct vt_core m;

	(void)state;
	ops[0].uops[0].busy = ops[1].uops[0].busy = 8;
	make_core(&m, 2);
	schedule(&m, ops, 5, 1, costs);
	assert_cost(&costs[1], 8, 0.5, 0);
	assert_stall(&costs[1], 0, VT_STALL_UNIT_STATIC, 0, 7.5);
	assert_cost(&costs[2], 0, 0, VT_SCHEDULE_NONE);
	assert_cost(&costs[3], 2, 1, 2);
	assert_stall(&costs[3], 0, VT_STALL_OPERAND_A, 2, 1);
	/* The division began together with the load; the add waits for what is left of it. */
	assert_cost(&costs[4], 8, 0.5, 1);
	assert_stall(&costs[4], 0, VT_STALL_OPERAND_A, 1, 7.5);
}

/* An instruction that loads, adds and stores waits for itself. */
static void cracked(void **state)
{
	struct vt_mop op = load(1, VT_REG_FLAGS);
	struct vt_schedule_cost cost;
	struct vt_core m;

	(void)state;
	op.nuops = 3;
	op.reads = BIT(2);
	op.uops[0].operands = VT_UOP_ADDRESS;
	op.uops[1] = (struct vt_uop){VT_OP_INT, VT_UOP_READS | VT_UOP_PREVIOUS | VT_UOP_WRITES, 1,
				     1, E0 | E1};
	op.uops[2] = (struct vt_uop){VT_OP_STORE, VT_UOP_ADDRESS | VT_UOP_PREVIOUS, 1, 1, E0};
	make_core(&m, 4);
	schedule(&m, &op, 1, 1, &cost);
	assert_cost(&cost, 4, 1.5, VT_SCHEDULE_NONE);
	assert_stall(&cost, 0, VT_STALL_OPERAND_C, 0, 2.5);
}

/* Two units that are busy in turn take longer together than the operand before them. */
static void causes_are_sorted_when_all_is_added(void **state)
{
	struct vt_mop ops[4] = {
		simple(VT_OP_DIVIDE, E1, 1, 0, 0), simple(VT_OP_DIVIDE, E0, 1, 0, 0),
		simple(VT_OP_INT, FA, 6, 0, BIT(5)), simple(VT_OP_INT, FA, 1, BIT(5), 0)};
	struct vt_schedule_cost costs[4];
	struct vt_core m;

	(void)state;
	ops[0].uops[0].busy = 18;
	ops[1].uops[0].busy = 12;
	ops[3].nuops = 3;
	ops[3].uops[1] = (struct vt_uop){VT_OP_INT, 0, 1, 1, E0};
	ops[3].uops[2] = (struct vt_uop){VT_OP_INT, 0, 1, 1, E1};
	make_core(&m, 1);
	schedule(&m, ops, 4, 1, costs);
	/* In cycles 8, 13 and 18, behind the third instruction in cycle 2 */
	assert_cost(&costs[3], 16, 3, 2);
	assert_int_equal(costs[3].nstalls, 2);
	assert_stall(&costs[3], 0, VT_STALL_UNIT_STATIC, 1, 8);
	assert_stall(&costs[3], 1, VT_STALL_OPERAND_A, 2, 5);
}

/* An order of three that only fits if the first two move. */
static void slotted_together(void **state)
{
	struct vt_mop ops[3] = {simple(VT_OP_INT, E0 | E1, 1, 0, 0),
				simple(VT_OP_INT, E1 | FA, 1, 0, 0),
				simple(VT_OP_STORE, E0, 1, 0, 0)};
	struct vt_schedule_cost costs[3];
	struct vt_core m;

	(void)state;
	make_core(&m, 4);
	schedule(&m, ops, 3, 1, costs);
	assert_cost(&costs[2], 0, 0, VT_SCHEDULE_NONE);
}

/* ---- the second implementation ---- */

#define GROUP 4 /* the widest machine of these tests */

struct slow {
	const struct vt_core *m;
	uint64_t now;
	uint64_t ready[VT_NREGS];
	uint64_t latest;
	uint64_t free[3];
	uint64_t barrier;
	uint32_t group[GROUP]; /* the units of each that is issued now */
	unsigned ngroup;
};

/* Whether group[from..] can each have a unit of its own that is not taken. */
static bool fits(const struct slow *s, unsigned from, uint32_t taken)
{
	unsigned i;

	if (from >= s->ngroup || from >= GROUP)
		return true;
	if (!s->group[from])
		return fits(s, from + 1, taken);
	for (i = 0; i < s->m->nunits; i++)
		if ((s->group[from] >> i & 1) && !(taken >> i & 1) &&
		    fits(s, from + 1, taken | 1u << i))
			return true;
	return false;
}

static bool can_issue(struct slow *s, const struct vt_mop *op, const struct vt_uop *u,
		      uint64_t previous)
{
	uint32_t busy = 0;
	unsigned i;
	bool ok;

	for (i = 0; i < VT_NREGS; i++) {
		if ((u->operands & VT_UOP_READS) && (op->reads >> i & 1) && s->ready[i] > s->now)
			return false;
		if ((u->operands & VT_UOP_ADDRESS) && (op->address_reads >> i & 1) &&
		    s->ready[i] > s->now)
			return false;
	}
	if ((u->operands & VT_UOP_PREVIOUS) && previous > s->now)
		return false;
	if (u->op_class == VT_OP_SYNC && s->latest > s->now)
		return false;
	if (s->now < s->barrier || s->ngroup == s->m->issue)
		return false;
	for (i = 0; i < s->m->nunits; i++)
		busy |= (uint32_t)(s->free[i] > s->now) << i;
	s->group[s->ngroup++] = u->units;
	ok = fits(s, 0, busy);
	s->ngroup -= !ok;
	return ok;
}

static void slow_issue(struct slow *s, const struct vt_mop *op)
{
	uint64_t previous = 0;
	unsigned i, k;

	for (i = 0; i < op->nuops; i++) {
		const struct vt_uop *u = &op->uops[i];

		while (!can_issue(s, op, u, previous)) {
			s->now++;
			s->ngroup = 0;
		}
		/* Units that are not pipelined have no substitutes in these tests. */
		for (k = 0; k < s->m->nunits && u->busy > 1; k++)
			if (u->units >> k & 1)
				s->free[k] = s->now + u->busy;
		if (u->busy > 1)
			s->group[s->ngroup - 1] = 0;
		previous = s->now + u->latency;
		s->latest = previous > s->latest ? previous : s->latest;
		if (u->op_class == VT_OP_SYNC)
			s->barrier = s->now + u->latency;
		for (k = 0; k < VT_NREGS && (u->operands & VT_UOP_WRITES); k++)
			if (op->writes >> k & 1)
				s->ready[k] = previous;
	}
}

static struct vt_mop random_mop(struct vt_rng *rng)
{
	struct vt_mop op = {.length = 1, .slots = 1};
	unsigned i;

	op.nuops = (uint8_t)(1 + vt_rng_below(rng, 3));
	op.reads = BIT(vt_rng_below(rng, 6));
	op.reads |= BIT(vt_rng_below(rng, 6));
	op.address_reads = BIT(vt_rng_below(rng, 6));
	op.writes = BIT(vt_rng_below(rng, 6));
	for (i = 0; i < op.nuops; i++) {
		struct vt_uop *u = &op.uops[i];

		u->op_class = vt_rng_below(rng, 20) ? VT_OP_INT : VT_OP_SYNC;
		u->operands = (uint8_t)vt_rng_below(rng, 16);
		u->latency = (uint16_t)(vt_rng_below(rng, 3) ? 1 : vt_rng_below(rng, 9));
		u->units = (uint32_t)vt_rng_below(rng, 8);
		u->busy = 1;
		if (!vt_rng_below(rng, 8)) {
			u->units = FA;
			u->busy = (uint16_t)(2 + vt_rng_below(rng, 6));
		}
	}
	return op;
}

static void against_slow(void **state)
{
	struct vt_rng rng;
	unsigned trial, i, s;

	(void)state;
	vt_rng_init(&rng, 7);
	for (trial = 0; trial < 2000; trial++) {
		struct vt_inorder_cost cost;
		struct vt_inorder e;
		struct vt_core m;
		struct slow slow = {.m = &m, .now = 1};

		make_core(&m, 1 + (uint32_t)vt_rng_below(&rng, 4));
		vt_inorder_init(&e, &m);
		for (i = 0; i < 40; i++) {
			struct vt_mop op = random_mop(&rng);
			uint64_t before = e.cycle, lost = 0;

			vt_inorder_issue(&e, &op, i, NULL, NULL, &cost);
			slow_issue(&slow, &op);
			assert_int_equal(cost.cycle, slow.now);
			assert_int_equal(cost.head, cost.cycle - before);
			for (s = 0; s < cost.nstalls; s++)
				lost += cost.stalls[s].slots;
			assert_int_equal(cost.used + lost, cost.head * m.issue);
		}
	}
}

/* Any unit does anything: that none is left is found without trying them in every order. */
static void all_units_alike(void **state)
{
	struct vt_mop op = simple(VT_OP_INT, UINT32_MAX, 1, 0, 0);
	struct vt_inorder_cost cost;
	struct vt_inorder e;
	struct vt_core m;
	unsigned i;

	(void)state;
	make_core(&m, 64);
	m.nunits = VT_CORE_UNITS;
	vt_inorder_init(&e, &m);
	for (i = 0; i < 3 * VT_CORE_UNITS; i++) {
		vt_inorder_issue(&e, &op, i, NULL, NULL, &cost);
		assert_int_equal(cost.cycle, 1 + i / VT_CORE_UNITS);
	}
}

static void assert_cost_stall(const struct vt_inorder_cost *c, unsigned i,
			      enum vt_stall_cause cause, uint64_t by, uint32_t slots)
{
	assert_true(i < c->nstalls);
	assert_int_equal(c->stalls[i].cause, cause);
	assert_int_equal(c->stalls[i].by, by);
	assert_int_equal(c->stalls[i].slots, slots);
}

/* From cycle 0, whose two slots are gone, each hold lasts from the one before; the fifth takes the
 * place of the fourth.
 */
static void hold_five_times(struct vt_inorder *e)
{
	vt_inorder_hold(e, 10, VT_STALL_ICACHE, 1);
	vt_inorder_hold(e, 10, VT_STALL_UNIT, 90);
	vt_inorder_hold(e, 5, VT_STALL_UNIT, 91);
	vt_inorder_hold(e, 20, VT_STALL_MISPREDICT, 2);
	vt_inorder_hold(e, 30, VT_STALL_ITLB, 3);
	vt_inorder_hold(e, 40, VT_STALL_UNIT, 4);
	vt_inorder_hold(e, 50, VT_STALL_DCACHE, 5);
}

static void holds(void **state)
{
	struct vt_mop op = add(1, 2);
	struct vt_inorder_cost cost;
	struct vt_inorder e;
	struct vt_core m;

	(void)state;
	make_core(&m, 2);
	vt_inorder_init(&e, &m);
	vt_inorder_hold(&e, 0, VT_STALL_UNIT, 92);
	hold_five_times(&e);
	vt_inorder_issue(&e, &op, 6, NULL, NULL, &cost);
	assert_int_equal(cost.cycle, 50);
	assert_int_equal(cost.head, 50);
	assert_int_equal(cost.used, 2);
	assert_int_equal(cost.nstalls, 4);
	assert_cost_stall(&cost, 0, VT_STALL_ICACHE, 1, 2 * 10 - 2);
	assert_cost_stall(&cost, 1, VT_STALL_MISPREDICT, 2, 2 * 10);
	assert_cost_stall(&cost, 2, VT_STALL_ITLB, 3, 2 * 10);
	assert_cost_stall(&cost, 3, VT_STALL_DCACHE, 5, 2 * 20);
	/* They are over. */
	vt_inorder_issue(&e, &op, 7, NULL, NULL, &cost);
	assert_int_equal(cost.head, 1);
	vt_inorder_hold(&e, 90, VT_STALL_ICACHE, 8);
	vt_inorder_drain(&e);
	vt_inorder_issue(&e, &op, 9, NULL, NULL, &cost);
	assert_int_equal(cost.cycle, 51);
}

static struct vt_simmem_access slow_memory(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	static const struct vt_simmem_access a = {.cycles = 50, .tlb = 20, .cache = 30};
	static const struct vt_simmem_access b = {.cycles = 8, .tlb = 3, .buffer = 5};

	(void)arg;
	(void)cycle;
	assert_int_equal(nth, 0);
	return store ? b : a;
}

/* What there is no room for among the stalls of an instruction is added to the last of them. */
static void more_stalls_than_there_is_room_for(void **state)
{
	struct vt_mop first = load(1, 2), second = add(2, 3);
	struct vt_inorder_cost cost;
	struct vt_inorder e;
	struct vt_core m;

	(void)state;
	first.uops[0].latency = 60;
	second.uops[second.nuops++] =
		(struct vt_uop){.op_class = VT_OP_STORE, .latency = 1, .busy = 1, .units = E0};
	make_core(&m, 2);
	vt_inorder_init(&e, &m);
	vt_inorder_issue(&e, &first, 7, slow_memory, NULL, &cost);
	assert_int_equal(cost.cycle, 1);
	hold_five_times(&e);
	vt_inorder_issue(&e, &second, 8, slow_memory, NULL, &cost);
	/* Made at 61, translated at 81, there at 111. */
	assert_int_equal(cost.nstalls, VT_INORDER_STALLS);
	assert_cost_stall(&cost, 0, VT_STALL_ICACHE, 1, 2 * 9 - 1);
	assert_cost_stall(&cost, 4, VT_STALL_OPERAND_A, 7, 2 * 11);
	assert_cost_stall(&cost, 5, VT_STALL_DTLB, 7, 2 * 20);
	assert_cost_stall(&cost, 6, VT_STALL_DCACHE, 7, 2 * 30);
	assert_cost_stall(&cost, 7, VT_STALL_DTLB, 8, 2 * 3 - 1 + 2 * 5);
	assert_int_equal(cost.cycle, 111 + 8);
}

/* ---- out of order ---- */

static void make_wide(struct vt_core *m)
{
	memset(m, 0, sizeof(*m));
	m->order = VT_OUT_OF_ORDER;
	m->fetch = m->decode = m->issue = m->retire = 4;
	m->front = 1;
}

static void assert_close(float a, double b)
{
	assert_true(a > b - 1e-4 && a < b + 1e-4);
}

/*
 * Results in cycles 4, 7 and 8.  Of the 12 slots from the first retirement to the second, 11 are
 * lost to the first, and of the next four, three to the second.
 */
static void chain_out_of_order(void **state)
{
	struct vt_mop ops[3] = {simple(VT_OP_INT, 0, 3, 0, 1), simple(VT_OP_INT, 0, 3, 1, 1),
				simple(VT_OP_INT, 0, 1, 1, 1)};
	const struct vt_mop *list[3] = {&ops[0], &ops[1], &ops[2]};
	struct vt_schedule_cost c[3];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	size_t warm, i;

	(void)state;
	make_wide(&m);
	for (warm = 0; warm < 3; warm++) {
		assert_int_equal(vt_schedule(&m, list, 3, warm, c, &err), 0);
		for (i = warm; i < 3; i++) {
			const struct vt_schedule_cost *at = &c[i - warm];

			assert_close(at->head, i == 0 ? .25 : i == 1 ? 3 : 1);
			assert_close(at->best, .25);
			assert_int_equal(at->nstalls, i ? 1 : 0);
			assert_int_equal(at->depends,
					 i ? (int)i - 1 - (int)warm : VT_SCHEDULE_NONE);
			if (!i)
				continue;
			assert_int_equal(at->stalls[0].cause, VT_STALL_OPERAND_A);
			assert_int_equal(at->stalls[0].culprit, (int)i - 1 - (int)warm);
			assert_close(at->stalls[0].cycles, i == 1 ? 2.75 : .75);
		}
	}
	/* Nothing but what retires together: a fourth of a cycle each, or a half of those of two.
	 */
	for (i = 0; i < 3; i++)
		ops[i].reads = 0;
	ops[2].slots = 2;
	assert_int_equal(vt_schedule(&m, list, 3, 0, c, &err), 0);
	assert_close(c[0].head, .25);
	assert_close(c[1].head, .25);
	assert_close(c[2].head, .5);
	assert_close(c[2].best, .5);
	assert_int_equal(vt_schedule(&m, list, 3, 4, c, &err), -VT_E_LIMIT);
}

/* Behind what is taken, fetch goes on in the next cycle, and so does all the rest. */
static void taken_out_of_order(void **state)
{
	static const struct {
		uint32_t flags;
		bool skips; /* the next one is not the one behind it */
		double head;
	} cases[] = {
		{0, true, .25},
		{VT_FACT_BRANCH | VT_FACT_JUMP, false, 1},
		{VT_FACT_BRANCH | VT_FACT_CALL, false, 1},
		{VT_FACT_BRANCH | VT_FACT_RETURN, false, 1},
		{VT_FACT_BRANCH | VT_FACT_CONDITIONAL, false, .25},
		{VT_FACT_BRANCH | VT_FACT_CONDITIONAL, true, 1},
	};
	struct vt_mop ops[4] = {simple(VT_OP_INT, 0, 1, 0, 0), simple(VT_OP_BRANCH, 0, 1, 0, 0),
				simple(VT_OP_INT, 0, 1, 0, 0), simple(VT_OP_INT, 0, 1, 0, 0)};
	struct vt_schedule_cost c[3];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	size_t i;

	(void)state;
	make_wide(&m);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct vt_mop *list[3] = {&ops[0], &ops[1], &ops[cases[i].skips ? 3 : 2]};

		ops[1].flags = cases[i].flags;
		assert_int_equal(vt_schedule(&m, list, 3, 0, c, &err), 0);
		/* Two slots of the cycle before are lost, and its own is not. */
		assert_close(c[2].head, cases[i].head == 1 ? .75 : .25);
	}
}

/* What was scheduled before on the same machine is over. */
static void machines_are_emptied_before(void **state)
{
	const struct vt_mop op = simple(VT_OP_INT, 0, 50, BIT(0), BIT(0));
	const struct vt_mop *list[] = {&op, &op};
	struct vt_schedule_cost c[2];
	struct vt_core m;
	struct vt_ooo *e;
	unsigned i;

	(void)state;
	make_wide(&m);
	e = vt_ooo_new(&m, NULL);
	assert_non_null(e);
	/* The first waits for nothing, and has one of four slots; the second one is done 50 later.
	 */
	for (i = 0; i < 3; i++) {
		vt_schedule_on(e, &m, list, 2, 0, c);
		assert_close(c[0].head, .25);
		assert_int_equal(c[0].nstalls, 0);
		assert_close(c[1].head, 50);
		assert_int_equal(c[1].depends, 0);
	}
	vt_ooo_free(e);
}

/* What waits for several things: the longest first, those of a cause together, no more than three.
 */
static void stalls_are_told_longest_first(void **state)
{
	struct vt_mop maker[3] = {simple(VT_OP_INT, 0, 3, 0, BIT(0)),
				  simple(VT_OP_INT, 0, 9, 0, BIT(1)),
				  simple(VT_OP_MULTIPLY, E0, 1, 0, BIT(2))};
	struct vt_mop user = simple(VT_OP_MULTIPLY, E0, 1, BIT(0), 0);
	struct vt_schedule_cost c;
	struct vt_inorder e;
	struct vt_core m;

	(void)state;
	make_core(&m, 1);
	vt_inorder_init(&e, &m);
	maker[2].uops[0].busy = 20;
	vt_schedule_next(&e, &maker[0], 1, NULL);
	vt_schedule_next(&e, &maker[1], 2, NULL);
	vt_schedule_next(&e, &maker[2], 3, &c);
	assert_close(c.head, 1);
	assert_int_equal(c.nstalls, 0);
	assert_int_equal(c.depends, VT_SCHEDULE_NONE);
	/* Behind cycle 3, in 11, 19 and 23: of 20 slots, three are used. */
	user.nuops = 3;
	user.uops[1] = user.uops[2] = user.uops[0];
	user.uops[0].units = 0;
	user.reads = BIT(1);
	user.uops[1].units = 0;
	user.uops[1].operands = VT_UOP_PREVIOUS;
	user.uops[0].latency = 8;
	vt_schedule_next(&e, &user, UINT64_C(0x700000004), &c);
	assert_close(c.head, 20);
	assert_close(c.best, 3);
	assert_int_equal(c.nstalls, 3);
	assert_int_equal(c.stalls[0].cause, VT_STALL_OPERAND_A);
	assert_close(c.stalls[0].cycles, 7);
	assert_int_equal(c.stalls[0].culprit, 2);
	assert_int_equal(c.stalls[1].cause, VT_STALL_OPERAND_C);
	assert_close(c.stalls[1].cycles, 7);
	assert_int_equal(c.stalls[1].culprit, 4);
	assert_int_equal(c.stalls[2].cause, VT_STALL_UNIT_STATIC);
	assert_close(c.stalls[2].cycles, 3);
	assert_int_equal(c.stalls[2].culprit, 3);
	/* The latest of those before. */
	assert_int_equal(c.depends, 3);
}

/* The same the other way round: each wait is longer than the one before. */
static void stalls_that_grow_are_turned_round(void **state)
{
	struct vt_mop maker[2] = {simple(VT_OP_INT, 0, 9, 0, BIT(1)),
				  simple(VT_OP_MULTIPLY, E0, 1, 0, BIT(2))};
	struct vt_mop user = simple(VT_OP_MULTIPLY, 0, 12, BIT(1), 0);
	struct vt_schedule_cost c;
	struct vt_inorder e;
	struct vt_core m;

	(void)state;
	make_core(&m, 1);
	vt_inorder_init(&e, &m);
	maker[1].uops[0].busy = 40;
	vt_schedule_next(&e, &maker[0], 1, NULL);
	vt_schedule_next(&e, &maker[1], 2, NULL);
	/* In 1 and 2. Then in 10, where the first is done, 22 by itself, and 42 for the unit. */
	user.nuops = 3;
	user.uops[1] = user.uops[2] = user.uops[0];
	user.uops[1].operands = VT_UOP_PREVIOUS;
	user.uops[2].units = E0;
	vt_schedule_next(&e, &user, 3, &c);
	assert_close(c.head, 40);
	assert_close(c.best, 3);
	assert_int_equal(c.nstalls, 3);
	assert_int_equal(c.stalls[0].cause, VT_STALL_UNIT_STATIC);
	assert_close(c.stalls[0].cycles, 19);
	assert_int_equal(c.stalls[0].culprit, 2);
	assert_int_equal(c.stalls[1].cause, VT_STALL_OPERAND_C);
	assert_close(c.stalls[1].cycles, 11);
	assert_int_equal(c.stalls[1].culprit, 3);
	assert_int_equal(c.stalls[2].cause, VT_STALL_OPERAND_A);
	assert_close(c.stalls[2].cycles, 7);
	assert_int_equal(c.stalls[2].culprit, 1);
	assert_int_equal(c.depends, 2);
}

/* Of what a cause has of several, the longest names who it is; of four causes, the shortest goes.
 */
static void the_longest_stalls_are_told(void **state)
{
	struct vt_mop maker[3] = {simple(VT_OP_MULTIPLY, E0, 1, 0, 0),
				  simple(VT_OP_MULTIPLY, E1, 1, 0, 0),
				  simple(VT_OP_MULTIPLY, E0, 1, 0, 0)};
	struct vt_mop user = simple(VT_OP_MULTIPLY, E0, 1, 0, 0);
	struct vt_schedule_cost c;
	struct vt_inorder e;
	struct vt_core m;

	(void)state;
	make_core(&m, 1);
	vt_inorder_init(&e, &m);
	/* In 1 and 2. Behind that, E0 is free in 6 and E1 in 22: 3 cycles and 15 are lost. */
	maker[0].uops[0].busy = 5;
	maker[1].uops[0].busy = 20;
	vt_schedule_next(&e, &maker[0], 1, NULL);
	vt_schedule_next(&e, &maker[1], 2, NULL);
	user.nuops = 2;
	user.uops[1] = user.uops[0];
	user.uops[1].units = E1;
	vt_schedule_next(&e, &user, 3, &c);
	assert_close(c.head, 20);
	assert_close(c.best, 2);
	assert_int_equal(c.nstalls, 1);
	assert_close(c.stalls[0].cycles, 18);
	assert_int_equal(c.stalls[0].culprit, 2);
	/* In 1 to 3. Then in 10, 22, 52 and 83: 6, 11, 29 and 30 are lost. */
	vt_inorder_init(&e, &m);
	maker[0] = simple(VT_OP_INT, 0, 9, 0, BIT(1));
	maker[1] = simple(VT_OP_INT, 0, 20, 0, BIT(2));
	maker[2].uops[0].busy = 80;
	vt_schedule_next(&e, &maker[0], 1, NULL);
	vt_schedule_next(&e, &maker[1], 2, NULL);
	vt_schedule_next(&e, &maker[2], 3, NULL);
	user.reads = BIT(1);
	user.address_reads = BIT(2);
	user.nuops = 4;
	user.uops[1].operands = VT_UOP_ADDRESS;
	user.uops[1].latency = 30;
	user.uops[2] = user.uops[3] = user.uops[0];
	user.uops[2].operands = VT_UOP_PREVIOUS;
	user.uops[0].units = user.uops[1].units = user.uops[2].units = 0;
	vt_schedule_next(&e, &user, 4, &c);
	assert_close(c.head, 80);
	assert_close(c.best, 4);
	assert_int_equal(c.nstalls, 3);
	assert_int_equal(c.stalls[0].cause, VT_STALL_UNIT_STATIC);
	assert_close(c.stalls[0].cycles, 30);
	assert_int_equal(c.stalls[1].cause, VT_STALL_OPERAND_C);
	assert_close(c.stalls[1].cycles, 29);
	assert_int_equal(c.stalls[2].cause, VT_STALL_OPERAND_B);
	assert_close(c.stalls[2].cycles, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(chain),
		cmocka_unit_test(copy_loop),
		cmocka_unit_test(latencies),
		cmocka_unit_test(cracked),
		cmocka_unit_test(slotted_together),
		cmocka_unit_test(causes_are_sorted_when_all_is_added),
		cmocka_unit_test(against_slow),
		cmocka_unit_test(all_units_alike),
		cmocka_unit_test(holds),
		cmocka_unit_test(more_stalls_than_there_is_room_for),
		cmocka_unit_test(chain_out_of_order),
		cmocka_unit_test(taken_out_of_order),
		cmocka_unit_test(stalls_are_told_longest_first),
		cmocka_unit_test(machines_are_emptied_before),
		cmocka_unit_test(the_longest_stalls_are_told),
		cmocka_unit_test(stalls_that_grow_are_turned_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
