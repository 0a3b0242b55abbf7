/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs that value sampling is told to have helped (Burrows et al., section 3.1), in small,
 * and each again with values that change: `stories STORY SECONDS [ROUNDS]`, of processor time,
 * and at most so many rounds.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROCEDURE __attribute__((noinline, noclone, noipa))
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* Drawn at random, once: so that no value follows a pattern. */
static unsigned next_random(void)
{
	static unsigned long long state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 32);
}

/* ---- a simulator that asks a table of breakpoints before each instruction ---- */

static struct breakpoint {
	unsigned code; /* 0: the entry is empty */
	unsigned address;
} breakpoints[16];

static unsigned text[1024], registers[32];

static PROCEDURE int check_breakpoints(unsigned address)
{
	unsigned i;

	for (i = 0; i < LENGTH(breakpoints); i++)
		if (breakpoints[i].code && breakpoints[i].address == address)
			return (int)i + 1;
	return 0;
}

static PROCEDURE unsigned simulate(unsigned pc)
{
	unsigned insn = text[pc % LENGTH(text)], *r = &registers[insn >> 8 & 31];

	if (check_breakpoints(pc))
		return pc + 1;
	switch (insn & 3) {
	case 0:
		*r += registers[insn >> 13 & 31];
		break;
	case 1:
		*r ^= insn;
		break;
	case 2:
		*r = *r >> 3 | *r << 29;
		break;
	default:
		*r = *r * 69069 + 1;
		return pc + 1 + (*r >> 20);
	}
	return pc + 1;
}

static double run_simulator(int steady, unsigned round)
{
	static unsigned pc;
	unsigned i;

	/* A breakpoint is set once in a thousand rounds, and gone in the next; or they are all in
	 * use. */
	for (i = 0; i < LENGTH(breakpoints); i++)
		breakpoints[i] = (struct breakpoint){steady ? round % 1000 == 999 && i == 0
							    : 1 + next_random() % 100,
						     1u << 31 | next_random()};
	for (i = 0; i < 1000; i++)
		pc = simulate(pc);
	return registers[7];
}

/* ---- a ray tracer's exponentiation, by squaring ---- */

static struct material {
	volatile int exponent; /* nearly always 10 */
} materials[64];

static PROCEDURE double raise_power(double x, int n)
{
	double product = 1;

	for (; n; n >>= 1, x *= x)
		if (n & 1)
			product *= x;
	return product;
}

static PROCEDURE double shade(const struct material *m, double x)
{
	return 0.5 * raise_power(x, m->exponent) + 0.1;
}

static double run_exponentiation(int steady, unsigned round)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < LENGTH(materials); i++)
		materials[i].exponent =
			steady ? (round * LENGTH(materials) + i) % 1000 == 999 ? 3 : 10
			       : (int)(next_random() % 30) + 2;
	for (i = 0; i < 1000; i++)
		sum += shade(&materials[i % LENGTH(materials)], 0.5 + i / 4000.0);
	return sum;
}

/* ---- its polynomials ---- */

struct polynomial {
	volatile int degree; /* nearly always 4 */
	double coefficients[12];
};

static PROCEDURE double evaluate(const struct polynomial *p, double x)
{
	double sum = p->coefficients[0];
	int i;

	for (i = 1; i <= p->degree; i++)
		sum = sum * x + p->coefficients[i];
	return sum;
}

static double run_polynomials(int steady, unsigned round)
{
	static struct polynomial all[8];
	double sum = 0;
	unsigned i, k;

	for (k = 0; k < LENGTH(all); k++)
		for (i = 0; i < LENGTH(all[0].coefficients); i++)
			all[k].coefficients[i] = next_random() / 4294967296.0;
	for (i = 0; i < 1000; i++) {
		struct polynomial *p = &all[i % LENGTH(all)];

		p->degree = steady ? round % 100 == 99 && i % 10 == 9 ? 7 : 4
				   : (int)(next_random() % 9) + 2;
		sum += evaluate(p, i / 1000.0);
	}
	return sum;
}

/* ---- a hash table's division by its size ---- */

static struct table {
	volatile unsigned size; /* nearly always 1009 */
	unsigned count[4096];
} tables[8];

static PROCEDURE unsigned find_bucket(const struct table *t, unsigned key)
{
	return (key ^ key >> 15) % t->size;
}

static double run_division(int steady, unsigned round)
{
	unsigned i;

	for (i = 0; i < 1000; i++) {
		struct table *t = &tables[i % LENGTH(tables)];

		t->size = steady ? round % 1000 == 999 ? 2003 : 1009 : 1001 + next_random() % 3000;
		t->count[find_bucket(t, i * 2654435761u + round)]++;
	}
	return tables[0].count[3];
}

static const struct story {
	const char *name;
	double (*run)(int steady, unsigned round);
} stories[] = {{"simulator", run_simulator},
	       {"exponentiation", run_exponentiation},
	       {"polynomials", run_polynomials},
	       {"division", run_division}};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	int changes = strncmp(name, "changing-", 9) == 0;
	double seconds = argc > 2 ? atof(argv[2]) : 1, sum = 0;
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : UINT_MAX;
	unsigned i, round;

	for (i = 0; i < LENGTH(text); i++)
		text[i] = next_random();
	for (i = 0; i < LENGTH(stories); i++)
		if (strcmp(name + (changes ? 9 : 0), stories[i].name) == 0)
			break;
	if (i == LENGTH(stories))
		return 2;
	for (round = 0; round < rounds && (double)clock() / CLOCKS_PER_SEC < seconds; round++)
		sum += stories[i].run(!changes, round);
	printf("%u rounds, %g\n", round, sum);
	return 0;
}
