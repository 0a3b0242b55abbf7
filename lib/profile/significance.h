/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SIGNIFICANCE_H
#define VT_PROFILE_SIGNIFICANCE_H

#include <stddef.h>
#include <stdint.h>

/* How likely differences as great as those found are to be chance alone. */

/* A set of numbers, as they come. */
struct vt_moments {
	uint64_t count;
	double mean;
	double squares; /* sum of the squared distances from the mean */
	double min;
	double max;
};

/* Takes one more number.  Welford: Note on a method for calculating corrected sums, 1962. */
void vt_moments_add(struct vt_moments *m, double x);

/* The standard deviation of what the numbers are a sample of; 0 for fewer than two. */
double vt_moments_deviation(const struct vt_moments *m);

/*
 * The regularised incomplete beta function I_x(a, b), for a, b > 0 and x in [0, 1]: NIST Digital
 * Library of Mathematical Functions, 8.17.  Relative errors below 1e-10 for a and b up to 1e9.
 */
double vt_incomplete_beta(double a, double b, double x);

/*
 * The probability that of n + m events, each of them as likely to be of the first sort as `share`
 * says, n are of the first sort or something no more likely on either side: the binomial test that
 * two Poisson counts are compared with, of which `share` is the first one's part of the exposure.
 */
double vt_count_test(uint64_t n, uint64_t m, double share);

/*
 * The probability that two sets of at least two numbers each, drawn from normal distributions of
 * equal mean, have means that are as far apart: Welch's t-test (Biometrika 34, 1947), two-sided.
 */
double vt_mean_test(const struct vt_moments *a, const struct vt_moments *b);

/*
 * One of two sets of runs, of a thing that is counted in each: `shares` are its shares of all that
 * was counted in each run, `count` and `total` what it and all have together.
 */
struct vt_share_set {
	struct vt_moments shares;
	uint64_t count;
	uint64_t total;
};

/*
 * The probability that two sets of at least two runs each have mean shares as far apart if the
 * thing takes the same share in both.  It is the greater one of two: vt_mean_test() of the shares,
 * which knows how much runs vary by themselves; and vt_count_test() of the counts, for runs vary by
 * no less than independent samples do, though few of them may happen to agree, as where all counts
 * are 0 and 1.  NaN where a set has nothing counted at all.
 *
 * Shares are compared, not counts, because runs of one work take more or less time altogether.
 */
double vt_share_test(const struct vt_share_set *a, const struct vt_share_set *b);

/*
 * Which of `count` probabilities are small enough for a false discovery rate of `rate`: those up to
 * the value returned.  -1: none.  Benjamini and Hochberg, Journal of the Royal Statistical Society
 * B 57, 1995.  Sorts `p`.
 */
double vt_discovery_threshold(double *p, size_t count, double rate);

#endif
