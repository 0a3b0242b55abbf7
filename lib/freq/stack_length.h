/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_LENGTH_H
#define VT_FREQ_STACK_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

#include "image/addrspace.h"
#include "image/images.h"
#include "stream/record.h"

/* What a sampled event counts, as far as branch stacks show the same; the best last. */
enum vt_stack_unit {
	VT_STACK_UNIT_OTHER,
	VT_STACK_UNIT_INSTRUCTIONS,
	VT_STACK_UNIT_TAKEN, /* taken branches */
};

/*
 * By the event's name, in either case and with or without modifiers.  perf's "branches" are not
 * taken branches: most processors count those that are not taken, too.
 */
enum vt_stack_unit vt_stack_unit_of(struct vt_bytes name);

/* The mean instructions of the runs behind a branch.  Starts as all 0. */
struct vt_stacklength {
	double runs; /* settled, by weight */
	double insns;
	double more_runs; /* not yet */
	double more_insns;
	double mean; /* 0: unknown */
};

/* Adds a run of `insns` instructions, unless that is 0, with a weight. */
void vt_stacklength_add(struct vt_stacklength *l, uint32_t insns, double weight);

/* Finds the mean; what was added since the last time is kept if `keep`, and forgotten if not. */
void vt_stacklength_settle(struct vt_stacklength *l, bool keep);

static inline double vt_stacklength_mean(const struct vt_stacklength *l)
{
	return l->mean;
}

/*
 * The number of instructions from the one at address `first` to that at `last`, both in the mapping
 * of a file; 0 if its code is unknown, or not such, or they are more than 65535.
 */
uint16_t vt_stacklength_decode(struct vt_images *images, const struct vt_map *m, uint64_t first,
			       uint64_t last);

#endif
