/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PAIRS_METRIC_H
#define VT_PAIRS_METRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"
#include "stream/where.h"

/*
 * What is asked of two samples of a pair, of which each is considered once as the instruction that
 * the metric is about, and once as the other one (ProfileMe, 5.2).
 */
enum vt_pair_measure {
	VT_PAIR_WASTED,	 /* issue slots wasted while it is in progress: 5.2.3 */
	VT_PAIR_USEFUL,	 /* others that issue and retire, in each cycle in progress */
	VT_PAIR_QUEUED,	 /* others that issue while it waits in the queue */
	VT_PAIR_RETIRES, /* others that retire within some cycles of its retirement */
	VT_PAIR_IPC,	 /* instructions per cycle within some cycles of its retirement */
	VT_PAIR_UNIT,	 /* others that use a unit of the same kind at the same time */
	VT_PAIR_OPEN,	 /* misses of the data cache under way at its own: of single samples */
	VT_PAIR_WHERE,	 /* others for which an expression is true */
};

/* The longest text of a metric. */
#define VT_PAIR_MAX_METRIC VT_WHERE_MAX_TEXT

struct vt_pairmetric {
	enum vt_pair_measure measure;
	uint64_t cycles;	     /* on each side, of VT_PAIR_RETIRES and VT_PAIR_IPC */
	struct vt_where_expr *where; /* owned; of VT_PAIR_WHERE */
};

/*
 * Reads the name of a metric, or an expression of vt-filter(7) over fields `1.name` of the
 * instruction and `2.name` of the other one.  End with vt_pairmetric_fini() in any case.
 * -VT_E_USAGE, -VT_E_ABSENT, -VT_E_LIMIT, -VT_E_NOMEM.
 */
int vt_pairmetric_parse(struct vt_pairmetric *m, const char *text, struct vt_error *err);
void vt_pairmetric_fini(struct vt_pairmetric *m);

/* Whether times of executed code tell the metric, without pairs. */
bool vt_pairmetric_is_timed(const struct vt_pairmetric *m);

/* Whether the metric of this text is of single samples, not of pairs. */
bool vt_pairmetric_is_single(const char *text);

/* Whether the metric of this text is a total, not a ratio. */
bool vt_pairmetric_is_total(const char *text);

/* The unit of a value: "slots", "instructions", "instructions/cycle". */
const char *vt_pairmetric_unit(const char *text);

/* What a ratio is for, as "each cycle ..."; of a total "". */
const char *vt_pairmetric_per(const char *text);

/* What a sample tells of an instruction: bits of vt_followed.knows. */
enum {
	VT_FOLLOWED_FATE = 1,	/* whether it retired */
	VT_FOLLOWED_MAPPED = 2, /* the cycles below */
	VT_FOLLOWED_ISSUED = 4,
	VT_FOLLOWED_DONE = 8,
	VT_FOLLOWED_ENDED = 16,
};

/* An instruction by its cycles, which count from the fetch of the first of its group. */
struct vt_followed {
	unsigned knows;
	bool retired;
	uint32_t units; /* bit n: it uses a unit for enum vt_op_class n; 0: unknown */
	bool stopped;	/* a counter had, so that a cycle is not known */
	uint64_t fetched;
	uint64_t mapped;
	uint64_t issued;
	uint64_t done;	/* ready to retire, or aborted */
	uint64_t ended; /* retired, or aborted */
};

/* Reads that but `units` from a row of SAMPLE.  Latencies above 2^40 cycles are as unknown. */
void vt_followed_read(struct vt_followed *f, const struct vt_record *rec);

/* The cycles that others of a metric are met in, of a measured instruction; 0: unknown. */
uint64_t vt_pair_cycles(const struct vt_pairmetric *m, const struct vt_followed *self);

/* What makes counts of samples counts of instructions. */
struct vt_pairscale {
	double period; /* S: fetched instructions for each pair */
	double window; /* W */
	double width;  /* C: issue slots of a cycle */
	double weight; /* of the pair */
};

/* What a pair adds to sums. */
struct vt_pairterm {
	double x, y;
	double cycles; /* in progress, of all that this one stands for; of others than `wasted` 0 */
	bool overlaps; /* the other one counts */
};

/* What came of measuring. */
enum vt_pair_outcome {
	VT_PAIR_MEASURED,
	VT_PAIR_APART,	 /* the metric is about instructions that retire, and it did not */
	VT_PAIR_UNKNOWN, /* a sample does not tell what is needed */
};

/*
 * What a pair adds to numerator and denominator of `self`; `truth` is that of the expression.  With
 * L cycles in progress, and u = 1 if the other one overlaps: `wasted` adds L C S/2 - u W S, and its
 * denominator is as that of a total (sum.h).  Only what counts others is weighted, since each
 * distance is as likely as any other for what is told of one instruction alone.
 */
enum vt_pair_outcome vt_pair_measure(const struct vt_pairmetric *m, const struct vt_followed *self,
				     const struct vt_followed *other, enum vt_truth truth,
				     const struct vt_pairscale *scale, struct vt_pairterm *term);

#endif
