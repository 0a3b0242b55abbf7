/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_DRAW_H
#define VT_VALUE_DRAW_H

#include <stdint.h>

#include "base/rng.h"

/* Random numbers of other distributions than the uniform one. */

/* Uniform in (0, 1), 53 bits of it: never 0, never 1. */
double vt_draw_unit(struct vt_rng *r);

/* Exponential with mean 1. */
double vt_draw_exponential(struct vt_rng *r);

/*
 * How many of n independent trials succeed, each with probability p, 0 <= p <= 1.  Exact in
 * distribution, as far as doubles are, for every n: by inversion where the mean is small, else by
 * transformed rejection (W. Hörmann, "The generation of binomial random variates", Journal of
 * Statistical Computation and Simulation 46, 1993, algorithm BTRS).
 */
uint64_t vt_draw_binomial(struct vt_rng *r, uint64_t n, double p);

/* The same by inversion, for those who know (1-p)^n already; n*p is below 10, p at most 1/2. */
uint64_t vt_draw_few(struct vt_rng *r, uint64_t n, double p, double none);

#endif
