/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of memory: masks of bytes, chunks, ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "memory/cells.h"

static void masks(void **state)
{
	unsigned mask, i;

	(void)state;
	for (mask = 0; mask < 256; mask++) {
		uint64_t want = 0;

		for (i = 0; i < 8; i++)
			if (mask >> i & 1)
				want |= UINT64_C(0xff) << 8 * i;
		assert_int_equal(vti_mask_bytes((uint8_t)mask), want);
	}
	assert_int_equal(vti_mask_within(0x1000, 0x1000, 0x1007), 0xff);
	assert_int_equal(vti_mask_within(0x1000, 0x0ff0, 0x1010), 0xff);
	assert_int_equal(vti_mask_within(0x1000, 0x1003, 0x1010), 0xf8);
	assert_int_equal(vti_mask_within(0x1000, 0x0fff, 0x1002), 0x07);
	assert_int_equal(vti_mask_within(0x1000, 0x1002, 0x1002), 0x04);
	assert_int_equal(vti_mask_within(UINT64_MAX - 7, UINT64_MAX, UINT64_MAX), 0x80);
}

struct seen {
	unsigned cells;
	unsigned bytes;
	uint8_t last;
};

static void see(void *arg, struct vti_memory_cell *cell, uint32_t *stored, uint8_t mask)
{
	(void)stored;
	struct seen *s = arg;

	s->cells++;
	s->bytes += (unsigned)__builtin_popcount(mask);
	s->last = mask;
	cell->content++;
}

static struct seen each(struct vti_cells *c, uint64_t start, uint64_t size)
{
	struct seen s = {0};

	vti_cells_each(c, start, size, see, &s);
	return s;
}

static void ranges(void **state)
{
	struct vti_cells c;
	struct vti_memory_cell *a, *b;
	uint32_t *stored;
	struct seen s;
	unsigned i;

	(void)state;
	vti_cells_init(&c, false);
	assert_null(vti_cells_find(&c, 0x1000));
	a = vti_cells_at(&c, 0x1004, &stored);
	assert_int_equal(a->location, VTI_NO_LOCATION);
	assert_ptr_equal(vti_cells_at(&c, 0x1000, &stored), a);
	assert_ptr_equal(vti_cells_at(&c, 0x1007, &stored), a);
	assert_ptr_equal(vti_cells_at(&c, 0x1008, &stored), a + 1);
	assert_ptr_equal(vti_cells_find(&c, 0x1001), a);
	assert_int_equal(vti_cells_count(&c), 1);
	/* Another chunk of the same place among the recent ones. */
	b = vti_cells_at(&c, 0x1000 + VTI_RECENT * 256, &stored);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(vti_cells_at(&c, 0x1000, &stored), a);
	assert_int_equal(vti_cells_count(&c), 2);
	assert_ptr_equal(&vti_cells_chunk(&c, 1)->cells[0], b);
	/* Bytes 3 to 20 of the first chunk: three cells. */
	s = each(&c, 0x1003, 18);
	assert_int_equal(s.cells, 3);
	assert_int_equal(s.bytes, 18);
	assert_int_equal(a->content, 1);
	/* All memory: both chunks, whichever way is shorter. */
	assert_int_equal(each(&c, 0, UINT64_MAX).cells, 64);
	assert_int_equal(each(&c, 0x10ff, UINT64_MAX).cells, 33);
	assert_int_equal(each(&c, 0x1000, 0).cells, 0);
	assert_int_equal(each(&c, 0x1100, 0x100).cells, 0);
	assert_int_equal(each(&c, 0x1000, 0x101).cells, 32);
	for (i = 0; i < 40; i++)
		vti_cells_at(&c, 0x100000 + 256 * i, &stored);
	s = each(&c, 0x100000 + 255, 2);
	assert_int_equal(s.cells, 2);
	assert_int_equal(s.last, 0x01);
	vti_cells_clear(&c);
	assert_int_equal(vti_cells_count(&c), 0);
	assert_null(vti_cells_find(&c, 0x1000));
	assert_int_equal(vti_cells_at(&c, 0x1000, &stored)->content, 0);
	vti_cells_fini(&c);
}

static void by_byte(void **state)
{
	struct vti_cells with, without;
	uint32_t *stored = NULL, *next = NULL;

	(void)state;
	vti_cells_init(&with, true);
	assert_non_null(vti_cells_at(&with, 0x1008, &stored));
	assert_non_null(vti_cells_at(&with, 0x10ff, &next));
	assert_ptr_equal(stored, vti_cells_chunk(&with, 0)->stored + 8);
	assert_ptr_equal(next, vti_cells_chunk(&with, 0)->stored + 248);
	vti_cells_fini(&with);
	vti_cells_init(&without, false);
	assert_non_null(vti_cells_at(&without, 0x1008, &stored));
	assert_null(stored);
	vti_cells_fini(&without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks),
		cmocka_unit_test(ranges),
		cmocka_unit_test(by_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
