/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/significance.h"

#include <math.h>
#include <stdlib.h>

void vt_moments_add(struct vt_moments *m, double x)
{
	double from = x - m->mean;

	if (!m->count || x < m->min)
		m->min = x;
	if (!m->count || x > m->max)
		m->max = x;
	m->count++;
	m->mean += from / (double)m->count;
	m->squares += from * (x - m->mean);
}

static double variance(const struct vt_moments *m)
{
	return m->count < 2 ? 0 : m->squares / (double)(m->count - 1);
}

double vt_moments_deviation(const struct vt_moments *m)
{
	return sqrt(variance(m));
}

/* Lentz's method divides by its terms: none may be 0. */
static double nonzero(double v)
{
	return v == 0 ? 1e-300 : v;
}

/*
 * The continued fraction of DLMF 8.17.22, by Lentz's method as Thompson and Barnett amended it.  It
 * converges within O(sqrt(max(a, b))) steps for x below the distribution's mean, a / (a + b).
 */
static double beta_fraction(double a, double b, double x)
{
	const unsigned limit = 1000 + (unsigned)(20 * sqrt(fmax(a, b)));
	double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), f = d;
	unsigned m;

	for (m = 1; m < limit; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / nonzero(1 + even * d);
		c = nonzero(1 + even / c);
		f *= d * c;
		d = 1 / nonzero(1 + odd * d);
		c = nonzero(1 + odd / c);
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

double vt_incomplete_beta(double a, double b, double x)
{
	double front;

	if (!(x > 0))
		return 0;
	if (!(x < 1))
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < a / (a + b))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* That at most n of n + m are of the first sort. */
static double probability_at_most(uint64_t n, uint64_t m, double share)
{
	return m ? vt_incomplete_beta((double)m, (double)n + 1, 1 - share) : 1;
}

double vt_count_test(uint64_t n, uint64_t m, double share)
{
	double low, high;

	if (n + m == 0)
		return 1;
	low = probability_at_most(n, m, share);
	high = n ? 1 - probability_at_most(n - 1, m + 1, share) : 1;
	return fmin(1, 2 * fmin(low, high));
}

/* vt_mean_test() of means that are `apart`. */
static double test_distance(const struct vt_moments *a, const struct vt_moments *b, double apart)
{
	double va = variance(a) / (double)a->count;
	double vb = variance(b) / (double)b->count;
	double t2, freedom;

	if (a->count < 2 || b->count < 2)
		return 1;
	if (va + vb <= 0)
		return apart == 0 ? 1 : 0;
	t2 = apart * apart / (va + vb);
	freedom = (va + vb) * (va + vb) /
		  (va * va / (double)(a->count - 1) + vb * vb / (double)(b->count - 1));
	/* Student's distribution: DLMF 8.17(ii), I_x(v/2, 1/2) with x = v / (v + t^2). */
	return fmin(1, vt_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t2)));
}

double vt_mean_test(const struct vt_moments *a, const struct vt_moments *b)
{
	return test_distance(a, b, a->mean - b->mean);
}

double vt_mean_least(const struct vt_moments *a, const struct vt_moments *b, double level)
{
	double low = 0, high = sqrt(variance(a) + variance(b));
	unsigned i;

	if (a->count < 2 || b->count < 2 || !(level > 0) || !(level < 1))
		return NAN;
	/* Of one degree of freedom and a level of 1e-6, t is 6e5. */
	for (i = 0; i < 100 && test_distance(a, b, high) > level; i++)
		high *= 2;
	for (i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (test_distance(a, b, middle) > level)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double vt_share_test(const struct vt_share_set *a, const struct vt_share_set *b)
{
	double exposure = (double)a->total / ((double)a->total + (double)b->total);

	if (!a->total || !b->total)
		return NAN;
	return fmax(vt_mean_test(&a->shares, &b->shares),
		    vt_count_test(a->count, b->count, exposure));
}

static int ascending(const void *pa, const void *pb)
{
	const double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

double vt_discovery_threshold(double *p, size_t count, double rate)
{
	size_t i;

	qsort(p, count, sizeof(*p), ascending);
	for (i = count; i-- > 0;)
		if (p[i] <= rate * (double)(i + 1) / (double)count)
			return p[i];
	return -1;
}
