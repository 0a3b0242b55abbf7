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
#include "machine/simcore.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_cycles_in_order),
		cmocka_unit_test(same_cycles_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
