/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include "cmd/agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/agent/place.h"
#include "cmd/agent/syscall.h"

/* Of asm/hwcap2.h: user code may use RDFSBASE and its like. */
#define HWCAP2_HAS_FSGSBASE 2

struct agent agent = {.fd = -1};

/* ---- the event ---- */

/*
 * sigtrap: a signal in the thread itself, before it returns to user code.  inherit_thread: also in
 * threads that start later, but not in processes, which arm themselves.  A signal that is pending
 * over exec() would end the new program, so the event ends there.
 */
static long open_event(void)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = agent.shared->event_type,
		.config = agent.shared->event_config,
		.sample_period = agent.shared->period,
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sig_data = AGENT_COOKIE,
	};

	return agent_syscall(SYS_perf_event_open, (long)&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

/* Programs count on getting the lowest number that is free, so ours is moved out of the way. */
static int move_up(int fd)
{
	struct rlimit limit;
	int lowest = 1000, moved;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= (rlim_t)lowest)
		lowest = (int)(limit.rlim_cur - limit.rlim_cur / 4);
	moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	if (moved < 0)
		return fd;
	agent_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return moved;
}

int agent_arm(void)
{
	long fd = open_event();

	if (fd < 0) {
		__atomic_store_n(&agent.shared->not_armed, (uint32_t)-fd, __ATOMIC_RELAXED);
		agent_count_loss(AGENT_NOT_ARMED);
		return (int)-fd;
	}
	agent.fd = move_up((int)fd);
	agent_tell_attached();
	return (int)-agent_syscall(SYS_ioctl, agent.fd, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
}

/* The parent's event is not the child's. */
static void arm_child(void)
{
	int saved = errno;

	if (agent.fd >= 0)
		agent_syscall(SYS_close, agent.fd, 0, 0, 0, 0, 0);
	agent.fd = -1;
	agent.pid = (pid_t)agent_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	agent_forget_steps();
	if (!agent.shared->stop && !agent.left_alone)
		agent_arm();
	errno = saved;
}

/* ---- the start ---- */

/* Where the call frame information begins; the counts are checked once, when the file is mapped. */
static uint64_t frames_at(const struct agent_shared *s)
{
	return AGENT_PAGE * (uint64_t)(1 + s->nrings) + (uint64_t)s->ring_size * s->nrings;
}

static bool is_sound(const struct agent_shared *s, uint64_t size)
{
	return size >= AGENT_PAGE && s->magic == AGENT_MAGIC && s->nrings > 0 &&
	       s->nrings <= AGENT_RINGS && s->ring_size >= AGENT_PAGE &&
	       (s->ring_size & (s->ring_size - 1)) == 0 &&
	       size >= frames_at(s) + sizeof(struct agent_frames) * AGENT_BLOCKS;
}

static struct agent_shared *map_shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct agent_shared *s = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && st.st_size >= AGENT_PAGE)
		s = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s == MAP_FAILED)
		return NULL;
	if (is_sound(s, (uint64_t)st.st_size)) {
		agent.frames = (struct agent_frames *)((uint8_t *)s + frames_at(s));
		return s;
	}
	munmap(s, (size_t)st.st_size);
	return NULL;
}

static void find_clock(void)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (vdso)
		*(void **)&agent.now = dlsym(vdso, "__vdso_clock_gettime");
}

__attribute__((constructor)) static void start_agent(void)
{
	const char *path = getenv(AGENT_VARIABLE);
	int saved = errno;

	agent.shared = path ? map_shared(path) : NULL;
	if (!agent.shared || agent.shared->stop || agent_finds_sandbox()) {
		errno = saved;
		return;
	}
	agent.pid = getpid();
	agent.program = (uint32_t)agent.pid ^ (uint32_t)__builtin_ia32_rdtsc();
	agent.fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_HAS_FSGSBASE;
	agent_free_places();
	agent_find_xstate();
	find_clock();
	if (!agent_make_places())
		agent_count_loss(AGENT_NOT_ARMED);
	else if (agent_is_traced())
		agent_tell_attached();
	else if (!agent_install_handlers() || pthread_atfork(NULL, NULL, arm_child) != 0)
		agent_count_loss(AGENT_NOT_ARMED);
	else
		agent_arm();
	errno = saved;
}
