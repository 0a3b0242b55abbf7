/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opportunities to specialise, planted, each beside a decoy that does the same with values that do
 * change.  Fields are volatile so that every use is a load; the procedures are not inlined, so that
 * each keeps its name.  It prints a number that depends on all of it.
 */
#include <stdio.h>
#include <stdlib.h>

#define PROCEDURE __attribute__((noinline, noclone, noipa))

typedef unsigned handler(unsigned x);

struct settings {
	volatile unsigned divisor; /* always 8 */
	volatile unsigned any;	   /* changes */
	volatile unsigned power;   /* 4, 8 or 16 */
	volatile unsigned offset;  /* always 0 */
	volatile unsigned bound;   /* always 6 */
	handler *volatile handler; /* one of 1000 times another */
	handler *volatile other;   /* each in turn */
};

static PROCEDURE unsigned twice(unsigned x)
{
	return 2 * x;
}

static PROCEDURE unsigned thrice(unsigned x)
{
	return 3 * x;
}

static PROCEDURE unsigned by_eight(struct settings *s, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++)
		sum += (i + 1000) / s->divisor;
	return sum;
}

static PROCEDURE unsigned by_power(struct settings *s, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++) {
		s->power = 4u << i % 3;
		sum += (i + 1000) / s->power;
	}
	return sum;
}

static PROCEDURE unsigned by_any(struct settings *s, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++) {
		s->any = 3 + i % 11;
		sum += (i + 1000) / s->any;
	}
	return sum;
}

static PROCEDURE unsigned add_offset(struct settings *s, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++)
		sum = sum * 5 + s->offset + i;
	return sum;
}

static PROCEDURE unsigned add_any(struct settings *s, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++) {
		s->any = i;
		sum = sum * 5 + s->any;
	}
	return sum;
}

/* `scale` is always 1, `x` changes. */
static PROCEDURE unsigned scaled(unsigned x, unsigned scale)
{
	return (x ^ 0x55) * scale + 7;
}

/* Both change. */
static PROCEDURE unsigned mixed(unsigned x, unsigned y)
{
	return (x ^ 0x55) * y + 7;
}

static PROCEDURE unsigned call_scaled(unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++)
		sum += scaled(i, 1) + mixed(i, i + 3);
	return sum;
}

static PROCEDURE unsigned dispatch(struct settings *s, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++) {
		if (i % 1000 == 999)
			s->handler = thrice;
		sum += s->handler(i);
		s->handler = twice;
	}
	return sum;
}

static PROCEDURE unsigned dispatch_any(struct settings *s, unsigned n)
{
	unsigned sum = 0, i;

	for (i = 0; i < n; i++) {
		s->other = i & 1 ? twice : thrice;
		sum += s->other(i);
	}
	return sum;
}

static PROCEDURE unsigned bounded(struct settings *s, unsigned n)
{
	unsigned sum = 0, i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < s->bound; k++)
			sum = sum * 3 + k;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, sum = 0;
	struct settings s = {.divisor = 8, .bound = 6, .handler = twice, .other = twice};

	sum += by_eight(&s, 10 * n);
	sum += by_power(&s, 5 * n);
	sum += by_any(&s, 5 * n);
	sum += add_offset(&s, 5 * n);
	sum += add_any(&s, 5 * n);
	sum += call_scaled(4 * n);
	sum += dispatch(&s, 4 * n);
	sum += dispatch_any(&s, 4 * n);
	sum += bounded(&s, 2 * n);
	printf("%u\n", sum);
	return 0;
}
