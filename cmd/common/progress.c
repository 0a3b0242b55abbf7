/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/progress.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 2.0 /* seconds before the line appears */
#define INTERVAL 0.2 /* seconds between two states of it */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, const char *name, const char *input, bool alone)
{
	struct stat st;

	*p = (struct progress){.name = name};
	p->active = isatty(STDERR_FILENO) && (alone || !isatty(STDOUT_FILENO));
	if (!p->active)
		return;
	p->start = now();
	p->next = p->start + PATIENCE;
	if (stat(input, &st) == 0 && S_ISREG(st.st_mode))
		p->length = (uint64_t)st.st_size;
}

void progress_update(struct progress *p, uint64_t bytes)
{
	double t;

	if (!p->active)
		return;
	t = now();
	if (t < p->next)
		return;
	p->next = t + INTERVAL;
	p->shown = true;
	fprintf(stderr, "\r\033[K%s: ", p->name);
	if (p->insns)
		fprintf(stderr, "%.0f million instructions, ", (double)p->insns / 1e6);
	fprintf(stderr, "%.1f MB", (double)bytes / 1e6);
	if (p->length)
		fprintf(stderr, " of %.1f MB", (double)p->length / 1e6);
	fprintf(stderr, ", %.0f s", t - p->start);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (!p->shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	p->shown = false;
}
