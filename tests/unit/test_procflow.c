/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Static schedules of procedures on machines that issue out of order: what each block costs behind
 * what comes before it, against schedules of the whole ways put together here.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/procflow.h"
#include "machine/ooo.h"
#include "machine/schedule.h"
#include "tests/unit/toolbox.h"

#define START	0x401000
#define MOST	64
#define NOWHERE UINT32_MAX
#define RETURNS 3 /* stand for what a call leads to */
#define REPEATS 4 /* of an instruction that repeats itself: the last one counts */

static struct vt_error err;
static char *dir;
static struct vt_images *images;
static struct vt_core core;

/* Two ways to the end, one of them by a call and a string instruction. */
static const char program[] = ".text\n.globl _start\n_start:\n.type f,@function\n"
			      "f: mov (%rdi),%rax\ntest %rax,%rax\nje 1f\n"
			      "imul %rax,%rax\ncall g\n"
			      "rep movsb\nmov (%rsi),%rbx\n"
			      "1: add %rax,%rbx\nimul %rbx,%rcx\nadd %rcx,%rdx\nret\n"
			      ".size f,.-f\n.type g,@function\ng: ret\n.size g,.-g\n";

static struct vt_procedure procedure(void)
{
	enum vt_unknown why;
	const struct vt_symbol *sym = vt_symbols_find(vt_images_symbols(images, 1, 0, &why), START);

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

static void add(struct way *w, const struct vt_procflow *f, uint32_t insn)
{
	uint32_t k;

	assert_true(w->n + RETURNS < MOST);
	w->ops[w->n] = &f->ops[insn];
	w->insn[w->n++] = insn;
	for (k = 0; k < RETURNS && f->ops[insn].flags & VT_FACT_CALL; k++) {
		w->ops[w->n] = &w->ret;
		w->insn[w->n++] = NOWHERE;
	}
}

static void add_way(struct way *w, const struct vt_procflow *f, uint32_t edge, const double *edges)
{
	uint32_t from = edge == NOWHERE ? 0 : f->cfg->edges[edge].from, i;
	const struct vt_cfg_block *b = &f->cfg->blocks[from];

	if (edge == NOWHERE)
		return;
	add_way(w, f, usual_edge(f->cfg, from, edges), edges);
	for (i = 0; i < b->ninsns; i++)
		add(w, f, b->insn + i);
}

/* The costs of a block behind an edge, by its instructions. */
static void schedule_way(const struct vt_procflow *f, uint32_t block, uint32_t edge,
			 const double *edges, struct vt_schedule_cost *costs)
{
	static const uint8_t ret[] = {0xc3};
	const struct vt_cfg_block *b = &f->cfg->blocks[block];
	struct vt_schedule_cost all[MOST];
	struct vt_ooo *ooo = vt_ooo_new(&core, NULL);
	struct way w = {.n = 0};
	uint32_t warm, i, k;

	assert_non_null(ooo);
	vt_core_op(&core, ret, sizeof(ret), &w.ret);
	add_way(&w, f, edge, edges);
	warm = w.n;
	for (i = b->insn; i < b->insn + b->ninsns; i++) {
		for (k = 1; k < REPEATS && f->ops[i].flags & VT_FACT_REPEATED; k++)
			add(&w, f, i);
		add(&w, f, i);
	}
	vt_schedule_on(ooo, &core, w.ops, w.n, warm, all);
	/* The last of each counts. */
	for (i = warm; i < w.n; i++)
		if (w.insn[i] != NOWHERE) {
			struct vt_schedule_cost *c = &costs[w.insn[i] - b->insn];
			int64_t at = (int64_t)warm + all[i - warm].depends;

			*c = all[i - warm];
			if (c->depends != VT_SCHEDULE_NONE)
				c->depends = at < 0 || w.insn[at] == NOWHERE ? VT_SCHEDULE_NONE
									     : (int32_t)w.insn[at];
		}
	vt_ooo_free(ooo);
}

/* ---- comparing ---- */

static void assert_costs(const struct vt_procflow *f, uint32_t block, const double *edges)
{
	const struct vt_cfg *g = f->cfg;
	const struct vt_cfg_block *b = &g->blocks[block];
	struct vt_schedule_cost way[MOST];
	double head[MOST] = {0}, best[MOST] = {0}, all = 0;
	uint32_t i, k, usual = NOWHERE;

	assert_true(b->ninsns <= MOST);
	memset(way, 0, sizeof(way));
	for (k = 0; k < b->nin; k++)
		all += fmax(edges[g->in[b->in + k]], 0);
	for (k = 0; k < b->nin; k++) {
		uint32_t edge = g->in[b->in + k];
		uint32_t behind = g->edges[edge].from < VT_CFG_FIRST ? NOWHERE : edge;

		if (edge >= MOST || !(edges[edge] > 0))
			continue;
		schedule_way(f, block, behind, edges, way);
		for (i = 0; i < b->ninsns && i < MOST; i++) {
			head[i] += edges[edge] / all * (double)way[i].head;
			best[i] += edges[edge] / all * (double)way[i].best;
		}
		if (usual == NOWHERE || edges[edge] > edges[usual])
			usual = edge;
	}
	schedule_way(f, block, g->edges[usual].from < VT_CFG_FIRST ? NOWHERE : usual, edges, way);
	for (i = 0; i < b->ninsns && i < MOST; i++) {
		const struct vt_schedule_cost *c = &f->costs[b->insn + i];

		if (fabs((double)c->head - head[i]) > 1e-4 ||
		    fabs((double)c->best - best[i]) > 1e-4 || c->depends != way[i].depends)
			fail_msg("block %u, instruction %u: %g %g %d, not %g %g %d", block, i,
				 (double)c->head, (double)c->best, c->depends, head[i], best[i],
				 way[i].depends);
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

/* Knowing how often the ways are taken, before anything was scheduled or after. */
static void test_ways(void **state)
{
	static const double shares[][2] = {{3, 1}, {1, 3}, {5, 2}};
	const struct vt_procedure proc = procedure();
	double edges[MOST];
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
		struct vt_procflow *later = vt_procflow_graph(images, NULL, &proc, &err);
		uint32_t b;

		assert_true(f && later);
		weigh_edges(f, shares[i][0], shares[i][1], edges);
		assert_int_equal(vt_procflow_weigh(f, &core, edges, &err), 0);
		assert_int_equal(vt_procflow_schedule(later, images, NULL, &core, edges, &err), 0);
		for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++) {
			assert_costs(f, b, edges);
			assert_costs(later, b, edges);
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
	const struct vt_procedure proc = procedure();
	struct vt_procflow *f = vt_procflow_new(images, NULL, &proc, &core, &err);
	struct vt_procflow *later = vt_procflow_graph(images, NULL, &proc, &err);
	double falls[MOST], jumps[MOST];
	uint32_t b;

	(void)state;
	assert_true(f && later);
	weigh_edges(f, 0, 1, falls);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
		assert_costs(f, b, falls);
	weigh_edges(f, 1, 0, jumps);
	assert_int_equal(vt_procflow_schedule(later, images, NULL, &core, jumps, &err), 0);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
		assert_costs(later, b, usual_edge(f->cfg, b, jumps) == NOWHERE ? falls : jumps);
	vt_procflow_free(f);
	vt_procflow_free(later);
}

static int begin(void **state)
{
	static const struct vt_images_options none = {.warn = NULL};
	const char *path;

	(void)state;
	dir = toolbox_dir();
	toolbox_write(dir, "p.s", program);
	free(toolbox_run(dir, "gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 "
			      "-Wl,--build-id=none -o p p.s"));
	images = vt_images_new(&none, &err);
	path = toolbox_path(dir, "p");
	return vt_core_load(&core, "skylake", &err) < 0 ||
	       vt_images_add(images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0;
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
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_unknown_ways),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
