/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares the return addresses that call frame information tells, or the code where there is none,
 * with what the processor does.
 *
 *	unwind_steps CALLS STEPS PROGRAM [ARGUMENT]...
 *
 * The program runs up to its CALLS'th system call, then by STEPS single steps.  Calls put their
 * return address on a stack of this tool's own, and what lies below the stack pointer leaves it;
 * in front of each instruction, the procedure's return address must be the one on top.
 * Prints "steps N known N covered N wrong N by code N": of the steps with something on top, those
 * for which the library knows it, those in images, and those that it knows by the code.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "flow/leave.h"
#include "image/procdata.h"
#include "machine/insn/insn.h"
#include "tests/tools/common/procmaps.h"
#include "tests/tools/common/tracee.h"

#define DEPTH	  100000
#define MOST_TOLD 10

struct call {
	uint64_t slot;
	uint64_t ret;
};

struct tracer {
	struct vt_images *images;
	struct vt_addrspace *as;
	struct tracee p;
	struct call calls[DEPTH];
	size_t depth;
	uint64_t steps, known, covered, by_code, wrong;
};

static struct vt_error err;

static void die(const char *what)
{
	fprintf(stderr, "unwind_steps: %s: %s\n", what, err.code ? err.text : strerror(errno));
	exit(2);
}

static void read_mappings(struct tracer *t)
{
	if (!procmaps_read(t->images, t->as, t->p.pid, false, &err))
		die("its mappings");
}

/* ---- the comparison ---- */

static bool get_reg(void *arg, unsigned reg, uint64_t *value)
{
	const struct tracer *t = arg;

	*value = t->p.gpr[reg];
	return true;
}

static bool get_memory(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	const struct tracer *t = arg;

	*value = 0;
	return tracee_read(&t->p, address, value, size) == size;
}

/* Where there is no such information, by the code; preserved registers are those of a frame. */
static bool leave_by_code(struct tracer *t, struct vt_return *r)
{
	const struct vt_leave how = {.images = t->images,
				     .space = t->as,
				     .pid = (int32_t)t->p.pid,
				     .load = get_memory,
				     .arg = t};
	struct vt_unwind_regs regs = {.known = (1u << VT_UNWIND_REGS) - 1};
	unsigned reg;

	for (reg = 0; reg < VT_UNWIND_REGS; reg++)
		regs.value[reg] = t->p.gpr[reg];
	if (!vt_leave_by_code(&how, &regs))
		return false;
	r->ret = regs.value[VT_UNWIND_IP];
	r->slot = regs.value[VT_UNWIND_SP] - 8;
	t->by_code++;
	return true;
}

static void check(struct tracer *t)
{
	const struct vt_unwind_state s = {t, get_reg, get_memory};
	uint64_t pc = t->p.gpr[VT_REG_IP], bias;
	struct vt_return r;
	uint32_t image;

	while (t->depth && t->calls[t->depth - 1].slot < t->p.gpr[VT_REG_SP])
		t->depth--;
	if (!t->depth)
		return;
	t->steps++;
	if (!vt_procdata_find(t->images, t->as, (int32_t)t->p.pid, pc, &image, &bias))
		return;
	t->covered++;
	if (!vt_procdata_return(t->images, t->as, (int32_t)t->p.pid, pc, &s, &r) &&
	    !leave_by_code(t, &r))
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
	uint64_t pc = t->p.gpr[VT_REG_IP];
	int status;

	if (!vt_facts_decode(code, tracee_read(&t->p, pc, code, sizeof(code)), &f))
		f.flags = 0;
	if (ptrace(PTRACE_SINGLESTEP, t->p.pid, NULL, tracee_pointer((uint64_t)*signal)) < 0 ||
	    waitpid(t->p.pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return false;
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	tracee_registers(&t->p);
	if (*signal)
		t->depth = 0; /* a handler may come, and return to anywhere */
	else if (f.flags & VT_FACT_CALL && t->depth < DEPTH)
		t->calls[t->depth++] = (struct call){t->p.gpr[VT_REG_SP], pc + f.length};
	else if (f.flags & VT_FACT_SYSCALL)
		read_mappings(t);
	return true;
}

static void start(struct tracer *t, char **argv, unsigned long calls)
{
	int status;

	tracee_start(&t->p, argv);
	for (calls *= 2; calls; calls--)
		if (ptrace(PTRACE_SYSCALL, t->p.pid, NULL, NULL) < 0 ||
		    waitpid(t->p.pid, &status, 0) < 0 || !WIFSTOPPED(status))
			die("the program has ended");
	tracee_registers(&t->p);
	read_mappings(t);
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
	for (steps = strtoul(argv[2], NULL, 0); steps && step(&t, &signal); steps--)
		check(&t);
	printf("steps %" PRIu64 " known %" PRIu64 " covered %" PRIu64 " wrong %" PRIu64
	       " by code %" PRIu64 "\n",
	       t.steps, t.known, t.covered, t.wrong, t.by_code);
	tracee_kill(&t.p);
	vt_addrspace_free(t.as);
	vt_images_free(t.images);
	return t.wrong ? 1 : 0;
}
