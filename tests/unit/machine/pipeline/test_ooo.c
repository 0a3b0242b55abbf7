/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Issue out of order: against a machine that is stepped cycle by cycle over random programs, and
 * cases worked by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/pipeline/ooo.h"
#include "machine/pipeline/schedule.h"

#define INSNS 400

static struct vt_core machine(void)
{
	struct vt_core m = {
		.order = VT_OUT_OF_ORDER,
		.fetch = 4,
		.decode = 3,
		.issue = 3,
		.retire = 3,
		.front = 4,
		.rob = 24,
		.queue = 8,
		.loads = 6,
		.stores = 4,
		.int_registers = 16 + 12,
		.mispredict = 9,
		.forward = 4,
		.blocked = 11,
		.nunits = 3,
	};

	return m;
}

/* ---- a machine that is stepped ---- */

struct stepped {
	const struct vt_core *m;
	const struct vt_ooo_insn *in;
	size_t n;
	size_t fetched, placed, retired; /* how many have been */
	uint64_t retired_at[INSNS];
	uint64_t fetched_at[INSNS];
	uint64_t placed_at[INSNS];
	uint64_t issued_at[INSNS][VT_MOP_UOPS]; /* 0: not yet */
	uint64_t resume;			/* fetch does */
	bool lost;				/* until a branch is resolved */
	uint64_t last_write;
	uint64_t written_at[INSNS][VT_MOP_UOPS];
};

static uint64_t uop_done(const struct stepped *s, size_t i, unsigned u)
{
	return s->issued_at[i][u] ? s->issued_at[i][u] + s->in[i].op->uops[u].latency : UINT64_MAX;
}

static uint64_t insn_done(const struct stepped *s, size_t i)
{
	uint64_t done = s->placed_at[i] + 1, t;
	unsigned u;

	for (u = 0; u < s->in[i].op->nuops; u++) {
		t = uop_done(s, i, u);
		done = t > done ? t : done;
	}
	return done;
}

static bool register_ready(const struct stepped *s, size_t i, unsigned reg, uint64_t now)
{
	unsigned u;

	while (i-- > 0) {
		if (!(s->in[i].op->writes >> reg & 1))
			continue;
		for (u = 0; u < s->in[i].op->nuops; u++)
			if (s->in[i].op->uops[u].operands & VT_UOP_WRITES &&
			    uop_done(s, i, u) > now)
				return false;
		return true;
	}
	return true;
}

static bool uop_ready(const struct stepped *s, size_t i, unsigned u, uint64_t now)
{
	const struct vt_mop *op = s->in[i].op;
	unsigned operands = op->uops[u].operands, reg;
	uint64_t regs = (operands & VT_UOP_READS ? op->reads : 0) |
			(operands & VT_UOP_ADDRESS ? op->address_reads : 0);

	if (operands & VT_UOP_PREVIOUS && uop_done(s, i, u - 1) > now)
		return false;
	for (reg = 0; reg < VT_NREGS; reg++)
		if (regs >> reg & 1 && !register_ready(s, i, reg, now))
			return false;
	return true;
}

static void step_retire(struct stepped *s, uint64_t now)
{
	uint32_t used = 0, i;

	while (s->retired < s->placed && insn_done(s, s->retired) <= now &&
	       used + s->in[s->retired].op->slots <= s->m->retire) {
		used += s->in[s->retired].op->slots;
		for (i = 0; i < s->in[s->retired].op->nuops; i++)
			if (s->in[s->retired].op->uops[i].op_class == VT_OP_STORE) {
				s->last_write = (now > s->last_write ? now : s->last_write) + 1;
				s->written_at[s->retired][i] = s->last_write;
			}
		s->retired_at[s->retired++] = now;
	}
}

static void step_issue(struct stepped *s, uint64_t now)
{
	uint32_t used = 0, units = 0;
	size_t i;
	unsigned u;

	for (i = s->retired; i < s->placed; i++)
		for (u = 0; u < s->in[i].op->nuops && used < s->m->issue; u++) {
			uint32_t unit = s->in[i].op->uops[u].units;

			if (s->issued_at[i][u] || s->placed_at[i] >= now || units & unit ||
			    !uop_ready(s, i, u, now))
				continue;
			s->issued_at[i][u] = now;
			units |= unit;
			used++;
		}
}

/* When the operands of the micro-operation that was issued first were ready, at last. */
static uint64_t operands_ready(const struct stepped *s, size_t i)
{
	uint64_t now = s->placed_at[i] + 1;
	unsigned u, first = 0;

	for (u = 1; u < s->in[i].op->nuops; u++)
		if (s->issued_at[i][u] < s->issued_at[i][first])
			first = u;
	while (!uop_ready(s, i, first, now))
		now++;
	return now;
}

/* What is held in the machine at `now`, if instruction `next` comes in too. */
static bool has_room(const struct stepped *s, size_t next, uint64_t now)
{
	uint32_t rob = 0, queue = 0, loads = 0, stores = 0, registers = 0;
	size_t i;
	unsigned u;

	for (i = 0; i <= next; i++) {
		bool gone = i < s->retired && s->retired_at[i] < now;

		if (!gone) {
			rob += s->in[i].op->slots;
			registers += (uint32_t)__builtin_popcountll(s->in[i].op->writes);
		}
		for (u = 0; u < s->in[i].op->nuops; u++) {
			bool store = s->in[i].op->uops[u].op_class == VT_OP_STORE;

			queue += !s->issued_at[i][u];
			loads += !gone && s->in[i].op->uops[u].op_class == VT_OP_LOAD;
			stores += store && (i >= s->retired || s->written_at[i][u] > now);
		}
	}
	return rob <= s->m->rob && queue <= s->m->queue && loads <= s->m->loads &&
	       stores <= s->m->stores && registers <= s->m->int_registers - 16;
}

static void step_place(struct stepped *s, uint64_t now)
{
	uint32_t used = 0;

	while (s->placed < s->fetched && used + s->in[s->placed].op->slots <= s->m->decode &&
	       s->fetched_at[s->placed] + s->m->front - 1 <= now && has_room(s, s->placed, now)) {
		used += s->in[s->placed].op->slots;
		s->placed_at[s->placed++] = now;
	}
}

static void step_fetch(struct stepped *s, uint64_t now)
{
	size_t waiting = (s->m->front + 2) * (size_t)s->m->fetch;
	uint32_t used = 0;
	bool taken = false;

	if (s->lost && insn_done(s, s->fetched - 1) != UINT64_MAX && s->placed == s->fetched) {
		s->resume = insn_done(s, s->fetched - 1) + s->m->mispredict - s->m->front;
		s->lost = false;
	}
	while (s->fetched < s->n && used < s->m->fetch && !taken && !s->lost && now >= s->resume &&
	       s->fetched - s->placed < waiting) {
		s->lost = s->in[s->fetched].mispredicted;
		taken = s->in[s->fetched].taken;
		s->fetched_at[s->fetched++] = now;
		used++;
	}
}

static void run_stepped(struct stepped *s)
{
	uint64_t now;

	for (now = 0; s->retired < s->n; now++) {
		assert_true(now < 100 * INSNS);
		step_retire(s, now);
		step_issue(s, now);
		/* What leaves for the reorder buffer makes room for what is fetched. */
		step_place(s, now);
		step_fetch(s, now);
	}
}

/* ---- random programs ---- */

static void draw_op(struct vt_rng *r, struct vt_mop *op)
{
	unsigned i;

	memset(op, 0, sizeof(*op));
	op->slots = (uint8_t)(1 + (vt_rng_below(r, 6) == 0));
	op->nuops = (uint8_t)(1 + vt_rng_below(r, 2));
	for (i = 0; i < 2; i++) {
		op->reads |= (uint64_t)vt_rng_below(r, 2) << vt_rng_below(r, 8);
		op->address_reads |= (uint64_t)1 << vt_rng_below(r, 8);
	}
	op->writes = (uint64_t)vt_rng_below(r, 4) << vt_rng_below(r, 7);
	for (i = 0; i < op->nuops; i++) {
		static const uint8_t classes[] = {VT_OP_INT, VT_OP_LOAD, VT_OP_STORE, VT_OP_FADD};
		struct vt_uop *u = &op->uops[i];

		u->op_class = classes[vt_rng_below(r, 4)];
		u->operands = i ? VT_UOP_PREVIOUS | VT_UOP_READS | VT_UOP_WRITES : VT_UOP_ADDRESS;
		if (op->nuops == 1)
			u->operands = (uint8_t)(VT_UOP_READS | VT_UOP_WRITES);
		u->latency = (uint16_t)(1 + vt_rng_below(r, 8) * vt_rng_below(r, 2));
		u->busy = 1;
		u->units = 1u << vt_rng_below(r, 3);
	}
}

static void test_stepped(void **state)
{
	struct vt_core m = machine();
	static struct vt_mop ops[INSNS];
	static struct vt_ooo_insn in[INSNS];
	struct stepped *s = malloc(sizeof(*s));
	unsigned round, i, j;
	struct vt_rng r;

	(void)state;
	assert_non_null(s);
	vt_rng_init(&r, 7);
	for (round = 0; round < 60; round++) {
		struct vt_inorder_cost cost;
		struct vt_ooo_times times;
		uint64_t before = 0, lost;
		struct vt_ooo *e;

		/* Each queue is the one that is short in some rounds. */
		m = machine();
		m.rob = round % 5 == 0 ? 12 : 48;
		m.queue = round % 5 == 1 ? 4 : 40;
		m.loads = round % 5 == 2 ? 2 : 40;
		m.stores = round % 5 == 3 ? 2 : 40;
		m.int_registers = round % 5 == 4 ? 16 + 4 : 200;
		for (i = 0; i < INSNS; i++) {
			draw_op(&r, &ops[i]);
			in[i] = (struct vt_ooo_insn){
				.op = &ops[i],
				.tag = i,
				.taken = vt_rng_below(&r, 8) == 0,
				.mispredicted = vt_rng_below(&r, 40) == 0,
			};
		}
		memset(s, 0, sizeof(*s));
		s->m = &m;
		s->in = in;
		s->n = INSNS;
		run_stepped(s);
		e = vt_ooo_new(&m, NULL);
		assert_non_null(e);
		for (i = 0; i < INSNS; i++) {
			vt_ooo_run(e, &in[i], &cost, &times);
			assert_int_equal(times.fetched, s->fetched_at[i]);
			assert_int_equal(times.placed, s->placed_at[i]);
			assert_int_equal(times.ready, operands_ready(s, i));
			assert_true(times.ready <= times.issued);
			assert_int_equal(times.done, insn_done(s, i));
			assert_int_equal(cost.cycle, s->retired_at[i]);
			/* Every slot is accounted for. */
			assert_int_equal(cost.head, i ? cost.cycle - before : 1);
			for (lost = 0, j = 0; j < cost.nstalls; j++)
				lost += cost.stalls[j].slots;
			assert_int_equal(cost.used + lost, cost.head * m.retire);
			before = cost.cycle;
		}
		vt_ooo_free(e);
	}
	free(s);
}

/* ---- by hand ---- */

/* An operation of one micro-operation that reads and writes registers. */
static struct vt_mop simple(unsigned reads, unsigned writes, enum vt_op_class c, unsigned latency)
{
	struct vt_mop op = {
		.nuops = 1,
		.slots = 1,
		.reads = reads,
		.writes = writes,
		.uops = {{.op_class = (uint8_t)c,
			  .operands = VT_UOP_READS | VT_UOP_WRITES,
			  .latency = (uint16_t)latency,
			  .busy = 1}},
	};

	return op;
}

static struct vt_inorder_cost run(struct vt_ooo *e, const struct vt_mop *op, uint64_t tag)
{
	struct vt_ooo_insn in = {.op = op, .tag = tag};
	struct vt_inorder_cost cost;

	vt_ooo_run(e, &in, &cost, NULL);
	return cost;
}

static void test_chain(void **state)
{
	struct vt_core m = machine();
	struct vt_mop op = simple(1, 1, VT_OP_FADD, 4);
	struct vt_ooo *e = vt_ooo_new(&m, NULL);
	struct vt_inorder_cost c = {0};
	unsigned i;

	(void)state;
	/* Each waits for the one before: four cycles each, of which one slot is its own. */
	for (i = 0; i < 100; i++)
		c = run(e, &op, i);
	assert_int_equal(c.head, 4);
	assert_int_equal(c.nstalls, 1);
	assert_int_equal(c.stalls[0].cause, VT_STALL_OPERAND_A);
	assert_int_equal(c.stalls[0].by, 98);
	assert_int_equal(c.stalls[0].slots, 11);
	vt_ooo_free(e);
}

static void test_width(void **state)
{
	struct vt_core m = machine();
	struct vt_mop op = simple(0, 1, VT_OP_INT, 1);
	struct vt_ooo *e = vt_ooo_new(&m, NULL);
	uint64_t begin = 0, i;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct vt_inorder_cost c = run(e, &op, i);

		if (i == 0)
			begin = c.cycle;
		assert_int_equal(c.cycle, begin + i / 3);
		assert_int_equal(c.nstalls, 0);
	}
	vt_ooo_free(e);
}

static void test_unit(void **state)
{
	struct vt_core m = machine();
	struct vt_mop op = simple(0, 1, VT_OP_DIVIDE, 10);
	struct vt_ooo *e = vt_ooo_new(&m, NULL);
	struct vt_inorder_cost c = {0};
	unsigned i;

	(void)state;
	/* It is pipelined in part: another every six cycles. */
	op.uops[0].units = 2;
	op.uops[0].busy = 6;
	for (i = 0; i < 100; i++)
		c = run(e, &op, i);
	assert_int_equal(c.head, 6);
	assert_int_equal(c.stalls[0].cause, VT_STALL_DIVIDER);
	vt_ooo_free(e);
}

/* ---- memory ---- */

struct script {
	struct vt_simmem_access fetch, load;
	struct vt_ooo_place load_place, store_place;
	uint64_t astray;
};

static struct vt_simmem_access script_fetch(void *arg, uint64_t cycle)
{
	struct script *s = arg;

	(void)cycle;
	return s->fetch;
}

static struct vt_simmem_access script_access(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	struct script *s = arg;
	struct vt_simmem_access none = {0};

	(void)cycle;
	assert_int_equal(nth, 0);
	return store ? none : s->load;
}

static struct vt_ooo_place script_place(void *arg, bool store, unsigned nth)
{
	struct script *s = arg;

	assert_int_equal(nth, 0);
	return store ? s->store_place : s->load_place;
}

static void script_astray(void *arg, uint64_t begin, uint64_t end)
{
	struct script *s = arg;

	assert_true(end > begin);
	s->astray = end - begin;
}

static struct vt_ooo *scripted(struct vt_core *m, struct script *s)
{
	struct vt_ooo_hooks hooks = {script_fetch, script_access, script_place, script_astray, s};
	struct vt_ooo *e = vt_ooo_new(m, &hooks);
	struct vt_mop op = simple(0, 0, VT_OP_INT, 1);
	unsigned i;

	assert_non_null(e);
	for (i = 0; i < 30; i++)
		run(e, &op, i);
	return e;
}

static void test_misses(void **state)
{
	struct vt_mop load = simple(0, 1, VT_OP_LOAD, 3), use = simple(1, 0, VT_OP_INT, 1);
	struct vt_core m = machine();
	struct script s = {.load = {.cycles = 70, .tlb = 20, .cache = 50}};
	struct vt_ooo *e = scripted(&m, &s);
	struct vt_inorder_cost c;

	(void)state;
	c = run(e, &load, 100);
	/* A miss is the load's own; who uses it loses its latency because of that. */
	assert_int_equal(c.head, 1 + 2 + 70);
	assert_int_equal(c.nstalls, 3);
	assert_int_equal(c.stalls[1].cause, VT_STALL_DTLB);
	assert_int_equal(c.stalls[1].slots, 60);
	assert_int_equal(c.stalls[2].cause, VT_STALL_DCACHE);
	assert_int_equal(c.stalls[2].slots, 150);
	assert_int_equal(c.stalls[2].by, 100);
	c = run(e, &use, 101);
	assert_int_equal(c.head, 1);
	assert_int_equal(c.stalls[0].cause, VT_STALL_DEPENDENCY);
	assert_int_equal(c.stalls[0].by, 100);
	assert_int_equal(c.stalls[0].slots, 2);
	vt_ooo_free(e);
	/* Misses that do not depend on each other are under way together. */
	e = scripted(&m, &s);
	run(e, &load, 100);
	assert_int_equal(run(e, &load, 101).head, 0);
	vt_ooo_free(e);
}

static void test_fetch_misses(void **state)
{
	struct vt_mop op = simple(0, 1, VT_OP_INT, 1);
	struct vt_core m = machine();
	struct script s = {0};
	struct vt_ooo *e = scripted(&m, &s);
	struct vt_inorder_cost c;
	unsigned i, j, slots = 0;

	(void)state;
	s.fetch = (struct vt_simmem_access){.cycles = 50, .tlb = 10, .cache = 40};
	c = run(e, &op, 100);
	memset(&s, 0, sizeof(s));
	/* It comes 50 cycles late, but for what waited before the reorder buffer. */
	assert_true(c.head >= 40 && c.head <= 51);
	for (i = 0; i < c.nstalls; i++)
		if (c.stalls[i].cause == VT_STALL_ICACHE)
			slots = c.stalls[i].slots;
	assert_true(slots >= 40 * 3 && slots <= 47 * 3);
	/* Those fetched with it come with it. */
	for (j = 1; j < 3; j++)
		assert_int_equal(run(e, &op, 100 + j).head, 0);
	vt_ooo_free(e);
}

static void test_mispredicted(void **state)
{
	struct vt_mop op = simple(0, 1, VT_OP_INT, 1);
	struct vt_mop branch = simple(0, 0, VT_OP_BRANCH, 1);
	struct vt_core m = machine();
	struct script s = {0};
	struct vt_ooo *e = scripted(&m, &s);
	struct vt_ooo_insn in = {.op = &branch, .tag = 100, .mispredicted = true};
	struct vt_inorder_cost c;
	struct vt_ooo_times branched, times;

	(void)state;
	vt_ooo_run(e, &in, &c, &branched);
	in = (struct vt_ooo_insn){.op = &op, .tag = 101};
	vt_ooo_run(e, &in, &c, &times);
	assert_int_equal(times.issued, branched.done + 9);
	assert_int_equal(s.astray, branched.done - branched.fetched - 1);
	assert_int_equal(c.head, times.done - branched.done);
	assert_int_equal(c.stalls[0].cause, VT_STALL_MISPREDICT);
	assert_int_equal(c.stalls[0].by, 100);
	vt_ooo_free(e);
}

/* When a load of `size` bytes at `addr` is done, after a store of 8 at 0x1000. */
static uint64_t load_takes(uint64_t addr, uint32_t size, struct vt_inorder_cost *c)
{
	struct vt_mop load = simple(0, 2, VT_OP_LOAD, 3), store = simple(1, 0, VT_OP_STORE, 1);
	struct vt_mop slow = simple(0, 1, VT_OP_FADD, 30);
	struct vt_core m = machine();
	struct script s = {.load_place = {addr, size}, .store_place = {0x1000, 8}};
	struct vt_ooo *e = scripted(&m, &s);
	struct vt_ooo_insn in = {.op = &slow, .tag = 100};
	struct vt_ooo_times first, times;

	vt_ooo_run(e, &in, c, &first);
	in = (struct vt_ooo_insn){.op = &store, .tag = 101};
	vt_ooo_run(e, &in, c, &times);
	in = (struct vt_ooo_insn){.op = &load, .tag = 102};
	vt_ooo_run(e, &in, c, &times);
	vt_ooo_free(e);
	return times.done - first.done;
}

static void test_forwarding(void **state)
{
	struct vt_inorder_cost c;

	(void)state;
	/* The store is done one cycle after its operand. */
	assert_int_equal(load_takes(0x1000, 8, &c), 1 + 4);
	assert_int_equal(load_takes(0x1004, 4, &c), 1 + 4);
	assert_int_equal(c.stalls[0].cause, VT_STALL_DEPENDENCY);
	assert_int_equal(c.stalls[0].by, 101);
	assert_int_equal(load_takes(0x1004, 8, &c), 1 + 11);
	assert_int_equal(c.stalls[1].cause, VT_STALL_FORWARD);
	assert_int_equal(c.stalls[1].slots, 7 * 3);
	assert_int_equal(load_takes(0xfff, 2, &c), 1 + 11);
	/* Others need not wait. */
	assert_true((int64_t)load_takes(0x1008, 8, &c) < 0);
	assert_true((int64_t)load_takes(0xff8, 8, &c) < 0);
}

/* ---- static schedules ---- */

/* What the last copy of a loop of `n` takes, and each part of it. */
static float loop_takes(const struct vt_mop *body, size_t n, struct vt_schedule_cost *costs)
{
	enum { COPIES = 40 };
	struct vt_core m = machine();
	const struct vt_mop *ops[COPIES * 8];
	struct vt_error err = VT_ERROR_INIT;
	float sum = 0;
	size_t i;

	assert_true(n <= 8);
	for (i = 0; i < COPIES * n; i++)
		ops[i] = &body[i % n];
	assert_int_equal(vt_schedule(&m, ops, COPIES * n, (COPIES - 1) * n, costs, &err), 0);
	for (i = 0; i < n; i++)
		sum += costs[i].head;
	return sum;
}

static void test_schedules(void **state)
{
	struct vt_schedule_cost costs[8];
	struct vt_mop body[4];
	size_t i;

	(void)state;
	/* Nothing but width: a third of a cycle each. */
	for (i = 0; i < 3; i++)
		body[i] = simple(0, 1, VT_OP_INT, 1);
	assert_float_equal(loop_takes(body, 3, costs), 1, 1e-5);
	assert_float_equal(costs[1].head, 1.0 / 3, 1e-5);
	assert_int_equal(costs[1].nstalls, 0);
	/* One of them waits for what it made itself in the last round. */
	body[1] = simple(2, 2, VT_OP_FADD, 5);
	assert_float_equal(loop_takes(body, 3, costs), 5, 1e-5);
	assert_float_equal(costs[0].head, 1.0 / 3, 1e-5);
	assert_int_equal(costs[1].stalls[0].cause, VT_STALL_OPERAND_A);
	assert_int_equal(costs[1].stalls[0].culprit, 1 - 3);
	assert_int_equal(costs[1].depends, 1 - 3);
	/* And one that is not pipelined takes even longer. */
	body[2] = simple(0, 4, VT_OP_DIVIDE, 9);
	body[2].uops[0].units = 1;
	body[2].uops[0].busy = 7;
	assert_float_equal(loop_takes(body, 3, costs), 7, 1e-5);
	assert_int_equal(costs[2].stalls[0].cause, VT_STALL_UNIT_STATIC);
	/* A branch that is taken ends what is fetched in a cycle. */
	for (i = 0; i < 4; i++)
		body[i] = simple(0, 1, VT_OP_INT, 1);
	body[1].flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	body[3].flags = VT_FACT_BRANCH | VT_FACT_JUMP;
	assert_float_equal(loop_takes(body, 2, costs), 1, 1e-5);
	/* A conditional one is not taken where the next one is behind it. */
	assert_float_equal(loop_takes(body + 2, 2, costs), 1, 1e-5);
	assert_true(loop_takes(body, 4, costs) < 2);
}

/* ---- whatever a description says ---- */

static void test_odd_machines(void **state)
{
	struct vt_core m = {.order = VT_OUT_OF_ORDER};
	struct vt_mop op = simple(1, UINT32_MAX, VT_OP_STORE, 65535);
	struct vt_inorder_cost c;
	struct vt_ooo *e;
	unsigned i;

	(void)state;
	op.uops[0].busy = 65535;
	op.uops[0].units = UINT32_MAX;
	op.slots = 255;
	/* A machine of nothing, and one of which everything has one place. */
	for (i = 0; i < 2; i++) {
		uint64_t before = 0, tag;

		m.rob = m.queue = m.loads = m.stores = m.int_registers = m.fp_registers = i;
		m.nunits = i;
		e = vt_ooo_new(&m, NULL);
		assert_non_null(e);
		for (tag = 0; tag < 20; tag++) {
			c = run(e, &op, tag);
			assert_true(c.cycle > before);
			before = c.cycle;
		}
		vt_ooo_free(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stepped),	     cmocka_unit_test(test_chain),
		cmocka_unit_test(test_width),	     cmocka_unit_test(test_unit),
		cmocka_unit_test(test_misses),	     cmocka_unit_test(test_fetch_misses),
		cmocka_unit_test(test_mispredicted), cmocka_unit_test(test_forwarding),
		cmocka_unit_test(test_odd_machines), cmocka_unit_test(test_schedules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
