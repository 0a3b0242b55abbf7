/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of runs become the tuples of a plugin's rules: field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interpret/plugins_internal.h"

#define AX VT_REG_AX
#define BX VT_REG_BX

/* ---- code ---- */

enum { LOAD, MOVABS, ADDSD, ADDPS, JUMP, INDIRECT, DIVIDE, COMPARE, UNKNOWN, WRITES_BX, NCODES };

static const struct {
	const char *bytes;
	size_t size;
} codes[NCODES] = {
	[LOAD] = {"\x48\x8b\x07", 3},				     /* mov (%rdi),%rax */
	[MOVABS] = {"\x48\xb8\x11\x22\x33\x44\x55\x66\x77\x88", 10}, /* movabs $...,%rax */
	[ADDSD] = {"\xf2\x0f\x58\xc1", 4},			     /* addsd %xmm1,%xmm0 */
	[ADDPS] = {"\x0f\x58\xc1", 3},				     /* addps %xmm1,%xmm0 */
	[JUMP] = {"\xeb\x00", 2},				     /* jmp */
	[INDIRECT] = {"\xff\xe0", 2},				     /* jmp *%rax */
	[DIVIDE] = {"\x48\xf7\xfb", 3},				     /* idiv %rbx */
	[COMPARE] = {"\x48\x39\xd8", 3},			     /* cmp %rbx,%rax */
	[UNKNOWN] = {"", 0},
	[WRITES_BX] = {"\x48\x89\xc3", 3}, /* mov %rax,%rbx */
};

/* Code i is at 16 i. */
static unsigned asked;

static size_t code_at(void *arg, int64_t pid, uint64_t ip, uint8_t *bytes, size_t size)
{
	size_t i = ip / 16 % NCODES;

	(void)pid;
	assert_ptr_equal(arg, codes);
	assert_true(size >= codes[i].size);
	asked++;
	memcpy(bytes, codes[i].bytes, codes[i].size);
	return codes[i].size;
}

static struct vt_capture of(uint32_t insn, unsigned code, unsigned what, unsigned reg,
			    unsigned size, uint64_t value)
{
	return (struct vt_capture){.ip = 16 * (uint64_t)code,
				   .insn = insn,
				   .what = (uint8_t)what,
				   .reg = (uint8_t)reg,
				   .size = (uint16_t)size,
				   .value = value,
				   .known = true};
}

/* An instruction of which nothing else is captured. */
static struct vt_capture bare(uint32_t insn, unsigned code)
{
	return of(insn, code, VT_WHAT_UNKNOWN, 0, 0, 0);
}

static struct vt_capture unknown(struct vt_capture c)
{
	c.known = false;
	return c;
}

/* ---- tuples ---- */

static struct vtrace_rule rules[3];
static const struct vtrace_plugin plugin = {.rules = rules, .nrules = 3};
static struct vti_plugin_tuples tuples;

static void rule(unsigned i, uint32_t classes, uint32_t except, uint32_t what, uint32_t reg)
{
	if (i == 0)
		memset(rules, 0, sizeof(rules));
	rules[i] = (struct vtrace_rule){classes, except, what, reg};
}

static void make(const struct vt_run *run)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(
		vti_plugin_tuples_make(&tuples, &plugin, run, code_at, (void *)codes, &err), 0);
}

/* "insn:what.reg=value", "?" where that is not known. */
static const char *show(void)
{
	static char text[1000];
	size_t i, n = 0;

	text[0] = 0;
	for (i = 0; i < tuples.count; i++) {
		const struct vtrace_tuple *t = &tuples.list[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:%u.%u=%llx%s ", t->insn,
				      t->what, t->reg, (unsigned long long)t->value,
				      t->known ? "" : "?");
	}
	return text;
}

static const char *make_of(const struct vt_capture *c, size_t n)
{
	const struct vt_run run = {.pid = 7, .captures = c, .ncaptures = n};

	make(&run);
	return show();
}

#define MAKE(c) make_of(c, sizeof(c) / sizeof((c)[0]))

static int setup(void **state)
{
	(void)state;
	memset(&tuples, 0xff, sizeof(tuples));
	vti_plugin_tuples_init(&tuples);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vti_plugin_tuples_fini(&tuples);
	return 0;
}

static void test_wants(void **state)
{
	static const struct {
		unsigned what;
		uint32_t captures;
	} rows[] = {
		{VTRACE_INSN, 0},
		{VTRACE_OPERAND, 1u << VT_WHAT_OPERAND},
		{VTRACE_RESULT, 1u << VT_WHAT_RESULT},
		{VTRACE_REGISTER, 1u << VT_WHAT_OPERAND | 1u << VT_WHAT_RESULT},
		{VTRACE_LOAD_ADDRESS, 1u << VT_WHAT_LOAD_ADDRESS},
		{VTRACE_STORE_ADDRESS, 1u << VT_WHAT_STORE_ADDRESS},
		{VTRACE_LOAD_VALUE, 1u << VT_WHAT_LOAD},
		{VTRACE_STORE_VALUE, 1u << VT_WHAT_STORE},
		{VTRACE_LATENCY, 0},
		{VTRACE_TARGET, 1u << VT_WHAT_TARGET},
		{VTRACE_ARGUMENT, 1u << VT_WHAT_ARG},
		{VTRACE_RETURN_ADDRESS, 0},
	};
	size_t i;

	(void)state;
	assert_int_equal(sizeof(rows) / sizeof(rows[0]), VTRACE_NWHATS);
	for (i = 0; i < VTRACE_NWHATS; i++)
		assert_int_equal(vti_plugin_wants(VTRACE_BIT(rows[i].what)),
				 1u << VT_WHAT_UNKNOWN | rows[i].captures);
	assert_int_equal(vti_plugin_wants(VTRACE_BIT(VTRACE_TARGET) | VTRACE_BIT(VTRACE_OPERAND)),
			 1u << VT_WHAT_UNKNOWN | 1u << VT_WHAT_TARGET | 1u << VT_WHAT_OPERAND);
}

/* What an instruction is: of each the class and its bytes. */
static void test_instructions(void **state)
{
	static const struct {
		unsigned code;
		uint32_t classes;
		uint64_t bytes;
	} rows[] = {
		{LOAD, VTRACE_LOAD | VTRACE_MOVE, 0x078b48},
		{MOVABS, VTRACE_MOVE, 0x665544332211b848},
		{ADDSD, VTRACE_FLOAT | VTRACE_VECTOR, 0xc1580ff2},
		{JUMP, VTRACE_BRANCH | VTRACE_JUMP, 0x00eb},
		{INDIRECT, VTRACE_BRANCH | VTRACE_JUMP | VTRACE_INDIRECT, 0xe0ff},
		{DIVIDE, VTRACE_DIVIDE, 0xfbf748},
		{COMPARE, VTRACE_COMPARE, 0xd83948},
		{UNKNOWN, 0, 0},
	};
	size_t i;

	(void)state;
	rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_capture c = bare(3, rows[i].code);
		const struct vtrace_tuple *t;

		make_of(&c, 1);
		assert_int_equal(tuples.count, 1);
		t = tuples.list;
		assert_int_equal(t->pc, 16 * rows[i].code);
		assert_int_equal(t->insn, 3);
		assert_int_equal(t->classes, VTRACE_ANY | rows[i].classes);
		assert_int_equal(t->what, VTRACE_INSN);
		assert_int_equal(t->value, rows[i].bytes);
		assert_int_equal(t->size, codes[rows[i].code].size);
		assert_int_equal(t->element, t->size);
		assert_int_equal(t->known, rows[i].code != UNKNOWN);
		assert_int_equal(t->format, VTRACE_HEX);
		assert_int_equal(t->lane, 0);
	}
}

/* A captured value keeps what it is; what sort of number it is follows from the instruction. */
static void test_captures(void **state)
{
	static const struct {
		unsigned code, what, reg, size, as, format, element;
	} rows[] = {
		{LOAD, VT_WHAT_LOAD_ADDRESS, 0, 8, VTRACE_LOAD_ADDRESS, VTRACE_ADDRESS, 8},
		{LOAD, VT_WHAT_STORE_ADDRESS, 0, 8, VTRACE_STORE_ADDRESS, VTRACE_ADDRESS, 8},
		{LOAD, VT_WHAT_TARGET, 0, 8, VTRACE_TARGET, VTRACE_ADDRESS, 8},
		{LOAD, VT_WHAT_ARG, AX, 8, VTRACE_ARGUMENT, VTRACE_HEX, 8},
		{LOAD, VT_WHAT_ARG, VT_REG_VECTOR, 8, VTRACE_ARGUMENT, VTRACE_IEEE, 8},
		{LOAD, VT_WHAT_LOAD, 0, 8, VTRACE_LOAD_VALUE, VTRACE_HEX, 8},
		{LOAD, VT_WHAT_STORE, 0, 4, VTRACE_STORE_VALUE, VTRACE_HEX, 4},
		{ADDSD, VT_WHAT_RESULT, VT_REG_VECTOR, 8, VTRACE_RESULT, VTRACE_IEEE, 8},
		{ADDSD, VT_WHAT_OPERAND, VT_REG_VECTOR + 1, 8, VTRACE_OPERAND, VTRACE_IEEE, 8},
		{ADDPS, VT_WHAT_RESULT, VT_REG_VECTOR, 16, VTRACE_RESULT, VTRACE_IEEE, 4},
		{DIVIDE, VT_WHAT_RESULT, AX, 8, VTRACE_RESULT, VTRACE_SIGNED, 8},
		{UNKNOWN, VT_WHAT_RESULT, VT_REG_VECTOR, 16, VTRACE_RESULT, VTRACE_HEX, 8},
	};
	size_t i;

	(void)state;
	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		size_t k = i / 2;
		struct vt_capture c =
			of(2, rows[k].code, rows[k].what, rows[k].reg, rows[k].size, 0x1234);
		const struct vtrace_tuple *t;

		c.lane = 3;
		c.known = i % 2;
		rule(0, VTRACE_ANY, 0, VTRACE_BIT(rows[k].as), 0);
		make_of(&c, 1);
		if (tuples.count != 1)
			fail_msg("row %zu", k);
		t = tuples.list;
		assert_int_equal(t->what, rows[k].as);
		assert_int_equal(t->insn, 2);
		assert_int_equal(t->value, i % 2 ? 0x1234 : 0);
		assert_int_equal(t->known, i % 2);
		assert_int_equal(t->reg, rows[k].reg);
		assert_int_equal(t->size, rows[k].size);
		assert_int_equal(t->lane, 3);
		if (t->format != rows[k].format || t->element != rows[k].element)
			fail_msg("row %zu: format %u, elements of %u", k, t->format, t->element);
		/* What is not asked for is left out. */
		rule(0, VTRACE_ANY, 0, (1u << VTRACE_NWHATS) - 1 - VTRACE_BIT(rows[k].as), 0);
		make_of(&c, 1);
		for (t = tuples.list; t < tuples.list + tuples.count; t++)
			assert_true(t->what == VTRACE_INSN || t->what == VTRACE_REGISTER);
	}
}

/* All rules that fit count; classes are any of, exceptions none of. */
static void test_rules(void **state)
{
	const struct vt_capture c[] = {of(0, LOAD, VT_WHAT_LOAD, 0, 8, 1),
				       of(0, LOAD, VT_WHAT_RESULT, AX, 8, 2),
				       of(1, ADDSD, VT_WHAT_RESULT, VT_REG_VECTOR, 8, 3),
				       of(2, DIVIDE, VT_WHAT_RESULT, AX, 8, 4)};

	(void)state;
	rule(0, VTRACE_LOAD | VTRACE_FLOAT, 0, VTRACE_BIT(VTRACE_RESULT), 0);
	assert_string_equal(MAKE(c), "0:2.0=2 1:2.32=3 ");
	rule(1, VTRACE_DIVIDE, 0, VTRACE_BIT(VTRACE_RESULT), 0);
	rule(2, VTRACE_LOAD, 0, VTRACE_BIT(VTRACE_LOAD_VALUE), 0);
	assert_string_equal(MAKE(c), "0:6.0=1 0:2.0=2 1:2.32=3 2:2.0=4 ");
	rule(0, VTRACE_ANY, VTRACE_MOVE | VTRACE_DIVIDE, VTRACE_BIT(VTRACE_RESULT), 0);
	assert_string_equal(MAKE(c), "1:2.32=3 ");
	rule(0, VTRACE_STORE, 0, VTRACE_BIT(VTRACE_RESULT), 0);
	assert_string_equal(MAKE(c), "");
}

/* ---- the beginning, and branches ---- */

static void test_beginning(void **state)
{
	const struct vt_capture c[] = {bare(0, LOAD), bare(1, LOAD)};
	struct vt_run run = {.captures = c,
			     .ncaptures = 2,
			     .begins = true,
			     .caller = 0x5555,
			     .has_latency = true,
			     .latency = 30};
	const struct vtrace_tuple *t;

	(void)state;
	rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_LATENCY) | VTRACE_BIT(VTRACE_RETURN_ADDRESS), 0);
	make(&run);
	assert_string_equal(show(), "0:8.0=1e 0:11.0=5555 ");
	t = tuples.list;
	assert_true(t[0].size == 8 && t[0].format == VTRACE_UNSIGNED && t[0].element == 8);
	assert_true(t[1].size == 8 && t[1].format == VTRACE_ADDRESS && t[1].element == 8);
	run.caller = 0;
	run.has_latency = false;
	make(&run);
	assert_string_equal(show(), "0:11.0=0? ");
	run.caller = 0x5555;
	run.has_latency = true;
	run.begins = false;
	make(&run);
	assert_string_equal(show(), "");
	run.begins = true;
	rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_LATENCY), 0);
	make(&run);
	assert_string_equal(show(), "0:8.0=1e ");
	rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_RETURN_ADDRESS), 0);
	make(&run);
	assert_string_equal(show(), "0:11.0=5555 ");
}

/* Where a branch goes is captured, or told by what follows. */
static void test_targets(void **state)
{
	const struct vt_capture c[] = {
		bare(0, LOAD),	   bare(1, JUMP),
		bare(2, INDIRECT), of(2, INDIRECT, VT_WHAT_TARGET, 0, 8, 0x77),
		bare(3, COMPARE),  bare(4, JUMP)};
	const struct vtrace_tuple *t;

	(void)state;
	rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_TARGET), 0);
	assert_string_equal(MAKE(c), "1:9.0=50 2:9.0=77 ");
	t = tuples.list;
	assert_true(t->size == 8 && t->format == VTRACE_ADDRESS && t->element == 8);
	rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0);
	MAKE(c);
	assert_int_equal(tuples.count, 5);
}

/* ---- registers ---- */

#define REGISTER(n) rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_REGISTER), n)

static void test_registers(void **state)
{
	const struct vt_capture c[] = {
		bare(0, COMPARE),
		/* Those that it reads hold before it what is captured, of all 8 bytes, if known. */
		of(1, COMPARE, VT_WHAT_OPERAND, BX, 8, 5),
		of(1, COMPARE, VT_WHAT_OPERAND, AX, 8, 6),
		of(2, COMPARE, VT_WHAT_OPERAND, BX, 4, 7),
		unknown(of(3, COMPARE, VT_WHAT_OPERAND, BX, 8, 8)),
		/* Results: of 4 and 8 bytes, and less. */
		of(4, WRITES_BX, VT_WHAT_RESULT, BX, 8, 9),
		of(5, WRITES_BX, VT_WHAT_RESULT, BX, 4, 10),
		of(6, WRITES_BX, VT_WHAT_RESULT, BX, 2, 11),
		of(7, WRITES_BX, VT_WHAT_RESULT, BX, 8, 12), bare(8, WRITES_BX),
		of(9, WRITES_BX, VT_WHAT_RESULT, BX, 8, 13),
		unknown(of(10, WRITES_BX, VT_WHAT_RESULT, BX, 8, 14)),
		of(11, WRITES_BX, VT_WHAT_RESULT, BX, 8, 15), bare(12, UNKNOWN), bare(13, COMPARE),
		of(14, COMPARE, VT_WHAT_RESULT, BX, 3, 16), bare(15, COMPARE)};

	(void)state;
	REGISTER(BX);
	assert_string_equal(MAKE(c),
			    "0:3.1=0? 1:3.1=5 2:3.1=5 3:3.1=5 4:3.1=5 5:3.1=9 6:3.1=a 7:3.1=0? "
			    "8:3.1=c 9:3.1=0? 10:3.1=d 11:3.1=0? 12:3.1=f 13:3.1=0? 14:3.1=0? "
			    "15:3.1=0? ");
	assert_true(tuples.list[1].size == 8 && tuples.list[1].element == 8);
	REGISTER(AX);
	make_of(c, 4);
	assert_string_equal(show(), "0:3.0=0? 1:3.0=6 2:3.0=6 ");
	/* Rules that do not fit; two that do. */
	rule(0, VTRACE_COMPARE, 0, VTRACE_BIT(VTRACE_REGISTER), AX);
	rule(1, VTRACE_LOAD, 0, VTRACE_BIT(VTRACE_REGISTER), BX);
	rule(2, VTRACE_ANY, VTRACE_COMPARE, VTRACE_BIT(VTRACE_REGISTER), BX);
	make_of(c, 3);
	assert_string_equal(show(), "0:3.0=0? 1:3.0=6 ");
	rule(1, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), BX);
	rule(2, VTRACE_COMPARE | VTRACE_LOAD, VTRACE_LOAD, VTRACE_BIT(VTRACE_REGISTER), BX);
	make_of(c, 3);
	assert_string_equal(show(), "0:0.0=d83948 0:3.0=0? 0:3.1=0? 1:0.0=d83948 1:3.0=6 1:3.1=5 ");
}

/* The registers that a run begins with: general ones of which all is known. */
static void test_initial(void **state)
{
	const struct vt_capture c[] = {bare(0, COMPARE)};
	struct vt_word regs[VT_RUN_REGS];
	struct vt_run run = {.captures = c, .ncaptures = 1, .regs = regs};
	uint32_t r;

	(void)state;
	for (r = 0; r < VT_RUN_REGS; r++) {
		bool general = r <= VTRACE_REG_SP || r >= VTRACE_REG_R8;
		char want[32];

		for (uint32_t k = 0; k < VT_RUN_REGS; k++)
			regs[k] = vt_word_of(0x100 + k);
		snprintf(want, sizeof(want), "0:3.%u=%x%s ", r, general ? 0x100 + r : 0,
			 general ? "" : "?");
		REGISTER(r);
		make(&run);
		assert_string_equal(show(), want);
		regs[r].known = UINT64_MAX >> 1;
		snprintf(want, sizeof(want), "0:3.%u=0? ", r);
		make(&run);
		assert_string_equal(show(), want);
	}
	run.regs = NULL;
	make(&run);
	assert_string_equal(show(), "0:3.23=0? ");
}

/* ---- what is remembered ---- */

#define MOST 65536

/* Code is asked for once, of each process, until there is too much of it. */
static void test_remembered(void **state)
{
	struct vt_capture *c = calloc(MOST, sizeof(*c));
	struct vt_run run = {.pid = 7, .captures = c, .ncaptures = 2};
	uint32_t i;

	(void)state;
	assert_non_null(c);
	rule(0, VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0);
	for (i = 0; i < MOST; i++)
		c[i] = bare(i, i + NCODES);
	asked = 0;
	make(&run);
	make(&run);
	assert_int_equal(asked, 2);
	run.pid = 8;
	make(&run);
	assert_int_equal(asked, 4);
	assert_int_equal(tuples.insns.count, 4);
	run.pid = 7;
	run.ncaptures = MOST - 2;
	make(&run);
	assert_int_equal(asked, MOST);
	assert_int_equal(tuples.insns.count, MOST);
	make(&run);
	assert_int_equal(asked, 2 * MOST - 2);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_wants, setup, teardown),
		cmocka_unit_test_setup_teardown(test_instructions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_captures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beginning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_targets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_registers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_initial, setup, teardown),
		cmocka_unit_test_setup_teardown(test_remembered, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
