/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_FOOTPRINT_H
#define VT_CULPRIT_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/pipeline/core.h"

/*
 * Which lines and pages of code are fetched how often, and what that means for the instruction
 * cache and its TLB: what nothing else competes with is missed once.  Likewise, which conditional
 * branches share a counter of the branch predictor, and which code is called by name.
 */
struct vt_footprint;

/* `m` is copied as far as it matters.  Owned by the caller; NULL when memory runs out. */
struct vt_footprint *vt_footprint_new(const struct vt_core *m);
void vt_footprint_free(struct vt_footprint *f);

/*
 * Control comes so often from another line, and so often from another page, to code at
 * [vaddr, vaddr + size) of an image, size being less than a line.  -VT_E_NOMEM.
 */
int vt_footprint_enter(struct vt_footprint *f, uint32_t image, uint64_t vaddr, uint32_t size,
		       double from_line, double from_page, struct vt_error *err);

/* A direct call, or jump from another procedure, to code at `vaddr`.  -VT_E_NOMEM. */
int vt_footprint_call(struct vt_footprint *f, uint32_t image, uint64_t vaddr, double often,
		      struct vt_error *err);

/* A conditional branch was taken so often, and so often not.  -VT_E_NOMEM. */
int vt_footprint_branch(struct vt_footprint *f, uint64_t vaddr, double taken, double fallen,
			struct vt_error *err);

/* After the last of them: finds who competes with whom.  -VT_E_NOMEM. */
int vt_footprint_finish(struct vt_footprint *f, struct vt_error *err);

/*
 * How often the line (page) of an address can have been missed, at most; INFINITY: nothing is known
 * of it.
 */
double vt_footprint_lines(const struct vt_footprint *f, uint32_t image, uint64_t vaddr);
double vt_footprint_pages(const struct vt_footprint *f, uint32_t image, uint64_t vaddr);

/* How often control came to an address by direct calls and jumps from other procedures, at least.
 */
double vt_footprint_called(const struct vt_footprint *f, uint32_t image, uint64_t vaddr);

/*
 * How often a branch that was taken (or was not) can have been predicted to go the other way, at
 * most; INFINITY: the predictor is not of a kind for which that is known.
 */
double vt_footprint_mispredicted(const struct vt_footprint *f, uint64_t vaddr, bool taken);

#endif
