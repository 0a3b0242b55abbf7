/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prefixes, addresses and values of instructions: what their bytes say, written down by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "machine/pipeline/core_internal.h"

static struct vt_mop values_of(const uint8_t *code, size_t size)
{
	struct vt_mop op = {0};
	struct vt_facts f;

	assert_true(vt_facts_decode(code, size, &f));
	assert_int_equal(f.length, size);
	vti_core_values(&f, code, &op);
	return op;
}

/* ---- prefixes ---- */

/* Bytes from GNU as; the manual: 66 makes numbers of 4 bytes 2, but with REX.W. */
static const struct {
	const char *text;
	uint8_t code[12];
	uint8_t size;
	uint8_t prefixes;
	bool changes_size;
	bool ends_group;
} prefixed[] = {
	{"add %ecx,%eax", {0x01, 0xc8}, 2, 0, false, false},
	{"add %al,(%rcx)", {0x00, 0x01}, 2, 0, false, false},
	{"pause", {0xf3, 0x90}, 2, 1, false, false},
	{"es mov (%rdi),%eax", {0x26, 0x8b, 0x07}, 3, 1, false, false},
	{"cs mov (%rdi),%eax", {0x2e, 0x8b, 0x07}, 3, 1, false, false},
	{"ss mov (%rdi),%eax", {0x36, 0x8b, 0x07}, 3, 1, false, false},
	{"ds mov (%rdi),%eax", {0x3e, 0x8b, 0x07}, 3, 1, false, false},
	{"mov %fs:(%rdi),%eax", {0x64, 0x8b, 0x07}, 3, 1, false, false},
	{"mov %gs:(%rdi),%eax", {0x65, 0x8b, 0x07}, 3, 1, false, false},
	{"mov (%edi),%eax", {0x67, 0x8b, 0x07}, 3, 1, false, false},
	{"lock incl (%rdi)", {0xf0, 0xff, 0x07}, 3, 1, false, false},
	{"repnz scasb", {0xf2, 0xae}, 2, 1, false, false},
	{"rep stosw", {0xf3, 0x66, 0xab}, 3, 2, false, false},
	{"mov %fs:(%rdi),%ax", {0x64, 0x66, 0x8b, 0x07}, 4, 2, false, false},
	{"mov %rax,%rcx", {0x48, 0x89, 0xc1}, 3, 1, false, false},
	{"push %r15", {0x41, 0x57}, 2, 1, false, false},
	{"mov %r15d,%r15d", {0x45, 0x89, 0xff}, 3, 1, false, false},
	/* Numbers of two bytes, of each opcode that has them. */
	{"add $0x1234,%ax", {0x66, 0x05, 0x34, 0x12}, 4, 1, true, false},
	{"or $0x1234,%ax", {0x66, 0x0d, 0x34, 0x12}, 4, 1, true, false},
	{"adc $0x1234,%ax", {0x66, 0x15, 0x34, 0x12}, 4, 1, true, false},
	{"sbb $0x1234,%ax", {0x66, 0x1d, 0x34, 0x12}, 4, 1, true, false},
	{"and $0x1234,%ax", {0x66, 0x25, 0x34, 0x12}, 4, 1, true, false},
	{"sub $0x1234,%ax", {0x66, 0x2d, 0x34, 0x12}, 4, 1, true, false},
	{"xor $0x1234,%ax", {0x66, 0x35, 0x34, 0x12}, 4, 1, true, false},
	{"cmp $0x1234,%ax", {0x66, 0x3d, 0x34, 0x12}, 4, 1, true, false},
	{"pushw $0x1234", {0x66, 0x68, 0x34, 0x12}, 4, 1, true, false},
	{"imul $0x1234,%cx,%ax", {0x66, 0x69, 0xc1, 0x34, 0x12}, 5, 1, true, false},
	{"add $0x1234,%cx", {0x66, 0x81, 0xc1, 0x34, 0x12}, 5, 1, true, false},
	{"test $0x1234,%ax", {0x66, 0xa9, 0x34, 0x12}, 4, 1, true, false},
	{"mov $0x1234,%ax", {0x66, 0xb8, 0x34, 0x12}, 4, 1, true, false},
	{"mov $0x1234,%cx", {0x66, 0xb9, 0x34, 0x12}, 4, 1, true, false},
	{"mov $0x1234,%di", {0x66, 0xbf, 0x34, 0x12}, 4, 1, true, false},
	{"movw $0x1234,(%rdi)", {0x66, 0xc7, 0x07, 0x34, 0x12}, 5, 1, true, false},
	/* Of f7, only the two forms of test have one. */
	{"testw $0x1234,8(%rcx)", {0x66, 0xf7, 0x41, 8, 0x34, 0x12}, 6, 1, true, false},
	{"testw $0x1234,8(%rcx)", {0x66, 0xf7, 0x49, 8, 0x34, 0x12}, 6, 1, true, false},
	{"notw 8(%rcx)", {0x66, 0xf7, 0x51, 8}, 4, 1, false, false},
	{"negw 8(%rcx)", {0x66, 0xf7, 0x59, 8}, 4, 1, false, false},
	{"mulw 8(%rcx)", {0x66, 0xf7, 0x61, 8}, 4, 1, false, false},
	{"idivw 8(%rcx)", {0x66, 0xf7, 0x79, 8}, 4, 1, false, false},
	/* Those of one byte do not change, and other opcodes have none. */
	{"add $5,%cx", {0x66, 0x83, 0xc1, 0x05}, 4, 1, false, false},
	{"mov $0x12,%r8b", {0x66, 0x41, 0xb0, 0x12}, 4, 2, false, false},
	{"mov $0x12,%r15b", {0x66, 0x41, 0xb7, 0x12}, 4, 2, false, false},
	{"add %al,8(%rcx)", {0x66, 0x00, 0x41, 0x08}, 4, 1, false, false},
	{"add %ax,8(%rcx)", {0x66, 0x01, 0x41, 0x08}, 4, 1, false, false},
	/* Behind REX, and without 66. */
	{"add $0x1234,%r8w", {0x66, 0x41, 0x81, 0xc0, 0x34, 0x12}, 6, 2, true, false},
	{"add $0x1234,%ax", {0x66, 0x46, 0x05, 0x34, 0x12}, 5, 2, true, false},
	{"fs add $0x1234,%ax", {0x66, 0x64, 0x05, 0x34, 0x12}, 5, 2, true, false},
	{"add $4,%rax", {0x66, 0x48, 0x05, 4, 0, 0, 0}, 7, 2, false, false},
	{"add $4,%rax", {0x66, 0x4f, 0x05, 4, 0, 0, 0}, 7, 2, false, false},
	{"add $4,%r8d", {0x41, 0x81, 0xc0, 4, 0, 0, 0}, 7, 1, false, false},
	{"add $4,%eax", {0x05, 4, 0, 0, 0}, 5, 0, false, false},
	{"add $4,%eax", {0x67, 0x05, 4, 0, 0, 0}, 6, 1, false, false},
	{"fs add $4,%eax", {0x64, 0x05, 4, 0, 0, 0}, 6, 1, false, false},
	/* Two pops alone. */
	{"pop %rsp", {0x5c}, 1, 0, false, true},
	{"pop %r12", {0x41, 0x5c}, 2, 1, false, true},
	{"pop %rbx", {0x5b}, 1, 0, false, false},
	{"pop %rbp", {0x5d}, 1, 0, false, false},
	{"pop %r13", {0x41, 0x5d}, 2, 1, false, false},
	{"push %rsp", {0x54}, 1, 0, false, false},
	{"subsd %xmm1,%xmm0", {0xf2, 0x0f, 0x5c, 0xc1}, 4, 1, false, false},
};

static void prefixes_change_the_length_of_numbers(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(prefixed) / sizeof(prefixed[0]); i++) {
		const struct vt_mop op = values_of(prefixed[i].code, prefixed[i].size);

		if (op.prefixes != prefixed[i].prefixes ||
		    op.changes_size != prefixed[i].changes_size ||
		    op.ends_group != prefixed[i].ends_group)
			fail_msg("%s: %u %d %d", prefixed[i].text, op.prefixes, op.changes_size,
				 op.ends_group);
	}
}

/* ---- addresses and values ---- */

/* "displacement(base,index,scale)segment:size", without what there is not; "-" is unknown. */
static size_t describe_sum(const struct vt_mop_sum *s, char *text, size_t size)
{
	size_t n;

	if (!s->size)
		return (size_t)snprintf(text, size, "-");
	n = (size_t)snprintf(text, size, "%d", s->displacement);
	if (s->base != VT_REG_NONE || s->index != VT_REG_NONE)
		n += (size_t)snprintf(text + n, size - n, "(%s",
				      s->base == VT_REG_NONE ? "" : vt_reg_name(s->base, 8));
	if (s->index != VT_REG_NONE)
		n += (size_t)snprintf(text + n, size - n, ",%s,%u", vt_reg_name(s->index, 8),
				      s->scale);
	if (s->base != VT_REG_NONE || s->index != VT_REG_NONE)
		n += (size_t)snprintf(text + n, size - n, ")");
	if (s->segment != VT_REG_NONE)
		n += (size_t)snprintf(text + n, size - n, "%s",
				      s->segment == VT_REG_FS ? "fs" : "gs");
	return n + (size_t)snprintf(text + n, size - n, ":%u", s->size);
}

/* "load PLACE store PLACE moves N REGISTER=VALUE" */
static void describe(const struct vt_mop *op, char *text, size_t size)
{
	size_t n = 0;

	*text = 0;
	if (op->load.size) {
		n += (size_t)snprintf(text + n, size - n, " load ");
		n += describe_sum(&op->load, text + n, size - n);
	}
	if (op->store.size) {
		n += (size_t)snprintf(text + n, size - n, " store ");
		n += describe_sum(&op->store, text + n, size - n);
	}
	if (op->moves)
		n += (size_t)snprintf(text + n, size - n, " moves %d", op->moves);
	if (op->target == VT_REG_NONE)
		return;
	n += (size_t)snprintf(text + n, size - n, " %s=", vt_reg_name(op->target, 8));
	if (op->result == VT_RESULT_LOAD)
		snprintf(text + n, size - n, "load");
	else if (op->result == VT_RESULT_SUM)
		describe_sum(&op->sum, text + n, size - n);
	else
		snprintf(text + n, size - n, "other");
}

/* clang-format off: a line each. */
static const struct {
	const char *text;
	uint8_t code[12];
	uint8_t size;
	const char *want;
} values[] = {
	/* What is accessed: the first that is read, the first that is written. */
	{"mov (%rdi),%eax", {0x8b, 0x07}, 2, " load 0(rdi):4 rax=load"},
	{"mov -8(%rdi,%rsi,4),%rax",
	 {0x48, 0x8b, 0x44, 0xb7, 0xf8},
	 5,
	 " load -8(rdi,rsi,4):8 rax=load"},
	{"mov %fs:0x28,%rax",
	 {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0},
	 9,
	 " load 40fs:8 rax=load"},
	{"mov %gs:(%rdi),%rax", {0x65, 0x48, 0x8b, 0x07}, 4, " load 0(rdi)gs:8 rax=load"},
	{"mov 8(%rip),%rax", {0x48, 0x8b, 0x05, 8, 0, 0, 0}, 7, " load 8(rip):8 rax=load"},
	{"mov %eax,(%rdi)", {0x89, 0x07}, 2, " store 0(rdi):4"},
	{"add %eax,(%rdi)", {0x01, 0x07}, 2, " load 0(rdi):4 store 0(rdi):4"},
	{"cmp %eax,(%rdi)", {0x39, 0x07}, 2, " load 0(rdi):4"},
	{"movsq", {0x48, 0xa5}, 2, " load 0(rsi):8 store 0(rdi):8"},
	{"movups (%rdi),%xmm3", {0x0f, 0x10, 0x1f}, 3, " load 0(rdi):16"},
	{"movabs 0x7fffffff,%rax",
	 {0x48, 0xa1, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0},
	 10,
	 " load 2147483647:8 rax=load"},
	/* What does not fit, and what is in many places, is nowhere. */
	{"movabs 0x80000000,%rax", {0x48, 0xa1, 0, 0, 0, 0x80, 0, 0, 0, 0}, 10, " rax=load"},
	{"vpgatherdd %xmm1,(%rdi,%xmm2,4),%xmm3", {0xc4, 0xe2, 0x71, 0x90, 0x1c, 0x97}, 6, ""},
	/* The stack: where pushes store is below what the pointer was, by as much as it moves. */
	{"push %rbx", {0x53}, 1, " store 0(rsp):8 moves -8"},
	{"pushw %bx", {0x66, 0x53}, 2, " store 0(rsp):2 moves -2"},
	{"push 8(%rdi)", {0xff, 0x77, 0x08}, 3, " load 8(rdi):8 store 0(rsp):8 moves -8"},
	{"call", {0xe8, 0, 0, 0, 0}, 5, " store 0(rsp):8 moves -8"},
	{"call *8(%rax)", {0xff, 0x50, 0x08}, 3, " load 8(rax):8 store 0(rsp):8 moves -8"},
	{"pop %rbx", {0x5b}, 1, " load 0(rsp):8 moves 8 rbx=load"},
	{"pop %rsp", {0x5c}, 1, " load 0(rsp):8 moves 8 rsp=load"},
	{"pop %bx", {0x66, 0x5b}, 2, " load 0(rsp):2 moves 2"},
	{"pop 8(%rdi)", {0x8f, 0x47, 0x08}, 3, " load 0(rsp):8 store 8(rdi):8 moves 8"},
	{"ret", {0xc3}, 1, " load 0(rsp):8 moves 8"},
	{"jmp *(%rax)", {0xff, 0x20}, 2, " load 0(rax):8"},
	/* Sums. */
	{"lea 8(%rax,%rcx,4),%rdx", {0x48, 0x8d, 0x54, 0x88, 0x08}, 5, " rdx=8(rax,rcx,4):8"},
	{"lea -1(%rax),%edx", {0x8d, 0x50, 0xff}, 3, " rdx=-1(rax):4"},
	{"lea -1(%rax),%dx", {0x66, 0x8d, 0x50, 0xff}, 4, ""},
	{"lea 8(%rip),%rax", {0x48, 0x8d, 0x05, 8, 0, 0, 0}, 7, " rax=other"},
	{"mov %ecx,%eax", {0x89, 0xc8}, 2, " rax=0(rcx):4"},
	{"mov %r9,%r15", {0x4d, 0x89, 0xcf}, 3, " r15=0(r9):8"},
	{"mov %cx,%ax", {0x66, 0x89, 0xc8}, 3, ""},
	{"mov $5,%eax", {0xb8, 5, 0, 0, 0}, 5, " rax=5:4"},
	{"mov $-5,%rax", {0x48, 0xc7, 0xc0, 0xfb, 0xff, 0xff, 0xff}, 7, " rax=-5:8"},
	{"movabs $0x80000000,%rax", {0x48, 0xb8, 0, 0, 0, 0x80, 0, 0, 0, 0}, 10, " rax=other"},
	{"movabs $-0x80000000,%rax",
	 {0x48, 0xb8, 0, 0, 0, 0x80, 255, 255, 255, 255},
	 10,
	 " rax=-2147483648:8"},
	{"add $5,%eax", {0x83, 0xc0, 0x05}, 3, " rax=5(rax):4"},
	{"add $-5,%rcx", {0x48, 0x83, 0xc1, 0xfb}, 4, " rcx=-5(rcx):8"},
	{"sub $5,%rcx", {0x48, 0x83, 0xe9, 0x05}, 4, " rcx=-5(rcx):8"},
	{"sub $-5,%ecx", {0x83, 0xe9, 0xfb}, 3, " rcx=5(rcx):4"},
	{"inc %rdx", {0x48, 0xff, 0xc2}, 3, " rdx=1(rdx):8"},
	{"dec %edx", {0xff, 0xca}, 2, " rdx=-1(rdx):4"},
	{"inc %dx", {0x66, 0xff, 0xc2}, 3, ""},
	/* None is one: of two registers, with memory, something else, of two results. */
	{"add %ecx,%eax", {0x01, 0xc8}, 2, " rax=other"},
	{"sub %ecx,%eax", {0x29, 0xc8}, 2, " rax=other"},
	{"add (%rdi),%eax", {0x03, 0x07}, 2, " load 0(rdi):4 rax=other"},
	{"addl $5,(%rdi)", {0x83, 0x07, 0x05}, 3, " load 0(rdi):4 store 0(rdi):4"},
	{"incl (%rdi)", {0xff, 0x07}, 2, " load 0(rdi):4 store 0(rdi):4"},
	{"xor $5,%eax", {0x83, 0xf0, 0x05}, 3, " rax=other"},
	{"adc $5,%eax", {0x83, 0xd0, 0x05}, 3, " rax=other"},
	{"movzbl %cl,%eax", {0x0f, 0xb6, 0xc1}, 3, " rax=other"},
	{"movzbl (%rdi),%eax", {0x0f, 0xb6, 0x07}, 3, " load 0(rdi):1 rax=other"},
	{"xchg %rcx,%rax", {0x48, 0x91}, 2, ""},
	{"mul %rcx", {0x48, 0xf7, 0xe1}, 3, ""},
	{"paddd %xmm1,%xmm0", {0x66, 0x0f, 0xfe, 0xc1}, 4, ""},
	{"movq %xmm1,%rax", {0x66, 0x48, 0x0f, 0x7e, 0xc8}, 5, " rax=other"},
};
/* clang-format on */

static void places_and_results_are_told(void **state)
{
	char text[120];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct vt_mop op = values_of(values[i].code, values[i].size);

		describe(&op, text, sizeof(text));
		if (strcmp(text, values[i].want) != 0)
			fail_msg("%s:%s", values[i].text, text);
	}
}

/* Facts that say so themselves: as many memory operands count as there are. */
static void operands_are_counted(void **state)
{
	const struct vt_memory first = {.size = 4,
					.base = VT_REG_DI,
					.index = VT_REG_NONE,
					.segment = VT_REG_NONE,
					.read = true,
					.written = true};
	const uint8_t code[] = {0x90};
	struct vt_facts f = {.length = 1, .mnemonic = "made up", .memories = {first, first}};
	struct vt_mop op = {0};

	(void)state;
	f.memories[1].size = 8;
	vti_core_values(&f, code, &op);
	assert_int_equal(op.load.size, 0);
	assert_int_equal(op.store.size, 0);
	f.nmemories = 2;
	vti_core_values(&f, code, &op);
	assert_int_equal(op.load.size, 4);
	assert_int_equal(op.store.size, 4);
	/* Where the first is not accessed, the second is. */
	op = (struct vt_mop){0};
	f.memories[0].read = f.memories[0].written = false;
	vti_core_values(&f, code, &op);
	assert_int_equal(op.load.size, 8);
	assert_int_equal(op.store.size, 8);
}

/* By the bytes of the instruction alone. */
static void equal_instructions_have_the_same_number(void **state)
{
	static const uint8_t add[] = {0x48, 0x01, 0xc8, 0x90}, sub[] = {0x48, 0x29, 0xc8};

	(void)state;
	assert_int_equal(values_of(add, 3).id, (uint32_t)vt_hash_bytes(add, 3));
	assert_int_not_equal(values_of(add, 3).id, values_of(sub, 3).id);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_change_the_length_of_numbers),
		cmocka_unit_test(places_and_results_are_told),
		cmocka_unit_test(operands_are_counted),
		cmocka_unit_test(equal_instructions_have_the_same_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
