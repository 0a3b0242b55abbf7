/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_EVENTS_GATHER_H
#define VT_EVENTS_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "events/stats.h"
#include "profile/context.h"

/* Gathers the samples of followed instructions of a stream, and its EVSTAT records. */
struct vt_evgather;

/* What else than places samples are gathered by. */
enum vt_evby {
	VT_EVBY_PLACE, /* nothing */
	VT_EVBY_SOURCE,
	VT_EVBY_PAGE, /* of 4 KiB of data */
	VT_EVBY_ADDR, /* of data */
};

/* In keys of what is no place, as image: the sample has it, or has none; or there are too many. */
enum vt_evgroup { VT_EVGROUP_KNOWN, VT_EVGROUP_UNTOLD, VT_EVGROUP_MORE };

/* More pages and addresses are one group. */
#define VT_EVGROUP_MOST 65536

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_evgather *vt_evgather_new(struct vt_context *context, enum vt_evby by);
void vt_evgather_free(struct vt_evgather *g);

/* Calls `fn` with the text for each EVSTAT record that is left out. */
void vt_evgather_warn(struct vt_evgather *g, void (*fn)(void *arg, const char *text), void *arg);

/* A vt_consume_fn; `gather` is the struct vt_evgather.  -VT_E_NOMEM. */
int vt_evgather_feed(void *gather, const struct vt_block *block, uint32_t first, uint32_t count,
		     struct vt_error *err);
#define VT_EVGATHER_KINDS                                                                          \
	(VT_KIND(VT_SAMPLE) | VT_KIND(VT_EVSTAT) | VT_KIND(VT_EVENT) | VT_KIND(VT_META) |          \
	 VT_KIND(VT_COUNT))

/* What was gathered by place, and by something else (NULL: nothing).  Borrowed. */
struct vt_evstats *vt_evgather_stats(const struct vt_evgather *g);
struct vt_evstats *vt_evgather_groups(const struct vt_evgather *g);

struct vt_evseen {
	uint64_t samples;   /* of followed instructions, that were counted */
	uint64_t others;    /* samples of no followed instruction, */
	uint64_t seconds;   /* and of later ones of pairs, which periods do not count */
	uint64_t estimates; /* EVSTAT records, */
	uint64_t counted;   /* and samples of their events that are only counted (COUNT) */
};
struct vt_evseen vt_evgather_seen(const struct vt_evgather *g);

/* Adds what was left out of streams whose estimates are gathered. */
void vt_evgather_note(struct vt_evgather *g, const struct vt_evseen *seen);

#endif
