/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_TOP_STALLS_H
#define VT_LISTING_CYCLES_TOP_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "culprit/culprits.h"

/* The instructions that cost most stall cycles, as dcpitopstalls listed them. */
struct vt_culprittop;

/* Owned by the caller; NULL when memory runs out. */
struct vt_culprittop *vt_culprittop_new(void);
void vt_culprittop_free(struct vt_culprittop *t);

/* Takes a procedure's stalls: a vt_culprits_fn, with the list as its argument.  -VT_E_NOMEM. */
int vt_culprittop_add(void *arg, const struct vt_culprits_proc *p, struct vt_error *err);

/*
 * Fills a new table with the `top` worst (0: all); percentages are of all cycles.  Returns how many
 * more there are, or -VT_E_NOMEM.
 */
int64_t vt_culprittop_fill(struct vt_culprittop *t, const struct vt_culprits_totals *totals,
			   struct vt_images *images, uint64_t top, struct vt_table *table,
			   struct vt_error *err);

/* The lines above it: the share of samples at each confidence, and what the letters mean. */
void vt_culprittop_header(const struct vt_culprits_totals *totals, struct vt_output *out);

#endif
