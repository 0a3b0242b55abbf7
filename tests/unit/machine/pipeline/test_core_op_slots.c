/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What renaming does of instructions, and what takes longer or counts more on some machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/core.h"

#define REG(name) (UINT64_C(1) << VT_REG_##name)
#define XMM(n)	  (UINT64_C(1) << (VT_REG_VECTOR + (n)))

/* A machine of three units: p0 does all, p1 what is even, p2 nothing; numbers follow the class. */
static struct vt_core make_core(enum vt_order order)
{
	struct vt_core m = {
		.order = order, .nunits = 3, .units = {{"p0", ~0u}, {"p1", 0x55555555}, {"p2", 0}}};
	unsigned c;

	for (c = 0; c < VT_NOPCLASSES; c++) {
		m.classes[c].latency = (uint16_t)(20 + c);
		m.classes[c].busy = (uint16_t)(10 + c);
	}
	return m;
}

/* ---- what renaming does ---- */

#define ALWAYS 16

struct renamed {
	const char *text;
	uint8_t code[12];
	uint8_t size;
	uint8_t by; /* VT_ELIMINATE_…, ALWAYS, or 0 */
};

static void check_renamed(const struct renamed *r)
{
	struct vt_mop op;
	unsigned eliminates;

	for (eliminates = 0; eliminates < 16; eliminates++) {
		struct vt_core m = make_core(VT_OUT_OF_ORDER);
		const bool want = r->by & (eliminates | ALWAYS);

		m.eliminates = (uint8_t)eliminates;
		assert_true(vt_core_op(&m, r->code, r->size, &op));
		assert_int_equal(op.nuops, 1);
		if ((op.uops[0].op_class == VT_OP_NOP) != want)
			fail_msg("%s: %u", r->text, eliminates);
		if (want) {
			assert_int_equal(op.uops[0].operands, VT_UOP_READS | VT_UOP_WRITES);
			assert_int_equal(op.uops[0].latency, 0);
			assert_int_equal(op.uops[0].units, 0);
			assert_int_equal(op.slots, 1);
			assert_false(op.estimated);
		}
		m.order = VT_IN_ORDER;
		assert_true(vt_core_op(&m, r->code, r->size, &op));
		assert_int_not_equal(op.uops[0].op_class, VT_OP_NOP);
	}
}

static void renaming_copies_and_clears(void **state)
{
	static const struct renamed cases[] = {
		{"mov %rcx,%rax", {0x48, 0x89, 0xc8}, 3, VT_ELIMINATE_INT},
		{"mov %ecx,%eax", {0x89, 0xc8}, 2, VT_ELIMINATE_INT},
		{"mov %cx,%ax", {0x66, 0x89, 0xc8}, 3, 0},
		{"mov %cl,%al", {0x88, 0xc8}, 2, 0},
		{"mov $5,%eax", {0xb8, 0x05, 0x00, 0x00, 0x00}, 5, 0},
		{"mov (%rdi),%eax", {0x8b, 0x07}, 2, 0},
		{"movslq %ecx,%rax", {0x48, 0x63, 0xc1}, 3, 0},
		{"movzbl %cl,%eax", {0x0f, 0xb6, 0xc1}, 3, 0},
		{"add %ecx,%eax", {0x01, 0xc8}, 2, 0},
		{"movaps %xmm5,%xmm3", {0x0f, 0x28, 0xdd}, 3, VT_ELIMINATE_VECTOR},
		{"movapd %xmm5,%xmm3", {0x66, 0x0f, 0x28, 0xdd}, 4, VT_ELIMINATE_VECTOR},
		{"movups %xmm5,%xmm3", {0x0f, 0x10, 0xdd}, 3, VT_ELIMINATE_VECTOR},
		{"movupd %xmm5,%xmm3", {0x66, 0x0f, 0x10, 0xdd}, 4, VT_ELIMINATE_VECTOR},
		{"movdqa %xmm5,%xmm3", {0x66, 0x0f, 0x6f, 0xdd}, 4, VT_ELIMINATE_VECTOR},
		{"movdqu %xmm5,%xmm3", {0xf3, 0x0f, 0x6f, 0xdd}, 4, VT_ELIMINATE_VECTOR},
		{"vmovaps %ymm5,%ymm3", {0xc5, 0xfc, 0x28, 0xdd}, 4, VT_ELIMINATE_VECTOR},
		{"vmovdqa64 %zmm5,%zmm3",
		 {0x62, 0xf1, 0xfd, 0x48, 0x6f, 0xdd},
		 6,
		 VT_ELIMINATE_VECTOR},
		{"vmovdqa64 %zmm5,%zmm3{%k1}", {0x62, 0xf1, 0xfd, 0x49, 0x6f, 0xdd}, 6, 0},
		{"movsd %xmm5,%xmm3", {0xf2, 0x0f, 0x10, 0xdd}, 4, 0},
		{"movq %xmm5,%xmm3", {0xf3, 0x0f, 0x7e, 0xdd}, 4, 0},
		{"movd %eax,%xmm3", {0x66, 0x0f, 0x6e, 0xd8}, 4, 0},
		/* To itself it cuts the upper half off. */
		{"mov %ecx,%ecx", {0x89, 0xc9}, 2, 0},
		{"mov %eax,%eax", {0x89, 0xc0}, 2, 0},
		{"mov %eax,%ecx", {0x89, 0xc1}, 2, VT_ELIMINATE_INT},
		{"movaps %xmm3,%xmm3", {0x0f, 0x28, 0xdb}, 3, 0},
		{"xor %eax,%eax", {0x31, 0xc0}, 2, ALWAYS},
		{"vpxor %xmm3,%xmm3,%xmm5", {0xc5, 0xe1, 0xef, 0xeb}, 4, ALWAYS},
		{"xor %ecx,%eax", {0x31, 0xc8}, 2, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_renamed(&cases[i]);
}

static void renaming_adds_small_numbers(void **state)
{
	static const struct renamed cases[] = {
		{"add $1,%rax", {0x48, 0x83, 0xc0, 0x01}, 4, VT_ELIMINATE_ADD},
		{"sub $1,%rax", {0x48, 0x83, 0xe8, 0x01}, 4, VT_ELIMINATE_ADD},
		{"inc %rax", {0x48, 0xff, 0xc0}, 3, VT_ELIMINATE_ADD},
		{"dec %rax", {0x48, 0xff, 0xc8}, 3, VT_ELIMINATE_ADD},
		{"lea 1(%rax),%rcx", {0x48, 0x8d, 0x48, 0x01}, 4, VT_ELIMINATE_ADD},
		{"add $1023,%rax", {0x48, 0x05, 0xff, 0x03, 0, 0}, 6, VT_ELIMINATE_ADD},
		{"add $1024,%rax", {0x48, 0x05, 0x00, 0x04, 0, 0}, 6, 0},
		{"add $-1024,%rax", {0x48, 0x05, 0x00, 0xfc, 0xff, 0xff}, 6, VT_ELIMINATE_ADD},
		{"add $-1025,%rax", {0x48, 0x05, 0xff, 0xfb, 0xff, 0xff}, 6, 0},
		{"add $1,%eax", {0x83, 0xc0, 0x01}, 3, 0},
		{"lea 1(%rax),%ecx", {0x8d, 0x48, 0x01}, 3, 0},
		{"lea 1(%rax,%rcx),%rax", {0x48, 0x8d, 0x44, 0x08, 0x01}, 5, 0},
		{"lea 1,%rax", {0x48, 0x8d, 0x04, 0x25, 0x01, 0, 0, 0}, 8, 0},
		{"and $1,%rax", {0x48, 0x83, 0xe0, 0x01}, 4, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_renamed(&cases[i]);
}

/* ---- what takes longer, or counts more ---- */

/* Bits 8 to 15 take 3 cycles more where they go to or come from other bits. */
static void high_bytes_take_longer(void **state)
{
	static const struct {
		const char *text;
		uint8_t code[4];
		uint8_t size;
		uint8_t more;
	} cases[] = {
		{"mov %ah,%cl", {0x88, 0xe1}, 2, 3},
		{"movzbl %ah,%eax", {0x0f, 0xb6, 0xc4}, 3, 3},
		{"cmp $5,%ah", {0x80, 0xfc, 0x05}, 3, 3},
		/* They stay there. */
		{"inc %ah", {0xfe, 0xc4}, 2, 0},
		{"mov %ah,%bh", {0x88, 0xe7}, 2, 0},
		/* Two of them, of which one stays. */
		{"add %ah,%bh", {0x00, 0xe7}, 2, 3},
		{"mov %cl,%ah", {0x88, 0xcc}, 2, 0},
		{"mov %cl,%al", {0x88, 0xc8}, 2, 0},
	};
	struct vt_core m = make_core(VT_IN_ORDER);
	struct vt_mop op;
	size_t i;

	(void)state;
	m.high_byte = 3;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(vt_core_op(&m, cases[i].code, cases[i].size, &op));
		assert_int_equal(op.nuops, 1);
		if (op.uops[0].latency != 20 + VT_OP_INT + cases[i].more)
			fail_msg("%s: %u", cases[i].text, op.uops[0].latency);
	}
	/* A store has no operation that could take longer; an operation on memory has. */
	assert_true(vt_core_op(&m, (const uint8_t[]){0x88, 0x27}, 2, &op)); /* mov %ah,(%rdi) */
	assert_int_equal(op.uops[0].latency, 20 + VT_OP_STORE);
	assert_true(vt_core_op(&m, (const uint8_t[]){0x00, 0x27}, 2, &op)); /* add %ah,(%rdi) */
	assert_int_equal(op.uops[0].latency, 20 + VT_OP_LOAD);
	assert_int_equal(op.uops[1].latency, 20 + VT_OP_INT + 3);
	assert_int_equal(op.uops[2].latency, 20 + VT_OP_STORE);
}

/* Of what is taken apart behind the decoders, on machines that do it to all and to new results. */
static void indexed_addresses_take_slots(void **state)
{
	static const struct {
		const char *text;
		uint8_t code[8];
		uint8_t size;
		uint8_t slots, more_new, more_all;
	} cases[] = {
		{"add (%rdi,%rsi),%eax", {0x03, 0x04, 0x37}, 3, 2, 0, 1},
		{"imul $5,(%rdi,%rsi),%eax", {0x6b, 0x04, 0x37, 0x05}, 4, 2, 1, 1},
		{"vpaddd (%rdi,%rsi),%xmm1,%xmm2", {0xc5, 0xf1, 0xfe, 0x14, 0x37}, 5, 2, 1, 1},
		{"cmp (%rdi,%rsi),%eax", {0x3b, 0x04, 0x37}, 3, 2, 0, 1},
		{"add %eax,(%rdi,%rsi)", {0x01, 0x04, 0x37}, 3, 3, 0, 2},
		{"mov %eax,(%rdi,%rsi)", {0x89, 0x04, 0x37}, 3, 1, 0, 1},
		{"mov (%rdi,%rsi),%eax", {0x8b, 0x04, 0x37}, 3, 1, 0, 0},
		{"setl (%rdi,%rsi)", {0x0f, 0x9c, 0x04, 0x37}, 4, 2, 0, 1},
		{"xadd %eax,(%rdi,%rsi)", {0x0f, 0xc1, 0x04, 0x37}, 4, 3, 0, 2},
		{"imul $5,(%rdi),%eax", {0x6b, 0x07, 0x05}, 3, 2, 0, 0},
		{"mov %eax,(%rdi)", {0x89, 0x07}, 2, 1, 0, 0},
		{"add %ecx,%eax", {0x01, 0xc8}, 2, 1, 0, 0},
	};
	struct vt_core m = make_core(VT_OUT_OF_ORDER);
	struct vt_mop op;
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const unsigned more[] = {0, cases[i].more_new, cases[i].more_all};

		for (k = VT_INDEXED_FUSED; k <= VT_INDEXED_ALL; k++) {
			m.indexed = k;
			assert_true(vt_core_op(&m, cases[i].code, cases[i].size, &op));
			if (op.slots != cases[i].slots + more[k])
				fail_msg("%s: %u slots on %u", cases[i].text, op.slots, k);
			/* The decoders keep them together. */
			assert_int_equal(op.decoded, cases[i].slots);
		}
	}
}

/* As uops.info has measured them; those of Skylake are its own, which stores apart. */
static void operations_on_memory_are_fused(void **state)
{
	static const char *const cores[] = {"zen2", "zen3", "zen4", "skylake"};
	static const struct {
		const char *text;
		uint8_t code[5];
		uint8_t size;
		uint8_t slots[4]; /* of these cores */
	} cases[] = {
		{"add %rax,(%rdi)", {0x48, 0x01, 0x07}, 3, {1, 1, 2, 2}},
		{"addq $1,(%rdi)", {0x48, 0x83, 0x07, 0x01}, 4, {1, 1, 2, 2}},
		{"adc %rax,(%rdi)", {0x48, 0x11, 0x07}, 3, {1, 1, 2, 2}},
		{"sub %rax,(%rdi)", {0x48, 0x29, 0x07}, 3, {1, 1, 2, 2}},
		{"sbb %rax,(%rdi)", {0x48, 0x19, 0x07}, 3, {1, 1, 2, 2}},
		{"and %rax,(%rdi)", {0x48, 0x21, 0x07}, 3, {1, 1, 2, 2}},
		{"or %rax,(%rdi)", {0x48, 0x09, 0x07}, 3, {1, 1, 2, 2}},
		{"xor %rax,(%rdi)", {0x48, 0x31, 0x07}, 3, {1, 1, 2, 2}},
		{"incl (%rdi)", {0xff, 0x07}, 2, {1, 1, 2, 2}},
		{"decl (%rdi)", {0xff, 0x0f}, 2, {1, 1, 2, 2}},
		{"negq (%rdi)", {0x48, 0xf7, 0x1f}, 3, {1, 1, 2, 2}},
		{"notb (%rdi)", {0xf6, 0x17}, 2, {1, 1, 2, 2}},
		{"lock addl $1,(%rdi)", {0xf0, 0x83, 0x07, 0x01}, 4, {1, 1, 2, 2}},
		{"add %rax,(%rdi,%rsi)", {0x48, 0x01, 0x04, 0x37}, 4, {1, 1, 2, 2}},
		{"shll $3,(%rdi)", {0xc1, 0x27, 0x03}, 3, {1, 2, 2, 2}},
		{"shrl $3,(%rdi)", {0xc1, 0x2f, 0x03}, 3, {1, 2, 2, 2}},
		{"sarl $3,(%rdi)", {0xc1, 0x3f, 0x03}, 3, {1, 2, 2, 2}},
		{"roll $3,(%rdi)", {0xc1, 0x07, 0x03}, 3, {1, 2, 2, 2}},
		{"rorl $3,(%rdi)", {0xc1, 0x0f, 0x03}, 3, {1, 2, 2, 2}},
		/* These are no operations on memory, or their result is elsewhere, too. */
		{"add (%rdi),%rax", {0x48, 0x03, 0x07}, 3, {1, 1, 1, 1}},
		{"cmp %rax,(%rdi)", {0x48, 0x39, 0x07}, 3, {1, 1, 1, 1}},
		{"add %rcx,%rax", {0x48, 0x01, 0xc8}, 3, {1, 1, 1, 1}},
		{"mov %rax,(%rdi)", {0x48, 0x89, 0x07}, 3, {1, 1, 1, 1}},
		{"xchg %rax,(%rdi)", {0x48, 0x87, 0x07}, 3, {2, 2, 2, 2}},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	struct vt_mop op;
	size_t i, k;

	(void)state;
	for (k = 0; k < 4; k++) {
		assert_int_equal(vt_core_load(&m, cores[k], &err), 0);
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			assert_true(vt_core_op(&m, cases[i].code, cases[i].size, &op));
			if (op.slots != cases[i].slots[k])
				fail_msg("%s: %u slots on %s", cases[i].text, op.slots, cores[k]);
			assert_int_equal(op.decoded, op.slots);
		}
	}
}

/* What is needed by the last step alone: how long before the result. */
static void the_rest_of_registers_is_needed_late(void **state)
{
	static const struct {
		const char *text;
		uint8_t code[5];
		uint8_t size;
		uint8_t latency; /* of the class: the test's machine has 20 and its number */
		uint8_t lateness;
		uint64_t late;
	} cases[] = {
		/* One cycle is the last step's. */
		{"mov (%rdi),%al", {0x8a, 0x07}, 2, 20 + VT_OP_LOAD, 24, REG(AX)},
		{"sete %al", {0x0f, 0x94, 0xc0}, 3, 20 + VT_OP_INT, 20, REG(AX)},
		{"movzbw %cl,%ax", {0x66, 0x0f, 0xb6, 0xc1}, 4, 20 + VT_OP_INT, 20, REG(AX)},
		{"cmovle %ecx,%eax", {0x0f, 0x4e, 0xc1}, 3, 20 + VT_OP_INT, 20, REG(AX)},
		/* It is an operand, too. */
		{"add %cl,%al", {0x00, 0xc8}, 2, 20 + VT_OP_INT, 0, 0},
		{"mov %ecx,%eax", {0x89, 0xc8}, 2, 20 + VT_OP_INT, 0, 0},
		/* Four are a conversion's of a general register. */
		{"cvtsi2sd %eax,%xmm3", {0xf2, 0x0f, 0x2a, 0xd8}, 4, 20 + VT_OP_FADD, 24, XMM(3)},
		{"vcvtsi2sd %eax,%xmm5,%xmm3",
		 {0xc5, 0xd3, 0x2a, 0xd8},
		 4,
		 20 + VT_OP_FADD,
		 24,
		 XMM(5)},
		{"cvtss2sd %xmm5,%xmm3", {0xf3, 0x0f, 0x5a, 0xdd}, 4, 20 + VT_OP_FADD, 0, 0},
		/* No schedule follows this one. */
		{"mov %eax,%ds", {0x8e, 0xd8}, 2, 20 + VT_OP_INT, 0, 0},
	};
	struct vt_core m = make_core(VT_IN_ORDER);
	struct vt_mop op;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(vt_core_op(&m, cases[i].code, cases[i].size, &op));
		assert_int_equal(op.uops[op.nuops - 1].latency, cases[i].latency);
		if (op.late != cases[i].late || op.lateness != cases[i].lateness)
			fail_msg("%s: %jx %u", cases[i].text, (uintmax_t)op.late, op.lateness);
	}
	/* An operation of no more than the last step. */
	m.classes[VT_OP_INT].latency = 1;
	assert_true(vt_core_op(&m, cases[1].code, cases[1].size, &op));
	assert_int_equal(op.lateness, 0);
	m.classes[VT_OP_INT].latency = 2;
	assert_true(vt_core_op(&m, cases[1].code, cases[1].size, &op));
	assert_int_equal(op.lateness, 1);
	m.classes[VT_OP_FADD].latency = 5;
	assert_true(vt_core_op(&m, cases[6].code, cases[6].size, &op));
	assert_int_equal(op.lateness, 1);
	m.classes[VT_OP_FADD].latency = 4;
	assert_true(vt_core_op(&m, cases[6].code, cases[6].size, &op));
	assert_int_equal(op.lateness, 0);
}

/* Of machines whose description has a line "merge". */
static void some_machines_wait_for_what_they_write(void **state)
{
	static const uint8_t popcnt[] = {0xf3, 0x0f, 0xb8, 0xc8}, bsf[] = {0x0f, 0xbc, 0xc8};
	struct vt_core m = make_core(VT_OUT_OF_ORDER);
	struct vt_mop op;

	(void)state;
	assert_true(vt_core_op(&m, popcnt, 4, &op));
	assert_int_equal(op.reads, REG(AX));
	strcpy(m.merges, "lzcnt popcnt");
	assert_true(vt_core_op(&m, popcnt, 4, &op));
	assert_int_equal(op.reads, REG(AX) | REG(CX));
	assert_int_equal(op.late, 0);
	strcpy(m.merges, "popcn popcntx bsf");
	assert_true(vt_core_op(&m, popcnt, 4, &op));
	assert_int_equal(op.reads, REG(AX));
	assert_true(vt_core_op(&m, bsf, 3, &op));
	assert_int_equal(op.reads, REG(AX) | REG(CX));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(renaming_copies_and_clears),
		cmocka_unit_test(renaming_adds_small_numbers),
		cmocka_unit_test(high_bytes_take_longer),
		cmocka_unit_test(indexed_addresses_take_slots),
		cmocka_unit_test(operations_on_memory_are_fused),
		cmocka_unit_test(the_rest_of_registers_is_needed_late),
		cmocka_unit_test(some_machines_wait_for_what_they_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
