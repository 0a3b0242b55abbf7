/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_TOP_STALLS_H
#define VT_LISTING_CYCLES_TOP_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "culprit/check.h"
#include "culprit/culprits.h"
#include "profile/losses.h"

/* The instructions that lose most cycles to stalls, after dcpitopstalls. */
struct vt_culprittop;

/* Owned by the caller; NULL when memory runs out. */
struct vt_culprittop *vt_culprittop_new(void);
void vt_culprittop_free(struct vt_culprittop *t);

/* A vt_culprits_fn: adds the stalls of a procedure to `arg`, the list.  -VT_E_NOMEM. */
int vt_culprittop_add(void *arg, const struct vt_culprits_proc *p, struct vt_error *err);

/* What is printed, and how; borrowed. */
struct vt_culprittop_options {
	const struct vt_culprits_totals *totals;
	const struct vt_culpritcheck *check;
	struct vt_images *images;
	const char *core; /* the machine */
	const struct vt_losses *losses;
	uint64_t top; /* the most instructions; 0: all */
	bool truth;   /* compare with the stalls of a simulator, which the check knows */
	bool summary; /* text without the instructions */
	bool json;
	enum vt_table_form form; /* unless `json`; text has a header */
	bool color;
};

/* Prints the list.  Percentages are shares of all cycles.  -VT_E_NOMEM. */
int vt_culprittop_print(struct vt_culprittop *t, const struct vt_culprittop_options *o,
			struct vt_output *out, struct vt_error *err);

#endif
