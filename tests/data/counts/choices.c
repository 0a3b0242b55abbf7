/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A switch with a table, and one whose cases are taken by chance, but the same each time. */
#include "mark.h"

static volatile unsigned sink;
static unsigned random = 1;

NOINLINE static unsigned eighths(unsigned i, unsigned v)
{
	switch (i & 7) {
	case 0:
		MARK(1); /* 50000 / 8 */
		return v + i;
	case 1:
		MARK(2); /* 50000 / 8 */
		return v ^ i * 3;
	case 2:
		MARK(3); /* 50000 / 8 */
		return v - i * 5;
	case 3:
		MARK(4); /* 50000 / 8 */
		return v / (i + 1);
	case 4:
		MARK(5); /* 50000 / 8 */
		return v * i;
	case 5:
		MARK(6); /* 50000 / 8 */
		return v >> 3;
	case 6:
		MARK(7); /* 50000 / 8 */
		return v | i;
	}
	MARK(8); /* 50000 / 8 */
	return v & i;
}

NOINLINE static unsigned by_chance(unsigned v)
{
	random = random * 1103515245u + 12345u;
	switch (random >> 28) {
	case 0:
	case 7:
		MARK(9); /* by the generator */
		return v + 1;
	case 3:
		MARK(10);
		return v / 3;
	case 9:
	case 10:
	case 11:
		MARK(11);
		return v * 5;
	case 14:
		MARK(12);
		return v ^ 77;
	}
	MARK(13);
	return v;
}

int main(void)
{
	ALIGN_STACK;
	unsigned i, v = 7;

	for (i = 0; i < 50000; i++) {
		MARK(14); /* 50000 */
		v = eighths(i, v);
		v += by_chance(v);
	}
	sink = v;
	return 0;
}
