/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_DRAW_H
#define VT_VALUE_DRAW_H

#include <stdint.h>

#include "base/rng.h"

/* Random numbers of other distributions than the uniform one. */

/* Draws from the uniform distribution on (0, 1), with 53 random bits: never 0, never 1. */
double vt_draw_unit(struct vt_rng *r);

/* Draws from the exponential distribution with mean 1. */
double vt_draw_exponential(struct vt_rng *r);

/*
 * Draws from the binomial distribution: the number of successes in n independent trials, each with
 * probability p, 0 <= p <= 1.  The distribution is exact up to the precision of doubles for every
 * n.  Uses inversion where the mean is small, and otherwise transformed rejection (W. Hörmann, "The
 * generation of binomial random variates", Journal of Statistical Computation and Simulation 46,
 * 1993, algorithm BTRS).
 */
uint64_t vt_draw_binomial(struct vt_rng *r, uint64_t n, double p);

/*
 * Does the same by inversion, for callers that know `none` = (1-p)^n already; n*p must be below 10
 * and p at most 1/2.
 */
uint64_t vt_draw_few(struct vt_rng *r, uint64_t n, double p, double none);

#endif
