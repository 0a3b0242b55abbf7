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
 * Hot lists: the most frequent values of many sequences, for example of one sequence for each
 * instruction.  All lists of a set use the same algorithm.  A list has a constant size.
 *
 *	s = vt_hotlists_new(&options, &err);
 *	l = vt_hotlists_add(s);
 *	vt_hotlist_put(s, l, value);		... for each value
 *	vt_hotlist_read(s, l, &list, &err);	... its most frequent values
 *
 * A list takes VT_HOTLIST_HEAD bytes and 16 bytes for each of its entries.  With the algorithm
 * `exact`, a list has an entry for every distinct value and grows with their number.
 */
struct vt_hotlists;

#define VT_HOTLIST_HEAD	       128
#define VT_HOTLIST_MAX_ENTRIES 16384

/* For counts below this, all_kept[] has the probabilities that `gm` needs. */
#define VT_HOTLIST_SMALL 64

struct vt_hotlist_options {
	enum vt_algo algo;
	/*
	 * N, the maximum number of values in a list of gm, lru or space-saving.  0: 16, or 6 for
	 * lru.  Other algorithms have `steady` + `clear` entries; `exact` has no maximum.
	 */
	uint32_t entries;
	double factor; /* f of gm, 1.001 to 1024; 0: N/(N-1), value sampling 2.2 */
	/*
	 * Number of values of a TNV table that are never cleared; for every algorithm, the number
	 * of values by which profiles are compared.  0: 3
	 */
	uint32_t steady;
	uint32_t clear;	   /* values of a TNV table that are cleared; 0: 3, unless `no_clear` */
	bool no_clear;	   /* no value of a TNV table is cleared */
	uint64_t interval; /* minimum clear interval, convergence interval, least back-off; 0: 2000
			    */
	uint64_t seed;
};

/*
 * The head of a list, one cache line.  A value that repeats the previous one, or that is skipped,
 * accesses nothing else.  The other data of lists (hot_list_internal.h) is stored separately, so
 * that the heads lie close together.  Private to vt_hotlist_put() and the library.
 */
struct vt_hotlist {
	uint64_t total;
	uint64_t zero;
	uint64_t same;
	uint64_t stride;
	uint64_t last;
	uint64_t delta;	      /* `last` minus the value before it */
	uint64_t skip;	      /* number of next values to ignore: rejected (gm), or in a back-off */
	uint32_t run;	      /* occurrences of `last` that are not yet in the table */
	uint16_t count;	      /* values in the table */
	uint16_t recent : 15; /* index of a value in the table that is likely to occur next */
	uint16_t sampled : 1; /* gm with a probability below 1: `skip` is drawn each time */
};

typedef void vt_hotlist_take_fn(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value,
				uint64_t n);

/* The data that all lists share.  Private to vt_hotlist_put() and the library. */
struct vt_hotlists {
	struct vt_hotlist_options options; /* with the defaults filled in */
	vt_hotlist_take_fn *take;	   /* adds n occurrences of a value in a row */
	struct vt_rng rng;
	size_t rest_size; /* bytes of a list's other data, beside its struct vt_hotlist */
	uint32_t capacity;
	double keep;			   /* gm: 1/f */
	double log_keep;		   /* gm: log(1/f) */
	double all_kept[VT_HOTLIST_SMALL]; /* gm: f^-n, the probability that n occurrences stay */
	uint8_t **chunks;
	size_t nchunks;
	size_t chunks_cap;
	size_t per_chunk;		/* lists */
	size_t count;			/* lists */
	struct vt_intervals *intervals; /* counts values per interval (intervals.h), or NULL */
	bool failed;			/* memory ran out */
};

/*
 * Returns a new set of lists, owned by the caller.  Returns NULL with VT_E_NOMEM, or VT_E_USAGE for
 * invalid options.  The same seed and the same calls in the same order give the same lists.
 */
struct vt_hotlists *vt_hotlists_new(const struct vt_hotlist_options *options, struct vt_error *err);
void vt_hotlists_free(struct vt_hotlists *s);

/* Adds an empty list, which the set owns.  Returns NULL when memory runs out. */
struct vt_hotlist *vt_hotlists_add(struct vt_hotlists *s);

/* Makes a list as it was when it was added.  Not for `exact`, whose lists stay until the end. */
void vt_hotlist_clear(struct vt_hotlists *s, struct vt_hotlist *l);

/* Called by vt_hotlist_put() in the less frequent cases. */
void vti_hotlist_flush(struct vt_hotlists *s, struct vt_hotlist *l);
void vti_hotlist_accepted(struct vt_hotlists *s, struct vt_hotlist *l);

/*
 * Adds the next value of a list's sequence.  When memory runs out, the next vt_hotlist_read()
 * returns the error.
 */
static inline void vt_hotlist_put(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value)
{
	uint64_t delta = value - l->last;
	uint32_t accepted;

	/* Branches depend on the data and are mispredicted: use as few as possible. */
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

/* Adds the same value n times in a row; n may be 0. */
void vt_hotlist_put_many(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n);

/*
 * Writes the list's values to *found, highest count first, then lowest value.  Does not change the
 * key and the size of the values there.  Initialize *found with zeros before the first call; arrays
 * of an earlier call are freed.  Free it with vt_hot_fini().  Returns 0, or -VT_E_NOMEM if memory
 * ran out in this call or an earlier one.
 */
int vt_hotlist_read(struct vt_hotlists *s, struct vt_hotlist *l, struct vt_hot *found,
		    struct vt_error *err);

#endif
