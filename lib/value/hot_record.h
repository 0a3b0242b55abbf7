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

/* One hot list: what HOT records hold. */

/* The image of an address where nothing is mapped; the offset is then the address. */
#define VT_HOT_NO_IMAGE 0xffffffffu

/* The most executions believed of one place; the sum of two such totals does not overflow. */
#define VT_HOT_MAX_TOTAL (UINT64_C(1) << 62)

/* What tells lists apart.  It has no padding, so that it can be compared as bytes. */
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
	uint32_t capacity; /* values that the list has room for; 0: no limit */
	uint32_t steady;   /* values that count for Inv-All; 0: all of them */
	uint32_t level;	   /* how often a counting sample was thinned */
	uint32_t nvalues;
	double factor; /* by how much each time */
	double scale;  /* factor^level: the executions that a count of 1 stands for */
	uint64_t total;
	uint64_t profiled; /* <= total */
	uint64_t zero;	   /* <= total, as the next two */
	uint64_t same;
	uint64_t stride;
	uint64_t first;
	uint64_t last;
	uint64_t *values;
	uint64_t *counts; /* less their errors, their sum is at most `profiled` */
	uint64_t *errors; /* errors[i] <= counts[i]; NULL: the algorithm knows none */
};

/*
 * Estimates how many of the profiled executions had the i-th value: count * scale.  Where counts
 * may be too high by a known error (space-saving), only what is certain: (count - error) * scale.
 * For a counting sample the estimate is unbiased, and may exceed `profiled`.
 */
static inline double vt_hot_estimate(const struct vt_hot *h, uint32_t i)
{
	return (double)(h->counts[i] - (h->errors ? h->errors[i] : 0)) * h->scale;
}

/*
 * Reads a HOT record.  The key has the stream's image ids.  End with vt_hot_fini(), unless there
 * was an error: -VT_E_DAMAGED, the record contradicts itself (the text says how) or exceeds
 * VT_HOT_MAX_TOTAL; -VT_E_NOMEM.
 */
int vt_hot_load(struct vt_hot *h, const struct vt_record *rec, struct vt_error *err);

/*
 * Writes a list in its order, with these image ids.  A list with more values than a frame has room
 * for becomes several HOT records, which vt_hotprofile_end() merges again.
 */
void vt_hot_put(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w);

/* Likewise, highest count first.  -VT_E_NOMEM; errors of the writer stick to the writer. */
int vt_hot_write(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w,
		 struct vt_error *err);

/* Allocates the arrays for n values, all 0.  `errors` stays NULL unless asked for. */
int vt_hot_alloc(struct vt_hot *h, uint32_t n, bool errors, struct vt_error *err);

/* Frees the arrays. */
void vt_hot_fini(struct vt_hot *h);

/*
 * Sorts the values: highest estimate first, then highest count, then lowest value.  -VT_E_DAMAGED:
 * a value comes twice; -VT_E_NOMEM.
 */
int vt_hot_sort(struct vt_hot *h, struct vt_error *err);

/* The order of keys: image, offset, what, reg, lane, caller's image, caller, `zero`. */
int vt_hot_key_compare(const struct vt_hot_key *a, const struct vt_hot_key *b);

/*
 * Merges `b` into `a`, as if one list had seen a's values and then b's.  Totals add up.  So do
 * `same`, plus one if b's first value is a's last, and `stride`, although strides across the seam
 * are unknown.  The values depend on the algorithm:
 *
 *  - Counting samples (VT_ALGO_GM): the list that was thinned less is thinned to the other's level
 *    and counts add up.  While there are more than `capacity` values, all are thinned.  The result
 *    has the distribution of a sample of the whole (value sampling 2.2).
 *  - Space-saving: counts and errors add up.  A value missing from one list may have had that
 * list's greatest error as its count there, which is added to count and error.  The `capacity`
 * values with the highest estimates stay (after Agarwal et al., "Mergeable summaries", 2012).
 *  - Others: counts add up, and the `capacity` highest stay.
 *
 * `a` is unchanged after an error: -VT_E_MISMATCH, other algorithm, capacity or factor;
 * -VT_E_LIMIT, a total above VT_HOT_MAX_TOTAL; -VT_E_NOMEM.
 */
int vt_hot_merge(struct vt_hot *a, const struct vt_hot *b, struct vt_rng *rng,
		 struct vt_error *err);

#endif
