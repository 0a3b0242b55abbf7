/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/interp/internal.h"
#include "machine/interp/interp.h"
#include "machine/lift/fastop.h"

#define BASE  0x401000u
#define STACK 0x7fff0000u

struct program {
	const uint8_t *bytes;
	size_t size;
};

struct machine {
	struct program program;
	struct vt_known_memory *mem;
	struct vt_interp *m;
	struct vt_error err;
};

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	const struct program *p = arg;

	(void)space;
	if (addr < BASE || addr - BASE >= p->size)
		return 0;
	if (size > p->size - (addr - BASE))
		size = p->size - (addr - BASE);
	memcpy(bytes, p->bytes + (addr - BASE), size);
	return size;
}

static void start(struct machine *t, const uint8_t *bytes, size_t size, uint32_t capture)
{
	struct vt_interp_options opt = {.fetch = fetch, .fetch_arg = &t->program};

	opt.capture = capture;
	t->program = (struct program){bytes, size};
	t->mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	assert_non_null(t->mem);
	t->m = vt_interp_new(&opt, t->mem, &t->err);
	assert_non_null(t->m);
	vt_interp_set(t->m, VT_REG_IP, 0, vt_word_of(BASE));
}

static void finish(struct machine *t)
{
	vt_interp_free(t->m);
	vt_known_memory_free(t->mem);
}

static enum vt_stop run(struct machine *t, uint64_t max, uint64_t *done)
{
	return vt_interp_run(t->m, 1, max, done, &t->err);
}

static void set(struct machine *t, unsigned reg, uint64_t value)
{
	vt_interp_set(t->m, reg, 0, vt_word_of(value));
}

static void assert_reg(const struct machine *t, unsigned reg, uint64_t value)
{
	struct vt_word w = vt_interp_get(t->m, reg, 0);

	assert_true(vt_word_is_known(w));
	assert_int_equal(w.value, value);
}

static void assert_unknown(const struct machine *t, unsigned reg)
{
	assert_false(vt_word_is_known(vt_interp_get(t->m, reg, 0)));
}

#define START(t, bytes, capture) start(t, bytes, sizeof(bytes), capture)

/* xor eax,eax; 1: add rax,rcx; dec rcx; jne 1b; syscall */
static const uint8_t loop[] = {0x31, 0xc0, 0x48, 0x01, 0xc8, 0x48, 0xff, 0xc9, 0x75, 0xf8, 0x0f, 5};

static void test_loop(void **state)
{
	struct machine t;
	uint64_t done;

	(void)state;
	START(&t, loop, 0);
	set(&t, VT_REG_CX, 1000);
	assert_int_equal(run(&t, 1000000, &done), VT_STOP_SYSCALL);
	assert_int_equal(done, 3002);
	assert_reg(&t, VT_REG_AX, 500500);
	assert_reg(&t, VT_REG_IP, BASE + sizeof(loop));
	finish(&t);
}

/* Each length ends in front of the next instruction, with the registers as they are there. */
static void test_length(void **state)
{
	static const unsigned at[] = {0, 2, 5, 8, 2, 5, 8};
	unsigned n;

	(void)state;
	for (n = 0; n < 7; n++) {
		struct machine t;
		uint64_t done;

		START(&t, loop, 0);
		set(&t, VT_REG_CX, 10);
		assert_int_equal(run(&t, n, &done), VT_STOP_LENGTH);
		assert_int_equal(done, n);
		assert_reg(&t, VT_REG_IP, BASE + at[n]);
		assert_reg(&t, VT_REG_CX, 10u - n / 3);
		finish(&t);
	}
}

static void test_unknown_branch(void **state)
{
	struct machine t;
	uint64_t done;

	(void)state;
	START(&t, loop, 0);
	assert_int_equal(run(&t, 100, &done), VT_STOP_BRANCH);
	assert_int_equal(done, 4);
	assert_unknown(&t, VT_REG_AX);
	assert_unknown(&t, VT_REG_IP);
	finish(&t);
}

/* push rbx; mov [rax],ecx; pop rdx; ret */
static const uint8_t memory[] = {0x53, 0x89, 0x08, 0x5a, 0xc3};

static void test_memory(void **state)
{
	struct machine t;
	uint64_t done;

	(void)state;
	START(&t, memory, 0);
	set(&t, VT_REG_SP, STACK);
	set(&t, VT_REG_BX, 0x1122334455667788);
	set(&t, VT_REG_AX, STACK - 6);
	set(&t, VT_REG_CX, 0xaabbccdd);
	assert_int_equal(run(&t, 100, &done), VT_STOP_TARGET);
	assert_int_equal(done, 4);
	assert_reg(&t, VT_REG_DX, 0x1122aabbccdd7788);
	assert_reg(&t, VT_REG_SP, STACK + 8);
	finish(&t);

	/* Through an address that is not known, anything may have been overwritten. */
	START(&t, memory, 0);
	set(&t, VT_REG_SP, STACK);
	set(&t, VT_REG_BX, 1);
	assert_int_equal(run(&t, 100, &done), VT_STOP_TARGET);
	assert_unknown(&t, VT_REG_DX);
	finish(&t);
}

/* push rbx; xsave [rdi]; pop rdx; ret: how much is saved is the machine's affair. */
static const uint8_t saving[] = {0x53, 0x0f, 0xae, 0x27, 0x5a, 0xc3};

static void test_saving(void **state)
{
	struct machine t;
	uint64_t done;

	(void)state;
	START(&t, saving, 0);
	set(&t, VT_REG_SP, STACK);
	set(&t, VT_REG_DI, STACK - 4096);
	set(&t, VT_REG_AX, 7);
	set(&t, VT_REG_DX, 0);
	set(&t, VT_REG_BX, 1);
	assert_int_equal(run(&t, 100, &done), VT_STOP_TARGET);
	assert_int_equal(done, 4);
	assert_unknown(&t, VT_REG_DX);
	finish(&t);
}

static void test_flags(void **state)
{
	/* cmp eax,ebx; lahf; setl dl */
	static const uint8_t code[] = {0x39, 0xd8, 0x9f, 0x0f, 0x9c, 0xc2};
	struct machine t;
	uint64_t done;

	(void)state;
	START(&t, code, 0);
	set(&t, VT_REG_SP, STACK);
	set(&t, VT_REG_FLAGS, 0x246);
	set(&t, VT_REG_AX, 5);
	set(&t, VT_REG_BX, 7);
	set(&t, VT_REG_DX, 0xff00);
	assert_int_equal(run(&t, 3, &done), VT_STOP_LENGTH);
	assert_reg(&t, VT_REG_DX, 0xff01);
	assert_reg(&t, VT_REG_AX, 0x9305);
	finish(&t);
}

static void test_stops(void **state)
{
	static const uint8_t trap[] = {0xcc};
	static const uint8_t divide[] = {0x31, 0xc9, 0xf7, 0xf1}; /* xor ecx,ecx; div ecx */
	static const uint8_t jump[] = {0xff, 0xe0};
	static const uint8_t bad[] = {0x90, 0x06};
	static const uint8_t undefined[] = {0x90, 0x0f, 0x0b, 0x90}; /* nop; ud2; nop */
	struct machine t;
	uint64_t done;

	(void)state;
	START(&t, trap, 0);
	assert_int_equal(run(&t, 9, &done), VT_STOP_TRAP);
	finish(&t);
	START(&t, divide, 0);
	assert_int_equal(run(&t, 9, &done), VT_STOP_TRAP);
	assert_int_equal(done, 1);
	finish(&t);
	START(&t, jump, 0);
	assert_int_equal(run(&t, 9, &done), VT_STOP_TARGET);
	set(&t, VT_REG_IP, BASE);
	set(&t, VT_REG_AX, 0x1234);
	assert_int_equal(run(&t, 9, &done), VT_STOP_CODE);
	assert_int_equal(done, 1);
	assert_reg(&t, VT_REG_IP, 0x1234);
	finish(&t);
	START(&t, bad, 0);
	assert_int_equal(run(&t, 9, &done), VT_STOP_BAD);
	assert_int_equal(done, 1);
	finish(&t);
	START(&t, undefined, 0);
	assert_int_equal(run(&t, 9, &done), VT_STOP_BAD);
	assert_int_equal(done, 1);
	finish(&t);
}

/* Only a divisor that is known to be zero ends the run: one of which a bit is unknown may do. */
static void test_divisors(void **state)
{
	static const uint8_t code[] = {0xf7, 0xf1, 0x90}; /* div ecx; nop */
	struct machine t;
	uint64_t done;

	(void)state;
	START(&t, code, 0);
	set(&t, VT_REG_AX, 100);
	set(&t, VT_REG_DX, 0);
	assert_int_equal(run(&t, 2, &done), VT_STOP_LENGTH);
	assert_int_equal(done, 2);
	assert_unknown(&t, VT_REG_AX);
	assert_unknown(&t, VT_REG_DX);
	set(&t, VT_REG_IP, BASE);
	set(&t, VT_REG_AX, 100);
	set(&t, VT_REG_DX, 0);
	vt_interp_set(t.m, VT_REG_CX, 0, (struct vt_word){0, ~UINT64_C(1)});
	assert_int_equal(run(&t, 2, &done), VT_STOP_LENGTH);
	assert_unknown(&t, VT_REG_AX);
	set(&t, VT_REG_IP, BASE);
	set(&t, VT_REG_AX, 100);
	set(&t, VT_REG_DX, 0);
	set(&t, VT_REG_CX, 7);
	assert_int_equal(run(&t, 2, &done), VT_STOP_LENGTH);
	assert_reg(&t, VT_REG_AX, 14);
	assert_reg(&t, VT_REG_DX, 2);
	finish(&t);
}

static void set_vector(struct machine *t, unsigned reg, struct vt_word low, struct vt_word high)
{
	vt_interp_set(t->m, VT_REG_VECTOR + reg, 0, low);
	vt_interp_set(t->m, VT_REG_VECTOR + reg, 1, high);
}

static void assert_vector(const struct machine *t, unsigned reg, uint64_t low, uint64_t high)
{
	struct vt_word w = vt_interp_get(t->m, VT_REG_VECTOR + reg, 0);

	assert_true(vt_word_is_known(w));
	assert_int_equal(w.value, low);
	w = vt_interp_get(t->m, VT_REG_VECTOR + reg, 1);
	assert_true(vt_word_is_known(w));
	assert_int_equal(w.value, high);
}

#define XMM0 VT_REG_VECTOR
#define XMM2 (VT_REG_VECTOR + 2)

/* Two instructions or more: a register that is written, and one that it is copied to. */
static const struct {
	const char *what;
	const char *code;
	unsigned from, word, to;
} copies[] = {
	{"vfmadd213sd xmm0,xmm3,xmm1; movhlps xmm2,xmm0", "c4e2e1a9c10f12d0", XMM0, 1, XMM2},
	{"vfmadd213ss xmm0,xmm3,xmm1; movaps xmm2,xmm0", "c4e261a9c10f28d0", XMM0, 0, XMM2},
	{"cmpxchg ecx,edx; mov rbx,rax", "0fb1d14889c3", VT_REG_AX, 0, VT_REG_BX},
	{"cmpxchg ecx,edx; mov rbx,rcx", "0fb1d14889cb", VT_REG_CX, 0, VT_REG_BX},
	{"bsf rcx,rdi; mov rbx,rcx", "480fbccf4889cb", VT_REG_CX, 0, VT_REG_BX},
	{"bsr ecx,edi; mov rbx,rcx", "0fbdcf4889cb", VT_REG_CX, 0, VT_REG_BX},
};

/*
 * What is made less known of a result is so for the next instruction, too, and of a scalar what
 * stays above it: all that a copy says of a register is what the register itself says.
 */
static void test_copies(void **state)
{
	struct vt_word from, to;
	uint8_t code[20];
	struct machine t;
	uint64_t done;
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		for (n = 0; sscanf(copies[i].code + 2 * n, "%2hhx", &code[n]) == 1; n++)
			;
		start(&t, code, n, 0);
		set_vector(&t, 0, vt_word_of(0x4000000040000000), vt_word_of(0x4000000000000000));
		set_vector(&t, 1, vt_word_of(0x4000000040000000), vt_word_of(0));
		set_vector(&t, 3, vt_word_of(0x4000000040000000), vt_word_of(0));
		set(&t, VT_REG_AX, 0x1122334455667788);
		set(&t, VT_REG_BX, 0);
		set(&t, VT_REG_CX, 0x99aabbcc55667788);
		set(&t, VT_REG_DX, 0x1234567812345678);
		set(&t, VT_REG_DI, 0); /* in which no bit is found */
		assert_int_equal(run(&t, 10, &done), VT_STOP_CODE);
		from = vt_interp_get(t.m, copies[i].from, copies[i].word);
		to = vt_interp_get(t.m, copies[i].to, 0);
		if (vt_word_is_known(from) || (to.known & ~from.known) ||
		    ((to.value ^ from.value) & to.known))
			fail_msg("%s", copies[i].what);
		finish(&t);
	}
}

/* A choice between values of two words: what both have in common is known whatever is chosen. */
static void test_wide_choice(void **state)
{
	static const uint8_t code[] = {0x66, 0x0f, 0xd3, 0xc1}; /* psrlq xmm0, xmm1 */
	const struct vt_word zero = vt_word_of(0);
	struct machine t;
	struct vt_word w;
	uint64_t done;

	(void)state;
	START(&t, code, 0);
	set_vector(&t, 0, vt_word_of(0x100), vt_word_of(0x8000000000000000));
	set_vector(&t, 1, vt_word_of(4), zero);
	assert_int_equal(run(&t, 1, &done), VT_STOP_LENGTH);
	assert_vector(&t, 0, 0x10, 0x0800000000000000);
	/* A count of 64 leaves nothing. */
	set(&t, VT_REG_IP, BASE);
	set_vector(&t, 1, vt_word_of(64), zero);
	assert_int_equal(run(&t, 1, &done), VT_STOP_LENGTH);
	assert_vector(&t, 0, 0, 0);
	/* By a count that is not known. */
	set(&t, VT_REG_IP, BASE);
	set_vector(&t, 0, zero, vt_word_of(5));
	set_vector(&t, 1, vt_word_unknown(64), zero);
	assert_int_equal(run(&t, 1, &done), VT_STOP_LENGTH);
	w = vt_interp_get(t.m, VT_REG_VECTOR, 1);
	assert_false(vt_word_is_known(w));
	finish(&t);
}

/* What was loaded is not known, and yet an atomic addition goes on. */
static void test_atomic(void **state)
{
	static const uint8_t code[] = {0xf0, 0x48, 0x01, 0x08, 0x90}; /* lock add [rax],rcx; nop */
	struct machine t;
	struct vt_word w;
	uint64_t done;

	(void)state;
	START(&t, code, 0);
	set(&t, VT_REG_AX, STACK);
	set(&t, VT_REG_CX, 3);
	assert_int_equal(run(&t, 2, &done), VT_STOP_LENGTH);
	assert_int_equal(done, 2);
	vt_known_memory_set(t.mem, STACK, (const uint8_t *)"\4\0\0\0\0\0\0\0", 8);
	set(&t, VT_REG_IP, BASE);
	assert_int_equal(run(&t, 1, &done), VT_STOP_LENGTH);
	vt_known_memory_load(t.mem, STACK, 8, &w);
	assert_true(vt_word_is_known(w));
	assert_int_equal(w.value, 7);
	finish(&t);
}

static void test_follow_string(void **state)
{
	static const uint8_t code[] = {0xf3, 0xaa, 0x90}; /* rep stosb; nop */
	struct machine t;
	struct vt_word w;

	(void)state;
	START(&t, code, 0);
	set(&t, VT_REG_FLAGS, 2);
	set(&t, VT_REG_AX, 0x41);
	set(&t, VT_REG_DI, STACK);
	set(&t, VT_REG_CX, 4);
	assert_int_equal(vt_interp_follow(t.m, 1, BASE, 2, 0, &t.err), VT_STOP_LENGTH);
	assert_reg(&t, VT_REG_DI, STACK + 4);
	assert_reg(&t, VT_REG_CX, 0);
	vt_known_memory_load(t.mem, STACK, 4, &w);
	assert_int_equal(w.value, 0x41414141);
	vt_interp_set(t.m, VT_REG_CX, 0, vt_word_unknown(64));
	assert_int_equal(vt_interp_follow(t.m, 1, BASE, 2, 0, &t.err), VT_STOP_LENGTH);
	assert_unknown(&t, VT_REG_DI);
	vt_known_memory_load(t.mem, STACK, 4, &w);
	assert_int_equal(w.known & 0xffffffff, 0);
	finish(&t);
}

/* Until bytes differ, or none are left: an instruction of the path in all. */
static void test_follow_compare(void **state)
{
	static const uint8_t code[] = {0xf3, 0xa6, 0x90}; /* repe cmpsb; nop */
	struct machine t;
	unsigned differ, next;

	(void)state;
	START(&t, code, 0);
	vt_known_memory_set(t.mem, STACK, (const uint8_t *)"abcdefgh", 8);
	for (differ = 0; differ <= 8; differ++) {
		for (next = 0; next < 2; next++) {
			vt_known_memory_set(t.mem, STACK + 64, (const uint8_t *)"abcdefgh", 8);
			vt_known_memory_set(t.mem, STACK + 64 + differ, (const uint8_t *)"x", 1);
			set(&t, VT_REG_FLAGS, 2);
			set(&t, VT_REG_SI, STACK);
			set(&t, VT_REG_DI, STACK + 64);
			set(&t, VT_REG_CX, 7);
			assert_int_equal(
				vt_interp_follow(t.m, 1, BASE, 1, next ? BASE + 2 : 0, &t.err),
				VT_STOP_LENGTH);
			assert_reg(&t, VT_REG_SI, STACK + (differ < 7 ? differ + 1 : 7));
			assert_reg(&t, VT_REG_CX, differ < 7 ? 6 - differ : 0);
		}
	}
	set(&t, VT_REG_SI, STACK + 1000);
	set(&t, VT_REG_CX, 7);
	assert_int_equal(vt_interp_follow(t.m, 1, BASE, 1, BASE + 2, &t.err), VT_STOP_LENGTH);
	assert_unknown(&t, VT_REG_SI);
	assert_unknown(&t, VT_REG_CX);
	finish(&t);
}

/* Behind what is rare, the next operation is run: cmpxchg, and accesses with a mask. */
static void test_rare(void **state)
{
	/* lock cmpxchg [rdi], rcx; vmaskmovps xmm2, xmm1, [rsi]; vmaskmovps [rdi], xmm1, xmm2 */
	static const uint8_t code[] = {0xf0, 0x48, 0x0f, 0xb1, 0x0f, 0xc4, 0xe2, 0x71, 0x2c,
				       0x16, 0xc4, 0xe2, 0x71, 0x2e, 0x17, 0x0f, 5};
	struct machine t;
	struct vt_word w;
	uint64_t done;
	unsigned i;

	(void)state;
	for (i = 5; i < 7; i++) {
		START(&t, code, 0);
		vt_known_memory_set(t.mem, STACK,
				    (const uint8_t *)"\5\0\0\0\0\0\0\0\7\7\7\7\7\7\7\7", 16);
		vt_known_memory_set(t.mem, STACK + 16, (const uint8_t *)"abcdefghijklmnop", 16);
		set(&t, VT_REG_AX, i);
		set(&t, VT_REG_CX, 9);
		set(&t, VT_REG_DI, STACK);
		set(&t, VT_REG_SI, STACK + 16);
		set_vector(&t, 1, vt_word_of(0x80000000), vt_word_of(0x8000000000000000));
		assert_int_equal(run(&t, 1, &done), VT_STOP_LENGTH);
		assert_reg(&t, VT_REG_AX, 5);
		vt_known_memory_load(t.mem, STACK, 8, &w);
		assert_int_equal(w.value, i == 5 ? 9 : 5);
		set(&t, VT_REG_IP, BASE);
		assert_int_equal(run(&t, 100, &done), VT_STOP_SYSCALL);
		assert_int_equal(done, 4);
		assert_vector(&t, 2, 0x64636261, 0x706f6e6d00000000);
		vt_known_memory_load(t.mem, STACK, 8, &w);
		assert_int_equal(w.value, 0x64636261);
		vt_known_memory_load(t.mem, STACK + 8, 8, &w);
		assert_int_equal(w.value, 0x706f6e6d07070707);
		finish(&t);
	}
}

static void test_captures(void **state)
{
	struct machine t;
	const struct vt_capture *c;
	uint64_t done;
	size_t n, i;
	unsigned seen = 0;

	(void)state;
	START(&t, loop, 1u << VT_WHAT_RESULT | 1u);
	set(&t, VT_REG_CX, 3);
	assert_int_equal(run(&t, 100, &done), VT_STOP_SYSCALL);
	c = vt_interp_captures(t.m, &n);
	for (i = 0; i < n; i++) {
		seen += c[i].what == VT_WHAT_UNKNOWN;
		if (c[i].what != VT_WHAT_RESULT || c[i].reg != VT_REG_AX || c[i].insn != 4)
			continue;
		assert_true(c[i].known);
		assert_int_equal(c[i].value, 5);
		assert_int_equal(c[i].ip, BASE + 2);
	}
	assert_int_equal(seen, done);
	finish(&t);
}

/* ---- operators: what is known holds for every choice of what is not ---- */

static struct vt_word some_word(struct vt_rng *rng, unsigned bits)
{
	uint64_t unknown = vt_rng_next(rng);
	struct vt_word w;

	if (vt_rng_next(rng) % 4)
		unknown &= vt_rng_next(rng);
	if (vt_rng_next(rng) % 3 == 0)
		unknown = 0;
	w.known = ~(unknown & vt_low_bits(bits));
	w.value = vt_rng_next(rng) >> vt_rng_next(rng) % 64 & vt_low_bits(bits) & w.known;
	return w;
}

static struct vt_word choose(struct vt_rng *rng, struct vt_word w)
{
	return vt_word_of(w.value | (vt_rng_next(rng) & ~w.known));
}

static void check(struct vt_word w, struct vt_word one)
{
	assert_int_equal(w.value & ~w.known, 0);
	if (vt_word_is_known(one))
		assert_int_equal((w.value ^ one.value) & w.known, 0);
}

#define OP(name, call)                                                                             \
	static struct vt_word name(struct vt_word a, struct vt_word b, unsigned bits)              \
	{                                                                                          \
		(void)b;                                                                           \
		(void)bits;                                                                        \
		return call;                                                                       \
	}

OP(do_and, vti_fast_and(a, b))
OP(do_or, vti_fast_or(a, b))
OP(do_xor, vti_fast_xor(a, b))
OP(do_not, vti_fast_not(a, bits))
OP(do_equal, vti_fast_equal(a, b))
OP(do_below, vti_fast_below(a, b))
OP(do_extend, vti_fast_extend(a, bits, 64))
OP(do_cut, vti_fast_cut(a, bits / 2))

typedef struct vt_word op_fn(struct vt_word a, struct vt_word b, unsigned bits);

static void check_op(struct vt_rng *rng, op_fn *f, unsigned bits, uint64_t below)
{
	struct vt_word a = some_word(rng, bits), b = some_word(rng, bits), part;
	unsigned k;

	if (below && b.known == ~UINT64_C(0))
		b.value %= below;
	part = f(a, b, bits);
	assert_int_equal(part.value & ~part.known, 0);
	for (k = 0; k < 8; k++) {
		struct vt_word x = choose(rng, a), y = choose(rng, b);

		check(part, f(x, y, bits));
	}
}

static void test_operators(void **state)
{
	static op_fn *const ops[] = {vti_fast_add, vti_fast_sub, vti_fast_mul, vti_fast_less,
				     do_and,	   do_or,	 do_xor,       do_not,
				     do_equal,	   do_below,	 do_extend,    do_cut};
	static op_fn *const shifts[] = {vti_fast_shl, vti_fast_shr, vti_fast_sar};
	static const unsigned sizes[] = {8, 16, 32, 64};
	struct vt_rng rng;
	unsigned i, k, s;

	(void)state;
	vt_rng_init(&rng, 5);
	for (i = 0; i < 5000; i++) {
		for (s = 0; s < 4; s++) {
			for (k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
				check_op(&rng, ops[k], sizes[s], 0);
			for (k = 0; k < 3; k++)
				check_op(&rng, shifts[k], sizes[s], sizes[s]);
		}
	}
}

static void assert_words(const struct machine *t, unsigned reg, const uint64_t *words)
{
	unsigned i;

	for (i = 0; i < 4; i++) {
		struct vt_word w = vt_interp_get(t->m, VT_REG_VECTOR + reg, i);

		assert_true(vt_word_is_known(w));
		assert_int_equal(w.value, words[i]);
	}
}

/* Halves and quarters of vector registers go where they belong. */
static void test_vector_moves(void **state)
{
	/* movaps xmm3, xmm0; vextractf128 xmm2, ymm0, 0; vextractf128 xmm5, ymm0, 1;
	 * vinsertf128 ymm4, ymm0, xmm2, 1; vmovdqa ymm6, ymm0; vmovdqa xmm7, xmm0; syscall */
	static const uint8_t code[] = {0x0f, 0x28, 0xd8, 0xc4, 0xe3, 0x7d, 0x19, 0xc2,
				       0,    0xc4, 0xe3, 0x7d, 0x19, 0xc5, 1,	 0xc4,
				       0xe3, 0x7d, 0x18, 0xe2, 1,    0xc5, 0xfd, 0x6f,
				       0xf0, 0xc5, 0xf9, 0x6f, 0xf8, 0x0f, 5};
	struct machine t;
	uint64_t done;
	unsigned i, reg;

	(void)state;
	START(&t, code, 0);
	for (reg = 0; reg < 8; reg++)
		for (i = 0; i < 4; i++)
			vt_interp_set(t.m, VT_REG_VECTOR + reg, i, vt_word_of(10 * reg + i + 1));
	assert_int_equal(run(&t, 100, &done), VT_STOP_SYSCALL);
	assert_words(&t, 0, (const uint64_t[]){1, 2, 3, 4});
	assert_words(&t, 3, (const uint64_t[]){1, 2, 33, 34});
	assert_words(&t, 2, (const uint64_t[]){1, 2, 0, 0});
	assert_words(&t, 5, (const uint64_t[]){3, 4, 0, 0});
	assert_words(&t, 4, (const uint64_t[]){1, 2, 1, 2});
	assert_words(&t, 6, (const uint64_t[]){1, 2, 3, 4});
	assert_words(&t, 7, (const uint64_t[]){1, 2, 0, 0});
	finish(&t);
}

/* ---- the guest state by offset ---- */

/* Byte n of the state is n; of every other byte of the second word nothing is known. */
static void fill_state(struct vt_interp *m)
{
	unsigned i;

	memset(m->state, 0xff, sizeof(m->state));
	for (i = 0; i < 6; i++)
		m->state[i].value = UINT64_C(0x0706050403020100) + i * UINT64_C(0x0808080808080808);
	m->state[1].known = 0x00ff00ff00ff00ff;
}

static void expect_word(struct vt_word w, uint64_t value, uint64_t known)
{
	assert_int_equal(w.value, value);
	assert_int_equal(w.known, known);
}

static void test_state_get(void **state)
{
	static struct vt_interp m;
	struct vt_word w[3];

	(void)state;
	fill_state(&m);
	memset(w, 0x55, sizeof(w));
	vti_state_get(&m, 4, 4, w);
	expect_word(w[0], 0x07060504, UINT64_MAX);
	vti_state_get(&m, 6, 4, w);
	expect_word(w[0], 0x09080706, 0xffffffff00ffffff);
	vti_state_get(&m, 5, 8, w);
	expect_word(w[0], 0x0c0b0a0908070605, 0xff00ff00ffffffff);
	expect_word(w[1], 0x5555555555555555, 0x5555555555555555);
	vti_state_get(&m, 7, 8, w);
	expect_word(w[0], 0x0e0d0c0b0a090807, 0xff00ff00ff00ffff);
	vti_state_get(&m, 4, 10, w);
	expect_word(w[0], 0x0b0a090807060504, 0x00ff00ffffffffff);
	expect_word(w[1], 0x0d0c, 0xffffffffffff00ff);
	vti_state_get(&m, 8, 16, w);
	expect_word(w[0], 0x0f0e0d0c0b0a0908, 0x00ff00ff00ff00ff);
	expect_word(w[1], 0x1716151413121110, UINT64_MAX);
	vti_state_get(&m, 0, 10, w);
	expect_word(w[0], 0x0706050403020100, UINT64_MAX);
	expect_word(w[1], 0x0908, 0xffffffffffff00ff);
	expect_word(w[2], 0x5555555555555555, 0x5555555555555555);
}

static void test_state_put(void **state)
{
	static const struct vt_word words[2] = {{0xa7a6a5a4a3a2a1a0, 0xffffffff00ff00ff},
						{0xb7b6b5b4b3b2b1b0, 0x00000000000000ff}};
	static struct vt_interp m;

	(void)state;
	fill_state(&m);
	vti_state_put(&m, 5, 2, words);
	expect_word(m.state[0], 0x07a1a00403020100, 0xff00ffffffffffff);
	fill_state(&m);
	vti_state_put(&m, 5, 4, words);
	expect_word(m.state[0], 0xa2a1a00403020100, 0xff00ffffffffffff);
	expect_word(m.state[1], 0x0f0e0d0c0b0a09a3, 0x00ff00ff00ff0000);
	fill_state(&m);
	vti_state_put(&m, 0, 10, words);
	expect_word(m.state[0], 0xa7a6a5a4a3a2a1a0, 0xffffffff00ff00ff);
	expect_word(m.state[1], 0x0f0e0d0c0b0ab1b0, 0x00ff00ff00ff00ff);
	fill_state(&m);
	vti_state_forget(&m, 1, 40);
	expect_word(m.state[0], 0, 0xff);
	expect_word(m.state[1], 0, 0);
	expect_word(m.state[4], 0, 0);
	expect_word(m.state[5], 0x2f2e2d2c2b2a2900, 0xffffffffffffff00);
}

/* Each flag by itself; reserved ones are what they always are (Intel SDM volume 1, 3.4.3). */
static void test_flag_register(void **state)
{
	static const uint64_t flags[] = {1, 4, 0x10, 0x40, 0x80, 0x800, 0x400, 0x40000, 0x200000};
	const uint64_t always = 0x202;
	const uint64_t fixed = ~UINT64_C(0x3fffff) | 0x8 | 0x20 | 0x8000 | always;
	struct machine t;
	struct vt_word w;
	uint64_t all = 0;
	unsigned i;

	(void)state;
	START(&t, loop, 0);
	w = vt_interp_get(t.m, VT_REG_FLAGS, 0);
	assert_int_equal(w.value, always);
	assert_int_equal(w.known, fixed);
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		all |= flags[i];
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		set(&t, VT_REG_FLAGS, flags[i]);
		w = vt_interp_get(t.m, VT_REG_FLAGS, 0);
		assert_int_equal(w.value, always | flags[i]);
		assert_int_equal(w.known, fixed | all);
		vt_interp_set(t.m, VT_REG_FLAGS, 0, (struct vt_word){all, ~flags[i]});
		w = vt_interp_get(t.m, VT_REG_FLAGS, 0);
		assert_int_equal(w.value, always | (all & ~flags[i]));
		assert_int_equal(w.known, fixed | (all & ~flags[i]));
	}
	assert_int_equal(vt_interp_get(t.m, VT_REG_FLAGS, 1).known, 0);
	finish(&t);
}

/* The bits of a mask that are general registers, each with a value of its own. */
static void test_set_general(void **state)
{
	uint64_t values[VT_REG_R15 + 3];
	struct machine t;
	unsigned i;

	(void)state;
	START(&t, loop, 0);
	for (i = 0; i < VT_REG_R15 + 3; i++)
		values[i] = 100 + i;
	vt_interp_set_general(t.m, UINT64_MAX, values);
	for (i = 0; i <= VT_REG_R15; i++) {
		if (i == VT_REG_CS || i == VT_REG_SS || i == VT_REG_DS || i == VT_REG_ES)
			assert_unknown(&t, i);
		else if (i != VT_REG_FLAGS)
			assert_reg(&t, i, 100 + i);
	}
	assert_unknown(&t, VT_REG_VECTOR);
	vt_interp_set_general(t.m, UINT64_C(1) << VT_REG_BX | UINT64_C(1) << VT_REG_R15, values);
	assert_reg(&t, VT_REG_AX, 100 + VT_REG_AX);
	assert_reg(&t, VT_REG_BX, 100);
	assert_reg(&t, VT_REG_R15, 101);
	vt_interp_forget(t.m);
	assert_unknown(&t, VT_REG_BX);
	finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop),	    cmocka_unit_test(test_vector_moves),
		cmocka_unit_test(test_length),	    cmocka_unit_test(test_unknown_branch),
		cmocka_unit_test(test_memory),	    cmocka_unit_test(test_saving),
		cmocka_unit_test(test_flags),	    cmocka_unit_test(test_stops),
		cmocka_unit_test(test_atomic),	    cmocka_unit_test(test_follow_string),
		cmocka_unit_test(test_rare),	    cmocka_unit_test(test_follow_compare),
		cmocka_unit_test(test_captures),    cmocka_unit_test(test_operators),
		cmocka_unit_test(test_divisors),    cmocka_unit_test(test_copies),
		cmocka_unit_test(test_wide_choice), cmocka_unit_test(test_state_get),
		cmocka_unit_test(test_state_put),   cmocka_unit_test(test_flag_register),
		cmocka_unit_test(test_set_general),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
