/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_TALLY_H
#define VT_PROFILE_TALLY_H

#include <stdint.h>

/* Samples and their period, the weight of each. */
struct vt_tally {
	uint64_t samples;
	uint64_t period;
	double squares; /* sum of the samples' squared periods; where not known, as if all equal */
};

static inline void vt_tally_add(struct vt_tally *to, struct vt_tally t)
{
	to->samples += t.samples;
	to->period += t.period;
	to->squares += t.squares;
}

/* The sum of the squared periods of samples of the same period. */
static inline double vt_tally_squares(uint64_t samples, uint64_t period)
{
	return samples ? (double)period * (double)period / (double)samples : 0;
}

#endif
