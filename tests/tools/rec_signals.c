/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_signals
 *
 * Signals of all sorts: raised; raised while a handler runs; a fault that the handler repairs, so
 * that the instruction is executed again; a fault that the handler leaves with siglongjmp; one on
 * a stack of its own. Prints how often each handler ran.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static volatile sig_atomic_t raised, nested, repaired, escaped, alternate;
static unsigned char *page;
static sigjmp_buf back;

static void on_usr1(int sig)
{
	(void)sig;
	raised++;
	raise(SIGUSR2);
}

static void on_usr2(int sig)
{
	(void)sig;
	nested++;
}

static void on_segv(int sig)
{
	(void)sig;
	repaired++;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void on_bus(int sig)
{
	(void)sig;
	escaped++;
	siglongjmp(back, 1);
}

static void on_stack(int sig)
{
	(void)sig;
	alternate++;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = flags;
	sigaction(sig, &sa, NULL);
}

/* Two loads in a block, of which the second faults. */
static unsigned touch(volatile unsigned *good, volatile unsigned char *bad)
{
	return *good + *bad;
}

int main(void)
{
	static unsigned char alt[65536];
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};
	volatile unsigned good = 5;
	volatile unsigned sum = 0;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	page[1] = 7;
	handle(SIGUSR1, on_usr1, 0);
	handle(SIGUSR2, on_usr2, 0);
	for (int i = 0; i < 10; i++)
		raise(SIGUSR1);

	handle(SIGSEGV, on_segv, 0);
	for (int i = 0; i < 10; i++) {
		mprotect(page, PAGE, PROT_NONE);
		sum += touch(&good, page + 1);
	}
	handle(SIGSEGV, on_bus, 0);
	mprotect(page, PAGE, PROT_NONE);
	for (volatile int i = 0; i < 10; i++) {
		if (sigsetjmp(back, 1) == 0)
			sum += touch(&good, page + 1);
	}
	sigaltstack(&ss, NULL);
	handle(SIGTERM, on_stack, SA_ONSTACK);
	for (int i = 0; i < 10; i++)
		raise(SIGTERM);
	printf("raised %d nested %d repaired %d escaped %d alternate %d sum %u\n", (int)raised,
	       (int)nested, (int)repaired, (int)escaped, (int)alternate, sum);
	return 0;
}
