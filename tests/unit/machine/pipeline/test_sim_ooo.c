/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded instructions on a core that issues out of order: what the engine is told of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/memory.h"
#include "machine/pipeline/sim.h"

#define WRONG	  0x1002 /* where a branch at 0x1000 does not go */
#define RIGHT	  0x5000
#define ELSEWHERE 0x9000 /* where code on the wrong path goes */

static struct vt_core core = {
	.order = VT_OUT_OF_ORDER,
	.fetch = 4,
	.decode = 4,
	.issue = 4,
	.retire = 4,
	.front = 4,
	.rob = 128,
	.queue = 64,
	.stores = 8,
	.mispredict = 10,
	.forward = 5,
	.predictor = VT_PREDICT_BIMODAL,
	.predictor_bits = 8,
	.icache = {.size = 8192, .line = 64, .ways = 8, .latency = 1},
	.dcache = {.size = 8192, .line = 64, .ways = 8, .latency = 3},
	.memory = 100,
};

/* The latest instruction, and its first stall, which does not stay where it is. */
struct latest {
	struct vt_sim_retired r;
	struct vt_inorder_stall stall;
};

static void note(void *arg, const struct vt_sim_retired *r)
{
	struct latest *last = arg;

	last->r = *r;
	last->r.stalls = NULL;
	memset(&last->stall, 0, sizeof(last->stall));
	if (r->nstalls)
		last->stall = r->stalls[0];
}

/* Nothing but nops, with a jump at 0x1050. */
static size_t nops(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	(void)arg;
	memset(code, 0x90, size);
	if (addr == 0x1050 && size >= 5) {
		int32_t by = ELSEWHERE - (0x1050 + 5);

		code[0] = 0xe9;
		memcpy(code + 1, &by, 4);
	}
	return size;
}

/* Code of which nothing is known. */
static size_t nothing(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	(void)arg;
	(void)addr;
	(void)code;
	(void)size;
	return 0;
}

/* Nops, but at 0x1050 an instruction that goes elsewhere. */
static const uint8_t *there;

static size_t nops_but_there(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	nops(arg, addr, code, size);
	if (addr == 0x1050)
		memcpy(code, there, 6);
	return size;
}

/* More than was asked for. */
static size_t too_many(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	return nops(arg, addr, code, size) + 1;
}

static struct vt_mop simple(enum vt_op_class c, uint16_t latency, unsigned reads, unsigned writes)
{
	struct vt_mop op = {.length = 2, .nuops = 1, .slots = 1, .reads = reads, .writes = writes};

	op.uops[0] = (struct vt_uop){.op_class = (uint8_t)c,
				     .operands = VT_UOP_READS | VT_UOP_WRITES,
				     .latency = latency,
				     .busy = 1};
	return op;
}

static void run(struct vt_simcore *c, const struct vt_mop *op, uint64_t addr, uint64_t next)
{
	struct vt_sim_insn in = {.op = op, .tag = addr, .addr = addr, .next = next};

	in.target = op->flags & VT_FACT_CONDITIONAL ? RIGHT : 0;
	vt_simcore_run(c, &in);
}

/* What fetching from `addr` misses after a branch that took long to be known to be wrong. */
static uint32_t missed_after(vt_sim_code_fn *code, uint16_t latency, uint64_t addr)
{
	struct vt_mop slow = simple(VT_OP_FADD, latency, 0, 1), nop = simple(VT_OP_INT, 1, 0, 0);
	struct vt_mop branch = simple(VT_OP_BRANCH, 1, 1, 0);
	struct latest last = {0};
	struct vt_sim_hooks hooks = {.retire = note, .code = code, .arg = &last};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_simcore *c = vt_simcore_new(&core, &hooks, &err);

	assert_non_null(c);
	branch.flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	run(c, &slow, 0xffe, 0x1000);
	run(c, &branch, 0x1000, RIGHT);
	assert_true(last.r.mispredicted);
	run(c, &nop, RIGHT, addr);
	assert_int_equal(last.stall.cause, VT_STALL_MISPREDICT);
	assert_int_equal(last.stall.by, 0x1000);
	run(c, &nop, addr, addr + 2);
	assert_int_equal(last.r.addr, addr);
	vt_simcore_free(c);
	return last.r.fetch_missed;
}

static void test_wrong_paths(void **state)
{
	(void)state;
	/* Enough time to come to the jump, and through it. */
	assert_int_equal(missed_after(nops, 1000, ELSEWHERE), 0);
	assert_int_equal(missed_after(nops, 1000, 0x1042), 0);
	/* Not to where it did not go, nor further than the reorder buffer is long. */
	assert_int_equal(missed_after(nops, 1000, 0x1080), VT_MISS_L1);
	assert_int_equal(missed_after(nops, 1000, ELSEWHERE + 128), VT_MISS_L1);
	/* Not enough time, or nothing known of the code. */
	assert_int_equal(missed_after(nops, 120, ELSEWHERE), VT_MISS_L1);
	assert_int_equal(missed_after(nothing, 1000, 0x1042), VT_MISS_L1);
	assert_int_equal(missed_after(NULL, 1000, 0x1042), VT_MISS_L1);
}

/*
 * Two lines are fetched at 0 and 99, the branch is placed in 201 and done in 104 + latency: from
 * 199 on the wrong path is fetched, four nops a cycle.
 */
static void test_wrong_paths_take_their_time(void **state)
{
	(void)state;
	/* Behind 62 nops, 15 cycles later, a line begins: in 214, where 214 is the end or is not.
	 */
	assert_int_equal(missed_after(nops, 110, 0x1040), VT_MISS_L1);
	assert_int_equal(missed_after(nops, 111, 0x1040), 0);
	/* It takes 99 cycles, up to 313, and another 5 end with the jump, the 79th: in 318. */
	assert_int_equal(missed_after(nops, 214, ELSEWHERE), VT_MISS_L1);
	assert_int_equal(missed_after(nops, 215, ELSEWHERE), 0);
	/* No more than the reorder buffer and a group: the 144th begins the next line there. */
	core.rob = 139;
	assert_int_equal(missed_after(nops, 1000, ELSEWHERE + 64), VT_MISS_L1);
	core.rob = 140;
	assert_int_equal(missed_after(nops, 1000, ELSEWHERE + 64), 0);
	core.rob = 128;
	/* A nop a cycle: the branch is fetched a cycle later, and 62 nops take 62 cycles. */
	core.fetch = 0;
	assert_int_equal(missed_after(nops, 158, 0x1040), VT_MISS_L1);
	assert_int_equal(missed_after(nops, 159, 0x1040), 0);
	core.fetch = 4;
	assert_int_equal(missed_after(too_many, 1000, 0x1042), VT_MISS_L1);
}

/* Whether ELSEWHERE, and the line behind it, is fetched behind an instruction at 0x1050. */
static void check_there(const char *code, bool elsewhere, bool behind)
{
	there = (const uint8_t *)code;
	assert_int_equal(missed_after(nops_but_there, 1000, ELSEWHERE), elsewhere ? 0 : VT_MISS_L1);
	assert_int_equal(missed_after(nops_but_there, 1000, 0x1080), behind ? 0 : VT_MISS_L1);
	assert_int_equal(missed_after(nops_but_there, 1000, 0x10), VT_MISS_L1);
}

static void test_wrong_paths_go_as_far_as_is_known(void **state)
{
	(void)state;
	/* 0x9000 - 0x1055 = 0x7fab, and one less behind an instruction of six bytes */
	check_there("\x90\x90\x90\x90\x90\x90", false, true);
	check_there("\xe9\xab\x7f\0\0\x90", true, false);      /* jmp */
	check_there("\xe8\xab\x7f\0\0\x90", true, false);      /* call */
	check_there("\x0f\x84\xaa\x7f\0\0", false, true);      /* je */
	check_there("\xc3\x90\x90\x90\x90\x90", false, false); /* ret */
	check_there("\xff\xe0\x90\x90\x90\x90", false, false); /* jmp *%rax */
	check_there("\xff\xd0\x90\x90\x90\x90", false, false); /* call *%rax */
	check_there("\x0f\x05\x90\x90\x90\x90", false, false); /* syscall */
	check_there("\x06\x90\x90\x90\x90\x90", false, false); /* none */
}

static void test_accesses(void **state)
{
	struct vt_mop load = simple(VT_OP_LOAD, 3, 0, 2), store = simple(VT_OP_STORE, 1, 1, 0);
	struct vt_sim_access reads = {0x20000, 8, false}, writes = {0x20040, 8, true};
	struct vt_sim_insn in = {.addr = 0x1000, .next = 0x1002, .naccesses = 1};
	struct latest last = {0};
	struct vt_sim_hooks hooks = {.retire = note, .arg = &last};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_simcore *c = vt_simcore_new(&core, &hooks, &err);

	(void)state;
	assert_non_null(c);
	in.op = &load;
	in.accesses = &reads;
	vt_simcore_run(c, &in);
	assert_int_equal(last.r.data_missed, VT_MISS_L1);
	assert_int_equal(last.r.done_cycle - last.r.access_cycle, 100);
	assert_int_equal(last.r.cycle, vt_simcore_cycle(c));
	in.op = &store;
	in.accesses = &writes;
	vt_simcore_run(c, &in);
	assert_int_equal(last.r.data_missed, VT_MISS_L1);
	/* What the store has not written yet comes from it, though the line is not there. */
	in.op = &load;
	reads.addr = 0x20040;
	vt_simcore_run(c, &in);
	assert_int_equal(last.r.data_missed, 0);
	assert_int_equal(last.r.access_cycle, 0);
	/* Without addresses all hit. */
	in.naccesses = 0;
	vt_simcore_run(c, &in);
	assert_int_equal(last.r.data_missed, 0);
	vt_simcore_drain(c);
	vt_simcore_free(c);
}

/* ---- blocks ---- */

#define BLOCK 5
#define TIMES 12

struct told {
	struct vt_sim_retired r[BLOCK * TIMES];
	unsigned n;
};

static void tell(void *arg, const struct vt_sim_retired *r)
{
	struct told *t = arg;

	assert_true(t->n < BLOCK * TIMES);
	t->r[t->n++] = *r;
}

/* Two loads in one, what they depend on, a store, and a branch that mostly goes back. */
static void make_block(struct vt_mop ops[BLOCK], struct vt_sim_access accesses[4],
		       struct vt_sim_insn insns[BLOCK])
{
	unsigned i;

	memset(insns, 0, BLOCK * sizeof(*insns));
	ops[0] = simple(VT_OP_LOAD, 3, 0, 1);
	ops[0].uops[1] = ops[0].uops[0];
	ops[0].nuops = 2;
	ops[1] = simple(VT_OP_FADD, 4, 1, 2);
	ops[2] = simple(VT_OP_STORE, 1, 2, 0);
	ops[3] = simple(VT_OP_INT, 1, 4, 4);
	ops[4] = simple(VT_OP_BRANCH, 1, 4, 0);
	ops[4].flags = VT_FACT_BRANCH | VT_FACT_CONDITIONAL;
	accesses[0] = (struct vt_sim_access){0x20000, 8, false};
	accesses[1] = (struct vt_sim_access){0x30000, 8, false};
	accesses[2] = (struct vt_sim_access){0x40000, 8, true};
	for (i = 0; i < BLOCK; i++) {
		insns[i].op = &ops[i];
		insns[i].tag = 7 + i;
		insns[i].addr = 0x1000 + 2 * (uint64_t)i;
		insns[i].next = insns[i].addr + 2;
	}
	insns[0].accesses = accesses;
	insns[0].naccesses = 2;
	insns[2].accesses = &accesses[2];
	insns[2].naccesses = 1;
	insns[4].target = 0x1000;
}

static uint64_t next_of(unsigned time)
{
	return time % 4 == 3 ? 0x100a : 0x1000;
}

static void move_on(struct vt_sim_access accesses[4], unsigned time)
{
	accesses[0].addr = 0x20000 + 24 * (uint64_t)time;
	accesses[1].addr = 0x30000 + 64 * (uint64_t)time;
	accesses[2].addr = 0x20000 + 24 * (uint64_t)(time + time % 3);
}

/* Block by block, those that are due are told as they are one by one; of others, the head times. */
static void test_blocks(void **state)
{
	static struct told one, all;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_sim_hooks hooks = {.retire = tell, .code = nops, .arg = &one};
	struct vt_sim_access accesses[4];
	struct vt_sim_insn insns[BLOCK];
	struct vt_mop ops[BLOCK];
	struct vt_simcore *c = vt_simcore_new(&core, &hooks, &err);
	unsigned time, i, k, due;

	(void)state;
	assert_non_null(c);
	make_block(ops, accesses, insns);
	for (time = 0; time < TIMES; time++) {
		move_on(accesses, time);
		insns[BLOCK - 1].next = next_of(time);
		for (i = 0; i < BLOCK; i++)
			vt_simcore_run(c, &insns[i]);
	}
	assert_int_equal(one.n, BLOCK * TIMES);
	vt_simcore_free(c);
	for (due = 0; due < 4; due++) {
		uint64_t head = 0, want = 0, from = due ? one.r[BLOCK * 3 * due].cycle : 0;

		all.n = 0;
		hooks.arg = &all;
		c = vt_simcore_new(&core, &hooks, &err);
		assert_non_null(c);
		for (time = 0; time < TIMES; time++) {
			struct vt_sim_block b = {.insns = insns, .ninsns = BLOCK};

			move_on(accesses, time);
			head += vt_simcore_run_block(c, &b, next_of(time), from);
		}
		for (i = 0, k = 0; i < one.n; i++) {
			if (one.r[i].cycle < from) {
				want += one.r[i].head;
				continue;
			}
			assert_true(k < all.n);
			assert_int_equal(all.r[k].tag, one.r[i].tag);
			assert_int_equal(all.r[k].addr, one.r[i].addr);
			assert_int_equal(all.r[k].cycle, one.r[i].cycle);
			assert_int_equal(all.r[k].head, one.r[i].head);
			assert_int_equal(all.r[k].fetch_cycle, one.r[i].fetch_cycle);
			assert_int_equal(all.r[k].access_cycle, one.r[i].access_cycle);
			assert_int_equal(all.r[k].done_cycle, one.r[i].done_cycle);
			assert_int_equal(all.r[k].fetch_missed, one.r[i].fetch_missed);
			assert_int_equal(all.r[k].data_missed, one.r[i].data_missed);
			assert_int_equal(all.r[k].mispredicted, one.r[i].mispredicted);
			k++;
		}
		assert_int_equal(k, all.n);
		assert_int_equal(head, want);
		assert_int_equal(vt_simcore_cycle(c), one.r[one.n - 1].cycle);
		vt_simcore_free(c);
	}
}

/* The line comes in 99 to four instructions a cycle, unless one of them goes on elsewhere. */
static void test_groups(void **state)
{
	static const struct {
		uint32_t flags;
		uint64_t next;
		bool ends;
	} cases[] = {
		{0, 0x1004, false},
		/* An interrupt, jumps to what is behind them and elsewhere. */
		{0, 0x1010, true},
		{VT_FACT_BRANCH | VT_FACT_JUMP, 0x1004, true},
		{VT_FACT_BRANCH | VT_FACT_JUMP, 0x1010, true},
		{VT_FACT_BRANCH | VT_FACT_CONDITIONAL, 0x1004, false},
	};
	struct vt_mop nop = simple(VT_OP_INT, 1, 0, 0), op = nop;
	struct vt_error err = VT_ERROR_INIT;
	struct latest last = {0};
	struct vt_sim_hooks hooks = {.retire = note, .arg = &last};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_simcore *c = vt_simcore_new(&core, &hooks, &err);
		struct vt_sim_insn in = {
			.op = &op, .addr = 0x1002, .next = cases[i].next, .target = cases[i].next};

		assert_non_null(c);
		run(c, &nop, 0x1000, 0x1002);
		assert_int_equal(last.r.fetch_cycle, 0);
		op.flags = cases[i].flags;
		vt_simcore_run(c, &in);
		assert_int_equal(last.r.fetch_cycle, 99);
		assert_false(last.r.mispredicted);
		run(c, &nop, cases[i].next, cases[i].next + 2);
		assert_int_equal(last.r.fetch_cycle, cases[i].ends ? 100 : 99);
		vt_simcore_free(c);
	}
}

/* Which of several stores a load takes its data from. */
static void test_places(void **state)
{
	struct vt_mop store = simple(VT_OP_STORE, 1, 0, 0), load = simple(VT_OP_LOAD, 3, 0, 2);
	const struct vt_sim_access stores[] = {
		{0x20000, 8, true}, {0x30000, 8, false}, {0x40000, 8, true}};
	struct vt_sim_insn in = {.addr = 0x1000, .next = 0x1002, .naccesses = 3};
	struct latest last = {0};
	struct vt_sim_hooks hooks = {.retire = note, .arg = &last};
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	(void)state;
	store.uops[1] = store.uops[0];
	store.nuops = 2;
	for (i = 0; i < 3; i++) {
		struct vt_simcore *c = vt_simcore_new(&core, &hooks, &err);
		struct vt_sim_access reads = {stores[i].addr, 8, false};

		assert_non_null(c);
		in.op = &store;
		in.accesses = stores;
		in.naccesses = 3;
		vt_simcore_run(c, &in);
		in.op = &load;
		in.accesses = &reads;
		in.naccesses = 1;
		vt_simcore_run(c, &in);
		/* The second one is not stored to. */
		assert_int_equal(last.r.access_cycle != 0, i == 1);
		vt_simcore_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_paths),
		cmocka_unit_test(test_wrong_paths_take_their_time),
		cmocka_unit_test(test_wrong_paths_go_as_far_as_is_known),
		cmocka_unit_test(test_accesses),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
