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

#define NOINLINE __attribute__((noinline, noclone))

#endif
