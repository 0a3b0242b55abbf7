/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_ADVICE_INTERNAL_H
#define VT_LISTING_VALUES_ADVICE_INTERNAL_H

#include "listing/values/advice.h"

/* The columns of a place: image (programs only), what it is called, its address, its line. */
void vti_speclist_place_columns(struct vt_table *t, const char *key, const char *heading);
void vti_speclist_place(struct vt_table *t, const struct vt_spec_view *view, uint32_t image,
			uint64_t offset);

/* The same for a return address: the line is that of the call before it. */
void vti_speclist_return(struct vt_table *t, const struct vt_spec_view *view, uint32_t image,
			 uint64_t offset);

/* A share of the time, in colour. */
void vti_speclist_time(struct vt_table *t, double share);

/* A share as the percentage of a cell. */
void vti_speclist_share(struct vt_table *t, double share);

/* Appends the top value of a list: an address by its name. */
void vti_speclist_value(struct vt_buf *out, const struct vt_spec_view *view,
			const struct vt_spec_value *v);

#endif
