/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOT_RECORD_H
#define VT_VALUE_HOT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"
#include "stream/kinds.h"
#include "stream/record.h"
#include "stream/writer.h"

/* One hot list, as HOT records store it. */

/* The image number of unmapped addresses; the offset is then the address. */
#define VT_HOT_NO_IMAGE 0xffffffffu

/* The maximum valid number of executions of a place; a sum of two does not overflow. */
#define VT_HOT_MAX_TOTAL (UINT64_C(1) << 62)

/* The minimum factor of counting samples; with a smaller one, thinning would take very long. */
#define VT_HOT_MIN_FACTOR 1.001

/* Identifies a list.  It has no padding, so that it can be compared as bytes. */
struct vt_hot_key {
	uint64_t offset; /* of the instruction in its image (vt_map_offset()) */
	uint64_t caller; /* return address of its procedure; 0: unknown, or not kept by caller */
	uint32_t image;	 /* index in the profile, or VT_HOT_NO_IMAGE */
	uint32_t caller_image; /* for a `caller` of 0: VT_HOT_NO_IMAGE if unknown, 0 if not kept */
	uint32_t what;	       /* enum vt_what, or a later version's */
	uint32_t reg;
	uint32_t lane;
	uint32_t zero; /* no meaning, always 0 */
};

/*
 * values[i], counts[i] and errors[i] belong together.  Values are distinct, and those of a profile
 * are ordered by vt_hot_estimate(), highest first.
 */
struct vt_hot {
	struct vt_hot_key key;
	uint32_t algo;	   /* enum vt_algo, or a later version's */
	uint32_t size;	   /* bytes of the value as the instruction uses it */
	uint32_t capacity; /* maximum number of values in the list; 0: no maximum */
	uint32_t steady;   /* values that count for Inv-All; 0: all of them */
	uint32_t level;	   /* how many times a counting sample was thinned */
	uint32_t nvalues;
	double factor; /* by which thinning divides counts, on average */
	double scale;  /* factor^level: the executions that a count of 1 represents */
	uint64_t total;
	uint64_t profiled; /* <= total */
	uint64_t zero;	   /* <= total, as the next two */
	uint64_t same;
	uint64_t stride;
	uint64_t first;
	uint64_t last;
	uint64_t *values;
	uint64_t *counts; /* less their errors, their sum is at most `profiled` */
	uint64_t *errors; /* errors[i] <= counts[i]; NULL if the algorithm has none */
};

/*
 * Estimates how many of the profiled executions had the i-th value: count * scale.  If the count
 * may be too high by a known error (space-saving), returns the lower bound (count - error) * scale.
 * For a counting sample the estimate is unbiased and may exceed `profiled`.
 */
static inline double vt_hot_estimate(const struct vt_hot *h, uint32_t i)
{
	return (double)(h->counts[i] - (h->errors ? h->errors[i] : 0)) * h->scale;
}

/*
 * Reads a HOT record to *h.  The key contains the stream's image ids.  Returns 0 (then free with
 * vt_hot_fini()); -VT_E_DAMAGED if the record contradicts itself, as the text describes, or exceeds
 * VT_HOT_MAX_TOTAL; or -VT_E_NOMEM.
 */
int vt_hot_load(struct vt_hot *h, const struct vt_record *rec, struct vt_error *err);

/*
 * Writes a list as a HOT record with these image ids and the values in their order.  If it has too
 * many values for a frame, writes several records, which vt_hotprofile_end() merges again.
 */
void vt_hot_put(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w);

/*
 * Does the same with the values ordered by count, highest first.  Returns 0 or -VT_E_NOMEM.  The
 * writer keeps its errors (vt_writer_error()).
 */
int vt_hot_write(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w,
		 struct vt_error *err);

/* Allocates arrays for n values, all 0; `errors` only if that is set.  Returns 0 or -VT_E_NOMEM. */
int vt_hot_alloc(struct vt_hot *h, uint32_t n, bool errors, struct vt_error *err);

/* Frees the arrays. */
void vt_hot_fini(struct vt_hot *h);

/*
 * Sorts the values: highest estimate first, then highest count, then lowest value.  Returns 0,
 * -VT_E_DAMAGED if a value occurs twice, or -VT_E_NOMEM.
 */
int vt_hot_sort(struct vt_hot *h, struct vt_error *err);

/* Compares keys by image, offset, what, reg, lane, caller's image, caller, `zero`. */
int vt_hot_key_compare(const struct vt_hot_key *a, const struct vt_hot_key *b);

/*
 * Merges `b` into `a`, as if one list had received a's values and then b's.  Totals are added.  So
 * are `same`, plus one if b's first value is a's last, and `stride`, although the strides from a's
 * last to b's first values are unknown.  The values depend on the algorithm:
 *
 *  - Counting samples (VT_ALGO_GM): thins the list with the lower level to the level of the other
 *    and adds counts.  While there are more than `capacity` values, thins all.  The result has the
 *    distribution of a sample of the whole sequence (value sampling 2.2).
 *  - Space-saving: adds counts and errors.  A value that one list does not contain may have
 *    occurred there as often as that list's greatest error, which is added to its count and error.
 *    Keeps the `capacity` values with the highest estimates (after Agarwal et al., "Mergeable
 *    summaries", 2012).
 *  - Others: adds counts and keeps the `capacity` highest.
 *
 * Returns 0; -VT_E_MISMATCH for a different algorithm, capacity or factor; -VT_E_LIMIT for a total
 * above VT_HOT_MAX_TOTAL; or -VT_E_NOMEM.  After an error, `a` is unchanged.
 */
int vt_hot_merge(struct vt_hot *a, const struct vt_hot *b, struct vt_rng *rng,
		 struct vt_error *err);

#endif
