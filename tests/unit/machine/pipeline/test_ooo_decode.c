/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that no micro-op cache holds: when each instruction is decoded, worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/ooo_decode.h"

#define START 1000 /* the first cycle */

/* As Skylake: 16 bytes, 5 lengths, 4 decoders and 5 slots in a cycle. */
static const struct vt_core skylake = {.decode = 4,
				       .fetch_bytes = 16,
				       .predecode = 5,
				       .fetch_queue = 25,
				       .decoders = 4,
				       .decoded = 5,
				       .prefix = 3};

static struct vt_mop insn(unsigned length, unsigned slots)
{
	return (struct vt_mop){.length = (uint8_t)length, .decoded = (uint8_t)slots};
}

/* Decodes n times `op`, of which the last is decoded in cycle `last`, counted from the first's. */
static void expect_last(const struct vt_core *m, struct vt_mop op, unsigned n, uint64_t last)
{
	struct vti_decode d;
	uint64_t at = 0, first = 0;
	unsigned i;

	vti_decode_init(&d, START);
	for (i = 0; i < n; i++) {
		at = vti_decode_run(&d, m, &op, 0);
		if (i == 0)
			first = at;
	}
	assert_int_equal(at - first, last);
}

static void lengths_are_found_block_by_block(void **state)
{
	struct vt_mop op;

	(void)state;
	/* 2 in 16 bytes; the 33rd begins block 16. */
	expect_last(&skylake, insn(8, 1), 33, 16);
	/* 5 bytes, opcode first: 4, 4, 3, 4, 3 begin and end in a block or take part of the next.
	 */
	expect_last(&skylake, insn(5, 1), 17, 5);
	/* 16 of one byte: 5, 5, 5 and 1 of each block, and the decoders take 4 a cycle. */
	expect_last(&skylake, insn(1, 1), 17, 4);
	/* 3 bytes, behind a prefix: blocks of 48 bytes have 5, then 5 and a part, then 6: 5 cycles.
	 */
	op = insn(3, 1);
	op.prefixes = 1;
	expect_last(&skylake, op, 16 * 8 + 1, 5 * 8);
}

static void prefixes_that_change_lengths_take_cycles(void **state)
{
	struct vt_mop op = insn(8, 1), many = insn(1, 1);
	struct vti_decode d;
	unsigned i;

	(void)state;
	/* 3 cycles each, and one for each block. */
	op.changes_size = true;
	expect_last(&skylake, op, 3, 3 + 3 + 1);
	/* A block of 16 lengths took 4 cycles, 3 of which hide a prefix of the next. */
	vti_decode_init(&d, START);
	for (i = 0; i < 16; i++)
		vti_decode_run(&d, &skylake, &many, 0);
	assert_int_equal(vti_decode_run(&d, &skylake, &op, 0), START + 4);
	/* The next one is not hidden. */
	assert_int_equal(vti_decode_run(&d, &skylake, &op, 0), START + 7);
}

static void only_the_first_decoder_takes_many_slots(void **state)
{
	struct vt_mop one = insn(1, 1), two = insn(1, 2), four = insn(1, 4), long_one = insn(1, 9);
	struct vt_mop pop = insn(1, 1);
	struct vt_core haswell = skylake;
	struct vti_decode d;

	(void)state;
	expect_last(&skylake, two, 5, 4);
	/* Behind 2 slots there is room for 3, behind 4 for one. */
	vti_decode_init(&d, START);
	assert_int_equal(vti_decode_run(&d, &skylake, &two, 0), START);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START + 1);
	assert_int_equal(vti_decode_run(&d, &skylake, &four, 0), START + 2);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START + 2);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START + 3);
	/* Microcode: 9 slots, 4 a cycle; nothing else in its last cycle. */
	assert_int_equal(vti_decode_run(&d, &skylake, &long_one, 0), START + 6);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START + 7);
	/* "pop r12" is the last of its cycle; on Haswell also the first. */
	pop.ends_group = true;
	assert_int_equal(vti_decode_run(&d, &skylake, &pop, 0), START + 7);
	assert_int_equal(vti_decode_run(&d, &skylake, &one, 0), START + 8);
	haswell.pop_first = 1;
	assert_int_equal(vti_decode_run(&d, &haswell, &pop, 0), START + 9);
}

static void a_full_queue_stops_lengths(void **state)
{
	struct vt_mop op = insn(1, 1);
	struct vti_decode d;
	unsigned i;

	(void)state;
	/* The decoders may not begin before cycle 1100: then the 26th takes the first one's place.
	 */
	vti_decode_init(&d, START);
	for (i = 0; i < 25; i++)
		assert_int_equal(vti_decode_run(&d, &skylake, &op, START + 100),
				 START + 100 + i / 4);
	/* 5, 5, 5 and 1 of the first block, 5 and 4 of the second. */
	assert_int_equal(d.found, START + 5);
	assert_int_equal(vti_decode_run(&d, &skylake, &op, 0), START + 106);
	assert_int_equal(d.found, START + 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_are_found_block_by_block),
		cmocka_unit_test(prefixes_that_change_lengths_take_cycles),
		cmocka_unit_test(only_the_first_decoder_takes_many_slots),
		cmocka_unit_test(a_full_queue_stops_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
