/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Static schedules of procedures on machines that issue out of order, and in order: what each block
 * costs behind what comes before it, against schedules of the whole ways put together here.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/ooo.h"
#include "machine/pipeline/schedule.h"
#include "profile/procedure_flow.h"
#include "tests/unit/common/toolbox.h"

#define START	0x401000
#define MOST	512
#define WARM	160 /* instructions before a block */
#define WAYS	4   /* into a block: the most frequent ones */
#define NOWHERE UINT32_MAX
#define RETURNS 3 /* stand for what a call leads to */
#define REPEATS 4 /* of an instruction that repeats itself: the last one counts */

static struct vt_error err;
static char *dir;
static struct vt_images *images;
static struct vt_core core;

/* A division, what comes between, and a block with another one. */
#define REACH(name, call, n)                                                                       \
	".type " name ",@function\n" name ": div %rcx\n" call "\n.rept " #n                        \
	"\nnop\n.endr\nje 9f\n9: div %rcx\nadd %rax,%rbx\nret\n.size " name ",.-" name "\n"

/*
 * Two ways to the end, one of them by a call and a string instruction; a loop, and six ways out of
 * what follows it.
 */
static const char program[] = ".text\n.globl _start\n_start:\n.type f,@function\n"
			      "f: mov (%rdi),%rax\ntest %rax,%rax\nje 1f\n"
			      "imul %rax,%rax\ncall g\n"
			      "rep movsb\nmov (%rsi),%rbx\n"
			      "1: add %rax,%rbx\nimul %rbx,%rcx\nadd %rcx,%rdx\nret\n"
			      ".size f,.-f\n.type g,@function\ng: ret\n.size g,.-g\n"
			      ".type h,@function\nh: imul %rdx,%rax\n"
			      "2: mov (%rax),%rax\nimul %rax,%rbx\ndec %rcx\njne 2b\n"
			      "cmp %rdx,%rbx\nje 3f\nimul %rbx,%rbx\ntest %rbx,%rbx\nje 3f\n"
			      "mov (%rbx),%rbx\ntest %rbx,%rbx\nje 3f\nadd %rdx,%rbx\nje 3f\n"
			      "imul %rbx,%rbx\nimul %rbx,%rbx\ntest %rbx,%rbx\nje 3f\n"
			      "mov (%rbx),%rbx\nmov (%rbx),%rbx\n"
			      "3: add %rax,%rbx\nimul %rbx,%rax\nret\n.size h,.-h\n"
			      ".type k,@function\nk: imul %rbx,%rbx\njmp 5f\n"
			      "4: imul %rbx,%rax\nadd %rcx,%rax\nret\n"
			      "5: mov (%rbx),%rcx\nimul %rcx,%rcx\nimul %rbx,%rcx\njmp 4b\n"
			      ".size k,.-k\n"
			      ".type m,@function\nm: imul %rbx,%rbx\n"
			      "6: mov (%rax),%rcx\nimul %rcx,%rdx\ntest %rdx,%rdx\nje 7f\n"
			      "imul %rdx,%rbx\nadd %rbx,%rdx\n"
			      "7: imul %rbx,%rcx\ndec %rsi\njne 6b\nret\n"
			      "imul %rbx,%rbx\ntest %rbx,%rbx\nje 8f\nimul %rbx,%rbx\n"
			      "8: imul %rbx,%rcx\nret\n.size m,.-m\n"
			      ".type q,@function\nq: mov (%rax),%rbx\ntest %rbx,%rbx\nje 9f\n"
			      "imul %rbx,%rdx\ncall g\nimul %rdx,%rbx\nrep movsb\n"
			      "9: rep movsb\nimul %rbx,%rax\nmov (%rsi),%rbx\nje 9f\ncall g\n"
			      "9: add %rax,%rbx\nrep stosb\n.size q,.-q\n"
	/* as many before the last block as count, or one more */
	REACH("r1", "", 158) REACH("r2", "", 159) REACH("r3", "call g", 154)
		REACH("r4", "call g", 155) REACH("r5", "", 45)
	/* a jump that is met before a block falls to the same place */
	".type v,@function\nv: imul %rbx,%rbx\ntest %rbx,%rbx\nje 8f\n"
	"imul %rcx,%rcx\njmp 9f\n"
	"8: mov (%rbx),%rdx\nimul %rdx,%rdx\n"
	"9: imul %rcx,%rdx\nadd %rdx,%rbx\nret\n.size v,.-v\n"
	/* two jumps to what nothing falls to */
	".type v2,@function\nv2: imul %rbx,%rbx\ntest %rbx,%rbx\nje 9f\n"
	"mov (%rbx),%rcx\nimul %rcx,%rcx\ntest %rcx,%rcx\nje 9f\nret\n"
	"9: imul %rcx,%rbx\nadd %rbx,%rbx\nret\n.size v2,.-v2\n"
	/* what is further up comes behind what is behind a loop further down */
	".type x1,@function\nx1: imul %rbx,%rbx\njmp 5f\n"
	"4: imul %rbx,%rax\nadd %rcx,%rax\nret\n"
	"3: mov (%rax),%rcx\nimul %rcx,%rax\njmp 4b\n"
	"5: imul %rcx,%rbx\ntest %rbx,%rbx\nje 6f\nadd %rbx,%rcx\n"
	"6: dec %rsi\njne 5b\nmov (%rbx),%rax\njmp 3b\n.size x1,.-x1\n"
	/* what is waited for less by how long a call, or repeating, takes */
	".type x2,@function\nx2: div %rcx\ncall g\nadd %rax,%rbx\nret\n"
	".size x2,.-x2\n"
	".type x3,@function\nx3: div %rcx\nrep stosb\nadd %rax,%rbx\n"
	"ret\n.size x3,.-x3\n"
	/* code that nothing leads to but what nothing leads to */
	".type w,@function\nw: imul %rbx,%rbx\nret\n"
	"9: imul %rcx,%rdx\nadd %rdx,%rbx\nret\n"
	"mov (%rbx),%rdx\nimul %rdx,%rdx\njmp 9b\n.size w,.-w\n"
	".type y,@function\ny: div %rcx\nje 8f\nrep stosb\nnop\nrep stosb\n"
	"nop\nnop\nrep stosb\n8: ret\n.size y,.-y\n"
	".type z,@function\nz: imul %rax,%rax\nmov (%rbx),%rbx\nje 9f\n"
	"9: add %rax,%rbx\nimul %rbx,%rbx\nmov (%rax),%rax\n"
	"add %rax,%rbx\nret\n.size z,.-z\n"
	".type long,@function\nlong: nop\nje 9f\n"
	"9: .rept 6000\nimul %rbx,%rcx\n.endr\nret\n.size long,.-long\n"
	".type big,@function\nbig: .rept 16400\nje 1f\n1:\n.endr\n"
	"ret\n.size big,.-big\n";

static struct vt_procedure procedure(const char *name)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(images, 1, 0, &why);
	const struct vt_symbol *sym;
	uint64_t start;

	assert_true(vt_symbols_address_of(symbols, name, &start));
	sym = vt_symbols_find(symbols, start);
	assert_non_null(sym);
	return (struct vt_procedure){.image = 1, .start = sym->start, .end = sym->end};
}

/* ---- schedules of whole ways ---- */

/* The way into a block that is taken most often, of those from other blocks. */
static uint32_t usual_edge(const struct vt_cfg *g, uint32_t block, const double *edges)
{
	const struct vt_cfg_block *b = &g->blocks[block];
	uint32_t i, best = NOWHERE;

	for (i = 0; i < b->nin; i++)
		if (edges[g->in[b->in + i]] > 0 &&
		    (best == NOWHERE || edges[g->in[b->in + i]] > edges[best]))
			best = g->in[b->in + i];
	return best != NOWHERE && g->edges[best].from >= VT_CFG_FIRST ? best : NOWHERE;
}

struct way {
	const struct vt_mop *ops[MOST];
	uint32_t insn[MOST]; /* or NOWHERE */
	uint32_t n;
	struct vt_mop ret;
};

static void put(struct way *w, const struct vt_mop *op, uint32_t insn)
{
	assert_true(w->n < MOST);
	w->ops[w->n] = op;
	w->insn[w->n++] = insn;
}

static void add(struct way *w, const struct vt_procflow *f, uint32_t insn)
{
	uint32_t k;

	put(w, &f->ops[insn], insn);
	for (k = 0; k < RETURNS && f->ops[insn].flags & VT_FACT_CALL; k++)
		put(w, &w->ret, NOWHERE);
}

/* What comes before an edge's end, the last of it last: a loop goes round and round. */
static void add_way(struct way *w, const struct vt_procflow *f, uint32_t edge, const double *edges)
{
	uint32_t before[WARM], n = 0, cost = 0, i;

	while (edge != NOWHERE && cost < WARM) {
		const struct vt_cfg_block *b = &f->cfg->blocks[f->cfg->edges[edge].from];

		for (i = b->ninsns; i-- > 0 && cost < WARM;) {
			before[n] = b->insn + i;
			cost += f->ops[before[n++]].flags & VT_FACT_CALL ? 1 + RETURNS : 1;
		}
		edge = usual_edge(f->cfg, f->cfg->edges[edge].from, edges);
	}
	while (n-- > 0)
		add(w, f, before[n]);
}

/* Which instruction of the graph one is that costs tell of, `warm` being the first. */
static int32_t insn_of(const struct way *w, uint32_t warm, int32_t index)
{
	int64_t at = (int64_t)warm + index;

	if (index == VT_SCHEDULE_NONE || at < 0 || w->insn[at] == NOWHERE)
		return VT_SCHEDULE_NONE;
	return (int32_t)w->insn[at];
}

/* The costs of a block behind an edge, by its instructions. */
static void schedule_way(const struct vt_procflow *f, uint32_t block, uint32_t edge,
			 const double *edges, struct vt_schedule_cost *costs)
{
	static const uint8_t ret[] = {0xc3};
	const struct vt_cfg_block *b = &f->cfg->blocks[block];
	struct vt_schedule_cost all[MOST];
	struct vt_ooo *ooo = core.order == VT_OUT_OF_ORDER ? vt_ooo_new(&core, NULL) : NULL;
	struct way w = {.n = 0};
	uint32_t warm, i, k;

	vt_core_op(&core, ret, sizeof(ret), &w.ret);
	add_way(&w, f, edge, edges);
	warm = w.n;
	for (i = b->insn; i < b->insn + b->ninsns; i++) {
		for (k = 1; k < REPEATS && f->ops[i].flags & VT_FACT_REPEATED; k++)
			add(&w, f, i);
		add(&w, f, i);
	}
	if (ooo)
		vt_schedule_on(ooo, &core, w.ops, w.n, warm, all);
	else
		assert_int_equal(vt_schedule(&core, w.ops, w.n, warm, all, &err), 0);
	/* The last of each counts. */
	for (i = warm; i < w.n; i++)
		if (w.insn[i] != NOWHERE) {
			struct vt_schedule_cost *c = &costs[w.insn[i] - b->insn];

			*c = all[i - warm];
			c->depends = insn_of(&w, warm, c->depends);
			for (k = 0; k < c->nstalls; k++)
				c->stalls[k].culprit = insn_of(&w, warm, c->stalls[k].culprit);
		}
	vt_ooo_free(ooo);
}

/* ---- comparing ---- */

/* The most frequent ways into a block; the first of equal ones. */
static uint32_t find_ways(const struct vt_cfg *g, const struct vt_cfg_block *b, const double *edges,
			  uint32_t ways[WAYS])
{
	bool taken[MOST] = {false};
	uint32_t n, k;

	for (n = 0; n < WAYS; n++) {
		uint32_t best = NOWHERE;

		for (k = 0; k < b->nin; k++) {
			uint32_t edge = g->in[b->in + k];

			if (edge < MOST && edges[edge] > 0 && !taken[edge] &&
			    (best == NOWHERE || edges[edge] > edges[best]))
				best = edge;
		}
		if (best == NOWHERE)
			break;
		taken[best] = true;
		ways[n] = best;
	}
	return n;
}

static bool same_stalls(const struct vt_schedule_cost *a, const struct vt_schedule_cost *b)
{
	unsigned i;

	for (i = 0; i < a->nstalls && i < b->nstalls; i++)
		if (a->stalls[i].cause != b->stalls[i].cause ||
		    a->stalls[i].culprit != b->stalls[i].culprit ||
		    fabs((double)(a->stalls[i].cycles - b->stalls[i].cycles)) > 1e-4)
			return false;
	return a->nstalls == b->nstalls;
}

static void assert_costs(const struct vt_procflow *f, uint32_t block, const double *edges)
{
	const struct vt_cfg *g = f->cfg;
	const struct vt_cfg_block *b = &g->blocks[block];
	struct vt_schedule_cost way[MOST], usual[MOST];
	double head[MOST] = {0}, best[MOST] = {0}, all = 0;
	uint32_t ways[WAYS], i, k, n = find_ways(g, b, edges, ways);

	assert_true(n > 0 && b->ninsns <= MOST);
	memset(way, 0, sizeof(way));
	memset(usual, 0, sizeof(usual));
	for (k = 0; k < n; k++)
		all += edges[ways[k]];
	for (k = 0; k < n; k++) {
		uint32_t behind = g->edges[ways[k]].from < VT_CFG_FIRST ? NOWHERE : ways[k];

		schedule_way(f, block, behind, edges, k ? way : usual);
		for (i = 0; i < b->ninsns && i < MOST; i++) {
			const struct vt_schedule_cost *c = k ? &way[i] : &usual[i];

			head[i] += edges[ways[k]] / all * (double)c->head;
			best[i] += edges[ways[k]] / all * (double)c->best;
		}
	}
	for (i = 0; i < b->ninsns && i < MOST; i++) {
		const struct vt_schedule_cost *c = &f->costs[b->insn + i];

		if (fabs((double)c->head - head[i]) > 1e-4 ||
		    fabs((double)c->best - best[i]) > 1e-4 || c->depends != usual[i].depends)
			fail_msg("block %u, instruction %u: %g %g %d, not %g %g %d", block, i,
				 (double)c->head, (double)c->best, c->depends, head[i], best[i],
				 usual[i].depends);
		if (!same_stalls(c, &usual[i]))
			fail_msg("block %u, instruction %u: other stalls", block, i);
	}
}

/* How often each edge is taken: of the branch, so many times and so many others. */
static void weigh_edges(const struct vt_procflow *f, double taken, double fallen, double *edges)
{
	const struct vt_cfg *g = f->cfg;
	uint32_t i;

	assert_true(g->nedges <= MOST && g->ninsns <= MOST);
	for (i = 0; i < g->nedges; i++)
		edges[i] = g->edges[i].from < VT_CFG_FIRST     ? taken + fallen
			   : g->edges[i].kind == VT_EDGE_TAKEN ? taken
							       : fallen;
}

/* What is not written differs from what is: costs that others had may be in memory still. */
static void soil_memory(const struct vt_procflow *f)
{
	size_t size = ((size_t)f->cfg->ninsns + 1) * sizeof(struct vt_schedule_cost), i, k;
	volatile uint8_t *parts[8];

	for (k = 0; k < 8; k++) {
		parts[k] = malloc(size);
		assert_non_null((const void *)parts[k]);
		for (i = 0; i < size; i++)
			parts[k][i] = 0x5a;
	}
	for (k = 0; k < 8; k++)
		free((void *)parts[k]);
}

/* Out of order, what is known of edges is walked along: test_procedure_walk.c. */
static bool is_weighed(void)
{
	return core.order == VT_IN_ORDER;
}

/* Knowing how often the ways are taken, before anything was scheduled or after. */
static void test_ways(void **state)
{
	static const double shares[][2] = {{3, 1}, {1, 3}, {5, 2}};
	double edges[MOST];
	unsigned i;

	(void)state;
	for (i = 0; i < 6; i++) {
		const struct vt_procedure proc = procedure(i < 3 ? "f" : "q");
		struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
		struct vt_procflow *later = vt_procflow_graph(images, NULL, &proc, &err);
		uint32_t b, k;

		assert_true(f && later);
		weigh_edges(f, shares[i % 3][0], shares[i % 3][1], edges);
		assert_int_equal(vt_procflow_weigh(f, &core, edges, &err), 0);
		soil_memory(later);
		assert_int_equal(vt_procflow_schedule(later, images, NULL, &core, edges, &err), 0);
		for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++) {
			assert_costs(f, b, edges);
			assert_costs(later, b, edges);
			for (k = 0; k < f->cfg->blocks[b].ninsns; k++)
				assert_int_equal(f->block[f->cfg->blocks[b].insn + k], b);
		}
		vt_procflow_free(f);
		vt_procflow_free(later);
	}
}

/*
 * Knowing nothing, each block comes behind the one that it follows in the text.  Where control
 * never goes it stays so.
 */
static void test_unknown_ways(void **state)
{
	const struct vt_procedure proc = procedure("f");
	struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
	struct vt_procflow *later = vt_procflow_graph(images, NULL, &proc, &err);
	struct vt_procflow *never = vt_procflow_graph(images, NULL, &proc, &err);
	double falls[MOST], jumps[MOST], none[MOST] = {0};
	uint32_t b;

	(void)state;
	assert_true(f && later && never);
	weigh_edges(f, 0, 1, falls);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
		assert_costs(f, b, falls);
	weigh_edges(f, 1, 0, jumps);
	soil_memory(later);
	assert_int_equal(vt_procflow_schedule(later, images, NULL, &core, jumps, &err), 0);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks && is_weighed(); b++)
		assert_costs(later, b, usual_edge(f->cfg, b, jumps) == NOWHERE ? falls : jumps);
	soil_memory(never);
	assert_int_equal(vt_procflow_schedule(never, images, NULL, &core, none, &err), 0);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
		assert_costs(never, b, falls);
	vt_procflow_free(f);
	vt_procflow_free(later);
	vt_procflow_free(never);
}

/* Where nobody asks for the costs of what was not executed, those of the others stay as they are.
 */
static void test_used(void **state)
{
	const struct vt_procedure proc = procedure("f");
	struct vt_procflow *all = vt_procflow_new(images, NULL, &proc, &core, &err);
	struct vt_procflow *some = vt_procflow_graph(images, NULL, &proc, &err);
	double jumps[MOST];
	bool used[MOST];
	uint32_t b, i, left = 0;

	(void)state;
	assert_true(all && some);
	weigh_edges(all, 1, 0, jumps);
	assert_int_equal(vt_procflow_decode(some, images, NULL, &core, &err), 0);
	for (b = VT_CFG_FIRST; b < all->cfg->nblocks; b++)
		for (used[b] = false, i = 0; i < all->cfg->blocks[b].nin; i++)
			used[b] |= jumps[all->cfg->in[all->cfg->blocks[b].in + i]] > 0;
	vt_procflow_free(all);
	all = vt_procflow_graph(images, NULL, &proc, &err);
	assert_non_null(all);
	assert_int_equal(vt_procflow_schedule(all, images, NULL, &core, jumps, &err), 0);
	assert_int_equal(vt_procflow_schedule_used(some, &core, jumps, used, false, &err), 0);
	for (i = 0; i < all->cfg->ninsns; i++) {
		bool is_used = used[all->block[i]] || core.order == VT_IN_ORDER;

		left += !used[all->block[i]];
		assert_memory_equal(&some->costs[i].head,
				    is_used ? &all->costs[i].head : &(float){0}, sizeof(float));
	}
	assert_true(left > 0);
	vt_procflow_free(all);
	vt_procflow_free(some);
}

/* The weights of edges of h: into the loop, round it, and of the six ways out. */
static void weigh_loop(const struct vt_procflow *f, double in, double round, const double *out,
		       double *edges)
{
	const struct vt_cfg *g = f->cfg;
	uint32_t i, n = 0;

	for (i = 0; i < g->nedges; i++) {
		const struct vt_cfg_edge *e = &g->edges[i];

		if (e->from == e->to)
			edges[i] = round;
		else if (e->to >= VT_CFG_FIRST && g->blocks[e->to].nin == 6)
			edges[i] = out[n++];
		else
			edges[i] = in;
	}
	assert_int_equal(n, 6);
}

/*
 * Of six ways into a block the four most frequent ones count, of a loop its own end mostly.  Where
 * control does not get to any more, costs stay what they were.
 */
static void test_many_ways(void **state)
{
	static const double nowhere[6] = {0};
	static const struct {
		double in, round, out[6];
	} cases[] = {{1, 9, {5, 1, 4, 2, 6, 3}}, {9, 1, {6, 5, 4, 3, 2, 1}},
		     {2, 1, {1, 2, 3, 4, 5, 6}}, {1, 1, {2, 2, 2, 2, 2, 2}},
		     {1, 2, {0, 3, 0, 3, 1, 0}}, {1, 2, {1, 3, 3, 3, 3, 9}}};
	const struct vt_procedure proc = procedure("h");
	double edges[MOST];
	uint32_t b;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
		struct vt_procflow *later = vt_procflow_graph(images, NULL, &proc, &err);

		assert_true(f && later);
		weigh_loop(f, cases[i].in, cases[i].round, cases[i].out, edges);
		assert_int_equal(vt_procflow_weigh(f, &core, edges, &err), 0);
		soil_memory(later);
		assert_int_equal(vt_procflow_schedule(later, images, NULL, &core, edges, &err), 0);
		for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++) {
			assert_costs(f, b, edges);
			assert_costs(later, b, edges);
		}
		weigh_loop(f, 1, 1, nowhere, edges);
		assert_int_equal(vt_procflow_weigh(f, &core, edges, &err), 0);
		weigh_loop(f, cases[i].in, cases[i].round, cases[i].out, edges);
		for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
			if (f->cfg->blocks[b].nin == 6)
				assert_costs(f, b, edges);
		vt_procflow_free(f);
		vt_procflow_free(later);
	}
}

/* Knowing nothing, a loop comes behind itself, and a block behind the one that falls into it. */
static void test_unknown_loop(void **state)
{
	static const double last[6] = {0, 0, 0, 0, 0, 1}, first[6] = {1, 0, 0, 0, 0, 0};
	const struct vt_procedure proc = procedure("h");
	struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
	double edges[MOST], others[MOST];
	uint32_t b;

	(void)state;
	assert_non_null(f);
	weigh_loop(f, 1, 1e9, last, edges);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
		assert_costs(f, b, edges);
	/* Otherwise the end would cost something else. */
	weigh_loop(f, 1, 2, first, others);
	assert_int_equal(vt_procflow_weigh(f, &core, others, &err), 0);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks && is_weighed(); b++)
		assert_costs(f, b, others);
	vt_procflow_free(f);
}

/* A loop of two blocks, or of three, and code that nothing leads to. */
static void test_long_loop(void **state)
{
	static const double shares[][2] = {{2, 1}, {1, 2}};
	const struct vt_procedure proc = procedure("m");
	double edges[MOST];
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
		const struct vt_cfg *g = f->cfg;
		uint32_t b, e;

		weigh_edges(f, 0, 1, edges);
		for (e = 0; e < g->nedges; e++)
			if (g->edges[e].from >= VT_CFG_FIRST && g->edges[e].to >= VT_CFG_FIRST &&
			    g->edges[e].to <= g->edges[e].from)
				edges[e] = 1e9;
		for (b = VT_CFG_FIRST; b < g->nblocks; b++)
			assert_costs(f, b, edges);
		for (e = 0; e < g->nedges; e++)
			edges[e] =
				edges[e] == 1e9 ? 9 : shares[i][g->edges[e].kind != VT_EDGE_TAKEN];
		assert_int_equal(vt_procflow_weigh(f, &core, edges, &err), 0);
		for (b = VT_CFG_FIRST; b < g->nblocks && is_weighed(); b++)
			assert_costs(f, b, edges);
		vt_procflow_free(f);
	}
}

/* A block that comes behind one further down, which comes behind one further up. */
static void test_backwards(void **state)
{
	const struct vt_procedure proc = procedure("k");
	struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
	double edges[MOST];
	uint32_t b;

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->cfg->nblocks, VT_CFG_FIRST + 3);
	weigh_edges(f, 1, 1, edges);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
		assert_costs(f, b, edges);
	assert_int_equal(vt_procflow_weigh(f, &core, edges, &err), 0);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks && is_weighed(); b++)
		assert_costs(f, b, edges);
	vt_procflow_free(f);
}

/*
 * How often each edge is taken when nothing is known: where one falls, jumps hardly count; of two
 * jumps, that from the block that is met later.
 */
static void guess_edges(const struct vt_procflow *f, double *edges)
{
	const struct vt_cfg *g = f->cfg;
	uint32_t i;

	assert_true(g->nedges <= MOST && g->ninsns <= MOST);
	for (i = 0; i < g->nedges; i++) {
		const struct vt_cfg_edge *e = &g->edges[i];

		if (e->from < VT_CFG_FIRST)
			edges[i] = g->blocks[e->to].nin > 1 ? 0 : 1;
		else
			edges[i] = e->kind == VT_EDGE_FALL
					   ? 1
					   : 1e-30 * pow(1e6, e->from - VT_CFG_FIRST);
	}
}

/*
 * What a block comes behind: a division so long ago that it is the last that counts, or does not
 * count; what falls, though a jump leads there, too; what nothing is known to lead to.
 */
static void check_behind(const char *const *names, unsigned n)
{
	double edges[MOST];
	unsigned i;

	for (i = 0; i < n; i++) {
		const struct vt_procedure proc = procedure(names[i]);
		struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
		uint32_t b;

		assert_non_null(f);
		guess_edges(f, edges);
		for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
			assert_costs(f, b, edges);
		vt_procflow_free(f);
	}
}

static void test_behind(void **state)
{
	static const char *const names[] = {"v", "v2", "w", "x1", "x2", "x3", "y", "z", "r5"};

	(void)state;
	check_behind(names, 9);
}

static void test_reach(void **state)
{
	static const char *const names[] = {"r1", "r2", "r3", "r4"};

	(void)state;
	check_behind(names, 4);
}

/* A long block behind a short one: each multiplication waits for the one before. */
static void test_long(void **state)
{
	const struct vt_procedure proc = procedure("long");
	struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
	uint32_t i;

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->cfg->ninsns, 6003);
	for (i = 100; i < 6002; i++) {
		assert_float_equal(f->costs[i].head, 3, 1e-6);
		assert_int_equal(f->costs[i].depends, i - 1);
	}
	vt_procflow_free(f);
}

/* More blocks than there is memory for machines: each comes behind a few instructions. */
static void test_big(void **state)
{
	const struct vt_procedure proc = procedure("big");
	struct vt_procflow *f = vt_procflow_graph(images, NULL, &proc, &err);
	double *edges;
	uint32_t i;

	(void)state;
	assert_non_null(f);
	assert_int_equal(f->cfg->nblocks, VT_CFG_FIRST + 16401);
	assert_int_equal(vt_procflow_schedule(f, images, NULL, &core, NULL, &err), 0);
	edges = calloc(f->cfg->nedges, sizeof(*edges));
	assert_non_null(edges);
	for (i = 0; i < f->cfg->nedges; i++)
		edges[i] = f->cfg->edges[i].kind != VT_EDGE_TAKEN;
	for (i = VT_CFG_FIRST; i < VT_CFG_FIRST + 100; i++)
		assert_costs(f, i, edges);
	free(edges);
	vt_procflow_free(f);
}

static int begin(void **state)
{
	static const struct vt_images_options none = {.warn = NULL};
	const char *path;

	(void)state;
	dir = toolbox_assemble(program);
	images = vt_images_new(&none, &err);
	path = toolbox_path(dir, "p");
	return vt_images_add(images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0;
}

static int load(const char *name)
{
	return vt_core_load(&core, name, &err);
}

static int out_of_order(void **state)
{
	(void)state;
	return load("skylake");
}

/* One whose divisions take long, so that what was long ago matters. */
static int slow_divisions(void **state)
{
	(void)state;
	if (load("skylake") < 0)
		return -1;
	core.table = NULL;
	core.classes[VT_OP_DIVIDE].latency = 200;
	return 0;
}

static int in_order(void **state)
{
	(void)state;
	return load("inorder");
}

static int several_units(void **state)
{
	(void)state;
	return load("alpha21164");
}

static int end(void **state)
{
	(void)state;
	vt_images_free(images);
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_unknown_ways, out_of_order),
		cmocka_unit_test_setup(test_used, out_of_order),
		cmocka_unit_test_setup(test_unknown_loop, out_of_order),
		cmocka_unit_test_setup(test_ways, in_order),
		cmocka_unit_test_setup(test_unknown_ways, in_order),
		cmocka_unit_test_setup(test_used, in_order),
		cmocka_unit_test_setup(test_many_ways, in_order),
		cmocka_unit_test_setup(test_unknown_loop, in_order),
		cmocka_unit_test_setup(test_backwards, out_of_order),
		cmocka_unit_test_setup(test_backwards, in_order),
		cmocka_unit_test_setup(test_long_loop, out_of_order),
		cmocka_unit_test_setup(test_long_loop, in_order),
		cmocka_unit_test_setup(test_ways, several_units),
		cmocka_unit_test_setup(test_many_ways, several_units),
		cmocka_unit_test_setup(test_long_loop, several_units),
		cmocka_unit_test_setup(test_big, in_order),
		cmocka_unit_test_setup(test_behind, out_of_order),
		cmocka_unit_test_setup(test_behind, in_order),
		cmocka_unit_test_setup(test_behind, several_units),
		cmocka_unit_test_setup(test_reach, slow_divisions),
		cmocka_unit_test_setup(test_long, out_of_order),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
