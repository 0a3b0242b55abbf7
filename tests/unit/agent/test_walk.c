/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's walker on worked examples: code and data at chosen addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/unit/agent/machine.h"

/* ---- registers ---- */

static void test_parts_of_registers(void **state)
{
	(void)state;
	/* mov ecx, -1; mov ch, 0x22; mov cx, 0x3344; mov cl, 0x55; movzx eax, ch; movsx rdx, cx */
	RUN(6, "\xb9\xff\xff\xff\xff\xb5\x22\x66\xb9\x44\x33\xb1\x55\x0f\xb6\xc5\x48\x0f\xbf\xd1");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.walked, 6);
	assert_int_equal(m.w.ip, CODE + 20);
	assert_gpr(CX, 0xffff3355);
	assert_gpr(AX, 0x33);
	assert_gpr(DX, 0x3355);
}

static void test_part_of_unknown(void **state)
{
	(void)state;
	/* rdtsc; mov al, 7; movzx ecx, al; mov ebx, eax */
	RUN(4, "\x0f\x31\xb0\x07\x0f\xb6\xc8\x89\xc3");
	assert_int_equal(m.w.gpr_known[AX], 1);
	assert_int_equal(m.w.gpr_known[DX], 0);
	assert_gpr(CX, 7);
	assert_int_equal(m.w.gpr_known[BX], 0xf0); /* cleared by a result of 4 bytes */
}

static void test_independent_of_unknown(void **state)
{
	(void)state;
	/* rdtsc; xor eax, eax; sub rdx, rdx */
	RUN(3, "\x0f\x31\x31\xc0\x48\x29\xd2");
	assert_gpr(AX, 0);
	assert_gpr(DX, 0);
	assert_flags(FLAGS6, FLAG_Z | FLAG_P);
}

/* ---- flags ---- */

static void test_flags_of_edges(void **state)
{
	(void)state;
	m.start.gpr[AX] = 0x7fffffffffffffff;
	RUN(1, "\x48\x83\xc0\x01"); /* add rax, 1 */
	assert_gpr(AX, UINT64_C(0x8000000000000000));
	assert_flags(FLAGS6, FLAG_O | FLAG_S | FLAG_A | FLAG_P);
	m.start.gpr[AX] = 0x80;
	RUN(1, "\x2c\x01"); /* sub al, 1 */
	assert_gpr(AX, 0x7f);
	assert_flags(FLAGS6, FLAG_O | FLAG_A);
	m.start.gpr[AX] = 0;
	RUN(1, "\xf7\xd8"); /* neg eax */
	assert_flags(FLAGS6, FLAG_Z | FLAG_P);
	m.start.flags = 0x203;
	RUN(1, "\x1a\xc0"); /* sbb al, al with carry */
	assert_gpr(AX, 0xff);
	assert_flags(FLAGS6, FLAG_C | FLAG_S | FLAG_P | FLAG_A);
	m.start.gpr[AX] = 0xffffffff;
	RUN(1, "\xff\xc0"); /* inc eax leaves the carry */
	assert_gpr(AX, 0);
	assert_flags(FLAGS6, FLAG_C | FLAG_Z | FLAG_P | FLAG_A);
}

static void test_flags_of_shifts(void **state)
{
	(void)state;
	m.start.gpr[AX] = 0xc0000001;
	RUN(1, "\xd1\xe0"); /* shl eax, 1 */
	assert_gpr(AX, 0x80000002);
	assert_flags(FLAGS6 & ~FLAG_A, FLAG_C | FLAG_S);
	RUN(1, "\xc1\xe8\x04"); /* shr eax, 4: overflow is undefined */
	assert_gpr(AX, 0x0c000000);
	assert_flags(FLAG_C | FLAG_Z | FLAG_S | FLAG_P, FLAG_P);
	m.start.gpr[CX] = 32;
	RUN(1, "\xd3\xe8"); /* shr eax, cl: by 0, flags stay */
	assert_gpr(AX, 0xc0000001);
	assert_flags(FLAGS6, 0);
	m.start.gpr[CX] = 9;
	m.start.flags = 0x203;
	RUN(1, "\xd2\xd0"); /* rcl al, 9: all the way round */
	assert_gpr(AX, 0xc0000001);
	assert_int_equal(m.w.flags & FLAG_C, FLAG_C);
}

static void test_undefined_flag_ends(void **state)
{
	(void)state;
	RUN(3, "\x0f\xaf\xc1\x74\x05"); /* imul eax, ecx; jz */
	assert_int_equal(m.w.stop, WALK_BRANCH);
	assert_int_equal(m.w.walked, 1);
	assert_int_equal(m.w.ip, CODE + 3);
}

static void test_division(void **state)
{
	(void)state;
	m.start.gpr[AX] = 7;
	m.start.gpr[DX] = 1;
	m.start.gpr[CX] = 3;
	RUN(1, "\x48\xf7\xf1"); /* div rcx: 2**64 + 7 by 3 */
	assert_gpr(AX, UINT64_C(0x5555555555555557));
	assert_gpr(DX, 2);
	m.start.gpr[DX] = 3;
	RUN(1, "\x48\xf7\xf1");
	assert_int_equal(m.w.stop, WALK_TRAP);
	assert_int_equal(m.w.walked, 0);
	m.start.gpr[AX] = (uint64_t)-7;
	m.start.gpr[DX] = UINT64_MAX;
	RUN(1, "\x48\xf7\xf9"); /* idiv rcx */
	assert_gpr(AX, (uint64_t)-2);
	assert_gpr(DX, UINT64_MAX);
	m.start.gpr[AX] = UINT64_C(1) << 63;
	m.start.gpr[CX] = UINT64_MAX;
	RUN(1, "\x48\xf7\xf9");
	assert_int_equal(m.w.stop, WALK_TRAP);
	m.start.gpr[CX] = 0;
	RUN(1, "\xf7\xf1");
	assert_int_equal(m.w.stop, WALK_TRAP);
}

/* ---- memory ---- */

static void test_lines(void **state)
{
	(void)state;
	/* mov rax, [rsi + 60]: two lines; mov rcx, [rsi + 64]: none more */
	RUN(2, "\x48\x8b\x46\x3c\x48\x8b\x4e\x40");
	assert_gpr(AX, UINT64_C(0x434241403f3e3d3c));
	assert_gpr(CX, UINT64_C(0x4746454443424140));
	assert_int_equal(m.w.nlines, 3);
	assert_int_equal(m.reads, 3);
	assert_true(has_line(CODE) && has_line(DATA) && has_line(DATA + 64));
	assert_memory_equal(m.w.line[2], m.data + 64, 64);
	assert_false(m.w.wide);
}

static void test_overlay(void **state)
{
	(void)state;
	/* mov word [rsi+2], 0xbbaa; mov eax, [rsi]; mov byte [rsi+3], 0xcc; mov rcx, [rsi+1] */
	RUN(4, "\x66\xc7\x46\x02\xaa\xbb\x8b\x06\xc6\x46\x03\xcc\x48\x8b\x4e\x01");
	assert_gpr(AX, 0xbbaa0100);
	assert_gpr(CX, UINT64_C(0x0807060504ccaa01));
	assert_int_equal(m.data[2], 2); /* the walk writes nothing */
}

static void test_unknown_store(void **state)
{
	(void)state;
	/* rdtsc; mov [rsi + 4], eax; mov ecx, [rsi]; mov rdx, [rsi]; mov byte [rsi+4], 1;
	 * mov bl, [rsi + 4]; mov bh, [rsi + 5] */
	RUN(7, "\x0f\x31\x89\x46\x04\x8b\x0e\x48\x8b\x16\xc6\x46\x04\x01\x8a\x5e\x04\x8a\x7e\x05");
	assert_gpr(CX, 0x03020100);
	assert_int_equal(m.w.gpr_known[DX], 0);
	assert_int_equal(m.w.gpr_known[BX], 0xfd);
	assert_int_equal(m.w.gpr[BX] & 0xff, 1);
}

static void test_store_anywhere(void **state)
{
	(void)state;
	/* rdtsc; mov [rax], cl; mov ecx, [rsi]: the line is kept all the same */
	RUN(3, "\x0f\x31\x88\x08\x8b\x0e");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.gpr_known[CX], 0xf0);
	assert_true(has_line(DATA));
}

static void test_unreadable(void **state)
{
	(void)state;
	m.hides_data = true;
	/* mov rax, [rsi]; mov rcx, [rsi + 8]; mov rdx, [rsp] */
	RUN(3, "\x48\x8b\x06\x48\x8b\x4e\x08\x48\x8b\x14\x24");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.gpr_known[AX], 0);
	assert_int_equal(m.w.gpr_known[CX], 0);
	assert_gpr(DX, 0);
	assert_int_equal(m.reads, 3); /* code, data once, stack */
	assert_int_equal(m.w.nlines, 2);
}

static void test_wild_addresses(void **state)
{
	static const uint64_t wild[] = {UINT64_C(0x800000000000), UINT64_C(0x7ffffffffffc),
					UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
		m.start.gpr[SI] = wild[i];
		m.reads = 0;
		RUN(2, "\x48\x8b\x06"); /* mov rax, [rsi] */
		assert_int_equal(m.w.stop, WALK_TRAP);
		assert_int_equal(m.w.walked, 0);
		assert_int_equal(m.w.ip, CODE);
		assert_int_equal(m.reads, 1);
		RUN(1, "\x48\x89\x06"); /* mov [rsi], rax */
		assert_int_equal(m.w.stop, WALK_TRAP);
		m.start.gpr[CX] = wild[i];
		RUN(1, "\xf3\x48\xa5"); /* rep movsq */
		assert_int_equal(m.w.stop, WALK_TRAP);
		RUN(1, "\xf3\xaa"); /* rep stosb */
		assert_int_equal(m.w.stop, WALK_TRAP);
	}
	m.start.ip = UINT64_C(0x800000000000);
	RUN(1, "\x90");
	assert_int_equal(m.w.stop, WALK_TRAP);
}

static void test_code(void **state)
{
	(void)state;
	m.start.ip = CODE + PAGE - 3; /* two nops, then the first byte of a call */
	m.code[PAGE - 1] = 0xe8;
	walk_run(&m.w, &m.start, 10, read_line, &m);
	assert_int_equal(m.w.stop, WALK_CODE);
	assert_int_equal(m.w.walked, 2);
	m.code[PAGE - 1] = 0x90; /* a whole one: the next cannot be read */
	walk_run(&m.w, &m.start, 10, read_line, &m);
	assert_int_equal(m.w.stop, WALK_CODE);
	assert_int_equal(m.w.walked, 3);
	assert_int_equal(m.w.ip, CODE + PAGE);
	m.start.ip = CODE + 60; /* over the end of a line */
	memcpy(m.code + 60, "\x48\xb8\1\2\3\4\5\6\7\x08", 10);
	walk_run(&m.w, &m.start, 1, read_line, &m);
	assert_gpr(AX, UINT64_C(0x0807060504030201));
	assert_int_equal(m.w.nlines, 2);
	memset(m.code + 60, 0x66, 30); /* too long */
	walk_run(&m.w, &m.start, 1, read_line, &m);
	assert_int_equal(m.w.stop, WALK_INSN);
	m.start.ip = CODE; /* mov byte [rip], 0x90, over the jump behind it */
	RUN(2, "\xc6\x05\x00\x00\x00\x00\x90\xeb\xfe");
	assert_int_equal(m.w.stop, WALK_CODE);
	assert_int_equal(m.w.walked, 1);
}

static void test_full(void **state)
{
	unsigned i;

	(void)state;
	/* A jump to each line of code: 64 of them, and as many lines of data each. */
	for (i = 0; i < PAGE; i += 64)
		memcpy(m.code + i, "\x48\x8b\x06\x48\x83\xc6\x40\xeb\x37", 9);
	walk_run(&m.w, &m.start, 1000, read_line, &m);
	assert_int_equal(m.w.stop, WALK_CODE);
	assert_int_equal(m.w.walked, 192);
	assert_int_equal(m.w.nlines, 128);
	/* mov rax, [rsi]; add rsi, 64; jmp: over all of the page, and what cannot be read. */
	m.start.gpr[SI] = STACK;
	RUN(1000, "\x8b\x06\x48\x83\xc6\x20\x8b\x04\x24\xeb\xf5");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.nlines, 1 + 64);
}

/* ---- control flow ---- */

static void test_stops(void **state)
{
	static const struct {
		const char *code;
		enum walk_stop stop;
	} cases[] = {
		{"\x0f\x05", WALK_SYSCALL}, {"\xcd\x80", WALK_SYSCALL}, {"\x0f\x0b", WALK_INSN},
		{"\xcc", WALK_INSN},	    {"\xf4", WALK_INSN},	{"\x06", WALK_INSN},
		{"\xff\x2e", WALK_INSN},    {"\xcb", WALK_INSN},	{"\xe4\x10", WALK_INSN},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		run(5, (const uint8_t *)cases[i].code, strlen(cases[i].code));
		assert_int_equal(m.w.stop, cases[i].stop);
		assert_int_equal(m.w.walked, 0);
		assert_int_equal(m.w.ip, CODE);
	}
	RUN(2, "\x0f\x31\xff\xe0"); /* rdtsc; jmp rax */
	assert_int_equal(m.w.stop, WALK_TARGET);
	assert_int_equal(m.w.walked, 1);
}

static void test_calls(void **state)
{
	(void)state;
	memcpy(m.code + 0x20, "\x5a\x52\xc2\x10\x00", 5); /* pop rdx; push rdx; ret 16 */
	RUN(4, "\xe8\x1b\x00\x00\x00");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.ip, CODE + 5);
	assert_gpr(DX, CODE + 5);
	assert_gpr(SP, STACK + 2048 + 16);
	/* call [rsi]: through the data */
	memcpy(m.data, "\x40\x10\x40\0\0\0\0\0", 8);
	RUN(1, "\xff\x16");
	assert_int_equal(m.w.ip, CODE + 0x40);
	assert_true(has_line(DATA));
	/* push rbp; mov rbp, rsp; sub rsp, 32; leave */
	RUN(4, "\x55\x48\x89\xe5\x48\x83\xec\x20\xc9");
	assert_gpr(SP, STACK + 2048);
	assert_gpr(BP, m.start.gpr[BP]);
}

static void test_zero_insns(void **state)
{
	(void)state;
	RUN(0, "\x90");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.nlines, 0);
}

/* ---- strings ---- */

static void test_moves(void **state)
{
	(void)state;
	m.start.gpr[CX] = 13;
	/* rep movsd; mov rax, [rdi - 8]; mov rbx, [rdi - 4] */
	RUN(3, "\xf3\xa5\x48\x8b\x47\xf8\x48\x8b\x5f\xfc");
	assert_gpr(CX, 0);
	assert_gpr(SI, DATA + 52);
	assert_gpr(DI, DATA + 1024 + 52);
	assert_gpr(AX, UINT64_C(0x333231302f2e2d2c));
	/* Half of it from behind what was copied, which is 0x34 again. */
	assert_gpr(BX, UINT64_C(0x3736353433323130));
	m.start.flags |= FLAG_D; /* downwards */
	RUN(2, "\xf3\xa4\x8b\x47\x01");
	assert_gpr(SI, DATA - 13);
	assert_gpr(DI, DATA + 1024 - 13);
}

static void test_limits_of_moves(void **state)
{
	(void)state;
	m.start.gpr[CX] = 512;
	RUN(2, "\xf3\xa4\x8b\x47\xfc"); /* rep movsb; mov eax, [rdi - 4] */
	assert_gpr(AX, 0xfffefdfc);
	m.start.gpr[CX] = 513;
	RUN(2, "\xf3\xa4\x8b\x47\xfc");
	assert_gpr(DI, DATA + 1024 + 513); /* registers are exact, memory is not */
	assert_int_equal(m.w.gpr_known[AX], 0xf0);
	m.start.gpr[DI] = STACK;
	m.start.gpr[CX] = 4000;
	RUN(1, "\xf3\xa4");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.nlines, 1 + 32);
	m.start.gpr[DI] = DATA + 4; /* over itself */
	m.start.gpr[CX] = 16;
	RUN(2, "\xf3\xa4\x8b\x06"); /* mov eax, [rsi] */
	assert_int_equal(m.w.gpr_known[AX], 0xf0);
	m.start.gpr[CX] = 0;
	RUN(1, "\xf3\xa4");
	assert_gpr(SI, DATA);
	assert_int_equal(m.w.nlines, 1);
}

static void test_fill_and_compare(void **state)
{
	(void)state;
	m.start.gpr[CX] = 5;
	m.start.gpr[AX] = 0x1234;
	RUN(2, "\xf3\x66\xab\x48\x8b\x57\xf9"); /* rep stosw; mov rdx, [rdi - 7] */
	assert_gpr(DX, UINT64_C(0x0a12341234123412));
	/* repne scasb: the byte 9 is the tenth */
	m.start.gpr[DI] = DATA;
	m.start.gpr[CX] = UINT64_MAX;
	m.start.gpr[AX] = 9;
	RUN(1, "\xf2\xae");
	assert_gpr(CX, UINT64_MAX - 10);
	assert_gpr(DI, DATA + 10);
	assert_flags(FLAGS6, FLAG_Z | FLAG_P);
	/* repe cmpsb: bytes repeat after 256 */
	m.start.gpr[DI] = DATA + 256;
	m.start.gpr[CX] = 100;
	RUN(1, "\xf3\xa6");
	assert_gpr(CX, 0);
	assert_gpr(SI, DATA + 100);
	assert_flags(FLAGS6, FLAG_Z | FLAG_P);
	/* More than is followed: unknown, not wrong. */
	memset(m.data, 1, PAGE);
	m.start.gpr[DI] = DATA;
	m.start.gpr[CX] = 3000;
	RUN(1, "\xf2\xae");
	assert_int_equal(m.w.gpr_known[CX], 0);
	assert_int_equal(m.w.gpr_known[DI], 0);
	assert_flags(0, 0);
}

/* ---- vectors ---- */

static uint8_t xmm[256];

static void test_vectors(void **state)
{
	(void)state;
	m.data[20] = 0;
	/* pxor xmm0, xmm0; movdqu xmm1, [rsi + 16]; pcmpeqb xmm0, xmm1; pmovmskb eax, xmm0;
	 * tzcnt ecx, eax */
	RUN(5, "\x66\x0f\xef\xc0\xf3\x0f\x6f\x4e\x10\x66\x0f\x74\xc1\x66\x0f\xd7\xc0"
	       "\xf3\x0f\xbc\xc8");
	assert_gpr(AX, 1 << 4);
	assert_gpr(CX, 4);
	assert_false(m.w.wide);
	m.data[20] = 20;
	m.data[0] = 0;
	m.data[33] = 0;
	/* vpxorq ymm16, ymm16, ymm16; vpcmpeqb k0, ymm16, [rsi + 32]; kmovd eax, k0;
	 * movzx ecx, byte [rsi + 1] */
	RUN(3, "\x62\xa1\xfd\x20\xef\xc0\x62\xf1\x7d\x20\x74\x46\x01\xc5\xfb\x93\xc0");
	assert_gpr(AX, 2);
	assert_true(m.w.wide);
}

static void test_unknown_vectors(void **state)
{
	(void)state;
	m.start.xmm = NULL;
	RUN(1, "\x66\x0f\xd7\xc0"); /* pmovmskb eax, xmm0 */
	assert_int_equal(m.w.gpr_known[AX], 0);
	memset(xmm, 0x80, sizeof(xmm));
	m.start.xmm = xmm;
	RUN(1, "\x66\x0f\xd7\xc0");
	assert_gpr(AX, 0xffff);
	/* mulsd xmm0, [rsi]; movq rax, xmm0; movhlps xmm1, xmm0; movq rcx, xmm1 */
	RUN(4, "\xf2\x0f\x59\x06\x66\x48\x0f\x7e\xc0\x0f\x12\xc8\x66\x48\x0f\x7e\xc9");
	assert_int_equal(m.w.gpr_known[AX], 0);
	assert_gpr(CX, UINT64_C(0x8080808080808080));
	assert_true(has_line(DATA));
}

static void test_masked_load(void **state)
{
	(void)state;
	/* mov eax, 0xf; kmovd k1, eax; vmovdqu8 ymm0{k1}{z}, [rsi - 28 + 4096]: the last 4 bytes of
	 * a page, and nothing behind it. */
	m.start.gpr[SI] = DATA + PAGE - 4;
	RUN(4, "\xb8\x0f\x00\x00\x00\xc5\xfb\x92\xc8\x62\xf1\x7f\xa9\x6f\x06\xc5\xf9\x7e\xc1");
	assert_gpr(CX, 0xfffefdfc);
	assert_int_equal(m.w.nlines, 2);
}

/* ---- whatever there is ---- */

struct noise {
	struct vt_rng rng;
	uint64_t refused; /* of 8 */
};

/* The same bytes for an address each time; some addresses cannot be read. */
static bool read_noise(void *arg, uint64_t addr, uint8_t bytes[WALK_LINE])
{
	const struct noise *x = arg;
	struct vt_rng rng;
	unsigned i;

	assert_int_equal(addr % WALK_LINE, 0);
	assert_true(addr < UINT64_C(1) << 47);
	vt_rng_init(&rng, addr ^ 0x5eed);
	if (vt_rng_below(&rng, 8) < x->refused)
		return false;
	for (i = 0; i < WALK_LINE; i++)
		bytes[i] = (uint8_t)vt_rng_next(&rng);
	/* Prefixes of vectors, more often than by chance. */
	for (i = 0; i < WALK_LINE; i += 5)
		if (vt_rng_below(&rng, 4) == 0)
			bytes[i] = (uint8_t[]){0x62, 0xc4, 0xc5, 0xf3}[vt_rng_below(&rng, 4)];
	return true;
}

static void test_noise(void **state)
{
	static uint8_t vectors[1024];
	struct noise x = {.refused = 0};
	uint64_t walked = 0;
	unsigned n, i;

	(void)state;
	vt_rng_init(&x.rng, 7);
	for (n = 0; n < 40000; n++) {
		struct walk_start s = {.flags = vt_rng_next(&x.rng)};

		x.refused = vt_rng_below(&x.rng, 4);
		for (i = 0; i < 16; i++)
			s.gpr[i] = vt_rng_next(&x.rng) >> vt_rng_below(&x.rng, 64);
		for (i = 0; i < sizeof(vectors); i++)
			vectors[i] = (uint8_t)vt_rng_next(&x.rng);
		s.xmm = n & 1 ? vectors : NULL;
		s.ymm_high = n & 2 ? vectors : NULL;
		s.zmm_high = n & 4 ? vectors : NULL;
		s.hi_zmm = n & 8 ? vectors : NULL;
		s.kmask = n & 16 ? vectors : NULL;
		s.ip = vt_rng_next(&x.rng) >> 18;
		walk_run(&m.w, &s, 64, read_noise, &x);
		assert_true(m.w.stop >= WALK_LENGTH && m.w.stop <= WALK_FULL);
		assert_true(m.w.walked <= 64 && m.w.nlines <= WALK_LINES_MAX);
		assert_int_equal(m.w.stop == WALK_LENGTH, m.w.walked == 64);
		for (i = 1; i < m.w.nlines; i++)
			assert_int_not_equal(m.w.line_addr[i], m.w.line_addr[i - 1]);
		walked += m.w.walked;
	}
	assert_true(walked > 40000);
}

/* An instruction with each opcode of a map, its fields by chance: nothing is accessed outside. */
static void walk_form(struct vt_rng *rng, const uint8_t *prefix, size_t n, unsigned op)
{
	size_t i;

	memcpy(m.code, prefix, n);
	m.code[n] = (uint8_t)op;
	for (i = n + 1; i < INSN_MAX; i++)
		m.code[i] = (uint8_t)vt_rng_next(rng);
	m.start.gpr[vt_rng_below(rng, 16)] = DATA + vt_rng_below(rng, PAGE);
	m.start.gpr[vt_rng_below(rng, 16)] = vt_rng_below(rng, 80);
	walk_run(&m.w, &m.start, 1, read_line, &m);
	assert_true(m.w.walked <= 1 && m.w.nlines <= WALK_LINES_MAX);
	assert_true(m.w.nstores <= WALK_STORES);
}

static void test_all_forms(void **state)
{
	struct vt_rng rng;
	unsigned op, map, k;

	(void)state;
	vt_rng_init(&rng, 3);
	for (op = 0; op < 256; op++)
		for (k = 0; k < 600; k++) {
			uint64_t r = vt_rng_next(&rng);
			uint8_t evex[4] = {0x62, (uint8_t)r, (uint8_t)(r >> 8 | 4),
					   (uint8_t)(r >> 16)};
			uint8_t vex[3] = {0xc4, (uint8_t)r, (uint8_t)(r >> 8)};
			uint8_t legacy[5] = {(uint8_t[]){0x66, 0xf2, 0xf3, 0x3e}[r & 3],
					     (uint8_t)(0x40 | (r >> 4 & 15)), 0x0f, 0x38};

			map = 1 + (unsigned)(r >> 40) % 3;
			evex[1] = (uint8_t)((evex[1] & 0xf0) | map);
			vex[1] = (uint8_t)((vex[1] & 0xe0) | map);
			legacy[3] = map == 3 ? 0x3a : 0x38;
			walk_form(&rng, evex, sizeof(evex), op);
			walk_form(&rng, vex, sizeof(vex), op);
			walk_form(&rng, legacy, r >> 20 & 1 ? 2 : map == 1 ? 3 : 4, op);
		}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		T(test_parts_of_registers),
		T(test_part_of_unknown),
		T(test_independent_of_unknown),
		T(test_flags_of_edges),
		T(test_flags_of_shifts),
		T(test_undefined_flag_ends),
		T(test_division),
		T(test_lines),
		T(test_overlay),
		T(test_unknown_store),
		T(test_store_anywhere),
		T(test_unreadable),
		T(test_wild_addresses),
		T(test_code),
		T(test_full),
		T(test_stops),
		T(test_calls),
		T(test_zero_insns),
		T(test_moves),
		T(test_limits_of_moves),
		T(test_fill_and_compare),
		T(test_vectors),
		T(test_unknown_vectors),
		T(test_masked_load),
		T(test_noise),
		T(test_all_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
