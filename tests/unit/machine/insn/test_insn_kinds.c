/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of single instructions: their kind, and their operands' sizes and numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/insn/insn.h"

/*
 * Kinds; then what is read (<) and written (>): registers and memory (m), each with its number
 * (r: raw, i: integer, u: unsigned, s: signed, f: floating point, a: address), its size and how
 * many there are; whether it may point (*); the divisor; where a branch goes to.
 */
static const struct {
	const char *text;
	uint8_t code[12];
	uint8_t size;
	const char *want;
} cases[] = {
	{"add %ecx,%eax", {0x01, 0xc8}, 2, ": <rax i4x1 <rcx i4x1 >rax i4x1 >flags"},
	{"movsbl %cl,%eax", {0x0f, 0xbe, 0xc1}, 3, "move: <rcx s1x1 >rax s4x1"},
	{"movslq %ecx,%rax", {0x48, 0x63, 0xc1}, 3, "move: <rcx s4x1 >rax s8x1*"},
	{"movzwl %cx,%eax", {0x0f, 0xb7, 0xc1}, 3, "move: <rcx u2x1 >rax u4x1"},
	{"pmovsxbw %xmm1,%xmm2",
	 {0x66, 0x0f, 0x38, 0x20, 0xd1},
	 5,
	 "vector: <xmm1 s1x8 >xmm2 s2x8"},
	{"pmovzxbw %xmm1,%xmm2",
	 {0x66, 0x0f, 0x38, 0x30, 0xd1},
	 5,
	 "vector: <xmm1 u1x8 >xmm2 u2x8"},
	{"cvtsi2sd %ecx,%xmm2",
	 {0xf2, 0x0f, 0x2a, 0xd1},
	 4,
	 "float vector: <xmm2 f8x1 <rcx s4x1 >xmm2 f8x1"},
	{"vcvtusi2sd %ecx,%xmm1,%xmm2",
	 {0x62, 0xf1, 0x77, 0x08, 0x7b, 0xd1},
	 6,
	 "float vector: <xmm1 f8x2 <rcx u4x1 >xmm2 f8x2"},
	{"idiv %ecx",
	 {0xf7, 0xf9},
	 2,
	 "divide: <rcx s4x1 <rax s4x1 <rdx s4x1 >rax s4x1 >rdx s4x1 /rcx s4x1 >flags"},
	{"imul %ecx,%eax", {0x0f, 0xaf, 0xc1}, 3, "multiply: <rax s4x1 <rcx s4x1 >rax s4x1 >flags"},
	{"filds (%rdi)", {0xdf, 0x07}, 2, "load float x87: <m2 s2x1"},
	{"fistps (%rdi)", {0xdf, 0x1f}, 2, "store float x87: >m2 s2x1"},
	{"sar $3,%eax", {0xc1, 0xf8, 0x03}, 3, ": <rax s4x1 >rax s4x1 $3 >flags"},
	{"cltd", {0x99}, 1, ": <rax s4x1 >rdx s4x1"},
	{"cqto", {0x48, 0x99}, 2, ": <rax s8x1* >rdx s8x1*"},
	{"cwtd", {0x66, 0x99}, 2, ": <rax s2x1 >rdx s2x1"},
	{"cbtw", {0x66, 0x98}, 2, ": <rax s1x1 >rax s2x1"},
	{"div %ecx",
	 {0xf7, 0xf1},
	 2,
	 "divide: <rcx u4x1 <rax u4x1 <rdx u4x1 >rax u4x1 >rdx u4x1 /rcx u4x1 >flags"},
	{"mul %ecx", {0xf7, 0xe1}, 2, "multiply: <rcx u4x1 <rax u4x1 >rax u4x1 >rdx u4x1 >flags"},
	{"mulx %eax,%ecx,%edx",
	 {0xc4, 0xe2, 0x73, 0xf6, 0xd0},
	 5,
	 "multiply: <rax u4x1 <rdx u4x1 >rdx u4x1 >rcx u4x1"},
	{"setl %al", {0x0f, 0x9c, 0xc0}, 3, ": >rax u1x1 <flags"},
	{"popcnt %ecx,%eax", {0xf3, 0x0f, 0xb8, 0xc1}, 4, ": <rcx u4x1 >rax u4x1 >flags"},
	{"lzcnt %ecx,%eax", {0xf3, 0x0f, 0xbd, 0xc1}, 4, ": <rcx u4x1 >rax u4x1 >flags"},
	{"tzcnt %ecx,%eax", {0xf3, 0x0f, 0xbc, 0xc1}, 4, ": <rcx u4x1 >rax u4x1 >flags"},
	{"movups (%rdi),%xmm1", {0x0f, 0x10, 0x0f}, 3, "load vector move: <m16 r8x2 >xmm1 r8x2"},
	{"movaps (%rdi),%xmm1", {0x0f, 0x28, 0x0f}, 3, "load vector move: <m16 r8x2 >xmm1 r8x2"},
	{"movdqu (%rdi),%xmm1",
	 {0xf3, 0x0f, 0x6f, 0x0f},
	 4,
	 "load vector move: <m16 r8x2 >xmm1 r8x2"},
	{"movlps (%rdi),%xmm1", {0x0f, 0x12, 0x0f}, 3, "load vector move: <m8 r8x1* >xmm1 r8x1"},
	{"movhps (%rdi),%xmm1", {0x0f, 0x16, 0x0f}, 3, "load vector move: <m8 r8x1* >xmm1 r8x1"},
	{"movntps %xmm1,(%rdi)", {0x0f, 0x2b, 0x0f}, 3, "store vector move: >m16 r8x2 <xmm1 r8x2"},
	{"movntdq %xmm1,(%rdi)",
	 {0x66, 0x0f, 0xe7, 0x0f},
	 4,
	 "store vector move: >m16 r8x2 <xmm1 r8x2"},
	{"lddqu (%rdi),%xmm1", {0xf2, 0x0f, 0xf0, 0x0f}, 4, "load vector: <m16 r8x2 >xmm1 r8x2"},
	{"movupd (%rdi),%xmm1",
	 {0x66, 0x0f, 0x10, 0x0f},
	 4,
	 "load float vector move: <m16 f8x2 >xmm1 f8x2"},
	{"movsd (%rdi),%xmm1",
	 {0xf2, 0x0f, 0x10, 0x0f},
	 4,
	 "load float vector move: <m8 f8x1 >xmm1 f8x2"},
	{"movd %eax,%xmm1", {0x66, 0x0f, 0x6e, 0xc8}, 4, "vector move: <rax i4x1 >xmm1 i4x4"},
	{"movmskps %xmm1,%eax", {0x0f, 0x50, 0xc1}, 3, "float vector: <xmm1 f4x4 >rax i4x1"},
	{"movbe (%rdi),%eax", {0x0f, 0x38, 0xf0, 0x07}, 4, "load: <m4 i4x1 >rax i4x1"},
	{"movshdup %xmm1,%xmm2",
	 {0xf3, 0x0f, 0x16, 0xd1},
	 4,
	 "float vector: <xmm1 f4x4 >xmm2 f4x4"},
	{"movsldup %xmm1,%xmm2",
	 {0xf3, 0x0f, 0x12, 0xd1},
	 4,
	 "float vector: <xmm1 f4x4 >xmm2 f4x4"},
	{"movdiri %eax,(%rdi)", {0x0f, 0x38, 0xf9, 0x07}, 4, "store: >m4 i4x1 <rax i4x1"},
	{"movsb",
	 {0xa4},
	 1,
	 "load store string: >m1.implied i1x1 <m1.implied i1x1 <rdi i8x1* <rsi i8x1* >rdi i8x1* "
	 ">rsi i8x1* <flags"},
	{"rep movsb",
	 {0xf3, 0xa4},
	 2,
	 "load store string repeated: >m1.implied i1x1 <m1.implied i1x1 <rcx i8x1* >rcx i8x1* >rdi "
	 "i8x1* >rsi i8x1* <flags"},
	{"repne scasb",
	 {0xf2, 0xae},
	 2,
	 "load string repeated: <m1.implied i1x1 <rax i1x1 <rcx i8x1* >rcx i8x1* <flags >flags"},
	{"insb", {0x6c}, 1, "store string: >m1.implied i1x1 <rdx i2x1 <flags"},
	{"cmpsb", {0xa6}, 1, "load string: <m1.implied i1x1 <m1.implied i1x1 <flags >flags"},
	{"mulsd %xmm1,%xmm2",
	 {0xf2, 0x0f, 0x59, 0xd1},
	 4,
	 "multiply float vector: <xmm2 f8x1 <xmm1 f8x1 >xmm2 f8x1"},
	{"pclmulqdq $0,%xmm1,%xmm2",
	 {0x66, 0x0f, 0x3a, 0x44, 0xd1, 0x00},
	 6,
	 "vector: <xmm2 i4x4 <xmm1 i4x4 >xmm2 i4x4 $0"},
	{"gf2p8mulb %xmm1,%xmm2",
	 {0x66, 0x0f, 0x38, 0xcf, 0xd1},
	 5,
	 "vector: <xmm2 i1x16 <xmm1 i1x16 >xmm2 i1x16"},
	{"vfmadd231sd %xmm1,%xmm2,%xmm3",
	 {0xc4, 0xe2, 0xe9, 0xb9, 0xd9},
	 5,
	 "multiply float vector: <xmm3 f8x2 <xmm2 f8x1 <xmm1 f8x1 >xmm3 f8x2"},
	{"vfmsub231sd %xmm1,%xmm2,%xmm3",
	 {0xc4, 0xe2, 0xe9, 0xbb, 0xd9},
	 5,
	 "multiply float vector: <xmm3 f8x2 <xmm2 f8x1 <xmm1 f8x1 >xmm3 f8x2"},
	{"vfnmadd231sd %xmm1,%xmm2,%xmm3",
	 {0xc4, 0xe2, 0xe9, 0xbd, 0xd9},
	 5,
	 "multiply float vector: <xmm3 f8x2 <xmm2 f8x1 <xmm1 f8x1 >xmm3 f8x2"},
	{"vfnmsub231sd %xmm1,%xmm2,%xmm3",
	 {0xc4, 0xe2, 0xe9, 0xbf, 0xd9},
	 5,
	 "multiply float vector: <xmm3 f8x2 <xmm2 f8x1 <xmm1 f8x1 >xmm3 f8x2"},
	{"divsd %xmm1,%xmm2",
	 {0xf2, 0x0f, 0x5e, 0xd1},
	 4,
	 "divide float vector: <xmm2 f8x1 <xmm1 f8x1 >xmm2 f8x1 /xmm1 f8x1"},
	{"push %rax", {0x50}, 1, "store push: >m8.implied i8x1* <rax i8x1*"},
	{"pop %rax", {0x58}, 1, "load pop: <m8.implied i8x1* >rax i8x1*"},
	{"lea (%rdi),%rax", {0x48, 0x8d, 0x07}, 3, "lea: >rax i8x1*"},
	{"nop", {0x90}, 1, "nop:"},
	{"nopw (%rdi)", {0x66, 0x0f, 0x1f, 0x07}, 4, "nop:"},
	{"prefetcht0 (%rdi)", {0x0f, 0x18, 0x0f}, 3, "nop:"},
	{"prefetchw (%rdi)", {0x0f, 0x0d, 0x0f}, 3, "nop:"},
	{"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, "nop:"},
	{"endbr32", {0xf3, 0x0f, 0x1e, 0xfb}, 4, "nop:"},
	{"pause", {0xf3, 0x90}, 2, "nop:"},
	{"lock incl (%rdi)", {0xf0, 0xff, 0x07}, 3, "load store atomic: <>m4 i4x1 >flags"},
	{"xchg %eax,(%rdi)", {0x87, 0x07}, 2, "load store atomic: <>m4 i4x1 <rax i4x1 >rax i4x1"},
	{"xchg %eax,%ecx", {0x91}, 1, ": <rcx i4x1 <rax i4x1 >rcx i4x1 >rax i4x1"},
	{"fadds (%rdi)", {0xd8, 0x07}, 2, "load float x87: <m4 f4x1"},
	{"fdivrs (%rdi)", {0xd8, 0x3f}, 2, "load divide float x87: <m4 f4x1"},
	{"fdivs (%rdi)", {0xd8, 0x37}, 2, "load divide float x87: <m4 f4x1 /m f4x1"},
	{"maskmovdqu %xmm1,%xmm2",
	 {0x66, 0x0f, 0xf7, 0xd1},
	 4,
	 "store vector masked: >m16.implied i4x4 <xmm2 i4x4 <xmm1 i4x4"},
	{"vmaskmovps (%rdi),%xmm1,%xmm2",
	 {0xc4, 0xe2, 0x71, 0x2c, 0x17},
	 5,
	 "load float vector masked: <m16 f4x4 <xmm1 i4x4 >xmm2 f4x4"},
	{"vpmaskmovd (%rdi),%xmm1,%xmm2",
	 {0xc4, 0xe2, 0x71, 0x8c, 0x17},
	 5,
	 "load vector masked: <m16 i4x4 <xmm1 i4x4 >xmm2 i4x4"},
	{"vmovaps %zmm1,%zmm2{%k1}",
	 {0x62, 0xf1, 0x7c, 0x49, 0x28, 0xd1},
	 6,
	 "vector move masked: <xmm2 r8x8 <xmm1 r8x8 >xmm2 r8x8"},
	{"vpgatherdd %xmm1,(%rdi,%xmm2,4),%xmm3",
	 {0xc4, 0xe2, 0x71, 0x90, 0x1c, 0x97},
	 6,
	 "load vector masked: <m4.gather i4x1 <xmm3 i4x4 <xmm1 i4x4 >xmm3 i4x4 >xmm1 i4x4"},
	{"cmp %ecx,%eax", {0x39, 0xc8}, 2, "compare: <rax i4x1 <rcx i4x1 >flags"},
	{"test %eax,%eax", {0x85, 0xc0}, 2, "compare: <rax i4x1 <rax i4x1 >flags"},
	{"bt $3,%eax", {0x0f, 0xba, 0xe0, 0x03}, 4, "compare: <rax i4x1 $3 >flags"},
	{"cmpl $1,(%rdi)", {0x83, 0x3f, 0x01}, 3, "load compare: <m4 i4x1 $1 >flags"},
	{"ucomisd %xmm1,%xmm2",
	 {0x66, 0x0f, 0x2e, 0xd1},
	 4,
	 "float vector compare: <xmm2 f8x1 <xmm1 f8x1 >flags"},
	{"jmp .+0x20", {0xeb, 0x1e}, 2, "branch jump: to 32"},
	{"jne .-0x20", {0x75, 0xde}, 2, "branch conditional: to -32 <flags"},
	{"call .+0x40",
	 {0xe8, 0x3b, 0x00, 0x00, 0x00},
	 5,
	 "store branch call: >m8.implied a8x1* to 64"},
	{"jmp *%rax", {0xff, 0xe0}, 2, "branch jump indirect: <rax i8x1*"},
	{"call *(%rdi)",
	 {0xff, 0x17},
	 2,
	 "load store branch call indirect: <m8 a8x1* >m8.implied a8x1*"},
	{"ret", {0xc3}, 1, "load branch return: <m8.implied a8x1*"},
	{"loop .", {0xe2, 0xfe}, 2, "branch conditional: <rcx i8x1* >rcx i8x1* to 0"},
	{"jrcxz .", {0xe3, 0xfe}, 2, "branch conditional: <rcx i8x1* to 0"},
	{"xbegin .+0x100",
	 {0xc7, 0xf8, 0xfa, 0x00, 0x00, 0x00},
	 6,
	 "branch conditional: >rax i4x1 to 256"},
	{"syscall", {0x0f, 0x05}, 2, "syscall: >rcx i8x1* >r11 i8x1* >cs i2x1 >ss i2x1 >flags"},
	{"int3", {0xcc}, 1, "syscall: <flags >flags"},
	{"int $0x80", {0xcd, 0x80}, 2, "syscall: $128 <flags >flags"},
	{"hlt", {0xf4}, 1, ":"},
	{"ud2", {0x0f, 0x0b}, 2, ":"},
	{"sysretq", {0x48, 0x0f, 0x07}, 3, ": <rcx i8x1* <r11 i8x1* >cs i2x1 >ss i2x1 >flags"},
	{"sysexit", {0x0f, 0x35}, 2, ": <rcx i8x1* <rdx i8x1*"},
	{"ud1 %eax,%ecx", {0x0f, 0xb9, 0xc8}, 3, ": <rcx i4x1 <rax i4x1"},
	{"ud0 %eax,%ecx", {0x0f, 0xff, 0xc8}, 3, ": <rcx i4x1 <rax i4x1"},
	{"cpuid", {0x0f, 0xa2}, 2, ": <rax i4x1 <rcx i4x1 >rax i4x1 >rbx i4x1 >rcx i4x1 >rdx i4x1"},
	{"mov %ah,%cl", {0x88, 0xe1}, 2, "move: <rax.high i1x1 >rcx i1x1"},
	{"movq %fs:8,%rax",
	 {0x64, 0x48, 0x8b, 0x04, 0x25, 0x08, 0x00, 0x00, 0x00},
	 9,
	 "load move: <m8.fs i8x1* >rax i8x1*"},
};

static const char *const kinds[] = {
	"load",	   "store",  "branch",	 "conditional", "jump",	    "call",  "return", "indirect",
	"syscall", "divide", "multiply", "string",	"repeated", "float", "vector", "x87",
	"atomic",  "push",   "pop",	 "move",	"compare",  "lea",   "nop",    "masked",
};

struct line {
	char text[300];
	size_t n;
};

static void put(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	l->n += (size_t)vsnprintf(l->text + l->n, sizeof(l->text) - l->n, format, args);
	va_end(args);
}

static void put_number(struct line *l, struct vt_number_type t)
{
	put(l, " %c%ux%u%s", "riusfa"[t.number], t.size, t.elements, t.may_point ? "*" : "");
}

static void put_operand(struct line *l, char sign, const struct vt_operand *o)
{
	put(l, " %c%s%s", sign, o->where == VT_WHERE_MEMORY ? "m" : vt_reg_name(o->reg, 8),
	    o->high ? ".high" : "");
	put_number(l, o->type);
}

static void put_memory(struct line *l, const struct vt_memory *m)
{
	put(l, " %s%sm%u%s%s", m->read ? "<" : "", m->written ? ">" : "", m->size,
	    m->implied ? ".implied" : "", m->gather ? ".gather" : "");
	if (m->segment != VT_REG_NONE)
		put(l, ".%s", vt_reg_name(m->segment, 8));
	put_number(l, m->type);
}

static void describe(const struct vt_facts *f, struct line *l)
{
	unsigned i;

	l->n = 0;
	*l->text = 0;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (f->flags >> i & 1)
			put(l, "%s%s", l->n ? " " : "", kinds[i]);
	put(l, ":");
	for (i = 0; i < f->nmemories; i++)
		put_memory(l, &f->memories[i]);
	for (i = 0; i < f->nsources; i++)
		put_operand(l, '<', &f->sources[i]);
	for (i = 0; i < f->nresults; i++)
		put_operand(l, '>', &f->results[i]);
	if (f->divisor.where != VT_WHERE_NONE)
		put_operand(l, '/', &f->divisor);
	if (f->has_immediate)
		put(l, " $%jd", (intmax_t)f->immediate);
	if (f->has_target)
		put(l, " to %jd", (intmax_t)f->target);
	if (f->reads >> VT_REG_FLAGS & 1)
		put(l, " <flags");
	if (f->writes >> VT_REG_FLAGS & 1)
		put(l, " >flags");
}

static void instructions_are_described(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_facts f;
		struct line l;

		assert_true(vt_facts_decode(cases[i].code, cases[i].size, &f));
		assert_int_equal(f.length, cases[i].size);
		describe(&f, &l);
		if (strcmp(l.text, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].text, l.text);
	}
}

/* Flow alone says the same of control. */
static void flow_agrees(void **state)
{
	const uint32_t control = VT_FACT_BRANCH | VT_FACT_CONDITIONAL | VT_FACT_JUMP |
				 VT_FACT_CALL | VT_FACT_RETURN | VT_FACT_INDIRECT | VT_FACT_SYSCALL;
	static const char *const stops[] = {"int3",    "hlt", "ud2", "sysretq",
					    "sysexit", "ud1", "ud0"};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_facts f;
		struct vt_flow flow;
		bool stop = false;

		assert_true(vt_facts_decode(cases[i].code, cases[i].size, &f));
		assert_true(vt_flow_decode(cases[i].code, cases[i].size, &flow));
		for (k = 0; k < sizeof(stops) / sizeof(*stops); k++)
			stop |= strncmp(cases[i].text, stops[k], strlen(stops[k])) == 0;
		if (flow.length != f.length || flow.flags != (f.flags & control) ||
		    flow.stops != stop || flow.has_target != (f.has_target && f.flags & control) ||
		    flow.target != (flow.has_target ? f.target : 0))
			fail_msg("%s", cases[i].text);
		assert_false(vt_flow_decode(cases[i].code, cases[i].size - 1u, &flow));
		assert_int_equal(flow.length, 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_described),
		cmocka_unit_test(flow_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
