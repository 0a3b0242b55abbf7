/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of a program for paths, what samples teach it, and the paths that it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/images.h"
#include "paths/paths.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/toolbox.h"

static struct vt_error err;

/* What is behind the indirect jump is padding, as far as the code shows. */
static const char program[] = ".globl _start\n"
			      ".type _start, @function\n"
			      "_start: call f\n" /* 401000 */
			      "	dec %ecx\n"	 /* 401005 */
			      "	jnz _start\n"	 /* 401007 */
			      "	jmp g\n"	 /* 401009 */
			      ".size _start, . - _start\n"
			      ".type f, @function\n"
			      "f:	test $1, %cl\n" /* 40100b */
			      "	jz 1f\n"		/* 40100e */
			      "	rep stosb\n"		/* 401010 */
			      "1:	ret\n"		/* 401012 */
			      ".size f, . - f\n"
			      ".type g, @function\n"
			      "g:	call f\n" /* 401013 */
			      "	jmp *%rdx\n"	  /* 401018 */
			      "	.skip 24, 0x90\n" /* 40101a */
			      ".size g, . - g\n";

struct built {
	char *dir;
	struct vt_images *images;
	struct vt_pathplaces places;
	struct vt_pathgraph *g;
};

static void build_program(struct built *b)
{
	const struct vt_images_options o = {.warn = NULL};
	const char *path;

	b->dir = toolbox_dir();
	scene_program(b->dir, program);
	b->images = vt_images_new(&o, &err);
	assert_non_null(b->images);
	path = toolbox_path(b->dir, "prog");
	assert_int_equal(
		vt_images_add(b->images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err), 0);
	vt_pathplaces_init(&b->places);
	b->g = NULL;
}

static void drop_program(struct built *b)
{
	vt_pathgraph_free(b->g);
	vt_pathplaces_fini(&b->places);
	vt_images_free(b->images);
	toolbox_remove(b->dir);
}

static uint32_t place_at(struct built *b, uint64_t vaddr)
{
	const struct vt_pathplace key = {.offset = vaddr - 0x400000, .image = 1};

	return (uint32_t)vt_hash_index(&b->places.places,
				       vt_hash_add(&b->places.places, &key, NULL));
}

static void go(struct built *b, uint64_t from, uint64_t to, uint64_t count)
{
	assert_true(vt_pathplaces_went(&b->places, place_at(b, from), place_at(b, to), count));
}

static void make_graph(struct built *b, bool across, bool counted)
{
	const struct vt_pathgraph_options o = {
		.images = b->images, .places = &b->places, .across = across, .counted = counted};

	b->g = vt_pathgraph_new(&o, &err);
	assert_non_null(b->g);
}

static uint32_t node_at(struct built *b, uint64_t vaddr)
{
	uint32_t nth = 9, node = vt_pathgraph_find(b->g, place_at(b, vaddr), &nth);

	assert_int_not_equal(node, VT_PATHNODE_NONE);
	assert_int_equal(nth, 0);
	return node;
}

/* The edge between two nodes; NULL: none. */
static const struct vt_pathedge *edge_of(struct built *b, uint64_t from, uint64_t to)
{
	const struct vt_pathnode *n = &b->g->nodes[node_at(b, to)];
	uint32_t i, at = node_at(b, from);

	for (i = n->first; i < n->first + n->count; i++)
		if (b->g->edges[i].from == at)
			return &b->g->edges[i];
	return NULL;
}

static void expect_edge(struct built *b, uint64_t from, uint64_t to, enum vt_pathedge_kind kind,
			uint8_t bit, uint64_t site)
{
	const struct vt_pathedge *e = edge_of(b, from, to);

	assert_non_null(e);
	assert_int_equal(e->kind, kind);
	assert_int_equal(e->bit, bit);
	assert_int_equal(e->site, site ? node_at(b, site) : 0);
}

static void nodes_are_parts_of_blocks(void **state)
{
	const struct vt_pathnode *n;
	struct built b;
	uint32_t nth, node, image;
	uint64_t offset;

	(void)state;
	build_program(&b);
	place_at(&b, 0x401000);
	make_graph(&b, true, false);
	/* f and g are there, as they are called and jumped to. */
	assert_int_equal(b.g->nprocs, 3);
	node = vt_pathgraph_find(b.g, place_at(&b, 0x401007), &nth);
	n = &b.g->nodes[node];
	assert_true(n->start == 0x401005 && n->end == 0x401009 && n->target == 0x401000);
	assert_int_equal(n->ninsns, 2);
	assert_int_equal(nth, 1);
	assert_int_equal(n->site, node_at(&b, 0x401000));
	assert_true(vt_pathgraph_insn(b.g, node, 1) == 0x401007);
	vt_pathgraph_place(b.g, node, &image, &offset);
	assert_true(image == 1 && offset == 0x1005);
	assert_true(b.g->nodes[node_at(&b, 0x401010)].repeats);
	assert_false(b.g->nodes[node_at(&b, 0x40100b)].repeats);
	assert_false(b.g->nodes[node_at(&b, 0x401012)].repeats);
	assert_true(b.g->nodes[node_at(&b, 0x401018)].incomplete);
	/* No place, or none with code. */
	assert_int_equal(vt_pathgraph_find(b.g, place_at(&b, 0x401032), &nth), VT_PATHNODE_NONE);
	assert_int_equal(vt_pathgraph_find(b.g, place_at(&b, 0x40101a), &nth), VT_PATHNODE_NONE);
	drop_program(&b);
}

static void edges_go_across_calls(void **state)
{
	struct built b;

	(void)state;
	build_program(&b);
	place_at(&b, 0x401000);
	make_graph(&b, true, false);
	expect_edge(&b, 0x401000, 0x40100b, VT_PATHEDGE_CALL, VT_PATHEDGE_NOBIT, 0x401000);
	expect_edge(&b, 0x401013, 0x40100b, VT_PATHEDGE_CALL, VT_PATHEDGE_NOBIT, 0x401013);
	expect_edge(&b, 0x401012, 0x401005, VT_PATHEDGE_RETURN, VT_PATHEDGE_NOBIT, 0x401000);
	expect_edge(&b, 0x401012, 0x401018, VT_PATHEDGE_RETURN, VT_PATHEDGE_NOBIT, 0x401013);
	expect_edge(&b, 0x40100b, 0x401012, VT_PATHEDGE_PLAIN, 1, 0);
	expect_edge(&b, 0x40100b, 0x401010, VT_PATHEDGE_PLAIN, 0, 0);
	expect_edge(&b, 0x401010, 0x401012, VT_PATHEDGE_PLAIN, VT_PATHEDGE_NOBIT, 0);
	expect_edge(&b, 0x401005, 0x401000, VT_PATHEDGE_PLAIN, 1, 0);
	expect_edge(&b, 0x401009, 0x401013, VT_PATHEDGE_PLAIN, VT_PATHEDGE_NOBIT, 0);
	assert_int_equal(b.g->nedges, 10);
	/* Callers may be unknown; and any block of g may be where it jumps to. */
	assert_true(b.g->nodes[node_at(&b, 0x40100b)].open);
	assert_true(b.g->nodes[node_at(&b, 0x401013)].open);
	assert_false(b.g->nodes[node_at(&b, 0x401010)].open);
	assert_false(b.g->nodes[node_at(&b, 0x401005)].open);
	drop_program(&b);
}

static void edges_stop_within_procedures(void **state)
{
	struct built b;

	(void)state;
	build_program(&b);
	place_at(&b, 0x401005);
	place_at(&b, 0x40100b);
	make_graph(&b, false, false);
	assert_int_equal(b.g->nprocs, 2);
	expect_edge(&b, 0x401005, 0x401005, VT_PATHEDGE_STOP, VT_PATHEDGE_NOBIT, 0);
	expect_edge(&b, 0x40100b, 0x40100b, VT_PATHEDGE_STOP, VT_PATHEDGE_NOBIT, 0);
	assert_null(edge_of(&b, 0x40100b, 0x401005));
	assert_false(b.g->nodes[node_at(&b, 0x40100b)].open);
	drop_program(&b);
}

static void transfers_are_edges(void **state)
{
	struct built b;

	(void)state;
	build_program(&b);
	/* To a block that the code does not show; from the middle of a block, and into it; and over
	 * a branch to where it does not go. */
	go(&b, 0x401018, 0x401030, 3);
	go(&b, 0x401005, 0x401000, 5);
	go(&b, 0x401009, 0x40100e, 5);
	go(&b, 0x401007, 0x401012, 5);
	make_graph(&b, true, false);
	expect_edge(&b, 0x401018, 0x401030, VT_PATHEDGE_PLAIN, VT_PATHEDGE_NOBIT, 0);
	expect_edge(&b, 0x401005, 0x401000, VT_PATHEDGE_PLAIN, 1, 0);
	assert_null(edge_of(&b, 0x401009, 0x40100b));
	assert_null(edge_of(&b, 0x401005, 0x401012));
	assert_true(edge_of(&b, 0x401018, 0x401030)->count == 0);
	drop_program(&b);
}

static void counted_edges_are_all(void **state)
{
	const struct vt_pathnode *n;
	struct built b;

	(void)state;
	build_program(&b);
	go(&b, 0x401000, 0x40100b, 40);
	go(&b, 0x40100e, 0x401012, 30);
	go(&b, 0x40100e, 0x401010, 10);
	go(&b, 0x401010, 0x401012, 10);
	go(&b, 0x401012, 0x401005, 40);
	make_graph(&b, true, true);
	assert_int_equal(b.g->nedges, 5);
	n = &b.g->nodes[node_at(&b, 0x401012)];
	assert_int_equal(n->count, 2);
	assert_true(edge_of(&b, 0x40100b, 0x401012)->part == .75);
	assert_true(edge_of(&b, 0x401010, 0x401012)->part == .25);
	expect_edge(&b, 0x401000, 0x40100b, VT_PATHEDGE_CALL, VT_PATHEDGE_NOBIT, 0x401000);
	expect_edge(&b, 0x401012, 0x401005, VT_PATHEDGE_RETURN, VT_PATHEDGE_NOBIT, 0x401000);
	assert_false(b.g->nodes[node_at(&b, 0x40100b)].open);
	/* The likeliest comes first. */
	assert_true(b.g->choices[n->first].part == .75);
	assert_true(b.g->choices[n->first].rest[1] == 1 && b.g->choices[n->first].rest[0] == .25f);
	drop_program(&b);
}

/* Ten samples of f's return behind a jump that was taken. */
static void learns_from_samples(void **state)
{
	struct vt_pathquestion taken = {
		.history = 1, .event = 7, .place = 1, .other = VT_PATHPLACE_NONE, .branches = 1};
	struct vt_pathsamples s = {.branches = 1};
	const uint32_t stack[] = {0, 1};
	struct vt_pathquestion *q;
	struct vt_pathscore score;
	struct vt_paths p = {0};
	const struct vt_path *path;
	struct vt_context *context;
	struct built b;

	(void)state;
	build_program(&b);
	context = vt_context_new(b.images);
	place_at(&b, 0x40100e);
	place_at(&b, 0x401012);
	assert_int_equal(vt_pathsamples_init(&s, context, &b.places, 1, VT_PATHSTACKS_TRUE, &err),
			 0);
	q = vt_hash_add(&s.questions, &taken, NULL);
	q->count = 8;
	q->executions = 800;
	/* Others that ask the same but of a pair, whose other half is in no image. */
	taken.distance = 5;
	q = vt_hash_add(&s.questions, &taken, NULL);
	q->count = 2;
	q->executions = 200;
	make_graph(&b, false, false);
	assert_int_equal(vt_paths_init(&p, b.g, &s, &err), 0);
	assert_int_equal(vt_paths_learn(&p, &err), 0);
	/*
	 * At first, by the weights of the blocks, .05/2 leaves by three edges and .05 by one: a
	 * seventh comes over the jump, and counts for two samples; the ten are over it.
	 */
	assert_float_equal(edge_of(&b, 0x40100b, 0x401012)->count, 10 + 2 / 7.0, 1e-6);
	assert_float_equal(edge_of(&b, 0x401010, 0x401012)->count, 12 / 7.0, 1e-6);
	assert_float_equal(edge_of(&b, 0x40100b, 0x401012)->part, 6 / 7.0, 1e-6);
	assert_int_equal(vt_paths_find(&p, VT_PATHWAY_LIKELY, &err), 0);
	assert_int_equal(p.totals.samples, 10);
	assert_int_equal(p.totals.found, 10);
	assert_int_equal(p.list.count, 1);
	path = vt_hash_at(&p.list, 0);
	assert_int_equal(path->branches, 1);
	assert_int_equal(path->found, 10);
	assert_true(path->samples == 10);
	assert_true(path->executions == 1000);
	assert_true(path->probability == 1);
	/* Its stack says the same: of the likely ones, a certain path is in the last tenth. */
	s.list = calloc(1, sizeof(*s.list));
	s.list[0].stack = vt_intern_add(s.stacks, stack, sizeof(stack));
	s.nlist = 1;
	assert_int_equal(vt_paths_score(&p, 1, &score, &err), 0);
	assert_int_equal(score.samples, 1);
	assert_int_equal(score.ways[VT_PATHWAY_LIKELY].right, 1);
	assert_int_equal(score.ways[VT_PATHWAY_COUNTS].right, 1);
	assert_int_equal(score.ways[VT_PATHWAY_HISTORY].only, 1);
	assert_int_equal(score.ways[VT_PATHWAY_HISTORY].wrong, 0);
	assert_int_equal(score.bins[VT_PATHS_BINS - 1].samples, 1);
	assert_int_equal(score.bins[VT_PATHS_BINS - 1].right, 1);
	vt_paths_fini(&p);
	vt_pathsamples_fini(&s);
	vt_context_free(context);
	drop_program(&b);
}

static void expect_true_path(struct built *b, uint32_t branches, const uint32_t *stack, size_t n,
			     const uint64_t *path, uint32_t npath)
{
	const struct vt_pathask ask = {.node = node_at(b, path[0]), .branches = branches};
	uint32_t nodes[VT_PATHS_NODES], nnodes = 0, i;
	bool whole = false;

	assert_int_equal(vt_paths_true(b->g, &ask, stack, n, nodes, &nnodes, &whole), branches);
	assert_true(whole);
	assert_int_equal(nnodes, npath);
	for (i = 0; i < npath; i++)
		assert_int_equal(nodes[i], node_at(b, path[i]));
}

static void stacks_tell_paths(void **state)
{
	static const uint64_t path[] = {0x401009, 0x401005, 0x401012, 0x401010, 0x40100b};
	struct vt_pathask ask = {.branches = 2};
	uint32_t nodes[VT_PATHS_NODES], n = 0;
	struct built b;
	bool whole;

	(void)state;
	build_program(&b);
	place_at(&b, 0x401000);
	make_graph(&b, true, false);
	{
		/* Of executed blocks, which may end in a block, or go on to the next one. */
		const uint32_t stack[] = {place_at(&b, 0x401005), place_at(&b, 0x401007),
					  place_at(&b, 0x401012), place_at(&b, 0x401005),
					  place_at(&b, 0x401010), place_at(&b, 0x401012),
					  place_at(&b, 0x401010), place_at(&b, 0x401010),
					  place_at(&b, 0x401000), place_at(&b, 0x40100b)};

		expect_true_path(&b, 2, stack, 10, path, 5);
		expect_true_path(&b, 1, stack, 4, path, 2);
		/* No more is known; and control does not come to the end of a block from a return.
		 */
		ask.node = node_at(&b, 0x401009);
		assert_int_equal(vt_paths_true(b.g, &ask, stack, 4, nodes, &n, &whole), 1);
		assert_false(whole);
		assert_int_equal(n, 3);
		assert_int_equal(vt_paths_true(b.g, &ask, stack + 1, 2, nodes, &n, &whole), -1);
		assert_int_equal(n, 1);
	}
	drop_program(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_parts_of_blocks),
		cmocka_unit_test(edges_go_across_calls),
		cmocka_unit_test(edges_stop_within_procedures),
		cmocka_unit_test(transfers_are_edges),
		cmocka_unit_test(counted_edges_are_all),
		cmocka_unit_test(learns_from_samples),
		cmocka_unit_test(stacks_tell_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
