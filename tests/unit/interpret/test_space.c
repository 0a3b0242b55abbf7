/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address spaces of processes, as interpreters see them: what code and constants are known, why
 * others are not, and when what was known of a process's code is void.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "interpret/internal.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define ONE  7
#define TWO  9
#define LINE VT_KNOWN_LINE
#define ALL  UINT64_MAX /* bytes of a line */

#define BASE	UINT64_C(0x555500000000)
#define TRUSTED (VT_TRUST_IMAGES | VT_TRUST_CONSTANTS)
#define READ	1
#define WRITE	2
#define EXEC	4
#define SHARED	(UINT64_C(1) << 32) /* MAP_SHARED, as a flag */
#define MAPPED	0x1000

/*
 * By addresses, which are offsets in the file as well: two pages of code from 1000 on, one of
 * constants from 3000 on, and from 5000 on what the linker relocates and then protects.
 */
static const char program[] =
	".text\n.globl _start\n_start: .fill 0x1000,1,0x90\nsecond: .fill 0x1000,1,0xcc\n"
	".section .rodata\n.quad 0x1122334455667788\n.org 0x1000\n"
	".section .data.rel.ro,\"aw\"\n.org 0x110\n.quad second\n.quad 0x99\n.org 0x1000\n"
	".data\n.quad 5\n";

static struct vt_error err;
static char *dir;
static char path[256];

/* ---- records, one at a time ---- */

struct world {
	struct vt_images *images;
	struct vt_context *context;
	struct vti_spaces s;
	int fd;
	struct vt_writer *w;
};

static int take_record(void *spaces, const struct vt_record *rec, struct vt_error *e)
{
	return vti_spaces_feed(spaces, rec, e);
}

static void begin(struct world *x, unsigned trust)
{
	const struct vt_images_options none = {.warn = NULL};

	x->images = vt_images_new(&none, &err);
	assert_non_null(x->images);
	x->context = vt_context_new(x->images);
	assert_true(vti_spaces_init(&x->s, x->context, trust));
	vt_context_add(x->context, &(struct vt_consumer){.record = take_record, .arg = &x->s});
}

static void end(struct world *x)
{
	vti_spaces_fini(&x->s);
	vt_context_free(x->context);
	vt_images_free(x->images);
}

static uint64_t *row(struct world *x, unsigned kind)
{
	x->fd = scratch_file();
	x->w = start_stream(x->fd);
	return vt_writer_row(x->w, kind);
}

static void feed(struct world *x)
{
	struct vt_reader *r = reread_stream(x->fd, x->w);
	struct vt_record rec = {.block = NULL};

	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(vt_context_feed(x->context, rec.block, rec.row, 1, &err), 0);
	vt_reader_close(r);
	close(x->fd);
}

static void tell_image(struct world *x, uint64_t id, unsigned type, const char *of)
{
	uint64_t *r = row(x, VT_IMAGE);

	r[VT_IMAGE_ID] = id;
	r[VT_IMAGE_TYPE] = type;
	vt_writer_text(x->w, VT_IMAGE_PATH, of);
	feed(x);
}

/* A mapping, with the flags in the upper half of `prot`, whose offset is the address - BASE. */
static void tell_map_at(struct world *x, uint64_t time, int64_t pid, uint64_t image, uint64_t start,
			uint64_t length, uint64_t prot)
{
	uint64_t *r = row(x, VT_MAP);

	r[VT_MAP_TIME] = time;
	r[VT_MAP_PID] = r[VT_MAP_TID] = (uint64_t)pid;
	r[VT_MAP_START] = start;
	r[VT_MAP_LENGTH] = length;
	r[VT_MAP_OFFSET] = start % 0x10000;
	r[VT_MAP_IMAGE] = image;
	r[VT_MAP_PROT] = prot & UINT32_MAX;
	r[VT_MAP_FLAGS] = prot >> 32;
	feed(x);
}

static void tell_map(struct world *x, int64_t pid, uint64_t image, uint64_t start, uint64_t length,
		     uint64_t prot)
{
	tell_map_at(x, 1, pid, image, start, length, prot);
}

static void tell_thread(struct world *x, unsigned op, int64_t pid, int64_t ppid, uint64_t time)
{
	uint64_t *r = row(x, VT_THREAD);

	r[VT_THREAD_TIME] = time;
	r[VT_THREAD_OP] = op;
	r[VT_THREAD_PID] = r[VT_THREAD_TID] = (uint64_t)pid;
	r[VT_THREAD_PPID] = r[VT_THREAD_PTID] = (uint64_t)ppid;
	feed(x);
}

static uint64_t number(struct world *x, int64_t pid)
{
	return vti_spaces_number(&x->s, pid, &err);
}

/* The program, mapped as its linker does it in the end. */
static void tell_program(struct world *x, int64_t pid)
{
	tell_map(x, pid, 1, BASE, 0x1000, READ);
	tell_map(x, pid, 1, BASE + 0x1000, 0x2000, READ | EXEC);
	tell_map(x, pid, 1, BASE + 0x3000, 0x1000, READ);
	tell_map(x, pid, 1, BASE + 0x4000, 0x2000, READ | WRITE);
	tell_map(x, pid, 1, BASE + 0x4000, 0x2000, READ);
	tell_map(x, pid, 1, BASE + 0x6000, 0x1000, READ | WRITE);
}

static void begin_program(struct world *x, unsigned trust)
{
	begin(x, trust);
	tell_image(x, 1, VT_IMAGE_FILE, path);
	tell_program(x, ONE);
}

/* ---- numbers ---- */

/* One that was never given before; the process has it from now on. */
#define NEW_NUMBER(x, pid, last)                                                                   \
	do {                                                                                       \
		uint64_t is = number(x, pid);                                                      \
		assert_true(is > (last));                                                          \
		(last) = is;                                                                       \
		assert_int_equal(number(x, pid), is);                                              \
	} while (0)

static void test_numbers_of_maps(void **state)
{
	/* Beside [MAPPED, MAPPED + 4 pages) and on it; what was lifted is void where it was. */
	static const struct {
		uint64_t start, length;
		bool is_void;
	} rows[] = {
		{0x5000, 0x1000, 0}, {0, 0x1000, 0},	  {0x9000, 0x1000, 0}, {0x1000, 0x1000, 1},
		{0x4000, 0x1000, 1}, {0x2000, 0x1000, 1}, {0, 0x1001, 1},      {0x4fff, 0x1000, 1},
		{0, 0x9000, 1},	     {0x1000, 0x4000, 1},
	};
	uint64_t last = 0, other;
	struct world x;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(&x, TRUSTED);
		/* A process that nobody has asked for has no number, and gets none. */
		tell_map(&x, ONE, 1, MAPPED, 0x4000, READ | EXEC);
		last = 0;
		NEW_NUMBER(&x, ONE, last);
		other = last;
		NEW_NUMBER(&x, TWO, other);
		assert_int_equal(last, 1);
		assert_int_equal(other, 2);
		tell_map(&x, ONE, 2, rows[i].start, rows[i].length, READ | EXEC);
		if (number(&x, ONE) != (rows[i].is_void ? 3 : 1))
			fail_msg("row %zu", i);
		assert_int_equal(number(&x, TWO), 2);
		/* Of nothing. */
		other = number(&x, ONE);
		tell_map(&x, TWO, 2, MAPPED, 0, READ);
		assert_int_equal(number(&x, ONE), other);
		end(&x);
	}
}

static void test_numbers_of_threads(void **state)
{
	uint64_t last = 0;
	struct world x;

	(void)state;
	begin(&x, TRUSTED);
	tell_map(&x, ONE, 1, MAPPED, 0x1000, READ | EXEC);
	NEW_NUMBER(&x, ONE, last);
	/* A thread is no process; a child has its parent's, until either changes. */
	tell_thread(&x, VT_OP_FORK, ONE, ONE, 5);
	tell_thread(&x, VT_OP_COMM, ONE, ONE, 5);
	assert_int_equal(number(&x, ONE), last);
	tell_map(&x, ONE, 1, 0x3000, 0x1000, READ | EXEC);
	assert_int_equal(number(&x, ONE), last);
	tell_thread(&x, VT_OP_FORK, TWO, ONE, 5);
	assert_int_equal(number(&x, TWO), last);
	assert_int_equal(number(&x, ONE), last);
	tell_map(&x, TWO, 1, 0x5000, 0x1000, READ | EXEC);
	assert_int_equal(number(&x, ONE), last);
	NEW_NUMBER(&x, TWO, last);
	tell_map(&x, TWO, 1, 0x7000, 0x1000, READ | EXEC);
	assert_int_equal(number(&x, TWO), last);
	/* The parent's is not the child's any more, as far as it knows. */
	tell_map(&x, ONE, 1, 0x5000, 0x1000, READ | EXEC);
	NEW_NUMBER(&x, ONE, last);
	tell_map(&x, ONE, 1, 0x7000, 0x1000, READ | EXEC);
	assert_int_equal(number(&x, ONE), last);
	/* One that is found running has maps of its own, also where neither was known. */
	tell_thread(&x, VT_OP_FORK, 20, 21, 0);
	last = number(&x, 21);
	assert_true(last > number(&x, ONE));
	assert_true(number(&x, 20) > last);
	last = number(&x, 20);
	/* Another program. */
	tell_thread(&x, VT_OP_EXEC, ONE, 1, 5);
	NEW_NUMBER(&x, ONE, last);
	tell_thread(&x, VT_OP_EXEC, 22, 1, 5);
	tell_thread(&x, VT_OP_EXIT, TWO, 1, 5);
	assert_int_equal(number(&x, ONE), last);
	NEW_NUMBER(&x, 22, last);
	end(&x);
}

/* An image that is told of anew may be another file: all that was lifted is void. */
static void test_numbers_of_images(void **state)
{
	uint64_t last = 0;
	struct world x;

	(void)state;
	begin_program(&x, TRUSTED);
	NEW_NUMBER(&x, ONE, last);
	NEW_NUMBER(&x, TWO, last);
	tell_image(&x, 2, VT_IMAGE_FILE, "/none");
	assert_int_equal(number(&x, ONE), last - 1);
	assert_int_equal(number(&x, TWO), last);
	tell_image(&x, 1, VT_IMAGE_FILE, path);
	NEW_NUMBER(&x, ONE, last);
	NEW_NUMBER(&x, TWO, last);
	/* So it is where another process can write to the file whose code this one runs. */
	tell_map(&x, TWO, 1, BASE + 0x1000, 0x1000, READ | WRITE | SHARED);
	NEW_NUMBER(&x, ONE, last);
	NEW_NUMBER(&x, TWO, last);
	/* It does not become so again. */
	tell_map(&x, TWO, 1, BASE + 0x3000, 0x1000, READ);
	assert_int_equal(number(&x, ONE), last - 1);
	assert_int_equal(number(&x, TWO), last);
	end(&x);
}

/* ---- code ---- */

static void check_code(struct world *x, uint64_t addr, size_t size, size_t want)
{
	static uint8_t bytes[0x3000];
	size_t i, n;

	memset(bytes, 1, sizeof(bytes));
	n = vti_spaces_code(&x->s, ONE, BASE + addr, bytes, size);
	if (n != want)
		fail_msg("%zu bytes at %llx", n, (unsigned long long)addr);
	for (i = 0; i < n; i++)
		assert_int_equal(bytes[i], addr + i < 0x2000 ? 0x90 : 0xcc);
	for (; i < size; i++)
		assert_int_equal(bytes[i], 1);
}

static void test_code(void **state)
{
	struct world x;

	(void)state;
	begin_program(&x, TRUSTED);
	check_code(&x, 0x1000, 1, 1);
	check_code(&x, 0x1ff0, 0x40, 0x40);
	check_code(&x, 0x1000, 0x2000, 0x2000);
	check_code(&x, 0x1000, 0x3000, 0x2000);
	check_code(&x, 0x2fff, 16, 1);
	check_code(&x, 0x3000, 16, 0);
	check_code(&x, 0x8000, 16, 0);
	/* A mapping of its own for a part of it, which goes on in the next; what is not mapped. */
	tell_map(&x, ONE, 1, BASE + 0x1000, 0x800, READ | EXEC);
	check_code(&x, 0x17f0, 0x20, 0x20);
	tell_thread(&x, VT_OP_EXEC, ONE, 1, 5);
	tell_map(&x, ONE, 1, BASE + 0x1000, 0x800, READ | EXEC);
	check_code(&x, 0x17f0, 0x20, 0x10);
	tell_map(&x, ONE, 1, BASE + 0x2000, 0x1000, READ | EXEC);
	check_code(&x, 0x17f0, 0x1000, 0x10);
	check_code(&x, 0x2000, 0x10, 0x10);
	/* Another process can write to the file, to its second page of code. */
	end(&x);
	begin_program(&x, TRUSTED);
	tell_map(&x, TWO, 1, BASE + 0x2000, 0x1000, READ | WRITE | SHARED);
	check_code(&x, 0x1ff0, 0x40, 0x10);
	check_code(&x, 0x2000, 0x40, 0);
	assert_int_equal(vti_spaces_code_withheld(&x.s, ONE, BASE + 0x1fff), VT_WITHHELD_NOT);
	assert_int_equal(vti_spaces_code_withheld(&x.s, ONE, BASE + 0x2000), VT_WITHHELD_PATCHED);
	end(&x);
}

/* Why there is no code: of each way to have a file mapped, of a recorder and of a decoder. */
static void test_withheld_code(void **state)
{
	enum {
		NOT = VT_WITHHELD_NOT,
		NO_FILE = VT_WITHHELD_MISSING,
		OTHER = VT_WITHHELD_UNVERIFIED,
		PATCHED = VT_WITHHELD_PATCHED
	};
	static const struct {
		unsigned trust, type;
		const char *path; /* NULL: the program's */
		uint64_t prot[3]; /* one after the other */
		unsigned code, decoded;
	} rows[] = {
		{TRUSTED, VT_IMAGE_FILE, NULL, {5}, NOT, NOT},
		{TRUSTED, VT_IMAGE_VDSO, NULL, {5}, NOT, NOT},
		{TRUSTED, VT_IMAGE_ANON, NULL, {5}, NOT, NOT},
		{TRUSTED, VT_IMAGE_FILE, NULL, {7}, PATCHED, PATCHED},
		{TRUSTED, VT_IMAGE_FILE, NULL, {3, 5}, PATCHED, PATCHED},
		{TRUSTED, VT_IMAGE_FILE, NULL, {1, 5}, NOT, NOT},
		{TRUSTED, VT_IMAGE_ANON, NULL, {7}, NOT, NOT},
		{TRUSTED, VT_IMAGE_FILE, "/none", {5}, NO_FILE, NOT},
		{TRUSTED, VT_IMAGE_VDSO, "/none", {5}, NO_FILE, NOT},
		{TRUSTED, VT_IMAGE_ANON, "/none", {5}, NOT, NOT},
		{VT_TRUST_IMAGES, VT_IMAGE_FILE, NULL, {5}, NOT, NOT},
		{VT_TRUST_CONSTANTS, VT_IMAGE_FILE, NULL, {5}, OTHER, OTHER},
		{0, VT_IMAGE_ANON, NULL, {5}, NOT, NOT},
		{0, VT_IMAGE_FILE, "/none", {5}, NO_FILE, OTHER},
	};
	struct world x;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(&x, rows[i].trust);
		tell_image(&x, 1, rows[i].type, rows[i].path ? rows[i].path : path);
		for (k = 0; k < 3 && rows[i].prot[k]; k++)
			tell_map(&x, ONE, 1, BASE + 0x1000, 0x2000, rows[i].prot[k]);
		if (vti_spaces_code_withheld(&x.s, ONE, BASE + 0x1800) != rows[i].code ||
		    vti_spaces_decoded_withheld(&x.s, ONE, BASE + 0x1800) != rows[i].decoded)
			fail_msg("row %zu", i);
		assert_int_equal(vt_images_withheld(x.images, 0),
				 rows[i].code == OTHER || rows[i].decoded == OTHER);
		/* Where nothing is mapped. */
		assert_int_equal(vti_spaces_code_withheld(&x.s, ONE, BASE), NOT);
		assert_int_equal(vti_spaces_decoded_withheld(&x.s, ONE, BASE), NOT);
		assert_int_equal(vti_spaces_code_withheld(&x.s, TWO, BASE + 0x1800), NOT);
		end(&x);
	}
}

/* A decoder had the file, and compared build-ids. */
static void test_decoded(void **state)
{
	struct world x;

	(void)state;
	begin(&x, 0);
	tell_image(&x, 1, VT_IMAGE_FILE, path);
	row(&x, VT_IMAGE)[VT_IMAGE_ID] = 2;
	vt_writer_text(x.w, VT_IMAGE_PATH, path);
	vt_writer_bytes(x.w, VT_IMAGE_BUILDID, "12345678901234567890", 20);
	feed(&x);
	tell_map(&x, ONE, 1, BASE + 0x1000, 0x2000, READ | EXEC);
	tell_map(&x, TWO, 2, BASE + 0x1000, 0x2000, READ | EXEC);
	assert_int_equal(vti_spaces_decoded_withheld(&x.s, ONE, BASE + 0x1000),
			 VT_WITHHELD_UNVERIFIED);
	assert_int_equal(vti_spaces_decoded_withheld(&x.s, TWO, BASE + 0x1000), VT_WITHHELD_NOT);
	/* To the second page of either, the program can write. */
	tell_map(&x, 30, 1, BASE + 0x2000, 0x1000, READ | WRITE | SHARED);
	tell_map(&x, 30, 2, BASE + 0x2000, 0x1000, READ | WRITE | SHARED);
	assert_int_equal(vti_spaces_decoded_withheld(&x.s, TWO, BASE + 0x1fff), VT_WITHHELD_NOT);
	assert_int_equal(vti_spaces_decoded_withheld(&x.s, TWO, BASE + 0x2000),
			 VT_WITHHELD_PATCHED);
	assert_int_equal(vti_spaces_decoded_withheld(&x.s, ONE, BASE + 0x2000),
			 VT_WITHHELD_PATCHED);
	end(&x);
}

/* ---- constants ---- */

/* How many bytes of a line are known, of the first two words with these values. */
static void check_constants(struct world *x, uint64_t addr, bool relro, uint64_t known,
			    uint64_t first, uint64_t second)
{
	uint8_t bytes[LINE];

	assert_int_equal(vti_spaces_constants(&x->s, ONE, BASE + addr, relro, bytes), known);
	assert_int_equal(vt_le64(bytes), first);
	assert_int_equal(vt_le64(bytes + 8), second);
}

static void check_line(struct world *x, int64_t pid, uint64_t addr, uint64_t known, uint64_t first,
		       uint64_t second)
{
	uint8_t bytes[LINE] = {0};

	assert_int_equal(vti_spaces_line(&x->s, pid, BASE + addr, bytes), known);
	assert_int_equal(vt_le64(bytes), first);
	assert_int_equal(vt_le64(bytes + 8), second);
}

#define CONSTANT UINT64_C(0x1122334455667788)
#define SECOND	 (BASE + 0x2000) /* what the linker fills in */

static void test_constants(void **state)
{
	struct world x;

	(void)state;
	begin_program(&x, TRUSTED);
	check_constants(&x, 0x3000, false, ALL, CONSTANT, 0);
	check_constants(&x, 0x3040, false, ALL, 0, 0);
	check_constants(&x, 0x5000, false, 0, 0, 0);
	check_constants(&x, 0x5000, true, ALL, SECOND, 0x99);
	check_constants(&x, 0x6000, true, 0, 0, 0); /* data */
	check_constants(&x, 0x9000, true, 0, 0, 0); /* not mapped */
	assert_int_equal(x.s.constants_withheld[VT_WITHHELD_NOT], 0);
	end(&x);
}

/* Why a line is not known, and how often that was asked. */
static void test_withheld_constants(void **state)
{
	struct world x;
	uint64_t *n = x.s.constants_withheld;
	unsigned i;

	(void)state;
	begin_program(&x, VT_TRUST_CONSTANTS);
	check_constants(&x, 0x3000, false, 0, 0, 0);
	assert_int_equal(n[VT_WITHHELD_UNVERIFIED], 1);
	check_constants(&x, 0x9000, false, 0, 0, 0);
	assert_int_equal(n[VT_WITHHELD_UNVERIFIED], 1);
	end(&x);
	/* Constants of a file that is not there, and what is not constant. */
	begin(&x, TRUSTED);
	tell_image(&x, 1, VT_IMAGE_FILE, "/none");
	tell_program(&x, ONE);
	check_constants(&x, 0x3000, false, 0, 0, 0);
	assert_int_equal(n[VT_WITHHELD_MISSING], 1);
	check_constants(&x, 0x6000, false, 0, 0, 0);
	check_constants(&x, 0x9000, false, 0, 0, 0);
	assert_int_equal(n[VT_WITHHELD_MISSING], 1);
	end(&x);
	/* Where data is not announced, the program may have written to it. */
	for (i = 0; i < 2; i++) {
		begin(&x, i ? TRUSTED : VT_TRUST_IMAGES);
		tell_image(&x, 1, VT_IMAGE_FILE, path);
		tell_map(&x, ONE, 1, BASE + 0x1000, 0x2000, READ | EXEC);
		check_constants(&x, 0x3000, false, i ? ALL : 0, i ? CONSTANT : 0, 0);
		check_constants(&x, 0x1000, false, i ? ALL : 0, i ? 0x9090909090909090 : 0,
				i ? 0x9090909090909090 : 0);
		assert_int_equal(n[VT_WITHHELD_UNSEEN], i ? 0 : 2);
		tell_map(&x, ONE, 1, BASE + 0x3000, 0x1000, READ);
		check_constants(&x, 0x3000, false, ALL, CONSTANT, 0);
		check_constants(&x, 0x1000, false, ALL, 0x9090909090909090, 0x9090909090909090);
		assert_int_equal(n[VT_WITHHELD_UNSEEN], i ? 0 : 2);
		end(&x);
	}
}

/* The linker writes once to what it relocates: not where a mapping was found, nor twice. */
static void test_patched_constants(void **state)
{
	static const struct {
		uint64_t time;
		uint64_t addr;
		uint64_t prot[6];
		bool patched;
	} rows[] = {
		{1, 0x5000, {READ}, false},
		{1, 0x5000, {READ | WRITE, READ}, false},
		{0, 0x5000, {READ}, false},
		{0, 0x5000, {READ | WRITE, READ}, true},
		{1, 0x5000, {READ | WRITE, READ, READ | WRITE, READ}, true},
		{1, 0x5000, {READ | WRITE}, true},
		{1, 0x3000, {READ}, false},
		{1, 0x3000, {READ | WRITE, READ}, true},
		{1, 0x3000, {READ | SHARED | WRITE, READ}, true},
	};
	struct world x;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t *n = x.s.constants_withheld;
		uint8_t bytes[LINE];
		bool known;

		begin(&x, TRUSTED);
		tell_image(&x, 1, VT_IMAGE_FILE, path);
		tell_map(&x, ONE, 1, BASE + 0x1000, 0x2000, READ | EXEC);
		for (k = 0; k < 6 && rows[i].prot[k]; k++)
			tell_map_at(&x, rows[i].time, ONE, 1, BASE + rows[i].addr, 0x1000,
				    rows[i].prot[k]);
		known = vti_spaces_constants(&x.s, ONE, BASE + rows[i].addr, true, bytes);
		if (known == rows[i].patched || n[VT_WITHHELD_PATCHED] != rows[i].patched)
			fail_msg("row %zu", i);
		end(&x);
	}
}

/* What the linker fills in is there as soon as the image's own code has run. */
static void test_ran(void **state)
{
	struct world x;
	uint64_t changes;

	(void)state;
	begin_program(&x, TRUSTED);
	tell_program(&x, TWO);
	check_line(&x, ONE, 0x5000, 0, 0, 0);
	check_line(&x, ONE, 0x3000, ALL, CONSTANT, 0);
	/* Code of another process, of nothing. */
	changes = x.s.changes;
	assert_int_equal(vti_spaces_ran(&x.s, TWO, BASE + 0x1000, &err), 0);
	assert_int_equal(x.s.changes, changes + 1);
	check_line(&x, TWO, 0x5000, ALL, SECOND, 0x99);
	check_line(&x, ONE, 0x5000, 0, 0, 0);
	assert_int_equal(vti_spaces_ran(&x.s, ONE, BASE + 0x9000, &err), 0);
	assert_int_equal(x.s.changes, changes + 1);
	check_line(&x, ONE, 0x5000, 0, 0, 0);
	assert_int_equal(vti_spaces_ran(&x.s, ONE, BASE + 0x1000, &err), 0);
	assert_int_equal(x.s.changes, changes + 2);
	check_line(&x, ONE, 0x5000, ALL, SECOND, 0x99);
	/* It is nothing new, there or elsewhere in it. */
	assert_int_equal(vti_spaces_ran(&x.s, ONE, BASE + 0x2000, &err), 0);
	assert_int_equal(vti_spaces_ran(&x.s, TWO, BASE + 0x1000, &err), 0);
	assert_int_equal(vti_spaces_ran(&x.s, ONE, BASE + 0x3000, &err), 0);
	assert_int_equal(x.s.changes, changes + 2);
	/* Another program. */
	tell_thread(&x, VT_OP_EXEC, ONE, 1, 5);
	tell_program(&x, ONE);
	check_line(&x, ONE, 0x5000, 0, 0, 0);
	assert_int_equal(vti_spaces_ran(&x.s, ONE, BASE + 0x1000, &err), 0);
	check_line(&x, ONE, 0x5000, ALL, SECOND, 0x99);
	end(&x);
}

/* Two images in one process: each for itself. */
static void test_ran_images(void **state)
{
	struct world x;

	(void)state;
	begin_program(&x, TRUSTED);
	tell_image(&x, 2, VT_IMAGE_FILE, path);
	tell_map(&x, ONE, 2, BASE + 0x11000, 0x2000, READ | EXEC);
	tell_map(&x, ONE, 2, BASE + 0x14000, 0x2000, READ);
	assert_int_equal(vti_spaces_ran(&x.s, ONE, BASE + 0x11000, &err), 0);
	check_line(&x, ONE, 0x5000, 0, 0, 0);
	check_line(&x, ONE, 0x15000, ALL, SECOND + 0x10000, 0x99);
	assert_int_equal(vti_spaces_ran(&x.s, ONE, BASE + 0x1000, &err), 0);
	check_line(&x, ONE, 0x5000, ALL, SECOND, 0x99);
	/* The same image at another place, where its code did not run. */
	tell_map(&x, ONE, 1, BASE + 0x21000, 0x2000, READ | EXEC);
	tell_map(&x, ONE, 1, BASE + 0x24000, 0x2000, READ);
	check_line(&x, ONE, 0x25000, 0, 0, 0);
	end(&x);
}

/* What records of other kinds say does not change what is mapped. */
static void test_other_records(void **state)
{
	struct world x;
	uint64_t changes;

	(void)state;
	begin_program(&x, TRUSTED);
	changes = x.s.changes;
	row(&x, VT_SAMPLE)[VT_SAMPLE_PID] = ONE;
	feed(&x);
	row(&x, VT_KSYMBOL);
	feed(&x);
	assert_int_equal(x.s.changes, changes);
	tell_thread(&x, VT_OP_COMM, ONE, ONE, 5);
	assert_int_equal(x.s.changes, changes + 1);
	end(&x);
}

/* Lines that are kept are those of the process and the address, until something is mapped. */
static void test_kept_lines(void **state)
{
	/* Their lines are kept at the same place. */
	const int64_t twin = ONE + (1 << 17);
	const uint64_t far_away = UINT64_C(1) << 28;
	struct world x;
	uint64_t *n = x.s.constants_withheld;
	unsigned i;

	(void)state;
	begin_program(&x, TRUSTED);
	for (i = 0; i < 2; i++) {
		check_line(&x, ONE, 0x3000, ALL, CONSTANT, 0);
		check_line(&x, ONE, 0x3000, ALL, CONSTANT, 0);
		check_line(&x, twin, 0x3000, 0, 0, 0);
		check_line(&x, ONE, 0x3000, ALL, CONSTANT, 0);
		check_line(&x, ONE, 0x3000 + far_away, 0, 0, 0);
	}
	check_line(&x, ONE, 0x3000, ALL, CONSTANT, 0);
	tell_map(&x, ONE, 1, BASE + 0x3000, 0x1000, READ | WRITE);
	assert_int_equal(n[VT_WITHHELD_PATCHED], 0);
	check_line(&x, ONE, 0x3000, 0, 0, 0);
	check_line(&x, ONE, 0x3000, 0, 0, 0);
	assert_int_equal(n[VT_WITHHELD_PATCHED], 2);
	assert_int_equal(n[VT_WITHHELD_NOT], 0);
	end(&x);
}

static int compile(void **state)
{
	(void)state;
	dir = toolbox_dir();
	snprintf(path, sizeof(path), "%s", toolbox_path(dir, "p"));
	toolbox_write(dir, "p.s", program);
	free(toolbox_run(dir, "gcc -nostdlib -pie -Wl,-z,relro,-z,now,-z,separate-code "
			      "-Wl,-z,max-page-size=0x1000 -Wl,--build-id=none -o p p.s"));
	return 0;
}

static int discard(void **state)
{
	(void)state;
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_of_maps),	  cmocka_unit_test(test_numbers_of_threads),
		cmocka_unit_test(test_numbers_of_images), cmocka_unit_test(test_code),
		cmocka_unit_test(test_withheld_code),	  cmocka_unit_test(test_decoded),
		cmocka_unit_test(test_constants),	  cmocka_unit_test(test_withheld_constants),
		cmocka_unit_test(test_patched_constants), cmocka_unit_test(test_ran),
		cmocka_unit_test(test_ran_images),	  cmocka_unit_test(test_kept_lines),
		cmocka_unit_test(test_other_records),
	};

	return cmocka_run_group_tests(tests, compile, discard);
}
