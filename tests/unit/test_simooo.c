/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded instructions on a core that issues out of order: what the engine is told of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/simcore.h"
#include "machine/simmem.h"

#define WRONG	  0x1002 /* where a branch at 0x1000 does not go */
#define RIGHT	  0x5000
#define ELSEWHERE 0x9000 /* where code on the wrong path goes */

static const struct vt_core core = {
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
	struct vt_sim_hooks hooks = {note, code, &last};
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

static void test_accesses(void **state)
{
	struct vt_mop load = simple(VT_OP_LOAD, 3, 0, 2), store = simple(VT_OP_STORE, 1, 1, 0);
	struct vt_sim_access reads = {0x20000, 8, false}, writes = {0x20040, 8, true};
	struct vt_sim_insn in = {.addr = 0x1000, .next = 0x1002, .naccesses = 1};
	struct latest last = {0};
	struct vt_sim_hooks hooks = {note, NULL, &last};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_paths),
		cmocka_unit_test(test_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
