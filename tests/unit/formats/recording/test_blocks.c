/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

/* The table of basic blocks: what is known of each, and blocks at the limits of the format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "formats/recording/blocks.h"
#include "stream/bblock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t slot(uint32_t insn, uint32_t size)
{
	return (uint64_t)size << 32 | 1 << 16 | insn;
}

static void refuse(struct rc_blocks *t, const struct rc_block *b, const char *why)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vti_rc_blocks_add(t, b, &err), -VT_E_DAMAGED);
	assert_int_equal(strncmp(err.text, "a basic block with a bad ", 25), 0);
	assert_string_equal(err.text + 25, why);
}

static void take(struct rc_blocks *t, const struct rc_block *b)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vti_rc_blocks_add(t, b, &err), 0);
}

/* Takes a block into an empty table, or refuses it. */
static void try_block(const struct rc_block *b, const char *why)
{
	struct rc_blocks t = {0};

	if (why)
		refuse(&t, b, why);
	else
		take(&t, b);
	assert_int_equal(t.known, why ? 0 : 1);
	vti_rc_blocks_fini(&t);
	assert_null(t.sums);
	assert_int_equal(t.end, 0);
}

static void instructions(void **state)
{
	static const char length[] = "length of an instruction", size[] = "size";
	static const struct {
		uint8_t lengths[3];
		uint32_t ninsns, size;
		const char *why;
	} rows[] = {
		{{1}, 1, 1, NULL},	     {{15}, 1, 15, NULL},
		{{16}, 1, 16, length},	     {{0}, 1, 0, length},
		{{7, 8, 9}, 3, 24, NULL},    {{7, 8, 9}, 3, 23, size},
		{{7, 8, 9}, 3, 25, size},    {{7, 0, 9}, 3, 16, length},
		{{7, 8, 16}, 3, 31, length}, {{1}, 0, 0, "number of instructions"},
	};
	uint8_t lengths[VT_MAX_BLOCK_INSNS + 1];
	struct rc_block b = {.id = 1, .lengths = lengths};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		const struct rc_block one = {.id = 1,
					     .size = rows[i].size,
					     .ninsns = rows[i].ninsns,
					     .lengths = rows[i].lengths};

		try_block(&one, rows[i].why);
	}
	memset(lengths, 1, sizeof(lengths));
	b.size = b.ninsns = 1024;
	try_block(&b, NULL);
	b.size = b.ninsns = 1025;
	try_block(&b, "number of instructions");
}

static void values(void **state)
{
	static const char order[] = "slots", sum[] = "size of its values";
	static const uint8_t lengths[] = {1, 1};
	static const struct {
		uint32_t insns[2], sizes[2], data_size;
		const char *why;
	} rows[] = {
		{{0, 0}, {1, 2}, 3, NULL},	 {{0, 1}, {1, 2}, 3, NULL},
		{{1, 1}, {1024, 1}, 1025, NULL}, {{0, 1}, {1025, 1}, 1026, order},
		{{0, 1}, {1, 0}, 1, order},	 {{1, 0}, {1, 1}, 2, order},
		{{0, 2}, {1, 1}, 2, order},	 {{0, 1}, {1, 1}, 1, sum},
		{{0, 1}, {1, 1}, 3, sum},
	};
	uint64_t slots[VT_MAX_BLOCK_SLOTS + 1];
	struct rc_block b = {
		.id = 1, .size = 2, .ninsns = 2, .nslots = 2, .slots = slots, .lengths = lengths};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		slots[0] = slot(rows[i].insns[0], rows[i].sizes[0]);
		slots[1] = slot(rows[i].insns[1], rows[i].sizes[1]);
		b.data_size = rows[i].data_size;
		try_block(&b, rows[i].why);
	}
	for (i = 0; i < COUNT(slots); i++)
		slots[i] = slot(0, 1);
	b.nslots = b.data_size = 1024;
	try_block(&b, NULL);
	b.nslots = b.data_size = 1025;
	try_block(&b, "number of slots");
	/* 65535 bytes of values in all, and one more. */
	for (i = 0; i < 64; i++)
		slots[i] = slot(0, 1024);
	b.nslots = 64;
	b.data_size = 65536;
	try_block(&b, sum);
	slots[63] = slot(1, 1023);
	b.data_size = 65535;
	try_block(&b, NULL);
}

/* An id may leap by so much over how many blocks are known, and is given once. */
static void ids(void **state)
{
	static const uint8_t length = 1;
	struct rc_block b = {.size = 1, .ninsns = 1, .lengths = &length};
	struct rc_blocks t = {0};

	(void)state;
	refuse(&t, &b, "id");
	b.id = 262145;
	refuse(&t, &b, "id");
	b.id = 262144;
	take(&t, &b);
	assert_int_equal(t.end, 262145);
	assert_true(t.sums[262143] == RC_UNKNOWN);
	refuse(&t, &b, "id");
	b.id = 262146;
	refuse(&t, &b, "id");
	b.id = 262145;
	take(&t, &b);
	b.id = 1;
	take(&t, &b);
	refuse(&t, &b, "id");
	assert_int_equal(t.known, 3);
	assert_int_equal(t.end, 262146);
	assert_true(t.sums[1] == (uint64_t)1 << 32);
	assert_true(t.sums[2] == RC_UNKNOWN);
	vti_rc_blocks_fini(&t);
}

/* What the first instructions of each of two blocks leave. */
static void parts(void **state)
{
	static const uint8_t lengths[] = {1, 2, 3, 4};
	static const uint32_t want[2][5] = {{0, 5, 5, 16, 16}, {0, 0, 1024, 1024, 1027}};
	const uint64_t first[] = {slot(0, 5), slot(2, 4), slot(2, 7)};
	const uint64_t second[] = {slot(1, 1024), slot(3, 3)};
	const struct rc_block a = {7, 10, 4, 3, 16, first, lengths};
	const struct rc_block b = {2, 10, 4, 2, 1027, second, lengths};
	struct rc_blocks t = {0};
	uint32_t i;

	(void)state;
	take(&t, &a);
	take(&t, &b);
	for (i = 0; i <= 4; i++) {
		assert_int_equal(vti_rc_data_before(&t, 7, i), want[0][i]);
		assert_int_equal(vti_rc_data_before(&t, 2, i), want[1][i]);
	}
	assert_int_equal(rc_sum_insns(t.sums[2] + t.sums[7]), 8);
	assert_int_equal(rc_sum_data(t.sums[2] + t.sums[7]), 1043);
	vti_rc_blocks_fini(&t);
}

/* All slots are counted by 32 bits: of room for so many only the last pages are there. */
static void slots_of_all_blocks(void **state)
{
	const size_t page = 65536, size = ((size_t)UINT32_MAX + 1) * sizeof(uint32_t);
	static const uint8_t length = 1;
	const uint64_t one = slot(0, 3);
	struct rc_block b = {1, 1, 1, 1, 3, &one, &length};
	struct rc_blocks t = {0};
	uint8_t *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (room == MAP_FAILED)
		skip();
	assert_int_equal(mprotect(room + size - page, page, PROT_READ | PROT_WRITE), 0);
	t.slots = (uint32_t *)(void *)room;
	t.slots_cap = UINT32_MAX;
	t.nslots = UINT32_MAX - 1024;
	refuse(&t, &b, "number of slots of all blocks");
	t.nslots--;
	take(&t, &b);
	assert_int_equal(t.nslots, UINT32_MAX - 1023);
	assert_int_equal(vti_rc_data_before(&t, 1, 1), 3);
	t.slots = NULL;
	vti_rc_blocks_fini(&t);
	munmap(room, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions),
		cmocka_unit_test(values),
		cmocka_unit_test(ids),
		cmocka_unit_test(parts),
		cmocka_unit_test(slots_of_all_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
