/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SAMPLE_TABLE_H
#define VT_PROFILE_SAMPLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The hash table in which DCPI's driver adds up equal samples, one table for each processor: DCPI
 * 4.2.1.  A bucket holds a few entries; a sample that none of them is for throws one of them out.
 */

/* What makes samples equal. */
struct vt_sample_key {
	uint64_t pc;
	int32_t pid;
	uint32_t event; /* any number for it */
	uint32_t mode;	/* CPU mode, and whatever else tells samples apart */
	uint32_t zero;	/* the key has no padding */
};

struct vt_sample_entry {
	struct vt_sample_key key;
	uint64_t samples; /* 0: the entry is free */
	uint64_t period;
};

/* Which entry of a full bucket has to go. */
enum vt_sample_victim {
	VT_VICTIM_ROUND_ROBIN, /* by a counter of all evictions: DCPI 4.2.1 */
	/* The last, while the entry that is hit, or new, goes to the front: DCPI 5.4. */
	VT_VICTIM_LAST,
	VT_NVICTIMS
};

/* How a key's bucket is found. */
enum vt_sample_hash {
	VT_SAMPLE_HASH_MULTIPLY, /* all bits of the key count */
	VT_SAMPLE_HASH_FOLD,	 /* pc, pid and event, added up: two instructions, and a shift */
	VT_NSAMPLEHASHES
};

struct vt_sampletable_shape {
	uint32_t buckets; /* a power of 2 */
	uint32_t ways;	  /* entries of a bucket */
	enum vt_sample_victim victim;
	enum vt_sample_hash hash;
};

#define VT_SAMPLETABLE_BUCKETS (1u << 20) /* at most, and at most so many ways: */
#define VT_SAMPLETABLE_WAYS    64

struct vt_sampletable_counts {
	uint64_t samples;
	uint64_t misses;    /* samples that no entry was for */
	uint64_t evictions; /* misses that threw an entry out */
	uint64_t compared;  /* entries that were looked at */
};

struct vt_sampletable;

/* Owned by the caller; NULL when memory runs out. */
struct vt_sampletable *vt_sampletable_new(const struct vt_sampletable_shape *shape);
void vt_sampletable_free(struct vt_sampletable *t);

/* Adds a sample.  True: it threw out *evicted. */
bool vt_sampletable_add(struct vt_sampletable *t, const struct vt_sample_key *key, uint64_t period,
			struct vt_sample_entry *evicted);

/* Takes an entry out of the table, any; false if there is none left. */
bool vt_sampletable_take(struct vt_sampletable *t, struct vt_sample_entry *entry);

const struct vt_sampletable_counts *vt_sampletable_counts(const struct vt_sampletable *t);

#endif
