/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MERGE_TREES_H
#define VT_MERGE_TREES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "chains/gather.h"
#include "image/images.h"
#include "stream/writer.h"

/*
 * The call trees of several streams, in one: nodes are joined whose chains of places are equal.
 * Events and images are those of the merge, by index.
 *
 *	for each stream: vti_trees_start(), vti_trees_feed() with its records,
 *vti_trees_end_stream(); vti_trees_write(t, ids, w, &err);
 *
 * Memory: VT_CALLTREE_NODES nodes, and as a struct vt_callgather for the stream at hand.
 */
struct vti_trees;

/* Owned by the caller; NULL when memory runs out. */
struct vti_trees *vti_trees_new(void);
void vti_trees_free(struct vti_trees *t);

/* Begins a stream.  Borrows `images` until its end, and feeds them.  -VT_E_NOMEM. */
int vti_trees_start(struct vti_trees *t, struct vt_images *images, struct vt_error *err);

/* Takes a run of records of the stream.  0 or -VT_E_NOMEM. */
int vti_trees_feed(struct vti_trees *t, const struct vt_block *b, uint32_t first, uint32_t count,
		   struct vt_error *err);

/* Completes the tree of the stream, before vti_trees_join().  -VT_E_NOMEM. */
int vti_trees_finish(struct vti_trees *t, struct vt_error *err);

/* The roots of the stream: the i-th, false if there are not so many. */
bool vti_trees_root_at(const struct vti_trees *t, size_t i, struct vt_callroot *root);

/* What the merge knows of a stream, and of what it writes. */
struct vti_tree_ids {
	void *arg;
	/* The index of a root's event; false: there is none, and nothing below it. */
	bool (*event)(void *arg, const struct vt_callroot *root, uint32_t *index);
	/* The index of an image of the stream; false: out of memory. */
	bool (*image)(void *arg, uint64_t id, uint32_t *index);
	/* The ids that are written. */
	uint32_t (*written_event)(const void *arg, uint32_t index);
	uint32_t (*written_image)(const void *arg, uint32_t index);
};

/*
 * Adds the tree of the stream to those before, and ends the stream.  -VT_E_NOMEM; -VT_E_LIMIT: a
 * sum is impossibly high.
 */
int vti_trees_join(struct vti_trees *t, const struct vti_tree_ids *ids, struct vt_error *err);

/* CHAIN records that were left out, of the stream that ended last.  Borrowed. */
const struct vt_calldamage *vti_trees_damage(const struct vti_trees *t);

/*
 * Writes CHAIN records: events by id, the nodes below a node with the most samples first, then by
 * image and offset.  Errors of the writer stick to it.  -VT_E_NOMEM.
 */
int vti_trees_write(struct vti_trees *t, const struct vti_tree_ids *ids, struct vt_writer *w,
		    struct vt_error *err);

#endif
