/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions that are followed through a modelled machine, in cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/memory.h"
#include "machine/pipeline/sim.h"

#define BIT(reg) (UINT64_C(1) << (reg))
#define WRONG	 0x1004 /* where the branch at 0x1002 does not go */
#define RIGHT	 0x5000

/* What was followed, and which comes next. */
struct log {
	struct vt_sim_followed f[256];
	bool executed[256];
	unsigned n;
	uint64_t every;
	unsigned retired;
};

static uint64_t follow(void *arg, const struct vt_sim_followed *f)
{
	struct log *log = arg;

	assert_true(log->n < 256);
	log->executed[log->n] = f->insn != NULL;
	log->f[log->n++] = *f;
	return log->every;
}

static void retire(void *arg, const struct vt_sim_retired *r)
{
	struct log *log = arg;

	(void)r;
	log->retired++;
}

/* Nops, with `je` at 0x1006. */
static size_t read_nops(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	(void)arg;
	memset(code, 0x90, size);
	if (addr == 0x1006 && size >= 2)
		code[0] = 0x74;
	return size;
}

/* Two nops. */
static size_t read_little(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	read_nops(arg, addr, code, size);
	return addr < WRONG + 2 ? size : 0;
}

static struct vt_core make_core(enum vt_order order)
{
	return (struct vt_core){
		.order = order,
		.fetch = 2,
		.decode = 2,
		.issue = 2,
		.retire = 2,
		.front = 4,
		.rob = 32,
		.queue = 16,
		.stores = 4,
		.mispredict = 10,
		.forward = 5,
		.icache = {.size = 8192, .line = 4096, .ways = 1},
		.dcache = {.size = 64, .line = 32, .ways = 1},
		.memory = 20,
	};
}

static struct vt_mop make_op(enum vt_op_class c, uint16_t latency, uint64_t reads, uint64_t writes)
{
	struct vt_mop op = {.length = 2, .nuops = 1, .slots = 1, .reads = reads, .writes = writes};

	op.uops[0] = (struct vt_uop){.op_class = (uint8_t)c,
				     .operands = VT_UOP_READS | VT_UOP_WRITES,
				     .latency = latency,
				     .busy = 1};
	if (c == VT_OP_LOAD)
		op.flags = VT_FACT_LOAD;
	return op;
}

static struct vt_simcore *start(const struct vt_core *core, struct log *log, vt_sim_code_fn *code,
				uint64_t first, uint64_t every)
{
	struct vt_sim_hooks hooks = {.retire = retire, .code = code, .arg = log, .follow = follow};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_simcore *c = vt_simcore_new(core, &hooks, &err);

	assert_non_null(c);
	memset(log, 0, sizeof(*log));
	log->every = every;
	vt_simcore_follow(c, first);
	return c;
}

static void run(struct vt_simcore *c, const struct vt_mop *op, uint64_t addr, uint64_t next,
		uint64_t loaded)
{
	struct vt_sim_access access = {loaded, 8, false};
	struct vt_sim_insn in = {.op = op,
				 .tag = addr,
				 .addr = addr,
				 .next = next,
				 .naccesses = loaded ? 1 : 0,
				 .accesses = &access};

	in.target = op->flags & VT_FACT_CONDITIONAL ? RIGHT : 0;
	vt_simcore_run(c, &in);
}

/* Cycles from the fetch to each later stage. */
static void expect_stages(const struct vt_sim_followed *f, uint64_t placed, uint64_t ready,
			  uint64_t issued, uint64_t done, uint64_t ended)
{
	assert_int_equal(f->placed - f->fetched, placed);
	assert_int_equal(f->ready - f->fetched, ready);
	assert_int_equal(f->issued - f->fetched, issued);
	assert_int_equal(f->done - f->fetched, done);
	assert_int_equal(f->ended - f->fetched, ended);
}

/* The page is fetched in 20 cycles; a load that misses takes 3 + 20, and who needs it waits. */
static void stages_out_of_order(void **state)
{
	struct vt_mop load = make_op(VT_OP_LOAD, 3, 0, BIT(1)), add = make_op(VT_OP_INT, 1, 2, 4);
	struct vt_core core = make_core(VT_OUT_OF_ORDER);
	static struct log log;
	struct vt_simcore *c = start(&core, &log, NULL, 1, 1);

	(void)state;
	run(c, &load, 0x1000, 0x1002, 0x40);
	run(c, &add, 0x1002, 0x1004, 0);
	run(c, &load, 0x1004, 0x1006, 0x48);
	vt_simcore_free(c);
	assert_int_equal(log.n, 3);
	assert_int_equal(log.retired, 3);
	expect_stages(&log.f[0], 23, 24, 24, 47, 47);
	assert_int_equal(log.f[0].fetch_missed, VT_MISS_L1);
	assert_int_equal(log.f[0].load, 23);
	assert_int_equal(log.f[0].load_missed, VT_MISS_L1);
	assert_int_equal(log.f[0].data_missed, VT_MISS_L1);
	assert_int_equal(log.f[1].fetched, log.f[0].fetched + 20);
	expect_stages(&log.f[1], 3, 27, 27, 28, 28);
	assert_int_equal(log.f[1].load, 0);
	assert_int_equal(log.f[1].fetch_missed, 0);
	/* A cycle later, to a line that is on its way: it retires behind the addition. */
	assert_int_equal(log.f[2].fetched, log.f[0].fetched + 21);
	expect_stages(&log.f[2], 3, 4, 4, 26, 27);
	assert_int_equal(log.f[2].load, 22);
}

/* The same in order: the third waits for the second to be issued. */
static void stages_in_order(void **state)
{
	struct vt_mop load = make_op(VT_OP_LOAD, 3, 0, BIT(1)), add = make_op(VT_OP_INT, 1, 2, 4);
	struct vt_core core = make_core(VT_IN_ORDER);
	static struct log log;
	struct vt_simcore *c = start(&core, &log, NULL, 1, 1);

	(void)state;
	run(c, &load, 0x1000, 0x1002, 0x40);
	run(c, &add, 0x1002, 0x1004, 0);
	run(c, &load, 0x1004, 0x1006, 0);
	vt_simcore_free(c);
	assert_int_equal(log.n, 3);
	expect_stages(&log.f[0], 20, 20, 20, 43, 43);
	assert_int_equal(log.f[0].load, 23);
	assert_int_equal(log.f[0].load_missed, VT_MISS_L1);
	assert_int_equal(log.f[0].fetch_missed, VT_MISS_L1);
	expect_stages(&log.f[1], log.f[1].placed - log.f[1].fetched,
		      log.f[0].done - log.f[1].fetched, log.f[0].done - log.f[1].fetched,
		      log.f[0].done + 1 - log.f[1].fetched, log.f[0].done + 1 - log.f[1].fetched);
	assert_int_equal(log.f[1].placed, log.f[0].placed);
	assert_int_equal(log.f[2].issued, log.f[1].issued);
	assert_int_equal(log.f[2].ready, log.f[2].placed);
	assert_int_equal(log.f[2].load, 3);
}

/* A branch that is mispredicted after 8 cycles; then another instruction. */
static void go_wrong(struct vt_simcore *c)
{
	struct vt_mop slow = make_op(VT_OP_FADD, 8, 0, 1), nop = make_op(VT_OP_INT, 1, 0, 0);
	struct vt_mop branch = make_op(VT_OP_BRANCH, 1, 1, 0);

	branch.flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	run(c, &slow, 0x1000, 0x1002, 0);
	run(c, &branch, 0x1002, RIGHT, 0);
	run(c, &nop, RIGHT, RIGHT + 2, 0);
}

/*
 * The branch is fetched in cycle 20 with the page and done in 20 + 4 + 8 + 1.  From 21 on two nops
 * are fetched a cycle, and are placed 3 cycles later if the branch is not known by then.
 */
static void wrong_paths_are_followed(void **state)
{
	struct vt_core core = make_core(VT_OUT_OF_ORDER);
	static struct log log;
	struct vt_simcore *c = start(&core, &log, read_nops, 1, 1);
	uint64_t begun, end, empty;
	unsigned i, n;

	(void)state;
	go_wrong(c);
	begun = log.f[0].fetched + 20;
	end = begun + 13;
	assert_int_equal(log.f[1].fetched, begun);
	assert_int_equal(log.f[1].done, end);
	assert_true(log.f[1].mispredicted);
	n = log.n - 3;
	assert_int_equal(n, 2 * (end - begun - 1));
	assert_int_equal(vt_simcore_astray(c, &empty), n);
	assert_int_equal(empty, 0);
	assert_int_equal(log.retired, 3);
	for (i = 0; i < n; i++) {
		const struct vt_sim_followed *f = &log.f[2 + i];
		uint64_t fetched = begun + 1 + i / 2;

		assert_false(log.executed[2 + i]);
		/* A branch of two bytes is the third of them. */
		assert_int_equal(f->addr, WRONG + i + (i > 2));
		assert_int_equal(f->fetched, fetched);
		assert_int_equal(f->placed, fetched + 3 < end ? fetched + 3 : 0);
		assert_int_equal(f->ended, end);
		/* The first branch was taken to be not taken, as the second. */
		assert_int_equal(f->nhistory, 1);
		assert_int_equal(f->history, 0);
	}
	assert_int_equal(log.f[4].flags & VT_FACT_CONDITIONAL, VT_FACT_CONDITIONAL);
	assert_true(log.executed[log.n - 1]);
	assert_int_equal(log.f[log.n - 1].addr, RIGHT);
	assert_int_equal(log.f[log.n - 1].nhistory, 1);
	assert_int_equal(log.f[log.n - 1].history, 1);
	vt_simcore_free(c);
}

/* Where code is not known, slots are empty, and nothing is followed. */
static void unknown_code_is_counted(void **state)
{
	struct vt_core core = make_core(VT_OUT_OF_ORDER);
	static struct log log;
	struct vt_simcore *c = start(&core, &log, read_little, 1, 1);
	uint64_t empty;

	(void)state;
	go_wrong(c);
	assert_int_equal(log.n, 5);
	assert_int_equal(vt_simcore_astray(c, &empty), 2);
	assert_int_equal(empty, 22);
	vt_simcore_free(c);
	/* Nor is more than the reorder buffer holds, and a group. */
	core.rob = 8;
	c = start(&core, &log, NULL, 1, 1);
	go_wrong(c);
	assert_int_equal(log.n, 3);
	assert_int_equal(vt_simcore_astray(c, &empty), 0);
	assert_int_equal(empty, 10);
	vt_simcore_free(c);
}

/* The counter goes on, on wrong paths as on others. */
static void every_third_is_followed(void **state)
{
	struct vt_core core = make_core(VT_OUT_OF_ORDER);
	static struct log all, some;
	struct vt_simcore *c = start(&core, &all, read_nops, 1, 1);
	unsigned i;

	(void)state;
	go_wrong(c);
	go_wrong(c);
	vt_simcore_free(c);
	c = start(&core, &some, read_nops, 2, 3);
	go_wrong(c);
	go_wrong(c);
	vt_simcore_free(c);
	assert_int_equal(some.n, (all.n + 1) / 3);
	for (i = 0; i < some.n; i++) {
		assert_int_equal(some.f[i].addr, all.f[1 + 3 * i].addr);
		assert_int_equal(some.f[i].fetched, all.f[1 + 3 * i].fetched);
		assert_int_equal(some.f[i].ended, all.f[1 + 3 * i].ended);
		assert_int_equal(some.executed[i], all.executed[1 + 3 * i]);
	}
	/* None, and none any more. */
	c = start(&core, &some, read_nops, 1, 0);
	go_wrong(c);
	go_wrong(c);
	vt_simcore_free(c);
	assert_int_equal(some.n, 1);
}

#define TIMES 40

/* Blocks that are run as a whole, in order: what is followed of them is the same. */
static void blocks_are_followed(void **state)
{
	struct vt_mop ops[] = {make_op(VT_OP_LOAD, 3, 0, BIT(1)), make_op(VT_OP_INT, 1, 2, 4),
			       make_op(VT_OP_BRANCH, 1, 4, 0)};
	struct vt_core core = make_core(VT_IN_ORDER);
	static struct log logs[2];
	unsigned i, k, way;

	(void)state;
	ops[2].flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	for (way = 0; way < 2; way++) {
		struct vt_sim_access access = {0x40, 8, false};
		struct vt_sim_insn insns[3];
		struct vt_sim_block b = {.insns = insns, .ninsns = 3};
		struct vt_simcore *c = start(&core, &logs[way], NULL, 5, 7);

		for (k = 0; k < 3; k++)
			insns[k] = (struct vt_sim_insn){.op = &ops[k],
							.tag = k,
							.addr = 0x1000 + 2 * k,
							.next = 0x1002 + 2 * k,
							.naccesses = k == 0,
							.accesses = &access};
		insns[2].target = 0x1000;
		for (i = 0; i < TIMES; i++) {
			access.addr = 0x40 + 32 * (i % 3);
			vt_simcore_run_block(c, &b, i % 5 == 4 ? 0x1006 : 0x1000,
					     way ? UINT64_MAX : 0);
		}
		vt_sim_block_fini(&b);
		vt_simcore_free(c);
	}
	assert_int_equal(logs[0].n, (3 * TIMES - 5) / 7 + 1);
	assert_int_equal(logs[1].n, logs[0].n);
	assert_true(logs[1].retired < logs[0].retired);
	for (i = 0; i < logs[0].n; i++) {
		const struct vt_sim_followed *f = &logs[0].f[i], *g = &logs[1].f[i];

		assert_int_equal(f->addr, g->addr);
		assert_int_equal(f->fetched, g->fetched);
		assert_int_equal(f->ready, g->ready);
		assert_int_equal(f->issued, g->issued);
		assert_int_equal(f->done, g->done);
		assert_int_equal(f->load, g->load);
		assert_int_equal(f->data_missed, g->data_missed);
		assert_int_equal(f->mispredicted, g->mispredicted);
		assert_int_equal(f->history, g->history);
		assert_int_equal(f->nhistory, g->nhistory);
	}
	assert_int_equal(logs[0].f[1].history, 0x7);
	assert_int_equal(logs[0].f[1].nhistory, 3);
}

/* Branches before a switch of threads, or an unknown one, are not those of this path. */
static void history_begins_anew(void **state)
{
	struct vt_mop nop = make_op(VT_OP_INT, 1, 0, 0), branch = make_op(VT_OP_BRANCH, 1, 0, 0);
	static const enum vt_order orders[] = {VT_OUT_OF_ORDER, VT_IN_ORDER};
	unsigned i;

	(void)state;
	branch.flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	for (i = 0; i < 2; i++) {
		struct vt_core core = make_core(orders[i]);
		static struct log log;
		struct vt_simcore *c = start(&core, &log, NULL, 1, 1);

		run(c, &branch, 0x1000, RIGHT, 0);
		run(c, &branch, RIGHT, RIGHT + 2, 0);
		run(c, &nop, RIGHT + 2, RIGHT + 4, 0);
		vt_simcore_drain(c);
		run(c, &branch, RIGHT + 4, RIGHT + 6, 0);
		run(c, &nop, RIGHT + 6, 0, 0);
		run(c, &nop, 0x1000, 0x1002, 0);
		vt_simcore_free(c);
		assert_int_equal(log.n, 6);
		assert_int_equal(log.f[2].nhistory, 2);
		assert_int_equal(log.f[2].history, 2);
		assert_int_equal(log.f[3].nhistory, 0);
		assert_int_equal(log.f[4].nhistory, 1);
		assert_int_equal(log.f[5].nhistory, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_out_of_order),
		cmocka_unit_test(stages_in_order),
		cmocka_unit_test(wrong_paths_are_followed),
		cmocka_unit_test(unknown_code_is_counted),
		cmocka_unit_test(every_third_is_followed),
		cmocka_unit_test(blocks_are_followed),
		cmocka_unit_test(history_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
