/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/addrspace.h"
#include "stream/kinds.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/mappings.h"
#include "tests/unit/common/streams.h"

#define USER   2
#define KERNEL 1
#define EXEC   5 /* PROT_READ | PROT_EXEC */

static struct vt_error err;

static void map(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t length,
		uint64_t offset, uint32_t image)
{
	assert_int_equal(map_pages(as, pid, start, length, offset, image, EXEC, &err), 0);
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

/* Answers that are kept are one process's, one piece of addresses', and gone with any change. */
static void kept_answers(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();
	int32_t pid;

	(void)state;
	for (pid = 1; pid < 40; pid++)
		map(as, pid, 0x10000, 0x1000, 0, (uint32_t)pid);
	for (pid = 1; pid < 40; pid++) {
		expect(as, pid, 0x10000, (uint32_t)pid, 0);
		expect(as, pid, 0x10fff, (uint32_t)pid, 0xfff);
		assert_null(vt_addrspace_find(as, pid, 0xffff, USER));
		assert_null(vt_addrspace_find(as, pid, 0x11000, USER));
	}
	/* Processes and addresses that share a place: 1024 pieces of 128 KB apart. */
	map(as, 1, 0x10000 + (UINT64_C(1024) << 17), 0x1000, 0, 77);
	expect(as, 1, 0x10000, 1, 0);
	expect(as, 1, 0x10000 + (UINT64_C(1024) << 17), 77, 0);
	expect(as, 1, 0x10000, 1, 0);
	map(as, 1024 + 1, 0x10000, 0x1000, 0, 88);
	expect(as, 1025, 0x10000, 88, 0);
	expect(as, 1, 0x10000, 1, 0);
	expect(as, 1025, 0x10000, 88, 0);
	vt_addrspace_exec(as, 1025);
	assert_null(vt_addrspace_find(as, 1025, 0x10000, USER));
	vt_addrspace_free(as);
}

static void none_below_and_above(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();
	const struct vt_map *below, *above;

	(void)state;
	map(as, 1, 0x1000, 0x1000, 0, 10);
	map(as, 1, 0x5000, 0x1000, 0, 11);
	vt_addrspace_around(as, 1, 0x3000, &below, &above);
	assert_int_equal(below->image, 10);
	assert_int_equal(above->image, 11);
	vt_addrspace_around(as, 1, 0xfff, &below, &above);
	assert_null(below);
	assert_int_equal(above->image, 10);
	vt_addrspace_around(as, 1, 0x5000, &below, &above);
	assert_int_equal(below->image, 11);
	assert_null(above);
	vt_addrspace_around(as, 2, 0x3000, &below, &above);
	assert_null(below);
	assert_null(above);
	/* A mapping may end where addresses do, and says so when it would go beyond. */
	map(as, 1, UINT64_MAX - 0xfff, 0x2000, 0, 12);
	expect(as, 1, UINT64_MAX - 1, 12, 0xffe);
	map(as, 1, UINT64_MAX, 0x2000, 0, 13);
	assert_int_equal(vt_addrspace_unmap(as, 1, UINT64_MAX, 1, &err), 0);
	assert_int_equal(vt_addrspace_ksymbol(as, UINT64_MAX, 1, true, &err), 0);
	assert_null(vt_addrspace_find(as, 1, UINT64_MAX, USER));
	assert_null(vt_addrspace_find(as, 1, UINT64_MAX, KERNEL));
	map(as, 1, 0x8000, 0, 0, 13);
	assert_null(vt_addrspace_find(as, 1, 0x8000, USER));
	assert_int_equal(vt_addrspace_unmap(as, 1, 0x1000, 0, &err), 0);
	expect(as, 1, 0x1000, 10, 0);
	assert_int_equal(vt_addrspace_unmap(as, 1, 0x5000, UINT64_MAX, &err), 0);
	assert_null(vt_addrspace_find(as, 1, UINT64_MAX - 1, USER));
	expect(as, 1, 0x1000, 10, 0);
	vt_addrspace_free(as);
}

/* ---- records ---- */

static void write_map(struct vt_writer *w, int32_t pid, uint64_t start, uint64_t offset,
		      uint32_t image, uint64_t misc)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = (uint64_t)(int64_t)pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = EXEC;
	row[VT_MAP_FLAGS] = 2;
	row[VT_MAP_MISC] = misc;
	row[VT_MAP_TIME] = offset; /* none: it was there when recording began */
}

static void write_thread(struct vt_writer *w, uint64_t op, int32_t pid, int32_t other,
			 uint64_t time)
{
	uint64_t *row = vt_writer_row(w, VT_THREAD);

	row[VT_THREAD_OP] = op;
	row[VT_THREAD_PID] = row[VT_THREAD_TID] = (uint64_t)(int64_t)pid;
	row[VT_THREAD_PPID] = row[VT_THREAD_PTID] = (uint64_t)(int64_t)other;
	row[VT_THREAD_TIME] = time;
}

static void write_ksymbol(struct vt_writer *w, uint64_t start, uint64_t flags)
{
	uint64_t *row = vt_writer_row(w, VT_KSYMBOL);

	row[VT_KSYMBOL_ADDR] = start;
	row[VT_KSYMBOL_LENGTH] = 0x100;
	row[VT_KSYMBOL_FLAGS] = flags;
}

/* Modes of linux/perf_event.h: 0 unknown, 1 kernel, 2 user, 3 hypervisor, 4 and 5 guests. */
static void write_all(struct vt_writer *w)
{
	const uint64_t high = UINT64_C(0xffffffff81000000);
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = 5;
	row[VT_IMAGE_TYPE] = VT_IMAGE_ANON;
	write_map(w, 1, 0x1000, 0x3000, 10, 2);
	write_map(w, 1, 0x2000, 0, 11, 0);
	write_map(w, 1, 0x4000, 0, 5, 2);
	write_map(w, 1, 0x6000, 0, 12, 3);
	write_map(w, 1, 0x7000, 0, 12, 4);
	write_map(w, 1, 0x8000, 0, 12, 5);
	write_map(w, 1, high, 0, 13, 1);
	write_thread(w, VT_OP_FORK, 2, 1, 99);
	write_thread(w, VT_OP_FORK, 3, 1, 0);
	write_thread(w, VT_OP_FORK, 4, 1, 99);
	write_thread(w, VT_OP_EXEC, 4, 0, 99);
	write_thread(w, VT_OP_COMM, 2, 0, 99);
	write_ksymbol(w, high + 0x10000, 0);
	write_ksymbol(w, high + 0x20000, 0);
	write_ksymbol(w, high + 0x10000, 1);
}

static void fed_by_records(void **state)
{
	const uint64_t high = UINT64_C(0xffffffff81000000);
	struct vt_writer_options opt = {0};
	struct vt_addrspace *as = vt_addrspace_new();
	int fd = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);
	const struct vt_map *m;
	struct vt_record rec;
	struct vt_reader *r;
	uint64_t at;
	int rc;

	(void)state;
	assert_non_null(w);
	write_all(w);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while ((rc = vt_reader_next(r, &rec, &err)) == 1)
		assert_int_equal(vt_addrspace_feed(as, &rec, &err), 0);
	assert_int_equal(rc, 0);
	vt_reader_close(r);
	close(fd);
	expect(as, 1, 0x1010, 10, 0x3010);
	expect(as, 1, 0x2010, 11, 0x10);
	expect(as, 1, 0x4010, 5, 0x4010);
	m = vt_addrspace_find(as, 1, 0x1000, USER);
	assert_int_equal(m->prot, EXEC);
	assert_int_equal(m->flags, 2);
	assert_false(m->found);
	assert_true(vt_addrspace_find(as, 1, 0x2000, USER)->found);
	for (at = 0x6000; at <= 0x8000; at += 0x1000)
		assert_null(vt_addrspace_find(as, 1, at, USER));
	m = vt_addrspace_find(as, 9, high + 8, KERNEL);
	assert_non_null(m);
	assert_int_equal(m->image, 13);
	assert_null(vt_addrspace_find(as, 1, high + 8, USER));
	/* A child has its parent's; one found running has not, and exec leaves nothing. */
	expect(as, 2, 0x1010, 10, 0x3010);
	assert_null(vt_addrspace_find(as, 3, 0x1010, USER));
	assert_null(vt_addrspace_find(as, 4, 0x1010, USER));
	assert_null(vt_addrspace_find(as, 1, high + 0x10000, KERNEL));
	m = vt_addrspace_find(as, 1, high + 0x20010, KERNEL);
	assert_int_equal(m->image, VT_KSYMBOL_IMAGE + 1);
	assert_int_equal(vt_map_offset(m, high + 0x20010), 0x10);
	vt_addrspace_free(as);
}

static void feed_all(struct vt_addrspace *as, int fd, struct vt_writer *w)
{
	struct vt_reader *r = reread_stream(fd, w);
	struct vt_record rec;

	while (vt_reader_next(r, &rec, &err) == 1)
		assert_int_equal(vt_addrspace_feed(as, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
}

/*
 * Data count as announced if a mapping says that it can be accessed and not executed. An MMAP of
 * the first version, which has no flags, says so only by a bit that stands for data (13).
 */
static void who_announces_data(void **state)
{
	static const struct {
		uint64_t prot, flags, misc;
		bool tells;
	} cases[] = {
		{1, 2, 2, true},  {3, 2, 2 | 1 << 13, true},
		{1, 0, 2, true},  {1, 0, 2 | 1 << 13, false},
		{5, 2, 2, false}, {4, 2, 2, false},
		{0, 2, 2, false}, {1, 2, 1, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_addrspace *as = vt_addrspace_new();
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		uint64_t *row;

		write_map(w, 1, 0x1000, 0, 10, 2);
		row = vt_writer_row(w, VT_MAP);
		row[VT_MAP_PID] = 1;
		row[VT_MAP_START] = 0x5000;
		row[VT_MAP_LENGTH] = 0x1000;
		row[VT_MAP_IMAGE] = 10;
		row[VT_MAP_PROT] = cases[i].prot;
		row[VT_MAP_FLAGS] = cases[i].flags;
		row[VT_MAP_MISC] = cases[i].misc;
		feed_all(as, fd, w);
		assert_int_equal(vt_addrspace_reports_data(as, 1), cases[i].tells);
		assert_false(vt_addrspace_reports_data(as, 2));
		/* A child's recorder is its parent's, also when its mappings become others. */
		assert_int_equal(vt_addrspace_fork(as, 2, 1, true, &err), 0);
		assert_int_equal(vt_addrspace_reports_data(as, 2), cases[i].tells);
		map(as, 2, 0x9000, 0x1000, 0, 10);
		assert_int_equal(vt_addrspace_reports_data(as, 2), cases[i].tells);
		vt_addrspace_exec(as, 2);
		assert_false(vt_addrspace_reports_data(as, 2));
		vt_addrspace_free(as);
	}
}

/* The oldest process that has ended goes when too many have, from what is kept of answers, too. */
static void ended_processes_are_forgotten(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();
	int fd = scratch_file();
	struct vt_writer *w;
	int32_t pid;

	(void)state;
	for (pid = 1; pid <= VT_DEAD_PROCESSES + 1; pid++)
		map(as, pid, 0x10000, 0x1000, 0, 10);
	for (pid = 1; pid <= VT_DEAD_PROCESSES; pid++)
		vt_addrspace_exit(as, pid, pid);
	expect(as, 1, 0x10000, 10, 0);
	expect(as, 2, 0x10000, 10, 0);
	/* By records; the end of a thread is none of its process. */
	w = start_stream(fd);
	write_thread(w, VT_OP_EXIT, VT_DEAD_PROCESSES + 1, 0, 99);
	feed_all(as, fd, w);
	assert_null(vt_addrspace_find(as, 1, 0x10000, USER));
	expect(as, 2, 0x10000, 10, 0);
	expect(as, VT_DEAD_PROCESSES + 1, 0x10000, 10, 0);
	/* One that came again has not ended. */
	assert_int_equal(vt_addrspace_fork(as, 2, 3, false, &err), 0);
	map(as, 5000, 0x10000, 0x1000, 0, 10);
	vt_addrspace_exit(as, 5000, 5001);
	vt_addrspace_exit(as, 5000, 5000);
	expect(as, 2, 0x10000, 10, 0);
	expect(as, 3, 0x10000, 10, 0);
	vt_addrspace_exit(as, 4999, 4999);
	expect(as, 3, 0x10000, 10, 0);
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
	assert_int_equal(map_pages(as, 1, i * 0x2000, 0x1000, 0, 1, EXEC, &e), -VT_E_LIMIT);
	assert_int_equal(vt_addrspace_count(as), VT_MAX_MAPS);
	expect(as, 1, 0x2000, 1, 0);
	vt_addrspace_exec(as, 1);
	assert_int_equal(vt_addrspace_count(as), 0);
	vt_addrspace_free(as);
}

#define NPAGES 24

struct page {
	uint32_t image; /* 0: nothing is mapped */
	uint64_t base;
	uint32_t prot;
	unsigned writes;
};

static bool is_of(const struct page *p, uint32_t image, uint64_t base)
{
	return p->image == image && p->base == base;
}

/* What vt_map.writes promises, page by page. */
static void announce(struct page pages[NPAGES], unsigned first, unsigned end, uint32_t image,
		     uint64_t base, uint32_t prot)
{
	bool explained = false;
	unsigned i;

	for (i = first; i < end; i++)
		explained |= is_of(&pages[i], image, base) && pages[i].prot & 2;
	for (i = first; i < end; i++) {
		struct page *p = &pages[i];
		bool same = is_of(p, image, base), was = same && p->prot & 2;
		unsigned writes = same ? p->writes : 0;

		if (prot & 2)
			writes += !was;
		else
			writes += same && !was && prot & 4 && p->prot & 4 && !explained;
		*p = (struct page){image, base, prot, writes};
	}
}

static void writes_are_counted_as_page_by_page(void **state)
{
	static const uint32_t prots[] = {5, 5, 7};
	struct vt_addrspace *as;
	struct vt_rng rng;
	unsigned round, i, n;

	(void)state;
	vt_rng_init(&rng, 12);
	for (round = 0; round < 2000; round++) {
		struct page pages[NPAGES] = {{0}};

		as = vt_addrspace_new();
		for (n = 0; n < 12; n++) {
			unsigned first = (unsigned)vt_rng_below(&rng, NPAGES);
			unsigned end = first + 1 + (unsigned)vt_rng_below(&rng, NPAGES - first);
			uint32_t image = vt_rng_below(&rng, 6) ? 10 : 11;
			uint64_t base = vt_rng_below(&rng, 6) ? 0 : 0x1000;
			uint32_t prot = prots[vt_rng_below(&rng, 3)];
			uint64_t start = (uint64_t)(first + 1) << 12;

			assert_int_equal(map_pages(as, 1, start, (uint64_t)(end - first) << 12,
						   start - base, image, prot, &err),
					 0);
			announce(pages, first, end, image, base, prot);
		}
		for (i = 0; i < NPAGES; i++) {
			const struct vt_map *m =
				vt_addrspace_find(as, 1, (uint64_t)(i + 1) << 12, USER);

			assert_true((m != NULL) == (pages[i].image != 0));
			if (m)
				assert_int_equal(m->writes, pages[i].writes);
		}
		vt_addrspace_free(as);
	}
}

/* However many different pasts one mapping covers, the work is bounded, and none is forgotten. */
static void many_pasts_become_the_worst(void **state)
{
	struct vt_addrspace *as = vt_addrspace_new();
	uint64_t i;

	(void)state;
	map(as, 1, 0x100000, 0x200000, 0x100000, 10);
	for (i = 0; i < 0x200; i += 2)
		assert_int_equal(map_pages(as, 1, 0x100000 + (i << 12), 0x1000,
					   0x100000 + (i << 12), 10, 7, &err),
				 0);
	map(as, 1, 0x100000, 0x200000, 0x100000, 10);
	assert_int_equal(vt_addrspace_find(as, 1, 0x100000, USER)->writes, 1);
	assert_int_equal(vt_addrspace_find(as, 1, 0x101000, USER)->writes, 0);
	/* The 64th has the rest. */
	assert_int_equal(vt_addrspace_find(as, 1, 0x13d000, USER)->writes, 0);
	assert_int_equal(vt_addrspace_find(as, 1, 0x13e000, USER)->writes, 1);
	assert_int_equal(vt_addrspace_find(as, 1, 0x13f000, USER)->writes, VT_MAP_WRITES);
	assert_int_equal(vt_addrspace_find(as, 1, 0x2ff000, USER)->writes, VT_MAP_WRITES);
	assert_int_equal(vt_addrspace_count(as), 64);
	vt_addrspace_free(as);
}

/* That pages are announced again is explained by the 64th of the mappings there, or by none. */
static void writable_pages_explain_their_neighbours(void **state)
{
	uint64_t writable, i;

	(void)state;
	for (writable = 63; writable <= 64; writable++) {
		struct vt_addrspace *as = vt_addrspace_new();

		for (i = 0; i <= writable; i++) {
			uint64_t at = 0x100000 + (i << 13);

			assert_int_equal(map_pages(as, 1, at, 0x1000, at, 10,
						   i == writable ? 7 : EXEC, &err),
					 0);
		}
		map(as, 1, 0x100000, 0x200000, 0x100000, 10);
		assert_int_equal(vt_addrspace_find(as, 1, 0x100000, USER)->writes, writable - 63);
		vt_addrspace_free(as);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_replaces_what_it_overlaps),
		cmocka_unit_test(fork_exec_exit),
		cmocka_unit_test(kernel_and_modes),
		cmocka_unit_test(generated_kernel_code),
		cmocka_unit_test(offsets_by_kind_of_image),
		cmocka_unit_test(kept_answers),
		cmocka_unit_test(none_below_and_above),
		cmocka_unit_test(fed_by_records),
		cmocka_unit_test(who_announces_data),
		cmocka_unit_test(ended_processes_are_forgotten),
		cmocka_unit_test(agrees_with_a_page_table),
		cmocka_unit_test(mappings_are_limited),
		cmocka_unit_test(writes_are_counted_as_page_by_page),
		cmocka_unit_test(many_pasts_become_the_worst),
		cmocka_unit_test(writable_pages_explain_their_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
