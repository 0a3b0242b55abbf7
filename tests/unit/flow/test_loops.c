/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loops of graphs that are drawn in the tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "flow/loops.h"

#define MAX_BLOCKS 10
#define MAX_EDGES  20
#define NONE	   VT_LOOP_NONE

static struct vt_error err;

struct drawn {
	struct vt_cfg cfg;
	struct vt_cfg_block blocks[MAX_BLOCKS];
	struct vt_cfg_edge edges[MAX_EDGES];
	uint32_t in[MAX_EDGES];
};

/* Pairs of blocks, in order of the first; 0 is the entry, 1 the exit.  { 0, 0 } ends them. */
static void draw(struct drawn *d, uint32_t nblocks, const uint32_t (*pairs)[2])
{
	uint32_t b, i, n = 0;

	memset(d, 0, sizeof(*d));
	for (i = 0; pairs[i][0] || pairs[i][1]; i++)
		d->edges[i] = (struct vt_cfg_edge){pairs[i][0], pairs[i][1], VT_EDGE_FALL};
	d->cfg = (struct vt_cfg){.blocks = d->blocks,
				 .nblocks = nblocks,
				 .edges = d->edges,
				 .nedges = i,
				 .in = d->in};
	for (b = 0; b < nblocks; b++) {
		d->blocks[b].in = n;
		for (i = 0; i < d->cfg.nedges; i++) {
			if (d->edges[i].from == b && !d->blocks[b].nout++)
				d->blocks[b].out = i;
			if (d->edges[i].to == b)
				d->in[n++] = i;
		}
		d->blocks[b].nin = n - d->blocks[b].in;
	}
}

static struct vt_loops *find(struct drawn *d)
{
	struct vt_loops *l = vt_loops_new(&d->cfg, &err);

	assert_non_null(l);
	return l;
}

static void assert_loop(const struct vt_loops *l, uint32_t i, uint32_t head, uint32_t parent,
			uint32_t depth)
{
	assert_true(i < l->count);
	assert_int_equal(l->list[i].head, head);
	assert_int_equal(l->list[i].parent, parent);
	assert_int_equal(l->list[i].depth, depth);
}

static void test_no_loop(void **state)
{
	static const uint32_t pairs[][2] = {{0, 2}, {2, 3}, {2, 4}, {3, 4}, {4, 1}, {0, 0}};
	struct drawn d;
	struct vt_loops *l;
	uint32_t i;

	(void)state;
	draw(&d, 5, pairs);
	l = find(&d);
	assert_int_equal(l->count, 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(l->of[i], NONE);
	vt_loops_free(l);
}

static void test_block_that_repeats_itself(void **state)
{
	static const uint32_t pairs[][2] = {{0, 2}, {2, 3}, {3, 3}, {3, 4}, {4, 1}, {0, 0}};
	struct drawn d;
	struct vt_loops *l;

	(void)state;
	draw(&d, 5, pairs);
	l = find(&d);
	assert_int_equal(l->count, 1);
	assert_loop(l, 0, 3, NONE, 1);
	assert_int_equal(l->of[2], NONE);
	assert_int_equal(l->of[3], 0);
	assert_int_equal(l->of[4], NONE);
	vt_loops_free(l);
}

/* 2: { 3: { 4 } 5: { 6 } 7 }, and 8 behind it. */
static void test_loops_in_loops(void **state)
{
	static const uint32_t pairs[][2] = {{0, 2}, {2, 3}, {3, 4}, {4, 3}, {4, 5}, {5, 6},
					    {6, 5}, {6, 7}, {7, 2}, {7, 8}, {8, 1}, {0, 0}};
	struct drawn d;
	struct vt_loops *l;

	(void)state;
	draw(&d, 9, pairs);
	l = find(&d);
	assert_int_equal(l->count, 3);
	assert_loop(l, 0, 2, NONE, 1);
	assert_loop(l, 1, 3, 0, 2);
	assert_loop(l, 2, 5, 0, 2);
	assert_int_equal(l->of[2], 0);
	assert_int_equal(l->of[3], 1);
	assert_int_equal(l->of[4], 1);
	assert_int_equal(l->of[6], 2);
	assert_int_equal(l->of[7], 0);
	assert_int_equal(l->of[8], NONE);
	assert_true(vt_loops_hold(l, 0, 4) && vt_loops_hold(l, 1, 4));
	assert_false(vt_loops_hold(l, 2, 4));
	assert_false(vt_loops_hold(l, 1, 6) || vt_loops_hold(l, 1, 7) || vt_loops_hold(l, 0, 8));
	assert_false(l->list[0].entered || l->list[1].entered || l->list[2].entered);
	vt_loops_free(l);
}

/* Two ways back to 2: one loop. */
static void test_two_ways_back(void **state)
{
	static const uint32_t pairs[][2] = {{0, 2}, {2, 3}, {2, 4}, {3, 2},
					    {4, 2}, {4, 5}, {5, 1}, {0, 0}};
	struct drawn d;
	struct vt_loops *l;

	(void)state;
	draw(&d, 6, pairs);
	l = find(&d);
	assert_int_equal(l->count, 1);
	assert_loop(l, 0, 2, NONE, 1);
	assert_int_equal(l->of[3], 0);
	assert_int_equal(l->of[4], 0);
	assert_int_equal(l->of[5], NONE);
	vt_loops_free(l);
}

/* Control gets to 3 and 4 from outside: the first that it comes to is the head. */
static void test_loop_with_two_entries(void **state)
{
	static const uint32_t pairs[][2] = {{0, 2}, {2, 3}, {2, 4}, {3, 4},
					    {4, 3}, {4, 5}, {5, 1}, {0, 0}};
	struct drawn d;
	struct vt_loops *l;

	(void)state;
	draw(&d, 6, pairs);
	l = find(&d);
	assert_int_equal(l->count, 1);
	assert_loop(l, 0, 3, NONE, 1);
	assert_true(l->list[0].entered);
	assert_int_equal(l->of[4], 0);
	assert_int_equal(l->of[2], NONE);
	vt_loops_free(l);
}

/* No edge leads to 4 and 5, which are a loop all the same. */
static void test_code_that_nothing_leads_to(void **state)
{
	static const uint32_t pairs[][2] = {{0, 2}, {2, 3}, {3, 2}, {3, 1}, {4, 5}, {5, 4}, {0, 0}};
	struct drawn d;
	struct vt_loops *l;

	(void)state;
	draw(&d, 6, pairs);
	l = find(&d);
	assert_int_equal(l->count, 1);
	assert_loop(l, 0, 2, NONE, 1);
	assert_int_equal(l->of[4], NONE);
	vt_loops_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_loop),
		cmocka_unit_test(test_block_that_repeats_itself),
		cmocka_unit_test(test_loops_in_loops),
		cmocka_unit_test(test_two_ways_back),
		cmocka_unit_test(test_loop_with_two_entries),
		cmocka_unit_test(test_code_that_nothing_leads_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
