/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CHAINS_INTERNAL_H
#define VT_LISTING_CHAINS_INTERNAL_H

#include "listing/chains/chains.h"

/* All samples of the event. */
struct vt_tally vti_call_whole(const struct vt_callreport *r);

/* The event's node in the tree; VT_CALL_NONE if it has no samples. */
uint32_t vti_call_root(const struct vt_callreport *r);

/* Whether a part of the samples is less than the smallest to be listed. */
bool vti_call_is_small(const struct vt_callreport *r, struct vt_tally part);

/*
 * Appends a procedure's name; a word in brackets for VT_CALL_CUT, and for what has no name; the
 * text of `none` for VT_CALL_NONE.
 */
void vti_call_label(const struct vt_callreport *r, uint32_t key, const char *none,
		    struct vt_buf *out);

/* The path of a procedure's image, or "". */
const char *vti_call_image(const struct vt_callreport *r, uint32_t key);

/* People see a column of intervals, unless what is counted is exact. */
void vti_call_sign_column(struct vt_callreport *r);

/* Fills two cells: the samples, and their share; and that of the interval, if `shown`. */
void vti_call_share_cells(struct vt_callreport *r, struct vt_tally part, struct vt_tally whole,
			  bool shown);

/* What people see the rows called: "procedure", "image" or "line". */
const char *vti_call_word(const struct vt_callreport *r);

/* Adds the column of the images' paths, which people see unless the rows are images themselves.
 * `key` may be NULL. */
void vti_call_image_column(struct vt_callreport *r, const char *key);

/* Fills the bounds of the share's interval. */
void vti_call_bound_cells(struct vt_callreport *r, struct vt_tally part, struct vt_tally whole);

/* The share's interval; not `known` if its event has none. */
struct vt_share vti_call_share(const struct vt_callreport *r, struct vt_tally part,
			       struct vt_tally whole);

/* Fills a cell with a name below `depth` indents. */
void vti_call_name_cell(struct vt_callreport *r, uint32_t key, const char *none, unsigned depth);

/* The views.  Errors stick to the table, but for -VT_E_NOMEM and -VT_E_NOTFOUND. */
int vti_fill_children(struct vt_callreport *r, struct vt_error *err);
int vti_fill_edges(struct vt_callreport *r, struct vt_error *err);
int vti_fill_tree(struct vt_callreport *r, struct vt_error *err);

/* The procedures to list, in order; owned by the caller.  NULL: VT_E_NOMEM, VT_E_NOTFOUND. */
const struct vt_callsum **vti_sort_procedures(struct vt_callreport *r, size_t *count,
					      struct vt_error *err);

#endif
