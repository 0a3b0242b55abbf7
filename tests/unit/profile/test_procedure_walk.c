/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What code takes that is executed over and over out of order, of loops whose cycles follow from
 * latencies: on a Skylake, three for a multiplication and one for an addition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/procedure_flow.h"
#include "profile/procedure_walk.h"
#include "tests/unit/common/toolbox.h"

#define MOST  64
#define FIRST VT_CFG_FIRST

static struct vt_error err;
static char *dir;
static struct vt_images *images;
static struct vt_core core;

#define PROCEDURE(name, body)                                                                      \
	".type " name ",@function\n" name ": " body ".size " name ",.-" name "\n"

static const char program[] = ".text\n.globl _start\n_start:\n"
	/* each multiplication waits for the one before */
	PROCEDURE("chain", "1: imul %rbx,%rax\nimul %rbx,%rax\nimul %rbx,%rax\nimul %rbx,%rax\n"
			   "dec %rcx\njne 1b\nret\n")
	/* the same, begun anew each time: the multiplier is busy for four cycles */
	PROCEDURE("anew", "1: mov $1,%eax\nimul %rbx,%rax\nimul %rbx,%rax\nimul %rbx,%rax\n"
			  "imul %rbx,%rax\ndec %rcx\njne 1b\nret\n")
	/* three cycles, and six more on one of two ways */
	PROCEDURE("arms", "1: imul %rbx,%rax\ntest %rdx,%rdx\nje 2f\n"
			  "imul %rbx,%rax\nimul %rbx,%rax\n2: dec %rcx\njne 1b\nret\n")
	/* a loop in a loop, each with a chain of its own */
	PROCEDURE("nest", "1: imul %rbx,%rsi\n2: imul %rbx,%rax\ndec %rcx\njne 2b\n"
			  "imul %rbx,%rsi\ndec %rdx\njne 1b\nret\n")
	/* a chain over three blocks, which nobody enters */
	PROCEDURE("cold", "test %rdx,%rdx\nje 1f\nimul %rbx,%rax\ndec %rcx\nje 1f\n"
			  "imul %rbx,%rax\nimul %rbx,%rax\ndec %rcx\nje 1f\n"
			  "imul %rbx,%rax\ndec %rcx\n1: ret\n")
	/* behind a call comes what was called */
	PROCEDURE("calls", "1: call chain\ndec %rcx\njne 1b\nret\n");

struct walked {
	struct vt_procflow *f;
	double edges[MOST];
	bool walked[MOST];
};

static void begin_walk(struct walked *w, const char *name)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(images, 1, 0, &why);
	const struct vt_symbol *sym;
	uint64_t start;
	struct vt_procedure proc;

	memset(w, 0, sizeof(*w));
	assert_true(vt_symbols_address_of(symbols, name, &start));
	sym = vt_symbols_find(symbols, start);
	assert_non_null(sym);
	proc = (struct vt_procedure){.image = 1, .start = sym->start, .end = sym->end};
	w->f = vt_procflow_new(images, NULL, &proc, &core, &err);
	assert_non_null(w->f);
	assert_true(w->f->cfg->nedges < MOST && w->f->cfg->nblocks < MOST);
}

/* Blocks count from the first one of code; ENTRY and EXIT are themselves. */
static void weigh(struct walked *w, uint32_t from, uint32_t to, double executions)
{
	const struct vt_cfg *g = w->f->cfg;
	uint32_t i;

	for (i = 0; i < g->nedges; i++)
		if (g->edges[i].from == from && g->edges[i].to == to) {
			w->edges[i] = executions;
			return;
		}
	fail_msg("no edge from %u to %u", from, to);
}

static void walk_for(struct walked *w, bool once)
{
	const struct vt_walked_code code = {w->f->cfg, w->f->ops, w->f->block, w->f->costs, once};

	assert_int_equal(vt_procedure_walk(&code, &core, w->edges, w->walked, &err), 0);
}

static void walk(struct walked *w)
{
	walk_for(w, false);
}

static double block_cycles(const struct walked *w, uint32_t block)
{
	const struct vt_cfg_block *b = &w->f->cfg->blocks[block];
	double sum = 0;
	uint32_t i;

	for (i = b->insn; i < b->insn + b->ninsns; i++)
		sum += (double)w->f->costs[i].head;
	return sum;
}

static void assert_near(double a, double b, double by)
{
	if (!(a >= b - by && a <= b + by))
		fail_msg("%g, not %g", a, b);
}

/* The loop of `name`, a block alone, takes so many cycles. */
static void check_loop(const char *name, double cycles)
{
	struct walked w;

	begin_walk(&w, name);
	weigh(&w, VT_CFG_ENTRY, FIRST, 1);
	weigh(&w, FIRST, FIRST, 99);
	weigh(&w, FIRST, FIRST + 1, 1);
	weigh(&w, FIRST + 1, VT_CFG_EXIT, 1);
	walk(&w);
	assert_true(w.walked[FIRST] && w.walked[FIRST + 1]);
	assert_near(block_cycles(&w, FIRST), cycles, 0.01 * cycles);
	vt_procflow_free(w.f);
}

static void test_chain(void **state)
{
	(void)state;
	check_loop("chain", 12);
}

static void test_iterations_overlap(void **state)
{
	(void)state;
	check_loop("anew", 4);
}

/* 3 + 6 p cycles, the arm's included; of some 128 rounds with an error of .04 in p. */
static void test_ways_are_as_likely_as_executed(void **state)
{
	static const double parts[] = {0.25, 0.75, 1};
	struct walked w;
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		double p = parts[i], all;

		begin_walk(&w, "arms");
		weigh(&w, VT_CFG_ENTRY, FIRST, 1);
		weigh(&w, FIRST, FIRST + 1, 1000 * p);
		weigh(&w, FIRST, FIRST + 2, 1000 * (1 - p));
		weigh(&w, FIRST + 1, FIRST + 2, 1000 * p);
		weigh(&w, FIRST + 2, FIRST, 999);
		weigh(&w, FIRST + 2, FIRST + 3, 1);
		weigh(&w, FIRST + 3, VT_CFG_EXIT, 1);
		walk(&w);
		all = block_cycles(&w, FIRST) + p * block_cycles(&w, FIRST + 1) +
		      block_cycles(&w, FIRST + 2);
		assert_near(all, 3 + 6 * p, 0.25);
		vt_procflow_free(w.f);
	}
}

/* Each is as fast as its own chain lets it: the inner one's three, the outer one's six less. */
static void test_inner_loop_has_its_own(void **state)
{
	struct walked w;

	(void)state;
	begin_walk(&w, "nest");
	weigh(&w, VT_CFG_ENTRY, FIRST, 1);
	weigh(&w, FIRST, FIRST + 1, 100);
	weigh(&w, FIRST + 1, FIRST + 1, 9900);
	weigh(&w, FIRST + 1, FIRST + 2, 100);
	weigh(&w, FIRST + 2, FIRST, 99);
	weigh(&w, FIRST + 2, FIRST + 3, 1);
	weigh(&w, FIRST + 3, VT_CFG_EXIT, 1);
	walk(&w);
	assert_near(block_cycles(&w, FIRST + 1), 3, 0.03);
	assert_true(block_cycles(&w, FIRST) + block_cycles(&w, FIRST + 2) <= 6.01);
	assert_true(block_cycles(&w, FIRST) + block_cycles(&w, FIRST + 2) >= 1);
	vt_procflow_free(w.f);
}

/* Three returns stand for what was called; it takes its time, and the loop has less to wait for. */
static void test_call(void **state)
{
	struct walked w;

	(void)state;
	begin_walk(&w, "calls");
	weigh(&w, VT_CFG_ENTRY, FIRST, 1);
	weigh(&w, FIRST, FIRST, 99);
	weigh(&w, FIRST, FIRST + 1, 1);
	walk(&w);
	assert_true(w.walked[FIRST]);
	assert_true(block_cycles(&w, FIRST) >= 3.0 / 4);
	vt_procflow_free(w.f);
}

/* Where control never goes nothing is walked. */
static void test_code_that_is_not_executed(void **state)
{
	struct walked w;

	(void)state;
	begin_walk(&w, "arms");
	walk(&w);
	assert_false(w.walked[FIRST] || w.walked[FIRST + 1] || w.walked[FIRST + 2]);
	weigh(&w, VT_CFG_ENTRY, FIRST, 1);
	weigh(&w, FIRST, FIRST + 2, 100);
	weigh(&w, FIRST + 2, FIRST, 99);
	walk(&w);
	assert_true(w.walked[FIRST] && w.walked[FIRST + 2]);
	assert_false(w.walked[FIRST + 1] || w.walked[FIRST + 3]);
	assert_near(block_cycles(&w, FIRST) + block_cycles(&w, FIRST + 2), 3, 0.03);
	vt_procflow_free(w.f);
}

/* Blocks that follow each other and were not executed are one schedule: each waits for the last. */
static void test_cold_blocks(void **state)
{
	/* The instructions of the chain: of the blocks behind the first. */
	static const uint32_t chain[] = {2, 5, 6, 9};
	struct walked w;
	uint32_t i, k;
	double cycles;

	(void)state;
	begin_walk(&w, "cold");
	weigh(&w, VT_CFG_ENTRY, FIRST, 100);
	weigh(&w, FIRST, FIRST + 4, 100);
	weigh(&w, FIRST + 4, VT_CFG_EXIT, 100);
	free(w.f->costs);
	w.f->costs = NULL;
	assert_int_equal(vt_procflow_schedule(w.f, images, NULL, &core, w.edges, &err), 0);
	for (i = 1; i < 4; i++) {
		/* With those between that retire meanwhile. */
		for (k = chain[i - 1] + 1, cycles = 0; k <= chain[i]; k++)
			cycles += (double)w.f->costs[k].head;
		assert_near(cycles, 3, 1e-6);
		assert_int_equal(w.f->costs[chain[i]].depends, chain[i - 1]);
	}
	/* One slot of four. */
	assert_float_equal(w.f->costs[10].best, 0.25, 1e-6);
	vt_procflow_free(w.f);
}

/* The same executions give the same costs, to the last bit. */
static void test_repeatable(void **state)
{
	struct walked a, b;
	unsigned i;

	(void)state;
	begin_walk(&a, "arms");
	begin_walk(&b, "arms");
	for (i = 0; i < a.f->cfg->nedges; i++)
		a.edges[i] = b.edges[i] = 1 + i * 7 % 5;
	walk(&a);
	walk(&b);
	for (i = 0; i < a.f->cfg->ninsns; i++) {
		assert_memory_equal(&a.f->costs[i].head, &b.f->costs[i].head, sizeof(float));
		assert_int_equal(a.f->costs[i].depends, b.f->costs[i].depends);
	}
	vt_procflow_free(a.f);
	vt_procflow_free(b.f);
}

/* A chain waits for the multiplication before, the first for the last of the round before. */
static void test_culprits_are_of_the_graph(void **state)
{
	static const int32_t before[] = {3, 0, 1, 2};
	struct walked w;
	uint32_t i;

	(void)state;
	begin_walk(&w, "chain");
	weigh(&w, VT_CFG_ENTRY, FIRST, 1);
	weigh(&w, FIRST, FIRST, 99);
	weigh(&w, FIRST, FIRST + 1, 1);
	walk(&w);
	for (i = 0; i < 4; i++)
		assert_int_equal(w.f->costs[i].depends, before[i]);
	vt_procflow_free(w.f);
}

static int begin(void **state)
{
	static const struct vt_images_options none = {.warn = NULL};
	const char *path;

	(void)state;
	dir = toolbox_assemble(program);
	images = vt_images_new(&none, &err);
	path = toolbox_path(dir, "p");
	if (vt_core_load(&core, "skylake", &err) < 0)
		return -1;
	return vt_images_add(images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0;
}

static int end(void **state)
{
	(void)state;
	vt_images_free(images);
	toolbox_remove(dir);
	return 0;
}

/* A walk for causes comes to the same blocks and causes; only times are those of one execution. */
static void test_once(void **state)
{
	struct walked all, once;
	uint32_t i, stalls = 0;

	(void)state;
	begin_walk(&all, "chain");
	weigh(&all, VT_CFG_ENTRY, FIRST, 1);
	weigh(&all, FIRST, FIRST, 99);
	weigh(&all, FIRST, FIRST + 1, 1);
	weigh(&all, FIRST + 1, VT_CFG_EXIT, 1);
	begin_walk(&once, "chain");
	memcpy(once.edges, all.edges, sizeof(once.edges));
	walk(&all);
	walk_for(&once, true);
	assert_memory_equal(once.walked, all.walked, sizeof(once.walked));
	for (i = 0; i < all.f->cfg->ninsns; i++) {
		const struct vt_schedule_cost *a = &all.f->costs[i], *b = &once.f->costs[i];

		assert_int_equal(a->depends, b->depends);
		assert_int_equal(a->nstalls, b->nstalls);
		assert_memory_equal(a->stalls, b->stalls, a->nstalls * sizeof(a->stalls[0]));
		stalls += a->nstalls;
	}
	assert_true(stalls > 0);
	vt_procflow_free(all.f);
	vt_procflow_free(once.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_iterations_overlap),
		cmocka_unit_test(test_ways_are_as_likely_as_executed),
		cmocka_unit_test(test_inner_loop_has_its_own),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_code_that_is_not_executed),
		cmocka_unit_test(test_cold_blocks),
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_culprits_are_of_the_graph),
		cmocka_unit_test(test_once),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
