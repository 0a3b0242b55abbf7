/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of characters, matrices, and remainders. */
#include "mark.h"

static volatile unsigned sink;
static volatile int dimension = 16;
static char text[3000];
static double a[16][16], b[16][16], c[16][16];

NOINLINE static unsigned words(void)
{
	unsigned i, n = 0, digits = 0, inside = 0;

	for (i = 0; i < sizeof(text); i++) {
		MARK(1); /* 20 * 3000 */
		if (text[i] == ' ') {
			MARK(2); /* 20 * those */
			inside = 0;
		} else if (!inside) {
			MARK(3); /* 20 * beginnings */
			inside = 1;
			n++;
		}
		if (text[i] >= '0' && text[i] <= '9') {
			MARK(4); /* 20 * digits */
			digits++;
		}
	}
	return n + digits;
}

NOINLINE static void multiply(int n)
{
	int i, j, k;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			double sum = 0;

			MARK(5); /* 20 * 16 * 16 */
			for (k = 0; k < n; k++) {
				MARK(6); /* 20 * 16 * 16 * 16 */
				sum += a[i][k] * b[k][j];
			}
			c[i][j] = sum;
		}
	}
}

NOINLINE static unsigned gcd(unsigned x, unsigned y)
{
	while (y) {
		unsigned t = x % y;

		MARK(7); /* by Euclid */
		x = y;
		y = t;
	}
	return x;
}

int main(void)
{
	ALIGN_STACK;
	unsigned i, k;

	for (i = 0; i < sizeof(text); i++)
		text[i] = " 0123456789abcdefghijklmnopqrstuvwxyz"[i * i % 37];
	for (i = 0; i < 20; i++) {
		sink = words();
		multiply(dimension);
		for (k = 1; k < 200; k++) {
			MARK(8); /* 20 * 199 */
			sink = gcd(1000 + i, k);
		}
	}
	return 0;
}
