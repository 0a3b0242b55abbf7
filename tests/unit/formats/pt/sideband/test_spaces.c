/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What code each process has: of its mappings, forks and new programs, and whose a thread is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/sideband/spaces.h"
#include "stream/kinds.h"
#include "tests/unit/common/onerecord.h"
#include "tests/unit/common/toolbox.h"

/* A file of letters, and one of digits. */
#define LETTERS 1
#define DIGITS	2
#define NOTHING '.' /* no code is known */

struct made {
	struct vt_pt_files *files;
	struct vt_pt_spaces *s;
	char *dir;
};

static void put_image(struct made *m, uint64_t id, const char *name)
{
	const char *path = toolbox_path(m->dir, name);
	const uint64_t v[FIELDS] = {[VT_IMAGE_ID] = id};
	struct vt_error err = VT_ERROR_INIT;
	struct one_record r;

	assert_int_equal(
		vt_pt_files_image(
			m->files,
			make_record(&r, VT_IMAGE, v,
				    (struct field_bytes){VT_IMAGE_PATH, path, strlen(path)},
				    (struct field_bytes){VT_IMAGE_BUILDID, NULL, 0}),
			&err),
		0);
}

static void begin(struct made *m, struct vt_pt_code *kernel, bool timed)
{
	static const struct vt_find_options find = {.symfs = NULL};

	m->dir = toolbox_dir();
	m->files = vt_pt_files_new(&find, NULL, NULL);
	m->s = vt_pt_spaces_new(m->files, kernel, NULL, NULL, timed);
	assert_non_null(m->s);
	toolbox_write(m->dir, "letters", "abcdefghijklmnopqrstuvwxyz");
	toolbox_write(m->dir, "digits", "0123456789");
	put_image(m, LETTERS, "letters");
	put_image(m, DIGITS, "digits");
}

static void end(struct made *m)
{
	vt_pt_spaces_free(m->s);
	vt_pt_files_free(m->files);
	toolbox_remove(m->dir);
}

static void feed(struct made *m, uint32_t kind, const uint64_t *v)
{
	struct vt_error err = VT_ERROR_INIT;
	struct one_record r;

	assert_int_equal(vt_pt_spaces_feed(m->s, make_numbers(&r, kind, v), &err), 0);
}

static void map_prot(struct made *m, int64_t pid, uint64_t start, uint64_t length, uint64_t offset,
		     uint64_t image, uint64_t prot)
{
	const uint64_t v[FIELDS] = {
		[VT_MAP_PID] = (uint64_t)pid, [VT_MAP_TID] = (uint64_t)pid,
		[VT_MAP_START] = start,	      [VT_MAP_LENGTH] = length,
		[VT_MAP_OFFSET] = offset,     [VT_MAP_IMAGE] = image,
		[VT_MAP_PROT] = prot,	      [VT_MAP_TIME] = 1,
	};

	feed(m, VT_MAP, v);
}

static void map(struct made *m, int64_t pid, uint64_t start, uint64_t length, uint64_t offset,
		uint64_t image)
{
	map_prot(m, pid, start, length, offset, image, 5);
}

static void thread(struct made *m, unsigned op, int64_t pid, int64_t tid, int64_t ppid,
		   uint64_t time)
{
	feed(m, VT_THREAD,
	     (uint64_t[FIELDS]){[VT_THREAD_OP] = op,
				[VT_THREAD_PID] = (uint64_t)pid,
				[VT_THREAD_TID] = (uint64_t)tid,
				[VT_THREAD_PPID] = (uint64_t)ppid,
				[VT_THREAD_TIME] = time});
}

/* The code of a process at some addresses, as text. */
static void check_code(struct made *m, int64_t pid, uint64_t addr, const char *want)
{
	uint64_t generation;
	const struct vt_pt_code *c = vt_pt_spaces_code(m->s, pid, &generation);
	const size_t n = strlen(want);
	char got[64];
	size_t i, have;

	assert_non_null(c);
	assert_true(n < sizeof(got));
	for (i = 0; i < n; i++) {
		const uint8_t *p = vt_pt_code_at(c, addr + i, &have);

		got[i] = p ? (char)*p : NOTHING;
	}
	got[n] = 0;
	assert_string_equal(got, want);
}

static uint64_t generation_of(struct made *m, int64_t pid)
{
	uint64_t generation = 0;

	vt_pt_spaces_code(m->s, pid, &generation);
	return generation;
}

/* ---- mappings ---- */

/* Of a file shorter than its mapping there is as much as it has; later mappings hide others. */
static void test_mappings(void **state)
{
	struct made m;
	unsigned asked;

	(void)state;
	for (asked = 0; asked < 2; asked++) {
		begin(&m, NULL, false);
		if (asked)
			check_code(&m, 7, 0x1000, ".");
		map(&m, 7, 0x1000, 5, 0, LETTERS);
		map(&m, 7, 0x1010, 26, 24, LETTERS);
		map(&m, 7, 0x1020, 5, 26, LETTERS);
		map(&m, 7, 0x1030, 5, 25, LETTERS);
		map(&m, 7, 0x1040, 5, 0, 9);
		map(&m, 8, 0x1001, 3, 0, DIGITS);
		map_prot(&m, 7, 0x1050, 5, 0, DIGITS, 1);
		map_prot(&m, 7, 0x1058, 5, 0, DIGITS, 4);
		/* No mappings: of the kernel, and none at all. */
		map(&m, -1, 0x1060, 5, 0, DIGITS);
		map(&m, 7, 0x1070, 0, 0, DIGITS);
		check_code(&m, 7, 0xfff, ".abcde.");
		check_code(&m, 7, 0x100f, ".yz.");
		check_code(&m, 7, 0x1020, ".");
		check_code(&m, 7, 0x102f, ".z.");
		check_code(&m, 7, 0x1040, ".");
		check_code(&m, 7, 0x1050, ".");
		check_code(&m, 7, 0x1057, ".01234.");
		check_code(&m, 7, 0x1070, ".");
		check_code(&m, 8, 0x1000, ".012.");
		check_code(&m, -1, 0x1060, ".");
		/* Over what is there; and away with it. */
		map(&m, 7, 0x1002, 2, 4, DIGITS);
		check_code(&m, 7, 0xfff, ".ab45e.");
		map_prot(&m, 7, 0x1001, 2, 0, LETTERS, 1);
		check_code(&m, 7, 0xfff, ".a..5e.");
		end(&m);
	}
}

/* The last byte of the address space is never mapped, so that its end is a number. */
static void test_at_the_end(void **state)
{
	static const uint64_t lengths[] = {5, 6, 7, UINT64_MAX};
	struct made m;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		begin(&m, NULL, false);
		map(&m, 7, UINT64_MAX - 5, lengths[i], 0, LETTERS);
		check_code(&m, 7, UINT64_MAX - 6, ".abcde.");
		end(&m);
	}
}

/* Each process sees the kernel's code where it has none of its own. */
static void test_kernel(void **state)
{
	struct vt_pt_code *kernel = vt_pt_code_new();
	const struct vt_pt_section s = {0x1000, 6, (const uint8_t *)"KERNEL", NULL, 0};
	struct vt_error err = VT_ERROR_INIT;
	struct made m;

	(void)state;
	assert_int_equal(vt_pt_code_add(kernel, &s, &err), 0);
	begin(&m, kernel, false);
	map(&m, 7, 0x1002, 2, 0, LETTERS);
	check_code(&m, 7, 0x1000, "KEabEL");
	check_code(&m, 8, 0x1000, "KERNEL");
	end(&m);
	vt_pt_code_free(kernel);
}

/*
 * Mappings are kept until the code is asked for, but no more than so many: then the files are
 * opened, and what is told of them later comes too late.
 */
static void test_pending(void **state)
{
	struct made m;
	unsigned more, i;

	(void)state;
	for (more = 0; more < 2; more++) {
		begin(&m, NULL, false);
		for (i = 0; i < VT_PT_MAX_PENDING + more; i++)
			map(&m, 7, 0x1000, 3, 0, LETTERS);
		put_image(&m, LETTERS, "digits");
		/* What is mapped twice may have been written to in between. */
		check_code(&m, 7, 0x1000, "...");
		map(&m, 7, 0x2000, 3, 0, LETTERS);
		check_code(&m, 7, 0x2000, more ? "abc" : "012");
		end(&m);
	}
}

/* ---- processes ---- */

/* A new number for each process, and for each that takes the number of one before. */
static void test_generations(void **state)
{
	struct made m;
	uint64_t first, second, child;

	(void)state;
	begin(&m, NULL, false);
	map(&m, 7, 0x1000, 3, 0, LETTERS);
	first = generation_of(&m, 7);
	second = generation_of(&m, 8);
	assert_int_not_equal(first, 0);
	assert_int_not_equal(first, second);
	assert_int_equal(generation_of(&m, 7), first);
	thread(&m, VT_OP_FORK, 9, 9, 7, 1);
	child = generation_of(&m, 9);
	assert_true(child > second);
	thread(&m, VT_OP_FORK, 9, 9, 8, 1);
	assert_true(generation_of(&m, 9) > child);
	/* A thread is no process. */
	thread(&m, VT_OP_FORK, 7, 10, 7, 1);
	assert_int_equal(generation_of(&m, 7), first);
	end(&m);
}

/* A child begins with what its parent has, whether that was asked for or not; then they differ. */
static void test_forks(void **state)
{
	struct made m;
	unsigned asked;

	(void)state;
	for (asked = 0; asked < 4; asked++) {
		begin(&m, NULL, false);
		map(&m, 7, 0x1000, 3, 0, LETTERS);
		map(&m, 7, 0x2000, 3, 0, LETTERS);
		/* Number 8 was another process before. */
		map(&m, 8, 0x3000, 3, 0, DIGITS);
		if (asked & 1)
			check_code(&m, 7, 0x1000, "abc");
		if (asked & 2)
			check_code(&m, 8, 0x3000, "012");
		thread(&m, VT_OP_FORK, 8, 8, 7, 0);
		map(&m, 7, 0x1000, 3, 3, LETTERS);
		map(&m, 8, 0x2000, 3, 3, DIGITS);
		check_code(&m, 8, 0x1000, "abc");
		check_code(&m, 8, 0x2000, "345");
		check_code(&m, 8, 0x3000, "...");
		check_code(&m, 7, 0x2000, "abc");
		/* Of a parent without mappings, and of none. */
		thread(&m, VT_OP_FORK, 20, 20, 21, 0);
		check_code(&m, 20, 0x1000, "...");
		thread(&m, VT_OP_FORK, 22, 22, 20, 0);
		check_code(&m, 22, 0x1000, "...");
		thread(&m, VT_OP_FORK, 8, 8, 21, 0);
		check_code(&m, 8, 0x1000, "...");
		/* A thread of its own process changes nothing. */
		thread(&m, VT_OP_FORK, 7, 70, 7, 0);
		check_code(&m, 7, 0x2000, "abc");
		assert_int_equal(vt_pt_spaces_process_of(m.s, 70), 7);
		end(&m);
	}
}

/* Where others have times, a fork without one is of a process that was found running. */
static void test_found_running(void **state)
{
	struct made m;
	unsigned timed;

	(void)state;
	for (timed = 0; timed < 2; timed++) {
		begin(&m, NULL, timed);
		map(&m, 7, 0x1000, 3, 0, LETTERS);
		map(&m, 8, 0x1000, 3, 0, DIGITS);
		thread(&m, VT_OP_FORK, 8, 8, 7, 0);
		check_code(&m, 8, 0x1000, timed ? "012" : "abc");
		assert_int_equal(vt_pt_spaces_process_of(m.s, 8), 8);
		thread(&m, VT_OP_FORK, 8, 8, 7, 1);
		check_code(&m, 8, 0x1000, "abc");
		end(&m);
	}
}

/* A new program has nothing of the one before, whether that was asked for or not. */
static void test_exec(void **state)
{
	struct made m;
	unsigned asked;

	(void)state;
	for (asked = 0; asked < 2; asked++) {
		begin(&m, NULL, false);
		map(&m, 7, 0x1000, 3, 0, LETTERS);
		map(&m, 8, 0x1000, 3, 0, LETTERS);
		if (asked)
			check_code(&m, 7, 0x1000, "abc");
		thread(&m, VT_OP_EXIT, 7, 7, 1, 1);
		check_code(&m, 8, 0x1000, "abc");
		thread(&m, VT_OP_EXEC, 7, 70, 1, 1);
		map(&m, 7, 0x2000, 3, 0, DIGITS);
		check_code(&m, 7, 0x1000, "...");
		check_code(&m, 7, 0x2000, "012");
		check_code(&m, 8, 0x1000, "abc");
		assert_int_equal(vt_pt_spaces_process_of(m.s, 70), 7);
		/* One that nobody knows yet. */
		thread(&m, VT_OP_EXEC, 30, 30, 1, 1);
		check_code(&m, 30, 0x1000, "...");
		end(&m);
	}
}

/* ---- threads ---- */

static void test_threads(void **state)
{
	struct made m;

	(void)state;
	begin(&m, NULL, false);
	assert_int_equal(vt_pt_spaces_process_of(m.s, 7), -1);
	map(&m, 7, 0x1000, 3, 0, LETTERS);
	assert_int_equal(vt_pt_spaces_process_of(m.s, 7), 7);
	thread(&m, VT_OP_COMM, 7, 71, 0, 0);
	assert_int_equal(vt_pt_spaces_process_of(m.s, 71), 7);
	thread(&m, VT_OP_EXIT, 7, 72, 0, 0);
	assert_int_equal(vt_pt_spaces_process_of(m.s, 72), -1);
	feed(&m, VT_ITRACE, (uint64_t[FIELDS]){[VT_ITRACE_PID] = 7, [VT_ITRACE_TID] = 73});
	assert_int_equal(vt_pt_spaces_process_of(m.s, 73), 7);
	feed(&m, VT_SWITCH, (uint64_t[FIELDS]){[VT_SWITCH_PID] = 7, [VT_SWITCH_TID] = 74});
	assert_int_equal(vt_pt_spaces_process_of(m.s, 74), 7);
	/* Who leaves says nothing new; later records count, and those of other kinds do not. */
	feed(&m, VT_SWITCH,
	     (uint64_t[FIELDS]){[VT_SWITCH_PID] = 8, [VT_SWITCH_TID] = 74, [VT_SWITCH_OUT] = 1});
	assert_int_equal(vt_pt_spaces_process_of(m.s, 74), 7);
	feed(&m, VT_SWITCH, (uint64_t[FIELDS]){[VT_SWITCH_PID] = 8, [VT_SWITCH_TID] = 74});
	assert_int_equal(vt_pt_spaces_process_of(m.s, 74), 8);
	feed(&m, VT_SAMPLE, (uint64_t[FIELDS]){[VT_SAMPLE_PID] = 9, [VT_SAMPLE_TID] = 75});
	assert_int_equal(vt_pt_spaces_process_of(m.s, 75), -1);
	/* The idle thread, and none, belong to nobody. */
	thread(&m, VT_OP_COMM, 7, 0, 0, 0);
	assert_int_equal(vt_pt_spaces_process_of(m.s, 0), -1);
	thread(&m, VT_OP_COMM, 7, -1, 0, 0);
	assert_int_equal(vt_pt_spaces_process_of(m.s, -1), -1);
	thread(&m, VT_OP_COMM, 7, 1, 0, 0);
	assert_int_equal(vt_pt_spaces_process_of(m.s, 1), 7);
	end(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mappings),      cmocka_unit_test(test_at_the_end),
		cmocka_unit_test(test_kernel),	      cmocka_unit_test(test_pending),
		cmocka_unit_test(test_generations),   cmocka_unit_test(test_forks),
		cmocka_unit_test(test_found_running), cmocka_unit_test(test_exec),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
