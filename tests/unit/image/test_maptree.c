/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tree of mappings stays balanced in whatever order they come and go.  That it finds the right
 * ones is tested beside address spaces, by a table of pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/maptree.h"

#define PAGE 0x1000

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Checks order and balance; returns the height, adds the number of nodes. */
static unsigned check_tree(const struct vti_node *t, uint64_t from, uint64_t to, size_t *n)
{
	unsigned left, right;

	if (!t)
		return 0;
	assert_true(t->map.start >= from && t->map.start < t->map.end && t->map.end <= to);
	++*n;
	left = check_tree(t->left, from, t->map.start, n);
	right = check_tree(t->right, t->map.end, to, n);
	assert_true(left <= right + 1 && right <= left + 1);
	assert_int_equal(t->height, 1 + max(left, right));
	return t->height;
}

static void put(struct vti_nodes *n, struct vti_node **root, uint64_t page, uint64_t pages)
{
	struct vt_map map = {.start = page * PAGE, .end = (page + pages) * PAGE};

	assert_int_equal(vti_tree_put(n, root, map.start, map.end, &map), 0);
}

/* An order that makes a list of trees that are balanced by luck: that of our own numbers by luck.
 */
static void any_order_of_coming(void **state)
{
	enum { N = 1 << 12 };
	static uint64_t luck[N];
	struct vti_nodes nodes;
	struct vt_rng rng;
	unsigned how;
	size_t i, k;

	(void)state;
	vt_rng_init(&rng, 1);
	for (i = 0; i < N; i++)
		luck[i] = vt_rng_next(&rng);
	for (how = 0; how < 4; how++) {
		struct vti_node *root = NULL;
		size_t n = 0;

		vti_nodes_init(&nodes, N);
		for (i = 0; i < N; i++) {
			uint64_t page = how == 0 ? i : how == 1 ? N - i : 0;

			if (how == 2)
				page = i & 1 ? N + i : N - i;
			for (k = 0; how == 3 && k < N; k++)
				page += luck[k] > luck[i];
			put(&nodes, &root, page, 1);
		}
		assert_true(check_tree(root, 0, UINT64_MAX, &n) <= 17);
		assert_int_equal(n, N);
		vti_tree_free(&nodes, root);
		vti_nodes_fini(&nodes);
	}
}

static void replaced_and_cut(void **state)
{
	enum { PAGES = 3000 };
	struct vti_node *root = NULL, *copy;
	struct vti_nodes nodes;
	struct vt_rng rng;
	unsigned round;

	(void)state;
	vt_rng_init(&rng, 7);
	vti_nodes_init(&nodes, SIZE_MAX);
	for (round = 0; round < 20000; round++) {
		uint64_t page = vt_rng_below(&rng, PAGES);
		uint64_t pages = 1 + vt_rng_below(&rng, round % 100 ? 4 : PAGES - page);

		if (round % 3)
			put(&nodes, &root, page, pages);
		else
			assert_int_equal(vti_tree_put(&nodes, &root, page * PAGE,
						      (page + pages) * PAGE, NULL),
					 0);
		if (round % 50 == 0) {
			size_t n = 0, copied = 0;
			unsigned height = check_tree(root, 0, UINT64_MAX, &n);

			assert_int_equal(nodes.count, n);
			assert_int_equal(vti_tree_copy(&nodes, root, &copy), 0);
			assert_int_equal(check_tree(copy, 0, UINT64_MAX, &copied), height);
			assert_int_equal(copied, n);
			vti_tree_free(&nodes, copy);
		}
	}
	vti_tree_free(&nodes, root);
	assert_int_equal(nodes.count, 0);
	vti_nodes_fini(&nodes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_of_coming),
		cmocka_unit_test(replaced_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
