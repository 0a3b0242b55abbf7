/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_INTERVALS_H
#define VT_VALUE_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "value/hot_list.h"

/*
 * Interval invariance (value profiling 8, figure 17): the executions of each instruction are
 * divided into k equal parts, and each part has an Inv-Top of its own.  How often an instruction
 * will be executed must be known, so a stream is read twice: first into lists of any kind, whose
 * totals are the executions, and then, in the same order, into TNV tables that are watched.
 *
 * Memory: one table and k numbers for each list.
 */
struct vt_intervals;

#define VT_MAX_INTERVALS 1000

/*
 * totals[i] is what the i-th list that is added will be told; borrowed.  NULL when memory runs out.
 */
struct vt_intervals *vt_intervals_new(uint32_t k, const uint64_t *totals, size_t n);
void vt_intervals_free(struct vt_intervals *iv);

/* Watches lists kept by VT_ALGO_TNV, before the first is added. */
void vt_intervals_watch(struct vt_intervals *iv, struct vt_hotlists *s);

/*
 * The shares that the most frequent values of the intervals had, once all was told; intervals
 * without executions have 0.  NULL for a list that was not announced.  Borrowed.
 */
const float *vt_intervals_of(struct vt_intervals *iv, struct vt_hotlists *s, struct vt_hotlist *l);

#endif
