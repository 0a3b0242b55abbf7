/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/draw.h"

#include <math.h>
#include <stdbool.h>

/* Hörmann's bound: below this mean, his rejection loses its validity (and inversion is faster). */
#define INVERSION_MEAN 10.0

double vt_draw_unit(struct vt_rng *r)
{
	return ((double)(vt_rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

double vt_draw_exponential(struct vt_rng *r)
{
	return -log(vt_draw_unit(r));
}

uint64_t vt_draw_few(struct vt_rng *r, uint64_t n, double p, double none)
{
	double u = vt_draw_unit(r);
	double all = (double)n;
	double share = none;
	double odds;
	uint64_t k;

	if (u <= none)
		return 0;
	/* Walks the distribution from 0 on; n*p is small, so it ends soon. */
	odds = p / (1 - p);
	for (k = 0; k < n && u > share; k++) {
		u -= share;
		share *= (all - (double)k) / (double)(k + 1) * odds;
		/* Rounding has left a rest that no outcome is owed. */
		if (share < 0x1p-80 && (double)k > all * p)
			break;
	}
	return k;
}

/* The error of Stirling's formula for log k!. */
static double stirling_rest(double k)
{
	static const double small[] = {
		0.08106146679532726,  0.04134069595540929, 0.02767792568499834, 0.02079067210376509,
		0.01664469118982119,  0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
		0.009255462182712733, 0.00833056343336287,
	};
	double k1 = k + 1;
	double square = k1 * k1;

	if (k < 10)
		return small[(int)k];
	return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / k1;
}

struct rejection {
	double n, p, odds;
	double mode;
	double a, b, centre, alpha;
};

/* Whether a candidate k stays, given the logarithm of its scaled uniform: the exact test. */
static bool accepts_candidate(const struct rejection *t, double k, double v)
{
	double m = t->mode;
	double bound = (m + 0.5) * log((m + 1) / (t->odds * (t->n - m + 1))) +
		       (t->n + 1) * log1p((k - m) / (t->n - k + 1)) +
		       (k + 0.5) * log(t->odds * (t->n - k + 1) / (k + 1)) + stirling_rest(m) +
		       stirling_rest(t->n - m) - stirling_rest(k) - stirling_rest(t->n - k);

	return v <= bound;
}

/* n*p >= INVERSION_MEAN, p <= 1/2. */
static uint64_t by_rejection(struct vt_rng *r, uint64_t n, double p)
{
	struct rejection t = {.n = (double)n, .p = p, .odds = p / (1 - p)};
	double deviation = sqrt(t.n * p * (1 - p));
	double inner;

	t.b = 1.15 + 2.53 * deviation;
	t.a = -0.0873 + 0.0248 * t.b + 0.01 * p;
	t.centre = t.n * p + 0.5;
	t.alpha = (2.83 + 5.1 / t.b) * deviation;
	t.mode = floor((t.n + 1) * p);
	inner = 0.92 - 4.2 / t.b;
	for (;;) {
		double u = vt_draw_unit(r) - 0.5;
		double v = vt_draw_unit(r);
		double us = 0.5 - fabs(u);
		double k = floor((2 * t.a / us + t.b) * u + t.centre);

		if (us >= 0.07 && v <= inner)
			return (uint64_t)k;
		if (k < 0 || k > t.n)
			continue;
		if (accepts_candidate(&t, k, log(v * t.alpha / (t.a / (us * us) + t.b))))
			return (uint64_t)k;
	}
}

static uint64_t draw_minority(struct vt_rng *r, uint64_t n, double p)
{
	if ((double)n * p < INVERSION_MEAN)
		return vt_draw_few(r, n, p, exp((double)n * log1p(-p)));
	return by_rejection(r, n, p);
}

uint64_t vt_draw_binomial(struct vt_rng *r, uint64_t n, double p)
{
	if (n == 0 || p <= 0)
		return 0;
	if (p >= 1)
		return n;
	if (n == 1)
		return vt_draw_unit(r) < p;
	return p <= 0.5 ? draw_minority(r, n, p) : n - draw_minority(r, n, 1 - p);
}
