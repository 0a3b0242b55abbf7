/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares the return addresses that call frame information tells with what the processor does.
 *
 *	unwind_steps CALLS STEPS PROGRAM [ARGUMENT]...
 *
 * The program runs up to its CALLS'th system call, then by STEPS single steps.  Calls put their
 * return address on a stack of this tool's own, and what lies below the stack pointer leaves it;
 * in front of each instruction, the procedure's return address must be the one on top.
 * Prints "steps N known N covered N wrong N": of the steps with something on top, those for which
 * the library knows it, and those in images with call frame information.
 */
#define _GNU_SOURCE /* process_vm_readv() */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/procdata.h"
#include "machine/insn/insn.h"
#include "stream/kinds.h"
#include "tests/unit/common/mappings.h"

#define DEPTH	  100000
#define MOST_TOLD 10

struct call {
	uint64_t slot;
	uint64_t ret;
};

struct tracer {
	struct vt_images *images;
	struct vt_addrspace *as;
	pid_t pid;
	uint64_t regs[VT_REG_R15 + 1];
	struct call calls[DEPTH];
	size_t depth;
	uint64_t steps, known, covered, wrong;
};

static struct vt_error err;

static void die(const char *what)
{
	fprintf(stderr, "unwind_steps: %s: %s\n", what, err.code ? err.text : strerror(errno));
	exit(2);
}

/* A number as the pointer that a system call takes. */
static void *pointer(uint64_t number)
{
	void *p;

	memcpy(&p, &number, sizeof(p));
	return p;
}

static size_t read_memory(const struct tracer *t, uint64_t addr, void *data, size_t size)
{
	struct iovec here = {data, size}, there = {pointer(addr), size};
	ssize_t n = process_vm_readv(t->pid, &here, 1, &there, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static void get_registers(struct tracer *t)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &u) < 0)
		die("registers");
	t->regs[VT_REG_AX] = u.rax;
	t->regs[VT_REG_BX] = u.rbx;
	t->regs[VT_REG_CX] = u.rcx;
	t->regs[VT_REG_DX] = u.rdx;
	t->regs[VT_REG_SI] = u.rsi;
	t->regs[VT_REG_DI] = u.rdi;
	t->regs[VT_REG_BP] = u.rbp;
	t->regs[VT_REG_SP] = u.rsp;
	t->regs[VT_REG_IP] = u.rip;
	t->regs[VT_REG_R8] = u.r8;
	t->regs[VT_REG_R8 + 1] = u.r9;
	t->regs[VT_REG_R8 + 2] = u.r10;
	t->regs[VT_REG_R8 + 3] = u.r11;
	t->regs[VT_REG_R8 + 4] = u.r12;
	t->regs[VT_REG_R8 + 5] = u.r13;
	t->regs[VT_REG_R8 + 6] = u.r14;
	t->regs[VT_REG_R8 + 7] = u.r15;
}

/* ---- the program's images ---- */

static uint32_t image_of(struct tracer *t, const char *path)
{
	size_t i, n = vt_images_count(t->images);

	for (i = 1; i <= n; i++)
		if (strcmp(vt_images_get(t->images, (uint32_t)i)->path, path) == 0)
			return (uint32_t)i;
	if (vt_images_add(t->images, (uint32_t)i, VT_IMAGE_FILE, path, strlen(path), NULL, 0,
			  &err) < 0 ||
	    vt_addrspace_image(t->as, (uint32_t)i, VT_IMAGE_FILE, &err) < 0)
		die(path);
	return (uint32_t)i;
}

static void read_maps(struct tracer *t)
{
	char path[64], line[4200], name[4096];
	uint64_t first, end, offset;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)t->pid);
	f = fopen(path, "r");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2cx%*c %" SCNx64 " %*s %*s %4095s",
			   &first, &end, &offset, name) != 4 ||
		    name[0] != '/')
			continue;
		if (map_pages(t->as, (int32_t)t->pid, first, end - first, offset, image_of(t, name),
			      5, &err) < 0)
			die(path);
	}
	fclose(f);
}

/* ---- the comparison ---- */

static bool get_reg(void *arg, unsigned reg, uint64_t *value)
{
	const struct tracer *t = arg;

	*value = t->regs[reg];
	return true;
}

static bool get_memory(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	*value = 0;
	return read_memory(arg, address, value, size) == size;
}

static void check(struct tracer *t)
{
	const struct vt_unwind_state s = {t, get_reg, get_memory};
	uint64_t pc = t->regs[VT_REG_IP], bias;
	struct vt_return r;
	uint32_t image;

	while (t->depth && t->calls[t->depth - 1].slot < t->regs[VT_REG_SP])
		t->depth--;
	if (!t->depth)
		return;
	t->steps++;
	if (!vt_procdata_find(t->images, t->as, (int32_t)t->pid, pc, &image, &bias))
		return;
	t->covered++;
	if (!vt_procdata_return(t->images, t->as, (int32_t)t->pid, pc, &s, &r))
		return;
	t->known++;
	if (r.ret == t->calls[t->depth - 1].ret && r.slot == t->calls[t->depth - 1].slot)
		return;
	if (t->wrong++ < MOST_TOLD)
		fprintf(stderr,
			"unwind_steps: at 0x%" PRIx64 " (%s+0x%" PRIx64 "): 0x%" PRIx64
			" instead of 0x%" PRIx64 "\n",
			pc, vt_images_get(t->images, image)->path, pc - bias, r.ret,
			t->calls[t->depth - 1].ret);
}

/* False when the program has ended. */
static bool step(struct tracer *t, int *signal)
{
	uint8_t code[VT_MAX_INSN];
	struct vt_facts f;
	uint64_t pc = t->regs[VT_REG_IP];
	int status;

	if (!vt_facts_decode(code, read_memory(t, pc, code, sizeof(code)), &f))
		f.flags = 0;
	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, pointer((uint64_t)*signal)) < 0 ||
	    waitpid(t->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return false;
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	get_registers(t);
	if (*signal)
		t->depth = 0; /* a handler may come, and return to anywhere */
	else if (f.flags & VT_FACT_CALL && t->depth < DEPTH)
		t->calls[t->depth++] = (struct call){t->regs[VT_REG_SP], pc + f.length};
	else if (f.flags & VT_FACT_SYSCALL)
		read_maps(t);
	return true;
}

static void start(struct tracer *t, char **argv, unsigned long calls)
{
	int status;

	t->pid = fork();
	if (t->pid == 0) {
		if (!freopen("/dev/null", "w", stdout) || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (t->pid < 0 || waitpid(t->pid, &status, 0) < 0 || !WIFSTOPPED(status)) {
		fprintf(stderr, "unwind_steps: ptrace is not permitted, or no program %s\n",
			argv[0]);
		exit(3);
	}
	for (calls *= 2; calls; calls--)
		if (ptrace(PTRACE_SYSCALL, t->pid, NULL, NULL) < 0 ||
		    waitpid(t->pid, &status, 0) < 0 || !WIFSTOPPED(status))
			die("the program has ended");
}

int main(int argc, char **argv)
{
	const struct vt_images_options o = {.warn = NULL};
	static struct tracer t;
	unsigned long steps;
	int signal = 0;

	if (argc < 4)
		return 2;
	t.images = vt_images_new(&o, &err);
	t.as = vt_addrspace_new();
	if (!t.images || !t.as)
		die("start");
	start(&t, argv + 3, strtoul(argv[1], NULL, 0));
	get_registers(&t);
	read_maps(&t);
	for (steps = strtoul(argv[2], NULL, 0); steps && step(&t, &signal); steps--)
		check(&t);
	printf("steps %" PRIu64 " known %" PRIu64 " covered %" PRIu64 " wrong %" PRIu64 "\n",
	       t.steps, t.known, t.covered, t.wrong);
	kill(t.pid, SIGKILL);
	vt_addrspace_free(t.as);
	vt_images_free(t.images);
	return t.wrong ? 1 : 0;
}
