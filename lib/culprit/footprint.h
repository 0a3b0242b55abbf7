/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_FOOTPRINT_H
#define VT_CULPRIT_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/pipeline/core.h"

/*
 * Estimates upper bounds of instruction cache and TLB misses, from the number of times that control
 * enters each line and page of code: a line with which no other line competes is missed once.  Also
 * counts the conditional branches that share a counter of the branch predictor, and the direct
 * calls of addresses.
 */
struct vt_footprint;

/* Owned by the caller; `m` is not used after the call.  Returns NULL when memory runs out. */
struct vt_footprint *vt_footprint_new(const struct vt_core *m);
void vt_footprint_free(struct vt_footprint *f);

/*
 * Counts how often control comes from another line (`from_line`) and from another page
 * (`from_page`) to the code at [vaddr, vaddr + size) of an image; `size` is less than a line.
 * Returns 0 or -VT_E_NOMEM.
 */
int vt_footprint_enter(struct vt_footprint *f, uint32_t image, uint64_t vaddr, uint32_t size,
		       double from_line, double from_page, struct vt_error *err);

/*
 * Counts direct calls of `vaddr`, and direct jumps to it from other procedures.  Returns 0 or
 * -VT_E_NOMEM.
 */
int vt_footprint_call(struct vt_footprint *f, uint32_t image, uint64_t vaddr, double often,
		      struct vt_error *err);

/*
 * Counts how often a conditional branch was taken and how often it was not.  Returns 0 or
 * -VT_E_NOMEM.
 */
int vt_footprint_branch(struct vt_footprint *f, uint64_t vaddr, double taken, double fallen,
			struct vt_error *err);

/* Computes the bounds after the last count.  Returns 0 or -VT_E_NOMEM. */
int vt_footprint_finish(struct vt_footprint *f, struct vt_error *err);

/*
 * Return the maximum number of misses of an address's line (page), or INFINITY if nothing is known
 * about it.
 */
double vt_footprint_lines(const struct vt_footprint *f, uint32_t image, uint64_t vaddr);
double vt_footprint_pages(const struct vt_footprint *f, uint32_t image, uint64_t vaddr);

/* Returns the number that vt_footprint_call() counted for an address: a lower bound of its calls.
 */
double vt_footprint_called(const struct vt_footprint *f, uint32_t image, uint64_t vaddr);

/*
 * Returns the maximum number of mispredictions of a branch that was taken (`taken`) or was not, or
 * INFINITY if it cannot be computed for this kind of predictor.
 */
double vt_footprint_mispredicted(const struct vt_footprint *f, uint64_t vaddr, bool taken);

#endif
