/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What addresses are relative to where they are not known: instruction by instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conflict/replay_internal.h"

#define NONE	 VT_REG_NONE
#define BIT(reg) (1u << (reg))

static void decode(const char *code, size_t size, struct vt_facts *f)
{
	assert_true(vt_facts_decode((const uint8_t *)code, size, f));
	assert_int_equal(f->length, size);
}

/* ---- operands ---- */

static void test_operands(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		struct vti_base_operand load, store;
	} rows[] = {
		/* mov (%rdi),%rbx; mov 8(%rdi,%rax,4),%rbx; mov %rbx,-8(%rdi); mov (%r15),%rax */
		{"\x48\x8b\x1f", 3, {VT_REG_DI, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\x48\x8b\x5c\x87\x08", 5, {VT_REG_DI, VT_REG_AX, 4, 8}, {NONE, NONE, 0, 0}},
		{"\x48\x89\x5f\xf8", 4, {NONE, NONE, 0, 0}, {VT_REG_DI, NONE, 0, -8}},
		{"\x49\x8b\x07", 3, {VT_REG_R15, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		/* mov (%r8),%rax; mov (%rsp),%rax */
		{"\x49\x8b\x00", 3, {VT_REG_R8, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\x48\x8b\x04\x24", 4, {VT_REG_SP, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		/* mov 16(%rip),%rax; mov %fs:(%rdi),%rax; mov 0(,%rax,4),%rax */
		{"\x48\x8b\x05\x10\0\0\0", 7, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\x64\x48\x8b\x07", 4, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\x48\x8b\x04\x85\0\0\0\0", 8, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		/* add %rbx,(%rdi); movsq; cmpsq reads twice; lea reads nothing */
		{"\x48\x01\x1f", 3, {VT_REG_DI, NONE, 0, 0}, {VT_REG_DI, NONE, 0, 0}},
		{"\x48\xa5", 2, {VT_REG_SI, NONE, 0, 0}, {VT_REG_DI, NONE, 0, 0}},
		{"\x48\xa7", 2, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\x48\x8d\x5f\x10", 4, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		/* push %rbx; pop %rbx; push (%rdi); pop (%rdi), where the store is not told */
		{"\x53", 1, {NONE, NONE, 0, 0}, {VT_REG_SP, NONE, 0, -8}},
		{"\x5b", 1, {VT_REG_SP, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\xff\x37", 2, {VT_REG_DI, NONE, 0, 0}, {VT_REG_SP, NONE, 0, -8}},
		{"\x8f\x07", 2, {VT_REG_SP, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		/* leave; enter $16,$0; vmaskmovps (%rdi),%xmm1,%xmm0; vpgatherdd */
		{"\xc9", 1, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\xc8\x10\0\0", 4, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\xc4\xe2\x71\x2c\x07", 5, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
		{"\xc4\xe2\x69\x90\x04\x0f", 6, {NONE, NONE, 0, 0}, {NONE, NONE, 0, 0}},
	};
	unsigned i, store;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (store = 0; store < 2; store++) {
			const struct vti_base_operand *want =
				store ? &rows[i].store : &rows[i].load;
			struct vti_base_operand o;
			struct vt_facts f;

			decode(rows[i].code, rows[i].size, &f);
			vti_bases_operand(&f, store, &o);
			if (o.base != want->base || o.index != want->index ||
			    o.scale != want->scale || o.displacement != want->displacement)
				fail_msg("row %u, store %u: %u %u %u %lld", i, store, o.base,
					 o.index, o.scale, (long long)o.displacement);
		}
}

/* ---- what instructions do to registers ---- */

static void test_codes(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		uint8_t to, from;
		int64_t step;
		uint32_t lost; /* but for flags and the like */
	} rows[] = {
		/* mov %rdi,%rbx; of 4 bytes; mov (%rdi),%rbx; movzbl %dil,%ebx; mov $1,%rbx */
		{"\x48\x89\xfb", 3, VT_REG_BX, VT_REG_DI, 0, BIT(VT_REG_BX)},
		{"\x89\xfb", 2, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x48\x8b\x1f", 3, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x40\x0f\xb6\xdf", 4, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x48\xc7\xc3\x01\0\0\0", 7, NONE, NONE, 0, BIT(VT_REG_BX)},
		/* mov %r15,%r8; movq %xmm0,%rbx */
		{"\x4d\x89\xf8", 3, VT_REG_R8, VT_REG_R15, 0, BIT(VT_REG_R8)},
		{"\x66\x48\x0f\x7e\xc3", 5, NONE, NONE, 0, BIT(VT_REG_BX)},
		/* add $1,%rbx; sub $8,%rbx; add $1,%ebx; and $-16,%rbx; add %rdi,%rbx */
		{"\x48\x83\xc3\x01", 4, VT_REG_BX, VT_REG_BX, 1, BIT(VT_REG_BX)},
		{"\x48\x83\xeb\x08", 4, VT_REG_BX, VT_REG_BX, -8, BIT(VT_REG_BX)},
		{"\x83\xc3\x01", 3, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x48\x83\xe3\xf0", 4, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x48\x01\xfb", 3, NONE, NONE, 0, BIT(VT_REG_BX)},
		/* add (%rdi),%rbx; addq $1,(%rdi); lea 16(%rdi),%rbx; xchg %rdi,%rbx */
		{"\x48\x03\x1f", 3, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x48\x83\x07\x01", 4, NONE, NONE, 0, 0},
		{"\x48\x8d\x5f\x10", 4, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x48\x87\xfb", 3, NONE, NONE, 0, BIT(VT_REG_BX) | BIT(VT_REG_DI)},
		/* imul $3,%rdi,%rbx; imul $3,(%rdi),%rbx */
		{"\x48\x6b\xdf\x03", 4, NONE, NONE, 0, BIT(VT_REG_BX)},
		{"\x48\x6b\x1f\x03", 4, NONE, NONE, 0, BIT(VT_REG_BX)},
		/* sub $32,%rsp; push %rbx; push %bx; pop %rbx; pop %rsp; leave */
		{"\x48\x83\xec\x20", 4, VT_REG_SP, VT_REG_SP, -32, BIT(VT_REG_SP)},
		{"\x53", 1, VT_REG_SP, VT_REG_SP, -8, BIT(VT_REG_SP)},
		{"\x66\x53", 2, VT_REG_SP, VT_REG_SP, -2, BIT(VT_REG_SP)},
		{"\x5b", 1, VT_REG_SP, VT_REG_SP, 8, BIT(VT_REG_SP) | BIT(VT_REG_BX)},
		{"\x5c", 1, NONE, NONE, 0, BIT(VT_REG_SP)},
		{"\xc9", 1, NONE, NONE, 0, BIT(VT_REG_SP) | BIT(VT_REG_BP)},
		/* enter $16,$0 */
		{"\xc8\x10\0\0", 4, NONE, NONE, 0, BIT(VT_REG_SP) | BIT(VT_REG_BP)},
		/* call; ret; ret $16; jmp */
		{"\xe8\0\0\0\0", 5, VT_REG_SP, VT_REG_SP, -8, BIT(VT_REG_SP)},
		{"\xc3", 1, VT_REG_SP, VT_REG_SP, 8, BIT(VT_REG_SP)},
		{"\xc2\x10\0", 3, VT_REG_SP, VT_REG_SP, 24, BIT(VT_REG_SP)},
		{"\xeb\0", 2, NONE, NONE, 0, 0},
		/* nop; test %rdi,%rdi */
		{"\x90", 1, NONE, NONE, 0, 0},
		{"\x48\x85\xff", 3, NONE, NONE, 0, 0},
	};
	const uint32_t general = (BIT(VT_REG_SP + 1) - 1) | 0xffu << VT_REG_R8;
	struct vti_base_code c;
	struct vt_facts f;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		decode(rows[i].code, rows[i].size, &f);
		/* Behind the last result is none. */
		assert_true(f.nresults < VT_FACT_RESULTS);
		f.results[f.nresults].reg = VT_REG_SP;
		vti_bases_make(&c, &f);
		if (c.to != rows[i].to || c.from != rows[i].from ||
		    (c.to != NONE && c.step != rows[i].step) || (c.lost & general) != rows[i].lost)
			fail_msg("row %u: %u %u %lld %x", i, c.to, c.from, (long long)c.step,
				 c.lost);
	}
	/* syscall, and bytes that are none: nothing is known afterwards. */
	decode("\x0f\x05", 2, &f);
	vti_bases_make(&c, &f);
	assert_true(c.to == NONE && c.from == NONE && (c.lost & general) == general);
	memset(&f, 0, sizeof(f));
	vti_bases_make(&c, &f);
	assert_true(c.to == NONE && c.from == NONE && (c.lost & general) == general);
}

/* ---- symbols ---- */

static struct vt_access find(struct vti_bases *b, struct vti_base_operand o)
{
	struct vt_access a = {.base = 0, .addr = 77};

	assert_true(vti_bases_find(b, &o, &a));
	return a;
}

static struct vt_access at(struct vti_bases *b, uint8_t base, int64_t displacement)
{
	return find(b, (struct vti_base_operand){base, NONE, 0, displacement});
}

static void step(struct vti_bases *b, const char *code, size_t size)
{
	struct vti_base_code c;
	struct vt_facts f;

	decode(code, size, &f);
	vti_bases_make(&c, &f);
	vti_bases_step(b, &c);
}

static void test_symbols(void **state)
{
	struct vti_bases b;
	struct vt_access a, old;

	(void)state;
	vti_bases_init(&b);
	/* Each register has a symbol of its own, from 1 on. */
	assert_int_equal(at(&b, VT_REG_AX, 0).base, 1);
	assert_int_equal(at(&b, VT_REG_R15, 0).base, VTI_BASED);
	a = at(&b, VT_REG_DI, -8);
	old = a;
	assert_int_equal(a.addr, (uint64_t)-8);
	/* add $16,%rdi; mov %rdi,%rbx; sub $8,%rbx */
	step(&b, "\x48\x83\xc7\x10", 4);
	step(&b, "\x48\x89\xfb", 3);
	step(&b, "\x48\x83\xeb\x08", 4);
	a = at(&b, VT_REG_BX, 3);
	assert_int_equal(a.base, old.base);
	assert_int_equal(a.addr, 11);
	assert_int_equal(at(&b, VT_REG_DI, 0).addr, 16);
	/* mov (%rdi),%rdi: something new, the copy stays. */
	step(&b, "\x48\x8b\x3f", 3);
	a = at(&b, VT_REG_DI, 5);
	assert_true(a.base > VTI_BASED);
	assert_int_equal(a.addr, 5);
	assert_int_equal(at(&b, VT_REG_BX, 0).base, old.base);
	/* No operand of that kind: nothing is told. */
	a = find(&b, (struct vti_base_operand){NONE, NONE, 0, 4});
	assert_true(a.base == 0 && a.addr == 77);
	/* A run begins. */
	a = at(&b, VT_REG_BX, 0);
	vti_bases_begin(&b);
	assert_int_not_equal(at(&b, VT_REG_BX, 0).base, a.base);
	assert_int_equal(at(&b, VT_REG_BX, 0).addr, 0);
	vti_bases_fini(&b);
}

/* Two registers are a symbol together, another for each factor. */
static void test_pairs(void **state)
{
	const struct vti_base_operand four = {VT_REG_DI, VT_REG_AX, 4, 100};
	const struct vti_base_operand eight = {VT_REG_DI, VT_REG_AX, 8, 100};
	const struct vti_base_operand other = {VT_REG_DI, VT_REG_CX, 4, 100};
	const struct vti_base_operand swapped = {VT_REG_AX, VT_REG_DI, 4, 100};
	struct vti_bases b;
	struct vt_access a, again;
	uint64_t before;

	(void)state;
	vti_bases_init(&b);
	a = find(&b, four);
	assert_int_equal(a.base, VTI_BASED + 1);
	assert_int_equal(a.addr, 100);
	assert_int_not_equal(find(&b, eight).base, a.base);
	assert_int_not_equal(find(&b, other).base, a.base);
	assert_int_not_equal(find(&b, swapped).base, a.base);
	/* add $16,%rdi; add $3,%rax */
	step(&b, "\x48\x83\xc7\x10", 4);
	step(&b, "\x48\x83\xc0\x03", 4);
	again = find(&b, four);
	assert_int_equal(again.base, a.base);
	assert_int_equal(again.addr, 100 + 16 + 12);
	before = b.next;
	find(&b, four);
	assert_int_equal(b.next, before);
	/* Another run: another symbol, for the registers have others, too. */
	vti_bases_begin(&b);
	assert_int_equal(b.pairs.count, 0);
	assert_int_equal(find(&b, four).base, before + VTI_BASED + 1);
	vti_bases_fini(&b);
}

/* So many pairs, and all are forgotten. */
static void test_many_pairs(void **state)
{
	const struct vti_base_operand o = {VT_REG_DI, VT_REG_AX, 1, 0};
	struct vti_bases b;
	unsigned i;

	(void)state;
	vti_bases_init(&b);
	for (i = 0; i < 65536; i++) {
		find(&b, o);
		/* mov (%rdi),%rdi */
		b.regs[VT_REG_DI].symbol = 1000000 + i;
	}
	assert_int_equal(b.pairs.count, 65536);
	find(&b, o);
	assert_int_equal(b.pairs.count, 1);
	vti_bases_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operands),   cmocka_unit_test(test_codes),
		cmocka_unit_test(test_symbols),	   cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_many_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
