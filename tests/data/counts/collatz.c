/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Branches that depend on data: steps to one, and a sieve. */
#include "mark.h"

#define PRIMES 4000

static volatile unsigned sink;
static unsigned char composite[PRIMES];

NOINLINE static unsigned steps(unsigned long n)
{
	unsigned k = 0;

	MARK(1); /* 2000 */
	while (n != 1) {
		MARK(2); /* all steps of 1 to 2000 */
		if (n & 1) {
			MARK(3); /* the odd ones */
			n = 3 * n + 1;
		} else {
			MARK(4); /* the even ones */
			n >>= 1;
		}
		k++;
	}
	return k;
}

NOINLINE static void sieve(void)
{
	unsigned i, j;

	for (i = 0; i < PRIMES; i++)
		composite[i] = 0;
	for (i = 2; i * i < PRIMES; i++) {
		MARK(5); /* 5 * (63 - 1) */
		if (!composite[i]) {
			MARK(6); /* 5 * primes up to 63 */
			for (j = i * i; j < PRIMES; j += i) {
				MARK(7); /* for each of these its multiples */
				composite[j] = 1;
			}
		}
	}
}

int main(void)
{
	ALIGN_STACK;
	unsigned i;

	for (i = 1; i <= 2000; i++)
		sink = steps(i);
	for (i = 0; i < 5; i++)
		sieve();
	return 0;
}
