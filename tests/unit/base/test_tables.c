/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/rng.h"

struct entry {
	uint64_t key[2];
	uint64_t value;
};

#define MAX_KEYS 3000

/* The table against a plain list that is searched from its start. */
static void test_hash_against_list(void **state)
{
	struct entry list[MAX_KEYS];
	size_t n = 0, i, round;
	struct vt_hash h;
	struct vt_rng rng;

	(void)state;
	vt_hash_init(&h, sizeof(struct entry), sizeof(list[0].key));
	vt_rng_init(&rng, 5);
	for (round = 0; round < 20000; round++) {
		/* Keys that differ in few bits, in either half. */
		uint64_t x = vt_rng_below(&rng, MAX_KEYS);
		uint64_t key[2] = {x & 1 ? x << 40 : 7, x & 1 ? 7 : x};
		struct entry *e;
		bool added;

		for (i = 0; i < n && memcmp(list[i].key, key, sizeof(key)) != 0; i++)
			continue;
		e = vt_hash_find(&h, key);
		assert_int_equal(e != NULL, i < n);
		e = vt_hash_add(&h, key, &added);
		assert_non_null(e);
		assert_int_equal(added, i == n);
		if (i == n)
			list[n++] = (struct entry){{key[0], key[1]}, 0};
		assert_memory_equal(e, &list[i], sizeof(*e));
		assert_ptr_equal(vt_hash_find(&h, key), e);
		e->value = list[i].value = round;
	}
	assert_int_equal(h.count, n);
	assert_true(n > 2000);
	/* In the order in which they were added. */
	for (i = 0; i < n; i++)
		assert_memory_equal(vt_hash_at(&h, i), &list[i], sizeof(list[i]));
	vt_hash_clear(&h);
	assert_int_equal(h.count, 0);
	for (i = 0; i < n; i++)
		assert_null(vt_hash_find(&h, list[i].key));
	assert_non_null(vt_hash_add(&h, list[3].key, NULL));
	assert_int_equal(((struct entry *)vt_hash_at(&h, 0))->value, 0);
	/* Cleared with next to nothing in it, and filled again. */
	vt_hash_clear(&h);
	assert_null(vt_hash_find(&h, list[3].key));
	for (i = 0; i < n; i++)
		assert_non_null(vt_hash_add(&h, list[i].key, NULL));
	assert_int_equal(h.count, n);
	for (i = 0; i < n; i++)
		assert_ptr_equal(vt_hash_find(&h, list[i].key), vt_hash_at(&h, i));
	vt_hash_fini(&h);
	assert_null(vt_hash_find(&h, list[3].key));
	vt_hash_fini(&h);
}

/* Fills it up to `count` entries. */
static void fill(struct vt_hash *h, uint64_t count)
{
	while (h->count < count) {
		uint64_t key = h->count;

		assert_non_null(vt_hash_add(h, &key, NULL));
	}
}

/* The index is at most half full; one that is large is given up when next to nothing was in it. */
static void test_hash_index(void **state)
{
	static const struct {
		uint64_t count; /* filled up to this; 0: cleared */
		size_t mask;
	} steps[] = {
		{1, 31},      {16, 31},	 {17, 63},     {32, 63},     {33, 127},
		{2048, 4095}, {0, 4095}, {0, 4095},    {2049, 8191}, {0, 8191},
		{1023, 8191}, {0, 8191}, {1022, 8191}, {0, 0},	     {1, 31},
	};
	struct vt_hash h;
	size_t i;

	(void)state;
	vt_hash_init(&h, sizeof(uint64_t), sizeof(uint64_t));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].count)
			fill(&h, steps[i].count);
		else
			vt_hash_clear(&h);
		assert_int_equal(h.count, steps[i].count);
		assert_int_equal(h.mask, steps[i].mask);
		assert_int_equal(h.index != NULL, steps[i].mask != 0);
	}
	vt_hash_fini(&h);
}

/* What a failure left all zero is ended without having begun. */
static void test_hash_never_begun(void **state)
{
	struct vt_hash h = {0};
	uint64_t key = 1;

	(void)state;
	vt_hash_fini(&h);
	vt_hash_init(&h, sizeof(key), sizeof(key));
	assert_null(vt_hash_find(&h, &key));
	vt_hash_fini(&h);
	assert_int_equal(h.key_size, sizeof(key));
	assert_int_equal(h.entry_size, sizeof(key));
	assert_non_null(vt_hash_add(&h, &key, NULL));
	assert_non_null(vt_hash_find(&h, &key));
	vt_hash_fini(&h);
}

/* Whole words, tails of every length, and no word: all bytes count, and so does the length. */
static void test_hash_bytes(void **state)
{
	uint8_t data[40] = {0};
	size_t size, i;

	(void)state;
	for (size = 1; size <= sizeof(data); size++) {
		uint64_t zero = vt_hash_bytes(data, size);

		assert_int_not_equal(zero, vt_hash_bytes(data, size - 1));
		for (i = 0; i < size; i++) {
			data[i] = 1;
			assert_int_not_equal(vt_hash_bytes(data, size), zero);
			data[i] = 0;
		}
	}
}

/* Binary search finds what a linear one does. */
static void test_sorted_arrays(void **state)
{
	static const struct {
		uint64_t key;
		uint8_t more;
	} v[] = {{0, 0}, {3, 0}, {3, 0}, {7, 0}, {UINT64_MAX - 1, 0}, {UINT64_MAX, 0}};
	static const uint64_t keys[] = {0, 1, 3, 4, 7, 8, UINT64_MAX - 1, UINT64_MAX};
	size_t n, i, k, below, up_to;

	(void)state;
	assert_int_equal(vt_array_below(NULL, 0, 8, 5), 0);
	assert_int_equal(vt_array_up_to(NULL, 0, 8, UINT64_MAX), 0);
	for (n = 0; n <= sizeof(v) / sizeof(v[0]); n++) {
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			for (i = below = up_to = 0; i < n; i++) {
				below += v[i].key < keys[k];
				up_to += v[i].key <= keys[k];
			}
			assert_int_equal(vt_array_below(v, n, sizeof(v[0]), keys[k]), below);
			assert_int_equal(vt_array_up_to(v, n, sizeof(v[0]), keys[k]), up_to);
		}
	}
}

static void test_intern(void **state)
{
	struct vt_intern *p = vt_intern_new();
	char *large = calloc(1, 100000);
	const char *first, *copy;
	uint32_t id, i;
	char name[32];

	(void)state;
	assert_non_null(p);
	assert_non_null(large);
	assert_int_equal(vt_intern_add(p, NULL, 0), 0);
	assert_string_equal(vt_intern_get(p, 0), "");
	for (i = 1; i <= 20000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(vt_intern_str(p, name), i);
	}
	first = vt_intern_get(p, 1);
	/* Bytes, not C strings: what follows a zero counts. */
	id = vt_intern_add(p, "a\0b", 3);
	assert_int_equal(id, 20001);
	assert_int_equal(vt_intern_find(p, "a\0c", 3), UINT32_MAX);
	assert_int_equal(vt_intern_add(p, "a\0c", 3), id + 1);
	assert_int_equal(vt_intern_find(p, "a\0c", 3), id + 1);
	assert_int_equal(vt_intern_add(p, "a", 1), id + 2);
	assert_int_equal(vt_intern_add(p, "a\0", 2), id + 3);
	assert_int_equal(vt_intern_size(p, id), 3);
	/* Larger than a chunk, then small ones again. */
	assert_int_equal(vt_intern_add(p, large, 100000), id + 4);
	assert_int_equal(vt_intern_size(p, id + 4), 100000);
	assert_int_equal(vt_intern_str(p, "after"), id + 5);
	for (i = 1; i <= 20000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(vt_intern_str(p, name), i);
		assert_string_equal(vt_intern_get(p, i), name);
		assert_int_equal(vt_intern_size(p, i), strlen(name));
	}
	assert_ptr_equal(vt_intern_get(p, 1), first);
	copy = vt_intern_copy(p, "name 1 and more", 6);
	assert_string_equal(copy, first);
	assert_ptr_not_equal(copy, first);
	/* Neither that nor the rest of the above took an id. */
	assert_int_equal(vt_intern_add(p, "the next", 8), id + 6);
	free(large);
	vt_intern_free(p);
	vt_intern_free(NULL);
}

/*
 * Known answers: the first outputs of xoshiro256** from the state 1, 2, 3, 4, and from seeds that
 * splitmix64 spreads, computed by an implementation of the published algorithms in Python.
 */
static void test_rng_known_answers(void **state)
{
	static const uint64_t from_1234[6] = {
		11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
	};
	static const struct {
		uint64_t seed, out[4], thousandth;
	} seeded[3] = {
		{0,
		 {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c},
		 0x7aac8c483a2edd2f},
		{1,
		 {0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7},
		 0xb8517c33c344d153},
		{UINT64_MAX,
		 {0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f},
		 0xc3c93ea5cde434cc},
	};
	struct vt_rng r = {{1, 2, 3, 4}};
	size_t i, k;

	(void)state;
	for (i = 0; i < 6; i++)
		assert_int_equal(vt_rng_next(&r), from_1234[i]);
	/* The published outputs of splitmix64 for the seed 1234567. */
	vt_rng_init(&r, 1234567);
	assert_int_equal(r.s[0], UINT64_C(6457827717110365317));
	assert_int_equal(r.s[1], UINT64_C(3203168211198807973));
	assert_int_equal(r.s[2], UINT64_C(9817491932198370423));
	assert_int_equal(r.s[3], UINT64_C(4593380528125082431));
	for (k = 0; k < 3; k++) {
		uint64_t last = 0;

		vt_rng_init(&r, seeded[k].seed);
		for (i = 0; i < 4; i++)
			assert_int_equal(vt_rng_next(&r), seeded[k].out[i]);
		for (; i < 1000; i++)
			last = vt_rng_next(&r);
		assert_int_equal(last, seeded[k].thousandth);
	}
}

/*
 * For a bound of 3/4 of 2^64, taking the remainder alone would give the lowest third twice as
 * often as the rest.
 */
static void test_rng_below_is_unbiased(void **state)
{
	const uint64_t bound = UINT64_C(3) << 62;
	unsigned counts[3] = {0};
	unsigned small[7] = {0};
	struct vt_rng r;
	unsigned i;

	(void)state;
	vt_rng_init(&r, 9);
	for (i = 0; i < 30000; i++) {
		uint64_t x = vt_rng_below(&r, bound);

		assert_true(x < bound);
		counts[x >> 62]++;
		small[vt_rng_below(&r, 7)]++;
		assert_int_equal(vt_rng_below(&r, 1), 0);
	}
	/* Five standard deviations: 82 for thirds, 61 for sevenths. */
	for (i = 0; i < 3; i++)
		assert_in_range(counts[i], 10000 - 410, 10000 + 410);
	for (i = 0; i < 7; i++)
		assert_in_range(small[i], 4285 - 305, 4286 + 305);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_against_list),
		cmocka_unit_test(test_hash_index),
		cmocka_unit_test(test_hash_never_begun),
		cmocka_unit_test(test_hash_bytes),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_sorted_arrays),
		cmocka_unit_test(test_rng_known_answers),
		cmocka_unit_test(test_rng_below_is_unbiased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
