/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_SYSCALL_H
#define CMD_AGENT_SYSCALL_H

#include <stdint.h>

/*
 * A system call without the C library, which would set errno and may be interposed.  Returns what
 * the kernel returns: -errno for an error.
 */
static inline long agent_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

#endif
