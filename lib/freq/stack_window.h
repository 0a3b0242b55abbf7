/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_WINDOW_H
#define VT_FREQ_STACK_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which branches of a stack count, and with which weight.
 *
 * Samples of time are uniform in time.  A window of fixed length that ends at the sample is
 * uniform, too: it contains each branch of the program with the same probability, however slow the
 * code around the branch is.  A fixed number of branches is not: it covers much time where code is
 * slow, and little where it is fast.
 *
 * The window must not depend on the stack that it is applied to.  Its length is what all but a few
 * of the stacks from the same place reach back.  Branches near its far end weigh less, since a
 * pattern with the window's period would otherwise be counted once too often or too seldom.
 *
 * A stack has times relative to its newest branch.  The time from that branch to the sample is
 * known only as a distribution: samples fall into the runs that follow the branch in proportion to
 * their length, and uniformly within a run.
 */

/* Bins of half octaves, from one cycle to more than 64 entries of 16 bits can hold. */
#define VT_STACKWINDOW_REACHES 46

/* Bins for the time of one entry: one each below eight cycles, then half octaves. */
#define VT_STACKWINDOW_TIMES 34

/* Parts of a window that have equal weight. */
#define VT_STACK_PARTS 4

/* How far back the stacks taken at a place reach: stacks by bin.  Starts as all 0. */
struct vt_stackreach {
	uint16_t stacks[VT_STACKWINDOW_REACHES];
};

/* Adds a stack that reaches back `reach` cycles before its newest branch. */
void vt_stackreach_add(struct vt_stackreach *r, double reach);

/* The window for stacks at this place, in cycles; infinite without stacks. */
double vt_stackreach_window(const struct vt_stackreach *r);

/* The time spent in runs behind a branch, by the length of the run.  Starts as all 0. */
struct vt_stacktimes {
	float times[VT_STACKWINDOW_TIMES];
};

/* The bin of a run. */
size_t vt_stacktimes_bin(uint64_t cycles);

/* Adds a run of `cycles` with a weight. */
void vt_stacktimes_add(struct vt_stacktimes *t, uint64_t cycles, double weight);

/* The sum of all bins. */
double vt_stacktimes_sum(const struct vt_stacktimes *t);

/* What runs of each length take of all that time.  The sum of times must not be 0. */
struct vt_stackruns {
	size_t count;
	double cycles[VT_STACKWINDOW_TIMES];
	double part[VT_STACKWINDOW_TIMES];
};

struct vt_stackruns vt_stackwindow_runs(const struct vt_stacktimes *t);

/* The mean time from the newest branch to the sample in cycles, at most the window. */
double vt_stackwindow_since(const struct vt_stackruns *r, double window);

/*
 * The weight of a branch that was `before` cycles before the newest one, by the parts of the window
 * in which it may lie; the sum is at most 1.
 */
void vt_stackwindow_share(const struct vt_stackruns *r, double window, double before,
			  double parts[VT_STACK_PARTS]);

/* The mean weight over the window. */
#define VT_STACKWINDOW_AREA 0.75

#endif
