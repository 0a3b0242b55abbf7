/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SAMPLE_INTERVAL_H
#define VT_SAMPLE_INTERVAL_H

#include <stdint.h>

#include "base/rng.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Distributions of the intervals between samples. */
enum vt_interval_kind {
	/*
	 * Uniform in a range around the mean, as DCPI's (4.1.1: between 60K and 64K): from
	 * mean - mean/31 to mean + mean/31, rounded away from the mean.
	 */
	VT_INTERVAL_UNIFORM,
	VT_INTERVAL_GEOMETRIC, /* each event is as likely as any other to be sampled */
	VT_INTERVAL_FIXED,
	VT_NINTERVALS
};

/* The names of the kinds, followed by NULL. */
extern const char *const vt_interval_words[VT_NINTERVALS + 1];

struct vt_interval {
	enum vt_interval_kind kind;
	uint64_t mean;
	uint64_t half; /* of the uniform range */
};

/* The mean is at least 1 and at most 2^48. */
#define VT_INTERVAL_MAX ((uint64_t)1 << 48)

struct vt_interval vt_interval_make(enum vt_interval_kind kind, uint64_t mean);

/* Draws the number of events from one sample to the next, the next one included: at least 1. */
uint64_t vt_interval_next(const struct vt_interval *v, struct vt_rng *rng);

/*
 * Draws the number of events up to the first sample.  Its distribution is the interval's
 * equilibrium distribution, P(k) = P(interval >= k) / mean, so that each event, including the first
 * ones, is sampled with probability 1/mean, as if sampling had begun long before.
 */
uint64_t vt_interval_first(const struct vt_interval *v, struct vt_rng *rng);

/*
 * Handles a record of executed code that contradicts itself: passes the text of `err` to `warn`,
 * which may be NULL, and writes a GAP record in its place.
 */
void vt_sample_refuse(struct vt_writer *w, vt_warn_fn *warn, void *arg, const struct vt_error *err);

/*
 * Writes a SAMPLE record of an instruction in user mode and returns its row, so that the caller can
 * set more fields.  A time of 0 is unknown.
 */
uint64_t *vt_sample_write(struct vt_writer *w, uint64_t event, uint64_t time, int64_t pid,
			  int64_t tid, uint64_t ip, uint64_t period);

#endif
