/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of registers on the way to an indirect jump: short pieces of code, of which each
 * range can be told by hand.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flow/state.h"
#include "machine/insn/insn.h"
#include "tests/unit/flow/values.h"

#define START 0x401000u
#define M32   UINT32_MAX
#define M64   UINT64_MAX

/* ---- memory that stays as it is ---- */

#define TABLE	  0x402000u
#define TABLE_END 0x403000u
#define A_WORD	  0x402010u /* the only one that is read */

static bool is_constant(void *arg, uint64_t vaddr)
{
	(void)arg;
	return vaddr >= TABLE && vaddr < TABLE_END;
}

static bool read_word(void *arg, uint64_t vaddr, unsigned size, uint64_t *value)
{
	(void)arg;
	(void)size;
	*value = 0x1234;
	return vaddr == A_WORD;
}

static const struct vti_memory memory = {NULL, is_constant, read_word};

/* ---- pieces of code ---- */

struct piece {
	const char *text;
	const char *code;     /* in hexadecimal, an instruction after the other */
	const char *branches; /* 't': the next conditional branch is taken, 'n': it is not */
	unsigned reg;	      /* of which at the end is known: */
	uint64_t lo, hi, stride;
	/* Of entries of a table, whose addresses these are. */
	unsigned entry_size;
	bool is_signed;
	uint64_t add;
};

static size_t read_code(const char *text, uint8_t *code)
{
	size_t n;
	int used;

	for (n = 0; sscanf(text, " %2hhx%n", &code[n], &used) == 1; n++)
		text += used;
	assert_int_equal(*text, '\0');
	return n;
}

static struct vti_flowstate run(const char *text, const char *branches)
{
	uint8_t code[64];
	size_t at, size = read_code(text, code);
	struct vti_flowstate s;
	struct vt_facts f;

	vti_flowstate_start(&s);
	for (at = 0; at < size; at += f.length) {
		assert_true(vt_facts_decode(code + at, size - at, &f));
		if (f.flags & VT_FACT_CONDITIONAL)
			vti_flowstate_branch(&s, &f, *branches++ == 't');
		else
			vti_flowstate_step(&s, &f, START + at, (uint32_t)at, &memory);
	}
	assert_int_equal(*branches, 0);
	return s;
}

#define RANGE(text, code, branches, reg, lo, hi, stride)                                           \
	{                                                                                          \
		text, code, branches, VT_REG_##reg, lo, hi, stride, 0, false, 0                    \
	}

/* clang-format off */
static const struct piece ranges[] = {
	RANGE("mov $5,%eax", "b805000000", "", AX, 5, 5, 0),
	RANGE("mov $-1,%rax", "48c7c0ffffffff", "", AX, M64, M64, 0),
	RANGE("mov $5,%eax; sub $7,%eax",
	      "b805000000 83e807", "", AX, UINT64_C(0xfffffffe), UINT64_C(0xfffffffe), 0),
	RANGE("mov $5,%eax; sub $7,%rax",
	      "b805000000 4883e807", "", AX, -UINT64_C(2), -UINT64_C(2), 0),
	RANGE("mov $0x80,%edi; movsbl %dil,%eax",
	      "bf80000000 400fbec7", "", AX, UINT64_C(0xffffff80), UINT64_C(0xffffff80), 0),
	RANGE("mov $0x7f,%edi; movsbl %dil,%eax", "bf7f000000 400fbec7", "", AX, 127, 127, 0),
	RANGE("mov $0x80,%edi; movsbq %dil,%rax",
	      "bf80000000 480fbec7", "", AX, -UINT64_C(128), -UINT64_C(128), 0),
	RANGE("mov $-5,%eax; cltq", "b8fbffffff 4898", "", AX, -UINT64_C(5), -UINT64_C(5), 0),
	RANGE("mov $0x12345,%edi; movzwl %di,%eax", "bf45230100 0fb7c7", "", AX, 0x2345, 0x2345, 0),
	RANGE("mov $0x12345,%edi; and $0xff0,%edi; mov %edi,%eax",
	      "bf45230100 81e7f00f0000 89f8", "", AX, 0x340, 0x340, 0),
	RANGE("mov $0x12345,%edi; shr $8,%edi", "bf45230100 c1ef08", "", DI, 0x123, 0x123, 0),
	RANGE("mov $0x12345,%edi; shl $4,%edi", "bf45230100 c1e704", "", DI, 0x123450, 0x123450, 0),
	RANGE("mov $100,%edi; imul $41,%edi,%eax", "bf64000000 6bc729", "", AX, 0x1004, 0x1004, 0),
	RANGE("mov $6,%eax; inc %eax", "b806000000 ffc0", "", AX, 7, 7, 0),
	RANGE("mov $6,%eax; dec %eax", "b806000000 ffc8", "", AX, 5, 5, 0),
	RANGE("mov $0,%eax; dec %eax", "b800000000 ffc8", "", AX, M32, M32, 0),
	RANGE("mov $0,%eax; dec %rax", "b800000000 48ffc8", "", AX, M64, M64, 0),
	RANGE("xor %eax,%eax", "31c0", "", AX, 0, 0, 0),
	RANGE("lea 0x10(%rip),%rax", "488d0510000000", "", AX, 0x401017, 0x401017, 0),
	RANGE("mov $3,%edi; mov $4,%esi; lea 5(%rdi,%rsi,8),%rax",
	      "bf03000000 be04000000 488d44f705", "", AX, 40, 40, 0),
	RANGE("mov $3,%r9d; lea 5(%r9),%rax", "41b903000000 498d4105", "", AX, 8, 8, 0),
	RANGE("mov $3,%r15d; mov %r15,%rax", "41bf03000000 4c89f8", "", AX, 3, 3, 0),
	RANGE("mov %rdi,%rax", "4889f8", "", AX, 0, M64, 1),
	RANGE("mov %edi,%eax", "89f8", "", AX, 0, M32, 1),
	RANGE("movzwl %di,%eax", "0fb7c7", "", AX, 0, 0xffff, 1),
	RANGE("movzbl %dil,%eax", "400fb6c7", "", AX, 0, 255, 1),
	RANGE("movsbl %dil,%eax", "400fbec7", "", AX, 0, M32, 1),
	RANGE("movslq %edi,%rax", "4863c7", "", AX, 0, M64, 1),
	RANGE("mov $5,%eax; mov %dil,%al", "b805000000 4088f8", "", AX, 0, M64, 1),
	RANGE("mov $5,%eax; mov %di,%ax", "b805000000 6689f8", "", AX, 0, M64, 1),
	RANGE("mov $5,%eax; movzbl %ah,%eax", "b805000000 0fb6c4", "", AX, 0, M64, 1),
	RANGE("tzcnt %rdi,%rax", "f3480fbcc7", "", AX, 0, 63, 1),
	RANGE("bsr %edi,%eax", "0fbdc7", "", AX, 0, 63, 1),
	RANGE("mov $5,%eax; cpuid", "b805000000 0fa2", "", AX, 0, M64, 1),
	RANGE("mov $5,%edi; rep stosb", "bf05000000 f3aa", "", DI, 0, M64, 1),
	RANGE("mov $5,%ebx; mov $6,%eax; xchg %rax,%rbx",
	      "bb05000000 b806000000 4893", "", BX, 0, M64, 1),
	RANGE("mov $5,%eax; xor %ecx,%eax", "b805000000 31c8", "", AX, 0, M32, 1),
	RANGE("mov $5,%eax; or %ecx,%eax", "b805000000 09c8", "", AX, 0, M32, 1),
	RANGE("mov $5,%eax; sub %ecx,%eax", "b805000000 29c8", "", AX, 0, M32, 1),
	RANGE("and $7,%edi; mov %rdi,%rax", "83e707 4889f8", "", AX, 0, 7, 1),
	RANGE("and $0x38,%edi", "83e738", "", DI, 0, 56, 8),
	RANGE("and $0xff,%edi", "81e7ff000000", "", DI, 0, 255, 1),
	RANGE("and $0xffff,%edi", "81e7ffff0000", "", DI, 0, 0xffff, 1),
	RANGE("movzbl %dil,%edi; and $0x1f0,%edi", "400fb6ff 81e7f0010000", "", DI, 0, 255, 1),
	RANGE("and $7,%edi; add $3,%edi", "83e707 83c703", "", DI, 3, 10, 1),
	RANGE("and $7,%edi; sub $1,%edi", "83e707 83ef01", "", DI, 0, M32, 1),
	RANGE("and $7,%edi; add $3,%edi; sub $3,%edi", "83e707 83c703 83ef03", "", DI, 0, 7, 1),
	RANGE("and $7,%edi; add $3,%edi; sub $2,%edi", "83e707 83c703 83ef02", "", DI, 1, 8, 1),
	RANGE("and $7,%edi; inc %rdi", "83e707 48ffc7", "", DI, 1, 8, 1),
	RANGE("and $7,%edi; add $3,%edi; dec %edi", "83e707 83c703 ffcf", "", DI, 2, 9, 1),
	RANGE("and $7,%edi; add %rdi,%rdi", "83e707 4801ff", "", DI, 0, 14, 2),
	RANGE("and $7,%edi; and $3,%esi; add %rsi,%rdi", "83e707 83e603 4801f7", "", DI, 0, 10, 1),
	RANGE("and $0x38,%edi; and $0x30,%esi; add %rsi,%rdi",
	      "83e738 83e630 4801f7", "", DI, 0, 104, 8),
	RANGE("and $7,%edi; shl $4,%edi", "83e707 c1e704", "", DI, 0, 112, 16),
	RANGE("and $7,%edi; shl $29,%edi",
	      "83e707 c1e71d", "", DI, 0, UINT64_C(0xe0000000), 0x20000000),
	RANGE("and $7,%edi; shl $30,%edi", "83e707 c1e71e", "", DI, 0, M32, 1),
	RANGE("and $7,%edi; shl $31,%rdi",
	      "83e707 48c1e71f", "", DI, 0, UINT64_C(0x380000000), UINT64_C(0x80000000)),
	RANGE("and $7,%edi; shl $32,%rdi", "83e707 48c1e720", "", DI, 0, M64, 1),
	RANGE("and $7,%edi; shr $1,%edi", "83e707 d1ef", "", DI, 0, 3, 1),
	RANGE("and $7,%edi; shr $3,%edi", "83e707 c1ef03", "", DI, 0, 0, 0),
	RANGE("movzbl %dil,%eax; shr $4,%eax", "400fb6c7 c1e804", "", AX, 0, 15, 1),
	RANGE("and $7,%edi; imul $24,%rdi,%rax", "83e707 486bc718", "", AX, 0, 168, 24),
	RANGE("and $7,%edi; imul $4095,%rdi,%rax",
	      "83e707 4869c7ff0f0000", "", AX, 0, 0x6ff9, 0xfff),
	RANGE("and $7,%edi; imul $4096,%rdi,%rax", "83e707 4869c700100000", "", AX, 0, M64, 1),
	RANGE("and $7,%edi; movslq %edi,%rax", "83e707 4863c7", "", AX, 0, 7, 1),
	RANGE("and $7,%edi; lea (,%rdi,8),%rax", "83e707 488d04fd00000000", "", AX, 0, 56, 8),
	RANGE("and $7,%edi; lea 0x40(%rdi,%rdi,4),%rax", "83e707 488d44bf40", "", AX, 64, 99, 1),
	RANGE("and $7,%edi; lea 0x402000(,%rdi,8),%rax",
	      "83e707 488d04fd00204000", "", AX, 0x402000, 0x402038, 8),
	RANGE("and $7,%edi; lea 0x402000(,%rdi,8),%eax",
	      "83e707 8d04fd00204000", "", AX, 0x402000, 0x402038, 8),
	RANGE("lea 0x402000(,%rdi,8),%rax",
	      "488d04fd00204000", "", AX, 0x402000, UINT64_C(0x800401ff8), 8),
	RANGE("mov $0x402000,%eax; lea (%rax,%rdi,4),%rcx",
	      "b800204000 488d0cb8", "", CX, 0x402000, UINT64_C(0x400401ffc), 4),
	RANGE("mov $0x402000,%eax; lea (%rdi,%rax),%rcx",
	      "b800204000 488d0c07", "", CX, 0x402000, UINT64_C(0x100401fff), 1),
	RANGE("lea 0x404000(,%rdi,8),%rax", "488d04fd00404000", "", AX, 0, M64, 1),
	RANGE("mov $3,%eax; mov $9,%ecx; cmove %ecx,%eax",
	      "b803000000 b909000000 0f44c1", "", AX, 3, 9, 6),
	RANGE("and $0x38,%edi; mov $12,%ecx; cmova %ecx,%edi",
	      "83e738 b90c000000 0f47f9", "", DI, 0, 56, 4),
	RANGE("cmp $5,%edi; ja; mov %edi,%eax", "83ff05 7700 89f8", "n", AX, 0, 5, 1),
	RANGE("cmp $5,%edi; ja; mov %edi,%eax", "83ff05 7700 89f8", "t", AX, 6, M32, 1),
	RANGE("cmp $5,%edi; jae; mov %edi,%eax", "83ff05 7300 89f8", "n", AX, 0, 4, 1),
	RANGE("cmp $5,%edi; jae; mov %edi,%eax", "83ff05 7300 89f8", "t", AX, 5, M32, 1),
	RANGE("cmp $5,%edi; jb; mov %edi,%eax", "83ff05 7200 89f8", "n", AX, 5, M32, 1),
	RANGE("cmp $5,%edi; jb; mov %edi,%eax", "83ff05 7200 89f8", "t", AX, 0, 4, 1),
	RANGE("cmp $5,%edi; jbe; mov %edi,%eax", "83ff05 7600 89f8", "n", AX, 6, M32, 1),
	RANGE("cmp $5,%edi; jbe; mov %edi,%eax", "83ff05 7600 89f8", "t", AX, 0, 5, 1),
	RANGE("cmp $5,%edi; je; mov %edi,%eax", "83ff05 7400 89f8", "t", AX, 5, 5, 0),
	RANGE("cmp $5,%edi; je; mov %edi,%eax", "83ff05 7400 89f8", "n", AX, 0, M32, 1),
	RANGE("cmp $5,%edi; jne; mov %edi,%eax", "83ff05 7500 89f8", "n", AX, 5, 5, 0),
	RANGE("cmp $0,%edi; jne; mov %edi,%eax", "83ff00 7500 89f8", "t", AX, 1, M32, 1),
	RANGE("cmp $-1,%edi; jne; mov %edi,%eax",
	      "83ffff 7500 89f8", "t", AX, 0, UINT64_C(0xfffffffe), 1),
	RANGE("cmp $-1,%edi; ja; mov %edi,%eax", "83ffff 7700 89f8", "t", AX, 0, M32, 1),
	RANGE("cmp $-1,%rdi; ja; mov %rdi,%rax", "4883ffff 7700 4889f8", "t", AX, 0, M64, 1),
	RANGE("cmp $0,%edi; jb; mov %edi,%eax", "83ff00 7200 89f8", "t", AX, 0, M32, 1),
	RANGE("cmp $5,%edi; ja; je; mov %edi,%eax", "83ff05 7700 7400 89f8", "nn", AX, 0, 4, 1),
	RANGE("test %edi,%edi; jl; mov %edi,%eax", "85ff 7c00 89f8", "t", AX, 0, M32, 1),
	RANGE("cmp $5,%edi; jg; mov %edi,%eax",
	      "83ff05 7f00 89f8", "t", AX, 6, UINT64_C(0x7fffffff), 1),
	RANGE("cmp $5,%edi; jg; mov %edi,%eax", "83ff05 7f00 89f8", "n", AX, 0, M32, 1),
	RANGE("cmp $5,%edi; jge; mov %edi,%eax",
	      "83ff05 7d00 89f8", "t", AX, 5, UINT64_C(0x7fffffff), 1),
	RANGE("cmp $0x7fffffff,%edi; jge; mov %edi,%eax",
	      "81ffffffff7f 7d00 89f8", "t", AX, 0x7fffffff, 0x7fffffff, 0),
	RANGE("test %edi,%edi; js; cmp $5,%edi; jl; mov %edi,%eax",
	      "85ff 7800 83ff05 7c00 89f8", "nt", AX, 0, 4, 1),
	RANGE("cmp $5,%edi; jne; cmp $5,%edi; je; mov %edi,%eax",
	      "83ff05 7500 83ff05 7400 89f8", "nn", AX, 5, 5, 0),
	RANGE("cmp $-5,%edi; jge; mov %edi,%eax", "83fffb 7d00 89f8", "t", AX, 0, M32, 1),
	RANGE("and $0x3f,%edi; cmp $5,%edi; jl; mov %edi,%eax",
	      "83e73f 83ff05 7c00 89f8", "t", AX, 0, 4, 1),
	RANGE("and $0x3f,%edi; cmp $5,%edi; jle; mov %edi,%eax",
	      "83e73f 83ff05 7e00 89f8", "t", AX, 0, 5, 1),
	RANGE("cmp $5,%edi; jl; mov %edi,%eax", "83ff05 7c00 89f8", "t", AX, 0, M32, 1),
	RANGE("test %edi,%edi; js; mov %edi,%eax",
	      "85ff 7800 89f8", "n", AX, 0, UINT64_C(0x7fffffff), 1),
	RANGE("test %edi,%edi; js; mov %edi,%eax",
	      "85ff 7800 89f8", "t", AX, UINT64_C(0x80000000), M32, 1),
	RANGE("test %edi,%edi; jns; mov %edi,%eax",
	      "85ff 7900 89f8", "t", AX, 0, UINT64_C(0x7fffffff), 1),
	RANGE("cmp $5,%edi; js; mov %edi,%eax", "83ff05 7800 89f8", "n", AX, 0, M32, 1),
	RANGE("test %edi,%edi; je; mov %edi,%eax", "85ff 7400 89f8", "t", AX, 0, 0, 0),
	RANGE("test %esi,%edi; je; mov %edi,%eax", "85f7 7400 89f8", "t", AX, 0, M32, 1),
	RANGE("test $5,%edi; je; mov %edi,%eax", "f7c705000000 7400 89f8", "t", AX, 0, M32, 1),
	RANGE("cmp %esi,%edi; ja; mov %edi,%eax", "39f7 7700 89f8", "n", AX, 0, M32, 1),
	RANGE("mov $5,%esi; cmp %esi,%edi; ja; mov %edi,%eax",
	      "be05000000 39f7 7700 89f8", "n", AX, 0, 5, 1),
	RANGE("cmp $5,%rdi; ja; mov %rdi,%rax", "4883ff05 7700 4889f8", "n", AX, 0, 5, 1),
	RANGE("cmp $5,%dil; ja; movzbl %dil,%eax", "4080ff05 7700 400fb6c7", "n", AX, 0, 5, 1),
	RANGE("cmp $5,%dil; ja; mov %edi,%eax", "4080ff05 7700 89f8", "n", AX, 0, M32, 1),
	RANGE("cmp $5,%edi; ja; movzbl %dil,%eax", "83ff05 7700 400fb6c7", "n", AX, 0, 5, 1),
	RANGE("cmp $5,%edi; jp; mov %edi,%eax", "83ff05 7a00 89f8", "n", AX, 0, M32, 1),
	RANGE("cmp $50,%edi; ja; cmp $10,%edi; jb; mov %edi,%eax",
	      "83ff32 7700 83ff0a 7200 89f8", "nn", AX, 10, 50, 1),
	RANGE("cmp $50,%edi; ja; cmp $60,%edi; ja; mov %edi,%eax",
	      "83ff32 7700 83ff3c 7700 89f8", "nn", AX, 0, 50, 1),
	RANGE("cmp $5,%edi; add $0,%esi; ja; mov %edi,%eax",
	      "83ff05 83c600 7700 89f8", "n", AX, 0, M32, 1),
	RANGE("cmp $5,%edi; lea 1(%rsi),%rsi; ja; mov %edi,%eax",
	      "83ff05 488d7601 7700 89f8", "n", AX, 0, 5, 1),
	RANGE("cmp $5,%edi; call; ja; mov %edi,%eax",
	      "83ff05 e800000000 7700 89f8", "n", AX, 0, M32, 1),
	RANGE("cmp $5,%edi; mov %esi,%edi; ja; mov %edi,%eax",
	      "83ff05 89f7 7700 89f8", "n", AX, 0, M32, 1),
	RANGE("mov %edi,%eax; cmp $5,%edi; ja", "89f8 83ff05 7700", "n", AX, 0, 5, 1),
	RANGE("mov %rdi,%rax; cmp $5,%edi; ja", "4889f8 83ff05 7700", "n", AX, 0, M64, 1),
	RANGE("lea -97(%rdi),%eax; cmp $25,%al; ja; movzbl %al,%eax",
	      "8d479f 3c19 7700 0fb6c0", "n", AX, 0, 25, 1),
	RANGE("sub $97,%edi; cmp $25,%edi; ja; mov %edi,%eax",
	      "83ef61 83ff19 7700 89f8", "n", AX, 0, 25, 1),
	RANGE("movsbl %dil,%eax; sub $97,%eax; cmp $8,%eax; ja; mov %eax,%eax",
	      "400fbec7 83e861 83f808 7700 89c0", "n", AX, 0, 8, 1),
	RANGE("cmp $5,%edi; ja; movslq %edi,%rax", "83ff05 7700 4863c7", "n", AX, 0, 5, 1),
	RANGE("cmp $-5,%edi; jae; movslq %edi,%rax", "83fffb 7300 4863c7", "n", AX, 0, M64, 1),
	RANGE("movslq %edi,%rax; mov $0x7fffffff,%esi; cmp %rsi,%rax; ja; mov %edi,%eax",
	      "4863c7 beffffff7f 4839f0 7700 89f8", "n", AX, 0, UINT64_C(0x7fffffff), 1),
	RANGE("movslq %edi,%rax; mov $0x80000000,%esi; cmp %rsi,%rax; ja; mov %edi,%eax",
	      "4863c7 be00000080 4839f0 7700 89f8", "n", AX, 0, M32, 1),
	RANGE("mov (%rsi),%edi; cmp $5,%edi; ja; mov %edi,%eax",
	      "8b3e 83ff05 7700 89f8", "n", AX, 0, 5, 1),
	RANGE("cmpl $5,(%rsi); ja; mov (%rsi),%eax", "833e05 7700 8b06", "n", AX, 0, 5, 1),
	RANGE("cmpb $5,4(%rsi); ja; movzbl 4(%rsi),%eax",
	      "807e0405 7700 0fb64604", "n", AX, 0, 5, 1),
	RANGE("and $0x38,%edi; cmp $20,%edi; ja; mov %edi,%eax",
	      "83e738 83ff14 7700 89f8", "n", AX, 0, 16, 8),
	RANGE("and $0x38,%edi; cmp $20,%edi; jbe; mov %edi,%eax",
	      "83e738 83ff14 7600 89f8", "n", AX, 24, 56, 8),
	RANGE("mov $7,%eax; mov %rax,-8(%rsp); mov -8(%rsp),%rcx",
	      "b807000000 48894424f8 488b4c24f8", "", CX, 7, 7, 0),
	RANGE("mov $7,%eax; mov %rax,-8(%rsp); mov -8(%rsp),%ecx",
	      "b807000000 48894424f8 8b4c24f8", "", CX, 0, M32, 1),
	RANGE("movl $7,-8(%rsp); mov -8(%rsp),%ecx", "c74424f807000000 8b4c24f8", "", CX, 7, 7, 0),
	RANGE("movq $-7,-8(%rsp); mov -8(%rsp),%rcx",
	      "48c74424f8f9ffffff 488b4c24f8", "", CX, -UINT64_C(7), -UINT64_C(7), 0),
	RANGE("movb $7,-8(%rsp); movzbl -8(%rsp),%ecx", "c64424f807 0fb64c24f8", "", CX, 7, 7, 0),
	RANGE("movl $7,-8(%rsp); movl $8,-4(%rsp); mov -8(%rsp),%ecx",
	      "c74424f807000000 c74424fc08000000 8b4c24f8", "", CX, 7, 7, 0),
	RANGE("movl $7,-8(%rsp); movl $8,-12(%rsp); mov -8(%rsp),%ecx",
	      "c74424f807000000 c74424f408000000 8b4c24f8", "", CX, 7, 7, 0),
	RANGE("movl $7,-8(%rsp); movl $8,-5(%rsp); mov -8(%rsp),%ecx",
	      "c74424f807000000 c74424fb08000000 8b4c24f8", "", CX, 0, M32, 1),
	RANGE("movl $7,-8(%rsp); movl $8,-11(%rsp); mov -8(%rsp),%ecx",
	      "c74424f807000000 c74424f508000000 8b4c24f8", "", CX, 0, M32, 1),
	RANGE("movl $7,-8(%rsp); movl $8,(%rsi); mov -8(%rsp),%ecx",
	      "c74424f807000000 c70608000000 8b4c24f8", "", CX, 0, M32, 1),
	RANGE("movq $0x402000,-8(%rsp); movl $8,(%rsi); mov -8(%rsp),%rcx",
	      "48c74424f800204000 c70608000000 488b4c24f8", "", CX, 0x402000, 0x402000, 0),
	RANGE("movq $0x402000,-8(%rsp); call; mov -8(%rsp),%rcx",
	      "48c74424f800204000 e800000000 488b4c24f8", "", CX, 0x402000, 0x402000, 0),
	RANGE("movl $7,(%rsi); movl $8,-8(%rsp); mov (%rsi),%ecx",
	      "c70607000000 c74424f808000000 8b0e", "", CX, 7, 7, 0),
	RANGE("movl $7,(%rsi); movl $8,4(%rsi); mov (%rsi),%ecx",
	      "c70607000000 c7460408000000 8b0e", "", CX, 7, 7, 0),
	RANGE("movl $7,(%rsi); movl $8,4(%rdi); mov (%rsi),%ecx",
	      "c70607000000 c7470408000000 8b0e", "", CX, 0, M32, 1),
	RANGE("movl $7,(%rsi); rep stosb; mov (%rsi),%ecx",
	      "c70607000000 f3aa 8b0e", "", CX, 0, M32, 1),
	RANGE("movl $7,(%rsi); movl $8,%fs:0; mov (%rsi),%ecx",
	      "c70607000000 64c704250000000008000000 8b0e", "", CX, 0, M32, 1),
	RANGE("movl $7,(%rsi); addl $8,(%rsi); mov (%rsi),%ecx",
	      "c70607000000 830608 8b0e", "", CX, 0, M32, 1),
	RANGE("movl $7,0x404000; movl 0x404000,%eax",
	      "c704250040400007000000 8b042500404000", "", AX, 7, 7, 0),
	RANGE("mov $9,%edi; push %rdi; pop %rax", "bf09000000 57 58", "", AX, 9, 9, 0),
	RANGE("mov $9,%edi; push %rdi; push %rsi; mov 8(%rsp),%rax",
	      "bf09000000 57 56 488b442408", "", AX, 9, 9, 0),
	RANGE("push $9; mov (%rsp),%rax", "6a09 488b0424", "", AX, 0, M64, 1),
	RANGE("mov $9,%edi; mov %rdi,-8(%rsp); push (%rsi); pop %rax",
	      "bf09000000 48897c24f8 ff36 58", "", AX, 0, M64, 1),
	RANGE("mov %rsp,%rbp; mov $9,%edi; mov %rdi,-16(%rbp); sub $32,%rsp; mov 16(%rsp),%rax",
	      "4889e5 bf09000000 48897df0 4883ec20 488b442410", "", AX, 9, 9, 0),
	RANGE("mov $9,%ebp; push %rbp; mov %rsp,%rbp; mov $4,%ebp",
	      "bd09000000 55 4889e5 bd04000000", "", BP, 4, 4, 0),
	RANGE("mov $9,%ebp; push %rbp; mov %rsp,%rbp; sub $64,%rsp; leave",
	      "bd09000000 55 4889e5 4883ec40 c9", "", BP, 9, 9, 0),
	RANGE("mov $5,%ebx; call", "bb05000000 e800000000", "", BX, 5, 5, 0),
	RANGE("mov $5,%r12d; call", "41bc05000000 e800000000", "", R8+4, 5, 5, 0),
	RANGE("mov $5,%eax; call", "b805000000 e800000000", "", AX, 0, M64, 1),
	RANGE("mov $5,%ecx; call", "b905000000 e800000000", "", CX, 0, M64, 1),
	RANGE("mov $5,%edx; call", "ba05000000 e800000000", "", DX, 0, M64, 1),
	RANGE("mov $5,%esi; call", "be05000000 e800000000", "", SI, 0, M64, 1),
	RANGE("mov $5,%edi; call", "bf05000000 e800000000", "", DI, 0, M64, 1),
	RANGE("mov $5,%r8d; call", "41b805000000 e800000000", "", R8, 0, M64, 1),
	RANGE("mov $5,%r9d; call", "41b905000000 e800000000", "", R8+1, 0, M64, 1),
	RANGE("mov $5,%r10d; call", "41ba05000000 e800000000", "", R8+2, 0, M64, 1),
	RANGE("mov $5,%r11d; call", "41bb05000000 e800000000", "", R8+3, 0, M64, 1),
	/* Half of an entry is no entry. */
	RANGE("and $7,%edi; mov 0x402000(,%rdi,8),%rax; mov %eax,%eax",
	      "83e707 488b04fd00204000 89c0", "", AX, 0, M32, 1),
	RANGE("mov 0x402010,%rax", "488b042510204000", "", AX, 0x1234, 0x1234, 0),
	RANGE("mov 0x402010,%eax", "8b042510204000", "", AX, 0x1234, 0x1234, 0),
	RANGE("lea 0x402010,%rdi; movslq (%rdi),%rax",
	      "488d3c2510204000 486307", "", AX, 0x1234, 0x1234, 0),
};

static const struct piece entries[] = {
	{"and $7,%edi; mov 0x402000(,%rdi,8),%rax",
	      "83e707 488b04fd00204000", "", VT_REG_AX, 0x402000, 0x402038, 8, 8, false, 0},
	{"and $7,%edi; movslq 0x402000(,%rdi,4),%rax",
	      "83e707 486304bd00204000", "", VT_REG_AX, 0x402000, 0x40201c, 4, 4, true, 0},
	{"and $7,%edi; mov 0x402000(,%rdi,4),%eax",
	      "83e707 8b04bd00204000", "", VT_REG_AX, 0x402000, 0x40201c, 4, 4, false, 0},
	{"and $7,%edi; movzwl 0x402000(,%rdi,2),%eax",
	      "83e707 0fb7047d00204000", "", VT_REG_AX, 0x402000, 0x40200e, 2, 2, false, 0},
	{"and $7,%edi; movslq 0x402000(,%rdi,4),%rax; add $0x401000,%rax",
	      "83e707 486304bd00204000 480500104000",
	 "", VT_REG_AX, 0x402000, 0x40201c, 4, 4, true, 0x401000},
	{"and $7,%edi; lea 0x402000,%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax",
	      "83e707 488d142500204000 486304ba 4801d0",
	 "", VT_REG_AX, 0x402000, 0x40201c, 4, 4, true, 0x402000},
	{"mov 0x402000(,%rdi,8),%rax",
	      "488b04fd00204000", "", VT_REG_AX, 0x402000, UINT64_C(0x800401ff8), 8, 8, false, 0},
	{"and $7,%edi; mov 0x402000(%rdi),%rax",
	      "83e707 488b8700204000", "", VT_REG_AX, 0x402000, 0x402007, 8, 8, false, 0},
	{"and $7,%edi; mov 0x402000(,%rdi,4),%eax; cltq",
	      "83e707 8b04bd00204000 4898", "", VT_REG_AX, 0x402000, 0x40201c, 4, 4, true, 0},
};
/* clang-format on */

static unsigned index_of(unsigned reg)
{
	return reg < VT_REG_R8 ? reg : reg - VT_REG_R8 + 8;
}

static void check(const struct piece *p)
{
	struct vti_flowstate s = run(p->code, p->branches);
	struct vti_value v;

	vti_flowstate_settle(&s);
	v = s.regs[index_of(p->reg)];
	if (v.entry != (p->entry_size > 0) || v.lo != p->lo || v.hi != p->hi ||
	    v.stride != p->stride)
		fail_msg("%s: %#" PRIx64 " to %#" PRIx64 " by %#" PRIx64, p->text, v.lo, v.hi,
			 v.stride);
	if (!v.entry)
		return;
	assert_int_equal(v.size, p->entry_size);
	assert_int_equal(v.width, 64);
	assert_int_equal(v.is_signed, p->is_signed);
	assert_int_equal(v.add, p->add);
}

static void test_ranges(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		check(&ranges[i]);
}

static void test_entries(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		check(&entries[i]);
}

/* ---- the stack, and what is a pointer as it was in memory ---- */

static void test_stack(void **state)
{
	static const struct {
		const char *text, *code;
		bool at_start;
	} pieces[] = {
		{"nop", "90", true},
		{"push %rax", "50", false},
		{"push %rax; pop %rax", "50 58", true},
		{"sub $8,%rsp", "4883ec08", false},
		{"sub $8,%rsp; add $8,%rsp", "4883ec08 4883c408", true},
		{"push %rbp; mov %rsp,%rbp; sub $64,%rsp; leave", "55 4889e5 4883ec40 c9", true},
		{"push %rbp; mov %rsp,%rbp; sub $64,%rsp; mov %rbp,%rsp; pop %rbp",
		 "55 4889e5 4883ec40 4889ec 5d", true},
		{"mov (%rdi),%rsp", "488b27", false},
		{"mov %rdi,%rsp", "4889fc", false},
		{"mov (%rdi),%rsp; add $8,%rsp", "488b27 4883c408", false},
		{"mov %esp,%esp", "89e4", false},
		{"and $-16,%rsp", "4883e4f0", false},
		{"lea 8(%rsp),%rsp; lea -8(%rsp),%rsp", "488d642408 488d6424f8", true},
		{"push %rax; call; pop %rcx", "50 e800000000 59", true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct vti_flowstate s = run(pieces[i].code, "");

		if (vti_flowstate_at_start(&s) != pieces[i].at_start)
			fail_msg("%s", pieces[i].text);
	}
}

static void test_loaded(void **state)
{
	static const struct {
		const char *text, *code;
		bool loaded;
	} pieces[] = {
		{"mov (%rdi),%rax", "488b07", true},
		{"mov (%rdi),%rax; add $8,%rax", "488b07 4883c008", false},
		{"mov (%rdi),%rax; and $-8,%rax", "488b07 4883e0f8", false},
		{"mov %rdi,%rax", "4889f8", false},
		{"mov $5,%eax", "b805000000", false},
		{"call", "e800000000", true},
		{"mov 0x402000(,%rdi,8),%rax", "488b04fd00204000", false},
		{"mov %fs:0x30,%rax", "64488b042530000000", true},
		{"mov (%rdi),%rax; xor %fs:0x30,%rax", "488b07 644833042530000000", false},
		{"mov (%rdi),%rax; mov %rax,%rcx; mov %rcx,%rax", "488b07 4889c1 4889c8", true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct vti_flowstate s = run(pieces[i].code, "");

		if (vti_flowstate_is_loaded(&s.regs[VT_REG_AX]) != pieces[i].loaded)
			fail_msg("%s", pieces[i].text);
	}
}

/* ---- targets ---- */

static void test_targets(void **state)
{
	/* jmp *%rdi; jmp *0x402000(,%rdi,8); jmp *0x402010; jmp *%fs:0x402010; jmp *0x1007(%rip) */
	static const uint8_t jumps[][8] = {
		{0xff, 0xe7},
		{0xff, 0x24, 0xfd, 0x00, 0x20, 0x40, 0x00},
		{0xff, 0x24, 0x25, 0x10, 0x20, 0x40, 0x00},
		{0x64, 0xff, 0x24, 0x25, 0x10, 0x20, 0x40, 0x00},
		{0xff, 0x25, 0x07, 0x10, 0x00, 0x00},
	};
	struct vti_flowstate s = run("83e707", ""); /* and $7,%edi */
	struct vti_value v[5];
	struct vt_facts f;
	int i;

	(void)state;
	for (i = 0; i < 5; i++) {
		assert_true(vt_facts_decode(jumps[i], 8, &f));
		v[i] = vti_flowstate_target(&s, &f, START + 3, 3, &memory);
	}
	assert_true(!v[0].entry && v[0].lo == 0 && v[0].hi == 7);
	assert_true(v[1].entry && v[1].lo == TABLE && v[1].hi == TABLE + 56 && v[1].size == 8);
	assert_true(is_number(&v[2], 0x1234));
	assert_true(!v[3].entry && v[3].lo == 0 && v[3].hi == M64);
	assert_true(is_number(&v[4], 0x1234));
}

/* What a branch tells of a value holds of all that have its name, with what was known of it. */
static void test_branch_by_name(void **state)
{
	static const uint8_t compare[] = {0x48, 0x83, 0xff, 0x0c}, above[] = {0x77, 0};
	struct vt_facts f;
	int taken;

	(void)state;
	for (taken = 0; taken < 2; taken++) {
		struct vti_flowstate s;

		vti_flowstate_start(&s);
		s.regs[VT_REG_BX].sym = s.regs[VT_REG_DI].sym = 9;
		s.regs[VT_REG_DI].lo = 8;
		s.regs[VT_REG_DI].hi = 16;
		assert_true(vt_facts_decode(compare, sizeof(compare), &f)); /* cmp $12,%rdi */
		vti_flowstate_step(&s, &f, START, 0, &memory);
		assert_true(vt_facts_decode(above, sizeof(above), &f));
		vti_flowstate_branch(&s, &f, taken);
		vti_flowstate_settle(&s);
		assert_int_equal(s.regs[VT_REG_BX].lo, taken ? 13 : 8);
		assert_int_equal(s.regs[VT_REG_BX].hi, taken ? 16 : 12);
	}
}

/* ---- where ways meet ---- */

/* What one of the pieces leaves joined with what the other leaves, in register AX. */
static struct vti_flowstate join(const char *a, const char *b, bool widen, bool *changed)
{
	struct vti_flowstate s = run(a, ""), other = run(b, "");

	*changed = vti_flowstate_join(&s, &other, 0x40, widen);
	return s;
}

#define THREE  "b803000000"	      /* mov $3,%eax */
#define SEVEN  "b807000000"	      /* mov $7,%eax */
#define SPILL3 "b80300000048894424f8" /* and mov %rax,-8(%rsp) */
#define SPILL7 "b80700000048894424f8"
#define AND7   "83e70789f8" /* and $7,%edi; mov %edi,%eax */

static void test_join(void **state)
{
	struct vti_flowstate s;
	bool changed;

	(void)state;
	s = join(THREE, THREE, false, &changed);
	assert_false(changed);
	assert_true(is_number(&s.regs[VT_REG_AX], 3));
	s = join(THREE, SEVEN, false, &changed);
	assert_true(changed);
	assert_true(s.regs[VT_REG_AX].lo == 3 && s.regs[VT_REG_AX].hi == 7 &&
		    s.regs[VT_REG_AX].stride == 4);
	/* Joined with a part of itself, nothing changes. */
	s = join(AND7, THREE, false, &changed);
	assert_true(s.regs[VT_REG_AX].lo == 0 && s.regs[VT_REG_AX].hi == 7 &&
		    s.regs[VT_REG_AX].stride == 1);
	s = join(THREE, SEVEN, true, &changed);
	assert_true(changed);
	assert_true(s.regs[VT_REG_AX].lo == 0 && s.regs[VT_REG_AX].hi == M64 &&
		    s.regs[VT_REG_AX].stride == 1);
	/* Words stay that are the same on both ways. */
	s = join(SPILL3, SPILL3, false, &changed);
	assert_false(changed);
	assert_int_equal(s.ncells, 1);
	s = join(SPILL3, SPILL7, false, &changed);
	assert_true(changed);
	assert_int_equal(s.ncells, 0);
	s = join(SPILL3, THREE, false, &changed);
	assert_true(changed);
	assert_int_equal(s.ncells, 0);
	s = join(THREE, SPILL3, false, &changed);
	assert_false(changed);
	assert_int_equal(s.ncells, 0);
}

/* What comparisons told of %edi on both ways, or on one only; other comparisons are a change too.
 */
static void test_join_facts(void **state)
{
	/* cmp $5,%edi; ja .+2 and the same of 9; nop; each ends with mov %edi,%eax. */
	static const char five[] = "83ff05 7700", nine[] = "83ff09 7700", more[] = "83ff05 7600";
	const struct {
		const char *a, *b;
		bool widen, changed;
		uint64_t lo, hi;
	} ways[] = {
		{five, five, false, false, 0, 5}, {five, nine, false, true, 0, 9},
		{nine, five, false, true, 0, 9},  {five, nine, true, true, 0, M32},
		{five, "", false, true, 0, M32},  {five, more, false, true, 0, M32},
	};
	struct vti_flowstate s, other;
	struct vt_facts f;
	size_t i;

	(void)state;
	assert_true(vt_facts_decode((const uint8_t *)"\x89\xf8", 2, &f));
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		s = run(ways[i].a, "n");
		other = run(ways[i].b, *ways[i].b ? "n" : "");
		assert_int_equal(vti_flowstate_join(&s, &other, 0x40, ways[i].widen),
				 ways[i].changed);
		vti_flowstate_step(&s, &f, START, 0, &memory);
		vti_flowstate_settle(&s);
		assert_int_equal(s.regs[VT_REG_AX].lo, ways[i].lo);
		assert_int_equal(s.regs[VT_REG_AX].hi, ways[i].hi);
	}
}

/* A comparison before ways meet is one behind only if it is the same on both. */
static void test_join_compare(void **state)
{
	/* cmp $5,%edi; cmp $6,%edi; cmp $5,%dil; cmp $5,%esi; nothing */
	static const char *const compares[] = {"83ff05", "83ff06", "4080ff05", "83fe05", ""};
	struct vti_flowstate s, other;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
		s = run(compares[0], "");
		other = run(compares[i], "");
		assert_true(s.compare.valid);
		vti_flowstate_join(&s, &other, 0x40, false);
		assert_int_equal(s.compare.valid, i == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),	       cmocka_unit_test(test_entries),
		cmocka_unit_test(test_stack),	       cmocka_unit_test(test_loaded),
		cmocka_unit_test(test_targets),	       cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_facts),     cmocka_unit_test(test_join_compare),
		cmocka_unit_test(test_branch_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
