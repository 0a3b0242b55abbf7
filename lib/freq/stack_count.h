/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_COUNT_H
#define VT_FREQ_STACK_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/stack_window.h"
#include "profile/context.h"
#include "profile/profile.h"
#include "stream/writer.h"

/*
 * Counts of executions from the branch stacks of samples: of taken branches, and of runs of code
 * without a taken branch between two of them.  A stack of n branches has n - 1 runs; the code
 * before its oldest branch and behind its newest is unknown.
 *
 * If the processor counts the cycles between branches, a stack represents the code executed in a
 * window of time before its sample (freq/stack_window.h): each branch in it counts for the
 * sample's period divided by the window's length.  Otherwise each run counts for 1/(n - 1) of the
 * sample's period, and only ratios of counts are meaningful.
 *
 * If the sampled event is taken branches, each run counts so, too, and that is its number of
 * executions.  If it is instructions, it does if divided by the mean instructions of the run that
 * the sample was taken in; these are counted in the files of images.
 *
 * Empty entries are ignored, and so is a duplicate of the newest entry if control cannot have gone
 * from the one to the other, or goes so in the midst of no other stack: processors since Skylake
 * write the entry twice when they are stopped while they write it (reported by BOLT and AutoFDO; a
 * quarter of the stacks of a Xeon 6154 have it).
 *
 * Memory: an entry for each distinct branch, run, and start of runs.
 */
struct vt_stackcount;

/* A count with what its deviation follows from. */
struct vt_stackcount_sum {
	/* By time before the sample.  The parts are equal but for chance if samples are uniform. */
	double parts[VT_STACK_PARTS];
	double variance; /* of sampling */
	double bias;	 /* deviation that all stacks may share */
};

struct vt_stackcount_link {
	uint64_t from; /* offset in the image: of the branch, or of a run's first instruction */
	uint64_t to;   /* offset of the branch's target, or of a run's last instruction, a branch */
	/* Executions, or proportional to them, in the unit of the event's period. */
	struct vt_stackcount_sum sum;
	uint64_t stacks; /* number of stacks that contain it */
};

/* The count, and its standard deviation. */
double vt_stackcount_count(const struct vt_stackcount_sum *s);
double vt_stackcount_sigma(const struct vt_stackcount_sum *s);

/*
 * Borrows the context.  Of two `threads` or more, one weighs stacks while the caller's reads
 * others; the results are the same.  Owned by the caller; NULL when memory runs out.
 */
struct vt_stackcount *vt_stackcount_new(struct vt_context *context, unsigned threads);
void vt_stackcount_free(struct vt_stackcount *c);

/* A vt_consume_record_fn for records of VT_STACKCOUNT_KINDS.  0 or -VT_E_NOMEM. */
#define VT_STACKCOUNT_KINDS (VT_KIND(VT_EVENT) | VT_KIND(VT_SAMPLE))
int vt_stackcount_feed(void *stacks, const struct vt_record *rec, struct vt_error *err);

/* Computes the results.  Call it after the last record.  -VT_E_NOMEM. */
int vt_stackcount_finish(struct vt_stackcount *c, struct vt_error *err);

/*
 * The first event whose stacks are not counted, as they lack branches: of some kinds, by the
 * event's filter, or all that were predicted, by that of a processor or of what wrote the file.
 * Stacks of calls for chains are no such.  False: there is none.
 */
bool vt_stackcount_partial(const struct vt_stackcount *c, uint64_t *id);

/* The stacks of an event. */
struct vt_stackcount_event {
	uint64_t id;
	uint64_t stacks; /* with at least one run */
	double weight;	 /* mean count that a stack adds to a run */
	bool timed;	 /* they have cycles, and these are used */
	bool counted;	 /* their unit is known: counts are executions, whatever the time */
};

/* NULL: the event has no stacks that count.  Borrowed. */
const struct vt_stackcount_event *vt_stackcount_event(const struct vt_stackcount *c, uint64_t id);

/*
 * The event whose stacks count best, or NULL: of taken branches rather than of instructions, rather
 * than the event of time, rather than that with the most stacks.  Borrowed.
 */
const struct vt_stackcount_event *vt_stackcount_best(const struct vt_stackcount *c, uint64_t time);

/*
 * The branches, or runs, of an event that begin at offsets [start, end) of an image, in order of
 * `from`, then `to`.  `pid` is 0 except for anonymous code.  Borrowed.
 */
const struct vt_stackcount_link *vt_stackcount_links(const struct vt_stackcount *c, uint64_t event,
						     uint32_t image, int32_t pid, bool runs,
						     uint64_t start, uint64_t end, size_t *count);

/*
 * Sets the image, offset and pid of where the `i`-th branch or run of an event begins; false if
 * there are no more.
 */
bool vt_stackcount_place(const struct vt_stackcount *c, uint64_t event, size_t i,
			 struct vt_place *place);

/*
 * Writes MISPREDICT records of the event of vt_stackcount_best(), in the order of places: none if
 * the processor does not tell how it predicted branches.  An error of the writer stays there.
 */
void vt_stackcount_write_mispredicts(const struct vt_stackcount *c, uint64_t time,
				     struct vt_writer *w);

#endif
