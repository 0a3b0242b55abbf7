/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* syscall(): libc has no function for perf_event_open(2) */

#include "cmd/record/probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NO_SUCH_LEVEL (-100)

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	if (!attr->sample_period)
		attr->sample_period = 1000003;
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, 0);
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

/* Tries to open an event on this process: 0 or an errno. */
static int try_event(struct perf_event_attr *attr)
{
	return open_event(attr, 0, -1);
}

static struct perf_event_attr make_cycles_event(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
				    .config = PERF_COUNT_HW_CPU_CYCLES,
				    .exclude_kernel = 1};

	return a;
}

bool probe_number(const char *path, long *value)
{
	FILE *f = fopen(path, "r");
	bool ok;

	if (!f)
		return false;
	ok = fscanf(f, "%ld", value) == 1;
	fclose(f);
	return ok;
}

int probe_device(const char *name, uint64_t period, bool kernel)
{
	struct perf_event_attr a = {.sample_period = period, .exclude_kernel = !kernel};
	char path[128];
	long type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	if (!probe_number(path, &type))
		return ENODEV;
	a.type = (uint32_t)type;
	return try_event(&a);
}

static unsigned find_precise_level(void)
{
	struct perf_event_attr a = make_cycles_event();
	unsigned level;

	for (level = 3; level; level--) {
		a.precise_ip = level & 3;
		if (try_event(&a) == 0)
			return level;
	}
	return 0;
}

static bool samples_stacks(uint32_t type, uint64_t config, unsigned precise)
{
	struct perf_event_attr a = {
		.type = type,
		.config = config,
		.exclude_kernel = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
	};

	a.precise_ip = precise & 3;
	return try_event(&a) == 0;
}

static struct vt_stack_offer find_stack_events(void)
{
	struct vt_stack_offer o = {
		.precise = samples_stacks(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 2)};

	o.instructions =
		o.precise || samples_stacks(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0);
#ifdef __x86_64__
	/* The two kinds of cores of a hybrid have different codes. */
	if (__builtin_cpu_is("intel") && access("/sys/bus/event_source/devices/cpu_atom", F_OK) < 0)
		o.near_taken = samples_stacks(PERF_TYPE_RAW, 0x20c4, 2);
	if (__builtin_cpu_is("amd"))
		o.ret_brn_tkn = samples_stacks(PERF_TYPE_RAW, 0xc4, 0);
#endif
	return o;
}

void probe_machine(struct probe *p)
{
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1};
	struct perf_event_attr a = make_cycles_event();

	long paranoid = NO_SUCH_LEVEL, rate = 0;

	probe_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	*p = (struct probe){.paranoid = (int)paranoid};
	if (probe_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate) && rate > 0)
		p->max_rate = (uint64_t)rate;
	p->why_not = try_event(&clock);
	p->events = p->why_not == 0;
	p->all_cpus = open_event(&clock, -1, 0) == 0;
	p->why_no_cycles = try_event(&a);
	p->cycles = p->why_no_cycles == 0;
	clock.exclude_kernel = 0;
	p->kernel = try_event(&clock) == 0;
	p->precise_level = p->cycles ? find_precise_level() : 0;
	p->precise = p->precise_level > 0;
	p->branches = samples_stacks(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
	p->stacks = find_stack_events();
	p->pt = access("/sys/bus/event_source/devices/intel_pt/type", R_OK) == 0;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define SPIN_NS 10e6

uint64_t probe_cycles_per_second(void)
{
	struct perf_event_attr a = make_cycles_event();
	double start = now_ns(), ns;
	uint64_t cycles = 0;
	long fd;

	a.size = sizeof(a);
	fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 1000000000;
	while ((ns = now_ns() - start) < SPIN_NS)
		;
	if (read((int)fd, &cycles, sizeof(cycles)) != (ssize_t)sizeof(cycles))
		cycles = 0;
	close((int)fd);
	return cycles ? (uint64_t)((double)cycles * 1e9 / ns) : 1000000000;
}
