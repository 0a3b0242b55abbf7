/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LOOPS_H
#define LOOPS_H

/*
 * Loops whose time has one known cause, for tests of what finds causes and cycles.  Each is a
 * procedure of one loop in assembly, so that compilers do not change it.  How often the marked
 * instructions are executed, tests/counts.py tells; where they are, the section .marks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "../counts/mark.h"

/* Marks the next instruction. */
#define HERE(n) "7:\n.pushsection .marks,\"a\"\n.quad 7b, " #n "\n.popsection\n"

#define REPEAT(n, body) ".rept " #n "\n" body "\n.endr\n"

/* Goes n times through the body, whose %0 is p; returns what became of p. */
#define LOOP(name, before, body)                                                                   \
	NOINLINE static void *name(uint64_t n, void *p)                                            \
	{                                                                                          \
		__asm__ volatile(before "1:\n" body "dec %1\njnz 1b\n"                             \
				 : "+r"(p), "+r"(n)                                                \
				 :                                                                 \
				 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1",  \
				   "cc", "memory");                                                \
		return p;                                                                          \
	}

struct loop {
	const char *name;
	void *(*run)(uint64_t n, void *p);
	uint64_t visits; /* in a round */
	void *p;	 /* what the first round gets; the next, what this one returned */
	uint64_t ticks, least;
};

static unsigned seed = 1;

/* As in tests/counts.py. */
static unsigned next_number(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed ^ seed >> 16;
}

/* Memory for `n` objects that are `stride` apart. */
static char *make_room(size_t n, size_t stride, int huge)
{
	char *p =
		mmap(NULL, n * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, n * stride, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return p;
}

/*
 * A ring of n pointers in a random order, `stride` bytes apart, each in another line of its page if
 * that is more than a line.
 */
static inline void *make_ring(size_t n, size_t stride)
{
	char *room = make_room(n, stride, stride < 4096);
	size_t *order = malloc(n * sizeof(*order)), i, j, at;

	if (!order)
		exit(1);
	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i > 0; i--) {
		j = next_number() % i;
		at = order[i];
		order[i] = order[j];
		order[j] = at;
	}
#define PLACE(k) (room + (k)*stride + (stride > 64 ? (k) % (stride / 64) * 64 : 0))
	for (i = 0; i < n; i++)
		*(void **)PLACE(i) = PLACE(order[i]);
	free(order);
	return PLACE(0);
}

static inline void run_loop(struct loop *l)
{
	uint64_t ticks;

	_mm_lfence();
	ticks = __rdtsc();
	_mm_lfence();
	l->p = l->run(l->visits, l->p);
	_mm_lfence();
	ticks = __rdtsc() - ticks;
	l->ticks += ticks;
	if (!l->least || ticks < l->least)
		l->least = ticks;
}

/* A line for each loop: name, visits, ticks of the time-stamp counter a visit on the average, and
 * in the fastest round. */
static inline void print_loop(const struct loop *l, uint64_t rounds)
{
	printf("%s\t%lu\t%.2f\t%.2f\n", l->name, rounds * l->visits,
	       (double)l->ticks / (double)(rounds * l->visits),
	       (double)l->least / (double)l->visits);
}

#endif
