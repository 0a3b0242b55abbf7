/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TOOLS_REC_DISTURB_H
#define TESTS_TOOLS_REC_DISTURB_H

/*
 * Programs that a sampler in the process could disturb: each prints what it saw, which must be the
 * same whether it is recorded or not, and has the exit status that its function returns.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct disturb_case {
	const char *name;
	int (*run)(void);
};

/* Uses the processor for so many milliseconds of the thread's time: samples are taken. */
static inline void disturb_work(unsigned ms)
{
	static _Thread_local volatile uint64_t sum;
	struct timespec t;
	uint64_t now, until = 0;
	unsigned i;

	do {
		for (i = 0; i < 20000; i++)
			sum = sum * 3 + i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		if (!until)
			until = now + ms * UINT64_C(1000000);
	} while (now < until);
}

/* The main function: runs the case that the argument names, or lists the names. */
static inline int disturb_run(const struct disturb_case *cases, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!name)
			puts(cases[i].name);
		else if (strcmp(cases[i].name, name) == 0)
			return cases[i].run();
	}
	return name ? 2 : 0;
}

#endif
