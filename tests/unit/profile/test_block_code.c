/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that was recorded as it ran: in which image it lies, instruction by instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/block_code.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

enum { FIRST = 1, SECOND, JIT };

static const uint8_t inc[] = {0x48, 0xff, 0xc0}, dec[] = {0x48, 0xff, 0xc8}, ret[] = {0xc3};
static const uint8_t two[] = {0x90, 0x48, 0xff, 0xc0}; /* nop; inc */

/* Blocks whose lengths and bytes are told apart; of process 10, but for those at 0x600000. */
static void put_block(struct vt_writer *w, uint64_t id, uint64_t addr, const char *lengths,
		      size_t nlengths, const uint8_t *code, size_t size)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = addr < 0x600000 ? 10 : 11;
	row[VT_BLOCK_ADDR] = addr;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths, nlengths);
	vt_writer_bytes(w, VT_BLOCK_CODE, code, size);
}

static void check(const struct scene *s, uint32_t image, uint64_t offset, const uint8_t *code,
		  size_t size, bool varies)
{
	size_t found = 0;
	const uint8_t *bytes = vt_blockcode_at(s->code, image, offset, &found);

	assert_int_equal(bytes != NULL, code != NULL);
	assert_int_equal(found, size);
	if (code && bytes)
		assert_memory_equal(bytes, code, size);
	assert_int_equal(vt_blockcode_varies(s->code, image, offset), varies);
}

/* In what was mapped at the time; before that, in what comes to be mapped there. */
static void test_images(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct scene s;
	uint64_t *row;

	(void)state;
	scene_image(w, FIRST, "/no/such/a");
	scene_image(w, SECOND, "/no/such/b");
	row = vt_writer_row(w, VT_IMAGE);
	row[VT_IMAGE_ID] = JIT;
	row[VT_IMAGE_TYPE] = VT_IMAGE_ANON;
	scene_block(w, 0, 0x500010, inc, 3);
	scene_map(w, 0x400000, FIRST);
	scene_map(w, 0x800000, JIT);
	scene_block(w, 1, 0x400010, dec, 3);
	scene_block(w, 2, 0x800010, inc, 3);
	scene_block(w, 3, 0x900010, ret, 1);
	scene_map(w, 0x500000, SECOND);
	scene_map(w, 0x400000, SECOND);
	scene_block(w, 4, 0x400020, ret, 1);
	scene_read(&s, fd, w, false);
	check(&s, FIRST, 0x10, dec, 3, false);
	check(&s, FIRST, 0x20, NULL, 0, false);
	check(&s, SECOND, 0x10, inc, 3, false);
	check(&s, SECOND, 0x20, ret, 1, false);
	check(&s, VT_UNMAPPED_IMAGE, 0x800010, inc, 3, false);
	check(&s, JIT, 0x10, NULL, 0, false);
	check(&s, JIT, 0x800010, NULL, 0, false);
	check(&s, VT_UNMAPPED_IMAGE, 0x900010, ret, 1, false);
	check(&s, VT_UNMAPPED_IMAGE, 0x500010, NULL, 0, false);
	scene_drop(&s);
}

/* A process whose mappings are not known has those of another. */
static void test_other_process(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct scene s;

	(void)state;
	scene_image(w, FIRST, "/no/such/a");
	scene_map(w, 0x600000, FIRST);
	put_block(w, 0, 0x600010, "\3", 1, inc, 3);
	put_block(w, 1, 0x700010, "\3", 1, dec, 3);
	scene_read(&s, fd, w, false);
	check(&s, FIRST, 0x10, inc, 3, false);
	check(&s, VT_UNMAPPED_IMAGE, 0x600010, NULL, 0, false);
	check(&s, VT_UNMAPPED_IMAGE, 0x700010, dec, 3, false);
	scene_drop(&s);
}

/* The later code counts; the same again makes no difference.  So before a mapping is known. */
static void test_changes(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct scene s;

	(void)state;
	scene_image(w, FIRST, "/no/such/a");
	scene_image(w, SECOND, "/no/such/b");
	scene_map(w, 0x400000, FIRST);
	scene_block(w, 0, 0x400000, inc, 3);
	scene_block(w, 1, 0x400000, inc, 3);
	scene_block(w, 2, 0x400010, inc, 3);
	scene_block(w, 3, 0x400010, dec, 3);
	scene_block(w, 4, 0x400020, inc, 3);
	scene_block(w, 5, 0x400020, inc, 1);
	scene_block(w, 6, 0x400030, dec, 3);
	scene_block(w, 7, 0x400030, inc, 3);
	scene_block(w, 8, 0x400030, inc, 3);
	scene_block(w, 9, 0x500000, inc, 3);
	scene_block(w, 10, 0x500000, dec, 3);
	scene_block(w, 11, 0x500010, inc, 3);
	scene_block(w, 12, 0x500010, inc, 3);
	scene_map(w, 0x500000, SECOND);
	scene_read(&s, fd, w, false);
	check(&s, FIRST, 0, inc, 3, false);
	check(&s, FIRST, 0x10, dec, 3, true);
	check(&s, FIRST, 0x20, inc, 1, true);
	check(&s, FIRST, 0x30, inc, 3, true);
	check(&s, SECOND, 0, dec, 3, true);
	check(&s, SECOND, 0x10, inc, 3, false);
	scene_drop(&s);
}

/* Each instruction of a block; blocks whose lengths do not add up are none. */
static void test_blocks(void **state)
{
	static const uint8_t nops[32];
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct scene s;

	(void)state;
	scene_image(w, FIRST, "/no/such/a");
	scene_map(w, 0x400000, FIRST);
	put_block(w, 0, 0x400000, "\1\3", 2, two, 4);
	put_block(w, 1, 0x400100, "\1\2", 2, two, 4);
	put_block(w, 2, 0x400200, "\1\4", 2, two, 4);
	put_block(w, 3, 0x400300, "\1\0\3", 3, two, 4);
	put_block(w, 4, 0x400400, "\17", 1, nops, 15);
	put_block(w, 5, 0x400500, "\20", 1, nops, 16);
	put_block(w, 6, 0x400600, "", 0, nops, 0);
	put_block(w, 7, 0x400700, "\1\3", 2, NULL, 0);
	scene_read(&s, fd, w, false);
	check(&s, FIRST, 0, two, 1, false);
	check(&s, FIRST, 1, two + 1, 3, false);
	check(&s, FIRST, 2, NULL, 0, false);
	check(&s, FIRST, 4, NULL, 0, false);
	check(&s, FIRST, 0x100, NULL, 0, false);
	check(&s, FIRST, 0x200, NULL, 0, false);
	check(&s, FIRST, 0x300, NULL, 0, false);
	check(&s, FIRST, 0x400, nops, 15, false);
	check(&s, FIRST, 0x500, NULL, 0, false);
	check(&s, FIRST, 0x600, NULL, 0, false);
	check(&s, FIRST, 0x700, NULL, 0, false);
	scene_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_other_process),
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
