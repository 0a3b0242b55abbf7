/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_misses PASSES
 *
 * Walks memory in ways whose misses follow from the sizes of a cache of 64 sets, 8 ways and lines
 * of 64 bytes: tests/pipe/vsim-misses.t has the arithmetic.
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define ALIGNED	 __attribute__((aligned(4096)))

#define LINE  64
#define LINES 2048 /* four times the cache */
#define WAYS  9	   /* one more than the cache has */
#define WAY   4096 /* lines so far from each other are of one set */

static ALIGNED volatile char streamed[LINES * LINE];
static ALIGNED volatile char stored[LINES * LINE];
static ALIGNED volatile char conflicting[WAYS * WAY];
static ALIGNED volatile char fitting[(WAYS - 1) * WAY];
static ALIGNED volatile char crossed[(LINES + 1) * LINE];
struct cell {
	volatile long first, second;
	char rest[LINE - 2 * sizeof(long)];
};

static NOINLINE struct cell *make_cells(void)
{
	return aligned_alloc(WAY, LINES * sizeof(struct cell));
}

/* A load of each line: all miss, each time. */
static NOINLINE long walk_streamed(void)
{
	long sum = 0;
	int i;

	for (i = 0; i < LINES; i++)
		sum += streamed[i * LINE];
	return sum;
}

static NOINLINE void walk_stored(void)
{
	int i;

	for (i = 0; i < LINES; i++)
		stored[i * LINE + 8] = 1;
}

/* Lines of one set, one more than it holds: all miss.  One fewer: the first time alone. */
static NOINLINE long walk_set(const volatile char *p, int ways)
{
	long sum = 0;
	int i;

	for (i = 0; i < ways; i++)
		sum += p[i * WAY];
	return sum;
}

/* The end of each line and the start of the next, which was brought in by the one before. */
static NOINLINE long walk_crossed(void)
{
	long sum = 0;
	int i;

	for (i = 0; i < LINES; i++)
		sum += *(const volatile int *)(const volatile void *)(crossed + i * LINE + LINE -
								      2);
	return sum;
}

static NOINLINE long walk_cells(const struct cell *c)
{
	long sum = 0;
	int i;

	for (i = 0; i < LINES; i++)
		sum += c[i].second;
	return sum;
}

int main(int argc, char **argv)
{
	long passes = argc > 1 ? atol(argv[1]) : 4, i, sum = 0;
	struct cell *cells = make_cells();

	if (!cells)
		return 1;
	for (i = 0; i < passes; i++)
		sum += walk_streamed();
	for (i = 0; i < passes; i++)
		walk_stored();
	for (i = 0; i < passes; i++)
		sum += walk_cells(cells);
	for (i = 0; i < passes; i++)
		sum += walk_crossed();
	for (i = 0; i < 100 * passes; i++)
		sum += walk_set(conflicting, WAYS);
	for (i = 0; i < 100 * passes; i++)
		sum += walk_set(fitting, WAYS - 1);
	free(cells);
	return sum == 1;
}
