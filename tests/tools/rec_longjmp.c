/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_longjmp N
 *
 * Calls inner() N times; every third call leaves it by longjmp, every fifth calls itself once more.
 * Prints how many calls returned and how many did not.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static volatile unsigned long total;

__attribute__((noinline)) void inner(unsigned long i);

__attribute__((noinline)) void inner(unsigned long i)
{
	for (unsigned long k = 0; k < 10; k++)
		total += k;
	if (i % 3 == 0)
		longjmp(back, 1);
	if (i % 5 == 0)
		inner(1);
	total++;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 30;
	volatile unsigned long i, returned = 0, left = 0;

	for (i = 1; i <= n; i++) {
		if (setjmp(back) == 0) {
			inner(i);
			returned++;
		} else {
			left++;
		}
	}
	printf("returned %lu left %lu total %lu\n", returned, left, total);
	return 0;
}
