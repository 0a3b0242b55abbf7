/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PAIRS_INTERNAL_H
#define VT_PAIRS_INTERNAL_H

#include "base/hash.h"
#include "pairs/pairs.h"

/* ---- expressions over neighbours: neighbours.c ---- */

/*
 * Whether an expression over two samples is true of each sample of a run and the one before it.
 * The last row of a run is kept for the first one of the next.
 */
struct vti_neighbours {
	struct vt_where_expr *where;	  /* borrowed; NULL: nothing is asked */
	uint64_t last[VT_SAMPLE_NFIELDS]; /* numbers only */
	bool has_last;
	uint8_t *truth[2]; /* of row i: the one before it as `1.`, or itself */
	size_t cap[2];
};

/* Evaluates a run of SAMPLE rows.  -VT_E_NOMEM. */
int vti_neighbours_run(struct vti_neighbours *n, const struct vt_block *block, uint32_t first,
		       uint32_t count, struct vt_error *err);
void vti_neighbours_fini(struct vti_neighbours *n);

/* ---- sums ---- */

/* A sample of a group. */
struct vti_member {
	struct vt_followed f;
	uint64_t event;
	uint64_t nth; /* from 1; 0: none */
	uint64_t distance;
	uint64_t period;
	uint64_t weight; /* bits of the number */
	int64_t pid;
	int64_t tid;
	uint32_t sum;
};

/* What a group adds to a sum. */
struct vti_share {
	double x, y, cycles;
	uint32_t sum;
	uint32_t pairs;
};

/* The longest group, and what its pairs add at most. */
#define VTI_MAX_GROUP  256
#define VTI_MAX_SHARES 512

#define VTI_CACHE 65536 /* places of addresses that were looked up last */

struct vti_cached {
	uint64_t ip;
	uint64_t event;
	int32_t pid;
	uint32_t mode;
	uint64_t changes; /* of the mappings; 0: empty */
	uint32_t row;
	uint32_t units;
};

struct vt_pairs {
	struct vt_context *context;
	struct vt_pairs_options o;
	uint64_t window;
	uint64_t ways; /* members of a group */
	double width;
	const struct vt_core *core; /* NULL: unknown */
	struct vt_where_expr *split;
	uint8_t *sides; /* enum vt_truth of the split, of a run */
	size_t sides_cap;
	struct vti_neighbours neighbours;
	struct vt_hash places; /* struct vt_pairplace */
	struct vt_pairsum *sums;
	size_t sums_cap;
	size_t nsides;
	struct vti_cached *cache;
	struct vti_member members[2]; /* the last one, and room for the next */
	struct vti_member *last;
	struct vti_member *next;
	struct vti_share shares[VTI_MAX_SHARES];
	size_t nshares;
	struct vt_pairs_totals totals;
};

#endif
