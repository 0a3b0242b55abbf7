/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_COLLECT_H
#define VT_VALUE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "stream/reader.h"
#include "value/sites.h"

/*
 * Brings the values of streams to the hot lists of their places: those of executed blocks (EXEC)
 * and those that come alone (VALUE).
 *
 * Beside the values that the slots of blocks hold, the order of a thread's blocks tells where
 * indirect jumps and calls went (VT_WHAT_TARGET, at the jump) and where procedures were called from
 * (VT_WHAT_RETURN, at the first instruction of the procedure).  Arguments (VT_WHAT_ARG), captured
 * at a call, belong to the first instruction of the procedure called; a stub of a procedure linkage
 * table is followed to the procedure.  Where the order breaks off (a gap, a window's edge, a sample
 * that was cut out, a signal), nothing is guessed.
 *
 * Memory: what is needed for each block and place, however often they are executed.
 */
struct vt_collect;

/* All kinds of values but what the recorder needs for itself, and VT_WHAT_RETURN. */
#define VT_COLLECT_WHAT                                                                            \
	(((1u << VT_NWHATS) - 1) &                                                                 \
	 ~(1u << VT_WHAT_STATE | 1u << VT_WHAT_GUARD | 1u << VT_WHAT_RETURN))

struct vt_collect_options {
	uint32_t what;	  /* a bit 1 << enum vt_what for each kind of value that is wanted */
	bool by_caller;	  /* lists are told apart by the return address of their procedure */
	vt_warn_fn *warn; /* told of each record that contradicts itself; may be NULL */
	void *warn_arg;
};

struct vt_collect_stats {
	uint64_t insns;	   /* executed */
	uint64_t unmapped; /* executed instructions, and values alone, at no place that is known */
	uint64_t damaged;  /* records that contradict themselves; what follows in them is lost */
	uint64_t lists;	   /* HOT records, which are left alone */
};

/* `sites` is borrowed.  NULL when memory runs out. */
struct vt_collect *vt_collect_new(struct vt_sites *sites, const struct vt_collect_options *options);
void vt_collect_free(struct vt_collect *c);

/*
 * Each stream is taken between these two, by a consumer of its context, which is borrowed.  At its
 * end, how often each instruction was executed is added to the sites as the event "instructions",
 * if `counts` is set.  -VT_E_NOMEM.
 */
void vt_collect_begin(struct vt_collect *c, struct vt_context *context);
int vt_collect_end(struct vt_collect *c, bool counts, struct vt_error *err);

/*
 * The number in the sites of an image that the stream at hand calls `id`; anonymous code has one
 * for each process: `pid` is 0 for other code.  UINT32_MAX when memory runs out.
 */
uint32_t vt_collect_image(struct vt_collect *c, uint64_t id, int64_t pid);

const struct vt_collect_stats *vt_collect_stats(const struct vt_collect *c);

#endif
