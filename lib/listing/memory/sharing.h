/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_MEMORY_SHARING_H
#define VT_LISTING_MEMORY_SHARING_H

#include "listing/memory/objects.h"

/*
 * Fills a table, which is empty, with the cache lines that threads share: a row for each line
 * (only for people), and one for each word and thread of it.  Takes `top`, `types`, `pattern` and
 * `people` of the options; a line is listed if one of its objects is.  Returns the number of lines
 * that are left out, or -VT_E_NOMEM.
 */
int64_t vt_memlist_lines(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err);

/* Prints the totals, above the table. */
void vt_memlist_lines_header(const struct vt_memory *m, struct vt_output *out);

/* Prints the JSON document "vmem-sharing/1". */
void vt_memlist_lines_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
			   const struct vt_losses *losses, struct vt_output *out);

#endif
