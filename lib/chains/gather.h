/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_GATHER_H
#define VT_CHAINS_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "chains/tree.h"
#include "profile/context.h"
#include "profile/groups.h"
#include "profile/ranking.h"

/*
 * The call chains of a stream's samples, those of its executed code (chains/executed.h), and the
 * call trees of its CHAIN records.  It consumes the records of a reading context, which resolves
 * each frame through the mappings of its time, as a profile does with the samples themselves.
 * Symbols are looked up when all records were read.
 *
 * Samples of COUNT records are in the tree once: at the nodes that CHAIN records have of them, and
 * what is left, without a caller.
 *
 * Memory: one entry for each distinct place in the frames and for each place of COUNT records, one
 * for each CHAIN record, and VT_CALLTREE_NODES nodes twice.
 */
struct vt_callgather;

/* Of the samples of an event, or of executed instructions. */
struct vt_callcounts {
	uint64_t samples;
	uint64_t chains;    /* with a recorded chain */
	uint64_t unwound;   /* of these, from a copy of the stack */
	uint64_t damaged;   /* of these, with one that contradicts itself: it is left out */
	uint64_t cut;	    /* with more than VT_CHAIN_MAX frames */
	uint64_t shortened; /* of the unwound ones, with callers beyond the copy of the stack */
};

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_callgather *vt_callgather_new(struct vt_context *context);
void vt_callgather_free(struct vt_callgather *g);

/*
 * Gathers the samples of each group apart, from the next record on.  Borrowed; a profile that
 * consumes the same records before feeds them.
 */
void vt_callgather_group_by(struct vt_callgather *g, struct vt_groups *groups);

/* The records that it takes. */
#define VT_CALLGATHER_KINDS                                                                        \
	(VT_KIND(VT_SAMPLE) | VT_KIND(VT_EXEC) | VT_KIND(VT_SIGNAL) | VT_KIND(VT_STATE) |          \
	 VT_KIND(VT_THREAD) | VT_KIND(VT_GAP) | VT_KIND(VT_LOST) | VT_KIND(VT_COUNT) |             \
	 VT_KIND(VT_CHAIN))

/* A vt_consume_fn of these; `gather` is the struct vt_callgather.  -VT_E_NOMEM. */
int vt_callgather_feed(void *gather, const struct vt_block *block, uint32_t first, uint32_t count,
		       struct vt_error *err);

/* CHAIN records that contradict themselves or those before them, and were left out. */
struct vt_calldamage {
	uint64_t refused;
	struct vt_error first; /* why the first of them was */
};

/* Borrowed. */
const struct vt_calldamage *vt_callgather_damage(const struct vt_callgather *g);

/*
 * Completes the tree of places, with vt_callgather_place() of its keys, after the last record.
 * vt_callgather_finish() does that itself; call one of the two, once.  -VT_E_NOMEM.
 */
int vt_callgather_end(struct vt_callgather *g, struct vt_error *err);

/* Where the calls of a key lie; in anonymous code, of any process. */
struct vt_callplace {
	uint64_t offset; /* in the image, or enum vt_unmapped */
	uint32_t image;	 /* id, or VT_UNMAPPED_IMAGE */
};

/* The place of a key of the tree of places, which may have VT_CALL_SKID, but is not VT_CALL_CUT. */
struct vt_callplace vt_callgather_place(const struct vt_callgather *g, uint32_t key);

/*
 * Makes the tree of procedures, images, lines or instructions, sorted.  Call it once, after the
 * last record. Borrows `images`.  -VT_E_NOMEM.
 */
int vt_callgather_finish(struct vt_callgather *g, struct vt_images *images, enum vt_level level,
			 bool by_period, struct vt_error *err);

/* The tree: a key is the index of a row in the ranking of the next function.  Both borrowed. */
const struct vt_calltree *vt_callgather_tree(const struct vt_callgather *g);

/* Rows that have no samples of their own, and are not sorted.  More may be added. */
struct vt_ranking *vt_callgather_rows(const struct vt_callgather *g);

/*
 * Replaces the samples of each row of a ranking of the same profile and level by those in it or in
 * what it called, and adds rows that have only such.  Call it after vt_callgather_finish() and
 * before the ranking is sorted; without groups.  Samples without a chain are where they were.
 * -VT_E_NOMEM.
 */
int vt_callgather_rank_children(struct vt_callgather *g, const struct vt_profile *profile,
				struct vt_ranking *ranking, struct vt_error *err);

/* A root of the tree: the samples of an event, those of one group. */
struct vt_callroot {
	uint64_t event; /* id of its EVENT record */
	bool executed;	/* no event, but the executed instructions */
	uint32_t group; /* 0 without groups */
	uint32_t node;	/* VT_CALL_NONE: nothing was counted below it */
	struct vt_callcounts counts;
};

/* The i-th root, in the order of first appearance; false if there are not so many. */
bool vt_callgather_root_at(const struct vt_callgather *g, size_t i, struct vt_callroot *root);

/* Whether a root is of a profile's event, or of its executed instructions. */
bool vt_callroot_is(const struct vt_callroot *root, const struct vt_profile_event *event);

/* The root of a profile's event or of its executed instructions, without groups; VT_CALL_NONE: it
 * has none. */
uint32_t vt_callgather_root(const struct vt_callgather *g, const struct vt_profile_event *event);

/* order[row]: the row's place in the order of names. */
const uint32_t *vt_callgather_order(const struct vt_callgather *g);

/* After vt_callgather_finish().  All zero for events without samples, and for what has no chains.
 */
struct vt_callcounts vt_callgather_counts(const struct vt_callgather *g,
					  const struct vt_profile_event *event);

#endif
