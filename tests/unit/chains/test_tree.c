/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chains/sums.h"
#include "chains/tree.h"

static struct vt_error err;
static const uint32_t in_order[] = {0, 1, 2, 3, 4, 5, 6, 7};

static void add(struct vt_calltree *t, uint32_t root, const uint32_t *keys, size_t n,
		uint64_t samples)
{
	assert_int_equal(vt_calltree_add(t, root, keys, n,
					 (struct vt_tally){samples, 10 * samples, 0}, &err),
			 0);
}

#define ADD(t, root, samples, ...)                                                                 \
	add(t, root, (const uint32_t[]){__VA_ARGS__},                                              \
	    sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), samples)

/* A walk as text: a line "depth key self total" each. */
struct walked {
	const struct vt_calltree *tree;
	uint64_t rows[32][4];
	size_t count;
	unsigned most;
	size_t left;
};

static bool note_node(void *arg, uint32_t node, unsigned depth)
{
	struct walked *w = arg;
	const struct vt_callnode *n = vt_calltree_at(w->tree, node);

	assert_true(w->count < 32);
	w->rows[w->count][0] = depth;
	w->rows[w->count][1] = n->key;
	w->rows[w->count][2] = n->self.samples;
	w->rows[w->count++][3] = n->total.samples;
	return depth < w->most;
}

static void note_end(void *arg, uint32_t node)
{
	(void)node;
	((struct walked *)arg)->left++;
}

static void expect_walk(const struct vt_calltree *t, uint32_t root, unsigned most,
			const uint64_t (*rows)[4], size_t n)
{
	struct walked w = {.tree = t, .most = most};
	size_t i, k;

	vt_calltree_walk(t, vt_calltree_root(t, root),
			 &(struct vt_calltree_visitor){note_node, note_end, &w});
	assert_int_equal(w.count, n);
	assert_int_equal(w.left, n);
	for (i = 0; i < n; i++)
		for (k = 0; k < 4; k++)
			assert_int_equal(w.rows[i][k], rows[i][k]);
}

static void sorts_and_sums(void **state)
{
	static const uint64_t all[][4] = {{0, 2, 0, 9}, {1, 4, 5, 5}, {1, 3, 1, 4}, {2, 4, 3, 3},
					  {0, 0, 2, 2}, {0, 1, 2, 2}, {0, 5, 2, 2}};
	static const uint64_t top[][4] = {{0, 2, 0, 9}, {0, 0, 2, 2}, {0, 1, 2, 2}, {0, 5, 2, 2}};
	static const uint64_t other[][4] = {{0, 3, 1, 1}};
	struct vt_calltree *t = vt_calltree_new(100);

	(void)state;
	ADD(t, 7, 2, 5);
	ADD(t, 7, 2, 1);
	ADD(t, 7, 3, 2, 3, 4);
	ADD(t, 7, 1, 2, 3);
	ADD(t, 7, 5, 2, 4);
	ADD(t, 7, 2, 0);
	ADD(t, 6, 1, 3);
	assert_int_equal(vt_calltree_sort(t, in_order, false, &err), 0);
	expect_walk(t, 7, 9, all, 7);
	/* Children are left out, not what comes after them. */
	expect_walk(t, 7, 0, top, 4);
	expect_walk(t, 6, 9, other, 1);
	assert_int_equal(vt_calltree_root(t, 5), VT_CALL_NONE);
	assert_int_equal(vt_calltree_count(t), 10);
	assert_int_equal(vt_calltree_at(t, vt_calltree_root(t, 7))->total.period, 150);
	vt_calltree_free(t);
}

/* Chains that begin as the one before: longer, shorter, equal, empty, under another root. */
static void begins_as_before(void **state)
{
	static const uint64_t first[][4] = {
		{0, 1, 2, 63}, {1, 2, 4, 60}, {2, 3, 40, 40}, {2, 4, 16, 16}, {1, 3, 1, 1}};
	static const uint64_t second[][4] = {{0, 1, 0, 128}, {1, 2, 128, 128}};
	struct vt_calltree *t = vt_calltree_new(100);

	(void)state;
	ADD(t, 1, 8, 1, 2, 3);
	ADD(t, 1, 32, 1, 2, 3);
	ADD(t, 1, 2, 1);
	ADD(t, 1, 4, 1, 2);
	add(t, 1, NULL, 0, 256);
	ADD(t, 1, 16, 1, 2, 4);
	ADD(t, 1, 1, 1, 3);
	ADD(t, 2, 128, 1, 2);
	assert_int_equal(vt_calltree_sort(t, in_order, false, &err), 0);
	expect_walk(t, 1, 9, first, 5);
	expect_walk(t, 2, 9, second, 2);
	assert_int_equal(vt_calltree_at(t, vt_calltree_root(t, 1))->self.samples, 256);
	vt_calltree_free(t);
}

static void maps_keys(void **state)
{
	static const uint32_t map[] = {0, 1, 1, 0};
	static const uint64_t rows[][4] = {{0, 1, 9, 9}, {0, 0, 1, 7}, {1, 1, 6, 6}};
	struct vt_calltree *t = vt_calltree_new(100), *m;

	(void)state;
	ADD(t, 3, 1, 0);
	ADD(t, 3, 2, 3, 1);
	ADD(t, 3, 4, 0, 2);
	/* A frame near the sample: the same procedure is the same call, another one is not. */
	ADD(t, 3, 4, 1, 2 | VT_CALL_SKID);
	ADD(t, 3, 5, 1 | VT_CALL_SKID);
	m = vt_calltree_map(t, &(struct vt_callmap){in_order, map}, map, &err);
	assert_non_null(m);
	assert_int_equal(vt_calltree_sort(m, (const uint32_t[]){0, 1}, false, &err), 0);
	expect_walk(m, 3, 9, rows, 3);
	vt_calltree_free(m);
	vt_calltree_free(t);
}

/* A key may become several, as a place in code that is inlined. */
static void expands_keys(void **state)
{
	/* 0 becomes 5, 6; 1 becomes 7; 2 becomes 5, 6, 7. */
	static const uint32_t first[] = {0, 2, 3, 6}, keys[] = {5, 6, 7, 5, 6, 7};
	static const uint32_t procedure[] = {5, 7, 5};
	static const uint64_t rows[][4] = {{0, 5, 0, 9}, {1, 6, 3, 9}, {2, 7, 6, 6}, {0, 7, 4, 4}};
	static const uint64_t cut[][4] = {
		{0, 7, 4, 4}, {0, 5, 0, 3}, {1, 6, 3, 3}, {0, VT_CALL_CUT, 6, 6}};
	const struct vt_callmap map = {first, keys};
	struct vt_calltree *t = vt_calltree_new(100), *m;

	(void)state;
	ADD(t, 3, 3, 0);
	/* A frame near the sample is the same call as long as the procedure is the same. */
	ADD(t, 3, 6, 0, 2 | VT_CALL_SKID);
	ADD(t, 3, 4, 1);
	m = vt_calltree_map(t, &map, procedure, &err);
	assert_non_null(m);
	assert_int_equal(vt_calltree_sort(m, in_order, false, &err), 0);
	expect_walk(m, 3, 9, rows, 4);
	vt_calltree_free(m);
	vt_calltree_free(t);

	/* Without room for the third node of the second chain. */
	t = vt_calltree_new(4);
	ADD(t, 3, 3, 0);
	ADD(t, 3, 4, 1);
	ADD(t, 3, 6, 2);
	m = vt_calltree_map(t, &map, procedure, &err);
	assert_non_null(m);
	assert_int_equal(vt_calltree_sort(m, in_order, false, &err), 0);
	expect_walk(m, 3, 9, cut, 4);
	vt_calltree_free(m);
	vt_calltree_free(t);
}

static void memory_is_bounded(void **state)
{
	static const uint64_t rows[][4] = {{0, 1, 0, 5}, {1, 2, 5, 5}, {0, VT_CALL_CUT, 7, 7}};
	struct vt_calltree *t = vt_calltree_new(3), *m;
	const struct vt_callsum *s;
	struct vt_callsums sums;
	uint64_t cut = VT_CALL_CUT;

	(void)state;
	ADD(t, 0, 1, 1, 2);
	ADD(t, 0, 3, 1, 3);
	ADD(t, 0, 4, 2, 3, 4);
	ADD(t, 0, 4, 1, 2);
	assert_int_equal(vt_calltree_count(t), 4);
	m = vt_calltree_map(t, &(struct vt_callmap){in_order, in_order}, in_order, &err);
	vt_calltree_free(t);
	assert_int_equal(vt_calltree_sort(m, in_order, false, &err), 0);
	expect_walk(m, 0, 9, rows, 3);
	assert_int_equal(vt_callsums_init(&sums, m, vt_calltree_root(m, 0), &err), 0);
	s = vt_hash_find(&sums.procedures, &cut);
	assert_non_null(s);
	assert_int_equal(s->total.samples, 7);
	vt_callsums_fini(&sums);
	vt_calltree_free(m);
}

static void expect_sum(const struct vt_callsums *s, uint64_t key, uint64_t self, uint64_t total)
{
	const struct vt_callsum *p = vt_hash_find(&s->procedures, &key);

	assert_non_null(p);
	assert_int_equal(p->self.samples, self);
	assert_int_equal(p->total.samples, total);
	assert_int_equal(p->total.period, 10 * total);
	assert_int_equal(p->active, 0);
}

static void expect_edge(const struct vt_callsums *s, uint32_t caller, uint32_t callee,
			uint64_t total)
{
	const struct vt_calledge at = {.caller = caller, .callee = callee};
	const struct vt_calledge *e = vt_hash_find(&s->edges, &at);

	assert_non_null(e);
	assert_int_equal(e->total.samples, total);
	assert_int_equal(e->active, 0);
}

/* A sample counts once for a procedure and for an edge, however deep the recursion. */
static void recursion_counts_once(void **state)
{
	uint32_t deep[127] = {0};
	struct vt_calltree *t = vt_calltree_new(1000);
	struct vt_callsums s;
	size_t i;

	(void)state;
	for (i = 1; i < 127; i++)
		deep[i] = 1;
	add(t, 0, deep, 127, 4);
	add(t, 0, deep, 50, 2);
	ADD(t, 0, 8, 0, 1, 2, 1, 2, 3);
	ADD(t, 0, 16, 0);
	assert_int_equal(vt_calltree_sort(t, in_order, true, &err), 0);
	assert_int_equal(vt_callsums_init(&s, t, vt_calltree_root(t, 0), &err), 0);
	assert_int_equal(s.procedures.count, 4);
	expect_sum(&s, 0, 16, 30);
	expect_sum(&s, 1, 6, 14);
	expect_sum(&s, 2, 0, 8);
	expect_sum(&s, 3, 8, 8);
	assert_int_equal(s.edges.count, 6);
	expect_edge(&s, VT_CALL_NONE, 0, 30);
	expect_edge(&s, 0, 1, 14);
	expect_edge(&s, 1, 1, 6);
	expect_edge(&s, 1, 2, 8);
	expect_edge(&s, 2, 1, 8);
	expect_edge(&s, 2, 3, 8);
	vt_callsums_fini(&s);
	vt_calltree_free(t);
}

static void nothing(void **state)
{
	struct vt_calltree *t = vt_calltree_new(10);
	struct vt_callsums s;

	(void)state;
	assert_int_equal(vt_calltree_sort(t, in_order, false, &err), 0);
	assert_int_equal(vt_callsums_init(&s, t, VT_CALL_NONE, &err), 0);
	assert_int_equal(s.procedures.count, 0);
	vt_callsums_fini(&s);
	assert_int_equal(vt_calltree_add(t, 1, NULL, 0, (struct vt_tally){3, 3, 0}, &err), 0);
	assert_int_equal(vt_calltree_sort(t, in_order, false, &err), 0);
	expect_walk(t, 1, 9, NULL, 0);
	vt_calltree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_and_sums),    cmocka_unit_test(begins_as_before),
		cmocka_unit_test(maps_keys),	     cmocka_unit_test(expands_keys),
		cmocka_unit_test(memory_is_bounded), cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
