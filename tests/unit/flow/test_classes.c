/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "flow/classes.h"

#define MAX_BLOCKS 16
#define MAX_EDGES  64

static struct vt_error err;

/* A graph of blocks without code. */
struct graph {
	struct vt_cfg cfg;
	struct vt_cfg_block blocks[MAX_BLOCKS];
	struct vt_cfg_edge edges[MAX_EDGES + 1];
	uint32_t in[MAX_EDGES];
};

static int by_from(const void *a, const void *b)
{
	const struct vt_cfg_edge *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void finish(struct graph *g, uint32_t nblocks)
{
	uint32_t i, b, n = 0;

	qsort(g->edges, g->cfg.nedges, sizeof(g->edges[0]), by_from);
	g->cfg.blocks = g->blocks;
	g->cfg.edges = g->edges;
	g->cfg.in = g->in;
	g->cfg.nblocks = nblocks;
	g->cfg.complete = true;
	/* What lies behind the edges is none of them. */
	g->edges[g->cfg.nedges] = (struct vt_cfg_edge){nblocks - 1, VT_CFG_ENTRY, VT_EDGE_FALL};
	for (b = 0; b < nblocks; b++) {
		g->blocks[b].in = n;
		for (i = 0; i < g->cfg.nedges; i++) {
			if (g->edges[i].from == b && !g->blocks[b].nout++)
				g->blocks[b].out = i;
			if (g->edges[i].to == b)
				g->in[n++] = i;
		}
		g->blocks[b].nin = n - g->blocks[b].in;
	}
}

static void edge(struct graph *g, uint32_t from, uint32_t to)
{
	g->edges[g->cfg.nedges++] = (struct vt_cfg_edge){from, to, VT_EDGE_FALL};
}

/* ---- the slow way, from the definition ---- */

/*
 * Links as in the definition: blocks are links from 2 b to 2 b + 1, edges follow, then the one from
 * EXIT to ENTRY.  A link that leads into an infinite loop leads to EXIT.
 */
struct links {
	uint32_t n;
	uint32_t from[MAX_BLOCKS + MAX_EDGES + 1];
	uint32_t to[MAX_BLOCKS + MAX_EDGES + 1];
};

static bool reaches(const struct links *l, uint32_t from, uint32_t to, uint32_t without)
{
	bool seen[2 * MAX_BLOCKS] = {false}, more = true;
	uint32_t i;

	seen[from] = true;
	while (more) {
		more = false;
		for (i = 0; i < l->n; i++)
			if (i != without && seen[l->from[i]] && !seen[l->to[i]])
				seen[l->to[i]] = more = true;
	}
	return seen[to];
}

static bool on_cycle(const struct links *l, uint32_t link, uint32_t without)
{
	return link != without && reaches(l, l->to[link], l->from[link], without);
}

static void make_links(const struct graph *g, struct links *l)
{
	uint32_t i, b;
	struct links all = {0};

	for (b = 0; b < g->cfg.nblocks; b++) {
		all.from[all.n] = 2 * b;
		all.to[all.n++] = 2 * b + 1;
	}
	for (i = 0; i < g->cfg.nedges; i++) {
		all.from[all.n] = 2 * g->edges[i].from + 1;
		all.to[all.n++] = 2 * g->edges[i].to;
	}
	*l = all;
	for (i = 0; i < g->cfg.nedges; i++) {
		uint32_t to = 2 * g->edges[i].to, k = g->cfg.nblocks + i;
		bool stuck = !reaches(&all, to, all.from[k], UINT32_MAX) &&
			     !reaches(&all, to, 2 * VT_CFG_EXIT, UINT32_MAX);

		/* Into a loop, and one that nothing leaves: whatever it leads to leads back. */
		for (b = 0; b < g->cfg.nblocks && stuck; b++)
			stuck = !reaches(&all, to, 2 * b, UINT32_MAX) ||
				reaches(&all, 2 * b, to, UINT32_MAX);
		if (stuck)
			l->to[k] = 2 * VT_CFG_EXIT;
	}
	l->from[l->n] = 2 * VT_CFG_EXIT + 1;
	l->to[l->n++] = 2 * VT_CFG_ENTRY;
}

static bool equivalent(const struct links *l, uint32_t a, uint32_t b)
{
	return on_cycle(l, a, UINT32_MAX) && on_cycle(l, b, UINT32_MAX) && !on_cycle(l, a, b) &&
	       !on_cycle(l, b, a);
}

static void compare(const struct graph *g)
{
	struct vt_classes *c = vt_classes_new(&g->cfg, &err);
	uint32_t n = g->cfg.nblocks + g->cfg.nedges, i, k, next = 0, of[MAX_BLOCKS + MAX_EDGES];
	struct links l;

	assert_non_null(c);
	make_links(g, &l);
	for (i = 0; i < n; i++) {
		of[i] = i < g->cfg.nblocks ? c->block[i] : c->edge[i - g->cfg.nblocks];
		assert_true(of[i] <= next);
		next += of[i] == next;
	}
	assert_int_equal(next, c->count);
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			assert_int_equal(of[i] == of[k], equivalent(&l, i, k));
	vt_classes_free(c);
}

/* ---- tests ---- */

static bool reached(const struct graph *g, uint32_t block)
{
	struct links l = {0};
	uint32_t i;

	for (i = 0; i < g->cfg.nedges; i++) {
		l.from[l.n] = g->edges[i].from;
		l.to[l.n++] = g->edges[i].to;
	}
	return reaches(&l, VT_CFG_ENTRY, block, UINT32_MAX);
}

/* Graphs like those of code: each block leads to one or two or, seldom, more; some loop forever. */
static void test_random(void **state)
{
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 6);
	for (round = 0; round < 1500; round++) {
		struct graph g = {0};
		uint32_t n = 3 + (uint32_t)vt_rng_below(&rng, MAX_BLOCKS - 3), i, k, outs;
		bool forever = vt_rng_below(&rng, 3) == 0;

		edge(&g, VT_CFG_ENTRY, VT_CFG_FIRST);
		for (i = VT_CFG_FIRST; i < n; i++) {
			outs = 1 + (uint32_t)vt_rng_below(&rng, 2) +
			       (vt_rng_below(&rng, 8) == 0 ? 1 : 0);
			for (k = 0; k < outs; k++) {
				uint32_t to = (uint32_t)vt_rng_below(&rng, n - 1) + 1;

				if (forever && to == VT_CFG_EXIT && vt_rng_below(&rng, 4))
					to = i;
				edge(&g, i, to);
			}
		}
		for (i = VT_CFG_FIRST; i < n; i++)
			if (!reached(&g, i))
				edge(&g, VT_CFG_ENTRY, i);
		finish(&g, n);
		compare(&g);
	}
}

static void test_diamond(void **state)
{
	struct graph g = {0};
	struct vt_classes *c;

	(void)state;
	edge(&g, VT_CFG_ENTRY, 2);
	edge(&g, 2, 3);
	edge(&g, 2, 4);
	edge(&g, 3, 5);
	edge(&g, 4, 5);
	edge(&g, 5, VT_CFG_EXIT);
	finish(&g, 6);
	c = vt_classes_new(&g.cfg, &err);
	assert_non_null(c);
	assert_int_equal(c->count, 3);
	assert_int_equal(c->block[2], c->block[5]);
	assert_int_equal(c->block[2], c->block[VT_CFG_ENTRY]);
	assert_int_not_equal(c->block[3], c->block[4]);
	assert_int_not_equal(c->block[3], c->block[2]);
	vt_classes_free(c);
	g.cfg.complete = false;
	c = vt_classes_new(&g.cfg, &err);
	assert_non_null(c);
	assert_int_equal(c->count, g.cfg.nblocks + g.cfg.nedges);
	vt_classes_free(c);
}

/* The idle loop of an operating system: its two blocks are executed equally often. */
static void test_forever(void **state)
{
	struct graph g = {0};
	struct vt_classes *c;

	(void)state;
	edge(&g, VT_CFG_ENTRY, 2);
	edge(&g, 2, 3);
	edge(&g, 3, 4);
	edge(&g, 4, 3);
	finish(&g, 5);
	c = vt_classes_new(&g.cfg, &err);
	assert_non_null(c);
	assert_int_equal(c->block[3], c->block[4]);
	assert_int_not_equal(c->block[2], c->block[3]);
	assert_int_equal(c->block[2], c->block[VT_CFG_ENTRY]);
	vt_classes_free(c);
}

/* Loops that nothing leads to are looked at like others. */
static void test_unreached(void **state)
{
	struct graph g = {0};

	(void)state;
	edge(&g, VT_CFG_ENTRY, 2);
	edge(&g, 2, VT_CFG_EXIT);
	edge(&g, 3, 4);
	edge(&g, 4, 3);
	edge(&g, 4, 5);
	edge(&g, 5, 6);
	edge(&g, 6, 5);
	finish(&g, 7);
	compare(&g);
}

/* Without code nothing leads from ENTRY to EXIT: they are two. */
static void test_empty(void **state)
{
	struct graph g = {0};

	(void)state;
	finish(&g, VT_CFG_FIRST);
	compare(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	cmocka_unit_test(test_diamond),
		cmocka_unit_test(test_forever), cmocka_unit_test(test_unreached),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
