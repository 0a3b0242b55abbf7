/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchanges of neighbours, a search, and a chase of pointers. */
#include "mark.h"

#define N 120

static volatile unsigned sink;
static unsigned keys[N];
static unsigned next[1 << 15];

NOINLINE static void sort(unsigned seed)
{
	unsigned i, j, t;

	for (i = 0; i < N; i++) {
		MARK(1); /* 12 * 120 */
		seed = seed * 1664525u + 1013904223u;
		keys[i] = seed >> 8;
	}
	for (i = 0; i < N - 1; i++) {
		MARK(2); /* 12 * 119 */
		for (j = 0; j < N - 1 - i; j++) {
			MARK(3); /* 12 * 119 * 120 / 2 */
			if (keys[j] > keys[j + 1]) {
				MARK(4); /* inversions */
				t = keys[j];
				keys[j] = keys[j + 1];
				keys[j + 1] = t;
			}
		}
	}
}

NOINLINE static unsigned search(unsigned key)
{
	unsigned low = 0, high = N;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		MARK(5); /* by a search in Python */
		if (keys[mid] < key) {
			MARK(6);
			low = mid + 1;
		} else {
			MARK(7);
			high = mid;
		}
	}
	return low;
}

NOINLINE static unsigned chase(unsigned at)
{
	unsigned i;

	for (i = 0; i < 500; i++) {
		MARK(8); /* 12 * 500 */
		at = next[at];
	}
	return at;
}

int main(void)
{
	ALIGN_STACK;
	unsigned i, k;

	for (i = 0; i < 1 << 15; i++) {
		MARK(9); /* 32768 */
		next[i] = (i * 12345 + 6789) & ((1 << 15) - 1);
	}
	for (i = 0; i < 12; i++) {
		MARK(10); /* 12 */
		sort(i);
		for (k = 0; k < 1000; k++) {
			MARK(11); /* 12 * 1000 */
			sink = search(k << 14);
		}
		sink = chase(i);
	}
	return 0;
}
