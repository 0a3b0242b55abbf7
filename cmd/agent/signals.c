/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "cmd/agent/agent.h"
#include "cmd/agent/syscall.h"

/*
 * The agent's handlers stand before the program's for three signals.  What the program asks for is
 * kept here, and is what it gets to see; its handler runs as the kernel would have run it.
 *
 * The program must not block SIGTRAP either: a sample would come late, with the registers of
 * another moment, or, after exec(), end a program that has no handler.
 */
static const int ours[] = {SIGTRAP, SIGSEGV, SIGBUS};
#define NOURS (sizeof(ours) / sizeof(ours[0]))

static struct sigaction wanted[NOURS];
static bool installed;

typedef int action_fn(int, const struct sigaction *, struct sigaction *);
typedef int mask_fn(int, const sigset_t *, sigset_t *);

static action_fn *real_sigaction;
static mask_fn *real_sigprocmask;
static mask_fn *real_pthread_sigmask;

/* The C library's function behind one of ours. */
static void *find_real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static int set_action(int sig, const struct sigaction *act, struct sigaction *old)
{
	if (!real_sigaction)
		real_sigaction = (action_fn *)find_real("sigaction");
	if (!real_sigaction) {
		errno = ENOSYS;
		return -1;
	}
	return real_sigaction(sig, act, old);
}

static struct sigaction *find_wanted(int sig)
{
	size_t i;

	for (i = 0; i < NOURS; i++)
		if (ours[i] == sig)
			return &wanted[i];
	return NULL;
}

/* ---- the handlers ---- */

/* Lets the signal do what it does by default: end the process. */
static void end_by_signal(int sig, const siginfo_t *info)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	bool repeats = info->si_code > 0 && sig != SIGTRAP; /* the instruction faults again */
	sigset_t set;

	set_action(sig, &act, NULL);
	if (repeats)
		return;
	sigemptyset(&set);
	sigaddset(&set, sig);
	agent_syscall(SYS_tgkill, agent_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
		      agent_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), sig, 0, 0, 0);
	agent_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, 8, 0, 0);
}

/* The mask with which the kernel would have called the program's handler. */
static void set_handler_mask(int sig, const struct sigaction *w, const ucontext_t *u)
{
	sigset_t mask;

	sigorset(&mask, &u->uc_sigmask, &w->sa_mask);
	if (!(w->sa_flags & SA_NODEFER))
		sigaddset(&mask, sig);
	agent_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8, 0, 0);
}

static void call_wanted(int sig, siginfo_t *info, void *context)
{
	struct sigaction *w = find_wanted(sig), act = *w;

	if (act.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (act.sa_handler == SIG_DFL || act.sa_handler == SIG_IGN) {
		end_by_signal(sig, info);
		return;
	}
	if (act.sa_flags & (int)SA_RESETHAND)
		w->sa_handler = SIG_DFL;
	set_handler_mask(sig, &act, context);
	if (act.sa_flags & SA_SIGINFO)
		act.sa_sigaction(sig, info, context);
	else
		act.sa_handler(sig);
}

static void handle_trap(int sig, siginfo_t *info, void *context)
{
	if (agent_is_sample(info))
		agent_take_sample(info, context);
	else if (!agent_take_step(info, context))
		call_wanted(sig, info, context);
}

static void handle_fault(int sig, siginfo_t *info, void *context)
{
	if (!agent_recover_fault(context))
		call_wanted(sig, info, context);
}

/*
 * Faults keep the flags and the mask of the program's own handler.  A sample blocks all but faults,
 * so that no other handler sees the agent's frame.
 */
static int install(int sig)
{
	const struct sigaction *w = find_wanted(sig);
	bool own = w->sa_handler != SIG_DFL && w->sa_handler != SIG_IGN;
	struct sigaction act = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	if (sig == SIGTRAP) {
		act.sa_sigaction = handle_trap;
		sigfillset(&act.sa_mask);
		sigdelset(&act.sa_mask, SIGSEGV);
		sigdelset(&act.sa_mask, SIGBUS);
	} else {
		act.sa_sigaction = handle_fault;
		sigemptyset(&act.sa_mask);
		if (own) {
			act.sa_mask = w->sa_mask;
			act.sa_flags = (w->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
		}
	}
	return set_action(sig, &act, NULL);
}

bool agent_install_handlers(void)
{
	size_t i;

	for (i = 0; i < NOURS; i++)
		if (set_action(ours[i], NULL, &wanted[i]) < 0)
			return false;
	installed = true;
	for (i = 0; i < NOURS; i++)
		if (install(ours[i]) < 0)
			return false;
	return true;
}

/* The kernel's struct sigaction begins with the handler. */
bool agent_has_handlers(void)
{
	uint64_t act[4] = {0};
	size_t i;

	for (i = 0; i < NOURS; i++) {
		uint64_t handler = (uint64_t)(i ? handle_fault : handle_trap);

		if (agent_syscall(SYS_rt_sigaction, ours[i], 0, (long)act, 8, 0, 0) < 0 ||
		    act[0] != handler)
			return false;
	}
	return true;
}

/* ---- what the program calls ---- */

static void unblock_trap(sigset_t *set)
{
	if (installed)
		sigdelset(set, SIGTRAP);
}

AGENT_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction *w = installed ? find_wanted(sig) : NULL;
	struct sigaction changed, before;

	if (!w) {
		if (!act)
			return set_action(sig, act, old);
		changed = *act;
		unblock_trap(&changed.sa_mask);
		return set_action(sig, &changed, old);
	}
	before = *w;
	if (act) {
		*w = *act;
		if (install(sig) < 0) {
			*w = before;
			return -1;
		}
	}
	if (old)
		*old = before;
	return 0;
}

static sighandler_t set_handler(int sig, sighandler_t handler, int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;

	if (flags & SA_RESTART)
		sigaddset(&act.sa_mask, sig);
	return sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

/* Those of the C library call its own sigaction(). */
AGENT_EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	return set_handler(sig, handler, SA_RESTART);
}

AGENT_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler);
AGENT_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	return set_handler(sig, handler, SA_RESTART);
}

AGENT_EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler);
AGENT_EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return set_handler(sig, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

AGENT_EXPORT sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	return __sysv_signal(sig, handler);
}

static int set_mask(mask_fn *real, int how, const sigset_t *set, sigset_t *old)
{
	sigset_t changed;

	if (!set || how == SIG_UNBLOCK)
		return real(how, set, old);
	changed = *set;
	unblock_trap(&changed);
	return real(how, &changed, old);
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	if (!real_sigprocmask)
		real_sigprocmask = (mask_fn *)find_real("sigprocmask");
	return set_mask(real_sigprocmask, how, set, old);
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	if (!real_pthread_sigmask)
		real_pthread_sigmask = (mask_fn *)find_real("pthread_sigmask");
	return set_mask(real_pthread_sigmask, how, set, old);
}
