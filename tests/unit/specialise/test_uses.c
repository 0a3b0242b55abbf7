/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/symbols.h"
#include "specialise/uses.h"
#include "tests/unit/common/toolbox.h"

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
	/* addresses and copies */
	"at index; mov rcx, [rdi]; mov eax, [rsi + rcx * 4]; ret\n"
	"at copies; movsb; ret\n"
	"at div_pointed; mov rcx, [rdi]; div dword ptr [rcx]; ret\n"
	"at stored; mov ecx, [rdi]; mov [rsi], ecx; mov eax, esi; cdq; idiv esi; ret\n"
	"at other; mov rcx, [rdi]; mov r8, rdx; mov rax, rsi; cqo; idiv r8; ret\n"
	"at changed; mov rcx, [rdi]; lea r8, [rcx + 1]; mov rax, rsi; cqo; idiv r8; ret\n"
	"at jump_mem; jmp [rdi]\n"
	"at jump_reg; mov rcx, [rdi]; jmp rcx; idiv ecx; ret\n"
	"at returned; mov ecx, [rdi]; ret; idiv ecx; ret\n"
	"at jumped_off; mov ecx, [rdi]; jmp rax; idiv ecx; ret\n"
	"at absolute; mov eax, [0x1234]; ret\n"
	"at left; leave; ret\n"
	"at popped; pop [rdi]; ret\n"
	"at plus; add eax, [rdi]; ret\n"
	"at pushed; push [rdi]; ret\n"
	/* comparisons */
	"at limit; 1: inc eax; at limit_cmp; cmp dword ptr [rdi], 5; jl 1b; ret\n"
	"at limit_reg; 1: inc eax; at limit_reg_cmp; cmp [rdi], eax; jl 1b; ret\n"
	"at own; 1: mov ecx, [rdi]; test ecx, ecx; jl 1b; ret\n"
	"at onward; mov ecx, [rdi]; cmp ecx, edx; jl 1f; inc eax; 1: ret\n"
	"at waits; mov ecx, [rdi]; cmp ecx, edx; 1: jl 1b; ret\n"
	"at sets; mov ecx, [rdi]; cmp ecx, edx; setl al; ret\n"
	/* of several uses, the place of the best: divisors, then factors, then bounds */
	"at best; mov ecx, [rdi]; imul edx, ecx; at best_div; idiv ecx; at next_div; idiv ecx\n"
	"imul edx, ecx; ret\n"
	"at better; mov ecx, [rdi]; 1: cmp ecx, edx; jl 1b; at better_mul; imul edx, ecx; ret\n"
	/* zero idioms and what only looks like one */
	".macro twice n, r\nat \\n\\()_\\r; \\n \\r, \\r; ret\n.endm\n"
	"twice xor, edx; twice sub, edx; twice sbb, edx; twice and, edx; twice pxor, xmm2\n"
	"twice xorps, xmm2; twice xorpd, xmm2; twice andps, xmm2\n"
	"at vpxor_xmm2; vpxor xmm2, xmm2, xmm2; ret\n"
	"at vxorps_xmm2; vxorps xmm2, xmm2, xmm2; ret\n"
	"at vxorpd_xmm2; vxorpd xmm2, xmm2, xmm2; ret\n"
	"at xor_two; xor edx, ecx; ret\n"
	"at xor_number; xor edx, 5; ret\n"
	"at xor_memory; xor eax, [rdx]; ret\n"
	/* bounds on the search */
	"at visits_all; .rept 255; nop; .endr; push rdi; ret\n"
	"at visits_more; .rept 256; nop; .endr; push rdi; ret\n"
	"at paths_all; .rept 31; je _start; .endr; je divides; ret\n"
	"at paths_more; .rept 32; je _start; .endr; je divides; ret\n"
	"at divides; idiv edi; ret\n"
	"at nops; .rept 240; nop; .endr; ret\n"
	/* 1 + 4 (1 + 241 + 1) steps, and 51 are left */
	".macro steps name, n\nat \\name; mov rbx, rdi; .rept 4; call nops; mov rdi, rbx; .endr\n"
	".rept \\n; nop; .endr; idiv ebx; ret\n.endm\n"
	"steps steps_all, 50; steps steps_more, 51\n"
	"at deep_4; call deep_3; ret; at deep_3; call deep_2; ret; at deep_2; call deep_1; ret\n"
	"at deep_1; call deep_0; ret; at deep_0; push rdi; ret\n"
	"at again; mov ecx, 7; je divides; 1: push rcx; mov ecx, edi; dec esi; jne 1b; ret\n"
	/* prologues */
	".macro prologue name, text:vararg\nat \\name; \\text; test al, al\n"
	"mov [rsp + 8], rsi; mov [rbp - 8], rdx; mov [rdi], rcx; ret\n.endm\n"
	"prologue begins, nop; prologue writes_al, mov eax, 1\n"
	"at late_15; .rept 15; nop; .endr; test al, al; mov [rsp + 8], rsi; ret\n"
	"at late_16; .rept 16; nop; .endr; test al, al; mov [rsp + 8], rsi; ret\n"
	"at branches; jmp 1f; 1: test al, al; mov [rsp + 8], rsi; ret\n"
	"at tests_other; test ecx, ecx; mov [rsp + 8], rsi; ret\n"
	/* what calls and system calls leave, and pass on */
	".irp r, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15\n"
	"at use_\\r; push \\r; ret; at pass_\\r; call use_\\r; ret\n"
	"at call_\\r; call _start; push \\r; ret; at sys_\\r; syscall; push \\r; ret\n.endr\n"
	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15\n"
	"at use_xmm\\n; ucomiss xmm\\n, xmm\\n; ret; at pass_xmm\\n; call use_xmm\\n; ret\n"
	"at call_xmm\\n; call _start; ucomiss xmm\\n, xmm\\n; ret\n"
	"at sys_xmm\\n; syscall; ucomiss xmm\\n, xmm\\n; ret\n.endr\n"
	/* results */
	"at place; lea rax, [rip + variable]; ret\n"
	"at sum; lea rax, [rdi + rsi]; ret\n"
	"at triple; imul eax, [rip + variable], 3; ret\n"
	"at clock; rdtsc; ret\n"
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
		{"index", VT_USE_READ | VT_USE_ADDRESS, VT_SOURCE_MEMORY},
		{"div_pointed", VT_USE_READ | VT_USE_ADDRESS, VT_SOURCE_MEMORY},
		{"stored", VT_USE_READ, VT_SOURCE_MEMORY},
		{"other", 0, VT_SOURCE_MEMORY},
		{"changed", VT_USE_READ, VT_SOURCE_MEMORY},
		{"jump_mem", VT_USE_READ | VT_USE_TARGET, VT_SOURCE_MEMORY},
		{"jump_reg", VT_USE_READ | VT_USE_TARGET, VT_SOURCE_MEMORY},
		{"returned", 0, VT_SOURCE_MEMORY},
		{"jumped_off", 0, VT_SOURCE_MEMORY},
		{"absolute", 0, VT_SOURCE_FIXED},
		{"left", VT_USE_READ, VT_SOURCE_RESTORED},
		{"_start", VT_USE_READ, VT_SOURCE_RESTORED},
		{"popped", VT_USE_READ, VT_SOURCE_RESTORED},
		{"plus", VT_USE_READ, VT_SOURCE_MEMORY},
		{"pushed", VT_USE_READ, VT_SOURCE_MEMORY},
		{"limit_cmp", VT_USE_READ | VT_USE_BRANCH, VT_SOURCE_MEMORY},
		{"limit_reg_cmp", VT_USE_READ | VT_USE_BRANCH | VT_USE_BOUND, VT_SOURCE_MEMORY},
		{"own", VT_USE_READ | VT_USE_BRANCH, VT_SOURCE_MEMORY},
		{"onward", VT_USE_READ | VT_USE_BRANCH, VT_SOURCE_MEMORY},
		{"waits", VT_USE_READ | VT_USE_BRANCH, VT_SOURCE_MEMORY},
		{"sets", VT_USE_READ, VT_SOURCE_MEMORY},
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
	vt_uses_of_load(&f->code, address(f, "best"), &u);
	assert_int_equal(u.uses, VT_USE_READ | VT_USE_FACTOR | VT_USE_DIVISOR);
	assert_int_equal(u.where, address(f, "best_div"));
	assert_int_equal(u.type.number, VT_NUMBER_SIGNED);
	assert_int_equal(u.type.size, 4);
	vt_uses_of_load(&f->code, address(f, "better"), &u);
	assert_int_equal(u.uses, VT_USE_READ | VT_USE_FACTOR | VT_USE_BRANCH | VT_USE_BOUND);
	assert_int_equal(u.where, address(f, "better_mul"));
	vt_uses_of_load(&f->code, address(f, "mul_float"), &u);
	assert_int_equal(u.type.number, VT_NUMBER_FLOAT);
	assert_true(vt_load_vaddr(&f->code, address(f, "absolute"), &from));
	assert_int_equal(from, 0x1234);
	assert_true(vt_load_vaddr(&f->code, address(f, "global"), &from));
	assert_int_equal(from, address(f, "variable"));
	assert_false(vt_load_vaddr(&f->code, 1, &from));
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

/* What is read of an argument, and what is not; the bounds on the search are inclusive. */
static void test_reads(void **state)
{
	static const struct {
		const char *name;
		unsigned reg;
		unsigned uses;
	} cases[] = {
		{"copies", VT_REG_SI, VT_USE_READ | VT_USE_ADDRESS},
		{"copies", VT_REG_DI, VT_USE_READ | VT_USE_ADDRESS},
		{"copies", VT_REG_CX, 0},
		{"xor_edx", VT_REG_DX, 0},
		{"sub_edx", VT_REG_DX, 0},
		{"sbb_edx", VT_REG_DX, 0},
		{"and_edx", VT_REG_DX, VT_USE_READ},
		{"pxor_xmm2", VT_REG_VECTOR + 2, 0},
		{"xorps_xmm2", VT_REG_VECTOR + 2, 0},
		{"xorpd_xmm2", VT_REG_VECTOR + 2, 0},
		{"vpxor_xmm2", VT_REG_VECTOR + 2, 0},
		{"vxorps_xmm2", VT_REG_VECTOR + 2, 0},
		{"vxorpd_xmm2", VT_REG_VECTOR + 2, 0},
		{"andps_xmm2", VT_REG_VECTOR + 2, VT_USE_READ},
		{"xor_two", VT_REG_DX, VT_USE_READ},
		{"xor_two", VT_REG_CX, VT_USE_READ},
		{"xor_number", VT_REG_DX, VT_USE_READ},
		{"xor_memory", VT_REG_DX, VT_USE_READ | VT_USE_ADDRESS},
		{"visits_all", VT_REG_DI, VT_USE_READ},
		{"visits_more", VT_REG_DI, 0},
		{"paths_all", VT_REG_DI, VT_USE_READ | VT_USE_DIVISOR},
		{"paths_more", VT_REG_DI, 0},
		{"steps_all", VT_REG_DI, VT_USE_READ | VT_USE_DIVISOR},
		{"steps_more", VT_REG_DI, VT_USE_READ},
		{"deep_3", VT_REG_DI, VT_USE_READ},
		{"deep_4", VT_REG_DI, 0},
		{"again", VT_REG_DI, VT_USE_READ | VT_USE_DIVISOR},
		{"begins", VT_REG_SI, 0},
		{"begins", VT_REG_DX, 0},
		{"begins", VT_REG_CX, VT_USE_READ},
		{"begins", VT_REG_DI, VT_USE_READ | VT_USE_ADDRESS},
		{"writes_al", VT_REG_SI, VT_USE_READ},
		{"writes_al", VT_REG_DX, VT_USE_READ},
		{"late_15", VT_REG_SI, 0},
		{"late_16", VT_REG_SI, VT_USE_READ},
		{"branches", VT_REG_SI, VT_USE_READ},
		{"tests_other", VT_REG_SI, VT_USE_READ},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned uses = uses_of_argument(*state, cases[i].name, cases[i].reg);

		if (uses != cases[i].uses)
			fail_msg("%s of %s: uses %#x", cases[i].name, vt_reg_name(cases[i].reg, 8),
				 uses);
	}
}

/* Of the System V ABI: which registers pass arguments, and which ones calls and the kernel keep. */
static void test_conventions(void **state)
{
	static const struct {
		unsigned reg;
		bool passed, kept, kept_by_kernel;
	} cases[] = {
		{VT_REG_AX, false, false, false},	 {VT_REG_BX, false, true, true},
		{VT_REG_CX, true, false, false},	 {VT_REG_DX, true, false, true},
		{VT_REG_SI, true, false, true},		 {VT_REG_DI, true, false, true},
		{VT_REG_BP, false, true, true},		 {VT_REG_R8, true, false, true},
		{VT_REG_R8 + 1, true, false, true},	 {VT_REG_R8 + 2, false, false, true},
		{VT_REG_R8 + 3, false, false, false},	 {VT_REG_R8 + 4, false, true, true},
		{VT_REG_R8 + 5, false, true, true},	 {VT_REG_R8 + 6, false, true, true},
		{VT_REG_R15, false, true, true},	 {VT_REG_VECTOR, true, false, true},
		{VT_REG_VECTOR + 1, true, false, true},	 {VT_REG_VECTOR + 7, true, false, true},
		{VT_REG_VECTOR + 8, false, false, true}, {VT_REG_VECTOR + 15, false, false, true},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct {
			const char *what;
			bool read;
		} places[] = {{"pass", cases[i].passed},
			      {"call", cases[i].kept},
			      {"sys", cases[i].kept_by_kernel}};
		size_t j;

		for (j = 0; j < 3; j++) {
			unsigned size = cases[i].reg >= VT_REG_VECTOR ? 16 : 8;
			char name[32];

			snprintf(name, sizeof(name), "%s_%s", places[j].what,
				 vt_reg_name(cases[i].reg, size));
			if (!uses_of_argument(*state, name, cases[i].reg) == places[j].read)
				fail_msg("%s", name);
		}
	}
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
	assert_false(vt_code_computes(&f->code, address(f, "place")));
	assert_true(vt_code_computes(&f->code, address(f, "sum")));
	assert_true(vt_code_computes(&f->code, address(f, "triple")));
	assert_false(vt_code_computes(&f->code, address(f, "clock")));
	assert_false(vt_code_computes(&f->code, 1));
	assert_false(vt_code_is_call(&f->code, 1));
	vt_uses_of_result(&f->code, 1, VT_REG_CX, &u);
	assert_int_equal(u.uses, 0);
	/* No variadic procedure begins at an instruction: a store in the frame reads. */
	vt_uses_of_result(&f->code, address(f, "begins"), VT_REG_SI, &u);
	assert_int_equal(u.uses, VT_USE_READ);
	assert_true(vt_code_is_call(&f->code, address(f, "call_mem")));
	assert_false(vt_code_is_call(&f->code, address(f, "jumped")));
	assert_int_equal(vt_code_called(&f->code, address(f, "calls_adds")), address(f, "adds"));
	assert_int_equal(vt_code_called(&f->code, address(f, "call_mem")), 0);
	assert_int_equal(vt_code_called(&f->code, address(f, "jumped")), 0);
	assert_int_equal(vt_code_called(&f->code, 1), 0);
	vt_uses_of_result(&f->code, address(f, "div_reg"), VT_REG_CX, &u);
	assert_int_equal(u.uses, VT_USE_READ | VT_USE_DIVISOR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),	    cmocka_unit_test(test_where),
		cmocka_unit_test(test_arguments),   cmocka_unit_test(test_reads),
		cmocka_unit_test(test_conventions), cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
