/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interp/known_memory.h"

/* All is known, and stays: each byte is 7. */
static uint64_t fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	(void)arg;
	(void)addr;
	(void)lasting;
	memset(bytes, 7, VT_KNOWN_LINE);
	return ~UINT64_C(0);
}

static void check(struct vt_known_memory *k, uint64_t addr, uint64_t value, uint64_t known)
{
	struct vt_word w = {0};

	vt_known_memory_load(k, addr, 8, &w);
	assert_int_equal(w.known, known);
	assert_int_equal(w.value, value);
}

#define SEVENS UINT64_C(0x0707070707070707)
#define ALL    UINT64_MAX

/* More than 128 pages make the index of pages grow: each keeps what was stored. */
static void test_many_pages(void **state)
{
	struct vt_known_memory *k = vt_known_memory_new(fill, NULL, (size_t)64 << 20);
	uint64_t i;

	(void)state;
	assert_non_null(k);
	for (i = 0; i < 3000; i++) {
		struct vt_word w = vt_word_of(i + 1);

		vt_known_memory_store(k, i << 12, 8, &w);
	}
	for (i = 0; i < 3000; i++) {
		check(k, i << 12, i + 1, ALL);
		check(k, (i << 12) + 8, SEVENS, ALL);
	}
	vt_known_memory_free(k);
}

/* A tag has 12 bits of the stamp: about where they wrap, no page of before is found. */
static void check_resets(unsigned n)
{
	struct vt_known_memory *k = vt_known_memory_new(fill, NULL, 1 << 20);
	struct vt_word w = vt_word_of(42);
	unsigned i;

	assert_non_null(k);
	vt_known_memory_store(k, 0x5000, 8, &w);
	for (i = 0; i < n; i++)
		vt_known_memory_reset(k);
	check(k, 0, SEVENS, ALL);
	check(k, 0x5000, SEVENS, ALL);
	vt_known_memory_free(k);
}

static void test_wrap(void **state)
{
	unsigned n;

	(void)state;
	for (n = 2040; n < 2056; n++)
		check_resets(n);
	for (n = 4088; n < 4104; n++)
		check_resets(n);
}

/* Of 65 ranges that are gone, the two that are closest are joined, and no others. */
static void check_closest(unsigned close)
{
	struct vt_known_memory *k = vt_known_memory_new(fill, NULL, (size_t)64 << 20);
	uint64_t at[65], addr = 0x10000;
	unsigned i;

	assert_non_null(k);
	for (i = 0; i < 65; i++) {
		at[i] = addr;
		vt_known_memory_forget_range(k, addr, 64);
		addr += i == close ? 0x1000 : 0x2000;
	}
	for (i = 0; i < 65; i++) {
		check(k, at[i], 0, 0);
		if (i == close)
			check(k, at[i] + 0x800, 0, 0);
		else
			check(k, at[i] + 0x800, SEVENS, ALL);
	}
	vt_known_memory_free(k);
}

static void test_closest(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 64; i++)
		check_closest(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_pages),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_closest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
