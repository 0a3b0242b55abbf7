/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_INVARIANCE_H
#define VT_VALUE_INVARIANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "value/hot_profile.h"

/*
 * Metrics of value profiles, as the paper defines them (B. Calder, P. Feller and A. Eustace, "Value
 * Profiling and Optimization", Journal of Instruction-Level Parallelism 1, 1999, 4.2 to 4.4).  An
 * instruction of the paper is a hot list here.  Shares are fractions from 0 to 1, not percentages.
 */

enum vt_inv_metric {
	VT_INV_TOP,    /* executions that had the most frequent value */
	VT_INV_ALL,    /* executions that had one of the steady values */
	VT_INV_LVP,    /* executions with the value of the one before */
	VT_INV_ZERO,   /* executions with the value 0 */
	VT_INV_STRIDE, /* executions whose value went on by the difference before */
	VT_NINVMETRICS
};

/* "inv-top" …; "?" for other values. */
const char *vt_inv_metric_name(unsigned metric);

/*
 * Inv-M of 4.2: the sum of the M highest estimates, divided by the profiled executions, and at most
 * 1, because estimates of samples may be too high.  For m = UINT32_MAX, all values of the list
 * count. A list without profiled executions has 0.
 */
double vt_inv_m(const struct vt_hot *h, uint32_t m);

/* Returns the number of steady values of a list, which is at most the number of its values. */
uint32_t vt_inv_steady(const struct vt_hot *h);

/* Computes a metric of a list; LVP, zero and stride are shares of all executions. */
double vt_inv_value(const struct vt_hot *h, enum vt_inv_metric metric);

/* Which lists count: those of the kinds whose bits (1 << enum vt_what) are set; VT_INV_EVERY: all.
 */
#define VT_INV_EVERY UINT32_MAX

/*
 * Returns the kinds (bits 1 << enum vt_what) that a word names: the name of a kind, in the singular
 * or plural, "caller", "address", "default" (returns `defaults`) or "all".  Returns 0 for other
 * words.
 */
uint32_t vt_whats_of(const char *word, size_t size, uint32_t defaults);

static inline bool vt_inv_is_of(uint64_t what, uint32_t kinds)
{
	return kinds == VT_INV_EVERY || (what < 32 && kinds >> what & 1);
}

/* Whether a list counts in the metrics: it is of these kinds, and has profiled executions. */
static inline bool vt_inv_counts(const struct vt_hot *h, uint32_t kinds)
{
	return h->profiled && vt_inv_is_of(h->key.what, kinds);
}

/* A whole profile: each metric's mean over its lists, weighted by their executions. */
struct vt_inv_overall {
	uint64_t lists;
	uint64_t executions; /* UINT64_MAX at most */
	uint64_t profiled;
	double value[VT_NINVMETRICS];
};

void vt_inv_sum(const struct vt_hotprofile *p, uint32_t what, struct vt_inv_overall *sum);

/* ---- comparing two profiles: 4.3 ---- */

/* The same place in both profiles: indexes of its lists. */
struct vt_inv_pair {
	size_t a;
	size_t b;
};

struct vt_inv_options {
	uint32_t what;	  /* kinds, or VT_INV_EVERY */
	double threshold; /* of Find-Top: 0.3 in the paper */
	uint32_t m;	  /* of Diff-All; 0: as vt_inv_common_m() */
};

struct vt_inv_comparison {
	uint64_t lists;	      /* in both profiles, with profiled executions */
	uint64_t executions;  /* in the first profile, of these */
	uint64_t of;	      /* executions in the first profile, of all its lists */
	uint64_t only_first;  /* lists that are only in the first profile */
	uint64_t only_second; /* lists that are only in the second profile */
	double profiled;      /* share of the second profile's executions that were profiled */
	uint32_t m;	      /* of Diff-All; UINT32_MAX: all values */
	/*
	 * The following are means over the lists in both, weighted by the executions in the first
	 * profile.
	 */
	double diff_top; /* |difference of Inv-Top| */
	double diff_all; /* |difference of Inv-M| / M; of all values: not divided */
	double rms;	 /* root of the mean of the squared differences of Inv-Top */
	double diff_lvp;
	double diff_zero;
	/* Of the lists whose Inv-Top in the first profile is above the threshold: */
	uint64_t candidates;
	double find_top; /* the share whose top value is one of the second's steady values; or 1 */
	/* Each profile alone, with all its lists. */
	struct vt_inv_overall first;
	struct vt_inv_overall second;
};

/*
 * Returns the number of values per list that two profiles can be compared by: the minimum of their
 * numbers of steady values, where that of a profile is the maximum of its lists.  Returns
 * UINT32_MAX if neither profile has a limit.
 */
uint32_t vt_inv_common_m(const struct vt_hotprofile *a, const struct vt_hotprofile *b,
			 uint32_t what);

/*
 * Finds the lists of kinds `what` that both profiles have, in a's order, except for lists without
 * profiled executions.  Images are the same if their build-ids are equal or, without build-id,
 * their types and paths.  Returns an array of *n pairs that the caller frees with free(), or NULL
 * when memory runs out.
 */
struct vt_inv_pair *vt_inv_match(const struct vt_hotprofile *a, const struct vt_hotprofile *b,
				 uint32_t what, size_t *n);

void vt_inv_compare(const struct vt_hotprofile *a, const struct vt_hotprofile *b,
		    const struct vt_inv_pair *pairs, size_t n, const struct vt_inv_options *o,
		    struct vt_inv_comparison *result);

/* ---- curves: 4.4 ---- */

#define VT_INV_BUCKETS 100

/*
 * Sorts the lists by a metric, lowest first, and distributes their executions to 100 buckets of 1 %
 * each; a list may be in several buckets.  curve[i] becomes the mean of bucket i, weighted by
 * executions.  Returns false if there are no executions or memory runs out.
 */
bool vt_inv_curve(const struct vt_hotprofile *p, uint32_t what, enum vt_inv_metric metric,
		  double curve[VT_INV_BUCKETS]);

#endif
