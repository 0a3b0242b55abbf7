/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What class of operation an instruction is: written down by hand for at least one of each rule;
 * and what its operations need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/pipeline/core.h"

#define REG(name) (UINT64_C(1) << VT_REG_##name)
#define XMM(n)	  (UINT64_C(1) << (VT_REG_VECTOR + (n)))

static const struct {
	const char *text;
	enum vt_op_class want;
	uint8_t code[16];
	unsigned size;
} cases[] = {
	{"nop", VT_OP_NOP, {0x90}, 1},
	{"endbr64", VT_OP_NOP, {0xf3, 0x0f, 0x1e, 0xfa}, 4},
	{"prefetcht0 (%rdi)", VT_OP_NOP, {0x0f, 0x18, 0x0f}, 3},
	{"vzeroupper", VT_OP_NOP, {0xc5, 0xf8, 0x77}, 3},
	{"vzeroall", VT_OP_NOP, {0xc5, 0xfc, 0x77}, 3},
	{"emms", VT_OP_NOP, {0x0f, 0x77}, 2},
	{"syscall", VT_OP_SLOW, {0x0f, 0x05}, 2},
	{"int3", VT_OP_SLOW, {0xcc}, 1},
	{"in (%dx),%al", VT_OP_SLOW, {0xec}, 1},
	{"outsb", VT_OP_SLOW, {0x6e}, 1},
	{"hlt", VT_OP_SLOW, {0xf4}, 1},
	{"enter $8,$0", VT_OP_SLOW, {0xc8, 0x08, 0x00, 0x00}, 4},
	{"ldmxcsr (%rdi)", VT_OP_INT, {0x0f, 0xae, 0x17}, 3},
	{"vstmxcsr (%rdi)", VT_OP_INT, {0xc5, 0xf8, 0xae, 0x1f}, 4},
	{"cpuid", VT_OP_SLOW, {0x0f, 0xa2}, 2},
	{"rdtscp", VT_OP_SLOW, {0x0f, 0x01, 0xf9}, 3},
	{"rdpid %rax", VT_OP_SLOW, {0xf3, 0x0f, 0xc7, 0xf8}, 4},
	{"xgetbv", VT_OP_SLOW, {0x0f, 0x01, 0xd0}, 3},
	{"xsaveopt (%rdi)", VT_OP_SLOW, {0x0f, 0xae, 0x37}, 3},
	{"fxrstor (%rdi)", VT_OP_SLOW, {0x0f, 0xae, 0x0f}, 3},
	{"rdrand %eax", VT_OP_SLOW, {0x0f, 0xc7, 0xf0}, 3},
	{"wrgsbase %rax", VT_OP_SLOW, {0xf3, 0x48, 0x0f, 0xae, 0xd8}, 5},
	{"clflushopt (%rdi)", VT_OP_SLOW, {0x66, 0x0f, 0xae, 0x3f}, 4},
	{"clwb (%rdi)", VT_OP_SLOW, {0x66, 0x0f, 0xae, 0x37}, 4},
	{"mfence", VT_OP_SYNC, {0x0f, 0xae, 0xf0}, 3},
	{"lfence", VT_OP_SYNC, {0x0f, 0xae, 0xe8}, 3},
	{"sfence", VT_OP_SYNC, {0x0f, 0xae, 0xf8}, 3},
	{"lock incl (%rdi)", VT_OP_SYNC, {0xf0, 0xff, 0x07}, 3},
	{"xchg %eax,(%rdi)", VT_OP_SYNC, {0x87, 0x07}, 2},
	{"jmp .", VT_OP_BRANCH, {0xeb, 0xfe}, 2},
	{"jne .", VT_OP_BRANCH, {0x75, 0xfe}, 2},
	{"call .", VT_OP_BRANCH, {0xe8, 0xfb, 0xff, 0xff, 0xff}, 5},
	{"ret", VT_OP_BRANCH, {0xc3}, 1},
	{"jmp *%rax", VT_OP_BRANCH, {0xff, 0xe0}, 2},
	{"add %ecx,%eax", VT_OP_INT, {0x01, 0xc8}, 2},
	{"mov %ecx,%eax", VT_OP_INT, {0x89, 0xc8}, 2},
	{"lea 8(%rax,%rcx,4),%rdx", VT_OP_INT, {0x48, 0x8d, 0x54, 0x88, 0x08}, 5},
	{"cmp %rax,%rcx", VT_OP_INT, {0x48, 0x39, 0xc1}, 3},
	{"setl %al", VT_OP_INT, {0x0f, 0x9c, 0xc0}, 3},
	{"cmovle %ecx,%eax", VT_OP_INT, {0x0f, 0x4e, 0xc1}, 3},
	{"shl $3,%eax", VT_OP_SHIFT, {0xc1, 0xe0, 0x03}, 3},
	{"sarx %ecx,%eax,%edx", VT_OP_SHIFT, {0xc4, 0xe2, 0x72, 0xf7, 0xd0}, 5},
	{"shrd $4,%rax,%rdx", VT_OP_SHIFT, {0x48, 0x0f, 0xac, 0xc2, 0x04}, 5},
	{"rorx $7,%eax,%ecx", VT_OP_SHIFT, {0xc4, 0xe3, 0x7b, 0xf0, 0xc8, 0x07}, 6},
	{"rcl $1,%eax", VT_OP_SHIFT, {0xd1, 0xd0}, 2},
	{"imul %ecx,%eax", VT_OP_MULTIPLY, {0x0f, 0xaf, 0xc1}, 3},
	{"mul %rcx", VT_OP_MULTIPLY, {0x48, 0xf7, 0xe1}, 3},
	{"mulx %rax,%rcx,%rdx", VT_OP_MULTIPLY, {0xc4, 0xe2, 0xf3, 0xf6, 0xd0}, 5},
	{"popcnt %eax,%ecx", VT_OP_MULTIPLY, {0xf3, 0x0f, 0xb8, 0xc8}, 4},
	{"bsf %eax,%ecx", VT_OP_MULTIPLY, {0x0f, 0xbc, 0xc8}, 3},
	{"tzcnt %eax,%ecx", VT_OP_MULTIPLY, {0xf3, 0x0f, 0xbc, 0xc8}, 4},
	{"pdep %rax,%rcx,%rdx", VT_OP_MULTIPLY, {0xc4, 0xe2, 0xf3, 0xf5, 0xd0}, 5},
	{"crc32b %al,%ecx", VT_OP_MULTIPLY, {0xf2, 0x0f, 0x38, 0xf0, 0xc8}, 5},
	{"div %ecx", VT_OP_DIVIDE, {0xf7, 0xf1}, 2},
	{"idiv %rcx", VT_OP_DIVIDE, {0x48, 0xf7, 0xf9}, 3},
	{"addsd %xmm1,%xmm0", VT_OP_FADD, {0xf2, 0x0f, 0x58, 0xc1}, 4},
	{"vsubps %ymm1,%ymm2,%ymm3", VT_OP_FADD, {0xc5, 0xec, 0x5c, 0xd9}, 4},
	{"cvtsi2sd %eax,%xmm0", VT_OP_FADD, {0xf2, 0x0f, 0x2a, 0xc0}, 4},
	{"ucomisd %xmm1,%xmm0", VT_OP_FADD, {0x66, 0x0f, 0x2e, 0xc1}, 4},
	{"maxss %xmm1,%xmm0", VT_OP_FADD, {0xf3, 0x0f, 0x5f, 0xc1}, 4},
	{"haddpd %xmm1,%xmm0", VT_OP_FADD, {0x66, 0x0f, 0x7c, 0xc1}, 4},
	{"fadd %st(1),%st", VT_OP_FADD, {0xd8, 0xc1}, 2},
	{"fld1", VT_OP_FADD, {0xd9, 0xe8}, 2},
	{"fchs", VT_OP_FADD, {0xd9, 0xe0}, 2},
	{"mulps %xmm1,%xmm0", VT_OP_FMUL, {0x0f, 0x59, 0xc1}, 3},
	{"vfmadd231sd %xmm1,%xmm2,%xmm3", VT_OP_FMUL, {0xc4, 0xe2, 0xe9, 0xb9, 0xd9}, 5},
	{"vfnmsub132ps %ymm1,%ymm2,%ymm3", VT_OP_FMUL, {0xc4, 0xe2, 0x6d, 0x9e, 0xd9}, 5},
	{"pmulld %xmm1,%xmm0", VT_OP_FMUL, {0x66, 0x0f, 0x38, 0x40, 0xc1}, 5},
	{"pmaddwd %xmm1,%xmm0", VT_OP_FMUL, {0x66, 0x0f, 0xf5, 0xc1}, 4},
	{"psadbw %xmm1,%xmm0", VT_OP_FMUL, {0x66, 0x0f, 0xf6, 0xc1}, 4},
	{"rcpps %xmm1,%xmm0", VT_OP_FMUL, {0x0f, 0x53, 0xc1}, 3},
	{"vrsqrtps %xmm1,%xmm0", VT_OP_FMUL, {0xc5, 0xf8, 0x52, 0xc1}, 4},
	{"dpps $1,%xmm1,%xmm0", VT_OP_FMUL, {0x66, 0x0f, 0x3a, 0x40, 0xc1, 0x01}, 6},
	{"aesenc %xmm1,%xmm0", VT_OP_FMUL, {0x66, 0x0f, 0x38, 0xdc, 0xc1}, 5},
	{"vpclmulqdq $0,%xmm1,%xmm2,%xmm3", VT_OP_FMUL, {0xc4, 0xe3, 0x69, 0x44, 0xd9, 0x00}, 6},
	{"sha256rnds2 %xmm0,%xmm1,%xmm2", VT_OP_FMUL, {0x0f, 0x38, 0xcb, 0xd1}, 4},
	{"gf2p8mulb %xmm1,%xmm0", VT_OP_FMUL, {0x66, 0x0f, 0x38, 0xcf, 0xc1}, 5},
	{"fmul %st(1),%st", VT_OP_FMUL, {0xd8, 0xc9}, 2},
	{"divsd %xmm1,%xmm0", VT_OP_FDIV, {0xf2, 0x0f, 0x5e, 0xc1}, 4},
	{"vdivps %ymm1,%ymm2,%ymm3", VT_OP_FDIV, {0xc5, 0xec, 0x5e, 0xd9}, 4},
	{"sqrtsd %xmm1,%xmm0", VT_OP_FDIV, {0xf2, 0x0f, 0x51, 0xc1}, 4},
	{"vsqrtpd %ymm1,%ymm0", VT_OP_FDIV, {0xc5, 0xfd, 0x51, 0xc1}, 4},
	{"fdiv %st(1),%st", VT_OP_FDIV, {0xd8, 0xf1}, 2},
	{"fidivl (%rdi)", VT_OP_FDIV, {0xda, 0x37}, 2},
	{"fsqrt", VT_OP_FDIV, {0xd9, 0xfa}, 2},
	{"fsin", VT_OP_SLOW, {0xd9, 0xfe}, 2},
	{"fldcw (%rdi)", VT_OP_FADD, {0xd9, 0x2f}, 2},
	{"fprem", VT_OP_SLOW, {0xd9, 0xf8}, 2},
	{"fxch %st(1)", VT_OP_NOP, {0xd9, 0xc9}, 2},
	{"fincstp", VT_OP_NOP, {0xd9, 0xf7}, 2},
	{"paddd %xmm1,%xmm0", VT_OP_VINT, {0x66, 0x0f, 0xfe, 0xc1}, 4},
	{"vpcmpeqb %ymm1,%ymm2,%ymm3", VT_OP_VINT, {0xc5, 0xed, 0x74, 0xd9}, 4},
	{"pand %xmm1,%xmm0", VT_OP_VINT, {0x66, 0x0f, 0xdb, 0xc1}, 4},
	{"andps %xmm1,%xmm0", VT_OP_VINT, {0x0f, 0x54, 0xc1}, 3},
	{"vxorpd %ymm1,%ymm2,%ymm3", VT_OP_VINT, {0xc5, 0xed, 0x57, 0xd9}, 4},
	{"blendps $1,%xmm1,%xmm0", VT_OP_VINT, {0x66, 0x0f, 0x3a, 0x0c, 0xc1, 0x01}, 6},
	{"movaps %xmm1,%xmm0", VT_OP_VINT, {0x0f, 0x28, 0xc1}, 3},
	{"movd %eax,%xmm0", VT_OP_VINT, {0x66, 0x0f, 0x6e, 0xc0}, 4},
	{"psrld $3,%xmm0", VT_OP_VINT, {0x66, 0x0f, 0x72, 0xd0, 0x03}, 5},
	{"shufps $1,%xmm1,%xmm0", VT_OP_SHUFFLE, {0x0f, 0xc6, 0xc1, 0x01}, 4},
	{"pshufb %xmm1,%xmm0", VT_OP_SHUFFLE, {0x66, 0x0f, 0x38, 0x00, 0xc1}, 5},
	{"punpcklbw %xmm1,%xmm0", VT_OP_SHUFFLE, {0x66, 0x0f, 0x60, 0xc1}, 4},
	{"unpcklpd %xmm1,%xmm0", VT_OP_SHUFFLE, {0x66, 0x0f, 0x14, 0xc1}, 4},
	{"vpermd %ymm1,%ymm2,%ymm3", VT_OP_SHUFFLE, {0xc4, 0xe2, 0x6d, 0x36, 0xd9}, 5},
	{"vbroadcastss %xmm1,%ymm0", VT_OP_SHUFFLE, {0xc4, 0xe2, 0x7d, 0x18, 0xc1}, 5},
	{"vpbroadcastq %xmm1,%ymm0", VT_OP_SHUFFLE, {0xc4, 0xe2, 0x7d, 0x59, 0xc1}, 5},
	{"vinserti128 $1,%xmm1,%ymm2,%ymm3",
	 VT_OP_SHUFFLE,
	 {0xc4, 0xe3, 0x6d, 0x38, 0xd9, 0x01},
	 6},
	{"pinsrd $1,%eax,%xmm0", VT_OP_SHUFFLE, {0x66, 0x0f, 0x3a, 0x22, 0xc0, 0x01}, 6},
	{"vextractf128 $1,%ymm1,%xmm0", VT_OP_SHUFFLE, {0xc4, 0xe3, 0x7d, 0x19, 0xc8, 0x01}, 6},
	{"pextrw $1,%xmm0,%eax", VT_OP_SHUFFLE, {0x66, 0x0f, 0xc5, 0xc0, 0x01}, 5},
	{"packuswb %xmm1,%xmm0", VT_OP_SHUFFLE, {0x66, 0x0f, 0x67, 0xc1}, 4},
	{"palignr $4,%xmm1,%xmm0", VT_OP_SHUFFLE, {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 0x04}, 6},
	{"pslldq $4,%xmm0", VT_OP_SHUFFLE, {0x66, 0x0f, 0x73, 0xf8, 0x04}, 5},
	{"movhlps %xmm1,%xmm0", VT_OP_SHUFFLE, {0x0f, 0x12, 0xc1}, 3},
	{"movddup %xmm1,%xmm0", VT_OP_SHUFFLE, {0xf2, 0x0f, 0x12, 0xc1}, 4},
	{"vcompressps %zmm1,%zmm0{%k1}", VT_OP_SHUFFLE, {0x62, 0xf2, 0x7d, 0x49, 0x8a, 0xc8}, 6},
};

static bool has_class(const struct vt_mop *op, enum vt_op_class c)
{
	unsigned i;

	for (i = 0; i < op->nuops; i++)
		if (op->uops[i].op_class == c)
			return true;
	return false;
}

/* On a machine that has no table of timings, and eliminates no moves. */
static void test_classes(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	unsigned i, k;

	(void)state;
	assert_int_equal(vt_core_load(&m, "alpha21164", &err), 0);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_mop op;

		assert_true(vt_core_op(&m, cases[i].code, cases[i].size, &op));
		assert_int_equal(op.length, cases[i].size);
		for (k = 0; k < VT_NOPCLASSES; k++)
			if (has_class(&op, k) != (k == cases[i].want) && k != VT_OP_LOAD &&
			    k != VT_OP_STORE)
				fail_msg("%s: %s", cases[i].text, vt_op_class_name(k));
	}
}

/* A word that begins the mnemonic only counts where the list says so. */
static void test_words(void **state)
{
	static const struct {
		uint8_t code[8];
		unsigned size;
		enum vt_op_class want;
	} words[] = {
		{{0xff, 0xc0}, 2, VT_OP_INT},	     /* inc, not in */
		{{0x0f, 0x01, 0xf9}, 3, VT_OP_SLOW}, /* rdtscp, as rdtsc */
		{{0xc5, 0xfc, 0x77}, 3, VT_OP_NOP},  /* vzeroall: the second of a list */
		{{0x0f, 0xae, 0xf8}, 3, VT_OP_SYNC}, /* sfence: the last of one */
		{{0xd9, 0xfb}, 2, VT_OP_SLOW},	     /* fsincos, as fsin */
		{{0xd9, 0xe1}, 2, VT_OP_FADD},	     /* fabs: in no list */
		{{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 4}, 6, VT_OP_SHUFFLE}, /* palignr */
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	struct vt_mop op;
	size_t i;

	(void)state;
	assert_int_equal(vt_core_load(&m, "alpha21164", &err), 0);
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_true(vt_core_op(&m, words[i].code, words[i].size, &op));
		assert_int_equal(op.nuops, 1);
		assert_int_equal(op.uops[0].op_class, words[i].want);
	}
}

/* ---- operations ---- */

struct want {
	const char *text;
	uint8_t code[12];
	uint8_t size;
	uint8_t nuops;
	uint8_t classes[VT_MOP_UOPS];
	uint8_t operands[VT_MOP_UOPS];
	uint64_t reads;
	uint64_t address_reads;
	uint64_t writes;
};

#define R VT_UOP_READS
#define A VT_UOP_ADDRESS
#define P VT_UOP_PREVIOUS
#define W VT_UOP_WRITES

/* Bytes from GNU as; what they need, by the manual's words for each. */
static const struct want wants[] = {
	{"add %rcx,%rax",
	 {0x48, 0x01, 0xc8},
	 3,
	 1,
	 {VT_OP_INT},
	 {R | W},
	 REG(AX) | REG(CX),
	 0,
	 REG(AX) | REG(FLAGS)},
	{"add (%rdi),%rax",
	 {0x48, 0x03, 0x07},
	 3,
	 2,
	 {VT_OP_LOAD, VT_OP_INT},
	 {A, R | W | P},
	 REG(AX),
	 REG(DI),
	 REG(AX) | REG(FLAGS)},
	{"add (%rax),%rax",
	 {0x48, 0x03, 0x00},
	 3,
	 2,
	 {VT_OP_LOAD, VT_OP_INT},
	 {A, R | W | P},
	 REG(AX),
	 REG(AX),
	 REG(AX) | REG(FLAGS)},
	{"add %rax,(%rdi,%rsi,8)",
	 {0x48, 0x01, 0x04, 0xf7},
	 4,
	 3,
	 {VT_OP_LOAD, VT_OP_INT, VT_OP_STORE},
	 {A, R | W | P, A | P},
	 REG(AX),
	 REG(DI) | REG(SI),
	 REG(FLAGS)},
	{"lock add %rax,(%rdi)",
	 {0xf0, 0x48, 0x01, 0x07},
	 4,
	 3,
	 {VT_OP_LOAD, VT_OP_SYNC, VT_OP_STORE},
	 {A, R | W | P, A | P},
	 REG(AX),
	 REG(DI),
	 REG(FLAGS)},
	{"mov (%rdi),%rax", {0x48, 0x8b, 0x07}, 3, 1, {VT_OP_LOAD}, {A | W}, 0, REG(DI), REG(AX)},
	{"mov (%rdi),%al",
	 {0x8a, 0x07},
	 2,
	 1,
	 {VT_OP_LOAD},
	 {A | W | R},
	 REG(AX),
	 REG(DI),
	 REG(AX)},
	{"mov %rax,(%rdi)",
	 {0x48, 0x89, 0x07},
	 3,
	 1,
	 {VT_OP_STORE},
	 {A | R | W},
	 REG(AX),
	 REG(DI),
	 0},
	{"lea (%rdi,%rsi,4),%rax",
	 {0x48, 0x8d, 0x04, 0xb7},
	 4,
	 1,
	 {VT_OP_INT},
	 {R | W},
	 REG(DI) | REG(SI),
	 0,
	 REG(AX)},
	{"xor %eax,%eax", {0x31, 0xc0}, 2, 1, {VT_OP_INT}, {R | W}, 0, 0, REG(AX) | REG(FLAGS)},
	{"imul %rcx,%rax",
	 {0x48, 0x0f, 0xaf, 0xc1},
	 4,
	 1,
	 {VT_OP_MULTIPLY},
	 {R | W},
	 REG(AX) | REG(CX),
	 0,
	 REG(AX) | REG(FLAGS)},
	{"div %rcx",
	 {0x48, 0xf7, 0xf1},
	 3,
	 1,
	 {VT_OP_DIVIDE},
	 {R | W},
	 REG(AX) | REG(CX) | REG(DX),
	 0,
	 REG(AX) | REG(DX) | REG(FLAGS)},
	{"push %rbx", {0x53}, 1, 1, {VT_OP_STORE}, {A | R | W}, REG(BX), REG(SP), 0},
	{"pop %rbx", {0x5b}, 1, 1, {VT_OP_LOAD}, {A | W}, 0, REG(SP), REG(BX)},
	{"call", {0xe8, 0, 0, 0, 0}, 5, 2, {VT_OP_STORE, VT_OP_BRANCH}, {A, R | W}, 0, REG(SP), 0},
	{"ret", {0xc3}, 1, 2, {VT_OP_LOAD, VT_OP_BRANCH}, {A, R | W | P}, 0, REG(SP), 0},
	{"jmp *(%rax)",
	 {0xff, 0x20},
	 2,
	 2,
	 {VT_OP_LOAD, VT_OP_BRANCH},
	 {A, R | W | P},
	 0,
	 REG(AX),
	 0},
	{"call *8(%rax)",
	 {0xff, 0x50, 0x08},
	 3,
	 3,
	 {VT_OP_STORE, VT_OP_LOAD, VT_OP_BRANCH},
	 {A, A, R | W | P},
	 0,
	 REG(AX) | REG(SP),
	 0},
	{"jne", {0x75, 0x00}, 2, 1, {VT_OP_BRANCH}, {R | W}, REG(FLAGS), 0, 0},
	{"nopw 0(%rax,%rax,1)", {0x66, 0x0f, 0x1f, 0x44, 0, 0}, 6, 1, {VT_OP_NOP}, {0}, 0, 0, 0},
	{"addsd %xmm1,%xmm0",
	 {0xf2, 0x0f, 0x58, 0xc1},
	 4,
	 1,
	 {VT_OP_FADD},
	 {R | W},
	 XMM(0) | XMM(1),
	 0,
	 XMM(0)},
	{"mulsd (%rdi),%xmm0",
	 {0xf2, 0x0f, 0x59, 0x07},
	 4,
	 2,
	 {VT_OP_LOAD, VT_OP_FMUL},
	 {A, R | W | P},
	 XMM(0),
	 REG(DI),
	 XMM(0)},
	{"sqrtsd %xmm1,%xmm0",
	 {0xf2, 0x0f, 0x51, 0xc1},
	 4,
	 1,
	 {VT_OP_FDIV},
	 {R | W},
	 XMM(0) | XMM(1),
	 0,
	 XMM(0)},
	{"paddd %xmm1,%xmm0",
	 {0x66, 0x0f, 0xfe, 0xc1},
	 4,
	 1,
	 {VT_OP_VINT},
	 {R | W},
	 XMM(0) | XMM(1),
	 0,
	 XMM(0)},
	{"pxor %xmm3,%xmm3", {0x66, 0x0f, 0xef, 0xdb}, 4, 1, {VT_OP_VINT}, {R | W}, 0, 0, XMM(3)},
	{"movups %xmm0,(%rdi)",
	 {0x0f, 0x11, 0x07},
	 3,
	 1,
	 {VT_OP_STORE},
	 {A | R | W},
	 XMM(0),
	 REG(DI),
	 0},
	{"inc %eax", {0xff, 0xc0}, 2, 1, {VT_OP_INT}, {R | W}, REG(AX), 0, REG(AX) | REG(FLAGS)},
	{"mfence", {0x0f, 0xae, 0xf0}, 3, 1, {VT_OP_SYNC}, {R | W}, 0, 0, 0},
	{"sete %al",
	 {0x0f, 0x94, 0xc0},
	 3,
	 1,
	 {VT_OP_INT},
	 {R | W},
	 REG(FLAGS) | REG(AX),
	 0,
	 REG(AX)},
};

static void instructions_are_cracked(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	struct vt_mop op;
	size_t i;
	unsigned k;

	(void)state;
	assert_int_equal(vt_core_load(&m, "alpha21164", &err), 0);
	for (i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		const struct want *w = &wants[i];

		if (!vt_core_op(&m, w->code, w->size, &op) || op.length != w->size)
			fail_msg("%s: not decoded", w->text);
		if (op.nuops != w->nuops || op.slots != w->nuops)
			fail_msg("%s: %u micro-operations", w->text, op.nuops);
		for (k = 0; k < op.nuops; k++)
			if (op.uops[k].op_class != w->classes[k] ||
			    op.uops[k].operands != w->operands[k])
				fail_msg("%s: operation %u is %s %x", w->text, k,
					 vt_op_class_name(op.uops[k].op_class),
					 op.uops[k].operands);
		if (op.reads != w->reads || op.address_reads != w->address_reads ||
		    op.writes != w->writes)
			fail_msg("%s: %jx %jx %jx", w->text, (uintmax_t)op.reads,
				 (uintmax_t)op.address_reads, (uintmax_t)op.writes);
	}
}

static void operations_get_units_and_latencies(void **state)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x07}, mul[] = {0xf2, 0x0f, 0x59, 0xc1};
	static const uint8_t nop[] = {0x90};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	struct vt_mop op;

	(void)state;
	assert_int_equal(vt_core_load(&m, "alpha21164", &err), 0);
	assert_true(vt_core_op(&m, load, sizeof(load), &op));
	assert_int_equal(op.uops[0].units, 3);
	assert_int_equal(op.uops[0].latency, 2);
	assert_true(vt_core_op(&m, mul, sizeof(mul), &op));
	assert_int_equal(op.uops[0].units, 8);
	assert_int_equal(op.uops[0].latency, 4);
	assert_int_equal(op.uops[0].busy, 1);
	assert_true(vt_core_op(&m, nop, sizeof(nop), &op));
	assert_int_equal(op.uops[0].units, 0);
}

static void what_is_no_instruction_takes_a_slot(void **state)
{
	static const uint8_t bad[] = {0x06, 0x06}, cut[] = {0x48};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	struct vt_mop op;

	(void)state;
	assert_int_equal(vt_core_load(&m, "skylake", &err), 0);
	assert_false(vt_core_op(&m, bad, sizeof(bad), &op));
	assert_int_equal(op.length, 0);
	assert_int_equal(op.slots, 1);
	assert_int_equal(op.nuops, 1);
	assert_false(vt_core_op(&m, cut, sizeof(cut), &op));
	assert_false(vt_core_op(&m, cut, 0, &op));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_words),
		cmocka_unit_test(instructions_are_cracked),
		cmocka_unit_test(operations_get_units_and_latencies),
		cmocka_unit_test(what_is_no_instruction_takes_a_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
