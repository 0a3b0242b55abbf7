/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stretches of files that a process could write to, and the names by which a file is found again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/written.h"

#define READ   1
#define WRITE  2
#define EXEC   4
#define SHARED 1

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- ranges ---- */

#define END 64

/* Bits 0 to END-1 that are within. */
static uint64_t bits_of(const struct vti_ranges *r)
{
	uint64_t bits = 0;
	unsigned i;

	for (i = 0; i < END; i++)
		bits |= (uint64_t)vti_ranges_has(r, i) << i;
	return bits;
}

/* Each step's range, whether it adds anything, and how many there are then. */
static void ranges_step_by_step(void **state)
{
	static const struct {
		uint64_t offset, length;
		bool adds;
		size_t count;
	} steps[] = {
		{10, 0, false, 0},
		{UINT64_MAX, 1, false, 0},
		{UINT64_MAX - 1, 3, false, 0},
		{10, 10, true, 1},
		{10, 10, false, 1},
		{12, 8, false, 1},
		{10, 8, false, 1},
		{11, 1, false, 1},
		/* It touches the end, and the beginning; a byte between keeps them apart. */
		{20, 5, true, 1},
		{5, 5, true, 1},
		{26, 4, true, 2},
		{1, 3, true, 3},
		/* Over one of them, on both sides. */
		{4, 22, true, 3},
		{0, 1, true, 3},
	};
	struct vti_ranges r = {.count = 0};
	uint64_t want = 0;
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < COUNT(steps); i++) {
		assert_int_equal(vti_ranges_add(&r, steps[i].offset, steps[i].length),
				 steps[i].adds);
		assert_int_equal(r.count, steps[i].count);
		for (k = 0; steps[i].adds && k < steps[i].length; k++)
			want |= UINT64_C(1) << (steps[i].offset + k);
		assert_int_equal(bits_of(&r), want);
	}
	vti_ranges_fini(&r);
	assert_int_equal(r.count, 0);
	assert_null(r.list);
}

/* Any ranges: what is within is what was added. */
static void ranges_of_any_order(void **state)
{
	struct vt_rng rng;
	int round, n;

	(void)state;
	vt_rng_init(&rng, 4);
	for (round = 0; round < 300; round++) {
		struct vti_ranges r = {.count = 0};
		uint64_t want = 0;

		for (n = 0; n < 12; n++) {
			uint64_t first = vt_rng_below(&rng, END), i;
			uint64_t length = vt_rng_below(&rng, 5);
			uint64_t was = want;

			for (i = first; i < first + length && i < END; i++)
				want |= UINT64_C(1) << i;
			/* Parts that two others have may be added again. */
			assert_true(vti_ranges_add(&r, first, length) || want == was);
			assert_int_equal(bits_of(&r), want);
		}
		vti_ranges_fini(&r);
	}
}

/* Where there is no room for another the last one grows, on either side. */
static void ranges_without_room(void **state)
{
	const uint64_t last = 100 + 10 * (VTI_MAX_RANGES - 1);
	struct vti_ranges r = {.count = 0};
	uint64_t i;

	(void)state;
	for (i = 0; i < VTI_MAX_RANGES; i++)
		assert_true(vti_ranges_add(&r, 100 + 10 * i, 2));
	assert_true(vti_ranges_add(&r, last + 20, 5));
	assert_int_equal(r.count, VTI_MAX_RANGES);
	assert_true(vti_ranges_has(&r, last + 10) && vti_ranges_has(&r, last + 24));
	assert_false(vti_ranges_has(&r, last + 25));
	assert_false(vti_ranges_has(&r, last - 1));
	assert_true(vti_ranges_add(&r, 50, 1));
	assert_true(vti_ranges_has(&r, 50) && vti_ranges_has(&r, 105));
	assert_false(vti_ranges_has(&r, 49));
	/* One that touches another has room there. */
	assert_int_equal(r.list[0].end, 102);
	assert_true(vti_ranges_add(&r, 102, 3));
	assert_int_equal(r.list[0].end, 105);
	vti_ranges_fini(&r);
}

/* ---- files ---- */

struct mapping {
	unsigned image; /* 1 to 4: those below */
	uint64_t ino;
	uint64_t prot, flags, offset, length;
};

/* Two images have a build-id in common, two another; the last is no file. */
static const uint8_t ids[2][VT_BUILDID_MAX + 1] = {{1, 2, 3, [20] = 9}, {1, 2, 4}};
static const struct vt_image images[] = {
	{.id = 0, .type = VT_IMAGE_FILE},
	{.id = 1, .type = VT_IMAGE_FILE, .buildid = ids[0], .buildid_size = 20},
	{.id = 2, .type = VT_IMAGE_FILE, .buildid = ids[0], .buildid_size = 20},
	{.id = 3, .type = VT_IMAGE_FILE, .buildid = ids[1], .buildid_size = 20},
	{.id = 4, .type = VT_IMAGE_ANON, .buildid = ids[0], .buildid_size = 20},
	/* Longer than any: of no meaning. */
	{.id = 5, .type = VT_IMAGE_FILE, .buildid = ids[0], .buildid_size = VT_BUILDID_MAX + 1},
	{.id = 6, .type = VT_IMAGE_FILE, .buildid = ids[0], .buildid_size = VT_BUILDID_MAX},
	{.id = 7, .type = VT_IMAGE_FILE, .buildid = ids[0], .buildid_size = VT_BUILDID_MAX},
};

static void feed(struct vti_written *w, const struct mapping *m)
{
	uint64_t values[VT_MAP_NFIELDS] = {0};
	struct vt_column columns[VT_MAP_NFIELDS] = {{.v = NULL}};
	const struct vt_block block = {VT_MAP, 1, VT_MAP_NFIELDS, NULL, columns};
	const struct vt_record rec = {&block, VT_MAP, 0};
	const struct vti_inode inode = {8, 1, m->ino};
	struct vt_error err = VT_ERROR_INIT;
	unsigned f;

	for (f = 0; f < VT_MAP_NFIELDS; f++)
		columns[f].v = &values[f];
	values[VT_MAP_PROT] = m->prot;
	values[VT_MAP_FLAGS] = m->flags;
	values[VT_MAP_OFFSET] = m->offset;
	values[VT_MAP_LENGTH] = m->length;
	assert_int_equal(vti_written_feed(w, &images[m->image], &inode, &rec, &err), 0);
}

/* Images that are written to at an offset, as bits; `ino` is that of all when asked. */
static unsigned written_at(const struct vti_written *w, uint64_t ino, uint64_t offset)
{
	const struct vti_inode inode = {8, 1, ino};
	unsigned bits = 0;
	size_t i;

	for (i = 0; i < COUNT(images); i++)
		bits |= (unsigned)vti_written_has(w, &images[i], &inode, offset) << i;
	return bits;
}

static void which_mappings_write(void **state)
{
	static const struct {
		struct mapping map;
		bool any;
		unsigned written;
	} rows[] = {
		{{3, 0, READ | WRITE, SHARED, 0x100, 0x10}, true, 1 << 3},
		{{3, 0, WRITE, SHARED | 2, 0x100, 0x10}, true, 1 << 3},
		{{3, 0, READ, SHARED, 0x100, 0x10}, false, 0},
		{{3, 0, READ | WRITE, 2, 0x100, 0x10}, false, 0},
		{{3, 0, READ | EXEC, SHARED, 0x100, 0x10}, false, 0},
		{{4, 0, READ | WRITE, SHARED, 0x100, 0x10}, false, 0},
		/* By its build-id, under both names; by its inode, whatever the name. */
		{{1, 0, WRITE, SHARED, 0x100, 0x10}, true, 1 << 1 | 1 << 2 | 1 << 4},
		{{5, 0, WRITE, SHARED, 0x100, 0x10}, true, 1 << 5},
		{{6, 0, WRITE, SHARED, 0x100, 0x10}, true, 1 << 6 | 1 << 7},
		{{0, 0, WRITE, SHARED, 0x100, 0x10}, true, 1 << 0},
		{{0, 77, WRITE, SHARED, 0x100, 0x10}, true, 0xff},
		{{0, 78, WRITE, SHARED, 0x100, 0x10}, true, 1 << 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct vti_written w;

		vti_written_init(&w);
		feed(&w, &rows[i].map);
		assert_int_equal(w.any, rows[i].any);
		assert_int_equal(written_at(&w, 77, 0xff), 0);
		assert_int_equal(written_at(&w, 77, 0x100), rows[i].written);
		assert_int_equal(written_at(&w, 77, 0x10f), rows[i].written);
		assert_int_equal(written_at(&w, 77, 0x110), 0);
		vti_written_fini(&w);
	}
}

/* Once a file has been mapped to run, each stretch that is new counts, once for each of its names.
 */
static void changes_of_code(void **state)
{
	static const struct {
		struct mapping map;
		uint64_t changes;
	} steps[] = {
		{{0, 0, READ | WRITE, SHARED, 0, 0x10}, 0},
		{{0, 0, READ | EXEC, 2, 0, 0x1000}, 0},
		{{0, 0, READ | WRITE, SHARED, 0, 0x10}, 0},
		{{0, 0, READ | WRITE, SHARED, 0x20, 0x10}, 1},
		{{0, 0, READ | WRITE, 2, 0x40, 0x10}, 1},
		{{0, 0, READ, SHARED, 0x40, 0x10}, 1},
		/* Of image 1 it is not known that it has code, of 3 at once, by id and build-id. */
		{{1, 0, READ | WRITE, SHARED, 0x40, 0x10}, 1},
		{{3, 0, WRITE | EXEC, SHARED, 0x40, 0x10}, 3},
		{{3, 0, READ | WRITE, SHARED, 0x40, 0x10}, 3},
		{{3, 9, READ | EXEC, SHARED, 0x40, 0x10}, 3},
		{{3, 9, READ | WRITE, SHARED, 0x80, 0x10}, 6},
	};
	struct vti_written w;
	size_t i;

	(void)state;
	vti_written_init(&w);
	for (i = 0; i < COUNT(steps); i++) {
		feed(&w, &steps[i].map);
		assert_int_equal(w.code_changes, steps[i].changes);
	}
	assert_true(w.any);
	/* A file with code that nobody writes to does not undo that another is written to. */
	feed(&w, &(struct mapping){2, 0, READ | EXEC, 2, 0, 0x10});
	assert_true(w.any);
	vti_written_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_step_by_step), cmocka_unit_test(ranges_of_any_order),
		cmocka_unit_test(ranges_without_room), cmocka_unit_test(which_mappings_write),
		cmocka_unit_test(changes_of_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
