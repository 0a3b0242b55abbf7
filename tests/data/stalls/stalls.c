/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Procedures each of which stalls for one reason that is known, for tests of what finds reasons.
 * Prints a sum, so that nothing is optimised away.
 */
#include <stdio.h>
#include <stdlib.h>

#define NODES 4096
#define PAGE  8192

struct node {
	struct node *next;
	char rest[PAGE - 8 + 64]; /* each on a page of its own, and not all in one set */
};

static struct node nodes[NODES];

/* Each load waits for the one before it, and misses caches and TLB. */
__attribute__((noinline)) struct node *chase(struct node *n, long count)
{
	while (count-- > 0)
		n = n->next;
	return n;
}

/* A branch that nothing predicts. */
__attribute__((noinline)) unsigned long guess(unsigned long x, long count)
{
	unsigned long sum = 0;

	while (count-- > 0) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		if (x >> 63)
			__asm__ volatile("add $3, %0" : "+r"(sum));
		else
			__asm__ volatile("sub $1, %0" : "+r"(sum));
	}
	return sum;
}

/* Divisions that wait for each other. */
__attribute__((noinline)) unsigned long divide(unsigned long x, unsigned long by, long count)
{
	while (count-- > 0)
		x = (x | 1ul << 40) / by + 12345;
	return x;
}

/* A line for each store: the write buffer cannot keep up. */
__attribute__((noinline)) void scatter(char *p, long count)
{
	while (count-- > 0) {
		*(volatile char *)p = 1;
		p += 256;
	}
}

int main(int argc, char **argv)
{
	static char buffer[256 * 4096];
	unsigned long sum = 0;
	long i;

	(void)argv;
	for (i = 0; i < NODES; i++)
		nodes[i].next = &nodes[(i * 7 + 1) % NODES];
	sum += (unsigned long)(chase(nodes, 20000) - nodes);
	sum += guess(42, 50000);
	sum += divide(1ul << 50, (unsigned long)argc + 6, 20000);
	for (i = 0; i < 4; i++)
		scatter(buffer, 4096);
	printf("%lu\n", sum);
	return 0;
}
