/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SLICE_H
#define VT_PROFILE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "stream/record.h"

/*
 * A slice of a stream's samples: those that pass all filters.  Of several values of one filter, any
 * will do.  SAMPLE records are tested one by one.  COUNT records are sums over samples, of which
 * only the place is known: they pass where nothing else is asked for.  Estimates from all samples
 * (vt_kind_is_estimate()), as FREQ records, and CHAIN records, call trees of all, do not pass.  All
 * other records do.
 */
struct vt_slice;

enum vt_slice_by {
	VT_SLICE_PID,
	VT_SLICE_TID,
	VT_SLICE_CPU,
	VT_SLICE_TIME,
	VT_SLICE_COMM,
	VT_SLICE_IMAGE,
	VT_SLICE_SYMBOL,
	VT_NSLICES
};

/* How many samples there were, so far. */
struct vt_slice_counts {
	uint64_t seen;
	uint64_t taken;
	uint64_t without[VT_NSLICES]; /* left out, as they do not say what is asked for */
	uint64_t estimates;	      /* records that are estimates, and were left out, */
	uint64_t estimate_kinds;      /* of these kinds: bits VT_KIND() */
	uint64_t chains;	      /* CHAIN records that were */
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_slice *vt_slice_new(void);
void vt_slice_free(struct vt_slice *s);

/*
 * Adds values to a filter:
 *
 *	PID, TID, CPU   numbers and ranges: "1,4-7"
 *	TIME            "A,B": from A to B, both included, in seconds of the recording's clock with
 *	                up to nine decimals; "+A,+B": since the first sample; A or B may lack
 *	COMM            patterns (base/pattern.h), with commas
 *	IMAGE           the same, of a path, its last component, or a kernel module's [name]
 *	SYMBOL          the same, of a raw or demangled name; commas in brackets do not part
 *
 * -VT_E_USAGE with what is wrong, which quotes the user's text; -VT_E_NOMEM.
 */
int vt_slice_add(struct vt_slice *s, enum vt_slice_by by, const char *text, struct vt_error *err);

bool vt_slice_has(const struct vt_slice *s, enum vt_slice_by by);

/* The context is needed by the filters IMAGE and SYMBOL: borrowed, and fed before the slice is. */
void vt_slice_set_context(struct vt_slice *s, struct vt_context *context);

/* Forgets the stream, but not the filters: another is to be fed. */
int vt_slice_restart(struct vt_slice *s, struct vt_error *err);

/*
 * Takes rows first .. first+count-1 of a block, in the order of the stream, and hands on to `take`
 * the runs of those that pass.  0; what `take` returned if that is not 0; -VT_E_NOMEM; -VT_E_LIMIT
 * as vt_threads_feed().
 */
int vt_slice_feed(struct vt_slice *s, const struct vt_block *block, uint32_t first, uint32_t count,
		  vt_consume_fn *take, void *arg, struct vt_error *err);

const struct vt_slice_counts *vt_slice_counted(const struct vt_slice *s);

#endif
