/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What dynamic events cost a machine that issues in order, and whose they are: kernels of a few
 * instructions whose times were worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/memory.h"
#include "machine/pipeline/sim.h"

#define BIT(reg) ((uint64_t)1 << (reg))
#define MEMORY	 20
#define PENALTY	 7

/* What came out, in order. */
struct log {
	struct vt_sim_retired r[32];
	struct vt_inorder_stall stalls[32][VT_INORDER_STALLS];
	unsigned n;
};

static void retire(void *arg, const struct vt_sim_retired *r)
{
	struct log *log = arg;

	assert_true(log->n < 32);
	log->r[log->n] = *r;
	memcpy(log->stalls[log->n], r->stalls, r->nstalls * sizeof(*r->stalls));
	log->n++;
}

static void make_core(struct vt_core *m)
{
	memset(m, 0, sizeof(*m));
	m->order = VT_IN_ORDER;
	m->fetch = m->decode = m->issue = m->retire = 1;
	m->mispredict = PENALTY;
	m->memory = MEMORY;
	m->icache = (struct vt_cache_shape){.size = 4096, .line = 4096, .ways = 1};
	m->dcache = (struct vt_cache_shape){.size = 64, .line = 32, .ways = 1};
}

static struct vt_mop make_op(enum vt_op_class op_class, uint64_t reads, uint64_t writes)
{
	struct vt_mop op = {.length = 4, .nuops = 1, .slots = 1, .writes = writes};

	op.reads = op_class == VT_OP_LOAD ? 0 : reads;
	op.address_reads = op_class == VT_OP_LOAD ? reads : 0;
	op.uops[0] = (struct vt_uop){
		.op_class = (uint8_t)op_class,
		.operands = VT_UOP_READS | VT_UOP_ADDRESS | VT_UOP_WRITES,
		.latency = 1,
		.busy = 1,
	};
	return op;
}

/* Runs ops[i] as instruction i, four bytes each from 0x1000 on, with one access each or none. */
static void run(const struct vt_core *m, const struct vt_mop *ops, const uint64_t *addresses,
		unsigned n, struct log *log)
{
	struct vt_sim_hooks hooks = {.retire = retire, .arg = log};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_simcore *c = vt_simcore_new(m, &hooks, &err);
	unsigned i;

	assert_non_null(c);
	memset(log, 0, sizeof(*log));
	for (i = 0; i < n; i++) {
		bool store = ops[i].uops[0].op_class == VT_OP_STORE;
		struct vt_sim_access access = {addresses ? addresses[i] : 0, 8, store};
		struct vt_sim_insn insn = {
			.op = &ops[i],
			.tag = i,
			.addr = 0x1000 + 4 * (uint64_t)i,
			.next = 0x1004 + 4 * (uint64_t)i,
			.naccesses = access.addr ? 1 : 0,
			.accesses = &access,
		};

		vt_simcore_run(c, &insn);
	}
	vt_simcore_drain(c);
	assert_int_equal(log->n, n);
	vt_simcore_free(c);
}

static void assert_stall(const struct log *log, unsigned i, enum vt_stall_cause cause, uint64_t by,
			 uint32_t cycles)
{
	unsigned k;

	for (k = 0; k < log->r[i].nstalls; k++)
		if (log->stalls[i][k].cause == cause) {
			assert_int_equal(log->stalls[i][k].slots, cycles);
			assert_int_equal(log->stalls[i][k].by, by);
			return;
		}
	fail_msg("no such stall");
}

/* Who needs the data waits, not the load, nor what comes between. */
static void load_misses(void **state)
{
	struct vt_mop ops[4] = {make_op(VT_OP_LOAD, 0, BIT(1)), make_op(VT_OP_INT, BIT(2), BIT(2)),
				make_op(VT_OP_INT, BIT(1), BIT(3)), make_op(VT_OP_LOAD, 0, BIT(1))};
	const uint64_t addresses[4] = {0x100, 0, 0, 0x108};
	struct vt_core m;
	struct log log;

	(void)state;
	make_core(&m);
	run(&m, ops, addresses, 4, &log);
	assert_int_equal(log.r[1].head, 1);
	/* The data was there MEMORY cycles late; the one between took the first of them. */
	assert_int_equal(log.r[2].cycle, log.r[0].cycle + 1 + MEMORY);
	assert_stall(&log, 2, VT_STALL_DCACHE, 0, MEMORY - 1);
	assert_int_equal(log.r[0].data_missed, VT_MISS_L1);
	assert_int_equal(log.r[3].data_missed, 0);
	assert_int_equal(log.r[3].head, 1);
}

/* Both parts of what a page that is not known, and a line that is not there, cost. */
static void pages(void **state)
{
	struct vt_mop ops[2] = {make_op(VT_OP_LOAD, 0, BIT(1)), make_op(VT_OP_INT, BIT(1), BIT(3))};
	const uint64_t addresses[2] = {0x5000, 0};
	struct vt_core m;
	struct log log;

	(void)state;
	make_core(&m);
	m.dtlb = (struct vt_tlb_shape){.entries = 2, .ways = 2, .page = 4096, .latency = 9};
	run(&m, ops, addresses, 2, &log);
	assert_stall(&log, 1, VT_STALL_DTLB, 0, 9);
	assert_stall(&log, 1, VT_STALL_DCACHE, 0, MEMORY);
	assert_int_equal(log.r[1].head, 1 + 9 + MEMORY);
}

/* The first instruction of each line waits for it, from when the one before was issued. */
static void fetch_misses(void **state)
{
	struct vt_mop ops[17];
	struct vt_core m;
	struct log log;
	unsigned i;

	(void)state;
	make_core(&m);
	m.icache = (struct vt_cache_shape){.size = 64, .line = 32, .ways = 1};
	for (i = 0; i < 17; i++)
		ops[i] = make_op(VT_OP_INT, 0, 0);
	run(&m, ops, NULL, 17, &log);
	for (i = 1; i < 17; i++) {
		assert_int_equal(log.r[i].head, i % 8 ? 1 : MEMORY);
		assert_int_equal(log.r[i].fetch_missed, i % 8 ? 0 : VT_MISS_L1);
		if (i % 8 == 0)
			assert_stall(&log, i, VT_STALL_ICACHE, i, MEMORY - 1);
	}
}

/* A miss behind a mispredicted branch begins when the right path is known. */
static void wrong_path(void **state)
{
	struct vt_mop ops[10];
	struct vt_core m;
	struct log log;
	unsigned i;

	(void)state;
	make_core(&m);
	m.icache = (struct vt_cache_shape){.size = 64, .line = 32, .ways = 1};
	for (i = 0; i < 10; i++)
		ops[i] = make_op(VT_OP_INT, 0, 0);
	/* A return with no stack of return addresses is predicted to go nowhere near. */
	ops[7] = make_op(VT_OP_BRANCH, 0, 0);
	ops[7].flags = VT_FACT_BRANCH | VT_FACT_RETURN;
	ops[7].length = 2;
	run(&m, ops, NULL, 10, &log);
	assert_true(log.r[7].mispredicted);
	assert_stall(&log, 8, VT_STALL_MISPREDICT, 7, PENALTY - 1);
	assert_stall(&log, 8, VT_STALL_ICACHE, 8, MEMORY);
	assert_int_equal(log.r[8].head, PENALTY + MEMORY);
	assert_int_equal(log.r[9].head, 1);
}

/* One line is in the buffer, and being written, when the next store comes. */
static void write_buffer(void **state)
{
	struct vt_mop ops[2] = {make_op(VT_OP_STORE, 0, 0), make_op(VT_OP_STORE, 0, 0)};
	const uint64_t addresses[2] = {0x100, 0x200};
	struct vt_core m;
	struct log log;

	(void)state;
	make_core(&m);
	m.dcache.size = 0;
	m.memory = 0;
	m.write_buffer = 1;
	m.drain = 10;
	run(&m, ops, addresses, 2, &log);
	/* The first went in at 1 and is out at 11; the second came at 2. */
	assert_int_equal(log.r[0].cycle, 1);
	assert_int_equal(log.r[1].cycle, 11);
	assert_stall(&log, 1, VT_STALL_WRITE_BUFFER, 1, 9);
	assert_int_equal(log.r[1].data_missed, VT_MISS_BUFFER);
}

/* Where an instruction of four bytes at 0x100 goes on to. */
static bool is_taken(uint32_t flags, uint64_t next)
{
	const struct vt_mop op = {.length = 4, .flags = flags};
	const struct vt_sim_insn insn = {.op = &op, .addr = 0x100, .next = next};

	return vt_sim_insn_taken(&insn);
}

static void taken(void **state)
{
	(void)state;
	assert_true(is_taken(VT_FACT_BRANCH | VT_FACT_CONDITIONAL, 0x80));
	assert_true(is_taken(VT_FACT_BRANCH | VT_FACT_CONDITIONAL, 0x105));
	assert_false(is_taken(VT_FACT_BRANCH | VT_FACT_CONDITIONAL, 0x104));
	assert_true(is_taken(VT_FACT_BRANCH | VT_FACT_JUMP, 0x80));
	assert_true(is_taken(VT_FACT_BRANCH | VT_FACT_JUMP, 0x104));
	assert_true(is_taken(VT_FACT_BRANCH | VT_FACT_CALL, 0x104));
	/* Where it went is not known; a signal came; an instruction like others. */
	assert_false(is_taken(VT_FACT_BRANCH | VT_FACT_JUMP, 0));
	assert_false(is_taken(0, 0x80));
	assert_false(is_taken(0, 0x104));
}

/* A line is fetched at once: log2 of its bytes, rounded down; one byte without a cache. */
static void fetches_by_lines(void **state)
{
	static const struct {
		uint32_t size, line;
		unsigned shift;
	} lines[] = {{4096, 64, 6}, {4096, 63, 5}, {4096, 2, 1}, {4096, 1, 0}, {0, 64, 0}};
	struct vt_core m;
	unsigned i;

	(void)state;
	make_core(&m);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		m.icache.size = lines[i].size;
		m.icache.line = lines[i].line;
		assert_int_equal(vti_sim_line_shift(&m), lines[i].shift);
	}
}

/*
 * Loads of the lines A, A and B, and a store to C between them, where two lines have room: who
 * misses, and when.  With one load in the operation all go with it, and the slowest counts.
 */
static void shares_out_accesses(void **state)
{
	const struct vt_sim_access at[] = {
		{0x100, 8, false}, {0x108, 8, false}, {0x540, 8, true}, {0x220, 8, false}};
	struct vt_mop op = make_op(VT_OP_LOAD, 0, BIT(1));
	struct vt_sim_insn insn = {.op = &op, .naccesses = 4, .accesses = at};
	struct vt_sim_retired r = {0};
	struct vt_simmem_access a;
	struct vt_simmem *mem;
	struct vt_core m;

	(void)state;
	make_core(&m);
	mem = vt_simmem_new(&m);
	assert_non_null(mem);
	op.nuops = 2;
	op.uops[1] = op.uops[0];
	/* The first of two loads: A alone. */
	a = vti_sim_access(mem, &insn, false, 0, 50, &r);
	assert_int_equal(a.cycles, MEMORY);
	assert_int_equal(r.access_cycle, 50);
	assert_int_equal(r.data_missed, VT_MISS_L1);
	/* The second: A again, which is there by now, and B, which is not and takes longer. */
	r.data_missed = 0;
	a = vti_sim_access(mem, &insn, false, 1, 100, &r);
	assert_int_equal(a.cycles, MEMORY);
	assert_int_equal(r.access_cycle, 50);
	assert_int_equal(r.data_missed, VT_MISS_L1);
	/* Everything is there now; a third load that there is no access for takes nothing. */
	r = (struct vt_sim_retired){0};
	a = vti_sim_access(mem, &insn, false, 0, 200, &r);
	assert_int_equal(a.cycles, 0);
	assert_int_equal(r.data_missed, 0);
	a = vti_sim_access(mem, &insn, false, 1, 201, &r);
	assert_int_equal(a.cycles, 0);
	assert_int_equal(r.access_cycle, 200);
	r = (struct vt_sim_retired){0};
	a = vti_sim_access(mem, &insn, false, 3, 202, &r);
	assert_int_equal(a.cycles, 0);
	assert_int_equal(r.access_cycle, 0);
	vt_simmem_free(mem);

	/* One load for all three accesses: the first begins, the slowest counts. */
	mem = vt_simmem_new(&m);
	assert_non_null(mem);
	op.nuops = 1;
	vt_simmem_load(mem, 1, 0x220, 8);
	r = (struct vt_sim_retired){0};
	a = vti_sim_access(mem, &insn, false, 0, 300, &r);
	assert_int_equal(a.cycles, MEMORY);
	assert_int_equal(r.access_cycle, 300);
	assert_int_equal(r.data_missed, VT_MISS_L1);
	vt_simmem_free(mem);
}

/* A block's last instruction goes on where the call says, whatever it says itself. */
static void blocks_go_on_where_they_are_told(void **state)
{
	struct vt_mop op = make_op(VT_OP_BRANCH, 0, 0);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	unsigned taken;

	(void)state;
	make_core(&m);
	op.flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	for (taken = 0; taken < 2; taken++) {
		struct log log = {.n = 0};
		struct vt_sim_hooks hooks = {.retire = retire, .arg = &log};
		struct vt_simcore *c = vt_simcore_new(&m, &hooks, &err);
		/* It says the opposite. */
		struct vt_sim_insn insn = {
			.op = &op, .addr = 0x1000, .next = taken ? 0x1004 : 0x1800};
		struct vt_sim_block b = {.insns = &insn, .ninsns = 1};

		assert_non_null(c);
		vt_simcore_run_block(c, &b, taken ? 0x1800 : 0x1004, 0);
		vt_simcore_drain(c);
		assert_int_equal(log.n, 1);
		/* What was never seen is predicted not to be taken. */
		assert_int_equal(log.r[0].mispredicted, taken);
		vt_sim_block_fini(&b);
		vt_simcore_free(c);
	}
}

/* The narrowest stage counts; a stage of 0 has no limit. */
static void width_of_the_narrowest_stage(void **state)
{
	static const struct vt_core cores[] = {
		{.fetch = 2, .decode = 3, .issue = 4, .retire = 5},
		{.fetch = 9, .decode = 3, .issue = 4, .retire = 5},
		{.fetch = 9, .decode = 8, .issue = 4, .retire = 5},
		{.fetch = 9, .decode = 0, .issue = 6, .retire = 5},
		{.issue = 6},
		{.issue = 0},
	};
	static const uint32_t widths[] = {2, 3, 4, 5, 6, 1};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		assert_int_equal(vt_sim_width(&cores[i]), widths[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(load_misses),
		cmocka_unit_test(pages),
		cmocka_unit_test(fetch_misses),
		cmocka_unit_test(wrong_path),
		cmocka_unit_test(write_buffer),
		cmocka_unit_test(taken),
		cmocka_unit_test(fetches_by_lines),
		cmocka_unit_test(shares_out_accesses),
		cmocka_unit_test(blocks_go_on_where_they_are_told),
		cmocka_unit_test(width_of_the_narrowest_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
