/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that are run as a whole, and remembered, take the same cycles as their instructions one by
 * one: random programs on two machines of the same kind, each run in one of these ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/pipeline/memo.h"
#include "machine/pipeline/sim.h"

#define BLOCKS 12
#define INSNS  10
#define STEPS  20000

struct told {
	struct vt_sim_retired r;
	uint64_t due;  /* those that are done before need not be told */
	uint64_t head; /* of all that were */
	unsigned n;
	bool in_order; /* else the slots used are not told of blocks that are run as a whole */
};

/* A block's instructions, and what they are made of. */
struct block {
	struct vt_mop ops[INSNS];
	struct vt_sim_insn insns[INSNS];
	struct vt_sim_access accesses[INSNS];
	struct vt_sim_block run;
};

struct program {
	struct vt_core core;
	struct block blocks[BLOCKS];
	struct vt_rng rng;
};

static uint32_t draw(struct program *p, uint32_t n)
{
	return (uint32_t)(vt_rng_next(&p->rng) % n);
}

/* The last one that is asked for, where samples would be taken. */
static void retire(void *arg, const struct vt_sim_retired *r)
{
	struct told *t = arg;

	t->n++;
	t->head += r->head;
	if (r->cycle < t->due)
		return;
	t->due = UINT64_MAX;
	t->r = *r;
	t->r.stalls = NULL;
	t->r.nstalls = 0;
	if (!t->in_order)
		t->r.used = 0;
}

static void make_core(struct program *p, enum vt_order order)
{
	struct vt_core *m = &p->core;

	memset(m, 0, sizeof(*m));
	m->order = order;
	m->front = 2;
	m->rob = 40;
	m->queue = 16;
	m->stores = 4;
	m->issue = m->retire = 1 + draw(p, 4);
	m->fetch = m->decode = 1 + draw(p, 4);
	m->mispredict = 5;
	m->memory = 20 + draw(p, 100);
	m->nunits = 1 + draw(p, 4);
	m->predictor = VT_PREDICT_BIMODAL;
	m->predictor_bits = 4;
	m->returns = 2;
	m->write_buffer = draw(p, 4);
	m->drain = 6;
	m->icache = (struct vt_cache_shape){.size = 256, .line = 32, .ways = 1, .misses = 2};
	m->dcache = (struct vt_cache_shape){
		.size = 256, .line = 32, .ways = 2, .latency = 2, .misses = draw(p, 3)};
	m->l2 = (struct vt_cache_shape){.size = 1024, .line = 64, .ways = 4, .latency = 8};
	m->itlb = (struct vt_tlb_shape){.entries = 2, .ways = 2, .page = 512, .latency = 30};
	m->dtlb = (struct vt_tlb_shape){.entries = 4, .ways = 4, .page = 512, .latency = 30};
}

static struct vt_uop make_uop(struct program *p, enum vt_op_class op_class)
{
	struct vt_uop u = {.op_class = (uint8_t)op_class};

	u.latency = (uint16_t)(1 + draw(p, 4));
	u.busy = (uint16_t)(draw(p, 8) ? 1 : 1 + draw(p, 12));
	u.operands = (uint8_t)draw(p, 16);
	u.units = draw(p, 1u << p->core.nunits);
	return u;
}

static void make_op(struct program *p, struct vt_mop *op)
{
	static const uint8_t classes[] = {VT_OP_INT, VT_OP_INT, VT_OP_MULTIPLY, VT_OP_SHIFT};
	unsigned i;

	*op = (struct vt_mop){.length = (uint8_t)(1 + draw(p, 8)), .slots = 1};
	op->reads = (uint64_t)1 << draw(p, 10);
	op->reads |= (uint64_t)1 << draw(p, 10);
	op->address_reads = (uint64_t)1 << draw(p, 10);
	op->writes = (uint64_t)1 << draw(p, 10);
	if (draw(p, 8) == 0)
		op->flags |= VT_FACT_PUSH;
	if (draw(p, 3) == 0)
		op->uops[op->nuops++] = make_uop(p, VT_OP_LOAD);
	for (i = draw(p, 3); i; i--)
		op->uops[op->nuops++] = make_uop(p, classes[draw(p, 4)]);
	if (draw(p, 4) == 0)
		op->uops[op->nuops++] = make_uop(p, VT_OP_STORE);
}

/* Some blocks have what cannot be remembered. */
static void make_block(struct program *p, unsigned number)
{
	struct block *b = &p->blocks[number];
	uint64_t addr = 0x1000 + 61 * (uint64_t)number;
	uint32_t i, n = 1 + draw(p, INSNS);

	memset(b, 0, sizeof(*b));
	b->run.insns = b->insns;
	b->run.ninsns = n;
	for (i = 0; i < n; i++) {
		struct vt_sim_insn *insn = &b->insns[i];
		struct vt_mop *op = &b->ops[i];

		make_op(p, op);
		if (draw(p, 100) == 0)
			op->uops[op->nuops++] = make_uop(p, VT_OP_SYNC);
		if (i + 1 == n && draw(p, 4)) {
			op->flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
			op->uops[0] = make_uop(p, VT_OP_BRANCH);
			op->nuops = 1;
		}
		*insn = (struct vt_sim_insn){.op = op, .tag = number * INSNS + i, .addr = addr};
		addr += op->length;
		insn->next = addr;
		insn->target = i + 1 == n ? 0x1000 : 0;
		insn->accesses = &b->accesses[i];
		insn->naccesses = draw(p, 8) != 0;
		b->accesses[i].size = 8;
		b->accesses[i].store = op->nuops && op->uops[op->nuops - 1].op_class == VT_OP_STORE;
	}
}

/* Mostly the same few places. */
static void move(struct program *p, struct block *b)
{
	uint32_t i;

	for (i = 0; i < b->run.ninsns; i++)
		if (draw(p, 4) == 0)
			b->accesses[i].addr = 8 * draw(p, draw(p, 8) ? 24 : 2000) + draw(p, 2);
}

static void run_each(struct vt_simcore *c, struct block *b, uint64_t next)
{
	uint32_t i;

	b->insns[b->run.ninsns - 1].next = next;
	for (i = 0; i < b->run.ninsns; i++)
		vt_simcore_run(c, &b->insns[i]);
}

static void assert_told(const struct told *a, const struct told *b)
{
	assert_int_equal(a->due, b->due);
	if (a->due == UINT64_MAX)
		assert_memory_equal(&a->r, &b->r, sizeof(a->r));
}

static void compare(struct program *p, struct vt_simcore *plain, struct vt_simcore *whole,
		    struct told *told)
{
	uint64_t due = UINT64_MAX, saved = 0;
	unsigned i, at = 0;

	for (i = 0; i < STEPS; i++) {
		struct block *b = &p->blocks[at];
		unsigned n = told[1].n;
		uint64_t cycles;

		at = draw(p, 3) ? (at + 1) % BLOCKS : draw(p, BLOCKS);
		move(p, b);
		due = vt_simcore_cycle(plain) + (draw(p, 4) ? 1000000 : 1 + draw(p, 20));
		if (draw(p, 20) == 0)
			due = 0;
		told[0].due = told[1].due = due;
		run_each(plain, b, p->blocks[at].insns->addr);
		b->insns[b->run.ninsns - 1].next = 0;
		cycles = vt_simcore_run_block(whole, &b->run, p->blocks[at].insns->addr, due);
		told[1].head += cycles;
		saved += told[1].n == n;
		assert_int_equal(vt_simcore_cycle(plain), vt_simcore_cycle(whole));
		assert_int_equal(told[0].head, told[1].head);
		assert_told(&told[0], &told[1]);
		if (draw(p, 500) == 0) {
			vt_simcore_drain(plain);
			vt_simcore_drain(whole);
		}
	}
	/* Else nothing was tested. */
	assert_true(saved > STEPS / 4);
}

static void same_cycles(enum vt_order order, unsigned seeds)
{
	static struct program p;
	struct vt_error err = VT_ERROR_INIT;
	struct told told[2];
	unsigned seed, i;

	for (seed = 1; seed <= seeds; seed++) {
		struct vt_simcore *cores[2];

		memset(&p, 0, sizeof(p));
		memset(told, 0, sizeof(told));
		vt_rng_init(&p.rng, seed);
		told[0].in_order = told[1].in_order = order == VT_IN_ORDER;
		make_core(&p, order);
		for (i = 0; i < BLOCKS; i++)
			make_block(&p, i);
		for (i = 0; i < 2; i++) {
			struct vt_sim_hooks hooks = {.retire = retire, .arg = &told[i]};

			cores[i] = vt_simcore_new(&p.core, &hooks, &err);
			assert_non_null(cores[i]);
		}
		compare(&p, cores[0], cores[1], told);
		for (i = 0; i < BLOCKS; i++)
			vt_sim_block_fini(&p.blocks[i].run);
		vt_simcore_free(cores[0]);
		vt_simcore_free(cores[1]);
	}
}

static void same_cycles_in_order(void **state)
{
	(void)state;
	same_cycles(VT_IN_ORDER, 12);
}

/* Nothing is remembered there, but samples are told in the same way. */
static void same_cycles_out_of_order(void **state)
{
	(void)state;
	same_cycles(VT_OUT_OF_ORDER, 4);
}

/* ---- one block, by hand ---- */

/* Reads register 1, then 2, which it also writes. */
static struct vti_simmemo *make_memo(uint32_t units, uint32_t issue, uint32_t n)
{
	static const struct vt_mop ops[] = {
		{.length = 4, .nuops = 1, .reads = 1 << 1, .uops = {{.operands = VT_UOP_READS}}},
		{.length = 4,
		 .nuops = 1,
		 .reads = 1 << 2,
		 .writes = 1 << 2,
		 .uops = {{.operands = VT_UOP_READS | VT_UOP_WRITES}}}};
	static struct vt_sim_insn insns[257];
	const struct vt_core core = {.nunits = units, .issue = issue};
	uint32_t i;

	for (i = 0; i < n; i++)
		insns[i] = (struct vt_sim_insn){.op = &ops[i % 2], .addr = 0x1000 + 4 * i};
	return vti_simmemo_new(&core, insns, n);
}

/* Up to 8 units, issues of 255 and 256 instructions, but not none. */
static void long_blocks_are_not_remembered(void **state)
{
	static const struct {
		uint32_t units, issue, n;
		bool taken;
	} cases[] = {{8, 255, 256, true},  {9, 255, 256, false}, {8, 256, 256, false},
		     {8, 255, 257, false}, {8, 255, 0, false},	 {0, 1, 1, true}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_simmemo *m = make_memo(cases[i].units, cases[i].issue, cases[i].n);

		assert_int_equal(m != NULL, cases[i].taken);
		vti_simmemo_free(m);
	}
}

/* Who moves the stack pointer before its results, and what waits for all before it. */
static void odd_instructions_are_not_remembered(void **state)
{
	static const uint32_t flags[] = {0,
					 VT_FACT_PUSH,
					 VT_FACT_POP,
					 VT_FACT_CALL,
					 VT_FACT_RETURN,
					 VT_FACT_LOAD,
					 VT_FACT_BRANCH};
	static const uint8_t classes[] = {VT_OP_INT, VT_OP_SYNC, VT_OP_SLOW, VT_OP_LOAD};
	const struct vt_core core = {.nunits = 1, .issue = 1};
	struct vt_mop op = {.length = 4, .nuops = 2};
	const struct vt_sim_insn insn = {.op = &op, .addr = 0x1000};
	unsigned i, sp, makes;

	(void)state;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		for (sp = 0; sp < 2; sp++)
			for (makes = 0; makes < 2; makes++) {
				const bool odd = i >= 1 && i <= 4 && sp && !makes;
				struct vti_simmemo *m;

				op.flags = flags[i];
				op.writes = sp ? 1 << VT_REG_SP : 1 << VT_REG_AX;
				op.uops[1].operands = makes ? VT_UOP_WRITES : VT_UOP_READS;
				m = vti_simmemo_new(&core, &insn, 1);
				assert_int_equal(m != NULL, !odd);
				vti_simmemo_free(m);
			}
	for (i = 0; i < sizeof(classes); i++) {
		struct vti_simmemo *m;

		op.uops[1].op_class = classes[i];
		m = vti_simmemo_new(&core, &insn, 1);
		assert_int_equal(m != NULL, i == 0 || i == 3);
		vti_simmemo_free(m);
	}
}

static bool enter(const struct vti_simmemo *m, const struct vt_inorder *e, struct vti_simentry *to)
{
	memset(to, 0xff, sizeof(*to));
	return vti_simmemo_entry(m, e, true, to);
}

/* The cycle that a block begins in, and what it waits for from there: 254 cycles at most. */
static void entries_count_from_the_first_cycle(void **state)
{
	struct vti_simmemo *m = make_memo(2, 4, 2);
	struct vt_inorder e = {.width = 4, .used = 3, .cycle = 100};
	struct vti_simentry entry;

	(void)state;
	assert_non_null(m);
	e.units[0] = (struct vti_inorder_unit){.free = 101, .last = 99, .could = 3};
	e.units[1] = (struct vti_inorder_unit){.free = 354, .last = 100, .could = 0x1ff};
	e.values[1].ready = 353;
	e.values[2].ready = 355;
	assert_true(enter(m, &e, &entry));
	assert_int_equal(entry.base, 100);
	assert_int_equal(entry.used, 3);
	assert_true(entry.fetches);
	assert_int_equal(entry.free, 254 << 8 | 1);
	assert_int_equal(entry.could, 0xff << 8);
	assert_int_equal(entry.ready[0], 253);
	assert_int_equal(entry.ready[1], 255);
	e.units[1].free = 355;
	assert_false(enter(m, &e, &entry));

	/* The cycle is full: the next one. */
	e.used = 4;
	assert_true(enter(m, &e, &entry));
	assert_int_equal(entry.base, 101);
	assert_int_equal(entry.used, 0);
	assert_int_equal(entry.free, 254 << 8);
	assert_int_equal(entry.could, 0);
	assert_int_equal(entry.ready[0], 252);
	assert_int_equal(entry.ready[1], 254);

	/* The last of what holds it up counts, if that is still to come. */
	e.nholds = 2;
	e.holds[0].cycle = 90;
	e.holds[1].cycle = 100;
	e.used = 3;
	e.units[1].free = 0;
	assert_true(enter(m, &e, &entry));
	assert_int_equal(entry.base, 100);
	assert_int_equal(entry.used, 3);
	e.holds[1].cycle = 400;
	assert_true(enter(m, &e, &entry));
	assert_int_equal(entry.base, 400);
	assert_int_equal(entry.used, 0);
	assert_int_equal(entry.free, 0);
	assert_int_equal(entry.ready[0], 0);
	assert_int_equal(entry.ready[1], 0);
	vti_simmemo_free(m);
}

/* A run from cycle 100 that is put to cycle 1000: all of it comes 900 cycles later. */
static void runs_are_moved(void **state)
{
	static const uint64_t issued[] = {102, 103};
	struct vti_simmemo *m = make_memo(2, 4, 2);
	struct vti_simentry entry = {.base = 100, .fetches = true, .ready = {0, 5}};
	struct vt_inorder before = {.width = 4, .cycle = 100}, e;
	struct vt_inorder after = {.width = 4, .cycle = 103, .used = 2, .latest = 109};
	struct vti_simdone done = {.before = &before, .after = &after, .issued = issued};
	struct vti_simrun *run;

	(void)state;
	assert_non_null(m);
	after.values[2].ready = 107;
	before.units[0].free = after.units[0].free = 95; /* not touched */
	after.units[1] = (struct vti_inorder_unit){.free = 104, .last = 103, .could = 3};
	vti_simmemo_add(m, &entry, &done, NULL, 0);
	/* Register 1 is waited for from the first cycle on, 2 from that of the one before it. */
	entry.base = 1000;
	assert_non_null(run = vti_simmemo_find(m, &entry));
	entry.ready[1] = 4;
	assert_null(vti_simmemo_find(m, &entry));
	entry.ready[1] = 6;
	assert_null(vti_simmemo_find(m, &entry));
	assert_int_equal(vti_simrun_issued(run)[0], 2);
	assert_int_equal(vti_simrun_issued(run)[1], 3);
	e = (struct vt_inorder){.width = 4, .cycle = 1000, .used = 1, .nholds = 2, .latest = 1008};
	e.units[0].free = 1;
	e.values[1].ready = 7;
	vti_simmemo_apply(m, &entry, run, &e);
	assert_int_equal(e.cycle, 1003);
	assert_int_equal(e.used, 2);
	assert_int_equal(e.nholds, 0);
	assert_int_equal(e.latest, 1009);
	assert_int_equal(e.values[1].ready, 7);
	assert_int_equal(e.values[2].ready, 1007);
	assert_int_equal(e.values[2].made, 1007);
	assert_int_equal(e.values[2].tlb, 1007);
	assert_int_equal(e.units[0].free, 1);
	assert_int_equal(e.units[1].free, 1004);
	assert_int_equal(e.units[1].last, 1003);
	assert_int_equal(e.units[1].could, 3);
	e.latest = 2000;
	vti_simmemo_apply(m, &entry, run, &e);
	assert_int_equal(e.latest, 2000);
	vti_simmemo_free(m);
}

/* What was there before it could be read makes no difference, however long before. */
static void early_registers_make_no_difference(void **state)
{
	static const uint64_t issued[] = {102, 103};
	struct vti_simmemo *m = make_memo(0, 4, 2);
	struct vti_simentry entry = {.base = 100, .ready = {0, 2}};
	struct vt_inorder before = {.width = 4, .cycle = 100}, after = {.width = 4, .cycle = 103};
	struct vti_simdone done = {.before = &before, .after = &after, .issued = issued};
	unsigned i;

	(void)state;
	assert_non_null(m);
	after.values[2].ready = 107;
	vti_simmemo_add(m, &entry, &done, NULL, 0);
	for (i = 0; i < 5; i++) {
		entry.ready[1] = (uint8_t)i;
		assert_int_equal(vti_simmemo_find(m, &entry) != NULL, i <= 2);
	}
	entry.ready[1] = 0;
	entry.ready[0] = 1;
	assert_null(vti_simmemo_find(m, &entry));
	vti_simmemo_free(m);
}

/*
 * The same of registers whose numbers go the other way than who reads them: 1 by the second
 * instruction, which was issued so long after the first cycle, 2 by the first.
 */
static void readers_are_known_of_each_register(void **state)
{
	static const struct {
		uint64_t first;
		unsigned last; /* up to which wait of register 1 it is the same run */
	} cases[] = {{0, 0}, {2, 2}, {253, 253}, {254, 254}, {255, 254}, {300, 254}};
	const struct vt_core core = {.nunits = 0, .issue = 4};
	struct vt_mop ops[2] = {{.length = 4, .nuops = 1, .reads = 1 << 2},
				{.length = 4, .nuops = 1, .reads = 1 << 1}};
	struct vt_sim_insn insns[2] = {{.op = &ops[0]}, {.op = &ops[1]}};
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t issued[] = {100 + cases[i].first, 101 + cases[i].first};
		struct vti_simmemo *m = vti_simmemo_new(&core, insns, 2);
		struct vti_simentry entry = {.base = 100};
		struct vt_inorder before = {.width = 4, .cycle = 100};
		struct vt_inorder after = {.width = 4, .cycle = issued[1]};
		struct vti_simdone done = {.before = &before, .after = &after, .issued = issued};

		assert_non_null(m);
		vti_simmemo_add(m, &entry, &done, NULL, 0);
		for (k = 0; k < 256; k++) {
			entry.ready[0] = (uint8_t)k;
			assert_int_equal(vti_simmemo_find(m, &entry) != NULL, k <= cases[i].last);
		}
		entry.ready[0] = 0;
		entry.ready[1] = 1;
		assert_null(vti_simmemo_find(m, &entry));
		vti_simmemo_free(m);
	}
}

static void ends_are_of_the_first_and_the_last(void **state)
{
	const struct vt_core core = {.nunits = 1, .issue = 1};
	struct vt_mop ops[3] = {{.length = 3}, {.length = 4}, {.length = 5, .flags = 77}};
	struct vt_sim_insn insns[3] = {
		{.op = &ops[0], .addr = 0x1000, .target = 1},
		{.op = &ops[1], .addr = 0x1003, .target = 2},
		{.op = &ops[2], .addr = 0x1007, .target = 0x4000},
	};
	struct vti_simmemo *m = vti_simmemo_new(&core, insns, 3);
	const struct vti_simends *e;

	(void)state;
	assert_non_null(m);
	e = vti_simmemo_ends(m);
	assert_int_equal(e->addr, 0x1000);
	assert_int_equal(e->length, 3);
	assert_int_equal(e->last, 0x1007);
	assert_int_equal(e->fall, 0x100c);
	assert_int_equal(e->target, 0x4000);
	assert_int_equal(e->flags, 77);
	vti_simmemo_free(m);
	/* What could not be decoded is of one byte. */
	ops[0].length = 0;
	m = vti_simmemo_new(&core, insns, 1);
	assert_non_null(m);
	e = vti_simmemo_ends(m);
	assert_int_equal(e->length, 1);
	assert_int_equal(e->last, 0x1000);
	assert_int_equal(e->fall, 0x1000);
	vti_simmemo_free(m);
}

/* Of any 64 that come, and not only the first time. */
static void forgets_again(void **state)
{
	static const uint64_t issued[] = {0, 0};
	struct vti_simmemo *m = make_memo(1, 1, 2);
	struct vti_simentry entry = {0};
	struct vt_inorder e = {.width = 1};
	struct vti_simdone done = {.before = &e, .after = &e, .issued = issued};
	uint64_t i, of;

	(void)state;
	assert_non_null(m);
	for (i = 0; i < 200; i++) {
		entry.free = i;
		vti_simmemo_add(m, &entry, &done, NULL, 0);
		if (i != 128 && i != 191 && i != 199)
			continue;
		for (of = 0; of <= i; of++) {
			entry.free = of;
			assert_int_equal(vti_simmemo_find(m, &entry) != NULL, of / 64 == i / 64);
		}
	}
	vti_simmemo_free(m);
}

/* 64 ways are remembered, then none; and from 128 on it pays if more of them are met than learned.
 */
static void forgets_all_when_full(void **state)
{
	static const uint64_t issued[] = {0, 0};
	struct vti_simmemo *m = make_memo(1, 1, 2);
	struct vti_simentry entry = {0};
	struct vt_inorder e = {.width = 1};
	struct vti_simdone done = {.before = &e, .after = &e, .issued = issued};
	uint64_t i, of;

	(void)state;
	assert_non_null(m);
	for (i = 0; i < 128; i++) {
		assert_true(vti_simmemo_pays(m));
		entry.free = i;
		assert_null(vti_simmemo_find(m, &entry));
		vti_simmemo_add(m, &entry, &done, NULL, 0);
		for (of = 0; of <= i; of++) {
			entry.free = of;
			assert_int_equal(vti_simmemo_find(m, &entry) != NULL, of / 64 == i / 64);
		}
	}
	for (i = 0; i < 129; i++) {
		assert_false(vti_simmemo_pays(m));
		vti_simmemo_apply(m, &entry, vti_simmemo_find(m, &entry), &e);
	}
	assert_true(vti_simmemo_pays(m));
	vti_simmemo_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_blocks_are_not_remembered),
		cmocka_unit_test(odd_instructions_are_not_remembered),
		cmocka_unit_test(entries_count_from_the_first_cycle),
		cmocka_unit_test(runs_are_moved),
		cmocka_unit_test(early_registers_make_no_difference),
		cmocka_unit_test(readers_are_known_of_each_register),
		cmocka_unit_test(ends_are_of_the_first_and_the_last),
		cmocka_unit_test(forgets_again),
		cmocka_unit_test(forgets_all_when_full),
		cmocka_unit_test(same_cycles_in_order),
		cmocka_unit_test(same_cycles_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
