/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOT_MERGE_H
#define VT_VALUE_HOT_MERGE_H

#include "base/error.h"
#include "base/rng.h"
#include "value/hot_profile.h"

/*
 * Joins hot list `b` to `a`, as if both had watched one run, first a's half and then b's.  Totals
 * add up; so do `same`, with one more if b's first value is a's last, and `stride`, whose hits
 * across the seam are unknown.  Of the values:
 *
 *  - counting samples (VT_ALGO_GM): the list that was thinned less is thinned as often as the
 * other, counts are added, and while there are more than `capacity` values, all are thinned: what
 * comes out has the distribution of a sample of the whole (value sampling 2.2);
 *  - space-saving: counts and errors add up; a value that one list has not may have been there as
 *    often as its greatest error, which is added to both; the `capacity` values stay that are known
 *    to have come most often (after Agarwal et al., "Mergeable summaries", 2012);
 *  - the others: counts add up; the `capacity` highest stay.
 *
 * 0; -VT_E_MISMATCH: other algorithm, capacity or factor; -VT_E_LIMIT: a total above
 * VT_HOT_MAX_TOTAL; -VT_E_NOMEM.  `a` is unchanged after an error.
 */
int vt_hot_merge(struct vt_hot *a, const struct vt_hot *b, struct vt_rng *rng,
		 struct vt_error *err);

#endif
