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

/* ---- what is expected of a pair: expect.c ---- */

/* Ranges of distances, and classes of cycles in half octaves, that rates are kept for. */
#define VTI_RANGES  16
#define VTI_CLASSES 24

/* The pairs of each range, and those of them in which the other one counted. */
struct vti_rates {
	float pairs[VTI_RANGES];
	float met[VTI_RANGES];
};

/*
 * How often the other instruction counted in earlier pairs, by the distance.  The rates of a row
 * are drawn towards those of all instructions that took as long, which few pairs tell of.
 *
 * The distance of a pair is chosen without regard to what its instruction does, so that a weighted
 * rate is on average that of all distances, however wrong the rates are: x - S W (m - w r) has the
 * mean of x, and varies less the better they are.
 */
struct vti_expect {
	uint64_t ends[VTI_RANGES];		 /* the largest distance of each range */
	float share[VTI_RANGES];		 /* of all distances */
	struct vti_rates all[2][2][VTI_CLASSES]; /* ahead; retired */
	struct {
		struct vti_rates side[2]; /* ahead */
	} * rows;
	size_t cap;
};

struct vti_expected {
	float rate; /* at the distance */
	float mean; /* of all distances up to the window */
	uint32_t row;
	uint8_t ahead;
	uint8_t range;
	struct vti_rates *all;
	bool met;
};

void vti_expect_set_window(struct vti_expect *e, uint64_t window);
void vti_expect_fini(struct vti_expect *e);

/*
 * What is expected of a pair of an instruction of this row, if the other one is ahead of it or
 * behind it, and itself retired or not after so many cycles.  False: no memory.
 */
bool vti_expect_pair(struct vti_expect *e, uint32_t row, bool ahead, bool retired, uint64_t cycles,
		     uint64_t distance, struct vti_expected *x);

/* Adds the pair to the rates. */
void vti_expect_learn(struct vti_expect *e, const struct vti_expected *x);

/* ---- executed code with times: windows.c ---- */

/*
 * VT_PAIR_IPC and VT_PAIR_RETIRES of executed code, by the cycles at which its blocks began: what
 * retires within a window around an instruction is counted, not sampled.
 *
 * Memory: 4 bytes for each instruction of a block, 28 for each sum, 40 for each time of a run.
 */
struct vti_windows;

/* Windows reach this many cycles to each side.  Owned by the caller; NULL: out of memory. */
struct vti_windows *vti_windows_new(uint64_t cycles);
void vti_windows_free(struct vti_windows *w);

/*
 * Measures the instructions of an EXEC record, or counts them as untimed.  A record that
 * contradicts itself is counted, too, and nothing of it measured.  -VT_E_NOMEM, and errors of
 * vt_pairs_row_fn.
 */
int vti_windows_feed(struct vti_windows *w, struct vt_pairs *p, const struct vt_record *rec,
		     struct vt_error *err);

/* ---- sums ---- */

/* The number of the sum of the instruction at an address of a process, which is made if needed. */
int vti_pairs_sum_at(struct vt_pairs *p, int32_t pid, uint64_t address, uint32_t *sum,
		     struct vt_error *err);

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
	uint32_t place; /* with the side of the split */
	bool passed;	/* it is not to be measured */
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

#define VTI_CACHE 8192 /* places of addresses that were looked up last; fits in a second cache */

struct vti_cached {
	uint64_t ip;
	uint64_t event;
	int32_t pid;
	uint32_t mode;
	uint64_t changes; /* of the mappings; 0: empty */
	uint32_t row;
	uint32_t units;
	uint32_t place;
};

struct vt_pairs {
	struct vt_context *context;
	struct vt_pairs_options o;
	uint64_t window;
	uint64_t ways; /* members of a group */
	double width;
	const struct vt_core *core; /* NULL: unknown */
	struct vt_where_expr *split;
	const uint8_t *picked; /* enum vt_truth of the run at hand; NULL: all are */
	uint8_t *sides;	       /* enum vt_truth of the split, of a run */
	size_t sides_cap;
	struct vti_neighbours neighbours;
	struct vt_hash places; /* struct vt_pairplace */
	struct vt_pairsum *sums;
	size_t sums_cap;
	size_t nsides;
	struct vti_cached *cache;
	struct vti_windows *windows;  /* NULL: times do not tell the metric */
	bool grouped;		      /* there were members of groups */
	struct vti_member members[2]; /* the last one, and room for the next */
	struct vti_member *last;
	struct vti_member *next;
	struct vti_share shares[VTI_MAX_SHARES];
	size_t nshares;
	struct vti_expect expect;
	struct vti_expected expected[VTI_MAX_SHARES]; /* of the pairs of the group */
	size_t nexpected;
	bool failed;
	struct vt_pairs_totals totals;
};

#endif
