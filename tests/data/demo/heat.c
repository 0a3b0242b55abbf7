/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program behind the sample trace: a few loops that spend their time in different ways.
 * scripts/mkdemo builds it, records it and keeps the trace.  It stands without a C library, so that
 * the trace names no file that another machine has in another version.
 */
#include <stddef.h>
#include <stdint.h>

#define SIDE  512
#define NODES (1 << 20)
#define KEYS  (1 << 18)

/* Each loop stays a procedure of its own. */
#define LOOP __attribute__((noinline)) static

struct node {
	struct node *next;
	uint64_t weight;
};

static double grid[2][SIDE][SIDE];
static double copies[SIDE * SIDE];
static struct node nodes[NODES];
static uint32_t keys[KEYS];

/* One step of heat flow: five loads, four additions and a store for each point. */
LOOP void smooth(double to[SIDE][SIDE], double from[SIDE][SIDE])
{
	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1; x < SIDE - 1; x++)
			to[y][x] = 0.5 * from[y][x] + 0.125 * (from[y - 1][x] + from[y + 1][x] +
							       from[y][x - 1] + from[y][x + 1]);
}

/* McCalpin's copy loop: as fast as memory goes. */
LOOP void copy(double *to, const double *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

/* Each load's address comes from the load before: nothing overlaps. */
LOOP uint64_t chase(const struct node *n, size_t steps)
{
	uint64_t sum = 0;

	while (steps--) {
		sum += n->weight;
		n = n->next;
	}
	return sum;
}

static inline int before(uint32_t a, uint32_t b)
{
	return (a >> 4) < (b >> 4) || ((a >> 4) == (b >> 4) && a > b);
}

/* Quicksort of random keys: branches that nobody can predict. */
LOOP void sort(uint32_t *keys, size_t n)
{
	while (n > 1) {
		uint32_t pivot = keys[(n - 1) / 2];
		size_t low = 0, high = n - 1;

		for (;;) {
			while (before(keys[low], pivot))
				low++;
			while (before(pivot, keys[high]))
				high--;
			if (low >= high)
				break;
			uint32_t t = keys[low];
			keys[low++] = keys[high];
			keys[high--] = t;
		}
		sort(keys, high + 1);
		keys += high + 1;
		n -= high + 1;
	}
}

/* A division in each step of a dependent chain. */
LOOP uint64_t digits(uint64_t x, unsigned rounds)
{
	uint64_t sum = 0;

	while (rounds--) {
		uint64_t n = x += 0x9e3779b97f4a7c15u;

		for (; n; n /= 10)
			sum += n % 10;
	}
	return sum;
}

static long system_call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

/* write(1, …) of a number, so that nothing above is computed in vain. */
static void print(uint64_t x)
{
	char text[24];
	char *p = text + sizeof(text);

	*--p = '\n';
	do {
		*--p = (char)('0' + x % 10);
	} while (x /= 10);
	system_call(1, 1, (long)p, text + sizeof(text) - p);
}

LOOP void prepare(void)
{
	/* Steps of an odd length visit every node once. */
	for (size_t i = 0; i < NODES; i++)
		nodes[i] = (struct node){&nodes[(i + 611953) % NODES], i & 7};
	grid[0][SIDE / 2][SIDE / 2] = 1e6;
}

void start(void)
{
	uint64_t sum = 0;
	uint32_t r = 1;

	prepare();
	for (int round = 0; round < 25; round++) {
		for (int i = 0; i < 40; i++)
			smooth(grid[~i & 1], grid[i & 1]);
		for (int i = 0; i < 40; i++)
			copy(copies, grid[0][0], SIDE * SIDE);
		sum += chase(nodes, NODES / 4);
		for (size_t i = 0; i < KEYS / 2; i++)
			keys[i] = r = r * 1664525 + 1013904223;
		sort(keys, KEYS / 2);
		sum += digits(sum, 150000) + keys[KEYS / 4] + (uint64_t)copies[7];
	}
	print(sum);
	system_call(60, 0, 0, 0);
}
