/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOTLIST_H
#define VT_VALUE_HOTLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"
#include "stream/kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Hot lists: the most frequent values of many sequences (one for each instruction, say), each in
 * constant space, all kept by one algorithm.
 *
 *	s = vt_hotlists_new(&options, &err);
 *	l = vt_hotlists_add(s);
 *	vt_hotlist_put(s, l, value);		... for each value
 *	vt_hotlist_read(s, l, &list, &err);	... what it has found
 *
 * Memory: VT_HOTLIST_HEAD bytes and 16 for each entry (space-saving: 24) of each list, rounded up
 * to 64; `exact` keeps every distinct value.
 */
struct vt_hotlists;

#define VT_HOTLIST_HEAD	       128
#define VT_HOTLIST_MAX_ENTRIES 65536

struct vt_hotlist_options {
	enum vt_algo algo;
	/*
	 * N, the values that a list has room for (gm, lru, space-saving; the others have `steady`
	 * + `clear`, exact has no limit).  0: 16 for gm, 6 for lru, 10 for space-saving.
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
 * One list.  The first cache line is all that a value which repeats the one before, or is not
 * looked at, touches.  Not for use by callers.
 */
struct vt_hotlist {
	uint64_t total;
	uint64_t zero;
	uint64_t same;
	uint64_t stride;
	uint64_t last;
	uint64_t delta;	  /* `last` minus the value before it */
	uint64_t skip;	  /* so many values are not looked at: rejected (gm), or in a back-off */
	uint32_t run;	  /* occurrences of `last` that are not yet in the table */
	uint32_t sampled; /* gm, and its probability is below 1: `skip` is drawn anew each time */

	uint64_t first;
	uint64_t
		left_out; /* convergent and random: values in back-offs, the one at hand included */
	uint64_t age; /* tnv: values since the clear part was cleared; space-saving: lowest count */
	uint64_t phase; /* convergent, random: values in the interval at hand */
	union {
		double scale;	     /* gm: -1/log(1-p) */
		double invariance;   /* convergent: at the end of the interval before */
		uint64_t bound;	     /* random: of the next back-off */
		struct vt_hash *all; /* exact */
	} u;
	uint32_t count;	   /* values in the table */
	uint32_t recent;   /* index of one that is likely to come again */
	uint32_t level;	   /* gm: how often it was thinned */
	uint32_t turns;	   /* convergent: how often it has converged */
	uint64_t profiled; /* convergent: values in the intervals that are over */
	uint64_t cells[];  /* values, counts and (space-saving) errors */
};

typedef void vt_hotlist_take_fn(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value,
				uint64_t n);

/* The lists' common part: for vt_hotlist_put() to look at and nobody else. */
struct vt_hotlists {
	struct vt_hotlist_options options; /* with the defaults filled in */
	vt_hotlist_take_fn *take;	   /* so many occurrences of a value come in a row */
	struct vt_rng rng;
	size_t list_size;
	uint32_t capacity;
	uint32_t nerrors; /* capacity, or 0 when no errors are kept */
	double keep;	  /* gm: 1/f */
	double log_keep;  /* gm: log(1/f) */
	uint8_t **chunks;
	size_t nchunks;
	size_t chunks_cap;
	size_t room;	    /* lists that the last chunk has room for */
	size_t count;	    /* lists */
	size_t exact_bytes; /* of what `exact` keeps */
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

/* "gm", "space-saving" …: 0, or -1 for no name of an algorithm. */
int vt_algo_parse(const char *name, enum vt_algo *algo);

/* For vt_hotlist_put(): the first two values, and what is rare otherwise. */
void vti_hotlist_begin(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value);
void vti_hotlist_flush(struct vt_hotlists *s, struct vt_hotlist *l);
void vti_hotlist_accepted(struct vt_hotlists *s, struct vt_hotlist *l);

/* Tells a list the next value of its sequence.  Want of memory sticks, until vt_hotlist_read(). */
static inline void vt_hotlist_put(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value)
{
	uint64_t delta = value - l->last;

	if (l->total < 2) {
		vti_hotlist_begin(s, l, value);
		return;
	}
	l->total++;
	l->zero += value == 0;
	l->stride += delta == l->delta;
	l->delta = delta;
	if (delta == 0) {
		l->same++;
	} else {
		if (l->run)
			vti_hotlist_flush(s, l);
		l->last = value;
	}
	if (l->skip) {
		l->skip--;
		return;
	}
	l->run++;
	if (l->sampled | l->run >> 31)
		vti_hotlist_accepted(s, l);
}

/* The same n times in a row, whatever n is. */
void vt_hotlist_put_many(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n);

/*
 * What a list has found, as HOT records hold it.  The arrays are owned by this struct: start from
 * zeros, use it again for the next list, free with vt_hotlist_found_fini().
 */
struct vt_hotlist_found {
	uint32_t count;	   /* values: the highest count - error first, then the lower value */
	uint32_t steady;   /* as in the options */
	uint32_t capacity; /* 0 when there is no limit */
	uint32_t level;
	double factor; /* gm; else 0 */
	uint64_t total;
	uint64_t profiled;
	uint64_t zero;
	uint64_t same;
	uint64_t stride;
	uint64_t first;
	uint64_t last;
	uint64_t *values;
	uint64_t *counts;
	uint64_t *errors; /* meaningful if has_errors: space-saving */
	bool has_errors;
	size_t cap;
};

/* 0; -VT_E_NOMEM, now or in any call before. */
int vt_hotlist_read(struct vt_hotlists *s, struct vt_hotlist *l, struct vt_hotlist_found *found,
		    struct vt_error *err);
void vt_hotlist_found_fini(struct vt_hotlist_found *found);

#ifdef __cplusplus
}
#endif
#endif
