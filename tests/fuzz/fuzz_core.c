/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Descriptions of machines, and code on them: an input is a description, a zero byte, and machine
 * code.  What is taken as a machine must schedule and simulate any code, and account for each
 * cycle.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/schedule.h"
#include "machine/pipeline/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT   (16u << 10) /* what a pipe holds in any case */
#define MAX_OPS	   48
#define MAX_LINES  (1u << 14) /* of a cache: large ones only cost time */
#define MAX_ROUNDS 24
#define START	   0x401000

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_core: %s\n", what);
		abort();
	}
}

static int load(struct vt_core *m, const uint8_t *text, size_t size, struct vt_error *err)
{
	char path[32];
	int fds[2], e;

	check(pipe(fds) == 0, "no pipe");
	check(write(fds[1], text, size) == (ssize_t)size, "the pipe is full");
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	e = vt_core_load(m, path, err);
	close(fds[0]);
	return e;
}

static bool is_small(const struct vt_core *m)
{
	const struct vt_cache_shape caches[] = {m->icache, m->dcache, m->l2, m->l3};
	size_t i;

	for (i = 0; i < sizeof(caches) / sizeof(*caches); i++)
		if (caches[i].size && caches[i].size / caches[i].line > MAX_LINES)
			return false;
	return m->itlb.entries + m->dtlb.entries + m->stlb.entries <= MAX_LINES &&
	       m->predictor_bits <= 14;
}

/* The instructions one after the other; bytes that are none count as such. */
static size_t decode(const struct vt_core *m, const uint8_t *code, size_t size, struct vt_mop *ops)
{
	size_t n = 0;

	while (size && n < MAX_OPS) {
		size_t length;

		if (!vt_core_op(m, code, size, &ops[n]))
			check(ops[n].length == 0, "no instruction has a length");
		check(ops[n].length <= size && ops[n].nuops <= VT_MOP_UOPS, "an odd instruction");
		length = ops[n].length ? ops[n].length : 1;
		code += length;
		size -= length;
		n++;
	}
	return n;
}

static void schedule(const struct vt_core *m, const struct vt_mop *ops, size_t n)
{
	const struct vt_mop *list[2 * MAX_OPS];
	struct vt_schedule_cost costs[MAX_OPS];
	struct vt_error err;
	size_t i;
	unsigned k;

	for (i = 0; i < 2 * n; i++)
		list[i] = &ops[i % n];
	check(vt_schedule(m, list, 2 * n, n, costs, &err) == 0, "no schedule");
	for (i = 0; i < n; i++) {
		check(isfinite(costs[i].head) && costs[i].head >= 0, "a head time is no time");
		check(costs[i].nstalls <= VT_SCHEDULE_CAUSES, "too many causes");
		for (k = 0; k < costs[i].nstalls; k++)
			check(isfinite(costs[i].stalls[k].cycles), "a stall is no number");
	}
}

struct told {
	uint64_t cycle;
	uint64_t heads;
	size_t count;
	const uint8_t *code; /* of the program, at START */
	size_t size;
};

static void retire(void *arg, const struct vt_sim_retired *r)
{
	struct told *t = arg;

	check(r->tag == t->count, "not in order");
	check(r->cycle >= t->cycle && r->cycle >= r->head, "time goes back");
	/* What the first waits for may be nobody's: it stands for one in the midst of others. */
	if (!t->count)
		t->heads = r->cycle - r->head;
	t->cycle = r->cycle;
	t->heads += r->head;
	t->count++;
}

static size_t read_code(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	const struct told *t = arg;

	if (addr - START >= t->size)
		return 0;
	if (size > t->size - (addr - START))
		size = t->size - (addr - START);
	memcpy(code, t->code + (addr - START), size);
	return size;
}

/* The i-th execution of all. */
static struct vt_sim_insn insn_at(const struct vt_mop *ops, size_t n, size_t i, uint64_t addr,
				  struct vt_sim_access at[2])
{
	const struct vt_mop *op = &ops[i % n];
	uint64_t next = (i + 1) % n ? addr + op->length : START;

	at[0] = (struct vt_sim_access){addr * 37 & 0xffff, 8, false};
	at[1] = (struct vt_sim_access){addr * 91 & 0xffff, 16, true};
	return (struct vt_sim_insn){.op = op,
				    .tag = i,
				    .addr = addr,
				    .next = next,
				    .target = i % 3 ? next : 0,
				    .naccesses = (uint32_t)(addr % 3),
				    .accesses = at};
}

static void simulate(const struct vt_core *m, const struct vt_mop *ops, size_t n,
		     const uint8_t *code, size_t size)
{
	struct told told = {.code = code, .size = size};
	const struct vt_sim_hooks hooks = {.retire = retire, .code = read_code, .arg = &told};
	struct vt_error err;
	struct vt_simcore *c = vt_simcore_new(m, &hooks, &err);
	struct vt_sim_access at[2];
	uint64_t addr = START;
	size_t i;

	check(c != NULL, "no memory");
	for (i = 0; i < 3 * n; i++) {
		struct vt_sim_insn insn = insn_at(ops, n, i, addr, at);

		vt_simcore_run(c, &insn);
		addr = insn.next;
	}
	vt_simcore_drain(c);
	check(told.count == 3 * n, "not all have retired");
	check(told.heads == told.cycle, "cycles are nobody's, or of two");
	check(vt_simcore_cycle(c) >= told.cycle, "the clock is late");
	vt_simcore_free(c);
}

static void hear(void *arg, const struct vt_sim_retired *r)
{
	*(uint64_t *)arg += r->head;
}

/*
 * The code up to its first branch as one block, again and again at other places in memory, with the
 * core telling of each instruction or of few.
 */
static void run_blocks(const struct vt_core *m, const struct vt_mop *ops, size_t n, bool few)
{
	struct vt_sim_access at[MAX_OPS][2];
	struct vt_sim_insn insns[MAX_OPS];
	struct vt_sim_block block = {.insns = insns};
	uint64_t heads = 0, addr = START, due = 0;
	const struct vt_sim_hooks hooks = {.retire = hear, .arg = &heads};
	struct vt_error err;
	struct vt_simcore *c = vt_simcore_new(m, &hooks, &err);
	size_t i, round;

	check(c != NULL, "no memory");
	for (i = 0; i + 1 < n && !(ops[i].flags & VT_FACT_BRANCH); i++)
		;
	n = i + 1;
	for (i = 0; i < n; addr += ops[i++].length)
		insns[i] = insn_at(ops, n, i, addr, at[i]);
	block.ninsns = (uint32_t)n;
	for (round = 0; round < MAX_ROUNDS; round++) {
		for (i = 0; i < n; i++)
			at[i][0].addr += round % 3 ? 0 : 64 * i;
		if (few)
			due = round % 5 ? UINT64_MAX : vt_simcore_cycle(c) + 9;
		heads += vt_simcore_run_block(c, &block, round % 4 ? START : 0, due);
		if (round % 7 == 6)
			vt_simcore_drain(c);
	}
	check(heads <= vt_simcore_cycle(c), "more heads than cycles");
	vt_sim_block_fini(&block);
	vt_simcore_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	size_t text = end ? (size_t)(end - data) : size;
	struct vt_mop ops[MAX_OPS];
	struct vt_error err;
	struct vt_core m;
	size_t n;

	if (text > MAX_TEXT || load(&m, data, text, &err) < 0 || !end || !is_small(&m))
		return 0;
	n = decode(&m, end + 1, size - text - 1, ops);
	if (n) {
		schedule(&m, ops, n);
		simulate(&m, ops, n, end + 1, size - text - 1);
		run_blocks(&m, ops, n, false);
		run_blocks(&m, ops, n, true);
	}
	return 0;
}
