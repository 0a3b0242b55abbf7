/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where decoders find code: jitdumps and kernels' files made by hand, and what lies over what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/pt/code.h"
#include "formats/pt/sideband/jit.h"
#include "formats/pt/sideband/kernel.h"
#include "stream/kinds.h"
#include "tests/unit/common/toolbox.h"

static void put(struct vt_buf *b, bool big, uint64_t v, unsigned bytes)
{
	unsigned i;

	for (i = 0; i < bytes; i++)
		vt_buf_put_u8(b, (uint8_t)(v >> 8 * (big ? bytes - 1 - i : i)));
}

static void write_file(const char *path, const struct vt_buf *b, size_t size)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* ---- jitdumps ---- */

static void test_jit_names(void **state)
{
	(void)state;
	assert_true(vti_pt_jit_named("jit-1.dump"));
	assert_true(vti_pt_jit_named("/tmp/x/jit-4242.dump"));
	assert_false(vti_pt_jit_named("/tmp/jit-1.dump/x"));
	assert_false(vti_pt_jit_named("jit-.dump"));
	assert_false(vti_pt_jit_named("jit-1x.dump"));
	assert_false(vti_pt_jit_named("jit-1.dumps"));
	assert_false(vti_pt_jit_named("xjit-1.dump"));
}

/* kernel's tools/perf/Documentation/jitdump-specification.txt */
static void put_jit_header(struct vt_buf *b, bool big, uint32_t size)
{
	put(b, big, 0x4a695444, 4);
	put(b, big, 1, 4);
	put(b, big, size, 4);
	while (b->size < size)
		vt_buf_put_u8(b, 0);
}

/* JIT_CODE_LOAD, or another record of the same form. */
static void put_jit_code(struct vt_buf *b, bool big, uint32_t id, uint64_t time, uint64_t addr,
			 const char *name, const char *code)
{
	put(b, big, id, 4);
	put(b, big, 16 + 40 + strlen(name) + 1 + strlen(code), 4);
	put(b, big, time, 8);
	put(b, big, 100, 4);
	put(b, big, 101, 4);
	put(b, big, 77, 8);
	put(b, big, addr, 8);
	put(b, big, strlen(code), 8);
	put(b, big, 1, 8);
	vt_buf_put(b, name, strlen(name) + 1);
	vt_buf_put(b, code, strlen(code));
}

static void check_jit(struct vti_pt_jit *j, uint64_t time, uint64_t addr, uint64_t offset,
		      const char *code)
{
	struct vti_pt_jit_code c;

	assert_true(vti_pt_jit_next(j, &c));
	assert_int_equal(c.time, time);
	assert_int_equal(c.addr, addr);
	assert_int_equal(c.offset, offset);
	assert_int_equal(c.size, strlen(code));
	assert_memory_equal(c.bytes, code, c.size);
}

static void test_jitdump(void **state)
{
	char *dir = toolbox_dir();
	unsigned form;

	(void)state;
	for (form = 0; form < 4; form++) {
		bool big = form & 1;
		/* Headers may grow. */
		uint32_t head = form & 2 ? 48 : 40;
		const char *path = toolbox_path(dir, "jit-1.dump");
		struct vt_buf b = VT_BUF_INIT;
		struct vti_pt_jit_code c;
		struct vti_pt_jit j;
		size_t cut;

		put_jit_header(&b, big, head);
		put_jit_code(&b, big, 0, 5, 0x1000, "first", "code one");
		put_jit_code(&b, big, 1, 6, 0x2000, "moved", "none");
		put_jit_code(&b, big, 0, 7, 0x3000, "empty", "");
		put_jit_code(&b, big, 0, 8, 0x4000, "", "2");
		cut = b.size;
		put_jit_code(&b, big, 0, 9, 0x5000, "last", "cut");
		write_file(path, &b, b.size - 1);
		assert_true(vti_pt_jit_open(&j, NULL, path));
		/* Behind header, prefix, 40 bytes and the name with its zero. */
		check_jit(&j, 5, 0x1000, head + 16 + 40 + 6, "code one");
		check_jit(&j, 8, 0x4000, cut - 1, "2");
		/* The last one says that it has a byte more than the file. */
		assert_false(vti_pt_jit_next(&j, &c));
		assert_false(vti_pt_jit_next(&j, &c));
		vti_pt_jit_close(&j);
		write_file(path, &b, b.size);
		assert_true(vti_pt_jit_open(&j, dir, "/jit-1.dump"));
		check_jit(&j, 5, 0x1000, head + 16 + 40 + 6, "code one");
		check_jit(&j, 8, 0x4000, cut - 1, "2");
		check_jit(&j, 9, 0x5000, b.size - 3, "cut");
		assert_false(vti_pt_jit_next(&j, &c));
		vti_pt_jit_close(&j);
		/* Less than a header, another magic number, no file. */
		write_file(path, &b, 39);
		assert_false(vti_pt_jit_open(&j, NULL, path));
		b.data[1]++;
		write_file(path, &b, b.size);
		assert_false(vti_pt_jit_open(&j, NULL, path));
		assert_false(vti_pt_jit_open(&j, NULL, toolbox_path(dir, "jit-2.dump")));
		vt_buf_free(&b);
	}
	toolbox_remove(dir);
}

/* ---- kernels ---- */

#define EHDR 64
#define PHDR 56

struct segment {
	uint32_t type, flags;
	uint64_t offset, addr, size;
};

/* An ELF-64 file, little-endian, of segments; 64 bytes follow its headers: '0', '1', ... */
static void make_elf(struct vt_buf *b, uint16_t type, const struct segment *s, uint16_t n)
{
	unsigned i;

	b->size = 0;
	vt_buf_put(b, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
	put(b, false, type, 2);
	put(b, false, 62, 2);
	put(b, false, 1, 4);
	put(b, false, 0, 8);
	put(b, false, EHDR, 8);
	put(b, false, 0, 8);
	put(b, false, 0, 4);
	put(b, false, EHDR, 2);
	put(b, false, PHDR, 2);
	put(b, false, n, 2);
	put(b, false, 0, 6);
	for (i = 0; i < n; i++) {
		put(b, false, s[i].type, 4);
		put(b, false, s[i].flags, 4);
		put(b, false, EHDR + n * PHDR + s[i].offset, 8);
		put(b, false, s[i].addr, 8);
		put(b, false, 0, 8);
		put(b, false, s[i].size, 8);
		put(b, false, s[i].size, 8);
		put(b, false, 4096, 8);
	}
	for (i = 0; i < 64; i++)
		vt_buf_put_u8(b, (uint8_t)('0' + i));
}

static void check_code(const struct vt_pt_code *c, uint64_t at, const char *bytes)
{
	uint8_t out[64];
	size_t n = strlen(bytes);

	assert_int_equal(vt_pt_code_read(c, at, out, sizeof(out)), n);
	assert_memory_equal(out, bytes, n);
}

static void test_kernel_files(void **state)
{
	/* Loaded and executable, not executable, not loaded, longer than the file. */
	static const struct segment vmlinux[] = {{1, 5, 0, 0x1000, 4},
						 {1, 6, 4, 0x2000, 4},
						 {2, 5, 4, 0x3000, 4},
						 {1, 1, 60, 0x4000, 100}};
	static const struct segment core[] = {{1, 5, 10, 0x7002, 1}};
	char *dir = toolbox_dir();
	const char *paths[2] = {toolbox_path(dir, "kcore"), toolbox_path(dir, "vmlinux")};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	struct vti_pt_kernel *k;
	size_t at;

	(void)state;
	make_elf(&b, 4, core, 1);
	write_file(paths[0], &b, b.size);
	make_elf(&b, 2, vmlinux, 4);
	write_file(paths[1], &b, b.size);
	/* Where the file says. */
	k = vti_pt_kernel_new(paths + 1, 1, 0, &err);
	assert_non_null(k);
	check_code(vti_pt_kernel_code(k), 0x1000, "0123");
	check_code(vti_pt_kernel_code(k), 0x1003, "3");
	check_code(vti_pt_kernel_code(k), 0x2000, "");
	check_code(vti_pt_kernel_code(k), 0x3000, "");
	check_code(vti_pt_kernel_code(k), 0x4000, "lmno");
	vti_pt_kernel_free(k);
	/* Its first executable segment is at 0x7000; what a core has is above that. */
	k = vti_pt_kernel_new(paths, 2, 0x7000, &err);
	assert_non_null(k);
	check_code(vti_pt_kernel_code(k), 0x7000, "01:3");
	check_code(vti_pt_kernel_code(k), 0xa000, "lmno");
	check_code(vti_pt_kernel_code(k), 0x1000, "");
	vti_pt_kernel_free(k);
	/* Of 32 bits, big-endian, headers of another size, headers that are cut. */
	for (at = 4; at < 6; at++) {
		b.data[at] ^= 3;
		write_file(paths[1], &b, b.size);
		assert_null(vti_pt_kernel_new(paths + 1, 1, 0, &err));
		b.data[at] ^= 3;
	}
	b.data[54]--;
	write_file(paths[1], &b, b.size);
	assert_null(vti_pt_kernel_new(paths + 1, 1, 0, &err));
	b.data[54]++;
	write_file(paths[1], &b, EHDR + 4 * PHDR - 1);
	assert_null(vti_pt_kernel_new(paths + 1, 1, 0, &err));
	assert_int_equal(err.code, VT_E_FORMAT);
	write_file(paths[1], &b, EHDR - 1);
	assert_null(vti_pt_kernel_new(paths + 1, 1, 0, &err));
	/* An executable without segments is one that has no code. */
	make_elf(&b, 2, vmlinux, 0);
	write_file(paths[1], &b, EHDR);
	k = vti_pt_kernel_new(paths + 1, 1, 0, &err);
	assert_non_null(k);
	check_code(vti_pt_kernel_code(k), 0x1000, "");
	vti_pt_kernel_free(k);
	vt_buf_free(&b);
	toolbox_remove(dir);
}

/* Kernels of one segment, at the edge of what there can be. */
static void test_kernel_limits(void **state)
{
	static const struct {
		struct segment s;
		const char *code; /* NULL: it is refused */
	} rows[] = {
		{{1, 1, 63, 0x1000, 1}, "o"},	      {{1, 1, 63, 0x1000, 2}, "o"},
		{{1, 1, 64, 0x1000, 1}, ""},	      {{1, 1, 65, 0x1000, 1}, ""},
		{{1, 1, 0, 0x1000, 0}, ""},	      {{1, 1, 0, UINT64_MAX - 1, 2}, "01"},
		{{1, 1, 0, UINT64_MAX - 1, 3}, NULL},
	};
	char *dir = toolbox_dir();
	const char *paths[2] = {toolbox_path(dir, "vmlinux"), toolbox_path(dir, "none")};
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vti_pt_kernel *k;

		make_elf(&b, 2, &rows[i].s, 1);
		write_file(paths[0], &b, b.size);
		k = vti_pt_kernel_new(paths, 1, 0, &err);
		assert_int_equal(k != NULL, rows[i].code != NULL);
		if (k)
			check_code(vti_pt_kernel_code(k), rows[i].s.addr, rows[i].code);
		else
			assert_int_equal(err.code, VT_E_FORMAT);
		vti_pt_kernel_free(k);
		/* A file that is not there. */
		assert_null(vti_pt_kernel_new(paths, 2, 0, &err));
		assert_null(vti_pt_kernel_new(paths + 1, 1, 0, &err));
		assert_int_equal(err.code, VT_E_READ);
		k = vti_pt_kernel_new(paths, 0, 0, &err);
		assert_int_equal(vt_pt_code_count(vti_pt_kernel_code(k)), 0);
		vti_pt_kernel_free(k);
	}
	/* Headers that begin behind the end, and at it. */
	make_elf(&b, 2, &rows[0].s, 0);
	for (i = 0; i < 2; i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vti_pt_kernel *k;

		b.data[32] = (uint8_t)(b.size + i);
		write_file(paths[0], &b, b.size);
		k = vti_pt_kernel_new(paths, 1, 0, &err);
		assert_int_equal(k != NULL, i == 0);
		vti_pt_kernel_free(k);
	}
	vt_buf_free(&b);
	toolbox_remove(dir);
}

/* A record of the kernel's code at an address: what was there, what is from now on. */
static void poke(struct vti_pt_kernel *k, uint64_t addr, const char *was, const char *is)
{
	const uint32_t old_off[2] = {0, (uint32_t)strlen(was)};
	const uint32_t new_off[2] = {0, (uint32_t)strlen(is)};
	struct vt_column columns[8] = {{NULL, 0, NULL, NULL, NULL}};
	struct vt_block block = {
		.kind = VT_TEXTPOKE, .nrecords = 1, .ncolumns = 8, .columns = columns};
	struct vt_record rec = {.block = &block, .kind = VT_TEXTPOKE};
	struct vt_error err = VT_ERROR_INIT;

	columns[VT_TEXTPOKE_ADDR] = (struct vt_column){&addr, 0, NULL, NULL, NULL};
	columns[VT_TEXTPOKE_OLD] = (struct vt_column){NULL, 0, old_off, (const uint8_t *)was, NULL};
	columns[VT_TEXTPOKE_NEW] = (struct vt_column){NULL, 0, new_off, (const uint8_t *)is, NULL};
	assert_int_equal(vti_pt_kernel_poke(k, &rec, &err), 0);
}

/* What the kernel has changed lies over its file; nothing in place of something is taken away. */
static void test_pokes(void **state)
{
	static const struct segment vmlinux[] = {{1, 5, 0, 0x1000, 8}};
	char *dir = toolbox_dir();
	const char *path = toolbox_path(dir, "vmlinux");
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	struct vti_pt_kernel *k;

	(void)state;
	make_elf(&b, 2, vmlinux, 1);
	write_file(path, &b, b.size);
	k = vti_pt_kernel_new(&path, 1, 0, &err);
	assert_non_null(k);
	check_code(vti_pt_kernel_code(k), 0x1000, "01234567");
	poke(k, 0x1002, "23", "ab");
	check_code(vti_pt_kernel_code(k), 0x1000, "01ab4567");
	poke(k, 0x1003, "b", "xyz");
	check_code(vti_pt_kernel_code(k), 0x1000, "01axyz67");
	poke(k, 0x2000, "", "new");
	check_code(vti_pt_kernel_code(k), 0x2000, "new");
	poke(k, 0x1000, "", "");
	check_code(vti_pt_kernel_code(k), 0x1000, "01axyz67");
	poke(k, 0x1006, "6", "");
	check_code(vti_pt_kernel_code(k), 0x1000, "01axyz");
	check_code(vti_pt_kernel_code(k), 0x1007, "7");
	/* What cannot be code is left out. */
	poke(k, UINT64_MAX, "", "two");
	check_code(vti_pt_kernel_code(k), UINT64_MAX, "");
	vti_pt_kernel_free(k);
	vt_buf_free(&b);
	toolbox_remove(dir);
}

/* ---- one over the other ---- */

static const uint8_t *const letters = (const uint8_t *)"abcdefghijklmnopqrstuvwxyz";

static void add(struct vt_pt_code *c, uint64_t start, uint64_t size, unsigned from)
{
	struct vt_pt_section s = {.start = start, .size = size, .bytes = letters + from};
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_pt_code_add(c, &s, &err), 0);
}

/* What is at an address, and how many bytes of it are in one piece. */
static void check_at(const struct vt_pt_code *c, uint64_t at, unsigned letter, size_t size)
{
	size_t have;

	assert_ptr_equal(vt_pt_code_at(c, at, &have), letters + letter);
	assert_int_equal(have, size);
}

static void test_own_code_hides_the_kernels(void **state)
{
	struct vt_pt_code *own = vt_pt_code_new(), *kernel = vt_pt_code_new();
	uint64_t before;
	size_t have;

	(void)state;
	assert_non_null(own);
	assert_non_null(kernel);
	add(kernel, 0x100, 20, 0);
	add(own, 0x108, 4, 22);
	before = vt_pt_code_generation(own);
	vt_pt_code_set_kernel(own, kernel);
	assert_true(vt_pt_code_generation(own) != before);
	before = vt_pt_code_generation(own);
	vt_pt_code_set_kernel(own, kernel);
	assert_int_equal(vt_pt_code_generation(own), before);
	assert_null(vt_pt_code_at(own, 0xff, &have));
	assert_int_equal(have, 0);
	/* Up to where the own begins, in it, and behind it up to the kernel's end. */
	check_at(own, 0x100, 0, 8);
	check_at(own, 0x107, 7, 1);
	check_at(own, 0x108, 22, 4);
	check_at(own, 0x10b, 25, 1);
	check_at(own, 0x10c, 12, 8);
	check_at(own, 0x113, 19, 1);
	assert_null(vt_pt_code_at(own, 0x114, &have));
	check_code(own, 0x106, "ghwxyzmnopqrst");
	/* What the kernel gets new counts as a change. */
	add(kernel, 0x200, 1, 3);
	assert_true(vt_pt_code_generation(own) != before);
	vt_pt_code_free(own);
	vt_pt_code_free(kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jit_names),
		cmocka_unit_test(test_jitdump),
		cmocka_unit_test(test_kernel_files),
		cmocka_unit_test(test_kernel_limits),
		cmocka_unit_test(test_pokes),
		cmocka_unit_test(test_own_code_hides_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
