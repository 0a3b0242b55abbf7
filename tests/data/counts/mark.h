/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MARK_H
#define MARK_H

/*
 * An instruction that is executed as often as its block: a nop, of which the section .marks tells
 * the address and the number.  Where a compiler makes copies of a block, all of them are there.
 */
#define MARK(n)                                                                                    \
	__asm__ volatile("1:\tnop\n\t.pushsection .marks,\"a\"\n\t.quad 1b, %c0\n\t.popsection"    \
			 :                                                                         \
			 : "i"(n))

/* In main(): puts its stack at one place in any environment, of which times on models hang. */
#define ALIGN_STACK volatile char aligned __attribute__((aligned(1 << 16), unused)) = 0

#define NOINLINE __attribute__((noinline, noclone))

#endif
