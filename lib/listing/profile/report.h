/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PROFILE_REPORT_H
#define VT_LISTING_PROFILE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "listing/profile/profile.h"

/* The output of vprof: one profile, or the differences of two sets of profiles. */
struct vt_profreport {
	const struct vt_proflist_side *runs; /* borrowed; ranked at one level */
	size_t count;			     /* at least 1 */
	size_t before; /* the first runs are the set before; 0: list one profile */
	struct vt_profdiff_options how;
	struct vt_table *table; /* filled by vt_profreport_fill(), as is the result */
	struct vt_profdiff_result result;
};

/* Computes the rows.  Errors as vt_proflist_diff().  Call vt_profreport_fini() also after one. */
int vt_profreport_fill(struct vt_profreport *r, struct vt_error *err);
void vt_profreport_fini(struct vt_profreport *r);

/* The report as a JSON document; a new reference, NULL when memory runs out. */
json_t *vt_profreport_json(const struct vt_profreport *r);

/*
 * Prints the table, as VT_TABLE_TEXT with the lines above and below it.  -VT_E_NOMEM; errors of
 * writing stick to `out`.
 */
int vt_profreport_print(const struct vt_profreport *r, enum vt_table_form form, bool color,
			struct vt_output *out, struct vt_error *err);

#endif
