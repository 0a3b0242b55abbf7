/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four rounds in ten take a way with slow divisions. */
#include "mark.h"

static volatile unsigned count;
static volatile double x = 1212121212, y = 121212;

NOINLINE static int flag_of(int i)
{
	MARK(1); /* 60000 */
	if (i % 10 < 4) {
		MARK(2); /* 60000 * 4 / 10 */
		return i + 1;
	}
	MARK(3); /* 60000 * 6 / 10 */
	return 0;
}

int main(void)
{
	ALIGN_STACK;
	int i;

	for (i = 0; i < 60000; i++) {
		MARK(4); /* 60000 */
		if (flag_of(i)) {
			MARK(5); /* 60000 * 4 / 10 */
			x += x / y + y / x;
		}
		count++;
	}
	return 0;
}
