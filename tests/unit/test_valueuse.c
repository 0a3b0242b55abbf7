/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/valueuse.h"
#include "image/elf.h"
#include "image/symbols.h"
#include "tests/unit/toolbox.h"

/* Procedures as a compiler would write them, each with the instruction at hand at `NAME`. */
static const char source[] =
	".intel_syntax noprefix\n"
	".globl _start\n"
	"_start: ret\n"
	".macro at name\n.type \\name, @function\n\\name:\n.endm\n"
	/* loads */
	"at div_mem; div dword ptr [rdi + 4]; ret\n"
	"at div_reg; mov ecx, [rdi + 4]; mov eax, esi; xor edx, edx; idiv ecx; ret\n"
	"at div_copy; mov rcx, [rdi]; mov r8, rcx; mov ecx, 1; mov rax, rsi; cqo; idiv r8; ret\n"
	"at div_lost; mov ecx, [rdi]; mov ecx, 7; mov eax, esi; cdq; idiv ecx; ret\n"
	"at dividend; mov eax, [rdi]; cdq; idiv esi; ret\n"
	"at div_branch; mov ecx, [rdi]; test esi, esi; je 1f; ret; 1: mov eax, esi; cdq; idiv ecx; "
	"ret\n"
	"at div_call; mov ebx, [rdi]; call _start; mov eax, esi; cdq; idiv ebx; ret\n"
	"at div_clobber; mov ecx, [rdi]; call _start; mov eax, esi; cdq; idiv ecx; ret\n"
	"at mul_mem; imul eax, [rdi]; ret\n"
	"at mul_float; movsd xmm1, [rdi]; mulsd xmm0, xmm1; ret\n"
	"at div_float; movsd xmm1, [rdi]; divsd xmm0, xmm1; ret\n"
	"at bound_mem; xor eax, eax; 1: inc eax; at bound_cmp; cmp eax, [rdi]; jl 1b; ret\n"
	"at bound_reg; mov ecx, [rdi]; 1: inc eax; cmp eax, ecx; jne 1b; ret\n"
	"at condition; mov ecx, [rdi]; test ecx, ecx; je 1f; inc eax; 1: ret\n"
	"at list; mov rdi, [rdi + 8]; test rdi, rdi; jne list; ret\n"
	"at call_mem; call [rdi]; ret\n"
	"at call_reg; mov rax, [rdi]; call rax; ret\n"
	"at saved; pop rbx; ret\n"
	"at local; mov eax, [rsp + 8]; ret\n"
	"at global; mov eax, [rip + variable]; ret\n"
	"at constant; mov eax, [rip + number]; ret\n"
	"at protector; mov rax, fs:0x28; ret\n"
	"at thread; mov rax, fs:0x10; ret\n"
	"at of_kernel; mov rax, gs:0x28; ret\n"
	"at thread_base; mov rax, fs:[rdi + 0x28]; ret\n"
	"at thread_index; mov rax, fs:[rdi * 2 + 0x28]; ret\n"
	"at field; mov rax, [rdi + 0x28]; ret\n"
	"at element; mov rax, [rsp + rdi * 8]; ret\n"
	"at frame; mov rax, [rbp - 8]; ret\n"
	"at plain; mov eax, esi; ret\n"
	"at unread; mov eax, [rdi]; xor eax, eax; ret\n"
	"at known; mov eax, 5; ret\n"
	"at counted; inc eax; ret\n"
	/* arguments */
	"at two; xor edx, edx; mov eax, edi; div esi; ret\n"
	"at passed; sub rsp, 8; call two; add rsp, 8; ret\n"
	"at jumped; jmp two\n"
	"at variadic; sub rsp, 88; mov [rsp + 8], rsi; mov [rsp + 16], rdx; test al, al; je 1f\n"
	"movaps [rsp + 32], xmm0; 1: mov eax, [rdi]; add rsp, 88; ret\n"
	"at calls_variadic; call variadic; ret\n"
	"at adds; add [rsp - 8], rsi; mov eax, [rdi]; ret\n"
	"at calls_adds; call adds; ret\n"
	"at saves; push rbp; mov rbp, rsp; mov [rbp - 8], rsi; ret\n"
	/* the second time round the loop, ecx is the argument, too */
	"at around; mov ecx, 7; 1: mov eax, esi; cdq; idiv ecx; mov ecx, edi; dec esi; jne 1b; "
	"ret\n"
	"at endless; 1: test edi, edi; jne 1b; jmp 1b\n"
	".data\nvariable: .long 1\n.section .rodata\nnumber: .long 2\n";

struct fixture {
	char *dir;
	struct vt_elf *elf;
	struct vt_symbols *symbols;
	struct vt_code code;
};

static struct vt_error err;

static const uint8_t *bytes(const void *arg, uint64_t vaddr, size_t *avail)
{
	return vt_elf_bytes(arg, vaddr, avail);
}

static int setup(void **state)
{
	static struct fixture f;

	f.dir = toolbox_dir();
	toolbox_write(f.dir, "p.s", source);
	free(toolbox_run(f.dir, "gcc -nostdlib -static -no-pie -o p p.s"));
	f.elf = vt_elf_open(toolbox_path(f.dir, "p"), &err);
	assert_non_null(f.elf);
	f.symbols = vt_symbols_new();
	assert_int_equal(vt_symbols_add_elf(f.symbols, f.elf, NULL, &err), 0);
	assert_int_equal(vt_symbols_finish(f.symbols, &err), 0);
	f.code = (struct vt_code){bytes, f.elf};
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vt_symbols_free(f->symbols);
	vt_elf_close(f->elf);
	toolbox_remove(f->dir);
	return 0;
}

static uint64_t address(const struct fixture *f, const char *name)
{
	uint64_t vaddr = 0;

	assert_true(vt_symbols_address_of(f->symbols, name, &vaddr));
	return vaddr;
}

static void test_loads(void **state)
{
	static const struct {
		const char *name;
		unsigned uses;
		enum vt_source source;
	} cases[] = {
		{"div_mem", VT_USE_READ | VT_USE_DIVISOR, VT_SOURCE_MEMORY},
		{"div_reg", VT_USE_READ | VT_USE_DIVISOR, VT_SOURCE_MEMORY},
		{"div_copy", VT_USE_READ | VT_USE_DIVISOR, VT_SOURCE_MEMORY},
		{"div_lost", 0, VT_SOURCE_MEMORY},
		{"dividend", VT_USE_READ, VT_SOURCE_MEMORY},
		{"div_branch", VT_USE_READ | VT_USE_DIVISOR, VT_SOURCE_MEMORY},
		{"div_call", VT_USE_READ | VT_USE_DIVISOR, VT_SOURCE_MEMORY},
		{"div_clobber", 0, VT_SOURCE_MEMORY},
		{"mul_mem", VT_USE_READ | VT_USE_FACTOR, VT_SOURCE_MEMORY},
		{"mul_float", VT_USE_READ | VT_USE_FACTOR, VT_SOURCE_MEMORY},
		{"div_float", VT_USE_READ | VT_USE_DIVISOR, VT_SOURCE_MEMORY},
		{"bound_cmp", VT_USE_READ | VT_USE_BRANCH | VT_USE_BOUND, VT_SOURCE_MEMORY},
		{"bound_reg", VT_USE_READ | VT_USE_BRANCH | VT_USE_BOUND, VT_SOURCE_MEMORY},
		{"condition", VT_USE_READ | VT_USE_BRANCH, VT_SOURCE_MEMORY},
		{"list", VT_USE_READ | VT_USE_BRANCH | VT_USE_ADDRESS, VT_SOURCE_MEMORY},
		{"call_mem", VT_USE_READ | VT_USE_TARGET, VT_SOURCE_MEMORY},
		{"call_reg", VT_USE_READ | VT_USE_TARGET, VT_SOURCE_MEMORY},
		{"saved", VT_USE_READ, VT_SOURCE_RESTORED},
		{"local", 0, VT_SOURCE_STACK},
		{"global", 0, VT_SOURCE_FIXED},
		{"constant", 0, VT_SOURCE_FIXED},
		{"protector", 0, VT_SOURCE_RESTORED},
		{"thread", 0, VT_SOURCE_MEMORY},
		{"of_kernel", 0, VT_SOURCE_MEMORY},
		{"thread_base", 0, VT_SOURCE_MEMORY},
		{"thread_index", 0, VT_SOURCE_MEMORY},
		{"field", 0, VT_SOURCE_MEMORY},
		{"element", 0, VT_SOURCE_MEMORY},
		{"frame", 0, VT_SOURCE_STACK},
		{"plain", 0, VT_SOURCE_UNKNOWN},
		{"unread", 0, VT_SOURCE_MEMORY},
	};
	const struct fixture *f = *state;
	struct vt_uses u;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum vt_source source = vt_uses_of_load(&f->code, address(f, cases[i].name), &u);

		if (source != cases[i].source || u.uses != cases[i].uses)
			fail_msg("%s: source %d, uses %#x", cases[i].name, source, u.uses);
	}
	vt_uses_of_load(&f->code, address(f, "div_float"), &u);
	assert_int_equal(u.type.number, VT_NUMBER_FLOAT);
	assert_int_equal(u.type.size, 8);
	assert_int_equal(vt_uses_of_load(&f->code, 1, &u), VT_SOURCE_UNKNOWN);
}

static void test_where(void **state)
{
	const struct fixture *f = *state;
	struct vt_uses u;
	uint64_t from = 0;

	vt_uses_of_load(&f->code, address(f, "div_mem"), &u);
	assert_int_equal(u.where, address(f, "div_mem"));
	/* idiv ecx is the last instruction but ret of those 11 bytes. */
	vt_uses_of_load(&f->code, address(f, "div_reg"), &u);
	assert_int_equal(u.where, address(f, "div_copy") - 3);
	assert_true(vt_load_vaddr(&f->code, address(f, "global"), &from));
	assert_false(vt_elf_is_constant(f->elf, from));
	assert_true(vt_load_vaddr(&f->code, address(f, "constant"), &from));
	assert_true(vt_elf_is_constant(f->elf, from));
	assert_false(vt_load_vaddr(&f->code, address(f, "local"), &from));
	assert_false(vt_load_vaddr(&f->code, address(f, "plain"), &from));
	assert_false(vt_elf_is_constant(f->elf, 1));
}

static unsigned uses_of_argument(const struct fixture *f, const char *name, unsigned reg)
{
	struct vt_uses u;

	vt_uses_of_argument(&f->code, address(f, name), reg, &u);
	return u.uses;
}

static void test_arguments(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(uses_of_argument(f, "two", VT_REG_DI), VT_USE_READ);
	assert_int_equal(uses_of_argument(f, "two", VT_REG_SI), VT_USE_READ | VT_USE_DIVISOR);
	/* xor edx, edx reads nothing. */
	assert_int_equal(uses_of_argument(f, "two", VT_REG_DX), 0);
	assert_int_equal(uses_of_argument(f, "two", VT_REG_CX), 0);
	/* What a called procedure reads was passed through; a jump to one is followed. */
	assert_int_equal(uses_of_argument(f, "passed", VT_REG_SI), VT_USE_READ);
	assert_int_equal(uses_of_argument(f, "passed", VT_REG_CX), 0);
	assert_int_equal(uses_of_argument(f, "jumped", VT_REG_SI), VT_USE_READ | VT_USE_DIVISOR);
	assert_int_equal(uses_of_argument(f, "endless", VT_REG_DI), VT_USE_READ | VT_USE_BRANCH);
	assert_int_equal(uses_of_argument(f, "around", VT_REG_DI), VT_USE_READ | VT_USE_DIVISOR);
	assert_int_equal(uses_of_argument(f, "two", 200), 0);
	/* Saved because it may be an argument; and as code does that is not optimised. */
	assert_int_equal(uses_of_argument(f, "variadic", VT_REG_SI), 0);
	assert_int_equal(uses_of_argument(f, "variadic", VT_REG_DI), VT_USE_READ | VT_USE_ADDRESS);
	assert_int_equal(uses_of_argument(f, "calls_variadic", VT_REG_SI), 0);
	assert_int_equal(uses_of_argument(f, "calls_variadic", VT_REG_DI), VT_USE_READ);
	assert_int_equal(uses_of_argument(f, "saves", VT_REG_SI), VT_USE_READ);
	assert_int_equal(uses_of_argument(f, "calls_adds", VT_REG_SI), VT_USE_READ);
	assert_int_equal(uses_of_argument(f, "calls_adds", VT_REG_DX), 0);
}

static void test_results(void **state)
{
	const struct fixture *f = *state;
	struct vt_uses u;

	assert_false(vt_code_computes(&f->code, address(f, "known")));
	assert_false(vt_code_computes(&f->code, address(f, "two")));
	assert_false(vt_code_computes(&f->code, address(f, "plain")));
	assert_false(vt_code_computes(&f->code, address(f, "global")));
	assert_true(vt_code_computes(&f->code, address(f, "mul_mem")));
	assert_true(vt_code_computes(&f->code, address(f, "counted")));
	assert_true(vt_code_is_call(&f->code, address(f, "call_mem")));
	assert_false(vt_code_is_call(&f->code, address(f, "jumped")));
	vt_uses_of_result(&f->code, address(f, "div_reg"), VT_REG_CX, &u);
	assert_int_equal(u.uses, VT_USE_READ | VT_USE_DIVISOR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
