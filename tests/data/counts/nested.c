/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops in loops, all of constant length. */
#include "mark.h"

static volatile unsigned sink;
static unsigned cells[64][64];

NOINLINE static void fill(unsigned k)
{
	unsigned i, j;

	MARK(1); /* 200 */
	for (i = 0; i < 30; i++) {
		MARK(2); /* 200 * 30 */
		for (j = 0; j < 50; j++) {
			MARK(3); /* 200 * 30 * 50 */
			cells[i][j] += i * k ^ j;
		}
	}
}

NOINLINE static unsigned fold(void)
{
	unsigned i, j, sum = 0;

	for (i = 0; i < 64; i++) {
		MARK(4); /* 200 * 64 */
		for (j = 0; j < 3; j++) {
			MARK(5); /* 200 * 64 * 3 */
			sum = sum * 31 + cells[i][j * 7];
		}
	}
	return sum;
}

int main(void)
{
	ALIGN_STACK;
	unsigned k;

	for (k = 0; k < 200; k++) {
		MARK(6); /* 200 */
		fill(k);
		sink = fold();
	}
	return 0;
}
