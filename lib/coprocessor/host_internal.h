/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_HOST_INTERNAL_H
#define VT_COPROCESSOR_HOST_INTERNAL_H

#include "base/hash.h"
#include "coprocessor/host.h"

/* A region of the program: instructions whose hash has `match` under `mask`. */
struct vti_partition {
	uint32_t mask, match;
};

/* A value of an instruction: by the first two. */
struct vti_value_key {
	uint64_t pc;
	uint64_t value;
	uint64_t at; /* in the site's values */
};

struct vt_host {
	const struct vt_ucode *u;
	struct vt_coproc *c;
	struct vt_filters *filters;
	struct vt_host_masking masking;
	struct vt_host_stats stats;

	/* Counts and logs: columns are the key of the associative array, or none, and arrays. */
	struct vt_hash rows;
	const struct vt_ucode_base *columns[VT_UCODE_BASES + 1]; /* NULL: the array's key */
	unsigned nkeys, ncolumns;

	/* Values. */
	struct vt_hash sites;  /* struct vt_host_site by pc */
	struct vt_hash values; /* where each value of a site is: struct vti_value_key */
	struct vti_partition *partitions;
	size_t npartitions, partitions_cap, current;
	size_t quiet;		    /* turns in a row that no interrupt ended */
	uint64_t now, restarted_at; /* instructions retired */
};

/* The site of a pc; NULL: out of memory. */
struct vt_host_site *vti_host_site(struct vt_host *h, uint64_t pc);

/* Adds weighted samples to a value of a site.  NULL: out of memory. */
const struct vt_host_value *vti_host_add_value(struct vt_host *h, struct vt_host_site *s,
					       uint64_t value, double hits, double misses);

/* The value profiler's handler: host_values.c. */
int vti_host_values(struct vt_host *h, bool turn, bool last, struct vt_error *err);

/*
 * Empties the co-processor's memory, but what programs keep, and lets it go on: stores that set its
 * registers anew, fewer than 10 (3.5).
 */
void vti_host_restart(struct vt_host *h);

#endif
