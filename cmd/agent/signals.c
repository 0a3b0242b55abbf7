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
 * SIGTRAP is not blocked where the program blocks it: a sample would come late, with the registers
 * of another moment, or, after exec(), end a program that has no handler.  It is blocked as soon as
 * one that the program would have got is there to wait.
 */
static const int ours[] = {SIGTRAP, SIGSEGV, SIGBUS};
#define NOURS (sizeof(ours) / sizeof(ours[0]))

/* The kernel's flag of an action that has a restorer, which all of the C library's have. */
#define HAS_RESTORER 0x04000000

static struct sigaction wanted[NOURS];
static bool installed;

/* What the program believes of SIGTRAP: in this thread's mask, and in those of handlers. */
static __thread bool trap_blocked __attribute__((tls_model("initial-exec")));
static uint64_t trap_masked; /* bit n - 1: while the handler of signal n runs */

typedef int action_fn(int, const struct sigaction *, struct sigaction *);
typedef int mask_fn(int, const sigset_t *, sigset_t *);

typedef sighandler_t signal_fn(int, sighandler_t);

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

/* A child of vfork() shares this memory, but neither the handlers nor the event. */
static bool is_sampled(void)
{
	return installed && agent_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == agent.pid;
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
	sigdelset(&mask, SIGTRAP);
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

/* A SIGTRAP that somebody has sent waits, as in the program that would have blocked it. */
static void let_wait(siginfo_t *info, ucontext_t *u)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	agent_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, 8, 0, 0);
	sigaddset(&u->uc_sigmask, SIGTRAP);
	agent_syscall(SYS_rt_tgsigqueueinfo, agent_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
		      agent_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), SIGTRAP, (long)info, 0, 0);
}

/* Apart: a sample has no room on the stack for what this needs. */
__attribute__((noinline)) static void handle_program_trap(int sig, siginfo_t *info, void *context)
{
	if (!trap_blocked)
		call_wanted(sig, info, context);
	else if (info->si_code <= 0)
		let_wait(info, context);
	else
		end_by_signal(sig, info);
}

static void handle_trap(int sig, siginfo_t *info, void *context)
{
	if (agent_is_sample(info))
		agent_take_sample(info, context);
	else if (!agent_take_step(info, context))
		handle_program_trap(sig, info, context);
}

/*
 * While the handler of a sample runs, another sample may wait, blocked.  A fault then makes the
 * kernel deliver the first synchronous signal that waits, blocked or not
 * (dequeue_synchronous_signal()): SIGTRAP, and the fault on top of it.  Where the fault was is then
 * in the context that handle_trap(), at its first instruction, has as its argument.
 */
static void *find_fault(ucontext_t *u)
{
	void *below = u;

	if (u->uc_mcontext.gregs[REG_RIP] == (greg_t)handle_trap)
		memcpy(&below, &u->uc_mcontext.gregs[REG_RDX], sizeof(below));
	return below;
}

static void handle_fault(int sig, siginfo_t *info, void *context)
{
	context = find_fault(context);
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
			sigdelset(&act.sa_mask, SIGTRAP);
			act.sa_flags = (w->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
		}
	}
	return set_action(sig, &act, NULL);
}

/* A mask is inherited over exec(). */
static void unblock_at_start(void)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	agent_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, (long)&old, 8, 0, 0);
	trap_blocked = sigismember(&old, SIGTRAP);
}

bool agent_install_handlers(void)
{
	size_t i;

	for (i = 0; i < NOURS; i++)
		if (set_action(ours[i], NULL, &wanted[i]) < 0)
			return false;
	installed = true;
	unblock_at_start();
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

static bool is_ours(const struct sigaction *act)
{
	return act->sa_sigaction == handle_trap || act->sa_sigaction == handle_fault;
}

/* Sets an action of a process without samples, which sees none of ours all the same. */
static int set_unsampled_action(int sig, const struct sigaction *act, struct sigaction *old)
{
	const struct sigaction *w = find_wanted(sig);

	if (set_action(sig, act, old) < 0)
		return -1;
	if (old && w && is_ours(old))
		*old = *w;
	return 0;
}

/* An action of a signal that is none of ours; SIGTRAP is not blocked by it. */
static int set_other_action(int sig, const struct sigaction *act, struct sigaction *old)
{
	uint64_t bit = sig > 0 && sig <= 64 ? UINT64_C(1) << (sig - 1) : 0;
	uint64_t before = __atomic_load_n(&trap_masked, __ATOMIC_RELAXED);
	struct sigaction changed;

	if (act) {
		changed = *act;
		sigdelset(&changed.sa_mask, SIGTRAP);
	}
	if (set_action(sig, act ? &changed : NULL, old) < 0)
		return -1;
	if (act && sigismember(&act->sa_mask, SIGTRAP) == 1)
		__atomic_fetch_or(&trap_masked, bit, __ATOMIC_RELAXED);
	else if (act)
		__atomic_fetch_and(&trap_masked, ~bit, __ATOMIC_RELAXED);
	if (old && before & bit)
		sigaddset(&old->sa_mask, SIGTRAP);
	return 0;
}

AGENT_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction *w = find_wanted(sig), before;

	if (!installed)
		return set_action(sig, act, old);
	if (!is_sampled())
		return set_unsampled_action(sig, act, old);
	if (!w)
		return set_other_action(sig, act, old);
	before = *w;
	if (act) {
		*w = *act;
		w->sa_flags |= HAS_RESTORER;
		sigdelset(&w->sa_mask, SIGKILL);
		sigdelset(&w->sa_mask, SIGSTOP);
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

/* Those of the C library call its own sigaction(), and know what siginterrupt() was told. */
AGENT_EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	signal_fn *real = find_wanted(sig) ? NULL : (signal_fn *)find_real("signal");

	return real ? real(sig, handler) : set_handler(sig, handler, SA_RESTART);
}

AGENT_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler);
AGENT_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	return signal(sig, handler);
}

AGENT_EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return set_handler(sig, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

AGENT_EXPORT sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	return __sysv_signal(sig, handler);
}

static bool is_blocked_by(int how, const sigset_t *set, bool before)
{
	int in = sigismember(set, SIGTRAP) == 1;

	if (how == SIG_SETMASK)
		return in;
	return in ? how == SIG_BLOCK : before;
}

static int set_mask(mask_fn *real, int how, const sigset_t *set, sigset_t *old)
{
	bool before = trap_blocked;
	sigset_t changed;
	int rc;

	if (!is_sampled())
		return real(how, set, old);
	if (set) {
		changed = *set;
		if (how != SIG_UNBLOCK)
			sigdelset(&changed, SIGTRAP);
		trap_blocked = is_blocked_by(how, set, before);
	}
	rc = real(how, set ? &changed : NULL, old);
	if (rc != 0)
		trap_blocked = before;
	else if (old && before)
		sigaddset(old, SIGTRAP);
	return rc;
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
