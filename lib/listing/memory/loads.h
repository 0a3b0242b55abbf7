/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_MEMORY_LOADS_H
#define VT_LISTING_MEMORY_LOADS_H

#include "listing/memory/objects.h"

/*
 * Fills a table, which is empty, with the static loads of a profile, the most executed first.
 * Takes `top`, `types` and `people` of the options: a load is listed if it loaded from an object of
 * these types.  Returns the number of loads that are left out, or -VT_E_NOMEM.
 */
int64_t vt_memlist_loads(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err);

/*
 * Prints the totals, above the table: what types of objects all loads are from, and how many static
 * loads have how many addresses and locations.
 */
void vt_memlist_loads_header(const struct vt_memory *m, struct vt_output *out);

/* Prints the JSON document "vmem-loads/1". */
void vt_memlist_loads_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
			   const struct vt_losses *losses, struct vt_output *out);

#endif
