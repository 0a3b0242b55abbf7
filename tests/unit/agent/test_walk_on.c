/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks over floating-point arithmetic, and walks that go on, on worked examples. */
#include "tests/unit/agent/machine.h"

/* ---- floating point ---- */

static void set_doubles(uint8_t xmm[256], double a, double b)
{
	memset(xmm, 0, 256);
	memcpy(xmm, &a, sizeof(a));
	memcpy(xmm + 16, &b, sizeof(b));
	m.start.xmm = xmm;
	m.start.mxcsr = 0x1fa0; /* the default, and an inexact result before */
}

static double first_double(unsigned reg)
{
	double x;

	memcpy(&x, m.w.vec[reg], sizeof(x));
	return x;
}

/* A branch on 1.5 * 0.25 + 1.5 - sqrt(3.515625), which is 0: it is followed. */
static void test_arithmetic(void **state)
{
	static uint8_t xmm[256];
	double square = 3.515625;

	(void)state;
	set_doubles(xmm, 1.5, 0.25);
	memcpy(m.data, &square, sizeof(square));
	/* mulsd xmm1, xmm0; addsd xmm1, xmm0; sqrtsd xmm2, [rsi]; subsd xmm1, xmm2; xorps xmm3,
	 * xmm3; ucomisd xmm1, xmm3; je +2; ud2 */
	RUN(7, "\xf2\x0f\x59\xc8\xf2\x0f\x58\xc8\xf2\x0f\x51\x16\xf2\x0f\x5c\xca"
	       "\x0f\x57\xdb\x66\x0f\x2e\xcb\x74\x02\x0f\x0b");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.ip, CODE + 27);
	assert_true(first_double(2) == 1.875 && first_double(1) == 0);
	assert_true(has_line(DATA));
}

/* Where the program rounds otherwise, or traps, results are unknown. */
static void test_arithmetic_otherwise(void **state)
{
	static const uint32_t others[] = {0, 0x3f80, 0x9f80, 0x1fc0, 0x1d80};
	static uint8_t xmm[256];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		set_doubles(xmm, 1.5, 0.25);
		m.start.mxcsr = others[i];
		RUN(2, "\xf2\x0f\x59\xc8\x66\x0f\x2e\xc8\x77\x00"); /* mulsd; ucomisd xmm1, xmm0 */
		assert_int_equal(m.w.walked, 2);
		assert_flags(0, 0);
	}
}

/* ---- going on ---- */

struct told {
	unsigned count;
	uint64_t ip[8];
	uint64_t addr[8];
	uint32_t lines[8]; /* that had been read when it was told */
};

static void note_load(void *arg, uint64_t ip, uint64_t addr)
{
	struct told *t = arg;

	assert_true(t->count < 8);
	t->ip[t->count] = ip;
	t->addr[t->count] = addr;
	t->lines[t->count++] = m.w.nlines;
}

static void assert_told(const struct told *t, unsigned i, uint64_t ip, uint64_t addr)
{
	assert_true(i < t->count);
	assert_int_equal(t->ip[i], ip);
	assert_int_equal(t->addr[i], addr);
}

/* Loads behind the first part are told, before their lines are read, with their instructions. */
static void test_go_on(void **state)
{
	struct told t = {0};

	(void)state;
	/* mov rax, [rsi]; add rax, [rsi+64]; nop; movups xmm0, [rsi+128]; fld qword [rsi+200]; pop
	 * rdx */
	RUN(1, "\x48\x8b\x06\x48\x03\x46\x40\x90\x0f\x10\x86\x80\0\0\0"
	       "\xdd\x86\xc8\0\0\0\x5a");
	assert_int_equal(m.w.stop, WALK_LENGTH);
	walk_go_on(&m.w, 5, note_load, &t);
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.walked, 6);
	assert_int_equal(t.count, 4);
	assert_told(&t, 0, CODE + 3, DATA + 64);
	assert_int_equal(t.lines[0], 2);
	assert_told(&t, 1, CODE + 8, DATA + 128);
	assert_told(&t, 2, CODE + 15, DATA + 200);
	assert_told(&t, 3, CODE + 21, STACK + 2048);
	/* The first part tells none, nor does one without anyone to tell. */
	walk_go_on(&m.w, 1, NULL, NULL);
	assert_int_equal(t.count, 4);
	assert_int_equal(m.w.walked, 7);
}

/* Lines that are stored to are read for it, those of the first part when it goes on. */
static void test_go_on_stored(void **state)
{
	struct told t = {0};

	(void)state;
	/* mov [rsi], rax; mov [rsi+64], rax; mov rdx, [rsi+64]; mov rdx, [rsi+120]; mov rdx,
	 * [rsi+60] */
	RUN(1, "\x48\x89\x06\x48\x89\x46\x40\x48\x8b\x56\x40\x48\x8b\x56\x78"
	       "\x48\x8b\x56\x3c");
	assert_false(has_line(DATA));
	walk_go_on(&m.w, 1, NULL, NULL);
	assert_true(has_line(DATA) && has_line(DATA + 64));
	assert_int_equal(m.reads, 3);
	walk_go_on(&m.w, 3, note_load, &t);
	assert_int_equal(m.reads, 3);
	assert_int_equal(m.w.walked, 5);
	assert_int_equal(t.count, 2); /* the last is of two lines */
	assert_told(&t, 0, CODE + 7, DATA + 64);
	assert_told(&t, 1, CODE + 11, DATA + 120);
	/* nop; cpuid; mov [rbx], eax: that may be anywhere */
	t.count = 0;
	RUN(1, "\x90\x0f\xa2\x89\x03\x48\x8b\x16");
	walk_go_on(&m.w, 3, note_load, &t);
	assert_int_equal(m.w.walked, 4);
	assert_int_equal(t.count, 0);
}

/* A store of more than a page is not read, and loads of it are not told. */
static void test_go_on_large(void **state)
{
	static const struct {
		uint64_t size;
		unsigned told;
	} cases[] = {{4096 - 1024, 2}, {4096, 2}, {4097, 1}};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct told t = {0};

		m.start.gpr[CX] = cases[i].size;
		m.start.gpr[DI] = DATA + 1024;
		/* nop; rep stosb; mov rdx, [rsi]; mov rdx, [rsi+1024] */
		RUN(1, "\x90\xf3\xaa\x48\x8b\x16\x48\x8b\x96\0\4\0\0");
		walk_go_on(&m.w, 3, note_load, &t);
		assert_int_equal(m.w.walked, 4);
		assert_int_equal(t.count, cases[i].told);
		assert_told(&t, 0, CODE + 3, DATA);
	}
}

/* It goes on where there is no room for another line, but not where the walk has ended. */
static void test_go_on_far(void **state)
{
	struct told t = {0};

	(void)state;
	RUN(1, "\x90\x48\x8b\x06\x48\x8b\x46\x40"); /* nop; mov rax, [rsi]; mov rax, [rsi+64] */
	for (; m.w.nlines < WALK_LINES_MAX; m.w.nlines++)
		m.w.line_addr[m.w.nlines] = CODE;
	walk_go_on(&m.w, 2, note_load, &t);
	assert_int_equal(m.w.stop, WALK_LENGTH);
	assert_int_equal(m.w.walked, 3);
	assert_told(&t, 1, CODE + 4, DATA + 64);
	RUN(4, "\x90\x0f\x05");
	walk_go_on(&m.w, 8, note_load, &t);
	assert_int_equal(m.w.stop, WALK_SYSCALL);
	assert_int_equal(m.w.walked, 1);
	assert_int_equal(t.count, 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		T(test_arithmetic),   T(test_arithmetic_otherwise), T(test_go_on),
		T(test_go_on_stored), T(test_go_on_large),	    T(test_go_on_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
