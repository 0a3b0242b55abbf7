/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_EVENTS_CHECK_H
#define VT_EVENTS_CHECK_H

#include <stdbool.h>

/*
 * Whether samples are chosen at random: the instructions of a basic block are executed equally
 * often, so their counts must not differ more than chance makes them.
 */
struct vt_evcheck {
	double squares; /* sum over blocks of Pearson's chi-square */
	double freedom; /* its degrees of freedom; 0: nothing could be compared */
};

/* Fewer degrees of freedom tell nothing. */
#define VT_EVCHECK_LEAST 10

/*
 * Adds a block: of `n` instructions, the samples of each, and the expected share of each up to a
 * factor (NULL: all equal).
 */
void vt_evcheck_add(struct vt_evcheck *c, const double *samples, const double *shares, unsigned n);

/* Whether there was enough to compare. */
static inline bool vt_evcheck_known(const struct vt_evcheck *c)
{
	return c->freedom >= VT_EVCHECK_LEAST;
}

/* Whether the counts differ more than chance makes them but once in a thousand runs. */
bool vt_evcheck_differs(const struct vt_evcheck *c);

/* How many times the variance is that of chance: 1 unless vt_evcheck_differs(). */
double vt_evcheck_factor(const struct vt_evcheck *c);

#endif
