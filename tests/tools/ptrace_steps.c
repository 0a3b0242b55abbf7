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
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/insn/insn.h"
#include "tests/tools/common/tracee.h"

#define MOST_BYTES 64 /* of a memory operand */

struct stepper {
	struct tracee t;
	FILE *out;
};

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
		addr += s->t.gpr[m->base] + (m->base == VT_REG_IP ? length : 0);
	if (m->scale && m->index <= VT_REG_R15)
		addr += s->t.gpr[m->index] * m->scale;
	if (m->segment == VT_REG_FS)
		addr += s->t.fs_base;
	else if (m->segment == VT_REG_GS)
		addr += s->t.gs_base;
	return addr;
}

static void put_loads(const struct stepper *s, const struct vt_facts *f)
{
	uint8_t data[MOST_BYTES];
	unsigned i;

	if (f->flags & VT_FACT_REPEATED && s->t.gpr[VT_REG_CX] == 0)
		return;
	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];
		uint64_t addr = address_of(s, m, f->length);
		bool vague = f->flags & VT_FACT_MASKED || f->mnemonic[0] == 'b';

		if (!m->read || m->gather || m->size > sizeof(data) ||
		    tracee_read(&s->t, addr, data, m->size) != m->size)
			continue;
		fprintf(s->out, " %c%" PRIx64 "=", vague ? '~' : 'm', addr);
		put_bytes(s, data, m->size);
	}
}

static void put_vectors(struct stepper *s, const struct vt_facts *f)
{
	const uint8_t *area = s->t.xstate;
	bool read = false;
	unsigned i, r;

	for (i = 0; i < f->nresults; i++) {
		r = f->results[i].reg;
		if (f->results[i].where != VT_WHERE_REGISTER || r < VT_REG_VECTOR ||
		    r >= VT_REG_VECTOR + 16)
			continue;
		if (!read)
			tracee_vectors(&s->t);
		read = true;
		fprintf(s->out, " v%x=", r);
		put_bytes(s, area + TRACEE_XMM_AT + (size_t)16 * (r - VT_REG_VECTOR), 16);
		put_bytes(s, area + TRACEE_YMM_AT + (size_t)16 * (r - VT_REG_VECTOR), 16);
	}
}

static void step(struct stepper *s)
{
	uint64_t before[VT_REG_R15 + 1];
	uint8_t code[VT_MAX_INSN];
	struct vt_facts f;
	unsigned r;

	if (!vt_facts_decode(code, tracee_read(&s->t, s->t.gpr[VT_REG_IP], code, sizeof(code)), &f))
		tracee_die("an instruction that is none");
	fprintf(s->out, "%" PRIx64 " %s", s->t.gpr[VT_REG_IP], f.mnemonic);
	put_loads(s, &f);
	memcpy(before, s->t.gpr, sizeof(before));
	if (!tracee_step(&s->t))
		tracee_die("the program has ended");
	tracee_registers(&s->t);
	for (r = 0; r <= VT_REG_R15; r++)
		if (r != VT_REG_IP && r != VT_REG_FLAGS && s->t.gpr[r] != before[r])
			fprintf(s->out, " %x=%" PRIx64, r, s->t.gpr[r]);
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

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->t.pid);
	f = fopen(path, "r");
	if (!f)
		tracee_die(path);
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
	code = (uint64_t)ptrace(PTRACE_PEEKTEXT, s->t.pid, tracee_pointer(addr), NULL);
	trap = (code & ~UINT64_C(0xff)) | 0xcc;
	while (!errno) {
		struct user_regs_struct u;

		ptrace(PTRACE_POKETEXT, s->t.pid, tracee_pointer(addr), tracee_pointer(trap));
		ptrace(PTRACE_CONT, s->t.pid, NULL, NULL);
		if (waitpid(s->t.pid, &status, 0) < 0 || !WIFSTOPPED(status))
			tracee_die("the program has ended before the window");
		if (WSTOPSIG(status) != SIGTRAP)
			tracee_die("a signal before the window");
		ptrace(PTRACE_GETREGS, s->t.pid, NULL, &u);
		u.rip = addr;
		ptrace(PTRACE_SETREGS, s->t.pid, NULL, &u);
		ptrace(PTRACE_POKETEXT, s->t.pid, tracee_pointer(addr), tracee_pointer(code));
		if (--times == 0)
			return;
		ptrace(PTRACE_SINGLESTEP, s->t.pid, NULL, NULL);
		waitpid(s->t.pid, &status, 0);
	}
	tracee_die("the place");
}

int main(int argc, char **argv)
{
	static struct stepper s;
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
		tracee_die(argv[1]);
	offset = strtoull(argv[2], NULL, 0);
	steps = strtoul(argv[4], NULL, 0);
	tracee_start(&s.t, argv + 5);
	addr = read_maps(&s, argv[5], offset, NULL);
	if (!addr)
		tracee_die("no such offset in the program");
	run_to(&s, addr, strtoul(argv[3], NULL, 0));
	read_maps(&s, argv[5], offset, s.out);
	tracee_registers(&s.t);
	fprintf(s.out, "start fsbase=%" PRIx64 " pid=%x", s.t.fs_base, (unsigned)s.t.pid);
	for (r = 0; r <= VT_REG_R15; r++)
		fprintf(s.out, " %x=%" PRIx64, r, s.t.gpr[r]);
	fputc('\n', s.out);
	while (steps--)
		step(&s);
	tracee_kill(&s.t);
	return fclose(s.out) ? 1 : 0;
}
