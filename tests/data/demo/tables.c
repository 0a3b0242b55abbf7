/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program behind the timed loads: it multiplies elements of a small table by those of a large
 * one.  Time is at the multiplication, which needs both; which load makes it wait, only their
 * latencies tell.  It stands without a C library, as heat.c does.
 */
#include <stddef.h>
#include <stdint.h>

#define STEPS 60000000
#define SMALL 256
#define LARGE (8u << 20)

static double small[SMALL];
static double large[LARGE];

static double mix(uint64_t steps)
{
	double sum = 0;
	uint64_t x = 1;

	while (steps--) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += small[steps % SMALL] * large[x >> 33 & (LARGE - 1)];
	}
	return sum;
}

static void fill(double *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		table[i] = (double)(i % 1000);
}

static void __attribute__((noreturn)) end(int status)
{
	for (;;)
		__asm__ volatile("syscall" : : "a"(231), "D"(status) : "rcx", "r11", "memory");
}

void start(void);

void __attribute__((force_align_arg_pointer)) start(void)
{
	fill(small, SMALL);
	fill(large, LARGE);
	end(mix(STEPS) < 0);
}
