/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the database of profiles is made of: digests, and profiles as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/db/digest.h"
#include "formats/db/places.h"

static void digest_text(const char *piece, size_t times, char hex[2 * VT_DIGEST_SIZE + 1])
{
	uint8_t digest[VT_DIGEST_SIZE];
	struct vt_digest d;
	size_t i;

	vt_digest_init(&d);
	for (i = 0; i < times; i++)
		vt_digest_put(&d, piece, strlen(piece));
	vt_digest_end(&d, digest);
	for (i = 0; i < VT_DIGEST_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* The examples that NIST gives for SHA-256, and its test of a million letters. */
static void digests_of_the_standard(void **state)
{
	static const struct {
		const char *piece;
		size_t times;
		const char *digest;
	} examples[] = {
		{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"aaaaaaaaaa", 100000,
		 "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	char hex[2 * VT_DIGEST_SIZE + 1];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		digest_text(examples[i].piece, examples[i].times, hex);
		assert_string_equal(hex, examples[i].digest);
	}
}

static void add(struct vt_db_places *p, uint64_t offset, uint64_t samples, uint64_t period)
{
	const struct vt_db_place place = {offset, samples, period};
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_db_places_add(p, &place, &err), 0);
}

static void make_places(struct vt_db_places *p, struct vt_rng *rng, bool one_period)
{
	uint64_t offset = vt_rng_below(rng, 2) ? vt_rng_next(rng) >> vt_rng_below(rng, 64) : 0;
	size_t n = vt_rng_below(rng, 50);

	for (; n > 0; n--) {
		uint64_t samples = 1 + vt_rng_below(rng, 1000);

		add(p, offset, samples, one_period ? samples * 62000 : vt_rng_below(rng, 1 << 30));
		offset += 1 + vt_rng_below(rng, 300);
	}
}

static void same_places(const struct vt_db_places *a, const struct vt_db_places *b)
{
	assert_int_equal(a->count, b->count);
	if (a->count)
		assert_memory_equal(a->items, b->items, a->count * sizeof(*a->items));
}

static void packed_and_unpacked(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 1);
	for (round = 0; round < 1000; round++) {
		struct vt_db_places p = {.items = NULL}, q;
		struct vt_buf b = VT_BUF_INIT;
		size_t cut;

		make_places(&p, &rng, round % 2);
		vt_db_places_pack(&p, &b);
		assert_false(b.failed);
		/* Three bytes and a bit for most places, if the period is told once. */
		assert_true(round % 2 == 0 || b.size < 20 + 5 * p.count);
		assert_int_equal(vt_db_places_unpack(&q, b.data, b.size, &err), 0);
		same_places(&p, &q);
		vt_db_places_fini(&q);
		for (cut = 0; cut < b.size; cut++)
			assert_int_equal(vt_db_places_unpack(&q, b.data, cut, &err), -VT_E_DAMAGED);
		vt_buf_put_u8(&b, 0);
		assert_int_equal(vt_db_places_unpack(&q, b.data, b.size, &err), -VT_E_DAMAGED);
		vt_buf_free(&b);
		vt_db_places_fini(&p);
	}
}

/* The bytes themselves, which databases hold: the period is told once if it is that of all. */
static void packed_bytes(void **state)
{
	static const struct {
		size_t count;
		struct vt_db_place places[2];
		size_t size;
		uint8_t bytes[10];
	} rows[] = {
		{0, {{0}}, 3, {1, 0, 0}},
		{1, {{5, 2, 20}}, 5, {1, 1, 10, 5, 2}},
		{1, {{5, 2, 21}}, 6, {1, 1, 0, 5, 2, 21}},
		{1, {{5, 0, 9}}, 6, {1, 1, 0, 5, 0, 9}},
		{2, {{5, 2, 20}, {6, 3, 30}}, 7, {1, 2, 10, 5, 2, 1, 3}},
		{2, {{0, 2, 20}, {8, 3, 33}}, 9, {1, 2, 0, 0, 2, 20, 8, 3, 33}},
		{2, {{0, 2, 0}, {8, 3, 0}}, 9, {1, 2, 0, 0, 2, 0, 8, 3, 0}},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_db_places p = {.items = NULL}, q;
		struct vt_error err = VT_ERROR_INIT;
		struct vt_buf b = VT_BUF_INIT;

		for (k = 0; k < rows[i].count; k++)
			add(&p, rows[i].places[k].offset, rows[i].places[k].samples,
			    rows[i].places[k].period);
		vt_db_places_pack(&p, &b);
		assert_int_equal(b.size, rows[i].size);
		assert_memory_equal(b.data, rows[i].bytes, b.size);
		assert_int_equal(vt_db_places_unpack(&q, b.data, b.size, &err), 0);
		same_places(&p, &q);
		vt_db_places_fini(&q);
		vt_db_places_fini(&p);
		vt_buf_free(&b);
	}
}

/* Samples at each of a few offsets: the sum, slowly. */
static void merged_as_added_one_by_one(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_rng rng;
	int round;

	(void)state;
	vt_rng_init(&rng, 2);
	for (round = 0; round < 500; round++) {
		struct vt_db_places p = {.items = NULL}, q = {.items = NULL};
		uint64_t want[40] = {0}, samples, period, total = 0;
		uint64_t i;

		for (i = 0; i < 40; i++) {
			uint64_t a = vt_rng_below(&rng, 3), b = vt_rng_below(&rng, 3);

			if (a)
				add(&p, i, a, 2 * a);
			if (b)
				add(&q, i, b, 2 * b);
			want[i] = a + b;
			total += a + b;
		}
		assert_int_equal(vt_db_places_merge(&p, &q, &err), 0);
		for (i = 0; i < p.count; i++) {
			assert_true(i == 0 || p.items[i].offset > p.items[i - 1].offset);
			assert_int_equal(p.items[i].samples, want[p.items[i].offset]);
			assert_int_equal(p.items[i].period, 2 * p.items[i].samples);
		}
		assert_int_equal(vt_db_places_sum(&p, &samples, &period, &err), 0);
		assert_int_equal(samples, total);
		assert_int_equal(period, 2 * total);
		vt_db_places_fini(&p);
		vt_db_places_fini(&q);
	}
}

static void sums_that_are_too_high(void **state)
{
	struct vt_db_places p = {.items = NULL}, q = {.items = NULL};
	struct vt_error err = VT_ERROR_INIT;
	uint64_t samples, period;

	(void)state;
	add(&p, 1, INT64_MAX, 1);
	add(&q, 0, 1, 1);
	add(&q, 1, 1, 1);
	assert_int_equal(vt_db_places_merge(&p, &q, &err), -VT_E_LIMIT);
	assert_int_equal(p.count, 1);
	assert_int_equal(vt_db_places_sum(&p, &samples, &period, &err), 0);
	add(&p, 2, 1, 1);
	assert_int_equal(vt_db_places_sum(&p, &samples, &period, &err), -VT_E_LIMIT);
	vt_db_places_fini(&p);
	vt_db_places_fini(&q);
}

/* Procedures that are alike: the bytes repeat, and so do not take their room. */
static void compressed(void **state)
{
	struct vt_db_places p = {.items = NULL}, q;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	uint64_t i;
	size_t cut;

	(void)state;
	for (i = 0; i < 10000; i++)
		add(&p, 16 * i, 1 + i % 7, 62000 * (1 + i % 7));
	vt_db_places_pack(&p, &b);
	assert_true(b.size < 1000);
	assert_int_equal(vt_db_places_unpack(&q, b.data, b.size, &err), 0);
	same_places(&p, &q);
	vt_db_places_fini(&q);
	for (cut = 0; cut < b.size; cut++) {
		assert_int_equal(vt_db_places_unpack(&q, b.data, cut, &err), -VT_E_DAMAGED);
		b.data[cut] ^= 0x10;
		assert_true(vt_db_places_unpack(&q, b.data, b.size, &err) < 0);
		b.data[cut] ^= 0x10;
	}
	/* A promise of a terabyte. */
	b.size = 1;
	vt_buf_put_varint(&b, UINT64_C(1) << 40);
	vt_buf_put(&b, "\x78\x9c", 2);
	assert_int_equal(vt_db_places_unpack(&q, b.data, b.size, &err), -VT_E_DAMAGED);
	vt_buf_free(&b);
	vt_db_places_fini(&p);
}

static void damaged_bytes(void **state)
{
	/* Version, count, period, then distance and samples of each. */
	static const uint8_t later[] = {3, 0, 0}, many[] = {1, 0xff, 0xff, 0x7f, 1, 0, 1},
			     twice[] = {1, 2, 1, 5, 1, 0, 1},
			     wraps[] = {1,    2,    1,	  5,	1,    0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,	  1},
			     product[] = {1,	1,    0xff, 0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 1,	0,    2};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db_places p;

	(void)state;
	assert_int_equal(vt_db_places_unpack(&p, later, sizeof(later), &err), -VT_E_VERSION);
	assert_int_equal(vt_db_places_unpack(&p, many, sizeof(many), &err), -VT_E_DAMAGED);
	assert_int_equal(vt_db_places_unpack(&p, twice, sizeof(twice), &err), -VT_E_DAMAGED);
	assert_int_equal(vt_db_places_unpack(&p, wraps, sizeof(wraps), &err), -VT_E_DAMAGED);
	assert_int_equal(vt_db_places_unpack(&p, product, sizeof(product), &err), -VT_E_DAMAGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_of_the_standard),
		cmocka_unit_test(packed_bytes),
		cmocka_unit_test(packed_and_unpacked),
		cmocka_unit_test(merged_as_added_one_by_one),
		cmocka_unit_test(sums_that_are_too_high),
		cmocka_unit_test(compressed),
		cmocka_unit_test(damaged_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
