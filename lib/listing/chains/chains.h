/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CHAINS_CHAINS_H
#define VT_LISTING_CHAINS_CHAINS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "chains/gather.h"
#include "chains/sums.h"
#include "listing/profile/profile.h"

/* Reports of the call chains of one event. */
enum vt_callview {
	VT_CALLVIEW_CHILDREN, /* each procedure with and without what it called */
	VT_CALLVIEW_CALLERS,  /* who called each procedure */
	VT_CALLVIEW_CALLEES,  /* whom each procedure called */
	VT_CALLVIEW_TREE,     /* the tree of calls from the outermost procedures down */
	VT_NCALLVIEWS
};

struct vt_callreport_options {
	enum vt_callview view;
	struct vt_proflist_options list; /* top: of procedures; in a tree, of each one's callees */
	const char *pattern; /* of procedures: vt_pattern_names(); NULL: all; not for the tree */
	uint64_t depth;	     /* maximum levels of the tree; 0: all */
};

struct vt_callreport {
	const struct vt_callgather *gather;	/* finished; borrowed */
	const struct vt_proflist_side *profile; /* of the same stream, with one event; borrowed */
	struct vt_callreport_options how;
	struct vt_table *table; /* filled by vt_callreport_fill(), as are the others */
	struct vt_callsums sums;
	uint64_t left_out; /* rows */
};

/*
 * Computes the rows.  Percentages are shares of all samples of the event.  -VT_E_NOMEM;
 * -VT_E_NOTFOUND if no procedure fits the pattern.  Call vt_callreport_fini() in either case.
 */
int vt_callreport_fill(struct vt_callreport *r, struct vt_error *err);
void vt_callreport_fini(struct vt_callreport *r);

/* The report as a JSON document; a new reference, NULL when memory runs out. */
json_t *vt_callreport_json(const struct vt_callreport *r);

/* Prints the table, as VT_TABLE_TEXT with lines above and below it.  Errors as for
 * vt_profreport_print(). */
int vt_callreport_print(const struct vt_callreport *r, enum vt_table_form form, bool color,
			struct vt_output *out, struct vt_error *err);

#endif
