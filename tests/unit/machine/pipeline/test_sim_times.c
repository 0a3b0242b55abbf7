/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a machine that issues in order tells of each instruction, how far it fetches ahead, and
 * blocks whose memory takes too long to be remembered: worked out by hand, or one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/memory.h"
#include "machine/pipeline/sim.h"

#define BIT(reg) ((uint64_t)1 << (reg))

/* The latest that was told, and its stalls. */
struct latest {
	struct vt_sim_retired r;
	struct vt_inorder_stall stalls[VT_INORDER_STALLS];
	unsigned n;
};

static void retire(void *arg, const struct vt_sim_retired *r)
{
	struct latest *l = arg;

	l->r = *r;
	memcpy(l->stalls, r->stalls, r->nstalls * sizeof(*r->stalls));
	l->n++;
}

static struct vt_core narrow(void)
{
	return (struct vt_core){
		.order = VT_IN_ORDER,
		.fetch = 1,
		.decode = 1,
		.issue = 1,
		.retire = 1,
		.mispredict = 7,
		.memory = 20,
		.icache = {.size = 4096, .line = 4096, .ways = 1},
		.dcache = {.size = 64, .line = 32, .ways = 1},
	};
}

static struct vt_simcore *start(const struct vt_core *m, struct latest *l)
{
	struct vt_sim_hooks hooks = {.retire = retire, .arg = l};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_simcore *c = vt_simcore_new(m, &hooks, &err);

	assert_non_null(c);
	memset(l, 0, sizeof(*l));
	return c;
}

static struct vt_mop make_op(enum vt_op_class op_class, uint64_t reads, uint64_t writes)
{
	struct vt_mop op = {.length = 4, .nuops = 1, .slots = 1, .reads = reads, .writes = writes};

	op.uops[0] = (struct vt_uop){
		.op_class = (uint8_t)op_class,
		.operands = VT_UOP_READS | VT_UOP_WRITES,
		.latency = 1,
		.busy = 1,
	};
	return op;
}

static void expect(const struct latest *l, uint64_t tag, uint64_t addr, uint64_t cycle,
		   uint64_t head, uint64_t used)
{
	assert_int_equal(l->r.tag, tag);
	assert_int_equal(l->r.addr, addr);
	assert_int_equal(l->r.cycle, cycle);
	assert_int_equal(l->r.head, head);
	assert_int_equal(l->r.used, used);
}

static void expect_times(const struct latest *l, uint64_t fetched, uint64_t accessed, uint64_t done,
			 uint32_t fetch_missed, uint32_t data_missed)
{
	assert_int_equal(l->r.fetch_cycle, fetched);
	assert_int_equal(l->r.access_cycle, accessed);
	assert_int_equal(l->r.done_cycle, done);
	assert_int_equal(l->r.fetch_missed, fetch_missed);
	assert_int_equal(l->r.data_missed, data_missed);
	assert_false(l->r.mispredicted);
}

static void expect_stall(const struct latest *l, unsigned i, enum vt_stall_cause cause, uint64_t by,
			 uint32_t slots)
{
	assert_int_equal(l->stalls[i].cause, cause);
	assert_int_equal(l->stalls[i].by, by);
	assert_int_equal(l->stalls[i].slots, slots);
}

static void all_is_told_of_each_instruction(void **state)
{
	const struct vt_mop load = make_op(VT_OP_LOAD, 0, BIT(1));
	const struct vt_mop use = make_op(VT_OP_INT, BIT(1), BIT(2));
	const struct vt_mop other = make_op(VT_OP_INT, 0, 0);
	const struct vt_sim_access access = {0x100, 8, false};
	struct vt_sim_insn insn = {.op = &load,
				   .tag = 70,
				   .addr = 0x1000,
				   .next = 0x1004,
				   .naccesses = 1,
				   .accesses = &access};
	const struct vt_core m = narrow();
	struct latest l;
	struct vt_simcore *c = start(&m, &l);

	(void)state;
	/* The line comes in 20, the first slot is that of cycle 0; the data comes in 20 + 1 + 20.
	 */
	vt_simcore_run(c, &insn);
	expect(&l, 70, 0x1000, 20, 20, 1);
	expect_times(&l, 0, 20, 41, VT_MISS_L1, VT_MISS_L1);
	assert_int_equal(l.r.nstalls, 1);
	expect_stall(&l, 0, VT_STALL_ICACHE, 70, 19);
	insn = (struct vt_sim_insn){.op = &use, .tag = 71, .addr = 0x1004, .next = 0x1008};
	vt_simcore_run(c, &insn);
	expect(&l, 71, 0x1004, 41, 21, 1);
	expect_times(&l, 0, 0, 42, 0, 0);
	assert_int_equal(l.r.nstalls, 1);
	expect_stall(&l, 0, VT_STALL_DCACHE, 70, 20);
	insn = (struct vt_sim_insn){.op = &other, .tag = 72, .addr = 0x1008, .next = 0x100c};
	vt_simcore_run(c, &insn);
	expect(&l, 72, 0x1008, 42, 1, 1);
	expect_times(&l, 0, 0, 43, 0, 0);
	assert_int_equal(l.r.nstalls, 0);
	assert_int_equal(vt_simcore_cycle(c), 42);
	assert_int_equal(l.n, 3);
	vt_simcore_free(c);
}

/* The page takes 9 cycles, then the line 20; the first slot is that of cycle 0. */
static void pages_and_lines_of_code_are_told_apart(void **state)
{
	const struct vt_mop op = make_op(VT_OP_INT, 0, 0);
	struct vt_sim_insn insn = {.op = &op, .tag = 70, .addr = 0x1000, .next = 0x1004};
	struct vt_core m = narrow();
	struct vt_simcore *c;
	struct latest l;

	(void)state;
	m.itlb = (struct vt_tlb_shape){.entries = 2, .ways = 2, .page = 4096, .latency = 9};
	c = start(&m, &l);
	vt_simcore_run(c, &insn);
	expect(&l, 70, 0x1000, 29, 29, 1);
	expect_times(&l, 0, 0, 30, VT_MISS_L1 | VT_MISS_TLB, 0);
	assert_int_equal(l.r.nstalls, 2);
	expect_stall(&l, 0, VT_STALL_ITLB, 70, 8);
	expect_stall(&l, 1, VT_STALL_ICACHE, 70, 20);
	vt_simcore_free(c);
}

/* What could not be decoded is of one byte: it does not enter the line before its own. */
static void unknown_instructions_have_a_byte(void **state)
{
	struct vt_mop op = make_op(VT_OP_NOP, 0, 0);
	struct vt_sim_insn insn = {.op = &op, .addr = 0x1000, .next = 0x1001};
	const struct vt_core m = narrow();
	struct latest l;
	struct vt_simcore *c = start(&m, &l);

	(void)state;
	op.length = 0;
	vt_simcore_run(c, &insn);
	expect(&l, 0, 0x1000, 20, 20, 1);
	assert_int_equal(l.r.fetch_cycle, 0);
	insn.addr = 0x1001;
	vt_simcore_run(c, &insn);
	expect(&l, 0, 0x1001, 21, 1, 1);
	assert_int_equal(l.r.fetch_cycle, 0);
	/* The next line is fetched when that was issued. */
	insn.addr = 0x2000;
	vt_simcore_run(c, &insn);
	expect(&l, 0, 0x2000, 41, 20, 1);
	assert_int_equal(l.r.fetch_cycle, 21);
	vt_simcore_free(c);
}

/* A line that takes 100 cycles, of which those are hidden that the group before it takes. */
static void groups_are_fetched_ahead(void **state)
{
	static const struct {
		uint32_t fetch, ahead;
	} cases[] = {{0, 1}, {1, 1}, {2, 2}, {7, 7}, {62, 62}, {63, 63}, {64, 63}, {1000, 63}};
	const struct vt_mop op = make_op(VT_OP_INT, 0, 0);
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_core m = narrow();
		struct vt_simcore *c;
		struct latest l;

		m.fetch = cases[i].fetch;
		m.memory = 100;
		m.icache = (struct vt_cache_shape){.size = 4096, .line = 1024, .ways = 1};
		c = start(&m, &l);
		/* 256 instructions are a line; twice, so that more than one ring has passed. */
		for (k = 0; k <= 512; k++) {
			struct vt_sim_insn insn = {.op = &op, .tag = k, .addr = 0x1000 + 4 * k};

			vt_simcore_run(c, &insn);
			if (k == 256 || k == 512)
				assert_int_equal(l.r.head, 101 - cases[i].ahead);
			else if (k)
				assert_int_equal(l.r.head, 1);
		}
		vt_simcore_free(c);
	}
}

/* Of two accesses and one or two operations: who goes to memory. */
static void two_accesses_are_shared_out(void **state)
{
	const struct vt_sim_access at[] = {{0x100, 8, false}, {0x220, 8, false}};
	struct vt_mop op = make_op(VT_OP_LOAD, 0, BIT(1));
	struct vt_sim_insn insn = {.op = &op, .naccesses = 2, .accesses = at};
	const struct vt_core m = narrow();
	struct vt_sim_retired r = {0};
	struct vt_simmem *mem = vt_simmem_new(&m);

	(void)state;
	assert_non_null(mem);
	/* One operation makes both. */
	assert_int_equal(vti_sim_access(mem, &insn, false, 0, 100, &r).cycles, 20);
	assert_int_equal(vt_simmem_load(mem, 200, 0x100, 8).cycles, 0);
	assert_int_equal(vt_simmem_load(mem, 200, 0x220, 8).cycles, 0);
	vt_simmem_free(mem);
	/* The first of two makes the first. */
	mem = vt_simmem_new(&m);
	assert_non_null(mem);
	op.nuops = 2;
	op.uops[1] = op.uops[0];
	assert_int_equal(vti_sim_access(mem, &insn, false, 0, 100, &r).cycles, 20);
	assert_int_equal(vt_simmem_load(mem, 200, 0x100, 8).cycles, 0);
	assert_int_equal(vt_simmem_load(mem, 200, 0x220, 8).cycles, 20);
	vt_simmem_free(mem);
	/* The second of two has none where there is one only; and a load none of a store's. */
	mem = vt_simmem_new(&m);
	assert_non_null(mem);
	insn.naccesses = 1;
	r = (struct vt_sim_retired){0};
	assert_int_equal(vti_sim_access(mem, &insn, false, 1, 100, &r).cycles, 0);
	assert_int_equal(vti_sim_access(mem, &insn, true, 0, 100, &r).cycles, 0);
	assert_int_equal(r.access_cycle, 0);
	assert_int_equal(r.data_missed, 0);
	assert_int_equal(vt_simmem_load(mem, 200, 0x100, 8).cycles, 20);
	vt_simmem_free(mem);
	/* A fifth operation is none. */
	mem = vt_simmem_new(&m);
	assert_non_null(mem);
	op.nuops = VT_MOP_UOPS + 1;
	op.uops[0].op_class = op.uops[2].op_class = op.uops[3].op_class = VT_OP_INT;
	insn.naccesses = 2;
	assert_int_equal(vti_sim_access(mem, &insn, false, 0, 100, &r).cycles, 20);
	assert_int_equal(vt_simmem_load(mem, 200, 0x220, 8).cycles, 0);
	vt_simmem_free(mem);
}

static void lines_are_powers_of_2(void **state)
{
	static const struct {
		uint32_t line;
		unsigned shift;
	} cases[] = {{0x7fffffff, 30}, {0x80000000, 31}, {UINT32_MAX, 31}, {3, 1}, {4, 2}, {0, 0}};
	struct vt_core m = narrow();
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m.icache.line = cases[i].line;
		assert_int_equal(vti_sim_line_shift(&m), cases[i].shift);
	}
}

/* A thread that comes next does not wait for what the one before has made. */
static void drained_machines_wait_for_nothing(void **state)
{
	const struct vt_mop slow = make_op(VT_OP_INT, 0, BIT(1)),
			    use = make_op(VT_OP_INT, BIT(1), 0);
	struct vt_sim_insn insn = {.op = &slow, .addr = 0x1000, .next = 0x1004};
	const struct vt_core m = narrow();
	struct vt_mop later = slow;
	struct latest l;
	struct vt_simcore *c;
	unsigned drains;

	(void)state;
	later.uops[0].latency = 30;
	for (drains = 0; drains < 2; drains++) {
		c = start(&m, &l);
		insn.op = &later;
		insn.addr = 0x1000;
		vt_simcore_run(c, &insn);
		assert_int_equal(l.r.cycle, 20);
		if (drains)
			vt_simcore_drain(c);
		insn.op = &use;
		insn.addr = 0x1004;
		vt_simcore_run(c, &insn);
		assert_int_equal(l.r.cycle, drains ? 21 : 50);
		vt_simcore_free(c);
	}
}

/* ---- blocks ---- */

#define MOST  256
#define TIMES 120

struct block {
	struct vt_mop ops[MOST];
	struct vt_sim_insn insns[MOST];
	struct vt_sim_access accesses[2 * MOST];
	uint32_t n;
};

static struct block *make_block(uint32_t n)
{
	struct block *b = calloc(1, sizeof(*b));
	uint32_t i;

	assert_non_null(b);
	b->n = n;
	for (i = 0; i < n; i++) {
		b->ops[i] = make_op(VT_OP_INT, BIT(3), BIT(3));
		b->insns[i] = (struct vt_sim_insn){.op = &b->ops[i],
						   .addr = 0x1000 + 4 * (uint64_t)i,
						   .next = 0x1004 + 4 * (uint64_t)i,
						   .accesses = &b->accesses[2 * (size_t)i]};
		b->accesses[2 * i].size = b->accesses[2 * i + 1].size = 8;
		b->accesses[2 * i + 1].store = true;
	}
	return b;
}

typedef void move_fn(struct block *b, unsigned time);

/* All that was told of a block. */
struct all {
	struct vt_sim_retired r[MOST];
	uint32_t n;
};

static void note(void *arg, const struct vt_sim_retired *r)
{
	struct all *all = arg;

	assert_true(all->n < MOST);
	all->r[all->n] = *r;
	all->r[all->n].stalls = NULL;
	all->r[all->n++].nstalls = 0;
}

/*
 * As a whole, a block takes as long as its instructions one by one, each time.  Either those are
 * told, as in each fourth time one that is due, or what all took.
 */
static void expect_same(const struct vt_core *m, struct block *b, move_fn *move)
{
	struct vt_sim_block whole = {.insns = b->insns, .ninsns = b->n};
	struct all *one = calloc(2, sizeof(*one)), *all = one + 1;
	struct vt_sim_hooks hooks[] = {{.retire = note, .arg = one}, {.retire = note, .arg = all}};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_simcore *plain = vt_simcore_new(m, &hooks[0], &err);
	struct vt_simcore *c = vt_simcore_new(m, &hooks[1], &err);
	unsigned time;
	uint32_t i;

	assert_non_null(plain);
	assert_non_null(c);
	for (time = 0; time < TIMES; time++) {
		uint64_t before = vt_simcore_cycle(plain), due = UINT64_MAX, cycles;

		move(b, time);
		one->n = all->n = 0;
		b->insns[b->n - 1].next = 0x1000;
		for (i = 0; i < b->n; i++)
			vt_simcore_run(plain, &b->insns[i]);
		if (time % 4 == 3)
			due = one->r[b->n / 2].cycle;
		cycles = vt_simcore_run_block(c, &whole, 0x1000, due);
		if (due != UINT64_MAX)
			assert_int_equal(all->n, b->n);
		if (all->n == 0) {
			assert_int_equal(cycles, vt_simcore_cycle(plain) - before);
		} else {
			assert_int_equal(all->n, b->n);
			assert_memory_equal(one->r, all->r, b->n * sizeof(one->r[0]));
		}
		assert_int_equal(vt_simcore_cycle(c), vt_simcore_cycle(plain));
	}
	vt_sim_block_fini(&whole);
	vt_simcore_free(plain);
	vt_simcore_free(c);
	free(one);
	free(b);
}

/* A load that misses the first level only, or all: 4464 cycles, or 4464 + 65536. */
static void alternate(struct block *b, unsigned time)
{
	b->accesses[0].addr = time % 8 == 7 ? 0x100000 + 0x1000 * (uint64_t)time
			      : time % 2    ? 0x100
					    : 0x180;
}

static void long_waits_are_no_short_ones(void **state)
{
	static const uint32_t memory[] = {65534, 65535, 65536, 65537, 4464 + 65536};
	unsigned i, store;

	(void)state;
	for (store = 0; store < 2; store++)
		for (i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
			struct block *b = make_block(3);
			struct vt_core m = narrow();

			m.memory = memory[i];
			m.l2 = (struct vt_cache_shape){
				.size = 1 << 16, .line = 64, .ways = 8, .latency = 4464};
			if (store) {
				m.write_buffer = 1;
				m.drain = 3;
			}
			b->ops[0] =
				make_op(store ? VT_OP_STORE : VT_OP_LOAD, 0, store ? 0 : BIT(3));
			b->insns[0].naccesses = 1;
			b->accesses[0].store = store;
			expect_same(&m, b, alternate);
		}
}

/* A store after a long wait for a value that was made in the block. */
static void late_accesses_are_no_early_ones(void **state)
{
	static const uint16_t latencies[] = {65532, 65533, 65534, 65535};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(latencies) / sizeof(latencies[0]); i++) {
		struct block *b = make_block(3);
		struct vt_core m = narrow();

		b->ops[0].uops[0].latency = latencies[i];
		b->ops[1] = make_op(VT_OP_INT, BIT(3), BIT(4));
		b->ops[2] = make_op(VT_OP_LOAD, BIT(4), 0);
		b->insns[2].naccesses = 1;
		expect_same(&m, b, alternate);
	}
}

/* Each instruction loads and stores, mostly to what is there. */
static void move_some(struct block *b, unsigned time)
{
	uint32_t i;

	for (i = 0; i < b->n; i++) {
		b->accesses[2 * i].addr = 0x100 + 8 * (uint64_t)(i % 4);
		b->accesses[2 * i + 1].addr = 0x120 + 8 * (uint64_t)((i + time) % 4);
	}
	b->accesses[0].addr = 0x100 + 0x40 * (uint64_t)(time % 3);
	b->accesses[2 * b->n - 1].addr = 0x120 + 0x40 * (uint64_t)(time % 5);
}

/* Two accesses each, and one fetch of the line: 255, 257 and many questions to memory. */
static void blocks_ask_memory_often(void **state)
{
	static const uint32_t sizes[] = {1, 2, 127, 128, 129, 200, 256};
	unsigned i;
	uint32_t k;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct block *b = make_block(sizes[i]);
		struct vt_core m = narrow();

		m.write_buffer = 2;
		m.drain = 3;
		for (k = 0; k < b->n; k++) {
			b->ops[k].nuops = 2;
			b->ops[k].uops[0].op_class = VT_OP_LOAD;
			b->ops[k].uops[1] = b->ops[k].uops[0];
			b->ops[k].uops[1].op_class = VT_OP_STORE;
			b->insns[k].naccesses = 2;
		}
		expect_same(&m, b, move_some);
	}
}

/* An operation that loads two lines at once, one of them or none of which is there. */
static void move_two(struct block *b, unsigned time)
{
	b->accesses[0].addr = 0x100 + 0x40 * (uint64_t)(time / 2 % 2);
	b->accesses[1].addr = 0x220 + 0x40 * (uint64_t)(time / 4 % 2);
	b->accesses[2].addr = 0x100 + 0x40 * (uint64_t)(time / 8 % 2);
	if (time > 64) {
		b->accesses[0].addr = 0x100 * (uint64_t)(time * 7 % 5 + 1) + 0x20 * (time * 3 % 4);
		b->accesses[1].addr = 0x100 * (uint64_t)(time * 5 % 3 + 1) + 0x20 * (time * 5 % 7);
	}
}

static void operations_ask_for_all_their_lines(void **state)
{
	struct block *b = make_block(3);
	struct vt_core m = narrow();

	(void)state;
	b->ops[0] = make_op(VT_OP_LOAD, 0, BIT(3));
	b->insns[0].naccesses = 2;
	b->accesses[1].store = false;
	b->ops[1] = make_op(VT_OP_LOAD, 0, BIT(4));
	b->insns[1].naccesses = 1;
	b->ops[2] = make_op(VT_OP_INT, BIT(3) | BIT(4), 0);
	m.dtlb = (struct vt_tlb_shape){.entries = 2, .ways = 2, .page = 256, .latency = 9};
	expect_same(&m, b, move_two);
	/* Two operations that load, and one access only. */
	b = make_block(3);
	b->ops[0] = make_op(VT_OP_LOAD, 0, BIT(3));
	b->ops[0].nuops = 2;
	b->ops[0].uops[1] = b->ops[0].uops[0];
	b->insns[0].naccesses = 1;
	expect_same(&m, b, move_two);
}

/* Any time, whether much is known of the block or nothing. */
static void blocks_may_be_expected(void **state)
{
	struct vt_mop op = make_op(VT_OP_INT, 0, 0);
	struct vt_sim_insn insn = {.op = &op, .addr = 0x1000};
	struct vt_sim_block b = {.insns = &insn, .ninsns = 1};
	const struct vt_core m = narrow();
	struct latest l;
	struct vt_simcore *c = start(&m, &l);
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++) {
		vt_sim_block_expect(&b, false);
		vt_sim_block_expect(&b, true);
		vt_simcore_run_block(c, &b, 0x1000, UINT64_MAX);
		/* 20 cycles for the line, then one each. */
		assert_int_equal(vt_simcore_cycle(c), 20 + i);
	}
	vt_sim_block_fini(&b);
	assert_null(b.memo);
	vt_simcore_free(c);
}

/* Lines of code that are fetched behind each other, where one has room, and far from each other. */
static void blocks_miss_in_their_middle(void **state)
{
	static const uint64_t apart[] = {4, 20, 65535, 65536, 0x11000, 0x21000};
	unsigned i, fetch;

	(void)state;
	for (i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		for (fetch = 1; fetch <= 4; fetch++) {
			struct block *b = make_block(6);
			struct vt_core m = narrow();
			uint32_t k;

			m.fetch = fetch;
			m.icache = (struct vt_cache_shape){.size = 64, .line = 16, .ways = 1};
			m.itlb = (struct vt_tlb_shape){
				.entries = 2, .ways = 2, .page = 4096, .latency = 9};
			for (k = 3; k < b->n; k++)
				b->insns[k].addr += apart[i] - 4;
			b->ops[0] = make_op(VT_OP_LOAD, 0, BIT(3));
			b->insns[0].naccesses = 1;
			b->insns[2].next = b->insns[3].addr;
			/* Where they are far, the last one is near again. */
			if (apart[i] > 100)
				b->insns[5].addr = 0x1060;
			expect_same(&m, b, alternate);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_told_of_each_instruction),
		cmocka_unit_test(pages_and_lines_of_code_are_told_apart),
		cmocka_unit_test(unknown_instructions_have_a_byte),
		cmocka_unit_test(groups_are_fetched_ahead),
		cmocka_unit_test(two_accesses_are_shared_out),
		cmocka_unit_test(lines_are_powers_of_2),
		cmocka_unit_test(drained_machines_wait_for_nothing),
		cmocka_unit_test(long_waits_are_no_short_ones),
		cmocka_unit_test(late_accesses_are_no_early_ones),
		cmocka_unit_test(blocks_ask_memory_often),
		cmocka_unit_test(operations_ask_for_all_their_lines),
		cmocka_unit_test(blocks_may_be_expected),
		cmocka_unit_test(blocks_miss_in_their_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
