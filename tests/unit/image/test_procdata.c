/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a process's memory by its mappings: those of code tell where an image lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/procdata.h"
#include "stream/kinds.h"
#include "tests/unit/common/mappings.h"
#include "tests/unit/common/toolbox.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PID   7
#define BIAS  UINT64_C(0x7f0000000000)
#define PAGE  UINT64_C(0x1000)
#define NAMES 0x1000  /* 16 pages of anything */
#define CODE  0x11000 /* less than a page */
#define CONST 0x12000 /* 16 pages of constants, and a few bytes for unwinding */
#define END   0x23000 /* here begins what is written to */

#define R  1
#define W  2
#define X  4
#define RX (R | X)

/* A page of the image says its number in each of its words. */
static const char source[] = ".section .names,\"a\"\n.set i, 1\n"
			     ".rept 16\n.fill 512, 8, i\n.set i, i + 1\n.endr\n"
			     ".text\n.globl f\n.cfi_startproc\n"
			     "f: nop\nret\n.cfi_endproc\n.skip 4000, 0x90\n"
			     ".section .rodata\n.set i, 18\n"
			     ".rept 16\n.fill 512, 8, i\n.set i, i + 1\n.endr\n"
			     ".data\n.quad 1\n";

/* It is laid out as linkers do, but with as many pages on either side of the code. */
static const char layout[] =
	"PHDRS { a PT_LOAD FLAGS(4); b PT_LOAD FLAGS(5); c PT_LOAD FLAGS(4);"
	" d PT_LOAD FLAGS(6); e PT_DYNAMIC FLAGS(6); }\n"
	"SECTIONS { . = 0x1000; .names : { *(.names) } :a\n"
	". = 0x11000; .text : { *(.text) } :b\n"
	". = 0x12000; .rodata : { *(.rodata) } :c .eh_frame : { *(.eh_frame) } :c\n"
	". = 0x24000; .data : { *(.data) } :d .rest : { *(.hash) *(.dynsym) *(.dynstr) } :d\n"
	".dynamic : { *(.dynamic) } :d :e }\n";

static char *dir;
static uint8_t *files[3]; /* by image */

static void read_file(unsigned image, const char *name)
{
	FILE *f = fopen(toolbox_path(dir, name), "rb");

	assert_non_null(f);
	files[image] = calloc(1, END);
	assert_non_null(files[image]);
	assert_true(fread(files[image], 1, END, f) > 0);
	fclose(f);
}

static int make_image(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_elf_segment *s;
	struct vt_elf *elf;
	size_t n;

	(void)state;
	dir = toolbox_dir();
	toolbox_write(dir, "p.s", source);
	toolbox_write(dir, "p.ld", layout);
	free(toolbox_run(dir, "gcc -c p.s && ld -shared -T p.ld -z noexecstack"
			      " --hash-style=sysv --build-id=none -o p p.o && ld -shared"
			      " -z noseparate-code -o v p.o"));
	elf = vt_elf_open(toolbox_path(dir, "p"), &err);
	assert_non_null(elf);
	s = vt_elf_segments(elf, &n);
	assert_int_equal(n, 4);
	assert_true(s[0].vaddr == NAMES && s[0].offset == NAMES && s[0].filesz == 16 * PAGE);
	assert_true(s[1].vaddr == CODE && s[1].offset == CODE && s[1].filesz == 4002);
	assert_true(s[2].vaddr == CONST && s[2].offset == CONST && s[2].filesz > 16 * PAGE);
	assert_true(s[3].vaddr == END + PAGE && s[3].memsz <= PAGE);
	vt_elf_close(elf);
	read_file(1, "p");
	read_file(2, "v");
	return 0;
}

static int remove_image(void **state)
{
	(void)state;
	free(files[1]);
	free(files[2]);
	toolbox_remove(dir);
	return 0;
}

struct mapping {
	uint64_t start, length, offset;
	unsigned image; /* 1: the image; 2: a VDSO; 3: anonymous; 4: no file;
			 * 5: the VDSO's file */
	unsigned prot;
};

struct process {
	struct vt_images *images;
	struct vt_addrspace *space;
};

static struct process make_process(const struct mapping *maps, size_t n)
{
	static const unsigned types[] = {VT_IMAGE_FILE, VT_IMAGE_VDSO, VT_IMAGE_ANON, VT_IMAGE_FILE,
					 VT_IMAGE_FILE};
	static const char *const names[] = {"p", "v", "p", "gone", "v"};
	const struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_error err = VT_ERROR_INIT;
	struct process p = {vt_images_new(&opt, &err), vt_addrspace_new()};
	uint32_t id;
	size_t i;

	assert_non_null(p.images);
	assert_non_null(p.space);
	for (id = 1; id <= COUNT(types); id++) {
		const char *path = toolbox_path(dir, names[id - 1]);

		assert_int_equal(vt_images_add(p.images, id, types[id - 1], path, strlen(path),
					       NULL, 0, &err),
				 0);
		assert_int_equal(vt_addrspace_image(p.space, id, types[id - 1], &err), 0);
	}
	for (i = 0; i < n && maps[i].length; i++)
		assert_int_equal(map_pages(p.space, PID, maps[i].start, maps[i].length,
					   maps[i].offset, maps[i].image, maps[i].prot, &err),
				 0);
	return p;
}

static void end_process(struct process *p)
{
	vt_addrspace_free(p->space);
	vt_images_free(p->images);
}

/* The image is found at an address, or nothing is, with its bytes. */
static void expect(struct process *p, uint64_t address, unsigned want)
{
	uint8_t line[VT_IMAGEDATA_LINE], zero[VT_IMAGEDATA_LINE] = {0};
	uint64_t bias = 0, known, at = address - BIAS;
	uint32_t image = 0;

	if (vt_procdata_find(p->images, p->space, PID, address, &image, &bias) != (want != 0))
		fail_msg("at 0x%llx", (unsigned long long)address);
	if (want) {
		assert_int_equal(image, want);
		assert_int_equal(bias, BIAS);
	}
	known = vt_procdata_line(p->images, p->space, PID, address / 64 * 64, true, line);
	if (want && at < END - PAGE) {
		assert_int_equal(known, UINT64_MAX);
		assert_memory_equal(line, files[want] + at / 64 * 64, 64);
	} else if (!want) {
		assert_int_equal(known, 0);
		assert_memory_equal(line, zero, 64);
	}
}

#define WHOLE                                                                                      \
	{BIAS + NAMES, CODE - NAMES, NAMES, 1, R}, {BIAS + CODE, PAGE, CODE, 1, RX},               \
	{                                                                                          \
		BIAS + CONST, END - CONST, CONST, 1, R                                             \
	}

static void mappings_that_tell(void **state)
{
	static const struct {
		struct mapping maps[4];
		struct {
			uint64_t at;
			unsigned image;
		} places[8];
	} rows[] = {
		{{WHOLE},
		 {{BIAS + NAMES + 64, 1},
		  {BIAS + CODE, 1},
		  {BIAS + CONST + 0x5040, 1},
		  {BIAS + NAMES - 64, 0}}},
		/* Only code was told of: what lies next to it belongs to it, as far as it goes. */
		{{{BIAS + CODE, PAGE, CODE, 1, RX}},
		 {{BIAS + NAMES, 1},
		  {BIAS + CODE - 64, 1},
		  {BIAS + CODE + PAGE, 1},
		  {BIAS + END + 2 * PAGE - 64, 1},
		  {BIAS + END + 2 * PAGE, 0},
		  {BIAS + NAMES - 64, 0},
		  {0x1000, 0}}},
		{{{BIAS + CODE, PAGE, CODE, 1, 0}},
		 {{BIAS + NAMES, 1}, {BIAS + CODE, 1}, {BIAS + CONST, 1}}},
		/* Of a VDSO the first page is code; what is told of its offset means nothing. */
		{{{BIAS, PAGE, 0x7000, 2, RX}}, {{BIAS, 2}, {BIAS + 64, 2}, {BIAS - 64, 0}}},
		/* Not run, or no file. */
		{{{BIAS + CODE, PAGE, CODE, 1, R | W}},
		 {{BIAS + NAMES, 0}, {BIAS + CODE, 0}, {BIAS + CONST, 0}}},
		{{{BIAS + CODE, PAGE, CODE, 3, RX}},
		 {{BIAS + NAMES, 0}, {BIAS + CODE, 0}, {BIAS + CONST, 0}}},
		{{{BIAS + CODE, PAGE, CODE, 4, RX}},
		 {{BIAS + NAMES, 0}, {BIAS + CODE, 0}, {BIAS + CONST, 0}}},
		/* The whole file, to be read: this is not how it is laid out. */
		{{{BIAS, END, 0, 1, R}}, {{BIAS + NAMES, 0}, {BIAS + CODE, 0}, {BIAS + CONST, 0}}},
		/* Code at an offset where the file has none. */
		{{{BIAS + CODE, PAGE, CONST, 1, RX}},
		 {{BIAS + NAMES, 0}, {BIAS + CODE, 0}, {BIAS + CONST, 0}}},
		/* Another part of the file lies where constants should; another image does. */
		{{{BIAS + CODE, PAGE, CODE, 1, RX}, {BIAS + CONST, PAGE, CONST + PAGE, 1, R}},
		 {{BIAS + CODE, 1},
		  {BIAS + CONST, 0},
		  {BIAS + CONST + PAGE, 0},
		  {BIAS + NAMES, 1}}},
		{{{BIAS + CODE, PAGE, CODE, 1, RX}, {BIAS + CONST, PAGE, 0, 4, R}},
		 {{BIAS + CODE, 1}, {BIAS + CONST, 0}, {BIAS + NAMES, 1}}},
		/* Between code and constants of an image is another: they may be of two loads. */
		{{{BIAS + CODE, PAGE, CODE, 1, RX},
		  {BIAS + CONST, PAGE, 0, 4, R},
		  {BIAS + CONST + PAGE, PAGE, CONST + PAGE, 1, R}},
		 {{BIAS + CODE, 1}, {BIAS + CONST + PAGE, 0}}},
		/* Constants far from code are of another load, which was not told of. */
		{{{BIAS + CODE, PAGE, CODE, 1, RX}, {BIAS + 2 * END + CONST, PAGE, CONST, 1, R}},
		 {{BIAS + CODE, 1}, {BIAS + 2 * END + CONST, 0}}},
		{{{BIAS + CODE, PAGE, CODE, 1, RX}, {BIAS - 2 * END + CONST, PAGE, CONST, 1, R}},
		 {{BIAS + CODE, 1}, {BIAS - 2 * END + CONST, 0}}},
		/* Below: the code of the load above, though another is further down. */
		{{{BIAS - 2 * END + CODE, PAGE, CODE, 1, RX},
		  {BIAS + NAMES, PAGE, NAMES, 1, R},
		  {BIAS + CODE, PAGE, CODE, 1, RX}},
		 {{BIAS + NAMES, 1}, {BIAS + CODE, 1}, {BIAS + NAMES + PAGE, 1}}},
		/* From the first address of all. */
		{{{0, PAGE, NAMES, 1, R}}, {{64, 0}}},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct process p = make_process(rows[i].maps, COUNT(rows[i].maps));

		for (k = 0; k < COUNT(rows[i].places) && rows[i].places[k].at; k++)
			expect(&p, rows[i].places[k].at, rows[i].places[k].image);
		end_process(&p);
	}
}

/* Mappings of one page each: the code may be seven of them away, on either side. */
static void how_far_code_may_be(void **state)
{
	struct mapping maps[16];
	struct process p;
	size_t n = 0, i;

	(void)state;
	for (i = 1; i <= 8; i++)
		maps[n++] = (struct mapping){BIAS + CODE - i * PAGE, PAGE, CODE - i * PAGE, 1, R};
	maps[n++] = (struct mapping){BIAS + CODE, PAGE, CODE, 1, RX};
	for (i = 1; i < 8; i++)
		maps[n++] = (struct mapping){BIAS + CODE + i * PAGE, PAGE, CODE + i * PAGE, 1, R};
	p = make_process(maps, n);
	expect(&p, BIAS + CODE - 7 * PAGE, 1);
	expect(&p, BIAS + CODE - 8 * PAGE, 0);
	expect(&p, BIAS + CODE + 7 * PAGE, 1);
	end_process(&p);
	maps[0] = (struct mapping){BIAS + CODE + 8 * PAGE, PAGE, CODE + 8 * PAGE, 1, R};
	p = make_process(maps, n);
	expect(&p, BIAS + CODE + 8 * PAGE, 0);
	expect(&p, BIAS + CODE + 7 * PAGE, 1);
	end_process(&p);
}

/* The last line with bytes of a segment, and where none has any. */
static void ends_of_segments(void **state)
{
	static const struct mapping maps[] = {WHOLE};
	struct process p = make_process(maps, COUNT(maps));
	uint8_t line[VT_IMAGEDATA_LINE];

	(void)state;
	/* 4002 bytes of code: 34 are in the last line. */
	assert_int_equal(vt_procdata_line(p.images, p.space, PID, BIAS + CODE + 3968, true, line),
			 (UINT64_C(1) << 34) - 1);
	assert_memory_equal(line, files[1] + CODE + 3968, 34);
	assert_int_equal(vt_procdata_line(p.images, p.space, PID, BIAS + CODE + 4032, true, line),
			 0);
	/* Another process has none of this. */
	assert_int_equal(vt_procdata_line(p.images, p.space, PID + 1, BIAS + CODE, true, line), 0);
	end_process(&p);
}

/* ---- where procedures return to ---- */

static bool get_reg(void *arg, unsigned reg, uint64_t *value)
{
	(void)arg;
	*value = 0x7ffe00000000 + reg;
	return reg == 7;
}

static bool load(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	(void)size;
	*value = address + 1;
	return arg != NULL;
}

static void returns(void **state)
{
	static const struct mapping maps[] = {WHOLE};
	struct process p = make_process(maps, COUNT(maps));
	struct vt_unwind_state known = {(void *)maps, get_reg, load},
			       unknown = {NULL, get_reg, load};
	struct vt_return r;

	(void)state;
	assert_true(vt_procdata_return(p.images, p.space, PID, BIAS + CODE + 1, &known, &r));
	assert_int_equal(r.entry, BIAS + CODE);
	assert_int_equal(r.slot, 0x7ffe00000007);
	assert_int_equal(r.ret, 0x7ffe00000008);
	assert_false(vt_procdata_return(p.images, p.space, PID, BIAS + CODE + 1, &unknown, &r));
	assert_false(vt_procdata_return(p.images, p.space, PID, BIAS + CODE + 2, &known, &r));
	assert_false(vt_procdata_return(p.images, p.space, PID, BIAS - 1, &known, &r));
	end_process(&p);
}

/* The file of the VDSO has a page that is of two segments, which is mapped twice. */
#define SHARED	     0x21000
#define SHARED_VADDR 0x22000

static void biases(void **state)
{
	static const struct {
		struct mapping maps[2];
		uint64_t address;
		uint64_t any;  /* the bias by any mapping; 1: none */
		uint64_t code; /* by one of code */
	} rows[] = {
		{{{BIAS + CODE, PAGE, CODE, 1, RX}}, BIAS + CODE, BIAS, BIAS},
		{{{CODE, PAGE, CODE, 1, RX}}, CODE, 0, 0},
		{{{BIAS + NAMES, CODE - NAMES, NAMES, 1, R}}, BIAS + NAMES, BIAS, 1},
		{{{BIAS + CONST, END - CONST, CONST, 1, R}}, BIAS + CONST, BIAS, 1},
		{{{BIAS + END + PAGE, PAGE, END, 1, R | W}}, BIAS + END + PAGE, BIAS, 1},
		/* Further in: one page, and the last. */
		{{{BIAS + CONST + PAGE, PAGE, CONST + PAGE, 1, R}}, BIAS + CONST + PAGE, BIAS, 1},
		{{{BIAS + CONST + 16 * PAGE, PAGE, CONST + 16 * PAGE, 1, R}},
		 BIAS + CONST + 16 * PAGE,
		 BIAS,
		 1},
		/* Before all, and behind all. */
		{{{BIAS, PAGE, 0, 1, R}}, BIAS, 1, 1},
		{{{BIAS + END + PAGE, PAGE, END + PAGE, 1, R}}, BIAS + END + PAGE, 1, 1},
		/* Shared: by what else is mapped; the first one, if both are as likely. */
		{{{BIAS, SHARED + PAGE, 0, 5, RX}, {BIAS + SHARED_VADDR, PAGE, SHARED, 5, R | W}},
		 BIAS + SHARED_VADDR,
		 BIAS,
		 BIAS + PAGE},
		{{{BIAS + SHARED_VADDR, PAGE, SHARED, 5, R | W}},
		 BIAS + SHARED_VADDR,
		 BIAS,
		 BIAS + PAGE},
		{{{BIAS, SHARED, 0, 5, RX}, {BIAS + SHARED, PAGE, SHARED, 5, RX}},
		 BIAS + SHARED,
		 BIAS,
		 BIAS},
		{{{BIAS + CODE, PAGE, CODE, 4, RX}}, BIAS + CODE, 1, 1},
	};
	enum vt_unknown why;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct process p = make_process(rows[i].maps, 2);
		const struct vt_map *map = vt_addrspace_find(p.space, PID, rows[i].address, 2);
		const struct vt_elf *elf = vt_images_elf(p.images, map->image, &why);
		uint64_t any = 1, code = 1;

		assert_int_equal(elf && vt_procdata_bias(elf, p.space, PID, map, &any),
				 rows[i].any != 1);
		assert_ptr_equal(vt_procdata_code(p.images, map, &code),
				 rows[i].code == 1 ? NULL : vt_images_data(p.images, map->image));
		if (rows[i].any != any || (rows[i].code != 1 && rows[i].code != code))
			fail_msg("row %zu: 0x%llx, 0x%llx", i, (unsigned long long)any,
				 (unsigned long long)code);
		end_process(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_that_tell),
		cmocka_unit_test(how_far_code_may_be),
		cmocka_unit_test(ends_of_segments),
		cmocka_unit_test(returns),
		cmocka_unit_test(biases),
	};

	return cmocka_run_group_tests(tests, make_image, remove_image);
}
