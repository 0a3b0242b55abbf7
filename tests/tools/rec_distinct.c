/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads N different values with one instruction, each once but the first, which is loaded twice,
 *and prints N and their sum.
 *
 *	rec_distinct N
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) uint64_t sum_up(const volatile uint64_t *values, long n)
{
	uint64_t sum = 0;
	long i;

	for (i = 0; i <= n; i++)
		sum += values[i];
	return sum;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000, i;
	uint64_t *values = n < 1 ? NULL : malloc(((size_t)n + 1) * sizeof(*values));

	if (!values)
		return 2;
	/* Steps that are odd and not a power of two: no two values are the same. */
	for (i = 0; i < n; i++)
		values[i] = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 5;
	values[n] = 5;
	printf("%ld %" PRIu64 "\n", n, sum_up(values, n));
	free(values);
	return 0;
}
