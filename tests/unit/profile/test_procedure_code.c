/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine code of procedures: of the file, or of what was recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/procedure_code.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

enum { PROG = 1, PATCHED, LIB, JIT, UNSEEN };

static struct vt_error err;
static char *dir;
static struct scene s;

static const uint8_t push[] = {0x53}, mov[] = {0x48, 0x8b, 0x1f}, inc[] = {0x48, 0xff, 0xc0},
		     dec[] = {0x48, 0xff, 0xc8};

static int begin(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row;

	(void)state;
	dir = toolbox_dir();
	scene_program(dir, scene_walk);
	free(toolbox_run(dir, "cp prog patched && cp prog unseen"));
	scene_image(w, PROG, toolbox_path(dir, "prog"));
	scene_image(w, PATCHED, toolbox_path(dir, "patched"));
	scene_image(w, UNSEEN, toolbox_path(dir, "unseen"));
	scene_image(w, LIB, "/no/such/lib");
	row = vt_writer_row(w, VT_IMAGE);
	row[VT_IMAGE_ID] = JIT;
	row[VT_IMAGE_TYPE] = VT_IMAGE_ANON;
	scene_map(w, 0x400000, PROG);
	scene_map(w, 0x500000, PATCHED);
	scene_map(w, 0x600000, LIB);
	scene_map(w, 0x800000, JIT);
	scene_map(w, 0xa00000, UNSEEN);
	scene_block(w, 0, 0x501004, dec, 3);
	scene_block(w, 1, 0x501007, inc, 3);
	scene_block(w, 2, 0x501019, dec, 3);
	scene_block(w, 3, 0x800101, inc, 3);
	scene_block(w, 4, 0x401000, push, 1);
	scene_block(w, 5, 0xa01004, dec, 3);
	scene_block(w, 6, 0x401001, mov, 3);
	scene_read(&s, fd, w, false);
	vt_images_patch(s.images, PATCHED, 0x1000, 0x1000);
	return 0;
}

static int end(void **state)
{
	(void)state;
	scene_drop(&s);
	toolbox_remove(dir);
	return 0;
}

static int find(uint32_t image, uint64_t start, uint64_t stop, bool blocks, struct vt_proccode *c)
{
	const struct vt_procedure proc = {.image = image, .start = start, .end = stop, .name = "x"};

	*c = (struct vt_proccode){0};
	return vt_proccode_find(s.images, blocks ? s.code : NULL, &proc, c, &err);
}

static void check_error(uint32_t image, uint64_t start, uint64_t stop, bool blocks, int code,
			const char *want)
{
	struct vt_proccode c;

	assert_int_equal(find(image, start, stop, blocks, &c), -code);
	assert_string_equal(err.text, want);
	vt_proccode_fini(&c);
	assert_true(!c.bytes && !c.owned && !c.size);
}

/* As much as the file has, whatever was recorded. */
static void test_file(void **state)
{
	/* push %rbx; mov (%rdi),%rbx; add $1,%rbx */
	static const uint8_t first[] = {0x53, 0x48, 0x8b, 0x1f, 0x48, 0x83, 0xc3, 0x01};
	struct vt_proccode c;
	unsigned blocks;

	(void)state;
	for (blocks = 0; blocks < 2; blocks++) {
		assert_int_equal(find(PROG, 0x401000, 0x401008, blocks, &c), 0);
		assert_int_equal(c.size, 8);
		assert_memory_equal(c.bytes, first, 8);
		assert_null(c.owned);
		vt_proccode_fini(&c);
		assert_int_equal(find(PROG, 0x401000, 0x401000 + (64u << 20), blocks, &c), 0);
		assert_int_equal(c.size, 32);
		vt_proccode_fini(&c);
	}
}

static void test_none(void **state)
{
	(void)state;
	check_error(PROG, 0x401000, 0x401000, true, VT_E_NOTFOUND, "no procedure");
	check_error(PROG, 0x401001, 0x401000, true, VT_E_NOTFOUND, "no procedure");
	check_error(PROG, 0x401000, 0x401001 + (64u << 20), true, VT_E_LIMIT,
		    "x: a procedure of 67108865 bytes");
	check_error(PROG, 0x901000, 0x901010, true, VT_E_NOTFOUND, "x: its code is not there");
	check_error(LIB, 0x10, 0x20, false, VT_E_NOTFOUND, "x: its code is not there");
	check_error(LIB, 0x10, 0x20, true, VT_E_NOTFOUND, "x: its code is not there");
	check_error(JIT, 0x800100, 0x800108, false, VT_E_NOTFOUND, "x: its code is not there");
	check_error(JIT, 0x800104, 0x800108, true, VT_E_NOTFOUND, "x: its code is not there");
	check_error(PATCHED, 0x401000, 0x40101c, false, VT_E_NOTFOUND,
		    "x: its code was patched at run time");
	/* Up to the page that was, and into it. */
	check_error(PATCHED, 0x400ff0, 0x401000, false, VT_E_NOTFOUND, "x: its code is not there");
	check_error(PATCHED, 0x400ff0, 0x401010, false, VT_E_NOTFOUND,
		    "x: its code was patched at run time");
	check_error(PATCHED, 0x401000, 0x401005, true, VT_E_NOTFOUND,
		    "x: its code was patched at run time");
}

/* What ran, and int3 between; an instruction that does not fit is none. */
static void test_recorded(void **state)
{
	uint8_t want[28];
	struct vt_proccode c;

	(void)state;
	memset(want, 0xcc, sizeof(want));
	memcpy(want + 4, dec, 3);
	memcpy(want + 7, inc, 3);
	memcpy(want + 25, dec, 3);
	assert_int_equal(find(PATCHED, 0x401000, 0x40101c, true, &c), 0);
	assert_int_equal(c.size, 28);
	assert_memory_equal(c.bytes, want, 28);
	assert_ptr_equal(c.bytes, c.owned);
	vt_proccode_fini(&c);
	memset(want + 25, 0xcc, 2);
	assert_int_equal(find(PATCHED, 0x401000, 0x40101b, true, &c), 0);
	assert_int_equal(c.size, 27);
	assert_memory_equal(c.bytes, want, 27);
	vt_proccode_fini(&c);
	/* Code that no file has is told by its address. */
	memset(want, 0xcc, 8);
	memcpy(want + 1, inc, 3);
	assert_int_equal(find(JIT, 0x800100, 0x800108, true, &c), 0);
	assert_int_equal(c.size, 8);
	assert_memory_equal(c.bytes, want, 8);
	vt_proccode_fini(&c);
}

/* What ran shows that a procedure was patched, if nothing else does. */
static void test_unseen(void **state)
{
	static const uint8_t want[] = {0xcc, 0xcc, 0xcc, 0xcc, 0x48, 0xff, 0xc8, 0xcc};
	struct vt_proccode c;

	(void)state;
	assert_int_equal(find(UNSEEN, 0x401000, 0x401008, true, &c), 0);
	assert_int_equal(c.size, 8);
	assert_memory_equal(c.bytes, want, 8);
	vt_proccode_fini(&c);
	/* Neither a procedure beside it, nor one that ends within the instruction. */
	assert_int_equal(find(UNSEEN, 0x401007, 0x401010, true, &c), 0);
	assert_null(c.owned);
	vt_proccode_fini(&c);
	assert_int_equal(find(UNSEEN, 0x401000, 0x401006, true, &c), 0);
	assert_null(c.owned);
	vt_proccode_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_unseen),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
