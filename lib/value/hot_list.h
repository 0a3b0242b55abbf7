/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOT_LIST_H
#define VT_VALUE_HOT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"
#include "stream/kinds.h"
#include "value/hot_record.h"

/*
 * Hot lists: the most frequent values of many sequences (one for each instruction, say), each in
 * constant space, all kept by one algorithm.
 *
 *	s = vt_hotlists_new(&options, &err);
 *	l = vt_hotlists_add(s);
 *	vt_hotlist_put(s, l, value);		... for each value
 *	vt_hotlist_read(s, l, &list, &err);	... what it has found
 *
 * Memory: VT_HOTLIST_HEAD bytes and 16 for each entry of each list; `exact` keeps every distinct
 * value.
 */
struct vt_hotlists;

#define VT_HOTLIST_HEAD	       128
#define VT_HOTLIST_MAX_ENTRIES 16384

/* Counts below this are thinned in a quick way. */
#define VT_HOTLIST_SMALL 64

struct vt_hotlist_options {
	enum vt_algo algo;
	/*
	 * N, the values that a list has room for (gm, lru, space-saving; the others have `steady`
	 * + `clear`, exact has no limit).  0: 16, or 6 for lru.
	 */
	uint32_t entries;
	double factor; /* f of gm, 1.001 to 1024; 0: N/(N-1), value sampling 2.2 */
	/*
	 * Values of a TNV table that are never cleared; of every algorithm's lists, the values that
	 * profiles are compared by.  0: 3
	 */
	uint32_t steady;
	uint32_t clear;	   /* values of a TNV table that are cleared; 0: 3, unless `no_clear` */
	bool no_clear;	   /* there are none */
	uint64_t interval; /* minimum clear interval, convergence interval, least back-off; 0: 2000
			    */
	uint64_t seed;
};

/*
 * One list: a cache line that is all a value touches which repeats the one before, or is not looked
 * at.  The rest lies elsewhere, so that these lines lie close together.  Not for use by callers.
 */
struct vt_hotlist {
	uint64_t total;
	uint64_t zero;
	uint64_t same;
	uint64_t stride;
	uint64_t last;
	uint64_t delta; /* `last` minus the value before it */
	uint64_t skip;	/* so many values are not looked at: rejected (gm), or in a back-off */
	uint32_t run;	/* occurrences of `last` that are not yet in the table */
	uint16_t count; /* values in the table */
	uint16_t recent : 15; /* index of one that is likely to come again */
	uint16_t sampled : 1; /* gm, and its probability is below 1: `skip` is drawn each time */
};

typedef void vt_hotlist_take_fn(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value,
				uint64_t n);

/* The lists' common part: for vt_hotlist_put() to look at and nobody else. */
struct vt_hotlists {
	struct vt_hotlist_options options; /* with the defaults filled in */
	vt_hotlist_take_fn *take;	   /* so many occurrences of a value come in a row */
	struct vt_rng rng;
	size_t rest_size; /* of a list, beyond its struct vt_hotlist */
	uint32_t capacity;
	double keep;			   /* gm: 1/f */
	double log_keep;		   /* gm: log(1/f) */
	double all_kept[VT_HOTLIST_SMALL]; /* gm: f^-n, the probability that n occurrences stay */
	uint8_t **chunks;
	size_t nchunks;
	size_t chunks_cap;
	size_t per_chunk;   /* lists */
	size_t count;	    /* lists */
	size_t exact_bytes; /* of what `exact` keeps */
	struct vt_intervals
		*intervals; /* of which the values are told apart (intervals.h), or NULL */
	bool failed;	    /* memory ran out */
};

/*
 * NULL: -VT_E_NOMEM, or -VT_E_USAGE for options that make no sense.  Owned by the caller.  The same
 * seed and the same calls in the same order give the same lists.
 */
struct vt_hotlists *vt_hotlists_new(const struct vt_hotlist_options *options, struct vt_error *err);
void vt_hotlists_free(struct vt_hotlists *s);

/* A new, empty list, owned by the set; NULL when memory ran out. */
struct vt_hotlist *vt_hotlists_add(struct vt_hotlists *s);

/* Bytes of memory that the lists take. */
size_t vt_hotlists_memory(const struct vt_hotlists *s);

/* For vt_hotlist_put(): what is not done each time. */
void vti_hotlist_flush(struct vt_hotlists *s, struct vt_hotlist *l);
void vti_hotlist_accepted(struct vt_hotlists *s, struct vt_hotlist *l);

/* Tells a list the next value of its sequence.  Want of memory sticks, until vt_hotlist_read(). */
static inline void vt_hotlist_put(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value)
{
	uint64_t delta = value - l->last;
	uint32_t accepted;

	/* As few branches as can be: which way they go depends on the data. */
	l->total++;
	l->zero += value == 0;
	l->stride += delta == l->delta;
	l->same += delta == 0;
	l->delta = delta;
	if ((delta != 0) & (l->run != 0))
		vti_hotlist_flush(s, l);
	l->last = value;
	accepted = l->skip == 0;
	l->skip -= !accepted;
	l->run += accepted;
	if (accepted & (l->sampled | l->run >> 31))
		vti_hotlist_accepted(s, l);
}

/* The same n times in a row, whatever n is. */
void vt_hotlist_put_many(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n);

/*
 * Reads what a list has found, highest count first, then lowest value.  The key and the values'
 * size are left as they are.  Start from zeros; arrays of an earlier call are freed; end with
 * vt_hot_fini().  -VT_E_NOMEM, now or in any call before.
 */
int vt_hotlist_read(struct vt_hotlists *s, struct vt_hotlist *l, struct vt_hot *found,
		    struct vt_error *err);

#endif
