/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pairs of accesses that conflict, planted at known instructions: in a procedure NAME, the earlier
 * access is at the label NAME.E and the later one at NAME.L.  rdi points to 64 KB of memory, aligned
 * to a page, which hold their own address at 256.
 */

.macro	begin name
	.globl	\name
	.type	\name, @function
\name:
.endm

.macro	end name
	ret
	.size	\name, . - \name
.endm

.macro	E name
	.globl	\name\().E
\name\().E:
.endm

.macro	L name
	.globl	\name\().L
\name\().L:
.endm

	.text

/* A narrow store, then a wide load. */
	begin	narrow
	E	narrow
	movb	$1, 64(%rdi)
	L	narrow
	movq	64(%rdi), %rax
	end	narrow

/* A load that begins inside a store and ends behind it. */
	begin	partial
	E	partial
	movq	$1, 64(%rdi)
	L	partial
	movl	70(%rdi), %eax
	end	partial

/* Two stores that together hold what is loaded: the younger one is told. */
	begin	twice
	movl	$1, 64(%rdi)
	E	twice
	movl	$2, 68(%rdi)
	L	twice
	movq	64(%rdi), %rax
	end	twice

/* A vector of two stores of half of it. */
	begin	vector
	movq	$1, 64(%rdi)
	E	vector
	movq	$2, 72(%rdi)
	L	vector
	movdqu	64(%rdi), %xmm0
	end	vector

/* A load one page away from a store. */
	begin	alias
	E	alias
	movq	$1, 64(%rdi)
	.rept	100
	nop
	.endr
	L	alias
	movq	4160(%rdi), %rax
	end	alias

/* A store through a pointer that must be loaded first, then a load from the same bytes. */
	begin	order
	movq	256(%rdi), %rcx
	E	order
	movq	$1, 64(%rcx)
	L	order
	movq	64(%rdi), %rax
	end	order

/* The same behind a division. */
	begin	divided
	movl	$640, %eax
	xorl	%edx, %edx
	movl	$10, %ecx
	divl	%ecx
	E	divided
	movq	$1, (%rdi,%rax)
	L	divided
	movq	64(%rdi), %rsi
	end	divided

/* For alpha: a load right behind a store to the same bytes. */
	begin	same
	E	same
	movq	$1, 64(%rdi)
	L	same
	movq	64(%rdi), %rax
	end	same

/* For alpha: two lines of one place of a cache of 64 KB and 2 ways. */
	begin	synonym
	E	synonym
	movq	64(%rdi), %rax
	L	synonym
	movq	32832(%rdi), %rcx
	end	synonym

/*
 * A load from where the number says that was loaded from where the earlier one stored it: but for
 * that dependence, the two alias; and, for alpha, are synonyms.
 */
	begin	dependent
	movq	256(%rdi), %rcx
	E	dependent
	movq	%rcx, 64(%rdi)
	movq	64(%rdi), %rsi
	addq	$0, %rsi
	L	dependent
	movq	32832(%rsi), %rax
	end	dependent

/* A store and a load whose addresses wait for the same pointer. */
	begin	together
	movq	256(%rdi), %rcx
	E	together
	movq	$1, 64(%rcx)
	leaq	-8(%rcx), %rcx
	L	together
	movq	72(%rcx), %rax
	end	together

/* Narrow loads of wide stores, accesses of other bytes, and a fence in between. */
	begin	clean
	movq	$1, 64(%rdi)
	movl	64(%rdi), %eax
	movb	71(%rdi), %al
	movw	66(%rdi), %ax
	movq	$2, 128(%rdi)
	movq	136(%rdi), %rax
	movdqu	144(%rdi), %xmm0
	movdqu	%xmm0, 160(%rdi)
	movdqu	160(%rdi), %xmm1
	movq	168(%rdi), %rax
	pushq	%rbx
	pushq	%rbp
	popq	%rbp
	popq	%rbx
	movb	$1, 200(%rdi)
	lock addl $1, 208(%rdi)
	movq	200(%rdi), %rax
	movq	256(%rdi), %rcx
	movq	%rdx, 264(%rcx)
	movq	256(%rdi), %rcx
	movq	264(%rcx), %rax
	end	clean

/* A load of what was stored across a line; across a page; the half of it that crosses nothing. */
	begin	line
	E	line
	movq	$1, 60(%rdi)
	L	line
	movq	60(%rdi), %rax
	end	line

	begin	page
	E	page
	movq	$1, 4092(%rdi)
	L	page
	movq	4092(%rdi), %rax
	end	page

	begin	half
	E	half
	movdqu	%xmm0, 56(%rdi)
	L	half
	movq	56(%rdi), %rax
	end	half

/* For alpha: accesses of other bytes and other lines, apart from those of the caller. */
	begin	apart
	.rept	150
	nop
	.endr
	movq	$1, 64(%rdi)
	movb	$1, 72(%rdi)
	movq	80(%rdi), %rax
	movq	1024(%rdi), %rax
	movq	%rax, 16384(%rdi)
	movq	16640(%rdi), %rcx
	.rept	150
	nop
	.endr
	end	apart

	.section .note.GNU-stack, "", @progbits
