/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/agent/agent.h"
#include "cmd/agent/syscall.h"

/*
 * Programs that are left alone.  One that forbids itself system calls (seccomp(2)) may be ended by
 * those of the agent; which ones it forbids cannot be told, so its samples end there.  One that
 * runs in a debugger would be stopped at each sample, by a signal that it knows nothing of.
 */

typedef int prctl_fn(int, long, long, long, long);
typedef long syscall_fn(long, long, long, long, long, long, long);
typedef long ptrace_fn(long, long, long, long);

/* Functions of unspecified arguments, all of which are passed on. */
AGENT_EXPORT int set_process(int what, long a, long b, long c, long d) __asm__("prctl");
AGENT_EXPORT long call_system(long n, long a, long b, long c, long d, long e,
			      long f) __asm__("syscall");
AGENT_EXPORT long trace_process(long what, long a, long b, long c) __asm__("ptrace");

/* False: it has been left already, or is another one, made by vfork(2). */
static bool leave_process(void)
{
	int fd = agent.fd;

	if (!agent.shared || agent.left_alone ||
	    agent_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != agent.pid)
		return false;
	agent.left_alone = true;
	agent.fd = -1;
	if (fd >= 0)
		agent_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return true;
}

/* Without a filter the kernel is only asked whether it has them. */
int set_process(int what, long a, long b, long c, long d)
{
	static prctl_fn *real;

	if (what == PR_SET_SECCOMP && (a == SECCOMP_MODE_STRICT || b) && leave_process())
		agent_count_loss(AGENT_SANDBOX);
	if (!real)
		real = (prctl_fn *)dlsym(RTLD_NEXT, "prctl");
	return real(what, a, b, c, d);
}

long call_system(long n, long a, long b, long c, long d, long e, long f)
{
	static syscall_fn *real;

	if (n == SYS_seccomp &&
	    (a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c)) &&
	    leave_process())
		agent_count_loss(AGENT_SANDBOX);
	if (!real)
		real = (syscall_fn *)dlsym(RTLD_NEXT, "syscall");
	return real(n, a, b, c, d, e, f);
}

/* A debugger's child, before it executes the program, which counts as one then. */
long trace_process(long what, long a, long b, long c)
{
	static ptrace_fn *real;

	if (what == PTRACE_TRACEME)
		leave_process();
	if (!real)
		real = (ptrace_fn *)dlsym(RTLD_NEXT, "ptrace");
	return real(what, a, b, c);
}

/* The number that the kernel tells of the process behind a name, or 0. */
static uint32_t find_number(const char *name)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (fd >= 0)
		agent_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	text[size > 0 ? size : 0] = '\0';
	at = strstr(text, name);
	return at ? (uint32_t)strtoul(at + strlen(name), NULL, 10) : 0;
}

/* Returns what the first program has at `place`; it is set to `here` if this is the first. */
static uint32_t find_first(uint32_t *place, uint32_t here)
{
	uint32_t first = 0;

	__atomic_compare_exchange_n(place, &first, here, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return first ? first : here;
}

/* Filters stay over exec().  Those of the first program are there for the recorder, too. */
bool agent_finds_sandbox(void)
{
	uint32_t filters = find_number("\nSeccomp_filters:") + 1;

	agent.left_alone = filters > find_first(&agent.shared->filters, filters);
	if (agent.left_alone)
		agent_count_loss(AGENT_SANDBOX);
	return agent.left_alone;
}

/* A debugger of the first program has come by the recorder. */
bool agent_is_traced(void)
{
	uint32_t tracer = find_number("\nTracerPid:") + 1;

	if (find_first(&agent.shared->tracer, tracer) == tracer || tracer == 1)
		return false;
	agent_count_loss(AGENT_TRACED);
	return true;
}
