/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_COUNT_H
#define VT_FREQ_STACK_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/stack_window.h"
#include "profile/context.h"

/*
 * What the branch stacks of samples count: taken branches, and runs of code without any between two
 * of them.  A stack of n branches has n - 1 runs; what came before its oldest branch, and where
 * control is since the newest, it does not tell.
 *
 * Where processors count the cycles between branches, a stack stands for what was executed in a
 * window of time before its sample (freq/stack_window.h): each branch in it for the sample's
 * period, divided by the window's length.  Where they do not, each run of it stands for one in n -
 * 1 of the sample's period, and only ratios of counts mean anything.
 *
 * Entries that nothing was written to, and a newest one that is there twice though control cannot
 * have gone from the one to the other, are left out: processors since Skylake write it twice when
 * they are stopped while they write (reported by BOLT and AutoFDO; a quarter of the stacks of a
 * Xeon 6154 have it).
 *
 * Memory: an entry for each distinct branch, run, and start of runs.
 */
struct vt_stackcount;

/* A count, and what tells how far it can be trusted. */
struct vt_stackcount_sum {
	/*
	 * What it is made of, by how long before the sample: equal parts, but for chance, if
	 * samples fall everywhere alike.
	 */
	double parts[VT_STACK_PARTS];
	double variance; /* by the chance that stacks have it */
	double bias;	 /* deviation of what all stacks may have in common */
};

struct vt_stackcount_link {
	uint64_t from; /* offsets in the image: of the branch; of the first instruction of a run */
	uint64_t to;   /* where the branch goes; the run's last instruction, a branch */
	/* Executions, or in proportion to them, in the unit of the event's period. */
	struct vt_stackcount_sum sum;
	uint64_t stacks; /* that have it */
};

/* The count, and its standard deviation. */
double vt_stackcount_count(const struct vt_stackcount_sum *s);
double vt_stackcount_sigma(const struct vt_stackcount_sum *s);

/* Borrows the context.  Owned by the caller; NULL when memory runs out. */
struct vt_stackcount *vt_stackcount_new(struct vt_context *context);
void vt_stackcount_free(struct vt_stackcount *c);

/* A vt_consume_record_fn of the context, of the kinds VT_STACKCOUNT_KINDS.  0, -VT_E_NOMEM. */
#define VT_STACKCOUNT_KINDS (VT_KIND(VT_EVENT) | VT_KIND(VT_SAMPLE))
int vt_stackcount_feed(void *stacks, const struct vt_record *rec, struct vt_error *err);

/* After the last record.  -VT_E_NOMEM. */
int vt_stackcount_finish(struct vt_stackcount *c, struct vt_error *err);

/* The stacks of an event (its id): how many have runs; whether they are timed. */
struct vt_stackcount_event {
	uint64_t id;
	uint64_t stacks;
	double weight; /* what one stack adds to a run in it, on the average */
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

#endif
