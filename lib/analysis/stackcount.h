/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_ANALYSIS_STACKCOUNT_H
#define VT_ANALYSIS_STACKCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the branch stacks of samples count: taken branches, and runs of code without any between two
 * of them.  A stack of n branches has n - 1 runs; what came before its oldest branch, and where
 * control is since the newest, it does not tell.
 *
 * Samples of time fall into a run as often as it is long, so stacks with the same newest branch
 * come more often if what follows that is slow.  Divided by how long it takes on the average, each
 * branch is equally likely to be the newest one, and each run to be in the stack n - 1 times: a
 * stack stands for its sample's period, divided by the mean time of runs that begin where its
 * newest branch went, of branches, and for one in n - 1 of these of each run in it.  Where
 * processors do not count the cycles between branches, it stands for its period, and only ratios of
 * counts mean anything.
 *
 * Memory: an entry for each distinct branch, run, and start of runs.
 */
struct vt_stackcount;

struct vt_stackcount_link {
	uint64_t from; /* offsets in the image: of the branch; of the first instruction of a run */
	uint64_t to;   /* where the branch goes; the run's last instruction, a branch */
	double count;  /* executions, or in proportion to them, in the unit of the event's period */
	double variance;
	uint64_t stacks; /* that have it */
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_stackcount *vt_stackcount_new(void);
void vt_stackcount_free(struct vt_stackcount *c);

/* Takes a record, in the stream's order.  0, -VT_E_NOMEM, -VT_E_LIMIT. */
int vt_stackcount_feed(struct vt_stackcount *c, const struct vt_record *rec, struct vt_error *err);

/* After the last record.  -VT_E_NOMEM. */
int vt_stackcount_finish(struct vt_stackcount *c, struct vt_error *err);

/* The stacks of an event (its id): how many have runs; whether they are timed. */
struct vt_stackcount_event {
	uint64_t id;
	uint64_t stacks;
	double weight; /* what one stack adds to the runs in it, on the average */
	bool timed;
};

/* NULL: it has none.  Borrowed. */
const struct vt_stackcount_event *vt_stackcount_event(const struct vt_stackcount *c, uint64_t id);

/* The event with the most stacks; NULL: there are none. */
const struct vt_stackcount_event *vt_stackcount_most(const struct vt_stackcount *c);

/*
 * The links of an event that begin in [start, end) of an image: branches, or runs.  `pid` is 0, but
 * for anonymous code.  Borrowed.
 */
const struct vt_stackcount_link *vt_stackcount_links(const struct vt_stackcount *c, uint64_t event,
						     uint32_t image, int32_t pid, bool runs,
						     uint64_t start, uint64_t end, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
