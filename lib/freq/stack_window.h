/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_WINDOW_H
#define VT_FREQ_STACK_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which branches of a stack count, and for how much.
 *
 * Samples of time fall everywhere in it with equal chance.  So does any fixed stretch of time that
 * ends at the sample: each branch of the program lies in it with the same probability, no matter
 * how slow the code around it is.  A fixed number of branches has no such property: the stack of a
 * sample reaches back over much time where code is slow, and over little where it is fast.
 *
 * The stretch, the window, must not depend on the stack that it is applied to.  It is as long as
 * all but a few of the stacks reach back that were taken at the same place.  Branches near
 * its far end count for less, since a pattern that repeats in step with the window would otherwise
 * be counted once too often or too seldom.
 *
 * Stacks tell times before their newest branch; how long ago that was, only by chance: samples fall
 * into the runs that follow such a branch as often as these are long, and anywhere in them.
 */

/* Half octaves, from a cycle to more than a stack of 64 entries of 16 bits can tell. */
#define VT_STACKWINDOW_REACHES 46

/* The same of one entry; durations of less than eight cycles each have their own. */
#define VT_STACKWINDOW_TIMES 34

/* Equal parts of a window, by what the branches in them count for. */
#define VT_STACK_PARTS 4

/* How far back stacks reach that were taken at some place; all 0 at first. */
struct vt_stackreach {
	uint16_t stacks[VT_STACKWINDOW_REACHES];
};

/* Takes a stack that reaches back by `reach` cycles before its newest branch. */
void vt_stackreach_add(struct vt_stackreach *r, double reach);

/* The window in cycles for stacks at this place; infinite if there are none. */
double vt_stackreach_window(const struct vt_stackreach *r);

/* The time of runs that follow some branch, by how long they are; all 0 at first. */
struct vt_stacktimes {
	float times[VT_STACKWINDOW_TIMES];
};

/* In which of `times` a run is. */
size_t vt_stacktimes_bin(uint64_t cycles);

/* Takes a run of `cycles` that counts for `weight`. */
void vt_stacktimes_add(struct vt_stacktimes *t, uint64_t cycles, double weight);

/* All of it: 0 if there is none. */
double vt_stacktimes_sum(const struct vt_stacktimes *t);

/*
 * How long ago the newest branch was, on the average, in cycles, if it was in the window.  There
 * must be some times; likewise below.
 */
double vt_stackwindow_since(const struct vt_stacktimes *t, double window);

/*
 * How much a branch counts for that was `before` cycles before the newest one, 1 at most, by the
 * parts of the window that it may lie in.
 */
void vt_stackwindow_share(const struct vt_stacktimes *t, double window, double before,
			  double parts[VT_STACK_PARTS]);

/* What branches count for on the average over the window. */
#define VT_STACKWINDOW_AREA 0.75

#endif
