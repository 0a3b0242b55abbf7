/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* syscall(): libc has no function for perf_event_open(2) */

#include "cmd/record/probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_SUCH_LEVEL (-100)

/* Tries to open an event on this process: 0 or an errno. */
static int try_event(struct perf_event_attr *attr)
{
	long fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->sample_period = 1000003;
	fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static struct perf_event_attr make_cycles_event(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
				    .config = PERF_COUNT_HW_CPU_CYCLES,
				    .exclude_kernel = 1};

	return a;
}

static int read_paranoid_level(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	int level = NO_SUCH_LEVEL;

	if (!f)
		return level;
	if (fscanf(f, "%d", &level) != 1)
		level = NO_SUCH_LEVEL;
	fclose(f);
	return level;
}

void probe_machine(struct probe *p)
{
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1};
	struct perf_event_attr a = make_cycles_event();

	*p = (struct probe){.paranoid = read_paranoid_level()};
	p->why_not = try_event(&clock);
	p->events = p->why_not == 0;
	p->cycles = try_event(&a) == 0;
	clock.exclude_kernel = 0;
	p->kernel = try_event(&clock) == 0;
	a = make_cycles_event();
	a.precise_ip = 1;
	p->precise = p->cycles && try_event(&a) == 0;
	a = make_cycles_event();
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	a.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	p->branches = p->cycles && try_event(&a) == 0;
	p->pt = access("/sys/bus/event_source/devices/intel_pt/type", R_OK) == 0;
}
