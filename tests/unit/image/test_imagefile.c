/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is taken of an image's files: of which one its symbols and lines are, kernels and modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/images.h"
#include "image/lines.h"
#include "tests/unit/common/toolbox.h"

/* All files have this build-id; in a cache, that is their place. */
#define PLACE "c/.build-id/11/11111111111111"

static const uint8_t buildid[8] = {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11};

static char *dir;
static char warning[600];
static struct vt_images *images;

static void warned(void *arg, const char *text)
{
	(void)arg;
	snprintf(warning, sizeof(warning), "%s", text);
}

/*
 * p has text at 0x402000: _text, 16 bytes behind it work(), 32 bytes behind that _etext; and calls
 * by way of a table.  Of its symbols and debug information, `bare` has neither, `named` the first,
 * `lined` the second; p.debug has both.
 */
static int make_files(void **state)
{
	(void)state;
	dir = toolbox_dir();
	toolbox_write(dir, "p.s",
		      ".globl _text, _etext, _Z4workv\n.file \"p.s\"\n.cfi_sections .eh_frame\n"
		      ".type _text, @function\n_text: .cfi_startproc\n"
		      "call puts@plt\n.skip 11, 0x90\n.cfi_endproc\n.size _text, 16\n"
		      ".type _Z4workv, @function\n_Z4workv: .cfi_startproc\n.skip 32, 0x90\n"
		      ".cfi_endproc\n.size _Z4workv, 32\n.type _etext, @object\n_etext:\n");
	toolbox_write(dir, "small.s",
		      ".globl _text\n.type _text, @function\n_text: .skip 64\n"
		      ".size _text, 16\n");
	free(toolbox_run(
		dir,
		"l='-nostdlib -no-pie -Wl,-e,_text -Wl,--build-id=0x1111111111111111'; "
		"gcc -g $l -Wl,-Ttext=0x402000 -o p p.s -lc && gcc $l -o small small.s && "
		"strip -s -o empty small && cp small cut && "
		/* The first segment has more bytes than the file. */
		"printf '\\0\\0\\0\\1' | dd of=cut bs=1 seek=96 conv=notrunc 2>/dev/null && "
		"objcopy --only-keep-debug p p.debug && objcopy --add-gnu-debuglink=p.debug p && "
		"strip -g -o named p && strip -s --keep-section='.debug_*' -o lined p && "
		"strip -s -o bare p && objcopy -R .eh_frame -R .eh_frame_hdr bare none "
		"2>/dev/null"));
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	vt_images_free(images);
	toolbox_remove(dir);
	return 0;
}

/* A store without images, in a directory where a command has been run; warnings are forgotten. */
static void begin(const char *command)
{
	const struct vt_images_options opt = {.find = {.buildid_cache = toolbox_path(dir, "c")},
					      .warn = warned};
	struct vt_error err = VT_ERROR_INIT;

	free(toolbox_run(dir, "rm -rf c && mkdir -p " PLACE " && %s", command));
	vt_images_free(images);
	warning[0] = '\0';
	images = vt_images_new(&opt, &err);
	assert_non_null(images);
}

static void add(uint32_t id, unsigned type, const char *path, bool has_buildid)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_images_add(images, id, type, path, strlen(path), buildid,
				       has_buildid ? sizeof(buildid) : 0, &err),
			 0);
}

static void add_file(uint32_t id, unsigned type, const char *name)
{
	add(id, type, toolbox_path(dir, name), false);
}

/* The symbol at an offset, NULL: none, for that reason. */
static void check_symbol(uint32_t id, uint64_t offset, const char *name, uint64_t vaddr,
			 enum vt_unknown why)
{
	struct vt_location loc;

	assert_int_equal(vt_images_symbol(images, id, 1, offset, &loc), why);
	assert_int_equal(loc.symbol != NULL, name != NULL);
	if (!name)
		return;
	assert_string_equal(loc.symbol->name, name);
	assert_int_equal(loc.vaddr, vaddr);
}

#define WORK 0x2010 /* offset of work() in the file */

/* Symbols are of the file, or of its debug file; lines too, each where there are any. */
static void test_parts(void **state)
{
	static const struct {
		const char *file, *debug; /* "-": is removed */
		const char *symbol;
		bool stripped, lines;
	} rows[] = {
		{"p", "-", "_Z4workv", false, true},
		{"named", "-", "_Z4workv", false, false},
		{"lined", "-", "sub_402010", true, true},
		{"bare", "-", "sub_402010", true, false},
		{"named", "p", "_Z4workv", false, true},
		{"lined", "p", "_Z4workv", false, true},
		{"bare", "p", "_Z4workv", false, true},
		{"bare", "named", "_Z4workv", false, false},
		{"bare", "lined", "sub_402010", true, true},
	};
	struct vt_line line;
	struct vt_lines *l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char command[300];

		/* The debug file is found by its build-id. */
		snprintf(command, sizeof(command),
			 "rm -f p.debug; [ %s = - ] || cp %s " PLACE "/debug", rows[i].debug,
			 rows[i].debug);
		begin(command);
		add_file(1, VT_IMAGE_FILE, rows[i].file);
		check_symbol(1, WORK, rows[i].symbol, 0x402010, VT_KNOWN);
		assert_int_equal(vt_images_stripped(images, 1), rows[i].stripped);
		l = vt_images_lines(images, 1);
		assert_int_equal(l != NULL, rows[i].lines);
		if (l) {
			assert_true(vt_lines_at(l, 0x402000, &line));
			assert_int_equal(line.line, 6);
		}
		assert_string_equal(warning, "");
	}
	begin(":");
	add_file(1, VT_IMAGE_FILE, "none");
	check_symbol(1, WORK, NULL, 0, VT_UNKNOWN_STRIPPED);
	assert_true(vt_images_stripped(images, 1));
	/* Entries of its linkage table are known without its symbols, too. */
	for (i = 0; i < 2; i++) {
		enum vt_unknown why;
		uint64_t address;

		add_file(2, VT_IMAGE_FILE, i ? "bare" : "p");
		assert_true(vt_symbols_address_of(vt_images_symbols(images, 2, 1, &why), "puts@plt",
						  &address));
	}
}

/* Where a file is cut off, it may have had what it lacks. */
static void test_cut(void **state)
{
	(void)state;
	begin(":");
	add_file(1, VT_IMAGE_FILE, "small");
	add_file(2, VT_IMAGE_FILE, "cut");
	check_symbol(1, 0x1000, "_text", 0x401000, VT_KNOWN);
	check_symbol(1, 0x1010, NULL, 0, VT_UNKNOWN_NO_SYMBOL);
	check_symbol(2, 0x1000, "_text", 0x401000, VT_KNOWN);
	check_symbol(2, 0x1010, NULL, 0, VT_UNKNOWN_CUT);
}

/* Each question alone opens the file. */
static void test_first_questions(void **state)
{
	enum vt_unknown why;
	unsigned i;

	(void)state;
	for (i = 0; i < 6; i++) {
		uint64_t offset = 0;
		bool known;

		begin(":");
		add(1, VT_IMAGE_FILE, toolbox_path(dir, "p"), true);
		known = i == 0	 ? vt_images_elf(images, 1, &why) != NULL
			: i == 1 ? vt_images_symbols(images, 1, 1, &why) != NULL
			: i == 2 ? vt_images_lines(images, 1) != NULL
			: i == 3 ? vt_images_data(images, 1) != NULL
			: i == 4 ? vt_images_unwind(images, 1) != NULL
				 : vt_images_verified(images, 1);
		assert_true(known);
		assert_int_equal(vt_images_missing(images, 0), VT_KNOWN);
		assert_int_equal(vt_images_get(images, 1)->machine, VT_MACHINE_X86_64);
		assert_true(vt_images_offset(images, 1, 0x402010, &offset));
		assert_int_equal(offset, WORK);
	}
	begin(":");
	add_file(1, VT_IMAGE_FILE, "p");
	assert_true(vt_images_offset(images, 1, 0x402010, &(uint64_t){0}));
}

static void test_names(void **state)
{
	struct vt_location loc;

	(void)state;
	begin(":");
	add_file(1, VT_IMAGE_FILE, "p");
	add_file(2, VT_IMAGE_FILE, "gone");
	/* Only what was looked for is missing. */
	assert_int_equal(vt_images_missing(images, 1), VT_KNOWN);
	assert_int_equal(vt_images_symbol(images, 1, 1, WORK, &loc), VT_KNOWN);
	assert_string_equal(vt_images_display(images, 1, 1, loc.symbol), "work");
	assert_string_equal(vt_images_display(images, 2, 1, loc.symbol), "_Z4workv");
	assert_int_equal(vt_images_missing(images, 1), VT_UNKNOWN_NO_FILE);
}

/* ---- the kernel and its modules ---- */

#define KERNEL "[kernel.kallsyms]_text"

/* A file of it, with symbols or without. */
static void test_vmlinux(void **state)
{
	enum vt_unknown why;
	uint64_t offset;

	(void)state;
	begin("cp p " PLACE "/elf");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	check_symbol(1, 0x10, "_Z4workv", 0x402010, VT_KNOWN);
	assert_true(vt_images_verified(images, 1));
	assert_true(vt_images_offset(images, 1, 0x402020, &offset));
	assert_int_equal(offset, 0x20);
	/* Its addresses do not look like a kernel's: none is told from an offset. */
	check_symbol(1, UINT64_C(1) << 63, NULL, 0, VT_UNKNOWN_NO_SYMBOL);
	assert_non_null(vt_images_elf(images, 1, &why));
	assert_int_equal(why, VT_KNOWN);
	assert_string_equal(warning, "");

	begin("cp bare " PLACE "/elf && printf 'ffffffff9a000000 T _text\\n"
	      "ffffffff9a000010 T listed\\n' >" PLACE "/kallsyms");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	check_symbol(1, 0x10, "listed", 0xffffffff9a000010, VT_KNOWN);
	begin("cp bare " PLACE "/elf");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	check_symbol(1, 0x10, NULL, 0, VT_UNKNOWN_NO_KALLSYMS);
}

/* A list of its symbols: where the upper half of addresses begins, hidden ones, none at all. */
static void test_kallsyms(void **state)
{
	(void)state;
	begin("printf '8000000000000000 T _text\\n8000000000000010 T next\\n' >" PLACE "/kallsyms");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	check_symbol(1, UINT64_C(1) << 63, "_text", UINT64_C(1) << 63, VT_KNOWN);
	check_symbol(1, 0x10, "next", (UINT64_C(1) << 63) + 0x10, VT_KNOWN);
	begin("printf '7fffffffffffff00 T _text\\n8000000000000000 T next\\n' >" PLACE "/kallsyms");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	check_symbol(1, 0x100, "next", UINT64_C(1) << 63, VT_KNOWN);
	check_symbol(1, UINT64_C(1) << 63, NULL, 0, VT_UNKNOWN_NO_SYMBOL);
	begin("printf '0000000000000000 T _text\\n0000000000000000 T next\\n' >" PLACE "/kallsyms");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	check_symbol(1, 0, NULL, 0, VT_UNKNOWN_NO_KALLSYMS);
	begin(": >" PLACE "/kallsyms");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	check_symbol(1, 0, NULL, 0, VT_UNKNOWN_STRIPPED);
}

/* Its own file goes before the kernel's list; offsets count from where it was loaded then. */
static void test_modules(void **state)
{
	const char *list = "printf 'ffffffff9a000000 T _text\\nffffffffc0400010 t in_p\\t[p]\\n"
			   "ffffffffc0400020 t in_empty\\t[empty]\\n' >" PLACE "/kallsyms";

	(void)state;
	begin(list);
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	add_file(2, VT_IMAGE_MODULE, "p");
	add_file(3, VT_IMAGE_MODULE, "empty");
	add(4, VT_IMAGE_MODULE, "[p]", false);
	vt_images_set_base(images, 2, 0xffffffffc0400000);
	vt_images_set_base(images, 3, 0xffffffffc0400000);
	vt_images_set_base(images, 4, 0xffffffffc0400000);
	vt_images_set_base(images, 4, 0xffffffffc0500000);
	check_symbol(2, WORK, "_Z4workv", 0x402010, VT_KNOWN);
	check_symbol(3, 0x21, "in_empty", 0xffffffffc0400021, VT_KNOWN);
	check_symbol(4, 0x11, "in_p", 0xffffffffc0400011, VT_KNOWN);
	assert_false(vt_images_stripped(images, 3));
	/* Without a kernel, with one that has no list, with one that is another file by now. */
	begin(list);
	add(2, VT_IMAGE_MODULE, "[p]", false);
	check_symbol(2, 0x11, NULL, 0, VT_UNKNOWN_NO_FILE);
	assert_int_equal(vt_images_missing(images, 0), VT_KNOWN);
	begin(":");
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	add(2, VT_IMAGE_MODULE, "[p]", false);
	check_symbol(2, 0x11, NULL, 0, VT_UNKNOWN_NO_KALLSYMS);
	begin(list);
	add(1, VT_IMAGE_KERNEL, KERNEL, true);
	add(1, VT_IMAGE_FILE, "/x", false);
	add(2, VT_IMAGE_MODULE, "[p]", false);
	check_symbol(2, 0x11, NULL, 0, VT_UNKNOWN_NO_FILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_first_questions), cmocka_unit_test(test_names),
		cmocka_unit_test(test_vmlinux),		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
