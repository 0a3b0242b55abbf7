/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cache says of instructions is what was said without it: of this test's own code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/opcache.h"

/* The file of this program: instructions, and bytes that are none. */
static uint8_t *read_self(size_t *size)
{
	FILE *f = fopen("/proc/self/exe", "rb");
	uint8_t *bytes = malloc(1 << 19);

	assert_non_null(f);
	assert_non_null(bytes);
	*size = fread(bytes, 1, 1 << 19, f);
	fclose(f);
	return bytes;
}

static void test_same(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core with, without;
	size_t size, at, hits = 0, decoded = 0;
	uint8_t *bytes = read_self(&size);
	struct vt_opcache *cache = vt_opcache_new();
	int round;

	(void)state;
	assert_non_null(cache);
	assert_int_equal(vt_core_load(&without, "skylake", &err), 0);
	with = without;
	with.cache = cache;
	for (round = 0; round < 2; round++) {
		for (at = 4096; at + VT_MAX_INSN < size;) {
			struct vt_mop a, b, c;
			bool good = vt_core_op(&without, bytes + at, VT_MAX_INSN, &a);
			size_t length = good ? a.length : 1;

			if (good) {
				hits += vt_opcache_get(cache, bytes + at, length, &c);
				assert_true(vt_core_op(&with, bytes + at, length, &b));
				assert_memory_equal(&a, &b, sizeof(a));
			} else {
				assert_false(vt_core_op(&with, bytes + at, 1, &b));
			}
			decoded += good;
			at += length;
		}
	}
	assert_true(decoded > 50000);
	assert_true(hits > decoded / 2);
	vt_opcache_free(cache);
	free(bytes);
}

/* Only what is all of the bytes goes in. */
static void test_whole(void **state)
{
	static const uint8_t add_ret[] = {0x48, 0x01, 0xd8, 0xc3};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_opcache *cache = vt_opcache_new();
	struct vt_core core;
	struct vt_mop op;

	(void)state;
	assert_non_null(cache);
	assert_int_equal(vt_core_load(&core, "skylake", &err), 0);
	core.cache = cache;
	assert_true(vt_core_op(&core, add_ret, 4, &op));
	assert_false(vt_opcache_get(cache, add_ret, 4, &op));
	assert_false(vt_opcache_get(cache, add_ret, 3, &op));
	assert_true(vt_core_op(&core, add_ret, 3, &op));
	assert_true(vt_opcache_get(cache, add_ret, 3, &op));
	assert_int_equal(op.length, 3);
	assert_false(vt_opcache_get(cache, add_ret, 0, &op));
	assert_false(vt_opcache_get(cache, add_ret, 2, &op));
	vt_opcache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
