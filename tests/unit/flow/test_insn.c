/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What single instructions make of a state on the way to an indirect jump: the names that results
 * get, comparisons, the stack, and what memory is changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flow/state_internal.h"
#include "tests/unit/flow/values.h"

#define START 0x401000u
#define M32   UINT64_C(0xffffffff)
#define M64   UINT64_MAX

static bool is_constant(void *arg, uint64_t vaddr)
{
	(void)arg;
	(void)vaddr;
	return false;
}

static bool read_word(void *arg, uint64_t vaddr, unsigned size, uint64_t *value)
{
	(void)arg;
	(void)vaddr;
	(void)size;
	(void)value;
	return false;
}

static const struct vti_memory memory = {NULL, is_constant, read_word};

/* Does instructions, in hexadecimal; the first is at offset 0, so that names begin there anew. */
static void step(struct vti_flowstate *s, const char *text)
{
	uint8_t code[64];
	struct vt_facts f;
	size_t size, at;
	int used;

	for (size = 0; sscanf(text, " %2hhx%n", &code[size], &used) == 1; size++)
		text += used;
	for (at = 0; at < size; at += f.length) {
		assert_true(vt_facts_decode(code + at, size - at, &f));
		vti_flowstate_step(s, &f, START + at, (uint32_t)at, &memory);
	}
}

static struct vti_flowstate after(const char *text)
{
	struct vti_flowstate s;

	vti_flowstate_start(&s);
	step(&s, text);
	return s;
}

#define MADE(at) (VTI_NAME_MADE | (at))
#define LOAD(at) (VTI_NAME_LOAD | (at))
#define OF(reg)	 (VTI_NAME_START | (reg))

/* ---- names ---- */

/* What AX is afterwards: a name plus a distance, and whether it was computed. */
static const struct {
	const char *text, *code;
	uint64_t sym, off;
	unsigned width;
	bool sext, computed;
	uint64_t lo, hi, stride;
} names[] = {
	{"mov %rdi,%rax", "4889f8", OF(5), 0, 64, false, false, 0, M64, 1},
	{"mov %edi,%eax", "89f8", OF(5), 0, 32, false, false, 0, M32, 1},
	{"movzwl %di,%eax", "0fb7c7", OF(5), 0, 16, false, false, 0, 0xffff, 1},
	{"movslq %edi,%rax", "4863c7", OF(5), 0, 32, true, false, 0, M64, 1},
	{"movswl %di,%eax", "0fbfc7", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"mov (%rdi),%rax", "488b07", LOAD(0), 0, 64, false, false, 0, M64, 1},
	{"mov (%rdi),%eax", "8b07", LOAD(0), 0, 32, false, false, 0, M32, 1},
	{"movzbl (%rdi),%eax", "0fb607", LOAD(0), 0, 8, false, false, 0, 255, 1},
	{"movslq (%rdi),%rax", "486307", LOAD(0), 0, 32, true, false, 0, M64, 1},
	{"movsbl (%rdi),%eax", "0fbe07", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"mov %fs:(%rdi),%rax", "64488b07", LOAD(0), 0, 64, false, false, 0, M64, 1},
	{"nop; mov (%rdi),%rax", "90 488b07", LOAD(1), 0, 64, false, false, 0, M64, 1},
	{"lea 5(%rdi),%rax", "488d4705", OF(5), 5, 64, false, false, 0, M64, 1},
	{"lea 5(%rdi),%eax", "8d4705", OF(5), 5, 32, false, false, 0, M32, 1},
	{"add $5,%rax", "4883c005", OF(0), 5, 64, false, false, 0, M64, 1},
	{"add $5,%eax", "83c005", OF(0), 5, 32, false, false, 0, M32, 1},
	{"sub $5,%rax", "4883e805", OF(0), -UINT64_C(5), 64, false, false, 0, M64, 1},
	{"sub $5,%eax", "83e805", OF(0), M32 - 4, 32, false, false, 0, M32, 1},
	{"inc %rax", "48ffc0", OF(0), 1, 64, false, false, 0, M64, 1},
	{"dec %rax", "48ffc8", OF(0), M64, 64, false, false, 0, M64, 1},
	{"dec %eax", "ffc8", OF(0), M32, 32, false, false, 0, M32, 1},
	{"add %rdi,%rax", "4801f8", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"add (%rdi),%rax", "480307", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"sub %rdi,%rax", "4829f8", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"sub (%rdi),%eax", "2b07", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"and %edi,%eax", "21f8", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"and $6,%eax", "83e006", MADE(0), 0, 64, false, true, 0, 6, 2},
	{"shl $2,%rax", "48c1e002", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"shl %cl,%eax", "d3e0", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"shr $60,%rax", "48c1e83c", MADE(0), 0, 64, false, true, 0, 15, 1},
	{"shr %cl,%eax", "d3e8", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"imul $3,(%rdi),%eax", "6b0703", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"imul %edi,%eax", "0fafc7", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"xor %edi,%eax", "31f8", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"xor $0,%eax", "83f000", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"xor (%rdi),%rax", "483307", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"xor %fs:(%rdi),%rax", "64483307", MADE(0), 0, 64, false, false, 0, M64, 1},
	{"or %edi,%eax", "09f8", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"not %rax", "48f7d0", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"bsf %rdi,%rax", "480fbcc7", MADE(0), 0, 64, false, true, 0, 63, 1},
	{"lzcnt %rdi,%rax", "f3480fbdc7", MADE(0), 0, 64, false, true, 0, 63, 1},
	{"popcnt %rdi,%rax", "f3480fb8c7", MADE(0), 0, 64, false, true, 0, 63, 1},
	{"mov %cr0,%rax", "0f20c0", 0, 0, 64, false, false, 0, M64, 1},
	{"syscall", "0f05", 0, 0, 64, false, false, 0, M64, 1},
	{"and $0xff,%eax", "25ff000000", OF(0), 0, 8, false, false, 0, 255, 1},
	{"and $0xffff,%eax", "25ffff0000", OF(0), 0, 16, false, false, 0, 0xffff, 1},
	{"and $-1,%eax", "83e0ff", OF(0), 0, 32, false, false, 0, M32, 1},
	{"cltq", "4898", OF(0), 0, 32, true, false, 0, M64, 1},
	{"cwtl", "98", MADE(0), 0, 64, false, true, 0, M32, 1},
	{"pop %rax", "58", LOAD(0), 0, 64, false, false, 0, M64, 1},
	{"call", "e800000000", LOAD(0), 0, 64, false, false, 0, M64, 1},
	{"cmove %rdi,%rax", "480f44c7", MADE(0), 0, 64, false, false, 0, M64, 1},
	{"mov %rax,%rdi; cmove %rdi,%rax", "4889c7 480f44c7", OF(0), 0, 64, false, false, 0, M64,
	 1},
	{"mov %dil,%al", "4088f8", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"mov %ah,%al", "88e0", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"mov %al,%ah", "88c4", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"xchg %rax,%rdi", "4897", 0, 0, 64, false, true, 0, M64, 1},
	{"mul %rdi", "48f7e7", 0, 0, 64, false, true, 0, M64, 1},
	{"lodsb", "ac", MADE(0), 0, 64, false, true, 0, M64, 1},
	{"cpuid", "0fa2", 0, 0, 64, false, true, 0, M64, 1},
	{"movd %xmm0,%eax", "660f7ec0", MADE(0), 0, 64, false, true, 0, M32, 1},
};

static void test_names(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct vti_flowstate s = after(names[i].code);
		const struct vti_value *v = &s.regs[VT_REG_AX];

		if (v->entry || v->sym != names[i].sym || v->off != names[i].off ||
		    v->width != names[i].width || v->sext != names[i].sext ||
		    v->computed != names[i].computed || v->lo != names[i].lo ||
		    v->hi != names[i].hi || v->stride != names[i].stride)
			fail_msg("%s: %#lx + %#lx, width %u%s%s, %#lx to %#lx by %#lx",
				 names[i].text, (unsigned long)v->sym, (unsigned long)v->off,
				 v->width, v->sext ? ", signed" : "",
				 v->computed ? ", computed" : "", (unsigned long)v->lo,
				 (unsigned long)v->hi, (unsigned long)v->stride);
	}
}

/* A name is given to one value at a time: what an instruction made before has none any more. */
static void test_made_again(void **state)
{
	/* One that makes AX, and mov %rax,%rbx, of which all but the last make a new value. */
	static const struct {
		const char *text, *make;
		uint64_t sym; /* of BX when it is made again */
	} pieces[] = {
		{"and $6,%eax", "83e006", 0},
		{"mov %fs:(%rdi),%rax", "64488b07", 0},
		{"movsbl (%rdi),%eax", "0fbe07", 0},
		{"add %rdi,%rax", "4801f8", 0},
		{"mov %dil,%al", "4088f8", 0},
		{"call", "e800000000", 0},
		{"pop %rax", "58", 0},
		{"cmove %rdi,%rax", "480f44c7", 0},
		{"mov %rsi,%rax", "4889f0", OF(4)},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct vti_flowstate s = after(pieces[i].make);
		uint64_t sym = s.regs[VT_REG_AX].sym;

		assert_int_not_equal(sym, 0);
		vti_flowstate_put(&s, VT_REG_BX, &s.regs[VT_REG_AX]);
		step(&s, pieces[i].make);
		assert_int_equal(s.regs[VT_REG_AX].sym, sym);
		if (s.regs[VT_REG_BX].sym != pieces[i].sym)
			fail_msg("%s", pieces[i].text);
	}
}

/* ---- comparisons ---- */

static void test_compares(void **state)
{
	/* What is compared: a name, and so many bits of it; with what. */
	static const struct {
		const char *text, *code;
		bool valid;
		uint64_t sym;
		unsigned width;
		uint64_t with;
	} compares[] = {
		{"cmp $5,%rdi", "4883ff05", true, OF(5), 64, 5},
		{"cmp $-1,%rdi", "4883ffff", true, OF(5), 64, M64},
		{"cmp $5,%edi", "83ff05", true, OF(5), 32, 5},
		{"cmp $-1,%edi", "83ffff", true, OF(5), 32, M32},
		{"cmp $-1,%di", "6683ffff", true, OF(5), 16, 0xffff},
		{"cmp $-1,%dil", "4080ffff", true, OF(5), 8, 0xff},
		{"cmp $5,%ah", "80fc05", false, 0, 0, 0},
		{"cmp $5,%r9d", "4183f905", true, OF(9), 32, 5},
		{"test %edi,%edi", "85ff", true, OF(5), 32, 0},
		{"test %dil,%dil", "4084ff", true, OF(5), 8, 0},
		{"test %ah,%ah", "84e4", false, 0, 0, 0},
		{"test %al,%ah", "84c4", false, 0, 0, 0},
		{"test %ah,%al", "84e0", false, 0, 0, 0},
		{"test %esi,%edi", "85f7", false, 0, 0, 0},
		{"test $5,%edi", "f7c705000000", false, 0, 0, 0},
		{"test $5,%eax", "a905000000", false, 0, 0, 0},
		{"test %edi,(%rsi)", "853e", false, 0, 0, 0},
		{"cmp %esi,%edi", "39f7", false, 0, 0, 0},
		{"mov $7,%esi; cmp %esi,%edi", "be07000000 39f7", true, OF(5), 32, 7},
		{"mov $7,%ebx; cmp %ebx,%edi", "bb07000000 39df", true, OF(5), 32, 7},
		{"mov $7,%ebx; cmp %bl,%ah", "bb07000000 38dc", false, 0, 0, 0},
		{"mov $7,%ebx; cmp %bh,%al", "bb07000000 38f8", false, 0, 0, 0},
		{"mov $7,%edi; cmp (%rsi),%edi", "bf07000000 3b3e", false, 0, 0, 0},
		{"mov $7,%edi; cmp %edi,(%rsi)", "bf07000000 393e", false, 0, 0, 0},
		{"cmpl $5,(%rsi)", "833e05", true, LOAD(0), 32, 5},
		{"cmpb $5,(%rsi)", "803e05", true, LOAD(0), 8, 5},
		{"cmpq $-5,(%rsi)", "48833efb", true, LOAD(0), 64, -UINT64_C(5)},
		/* What has no name gets one. */
		{"call; cmp $5,%edi", "e800000000 83ff05", true, MADE(5), 32, 5},
		{"call; cmp $5,%r9", "e800000000 4983f905", true, MADE(5), 64, 5},
		{"call; test %si,%si", "e800000000 6685f6", true, MADE(5), 16, 0},
		{"call; cmp $5,%eax", "e800000000 83f805", true, LOAD(0), 32, 5},
		{"xchg %rax,%rdi; cmp $5,%eax", "4897 83f805", true, MADE(2), 32, 5},
		{"mov $7,%edi; cmp $5,%edi", "bf07000000 83ff05", true, 0, 32, 5},
		/* Others make what was known of flags nothing, but not those that leave them. */
		{"cmp $5,%edi; cmp %esi,%edi", "83ff05 39f7", false, 0, 0, 0},
		{"cmp $5,%edi; test %esi,%edi", "83ff05 85f7", false, 0, 0, 0},
		{"cmp $5,%edi; inc %esi", "83ff05 ffc6", false, 0, 0, 0},
		{"cmp $5,%edi; mov %esi,%ecx", "83ff05 89f1", true, OF(5), 32, 5},
		{"cmp $5,%edi; push %rsi; pop %rsi", "83ff05 56 5e", true, OF(5), 32, 5},
		{"cmp $5,%edi; leave", "83ff05 c9", true, OF(5), 32, 5},
		{"cmp $5,%edi; nop", "83ff05 90", true, OF(5), 32, 5},
		{"cmp $5,%edi; call", "83ff05 e800000000", false, 0, 0, 0},
		{"test %xmm0,%xmm0: vptest", "83ff05 c4e27917c0", false, 0, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
		struct vti_flowstate s = after(compares[i].code);
		const struct vti_compare *c = &s.compare;

		if (c->valid != compares[i].valid)
			fail_msg("%s", compares[i].text);
		if (c->valid && (c->value.sym != compares[i].sym || c->width != compares[i].width ||
				 c->with != compares[i].with))
			fail_msg("%s: %#lx, width %u, with %#lx", compares[i].text,
				 (unsigned long)c->value.sym, c->width, (unsigned long)c->with);
	}
}

/* The name is that of the whole register from now on, with no distance. */
static void test_named(void **state)
{
	struct vti_flowstate s = after("");
	struct vti_value v = vti_value_range(0, M64 - 1), entry = v;

	(void)state;
	v.off = 3;
	v.width = 32;
	v.sext = true;
	vti_flowstate_put(&s, VT_REG_DI, &v);
	s.regs[VT_REG_BX].sym = MADE(0);
	step(&s, "4883ff05");
	assert_int_equal(s.regs[VT_REG_DI].sym, MADE(0));
	assert_int_equal(s.regs[VT_REG_DI].off, 0);
	assert_int_equal(s.regs[VT_REG_DI].width, 64);
	assert_false(s.regs[VT_REG_DI].sext);
	assert_int_equal(s.regs[VT_REG_BX].sym, 0);
	assert_int_equal(s.compare.value.sym, MADE(0));
	/* Entries and constants are known by what they are. */
	entry.entry = true;
	entry.size = 8;
	vti_flowstate_put(&s, VT_REG_DI, &entry);
	step(&s, "4883ff05");
	assert_int_equal(s.regs[VT_REG_DI].sym, 0);
	entry = vti_value_constant(4);
	vti_flowstate_put(&s, VT_REG_DI, &entry);
	step(&s, "4883ff05");
	assert_int_equal(s.regs[VT_REG_DI].sym, 0);
}

/* Only what is compared with a number gets a name. */
static void test_not_named(void **state)
{
	struct vti_flowstate s = after("e800000000 39f7"); /* call; cmp %esi,%edi */

	(void)state;
	assert_false(s.compare.valid);
	assert_int_equal(s.regs[VT_REG_DI].sym, 0);
	assert_int_equal(s.regs[VT_REG_SI].sym, 0);
	s = after("e800000000 80fc05"); /* call; cmp $5,%ah */
	assert_false(s.compare.valid);
	assert_int_equal(s.regs[VT_REG_AX].sym, LOAD(0));
}

/* ---- what no instruction has, or none that these are known of ---- */

#define MEMORY .index = VT_REG_NONE, .segment = VT_REG_NONE, .size = 8

/* Of several places in memory, the first that is read or written; what is behind the last is none.
 */
static void test_which_memory(void **state)
{
	static const struct {
		bool read[2], written[2], gather;
		unsigned count;
		int found; /* by a jump, or by a move; -1: none */
	} cases[] = {
		{{true, true}, {false, false}, false, 2, 0},
		{{false, true}, {true, false}, false, 2, 1},
		{{false, true}, {true, false}, false, 1, -1},
		{{true, true}, {false, false}, true, 2, 1},
		{{true, true}, {false, false}, true, 1, -1},
		{{true, true}, {false, false}, false, 0, -1},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_flowstate s = after(""), w = s;
		struct vt_facts f = {.mnemonic = "jmp", .nmemories = (uint8_t)cases[i].count};
		struct vt_facts mov = {.mnemonic = "mov",
				       .nmemories = (uint8_t)cases[i].count,
				       .has_immediate = true,
				       .immediate = 3};
		struct vti_value v;

		for (k = 0; k < 2; k++) {
			uint8_t base = k ? VT_REG_DI : VT_REG_SI;

			f.memories[k] = (struct vt_memory){
				MEMORY, .base = base, .read = cases[i].read[k],
				.written = cases[i].written[k], .gather = !k && cases[i].gather};
			/* The same, written instead of read. */
			mov.memories[k] = (struct vt_memory){MEMORY, .base = base,
							     .read = cases[i].written[k],
							     .written = cases[i].read[k]};
		}
		v = vti_flowstate_target(&s, &f, START, 9, &memory);
		assert_int_equal(v.sym, cases[i].found < 0 ? 0 : LOAD(9));
		assert_int_equal(s.ncells, cases[i].found >= 0);
		if (s.ncells)
			assert_int_equal(s.cells[0].sym, OF(cases[i].found ? 5 : 4));
		if (cases[i].gather)
			continue;
		vti_flowstate_step(&w, &mov, START, 9, &memory);
		assert_int_equal(w.ncells, cases[i].found >= 0);
		if (w.ncells)
			assert_int_equal(w.cells[0].sym, OF(cases[i].found ? 5 : 4));
	}
}

/* All that is written changes, also what is no result; of the stack pointer others know. */
static void test_written_only(void **state)
{
	static const uint8_t regs[VTI_STATE_REGS] = {
		VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,
		VT_REG_SI,     VT_REG_DI,     VT_REG_BP,     VT_REG_SP,
		VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
		VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15};
	unsigned i, k, results;

	(void)state;
	for (i = 0; i < VTI_STATE_REGS; i++)
		for (results = 0; results < 3; results++) {
			struct vti_flowstate s = after("");
			struct vt_facts f = {.mnemonic = "other",
					     .writes = UINT64_C(1) << regs[i],
					     .nresults = (uint8_t)results};
			/* Behind the results, there are none. */
			struct vt_operand o = {.reg = regs[i], .size = 1};
			int at = vti_flowstate_index(regs[i]);

			f.results[0].reg = VT_REG_NONE;
			f.results[0].size = 8;
			f.results[1] = o;
			vti_flowstate_step(&s, &f, START, 9, &memory);
			for (k = 0; k < VTI_STATE_REGS; k++) {
				bool written =
					(int)k == at && (regs[i] != VT_REG_SP || results == 2);

				/* A result of one byte has a name. */
				assert_int_equal(s.regs[k].sym, !written       ? OF(k)
								: results == 2 ? MADE(9)
									       : 0);
				assert_int_equal(s.regs[k].computed, written);
				assert_int_equal(s.regs[k].hi, M64);
			}
			/* What a result says of it holds. */
			if (results < 2)
				continue;
			s = after("");
			o.size = 8;
			f = (struct vt_facts){.mnemonic = "mov",
					      .writes = UINT64_C(1) << regs[i],
					      .nresults = 1,
					      .results = {o},
					      .has_immediate = true,
					      .immediate = 7};
			vti_flowstate_step(&s, &f, START, 9, &memory);
			assert_true(is_number(&s.regs[at], 7));
		}
}

static void test_no_operands(void **state)
{
	struct vti_flowstate s = after("83ff05"); /* cmp $5,%edi */
	struct vt_facts f = {.mnemonic = "cmp", .has_immediate = true, .immediate = 7};
	struct vti_value v;

	(void)state;
	assert_true(s.compare.valid);
	vti_flowstate_step(&s, &f, START, 9, &memory);
	assert_false(s.compare.valid);
	f = (struct vt_facts){.mnemonic = "jmp"};
	v = vti_flowstate_target(&s, &f, START, 9, &memory);
	assert_true(v.sym == 0 && !v.computed && v.lo == 0 && v.hi == M64);
}

/* ---- calls, the stack, memory ---- */

/* A call changes these registers, and what is in memory. */
static void test_call(void **state)
{
	static const bool changed[VTI_STATE_REGS] = {
		[VT_REG_AX] = true, [VT_REG_CX] = true, [VT_REG_DX] = true,
		[VT_REG_SI] = true, [VT_REG_DI] = true, [8] = true,
		[9] = true,	    [10] = true,	[11] = true};
	struct vti_flowstate s = after("c70607000000 83ff05 e800000000");
	unsigned i;

	(void)state;
	for (i = 0; i < VTI_STATE_REGS; i++) {
		assert_int_equal(s.regs[i].sym, !changed[i] ? OF(i) : i ? 0 : LOAD(9));
		assert_int_equal(s.regs[i].hi, M64);
		assert_false(s.regs[i].computed);
	}
	assert_int_equal(s.ncells, 0);
	assert_false(s.compare.valid);
}

/* Where the stack pointer is, in bytes from the start; 1: nobody knows. */
static void test_stack(void **state)
{
	static const struct {
		const char *text, *code;
		int64_t at;
	} pieces[] = {
		{"push %rax", "50", -8},
		{"push $5", "6a05", -8},
		{"push (%rdi)", "ff37", -8},
		{"pop %rax", "58", 8},
		{"pop %rax; pop %rax; push %rax", "58 58 50", 8},
		{"add $16,%rsp", "4883c410", 16},
		{"mov %rsp,%rbp; sub $64,%rsp; leave", "4889e5 4883ec40 c9", 8},
		{"lea -16(%rsp),%rbp; leave", "488d6c24f0 c9", -8},
		{"leave", "c9", 1},
		{"pop %rsp", "5c", 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct vti_flowstate s = after(pieces[i].code);
		const struct vti_value *v = &s.regs[VT_REG_SP];

		if (pieces[i].at == 1)
			assert_int_not_equal(v->sym, VTI_NAME_STACK);
		else if (v->sym != VTI_NAME_STACK || v->off != (uint64_t)pieces[i].at)
			fail_msg("%s: %ld", pieces[i].text, (long)v->off);
	}
}

/* What memory is known of after `movl $7,(%rsi)` or a push, and something else. */
static void test_memory(void **state)
{
	/* The word that is there at last, and how many are: its address, size, and what is in it.
	 */
	static const struct {
		const char *text, *code;
		unsigned ncells;
		uint64_t sym, off;
		unsigned size;
		uint64_t value_sym, lo, hi;
	} pieces[] = {
		{"movl $7,(%rsi)", "c70607000000", 1, OF(4), 0, 4, 0, 7, 7},
		{"movq $-7,8(%rsi)", "48c74608f9ffffff", 1, OF(4), 8, 8, 0, M64 - 6, M64 - 6},
		{"movb $-7,8(%rsi)", "c64608f9", 1, OF(4), 8, 1, 0, 0xf9, 0xf9},
		{"mov %rdi,(%rsi)", "48893e", 1, OF(4), 0, 8, OF(5), 0, M64},
		{"mov %edi,(%rsi)", "893e", 1, OF(4), 0, 4, OF(5), 0, M32},
		{"mov %dil,(%rsi)", "40883e", 1, OF(4), 0, 1, OF(5), 0, 255},
		{"mov %ah,(%rsi)", "8826", 1, OF(4), 0, 1, 0, 0, 255},
		{"mov %edi,4(%rip)", "893d04000000", 1, 0, START + 10, 4, OF(5), 0, M32},
		{"add %edi,(%rsi)", "013e", 1, OF(4), 0, 4, 0, 0, M32},
		{"movaps %xmm0,(%rsi)", "0f2906", 0, 0, 0, 0, 0, 0, 0},
		{"movq %xmm0,(%rsi)", "660fd606", 1, OF(4), 0, 8, 0, 0, M64},
		{"mov (%rsi),%edi", "8b3e", 1, OF(4), 0, 4, LOAD(0), 0, M32},
		{"mov (%rsi),%rsi", "488b36", 1, OF(4), 0, 8, LOAD(0), 0, M64},
		{"push %rdi", "57", 1, OF(7), M64 - 7, 8, OF(5), 0, M64},
		{"push (%rsi)", "ff36", 1, OF(7), M64 - 7, 8, 0, 0, M64},
		{"push $5", "6a05", 1, OF(7), M64 - 7, 8, 0, 0, M64},
		{"pop %rdi", "5f", 1, OF(7), 0, 8, LOAD(0), 0, M64},
		{"movl $7,(%rsi); mov %edi,(%rdx)", "c70607000000 893a", 1, OF(3), 0, 4, OF(5), 0,
		 M32},
		{"movl $7,(%rsi); mov %edi,%fs:(%rdx)", "c70607000000 64893a", 0, 0, 0, 0, 0, 0, 0},
		{"movl $7,(%rsi); stosb", "c70607000000 aa", 1, OF(5), 0, 1, 0, 0, 255},
		{"movl $7,(%rsi); rep stosb", "c70607000000 f3aa", 0, 0, 0, 0, 0, 0, 0},
		{"movl $7,(%rsi); syscall", "c70607000000 0f05", 0, 0, 0, 0, 0, 0, 0},
		{"movl $7,(%rsi); nop (%rsi)", "c70607000000 0f1f06", 1, OF(4), 0, 4, 0, 7, 7},
		{"movl $7,(%rsi); cmpl $7,(%rsi)", "c70607000000 833e07", 1, OF(4), 0, 4, 0, 7, 7},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct vti_flowstate s = after(pieces[i].code);
		const struct vti_flowcell *c = &s.cells[s.ncells ? s.ncells - 1 : 0];

		if (s.ncells != pieces[i].ncells)
			fail_msg("%s: %u words", pieces[i].text, s.ncells);
		if (s.ncells && (c->sym != pieces[i].sym || c->off != pieces[i].off ||
				 c->size != pieces[i].size || c->value.sym != pieces[i].value_sym ||
				 c->value.lo != pieces[i].lo || c->value.hi != pieces[i].hi))
			fail_msg("%s: %u bytes at %#lx + %#lx: %#lx, %#lx to %#lx", pieces[i].text,
				 c->size, (unsigned long)c->sym, (unsigned long)c->off,
				 (unsigned long)c->value.sym, (unsigned long)c->value.lo,
				 (unsigned long)c->value.hi);
	}
}

/* Registers that change without being named: all others stay. */
static void test_written(void **state)
{
	static const struct {
		const char *text, *code, *changed; /* as regs has them: a ... p */
	} pieces[] = {
		{"mov %edi,%eax", "89f8", "a"},	 {"cmp %edi,%eax", "39f8", ""},
		{"nop (%rax)", "0f1f00", ""},	 {"mul %rdi", "48f7e7", "ad"},
		{"cpuid", "0fa2", "abcd"},	 {"rdtsc", "0f31", "ad"},
		{"lodsb", "ac", "ae"},		 {"movsb", "a4", "ef"},
		{"rep movsb", "f3a4", "cef"},	 {"rep stosb", "f3aa", "cf"},
		{"syscall", "0f05", "acl"},	 {"xchg %rdi,%r15", "4c87ff", "fp"},
		{"mov %edi,(%rsi)", "893e", ""}, {"xadd %rax,(%rsi)", "480fc106", "a"},
		{"pop %r12", "415c", "hm"},	 {"leave", "c9", "gh"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct vti_flowstate s = after(pieces[i].code);
		char changed[VTI_STATE_REGS + 1];
		unsigned k, n = 0;

		for (k = 0; k < VTI_STATE_REGS; k++)
			if (s.regs[k].sym != OF(k) || s.regs[k].off)
				changed[n++] = (char)('a' + k);
		changed[n] = '\0';
		if (strcmp(changed, pieces[i].changed) != 0)
			fail_msg("%s: %s", pieces[i].text, changed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	     cmocka_unit_test(test_made_again),
		cmocka_unit_test(test_compares),     cmocka_unit_test(test_named),
		cmocka_unit_test(test_call),	     cmocka_unit_test(test_stack),
		cmocka_unit_test(test_memory),	     cmocka_unit_test(test_written),
		cmocka_unit_test(test_not_named),    cmocka_unit_test(test_which_memory),
		cmocka_unit_test(test_written_only), cmocka_unit_test(test_no_operands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
