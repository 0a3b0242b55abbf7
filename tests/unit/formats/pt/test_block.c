/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Basic blocks: where they end, across sections, cut, and when the code changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/block.h"

#define BASE 0x400000

static void add(struct vt_pt_code *c, uint64_t start, const void *bytes, uint64_t size)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_section s = {start, size, bytes, NULL, 0};

	assert_int_equal(vt_pt_code_add(c, &s, &err), 0);
}

static const struct vt_pt_block *at(struct vt_pt_blocks *b, uint64_t ip, unsigned mode)
{
	uint32_t index;

	assert_int_equal(vt_pt_blocks_at(b, ip, mode, &index), 0);
	assert_true(index < vt_pt_blocks_count(b));
	return vt_pt_blocks_get(b, index);
}

struct example {
	unsigned mode;
	unsigned end;
	unsigned kind; /* of the BLOCK record */
	unsigned insns;
	unsigned last;
	uint64_t target;
	unsigned size;
	uint8_t bytes[16];
};

static const struct example examples[] = {
	{64, VT_PT_END_COND, VT_END_BRANCH, 2, 2, BASE + 1, 3, {0x90, 0x74, 0xfe}},
	{64, VT_PT_END_COND, VT_END_BRANCH, 1, 2, BASE + 4, 2, {0xe2, 2}},
	{64, VT_PT_END_COND, VT_END_BRANCH, 1, 3, BASE, 3, {0x67, 0xe3, 0xfd}},
	{64, VT_PT_END_JUMP, VT_END_JUMP, 1, 5, BASE + 0x105, 5, {0xe9, 0, 1}},
	/* In 64-bit code of Intel's a near branch has 32 bits whatever the prefix. */
	{64, VT_PT_END_JUMP, VT_END_JUMP, 1, 6, BASE + 0x106, 6, {0x66, 0xe9, 0, 1}},
	{32, VT_PT_END_JUMP, VT_END_JUMP, 1, 4, BASE + 0x104, 4, {0x66, 0xe9, 0, 1}},
	{16, VT_PT_END_JUMP, VT_END_JUMP, 1, 3, BASE + 0x103, 3, {0xe9, 0, 1}},
	{64, VT_PT_END_CALL, VT_END_CALL, 1, 5, BASE + 4, 5, {0xe8, 0xff, 0xff, 0xff, 0xff}},
	{64, VT_PT_END_RET, VT_END_RETURN, 2, 2, 0, 3, {0x90, 0xf3, 0xc3}},
	{64, VT_PT_END_RET, VT_END_RETURN, 1, 3, 0, 3, {0xc2, 8, 0}},
	{64, VT_PT_END_JUMP_INDIRECT, VT_END_JUMP_INDIRECT, 1, 3, 0, 3, {0x3e, 0xff, 0xe0}},
	{64, VT_PT_END_JUMP_INDIRECT, VT_END_JUMP_INDIRECT, 1, 6, 0, 6, {0xff, 0x25, 1, 2, 3, 4}},
	{64, VT_PT_END_CALL_INDIRECT, VT_END_CALL_INDIRECT, 1, 3, 0, 3, {0x41, 0xff, 0xd7}},
	{64, VT_PT_END_FAR_CALL, VT_END_SYSCALL, 2, 2, 0, 7, {0xb8, 60, 0, 0, 0, 0x0f, 0x05}},
	{32, VT_PT_END_FAR_CALL, VT_END_SYSCALL, 1, 2, 0, 2, {0xcd, 0x80}},
	{32, VT_PT_END_FAR_CALL, VT_END_SYSCALL, 1, 2, 0, 2, {0x0f, 0x34}},
	{64, VT_PT_END_FAR_CALL, VT_END_SYSCALL, 1, 3, 0, 3, {0x0f, 0x01, 0xc1}},
	{64, VT_PT_END_FAR_RET, VT_END_OTHER, 1, 2, 0, 2, {0x48, 0xcf}},
	{64, VT_PT_END_FAR_RET, VT_END_OTHER, 1, 3, 0, 3, {0x48, 0x0f, 0x07}},
	{64, VT_PT_END_FAR_RET, VT_END_OTHER, 1, 3, 0, 3, {0x0f, 0x01, 0xc2}},
	{64, VT_PT_END_FAR_JUMP, VT_END_OTHER, 1, 3, 0, 3, {0x48, 0xff, 0x28}},
	{32, VT_PT_END_FAR_JUMP, VT_END_OTHER, 1, 7, 0, 7, {0xea, 1, 2, 3, 4, 5, 6}},
	/* A repeated instruction is one; ud2 and hlt leave no trace of their own. */
	{64, VT_PT_END_RET, VT_END_RETURN, 4, 1, 0, 6, {0xf3, 0xa4, 0x0f, 0x0b, 0xf4, 0xc3}},
	{64, VT_PT_END_NO_CODE, VT_END_FALL, 2, 1, 0, 2, {0x90, 0x90}},
	{64, VT_PT_END_BAD_CODE, VT_END_FALL, 1, 1, 0, 1, {0x90, 0x0f}},
};

static void test_ends(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct example *e = &examples[i];
		struct vt_pt_code *c = vt_pt_code_new();
		struct vt_pt_blocks *b = vt_pt_blocks_new(c);
		const struct vt_pt_block *k;

		add(c, BASE, e->bytes, e->size + (e->end == VT_PT_END_BAD_CODE));
		k = at(b, BASE, e->mode);
		assert_int_equal(k->end, e->end);
		assert_int_equal(vt_pt_end_kind(k->end), e->kind);
		assert_int_equal(k->insns, e->insns);
		assert_int_equal(k->last, e->last);
		assert_int_equal(k->target, e->target);
		assert_int_equal(k->size, e->size);
		assert_int_equal(k->next, BASE + e->size);
		assert_int_equal(k->mode, e->mode);
		assert_int_equal(k->id, VT_PT_NO_ID);
		assert_memory_equal(vt_pt_block_code(b, k), e->bytes, e->size);
		vt_pt_blocks_free(b);
		vt_pt_code_free(c);
	}
}

static void test_nowhere(void **state)
{
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	const struct vt_pt_block *k = at(b, BASE, 64);

	(void)state;
	assert_int_equal(k->end, VT_PT_END_NO_CODE);
	assert_int_equal(k->insns, 0);
	assert_int_equal(k->size, 0);
	assert_int_equal(k->next, BASE);
	/* Up to the last byte of the address space, and not beyond. */
	add(c, UINT64_MAX, "\x90", 1);
	add(c, 0, "\xc3", 1);
	k = at(b, UINT64_MAX, 64);
	assert_int_equal(k->insns, 2);
	assert_int_equal(k->next, 1);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* A straight run is cut where it is longest, and goes on. */
static void test_long(void **state)
{
	static uint8_t nops[1000];
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	const struct vt_pt_block *k;

	(void)state;
	memset(nops, 0x90, sizeof(nops));
	nops[999] = 0xc3;
	add(c, BASE, nops, sizeof(nops));
	k = at(b, BASE, 64);
	assert_int_equal(k->end, VT_PT_END_FALL);
	assert_int_equal(k->insns, VT_PT_MAX_INSNS);
	k = at(b, k->next + 512, 64);
	assert_int_equal(k->insns, 1000 - 512 - VT_PT_MAX_INSNS);
	assert_int_equal(k->end, VT_PT_END_RET);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* Code that goes on at address 0 is one block, with all of its bytes. */
static void test_around(void **state)
{
	static const uint8_t end[] = {0x90, 0xb8, 1, 2, 3, 4}, begin[] = {0x31, 0xc0, 0xc3};
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	const struct vt_pt_block *k;

	(void)state;
	add(c, 0 - (uint64_t)sizeof(end), end, sizeof(end));
	add(c, 0, begin, sizeof(begin));
	k = at(b, 0 - (uint64_t)sizeof(end), 64);
	assert_int_equal(k->end, VT_PT_END_RET);
	assert_int_equal(k->size, sizeof(end) + sizeof(begin));
	assert_memory_equal(vt_pt_block_code(b, k), end, sizeof(end));
	assert_memory_equal(vt_pt_block_code(b, k) + sizeof(end), begin, sizeof(begin));
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* mov eax, imm; jmp: split into two sections at each byte, together in memory or apart. */
static void test_across(void **state)
{
	static const uint8_t whole[] = {0x90, 0xb8, 1, 2, 3, 4, 0xe9, 0, 1, 0, 0};
	uint8_t elsewhere[sizeof(whole)];
	unsigned split, apart;

	(void)state;
	memcpy(elsewhere, whole, sizeof(whole));
	for (split = 1; split < sizeof(whole); split++) {
		for (apart = 0; apart < 2; apart++) {
			struct vt_pt_code *c = vt_pt_code_new();
			struct vt_pt_blocks *b = vt_pt_blocks_new(c);
			const uint8_t *rest = apart ? elsewhere : whole;
			const struct vt_pt_block *k;

			add(c, BASE, whole, split);
			k = at(b, BASE, 64);
			assert_int_equal(k->end, split == 1 || split == 6 ? VT_PT_END_NO_CODE
									  : VT_PT_END_BAD_CODE);
			/* What is added goes on with a block that was cut off. */
			add(c, BASE + split, rest + split, sizeof(whole) - split);
			k = at(b, BASE, 64);
			assert_int_equal(k->end, VT_PT_END_JUMP);
			assert_int_equal(k->insns, 3);
			assert_int_equal(k->target, BASE + sizeof(whole) + 0x100);
			assert_memory_equal(vt_pt_block_code(b, k), whole, sizeof(whole));
			assert_memory_equal(vt_pt_block_lengths(b, k), "\x01\x05\x05", 3);
			vt_pt_blocks_free(b);
			vt_pt_code_free(c);
		}
	}
}

static void test_numbers(void **state)
{
	static const uint8_t code[] = {0x90, 0x90, 0xc3};
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	uint32_t first, again, other, cut, i, index;

	(void)state;
	add(c, BASE, code, sizeof(code));
	vt_pt_blocks_at(b, BASE, 64, &first);
	assert_int_equal(vt_pt_blocks_cut(b, first, 1, &cut), 0);
	vt_pt_blocks_at(b, BASE, 32, &other);
	vt_pt_blocks_at(b, BASE, 64, &again);
	assert_int_equal(first, again);
	assert_int_not_equal(first, other);
	/* The table grows and loses nothing. */
	for (i = 0; i < 20000; i++) {
		vt_pt_blocks_at(b, BASE + 16 + i, 64, &index);
		assert_int_equal(index, 3 + i);
	}
	for (i = 0; i < 20000; i++) {
		vt_pt_blocks_at(b, BASE + 16 + i, 64, &index);
		assert_int_equal(index, 3 + i);
	}
	vt_pt_blocks_at(b, BASE, 32, &again);
	assert_int_equal(other, again);
	assert_int_equal(vt_pt_blocks_cut(b, first, 1, &again), 0);
	assert_int_equal(cut, again);
	/* No two slots are one. */
	assert_int_equal(b->used, 20003);
	assert_true(b->mask >= 2 * b->used - 1);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

static void test_cut(void **state)
{
	/* ptwrite eax; nop; jz */
	static const uint8_t code[] = {0xf3, 0x0f, 0xae, 0xe0, 0x90, 0x74, 0x10};
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	const struct vt_pt_block *k;
	uint32_t whole, cut, again;

	(void)state;
	add(c, BASE, code, sizeof(code));
	vt_pt_blocks_at(b, BASE, 64, &whole);
	vt_pt_blocks_get(b, whole)->id = 7;
	assert_int_equal(vt_pt_blocks_get(b, whole)->marks, VT_PT_MARK_PTWRITE);
	assert_int_equal(vt_pt_blocks_cut(b, whole, 2, &cut), 0);
	k = vt_pt_blocks_get(b, cut);
	assert_int_equal(k->insns, 2);
	assert_int_equal(k->size, 5);
	assert_int_equal(k->last, 1);
	assert_int_equal(k->next, BASE + 5);
	assert_int_equal(k->end, VT_PT_END_FALL);
	assert_int_equal(k->target, 0);
	assert_int_equal(k->marks, VT_PT_MARK_PTWRITE);
	assert_int_equal(k->id, VT_PT_NO_ID);
	assert_memory_equal(vt_pt_block_code(b, k), code, 5);
	assert_int_equal(vt_pt_blocks_cut(b, whole, 2, &again), 0);
	assert_int_equal(again, cut);
	vt_pt_blocks_cut(b, whole, 1, &again);
	assert_int_not_equal(again, cut);
	vt_pt_blocks_at(b, BASE + 4, 64, &whole);
	vt_pt_blocks_cut(b, whole, 1, &cut);
	assert_int_equal(vt_pt_blocks_get(b, cut)->marks, 0);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* What instructions are marked for counts wherever they lie in what is left. */
static void test_cut_marks(void **state)
{
	/* nop; ptwrite eax; mov cr3, rax; nop; jmp */
	static const uint8_t code[] = {0x90, 0xf3, 0x0f, 0xae, 0xe0, 0x0f,
				       0x22, 0xd8, 0x90, 0xeb, 0x10};
	static const uint8_t marks[] = {0, VT_PT_MARK_PTWRITE, VT_PT_MARK_PTWRITE | VT_PT_MARK_CR3,
					VT_PT_MARK_PTWRITE | VT_PT_MARK_CR3};
	static const uint8_t sizes[] = {1, 5, 8, 9}, lasts[] = {1, 4, 3, 1};
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	uint32_t whole, cut, i;

	(void)state;
	add(c, BASE, code, sizeof(code));
	vt_pt_blocks_at(b, BASE, 64, &whole);
	for (i = 0; i < 4; i++) {
		const struct vt_pt_block *k;

		assert_int_equal(vt_pt_blocks_cut(b, whole, i + 1, &cut), 0);
		k = vt_pt_blocks_get(b, cut);
		assert_int_equal(cut, 1 + i);
		assert_int_equal(k->insns, i + 1);
		assert_int_equal(k->marks, marks[i]);
		assert_int_equal(k->size, sizes[i]);
		assert_int_equal(k->last, lasts[i]);
		assert_int_equal(k->end, VT_PT_END_FALL);
		assert_int_equal(k->target, 0);
		assert_memory_equal(vt_pt_block_lengths(b, k), "\1\4\3\1\2", i + 1);
	}
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

static void test_changes(void **state)
{
	static const uint8_t old[] = {0x90, 0x90, 0xc3, 0x90, 0xc3}, patch[] = {0xcc};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	uint32_t first, second, i, index;

	(void)state;
	add(c, BASE, old, sizeof(old));
	vt_pt_blocks_at(b, BASE, 64, &first);
	vt_pt_blocks_at(b, BASE + 3, 64, &second);
	add(c, BASE + 1, patch, sizeof(patch));
	vt_pt_blocks_at(b, BASE + 3, 64, &index);
	assert_int_equal(index, second);
	vt_pt_blocks_at(b, BASE, 64, &index);
	assert_int_not_equal(index, first);
	assert_int_equal(vt_pt_blocks_get(b, index)->end, VT_PT_END_FAR_CALL);
	assert_int_equal(vt_pt_blocks_get(b, first)->end, VT_PT_END_RET);
	assert_memory_equal(vt_pt_block_code(b, vt_pt_blocks_get(b, first)), old, 3);
	vt_pt_code_remove(c, BASE, 16, &err);
	vt_pt_blocks_at(b, BASE + 3, 64, &index);
	assert_int_equal(vt_pt_blocks_get(b, index)->end, VT_PT_END_NO_CODE);
	/* Changes elsewhere cost no numbers, however many there are. */
	add(c, BASE, old, sizeof(old));
	vt_pt_blocks_at(b, BASE, 64, &first);
	for (i = 0; i < 1000; i++) {
		add(c, BASE + 4096, old, sizeof(old));
		vt_pt_blocks_at(b, BASE, 64, &index);
		assert_int_equal(index, first);
	}
	/* After so many, new ones are found again, too. */
	vt_pt_blocks_at(b, BASE + 1, 64, &first);
	vt_pt_blocks_at(b, BASE + 1, 64, &index);
	assert_int_equal(index, first);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* Whether the block at BASE keeps its number when code is added. */
static bool keeps(struct vt_pt_blocks *b, struct vt_pt_code *c, uint64_t start, const void *bytes,
		  size_t size)
{
	uint32_t before, after;

	vt_pt_blocks_at(b, BASE, 64, &before);
	add(c, start, bytes, size);
	vt_pt_blocks_at(b, BASE, 64, &after);
	return before == after;
}

/* The same bytes elsewhere in memory are the same block, whatever lies behind it. */
static void test_same_bytes(void **state)
{
	static const uint8_t old[] = {0x90, 0xb8, 1, 2, 3, 4, 0xc3, 0x90};
	uint8_t new[sizeof(old)], others[sizeof(old)];
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	size_t i;

	(void)state;
	memcpy(new, old, sizeof(old));
	new[7] = 0xcc;
	add(c, BASE, old, sizeof(old));
	assert_ptr_equal(vt_pt_block_code(b, at(b, BASE, 64)), old);
	assert_true(keeps(b, c, BASE, new, sizeof(new)));
	/* Of two sections, each counts. */
	assert_true(keeps(b, c, BASE + 4, old + 4, 4));
	assert_true(keeps(b, c, BASE + 2, old + 2, 3));
	for (i = 0; i < 8; i++) {
		add(c, BASE, old, sizeof(old));
		others[i] = old[i] ^ 1;
		assert_int_equal(keeps(b, c, BASE + i, &others[i], 1), i == 7);
	}
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* A block that ends where no code is, or none that is good, is the same until that changes. */
static void test_unfinished(void **state)
{
	static const uint8_t nop[] = {0x90}, bad[] = {0x0f};
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);

	(void)state;
	add(c, BASE, nop, 1);
	assert_int_equal(at(b, BASE, 64)->end, VT_PT_END_NO_CODE);
	assert_true(keeps(b, c, BASE + 2, nop, 1));
	assert_int_equal(vt_pt_blocks_count(b), 1);
	assert_false(keeps(b, c, BASE + 1, nop, 1));
	assert_int_equal(at(b, BASE, 64)->insns, 3);
	assert_false(keeps(b, c, BASE + 3, bad, 1));
	assert_int_equal(at(b, BASE, 64)->insns, 3);
	assert_int_equal(at(b, BASE, 64)->end, VT_PT_END_BAD_CODE);
	assert_true(keeps(b, c, BASE + 64, bad, 1));
	assert_false(keeps(b, c, BASE + 4, "\x05", 1));
	assert_int_equal(at(b, BASE, 64)->end, VT_PT_END_FAR_CALL);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* Many blocks whose bytes lie apart: each has its own. */
static void test_many_apart(void **state)
{
	enum { SIZE = 4096, PART = 8 };
	static uint8_t parts[2][SIZE];
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	uint32_t i, k;

	(void)state;
	/* mov al, imm */
	for (i = 0; i < SIZE; i++)
		parts[0][i] = parts[1][i] = i % 2 ? (uint8_t)(i * 7 / 5) : 0xb0;
	for (i = 0; i < SIZE; i += PART)
		add(c, BASE + i, parts[i / PART % 2] + i, PART);
	for (i = 0; i < SIZE / 2; i += 2)
		assert_int_equal(at(b, BASE + i, 64)->size, 2 * VT_PT_MAX_INSNS);
	for (i = k = 0; i < SIZE / 2; i += 2, k++)
		assert_memory_equal(vt_pt_block_code(b, vt_pt_blocks_get(b, k)), parts[0] + i,
				    2 * VT_PT_MAX_INSNS);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

/* Numbers of epochs begin again after 2^24: what is known of the old ones is forgotten, not before.
 */
static void test_epochs(void **state)
{
	static const uint8_t code[] = {0x90, 0xc3};
	struct vt_pt_code *c = vt_pt_code_new();
	struct vt_pt_blocks *b = vt_pt_blocks_new(c);
	uint32_t first, second, index;

	(void)state;
	add(c, BASE, code, sizeof(code));
	vt_pt_blocks_at(b, BASE, 64, &first);
	vt_pt_blocks_at(b, BASE + 1, 64, &second);
	b->epoch = (1U << 24) - 2;
	add(c, BASE + 4096, code, sizeof(code));
	vt_pt_blocks_at(b, BASE, 64, &index);
	assert_int_equal(index, first);
	assert_int_equal(b->epoch, (1U << 24) - 1);
	assert_int_equal(b->used, 2);
	add(c, BASE + 4096, code, sizeof(code));
	vt_pt_blocks_at(b, BASE, 64, &index);
	assert_int_equal(index, 2);
	assert_int_equal(b->epoch, 0);
	assert_int_equal(b->used, 1);
	vt_pt_blocks_at(b, BASE, 64, &index);
	assert_int_equal(index, 2);
	vt_pt_blocks_at(b, BASE + 1, 64, &index);
	assert_int_equal(index, 3);
	assert_int_equal(b->used, 2);
	assert_int_equal(b->epoch, 0);
	vt_pt_blocks_free(b);
	vt_pt_code_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),	   cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_long),	   cmocka_unit_test(test_across),
		cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changes),	   cmocka_unit_test(test_around),
		cmocka_unit_test(test_epochs),	   cmocka_unit_test(test_cut_marks),
		cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_many_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
