/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SHARE_H
#define VT_PROFILE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/tally.h"

/*
 * A part of all samples, or of their period, and the interval that holds the true share with 95 %
 * confidence, if the samples are independent.  All are fractions of 1.
 */
struct vt_share {
	bool known; /* false: no interval, and nothing else is set */
	double part;
	double low;
	double high;
	double samples; /* equally weighted independent samples with an interval as wide */
};

/*
 * The score interval of Wilson (Journal of the American Statistical Association 22, 1927) with
 * continuity correction (Newcombe, Statistics in Medicine 17, 1998), which holds for small counts
 * and for shares near 0 and 1.  By period, the samples' weights differ, and what counts is the
 * effective number of samples: the smaller one of Kish's, (sum w)^2 / sum w^2, and of the one that
 * the variance of the ratio gives.  Unknown without samples or period.
 */
struct vt_share vt_share_of(struct vt_tally part, struct vt_tally whole, bool by_period);

/* The same of a share of so many equally weighted samples; of none, only `part` is set. */
struct vt_share vt_share_of_part(double part, double samples);

/*
 * The same for a column of a profile.  Unknown if it is no sample: executed code, estimates, and
 * events that were recorded each time.
 */
struct vt_share vt_share_of_event(const struct vt_profile_event *e, struct vt_tally part,
				  bool by_period);

/* The larger distance of a bound from the share. */
double vt_share_half(const struct vt_share *s);

/*
 * How many more samples, of which `samples` are there, make vt_share_half() at most `half` if the
 * share stays the same; 0 if there are enough.  `half` is above 0.
 */
uint64_t vt_share_missing(const struct vt_share *s, uint64_t samples, double half);

#endif
