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

/* The instructions that cost most stall cycles, as dcpitopstalls listed them. */
struct vt_culprittop;

/* Owned by the caller; NULL when memory runs out. */
struct vt_culprittop *vt_culprittop_new(void);
void vt_culprittop_free(struct vt_culprittop *t);

/* Takes a procedure's stalls: a vt_culprits_fn, with the list as its argument.  -VT_E_NOMEM. */
int vt_culprittop_add(void *arg, const struct vt_culprits_proc *p, struct vt_error *err);

/* What is printed, and how; all borrowed. */
struct vt_culprittop_options {
	const struct vt_culprits_totals *totals;
	const struct vt_culpritcheck *check;
	struct vt_images *images;
	const char *core; /* the machine */
	const struct vt_losses *losses;
	uint64_t top; /* so many of the worst instructions; 0: all */
	bool truth;   /* the check knows a simulator's stalls: compare with them */
	bool summary; /* as text: without the instructions */
	bool json;
	enum vt_table_form form; /* unless JSON; text has a header */
	bool color;
};

/* Prints the list; percentages are of all cycles.  -VT_E_NOMEM. */
int vt_culprittop_print(struct vt_culprittop *t, const struct vt_culprittop_options *o,
			struct vt_output *out, struct vt_error *err);

#endif
