/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that call themselves, once and twice. */
#include "mark.h"

static volatile unsigned sink;

NOINLINE static unsigned twice(unsigned n)
{
	unsigned sum;

	MARK(1); /* calls(n) = 1 + calls(n - 1) + calls(n - 2) */
	if (n < 2) {
		MARK(2); /* fib(n + 1): its leaves */
		return n;
	}
	MARK(3); /* the others */
	sum = twice(n - 1);
	return sum + twice(n - 2);
}

NOINLINE static unsigned once(unsigned depth, unsigned v)
{
	MARK(4); /* 3000 * 31 */
	if (!depth) {
		MARK(5); /* 3000 */
		return v;
	}
	v = once(depth - 1, v * 3 + 1);
	MARK(6); /* 3000 * 30 */
	return v ^ depth;
}

int main(void)
{
	ALIGN_STACK;
	unsigned i;

	sink = twice(21);
	for (i = 0; i < 3000; i++) {
		MARK(7); /* 3000 */
		sink = once(30, i);
	}
	return 0;
}
