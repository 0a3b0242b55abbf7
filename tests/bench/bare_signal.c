/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library for LD_PRELOAD that only takes the signals of the event that `vtrace record
 * --sample-values` samples by: what any sampler of this kind costs.  BARE_PERIOD: ns of the CPU
 * clock.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void take_signal(int sig)
{
	(void)sig;
}

__attribute__((constructor)) static void start(void)
{
	const char *period = getenv("BARE_PERIOD");
	struct sigaction act = {.sa_handler = take_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period ? strtoull(period, NULL, 10) : 1000000,
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = 1,
		.sigtrap = 1,
		.remove_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd;

	sigfillset(&act.sa_mask);
	sigaction(SIGTRAP, &act, NULL);
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		_exit(99);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}
