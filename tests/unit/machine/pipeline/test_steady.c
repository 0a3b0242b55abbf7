/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a round of a loop takes on Intel's cores, by the chain or the unit that bounds it: A. Fog,
 * Instruction tables, and the optimization manuals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/schedule.h"

#define MAX_BODY 8
#define ROUNDS	 60
#define COUNTED	 40

struct loop {
	const char *text;
	const char *core;
	double cycles;
	uint8_t size;
	uint8_t code[24];
};

/* clang-format off: a line each. */
static const struct loop loops[] = {
	/* A store is done a cycle after it has the data; 3 cycles later a load has them. */
	{"mov %rax,(%rdi); mov (%rdi),%rax", "skylake", 4, 6, {0x48, 0x89, 0x07, 0x48, 0x8b, 0x07}},
	{"mov %rax,(%rdi); mov (%rdi),%rax", "haswell", 5, 6, {0x48, 0x89, 0x07, 0x48, 0x8b, 0x07}},
	/* Measured: as long as the addition, for bytes that do not fit 25. */
	{"addq $1,(%rdi)", "zen5", 1, 4, {0x48, 0x83, 0x07, 0x01}},
	{"mov %al,(%rdi); mov (%rdi),%rax", "zen5", 25, 5, {0x88, 0x07, 0x48, 0x8b, 0x07}},
	{"mov %rax,(%rdi); mov 8(%rdi),%rax",
	 "skylake",
	 1,
	 7,
	 {0x48, 0x89, 0x07, 0x48, 0x8b, 0x47, 0x08}},
	{"addq $1,(%rdi)", "skylake", 5, 4, {0x48, 0x83, 0x07, 0x01}},
	/* Not all bytes: it is written at D + 2, if it had the data at D, but the load tries at D +
	   4; 15 - 3 more. */
	{"mov %al,(%rdi); mov (%rdi),%eax", "skylake", 16, 4, {0x88, 0x07, 0x8b, 0x07}},
	/* The same address by sums, copies, and what was stored. */
	{"mov %rax,8(%rdi); add $8,%rdi; mov (%rdi),%rax",
	 "skylake",
	 4,
	 11,
	 {0x48, 0x89, 0x47, 0x08, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x8b, 0x07}},
	{"mov %rax,-8(%rdi); sub $8,%rdi; mov (%rdi),%rax",
	 "skylake",
	 4,
	 11,
	 {0x48, 0x89, 0x47, 0xf8, 0x48, 0x83, 0xef, 0x08, 0x48, 0x8b, 0x07}},
	{"mov %rax,8(%rdi); add $16,%rdi; mov (%rdi),%rax",
	 "skylake",
	 1,
	 11,
	 {0x48, 0x89, 0x47, 0x08, 0x48, 0x83, 0xc7, 0x10, 0x48, 0x8b, 0x07}},
	{"mov %rax,1(%rdi); inc %rdi; mov (%rdi),%rax",
	 "skylake",
	 4,
	 10,
	 {0x48, 0x89, 0x47, 0x01, 0x48, 0xff, 0xc7, 0x48, 0x8b, 0x07}},
	{"mov %rax,-1(%rdi); dec %rdi; mov (%rdi),%rax",
	 "skylake",
	 4,
	 10,
	 {0x48, 0x89, 0x47, 0xff, 0x48, 0xff, 0xcf, 0x48, 0x8b, 0x07}},
	{"mov %rax,(%rdi,%rcx,8); lea (%rdi,%rcx,8),%rsi; mov (%rsi),%rax",
	 "skylake",
	 4,
	 11,
	 {0x48, 0x89, 0x04, 0xcf, 0x48, 0x8d, 0x34, 0xcf, 0x48, 0x8b, 0x06}},
	{"mov %rax,(%rdi,%rcx,8); lea (%rdi,%rcx,4),%rsi; mov (%rsi),%rax",
	 "skylake",
	 1,
	 11,
	 {0x48, 0x89, 0x04, 0xcf, 0x48, 0x8d, 0x34, 0x8f, 0x48, 0x8b, 0x06}},
	{"mov %rdi,%rsi; mov %rax,(%rsi); mov (%rdi),%rax",
	 "skylake",
	 4,
	 9,
	 {0x48, 0x89, 0xfe, 0x48, 0x89, 0x06, 0x48, 0x8b, 0x07}},
	{"mov %rdi,(%rsp); mov (%rsp),%rsi; mov %rax,(%rsi); mov (%rdi),%rax",
	 "skylake",
	 4,
	 14,
	 {0x48, 0x89, 0x3c, 0x24, 0x48, 0x8b, 0x34, 0x24, 0x48, 0x89, 0x06, 0x48, 0x8b, 0x07}},
	{"push %rax; pop %rax", "skylake", 4, 2, {0x50, 0x58}},
	/* Written in between. */
	{"mov %rax,(%rdi); mov (%rdx),%rdi; mov (%rdi),%rax",
	 "skylake",
	 1,
	 9,
	 {0x48, 0x89, 0x07, 0x48, 0x8b, 0x7a, 0x08, 0x90, 0x90}},

	/* Pointers that were loaded; Optimization Reference Manual, 2.5.4.1 and table 2-19. */
	{"mov (%rax),%rax", "skylake", 4, 3, {0x48, 0x8b, 0x00}},
	{"mov 2047(%rax),%rax", "skylake", 4, 7, {0x48, 0x8b, 0x80, 0xff, 0x07, 0x00, 0x00}},
	{"mov 2048(%rax),%rax", "skylake", 5, 7, {0x48, 0x8b, 0x80, 0x00, 0x08, 0x00, 0x00}},
	{"mov -1(%rax),%rax", "skylake", 5, 4, {0x48, 0x8b, 0x40, 0xff}},
	{"mov (%rax,%rcx),%rax", "skylake", 5, 4, {0x48, 0x8b, 0x04, 0x08}},
	{"mov (%rax),%rcx; mov %rcx,%rax", "skylake", 4, 6, {0x48, 0x8b, 0x08, 0x48, 0x89, 0xc8}},
	{"add (%rax),%rax", "skylake", 6, 3, {0x48, 0x03, 0x00}},
	{"movslq (%rax),%rax", "skylake", 5, 3, {0x48, 0x63, 0x00}},
	{"mov (%rax),%rax", "icelake", 5, 3, {0x48, 0x8b, 0x00}},

	/* An addition of what the pop moved, and that of the program. */
	{"add $8,%rsp; pop %rbx", "skylake", 2, 5, {0x48, 0x83, 0xc4, 0x08, 0x5b}},
	{"pop %rbx; pop %rcx", "skylake", 1, 2, {0x5b, 0x59}},

	/* The register that is written is needed: wholly, as a part, or by what is said to be a
	   fault. */
	{"cmovne %rcx,%rax", "skylake", 1, 4, {0x48, 0x0f, 0x45, 0xc1}},
	{"mov $1,%al", "skylake", 1, 2, {0xb0, 0x01}},
	{"mov (%rdi),%al", "skylake", 1, 2, {0x8a, 0x07}},
	{"seta %al", "skylake", 1, 3, {0x0f, 0x97, 0xc0}},
	{"bsf %rcx,%rax", "skylake", 3, 4, {0x48, 0x0f, 0xbc, 0xc1}},
	{"tzcnt %rcx,%rax", "skylake", 1, 5, {0xf3, 0x48, 0x0f, 0xbc, 0xc1}},
	{"tzcnt %rcx,%rax", "haswell", 3, 5, {0xf3, 0x48, 0x0f, 0xbc, 0xc1}},
	{"cvtsi2sd %eax,%xmm0", "skylake", 4, 4, {0xf2, 0x0f, 0x2a, 0xc0}},
	/* Four of them are renamed in a cycle; one to itself is an operation. */
	{"mov %ecx,%eax", "skylake", 0.25, 2, {0x89, 0xc8}},
	{"mov %eax,%eax", "skylake", 1, 2, {0x89, 0xc0}},
	{"add %ah,%al", "skylake", 2, 2, {0x00, 0xe0}},
	{"and $1,%ah", "skylake", 1, 3, {0x80, 0xe4, 0x01}},

	/* Shifts by cl take two cycles, which flags of before do not delay. */
	{"shl %cl,%eax", "skylake", 2, 2, {0xd3, 0xe0}},
	{"shl %cl,%eax; cmp %edx,%eax", "skylake", 2, 4, {0xd3, 0xe0, 0x39, 0xd0}},
	{"shl %cl,%eax", "haswell", 2, 2, {0xd3, 0xe0}},
	{"lea (%rax,%rcx),%rax", "skylake", 1, 4, {0x48, 0x8d, 0x04, 0x08}},
	{"lea 1(%rax,%rcx),%rax", "skylake", 3, 5, {0x48, 0x8d, 0x44, 0x08, 0x01}},
	{"lea (%rbp,%rcx),%rbp", "skylake", 3, 5, {0x48, 0x8d, 0x6c, 0x0d, 0x00}},
	{"lea (%r13,%rcx),%r13", "skylake", 3, 5, {0x4d, 0x8d, 0x6c, 0x0d, 0x00}},
	/* The divider is free before the result is there. */
	{"mov %esi,%eax; cltd; idiv %ecx", "skylake", 6, 5, {0x89, 0xf0, 0x99, 0xf7, 0xf9}},
	{"cltd; idiv %ecx", "skylake", 27, 3, {0x99, 0xf7, 0xf9}},
	{"xor %edx,%edx; mov %rsi,%rax; div %rcx",
	 "skylake",
	 21,
	 8,
	 {0x31, 0xd2, 0x48, 0x89, 0xf0, 0x48, 0xf7, 0xf1}},
	{"mov %esi,%eax; cltd; idiv %ecx", "haswell", 9, 5, {0x89, 0xf0, 0x99, 0xf7, 0xf9}},

	/* Two loads a cycle, but not of one bank in two lines. */
	{"mov (%rdi),%rax; mov 64(%rdi),%rcx",
	 "skylake",
	 1,
	 7,
	 {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x4f, 0x40}},
	{"mov (%rdi),%rax; mov 64(%rdi),%rcx",
	 "ivybridge",
	 2,
	 7,
	 {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x4f, 0x40}},
	{"mov (%rdi),%rax; mov 72(%rdi),%rcx",
	 "ivybridge",
	 1,
	 7,
	 {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x4f, 0x48}},
	{"mov (%rdi),%rax; mov (%rdi),%rcx",
	 "ivybridge",
	 1,
	 6,
	 {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x0f}},
};
/* clang-format on */

static double time_loop(const struct loop *l)
{
	static const struct vt_mop *list[MAX_BODY * ROUNDS];
	static struct vt_schedule_cost costs[MAX_BODY * COUNTED];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_mop ops[MAX_BODY];
	struct vt_core m;
	size_t at, n = 0, i;
	double sum = 0;

	assert_int_equal(vt_core_load(&m, l->core, &err), 0);
	for (at = 0; at < l->size; at += ops[n++].length)
		assert_true(vt_core_op(&m, l->code + at, l->size - at, &ops[n]));
	for (i = 0; i < n * ROUNDS; i++)
		list[i] = &ops[i % n];
	assert_int_equal(vt_schedule(&m, list, n * ROUNDS, n * (ROUNDS - COUNTED), costs, &err), 0);
	for (i = 0; i < n * COUNTED; i++)
		sum += (double)costs[i].head;
	return sum / COUNTED;
}

static void rounds_take_what_bounds_them(void **state)
{
	unsigned i, bad = 0;

	(void)state;
	for (i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		const double cycles = time_loop(&loops[i]);

		if (cycles > loops[i].cycles - 0.01 && cycles < loops[i].cycles + 0.01)
			continue;
		print_message("# %s on %s: %.3f\n", loops[i].text, loops[i].core, cycles);
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* An index takes apart what was decoded as one: Optimization Reference Manual, 2.3.2.4 and 3.4.2.1.
 */
static void indexed_operations_come_apart(void **state)
{
	static const struct {
		uint8_t code[5];
		uint8_t size, skylake, ivybridge;
	} cases[] = {
		{{0x48, 0x03, 0x04, 0x0f}, 4, 1, 2},	   /* add (%rdi,%rcx),%rax */
		{{0x48, 0x03, 0x07}, 3, 1, 1},		   /* add (%rdi),%rax */
		{{0x48, 0x3b, 0x04, 0x0f}, 4, 1, 2},	   /* cmp (%rdi,%rcx),%rax */
		{{0xc5, 0xe9, 0xfe, 0x04, 0x0f}, 5, 2, 2}, /* vpaddd (%rdi,%rcx),%xmm2,%xmm0 */
		{{0xc5, 0xf9, 0xfe, 0x04, 0x0f}, 5, 1, 2}, /* vpaddd (%rdi,%rcx),%xmm0,%xmm0 */
		{{0x48, 0x89, 0x04, 0x0f}, 4, 1, 2},	   /* mov %rax,(%rdi,%rcx) */
		{{0x48, 0x8b, 0x04, 0x0f}, 4, 1, 1},	   /* mov (%rdi,%rcx),%rax */
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	struct vt_mop op;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(vt_core_load(&m, "skylake", &err), 0);
		assert_true(vt_core_op(&m, cases[i].code, cases[i].size, &op));
		assert_int_equal(op.decoded, 1);
		assert_int_equal(op.slots, cases[i].skylake);
		assert_int_equal(vt_core_load(&m, "ivybridge", &err), 0);
		assert_true(vt_core_op(&m, cases[i].code, cases[i].size, &op));
		assert_int_equal(op.decoded, 1);
		assert_int_equal(op.slots, cases[i].ivybridge);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_take_what_bounds_them),
		cmocka_unit_test(indexed_operations_come_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
