/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory accesses of instructions: of the instruction alone, and of what slots tell of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/insn/access.h"
#include "machine/insn/insn.h"

#define NONE VT_ACCESS_NO_SLOT
#define S(i, w, n)                                                                                 \
	{                                                                                          \
		.insn = (i), .what = VT_WHAT_##w, .size = (n)                                      \
	}

/* ---- without slots ---- */

static const struct {
	const char *text; /* Intel's syntax */
	uint8_t code[10];
	uint8_t size;
	int loads[3]; /* bytes of each, up to 0 */
	int stores[2];
} insns[] = {
	{"push rax", {0x50}, 1, {0}, {8}},
	{"push qword [rax]", {0xff, 0x30}, 2, {8}, {8}},
	{"push ax", {0x66, 0x50}, 2, {0}, {2}},
	{"pop rax", {0x58}, 1, {8}, {0}},
	{"pop qword [rax]", {0x8f, 0x00}, 2, {8}, {8}},
	{"call rel32", {0xe8, 0, 0, 0, 0}, 5, {0}, {8}},
	{"call qword [rax]", {0xff, 0x10}, 2, {8}, {8}},
	{"jmp qword [rax]", {0xff, 0x20}, 2, {8}, {0}},
	{"ret", {0xc3}, 1, {8}, {0}},
	{"mov eax, [rbx]", {0x8b, 0x03}, 2, {4}, {0}},
	{"mov [rbx], al", {0x88, 0x03}, 2, {0}, {1}},
	{"movzx eax, word [rbx]", {0x0f, 0xb7, 0x03}, 3, {2}, {0}},
	{"add [rbx], ecx", {0x01, 0x0b}, 2, {4}, {4}},
	{"inc qword [rbx]", {0x48, 0xff, 0x03}, 3, {8}, {8}},
	{"cmp [rbx], ecx", {0x39, 0x0b}, 2, {4}, {0}},
	{"xchg [rbx], cx", {0x66, 0x87, 0x0b}, 3, {2}, {2}},
	{"rep movsb", {0xf3, 0xa4}, 2, {1}, {1}},
	{"rep movsq", {0xf3, 0x48, 0xa5}, 3, {8}, {8}},
	{"rep stosd", {0xf3, 0xab}, 2, {0}, {4}},
	{"repe cmpsw", {0xf3, 0x66, 0xa7}, 3, {2, 2}, {0}},
	{"movups xmm0, [rax]", {0x0f, 0x10, 0x00}, 3, {16}, {0}},
	{"vmovdqu ymm0, [rax]", {0xc5, 0xfe, 0x6f, 0x00}, 4, {32}, {0}},
	{"vmovdqu [rax], ymm0", {0xc5, 0xfe, 0x7f, 0x00}, 4, {0}, {32}},
	{"vmovdqu64 [rax], zmm0", {0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x00}, 6, {0}, {64}},
	/* One for all of the four elements. */
	{"vgatherdpd ymm0, [rax+xmm1*8], ymm2", {0xc4, 0xe2, 0xed, 0x92, 0x04, 0xc8}, 6, {8}, {0}},
	{"lea rax, [rbx+8]", {0x48, 0x8d, 0x43, 0x08}, 4, {0}, {0}},
	{"nop dword [rax]", {0x0f, 0x1f, 0x00}, 3, {0}, {0}},
	{"prefetcht0 [rax]", {0x0f, 0x18, 0x08}, 3, {0}, {0}},
	{"add eax, ebx", {0x01, 0xd8}, 2, {0}, {0}},
};

static void check_insn(size_t i)
{
	const struct vt_bblock b = {.ninsns = 1};
	struct vt_access_cursor c = {.block = &b};
	struct vt_access_slots a;
	struct vt_facts f;
	const int *want;

	assert_true(vt_facts_decode(insns[i].code, insns[i].size, &f));
	assert_int_equal(f.length, insns[i].size);
	vt_access_start(&c, 0, &f);
	for (want = insns[i].loads; *want; want++) {
		assert_true(vt_access_next(&c, &a));
		assert_false(a.store);
		assert_int_equal(a.size, *want);
		assert_true(a.address == NONE && a.value == NONE && a.guard == NONE);
	}
	for (want = insns[i].stores; want < insns[i].stores + 2 && *want; want++) {
		assert_true(vt_access_next(&c, &a));
		assert_true(a.store);
		assert_int_equal(a.size, *want);
	}
	assert_false(vt_access_next(&c, &a));
	assert_false(vt_access_next(&c, &a));
	assert_int_equal(vt_access_size(&f, false), insns[i].loads[0]);
	assert_int_equal(vt_access_size(&f, true), insns[i].stores[0]);
}

static void alone(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		print_message("%s\n", insns[i].text);
		check_insn(i);
	}
}

/* ---- with slots ---- */

static void expect(struct vt_access_cursor *c, const struct vt_access_slots *want)
{
	struct vt_access_slots a;

	assert_true(vt_access_next(c, &a));
	assert_int_equal(a.address, want->address);
	assert_int_equal(a.value, want->value);
	assert_int_equal(a.guard, want->guard);
	assert_int_equal(a.insn, want->insn);
	assert_int_equal(a.size, want->size);
	assert_int_equal(a.store, want->store);
}

/* Checks one instruction's accesses: address, value, guard, insn, size, store. */
static void check(struct vt_access_cursor *c, uint32_t insn, const struct vt_facts *f, size_t n,
		  const struct vt_access_slots *want)
{
	struct vt_access_slots a;
	size_t i;

	vt_access_start(c, insn, f);
	for (i = 0; i < n; i++)
		expect(c, &want[i]);
	assert_false(vt_access_next(c, &a));
}

static void recorded(void **state)
{
	static const struct vt_slot slots[] = {
		/* add [rbx], ecx: with its operand, and the sum */
		S(0, OPERAND, 4), S(0, LOAD_ADDRESS, 8), S(0, LOAD, 4), S(0, STORE_ADDRESS, 8),
		S(0, STORE, 4),
		/* cmpxchg: stores perhaps */
		S(2, LOAD_ADDRESS, 8), S(2, LOAD, 8), S(2, RESULT, 8), S(2, GUARD, 1),
		S(2, STORE_ADDRESS, 8), S(2, STORE, 8),
		/* two loads of 32 bytes, the first guarded */
		S(3, GUARD, 1), S(3, LOAD_ADDRESS, 8), S(3, LOAD, 32), S(3, LOAD_ADDRESS, 8),
		S(3, LOAD, 32)};
	const struct vt_bblock b = {
		.ninsns = 4, .nslots = sizeof(slots) / sizeof(slots[0]), .slots = slots};
	struct vt_access_cursor c = {.block = &b};
	const struct vt_access_slots sum[] = {{1, 2, NONE, 0, 4, false}, {3, 4, NONE, 0, 4, true}};
	const struct vt_access_slots swap[] = {{5, 6, NONE, 2, 8, false}, {9, 10, 8, 2, 8, true}};
	const struct vt_access_slots two[] = {{12, 13, 11, 3, 32, false},
					      {14, 15, NONE, 3, 32, false}};

	(void)state;
	check(&c, 0, NULL, 2, sum);
	check(&c, 1, NULL, 0, NULL);
	check(&c, 2, NULL, 2, swap);
	check(&c, 3, NULL, 2, two);
	/* An instruction that nobody asks for does not shift what comes next. */
	c = (struct vt_access_cursor){.block = &b};
	check(&c, 3, NULL, 2, two);
	/* Nor does one that is left before its end. */
	c = (struct vt_access_cursor){.block = &b};
	vt_access_start(&c, 0, NULL);
	expect(&c, &sum[0]);
	check(&c, 2, NULL, 2, swap);
}

static void in_part(void **state)
{
	static const struct vt_slot slots[] = {
		S(0, LOAD, 4),		S(1, LOAD_ADDRESS, 8),	S(2, STORE_ADDRESS, 8),
		S(2, LOAD, 4),		S(3, STORE_ADDRESS, 4), S(3, STORE, 4),
		S(4, LOAD_ADDRESS, 8),	S(5, LOAD, 4),		S(6, GUARD, 1),
		S(7, STORE_ADDRESS, 8), S(7, RESULT, 8),	S(7, STORE, 2)};
	const struct vt_bblock b = {
		.ninsns = 8, .nslots = sizeof(slots) / sizeof(slots[0]), .slots = slots};
	struct vt_access_cursor c = {.block = &b};
	const struct vt_access_slots only_value = {NONE, 0, NONE, 0, 4, false};
	const struct vt_access_slots only_address = {1, NONE, NONE, 1, 0, false};
	/* The value is of another access than the address. */
	const struct vt_access_slots apart[] = {{2, NONE, NONE, 2, 0, true},
						{NONE, 3, NONE, 2, 4, false}};
	/* 4 bytes are no address. */
	const struct vt_access_slots narrow = {NONE, 5, NONE, 3, 4, true};
	/* Nor is a value of the next instruction. */
	const struct vt_access_slots before = {6, NONE, NONE, 4, 0, false};
	const struct vt_access_slots behind = {NONE, 7, NONE, 5, 4, false};
	/* A guard alone is no access, and not of the next instruction. */
	const struct vt_access_slots far[] = {{9, NONE, NONE, 7, 0, true},
					      {NONE, 11, NONE, 7, 2, true}};

	(void)state;
	check(&c, 0, NULL, 1, &only_value);
	check(&c, 1, NULL, 1, &only_address);
	check(&c, 2, NULL, 2, apart);
	check(&c, 3, NULL, 1, &narrow);
	check(&c, 4, NULL, 1, &before);
	check(&c, 5, NULL, 1, &behind);
	check(&c, 6, NULL, 0, NULL);
	check(&c, 7, NULL, 2, far);
}

/* What slots leave open, the instruction tells. */
static void both(void **state)
{
	static const struct vt_slot slots[] = {
		S(0, LOAD_ADDRESS, 8),	S(0, STORE_ADDRESS, 8), /* no values */
		S(1, STORE_ADDRESS, 8), S(1, STORE, 4),		/* no load */
		S(2, GUARD, 1),		S(3, LOAD_ADDRESS, 8),	S(3, LOAD_ADDRESS, 8) /* cmps */
	};
	static const uint8_t add[] = {0x01, 0x0b}, cmps[] = {0x66, 0xa7};
	const struct vt_bblock b = {
		.ninsns = 4, .nslots = sizeof(slots) / sizeof(slots[0]), .slots = slots};
	struct vt_access_cursor c = {.block = &b};
	const struct vt_access_slots addresses[] = {{0, NONE, NONE, 0, 4, false},
						    {1, NONE, NONE, 0, 4, true}};
	const struct vt_access_slots store[] = {{2, 3, NONE, 1, 4, true},
						{NONE, NONE, NONE, 1, 4, false}};
	const struct vt_access_slots none[] = {{NONE, NONE, NONE, 2, 4, false},
					       {NONE, NONE, NONE, 2, 4, true}};
	const struct vt_access_slots compared[] = {{5, NONE, NONE, 3, 2, false},
						   {6, NONE, NONE, 3, 2, false}};
	struct vt_facts f;

	(void)state;
	assert_true(vt_facts_decode(add, sizeof(add), &f));
	check(&c, 0, &f, 2, addresses);
	check(&c, 1, &f, 2, store);
	check(&c, 2, &f, 2, none);
	assert_true(vt_facts_decode(cmps, sizeof(cmps), &f));
	check(&c, 3, &f, 2, compared);
	/* No instruction: nothing is known of it. */
	memset(&f, 0, sizeof(f));
	c = (struct vt_access_cursor){.block = &b};
	check(&c, 2, &f, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone),
		cmocka_unit_test(recorded),
		cmocka_unit_test(in_part),
		cmocka_unit_test(both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
