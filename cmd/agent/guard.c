/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "cmd/agent/agent.h"
#include "cmd/agent/syscall.h"
#include "cmd/agent/timed.h"

/*
 * bool copy_line(uint8_t *to, const void *from): copies 64 bytes.  A fault between `begin` and
 * `end` continues at `fault`.
 */
__asm__(".pushsection .text\n"
	".hidden agent_copy_begin, agent_copy_end, agent_copy_fault\n"
	".globl agent_copy_begin, agent_copy_end, agent_copy_fault\n"
	".type agent_copy_line, @function\n"
	"agent_copy_line:\n"
	"	endbr64\n"
	"agent_copy_begin:\n"
	"	movdqu (%rsi), %xmm0\n"
	"	movdqu 16(%rsi), %xmm1\n"
	"	movdqu 32(%rsi), %xmm2\n"
	"	movdqu 48(%rsi), %xmm3\n"
	"agent_copy_end:\n"
	"	movdqu %xmm0, (%rdi)\n"
	"	movdqu %xmm1, 16(%rdi)\n"
	"	movdqu %xmm2, 32(%rdi)\n"
	"	movdqu %xmm3, 48(%rdi)\n"
	"	movl $1, %eax\n"
	"	ret\n"
	"agent_copy_fault:\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	".size agent_copy_line, . - agent_copy_line\n"
	".popsection\n");

extern int agent_copy_line(uint8_t *to, const void *from);
extern const char agent_copy_begin[], agent_copy_end[], agent_copy_fault[];

static bool distrusted;

void agent_distrust_faults(void)
{
	distrusted = true;
}

bool agent_read_line(void *arg, uint64_t addr, uint8_t *bytes)
{
	const void *from = (const void *)(uintptr_t)addr;

	if (distrusted || *(const bool *)arg) {
		struct iovec to = {bytes, 64}, of = {(void *)(uintptr_t)addr, 64};

		return agent_syscall(SYS_process_vm_readv, agent.pid, (long)&to, 1, (long)&of, 1,
				     0) == 64;
	}
	return agent_copy_line(bytes, from);
}

uint32_t agent_time_load(void *arg, uint64_t addr)
{
	if (distrusted || *(const bool *)arg)
		return 0;
	return agent_time_byte((const void *)(uintptr_t)addr);
}

static bool recover_between(greg_t *ip, const char *begin, const char *end, const char *fault)
{
	if (*ip < (greg_t)begin || *ip >= (greg_t)end)
		return false;
	*ip = (greg_t)fault;
	return true;
}

bool agent_recover_fault(void *context)
{
	ucontext_t *u = context;
	greg_t *ip = &u->uc_mcontext.gregs[REG_RIP];

	return recover_between(ip, agent_copy_begin, agent_copy_end, agent_copy_fault) ||
	       recover_between(ip, agent_time_begin, agent_time_end, agent_time_fault);
}
