/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_EVENTS_INTERVAL_H
#define VT_EVENTS_INTERVAL_H

#include <stdbool.h>

/* Intervals of estimates from samples: ProfileMe 5.1. */

/*
 * The regularised lower incomplete gamma function P(a, x), for a > 0 and x >= 0: NIST Digital
 * Library of Mathematical Functions, 8.7.1 and 8.9.2.
 */
double vt_incomplete_gamma(double a, double x);

/* The x at which P(a, x) = p, for a > 0 and 0 < p < 1. */
double vt_gamma_quantile(double a, double p);

/*
 * The 95 % interval of the mean of a Poisson distribution of which k was drawn: Garwood, Biometrika
 * 28, 1936.  k >= 0 need not be an integer.
 */
void vt_poisson_interval(double k, double *low, double *high);

/*
 * The same for a sum of weights, each of a thing that was counted: `sum`, and `variance`, the sum
 * of the squared weights, which the samples vary `factor` times as much as chance makes them.
 * Exact where the sum is worth less than 30 equal samples, else that of the normal distribution.
 * `weight` is that of a single sample, for a sum of 0.
 */
void vt_weighted_interval(double sum, double variance, double weight, double factor, double *low,
			  double *high);

/* The 97.5 % quantile of Student's distribution of v > 0 degrees of freedom. */
double vt_student_quantile(double v);

/* What is known of a number from samples: of how many, their mean, and the mean of the squares. */
struct vt_sampled_mean {
	double n;
	double mean;
	double square;
};

/*
 * The 95 % interval of a mean.  `within` is the variance of samples of a place around their own
 * mean, over all places; one more sample is counted that is so far off.  Without it, a few equal
 * samples, as of a load that has not missed yet, would seem to be certain.  Gelman et al., Bayesian
 * Data Analysis, 3.3, with a prior of the variance that has the weight of one sample.
 */
void vt_mean_interval(const struct vt_sampled_mean *own, double within, double *low, double *high);

#endif
