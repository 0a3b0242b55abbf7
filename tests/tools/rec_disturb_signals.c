/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_disturb_signals [CASE]
 *
 * What a program sees of signals: calls that signals interrupt, handlers of its own, masks. Without
 * CASE it prints their names.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/tools/rec_disturb.h"

#define PAGE 4096
#define TRAP 0x100 /* of the flags register */

static volatile sig_atomic_t caught, code;
static sigjmp_buf back;

static void count_signal(int sig)
{
	(void)sig;
	caught++;
}

static void set_action(int sig, void (*handler)(int), int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};

	sigaction(sig, &act, NULL);
}

static void set_info_action(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};

	sigaction(sig, &act, NULL);
}

static void trap_here(void)
{
	__asm__ volatile("int3");
}

/* ---- calls that a signal would interrupt ---- */

#define ROUNDS 400

enum { POLL, EPOLL, SLEEP, SIGWAIT, READ, ACCEPT, SEMAPHORE, NWAITS };

/* Waits a millisecond in each of the calls. */
static void wait_once(int epoll, int timer, int listener, sem_t *sem, unsigned interrupted[NWAITS])
{
	struct timespec ms = {0, 1000000}, until;
	struct epoll_event ev;
	sigset_t set;
	char byte;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	interrupted[POLL] += poll(NULL, 0, 1) < 0 && errno == EINTR;
	disturb_work(1);
	interrupted[EPOLL] += epoll_wait(epoll, &ev, 1, 1) < 0 && errno == EINTR;
	disturb_work(1);
	interrupted[SLEEP] += nanosleep(&ms, NULL) < 0;
	disturb_work(1);
	interrupted[SIGWAIT] += sigtimedwait(&set, NULL, &ms) < 0 && errno == EINTR;
	interrupted[READ] += read(timer, &byte, 1) != 1;
	disturb_work(1);
	interrupted[ACCEPT] += accept(listener, NULL, NULL) < 0 && errno == EINTR;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	interrupted[SEMAPHORE] += sem_timedwait(sem, &until) < 0 && errno == EINTR;
}

/* Writes a byte now and then, so that read() waits for it. */
static void *write_bytes(void *arg)
{
	struct timespec ms = {0, 2000000};
	int i;

	for (i = 0; i < ROUNDS; i++) {
		nanosleep(&ms, NULL);
		if (write(*(int *)arg, "x", 1) != 1)
			return NULL;
	}
	return NULL;
}

static int count_interrupts(void)
{
	static const char *const names[NWAITS] = {"poll",	  "epoll_wait", "nanosleep",
						  "sigtimedwait", "read",	"accept",
						  "sem_timedwait"};
	struct timeval ms = {0, 1000};
	int pipes[2], epoll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0), i;
	unsigned interrupted[NWAITS] = {0};
	pthread_t writer;
	sem_t sem;

	if (pipe(pipes) < 0 || epoll < 0 || listener < 0 || listen(listener, 1) < 0)
		return 1;
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &ms, sizeof(ms));
	sem_init(&sem, 0, 0);
	pthread_create(&writer, NULL, write_bytes, &pipes[1]);
	for (i = 0; i < ROUNDS; i++)
		wait_once(epoll, pipes[0], listener, &sem, interrupted);
	pthread_join(writer, NULL);
	for (i = 0; i < NWAITS; i++)
		printf("%s %u\n", names[i], interrupted[i]);
	return 0;
}

/* ---- its own SIGTRAP ---- */

static void count_breakpoint(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	caught++;
	if (info->si_code == SI_KERNEL)
		code++;
}

static int count_breakpoints(void)
{
	int i;

	set_info_action(SIGTRAP, count_breakpoint, 0);
	for (i = 0; i < 1000; i++) {
		trap_here();
		if (i % 10 == 0)
			disturb_work(1);
	}
	raise(SIGTRAP);
	printf("%d breakpoints, %d by the kernel\n", (int)caught, (int)code);
	return 0;
}

static const char *name_handler(sighandler_t h)
{
	return h == SIG_DFL ? "default" : h == SIG_IGN ? "ignore" : h == count_signal ? "own" : "?";
}

/* Handlers that are removed by their signal, or set in the old ways. */
static int set_handlers_otherwise(void)
{
	struct sigaction old;

	set_action(SIGTRAP, count_signal, (int)SA_RESETHAND);
	trap_here();
	sigaction(SIGTRAP, NULL, &old);
	printf("reset: %s\n", name_handler(old.sa_handler));
	printf("signal: %s\n", name_handler(signal(SIGTRAP, count_signal)));
	disturb_work(20);
	trap_here();
	printf("sysv: %s\n", name_handler(__sysv_signal(SIGTRAP, count_signal)));
	trap_here();
	sigaction(SIGTRAP, NULL, &old);
	printf("then: %s\n", name_handler(old.sa_handler));
	printf("ignored: %s\n", name_handler(signal(SIGTRAP, SIG_IGN)));
	disturb_work(20);
	raise(SIGTRAP);
	printf("last: %s, %d\n", name_handler(signal(SIGTRAP, SIG_DFL)), (int)caught);
	return 0;
}

static int die_of_breakpoint(void)
{
	disturb_work(20);
	trap_here();
	return 0;
}

static int die_of_ignored_breakpoint(void)
{
	signal(SIGTRAP, SIG_IGN);
	disturb_work(20);
	trap_here();
	return 0;
}

/* Single steps of its own, counted from the flag's setting to its clearing. */
static void step_on(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	if (info->si_code != TRAP_TRACE)
		code++;
	if (++caught == 50)
		u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP;
}

static int step_itself(void)
{
	int i;

	set_info_action(SIGTRAP, step_on, 0);
	for (i = 0; i < 200; i++) {
		volatile unsigned k;

		caught = 0;
		__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP) : "cc", "memory");
		for (k = 0; k < 100; k++)
			;
		if (caught != 50)
			printf("round %d: %d steps\n", i, (int)caught);
		disturb_work(1);
	}
	printf("%d others\n", (int)code);
	return 0;
}

/* A handler that blocks nothing and uses the processor. */
static void work_in_handler(int sig)
{
	caught++;
	if (caught % 4)
		raise(sig);
	disturb_work(5);
}

static int nest_handlers(void)
{
	int i;

	set_action(SIGTRAP, work_in_handler, SA_NODEFER);
	for (i = 0; i < 20; i++)
		trap_here();
	printf("%d\n", (int)caught);
	return 0;
}

static void leave_handler(int sig)
{
	(void)sig;
	caught++;
	siglongjmp(back, 1);
}

static int leave_handlers(void)
{
	volatile int i;

	set_action(SIGTRAP, leave_handler, 0);
	for (i = 0; i < 300; i++) {
		if (sigsetjmp(back, 1) == 0)
			trap_here();
		disturb_work(1);
	}
	printf("%d\n", (int)caught);
	return 0;
}

/* ---- its own faults ---- */

static uint8_t *pages;

static void make_page(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	caught++;
	mprotect((uint8_t *)info->si_addr - (uintptr_t)info->si_addr % PAGE, PAGE,
		 PROT_READ | PROT_WRITE);
	disturb_work(1);
}

static bool use_alternate_stack(void)
{
	static uint8_t stack[1 << 16];

	return sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL) == 0;
}

static int make_pages(void)
{
	int i, n = 300;

	pages = mmap(NULL, (size_t)n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || !use_alternate_stack())
		return 1;
	set_info_action(SIGSEGV, make_page, SA_ONSTACK);
	for (i = 0; i < n; i++)
		pages[(size_t)i * PAGE + (size_t)i] = 1;
	printf("%d pages\n", (int)caught);
	return 0;
}

static int leave_faults(void)
{
	volatile int i;

	pages = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || !use_alternate_stack())
		return 1;
	set_action(SIGSEGV, leave_handler, SA_ONSTACK);
	for (i = 0; i < 500; i++) {
		if (sigsetjmp(back, 1) == 0)
			pages[i] = 1;
		if (i % 5 == 0)
			disturb_work(1);
	}
	printf("%d faults\n", (int)caught);
	return 0;
}

/* Its mask is left as the handler's was, and the handler blocks everything. */
static int leave_faults_blocked(void)
{
	struct sigaction act = {.sa_handler = leave_handler, .sa_flags = SA_NODEFER};
	volatile int i;

	pages = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigfillset(&act.sa_mask);
	sigdelset(&act.sa_mask, SIGSEGV);
	sigaction(SIGSEGV, &act, NULL);
	for (i = 0; i < 20; i++) {
		if (sigsetjmp(back, 0) == 0)
			pages[i] = 1;
		disturb_work(10);
	}
	printf("%d faults\n", (int)caught);
	return 0;
}

/* Deep enough for the end of any stack. */
static int recurse(volatile int depth)
{
	volatile uint8_t room[1000];

	room[depth % 1000] = (uint8_t)depth;
	if (depth < 0)
		return room[0];
	return recurse(depth + 1) + room[depth % 1000];
}

static int overflow_stack(void)
{
	volatile int i;

	if (!use_alternate_stack())
		return 1;
	set_action(SIGSEGV, leave_handler, SA_ONSTACK);
	for (i = 0; i < 20; i++) {
		if (sigsetjmp(back, 1) == 0)
			printf("%d\n", recurse(0));
	}
	printf("%d overflows\n", (int)caught);
	return 0;
}

static int die_of_overflow(void)
{
	disturb_work(20);
	return recurse(0);
}

static int die_of_fault(void)
{
	disturb_work(20);
	pages = NULL;
	*(volatile uint8_t *)pages = 1;
	return 0;
}

static int die_of_sent_fault(void)
{
	disturb_work(20);
	kill(getpid(), SIGSEGV);
	return 0;
}

static int ignore_sent_fault(void)
{
	signal(SIGSEGV, SIG_IGN);
	kill(getpid(), SIGSEGV);
	disturb_work(20);
	puts("alive");
	fflush(stdout);
	pages = NULL;
	*(volatile uint8_t *)pages = 1;
	return 0;
}

static int read_cut_file(void)
{
	FILE *f = tmpfile();
	volatile int i;

	if (!f || ftruncate(fileno(f), 4L * PAGE) < 0)
		return 1;
	pages = mmap(NULL, 4L * PAGE, PROT_READ, MAP_SHARED, fileno(f), 0);
	if (pages == MAP_FAILED || ftruncate(fileno(f), PAGE) < 0)
		return 1;
	set_action(SIGBUS, leave_handler, 0);
	for (i = 0; i < 400; i++) {
		if (sigsetjmp(back, 1) == 0)
			caught += pages[(i % 4) * PAGE];
		if (i % 10 == 0)
			disturb_work(1);
	}
	printf("%d bus errors\n", (int)caught);
	return 0;
}

/* ---- what it is told of its settings ---- */

static void print_set(const char *what, const sigset_t *set)
{
	int sig, n = 0;

	for (sig = 1; sig < 65; sig++)
		n += sigismember(set, sig) == 1;
	printf("%s: %d, trap %d fault %d\n", what, n, sigismember(set, SIGTRAP),
	       sigismember(set, SIGSEGV));
}

static int tell_settings(void)
{
	static const int sigs[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGUSR1, SIGPROF};
	struct sigaction act = {.sa_handler = count_signal}, old;
	unsigned i;

	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
		act.sa_flags = i % 2 ? SA_RESTART : SA_NODEFER | SA_ONSTACK;
		sigfillset(&act.sa_mask);
		if (i == 2)
			sigemptyset(&act.sa_mask);
		sigaction(sigs[i], NULL, &old);
		printf("%d: %s %x\n", sigs[i], name_handler(old.sa_handler), old.sa_flags);
		sigaction(sigs[i], &act, &old);
		sigaction(sigs[i], &(struct sigaction){.sa_handler = SIG_IGN}, &old);
		printf("%d: %s %x\n", sigs[i], name_handler(old.sa_handler), old.sa_flags);
		print_set("mask", &old.sa_mask);
	}
	printf("kill: %d\n", sigaction(SIGKILL, &act, NULL));
	return 0;
}

/* Phases with all signals blocked, then work. */
static int block_all(void)
{
	sigset_t all, old, now;
	int i;

	sigfillset(&all);
	set_action(SIGUSR1, count_signal, 0);
	for (i = 0; i < 30; i++) {
		sigprocmask(SIG_SETMASK, &all, &old);
		raise(SIGUSR1);
		disturb_work(2);
		sigprocmask(SIG_BLOCK, NULL, &now);
		if (i == 0)
			print_set("blocked", &now);
		pthread_sigmask(SIG_SETMASK, &old, &now);
		if (i == 0) {
			print_set("before", &old);
			print_set("during", &now);
		}
		disturb_work(2);
	}
	sigprocmask(SIG_SETMASK, NULL, &now);
	print_set("after", &now);
	printf("%d signals\n", (int)caught);
	return 0;
}

/* A trap that is blocked waits until it is not. */
static int block_trap(void)
{
	sigset_t set, pending;
	int got = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	set_action(SIGTRAP, count_signal, 0);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTRAP);
	disturb_work(20);
	sigpending(&pending);
	printf("caught %d, pending %d\n", (int)caught, sigismember(&pending, SIGTRAP));
	sigwait(&set, &got);
	printf("waited for %d, caught %d\n", got, (int)caught);
	raise(SIGTRAP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	disturb_work(20);
	printf("caught %d\n", (int)caught);
	return 0;
}

/* siginterrupt() tells what signal() then asks for. */
static int interrupt_calls(void)
{
	struct itimerval soon = {.it_value = {0, 20000}};
	int pipes[2];
	char byte;

	if (pipe(pipes) < 0)
		return 1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	siginterrupt(SIGALRM, 1);
#pragma GCC diagnostic pop
	signal(SIGALRM, count_signal);
	setitimer(ITIMER_REAL, &soon, NULL);
	printf("read %d", (int)read(pipes[0], &byte, 1));
	printf(" errno %d caught %d\n", errno, (int)caught);
	return 0;
}

static int use_profiling_timer(void)
{
	struct itimerval each = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};

	set_action(SIGPROF, count_signal, SA_RESTART);
	setitimer(ITIMER_PROF, &each, NULL);
	while (caught < 20)
		disturb_work(5);
	setitimer(ITIMER_PROF, &off, NULL);
	printf("at least %d\n", caught >= 20 ? 20 : (int)caught);
	return 0;
}

/* ---- stacks ---- */

#define COROUTINES 8
#define SWITCHES   2000

static ucontext_t scheduler, routines[COROUTINES];
static volatile uint32_t sums[COROUTINES];

static void run_routine(int n)
{
	unsigned i, k;

	for (i = 0; i < SWITCHES; i++) {
		for (k = 0; k < 5000; k++)
			sums[n] = sums[n] * 31 + k + (unsigned)n;
		swapcontext(&routines[n], &scheduler);
	}
}

/* Stacks that have hardly room for a signal: pages that nothing may touch lie between them. */
static int run_coroutines(void)
{
	size_t size = PAGE;
	uint8_t *area =
		mmap(NULL, COROUTINES * 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int i, k;

	for (i = 0; i < COROUTINES; i++) {
		uint8_t *stack = area + (size_t)(2 * i + 1) * size;

		mprotect(stack, size, PROT_READ | PROT_WRITE);
		getcontext(&routines[i]);
		routines[i].uc_stack = (stack_t){.ss_sp = stack, .ss_size = size};
		routines[i].uc_link = &scheduler;
		makecontext(&routines[i], (void (*)(void))run_routine, 1, i);
	}
	for (k = 0; k <= SWITCHES; k++)
		for (i = 0; i < COROUTINES; i++)
			swapcontext(&scheduler, &routines[i]);
	for (i = 0; i < COROUTINES; i++)
		printf("%08x\n", (unsigned)sums[i]);
	return 0;
}

static void change_stack(int sig)
{
	static uint8_t others[2][1 << 16];
	stack_t s = {.ss_sp = others[caught % 2], .ss_size = sizeof(others[0])}, old;

	(void)sig;
	caught++;
	/* It stands on the old one: the kernel refuses, and says so. */
	code += sigaltstack(&s, &old) < 0 && errno == EPERM && old.ss_flags == SS_ONSTACK;
	disturb_work(2);
}

static int change_stacks(void)
{
	stack_t old;
	int i;

	sigaltstack(NULL, &old);
	printf("at the start: %d %zu\n", old.ss_flags, old.ss_size);
	use_alternate_stack();
	set_action(SIGUSR1, change_stack, SA_ONSTACK);
	for (i = 0; i < 50; i++) {
		raise(SIGUSR1);
		if (i == 25)
			sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
		disturb_work(2);
	}
	sigaltstack(NULL, &old);
	printf("%d handled, %d refused, flags %d\n", (int)caught, (int)code, old.ss_flags);
	return 0;
}

/* Runs on another stack, and unmaps the one that it came from. */
static void *old_stack;
static size_t old_size;

static void unmap_old_stack(void)
{
	printf("unmapped %d\n", munmap(old_stack, old_size));
	disturb_work(100);
	puts("alive");
	fflush(stdout);
	_exit(7);
}

static void *leave_stack(void *arg)
{
	static ucontext_t here, there;
	pthread_attr_t attr;
	size_t size = 1 << 16;

	(void)arg;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &old_stack, &old_size);
	/* The thread's own data lies at its end. */
	old_size -= 1 << 16;
	getcontext(&there);
	there.uc_stack = (stack_t){.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
				   .ss_size = size};
	makecontext(&there, unmap_old_stack, 0);
	swapcontext(&here, &there);
	return NULL;
}

static int unmap_stack(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, leave_stack, NULL);
	pthread_join(thread, NULL);
	return 1;
}

static jmp_buf jump;

static void jump_back(int n)
{
	longjmp(jump, n + 1);
}

static int jump_often(void)
{
	volatile unsigned sum = 0;
	volatile int i;

	for (i = 0; i < 1000000; i++) {
		int n = setjmp(jump);

		if (n == 0)
			jump_back(i % 7);
		sum = sum * 31 + (unsigned)n;
	}
	printf("%08x\n", (unsigned)sum);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct disturb_case cases[] = {
		{"interrupts", count_interrupts},
		{"breakpoints", count_breakpoints},
		{"otherwise", set_handlers_otherwise},
		{"die-breakpoint", die_of_breakpoint},
		{"die-ignored", die_of_ignored_breakpoint},
		{"steps", step_itself},
		{"nested", nest_handlers},
		{"leave-traps", leave_handlers},
		{"pages", make_pages},
		{"leave-faults", leave_faults},
		{"leave-blocked", leave_faults_blocked},
		{"overflow", overflow_stack},
		{"die-overflow", die_of_overflow},
		{"die-fault", die_of_fault},
		{"die-sent", die_of_sent_fault},
		{"ignore-sent", ignore_sent_fault},
		{"bus", read_cut_file},
		{"settings", tell_settings},
		{"block-all", block_all},
		{"block-trap", block_trap},
		{"siginterrupt", interrupt_calls},
		{"profiling", use_profiling_timer},
		{"coroutines", run_coroutines},
		{"stacks", change_stacks},
		{"unmap-stack", unmap_stack},
		{"longjmp", jump_often},
	};

	return disturb_run(cases, sizeof(cases) / sizeof(cases[0]), argc > 1 ? argv[1] : NULL);
}
