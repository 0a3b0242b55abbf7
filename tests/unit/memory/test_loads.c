/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Static loads: what they load from, by exact sets up to a limit, and which values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "memory/loads.h"

#define IMAGE 3

static struct vt_error err;

static void start(struct vti_loads *l, uint64_t limit, size_t max)
{
	assert_int_equal(vti_loads_init(l, limit, max, &err), 0);
}

static uint32_t find(struct vti_loads *l, uint64_t offset)
{
	uint32_t load;

	assert_true(vti_loads_find(l, IMAGE, offset, &load));
	return load;
}

/* Loads 8 bytes of a heap object, whose location is the offset in 0x100 bytes. */
static void load(struct vti_loads *l, uint64_t offset, uint64_t address, uint64_t value)
{
	const struct vti_load a = {.value = value,
				   .address = address,
				   .location = address % 0x100,
				   .object = 5,
				   .size = 8,
				   .type = VT_OBJECT_HEAP,
				   .zero = value == 0};

	assert_true(vti_loads_add(l, find(l, offset), &a));
}

static void check_distinct(const struct vt_memory_load *n, enum vt_distinct distinct,
			   uint64_t count, bool at_least)
{
	assert_int_equal(n->distinct[distinct].count, count);
	assert_int_equal(n->distinct[distinct].at_least, at_least);
}

/* Value profiling, figure 7: one load of two variables, each of which is always the same. */
static void alternating(void **state)
{
	const struct vt_memory_load *n;
	struct vti_loads l;
	int i;

	(void)state;
	start(&l, 1000, 10);
	for (i = 0; i < 50; i++) {
		load(&l, 0x10, 0x1000, 7);
		load(&l, 0x10, 0x1108, 9);
	}
	assert_int_equal(vti_loads_finish(&l, &err), 0);
	assert_int_equal(l.count, 1);
	n = &l.list[0];
	assert_int_equal(n->loads, 100);
	assert_int_equal(n->top, 50);
	assert_int_equal(n->value, 7);
	assert_int_equal(n->same, 0);
	assert_int_equal(n->repeated, 98);
	assert_int_equal(n->followed, 100);
	assert_int_equal(n->types[VT_OBJECT_HEAP], 100);
	check_distinct(n, VT_DISTINCT_ADDRESSES, 2, false);
	check_distinct(n, VT_DISTINCT_LOCATIONS, 2, false);
	vti_loads_fini(&l);
}

static void values(void **state)
{
	const struct vti_load wide = {.value = 0x1234, .address = 1, .size = 32, .redundant = true};
	const struct vt_memory_load *n;
	struct vti_loads l;

	(void)state;
	start(&l, 1000, 10);
	/* The same field of three objects: one location. */
	load(&l, 0x10, 0x1010, 0);
	load(&l, 0x10, 0x1110, 0);
	load(&l, 0x10, 0x1210, 4);
	load(&l, 0x10, 0x1210, 4);
	load(&l, 0x10, 0x1010, 5);
	/* Another load of these addresses has counts of its own. */
	load(&l, 0x20, 0x1010, 5);
	assert_true(vti_loads_add(&l, find(&l, 0x30), &wide));
	assert_int_equal(vti_loads_finish(&l, &err), 0);
	assert_int_equal(l.count, 3);
	n = &l.list[0];
	assert_int_equal(n->offset, 0x10);
	assert_int_equal(n->image, IMAGE);
	assert_int_equal(n->loads, 5);
	assert_int_equal(n->zero, 2);
	assert_int_equal(n->top, 2);
	assert_int_equal(n->same, 2);
	assert_int_equal(n->repeated, 1);
	check_distinct(n, VT_DISTINCT_ADDRESSES, 3, false);
	check_distinct(n, VT_DISTINCT_LOCATIONS, 1, false);
	assert_int_equal(l.list[1].offset, 0x20);
	assert_int_equal(l.list[1].loads, 1);
	assert_int_equal(l.list[1].repeated, 0);
	assert_int_equal(l.list[2].size, 32);
	assert_int_equal(l.list[2].redundant, 1);
	assert_int_equal(l.list[2].top, 1);
	assert_int_equal(l.list[2].types[VT_OBJECT_GLOBAL], 1);
	vti_loads_fini(&l);
}

/* One address in two spaces, and another object there. */
static void spaces(void **state)
{
	struct vti_load a = {.address = 0x1000, .location = 8, .size = 8};
	struct vti_loads l;

	(void)state;
	start(&l, 1000, 10);
	assert_true(vti_loads_add(&l, find(&l, 1), &a));
	a.space = 1;
	assert_true(vti_loads_add(&l, find(&l, 1), &a));
	check_distinct(&l.list[0], VT_DISTINCT_ADDRESSES, 2, false);
	check_distinct(&l.list[0], VT_DISTINCT_LOCATIONS, 1, false);
	a.object = 1;
	assert_true(vti_loads_add(&l, find(&l, 1), &a));
	a.object = 0;
	assert_true(vti_loads_add(&l, find(&l, 1), &a));
	check_distinct(&l.list[0], VT_DISTINCT_ADDRESSES, 2, false);
	check_distinct(&l.list[0], VT_DISTINCT_LOCATIONS, 2, false);
	vti_loads_fini(&l);
}

static void at_limit(void **state)
{
	struct vti_loads l;
	uint64_t i;

	(void)state;
	start(&l, 10, 10);
	for (i = 0; i < 6; i++)
		load(&l, 0x10, 0x1000 + 0x100 * i, 1);
	for (i = 0; i < 2; i++) {
		load(&l, 0x20, 0x1000 + 0x100 * i, 1);
		load(&l, 0x30, 0x1000 + 0x100 * i, 1);
	}
	/* Of ten pairs, six are of the first: with the next one, these go. */
	load(&l, 0x30, 0x9000, 1);
	assert_int_equal(l.pairs[VT_DISTINCT_ADDRESSES].count, 5);
	load(&l, 0x10, 0xa000, 1);
	load(&l, 0x10, 0x1000, 1);
	load(&l, 0x20, 0x1000, 1);
	load(&l, 0x20, 0x1000, 2);
	load(&l, 0x20, 0xb000, 2);
	check_distinct(&l.list[0], VT_DISTINCT_ADDRESSES, 6, true);
	check_distinct(&l.list[1], VT_DISTINCT_ADDRESSES, 3, false);
	check_distinct(&l.list[2], VT_DISTINCT_ADDRESSES, 3, false);
	/* Of what is dropped, it is not known whether it repeats. */
	assert_int_equal(l.list[0].loads, 8);
	assert_int_equal(l.list[0].followed, 6);
	assert_int_equal(l.list[0].repeated, 0);
	assert_int_equal(l.list[1].followed, 5);
	assert_int_equal(l.list[1].repeated, 1);
	/* The few locations are all there. */
	for (i = 0; i < 3; i++)
		check_distinct(&l.list[i], VT_DISTINCT_LOCATIONS, 1, false);
	vti_loads_fini(&l);
}

static void locations_at_limit(void **state)
{
	struct vti_loads l;
	uint64_t i;

	(void)state;
	start(&l, 10, 10);
	for (i = 0; i < 12; i++)
		load(&l, 0x10, 0x1000 + 8 * i, 1);
	load(&l, 0x20, 0x1000, 1);
	check_distinct(&l.list[0], VT_DISTINCT_ADDRESSES, 10, true);
	check_distinct(&l.list[0], VT_DISTINCT_LOCATIONS, 10, true);
	check_distinct(&l.list[1], VT_DISTINCT_ADDRESSES, 1, false);
	check_distinct(&l.list[1], VT_DISTINCT_LOCATIONS, 1, false);
	vti_loads_fini(&l);
}

static void too_many(void **state)
{
	struct vti_loads l;

	(void)state;
	start(&l, 10, 2);
	load(&l, 0x10, 0x1000, 1);
	load(&l, 0x20, 0x1000, 1);
	load(&l, 0x30, 0x1000, 1);
	load(&l, 0x30, 0x1000, 1);
	load(&l, 0x20, 0x1000, 1);
	assert_int_equal(l.count, 2);
	assert_int_equal(l.left_out, 2);
	assert_int_equal(vti_loads_finish(&l, &err), 0);
	assert_int_equal(l.list[0].offset, 0x20);
	assert_int_equal(l.list[0].loads, 2);
	vti_loads_fini(&l);
}

static void classes(void **state)
{
	static const uint64_t counts[] = {1, 1, 2, 10, 11, 100, 101};
	struct vt_load_class c[VT_LOAD_CLASSES];
	struct vti_loads l;
	uint64_t i, k;

	(void)state;
	start(&l, 226, 10);
	for (i = 0; i < 7; i++)
		for (k = 0; k < counts[i]; k++)
			load(&l, i, 0x10000 + 0x100 * k, 1);
	load(&l, 1, 0x10000, 1);
	vti_loads_classes(&l, VT_DISTINCT_ADDRESSES, c);
	assert_int_equal(c[0].from, 1);
	assert_int_equal(c[0].to, 1);
	assert_int_equal(c[0].static_loads, 2);
	assert_int_equal(c[0].loads, 3);
	assert_int_equal(c[1].from, 2);
	assert_int_equal(c[1].to, 10);
	assert_int_equal(c[1].static_loads, 2);
	assert_int_equal(c[1].loads, 12);
	assert_int_equal(c[2].static_loads, 2);
	assert_int_equal(c[2].loads, 111);
	assert_int_equal(c[3].from, 101);
	assert_int_equal(c[3].to, 1000);
	assert_int_equal(c[3].static_loads, 1);
	assert_int_equal(c[3].at_least, 0);
	assert_int_equal(c[4].static_loads, 0);
	assert_int_equal(c[7].from, 1000001);
	assert_true(c[7].to == UINT64_MAX);
	/* At the limit, the two largest go. */
	load(&l, 0, 0x20000, 1);
	vti_loads_classes(&l, VT_DISTINCT_ADDRESSES, c);
	assert_int_equal(c[2].at_least, 1);
	assert_int_equal(c[3].at_least, 1);
	assert_int_equal(c[0].static_loads, 1);
	assert_int_equal(c[1].static_loads, 3);
	/* All have one location. */
	vti_loads_classes(&l, VT_DISTINCT_LOCATIONS, c);
	assert_int_equal(c[0].static_loads, 7);
	assert_int_equal(c[0].loads, 228);
	vti_loads_fini(&l);
}

static void nothing(void **state)
{
	struct vti_loads l = {.count = 0};
	struct vt_load_class c[VT_LOAD_CLASSES];

	(void)state;
	assert_int_equal(vti_loads_finish(&l, &err), 0);
	vti_loads_classes(&l, VT_DISTINCT_ADDRESSES, c);
	assert_int_equal(c[0].static_loads, 0);
	vti_loads_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alternating), cmocka_unit_test(values),
		cmocka_unit_test(spaces),      cmocka_unit_test(at_limit),
		cmocka_unit_test(too_many),    cmocka_unit_test(locations_at_limit),
		cmocka_unit_test(classes),     cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
