/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lets the processor execute a program step by step and writes what each instruction did.
 *
 *	ptrace_steps OUT OFFSET TIMES STEPS PROGRAM [ARGUMENT]...
 *
 * The program (its full path) runs until the instruction at file offset OFFSET of it is about to be
 * executed for the TIMES'th time; then STEPS instructions are stepped through.  OUT gets lines of
 * words:
 *	map START END OFFSET NAME	from /proc/PID/maps, at the start of the window
 *	start fsbase=ADDR pid=PID R=VALUE...	the general registers at the start of the window
 *	PC MNEMONIC WORD...		each step; its words are
 *		R=VALUE		general register R (numbers of linux's asm/perf_regs.h) has changed
 *		vR=BYTES	32 bytes of vector register R - 32, which the instruction has
 *written mADDR=BYTES	what the instruction found in memory, where it reads; "~" instead of "m": it
 *may read only a part of that, or nothing All numbers are hexadecimal without 0x.
 */
#define _GNU_SOURCE /* process_vm_readv() */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/insn.h"

#define MOST_BYTES 64	/* of a memory operand */
#define XMM_AT	   160	/* in the standard form of XSAVE's area: Intel SDM volume 1, 13.4 */
#define YMM_AT	   576	/* the upper halves */
#define XSTATE	   4096 /* bytes that are asked for */

struct stepper {
	pid_t pid;
	FILE *out;
	uint64_t gpr[VT_REG_R15 + 1];
	uint64_t fs_base, gs_base;
};

static void die(const char *what)
{
	fprintf(stderr, "ptrace_steps: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A number as the pointer that a system call takes. */
static void *pointer(uint64_t number)
{
	void *p;

	memcpy(&p, &number, sizeof(p));
	return p;
}

static void get_registers(struct stepper *s)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, s->pid, NULL, &u) < 0)
		die("registers");
	s->gpr[VT_REG_AX] = u.rax;
	s->gpr[VT_REG_BX] = u.rbx;
	s->gpr[VT_REG_CX] = u.rcx;
	s->gpr[VT_REG_DX] = u.rdx;
	s->gpr[VT_REG_SI] = u.rsi;
	s->gpr[VT_REG_DI] = u.rdi;
	s->gpr[VT_REG_BP] = u.rbp;
	s->gpr[VT_REG_SP] = u.rsp;
	s->gpr[VT_REG_IP] = u.rip;
	s->gpr[VT_REG_R8] = u.r8;
	s->gpr[VT_REG_R8 + 1] = u.r9;
	s->gpr[VT_REG_R8 + 2] = u.r10;
	s->gpr[VT_REG_R8 + 3] = u.r11;
	s->gpr[VT_REG_R8 + 4] = u.r12;
	s->gpr[VT_REG_R8 + 5] = u.r13;
	s->gpr[VT_REG_R8 + 6] = u.r14;
	s->gpr[VT_REG_R8 + 7] = u.r15;
	s->fs_base = u.fs_base;
	s->gs_base = u.gs_base;
}

static size_t read_memory(const struct stepper *s, uint64_t addr, void *data, size_t size)
{
	struct iovec here = {data, size}, there = {pointer(addr), size};
	ssize_t n = process_vm_readv(s->pid, &here, 1, &there, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static void put_bytes(const struct stepper *s, const uint8_t *data, size_t size)
{
	while (size--)
		fprintf(s->out, "%02x", *data++);
}

/* ---- one step ---- */

static uint64_t address_of(const struct stepper *s, const struct vt_memory *m, unsigned length)
{
	uint64_t addr = (uint64_t)m->displacement;

	if (m->base <= VT_REG_R15)
		addr += s->gpr[m->base] + (m->base == VT_REG_IP ? length : 0);
	if (m->scale && m->index <= VT_REG_R15)
		addr += s->gpr[m->index] * m->scale;
	if (m->segment == VT_REG_FS)
		addr += s->fs_base;
	else if (m->segment == VT_REG_GS)
		addr += s->gs_base;
	return addr;
}

static void put_loads(const struct stepper *s, const struct vt_facts *f)
{
	uint8_t data[MOST_BYTES];
	unsigned i;

	if (f->flags & VT_FACT_REPEATED && s->gpr[VT_REG_CX] == 0)
		return;
	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];
		uint64_t addr = address_of(s, m, f->length);
		bool vague = f->flags & VT_FACT_MASKED || f->mnemonic[0] == 'b';

		if (!m->read || m->gather || m->size > sizeof(data) ||
		    read_memory(s, addr, data, m->size) != m->size)
			continue;
		fprintf(s->out, " %c%" PRIx64 "=", vague ? '~' : 'm', addr);
		put_bytes(s, data, m->size);
	}
}

static void put_vectors(const struct stepper *s, const struct vt_facts *f)
{
	static uint8_t area[XSTATE];
	struct iovec v = {area, sizeof(area)};
	unsigned i, r;

	for (i = 0; i < f->nresults; i++) {
		r = f->results[i].reg;
		if (f->results[i].where != VT_WHERE_REGISTER || r < VT_REG_VECTOR ||
		    r >= VT_REG_VECTOR + 16)
			continue;
		if (v.iov_len == sizeof(area) &&
		    ptrace(PTRACE_GETREGSET, s->pid, pointer(NT_X86_XSTATE), &v) < 0)
			die("vector registers");
		fprintf(s->out, " v%x=", r);
		put_bytes(s, area + XMM_AT + (size_t)16 * (r - VT_REG_VECTOR), 16);
		put_bytes(s, area + YMM_AT + (size_t)16 * (r - VT_REG_VECTOR), 16);
	}
}

static void step(struct stepper *s)
{
	uint64_t before[VT_REG_R15 + 1];
	uint8_t code[VT_MAX_INSN];
	struct vt_facts f;
	unsigned r;
	int status;

	if (!vt_facts_decode(code, read_memory(s, s->gpr[VT_REG_IP], code, sizeof(code)), &f))
		die("an instruction that is none");
	fprintf(s->out, "%" PRIx64 " %s", s->gpr[VT_REG_IP], f.mnemonic);
	put_loads(s, &f);
	memcpy(before, s->gpr, sizeof(before));
	if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL) < 0 || waitpid(s->pid, &status, 0) < 0 ||
	    !WIFSTOPPED(status))
		die("the program has ended");
	get_registers(s);
	for (r = 0; r <= VT_REG_R15; r++)
		if (r != VT_REG_IP && s->gpr[r] != before[r])
			fprintf(s->out, " %x=%" PRIx64, r, s->gpr[r]);
	put_vectors(s, &f);
	fputc('\n', s->out);
}

/* ---- getting there ---- */

/* The address of a file offset of the program; all mappings go to `out` if there is one. */
static uint64_t read_maps(const struct stepper *s, const char *program, uint64_t offset, FILE *out)
{
	uint64_t found = 0, start, end, at;
	char path[64], line[4096], name[4096];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	f = fopen(path, "r");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		name[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start,
			   &end, &at, name) < 3)
			continue;
		if (out)
			fprintf(out, "map %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", start, end, at,
				name[0] ? name : "-");
		if (strcmp(name, program) == 0 && offset >= at && offset - at < end - start)
			found = start + (offset - at);
	}
	fclose(f);
	return found;
}

static void run_to(struct stepper *s, uint64_t addr, unsigned long times)
{
	uint64_t code, trap;
	int status;

	errno = 0;
	code = (uint64_t)ptrace(PTRACE_PEEKTEXT, s->pid, pointer(addr), NULL);
	trap = (code & ~UINT64_C(0xff)) | 0xcc;
	while (!errno) {
		struct user_regs_struct u;

		ptrace(PTRACE_POKETEXT, s->pid, pointer(addr), pointer(trap));
		ptrace(PTRACE_CONT, s->pid, NULL, NULL);
		if (waitpid(s->pid, &status, 0) < 0 || !WIFSTOPPED(status))
			die("the program has ended before the window");
		if (WSTOPSIG(status) != SIGTRAP)
			die("a signal before the window");
		ptrace(PTRACE_GETREGS, s->pid, NULL, &u);
		u.rip = addr;
		ptrace(PTRACE_SETREGS, s->pid, NULL, &u);
		ptrace(PTRACE_POKETEXT, s->pid, pointer(addr), pointer(code));
		if (--times == 0)
			return;
		ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL);
		waitpid(s->pid, &status, 0);
	}
	die("the place");
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		if (!freopen("/dev/null", "w", stdout) || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(126);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status)) {
		fprintf(stderr, "ptrace_steps: ptrace is not permitted, or no program %s\n",
			argv[0]);
		exit(3);
	}
	return pid;
}

int main(int argc, char **argv)
{
	struct stepper s = {.pid = -1};
	unsigned long steps;
	uint64_t offset, addr;
	unsigned r;

	if (argc < 6) {
		fprintf(stderr,
			"usage: ptrace_steps OUT OFFSET TIMES STEPS PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	s.out = fopen(argv[1], "we");
	if (!s.out)
		die(argv[1]);
	offset = strtoull(argv[2], NULL, 0);
	steps = strtoul(argv[4], NULL, 0);
	s.pid = start(argv + 5);
	addr = read_maps(&s, argv[5], offset, NULL);
	if (!addr)
		die("no such offset in the program");
	run_to(&s, addr, strtoul(argv[3], NULL, 0));
	read_maps(&s, argv[5], offset, s.out);
	get_registers(&s);
	fprintf(s.out, "start fsbase=%" PRIx64 " pid=%x", s.fs_base, (unsigned)s.pid);
	for (r = 0; r <= VT_REG_R15; r++)
		fprintf(s.out, " %x=%" PRIx64, r, s.gpr[r]);
	fputc('\n', s.out);
	while (steps--)
		step(&s);
	kill(s.pid, SIGKILL);
	return fclose(s.out) ? 1 : 0;
}
