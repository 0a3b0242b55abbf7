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
 * Adds the values of streams to the hot lists of their places.  Values come from executed blocks
 * (EXEC records) and from VALUE records.
 *
 * The slots of blocks contain most values.  Two kinds are derived from the order of a thread's
 * blocks: targets of indirect jumps and calls (VT_WHAT_TARGET, at the jump), and return addresses
 * (VT_WHAT_RETURN, at the first instruction of the called procedure).  Arguments (VT_WHAT_ARG) are
 * captured at a call and counted at the first instruction of the called procedure; if the call goes
 * to a stub of a procedure linkage table, at the procedure that the stub jumps to.  Where the order
 * of blocks is interrupted (a gap, the edge of a window, a sample, a signal), no value is derived.
 *
 * The memory grows with the number of blocks and places, not with the number of executions.
 */
struct vt_collect;

/* All kinds of values but what the recorder needs for itself, and VT_WHAT_RETURN. */
#define VT_COLLECT_WHAT                                                                            \
	(((1u << VT_NWHATS) - 1) &                                                                 \
	 ~(1u << VT_WHAT_STATE | 1u << VT_WHAT_GUARD | 1u << VT_WHAT_RETURN))

struct vt_collect_options {
	uint32_t what;	  /* a bit 1 << enum vt_what for each kind of value that is wanted */
	bool by_caller;	  /* keep a list for each return address of the place's procedure */
	vt_warn_fn *warn; /* called for each record that contradicts itself; may be NULL */
	void *warn_arg;
};

struct vt_collect_stats {
	uint64_t insns;	   /* executed */
	uint64_t unmapped; /* executed instructions, and VALUE records, at unmapped addresses */
	uint64_t damaged;  /* records that contradict themselves; the rest of them is not used */
	uint64_t lists;	   /* HOT records, which are ignored */
};

/* `sites` is borrowed.  NULL when memory runs out. */
struct vt_collect *vt_collect_new(struct vt_sites *sites, const struct vt_collect_options *options);
void vt_collect_free(struct vt_collect *c);

/*
 * Begin and end a stream.  vt_collect_begin() adds a consumer to the stream's context, which is
 * borrowed.  vt_collect_end() adds, if `counts` is set, the number of executions of each
 * instruction to the sites, as the event "instructions".  Returns 0 or -VT_E_NOMEM.
 */
void vt_collect_begin(struct vt_collect *c, struct vt_context *context);
int vt_collect_end(struct vt_collect *c, bool counts, struct vt_error *err);

/*
 * Returns the number that the sites use for the image with this id in the current stream.
 * Anonymous code has one number for each process; for other code `pid` is 0.  Returns UINT32_MAX
 * when memory runs out.
 */
uint32_t vt_collect_image(struct vt_collect *c, uint64_t id, int64_t pid);

const struct vt_collect_stats *vt_collect_stats(const struct vt_collect *c);

#endif
