/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* sched_setaffinity() */

#include "cmd/record/worker.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "cmd/record/planted.h"

struct order {
	uint64_t loop;
	uint64_t visits;
};

/* ---- in the worker ---- */

static double read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double read_ticks(void)
{
#ifdef __x86_64__
	return (double)__rdtsc();
#else
	return 0;
#endif
}

/* One clock for all loops, also where a machine has cores of several kinds. */
static void stay_on_processor(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void work(int fd)
{
	uint64_t line = 0, last;
	struct worker_time t;
	struct order o;

	stay_on_processor();
	while (read(fd, &o, sizeof(o)) == sizeof(o)) {
		if (o.loop == PLANTED_MISS && !line && !(line = planted_lines()))
			return;
		t = (struct worker_time){.cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID),
					 .ns = read_clock(CLOCK_MONOTONIC),
					 .ticks = read_ticks()};
		last = planted_of((unsigned)o.loop)
			       ->run(o.visits, o.loop == PLANTED_MISS ? line : 12345);
		t.ticks = read_ticks() - t.ticks;
		t.ns = read_clock(CLOCK_MONOTONIC) - t.ns;
		t.cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID) - t.cpu_ns;
		if (o.loop == PLANTED_MISS)
			line = last;
		if (send(fd, &t, sizeof(t), MSG_NOSIGNAL) != sizeof(t))
			return;
	}
}

/* ---- in its parent ---- */

int worker_start(struct worker *w, struct vt_error *err)
{
	int ends[2];

	*w = (struct worker){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return vt_error_errno(err, VT_E_SYSTEM, errno, "a process for planted loops");
	w->fd = ends[0];
	w->pid = fork();
	if (w->pid == 0) {
		close(ends[0]);
		work(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	return w->pid < 0 ? vt_error_errno(err, VT_E_SYSTEM, errno, "a process for planted loops")
			  : 0;
}

int worker_run(struct worker *w, unsigned loop, uint64_t visits, struct worker_time *t,
	       struct vt_error *err)
{
	const struct order o = {.loop = loop, .visits = visits};
	ssize_t n = send(w->fd, &o, sizeof(o), MSG_NOSIGNAL);

	if (n == sizeof(o))
		while ((n = read(w->fd, t, sizeof(*t))) < 0 && errno == EINTR)
			;
	if (n == sizeof(*t))
		return 0;
	return vt_error_set(err, VT_E_SYSTEM, "the process of planted loops has ended");
}

void worker_end(struct worker *w)
{
	int status;

	if (w->fd >= 0)
		close(w->fd);
	if (w->pid <= 0)
		return;
	kill(w->pid, SIGKILL);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
}
