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

#include "machine/core.h"
#include "machine/schedule.h"
#include "machine/simcore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT  (16u << 10) /* what a pipe holds in any case */
#define MAX_OPS	  48
#define MAX_LINES (1u << 14) /* of a cache: large ones only cost time */
#define START	  0x401000

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

static void simulate(const struct vt_core *m, const struct vt_mop *ops, size_t n)
{
	struct told told = {0};
	const struct vt_sim_hooks hooks = {.retire = retire, .arg = &told};
	struct vt_error err;
	struct vt_simcore *c = vt_simcore_new(m, &hooks, &err);
	uint64_t addr = START;
	size_t i;

	check(c != NULL, "no memory");
	for (i = 0; i < 3 * n; i++) {
		const struct vt_mop *op = &ops[i % n];
		uint64_t next = (i + 1) % n ? addr + op->length : START;
		struct vt_sim_access at[2] = {{addr * 37 & 0xffff, 8, false},
					      {addr * 91 & 0xffff, 16, true}};
		struct vt_sim_insn insn = {.op = op,
					   .tag = i,
					   .addr = addr,
					   .next = next,
					   .target = i % 3 ? next : 0,
					   .naccesses = (uint32_t)(addr % 3),
					   .accesses = at};

		vt_simcore_run(c, &insn);
		addr = next;
	}
	vt_simcore_drain(c);
	check(told.count == 3 * n, "not all have retired");
	check(told.heads == told.cycle, "cycles are nobody's, or of two");
	check(vt_simcore_cycle(c) >= told.cycle, "the clock is late");
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
		simulate(&m, ops, n);
	}
	return 0;
}
