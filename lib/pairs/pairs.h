/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PAIRS_PAIRS_H
#define VT_PAIRS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "machine/pipeline/core.h"
#include "pairs/metric.h"
#include "pairs/sum.h"
#include "profile/context.h"
#include "profile/profile.h"
#include "stream/writer.h"

/*
 * Pairs of samples of a stream, added up by instruction (ProfileMe, 5.2.2).  Each pair counts for
 * both of its instructions.  Of groups of more than two, each sample makes a pair with the one
 * before it, and the K - 1 pairs of a group share its period: META `vsim.ways` tells K, 2 if
 * absent.
 *
 * VT_PAIR_IPC and VT_PAIR_RETIRES are also those of executed code with times in cycles, whose
 * instructions are all measured.
 *
 * Memory: one sum for each distinct place, or row, and side of the split.
 */
struct vt_pairs;

/* The sides of a split; without one, all is VT_SPLIT_MET. */
enum vt_split { VT_SPLIT_MET, VT_SPLIT_UNMET, VT_SPLIT_UNKNOWN, VT_NSPLITS };

/*
 * The number of the sum that a place adds to; `place` has image, offset, process, and the id of the
 * event.  -VT_E_NOMEM.
 */
typedef int vt_pairs_row_fn(void *arg, const struct vt_place *place, uint64_t event, uint32_t *row,
			    struct vt_error *err);

/* Keys of META: the window; and of sums of pairs, enum vt_learn and the processor by name. */
#define VT_PAIRS_META_WINDOW "vsim.window"
#define VT_PAIRS_META_LEARN  "vpair.learn"
#define VT_PAIRS_META_MODEL  "vpair.model"

/* From which pairs it is learned what is expected at a distance; of others nothing is. */
enum vt_learn { VT_LEARN_WEIGHTED, VT_LEARN_ALWAYS, VT_LEARN_NEVER };

struct vt_pairs_options {
	const struct vt_pairmetric *metric; /* borrowed */
	const char *split;		/* condition on the instruction; NULL: none.  Borrowed */
	const struct vt_schema *schema; /* of the stream, for that.  Borrowed */
	uint64_t window;		/* the largest distance; 0: the stream tells it */
	double width;			/* issue slots of a cycle */
	enum vt_learn learn;
	vt_pairs_row_fn *row; /* NULL: each place has its own */
	void *arg;
};

/* What became of samples and pairs. */
struct vt_pairs_totals {
	uint64_t samples;
	uint64_t unpaired; /* samples that belong to no group */
	uint64_t pairs;
	uint64_t alone;	   /* other first ones without a second one */
	uint64_t cut;	   /* 1: the last one is, as the stream ends there; else 0 */
	uint64_t orphans;  /* others without the one before */
	uint64_t beyond;   /* members that a group should not have, by what the stream says */
	uint64_t foreign;  /* the one before is of another process, thread or event */
	uint64_t distance; /* pairs that are 0 or more than the window apart */
	uint64_t weight;   /* pairs whose weight is no number above 0 */
	uint64_t period;   /* pairs without a period */
	/* Of the instructions of the others, of which each pair has two: */
	uint64_t measured;
	uint64_t apart;	  /* not what the metric is about */
	uint64_t unknown; /* a sample does not tell what is needed, */
	uint64_t stopped; /* or a counter had stopped */
	uint64_t windows; /* executed instructions that were measured, by times of what ran */
	uint64_t untimed; /* others, whose windows are not within times that are close enough */
	uint64_t bad;	  /* EXEC records that contradict themselves: not used */
	/* Of the others behind an instruction, those that count for it, by weight: */
	double overlaps;
	double far; /* of these, in the last tenth of the window */
};

/* A place with its sums: that of side s is vt_pairs_sum(p, row, s). */
struct vt_pairplace {
	uint64_t offset;
	uint64_t event; /* id */
	uint32_t image;
	int32_t pid; /* of anonymous code, else 0 */
	uint32_t row;
	uint32_t units; /* as of struct vt_followed */
};

/*
 * Borrows the context, through which it gets records, and what the options point to.  Owned by the
 * caller.  NULL: VT_E_USAGE, VT_E_ABSENT or VT_E_LIMIT of the split; VT_E_NOMEM.
 */
struct vt_pairs *vt_pairs_new(struct vt_context *context, const struct vt_pairs_options *o,
			      struct vt_error *err);
void vt_pairs_free(struct vt_pairs *p);

/*
 * Sets the processor, which is borrowed, before the first sample: its issue slots, and for
 * VT_PAIR_UNIT the units of each instruction, whose code comes from the context's images.
 */
void vt_pairs_set_core(struct vt_pairs *p, const struct vt_core *core);

/* Whether a run of SAMPLE rows has members of groups. */
bool vt_pairs_has_groups(const struct vt_block *block, uint32_t first, uint32_t count);

/*
 * A vt_consume_fn; `pairs` is the struct vt_pairs.  -VT_E_ABSENT: the window is not known.
 * -VT_E_USAGE: the one of the options is not that of the stream.  -VT_E_MISMATCH: the stream has
 * both pairs and executed code that the metric can be told of.
 */
int vt_pairs_feed(void *pairs, const struct vt_block *block, uint32_t first, uint32_t count,
		  struct vt_error *err);

/*
 * Of the rows of the next run of SAMPLE, only instructions for which this is VT_TRUE are measured;
 * the others still belong to their pairs.  Borrowed for that call.
 */
void vt_pairs_pick(struct vt_pairs *p, const uint8_t *truth);

/* Call it after the last record. */
void vt_pairs_finish(struct vt_pairs *p);

const struct vt_pairs_totals *vt_pairs_totals(const struct vt_pairs *p);
uint64_t vt_pairs_window(const struct vt_pairs *p); /* 0: unknown */

/* Places in the order in which they were met; rows are those of the options, or the same. */
size_t vt_pairs_nplaces(const struct vt_pairs *p);
const struct vt_pairplace *vt_pairs_place(const struct vt_pairs *p, size_t i);
const struct vt_pairsum *vt_pairs_sum(const struct vt_pairs *p, uint32_t row, enum vt_split side);

/* Whether there is something to tell of a sum: pairs, or code that was executed but not measured.
 */
bool vt_pairs_has_sum(const struct vt_pairs *p, const struct vt_pairsum *s);

/*
 * Whether the window is too short: `far` of `overlaps`, both by weight, lie in its last tenth, so
 * that others must lie beyond it.
 */
bool vt_pairs_is_cut(const struct vt_pairs *p, double far, double overlaps);

/* Appends the text of a side of a split: "", "EXPR", "!(EXPR)" or "unknown". */
void vt_pairs_split_text(const char *split, enum vt_split side, struct vt_buf *out);

#endif
