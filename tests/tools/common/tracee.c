/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* process_vm_readv() */
#include "tests/tools/common/tracee.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* XSAVE's components: Intel SDM volume 1, 13.1; and where the kernel says which it enables. */
enum { YMM_HIGH = 2, MASKS = 5, ZMM_HIGH = 6, ZMM_UPPER = 7 };
#define ENABLED_AT 464

void tracee_die(const char *what)
{
	fprintf(stderr, "single steps: %s: %s\n", what, strerror(errno));
	exit(1);
}

void *tracee_pointer(uint64_t number)
{
	void *p;

	memcpy(&p, &number, sizeof(p));
	return p;
}

void tracee_start(struct tracee *t, char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		if (!freopen("/dev/null", "w", stdout) || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status)) {
		fprintf(stderr, "ptrace is not permitted, or no program %s\n", argv[0]);
		exit(3);
	}
	t->pid = pid;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, tracee_pointer(PTRACE_O_EXITKILL));
}

void tracee_kill(struct tracee *t)
{
	int status;

	if (t->pid <= 0)
		return;
	kill(t->pid, SIGKILL);
	waitpid(t->pid, &status, 0);
	t->pid = -1;
}

void tracee_registers(struct tracee *t)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &u) < 0)
		tracee_die("registers");
	t->gpr[VT_REG_AX] = u.rax;
	t->gpr[VT_REG_BX] = u.rbx;
	t->gpr[VT_REG_CX] = u.rcx;
	t->gpr[VT_REG_DX] = u.rdx;
	t->gpr[VT_REG_SI] = u.rsi;
	t->gpr[VT_REG_DI] = u.rdi;
	t->gpr[VT_REG_BP] = u.rbp;
	t->gpr[VT_REG_SP] = u.rsp;
	t->gpr[VT_REG_IP] = u.rip;
	t->gpr[VT_REG_FLAGS] = u.eflags;
	t->gpr[VT_REG_R8] = u.r8;
	t->gpr[VT_REG_R8 + 1] = u.r9;
	t->gpr[VT_REG_R8 + 2] = u.r10;
	t->gpr[VT_REG_R8 + 3] = u.r11;
	t->gpr[VT_REG_R8 + 4] = u.r12;
	t->gpr[VT_REG_R8 + 5] = u.r13;
	t->gpr[VT_REG_R8 + 6] = u.r14;
	t->gpr[VT_REG_R8 + 7] = u.r15;
	t->fs_base = u.fs_base;
	t->gs_base = u.gs_base;
	t->in_syscall = (int64_t)u.orig_rax >= 0;
}

/*
 * Finds the places of the area's components; 0: there is none.  This asks once: a hypervisor takes
 * its time to answer CPUID.  Intel SDM volume 1, 13.4 and 13.5.
 */
static void find_components(struct tracee *t)
{
	unsigned number, size, at, c, d;
	uint64_t enabled;

	memcpy(&enabled, t->xstate + ENABLED_AT, sizeof(enabled));
	for (number = YMM_HIGH; number <= ZMM_UPPER; number++)
		if (enabled >> number & 1 && __get_cpuid_count(0xd, number, &size, &at, &c, &d) &&
		    at + size <= sizeof(t->xstate))
			t->components[number] = at;
	t->has_components = true;
}

void tracee_vectors(struct tracee *t)
{
	struct iovec v = {t->xstate, sizeof(t->xstate)};

	if (ptrace(PTRACE_GETREGSET, t->pid, tracee_pointer(NT_X86_XSTATE), &v) < 0)
		tracee_die("vector registers");
	if (!t->has_components)
		find_components(t);
}

bool tracee_vector(const struct tracee *t, unsigned reg, unsigned lane, uint64_t *value)
{
	size_t at = 0;

	if (reg >= 16 && (at = t->components[ZMM_UPPER]))
		at += 64 * (size_t)(reg - 16) + 8 * (size_t)lane;
	else if (reg < 16 && lane >= 4 && (at = t->components[ZMM_HIGH]))
		at += 32 * (size_t)reg + 8 * (size_t)(lane - 4);
	else if (reg < 16 && lane >= 2 && lane < 4 && (at = t->components[YMM_HIGH]))
		at += 16 * (size_t)reg + 8 * (size_t)(lane - 2);
	else if (reg < 16 && lane < 2)
		at = TRACEE_XMM_AT + 16 * (size_t)reg + 8 * (size_t)lane;
	if (at)
		memcpy(value, t->xstate + at, sizeof(*value));
	return at;
}

bool tracee_mask(const struct tracee *t, unsigned reg, uint64_t *value)
{
	size_t at = t->components[MASKS];

	if (at)
		memcpy(value, t->xstate + at + 8 * (size_t)reg, sizeof(*value));
	return at;
}

size_t tracee_read(const struct tracee *t, uint64_t addr, void *data, size_t size)
{
	struct iovec here = {data, size}, there = {tracee_pointer(addr), size};
	ssize_t n = process_vm_readv(t->pid, &here, 1, &there, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

bool tracee_step(struct tracee *t)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, NULL) < 0 || waitpid(t->pid, &status, 0) < 0)
		return false;
	if (WIFSTOPPED(status))
		return WSTOPSIG(status) == SIGTRAP;
	t->pid = -1;
	return false;
}
