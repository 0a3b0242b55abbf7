/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Computes what is known: each value in its loop follows from the counter n, as the table in
 * tests/known_values.py has it by the labels here.  It is sampled, and interpreted from there.
 *
 *	rec_known TIMES
 *
 * Prints where the loop is, and the number of the parent process.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void known_loop(uint64_t times);

/* r12: n; r13: a large odd number; r14: 1000003; r15: the table of squares; r11 is free. */
__asm__(".section .rodata\n"
	".balign 64\n"
	"squares: .quad 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225\n"
	".local last\n"
	".comm last, 8, 8\n"
	".text\n"
	"known_leaf:\n"
	"k_leaf:	lea 5(%rax), %r10\n"
	"k_return:	ret\n"
	".globl known_loop\n"
	".type known_loop, @function\n"
	"known_loop:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	sub $280, %rsp\n"
	"	mov %rdi, %rbp\n"
	"	xor %r12d, %r12d\n"
	"	movabs $0x9e3779b97f4a7c15, %r13\n"
	"	mov $1000003, %r14d\n"
	"	lea squares(%rip), %r15\n"
	"	lea k_vector(%rip), %rbx\n"
	"	movabs $0x123456789abcdef1, %rax\n"
	"	mov %rax, 48(%rsp)\n"
	"k_move:	mov %r12, %rax\n"
	"k_multiply:	imul %r13, %rax\n"
	"k_store:	mov %rax, 40(%rsp)\n"
	"k_load:	mov 40(%rsp), %rcx\n"
	"k_xor:		xor 48(%rsp), %rcx\n"
	"k_byte:	movb %al, 47(%rsp)\n"
	"k_mixed:	mov 40(%rsp), %rdx\n"
	"k_low:		mov %r12d, %esi\n"
	"k_mask:	and $15, %esi\n"
	"k_table:	mov (%r15, %rsi, 8), %rdi\n"
	"k_jump:	jmp *%rbx\n"
	"		ud2\n"
	"k_vector:	movq %rax, %xmm1\n"
	"k_double:	paddq %xmm1, %xmm1\n"
	"k_back:	movq %xmm1, %r8\n"
	"k_last:	mov last(%rip), %r9\n"
	"k_more:	lea 1(%r9), %r10\n"
	"k_set:		mov %rax, last(%rip)\n"
	"k_compare:	cmp %r13, %rax\n"
	"k_borrow:	sbb %rcx, %rcx\n"
	"k_less:	setl %dl\n"
	"k_push:	push %rcx\n"
	"k_pop:		pop %r11\n"
	"k_call:	call known_leaf\n"
	"k_after:	mov %r10, %r8\n"
	"k_copy:	mov %r12, %rax\n"
	"k_zero:	xor %edx, %edx\n"
	"k_divide:	div %r14\n"
	"k_test:	test $63, %r12b\n"
	"		jnz k_next\n"
	/* getppid: samples of the kernel have the registers of this moment. */
	"k_number:	mov $110, %eax\n"
	"k_syscall:	syscall\n"
	"k_parent:	mov %rax, %r9\n"
	"k_next:	inc %r12\n"
	"		cmp %rbp, %r12\n"
	"		jb k_move\n"
	"	add $280, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size known_loop, . - known_loop\n");

int main(int argc, char **argv)
{
	printf("0x%" PRIxPTR " %ld\n", (uintptr_t)known_loop, (long)getppid());
	fflush(stdout);
	known_loop(argc > 1 ? strtoull(argv[1], NULL, 0) : 1000);
	return 0;
}
