/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SUMMARY_FOLLOWED_H
#define VT_SUMMARY_FOLLOWED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "stream/kinds.h"
#include "stream/profileme.h"
#include "stream/record.h"

/* What the samples of one event tell of the instructions that were followed. */
struct vt_followed_total {
	uint64_t event;		      /* its id; the key */
	uint64_t samples;	      /* that tell anything */
	uint64_t known[VT_PM_NBITS];  /* that tell a field, by its bit in `pm_has` */
	uint64_t least[VT_PM_NBITS];  /* whose counter had stopped */
	uint64_t told[VT_PM_NEVENTS]; /* that tell whether an event happened */
	uint64_t happened[VT_PM_NEVENTS];
};

/* What recorders walked behind samples, of those walks that ended alike. */
struct vt_walk_total {
	uint64_t samples;
	uint64_t insns;
	uint64_t lines;
};

/* Adds `count` rows of SAMPLE from `first` on to the totals of each enum vt_walk_stop. */
void vt_walks_add(struct vt_walk_total walks[VT_NWALKSTOPS], const struct vt_block *b,
		  uint32_t first, uint32_t count);

/* The hash table of totals of followed instructions; freed with vt_hash_fini(). */
void vt_followed_init(struct vt_hash *totals);

/* Adds `count` rows of SAMPLE from `first` on, of at most `limit` events.  False: no memory. */
bool vt_followed_add(struct vt_hash *totals, const struct vt_block *b, uint32_t first,
		     uint32_t count, size_t limit);

#endif
