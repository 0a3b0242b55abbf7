/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOT_LIST_INTERNAL_H
#define VT_VALUE_HOT_LIST_INTERNAL_H

#include "value/hot_list.h"

/* Data structures of hot lists, shared by hot_list.c and intervals.c. */

/* A value of a list and its count. */
struct vti_cell {
	uint64_t value;
	uint64_t count;
};

/* The data of a list beside its struct vt_hotlist. */
struct vti_rest {
	uint64_t first;
	uint64_t left_out; /* convergent, random: values in back-offs, the current one included */
	uint64_t age;	/* tnv: values since the clear part was cleared; space-saving: the highest
			 * count that was replaced */
	uint64_t phase; /* convergent, random: values in this interval; intervals: values so far */
	uint64_t profiled; /* convergent: values in past intervals; intervals: number of the list */
	union {
		double scale;	     /* gm: -1/log(1-p) */
		double invariance;   /* convergent: at the end of the last interval */
		uint64_t bound;	     /* random: of the next back-off */
		struct vt_hash *all; /* exact */
	} u;
	uint32_t level;	 /* gm: how many times it was thinned */
	uint32_t rounds; /* convergent: how many times it has converged; intervals: finished ones */
	bool begun;	 /* `first` is set, and `same` and `stride` are right */
	struct vti_cell cells[];
};

/*
 * Lists are stored in chunks of this size and alignment.  A struct vti_chunk takes the place of the
 * first list of each chunk.
 */
#define VTI_CHUNK ((size_t)1 << 16)

struct vti_chunk {
	uint8_t *rests; /* of its lists, in their order */
	size_t rest_size;
};

static inline struct vti_rest *vti_rest(struct vt_hotlist *l)
{
	size_t at = (size_t)((uintptr_t)l & (VTI_CHUNK - 1));
	const struct vti_chunk *chunk = (const void *)((const uint8_t *)l - at);

	return (void *)(chunk->rests + (at / sizeof(*l) - 1) * chunk->rest_size);
}

/* Adds n occurrences in a row to a TNV table. */
void vti_tnv_add(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_rest *r, uint64_t value,
		 uint64_t n);

#endif
