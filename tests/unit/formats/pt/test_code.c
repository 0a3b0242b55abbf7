/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of code: laid over one another, taken away, copied; against a flat memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/pt/code.h"

#define AREA 4096

static uint8_t content[2 * AREA];

static void fill(void)
{
	size_t i;

	for (i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 7 + (i >> 8));
}

static void add(struct vt_pt_code *c, uint64_t start, uint64_t size, size_t from)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_section s = {start, size, content + from, NULL, from};

	assert_int_equal(vt_pt_code_add(c, &s, &err), 0);
}

static void check_order(const struct vt_pt_code *c)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < vt_pt_code_count(c); i++) {
		const struct vt_pt_section *s = vt_pt_code_section(c, i);

		assert_true(s->size > 0);
		assert_true(i == 0 || s->start >= end);
		assert_ptr_equal(s->bytes, content + s->offset);
		end = s->start + s->size;
	}
}

/* What is at each address of an area at `base`: an index into `content`, or -1. */
static void check_area(const struct vt_pt_code *c, uint64_t base, const int *model)
{
	unsigned i;

	for (i = 0; i < AREA; i++) {
		size_t have, k;
		const uint8_t *p = vt_pt_code_at(c, base + i, &have);

		assert_int_equal(p != NULL, model[i] >= 0);
		if (!p)
			continue;
		assert_ptr_equal(p, content + model[i]);
		assert_true(have > 0);
		for (k = 0; k < have && i + k < AREA && k < 20; k++)
			assert_int_equal(model[i + k], model[i] + (int)k);
	}
}

static void test_random(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_rng rng;
	unsigned round, step, i;

	(void)state;
	fill();
	vt_rng_init(&rng, 1);
	for (round = 0; round < 40; round++) {
		const uint64_t base = round & 1 ? 0 - (uint64_t)AREA : 0x7000;
		struct vt_pt_code *c = vt_pt_code_new();
		int model[AREA];

		assert_non_null(c);
		for (i = 0; i < AREA; i++)
			model[i] = -1;
		for (step = 0; step < 60; step++) {
			const unsigned start = (unsigned)vt_rng_below(&rng, AREA);
			const unsigned size =
				1 + (unsigned)vt_rng_below(&rng, step & 3 ? 64 : 1024);
			const unsigned end = start + size > AREA ? AREA : start + size;
			const bool remove = vt_rng_below(&rng, 4) == 0;
			const unsigned from = (unsigned)vt_rng_below(&rng, AREA);
			const uint64_t before = vt_pt_code_generation(c);

			if (remove)
				assert_int_equal(
					vt_pt_code_remove(c, base + start, end - start, &err), 0);
			else
				add(c, base + start, end - start, from);
			assert_true(vt_pt_code_generation(c) != before);
			for (i = start; i < end; i++)
				model[i] = remove ? -1 : (int)(from + (i - start));
			check_order(c);
		}
		check_area(c, base, model);
		vt_pt_code_free(c);
	}
}

static void test_read(void **state)
{
	struct vt_pt_code *c = vt_pt_code_new();
	uint8_t out[32];
	size_t have;

	(void)state;
	fill();
	add(c, 0x1000, 10, 0);
	add(c, 0x100a, 6, 100);
	add(c, 0x1011, 5, 200);
	assert_int_equal(vt_pt_code_read(c, 0x1004, out, sizeof(out)), 12);
	assert_memory_equal(out, content + 4, 6);
	assert_memory_equal(out + 6, content + 100, 6);
	assert_int_equal(vt_pt_code_read(c, 0x1004, out, 3), 3);
	assert_int_equal(vt_pt_code_read(c, 0x1010, out, 3), 0);
	assert_null(vt_pt_code_at(c, 0xfff, &have));
	/* The end of the address space is no reason to go on at its beginning. */
	add(c, UINT64_MAX - 3, 4, 300);
	add(c, 0, 4, 400);
	assert_int_equal(vt_pt_code_read(c, UINT64_MAX - 1, out, sizeof(out)), 2);
	vt_pt_code_free(c);
}

static void test_copy(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_code *c = vt_pt_code_new(), *fork;
	size_t have;

	(void)state;
	add(c, 0x1000, 16, 0);
	fork = vt_pt_code_copy(c);
	assert_non_null(fork);
	add(fork, 0x1004, 4, 100);
	assert_ptr_equal(vt_pt_code_at(c, 0x1004, &have), content + 4);
	assert_ptr_equal(vt_pt_code_at(fork, 0x1004, &have), content + 100);
	assert_int_equal(have, 4);
	assert_int_equal(vt_pt_code_remove(c, 0, UINT64_MAX, &err), 0);
	assert_int_equal(vt_pt_code_count(c), 0);
	assert_int_equal(vt_pt_code_count(fork), 3);
	vt_pt_code_free(c);
	assert_ptr_equal(vt_pt_code_at(fork, 0x1000, &have), content);
	vt_pt_code_free(fork);
}

static void test_kernel(void **state)
{
	struct vt_pt_code *c = vt_pt_code_new(), *kernel = vt_pt_code_new();
	uint64_t before;
	size_t have;

	(void)state;
	add(kernel, 0x1000, 64, 0);
	add(c, 0x1010, 16, 100);
	assert_null(vt_pt_code_at(c, 0x1000, &have));
	before = vt_pt_code_generation(c);
	vt_pt_code_set_kernel(c, kernel);
	assert_true(vt_pt_code_generation(c) != before);
	assert_ptr_equal(vt_pt_code_at(c, 0x1000, &have), content);
	assert_int_equal(have, 16);
	assert_ptr_equal(vt_pt_code_at(c, 0x1010, &have), content + 100);
	assert_ptr_equal(vt_pt_code_at(c, 0x1020, &have), content + 32);
	assert_int_equal(vt_pt_code_count(c), 1);
	/* As far as it goes, or to what the process has itself; before the first, and behind. */
	assert_ptr_equal(vt_pt_code_at(c, 0x103f, &have), content + 63);
	assert_int_equal(have, 1);
	assert_null(vt_pt_code_at(c, 0x1040, &have));
	assert_int_equal(have, 0);
	assert_null(vt_pt_code_at(c, 0xfff, &have));
	add(c, 0x1041, 1, 100);
	assert_ptr_equal(vt_pt_code_at(c, 0x1021, &have), content + 33);
	assert_int_equal(have, 31);
	add(c, 0x1040, 1, 100);
	assert_ptr_equal(vt_pt_code_at(c, 0x1021, &have), content + 33);
	assert_int_equal(have, 31);
	add(c, 0x103f, 1, 100);
	assert_ptr_equal(vt_pt_code_at(c, 0x1021, &have), content + 33);
	assert_int_equal(have, 30);
	before = vt_pt_code_generation(c);
	vt_pt_code_set_kernel(c, kernel);
	assert_int_equal(vt_pt_code_generation(c), before);
	add(kernel, 0x2000, 64, 0);
	assert_true(vt_pt_code_generation(c) != before);
	before = vt_pt_code_generation(c);
	vt_pt_code_set_kernel(c, NULL);
	assert_true(vt_pt_code_generation(c) > before);
	assert_null(vt_pt_code_at(c, 0x2000, &have));
	vt_pt_code_free(c);
	vt_pt_code_free(kernel);
}

/* Nothing, up to the end of the address space and behind it. */
static void test_removed(void **state)
{
	static const uint64_t sizes[] = {1, 5, 6, 7, 100, UINT64_MAX};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_code *c = vt_pt_code_new();
	uint64_t before;
	size_t i, have;

	(void)state;
	fill();
	add(c, 0, 4, 400);
	add(c, UINT64_MAX - 7, 8, 300);
	before = vt_pt_code_generation(c);
	assert_int_equal(vt_pt_code_remove(c, 0, 0, &err), 0);
	assert_int_equal(vt_pt_code_remove(c, UINT64_MAX - 3, 0, &err), 0);
	assert_int_equal(vt_pt_code_generation(c), before);
	assert_int_equal(vt_pt_code_count(c), 2);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		add(c, UINT64_MAX - 7, 8, 300);
		assert_int_equal(vt_pt_code_remove(c, UINT64_MAX - 5, sizes[i], &err), 0);
		assert_ptr_equal(vt_pt_code_at(c, UINT64_MAX - 7, &have), content + 300);
		assert_int_equal(have, 2);
		assert_null(vt_pt_code_at(c, UINT64_MAX - 5, &have));
		assert_int_equal(have, 0);
		assert_int_equal(vt_pt_code_at(c, UINT64_MAX - 1, &have) != NULL, sizes[i] < 5);
		assert_int_equal(vt_pt_code_at(c, UINT64_MAX, &have) != NULL, sizes[i] < 6);
		assert_ptr_equal(vt_pt_code_at(c, 0, &have), content + 400);
		assert_int_equal(have, 4);
	}
	/* All but the last byte. */
	add(c, UINT64_MAX - 7, 8, 300);
	assert_int_equal(vt_pt_code_remove(c, 0, UINT64_MAX, &err), 0);
	assert_int_equal(vt_pt_code_count(c), 1);
	assert_ptr_equal(vt_pt_code_at(c, UINT64_MAX, &have), content + 307);
	assert_int_equal(have, 1);
	vt_pt_code_free(c);
	vt_pt_code_free(NULL);
}

static void test_refused(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_section s = {0x1000, 0, content, NULL, 0};
	unsigned i;

	(void)state;
	assert_int_equal(vt_pt_code_add(c, &s, &err), -VT_E_FORMAT);
	s = (struct vt_pt_section){UINT64_MAX - 3, 5, content, NULL, 0};
	assert_int_equal(vt_pt_code_add(c, &s, &err), -VT_E_FORMAT);
	s.size = 4;
	assert_int_equal(vt_pt_code_add(c, &s, &err), 0);
	s.size = 1;
	for (i = 0; i < VT_PT_MAX_SECTIONS; i++) {
		s.start = i * 2;
		if (vt_pt_code_add(c, &s, &err) < 0)
			break;
	}
	assert_int_equal(err.code, VT_E_LIMIT);
	/* There is one already, and there must be room for the two parts of one that is cut. */
	assert_int_equal(i, VT_PT_MAX_SECTIONS - 2);
	vt_pt_code_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	cmocka_unit_test(test_read),
		cmocka_unit_test(test_copy),	cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
