/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Alignment against the length of the longest common subsequence, by dynamic programming. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "profile/align.h"

#define MAX 60

static unsigned longest(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
	unsigned best[MAX + 1][MAX + 1] = {{0}};
	size_t i, k;

	for (i = 1; i <= n; i++) {
		for (k = 1; k <= m; k++) {
			best[i][k] =
				best[i - 1][k] > best[i][k - 1] ? best[i - 1][k] : best[i][k - 1];
			if (a[i - 1] == b[k - 1] && best[i - 1][k - 1] + 1 > best[i][k])
				best[i][k] = best[i - 1][k - 1] + 1;
		}
	}
	return best[n][m];
}

static void check(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
	struct vt_error err = VT_ERROR_INIT;
	uint32_t match[MAX];
	unsigned matched = 0;
	int64_t last = -1;
	size_t i;

	assert_int_equal(vt_align(a, n, b, m, match, &err), 0);
	for (i = 0; i < n; i++) {
		if (match[i] == VT_ALIGN_NONE)
			continue;
		assert_true(match[i] < m);
		assert_true((int64_t)match[i] > last);
		assert_int_equal(a[i], b[match[i]]);
		last = match[i];
		matched++;
	}
	assert_int_equal(matched, longest(a, n, b, m));
}

static void test_random(void **state)
{
	struct vt_rng rng;
	unsigned round;

	(void)state;
	vt_rng_init(&rng, 3);
	for (round = 0; round < 20000; round++) {
		uint64_t a[MAX], b[MAX], sorts = 1 + vt_rng_below(&rng, 12);
		size_t n = vt_rng_below(&rng, MAX + 1), m = vt_rng_below(&rng, MAX + 1), i;

		for (i = 0; i < n; i++)
			a[i] = vt_rng_below(&rng, sorts);
		for (i = 0; i < m; i++)
			b[i] = round % 2 && i < n && vt_rng_below(&rng, 5)
				       ? a[i]
				       : vt_rng_below(&rng, sorts);
		check(a, n, b, m);
	}
}

/* Nothing in common but the ends, and more differences than are looked for. */
static void test_limit(void **state)
{
	enum { N = VT_ALIGN_MAX };
	uint64_t *a = calloc(N + 2, sizeof(*a)), *b = calloc(N + 2, sizeof(*b));
	uint32_t *match = calloc(N + 2, sizeof(*match));
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	(void)state;
	assert_true(a && b && match);
	for (i = 1; i <= N; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 1;
	}
	assert_int_equal(vt_align(a, N + 2, b, N + 2, match, &err), 1);
	assert_int_equal(match[0], 0);
	assert_int_equal(match[N + 1], N + 1);
	assert_int_equal(match[1], VT_ALIGN_NONE);
	free(a);
	free(b);
	free(match);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
