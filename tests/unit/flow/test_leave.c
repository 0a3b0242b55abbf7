/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways out of procedures without call frame information, which the assembler makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow/leave.h"
#include "machine/insn/insn.h"
#include "tests/unit/common/mappings.h"
#include "tests/unit/common/toolbox.h"

#define PID  7
#define TEXT UINT64_C(0x401000)
#define SP   UINT64_C(0x7ffe0000)

/* After the two calls at the start of the code. */
#define CALLER	 (TEXT + 5)
#define INDIRECT (TEXT + 8)

#define R12 (VT_REG_R8 + 4)

/* What a procedure must do: from its `from`th byte, or false if `slot` is NONE. */
#define NONE (-1)

struct procedure {
	const char *code;
	unsigned from;
	int slot;	 /* word of the stack that it returns to */
	int bx, bp, r12; /* words that the registers come from; SAME, GONE */
	uint64_t ret[4]; /* where not CALLER: a word of the stack, and what it holds, twice */
};

#define SAME (-1)
#define GONE (-2)

#define ADD_STORES "mov %rdx, (%rsp)\n.rept 15\nmov %rdx, 8(%rsp)\n.endr\n"

static const struct procedure procedures[] = {
	{"ret\n", 0, 0, SAME, SAME, SAME, {0}},
	{"nop\nendbr64\nret $8\n", 0, 0, SAME, SAME, SAME, {0}},
	{"ret\n", 0, 0, SAME, SAME, SAME, {0, INDIRECT}},
	/* After what is not a call, and into no code. */
	{"ret\n", 0, NONE, 0, 0, 0, {0, CALLER + 1}},
	{"ret\n", 0, NONE, 0, 0, 0, {0, 5}},
	{"push %rbx\npush %r12\ncall t\npop %r12\npop %rbx\nret\n", 0, 0, SAME, SAME, SAME, {0}},
	{"push %rbx\npush %r12\ncall t\npop %r12\npop %rbx\nret\n", 3, 2, 1, SAME, 0, {0}},
	{"push %rbx\npush %r12\ncall t\npop %r12\npop %rbx\nret\n", 8, 2, 1, SAME, 0, {0}},
	{"push %rbx\npush %r12\ncall t\npop %r12\npop %rbx\nret\n", 10, 1, 0, SAME, SAME, {0}},
	/* rbp is four words above the stack pointer. */
	{"mov %rdx, %rbx\nleave\nret\n", 3, 5, SAME, 4, SAME, {0}},
	{"mov %rdx, %rbx\nleave\nret\n", 0, 5, GONE, 4, SAME, {0}},
	{"lea -16(%rbp), %rsp\npop %rbx\npop %rax\npop %rbp\nret\n", 0, 5, 2, 4, SAME, {0}},
	{"add $24, %rsp\nmov -8(%rsp), %r12\nret\n", 0, 3, SAME, SAME, 2, {0}},
	{"sub $24, %rsp\nadd $32, %rsp\nret\n", 0, 1, SAME, SAME, SAME, {0}},
	/* Both ways of a branch, which agree or not; then a loop. */
	{"jz 1f\nadd $8, %rsp\nret\n1: pop %rbx\nret\n", 0, 1, GONE, SAME, SAME, {0}},
	{"jz 1f\nadd $8, %rsp\nret\n1: add $16, %rsp\nret\n", 0, NONE, 0, 0, 0, {0}},
	{"jz 1f\nadd $8, %rsp\nret\n1: add $16, %rsp\nret\n", 0, 1, SAME, SAME, SAME, {2, 9}},
	{"jz 1f\nadd $8, %rsp\nret\n1: add $16, %rsp\nret\n", 0, 2, SAME, SAME, SAME, {1, 9}},
	{"1: dec %ecx\njnz 1b\nret\n", 0, 0, SAME, SAME, SAME, {0}},
	{"pop %rax\njmp t\n", 0, 1, SAME, SAME, SAME, {0}},
	/* Where nothing is known of what follows. */
	{"jmp *%rax\n", 0, NONE, 0, 0, 0, {0}},
	{"hlt\nret\n", 0, NONE, 0, 0, 0, {0}},
	{".byte 6\nret\n", 0, NONE, 0, 0, 0, {0}},
	{"jz 1f\njmp *%rax\n1: ret\n", 0, 0, SAME, SAME, SAME, {0}},
	{"mov %rdx, %rsp\nret\n", 0, NONE, 0, 0, 0, {0}},
	/* The stack does not hold what was saved any more. */
	{"mov %rax, 8(%rsp)\npop %rcx\npop %rbx\nret\n", 0, 2, GONE, SAME, SAME, {0}},
	{"mov %al, 15(%rsp)\npop %r12\npop %rbx\nret\n", 0, 2, GONE, SAME, 0, {0}},
	{"pop %rax\npush %rcx\npop %rbx\nret\n", 0, 1, GONE, SAME, SAME, {0}},
	{ADD_STORES "pop %rbx\nret\n", 0, 1, GONE, SAME, SAME, {0}},
	{ADD_STORES "mov %rdx, 8(%rsp)\nret\n", 0, NONE, 0, 0, 0, {0}},
	{"fxsave (%rsp)\nret\n", 0, NONE, 0, 0, 0, {0}},
	/* As far as the copy of a stack reaches, and 1000 instructions. */
	{"add $0xfff8, %rsp\nret\n", 0, 0x1fff, SAME, SAME, SAME, {0}},
	{"add $0x10000, %rsp\nret\n", 0, NONE, 0, 0, 0, {0}},
	{"sub $8, %rsp\nret\n", 0, NONE, 0, 0, 0, {0}},
	{".skip 999, 0x90\nret\n", 0, 0, SAME, SAME, SAME, {0}},
	{".skip 1000, 0x90\nret\n", 0, NONE, 0, 0, 0, {0}},
	/* Call frame information has the word. */
	{".cfi_startproc\nret\n.cfi_endproc\n", 0, NONE, 0, 0, 0, {0}},
	{".cfi_startproc\n.cfi_undefined %rip\nret\n.cfi_endproc\n", 0, NONE, 0, 0, 0, {0}},
};

#define COUNT  (sizeof(procedures) / sizeof(procedures[0]))
#define STRIDE 2048

static uint64_t word_of(int i)
{
	return UINT64_C(0x100000000) + (unsigned)i;
}

/* A word of the stack is a place to return to, but those that preserved registers come from. */
static bool load(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	const struct procedure *p = arg;
	int word = (int)((address - SP) / 8);

	assert_true(address >= SP && (size == 8 || size == 1));
	*value = word == p->bx || word == p->bp || word == p->r12 ? word_of(word) : CALLER;
	if (p->ret[1] && p->ret[0] == (uint64_t)word)
		*value = p->ret[1];
	return true;
}

static void expect_reg(const char *code, const struct vt_unwind_regs *r, unsigned reg, int from,
		       uint64_t was)
{
	bool known = r->known >> reg & 1;

	if (known != (from != GONE) ||
	    (known && r->value[reg] != (from == SAME ? was : word_of(from))))
		fail_msg("%s: register %u is%s known: 0x%llx", code, reg, known ? "" : " not",
			 (unsigned long long)r->value[reg]);
}

static void leave(struct vt_images *images, struct vt_addrspace *space, unsigned i)
{
	const struct procedure *p = &procedures[i];
	struct vt_unwind_regs r = {.known = 1u << VT_REG_BX | 1u << VT_REG_BP | 1u << VT_REG_SP |
					    1u << VT_REG_IP | 1u << R12};
	const struct vt_leave how = {
		.images = images, .space = space, .pid = PID, .load = load, .arg = (void *)p};
	bool found;

	r.value[VT_REG_IP] = TEXT + (i + 1) * STRIDE + p->from;
	r.value[VT_REG_SP] = SP;
	r.value[VT_REG_BP] = SP + 32;
	r.value[VT_REG_BX] = 1;
	r.value[R12] = 2;
	found = vt_leave_by_code(&how, &r);
	if (found != (p->slot != NONE))
		fail_msg("%s: %s", p->code, found ? "a return" : "no return");
	if (!found) {
		assert_int_equal(r.value[VT_REG_SP], SP);
		return;
	}
	if (r.value[VT_REG_SP] != SP + 8 * (uint64_t)p->slot + 8)
		fail_msg("%s: word %d", p->code, (int)(r.value[VT_REG_SP] - SP) / 8 - 1);
	assert_int_equal(r.value[VT_REG_IP],
			 p->ret[1] && (int)p->ret[0] == p->slot ? p->ret[1] : CALLER);
	expect_reg(p->code, &r, VT_REG_BX, p->bx, 1);
	expect_reg(p->code, &r, VT_REG_BP, p->bp, SP + 32);
	expect_reg(p->code, &r, R12, p->r12, 2);
	/* What no procedure preserves is gone. */
	assert_false(r.known >> VT_REG_AX & 1);
}

static char *assemble_all(void)
{
	char *text = calloc(COUNT + 1, 4096), *end = text;
	unsigned i;

	assert_non_null(text);
	end += sprintf(end, ".globl _start\n_start: call t\ncall *8(%%rax)\nt: ret\n");
	for (i = 0; i < COUNT; i++)
		end += sprintf(end, ".org %u, 0xf4\n%s", (i + 1) * STRIDE, procedures[i].code);
	return text;
}

static void test_ways_out(void **state)
{
	const struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_images *images = vt_images_new(&opt, &err);
	struct vt_addrspace *space = vt_addrspace_new();
	char *text = assemble_all(), *dir = toolbox_assemble(text);
	const char *path = toolbox_path(dir, "p");
	unsigned i;

	(void)state;
	assert_true(images && space);
	assert_int_equal(vt_images_add(images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err),
			 0);
	assert_int_equal(vt_addrspace_image(space, 1, VT_IMAGE_FILE, &err), 0);
	assert_int_equal(map_pages(space, PID, TEXT, 0x20000, 0x1000, 1, 5, &err), 0);
	for (i = 0; i < COUNT; i++)
		leave(images, space, i);
	vt_addrspace_free(space);
	vt_images_free(images);
	free(text);
	toolbox_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
