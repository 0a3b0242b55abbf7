/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_MERGER_H
#define CMD_VTRACE_MERGER_H

#include "base/error.h"
#include "stream/record.h"
#include "stream/writer.h"
#include "value/hot_profile.h"

/*
 * Adds up the profiles of several streams: counts of events, and hot lists.  Events are the same if
 * name, policy and unit are: so samples whose pc was chosen in different ways stay apart.  Images
 * are the same if their build-ids are, or, of those without one, path and type.  What was lost is
 * summed by event and source, gaps by reason and input.
 *
 * The sum of counts does not depend on the order of the streams, nor on how samples are spread over
 * them.  So do pairs of conflicting accesses (CONFLICT).  Hot lists are joined as value/hot_merge.h
 * says, which takes the streams for parts of one run, in their order.
 */
struct merger;

/* `seed` is for joining counting samples.  Owned by the caller; NULL when memory runs out. */
struct merger *merger_new(uint64_t seed);
void merger_free(struct merger *m);

/*
 * Each stream is taken between these two.  -VT_E_NOMEM; -VT_E_MISMATCH, its hot lists were kept in
 * another way than those before; -VT_E_LIMIT, a sum is too high to be true.
 */
int merger_begin(struct merger *m, struct vt_error *err);
int merger_end(struct merger *m, struct vt_error *err);

/* Takes a run of records of the stream; `arg` is the merger. */
int merger_feed(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		struct vt_error *err);

/* Records of executed code, of all streams, that contradict themselves and were left out. */
uint64_t merger_bad(const struct merger *m);

/* The hot lists that were left out. */
const struct vt_hot_damage *merger_damage(const struct merger *m);

/*
 * Writes EVENT, IMAGE, MODULE, LABEL, LOST, GAP, COUNT, CONFLICT and HOT records, ordered by name,
 * path, image and offset. Errors of the writer stick to it; VT_E_NOMEM.
 */
int merger_write(struct merger *m, struct vt_writer *w, struct vt_error *err);

#endif
