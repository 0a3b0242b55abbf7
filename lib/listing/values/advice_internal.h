/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_ADVICE_INTERNAL_H
#define VT_LISTING_VALUES_ADVICE_INTERNAL_H

#include "listing/values/advice.h"

/*
 * Adds the four columns of a place and fills their cells: image and address, for programs only,
 * symbol, and source line.  The line is that of the byte `back` before the place: 1 for a return
 * address, whose call comes before it.
 */
void vti_speclist_place_columns(struct vt_table *t, const char *key, const char *heading);
void vti_speclist_place(struct vt_table *t, const struct vt_spec_view *view, uint32_t image,
			uint64_t offset, unsigned back);

/* Fills a cell with a share of the time, coloured by its heat.  Shares are from 0 to 1. */
void vti_speclist_time(struct vt_table *t, double share);

/* Fills a cell with a share as a percentage, rounded down. */
void vti_speclist_share(struct vt_table *t, double share);

/* Appends the most frequent value of a list; addresses by name. */
void vti_speclist_value(struct vt_buf *out, const struct vt_spec_view *view,
			const struct vt_spec_value *v);

#endif
