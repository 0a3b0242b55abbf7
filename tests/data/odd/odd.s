# SPDX-License-Identifier: GPL-3.0-or-later
#
# Code as no compiler writes it: a jump table and constants between instructions, symbols in symbols,
# symbols that overlap, several at one address, a label without a type or size, an ifunc, a cold part.

	.text
	.globl	main
	.type	main, @function
main:
	push	%rbx
	mov	$20000, %ebx
1:	mov	%ebx, %edi
	call	switch3
	call	outer
	call	alias2
	call	bare
	call	data_user
	call	chosen@PLT
	dec	%ebx
	jne	1b
	xor	%eax, %eax
	pop	%rbx
	ret
	.size	main, . - main

# Jumps through a table that lies behind the jump; its targets have labels that the file keeps.
	.globl	switch3
	.type	switch3, @function
switch3:
	and	$3, %edi
	lea	table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.p2align 2
table:	.long	c0 - table, c1 - table, c2 - table, c3 - table
c0:	mov	$1, %eax
	ret
c1:	imul	%edi, %edi
	mov	$2, %eax
	ret
c2:	mov	$3, %eax
	ret
c3:	xor	%eax, %eax
	ret
	.size	switch3, . - switch3

# Symbols that lie in each other.
	.globl	outer
	.type	outer, @function
outer:
	mov	$4, %ecx
	.globl	inner
	.type	inner, @function
inner:
	add	$3, %eax
	dec	%ecx
	jne	inner
	.size	inner, . - inner
	ret
	.size	outer, . - outer

# Two that overlap without one in the other.
	.globl	first
	.type	first, @function
first:
	.globl	alias1, alias2
	.type	alias1, @function
	.type	alias2, @function
alias1:
alias2:
	mov	%eax, %ecx
	.type	second, @function
second:
	and	$7, %ecx
	je	2f
	add	$1, %eax
	.size	first, . - first
	.size	alias1, . - alias1
	.size	alias2, . - alias2
2:	ret
	.size	second, . - second

# No type, no size.
bare:	mov	$5, %ecx
3:	dec	%ecx
	jne	3b
	ret

# Constants between code, jumped over.
	.globl	data_user
	.type	data_user, @function
data_user:
	movss	four(%rip), %xmm0
	jmp	4f
	.byte	0x06, 0x0e, 0x16, 0x1e
four:	.long	0x40800000
	.quad	0x0f0b0f0b0f0b0f0b
4:	mulss	%xmm0, %xmm0
	ret
	.size	data_user, . - data_user
# What is called is chosen when the program starts; half of it is elsewhere.
	.type	pick, @function
pick:	lea	warm(%rip), %rax
	ret
	.size	pick, . - pick
	.globl	chosen
	.type	chosen, @gnu_indirect_function
	.set	chosen, pick
	.type	warm, @function
warm:	test	$3, %bl
	je	warm.cold
	mov	$1, %eax
	ret
	.size	warm, . - warm
	.section .text.unlikely,"ax",@progbits
	.type	warm.cold, @function
warm.cold:
	mov	$2, %eax
	imul	%eax, %eax
	ret
	.size	warm.cold, . - warm.cold
	.section .note.GNU-stack,"",@progbits
