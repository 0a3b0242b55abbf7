/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SAMPLE_INTERVAL_H
#define VT_SAMPLE_INTERVAL_H

#include <stdint.h>

#include "base/rng.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* How the intervals between samples are drawn; all have the same mean. */
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

/* Their names, and NULL. */
extern const char *const vt_interval_words[VT_NINTERVALS + 1];

struct vt_interval {
	enum vt_interval_kind kind;
	uint64_t mean;
	uint64_t half; /* of the uniform range */
};

/* The mean is at least 1 and at most 2^48. */
#define VT_INTERVAL_MAX ((uint64_t)1 << 48)

struct vt_interval vt_interval_make(enum vt_interval_kind kind, uint64_t mean);

/* How many events from one sample to the next, this one included: at least 1. */
uint64_t vt_interval_next(const struct vt_interval *v, struct vt_rng *rng);

/*
 * The same up to the first sample: drawn so that each event, from the very first one, is sampled
 * with probability 1/mean, as if sampling had begun long before (the interval's equilibrium
 * distribution: P(k) = P(interval >= k) / mean).
 */
uint64_t vt_interval_first(const struct vt_interval *v, struct vt_rng *rng);

/*
 * Leaves out executed code that contradicts itself: passes the text of `err` to `warn` (may be
 * NULL) and writes a GAP record.
 */
void vt_sample_refuse(struct vt_writer *w, vt_warn_fn *warn, void *arg, const struct vt_error *err);

/* Writes the SAMPLE of an instruction of user code: the row.  Of time 0, nothing is known. */
uint64_t *vt_sample_write(struct vt_writer *w, uint64_t event, uint64_t time, int64_t pid,
			  int64_t tid, uint64_t ip, uint64_t period);

#endif
