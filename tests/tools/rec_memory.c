/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_memory N
 *
 * Accesses memory in ways whose counts follow from N, at objects that have names: what vmem is to
 * find.  tests/pipe/vmem.t has the arithmetic.
 */
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

#define WALKS 10

struct node {
	volatile long key;
	volatile long flag; /* always 0 */
	struct node *volatile next;
	volatile long note; /* stored, and never loaded */
};

volatile long same_stored;  /* N times the same value */
volatile long never_loaded; /* N stores */
volatile long never_stored = 5;
volatile int half_a, half_b = 1; /* side by side */
volatile char bytes[16];

static NOINLINE struct node *make_node(long key, struct node *next)
{
	struct node *n = malloc(sizeof(*n));

	if (!n)
		abort();
	n->key = key;
	n->flag = 0;
	n->next = next;
	n->note = key;
	return n;
}

static NOINLINE long walk_nodes(const struct node *n)
{
	long sum = 0;

	for (; n; n = n->next)
		sum += n->key + n->flag;
	return sum;
}

/* Eight stores of eight bytes, which are freed without a load. */
static NOINLINE void waste(void)
{
	volatile long *p = malloc(8 * sizeof(*p));
	int i;

	if (!p)
		abort();
	for (i = 0; i < 8; i++)
		p[i] = i;
	free((void *)p);
}

/* Three stores and six loads of an array in the frame. */
static NOINLINE long use_frame(long x)
{
	volatile long local[3];

	local[0] = x;
	local[1] = x + 1;
	local[2] = 0;
	return local[0] + local[1] + local[2] + local[0] + local[1] + local[2];
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100, i, sum = 0;
	struct node *list = NULL;

	for (i = 0; i < n; i++)
		list = make_node(i + 1, list);
	for (i = 0; i < WALKS; i++)
		sum += walk_nodes(list);
	for (i = 0; i < n; i++) {
		same_stored = 7;
		never_loaded = i;
		sum += never_stored;
		half_a = (int)i;
		sum += half_b;
		bytes[i % 16] = 1;
		sum += use_frame(i);
	}
	for (i = 0; i < n; i++)
		waste();
	return sum == 0;
}
