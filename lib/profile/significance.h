/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SIGNIFICANCE_H
#define VT_PROFILE_SIGNIFICANCE_H

#include <stddef.h>
#include <stdint.h>

/* The probabilities that observed differences are due to chance. */

/* The moments of a set of numbers. */
struct vt_moments {
	uint64_t count;
	double mean;
	double squares; /* sum of the squared distances from the mean */
	double min;
	double max;
};

/* Adds a number.  Welford: Note on a method for calculating corrected sums, 1962. */
void vt_moments_add(struct vt_moments *m, double x);

/* The sample standard deviation; 0 for fewer than two numbers. */
double vt_moments_deviation(const struct vt_moments *m);

/*
 * The regularised incomplete beta function I_x(a, b), for a, b > 0 and x in [0, 1]: NIST Digital
 * Library of Mathematical Functions, 8.17.  Relative errors below 1e-10 for a and b up to 1e9.
 */
double vt_incomplete_beta(double a, double b, double x);

/*
 * The two-sided binomial test for comparing two Poisson counts: the probability of a split of n + m
 * events at least as unlikely as n to m, if each event is of the first sort with probability
 * `share`, the first count's part of the exposure.
 */
double vt_count_test(uint64_t n, uint64_t m, double share);

/*
 * Welch's two-sided t-test (Biometrika 34, 1947): the probability that two sets of at least two
 * numbers, drawn from normal distributions of equal mean, have means that are as far apart.
 */
double vt_mean_test(const struct vt_moments *a, const struct vt_moments *b);

/*
 * The least distance of two means that vt_mean_test() would give a probability of at most `level`,
 * above 0 and below 1, if the sets varied as these do; NaN for sets of fewer than two numbers.
 */
double vt_mean_least(const struct vt_moments *a, const struct vt_moments *b, double level);

/*
 * A set of runs, for one thing that each run counts: `shares` are its shares of each run's total,
 * `count` and `total` the sums over all runs.
 */
struct vt_share_set {
	struct vt_moments shares;
	uint64_t count;
	uint64_t total;
};

/*
 * The probability that two sets of at least two runs have mean shares as far apart if the thing has
 * the same share in both.  It is the greater of two probabilities: vt_mean_test() of the shares,
 * which accounts for the variation between runs, and vt_count_test() of the counts, since runs vary
 * at least as much as independent samples, even if a few happen to agree (as when all counts are 0
 * or 1).  NaN if the total of a set is 0.
 *
 * It compares shares, not counts, because the total time of the same work varies between runs.
 */
double vt_share_test(const struct vt_share_set *a, const struct vt_share_set *b);

/*
 * The greatest of `count` probabilities that is significant at a false discovery rate of `rate`;
 * -1 if none is.  Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 1995.
 * Sorts `p`.
 */
double vt_discovery_threshold(double *p, size_t count, double rate);

#endif
