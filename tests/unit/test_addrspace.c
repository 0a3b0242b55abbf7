/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/addrspace.h"
#include "stream/kinds.h"

#define USER   2
#define KERNEL 1
#define EXEC   5 /* PROT_READ | PROT_EXEC */

static struct vt_error err;

static void map(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t length,
		uint64_t offset, uint32_t image)
{
	assert_int_equal(vt_addrspace_map(as, pid, start, length, offset, image, EXEC, 0, &err), 0);
}

static void expect(struct vt_addrspace *as, int32_t pid, uint64_t address, uint32_t image,
		   uint64_t offset)
{
	const struct vt_map *m = vt_addrspace_find(as, pid, address, USER);

	assert_non_null(m);
	assert_int_equal(m->image, image);
	assert_true(vt_map_offset(m, address) == offset);
}

static void a_mapping_replaces_what_it_overlaps(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();

	(void)state;
	map(as, 1, 0x10000, 0x10000, 0, 10);
	map(as, 1, 0x14000, 0x4000, 0x1000, 11);
	expect(as, 1, 0x13fff, 10, 0x3fff);
	expect(as, 1, 0x14000, 11, 0x1000);
	expect(as, 1, 0x17fff, 11, 0x4fff);
	expect(as, 1, 0x18000, 10, 0x8000);
	assert_int_equal(vt_addrspace_count(as), 3);
	assert_null(vt_addrspace_find(as, 1, 0x20000, USER));
	assert_null(vt_addrspace_find(as, 1, 0xffff, USER));
	assert_null(vt_addrspace_find(as, 2, 0x14000, USER));
	assert_int_equal(vt_addrspace_unmap(as, 1, 0x10000, 0x8000, &err), 0);
	assert_null(vt_addrspace_find(as, 1, 0x17fff, USER));
	expect(as, 1, 0x18000, 10, 0x8000);
	map(as, 1, 0, UINT64_MAX, 0, 12);
	assert_int_equal(vt_addrspace_count(as), 1);
	vt_addrspace_free(as);
}

static void fork_exec_exit(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();
	int32_t pid;

	(void)state;
	map(as, 1, 0x1000, 0x1000, 0, 10);
	assert_int_equal(vt_addrspace_fork(as, 2, 1, true, &err), 0);
	assert_int_equal(vt_addrspace_count(as), 1);
	expect(as, 2, 0x1800, 10, 0x800);
	/* Each changes its own. */
	map(as, 2, 0x1800, 0x100, 0, 20);
	expect(as, 1, 0x1800, 10, 0x800);
	expect(as, 2, 0x1800, 20, 0);
	vt_addrspace_exec(as, 2);
	assert_null(vt_addrspace_find(as, 2, 0x1800, USER));
	expect(as, 1, 0x1800, 10, 0x800);
	assert_int_equal(vt_addrspace_fork(as, 3, 1, false, &err), 0);
	assert_null(vt_addrspace_find(as, 3, 0x1800, USER));
	/* A thread's end is not its process's; after that, the process is kept for a while. */
	assert_int_equal(vt_addrspace_fork(as, 1, 1, true, &err), 0);
	vt_addrspace_exit(as, 1, 7);
	vt_addrspace_exit(as, 1, 7);
	for (pid = 100; pid < 100 + 2 * VT_DEAD_PROCESSES; pid++) {
		map(as, pid, 0x1000, 0x1000, 0, 30);
		vt_addrspace_exit(as, pid, pid);
	}
	expect(as, 1, 0x1800, 10, 0x800);
	assert_null(vt_addrspace_find(as, 100, 0x1000, USER));
	expect(as, pid - 1, 0x1000, 30, 0);
	assert_int_equal(vt_addrspace_count(as), 1 + VT_DEAD_PROCESSES);
	vt_addrspace_exit(as, 1, 1);
	expect(as, 1, 0x1800, 10, 0x800);
	/* The number is used again. */
	assert_int_equal(vt_addrspace_fork(as, pid - 1, 1, true, &err), 0);
	expect(as, pid - 1, 0x1800, 10, 0x800);
	vt_addrspace_free(as);
}

static void kernel_and_modes(void **state)
{
	const uint64_t text = 0xffffffff9a000000, module = 0xffffffffc0400000;
	struct vt_addrspace *as = vt_addrspace_new();
	const struct vt_map *m;

	(void)state;
	assert_int_equal(vt_addrspace_image(as, 1, VT_IMAGE_KERNEL, &err), 0);
	assert_int_equal(vt_addrspace_image(as, 2, VT_IMAGE_MODULE, &err), 0);
	/* A recorder that left the length out, and one that started at 0. */
	map(as, VT_PID_KERNEL, text, 0, text, 1);
	map(as, VT_PID_KERNEL, module, 0x3000, 0, 2);
	m = vt_addrspace_find(as, 7, text + 0x1234, KERNEL);
	assert_int_equal(m->image, 1);
	assert_true(vt_map_offset(m, text + 0x1234) == 0x1234);
	m = vt_addrspace_find(as, 7, module + 0x10, 0);
	assert_int_equal(m->image, 2);
	assert_true(vt_map_offset(m, module + 0x10) == 0x10);
	assert_null(vt_addrspace_find(as, 7, text, USER));
	assert_null(vt_addrspace_find(as, 7, text, 3));
	assert_null(vt_addrspace_find(as, 7, text, 4));
	map(as, VT_PID_KERNEL, 0, 0xffffffff9fffffff, text, 1);
	m = vt_addrspace_find(as, 7, text + 0x1234, KERNEL);
	assert_true(vt_map_offset(m, text + 0x1234) == 0x1234);
	vt_addrspace_free(as);
}

static void generated_kernel_code(void **state)
{
	const uint64_t at = 0xffffffffc0001000;
	struct vt_addrspace *as = vt_addrspace_new();
	const struct vt_map *m;

	(void)state;
	assert_int_equal(vt_addrspace_ksymbol(as, at, 0x100, true, &err), 0);
	assert_int_equal(vt_addrspace_ksymbol(as, at + 0x100, 0x100, true, &err), 0);
	m = vt_addrspace_find(as, 1, at + 0x110, KERNEL);
	assert_int_equal(m->image, VT_KSYMBOL_IMAGE + 1);
	assert_true(vt_map_offset(m, at + 0x110) == 0x10);
	assert_int_equal(vt_addrspace_ksymbol(as, at, 0x100, false, &err), 0);
	assert_null(vt_addrspace_find(as, 1, at, KERNEL));
	assert_int_equal(vt_addrspace_ksymbol(as, at, 0x100, true, &err), 0);
	assert_int_equal(vt_addrspace_find(as, 1, at, KERNEL)->image, VT_KSYMBOL_IMAGE + 2);
	vt_addrspace_free(as);
}

static void offsets_by_kind_of_image(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();

	(void)state;
	assert_int_equal(vt_addrspace_image(as, 1, VT_IMAGE_ANON, &err), 0);
	assert_int_equal(vt_addrspace_image(as, 2, VT_IMAGE_VDSO, &err), 0);
	map(as, 1, 0x7f0000000000, 0x1000, 0x7777000, 1);
	expect(as, 1, 0x7f0000000123, 1, 0x7f0000000123);
	map(as, 1, 0x7ffd00000000, 0x1000, 0x7ffd00000000, 2);
	expect(as, 1, 0x7ffd00000123, 2, 0x123);
	vt_addrspace_free(as);
}

/* The plainest model: for each page of each process, what is there. */
#define PAGES	  256
#define PROCESSES 6

struct cell {
	uint32_t image; /* 0: nothing */
	uint64_t offset;
};

static void agrees_with_a_page_table(void **state)
{
	static struct cell table[PROCESSES][PAGES];
	struct vt_addrspace *as = vt_addrspace_new();
	struct vt_rng rng;
	uint32_t step;

	(void)state;
	memset(table, 0, sizeof(table));
	vt_rng_init(&rng, 1);
	for (step = 1; step < 20000; step++) {
		int32_t pid = (int32_t)vt_rng_below(&rng, PROCESSES), other;
		uint64_t first = vt_rng_below(&rng, PAGES), i;
		uint64_t n = 1 + vt_rng_below(&rng, PAGES - first), op = vt_rng_below(&rng, 100);

		if (op < 60)
			n = n > 16 ? 16 : n;
		if (op < 80) {
			map(as, pid, first << 12, n << 12, (uint64_t)step << 12, step);
			for (i = 0; i < n; i++)
				table[pid][first + i] = (struct cell){step, step + i};
		} else if (op < 90) {
			assert_int_equal(vt_addrspace_unmap(as, pid, first << 12, n << 12, &err),
					 0);
			memset(&table[pid][first], 0, n * sizeof(struct cell));
		} else if (op < 97) {
			other = (pid + 1) % PROCESSES;
			assert_int_equal(vt_addrspace_fork(as, other, pid, true, &err), 0);
			memcpy(table[other], table[pid], sizeof(table[0]));
		} else {
			vt_addrspace_exec(as, pid);
			memset(table[pid], 0, sizeof(table[0]));
		}
		for (i = 0; i < 20; i++) {
			uint64_t address = vt_rng_below(&rng, PAGES << 12);
			const struct vt_map *m;
			struct cell *c;

			pid = (int32_t)vt_rng_below(&rng, PROCESSES);
			c = &table[pid][address >> 12];
			m = vt_addrspace_find(as, pid, address, USER);
			assert_int_equal(m ? m->image : 0, c->image);
			if (m)
				assert_true(vt_map_offset(m, address) ==
					    (c->offset << 12) + (address & 0xfff));
		}
	}
	vt_addrspace_free(as);
}

/* A file may ask for more mappings than memory holds: they are refused, the rest stays. */
static void mappings_are_limited(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();
	struct vt_error e = VT_ERROR_INIT;
	uint64_t i;

	(void)state;
	for (i = 0; i < VT_MAX_MAPS; i++)
		map(as, 1, i * 0x2000, 0x1000, 0, 1);
	assert_int_equal(vt_addrspace_map(as, 1, i * 0x2000, 0x1000, 0, 1, EXEC, 0, &e),
			 -VT_E_LIMIT);
	assert_int_equal(vt_addrspace_count(as), VT_MAX_MAPS);
	expect(as, 1, 0x2000, 1, 0);
	vt_addrspace_exec(as, 1);
	assert_int_equal(vt_addrspace_count(as), 0);
	vt_addrspace_free(as);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_replaces_what_it_overlaps),
		cmocka_unit_test(fork_exec_exit),
		cmocka_unit_test(kernel_and_modes),
		cmocka_unit_test(generated_kernel_code),
		cmocka_unit_test(offsets_by_kind_of_image),
		cmocka_unit_test(agrees_with_a_page_table),
		cmocka_unit_test(mappings_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
