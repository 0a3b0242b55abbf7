/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* process_vm_readv() */
#include "tests/tools/common/tracee.h"

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

void tracee_vectors(struct tracee *t)
{
	struct iovec v = {t->xstate, sizeof(t->xstate)};

	if (ptrace(PTRACE_GETREGSET, t->pid, tracee_pointer(NT_X86_XSTATE), &v) < 0)
		tracee_die("vector registers");
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
