/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The caller's registers, by rules worked out by hand, in a procedure that the assembler makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/unwind.h"
#include "tests/unit/common/toolbox.h"

/* What register n of linux's asm/perf_regs.h holds, and what lies at an address. */
#define REG(n)	 (UINT64_C(0x1000000) * ((n) + 1))
#define AT(addr) ((addr) ^ 8)

#define RBX 1
#define RBP 6
#define R12 20
#define R13 21
#define R14 22
#define R15 23
#define SP  REG(VT_UNWIND_SP)

#define TEXT 0x401000
#define BIAS 0x10000

static const char source[] = ".text\n"
			     ".cfi_startproc\n"
			     "push %rbx\n" /* 1 byte */
			     ".cfi_def_cfa_offset 16\n"
			     ".cfi_offset %rbx, -16\n"
			     "push %r12\n" /* 2 bytes */
			     ".cfi_def_cfa_offset 24\n"
			     ".cfi_offset %r12, -24\n"
			     "nop\n"
			     ".cfi_undefined %r13\n"
			     ".cfi_register %r14, %rax\n"
			     ".cfi_val_offset %r15, -32\n"
			     ".cfi_undefined %rcx\n"
			     "nop\n"
			     ".cfi_restore %rbx\n"
			     ".cfi_same_value %r13\n"
			     "nop\n"
			     ".cfi_undefined %rip\n"
			     "nop\n"
			     ".cfi_endproc\n"
			     ".p2align 8\n"
			     ".cfi_startproc\n"
			     ".cfi_signal_frame\n"
			     ".cfi_offset %rbx, -24\n"
			     "nop\n"
			     ".cfi_endproc\n";

static struct vt_error err;

struct memory {
	bool none;
};

static bool load(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	const struct memory *m = arg;

	assert_int_equal(size, 8);
	*value = AT(address);
	return !m->none;
}

static struct vt_unwind_regs all_known(void)
{
	struct vt_unwind_regs r = {.known = 0xffffff};
	unsigned i;

	for (i = 0; i < VT_UNWIND_REGS; i++)
		r.value[i] = REG(i);
	return r;
}

static void expect_reg(const struct vt_unwind_regs *r, unsigned reg, uint64_t value)
{
	assert_true(r->known >> reg & 1);
	assert_int_equal(r->value[reg], value);
}

static void expect_unknown(const struct vt_unwind_regs *r, unsigned reg)
{
	assert_false(r->known >> reg & 1);
}

/* A step from an instruction, from which all registers are known. */
static struct vt_unwind_regs step(struct vt_unwind *u, uint64_t at)
{
	struct vt_unwind_regs r = all_known();
	struct memory m = {false};

	assert_true(vt_unwind_step(u, TEXT + at, BIAS, &r, load, &m));
	return r;
}

static void check_rows(struct vt_unwind *u)
{
	struct vt_unwind_regs r = step(u, 0);

	expect_reg(&r, VT_UNWIND_IP, AT(SP));
	expect_reg(&r, VT_UNWIND_SP, SP + 8);
	expect_reg(&r, RBX, REG(RBX));
	expect_reg(&r, RBP, REG(RBP));
	expect_reg(&r, R15, REG(R15));
	/* What no procedure preserves. */
	assert_int_equal(r.known, 1u << RBX | 1u << RBP | 1u << VT_UNWIND_SP | 1u << VT_UNWIND_IP |
					  0xfu << R12);
	r = step(u, 1);
	expect_reg(&r, VT_UNWIND_IP, AT(SP + 8));
	expect_reg(&r, VT_UNWIND_SP, SP + 16);
	expect_reg(&r, RBX, AT(SP));
	expect_reg(&r, R12, REG(R12));
	r = step(u, 3);
	expect_reg(&r, VT_UNWIND_SP, SP + 24);
	expect_reg(&r, RBX, AT(SP + 8));
	expect_reg(&r, R12, AT(SP));
	expect_reg(&r, R13, REG(R13));
	r = step(u, 4);
	expect_unknown(&r, R13);
	expect_reg(&r, R14, REG(0));
	expect_reg(&r, R15, SP + 24 - 32);
	expect_reg(&r, RBX, AT(SP + 8));
	r = step(u, 5);
	expect_reg(&r, R13, REG(R13));
	expect_reg(&r, RBX, REG(RBX));
	assert_false(r.interrupted);
	/* A signal trampoline. */
	r = step(u, 256);
	expect_reg(&r, VT_UNWIND_IP, AT(SP));
	expect_reg(&r, RBX, AT(SP - 16));
	assert_true(r.interrupted);
}

static void check_unknown(struct vt_unwind *u)
{
	struct vt_unwind_regs r = all_known();
	struct memory m = {false};

	/* The outermost procedure, and no procedure: nothing changes. */
	assert_false(vt_unwind_step(u, TEXT + 6, BIAS, &r, load, &m));
	assert_false(vt_unwind_step(u, TEXT + 7, BIAS, &r, load, &m));
	expect_reg(&r, 0, REG(0));
	assert_int_equal(r.known, 0xffffff);
	/* Without the stack pointer, or memory. */
	r.known &= ~(1u << VT_UNWIND_SP);
	assert_false(vt_unwind_step(u, TEXT, BIAS, &r, load, &m));
	r = all_known();
	m.none = true;
	assert_false(vt_unwind_step(u, TEXT, BIAS, &r, load, &m));
	/* A register that is unknown stays so. */
	m.none = false;
	r.known &= ~(1u << RBX | 1u << 0);
	assert_true(vt_unwind_step(u, TEXT, BIAS, &r, load, &m));
	expect_unknown(&r, RBX);
	r = all_known();
	r.known &= ~1u;
	assert_true(vt_unwind_step(u, TEXT + 4, BIAS, &r, load, &m));
	expect_unknown(&r, R14);
}

static void test_steps(void **state)
{
	char *dir = toolbox_dir();
	struct vt_unwind *u;
	struct vt_elf *elf;

	(void)state;
	toolbox_write(dir, "p.s", source);
	free(toolbox_run(dir, "gcc -nostdlib -static -no-pie -Wl,-e,0x401000 "
			      "-Wl,-Ttext=0x401000 -o p p.s"));
	elf = vt_elf_open(toolbox_path(dir, "p"), &err);
	assert_non_null(elf);
	u = vt_unwind_new(elf, &err);
	assert_non_null(u);
	check_rows(u);
	check_unknown(u);
	vt_unwind_free(u);
	vt_elf_close(elf);
	toolbox_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
