/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PAIRS_SUM_H
#define VT_PAIRS_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/kinds.h"

/*
 * What pairs of samples add up to for an instruction or a line.  A group of samples adds x to the
 * numerator of a metric and y to its denominator, once for each sum, however many of its pairs
 * count for that.  Of a total, y is by how much weights exceed 1 instead.  Sums of several streams
 * add up, field by field.
 */
struct vt_pairsum {
	uint64_t pairs;	  /* each pair twice: once for each of its instructions */
	uint64_t missing; /* executed instructions that were not measured, and may differ */
	double x, x2, y, y2, xy;
	double cycles;	 /* in progress, of `wasted`; records have none of these three: */
	double overlaps; /* what counts behind the instruction, by weight, */
	double far;	 /* and of that, in the last tenth of the window */
	bool counted;	 /* executed code, each instruction of it, not pairs */
	bool partial;	 /* there is more beyond the window: the confidence is low */
};

/* An estimate; the interval is the one of 95 %.  Without confidence, all are NaN. */
struct vt_pairvalue {
	double value;
	double error; /* standard error; infinite: unknown */
	double low;
	double high;
	enum vt_confidence confidence;
};

/* Adds what a group of samples adds; `pairs` is left to the caller. */
void vt_pairsum_add(struct vt_pairsum *s, double x, double y);

/* Adds all of another sum. */
void vt_pairsum_join(struct vt_pairsum *s, const struct vt_pairsum *other);

/* Whether these sums can be those of pairs: finite, and no larger than their squares allow. */
bool vt_pairsum_is_valid(const struct vt_pairsum *s);

/*
 * The value: the ratio of x to y, or a total.  Groups are few against all that is fetched, so that
 * how many fall on an instruction is Poisson distributed, and the variance of a sum is that of
 * squares.  That of a ratio R is the sum of (x - R y) squared, divided by y squared.
 *
 * A total is the sum of x - b y.  As weights are 1 on average whatever the instruction, y is 0 but
 * for chance, and b = sum xy / sum yy takes out of x what follows from that: the variance is the
 * sum of (x - b y) squared.  Few pairs do not tell b: it is multiplied by n / (n + 20).  With
 * uniform distances all y are 0, and the total is the sum of x.
 *
 * Where all pairs are alike, so that these squares are 0, the error is unknown, as that of one
 * pair: they do not tell how often others are met.  Of executed code, whose instructions are all
 * counted, it is 0 from 30 groups on.
 *
 * There is no value if more is missing than was measured, nor of 0/0.  The confidence is low below
 * 30 pairs, above a relative error of 1/2, if more than a tenth is missing, or if the sum is
 * partial, and high from 200 pairs on at a relative error of 1/10 or less.
 */
struct vt_pairvalue vt_pairsum_value(const struct vt_pairsum *s, bool total);

#endif
