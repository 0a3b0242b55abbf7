/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* registers in a signal's context, arch_prctl() */
#include "tests/unit/machine/insn/nativerun.h"

#include <asm/prctl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* fxsave's image: Intel SDM volume 1, 10.5.1. */
#define FX_SIZE	 512
#define FX_FCW	 0
#define FX_MXCSR 24
#define FX_XMM	 160

#define PAGE	   4096
#define WHERE	   0x21000000 /* asked for, so that runs are alike */
#define DATA_AT	   (PAGE + 1024)
#define STUB	   14 /* bytes of a jump to any address */
#define JUMP	   5
#define STACK_SIZE (64 * 1024)

#define FLAG_TF (1 << 8)
#define FLAG_DF (1 << 10)
#define FLAG_AC (1 << 18)

/* What the assembly code below reads and writes; it knows the offsets as numbers. */
struct native_area {
	uint64_t gpr[16];
	uint64_t flags;
	uint64_t target;
	uint64_t stack;
	uint32_t exit;
	uint32_t avx;
	uint64_t vector[16][4];
	uint8_t fx[FX_SIZE];
	uint64_t out_gpr[16];
	uint64_t out_flags;
	uint64_t padding;
	uint64_t out_vector[16][4];
	uint8_t out_fx[FX_SIZE];
};

_Static_assert(offsetof(struct native_area, flags) == 128, "flags");
_Static_assert(offsetof(struct native_area, stack) == NATIVE_STACK_AT, "stack");
_Static_assert(offsetof(struct native_area, exit) == 152, "exit");
_Static_assert(offsetof(struct native_area, vector) == 160, "vector");
_Static_assert(offsetof(struct native_area, fx) == 672, "fx");
_Static_assert(offsetof(struct native_area, out_gpr) == 1184, "out_gpr");
_Static_assert(offsetof(struct native_area, out_flags) == 1312, "out_flags");
_Static_assert(offsetof(struct native_area, out_vector) == 1328, "out_vector");
_Static_assert(offsetof(struct native_area, out_fx) == 1840, "out_fx");

/* Named in the assembly code, which is why these are not static. */
void native_enter(void);
void native_leave_through(void);
void native_leave_branch(void);
void native_leave_signal(void);

_Alignas(64) struct native_area native_area;
static volatile sig_atomic_t caught;
static volatile uint64_t caught_rsp;
static sigjmp_buf way_out;

#define EACH_VECTOR(DO)                                                                            \
	DO(0)                                                                                      \
	DO(1)                                                                                      \
	DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define LOAD(n)	      "vmovdqu native_area+160+32*" #n "(%rip), %ymm" #n "\n"
#define STORE(n)      "vmovdqu %ymm" #n ", native_area+1328+32*" #n "(%rip)\n"
#define GPR_IN(i, r)  "movq native_area+8*" #i "(%rip), %" #r "\n"
#define GPR_OUT(i, r) "movq %" #r ", native_area+1184+8*" #i "(%rip)\n"
#define EACH_GPR(DO)                                                                               \
	DO(0, rax)                                                                                 \
	DO(1, rcx)                                                                                 \
	DO(2, rdx)                                                                                 \
	DO(3, rbx)                                                                                 \
	DO(5, rbp)                                                                                 \
	DO(6, rsi)                                                                                 \
	DO(7, rdi)                                                                                 \
	DO(8, r8) DO(9, r9) DO(10, r10) DO(11, r11) DO(12, r12) DO(13, r13) DO(14, r14) DO(15, r15)

/* Of these, only moves come behind the flags. */
__asm__(".text\n"
	".globl native_enter, native_leave_through, native_leave_branch, native_leave_signal\n"
	".type native_enter, @function\n"
	"native_enter:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, native_area+144(%rip)\n"
	"fxrstor64 native_area+672(%rip)\n"
	"cmpl $0, native_area+156(%rip)\n"
	"je 1f\n" EACH_VECTOR(
		LOAD) "1:\n"
		      "pushq native_area+128(%rip)\n"
		      "popfq\n" EACH_GPR(
			      GPR_IN) "movq native_area+8*4(%rip), %rsp\n"
				      "jmp *native_area+136(%rip)\n"
				      "native_leave_through:\n"
				      "movl $0, native_area+152(%rip)\n"
				      "jmp 2f\n"
				      "native_leave_branch:\n"
				      "movl $1, native_area+152(%rip)\n"
				      "jmp 2f\n"
				      "native_leave_signal:\n"
				      "movl $2, native_area+152(%rip)\n"
				      "2:\n" EACH_GPR(
					      GPR_OUT) "movq %rsp, native_area+1184+8*4(%rip)\n"
						       "movq native_area+144(%rip), %rsp\n"
						       "pushfq\n"
						       "popq native_area+1312(%rip)\n"
						       "pushq $2\n"
						       "popfq\n"
						       "fxsave64 native_area+1840(%rip)\n"
						       "cmpl $0, native_area+156(%rip)\n"
						       "je 3f\n" EACH_VECTOR(
							       STORE) "vzeroupper\n"
								      "3:\n"
								      "fninit\n"
								      "pushq $0x1f80\n"
								      "ldmxcsr (%rsp)\n"
								      "pop %rax\n"
								      "pop %r15; pop %r14; pop "
								      "%r13; pop %r12; pop %rbp; "
								      "pop %rbx\n"
								      "ret\n"
								      ".size native_enter, "
								      ".-native_enter\n");

/*
 * Leaves on the stack of native_enter(): where the code's rsp is not an address that the processor
 * would use, not every machine can return from a signal to it.  A second signal comes of leaving
 * itself, which is then given up.
 */
static void on_signal(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)info;
	if (caught)
		siglongjmp(way_out, 1);
	caught = number;
	caught_rsp = (uint64_t)c->uc_mcontext.gregs[REG_RSP];
	c->uc_mcontext.gregs[REG_RSP] = (greg_t)native_area.stack;
	c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)(FLAG_TF | FLAG_DF | FLAG_AC);
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)native_leave_signal;
}

static const int signals[] = {SIGILL, SIGSEGV, SIGFPE, SIGBUS, SIGTRAP};

#define NSIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct {
	struct sigaction actions[NSIGNALS];
	stack_t stack;
	uint8_t *memory;
} before;

static bool catch_signals(void)
{
	struct sigaction action;
	stack_t stack = {.ss_size = STACK_SIZE};
	size_t i;

	before.memory = malloc(STACK_SIZE);
	stack.ss_sp = before.memory;
	if (!before.memory || sigaltstack(&stack, &before.stack) < 0)
		return false;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	for (i = 0; i < NSIGNALS; i++)
		if (sigaction(signals[i], &action, &before.actions[i]) < 0)
			return false;
	return true;
}

bool native_open(struct native *n)
{
	const uintptr_t where = WHERE;
	void *map, *hint;

	memcpy(&hint, &where, sizeof(hint));
	map = mmap(hint, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (map == MAP_FAILED)
		return false;
	n->data = (uint8_t *)map + DATA_AT;
	n->code = (uint8_t *)map + 3 * PAGE;
	n->data_addr = (uintptr_t)n->data;
	n->code_addr = (uintptr_t)n->code;
	n->has_avx = __builtin_cpu_supports("avx");
	return mprotect((uint8_t *)map + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0 &&
	       mprotect(n->code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 && catch_signals();
}

void native_close(struct native *n)
{
	size_t i;

	for (i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &before.actions[i], NULL);
	sigaltstack(&before.stack, NULL);
	free(before.memory);
	munmap(n->data - DATA_AT, 5 * PAGE);
}

uint64_t native_through(const struct native *n, size_t size)
{
	return n->code_addr + size + JUMP + STUB;
}

uint64_t native_branch(const struct native *n, size_t size)
{
	return n->code_addr + size + JUMP;
}

/* jmp *0(%rip), and the address. */
static void put_stub(uint8_t *at, void (*to)(void))
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
	uint64_t addr = (uintptr_t)to;

	memcpy(at, jump, sizeof(jump));
	memcpy(at + 6, &addr, sizeof(addr));
}

void native_run(struct native *n, size_t size, const struct native_state *in,
		struct native_result *out)
{
	struct native_area *a = &native_area;
	uint16_t fcw = 0x37f;
	size_t i;

	memcpy(n->code + size, "\xe9\x0e\0\0\0", JUMP); /* over the first stub */
	put_stub(n->code + size + JUMP, native_leave_branch);
	put_stub(n->code + size + JUMP + STUB, native_leave_through);
	memcpy(a->gpr, in->gpr, sizeof(a->gpr));
	memcpy(a->vector, in->vector, sizeof(a->vector));
	memset(a->fx, 0, sizeof(a->fx));
	memcpy(a->fx + FX_FCW, &fcw, sizeof(fcw));
	memcpy(a->fx + FX_MXCSR, &in->mxcsr, sizeof(in->mxcsr));
	for (i = 0; i < 16; i++)
		memcpy(a->fx + FX_XMM + 16 * i, in->vector[i], 16);
	a->flags = in->flags;
	a->target = n->code_addr;
	a->avx = n->has_avx;
	caught = 0;
	syscall(SYS_arch_prctl, ARCH_SET_GS, in->gs);
	if (sigsetjmp(way_out, 1) == 0)
		native_enter();
	out->exit = caught ? NATIVE_SIGNAL : (enum native_exit)a->exit;
	out->signal = caught;
	memcpy(out->state.gpr, a->out_gpr, sizeof(a->out_gpr));
	if (caught)
		out->state.gpr[4] = caught_rsp;
	memcpy(out->state.vector, a->out_vector, sizeof(a->out_vector));
	for (i = 0; i < 16; i++)
		memcpy(out->state.vector[i], a->out_fx + FX_XMM + 16 * i, 16);
	memcpy(&out->state.mxcsr, a->out_fx + FX_MXCSR, sizeof(out->state.mxcsr));
	out->state.flags = a->out_flags;
	out->state.gs = in->gs;
}
