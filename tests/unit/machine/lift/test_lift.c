/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lifted code: its shape for bytes written by hand, and that no bytes whatever break it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <libvex_basictypes.h>
#include <libvex_guest_amd64.h>
#include <libvex_ir.h>

#include "base/rng.h"
#include "machine/insn/insn.h"
#include "machine/lift/lift.h"
#include "tests/unit/machine/lift/liftuses.h"

#define AT	 0x401000
#define BIT(w)	 (1u << (w))
#define ALL_BITS 0xffffffffu

static struct vti_block *lift_some(const char *hex, unsigned max_insns, uint32_t capture)
{
	size_t n = strlen(hex) / 2, i;
	/* As long as the code, so that a sanitizer sees who reads behind it. */
	uint8_t *bytes = malloc(n ? n : 1);
	struct vt_error err = VT_ERROR_INIT;
	struct vti_block *b;

	assert_non_null(bytes);
	for (i = 0; i < n; i++) {
		char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		bytes[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	b = vti_lift(AT, bytes, n, max_insns, capture, &err);
	free(bytes);
	if (!b)
		fail_msg("%s: %s", hex, err.text);
	return b;
}

static struct vti_block *lift(const char *hex, uint32_t capture)
{
	return lift_some(hex, VTI_LIFT_INSNS, capture);
}

static unsigned count(const struct vti_block *b, unsigned op)
{
	unsigned i, n = 0;

	for (i = 0; i < b->nops; i++)
		n += b->ops[i].op == op;
	return n;
}

static unsigned count_put(const struct vti_block *b, size_t offset)
{
	unsigned i, n = 0;

	for (i = 0; i < b->nops; i++)
		n += b->ops[i].op == VTI_PUT8 && b->ops[i].imm == offset;
	return n;
}

/* The captures of one sort: how many there are, and the first. */
static unsigned captures(const struct vti_block *b, unsigned what, const struct vti_op **first)
{
	unsigned i, n = 0;

	*first = NULL;
	for (i = 0; i < b->nops; i++) {
		const struct vti_op *op = &b->ops[i];

		if ((op->op != VTI_CAPTURE && op->op != VTI_CAPTURE_STATE) || op->aux != what)
			continue;
		if (!n++)
			*first = op;
	}
	return n;
}

/* What is true of any block. */
static void check_shape(const struct vti_block *b, size_t size)
{
	uint32_t i;

	assert_true(b->nops > 0 && b->ninsns <= VTI_LIFT_INSNS);
	assert_true(b->ops[b->nops - 1].op == VTI_END || b->ops[b->nops - 1].op == VTI_STOP);
	assert_int_equal(b->first[b->ninsns], b->nops);
	assert_int_equal(b->offset[0], 0);
	assert_true(b->offset[b->ninsns] <= size);
	for (i = 0; i < b->ninsns; i++) {
		assert_true(b->first[i] <= b->first[i + 1]);
		assert_true(b->offset[i] < b->offset[i + 1]);
		assert_true(b->offset[i + 1] - b->offset[i] <= VT_MAX_INSN);
	}
	for (i = 0; i < b->nops; i++)
		assert_true(b->ops[i].insn <= b->ninsns);
	assert_false(b->bad && b->no_code);
	check_uses(b);
}

static const struct vti_op *last(const struct vti_block *b)
{
	return &b->ops[b->nops - 1];
}

/* ---- cases ---- */

static void test_straight(void **state)
{
	/* add rax, rbx; xor rbx, rbx; cmp rcx, rax; jne .-0xb */
	struct vti_block *b = lift("4801d84831db4839c175f5", 0);

	(void)state;
	check_shape(b, 11);
	assert_int_equal(b->ninsns, 4);
	assert_int_equal(b->offset[1], 3);
	assert_int_equal(b->offset[4], 11);
	assert_false(b->bad || b->no_code);
	assert_int_equal(count(b, VTI_EXIT), 1);
	assert_int_equal(last(b)->op, VTI_END);
	assert_int_equal(last(b)->aux, Ijk_Boring);
	/* Of three instructions that set flags, the last counts; nobody keeps the address. */
	assert_int_equal(count_put(b, offsetof(VexGuestAMD64State, guest_CC_OP)), 1);
	assert_int_equal(count_put(b, offsetof(VexGuestAMD64State, guest_RIP)), 0);
	assert_int_equal(count_put(b, offsetof(VexGuestAMD64State, guest_RAX)), 1);
	vti_block_free(b);

	/* Each of these is needed: setc reads what add left. */
	b = lift("4801d80f92c14801d8c3", 0);
	assert_int_equal(b->ninsns, 4);
	assert_int_equal(last(b)->aux, Ijk_Ret);
	vti_block_free(b);
}

static void test_limits(void **state)
{
	struct vti_block *b = lift_some("4801d84831db4839c1", 2, 0);

	(void)state;
	check_shape(b, 9);
	assert_int_equal(b->ninsns, 2);
	assert_int_equal(last(b)->op, VTI_END);
	assert_true(b->slots[last(b)->a].value == AT + 6);
	assert_true(vt_word_is_known(b->slots[last(b)->a]));
	vti_block_free(b);

	/* Code that ends between instructions, and inside of one. */
	b = lift("4801d84831db", 0);
	assert_true(b->no_code && !b->bad && b->ninsns == 2 && last(b)->op == VTI_STOP);
	assert_int_equal(last(b)->insn, 2);
	vti_block_free(b);
	b = lift("4801d848b80102", 0);
	assert_true(b->no_code && !b->bad && b->ninsns == 1 && b->offset[1] == 3);
	vti_block_free(b);
	b = lift("48", 0);
	assert_true(b->no_code && b->ninsns == 0 && b->nops == 1);
	vti_block_free(b);

	b = lift("4801d806909090909090909090909090909090", 0);
	check_shape(b, 19);
	assert_true(b->bad && !b->no_code && b->ninsns == 1 && last(b)->op == VTI_STOP);
	vti_block_free(b);
}

static void test_unlifted(void **state)
{
	/* vaddps zmm1, zmm2, zmm3; add rax, rbx; ret */
	struct vti_block *b = lift("62f16c4858cb4801d8c3", BIT(VT_WHAT_RESULT));
	const struct vti_unlifted *u = NULL;
	unsigned i;

	(void)state;
	check_shape(b, 10);
	assert_int_equal(b->ninsns, 3);
	assert_int_equal(b->nunlifted, 1);
	for (i = 0; i < b->nops; i++)
		if (b->ops[i].op == VTI_UNLIFTED)
			u = b->ops[i].data;
	assert_non_null(u);
	assert_true(u->writes == UINT64_C(1) << (VT_REG_VECTOR + 1));
	assert_false(u->writes_memory || u->writes_flags);
	assert_int_equal(last(b)->aux, Ijk_Ret);
	vti_block_free(b);

	/* xbegin: VEX would have it fail. */
	b = lift("c7f800000000", 0);
	assert_int_equal(b->nunlifted, 1);
	assert_int_equal(last(b)->op, VTI_END);
	assert_false(vt_word_is_known(b->slots[last(b)->a]));
	vti_block_free(b);
}

/* What an instruction that VEX does not know writes is captured behind it, and only if wanted. */
static void test_unlifted_captures(void **state)
{
	static const struct {
		const char *hex;
		unsigned reg, size;
	} cases[] = {
		{"62f1fe0878c0", VT_REG_AX, 8},	     /* vcvttss2usi rax, xmm0 */
		{"62f17c0858c2", VT_REG_VECTOR, 16}, /* vaddps xmm0, xmm0, xmm2, as of AVX-512 */
		{"62f1742858c2", VT_REG_VECTOR, 32}, /* vaddps ymm0, ymm1, ymm2 */
		{"62f1744858da", VT_REG_VECTOR + 3, 32}, /* vaddps zmm3: 32 bytes are captured */
	};
	const struct vti_op *op;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_block *b = lift(cases[i].hex, BIT(VT_WHAT_RESULT));

		assert_int_equal(b->nunlifted, 1);
		assert_int_equal(captures(b, VT_WHAT_RESULT, &op), 1);
		assert_int_equal(op->op, VTI_CAPTURE_STATE);
		assert_int_equal(op->b, cases[i].reg);
		assert_int_equal(op->c, cases[i].size);
		assert_int_equal(op->imm, AT);
		assert_true(op > b->ops && op[-1].op != VTI_CAPTURE_STATE);
		vti_block_free(b);
		b = lift(cases[i].hex, ALL_BITS & ~BIT(VT_WHAT_RESULT));
		assert_int_equal(captures(b, VT_WHAT_RESULT, &op), 0);
		vti_block_free(b);
	}
}

/* With prefixes that VEX does not take: what other instructions leave alone is not known any more.
 */
static void test_unlifted_flags(void **state)
{
	static const size_t flags[] = {offsetof(VexGuestAMD64State, guest_DFLAG),
				       offsetof(VexGuestAMD64State, guest_ACFLAG),
				       offsetof(VexGuestAMD64State, guest_IDFLAG)};
	/* rep std, rep cld, popf of 16 bits; vcvttss2usi rax, xmm0 has nothing to do with flags */
	static const char *const hex[] = {"f3fd", "f3fc", "669d", "62f1fe0878c0"};
	unsigned i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct vti_block *b = lift(hex[i], 0);

		assert_int_equal(b->nunlifted, 1);
		for (k = 0; k < 3; k++)
			assert_int_equal(count_put(b, flags[k]), i < 3);
		vti_block_free(b);
	}
}

/* What is said to be written: registers, memory, flags, the state of x87; whether the block ends.
 */
static void test_unlifted_writes(void **state)
{
#define BIT64(n) (UINT64_C(1) << (n))
	static const struct {
		const char *hex;
		struct vti_unlifted want;
		bool ends;
	} cases[] = {
		{"62f16c4858cb",
		 {BIT64(VT_REG_VECTOR + 1), false, false, false},
		 false}, /* vaddps %zmm3,%zmm2,%zmm1 */
		{"c7f81a000000", {BIT64(VT_REG_AX), false, false, true}, true}, /* xbegin .+0x20 */
		{"0fae2f",
		 {UINT64_C(0xffffffffff) << VT_REG_MASK, false, false, true},
		 false},						       /* xrstor (%rdi) */
		{"0fae27", {0, true, false, true}, false},		       /* xsave (%rdi) */
		{"0f0107", {0, true, false, true}, false},		       /* sgdt (%rdi) */
		{"0f010f", {0, true, false, true}, false},		       /* sidt (%rdi) */
		{"f3480faed0", {BIT64(VT_REG_FS), false, false, true}, false}, /* wrfsbase %rax */
		{"f3480faed9", {BIT64(VT_REG_GS), false, false, true}, false}, /* wrgsbase %rcx */
		{"f3480faec2", {BIT64(VT_REG_DX), false, false, true}, false}, /* rdfsbase %rdx */
		{"62f1fe0878c0", {BIT64(VT_REG_AX), false, false, false}, false}, /* vcvttss2usi */
		{"62f17448c2ca00",
		 {BIT64(VT_REG_MASK + 1), false, false, false},
		 false},					  /* vcmpeqps %zmm2,%zmm1,%k1 */
		{"62f27d488b0f", {0, true, false, false}, false}, /* vpcompressd %zmm1,(%rdi) */
		{"0f38cbd1",
		 {BIT64(VT_REG_VECTOR + 2), false, false, false},
		 false},				/* sha256rnds2 %xmm0,%xmm1,%xmm2 */
		{"cd80", {0, false, true, true}, true}, /* int $0x80 */
		{"480f07",
		 {BIT64(VT_REG_CS) | BIT64(VT_REG_SS), false, true, true},
		 false},						/* sysretq */
		{"660faef0", {0, false, true, true}, false},		/* tpause %eax */
		{"df27", {0, false, false, true}, false},		/* fbld (%rdi) */
		{"df37", {0, true, false, true}, false},		/* fbstp (%rdi) */
		{"669d", {BIT64(VT_REG_SP), false, true, true}, false}, /* popfw */
		{"d7", {BIT64(VT_REG_AX), false, false, true}, false},	/* xlat */
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_block *b = lift(cases[i].hex, 0);
		const struct vti_unlifted *u = NULL, *want = &cases[i].want;

		assert_int_equal(b->nunlifted, 1);
		for (k = 0; k < b->nops; k++)
			if (b->ops[k].op == VTI_UNLIFTED)
				u = b->ops[k].data;
		assert_non_null(u);
		if (u->writes != want->writes || u->writes_memory != want->writes_memory ||
		    u->writes_flags != want->writes_flags || u->writes_fp != want->writes_fp)
			fail_msg("%s: %jx %d %d %d", cases[i].hex, (uintmax_t)u->writes,
				 u->writes_memory, u->writes_flags, u->writes_fp);
		assert_int_equal(last(b)->op, cases[i].ends ? VTI_END : VTI_STOP);
		assert_int_equal(
			count_put(b, offsetof(VexGuestAMD64State, guest_FPREG)) +
				count_put(b, offsetof(VexGuestAMD64State, guest_FPREG) + 56) +
				count_put(b, offsetof(VexGuestAMD64State, guest_FPTAG)) +
				count_put(b, offsetof(VexGuestAMD64State, guest_FPROUND)) +
				count_put(b, offsetof(VexGuestAMD64State, guest_FC3210)) +
				count(b, VTI_PUT4),
			want->writes_fp ? 6 : 0);
		vti_block_free(b);
	}
#undef BIT64
}

/* What the exit of a branch says that it compares: 64 bits of registers, or with 0. */
static void test_exits(void **state)
{
#define AT_STATE(reg) ((int)offsetof(VexGuestAMD64State, guest_##reg))
#define NOT_STATE     (-1)
	static const struct {
		const char *hex;
		unsigned how, bits;
		int a, b;
	} cases[] = {
		{"4839c87407", VTI_EXIT_EQUAL, 64, AT_STATE(RAX),
		 AT_STATE(RCX)}, /* cmp %rcx, %rax; je */
		{"4839c87607", VTI_EXIT_ORDERED, 64, AT_STATE(RAX),
		 AT_STATE(RCX)}, /* cmp %rcx, %rax; jbe */
		{"4839c87707", VTI_EXIT_ORDERED, 64, AT_STATE(RAX),
		 AT_STATE(RCX)}, /* cmp %rcx, %rax; ja */
		{"4839c87c07", VTI_EXIT_ORDERED, 64, AT_STATE(RAX),
		 AT_STATE(RCX)}, /* cmp %rcx, %rax; jl */
		{"4839d37507", VTI_EXIT_EQUAL, 64, AT_STATE(RBX),
		 AT_STATE(RDX)}, /* cmp %rdx, %rbx; jne */
		{"4885c07407", VTI_EXIT_EQUAL, 64, AT_STATE(RAX),
		 NOT_STATE},						/* test %rax, %rax; je */
		{"e307", VTI_EXIT_EQUAL, 64, AT_STATE(RCX), NOT_STATE}, /* jrcxz */
		{"85c07807", VTI_EXIT_OTHER, 0, NOT_STATE, NOT_STATE},	/* test %eax, %eax; js */
		{"01c87007", VTI_EXIT_OTHER, 0, NOT_STATE, NOT_STATE},	/* add %ecx, %eax; jo */
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_block *b = lift(cases[i].hex, 0);
		const struct vti_op *exit = NULL;
		int at[2] = {NOT_STATE, NOT_STATE};

		for (k = 0; k < b->nops && !exit; k++) {
			const struct vti_op *op = &b->ops[k];

			exit = op->op == VTI_EXIT ? op : NULL;
		}
		assert_non_null(exit);
		for (k = 0; &b->ops[k] < exit; k++)
			if (b->ops[k].op == VTI_GET8) {
				at[0] = b->ops[k].dst == exit->b ? (int)b->ops[k].imm : at[0];
				at[1] = b->ops[k].dst == exit->c ? (int)b->ops[k].imm : at[1];
			}
		assert_int_equal(exit->d, cases[i].how);
		if (cases[i].how == VTI_EXIT_OTHER) {
			vti_block_free(b);
			continue;
		}
		assert_int_equal(exit->dst, cases[i].bits);
		assert_int_equal(at[0], cases[i].a);
		assert_int_equal(at[1], cases[i].b);
		if (cases[i].b == NOT_STATE)
			assert_true(exit->c < b->nconstants && b->slots[exit->c].value == 0);
		vti_block_free(b);
	}
#undef AT_STATE
#undef NOT_STATE
}

/* Operators that nobody computes: of x87, and how many of them there are. */
static void test_unknown_operators(void **state)
{
	static const struct {
		const char *hex;
		unsigned nunknown;
	} cases[] = {
		{"4801d8", 0},	 /* add %rbx,%rax */
		{"f20f58c1", 0}, /* addsd %xmm1,%xmm0 */
		{"d8c1", 1},	 /* fadd %st(1),%st */
		{"d8c1d8c9", 2}, /* and fmul */
		{"0f53c1", 1},	 /* rcpps %xmm1,%xmm0 */
		{"660f6ec0", 0}, /* movd %eax,%xmm0 */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vti_block *b = lift(cases[i].hex, 0);

		if (b->nunknown != cases[i].nunknown)
			fail_msg("%s: %u", cases[i].hex, b->nunknown);
		vti_block_free(b);
	}
}

/* cpuid: what it reads and writes of the guest state, one register after the other. */
static void test_helper_state(void **state)
{
	static const struct {
		unsigned offset, effect;
	} want[] = {
		{offsetof(VexGuestAMD64State, guest_RAX), 3},
		{offsetof(VexGuestAMD64State, guest_RBX), 2},
		{offsetof(VexGuestAMD64State, guest_RCX), 2},
		{offsetof(VexGuestAMD64State, guest_RDX), 2},
	};
	struct vti_block *b = lift("0fa2", 0);
	const struct vti_call *call = NULL;
	unsigned i;

	(void)state;
	assert_int_equal(b->nunlifted, 0);
	assert_int_equal(count(b, VTI_DIRTY), 1);
	for (i = 0; i < b->nops; i++)
		if (b->ops[i].op == VTI_DIRTY)
			call = b->ops[i].data;
	assert_non_null(call);
	assert_int_equal(call->nstate, 4);
	assert_int_equal(call->memory, 0);
	assert_int_equal(call->result_size, 0);
	assert_int_equal(call->dst, VTI_NO_SLOT);
	for (i = 0; i < 4; i++) {
		assert_int_equal(call->state[i].offset, want[i].offset);
		assert_int_equal(call->state[i].size, 8);
		assert_int_equal(call->state[i].effect & want[i].effect, want[i].effect);
		assert_int_equal(call->state[i].effect & ~3u, 0);
	}
	vti_block_free(b);
}

static void test_special(void **state)
{
	/* syscall */
	struct vti_block *b = lift("0f05", 0);

	(void)state;
	assert_int_equal(last(b)->aux, Ijk_Sys_syscall);
	vti_block_free(b);
	/* lock add [rdi], rax: a load and a store, no matter what others do. */
	b = lift("f0480107c3", ALL_BITS);
	assert_int_equal(count(b, VTI_CAS), 0);
	assert_int_equal(count(b, VTI_STORE8), 1);
	assert_int_equal(count(b, VTI_EXIT), 0);
	vti_block_free(b);
	b = lift("f0480fb10fc3", 0); /* lock cmpxchg [rdi], rcx */
	assert_int_equal(count(b, VTI_CAS), 1);
	vti_block_free(b);
	b = lift("0fae16c3", 0); /* ldmxcsr [rsi]: no warning stops it */
	assert_int_equal(count(b, VTI_EXIT), 0);
	assert_int_equal(b->ninsns, 2);
	vti_block_free(b);
	b = lift("480fa3c8c3", 0); /* bt rax, rcx: not by way of memory */
	assert_int_equal(count(b, VTI_STORE8), 0);
	assert_int_equal(b->nunlifted, 0);
	assert_int_equal(b->ninsns, 2);
	vti_block_free(b);
	/* Valgrind's own requests: five instructions, none of them of 19 bytes. */
	b = lift("48c1c70348c1c70d48c1c73d48c1c7334887dbc3", 0);
	check_shape(b, 20);
	assert_int_equal(b->ninsns, 6);
	assert_int_equal(last(b)->aux, Ijk_Ret);
	vti_block_free(b);
}

static void test_captures(void **state)
{
	/* add rax, [rbx+8]; mov [rcx], eax; mov ah, 1; call [rdx] */
	const char *code = "480343088901b401ff12";
	struct vti_block *b = lift(code, ALL_BITS);
	const struct vti_op *op;

	(void)state;
	check_shape(b, 10);
	assert_int_equal(count(b, VTI_CAPTURE_INSN), 4);
	assert_int_equal(b->ops[b->first[2]].op, VTI_CAPTURE_INSN);
	assert_int_equal(captures(b, VT_WHAT_LOAD, &op), 2);
	assert_int_equal(op->c, 8);
	assert_int_equal(captures(b, VT_WHAT_LOAD_ADDRESS, &op), 2);
	assert_int_equal(captures(b, VT_WHAT_STORE, &op), 2);
	assert_int_equal(op->c, 4);
	assert_int_equal(op->insn, 1);
	assert_int_equal(captures(b, VT_WHAT_RESULT, &op), 2);
	assert_int_equal(op->b, VT_REG_AX);
	assert_int_equal(op->c, 8);
	assert_int_equal(op->insn, 0);
	assert_int_equal(captures(b, VT_WHAT_ARG, &op), 6);
	assert_int_equal(op->b, VT_REG_DI);
	assert_int_equal(captures(b, VT_WHAT_TARGET, &op), 1);
	assert_int_equal(op->insn, 3);
	assert_int_equal(captures(b, VT_WHAT_OPERAND, &op), 2);
	assert_int_equal(op->b, VT_REG_AX);
	vti_block_free(b);

	b = lift(code, BIT(VT_WHAT_STORE));
	assert_int_equal(count(b, VTI_CAPTURE), 2);
	assert_int_equal(count(b, VTI_CAPTURE_STATE) + count(b, VTI_CAPTURE_INSN), 0);
	vti_block_free(b);
	b = lift("f20f58c1c3", ALL_BITS); /* addsd xmm0, xmm1 */
	assert_int_equal(captures(b, VT_WHAT_RESULT, &op), 1);
	assert_int_equal(op->b, VT_REG_VECTOR);
	assert_int_equal(op->c, 16);
	vti_block_free(b);
}

/* Each sort of capture of cmpxchg is there by itself if it is wanted. */
static void test_swap_captures(void **state)
{
	static const unsigned whats[] = {VT_WHAT_LOAD, VT_WHAT_LOAD_ADDRESS, VT_WHAT_STORE,
					 VT_WHAT_STORE_ADDRESS};
	struct vti_block *none = lift("f0480fb10f", BIT(VT_WHAT_TARGET)); /* lock cmpxchg */
	const struct vti_op *op;
	unsigned i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct vti_block *b = lift("f0480fb10f", BIT(whats[i]));

		for (k = 0; k < 4; k++)
			assert_int_equal(captures(b, whats[k], &op), k == i);
		assert_true(b->nops > none->nops);
		assert_int_equal(captures(none, whats[i], &op), 0);
		vti_block_free(b);
	}
	vti_block_free(none);
	none = lift("f0480fb10f", 0);
	i = none->nops;
	vti_block_free(none);
	none = lift("f0480fb10f", BIT(VT_WHAT_TARGET));
	assert_int_equal(none->nops, i);
	vti_block_free(none);
}

/* Jumps back to a locked instruction: VEX's own, and one of the program behind it. */
static void test_swap_in_loop(void **state)
{
	struct vti_block *b = lift("f0480fb10f74f9", 0); /* lock cmpxchg [rdi], rcx; je .-5 */

	(void)state;
	assert_int_equal(b->ninsns, 2);
	assert_int_equal(count(b, VTI_CAS), 1);
	assert_int_equal(count(b, VTI_EXIT), 1);
	vti_block_free(b);
	b = lift("f048010774fa", 0); /* lock add [rdi], rax; je .-4 */
	assert_int_equal(b->ninsns, 2);
	assert_int_equal(count(b, VTI_CAS), 0);
	assert_int_equal(count(b, VTI_EXIT), 1);
	vti_block_free(b);
}

/* Which instructions were run where a block is left: one that faults was not. */
static void test_left(void **state)
{
	static const struct {
		const char *hex;
		unsigned kind, insn, offset;
	} cases[] = {
		{"900f2807", Ijk_SigSEGV, 1, 1},   /* nop; movaps (%rdi),%xmm0 */
		{"90660f6f07", Ijk_SigSEGV, 1, 1}, /* nop; movdqa (%rdi),%xmm0 */
		{"90e307", Ijk_Boring, 2, 3 + 7},  /* nop; jrcxz */
		{"9090e3fe", Ijk_Boring, 3, 2},	   /* nop; nop; jrcxz . */
		{"9090e3fc", Ijk_Boring, 3, 0},	   /* nop; nop; jrcxz .-2 */
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vti_block *b = lift(cases[i].hex, 0);
		const struct vti_op *exit = NULL;

		check_uses(b);
		for (k = 0; k < b->nops && !exit; k++)
			exit = b->ops[k].op == VTI_EXIT ? &b->ops[k] : NULL;
		assert_non_null(exit);
		assert_int_equal(exit->aux, cases[i].kind);
		assert_int_equal(exit->insn, cases[i].insn);
		assert_int_equal(exit->imm, AT + cases[i].offset);
		vti_block_free(b);
	}
}

/* fld %st(3): which elements of x87's rings, by which number. */
static void test_rings(void **state)
{
	struct vti_block *b = lift("d9c3", 0);
	unsigned i, nregs = 0, ntags = 0, third = 0;

	(void)state;
	check_uses(b);
	for (i = 0; i < b->nops; i++) {
		const struct vti_op *op = &b->ops[i];
		const struct vti_array *a = op->data;

		if (op->op != VTI_GETI && op->op != VTI_PUTI)
			continue;
		assert_int_equal(a->count, 8);
		third += op->op == VTI_GETI && a->bias == 3;
		if (a->base == offsetof(VexGuestAMD64State, guest_FPREG)) {
			assert_int_equal(a->size, 8);
			nregs += op->op == VTI_PUTI;
		} else {
			assert_int_equal(a->base, offsetof(VexGuestAMD64State, guest_FPTAG));
			assert_int_equal(a->size, 1);
			ntags++;
		}
	}
	assert_int_equal(nregs, 1);
	assert_true(ntags >= 2);
	assert_int_equal(third, 2); /* the register and its tag */
	vti_block_free(b);
}

/* ---- any bytes ---- */

static void test_random(void **state)
{
	struct vt_rng rng;
	struct vt_error err = VT_ERROR_INIT;
	unsigned i, insns = 0, bad = 0, unlifted = 0;

	(void)state;
	vt_rng_init(&rng, 5);
	for (i = 0; i < 100000; i++) {
		size_t size = 1 + vt_rng_below(&rng, 40), k;
		uint8_t *bytes = malloc(size);
		struct vti_block *b;

		assert_non_null(bytes);
		for (k = 0; k < size; k++)
			bytes[k] = (uint8_t)vt_rng_next(&rng);
		b = vti_lift(AT, bytes, size, VTI_LIFT_INSNS, i % 2 ? ALL_BITS : 0, &err);
		free(bytes);
		if (!b)
			fail_msg("%s", err.text);
		check_shape(b, size);
		insns += b->ninsns;
		bad += b->bad;
		unlifted += b->nunlifted;
		vti_block_free(b);
	}
	print_message("%u instructions, %u of them not lifted, %u blocks end badly\n", insns,
		      unlifted, bad);
	assert_true(insns > 200000 && bad > 10000 && unlifted > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_straight),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_unlifted),
		cmocka_unit_test(test_unlifted_captures),
		cmocka_unit_test(test_unlifted_flags),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_unknown_operators),
		cmocka_unit_test(test_swap_captures),
		cmocka_unit_test(test_helper_state),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_unlifted_writes),
		cmocka_unit_test(test_swap_in_loop),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
