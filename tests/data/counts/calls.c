/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls, direct ones and by a table, from loops of which one has a slow round now and then. */
#include "mark.h"

static volatile unsigned sink;
static volatile unsigned divisor = 7;

NOINLINE static unsigned one(unsigned v)
{
	MARK(1); /* 40000 + 40000 / 4 */
	return v + 1;
}

NOINLINE static unsigned two(unsigned v)
{
	MARK(2); /* 40000 / 2 */
	/* Taken like any jump, though where it goes is what follows. */
	__asm__ volatile("jmp 1f\n1:");
	return v * 2;
}

NOINLINE static unsigned slow(unsigned v)
{
	MARK(3); /* 40000 / 4 */
	return (v / divisor) % (divisor + 4);
}

static unsigned (*const table[4])(unsigned) = {one, two, slow, two};

int main(void)
{
	ALIGN_STACK;
	unsigned i, v = 1;

	for (i = 0; i < 40000; i++) {
		MARK(4); /* 40000 */
		v += one(i);
		v ^= table[i & 3](v);
		if (i % 100 == 99) {
			unsigned k;

			MARK(5); /* 40000 / 100 */
			for (k = 0; k < 20; k++) {
				MARK(6); /* 40000 / 100 * 20 */
				v = v / divisor + k;
			}
		}
	}
	sink = v;
	return 0;
}
