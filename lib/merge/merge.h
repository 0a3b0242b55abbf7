/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MERGE_MERGE_H
#define VT_MERGE_MERGE_H

#include "base/error.h"
#include "chains/gather.h"
#include "events/stats.h"
#include "image/images.h"
#include "stream/reader.h"
#include "stream/record.h"
#include "stream/writer.h"
#include "value/hot_profile.h"

/*
 * Sums the profiles of several streams: counts of events, hot lists, pairs of conflicting accesses
 * (CONFLICT records), estimates from followed instructions (EVSTAT), whose intervals are those of
 * the sums, and memory profiles (memory/records.h).
 *
 *	m = vt_merge_new(seed);
 *	for each stream: vt_merge_feed() with its records, then vt_merge_end_stream();
 *	vt_merge_write(m, w, &err);
 *
 * Events match by name, policy and unit: samples whose addresses were chosen in different ways stay
 * apart.  Images match by build-id, or without one by path and type.  Losses are summed by event
 * and source, gaps by reason and input, pairs of accesses by places and type.
 *
 * These sums depend neither on the order of the streams nor on the distribution of samples over
 * them.  Call trees are joined in the same way; only where they are too large together for one
 * (VT_CALLTREE_NODES) the order decides whose samples are kept without their chains.
 * vt_hot_merge() joins hot lists as if the streams were parts of one run, in their order.
 */
struct vt_merge;

/* `seed` is for joining counting samples.  Owned by the caller; NULL when memory runs out. */
struct vt_merge *vt_merge_new(uint64_t seed);
void vt_merge_free(struct vt_merge *m);

/* Says of each record that is left out, while its stream is fed, why; `fn` may be NULL. */
void vt_merge_warn(struct vt_merge *m, vt_warn_fn *fn, void *arg);

/*
 * Keeps the call chains of the next stream, from its first record on, and those of its CHAIN
 * records.  Borrows `images` until the stream ends, and feeds them: their files tell how to unwind
 * copies of stacks.  Call it for every stream or for none.  -VT_E_NOMEM.
 */
int vt_merge_start_chains(struct vt_merge *m, struct vt_images *images, struct vt_error *err);

/* The CHAIN records that were left out, of the stream that ended last; after that call.  Borrowed.
 */
const struct vt_calldamage *vt_merge_chain_damage(const struct vt_merge *m);

/*
 * Takes a run of records of the current stream; `arg` is the struct vt_merge.  0, -VT_E_NOMEM or
 * -VT_E_LIMIT.
 */
int vt_merge_feed(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		  struct vt_error *err);

/*
 * Adds estimates that were made of samples of the current stream, which is fed without its samples
 * and EVSTAT records; events and images as this stream numbers them.  `groups`: the same by
 * something else than places, or NULL; `model`: whose micro-operations divided them, or NULL.
 * -VT_E_NOMEM.
 */
int vt_merge_add_estimates(struct vt_merge *m, const struct vt_evstats *places,
			   const struct vt_evstats *groups, const char *model,
			   struct vt_error *err);

/*
 * Ends the current stream and adds its sums to those before; messages call it `name`.  0;
 * -VT_E_NOMEM; -VT_E_LIMIT: a sum is impossibly high; -VT_E_MISMATCH: its hot lists were kept in a
 * different way, or its estimates, sums of pairs, paths or pairs of accesses depend on a setting of
 * their stream (META) that is another one, or its memory profile was made with other options, or
 * its estimates of an event are of other settings, or go with samples of single instructions of
 * that event, or sums of pairs with samples of pairs.
 */
int vt_merge_end_stream(struct vt_merge *m, const char *name, struct vt_error *err);

/* After vt_merge_write(): the sum of all `groups`, with events as written.  -VT_E_NOMEM. */
int vt_merge_groups(struct vt_merge *m, struct vt_evstats *to, struct vt_error *err);

/*
 * Records of executed code, packed images, estimates, paths, pairs and memory profiles that
 * contradict themselves and were left out, in all streams.
 */
uint64_t vt_merge_bad(const struct vt_merge *m);

/* Whether vt_memrecords_mend() raised the totals of the stream that ended last. */
bool vt_merge_raised(const struct vt_merge *m);

/* The damaged hot lists that were left out, of the stream that ended last.  Borrowed. */
const struct vt_hot_damage *vt_merge_damage(const struct vt_merge *m);

/*
 * Writes EVENT, IMAGE with what is packed of it, LOST, GAP, COUNT, CHAIN, CONFLICT, EVSTAT, META,
 * ACCESSES, OBJECT, LOCATION, MODULE, LABEL and HOT records, ordered by name, path, image and
 * offset.  Errors of the writer stick to it; -VT_E_NOMEM.
 */
int vt_merge_write(struct vt_merge *m, struct vt_writer *w, struct vt_error *err);

#endif
