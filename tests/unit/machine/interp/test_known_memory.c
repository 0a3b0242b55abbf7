/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "machine/interp/known_memory.h"

/*
 * The model: one entry for each byte that anything was done to; what is behind the others is
 * decided by a hash of the address.
 */
struct byte {
	uint64_t addr;
	bool stored; /* since the last forgetting */
	bool known;  /* what was stored */
	uint8_t value;
};

struct range {
	uint64_t first;
	uint64_t last;
};

struct model {
	struct vt_hash bytes;
	struct range gone[1000];
	size_t ngone;
	bool lasting;
};

/* Where accesses go: the ends of the address space and places where pages meet. */
static const uint64_t areas[] = {
	0, 0x401000, 0x7fffffffe000, 0x8000000000000000, UINT64_C(0xfffffffffffff000),
};

#define NAREAS (sizeof(areas) / sizeof(areas[0]))

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
	x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

/* Every fourth kilobyte can only be read. */
static bool read_only(uint64_t addr)
{
	return (addr >> 10) % 4 == 0;
}

/* Most pieces of 16 bytes are known, but what can be written only until something is stored. */
static bool behind(uint64_t addr, bool lasting, uint8_t *value)
{
	*value = (uint8_t)mix(addr + 1);
	return mix(addr / 16) % 8 < 6 && (!lasting || read_only(addr));
}

static uint64_t fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	uint64_t mask = 0;
	unsigned i;

	++*(uint64_t *)arg;
	assert_int_equal(addr % VT_KNOWN_LINE, 0);
	for (i = 0; i < VT_KNOWN_LINE; i++)
		if (behind(addr + i, lasting, &bytes[i]))
			mask |= UINT64_C(1) << i;
	return mask;
}

static struct byte *model_byte(struct model *m, uint64_t addr)
{
	struct byte *b = vt_hash_add(&m->bytes, &addr, NULL);

	assert_non_null(b);
	return b;
}

static bool model_get(struct model *m, uint64_t addr, uint8_t *value)
{
	const struct byte *b = vt_hash_find(&m->bytes, &addr);
	size_t i;

	if (b && b->stored) {
		*value = b->value;
		return b->known;
	}
	for (i = 0; i < m->ngone; i++)
		if (addr >= m->gone[i].first && addr <= m->gone[i].last)
			return false;
	return behind(addr, m->lasting, value);
}

static void model_put(struct model *m, uint64_t addr, uint8_t value, bool known)
{
	struct byte *b = model_byte(m, addr);

	b->stored = true;
	b->known = known;
	b->value = value;
}

static void model_forget(struct model *m)
{
	vt_hash_clear(&m->bytes);
	m->lasting = true;
}

static void model_reset(struct model *m)
{
	model_forget(m);
	m->ngone = 0;
	m->lasting = false;
}

static void model_forget_range(struct model *m, uint64_t addr, uint64_t size)
{
	size_t i;

	assert_true(m->ngone + 1 < sizeof(m->gone) / sizeof(m->gone[0]));
	if (!size)
		return;
	for (i = 0; i < m->bytes.count; i++) {
		struct byte *b = vt_hash_at(&m->bytes, i);

		if (b->addr - addr < size)
			b->known = false;
	}
	if (addr + (size - 1) < addr) {
		m->gone[m->ngone++] = (struct range){addr, UINT64_MAX};
		m->gone[m->ngone++] = (struct range){0, addr + (size - 1)};
	} else {
		m->gone[m->ngone++] = (struct range){addr, addr + (size - 1)};
	}
}

static void model_store(struct model *m, uint64_t addr, unsigned size, const struct vt_word *w)
{
	unsigned i;

	for (i = 0; i < size; i++)
		model_put(m, addr + i, (uint8_t)(w[i / 8].value >> i % 8 * 8),
			  (w[i / 8].known >> i % 8 * 8 & 0xff) == 0xff);
}

/* With `exactly`, all that the model knows is known; else it may be less. */
static void check_load(struct vt_known_memory *k, struct model *m, uint64_t addr, unsigned size,
		       bool exactly)
{
	struct vt_word w[5];
	unsigned i;

	memset(w, 0x5a, sizeof(w));
	vt_known_memory_load(k, addr, size, w);
	for (i = 0; i < size; i++) {
		unsigned known = w[i / 8].known >> i % 8 * 8 & 0xff;
		unsigned value = w[i / 8].value >> i % 8 * 8 & 0xff;
		uint8_t truth = 0;

		if (model_get(m, addr + i, &truth)) {
			assert_true(known == 0xff || (!exactly && known == 0));
			assert_int_equal(value, known ? truth : 0);
		} else {
			assert_int_equal(known, 0);
			assert_int_equal(value, 0);
		}
	}
	for (; i % 8; i++) {
		assert_int_equal(w[i / 8].known >> i % 8 * 8 & 0xff, 0xff);
		assert_int_equal(w[i / 8].value >> i % 8 * 8 & 0xff, 0);
	}
	assert_int_equal(w[(size + 7) / 8].value, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static struct vt_word random_word(struct vt_rng *r)
{
	struct vt_word w = {vt_rng_next(r), ~UINT64_C(0)};

	switch (vt_rng_below(r, 4)) {
	case 0:
		w.known = 0;
		break;
	case 1:
		w.known = ~(UINT64_C(1) << vt_rng_below(r, 64));
		break;
	case 2:
		w.known = ~(UINT64_C(0xff) << 8 * vt_rng_below(r, 8));
		break;
	default:
		break;
	}
	w.value &= w.known;
	return w;
}

static void random_store(struct vt_known_memory *k, struct model *m, struct vt_rng *r,
			 uint64_t addr, bool exactly)
{
	unsigned size = (unsigned)(1 + vt_rng_below(r, 32)), i;
	struct vt_word w[4];

	if (vt_rng_below(r, 2))
		size = 1u << vt_rng_below(r, 6);
	for (i = 0; i < 4; i++)
		w[i] = random_word(r);
	if (size % 8) {
		w[size / 8].value &= vt_low_bits(size % 8 * 8);
		w[size / 8].known |= ~vt_low_bits(size % 8 * 8);
	}
	vt_known_memory_store(k, addr, size, w);
	model_store(m, addr, size, w);
	/* What lies in one page is there at once, however little room there is. */
	check_load(k, m, addr, size, exactly || (addr ^ (addr + size - 1)) < 4096);
}

static void random_set(struct vt_known_memory *k, struct model *m, struct vt_rng *r, uint64_t addr)
{
	size_t size = vt_rng_below(r, 300), i;
	uint8_t bytes[300];

	for (i = 0; i < size; i++) {
		bytes[i] = (uint8_t)vt_rng_next(r);
		model_put(m, addr + i, bytes[i], true);
	}
	vt_known_memory_set(k, addr, bytes, size);
}

static uint64_t random_size(struct vt_rng *r)
{
	switch (vt_rng_below(r, 8)) {
	case 0:
		return vt_rng_next(r) >> vt_rng_below(r, 64);
	case 1:
		return vt_rng_below(r, 0x30000);
	default:
		return vt_rng_below(r, 200);
	}
}

static void random_step(struct vt_known_memory *k, struct model *m, struct vt_rng *r,
			uint64_t spread, bool exactly)
{
	uint64_t addr = areas[vt_rng_below(r, NAREAS)] + vt_rng_below(r, spread) - spread / 2;
	uint64_t size;

	switch (vt_rng_below(r, 100)) {
	case 0:
		vt_known_memory_forget(k);
		model_forget(m);
		break;
	case 1:
		vt_known_memory_reset(k);
		model_reset(m);
		break;
	case 2:
	case 3:
		size = random_size(r);
		vt_known_memory_forget_range(k, addr, size);
		model_forget_range(m, addr, size);
		break;
	case 4:
	case 5:
	case 6:
		if (!read_only(addr) && !read_only(addr + 300))
			random_set(k, m, r, addr);
		break;
	default:
		if (vt_rng_below(r, 3) || read_only(addr) || read_only(addr + 31))
			check_load(k, m, addr, (unsigned)(1 + vt_rng_below(r, 32)), exactly);
		else
			random_store(k, m, r, addr, exactly);
		break;
	}
}

static void against_model(size_t max_bytes, uint64_t spread, bool exactly, unsigned steps)
{
	uint64_t filled = 0;
	struct vt_known_memory *k = vt_known_memory_new(fill, &filled, max_bytes);
	struct model m = {.lasting = false};
	struct vt_rng r;
	unsigned i;

	assert_non_null(k);
	vt_rng_init(&r, 5);
	vt_hash_init(&m.bytes, sizeof(struct byte), sizeof(uint64_t));
	for (i = 0; i < steps; i++) {
		random_step(k, &m, &r, spread, exactly);
		/* More ranges than it keeps apart would make it know less than the model. */
		if (m.ngone == 50) {
			vt_known_memory_reset(k);
			model_reset(&m);
		}
	}
	assert_true(filled > steps / 100);
	vt_hash_fini(&m.bytes);
	vt_known_memory_free(k);
}

static void test_random(void **state)
{
	(void)state;
	against_model((size_t)64 << 20, 600, true, 200000);
}

static void test_random_pages(void **state)
{
	(void)state;
	against_model((size_t)64 << 20, 1 << 21, true, 200000);
}

static void test_full(void **state)
{
	(void)state;
	against_model(0, 1 << 15, false, 300000);
}

/* Where others store too, only what no store changes is known. */
static void test_share(void **state)
{
	uint64_t filled = 0, addr;
	struct vt_known_memory *k = vt_known_memory_new(fill, &filled, 1 << 20);
	struct model m = {.lasting = true};
	struct vt_word w[4] = {vt_word_of(1), vt_word_of(2), vt_word_of(3), vt_word_of(4)};
	const uint8_t bytes[100] = {0};

	(void)state;
	assert_non_null(k);
	vt_hash_init(&m.bytes, sizeof(struct byte), sizeof(uint64_t));
	vt_known_memory_store(k, 0x401c00, 32, w);
	vt_known_memory_share(k);
	for (addr = 0x400000; addr < 0x402000; addr += 32)
		check_load(k, &m, addr, 32, true);
	for (addr = 0x400400; addr < 0x400800; addr += 64) {
		vt_known_memory_store(k, addr, 8, w);
		vt_known_memory_store(k, addr + 17, 32, w);
		check_load(k, &m, addr, 32, true);
		check_load(k, &m, addr + 32, 32, true);
	}
	vt_known_memory_set(k, 0x400900, bytes, sizeof(bytes));
	check_load(k, &m, 0x400900, 32, true);
	vt_known_memory_forget(k);
	vt_known_memory_store(k, 0x400900, 8, w);
	check_load(k, &m, 0x400900, 8, true);
	vt_known_memory_reset(k);
	m.lasting = false;
	vt_known_memory_store(k, 0x400908, 8, w);
	model_store(&m, 0x400908, 8, w);
	check_load(k, &m, 0x400900, 32, true);
	vt_hash_fini(&m.bytes);
	vt_known_memory_free(k);
}

/* Ranges are merged when there are too many: less is known, but nothing wrong. */
static void test_many_gone(void **state)
{
	uint64_t filled = 0, i;
	struct vt_known_memory *k = vt_known_memory_new(fill, &filled, 1 << 20);
	struct model m = {.lasting = false};
	struct vt_rng r;

	(void)state;
	assert_non_null(k);
	vt_rng_init(&r, 7);
	vt_hash_init(&m.bytes, sizeof(struct byte), sizeof(uint64_t));
	for (i = 0; i < 400; i++) {
		uint64_t addr = vt_rng_below(&r, UINT64_C(1) << 24);
		uint64_t size = i % 2 ? 64 : 0x10001;

		vt_known_memory_forget_range(k, addr, size);
		model_forget_range(&m, addr, size);
	}
	for (i = 0; i < 20000; i++)
		check_load(k, &m, vt_rng_below(&r, UINT64_C(1) << 24), 8, false);
	vt_known_memory_forget(k);
	model_forget(&m);
	for (i = 0; i < 20000; i++)
		check_load(k, &m, vt_rng_below(&r, UINT64_C(1) << 24), 32, false);
	vt_hash_fini(&m.bytes);
	vt_known_memory_free(k);
}

/* Nothing of an earlier sample is seen after more resets than any counter in it has values. */
static void test_resets(void **state)
{
	struct vt_known_memory *k = vt_known_memory_new(NULL, NULL, 1 << 20);
	struct vt_word w = vt_word_of(42);
	unsigned i;

	(void)state;
	assert_non_null(k);
	for (i = 0; i < 20000; i++) {
		uint64_t addr = (uint64_t)(i % 4096) << 12;

		vt_known_memory_load(k, addr, 8, &w);
		assert_int_equal(w.known, 0);
		w = vt_word_of(i);
		vt_known_memory_store(k, addr, 8, &w);
		vt_known_memory_load(k, addr, 8, &w);
		assert_int_equal(w.value, i);
		assert_true(vt_word_is_known(w));
		vt_known_memory_reset(k);
	}
	vt_known_memory_free(k);
}

/* All of the address space at once, quickly, and with stores afterwards. */
static void test_everything_gone(void **state)
{
	uint64_t filled = 0;
	struct vt_known_memory *k = vt_known_memory_new(fill, &filled, 1 << 20);
	struct vt_word w = vt_word_of(7);
	uint64_t i;

	(void)state;
	assert_non_null(k);
	vt_known_memory_store(k, 0x1000, 8, &w);
	for (i = 0; i < 1000; i++)
		vt_known_memory_forget_range(k, i << 12, UINT64_MAX);
	for (i = 0; i < 1000; i++) {
		vt_known_memory_load(k, i * 8, 8, &w);
		assert_int_equal(w.known, 0);
	}
	w = vt_word_of(9);
	vt_known_memory_store(k, 0x1000, 8, &w);
	vt_known_memory_load(k, 0x1000, 8, &w);
	assert_true(vt_word_is_known(w) && w.value == 9);
	vt_known_memory_forget(k);
	vt_known_memory_load(k, 0x1000, 8, &w);
	assert_int_equal(w.known, 0);
	vt_known_memory_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_pages),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_many_gone),
		cmocka_unit_test(test_resets),
		cmocka_unit_test(test_everything_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
