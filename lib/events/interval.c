/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events/interval.h"

#include <math.h>

#include "profile/significance.h"

#define NORMAL		  1.959963984540054 /* the 97.5 % quantile of the normal distribution */
#define SAMPLES_OF_NORMAL 30

/* Both expansions converge within some sqrt(a) terms. */
static unsigned most_terms(double a)
{
	return 1000 + (unsigned)(20 * sqrt(a));
}

static double gamma_series(double a, double x)
{
	double term = 1 / a, sum = term;
	unsigned i;

	for (i = 1; i < most_terms(a) && term > sum * 1e-16; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return sum * exp(a * log(x) - x - lgamma(a));
}

/* Of 1 - P, by Lentz's method. */
static double gamma_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1e300, d = 1 / b, f = d;
	unsigned i;

	for (i = 1; i < most_terms(a); i++) {
		double n = -(double)i * ((double)i - a), step;

		b += 2;
		d = n * d + b;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = b + n / c;
		c = fabs(c) < 1e-300 ? 1e-300 : c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f * exp(a * log(x) - x - lgamma(a));
}

double vt_incomplete_gamma(double a, double x)
{
	if (!(x > 0))
		return 0;
	return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}

double vt_gamma_quantile(double a, double p)
{
	double low = 0, high = a + 10 * sqrt(a) + 10;
	unsigned i;

	while (vt_incomplete_gamma(a, high) < p)
		high *= 2;
	for (i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (vt_incomplete_gamma(a, middle) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

void vt_poisson_interval(double k, double *low, double *high)
{
	*low = k > 0 ? vt_gamma_quantile(k, 0.025) : 0;
	*high = vt_gamma_quantile(k + 1, 0.975);
}

void vt_weighted_interval(double sum, double variance, double weight, double factor, double *low,
			  double *high)
{
	double unit = factor * (sum > 0 ? variance / sum : weight), n = 0;

	if (sum > 0 && unit > 0)
		n = sum / unit;
	if (n < SAMPLES_OF_NORMAL) {
		vt_poisson_interval(n, low, high);
		*low *= unit;
		*high *= unit;
	} else {
		double half = NORMAL * sqrt(variance * factor);

		*low = fmax(0, sum - half);
		*high = sum + half;
	}
}

double vt_student_quantile(double v)
{
	double low = NORMAL, high = 2 * NORMAL;
	unsigned i;

	/* DLMF 8.17(ii): both tails beyond t have I_x(v/2, 1/2), with x = v / (v + t^2). */
	while (vt_incomplete_beta(v / 2, 0.5, v / (v + high * high)) > 0.05 && high < 1e12)
		high *= 2;
	for (i = 0; i < 60; i++) {
		double t = (low + high) / 2;

		if (vt_incomplete_beta(v / 2, 0.5, v / (v + t * t)) > 0.05)
			low = t;
		else
			high = t;
	}
	return (low + high) / 2;
}

void vt_mean_interval(const struct vt_sampled_mean *own, double within, double *low, double *high)
{
	double n = own->n;
	double squares = n * fmax(0, own->square - own->mean * own->mean) + within;
	double half = vt_student_quantile(n) * sqrt(squares) / n;

	*low = fmax(0, own->mean - half);
	*high = own->mean + half;
}
