/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cache says of instructions is what was said without it: of this test's own code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/core.h"

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

static struct vt_core load(const char *name, struct vt_opcache *cache)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;

	assert_int_equal(vt_core_load(&m, name, &err), 0);
	m.cache = cache;
	return m;
}

static void test_same(void **state)
{
	struct vt_opcache *cache = vt_opcache_new();
	struct vt_core with = load("skylake", cache), without = load("skylake", NULL);
	size_t size, at, decoded = 0;
	uint8_t *bytes = read_self(&size);
	int round;

	(void)state;
	assert_non_null(cache);
	for (round = 0; round < 2; round++) {
		for (at = 4096; at + VT_MAX_INSN < size;) {
			struct vt_mop a, b;
			bool good = vt_core_op(&without, bytes + at, VT_MAX_INSN, &a);
			size_t length = good ? a.length : 1;

			if (good) {
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
	vt_opcache_free(cache);
	free(bytes);
}

/*
 * Whether the machine says what the other one, which has the same cache, said of these bytes: their
 * tables differ.
 */
static bool is_of_other(const struct vt_core *m, const struct vt_core *other, const uint8_t *code,
			size_t size)
{
	struct vt_core plain = *other;
	struct vt_mop op, of_other;

	plain.cache = NULL;
	assert_true(vt_core_op(m, code, size, &op));
	assert_true(vt_core_op(&plain, code, size, &of_other));
	assert_int_equal(op.length, of_other.length);
	return op.uops[0].units == of_other.uops[0].units;
}

/* Only what is all of the bytes goes in. */
static void test_whole(void **state)
{
	static const uint8_t add_ret[] = {0x48, 0x01, 0xd8, 0xc3};
	static const uint8_t sub[] = {0x48, 0x29, 0xd8};
	struct vt_opcache *cache = vt_opcache_new();
	struct vt_core first = load("skylake", cache), second = load("alpha21164", cache);
	struct vt_mop op;

	(void)state;
	assert_non_null(cache);
	assert_true(vt_core_op(&first, add_ret, 4, &op));
	assert_int_equal(op.length, 3);
	assert_false(is_of_other(&second, &first, add_ret, 4));
	assert_false(is_of_other(&second, &first, add_ret, 3));
	assert_true(is_of_other(&first, &second, add_ret, 3));
	assert_false(is_of_other(&first, &second, add_ret, 4));
	assert_false(is_of_other(&first, &second, sub, 3));
	assert_false(vt_core_op(&first, add_ret, 0, &op));
	assert_false(vt_core_op(&first, add_ret, 2, &op));
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
