/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules of call frame information and their expressions, each by an example worked out by hand from
 * DWARF 5, 2.5 and 6.4.2, in procedures that the assembler makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "image/elf.h"
#include "image/unwind.h"
#include "tests/unit/common/toolbox.h"

/* What register n of linux's asm/perf_regs.h holds, and what lies at an address. */
#define REG(n)	       (UINT64_C(0x1000000) * ((n) + 1))
#define AT(addr, size) ((addr) ^ (size))

#define RBX 1
#define RBP 6
#define RSP 7

#define TEXT 0x401000
#define BIAS 0x10000

static struct vt_error err;

struct known {
	uint64_t lacks; /* bit n: register n is not known */
	bool no_memory;
};

static bool get_reg(void *arg, unsigned reg, uint64_t *value)
{
	const struct known *k = arg;

	assert_true(reg < 24);
	*value = REG(reg);
	return !(k->lacks >> reg & 1);
}

static bool load(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	const struct known *k = arg;

	*value = AT(address, size);
	return !k->no_memory;
}

static bool find(struct vt_unwind *u, uint64_t vaddr, struct known k, struct vt_return *r)
{
	const struct vt_unwind_state s = {&k, get_reg, load};

	return vt_unwind_find(u, vaddr, BIAS, &s, r);
}

struct program {
	char *dir;
	struct vt_elf *elf;
	struct vt_unwind *unwind;
};

/* An executable whose text begins at TEXT, of assembler's source. */
static struct program make(const char *source)
{
	struct program p = {.dir = toolbox_dir()};

	toolbox_write(p.dir, "p.s", source);
	free(toolbox_run(p.dir, "gcc -nostdlib -static -no-pie -Wl,--build-id=none "
				"-Wl,-e,0x401000 -Wl,-Ttext=0x401000 "
				"-Wl,--no-eh-frame-hdr,--section-start=.eh_frame=0x3fc000 "
				"-o p p.s"));
	p.elf = vt_elf_open(toolbox_path(p.dir, "p"), &err);
	assert_non_null(p.elf);
	p.unwind = vt_unwind_new(p.elf, &err);
	assert_non_null(p.unwind);
	return p;
}

static void end(struct program *p)
{
	vt_unwind_free(p->unwind);
	vt_elf_close(p->elf);
	toolbox_remove(p->dir);
}

static void check_slot(struct program *p, uint64_t at, uint64_t entry, uint64_t slot)
{
	struct vt_return r;

	assert_true(find(p->unwind, at, (struct known){0}, &r));
	assert_int_equal(r.slot, slot);
	assert_int_equal(r.ret, AT(slot, 8));
	assert_int_equal(r.entry, entry);
}

/* A frame with a frame pointer and an early return; rows that begin 1, 100, 300 and 70000 bytes
 * after the one before. */
static const char frames[] = ".cfi_startproc\n"
			     "push %rbp\n"
			     ".cfi_def_cfa_offset 16\n"
			     ".cfi_offset %rbp, -16\n"
			     "mov %rsp, %rbp\n"
			     ".cfi_def_cfa_register %rbp\n"
			     "nop\n"
			     ".cfi_remember_state\n"
			     "leave\n"
			     ".cfi_def_cfa %rsp, 8\n"
			     "ret\n"
			     ".cfi_restore_state\n"
			     "leave\n"
			     ".cfi_def_cfa %rsp, 8\n"
			     "ret\n"
			     ".cfi_endproc\n"
			     ".cfi_startproc\n"
			     ".skip 100, 0x90\n"
			     ".cfi_def_cfa_offset 24\n"
			     ".skip 300, 0x90\n"
			     ".cfi_def_cfa_offset 32\n"
			     ".skip 70000, 0x90\n"
			     ".cfi_def_cfa_offset 40\n"
			     ".skip 5, 0x90\n"
			     ".cfi_endproc\n";

static void check_frames(const char *sections)
{
	static const struct {
		uint64_t from, to, base;
	} first[] = {
		{0, 1, REG(RSP)}, {1, 4, REG(RSP) + 8}, {4, 6, REG(RBP) + 8},
		{6, 7, REG(RSP)}, {7, 8, REG(RBP) + 8}, {8, 9, REG(RSP)},
	};
	char source[2048];
	struct program p;
	struct vt_return r;
	uint64_t second = TEXT + 9, at;
	size_t i;

	snprintf(source, sizeof(source), "%s.text\n%s", sections, frames);
	p = make(source);
	/* Forwards and backwards, so that what is kept of rows is used in both directions. */
	for (i = 0; i < 6; i++)
		for (at = first[i].from; at < first[i].to; at++)
			check_slot(&p, TEXT + at, TEXT, first[i].base);
	for (i = 6; i-- > 0;)
		for (at = first[i].to; at-- > first[i].from;)
			check_slot(&p, TEXT + at, TEXT, first[i].base);
	check_slot(&p, second, second, REG(RSP));
	check_slot(&p, second + 99, second, REG(RSP));
	check_slot(&p, second + 100, second, REG(RSP) + 16);
	check_slot(&p, second + 399, second, REG(RSP) + 16);
	check_slot(&p, second + 400, second, REG(RSP) + 24);
	check_slot(&p, second + 70399, second, REG(RSP) + 24);
	check_slot(&p, second + 70400, second, REG(RSP) + 32);
	check_slot(&p, second + 70404, second, REG(RSP) + 32);
	assert_false(find(p.unwind, second + 70405, (struct known){0}, &r));
	assert_false(find(p.unwind, TEXT - 1, (struct known){0}, &r));
	/* What the rule needs is not known. */
	assert_false(find(p.unwind, TEXT, (struct known){.lacks = 1 << RSP}, &r));
	assert_true(find(p.unwind, TEXT + 4, (struct known){.lacks = 1 << RSP}, &r));
	assert_false(find(p.unwind, TEXT + 4, (struct known){.lacks = 1 << RBP}, &r));
	assert_false(find(p.unwind, TEXT, (struct known){.no_memory = true}, &r));
	end(&p);
}

static void test_frames(void **state)
{
	(void)state;
	check_frames("");
	check_frames(".cfi_sections .debug_frame\n");
}

/* An expression in bytes of assembler's notation, and the number that it leaves on top. */
struct expression {
	const char *bytes;
	unsigned size;
	bool good;
	uint64_t value;
};

/* DWARF's numbers of the general registers, in the order of linux's asm/perf_regs.h. */
static const unsigned perf_reg[16] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};

static const struct expression expressions[] = {
	/* Constants: DW_OP_lit0, lit31, const1u to const8s, constu, consts. */
	{"0x30", 1, true, 0},
	{"0x4f", 1, true, 31},
	{"0x08,0xff", 2, true, 0xff},
	{"0x09,0xff", 2, true, UINT64_MAX},
	{"0x0a,0xfe,0xff", 3, true, 0xfffe},
	{"0x0b,0xfe,0xff", 3, true, UINT64_MAX - 1},
	{"0x0c,0xfd,0xff,0xff,0xff", 5, true, 0xfffffffd},
	{"0x0d,0xfd,0xff,0xff,0xff", 5, true, UINT64_MAX - 2},
	{"0x0e,1,2,3,4,5,6,7,8", 9, true, 0x0807060504030201},
	{"0x0f,1,2,3,4,5,6,7,0x88", 9, true, 0x8807060504030201},
	{"0x10,0xe5,0x8e,0x26", 4, true, 624485},
	{"0x11,0xc0,0xbb,0x78", 4, true, (uint64_t)INT64_C(-123456)},
	{"0x11,0x3f", 2, true, 63},
	{"0x11,0x40", 2, true, (uint64_t)INT64_C(-64)},
	{"0x11,0xff,0x00", 3, true, 127},
	{"0x11,0x80,0x7f", 3, true, (uint64_t)INT64_C(-128)},
	{"0x11,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x7f", 11, true, UINT64_C(1) << 63},
	{"0x11,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0x00", 11, true, INT64_MAX},
	/* Longer than 64 bits, with nothing but the sign in what is over, and with more. */
	{"0x11,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x00", 12, true, 0},
	{"0x11,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0x7f", 12, true, UINT64_MAX},
	{"0x11,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x80,0x01", 12, false, 0},
	{"0x11,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0x00", 12, false, 0},
	/* The stack: dup, over, pick, drop, swap, rot. */
	{"0x37,0x12,0x1e", 3, true, 49},
	{"0x37,0x33,0x14", 3, true, 7},
	{"0x37,0x33,0x14,0x1c", 4, true, (uint64_t)INT64_C(3 - 7)},
	{"0x31,0x32,0x33,0x15,2", 5, true, 1},
	{"0x31,0x32,0x33,0x15,0", 5, true, 3},
	{"0x31,0x32,0x33,0x15,3", 5, false, 0},
	{"0x37,0x33,0x13", 3, true, 7},
	{"0x37,0x33,0x16", 3, true, 7},
	{"0x37,0x33,0x16,0x1c", 4, true, (uint64_t)INT64_C(3 - 7)},
	/* rot: 1 2 3 becomes 3 1 2. */
	{"0x31,0x32,0x33,0x17", 4, true, 2},
	{"0x31,0x32,0x33,0x17,0x13", 5, true, 1},
	{"0x31,0x32,0x33,0x17,0x13,0x13", 6, true, 3},
	/* deref and deref_size. */
	{"0x40,0x06", 2, true, AT(16, 8)},
	{"0x40,0x94,1", 3, true, AT(16, 1)},
	{"0x40,0x94,2", 3, true, AT(16, 2)},
	{"0x40,0x94,4", 3, true, AT(16, 4)},
	{"0x40,0x94,8", 3, true, AT(16, 8)},
	{"0x40,0x94,3", 3, false, 0},
	{"0x40,0x94,0", 3, false, 0},
	/* plus_uconst, neg, not, nop. */
	{"0x35,0x23,0x80,1", 4, true, 133},
	{"0x35,0x1f", 2, true, (uint64_t)INT64_C(-5)},
	{"0x35,0x20", 2, true, (uint64_t)INT64_C(-6)},
	{"0x35,0x96", 2, true, 5},
	/* and, or, xor, plus, minus, mul, shl, shr. */
	{"0x3c,0x3a,0x1a", 3, true, 8},
	{"0x3c,0x3a,0x21", 3, true, 14},
	{"0x3c,0x3a,0x27", 3, true, 6},
	{"0x3c,0x3a,0x22", 3, true, 22},
	{"0x3c,0x3a,0x1c", 3, true, 2},
	{"0x3c,0x3a,0x1e", 3, true, 120},
	{"0x3c,0x34,0x24", 3, true, 192},
	{"0x3c,0x32,0x25", 3, true, 3},
	{"0x31,0x08,63,0x24", 4, true, UINT64_C(1) << 63},
	{"0x31,0x08,64,0x24", 4, true, 0},
	{"0x09,0xff,0x08,63,0x25", 5, true, 1},
	{"0x09,0xff,0x08,64,0x25", 5, true, 0},
	/* eq ge gt le lt ne, signed: -1 and 1, 1 and 1, 2 and 1. */
	{"0x09,0xff,0x31,0x29", 4, true, 0},
	{"0x31,0x31,0x29", 3, true, 1},
	{"0x09,0xff,0x31,0x2a", 4, true, 0},
	{"0x31,0x31,0x2a", 3, true, 1},
	{"0x32,0x31,0x2a", 3, true, 1},
	{"0x09,0xff,0x31,0x2b", 4, true, 0},
	{"0x31,0x31,0x2b", 3, true, 0},
	{"0x32,0x31,0x2b", 3, true, 1},
	{"0x09,0xff,0x31,0x2c", 4, true, 1},
	{"0x31,0x31,0x2c", 3, true, 1},
	{"0x32,0x31,0x2c", 3, true, 0},
	{"0x09,0xff,0x31,0x2d", 4, true, 1},
	{"0x31,0x31,0x2d", 3, true, 0},
	{"0x32,0x31,0x2d", 3, true, 0},
	{"0x09,0xff,0x31,0x2e", 4, true, 1},
	{"0x31,0x31,0x2e", 3, true, 0},
	/* breg 7, +8 and -8; breg16 is the pc; bregx. */
	{"0x77,8", 2, true, REG(7) + 8},
	{"0x77,0x78", 2, true, REG(7) - 8},
	{"0x92,9,1", 3, true, REG(17) + 1},
	{"0x92,16,0,0x08,0xff,0x1a", 6, true, 0},
	{"0x92,17,0", 3, false, 0},
	{"0x8f,0", 2, false, 0},
	/* What linkers write of a PLT: rsp + 8 + ((rip & 15) >= 11) * 8; here the pc ends in 0. */
	{"0x77,8,0x80,0,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22", 11, true, REG(7) + 8},
	{"0x77,8,0x80,0,0x3f,0x1a,0x30,0x2a,0x33,0x24,0x22", 11, true, REG(7) + 16},
	/* Too few numbers, an operation that nobody knows, one cut short, an empty stack. */
	{"0x31,0x22", 2, false, 0},
	{"0x31,0x16", 2, false, 0},
	{"0x31,0x32,0x17", 3, false, 0},
	{"0x13", 1, false, 0},
	{"0x31,0x32,0xe0", 3, false, 0},
	{"0x31,0x32,0x1d", 3, false, 0},
	{"0x0a,1", 2, false, 0},
	{"0x31,0x13", 2, false, 0},
	{"0x06", 1, false, 0},
	/* 32 numbers fit, 33 do not. */
	{"0x31,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,"
	 "0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12",
	 32, true, 1},
	{"0x31,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,"
	 "0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12,0x12",
	 33, false, 0},
};

#define NEXPRESSIONS (sizeof(expressions) / sizeof(*expressions))

/* A procedure of 256 bytes for each text of escaped instructions. */
static void add_procedure(struct vt_buf *source, const char *instructions)
{
	vt_buf_printf(source,
		      ".p2align 8\n.cfi_startproc\n%s.skip 128, 0x90\n.cfi_def_cfa_offset 8\n"
		      ".skip 128, 0x90\n.cfi_endproc\n",
		      instructions);
}

/* DW_CFA_def_cfa_expression: the return address lies 8 below. */
static void test_expressions(void **state)
{
	struct vt_buf source = VT_BUF_INIT;
	char text[512];
	struct program p;
	size_t i;

	(void)state;
	vt_buf_printf(&source, ".text\n");
	for (i = 0; i < NEXPRESSIONS; i++) {
		snprintf(text, sizeof(text), ".cfi_escape 0x0f,%u,%s\n.cfi_remember_state\n",
			 expressions[i].size, expressions[i].bytes);
		vt_buf_printf(&source,
			      ".p2align 8\n.cfi_startproc\n%s.skip 256, 0x90\n"
			      ".cfi_endproc\n",
			      text);
	}
	for (i = 0; i < 16; i++)
		vt_buf_printf(&source,
			      ".p2align 8\n.cfi_startproc\n.cfi_escape 0x0f,2,0x%x,0x10\n"
			      ".skip 256, 0x90\n.cfi_endproc\n",
			      (unsigned)(0x70 + i));
	p = make(vt_buf_str(&source));
	for (i = 0; i < NEXPRESSIONS; i++) {
		const struct expression *e = &expressions[i];
		struct vt_return r;

		if (find(p.unwind, TEXT + 256 * i, (struct known){0}, &r) != e->good ||
		    (e->good && r.slot != e->value - 8))
			fail_msg("%s: slot 0x%llx", e->bytes, (unsigned long long)r.slot);
		if (e->good)
			assert_int_equal(r.ret, AT(e->value - 8, 8));
	}
	for (i = 0; i < 16; i++) {
		uint64_t at = TEXT + 256 * (NEXPRESSIONS + i);
		struct vt_return r;

		check_slot(&p, at, at, REG(perf_reg[i]) + 16 - 8);
		assert_false(find(p.unwind, at, (struct known){.lacks = 1u << perf_reg[i]}, &r));
	}
	vt_buf_free(&source);
	end(&p);
}

/* Rules of the return address (column 16) and of the canonical frame address, CFA = rsp + 8. */
static const struct rule {
	const char *instructions;
	bool good;
	uint64_t slot; /* 0: the address is in no memory */
	uint64_t ret;
} rules[] = {
	/* offset(16) 2 * -8; offset_extended, offset_extended_sf, GNU_negative_offset_extended. */
	{".cfi_escape 0x90,2\n", true, REG(RSP) + 8 - 16, AT(REG(RSP) - 8, 8)},
	{".cfi_escape 0x05,16,3\n", true, REG(RSP) + 8 - 24, AT(REG(RSP) - 16, 8)},
	{".cfi_escape 0x11,16,0x7e\n", true, REG(RSP) + 8 + 16, AT(REG(RSP) + 24, 8)},
	{".cfi_escape 0x2f,16,2\n", true, REG(RSP) + 8 + 16, AT(REG(RSP) + 24, 8)},
	/* val_offset, val_offset_sf: the address itself. */
	{".cfi_escape 0x14,16,2\n", true, 0, REG(RSP) + 8 - 16},
	{".cfi_escape 0x15,16,0x7f\n", true, 0, REG(RSP) + 8 + 8},
	/* register rbx; the pc in itself would lead nowhere. */
	{".cfi_escape 0x09,16,3\n", true, 0, REG(RBX)},
	{".cfi_escape 0x09,16,16\n", false, 0, 0},
	/* undefined, same_value. */
	{".cfi_escape 0x07,16,0,0\n", false, 0, 0},
	{".cfi_escape 0x08,16,0,0\n", false, 0, 0},
	/* expression: where it lies; val_expression: what it is, with the CFA on the stack. */
	{".cfi_escape 0x10,16,2,0x73,4\n", true, REG(RBX) + 4, AT(REG(RBX) + 4, 8)},
	{".cfi_escape 0x16,16,3,0x23,0x20,0x20\n", true, 0, ~(REG(RSP) + 8 + 32)},
	/* Of other columns, nothing of this is meant: rbp is 6. */
	{".cfi_escape 0x86,2,0x05,6,3,0x14,6,2,0x09,6,3,0x07,6,0x10,6,2,0x73,4\n", true, REG(RSP),
	 AT(REG(RSP), 8)},
	/* Changed, then as it was at the beginning: restore, restore_extended. */
	{".cfi_escape 0x90,2,0xd0\n", true, REG(RSP), AT(REG(RSP), 8)},
	{".cfi_escape 0x90,2,0x06,16\n", true, REG(RSP), AT(REG(RSP), 8)},
	{".cfi_escape 0x90,2,0x06,6,0xc6\n", true, REG(RSP) + 8 - 16, AT(REG(RSP) - 8, 8)},
	/* def_cfa rbx + 24, def_cfa_sf rbx - 2 * -8, def_cfa_register, offset, offset_sf. */
	{".cfi_escape 0x0c,3,24\n", true, REG(RBX) + 16, AT(REG(RBX) + 16, 8)},
	{".cfi_escape 0x12,3,0x7e\n", true, REG(RBX) + 8, AT(REG(RBX) + 8, 8)},
	{".cfi_escape 0x0d,3\n", true, REG(RBX), AT(REG(RBX), 8)},
	{".cfi_escape 0x0e,24\n", true, REG(RSP) + 16, AT(REG(RSP) + 16, 8)},
	{".cfi_escape 0x13,0x7d\n", true, REG(RSP) + 16, AT(REG(RSP) + 16, 8)},
	/* nop, GNU_args_size, remembered states, one in the other. */
	{".cfi_escape 0x00,0x2e,8,0x00\n", true, REG(RSP), AT(REG(RSP), 8)},
	{".cfi_escape 0x0a,0x0e,24,0x0a,0x0e,32,0x0b\n", true, REG(RSP) + 16, AT(REG(RSP) + 16, 8)},
	{".cfi_escape 0x0a,0x0e,24,0x0a,0x0e,32,0x0b,0x0b\n", true, REG(RSP), AT(REG(RSP), 8)},
	{".cfi_escape 0x0b\n", false, 0, 0},
	{".cfi_escape 0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,"
	 "0x0a\n",
	 true, REG(RSP), AT(REG(RSP), 8)},
	{".cfi_escape 0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,0x0a,"
	 "0x0a,0x0a\n",
	 false, 0, 0},
	/* A register for a rule that is an expression; an operation that nobody knows. */
	{".cfi_escape 0x0f,2,0x73,0,0x0d,7\n", false, 0, 0},
	{".cfi_escape 0x0f,2,0x73,0,0x0e,7\n", false, 0, 0},
	{".cfi_escape 0x0f,2,0x73,0,0x0c,7,16\n", true, REG(RSP) + 8, AT(REG(RSP) + 8, 8)},
	{".cfi_escape 0x3e\n", false, 0, 0},
	/* With a handler of exceptions and its table, relative and absolute; a signal's frame. */
	{".cfi_personality 0x1b, handler\n.cfi_lsda 0x1b, handler\n.cfi_def_cfa_offset 24\n", true,
	 REG(RSP) + 16, AT(REG(RSP) + 16, 8)},
	{".cfi_personality 0x04, handler\n.cfi_lsda 0x03, handler\n.cfi_def_cfa_offset 32\n", true,
	 REG(RSP) + 24, AT(REG(RSP) + 24, 8)},
	{".cfi_signal_frame\n", false, 0, 0},
};

static void test_rules(void **state)
{
	const size_t n = sizeof(rules) / sizeof(*rules);
	struct vt_buf source = VT_BUF_INIT;
	struct program p;
	size_t i;

	(void)state;
	vt_buf_printf(&source, ".text\nhandler:\n");
	for (i = 0; i < n; i++)
		add_procedure(&source, rules[i].instructions);
	p = make(vt_buf_str(&source));
	for (i = 0; i < n; i++) {
		struct vt_return r;

		/* Each is asked for twice: searched for, and kept. */
		if (find(p.unwind, TEXT + 256 * i + 5, (struct known){0}, &r) != rules[i].good)
			fail_msg("%s", rules[i].instructions);
		assert_int_equal(find(p.unwind, TEXT + 256 * i + 5, (struct known){0}, &r),
				 rules[i].good);
		if (!rules[i].good)
			continue;
		if (r.slot != rules[i].slot || r.ret != rules[i].ret)
			fail_msg("%s: slot 0x%llx, return 0x%llx", rules[i].instructions,
				 (unsigned long long)r.slot, (unsigned long long)r.ret);
		assert_int_equal(r.entry, TEXT + 256 * i);
	}
	vt_buf_free(&source);
	end(&p);
}

/* ---- how sections are written ---- */

/* A procedure with a description of its own: what stands in front, and how its addresses do. */
static const struct form {
	unsigned version;
	const char *augmentation;
	const char *data; /* of the augmentation, behind its size; NULL: there is none */
	unsigned column;  /* of the return address */
	const char *begin, *range;
	bool good;
} forms[] = {
	{1, "", NULL, 16, ".quad f%u", ".quad 16", true},
	{3, "", NULL, 16, ".quad f%u", ".quad 16", true},
	{2, "", NULL, 16, ".quad f%u", ".quad 16", false},
	{5, "", NULL, 16, ".quad f%u", ".quad 16", false},
	{1, "", NULL, 17, ".quad f%u", ".quad 16", false},
	{3, "", NULL, 15, ".quad f%u", ".quad 16", false},
	{1, "eh", NULL, 16, ".quad f%u", ".quad 16", false},
	{1, "z", "", 16, ".quad f%u", ".quad 16", true},
	/* Absolute: 8 bytes, 4 and 8 without a sign, 4 and 8 with one. */
	{1, "zR", "0x00", 16, ".quad f%u", ".quad 16", true},
	{1, "zR", "0x03", 16, ".long f%u", ".long 16", true},
	{1, "zR", "0x04", 16, ".quad f%u", ".quad 16", true},
	{1, "zR", "0x0b", 16, ".long f%u", ".long 16", true},
	{1, "zR", "0x0c", 16, ".quad f%u", ".quad 16", true},
	/* Relative to where they stand: 2, 4 and 8 bytes. */
	{1, "zR", "0x12", 16, ".short f%u - .", ".short 16", true},
	{1, "zR", "0x1a", 16, ".short f%u - .", ".short 16", true},
	{1, "zR", "0x1b", 16, ".long f%u - .", ".long 16", true},
	{1, "zR", "0x1c", 16, ".quad f%u - .", ".quad 16", true},
	/* Of another length, or relative to something else. */
	{1, "zR", "0x01", 16, ".quad f%u", ".quad 16", false},
	{1, "zR", "0x0d", 16, ".quad f%u", ".quad 16", false},
	{1, "zR", "0x20", 16, ".quad f%u", ".quad 16", false},
	{1, "zR", "0x30", 16, ".quad f%u", ".quad 16", false},
	/* A personality's pointer of 4 bytes, or of none; a language's data; a signal's frame. */
	{1, "zPR", "0x03,1,2,3,4,0x03", 16, ".long f%u", ".long 16", true},
	{1, "zPR", "0x9b,1,2,3,4,0x03", 16, ".long f%u", ".long 16", true},
	{1, "zPR", "0xff,0x03", 16, ".long f%u", ".long 16", true},
	{1, "zLR", "0x1b,0x03", 16, ".long f%u", ".long 16", true},
	{1, "zRS", "0x03", 16, ".long f%u", ".long 16", false},
	{1, "zR", "", 16, ".quad f%u", ".quad 16", false},
	/* Nothing, or less. */
	{1, "", NULL, 16, ".quad f%u", ".quad 0", false},
	{1, "", NULL, 16, ".quad f%u", ".quad -16", false},
};

#define NFORMS (sizeof(forms) / sizeof(forms[0]))

static void put_form(struct vt_buf *b, unsigned i)
{
	const struct form *f = &forms[i];

	vt_buf_printf(b,
		      "c%u: .long 1f - 0f\n0: .long 0\n.byte %u\n.asciz \"%s\"\n"
		      ".uleb128 1\n.sleb128 -8\n.byte %u\n",
		      i, f->version, f->augmentation, f->column);
	if (f->data)
		vt_buf_printf(b, ".uleb128 3f - 2f\n2: ");
	if (f->data && *f->data)
		vt_buf_printf(b, ".byte %s", f->data);
	/* The frame begins 8 bytes above rsp; below its beginning is the return address. */
	vt_buf_printf(b,
		      "\n3: .byte 0x0c, 7, 8, 0x90, 1\n.balign 8\n1:\n"
		      ".long 1f - 0f\n0: .long . - c%u\n",
		      i);
	vt_buf_printf(b, f->begin, i);
	vt_buf_printf(b, "\n%s\n%s.balign 8\n1:\n", f->range, f->data ? ".byte 0\n" : "");
}

static void test_forms(void **state)
{
	struct vt_buf source = VT_BUF_INIT;
	struct vt_return r;
	struct program p;
	unsigned i;

	(void)state;
	vt_buf_printf(&source, ".text\n");
	for (i = 0; i < NFORMS; i++)
		vt_buf_printf(&source, "f%u: .skip 16, 0x90\n", i);
	vt_buf_printf(&source, ".section .eh_frame,\"a\",@progbits\n");
	/* They need not be in the order of the code. */
	for (i = NFORMS; i-- > 0;)
		put_form(&source, i);
	p = make(vt_buf_str(&source));
	for (i = 0; i < NFORMS; i++) {
		const uint64_t at = TEXT + 16 * (uint64_t)i;

		if (find(p.unwind, at, (struct known){0}, &r) != forms[i].good)
			fail_msg("form %u", i);
		if (!forms[i].good)
			continue;
		check_slot(&p, at, at, REG(RSP));
		check_slot(&p, at + 15, at, REG(RSP));
	}
	end(&p);
	vt_buf_free(&source);
}

/* A procedure that shares bytes with another is not known at all. */
static void test_overlaps(void **state)
{
	static const struct {
		unsigned begin, size;
	} claims[] = {{0, 64}, {16, 16}, {48, 8}, {64, 16}, {90, 10}, {95, 10}, {105, 1}, {70, 0}};
	static const bool known[128] = {[64] = true, [79] = true, [105] = true};
	static const unsigned asked[] = {0,  15, 16, 31, 32, 47, 48, 55,  56,  63, 64,
					 79, 80, 89, 90, 94, 95, 99, 104, 105, 106};
	struct vt_buf source = VT_BUF_INIT;
	struct vt_return r;
	struct program p;
	size_t i;

	(void)state;
	vt_buf_printf(&source, ".text\nf: .skip 128, 0x90\n.section .eh_frame,\"a\",@progbits\n"
			       "c: .long 1f - 0f\n0: .long 0\n.byte 1\n.asciz \"\"\n"
			       ".uleb128 1\n.sleb128 -8\n.byte 16, 0x0c, 7, 8, 0x90, 1\n"
			       ".balign 8\n1:\n");
	for (i = 0; i < sizeof(claims) / sizeof(*claims); i++)
		vt_buf_printf(&source,
			      ".long 1f - 0f\n0: .long . - c\n.quad f + %u\n.quad %u\n1:\n",
			      claims[i].begin, claims[i].size);
	p = make(vt_buf_str(&source));
	for (i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		if (find(p.unwind, TEXT + asked[i], (struct known){0}, &r) != known[asked[i]])
			fail_msg("at %u", asked[i]);
	end(&p);
	vt_buf_free(&source);
}

/* A description (behind its id), what a procedure `f` of 16 bytes has behind its own, and where the
 * return address lies then above rsp, at two of its instructions; -1: nobody knows. */
#define COMMON	 "\n.uleb128 1\n.sleb128 -8\n.byte 16, 0x0c, 7, 8, 0x90, 1\n"
#define PLACE	 ".quad f, 16\n"
#define SET_F(n) ".byte 1\n.quad f + " #n "\n"

static const struct description {
	const char *common, *procedure;
	struct {
		unsigned at;
		int above;
	} asked[2];
} descriptions[] = {
	{".byte 1, 0" COMMON, PLACE, {{0, 0}, {15, 0}}},
	/* Version 4: the sizes of an address and of a selector. */
	{".byte 4, 0, 8, 0" COMMON, PLACE, {{0, 0}, {15, 0}}},
	{".byte 4, 0, 4, 0" COMMON, PLACE, {{0, -1}, {15, -1}}},
	{".byte 4, 0, 8, 1" COMMON, PLACE, {{0, -1}, {15, -1}}},
	/* The column is one byte, or as long as it says. */
	{".byte 3, 0, 1, 0x78, 0x90, 0, 0x0c, 7, 8, 0x90, 1\n", PLACE, {{0, 0}, {15, 0}}},
	{".byte 1, 0, 1, 0x78, 0x90, 0, 0x0c, 7, 8, 0x90, 1\n", PLACE, {{0, -1}, {15, -1}}},
	/* Steps of 4 bytes. */
	{".byte 1, 0, 4, 0x78, 16, 0x0c, 7, 8, 0x90, 1\n",
	 PLACE ".byte 0x42, 0x0e, 24\n",
	 {{7, 0}, {8, 16}}},
	{".byte 1, 0, 4, 0x78, 16, 0x0c, 7, 8, 0x90, 1\n",
	 PLACE ".byte 0x40, 0x0e, 24\n",
	 {{0, 16}, {15, 16}}},
	/* A description has no rows, and nothing to go back to. */
	{".byte 1, 0" COMMON ".byte 0xc3\n", PLACE, {{0, -1}, {15, -1}}},
	{".byte 1, 0" COMMON ".byte 6, 3\n", PLACE, {{0, -1}, {15, -1}}},
	{".byte 1, 0" COMMON ".byte 0x41\n", PLACE, {{0, -1}, {15, -1}}},
	{".byte 1, 0" COMMON ".byte 0x40\n", PLACE, {{0, -1}, {15, -1}}},
	/* To an address: forwards, back, to the end, behind it. */
	{".byte 1, 0" COMMON, PLACE SET_F(8) ".byte 0x0e, 24\n", {{7, 0}, {8, 16}}},
	{".byte 1, 0" COMMON, PLACE SET_F(8) SET_F(7) ".byte 0x0e, 24\n", {{7, 0}, {8, -1}}},
	{".byte 1, 0" COMMON, PLACE SET_F(8) SET_F(8) ".byte 0x0e, 24\n", {{7, 0}, {8, 16}}},
	{".byte 1, 0" COMMON, PLACE SET_F(16) ".byte 0x0e, 24\n", {{0, 0}, {15, 0}}},
	{".byte 1, 0" COMMON, PLACE SET_F(17) ".byte 0x0e, 24\n", {{0, -1}, {15, -1}}},
	{".byte 1, 0" COMMON, PLACE ".byte 0x50, 0x0e, 24\n", {{0, 0}, {15, 0}}},
	{".byte 1, 0" COMMON, PLACE ".byte 0x51, 0x0e, 24\n", {{0, -1}, {15, -1}}},
	/* The longest programs. */
	{".byte 1, 0" COMMON, PLACE ".fill 65536, 1, 0\n", {{0, 0}, {15, 0}}},
	{".byte 1, 0" COMMON, PLACE ".fill 65537, 1, 0\n", {{0, -1}, {15, -1}}},
	{".byte 1, 0" COMMON ".fill 65531, 1, 0\n", PLACE, {{0, 0}, {15, 0}}},
	{".byte 1, 0" COMMON ".fill 65532, 1, 0\n", PLACE, {{0, -1}, {15, -1}}},
	/* Data of the augmentation, which is passed over; longer than all that is there. */
	{".byte 1\n.asciz \"z\"\n.byte 1, 0x78, 16, 2, 0xc3, 0xc3, 0x0c, 7, 8, 0x90, 1\n",
	 PLACE ".byte 2, 0x3e, 0x3e, 0x0e, 24\n",
	 {{0, 16}, {15, 16}}},
	{".byte 1\n.asciz \"z\"\n.byte 1, 0x78, 16, 5, 0x0c, 7, 8, 0x90, 1\n",
	 PLACE ".byte 0, 0x0c, 7, 8, 0x90, 1\n",
	 {{0, 0}, {15, 0}}},
	{".byte 1\n.asciz \"z\"\n.byte 1, 0x78, 16, 6, 0x0c, 7, 8, 0x90, 1\n",
	 PLACE ".byte 0, 0x0c, 7, 8, 0x90, 1\n",
	 {{0, -1}, {15, -1}}},
	{".byte 1\n.asciz \"z\"\n.byte 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1\n",
	 PLACE ".byte 1\n",
	 {{0, -1}, {15, -1}}},
	/* No end of the augmentation's text; none of the rest. */
	{".byte 1, 65, 65\n", PLACE, {{0, -1}, {15, -1}}},
	{".byte 1, 0, 1, 0x78\n", PLACE, {{0, -1}, {15, -1}}},
};

static void check_description(struct program *p, size_t i, uint64_t f)
{
	const struct description *d = &descriptions[i];
	struct vt_return r;
	size_t k;

	for (k = 0; k < 2; k++) {
		if (find(p->unwind, f + d->asked[k].at, (struct known){0}, &r) !=
		    (d->asked[k].above >= 0))
			fail_msg("description %zu at %u", i, d->asked[k].at);
		if (d->asked[k].above >= 0)
			assert_int_equal(r.slot, REG(RSP) + (uint64_t)d->asked[k].above);
	}
}

static void test_descriptions(void **state)
{
	const size_t n = sizeof(descriptions) / sizeof(*descriptions);
	struct vt_buf source = VT_BUF_INIT;
	struct program p;
	size_t i;

	(void)state;
	vt_buf_printf(&source, ".text\nbegin: .skip 1024, 0x90\n"
			       ".section .debug_frame,\"\",@progbits\n");
	for (i = 0; i < n; i++)
		vt_buf_printf(&source,
			      ".set f, begin + %zu\nc%zu: .long 1f - 0f\n0: .long -1\n%s1:\n"
			      ".long 1f - 0f\n0: .long c%zu\n%s1:\n",
			      16 * i, i, descriptions[i].common, i, descriptions[i].procedure);
	p = make(vt_buf_str(&source));
	for (i = 0; i < n; i++)
		check_description(&p, i, TEXT + 16 * i);
	end(&p);
	vt_buf_free(&source);
}

/* Entries between two procedures: what is known of the second then. */
static void test_entries(void **state)
{
	static const struct {
		const char *between;
		bool second;
	} rows[] = {
		{"", true},
		{".long 4, -1\n", true},
		{".long 3\n.byte 0, 0, 0\n", false},
		{".long 0\n", false},
		{".long 0xffffffff, 4, 0, 0\n", false},
		{".long 9f - .\n", false},
		{".long 9f - . - 4, -1\n", false},
		/* Descriptions that are before the section, behind it, and a procedure. */
		{".long 20, 9000\n.quad begin + 32, 16\n", true},
		{".long 20, -9000\n.quad begin + 32, 16\n", true},
		{".long 20, . - 24\n.quad begin + 32, 16\n", true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_buf source = VT_BUF_INIT;
		struct vt_return r;
		struct program p;

		vt_buf_printf(&source,
			      ".text\nbegin: .skip 64, 0x90\n.section .debug_frame,\"\",@progbits\n"
			      ".long 1f - 0f\n0: .long -1\n.byte 1, 0" COMMON "1:\n"
			      ".long 20, 0\n.quad begin, 16\n%s"
			      ".long 20, 0\n.quad begin + 16, 16\n9:\n",
			      rows[i].between);
		p = make(vt_buf_str(&source));
		check_slot(&p, TEXT, TEXT, REG(RSP));
		if (find(p.unwind, TEXT + 16, (struct known){0}, &r) != rows[i].second)
			fail_msg("%s", rows[i].between);
		assert_false(find(p.unwind, TEXT + 32, (struct known){0}, &r));
		end(&p);
		vt_buf_free(&source);
	}
}

/* Only programs and libraries for this machine have procedures that are known. */
static void test_files(void **state)
{
	static const struct {
		unsigned type, machine;
		bool good;
	} rows[] = {{2, 62, true}, {3, 62, true}, {1, 62, false}, {4, 62, false}, {2, 3, false}};
	struct program p = make(".text\n.cfi_startproc\nnop\n.cfi_endproc\n");
	char *file = toolbox_run(p.dir, "cat p"), *count = toolbox_run(p.dir, "wc -c <p");
	const size_t size = strtoull(count, NULL, 10);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_unwind *u;
		struct vt_return r;
		struct vt_elf *e;

		file[16] = (char)rows[i].type;
		file[18] = (char)rows[i].machine;
		e = vt_elf_open_memory(file, size, "p", &err);
		assert_non_null(e);
		u = vt_unwind_new(e, &err);
		assert_non_null(u);
		assert_int_equal(find(u, TEXT, (struct known){0}, &r), rows[i].good);
		vt_unwind_free(u);
		vt_elf_close(e);
	}
	free(count);
	free(file);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),	 cmocka_unit_test(test_forms),
		cmocka_unit_test(test_overlaps), cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_rules),	 cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_entries),	 cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
