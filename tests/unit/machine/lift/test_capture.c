/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the interpreter captures of single instructions: values, in which order and of what size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interp/interp.h"

#define BASE 0x401000u
#define MEM  0x7000u
#define ALL  0xffffffffu

/*
 * In front of each: rax = 0x0a0a0a0a00000011, rbx = 0x7000, rcx = 0x7100, rdx = 1, rsp = 0x7180,
 * rdi = 0x7040; xmm1's words are 0x4000000000000000 and 0x8000000000000000, those of ymm0, ymm2 and
 * all others n are 0xn0 to 0xn3; byte n of memory from 0x7000 on is n, as far as 0x71ff, but that
 * rax and rdx are in it at 0x7080, and eax and edx at 0x7090.
 */
static const struct {
	const char *text;
	const char *code;
	const char *want; /* what, register (rax, number 0, unnamed), size, words */
} cases[] = {
	{"add 8(%rbx),%rax", "\x48\x03\x43\x08",
	 "operand 8 a0a0a0a00000011; from 8 7008; load 8 f0e0d0c0b0a0908; "
	 "result 8 191817160b0a0919"},
	{"mov %eax,(%rcx)", "\x89\x01", "operand 8 a0a0a0a00000011; to 8 7100; store 4 11"},
	{"mov $1,%ah", "\xb4\x01", "result 8 a0a0a0a00000111"},
	{"movups (%rdi),%xmm2", "\x0f\x10\x17",
	 "from 8 7040; load 16 4746454443424140 4f4e4d4c4b4a4948; "
	 "result xmm2 16 4746454443424140 4f4e4d4c4b4a4948"},
	{"vmovups (%rdi),%ymm3", "\xc5\xfc\x10\x1f",
	 "from 8 7040; "
	 "load 32 4746454443424140 4f4e4d4c4b4a4948 5756555453525150 5f5e5d5c5b5a5958; "
	 "result ymm3 32 4746454443424140 4f4e4d4c4b4a4948 5756555453525150 5f5e5d5c5b5a5958"},
	{"vmovups %ymm3,32(%rdi)", "\xc5\xfc\x11\x5f\x20",
	 "operand ymm3 32 30 31 32 33; to 8 7060; store 32 30 31 32 33"},
	{"addsd %xmm1,%xmm0", "\xf2\x0f\x58\xc1",
	 "operand xmm0 8 0; operand xmm1 8 4000000000000000; result xmm0 16 4000000000000000 1"},
	{"movss %xmm1,(%rdi)", "\xf3\x0f\x11\x0f", "operand xmm1 4 0; to 8 7040; store 4 0"},
	{"push %rbx", "\x53", "operand rbx 8 7000; to 8 7178; store 8 7000"},
	{"xchg %rax,(%rdi)", "\x48\x87\x07",
	 "operand 8 a0a0a0a00000011; from 8 7040; load 8 4746454443424140; to 8 7040; "
	 "store 8 a0a0a0a00000011; result 8 4746454443424140"},
	{"call *8(%rbx)", "\xff\x53\x08",
	 "from 8 7008; load 8 f0e0d0c0b0a0908; to 8 7178; store 8 401003; arg rdi 8 7040; "
	 "arg rsi 8 ?; arg rdx 8 1; arg rcx 8 7100; arg r8 8 ?; arg r9 8 ?; "
	 "target 8 f0e0d0c0b0a0908"},
	{"call .", "\xe8\xfb\xff\xff\xff",
	 "to 8 7178; store 8 401005; arg rdi 8 7040; arg rsi 8 ?; arg rdx 8 1; arg rcx 8 7100; "
	 "arg r8 8 ?; arg r9 8 ?"},
	{"ret", "\xc3", "from 8 7180; load 8 8786858483828180"},
	{"jmp *%rax", "\xff\xe0", "operand 8 a0a0a0a00000011; target 8 a0a0a0a00000011"},
	{"lock cmpxchg %rcx,(%rdi)", "\xf0\x48\x0f\xb1\x0f",
	 "operand rcx 8 7100; operand 8 a0a0a0a00000011; from 8 7040; load 8 4746454443424140; "
	 "to 8 ?; store 8 ?; result 8 4746454443424140"},
	{"kmovq %k1,%rax", "\xc4\xe1\xfb\x93\xc1", "result 8 ?"},
	{"vpaddd %zmm2,%zmm1,%zmm3", "\x62\xf1\x75\x48\xfe\xda",
	 "operand ymm1 32 4000000000000000 8000000000000000 12 13; "
	 "operand ymm2 32 20 21 22 23; "
	 "result ymm3 32 4000000000000020 8000000000000021 34 36"},
	{"vmovdqu64 (%rdi),%zmm16", "\x62\xe1\xfe\x48\x6f\x07",
	 "from 8 7040; load 64 4746454443424140 4f4e4d4c4b4a4948 5756555453525150 "
	 "5f5e5d5c5b5a5958 6766656463626160 6f6e6d6c6b6a6968 7776757473727170 7f7e7d7c7b7a7978; "
	 "result ymm16 32 4746454443424140 4f4e4d4c4b4a4948 5756555453525150 5f5e5d5c5b5a5958"},
	/* The mask is unknown, and so is what is accessed. */
	{"vmovdqu64 (%rdi),%xmm16{%k1}", "\x62\xe1\xfe\x09\x6f\x07",
	 "operand xmm16 16 ? ?; from 8 ?; load 16 ? ?; result xmm16 16 ? ?"},
	{"vmaskmovps (%rdi),%xmm1,%xmm2", "\xc4\xe2\x71\x2c\x17",
	 "operand xmm1 16 4000000000000000 8000000000000000; from 8 ?; load 4 ?; from 8 ?; "
	 "load 4 ?; from 8 ?; load 4 ?; from 8 704c; load 4 4f4e4d4c; "
	 "result xmm2 16 0 4f4e4d4c00000000"},
	{"vmaskmovps %xmm2,%xmm1,(%rdi)", "\xc4\xe2\x71\x2e\x17",
	 "operand xmm1 16 4000000000000000 8000000000000000; operand xmm2 16 20 21; to 8 ?; "
	 "store 4 ?; to 8 ?; store 4 ?; to 8 ?; store 4 ?; to 8 704c; store 4 0"},
	{"cvtsi2ss %eax,%xmm4", "\xf3\x0f\x2a\xe0",
	 "operand xmm4 4 40; operand 8 a0a0a0a00000011; result xmm4 4 41880000"},
	{"xor %r15d,%r15d", "\x45\x31\xff", "operand r15 8 ?; operand r15 8 ?; result r15 8 0"},
	{"div %dl", "\xf6\xf2",
	 "operand rdx 8 1; operand 8 a0a0a0a00000011; result 8 a0a0a0a00000011"},
	{"movzbl (%rdi),%r8d", "\x44\x0f\xb6\x07", "from 8 7040; load 1 40; result r8 8 40"},
	{"mulx %rax,%r9,%r10", "\xc4\x62\xb3\xf6\xd0",
	 "operand 8 a0a0a0a00000011; operand rdx 8 1; result r9 8 a0a0a0a00000011; "
	 "result r10 8 0"},
	{"vzeroupper", "\xc5\xf8\x77", ""},
	{"lea 4(%rax,%rbx,2),%rsi", "\x48\x8d\x74\x58\x04", "result rsi 8 a0a0a0a0000e015"},
	{"loop .+9", "\xe2\x07", "operand rcx 8 7100; result rcx 8 70ff"},
	{"rep lodsq", "\xf3\x48\xad",
	 "operand rsi 8 ?; operand rcx 8 7100; result 8 ?; result rsi 8 ?; result rcx 8 ?"},
	{"rep stosb", "\xf3\xaa",
	 "operand 8 a0a0a0a00000011; operand rcx 8 7100; to 8 7040; store 1 11; "
	 "result rcx 8 70ff; result rdi 8 7041"},
	{"cmovne %rcx,%rax", "\x48\x0f\x45\xc1", "operand rcx 8 7100; result 8 7100"},
	{"bsf %rcx,%rax", "\x48\x0f\xbc\xc1", "operand rcx 8 7100; result 8 8"},
	{"setb (%rdi)", "\x0f\x92\x07", "to 8 7040; store 1 0"},
	{"vextractf128 $1,%ymm3,%xmm2", "\xc4\xe3\x7d\x19\xda\x01",
	 "operand xmm3 16 30 31; result xmm2 16 32 33"},
	{"vinsertf128 $1,%xmm1,%ymm3,%ymm2", "\xc4\xe3\x65\x18\xd1\x01",
	 "operand ymm3 32 30 31 32 33; operand xmm1 16 4000000000000000 8000000000000000; "
	 "result ymm2 32 30 31 4000000000000000 8000000000000000"},
	{"movhps (%rdi),%xmm2", "\x0f\x16\x17",
	 "from 8 7040; load 8 4746454443424140; result xmm2 16 20 4746454443424140"},
	{"pextrw $2,%xmm1,%eax", "\x66\x0f\xc5\xc1\x02",
	 "operand xmm1 16 4000000000000000 8000000000000000; result 8 0"},
	{"pinsrw $2,%ecx,%xmm3", "\x66\x0f\xc4\xd9\x02",
	 "operand xmm3 16 30 31; operand rcx 8 7100; result xmm3 16 710000000030 31"},
	{"cvttsd2si %xmm1,%rax", "\xf2\x48\x0f\x2c\xc1",
	 "operand xmm1 8 4000000000000000; result 8 2"},
	{"vpbroadcastb (%rdi),%xmm2", "\xc4\xe2\x79\x78\x17",
	 "from 8 7040; load 1 40; result xmm2 16 4040404040404040 4040404040404040"},
	{"movq %xmm1,%xmm2", "\xf3\x0f\x7e\xd1",
	 "operand xmm1 8 4000000000000000; result xmm2 16 4000000000000000 0"},
	{"bt %rcx,%rax", "\x48\x0f\xa3\xc8", "operand 8 a0a0a0a00000011; operand rcx 8 7100"},
	{"btsq $3,(%rdi)", "\x48\x0f\xba\x2f\x03",
	 "from 8 7040; load 8 4746454443424140; to 8 7040; store 8 4746454443424148"},
	{"xadd %rcx,%rax", "\x48\x0f\xc1\xc8",
	 "operand 8 a0a0a0a00000011; operand rcx 8 7100; result 8 a0a0a0a00007111; "
	 "result rcx 8 a0a0a0a00000011"},
	{"leave", "\xc9", "operand rbp 8 ?; from 8 ?; load 8 ?; result rbp 8 ?"},
	{"popq (%rdi)", "\x8f\x07",
	 "from 8 7180; load 8 8786858483828180; to 8 7040; store 8 8786858483828180"},
	{"cmpxchg %rcx,%rdx", "\x48\x0f\xb1\xca",
	 "operand rdx 8 1; operand rcx 8 7100; operand 8 a0a0a0a00000011; result 8 1; "
	 "result rdx 8 1"},
	{"rdtsc", "\x0f\x31", "result 8 ?; result rdx 8 ?"},
	{"fldt (%rdi)", "\xdb\x2f", "from 8 7040"},
	{"fstpt (%rdi)", "\xdb\x3f", "to 8 7040"},
	{"flds (%rdi)", "\xd9\x07", "from 8 7040; load 4 43424140"},
	{"ldmxcsr (%rbx)", "\x0f\xae\x13", "from 8 7000; load 4 3020100"},
	{"cmpxchg8b (%rdi)", "\x0f\xc7\x0f",
	 "operand rdx 8 1; operand 8 a0a0a0a00000011; operand rcx 8 7100; operand rbx 8 7000; "
	 "from 8 7040; load 8 4746454443424140; to 8 ?; store 8 ?; result 8 43424140; "
	 "result rdx 8 47464544"},
	{"cmpxchg16b (%rdi)", "\x48\x0f\xc7\x0f",
	 "operand rdx 8 1; operand 8 a0a0a0a00000011; operand rcx 8 7100; operand rbx 8 7000; "
	 "from 8 7040; load 16 4746454443424140 4f4e4d4c4b4a4948; to 8 ?; store 16 ? ?; "
	 "result 8 4746454443424140; result rdx 8 4f4e4d4c4b4a4948"},
	/* Of what is in rdx:rax, and in edx:eax */
	{"cmpxchg16b 64(%rdi)", "\x48\x0f\xc7\x4f\x40",
	 "operand rdx 8 1; operand 8 a0a0a0a00000011; operand rcx 8 7100; operand rbx 8 7000; "
	 "from 8 7080; load 16 a0a0a0a00000011 1; to 8 7080; store 16 7000 7100; "
	 "result 8 a0a0a0a00000011; result rdx 8 1"},
	{"cmpxchg8b 80(%rdi)", "\x0f\xc7\x4f\x50",
	 "operand rdx 8 1; operand 8 a0a0a0a00000011; operand rcx 8 7100; operand rbx 8 7000; "
	 "from 8 7090; load 8 100000011; to 8 7090; store 8 710000007000; "
	 "result 8 a0a0a0a00000011; result rdx 8 1"},
	{"movsw", "\x66\xa5",
	 "operand rdi 8 7040; operand rsi 8 ?; from 8 ?; load 2 ?; to 8 7040; store 2 ?; "
	 "result rsi 8 ?; result rdi 8 7042"},
	{"scasb", "\xae", "operand 8 a0a0a0a00000011; from 8 7040; load 1 40"},
	{"vpmaskmovq (%rdi),%ymm1,%ymm2", "\xc4\xe2\xf5\x8c\x17",
	 "operand ymm1 32 4000000000000000 8000000000000000 12 13; from 8 ?; load 8 ?; "
	 "from 8 7048; load 8 4f4e4d4c4b4a4948; from 8 ?; load 8 ?; from 8 ?; load 8 ?; "
	 "result ymm2 32 0 4f4e4d4c4b4a4948 0 0"},
	{"lock decb (%rdi)", "\xf0\xfe\x0f", "from 8 7040; load 1 40; to 8 7040; store 1 3f"},
	{"movq %mm0,(%rdi)", "\x0f\x7f\x07", "to 8 7040; store 8 ?"},
	{"movq (%rdi),%mm1", "\x0f\x6f\x0f", "from 8 7040; load 8 4746454443424140"},
};

static const char *const whats[] = {
	[VT_WHAT_UNKNOWN] = "insn",	[VT_WHAT_LOAD] = "load",
	[VT_WHAT_STORE] = "store",	[VT_WHAT_LOAD_ADDRESS] = "from",
	[VT_WHAT_STORE_ADDRESS] = "to", [VT_WHAT_RESULT] = "result",
	[VT_WHAT_ARG] = "arg",		[VT_WHAT_STATE] = "state",
	[VT_WHAT_GUARD] = "guard",	[VT_WHAT_TARGET] = "target",
	[VT_WHAT_RETURN] = "return",	[VT_WHAT_PTWRITE] = "ptwrite",
	[VT_WHAT_OPERAND] = "operand",	[VT_WHAT_LATENCY] = "latency",
	[VT_WHAT_MODULE] = "module",
};

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	const char *code = arg;
	const size_t n = 16 + 4;

	(void)space;
	if (addr < BASE || addr >= BASE + n)
		return 0;
	size = size < BASE + n - addr ? size : BASE + n - addr;
	memcpy(bytes, code + (addr - BASE), size);
	return size;
}

static void set_up(struct vt_interp *m, struct vt_known_memory *mem)
{
	static const uint8_t registers[24] = {0x11, 0, 0, 0, 0x0a, 0x0a, 0x0a, 0x0a, 1, 0, 0, 0,
					      0,    0, 0, 0, 0x11, 0,	 0,    0,    1, 0, 0, 0};
	uint8_t bytes[512];
	unsigned i, lane;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	memcpy(bytes + 0x80, registers, sizeof(registers));
	vt_interp_forget(m);
	vt_known_memory_set(mem, MEM, bytes, sizeof(bytes));
	vt_interp_set(m, VT_REG_IP, 0, vt_word_of(BASE));
	vt_interp_set(m, VT_REG_FLAGS, 0, vt_word_of(2));
	vt_interp_set(m, VT_REG_AX, 0, vt_word_of(0x0a0a0a0a00000011));
	vt_interp_set(m, VT_REG_BX, 0, vt_word_of(MEM));
	vt_interp_set(m, VT_REG_CX, 0, vt_word_of(MEM + 0x100));
	vt_interp_set(m, VT_REG_DX, 0, vt_word_of(1));
	vt_interp_set(m, VT_REG_SP, 0, vt_word_of(MEM + 0x180));
	vt_interp_set(m, VT_REG_DI, 0, vt_word_of(MEM + 0x40));
	for (i = 0; i < 16; i++)
		for (lane = 0; lane < 4; lane++)
			vt_interp_set(m, VT_REG_VECTOR + i, lane, vt_word_of(0x10 * i + lane));
	vt_interp_set(m, VT_REG_VECTOR + 1, 0, vt_word_of(UINT64_C(1) << 62));
	vt_interp_set(m, VT_REG_VECTOR + 1, 1, vt_word_of(UINT64_C(1) << 63));
	vt_interp_set_mxcsr(m, 0x1f80);
}

/* "load 8 f0e…; result rax 8 …" */
static void describe(const struct vt_interp *m, char *text, size_t size)
{
	const struct vt_capture *c;
	size_t count, i, n = 0;

	*text = 0;
	c = vt_interp_captures(m, &count);
	for (i = 0; i < count; i++, c++) {
		assert_int_equal(c->ip, BASE);
		assert_int_equal(c->insn, 0);
		if (c->what == VT_WHAT_UNKNOWN) {
			assert_int_equal(i, 0);
			continue;
		}
		if (!c->lane)
			n += (size_t)snprintf(text + n, size - n, "%s%s%s%s %u", n ? "; " : "",
					      whats[c->what], c->reg ? " " : "",
					      c->reg ? vt_reg_name(c->reg, c->size) : "", c->size);
		if (c->known)
			n += (size_t)snprintf(text + n, size - n, " %jx", (uintmax_t)c->value);
		else
			n += (size_t)snprintf(text + n, size - n, " ?");
	}
}

static void instructions_are_captured(void **state)
{
	char code[32], text[600];
	struct vt_interp_options opt = {.fetch = fetch, .fetch_arg = code, .capture = ALL};
	struct vt_known_memory *mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_interp *m;
	uint64_t done;
	size_t i;

	(void)state;
	assert_non_null(mem);
	m = vt_interp_new(&opt, mem, &err);
	assert_non_null(m);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(code, 0x90, sizeof(code));
		memcpy(code, cases[i].code, strlen(cases[i].code));
		set_up(m, mem);
		vt_interp_run(m, i, 1, &done, &err);
		assert_int_equal(done, 1);
		describe(m, text, sizeof(text));
		if (strcmp(text, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].text, text);
		vt_interp_clear(m);
	}
	vt_interp_free(m);
	vt_known_memory_free(mem);
}

/*
 * What VEX and the machine leave in different ways is known where both agree. In front of each as
 * above; 0x20 * 0x30 are denormals, the product of which is lost beside 2.0, or rounds to 0.
 */
static void differences_are_unknown(void **state)
{
#define ALL_KNOWN UINT64_MAX
	static const struct {
		const char *text, *code;
		unsigned reg, lane;
		uint64_t value, known;
	} left[] = {
		/* Above the scalar: VEX's 0, the machine's 2^63 (and 2^62 in the upper half). */
		{"vfmadd231sd %xmm3,%xmm2,%xmm1", "\xc4\xe2\xe9\xb9\xcb", VT_REG_VECTOR + 1, 0,
		 UINT64_C(1) << 62, ALL_KNOWN},
		{"vfmadd231sd, above", "\xc4\xe2\xe9\xb9\xcb", VT_REG_VECTOR + 1, 1, 0,
		 ~(UINT64_C(1) << 63)},
		{"vfmadd231ss %xmm3,%xmm2,%xmm1", "\xc4\xe2\x69\xb9\xcb", VT_REG_VECTOR + 1, 0, 0,
		 ~(UINT64_C(1) << 62)},
		{"vfmadd231ss, above", "\xc4\xe2\x69\xb9\xcb", VT_REG_VECTOR + 1, 1, 0,
		 ~(UINT64_C(1) << 63)},
		/* eax is not edx: eax becomes 1, rax's upper half is cleared or stays. */
		{"cmpxchg %ecx,%edx", "\x0f\xb1\xca", VT_REG_AX, 0, 1,
		 ~UINT64_C(0x0a0a0a0a00000000)},
		{"cmpxchg, the other", "\x0f\xb1\xca", VT_REG_DX, 0, 1, ALL_KNOWN},
		{"bsf %rcx,%rax", "\x48\x0f\xbc\xc1", VT_REG_AX, 0, 8, ALL_KNOWN},
	};
	char code[32];
	struct vt_interp_options opt = {.fetch = fetch, .fetch_arg = code};
	struct vt_known_memory *mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_interp *m = vt_interp_new(&opt, mem, &err);
	uint64_t done;
	size_t i;

	(void)state;
	assert_non_null(m);
	for (i = 0; i < sizeof(left) / sizeof(*left); i++) {
		struct vt_word w;

		memset(code, 0x90, sizeof(code));
		memcpy(code, left[i].code, strlen(left[i].code));
		set_up(m, mem);
		vt_interp_run(m, i, 2, &done, &err);
		w = vt_interp_get(m, left[i].reg, left[i].lane);
		if (done != 2 || w.known != left[i].known || (w.value & w.known) != left[i].value)
			fail_msg("%s: %jx, known %jx", left[i].text, (uintmax_t)w.value,
				 (uintmax_t)w.known);
	}
	vt_interp_free(m);
	vt_known_memory_free(mem);
#undef ALL_KNOWN
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_captured),
		cmocka_unit_test(differences_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
